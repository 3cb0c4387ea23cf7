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
    """The cross entropy of logits `[n, classes]` and integer labels `[n]`, in nats."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(input, target, reduction=self.reduction)


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
