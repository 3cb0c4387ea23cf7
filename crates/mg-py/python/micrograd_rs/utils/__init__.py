"""What training needs beside a network: data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from . import data

__all__ = ["data"]

__getattr__ = _Lazy(__name__, ("data",))
"""What does not belong elsewhere: `checkpoint`."""
TYPE_CHECKING = False
    from . import checkpoint
__all__ = ["checkpoint"]
__getattr__ = _Lazy(__name__, ("checkpoint",))
