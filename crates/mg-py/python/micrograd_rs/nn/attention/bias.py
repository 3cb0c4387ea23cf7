"""Causal masks of queries and keys of different numbers, as `torch.nn.attention.bias` has them: tensors, for `attn_mask`.

>>> from micrograd_rs.nn.attention.bias import causal_lower_right
>>> causal_lower_right(2, 3).tolist()
[[True, True, False], [True, True, True]]
"""

from __future__ import annotations

from ..._micrograd_rs import Tensor, ones
from ..._micrograd_rs import bool as _bool
from ..._names import Lazy as _Lazy

__all__ = ["causal_lower_right", "causal_upper_left"]

__getattr__ = _Lazy(__name__)


def _sizes(size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise RuntimeError(f"takes 2 sizes, of queries and of keys, got {len(size)}")
    return size[0], size[1]


def causal_upper_left(*size: int) -> Tensor:
    """Query `i` sees keys up to `i`: bool `[queries, keys]`."""
    return ones(*_sizes(size), dtype=_bool).tril()


def causal_lower_right(*size: int) -> Tensor:
    """The last query sees all keys, the one before it all but the last, …: bool `[queries, keys]`."""
    queries, keys = _sizes(size)
    return ones(queries, keys, dtype=_bool).tril(keys - queries)
