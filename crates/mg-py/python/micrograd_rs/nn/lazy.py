"""Modules that find out their sizes when they meet the first input.

>>> import micrograd_rs as mg
>>> from micrograd_rs import nn
>>> net = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(1))
>>> net(mg.randn(4, 3)).shape
(4, 1)
>>> net[0]
Linear(in_features=3, out_features=8, bias=True)
"""

from __future__ import annotations

from typing import Any, ClassVar

from .._micrograd_rs import Device, Tensor, dtype
from ..autograd import no_grad
from .convolutions import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    _ConvNd,
    _Size,
)
from .layers import Linear
from .module import Module
from .norms import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    _NormBase,
)
from .parameter import UninitializedBuffer, UninitializedParameter, is_lazy, materialize


class LazyModuleMixin(Module):
    """What has parameters whose shape is not known yet (`UninitializedParameter`), and gives them one in `initialize_parameters`, which is called with
    the first input. Then the module becomes one of the class `cls_to_become`, if there is one.

    >>> layer = mg.nn.LazyLinear(2)
    >>> layer.has_uninitialized_params()
    True
    >>> _ = layer(mg.ones(4, 3))
    >>> type(layer).__name__
    'Linear'

    Arguments:
        args: what the class that it is mixed into takes
        kwargs: likewise
    """

    cls_to_become: ClassVar[type[Module] | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._wait()

    def _wait(self) -> None:
        """For the first input."""
        self._initialize_hook = self.register_forward_pre_hook(_infer, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives parameters their shapes: for subclasses to write. It is called once, before the first call of `forward`.

        Arguments:
            args: what `forward` is called with
            kwargs: likewise

        Errors: NotImplementedError where a subclass does not write it.
        """
        text = f"{type(self).__name__} does not say what shapes its parameters have: write initialize_parameters()"
        raise NotImplementedError(text)

    def has_uninitialized_params(self) -> bool:
        """Whether parameters or buffers have no shape yet."""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))


def _infer(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"initialize_parameters() of {type(module).__name__} left parameters without a shape")
    module._initialize_hook.remove()
    delattr(module, "_initialize_hook")
    if module.cls_to_become is not None:
        object.__setattr__(module, "__class__", module.cls_to_become)


class LazyLinear(LazyModuleMixin, Linear):
    """`Linear`, whose `in_features` is the size of the first input's last axis.

    >>> layer = mg.nn.LazyLinear(2)
    >>> layer
    LazyLinear(in_features=0, out_features=2, bias=True)
    >>> layer(mg.ones(4, 3)).shape, layer
    ((4, 2), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def initialize_parameters(self, input: Tensor) -> None:
        """Gives weight and bias their shapes, and draws them.

        Arguments:
            input: the first input, `[…, in_features]`
        """
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            with no_grad():
                materialize(self.weight, (self.out_features, self.in_features))
                if self.bias is not None:
                    materialize(self.bias, (self.out_features,))
            self.reset_parameters()


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A normalisation by channel whose number of channels is the size of the first input's axis 1.

    Errors: ValueError in the first call for another number of axes than the class that it becomes takes, and for what that refuses else.
    """

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, track_running_stats, device, dtype, bias=bias)
        self.affine = affine
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)

    def initialize_parameters(self, input: Tensor) -> None:
        """Gives parameters and statistics their shapes, as many numbers as the input has channels.

        Arguments:
            input: the first input, `[n, channels, …]`, or that without `n` where the layer takes it

        Errors: ValueError for another number of axes.
        """
        if self.has_uninitialized_params():
            self._check_input_dim(input)
            alone = input.dim() != self.axes[-1]
            self.num_features = input.shape[self._channels if alone else 1]
            with no_grad():
                for t in (self.weight, self.bias, self.running_mean, self.running_var):
                    if t is not None:
                        materialize(t, (self.num_features,))
            self.reset_parameters()

    # Where channels are in an input without a batch; a batch normalisation has them there too.
    _channels: ClassVar[int] = 1


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """`BatchNorm1d` for as many channels as the first input has.

    >>> norm = mg.nn.LazyBatchNorm1d()
    >>> norm(mg.randn(4, 3)).shape, norm
    ((4, 3), BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True))
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """`BatchNorm2d` for as many channels as the first input has.

    >>> norm = mg.nn.LazyBatchNorm2d()
    >>> norm(mg.randn(4, 3, 8, 8)).shape, norm.num_features
    ((4, 3, 8, 8), 3)
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """`BatchNorm3d` for as many channels as the first input has.

    >>> norm = mg.nn.LazyBatchNorm3d()
    >>> norm(mg.randn(4, 3, 2, 8, 8)).shape, norm.num_features
    ((4, 3, 2, 8, 8), 3)
    """

    cls_to_become = BatchNorm3d


class _LazyInstanceNorm(_LazyNormBase):
    _channels = 0

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype, bias=bias)


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """`InstanceNorm1d` for as many channels as the first input has.

    >>> norm = mg.nn.LazyInstanceNorm1d()
    >>> norm(mg.randn(4, 3, 8)).shape, norm.num_features
    ((4, 3, 8), 3)
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """`InstanceNorm2d` for as many channels as the first input has.

    >>> norm = mg.nn.LazyInstanceNorm2d()
    >>> norm(mg.randn(4, 3, 8, 8)).shape, norm.num_features
    ((4, 3, 8, 8), 3)
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """`InstanceNorm3d` for as many channels as the first input has.

    >>> norm = mg.nn.LazyInstanceNorm3d()
    >>> norm(mg.randn(4, 3, 2, 8, 8)).shape, norm.num_features
    ((4, 3, 2, 8, 8), 3)
    """

    cls_to_become = InstanceNorm3d


class _LazyConvXdMixin(LazyModuleMixin, _ConvNd):
    """A convolution whose number of channels is that of the first input."""

    def _start(self, bias: bool, device: Device | str | None, dtype: dtype | str | None) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        offset = UninitializedParameter(device=device, dtype=dtype) if bias else None
        self.register_parameter("bias", offset)

    def _build(self, bias: bool, device: Device | str | None, dtype: dtype | str | None) -> None:
        self._start(bias, device, dtype)

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Gives weight and bias their shapes, and draws them.

        Arguments:
            input: the first input, `[n, channels, …]`, or that without `n`
            args: what else `forward` is called with
            kwargs: likewise

        Errors: RuntimeError for another number of axes; ValueError for channels that do not part into `groups`.
        """
        if self.has_uninitialized_params():
            if input.dim() not in (self.axes + 1, self.axes + 2):
                raise RuntimeError(f"takes {self.axes + 1} or {self.axes + 2} axes, got shape {tuple(input.shape)}")
            self.in_channels = input.shape[-1 - self.axes]
            if self.in_channels % self.groups:
                raise ValueError(f"in_channels do not part into {self.groups} groups: there are {self.in_channels}")
            channels = (self.out_channels, self.in_channels // self.groups)
            if self.transposed:
                channels = (self.in_channels, self.out_channels // self.groups)
            with no_grad():
                materialize(self.weight, (*channels, *self.kernel_size))
                if self.bias is not None:
                    materialize(self.bias, (self.out_channels,))
            self.reset_parameters()


class _LazyConvForward(_LazyConvXdMixin):
    def __init__(
        self,
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
        _ConvNd.__init__(self, 0, out_channels, *sizes, groups, bias, padding_mode, device, dtype)
        self._wait()


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self,
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
        sizes = (kernel_size, stride, padding, dilation, True, output_padding)
        _ConvNd.__init__(self, 0, out_channels, *sizes, groups, bias, padding_mode, device, dtype)
        self._wait()


class LazyConv1d(_LazyConvForward, Conv1d):
    """`Conv1d` for as many channels as the first input has.

    >>> conv = mg.nn.LazyConv1d(8, kernel_size=3)
    >>> conv(mg.ones(4, 3, 100)).shape, conv
    ((4, 8, 98), Conv1d(3, 8, kernel_size=(3,), stride=(1,)))
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvForward, Conv2d):
    """`Conv2d` for as many channels as the first input has.

    >>> conv = mg.nn.LazyConv2d(8, kernel_size=3)
    >>> conv(mg.ones(4, 3, 16, 16)).shape, conv.in_channels
    ((4, 8, 14, 14), 3)
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvForward, Conv3d):
    """`Conv3d` for as many channels as the first input has.

    >>> conv = mg.nn.LazyConv3d(8, kernel_size=3)
    >>> conv(mg.ones(1, 3, 4, 4, 4)).shape, conv.in_channels
    ((1, 8, 2, 2, 2), 3)
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """`ConvTranspose1d` for as many channels as the first input has.

    >>> up = mg.nn.LazyConvTranspose1d(3, kernel_size=4, stride=2, padding=1)
    >>> up(mg.ones(4, 8, 50)).shape, up.in_channels
    ((4, 3, 100), 8)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """`ConvTranspose2d` for as many channels as the first input has.

    >>> up = mg.nn.LazyConvTranspose2d(3, kernel_size=4, stride=2, padding=1)
    >>> up(mg.ones(1, 8, 16, 16)).shape, up.in_channels
    ((1, 3, 32, 32), 8)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """`ConvTranspose3d` for as many channels as the first input has.

    >>> up = mg.nn.LazyConvTranspose3d(1, kernel_size=2, stride=2)
    >>> up(mg.ones(1, 2, 4, 4, 4)).shape, up.in_channels
    ((1, 1, 8, 8, 8), 2)
    """

    cls_to_become = ConvTranspose3d
