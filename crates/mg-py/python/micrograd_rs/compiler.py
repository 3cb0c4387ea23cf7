"""`compile`: steps that are recorded when they are called, and replayed: `jit`, under PyTorch's name and with its habits.

>>> import micrograd_rs as mg
>>> @mg.compile
... def gelu(x):
...     return 0.5 * x * (1 + mg.erf(x / 2**0.5))
>>> gelu(mg.zeros(2)).tolist()
[0.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _micrograd_rs as _rs
from ._names import Lazy as _Lazy
from .nn.module import Module

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "nested_compile_region",
    "reset",
]


class OptimizedModule(Module):
    """A module whose calls are recorded and replayed. Its parameters are those of `_orig_mod`."""

    def __init__(self, mod: Module, may_read: bool) -> None:
        self._orig_mod = mod
        object.__setattr__(self, "_replayed", _rs.jit(mod, may_read=may_read))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._replayed(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_orig_mod":
                raise
            return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod":
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    name: str | None = None,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    dynamic_shapes: Any = None,
) -> Any:
    """A function or module whose calls are recorded and replayed (see `jit`): it answers and changes what it would by itself. Where it
    reads values, or cannot be replayed otherwise, it runs as usual. As a decorator it may be given its options first.

    Arguments:
        model: the function or module; None, as a decorator with options, answers with what makes one of the next
        fullgraph: whether reading a value is an error; else the function runs as usual then
        dynamic, backend, mode, options: how PyTorch compiles: of no effect
        disable: whether it runs as usual: the answer is `model` itself
        name, recompile_limit, isolate_recompiles, dynamic_shapes: of no effect

    Errors: a call raises ValueError, with `fullgraph`, where the function reads a value.

    >>> @mg.compile
    ... def step(x):
    ...     return (x * 2).relu()
    >>> step(mg.tensor([-1.0, 3.0]))
    tensor([0., 6.])
    """
    if model is None:

        def decorate(function: Any) -> Any:
            return compile(function, fullgraph=fullgraph, disable=disable)

        return decorate
    if disable:
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, not fullgraph)
    return _rs.jit(model, may_read=not fullgraph)


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function as it is: it is a part of whatever records it."""
    return allow_in_graph if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """The function as it is."""
    return fn


def is_compiling() -> bool:
    """Whether a step is being recorded on this thread."""
    return _rs._is_recording()


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """Whether a model is being exported on this thread, by `onnx.export`."""
    from .onnx import is_in_onnx_export

    return is_in_onnx_export()


def assume_constant_result(fn: Any) -> Any:
    """The function as it is: it is called whenever what calls it is."""
    return fn


def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """The function as it is, with or without brackets: parts that are alike are found by their structure."""
    return allow_in_graph if fn is None else fn


def reset() -> None:
    """Has no effect: recordings go with the functions that they are of."""


def cudagraph_mark_step_begin() -> None:
    """Has no effect: what a replay answers stays what it is."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Names that `compile` takes as `backend`: any does."""
    return ["inductor"]


__getattr__ = _Lazy(__name__)
