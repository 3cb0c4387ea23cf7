"""First values of parameters. Each function changes a tensor in place and answers with it; what is drawn comes of `generator`, or of the default
one.
"""

from __future__ import annotations

import math

from .. import _micrograd_rs as _rs
from .._micrograd_rs import Generator, Tensor, calculate_gain, constant_, dirac_, eye_, ones_, zeros_
from .._names import Lazy as _Lazy
from .._ops import randperm as _randperm
from ..autograd import no_grad as _no_grad
from ..linalg import qr as _qr

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output has, and outputs an input: of `[out, in, *kernel]`, without its groups. ValueError below two axes."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Evenly from `a` to `b`."""
    if generator is None:
        return _rs.uniform_(tensor, a, b)
    with _no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers."""
    if generator is None:
        return _rs.normal_(tensor, mean, std)
    with _no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Generator | None = None
) -> Tensor:
    """Normal numbers of those that lie from `a` to `b`."""
    if generator is None:
        return _rs.trunc_normal_(tensor, mean, std, a, b)
    low, high = (math.erf((end - mean) / std / math.sqrt(2)) for end in (a, b))
    with _no_grad():
        # What is evenly distributed between the ends' probabilities, undone.
        return tensor.uniform_(low, high, generator=generator).erfinv_().mul_(std * math.sqrt(2)).add_(mean).clamp_(a, b)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Evenly within `gain · √(6 / (inputs + outputs))` of 0 (Glorot and Bengio, 2010)."""
    if generator is None:
        return _rs.xavier_uniform_(tensor, gain)
    bound = gain * math.sqrt(6 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers of the deviation `gain · √(2 / (inputs + outputs))` (Glorot and Bengio, 2010)."""
    if generator is None:
        return _rs.xavier_normal_(tensor, gain)
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Evenly within `gain · √(3 / fan)` of 0, of as many inputs (or outputs, with "fan_out") and the gain of what follows (He et al., 2015)."""
    if generator is None:
        return _rs.kaiming_uniform_(tensor, a, mode, nonlinearity)
    bound = math.sqrt(3 / _calculate_correct_fan(tensor, mode)) * calculate_gain(nonlinearity, a)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Normal numbers of the deviation `gain / √fan` (see `kaiming_uniform_`)."""
    if generator is None:
        return _rs.kaiming_normal_(tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode)), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Rows, or columns where these are fewer, at right angles to each other, of the length `gain` (Saxe et al., 2013)."""
    if generator is None:
        return _rs.orthogonal_(tensor, gain)
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    with _no_grad():
        rows = tensor.shape[0]
        columns = tensor.numel() // rows if rows else 0
        drawn = tensor.new_empty(rows, columns).normal_(generator=generator)
        q, r = _qr(drawn.T if rows < columns else drawn)
        # Of the signs of r's diagonal, so that all directions are equally likely.
        q = q * r.diagonal().sign()
        return tensor.copy_((q.T if rows < columns else q).reshape(tensor.shape) * gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal numbers, of which a share of each column is 0 (Martens, 2010). ValueError for what has not two axes."""
    if generator is None:
        return _rs.sparse_(tensor, sparsity, std)
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with _no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[_randperm(rows, generator=generator)[:zeros].to(tensor.device), column] = 0
    return tensor


# By the names that they had.
constant = constant_
dirac = dirac_
eye = eye_
kaiming_normal = kaiming_normal_
kaiming_uniform = kaiming_uniform_
normal = normal_
orthogonal = orthogonal_
sparse = sparse_
uniform = uniform_
xavier_normal = xavier_normal_
xavier_uniform = xavier_uniform_

__getattr__ = _Lazy(__name__)
