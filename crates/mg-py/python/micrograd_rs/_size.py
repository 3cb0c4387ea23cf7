"""What methods of tensors answer with, besides tensors."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, SupportsIndex, overload

    from ._micrograd_rs import Tensor

    _Sizes = tuple[int, ...]
    _Pair = tuple[Tensor, Tensor]
else:
    _Sizes = _Pair = tuple


_part: Any = getattr(tuple, "__getitem__")


class Size(_Sizes):
    """Sizes or strides of axes: a tuple that also compares equal to lists. Parts of it, and what it is joined to, are such too.

    Arguments:
        iterable: the sizes

    >>> shape = mg.zeros(2, 3).shape
    >>> shape == [2, 3], shape[:1] + (4,), shape.numel()
    (True, (2, 4), 6)
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: SupportsIndex) -> int: ...
        @overload
        def __getitem__(self, key: slice) -> Size: ...

    def __getitem__(self, key: Any) -> Any:
        part: Any = _part(self, key)
        return Size(part) if part.__class__ is tuple else part

    def __add__(self, other: Any) -> Any:
        # What is no tuple may know what to do with one.
        return Size((*self, *other)) if isinstance(other, tuple) else NotImplemented  # pyright: ignore[reportUnknownArgumentType]

    def __radd__(self, other: Any) -> Any:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented  # pyright: ignore[reportUnknownArgumentType]

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(super().__mul__(times))

    __rmul__ = __mul__

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
    _fields = ("values", "indices")

    def __new__(cls, values: Any, indices: Tensor | None = None) -> Self:
        # As a tuple of named fields, or as PyTorch's, of both together.
        if indices is not None:
            return super().__new__(cls, (values, indices))
        if values.__class__ not in (tuple, list, cls) or len(values) != 2:
            raise TypeError(f"takes values and indices, got {values.__class__.__name__}")
        return super().__new__(cls, values)

    def _replace(self, **fields: Any) -> Self:
        values, indices = (fields.pop(name, own) for name, own in zip(self._fields, self, strict=True))
        if fields:
            raise ValueError(f"has no fields {', '.join(fields)}")
        return type(self)(values, indices)

    def _asdict(self) -> dict[str, Tensor]:
        return dict(zip(self._fields, self, strict=True))

    @property
    def values(self) -> Tensor:
        """The elements."""
        return self[0]

    @property
    def indices(self) -> Tensor:
        """Their positions along the axis."""
        return self[1]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(values={self[0]!r}, indices={self[1]!r})"


class max(Extreme):
    """What `max` along an axis answers with."""

    __slots__ = ()


class min(Extreme):
    """What `min` along an axis answers with."""

    __slots__ = ()


# The classes of operations that have answered, by their names and fields.
_answers: dict[tuple[str, ...], Any] = {}


def answers(name: str, fields: list[str]) -> type:
    """The class of an operation's several results: a tuple whose fields have names."""
    key = (name, *fields)
    if key not in _answers:
        from collections import namedtuple

        # The checkers take literals alone; the stubs say each class's fields.
        made: Any = namedtuple(name, fields)  # type: ignore[misc]  # pyright: ignore[reportUntypedNamedTuple]
        made.__module__ = "micrograd_rs"
        made.__doc__ = f"What `{name}` answers with: {', '.join(fields)}."

        def reduced(self: Any) -> Any:
            # By its name alone it would not be found: that is the operation's.
            return _answer, (key, tuple(self))

        setattr(made, "__reduce__", reduced)
        # Another thread may have made it meanwhile.
        _answers.setdefault(key, made)
    return _answers[key]  # type: ignore[no-any-return]


def _answer(key: tuple[str, ...], items: tuple[Tensor, ...]) -> Any:
    """Results as they were pickled."""
    made: Any = answers(key[0], list(key[1:]))
    return made(*items)
