"""Programs through the library and the reference, in every mode."""

from __future__ import annotations

import ast
import re

from .compare import Difference, differs
from .generate import Generator
from .operations import available, undrawn
from .program import Program
from .run import MODES, Library, execute, ours, torch
from .shrink import shrink


def reference(name: str) -> Library:
    """PyTorch, or storages of NumPy where it is not installed."""
    if name != "numpy":
        try:
            return torch()
        except ImportError:
            if name == "torch":
                raise
    from .storages import library

    return library()


class Checker:
    def __init__(self, reference_name: str = "auto", without: str | None = None, library: Library | None = None) -> None:
        self.ours = library or ours()
        self.reference = reference(reference_name)
        self.generator = Generator(self.ours, self.reference, without)

    def check(self, program: Program, modes: tuple[str, ...] = MODES) -> tuple[str, Difference] | None:
        """The first mode in which the program differs, and in what."""
        for mode in modes:
            if mode == "jit" and not program.has_step:
                continue
            wanted = execute(program, self.reference)
            got = execute(program, self.ours, mode, wanted.outcomes)
            found = differs(program, wanted, got, self.reference, self.ours)
            if found is not None:
                return mode, found
        return None

    def smallest(self, program: Program, mode: str, difference: Difference, seconds: float = 5.0) -> Program:
        wanted = signature(difference)

        def shows(smaller: Program) -> bool:
            found = self.check(smaller, (mode,))
            return found is not None and signature(found[1]) == wanted

        return shrink(program, shows, seconds)

    def class_of(self, program: Program, mode: str, difference: Difference) -> str:
        """A name for the differences that look alike: what differs, and the operations that it takes."""
        words: set[str] = set()
        for line in program.lines:
            for node in ast.walk(ast.parse(line)):
                if isinstance(node, ast.Attribute):
                    words.add(node.attr)
                elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.UnaryOp)):
                    words.add(type(node.op).__name__)
                elif isinstance(node, ast.Subscript):
                    words.add("[]=" if isinstance(node.ctx, ast.Store) else "[]")
        words -= {"tensor", "float32", "float64"}
        how = mode if mode == "jit" else "plain"
        return f"{how}: {signature(difference)}: {' '.join(sorted(words))}"

    def show(self, program: Program) -> str:
        return "\n".join(program.lines)

    def coverage(self) -> str:
        drawn = sorted(o.name for o in available(self.ours, self.reference))
        text = [f"drawn ({len(drawn)}): " + ", ".join(drawn), "not drawn:"]
        text += [f"  {name}: {why}" for name, why in undrawn(self.ours, self.reference).items()]
        return "\n".join(text)


def signature(difference: Difference) -> str:
    """What stays the same while a program shrinks."""
    if difference.what in ("error", "no error", "unreadable", "kind of error"):
        return difference.what + ": " + re.sub(r"\d+", "0", difference.detail.split(", want")[0])[:60]
    return difference.what
