"""What methods of tensors answer with, besides tensors."""

from __future__ import annotations


class Size(tuple):
    """Sizes or strides of axes: a tuple that also compares equal to lists."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def numel(self) -> int:
        """The number of elements."""
        n = 1
        for size in self:
            n *= size
        return n


class Extreme(tuple):
    """Largest or smallest elements along an axis, and where they are."""

    __slots__ = ()

    def __new__(cls, values, indices):
        return tuple.__new__(cls, (values, indices))

    @property
    def values(self):
        """The elements."""
        return self[0]

    @property
    def indices(self):
        """Their positions along the axis."""
        return self[1]

    def __repr__(self) -> str:
        return f"(values={self[0]!r}, indices={self[1]!r})"
