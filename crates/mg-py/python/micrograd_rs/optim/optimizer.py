"""What every optimiser is: groups of parameters with options, what is remembered of them, and a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any, ClassVar, cast

from .._micrograd_rs import Tensor, _Alone, _looks_at_state, _Optimizer
from .._names import Lazy as _Lazy
from .._names import kind_of
from ..autograd import enable_grad
from .groups import Group
from .memory import Live, Memory, Remembered, become, by_parameter, flat

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

__getattr__ = _Lazy(__name__)

Parameters = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Mapping[str, Any]]
ParamsT = Parameters


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


# Hooks of the steps of all optimisers.
_everywhere: dict[str, dict[_Handle, Callable[..., Any]]] = {"pre": {}, "post": {}}


def _tell(kind: type[Optimizer]) -> None:
    """Has hooks be called around the step that a class brings itself. From the first hook on: until then its step is as it was written."""
    where = next(cls for cls in kind.__mro__ if "step" in vars(cls))
    own = vars(where)["step"]
    if where is Optimizer or hasattr(own, "_is_told"):
        return

    @wraps(own)
    def step(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        # A step that is made of another one is one step.
        if vars(self).get("_is_stepping"):
            return own(self, *args, **kwargs)
        for hook in [*_everywhere["pre"].values(), *self._hooks("pre")]:
            hook(self, args, kwargs)
        vars(self)["_is_stepping"] = True
        try:
            answer = own(self, *args, **kwargs)
        finally:
            del vars(self)["_is_stepping"]
        for hook in [*self._hooks("post"), *_everywhere["post"].values()]:
            hook(self, args, kwargs)
        return answer

    vars(step)["_is_told"] = True
    type.__setattr__(where, "step", step)


def _kinds(kind: type[Optimizer]) -> Iterator[type[Optimizer]]:
    yield kind
    for derived in kind.__subclasses__():
        yield from _kinds(derived)


def _of_all(when: str, hook: Callable[..., Any]) -> _Handle:
    for kind in _kinds(Optimizer):
        _tell(kind)
    handle = _Handle(_everywhere[when])
    _everywhere[when][handle] = hook
    return handle


def register_optimizer_step_pre_hook(hook: Callable[[Optimizer, Any, Any], None]) -> _Handle:
    """Has `hook(optimizer, args, kwargs)` be called before every step of every optimiser. The answer's `remove()` undoes it."""
    return _of_all("pre", hook)


def register_optimizer_step_post_hook(hook: Callable[[Optimizer, Any, Any], None]) -> _Handle:
    """Has `hook(optimizer, args, kwargs)` be called after every step of every optimiser. The answer's `remove()` undoes it."""
    return _of_all("post", hook)


class _Required:
    """Stands for a default that there is none of."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """What changes parameters by their gradients. Parameters come as tensors, or as dictionaries of tensors (under
    `params`) with options of their own; or with their names, as `named_parameters()` has them, which are kept as `param_names`.

    A subclass that brings its own `step` keeps what it remembers of a parameter in `state[p]`.

    Arguments:
        params: the parameters: tensors, pairs of names and tensors as `named_parameters()` has them, or dictionaries with a list of either under "params"
            and with options of their own
        defaults: the options that groups have, and their values where a group does not say its own

    Errors: ValueError without parameters, TypeError for what is no tensor.

    >>> class Descent(mg.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     def step(self):
    ...         with mg.no_grad():
    ...             for group in self.param_groups:
    ...                 for p in group["params"]:
    ...                     p -= group["lr"] * p.grad
    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> (p * 2).sum().backward()
    >>> Descent([p], lr=0.25).step()
    >>> p.item()
    0.5
    """

    # The engine's name for it; without one, `step` is Python's.
    _kind: ClassVar[str | None] = None
    # What `jit` looks at are its groups.
    _is_optimizer: ClassVar[bool] = True
    # Where it turns out to hold, a step changes nothing: set by `amp.GradScaler` for a step.
    _left_out: Tensor | None = None

    # The groups as they were when they were last asked for: parameters may be in others by the next time.
    _stepped: list[Group]
    # What an engine's optimiser remembers, and what Python's does.
    _memory: Memory | None = None
    # How often groups came, went or got other cores since the first step: what `jit` recorded before is not replayed after that.
    _renewals: int = 0
    # There are groups that a step cannot be made with.
    _is_unfit: bool = False
    _own_state: defaultdict[Any, Any]
    # Had while it makes a step, is saved, loads a state or hears of changes.
    _alone: _Alone

    @property
    def param_groups(self) -> list[Any]:
        """Groups of parameters, under `params`, with their options. The list and what is in it can be changed, and steps are made with that."""
        groups = self._raw_groups
        # `jit` asks for them before each replay, so this is short: what was changed by then is heard of here. (Parameters `jit` looks at itself.)
        if self._memory is not None and (self._memory.is_touched or self._is_unfit or not self._are_known(groups)):
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
    def state(self) -> defaultdict[Any, Any]:
        """What it remembers of each parameter, by the parameter: tensors that steps write to. To write to them, to put others in their place, to
        remove some and to clear all of it changes what is remembered; what does not fit is told by the next step, so that entries can be changed
        one after another. Entries under names of the program's own stand beside the engine's. Numbers, as that of steps, are as they are when
        they are looked up.
        """
        if self._memory is None:
            return self._own_state
        _looks_at_state()
        if not self._are_known(self._raw_groups):
            self._hear()
        return self._memory._renewed()

    @state.setter
    def state(self, state: Mapping[Any, Any]) -> None:
        if self._memory is None:
            self._own_state = defaultdict(dict, state)
        else:
            self._memory.become(state)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if _everywhere["pre"] or _everywhere["post"]:
            _tell(cls)

    def _patch_step_function(self) -> None:
        """Has hooks be called around the step of its class. Optimisers that do without `super().__init__()` ask for it, as PyTorch's do."""
        _tell(type(self))

    @staticmethod
    def _read(group: Group) -> Remembered:
        """What a group's core remembers, by the number of the parameter."""
        return {} if group.core_now is None else by_parameter(group.core_now.state())

    @staticmethod
    def _flat(entries: Remembered) -> dict[str, Tensor]:
        """The same as a core takes it."""
        return flat(entries)

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups = []
        self._begin()
        if callable(getattr(params, "parameters", None)):
            # A list of parameters is a module, too.
            first: Any = next(iter(params), None) if hasattr(type(params), "__iter__") else None
            if not isinstance(first, Tensor):
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

    def _begin(self) -> None:
        """Remembers nothing yet."""
        self._stepped = []
        self._alone = _Alone()
        if self._kind is None:
            self._own_state = defaultdict(dict)
        else:
            self._memory = Memory(type(self), self._stepped, self._alone)

    def add_param_group(self, param_group: Any) -> None:
        """Adds parameters with options of their own.

        Arguments:
            param_group: a dictionary with parameters under "params", and with options; those that it does not have are the optimiser's

        Errors: KeyError without "params"; ValueError for a parameter that is in another group already; TypeError for what is no tensor.

        >>> model, head = mg.nn.Linear(2, 8), mg.nn.Linear(8, 1)
        >>> sgd = mg.optim.SGD(model.parameters(), lr=0.1)
        >>> sgd.add_param_group({"params": head.parameters(), "lr": 0.01})
        >>> [group["lr"] for group in sgd.param_groups]
        [0.1, 0.01]
        """
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
        group = Group(self._kind, {"params": params, **self.defaults, **given, "params": params})

        def added() -> None:
            if self._stepped:
                # What was taken out of other groups by now is remembered.
                self._hear()
                self._renewals += 1
            group.renew(self._memory)
            self.param_groups.append(group)

        self._alone.run(added)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of all parameters, or makes them 0.

        Arguments:
            set_to_none: whether `grad` becomes None, rather than a tensor of zeros

        >>> p = mg.nn.Parameter(mg.tensor([1.0]))
        >>> sgd = mg.optim.SGD([p], lr=0.25)
        >>> (p * 2).sum().backward()
        >>> sgd.zero_grad()
        >>> p.grad is None
        True
        """
        for p in self._parameters():
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes every parameter that has a gradient. With a closure, calls it first, and answers with the loss.

        Arguments:
            closure: a function without arguments that removes the gradients, computes the loss, calls its `backward` and answers with it; None:
                gradients are there

        Errors: NotImplementedError where a subclass does not write it.

        >>> p = mg.nn.Parameter(mg.tensor([1.0]))
        >>> sgd = mg.optim.SGD([p], lr=0.25)
        >>> for _ in range(3):
        ...     sgd.zero_grad()
        ...     (p**2).sum().backward()
        ...     sgd.step()
        >>> p.item()
        0.125
        """
        if self._kind is None:
            raise NotImplementedError(f"{type(self).__name__} does not say how it changes parameters: write its step()")
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        # A subclass's own step that comes here has called them.
        is_told = vars(self).get("_is_stepping", False)
        for hook in [] if is_told else [*_everywhere["pre"].values(), *self._hooks("pre")]:
            hook(self, (closure,), {})
        self._alone.run(self._step)
        for hook in [] if is_told else [*self._hooks("post"), *_everywhere["post"].values()]:
            hook(self, (closure,), {})
        return loss

    def _step(self) -> None:
        cores = [group.core() for group in self._groups()]
        _Optimizer.step([core for core in cores if core is not None], self._left_out)

    def _parameters(self) -> list[Tensor]:
        """The parameters of all groups, in order."""
        return [p for group in self._raw_groups for p in group["params"]]

    def _hooks(self, when: str) -> list[Callable[..., Any]]:
        return list(vars(self).get("_step_hooks", {}).get(when, {}).values())

    def _hook(self, when: str, hook: Callable[..., Any], prepend: bool = False) -> _Handle:
        if when in _everywhere:
            _tell(type(self))
        hooks = vars(self).setdefault("_step_hooks", {}).setdefault(when, {})
        handle = _Handle(hooks)
        others = dict(hooks) if prepend else {}
        if prepend:
            hooks.clear()
        hooks[handle] = hook
        hooks.update(others)
        return handle

    def register_step_pre_hook(self, hook: Callable[[Optimizer, Any, Any], None]) -> _Handle:
        """Has a function called before every step, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(optimizer, args, kwargs)`, with what `step` was called with

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> handle = sgd.register_step_pre_hook(lambda optimizer, args, kwargs: print("before"))
        >>> sgd.step()
        before
        """
        return self._hook("pre", hook)

    def register_step_post_hook(self, hook: Callable[[Optimizer, Any, Any], None]) -> _Handle:
        """Has a function called after every step, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(optimizer, args, kwargs)`, with what `step` was called with

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> handle = sgd.register_step_post_hook(lambda optimizer, args, kwargs: print("after"))
        >>> sgd.step()
        after
        """
        return self._hook("post", hook)

    def register_state_dict_pre_hook(self, hook: Callable[[Optimizer], None], prepend: bool = False) -> _Handle:
        """Has a function called before `state_dict` collects, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(optimizer)`
            prepend: whether it comes before other hooks rather than after them

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> handle = sgd.register_state_dict_pre_hook(lambda optimizer: print("saving"))
        >>> _ = sgd.state_dict()
        saving
        """
        return self._hook("state_pre", hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[[Optimizer, dict[str, Any]], dict[str, Any] | None], prepend: bool = False
    ) -> _Handle:
        """Has a function called after `state_dict` has collected, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(optimizer, state_dict)`; what it answers with takes the dictionary's place, and None leaves it
            prepend: whether it comes before other hooks rather than after them

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> handle = sgd.register_state_dict_post_hook(lambda optimizer, state: {**state, "epoch": 3})
        >>> sgd.state_dict()["epoch"]
        3
        """
        return self._hook("state_post", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[[Optimizer, dict[str, Any]], dict[str, Any] | None], prepend: bool = False
    ) -> _Handle:
        """Has a function called before a state is loaded, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(optimizer, state_dict)`, with a shallow copy of what is loaded; what it answers with takes its place, and None
                leaves it
            prepend: whether it comes before other hooks rather than after them

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> handle = sgd.register_load_state_dict_pre_hook(lambda optimizer, state: print(sorted(state)))
        >>> sgd.load_state_dict(sgd.state_dict())
        ['param_groups', 'state']
        """
        return self._hook("load_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[[Optimizer], None], prepend: bool = False) -> _Handle:
        """Has a function called after a state was loaded, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(optimizer)`
            prepend: whether it comes before other hooks rather than after them

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> handle = sgd.register_load_state_dict_post_hook(lambda optimizer: print("loaded"))
        >>> sgd.load_state_dict(sgd.state_dict())
        loaded
        """
        return self._hook("load_post", hook, prepend)

    def _are_known(self, groups: list[Any]) -> bool:
        known = self._stepped
        if len(known) != len(groups):
            return False
        for group, other in zip(known, groups):
            if group is not other or not group.fits:
                return False
        return True

    def _groups(self) -> list[Any]:
        """The groups, with what is remembered of their parameters, whichever group these were in before, and as it was changed by hand."""
        groups = self._grouped()
        if self._memory is not None:
            self._memory.push()
        return groups

    def _grouped(self) -> list[Any]:
        """The groups, with what is remembered of their parameters, whichever group these were in before."""
        groups = self._raw_groups
        if self._memory is None:
            return groups
        for i, group in enumerate(groups):
            if not isinstance(group, Group):
                # A plain dictionary was put among them.
                groups[i] = Group(self._kind, {**group, "params": list(group["params"])})
        stale = [group for group in groups if not group.is_on(group["params"])]
        if stale or not self._are_known(groups):
            self._renew(stale, self._memory)
            self._stepped[:] = groups
        return groups

    def _hear(self) -> None:
        """Has changes of the groups, and of what is remembered, come into force."""
        vars(self).pop("_is_unfit", None)
        try:
            self._alone.run(self._groups)
        except (KeyError, TypeError, ValueError):
            # Told by the next step, which is no replay: `jit` looks at what an optimiser has.
            self._is_unfit = True

    def _renew(self, stale: list[Group], memory: Memory) -> None:
        """Has groups go on from what is remembered of their parameters."""
        groups, before = self._raw_groups, list(self._stepped)
        now, then = {id(group) for group in groups}, {id(group) for group in before}
        gone = [group for group in before if id(group) not in now]
        if before:
            # Also what groups remember that are gone.
            memory._renewed()
        new: list[Group] = []
        for group in stale:
            # One that stands in the place of another goes on as that, in recorded steps as well.
            other = next((other for other in gone if other.is_on(group["params"])), None)
            if other is None:
                new.append(group)
            else:
                group.take(other)
        # What was out may have gone on elsewhere.
        back = {id(group) for group in groups if group.is_out and id(group) not in then}
        renewed = [group for group in groups if id(group) in back.union(map(id, new))]
        for group in renewed:
            group.renew(memory)
        if before and (renewed or any(group.params_then for group in gone)):
            self._renewals += 1
        for group in gone:
            group.is_out = True

    def _remembered(self) -> dict[Any, Any]:
        """What it remembers, by the number of the parameter in all groups."""
        params = self._parameters()
        state = self.state if self._memory is None else self._memory.plain()
        out: dict[Any, Any] = {i: entries for i, p in enumerate(params) if (entries := state[p] if p in state else None)}
        return out | {key: entries for key, entries in state.items() if not isinstance(key, Tensor)}

    def state_dict(self) -> dict[str, Any]:
        """What it remembers of each parameter, by the parameter's number, and the options of each group. As in PyTorch it shows later steps too:
        `copy.deepcopy(o.state_dict())` is a snapshot.

        >>> p = mg.nn.Parameter(mg.tensor([1.0]))
        >>> sgd = mg.optim.SGD([p], lr=0.25, momentum=0.9)
        >>> (p * 2).sum().backward()
        >>> sgd.step()
        >>> sgd.state_dict()["state"]
        {0: {'momentum_buffer': tensor([2.])}}
        """
        for hook in self._hooks("state_pre"):
            hook(self)
        state = self._alone.run(self._saved)
        for hook in self._hooks("state_post"):
            changed = hook(self, state)
            state = state if changed is None else changed
        return state

    def _saved(self) -> dict[str, Any]:
        groups: list[dict[str, Any]] = []
        before = 0
        for group in self.param_groups:
            n = len(group["params"])
            groups.append({**{k: v for k, v in group.items() if k != "params"}, "params": list(range(before, before + n))})
            before += n
        remembered = self._remembered()
        return {"state": remembered if self._memory is None else Live(self, remembered), "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from what `state_dict` answered with: remembers it, and takes over its options.

        Arguments:
            state_dict: the state of an optimiser of as many groups and parameters, of the same shapes and in the same order

        Errors: ValueError where entries are missing, not known, or of another shape, which it lists, and for groups and options that do not fit;
        KeyError for a dictionary without "state" or "param_groups". Then nothing was changed.

        >>> import micrograd_rs as mg
        >>> w = mg.nn.Parameter(mg.ones(2))
        >>> sgd = mg.optim.SGD([w], lr=0.1, momentum=0.9)
        >>> state = sgd.state_dict()
        >>> state["state"] = {0: {"momentum_buffer": mg.zeros(3)}}
        >>> sgd.load_state_dict(state)
        Traceback (most recent call last):
        ValueError: SGD.load_state_dict: the state of another optimiser; of another shape: 0.momentum_buffer (takes [2], got [3])
        """
        state_dict = dict(state_dict)
        for hook in self._hooks("load_pre"):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        self._alone.run(lambda: self._load(state_dict))
        for hook in self._hooks("load_post"):
            hook(self)

    def _load(self, state_dict: Mapping[str, Any]) -> None:
        """Takes over a state, all of it or nothing: no other thread steps or looks meanwhile."""
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
        params = dict(zip([k for group in groups for k in group["params"]], self._parameters(), strict=True))
        remembered = {params.get(k, k): entries for k, entries in state.items() if k in params or not isinstance(k, int)}
        if self._memory is None:
            self._own_state = defaultdict(dict, {p: dict(entries) if isinstance(p, Tensor) else entries for p, entries in remembered.items()})
        else:
            self._grouped()
            # Nothing is changed before all of it was looked at.
            loads = self._memory.check(remembered)
            for i, (own, options) in enumerate(zip(self.param_groups, groups)):
                if isinstance(own, Group):
                    own.check(options, f"{type(self).__name__}.load_state_dict: group {i} of the state")
            self._memory.load(remembered, loads)
        for i, options in enumerate(groups):
            group = self.param_groups[i]
            new = {**options, "params": group["params"]}
            if isinstance(group, Group):
                group._become(new)
            else:
                become(group, new)

    def __getstate__(self) -> dict[str, Any]:
        hidden = ("param_groups", "_own_state", "_memory", "_alone", "_step_hooks", "_left_out", "_stepped", "_is_unfit", "_is_stepping")
        own = {k: v for k, v in vars(self).items() if k not in hidden}
        state = self.state if self._memory is None else self._memory.plain()
        return {**own, "param_groups": [dict(group) for group in self.param_groups], "state": dict(state)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        groups, remembered = state.pop("param_groups"), state.pop("state")
        vars(self).update(state)
        self.param_groups = [Group(self._kind, group) for group in groups]
        self._begin()
        self.state = remembered

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {k}: {v}\n" for k, v in sorted(group.items()) if k != "params")
        return text + ")"
