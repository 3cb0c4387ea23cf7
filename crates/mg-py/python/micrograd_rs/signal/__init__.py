"""Signals."""

from __future__ import annotations

from .._names import Lazy as _Lazy
from . import windows

__all__ = ["windows"]

__getattr__ = _Lazy(__name__)
