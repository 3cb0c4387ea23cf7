"""Attention of several heads, and the layers of transformers."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .._micrograd_rs import Device, Tensor, dtype, empty
from ._sizes import check_sizes
from .init import constant_, xavier_normal_, xavier_uniform_
from .layers import Linear
from .module import Module
from .parameter import Parameter


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear`; PyTorch's name for the one in `MultiheadAttention`.

    >>> mg.nn.MultiheadAttention(8, 2).out_proj
    NonDynamicallyQuantizableLinear(in_features=8, out_features=8, bias=True)
    """


class MultiheadAttention(Module):
    """Attention of several heads (Vaswani et al., 2017): queries, keys and values are projected and cut into heads; each head takes `softmax(q kᵀ /
    √size) v`, where `size` is `embed_dim / num_heads`, and what all heads found is projected once more.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs import nn
    >>> x = mg.randn(4, 10, 16)
    >>> output, weights = nn.MultiheadAttention(16, 2, batch_first=True)(x, x, x)
    >>> output.shape, weights.shape
    ((4, 10, 16), (4, 10, 10))

    Shapes: a query `[l, batch, embed_dim]`, a key `[s, batch, kdim]` and a value `[s, batch, vdim]` give an output `[l, batch, embed_dim]` and
    weights `[batch, l, s]`. With `batch_first` the batch comes first everywhere; without a batch, for one sequence, nothing has its axis.

    Arguments:
        embed_dim: how many features a query and an output have
        num_heads: how many heads share `embed_dim`, which is a multiple of it
        dropout: the probability with which, in training, each weight becomes 0
        bias: whether there are biases of the projections
        add_bias_kv: whether there is one more key and value for all sequences, which are trained
        add_zero_attn: whether there is one more key and value for all sequences, of zeros: what a query finds where it finds nothing
        kdim: how many features a key has; None: `embed_dim`
        vdim: how many features a value has; None: `embed_dim`
        batch_first: whether tensors are `[batch, steps, …]` rather than `[steps, batch, …]`

    Errors: ValueError for an `embed_dim` that is no multiple of `num_heads` and for sizes that are not positive; TypeError for sizes that are no
    integers.
    """

    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    q_proj_weight: Tensor | None
    k_proj_weight: Tensor | None
    v_proj_weight: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        check_sizes(self, embed_dim=embed_dim, num_heads=num_heads)
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(f"{type(self).__name__}: takes an embed_dim that divides into num_heads, got {embed_dim} and {num_heads}")
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads

        def made(*shape: int) -> Any:
            return Parameter(empty(shape, device=device, dtype=dtype))

        one = self._qkv_same_embed_dim
        self.register_parameter("in_proj_weight", made(3 * embed_dim, embed_dim) if one else None)
        self.register_parameter("q_proj_weight", None if one else made(embed_dim, embed_dim))
        self.register_parameter("k_proj_weight", None if one else made(embed_dim, self.kdim))
        self.register_parameter("v_proj_weight", None if one else made(embed_dim, self.vdim))
        self.register_parameter("in_proj_bias", made(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self.register_parameter("bias_k", made(1, 1, embed_dim) if add_bias_kv else None)
        self.register_parameter("bias_v", made(1, 1, embed_dim) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                constant_(bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """What the queries find: a pair of the output, `[l, batch, embed_dim]`, and the weights, `[batch, l, s]`, or None without `need_weights`. With
        `batch_first` the batch is the first axis of what goes in and of the output; for one sequence without a batch nothing has its axis.

        A mask of truth values leaves out what is True; one of floats is added to the scores, so that −∞ leaves out.
        `functional.scaled_dot_product_attention` has it the other way round: there True takes part, as in PyTorch.

        Arguments:
            query: what asks, floats `[l, batch, embed_dim]`
            key: what is compared with it, floats `[s, batch, kdim]`
            value: what is found, floats `[s, batch, vdim]`
            key_padding_mask: which keys no query sees, bool or floats `[batch, s]`, or `[s]` without a batch; None: each is seen
            need_weights: whether the weights are answered; without them attention is one kernel, which does not have them in memory
            attn_mask: which keys each query does not see, bool or floats `[l, s]` for all heads and sequences, or `[batch · num_heads, l, s]`; None:
                each is seen
            average_attn_weights: whether weights are the mean over heads; else they are `[batch, num_heads, l, s]`
            is_causal: a promise that `attn_mask`, which is given too, leaves out what comes later; it masks nothing itself

        Errors: ArgumentError for other shapes, for masks that do not fit, and for `is_causal` without an `attn_mask`; DTypeError for a mask of
        integers.

        >>> x, padded = mg.randn(2, 3, 8), mg.tensor([[False, False, True], [False, False, False]])
        >>> output, weights = mg.nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x, key_padding_mask=padded)
        >>> output.shape, weights[0, :, 2].tolist()
        ((2, 3, 8), [0.0, 0.0, 0.0])
        """
        turned = self.batch_first and query.dim() == 3
        if turned:
            # What is one tensor stays one.
            same_key, same_value = key is query, value is key
            query = query.transpose(0, 1)
            key = query if same_key else key.transpose(0, 1)
            value = key if same_value else value.transpose(0, 1)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            not self._qkv_same_embed_dim,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return output.transpose(0, 1) if turned else output, weights if need_weights else None
