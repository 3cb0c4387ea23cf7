"""Operations as functions, under the names of PyTorch's `nn.functional`."""

from __future__ import annotations

import typing as _typing
from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from . import _nn_ops, _ops
from ._functions.images import conv_tbc, native_channel_shuffle
from ._micrograd_rs import Tensor as _Tensor
from ._micrograd_rs import _embedding_renorm, _scale_grad_by_freq
from ._names import Lazy as _Lazy
from ._nn_ops import *
from ._nn_ops import pairwise_distance as _pairwise_distance
from ._ops import *
from ._scaled import *

if _typing.TYPE_CHECKING:
    from .nn.attention.bias import CausalBias as _CausalBias

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
__all__ += ["ScalingType", "SwizzleType", "scaled_mm"]
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
    """The rows of a table that integers name: `[…, size]`. Gradients are dense.

    Arguments:
        input: which rows are taken: integers from 0 on, of any shape
        weight: the table, `[n, size]`
        padding_idx: the row that gets no gradient; below 0 it counts from the end, None is none
        max_norm: the largest norm of a row: longer ones that are taken are scaled down to it, in the table; None leaves them
        norm_type: the order of that norm
        scale_grad_by_freq: whether a row's gradient is divided by how often the row is taken
        sparse: of no effect

    Errors: ValueError for what is no table, for a `padding_idx` outside it, and for tensors on different devices; TypeError for an `input` that is not of
    integers; IndexError for an index outside the table: at once where it is known, else when the result is read.

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
    """Sums, means or largest elements of rows of a table, bag by bag: `[bags, size]`. A bag of nothing is 0. Gradients are dense.

    Arguments:
        input: which rows are taken: integers from 0 on, `[bags, m]`, or `[m]` with `offsets`
        weight: the table, `[n, size]`
        offsets: where each bag begins in `[m]`, integers that begin with 0 and do not fall; None where `input` has two axes
        max_norm: the largest norm of a row: longer ones that are taken are scaled down to it, in the table; None leaves them
        norm_type: the order of that norm
        scale_grad_by_freq: whether a row's gradient is divided by how often the row is taken
        mode: what is made of a bag's rows: "sum", "mean" or "max"
        sparse: of no effect
        per_sample_weights: what each row is multiplied by, of the shape of `input`, for the mode "sum"; None counts each once
        include_last_offset: whether the last of `offsets` is the end of the last bag
        padding_idx: the row that does not count, and gets no gradient; None is none

    Errors: ValueError for what is no table, for another number of axes, for offsets that do not begin with 0, fall, or are beyond the indices, for another
    `mode`, for `per_sample_weights` beside another mode than "sum", and for tensors on different devices; TypeError for an `input` that is not of integers;
    IndexError for an index outside the table: at once where it is known, else when the result is read.

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
    """A sample from distributions of categories, softened: the softmax of the logits with Gumbel noise, divided by a temperature (Jang, Gu and Poole, 2016;
    Maddison, Mnih and Teh, 2016).

    Arguments:
        logits: logarithms of probabilities, which need not sum to 1, of any shape; integers are converted to the default float
        tau: the temperature: the nearer to 0, the nearer a sample is to a one among zeros
        hard: whether the result is a one among zeros, with the gradient of the softened sample
        eps: of no effect, as in PyTorch
        dim: along which axis the categories lie, counted from the end if it is negative

    Errors: IndexError for an axis out of range; ValueError, with `hard`, for an axis of size 0.

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
    attn_mask: _Tensor | _CausalBias | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int, int] | None = None,
) -> _Tensor:
    """Attention (Vaswani et al., 2017): the means `[…, l, v]` of the values by weights `softmax(scale · q kᵀ + mask)`.

    With `is_causal`, a `CausalBias` or a `window` the keys that a query does not take are not read: a window of 256 keys takes about the time of 256 keys. A query that
    takes no key is answered with 0, where PyTorch's answer is NaN. The weights that `dropout_p` leaves are scaled by 1/(1 − `dropout_p`).

    Arguments:
        query: the queries, `[…, l, e]`; floats
        key: the keys, `[…, s, e]`, in the dtype of the queries
        value: the values, `[…, s, v]`, in the dtype of the queries
        attn_mask: what broadcasts to `[…, l, s]`: truth values, **True where a query takes a key**, or floats that are added to the scores; None is no mask.
            The masks of `nn.MultiheadAttention`, and of the layers that are made of it, are the other way round: True where a key is left out. Pass `~mask`
            from one to the other. `nn.attention.bias.causal_lower_right(l, s)` and `causal_upper_left(l, s)` are bounds, no tensors
        dropout_p: the probability with which a weight becomes 0, whether anything trains or not: pass 0 outside of training
        is_causal: whether each query takes the keys up to its own position alone, counted from the first query and the first key; not together with `attn_mask` or `window`
        scale: what the scores are multiplied by; None is 1/√e
        enable_gqa: whether keys and values may have fewer heads (axis −3) than queries: each of theirs then serves as many neighbouring heads of the queries
        window: `(left, right)`: a query takes the keys from `left` before its position to `right` after it alone, −1 being no bound; the last query stands at the last
            key, as FlashAttention's `window_size` has it, so that `(-1, 0)` is `causal_lower_right` and `(255, 0)` the last 256 keys. A mask or a `causal_lower_right` beside it
            leaves what both leave

    Errors: ValueError for shapes that do not fit, for a mask or a window together with `is_causal`, for a `causal_upper_left` beside a window, for a bias of other numbers of
    queries and keys, for a window that is not of two numbers from −1 on, for a probability outside [0, 1], and for tensors on different devices; TypeError for queries, keys and values that are not floats of one dtype, and for a mask of another dtype than theirs or truth values.

    >>> q = k = v = mg.eye(2)[None]
    >>> mg.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    tensor([[[1.0000, 0.0000],
             [0.3302, 0.6698]]])
    >>> mg.nn.functional.scaled_dot_product_attention(q[:, 1:], k, v, window=(0, 0))
    tensor([[[0., 1.]]])
    """
    mask = attn_mask
    if mask is not None and not isinstance(mask, _Tensor):
        is_causal, window = _bounds(mask, query, key, is_causal, window)
        mask = None
    return _nn_ops.scaled_dot_product_attention(
        query, key, value, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa, window=window
    )


def _bounds(
    bias: _CausalBias, query: _Tensor, key: _Tensor, is_causal: bool, window: tuple[int, int] | None
) -> tuple[bool, tuple[int, int] | None]:
    """What a causal bias says, as `is_causal` and `window`."""
    from .nn.attention.bias import CausalBias, CausalVariant

    name = "scaled_dot_product_attention"
    if not isinstance(bias, CausalBias):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{name}: takes a tensor, a CausalBias or None as attn_mask, got {type(bias).__name__}")
    if is_causal:
        raise ValueError(f"{name}: takes a CausalBias or is_causal, not both")
    if len(query.shape) >= 2 and len(key.shape) >= 2 and bias.shape != (query.shape[-2], key.shape[-2]):
        raise ValueError(f"{name}: {bias} does not fit queries of shape {query.shape} and keys of shape {key.shape}")
    if bias.variant is CausalVariant.UPPER_LEFT:
        if window is not None:
            raise ValueError(f"{name}: takes causal_lower_right beside a window, whose last query stands at the last key, got {bias}")
        return True, None
    if window is None:
        return False, (-1, 0)
    # What is no window is refused where it is taken.
    return False, (window[0], 0) if len(window) == 2 and window[1] >= -1 else window


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
    """`triplet_margin_loss` with a distance of one's own.

    Arguments:
        anchor: what distances are taken from
        positive: what should be near, of the shape of `anchor`
        negative: what should be farther, of the shape of `anchor`
        distance_function: a function of two such tensors that answers with their distances; None is `pairwise_distance`
        margin: by how much farther the negative should be, above 0
        swap: whether the distance of `positive` to `negative` is taken where it is smaller
        reduction: "mean" and "sum" make one number of all losses, "none" leaves each for itself

    Errors: ValueError for another `reduction`, and for a `margin` that is not above 0.

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
    """`interpolate`, by the name that it had. See `interpolate`.

    Arguments:
        input: `[n, c, length]`, `[n, c, height, width]` or `[n, c, depth, height, width]`
        size: the new sizes, one for all axes behind the first two, or one for each; None where `scale_factor` is given
        scale_factor: what the sizes are multiplied by, one number or one for each axis; None where `size` is given
        mode: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear" or "area"
        align_corners: whether the centres of the outermost elements stay where they are; else, and with None, their outer edges
    """
    options: dict[str, _Any] = {"size": size, "scale_factor": scale_factor, "mode": mode, "align_corners": align_corners}
    return _nn_ops.interpolate(input, **options)


def upsample_nearest(
    input: _Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None
) -> _Tensor:
    """`interpolate` with the mode "nearest". See `interpolate`.

    Arguments:
        input: `[n, c, length]`, `[n, c, height, width]` or `[n, c, depth, height, width]`
        size: the new sizes, one for all axes behind the first two, or one for each; None where `scale_factor` is given
        scale_factor: what the sizes are multiplied by, one number or one for each axis; None where `size` is given

    >>> mg.nn.functional.upsample_nearest(mg.tensor([[[[0.0, 1.0]]]]), scale_factor=2)
    tensor([[[[0., 0., 1., 1.],
              [0., 0., 1., 1.]]]])
    """
    return upsample(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: _Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None
) -> _Tensor:
    """`interpolate` with the mode "bilinear" and `align_corners`. See `interpolate`.

    Arguments:
        input: `[n, c, height, width]`; floats, or uint8
        size: the new height and width, one number for both, or two; None where `scale_factor` is given
        scale_factor: what the sizes are multiplied by, one number for both, or two; None where `size` is given

    >>> mg.nn.functional.upsample_bilinear(mg.tensor([[[[0.0, 1.0]]]]), size=(1, 3))
    tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """
    return upsample(input, size, scale_factor, "bilinear", True)


def _pooled(pool: _Callable[..., _Any], *sizes: str) -> str:
    lines = "\n    ".join((f"input: as `{pool.__name__}` takes it", *sizes, "return_indices: of no effect: they are answered in any case"))
    return f"The pool and where its results come from: a pair. See `{pool.__name__}`.\n\nArguments:\n    {lines}"


def _with_indices(pool: _Callable[..., _Any]) -> _Callable[..., tuple[_Tensor, _Tensor]]:
    def pooled(input: _Tensor, output_size: _Any, return_indices: bool = False) -> tuple[_Tensor, _Tensor]:
        values, indices = pool(input, output_size, return_indices=True)
        return values, indices

    pooled.__doc__ = _pooled(pool, "output_size: how many windows there are: one number for all axes, or one for each; None leaves a size")
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

    sizes = (
        "kernel_size: how many elements a window has: one number for all axes, or one for each",
        "output_size: how many windows there are: one number, or one for each axis; None where `output_ratio` is given",
        "output_ratio: which part of the input's sizes that is, in (0, 1); None where `output_size` is given",
        "_random_samples: what is drawn else, in [0, 1); None draws",
    )
    pooled.__doc__ = _pooled(pool, *sizes)
    return pooled


adaptive_max_pool1d_with_indices = _with_indices(_nn_ops.adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_indices(_nn_ops.adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_indices(_nn_ops.adaptive_max_pool3d)

fractional_max_pool2d_with_indices = _fractional(_nn_ops.fractional_max_pool2d)
fractional_max_pool3d_with_indices = _fractional(_nn_ops.fractional_max_pool3d)

__getattr__ = _Lazy(__name__)
