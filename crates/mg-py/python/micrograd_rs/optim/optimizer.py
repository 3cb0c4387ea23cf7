"""What every optimiser is: groups of parameters with options, what is remembered of them, and a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar, cast

from .._micrograd_rs import _LBFGS, Tensor, _needs_values, _Optimizer, from_dlpack, tensor
from .._names import Lazy as _Lazy
from .._names import kind_of
from ..autograd import enable_grad

__all__ = ["Optimizer"]

__getattr__ = _Lazy(__name__)

Parameters = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Mapping[str, Any]]
ParamsT = Parameters

_D = TypeVar("_D", bound=dict[Any, Any])
_absent = object()

# What the engine counts on the host, which are tensors here only.
_NUMBERS = frozenset(("step", "mu_product", "eta", "mu"))


class _Told(dict[str, Any]):
    """A dictionary of something else's, which hears of every change."""

    def _become(self, new: dict[str, Any]) -> None:
        super().clear()
        super().update(new)

    def __setitem__(self, key: str, value: Any) -> None:
        self._become({**self, key: value})

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def update(self, *args: Any, **kwargs: Any) -> None:
        self._become({**self, **dict(*args, **kwargs)})

    def __ior__(self, other: Any) -> Self:  # type: ignore[override, misc]
        self.update(other)
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, default: Any = _absent) -> Any:
        if key not in self and default is not _absent:
            return default
        value = self[key]
        self._become({k: v for k, v in self.items() if k != key})
        return value

    def popitem(self) -> tuple[str, Any]:
        if not self:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        self._become({})

    def __reduce__(self) -> Any:
        # Copies belong to no optimiser.
        return dict, (dict(self),)


class _Group(_Told):
    """Parameters, under `params`, and their options, which can be changed as those of any dictionary. Steps read them."""

    def __init__(self, kind: str | None, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._kind = kind
        self._core: _Optimizer | _LBFGS | None = None
        # What the core was made on, and whether it takes the options.
        self._params: list[Tensor] = []
        self._fits = True
        # Whether it was taken out of an optimiser, which remembers its parameters since: it may have them go on in another group.
        self._is_out = False

    def core(self) -> Any:
        """What changes these parameters with these options; None without parameters."""
        if self._core is not None:
            self._core.set_options(self)
        return self._core

    def is_on(self, params: Sequence[Tensor]) -> bool:
        """Whether its core was made on these, and takes the options."""
        return self._fits and len(params) == len(self._params) and all(map(is_, params, self._params))

    def remembered(self) -> dict[int, dict[str, Any]]:
        """What its core remembers, by the number of the parameter."""
        return {} if self._core is None else by_parameter(self._core.state())

    def renew(self, memory: Mapping[Tensor, Mapping[str, Any]]) -> None:
        """Makes a core on the parameters that it has now, which goes on from what was remembered of them."""
        params = list(self["params"])
        if self._kind is None or not params:
            core = None
        else:
            core = _LBFGS(params, self) if self._kind == "LBFGS" else _Optimizer(self._kind, params, self)
            if own := {i: memory[p] for i, p in enumerate(params) if p in memory}:
                # It reads the numbers among it.
                _needs_values()
                core.load_state(_flat(own))
        self._core, self._params, self._fits, self._is_out = core, params, True, False

    def take(self, other: _Group) -> None:
        """Goes on in the place of another group on the same parameters."""
        if other._core is not None:
            other._core.set_options(self)
        self._core, self._params = other._core, other._params
        other._core, other._params = None, []

    def _become(self, new: dict[str, Any]) -> None:
        # The core hears of it at once: steps that are replayed do not come by here.
        if self._core is not None:
            try:
                self._core.set_options(new)
                self._fits = True
            except KeyError:
                # Options that are taken out are missed by the next step.
                self._fits = False
        super()._become(new)


def by_parameter(state: Mapping[str, Tensor]) -> dict[int, dict[str, Any]]:
    """What is remembered under `0.exp_avg`, `0.step`, …, for each parameter."""
    out: dict[int, dict[str, Any]] = {}
    for key, t in state.items():
        i, _, name = key.partition(".")
        out.setdefault(int(i), {})[name] = t
    return out


def _flat(state: Mapping[int, Mapping[str, Any]]) -> dict[str, Tensor]:
    """The reverse. Tensors of other libraries are taken over."""
    own: dict[str, Tensor] = {}
    for i, entries in state.items():
        for name, value in entries.items():
            if value is not None:
                own[f"{i}.{name}"] = _tensor(value)
    return own


def _tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__dlpack__") and getattr(value, "ndim", 0) != 0:
        return from_dlpack(value, copy=True)
    return tensor(float(value), dtype="float64")


def options_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options among the arguments of an optimiser."""
    found = {k: v for k, v in arguments.items() if k not in ("self", "params", "__class__")}
    if found.get("differentiable"):
        raise ValueError("steps of an optimiser cannot be differentiated: take steps by hand, with autograd.grad(create_graph=True)")
    return found


class _Handle:
    """What `remove()`s a hook."""

    def __init__(self, hooks: dict[_Handle, Callable[..., Any]]) -> None:
        self._of = hooks

    def remove(self) -> None:
        self._of.pop(self, None)


class _Numbers:
    """Numbers that an engine's optimiser remembers, by parameter and name, as tensors in one memory, which tells what was written to it without
    a tensor being read: within a step that is recorded as well.
    """

    def __init__(self, now: Mapping[tuple[Tensor, str], float]) -> None:
        line = tensor(list(now.values()), dtype="float32", device="cpu")
        self.tensors = dict(zip(now, line.unbind(), strict=True))
        self._memory: Any = memoryview(cast("Any", line))
        self._place = {key: i for i, key in enumerate(now)}
        self._known: bytes = self._memory.tobytes()

    def show(self, now: Mapping[tuple[Tensor, str], float]) -> None:
        """Has the tensors stand for the numbers as they are now. Those that are none any more are let go."""
        self.tensors = {key: t for key, t in self.tensors.items() if key in now}
        for key in self.tensors:
            self._memory[self._place[key]] = now[key]
        self._known = self._memory.tobytes()

    def written(self) -> dict[tuple[Tensor, str], Tensor]:
        """What was written to since."""
        now: bytes = self._memory.tobytes()
        if now == self._known:
            return {}
        before, self._known = self._known, now
        ends = {key: 4 * self._place[key] + 4 for key in self.tensors}
        return {key: self.tensors[key] for key, end in ends.items() if now[end - 4 : end] != before[end - 4 : end]}


class _Entries(_Told):
    """What an engine's optimiser remembers of one parameter. Tensors are those that steps write to; what is put in their place is remembered
    from then on.
    """

    def __init__(self, state: _State, parameter: Tensor, entries: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self._state, self._parameter = state, parameter

    def _become(self, new: dict[str, Any]) -> None:
        super()._become(new)
        self._state.write(self._parameter)

    def renew(self, new: Mapping[str, Any]) -> None:
        for name in self.keys() - new.keys():
            super(_Told, self).__delitem__(name)
        super(_Told, self).update(new)


def _looked_up(cls: type[_D]) -> type[_D]:
    """A dictionary that is renewed whenever somebody looks."""

    def looking(name: str) -> Callable[..., Any]:
        look = getattr(cls, name)

        def looked(self: Any, *args: Any) -> Any:
            return look(self._renewed(), *args)

        return looked

    # To iterate is also what has `dict(state)` and `{**state}` ask for each entry.
    for name in ("__getitem__", "get", "__contains__", "__iter__", "__len__", "keys", "values", "items", "__eq__", "__repr__"):
        setattr(cls, name, looking(name))
    return cls


@_looked_up
class _State(defaultdict[Tensor, Any]):
    """What an engine's optimiser remembers; what is changed here is changed there."""

    def __init__(self, optimizer: Optimizer) -> None:
        super().__init__(dict)
        self._optimizer = optimizer

    def _renewed(self) -> Self:
        params, now = self._optimizer._parameters(), self._optimizer._remembered()
        known, its = dict(super().items()), {**self._optimizer._left, **{params[i]: entries for i, entries in now.items()}}
        for p, entries in known.items():
            # Where something was asked for, and not written, there is nothing yet.
            if entries and p not in its:
                super().__delitem__(p)
        for p, new in its.items():
            if p not in known:
                super().__setitem__(p, _Entries(self, p, new))
            else:
                known[p].renew(new)
        return self

    def write(self, *changed: Tensor) -> None:
        """Has the optimiser go on from what is here of these parameters."""
        o, of = self._optimizer, {id(p): p for p in changed}
        now, get = o._remembered(), super().get
        for i, p in enumerate(o._parameters()):
            if of.pop(id(p), None) is not None:
                now[i] = dict(get(p, {}))
        o._remember(now)
        if of:
            # They are in no group.
            o._leave({**o._left, **{p: dict(get(p, {})) for p in of.values()}})
        self._renewed()

    def __setitem__(self, key: Tensor, value: Any) -> None:
        super().__setitem__(key, _Entries(self, key, value))
        self.write(key)

    def __missing__(self, key: Tensor) -> Any:
        # Asked for, and not written.
        entries = _Entries(self, key, {})
        super().__setitem__(key, entries)
        return entries

    def __delitem__(self, key: Tensor) -> None:
        super().__delitem__(key)
        self.write(key)

    def clear(self) -> None:
        super().clear()
        self.write(*self._optimizer._parameters(), *self._optimizer._left)

    def pop(self, key: Tensor, *default: Any) -> Any:
        value = super().pop(key, *default)
        self.write(key)
        return value

    def popitem(self) -> tuple[Tensor, Any]:
        item = super().popitem()
        self.write(item[0])
        return item

    def update(self, *args: Any, **kwargs: Any) -> None:
        new: Any = dict(*args, **kwargs)
        for p, entries in new.items():
            self[p] = entries

    def __ior__(self, other: Any) -> Self:  # type: ignore[override, misc]
        self.update(other)
        return self

    def setdefault(self, key: Tensor, default: Any = None) -> Any:
        if key not in self:
            self[key] = {} if default is None else default
        return self[key]

    def copy(self) -> Any:
        return _plain_state(self)

    __copy__ = copy

    def __reduce__(self) -> Any:
        return (_plain_state, (dict(self),))


@_looked_up
class _Live(dict[int, Any]):
    """The state of an engine's optimiser by numbers, for those parameters that had one when it was asked for: what is remembered of each is looked up
    whenever somebody looks, so that the numbers that the engine keeps are as new as the tensors that steps write to.
    """

    def __init__(self, optimizer: Optimizer, entries: Mapping[int, Mapping[str, Any]]) -> None:
        super().__init__({i: dict(its) for i, its in entries.items()})
        self._of, params = optimizer, optimizer._parameters()
        # What was put here, and of which parameter.
        self._put = {i: (params[i], dict(its)) for i, its in entries.items()}

    def _renewed(self) -> Self:
        params = self._of._parameters()
        now = {params[i]: its for i, its in self._of._remembered().items()}
        for i, (p, put) in self._put.items():
            its: dict[str, Any] = super().get(i, {})
            new = now.get(p, {})
            # What was changed by hand stays.
            for name in [name for name in {**put, **new} if its.get(name, _absent) is put.get(name, _absent)]:
                for held in (its, put):
                    if name in new:
                        held[name] = new[name]
                    else:
                        held.pop(name, None)
        return self

    def __setitem__(self, key: int, value: Any) -> None:
        self._put.pop(key, None)
        super().__setitem__(key, value)

    def copy(self) -> dict[int, Any]:
        return dict(self.items())

    def __reduce__(self) -> Any:
        # Copies are snapshots.
        return dict, (self.copy(),)


def _plain_state(entries: Mapping[Tensor, Any]) -> defaultdict[Tensor, Any]:
    return defaultdict(dict, {p: dict(its) for p, its in entries.items()})


class _Required:
    """Stands for a default that there is none of."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """What changes parameters by their gradients. Parameters come as tensors, or as dictionaries of tensors (under
    `params`) with options of their own; or with their names, as `named_parameters()` has them, which are kept as `param_names`.

    A subclass that brings its own `step` keeps what it remembers of a parameter in `state[p]`.
    """

    # The engine's name for it; without one, `step` is Python's.
    _kind: ClassVar[str | None] = None
    # What `jit` looks at are its groups.
    _is_optimizer: ClassVar[bool] = True
    # Where it turns out to hold, a step changes nothing: set by `amp.GradScaler` for a step.
    _left_out: Tensor | None = None

    # The groups as they were when they were last asked for: parameters may be in others by the next time.
    _stepped: list[_Group]
    # Numbers that were asked for.
    _handed: list[_Numbers]
    # What is remembered of parameters that are in no group any more, for when they come back.
    _left: Mapping[Tensor, Mapping[str, Any]] = MappingProxyType({})
    # How often groups came, went or got other cores since the first step: what `jit` recorded before is not replayed after that.
    _renewals: int = 0
    # There are groups that a step cannot be made with.
    _is_unfit: bool = False
    _own_state: defaultdict[Tensor, Any]

    @property
    def param_groups(self) -> list[Any]:
        """Groups of parameters, under `params`, with their options. The list and what is in it can be changed, and steps are made with that."""
        groups = self._raw_groups
        # `jit` asks for them before each replay, so this is short: what was changed by then is heard of here. (Parameters `jit` looks at itself.)
        if self._kind is not None and (self._handed or self._is_unfit or not self._are_known(groups)):
            self._hear()
        return groups

    @param_groups.setter
    def param_groups(self, groups: Iterable[Any]) -> None:
        vars(self)["param_groups"] = groups if isinstance(groups, list) else list(groups)

    @property
    def _raw_groups(self) -> list[Any]:
        try:
            groups: list[Any] = vars(self)["param_groups"]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no param_groups yet: call super().__init__") from None
        return groups

    @property
    def state(self) -> defaultdict[Tensor, Any]:
        """What it remembers of each parameter, by the parameter: tensors that steps write to. To write to them, to put others in their place, to
        remove some and to clear all of it changes what is remembered. Numbers, as that of steps, are as they are when they are looked up.
        """
        if self._kind is None:
            return self._own_state
        return _State(self)._renewed()

    @state.setter
    def state(self, state: Mapping[Tensor, Any]) -> None:
        if self._kind is None:
            self._own_state = defaultdict(dict, state)
        else:
            self._remember({i: state[p] for i, p in enumerate(self._parameters()) if p in state})
            self._leave(state)

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups = []
        self._stepped, self._handed = [], []
        if self._kind is None:
            self._own_state = defaultdict(dict)
        if callable(getattr(params, "parameters", None)):
            raise TypeError(f"an optimiser takes tensors, got {kind_of(params)}: pass its parameters()")
        if isinstance(params, Mapping):
            raise TypeError(f"an optimiser takes tensors, or a list of groups, got a dictionary: [group] is a list of one")
        groups: list[Any] = [params] if isinstance(params, Tensor) else list(params)
        if not groups:
            raise ValueError(f"{type(self).__name__} takes at least one parameter, got none")
        if not isinstance(groups[0], Mapping):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Any) -> None:
        """Adds parameters with options of their own."""
        given = dict(param_group)
        params: list[Any] = [given["params"]] if isinstance(given["params"], Tensor) else list(given["params"])
        if params and all(isinstance(p, tuple) and len(cast("tuple[Any, ...]", p)) == 2 for p in params):  # type: ignore[redundant-cast]
            # As `named_parameters()` has them.
            given["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"an optimiser takes tensors, got {kind_of(p)}")
        # What is no option stands beside them, as PyTorch's `foreach` and `fused` do, and goes with the state.
        taken = {id(p) for p in self._parameters()}
        if any(id(p) in taken for p in params):
            raise ValueError("a parameter is in more than one group")
        group = _Group(self._kind, {"params": params, **self.defaults, **given, "params": params})
        if self._stepped:
            # What was taken out of other groups by now is remembered.
            self._hear()
            self._renewals += 1
        group.renew(self._left)
        self.param_groups.append(group)
        if self._left:
            self._leave(self._left)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of all parameters, or sets them to 0."""
        for p in self._parameters():
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes every parameter that has a gradient. With a closure, calls it first, for the loss."""
        if self._kind is None:
            raise NotImplementedError(f"{type(self).__name__} does not say how it changes parameters: write its step()")
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for hook in self._hooks("pre"):
            hook(self, (closure,), {})
        cores = [group.core() for group in self._groups()]
        _Optimizer.step([core for core in cores if core is not None], self._left_out)
        for hook in self._hooks("post"):
            hook(self, (closure,), {})
        return loss

    def _parameters(self) -> list[Tensor]:
        """The parameters of all groups, in order."""
        return [p for group in self._raw_groups for p in group["params"]]

    def _hooks(self, when: str) -> list[Callable[..., Any]]:
        return list(vars(self).get("_step_hooks", {}).get(when, {}).values())

    def _hook(self, when: str, hook: Callable[..., Any], prepend: bool = False) -> _Handle:
        hooks = vars(self).setdefault("_step_hooks", {}).setdefault(when, {})
        handle = _Handle(hooks)
        others = dict(hooks) if prepend else {}
        if prepend:
            hooks.clear()
        hooks[handle] = hook
        hooks.update(others)
        return handle

    def register_step_pre_hook(self, hook: Callable[[Optimizer, Any, Any], None]) -> _Handle:
        """Has `hook(optimizer, args, kwargs)` be called before every step. The answer's `remove()` undoes it."""
        return self._hook("pre", hook)

    def register_step_post_hook(self, hook: Callable[[Optimizer, Any, Any], None]) -> _Handle:
        """Has `hook(optimizer, args, kwargs)` be called after every step. The answer's `remove()` undoes it."""
        return self._hook("post", hook)

    def register_state_dict_pre_hook(self, hook: Callable[[Optimizer], None], prepend: bool = False) -> _Handle:
        """Has `hook(optimizer)` be called before `state_dict` collects. The answer's `remove()` undoes it."""
        return self._hook("state_pre", hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[[Optimizer, dict[str, Any]], dict[str, Any] | None], prepend: bool = False
    ) -> _Handle:
        """Has `hook(optimizer, state_dict)` be called with what `state_dict` collected; what it answers with (not None) takes its place."""
        return self._hook("state_post", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[[Optimizer, dict[str, Any]], dict[str, Any] | None], prepend: bool = False
    ) -> _Handle:
        """Has `hook(optimizer, state_dict)` be called with a shallow copy of what is loaded; what it answers with (not None) takes its place."""
        return self._hook("load_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[[Optimizer], None], prepend: bool = False) -> _Handle:
        """Has `hook(optimizer)` be called after a state was loaded. The answer's `remove()` undoes it."""
        return self._hook("load_post", hook, prepend)

    def _are_known(self, groups: list[Any]) -> bool:
        known = self._stepped
        if len(known) != len(groups):
            return False
        for group, other in zip(known, groups):
            if group is not other or not group._fits:
                return False
        return True

    def _groups(self) -> list[Any]:
        """The groups, with what is remembered of their parameters, whichever group these were in before, and as it was changed by hand."""
        groups, before = self._raw_groups, self._stepped
        if self._kind is None:
            return groups
        for i, group in enumerate(groups):
            if not isinstance(group, _Group):
                # A plain dictionary was put among them.
                groups[i] = _Group(self._kind, {**group, "params": list(group["params"])})
        stale = [group for group in groups if not group.is_on(group["params"])]
        if stale or not self._are_known(groups):
            self._renew(stale, before)
            self._stepped = list(groups)
        written = {key: t for numbers in self._handed for key, t in numbers.written().items()}
        if written:
            now = self._read()
            for i, p in enumerate(self._parameters()):
                its = now.get(i, {})
                its.update({name: written[p, name] for name in its if (p, name) in written})
            self._remember(now)
        return groups

    def _hear(self) -> None:
        """Has changes of the groups come into force."""
        vars(self).pop("_is_unfit", None)
        try:
            self._groups()
        except (KeyError, TypeError, ValueError):
            # Told by the next step, which is no replay: `jit` looks at what an optimiser has.
            self._is_unfit = True

    def _renew(self, stale: list[_Group], before: list[_Group]) -> None:
        """Has groups go on from what is remembered of their parameters, and remembers those that are in no group any more."""
        groups = self._raw_groups
        now, then = {id(group) for group in groups}, {id(group) for group in before}
        gone = [group for group in before if id(group) not in now]
        new: list[_Group] = []
        for group in stale:
            # One that stands in the place of another goes on as that, in recorded steps as well.
            other = next((other for other in gone if other.is_on(group["params"])), None)
            if other is None:
                new.append(group)
            else:
                group.take(other)
        # What was out may have gone on elsewhere.
        back = {id(group) for group in groups if group._is_out and id(group) not in then}
        renewed = [group for group in groups if id(group) in back.union(map(id, new))]
        memory = dict(self._left)
        for group in (*gone, *(groups if renewed else ())):
            if id(group) not in back:
                memory.update((group._params[i], entries) for i, entries in group.remembered().items())
        for group in renewed:
            group.renew(memory)
        if before and (renewed or any(group._params for group in gone)):
            self._renewals += 1
        for group in gone:
            group._is_out = True
        if memory:
            self._leave(memory)

    def _leave(self, memory: Mapping[Tensor, Mapping[str, Any]]) -> None:
        """Remembers this of the parameters that are in no group, and nothing else of such."""
        inside = {id(p) for p in self._parameters()}
        left = {p: dict(entries) for p, entries in memory.items() if id(p) not in inside and entries}
        if left:
            self._left = left
        else:
            # Nothing that `jit` would look at.
            vars(self).pop("_left", None)

    def _read(self) -> dict[int, dict[str, Any]]:
        """What it remembers, by the number of the parameter in all groups."""
        out: dict[int, dict[str, Any]] = {}
        before = 0
        for group in self._raw_groups:
            if self._kind is None:
                out.update((before + i, self.state[p]) for i, p in enumerate(group["params"]) if p in self.state)
            else:
                out.update((before + i, entries) for i, entries in group.remembered().items())
            before += len(group["params"])
        return out

    def _remembered(self) -> dict[int, dict[str, Any]]:
        """What it remembers, by the number of the parameter in all groups, for others than itself."""
        self._groups()
        out = self._read()
        if self._kind is None:
            return out
        # Those that the engine counts are read.
        _needs_values()
        params = self._parameters()
        now = {(params[i], name): t.item() for i, entries in out.items() for name, t in entries.items() if name in _NUMBERS}
        for numbers in self._handed:
            numbers.show(now)
        shown = {key: t for numbers in self._handed for key, t in numbers.tensors.items()}
        if new := {key: value for key, value in now.items() if key not in shown}:
            self._handed.append(_Numbers(new))
            shown |= self._handed[-1].tensors
        for i, entries in out.items():
            entries.update({name: shown[params[i], name] for name in entries if name in _NUMBERS})
        return out

    def _remember(self, state: Mapping[int, Mapping[str, Any]]) -> None:
        before = 0
        for group in self._groups():
            params = group["params"]
            own = {j: state[before + j] for j in range(len(params)) if before + j in state}
            if self._kind is None:
                for j, p in enumerate(params):
                    self.state.pop(p, None)
                    if j in own:
                        self.state[p] = dict(own[j])
            elif (core := group.core()) is not None:
                _needs_values()
                core.load_state(_flat(own))
            before += len(params)

    def state_dict(self) -> dict[str, Any]:
        """What it remembers of each parameter, by the parameter's number, and the options of each group. As in PyTorch it shows later steps too:
        `copy.deepcopy(o.state_dict())` is a snapshot.
        """
        for hook in self._hooks("state_pre"):
            hook(self)
        groups: list[dict[str, Any]] = []
        before = 0
        for group in self.param_groups:
            n = len(group["params"])
            groups.append({**{k: v for k, v in group.items() if k != "params"}, "params": list(range(before, before + n))})
            before += n
        remembered = self._remembered()
        state: dict[str, Any] = {"state": remembered if self._kind is None else _Live(self, remembered), "param_groups": groups}
        for hook in self._hooks("state_post"):
            changed = hook(self, state)
            state = state if changed is None else changed
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Remembers what `state_dict` answered with, and takes over its options, for parameters of the same shapes in the same
        order.
        """
        state_dict = dict(state_dict)
        for hook in self._hooks("load_pre"):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        state, groups = state_dict["state"], state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError(
                f"{type(self).__name__}.load_state_dict: the state has {len(groups)} groups of parameters, this optimiser has {len(self.param_groups)}"
            )
        for i, (own, its) in enumerate(zip(self.param_groups, groups)):
            if len(own["params"]) != len(its["params"]):
                raise ValueError(
                    f"{type(self).__name__}.load_state_dict: group {i} of the state has {len(its['params'])} parameters, this optimiser's has "
                    f"{len(own['params'])}: it takes the state of the same parameters in the same order"
                )
        self._leave({})
        number = {k: i for i, k in enumerate(k for group in groups for k in group["params"])}
        self._remember({number[k]: entries for k, entries in state.items() if k in number})
        for i, options in enumerate(groups):
            group = self.param_groups[i]
            new = {**options, "params": group["params"]}
            if isinstance(group, _Group):
                group._become(new)
            else:
                group.clear()
                group.update(new)
        for hook in self._hooks("load_post"):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        own = {k: v for k, v in vars(self).items() if k not in ("param_groups", "_own_state", "_step_hooks", "_left_out", "_stepped", "_handed", "_is_unfit")}
        return {**own, "param_groups": [dict(group) for group in self.param_groups], "state": self._remembered()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        groups, remembered = state.pop("param_groups"), state.pop("state")
        vars(self).update(state)
        if self._kind is None:
            self._own_state = defaultdict(dict)
        self.param_groups = [_Group(self._kind, group) for group in groups]
        self._stepped, self._handed = [], []
        self._remember(remembered)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {k}: {v}\n" for k, v in sorted(group.items()) if k != "params")
        return text + ")"
