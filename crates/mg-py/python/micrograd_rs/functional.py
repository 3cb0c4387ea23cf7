"""Operations as functions, under the names of PyTorch's `nn.functional`."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from . import _nn_ops, _ops
from ._micrograd_rs import Tensor as _Tensor
from ._names import Lazy as _Lazy
from ._nn_ops import *
from ._nn_ops import pairwise_distance as _pairwise_distance
from ._ops import *

__all__ = [
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices",
    "sigmoid",
    "tanh",
    "triplet_margin_with_distance_loss",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
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


def upsample(
    input: _Tensor,
    size: int | _Sequence[int] | None = None,
    scale_factor: float | _Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> _Tensor:
    """`interpolate`, by the name that it had."""
    options: dict[str, _Any] = {"size": size, "scale_factor": scale_factor, "mode": mode, "align_corners": align_corners}
    return _nn_ops.interpolate(input, **options)


def upsample_nearest(
    input: _Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None
) -> _Tensor:
    """`interpolate` with the mode "nearest"."""
    return upsample(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: _Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None
) -> _Tensor:
    """`interpolate` with the mode "bilinear" and `align_corners`."""
    return upsample(input, size, scale_factor, "bilinear", True)


def _with_indices(pool: _Callable[..., _Any]) -> _Callable[..., tuple[_Tensor, _Tensor]]:
    def pooled(input: _Tensor, output_size: _Any, return_indices: bool = False) -> tuple[_Tensor, _Tensor]:
        """The pool and where its results come from."""
        values, indices = pool(input, output_size, return_indices=True)
        return values, indices

    return pooled


def _fractional(pool: _Callable[..., _Any]) -> _Callable[..., tuple[_Tensor, _Tensor]]:
    def pooled(
        input: _Tensor,
        kernel_size: _Any,
        output_size: _Any = None,
        output_ratio: _Any = None,
        return_indices: bool = False,
        _random_samples: _Tensor | None = None,
    ) -> tuple[_Tensor, _Tensor]:
        """The pool and where its results come from."""
        values, indices = pool(input, kernel_size, output_size, output_ratio, True, _random_samples)
        return values, indices

    return pooled


adaptive_max_pool1d_with_indices = _with_indices(_nn_ops.adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_indices(_nn_ops.adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_indices(_nn_ops.adaptive_max_pool3d)

fractional_max_pool2d_with_indices = _fractional(_nn_ops.fractional_max_pool2d)
fractional_max_pool3d_with_indices = _fractional(_nn_ops.fractional_max_pool3d)

__getattr__ = _Lazy(__name__)
