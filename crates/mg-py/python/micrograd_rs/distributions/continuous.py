"""Distributions of single numbers with a density."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from .. import _ops as ops
from .._dtypes import finfo
from .._micrograd_rs import Tensor, where, zeros
from . import constraints
from .constraints import Constraint
from .distribution import Centred, Elementwise, ExponentialFamily

_REAL, _POSITIVE = constraints.real, constraints.positive
EULER = 0.57721566490153286


def standard_normal(like: Tensor, shape: Sequence[int]) -> Tensor:
    """Normal random numbers in another tensor's dtype and on its device."""
    return ops.randn(tuple(shape), dtype=like.dtype, device=like.device)


def uniform(like: Tensor, shape: Sequence[int]) -> Tensor:
    """Uniform random numbers above 0 and below 1 in another tensor's dtype and on its device."""
    half = finfo(like.dtype).eps / 2
    return ops.rand(tuple(shape), dtype=like.dtype, device=like.device).clamp(half, 1 - half)


class _LocationScale(Centred, Elementwise):
    """A distribution that is moved to `loc` and widened by `scale`.

    Arguments:
        loc: where its middle lies: a number, or a tensor that broadcasts with `scale`
        scale: how wide it is, above 0: a number, or a tensor
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": _REAL, "scale": _POSITIVE}
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, loc=loc, scale=scale)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(uniform(self.loc, self._extended_shape(sample_shape)))


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution of mean `loc` and standard deviation `scale`.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs.distributions import Normal
    >>> round(Normal(0.0, 1.0).log_prob(mg.tensor(1.0)).item(), 4)
    -1.4189

    Arguments:
        loc: the mean: a number, or a tensor that broadcasts with `scale`
        scale: the standard deviation, above 0: a number, or a tensor
    """

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.square()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.loc + standard_normal(self.loc, self._extended_shape(sample_shape)) * self.scale

    def _log_prob(self, value: Tensor) -> Tensor:
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def _cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + ((value - self.loc) / (self.scale * math.sqrt(2))).erf())

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Uniform(Elementwise):
    """Equally likely numbers from `low` up to `high`.

    >>> d = mg.distributions.Uniform(mg.tensor(0.0), mg.tensor(4.0))
    >>> d.mean, d.log_prob(mg.tensor(1.0)).exp()
    (tensor(2.), tensor(0.2500))

    Arguments:
        low: the least number: a number, or a tensor that broadcasts with `high`
        high: where numbers end, above `low`: a number, or a tensor
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"low": _REAL, "high": _REAL}
    low: Tensor
    high: Tensor

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, low=low, high=high)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low >= high")

    @property
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.low + self.high) / 2

    @property
    def mode(self) -> Tensor:
        return self.low * math.nan

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = ops.rand(tuple(self._extended_shape(sample_shape)), dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def _log_prob(self, value: Tensor) -> Tensor:
        inside = (self.low <= value) & (value < self.high)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def _cdf(self, value: Tensor) -> Tensor:
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class Laplace(_LocationScale):
    """Two exponential distributions of the mean `scale`, back to back at `loc`.

    >>> d = mg.distributions.Laplace(mg.tensor(0.0), mg.tensor(1.0))
    >>> d.log_prob(mg.tensor([0.0, 1.0])).exp()
    tensor([0.5000, 0.1839])
    """

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale**2

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = 2 * uniform(self.loc, self._extended_shape(sample_shape)) - 1
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def _log_prob(self, value: Tensor) -> Tensor:
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def _cdf(self, value: Tensor) -> Tensor:
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_LocationScale):
    """Cauchy's distribution about `loc`, half of which lies within `scale`. It has no mean.

    Arguments:
        loc, scale: the middle, and how wide it is

    >>> d = mg.distributions.Cauchy(mg.tensor(0.0), mg.tensor(1.0))
    >>> d.cdf(mg.tensor([-1.0, 1.0]))
    tensor([0.2500, 0.7500])
    """

    @property
    def mean(self) -> Tensor:
        return self.loc * math.nan

    @property
    def variance(self) -> Tensor:
        return self.loc * 0 + math.inf

    def _log_prob(self, value: Tensor) -> Tensor:
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def _cdf(self, value: Tensor) -> Tensor:
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class Exponential(Elementwise, ExponentialFamily):
    """Waiting times for what happens `rate` times in a unit of time.

    Arguments:
        rate: the rate

    >>> d = mg.distributions.Exponential(mg.tensor(2.0))
    >>> d.mean, d.cdf(mg.tensor(0.5))
    (tensor(0.5000), tensor(0.6321))
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"rate": _POSITIVE}
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, rate=rate)

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return self.rate * 0

    @property
    def variance(self) -> Tensor:
        return self.rate**-2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return zeros(tuple(shape), dtype=self.rate.dtype, device=self.rate.device).exponential_() / self.rate

    def _log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * value

    def _cdf(self, value: Tensor) -> Tensor:
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()


class Gamma(Elementwise, ExponentialFamily):
    """Sums of `concentration` exponential times of a `rate`.

    Arguments:
        concentration: how many times are summed; any number above 0
        rate: their rate

    >>> d = mg.distributions.Gamma(mg.tensor(3.0), mg.tensor(2.0))
    >>> d.mean, d.variance
    (tensor(1.5000), tensor(0.7500))
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": _POSITIVE, "rate": _POSITIVE}
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, concentration=concentration, rate=rate)

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate**2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = tuple(self._extended_shape(sample_shape))
        drawn = ops.standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return drawn.clamp_min(1e-45 if drawn.itemsize == 4 else 5e-324 if drawn.itemsize == 8 else 6e-8)

    def _log_prob(self, value: Tensor) -> Tensor:
        a, b = self.concentration, self.rate
        return ops.xlogy(a, b) + ops.xlogy(a - 1, value) - b * value - a.lgamma()

    def _cdf(self, value: Tensor) -> Tensor:
        return ops.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()


class Chi2(Gamma):
    """Sums of `df` squares of standard normal numbers.

    Arguments:
        df: how many squares

    >>> mg.distributions.Chi2(mg.tensor(3.0)).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"df": _POSITIVE}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        half = 0.5 * df if isinstance(df, Tensor) else 0.5 * float(df)
        super().__init__(half, 0.5, validate_args)
        self._check_parameter("df", self.df)

    @property
    def df(self) -> Tensor:
        """The number of squares."""
        return self.concentration * 2


class Beta(Elementwise, ExponentialFamily):
    """Numbers between 0 and 1 with the density `x^(concentration1 − 1) (1 − x)^(concentration0 − 1)`, but for a factor.

    Arguments:
        concentration1, concentration0: how near they are to 1, and to 0

    >>> d = mg.distributions.Beta(mg.tensor(2.0), mg.tensor(2.0))
    >>> d.mean, d.log_prob(mg.tensor(0.5)).exp()
    (tensor(0.5000), tensor(1.5000))
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration1": _POSITIVE, "concentration0": _POSITIVE}
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, concentration1=concentration1, concentration0=concentration0)

    @property
    def support(self) -> Constraint:
        return constraints.unit_interval

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        one, other = (a - 1).clamp(min=0), (b - 1).clamp(min=0)
        # Where both ends are likelier than all between, one of them.
        return where((a < 1) & (b < 1), 1.0, one / (one + other))

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = tuple(self._extended_shape(sample_shape))
        # Of small concentrations both may be 0.
        least = finfo(self.concentration1.dtype).tiny
        one = ops.standard_gamma(self.concentration1.expand(shape)).clamp(min=least)
        other = ops.standard_gamma(self.concentration0.expand(shape)).clamp(min=least)
        return one / (one + other)

    def _normalizer(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return a.lgamma() + b.lgamma() - (a + b).lgamma()

    def _log_prob(self, value: Tensor) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return ops.xlogy(a - 1, value) + ops.xlogy(b - 1, 1 - value) - self._normalizer()

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return self._normalizer() - (a - 1) * a.digamma() - (b - 1) * b.digamma() + (a + b - 2) * (a + b).digamma()


class StudentT(Elementwise):
    """Student's distribution of `df` degrees of freedom, moved to `loc` and widened by `scale`.

    >>> mg.distributions.StudentT(mg.tensor(3.0)).variance
    tensor(3.)

    Arguments:
        df: the degrees of freedom, above 0: a number, or a tensor that broadcasts with the others
        loc: where its middle lies
        scale: how wide it is, above 0
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"df": _POSITIVE, "loc": _REAL, "scale": _POSITIVE}
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._take(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale**2 * self.df / where(self.df > 2, self.df - 2, 1.0)
        return where(self.df > 2, finite, where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        z = standard_normal(self.loc, shape)
        chi2 = 2 * ops.standard_gamma((self.df / 2).expand(tuple(shape)))
        return self.loc + self.scale * z * (self.df / chi2).sqrt()

    def _log_prob(self, value: Tensor) -> Tensor:
        y = (value - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + (0.5 * self.df).lgamma()
        z = z - (0.5 * (self.df + 1)).lgamma()
        return -0.5 * (self.df + 1) * (y**2 / self.df).log1p() - z

    def entropy(self) -> Tensor:
        half, next_half = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - (half + 0.5).lgamma()
        return self.scale.log() + next_half * (next_half.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta


class Gumbel(_LocationScale):
    """The largest of many: `loc − scale · log(−log u)` of uniform numbers.

    >>> mg.distributions.Gumbel(mg.tensor(0.0), mg.tensor(1.0)).mean
    tensor(0.5772)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def variance(self) -> Tensor:
        return (math.pi / math.sqrt(6) * self.scale) ** 2

    def _log_prob(self, value: Tensor) -> Tensor:
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def _cdf(self, value: Tensor) -> Tensor:
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)


class Weibull(Elementwise):
    """`scale` times the power `1 / concentration` of exponential times.

    >>> mg.distributions.Weibull(mg.tensor(2.0), mg.tensor(1.0)).mean
    tensor(2.)

    Arguments:
        scale: what times are multiplied by, above 0: a number, or a tensor that broadcasts with `concentration`
        concentration: the power's inverse, above 0: the larger, the less times differ
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"scale": _POSITIVE, "concentration": _POSITIVE}
    scale: Tensor
    concentration: Tensor

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, scale=scale, concentration=concentration)

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> Tensor:
        return self.scale * (1 + 1 / self.concentration).lgamma().exp()

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return where(k > 1, self.scale * ((k - 1).clamp(min=0) / k) ** (1 / k), 0.0)

    @property
    def variance(self) -> Tensor:
        first, second = (1 + 1 / self.concentration).lgamma(), (1 + 2 / self.concentration).lgamma()
        return self.scale**2 * (second.exp() - (2 * first).exp())

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = uniform(self.scale, self._extended_shape(sample_shape))
        return self.scale * (-u.log()) ** (1 / self.concentration)

    def _log_prob(self, value: Tensor) -> Tensor:
        k, scaled = self.concentration, value / self.scale
        return k.log() - self.scale.log() + (k - 1) * scaled.log() - scaled**k

    def _cdf(self, value: Tensor) -> Tensor:
        return -((-((value / self.scale) ** self.concentration)).expm1())

    def icdf(self, value: Tensor) -> Tensor:
        """The number below which a share of all lies, in the shares' shape.

        Arguments:
            value: the shares, from 0 to 1, in a shape that broadcasts with `batch_shape`
        """
        return self.scale * (-(-value).log1p()) ** (1 / self.concentration)

    def entropy(self) -> Tensor:
        k = self.concentration
        return EULER * (1 - 1 / k) + (self.scale / k).log() + 1


class _Half(Elementwise):
    """The magnitudes of a law about 0 that is widened by `scale`."""

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"scale": _POSITIVE}
    scale: Tensor

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, scale=scale)

    def _whole(self) -> Elementwise:
        """The law whose magnitudes these are."""
        raise NotImplementedError

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mode(self) -> Tensor:
        return self.scale * 0

    def _log_prob(self, value: Tensor) -> Tensor:
        return where(value >= 0, self._whole().log_prob(value) + math.log(2), -math.inf)


class HalfNormal(_Half):
    """Magnitudes of normal numbers about 0 with the deviation `scale`.

    >>> mg.distributions.HalfNormal(mg.tensor(1.0)).mean
    tensor(0.7979)

    Arguments:
        scale: the deviation of the normal numbers, above 0: a number, or a tensor
    """

    def _whole(self) -> Elementwise:
        return Normal(0.0, self.scale, False)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale**2 * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return (standard_normal(self.scale, self._extended_shape(sample_shape)) * self.scale).abs()

    def _cdf(self, value: Tensor) -> Tensor:
        return (value / (self.scale * math.sqrt(2))).erf()

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * math.sqrt(2) * value.erfinv()

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log() - math.log(2)


class HalfCauchy(_Half):
    """Magnitudes of numbers of Cauchy's distribution about 0.

    Arguments:
        scale: how wide it is

    >>> mg.distributions.HalfCauchy(mg.tensor(1.0)).cdf(mg.tensor(1.0))
    tensor(0.5000)
    """

    def _whole(self) -> Elementwise:
        return Cauchy(0.0, self.scale, False)

    @property
    def mean(self) -> Tensor:
        return self.scale * 0 + math.inf

    @property
    def variance(self) -> Tensor:
        return self.scale * 0 + math.inf

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(uniform(self.scale, self._extended_shape(sample_shape)))

    def _cdf(self, value: Tensor) -> Tensor:
        return (value / self.scale).atan() * (2 / math.pi)

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (value * (math.pi / 2)).tan()

    def entropy(self) -> Tensor:
        return math.log(2 * math.pi) + self.scale.log()
