"""Distributions that are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .._micrograd_rs import Tensor
from .._size import Size
from ..autograd import no_grad
from . import constraints
from .constraints import Constraint
from .continuous import Normal, uniform
from .discrete import Bernoulli, Categorical
from .distribution import Distribution, tensors
from .transforms import ComposeTransform, ExpTransform, SigmoidTransform, StickBreakingTransform, Transform


class Independent(Distribution):
    """A distribution whose last axes of the batch are taken for axes of the event: densities are multiplied along them.

    Arguments:
        base_distribution: the distribution
        reinterpreted_batch_ndims: how many axes

    >>> d = mg.distributions.Independent(mg.distributions.Normal(mg.zeros(4, 3), mg.ones(4, 3)), 1)
    >>> d.batch_shape, d.event_shape, d.log_prob(mg.zeros(4, 3)).shape
    ((4,), (3,), (4,))
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        cut = len(batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.has_rsample = base_distribution.has_rsample
        self.has_enumerate_support = base_distribution.has_enumerate_support and not reinterpreted_batch_ndims
        super().__init__(batch[:cut], (*batch[cut:], *base_distribution.event_shape), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        inner = self._event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *inner))
        return Independent(base, self.reinterpreted_batch_ndims, validate_args=False)

    def _summed(self, t: Tensor) -> Tensor:
        return _summed(t, self.reinterpreted_batch_ndims)

    @property
    def support(self) -> Constraint:
        return constraints.independent(self.base_dist.support, self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self._summed(self.base_dist.entropy())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Independent: values of several axes are not enumerated")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamily(Distribution):
    """A choice by `mixture_distribution` among the last axis of a batch of distributions.

    Arguments:
        mixture_distribution: a `Categorical`
        component_distribution: the distributions, as many as there are classes along the last axis of their batch

    >>> which, what = mg.distributions.Categorical(mg.tensor([0.25, 0.75])), mg.distributions.Normal(mg.tensor([0.0, 4.0]), 1.0)
    >>> mg.distributions.MixtureSameFamily(which, what).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError("The Mixture distribution needs to be an instance of Categorical")
        batch = component_distribution.batch_shape
        if mixture_distribution.param_shape[-1] != batch[-1]:
            raise ValueError("`mixture_distribution component` does not equal to `component_distribution.batch_shape[-1]`")
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        self._axes = len(component_distribution.event_shape)
        super().__init__(batch[:-1], component_distribution.event_shape, validate_args)

    @property
    def support(self) -> Constraint:
        return self.component_distribution.support

    def _shares(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1,) * self._axes))

    @property
    def mean(self) -> Tensor:
        return (self._shares() * self.component_distribution.mean).sum(-1 - self._axes)

    @property
    def variance(self) -> Tensor:
        means = self.component_distribution.mean
        within = (self._shares() * self.component_distribution.variance).sum(-1 - self._axes)
        away = (means - self.mean.unsqueeze(-1 - self._axes)) ** 2
        return within + (self._shares() * away).sum(-1 - self._axes)

    def cdf(self, value: Tensor) -> Tensor:
        below = self.component_distribution.cdf(value.unsqueeze(-1 - self._axes))
        return (below * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        each = self.component_distribution.log_prob(value.unsqueeze(-1 - self._axes))
        return (each + self.mixture_distribution.logits).logsumexp(-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            which = self.mixture_distribution.sample(sample_shape)
            all_of = self.component_distribution.sample(sample_shape)
            axis = len(which.shape)
            at = which.reshape((*which.shape, *(1,) * (self._axes + 1)))
            at = at.expand((*which.shape, 1, *self._event_shape))
            return all_of.gather(axis, at).squeeze(axis)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


def _summed(t: Tensor, axes: int) -> Tensor:
    return t.sum(tuple(range(-axes, 0))) if axes else t


class TransformedDistribution(Distribution):
    """What transforms make of a distribution's events, one after the other.

    Arguments:
        base_distribution: the distribution
        transforms: a transform, or a list of them

    >>> d = mg.distributions.TransformedDistribution(mg.distributions.Normal(0.0, 1.0), mg.distributions.ExpTransform())
    >>> d.log_prob(mg.tensor(1.0)), mg.distributions.LogNormal(0.0, 1.0).log_prob(mg.tensor(1.0))
    (tensor(-0.9189), tensor(-0.9189))
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        parts = [transforms] if isinstance(transforms, Transform) else list(transforms)
        whole = ComposeTransform(parts)
        self.transforms = parts
        self.has_rsample = base_distribution.has_rsample
        given = (*base_distribution.batch_shape, *base_distribution.event_shape)
        if len(given) < whole.domain.event_dim:
            raise ValueError(f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {given}.")
        shape = whole.forward_shape(given)
        before = whole.inverse_shape(shape)
        if before != given:
            # Parameters of transforms make the batch larger.
            base_distribution = base_distribution.expand(before[: len(before) - len(base_distribution.event_shape)])
        missing = whole.domain.event_dim - len(base_distribution.event_shape)
        self.base_dist = Independent(base_distribution, missing) if missing > 0 else base_distribution
        more = whole.codomain.event_dim - whole.domain.event_dim
        cut = len(shape) - max(whole.codomain.event_dim, len(self.base_dist.event_shape) + more)
        super().__init__(shape[:cut], shape[cut:], validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self.__class__.__new__(self.__class__)
        new.__dict__.update(self.__dict__)
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape((*batch_shape, *self._event_shape))
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new._batch_shape = Size(batch_shape)
        return new

    @property
    def support(self) -> Constraint:
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        missing = len(self._event_shape) - last.event_dim
        return constraints.independent(last, missing) if missing > 0 else last

    def _moved(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._moved(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._moved(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        axes, y = len(self._event_shape), value
        total: Tensor | None = None
        for transform in reversed(self.transforms):
            x = transform.undo(y)
            axes += transform.domain.event_dim - transform.codomain.event_dim
            piece = _summed(transform.log_abs_det_jacobian(x, y), axes - transform.domain.event_dim)
            total = piece if total is None else total + piece
            y = x
        base = _summed(self.base_dist.log_prob(y), axes - len(self.base_dist.event_shape))
        return base if total is None else base - total

    def _below(self, value: Tensor) -> Tensor:
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        below: Tensor = sign * (value - 0.5) + 0.5
        return below

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.undo(value)
        return self._below(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._moved(self.base_dist.icdf(self._below(value)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.transforms})"


class LogNormal(TransformedDistribution):
    """Numbers whose logarithms are normal, of mean `loc` and deviation `scale`.

    >>> d = mg.distributions.LogNormal(mg.tensor(0.0), mg.tensor(1.0))
    >>> d.mean, d.cdf(mg.tensor(1.0))
    (tensor(1.6487), tensor(0.5000))

    Arguments:
        loc: the mean of the logarithms: a number, or a tensor that broadcasts with `scale`
        scale: the standard deviation of the logarithms, above 0: a number, or a tensor
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = Normal.arg_constraints

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm."""
        loc: Tensor = getattr(self.base_dist, "loc")
        return loc

    @property
    def scale(self) -> Tensor:
        """The deviation of the logarithm."""
        scale: Tensor = getattr(self.base_dist, "scale")
        return scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale**2).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale**2
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Probabilities of `k + 1` classes: `k` normal numbers, of mean `loc` and deviation `scale`, say what part of the rest of a stick each takes
    (`StickBreakingTransform`).

    >>> d = mg.distributions.LogisticNormal(mg.zeros(2), mg.ones(2))
    >>> x = d.sample()
    >>> x.shape, round(x.sum().item(), 4)
    ((3,), 1.0)

    Arguments:
        loc: the means of the normal numbers, `[…, k]`
        scale: their standard deviations, above 0, in a shape that broadcasts with that of `loc`
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = Normal.arg_constraints

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base: Distribution = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def _normal(self) -> Any:
        return getattr(self.base_dist, "base_dist")

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        loc: Tensor = self._normal.loc
        return loc

    @property
    def scale(self) -> Tensor:
        """Their deviations."""
        scale: Tensor = self._normal.scale
        return scale


class _LogisticNoise(Distribution):
    """Logits with logistic noise, divided by a temperature."""

    has_rsample = True

    def __init__(self, temperature: Tensor, logits: Tensor) -> None:
        self.temperature, self.logits = temperature, logits
        super().__init__(logits.shape)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        shape = tuple(batch_shape)
        return _LogisticNoise(self.temperature.expand(shape), self.logits.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = uniform(self.logits, self._extended_shape(sample_shape))
        return (u.log() - (-u).log1p() + self.logits) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        away = self.logits - value * self.temperature
        return self.temperature.log() + away - 2 * away.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that a low `temperature` drives to the ends: Maddison et al., 2017; Jang et al., 2017.

    Arguments:
        temperature: how soft it is
        probs, logits: the probability, or its logarithmic odds: one of the two

    >>> x = mg.distributions.RelaxedBernoulli(mg.tensor(0.5), probs=mg.tensor([0.3, 0.7])).rsample()
    >>> bool(((0 <= x) & (x <= 1)).all())
    True
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = Bernoulli.arg_constraints

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        choice = Bernoulli(probs, logits, validate_args)
        self.temperature, noise = tensors(temperature, choice.logits)
        super().__init__(_LogisticNoise(self.temperature, noise), SigmoidTransform(), validate_args)
        self._choice = choice

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = super().expand(batch_shape)
        new._choice = self._choice.expand(batch_shape)
        new.temperature = self.temperature.expand(tuple(batch_shape))
        return new

    @property
    def probs(self) -> Tensor:
        """The probability of 1."""
        return self._choice.probs

    @property
    def logits(self) -> Tensor:
        """Its logarithmic odds."""
        return self._choice.logits


class RelaxedOneHotCategorical(Distribution):
    """Probabilities of classes that a low `temperature` drives to a choice (Gumbel's softmax): Jang et al., 2017.

    Arguments:
        temperature: how soft it is
        probs, logits: the probabilities, made to sum to 1, or their logarithms: one of the two

    >>> x = mg.distributions.RelaxedOneHotCategorical(mg.tensor(0.5), probs=mg.tensor([0.3, 0.7])).rsample()
    >>> round(x.sum().item(), 4)
    1.0
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = Categorical.arg_constraints

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._choice = Categorical(probs, logits, validate_args)
        self.temperature = temperature
        shape = self._choice.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self.__class__.__new__(self.__class__)
        new.__dict__.update(self.__dict__)
        new._choice = self._choice.expand(batch_shape)
        new._batch_shape = Size(batch_shape)
        return new

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._choice.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._choice.logits

    @property
    def support(self) -> Constraint:
        return constraints.simplex

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = uniform(self.logits, self._extended_shape(sample_shape))
        moved: Tensor = (self.logits - (-u.log()).log()) / self.temperature
        return moved.softmax(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        k = self._event_shape[0]
        t = self.temperature if isinstance(self.temperature, Tensor) else value.new_full((), float(self.temperature))
        logs = value.log()
        score = (self.logits - logs * t).log_softmax(-1).sum(-1)
        scale = value.new_full((), float(k)).lgamma() + (k - 1) * t.log()
        density: Tensor = score + scale - logs.sum(-1)
        return density
