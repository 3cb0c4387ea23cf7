"""Derivatives of functions at points: PyTorch's older names. `micrograd_rs.func` has functions that compose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _tree
from .. import func as _func
from .._micrograd_rs import Tensor, grad, ones_like
from .._names import Lazy as _Lazy

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

__getattr__ = _Lazy(__name__)


def _several(name: str, what: str, given: Any) -> tuple[tuple[Tensor, ...], bool]:
    """Tensors as a tuple, and whether they were one."""
    items = _tree.items(given, lists=False)
    is_tuple = items is not None
    all_of: tuple[Any, ...] = (given,) if items is None else items
    for i, t in enumerate(all_of):
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}: {what} are tensors, alone or in a tuple; {i} is {type(t).__name__}")
    return all_of, is_tuple


def _vectors(name: str, given: Any, of: tuple[Tensor, ...], what: str) -> tuple[Tensor, ...]:
    """What is multiplied with, one for each tensor; ones where there is one number and nothing is given."""
    if given is None:
        if len(of) == 1 and of[0].numel() == 1:
            return (ones_like(of[0]),)
        raise RuntimeError(f"{name}: v is needed where the function's {what} is not one number")
    vectors, _ = _several(name, "vectors", given)
    if len(vectors) != len(of):
        raise RuntimeError(f"{name}: {len(vectors)} vectors for {len(of)} tensors")
    for v, t in zip(vectors, of, strict=True):
        if v.shape != t.shape:
            raise RuntimeError(f"{name}: a vector of shape {list(v.shape)} for a tensor of shape {list(t.shape)}")
    return vectors


def _checked(name: str, func: Callable[..., Any], strict: bool) -> Callable[..., Any]:
    """A function whose results are tensors; with `strict`, such as depend on all arguments."""

    def checked(*args: Tensor) -> Any:
        answer = func(*args)
        results, _ = _several(name, "the function's results", answer)
        if strict:
            for i, result in enumerate(results):
                depends: tuple[Any, ...] = (None,) * len(args)
                if result.requires_grad:
                    seed = ones_like(result)
                    depends = grad(result, args, seed, retain_graph=True, allow_unused=True)
                for j, g in enumerate(depends):
                    if g is None:
                        raise RuntimeError(f"{name}: result {i} of the function does not depend on argument {j}")
        return answer

    return checked


def _kept(answer: Any, create_graph: bool) -> Any:
    """An answer with its history, or without."""
    if create_graph:
        return answer
    return _tree.mapped(lambda t: t.detach() if t.requires_grad else t, answer)


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The results of a function, and `v` times its Jacobian.

    Arguments:
        func: the function
        inputs: its arguments, a tensor or several
        v: what it is multiplied by, in the shapes of the inputs or of the results
        create_graph: whether the answer can be differentiated
        strict: whether a result that does not depend on an input is an error

    >>> mg.autograd.functional.vjp(lambda x: x**2, mg.tensor([1.0, 2.0]), mg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    args, is_tuple = _several("vjp", "inputs", inputs)
    output, pullback = _func.vjp(_checked("vjp", func, strict), *args)
    results, several = _several("vjp", "results", output)
    vectors = _vectors("vjp", v, results, "result")
    found = pullback(vectors if several else vectors[0])
    return _kept((output, found if is_tuple else found[0]), create_graph)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The results of a function, and its Jacobian times `v`: in forward mode.

    Arguments:
        func: the function
        inputs: its arguments, a tensor or several
        v: what it is multiplied by, in the shapes of the inputs or of the results
        create_graph: whether the answer can be differentiated
        strict: whether a result that does not depend on an input is an error

    >>> mg.autograd.functional.jvp(lambda x: x**2, mg.tensor([1.0, 2.0]), mg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    args, _ = _several("jvp", "inputs", inputs)
    vectors = _vectors("jvp", v, args, "input")
    return _kept(_func.jvp(_checked("jvp", func, strict), args, vectors), create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of a function's results: for each result and each input, the result's shape, then the input's.

    All gradients are computed in a batch, whatever `vectorize` says; `strategy` is `"reverse-mode"` or `"forward-mode"`.

    Arguments:
        func: the function
        inputs: its arguments, a tensor or several
        create_graph: whether the answer can be differentiated
        strict: whether a result that does not depend on an input is an error

    >>> mg.autograd.functional.jacobian(lambda x: x**2, mg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    args, is_tuple = _several("jacobian", "inputs", inputs)
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f"jacobian: strategy is 'reverse-mode' or 'forward-mode', got {strategy!r}")
    transform = _func.jacrev if strategy == "reverse-mode" else _func.jacfwd
    found = transform(_checked("jacobian", func, strict), tuple(range(len(args))))(*args)
    if not is_tuple:
        # One input: of each result, what there is.
        several = bool(found) and isinstance(found[0], tuple)
        found = tuple(row[0] for row in found) if several else found[0]
    return _kept(found, create_graph)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function whose result is one number: for each pair of inputs, their shapes one after the other.

    Arguments:
        func: the function
        inputs: its arguments, a tensor or several
        create_graph: whether the answer can be differentiated
        strict: whether a result that does not depend on an input is an error
        vectorize, outer_jacobian_strategy: how PyTorch computes it; of no effect

    >>> mg.autograd.functional.hessian(lambda x: (x**3).sum(), mg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    args, is_tuple = _several("hessian", "inputs", inputs)
    if outer_jacobian_strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f"hessian: strategies are 'reverse-mode' and 'forward-mode', got {outer_jacobian_strategy!r}")
    at = tuple(range(len(args)))
    first = _func.grad(_number("hessian", _checked("hessian", func, strict)), at)
    outer = _func.jacrev if outer_jacobian_strategy == "reverse-mode" else _func.jacfwd
    found = outer(first, at)(*args)
    return _kept(found if is_tuple else found[0][0], create_graph)


def _number(name: str, func: Callable[..., Any]) -> Callable[..., Any]:
    def number(*args: Tensor) -> Any:
        (result, *rest), _ = _several(name, "results", func(*args))
        if rest or result.numel() != 1:
            raise RuntimeError(f"{name}: takes a function whose result is one number")
        return result

    return number


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """A function's result, one number, and its second derivatives times `v`: the tangent of the gradient, without the matrix.

    Arguments:
        func: the function
        inputs: its arguments, a tensor or several
        v: what it is multiplied by, in the shapes of the inputs or of the results
        create_graph: whether the answer can be differentiated
        strict: whether a result that does not depend on an input is an error

    >>> mg.autograd.functional.hvp(lambda x: (x**3).sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    args, is_tuple = _several("hvp", "inputs", inputs)
    vectors = _vectors("hvp", v, args, "input")
    at = tuple(range(len(args)))
    both = _func.grad_and_value(_number("hvp", _checked("hvp", func, strict)), at)

    def first(*inside: Tensor) -> Any:
        return both(*inside)

    _, found, value = _func.jvp(first, args, vectors, has_aux=True)
    return _kept((value, found if is_tuple else found[0]), create_graph)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """A function's result, one number, and `v` times its second derivatives: the gradient of the gradient.

    Arguments:
        func: the function
        inputs: its arguments, a tensor or several
        v: what it is multiplied by, in the shapes of the inputs or of the results
        create_graph: whether the answer can be differentiated
        strict: whether a result that does not depend on an input is an error

    >>> mg.autograd.functional.vhp(lambda x: (x**3).sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    args, is_tuple = _several("vhp", "inputs", inputs)
    vectors = _vectors("vhp", v, args, "input")
    at = tuple(range(len(args)))
    both = _func.grad_and_value(_number("vhp", _checked("vhp", func, strict)), at)

    def first(*inside: Tensor) -> Any:
        return both(*inside)

    _, pullback, value = _func.vjp(first, *args, has_aux=True)
    found = pullback(vectors)
    return _kept((value, found if is_tuple else found[0]), create_graph)
