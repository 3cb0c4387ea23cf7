"""Gradients: `grad` and `backward`, functions with gradients of one's own, and whether operations record what gradients need."""

from __future__ import annotations

import sys as _sys
from types import ModuleType as _ModuleType

from .._micrograd_rs import _Switch, backward, grad, is_grad_enabled, is_inference_mode_enabled
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
    """The tensor itself: what was made a variable of in older days is what tensors are.

    Arguments:
        data: the tensor
        requires_grad: whether it is a leaf whose gradient is kept
        volatile: of no effect

    >>> mg.autograd.Variable(mg.tensor([1.0]), requires_grad=True)
    tensor([1.], requires_grad=True)
    """
    return data.requires_grad_() if requires_grad and not data.requires_grad else data


class set_multithreading_enabled:
    """Says whether `backward` may use threads of its own, at once or for a `with` block: it walks in the thread that calls it, so this changes nothing.

    Arguments:
        mode: whether it may

    >>> with mg.autograd.set_multithreading_enabled(False):
    ...     mg.tensor([1.0], requires_grad=True).sum().backward()
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class _Block(_Switch):
    """A block, or a function, in a mode. That enters and leaves it, or calls the function, in one step each, which no Ctrl-C divides."""

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        how = self.__reduce__()
        return _decorated(function, how[0], *how[1])

    def __reduce__(self) -> tuple[type[_Block], tuple[Any, ...]]:
        return type(self), ()


class set_grad_enabled(_Block):
    """Switches recording on or off at once, and back at the end of a `with` block. As a decorator, for a function.

    Arguments:
        mode: whether it is on

    >>> x = mg.tensor([1.0], requires_grad=True)
    >>> with mg.set_grad_enabled(False):
    ...     (x * 2).requires_grad
    False
    """

    mode: bool

    def __new__(cls, mode: bool) -> Self:
        made = _Switch.__new__(cls, mode, at_once=True)
        made.mode = mode
        return made

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        # The switch was for the function, not for the code around it.
        self._take_back()
        return _decorated(function, enable_grad if self.mode else no_grad)

    def __reduce__(self) -> tuple[type[_Block], tuple[Any, ...]]:
        return type(self), (self.mode,)


class _Recording(_Block):
    """A block, or a function, in which operations record what gradients need, or nothing."""

    mode: bool

    if TYPE_CHECKING:

        @overload
        def __new__(cls) -> Self: ...
        @overload
        def __new__(cls, function: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]

    def __new__(cls, function: Any = None) -> Any:
        # `@no_grad` is as good as `@no_grad()`.
        return _Switch.__new__(cls, cls.mode) if function is None else _decorated(function, cls)


class no_grad(_Recording):
    """A block, or a function, in which operations record nothing for gradients.

    >>> x = mg.tensor([1.0], requires_grad=True)
    >>> with mg.no_grad():
    ...     (x * 2).requires_grad
    False
    >>> @mg.no_grad()
    ... def twice(x):
    ...     return x * 2
    >>> twice(x).requires_grad
    False
    """

    mode = False


class enable_grad(_Recording):
    """A block, or a function, in which operations record what gradients need.

    >>> x = mg.tensor([1.0], requires_grad=True)
    >>> with mg.no_grad():
    ...     with mg.enable_grad():
    ...         y = x * 2
    >>> y.requires_grad
    True
    """

    mode = True


class inference_mode(_Block):
    """A block, or a function, in which operations record nothing for gradients, as in `no_grad`. `inference_mode(False)` records again.

    What is computed within is a constant like any other afterwards.

    >>> x = mg.tensor([1.0], requires_grad=True)
    >>> with mg.inference_mode():
    ...     (x * 2).requires_grad
    False

    Arguments:
        mode: whether nothing is recorded; or the function
    """

    mode: bool

    if TYPE_CHECKING:

        @overload
        def __new__(cls, mode: bool = True) -> Self: ...
        @overload
        def __new__(cls, mode: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]

    def __new__(cls, mode: Any = True) -> Any:
        if callable(mode):
            return _decorated(mode, cls)
        made = _Switch.__new__(cls, not mode, inference=bool(mode))
        made.mode = bool(mode)
        return made

    def __reduce__(self) -> tuple[type[_Block], tuple[Any, ...]]:
        return type(self), (self.mode,)


def _stepped(function: Any, block: Any, *how: Any) -> Any:
    """A generator function whose body runs in a mode, and not what is done between its values."""
    from functools import wraps

    @wraps(function)
    def steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        body = function(*args, **kwargs)
        try:
            value = block(*how)._run(next, (body,), {})
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    block(*how)._run(body.close, (), {})
                    raise
                except BaseException as error:
                    value = block(*how)._run(body.throw, (error,), {})
                else:
                    value = block(*how)._run(body.send, (sent,), {})
        except StopIteration as end:
            return end.value

    return steps


def _decorated(function: Callable[P, R], block: Any, *how: Any) -> Callable[P, R]:
    """A function whose body runs in a mode."""
    from functools import wraps

    # The flag of code with a `yield`, as `inspect.CO_GENERATOR` says, which takes long to import.
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & 0x20:
        return _stepped(function, block, *how)  # type: ignore[no-any-return]

    @wraps(function)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        switch: _Switch = block(*how)
        return switch._run(function, args, kwargs)

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
