"""Distributions of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from .. import _ops as ops
from .. import linalg
from .._dtypes import finfo
from .._micrograd_rs import Tensor, eye, where
from .._nn_ops import one_hot
from .._size import Size
from . import constraints
from .constraints import Constraint
from .continuous import standard_normal
from .distribution import Centred, ExponentialFamily


def _inverse_factor(precision: Tensor) -> Tensor:
    """The lower Cholesky factor of a matrix's inverse."""
    turned = linalg.cholesky(precision.flip(-2, -1)).flip(-2, -1).mT
    identity = eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return linalg.solve_triangular(turned, identity, upper=False)


class MultivariateNormal(Centred):
    """The normal distribution of vectors of mean `loc`, and of one of: a covariance matrix, its inverse, its lower Cholesky factor.

    Arguments:
        loc: the mean, `[…, n]`
        covariance_matrix, precision_matrix, scale_tril: the covariance matrix, its inverse, or its lower factor: one of the three

    >>> d = mg.distributions.MultivariateNormal(mg.zeros(2), mg.eye(2))
    >>> d.log_prob(mg.zeros(2)), d.sample((5,)).shape
    (tensor(-1.8379), (5, 2))
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        named = [(name, value) for name, value in given.items() if value is not None]
        if len(named) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = named[0]
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        n = loc.shape[-1]
        batch = ops.broadcast_tensors(matrix[..., 0, 0], loc[..., 0])[0].shape
        self.loc = loc.expand((*batch, n))
        self.__dict__[name] = matrix.expand((*batch, n, n))
        super().__init__(batch, (n,), validate_args)
        if name == "scale_tril":
            self._tril = matrix
        elif name == "covariance_matrix":
            self._tril = linalg.cholesky(matrix)
        else:
            self._tril = _inverse_factor(matrix)

    def __getattr__(self, name: str) -> Any:
        n = self._event_shape[0] if "_event_shape" in self.__dict__ else 0
        if name == "scale_tril":
            return self._tril.expand((*self._batch_shape, n, n))
        if name == "covariance_matrix":
            return (self._tril @ self._tril.mT).expand((*self._batch_shape, n, n))
        if name == "precision_matrix":
            identity = eye(n, dtype=self.loc.dtype, device=self.loc.device).expand(self._tril.shape)
            return ops.cholesky_solve(identity, self._tril).expand((*self._batch_shape, n, n))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    scale_tril: Tensor
    covariance_matrix: Tensor
    precision_matrix: Tensor

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        n = self._event_shape[0]
        new = self.__class__.__new__(self.__class__)
        new.__dict__.update(self.__dict__)
        new.loc = self.loc.expand((*batch_shape, n))
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand((*batch_shape, n, n))
        new._batch_shape = Size(batch_shape)
        return new

    @property
    def support(self) -> Constraint:
        return constraints.real_vector

    @property
    def variance(self) -> Tensor:
        return self._tril.square().sum(-1).expand((*self._batch_shape, *self._event_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        z = standard_normal(self.loc, self._extended_shape(sample_shape))
        return self.loc + (self._tril @ z.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = (value - self.loc).unsqueeze(-1)
        tril = self._tril.expand((*away.shape[:-2], *self._tril.shape[-2:]))
        distance = linalg.solve_triangular(tril, away, upper=False).square().sum((-2, -1))
        half_log_det = self._tril.diagonal(0, -2, -1).log().sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det

    def entropy(self) -> Tensor:
        half_log_det = self._tril.diagonal(0, -2, -1).log().sum(-1)
        entropy = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + half_log_det
        return entropy.expand(tuple(self._batch_shape))


class Dirichlet(ExponentialFamily):
    """Probabilities of classes, with the density `∏ xᵢ^(concentrationᵢ − 1)`, but for a factor.

    Arguments:
        concentration: a number above 0 for each class, along the last axis

    >>> mg.distributions.Dirichlet(mg.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": constraints.independent(constraints.positive, 1)}

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return type(self)(self.concentration.expand((*batch_shape, *self._event_shape)), validate_args=False)

    @property
    def support(self) -> Constraint:
        return constraints.simplex

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        inside = above / above.sum(-1, keepdim=True)
        # Where no class has more than 1, a corner.
        corner = one_hot(inside.argmax(-1), self.concentration.shape[-1]).to(inside.dtype)
        return where((self.concentration < 1).all(-1, keepdim=True), corner, inside)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = ops.standard_gamma(self.concentration.expand(tuple(self._extended_shape(sample_shape))))
        # Of small concentrations all may be 0.
        drawn = drawn.clamp(min=finfo(drawn.dtype).tiny)
        return drawn / drawn.sum(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a = self.concentration
        return ops.xlogy(a - 1, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a, k = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)
