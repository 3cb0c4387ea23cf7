"""Pooling, and windows as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import functional as F
from .._micrograd_rs import Tensor
from .module import Module

_Size = int | Sequence[int]
_Open = int | Sequence[int | None] | None


def _tuple(size: _Size) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else tuple(size)


def _windows(module: Any) -> str:
    """How windows lie, as a module shows it."""
    return f"kernel_size={module.kernel_size}, stride={module.stride}, padding={module.padding}"


class _MaxPool(Module):
    """What takes the largest element of windows.

    Arguments:
        kernel_size: how many elements a window has along each axis: a number for all, or one for each axis
        stride: how far a window is from the next: a number for all axes, or one for each; None: `kernel_size`, so that windows touch
        padding: how many elements, which are never the largest, are put on each side: a number for all axes, or one for each; at most half of
            `kernel_size`
        dilation: how far a window's elements are from each other in the input; 1: they are neighbours
        return_indices: whether it answers with a pair: the largest elements, and where they stand
        ceil_mode: whether the count of windows is rounded up, so that the last one may hang over the end

    Errors: in a call, ArgumentError for another number of axes, and for windows that do not fit the padded input.
    """

    pool: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        dilation: _Size = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride: _Size = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The largest element of each window, in the input's dtype and with its first axes; with `return_indices` a pair of these and of int64 indices
        in the same shape: where in the channel, read row by row, each one stands. Each of the last axes is of the size `⌊(size + 2 · padding −
        dilation · (kernel_size − 1) − 1) / stride⌋ + 1`, with `ceil_mode` rounded up.

        Arguments:
            input: `[n, channels, …]` with as many axes behind the channels as the class's name says, or that without `n`

        Errors: ArgumentError for another number of axes, for windows that do not fit the padded input, and for a `padding` above half of `kernel_size`.
        """
        sizes = (self.kernel_size, self.stride, self.padding, self.dilation)
        return type(self).pool(input, *sizes, ceil_mode=self.ceil_mode, return_indices=self.return_indices)

    def extra_repr(self) -> str:
        return f"{_windows(self)}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


class MaxPool1d(_MaxPool):
    """The largest element of each window over sequences.

    >>> mg.nn.MaxPool1d(2)(mg.tensor([[[1.0, 5.0, 2.0, 3.0]]]))
    tensor([[[5., 3.]]])

    Shapes: `[n, channels, length]` gives `[n, channels, length_out]` with `length_out = ⌊(length + 2 · padding − dilation · (kernel_size − 1) − 1) /
    stride⌋ + 1`. Both may be without `n`.
    """

    pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest element of each window over images.

    >>> mg.nn.MaxPool2d(2)(mg.arange(16.0).reshape(1, 1, 4, 4))
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, height_out, width_out]` with `size_out = ⌊(size + 2 · padding − dilation ·
    (kernel_size − 1) − 1) / stride⌋ + 1` for each of the two. Both may be without `n`.
    """

    pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest element of each window over volumes.

    >>> mg.nn.MaxPool3d(3, stride=2, padding=1)(mg.ones(1, 1, 8, 8, 8)).shape
    (1, 1, 4, 4, 4)

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, depth_out, height_out, width_out]` with `size_out = ⌊(size + 2 · padding −
    dilation · (kernel_size − 1) − 1) / stride⌋ + 1` for each of the three. Both may be without `n`.
    """

    pool = staticmethod(F.max_pool3d)


class _AvgPoolNd(Module):
    """What averages over windows.

    Arguments:
        kernel_size: how many elements a window has along each axis: a number for all, or one for each axis
        stride: how far a window is from the next: a number for all axes, or one for each; None: `kernel_size`, so that windows touch
        padding: how many zeros are put on each side: a number for all axes, or one for each; at most half of `kernel_size`
        ceil_mode: whether the count of windows is rounded up, so that the last one may hang over the end
        count_include_pad: whether the zeros of `padding` count in the mean
        divisor_override: what sums are divided by, instead of by the number of their elements

    Errors: in a call, ArgumentError for another number of axes, and for windows that do not fit the padded input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """The mean of each window, in the input's dtype and with its first axes. Each of the last axes is of the size `⌊(size + 2 · padding −
        kernel_size) / stride⌋ + 1`, with `ceil_mode` rounded up.

        Arguments:
            input: `[n, channels, …]` with as many axes behind the channels as the class's name says, or that without `n`; means of integers are
                rounded towards 0

        Errors: ArgumentError for another number of axes, for windows that do not fit the padded input, and for a `padding` above half of `kernel_size`.
        """
        raise NotImplementedError

    def extra_repr(self) -> str:
        return _windows(self)


class AvgPool1d(_AvgPoolNd):
    """The mean of each window over sequences.

    >>> mg.nn.AvgPool1d(2)(mg.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[2., 6.]]])

    Shapes: `[n, channels, length]` gives `[n, channels, length_out]` with `length_out = ⌊(length + 2 · padding − kernel_size) / stride⌋ + 1`. Both
    may be without `n`.
    """

    def __init__(
        self,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        # Over one axis PyTorch keeps sizes as tuples.
        sizes = (kernel_size, kernel_size if stride is None else stride, padding)
        self.kernel_size, self.stride, self.padding = (_tuple(size) for size in sizes)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        sizes = (self.kernel_size, self.stride, self.padding)
        return F.avg_pool1d(input, *sizes, self.ceil_mode, self.count_include_pad)


class _AvgPool(_AvgPoolNd):
    pool: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride: _Size = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        sizes = (self.kernel_size, self.stride, self.padding)
        return type(self).pool(input, *sizes, self.ceil_mode, self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPool):
    """The mean of each window over images.

    >>> mg.nn.AvgPool2d(2)(mg.arange(16.0).reshape(1, 1, 4, 4))
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, height_out, width_out]` with `size_out = ⌊(size + 2 · padding − kernel_size) / stride⌋
    + 1` for each of the two. Both may be without `n`.
    """

    pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window over volumes.

    >>> mg.nn.AvgPool3d(2, stride=1)(mg.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 3, 3, 3)

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, depth_out, height_out, width_out]` with `size_out = ⌊(size + 2 · padding −
    kernel_size) / stride⌋ + 1` for each of the three. Both may be without `n`.
    """

    pool = staticmethod(F.avg_pool3d)


class _AdaptiveAvgPool(Module):
    """What averages over shares.

    Arguments:
        output_size: how many shares each axis is cut into, and so how long it is in the output: a number for all axes, or one for each, where None
            keeps the axis's size

    Errors: in a call, ArgumentError for another number of axes, and for an `output_size` of another number of sizes; DTypeError for integers.
    """

    pool: ClassVar[Callable[..., Tensor]]

    def __init__(self, output_size: _Open) -> None:
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The mean of each share, in the input's dtype and with its first axes; the last ones are of `output_size`.

        Arguments:
            input: floats, `[n, channels, …]` with as many axes behind the channels as the class's name says, or that without `n`

        Errors: ArgumentError for another number of axes, and for an `output_size` of another number of sizes; DTypeError for integers.
        """
        return type(self).pool(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of so many shares of sequences. Share `i` of `s` is of the elements from `⌊i · length / s⌋` to before `⌈(i + 1) · length / s⌉`, so that
    any length gives the same size.

    >>> mg.nn.AdaptiveAvgPool1d(2)(mg.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[2., 6.]]])

    Shapes: `[n, channels, length]` gives `[n, channels, output_size]`. Both may be without `n`.
    """

    pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of so many shares of images, along each axis as those of `AdaptiveAvgPool1d`, so that images of any size give the same.

    >>> mg.nn.AdaptiveAvgPool2d(1)(mg.ones(4, 8, 7, 9)).shape
    (4, 8, 1, 1)

    Shapes: `[n, channels, height, width]` gives `[n, channels, *output_size]`. Both may be without `n`.
    """

    pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of so many shares of volumes, along each axis as those of `AdaptiveAvgPool1d`, so that volumes of any size give the same.

    >>> mg.nn.AdaptiveAvgPool3d((1, 2, None))(mg.ones(4, 8, 3, 7, 9)).shape
    (4, 8, 1, 2, 9)

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, *output_size]`. Both may be without `n`.
    """

    pool = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPool(Module):
    """What takes the largest element of shares.

    Arguments:
        output_size: how many shares each axis is cut into, and so how long it is in the output: a number for all axes, or one for each, where None
            keeps the axis's size
        return_indices: whether it answers with a pair: the largest elements, and where they stand

    Errors: in a call, ArgumentError for another number of axes, and for an `output_size` of another number of sizes.
    """

    pool: ClassVar[Callable[..., Any]]

    def __init__(self, output_size: _Open, return_indices: bool = False) -> None:
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """The largest element of each share, in the input's dtype and with its first axes; the last ones are of `output_size`. With `return_indices` a
        pair of these and of int64 indices in the same shape: where in the channel, read row by row, each one stands.

        Arguments:
            input: `[n, channels, …]` with as many axes behind the channels as the class's name says, or that without `n`

        Errors: ArgumentError for another number of axes, and for an `output_size` of another number of sizes.
        """
        return type(self).pool(input, self.output_size, return_indices=self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest elements of so many shares of sequences; shares are those of `AdaptiveAvgPool1d`.

    >>> mg.nn.AdaptiveMaxPool1d(2)(mg.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[3., 7.]]])

    Shapes: `[n, channels, length]` gives `[n, channels, output_size]`. Both may be without `n`.
    """

    pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest elements of so many shares of images, along each axis as those of `AdaptiveAvgPool1d`.

    >>> mg.nn.AdaptiveMaxPool2d(2)(mg.arange(16.0).reshape(1, 1, 4, 4))
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, *output_size]`. Both may be without `n`.
    """

    pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest elements of so many shares of volumes, along each axis as those of `AdaptiveAvgPool1d`.

    >>> mg.nn.AdaptiveMaxPool3d(1)(mg.ones(4, 8, 3, 7, 9)).shape
    (4, 8, 1, 1, 1)

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, *output_size]`. Both may be without `n`.
    """

    pool = staticmethod(F.adaptive_max_pool3d)


class _LPPool(Module):
    """What takes norms of windows.

    Arguments:
        norm_type: the power, `p`: 1 for sums, 2 for Euclidean norms
        kernel_size: how many elements a window has along each axis: a number for all, or one for each axis
        stride: how far a window is from the next: a number for all axes, or one for each; None: `kernel_size`, so that windows touch
        ceil_mode: whether the count of windows is rounded up, so that the last one may hang over the end

    Errors: in a call, ArgumentError for another number of axes, and for windows that do not fit the input.
    """

    pool: ClassVar[Callable[..., Tensor]]

    def __init__(
        self, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False
    ) -> None:
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """`(Σ xᵖ)^(1/p)` of each window, with the input's first axes. Each of the last axes is of the size `⌊(size − kernel_size) / stride⌋ + 1`, with
        `ceil_mode` rounded up.

        Arguments:
            input: `[n, channels, …]` with as many axes behind the channels as the class's name says, or that without `n`; integers count as floats

        Errors: ArgumentError for another number of axes, and for windows that do not fit the input.
        """
        return type(self).pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        sizes = f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}"
        return f"{sizes}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPool):
    """`(Σ xᵖ)^(1/p)` of each window over sequences, where `p` is `norm_type`.

    >>> mg.nn.LPPool1d(2, 2)(mg.tensor([[[3.0, 4.0, 6.0, 8.0]]]))
    tensor([[[ 5., 10.]]])

    Shapes: `[n, channels, length]` gives `[n, channels, length_out]` with `length_out = ⌊(length − kernel_size) / stride⌋ + 1`. Both may be without
    `n`.
    """

    pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """`(Σ xᵖ)^(1/p)` of each window over images, where `p` is `norm_type`.

    >>> mg.nn.LPPool2d(2, 2)(mg.tensor([[[3.0, 4.0], [0.0, 0.0]]]))
    tensor([[[5.]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, height_out, width_out]` with `size_out = ⌊(size − kernel_size) / stride⌋ + 1` for each
    of the two. Both may be without `n`.
    """

    pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """`(Σ xᵖ)^(1/p)` of each window over volumes, where `p` is `norm_type`.

    >>> mg.nn.LPPool3d(1, 2)(mg.ones(1, 2, 2, 2))
    tensor([[[[8.]]]])

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, depth_out, height_out, width_out]` with `size_out = ⌊(size − kernel_size) /
    stride⌋ + 1` for each of the three. Both may be without `n`.
    """

    pool = staticmethod(F.lp_pool3d)


class _MaxUnpool(Module):
    """What puts the largest elements of windows back.

    Arguments:
        kernel_size: how many elements a window of the pool has along each axis: a number for all, or one for each axis
        stride: how far a window of the pool is from the next: a number for all axes, or one for each; None: `kernel_size`
        padding: how many elements the pool has put on each side: a number for all axes, or one for each

    Errors: in a call, ArgumentError for indices of another shape or dtype, and for an `output_size` that is too far; IndexError for an index outside
    of it.
    """

    axes: ClassVar[int]
    pool: ClassVar[Callable[..., Tensor]]

    def __init__(self, kernel_size: _Size, stride: _Size | None = None, padding: _Size = 0) -> None:
        def each(size: _Size) -> tuple[int, ...]:
            return (size,) * self.axes if isinstance(size, int) else tuple(size)

        self.kernel_size = each(kernel_size)
        self.stride = self.kernel_size if stride is None else each(stride)
        self.padding = each(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The elements back where they stood, and zeros elsewhere, in the input's dtype and with its first axes. Each of the last axes is of the size
        `(size − 1) · stride − 2 · padding + kernel_size`.

        Arguments:
            input: what the pool answered with, `[n, channels, …]` with as many axes behind the channels as the class's name says, or that without `n`
            indices: where the pool found them, int64 in the same shape, as `return_indices` answers
            output_size: the shape before the pool, or its last axes: `stride` and what was cut off at the end leave several open; None: the size
                above

        Errors: ArgumentError for indices of another shape or dtype, and for an `output_size` that is as far as a `stride` from the size above;
        IndexError, when the result is computed, for an index outside of it.

        >>> pool, back = mg.nn.MaxPool1d(2, return_indices=True), mg.nn.MaxUnpool1d(2)
        >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0, 4.0]]])
        >>> back(*pool(x), output_size=x.shape)
        tensor([[[0., 5., 0., 3., 0.]]])
        """
        return type(self).pool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Zeros, with the largest elements of windows where they stood: the reverse of `MaxPool1d`.

    >>> pool, back = mg.nn.MaxPool1d(2, return_indices=True), mg.nn.MaxUnpool1d(2)
    >>> back(*pool(mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])))
    tensor([[[0., 5., 0., 3.]]])

    Shapes: `[n, channels, length]` and indices of that shape give `[n, channels, length_out]` with `length_out = (length − 1) · stride − 2 · padding
    + kernel_size`. All may be without `n`.
    """

    axes = 1
    pool = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Zeros, with the largest elements of windows where they stood: the reverse of `MaxPool2d`.

    >>> pool, back = mg.nn.MaxPool2d(2, return_indices=True), mg.nn.MaxUnpool2d(2)
    >>> back(*pool(mg.arange(4.0).reshape(1, 1, 2, 2)))
    tensor([[[[0., 0.],
              [0., 3.]]]])

    Shapes: `[n, channels, height, width]` and indices of that shape give `[n, channels, height_out, width_out]` with `size_out = (size − 1) · stride
    − 2 · padding + kernel_size` for each of the two. All may be without `n`.
    """

    axes = 2
    pool = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Zeros, with the largest elements of windows where they stood: the reverse of `MaxPool3d`.

    >>> pool, back = mg.nn.MaxPool3d(2, return_indices=True), mg.nn.MaxUnpool3d(2)
    >>> back(*pool(mg.arange(8.0).reshape(1, 1, 2, 2, 2))).shape
    (1, 1, 2, 2, 2)

    Shapes: `[n, channels, depth, height, width]` and indices of that shape give `[n, channels, depth_out, height_out, width_out]` with `size_out =
    (size − 1) · stride − 2 · padding + kernel_size` for each of the three. All may be without `n`.
    """

    axes = 3
    pool = staticmethod(F.max_unpool3d)


class _FractionalMaxPool(Module):
    """What takes the largest element of windows that begin at random places (Graham, 2014).

    Arguments:
        kernel_size: how many elements a window has along each axis: a number for all, or one for each axis
        output_size: how many windows there are along each axis: a number for all, or one for each; None: `output_ratio` says it
        output_ratio: how many windows there are for each element of an axis, between 0 and 1: a number for all axes, or one for each
        return_indices: whether it answers with a pair: the largest elements, and where they stand

    Errors: ValueError where there is neither an `output_size` nor an `output_ratio`, or both.
    """

    pool: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: _Size,
        output_size: _Size | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        if (output_size is None) == (output_ratio is None):
            raise ValueError("takes an output_size or an output_ratio")
        self.kernel_size = kernel_size
        self.output_size = output_size
        self.output_ratio = output_ratio
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    _random_samples: Tensor | None

    def forward(self, input: Tensor) -> Any:
        """The largest element of each window, in the input's dtype and with its first axes; the last ones are of `output_size`. Where windows begin is
        drawn anew in each call. With `return_indices` a pair of these and of int64 indices in the same shape: where in the channel, read row by row,
        each one stands.

        Arguments:
            input: `[n, channels, …]` with as many axes behind the channels as the class's name says, or that without `n`

        Errors: ArgumentError for another number of axes, for windows that do not fit, and for an `output_ratio` that is not between 0 and 1.
        """
        sizes = (self.kernel_size, self.output_size, self.output_ratio)
        return type(self).pool(
            input, *sizes, return_indices=self.return_indices, _random_samples=self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows over images that begin at random places.

    >>> mg.nn.FractionalMaxPool2d(2, output_size=(5, 4))(mg.ones(1, 1, 9, 9)).shape
    (1, 1, 5, 4)

    Shapes: `[n, channels, height, width]` gives `[n, channels, *output_size]`, or `[n, channels, ⌊height · output_ratio⌋, ⌊width · output_ratio⌋]`.
    Both may be without `n`.
    """

    pool = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows over volumes that begin at random places.

    >>> mg.nn.FractionalMaxPool3d(2, output_ratio=0.5)(mg.ones(1, 1, 8, 8, 8)).shape
    (1, 1, 4, 4, 4)

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, *output_size]`, or each of the three times `output_ratio`, rounded down. Both
    may be without `n`.
    """

    pool = staticmethod(F.fractional_max_pool3d)


class Unfold(Module):
    """The windows of images as columns: each column has the elements of a window, channel by channel.

    >>> mg.nn.Unfold(3)(mg.ones(1, 2, 5, 5)).shape
    (1, 18, 9)

    Shapes: `[n, channels, height, width]` gives `[n, channels · kernel height · kernel width, windows]`, where there are `⌊(size + 2 · padding −
    dilation · (kernel_size − 1) − 1) / stride⌋ + 1` windows along each axis, and `windows` is the product. Both may be without `n`.

    Arguments:
        kernel_size: how many elements a window has along each axis: a number for both, or one for each
        dilation: how far a window's elements are from each other in the image; 1: they are neighbours
        padding: how many zeros are put on each side: a number for both axes, or one for each
        stride: how far a window is from the next: a number for both axes, or one for each

    Errors: in a call, ArgumentError for another number of axes, and for windows that do not fit the padded input.
    """

    def __init__(self, kernel_size: _Size, dilation: _Size = 1, padding: _Size = 0, stride: _Size = 1) -> None:
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The columns, `[n, channels · kernel height · kernel width, windows]`, or without `n`, in the input's dtype.

        Arguments:
            input: images, `[n, channels, height, width]`, or `[channels, height, width]`

        Errors: ArgumentError for another number of axes, and for windows that do not fit the padded image.
        """
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        sizes = f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}"
        return f"{sizes}, stride={self.stride}"


class Fold(Module):
    """Columns, each added to an image of zeros where its window lies: the gradient of `Unfold`, as a layer. Where windows overlap, their elements add up.

    >>> mg.nn.Fold((3, 3), 2)(mg.ones(1, 4, 4))
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])

    Shapes: `[n, channels · kernel height · kernel width, windows]` gives `[n, channels, *output_size]`, where `windows` is the number of windows of
    such an image, which `Unfold` gives. Both may be without `n`.

    Arguments:
        output_size: the height and width of the image; one number for a square
        kernel_size: how many elements a window has along each axis: a number for both, or one for each
        dilation: how far a window's elements are from each other in the image; 1: they are neighbours
        padding: how many elements on each side of the image windows reach beyond it: a number for both axes, or one for each
        stride: how far a window is from the next: a number for both axes, or one for each

    Errors: in a call, ArgumentError for columns that are not those of whole channels, and for another number of windows.
    """

    def __init__(
        self, output_size: _Size, kernel_size: _Size, dilation: _Size = 1, padding: _Size = 0, stride: _Size = 1
    ) -> None:
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The images, `[n, channels, *output_size]`, or without `n`, in the input's dtype.

        Arguments:
            input: columns, `[n, channels · kernel height · kernel width, windows]`, or that without `n`

        Errors: ArgumentError for another number of axes, for columns that are not those of a window of whole channels, and for another number of
        windows.
        """
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        sizes = f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}"
        return f"{sizes}, padding={self.padding}, stride={self.stride}"
