"""Operations on many tensors at once, as PyTorch's `_foreach_…` has them for averages and optimisers that are written by hand.

>>> import micrograd_rs as mg
>>> averages, values = [mg.zeros(2), mg.ones(1)], [mg.ones(2), mg.ones(1)]
>>> _ = mg._foreach_mul_(averages, 0.75)
>>> _ = mg._foreach_add_(averages, values, alpha=0.25)
>>> [t.tolist() for t in averages]
[[0.25, 0.25], [1.0]]

What is given beside the tensors is one number or tensor for all of them, or a list with one for each. Each is recorded like any other operation,
and what is recorded is computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._micrograd_rs import Tensor
from .linalg import vector_norm

# What takes two operands and a factor.
_THREE = ("addcmul", "addcdiv")
# Of numbers, the method that takes them.
_OF_NUMBERS = {"maximum": "clamp_min", "minimum": "clamp_max"}


def _of(value: Any, i: int) -> Any:
    return value[i] if isinstance(value, (list, tuple)) else value  # pyright: ignore[reportUnknownVariableType]


def _made(operation: str, in_place: bool) -> Callable[..., Any]:
    name = f"_foreach_{operation}{'_' if in_place else ''}"

    def function(tensors: Any, *others: Any, **named: Any) -> Any:
        if isinstance(tensors, (int, float)):
            if operation != "pow":
                raise TypeError(f"{name}: takes tensors, got {tensors!r}")
            return tuple(tensors**exponent for exponent in others[0])
        each: list[Tensor] = list(tensors)
        count = len(each)
        if operation in _THREE and len(others) == 3:
            named["value"], others = others[2], others[:2]
        if operation in _THREE and isinstance(named.get("value"), Tensor):
            # One for each.
            named["value"] = named["value"].tolist()
        for other in (*others, *named.values()):
            if isinstance(other, (list, tuple)) and len(other) != count:  # pyright: ignore[reportUnknownArgumentType]
                raise RuntimeError(f"{name}: takes lists of one length, got {count} and {len(other)}")  # pyright: ignore[reportUnknownArgumentType]
        found: list[Tensor] = []
        for i, t in enumerate(each):
            given = [_of(other, i) for other in others]
            options = {key: _of(value, i) for key, value in named.items()}
            method = operation if given and isinstance(given[0], Tensor) else _OF_NUMBERS.get(operation, operation)
            if operation == "copy":
                # Whether the copy may take its time changes nothing.
                given, options = given[:1], {}
            found.append(getattr(t, method + ("_" if in_place else ""))(*given, **options))
        return found if in_place else tuple(found)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`Tensor.{operation}{'_' if in_place else ''}` of each."
    return function


def _foreach_norm(tensors: Sequence[Tensor], ord: float = 2, dtype: Any = None) -> tuple[Tensor, ...]:  # pyright: ignore[reportUnusedFunction]
    """The norm of each, of all its elements."""
    return tuple(vector_norm(t, ord, dtype=dtype) for t in tensors)


def _foreach_max(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:  # pyright: ignore[reportUnusedFunction]
    """The largest element of each."""
    return tuple(t.max() for t in tensors)


def __getattr__(name: str) -> Any:
    """`_foreach_` before the name of a tensor's method is that method of each."""
    method = name.removeprefix("_foreach_")
    if method == name or not callable(getattr(Tensor, method, None)):
        raise AttributeError(f"module 'micrograd_rs' has no attribute '{name}'")
    made = globals()[name] = _made(method.removesuffix("_"), method.endswith("_"))
    return made
