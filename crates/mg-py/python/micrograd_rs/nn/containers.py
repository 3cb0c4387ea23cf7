"""Modules of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, overload

from .module import Module


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
