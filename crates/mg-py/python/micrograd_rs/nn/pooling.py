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
        """One number for each window, in the axes that the input has; with `return_indices` a pair of these and of where they stand."""
        sizes = (self.kernel_size, self.stride, self.padding, self.dilation)
        return type(self).pool(input, *sizes, ceil_mode=self.ceil_mode, return_indices=self.return_indices)

    def extra_repr(self) -> str:
        return f"{_windows(self)}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


class MaxPool1d(_MaxPool):
    """The largest element of each window over the last axis; with `return_indices` also where it stands.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how far windows begin before the first element
        dilation: how far a window's elements are from each other
        return_indices: whether it is answered, too, where the largest elements stand
        ceil_mode: whether the last window may hang over

    Errors: ArgumentError for windows that do not fit the input.

    >>> mg.nn.MaxPool1d(2)(mg.tensor([[[1.0, 5.0, 2.0, 3.0]]]))
    tensor([[[5., 3.]]])
    """

    pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest element of each window over the last two axes; with `return_indices` also where it stands.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how far windows begin before the first element
        dilation: how far a window's elements are from each other
        return_indices: whether it is answered, too, where the largest elements stand
        ceil_mode: whether the last window may hang over

    Errors: ArgumentError for windows that do not fit the input.

    >>> mg.nn.MaxPool2d(2)(mg.arange(16.0).reshape(1, 1, 4, 4))
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

    pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest element of each window over the last three axes; with `return_indices` also where it stands.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how far windows begin before the first element
        dilation: how far a window's elements are from each other
        return_indices: whether it is answered, too, where the largest elements stand
        ceil_mode: whether the last window may hang over

    Errors: ArgumentError for windows that do not fit the input.

    >>> mg.nn.MaxPool3d(3, stride=2, padding=1)(mg.ones(1, 1, 8, 8, 8)).shape
    (1, 1, 4, 4, 4)
    """

    pool = staticmethod(F.max_pool3d)


class _AvgPoolNd(Module):
    """What averages over windows."""

    def extra_repr(self) -> str:
        return _windows(self)


class AvgPool1d(_AvgPoolNd):
    """The mean of each window over the last axis.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how many zeros there are on each side
        ceil_mode: whether the last window may hang over
        count_include_pad: whether zeros of the padding count

    Errors: ArgumentError for windows that do not fit the input.

    >>> mg.nn.AvgPool1d(2)(mg.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[2., 6.]]])
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
        """One number for each window, `[n, channels, windows]`, of `[n, channels, length]`; or both without `n`."""
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
        """One number for each window, in the axes that the input has."""
        sizes = (self.kernel_size, self.stride, self.padding)
        return type(self).pool(input, *sizes, self.ceil_mode, self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPool):
    """The mean of each window over the last two axes.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how many zeros there are on each side
        ceil_mode: whether the last window may hang over
        count_include_pad: whether zeros of the padding count
        divisor_override: what sums are divided by instead of by their number

    Errors: ArgumentError for windows that do not fit the input.

    >>> mg.nn.AvgPool2d(2)(mg.arange(16.0).reshape(1, 1, 4, 4))
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])
    """

    pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window over the last three axes.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how many zeros there are on each side
        ceil_mode: whether the last window may hang over
        count_include_pad: whether zeros of the padding count
        divisor_override: what sums are divided by instead of by their number

    Errors: ArgumentError for windows that do not fit the input.

    >>> mg.nn.AvgPool3d(2, stride=1)(mg.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 3, 3, 3)
    """

    pool = staticmethod(F.avg_pool3d)


class _AdaptiveAvgPool(Module):
    pool: ClassVar[Callable[..., Tensor]]

    def __init__(self, output_size: _Open) -> None:
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """One number for each share, in the axes that the input has."""
        return type(self).pool(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of so many shares of the last axis.

    Arguments:
        output_size: how many shares each axis has: one number, or one for each axis; None where it keeps its size

    >>> mg.nn.AdaptiveAvgPool1d(2)(mg.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[2., 6.]]])
    """

    pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of so many shares of the last two axes.

    Arguments:
        output_size: how many shares each axis has: one number, or one for each axis; None where it keeps its size

    >>> mg.nn.AdaptiveAvgPool2d(1)(mg.ones(4, 8, 7, 9)).shape
    (4, 8, 1, 1)
    """

    pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of so many shares of the last three axes.

    Arguments:
        output_size: how many shares each axis has: one number, or one for each axis; None where it keeps its size

    >>> mg.nn.AdaptiveAvgPool3d((1, 2, None))(mg.ones(4, 8, 3, 7, 9)).shape
    (4, 8, 1, 2, 9)
    """

    pool = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPool(Module):
    pool: ClassVar[Callable[..., Any]]

    def __init__(self, output_size: _Open, return_indices: bool = False) -> None:
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """One number for each share, in the axes that the input has; with `return_indices` a pair of these and of where they stand."""
        return type(self).pool(input, self.output_size, return_indices=self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest elements of so many shares of the last axis; with `return_indices` also where they stand.

    Arguments:
        output_size: how many shares each axis has: one number, or one for each axis; None where it keeps its size
        return_indices: whether it is answered, too, where the largest elements stand

    >>> mg.nn.AdaptiveMaxPool1d(2)(mg.tensor([[[1.0, 3.0, 5.0, 7.0]]]))
    tensor([[[3., 7.]]])
    """

    pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest elements of so many shares of the last two axes; with `return_indices` also where they stand.

    Arguments:
        output_size: how many shares each axis has: one number, or one for each axis; None where it keeps its size
        return_indices: whether it is answered, too, where the largest elements stand

    >>> mg.nn.AdaptiveMaxPool2d(2)(mg.arange(16.0).reshape(1, 1, 4, 4))
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

    pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest elements of so many shares of the last three axes; with `return_indices` also where they stand.

    Arguments:
        output_size: how many shares each axis has: one number, or one for each axis; None where it keeps its size
        return_indices: whether it is answered, too, where the largest elements stand

    >>> mg.nn.AdaptiveMaxPool3d(1)(mg.ones(4, 8, 3, 7, 9)).shape
    (4, 8, 1, 1, 1)
    """

    pool = staticmethod(F.adaptive_max_pool3d)


class _LPPool(Module):
    pool: ClassVar[Callable[..., Tensor]]

    def __init__(
        self, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False
    ) -> None:
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """One number for each window, in the axes that the input has."""
        return type(self).pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        sizes = f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}"
        return f"{sizes}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPool):
    """The root of the sum of powers of each window over the last axis.

    Arguments:
        norm_type: the power
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        ceil_mode: whether the last window may hang over

    >>> mg.nn.LPPool1d(2, 2)(mg.tensor([[[3.0, 4.0, 6.0, 8.0]]]))
    tensor([[[ 5., 10.]]])
    """

    pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """The root of the sum of powers of each window over the last two axes.

    Arguments:
        norm_type: the power
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        ceil_mode: whether the last window may hang over

    >>> mg.nn.LPPool2d(2, 2)(mg.tensor([[[3.0, 4.0], [0.0, 0.0]]]))
    tensor([[[5.]]])
    """

    pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """The root of the sum of powers of each window over the last three axes.

    Arguments:
        norm_type: the power
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        ceil_mode: whether the last window may hang over

    >>> mg.nn.LPPool3d(1, 2)(mg.ones(1, 2, 2, 2))
    tensor([[[[8.]]]])
    """

    pool = staticmethod(F.lp_pool3d)


class _MaxUnpool(Module):
    axes: ClassVar[int]
    pool: ClassVar[Callable[..., Tensor]]

    def __init__(self, kernel_size: _Size, stride: _Size | None = None, padding: _Size = 0) -> None:
        def each(size: _Size) -> tuple[int, ...]:
            return (size,) * self.axes if isinstance(size, int) else tuple(size)

        self.kernel_size = each(kernel_size)
        self.stride = self.kernel_size if stride is None else each(stride)
        self.padding = each(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The elements back where they stood, and zeros elsewhere.

        Arguments:
            input: what a pool answered with
            indices: where it found them, in the same shape
            output_size: the shape before the pool, or its last axes, where `stride` leaves several open
        """
        return type(self).pool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Zeros, with the largest elements of windows where they stood: the reverse of `MaxPool1d`.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how far windows begin before the first element

    >>> pool, back = mg.nn.MaxPool1d(2, return_indices=True), mg.nn.MaxUnpool1d(2)
    >>> back(*pool(mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])))
    tensor([[[0., 5., 0., 3.]]])
    """

    axes = 1
    pool = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Zeros, with the largest elements of windows where they stood: the reverse of `MaxPool2d`.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how far windows begin before the first element

    >>> pool, back = mg.nn.MaxPool2d(2, return_indices=True), mg.nn.MaxUnpool2d(2)
    >>> back(*pool(mg.arange(4.0).reshape(1, 1, 2, 2)))
    tensor([[[[0., 0.],
              [0., 3.]]]])
    """

    axes = 2
    pool = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Zeros, with the largest elements of windows where they stood: the reverse of `MaxPool3d`.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        stride: how far windows are from each other; `kernel_size`, where it is not given
        padding: how far windows begin before the first element

    >>> pool, back = mg.nn.MaxPool3d(2, return_indices=True), mg.nn.MaxUnpool3d(2)
    >>> back(*pool(mg.arange(8.0).reshape(1, 1, 2, 2, 2))).shape
    (1, 1, 2, 2, 2)
    """

    axes = 3
    pool = staticmethod(F.max_unpool3d)


class _FractionalMaxPool(Module):
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
        """One number for each window, in the axes that the input has; with `return_indices` a pair of these and of where they stand."""
        sizes = (self.kernel_size, self.output_size, self.output_ratio)
        return type(self).pool(
            input, *sizes, return_indices=self.return_indices, _random_samples=self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows that begin at random, over the last two axes.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        output_size: how many there are
        output_ratio: how many there are for each element, where `output_size` is not given
        return_indices: whether it answers too with where the elements stand

    >>> mg.nn.FractionalMaxPool2d(2, output_size=(5, 4))(mg.ones(1, 1, 9, 9)).shape
    (1, 1, 5, 4)
    """

    pool = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows that begin at random, over the last three axes.

    Arguments:
        kernel_size: how long windows are: one number, or one for each axis
        output_size: how many there are
        output_ratio: how many there are for each element, where `output_size` is not given
        return_indices: whether it answers too with where the elements stand

    >>> mg.nn.FractionalMaxPool3d(2, output_ratio=0.5)(mg.ones(1, 1, 8, 8, 8)).shape
    (1, 1, 4, 4, 4)
    """

    pool = staticmethod(F.fractional_max_pool3d)


class Unfold(Module):
    """The windows of `[n, c, height, width]` as columns.

    Arguments:
        kernel_size: how large windows are
        dilation: how far their elements are from each other
        padding: how far they begin before the image
        stride: how far they are from each other

    >>> mg.nn.Unfold(3)(mg.ones(1, 2, 5, 5)).shape
    (1, 18, 9)
    """

    def __init__(self, kernel_size: _Size, dilation: _Size = 1, padding: _Size = 0, stride: _Size = 1) -> None:
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Columns `[n, channels · size of a window, windows]` of images `[n, channels, height, width]`; or both without `n`."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        sizes = f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}"
        return f"{sizes}, stride={self.stride}"


class Fold(Module):
    """Columns, added where the windows of an image lie.

    Arguments:
        output_size: the size of the image
        kernel_size: how large windows are
        dilation: how far their elements are from each other
        padding: how far they begin before the image
        stride: how far they are from each other

    >>> mg.nn.Fold((3, 3), 2)(mg.ones(1, 4, 4))
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
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
        """Images `[n, channels, height, width]` of columns `[n, channels · size of a window, windows]`; or both without `n`."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        sizes = f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}"
        return f"{sizes}, padding={self.padding}, stride={self.stride}"
