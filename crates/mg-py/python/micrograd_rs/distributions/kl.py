"""How far one distribution is from another: the expected logarithm of the ratio of their densities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _ops as ops
from .. import linalg
from .._micrograd_rs import Tensor, broadcast_shapes, where
from .._names import Lazy as _Lazy
from ..special import multigammaln
from .composed import Independent, LogNormal, TransformedDistribution
from .continuous import Beta, Cauchy, Exponential, Gamma, Gumbel, HalfCauchy, HalfNormal, Laplace, Normal, Uniform, Weibull, EULER
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution
from .matrices import LowRankMultivariateNormal, Wishart
from .multivariate import Dirichlet, MultivariateNormal
from .tails import ContinuousBernoulli, InverseGamma, Pareto

__all__ = ["kl_divergence", "register_kl"]

_Formula = Callable[[Any, Any], Tensor]
_FORMULAS: dict[tuple[type, type], _Formula] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_Formula], _Formula]:
    """Makes a function the one by which `kl_divergence` computes what it is for two classes, and for what is derived of them.

    Arguments:
        type_p, type_q: the classes

    >>> class Sure(mg.distributions.Normal):
    ...     pass
    >>> @mg.distributions.register_kl(Sure, Sure)
    ... def kl(p, q):
    ...     return mg.tensor(0.0)
    >>> mg.distributions.kl_divergence(Sure(0.0, 1.0), Sure(1.0, 1.0))
    tensor(0.)
    """

    def decorate(formula: _Formula) -> _Formula:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """`E_p[log p(x) − log q(x)]`, in the shape to which the two batches broadcast.

    Arguments:
        p: the distribution that events are of
        q: the one that they are measured by

    Errors: NotImplementedError for classes that there is no formula for.

    >>> p, q = mg.distributions.Normal(0.0, 1.0), mg.distributions.Normal(1.0, 1.0)
    >>> mg.distributions.kl_divergence(p, q), mg.distributions.kl_divergence(p, p)
    (tensor(0.5000), tensor(0.))
    """
    for first in type(p).__mro__:
        for second in type(q).__mro__:
            formula = _FORMULAS.get((first, second))
            if formula is not None:
                return formula(p, q)
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _lognormal(p: LogNormal, q: LogNormal) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - ratio.log())


@register_kl(HalfCauchy, HalfCauchy)
def _half_cauchy(p: HalfCauchy, q: HalfCauchy) -> Tensor:
    return ((p.scale + q.scale) ** 2 / (4 * p.scale * q.scale)).log()


@register_kl(Weibull, Weibull)
def _weibull(p: Weibull, q: Weibull) -> Tensor:
    """Bauckhage, "Computing the Kullback-Leibler divergence between two Weibull distributions", 2013."""
    ours = p.concentration.log() - p.concentration * p.scale.log()
    theirs = q.concentration.log() - q.concentration * q.scale.log()
    shape = (p.concentration - q.concentration) * (p.scale.log() - EULER / p.concentration)
    scale = (p.scale / q.scale) ** q.concentration * (1 + q.concentration / p.concentration).lgamma().exp()
    return ours - theirs + shape + scale - 1


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    n = p.reinterpreted_batch_ndims
    inner = kl_divergence(p.base_dist, q.base_dist)
    return inner.sum(tuple(range(-n, 0))) if n else inner


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    from .._nn_ops import softplus

    hit = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    miss = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return hit + miss


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return where(p.total_count > q.total_count, math.inf, p.total_count * each)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    t = t.masked_fill((q.probs == 0).expand(t.shape), math.inf)
    return t.masked_fill((p.probs == 0).expand(t.shape), 0.0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(Categorical(logits=p.logits), Categorical(logits=q.logits))


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    first = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return first + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    both, others = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    first = q.concentration1.lgamma() + q.concentration0.lgamma() + both.lgamma()
    second = p.concentration1.lgamma() + p.concentration0.lgamma() + others.lgamma()
    third = (p.concentration1 - q.concentration1) * p.concentration1.digamma()
    fourth = (p.concentration0 - q.concentration0) * p.concentration0.digamma()
    return first - second + third + fourth + (others - both) * both.digamma()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    first = total.lgamma() - b.sum(-1).lgamma()
    second = (a.lgamma() - b.lgamma()).sum(-1)
    return first - second + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    top = ((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2).log()
    return top - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ratio.log() + away + ratio * EULER + (-away + (1 + ratio).lgamma()).exp() - (1 + EULER)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), math.inf, result)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    away = p.loc - q.loc
    first = (math.sqrt(2) * p.scale / math.sqrt(math.pi)) * (-0.5 * (away / p.scale) ** 2).exp()
    second = away * (math.sqrt(0.5) * away / p.scale).erf()
    return -(p.scale / q.scale).log() + (first + second) / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be computed")
    ours, theirs = ops.broadcast_tensors(p.scale_tril, q.scale_tril)
    log_dets = theirs.diagonal(0, -2, -1).log().sum(-1) - ours.diagonal(0, -2, -1).log().sum(-1)
    spread = linalg.solve_triangular(theirs, ours, upper=False).square().sum((-2, -1))
    away = (q.loc - p.loc).expand(ours.shape[:-1]).unsqueeze(-1)
    distance = linalg.solve_triangular(theirs, away, upper=False).square().sum((-2, -1))
    return log_dets + 0.5 * (spread + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be computed")
    away, half = q.loc - p.loc, 0.5 * p.event_shape[0]
    if isinstance(q, MultivariateNormal):
        # What is left of p's factor and diagonal once q's root is divided out.
        n = p.event_shape[0]
        batch = tuple(broadcast_shapes(away.shape[:-1], p.batch_shape, q.batch_shape))
        parts = (p.cov_factor, p.cov_diag.sqrt().diag_embed(), away.unsqueeze(-1))
        whole = ops.cat([part.expand((*batch, *part.shape[-2:])) for part in parts], -1)
        left = linalg.solve_triangular(q.scale_tril.expand((*batch, n, n)), whole, upper=False)
        spread = left.square().sum((-2, -1))
        log_det = q.scale_tril.diagonal(0, -2, -1).log().sum(-1)
        divergence: Tensor = log_det - p._half_log_det() + 0.5 * spread - half
        return divergence
    # By Woodbury's identity: q's inverse is that of its diagonal, less a square of few rows.
    few = linalg.solve_triangular(q._small(), (q.cov_factor / q.cov_diag.unsqueeze(-1)).mT, upper=False)
    if isinstance(p, MultivariateNormal):
        spread = (p.variance / q.cov_diag).sum(-1) - (few @ p.scale_tril).square().sum((-2, -1))
        ours = p.scale_tril.diagonal(0, -2, -1).log().sum(-1)
    else:
        less = (few @ p.cov_factor).square().sum((-2, -1)) + (few.square() * p.cov_diag.unsqueeze(-2)).sum((-2, -1))
        spread, ours = (p.variance / q.cov_diag).sum(-1) - less, p._half_log_det()
    divergence = q._half_log_det() - ours + 0.5 * (spread + q.distance(away)) - half
    return divergence


@register_kl(Wishart, Wishart)
def _wishart(p: Wishart, q: Wishart) -> Tensor:
    n = p.event_shape[0]
    log_dets = q._half_log_det() - p._half_log_det()
    trace = (q.precision_matrix * p.covariance_matrix).sum((-2, -1))
    gammas = multigammaln(q.df / 2, n) - multigammaln(p.df / 2, n)
    return q.df * log_dets + p.df / 2 * (trace - n) + gammas + (p.df - q.df) / 2 * p.digammas()


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """What one map does to both does not change how far they are apart."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL(p || q) of transformed distributions is implemented for the same transforms and event shapes alone")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(InverseGamma, InverseGamma)
def _inverse_gamma(p: InverseGamma, q: InverseGamma) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


# The others are −H(p) − E_p[log q], by moments of p.


def _mean_log(p: Any) -> Tensor:
    """The expected logarithm of positive numbers."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low: Tensor, high: Tensor) -> Tensor:
    """The mean of the logarithm from one number to another, neither below 0."""
    return (ops.xlogy(high, high) - ops.xlogy(low, low)) / (high - low) - 1


def _mean_power(p: Any, scale: Tensor) -> Tensor:
    """The expected `e^(−x / scale)`."""
    if isinstance(p, Exponential):
        return p.rate * scale / (1 + p.rate * scale)
    if isinstance(p, Gamma):
        return (1 + 1 / (p.rate * scale)) ** -p.concentration
    if isinstance(p, Normal):
        return (-p.loc / scale + 0.5 * (p.scale / scale) ** 2).exp()
    between: Tensor = scale / (p.high - p.low) * ((-p.low / scale).exp() - (-p.high / scale).exp())
    return between


def _ends(p: Any) -> tuple[Any, Any]:
    """Where it lies: from, to."""
    if isinstance(p, (Beta, ContinuousBernoulli)):
        return 0.0, 1.0
    if isinstance(p, Uniform):
        return p.low, p.high
    if isinstance(p, Pareto):
        return p.scale, math.inf
    return (0.0, math.inf) if isinstance(p, (Exponential, Gamma)) else (-math.inf, math.inf)


def _within(p: Any, q: Any, result: Tensor) -> Tensor:
    """Infinite where p lies in part where q does not."""
    (low, high), (least, most) = _ends(p), _ends(q)
    outside: Any = (low < least) | (high > most)
    if isinstance(outside, bool):
        return result + math.inf if outside else result
    return where(outside, math.inf, result)


_p: type
_q: type
for _p in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform):

    @register_kl(_p, Normal)
    def _to_normal(p: Any, q: Normal) -> Tensor:
        spread = (p.variance + (p.mean - q.loc) ** 2) / (2 * q.scale**2)
        divergence: Tensor = q.scale.log() + 0.5 * math.log(2 * math.pi) + spread - p.entropy()
        return divergence


for _p in (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform):

    @register_kl(_p, Exponential)
    def _to_exponential(p: Any, q: Exponential) -> Tensor:
        return _within(p, q, q.rate * p.mean - q.rate.log() - p.entropy())


for _p in (Beta, Exponential, Pareto, Uniform):

    @register_kl(_p, Gamma)
    def _to_gamma(p: Any, q: Gamma) -> Tensor:
        a, b = q.concentration, q.rate
        return _within(p, q, a.lgamma() - a * b.log() - (a - 1) * _mean_log(p) + b * p.mean - p.entropy())


for _p in (Exponential, Gamma, Normal, Uniform):

    @register_kl(_p, Gumbel)
    def _to_gumbel(p: Any, q: Gumbel) -> Tensor:
        away = (p.mean - q.loc) / q.scale
        divergence: Tensor = q.scale.log() + away + (q.loc / q.scale).exp() * _mean_power(p, q.scale) - p.entropy()
        return divergence


for _p in (Beta, ContinuousBernoulli):

    @register_kl(_p, Uniform)
    def _to_uniform(p: Any, q: Uniform) -> Tensor:
        return _within(p, q, (q.high - q.low).log() - p.entropy())


for _p in (Beta, ContinuousBernoulli, Uniform):

    @register_kl(_p, ContinuousBernoulli)
    def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
        return _within(p, q, -p.mean * q.logits - (-q.probs).log1p() - q._log_factor() - p.entropy())


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    # Where it lies beyond, whatever is computed is left.
    fits = (p.low >= 0) & (p.high <= 1)
    low, high = p.low.where(fits, 0.0), p.high.where(fits, 1.0)
    one, other = _mean_log_between(low, high), _mean_log_between(1 - high, 1 - low)
    return _within(p, q, q._normalizer() - (q.concentration1 - 1) * one - (q.concentration0 - 1) * other - p.entropy())


@register_kl(Uniform, Pareto)
@register_kl(Pareto, Pareto)
def _to_pareto(p: Any, q: Pareto) -> Tensor:
    return _within(p, q, (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log() - p.entropy())


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - p.probs * q.rate.log() - p.entropy()


# What lies in part where the other does not.
_OUTSIDE: list[tuple[type, tuple[type, ...]]] = [
    (Beta, (Pareto,)),
    (ContinuousBernoulli, (Pareto,)),
    (Exponential, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, (Bernoulli, Binomial)),
]


def _infinite(p: Distribution, q: Distribution) -> Tensor:
    return p.mean.new_full(tuple(broadcast_shapes(p.batch_shape, q.batch_shape)), math.inf)


for _p, _others in _OUTSIDE:
    for _q in _others:
        register_kl(_p, _q)(_infinite)


__getattr__ = _Lazy(__name__)
