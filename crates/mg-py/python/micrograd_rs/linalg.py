"""Linear algebra."""

from __future__ import annotations

from ._micrograd_rs import Tensor
from ._names import Lazy as _Lazy
from . import _linalg_ops
from ._linalg_ops import *

__all__ = ["matmul", "norm", "vector_norm"]

__all__ += _linalg_ops.__all__

matmul = Tensor.matmul


def vector_norm(
    x: Tensor, ord: float = 2.0, dim: int | tuple[int, ...] | None = None, keepdim: bool = False
) -> Tensor:
    """The `ord`-norm of all elements, or over some axes."""
    return x.norm(ord, dim, keepdim)


norm = vector_norm

__getattr__ = _Lazy(__name__)
