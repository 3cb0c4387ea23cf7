"""Maps of all numbers to those that a constraint lets in.

>>> import micrograd_rs as mg
>>> from micrograd_rs.distributions import constraints, transform_to
>>> scale = transform_to(constraints.positive)(mg.zeros(1))
>>> scale.tolist(), transform_to(constraints.positive).inv(scale).tolist()
([1.0], [0.0])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from .._names import Lazy as _Lazy
from . import constraints, transforms
from .constraints import Constraint
from .transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

_Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """Which transform leads to what lies in a constraint, by the constraint's class.

    >>> mg.distributions.transform_to(mg.distributions.constraints.positive)(mg.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    def __init__(self) -> None:
        self._known: dict[type, _Factory] = {}

    @overload
    def register(self, constraint: Constraint | type[Constraint], factory: None = None) -> Callable[[_Factory], _Factory]: ...
    @overload
    def register(self, constraint: Constraint | type[Constraint], factory: _Factory) -> _Factory: ...
    def register(self, constraint: Constraint | type[Constraint], factory: _Factory | None = None) -> Any:
        """Says by which function of a constraint the transform to it is made; without one it stands above the function."""
        if factory is None:

            def decorate(function: _Factory) -> _Factory:
                return self.register(constraint, function)

            return decorate
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, Constraint):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._known[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The transform to what lies in a constraint. NotImplementedError where there is none."""
        factory = self._known.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


# What can be undone, and what leads there by the simplest way.
biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(*kinds: Constraint | type[Constraint]) -> Callable[[_Factory], _Factory]:
    def decorate(factory: _Factory) -> _Factory:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return decorate


@_both(constraints.real)
def _to_real(_: Any) -> Transform:
    return transforms.identity_transform


@_both(constraints.greater_than, constraints.greater_than_eq)
def _to_greater(constraint: Any) -> Transform:
    bound = constraint.lower_bound
    if isinstance(bound, (int, float)) and bound == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(bound, 1)])


@_both(constraints.less_than)
def _to_less(constraint: Any) -> Transform:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])


@_both(constraints.interval, constraints.half_open_interval)
def _to_interval(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _to_corr_cholesky(_: Any) -> Transform:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.simplex)
def _biject_to_simplex(_: Any) -> Transform:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _transform_to_simplex(_: Any) -> Transform:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _to_lower_cholesky(_: Any) -> Transform:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def _to_positive_definite(_: Any) -> Transform:
    return transforms.PositiveDefiniteTransform()


for _registry in (biject_to, transform_to):

    @_registry.register(constraints.independent)
    def _to_independent(constraint: Any, to: ConstraintRegistry = _registry) -> Transform:
        return transforms.IndependentTransform(to(constraint.base_constraint), constraint.reinterpreted_batch_ndims)

    @_registry.register(constraints.cat)
    def _to_cat(constraint: Any, to: ConstraintRegistry = _registry) -> Transform:
        return transforms.CatTransform([to(c) for c in constraint.cseq], constraint.dim, constraint.lengths)

    @_registry.register(constraints.stack)
    def _to_stack(constraint: Any, to: ConstraintRegistry = _registry) -> Transform:
        return transforms.StackTransform([to(c) for c in constraint.cseq], constraint.dim)


__getattr__ = _Lazy(__name__)
