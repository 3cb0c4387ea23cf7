"""Attention of sequences of several lengths that lie one after the other, without padding, as `torch.nn.attention.varlen` has it.

>>> import micrograd_rs as mg
>>> from micrograd_rs.nn.attention.varlen import varlen_attn
>>> q, k = mg.randn(5, 2, 8), mg.randn(7, 2, 8)
>>> varlen_attn(q, k, k, mg.tensor([0, 2, 5]), mg.tensor([0, 4, 7]), 3, 4).shape
(5, 2, 8)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import _nn_ops
from ..._names import Lazy as _Lazy

if TYPE_CHECKING:
    from ..._micrograd_rs import Tensor

__all__ = ["varlen_attn"]

__getattr__ = _Lazy(__name__)


def varlen_attn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seq_q: Tensor,
    cu_seq_k: Tensor,
    max_q: int,
    max_k: int,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
) -> Tensor:
    """Attention of sequences of several lengths: the means `[l, heads, v]` of the values, where each query takes keys of its own sequence alone.

    Sequence `i` has the queries from `cu_seq_q[i]` to `cu_seq_q[i + 1]`, and the keys from `cu_seq_k[i]` to `cu_seq_k[i + 1]`. Its last query stands at its last key. What
    belongs to other sequences is neither read nor multiplied, but for the tiles in which sequences meet; scores are never in memory, unless a gradient is differentiated again. A query without keys is
    answered with 0. Offsets that fall are taken as the largest so far, those beyond the last token as its end; tokens before the first offset and from the last one on are of no sequence.

    Arguments:
        query: the queries, `[l, heads, e]`; floats
        key: the keys, `[s, shared, e]`, in the dtype of the queries; `shared` divides `heads`, and each head serves as many neighbouring ones of the queries
        value: the values, `[s, shared, v]`, in the dtype of the queries
        cu_seq_q: where sequences begin among the queries, and the number of queries: integers `[n + 1]`
        cu_seq_k: where sequences begin among the keys, and the number of keys: integers `[n + 1]`
        max_q: how many queries a sequence has at most; it decides nothing but which kernels compute
        max_k: how many keys a sequence has at most; it decides nothing but which kernels compute
        is_causal: whether a query takes the keys up to its own position alone
        scale: what the scores are multiplied by; None is 1/√e
        window_size: `(left, right)`: a query takes the keys from `left` before its position to `right` after it alone, −1 being no bound

    Errors: ValueError for shapes that do not fit, for offsets that are no integers or are of unlike numbers of sequences, for a window that is not of two numbers from −1
    on, and for tensors on different devices; TypeError for queries, keys and values that are not floats of one dtype.

    >>> q = k = v = mg.eye(4)[:, None]
    >>> ends = mg.tensor([0, 1, 4])
    >>> mg.nn.attention.varlen.varlen_attn(q, k, v, ends, ends, 3, 3, is_causal=True)[:, 0]
    tensor([[1.0000, 0.0000, 0.0000, 0.0000],
            [0.0000, 1.0000, 0.0000, 0.0000],
            [0.0000, 0.3775, 0.6225, 0.0000],
            [0.0000, 0.2741, 0.2741, 0.4519]])
    """
    return _nn_ops.varlen_attn(
        query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, is_causal, scale=scale, window_size=window_size
    )
