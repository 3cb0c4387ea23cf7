"""Memory that libraries give each other, as `torch.utils.dlpack` has it."""

from __future__ import annotations

from .._functions.methods import to_dlpack
from .._micrograd_rs import from_dlpack
from .._names import Lazy as _Lazy

__all__ = ["from_dlpack", "to_dlpack"]

__getattr__ = _Lazy(__name__)
