"""Operations that `nn.functional` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
    "celu",
    "celu_",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "gelu",
    "leaky_relu",
    "leaky_relu_",
    "silu",
    "silu_",
]

celu = _rs._nn_celu
celu_ = _rs._nn_celu_
conv1d = _rs._nn_conv1d
conv2d = _rs._nn_conv2d
conv3d = _rs._nn_conv3d
conv_transpose1d = _rs._nn_conv_transpose1d
conv_transpose2d = _rs._nn_conv_transpose2d
conv_transpose3d = _rs._nn_conv_transpose3d
gelu = _rs._nn_gelu
leaky_relu = _rs._nn_leaky_relu
leaky_relu_ = _rs._nn_leaky_relu_
silu = _rs._nn_silu
silu_ = _rs._nn_silu_
