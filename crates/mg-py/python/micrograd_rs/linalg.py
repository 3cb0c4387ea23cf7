"""Linear algebra."""

from __future__ import annotations

from . import _linalg_ops
from ._linalg_ops import *
from ._micrograd_rs import LinAlgError as LinAlgError
from ._names import Lazy as _Lazy

__all__: list[str] = ["LinAlgError"]
__all__ += _linalg_ops.__all__


__getattr__ = _Lazy(__name__)
