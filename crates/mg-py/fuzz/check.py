"""Programs through the library and the reference, in every mode."""

from __future__ import annotations

import ast
import re

from .compare import Difference, differs
from .generate import Generator
from .operations import available, undrawn
from .program import Program
from .run import MODES, Library, Trace, execute, ours, together, torch
from .shrink import shrink


def reference(name: str) -> Library:
    """PyTorch, or storages of NumPy where it is not installed."""
    if name != "numpy":
        try:
            return torch()
        except ImportError:
            if name == "torch":
                raise
    from . import storages

    return Library("numpy", storages.module, storages.Tensor, storages.functional)


class Checker:
    def __init__(self, reference_name: str = "auto", without: str | None = None, library: Library | None = None) -> None:
        self.ours = library or ours()
        self.reference = reference(reference_name)
        self.generator = Generator(self.ours, self.reference, without)

    def check(self, program: Program, modes: tuple[str, ...] = MODES) -> tuple[str, Difference] | None:
        """The first mode in which the program differs, and in what."""
        for mode in modes:
            if mode == "threads":
                continue
            if mode == "jit" and not program.has_step:
                continue
            wanted = execute(program, self.reference)
            if wanted.void:
                return None
            got = execute(program, self.ours, mode, wanted.outcomes)
            found = differs(program, wanted, got, self.reference, self.ours)
            if found is not None and not self.saved_values_change(program, wanted):
                return mode, found
        return None

    def check_together(self, programs: list[Program]) -> tuple[Program, Difference] | None:
        """The first of some programs that differs when they run at once, and in what. Alone they do not."""
        wanted = [execute(program, self.reference) for program in programs]
        traces = together(programs, self.ours, [w.outcomes for w in wanted])
        for program, times in zip(programs, traces):
            for trace in times:
                reference = execute(program, self.reference)
                found = differs(program, reference, trace, self.reference, self.ours)
                if found is not None and not self.saved_values_change(program, reference):
                    return program, found
        return None

    def saved_values_change(self, program: Program, trace: Trace) -> bool:
        """Whether a write to `.data` changes what was saved for a gradient: the reference answers with a wrong one then. Shown
        by `.detach()` in its place, whose writes the reference counts.
        """
        if not any(".data" in line for line in program.lines):
            return False
        counted = [_counted(line) for line in program.lines]
        again = execute(program.with_lines(counted), self.reference)
        return any(
            now is not None and was is None and "modified by an inplace operation" in str(now)
            for was, now in zip(trace.outcomes, again.outcomes)
        )

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


METHODS = {"+": "add_", "-": "sub_", "*": "mul_"}


def _counted(line: str) -> str:
    """A line that writes to `.data`, with `.detach()` for it."""
    changed = re.sub(r"\.data ([-+*])= (.*)$", lambda m: f".detach().{METHODS[m[1]]}({m[2]})", line, flags=re.M)
    return re.sub(r"\.data\b(?! = )", ".detach()", changed)


def signature(difference: Difference) -> str:
    """What stays the same while a program shrinks."""
    if difference.what in ("error", "no error", "unreadable", "kind of error"):
        return difference.what + ": " + re.sub(r"\d+", "0", difference.detail.split(", want")[0])[:60]
    return difference.what
