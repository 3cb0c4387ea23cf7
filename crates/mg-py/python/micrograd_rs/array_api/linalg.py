"""Linear algebra of the standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import micrograd_rs as _mg

from .. import linalg as _linalg
from .._micrograd_rs import Tensor
from ..linalg import det as det
from ..linalg import eigh as eigh
from ..linalg import eigvalsh as eigvalsh
from ..linalg import inv as inv
from ..linalg import matrix_power as matrix_power
from ..linalg import slogdet as slogdet
from ..linalg import svdvals as svdvals

if TYPE_CHECKING:
    from .._micrograd_rs import dtype as _DType

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def _same(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    dtype = _mg.promote_types(x1.dtype, x2.dtype)
    return x1.to(dtype), x2.to(dtype)


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product; batches broadcast."""
    return _mg.matmul(*_same(x1, x2))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes exchanged."""
    return x.mT


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Sums of products over axes that belong together."""
    return _mg.tensordot(*_same(x1, x2), axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The sums of products of vectors along an axis."""
    least = min(x1.ndim, x2.ndim)
    if not -least <= axis < 0:
        raise ValueError(f"takes an axis from {-least} to -1, got {axis}")
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vectors of {x1.shape[axis]} and {x2.shape[axis]} elements")
    return _linalg.vecdot(*_same(x1, x2), dim=axis)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The products of each element of a vector with each of another."""
    return _mg.outer(*_same(x1, x2))


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors of 3 along an axis."""
    return _linalg.cross(*_same(x1, x2), dim=axis)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """The diagonals of matrices."""
    return _linalg.diagonal(x, offset=offset)


def trace(x: Tensor, /, *, offset: int = 0, dtype: _DType | None = None) -> Tensor:
    """The sums of diagonals."""
    from ._reductions import sum

    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangle whose product with its transpose a positive definite matrix is."""
    return _linalg.cholesky(x, upper=upper)


def qr(x: Tensor, /, *, mode: str = "reduced") -> tuple[Tensor, ...]:
    """An orthogonal matrix and an upper triangle, whose product the matrix is."""
    return _linalg.qr(x, mode)


def svd(x: Tensor, /, *, full_matrices: bool = True) -> tuple[Tensor, ...]:
    """Singular values, and the orthogonal matrices on both sides."""
    return _linalg.svd(x, full_matrices)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solutions of linear equations: only what has one axis is a vector."""
    a, b = _same(x1, x2)
    return _linalg.solve(a, b.unsqueeze(-1)).squeeze(-1) if b.ndim == 1 else _linalg.solve(a, _matrices(a, b))


def _matrices(a: Tensor, b: Tensor) -> Tensor:
    # An axis more, so that a batch of matrices is not taken for one of vectors.
    return b.unsqueeze(0) if b.ndim + 1 == a.ndim else b


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """The pseudoinverse: singular values that are not above `rtol` times the largest count as 0."""
    if not isinstance(rtol, Tensor):
        return _linalg.pinv(x, rtol=rtol)
    u, s, vh = _linalg.svd(x, full_matrices=False)
    counts = s > _bounds(s, rtol)
    inverse = _mg.where(counts, 1 / _mg.where(counts, s, 1.0), 0.0)
    return (vh.mT * inverse.unsqueeze(-2)) @ u.mT


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """How many singular values are above `rtol` times the largest."""
    if not isinstance(rtol, Tensor):
        return _linalg.matrix_rank(x, rtol=rtol)
    s = _linalg.svdvals(x)
    return _mg.sum((s > _bounds(s, rtol)).to(_mg.int64), -1)


def _bounds(s: Tensor, rtol: Tensor) -> Tensor:
    # For each matrix its own.
    return rtol.unsqueeze(-1) * (_mg.amax(s, (-1,), True) if s.shape[-1] else 0.0)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Tensor:
    """The norm of matrices."""
    return _linalg.matrix_norm(x, "fro" if ord is None else ord, keepdim=keepdims)


def vector_norm(x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """The norm of vectors."""
    if isinstance(axis, Sequence) and not axis:
        # Each element by itself: its size, and with the order 0 whether it is not zero.
        return (x != 0).to(x.dtype) if ord == 0 else x.abs()
    axes: Sequence[int] = () if axis is None else ([axis] if isinstance(axis, int) else axis)
    return _linalg.vector_norm(x, ord, axes, keepdims)
