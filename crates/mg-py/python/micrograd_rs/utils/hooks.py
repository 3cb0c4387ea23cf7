"""What hooks are taken away by, as `torch.utils.hooks` has it."""

from __future__ import annotations

from .._names import Lazy as _Lazy
from ..nn._hooks import RemovableHandle

__all__ = ["RemovableHandle"]

__getattr__ = _Lazy(__name__)
