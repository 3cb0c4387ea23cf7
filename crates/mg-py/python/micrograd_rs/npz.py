"""NumPy's `.npy` and `.npz` files, both ways, without NumPy.

Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Of the dtypes, those that tensors have; bf16 is saved as
f32, for NumPy has none.
"""

from __future__ import annotations

import ast
import os
import struct
import sys
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any, cast

from ._micrograd_rs import _DTYPES, Tensor, _rebuild
from ._names import Lazy as _Lazy

__all__ = ["load", "save", "savez", "savez_compressed"]

__getattr__ = _Lazy(__name__)

# Ours by NumPy's types.
_OURS = {each._numpy[1:]: each.short_name for each in _DTYPES if each._numpy}

_MAX_HEADER = 1 << 20


def _wrong(where: str, text: str) -> ValueError:
    return ValueError(f"{where}: {text}")


def is_damage(error: Exception) -> bool:
    """Whether it is what a decompressor says of what it cannot read."""
    return type(error).__module__ in ("zlib", "lzma", "_lzma")


def read_npy(file: IO[bytes], where: str) -> Tensor:
    """A tensor of an `.npy` file."""
    head = file.read(10)
    if len(head) < 10 or head[:6] != b"\x93NUMPY" or head[6] not in (1, 2, 3):
        raise _wrong(where, "no .npy file")
    (length,) = struct.unpack("<H", head[8:10])
    if head[6] > 1:
        more = file.read(2)
        if len(more) < 2:
            raise _wrong(where, "truncated in its header")
        (length,) = struct.unpack("<I", head[8:10] + more)
    if length > _MAX_HEADER:
        raise _wrong(where, f"a header of {length} bytes")
    text = file.read(length)
    if len(text) < length:
        raise _wrong(where, "truncated in its header")
    try:
        header: Any = ast.literal_eval(text.decode("utf-8" if head[6] == 3 else "latin-1").strip())
        descr, fortran, shape = header["descr"], header["fortran_order"], header["shape"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise _wrong(where, f"no header of an .npy file: {error}") from None
    if not isinstance(descr, str) or len(descr) < 3 or descr[0] not in "<>|=":
        raise _wrong(where, f"elements of type {descr!r}; taken are numbers and truth values")
    if not isinstance(shape, tuple) or any(type(n) is not int or n < 0 for n in cast("tuple[Any, ...]", shape)):  # type: ignore[redundant-cast]
        raise _wrong(where, f"no shape: {shape!r}")
    sizes = cast("tuple[int, ...]", shape)
    code = descr[1:]
    if code not in _OURS:
        raise _wrong(where, f"elements of type {descr!r}; taken are {', '.join(_OURS)}")
    size = int(code[1:])
    count = 1
    for n in sizes:
        count *= n
    if count * size >= sys.maxsize or max(sizes, default=0) > sys.maxsize:
        raise _wrong(where, f"shape {sizes}: more elements than there can be")
    # A shape alone asks for no memory: as much is read as is there.
    raw = file.read(count * size + 1)
    if len(raw) != count * size:
        what = "truncated" if len(raw) < count * size else "longer than its header says"
        raise _wrong(where, f"{what}: elements of shape {sizes} and type {descr!r} take {count * size} bytes")
    if descr[0] == ">" or (descr[0] == "=" and sys.byteorder == "big"):
        raw = b"".join(raw[i : i + size][::-1] for i in range(0, len(raw), size)) if size > 1 else raw
    ours, dims = _OURS[code], list(sizes)
    if fortran:
        t = _rebuild(raw, dims[::-1], ours, "cpu", False)
        return t.permute(*range(len(dims) - 1, -1, -1)).contiguous() if len(dims) > 1 else t
    return _rebuild(raw, dims, ours, "cpu", False)


def _npy(t: Tensor) -> bytes:
    t = t.detach().cpu()
    if t.dtype._numpy is None:
        t = t.float()
    code = t.dtype._numpy
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {tuple(t.shape)}, }}"
    padded = header + " " * (-(10 + len(header) + 1) % 64) + "\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode("latin-1")
    return start + _raw(t)


def _raw(t: Tensor) -> bytes:
    """The elements in row-major order."""
    # What a tensor is pickled as.
    return cast("bytes", t.__reduce__()[1][0])


def _replacing(path: str, write: Callable[[IO[bytes]], None]) -> None:
    """Has a file be written beside another one, and take its place in one step."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        if os.path.exists(beside):
            os.unlink(beside)
        if isinstance(error, OSError) and error.filename == beside and error.filename2 is None:
            # The name that was asked for.
            error.filename = path
        raise


def save(file: str | os.PathLike[str], arr: Tensor) -> None:
    """Writes a tensor to an `.npy` file; the name gets that ending where it has none.

    Arguments:
        file: the file
        arr: the tensor

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npy")
    >>> mg.npz.save(path, mg.tensor([1, 2]))
    >>> mg.npz.load(path)
    tensor([1, 2])
    """
    path = os.fspath(file)
    path = path if path.endswith(".npy") else f"{path}.npy"
    data = _npy(arr)

    def write(out: IO[bytes]) -> None:
        out.write(data)

    _replacing(path, write)


def _savez(file: str | os.PathLike[str], tensors: Mapping[str, Tensor], compression: int) -> None:
    path = os.fspath(file)
    path = path if path.endswith(".npz") else f"{path}.npz"

    def write(out: IO[bytes]) -> None:
        with zipfile.ZipFile(out, "w", compression, allowZip64=True) as archive:
            for name, t in tensors.items():
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), _npy(t), compression)

    _replacing(path, write)


def _by_name(args: tuple[Tensor, ...], kwds: Mapping[str, Tensor]) -> dict[str, Tensor]:
    named = {f"arr_{i}": t for i, t in enumerate(args)}
    twice = sorted(named.keys() & kwds.keys())
    if twice:
        raise ValueError(f"{twice[0]} names two tensors")
    return {**named, **kwds}


def savez(file: str | os.PathLike[str], *args: Tensor, **kwds: Tensor) -> None:
    """Writes tensors to an `.npz` file, by name or as `arr_0`, `arr_1`, …; an older file is replaced in one step.

    Arguments:
        file: the file
        args, kwds: the tensors

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npz")
    >>> mg.npz.savez(path, mg.tensor([1, 2]), b=mg.tensor([0.5]))
    >>> sorted(mg.npz.load(path).items())
    [('arr_0', tensor([1, 2])), ('b', tensor([0.5000]))]
    """
    _savez(file, _by_name(args, kwds), zipfile.ZIP_STORED)


def savez_compressed(file: str | os.PathLike[str], *args: Tensor, **kwds: Tensor) -> None:
    """As `savez`, smaller and slower.

    Arguments:
        file: the file
        args, kwds: the tensors

    See `savez`.
    """
    _savez(file, _by_name(args, kwds), zipfile.ZIP_DEFLATED)


def load(file: str | os.PathLike[str]) -> Any:
    """The tensor of an `.npy` file, or the tensors of an `.npz` file by name.

    See `savez`.
    """
    path = os.fspath(file)
    with open(path, "rb") as start:
        if start.read(6) == b"\x93NUMPY":
            start.seek(0)
            return read_npy(start, path)
    try:
        with zipfile.ZipFile(path) as archive:
            return read_npz(archive, path)
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise _wrong(path, f"no .npy or .npz file: {error}") from None


def read_npz(archive: zipfile.ZipFile, where: str) -> dict[str, Tensor]:
    """The tensors of an archive by name."""
    tensors: dict[str, Tensor] = {}
    for info in archive.infolist():
        if info.filename.endswith(".npy"):
            try:
                with archive.open(info) as entry:
                    tensors[info.filename[:-4]] = read_npy(entry, f"{where}: {info.filename}")
            except (zipfile.BadZipFile, EOFError, RuntimeError, OverflowError) as error:
                raise _wrong(where, f"{info.filename}: {error}") from None
            except Exception as error:
                if is_damage(error):
                    raise _wrong(where, f"{info.filename}: {error}") from None
                raise
    return tensors
