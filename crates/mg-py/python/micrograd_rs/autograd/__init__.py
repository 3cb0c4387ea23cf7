"""Gradients: `grad` and `backward`, functions with gradients of one's own, and whether operations record what gradients need."""

from __future__ import annotations

import sys as _sys
from _thread import _local
from types import ModuleType as _ModuleType

from .._micrograd_rs import _set_grad_enabled, backward, grad, is_grad_enabled
from .._names import Lazy as _Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, ParamSpec, Self, TypeVar, overload

    from . import anomaly_mode, forward_ad, function, functional, graph, profiler
    from .anomaly_mode import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
    from .function import Function
    from ._gradcheck import GradcheckError, gradcheck, gradgradcheck

    P = ParamSpec("P")
    R = TypeVar("R")

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def Variable(data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
    """The tensor itself: what was made a variable of in older days is what tensors are."""
    return data.requires_grad_() if requires_grad and not data.requires_grad else data


class set_multithreading_enabled:
    """Says whether `backward` may use threads of its own, at once or for a `with` block: it walks in the thread that calls it, so this changes nothing."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


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
        return _decorated(function, set_grad_enabled, self.mode)


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
            return _decorated(function, set_grad_enabled, cls.mode)
        return object.__new__(cls)

    def __init__(self, function: Any = None) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_set_grad_enabled(self.mode))

    def __exit__(self, *_: object) -> None:
        _set_grad_enabled(self._before.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        return _decorated(function, set_grad_enabled, self.mode)


class no_grad(_Switch):
    """A block, or a function, in which operations record nothing for gradients."""

    mode = False


class enable_grad(_Switch):
    """A block, or a function, in which operations record what gradients need."""

    mode = True


class _Inference(_local):
    on = False


_inference = _Inference()


class inference_mode:
    """A block, or a function, in which operations record nothing for gradients, as in `no_grad`. `inference_mode(False)` records again.

    What is computed within is a constant like any other afterwards.
    """

    if TYPE_CHECKING:

        @overload
        def __new__(cls, mode: bool = True) -> Self: ...
        @overload
        def __new__(cls, mode: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]

    def __new__(cls, mode: Any = True) -> Any:
        return cls()(mode) if callable(mode) else object.__new__(cls)

    def __init__(self, mode: Any = True) -> None:
        self.mode = bool(mode)
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((_set_grad_enabled(not self.mode), _inference.on))
        _inference.on = self.mode

    def __exit__(self, *_: object) -> None:
        before, _inference.on = self._before.pop()
        _set_grad_enabled(before)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        return _decorated(function, inference_mode, self.mode)


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is on."""
    return _inference.on


def _stepped(function: Any, block: Callable[[bool], Any], mode: bool) -> Any:
    """A generator function whose body runs in a mode, and not what is done between its values."""
    from functools import wraps

    @wraps(function)
    def steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        body = function(*args, **kwargs)
        try:
            with block(mode):
                value = next(body)
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    with block(mode):
                        body.close()
                    raise
                except BaseException as error:
                    with block(mode):
                        value = body.throw(error)
                else:
                    with block(mode):
                        value = body.send(sent)
        except StopIteration as end:
            return end.value

    return steps


def _decorated(function: Callable[P, R], block: Callable[[bool], Any], mode: bool) -> Callable[P, R]:
    """A function whose body runs in a mode."""
    from functools import wraps

    # The flag of code with a `yield`, as `inspect.CO_GENERATOR` says, which takes long to import.
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & 0x20:
        return _stepped(function, block, mode)  # type: ignore[no-any-return]

    @wraps(function)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        with block(mode):
            return function(*args, **kwargs)

    return within


# What is needed by some is imported when it is first used.
__getattr__ = _Lazy(
    __name__,
    ("anomaly_mode", "forward_ad", "function", "functional", "graph", "profiler"),
    {
        "Function": "function",
        "GradcheckError": "_gradcheck",
        "detect_anomaly": "anomaly_mode",
        "gradcheck": "_gradcheck",
        "gradgradcheck": "_gradcheck",
        "is_anomaly_check_nan_enabled": "anomaly_mode",
        "is_anomaly_enabled": "anomaly_mode",
        "set_detect_anomaly": "anomaly_mode",
    },
)


class _Part(_ModuleType):
    """One of PyTorch's modules: it has what the package has."""

    def __getattr__(self, name: str) -> object:
        return getattr(_sys.modules[__name__], name)


# `from micrograd_rs.autograd.grad_mode import no_grad` finds it. `autograd.gradcheck` itself is the function, as in PyTorch.
for _part in ("grad_mode", "gradcheck", "variable"):
    _sys.modules[f"{__name__}.{_part}"] = _Part(f"{__name__}.{_part}", f"What `autograd` has, as `torch.autograd.{_part}` does.")
grad_mode = _sys.modules[f"{__name__}.grad_mode"]
