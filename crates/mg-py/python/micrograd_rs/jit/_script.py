"""Classes of TorchScript's, for programs that ask whether a module is of one, or that wrote theirs as one."""

from __future__ import annotations

from typing import Any

from ..nn import Module


class ScriptModule(Module):
    """A module that was written for TorchScript: a module as any other. `jit.script` and `jit.trace` make none, so `isinstance(model, jit.ScriptModule)` is
    False for what is not derived from it.

    >>> import micrograd_rs as mg
    >>> isinstance(mg.jit.script(mg.nn.Linear(2, 1)), mg.jit.ScriptModule)
    False
    """


class RecursiveScriptModule(ScriptModule):
    """What PyTorch's `jit.script` makes of a module. Nothing is one here.

    >>> isinstance(mg.jit.script(mg.nn.Linear(2, 1)), mg.jit.RecursiveScriptModule)
    False
    """


class ScriptFunction:
    """What PyTorch's `jit.script` makes of a function. Nothing is one here, and to make one is a NotImplementedError.

    >>> isinstance(mg.jit.script(lambda x: x * 2), mg.jit.ScriptFunction)
    False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("jit.ScriptFunction: functions run as they are written; jit(f) records and replays one")
