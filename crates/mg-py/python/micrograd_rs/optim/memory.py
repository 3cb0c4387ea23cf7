"""What an engine's optimiser remembers of its parameters, as a dictionary that programs change: PyTorch's `optimizer.state`."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from .._micrograd_rs import Tensor, _Alone, _is_same, _needs_values, _optimizer_memory, from_dlpack, get_default_dtype, tensor
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from .groups import Group
    from .optimizer import Optimizer

__all__: list[str] = []

__getattr__ = _Lazy(__name__)

_D = TypeVar("_D", bound=dict[Any, Any])
_T = TypeVar("_T")
_absent = object()
# Looks into a dictionary without looking for what is new.
_raw: Any = dict

# What each of the engine's optimisers may remember of a parameter.
_NAMES = {kind: frozenset(names) for kind, names in _optimizer_memory().items()}
_ALL_NAMES = frozenset[str]().union(*_NAMES.values())
# What the engine counts on the host, which are tensors here only.
_NUMBERS = frozenset(("step", "mu_product", "eta", "mu"))

# What is remembered of parameters, by their number in a group.
Remembered = dict[int, dict[str, Any]]


def become(entries: dict[str, Any], new: dict[str, Any]) -> None:
    """Gives a dictionary the entries of another one, without anybody hearing of it; entry by entry, so that whoever looks meanwhile, and Ctrl-C,
    finds each that is there before and after.
    """
    for key in [key for key in _raw.keys(entries) if key not in new]:
        _raw.__delitem__(entries, key)
    _raw.update(entries, new)


class Told(dict[str, Any]):
    """A dictionary of something else's, which hears of every change."""

    def _become(self, new: dict[str, Any]) -> None:
        become(self, new)

    def _now(self) -> dict[str, Any]:
        return plain(self)

    def _at_once(self, change: Callable[[], _T]) -> _T:
        """Makes a change of what there is, which no other thread changes between."""
        return change()

    def __setitem__(self, key: str, value: Any) -> None:
        self._at_once(lambda: self._become({**self._now(), key: value}))

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def update(self, *args: Any, **kwargs: Any) -> None:
        new = dict(*args, **kwargs)
        self._at_once(lambda: self._become({**self._now(), **new}))

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

        def taken() -> Any:
            left = self._now()
            value = left.pop(key)
            self._become(left)
            return value

        return self._at_once(taken)

    def popitem(self) -> tuple[str, Any]:
        if not self:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        self._at_once(lambda: self._become({}))

    def __reduce__(self) -> Any:
        # Copies belong to no optimiser.
        return dict, (dict(self),)


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


def by_parameter(state: Mapping[str, Tensor]) -> Remembered:
    """What is remembered under `0.exp_avg`, `0.step`, …, for each parameter."""
    out: Remembered = {}
    for key, t in state.items():
        i, _, name = key.partition(".")
        out.setdefault(int(i), {})[name] = t
    return out


def flat(state: Remembered) -> dict[str, Tensor]:
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


class _Numbers:
    """Numbers that an engine's optimiser remembers, by parameter and name, as tensors in one memory, which tells what was written to it without
    a tensor being read: within a step that is recorded as well.
    """

    def __init__(self, now: Mapping[tuple[Tensor, str], float]) -> None:
        # As PyTorch's.
        line = tensor(list(now.values()), dtype="float64" if get_default_dtype() == "float64" else "float32", device="cpu")
        self.tensors = dict(zip(now, line.unbind(), strict=True))
        self._memory: Any = memoryview(cast("Any", line))
        self._place = {key: i for i, key in enumerate(now)}
        self._known: bytes = self._memory.tobytes()

    def show(self, now: Mapping[tuple[Tensor, str], float], stands: Callable[[Tensor, str, Tensor], bool]) -> None:
        """Has the tensors stand for the numbers as they are now. Those that stand nowhere any more are let go."""
        self.tensors = {key: t for key, t in self.tensors.items() if stands(*key, t)}
        for key in self.tensors:
            if key in now:
                self._memory[self._place[key]] = now[key]
        self._known = self._memory.tobytes()

    def written(self) -> dict[tuple[Tensor, str], Tensor]:
        """What was written to since."""
        now: bytes = self._memory.tobytes()
        if now == self._known:
            return {}
        before, self._known = self._known, now
        size: int = self._memory.itemsize
        starts = {key: size * self._place[key] for key in self.tensors}
        return {key: self.tensors[key] for key, at in starts.items() if now[at : at + size] != before[at : at + size]}


@_looked_up
class Entries(Told):
    """What is remembered of one parameter. Tensors are those that steps write to; what is put in their place, or beside them, is remembered
    from then on.
    """

    def __init__(self, memory: Memory, parameter: Tensor, entries: Any) -> None:
        super().__init__(entries)
        # Weak: the memory has these.
        self._memory = weakref.ref(memory)
        self.parameters = [parameter]

    def _renewed(self) -> Self:
        memory = self._memory()
        if memory is not None:
            memory._renewed()
        return self

    def _now(self) -> dict[str, Any]:
        return plain(self._renewed())

    def _become(self, new: dict[str, Any]) -> None:
        before = plain(self)
        super()._become(new)
        memory = self._memory()
        if memory is not None:
            memory.heard(self.parameters, before, self)

    def is_of(self, memory: Memory) -> bool:
        """Whether it tells this one: programs that replace a parameter hand on what is remembered of it."""
        return self._memory() is memory


def plain(entries: Any) -> dict[Any, Any]:
    """What stands in a dictionary now, without looking for what is new."""
    return dict(_raw.items(entries))


def _are_same(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, Tensor) and isinstance(b, Tensor) and _is_same(a, b))


def _differ(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a.keys() != b.keys() or any(a[name] is not b[name] for name in a)


@_looked_up
class Memory(defaultdict[Any, Any]):
    """What an engine's optimiser remembers, by the parameter. The engine's own entries are looked up in it after each step; what is changed here by
    hand stands here alone until the next step, which goes on from it, or says why it cannot: programs may change one entry after another. What the
    engine has no name for stands here beside its own, and steps leave it alone.
    """

    def __init__(self, kind: type[Optimizer], groups: Sequence[Group], alone: _Alone) -> None:
        super().__init__(dict)
        self._kind, self._groups = kind, groups
        # What the optimiser does one at a time: nobody sees a state that is half loaded.
        self.alone = alone
        self._names = _NAMES[cast("str", kind._kind)]
        # Changes of the groups' cores that are seen here.
        self._seen: tuple[int, ...] = ()
        # Parameters whose entries were changed by hand, by their `id`, until a step takes them over.
        self._changed: dict[int, Tensor] = {}
        # Dictionaries that a program put here and may hold, which tell nothing: with what the engine had of them last.
        self._put: dict[int, tuple[Tensor, dict[str, Any]]] = {}
        # Numbers that were asked for.
        self._numbers: list[_Numbers] = []
        # Counts what is seen.
        self.edition = 0

    @property
    def is_touched(self) -> bool:
        """Whether something here may have been changed by hand."""
        return bool(self._changed or self._numbers or self._put)

    def _renewed(self) -> Self:
        # Numbers are read.
        _needs_values()
        self.alone.run(self._look)
        return self

    def _look(self) -> None:
        """Looks for what is new."""
        self._hear_numbers()
        now = tuple([group.core_now.last_change() for group in self._groups if group.core_now is not None])
        if now != self._seen:
            self._hear_put()
            self._pull()
            self._seen = now

    def _part(self, entries: Any) -> dict[str, Any]:
        """What the engine has names for."""
        if not isinstance(entries, dict):
            return {}
        return {name: value for name, value in plain(entries).items() if name in self._names}

    def _stands(self, p: Tensor, name: str, t: Tensor) -> bool:
        """Whether an entry of a parameter is this tensor."""
        entries = super().get(p)
        return isinstance(entries, dict) and _raw.get(entries, name) is t

    def _hear_numbers(self) -> None:
        """Notes numbers that were written to."""
        for numbers in self._numbers:
            self._changed.update((id(p), p) for (p, name), t in numbers.written().items() if self._stands(p, name, t))

    def _hear_put(self) -> None:
        """Notes what was changed in dictionaries that tell nothing."""
        get = super().get
        for p, known in self._put.values():
            if id(p) not in self._changed and _differ(known, self._part(get(p, {}))):
                self._changed[id(p)] = p

    def heard(self, parameters: Sequence[Tensor], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Entries of these parameters were changed by hand."""
        self.edition += 1
        get = super().get
        if _differ(self._part(before), self._part(after)):
            self._changed.update((id(p), p) for p in parameters if get(p) is after)

    def _pull(self) -> None:
        """Has the entries be what the engine remembers now, but for those that were changed by hand."""
        self.edition += 1
        found: dict[Tensor, dict[str, Any]] = {}
        for group in self._groups:
            its = self._kind._read(group)
            found.update((p, its.get(i, {})) for i, p in enumerate(group.params_then) if id(p) not in self._changed)
        self._show(found)
        get = super().get
        for p, new in found.items():
            entries = get(p)
            if not isinstance(entries, dict):
                if new:
                    super().__setitem__(p, Entries(self, p, new))
                continue
            known = self._part(entries)
            forgotten = known.keys() - new.keys()
            for name in forgotten:
                _raw.__delitem__(entries, name)
            # An entry is one object for as long as it is one tensor.
            _raw.update(entries, {name: value for name, value in new.items() if not _are_same(known.get(name), value)})
            if forgotten and not plain(entries):
                super().__delitem__(p)
            elif id(p) in self._put:
                self._put[id(p)] = (p, self._part(entries))

    def _show(self, found: Mapping[Tensor, dict[str, Any]]) -> None:
        """Puts tensors in the place of the numbers among what was found."""
        now = {(p, name): t.item() for p, entries in found.items() for name, t in entries.items() if name in _NUMBERS}
        for numbers in self._numbers:
            numbers.show(now, self._stands)
        # One list at once: another thread may be showing numbers, too.
        known = [numbers for numbers in self._numbers if numbers.tensors]
        shown = {key: t for numbers in known for key, t in numbers.tensors.items()}
        if new := {key: value for key, value in now.items() if key not in shown}:
            known.append(_Numbers(new))
            shown |= known[-1].tensors
        self._numbers = known
        for p, name in now:
            found[p][name] = shown[p, name]

    def taken(self, params: Sequence[Tensor]) -> dict[str, Tensor]:
        """What a new core goes on from, for these parameters. (What was changed by hand comes with the next push.)"""
        get = super().get
        parts = {i: self._part(get(p, {})) for i, p in enumerate(params) if id(p) not in self._changed}
        return self._kind._flat({i: part for i, part in parts.items() if part})

    def push(self) -> None:
        """Has the engine go on from what was changed by hand, and write to the tensors that were put here."""
        self._hear_numbers()
        self._hear_put()
        if not self._changed:
            return
        # It reads the numbers among it.
        _needs_values()
        get = super().get
        for group in self._groups:
            if group.core_now is None or not any(id(p) in self._changed for p in group.params_then):
                continue
            parts = self._kind._read(group)
            for i, p in enumerate(group.params_then):
                if id(p) in self._changed:
                    parts[i] = self._part(get(p, {}))
            group.core_now.put_state(self._kind._flat({i: part for i, part in parts.items() if part}))
            for p in group.params_then:
                if self._changed.pop(id(p), None) is not None and id(p) in self._put:
                    self._put[id(p)] = (p, self._part(get(p, {})))
        # What is in no group stands here until it is.
        self._changed.clear()

    def check(self, state: Mapping[Any, Any]) -> list[tuple[Any, dict[str, Tensor]]]:
        """What `load` has each core remember of a state. ValueError that lists all that does not fit."""
        _needs_values()
        loads: list[tuple[Any, dict[str, Tensor]]] = []
        missing: list[str] = []
        unexpected: list[str] = []
        misshapen: list[str] = []
        before = 0
        for group in self._groups:
            for i, p in enumerate(group.params_then, before):
                unexpected += [f"{i}.{name}" for name in state.get(p, ()) if name in _ALL_NAMES and name not in self._names]
            if group.core_now is not None:
                parts = {i: self._part(dict(state[p])) for i, p in enumerate(group.params_then) if p in state}
                its = self._kind._flat({i: part for i, part in parts.items() if part})
                loads.append((group.core_now, its))
                for found, more in zip((missing, unexpected, misshapen), group.core_now.incompatible_keys(its, before), strict=True):
                    found += more
            before += len(group.params_then)
        self._refuse(missing, unexpected, misshapen)
        return loads

    def load(self, state: Mapping[Any, Any], loads: list[tuple[Any, dict[str, Tensor]]]) -> None:
        """Remembers a state that was checked, and nothing else."""
        for core, its in loads:
            core.load_state(its)
        self._let_go()
        for p, entries in state.items():
            if not isinstance(p, Tensor):
                super().__setitem__(p, entries)
            elif own := {name: value for name, value in dict(entries).items() if name not in self._names}:
                super().__setitem__(p, Entries(self, p, own))

    def _refuse(self, missing: list[str], unexpected: list[str], misshapen: list[str]) -> None:
        """An error that names all that a state and this optimiser do not have in common, if there is something."""
        lists = (("missing:", missing), ("unexpected:", unexpected), ("of another shape:", misshapen))
        if words := [f"{what} {', '.join(names)}" for what, names in lists if names]:
            remembers = ", ".join(sorted(self._names)) or "nothing"
            its = f"; {self._kind._kind} remembers {remembers}" if unexpected else ""
            raise ValueError(f"{self._kind._kind}.load_state_dict: the state of another optimiser; {'; '.join(words)}{its}")

    def _let_go(self) -> None:
        self._changed.clear()
        self._put.clear()
        super().clear()
        self._seen = ()
        self.edition += 1

    def become(self, state: Mapping[Any, Any]) -> None:
        """Has these entries stand here and no others, as put by hand."""
        new = dict(state)
        self.clear()
        for p, entries in new.items():
            self[p] = entries

    def plain(self) -> dict[Any, Any]:
        """All of it as it is now, in dictionaries that nobody else has."""
        self._renewed()
        held: list[tuple[Any, Any]] = list(super().items())
        return {p: plain(entries) if isinstance(p, Tensor) and isinstance(entries, dict) else entries for p, entries in held}

    def __setitem__(self, key: Any, value: Any) -> None:
        self._renewed()
        before = super().get(key, {})
        self._put.pop(id(key), None)
        if isinstance(value, Entries) and value.is_of(self):
            value.parameters.append(key)
        elif isinstance(value, Entries) or (isinstance(key, Tensor) and isinstance(value, Mapping) and not isinstance(value, dict)):
            value = Entries(self, key, value)
        elif isinstance(key, Tensor) and isinstance(value, dict):
            # Whoever put it there may hold it, and go on writing to it.
            self._put[id(key)] = (key, {})
        super().__setitem__(key, value)
        self.edition += 1
        if isinstance(key, Tensor) and (self._part(before) or self._part(value)):
            self._changed[id(key)] = key

    def __missing__(self, key: Any) -> Any:
        # Asked for, and not written.
        entries = Entries(self, key, {})
        super().__setitem__(key, entries)
        return entries

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def pop(self, key: Any, *default: Any) -> Any:
        self._renewed()
        is_here = super().__contains__(key)
        value = super().pop(key, *default)
        if is_here:
            self._gone(key, value)
        return value

    def popitem(self) -> tuple[Any, Any]:
        self._renewed()
        key, value = super().popitem()
        self._gone(key, value)
        return key, value

    def _gone(self, key: Any, value: Any) -> None:
        self.edition += 1
        self._put.pop(id(key), None)
        if isinstance(key, Tensor) and self._part(value):
            self._changed[id(key)] = key

    def clear(self) -> None:
        for key in list(self):
            self.pop(key)

    def update(self, *args: Any, **kwargs: Any) -> None:
        new: Any = dict(*args, **kwargs)
        for p, entries in new.items():
            self[p] = entries

    def __ior__(self, other: Any) -> Self:  # type: ignore[misc]
        self.update(other)
        return self

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = {} if default is None else default
        return self[key]

    def copy(self) -> Any:
        return defaultdict(dict, self.plain())

    __copy__ = copy

    def __reduce__(self) -> Any:
        return defaultdict, (dict, self.plain())


@_looked_up
class Live(dict[Any, Any]):
    """The state of an engine's optimiser by numbers, for those parameters that had one when it was asked for: what is remembered of each is looked up
    whenever somebody looks, so that the numbers that the engine keeps are as new as the tensors that steps write to.
    """

    def __new__(cls, *args: Any, **entries: Any) -> Any:
        # Programs that go through a state make each of its dictionaries anew, by its class: that one is theirs.
        return super().__new__(cls) if len(args) == 2 else dict(*args, **entries)

    def __init__(self, optimizer: Optimizer, entries: Mapping[Any, Mapping[str, Any]]) -> None:
        super().__init__({i: dict(its) for i, its in entries.items()})
        self._of, params = optimizer, optimizer._parameters()
        # What was put here, and of which parameter.
        self._put = {i: (params[i], dict(its)) for i, its in entries.items() if isinstance(i, int)}
        self._edition = -1

    def _renewed(self) -> Self:
        memory = cast("Memory", self._of.state)
        if self._edition == memory.edition:
            return self
        now, self._edition = memory.plain(), memory.edition
        for i, (p, put) in self._put.items():
            its: dict[str, Any] = super().get(i, {})
            new = now.get(p)
            if new is None:
                # Nothing is remembered any more: this is what was.
                continue
            # What was changed by hand stays.
            for name in [name for name in {**put, **new} if its.get(name, _absent) is put.get(name, _absent)]:
                for held in (its, put):
                    if name in new:
                        held[name] = new[name]
                    else:
                        held.pop(name, None)
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        self._put.pop(key, None)
        super().__setitem__(key, value)

    def copy(self) -> dict[Any, Any]:
        return dict(self.items())

    def __reduce__(self) -> Any:
        # Copies are snapshots.
        return dict, (self.copy(),)
