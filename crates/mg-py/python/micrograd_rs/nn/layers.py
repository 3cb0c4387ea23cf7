"""Layers with parameters, and distances."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .._micrograd_rs import (
    Device,
    Tensor,
    _layer_norm_parameters,
    _linear_parameters,
    dtype,
    empty,
)
from ..autograd import no_grad
from ._sizes import check_sizes
from .init import uniform_
from .module import Module, Parameter, is_another


def _bound(count: int) -> float:
    return count**-0.5 if count > 0 else 0.0


def _draw(bound: float, *tensors: Tensor | None) -> None:
    """Draws uniformly from ±bound."""
    for t in tensors:
        if t is not None:
            uniform_(t, -bound, bound)


class Linear(Module):
    """`x Wᵀ + b` on the last axis: of `[…, in_features]` a tensor `[…, out_features]`, of the dtype that input and parameters promote to. Weight and bias are drawn
    uniformly from ±1/√`in_features`; without `bias` there is none.

    >>> import micrograd_rs as mg
    >>> layer = mg.nn.Linear(3, 2)
    >>> layer(mg.ones(4, 3)).shape, layer.weight.shape, layer.bias.shape
    ((4, 2), (2, 3), (2,))

    ValueError where the last axis is not of `in_features`.

    Arguments:
        in_features: how many features an input has
        out_features: how many an output has
        bias: whether something is added
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        check_sizes(self, in_features=in_features, out_features=out_features)
        self.in_features = in_features
        self.out_features = out_features
        if is_another(self, Linear, "reset_parameters"):
            self.weight: Tensor = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
            self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
            self.reset_parameters()
            return
        weight, offset = _linear_parameters(in_features, out_features, bool(bias), dtype)
        self.weight = weight
        self.register_parameter("bias", offset)
        if device is not None:
            self.to(device)

    bias: Tensor | None

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        _draw(_bound(self.in_features), self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """`[…, out_features]` of an input `[…, in_features]`."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """`Σ x1 W x2 + b` on the last axes of two inputs. Weight and bias are drawn uniformly from ±1/√`in1_features`.

    Arguments:
        in1_features: the size of the first input's last axis
        in2_features: that of the second's
        out_features: that of the output's
        bias: whether something is added

    >>> mg.nn.Bilinear(3, 4, 2)(mg.ones(5, 3), mg.ones(5, 4)).shape
    (5, 2)
    """

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
        check_sizes(self, in1_features=in1_features, in2_features=in2_features, out_features=out_features)
        if in1_features < 1:
            raise ValueError(f"takes at least one feature, got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features

        def made(*shape: int) -> Any:
            return Parameter(empty(shape, device=device, dtype=dtype))

        self.weight: Tensor = made(out_features, in1_features, in2_features)
        self.register_parameter("bias", made(out_features) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        _draw(_bound(self.in1_features), self.weight, self.bias)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """`[…, out_features]`.

        Arguments:
            input1: `[…, in1_features]`
            input2: `[…, in2_features]`, with the same axes before the last
        """
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along an axis.

    Arguments:
        dim: the axis
        eps: what lengths are at least taken for

    >>> mg.nn.CosineSimilarity()(mg.tensor([[1.0, 0.0]]), mg.tensor([[3.0, 3.0]]))
    tensor([0.7071])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The cosines, without the axis `dim`.

        Arguments:
            x1: vectors along `dim`
            x2: others; the shapes broadcast
        """
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The `p`-norm of `x1 − x2 + eps` along the last axis.

    >>> mg.nn.PairwiseDistance()(mg.tensor([[0.0, 0.0]]), mg.tensor([[3.0, 4.0]]))
    tensor([5.0000])

    Arguments:
        p: of which norm distances are
        eps: what is added to differences
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The distances, `[n]`, or one, or with `keepdim` with a last axis of 1.

        Arguments:
            x1: vectors, `[n, size]`, or `[size]`
            x2: others; the shapes broadcast
        """
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class Identity(Module):
    """The input itself.

    >>> mg.nn.Identity(54, unused=True)(mg.tensor([1.0]))
    tensor([1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class LayerNorm(Module):
    """Normalises over the last axes, of `normalized_shape`, to mean 0 and variance 1 (and `eps`), then scales and shifts with `elementwise_affine`
    (without `bias` scales alone). Takes any axes before them, and answers with the shape that it was given.

    >>> import micrograd_rs as mg
    >>> layer = mg.nn.LayerNorm(4)
    >>> layer(mg.tensor([[1.0, 2.0, 3.0, 4.0]])).mean().round().item(), list(layer.state_dict())
    (0.0, ['weight', 'bias'])

    ValueError where the last axes are others.

    Arguments:
        normalized_shape: the sizes of the last axes
        eps: what is added to the variance
        elementwise_affine: whether it is scaled, and shifted
        bias: whether it is shifted, with `elementwise_affine`
    """

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
        check_sizes(self, normalized_shape=shape)
        self.normalized_shape = shape
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight, offset = _layer_norm_parameters(list(shape), eps, elementwise_affine, dtype)
        self.register_parameter("weight", weight)
        self.register_parameter("bias", offset if bias else None)
        if device is not None:
            self.to(device)
        if is_another(self, LayerNorm, "reset_parameters"):
            self.reset_parameters()

    weight: Tensor | None
    bias: Tensor | None

    def reset_parameters(self) -> None:
        """Ones and zeros, as at first."""
        with no_grad():
            for t, value in ((self.weight, 1), (self.bias, 0)):
                if t is not None:
                    t.fill_(value)

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, whose last axes are `normalized_shape`."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"
