"""Sizes as several: what modules of one's own are written with."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int) -> Any:
    def parse(x: Any) -> Any:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    return parse


_single = _ntuple(1)
_pair = _ntuple(2)
_triple = _ntuple(3)
_quadruple = _ntuple(4)


def _reverse_repeat_tuple(t: Iterable[Any], n: int) -> tuple[Any, ...]:  # pyright: ignore[reportUnusedFunction]
    return tuple(x for x in reversed(tuple(t)) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Takes a prefix off the names of a state, in place."""
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)
