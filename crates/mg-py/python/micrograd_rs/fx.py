"""What programs write for PyTorch's tracer of graphs, which is not here: `wrap` answers with its argument, nothing is a `Proxy`, and who traces is told what
there is instead.

>>> import micrograd_rs as mg
>>> @mg.fx.wrap
... def half(x):
...     return x / 2
>>> half(mg.ones(2)).tolist(), isinstance(mg.ones(2), mg.fx.Proxy)
([0.5, 0.5], False)
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from ._names import Lazy as _Lazy

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "replace_pattern", "symbolic_trace", "wrap"]

_T = TypeVar("_T")
_INSTEAD = "programs are not traced into graphs that can be rewritten: compile(f) and jit(f) make a step fast, onnx.export(model, args, f) writes a graph"


def wrap(fn_or_name: _T) -> _T:
    """The function, or its name, as it is: functions are called always, and never become a node of a graph."""
    return fn_or_name


class _Nothing:
    """A class that nothing is of."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"fx.{type(self).__name__}: {_INSTEAD}")


class Proxy(_Nothing):
    """NotImplementedError. What stands for a value while PyTorch traces: nothing does here, so `isinstance(x, fx.Proxy)` is False."""


class Graph(_Nothing):
    """NotImplementedError."""


class GraphModule(_Nothing):
    """NotImplementedError. No module is one."""


class Node(_Nothing):
    """NotImplementedError."""


class Tracer(_Nothing):
    """NotImplementedError."""


class Interpreter(_Nothing):
    """NotImplementedError."""


class Transformer(_Nothing):
    """NotImplementedError."""


def symbolic_trace(root: Any, concrete_args: Any = None) -> NoReturn:
    """NotImplementedError: `compile`, `jit` and `onnx.export` are what there is."""
    raise NotImplementedError(f"fx.symbolic_trace: {_INSTEAD}")


def replace_pattern(gm: Any, pattern: Any, replacement: Any) -> NoReturn:
    """NotImplementedError."""
    raise NotImplementedError(f"fx.replace_pattern: {_INSTEAD}")


__getattr__ = _Lazy(__name__)
