"""Distributions of vectors with few directions, and of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from .. import _ops as ops
from .. import linalg
from .._dtypes import finfo
from .._micrograd_rs import Tensor, arange, as_tensor, broadcast_shapes, eye
from .._size import Size
from ..autograd import no_grad
from ..special import multigammaln
from . import constraints
from .constraints import Constraint
from .continuous import Beta, standard_normal
from .distribution import Centred, Distribution, ExponentialFamily, tensors
from .multivariate import _inverse_factor


class LowRankMultivariateNormal(Centred):
    """The normal distribution of vectors of mean `loc` and covariance `cov_factor cov_factorᵀ + diag(cov_diag)`. Nothing of `n × n` numbers is inverted
    (Woodbury's identity and the determinant's lemma).

    >>> d = mg.distributions.LowRankMultivariateNormal(mg.zeros(2), mg.tensor([[1.0], [1.0]]), mg.ones(2))
    >>> d.covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])

    Arguments:
        loc: the mean, `[…, n]`
        cov_factor: the factor of the covariance, `[…, n, r]`
        cov_diag: what is added to its diagonal, above 0, `[…, n]`
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.dim() < 2 or cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m, got {cov_factor.shape}")
        if cov_diag.dim() < 1 or cov_diag.shape[-1] != n:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {n}, got {cov_diag.shape}")
        batch = tuple(broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        self.loc = loc.expand((*batch, n))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, n))
        super().__init__(batch, (n,), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        n, r = self.cov_factor.shape[-2:]
        given = (self.loc.expand((*batch_shape, n)), self.cov_factor.expand((*batch_shape, n, r)), self.cov_diag.expand((*batch_shape, n)))
        new = type(self)(*given, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _small(self) -> Tensor:
        """The Cholesky factor of `1 + cov_factorᵀ diag(cov_diag)⁻¹ cov_factor`, which is `r × r`."""
        factor = self.cov_factor
        return linalg.cholesky(factor.mT @ (factor / self.cov_diag.unsqueeze(-1)) + eye(factor.shape[-1], dtype=factor.dtype, device=factor.device))

    @property
    def support(self) -> Constraint:
        return constraints.real_vector

    @property
    def variance(self) -> Tensor:
        return self.cov_factor.square().sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance, laid out: `[…, n, n]`."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @property
    def scale_tril(self) -> Tensor:
        """Its lower Cholesky factor."""
        # Of a matrix whose diagonal is 1 and more: the roots are well apart from 0.
        root = self.cov_diag.sqrt().unsqueeze(-1)
        inner = self.cov_factor / root
        one = eye(root.shape[-2], dtype=root.dtype, device=root.device)
        return root * linalg.cholesky(inner @ inner.mT + one)

    @property
    def precision_matrix(self) -> Tensor:
        """Its inverse."""
        away = linalg.solve_triangular(self._small(), (self.cov_factor / self.cov_diag.unsqueeze(-1)).mT, upper=False)
        return self.cov_diag.reciprocal().diag_embed() - away.mT @ away

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        few = standard_normal(self.loc, (*shape[:-1], self.cov_factor.shape[-1]))
        each = standard_normal(self.loc, shape)
        return self.loc + (self.cov_factor @ few.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * each

    def _half_log_det(self) -> Tensor:
        return self._small().diagonal(0, -2, -1).log().sum(-1) + 0.5 * self.cov_diag.log().sum(-1)

    def distance(self, away: Tensor) -> Tensor:
        """The square of Mahalanobis' distance of vectors from 0, `[…]`.

        Arguments:
            away: the vectors, `[…, n]`
        """
        scaled = (self.cov_factor.mT @ (away / self.cov_diag).unsqueeze(-1))
        small = self._small()
        part = linalg.solve_triangular(small.expand((*scaled.shape[:-2], *small.shape[-2:])), scaled, upper=False)
        return (away.square() / self.cov_diag).sum(-1) - part.square().sum((-2, -1))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        whole = self._event_shape[0] * math.log(2 * math.pi) + self.distance(value - self.loc)
        return -0.5 * whole - self._half_log_det()

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det()


class Wishart(ExponentialFamily):
    """Covariances of `df` normal vectors, not divided by `df`, of one of: their covariance matrix, its inverse, its lower Cholesky factor. Drawn
    by Bartlett's decomposition: a sample's factor has normal numbers below its diagonal, and roots of chi-squares on it.

    Arguments:
        df: how many vectors; any number above `n − 1`
        covariance_matrix, precision_matrix, scale_tril: the covariance matrix, its inverse, or its lower factor: one of the three

    >>> mg.distributions.Wishart(mg.tensor(3.0), mg.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "df": constraints.positive,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self,
        df: Tensor | float,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        named = [(name, value) for name, value in given.items() if value is not None]
        if len(named) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = named[0]
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        n = matrix.shape[-1]
        df = as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = tuple(broadcast_shapes(df.shape, matrix.shape[:-2]))
        self.df = df.expand(batch)
        if not bool((self.df > n - 1).all()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        self.__dict__[name] = matrix.expand((*batch, n, n))
        super().__init__(batch, (n, n), validate_args)
        self._tril = matrix if name == "scale_tril" else linalg.cholesky(matrix) if name == "covariance_matrix" else _inverse_factor(matrix)

    def __getattr__(self, name: str) -> Any:
        if "_tril" in self.__dict__:
            shape = (*self._batch_shape, *self._event_shape)
            if name == "scale_tril":
                return self._tril.expand(shape)
            if name == "covariance_matrix":
                return (self._tril @ self._tril.mT).expand(shape)
            if name == "precision_matrix":
                identity = eye(shape[-1], dtype=self._tril.dtype, device=self._tril.device).expand(self._tril.shape)
                return ops.cholesky_solve(identity, self._tril).expand(shape)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    scale_tril: Tensor
    covariance_matrix: Tensor
    precision_matrix: Tensor

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self.__class__.__new__(self.__class__)
        new.__dict__.update(self.__dict__)
        new.df = self.df.expand(tuple(batch_shape))
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand((*batch_shape, *self._event_shape))
        new._batch_shape = Size(batch_shape)
        return new

    @property
    def support(self) -> Constraint:
        return constraints.positive_definite

    def _each(self) -> Tensor:
        return self.df.unsqueeze(-1).unsqueeze(-1)

    @property
    def mean(self) -> Tensor:
        return self._each() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self._each() - self._event_shape[0] - 1
        return factor.masked_fill(factor <= 0, math.nan) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(0, -2, -1)
        return self._each() * (v.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Sequence[int] = (), max_try_correction: int | None = None) -> Tensor:
        """Random matrices as a function of the parameters, `[*sample_shape, *batch_shape, n, n]`: gradients flow to them.

        Arguments:
            sample_shape: how many there are for each of the batch, in axes before it
            max_try_correction: of no effect: what is drawn is positive definite
        """
        shape = self._extended_shape(sample_shape)
        n = shape[-1]
        degrees = self.df.unsqueeze(-1) - arange(n, dtype=self.df.dtype, device=self.df.device)
        squares = 2 * ops.standard_gamma((degrees / 2).expand((*shape[:-1],)))
        roots = squares.clamp(min=finfo(squares.dtype).eps).sqrt()
        factor = self._tril @ (standard_normal(self.df, shape).tril(-1) + roots.diag_embed())
        return factor @ factor.mT

    def _half_log_det(self) -> Tensor:
        return self._tril.diagonal(0, -2, -1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        n, df = self._event_shape[0], self.df
        tril = self._tril.expand((*value.shape[:-2], n, n)) if value.dim() > self._tril.dim() else self._tril
        trace = ops.cholesky_solve(value, tril.expand((*broadcast_shapes(value.shape[:-2], tril.shape[:-2]), n, n))).diagonal(0, -2, -1).sum(-1)
        normal = df * (n * math.log(2) / 2 + self._half_log_det()) + multigammaln(df / 2, n)
        return (df - n - 1) / 2 * linalg.slogdet(value)[1] - trace / 2 - normal

    def digammas(self) -> Tensor:
        """The derivative of the logarithm of the gamma function of `n` axes at `df / 2`."""
        n = self._event_shape[0]
        return (self.df.unsqueeze(-1) / 2 - arange(n, dtype=self.df.dtype, device=self.df.device) / 2).digamma().sum(-1)

    def entropy(self) -> Tensor:
        n, df = self._event_shape[0], self.df
        volume = (n + 1) * (n * math.log(2) / 2 + self._half_log_det())
        return volume + multigammaln(df / 2, n) - (df - n - 1) / 2 * self.digammas() + df * n / 2


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlations of `dim` things: the density of a correlation is its determinant to the power `concentration − 1`,
    but for a factor, so that with 1 all are equally likely. Drawn by the onion method (Lewandowski, Kurowicka and Joe, "Generating random
    correlation matrices based on vines and extended onion method", 2009).

    Arguments:
        dim: how many things
        concentration: 1 for all alike; the larger, the less they correlate

    >>> L = mg.distributions.LKJCholesky(3).sample()
    >>> mg.allclose((L @ L.T).diag(), mg.ones(3))
    True
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": constraints.positive}

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = tensors(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = type(self)(self.dim, self.concentration.expand(tuple(batch_shape)), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def support(self) -> Constraint:
        return constraints.corr_cholesky

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape, n = self._extended_shape(sample_shape), self.dim
        with no_grad():
            c = self.concentration.detach()
            # Row i is a point within the ball of i axes: how far from the middle, by a beta distribution, and where to, evenly.
            row = arange(1, n, dtype=c.dtype, device=c.device)
            square = Beta(row / 2, c.unsqueeze(-1) + (n - 1 - row) / 2, validate_args=False).sample(sample_shape)
            way = standard_normal(c, shape).tril(-1)[..., 1:, :]
            inside = square.sqrt().unsqueeze(-1) * way / way.norm(dim=-1, keepdim=True)
            rest = (1 - inside.square().sum(-1)).clamp(min=finfo(c.dtype).tiny).sqrt()
            below = ops.cat([inside.new_zeros((*shape[:-2], 1, n)), inside], -2)
            return below + ops.cat([rest.new_ones((*shape[:-2], 1)), rest], -1).diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        n, c = self.dim, self.concentration
        # A correlation's determinant, and how its factor's numbers stretch to it, are powers of the factor's diagonal.
        row = arange(2, n + 1, dtype=c.dtype, device=c.device)
        powers = 2 * (c - 1).unsqueeze(-1) + n - row
        density = (powers * value.diagonal(0, -2, -1)[..., 1:].log()).sum(-1)
        # Theorem 5 of the paper, by the gamma function of several axes.
        m = n - 1
        alpha = c + m / 2
        return density - (0.5 * m * math.log(math.pi) + multigammaln(alpha - 0.5, m) - m * alpha.lgamma())
