"""Values as they are compared: in one list, and as far as they may be off."""

from __future__ import annotations

from typing import Any

#: How far those may be off that were rounded; those of f64 may have come from f32.
TOLERANCE = {"float64": 3e-4, "float32": 3e-4, "float16": 2e-2, "bfloat16": 1e-1}


def flat(value: Any) -> list[Any]:
    """What lists in lists hold, in one; a number is one of its own."""
    return [x for item in value for x in flat(item)] if isinstance(value, (list, tuple)) else [value]
