"""A module's state as a dictionary, and back."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .._micrograd_rs import Tensor, as_tensor, realize
from ..autograd import no_grad
from . import _hooks
from ._parts import put
from .parameter import Parameter, mark, mark_as, marks_of, is_lazy, materialize

if TYPE_CHECKING:
    from .module import Module

EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """Names that a state lacks, and names that the module does not know."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class StateError(ValueError, RuntimeError):
    """A state that does not fit."""


class State(OrderedDict[str, Any]):
    """Tensors by name, and under `_metadata` the versions of the modules that they are of."""

    _metadata: dict[str, dict[str, Any]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._metadata = {}


def with_metadata(entries: Any, metadata: Any) -> State:
    """A state of these entries, with what a file says of its modules."""
    state = State(entries)
    state._metadata = plain_metadata(metadata)
    return state


def plain_metadata(metadata: Any) -> dict[str, dict[str, int | None]]:
    """What a state says of its modules, as far as it is numbers under names: what files hold of it."""
    given: dict[Any, Any] = dict(metadata) if isinstance(metadata, Mapping) else {}  # pyright: ignore[reportUnknownArgumentType]
    plain: dict[str, dict[str, int | None]] = {}
    for place, local in given.items():
        if isinstance(place, str) and isinstance(local, dict):
            entries = cast("dict[Any, Any]", local)  # type: ignore[redundant-cast]
            plain[place] = {name: n for name, n in entries.items() if isinstance(name, str) and (n is None or type(n) is int)}
    return plain


class _Write(NamedTuple):
    """What a part of a module becomes, and what notes how it is before that: its answer takes the part back."""

    make: Callable[[], Tensor | None]
    keep: Callable[[], Callable[[], object]]


class Findings(list[str]):
    """What does not fit, and what is to be written."""

    def __init__(self, assign: bool) -> None:
        super().__init__()
        self.assign = assign
        self.writes: list[_Write] = []


def _has_extra(module: Module, method: str) -> bool:
    from .module import Module

    return getattr(type(module), method) is not getattr(Module, method)


def _saved(module: Module) -> dict[str, Tensor]:
    """A module's own parameters and buffers that are saved, parameters first."""
    return dict([*module._own(("parameter",), Tensor), *module._own(("buffer",), Tensor)])


def save_own(module: Module, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
    """Adds a module's own parameters and buffers."""
    for name, t in _saved(module).items():
        destination[prefix + name] = t if keep_vars else _detached(t)
    if _has_extra(module, "get_extra_state"):
        destination[prefix + EXTRA] = module.get_extra_state()


def _detached(t: Tensor) -> Tensor:
    constant = t.detach()
    if is_lazy(t):
        mark_as(constant, (False, None, True))
    return constant


def save(module: Module, destination: dict[str, Any], prefix: str, keep_vars: bool) -> dict[str, Any]:
    """Adds the state of a module and of all inside it."""
    for hook in _own(module, "state_pre"):
        hook.call(module, prefix, keep_vars)
    local = {"version": module._version}
    if isinstance(destination, State):
        destination._metadata[prefix[:-1]] = local
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in _own(module, "state"):
        changed = hook.call(module, destination, prefix, local)
        if changed is not None:
            destination = changed
    return destination


def _own(module: Module, kind: str) -> list[_hooks.Hook]:
    return [] if module._hooks is None else list(module._hooks.get(kind, {}).values())


def load_own(
    module: Module,
    state_dict: Mapping[str, Any],
    prefix: str,
    local_metadata: Mapping[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Finds what a module's own parameters and buffers become. It is written when all of the state was looked at, at once."""
    for hook in _own(module, "load_pre"):
        hook.call(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    found = error_msgs if isinstance(error_msgs, Findings) else Findings(False)
    own = _saved(module)
    for name, t in own.items():
        key = prefix + name
        if key not in state_dict:
            missing_keys.append(key)
            continue
        value = state_dict[key]
        if not isinstance(value, Tensor):
            try:
                value = as_tensor(value)
            except (TypeError, ValueError) as error:
                error_msgs.append(f"{key} ({error})")
                continue
        if is_lazy(t) and not is_lazy(value):
            found.writes.append(_materialized(t, value))
            continue
        if t.shape != value.shape:
            error_msgs.append(f"{key} (takes {t.shape}, got {value.shape})")
            continue
        found.writes.append(_taken(module, name, t, value) if found.assign else _written(t, value))
    extra = prefix + EXTRA
    if _has_extra(module, "set_extra_state"):
        if extra in state_dict:
            found.writes.append(_told(module, state_dict[extra]))
        else:
            missing_keys.append(extra)
    elif extra in state_dict:
        unexpected_keys.append(extra)
    parts = set(own) | set(module._modules)
    for key in state_dict:
        if key.startswith(prefix) and key != extra and key[len(prefix) :].split(".", 1)[0] not in parts:
            unexpected_keys.append(key)
        elif key.startswith(prefix) and "." in key[len(prefix) :] and key[len(prefix) :].split(".", 1)[0] in own:
            unexpected_keys.append(key)
    if found is not error_msgs:
        _write(found)


def _written(t: Tensor, value: Tensor) -> _Write:
    def keep() -> Callable[[], object]:
        before = t.detach().clone()
        return lambda: t.copy_(before)

    return _Write(lambda: t.copy_(value), keep)


def _materialized(t: Tensor, value: Tensor) -> _Write:
    def write() -> Tensor:
        materialize(t, value.shape)
        return t.copy_(value)

    def keep() -> Callable[[], object]:
        marks = marks_of(t)

        def back() -> None:
            materialize(t, (0,))
            mark_as(t, marks)

        return back

    return _Write(write, keep)


def _taken(module: Module, name: str, t: Tensor, value: Tensor) -> _Write:
    def take() -> Tensor:
        marks = marks_of(t)
        new: Tensor = value
        if module._kinds[name] == "parameter":
            if not (isinstance(value, Parameter) and value.requires_grad == t.requires_grad):
                new = value.detach().requires_grad_(t.requires_grad)
            mark(new)
        elif value.requires_grad:
            new = value.detach()
        mark_as(new, marks)
        put(module, name, new)
        return new

    return _Write(take, lambda: lambda: put(module, name, t))


def _told(module: Module, state: Any) -> _Write:
    def keep() -> Callable[[], object]:
        if not _has_extra(module, "get_extra_state"):
            return lambda: None
        before = copy.deepcopy(module.get_extra_state())
        return lambda: module.set_extra_state(before)

    return _Write(lambda: module.set_extra_state(state), keep)


@no_grad()
def _write(found: Findings) -> None:
    written = [write.make() for write in found.writes]
    realize([t for t in written if t is not None])


@no_grad()
def _kept(found: Findings) -> list[Callable[[], object]]:
    return [write.keep() for write in found.writes]


@no_grad()
def _taken_back(kept: list[Callable[[], object]]) -> None:
    for back in kept:
        back()


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def load(module: Module, state_dict: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    """Sets the state of a module and of all inside it."""
    if not hasattr(state_dict, "keys"):
        path = f": load_state_dict(load({state_dict!r})) reads a file" if isinstance(state_dict, str) else ""
        raise TypeError(f"{type(module).__name__}.load_state_dict takes a dictionary of tensors by name, got {type(state_dict).__name__}{path}")
    metadata: Mapping[str, Any] = getattr(state_dict, "_metadata", {})
    state: OrderedDict[str, Any] = OrderedDict(state_dict)
    missing: list[str] = []
    unexpected: list[str] = []
    found = Findings(assign)
    keys = IncompatibleKeys(missing, unexpected)

    def walk(part: Module, state: Mapping[str, Any], prefix: str) -> None:
        local = metadata.get(prefix[:-1], {})
        part._load_from_state_dict(state, prefix, local, True, missing, unexpected, found)
        for name, child in part._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                walk(child, {key: value for key, value in state.items() if key.startswith(inner)}, inner)
        after.extend((part, hook) for hook in _own(part, "load"))

    def check() -> None:
        problems: list[str] = []
        if strict:
            problems += [f"Missing key(s) in state_dict: {_quoted(missing)}."] if missing else []
            problems += [f"Unexpected key(s) in state_dict: {_quoted(unexpected)}."] if unexpected else []
        problems += ["size mismatch for " + ", ".join(found)] if found else []
        if problems:
            head = f"Error(s) in loading state_dict for {type(module).__name__}:"
            raise StateError("\n\t".join([head, *problems]))

    after: list[tuple[Module, _hooks.Hook]] = []
    walk(module, state, "")
    if found or not after:
        check()
        _write(found)
        return keys
    # Hooks see the module as it was loaded, and may say that what is missing is not: what they do not excuse is taken back.
    kept = _kept(found)
    try:
        _write(found)
        for part, hook in after:
            hook.call(part, keys)
        check()
    except BaseException:
        _taken_back(kept)
        raise
    return keys
