"""Where a distribution's numbers lie, and its parameters.

>>> import micrograd_rs as mg
>>> from micrograd_rs.distributions import constraints
>>> constraints.positive.check(mg.tensor([1.0, -2.0])).tolist()
[True, False]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import linalg
from .._micrograd_rs import Tensor
from .._names import Lazy as _Lazy

__all__ = [
    "Constraint",
    "boolean",
    "dependent",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "real",
    "real_vector",
    "simplex",
    "unit_interval",
]


class Constraint:
    """A set of numbers, or of events of `event_dim` axes: `check(value)` says which lie in it."""

    def __init__(
        self, name: str, test: Callable[[Tensor], Tensor], *, is_discrete: bool = False, event_dim: int = 0
    ) -> None:
        self.name = name
        self.is_discrete = is_discrete
        self.event_dim = event_dim
        self._test = test

    def check(self, value: Tensor) -> Tensor:
        """Which events lie in it."""
        return self._test(value)

    def __repr__(self) -> str:
        return self.name


def _greater_than(lower_bound: Any) -> Constraint:
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda x: x > lower_bound)


def _greater_than_eq(lower_bound: Any) -> Constraint:
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", lambda x: x >= lower_bound)


def _less_than(upper_bound: Any) -> Constraint:
    return Constraint(f"LessThan(upper_bound={upper_bound})", lambda x: x < upper_bound)


def _interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    text = f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})"
    return Constraint(text, lambda x: (x >= lower_bound) & (x <= upper_bound))


def _half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    text = f"HalfOpenInterval(lower_bound={lower_bound}, upper_bound={upper_bound})"
    return Constraint(text, lambda x: (x >= lower_bound) & (x < upper_bound))


def _integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    text = f"IntegerInterval(lower_bound={lower_bound}, upper_bound={upper_bound})"
    return Constraint(text, lambda x: (x % 1 == 0) & (x >= lower_bound) & (x <= upper_bound), is_discrete=True)


def _integer_from(lower_bound: Any) -> Constraint:
    text = f"IntegerGreaterThan(lower_bound={lower_bound})"
    return Constraint(text, lambda x: (x % 1 == 0) & (x >= lower_bound), is_discrete=True)


def _independent(base: Constraint, reinterpreted_batch_ndims: int) -> Constraint:
    def test(value: Tensor) -> Tensor:
        inside = base.check(value)
        for _ in range(reinterpreted_batch_ndims):
            inside = inside.all(-1)
        return inside

    text = f"IndependentConstraint({base}, {reinterpreted_batch_ndims})"
    axes = base.event_dim + reinterpreted_batch_ndims
    return Constraint(text, test, is_discrete=base.is_discrete, event_dim=axes)


def _is_simplex(x: Tensor) -> Tensor:
    return (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6)


def _is_one_hot(x: Tensor) -> Tensor:
    return ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1)


def _is_lower(x: Tensor) -> Tensor:
    return (x.tril() == x).flatten(-2).all(-1)


def _is_positive_definite(x: Tensor) -> Tensor:
    alike = ((x - x.mT).abs() <= 1e-6).flatten(-2).all(-1)
    return alike & (linalg.cholesky_ex(x)[1] == 0)


dependent = Constraint("Dependent()", lambda x: x == x)
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
real = Constraint("Real()", lambda x: x == x)
real_vector = _independent(real, 1)
positive = _greater_than(0.0)
nonnegative = _greater_than_eq(0.0)
unit_interval = _interval(0.0, 1.0)
nonnegative_integer = _integer_from(0)
positive_integer = _integer_from(1)
simplex = Constraint("Simplex()", _is_simplex, event_dim=1)
one_hot = Constraint("OneHot()", _is_one_hot, is_discrete=True, event_dim=1)
lower_triangular = Constraint("LowerTriangular()", _is_lower, event_dim=2)
lower_cholesky = Constraint("LowerCholesky()", lambda x: _is_lower(x) & (x.diagonal(0, -2, -1) > 0).all(-1), event_dim=2)
positive_definite = Constraint("PositiveDefinite()", _is_positive_definite, event_dim=2)
greater_than = _greater_than
greater_than_eq = _greater_than_eq
less_than = _less_than
interval = _interval
half_open_interval = _half_open_interval
integer_interval = _integer_interval
independent = _independent

__getattr__ = _Lazy(__name__)
