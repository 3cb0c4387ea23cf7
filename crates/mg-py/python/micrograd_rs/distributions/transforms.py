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
from typing import TYPE_CHECKING, Any

from .._dtypes import finfo
from .._micrograd_rs import Tensor, as_tensor, broadcast_shapes
from .._names import Lazy as _Lazy
from .._nn_ops import logsigmoid, pad, softmax, softplus
from .._ops import cat, stack
from . import constraints
from .constraints import Constraint

if TYPE_CHECKING:
    from typing import Self

    from .distribution import Distribution

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """A map `y = t(x)`, its inverse `t.inv(y)` and the logarithm of how it stretches: `t.log_abs_det_jacobian(x, y)`.

    >>> t = mg.distributions.ExpTransform()
    >>> y = t(mg.tensor([0.0, 1.0]))
    >>> t.inv(y), t.log_abs_det_jacobian(mg.tensor([0.0, 1.0]), y)
    (tensor([0., 1.]), tensor([0., 1.]))
    """

    bijective: Any = False
    domain: Any = constraints.real
    codomain: Any = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: tuple[Tensor, Tensor] | None = None

    @property
    def event_dim(self) -> int:
        """How many axes an event has that goes in, and that comes out. ValueError where these differ."""
        if self.domain.event_dim == self.codomain.event_dim:
            axes: int = self.domain.event_dim
            return axes
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    def with_cache(self, cache_size: int = 1) -> Self:
        """The same map, which remembers the last pair or does not.

        Arguments:
            cache_size: 1 where the last pair is remembered, else 0

        Errors: ValueError for another `cache_size`.
        """
        if self._cache_size == cache_size:
            return self
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        Transform.__init__(made, cache_size)
        return made

    def _known(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_cache_size", "_last", "_of", "domain", "codomain")}

    def __eq__(self, other: object) -> bool:
        if self is other or type(self) is not type(other):
            return self is other
        assert isinstance(other, Transform)
        ours, theirs = self._known(), other._known()
        return ours.keys() == theirs.keys() and all(_same(value, theirs[name]) for name, value in ours.items())

    __hash__ = object.__hash__

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
        """What was put in where this came out: `t.inv(y)`.

        Arguments:
            y: what came out, a tensor of events that lie in `codomain`

        Errors: NotImplementedError for a map that cannot be undone.
        """
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
        """`log |dy/dx|`, summed over the axes of an event.

        Arguments:
            x: what was put in
            y: what came out, which spares it to be computed again

        Errors: NotImplementedError for a map that is not one to one.
        """
        raise NotImplementedError

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what comes out.

        Arguments:
            shape: the shape of what is put in

        Errors: ValueError for a shape that cannot be put in.
        """
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what was put in.

        Arguments:
            shape: the shape of what came out

        Errors: ValueError for a shape that cannot come out.
        """
        return tuple(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return bool((as_tensor(one) == as_tensor(other)).all())
    return bool(one == other)


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._of = transform
        self.bijective = transform.bijective
        self.domain, self.codomain = transform.codomain, transform.domain

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._of.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Inverse) and self._of == other._of

    __hash__ = object.__hash__

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
    """One after the other.

    Arguments:
        parts: the transforms

    >>> t = mg.distributions.ComposeTransform([mg.distributions.ExpTransform(), mg.distributions.AffineTransform(1.0, 2.0)])
    >>> t(mg.tensor([0.0]))
    tensor([3.])
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(1) for part in parts] if cache_size else list(parts)
        self.bijective = all(part.bijective for part in parts)
        if not parts:
            return
        # An event has as many axes as some part needs, of what goes into it and what comes out of it.
        goes_in = 0
        for part in reversed(self.parts):
            goes_in = max(goes_in + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        comes_out = 0
        for part in self.parts:
            comes_out = max(comes_out + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        first, last = self.parts[0].domain, self.parts[-1].codomain
        comes_out = max(comes_out, last.event_dim)
        self.domain = constraints.independent(first, goes_in - first.event_dim) if goes_in > first.event_dim else first
        self.codomain = constraints.independent(last, comes_out - last.event_dim) if comes_out > last.event_dim else last

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
        axes = self.domain.event_dim
        for part in self.parts:
            after = part(x)
            piece = _sum_last(part.log_abs_det_jacobian(x, after), axes - part.domain.event_dim)
            total = piece if total is None else total + piece
            axes += part.codomain.event_dim - part.domain.event_dim
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
    """A transform whose last axes of the batch are taken for axes of the event.

    Arguments:
        base_transform: the transform
        reinterpreted_batch_ndims: how many axes

    >>> t = mg.distributions.IndependentTransform(mg.distributions.ExpTransform(), 1)
    >>> t.log_abs_det_jacobian(mg.tensor([1.0, 2.0]), None)
    tensor(3.)
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
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

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The last axes in another shape.

    Arguments:
        in_shape: the last axes as they are
        out_shape: as they become

    >>> mg.distributions.ReshapeTransform((6,), (2, 3))(mg.zeros(4, 6)).shape
    (4, 2, 3)
    """

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        if math.prod(in_shape) != math.prod(out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return _with_events(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return _with_events(shape, self.out_shape, self.in_shape)


def _with_events(shape: Sequence[int], given: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    cut = len(shape) - len(given)
    if cut < 0 or tuple(shape[cut:]) != given:
        raise ValueError(f"Shape mismatch: expected {given} but got {tuple(shape[max(cut, 0):])}")
    return (*shape[:cut], *wanted)


class _Rising(Transform):
    bijective = True

    @property
    def sign(self) -> Any:
        return 1


class ExpTransform(_Rising):
    """`eˣ`.

    >>> mg.distributions.ExpTransform()(mg.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(_Rising):
    """`x` to a power, of positive numbers.

    Arguments:
        exponent: the power

    >>> t = mg.distributions.PowerTransform(mg.tensor(2.0))
    >>> t(mg.tensor([3.0])), t.inv(mg.tensor([9.0]))
    (tensor([9.]), tensor([3.]))
    """

    domain = constraints.positive
    codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = as_tensor(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(broadcast_shapes(tuple(shape), self.exponent.shape))

    inverse_shape = forward_shape

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
    """`1 / (1 + e⁻ˣ)`.

    >>> t = mg.distributions.SigmoidTransform()
    >>> t(mg.tensor([0.0])), t.inv(mg.tensor([0.5]))
    (tensor([0.5000]), tensor([0.]))
    """

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _inside(x.sigmoid())

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return logsigmoid(x) + logsigmoid(-x)


class SoftplusTransform(_Rising):
    """`log(1 + eˣ)`.

    >>> mg.distributions.SoftplusTransform()(mg.tensor([0.0, 100.0]))
    tensor([  0.6931, 100.0000])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Rising):
    """The hyperbolic tangent. (With a `cache_size` of 1 what was just squashed need not be undone, which ±1 cannot be.)

    >>> mg.distributions.TanhTransform()(mg.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """The magnitude, which cannot be undone.

    >>> mg.distributions.AbsTransform()(mg.tensor([-1.5, 2.0]))
    tensor([1.5000, 2.0000])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """`loc + scale · x`.

    Arguments:
        loc, scale: what is added, and what it is multiplied by first
        event_dim: how many of the last axes make an event

    >>> t = mg.distributions.AffineTransform(loc=1.0, scale=2.0)
    >>> t(mg.tensor([3.0])), t.inv(mg.tensor([7.0]))
    (tensor([7.]), tensor([3.]))
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
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

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        moved = [t.shape for t in (self.loc, self.scale) if isinstance(t, Tensor)]
        return tuple(broadcast_shapes(tuple(shape), *moved))

    inverse_shape = forward_shape


class SoftmaxTransform(Transform):
    """`eˣ`, made to sum to 1. Not one to one.

    >>> mg.distributions.SoftmaxTransform()(mg.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(Transform):
    """Numbers to probabilities of one more class: each says what part of the rest of a stick is broken off.

    >>> mg.distributions.StickBreakingTransform()(mg.zeros(2))
    tensor([0.3333, 0.3333, 0.3333])
    """

    bijective = True
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
    return cat([t, t.new_full((*t.shape[:-1], 1), value)], -1)


def _with_start(t: Tensor, value: float) -> Tensor:
    return cat([t.new_full((*t.shape[:-1], 1), value), t], -1)


class CorrCholeskyTransform(Transform):
    """`n (n − 1) / 2` numbers to the Cholesky factor of a correlation of `n` things: their hyperbolic tangents are partial correlations, row
    by row, of which each says what part of the rest of its row, whose length is 1, it is (Lewandowski, Kurowicka and Joe, 2009; Stan's
    reference manual, "Cholesky factors of correlation matrices").

    >>> L = mg.distributions.CorrCholeskyTransform()(mg.tensor([0.5, -0.2, 0.1]))
    >>> (L @ L.T).diag().round(decimals=4)
    tensor([1., 1., 1.])
    """

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.corr_cholesky

    def _call(self, x: Tensor) -> Tensor:
        from .utils import vec_to_tril_matrix

        eps = finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(-1 + eps, 1 - eps), -1)
        n = r.shape[-1]
        # What of a row's length is left before each of its parts; of the diagonal, all that is left.
        left = (1 - r**2).cumprod(-1).sqrt()
        diagonal = r + x.new_ones(n).diag()
        return diagonal * pad(left[..., :-1], (1, 0), value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        from .utils import tril_matrix_to_vec

        # Before each part of a row: its length without those up to there.
        left = 1 - (y * y).cumsum(-1)
        before = pad(left[..., :-1], (1, 0), value=1.0)
        r = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(before, -1).sqrt()
        return r.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        from .utils import tril_matrix_to_vec

        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), -2)
        of_lengths = 0.5 * left.log().sum(-1)
        of_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return of_lengths + of_tanh

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        if len(shape) < 2 or shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


class LowerCholeskyTransform(Transform):
    """Matrices to lower triangles with a positive diagonal, by the exponential function. What is above the diagonal is dropped.

    >>> mg.distributions.LowerCholeskyTransform()(mg.tensor([[0.0, 9.0], [3.0, 0.0]]))
    tensor([[1., 0.],
            [3., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Matrices to positive definite ones: `LowerCholeskyTransform` makes their factor.

    >>> mg.distributions.PositiveDefiniteTransform()(mg.tensor([[0.0, 9.0], [3.0, 0.0]]))
    tensor([[ 1.,  3.],
            [ 3., 10.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        from ..linalg import cholesky

        return LowerCholeskyTransform().undo(cholesky(y))


class CatTransform(Transform):
    """A transform for each part along an axis, of `lengths`, or of 1.

    Arguments:
        tseq: the transforms
        dim: the axis
        lengths: how long the parts are

    >>> t = mg.distributions.CatTransform([mg.distributions.ExpTransform(), mg.distributions.AffineTransform(0.0, 10.0)], lengths=[1, 2])
    >>> t(mg.tensor([0.0, 1.0, 2.0]))
    tensor([ 1., 10., 20.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(1) for t in tseq] if cache_size else list(tseq)
        self.dim, self.lengths = dim, [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(f"CatTransform: takes as many lengths as transforms, got {len(self.lengths)} and {len(self.transforms)}")
        self.bijective = all(t.bijective for t in self.transforms)
        self.domain = constraints.cat([t.domain for t in self.transforms], dim, self.lengths)
        self.codomain = constraints.cat([t.codomain for t in self.transforms], dim, self.lengths)

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """How many there are along the axis."""
        return sum(self.lengths)

    def _parts(self, x: Tensor) -> tuple[Tensor, ...]:
        if not -x.dim() <= self.dim < x.dim() or x.shape[self.dim] != self.length:
            raise ValueError(f"CatTransform: takes {self.length} along the axis {self.dim}, got the shape {x.shape}")
        return tuple(x.split(self.lengths, self.dim))

    def _call(self, x: Tensor) -> Tensor:
        return cat([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return cat([t.undo(part) for t, part in zip(self.transforms, self._parts(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        pieces: list[Tensor] = []
        for t, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            piece = t.log_abs_det_jacobian(before, after)
            pieces.append(_sum_last(piece, self.event_dim - t.event_dim))
        # The axis counted from the end, among those that are left.
        axis = self.dim - x.dim() if self.dim >= 0 else self.dim
        axis += self.event_dim
        if axis < 0:
            return cat(pieces, axis)
        total = pieces[0]
        for piece in pieces[1:]:
            total = total + piece
        return total

    def __repr__(self) -> str:
        return f"CatTransform({self.transforms!r}, dim={self.dim}, lengths={self.lengths})"


class StackTransform(Transform):
    """A transform for each of the parts along an axis.

    Arguments:
        tseq: the transforms
        dim: the axis

    >>> t = mg.distributions.StackTransform([mg.distributions.ExpTransform(), mg.distributions.AffineTransform(0.0, 10.0)])
    >>> t(mg.tensor([0.0, 1.0]))
    tensor([ 1., 10.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = [t.with_cache(1) for t in tseq] if cache_size else list(tseq), dim
        self.bijective = all(t.bijective for t in self.transforms)
        self.domain = constraints.stack([t.domain for t in self.transforms], dim)
        self.codomain = constraints.stack([t.codomain for t in self.transforms], dim)

    def _parts(self, x: Tensor) -> tuple[Tensor, ...]:
        if not -x.dim() <= self.dim < x.dim() or x.shape[self.dim] != len(self.transforms):
            raise ValueError(f"StackTransform: takes {len(self.transforms)} along the axis {self.dim}, got the shape {x.shape}")
        return tuple(x.unbind(self.dim))

    def _call(self, x: Tensor) -> Tensor:
        return stack([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return stack([t.undo(part) for t, part in zip(self.transforms, self._parts(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return stack([t.log_abs_det_jacobian(before, after) for t, before, after in parts], self.dim)

    def __repr__(self) -> str:
        return f"StackTransform({self.transforms!r}, dim={self.dim})"


class CumulativeDistributionTransform(_Rising):
    """A distribution's cumulative probability, from 0 to 1: what is drawn of the distribution becomes uniform.

    Arguments:
        distribution: the distribution, of single numbers

    >>> t = mg.distributions.CumulativeDistributionTransform(mg.distributions.Normal(0.0, 1.0))
    >>> t(mg.tensor([0.0, 1.96]))
    tensor([0.5000, 0.9750])
    """

    codomain = constraints.unit_interval

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Constraint:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)


__getattr__ = _Lazy(__name__)
