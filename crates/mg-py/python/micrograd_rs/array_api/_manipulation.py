"""Arrays in other shapes, and elements at other places."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import index as _index

import micrograd_rs as _mg

from .._micrograd_rs import Tensor
from ._dtypes import result_type

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "clip",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
    "tile",
    "unstack",
    "where",
]
_Axes = int | Sequence[int]


def axes_of(x: Tensor, axis: _Axes | None) -> list[int]:
    """The axes that are meant, counted from 0."""
    if axis is None:
        return list(range(x.ndim))
    listed = [axis] if isinstance(axis, int) else list(axis)
    for one in listed:
        if not -x.ndim <= one < x.ndim:
            raise IndexError(f"axis {one} is out of range for an array of {x.ndim} axes")
    return [one % x.ndim for one in listed]


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Arrays in the shape to which all of them broadcast."""
    return list(_mg.broadcast_tensors(*arrays)) if arrays else []


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """The array in a shape that it broadcasts to: a view."""
    return x.expand(shape)


def clip(x: Tensor, /, min: float | Tensor | None = None, max: float | Tensor | None = None) -> Tensor:
    """Elements that are not below `min` nor above `max`."""
    if min is None and max is None:
        return x.clone()
    clipped = _mg.clamp(x, min, max)
    return clipped.to(x.dtype)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Arrays one after the other along an axis; flattened, if there is none."""
    dtype = result_type(*arrays)
    same = [x.to(dtype) for x in arrays]
    return _mg.cat([x.flatten() for x in same]) if axis is None else _mg.cat(same, axis)


def expand_dims(x: Tensor, /, axis: int) -> Tensor:
    """A new axis of size 1."""
    if not -x.ndim - 1 <= axis <= x.ndim:
        raise IndexError(f"axis {axis} is out of range for an array of {x.ndim} axes and one more")
    return x.unsqueeze(axis)


def flip(x: Tensor, /, *, axis: _Axes | None = None) -> Tensor:
    """Elements in the opposite order along axes, or along all."""
    return _mg.flip(x, axes_of(x, axis)) if x.ndim else x.clone()


def moveaxis(x: Tensor, source: _Axes, destination: _Axes, /) -> Tensor:
    """Axes at other places; the others keep their order."""
    return _mg.movedim(x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Axes in another order."""
    return x.permute(axes)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element so many times, one after the other."""
    flat = x.flatten() if axis is None else x
    at = 0 if axis is None else axis
    if isinstance(repeats, Tensor):
        counts = repeats.to(_mg.int64)
        counts = counts.expand((flat.shape[at],)) if counts.ndim == 0 or counts.shape[0] == 1 else counts
        return _mg.repeat_interleave(flat, counts, at)
    return _mg.repeat_interleave(flat, repeats, at)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape."""
    if copy:
        return x.clone().reshape(shape)
    return x.reshape(shape) if copy is None else x.view(shape)


def roll(x: Tensor, /, shift: _Axes, *, axis: _Axes | None = None) -> Tensor:
    """Elements further along, those at the end at the beginning."""
    return _mg.roll(x, shift, () if axis is None else axis)


def squeeze(x: Tensor, /, axis: _Axes) -> Tensor:
    """Without axes, which have to be of size 1."""
    axes = axes_of(x, axis)
    for one in axes:
        if x.shape[one] != 1:
            raise ValueError(f"axis {one} of an array of shape {tuple(x.shape)} is not of size 1")
    return x.squeeze(axes)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Arrays of one shape along a new axis."""
    dtype = result_type(*arrays)
    return _mg.stack([x.to(dtype) for x in arrays], axis)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The elements at some positions along an axis; negative ones count from its end."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError("take: an axis has to be named, as there are several")
        axis = 0
    (at,) = axes_of(x, axis)
    positions = indices.flatten().to(_mg.int64)
    found = _mg.index_select(x, at, _mg.where(positions < 0, positions + x.shape[at], positions))
    return found.reshape((*x.shape[:at], *indices.shape, *x.shape[at + 1 :]))


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """For each place, the element at a position along an axis."""
    (at,) = axes_of(x, axis)
    shape = list(_mg.broadcast_shapes(*((*t.shape[:at], 1, *t.shape[at + 1 :]) for t in (x, indices))))
    sizes = [[*shape[:at], t.shape[at], *shape[at + 1 :]] for t in (x, indices)]
    positions = indices.to(_mg.int64).expand(sizes[1])
    return _mg.gather(x.expand(sizes[0]), at, _mg.where(positions < 0, positions + x.shape[at], positions))


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The array so many times along each axis."""
    return _mg.tile(x, repetitions)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts along an axis."""
    (at,) = axes_of(x, axis)
    return _mg.unbind(x, at)


def where(condition: Tensor, x1: Tensor | complex, x2: Tensor | complex, /) -> Tensor:
    """Elements of one array where the condition holds, and of the other where it does not."""
    dtype = result_type(x1, x2)
    arrays = [x if isinstance(x, Tensor) else _mg.full((), _real(x), dtype=dtype, device=condition.device) for x in (x1, x2)]
    return _mg.where(condition, *(x.to(dtype) for x in arrays))


def _real(x: complex) -> float:
    if isinstance(x, complex):
        raise TypeError("there are no complex numbers")
    return x


def product(sizes: Sequence[int]) -> int:
    """How many elements there are."""
    return reduce(lambda a, b: a * _index(b), sizes, 1)
