"""What training needs beside a network: data, and steps that are computed again instead of kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from . import checkpoint, data

__all__ = ["checkpoint", "data"]

__getattr__ = _Lazy(__name__, ("checkpoint", "data"))
