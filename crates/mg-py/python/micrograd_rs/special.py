"""Special functions."""

from __future__ import annotations

from . import _special_ops
from ._names import Lazy as _Lazy
from ._special_ops import *

__all__: list[str] = []
__all__ += _special_ops.__all__

__getattr__ = _Lazy(__name__)
