"""What becomes a part of a module: under which names, and what hooks of registrations make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._micrograd_rs import Tensor
from . import _hooks

if TYPE_CHECKING:
    from .module import Module


def what_is(value: object) -> str:
    """What an error calls a value that is no parameter."""
    if not isinstance(value, Tensor):
        return type(value).__name__
    return "a tensor that is none" if value.is_leaf else "the result of an operation"


def checked(module: Module, name: object, kind: str) -> str:
    """The name of a new part."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a {kind} is a string, got {type(name).__name__}")
    if "." in name:
        raise KeyError(f'the name of a {kind} has no "." in it, got {name!r}')
    if name == "":
        raise KeyError(f'the name of a {kind} is not ""')
    known = module._kinds.get(name)
    if known is None and _is_there(module, name):
        raise KeyError(f"attribute {name!r} is there already")
    known = "buffer" if known == "transient" else known
    if known is not None and known != kind:
        raise KeyError(f"{name!r} is a {known} already: delete it before it is made a {kind}")
    return name


def _is_there(module: Module, name: str) -> bool:
    """`hasattr`, which would look for names that are near to one that is not there."""
    from .module import Module

    if type(module).__getattr__ is not Module.__getattr__:
        return hasattr(module, name)
    return name in vars(module) or hasattr(type(module), name)


def registered(module: Module, kind: str, name: str, value: Any) -> Any:
    """What the hooks of registrations make of a part."""
    for hook in list(_hooks.registrations[kind].values()):
        other = hook(module, name, value)
        if other is not None:
            value = other
    return value
