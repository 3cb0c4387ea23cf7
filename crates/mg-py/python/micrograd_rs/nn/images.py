"""Margins, other sizes, channels as pixels, and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .. import functional as F
from .._micrograd_rs import Tensor
from .module import Module


class _Pad(Module):
    """Margins along the last axes: one width for all, or one for each side, from the last axis on."""

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
        """The input, `[n, channels, …]` or without `n`, with wider last axes: each by what is put before and behind it."""
        self._check(input)
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The input with wider last axes: each by what is put before and behind it."""
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
    """Margins of a value, along the last axis.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on
        value: the value

    >>> mg.nn.ConstantPad1d((1, 2), 9)(mg.tensor([[1, 2, 3]]))
    tensor([[9, 1, 2, 3, 9, 9]])
    """

    axes = 1


class ConstantPad2d(_ConstantPad):
    """Margins of a value, along the last two axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on
        value: the value

    >>> mg.nn.ConstantPad2d((1, 0, 0, 1), 9)(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[9, 1, 2],
             [9, 3, 4],
             [9, 9, 9]]])
    """

    axes = 2


class ConstantPad3d(_ConstantPad):
    """Margins of a value, along the last three axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on
        value: the value

    >>> mg.nn.ConstantPad3d(1, 0.5)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)
    """

    axes = 3


class ZeroPad1d(_ZeroPad):
    """Margins of zeros, along the last axis.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ZeroPad1d((1, 2))(mg.tensor([[1, 2, 3]]))
    tensor([[0, 1, 2, 3, 0, 0]])
    """

    axes = 1


class ZeroPad2d(_ZeroPad):
    """Margins of zeros, along the last two axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ZeroPad2d((1, 0, 0, 1))(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[0, 1, 2],
             [0, 3, 4],
             [0, 0, 0]]])
    """

    axes = 2


class ZeroPad3d(_ZeroPad):
    """Margins of zeros, along the last three axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ZeroPad3d(1)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)
    """

    axes = 3


class ReflectionPad1d(_ReflectionPad):
    """Margins that mirror what is inside, along the last axis.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ReflectionPad1d((1, 2))(mg.tensor([[1, 2, 3]]))
    tensor([[2, 1, 2, 3, 2, 1]])
    """

    axes = 1


class ReflectionPad2d(_ReflectionPad):
    """Margins that mirror what is inside, along the last two axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ReflectionPad2d((1, 0, 0, 0))(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[2, 1, 2],
             [4, 3, 4]]])
    """

    axes = 2


class ReflectionPad3d(_ReflectionPad):
    """Margins that mirror what is inside, along the last three axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ReflectionPad3d(1)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)
    """

    axes = 3


class ReplicationPad1d(_ReplicationPad):
    """Margins of what is at the ends, along the last axis.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ReplicationPad1d((1, 2))(mg.tensor([[1, 2, 3]]))
    tensor([[1, 1, 2, 3, 3, 3]])
    """

    axes = 1


class ReplicationPad2d(_ReplicationPad):
    """Margins of what is at the ends, along the last two axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ReplicationPad2d((1, 0, 0, 0))(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[1, 1, 2],
             [3, 3, 4]]])
    """

    axes = 2


class ReplicationPad3d(_ReplicationPad):
    """Margins of what is at the ends, along the last three axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.ReplicationPad3d(1)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)
    """

    axes = 3


class CircularPad1d(_CircularPad):
    """Margins of what is at the other end, along the last axis.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.CircularPad1d((1, 2))(mg.tensor([[1, 2, 3]]))
    tensor([[3, 1, 2, 3, 1, 2]])
    """

    axes = 1


class CircularPad2d(_CircularPad):
    """Margins of what is at the other end, along the last two axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.CircularPad2d((1, 0, 0, 0))(mg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[2, 1, 2],
             [4, 3, 4]]])
    """

    axes = 2


class CircularPad3d(_CircularPad):
    """Margins of what is at the other end, along the last three axes.

    Arguments:
        padding: how wide margins are: one number, or two for each axis, from the last axis on

    >>> mg.nn.CircularPad3d(1)(mg.ones(1, 1, 2, 3, 4)).shape
    (1, 1, 4, 5, 6)
    """

    axes = 3


class Upsample(Module):
    """Another size along the axes behind the first two: `size`, or the old one times `scale_factor`; see
    `interpolate`.

    Arguments:
        size: the new sizes
        scale_factor: what the old ones are multiplied by
        mode: "nearest", "linear", "bilinear", "bicubic" or "trilinear"
        align_corners: whether the centres of the outermost elements stay where they are
        recompute_scale_factor: whether positions follow from the sizes, rather than from `scale_factor`

    >>> mg.nn.Upsample(scale_factor=2)(mg.tensor([[[0.0, 1.0]]]))
    tensor([[[0., 0., 1., 1.]]])
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
        """`[n, channels, …]` with other sizes of the last axes."""
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        wanted = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{wanted}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` with the mode "nearest".

    Arguments:
        size: the new sizes
        scale_factor: what the old ones are multiplied by

    >>> mg.nn.UpsamplingNearest2d(scale_factor=2)(mg.tensor([[[[0.0, 1.0]]]]))
    tensor([[[[0., 0., 1., 1.],
              [0., 0., 1., 1.]]]])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` with the mode "bilinear", the corners' centres staying where they are.

    Arguments:
        size: the new sizes
        scale_factor: what the old ones are multiplied by

    >>> mg.nn.UpsamplingBilinear2d(size=(1, 3))(mg.tensor([[[[0.0, 1.0]]]]))
    tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(Module):
    """`[…, channels · r², height, width]` as `[…, channels, height · r, width · r]`.

    Arguments:
        upscale_factor: `r`

    >>> mg.nn.PixelShuffle(2)(mg.tensor([[[1]], [[2]], [[3]], [[4]]]))
    tensor([[[1, 2],
             [3, 4]]])
    """

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """`[…, channels, height · r, width · r]` of `[…, channels · r², height, width]`, for the factor r."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """`[…, channels, height · r, width · r]` as `[…, channels · r², height, width]`.

    Arguments:
        downscale_factor: `r`

    >>> mg.nn.PixelUnshuffle(2)(mg.tensor([[[1, 2], [3, 4]]])).flatten()
    tensor([1, 2, 3, 4])
    """

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """`[…, channels · r², height, width]` of `[…, channels, height · r, width · r]`, for the factor r."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels (axis 1) in another order: the first of each group, then the second of each, …

    Arguments:
        groups: how many groups

    >>> mg.nn.ChannelShuffle(2)(mg.arange(4).reshape(1, 4, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, `[n, channels, …]`."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class Flatten(Module):
    """Some axes as one: all but the first, which counts the samples.

    Arguments:
        start_dim: the first of them
        end_dim: the last one

    Errors: IndexError for an axis out of range.

    >>> mg.nn.Flatten()(mg.zeros(32, 8, 4, 4)).shape
    (32, 128)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """With the axes from `start_dim` to `end_dim` as one."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis as several.

    Arguments:
        dim: the axis
        unflattened_size: the sizes, of which one may be −1

    >>> mg.nn.Unflatten(1, (2, -1))(mg.zeros(4, 6)).shape
    (4, 2, 3)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """With the axis `dim` as those that there are sizes for."""
        shape = tuple(input.shape)
        if not -len(shape) <= self.dim < len(shape):
            raise IndexError(f"axis {self.dim} of shape {shape}")
        at = self.dim % len(shape)
        return input.reshape((*shape[:at], *self.unflattened_size, *shape[at + 1 :]))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
