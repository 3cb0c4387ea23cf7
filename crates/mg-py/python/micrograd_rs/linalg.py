"""Linear algebra."""

from __future__ import annotations

from . import _linalg_ops
from ._linalg_ops import *
from ._micrograd_rs import LinAlgError as LinAlgError
from ._micrograd_rs import Tensor as _Tensor
from ._names import Lazy as _Lazy

__all__: list[str] = ["LinAlgError", "matrix_sqrth"]
__all__ += _linalg_ops.__all__


def matrix_sqrth(A: _Tensor) -> _Tensor:
    """The square root of symmetric positive definite matrices `[…, n, n]`, of which the lower triangle is read: the symmetric `X` with `X X = A`."""
    values, vectors = _linalg_ops.eigh(A)
    return (vectors * values.sqrt().unsqueeze(-2)) @ vectors.mT


__getattr__ = _Lazy(__name__)
