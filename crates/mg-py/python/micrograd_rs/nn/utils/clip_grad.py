"""Gradients that are too long."""

from __future__ import annotations

from collections.abc import Iterable

from ..._micrograd_rs import Tensor, _clip_grad_value, _clip_grads_with_norm, _total_norm
from ..._names import kind_of

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _listed(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if callable(getattr(parameters, "parameters", None)):
        raise TypeError(f"takes tensors, got {kind_of(parameters)}: pass its parameters()")
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors as one vector. Nothing is read, unless `error_if_nonfinite`: then a norm that is no
    number is an error.

    Arguments:
        tensors: a tensor, or several
        norm_type: the norm's order
        error_if_nonfinite: whether a norm that is no number is an error
        foreach: of no effect

    >>> mg.nn.utils.get_total_norm([mg.tensor([3.0]), mg.tensor([0.0, 4.0])])
    tensor(5.)
    """
    total = _total_norm(_listed(tensors), norm_type)
    if error_if_nonfinite and not total.isfinite().item():
        text = f"the norm of order {norm_type} of the gradients is {total.item()}"
        raise RuntimeError(f"{text}; clip them all the same with error_if_nonfinite=False")
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales gradients, in place, so that a norm of theirs that is known becomes no more than `max_norm`.

    Arguments:
        parameters: a tensor, or several
        max_norm: what the norm may be
        total_norm: what it is
        foreach: of no effect

    >>> p = mg.nn.Parameter(mg.zeros(2))
    >>> (p * mg.tensor([3.0, 4.0])).sum().backward()
    >>> mg.nn.utils.clip_grads_with_norm_([p], 1.0, mg.nn.utils.get_total_norm([p.grad]))
    >>> p.grad
    tensor([0.6000, 0.8000])
    """
    _clip_grads_with_norm(_listed(parameters), float(max_norm), total_norm)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients of all parameters, in place, so that their norm as one vector is no more than
    `max_norm`; answers with what it was. Nothing is read: it is part of the step's plan.

    `norm_type` is the norm's order; with `error_if_nonfinite` a norm that is NaN or infinite is a RuntimeError; `foreach` changes nothing.

    >>> import micrograd_rs as mg
    >>> p = mg.nn.Parameter(mg.tensor([0.0, 0.0]))
    >>> p.grad = mg.tensor([3.0, 4.0])
    >>> mg.nn.utils.clip_grad_norm_([p], max_norm=1.0).item()
    5.0
    >>> round(p.grad.norm().item(), 3)
    1.0

    Arguments:
        parameters: tensors, or one, whose gradients are clipped
        max_norm: how long all gradients together may be
        norm_type: of which norm that is
        error_if_nonfinite: whether a norm that is no finite number is an error
        foreach: of no effect
    """
    found = _listed(parameters)
    total = get_total_norm([p.grad for p in found if p.grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(found, max_norm, total)
    return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Bounds the gradients' elements to ±`clip_value`, in place; all of them become a bound below 0.

    Arguments:
        parameters: a tensor, or several
        clip_value: the bound
        foreach: of no effect

    >>> p = mg.nn.Parameter(mg.zeros(2))
    >>> (p * mg.tensor([3.0, -0.5])).sum().backward()
    >>> mg.nn.utils.clip_grad_value_([p], 1.0)
    >>> p.grad
    tensor([ 1.0000, -0.5000])
    """
    _clip_grad_value(_listed(parameters), float(clip_value))
