"""Modules of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, cast, overload

from .._micrograd_rs import Tensor
from .module import Module, Parameter


class Sequential(Module):
    """Modules one after another, each on what the one before it answers. Their names are `0`, `1`, …, or a dictionary's keys."""

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        for i, module in enumerate(modules):
            if isinstance(module, Module):
                self.add_module(str(i), module)
            else:
                for name, part in module.items():
                    self.add_module(name, part)

    def forward(self, input: Any) -> Any:
        for module in self.children():
            input = module(input)
        return input

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self) -> int:
        return sum(1 for _ in self.children())

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Module:
        parts = list(self.named_children())
        if isinstance(index, slice):
            return Sequential(dict(parts[index]))
        return parts[index][1]


class ModuleList(Module):
    """Modules in a list."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self.extend(modules)

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def __len__(self) -> int:
        return sum(1 for _ in self.children())

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    def __getitem__(self, index: int) -> Module:
        return list(self.children())[index]

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(str(range(len(self))[index]), module)


class ModuleDict(Module):
    """Modules in a dictionary."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        for name, module in (modules or {}).items():
            self.add_module(name, module)

    def __len__(self) -> int:
        return sum(1 for _ in self.children())

    def __contains__(self, name: str) -> bool:
        return name in dict(self.named_children())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, name: str) -> Module:
        return dict(self.named_children())[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def keys(self) -> Iterable[str]:
        """The names."""
        return [name for name, _ in self.named_children()]

    def values(self) -> Iterable[Module]:
        """The modules."""
        return list(self.children())

    def items(self) -> Iterable[tuple[str, Module]]:
        """Names and modules."""
        return list(self.named_children())


class ParameterList(Module):
    """Tensors in a list: what are parameters is trained, other tensors become parameters. Their names are `0`, `1`, …"""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        self._size = 0
        self.extend(values or ())

    def append(self, value: Any) -> Self:
        """Adds a tensor at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds tensors at the end."""
        for value in values:
            self.append(value)
        return self

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(self._size)])

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> ParameterList: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return ParameterList(self[i] for i in range(self._size)[index])
        return getattr(self, str(range(self._size)[index]))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(range(self._size)[index]), _parameter(value))


class ParameterDict(Module):
    """Tensors in a dictionary: what are parameters is trained, other tensors become parameters."""

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None) -> None:
        self._names: list[str] = []
        self.update(values or {})

    def update(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Adds tensors by name."""
        # Not narrowed to a mapping by the check: a checker would take pairs for its keys, too.
        by_name = cast("Mapping[str, Any]", values).items() if isinstance(values, Mapping) else None
        pairs = cast("Iterable[tuple[str, Any]]", values) if by_name is None else by_name
        for name, value in pairs:
            self[name] = value

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return getattr(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._names:
            if hasattr(self, name):
                raise KeyError(f"{name!r} is something else of a ParameterDict")
            self._names.append(name)
        setattr(self, name, _parameter(value))

    def __delitem__(self, name: str) -> None:
        if name not in self._names:
            raise KeyError(name)
        self._names.remove(name)
        delattr(self, name)

    def pop(self, name: str) -> Any:
        """Removes a tensor, and answers with it."""
        value = self[name]
        del self[name]
        return value

    def keys(self) -> Iterable[str]:
        """The names."""
        return list(self._names)

    def values(self) -> Iterable[Any]:
        """The tensors."""
        return [self[name] for name in self._names]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and tensors."""
        return [(name, self[name]) for name in self._names]


def _parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value
