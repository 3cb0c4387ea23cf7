"""The gradients of convolutions by their inputs and weights, as functions, as `torch.nn.grad` has them.

>>> import micrograd_rs as mg
>>> from micrograd_rs.nn import grad
>>> x, w = mg.ones(1, 1, 4), mg.tensor([[[1.0, 2.0]]])
>>> grad.conv1d_input(x.shape, w, mg.ones(1, 1, 3)).tolist()
[[[1.0, 3.0, 3.0, 2.0]]]
>>> grad.conv1d_weight(x, w.shape, mg.ones(1, 1, 3)).tolist()
[[[3.0, 3.0]]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import functional as F
from .._micrograd_rs import Tensor, grad, is_grad_enabled, zeros
from .._names import Lazy as _Lazy
from ..autograd import enable_grad

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

__getattr__ = _Lazy(__name__)

_Size = int | Sequence[int]


def _by(convolve: Callable[[Tensor], Tensor], size: Sequence[int], other: Tensor, gradient: Tensor) -> Tensor:
    """The gradient by an operand of a convolution, of this size, beside the other. It is linear in each, so that which one it was makes no difference."""
    keeps = is_grad_enabled() and (other.requires_grad or gradient.requires_grad)
    with enable_grad():
        x = zeros(tuple(size), dtype=other.dtype, device=other.device, requires_grad=True)
        found: Tensor = grad(convolve(x), [x], gradient, create_graph=keeps)[0]
    return found


def conv1d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: _Size = 1, padding: _Size = 0, dilation: _Size = 1, groups: int = 1
) -> Tensor:
    """The gradient by its input `[n, in_channels, length]`, which is of `input_size`, of `conv1d` with a `weight` `[out_channels, in_channels / groups,
    length]`, where `grad_output` `[n, out_channels, length]` is the gradient of the result. ArgumentError where the shapes do not fit.
    """
    return _by(lambda x: F.conv1d(x, weight, None, stride, padding, dilation, groups), input_size, weight, grad_output)


def conv1d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: _Size = 1, padding: _Size = 0, dilation: _Size = 1, groups: int = 1
) -> Tensor:
    """The gradient by its weight, which is of `weight_size`, of `conv1d` of `input`, where `grad_output` is the gradient of the result."""
    return _by(lambda w: F.conv1d(input, w, None, stride, padding, dilation, groups), weight_size, input, grad_output)


def conv2d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: _Size = 1, padding: _Size = 0, dilation: _Size = 1, groups: int = 1
) -> Tensor:
    """`conv1d_input` for `conv2d`: input and result are `[n, channels, height, width]`."""
    return _by(lambda x: F.conv2d(x, weight, None, stride, padding, dilation, groups), input_size, weight, grad_output)


def conv2d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: _Size = 1, padding: _Size = 0, dilation: _Size = 1, groups: int = 1
) -> Tensor:
    """`conv1d_weight` for `conv2d`."""
    return _by(lambda w: F.conv2d(input, w, None, stride, padding, dilation, groups), weight_size, input, grad_output)


def conv3d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: _Size = 1, padding: _Size = 0, dilation: _Size = 1, groups: int = 1
) -> Tensor:
    """`conv1d_input` for `conv3d`: input and result are `[n, channels, depth, height, width]`."""
    return _by(lambda x: F.conv3d(x, weight, None, stride, padding, dilation, groups), input_size, weight, grad_output)


def conv3d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: _Size = 1, padding: _Size = 0, dilation: _Size = 1, groups: int = 1
) -> Tensor:
    """`conv1d_weight` for `conv3d`."""
    return _by(lambda w: F.conv3d(input, w, None, stride, padding, dilation, groups), weight_size, input, grad_output)
