"""Functions to stand between layers."""

from __future__ import annotations

from .. import functional as F
from .._micrograd_rs import Device, Tensor, dtype, full
from ..autograd import no_grad
from .module import Module, Parameter, is_another


class _InPlace(Module):
    """What may write its result into its input."""

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _said(self, text: str) -> str:
        return f"{text}, inplace=True" if self.inplace else text


class ReLU(_InPlace):
    """`max(x, 0)`.

    >>> mg.nn.ReLU()(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return input.relu_() if self.inplace else input.relu()


class ReLU6(_InPlace):
    """`x`, no smaller than 0 and no larger than 6.

    >>> mg.nn.ReLU6()(mg.tensor([-1.0, 3.0, 9.0]))
    tensor([0., 3., 6.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.relu6_(input) if self.inplace else F.relu6(input)


class SELU(_InPlace):
    """`elu` with the scales that keep mean 0 and variance 1 from layer to layer.

    >>> mg.nn.SELU()(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.1113,  0.0000,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.selu_(input) if self.inplace else F.selu(input)


class SiLU(_InPlace):
    """`x σ(x)`.

    >>> mg.nn.SiLU()(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.silu_(input) if self.inplace else F.silu(input)


class Mish(_InPlace):
    """`x tanh(softplus(x))`.

    >>> mg.nn.Mish()(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.mish_(input) if self.inplace else F.mish(input)


class Hardswish(_InPlace):
    """`x` times a sixth of `x + 3`, that no smaller than 0 and no larger than 6.

    >>> mg.nn.Hardswish()(mg.tensor([-1.0, 0.0, 4.0]))
    tensor([-0.3333,  0.0000,  4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.hardswish_(input) if self.inplace else F.hardswish(input)


class Hardsigmoid(_InPlace):
    """A sixth of `x + 3`, that no smaller than 0 and no larger than 6.

    >>> mg.nn.Hardsigmoid()(mg.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.hardsigmoid_(input) if self.inplace else F.hardsigmoid(input)


class ELU(_InPlace):
    """`x`, or `alpha (eˣ − 1)` where `x` is not positive.

    >>> mg.nn.ELU()(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])

    Arguments:
        alpha: how far below 0 results go
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.elu_(input, self.alpha) if self.inplace else F.elu(input, self.alpha)

    def extra_repr(self) -> str:
        return self._said(f"alpha={self.alpha}")


class CELU(_InPlace):
    """`x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive.

    >>> mg.nn.CELU(alpha=2.0)(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.7869,  0.0000,  2.0000])

    Arguments:
        alpha: how far below 0 results go
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.celu_(input, self.alpha) if self.inplace else F.celu(input, self.alpha)

    def extra_repr(self) -> str:
        return self._said(f"alpha={self.alpha}")


class LeakyReLU(_InPlace):
    """`x`, or `negative_slope · x` where `x` is not positive.

    >>> mg.nn.LeakyReLU(0.2)(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2000,  0.0000,  2.0000])

    Arguments:
        negative_slope: what negative numbers are multiplied by
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        slope = self.negative_slope
        return F.leaky_relu_(input, slope) if self.inplace else F.leaky_relu(input, slope)

    def extra_repr(self) -> str:
        return self._said(f"negative_slope={self.negative_slope}")


class RReLU(_InPlace):
    """`x`, or `x` times a slope where `x` is not positive: in training one for each element, drawn uniformly,
    else their mean.

    >>> mg.nn.RReLU().eval()(mg.tensor([-24.0, 24.0]))
    tensor([-5.5000, 24.0000])

    Arguments:
        lower, upper: from where to where slopes are drawn
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        function = F.rrelu_ if self.inplace else F.rrelu
        return function(input, self.lower, self.upper, self.training)

    def extra_repr(self) -> str:
        return self._said(f"lower={self.lower}, upper={self.upper}")


class Hardtanh(_InPlace):
    """`x`, no smaller than `min_val` and no larger than `max_val` (which had the names `min_value` and `max_value`).

    >>> mg.nn.Hardtanh(-2, 2)(mg.tensor([-3.0, 0.5, 3.0]))
    tensor([-2.0000,  0.5000,  2.0000])

    Arguments:
        min_val: the least
        max_val: the largest
        min_value, max_value: older names of the two
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        min_val = min_val if min_value is None else min_value
        max_val = max_val if max_value is None else max_value
        if not min_val < max_val:
            raise ValueError(f"takes a min_val below max_val, got {min_val} and {max_val}")
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        function = F.hardtanh_ if self.inplace else F.hardtanh
        return function(input, self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return self._said(f"min_val={self.min_val}, max_val={self.max_val}")


class Threshold(_InPlace):
    """`x` where it is above `threshold`, else `value`.

    >>> mg.nn.Threshold(1.0, -9.0)(mg.tensor([0.5, 1.0, 2.0]))
    tensor([-9., -9.,  2.])

    Arguments:
        threshold: up to which number
        value: what takes its place
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        function = F.threshold_ if self.inplace else F.threshold
        return function(input, self.threshold, self.value)

    def extra_repr(self) -> str:
        return self._said(f"threshold={self.threshold}, value={self.value}")


class Tanh(Module):
    """The hyperbolic tangent.

    >>> mg.nn.Tanh()(mg.tensor([0.0, 1.0, 100.0]))
    tensor([0.0000, 0.7616, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return input.tanh()


class Sigmoid(Module):
    """`1 / (1 + e⁻ˣ)`.

    >>> mg.nn.Sigmoid()(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2689, 0.5000, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return input.sigmoid()


class LogSigmoid(Module):
    """The logarithm of the sigmoid.

    >>> mg.nn.LogSigmoid()(mg.tensor([-1000.0, 0.0]))
    tensor([-1.0000e+03, -6.9315e-01])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.logsigmoid(input)


class Softsign(Module):
    """`x / (1 + |x|)`.

    >>> mg.nn.Softsign()(mg.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.softsign(input)


class Tanhshrink(Module):
    """`x − tanh(x)`.

    >>> mg.nn.Tanhshrink()(mg.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.tanhshrink(input)


class Hardshrink(Module):
    """`x`, or 0 where `|x|` is not above `lambd`.

    >>> mg.nn.Hardshrink()(mg.tensor([-1.0, 0.3, 0.7]))
    tensor([-1.0000,  0.0000,  0.7000])

    Arguments:
        lambd: up to which size a number becomes 0
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(Module):
    """`x` moved towards 0 by `lambd`, and 0 where that would pass it.

    >>> mg.nn.Softshrink()(mg.tensor([-1.0, 0.25, 1.0]))
    tensor([-0.5000,  0.0000,  0.5000])

    Arguments:
        lambd: by how much numbers are drawn towards 0
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softplus(Module):
    """`log(1 + exp(beta · x)) / beta`, and `x` where `beta · x` is above `threshold`.

    >>> mg.nn.Softplus()(mg.tensor([-1.0, 0.0, 100.0]))
    tensor([  0.3133,   0.6931, 100.0000])

    Arguments:
        beta: what the input is multiplied by, and the result divided by
        threshold: above which product it is the input itself
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class GELU(Module):
    """The Gaussian error linear unit, by the error function or (`approximate="tanh"`) by the hyperbolic tangent.

    >>> mg.nn.GELU()(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])

    Arguments:
        approximate: "none", or "tanh" for the form by a hyperbolic tangent
    """

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """The first half along an axis, times the sigmoid of the second.

    >>> mg.nn.GLU()(mg.tensor([[1.0, 2.0, 0.0, 100.0]]))
    tensor([[0.5000, 2.0000]])
    """

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, but for half of the axis `dim`."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class PReLU(Module):
    """`x`, or `weight · x` where `x` is not positive: one weight, or one for each channel (axis 1), `init` at
    first.

    Arguments:
        num_parameters: one, or as many as there are channels
        init: what they begin with

    >>> mg.nn.PReLU(2, init=0.5)(mg.tensor([[-1.0, 2.0]])).detach()
    tensor([[-0.5000,  2.0000]])
    """

    weight: Tensor

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(full((num_parameters,), init, dtype=dtype, device=device))
        if is_another(self, PReLU, "reset_parameters"):
            self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, whose axis 1 has as many channels as there are slopes, if there is more than one."""
        return F.prelu(input, self.weight)

    def reset_parameters(self) -> None:
        """The slopes that there are at first."""
        with no_grad():
            self.weight.fill_(self.init)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _Along(Module):
    """A function along an axis."""

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_Along):
    """`eˣ / Σ eˣ` along an axis.

    >>> mg.nn.Softmax(dim=1)(mg.tensor([[1.0, 2.0, 3.0]]))
    tensor([[0.0900, 0.2447, 0.6652]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.softmax(input, self.dim)


class LogSoftmax(_Along):
    """`log softmax` along an axis.

    >>> mg.nn.LogSoftmax(dim=1)(mg.tensor([[0.0, 1000.0]]))
    tensor([[-1000.,     0.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.log_softmax(input, self.dim)


class Softmin(_Along):
    """The softmax of `−x` along an axis.

    >>> mg.nn.Softmin(dim=1)(mg.tensor([[1.0, 2.0, 3.0]]))
    tensor([[0.6652, 0.2447, 0.0900]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """The softmax over channels of `[n, channels, height, width]` or `[channels, height, width]`.

    >>> mg.nn.Softmax2d()(mg.zeros(1, 4, 2, 2))[0, 0]
    tensor([[0.2500, 0.2500],
            [0.2500, 0.2500]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, `[n, channels, height, width]`, or without `n`."""
        if input.dim() not in (3, 4):
            raise ValueError(f"takes [n, channels, height, width] or that without n, got {input.shape}")
        return F.softmax(input, -3)


class _Dropout(_InPlace):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__(inplace)
        # Here, not at the first use.
        if not 0 <= p <= 1:
            raise ValueError(f"takes a probability p in [0, 1], got {p}")
        self.p = p

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training, zeros with probability `p` and the rest scaled by 1/(1 − p); otherwise the input itself.

    Errors: ValueError for a probability outside [0, 1].

    >>> drop = mg.nn.Dropout(0.5)
    >>> drop(mg.ones(1000)).unique()
    tensor([0., 2.])
    >>> drop.eval()(mg.ones(3))
    tensor([1., 1., 1.])

    Arguments:
        p: the probability
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return (F.dropout_ if self.inplace else F.dropout)(input, self.p, self.training)


class Dropout1d(_Dropout):
    """`Dropout` of whole channels of `[n, channels, length]` or `[channels, length]`.

    Arguments:
        p: the probability

    >>> y = mg.nn.Dropout1d(0.5)(mg.ones(1, 8, 4))
    >>> bool((y.amax(2) == y.amin(2)).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, `[n, channels, length]`, or without `n`."""
        return (F.dropout1d_ if self.inplace else F.dropout1d)(input, self.p, self.training)


class Dropout2d(_Dropout):
    """`Dropout` of whole channels of `[n, channels, height, width]`.

    Arguments:
        p: the probability

    >>> y = mg.nn.Dropout2d(0.5)(mg.ones(1, 8, 4, 4))
    >>> bool((y.amax((2, 3)) == y.amin((2, 3))).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, `[n, channels, height, width]`, or without `n`."""
        return (F.dropout2d_ if self.inplace else F.dropout2d)(input, self.p, self.training)


class Dropout3d(_Dropout):
    """`Dropout` of whole channels of `[n, channels, depth, height, width]`, or of that without n.

    Arguments:
        p: the probability

    >>> y = mg.nn.Dropout3d(0.5)(mg.ones(1, 8, 2, 4, 4))
    >>> bool((y.amax((2, 3, 4)) == y.amin((2, 3, 4))).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, `[n, channels, depth, height, width]`, or without `n`."""
        return (F.dropout3d_ if self.inplace else F.dropout3d)(input, self.p, self.training)


class AlphaDropout(_Dropout):
    """In training, the least value of `SELU` with probability `p`, shifted and scaled so that mean 0 and variance
    1 stay.

    >>> drop = mg.nn.AlphaDropout(0.5)
    >>> len(drop(mg.zeros(1000)).unique())
    2
    >>> drop.eval()(mg.tensor([1.0, 2.0]))
    tensor([1., 2.])

    Arguments:
        p: the probability
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, which is any."""
        return (F.alpha_dropout_ if self.inplace else F.alpha_dropout)(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels.

    Arguments:
        p: the probability

    >>> y = mg.nn.FeatureAlphaDropout(0.5)(mg.zeros(4, 50, 3))
    >>> bool((y.amax(2) == y.amin(2)).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """In the shape of the input, `[n, channels, …]`, or without `n`."""
        function = F.feature_alpha_dropout_ if self.inplace else F.feature_alpha_dropout
        return function(input, self.p, self.training)
