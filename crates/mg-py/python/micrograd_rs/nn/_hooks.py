"""Functions that are called before and after modules, and the handles that take them away again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from .module import Module

_numbers = count()


class Hook(NamedTuple):
    """A function, and how it is called."""

    call: Callable[..., Any]
    with_kwargs: bool = False
    always: bool = False


Hooks = dict[int, Hook]

# Of all modules, by what they are called for.
everywhere: dict[str, Hooks] = {}


class Functions(MutableMapping[int, Callable[..., Any]]):
    """A module's hooks of a kind: the functions by their numbers. It changes with the module and changes it."""

    def __init__(self, module: Module, kind: str) -> None:
        self._module = module
        self._kind = kind

    def _held(self) -> Hooks:
        # A module that is only asked does not get anything of its own: it is called without looking for hooks.
        own = self._module._hooks
        return {} if own is None else own.get(self._kind, {})

    def __getitem__(self, number: int) -> Callable[..., Any]:
        return self._held()[number].call

    def __setitem__(self, number: int, function: Callable[..., Any]) -> None:
        hooks = self._module._hooks_of(self._kind)
        known = hooks.get(number)
        hooks[number] = Hook(function) if known is None else known._replace(call=function)

    def __delitem__(self, number: int) -> None:
        del self._held()[number]

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._held()))

    def __len__(self) -> int:
        return len(self._held())

    def become(self, functions: Mapping[int, Callable[..., Any]]) -> None:
        """Has these in place of those that there are."""
        given = dict(functions)
        self.clear()
        self.update(given)

    def move_to_end(self, number: int, last: bool = True) -> None:
        """Has a function called after all others, or before them. KeyError for a number that there is none of."""
        hooks = self._held()
        moved, others = {number: hooks.pop(number)}, dict(hooks)
        hooks.clear()
        hooks.update({**others, **moved} if last else {**moved, **others})

    def __repr__(self) -> str:
        return repr(dict(self))


def hooks_property(kind: str) -> Any:
    """What a module has as its hooks of a kind."""

    def found(module: Module) -> Functions:
        return Functions(module, kind)

    def become(module: Module, functions: Mapping[int, Callable[..., Any]]) -> None:
        Functions(module, kind).become(functions)

    return property(found, become)


class RemovableHandle:
    """Takes a hook away: by `remove()`, or at the end of a `with`."""

    def __init__(self, hooks: dict[int, Any], number: int) -> None:
        self._hooks = hooks
        self.id = number

    def remove(self) -> None:
        """The function is not called any more."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def add(hooks: dict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    """Puts a hook behind all others, or before them."""
    number = next(_numbers)
    if prepend:
        others = dict(hooks)
        hooks.clear()
        hooks[number] = hook
        hooks.update(others)
    else:
        hooks[number] = hook
    return RemovableHandle(hooks, number)


def of(module: Module, kind: str) -> list[Hook]:
    """The hooks of a kind, first those of all modules."""
    own = module._hooks
    found = list(everywhere.get(kind, {}).values())
    return found if own is None else [*found, *own.get(kind, {}).values()]


def _before(hook: Hook, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments after a hook."""
    if not hook.with_kwargs:
        changed = hook.call(module, args)
        return args if changed is None else changed if isinstance(changed, tuple) else (changed,), kwargs
    both = hook.call(module, args, kwargs)
    if both is None:
        return args, kwargs
    if isinstance(both, tuple) and len(both) == 2:  # pyright: ignore[reportUnknownArgumentType]
        return both  # pyright: ignore[reportUnknownVariableType]
    raise RuntimeError(f"a hook with keywords answers with None or (args, kwargs), got {both!r}")


def called(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a module with hooks answers."""
    after = of(module, "forward")
    done: set[int] = set()
    around = None
    try:
        for hook in of(module, "forward_pre"):
            args, kwargs = _before(hook, module, args, kwargs)
        told, asked = of(module, "backward"), of(module, "backward_pre")
        if told or asked:
            from ._backward_hooks import Around

            around = Around(module, asked, told)
            args = around.inside(args)
        answer = module.forward(*args, **kwargs)
        for hook in after:
            done.add(id(hook))
            changed = hook.call(module, args, kwargs, answer) if hook.with_kwargs else hook.call(module, args, answer)
            if changed is not None:
                answer = changed
        return answer if around is None else around.outside(answer)
    except Exception:
        for hook in after:
            if hook.always and id(hook) not in done:
                if hook.with_kwargs:
                    hook.call(module, args, kwargs, None)
                else:
                    hook.call(module, args, None)
        raise


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, args)` before every module; what it answers with (not None) are the arguments."""
    return add(everywhere.setdefault("forward_pre", {}), Hook(hook))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Calls `hook(module, args, output)` after every module; what it answers with (not None) is the output."""
    return add(everywhere.setdefault("forward", {}), Hook(hook, with_kwargs, always_call))


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, grad_input, grad_output)` for every module whose gradients are computed; what it answers with (not None) are the
    gradients of the arguments."""
    return add(everywhere.setdefault("backward", {}), Hook(hook))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, grad_output)` for every module before its gradients are computed; what it answers with (not None) are the gradients of
    the result."""
    return add(everywhere.setdefault("backward_pre", {}), Hook(hook))


# Registrations: functions that may answer with something else than what a module is given under a name.
registrations: dict[str, dict[int, Callable[[Any, str, Any], Any]]] = {"module": {}, "parameter": {}, "buffer": {}}


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, submodule)` when a module gets a part; what it answers with (not None) is the
    part.
    """
    return add(registrations["module"], hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, param)` when a module gets a parameter; what it answers with (not None) is the
    parameter.
    """
    return add(registrations["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, buffer)` when a module gets a buffer; what it answers with (not None) is the
    buffer.
    """
    return add(registrations["buffer"], hook)
