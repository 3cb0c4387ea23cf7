"""Causal masks of queries and keys of different numbers, as `torch.nn.attention.bias` has them, for `attn_mask` of `scaled_dot_product_attention`. They are bounds,
not tensors: keys outside are not read.

>>> import micrograd_rs as mg
>>> from micrograd_rs.nn.attention.bias import causal_lower_right
>>> q, k = mg.eye(2)[None], mg.eye(3, 2)[None]
>>> mg.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(2, 3)).shape
(1, 2, 2)
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from ..._micrograd_rs import Tensor, ones
from ..._micrograd_rs import bool as _bool
from ..._names import Lazy as _Lazy

if TYPE_CHECKING:
    from ..._micrograd_rs import Device

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]

__getattr__ = _Lazy(__name__)


class CausalVariant(IntEnum):
    """Where the causal mask of `CausalBias` begins: at the first key for the first query, or at the last key for the last query."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias:
    """A causal mask of so many queries and keys. `variant`, `seq_len_q` and `seq_len_kv` say what it is.

    Arguments:
        variant: which of the mask's corners is fixed, a `CausalVariant`
        seq_len_q: how many queries there are
        seq_len_kv: how many keys there are

    Errors: TypeError for what is no `CausalVariant`.

    >>> from micrograd_rs.nn.attention.bias import CausalBias, CausalVariant
    >>> CausalBias(CausalVariant.UPPER_LEFT, 2, 3)
    CausalBias(UPPER_LEFT, 2, 3)
    """

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"CausalBias: takes a CausalVariant, got {variant!r}")
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv

    @property
    def shape(self) -> tuple[int, int]:
        """`(seq_len_q, seq_len_kv)`."""
        return self.seq_len_q, self.seq_len_kv

    def _materialize(self, device: Device | str | None = None) -> Tensor:
        """The mask as a tensor, bool `[seq_len_q, seq_len_kv]`, True where a query takes a key."""
        more = self.seq_len_kv - self.seq_len_q if self.variant is CausalVariant.LOWER_RIGHT else 0
        return ones(self.seq_len_q, self.seq_len_kv, dtype=_bool, device=device or "cpu").tril(more)

    def __repr__(self) -> str:
        return f"CausalBias({self.variant.name}, {self.seq_len_q}, {self.seq_len_kv})"


def _sizes(name: str, size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise RuntimeError(f"{name}: takes 2 sizes, of queries and of keys, got {len(size)}")
    return size[0], size[1]


def causal_upper_left(*size: int) -> CausalBias:
    """Query `i` of so many queries sees keys up to `i`, of so many keys: what `is_causal` says."""
    return CausalBias(CausalVariant.UPPER_LEFT, *_sizes("causal_upper_left", size))


def causal_lower_right(*size: int) -> CausalBias:
    """The last of so many queries sees all of so many keys, the one before it all but the last, …: what queries ask of a cache that ends with their own keys."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *_sizes("causal_lower_right", size))
