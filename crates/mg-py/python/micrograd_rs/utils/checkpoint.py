"""Memory for time: what is computed on the way is computed again for the gradient, and not kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from typing import Any, cast

from .. import _tree
from .._micrograd_rs import Tensor, _checkpoint
from .._names import Lazy as _Lazy

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop"]

__getattr__ = _Lazy(__name__)


class CheckpointError(RuntimeError):
    """What a checkpointed function computes again is not what it was: other results, or of other shapes or dtypes.

    >>> x = mg.ones(2, requires_grad=True)
    >>> sizes = iter([2, 3])
    >>> y = mg.utils.checkpoint.checkpoint(lambda x: x.sum() * mg.ones(next(sizes)), x)
    >>> try:
    ...     y.sum().backward()
    ... except mg.utils.checkpoint.CheckpointError:
    ...     print("something else")
    something else
    """


def _facts(tensors: list[Tensor]) -> list[tuple[Any, ...]]:
    """What has to be the same again."""
    return [(t.dtype, tuple(t.shape), str(t.device)) for t in tensors]


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Generator[None]:
    """A block in which what is computed again stops where nothing more of it is needed, as it does here anyway: what is not needed is not
    computed.

    Arguments:
        enable: whether it stops

    >>> with mg.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     mg.utils.checkpoint.checkpoint(lambda x: x * 2, mg.tensor([1.0]))
    tensor([2.])
    """
    yield


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Generator[None]:
    """A block in which PyTorch tells more of what differs when it is computed again. Errors say it here: it changes nothing.

    Arguments:
        enabled: whether it tells more

    >>> with mg.utils.checkpoint.set_checkpoint_debug_enabled(True):
    ...     mg.utils.checkpoint.checkpoint(lambda x: x * 2, mg.tensor([1.0]))
    tensor([2.])
    """
    yield


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Two blocks in which nothing is otherwise: what `checkpoint` takes as `context_fn` unless it is given one.

    >>> first, again = mg.utils.checkpoint.noop_context_fn()
    >>> with first:
    ...     print("computed")
    computed
    """
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any] | None = None,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    preserve_rng_state: bool = True,
    early_stop: bool = True,
    respect_saved_tensors_hooks: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Calls a function, and keeps nothing of what it computes on the way: for the gradient it is called again. Without one it is a
    decorator, whose function is called so each time: `@checkpoint(preserve_rng_state=False)`.

    Gradients flow to everything that the function uses, parameters of a module too, by `backward` and by `grad`. With
    `preserve_rng_state` it draws the same random numbers again. Results of other shapes than the first time are an error, unless
    `determinism_check` is `"none"`: CheckpointError. `use_reentrant`, `debug`, `early_stop` and `respect_saved_tensors_hooks` make no
    difference here.

    Arguments:
        function: the function
        args, kwargs: what it is called with
        context_fn: answers with two blocks, for the call and for the one that computes again

    >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = mg.utils.checkpoint.checkpoint(lambda x: x.exp().sin(), x)
    >>> y.sum().backward()
    >>> mg.allclose(x.grad, x.exp().cos() * x.exp())
    True
    """
    if determinism_check not in ("default", "none"):
        raise ValueError(f"checkpoint: determinism_check is 'default' or 'none', got {determinism_check!r}")
    if function is None:
        if args or kwargs:
            raise ValueError(f"checkpoint: arguments of a function that it is not given: {', '.join(kwargs) or len(args)}")

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(function)
            def checkpointed(*args: Any, **kwargs: Any) -> Any:
                def call(*given: Any) -> Any:
                    return function(*given, **kwargs)

                return checkpoint(call, *args, context_fn=context_fn, determinism_check=determinism_check, preserve_rng_state=preserve_rng_state)

            return checkpointed

        return decorate
    first, again = context_fn()
    answers: list[Any] = []
    facts: list[tuple[Any, ...]] = []
    has_run = False

    def call() -> list[Tensor]:
        nonlocal has_run
        with again if has_run else first:
            answer = function(*args, **kwargs)
        tensors = [leaf for leaf in _tree.flatten(answer)[0] if isinstance(leaf, Tensor)]
        if not has_run:
            has_run = True
            answers.append(answer)
            facts.extend(_facts(tensors))
        elif determinism_check != "none" and (found := _facts(tensors)) != facts:
            raise CheckpointError(f"checkpoint: what was computed again is not what it was: {found} instead of {facts}")
        return tensors

    _checkpoint(call, preserve_rng_state)
    return answers.pop()


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Calls functions (or the modules of a `Sequential`) one after the other, with a checkpoint around each of so many segments of them,
    but the last.

    Arguments:
        functions: the functions
        segments: how many
        input: what the first is called with
        use_reentrant: of no effect

    >>> model = mg.nn.Sequential(mg.nn.Linear(2, 8), mg.nn.Tanh(), mg.nn.Linear(8, 1))
    >>> x = mg.ones(5, 2)
    >>> mg.equal(mg.utils.checkpoint.checkpoint_sequential(model, 2, x), model(x))
    True
    """
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    if kwargs:
        raise ValueError(f"checkpoint_sequential: takes no argument named {', '.join(kwargs)}")
    children = getattr(functions, "children", None)
    each: list[Callable[..., Any]] = list(cast("Iterator[Any]", children()) if children is not None else functions)
    if not 1 <= segments <= max(1, len(each)):
        raise ValueError(f"checkpoint_sequential: {segments} segments of {len(each)} functions")

    def part(start: int, end: int) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            for function in each[start:end]:
                x = function(x)
            return x

        return forward

    size, at = len(each) // segments, 0
    for _ in range(segments - 1):
        input = checkpoint(part(at, at + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
        at += size
    return part(at, len(each))(input)
