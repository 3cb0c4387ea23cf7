"""How far one distribution is from another: the expected logarithm of the ratio of their densities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _ops as ops
from .. import linalg
from .._micrograd_rs import Tensor, where
from .._names import Lazy as _Lazy
from .composed import Independent
from .continuous import Beta, Cauchy, Exponential, Gamma, Gumbel, HalfCauchy, HalfNormal, Laplace, Normal, Uniform, Weibull, EULER
from .composed import LogNormal
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution
from .multivariate import Dirichlet, MultivariateNormal

__all__ = ["kl_divergence", "register_kl"]

_Formula = Callable[[Any, Any], Tensor]
_FORMULAS: dict[tuple[type, type], _Formula] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_Formula], _Formula]:
    """Makes a function the one by which `kl_divergence` computes what it is for two classes, and for what is derived of them."""

    def decorate(formula: _Formula) -> _Formula:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """`E_p[log p(x) − log q(x)]`, for each of the batch. NotImplementedError for classes that there is no formula for."""
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
    return -ratio.log() - away + ratio * EULER + (-away + (1 + ratio).lgamma()).exp() - (1 + EULER)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), math.inf, result)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Uniform, q: Normal) -> Tensor:
    common = p.high - p.low
    first = (math.sqrt(2 * math.pi) * q.scale / common).log()
    return first + 0.5 * (common**2 / 12 + ((p.high + p.low - 2 * q.loc) / 2) ** 2) / q.scale**2


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


__getattr__ = _Lazy(__name__)
