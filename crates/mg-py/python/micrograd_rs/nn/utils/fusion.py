"""A normalisation that is folded into the layer before it, for use without training."""

from __future__ import annotations

import copy
from typing import Any

from ..._micrograd_rs import Tensor, ones_like, zeros_like
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _folded(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    eps: float,
    scale: Tensor | None,
    shift: Tensor | None,
    axis: int,
) -> tuple[Any, Any]:
    scale = ones_like(mean) if scale is None else scale
    shift = zeros_like(mean) if shift is None else shift
    bias = zeros_like(mean) if bias is None else bias
    factor = scale * (variance + eps).rsqrt()
    shape = [1] * weight.dim()
    shape[axis] = -1
    weight = (weight * factor.reshape(shape)).to(weight.dtype)
    return Parameter(weight), Parameter(((bias - mean) * factor + shift).to(weight.dtype))


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Any, Any]:
    """Weight and bias of a convolution that does what one with a batch normalisation behind it did.

    Arguments:
        conv_w, conv_b: the convolution's weight and bias
        bn_rm, bn_rv: the running mean and variance
        bn_eps: what is added to the variance
        bn_w, bn_b: the normalisation's weight and bias
        transpose: whether the convolution is a transposed one

    >>> w, b = mg.nn.utils.fuse_conv_bn_weights(mg.ones(1, 1, 1), None, mg.tensor([3.0]), mg.tensor([4.0]), 0.0, mg.ones(1), mg.zeros(1))
    >>> w.item(), b.item()
    (0.5, -1.5)
    """
    return _folded(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Any, Any]:
    """Weight and bias of a linear layer that does what one with a batch normalisation behind it did.

    Arguments:
        linear_w, linear_b: the layer's weight and bias
        bn_rm, bn_rv: the running mean and variance
        bn_eps: what is added to the variance
        bn_w, bn_b: the normalisation's weight and bias

    >>> w, b = mg.nn.utils.fuse_linear_bn_weights(mg.ones(1, 1), None, mg.tensor([3.0]), mg.tensor([4.0]), 0.0, mg.ones(1), mg.zeros(1))
    >>> w.item(), b.item()
    (0.5, -1.5)
    """
    return _folded(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _fused(layer: Any, bn: Any, axis: int) -> Any:
    if layer.training or bn.training:
        raise ValueError("folds what is in the mode for use: call eval() first")
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError("folds a normalisation with running statistics")
    fused = copy.deepcopy(layer)
    rest = bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, axis
    fused.weight, fused.bias = _folded(fused.weight, fused.bias, *rest)
    return fused


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what one with a batch normalisation behind it does, both in the mode for use.

    Arguments:
        conv: the convolution
        bn: the batch normalisation
        transpose: whether the convolution is a transposed one

    >>> conv, bn = mg.nn.Conv2d(3, 8, 3).eval(), mg.nn.BatchNorm2d(8).eval()
    >>> x = mg.ones(1, 3, 5, 5)
    >>> mg.allclose(mg.nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)
    True
    """
    return _fused(conv, bn, 1 if transpose else 0)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that does what one with a batch normalisation behind it does, both in the mode for use.

    Arguments:
        linear: the linear layer
        bn: the batch normalisation

    >>> linear, bn = mg.nn.Linear(3, 8).eval(), mg.nn.BatchNorm1d(8).eval()
    >>> x = mg.ones(2, 3)
    >>> mg.allclose(mg.nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-5)
    True
    """
    return _fused(linear, bn, 0)
