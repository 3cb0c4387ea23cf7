"""Positions that turn features."""

from __future__ import annotations

import math

from .. import functional as F
from .._micrograd_rs import ArgumentError, Device, Tensor, arange, stack
from .._micrograd_rs import float64 as _float64
from ._sizes import check_sizes
from .module import Module


class RotaryPositionalEmbeddings(Module):
    """Rotary positions (Su et al., "RoFormer", 2021), as torchtune has them: features of queries, or of keys, are turned by pairs, by angles that grow with the position, so that the
    product of a query and a key depends on how far apart they stand.

    Pair `i` of `dim / 2` is turned by the position times `base^(−2i / dim)`. It is one pass over the input, wherever that lies (`nn.functional.rotary_embedding`), and the gradient is one.

    >>> import micrograd_rs as mg
    >>> rotary = mg.nn.RotaryPositionalEmbeddings(8, max_seq_len=64)
    >>> qkv = mg.randn(2, 5, 3, 4, 8)
    >>> q, k = rotary(qkv[:, :, 0]), rotary(qkv[:, :, 1])
    >>> last = rotary(qkv[:, 4:, 0], input_pos=mg.tensor([4]))
    >>> q.shape, bool((last == q[:, 4:]).all())
    ((2, 5, 4, 8), True)

    Shapes: `[batch, sequence, heads, dim]` gives the same, in its dtype; halves are computed in float32. `cache` is `[max_seq_len, dim / 2, 2]`, cosines and sines. No buffer is in `state_dict`.

    Arguments:
        dim: how many features a head has, an even number
        max_seq_len: how many positions there are
        base: what the slowest pair's period grows with
        interleaved: whether neighbours are a pair; if not, a feature of the first half and the one as far into the second (as weights of Llama have it in Transformers)

    Errors: ValueError for a `dim` that is odd or negative and for a `base` that is not positive, TypeError for sizes that are no integers.
    """

    theta: Tensor
    cache: Tensor

    def __init__(
        self,
        dim: int,
        max_seq_len: int = 4096,
        base: float = 10_000,
        *,
        interleaved: bool = True,
        device: Device | str | None = None,
    ) -> None:
        check_sizes(self, dim=dim, max_seq_len=max_seq_len)
        if dim % 2 or not 0 < base < math.inf:
            raise ArgumentError(f"RotaryPositionalEmbeddings: takes an even dim and a positive base, got {dim} and {base}")
        self.dim = dim
        self.max_seq_len = max_seq_len
        self.base = base
        self.interleaved = interleaved
        self._made_on = device
        self.rope_init()

    def rope_init(self) -> None:
        """Computes how fast pairs turn, `theta`, and the cache for `max_seq_len` positions."""
        # In float64: the angles of far positions have few bits left behind the point.
        speeds = float(self.base) ** (arange(0, self.dim, 2, dtype=_float64, device=self._made_on) / -max(self.dim, 1))
        self.register_buffer("theta", speeds.float(), persistent=False)
        self._fill(speeds, self.max_seq_len)

    def build_rope_cache(self, max_seq_len: int = 4096) -> None:
        """Makes the cache anew, for so many positions.

        Arguments:
            max_seq_len: how many positions there are

        Errors: ValueError for a negative number, TypeError for what is no integer.
        """
        check_sizes(self, max_seq_len=max_seq_len)
        self.max_seq_len = max_seq_len
        self._made_on = self.theta.device
        self.rope_init()

    def _fill(self, speeds: Tensor, count: int) -> None:
        angles = arange(count, dtype=_float64, device=speeds.device)[:, None] * speeds
        self.register_buffer("cache", stack([angles.cos(), angles.sin()], -1).float(), persistent=False)

    def forward(self, x: Tensor, *, input_pos: Tensor | None = None) -> Tensor:
        """Features turned by the angles of positions.

        Arguments:
            x: queries or keys, `[batch, sequence, heads, dim]`; floats
            input_pos: the positions, integers `[batch, sequence]`, or `[sequence]` for all of the batch; None: 0, 1, 2, …

        Errors: ValueError for other axes or features and for more tokens than there are positions, TypeError for what is no float and for positions that are no integers, IndexError for
        a position that the cache does not have.
        """
        if x.ndim != 4 or x.shape[3] != self.dim:
            raise ArgumentError(f"RotaryPositionalEmbeddings: takes [batch, sequence, heads, {self.dim}], got shape {tuple(x.shape)}")
        if input_pos is None:
            if x.shape[1] > len(self.cache):
                what = f"{x.shape[1]} tokens, shape {tuple(x.shape)}"
                raise ArgumentError(f"RotaryPositionalEmbeddings: has angles of {len(self.cache)} positions, got {what}")
            angles = self.cache[None, : x.shape[1]]
        else:
            at = input_pos[None] if input_pos.ndim == 1 else input_pos
            batch, sequence = x.shape[:2]
            if at.ndim != 2 or at.shape[0] not in (1, batch) or at.shape[1] != sequence:
                takes = f"[{batch}, {sequence}] or [{sequence}]"
                raise ArgumentError(f"RotaryPositionalEmbeddings: takes input_pos {takes}, got shape {tuple(input_pos.shape)}")
            angles = F.embedding(at, self.cache.flatten(1)).unflatten(-1, (-1, 2))
        turned = F.rotary_embedding(x.transpose(1, 2), angles[..., 0], angles[..., 1], interleaved=self.interleaved)
        return turned.transpose(1, 2)

    def extra_repr(self) -> str:
        text = f"{self.dim}, max_seq_len={self.max_seq_len}, base={self.base}"
        return text if self.interleaved else f"{text}, interleaved=False"
