"""Operations that `nn.functional` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
    "celu",
    "celu_",
    "gelu",
    "leaky_relu",
    "leaky_relu_",
    "silu",
    "silu_",
]

celu = _rs._nn_celu
celu_ = _rs._nn_celu_
gelu = _rs._nn_gelu
leaky_relu = _rs._nn_leaky_relu
leaky_relu_ = _rs._nn_leaky_relu_
silu = _rs._nn_silu
silu_ = _rs._nn_silu_
