"""Transformers (Vaswani et al., 2017), and their layers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import ClassVar

from .. import functional as F
from .._micrograd_rs import ArgumentError, Device, Tensor, dtype, full
from .._names import kind_of
from .activations import Dropout
from .multihead import MultiheadAttention
from .containers import ModuleList
from .init import xavier_uniform_
from .layers import LayerNorm, Linear
from .module import Module

Activation = str | Callable[[Tensor], Tensor]


#: Who asks for more is mistaken, and would wait for long.
_MOST_LAYERS = 1 << 16


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    if isinstance(activation, str):
        raise ValueError(f'an activation is "relu", "gelu" or a function, got {activation!r}')
    return activation


def _copies(module: Module, n: int) -> ModuleList:
    if not isinstance(module, Module):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"takes a module as layer, got {kind_of(module)}")
    if n > _MOST_LAYERS:
        raise ValueError(f"takes {_MOST_LAYERS} layers at most, got {n}")
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


def _float_mask(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """A mask as numbers that are added to scores."""
    if mask is None or mask.is_floating_point():
        return mask
    return full(tuple(mask.shape), 0.0, dtype=like.dtype, device=mask.device).masked_fill(mask, float("-inf"))


class _Layer(Module):
    """What the layers of encoders and decoders share.

    Arguments:
        d_model: how many features each vector has, in and out
        nhead: how many heads attention has; `d_model` is a multiple of it
        dim_feedforward: how many features are between the two linear layers
        dropout: the probability with which, in training, elements become 0: weights of attention, and what attention and linear layers add
        activation: what is between the two linear layers: "relu", "gelu" or a function of a tensor
        layer_norm_eps: what normalisations add to the variance
        batch_first: whether tensors are `[batch, steps, …]` rather than `[steps, batch, …]`
        norm_first: whether it is normalised before attention and linear layers, rather than after what they add is added
        bias: whether linear layers, attention and normalisations have biases

    Errors: ValueError for a `d_model` that is no multiple of `nhead`, and for another `activation`; TypeError for sizes that are no integers.
    """

    _attentions: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first = norm_first
        count = len(self._attentions) + 1
        for i in range(1, count + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype))
        for i in range(1, count + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False) -> Tensor:
        """What self-attention adds."""
        attention: MultiheadAttention = self.self_attn
        found, _ = attention(
            x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal
        )
        result: Tensor = self.dropout1(found)
        return result


class TransformerEncoderLayer(_Layer):
    """Self-attention and a network of two linear layers, each added to what it is given and normalised: `x = norm1(x + attention(x))`, then `norm2(x +
    linear2(activation(linear1(x))))`; with `norm_first` `x = x + attention(norm1(x))`, then `x + linear2(activation(linear1(norm2(x))))`.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs import nn
    >>> layer = nn.TransformerEncoderLayer(d_model=16, nhead=2, dim_feedforward=32, batch_first=True)
    >>> layer(mg.randn(4, 10, 16)).shape
    (4, 10, 16)

    Shapes: `[steps, batch, d_model]`, `[batch, steps, d_model]` with `batch_first`, or `[steps, d_model]`, gives the same.
    """

    _attentions = ("self_attn",)

    self_attn: MultiheadAttention

    def _ff_block(self, x: Tensor) -> Tensor:
        """What the linear layers add."""
        result: Tensor = self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return result

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """As many vectors as there are, in their shape.

        A mask of truth values leaves out what is True; one of floats is added to the scores, so that −∞ leaves out. Where a mask is not given,
        nothing is hidden.

        Arguments:
            src: the vectors, floats `[steps, batch, d_model]`, `[batch, steps, d_model]` with `batch_first`, or `[steps, d_model]`
            src_mask: which vectors each vector does not see, bool or floats `[steps, steps]`, or `[batch · nhead, steps, steps]`
            src_key_padding_mask: which vectors no vector sees, those behind a sequence's end, bool or floats `[batch, steps]`, or `[steps]` without a
                batch
            is_causal: a promise that `src_mask`, which is given too, leaves out what comes later; it masks nothing itself

        Errors: ArgumentError for another last axis than `d_model`, for masks that do not fit, and for `is_causal` without a `src_mask`.

        >>> layer = mg.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True).eval()
        >>> x, mask = mg.randn(2, 5, 8), mg.nn.Transformer.generate_square_subsequent_mask(5)
        >>> mg.allclose(layer(x, mask)[:, :3], layer(x[:, :3], mask[:3, :3]), atol=1e-5)
        True
        """
        mask, padding = _float_mask(src_mask, src), _float_mask(src_key_padding_mask, src)
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, mask, padding, is_causal))
        result: Tensor = self.norm2(x + self._ff_block(x))
        return result


class TransformerDecoderLayer(_Layer):
    """As `TransformerEncoderLayer`, with attention to what an encoder made, `memory`, between the two.

    >>> layer = mg.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(mg.ones(6, 4, 8), memory=mg.ones(10, 4, 8)).shape
    (6, 4, 8)

    Shapes: vectors `[steps, batch, d_model]` and a memory `[given, batch, d_model]` give `[steps, batch, d_model]`; with `batch_first` the batch
    comes first everywhere, and all may be without it.
    """

    _attentions = ("self_attn", "multihead_attn")

    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        """What attention to the memory adds."""
        found, _ = self.multihead_attn(
            x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal
        )
        result: Tensor = self.dropout2(found)
        return result

    def _ff_block(self, x: Tensor) -> Tensor:
        """What the linear layers add."""
        result: Tensor = self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return result

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """As many vectors as `tgt` has, in its shape.

        A mask of truth values leaves out what is True; one of floats is added to the scores, so that −∞ leaves out. Where a mask is not given,
        nothing is hidden, not even what comes later: for that, pass a causal `tgt_mask`.

        Arguments:
            tgt: the vectors, floats `[steps, batch, d_model]`, `[batch, steps, d_model]` with `batch_first`, or `[steps, d_model]`
            memory: what an encoder made, floats `[given, batch, d_model]`, `[batch, given, d_model]` with `batch_first`, or `[given, d_model]`
            tgt_mask: which vectors of `tgt` each of them does not see, bool or floats `[steps, steps]`, or `[batch · nhead, steps, steps]`
            memory_mask: which vectors of `memory` each of `tgt` does not see, bool or floats `[steps, given]`, or `[batch · nhead, steps, given]`
            tgt_key_padding_mask: which vectors of `tgt` none of them sees, bool or floats `[batch, steps]`, or `[steps]` without a batch
            memory_key_padding_mask: which vectors of `memory` none of `tgt` sees, bool or floats `[batch, given]`, or `[given]` without a batch
            tgt_is_causal: a promise that `tgt_mask`, which is given too, leaves out what comes later; it masks nothing itself
            memory_is_causal: a promise that `memory_mask`, which is given too, leaves out what comes later; it masks nothing itself

        Errors: ArgumentError for another last axis than `d_model`, for batches of unlike sizes, for masks that do not fit, and for a promise without
        its mask.

        >>> layer = mg.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> mask = mg.nn.Transformer.generate_square_subsequent_mask(6)
        >>> layer(mg.randn(6, 4, 8), mg.randn(10, 4, 8), tgt_mask=mask).shape
        (6, 4, 8)
        """
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        other = memory_mask, memory_key_padding_mask, memory_is_causal
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        result: Tensor = self.norm3(x + self._ff_block(x))
        return result


def _promised(name: str, promise: bool | None, mask: Tensor | None) -> bool:
    """Whether a mask is promised to be causal, which nothing is that is not there."""
    if promise and mask is None:
        raise ArgumentError(f"is_causal says that {name} is causal: it takes a {name}, as Transformer.generate_square_subsequent_mask makes one")
    return bool(promise)


class TransformerEncoder(Module):
    """Several encoder layers one after another, each a copy of one, and a normalisation at the end if one is given.

    >>> layer = mg.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> encoder = mg.nn.TransformerEncoder(layer, num_layers=2)
    >>> encoder(mg.ones(10, 4, 8)).shape
    (10, 4, 8)

    Shapes: those of the layer: `[steps, batch, d_model]` gives the same.

    Arguments:
        encoder_layer: the layer that is copied, with its numbers: all layers begin alike
        num_layers: how many copies there are
        norm: what normalises the last layer's vectors, such as `LayerNorm(d_model)`; None: nothing does
        enable_nested_tensor: of no effect
        mask_check: of no effect

    Errors: TypeError for a layer that is no module, ValueError for more than 65,536 layers.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """As many vectors as there are, in their shape.

        A mask of truth values leaves out what is True; one of floats is added to the scores, so that −∞ leaves out. Where a mask is not given,
        nothing is hidden.

        Arguments:
            src: the vectors, floats `[steps, batch, d_model]`, `[batch, steps, d_model]` where the layers have `batch_first`, or `[steps, d_model]`
            mask: which vectors each vector does not see, bool or floats `[steps, steps]`, or `[batch · nhead, steps, steps]`
            src_key_padding_mask: which vectors no vector sees, those behind a sequence's end, bool or floats `[batch, steps]`, or `[steps]` without a
                batch
            is_causal: a promise that `mask`, which is given too, leaves out what comes later; it masks nothing itself

        Errors: ArgumentError for another last axis than `d_model`, for masks that do not fit, and for `is_causal` without a `mask`.

        >>> layer = mg.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> padded = mg.tensor([[False, False, True], [False, False, False]])
        >>> mg.nn.TransformerEncoder(layer, num_layers=2)(mg.randn(2, 3, 8), src_key_padding_mask=padded).shape
        (2, 3, 8)
        """
        mask, padding = _float_mask(mask, src), _float_mask(src_key_padding_mask, src)
        causal = _promised("mask", is_causal, mask)
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Several decoder layers one after another, each a copy of one, and a normalisation at the end if one is given.

    >>> layer = mg.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> decoder = mg.nn.TransformerDecoder(layer, num_layers=2)
    >>> decoder(mg.ones(6, 4, 8), memory=mg.ones(10, 4, 8)).shape
    (6, 4, 8)

    Shapes: those of the layer: vectors `[steps, batch, d_model]` and a memory `[given, batch, d_model]` give `[steps, batch, d_model]`.

    Arguments:
        decoder_layer: the layer that is copied, with its numbers: all layers begin alike
        num_layers: how many copies there are
        norm: what normalises the last layer's vectors, such as `LayerNorm(d_model)`; None: nothing does

    Errors: TypeError for a layer that is no module, ValueError for more than 65,536 layers.
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """As many vectors as `tgt` has, in its shape.

        A mask of truth values leaves out what is True; one of floats is added to the scores, so that −∞ leaves out. Where a mask is not given,
        nothing is hidden, not even what comes later: for that, pass a causal `tgt_mask`.

        Arguments:
            tgt: the vectors, floats `[steps, batch, d_model]`, `[batch, steps, d_model]` where the layers have `batch_first`, or `[steps, d_model]`
            memory: what an encoder made, floats `[given, batch, d_model]`, the batch first where the layers have it so, or `[given, d_model]`
            tgt_mask: which vectors of `tgt` each of them does not see, bool or floats `[steps, steps]`, or `[batch · nhead, steps, steps]`
            memory_mask: which vectors of `memory` each of `tgt` does not see, bool or floats `[steps, given]`, or `[batch · nhead, steps, given]`
            tgt_key_padding_mask: which vectors of `tgt` none of them sees, bool or floats `[batch, steps]`, or `[steps]` without a batch
            memory_key_padding_mask: which vectors of `memory` none of `tgt` sees, bool or floats `[batch, given]`, or `[given]` without a batch
            tgt_is_causal: a promise that `tgt_mask`, which is given too, leaves out what comes later; it masks nothing itself
            memory_is_causal: a promise that `memory_mask`, which is given too, leaves out what comes later; it masks nothing itself

        Errors: ArgumentError for another last axis than `d_model`, for batches of unlike sizes, for masks that do not fit, and for a promise without
        its mask.

        >>> layer = mg.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> mask = mg.nn.Transformer.generate_square_subsequent_mask(6)
        >>> mg.nn.TransformerDecoder(layer, num_layers=2)(mg.randn(6, 4, 8), mg.randn(10, 4, 8), tgt_mask=mask).shape
        (6, 4, 8)
        """
        causal = _promised("tgt_mask", tgt_is_causal, tgt_mask)
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of what is given and a decoder of what is to follow (Vaswani et al., 2017). It has no embedding and no positions, and does not mask
    what comes later by itself: `forward` says how.

    >>> model = mg.nn.Transformer(d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
    >>> model(mg.ones(10, 4, 8), mg.ones(6, 4, 8)).shape
    (6, 4, 8)

    Shapes: `src` `[given, batch, d_model]` and `tgt` `[steps, batch, d_model]` give `[steps, batch, d_model]`; with `batch_first` the batch comes
    first everywhere, and all may be without it.

    Arguments:
        d_model: how many features each vector has, in and out
        nhead: how many heads attention has; `d_model` is a multiple of it
        num_encoder_layers: how many layers the encoder has
        num_decoder_layers: how many layers the decoder has
        dim_feedforward: how many features are between the two linear layers of each layer
        dropout: the probability with which, in training, elements become 0: weights of attention, and what attention and linear layers add
        activation: what is between the two linear layers: "relu", "gelu" or a function of a tensor
        custom_encoder: a module in the encoder's place, called with `src` and with `mask`, `src_key_padding_mask` and `is_causal` by name; None: a
            `TransformerEncoder`
        custom_decoder: a module in the decoder's place, called with `tgt`, the encoder's answer and what is told of masks, by name; None: a
            `TransformerDecoder`
        layer_norm_eps: what normalisations add to the variance
        batch_first: whether tensors are `[batch, steps, …]` rather than `[steps, batch, …]`
        norm_first: whether it is normalised before attention and linear layers, rather than after what they add is added
        bias: whether linear layers, attention and normalisations have biases

    Errors: ValueError for a `d_model` that is no multiple of `nhead`, for another `activation`, and for more than 65,536 layers.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        rest = activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(d_model, nhead, dim_feedforward, dropout, *rest)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm())
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(d_model, nhead, dim_feedforward, dropout, *rest)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm())
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """As many vectors as `tgt` has, in its shape.

        A mask of truth values leaves out what is True; one of floats is added to the scores, so that −∞ leaves out. Where a mask is not given,
        nothing is hidden, not even what comes later: for that, pass a causal `tgt_mask`.

        Arguments:
            src: what is given, floats `[given, batch, d_model]`, `[batch, given, d_model]` with `batch_first`, or `[given, d_model]`
            tgt: what follows, as far as it is known, floats `[steps, batch, d_model]`, `[batch, steps, d_model]` with `batch_first`, or `[steps,
                d_model]`
            src_mask: which vectors of `src` each of them does not see, bool or floats `[given, given]`, or `[batch · nhead, given, given]`
            tgt_mask: which vectors of `tgt` each of them does not see, bool or floats `[steps, steps]`, or `[batch · nhead, steps, steps]`
            memory_mask: which vectors of what the encoder made each of `tgt` does not see, bool or floats `[steps, given]`, or `[batch · nhead,
                steps, given]`
            src_key_padding_mask: which vectors of `src` none of them sees, bool or floats `[batch, given]`, or `[given]` without a batch
            tgt_key_padding_mask: which vectors of `tgt` none of them sees, bool or floats `[batch, steps]`, or `[steps]` without a batch
            memory_key_padding_mask: which vectors of what the encoder made none of `tgt` sees, bool or floats `[batch, given]`, or `[given]` without
                a batch: mostly `src_key_padding_mask` once more
            src_is_causal: a promise that `src_mask`, which is given too, leaves out what comes later; it masks nothing itself
            tgt_is_causal: a promise that `tgt_mask`, which is given too, leaves out what comes later; it masks nothing itself
            memory_is_causal: a promise that `memory_mask`, which is given too, leaves out what comes later; it masks nothing itself

        Errors: ValueError for another last axis than `d_model`, and for batches of unlike sizes; ArgumentError for masks that do not fit, and for a
        promise without its mask.

        >>> model = mg.nn.Transformer(d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
        >>> model(mg.randn(10, 4, 8), mg.randn(6, 4, 8), tgt_mask=model.generate_square_subsequent_mask(6)).shape
        (6, 4, 8)
        """
        for name, t in (("src", src), ("tgt", tgt)):
            if t.shape[-1] != self.d_model:
                raise ValueError(f"{name} is […, {self.d_model}], got {list(t.shape)}")
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[batch] != tgt.shape[batch]:
            raise ValueError(f"src and tgt have one batch, got {list(src.shape)} and {list(tgt.shape)}")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        result: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return result

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device | str | None = None, dtype: dtype | str | None = None
    ) -> Tensor:
        """The causal mask, floats `[sz, sz]`: 0 up to the diagonal, −∞ above it, so that each vector sees itself and what was before it.

        Arguments:
            sz: how many vectors there are
            device: the device that the mask is on; None: the default device
            dtype: the dtype of the mask, a floating-point one; None: the default dtype

        Errors: ValueError for a negative `sz`.

        >>> mg.nn.Transformer.generate_square_subsequent_mask(3)
        tensor([[0., -inf, -inf],
                [0., 0., -inf],
                [0., 0., 0.]])
        """
        return full((sz, sz), float("-inf"), device=device, dtype=dtype).triu(1)
