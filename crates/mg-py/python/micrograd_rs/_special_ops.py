"""Operations that `special` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
    "logsumexp",
]

logsumexp = _rs._special_logsumexp
