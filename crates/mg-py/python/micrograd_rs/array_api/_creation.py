"""Arrays made of nothing but what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import micrograd_rs as _mg

from .._micrograd_rs import Device, Tensor, dtype

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]
_Shape = int | Sequence[int]


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: dtype | None = None,
    device: Device | None = None,
) -> Tensor:
    """Numbers from `start` up to, and without, `stop`."""
    first, last = (0, start) if stop is None else (start, stop)
    if (last > first) != (step > 0):
        # There are none; of the kind that there would be.
        last = first + 0 * last
    return _mg.arange(first, last, step, dtype=dtype, device=device)


def asarray(obj: Any, /, *, dtype: dtype | None = None, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """An array of numbers, of nested sequences of them, of another array, or of memory that somebody else has."""
    if isinstance(obj, Tensor):
        changed = (dtype is not None and obj.dtype != dtype) or (device is not None and obj.device != device)
        if not changed:
            return obj.clone() if copy else obj
        if copy is False:
            raise ValueError("cannot change dtype or device without a copy")
        moved = obj if device is None else obj.to(device)
        return moved if dtype is None else moved.to(dtype)
    if copy is False and not (hasattr(obj, "__dlpack__") or hasattr(obj, "__array_interface__") or isinstance(obj, (bytearray, memoryview))):
        raise ValueError("numbers of Python become an array by a copy")
    made = _mg.tensor if copy else _mg.as_tensor
    return made(obj, dtype=dtype, device=device)


def zeros(shape: _Shape, *, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """Zeros."""
    return _mg.zeros(size=shape, dtype=dtype, device=device)


def ones(shape: _Shape, *, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """Ones."""
    return _mg.ones(size=shape, dtype=dtype, device=device)


def empty(shape: _Shape, *, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """An array whose elements say nothing yet."""
    return _mg.empty(size=shape, dtype=dtype, device=device)


def full(shape: _Shape, fill_value: float, *, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """One number, everywhere."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return _mg.full(sizes, fill_value, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """Zeros in the shape, dtype and on the device of another array."""
    return _mg.zeros_like(x, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """Ones in the shape, dtype and on the device of another array."""
    return _mg.ones_like(x, dtype=dtype, device=device)


def empty_like(x: Tensor, /, *, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """As `empty`, in the shape, dtype and on the device of another array."""
    return _mg.empty_like(x, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: float, *, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """One number in the shape, dtype and on the device of another array."""
    return _mg.full_like(x, fill_value, dtype=dtype, device=device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: dtype | None = None, device: Device | None = None) -> Tensor:
    """Ones on a diagonal, the `k`-th above the main one, and zeros elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    if k == 0:
        return _mg.eye(n_rows, columns, dtype=dtype, device=device)
    # Beyond the corners there is nothing, however far.
    k = min(max(k, -n_rows), columns)
    row = _mg.arange(n_rows, device=device).unsqueeze(1)
    column = _mg.arange(columns, device=device)
    return (column - row == k).to(_mg.get_default_dtype() if dtype is None else dtype)


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: dtype | None = None,
    device: Device | None = None,
    endpoint: bool = True,
) -> Tensor:
    """`num` numbers, equally far from each other, from `start` to `stop`, or as if that were one more of them."""
    if endpoint:
        return _mg.linspace(start, stop, num, dtype=dtype, device=device)
    return _mg.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """The coordinates of a grid, one array for each axis."""
    return list(_mg.meshgrid(*arrays, indexing=indexing)) if arrays else []


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The lower triangles of matrices, up to the `k`-th diagonal above the main one; zeros elsewhere."""
    return _mg.tril(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The upper triangles of matrices, from the `k`-th diagonal above the main one; zeros elsewhere."""
    return _mg.triu(x, k)


def from_dlpack(x: object, /, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """An array of what another library has, without a copy where there can be one."""
    found = _mg.from_dlpack(x, copy=copy)
    return found if device is None else found.to(device)
