"""Functions that PyTorch has at its top beside `nn.functional`'s, whose arguments come in another order there, and a few of what are
methods else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _nn_ops as _nn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._micrograd_rs import Tensor


def detach(input: Tensor) -> Tensor:
    """As the method."""
    return input.detach()


def detach_(input: Tensor) -> Tensor:
    """As the method."""
    return input.detach_()


def fill(input: Tensor, value: float | Tensor) -> Tensor:
    """A tensor of the same shape and dtype with one number everywhere."""
    return input.clone().fill_(value)


def fill_(input: Tensor, value: float | Tensor) -> Tensor:
    """As the method."""
    return input.fill_(value)


def zero_(input: Tensor) -> Tensor:
    """As the method."""
    return input.zero_()


def is_complex(input: Tensor) -> bool:
    """As the method."""
    return input.is_complex()


def is_conj(input: Tensor) -> bool:
    """As the method."""
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """As the method."""
    return input.is_neg()


def is_inference(input: Tensor) -> bool:
    """As the method."""
    return input.is_inference()


def is_nonzero(input: Tensor) -> bool:
    """As the method."""
    return input.is_nonzero()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """As the method."""
    return input.is_same_size(other)


def is_signed(input: Tensor) -> bool:
    """As the method."""
    return input.is_signed()


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.dropout`."""
    return _nn.dropout(input, p, train)


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """`nn.functional.embedding`, with the table first."""
    if scale_grad_by_freq:
        raise ValueError("gradients are not divided by how often a row is read")
    return _nn.embedding(indices, weight, None if padding_idx == -1 else padding_idx)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`nn.functional.batch_norm`, with the parameters first."""
    return _nn.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`nn.functional.instance_norm`, with the parameters first."""
    return _nn.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def _reduction(number: int) -> str:
    names = ("none", "mean", "sum")
    if not 0 <= number < 3:
        raise ValueError(f"a reduction is 0 (none), 1 (mean) or 2 (sum), got {number}")
    return names[number]


def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """`nn.functional.kl_div`, with the reduction as a number: 0 none, 1 mean, 2 sum."""
    return _nn.kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """`nn.functional.poisson_nll_loss`, with the reduction as a number: 0 none, 1 mean, 2 sum."""
    return _nn.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]:
    """`nn.functional.adaptive_max_pool1d`, with the positions of the largest."""
    size = [output_size] if isinstance(output_size, int) else list(output_size)
    values, indices = _nn.adaptive_max_pool1d(input, size, True)
    return values, indices


def binomial(count: Tensor, prob: Tensor, generator: None = None) -> Tensor:
    """How many of `count` trials of probability `prob` succeed, random numbers in `count`'s dtype."""
    from .distributions import Binomial

    return Binomial(count, prob, validate_args=False).sample().to(count.dtype)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `chunk`."""
    return tuple(input.chunk(chunks, dim))


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `split`."""
    return tuple(input.split(split_size, dim))


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """As `split_with_sizes`."""
    return tuple(input.split(list(split_sizes), dim))


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """As `narrow`, in memory of its own."""
    return input.narrow(dim, start, length).clone()


def to_dlpack(tensor: Tensor) -> object:
    """The tensor's memory in the form in which libraries give it to each other."""
    return tensor.__dlpack__()
