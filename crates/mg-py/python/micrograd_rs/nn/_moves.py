"""Modules on their way to other devices and dtypes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from .._micrograd_rs import Tensor, memory_format, realize
from ._parts import put
from .parameter import mark_as, marks_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .module import Module


class _Moves(threading.local):
    """Tensors that an `_apply` has made, on this thread, and that are not computed yet."""

    made: list[Tensor] | None = None


_moves = _Moves()


def applied(module: Module, fn: Callable[[Tensor], Tensor], recurse: bool) -> None:
    """Sets a module's parameters and buffers to what a function makes of them, as `Module._apply` says."""
    # All of it is computed at once, when the outermost module is through.
    outermost = _moves.made is None
    moved: list[Tensor] = [] if _moves.made is None else _moves.made
    _moves.made = moved
    try:
        if recurse:
            for child in module.children():
                child._apply(fn)
        _applied_to_own(module, fn, moved)
    finally:
        if outermost:
            _moves.made = None
    if outermost:
        realize(moved)


def _applied_to_own(module: Module, fn: Callable[[Tensor], Tensor], moved: list[Tensor]) -> None:
    for name, kind in list(module._kinds.items()):
        t = vars(module).get(name)
        if not isinstance(t, Tensor):
            continue
        given = t.detach()
        new = fn(given)
        if new is given:
            continue
        moved.append(new)
        if kind != "parameter":
            mark_as(new, marks_of(t))
            put(module, name, new)
            continue
        grad = None if t.grad is None else fn(t.grad.detach())
        t.data = new
        if grad is not None and t.grad is not None:
            t.grad.data = grad
            moved.append(grad)


_AXES: dict[memory_format | None, tuple[int, ...]] = {memory_format.channels_last: (4,), memory_format.channels_last_3d: (5,)}


def converted(t: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """A parameter or buffer as `Module.to` has it: where that says, and in its dtype, if it is of floats; in its format, if it has as many axes."""
    if t.dim() not in _AXES.get(kwargs.get("memory_format"), (4, 5)):
        kwargs = {name: given for name, given in kwargs.items() if name != "memory_format"}
    out = t.to(*args, **kwargs)
    if not t.is_floating_point():
        return out.to(t.dtype)
    if not out.is_floating_point():
        raise TypeError(f"a module takes floating-point dtypes, got {out.dtype}")
    return out
