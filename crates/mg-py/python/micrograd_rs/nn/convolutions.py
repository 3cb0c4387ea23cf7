"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import functional as F
from .._micrograd_rs import Device, Tensor, dtype, empty
from ._sizes import check_sizes
from .init import uniform_
from .module import Module
from .parameter import Parameter

_Size = int | Sequence[int]


class _ConvNd(Module):
    """What convolutions share. Weight and bias are drawn uniformly from ±1/√(elements of a kernel over all channels that it sees).

    Arguments:
        in_channels: how many channels the input has
        out_channels: how many channels the output has: there is a kernel for each
        kernel_size: how many elements a kernel has along each axis: a number for all, or one for each axis
        groups: how many parts the channels are in: each part of the outputs sees one part of the inputs. With as many groups as `in_channels` each
            channel has kernels of its own
        bias: whether there is a `bias`, a number for each output channel; without it nothing is added
        dilation: how far a kernel's elements are from each other in the input; 1: they are neighbours

    Errors: ValueError for channels that do not part into `groups`, for another `padding_mode`, for negative sizes, and for sizes that are neither one
    number nor one for each axis; TypeError for sizes that are no integers.
    """

    # Without one in the class, as many as the kernel has.
    axes: int
    transposed: bool = False
    convolve: ClassVar[Callable[..., Tensor]]
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Size,
        stride: _Size,
        padding: _Size | str,
        dilation: _Size,
        transposed: bool,
        output_padding: _Size,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        if not hasattr(type(self), "axes"):
            if isinstance(kernel_size, int):
                raise TypeError("takes a kernel_size of as many numbers as there are axes, got one")
            self.axes = len(kernel_size)
        self.transposed = transposed
        check_sizes(self, in_channels=in_channels, out_channels=out_channels, groups=groups)
        if groups < 1:
            raise ValueError(f"groups are at least 1, got {groups}")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} do not part into {groups} groups: there are {channels}")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = self._each("kernel_size", kernel_size)
        self.stride = self._each("stride", stride)
        self.dilation = self._each("dilation", dilation)
        self.output_padding = self._each("output_padding", output_padding)
        self.groups = groups
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f'a padding_mode is "zeros", "reflect", "replicate" or "circular", got {padding_mode!r}'
            )
        if self.transposed and padding_mode != "zeros":
            raise ValueError(f'a transposed convolution takes the padding_mode "zeros", got {padding_mode!r}')
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f'padding is "same", "valid" or numbers, got {padding!r}')
            if padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError('padding "same" is for a stride of 1')
            self.padding: str | tuple[int, ...] = padding
        else:
            self.padding = self._each("padding", padding)
        self._build(bias, device, dtype)

    def _each(self, name: str, size: _Size) -> tuple[int, ...]:
        sizes = (size,) * self.axes if isinstance(size, int) else tuple(size)
        check_sizes(self, **{name: sizes})
        if len(sizes) == 1 and name != "kernel_size":
            sizes *= self.axes
        if len(sizes) != self.axes:
            raise ValueError(f"{type(self).__name__}: {name} takes {self.axes} numbers, got {sizes}")
        return sizes

    def _build(self, bias: bool, device: Device | str | None, dtype: dtype | str | None) -> None:
        channels = (self.out_channels, self.in_channels // self.groups)
        if self.transposed:
            channels = (self.in_channels, self.out_channels // self.groups)
        shape = (*channels, *self.kernel_size)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        offset = Parameter(empty((self.out_channels,), device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", offset)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, uniformly from ±1/√(elements of a kernel over all channels that it sees)."""
        seen = self.weight[0].numel() if self.weight.shape[0] else 0
        if seen:
            bound = seen**-0.5
            uniform_(self.weight, -bound, bound)
            if self.bias is not None:
                uniform_(self.bias, -bound, bound)

    def _margins(self) -> list[int]:
        """The widths of the padding, from the last axis on, before and after."""
        sides: list[int] = []
        for axis in reversed(range(self.axes)):
            if isinstance(self.padding, str):
                # As many as leave the size as it is; the odd one comes after.
                total = self.dilation[axis] * (self.kernel_size[axis] - 1) if self.padding == "same" else 0
                sides += [total // 2, total - total // 2]
            else:
                sides += [self.padding[axis]] * 2
        return sides

    @property
    def _reversed_padding_repeated_twice(self) -> list[int]:
        return self._margins()

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        if self.padding != (0,) * len(self.padding):
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * self.axes:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * self.axes:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _ConvForward(_ConvNd):
    """What convolutions share that are not transposed.

    Arguments:
        stride: how far a kernel moves from one place to the next: a number for all axes, or one for each
        padding: how many elements are put on each side of the input: a number for all axes, one for each, "valid" for none, or "same" for as many as
            keep the sizes, which takes a `stride` of 1
        padding_mode: what `padding` consists of: "zeros", "reflect" for what mirrors the input at its ends, "replicate" for its outermost elements,
            or "circular" for those of its other end
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Size,
        stride: _Size = 1,
        padding: _Size | str = 0,
        dilation: _Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        sizes = (kernel_size, stride, padding, dilation, False, 0)
        super().__init__(in_channels, out_channels, *sizes, groups, bias, padding_mode, device, dtype)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution with a weight and a bias, for classes that make them of `self.weight` and `self.bias`."""
        padding: str | tuple[int, ...] = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._margins(), self.padding_mode), (0,) * self.axes
        return type(self).convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """The convolution, `[n, out_channels, …]`, or without `n`, of the dtype that input and parameters promote to. Each of the last axes is of the size
        `⌊(size + 2 · padding − dilation · (kernel_size − 1) − 1) / stride⌋ + 1`.

        Arguments:
            input: `[n, in_channels, …]` with as many axes behind the channels as the class's name says, or that without `n`; integers count as floats

        Errors: ArgumentError for another number of axes or channels, for a kernel that is larger than the padded input, for a `stride` or `dilation`
        of 0, and for a padding of "reflect" or "circular" that takes more than there is.
        """
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_ConvForward):
    """The convolution of sequences with trained kernels: at each place, the sum over channels and the kernel's elements of kernel times input, and `bias`.
    Weight and bias are drawn uniformly from ±1/√(elements of a kernel over all channels that it sees).

    >>> conv = mg.nn.Conv1d(3, 8, kernel_size=5, stride=2, padding=2)
    >>> conv(mg.ones(4, 3, 100)).shape, conv.weight.shape
    ((4, 8, 50), (8, 3, 5))

    Shapes: `[n, in_channels, length]` gives `[n, out_channels, length_out]` with `length_out = ⌊(length + 2 · padding − dilation · (kernel_size − 1)
    − 1) / stride⌋ + 1`; with "same" the length stays. Both may be without `n`. `weight` is `[out_channels, in_channels / groups, kernel_size]`.
    """

    axes = 1
    convolve = staticmethod(F.conv1d)


class Conv2d(_ConvForward):
    """The convolution of images with trained kernels: at each place, the sum over channels and the kernel's elements of kernel times input, and `bias`.
    Weight and bias are drawn uniformly from ±1/√(elements of a kernel over all channels that it sees).

    >>> import micrograd_rs as mg
    >>> mg.nn.Conv2d(3, 8, 3, padding=1)(mg.randn(2, 3, 16, 16)).shape
    (2, 8, 16, 16)

    Shapes: `[n, in_channels, height, width]` gives `[n, out_channels, height_out, width_out]` with `size_out = ⌊(size + 2 · padding − dilation ·
    (kernel_size − 1) − 1) / stride⌋ + 1` for each of the two; with "same" sizes stay. Both may be without `n`. `weight` is `[out_channels,
    in_channels / groups, kernel height, kernel width]`.
    """

    axes = 2
    convolve = staticmethod(F.conv2d)


class Conv3d(_ConvForward):
    """The convolution of volumes with trained kernels: at each place, the sum over channels and the kernel's elements of kernel times input, and `bias`.
    Weight and bias are drawn uniformly from ±1/√(elements of a kernel over all channels that it sees).

    >>> mg.nn.Conv3d(3, 8, kernel_size=3, padding="same")(mg.ones(1, 3, 4, 8, 8)).shape
    (1, 8, 4, 8, 8)

    Shapes: `[n, in_channels, depth, height, width]` gives `[n, out_channels, depth_out, height_out, width_out]` with `size_out = ⌊(size + 2 · padding
    − dilation · (kernel_size − 1) − 1) / stride⌋ + 1` for each of the three; with "same" sizes stay. Both may be without `n`. `weight` is
    `[out_channels, in_channels / groups, kernel depth, kernel height, kernel width]`.
    """

    axes = 3
    convolve = staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    transposed = True

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """What the output lacks to an asked size."""
        if output_size is None:
            return self.output_padding
        sizes = tuple(output_size)
        if len(sizes) == self.axes + 2:
            sizes = sizes[2:]
        if len(sizes) != self.axes:
            raise ValueError(f"an output_size has {self.axes} or {self.axes + 2} numbers, got {tuple(output_size)}")
        margins = self._margins()[::-2]
        lacks: list[int] = []
        for axis, (size, n) in enumerate(zip(sizes, input.shape[-self.axes :], strict=True)):
            spread = self.dilation[axis] * (self.kernel_size[axis] - 1) + 1
            least = (n - 1) * self.stride[axis] - 2 * margins[axis] + spread
            if not least <= size < least + self.stride[axis]:
                most = least + self.stride[axis] - 1
                raise ValueError(f"an output_size of {size} is not between {least} and {most}")
            lacks.append(size - least)
        return tuple(lacks)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The transposed convolution, `[n, out_channels, …]`, or without `n`, of the dtype that input and parameters promote to. Each of the last axes
        is of the size `(size − 1) · stride − 2 · padding + dilation · (kernel_size − 1) + output_padding + 1`.

        Arguments:
            input: `[n, in_channels, …]` with as many axes behind the channels as the class's name says, or that without `n`; integers count as floats
            output_size: the sizes of the last axes that the result is to have, or its whole shape; it takes the place of `output_padding`. Where
                `stride` is not 1, a convolution makes the same size of several, and this says which one it was

        Errors: ValueError for an `output_size` that no `output_padding` makes; ArgumentError for another number of axes or channels, and for an
        `output_padding` that is not below `stride` or `dilation`.

        >>> down, up = mg.nn.Conv1d(1, 1, 3, stride=2), mg.nn.ConvTranspose1d(1, 1, 3, stride=2)
        >>> x = mg.ones(1, 1, 8)
        >>> up(down(x)).shape, up(down(x), output_size=[8]).shape
        ((1, 1, 7), (1, 1, 8))
        """
        more = self._output_padding(input, output_size)
        sizes: tuple[Any, ...] = (self.stride, self.padding, more, self.groups, self.dilation)
        return type(self).convolve(input, self.weight, self.bias, *sizes)


class _ConvTranspose(_ConvTransposeNd):
    """What transposed convolutions share.

    Arguments:
        stride: how far the input's elements come to lie from each other in the output: a number for all axes, or one for each
        padding: how many elements are taken away on each side of the output: a number for all axes, or one for each
        output_padding: how many are added behind the output's end: a number for all axes, or one for each, below `stride` or `dilation`
        padding_mode: "zeros", which is what there is

    Errors: ValueError for channels that do not part into `groups`, for another `padding_mode` than "zeros", for negative sizes, and for sizes that
    are neither one number nor one for each axis; TypeError for sizes that are no integers.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Size,
        stride: _Size = 1,
        padding: _Size = 0,
        output_padding: _Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Size = 1,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        if isinstance(padding, str):
            raise TypeError(f"padding of a transposed convolution is numbers, got {padding!r}")
        sizes = (kernel_size, stride, padding, dilation, True, output_padding)
        super().__init__(in_channels, out_channels, *sizes, groups, bias, padding_mode, device, dtype)


class ConvTranspose1d(_ConvTranspose):
    """The transposed convolution of sequences: the gradient of `Conv1d` with respect to its input, as a layer. Each element of the input, times the
    kernel, is added to the output at its place.

    >>> up = mg.nn.ConvTranspose1d(8, 3, kernel_size=4, stride=2, padding=1)
    >>> up(mg.ones(4, 8, 50)).shape
    (4, 3, 100)

    Shapes: `[n, in_channels, length]` gives `[n, out_channels, length_out]` with `length_out = (length − 1) · stride − 2 · padding + dilation ·
    (kernel_size − 1) + output_padding + 1`. Both may be without `n`. `weight` is `[in_channels, out_channels / groups, kernel_size]`.
    """

    axes = 1
    convolve = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """The transposed convolution of images: the gradient of `Conv2d` with respect to its input, as a layer. Each element of the input, times the kernel,
    is added to the output at its place.

    >>> up = mg.nn.ConvTranspose2d(8, 3, kernel_size=3, stride=2, padding=1)
    >>> up(mg.ones(1, 8, 16, 16)).shape, up(mg.ones(1, 8, 16, 16), output_size=(32, 32)).shape
    ((1, 3, 31, 31), (1, 3, 32, 32))

    Shapes: `[n, in_channels, height, width]` gives `[n, out_channels, height_out, width_out]` with `size_out = (size − 1) · stride − 2 · padding +
    dilation · (kernel_size − 1) + output_padding + 1` for each of the two. Both may be without `n`. `weight` is `[in_channels, out_channels / groups,
    kernel height, kernel width]`.
    """

    axes = 2
    convolve = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """The transposed convolution of volumes: the gradient of `Conv3d` with respect to its input, as a layer. Each element of the input, times the
    kernel, is added to the output at its place.

    >>> mg.nn.ConvTranspose3d(2, 1, kernel_size=2, stride=2)(mg.ones(1, 2, 4, 4, 4)).shape
    (1, 1, 8, 8, 8)

    Shapes: `[n, in_channels, depth, height, width]` gives `[n, out_channels, depth_out, height_out, width_out]` with `size_out = (size − 1) · stride
    − 2 · padding + dilation · (kernel_size − 1) + output_padding + 1` for each of the three. Both may be without `n`. `weight` is `[in_channels,
    out_channels / groups, kernel depth, kernel height, kernel width]`.
    """

    axes = 3
    convolve = staticmethod(F.conv_transpose3d)
