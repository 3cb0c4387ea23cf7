"""Hooks that are told of the gradients of a module: those of its result as they come, and those of its arguments as they go."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from .. import _tree
from .._micrograd_rs import Tensor, is_grad_enabled
from ..autograd.function import Function

if TYPE_CHECKING:
    from ._hooks import Hook
    from .module import Module

Gradients = tuple[Tensor | None, ...]


class _Passed(Function):
    """Tensors as they are, whose gradients somebody is told of, and may change."""

    @staticmethod
    def forward(ctx: Any, told: Callable[[Gradients], Gradients], *tensors: Tensor) -> Any:
        ctx.told = told
        ctx.set_materialize_grads(False)
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, *ctx.told(gradients)


class Around:
    """One call of a module with such hooks."""

    def __init__(self, module: Module, before: list[Hook], after: list[Hook]) -> None:
        self.module, self.before, self.after = module, before, after
        self.arrived: Gradients = ()
        self.arguments = 0
        self.at: list[int] = []
        self.is_told_of_arguments = False

    def inside(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments that the module is called with."""
        self.arguments = len(args)
        self.at = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        if not is_grad_enabled() or not any(args[i].requires_grad for i in self.at):
            return args
        self.is_told_of_arguments = True
        given = list(args)
        for i, t in zip(self.at, _Passed.apply(self._leave, *(args[i] for i in self.at)), strict=True):
            given[i] = t
        return tuple(given)

    def outside(self, answer: Any) -> Any:
        """The result as the caller has it."""
        leaves, spec = _tree.flatten(answer)
        at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        if not is_grad_enabled() or not any(leaves[i].requires_grad for i in at):
            return answer
        for i, t in zip(at, _Passed.apply(self._arrive, *(leaves[i] for i in at)), strict=True):
            leaves[i] = t
        return _tree.unflatten(leaves, spec)

    def _arrive(self, gradients: Gradients) -> Gradients:
        for hook in self.before:
            gradients = _changed(hook.call(self.module, gradients), gradients)
        self.arrived = gradients
        if not self.is_told_of_arguments:
            self._tell((None,) * self.arguments)
        return gradients

    def _leave(self, gradients: Gradients) -> Gradients:
        all_of: list[Tensor | None] = [None] * self.arguments
        for i, g in zip(self.at, gradients, strict=True):
            all_of[i] = g
        told = self._tell(tuple(all_of))
        return tuple(told[i] for i in self.at)

    def _tell(self, gradients: Gradients) -> Gradients:
        for hook in self.after:
            gradients = _changed(hook.call(self.module, gradients, self.arrived), gradients)
        self.arrived = ()
        return gradients


def _changed(said: Any, gradients: Gradients) -> Gradients:
    if said is None:
        return gradients
    new = cast("Gradients", said) if isinstance(said, tuple) else (said,)
    if len(new) != len(gradients):
        raise RuntimeError(f"a backward hook answers with None or as many gradients as it was told: {len(gradients)}, got {len(new)}")
    return new
