"""micrograd's module of this name: `Value`."""

from __future__ import annotations

from ._micrograd_rs import Value

__all__ = ["Value"]
