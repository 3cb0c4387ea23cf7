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
    """`x Wᵀ + b` on the last axis. Weight and bias are drawn uniformly from ±1/√`in_features`.

    >>> import micrograd_rs as mg
    >>> layer = mg.nn.Linear(3, 2)
    >>> layer(mg.ones(4, 3)).shape, layer.weight.shape, layer.bias.shape
    ((4, 2), (2, 3), (2,))

    Shapes: `[…, in_features]` gives `[…, out_features]`; `weight` is `[out_features, in_features]`, `bias` `[out_features]`, or None.

    Arguments:
        in_features: how many features an input has, in its last axis
        out_features: how many features an output has
        bias: whether there is a `bias`; without it nothing is added

    Errors: ArgumentError for negative sizes, TypeError for sizes that are no integers, DTypeError for a `dtype` that is not of floats.
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
        """Draws weight and bias anew, uniformly from ±1/√`in_features`."""
        _draw(_bound(self.in_features), self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """`x Wᵀ + b`, `[…, out_features]`, of the dtype that input and parameters promote to.

        Arguments:
            input: `[…, in_features]`, of any axes before the last; integers count as floats

        Errors: ArgumentError where the last axis is not of `in_features`.
        """
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """`x1ᵀ Wₖ x2 + bₖ` on the last axes of two inputs, for each output feature k. Weight and bias are drawn uniformly from ±1/√`in1_features`.

    >>> mg.nn.Bilinear(3, 4, 2)(mg.ones(5, 3), mg.ones(5, 4)).shape
    (5, 2)

    Shapes: `[…, in1_features]` and `[…, in2_features]` give `[…, out_features]`; `weight` is `[out_features, in1_features, in2_features]`.

    Arguments:
        in1_features: the size of the first input's last axis, at least 1
        in2_features: the size of the second input's last axis
        out_features: the size of the output's last axis
        bias: whether there is a `bias`; without it nothing is added

    Errors: ValueError for no features of the first input and for negative sizes, TypeError for sizes that are no integers.
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
        """Draws weight and bias anew, uniformly from ±1/√`in1_features`."""
        _draw(_bound(self.in1_features), self.weight, self.bias)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """`x1ᵀ W x2 + b`, `[…, out_features]`, of the dtype that inputs and parameters promote to.

        Arguments:
            input1: `[…, in1_features]`
            input2: `[…, in2_features]`, with the same axes before the last

        Errors: ArgumentError for other sizes.

        >>> layer = mg.nn.Bilinear(2, 2, 1, bias=False)
        >>> _ = layer.weight.data.copy_(mg.eye(2).reshape(1, 2, 2))
        >>> layer(mg.tensor([[1.0, 2.0]]), mg.tensor([[3.0, 4.0]])).item()
        11.0
        """
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along an axis: `x1 · x2 / (max(‖x1‖, eps) · max(‖x2‖, eps))`.

    >>> mg.nn.CosineSimilarity()(mg.tensor([[1.0, 0.0]]), mg.tensor([[3.0, 3.0]]))
    tensor([0.7071])

    Arguments:
        dim: the axis along which the vectors lie, counted from the end where it is negative
        eps: the least length that a vector is taken to have, so that nothing is divided by 0

    Shapes: two tensors whose shapes broadcast, such as `[n, size]`, give one without the axis `dim`, such as `[n]`.

    Errors: in a call, ArgumentError for shapes that do not broadcast, and IndexError where there is no axis `dim`.
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The cosines, in the shape that the inputs broadcast to, without the axis `dim`.

        Arguments:
            x1: vectors along `dim`, in any shape; integers count as floats
            x2: the vectors that they are compared with, in a shape that broadcasts with that of `x1`

        Errors: ArgumentError for shapes that do not broadcast, IndexError where there is no axis `dim`.

        >>> mg.nn.CosineSimilarity(dim=-1)(mg.ones(4, 1, 3), mg.ones(5, 3)).shape
        (4, 5)
        """
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The `p`-norm of `x1 − x2 + eps` along the last axis: `(Σ |x1 − x2 + eps|ᵖ)^(1/p)`.

    >>> mg.nn.PairwiseDistance()(mg.tensor([[0.0, 0.0]]), mg.tensor([[3.0, 4.0]]))
    tensor([5.0000])

    Arguments:
        p: the order of the norm
        eps: what is added to differences, so that there is a gradient where they are 0
        keepdim: whether the last axis stays, with the size 1

    Shapes: `[…, size]` and `[…, size]`, which broadcast, give `[…]`, or `[…, 1]` with `keepdim`.

    Errors: in a call, ArgumentError for shapes that do not broadcast.
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The distances, in the shape that the inputs broadcast to, without the last axis or, with `keepdim`, with a last axis of 1.

        Arguments:
            x1: vectors, `[…, size]`, such as `[n, size]` or `[size]`; integers count as floats
            x2: the vectors that they are compared with, in a shape that broadcasts with that of `x1`

        Errors: ArgumentError for shapes that do not broadcast.

        >>> mg.nn.PairwiseDistance(p=1, eps=0, keepdim=True)(mg.tensor([[0.0, 0.0], [1.0, 1.0]]), mg.tensor([3.0, 4.0]))
        tensor([[7.],
                [5.]])
        """
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class Identity(Module):
    """The input itself: a place for a layer that is not wanted.

    >>> mg.nn.Identity(54, unused=True)(mg.tensor([1.0]))
    tensor([1.])

    Arguments:
        args: anything, which is not looked at
        kwargs: likewise
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, input: Any) -> Any:
        """The input.

        Arguments:
            input: anything
        """
        return input


class LayerNorm(Module):
    """`(x − mean) / √(variance + eps) · weight + bias`, with mean and variance taken over the last axes of each sample (Ba et al., 2016). The variance is
    divided by the count, not by one less.

    >>> import micrograd_rs as mg
    >>> layer = mg.nn.LayerNorm(4)
    >>> layer(mg.tensor([[1.0, 2.0, 3.0, 4.0]])).mean().round().item(), list(layer.state_dict())
    (0.0, ['weight', 'bias'])

    Shapes: `[…, *normalized_shape]` gives the same; `weight` and `bias` are of `normalized_shape`, ones and zeros at first.

    Arguments:
        normalized_shape: the sizes of the last axes, over which it is normalised; a number where it is one axis
        eps: what is added to the variance, so that nothing is divided by 0
        elementwise_affine: whether there are `weight` and `bias`
        bias: whether there is a `bias`, with `elementwise_affine`

    Errors: ArgumentError for negative sizes, TypeError for sizes that are no integers.
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
        """Makes the weight ones and the bias zeros, as at first."""
        with no_grad():
            for t, value in ((self.weight, 1), (self.bias, 0)):
                if t is not None:
                    t.fill_(value)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input, in its shape, and of the dtype that input and parameters promote to.

        Arguments:
            input: `[…, *normalized_shape]`; integers count as floats

        Errors: ArgumentError where the last axes are others.
        """
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"
