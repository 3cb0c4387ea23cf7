"""Operations as functions, under the names of PyTorch's `nn.functional`."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from . import _nn_ops, _ops
from ._functions import conv_tbc, native_channel_shuffle
from ._micrograd_rs import Tensor as _Tensor
from ._micrograd_rs import _embedding_renorm, _scale_grad_by_freq
from ._names import Lazy as _Lazy
from ._nn_ops import *
from ._nn_ops import pairwise_distance as _pairwise_distance
from ._ops import *

__all__ = [
    "conv_tbc",
    "native_channel_shuffle",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices",
    "embedding",
    "embedding_bag",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices",
    "gumbel_softmax",
    "scaled_dot_product_attention",
    "sigmoid",
    "tanh",
    "triplet_margin_with_distance_loss",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
__all__ += _ops.__all__
__all__ += _nn_ops.__all__


def _table_as_used(
    input: _Tensor, weight: _Tensor, max_norm: float | None, norm_type: float, scale_grad_by_freq: bool
) -> _Tensor:
    """The table as it is looked up in: rows that are used are no longer than `max_norm`, which changes the table; and each of them has its
    gradient divided by how often it is used, with `scale_grad_by_freq`.
    """
    if max_norm is not None:
        _embedding_renorm(weight, input, max_norm, norm_type)
    return _scale_grad_by_freq(weight, input) if scale_grad_by_freq else weight


def embedding(
    input: _Tensor,
    weight: _Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> _Tensor:
    """The rows of a table `weight` `[n, size]` that integers of any shape name.

    The row `padding_idx` gets no gradient. With `max_norm`, rows that are looked up are scaled to be no longer (by the norm `norm_type`),
    in the table. With `scale_grad_by_freq` a row's gradient is divided by how often it is looked up. Gradients are dense, with `sparse` too.

    >>> table = mg.tensor([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    >>> mg.nn.functional.embedding(mg.tensor([2, 1]), table)
    tensor([[ 2., 20.],
            [ 1., 10.]])
    """
    del sparse
    return _nn_ops.embedding(input, _table_as_used(input, weight, max_norm, norm_type, scale_grad_by_freq), padding_idx)


def embedding_bag(
    input: _Tensor,
    weight: _Tensor,
    offsets: _Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: _Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> _Tensor:
    """Sums, means or largest (`mode` "sum", "mean", "max") of rows of a table `weight` `[n, size]`: of each row of integers `[bags, k]`, or
    of the integers `[k]` from each of `offsets` to the next (with `include_last_offset` the last one is an end).

    `per_sample_weights`, of the integers' shape, multiply what is summed; `padding_idx` does not count. `max_norm`, `norm_type` and
    `scale_grad_by_freq` are as in `embedding`. Gradients are dense, with `sparse` too.

    >>> table = mg.tensor([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    >>> mg.nn.functional.embedding_bag(mg.tensor([1, 2, 2]), table, mg.tensor([0, 2]), mode="sum")
    tensor([[ 3., 30.],
            [ 2., 20.]])
    """
    del sparse
    return _nn_ops.embedding_bag(
        input,
        _table_as_used(input, weight, max_norm, norm_type, scale_grad_by_freq),
        offsets,
        mode=mode,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )


def gumbel_softmax(
    logits: _Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> _Tensor:
    """A sample from the distributions that `logits` tell of along an axis, softened with the temperature `tau` (Jang et al., Maddison et al.,
    2017); with `hard`, ones and zeros that have the softened sample's gradient. `eps` changes nothing, as in PyTorch.

    >>> logits = mg.tensor([[0.0, 100.0, 0.0]])
    >>> mg.nn.functional.gumbel_softmax(logits, hard=True)
    tensor([[0., 1., 0.]])
    """
    del eps
    return _nn_ops.gumbel_softmax(logits, tau, hard, dim)


def scaled_dot_product_attention(
    query: _Tensor,
    key: _Tensor,
    value: _Tensor,
    attn_mask: _Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> _Tensor:
    """Attention (Vaswani et al., 2017): for queries `[…, l, e]`, keys `[…, s, e]` and values `[…, s, v]`, the means `[…, l, v]` of the
    values by weights `softmax(scale · q kᵀ + mask)`. `scale` is 1/√e where it is not given. A mask broadcasts to `[…, l, s]`: of
    truth values, it says which keys take part; of numbers, what is added. With `is_causal` a query takes the keys up to its own position.
    A query that takes no key is answered with 0. Weights are left out with probability `dropout_p`, and the others scaled by
    1/(1 − `dropout_p`). With `enable_gqa` the third last axis counts heads, of which keys and values may have fewer: each of theirs serves as many
    neighbouring ones of the query.

    ValueError for shapes that do not fit, a mask together with `is_causal`, a probability outside [0, 1]; TypeError for what are no floats of
    one dtype.

    Arguments:
        query: `[…, l, e]`
        key: `[…, s, e]`
        value: `[…, s, v]`
        attn_mask: what broadcasts to `[…, l, s]`

    >>> q = k = v = mg.eye(2)[None]
    >>> mg.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    tensor([[[1.0000, 0.0000],
             [0.3302, 0.6698]]])
    """
    return _nn_ops.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


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

    ValueError for another reduction than "mean", "sum" and "none", or a margin that is not above 0.

    Arguments:
        anchor, positive, negative: the vectors
        distance_function: of two tensors
        margin: how much nearer the positive has to be
        swap: whether the distance of the positive to the negative is taken where it is smaller
        reduction: "mean", "sum" or "none"

    >>> far = lambda a, b: (a - b).abs().amax(-1)
    >>> mg.nn.functional.triplet_margin_with_distance_loss(mg.tensor([[0.0]]), mg.tensor([[1.0]]), mg.tensor([[1.5]]), distance_function=far)
    tensor(0.5000)
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'triplet_margin_with_distance_loss: a reduction is "mean", "sum" or "none", got {reduction!r}')
    if margin <= 0:
        raise ValueError(f"triplet_margin_with_distance_loss: takes a margin above 0, got {margin}")
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
    """`interpolate`, by the name that it had.

    Arguments:
        size: the sizes that it comes to have, of all axes behind the first two
        scale_factor: what sizes are multiplied by, where `size` is not given
        mode: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear" or "area"
        align_corners: whether the centres of the outermost elements stay where they are, else their edges

    See `interpolate`.
    """
    options: dict[str, _Any] = {"size": size, "scale_factor": scale_factor, "mode": mode, "align_corners": align_corners}
    return _nn_ops.interpolate(input, **options)


def upsample_nearest(
    input: _Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None
) -> _Tensor:
    """`interpolate` with the mode "nearest".

    Arguments:
        size: the sizes that it comes to have, of all axes behind the first two
        scale_factor: what sizes are multiplied by, where `size` is not given

    See `interpolate`.

    >>> mg.nn.functional.upsample_nearest(mg.tensor([[[[0.0, 1.0]]]]), scale_factor=2)
    tensor([[[[0., 0., 1., 1.],
              [0., 0., 1., 1.]]]])
    """
    return upsample(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: _Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None
) -> _Tensor:
    """`interpolate` with the mode "bilinear" and `align_corners`.

    Arguments:
        size: the sizes that it comes to have, of all axes behind the first two
        scale_factor: what sizes are multiplied by, where `size` is not given

    See `interpolate`.

    >>> mg.nn.functional.upsample_bilinear(mg.tensor([[[[0.0, 1.0]]]]), size=(1, 3))
    tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """
    return upsample(input, size, scale_factor, "bilinear", True)


def _pooled(pool: _Callable[..., _Any], *sizes: str) -> str:
    lines = "\n    ".join((*sizes, "return_indices: of no effect"))
    return f"The pool and where its results come from. See `{pool.__name__}`.\n\nArguments:\n    {lines}"


def _with_indices(pool: _Callable[..., _Any]) -> _Callable[..., tuple[_Tensor, _Tensor]]:
    def pooled(input: _Tensor, output_size: _Any, return_indices: bool = False) -> tuple[_Tensor, _Tensor]:
        values, indices = pool(input, output_size, return_indices=True)
        return values, indices

    pooled.__doc__ = _pooled(pool, "output_size: how many windows there are: one number, or one for each axis")
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
        values, indices = pool(input, kernel_size, output_size, output_ratio, True, _random_samples)
        return values, indices

    sizes = "kernel_size: how large windows are", "output_size: how many there are", "output_ratio: or how many to an element of the input"
    pooled.__doc__ = _pooled(pool, *sizes)
    return pooled


adaptive_max_pool1d_with_indices = _with_indices(_nn_ops.adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_indices(_nn_ops.adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_indices(_nn_ops.adaptive_max_pool3d)

fractional_max_pool2d_with_indices = _fractional(_nn_ops.fractional_max_pool2d)
fractional_max_pool3d_with_indices = _fractional(_nn_ops.fractional_max_pool3d)

__getattr__ = _Lazy(__name__)
