"""Functions that PyTorch has at its top beside `nn.functional`'s, whose arguments come in another order there, and a few of what are
methods else.
"""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _micrograd_rs as _rs
from . import _nn_ops as _nn
from . import _ops
from ._micrograd_rs import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._micrograd_rs import Generator


def detach(input: Tensor) -> Tensor:
    """The tensor without its history. See `Tensor.detach`.

    Arguments:
        input: any tensor; the result lies on the same memory

    >>> x = mg.ones(2, requires_grad=True)
    >>> mg.detach(x * 2).requires_grad
    False
    """
    return input.detach()


def detach_(input: Tensor) -> Tensor:
    """Takes its history off a tensor, which is answered. See `Tensor.detach_`.

    Arguments:
        input: the tensor, no view

    Errors: RuntimeError for a view.

    >>> x = mg.ones(2, requires_grad=True) * 2
    >>> mg.detach_(x).requires_grad
    False
    """
    return input.detach_()


def fill(input: Tensor, value: float | Tensor) -> Tensor:
    """A tensor of the same shape and dtype with one number everywhere.

    Arguments:
        input: whose shape, dtype and device the result has
        value: the number; a tensor without axes is one, too

    >>> mg.fill(mg.zeros(2, 2), 7)
    tensor([[7., 7.],
            [7., 7.]])
    """
    return input.clone().fill_(value)


def fill_(input: Tensor, value: float | Tensor) -> Tensor:
    """Writes one number everywhere into a tensor, which is answered. See `Tensor.fill_`.

    Arguments:
        input: the tensor that is written into
        value: the number; a tensor without axes is one, too

    >>> mg.fill_(mg.zeros(2), 7)
    tensor([7., 7.])
    """
    return input.fill_(value)


def zero_(input: Tensor) -> Tensor:
    """Writes 0 everywhere into a tensor, which is answered. See `Tensor.zero_`.

    Arguments:
        input: the tensor that is written into

    >>> mg.zero_(mg.ones(2))
    tensor([0., 0.])
    """
    return input.zero_()


def is_complex(input: Tensor) -> bool:
    """False: no numbers here are complex. See `Tensor.is_complex`.

    Arguments:
        input: any tensor

    >>> mg.is_complex(mg.ones(2))
    False
    """
    return input.is_complex()


def is_conj(input: Tensor) -> bool:
    """False: no numbers here are complex, so none is left to be conjugated. See `Tensor.is_conj`.

    Arguments:
        input: any tensor

    >>> mg.is_conj(mg.ones(2))
    False
    """
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """False: no number here is left to be negated. See `Tensor.is_neg`.

    Arguments:
        input: any tensor

    >>> mg.is_neg(mg.ones(2))
    False
    """
    return input.is_neg()


def is_inference(input: Tensor) -> bool:
    """Whether a tensor was made within `inference_mode`. See `Tensor.is_inference`.

    Arguments:
        input: any tensor

    >>> mg.is_inference(mg.ones(2))
    False
    """
    return input.is_inference()


def is_nonzero(input: Tensor) -> bool:
    """Whether a number is not 0. Waits for the value. See `Tensor.is_nonzero`.

    Arguments:
        input: a tensor of one element

    Errors: RuntimeError for another number of elements.

    >>> mg.is_nonzero(mg.tensor(3.0))
    True
    """
    return input.is_nonzero()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape. See `Tensor.is_same_size`.

    Arguments:
        input: any tensor
        other: what it is compared with

    >>> mg.is_same_size(mg.ones(2, 3), mg.zeros(2, 3))
    True
    """
    return input.is_same_size(other)


def is_signed(input: Tensor) -> bool:
    """Whether a tensor's dtype has numbers below 0. See `Tensor.is_signed`.

    Arguments:
        input: any tensor

    >>> mg.is_signed(mg.ones(2, dtype=mg.uint8))
    False
    """
    return input.is_signed()


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


def _reduction(number: int | str) -> str:
    names = ("none", "mean", "sum")
    if isinstance(number, str):
        return number
    if not 0 <= number < 3:
        raise ValueError(f"a reduction is 0 (none), 1 (mean) or 2 (sum), got {number}")
    return names[number]


def kl_div(input: Tensor, target: Tensor, reduction: int | str = 0, *, log_target: bool = False) -> Tensor:
    """`nn.functional.kl_div`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input: the logarithms of what was predicted, of any shape
        target: the probabilities, of a shape that broadcasts with that of `input`
        reduction: what the divergences become: 0 leaves them, 1 is their mean, 2 their sum; or the word
        log_target: whether `target` has logarithms

    See `nn.functional.kl_div`.
    """
    return _nn.kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int | str) -> Tensor:
    """`nn.functional.poisson_nll_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input: the rates' logarithms, or with `log_input` false the rates, of any shape
        target: the counts that were seen, of a shape that broadcasts with that of `input`
        log_input: whether `input` has the rates' logarithms
        full: whether Stirling's approximation of the logarithm of the target's factorial is added
        eps: what is added to a rate before its logarithm is taken
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.poisson_nll_loss`.
    """
    return _nn.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int | str = 0
) -> Tensor:
    """`nn.functional.binary_cross_entropy_with_logits`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input: the logits, floats of any shape
        target: the probabilities, or 0 and 1, floats in the shape of `input`
        weight: what losses are multiplied by, of a shape that broadcasts to that of `input`; None multiplies by nothing
        pos_weight: what the terms of targets of 1 are multiplied by, of a shape that broadcasts to that of `input`; None multiplies by nothing
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.binary_cross_entropy_with_logits`.
    """
    return _nn.binary_cross_entropy_with_logits(input, target, weight, reduction=_reduction(reduction), pos_weight=pos_weight)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int | str = 0) -> Tensor:
    """`nn.functional.hinge_embedding_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input: distances, of any shape
        target: 1 where two are alike, −1 where they are not, of a shape that broadcasts with that of `input`
        margin: up to which distance those count that are not alike
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.hinge_embedding_loss`.
    """
    return _nn.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int | str = 0) -> Tensor:
    """`nn.functional.margin_ranking_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input1: what is to be larger where the target is 1, of any shape
        input2: what is to be larger where the target is −1, of a shape that broadcasts with that of `input1`
        target: 1 or −1
        margin: by how much it is to be larger
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.margin_ranking_loss`.
    """
    return _nn.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int | str = 0) -> Tensor:
    """`nn.functional.cosine_embedding_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input1: vectors, `[n, size]` or `[size]`
        input2: as many others
        target: 1 where they are to be alike, −1 where they are not, `[n]` or `[]`
        margin: up to which cosine those of −1 do not count
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.cosine_embedding_loss`.
    """
    return _nn.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int | str = 0,
) -> Tensor:
    """`nn.functional.triplet_margin_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        anchor: what distances are taken from, `[…, size]`
        positive: what is to be near, of a shape that broadcasts with that of `anchor`
        negative: what is to be farther, of a shape that broadcasts with that of `anchor`
        margin: by how much farther
        p: of which norm distances are
        eps: what is added to differences
        swap: whether the distance of `positive` to `negative` is taken where it is smaller
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.triplet_margin_loss`.
    """
    return _nn.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int | str = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """`nn.functional.ctc_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        log_probs: logarithms of probabilities, `[t, n, classes]` or `[t, classes]`
        targets: the labels, integers, `[n, s]`, or one line after the other in one axis
        input_lengths: how many steps of each sample count, `[n]`
        target_lengths: how many labels of each line count, `[n]`
        blank: the class that stands for none
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word
        zero_infinity: whether the loss of what is impossible is 0, and not infinite

    See `nn.functional.ctc_loss`.
    """
    return _nn.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity)


def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]:
    """`nn.functional.adaptive_max_pool1d`, with the positions of the largest.

    Arguments:
        input: `[n, c, length]`, or `[c, length]` without a batch; numbers
        output_size: how long the result is

    Errors: ValueError for another number of axes; TypeError for truth values.

    >>> mg.adaptive_max_pool1d(mg.tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)
    (tensor([[[3., 7.]]]), tensor([[[1, 3]]]))
    """
    size = [output_size] if isinstance(output_size, int) else list(output_size)
    values, indices = _nn.adaptive_max_pool1d(input, size, True)
    return values, indices


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
    from .distributions.discrete import binomial_of

    drawn = binomial_of(count, prob, generator)
    for given in (count, prob):
        if given.requires_grad and _rs.is_grad_enabled():
            drawn = drawn + given.sign().to(drawn.dtype) * 0
    return drawn


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `chunk`.

    Arguments:
        input: any shape of one axis or more
        chunks: how many parts there are at most
        dim: along which axis

    See `chunk`.
    """
    return tuple(input.chunk(chunks, dim))


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `split`.

    Arguments:
        input: any shape of one axis or more
        split_size: how many positions a part has, or a list of the sizes of all parts
        dim: along which axis

    See `split`.
    """
    return tuple(input.split(split_size, dim))


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """As `split_with_sizes`.

    Arguments:
        input: any shape of one axis or more
        split_sizes: a list of the sizes of all parts
        dim: along which axis

    See `split_with_sizes`.
    """
    return tuple(input.split(list(split_sizes), dim))


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """As `narrow`, in memory of its own.

    Arguments:
        input: any shape of one axis or more
        dim: along which axis
        start: the first position, counted from the end if it is negative
        length: how many positions there are

    See `narrow`.
    """
    return input.narrow(dim, start, length).clone()


def to_dlpack(tensor: Tensor) -> object:
    """The tensor's memory in the form in which libraries give it to each other.

    Arguments:
        tensor: any tensor that requires no gradient

    >>> mg.from_dlpack(mg.to_dlpack(mg.tensor([1, 2])))
    tensor([1, 2])
    """
    return tensor.__dlpack__()


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
    from .functional import embedding_bag as bags

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


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros whose axes lie in memory in an order, the outermost first.

    Arguments:
        size: the sizes, as one list
        physical_layout: the axes in that order, each once
        dtype: the dtype of the result; None is the default float
        layout: of no effect: all tensors are strided
        device: where the result is made; None is the default device
        requires_grad: whether the result is a leaf that gradients are computed for
        pin_memory: of no effect

    Errors: RuntimeError for a `physical_layout` that does not name each axis once.

    >>> mg.empty_permuted((2, 3, 4), (0, 2, 1)).stride()
    (12, 1, 3)
    """
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError(f"empty_permuted: the layout names each of {len(size)} axes once, got {tuple(physical_layout)}")
    made = _rs.zeros([size[axis] for axis in physical_layout], dtype=dtype, device=device)
    back = [0] * len(size)
    for at, axis in enumerate(physical_layout):
        back[axis] = at
    made = made.permute(back)
    return made.requires_grad_() if requires_grad else made


def frobenius_norm(input: Tensor, dim: int | Sequence[int] = (), keepdim: bool = False) -> Tensor:
    """The root of the sum of squares.

    Arguments:
        input: any shape
        dim: over which axes, one or several; an empty list is over all of them
        keepdim: whether an axis that is summed over stays in the result, with size 1

    >>> mg.frobenius_norm(mg.tensor([[3.0, 4.0]]))
    tensor(5.)
    """
    from .linalg import vector_norm

    return vector_norm(input, 2, dim if isinstance(dim, int) else tuple(dim) or None, keepdim)


def nuclear_norm(input: Tensor, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of a matrix's singular values.

    Arguments:
        input: any shape of two axes or more; float32 or float64
        dim: the two axes that the matrices lie in
        keepdim: whether these axes stay in the result, with size 1

    >>> mg.nuclear_norm(mg.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(7.)
    """
    from .linalg import matrix_norm

    return matrix_norm(input, "nuc", tuple(dim), keepdim)


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


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """`nonzero`, in so many rows: the first of them, or followed by rows of `fill_value`.

    Arguments:
        input: any shape and dtype
        size: how many rows there are
        fill_value: what stands in rows that nothing was found for

    >>> mg.nonzero_static(mg.tensor([0, 5, 7]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    found = input.nonzero()[:size]
    missing = size - found.shape[0]
    return _ops.cat([found, found.new_full((missing, input.dim()), fill_value)]) if missing else found


def conj_physical_(input: Tensor) -> Tensor:
    """The tensor itself: its numbers are real. `Tensor.conj_physical_` as a function.

    Arguments:
        input: any tensor

    >>> mg.conj_physical_(mg.tensor([1.0]))
    tensor([1.])
    """
    return input.conj_physical_()


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """`Tensor.resize_as_` as a function: gives a tensor another one's shape.

    Arguments:
        input: the tensor that is written into
        the_template: the tensor whose shape it is
        memory_format: of no effect

    >>> x = mg.arange(6)
    >>> mg.resize_as_(x, mg.empty(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return input.resize_as_(the_template)


def from_file(
    filename: str, shared: bool | None = None, size: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False
) -> Tensor:
    """The first elements of a file, in one axis.

    Arguments:
        filename: the file's path
        shared: whether what is written to the tensor is in the file, which is made as large as the elements need; that wants NumPy
        size: how many elements there are
        dtype: the dtype of the elements; None is the default float
        layout: of no effect: all tensors are strided
        device: where the tensor is; None is the default device, and with `shared` the host
        pin_memory: of no effect

    Errors: RuntimeError for a file that is too short; OSError for one that cannot be read.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
    >>> _ = open(path, "wb").write(bytes([1, 2, 3]))
    >>> mg.from_file(path, size=2, dtype=mg.uint8)
    tensor([1, 2], dtype=micrograd_rs.uint8)
    """
    import mmap
    from ._legacy import frombuffer

    dtype = _rs.get_default_dtype() if dtype is None else dtype
    length = size * _rs.zeros(0, dtype=dtype).itemsize
    if not shared:
        with open(filename, "rb") as file:
            data = bytearray(file.read(length))
        if len(data) < length:
            raise RuntimeError(f"from_file: {filename} has {len(data)} bytes, {size} elements are {length}")
        made = frombuffer(data, dtype=dtype, count=size) if size else _rs.zeros(0, dtype=dtype)
        return made.to(device=device)
    with open(filename, "a+b") as file:
        if file.seek(0, 2) < length:
            file.truncate(length)
        file.flush()
        mapped = mmap.mmap(file.fileno(), length)
    return frombuffer(mapped, dtype=dtype, count=size)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """`linalg.lu_factor`, or with `get_infos` `linalg.lu_factor_ex`, under the name of older days.

    Arguments:
        A: the matrices, `[…, m, n]`; float32 or float64
        pivot: True: there is no elimination without row exchanges here
        get_infos: whether the answer has a third tensor, which says where `U` has its first 0; a singular matrix is no error then

    Errors: ValueError for what is no matrix, and for `pivot=False`; TypeError for other dtypes; LinAlgError, without `get_infos`, for a singular matrix.

    >>> mg.lu(mg.tensor([[0.0, 1.0], [2.0, 3.0]]))
    (tensor([[2., 3.],
            [0., 1.]]), tensor([2, 2], dtype=micrograd_rs.int32))
    """
    from .linalg import lu_factor, lu_factor_ex

    return lu_factor_ex(A, pivot=pivot) if get_infos else tuple(lu_factor(A, pivot=pivot))


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """The convolution of sequences with kernels: `conv1d` with its axes in another order. The answer is `[length + 2 pad − width + 1, n, out_channels]`.

    Arguments:
        input: the sequences, `[length, n, in_channels]`
        weight: the kernels, `[width, in_channels, out_channels]`
        bias: what is added, `[out_channels]`
        pad: how many zeros are put before and behind each sequence

    >>> mg.conv_tbc(mg.ones(5, 1, 2), mg.ones(3, 2, 4), mg.zeros(4), pad=1).shape
    (5, 1, 4)
    """
    return _nn.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad).permute(2, 0, 1)


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """`conv1d`, `conv2d` or `conv3d`, or their transposes, by the number of axes.

    Arguments:
        input: what is convolved, as `conv2d` takes it
        weight: the kernels, as `conv2d` takes them, or `conv_transpose2d`
        bias: what is added to each output channel; None adds nothing
        stride: how far the kernel moves each time, one number for each axis
        padding: how many zeros are put before and behind each axis
        dilation: how far the kernel's elements are from each other along each axis
        transposed: whether it is the transposed convolution
        output_padding: how many elements are added behind the end of each axis of a transposed one
        groups: how many parts the channels are in

    Errors: ValueError for a weight of other than 3 to 5 axes, and as `conv2d`.

    >>> mg.convolution(mg.ones(1, 3, 8, 8), mg.ones(4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1).shape
    (1, 4, 6, 6)
    """
    axes = weight.dim() - 2
    if not 1 <= axes <= 3:
        raise _rs.ArgumentError(f"convolution: takes a weight of 3 to 5 axes, got {list(weight.shape)}")
    sizes = [list(each) for each in (stride, padding, dilation, output_padding)]
    if transposed:
        transposes = (_nn.conv_transpose1d, _nn.conv_transpose2d, _nn.conv_transpose3d)
        return transposes[axes - 1](input, weight, bias, sizes[0], sizes[1], sizes[3], groups, sizes[2])
    forwards = (_nn.conv1d, _nn.conv2d, _nn.conv3d)
    return forwards[axes - 1](input, weight, bias, sizes[0], sizes[1], sizes[2], groups)


def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """As `channel_shuffle`.

    Arguments:
        input: `[n, channels, …]`
        groups: how many groups the channels part into

    See `channel_shuffle`.
    """
    return _nn.channel_shuffle(input, groups)


def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`nn.functional.grid_sample`, with numbers for words.

    Arguments:
        input: images, `[n, c, height, width]`, or volumes, `[n, c, depth, height, width]`; floats
        grid: where it is read: an x and a y for each place, `[n, h, w, 2]`, or an x, a y and a z, `[n, d, h, w, 3]`
        interpolation_mode: 0 is bilinear, 1 nearest, 2 bicubic
        padding_mode: what lies beyond the edges: 0 zeros, 1 the border, 2 the reflection
        align_corners: whether −1 and 1 are the centres of the outermost elements; else their outer edges

    Errors: ValueError for other numbers, and as `nn.functional.grid_sample`.

    See `nn.functional.grid_sample`.

    >>> mg.grid_sampler(mg.tensor([[[[0.0, 10.0]]]]), mg.tensor([[[[0.0, 0.0]]]]), 0, 0, True)
    tensor([[[[5.]]]])
    """
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if not (0 <= interpolation_mode < 3 and 0 <= padding_mode < 3):
        raise _rs.ArgumentError(f"grid_sampler: modes are 0, 1 and 2, got {interpolation_mode} and {padding_mode}")
    return _nn.grid_sample(input, grid, modes[interpolation_mode], paddings[padding_mode], align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """As `nn.functional.affine_grid`.

    Arguments:
        theta: the maps, `[n, 2, 3]` or `[n, 3, 4]`
        size: the sizes of the images that are moved, `[n, c, h, w]` or `[n, c, d, h, w]`
        align_corners: whether −1 and 1 are the centres of the outermost elements, else their edges

    See `nn.functional.affine_grid`, whose `theta` is the input.
    """
    return _nn.affine_grid(theta, list(size), align_corners)


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """What one of two functions makes of the operands. The condition is read: `where` chooses element by element, and without reading.

    Arguments:
        pred: a truth value, or a tensor of one
        true_fn: the function where it holds
        false_fn: the function where it does not
        operands: what the function is called with, a list or tuple

    >>> from micrograd_rs import cond, tensor
    >>> cond(tensor(True), lambda x: x + 1, lambda x: x - 1, (tensor(1.0),)).item()
    2.0
    """
    return (true_fn if bool(pred) else false_fn)(*operands)


def sym_sum(args: Sequence[Any]) -> Any:
    """`sum(args)`.

    Arguments:
        args: a list of numbers

    >>> mg.sym_sum([1, 2, 3])
    6
    """
    return builtins.sum(args)


def sym_sqrt(a: Any) -> float:
    """`math.sqrt(a)`.

    Arguments:
        a: a number that is not negative

    >>> mg.sym_sqrt(9)
    3.0
    """
    return math.sqrt(a)


def _packed(
    mode: str,
    data: Tensor,
    batch_sizes: object,
    hx: Tensor | Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> Any:
    """A recurrent network over packed sequences, as `nn.utils.rnn.pack_padded_sequence` makes them."""
    if not isinstance(batch_sizes, Tensor) or batch_sizes.dtype != _rs.int64 or batch_sizes.dim() != 1:
        raise TypeError(f"{mode.lower()}: takes batch_sizes as a tensor of int64 in one axis, got {batch_sizes!r}")
    states = [hx] if isinstance(hx, Tensor) else list(hx)
    rest = has_biases, num_layers, dropout, train, bidirectional
    return tuple(_ops.packed_rnn(data, batch_sizes.tolist(), mode, states, params, *rest))


def _recurrent(mode: str, even: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A recurrent network as PyTorch calls it: over one tensor, or over packed sequences, where the second argument says how many there are at
    each step. States are floats, and those of `lstm` a list.
    """
    sizes = args[1] if len(args) > 1 else None
    is_packed = isinstance(sizes, Tensor) and (mode == "LSTM" or not sizes.is_floating_point())
    if is_packed or "batch_sizes" in named or "data" in named:
        return _packed(mode, *args, **named)
    return even(*args, **named)


def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """An Elman network of tanh. A call is `rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or over
    packed sequences `rnn_tanh(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`, where rows `data` are as
    `nn.utils.rnn.pack_padded_sequence` lays them, and answers with rows.

    Arguments:
        input: the sequences, `[steps, batch, features]` (or `[batch, steps, features]` with `batch_first`)
        data, batch_sizes: of packed sequences the rows, `[rows, features]`, and how many sequences there are at each step, int64
        hx: the states at the beginning, `[layers · directions, batch, size]`
        params: a list: of each layer and each direction the weights `[size, features]` and `[size, size]` and, with `has_biases`, two biases `[size]`
        has_biases: whether `params` has biases
        num_layers: how many layers there are
        dropout: the probability with which the input of a layer after the first is left out, while `train`
        train: whether anything is left out
        bidirectional: whether each layer goes backwards, too: then there are two directions, else one
        batch_first: whether the batch is the first axis of `input` and of the outputs, and not the second

    Errors: ValueError for shapes that do not fit, for no steps, and for tensors on different devices; TypeError for different dtypes, and for
    `batch_sizes` that are not int64 in one axis.

    >>> layer, x, h = mg.nn.RNN(3, 2), mg.ones(4, 1, 3), mg.zeros(1, 1, 2)
    >>> answer = mg.rnn_tanh(x, h, list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> [part.shape for part in answer]
    [(4, 1, 2), (1, 1, 2)]
    """
    answer: tuple[Tensor, Tensor] = _recurrent("RNN_TANH", _rs.rnn_tanh, args, kwargs)
    return answer


def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """An Elman network of `max(x, 0)`. A call is `rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or over
    packed sequences `rnn_relu(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`, where rows `data` are as
    `nn.utils.rnn.pack_padded_sequence` lays them, and answers with rows.

    Arguments:
        input: the sequences, `[steps, batch, features]` (or `[batch, steps, features]` with `batch_first`)
        data, batch_sizes: of packed sequences the rows, `[rows, features]`, and how many sequences there are at each step, int64
        hx: the states at the beginning, `[layers · directions, batch, size]`
        params: a list: of each layer and each direction the weights `[size, features]` and `[size, size]` and, with `has_biases`, two biases `[size]`
        has_biases: whether `params` has biases
        num_layers: how many layers there are
        dropout: the probability with which the input of a layer after the first is left out, while `train`
        train: whether anything is left out
        bidirectional: whether each layer goes backwards, too: then there are two directions, else one
        batch_first: whether the batch is the first axis of `input` and of the outputs, and not the second

    Errors: ValueError for shapes that do not fit, for no steps, and for tensors on different devices; TypeError for different dtypes, and for
    `batch_sizes` that are not int64 in one axis.

    >>> layer, x, h = mg.nn.RNN(3, 2, nonlinearity="relu"), mg.ones(4, 1, 3), mg.zeros(1, 1, 2)
    >>> answer = mg.rnn_relu(x, h, list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> [part.shape for part in answer]
    [(4, 1, 2), (1, 1, 2)]
    """
    answer: tuple[Tensor, Tensor] = _recurrent("RNN_RELU", _rs.rnn_relu, args, kwargs)
    return answer


def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Gated recurrent units (Cho et al., 2014). A call is `gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or over
    packed sequences `gru(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`, where rows `data` are as
    `nn.utils.rnn.pack_padded_sequence` lays them, and answers with rows.

    Arguments:
        input: the sequences, `[steps, batch, features]` (or `[batch, steps, features]` with `batch_first`)
        data, batch_sizes: of packed sequences the rows, `[rows, features]`, and how many sequences there are at each step, int64
        hx: the states at the beginning, `[layers · directions, batch, size]`
        params: a list: of each layer and each direction the weights `[3 size, features]` and `[3 size, size]` and, with `has_biases`, two biases `[3 size]`
        has_biases: whether `params` has biases
        num_layers: how many layers there are
        dropout: the probability with which the input of a layer after the first is left out, while `train`
        train: whether anything is left out
        bidirectional: whether each layer goes backwards, too: then there are two directions, else one
        batch_first: whether the batch is the first axis of `input` and of the outputs, and not the second

    Errors: ValueError for shapes that do not fit, for no steps, and for tensors on different devices; TypeError for different dtypes, and for
    `batch_sizes` that are not int64 in one axis.

    >>> layer, x, h = mg.nn.GRU(3, 2), mg.ones(4, 1, 3), mg.zeros(1, 1, 2)
    >>> answer = mg.gru(x, h, list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> [part.shape for part in answer]
    [(4, 1, 2), (1, 1, 2)]
    """
    answer: tuple[Tensor, Tensor] = _recurrent("GRU", _rs.gru, args, kwargs)
    return answer


def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); `hx` is a list of two states. A call is
    `lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or over packed sequences `lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`, where rows `data` are as
    `nn.utils.rnn.pack_padded_sequence` lays them, and answers with rows.

    Arguments:
        input: the sequences, `[steps, batch, features]` (or `[batch, steps, features]` with `batch_first`)
        data, batch_sizes: of packed sequences the rows, `[rows, features]`, and how many sequences there are at each step, int64
        hx: the states at the beginning, `[h, c]`, a list of two, each `[layers · directions, batch, size]`
        params: a list: of each layer and each direction the weights `[4 size, features]` and `[4 size, size]` and, with `has_biases`, two biases `[4 size]`
        has_biases: whether `params` has biases
        num_layers: how many layers there are
        dropout: the probability with which the input of a layer after the first is left out, while `train`
        train: whether anything is left out
        bidirectional: whether each layer goes backwards, too: then there are two directions, else one
        batch_first: whether the batch is the first axis of `input` and of the outputs, and not the second

    Errors: ValueError for shapes that do not fit, for no steps, and for tensors on different devices; TypeError for different dtypes, and for
    `batch_sizes` that are not int64 in one axis.

    >>> layer, x, h = mg.nn.LSTM(3, 2), mg.ones(4, 1, 3), mg.zeros(1, 1, 2)
    >>> answer = mg.lstm(x, [h, h], list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> [part.shape for part in answer]
    [(4, 1, 2), (1, 1, 2), (1, 1, 2)]
    """
    answer: tuple[Tensor, Tensor, Tensor] = _recurrent("LSTM", _rs.lstm, args, kwargs)
    return answer
