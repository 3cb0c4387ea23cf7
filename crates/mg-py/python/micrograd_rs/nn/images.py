"""Margins, other sizes, channels as pixels, and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .. import functional as F
from .._micrograd_rs import Tensor
from .module import Module


class _Pad(Module):
    """Margins along the last axes.

    Arguments:
        padding: how wide margins are: one number for all sides, or two for each axis, before and after it, from the last axis on: (left, right, top,
            bottom, front, back). A negative one cuts as much off

    Errors: ValueError for another number of widths.
    """

    axes: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: int | Sequence[int]) -> None:
        self.padding = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != 2 * self.axes:
            raise ValueError(f"takes one width or {2 * self.axes}, got {len(self.padding)}")

    def _check(self, input: Tensor) -> None:
        if input.dim() not in (self.axes + 1, self.axes + 2):
            name = type(self).__name__
            raise ValueError(f"{name} takes {self.axes + 1} or {self.axes + 2} axes, got shape {tuple(input.shape)}")

    def forward(self, input: Tensor) -> Tensor:
        """The input with margins, in its dtype: each of the last axes is longer by what is put before and behind it.

        Arguments:
            input: `[n, channels, …]` with as many axes behind the channels as the class's name says, or that without `n`; of any dtype

        Errors: ValueError for another number of axes; ArgumentError for margins that mirror, or take from the other end, more than there is.
        """
        self._check(input)
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """Margins of one value.

    Arguments:
        value: the number that margins consist of
    """

    mode = "constant"

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The input with margins, in its dtype: each of the last axes is longer by what is put before and behind it.

        Arguments:
            input: a tensor with at least as many axes as the class's name says, of any dtype

        Errors: ArgumentError for fewer axes.
        """
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPad(_Pad):
    mode = "reflect"


class _ReplicationPad(_Pad):
    mode = "replicate"


class _CircularPad(_Pad):
    mode = "circular"


class ConstantPad1d(_ConstantPad):
    """Margins of one value around sequences.

    >>> mg.nn.ConstantPad1d((1, 2), 9)(mg.tensor([[1, 2, 3]]))
    tensor([[9, 1, 2, 3, 9, 9]])

    Shapes: `[…, length]` gives `[…, left + length + right]`.
    """

    axes = 1


class ConstantPad2d(_ConstantPad):
    """Margins of one value around images.

    >>> mg.nn.ConstantPad2d((1, 0, 0, 1), 9)(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[9, 1, 2],
             [9, 3, 4],
             [9, 9, 9]]])

    Shapes: `[…, height, width]` gives `[…, top + height + bottom, left + width + right]`.
    """

    axes = 2


class ConstantPad3d(_ConstantPad):
    """Margins of one value around volumes.

    >>> mg.nn.ConstantPad3d(1, 0.5)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)

    Shapes: `[…, depth, height, width]` gives `[…, front + depth + back, top + height + bottom, left + width + right]`.
    """

    axes = 3


class ZeroPad1d(_ZeroPad):
    """Margins of zeros around sequences.

    >>> mg.nn.ZeroPad1d((1, 2))(mg.tensor([[1, 2, 3]]))
    tensor([[0, 1, 2, 3, 0, 0]])

    Shapes: `[…, length]` gives `[…, left + length + right]`.
    """

    axes = 1


class ZeroPad2d(_ZeroPad):
    """Margins of zeros around images.

    >>> mg.nn.ZeroPad2d((1, 0, 0, 1))(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[0, 1, 2],
             [0, 3, 4],
             [0, 0, 0]]])

    Shapes: `[…, height, width]` gives `[…, top + height + bottom, left + width + right]`.
    """

    axes = 2


class ZeroPad3d(_ZeroPad):
    """Margins of zeros around volumes.

    >>> mg.nn.ZeroPad3d(1)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)

    Shapes: `[…, depth, height, width]` gives `[…, front + depth + back, top + height + bottom, left + width + right]`.
    """

    axes = 3


class ReflectionPad1d(_ReflectionPad):
    """Margins that mirror what is inside of sequences; the outermost elements do not come twice. A margin is narrower than the axis is long.

    >>> mg.nn.ReflectionPad1d((1, 2))(mg.tensor([[1, 2, 3]]))
    tensor([[2, 1, 2, 3, 2, 1]])

    Shapes: `[n, channels, length]` gives `[n, channels, left + length + right]`. Both may be without `n`.
    """

    axes = 1


class ReflectionPad2d(_ReflectionPad):
    """Margins that mirror what is inside of images; the outermost elements do not come twice. A margin is narrower than the axis is long.

    >>> mg.nn.ReflectionPad2d((1, 0, 0, 0))(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[2, 1, 2],
             [4, 3, 4]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, top + height + bottom, left + width + right]`. Both may be without `n`.
    """

    axes = 2


class ReflectionPad3d(_ReflectionPad):
    """Margins that mirror what is inside of volumes; the outermost elements do not come twice. A margin is narrower than the axis is long.

    >>> mg.nn.ReflectionPad3d(1)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, front + depth + back, top + height + bottom, left + width + right]`. Both may
    be without `n`.
    """

    axes = 3


class ReplicationPad1d(_ReplicationPad):
    """Margins of the outermost elements of sequences.

    >>> mg.nn.ReplicationPad1d((1, 2))(mg.tensor([[1, 2, 3]]))
    tensor([[1, 1, 2, 3, 3, 3]])

    Shapes: `[n, channels, length]` gives `[n, channels, left + length + right]`. Both may be without `n`.
    """

    axes = 1


class ReplicationPad2d(_ReplicationPad):
    """Margins of the outermost elements of images.

    >>> mg.nn.ReplicationPad2d((1, 0, 0, 0))(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[1, 1, 2],
             [3, 3, 4]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, top + height + bottom, left + width + right]`. Both may be without `n`.
    """

    axes = 2


class ReplicationPad3d(_ReplicationPad):
    """Margins of the outermost elements of volumes.

    >>> mg.nn.ReplicationPad3d(1)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, front + depth + back, top + height + bottom, left + width + right]`. Both may
    be without `n`.
    """

    axes = 3


class CircularPad1d(_CircularPad):
    """Margins of what is at the other end of sequences, as if they were rings. A margin is no wider than the axis is long.

    >>> mg.nn.CircularPad1d((1, 2))(mg.tensor([[1, 2, 3]]))
    tensor([[3, 1, 2, 3, 1, 2]])

    Shapes: `[n, channels, length]` gives `[n, channels, left + length + right]`. Both may be without `n`.
    """

    axes = 1


class CircularPad2d(_CircularPad):
    """Margins of what is at the other end of images, as if they were rings along both axes. A margin is no wider than the axis is long.

    >>> mg.nn.CircularPad2d((1, 0, 0, 0))(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[2, 1, 2],
             [4, 3, 4]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, top + height + bottom, left + width + right]`. Both may be without `n`.
    """

    axes = 2


class CircularPad3d(_CircularPad):
    """Margins of what is at the other end of volumes, as if they were rings along all three axes. A margin is no wider than the axis is long.

    >>> mg.nn.CircularPad3d(1)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)

    Shapes: `[n, channels, depth, height, width]` gives `[n, channels, front + depth + back, top + height + bottom, left + width + right]`. Both may
    be without `n`.
    """

    axes = 3


class Upsample(Module):
    """Another size along the axes behind the first two, by `functional.interpolate`.

    >>> mg.nn.Upsample(scale_factor=2)(mg.tensor([[[0.0, 1.0]]]))
    tensor([[[0., 0., 1., 1.]]])

    Shapes: `[n, channels, *sizes]` gives `[n, channels, *size]`, or each size times `scale_factor`, rounded down.

    Arguments:
        size: the new sizes: a number for all axes, or one for each; None: `scale_factor` says them
        scale_factor: what sizes are multiplied by: a number for all axes, or one for each; None: `size` says them
        mode: how elements come about: "nearest" or "nearest-exact" for the nearest element, "linear" (one axis), "bilinear" (two) or "trilinear"
            (three) for lines between neighbours, "bicubic" (two) for cubics, "area" for means
        align_corners: with "linear", "bilinear", "trilinear" and "bicubic", whether the centres of the outermost elements stay where they are, rather
            than the outermost edges; None: they do not
        recompute_scale_factor: whether places follow from the sizes, which may have been rounded down, rather than from `scale_factor` itself

    Errors: in a call, ArgumentError where there is neither a `size` nor a `scale_factor`, or both, and for a `mode` that does not take so many axes.
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        self.size = size
        if isinstance(scale_factor, int | float):
            scale_factor = float(scale_factor)
        elif scale_factor is not None:
            scale_factor = tuple(float(factor) for factor in scale_factor)
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The input with other sizes of the axes behind the first two, in its dtype.

        Arguments:
            input: `[n, channels, length]`, `[n, channels, height, width]` or `[n, channels, depth, height, width]`

        Errors: ArgumentError where there is neither a `size` nor a `scale_factor`, or both, for a `mode` that does not take so many axes or that
        there is not, and for `align_corners` with a `mode` that does not take it.
        """
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        wanted = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{wanted}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images with the mode "nearest": each element is that of the input at the nearest place above and to the left.

    >>> mg.nn.UpsamplingNearest2d(scale_factor=2)(mg.tensor([[[[0.0, 1.0]]]]))
    tensor([[[[0., 0., 1., 1.],
              [0., 0., 1., 1.]]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, *size]`, or each of the two times `scale_factor`, rounded down.
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images with the mode "bilinear" and `align_corners`: the centres of the corners stay where they are.

    >>> mg.nn.UpsamplingBilinear2d(size=(1, 3))(mg.tensor([[[[0.0, 1.0]]]]))
    tensor([[[[0.0000, 0.5000, 1.0000]]]])

    Shapes: `[n, channels, height, width]` gives `[n, channels, *size]`, or each of the two times `scale_factor`, rounded down.
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(Module):
    """Groups of r² channels as images that are r times as high and as wide: the channels of a group become the pixels of squares, row by row (Shi et
    al., 2016).

    >>> mg.nn.PixelShuffle(2)(mg.tensor([[[1]], [[2]], [[3]], [[4]]]))
    tensor([[[1, 2],
             [3, 4]]])

    Shapes: `[…, channels · r², height, width]` gives `[…, channels, height · r, width · r]`.

    Arguments:
        upscale_factor: how many times as high and as wide images become, `r`, at least 1

    Errors: in a call, ArgumentError for fewer than three axes, and for channels that do not part into groups of r².
    """

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The larger images, `[…, channels, height · r, width · r]`, in the input's dtype.

        Arguments:
            input: `[…, channels · r², height, width]`, of any dtype

        Errors: ArgumentError for fewer than three axes, and for channels that do not part into groups of r².
        """
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """The pixels of r by r squares as r² channels, the reverse of `PixelShuffle`.

    >>> mg.nn.PixelUnshuffle(2)(mg.tensor([[[1, 2], [3, 4]]])).flatten()
    tensor([1, 2, 3, 4])

    Shapes: `[…, channels, height · r, width · r]` gives `[…, channels · r², height, width]`.

    Arguments:
        downscale_factor: how many pixels a square is high and wide, `r`, at least 1

    Errors: in a call, ArgumentError for fewer than three axes, and for a height or width that does not part into squares.
    """

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The smaller images, `[…, channels · r², height, width]`, in the input's dtype.

        Arguments:
            input: `[…, channels, height · r, width · r]`, of any dtype

        Errors: ArgumentError for fewer than three axes, and for a height or width that does not part into squares.
        """
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels (axis 1) in another order: of `groups` groups of neighbouring channels the first of each, then the second of each, and so on (Zhang et
    al., 2017).

    >>> mg.nn.ChannelShuffle(2)(mg.arange(4).reshape(1, 4, 1)).flatten()
    tensor([0, 2, 1, 3])

    Shapes: `[n, channels, …]` gives the same.

    Arguments:
        groups: how many groups there are, at least 1

    Errors: in a call, ArgumentError for fewer than three axes, and for channels that do not part into `groups`.
    """

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """The input with its channels in another order, in its shape and dtype.

        Arguments:
            input: `[n, channels, …]`, of three axes or more

        Errors: ArgumentError for fewer axes, and for channels that do not part into `groups`.
        """
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class Flatten(Module):
    """Some axes as one: by itself all but the first, which counts the samples.

    >>> mg.nn.Flatten()(mg.zeros(32, 8, 4, 4)).shape
    (32, 128)

    Shapes: `[*before, *flattened, *after]` gives `[*before, product of flattened, *after]`.

    Arguments:
        start_dim: the first of these axes, counted from the end where it is negative
        end_dim: the last of them

    Errors: in a call, IndexError for an axis that there is not, and ArgumentError for a `start_dim` behind `end_dim`.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """The input with the axes from `start_dim` to `end_dim` as one, a view where its memory allows.

        Arguments:
            input: a tensor of any dtype that has these axes

        Errors: IndexError for an axis that there is not; ArgumentError for a `start_dim` behind `end_dim`.
        """
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis as several.

    >>> mg.nn.Unflatten(1, (2, -1))(mg.zeros(4, 6)).shape
    (4, 2, 3)

    Shapes: `[*before, size, *after]` gives `[*before, *unflattened_size, *after]`.

    Arguments:
        dim: the axis, counted from the end where it is negative
        unflattened_size: the sizes that it is taken apart into, whose product is its size; one of them may be −1 and follows from the others

    Errors: in a call, IndexError where there is no axis `dim`, and ArgumentError for sizes whose product is another.
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """The input with the axis `dim` as several, a view where its memory allows.

        Arguments:
            input: a tensor of any dtype that has this axis

        Errors: IndexError where there is no such axis; ArgumentError for sizes whose product is another, and for more than one −1.
        """
        shape = tuple(input.shape)
        if not -len(shape) <= self.dim < len(shape):
            raise IndexError(f"axis {self.dim} of shape {shape}")
        at = self.dim % len(shape)
        return input.reshape((*shape[:at], *self.unflattened_size, *shape[at + 1 :]))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
