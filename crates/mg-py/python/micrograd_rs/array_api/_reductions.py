"""Sums and their like over axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import micrograd_rs as _mg

from .._micrograd_rs import Tensor
from ._dtypes import isdtype, result_type
from ._manipulation import axes_of

if TYPE_CHECKING:
    from builtins import bool as _bool

    from .._micrograd_rs import dtype as _DType

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]
_Axes = int | Sequence[int]


def _added(x: Tensor, dtype: _DType | None) -> _DType:
    """In what dtype sums of elements are: integers in the widest of their kind."""
    if dtype is not None:
        return dtype
    if isdtype(x.dtype, ("bool", "signed integer")):
        return _mg.int64
    if isdtype(x.dtype, "unsigned integer"):
        return getattr(_mg, "uint64", _mg.int64)
    return x.dtype


def sum(x: Tensor, /, *, axis: _Axes | None = None, dtype: _DType | None = None, keepdims: _bool = False) -> Tensor:
    """The sum."""
    kind = _added(x, dtype)
    axes = axes_of(x, axis)
    wide = x.to(kind)
    return wide.clone() if not axes else _mg.sum(wide, axes, keepdims).to(kind)


def prod(x: Tensor, /, *, axis: _Axes | None = None, dtype: _DType | None = None, keepdims: _bool = False) -> Tensor:
    """The product."""
    kind = _added(x, dtype)
    axes, found = axes_of(x, axis), x.to(kind)
    if not axes:
        return found.clone()
    for at in sorted(axes, reverse=True):
        found = _mg.prod(found, at, keepdims).to(kind)
    return found


def mean(x: Tensor, /, *, axis: _Axes | None = None, keepdims: _bool = False) -> Tensor:
    """The mean."""
    axes = axes_of(x, axis)
    return _mg.mean(x, axes, keepdims) if axes else x.clone()


def _spread(x: Tensor, axis: _Axes | None, correction: float, keepdims: _bool) -> Tensor:
    axes = axes_of(x, axis)
    count = 1
    for at in axes:
        count *= x.shape[at]
    if not axes:
        return x - x if correction < 1 else _mg.full_like(x, float("nan"))
    middle = _mg.mean(x, axes, True)
    squares = _mg.sum(_mg.square(x - middle), axes, keepdims)
    rest = count - correction
    return squares / rest if rest > 0 else squares * float("nan")


def var(x: Tensor, /, *, axis: _Axes | None = None, correction: float = 0.0, keepdims: _bool = False) -> Tensor:
    """The mean of the squares of what elements are off their mean, of `correction` elements less."""
    return _spread(x, axis, correction, keepdims)


def std(x: Tensor, /, *, axis: _Axes | None = None, correction: float = 0.0, keepdims: _bool = False) -> Tensor:
    """The root of `var`."""
    return _mg.sqrt(_spread(x, axis, correction, keepdims))


def max(x: Tensor, /, *, axis: _Axes | None = None, keepdims: _bool = False) -> Tensor:
    """The largest element."""
    axes = axes_of(x, axis)
    return _mg.amax(x, axes, keepdims) if axes else x.clone()


def min(x: Tensor, /, *, axis: _Axes | None = None, keepdims: _bool = False) -> Tensor:
    """The smallest element."""
    axes = axes_of(x, axis)
    return _mg.amin(x, axes, keepdims) if axes else x.clone()


def _truths(x: Tensor) -> Tensor:
    return x if x.dtype == _mg.bool else x != 0


def all(x: Tensor, /, *, axis: _Axes | None = None, keepdims: _bool = False) -> Tensor:
    """Whether no element is 0."""
    axes, found = axes_of(x, axis), _truths(x)
    for at in sorted(axes, reverse=True):
        found = _mg.all(found, at, keepdims)
    return found


def any(x: Tensor, /, *, axis: _Axes | None = None, keepdims: _bool = False) -> Tensor:
    """Whether some element is not 0."""
    axes, found = axes_of(x, axis), _truths(x)
    for at in sorted(axes, reverse=True):
        found = _mg.any(found, at, keepdims)
    return found


def _extreme(find: str, x: Tensor, axis: int | None, keepdims: _bool) -> Tensor:
    function = getattr(_mg, find)
    if axis is not None:
        (at,) = axes_of(x, axis)
        along: Tensor = function(x, at, keepdims)
        return along
    found: Tensor = function(x.flatten(), 0)
    return found.reshape((1,) * x.ndim) if keepdims else found


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: _bool = False) -> Tensor:
    """Where the largest element is: the first of equal ones."""
    return _extreme("argmax", x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: _bool = False) -> Tensor:
    """Where the smallest element is: the first of equal ones."""
    return _extreme("argmin", x, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: _Axes | None = None, keepdims: _bool = False) -> Tensor:
    """How many elements are not 0."""
    return sum(_truths(x).to(_mg.int64), axis=axis, keepdims=keepdims)


def _running(find: str, x: Tensor, axis: int | None, dtype: _DType | None, first: float | None) -> Tensor:
    if axis is None:
        if x.ndim != 1:
            raise ValueError("an axis has to be named, as there are several")
        axis = 0
    kind = _added(x, dtype)
    (at,) = axes_of(x, axis)
    found: Tensor = getattr(_mg, find)(x.to(kind), at).to(kind)
    if first is None:
        return found
    edge = _mg.full((*x.shape[:at], 1, *x.shape[at + 1 :]), first, dtype=kind, device=x.device)
    return _mg.cat([edge, found], at)


def cumulative_sum(x: Tensor, /, *, axis: int | None = None, dtype: _DType | None = None, include_initial: _bool = False) -> Tensor:
    """The sum of each element and all before it, after a 0 if that is asked for."""
    return _running("cumsum", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(x: Tensor, /, *, axis: int | None = None, dtype: _DType | None = None, include_initial: _bool = False) -> Tensor:
    """The product of each element and all before it, after a 1 if that is asked for."""
    return _running("cumprod", x, axis, dtype, 1 if include_initial else None)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """The differences of neighbours, `n` times."""
    (at,) = axes_of(x, axis)
    parts = [part for part in (prepend, x, append) if part is not None]
    dtype = result_type(*parts)
    found = _mg.cat([part.to(dtype) for part in parts], at)
    for _ in range(n):
        length = found.shape[at]
        if length < 2:
            return found.narrow(at, 0, 0)
        found = found.narrow(at, 1, length - 1) - found.narrow(at, 0, length - 1)
    return found
