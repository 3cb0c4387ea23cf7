"""Maps of random numbers that can be undone, and what they do to densities.

>>> import micrograd_rs as mg
>>> from micrograd_rs.distributions import Normal, TransformedDistribution
>>> from micrograd_rs.distributions.transforms import ExpTransform
>>> lognormal = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
>>> round(lognormal.log_prob(mg.tensor(1.0)).item(), 4)
-0.9189
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._micrograd_rs import Tensor, as_tensor
from .._dtypes import finfo
from .._names import Lazy as _Lazy
from .._nn_ops import logsigmoid, softmax, softplus
from . import constraints
from .constraints import Constraint

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """A map `y = t(x)`, its inverse `t.inv(y)` and the logarithm of how it stretches: `t.log_abs_det_jacobian(x, y)`.

    With a `cache_size` of 1 the last pair is remembered, so that the inverse of what was just computed is what it was computed of.
    """

    bijective = False
    event_dim = 0
    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: tuple[Tensor, Tensor] | None = None

    @property
    def inv(self) -> Transform:
        """The inverse, as a transform."""
        return _Inverse(self)

    @property
    def sign(self) -> Any:
        """1 where it rises everywhere, −1 where it falls."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size and self._last is not None and self._last[0] is x:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = (x, y)
        return y

    def undo(self, y: Tensor) -> Tensor:
        """`x` of which `y` was made."""
        if self._cache_size and self._last is not None and self._last[1] is y:
            return self._last[0]
        x = self._inverse(y)
        if self._cache_size:
            self._last = (x, y)
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """`log |dy/dx|`, summed over the axes of an event."""
        raise NotImplementedError

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what comes out."""
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what went in."""
        return tuple(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._of = transform
        self.bijective, self.event_dim = transform.bijective, transform.event_dim
        self.domain, self.codomain = transform.codomain, transform.domain

    @property
    def inv(self) -> Transform:
        return self._of

    @property
    def sign(self) -> Any:
        return self._of.sign

    def __call__(self, x: Tensor) -> Tensor:
        return self._of.undo(x)

    def undo(self, y: Tensor) -> Tensor:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self._of.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._of!r})"


def _sum_last(t: Tensor, axes: int) -> Tensor:
    return t.sum(tuple(range(-axes, 0))) if axes else t


class ComposeTransform(Transform):
    """One after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        self.bijective = all(part.bijective for part in parts)
        self.event_dim = max((part.event_dim for part in parts), default=0)
        if parts:
            self.domain, self.codomain = parts[0].domain, parts[-1].codomain

    @property
    def sign(self) -> Any:
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def _call(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part.undo(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        total: Tensor | None = None
        for part in self.parts:
            after = part(x)
            piece = _sum_last(part.log_abs_det_jacobian(x, after), self.event_dim - part.event_dim)
            total = piece if total is None else total + piece
            x = after
        return x * 0 if total is None else total

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return tuple(shape)

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts!r})"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last axes of the batch are taken for axes of the event."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
        self.event_dim = base_transform.event_dim + reinterpreted_batch_ndims
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform.undo(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_last(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)


class ReshapeTransform(Transform):
    """The last axes in another shape."""

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        if math.prod(in_shape) != math.prod(out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        self.event_dim = len(self.in_shape)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (*shape[: len(shape) - len(self.in_shape)], *self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (*shape[: len(shape) - len(self.out_shape)], *self.in_shape)


class _Rising(Transform):
    bijective = True

    @property
    def sign(self) -> Any:
        return 1


class ExpTransform(_Rising):
    """`eˣ`."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(_Rising):
    """`x` to a power, of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = as_tensor(exponent)

    def _call(self, x: Tensor) -> Tensor:
        return x**self.exponent

    def _inverse(self, y: Tensor) -> Tensor:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()


def _inside(y: Tensor) -> Tensor:
    """Numbers between 0 and 1, of which the ends are moved in: what they come from is infinite."""
    ends = finfo(y.dtype)
    return y.clamp(ends.tiny, 1 - ends.eps)


class SigmoidTransform(_Rising):
    """`1 / (1 + e⁻ˣ)`."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _inside(x.sigmoid())

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return logsigmoid(x) + logsigmoid(-x)


class SoftplusTransform(_Rising):
    """`log(1 + eˣ)`."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Rising):
    """The hyperbolic tangent. (With a `cache_size` of 1 what was just squashed need not be undone, which ±1 cannot be.)"""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """The magnitude, which cannot be undone."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """`loc + scale · x`."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        self.domain = constraints.independent(constraints.real, event_dim) if event_dim else constraints.real
        self.codomain = self.domain

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        y: Tensor = self.loc + self.scale * x
        return y

    def _inverse(self, y: Tensor) -> Tensor:
        x: Tensor = (y - self.loc) / self.scale
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        stretch = as_tensor(self.scale, dtype=x.dtype, device=x.device).abs().log()
        return _sum_last(stretch.expand(x.shape), self.event_dim)


class SoftmaxTransform(Transform):
    """`eˣ`, made to sum to 1. Not one to one."""

    event_dim = 1
    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(Transform):
    """Numbers to probabilities of one more class: each says what part of the rest of a stick is broken off."""

    bijective = True
    event_dim = 1
    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        z, rest = self._parts(x)
        kept = (1 - z).cumprod(-1)
        return _with_end(z, 1.0) * _with_start(kept, rest)

    def _parts(self, x: Tensor) -> tuple[Tensor, float]:
        offset = x.shape[-1] + 1 - x.new_ones((x.shape[-1],)).cumsum(-1)
        return (x - offset.log()).sigmoid(), 1.0

    def _inverse(self, y: Tensor) -> Tensor:
        crop = y[..., :-1]
        offset = y.shape[-1] - crop.new_ones((crop.shape[-1],)).cumsum(-1)
        rest = (1 - crop.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return crop.log() - rest.log() + offset.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        offset = x.shape[-1] + 1 - x.new_ones((x.shape[-1],)).cumsum(-1)
        moved = x - offset.log()
        return (-moved + logsigmoid(moved) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] - 1)


def _with_end(t: Tensor, value: float) -> Tensor:
    from .._ops import cat

    return cat([t, t.new_full((*t.shape[:-1], 1), value)], -1)


def _with_start(t: Tensor, value: float) -> Tensor:
    from .._ops import cat

    return cat([t.new_full((*t.shape[:-1], 1), value), t], -1)


__getattr__ = _Lazy(__name__)
