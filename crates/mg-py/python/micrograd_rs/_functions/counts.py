"""Counts: of points in boxes, and of trials that succeed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _micrograd_rs as _rs
from .. import _ops
from .._micrograd_rs import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._micrograd_rs import Generator


class _Histogram(NamedTuple):
    hist: Tensor
    bin_edges: tuple[Tensor, ...]


# The name that it is shown by.
_Histogram.__name__ = "histogramdd"


def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> _Histogram:
    """How many points lie in each of the boxes that edges along `n` axes make: `hist` `[bins…]` and `bin_edges`, a tuple of `n` tensors.

    A point on the last edge is in the last box; one outside is in none.

    Arguments:
        input: the points, `[…, n]`; floats
        bins: how many boxes of one width there are along all axes, or a list of one number for each; or a list of tensors with the edges along each, ascending
        range: two numbers for each axis, between which the boxes lie, one after the other; None is from the least to the largest (0 and 1 without points)
        weight: what each point counts, `[…]`; None counts each once
        density: whether the counts are divided by their sum and the boxes' volumes

    Errors: ValueError for a tensor without axes, for other than one number or one tensor for each axis, for no bins, for a `range` of other than two finite
    numbers in order for each axis, or beside edges, and for weights of another shape; TypeError for integers.

    >>> mg.histogramdd(mg.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), bins=2).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    n = input.shape[-1] if input.dim() else 0
    given: list[Any] = [bins] * n if isinstance(bins, int) else list(bins)
    if any(isinstance(each, Tensor) for each in given):
        given = [each.to(input.dtype) if isinstance(each, Tensor) else each for each in given]
        hist, *edges = _ops._histogramdd(input, edges=given, range=range, weight=weight, density=density)
    else:
        hist, *edges = _ops._histogramdd(input, given, range=range, weight=weight, density=density)
    return _Histogram(hist, tuple(edges))


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of `count` trials of probability `prob` succeed: random numbers in the dtype of `count`. The largest count is read. Gradients of counts
    and probabilities are zeros.

    Arguments:
        count: how many trials there are: floats of any shape
        prob: the probability of success of one trial, in [0, 1]: floats of a shape that broadcasts with that of `count`
        generator: the `mg.Generator` that numbers are drawn from; None is the default one

    >>> mg.binomial(mg.tensor([10.0, 10.0]), mg.tensor([0.0, 1.0]))
    tensor([ 0., 10.])
    """
    from ..distributions.discrete import binomial_of

    drawn = binomial_of(count, prob, generator)
    for given in (count, prob):
        if given.requires_grad and _rs.is_grad_enabled():
            drawn = drawn + given.sign().to(drawn.dtype) * 0
    return drawn
