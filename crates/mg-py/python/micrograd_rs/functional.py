"""Operations as functions, under the names of PyTorch's `nn.functional`."""

from __future__ import annotations

from collections.abc import Callable as _Callable

from . import _nn_ops, _ops
from ._micrograd_rs import Tensor as _Tensor
from ._names import Lazy as _Lazy
from ._nn_ops import *
from ._nn_ops import pairwise_distance as _pairwise_distance
from ._ops import *

__all__ = ["tanh", "sigmoid", "triplet_margin_with_distance_loss"]
__all__ += _ops.__all__
__all__ += _nn_ops.__all__


def triplet_margin_with_distance_loss(
    anchor: _Tensor,
    positive: _Tensor,
    negative: _Tensor,
    *,
    distance_function: _Callable[[_Tensor, _Tensor], _Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> _Tensor:
    """`triplet_margin_loss` with a distance of one's own; without one, `pairwise_distance`.

    ValueError for another reduction than "mean", "sum" and "none".
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'a reduction is "mean", "sum" or "none", got {reduction!r}')
    distance = _pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    # Not `clamp`, whose gradient is 0 at the bound.
    excess = margin + near - far
    loss = excess.masked_fill(excess < 0, 0)
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.mean()


__getattr__ = _Lazy(__name__)
