"""As `micrograd_rs.functional`."""

from __future__ import annotations

from .._names import Lazy as _Lazy
from ..functional import *
from ..functional import __all__ as __all__

__getattr__ = _Lazy(__name__)
