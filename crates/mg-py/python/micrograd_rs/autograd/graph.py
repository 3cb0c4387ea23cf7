"""The graph behind a result, as `torch.autograd.graph` has it.

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
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from .._micrograd_rs import GradNode as Node
from .._micrograd_rs import Tensor, _multi_grad_hook
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from .._micrograd_rs import RemovableHandle

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
    """Which result of which operation a gradient is of.

    Arguments:
        node: the operation
        output_nr: which of its results

    See `get_gradient_edge`.
    """

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where a tensor's gradient goes: to the operation that made it; of a leaf, to the node that keeps its gradient.

    RuntimeError for a tensor that requires none.

    >>> x = mg.tensor([1.0], requires_grad=True)
    >>> mg.autograd.graph.get_gradient_edge(x * 2).output_nr
    0
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        # A view of it comes from where its gradient is kept.
        view = tensor.view_as(tensor).grad_fn
        node = None if view is None else view.next_functions[0][0]
    assert node is not None
    return GradientEdge(node, 0)


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: Literal["all", "any"] = "all"
) -> RemovableHandle:
    """Calls `fn` once in each pass backwards (`backward`, `grad`) that computes gradients of some of these tensors. With `mode="all"` it is given a
    list of them, None for tensors that the pass does not come to, when all are there and before those of leaves are added to; with
    `"any"` the first that there is. `remove()` of the answer takes the hook away.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs.autograd.graph import register_multi_grad_hook
    >>> a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
    >>> handle = register_multi_grad_hook((a, b), lambda gradients: print([g.item() for g in gradients]))
    >>> (a * b).backward()
    [3.0, 2.0]
    >>> handle.remove()
    """
    if mode not in ("all", "any"):
        raise ValueError(f"register_multi_grad_hook: mode is 'all' or 'any', got {mode!r}")
    return _multi_grad_hook(list(tensors), fn, mode == "any")


_WHY = "what operations keep for the gradient is part of their history, with nothing to pack: to keep less, utils.checkpoint.checkpoint(function, *args)"


class saved_tensors_hooks:
    """NotImplementedError: there are no saved tensors to pack. `utils.checkpoint.checkpoint` keeps less; what a function of one's own
    (`autograd.Function`) saves can be packed in its `forward`.

    Arguments:
        pack_hook, unpack_hook: as in PyTorch

    >>> try:
    ...     mg.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)
    ... except NotImplementedError:
    ...     print("checkpoint it")
    checkpoint it
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        raise NotImplementedError(f"saved_tensors_hooks: {_WHY}; in an autograd.Function, pack in forward what is given to save_for_backward")


class save_on_cpu:
    """NotImplementedError: there are no saved tensors to move. `utils.checkpoint.checkpoint` takes less memory.

    Arguments:
        pin_memory, device_type: as in PyTorch

    >>> try:
    ...     mg.autograd.graph.save_on_cpu()
    ... except NotImplementedError:
    ...     print("checkpoint it")
    checkpoint it
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        raise NotImplementedError(f"save_on_cpu: {_WHY}")


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Generator[None]:
    """A block without hooks of saved tensors, as everything is: what makes some has an error of its own.

    Arguments:
        error_message: of no effect

    >>> with mg.autograd.graph.disable_saved_tensors_hooks("none here"):
    ...     mg.tensor([1.0], requires_grad=True).sum().backward()
    """
    yield


def allow_mutation_on_saved_tensors() -> NoReturn:
    """NotImplementedError: a value that a gradient needs must not be changed in place. `clone()` it before, or use the operation that is not
    in place.

    >>> try:
    ...     mg.autograd.graph.allow_mutation_on_saved_tensors()
    ... except NotImplementedError:
    ...     print("clone it")
    clone it
    """
    raise NotImplementedError("allow_mutation_on_saved_tensors: a value that a gradient needs is not kept twice: clone() it before it is changed in place")
