"""Layers with parameters, and distances."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .._micrograd_rs import (
    Device,
    Tensor,
    _embedding_parameters,
    _layer_norm_parameters,
    _linear_parameters,
    dtype,
    empty,
)
from ..autograd import no_grad
from .init import uniform_
from .module import Module, Parameter


class Linear(Module):
    """`x Wᵀ + b` on the last axis. Weight and bias are drawn uniformly from ±1/√`in_features`."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        self.in_features = in_features
        self.out_features = out_features
        weight, offset = _linear_parameters(in_features, out_features, bias, dtype)
        self.weight: Tensor = weight
        self.register_parameter("bias", offset)
        if device is not None:
            self.to(device)

    bias: Tensor | None

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _row(padding_idx: int | None, num_embeddings: int) -> int | None:
    """The row that stands for nothing, counted from the start."""
    if padding_idx is None:
        return None
    if not -num_embeddings <= padding_idx < num_embeddings:
        raise ValueError(f"padding_idx {padding_idx} is not among {num_embeddings} rows")
    return padding_idx % num_embeddings


def _table(num_embeddings: int, embedding_dim: int, padding_idx: int | None, on: tuple[Any, Any]) -> Tensor:
    device, kind = on
    weight: Tensor = _embedding_parameters(num_embeddings, embedding_dim, kind)
    if padding_idx is not None:
        with no_grad():
            weight[padding_idx] = 0
    if device is not None:
        weight.data = weight.detach().to(device)
    return weight


class Embedding(Module):
    """A table of vectors, looked up by integers of any shape; drawn from the normal distribution.

    The row `padding_idx` is 0 at first and gets no gradient.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.weight: Tensor = _table(num_embeddings, embedding_dim, self.padding_idx, (device, dtype))

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class EmbeddingBag(Module):
    """Sums, means or largest elements of rows of a table, drawn from the normal distribution; see `embedding_bag`.

    The row `padding_idx` is 0 at first, does not count and gets no gradient.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        mode: str = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        if mode not in ("sum", "mean", "max"):
            raise ValueError(f'a mode is "sum", "mean" or "max", got {mode!r}')
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.mode = mode
        self.include_last_offset = include_last_offset
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.weight: Tensor = _table(num_embeddings, embedding_dim, self.padding_idx, (device, dtype))

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            mode=self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}{padding}"


class Bilinear(Module):
    """`Σ x1 W x2 + b` on the last axes of two inputs. Weight and bias are drawn uniformly from ±1/√`in1_features`."""

    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        if in1_features < 1:
            raise ValueError(f"takes at least one feature, got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        bound = in1_features**-0.5

        def drawn(*shape: int) -> Any:
            return Parameter(uniform_(empty(shape, device=device, dtype=dtype), -bound, bound))

        self.weight: Tensor = drawn(out_features, in1_features, in2_features)
        self.register_parameter("bias", drawn(out_features) if bias else None)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along an axis."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, eps={self.eps}"


class PairwiseDistance(Module):
    """The `p`-norm of `x1 − x2 + eps` along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)

    def extra_repr(self) -> str:
        return f"p={self.norm}, eps={self.eps}, keepdim={self.keepdim}"


class Identity(Module):
    """The input itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, input: Any) -> Any:
        return input


class LayerNorm(Module):
    """Normalises over the last axes to mean 0 and variance 1, then scales and shifts."""

    def __init__(
        self,
        normalized_shape: int | list[int] | tuple[int, ...],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape = shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight, offset = _layer_norm_parameters(list(shape), eps, elementwise_affine, dtype)
        self.register_parameter("weight", weight)
        self.register_parameter("bias", offset if bias else None)
        if device is not None:
            self.to(device)

    weight: Tensor | None
    bias: Tensor | None

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
