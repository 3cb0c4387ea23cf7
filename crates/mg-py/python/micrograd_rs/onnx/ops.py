"""Operators of ONNX as functions, as `torch.onnx.ops` has them.

>>> import micrograd_rs as mg
>>> from micrograd_rs.onnx.ops import rotary_embedding
>>> angles = mg.arange(3.0)[None, :, None] * mg.tensor([1.0, 0.01])
>>> rotary_embedding(mg.ones(1, 2, 3, 4), angles.cos(), angles.sin()).shape
(1, 2, 3, 4)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _nn_ops
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from .._micrograd_rs import Tensor

__all__ = ["rotary_embedding"]

__getattr__ = _Lazy(__name__)


def rotary_embedding(
    X: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    position_ids: Tensor | None = None,
    *,
    interleaved: bool = False,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    """Rotary positions, as ONNX's RotaryEmbedding: `nn.functional.rotary_embedding` with the operator's names.

    Arguments:
        X: what is turned, `[batch, heads, sequence, size]`, or `[batch, sequence, heads · size]` with `num_heads`; floats
        cos_cache: the cosines, `[positions, half]` beside `position_ids`, else `[batch, sequence, half]`; float32 or the dtype of `X`
        sin_cache: the sines, as `cos_cache`
        position_ids: the positions of tokens, integers `[batch, sequence]`: rows of the caches
        interleaved: whether neighbours are a pair; if not, a feature of the first half and the one as far into the second
        num_heads: how many heads an `X` of three axes has
        rotary_embedding_dim: how many features of each head are turned, the first ones; 0: all

    Errors: ValueError for shapes that do not fit and for an odd number of features, TypeError for what is no float, for caches of another dtype and for positions that are no
    integers, IndexError for a position that the caches do not have.

    >>> at = mg.tensor([[0, 1]])
    >>> mg.onnx.ops.rotary_embedding(mg.ones(1, 1, 2, 2), mg.tensor([[1.0], [0.0]]), mg.tensor([[0.0], [1.0]]), at)
    tensor([[[[ 1.,  1.],
              [-1.,  1.]]]])
    """
    return _nn_ops.rotary_embedding(
        X, cos_cache, sin_cache, position_ids, interleaved=interleaved, num_heads=num_heads, rotary_embedding_dim=rotary_embedding_dim
    )
