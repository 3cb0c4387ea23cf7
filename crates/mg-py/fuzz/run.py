"""Running programs: one library, one mode, one trace."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .program import Program, code, targets

MODES = ("deferred", "eager", "mixed", "jit")


@dataclass
class Library:
    """What a program's `L` is. `name` is that of the module."""

    name: str
    module: Any
    tensor: type
    functional: Any

    def names(self, step: Callable[[Any], Any] | None = None) -> dict[str, Any]:
        """The variables that a program begins with."""
        return {
            "L": self.module,
            "F": self.functional,
            "J": step or (lambda function: function),
            "G": self.gradients,
            "np": np,
            "copy": copy,
        }

    def gradients(self, *args: Any, **options: Any) -> list[Any]:
        """`autograd.grad`, with memory of their own for all: the reference gives one to several, or one number to all elements."""
        return [g if g is None else g.clone() for g in self.module.autograd.grad(*args, **options)]


def ours() -> Library:
    import micrograd_rs as mg

    return Library("micrograd_rs", mg, mg.Tensor, mg.nn.functional)


def torch() -> Library:
    import torch

    # Threads of its own would only be in the way of ours: the tensors are tiny.
    torch.set_num_threads(1)
    # What it warns of is on purpose here: gradients of what is no leaf, deviations of one number.
    warnings.filterwarnings("ignore")
    return Library("torch", torch, torch.Tensor, torch.nn.functional)


BASIC = frozenset(("L", "F", "J", "G", "np", "copy", "__builtins__", "__warningregistry__"))


@dataclass
class Raised:
    """An exception of a line."""

    error: BaseException
    late: bool = False

    @property
    def kind(self) -> str:
        """The kind, coarsely: libraries do not agree on more."""
        return kind(self.error)

    def __str__(self) -> str:
        text = str(self.error).split("\n")[0]
        return f"{type(self.error).__name__}: {text}"


def kind(error: BaseException) -> str:
    if isinstance(error, IndexError):
        return "index"
    if isinstance(error, TypeError):
        return "type"
    if isinstance(error, NameError):
        return "name"
    if isinstance(error, AttributeError):
        return "absent"
    if isinstance(error, (ValueError, RuntimeError)):
        return "value"
    return type(error).__name__


@dataclass
class Trace:
    """What became of a program: what each line raised, and the variables."""

    outcomes: list[Raised | None] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    #: The line at which it parted from what was expected.
    parted: int | None = None


def read_all(library: Library, names: dict[str, Any]) -> Raised | None:
    """Reads every tensor, and answers with the first failure."""
    for name, value in names.items():
        if name not in BASIC and isinstance(value, library.tensor):
            try:
                value.tolist()
            except Exception as error:
                return Raised(error, late=True)
    return None


def execute(
    program: Program,
    library: Library,
    mode: str = "deferred",
    expected: list[Raised | None] | None = None,
) -> Trace:
    """Runs a program. With what the reference raised, stops where something else comes of a line."""
    trace = Trace(names=library.names(library.module.jit if mode == "jit" else None))
    names = trace.names
    rng = random.Random(program.seed)
    for at, line in enumerate(program.lines):
        raised = None
        try:
            exec(code(line), names)
            if mode == "eager":
                for name in targets(line):
                    if isinstance(names.get(name), library.tensor):
                        names[name].tolist()
            elif mode == "mixed" and rng.random() < 0.3:
                known = [n for n, v in names.items() if isinstance(v, library.tensor)]
                if known:
                    names[rng.choice(known)].tolist()
        except Exception as error:
            raised = Raised(error)
        if expected is not None:
            wanted = expected[at]
            if wanted is not None and raised is None:
                # What depends on values may be found when they are computed, and no later than they are read.
                raised = read_all(library, names)
            if wanted is not None and raised is not None:
                for name in targets(line):
                    if raised.late or mode == "eager":
                        names.pop(name, None)
            if (wanted is None) != (raised is None):
                trace.outcomes.append(raised)
                trace.parted = at
                return trace
        trace.outcomes.append(raised)
    return trace
