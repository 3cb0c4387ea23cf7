"""What is at hand while a program is drawn: its lines so far, and what the reference made of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from .compare import can_mark, dtype_name
from .program import bound, code, targets
from .run import BASIC, Library, Raised, by_halves, odd

FLOATS = ("float64", "float32", "float16", "bfloat16")
INTS = ("int64", "int32", "uint8", "int16", "int8")
#: Numbers beyond this are not drawn further with.
LARGE = 2.0**12

Maker = Callable[["Draw"], "str | None"]


def rare() -> list[str]:
    """All other dtypes, the narrower first: PyTorch knows little of them on the CPU."""
    import micrograd_rs as mg

    names = [dtype.name for dtype in reversed(mg._micrograd_rs._DTYPES) if not dtype.name.startswith("float8")]
    return [name for name in names if name not in (*FLOATS, *INTS, "bool")]


class Draw:
    """Draws lines and runs each with the reference, so that the next line knows shapes, dtypes and values."""

    def __init__(self, rng: random.Random, reference: Library, without: re.Pattern[str] | None = None) -> None:
        self.rng = rng
        self.reference = reference
        self.without = without
        self.names: dict[str, Any] = reference.names()
        self.lines: list[str] = []
        self.exact = True
        self.errors = 0
        self.count = 0
        #: Names of variables that only a function's body knows; None outside of one.
        self.body: set[str] | None = None

    # Chance.

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def one(self, items: Any) -> Any:
        return self.rng.choice(items)

    def new(self, prefix: str = "t") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # What there is.

    def tensors(self, meets: Callable[[Any], bool] | None = None) -> list[str]:
        """Names of tensors, those of a function's own in its body more often."""
        kind = self.reference.tensor
        known = ((n, v) for n, v in self.names.items() if n not in BASIC and isinstance(v, kind) and not odd(v))
        return [n for n, v in known if not meets or meets(v)]

    def pick(self, meets: Callable[[Any], bool] | None = None) -> str | None:
        known = self.tensors(meets)
        if not known:
            return None
        if self.chance(0.5):
            return known[-1 - self.rng.randrange(min(3, len(known)))]
        return self.one(known)

    def __getitem__(self, name: str) -> Any:
        return self.names[name]

    def dtype(self, name: str) -> str:
        return dtype_name(self.names[name].dtype)

    def dtype_of(self, t: Any) -> str:
        return dtype_name(t.dtype)

    def has(self, dtype: str) -> bool:
        """Whether the reference has the dtype."""
        return hasattr(self.reference.module, dtype)

    def is_float(self, t: Any) -> bool:
        return dtype_name(t.dtype) in FLOATS

    def writable(self) -> str | None:
        """A tensor whose elements have memory of their own."""
        return self.pick(lambda t: t.numel() == 0 or can_mark(t))

    def float_tensor(self) -> str | None:
        return self.pick(self.is_float)

    # Numbers.

    def number(self, dtype: str) -> str:
        """A number of a dtype: floats are quarters."""
        if dtype in FLOATS:
            return repr(self.rng.randint(-12, 12) / 4)
        if dtype == "bool":
            return self.one(("True", "False"))
        if dtype.startswith("uint"):
            return str(self.rng.choice((0, 1, 2, 3, 5, 7, 200)))
        return str(self.rng.randint(-3, 5))

    def data(self, shape: tuple[int, ...], dtype: str) -> str:
        if not shape:
            return self.number(dtype)
        return "[" + ", ".join(self.data(shape[1:], dtype) for _ in range(shape[0])) + "]"

    def shape(self, most: int = 4) -> tuple[int, ...]:
        rank = self.rng.choices((0, 1, 2, 3, 4), (2, 6, 8, 3, 1))[0]
        sizes = [self.rng.choices((0, 1, 2, 3, 4, 5), (1, 4, 8, 6, 2, 1))[0] for _ in range(min(rank, most))]
        while len(sizes) > 1 and eval("*".join(map(str, sizes))) > 40:
            sizes.pop()
        return tuple(sizes)

    def tensor(self, shape: tuple[int, ...], dtype: str, leaf: bool = False) -> str:
        grad = ", requires_grad=True" if leaf else ""
        data = self.data(shape, dtype)
        if 0 in shape or (shape and self.chance(0.05)):
            return f"L.{self.one(('zeros', 'ones'))}({', '.join(map(str, shape))}, dtype=L.{dtype}{grad})"
        return f"L.tensor({data}, dtype=L.{dtype}{grad})"

    def dim(self, t: Any) -> int:
        """An axis, now and then one that is not there."""
        n = t.ndim
        if self.chance(0.03):
            return n + 1
        if n == 0:
            return self.one((0, -1))
        return self.rng.randrange(-n, n)

    # Lines.

    def add(self, line: str, errors: bool = True) -> bool:
        """Runs a line with the reference and keeps it. One that raises is kept now and then."""
        if self.without is not None and self.without.search(line):
            return False
        try:
            exec(code(line), self.names)
            self.reference.settle(line, self.names)
        except Exception as error:
            for name in targets(line):
                self.names.pop(name, None)
            often = 0.6 if isinstance(error, IndexError) else 0.15
            if not errors or self.errors >= 2 or not self.chance(often):
                return False
            if by_halves(line, Raised(error)) or Raised(error).kind in ("absent", "name"):
                return False
            self.errors += 1
            self.lines.append(line)
            return True
        made = [self.names[name] for name in bound(line) if name in self.names]
        if any(isinstance(t, self.reference.tensor) and odd(t) for t in made):
            for name in bound(line):
                self.names.pop(name, None)
            return False
        self.lines.append(line)
        if "float16" in line or "half" in line:
            # Sums of quarters are rounded there soon.
            self.exact = False
        return True

    def too_large(self) -> bool:
        """Whether some number has become so large that nothing more can be learnt of it."""
        for name in self.tensors():
            t = self.names[name]
            if t.numel() and dtype_name(t.dtype) != "bool":
                t = t.detach().double()
                if t.ndim and max(abs(float(t.max())), abs(float(t.min()))) > LARGE:
                    return True
                if not t.ndim and abs(float(t)) > LARGE:
                    return True
        return False
