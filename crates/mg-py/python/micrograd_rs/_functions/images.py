"""What images and sequences are put through: convolutions, windows and grids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _micrograd_rs as _rs
from .. import _nn_ops as _nn
from .._micrograd_rs import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence


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
