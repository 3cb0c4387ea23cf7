"""Operations as functions, under the names of PyTorch's `nn.functional`."""

from __future__ import annotations

from ._micrograd_rs import (
    Tensor,
    binary_cross_entropy_with_logits,
    cross_entropy,
    embedding,
    layer_norm,
    linear,
    mse_loss,
    nll_loss,
    one_hot,
)
from ._names import Lazy as _Lazy
from . import _nn_ops, _ops
from ._nn_ops import *
from ._ops import *

__all__ = [
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "dropout",
    "embedding",
    "layer_norm",
    "linear",
    "mse_loss",
    "nll_loss",
    "one_hot",
]
__all__ += [*_ops.__all__, *_nn_ops.__all__]

dropout = Tensor.dropout

__getattr__ = _Lazy(__name__)
