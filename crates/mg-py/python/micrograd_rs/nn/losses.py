"""Losses: how far outputs are from what they should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import functional as F
from .._micrograd_rs import ArgumentError, Tensor, _old_reduction
from .layers import PairwiseDistance
from .module import Module


class _Loss(Module):
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        reduction = _old_reduction(size_average, reduce) or reduction
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f'a reduction is "mean", "sum" or "none", got {reduction!r}')
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss whose elements, or classes, count with weights."""

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


class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy of logits `[n, classes]` (or `[classes]`, `[n, classes, …]`) and integer labels `[n]` (or `[]`, `[n, …]`), or
    probabilities of the logits' shape.

    `weight` has a number for each class, samples with the label `ignore_index` do not count, and
    `label_smoothing` is the part of each target that is spread evenly over all classes. `reduction` is "mean", "sum" or "none".

    >>> import micrograd_rs as mg
    >>> loss = mg.nn.CrossEntropyLoss()
    >>> round(loss(mg.tensor([[0.0, 0.0], [9.0, 0.0]]), mg.tensor([1, 0])).item(), 3)
    0.347

    IndexError for a label that is no class, ValueError for other shapes.

    Arguments:
        weight: a number for each class, or None
        size_average, reduce: older ways to say `reduction`
        ignore_index: samples with this label do not count
        reduction: what becomes of the losses: "mean", "sum" or "none"
        label_smoothing: how much of the target is shared by all classes, from 0 to 1
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
        """The loss: one number, or with `reduction="none"` one for each label.

        Arguments:
            input: scores, `[n, classes]`, `[classes]`, or `[n, classes, …]`
            target: integer labels, in the same shape without the classes, or probabilities of the classes, in the same shape

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
    """The negative log likelihood of integer labels under log probabilities `[n, classes]` (or `[classes]`, `[n,
    classes, …]`).

    `weight` has a number for each class, samples with the label `ignore_index` do not count.

    Arguments:
        weight: a number for each class, or None
        size_average, reduce: older ways to say `reduction`
        ignore_index: samples with this label do not count
        reduction: "mean", "sum" or "none"

    Errors: IndexError for a label that is no class; ValueError for another reduction.

    >>> log_probs = mg.tensor([[0.5, 0.5], [0.1, 0.9]]).log()
    >>> mg.nn.NLLLoss()(log_probs, mg.tensor([0, 1]))
    tensor(0.3993)
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
        """The loss: one number, or with `reduction="none"` one for each label.

        Arguments:
            input: logarithms of probabilities, `[n, classes]`, `[classes]`, or `[n, classes, …]`
            target: integer labels, in the same shape without the classes
        """
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared differences of two tensors of one shape: their mean, or with `reduction` "sum" or "none" their sum or themselves.

    >>> import micrograd_rs as mg
    >>> mg.nn.MSELoss()(mg.tensor([1.0, 2.0]), mg.tensor([0.0, 4.0])).item()
    2.5

    Arguments:
        size_average, reduce: older ways to say `reduction`
        reduction: what becomes of the squares: "mean", "sum" or "none"
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: what was predicted, of any shape
            target: what it should be, in the same shape
        """
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """Magnitudes of differences.

    Arguments:
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    Errors: ArgumentError for shapes that do not broadcast; ValueError for another reduction.

    >>> mg.nn.L1Loss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: what was predicted, of any shape
            target: what it should be, in the same shape
        """
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Differences `d` below `beta` as `½d²/beta`, others as `d − ½beta`.

    Arguments:
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"
        beta: up to which difference the loss is a square

    Errors: ArgumentError for shapes that do not broadcast; ValueError for another reduction.

    >>> mg.nn.SmoothL1Loss(reduction="none")(mg.tensor([0.0, 0.0]), mg.tensor([0.5, 4.0]))
    tensor([0.1250, 3.5000])
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
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: what was predicted, of any shape
            target: what it should be, in the same shape
        """
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Differences `d` below `delta` as `½d²`, others as `delta (d − ½delta)`.

    Arguments:
        reduction: "mean", "sum" or "none"
        delta: where differences begin to count linearly

    Errors: ArgumentError for shapes that do not broadcast; ValueError for another reduction.

    >>> mg.nn.HuberLoss(delta=2.0)(mg.tensor([0.0, 0.0]), mg.tensor([0.5, 4.0]))
    tensor(3.0625)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: what was predicted, of any shape
            target: what it should be, in the same shape
        """
        return F.huber_loss(input, target, self.reduction, self.delta)


class BCELoss(_WeightedLoss):
    """The cross entropy of probabilities and targets of the same shape; `weight` broadcasts to it.

    Arguments:
        weight: what each element counts
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> mg.nn.BCELoss()(mg.tensor([0.9, 0.2]), mg.tensor([1.0, 0.0]))
    tensor(0.1643)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: probabilities, of any shape
            target: what they should be, from 0 to 1, in the same shape
        """
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """The cross entropy of logits and probabilities of the same shape; `weight` and `pos_weight` broadcast to it.

    Arguments:
        weight: what each element counts
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"
        pos_weight: what the terms of targets of 1 are multiplied by

    >>> mg.nn.BCEWithLogitsLoss(pos_weight=mg.tensor(2.0))(mg.tensor([2.0, -1.0]), mg.tensor([1.0, 0.0]))
    tensor(0.2836)
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
        """
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(_Loss):
    """The divergence of Kullback and Leibler of targets from log probabilities; the reduction may be "batchmean".

    Arguments:
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "batchmean" (which divides by the size of the first axis), "sum" or "none"
        log_target: whether targets are logarithms, too

    >>> loss = mg.nn.KLDivLoss(reduction="batchmean")
    >>> loss(mg.tensor([[0.5, 0.5]]).log(), mg.tensor([[0.9, 0.1]]))
    tensor(0.3681)
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
        """
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts under Poisson distributions.

    Arguments:
        log_input: whether the input is the rates' logarithms
        full: whether Stirling's approximation of what does not depend on the input is added
        size_average, reduce: older ways to say `reduction`
        eps: what is added to rates before their logarithm is taken
        reduction: "mean", "sum" or "none"

    >>> mg.nn.PoissonNLLLoss()(mg.tensor([0.0, 1.0]), mg.tensor([1.0, 3.0]))
    tensor(0.3591)
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
        """
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction)


class GaussianNLLLoss(_Loss):
    """The negative log likelihood of targets under normal distributions of mean `input` and variance `var`.

    Arguments:
        full: whether ½ log 2π is added
        eps: what variances are at least taken for
        reduction: "mean", "sum" or "none"

    >>> mg.nn.GaussianNLLLoss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]), mg.tensor([1.0, 4.0]))
    tensor(0.5966)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: the means, of any shape
            target: what was observed, in a shape that broadcasts
            var: the variances: in the same shape, without its last axis or with one of 1, or one number
        """
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class HingeEmbeddingLoss(_Loss):
    """`x` where the target is 1, and what `x` is below `margin` where it is −1.

    Arguments:
        margin: the margin
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> mg.nn.HingeEmbeddingLoss()(mg.tensor([0.3, 0.3]), mg.tensor([1, -1]))
    tensor(0.5000)
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
        """
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """How much is missing for `target · (input1 − input2)` to be `margin`.

    Arguments:
        margin: the margin
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> mg.nn.MarginRankingLoss(margin=1.0)(mg.tensor([3.0]), mg.tensor([2.5]), mg.tensor([1.0]))
    tensor(0.5000)
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
        """
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """`1 − cos` where the target is 1, and what the cosine is above `margin` where it is −1.

    Arguments:
        margin: the margin
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> x, y = mg.tensor([[1.0, 0.0]]), mg.tensor([[1.0, 1.0]])
    >>> mg.nn.CosineEmbeddingLoss()(x, y, mg.tensor([1]))
    tensor(0.2929)
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
            input2: as many others
            target: for each pair 1, if they are to be alike, or −1, `[n]`
        """
        return F.cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """How much nearer than `margin` beyond the distance to the positive the negative is.

    Arguments:
        margin: how much nearer the positive has to be
        p: the order of the norm
        eps: what is added to differences
        swap: whether the distance of the positive to the negative is taken where it is smaller
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> anchor, near, far = mg.tensor([[0.0]]), mg.tensor([[1.0]]), mg.tensor([[1.5]])
    >>> mg.nn.TripletMarginLoss()(anchor, near, far)
    tensor(0.5000)
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
        """
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a distance of one's own.

    Arguments:
        distance_function: of two tensors; by itself the Euclidean distance
        margin: how much nearer the positive has to be
        swap: whether the distance of the positive to the negative is taken where it is smaller
        reduction: "mean", "sum" or "none"

    >>> loss = mg.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().amax(-1))
    >>> loss(mg.tensor([[0.0, 0.0]]), mg.tensor([[1.0, 0.0]]), mg.tensor([[1.5, 0.0]]))
    tensor(0.5000)
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
            anchor: what the distance function takes
            positive: those that are to be near, in the same shape
            negative: those that are to be farther, in the same shape
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
    """`log(1 + exp(−y x))`.

    Arguments:
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> mg.nn.SoftMarginLoss(reduction="none")(mg.tensor([2.0, 2.0]), mg.tensor([1.0, -1.0]))
    tensor([0.1269, 2.1269])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each element.

        Arguments:
            input: scores, of any shape
            target: 1 or −1, in the same shape
        """
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """What other scores are above a label's less `margin`, to the power `p` and times the label's `weight`.

    Arguments:
        p: the power of what is beyond the margin, 1 or 2
        margin: the margin
        weight: a number for each class, or None
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> mg.nn.MultiMarginLoss()(mg.tensor([[0.1, 0.2, 0.7]]), mg.tensor([2]))
    tensor(0.3000)
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
            target: integer labels, `[n]`, or one
        """
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """What classes that are none of a row's labels are above those labels less 1; rows of labels end at the first
    −1.

    Arguments:
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> mg.nn.MultiLabelMarginLoss()(mg.tensor([[0.1, 0.2, 0.4, 0.8]]), mg.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each sample.

        Arguments:
            input: scores, `[n, classes]`, or `[classes]`
            target: the labels of each sample, and −1 behind the last one, in the same shape
        """
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of the cross entropies of logits and targets.

    Arguments:
        weight: what each class counts
        size_average, reduce: older ways to say `reduction`
        reduction: "mean", "sum" or "none"

    >>> mg.nn.MultiLabelSoftMarginLoss()(mg.tensor([[3.0, -3.0]]), mg.tensor([[1.0, 0.0]]))
    tensor(0.0486)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss: one number, or with `reduction="none"` one for each sample.

        Arguments:
            input: scores, `[n, classes]`
            target: 0 or 1 for each class, in the same shape
        """
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class CTCLoss(_Loss):
    """The negative logarithm of the probability of lines of labels that come out where repeats and blanks are taken away: Graves et al.,
    2006. Of log probabilities `[t, n, classes]`; see `ctc_loss`.

    Arguments:
        blank: the class that stands for no label
        reduction: "mean", "sum" or "none"
        zero_infinity: whether what is infinite counts as 0, and has no gradient

    >>> log_probs = mg.zeros(4, 1, 3).log_softmax(2)
    >>> mg.nn.CTCLoss()(log_probs, mg.tensor([[1, 2]]), [4], [2])
    tensor(0.8432)
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
            log_probs: logarithms of probabilities, `[steps, n, classes]`, or `[steps, classes]` of a single sample
            targets: the labels, `[n, longest]`, or one line after the other in one axis
            input_lengths: how many steps of each sample count, `[n]`
            target_lengths: how many labels of each line count, `[n]`
        """
        lengths = (input_lengths, target_lengths)
        return F.ctc_loss(log_probs, targets, *lengths, self.blank, self.reduction, self.zero_infinity)


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, by the name that it had for images.

    Arguments:
        weight: a number for each class
        size_average, reduce: older ways to say `reduction`
        ignore_index: samples with this label do not count
        reduction: "mean", "sum" or "none"

    See `NLLLoss`.
    """
