"""Attention of sequences of several lengths that lie one after the other, without padding, as `torch.nn.attention.varlen` has it.

>>> import micrograd_rs as mg
>>> from micrograd_rs.nn.attention.varlen import varlen_attn
>>> q, k = mg.randn(5, 2, 8), mg.randn(7, 2, 8)
>>> varlen_attn(q, k, k, mg.tensor([0, 2, 5]), mg.tensor([0, 4, 7]), 3, 4).shape
(5, 2, 8)
"""

from __future__ import annotations

from ..._names import Lazy as _Lazy
from ..._nn_ops import varlen_attn

__all__ = ["varlen_attn"]

__getattr__ = _Lazy(__name__)
