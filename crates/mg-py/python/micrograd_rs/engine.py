"""micrograd's module of this name: `Value`."""

from __future__ import annotations

from ._micrograd_rs import Value
from ._names import Lazy as _Lazy

__all__ = ["Value"]

__getattr__ = _Lazy(__name__)
