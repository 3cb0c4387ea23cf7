"""Checks of gradients against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _tree
from .. import func as _func
from .._micrograd_rs import Tensor, float64, grad, tensor, zeros_like
from . import enable_grad, no_grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient that is not what differences give.

    >>> class Wrong(mg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         return gradient
    >>> try:
    ...     mg.autograd.gradcheck(Wrong.apply, mg.ones(2, dtype=mg.float64, requires_grad=True))
    ... except mg.autograd.GradcheckError:
    ...     print("wrong")
    wrong
    """


def _several(given: Any) -> tuple[Any, ...]:
    items = _tree.items(given)
    return (given,) if items is None else items


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of a function are what central differences give: `|analytic - numeric| <= atol + rtol |numeric|`.

    Inputs that require a gradient are float64, and varied one element at a time; the whole Jacobian is compared. `check_forward_ad` compares
    tangents too, `check_batched_grad` gradients that are computed in a batch. The gradient must be the same when it is computed twice, to
    `nondet_tol`. What differs is a `GradcheckError`, or False without `raise_exception`.

    Arguments:
        func: the function
        inputs: what it is called with, a tensor or several
        eps: how far inputs are varied
        rtol, atol: the tolerances
        raise_exception: whether what differs is an error
        check_undefined_grad, check_grad_dtypes, fast_mode, masked: of no effect
        check_batched_forward_grad: whether tangents that are computed in a batch are, too
        check_backward_ad: whether gradients are compared at all

    >>> x = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    >>> mg.autograd.gradcheck(lambda x: x.exp() * x, x)
    True
    """
    try:
        with enable_grad():
            _check(
                func,
                _several(inputs),
                eps,
                atol,
                rtol,
                nondet_tol,
                check_backward_ad,
                check_forward_ad,
                check_batched_grad,
                check_batched_forward_grad,
            )
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    backward: bool,
    forward: bool,
    batched: bool,
    batched_forward: bool,
) -> None:
    at = [i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad]
    if not at:
        raise ValueError("gradcheck: takes at least one input that requires a gradient")
    for i in at:
        if inputs[i].dtype != float64:
            raise ValueError(f"gradcheck: input {i} is {inputs[i].dtype}; differences are exact enough in float64 only")

    def floats(outputs: Any) -> list[Tensor]:
        return [t for t in _several(outputs) if isinstance(t, Tensor) and t.is_floating_point()]

    def called(*chosen: Tensor) -> tuple[Tensor, ...]:
        given = list(inputs)
        for i, t in zip(at, chosen, strict=True):
            given[i] = t
        return tuple(floats(func(*given)))

    points = [inputs[i] for i in at]
    outputs = called(*points)
    numeric = _numeric(called, points, len(outputs), eps)

    def compare(kind: str, found: Any) -> None:
        for o, row in enumerate(found):
            for j, analytic in enumerate(row):
                wanted = numeric[o][j]
                got = analytic.detach().reshape(-1).tolist()
                for k, (a, n) in enumerate(zip(got, wanted, strict=True)):
                    if not abs(a - n) <= atol + rtol * abs(n):
                        size = points[j].numel()
                        text = (
                            f"gradcheck: {kind}: the derivative of result {o} (element {k // size}) with respect to input {at[j]} "
                            f"(element {k % size}) is {a}, central differences give {n}"
                        )
                        raise GradcheckError(text)

    if backward:
        found = [[_rows(output, point) for point in points] for output in outputs]
        compare("backward", found)
        again = [[_rows(output, point) for point in points] for output in outputs]
        for row, other in zip(found, again, strict=True):
            for a, b in zip(row, other, strict=True):
                if a.numel() and not (a - b).abs().max().item() <= nondet_tol:
                    raise GradcheckError("gradcheck: the gradient is another one when it is computed again")
    chosen = tuple(range(len(points)))
    if batched:
        compare("batched backward", _func.jacrev(called, chosen)(*points))
    if forward or batched_forward:
        compare("forward", _func.jacfwd(called, chosen)(*points))


def _rows(output: Tensor, point: Tensor) -> Tensor:
    """The Jacobian of one result with respect to one input, a row at a time."""
    from .._ops import stack

    size = output.numel()
    rows: list[Tensor] = []
    for k in range(size):
        if not output.requires_grad:
            rows.append(zeros_like(point))
            continue
        seed = tensor([float(i == k) for i in range(size)], dtype=output.dtype, device=output.device).reshape(output.shape)
        (g,) = grad(output, point, seed, retain_graph=True, allow_unused=True)
        rows.append(zeros_like(point) if g is None else g)
    return stack(rows) if rows else zeros_like(point).reshape(-1)[:0]


def _numeric(
    called: Callable[..., tuple[Tensor, ...]], points: list[Tensor], outputs: int, eps: float
) -> list[list[list[float]]]:
    """Central differences: for each result and each input, rows of the result's elements."""
    found: list[list[list[float]]] = [[[] for _ in points] for _ in range(outputs)]
    with no_grad():
        for j, point in enumerate(points):
            flat: list[float] = point.detach().reshape(-1).tolist()
            columns: list[list[list[float]]] = [[] for _ in range(outputs)]
            for k in range(len(flat)):
                sides: list[list[list[float]]] = []
                for sign in (1, -1):
                    moved = list(flat)
                    moved[k] += sign * eps
                    at = list(points)
                    at[j] = tensor(moved, dtype=point.dtype, device=point.device).reshape(point.shape)
                    sides.append([y.reshape(-1).tolist() for y in called(*at)])
                step = (flat[k] + eps) - (flat[k] - eps)
                for o in range(outputs):
                    columns[o].append([(a - b) / step for a, b in zip(sides[0][o], sides[1][o], strict=True)])
            for o in range(outputs):
                found[o][j] = [value for row in zip(*columns[o], strict=True) for value in row]
    return found


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """As `gradcheck`, of the gradients: how they depend on the inputs, and on the gradients of the results.

    Arguments:
        func: the function
        inputs: what it is called with, a tensor or several
        grad_outputs: the gradients of the results, drawn if they are not given
        eps: how far inputs are varied
        rtol, atol: the tolerances
        gen_non_contig_grad_outputs: whether what is drawn does not lie densely
        raise_exception: whether what differs is an error
        nondet_tol: how much the gradient may differ when it is computed twice
        check_undefined_grad, check_grad_dtypes, fast_mode, masked: of no effect
        check_batched_grad: whether gradients that are computed in a batch are compared, too
        check_fwd_over_rev, check_rev_over_rev: which ways are checked

    >>> x = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    >>> mg.autograd.gradgradcheck(lambda x: x.exp() * x, x)
    True
    """
    given = _several(inputs)
    with enable_grad():
        outputs = [t for t in _several(func(*given)) if isinstance(t, Tensor) and t.is_floating_point() and t.requires_grad]
    if grad_outputs is None:
        # Fixed numbers of both signs, none of them near zero.
        seeds = [
            tensor(
                [(0.5 + i * 0.6180339887 % 1) * (-1) ** (i % 3 == 1) for i in range(1, t.numel() + 1)],
                dtype=t.dtype,
                device=t.device,
            )
            .reshape(t.shape)
            .requires_grad_()
            for t in outputs
        ]
    else:
        seeds = list(_several(grad_outputs))
    count = len(given)
    at = [i for i, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad]

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        # What varies is a constant to whoever computes differences, and has gradients here all the same.
        with enable_grad():
            inside = [t if i not in at or t.requires_grad else t.requires_grad_() for i, t in enumerate(args[:count])]
            results = [t for t in _several(func(*inside)) if isinstance(t, Tensor) and t.is_floating_point() and t.requires_grad]
            found = grad(results, [inside[i] for i in at], list(args[count:]), create_graph=True, allow_unused=True)
        return tuple(zeros_like(inside[i]) if g is None else g for i, g in zip(at, found, strict=True))

    return gradcheck(
        gradients,
        (*given, *seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
    )
