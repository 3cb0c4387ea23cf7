"""Losses: how far outputs are from what they should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import functional as F
from .._micrograd_rs import ArgumentError, Tensor, _old_reduction
from .layers import PairwiseDistance
from .module import Module


class _Loss(Module):
    """A loss, and what becomes of it.

    Arguments:
        size_average: an older way to say `reduction`: False is "sum", True is "mean"; None: `reduction` says it
        reduce: an older way to say `reduction`: False is "none", whatever `size_average` is; None: `reduction` says it
        reduction: what becomes of the losses: "mean" for their mean, "sum" for their sum, "none" for themselves

    Errors: ValueError for another `reduction`.
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        reduction = _old_reduction(size_average, reduce) or reduction
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f'a reduction is "mean", "sum" or "none", got {reduction!r}')
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss whose elements, or classes, count with weights.

    Arguments:
        weight: what the loss of each class is multiplied by, floats `[classes]`; None: 1. It is a buffer, and moves with the module
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _OfDifferences(_Loss):
    """A loss of the differences of two tensors."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element. Integers count as floats.

        Arguments:
            input: what was predicted, of any shape
            target: what it should be, in the same shape; a shape that broadcasts is taken with a warning

        Errors: ArgumentError for shapes that do not broadcast.

        >>> mg.nn.L1Loss(reduction="none")(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
        tensor([0., 2.])
        """
        raise NotImplementedError


class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy of scores that are no probabilities yet (logits): for a label `y`, `−weight[y] · log softmax(input)[y]`; for probabilities `p`,
    `−Σ weight · p · log softmax(input)`, the sum being over classes.

    >>> import micrograd_rs as mg
    >>> loss = mg.nn.CrossEntropyLoss()
    >>> round(loss(mg.tensor([[0.0, 0.0], [9.0, 0.0]]), mg.tensor([1, 0])).item(), 3)
    0.347

    Shapes: `[n, classes]`, `[classes]` or `[n, classes, …]` with labels `[n]`, `[]` or `[n, …]`, or with probabilities in the input's own shape,
    gives one number; with `reduction="none"` one for each label, in the labels' shape.

    Arguments:
        ignore_index: the label that does not count; there is none for probabilities
        reduction: what becomes of the losses: "mean" for their sum divided by the sum of the weights of the labels that count (of probabilities, by
            their number), which is NaN where none counts, "sum" for their sum, "none" for themselves
        label_smoothing: the part of each target that is spread evenly over all classes, from 0 to 1
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each label, of the input's dtype.

        Arguments:
            input: scores, floats `[n, classes]`, `[classes]`, or `[n, classes, …]`
            target: labels, integers from 0 to `classes − 1` in the shape of the input without its classes, or floats in the input's own shape, the
                probabilities of the classes

        Errors: ArgumentError for other shapes, another number of weights than classes, a `label_smoothing` outside [0, 1], and an `ignore_index` with
        probabilities; DTypeError for labels of floats; IndexError, when the loss is computed, for a label that is no class.

        >>> scores = mg.tensor([[2.0, 0.0], [0.0, 2.0]])
        >>> mg.nn.CrossEntropyLoss()(scores, mg.tensor([0, 1])), mg.nn.CrossEntropyLoss(reduction="none")(scores, mg.tensor([0, 0]))
        (tensor(0.1269), tensor([0.1269, 2.1269]))
        """
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_WeightedLoss):
    """The negative log likelihood of labels: for a label `y`, `−weight[y] · input[y]`, where the input has logarithms of probabilities, as `LogSoftmax`
    makes them.

    >>> log_probs = mg.tensor([[0.5, 0.5], [0.1, 0.9]]).log()
    >>> mg.nn.NLLLoss()(log_probs, mg.tensor([0, 1]))
    tensor(0.3993)

    Shapes: `[n, classes]`, `[classes]` or `[n, classes, …]` with labels `[n]`, `[]` or `[n, …]` gives one number; with `reduction="none"` one for
    each label, in the labels' shape.

    Arguments:
        ignore_index: the label that does not count
        reduction: what becomes of the losses: "mean" for their sum divided by the sum of the weights of the labels that count, which is NaN where
            none counts, "sum" for their sum, "none" for themselves
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each label, of the input's dtype.

        Arguments:
            input: logarithms of probabilities, floats `[n, classes]`, `[classes]`, or `[n, classes, …]`
            target: labels, integers from 0 to `classes − 1` in the shape of the input without its classes

        Errors: ArgumentError for other shapes, and for another number of weights than classes; DTypeError for labels of floats; IndexError, when the
        loss is computed, for a label that is no class.

        >>> mg.nn.NLLLoss(reduction="none")(mg.tensor([[0.5, 0.5], [0.1, 0.9]]).log(), mg.tensor([0, 1]))
        tensor([0.6931, 0.1054])
        """
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class MSELoss(_OfDifferences):
    """Squared differences, `(input − target)²`.

    >>> import micrograd_rs as mg
    >>> mg.nn.MSELoss()(mg.tensor([1.0, 2.0]), mg.tensor([0.0, 4.0])).item()
    2.5

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_OfDifferences):
    """Magnitudes of differences, `|input − target|`.

    >>> mg.nn.L1Loss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
    tensor(1.)

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_OfDifferences):
    """Differences `d` of magnitudes below `beta` as `½ d² / beta`, others as `|d| − ½ beta`: a square near 0, and a line beyond.

    >>> mg.nn.SmoothL1Loss(reduction="none")(mg.tensor([0.0, 0.0]), mg.tensor([0.5, 4.0]))
    tensor([0.1250, 3.5000])

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.

    Arguments:
        beta: the magnitude at which the square becomes a line; at least 0, and with 0 it is `L1Loss`. A negative one is an ArgumentError in the first
            call
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_OfDifferences):
    """Differences `d` of magnitudes below `delta` as `½ d²`, others as `delta (|d| − ½ delta)`: `delta` times `SmoothL1Loss`.

    >>> mg.nn.HuberLoss(delta=2.0)(mg.tensor([0.0, 0.0]), mg.tensor([0.5, 4.0]))
    tensor(3.0625)

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.

    Arguments:
        delta: the magnitude at which the square becomes a line, above 0. Another is an ArgumentError in the first call
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, self.reduction, self.delta)


class BCELoss(_WeightedLoss):
    """The cross entropy of probabilities: `−weight · (target · log input + (1 − target) · log(1 − input))`, where a logarithm is at least −100.

    >>> mg.nn.BCELoss()(mg.tensor([0.9, 0.2]), mg.tensor([1.0, 0.0]))
    tensor(0.1643)

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.

    Arguments:
        weight: what the loss of each element is multiplied by, floats in a shape that broadcasts to the input's; None: 1. It is a buffer, and moves
            with the module
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: probabilities from 0 to 1, of any shape
            target: what they should be, from 0 to 1, in the same shape

        Errors: ArgumentError for other shapes, and, when the loss is computed, for numbers outside [0, 1].

        >>> mg.nn.BCELoss(reduction="none")(mg.tensor([0.5, 0.25]), mg.tensor([1.0, 0.0]))
        tensor([0.6931, 0.2877])
        """
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """The cross entropy of the sigmoid of scores (logits), without overflow: `−weight · (pos_weight · target · log σ(input) + (1 − target) · log(1 −
    σ(input)))`.

    >>> mg.nn.BCEWithLogitsLoss(pos_weight=mg.tensor(2.0))(mg.tensor([2.0, -1.0]), mg.tensor([1.0, 0.0]))
    tensor(0.2836)

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.

    Arguments:
        weight: what the loss of each element is multiplied by, floats in a shape that broadcasts to the input's; None: 1. It is a buffer, and moves
            with the module
        pos_weight: what the part of targets of 1 is multiplied by, floats in a shape that broadcasts to the input's, such as one for each class;
            above 1 it counts misses more than false alarms; None: 1. It is a buffer, too
    """

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: logits, of any shape
            target: the probabilities that they should have, from 0 to 1, in the same shape

        Errors: ArgumentError for other shapes, and for weights that do not broadcast to them.

        >>> mg.nn.BCEWithLogitsLoss(reduction="none")(mg.tensor([0.0, 2.0]), mg.tensor([1.0, 0.0]))
        tensor([0.6931, 2.1269])
        """
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(_Loss):
    """The divergence of Kullback and Leibler of targets from predictions: `target · (log target − input)` of each element, where the input has
    logarithms of probabilities; 0 where the target is 0.

    >>> loss = mg.nn.KLDivLoss(reduction="batchmean")
    >>> loss(mg.tensor([[0.5, 0.5]]).log(), mg.tensor([[0.9, 0.1]]))
    tensor(0.3681)

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element. The divergence of distributions is their sum over
    classes: "batchmean" of `[n, classes]`.

    Arguments:
        reduction: what becomes of the elements: "batchmean" for their sum divided by the size of the first axis, "mean" for their mean, "sum" for
            their sum, "none" for themselves
        log_target: whether targets are logarithms of probabilities, too
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, "mean" if reduction == "batchmean" else reduction)
        if reduction == "batchmean" and size_average is None and reduce is None:
            self.reduction = reduction
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The divergence: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: logarithms of probabilities, of any shape
            target: probabilities in the same shape, or their logarithms with `log_target`

        Errors: ArgumentError for shapes that do not broadcast.

        >>> p, q = mg.tensor([[0.5, 0.5]]), mg.tensor([[0.9, 0.1]])
        >>> mg.nn.KLDivLoss(reduction="sum", log_target=True)(p.log(), q.log())
        tensor(0.3681)
        """
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts under Poisson distributions: `exp(input) − target · input` where the input has the rates' logarithms,
    otherwise `input − target · log(input + eps)`.

    >>> mg.nn.PoissonNLLLoss()(mg.tensor([0.0, 1.0]), mg.tensor([1.0, 3.0]))
    tensor(0.3591)

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.

    Arguments:
        log_input: whether the input is the rates' logarithms
        full: whether Stirling's approximation of `log target!`, which does not depend on the input, is added where the target is above 1
        eps: what is added to rates before their logarithm is taken, without `log_input`
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            log_input: logarithms of rates, or the rates where the class was told `log_input=False`, of any shape
            target: the counts, in the same shape

        Errors: ArgumentError for shapes that do not broadcast.

        >>> mg.nn.PoissonNLLLoss(log_input=False, reduction="none")(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 2.0]))
        tensor([1.0000, 0.6137])
        """
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction)


class GaussianNLLLoss(_Loss):
    """The negative log likelihood of targets under normal distributions of mean `input` and variance `var`: `½ (log var + (input − target)² / var)`.

    >>> mg.nn.GaussianNLLLoss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]), mg.tensor([1.0, 4.0]))
    tensor(0.5966)

    Shapes: three tensors of one shape give one number; with `reduction="none"` one for each element.

    Arguments:
        full: whether `½ log 2π`, which does not depend on the input, is added
        eps: the least variance: smaller ones count as this, so that nothing is divided by 0
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: the means, of any shape
            target: what was observed, in a shape that broadcasts with the input's
            var: the variances, at least 0: in the input's shape, in that without its last axis or with one of 1, or one number for all

        Errors: ArgumentError for other shapes, and for a negative variance: of a tensor when the loss is computed.

        >>> mg.nn.GaussianNLLLoss(reduction="none")(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]), 1.0)
        tensor([0., 2.])
        """
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class HingeEmbeddingLoss(_Loss):
    """`x` where the target is 1, `max(0, margin − x)` where it is −1: for distances of pairs that are to be alike, or not.

    >>> mg.nn.HingeEmbeddingLoss()(mg.tensor([0.3, 0.3]), mg.tensor([1, -1]))
    tensor(0.5000)

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.

    Arguments:
        margin: the distance that pairs that are not alike are to have at least
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: distances, of any shape
            target: 1 or −1, in the same shape

        Errors: ArgumentError for shapes that do not broadcast.

        >>> mg.nn.HingeEmbeddingLoss(margin=2.0, reduction="none")(mg.tensor([0.5, 0.5]), mg.tensor([1, -1]))
        tensor([0.5000, 1.5000])
        """
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """`max(0, margin − target · (input1 − input2))`: what is missing for the one that is to be larger to be larger by `margin`.

    >>> mg.nn.MarginRankingLoss(margin=1.0)(mg.tensor([3.0]), mg.tensor([2.5]), mg.tensor([1.0]))
    tensor(0.5000)

    Shapes: three tensors of one shape give one number; with `reduction="none"` one for each pair.

    Arguments:
        margin: by how much the one is to be larger
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each pair.

        Arguments:
            input1: what is to be larger where the target is 1, of any shape
            input2: what is to be larger where it is −1, in the same shape
            target: 1 or −1, in the same shape

        Errors: ArgumentError for shapes that do not broadcast, and for unlike numbers of axes.

        >>> mg.nn.MarginRankingLoss(reduction="none")(mg.tensor([3.0, 3.0]), mg.tensor([2.5, 2.5]), mg.tensor([1.0, -1.0]))
        tensor([0.0000, 0.5000])
        """
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """`1 − cos` where the target is 1, `max(0, cos − margin)` where it is −1, of the cosine of the angle between two vectors.

    >>> x, y = mg.tensor([[1.0, 0.0]]), mg.tensor([[1.0, 1.0]])
    >>> mg.nn.CosineEmbeddingLoss()(x, y, mg.tensor([1]))
    tensor(0.2929)

    Shapes: two tensors `[n, size]` and a target `[n]`, or `[size]` and `[]`, give one number; with `reduction="none"` one for each pair.

    Arguments:
        margin: the cosine up to which vectors that are not to be alike cost nothing, from −1 to 1
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each pair.

        Arguments:
            input1: vectors, `[n, size]`, or `[size]`
            input2: the vectors that they are compared with, in the same shape
            target: for each pair 1, if they are to be alike, or −1: `[n]`, or `[]`

        Errors: ArgumentError for other shapes.

        >>> x, y = mg.tensor([[1.0, 0.0], [1.0, 0.0]]), mg.tensor([[1.0, 0.0], [1.0, 1.0]])
        >>> mg.nn.CosineEmbeddingLoss(margin=0.5, reduction="none")(x, y, mg.tensor([1, -1]))
        tensor([0.0000, 0.2071])
        """
        return F.cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """`max(0, ‖anchor − positive‖ₚ − ‖anchor − negative‖ₚ + margin)`: what is missing for the positive to be nearer to the anchor than the negative, by
    `margin`.

    >>> anchor, near, far = mg.tensor([[0.0]]), mg.tensor([[1.0]]), mg.tensor([[1.5]])
    >>> mg.nn.TripletMarginLoss()(anchor, near, far)
    tensor(0.5000)

    Shapes: three tensors `[n, size]`, or `[size]`, give one number; with `reduction="none"` one for each triple.

    Arguments:
        margin: by how much the positive is to be nearer, above 0
        p: the order of the norm
        eps: what is added to differences, so that there is a gradient where they are 0
        swap: whether the distance of the positive to the negative takes the place of the anchor's to the negative where it is smaller (Balntas et
            al., 2016)

    Errors: ArgumentError for a `margin` that is not above 0, ValueError for another `reduction`.
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ArgumentError(f"TripletMarginLoss: takes a margin above 0, got {margin}")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each triple.

        Arguments:
            anchor: vectors, `[n, size]`, or `[size]`
            positive: those that are to be near, in the same shape
            negative: those that are to be farther, in the same shape

        Errors: ArgumentError for shapes that do not broadcast.

        >>> anchor, near, far = mg.tensor([[0.0], [0.0]]), mg.tensor([[1.0], [1.0]]), mg.tensor([[1.5], [9.0]])
        >>> mg.nn.TripletMarginLoss(reduction="none")(anchor, near, far)
        tensor([0.5000, 0.0000])
        """
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`max(0, d(anchor, positive) − d(anchor, negative) + margin)`: `TripletMarginLoss` with a distance `d` of one's own.

    >>> loss = mg.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().amax(-1))
    >>> loss(mg.tensor([[0.0, 0.0]]), mg.tensor([[1.0, 0.0]]), mg.tensor([[1.5, 0.0]]))
    tensor(0.5000)

    Shapes: three tensors that the distance takes give one number; with `reduction="none"` one for each distance.

    Arguments:
        distance_function: a function of two tensors that answers with their distances; None: `PairwiseDistance()`, the Euclidean distance
        margin: by how much the positive is to be nearer, above 0
        swap: whether the distance of the positive to the negative takes the place of the anchor's to the negative where it is smaller

    Errors: ArgumentError for a `margin` that is not above 0, ValueError for another `reduction`.
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ArgumentError(f"TripletMarginWithDistanceLoss: takes a margin above 0, got {margin}")
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each triple.

        Arguments:
            anchor: what the distance function takes, such as vectors `[n, size]`
            positive: those that are to be near, in the same shape
            negative: those that are to be farther, in the same shape

        Errors: what the distance function raises.

        >>> anchor, near, far = mg.tensor([[0.0], [0.0]]), mg.tensor([[1.0], [1.0]]), mg.tensor([[1.5], [9.0]])
        >>> mg.nn.TripletMarginWithDistanceLoss(margin=2.0, reduction="none")(anchor, near, far)
        tensor([1.5000, 0.0000])
        """
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class SoftMarginLoss(_Loss):
    """`log(1 + exp(−target · input))`, for targets of 1 and −1.

    >>> mg.nn.SoftMarginLoss(reduction="none")(mg.tensor([2.0, 2.0]), mg.tensor([1.0, -1.0]))
    tensor([0.1269, 2.1269])

    Shapes: two tensors of one shape give one number; with `reduction="none"` one for each element.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: scores, of any shape
            target: 1 or −1, in the same shape

        Errors: ArgumentError for shapes that do not broadcast.

        >>> mg.nn.SoftMarginLoss()(mg.tensor([2.0, 2.0]), mg.tensor([1.0, -1.0]))
        tensor(1.1269)
        """
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """`Σ weight[y] · max(0, margin − input[y] + input[c])ᵖ / classes` for a label `y`, the sum being over the other classes `c`: by how much their
    scores come nearer than `margin` to the label's.

    >>> mg.nn.MultiMarginLoss()(mg.tensor([[0.1, 0.2, 0.7]]), mg.tensor([2]))
    tensor(0.3000)

    Shapes: scores `[n, classes]` and labels `[n]`, or `[classes]` and `[]`, give one number; with `reduction="none"` one for each sample.

    Arguments:
        p: the power, 1 or 2
        margin: by how much the label's score is to be above the others

    Errors: ValueError for another `p` or `reduction`.
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"takes 1 or 2 as p, got {p}")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each sample.

        Arguments:
            input: scores, `[n, classes]`, or `[classes]`
            target: labels, integers from 0 to `classes − 1`, `[n]`, or `[]`

        Errors: ArgumentError for other shapes, and for another number of weights than classes; DTypeError for labels of floats; IndexError, when the
        loss is computed, for a label that is no class.

        >>> mg.nn.MultiMarginLoss(reduction="none")(mg.tensor([[0.1, 0.2, 0.7], [2.0, 0.0, 0.0]]), mg.tensor([2, 0]))
        tensor([0.3000, 0.0000])
        """
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """`Σ max(0, 1 − input[y] + input[c]) / classes` of each sample, the sum being over its labels `y` and over the classes `c` that are none of them.

    >>> mg.nn.MultiLabelMarginLoss()(mg.tensor([[0.1, 0.2, 0.4, 0.8]]), mg.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)

    Shapes: scores and labels `[n, classes]`, or `[classes]`, give one number; with `reduction="none"` one for each sample.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each sample.

        Arguments:
            input: scores, `[n, classes]`, or `[classes]`
            target: in the same shape, the labels of each sample, integers from 0 to `classes − 1`, then −1; what stands behind the first −1 is not
                read

        Errors: ArgumentError for other shapes; DTypeError for labels of floats; IndexError, when the loss is computed, for a label that is no class.

        >>> scores, labels = mg.tensor([[0.1, 0.2, 0.4, 0.8]]), mg.tensor([[3, 0, -1, -1]])
        >>> mg.nn.MultiLabelMarginLoss(reduction="none")(scores, labels)
        tensor([0.8500])
        """
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of `−weight · (target · log σ(input) + (1 − target) · log(1 − σ(input)))`: for samples that are of several classes at once.

    >>> mg.nn.MultiLabelSoftMarginLoss()(mg.tensor([[3.0, -3.0]]), mg.tensor([[1.0, 0.0]]))
    tensor(0.0486)

    Shapes: scores and targets `[n, classes]`, or `[classes]`, give one number; with `reduction="none"` one for each sample.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each sample.

        Arguments:
            input: scores, `[n, classes]`, or `[classes]`
            target: for each class 1, if the sample is of it, or 0, in the same shape

        Errors: ArgumentError for shapes that do not broadcast.

        >>> mg.nn.MultiLabelSoftMarginLoss(reduction="none")(mg.tensor([[3.0, -3.0], [0.0, 0.0]]), mg.tensor([[1.0, 0.0], [1.0, 0.0]]))
        tensor([0.0486, 0.6931])
        """
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class CTCLoss(_Loss):
    """The negative logarithm of the probability of labels whose places in a sequence are not known: the sum over all lines of classes, one for each
    step, that leave the labels where repeats are joined and blanks then taken away (Graves et al., 2006).

    >>> log_probs = mg.zeros(4, 1, 3).log_softmax(2)
    >>> mg.nn.CTCLoss()(log_probs, mg.tensor([[1, 2]]), [4], [2])
    tensor(0.8432)

    Shapes: `[steps, n, classes]` with labels `[n, longest]` or `[all]` and two lengths `[n]`, or `[steps, classes]` with labels `[longest]` and two
    numbers, gives one number; with `reduction="none"` one for each sample.

    Arguments:
        blank: the class that stands for no label
        reduction: what becomes of the losses: "mean" for the mean of each divided by its number of labels, "sum" for their sum, "none" for themselves
        zero_infinity: whether the loss of labels that do not fit into their steps, which is infinite, counts as 0 and has no gradient
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each sample.

        Arguments:
            log_probs: logarithms of probabilities, floats `[steps, n, classes]`, or `[steps, classes]` of a single sample
            targets: the labels, integers other than `blank`: `[n, longest]`, or one line after the other in one axis
            input_lengths: how many steps of each sample count, integers `[n]`; a number for a single sample
            target_lengths: how many labels of each line count, integers `[n]`; a number for a single sample

        Errors: ArgumentError for a `blank` that is no class, and for another number of lengths than samples; DTypeError for labels of floats;
        IndexError, when the loss is computed, for a label that is no class and for lengths beyond what there is.

        >>> log_probs = mg.zeros(4, 2, 3).log_softmax(2)
        >>> mg.nn.CTCLoss(reduction="none")(log_probs, mg.tensor([1, 2, 1]), mg.tensor([4, 4]), mg.tensor([2, 1]))
        tensor([1.6864, 2.0919])
        """
        lengths = (input_lengths, target_lengths)
        return F.ctc_loss(log_probs, targets, *lengths, self.blank, self.reduction, self.zero_infinity)


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, by the name that it had for images.

    >>> mg.nn.NLLLoss2d()(mg.zeros(1, 2, 3, 3).log_softmax(1), mg.zeros(1, 3, 3).long())
    tensor(0.6931)
    """
