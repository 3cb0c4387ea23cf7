"""Linear algebra."""

from __future__ import annotations

from typing import Any as _Any

from . import _linalg_ops
from ._linalg_ops import *
from ._micrograd_rs import LinAlgError as LinAlgError
from ._micrograd_rs import Tensor as _Tensor
from ._names import Lazy as _Lazy
from .autograd import Function as _Function

__all__: list[str] = ["LinAlgError", "matrix_sqrth"]
__all__ += _linalg_ops.__all__


def _roots(A: _Tensor) -> tuple[_Tensor, _Tensor]:
    """The roots of the eigenvalues, those of what rounding has made negative 0, and the eigenvectors."""
    values, vectors = _linalg_ops.eigh(A)
    return values.clamp(min=0).sqrt(), vectors


class _Root(_Function):
    """`dX` is what `X dX + dX X = dA` says, where eigenvalues are equal too."""

    @staticmethod
    def forward(ctx: _Any, A: _Tensor) -> _Tensor:
        ctx.save_for_backward(A)
        roots, vectors = _roots(A)
        return (vectors * roots.unsqueeze(-2)) @ vectors.mT

    @staticmethod
    def backward(ctx: _Any, *gradients: _Any) -> _Any:
        (gradient,) = gradients
        roots, vectors = _roots(ctx.saved_tensors[0])
        inside = vectors.mT @ ((gradient + gradient.mT) / 2) @ vectors
        return vectors @ (inside / (roots.unsqueeze(-1) + roots.unsqueeze(-2))) @ vectors.mT


def matrix_sqrth(A: _Tensor) -> _Tensor:
    """The square root of symmetric positive definite matrices `[…, n, n]`, of which the lower triangle is read: the symmetric `X` with `X X = A`."""
    root: _Tensor = _Root.apply(A)
    return root


__getattr__ = _Lazy(__name__)
