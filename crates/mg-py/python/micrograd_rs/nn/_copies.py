"""Copies and pickles of modules."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from .._micrograd_rs import Tensor
from ._parts import HELD, twins
from .parameter import Parameter, mark, mark_as, marks_of

if TYPE_CHECKING:
    from .module import Module


def deep(module: Module, memo: dict[int, Any]) -> Any:
    """A module of its own on copies of the parameters, which have no gradients yet. As everything that can be pickled it is asked for
    what it consists of by `__reduce_ex__` and `__getstate__`, and told by `__setstate__`.
    """
    made: Any = module.__reduce_ex__(4)
    if isinstance(made, str):
        return module
    parts: list[Any] = [*made, None, None, None]
    make, arguments, state, items, entries = parts[:5]
    other = make(*[copy.deepcopy(argument, memo) for argument in arguments])
    memo[id(module)] = other
    if state is not None:
        plain = state.__class__ is dict
        copied: Any = {name: _copied(value, memo) for name, value in state.items()} if plain else copy.deepcopy(state, memo)
        told: Any = getattr(other, "__setstate__", None)
        if told is not None:
            told(copied)
        else:
            other.__dict__.update(copied)
    for item in items or ():
        other.append(copy.deepcopy(item, memo))
    for key, value in entries or ():
        other[copy.deepcopy(key, memo)] = copy.deepcopy(value, memo)
    return other


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """A deep copy of what a module has."""
    if not isinstance(value, Tensor) or value.is_leaf:
        copied = copy.deepcopy(value, memo)
    else:
        # What was computed of parameters is computed anew before it is used.
        copied = value.detach().clone()
        mark_as(copied, marks_of(value))
    if isinstance(value, Parameter):
        mark(copied)
        copied.grad = None
    return copied


def shallow(module: Module) -> Any:
    """Another module of the same parameters and parts: what is registered with one of them is registered with both, as in PyTorch, and
    all else is each one's own.
    """
    from .module import Module

    made: Any = module.__reduce_ex__(4)
    if isinstance(made, str):
        return module
    parts: list[Any] = [*made, None]
    make, arguments, state = parts[:3]
    other = make(*arguments)
    if state is not None:
        other.__setstate__(state)
    if isinstance(other, Module) and other._kinds is module._kinds:
        together = twins.setdefault(module, WeakSet([module]))
        together.add(other)
        twins[other] = together
    return other


def get_state(module: Module) -> dict[str, Any]:
    """What a pickle has of a module."""
    state = {name: value for name, value in vars(module).items() if name not in HELD}
    # What is remembered of tensors beside them.
    state["_marks"] = {name: marks_of(t) for name, t in module._own(("parameter", "buffer", "transient"), Tensor)}
    return state


def set_state(module: Module, state: dict[str, Any]) -> None:
    """Has a module become what a pickle had."""
    state = dict(state)
    marks = state.pop("_marks", {})
    # Those of the module that the state was of are none of this one's.
    vars(module).update((name, value) for name, value in state.items() if name not in HELD)
    for name, t in module._own(("parameter", "buffer", "transient"), Tensor):
        if name in marks:
            mark_as(t, marks[name])
    for _, parameter in module._own(("parameter",), Tensor):
        mark(parameter)
