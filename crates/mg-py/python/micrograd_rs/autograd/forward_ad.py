"""Derivatives in directions, as `torch.autograd.forward_ad` has them: tensors that carry a direction, and what functions of them carry.

>>> import micrograd_rs as mg
>>> from micrograd_rs.autograd import forward_ad
>>> with forward_ad.dual_level():
...     x = forward_ad.make_dual(mg.tensor([2.0, 3.0]), mg.tensor([1.0, 0.0]))
...     forward_ad.unpack_dual((x * x).sum()).tangent.item()
4.0

The direction is asked for when a result is unpacked: it is computed of what was recorded since `make_dual`. So nothing of that may be under `no_grad()`, all
of it requires a gradient until it is unpacked (the `primal` does so where something outside does), and the direction is that which was given: what is written to it later is not seen. `func.jvp` is the same for a function.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .._micrograd_rs import ArgumentError, Tensor, _Level, is_grad_enabled, zeros_like
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

__getattr__ = _Lazy(__name__)


class UnpackedDualTensor(NamedTuple):
    """A value, and the direction that it carries, of its shape; None where it depends on nothing that carries one.

    Arguments:
        primal: the value
        tangent: the direction

    See `unpack_dual`.
    """

    primal: Tensor
    tangent: Tensor | None


class _Dual(NamedTuple):
    """A tensor that carries a direction, and what it was made of."""

    tensor: Tensor
    #: What it was computed by: another one once it was written to.
    made_by: Any
    primal: Tensor
    tangent: Tensor
    #: What it stands for, whatever is written to it.
    level: _Level
    #: The direction, as it was given.
    direction: Tensor


#: For each level the tensors that carry a direction.
_levels: list[list[_Dual]] = []


def enter_dual_level() -> int:
    """Begins a level, and answers with its number. RuntimeError within another one.

    >>> mg.autograd.forward_ad.enter_dual_level()
    0
    >>> mg.autograd.forward_ad.exit_dual_level()
    """
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment: func.jvp of func.jvp is")
    _levels.append([])
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends it: nothing carries a direction any more. RuntimeError where none has begun.

    Arguments:
        level: the level, which is 0

    See `enter_dual_level`.
    """
    if not _levels or level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created")
    _levels.pop()


@contextmanager
def dual_level() -> Generator[int]:
    """A block in which tensors carry directions.

    >>> with mg.autograd.forward_ad.dual_level():
    ...     x = mg.autograd.forward_ad.make_dual(mg.tensor([3.0]), mg.tensor([1.0]))
    ...     print(mg.autograd.forward_ad.unpack_dual(x * x).tangent)
    tensor([6.])
    """
    number = enter_dual_level()
    try:
        yield number
    finally:
        exit_dual_level(level=number)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor that carries a direction: the values of `tensor`, of floats, with a `tangent` of its shape and dtype. It may be written to: its values are
    memory of its own.

    RuntimeError outside of a level, ValueError for other shapes, dtypes, or under `no_grad()`.

    See `dual_level`.
    """
    if not _levels:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    if not tensor.is_floating_point() or tangent.dtype != tensor.dtype:
        raise ArgumentError(f"make_dual: takes floats and a tangent of their dtype, got {tensor.dtype} and {tangent.dtype}")
    if tangent.shape != tensor.shape:
        raise ArgumentError(f"make_dual: takes a tangent of the tensor's shape, got {tuple(tangent.shape)} and {tuple(tensor.shape)}")
    if not is_grad_enabled():
        raise ArgumentError("make_dual: directions are computed of what is recorded, which nothing is under no_grad()")
    level_of = _Level("make_dual", [tensor])
    level_of.outside()
    (dual,) = level_of.inputs()
    _levels[-1].append(_Dual(dual, dual.grad_fn, tensor, tangent, level_of, tangent.clone()))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A value and the direction that it carries. RuntimeError outside of a level.

    Arguments:
        tensor: the tensor
        level: the level, which is 0

    >>> with mg.autograd.forward_ad.dual_level():
    ...     x = mg.autograd.forward_ad.make_dual(mg.tensor([3.0]), mg.tensor([1.0]))
    ...     primal, tangent = mg.autograd.forward_ad.unpack_dual(x.sin())
    ...     print(primal, tangent)
    tensor([0.1411]) tensor([-0.9900])
    """
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    duals = _levels[-1]
    for dual in duals:
        if tensor is dual.tensor and tensor.grad_fn == dual.made_by:
            return UnpackedDualTensor(dual.primal, dual.tangent)
        if tensor is dual.tensor and not tensor.requires_grad:
            # A constant was written to it.
            return UnpackedDualTensor(tensor, zeros_like(tensor))
    if not duals or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    joined = _Level.joined([dual.level for dual in duals])
    found = joined.tangents([tensor], [dual.direction for dual in duals], False)
    # What was recorded for the direction alone is no history of the value.
    return UnpackedDualTensor(joined.results([tensor])[0], found[0])
