"""The Python array API standard, version 2024.12, on this library's tensors.

>>> import micrograd_rs as mg
>>> x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
>>> xp = x.__array_namespace__()
>>> xp.sum(x, axis=1).tolist()
[3.0, 7.0]

Arrays are tensors, with gradients and on every device. Names here have the standard's arguments and answers; where PyTorch's are the same, they
are the package's own functions. There are no complex numbers, and so no `fft`.

https://data-apis.org/array-api/2024.12/
"""

from __future__ import annotations

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

import micrograd_rs as _mg

from .. import _micrograd_rs as _rs
from .. import abs as abs
from .. import acos as acos
from .. import acosh as acosh
from .. import asin as asin
from .. import asinh as asinh
from .. import atan as atan
from .. import atanh as atanh
from .. import ceil as ceil
from .. import cos as cos
from .. import cosh as cosh
from .. import exp as exp
from .. import expm1 as expm1
from .. import floor as floor
from .. import isfinite as isfinite
from .. import isinf as isinf
from .. import isnan as isnan
from .. import log as log
from .. import log1p as log1p
from .. import log2 as log2
from .. import log10 as log10
from .. import logical_and as logical_and
from .. import logical_not as logical_not
from .. import logical_or as logical_or
from .. import logical_xor as logical_xor
from .. import positive as positive
from .. import reciprocal as reciprocal
from .. import round as round
from .. import signbit as signbit
from .. import sin as sin
from .. import sinh as sinh
from .. import sqrt as sqrt
from .. import square as square
from .. import tan as tan
from .. import tanh as tanh
from .. import trunc as trunc
from .._micrograd_rs import bool as bool
from .._micrograd_rs import float32 as float32
from .._micrograd_rs import float64 as float64
from .._micrograd_rs import int32 as int32
from .._micrograd_rs import int64 as int64
from .._micrograd_rs import uint8 as uint8
from .._names import Lazy as _Lazy
from . import linalg as linalg
from ._creation import *
from ._dtypes import *
from ._dtypes import ALL as _all_dtypes
from ._elementwise import *
from ._manipulation import *
from ._reductions import *
from ._sorting import *
from .linalg import matmul as matmul
from .linalg import matrix_transpose as matrix_transpose
from .linalg import tensordot as tensordot
from .linalg import vecdot as vecdot

__array_api_version__ = "2024.12"
__version__ = _rs.__version__
newaxis = None

# What PyTorch calls by other names.
bitwise_invert = _mg.bitwise_not
conj = _mg.positive
imag = _mg.zeros_like
negative = _mg.neg
real = _mg.positive

# The integers that there are beside those above.
globals().update(_all_dtypes)

__getattr__ = _Lazy(__name__)
