"""`jit(function)`: a function whose launches are recorded and replayed.

>>> import micrograd_rs as mg
>>> step = mg.jit(lambda x: x * 2)
>>> [step(mg.ones(1)).item() for _ in range(3)]
[2.0, 2.0, 2.0]

`jit(function, may_read=False)` answers with something that is called as the function is. It is called as usual until two calls in a row have
launched the same; from then on its launches are replayed, and it is not called any more. What changes from call to call is an argument or
a tensor. `is_replaying` says whether the last call was a replay, `reason` why it was not. It can be written above a function: `@mg.jit`,
`@mg.jit(may_read=True)`.

Arguments:
    function: what is recorded: a function or a module's call, of any arguments; without one, as a decorator with options, the answer is for the next
    may_read: whether a call that reads a tensor's value (`item`, `tolist`, `if x > 0`) runs as usual, each time; else to read one is an error

Errors: TypeError for what cannot be called. A call raises ValueError where the function reads a value and `may_read` is false.

What else is here are names of TorchScript's: their functions and modules run as they are written.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn, ParamSpec, TypeVar, overload

from .. import _micrograd_rs as _rs
from .._names import NO_CODE as _NO_CODE
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from ._script import RecursiveScriptModule, ScriptFunction, ScriptModule

__all__ = [
    "Attribute",
    "Final",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "is_scripting",
    "is_tracing",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")


def script(obj: _T, *args: Any, **kwargs: Any) -> _T:
    """The function, module or class as it is: it runs as it is written. (`jit` and `compile` record and replay.)

    Arguments:
        obj: the function, module or class

    >>> @mg.jit.script
    ... def twice(x):
    ...     return x * 2
    >>> twice(mg.tensor([1.0]))
    tensor([2.])
    """
    return obj


def trace(func: _T, example_inputs: Any = None, *args: Any, **kwargs: Any) -> _T:
    """The function or module as it is, so that its branches depend on each call's arguments.

    Arguments:
        func: the function or module
        example_inputs: of no effect

    >>> def magnitude(x):
    ...     return x if x.sum() > 0 else -x
    >>> traced = mg.jit.trace(magnitude, mg.tensor([1.0]))
    >>> traced(mg.tensor([-3.0]))
    tensor([3.])
    """
    return func


def trace_module(mod: _T, inputs: Any = None, *args: Any, **kwargs: Any) -> _T:
    """The module as it is.

    Arguments:
        mod: the module
        inputs: of no effect

    >>> model = mg.nn.Linear(2, 1)
    >>> mg.jit.trace_module(model, {"forward": mg.ones(1, 2)}) is model
    True
    """
    return mod


def freeze(mod: _T, *args: Any, **kwargs: Any) -> _T:
    """The module as it is.

    Arguments:
        mod: the module

    >>> model = mg.nn.Linear(2, 1)
    >>> mg.jit.freeze(model) is model
    True
    """
    return mod


def optimize_for_inference(mod: _T, *args: Any, **kwargs: Any) -> _T:
    """The module as it is.

    Arguments:
        mod: the module

    >>> model = mg.nn.Linear(2, 1)
    >>> mg.jit.optimize_for_inference(model) is model
    True
    """
    return mod


def script_if_tracing(fn: _T) -> _T:
    """The function as it is.

    Arguments:
        fn: the function

    >>> @mg.jit.script_if_tracing
    ... def twice(x):
    ...     return x * 2
    >>> twice(mg.tensor([1.0]))
    tensor([2.])
    """
    return fn


def script_method(fn: _T) -> _T:
    """The method as it is.

    Arguments:
        fn: the method

    >>> class Net(mg.nn.Module):
    ...     @mg.jit.script_method
    ...     def forward(self, x):
    ...         return x * 2
    >>> Net()(mg.tensor([1.0]))
    tensor([2.])
    """
    return fn


def export(fn: _T) -> _T:
    """The method as it is.

    Arguments:
        fn: the method

    >>> class Net(mg.nn.Module):
    ...     @mg.jit.export
    ...     def twice(self, x):
    ...         return x * 2
    >>> Net().twice(mg.tensor([1.0]))
    tensor([2.])
    """
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function as it is; with or without brackets.

    Arguments:
        drop: of no effect, or the function

    >>> @mg.jit.ignore
    ... def twice(x):
    ...     return x * 2
    >>> twice(3)
    6
    """
    return drop if callable(drop) else unused


def unused(fn: _T) -> _T:
    """The function as it is.

    Arguments:
        fn: the function

    >>> @mg.jit.unused
    ... def twice(x):
    ...     return x * 2
    >>> twice(3)
    6
    """
    return fn


def is_scripting() -> bool:
    """False: nothing is compiled from its text.

    >>> mg.jit.is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """Whether a step is being recorded on this thread.

    >>> mg.jit.is_tracing()
    False
    """
    return _rs._is_recording()


def annotate(the_type: Any, the_value: _T) -> _T:
    """The value as it is.

    Arguments:
        the_type: of no effect
        the_value: the value

    >>> mg.jit.annotate(list[int], [])
    []
    """
    return the_value


def Attribute(value: _T, type: Any) -> _T:
    """The value as it is.

    Arguments:
        value: the value
        type: of no effect

    >>> mg.jit.Attribute(3, int)
    3
    """
    return value


class _Answer:
    """What a function answered."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def wait(self) -> Any:
        """The answer."""
        return self._answer

    value = wait

    def done(self) -> bool:
        """True."""
        return True


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> _Answer:
    """Calls a function, whose answer `wait` has. What it computes is computed when it is looked at.

    Arguments:
        func: the function
        args, kwargs: what it is called with

    >>> future = mg.jit.fork(lambda x: x * 2, mg.tensor([1.0]))
    >>> mg.jit.wait(future)
    tensor([2.])
    """
    return _Answer(func(*args, **kwargs))


def wait(future: _Answer) -> Any:
    """The answer of what `fork` called.

    Arguments:
        future: what `fork` answered with

    See `fork`.
    """
    return future.wait()


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """NotImplementedError: no file holds a module's code. `save(m.state_dict(), f)` is for a program that has the class, `onnx.export(m, args, f)` for one that
    has not.

    >>> try:
    ...     mg.jit.save(mg.nn.Linear(2, 1), "model.pt")
    ... except NotImplementedError:
    ...     print("no code")
    no code
    """
    raise NotImplementedError(f"jit.save: {_NO_CODE}")


def load(f: Any, map_location: Any = None, _extra_files: Any = None) -> NoReturn:
    """NotImplementedError: what is in a file is not executed. `load` reads a `state_dict()` that PyTorch saved.

    Arguments:
        f, map_location: as in PyTorch

    >>> try:
    ...     mg.jit.load("model.pt")
    ... except NotImplementedError:
    ...     print("no code")
    no code
    """
    raise NotImplementedError("jit.load: files of TorchScript hold code, which is not executed: save the module's state_dict() with PyTorch, and load() that")


class _Called(ModuleType):
    """The module, which is called as the function that it is named for."""

    @overload
    def __call__(self, function: Callable[_P, _R], *, may_read: bool = False) -> _rs.Jit[_P, _R]: ...

    @overload
    def __call__(self, *, may_read: bool = False) -> Callable[[Callable[_P, _R]], _rs.Jit[_P, _R]]: ...

    def __call__(self, function: Callable[..., Any] | None = None, *, may_read: bool = False) -> Any:
        """Makes a replayed function: see `Jit`.

        Arguments:
            function: what is recorded: a function or a module's call, of any arguments; without one, as a decorator with options, the answer is for the next
            may_read: whether a call that reads a tensor's value (`item`, `tolist`, `if x > 0`) runs as usual, each time; else to read one is an error

        Errors: TypeError for what cannot be called. A call raises ValueError where the function reads a value and `may_read` is false.

        >>> step = mg.jit(lambda x: x * 2)
        >>> [step(mg.ones(1)).item() for _ in range(3)]
        [2.0, 2.0, 2.0]
        """
        return functools.partial(self, may_read=may_read) if function is None else _rs.jit(function, may_read=may_read)


sys.modules[__name__].__class__ = _Called
# Its import binds it: until then `annotations` is what `from __future__` has left.
import_module(f"{__name__}.annotations")
__getattr__ = _Lazy(__name__, members={"RecursiveScriptModule": "_script", "ScriptFunction": "_script", "ScriptModule": "_script"})
