"""Functions with gradients of one's own."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

from .._micrograd_rs import Tensor, _Begun, is_grad_enabled, zeros
from .._names import kind_of
from . import no_grad
from ._batches import innermost, made

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._micrograd_rs import _Saved

__all__ = ["Function", "FunctionCtx", "once_differentiable"]


class FunctionCtx:
    """What the forward half of a `Function` tells the backward half. Anything else can be kept as an attribute of it."""

    needs_input_grad: tuple[bool, ...] = ()
    _to_save: tuple[Tensor | None, ...] = ()
    _to_save_forward: tuple[Tensor | None, ...] | None = None
    _dirty: tuple[Tensor, ...] = ()
    _non_differentiable: tuple[Tensor, ...] = ()
    _materialize = True
    _saved: _Saved | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors (inputs, results, others) for `backward`, which finds them in `saved_tensors`.

        One that is changed in place before that is an error there.
        """
        _check_saved("save_for_backward", tensors)
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps tensors for `jvp`, which finds them in `saved_tensors`, as `save_for_backward` does for `backward`. Without, it finds
        those.
        """
        _check_saved("save_for_forward", tensors)
        self._to_save_forward = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that were saved, with their histories."""
        return self._to_save if self._saved is None else tuple(self._saved.tensors())

    def mark_dirty(self, *args: Tensor) -> None:
        """These inputs were changed in place; they are among the results."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """No gradient flows through these results."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that there are none of are zeros in `backward`, which they are unless it is switched off, or None."""
        self._materialize = value


def _check_saved(op: str, tensors: tuple[Any, ...]) -> None:
    for t in tensors:
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(f"{op} takes tensors and None, not {kind_of(t)}: keep it as an attribute")


class Function(FunctionCtx):
    """A function with a gradient of its own.

    A subclass says in the static method `forward` what it computes, and in `backward` what the gradients of its arguments are,
    given those of its results; it is called by `apply`. Operations in `forward` record nothing for gradients. Those in `backward`
    do where gradients of gradients are asked for.

    >>> import micrograd_rs as mg
    >>> class Exp(mg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = x.exp()
    ...         ctx.save_for_backward(y)
    ...         return y
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (y,) = ctx.saved_tensors
    ...         return gradient * y
    >>> x = mg.Tensor([0.0])
    >>> Exp.apply(x).sum().backward()
    >>> x.grad.tolist()
    [1.0]

    `forward` may do without `ctx` where `setup_context(ctx, inputs, output)` says what is kept.

    In forward mode (`func.jvp`, `func.jacfwd`, `func.hessian`) `jvp` is called, if there is one; else tangents follow from `backward`, which has to
    be linear in the gradient that it is given (an error says where it is not).
    `func.vmap` batches what `forward` and `backward` compute, unless there is a `vmap`, which is given the whole batch and may do with
    it what operations cannot:

    >>> class Sorted(mg.autograd.Function):
    ...     @staticmethod
    ...     def forward(x):
    ...         return mg.tensor(sorted(x.tolist()))
    ...     @staticmethod
    ...     def setup_context(ctx, inputs, output):
    ...         pass
    ...     @staticmethod
    ...     def vmap(info, in_dims, x):
    ...         rows = x.movedim(in_dims[0], 0)
    ...         return mg.stack([Sorted.apply(row) for row in rows]), 0
    >>> mg.func.vmap(Sorted.apply)(mg.tensor([[2.0, 1.0], [0.0, -1.0]])).tolist()
    [[1.0, 2.0], [-1.0, 0.0]]
    """

    generate_vmap_rule = False
    _has_rules = True

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError(f"{type(self).__name__} is not made an object of: call {type(self).__name__}.apply(...)")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The result: a tensor, or a tuple of tensors and anything else. The first argument is `ctx`, unless there is a
        `setup_context`."""
        raise NotImplementedError("an autograd.Function says in the static method forward() what it computes")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """What is kept for `backward`, where `forward` does without `ctx`."""
        raise NotImplementedError("setup_context is not defined")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradient of each argument, None for those that have none, given the gradients of the results."""
        raise NotImplementedError("an autograd.Function says in the static method backward() what its gradient is")

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for `backward`."""
        raise NotImplementedError("an autograd.Function says in the static method backward() what its gradient is")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the results, given those of the arguments: None for what is no tensor of floats, and zeros for what does not
        change (None after `ctx.set_materialize_grads(False)`). They follow from `backward` where it is not there.
        """
        raise NotImplementedError("jvp is not defined")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The results of a batch, and along which axis of each the examples are, or None for what is the same for all. `in_dims` says it of
        the arguments; `info` has the `batch_size` and the `randomness`. Without it, `func.vmap` batches what `forward` computes.
        """
        raise NotImplementedError("vmap is not defined")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls it."""
        has_setup = cls.setup_context is not Function.setup_context
        if has_setup:
            args = _in_order(cls.forward, args, kwargs)
        elif kwargs:
            raise TypeError(f"{cls.__name__}.apply() takes no keyword arguments: forward(ctx, ...) has none to bind them to")
        at = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        found = None if cls.vmap is Function.vmap else innermost(cls, args)
        whole: Any = None
        if found is not None:
            whole, is_inside = made(cls, args, found)
            if not is_inside:
                return whole
            if not has_setup:
                raise RuntimeError(f"vmap: {cls.__name__} says what is kept for backward in forward(ctx, ...): write setup_context(ctx, inputs, output)")
        begun = _Begun([args[i] for i in at])
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        if has_setup:
            output = no_grad()._run(cls.forward, args, {}) if found is None else whole
            no_grad()._run(cls.setup_context, (ctx, args, output), {})
        else:
            output = no_grad()._run(cls.forward, (ctx, *args), {})
        outputs, is_tuple = _several(output)
        found_at = [i for i, o in enumerate(outputs) if isinstance(o, Tensor)]
        rule = _Rule(cls, ctx, args, at, found_at, len(outputs))
        saved, ctx._to_save = ctx._to_save, ()
        saved_forward, ctx._to_save_forward = ctx._to_save_forward, None
        results = begun.end(
            [outputs[i] for i in found_at],
            saved,
            ctx._non_differentiable,
            ctx._dirty,
            not ctx._materialize,
            rule.name,
            rule,
            None if cls.jvp is Function.jvp else rule.jvp,
            saved_forward,
        )
        # What was computed here is not to be kept by what leads back to it.
        ctx._dirty = ctx._non_differentiable = ()
        answers = list(outputs)
        for i, result in zip(found_at, results, strict=True):
            answers[i] = result
        return tuple(answers) if is_tuple else answers[0]


class _Rule:
    """The gradient of a call."""

    def __init__(
        self, cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], at: list[int], found: list[int], outputs: int
    ) -> None:
        self.cls, self.ctx, self.at, self.inputs = cls, ctx, at, len(args)
        self.found, self.outputs = found, outputs
        self.name = f"{cls.__name__}Backward"
        # What tangents that there are none of are zeros of.
        tensors = [args[i] for i in at] if cls.jvp is not Function.jvp else []
        self.like = [(t.shape, t.dtype, t.device) if t.is_floating_point() else None for t in tensors]

    def jvp(self, saved: _Saved, tangents: tuple[Tensor | None, ...]) -> Sequence[Tensor | None]:
        given: list[Any] = [None] * self.inputs
        for i, tangent, like in zip(self.at, tangents, self.like, strict=True):
            if tangent is None and like is not None and self.ctx._materialize:
                shape, dtype, device = like
                tangent = zeros(shape, dtype=dtype, device=device)
            given[i] = tangent
        self.ctx._saved = saved
        answers, _ = _several(self.cls.jvp(self.ctx, *given))
        if len(answers) != self.outputs:
            raise RuntimeError(f"{self.cls.__name__}.jvp answered with {len(answers)} tangents for {self.outputs} results")
        return [answers[i] for i in self.found]

    def __call__(self, saved: _Saved, gradients: tuple[Tensor | None, ...]) -> Sequence[Tensor | None]:
        cls = self.cls
        given: list[Any] = [None] * self.outputs
        for i, gradient in zip(self.found, gradients, strict=True):
            given[i] = gradient
        self.ctx._saved = saved
        rule = cls.vjp if cls.backward is Function.backward else cls.backward
        if rule is Function.vjp:
            rule = cls.backward
        answer: Any = rule(self.ctx, *given)
        answers, _ = _several(answer)
        if len(answers) < self.inputs or any(a is not None for a in answers[self.inputs :]):
            text = f"{self.name}: backward answered with {len(answers)} gradients for {self.inputs} arguments"
            raise RuntimeError(text)
        for i, a in enumerate(answers):
            if a is not None and i not in self.at:
                raise RuntimeError(f"{self.name}: argument {i} is no tensor, and has no gradient but None")
        return [answers[i] for i in self.at]


def _several(answer: Any) -> tuple[tuple[Any, ...], bool]:
    """What a function answers with, and whether it is a tuple."""
    whole: Any = answer
    return (whole, True) if isinstance(answer, tuple) else ((answer,), False)


def _in_order(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments in their order, with defaults."""
    from inspect import signature

    bound = signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


class _Twice(Function):
    """What was computed by a gradient that has none itself."""

    @staticmethod
    def forward(ctx: Any, n: int, *tensors: Any) -> Any:
        return tuple(t.clone() for t in tensors[:n])

    @staticmethod
    def backward(ctx: Any, *_: Any) -> NoReturn:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a `backward` whose operations are not to be differentiated themselves: to do so is an error."""

    @wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        recorded = is_grad_enabled() and any(isinstance(a, Tensor) and a.requires_grad for a in args)
        answer = no_grad()._run(fn, (ctx, *args), {})
        if not recorded:
            return answer
        found, is_tuple = _several(answer)
        answers = list(found)
        at = [i for i, a in enumerate(answers) if isinstance(a, Tensor)]
        behind = [a for a in args if isinstance(a, Tensor)]
        for i, a in zip(at, _Twice.apply(len(at), *(answers[i] for i in at), *behind), strict=True):
            answers[i] = a
        return tuple(answers) if is_tuple else answers[0]

    return wrapper
