"""Special functions."""

from __future__ import annotations

from . import _special_ops
from ._names import Lazy as _Lazy
from ._special_ops import *

from ._nn_ops import log_softmax as log_softmax
from ._nn_ops import softmax as softmax

__all__ = ["log_softmax", "softmax"]
__all__ += _special_ops.__all__

__getattr__ = _Lazy(__name__)
