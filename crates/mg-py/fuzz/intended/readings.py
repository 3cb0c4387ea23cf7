"""What a difference, a program or an error tells."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from ..values import TOLERANCE, flat

if TYPE_CHECKING:
    from ..compare import Difference
    from ..program import Program


def pairs(found: Difference) -> list[tuple[float, float]]:
    """The numbers of a tensor that differ: what there is, and what was wanted. None where it is not numbers that differ."""
    told = re.fullmatch(r"(.*) \w+\[[\d, ]*\], want (.*) \w+\[[\d, ]*\]", found.detail)
    if found.what not in ("value", "grad's value") or told is None:
        return []
    got, wanted = (flat(eval(text, {"nan": math.nan, "inf": math.inf})) for text in told.groups())
    limit = max((TOLERANCE[half] for half in ("bfloat16", "float16") if f" {half}[" in found.detail), default=1e-3)
    return [(a, b) for a, b in zip(got, wanted) if not close(a, b, limit)]


def close(a: float, b: float, limit: float = 1e-3) -> bool:
    return a == b or (a != a and b != b) or (math.isfinite(b) and abs(a - b) <= limit * max(1.0, abs(b)))


def differentiated(program: Program) -> bool:
    return re.search(r"backward\(|G\(", str(program)) is not None


def out_of_range(text: str) -> bool:
    """Whether an error tells of an index that is out of range, and is right."""
    told = re.search(r"index (-?\d+) is out of range for axis \d+ of size (\d+)", text)
    return told is not None and not -int(told[2]) <= int(told[1]) < int(told[2])
