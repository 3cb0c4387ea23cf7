"""Layers with parameters, and functions to stand between them."""

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
    zeros,
)
from .module import Module


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


class Embedding(Module):
    """A table of vectors, looked up by integers of any shape; drawn from the normal distribution."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight: Tensor = _embedding_parameters(num_embeddings, embedding_dim, dtype)
        if device is not None:
            self.to(device)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"


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


class Dropout(Module):
    """In training, zeros with probability `p` and the rest scaled by 1/(1 − p); otherwise the input itself."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        # An unfit probability is an error here, not at the first use.
        F.dropout(zeros(0), p)
        self.p = p

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Identity(Module):
    """The input itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, input: Any) -> Any:
        return input


class ReLU(Module):
    """`max(x, 0)`."""

    def __init__(self, inplace: bool = False) -> None:
        pass

    def forward(self, input: Tensor) -> Tensor:
        return input.relu()


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()


class Sigmoid(Module):
    """`1 / (1 + e⁻ˣ)`."""

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()


class SiLU(Module):
    """`x σ(x)`."""

    def __init__(self, inplace: bool = False) -> None:
        pass

    def forward(self, input: Tensor) -> Tensor:
        return input.silu()


class Softplus(Module):
    """`log(1 + eˣ)`."""

    def forward(self, input: Tensor) -> Tensor:
        return input.softplus()


class GELU(Module):
    """The Gaussian error linear unit, by the error function or (`approximate="tanh"`) by the hyperbolic tangent."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return input.gelu(self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class LeakyReLU(Module):
    """`x`, or `negative_slope · x` where negative."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return input.leaky_relu(self.negative_slope)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}"


class Softmax(Module):
    """`eˣ / Σ eˣ` along an axis."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return input.softmax(self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """`log softmax` along an axis."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return input.log_softmax(self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Flatten(Module):
    """Some axes as one: all but the first, which counts the samples."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
