"""Windows that signals are weighed with."""

from __future__ import annotations

from .. import _windows_ops
from .._names import Lazy as _Lazy
from .._windows_ops import *

__all__: list[str] = []
__all__ += _windows_ops.__all__

__getattr__ = _Lazy(__name__)
