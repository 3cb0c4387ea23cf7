"""`save` and `load`: checkpoints of whatever training has, and files of other programs.

A file that `save` writes is a safetensors file. Its tensors are those of the object; its metadata has, under `micrograd_rs`, a JSON
text that says how they are put together:

- `null`, `true`, `false`, numbers and text are themselves; a float that JSON has none of is `{"float": "nan"}`, `"inf"` or `"-inf"`.
- `{"tensor": name}` is a tensor of the file; `"grad": true` beside it says that it requires a gradient, `"device"` where it was, `"attributes"` (a
  dictionary, where it is named first) what a program has given it as attributes. With `"stride": [...]`
  its elements lie so. With `"of": base` as well, it shares the memory of that tensor of the file, from element `"offset"` on.
- `{"list": [...]}`, `{"tuple": [...]}`, `{"set": [...]}` are these, `{"dict": [[key, value], ...]}` is a dictionary in its order.
  With `"metadata": {"encoder": {"version": 2}, ...}` beside it, it is a module's state, and these are the versions of its modules.
- `{"bytes": text}` in base64, `{"dtype": "f32"}`, `{"device": "cuda:0"}`, `{"size": [...]}` are these; `{"array": name}` was a NumPy array.

Tensors of a dictionary that has text for keys have these as names, joined by dots where dictionaries are nested, so a model's state is
what other programs read. Nothing in a file is ever executed.
"""

from __future__ import annotations

import base64
import copy
import json
import math
import os
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ._micrograd_rs import Device, Tensor, _from_safetensors_bytes, _safetensors_bytes, as_tensor, dtype, realize, save_safetensors, tensor, zeros
from ._names import Lazy as _Lazy
from ._names import kind_of
from ._size import Size
from .autograd import no_grad

if TYPE_CHECKING:
    from typing import BinaryIO

    Place = str | os.PathLike[str] | BinaryIO

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

__getattr__ = _Lazy(__name__)

_KEY = "micrograd_rs"


# Where a tensor's elements begin and end, the tensor, and what is said of it.
_Part = tuple[int, int, Tensor, dict[str, Any]]


_safe: list[Any] = []


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Names classes that a file may have, as programs do before PyTorch's `load`. Files are not executed here, whatever is in them: it is remembered, and changes
    nothing.

    Arguments:
        safe_globals: the classes

    >>> mg.serialization.add_safe_globals([dict])
    >>> mg.serialization.get_safe_globals()
    [<class 'dict'>]
    >>> mg.serialization.clear_safe_globals()
    """
    _safe.extend(item for item in safe_globals if item not in _safe)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` was told.

    See `add_safe_globals`.
    """
    return list(_safe)


def clear_safe_globals() -> None:
    """Forgets what `add_safe_globals` was told.

    See `add_safe_globals`.
    """
    _safe.clear()


class safe_globals:
    """A block in which `add_safe_globals` was told of some classes.

    Arguments:
        safe_globals: the classes

    >>> with mg.serialization.safe_globals([dict]):
    ...     mg.serialization.get_safe_globals()
    [<class 'dict'>]
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals
        self._before: list[list[Any]] = []

    def __enter__(self) -> None:
        self._before.append(list(_safe))
        add_safe_globals(self.safe_globals)

    def __exit__(self, *_: object) -> None:
        _safe[:] = self._before.pop()


class _Writer:
    """What is written of an object: its structure, and its tensors by name."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        # The names of those that are there already, and the objects themselves, so that their numbers stay theirs.
        self._known: dict[int, tuple[str, Any]] = {}
        self._open: set[int] = set()
        # Each tensor with what is said of it.
        self._said: list[tuple[Tensor, dict[str, Any]]] = []

    def _named(self, t: Tensor, of: Any, path: str) -> str:
        known = self._known.get(id(of))
        if known is not None:
            return known[0]
        base = path or "tensor"
        base = f"_{base}" if base == "__metadata__" else base
        name, i = base, 1
        while name in self.tensors:
            name, i = f"{base}#{i}", i + 1
        self.tensors[name] = t
        self._known[id(of)] = (name, of)
        return name

    def of(self, value: Any, path: str) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, Tensor):
            is_first = id(value) not in self._known
            said: dict[str, Any] = {"tensor": self._named(value.detach(), value, path)}
            if value.requires_grad:
                said["grad"] = True
            if str(value.device) != "cpu":
                said["device"] = str(value.device)
            if is_first and value.__dict__:
                said["attributes"] = self.of(value.__dict__, path)
            self._said.append((self.tensors[said["tensor"]], said))
            return said
        if isinstance(value, Size):
            return {"size": list(value)}
        if isinstance(value, (bytes, bytearray)):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, dtype):
            return {"dtype": value.short_name}
        if isinstance(value, Device):
            return {"device": str(value)}
        if type(value).__module__ == "numpy":
            if not hasattr(value, "__array_interface__"):
                raise TypeError(f"{_at(path)}: {kind_of(value)} cannot be saved")
            return {"array": self._named(as_tensor(value), value, path)} if value.shape else self.of(value.item(), path)
        if isinstance(value, (int, float)):
            # Subclasses: an IntEnum's member is its number.
            return self.of(int(value) if isinstance(value, int) else float(value), path)
        return self._container(value, path)

    def _container(self, value: Any, path: str) -> Any:
        if id(value) in self._open:
            raise ValueError(f"{_at(path)} contains itself")
        self._open.add(id(value))
        try:
            if isinstance(value, Mapping):
                entries: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]
                said: dict[str, Any] = {"dict": [[self.of(k, path), self.of(v, _below(path, k))] for k, v in entries.items()]}
                metadata = getattr(entries, "_metadata", None)
                if isinstance(metadata, Mapping):
                    from .nn._state import plain_metadata

                    said["metadata"] = plain_metadata(metadata)
                return said
            if isinstance(value, (list, tuple, set, frozenset)):
                kind = "list" if isinstance(value, list) else "tuple" if isinstance(value, tuple) else "set"
                items: Any = value  # pyright: ignore[reportUnknownVariableType]
                return {kind: [self.of(item, _below(path, i)) for i, item in enumerate(items)]}
        finally:
            self._open.discard(id(value))  # pyright: ignore[reportUnknownArgumentType]
        raise TypeError(
            f"{_at(path)}: {kind_of(value)} cannot be saved; tensors, arrays, numbers, text, bytes, dtypes, devices, dictionaries, lists, tuples and sets can: "  # pyright: ignore[reportUnknownArgumentType]
            "save the state_dict() of what has one, vars(args) of a namespace, str(path) of a path"
        )


    def share(self) -> None:
        """Says how tensors lie: which ones share memory, and in what order the elements of the others are."""
        if not self._said:
            return
        realize(*[t for t, _ in self._said])
        shared: dict[Any, list[_Part]] = {}
        for t, said in self._said:
            if t.numel():
                # What runs backwards begins before its first element.
                reach = [(n - 1) * step * t.itemsize for n, step in zip(t.shape, t.stride(), strict=True)]
                first = t.data_ptr() + sum(step for step in reach if step < 0)
                last = t.data_ptr() + sum(step for step in reach if step > 0)
                shared.setdefault((str(t.device), t.dtype), []).append((first, last + t.itemsize, t, said))
        for found in shared.values():
            found.sort(key=lambda part: part[:2])
            group, end = [found[0]], found[0][1]
            for part in found[1:]:
                if part[0] >= end:
                    for members in _together(group):
                        self._lies(members)
                    group = []
                group.append(part)
                end = max(end, part[1])
            for members in _together(group):
                self._lies(members)

    def _lies(self, group: list[_Part]) -> None:
        """Says it of tensors of one memory."""
        start, _, first, _ = group[0]
        end = max(part[1] for part in group)
        if len({part[3]["tensor"] for part in group}) == 1:
            # One tensor, or one that is there several times.
            if not first.is_contiguous() and _has_order(first):
                for _, _, t, said in group:
                    said["stride"] = list(t.stride())
            return
        size = first.itemsize
        whole = next((p for p in group if p[:2] == (start, end) and p[2].is_contiguous()), None)
        if whole is None:
            base = "storage"
            i = 1
            while base in self.tensors:
                base, i = f"storage#{i}", i + 1
            line = self.tensors[base] = zeros((end - start) // size, dtype=first.dtype, device=first.device)
            with no_grad():
                for _, _, t, _ in group:
                    line.as_strided(tuple(t.shape), t.stride(), (t.data_ptr() - start) // size).copy_(t)
        else:
            base = whole[3]["tensor"]
        for _, _, t, said in group:
            if said["tensor"] != base:
                said.update(of=base, offset=(t.data_ptr() - start) // size, stride=list(t.stride()))


def _together(group: list[_Part]) -> list[list[_Part]]:
    """Tensors whose elements are at the same addresses, by the memory that they share: a write to one is seen by the others. What has the same
    numbers may lie at the same place as long as nobody writes to it, too.
    """
    if len({part[3]["tensor"] for part in group}) == 1:
        return [group]
    # Copies share memory as the tensors do.
    memo: dict[Any, Any] = {}
    found: dict[int, list[_Part]] = {}
    for i, part in enumerate(group):
        at = copy.deepcopy(part[2], memo).data_ptr()
        wholes = [t for key, t in memo.items() if isinstance(key, tuple) and key[0] == "micrograd_rs.memory"]
        mine = next((t for t in wholes if 0 <= at - t.data_ptr() < t.numel() * t.itemsize), None)
        found.setdefault(-1 - i if mine is None else mine.data_ptr(), []).append(part)
    return list(found.values())


def _has_order(t: Tensor) -> bool:
    """Whether elements lie without gaps in the order of other axes, or are one where strides are 0."""
    expected = 1
    for step, n in sorted((step, n) for step, n in zip(t.stride(), t.shape, strict=True) if n > 1 and step):
        if step != expected:
            return False
        expected *= n
    return True


def _below(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def _at(path: str) -> str:
    return f"save: {path}" if path else "save: the object"


class _Reader:
    """The reverse."""

    def __init__(self, tensors: dict[str, Tensor], where: _Where) -> None:
        self.tensors, self.where = tensors, where
        self._made: dict[tuple[str, str], Any] = {}

    def of(self, said: Any) -> Any:
        if not isinstance(said, dict):
            if isinstance(said, list):
                raise ValueError("load: the structure has a list where a value was expected")
            return said
        entry: dict[str, Any] = said  # pyright: ignore[reportUnknownVariableType]
        kind = next(iter(entry), None)
        held = entry.get(kind) if kind is not None else None
        if kind == "tensor" and isinstance(held, str):
            return self._tensor(held, entry)
        if kind == "array" and isinstance(held, str):
            return self._found(held).numpy()
        if kind in ("list", "tuple", "set", "size") and isinstance(held, list):
            items = [self.of(item) for item in cast("list[Any]", held)]  # type: ignore[redundant-cast]
            if kind == "size" and any(type(n) is not int or n < 0 for n in items):
                raise ValueError(f"load: {items} are no sizes")
            return {"list": list, "tuple": tuple, "set": set, "size": Size}[kind](items)
        if kind == "dict" and isinstance(held, list):
            made = {self.of(k): self.of(v) for k, v in map(_pair, cast("list[Any]", held))}  # type: ignore[redundant-cast]
            if "metadata" not in entry:
                return made
            from .nn._state import with_metadata

            return with_metadata(made, entry["metadata"])
        if kind == "float" and held in ("nan", "inf", "-inf"):
            return float(held)
        if kind == "bytes" and isinstance(held, str):
            return base64.b64decode(held)
        if kind == "dtype" and isinstance(held, str):
            return tensor(0, dtype=held).dtype
        if kind == "device" and isinstance(held, str):
            return Device(held)
        raise ValueError(f"load: the structure has {kind!r}, which this version does not know")

    def _found(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise ValueError(f"load: the structure names a tensor {name!r} that is not in the file")
        return self.tensors[name]

    def _tensor(self, name: str, entry: dict[str, Any]) -> Tensor:
        # What was one tensor is one again.
        if ("tensor", name) not in self._made:
            device = str(entry.get("device", "cpu"))
            if "of" in entry:
                t = self._view(name, entry, device)
            elif "stride" in entry:
                t = self.where(_in_order(self._found(name), _numbers(entry["stride"])), device)
            else:
                t = self._base(name, device)
            t = self._made["tensor", name] = t.detach().requires_grad_() if entry.get("grad") is True else t
            # Known before its attributes are, which may name it.
            attributes = self.of(entry.get("attributes"))
            if isinstance(attributes, dict):
                t.__setstate__(cast("dict[str, Any]", attributes))
        return cast("Tensor", self._made["tensor", name])

    def _base(self, name: str, device: str) -> Tensor:
        """A tensor of the file, where it belongs: those that share its memory find the same one."""
        if ("base", name) not in self._made:
            self._made["base", name] = self.where(self._found(name), device)
        return cast("Tensor", self._made["base", name])

    def _view(self, name: str, entry: dict[str, Any], device: str) -> Tensor:
        """A tensor that shares the memory of another one."""
        own, base = self._found(name), self._base(str(entry["of"]), device)
        strides, offset = _numbers(entry.get("stride"), backwards=True), entry.get("offset")
        sizes = tuple(own.shape)
        if type(offset) is not int or offset < 0 or len(strides) != len(sizes):
            raise ValueError(f"load: a tensor {name!r} of sizes {sizes} and strides {strides} from element {offset} on")
        reach = [(n - 1) * step for n, step in zip(sizes, strides, strict=True)]
        first, last = (offset + sum(step for step in reach if (step < 0) == below) for below in (True, False))
        if 0 in sizes or first < 0 or last >= base.numel() or not base.is_contiguous() or base.dtype != own.dtype:
            raise ValueError(f"load: a tensor {name!r} that is no part of {entry['of']!r}")
        return base.detach().as_strided(sizes, strides, base.storage_offset() + offset)


def _numbers(said: Any, *, backwards: bool = False) -> list[int]:
    numbers: list[Any] = cast("list[Any]", said) if isinstance(said, list) else [None]  # type: ignore[redundant-cast]
    if any(type(n) is not int or n < 0 and not backwards for n in numbers):
        raise ValueError(f"load: {said} are no strides")
    return numbers


def _in_order(t: Tensor, strides: list[int]) -> Tensor:
    """The same elements, lying at strides."""
    if len(strides) != t.dim():
        raise ValueError(f"load: strides {strides} of a tensor of shape {tuple(t.shape)}")
    sizes = tuple(t.shape)
    for axis, step in enumerate(strides):
        if not step:
            t = t.narrow(axis, 0, min(1, t.shape[axis]))
    order = sorted(range(len(strides)), key=lambda axis: strides[axis], reverse=True)
    back = sorted(range(len(order)), key=order.__getitem__)
    return t.permute(order).contiguous().permute(back).expand(sizes)


def _pair(item: Any) -> tuple[Any, Any]:
    if not isinstance(item, list) or len(cast("list[Any]", item)) != 2:  # type: ignore[redundant-cast]
        raise ValueError("load: an entry of a dictionary is no pair")
    key, value = cast("list[Any]", item)  # type: ignore[redundant-cast]
    return key, value


class _Where:
    """Where tensors go: as PyTorch's `map_location`."""

    def __init__(self, map_location: Any) -> None:
        self._map = map_location

    def device(self, was: str) -> str:
        """The device of what was on another one, as far as that is known without the tensor: the host where it is not."""
        return "cpu" if callable(self._map) else str(Device(self._to(was)))

    def __call__(self, t: Tensor, was: str) -> Tensor:
        if callable(self._map):
            moved = self._map(t, was)
            return t if moved is None else cast("Tensor", moved)
        return t.to(self._to(was))

    def _to(self, was: str) -> Any:
        to: Any = self._map
        if isinstance(to, Mapping):
            return cast("Mapping[str, Any]", to).get(was, was)
        return was if to is None else to


def save(obj: Any, f: Place, pickle_module: Any = None, pickle_protocol: int | None = None, _use_new_zipfile_serialization: bool = True) -> None:
    """Writes tensors, numbers, text and containers of them (a model's and an optimiser's `state_dict()`, a generator's state, …) to a
    file: a safetensors file, described in `micrograd_rs.serialization`.

    Tensors that share memory share it again when they are loaded. An older file is replaced in one step: a full disk, or a process that is killed, leaves that as it is. `f` may be an open
    file, too. Nothing is pickled, so PyTorch's `pickle_module`, `pickle_protocol` and `_use_new_zipfile_serialization` change nothing. Raises `TypeError` with the place of
    what cannot be saved.

    >>> import io
    >>> import micrograd_rs as mg
    >>> file = io.BytesIO()
    >>> mg.save({"weights": mg.ones(2), "step": 3}, file)
    >>> file.seek(0)
    0
    >>> mg.load(file)
    {'weights': tensor([1., 1.]), 'step': 3}

    Arguments:
        obj: what is written
    """
    del pickle_module, pickle_protocol, _use_new_zipfile_serialization
    writer = _Writer()
    said = writer.of(obj, "")
    writer.share()
    structure = json.dumps(said, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if hasattr(f, "write"):
        cast("Any", f).write(_safetensors_bytes(writer.tensors, {_KEY: structure}))
        return
    save_safetensors(writer.tensors, cast("str", f), {_KEY: structure})


def load(
    f: Place,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = True,
    mmap: bool | None = False,
    encoding: str | None = None,
) -> Any:
    """What is in a file, copied to memory (with `mmap=True` it is mapped, and read where somebody looks at it): one that `save` wrote, any
    safetensors file (a dictionary of tensors), the index of several of them, PyTorch's `.pt` and `.pth`, NumPy's `.npy` and `.npz`.

    `map_location` is a device, or a dictionary or function from where tensors were to where they go. Nothing in a file is executed: of
    PyTorch's files tensors, containers, numbers (NumPy's too), paths and times are read, and whatever else they name is an error (`weights_only` is
    always so, and there is no `pickle_module`; `encoding` changes nothing). Tensors that shared memory share it.
    With `mmap`, tensors of a file that `save` wrote, of a safetensors file and of PyTorch's are read when their elements are looked at; what is
    written to them is not written to the file.

    Arguments:
        f: the file, by its path or open

    >>> import io
    >>> file = io.BytesIO()
    >>> mg.save({"weights": mg.tensor([1.0, 2.0]), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> mg.load(file)
    {'weights': tensor([1., 2.]), 'epoch': 3}
    """
    where = _Where(map_location)
    if hasattr(f, "read"):
        data = bytes(cast("Any", f).read())
        if _is_safetensors(data[:9]):
            tensors, metadata = _from_safetensors_bytes(data)
            return _restored(tensors, _structure(metadata, "load"), where, "load")
        _checked(data[:9], "load: the file")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            with open(path, "wb") as file:
                file.write(data)
            return _load(path, where, False)
    del weights_only, pickle_module
    return _load(os.fspath(cast("str", f)), where, bool(mmap))


def _is_safetensors(start: bytes) -> bool:
    """Whether a file of which these are the first nine bytes can only be a safetensors file: the length of a header, and its brace."""
    return start[8:] == b"{" and not start.startswith((b"PK", b"\x93NUMPY"))


def _checked(start: bytes, path: str) -> None:
    """Raises ValueError for a file, of which these are the first nine bytes, that is none of those that can be read."""
    # A safetensors file begins with the length of its header, which may begin so too, and then the header's brace.
    if start[:1] == b"\x80" and start[8:] != b"{":
        raise ValueError(f"{path}: a pickle. Only PyTorch's zip files are read, as torch.save has written them since version 1.6")
    if start[8:] != b"{" and not start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")):
        raise ValueError(f"{path} is neither safetensors, nor a .pt zip, nor .npy/.npz")


def _load(path: str, where: _Where, mmap: bool) -> Any:
    with open(path, "rb") as file:
        start = file.read(9)
    if not path.endswith(".json"):
        _checked(start, path)
    if start[:4] == b"PK\x03\x04" or start[:4] == b"PK\x05\x06":
        from . import _pickles

        return _pickles.load_zip(path, where, mmap)
    if start[:6] == b"\x93NUMPY":
        from .npz import read_npy

        with open(path, "rb") as file:
            return where(read_npy(file, path), "cpu")
    from .safetensors import safe_open

    opened = safe_open(path)
    metadata = opened.metadata() or {}
    structure = _structure(metadata, path)
    names = opened.keys()
    places = dict.fromkeys(names, where.device("cpu")) if structure is None else _places(structure, where, names)
    tensors: dict[str, Tensor] = {}
    for device in dict.fromkeys(places.values()):
        here = [name for name in names if places[name] == device]
        if mmap and device == "cpu":
            tensors.update((name, opened.get_tensor(name)) for name in here)
        else:
            tensors.update(opened._read(here, device))  # pyright: ignore[reportPrivateUsage]
    return _restored({name: tensors[name] for name in names}, structure, where, path)


def _structure(metadata: dict[str, str], path: str) -> Any:
    """What `save` said of the tensors; None where it did not write the file."""
    if _KEY not in metadata:
        return None
    try:
        return json.loads(metadata[_KEY])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: its structure is no JSON: {error}") from None


def _places(structure: Any, where: _Where, names: list[str]) -> dict[str, str]:
    """The devices that the tensors of these names go to: the host for what is needed in several places."""
    places: dict[str, set[str]] = {name: set() for name in names}
    said: list[Any] = [structure]
    while said:
        entry = said.pop()
        if isinstance(entry, list):
            said.extend(cast("list[Any]", entry))  # type: ignore[redundant-cast]
        elif isinstance(entry, dict):
            entry = cast("dict[str, Any]", entry)
            said.extend(entry.values())
            for kind in entry.keys() & {"tensor", "of", "array"}:
                name, was = entry[kind], entry.get("device", "cpu")
                if isinstance(name, str) and name in places:
                    places[name].add(where.device(str(was)) if kind != "array" else "cpu")
    return {name: next(iter(found)) if len(found) == 1 else "cpu" for name, found in places.items()}


def _restored(tensors: dict[str, Tensor], structure: Any, where: _Where, path: str) -> Any:
    """What was saved, of a file's tensors and what `save` said of them."""
    if structure is None:
        return {name: where(t, "cpu") for name, t in tensors.items()}
    try:
        return _Reader(tensors, where).of(structure)
    except (RecursionError, TypeError) as error:
        raise ValueError(f"{path}: its structure cannot be read: {error}") from None
