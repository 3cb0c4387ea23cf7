"""Derivatives in directions, as `torch.autograd.forward_ad` has them: tensors that carry a direction, and what functions of them carry.

>>> import micrograd_rs as mg
>>> from micrograd_rs.autograd import forward_ad
>>> with forward_ad.dual_level():
...     x = forward_ad.make_dual(mg.tensor([2.0, 3.0]), mg.tensor([1.0, 0.0]))
...     forward_ad.unpack_dual((x * x).sum()).tangent.item()
4.0

The direction is asked for when a result is unpacked: it is computed of the recorded gradient, whose own gradient by what it is multiplied with it is
(two passes backwards for one forwards; Pearlmutter's and Schraudolph's trick). So what is between `make_dual` and `unpack_dual` has to be recorded, not
under `no_grad()`. `func.jvp` is the same for a function.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .._micrograd_rs import ArgumentError, Tensor, grad, is_grad_enabled, zeros_like
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

__getattr__ = _Lazy(__name__)


class UnpackedDualTensor(NamedTuple):
    """A value, and the direction that it carries, of its shape; None where it depends on nothing that carries one."""

    primal: Tensor
    tangent: Tensor | None


class _Level:
    """The tensors that carry a direction, what they are of, and the directions."""

    def __init__(self) -> None:
        self.duals: list[Tensor] = []
        self.primals: list[Tensor] = []
        self.tangents: list[Tensor] = []


_levels: list[_Level] = []


def enter_dual_level() -> int:
    """Begins a level, and answers with its number. RuntimeError within another one."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment: func.jvp of func.jvp is")
    _levels.append(_Level())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends it: nothing carries a direction any more. RuntimeError where none has begun."""
    if not _levels or level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created")
    _levels.pop()


@contextmanager
def dual_level() -> Generator[int]:
    """A block in which tensors carry directions."""
    number = enter_dual_level()
    try:
        yield number
    finally:
        exit_dual_level(level=number)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor that carries a direction: an alias of `tensor`, of floats, with a `tangent` of its shape and dtype.

    RuntimeError outside of a level, ValueError for other shapes, dtypes, or under `no_grad()`.
    """
    if not _levels:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    if not tensor.is_floating_point() or tangent.dtype != tensor.dtype:
        raise ArgumentError(f"make_dual: takes floats and a tangent of their dtype, got {tensor.dtype} and {tangent.dtype}")
    if tangent.shape != tensor.shape:
        raise ArgumentError(f"make_dual: takes a tangent of the tensor's shape, got {tuple(tangent.shape)} and {tuple(tensor.shape)}")
    if not is_grad_enabled():
        raise ArgumentError("make_dual: directions are computed of what is recorded, which nothing is under no_grad()")
    base = tensor if tensor.requires_grad else tensor.detach().requires_grad_()
    dual = base.view_as(base)
    known = _levels[-1]
    known.duals.append(dual)
    known.primals.append(tensor)
    known.tangents.append(tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A value and the direction that it carries. RuntimeError outside of a level."""
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    known = _levels[-1]
    for dual, primal, tangent in zip(known.duals, known.primals, known.tangents, strict=True):
        if tensor is dual:
            return UnpackedDualTensor(primal, tangent)
    if not known.duals or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    # The gradient is linear in what it is multiplied with: its own gradient by that is the map itself.
    weight = zeros_like(tensor.detach()).requires_grad_()
    back = grad(tensor, known.duals, weight, create_graph=True, allow_unused=True)
    pairs = [(g, t) for g, t in zip(back, known.tangents, strict=True) if g is not None]
    if not pairs:
        return UnpackedDualTensor(tensor, None)
    linear = [(g, t) for g, t in pairs if g.requires_grad]
    if not linear:
        return UnpackedDualTensor(tensor, zeros_like(tensor.detach()))
    (tangent,) = grad([g for g, _ in linear], [weight], [t for _, t in linear], create_graph=is_grad_enabled(), allow_unused=True)
    return UnpackedDualTensor(tensor, zeros_like(tensor.detach()) if tangent is None else tangent)
