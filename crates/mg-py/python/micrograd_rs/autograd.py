"""Gradients: `grad`, and whether operations record what gradients need."""

from __future__ import annotations

from ._micrograd_rs import _set_grad_enabled, grad, is_grad_enabled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, Self, TypeVar, overload

    P = ParamSpec("P")
    R = TypeVar("R")

__all__ = ["enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]


class set_grad_enabled:
    """Switches recording on or off at once, and back at the end of a `with` block. As a decorator, for a function."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._before = [_set_grad_enabled(mode)]

    def __enter__(self) -> None:
        if not self._before:
            self._before.append(_set_grad_enabled(self.mode))

    def __exit__(self, *_: object) -> None:
        _set_grad_enabled(self._before.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        # The switch was for the function, not for the code around it.
        if self._before:
            _set_grad_enabled(self._before.pop())
        return _decorated(function, self.mode)


class _Switch:
    """A block or a function in which recording is on, or off."""

    mode: bool

    if TYPE_CHECKING:

        @overload
        def __new__(cls) -> Self: ...
        @overload
        def __new__(cls, function: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]

    def __new__(cls, function: Any = None) -> Any:
        # `@no_grad` is as good as `@no_grad()`.
        if function is not None:
            return _decorated(function, cls.mode)
        return object.__new__(cls)

    def __init__(self, function: Any = None) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_set_grad_enabled(self.mode))

    def __exit__(self, *_: object) -> None:
        _set_grad_enabled(self._before.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        return _decorated(function, self.mode)


class no_grad(_Switch):
    """A block, or a function, in which operations record nothing for gradients."""

    mode = False


class enable_grad(_Switch):
    """A block, or a function, in which operations record what gradients need."""

    mode = True


def _decorated(function: Callable[P, R], mode: bool) -> Callable[P, R]:
    from functools import wraps

    @wraps(function)
    def switched(*args: P.args, **kwargs: P.kwargs) -> R:
        before = _set_grad_enabled(mode)
        try:
            return function(*args, **kwargs)
        finally:
            _set_grad_enabled(before)

    return switched
