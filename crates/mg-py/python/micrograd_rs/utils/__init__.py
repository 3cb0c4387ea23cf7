"""What does not belong elsewhere: `checkpoint`."""

from __future__ import annotations

from .._names import Lazy as _Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import checkpoint

__all__ = ["checkpoint"]

__getattr__ = _Lazy(__name__, ("checkpoint",))
