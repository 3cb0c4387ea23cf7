"""Losses, with the reduction as a number."""

from __future__ import annotations

from typing import Any

from .. import _nn_ops as _nn
from .._micrograd_rs import Tensor


def _reduction(number: int | str) -> str:
    names = ("none", "mean", "sum")
    if isinstance(number, str):
        return number
    if not 0 <= number < 3:
        raise ValueError(f"a reduction is 0 (none), 1 (mean) or 2 (sum), got {number}")
    return names[number]


def kl_div(input: Tensor, target: Tensor, reduction: int | str = 0, *, log_target: bool = False) -> Tensor:
    """`nn.functional.kl_div`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input: the logarithms of what was predicted, of any shape
        target: the probabilities, of a shape that broadcasts with that of `input`
        reduction: what the divergences become: 0 leaves them, 1 is their mean, 2 their sum; or the word
        log_target: whether `target` has logarithms

    See `nn.functional.kl_div`.
    """
    return _nn.kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int | str) -> Tensor:
    """`nn.functional.poisson_nll_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input: the rates' logarithms, or with `log_input` false the rates, of any shape
        target: the counts that were seen, of a shape that broadcasts with that of `input`
        log_input: whether `input` has the rates' logarithms
        full: whether Stirling's approximation of the logarithm of the target's factorial is added
        eps: what is added to a rate before its logarithm is taken
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.poisson_nll_loss`.
    """
    return _nn.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int | str = 0
) -> Tensor:
    """`nn.functional.binary_cross_entropy_with_logits`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input: the logits, floats of any shape
        target: the probabilities, or 0 and 1, floats in the shape of `input`
        weight: what losses are multiplied by, of a shape that broadcasts to that of `input`; None multiplies by nothing
        pos_weight: what the terms of targets of 1 are multiplied by, of a shape that broadcasts to that of `input`; None multiplies by nothing
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.binary_cross_entropy_with_logits`.
    """
    return _nn.binary_cross_entropy_with_logits(input, target, weight, reduction=_reduction(reduction), pos_weight=pos_weight)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int | str = 0) -> Tensor:
    """`nn.functional.hinge_embedding_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input: distances, of any shape
        target: 1 where two are alike, −1 where they are not, of a shape that broadcasts with that of `input`
        margin: up to which distance those count that are not alike
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.hinge_embedding_loss`.
    """
    return _nn.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int | str = 0) -> Tensor:
    """`nn.functional.margin_ranking_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input1: what is to be larger where the target is 1, of any shape
        input2: what is to be larger where the target is −1, of a shape that broadcasts with that of `input1`
        target: 1 or −1
        margin: by how much it is to be larger
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.margin_ranking_loss`.
    """
    return _nn.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int | str = 0) -> Tensor:
    """`nn.functional.cosine_embedding_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        input1: vectors, `[n, size]` or `[size]`
        input2: as many others
        target: 1 where they are to be alike, −1 where they are not, `[n]` or `[]`
        margin: up to which cosine those of −1 do not count
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.cosine_embedding_loss`.
    """
    return _nn.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int | str = 0,
) -> Tensor:
    """`nn.functional.triplet_margin_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        anchor: what distances are taken from, `[…, size]`
        positive: what is to be near, of a shape that broadcasts with that of `anchor`
        negative: what is to be farther, of a shape that broadcasts with that of `anchor`
        margin: by how much farther
        p: of which norm distances are
        eps: what is added to differences
        swap: whether the distance of `positive` to `negative` is taken where it is smaller
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word

    See `nn.functional.triplet_margin_loss`.
    """
    return _nn.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int | str = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """`nn.functional.ctc_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum.

    Arguments:
        log_probs: logarithms of probabilities, `[t, n, classes]` or `[t, classes]`
        targets: the labels, integers, `[n, s]`, or one line after the other in one axis
        input_lengths: how many steps of each sample count, `[n]`
        target_lengths: how many labels of each line count, `[n]`
        blank: the class that stands for none
        reduction: what the losses become: 0 leaves them, 1 is their mean, 2 their sum; or the word
        zero_infinity: whether the loss of what is impossible is 0, and not infinite

    See `nn.functional.ctc_loss`.
    """
    return _nn.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity)
