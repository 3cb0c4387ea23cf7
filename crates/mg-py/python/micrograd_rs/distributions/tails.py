"""Distributions of single numbers that are powers, ratios and parts of others, and of angles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from .. import _ops as ops
from .. import special
from .._dtypes import finfo
from .._micrograd_rs import Tensor, where
from ..autograd import no_grad
from . import constraints
from .constraints import Constraint
from .continuous import EULER, Gamma, uniform
from .distribution import Centred, Elementwise, ExponentialFamily
from .utils import clamp_probs, logits_to_probs, probs_to_logits

_REAL, _POSITIVE = constraints.real, constraints.positive


class Pareto(Elementwise):
    """Numbers from `scale` on whose share above `x` is `(scale / x)^alpha`.

    Arguments:
        scale: where it begins
        alpha: how fast it falls

    >>> mg.distributions.Pareto(mg.tensor(1.0), mg.tensor(2.0)).cdf(mg.tensor(2.0))
    tensor(0.7500)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"alpha": _POSITIVE, "scale": _POSITIVE}
    scale: Tensor
    alpha: Tensor

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, scale=scale, alpha=alpha)

    @property
    def support(self) -> Constraint:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale**2 * a / ((a - 1) ** 2 * (a - 2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(uniform(self.scale, self._extended_shape(sample_shape)))

    def _log_prob(self, value: Tensor) -> Tensor:
        return self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * value.log()

    def _cdf(self, value: Tensor) -> Tensor:
        return -((self.alpha * (self.scale / value).log()).expm1())

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-(-value).log1p() / self.alpha).exp()

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + 1 + 1 / self.alpha


class GeneralizedPareto(Elementwise):
    """What goes beyond a threshold `loc`, by a `scale`; the tail falls as a power where `concentration` is above 0, exponentially at 0, and ends at `loc
    − scale / concentration` below.

    >>> mg.distributions.GeneralizedPareto(mg.tensor(0.0), mg.tensor(1.0), mg.tensor(0.5)).mean
    tensor(2.)

    Arguments:
        loc: the threshold: a number, or a tensor that broadcasts with the others
        scale: how far it goes beyond, above 0
        concentration: how slowly the tail falls
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": _REAL, "scale": _POSITIVE, "concentration": _REAL}
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, loc=loc, scale=scale, concentration=concentration)

    def _is_zero(self) -> Tensor:
        # So near that the powers are those of e.
        return self.concentration.abs() < finfo(self.concentration.dtype).eps

    def _power(self) -> Tensor:
        """The concentration, and 1 for those that are 0."""
        return where(self._is_zero(), 1.0, self.concentration)

    @property
    def support(self) -> Constraint:
        end = where(self.concentration < 0, self.loc - self.scale / where(self.concentration < 0, self.concentration, -1.0), math.inf)
        return constraints.interval(self.loc, end)

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        return where(k < 1, self.loc + self.scale / (1 - where(k < 1, k, 0.0)), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        k = where(self.concentration < 0.5, self.concentration, 0.0)
        return where(self.concentration < 0.5, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(uniform(self.loc, self._extended_shape(sample_shape)))

    def _survives(self, value: Tensor) -> Tensor:
        """The logarithm of the share above."""
        y, k = (value - self.loc) / self.scale, self._power()
        return where(self._is_zero(), -y, -(k * y).log1p() / k)

    def _log_prob(self, value: Tensor) -> Tensor:
        return (1 + self.concentration) * self._survives(value) - self.scale.log()

    def _cdf(self, value: Tensor) -> Tensor:
        return -(self._survives(value).expm1())

    def icdf(self, value: Tensor) -> Tensor:
        above, k = (-value).log1p(), self._power()
        return self.loc + self.scale * where(self._is_zero(), -above, (-k * above).expm1() / k)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1


class InverseGamma(Elementwise):
    """Reciprocals of what `Gamma(concentration, rate)` draws.

    Arguments:
        concentration, rate: of the gamma distribution

    >>> mg.distributions.InverseGamma(mg.tensor(3.0), mg.tensor(2.0)).mean
    tensor(1.)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": _POSITIVE, "rate": _POSITIVE}
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, concentration=concentration, rate=rate)

    @property
    def base_dist(self) -> Gamma:
        """What the reciprocals are of."""
        return Gamma(self.concentration, self.rate, validate_args=False)

    @property
    def support(self) -> Constraint:
        return _POSITIVE

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return where(a > 1, self.rate / (where(a > 1, a, 2.0) - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = where(self.concentration > 2, self.concentration, 3.0)
        return where(self.concentration > 2, self.rate**2 / ((a - 1) ** 2 * (a - 2)), math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return 1 / self.base_dist.rsample(sample_shape)

    def _log_prob(self, value: Tensor) -> Tensor:
        a, b = self.concentration, self.rate
        return a * b.log() - a.lgamma() - (a + 1) * value.log() - b / value

    def _cdf(self, value: Tensor) -> Tensor:
        return ops.igammac(self.concentration, self.rate / value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class FisherSnedecor(Elementwise):
    """Ratios of two means of squares of standard normal numbers, of `df1` and of `df2` of them.

    >>> mg.distributions.FisherSnedecor(mg.tensor(3.0), mg.tensor(6.0)).mean
    tensor(1.5000)

    Arguments:
        df1: how many squares the mean above the line is of, above 0: a number, or a tensor that broadcasts with `df2`
        df2: how many squares the mean below it is of, above 0
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"df1": _POSITIVE, "df2": _POSITIVE}
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, df1=df1, df2=df2)

    @property
    def support(self) -> Constraint:
        return _POSITIVE

    @property
    def mean(self) -> Tensor:
        n = where(self.df2 > 2, self.df2, math.nan)
        return n / (n - 2)

    @property
    def mode(self) -> Tensor:
        m = where(self.df1 > 2, self.df1, math.nan)
        return (m - 2) / m * self.df2 / (self.df2 + 2)

    @property
    def variance(self) -> Tensor:
        m, n = self.df1, where(self.df2 > 4, self.df2, math.nan)
        return 2 * n**2 * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = tuple(self._extended_shape(sample_shape))
        least = finfo(self.df1.dtype).tiny
        over = ops.standard_gamma((self.df1 / 2).expand(shape)) / self.df1
        under = ops.standard_gamma((self.df2 / 2).expand(shape)).clamp(min=least) / self.df2
        return (over / under).clamp(min=least)

    def _log_prob(self, value: Tensor) -> Tensor:
        a, b, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2
        log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
        return a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p() - log_beta


class Kumaraswamy(Elementwise):
    """Numbers from 0 to 1 whose share above `x` is `(1 − x^concentration1)^concentration0`.

    >>> mg.distributions.Kumaraswamy(mg.tensor(2.0), mg.tensor(1.0)).mean
    tensor(0.6667)

    Arguments:
        concentration1: the power of a number, above 0: a number, or a tensor that broadcasts with the other
        concentration0: the power of the rest, above 0
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

    def _moment(self, n: int) -> Tensor:
        """The mean of the `n`th power: `b · B(1 + n/a, b)`."""
        a, b = 1 + n / self.concentration1, self.concentration0
        return b * (a.lgamma() + b.lgamma() - (a + b).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        # The end at which the density is infinite is no value; where it is flat there is none.
        inside = (a >= 1) & (b >= 1) & ((a != 1) | (b != 1))
        a, b = where(inside, a, 2.0), where(inside, b, 2.0)
        return where(inside, ((a - 1) / (a * b - 1)) ** (1 / a), math.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean**2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = self.icdf(uniform(self.concentration1, self._extended_shape(sample_shape)))
        ends = finfo(drawn.dtype)
        return drawn.clamp(ends.tiny, 1 - ends.eps)

    def _log_prob(self, value: Tensor) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return a.log() + b.log() + ops.xlogy(a - 1, value) + special.xlog1py(b - 1, -(value**a))

    def _cdf(self, value: Tensor) -> Tensor:
        return -((special.xlog1py(self.concentration0, -(value**self.concentration1))).expm1())

    def icdf(self, value: Tensor) -> Tensor:
        return (-(((-value).log1p() / self.concentration0).expm1())) ** (1 / self.concentration1)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - a.log() - b.log()


class ContinuousBernoulli(Elementwise, ExponentialFamily):
    """Numbers from 0 to 1 with the density `probs^x (1 − probs)^(1 − x)`, but for a factor (Loaiza-Ganem and Cunningham, "The continuous
    Bernoulli", 2019). Of `probs` within `lims`, about ½, where the factor's formula loses all digits, a series is taken.

    Arguments:
        probs, logits: the number, or its logarithmic odds: one of the two
        lims: where a series is taken

    >>> mg.distributions.ContinuousBernoulli(mg.tensor(0.5)).mean
    tensor(0.5000)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"probs": constraints.unit_interval, "logits": _REAL}

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501), validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is None:
            self._take(validate_args, logits=logits)
        else:
            self._take(validate_args, probs=probs)
            self.__dict__["probs"] = clamp_probs(self.probs)
        self._lims = lims

    probs: Tensor
    logits: Tensor

    def __getattr__(self, name: str) -> Any:
        if name == "probs" and "logits" in self.__dict__:
            return clamp_probs(logits_to_probs(self.logits, True))
        if name == "logits" and "probs" in self.__dict__:
            return probs_to_logits(self.probs, True)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def support(self) -> Constraint:
        return constraints.unit_interval

    def _apart(self) -> tuple[Tensor, Tensor, Tensor]:
        """Which are far enough from ½, these with others made so, and how far all are."""
        probs = self.probs
        far = (probs <= self._lims[0]) | (probs > self._lims[1])
        return far, where(far, probs, self._lims[0]), probs - 0.5

    def _log_factor(self) -> Tensor:
        far, p, away = self._apart()
        # log(2 artanh(1 − 2p) / (1 − 2p)); its series in p − ½.
        exact = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        return where(far, exact, math.log(2.0) + (4 / 3 + 104 / 45 * away**2) * away**2)

    @property
    def mean(self) -> Tensor:
        far, p, away = self._apart()
        return where(far, p / (2 * p - 1) + 1 / ((-p).log1p() - p.log()), 0.5 + (1 / 3 + 16 / 45 * away**2) * away)

    @property
    def variance(self) -> Tensor:
        far, p, away = self._apart()
        exact = p * (p - 1) / (1 - 2 * p) ** 2 + 1 / ((-p).log1p() - p.log()) ** 2
        return where(far, exact, 1 / 12 - (1 / 15 - 128 / 945 * away**2) * away**2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(uniform(self.probs, self._extended_shape(sample_shape)))

    def _log_prob(self, value: Tensor) -> Tensor:
        return value * self.logits + (-self.probs).log1p() + self._log_factor()

    def _cdf(self, value: Tensor) -> Tensor:
        far, p, _ = self._apart()
        exact = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        return where(value <= 0, 0.0, where(value >= 1, 1.0, where(far, exact, value)))

    def icdf(self, value: Tensor) -> Tensor:
        far, p, _ = self._apart()
        exact = ((-p + value * (2 * p - 1)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return where(far, exact, value)

    def entropy(self) -> Tensor:
        return -(self.mean * self.logits + (-self.probs).log1p() + self._log_factor())


class VonMises(Centred, Elementwise):
    """Angles about `loc`, in radians from −π to π, the nearer the larger `concentration` is. `variance` is the circular one, `1 − I₁/I₀`.

    Samples are drawn by Best and Fisher's rejection ("Efficient simulation of the von Mises distribution", 1979), which reads values: not within a
    step that is recorded.

    >>> mg.distributions.VonMises(mg.tensor(0.0), mg.tensor(4.0)).variance
    tensor(0.1365)

    Arguments:
        loc: the angle in the middle: a number, or a tensor that broadcasts with `concentration`
        concentration: how near to it angles lie, above 0
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": _REAL, "concentration": _POSITIVE}
    concentration: Tensor

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, loc=loc, concentration=concentration)

    @property
    def variance(self) -> Tensor:
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)

    def _log_prob(self, value: Tensor) -> Tensor:
        k = self.concentration
        # I₀(k) is i0e(k) eᵏ.
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - special.i0e(k).log()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = tuple(self._extended_shape(sample_shape))
        with no_grad():
            # In float64: of a small concentration the proposal's parameter is a difference of near numbers.
            loc, k = (t.detach().double().expand(shape) for t in (self.loc, self.concentration))
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            # Of small concentrations nearly 1 / k, as of the exact formula.
            r = where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
            angle, done = loc * 0, k < 0
            while not bool(done.all()):
                u = ops.rand((3, *shape), dtype=loc.dtype, device=loc.device)
                z = (math.pi * u[0]).cos()
                f = ((1 + r * z) / (r + z)).clamp(-1, 1)
                c = k * (r - f)
                kept = (c * (2 - c) > u[1]) | ((c / u[1]).log() + 1 - c >= 0)
                angle = where(kept & ~done, (u[2] - 0.5).sign() * f.acos(), angle)
                done = done | kept
            return ((angle + loc + math.pi) % (2 * math.pi) - math.pi).to(self.loc.dtype)
