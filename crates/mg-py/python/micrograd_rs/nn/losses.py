"""Losses: how far outputs are from what they should be."""

from __future__ import annotations

from .. import functional as F
from .._micrograd_rs import Tensor
from .module import Module


class _Loss(Module):
    def __init__(self, *, reduction: str = "mean") -> None:
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f'a reduction is "mean", "sum" or "none", got {reduction!r}')
        self.reduction = reduction


class CrossEntropyLoss(_Loss):
    """The cross entropy of logits `[n, classes]` (or `[classes]`, `[n, classes, …]`) and integer labels or probabilities.

    `weight` has a number for each class, samples with the label `ignore_index` do not count, and `label_smoothing` is the
    part of each target that is spread evenly over all classes.
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_Loss):
    """The negative log likelihood of integer labels `[n]` under log probabilities `[n, classes]`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared differences."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """The cross entropy of logits and probabilities of the same shape."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(input, target, reduction=self.reduction)
