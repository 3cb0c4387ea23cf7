"""What is said of sizes that a layer does not take, and by what name a layer's arguments are told of."""

from __future__ import annotations

import operator
import types
from collections.abc import Iterable
from typing import Any

from .._micrograd_rs import ArgumentError


def check_sizes(module: object, **sizes: Any) -> None:
    """Raises for what is no integer, or a negative one, alone or in a tuple: `Linear: in_features takes …`."""
    for name, size in sizes.items():
        if type(size) is int and size >= 0:
            continue
        for each in size if isinstance(size, tuple) else (size,):  # pyright: ignore[reportUnknownVariableType]
            _check(module, name, each)


def _check(module: object, name: str, size: Any) -> None:
    try:
        wrong = operator.index(size) < 0
    except TypeError:
        raise TypeError(f"{type(module).__name__}: {name} takes an integer, got {size!r} ({type(size).__name__})") from None
    if wrong:
        raise ArgumentError(f"{type(module).__name__}: {name} takes an integer that is not negative, got {size}")


def name_arguments(classes: Iterable[type]) -> None:
    """Has each class be named where Python tells of a missing argument, and not the private one that it has `__init__` of."""
    for kind in classes:
        function: Any = getattr(kind, "__init__")
        if "__init__" in vars(kind) or not isinstance(function, types.FunctionType) or not function.__qualname__.startswith("_"):
            continue
        named = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
        named.__kwdefaults__ = function.__kwdefaults__
        named.__annotations__ = function.__annotations__
        named.__qualname__ = f"{kind.__name__}.__init__"
        setattr(kind, "__init__", named)
