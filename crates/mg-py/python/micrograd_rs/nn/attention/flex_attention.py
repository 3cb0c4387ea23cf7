"""Attention whose scores are changed, and left out, by functions, as `torch.nn.attention.flex_attention` has it.

>>> import micrograd_rs as mg
>>> from micrograd_rs.nn.attention.flex_attention import create_block_mask, flex_attention
>>> q = k = v = mg.randn(1, 2, 5, 8)
>>> alibi = lambda score, b, h, q_idx, kv_idx: score + (kv_idx - q_idx) * 2.0 ** -(h + 1)
>>> causal = create_block_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 5, 5)
>>> flex_attention(q, k, v, score_mod=alibi, block_mask=causal).shape
(1, 2, 5, 8)

The functions get one score, and the numbers of its batch, head, query and key, as tensors without axes (`func.vmap` calls them for all), and
may read other tensors at them; gradients flow to those too. With a mask alone, or nothing, `nn.functional.scaled_dot_product_attention` is
what computes; else scores are laid out, `[batch, heads, queries, keys]`: of many some queries' at a time, which are computed again for gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..._micrograd_rs import Device, Tensor, _is_tracing, arange, realize, where, zeros
from ..._micrograd_rs import bool as _bool
from ..._micrograd_rs import int32 as _int32
from ..._names import Lazy as _Lazy
from ..._nn_ops import pad, scaled_dot_product_attention, softmax
from ..._ops import cat
from ...func import vmap
from ...utils.checkpoint import checkpoint

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks"]

__getattr__ = _Lazy(__name__)

_Mask = Callable[[Any, Any, Any, Any], Any]
_Score = Callable[[Any, Any, Any, Any, Any], Any]


class AuxRequest(NamedTuple):
    """What `flex_attention` is to answer with beside its result: the logarithms of the sums of `e^score`, and the largest scores."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What `flex_attention` answered with beside its result, f32 `[b, h, l]` each; None for what was not asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """All of them."""
    return batch.new_ones((), dtype=_bool)


def and_masks(*mask_mods: _Mask) -> _Mask:
    """What all of some masks let through."""

    def both(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        result = b.new_ones((), dtype=_bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return both


def or_masks(*mask_mods: _Mask) -> _Mask:
    """What at least one of some masks lets through."""

    def either(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        result = b.new_zeros((), dtype=_bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return either


def _everywhere(
    function: Callable[..., Any], sizes: tuple[int, int, int, int], device: Device | str, scores: Tensor | None, first_query: int = 0
) -> Tensor:
    """A function of (a score and) the numbers of batch, head, query and key, for all of them: `[batch, heads, queries, keys]`."""
    first: tuple[int | None, ...] = () if scores is None else (0,)
    for axis in (3, 2, 1, 0):
        at: list[int | None] = [None, None, None, None]
        at[axis] = 0
        function = vmap(function, in_dims=(*first, *at))
    starts = (0, 0, first_query, 0)
    indices = [arange(start, start + n, device=device, dtype=_int32) for start, n in zip(starts, sizes, strict=True)]
    made: Tensor = function(*(() if scores is None else (scores,)), *indices)
    return made


def create_mask(
    mod_fn: Callable[..., Any], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Device | str | None = None
) -> Tensor:
    """What a mask lets through, bool `[B, H, Q_LEN, KV_LEN]`; of a function of scores, those that it makes of zeros. A `B` or `H` of None
    is 1."""
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    device = device or "cpu"
    code = getattr(mod_fn, "__code__", None)
    takes = code.co_argcount - (1 if hasattr(mod_fn, "__self__") else 0) if code is not None else 4
    if takes == 5:
        return _everywhere(mod_fn, sizes, device, zeros(sizes, device=device)).expand(sizes)
    return _everywhere(mod_fn, sizes, device, None).to(_bool).expand(sizes)


class BlockMask:
    """A mask, which a function says, and which of its blocks of `BLOCK_SIZE` queries and keys let something through.

    `shape` is `[B, H, Q_LEN, KV_LEN]`; `kv_num_blocks`, int32 `[B, H, blocks of queries]`, tells how many blocks of keys have something for
    it and `kv_indices` which, those first; `full_kv_num_blocks` and `full_kv_indices` are of those that are let through as a whole, and
    the first two of the others. `to_dense()` is 1 for each block with something in it, `sparsity()` the part of blocks without, in percent.
    """

    def __init__(self, mask: Tensor, block_size: tuple[int, int], mask_mod: _Mask) -> None:
        self._mask = mask
        self.BLOCK_SIZE = block_size
        self.mask_mod = mask_mod
        self.seq_lengths = (mask.shape[2], mask.shape[3])
        b, h, q, kv = mask.shape
        rows, columns = -(-q // block_size[0]), -(-kv // block_size[1])
        padded = pad(mask.to(_int32), (0, columns * block_size[1] - kv, 0, rows * block_size[0] - q))
        count = padded.view(b, h, rows, block_size[0], columns, block_size[1]).sum((3, 5))
        full = count == block_size[0] * block_size[1]
        part = (count > 0) & ~full
        self._blocks = count > 0
        self.kv_num_blocks, self.kv_indices = _ordered(part)
        self.full_kv_num_blocks, self.full_kv_indices = _ordered(full)
        self.q_num_blocks, self.q_indices = _ordered(part.mT)
        self.full_q_num_blocks, self.full_q_indices = _ordered(full.mT)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """`[B, H, Q_LEN, KV_LEN]`."""
        b, h, q, kv = self._mask.shape
        return b, h, q, kv

    def numel(self) -> int:
        """How many scores it is of."""
        return self._mask.numel()

    def to_dense(self) -> Tensor:
        """1 for each block that lets something through: int32 `[B, H, blocks of queries, blocks of keys]`."""
        return self._blocks.to(_int32)

    def sparsity(self) -> float:
        """The part of the blocks that let nothing through, in percent."""
        return 100.0 * (1.0 - float(self._blocks.double().mean().item()))

    def to(self, device: Device | str) -> BlockMask:
        """The same on another device."""
        return BlockMask(self._mask.to(device), self.BLOCK_SIZE, self.mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        """Some of the batch, or of the heads, or of the blocks of queries."""
        given: tuple[Any, ...] = index if isinstance(index, tuple) else (index,)  # pyright: ignore[reportUnknownVariableType]
        parts: list[Any] = [slice(i, i + 1 or None) if isinstance(i, int) else i for i in given]
        mask = self._mask
        for axis, part in enumerate(parts):
            if axis == 2:
                which = arange(self.kv_num_blocks.shape[2])[part]
                rows = (which.unsqueeze(1) * self.BLOCK_SIZE[0] + arange(self.BLOCK_SIZE[0])).flatten()
                mask = mask[:, :, rows[rows < mask.shape[2]].to(mask.device)]
            else:
                mask = mask[(slice(None),) * axis + (part,)]
        return BlockMask(mask, self.BLOCK_SIZE, self.mask_mod)

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def _ordered(blocks: Tensor) -> tuple[Tensor, Tensor]:
    found = blocks.to(_int32)
    return found.sum(-1).to(_int32), found.argsort(-1, descending=True, stable=True).to(_int32)


def create_block_mask(
    mask_mod: _Mask,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Device | str | None = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
    _compile: bool = False,
) -> BlockMask:
    """The mask that a function of the numbers of batch, head, query and key says: True is let through. A `B` or `H` of None is for all."""
    sizes = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    if min(sizes) < 1:
        raise ValueError(f"create_block_mask: takes a BLOCK_SIZE above 0, got {BLOCK_SIZE}")
    return BlockMask(create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device), (sizes[0], sizes[1]), mask_mod)


def _rows(query: Tensor, keys: int) -> int:
    """Of how many queries scores are to be in memory at once: of all, unless they are many."""
    b, h, length, _ = query.shape
    # The same as attention in Rust has them: what stays in a processor's caches, or keeps a GPU busy, and eight of these are many.
    block = (64 if query.is_cuda else 4) << 20
    row = b * h * keys * max(query.dtype.itemsize, 4)
    if length * row <= 8 * block or _is_tracing():
        return length
    return min(length, max(16, block // row))


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: _Score | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """`softmax(score_mod(query keyᵀ · scale))`, of what the mask lets through, `· value`: for a query `[b, h, l, e]`, a key `[b, h, s, e]`
    and a value `[b, h, s, ev]` the answer `[b, h, l, ev]`, and with `return_lse` the logarithms of the sums of `e^score`, `[b, h, l]`; with
    `return_aux` an `AuxOutput` of what it asks for.

    `scale` is `1/√e`; with `enable_gqa` a key and a value may have fewer heads, each for as many of the query's. A query for which
    nothing is let through gets zeros. `kernel_options` are for PyTorch's kernels, and change nothing. ValueError for other shapes.
    """
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.dim() != 4:
            raise ValueError(f"flex_attention: takes a {name} of 4 axes, [batch, heads, length, size], got {t.shape}")
    _, h, length, size = query.shape
    if key.shape[1] != h:
        if not enable_gqa or key.shape[1] == 0 or h % key.shape[1]:
            raise ValueError(f"flex_attention: takes as many heads of keys as of queries (enable_gqa: or a part of it), got {key.shape[1]} and {h}")
    if value.shape[1:3] != key.shape[1:3]:
        raise ValueError(f"flex_attention: takes as many heads and lengths of values as of keys, got {tuple(value.shape)} and {tuple(key.shape)}")
    mask = None
    if block_mask is not None:
        rows, columns = block_mask.shape[2:]
        if (rows, columns) != (length, key.shape[2]):
            raise ValueError(f"flex_attention: the mask is of {rows} queries and {columns} keys, got {length} and {key.shape[2]}")
        mask = block_mask._mask.to(query.device)
    scale = 1 / math.sqrt(max(size, 1)) if scale is None else scale
    if return_lse and return_aux is not None:
        raise ValueError("flex_attention: takes return_lse or return_aux, not both")
    if score_mod is None and not return_lse and return_aux is None:
        return scaled_dot_product_attention(query, key, value, mask, scale=scale, enable_gqa=enable_gqa)
    if key.shape[1] != h:
        key, value = (t.repeat_interleave(h // t.shape[1], 1) for t in (key, value))
    rows = _rows(query, key.shape[2])

    def of(first: int) -> tuple[Tensor, ...]:
        here = (query, mask)
        if rows != length:
            here = (query[:, :, first : first + rows], None if mask is None else mask[:, :, first : first + rows])
        answer, lse, scores = _attended(here[0], key, value, score_mod, here[1], scale, first)
        return (answer, lse, scores.detach().amax(-1)) if return_aux is not None and return_aux.max_scores else (answer, lse)

    if rows >= length:
        told = of(0)
    else:
        # Each block is computed before the next is asked for, so that nothing of two is in memory at once.
        realize(query, key, value)
        parts: list[tuple[Tensor, ...]] = []
        for first in range(0, length, rows):
            parts.append(checkpoint(of, first))
            realize(*parts[-1])
        told = tuple(cat(part, 2) for part in zip(*parts, strict=True))
    if return_aux is not None:
        return told[0], AuxOutput(told[1] if return_aux.lse else None, told[2] if return_aux.max_scores else None)
    return told if return_lse else told[0]


def _attended(
    query: Tensor, key: Tensor, value: Tensor, score_mod: _Score | None, mask: Tensor | None, scale: float, first: int
) -> tuple[Tensor, Tensor, Tensor]:
    """What queries from a position on get, the logarithms of the sums of `e^score`, and their scores."""
    b, h, length, _ = query.shape
    scores = (query @ key.mT).float() * scale if query.dtype.itemsize < 4 else (query @ key.mT) * scale
    if score_mod is not None:
        sizes = (b, h, length, key.shape[2])
        scores = _everywhere(score_mod, sizes, query.device, scores, first).to(scores.dtype)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    lse = scores.logsumexp(-1, keepdim=True)
    empty = lse == -math.inf
    weights = softmax(where(empty, 0.0, scores), -1)
    weights = weights.masked_fill(empty, 0.0).to(value.dtype)
    return weights @ value, lse.squeeze(-1), scores
