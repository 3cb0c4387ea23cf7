"""A data set for each worker: what it is made of is copied, the numbers that it holds are shared."""

from __future__ import annotations

import copyreg
import threading
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any, cast

from ..._micrograd_rs import BPE, Bytes, Characters, Generator, Table, Tensor
from ..._names import Lazy as _Lazy
from .dataset import Dataset

__all__ = ["Copier"]

__getattr__ = _Lazy(__name__)

# The entries of a container of more than these are data, and shared, but for the data sets among them.
LARGE = 1000

_LOCKS: dict[type, Callable[[], Any]] = {type(threading.Lock()): threading.Lock, type(threading.RLock()): threading.RLock}

# What nobody can write to, and what is known by what it is rather than by what is in it.
_SHARED: frozenset[type] = frozenset({
    type(None), bool, int, float, complex, str, bytes, frozenset, range, slice, type(...), type(NotImplemented), object,
    types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.CodeType, weakref.ref, bytearray, memoryview, Table, BPE, Bytes, Characters,
})  # fmt: skip

# What says of itself that it is an array or a table.
_ARRAYS = ("__array__", "__array_interface__", "__dlpack__", "__arrow_c_array__", "__arrow_c_stream__", "__dataframe__")


def _is_shared(kind: type[Any]) -> bool:
    # What is each thread's own is so already.
    if kind in _SHARED or issubclass(kind, (type, Tensor, threading.local)):
        return True
    return Dataset not in kind.__mro__ and any(hasattr(kind, name) for name in _ARRAYS)


def _names_and_slots(state: Any) -> list[Any]:
    """Attributes, and those that have no dictionary."""
    return list(state) if state.__class__ is tuple and len(state) == 2 else [state, None]


class Copier:
    """Copies what a worker uses. What is met twice is one thing in the copy too.

    Objects are copied with their attributes, as `copy.deepcopy` does it: by `__reduce_ex__`, `__getstate__` and `__setstate__`, or by their
    `__deepcopy__`. Lists, dictionaries and sets are copied with what they hold, those of more than a thousand entries without. Tensors,
    arrays and tables, functions and classes are shared; so is what cannot be copied (open files, generators), which `kept` names.
    """

    def __init__(self) -> None:
        # As that of `copy.deepcopy`, which `__deepcopy__` methods pass on.
        self._memo: dict[int, Any] = {}
        self._alive: list[Any] = []
        self.kept: list[str] = []

    def of(self, value: Any, place: str) -> Any:
        """The copy of a value, or the value itself."""
        kind = cast("type[Any]", type(value))  # type: ignore[redundant-cast]
        if _is_shared(kind):
            return value
        if id(value) in self._memo:
            return self._memo[id(value)]
        self._alive.append(value)
        try:
            return self._known(value, self._copied(value, kind, place))
        except Exception:
            # Files, generators, connections: whoever has one has the only one.
            self.kept.append(f"{place} ({kind.__name__})")
            return self._known(value, value)

    def _known(self, value: Any, made: Any) -> Any:
        self._memo[id(value)] = made
        return made

    def _copied(self, value: Any, kind: type, place: str) -> Any:
        if kind is list:
            listed: list[Any] = self._known(value, [])
            listed.extend(self._entries(value, len(value), place))
            return listed
        if kind is dict:
            entries: dict[Any, Any] = self._known(value, {})
            entries.update(zip(value, self._entries(value.values(), len(value), place), strict=True))
            return entries
        if kind is tuple:
            items = tuple(self._entries(value, len(value), place))
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if kind is set:
            return set(self._entries(value, len(value), place))
        if kind is types.MethodType:
            return types.MethodType(value.__func__, self.of(value.__self__, place))
        if kind in _LOCKS:
            return _LOCKS[kind]()
        if kind is Generator:
            return value.clone_state()
        own: Callable[[Any], Any] | None = getattr(kind, "__deepcopy__", None)
        if own is not None and not hasattr(kind, "named_parameters"):
            return value.__deepcopy__(self._memo)
        reduced = copyreg.dispatch_table.get(kind)
        made: Any = reduced(value) if reduced is not None else value.__reduce_ex__(4)
        return value if isinstance(made, str) else self._rebuilt(value, place, *made)

    def _entries(self, values: Iterable[Any], count: int, place: str) -> Iterable[Any]:
        if count <= LARGE:
            return [self.of(value, f"{place}[…]") for value in values]
        if not any(issubclass(kind, Dataset) for kind in set(map(type, values))):
            return values
        return [self.of(value, f"{place}[…]") if isinstance(value, Dataset) else value for value in values]

    def _rebuilt(
        self,
        value: Any,
        place: str,
        make: Callable[..., Any],
        arguments: tuple[Any, ...],
        state: Any = None,
        items: Iterable[Any] | None = None,
        pairs: Iterable[tuple[Any, Any]] | None = None,
        put: Callable[[Any, Any], Any] | None = None,
    ) -> Any:
        made = self._known(value, make(*[self.of(argument, place) for argument in arguments]))
        if state is not None:
            state = self._state(state, place)
            if put is not None:
                put(made, state)
            elif (told := getattr(made, "__setstate__", None)) is not None:
                told(state)
            else:
                names, slots = _names_and_slots(state)
                if names:
                    made.__dict__.update(names)
                for name, slot in () if slots is None else slots.items():
                    setattr(made, name, slot)
        if items is not None:
            held = list(items)
            for item in self._entries(held, len(held), place):
                made.append(item)
        if pairs is not None:
            entries = list(pairs)
            keys = [key for key, _ in entries]
            for key, item in zip(keys, self._entries([item for _, item in entries], len(entries), place), strict=True):
                made[key] = item
        return made

    def _state(self, state: Any, place: str) -> Any:
        """Attributes, each under its name."""
        if type(state) is dict:
            entries = cast("dict[Any, Any]", state)  # type: ignore[redundant-cast]
            return {name: self.of(value, f"{place}.{name}") for name, value in entries.items()}
        if type(state) is tuple:
            return tuple(self._state(part, place) if type(part) is dict else self.of(part, place) for part in cast("tuple[Any, ...]", state))  # type: ignore[redundant-cast]
        return self.of(state, place)
