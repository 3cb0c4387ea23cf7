"""A module's parts of a kind, as a dictionary that changes with the module and changes it."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, MutableMapping, MutableSet, ValuesView
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet, ref

if TYPE_CHECKING:
    from .module import Module


# Modules that `copy.copy` made of each other: what is registered with one is registered with all.
twins: WeakKeyDictionary[Module, WeakSet[Module]] = WeakKeyDictionary()


def put(module: Module, name: str, value: Any) -> None:
    """Sets what is registered under a name."""
    object.__setattr__(module, name, value)
    if twins:
        for twin in twins.get(module, ()):
            vars(twin)[name] = value


# Views of a dictionary go backwards, too.


class _Keys(KeysView[str]):
    def __reversed__(self) -> Iterator[str]:
        yield from reversed(list(self))


class _Values(ValuesView[Any]):
    def __reversed__(self) -> Iterator[Any]:
        yield from reversed(list(self))


class _Items(ItemsView[str, Any]):
    def __reversed__(self) -> Iterator[tuple[str, Any]]:
        yield from reversed(list(self))


class Parts(MutableMapping[str, Any]):
    """Modules, parameters or buffers by name; None where a name is kept for one."""

    def __init__(self, module: Module, kinds: tuple[str, ...]) -> None:
        self._module = module
        self._kinds = kinds

    def __getitem__(self, name: str) -> Any:
        if self._module._kinds.get(name) not in self._kinds:
            raise KeyError(name)
        return vars(self._module).get(name)

    def __setitem__(self, name: str, value: Any) -> None:
        kinds = self._module._kinds
        if kinds.get(name) not in self._kinds:
            kinds[name] = self._kinds[0]
        put(self._module, name, value)

    def __delitem__(self, name: str) -> None:
        if self._module._kinds.get(name) not in self._kinds:
            raise KeyError(name)
        delattr(self._module, name)

    def become(self, parts: Mapping[str, Any]) -> None:
        """Has these in place of those that there are."""
        given, before = dict(parts), dict(self._module._kinds)
        # From now on it is by itself.
        object.__setattr__(self._module, "_kinds", dict(before))
        together = twins.pop(self._module, None)
        if together is not None:
            together.discard(self._module)
        for name in list(self):
            del self[name]
        for name, value in given.items():
            # A buffer that was not saved is not from now on either.
            if before.get(name) in self._kinds:
                self._module._kinds[name] = before[name]
            self[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, kind in self._module._kinds.items() if kind in self._kinds])

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self))

    def keys(self) -> KeysView[str]:
        return _Keys(self)

    def values(self) -> ValuesView[Any]:
        return _Values(self)

    def items(self) -> ItemsView[str, Any]:
        return _Items(self)

    def copy(self) -> dict[str, Any]:
        """The parts that there are now."""
        return dict(self)

    def __len__(self) -> int:
        return sum(kind in self._kinds for kind in self._module._kinds.values())

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self, **other}

    def __ror__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**other, **self}

    def __repr__(self) -> str:
        return repr(dict(self))


class Held(Parts):
    """As a module has it among its attributes, where programs look for it: `vars(module)["_parameters"]`. It does not hold the module."""

    def __init__(self, module: Module, kinds: tuple[str, ...]) -> None:
        self._of = ref(module)
        self._kinds = kinds

    @property
    def _module(self) -> Module:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]
        module = self._of()
        if module is None:
            raise ReferenceError("the module that had these parts is gone")
        return module

    def __reduce__(self) -> Any:
        return Held, (self._module, self._kinds)


#: A module's parts among its attributes, by the names that PyTorch has for them.
HELD = {"_parameters": ("parameter",), "_buffers": ("buffer", "transient"), "_modules": ("module",)}


class Transient(MutableSet[str]):
    """The names of a module's buffers that are not saved: it changes with the module and changes it."""

    def __init__(self, module: Module) -> None:
        self._module = module

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        # What is made of two sets is one of its own.
        return set(it)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._module._kinds.get(name) == "transient"

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, kind in self._module._kinds.items() if kind == "transient"])

    def __len__(self) -> int:
        return sum(kind == "transient" for kind in self._module._kinds.values())

    def add(self, value: str) -> None:
        if self._module._kinds.get(value) == "buffer":
            self._module._kinds[value] = "transient"

    def discard(self, value: str) -> None:
        if self._module._kinds.get(value) == "transient":
            self._module._kinds[value] = "buffer"

    def __repr__(self) -> str:
        return repr(set(self))
