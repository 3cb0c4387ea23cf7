"""Distributions of whole numbers, and of choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from .. import _ops as ops
from .._micrograd_rs import Generator, Tensor, arange, where, zeros
from .._micrograd_rs import dtype as DType
from .._nn_ops import binary_cross_entropy_with_logits, log_softmax, one_hot, softmax, softplus
from .._size import Size
from ..autograd import no_grad
from . import constraints
from .constraints import Constraint
from .continuous import uniform
from .distribution import Distribution, Elementwise, ExponentialFamily, tensors


def _clamped(probs: Tensor) -> Tensor:
    eps = 2.0**-23 if probs.itemsize == 4 else 2.0**-52 if probs.itemsize == 8 else 2.0**-10
    return probs.clamp(eps, 1 - eps)


class _Trials(Elementwise):
    """What is told by a probability, or by its logit."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _take_one(self, probs: Any, logits: Any, validate_args: bool | None, *others: Any) -> list[Tensor]:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = tensors(logits if probs is None else probs, *others)
        self.__dict__["logits" if probs is None else "probs"] = given[0]
        Distribution.__init__(self, given[0].shape, (), validate_args)
        return given

    @property
    def _given(self) -> Tensor:
        given: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return given

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return Size(self._given.shape)

    def __getattr__(self, name: str) -> Any:
        # The other of the two is computed when it is asked for.
        if name == "probs":
            return self.__dict__["logits"].sigmoid()
        if name == "logits":
            probs = _clamped(self.__dict__["probs"])
            return probs.log() - (-probs).log1p()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    probs: Tensor
    logits: Tensor


class Bernoulli(_Trials, ExponentialFamily):
    """1 with the probability `probs` (whose logarithmic odds are `logits`), else 0.

    Arguments:
        probs, logits: the probabilities, or their logarithms (of one probability: its logarithmic odds): one of the two

    >>> coin = mg.distributions.Bernoulli(mg.tensor([0.25]))
    >>> coin.mean, coin.log_prob(mg.tensor([1.0])).exp()
    (tensor([0.2500]), tensor([0.2500]))
    """

    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_one(probs, logits, validate_args)

    @property
    def support(self) -> Constraint:
        return constraints.boolean

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return (self.probs >= 0.5).to(self._given.dtype).masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self.probs.expand(tuple(self._extended_shape(sample_shape))).bernoulli()

    def _log_prob(self, value: Tensor) -> Tensor:
        logits, value = ops.broadcast_tensors(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(2, dtype=self._given.dtype, device=self._given.device).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Geometric(_Trials):
    """How many trials fail before the first of probability `probs` succeeds.

    Arguments:
        probs, logits: the probabilities, or their logarithms (of one probability: its logarithmic odds): one of the two

    >>> d = mg.distributions.Geometric(mg.tensor(0.25))
    >>> d.mean, d.log_prob(mg.tensor(0.0)).exp()
    (tensor(3.), tensor(0.2500))
    """

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_one(probs, logits, validate_args)

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return self.probs * 0

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            u = uniform(self._given, self._extended_shape(sample_shape))
            return (u.log() / (-self.probs).log1p()).floor()

    def _log_prob(self, value: Tensor) -> Tensor:
        value, probs = ops.broadcast_tensors(value, self.probs)
        # At a probability of 1 there is no failure, and 0 · ∞ is none.
        certain = (probs == 1) & (value == 0)
        return value * (-probs.masked_fill(certain, 0)).log1p() + probs.log()

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


#: Trials that are made one by one.
_FEW = 64


def _largest(count: Tensor) -> int:
    return int(count.max().item()) if count.numel() else 0


def successes(
    count: Tensor, probs: Tensor, most: int, shape: tuple[int, ...], dtype: DType, generator: Generator | None = None
) -> Tensor:
    """How many of `count` trials succeed, of which there are `most` at most: numbers of the binomial distribution in a shape."""
    if most <= _FEW:
        return _tried(count, probs, most, shape, dtype, generator)
    # Trials are uniform numbers below the probability. The middle one of them in order is of a beta distribution, and tells of half of the
    # trials on which side they are: Relles, "A simple algorithm for generating binomial random variables when N is large", 1972.
    left, probs = count.expand(shape).double(), probs.expand(shape).double()
    found = left * 0
    while most > _FEW:
        middle = (left / 2).floor() + 1
        # Where no trial is left there is no middle one either.
        below = ops.standard_gamma(middle, generator=generator)
        above = ops.standard_gamma((left + 1 - middle).clamp(min=1), generator=generator)
        x = below / (below + above)
        has_any, succeeds = left > 0, x <= probs
        found = where(has_any & succeeds, found + middle, found)
        rest = where(succeeds, left - middle, middle - 1)
        left = where(has_any, rest, left)
        probs = where(succeeds, (probs - x) / (1 - x), probs / x)
        most //= 2
    return found.to(dtype) + _tried(left, probs, most, shape, dtype, generator)


def binomial_of(count: Tensor, prob: Tensor, generator: Generator | None) -> Tensor:
    """`micrograd_rs.binomial`."""
    with no_grad():
        given, number = tensors(prob, count)
        # Fewer than none of them are none, as in PyTorch.
        number = number.clamp(min=0)
        return successes(number, given, _largest(number), tuple(given.shape), given.dtype, generator).to(count.dtype)


def _tried(
    count: Tensor, probs: Tensor, most: int, shape: tuple[int, ...], dtype: DType, generator: Generator | None
) -> Tensor:
    """Trials made one by one, as many as the largest count asks for; those of smaller counts stop earlier."""
    trials = ops.rand((most, *shape), dtype=dtype, device=probs.device, generator=generator) < probs
    number = arange(most, dtype=dtype, device=probs.device).view(-1, *(1,) * len(shape))
    return (trials & (number < count)).sum(0).to(dtype)


class Binomial(_Trials):
    """How many of `total_count` trials succeed.

    Arguments:
        total_count: how many trials there are
        probs, logits: the probability, or its logarithmic odds: one of the two

    >>> d = mg.distributions.Binomial(10, mg.tensor(0.5))
    >>> d.mean, d.log_prob(mg.tensor(5.0)).exp()
    (tensor(5.), tensor(0.2461))
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"total_count": constraints.nonnegative_integer, **_Trials.arg_constraints}
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._most = total_count if isinstance(total_count, int) else None
        given = self._take_one(probs, logits, validate_args, total_count)
        self.total_count = given[1]
        self._check_parameter("total_count", self.total_count)

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            shape = tuple(self._extended_shape(sample_shape))
            most = _largest(self.total_count) if self._most is None else self._most
            return successes(self.total_count, self.probs, most, shape, self._given.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        n, logits = self.total_count, self.logits
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return value * logits + ways - n * softplus(logits)

    def entropy(self) -> Tensor:
        log_probs = self.log_prob(self.enumerate_support(False))
        return -(log_probs.exp() * log_probs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        most = _largest(self.total_count) if self._most is None else self._most
        if not bool((self.total_count == most).all()):
            raise NotImplementedError("events of several total counts are of several numbers")
        values = arange(1 + most, dtype=self._given.dtype, device=self._given.device).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class NegativeBinomial(_Trials):
    """How many trials of probability `probs` succeed before `total_count` fail.

    Arguments:
        total_count: how many failures
        probs, logits: the probability, or its logarithmic odds: one of the two

    >>> mg.distributions.NegativeBinomial(3.0, mg.tensor(0.5)).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.nonnegative,
        **_Trials.arg_constraints,
        "probs": constraints.half_open_interval(0.0, 1.0),
    }

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = self._take_one(probs, logits, validate_args, total_count)
        self.total_count = given[1]
        self._check_parameter("total_count", self.total_count)

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            shape = tuple(self._extended_shape(sample_shape))
            rate = ops.standard_gamma(self.total_count.expand(shape)) * self.logits.exp()
            return ops.poisson(rate)

    def _log_prob(self, value: Tensor) -> Tensor:
        n, logits = self.total_count, self.logits
        plain = -(n * softplus(logits)) - value * softplus(-logits)
        return plain + (n + value).lgamma() - (1 + value).lgamma() - n.lgamma()


class Poisson(Elementwise, ExponentialFamily):
    """How often something happens that happens `rate` times on average.

    Arguments:
        rate: the mean

    >>> d = mg.distributions.Poisson(mg.tensor(4.0))
    >>> d.variance, d.log_prob(mg.tensor(0.0))
    (tensor(4.), tensor(-4.))
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"rate": constraints.nonnegative}
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, rate=rate)

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return ops.poisson(self.rate.expand(tuple(self._extended_shape(sample_shape))))

    def _log_prob(self, value: Tensor) -> Tensor:
        return ops.xlogy(value, self.rate) - self.rate - (value + 1).lgamma()


class Categorical(Distribution):
    """One of some classes, numbered from 0, with the probabilities `probs` along the last axis (made to sum to 1), or those of `logits`.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs.distributions import Categorical
    >>> choice = Categorical(mg.tensor([0.25, 0.75]))
    >>> round(choice.log_prob(mg.tensor(1)).exp().item(), 4)
    0.75

    Arguments:
        probs, logits: the probabilities, or their logarithms (of one probability: its logarithmic odds): one of the two
    """

    has_enumerate_support = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given: Tensor = probs if logits is None else logits
        if not isinstance(given, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{type(self).__name__} takes `{'probs' if logits is None else 'logits'}` as a tensor, got {type(given).__name__}")
        if given.dim() < 1:
            raise ValueError(f"`{'probs' if logits is None else 'logits'}` parameter must be at least one-dimensional.")
        if logits is None:
            self.__dict__["probs"] = given / given.sum(-1, keepdim=True)
        else:
            self.__dict__["logits"] = log_softmax(given, -1)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], (), validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "probs":
            return softmax(self.__dict__["logits"], -1)
        if name == "logits":
            return _clamped(self.__dict__["probs"]).log()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    probs: Tensor
    logits: Tensor

    @property
    def _given(self) -> Tensor:
        given: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return given

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return Size(self._given.shape)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self.__class__.__new__(self.__class__)
        new.__dict__.update(self.__dict__)
        for name in ("probs", "logits"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand((*batch_shape, self._num_events))
        new._batch_shape = Size(batch_shape)
        return new

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return self.probs[..., 0] * math.nan

    @property
    def mode(self) -> Tensor:
        return self._given.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return self.probs[..., 0] * math.nan

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            count = math.prod(sample_shape)
            rows = self.probs.reshape(-1, self._num_events)
            drawn = ops.multinomial(rows, count, True).T
            return drawn.reshape(tuple(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        shape = ops.broadcast_tensors(value[..., 0], self._given[..., 0])[0].shape
        logits = self.logits.expand((*shape, self._num_events))
        return logits.gather(-1, value.expand((*shape, 1))).squeeze(-1)

    def entropy(self) -> Tensor:
        lowest = -3.4028234663852886e38 if self._given.itemsize == 4 else -1.7976931348623157e308 if self._given.itemsize == 8 else -65504.0
        logits = self.logits.clamp(min=lowest)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(self._num_events, device=self._given.device).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class _OfClasses(Distribution):
    """What has an event with a number for each class of a `Categorical`."""

    arg_constraints: ClassVar[dict[str, Constraint]] = Categorical.arg_constraints

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self.__class__.__new__(self.__class__)
        new.__dict__.update(self.__dict__)
        new._categorical = self._categorical.expand(batch_shape)
        new._batch_shape = Size(batch_shape)
        return new

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._categorical.param_shape

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits


class OneHotCategorical(_OfClasses):
    """As `Categorical`, with an event of zeros and a one where the class is.

    Arguments:
        probs, logits: the probabilities, or their logarithms (of one probability: its logarithmic odds): one of the two

    >>> mg.distributions.OneHotCategorical(mg.tensor([0.0, 1.0])).sample()
    tensor([0., 1.])
    """

    has_enumerate_support = True

    @property
    def support(self) -> Constraint:
        return constraints.one_hot

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(-1), self._event_shape[0]).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return one_hot(self._categorical.sample(sample_shape), self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = one_hot(arange(n, device=self.probs.device), n).to(self.probs.dtype)
        values = values.view(n, *(1,) * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """As `OneHotCategorical`; gradients flow to the probabilities as if those were the samples: Bengio et al., 2013.

    Arguments:
        probs, logits: the probabilities, or their logarithms (of one probability: its logarithmic odds): one of the two

    >>> probs = mg.tensor([0.25, 0.75], requires_grad=True)
    >>> x = mg.distributions.OneHotCategoricalStraightThrough(probs).rsample()
    >>> (x * mg.tensor([1.0, 2.0])).sum().backward()
    >>> probs.grad is not None
    True
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OfClasses):
    """How often each class comes in `total_count` draws.

    Arguments:
        total_count: how many draws
        probs, logits: the probabilities, made to sum to 1, or their logarithms: one of the two

    >>> d = mg.distributions.Multinomial(10, mg.tensor([0.2, 0.8]))
    >>> d.mean, d.sample().sum()
    (tensor([2., 8.]), tensor(10.))
    """

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @property
    def support(self) -> Constraint:
        return constraints.independent(constraints.integer_interval(0, self.total_count), 1)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        counts = zeros((*drawn.shape[1:], self._event_shape[0]), dtype=self.probs.dtype, device=drawn.device)
        last = drawn.movedim(0, -1)
        return counts.scatter_add(-1, last, counts.new_ones(last.shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = ops.broadcast_tensors(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n, each = self.total_count, Binomial(self.total_count, self.probs, validate_args=False)
        counts = arange(n + 1, dtype=self.probs.dtype, device=self.probs.device).view(-1, *(1,) * self.probs.dim())
        weights = each.log_prob(counts).exp()
        ways = (weights * (counts + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + ways
