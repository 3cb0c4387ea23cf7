"""PyTorch's zip files, read without executing anything in them.

Such a file is a zip archive with a pickle, `data.pkl`, and the elements of each storage in a file of its own, `data/0`, …. The pickle is run
by an unpickler that finds only what is listed here: functions that make tensors of storages, and stand-ins for classes that only keep what they are given.
Whatever else it names is an error before anything of it is imported.
Source: torch/serialization.py and torch/_utils.py of PyTorch 2.15.
"""

from __future__ import annotations

import datetime
import io
import math
import os
import pathlib
import pickle
import re
import struct
import sys
import zipfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ._dtypes import NAMED as _NAMED
from ._micrograd_rs import _DTYPES, Device, Tensor, _Pages, _rebuild
from ._names import Lazy as _Lazy
from ._size import Size
from .npz import is_damage

if TYPE_CHECKING:
    from .serialization import _Where

__all__ = ["load_zip"]

__getattr__ = _Lazy(__name__)

# Storages by the names of their classes: dtype and bytes of an element.
_STORAGES = {f"{each._legacy}Storage": (each.short_name, each.itemsize) for each in _DTYPES if each._legacy}


class _StorageType:
    """The class of a storage, which the pickle names."""

    def __init__(self, name: str | None, size: int) -> None:
        self.dtype, self.size = name, size


class _Place:
    """Bytes of a file that is mapped."""

    def __init__(self, pages: _Pages, at: int, length: int) -> None:
        self._pages, self._at, self._length = pages, at, length

    def __len__(self) -> int:
        return self._length

    def line(self, dtype: str, n: int) -> Tensor:
        """So many elements of a type."""
        return self._pages.line(self._at, n, dtype)


class _Storage:
    """Elements of one type that tensors are views of."""

    def __init__(self, data: bytes | _Place, dtype: str, size: int, location: str) -> None:
        self.data, self.dtype, self.size, self.location = data, dtype, size, location
        # The line of all elements, made when the first tensor asks.
        self.line: Tensor | None = None
        # The same bytes as elements of other types.
        self.typed: dict[str, _Storage] = {}


class _Kind:
    """A class of tensors that the pickle names."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Dtype:
    """A dtype that the pickle names."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Ordered(OrderedDict[Any, Any]):
    """A dictionary that takes what a pickle sets on it, and keeps `_metadata` of it: the versions of a state's modules."""

    metadata: Any = None

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.metadata = cast("dict[Any, Any]", state).get("_metadata")  # type: ignore[redundant-cast]


# The one that is written in Python: the other makes room for as many remembered values as a number in the file says, which may be
# any, before there is one.
class _Unpickler(pickle._Unpickler):  # type: ignore[name-defined, misc, unused-ignore]  # pyright: ignore
    def __init__(self, file: io.BytesIO, archive: _Archive) -> None:
        super().__init__(file, encoding="utf-8")
        self._archive = archive

    # Opcodes, as the class that this one is made of has them.
    dispatch: ClassVar[Any] = dict(pickle._Unpickler.dispatch)  # type: ignore[attr-defined, unused-ignore]  # pyright: ignore

    def _byte_array(self) -> None:
        """The file's bytes before there is room for them: a length alone asks for none."""
        (length,) = struct.unpack("<Q", cast("Any", self).read(8))
        cast("Any", self).append(bytearray(cast("Any", self).read(length)))

    dispatch[pickle.BYTEARRAY8[0]] = _byte_array

    def find_class(self, module: str, name: str) -> Any:  # type: ignore[override, unused-ignore]
        found = _FOUND.get((module, name))
        if found is not None:
            return found(self._archive)
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return _StorageType(*_STORAGES[name])
        if module == "torch" and name in _NAMED:
            return _Dtype(_NAMED[name].short_name)
        raise ValueError(
            f"{self._archive.path}: it names {module}.{name}. Only tensors and plain containers are read: "
            "save the state_dict() of what has one"
        )

    def persistent_load(self, pid: Any) -> Any:
        return self._archive.storage(pid)


class _Archive:
    """A file that torch.save wrote."""

    def __init__(self, archive: zipfile.ZipFile, path: str, where: _Where, mmap: bool = False) -> None:
        self.archive, self.path, self.where = archive, path, where
        self._pages = _Pages(path) if mmap else None
        self._storages: dict[str, _Storage] = {}
        # One tensor of what was the same storage, and the same part of it.
        self._tensors: dict[Any, Tensor] = {}
        # What containers became, by their identity, and they themselves, so that their numbers stay theirs.
        self._made: dict[int, tuple[Any, Any]] = {}
        names = [name for name in archive.namelist() if name == "data.pkl" or name.endswith("/data.pkl")]
        if len(names) != 1:
            raise self.wrong("a zip file that neither PyTorch nor NumPy wrote")
        self._pickle = names[0]
        self._root = names[0][: -len("data.pkl")]

    def wrong(self, text: str) -> ValueError:
        return ValueError(f"{self.path}: {text}")

    def read(self, name: str) -> bytes:
        try:
            return self.archive.read(name)
        except KeyError:
            raise self.wrong(f"{name} is missing") from None
        except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError) as error:
            raise self.wrong(f"{name}: {error}") from None
        except Exception as error:
            if is_damage(error):
                raise self.wrong(f"{name}: {error}") from None
            raise

    def _bytes(self, name: str) -> bytes | _Place:
        """A file of the archive: mapped, if that is asked for and it lies there as it is."""
        info = self.archive.NameToInfo.get(name)
        if self._pages is None or info is None or info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            return self.read(name)
        with open(self.path, "rb") as file:
            # What stands before a file's bytes is said once more there, and is not always as long as the archive's end says.
            file.seek(info.header_offset)
            head = file.read(30)
        if len(head) != 30 or head[:4] != b"PK\x03\x04":
            raise self.wrong(f"{name}: no zip file: Bad magic number for file header")
        name_length, extra = struct.unpack("<HH", head[26:30])
        return _Place(self._pages, info.header_offset + 30 + name_length + extra, info.file_size)

    def load(self) -> Any:
        order = f"{self._root}byteorder"
        if order in self.archive.namelist() and self.read(order).strip() != b"little":
            raise self.wrong("its elements are in the other byte order")
        data = self.read(self._pickle)
        try:
            return self._plain(_Unpickler(io.BytesIO(data), self).load())
        except Exception as error:
            # Whatever a pickle that somebody made up leads to is a file that cannot be read.
            if isinstance(error, ValueError) and str(error).startswith(f"{self.path}: "):
                raise
            raise self.wrong(f"its pickle cannot be read: {type(error).__name__}: {error}") from None

    def _plain(self, value: Any) -> Any:
        """A value with ours in place of what stood for PyTorch's. What is in it several times is made once."""
        if type(value) in _CONTAINERS:
            made = self._made.get(id(value))
            return self._container(value) if made is None else made[1]
        if isinstance(value, _Array):
            return value.array()
        if isinstance(value, _Dtype):
            return _rebuild(b"", [0], value.name, "cpu", False).dtype
        if isinstance(value, _Storage):
            return self._line(value)
        return value

    def _container(self, value: Any) -> Any:
        if isinstance(value, dict):
            entries = cast("dict[Any, Any]", value)  # type: ignore[redundant-cast]
            named: dict[Any, Any] = {}
            if isinstance(value, _Ordered):
                named = OrderedDict()
                if value.metadata is not None:
                    from .nn._state import with_metadata

                    named = with_metadata({}, value.metadata)
            elif isinstance(value, Counter):
                named = Counter()
            elif isinstance(value, defaultdict):
                named = defaultdict(cast("Any", value).default_factory)
            # Known before it is whole: it may contain itself.
            self._made[id(value)] = entries, named  # pyright: ignore[reportUnknownArgumentType]
            for k, v in entries.items():
                named[self._plain(k)] = self._plain(v)
            return named
        if isinstance(value, list):
            items = cast("list[Any]", value)  # type: ignore[redundant-cast]
            listed: list[Any] = []
            self._made[id(value)] = items, listed  # pyright: ignore[reportUnknownArgumentType]
            listed.extend(self._plain(item) for item in items)
            return listed
        made = type(value)([self._plain(item) for item in value])
        self._made[id(value)] = value, made
        return made

    def storage(self, pid: Any) -> _Storage:
        if not isinstance(pid, tuple) or len(cast("tuple[Any, ...]", pid)) < 5 or pid[0] != "storage":  # type: ignore[redundant-cast]
            raise self.wrong("a pickle that names something else than storages")
        _, kind, key, location, count = cast("tuple[Any, ...]", pid)[:5]  # type: ignore[redundant-cast]
        if not isinstance(kind, _StorageType) or not isinstance(key, str) or "/" in key or type(count) is not int:
            raise self.wrong("a storage that is none")
        if key not in self._storages:
            data = self._bytes(f"{self._root}data/{key}")
            dtype, size = ("u8", 1) if kind.dtype is None else (kind.dtype, kind.size)
            if kind.dtype is not None and len(data) != count * size:
                raise self.wrong(f"storage {key} has {len(data)} bytes; {count} elements of {dtype} take {count * size}")
            self._storages[key] = _Storage(data, dtype, size, location if isinstance(location, str) else "cpu")
        return self._storages[key]

    def _line(self, storage: _Storage) -> Tensor:
        if storage.line is None:
            n, data = len(storage.data) // storage.size, storage.data
            made = data.line(storage.dtype, n) if isinstance(data, _Place) else _rebuild(data, [n], storage.dtype, "cpu", False)
            storage.line = self.where(made, storage.location)
        return storage.line

    def tensor(self, storage: Any, offset: Any, size: Any, stride: Any, dtype: str | None = None) -> Tensor:
        """A view of a storage."""
        if not isinstance(storage, _Storage):
            raise self.wrong("a tensor without a storage")
        if dtype is not None and dtype != storage.dtype:
            # Kept: tensors are known by it.
            typed = storage.typed.get(dtype)
            if typed is None:
                typed = storage.typed[dtype] = _Storage(storage.data, dtype, _NAMED[dtype].itemsize, storage.location)
            storage = typed
        sizes, strides = tuple(size), tuple(stride)
        numbers = (offset, *sizes, *strides)
        if len(sizes) != len(strides) or any(type(n) is not int or n < 0 for n in numbers):
            raise self.wrong(f"a tensor of sizes {sizes} and strides {strides}")
        count = len(storage.data) // storage.size
        empty = 0 in sizes
        last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        if not empty and last >= count:
            raise self.wrong(f"a tensor of sizes {sizes} and strides {strides} from element {offset} on, of {count}")
        known = self._tensors.get((id(storage), offset, sizes, strides))
        if known is not None:
            return known
        line = self._line(storage)
        made = line[:0].reshape(sizes) if empty else line.as_strided(sizes, strides, offset)
        self._tensors[id(storage), offset, sizes, strides] = made
        return made


def _tensor_v2(archive: _Archive) -> Any:
    def rebuild(
        storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, metadata: Any = None
    ) -> Tensor:
        t = archive.tensor(storage, offset, size, stride)
        return t.detach().requires_grad_() if requires_grad is True else t

    return rebuild


def _tensor_v3(archive: _Archive) -> Any:
    def rebuild(
        storage: Any,
        offset: Any,
        size: Any,
        stride: Any,
        requires_grad: Any,
        hooks: Any,
        dtype: Any,
        metadata: Any = None,
    ) -> Tensor:
        if not isinstance(dtype, _Dtype):
            raise archive.wrong("a tensor without a dtype")
        t = archive.tensor(storage, offset, size, stride, dtype.name)
        return t.detach().requires_grad_() if requires_grad is True else t

    return rebuild


def _told(archive: _Archive, t: Tensor, state: Any) -> Tensor:
    """A tensor with the attributes that it had; none that tensors have of themselves."""
    given = cast("dict[Any, Any]", state) if isinstance(state, dict) else {}  # type: ignore[redundant-cast]
    for name, value in given.items():
        if isinstance(name, str) and not name.startswith("_") and not hasattr(Tensor, name):
            setattr(t, name, archive._plain(value))
    return t


def _parameter(archive: _Archive) -> Any:
    def rebuild(data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Tensor:
        if not isinstance(data, Tensor):
            raise archive.wrong("a parameter without a tensor")
        return _told(archive, data.detach().requires_grad_(requires_grad is True), state)

    return rebuild


def _size(archive: _Archive) -> Any:
    def rebuild(sizes: Any = ()) -> Size:
        return Size(sizes)

    return rebuild


def _device(archive: _Archive) -> Any:
    def rebuild(kind: Any, index: Any = None) -> Device:
        return Device(str(kind) if index is None else f"{kind}:{index}")

    return rebuild


def _default_dict(archive: _Archive) -> Any:
    def rebuild(factory: Any = None) -> Any:
        # Of what makes its missing entries only containers and numbers are kept.
        made: defaultdict[Any, Any] = defaultdict(factory if factory in (dict, list, int, float, set) else None)
        return made

    return rebuild


def _untyped(archive: _Archive) -> Any:
    return _StorageType(None, 1)


def _itself(kind: Any) -> Callable[[_Archive], Any]:
    def found(archive: _Archive) -> Any:
        return kind

    return found


def _from_type(archive: _Archive) -> Any:
    def rebuild(make: Any, kind: Any, arguments: Any, state: Any = None) -> Tensor:
        """A tensor of a class: a buffer, or one with attributes."""
        if not callable(make) or not isinstance(kind, _Kind) or not isinstance(arguments, tuple):
            raise archive.wrong("a tensor of a class that is none")
        t: Any = make(*cast("tuple[Any, ...]", arguments))  # type: ignore[redundant-cast]
        if not isinstance(t, Tensor):
            raise archive.wrong(f"a {kind.name} that is no tensor")
        given = cast("dict[str, Any]", state) if isinstance(state, dict) else {}
        if kind.name == "Buffer" or given.get("_is_buffer") is True:
            from .nn.parameter import Buffer

            return cast("Tensor", Buffer(t, persistent=given.get("persistent") is not False))
        return _told(archive, t.detach().requires_grad_(t.requires_grad), given)

    return rebuild


def _encode(archive: _Archive) -> Any:
    def encode(text: Any = "", code: Any = "latin1") -> bytes:
        # So are bytes written: as the text of the same numbers.
        if not isinstance(text, str) or code not in ("latin1", "latin-1"):
            raise archive.wrong(f"bytes in the code {code!r}")
        return text.encode("latin1")

    return encode


def _byte_array(archive: _Archive) -> Any:
    def made(text: Any = b"", code: Any = "latin1") -> bytearray:
        return bytearray(text if isinstance(text, (bytes, bytearray)) else _encode(archive)(text, code))

    return made


def _of(kind: Any, *takes: type) -> Callable[[_Archive], Any]:
    """Values of a class of Python's that only keep what they are given, which is of these classes."""

    def found(archive: _Archive) -> Any:
        def make(*arguments: Any) -> Any:
            if any(type(argument) not in takes for argument in arguments):
                raise archive.wrong(f"a {kind.__name__} of {', '.join(type(argument).__name__ for argument in arguments)}")
            return kind(*arguments)

        return make

    return found


def _path(windows: bool) -> Callable[[_Archive], Any]:
    own = windows == (os.name == "nt")
    # One of the other system is what it says, and opens nothing.
    return _of(pathlib.Path if own else pathlib.PureWindowsPath if windows else pathlib.PurePosixPath, str)


class _NumPyType:
    """A dtype of NumPy's: numbers, truth values or text."""

    def __init__(self, archive: _Archive, code: Any) -> None:
        if not isinstance(code, str) or not re.fullmatch(r"[<>=|]?([biufcSU])(\d+)", code):
            raise archive.wrong(f"elements of NumPy's type {code!r}; taken are numbers, truth values and text")
        self._archive, self._code = archive, code.lstrip("<>=|")
        self._order = code[0] if code[0] in "<>" else "="

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and len(cast("tuple[Any, ...]", state)) > 1 and state[1] in ("<", ">", "|", "="):  # type: ignore[redundant-cast]
            self._order = cast("str", state[1])

    def made(self) -> Any:
        try:
            numpy: Any = import_module("numpy")
        except ImportError:
            raise self._archive.wrong("it has NumPy's arrays or numbers, and NumPy is not installed") from None
        return numpy.dtype(self._order + self._code)

    def elements(self, data: Any, shape: Any, fortran: bool) -> Any:
        dtype, numpy = self.made(), cast("Any", sys.modules["numpy"])
        sizes = cast("tuple[Any, ...]", shape if isinstance(shape, tuple) else (shape,))  # type: ignore[redundant-cast]
        if isinstance(data, str):
            data = data.encode("latin1")
        if not isinstance(data, (bytes, bytearray)) or any(type(n) is not int or n < 0 for n in sizes):
            raise self._archive.wrong("an array of NumPy's that is none")
        if math.prod(sizes) * dtype.itemsize != len(data):
            raise self._archive.wrong(f"an array of shape {sizes} and type {dtype} of {len(data)} bytes")
        if not dtype.itemsize or not len(data):
            return numpy.zeros(sizes, dtype)
        if dtype.kind == "U" and numpy.frombuffer(data, f"{dtype.str[0]}u4").max() > sys.maxunicode:
            raise self._archive.wrong("text of NumPy's with a character that there is none of")
        return numpy.frombuffer(data, dtype).reshape(sizes, order="F" if fortran else "C").copy(order="K")


def _numpy_type(archive: _Archive) -> Any:
    def made(code: Any, *_: Any) -> _NumPyType:
        return _NumPyType(archive, code)

    return made


def _numpy_scalar(archive: _Archive) -> Any:
    def made(dtype: Any, data: Any = None) -> Any:
        if not isinstance(dtype, _NumPyType):
            raise archive.wrong("a number of NumPy's without a type")
        return dtype.elements(data, (), False)[()]

    return made


class _Array:
    """An array of NumPy's, which hears what it is after it is there."""

    def __init__(self, archive: _Archive) -> None:
        self._archive = archive
        self._array: Any = None

    def __setstate__(self, state: Any) -> None:
        parts = cast("tuple[Any, ...]", state) if isinstance(state, tuple) else ()  # type: ignore[redundant-cast]
        if len(parts) != 5 or not isinstance(parts[2], _NumPyType):
            raise self._archive.wrong("an array of NumPy's that is none")
        _, shape, dtype, fortran, data = parts
        self._array = dtype.elements(data, shape, fortran is True)

    def array(self) -> Any:
        if self._array is None:
            raise self._archive.wrong("an array of NumPy's without elements")
        return self._array


def _numpy_array(archive: _Archive) -> Any:
    def made(*_: Any) -> _Array:
        return _Array(archive)

    return made


def _numpy_buffer(archive: _Archive) -> Any:
    def made(data: Any, dtype: Any, shape: Any, order: Any = "C", *_: Any) -> Any:
        if not isinstance(dtype, _NumPyType):
            raise archive.wrong("an array of NumPy's without a type")
        return dtype.elements(data, shape, order == "F")

    return made


_CONTAINERS = (_Ordered, defaultdict, Counter, dict, list, tuple, set, frozenset)

# What a pickle may name, and what it gets.
_FOUND: dict[tuple[str, str], Callable[[_Archive], Any]] = {
    ("collections", "OrderedDict"): _itself(_Ordered),
    ("collections", "defaultdict"): _default_dict,
    ("collections", "Counter"): _itself(Counter),
    ("_codecs", "encode"): _encode,
    ("pathlib", "PosixPath"): _path(False),
    ("pathlib", "PurePosixPath"): _of(pathlib.PurePosixPath, str),
    ("pathlib", "WindowsPath"): _path(True),
    ("pathlib", "PureWindowsPath"): _of(pathlib.PureWindowsPath, str),
    ("datetime", "date"): _of(datetime.date, bytes, int),
    ("datetime", "datetime"): _of(datetime.datetime, bytes, int, datetime.timezone),
    ("datetime", "time"): _of(datetime.time, bytes, int, datetime.timezone),
    ("datetime", "timedelta"): _of(datetime.timedelta, int),
    ("datetime", "timezone"): _of(datetime.timezone, datetime.timedelta, str),
    ("numpy", "dtype"): _numpy_type,
    ("numpy", "ndarray"): _itself(None),
    ("torch._utils", "_rebuild_tensor_v2"): _tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor_v3,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _parameter,
    ("torch._tensor", "_rebuild_from_type_v2"): _from_type,
    ("torch", "Tensor"): _itself(_Kind("Tensor")),
    ("torch._tensor", "Tensor"): _itself(_Kind("Tensor")),
    ("torch.nn.parameter", "Buffer"): _itself(_Kind("Buffer")),
    ("torch.nn.parameter", "Parameter"): _itself(_Kind("Parameter")),
    ("torch", "Size"): _size,
    ("torch", "device"): _device,
    ("torch.storage", "UntypedStorage"): _untyped,
    ("torch", "UntypedStorage"): _untyped,
}


# Python's own, under the names that they have, and had.
for _name, _found in {
    "bytearray": _byte_array,
    "bytes": _of(bytes),
    "complex": _of(complex, float, int),
    "dict": _itself(dict),
    "frozenset": _of(frozenset, list, tuple),
    "list": _itself(list),
    "range": _of(range, int),
    "set": _itself(set),
    "slice": _of(slice, int, float, str, type(None)),
}.items():
    _FOUND["builtins", _name] = _FOUND["__builtin__", _name] = _found
_FOUND["__builtin__", "xrange"] = _FOUND["builtins", "range"]
for _name in ("numpy.core", "numpy._core"):
    _FOUND[f"{_name}.multiarray", "scalar"] = _numpy_scalar
    _FOUND[f"{_name}.multiarray", "_reconstruct"] = _numpy_array
    _FOUND[f"{_name}.numeric", "_frombuffer"] = _numpy_buffer


def load_zip(path: str, where: _Where, mmap: bool = False) -> Any:
    """What is in a zip file of PyTorch's, or of NumPy's. With `mmap`, elements of PyTorch's are read when they are looked at."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(name.endswith(".npy") for name in archive.namelist()):
                from .npz import read_npz

                return {name: where(t, "cpu") for name, t in read_npz(archive, path).items()}
            return _Archive(archive, path, where, mmap).load()
    except (zipfile.BadZipFile, NotImplementedError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: no zip file: {error}") from None
