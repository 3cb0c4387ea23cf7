"""What distributions of one's own are written with, as `torch.distributions.utils` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._dtypes import finfo
from .._micrograd_rs import Tensor
from .._names import Lazy as _Lazy
from .._nn_ops import softmax
from .._ops import randn, tril_indices
from .distribution import tensors

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

__getattr__ = _Lazy(__name__)


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape; numbers in the tensors' dtype and on their device, or the default ones."""
    return tuple(tensors(*values))


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities without 0 and 1, whose logarithms would be infinite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of classes along the last axis, or of each thing by itself, of logits."""
    return logits.sigmoid() if is_binary else softmax(logits, -1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logits of probabilities."""
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


def _sum_rightmost(value: Any, dim: int) -> Any:  # pyright: ignore[reportUnusedFunction]
    return value if dim == 0 else value.flatten(-dim).sum(-1)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:  # pyright: ignore[reportUnusedFunction]
    return randn(tuple(shape), dtype=dtype, device=device)


class lazy_property:
    """A property that is computed once, with gradients, when it is first asked for, and kept under its name."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__
        self._name = wrapped.__name__

    def __get__(self, instance: Any, kind: Any = None) -> Any:
        if instance is None:
            return self
        from ..autograd import enable_grad

        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self._name, value)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangle of matrices, `[…, d, d]`, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Matrices with a lower triangle, and zeros above."""
    count, n, found = vec.shape[-1], 0, 0
    while found < count:
        n += 1
        found = sum(min(max(row + 1 + diag, 0), n) for row in range(n))
    if found != count or n == 0:
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square D x D matrix.")
    rows, columns = tril_indices(n, n, diag)
    matrix = vec.new_zeros((*vec.shape[:-1], n, n))
    matrix[..., rows, columns] = vec
    return matrix
