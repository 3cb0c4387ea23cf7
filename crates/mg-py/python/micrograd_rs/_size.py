"""What methods of tensors answer with, besides tensors."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from ._micrograd_rs import Tensor

    _Sizes = tuple[int, ...]
    _Pair = tuple[Tensor, Tensor]
else:
    _Sizes = _Pair = tuple


class Size(_Sizes):
    """Sizes or strides of axes: a tuple that also compares equal to lists."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)  # pyright: ignore[reportUnknownArgumentType]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

    def numel(self) -> int:
        """The number of elements."""
        n = 1
        for size in self:
            n *= size
        return n


class Extreme(_Pair):
    """Largest or smallest elements along an axis, and where they are."""

    __slots__ = ()

    def __new__(cls, values: Tensor, indices: Tensor) -> Self:
        return super().__new__(cls, (values, indices))

    @property
    def values(self) -> Tensor:
        """The elements."""
        return self[0]

    @property
    def indices(self) -> Tensor:
        """Their positions along the axis."""
        return self[1]

    def __repr__(self) -> str:
        return f"(values={self[0]!r}, indices={self[1]!r})"


def answers(name: str, fields: list[str]) -> type:
    """The class of an operation's several results: a tuple whose fields have names."""
    from collections import namedtuple

    # The checkers take literals alone; the stubs say each class's fields.
    made: Any = namedtuple(name, fields)  # type: ignore[misc]  # pyright: ignore[reportUntypedNamedTuple]
    made.__module__ = "micrograd_rs"
    made.__doc__ = f"What `{name}` answers with: {', '.join(fields)}."
    return made
