"""Functions to stand between layers."""

from __future__ import annotations

from .. import functional as F
from .._micrograd_rs import Device, Tensor, dtype, full
from ..autograd import no_grad
from .module import Module, Parameter, is_another


class _Elementwise(Module):
    """A function of each element.

    Shapes: a tensor of any shape gives one of the same shape.
    """

    def forward(self, input: Tensor) -> Tensor:
        """The function of each element, in the input's shape.

        Arguments:
            input: a tensor of any shape. The result is of its dtype where that is a floating-point one; of integers it is of the default dtype, but
                `ReLU`, `ReLU6`, `Hardtanh` and `Threshold` keep integers

        Errors: with `inplace`, RuntimeError for a leaf that requires a gradient, and DTypeError for integers where the result is of floats.
        """
        raise NotImplementedError


class _InPlace(_Elementwise):
    """What may write its result into its input.

    Arguments:
        inplace: whether the result is written into the input's own memory and the input comes back, rather than a new tensor

    Errors: in a call with `inplace`, RuntimeError for a leaf that requires a gradient.
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _said(self, text: str) -> str:
        return f"{text}, inplace=True" if self.inplace else text


class ReLU(_InPlace):
    """`max(x, 0)` of each element.

    >>> mg.nn.ReLU()(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])

    With `inplace` the input is what was written to, and what comes back:

    >>> x = mg.tensor([-1.0, 2.0])
    >>> mg.nn.ReLU(inplace=True)(x) is x, x
    (True, tensor([0., 2.]))
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.relu_() if self.inplace else input.relu()


class ReLU6(_InPlace):
    """`min(max(x, 0), 6)` of each element.

    >>> mg.nn.ReLU6()(mg.tensor([-1.0, 3.0, 9.0]))
    tensor([0., 3., 6.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu6_(input) if self.inplace else F.relu6(input)


class SELU(_InPlace):
    """`scale · elu(x, alpha)` of each element, with the two numbers that keep mean 0 and variance 1 from layer to layer (Klambauer et al., 2017):
    `scale` is 1.0507 and `alpha` 1.6733.

    >>> mg.nn.SELU()(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.1113,  0.0000,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu_(input) if self.inplace else F.selu(input)


class SiLU(_InPlace):
    """`x σ(x)` of each element, where `σ(x) = 1 / (1 + e⁻ˣ)`; it is also called swish.

    >>> mg.nn.SiLU()(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu_(input) if self.inplace else F.silu(input)


class Mish(_InPlace):
    """`x tanh(softplus(x))` of each element, where `softplus(x) = log(1 + eˣ)`.

    >>> mg.nn.Mish()(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish_(input) if self.inplace else F.mish(input)


class Hardswish(_InPlace):
    """`x · min(max(x + 3, 0), 6) / 6` of each element.

    >>> mg.nn.Hardswish()(mg.tensor([-1.0, 0.0, 4.0]))
    tensor([-0.3333,  0.0000,  4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish_(input) if self.inplace else F.hardswish(input)


class Hardsigmoid(_InPlace):
    """`min(max(x + 3, 0), 6) / 6` of each element.

    >>> mg.nn.Hardsigmoid()(mg.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid_(input) if self.inplace else F.hardsigmoid(input)


class ELU(_InPlace):
    """`x` where `x` is positive, `alpha (eˣ − 1)` elsewhere.

    >>> mg.nn.ELU()(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])

    Arguments:
        alpha: results go to −`alpha` as `x` goes to −∞
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.elu_(input, self.alpha) if self.inplace else F.elu(input, self.alpha)

    def extra_repr(self) -> str:
        return self._said(f"alpha={self.alpha}")


class CELU(_InPlace):
    """`x` where `x` is positive, `alpha (exp(x / alpha) − 1)` elsewhere.

    >>> mg.nn.CELU(alpha=2.0)(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.7869,  0.0000,  2.0000])

    Arguments:
        alpha: results go to −`alpha` as `x` goes to −∞; 0 is an ArgumentError in the first call
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.celu_(input, self.alpha) if self.inplace else F.celu(input, self.alpha)

    def extra_repr(self) -> str:
        return self._said(f"alpha={self.alpha}")


class LeakyReLU(_InPlace):
    """`x` where `x` is positive, `negative_slope · x` elsewhere.

    >>> mg.nn.LeakyReLU(0.2)(mg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2000,  0.0000,  2.0000])

    Arguments:
        negative_slope: what numbers that are not positive are multiplied by
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        slope = self.negative_slope
        return F.leaky_relu_(input, slope) if self.inplace else F.leaky_relu(input, slope)

    def extra_repr(self) -> str:
        return self._said(f"negative_slope={self.negative_slope}")


class RReLU(_InPlace):
    """`x` where `x` is positive, `slope · x` elsewhere: in training with a slope for each element, drawn uniformly between `lower` and `upper`,
    otherwise with their mean.

    >>> mg.nn.RReLU().eval()(mg.tensor([-24.0, 24.0]))
    tensor([-5.5000, 24.0000])

    Arguments:
        lower: the least slope
        upper: the largest slope
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """The input where it is positive, and times a slope elsewhere, in the input's shape.

        Arguments:
            input: a tensor of any shape; of integers the result is of the default dtype

        Errors: ArgumentError for a `lower` above `upper`; with `inplace`, RuntimeError for a leaf that requires a gradient.
        """
        function = F.rrelu_ if self.inplace else F.rrelu
        return function(input, self.lower, self.upper, self.training)

    def extra_repr(self) -> str:
        return self._said(f"lower={self.lower}, upper={self.upper}")


class Hardtanh(_InPlace):
    """`min(max(x, min_val), max_val)` of each element.

    >>> mg.nn.Hardtanh(-2, 2)(mg.tensor([-3.0, 0.5, 3.0]))
    tensor([-2.0000,  0.5000,  2.0000])

    Arguments:
        min_val: the least result
        max_val: the largest result
        min_value: an older name of `min_val`, which it takes the place of where it is given
        max_value: an older name of `max_val`, likewise

    Errors: ValueError where `min_val` is not below `max_val`.
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
        function = F.hardtanh_ if self.inplace else F.hardtanh
        return function(input, self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return self._said(f"min_val={self.min_val}, max_val={self.max_val}")


class Threshold(_InPlace):
    """`x` where it is above `threshold`, `value` elsewhere.

    >>> mg.nn.Threshold(1.0, -9.0)(mg.tensor([0.5, 1.0, 2.0]))
    tensor([-9., -9.,  2.])

    Arguments:
        threshold: the largest number that is replaced
        value: what takes its place
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        function = F.threshold_ if self.inplace else F.threshold
        return function(input, self.threshold, self.value)

    def extra_repr(self) -> str:
        return self._said(f"threshold={self.threshold}, value={self.value}")


class Tanh(_Elementwise):
    """The hyperbolic tangent of each element, `(eˣ − e⁻ˣ) / (eˣ + e⁻ˣ)`.

    >>> mg.nn.Tanh()(mg.tensor([0.0, 1.0, 100.0]))
    tensor([0.0000, 0.7616, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()


class Sigmoid(_Elementwise):
    """`1 / (1 + e⁻ˣ)` of each element.

    >>> mg.nn.Sigmoid()(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2689, 0.5000, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()


class LogSigmoid(_Elementwise):
    """`log(1 / (1 + e⁻ˣ))` of each element, without overflow.

    >>> mg.nn.LogSigmoid()(mg.tensor([-1000.0, 0.0]))
    tensor([-1.0000e+03, -6.9315e-01])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(_Elementwise):
    """`x / (1 + |x|)` of each element.

    >>> mg.nn.Softsign()(mg.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(_Elementwise):
    """`x − tanh(x)` of each element.

    >>> mg.nn.Tanhshrink()(mg.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Hardshrink(_Elementwise):
    """`x` where `|x|` is above `lambd`, 0 elsewhere.

    >>> mg.nn.Hardshrink()(mg.tensor([-1.0, 0.3, 0.7]))
    tensor([-1.0000,  0.0000,  0.7000])

    Arguments:
        lambd: the largest magnitude that becomes 0
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(_Elementwise):
    """`x − lambd` where `x` is above `lambd`, `x + lambd` where it is below −`lambd`, 0 between.

    >>> mg.nn.Softshrink()(mg.tensor([-1.0, 0.25, 1.0]))
    tensor([-0.5000,  0.0000,  0.5000])

    Arguments:
        lambd: by how much numbers are drawn towards 0; a negative one is an ArgumentError in the first call
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softplus(_Elementwise):
    """`log(1 + exp(beta · x)) / beta` of each element, and `x` itself where `beta · x` is above `threshold`.

    >>> mg.nn.Softplus()(mg.tensor([-1.0, 0.0, 100.0]))
    tensor([  0.3133,   0.6931, 100.0000])

    Arguments:
        beta: what the input is multiplied by, and the logarithm divided by: the larger, the nearer to `ReLU`
        threshold: the product `beta · x` above which the result is `x`, which it hardly differs from there
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class GELU(_Elementwise):
    """The Gaussian error linear unit of each element: `x Φ(x)`, where `Φ` is the cumulative distribution of the standard normal distribution; with
    `approximate="tanh"` it is `½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))`.

    >>> mg.nn.GELU()(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])

    Arguments:
        approximate: "none" for the error function, "tanh" for the form by a hyperbolic tangent. Another word is an ArgumentError in the first call
    """

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """The gated linear unit: the first half along an axis, times the sigmoid of the second half.

    >>> mg.nn.GLU()(mg.tensor([[1.0, 2.0, 0.0, 100.0]]))
    tensor([[0.5000, 2.0000]])

    Arguments:
        dim: the axis that is halved, counted from the end where it is negative

    Shapes: `[…, 2 · size, …]` gives `[…, size, …]`, where the axis `dim` is the one of `2 · size`.

    Errors: in a call, ArgumentError for an odd size, and IndexError where there is no axis `dim`.
    """

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The gated half, in the input's shape but for half of the axis `dim`.

        Arguments:
            input: a tensor with an even size along `dim`; of integers the result is of the default dtype

        Errors: ArgumentError for an odd size, IndexError where there is no such axis.
        """
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class PReLU(Module):
    """`x` where `x` is positive, `weight · x` elsewhere: one trained slope for all, or one for each channel, which are axis 1.

    >>> mg.nn.PReLU(2, init=0.5)(mg.tensor([[-1.0, 2.0]])).detach()
    tensor([[-0.5000,  2.0000]])

    Arguments:
        num_parameters: how many slopes there are: 1, or as many as the input has channels
        init: the number that all slopes begin with

    Shapes: `[n, channels, …]`, or with one slope a tensor of any shape, gives the same; `weight` is `[num_parameters]`.

    Errors: in a call, ArgumentError for another number of channels than of slopes, and DTypeError for floats of another dtype than that of `weight`.
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
        """The input where it is positive, and times its slope elsewhere, in the input's shape and dtype.

        Arguments:
            input: floats of the weight's dtype, of any shape for one slope, otherwise `[n, num_parameters, …]`; integers count as floats

        Errors: ArgumentError for another number of channels than of slopes; DTypeError for floats of another dtype than that of `weight`.
        """
        return F.prelu(input, self.weight)

    def reset_parameters(self) -> None:
        """Gives all slopes the number `init` again."""
        with no_grad():
            self.weight.fill_(self.init)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _Along(Module):
    """A function along an axis.

    Arguments:
        dim: the axis, counted from the end where it is negative; None: axis 0 of a tensor of no, one or three axes, axis 1 of others

    Shapes: a tensor of any shape gives one of the same shape.

    Errors: in a call, IndexError where there is no axis `dim`.
    """

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The function along the axis `dim`, in the input's shape.

        Arguments:
            input: a tensor of any shape; of integers the result is of the default dtype

        Errors: IndexError where there is no axis `dim`.
        """
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_Along):
    """`eˣ / Σ eˣ`, the sum being along an axis: positive numbers that add up to 1 along it.

    >>> mg.nn.Softmax(dim=1)(mg.tensor([[1.0, 2.0, 3.0]]))
    tensor([[0.0900, 0.2447, 0.6652]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(_Along):
    """`x − log Σ eˣ`, the sum being along an axis: the logarithm of `Softmax`, without overflow.

    >>> mg.nn.LogSoftmax(dim=1)(mg.tensor([[0.0, 1000.0]]))
    tensor([[-1000.,     0.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmin(_Along):
    """`e⁻ˣ / Σ e⁻ˣ`, the sum being along an axis: the softmax of `−x`.

    >>> mg.nn.Softmin(dim=1)(mg.tensor([[1.0, 2.0, 3.0]]))
    tensor([[0.6652, 0.2447, 0.0900]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """The softmax over the channels of images: the numbers of all channels at one place add up to 1.

    >>> mg.nn.Softmax2d()(mg.zeros(1, 4, 2, 2))[0, 0]
    tensor([[0.2500, 0.2500],
            [0.2500, 0.2500]])

    Shapes: `[n, channels, height, width]` or `[channels, height, width]` gives the same.

    Errors: in a call, ValueError for another number of axes.
    """

    def forward(self, input: Tensor) -> Tensor:
        """The softmax at each place, in the input's shape.

        Arguments:
            input: `[n, channels, height, width]`, or `[channels, height, width]`; of integers the result is of the default dtype

        Errors: ValueError for another number of axes.
        """
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: takes [n, channels, height, width] or that without n, got {input.shape}")
        return F.softmax(input, -3)


class _Dropout(_InPlace):
    """What leaves out some of its input in training.

    Arguments:
        p: the probability with which each one is left out, from 0 to 1

    Errors: ValueError for a probability outside [0, 1].

    Shapes: a tensor of any shape gives one of the same shape.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__(inplace)
        # Here, not at the first use.
        if not 0 <= p <= 1:
            raise ValueError(f"takes a probability p in [0, 1], got {p}")
        self.p = p

    def forward(self, input: Tensor) -> Tensor:
        """In training the input with some of it left out, in its shape and dtype; otherwise the input itself. What is left out is drawn anew in each call.

        Arguments:
            input: floats of any shape

        Errors: DTypeError, in training, for integers; RuntimeError, with `inplace` and in training, for a leaf that requires a gradient.
        """
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training, each element becomes 0 with probability `p` and the rest are multiplied by `1 / (1 − p)`, so that means stay; otherwise the input
    itself (Hinton et al., 2012).

    >>> drop = mg.nn.Dropout(0.5)
    >>> drop(mg.ones(1000)).unique()
    tensor([0., 2.])
    >>> drop.eval()(mg.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return (F.dropout_ if self.inplace else F.dropout)(input, self.p, self.training)


class Dropout1d(_Dropout):
    """`Dropout` of whole channels of `[n, channels, length]` or `[channels, length]`: all elements of a channel become 0, or none.

    >>> y = mg.nn.Dropout1d(0.5)(mg.ones(1, 8, 4))
    >>> bool((y.amax(2) == y.amin(2)).all())
    True

    Arguments:
        p: the probability with which each channel of each sample is left out, from 0 to 1

    Shapes: `[n, channels, length]` or `[channels, length]` gives the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        """In training the input with some channels left out, in its shape and dtype; otherwise the input itself.

        Arguments:
            input: floats, `[n, channels, length]`, or `[channels, length]`

        Errors: ArgumentError, in training, for another number of axes, and DTypeError for integers.
        """
        return (F.dropout1d_ if self.inplace else F.dropout1d)(input, self.p, self.training)


class Dropout2d(_Dropout):
    """`Dropout` of whole channels of `[n, channels, height, width]`: all elements of a channel become 0, or none.

    >>> y = mg.nn.Dropout2d(0.5)(mg.ones(1, 8, 4, 4))
    >>> bool((y.amax((2, 3)) == y.amin((2, 3))).all())
    True

    Arguments:
        p: the probability with which each channel of each sample is left out, from 0 to 1

    Shapes: `[n, channels, height, width]` gives the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        """In training the input with some channels left out, in its shape and dtype; otherwise the input itself.

        Arguments:
            input: floats, `[n, channels, height, width]`; three axes are `[n, channels, length]`

        Errors: ArgumentError, in training, for a single axis, and DTypeError for integers.
        """
        return (F.dropout2d_ if self.inplace else F.dropout2d)(input, self.p, self.training)


class Dropout3d(_Dropout):
    """`Dropout` of whole channels of `[n, channels, depth, height, width]`: all elements of a channel become 0, or none.

    >>> y = mg.nn.Dropout3d(0.5)(mg.ones(1, 8, 2, 4, 4))
    >>> bool((y.amax((2, 3, 4)) == y.amin((2, 3, 4))).all())
    True

    Arguments:
        p: the probability with which each channel of each sample is left out, from 0 to 1

    Shapes: `[n, channels, depth, height, width]` or `[channels, depth, height, width]` gives the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        """In training the input with some channels left out, in its shape and dtype; otherwise the input itself.

        Arguments:
            input: floats, `[n, channels, depth, height, width]`, or `[channels, depth, height, width]`

        Errors: DTypeError, in training, for integers.
        """
        return (F.dropout3d_ if self.inplace else F.dropout3d)(input, self.p, self.training)


class AlphaDropout(_Dropout):
    """In training, each element becomes the least value of `SELU` with probability `p`, and all are shifted and scaled so that mean 0 and variance 1
    stay; otherwise the input itself (Klambauer et al., 2017).

    >>> drop = mg.nn.AlphaDropout(0.5)
    >>> len(drop(mg.zeros(1000)).unique())
    2
    >>> drop.eval()(mg.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """In training the input with some elements replaced, in its shape; otherwise the input itself. Which ones is drawn anew in each call.

        Arguments:
            input: a tensor of any shape; of integers the result is of the default dtype in training

        Errors: RuntimeError, with `inplace` and in training, for a leaf that requires a gradient.
        """
        return (F.alpha_dropout_ if self.inplace else F.alpha_dropout)(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels: all elements of a channel are replaced, or none.

    >>> y = mg.nn.FeatureAlphaDropout(0.5)(mg.zeros(4, 50, 3))
    >>> bool((y.amax(2) == y.amin(2)).all())
    True

    Arguments:
        p: the probability with which each channel of each sample is replaced, from 0 to 1

    Shapes: `[n, channels, …]` gives the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        """In training the input with some channels replaced, in its shape; otherwise the input itself.

        Arguments:
            input: `[n, channels, …]`; of integers the result is of the default dtype in training

        Errors: ArgumentError, in training, for a single axis.
        """
        function = F.feature_alpha_dropout_ if self.inplace else F.feature_alpha_dropout
        return function(input, self.p, self.training)
