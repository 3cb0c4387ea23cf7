"""Weights of a fixed length or a fixed largest stretch."""

from __future__ import annotations

from typing import Any

from ..._micrograd_rs import Tensor, randn
from ..._ops import norm_except_dim
from ...autograd import no_grad
from ... import functional as F
from ..module import Module
from . import parametrize

__all__ = ["spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except_dim(weight_v, 2, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Makes a weight the product of its length (`parametrizations.weight.original0`) and its direction
    (`…original1`), for each index along `dim`, or for all as one where that is None: Salimans and Kingma, 2016.
    """
    return parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"takes n_power_iterations above 0, got {n_power_iterations}")
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(f"dim {dim} is not an axis of a weight of {weight.dim()}")
        self.dim = dim % weight.dim()
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if weight.dim() > 1:
            with no_grad():
                matrix = self._matrix(weight.detach())
                rows, columns = matrix.shape
                u, v = (randn(n, dtype=weight.dtype, device=weight.device) for n in (rows, columns))
                self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
                self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1) if self.dim else weight.flatten(1)

    def _iterate(self, matrix: Tensor, times: int) -> None:
        with no_grad():
            u, v = self._u, self._v
            for _ in range(times):
                u = F.normalize(matrix.mv(v), dim=0, eps=self.eps)
                v = F.normalize(matrix.T.mv(u), dim=0, eps=self.eps)
            self._u.copy_(u)
            self._v.copy_(v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a weight by its largest singular value, which is followed by `n_power_iterations` of the power
    method at each use in training: Miyato et al., 2018.
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{type(module).__name__} has no parameter or buffer {name!r}")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
