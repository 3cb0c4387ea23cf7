"""Order: sorting, searching, sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import micrograd_rs as _mg

from .._micrograd_rs import Tensor

__all__ = [
    "argsort",
    "nonzero",
    "searchsorted",
    "sort",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

# Found when it is called.
_package: Any = _mg


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Elements in ascending order along an axis."""
    found: Tensor = _package.sort(x, dim=axis, descending=descending, stable=stable)[0]
    return found


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Where the elements are, in their ascending order along an axis."""
    found: Tensor = _package.argsort(x, dim=axis, descending=descending, stable=stable)
    return found


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where elements of `x2` belong in the ascending `x1`: before those that are equal, or after them."""
    found: Tensor = _package.searchsorted(x1 if sorter is None else x1[sorter], x2, side=side)
    return found


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The positions of the elements that are not 0, for each axis."""
    if x.ndim == 0:
        raise ValueError("an array without axes has no positions")
    return tuple(_package.nonzero(x, as_tuple=True))


class UniqueAll(NamedTuple):
    """What `unique_all` answers with."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` answers with."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` answers with."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """The elements that differ, where each is first, which of them each element is, and how often each is there. No NaN is another's equal."""
    flat = x.flatten()
    order = argsort(flat)
    ordered = flat[order]
    count = flat.shape[0]
    first = _mg.ones(count, dtype=_mg.bool, device=x.device)
    if count > 1:
        first[1:] = ordered[1:] != ordered[:-1]
    groups = _mg.cumsum(first.to(_mg.int64), 0) - 1
    inverse = _mg.zeros(count, dtype=_mg.int64, device=x.device)
    inverse[order] = groups
    starts = _package.nonzero(first).flatten()
    end = _mg.full((1,), count, dtype=_mg.int64, device=x.device)
    counts = _mg.cat([starts, end]).diff()
    return UniqueAll(ordered[starts], order[starts], inverse.reshape(x.shape), counts)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The elements that differ, and how often each is there."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The elements that differ, and which of them each element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """The elements that differ."""
    return unique_all(x).values
