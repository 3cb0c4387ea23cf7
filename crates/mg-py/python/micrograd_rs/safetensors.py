"""Safetensors files, under the names of the `safetensors` package, whose files they are.

>>> import tempfile, os
>>> import micrograd_rs as mg
>>> from micrograd_rs.safetensors import safe_open, save_file
>>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
>>> save_file({"weight": mg.arange(6.0).reshape(3, 2)}, path, metadata={"who": "me"})
>>> with safe_open(path) as file:
...     print(file.keys(), file.metadata(), file.get_slice("weight")[1:].tolist())
['weight'] {'who': 'me'} [[2.0, 3.0], [4.0, 5.0]]
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._micrograd_rs import Device, Tensor, _from_safetensors_bytes, _Mapped, _safetensors_bytes, _save_sharded, _Sharded, save_safetensors
from ._names import Lazy as _Lazy
from ._names import kind_of

if TYPE_CHECKING:
    from types import TracebackType

    Path = str | os.PathLike[str]

__all__ = ["load", "load_file", "load_sharded", "safe_open", "save", "save_file", "save_sharded"]

__getattr__ = _Lazy(__name__)


class _Slice:
    """A tensor of a file, of which parts are asked for."""

    def __init__(self, file: _Mapped, name: str, device: Any) -> None:
        self._file, self._name, self._device = file, name, device
        info = file.info(name)
        if info is None:
            raise KeyError(name)
        self._dtype, self._shape = info

    def get_shape(self) -> list[int]:
        """The sizes of the axes."""
        return list(self._shape)

    def get_dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    def __getitem__(self, index: Any) -> Tensor:
        several: tuple[Any, ...] = index if isinstance(index, tuple) else (index,)  # pyright: ignore[reportUnknownVariableType]
        first, rest = (several[0], several[1:]) if several else (None, ())
        if isinstance(first, slice) and self._shape:
            start, stop, step = first.indices(self._shape[0])
            if step == 1:
                length = max(0, stop - start)
                if not rest:
                    return self._file.rows(self._name, start, length, self._device)
                # Columns are taken where the file is mapped: what they leave out is not read.
                return self._file.rows(self._name, start, length)[(slice(None), *rest)].to(self._device)
        return self._file.tensor(self._name)[index].to(self._device)


class safe_open:
    """A file, or the index of several (`model.safetensors.index.json`), whose tensors are read when they are asked for.

    On the host a tensor is a view of the file's pages: what is not looked at is not read, and what is written to it is not written to
    the file. On a CUDA device it is read when it is asked for, by several threads into page-locked memory. `framework` is taken for the sake of the `safetensors` package's signature.

    Arguments:
        filename: the file
        device: where tensors are

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    >>> mg.safetensors.save_file({"a": mg.tensor([1, 2])}, path)
    >>> with mg.safetensors.safe_open(path) as file:
    ...     print(file.keys(), file.get_tensor("a"))
    ['a'] tensor([1, 2])
    """

    def __init__(self, filename: Path, framework: str = "mg", device: Any = "cpu") -> None:
        self._path = os.fspath(filename)
        self._device = device
        self._index = _Sharded(self._path) if self._path.endswith(".json") else None
        self._one = None if self._index is not None else _Mapped(self._path)

    def _of(self, name: str) -> _Mapped:
        return self._one if self._one is not None else self._sharded().file_of(name)

    def _sharded(self) -> _Sharded:
        if self._index is None:
            raise ValueError(f"{self._path} is closed")
        return self._index

    def keys(self) -> list[str]:
        """The tensors' names, in order."""
        return self._one.names() if self._one is not None else self._sharded().names()

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __len__(self) -> int:
        return len(self.keys())

    def metadata(self) -> dict[str, str] | None:
        """What was saved beside the tensors; None where nothing was."""
        return (self._one.metadata() or None) if self._one is not None else None

    def get_tensor(self, name: str) -> Tensor:
        """A tensor."""
        return self._of(name).tensor(name, self._device)

    def _read(self, names: list[str], device: Any) -> dict[str, Tensor]:
        """Tensors on a device, copied there at once: nothing of them is mapped."""
        return (self._one or self._sharded()).read(names, device)

    def get_slice(self, name: str) -> Any:
        """A tensor of which parts are asked for: rows of it (`[10:20]`) read no others."""
        return _Slice(self._of(name), name, self._device)

    def __enter__(self) -> safe_open:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._index = self._one = None


def checked(op: str, tensors: Mapping[Any, Any]) -> dict[str, Tensor]:
    """Tensors by name; TypeError for what is none, under its name."""
    for name, t in tensors.items():
        if not isinstance(name, str):
            raise TypeError(f"{op}: takes tensors under names, got the name {name!r} ({type(name).__name__})")
        if not isinstance(t, Tensor):
            raise TypeError(f"{op}: takes tensors, got {kind_of(t)} under {name!r}: save() writes numbers, text and containers too")
    return dict(tensors)


def save_file(tensors: Mapping[str, Tensor], filename: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes tensors by name to a file, in the place of an older one in one step: a full disk leaves that as it is.

    Arguments:
        tensors: tensors by name
        filename: the file
        metadata: text by name

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    >>> mg.safetensors.save_file({"a": mg.tensor([1, 2])}, path)
    >>> mg.safetensors.load_file(path)
    {'a': tensor([1, 2])}
    """
    save_safetensors(checked("save_file", tensors), filename, dict(metadata or {}))


def load_file(filename: Path, device: Any = "cpu") -> dict[str, Tensor]:
    """All tensors of a file.

    Arguments:
        filename: the file
        device: where tensors are

    See `save_file`.
    """
    file = safe_open(filename, device=device)
    if Device(device).type == "cuda":
        return file._read(file.keys(), device)  # pyright: ignore[reportPrivateUsage]
    return {name: file.get_tensor(name) for name in file.keys()}


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Tensors by name as the bytes of a file.

    Arguments:
        tensors: tensors by name
        metadata: text by name

    >>> len(mg.safetensors.save({"a": mg.tensor([1, 2])}, {"by": "me"})) > 16
    True
    """
    return _safetensors_bytes(checked("save", tensors), dict(metadata or {}))


def load(data: bytes) -> dict[str, Tensor]:
    """All tensors of the bytes of a file.

    Arguments:
        data: the bytes

    >>> mg.safetensors.load(mg.safetensors.save({"a": mg.tensor([1, 2])}))
    {'a': tensor([1, 2])}
    """
    return _from_safetensors_bytes(bytes(data))[0]


def _bytes(size: int | str) -> int:
    units = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
    if isinstance(size, int):
        return size
    number, unit = size.strip().rstrip("BbIiKkMmGgTt"), size.strip().lstrip("0123456789.").upper()
    if unit not in units:
        raise ValueError(f"a size is a number of bytes, or text such as '5GB'; got {size!r}")
    return int(float(number) * units[unit])


def save_sharded(
    tensors: Mapping[str, Tensor],
    folder: Path,
    max_shard_size: int | str = "5GB",
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes tensors by name to files of at most `max_shard_size` in a folder, with an index that names the file of each:
    `model-00001-of-00003.safetensors`, …, `model.safetensors.index.json`. What fits in one file is `model.safetensors`.

    Arguments:
        tensors: tensors by name
        folder: the folder, which is made where it is not there
        metadata: text by name

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> mg.safetensors.save_sharded({"a": mg.zeros(100), "b": mg.ones(100)}, folder, max_shard_size=500)
    >>> sorted(os.listdir(folder))
    ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors', 'model.safetensors.index.json']
    >>> sorted(mg.safetensors.load_sharded(folder))
    ['a', 'b']
    """
    _save_sharded(checked("save_sharded", tensors), folder, _bytes(max_shard_size), dict(metadata or {}))


def load_sharded(folder: Path, device: Any = "cpu") -> dict[str, Tensor]:
    """All tensors of a folder that `save_sharded`, or another program that writes such files, wrote.

    See `save_sharded`.
    """
    index = os.path.join(folder, "model.safetensors.index.json")
    return load_file(index if os.path.exists(index) else os.path.join(folder, "model.safetensors"), device)
