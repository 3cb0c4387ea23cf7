"""The graph behind a result, and hooks of several tensors, as `torch.autograd.graph` has them.

>>> import micrograd_rs as mg
>>> from micrograd_rs.autograd.graph import get_gradient_edge
>>> x = mg.ones(2, requires_grad=True)
>>> get_gradient_edge(x.exp()).node.name()
'ExpBackward0'

What operations keep for the gradient is part of their history, and is made again where it is cheaper than kept: there is nothing to pack, so
that hooks of saved tensors have no place. `utils.checkpoint` keeps less.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from .._micrograd_rs import GradNode as Node
from .._micrograd_rs import Tensor
from .._names import Lazy as _Lazy
from ..nn._hooks import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

__getattr__ = _Lazy(__name__)


class GradientEdge(NamedTuple):
    """Which result of which operation a gradient is of."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where a tensor's gradient goes: to the operation that made it; of a leaf, to the node that keeps its gradient.

    RuntimeError for a tensor that requires none.
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, 0)


class _Handles(RemovableHandle):
    """Several handles as one."""

    def __init__(self, handles: list[Any]) -> None:
        super().__init__({})
        self._handles = handles

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Sequence[Tensor | None]], None], *, mode: Literal["all", "any"] = "all"
) -> RemovableHandle:
    """Calls a function with the gradients of several tensors, in their order, each time that a pass backwards has computed all of them. A pass
    that does not reach one of them does not call it. (PyTorch calls it then, with None for that one.)

    NotImplementedError for the mode "any": `register_hook` on each tensor is called with its gradient.
    """
    if mode == "any":
        raise NotImplementedError('register_multi_grad_hook: the mode "any" is not here: call register_hook on each of the tensors')
    if mode != "all":
        raise ValueError(f'register_multi_grad_hook: takes "all" or "any" as mode, got {mode!r}')
    lock, found = Lock(), dict[int, Tensor]()

    def noted(i: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            with lock:
                # A second one before the others came is of another pass.
                if i in found:
                    found.clear()
                found[i] = grad
                if len(found) < len(tensors):
                    return
                grads = [found[k] for k in range(len(tensors))]
                found.clear()
            fn(grads)

        return hook

    return _Handles([t.register_hook(noted(i)) for i, t in enumerate(tensors)])


_WHY = "what operations keep for the gradient is part of their history, with nothing to pack: to keep less, utils.checkpoint.checkpoint(function, *args)"


class saved_tensors_hooks:
    """NotImplementedError: there are no saved tensors to pack. `utils.checkpoint.checkpoint` keeps less; what a function of one's own
    (`autograd.Function`) saves can be packed in its `forward`.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        raise NotImplementedError(f"saved_tensors_hooks: {_WHY}; in an autograd.Function, pack in forward what is given to save_for_backward")


class save_on_cpu:
    """NotImplementedError: there are no saved tensors to move. `utils.checkpoint.checkpoint` takes less memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        raise NotImplementedError(f"save_on_cpu: {_WHY}")


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """A block without hooks of saved tensors, as everything is: what makes some has an error of its own."""
    yield


def allow_mutation_on_saved_tensors() -> NoReturn:
    """NotImplementedError: a value that a gradient needs must not be changed in place. `clone()` it before, or use the operation that is not
    in place.
    """
    raise NotImplementedError("allow_mutation_on_saved_tensors: a value that a gradient needs is not kept twice: clone() it before it is changed in place")
