"""What all distributions have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .._micrograd_rs import Tensor, _is_recording, as_tensor, get_default_dtype, result_type
from .._ops import broadcast_tensors
from .._size import Size
from ..autograd import no_grad
from . import constraints
from .constraints import Constraint


def tensors(*values: Any) -> list[Tensor]:
    """Parameters as tensors of one shape and floating-point dtype."""
    kinds = [v for v in values if isinstance(v, Tensor)]
    if not kinds:
        return [*broadcast_tensors(*(as_tensor(v, dtype=get_default_dtype()) for v in values))]
    dtype = kinds[0].dtype
    for t in kinds[1:]:
        dtype = result_type(Tensor([0.0], dtype=dtype) if dtype.is_floating_point else t, t) if t.dtype != dtype else dtype
    if not dtype.is_floating_point:
        dtype = get_default_dtype()
    given = [v if isinstance(v, Tensor) else as_tensor(v, dtype=dtype, device=kinds[0].device) for v in values]
    return [*broadcast_tensors(*given)]


class Distribution:
    """Random events of a shape (`event_shape`), for each of a batch of parameters (`batch_shape`).

    Parameters and values are checked, a ValueError says which lie outside, unless `validate_args` is False (for all: `set_default_validate_args`), or
    a step is being recorded by `jit`, in which no value is read.

    >>> d = mg.distributions.Normal(mg.zeros(3), mg.ones(3))
    >>> d.batch_shape, d.event_shape, d.sample((5,)).shape
    ((3,), (), (5, 3))
    >>> mg.distributions.Normal(0.0, -1.0)
    Traceback (most recent call last):
        ...
    ValueError: Expected parameter scale (Tensor of shape ()) of distribution Normal(loc: 0.0, scale: -1.0) to satisfy the constraint ...

    Arguments:
        batch_shape: the shape of the batch: there are so many distributions
        event_shape: the shape of one event: `()` for single numbers
    """

    has_rsample: bool = False
    has_enumerate_support: bool = False
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    _validate_args: bool = __debug__

    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        for name in self.arg_constraints:
            self._check_parameter(name, self.__dict__.get(name))

    def _check_parameter(self, name: str, value: Any) -> None:
        """ValueError for a parameter that does not lie where it should."""
        constraint = self.arg_constraints[name]
        if not self._validate_args or _is_recording() or not isinstance(value, Tensor) or constraints.is_dependent(constraint):
            return
        if not bool(constraint.check(value.detach()).all()):
            raise ValueError(
                f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to "
                f"satisfy the constraint {constraint!r}, but found invalid values:\n{value.detach()}"
            )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Says whether parameters and values are checked where `validate_args` does not say it.

        Arguments:
            value: whether they are

        Errors: ValueError for what is neither True nor False.

        >>> mg.distributions.Distribution.set_default_validate_args(False)
        >>> mg.distributions.Normal(0.0, -1.0).mean
        tensor(0.)
        >>> mg.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError("takes True or False")
        Distribution._validate_args = value

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one event."""
        return self._event_shape

    @property
    def support(self) -> Constraint:
        """Where events lie."""
        return constraints.real

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        raise NotImplementedError(f"{type(self).__name__} has no mean here")

    @property
    def mode(self) -> Tensor:
        """The likeliest value."""
        raise NotImplementedError(f"{type(self).__name__} has no mode here")

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance from the mean."""
        raise NotImplementedError(f"{type(self).__name__} has no variance here")

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same distribution for a larger batch: its parameters are expanded.

        Arguments:
            batch_shape: the shape of the new batch, to which the old one broadcasts

        >>> mg.distributions.Normal(0.0, 1.0).expand((3,)).sample().shape
        (3,)
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be expanded")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random events, `[*sample_shape, *batch_shape, *event_shape]`. No gradient flows through them.

        Arguments:
            sample_shape: how many events there are for each of the batch, in axes before it

        >>> mg.distributions.Normal(mg.zeros(3), 1.0).sample((5, 2)).shape
        (5, 2, 3)
        """
        with no_grad():
            return self.rsample(sample_shape).detach()

    def sample_n(self, n: int) -> Tensor:
        """Random events, `[n, *batch_shape, *event_shape]`.

        Arguments:
            n: how many events there are for each of the batch

        >>> mg.distributions.Normal(mg.zeros(3), 1.0).sample_n(5).shape
        (5, 3)
        """
        return self.sample((n,))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random events as a function of the parameters, `[*sample_shape, *batch_shape, *event_shape]`: gradients flow to them.

        Arguments:
            sample_shape: how many events there are for each of the batch, in axes before it

        Errors: NotImplementedError for a distribution whose events are no such function: `has_rsample` says it.

        >>> loc = mg.tensor([0.0], requires_grad=True)
        >>> mg.distributions.Normal(loc, 1.0).rsample((4,)).sum().backward()
        >>> loc.grad
        tensor([4.])
        """
        raise NotImplementedError(f"{type(self).__name__} has no samples that gradients flow through")

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, of events, in their shape without the axes of one event.

        Arguments:
            value: the events, in a shape that broadcasts with `[*batch_shape, *event_shape]`

        Errors: ValueError for events outside of `support`, unless values are not checked.

        >>> mg.distributions.Normal(0.0, 1.0).log_prob(mg.tensor([0.0, 1.0]))
        tensor([-0.9189, -1.4189])
        """
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of what is not above a value, in the values' shape.

        Arguments:
            value: the values, in a shape that broadcasts with `batch_shape`

        Errors: ValueError for values outside of `support`, unless they are not checked; NotImplementedError for a distribution that has none.

        >>> mg.distributions.Normal(0.0, 1.0).cdf(mg.tensor([0.0, 1.96]))
        tensor([0.5000, 0.9750])
        """
        raise NotImplementedError(f"{type(self).__name__} has no cdf here")

    def icdf(self, value: Tensor) -> Tensor:
        """The value below which an event lies with a probability, in the probabilities' shape.

        Arguments:
            value: the probabilities, from 0 to 1, in a shape that broadcasts with `batch_shape`

        Errors: NotImplementedError for a distribution that has none.

        >>> mg.distributions.Normal(0.0, 1.0).icdf(mg.tensor([0.5, 0.975]))
        tensor([0.0000, 1.9600])
        """
        raise NotImplementedError(f"{type(self).__name__} has no icdf here")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that there are, along the first axis.

        Arguments:
            expand: whether they are expanded to `[values, *batch_shape]`, rather than to axes of 1 for the batch

        Errors: NotImplementedError for a distribution of more values than can be told.

        >>> mg.distributions.Categorical(mg.tensor([0.2, 0.3, 0.5])).enumerate_support()
        tensor([0, 1, 2])
        """
        raise NotImplementedError(f"{type(self).__name__} has no finite support")

    def entropy(self) -> Tensor:
        """The expected surprise, in nats.

        >>> mg.distributions.Bernoulli(mg.tensor(0.5)).entropy()
        tensor(0.6931)
        """
        raise NotImplementedError(f"{type(self).__name__} has no entropy here")

    def perplexity(self) -> Tensor:
        """e to the entropy.

        >>> mg.distributions.Categorical(mg.ones(4)).perplexity().round(decimals=4)
        tensor(4.)
        """
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Tensor) -> None:
        """ValueError for an event outside the support, or of another shape."""
        if not isinstance(value, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError("The value argument to log_prob must be a Tensor")
        axes = len(self._event_shape)
        if tuple(value.shape[len(value.shape) - axes :]) != tuple(self._event_shape):
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}.")
        for a, b in zip(reversed(value.shape), reversed(self._batch_shape + self._event_shape), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape}.")
        if self._validate_args and not _is_recording():
            support = self.support
            if not bool(support.check(value.detach()).all()):
                raise ValueError(
                    f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support ({support!r}) of "
                    f"the distribution {self!r}, but found invalid values:\n{value.detach()}"
                )

    def _shown(self) -> list[str]:
        return [name for name in self.arg_constraints if name in self.__dict__]

    def __repr__(self) -> str:
        parts: list[str] = []
        for name in self._shown():
            value = self.__dict__[name]
            if isinstance(value, Tensor):
                parts.append(f"{name}: {value.detach() if value.numel() != 1 else value.item()}" if value.numel() == 1 else f"{name}: {value.shape!r}")
            else:
                parts.append(f"{name}: {value}")
        return f"{type(self).__name__}({', '.join(parts)})"


class ExponentialFamily(Distribution):
    """A distribution of the exponential family.

    >>> issubclass(mg.distributions.Normal, mg.distributions.ExponentialFamily)
    True
    """


class Centred(Distribution):
    """A distribution whose mean and mode are `loc`."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


class Elementwise(Distribution):
    """A distribution of single numbers, whose parameters are tensors of one shape.

    Values are checked here: `_log_prob` and `_cdf` get those that lie in the support.
    """

    def _take(self, validate_args: bool | None, **parameters: Any) -> None:
        """Keeps the parameters under their names, as tensors of one shape, which is that of the batch."""
        given = tensors(*parameters.values())
        for name, value in zip(parameters, given, strict=True):
            setattr(self, name, value)
        Distribution.__init__(self, given[0].shape, (), validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._log_prob(value)

    def _log_prob(self, value: Tensor) -> Tensor:
        return super().log_prob(value)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._cdf(value)

    def _cdf(self, value: Tensor) -> Tensor:
        return super().cdf(value)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self.__class__.__new__(self.__class__)
        new.__dict__.update(self.__dict__)
        for name, value in self.__dict__.items():
            if isinstance(value, Tensor):
                setattr(new, name, value.expand(tuple(batch_shape)))
            elif isinstance(value, Distribution):
                setattr(new, name, value.expand(batch_shape))
        new._batch_shape = Size(batch_shape)
        return new
