"""Dropout, embeddings and norms, whose arguments come in another order than those of `nn.functional`, or whose answer has more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _micrograd_rs as _rs
from .. import _nn_ops as _nn
from .. import _ops
from .._micrograd_rs import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.dropout`, under PyTorch's name at the top. See there.

    Arguments:
        input: floats of any shape
        p: the probability with which an element becomes 0, in [0, 1]
        train: whether anything is left out; else the result is `input` itself

    Errors: ValueError for a probability outside [0, 1]; TypeError for integers, where some are left out.

    See `nn.functional.dropout`.
    """
    return _nn.dropout(input, p, train)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout`, in place.

    Arguments:
        input: the tensor that is written into: floats of any shape
        p: the probability with which an element becomes 0, in [0, 1]
        train: whether anything is left out

    >>> mg.dropout_(mg.ones(3), 1.0, True)
    tensor([0., 0., 0.])
    """
    return _nn.dropout_(input, p, train)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """`dropout`, and which elements it kept.

    Arguments:
        input: floats of any shape
        p: the probability with which an element becomes 0, in [0, 1]
        train: whether anything is left out; None is yes

    >>> mg.native_dropout(mg.ones(2), 0.5, False)
    (tensor([1., 1.]), tensor([True, True]))
    """
    if train is False or p == 0:
        return input.clone(), _rs.ones_like(input, dtype="bool")
    kept = _rs.rand_like(input.detach()) >= p
    return input * kept * (1 / (1 - p) if p < 1 else 0.0), kept


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """`nn.functional.embedding`, with the table first.

    Arguments:
        weight: the table, `[n, size]`
        indices: which rows are taken: integers of any shape
        padding_idx: the row that gets no gradient; −1 is none
        scale_grad_by_freq: False: gradients are divided by how often a row is read by `nn.functional.embedding` alone
        sparse: of no effect: gradients are dense

    Errors: ValueError for `scale_grad_by_freq`, for what is no table, and for a `padding_idx` outside it; TypeError for `indices` that are not of integers;
    IndexError for an index outside the table.

    >>> mg.embedding(mg.tensor([[0.0, 0.0], [1.0, 10.0]]), mg.tensor([1, 0]))
    tensor([[ 1., 10.],
            [ 0.,  0.]])
    """
    if scale_grad_by_freq:
        raise ValueError("gradients are not divided by how often a row is read")
    return _nn.embedding(indices, weight, None if padding_idx == -1 else padding_idx)


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`nn.functional.embedding_bag`, with the table first and the mode as a number; beside the answer which bag each index is in,
    how many indices a bag has, and the offsets. In PyTorch these three are for its own use.

    Arguments:
        weight: the table, `[n, size]`
        indices: which rows are taken: integers, `[m]`
        offsets: where each bag begins in `[m]`, integers that begin with 0 and do not fall
        scale_grad_by_freq: whether a row's gradient is divided by how often it is taken
        mode: 0 for sums, 1 for means, 2 for the largest
        sparse: of no effect: gradients are dense
        per_sample_weights: what each row is multiplied by, `[m]`, in sums; None counts each once
        include_last_offset: whether the last of `offsets` is the end of the last bag
        padding_idx: the row that does not count; None is none

    Errors: ValueError for another `mode`, and as `nn.functional.embedding_bag`.

    >>> mg.embedding_bag(mg.tensor([[0.0, 0.0], [1.0, 10.0]]), mg.tensor([1, 1]), mg.tensor([0]))[0]
    tensor([[ 2., 20.]])
    """
    from ..functional import embedding_bag as bags

    names = ("sum", "mean", "max")
    if not 0 <= mode < 3:
        raise ValueError(f"embedding_bag: a mode is 0 (sum), 1 (mean) or 2 (max), got {mode}")
    answer = bags(
        indices, weight, offsets, None, 2.0, scale_grad_by_freq, names[mode], sparse, per_sample_weights, include_last_offset, padding_idx
    )
    starts = offsets[:-1] if include_last_offset else offsets
    ends = offsets[1:] if include_last_offset else _ops.cat([offsets[1:], offsets.new_full((1,), indices.numel())])
    bag_of = _ops.repeat_interleave(_rs.arange(starts.numel(), device=indices.device), ends - starts)
    return answer, bag_of, ends - starts, offsets


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`nn.functional.batch_norm`, with the parameters first.

    Arguments:
        input: `[n, channels, …]`; integers are converted to the default float
        weight: what each channel is multiplied by then, `[channels]`; None multiplies by nothing
        bias: what is added to each channel last, `[channels]`; None adds nothing
        running_mean: a mean for each channel, `[channels]`, which in training is written to; None keeps none
        running_var: a variance for each channel, `[channels]`, which in training is written to; None keeps none
        training: whether the input is normalised by its own mean and variance, towards which the running ones are moved
        momentum: how far they are moved: 1 is all the way
        eps: what is added to the variance
        cudnn_enabled: of no effect

    See `nn.functional.batch_norm`.
    """
    return _nn.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`nn.functional.instance_norm`, with the parameters first.

    Arguments:
        input: `[n, channels, length, …]`; integers are converted to the default float
        weight: what each channel is multiplied by then, `[channels]`; None multiplies by nothing
        bias: what is added to each channel last, `[channels]`; None adds nothing
        running_mean: a mean for each channel, `[channels]`, which with `use_input_stats` is written to; None keeps none
        running_var: a variance for each channel, `[channels]`, which with `use_input_stats` is written to; None keeps none
        use_input_stats: whether each sample is normalised by its own mean and variance, towards which the running ones are moved
        momentum: how far they are moved: 1 is all the way
        eps: what is added to the variance
        cudnn_enabled: of no effect

    See `nn.functional.instance_norm`.
    """
    return _nn.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.layer_norm`, and without gradients the means, and one over the deviations.

    Arguments:
        input: any shape that ends with `normalized_shape`
        normalized_shape: the sizes of the last axes, over which it is normalised
        weight: what it is multiplied by then, of the shape `normalized_shape`; None multiplies by nothing
        bias: what is added last, of the same shape; None adds nothing
        eps: what is added to the variance

    Errors: ValueError for sizes that are not the last ones.

    See `nn.functional.layer_norm`.

    >>> y, mean, rstd = mg.native_layer_norm(mg.tensor([[1.0, 3.0]]), (2,), None, None, 0.0)
    >>> mean, rstd
    (tensor([[2.]]), tensor([[1.]]))
    """
    axes = list(range(-len(normalized_shape), 0))
    if tuple(input.shape[input.dim() - len(axes) :]) != tuple(normalized_shape) or not axes:
        raise _rs.ArgumentError(f"native_layer_norm: takes a tensor that ends with the axes {list(normalized_shape)}, got shape {list(input.shape)}")
    x = input.detach()
    mean = x.mean(axes, True)
    return _nn.layer_norm(input, list(normalized_shape), weight, bias, eps), mean, (x.var(axes, False, True) + eps).rsqrt()
