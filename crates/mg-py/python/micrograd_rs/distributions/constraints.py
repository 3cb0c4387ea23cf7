"""Where a distribution's numbers lie, and its parameters.

>>> import micrograd_rs as mg
>>> from micrograd_rs.distributions import constraints
>>> constraints.positive.check(mg.tensor([1.0, -2.0])).tolist()
[True, False]

`transform_to(constraint)` and `biject_to(constraint)` (`constraint_registry`) are maps of all numbers to those that lie in one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import linalg
from .._micrograd_rs import Tensor
from .._names import Lazy as _Lazy
from .._ops import cat as _cat
from .._ops import stack as _stack

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A set of numbers, or of events of `event_dim` axes: `check(value)` says which lie in it."""

    is_discrete: Any = False
    event_dim: Any = 0
    _named: ClassVar[tuple[str, ...]] = ()

    def check(self, value: Tensor) -> Tensor:
        """Which events lie in it."""
        raise NotImplementedError(f"{type(self).__name__} does not say what lies in it")

    def __repr__(self) -> str:
        name = type(self).__name__.removeprefix("_")
        return f"{name}({', '.join(f'{key}={getattr(self, key)}' for key in self._named)})"


class _Dependent(Constraint):
    """What depends on parameters."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> _Dependent:
        return _Dependent(
            is_discrete=self.is_discrete if is_discrete is None else is_discrete,
            event_dim=self.event_dim if event_dim is None else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: object) -> bool:
    """Whether what lies in it depends on parameters."""
    return isinstance(constraint, _Dependent)


class dependent_property(property, _Dependent):
    """A property, `support` as a rule, that answers with a constraint; of the class itself, one that depends on parameters."""

    def __init__(self, fn: Callable[..., Any] | None = None, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Callable[..., Any]) -> dependent_property:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _GreaterThan(Constraint):
    """Numbers above a bound."""

    _named = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Tensor) -> Tensor:
        return value.gt(self.lower_bound)


class _GreaterThanEq(_GreaterThan):
    """Numbers that are not below a bound."""

    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound)


class _LessThan(Constraint):
    """Numbers below a bound."""

    _named = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return value.lt(self.upper_bound)


class _Interval(Constraint):
    """Numbers from a bound to another."""

    _named = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound) & value.le(self.upper_bound)


class _HalfOpenInterval(_Interval):
    """Numbers from a bound to another, without that."""

    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound) & value.lt(self.upper_bound)


class _IntegerInterval(_Interval):
    """Whole numbers from a bound to another."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & super().check(value)


class _IntegerGreaterThan(_GreaterThan):
    """Whole numbers that are not below a bound."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & value.ge(self.lower_bound)


class _IndependentConstraint(Constraint):
    """Events all of whose last axes' parts lie in another constraint."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        inside = self.base_constraint.check(value)
        for _ in range(self.reinterpreted_batch_ndims):
            inside = inside.all(-1)
        return inside

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """Events that lie where those of all components of a mixture do."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        return self.base_constraint.check(value.unsqueeze(-1 - self.event_dim)).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint})"


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Multinomial(Constraint):
    """Counts that are so many together, or fewer."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & value.sum(-1).le(self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlations: rows of length 1."""

    def check(self, value: Tensor) -> Tensor:
        # As many roundings as a row has parts.
        room = 10 * value.shape[-1] * 2.0 ** -(52 if value.itemsize == 8 else 23)
        return super().check(value) & ((value.norm(dim=-1) - 1).abs() < room).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return value.new_full(value.shape[:-2], value.shape[-2] == value.shape[-1]).bool()


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return ((value - value.mT).abs() <= 1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        alike = super().check(value)
        return alike & (linalg.eigvalsh(value) >= 0).all(-1) if bool(alike.all()) else alike


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        alike = super().check(value)
        return alike & (linalg.cholesky_ex(value)[1] == 0) if value.shape[-2] == value.shape[-1] else alike


class _Cat(Constraint):
    """Events whose parts along an axis, of `lengths`, lie in one constraint each."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"cat: takes as many lengths as constraints, got {len(self.lengths)} and {len(self.cseq)}")
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        parts = value.split(self.lengths, self.dim)
        return _cat([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(Constraint):
    """Events whose parts along an axis lie in one constraint each."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        axes = max(c.event_dim for c in self.cseq)
        self.event_dim = axes + 1 if dim + axes < 0 else axes

    def check(self, value: Tensor) -> Tensor:
        parts = value.unbind(self.dim)
        return _stack([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


dependent = _Dependent()
boolean = _Boolean()
one_hot = _OneHot()
real = _Real()
real_vector = _IndependentConstraint(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
unit_interval = _Interval(0.0, 1.0)
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
interval = _Interval
half_open_interval = _HalfOpenInterval
integer_interval = _IntegerInterval
independent = _IndependentConstraint
multinomial = _Multinomial
cat = _Cat
stack = _Stack

__getattr__ = _Lazy(__name__)
