"""Losses of very many classes, with the weights of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from .. import _ops as ops
from .._micrograd_rs import Device, Tensor, dtype
from .._nn_ops import linear_cross_entropy, log_softmax
from .containers import ModuleList, Sequential
from .layers import Linear
from .losses import _WeightedLoss
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss", "LinearCrossEntropyLoss"]


class _Answer(NamedTuple):
    output: Tensor
    loss: Tensor


# The name that it is shown by.
_Answer.__name__ = "_ASMoutput"


class AdaptiveLogSoftmaxWithLoss(Module):
    """The logarithms of classes' probabilities, and the loss, where classes are sorted by how often they come (Grave et al., "Efficient softmax
    approximation for GPUs", 2017).

    The classes before the first of `cutoffs` are in the head, each later group up to the next is one class of the head and has a tail of its own,
    whose inputs are `div_value` times smaller from group to group.

    >>> import micrograd_rs as mg
    >>> layer = mg.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[4, 10], div_value=2.0)
    >>> output, loss = layer(mg.randn(3, 8), mg.tensor([0, 5, 19]))
    >>> output.shape, layer.log_prob(mg.randn(3, 8)).shape
    ((3,), (3, 20))

    Shapes: `[n, in_features]` and labels `[n]`, or `[in_features]` and `[]`, give `output` in the labels' shape and `loss`, one number.

    Arguments:
        in_features: how many features an input has
        n_classes: how many classes there are; the lower its number, the more often a class comes
        cutoffs: where the groups of rarer classes begin: integers that rise, from 1 to `n_classes − 1`
        div_value: how many times fewer features each tail has than the group before it
        head_bias: whether the head has a bias; tails have none

    Errors: ValueError for `cutoffs` that are none, do not rise or are not between 1 and `n_classes − 1`.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and "
                f"n_classes-1, got {cutoffs}"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, hidden, False, device, dtype), Linear(hidden, size, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draws the weights of the head and of the tails anew, as `Linear` does."""
        self.head.reset_parameters()
        for tail in self.tail:
            for layer in tail.children():
                layer.reset_parameters()  # type: ignore[operator, unused-ignore]

    def _checked(self, input: Tensor, target: Tensor) -> None:
        if target.dim() > 1 or input.dim() != target.dim() + 1:
            raise RuntimeError(
                "takes an input [batch, in_features] with a target [batch], or [in_features] with [], "
                f"got {tuple(input.shape)} and {tuple(target.shape)}"
            )
        if target.dim() == 1 and input.shape[0] != target.shape[0]:
            raise RuntimeError(f"Input and target should have the same size in the batch dimension, got {input.shape[0]} and {target.shape[0]}")

    def forward(self, input_: Tensor, target_: Tensor) -> _Answer:
        """A named pair: `output`, the logarithms of the targets' probabilities in the targets' shape, and `loss`, the mean of `−output`.

        Arguments:
            input_: floats `[n, in_features]`, or `[in_features]`
            target_: labels, int64 from 0 to `n_classes − 1`, `[n]`, or `[]`

        Errors: RuntimeError for other shapes, and for a label that is no class; ArgumentError for another number of features.

        >>> layer = mg.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[4, 10])
        >>> answer = layer(mg.randn(8), mg.tensor(5))
        >>> answer.output.shape, bool(answer.loss == -answer.output)
        ((), True)
        """
        input, target = input_, target_
        self._checked(input, target)
        single = target.dim() == 0
        if single:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        outside = (target < 0) | (target >= self.n_classes)
        if bool(outside.any()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{int(target.min())}, {int(target.max())}] were found. "
            )
        # Whom a tail is asked for: those whose target lies in its group.
        place = target.clamp(max=self.shortlist_size - 1)
        of_tails = input.new_zeros(target.shape)
        for i, tail in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            within = log_softmax(tail(input.index_select(0, rows)), 1).gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1)
            of_tails = of_tails.index_copy(0, rows, within.to(of_tails.dtype))
            place = place.index_fill(0, rows, self.shortlist_size + i)
        output = of_tails + log_softmax(self.head(input), 1).gather(1, place.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _Answer(output.squeeze(0) if single else output, loss)

    def _all(self, input: Tensor, head: Tensor) -> Tensor:
        heads = log_softmax(head, 1)
        parts = [heads[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(log_softmax(tail(input), 1) + heads[:, self.shortlist_size + i].unsqueeze(1))
        return ops.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The logarithms of all classes' probabilities, floats `[n, n_classes]`.

        Arguments:
            input: floats `[n, in_features]`

        Errors: ArgumentError for another number of features, IndexError for a single axis.

        >>> layer = mg.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[4, 10])
        >>> mg.allclose(layer.log_prob(mg.randn(3, 8)).exp().sum(1), mg.ones(3))
        True
        """
        return self._all(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The likeliest class of each input, int64 `[n]`. Tails are computed for the inputs alone whose head names one.

        Arguments:
            input: floats `[n, in_features]`

        Errors: ArgumentError for another number of features, IndexError for a single axis.

        >>> layer, x = mg.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[4, 10]), mg.randn(3, 8)
        >>> mg.equal(layer.predict(x), layer.log_prob(x).argmax(1))
        True
        """
        head: Tensor = self.head(input)
        found = head.argmax(1)
        rest = (found >= self.shortlist_size).nonzero().squeeze(1)
        if rest.numel() == 0:
            return found
        return found.index_copy(0, rest, self._all(input.index_select(0, rest), head.index_select(0, rest)).argmax(1))


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of scores that a linear layer, `linear`, makes of the input: `CrossEntropyLoss` of `Linear`. Its own parameters are those of the
    layer.

    >>> import micrograd_rs as mg
    >>> loss = mg.nn.LinearCrossEntropyLoss(5, 10)
    >>> loss(mg.randn(2, 5), mg.tensor([3, 7])).shape
    ()

    Shapes: `[n, in_features]` with labels `[n, *out_features]` or probabilities `[n, num_classes, *out_features]`, or `[in_features]` with one label
    where there are no `out_features`, gives one number; with `reduction="none"` one for each label, in the labels' shape.

    Arguments:
        in_features: the size of the input's last axis
        num_classes: how many classes there are
        out_features: the sizes of further axes of labels: so many labels are told of each input
        bias: whether there is a bias on scores
        ignore_index: the label that does not count; None: −100
        label_smoothing: the part of each target that is spread evenly over all classes, from 0 to 1
        options: None: there is nothing to choose here

    Errors: RuntimeError for another number of weights than classes and for a `label_smoothing` outside [0, 1]; ValueError for `options`, and for
    another `reduction`.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: Sequence[int] = (),
        bias: bool = False,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        if options is not None:
            raise ValueError("LinearCrossEntropyLoss: scores are computed at once: options, which are of chunks, is None")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = tuple(out_features)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, prod(self.out_features, start=num_classes), bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each label.

        Arguments:
            input: floats `[n, in_features]`, or `[in_features]` where there are no `out_features`
            target: labels, integers from 0 to `num_classes − 1`, `[n, *out_features]`, or `[]` of a single input; or floats `[n, num_classes,
                *out_features]`, the probabilities of the classes

        Errors: ArgumentError for other shapes; DTypeError for labels of floats; IndexError, when the loss is computed, for a label that is no class.

        >>> loss = mg.nn.LinearCrossEntropyLoss(5, 10, out_features=(3,), reduction="none")
        >>> loss(mg.randn(2, 5), mg.zeros(2, 3).long()).shape
        (2, 3)
        """
        bias = self.linear.bias
        return linear_cross_entropy(
            input,
            self.linear.weight.reshape((self.num_classes, *self.out_features, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape((self.num_classes, *self.out_features)),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
