"""Whole programs, of a seed."""

from __future__ import annotations

import random
import re

import numpy as np

from . import arguments, latest, statements
from .draw import Draw
from .operations import Operation, available
from .program import Program
from .run import Library
from .steps import step
from .training import training

#: Their entries are made when they are imported.
assert arguments and latest
KINDS = ("tensors", "step", "training")


class Generator:
    """Draws programs for a library and its reference."""

    def __init__(self, ours: Library, reference: Library, without: str | None = None) -> None:
        self.reference = reference
        self.without = re.compile(without) if without else None
        self.operations: list[Operation] = available(ours, reference)
        self.weights = [o.weight for o in self.operations]
        self.makers = [m for m, _ in statements.STATEMENTS]
        self.maker_weights = [w for _, w in statements.STATEMENTS]

    def program(self, seed: int, kinds: tuple[str, ...] = KINDS) -> Program:
        """The program of a seed, of one of these kinds."""
        with np.errstate(all="ignore"):
            return self._program(seed, kinds)

    def _program(self, seed: int, kinds: tuple[str, ...]) -> Program:
        rng = random.Random(seed)
        kind = rng.choices(kinds, [3 if k == "tensors" else 1.5 if k == "step" else 0.5 for k in kinds])[0]
        d = Draw(rng, self.reference, self.without)
        # A program that takes every way at once shows nothing that small ones do not, and takes longer to be understood.
        self.computing = rng.choice((4.0, 8.0, 12.0))
        for _ in range(rng.randint(1, 3)):
            d.add(statements.make(d))
        if kind == "training":
            training(self, d)
        elif kind == "step":
            for _ in range(rng.randint(0, 4)):
                self.line(d)
            step(self, d)
        else:
            for _ in range(rng.randint(4, 18)):
                self.line(d)
        return Program(tuple(d.lines), d.exact, seed)

    def line(self, d: Draw) -> bool:
        """Draws one more line, if one comes to mind."""
        for _ in range(20):
            before = d.exact
            if d.rng.random() * (self.computing + sum(self.maker_weights)) < self.computing:
                text = statements.compute(d, self.operations, self.weights)
            else:
                text = d.rng.choices(self.makers, self.maker_weights)[0](d)
            if text and d.add(text):
                if d.too_large():
                    d.exact = False
                return True
            d.exact = before
        return False
