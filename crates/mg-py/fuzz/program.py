"""Programs: lines of Python that mean the same to every library of PyTorch's names.

A line is one statement on the variables of a program. It reaches the library as `L`, functions of networks as `F`, NumPy as
`np`; `G` is `autograd.grad` with memory of its own for each answer, `W` gives a module known parameters, and `J` makes a step of
a function: `jit` where that is to be tried, the function itself otherwise.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType


@dataclass(frozen=True)
class Program:
    """Lines in their order. `exact`: every number in it is a multiple of a small power of two, so nothing may be rounded."""

    lines: tuple[str, ...]
    exact: bool = False
    seed: int = 0

    def with_lines(self, lines: list[str] | tuple[str, ...]) -> Program:
        return replace(self, lines=tuple(lines))

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def half(self) -> str | None:
        """The coarsest half precision of something in it, and so maybe of whatever was computed of that."""
        text = str(self)
        return "bfloat16" if "bfloat16" in text else "float16" if "float16" in text or "half" in text else None

    @property
    def has_step(self) -> bool:
        return any("J(" in line for line in self.lines)

    def __len__(self) -> int:
        return sum(line.count("\n") + 1 for line in self.lines)


@lru_cache(maxsize=4096)
def code(line: str) -> CodeType:
    with warnings.catch_warnings():
        # Of lines that a program that was made smaller no longer means.
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(line, "<program>", "exec", dont_inherit=True)


@lru_cache(maxsize=4096)
def targets(line: str) -> tuple[str, ...]:
    """The names that a line binds."""
    names: list[str] = []
    for node in ast.walk(ast.parse(line)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    return tuple(dict.fromkeys(names))


@lru_cache(maxsize=4096)
def bound(line: str) -> tuple[str, ...]:
    """The names that a line gives to something made by it, rather than to what it changed in place."""
    names = targets(line)
    for node in ast.walk(ast.parse(line)):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names = tuple(n for n in names if n != node.target.id)
    return names


HEADER = """\
# Run with "torch" behind it for PyTorch, with "plain" for no jit.
import copy, sys
import numpy as np
if "torch" in sys.argv:
    import torch as L
    J = lambda f: f
else:
    import micrograd_rs as L
    J = L.jit if "plain" not in sys.argv else lambda f: f
F = L.nn.functional
def W(module):
    with L.no_grad():
        for p in module.parameters():
            p.copy_(L.tensor([(k * 7 % 9 - 4) / 4 for k in range(p.numel())]).reshape(p.shape))
    return module
G = lambda *args, **options: [g if g is None else g.clone() for g in L.autograd.grad(*args, **options)]
"""


def script(program: Program, raising: frozenset[int] = frozenset(), show: tuple[str, ...] = ()) -> str:
    """The program as a file. Lines that raise somewhere are told of and passed over."""
    text = [HEADER]
    for at, line in enumerate(program.lines):
        if at in raising:
            body = "\n".join("    " + part for part in line.split("\n"))
            text.append(f"try:\n{body}\nexcept Exception as e:\n    print(type(e).__name__, e)")
        else:
            text.append(line)
    text.extend(f"print({name!r}, {name})" for name in show)
    return "\n".join(text) + "\n"
