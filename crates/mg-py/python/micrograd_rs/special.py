"""Special functions."""

from __future__ import annotations

from . import _special_ops
from ._names import Lazy as _Lazy
from ._special_ops import *

from ._nn_ops import log_softmax as log_softmax
from ._nn_ops import softmax as softmax

__all__ = ["log_softmax", "modified_bessel_i0", "modified_bessel_i1", "softmax"]
__all__ += _special_ops.__all__

# By the names that PyTorch has for the same beside.
modified_bessel_i0 = _special_ops.i0
modified_bessel_i1 = _special_ops.i1

__getattr__ = _Lazy(__name__)
