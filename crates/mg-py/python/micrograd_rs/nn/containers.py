"""Modules of modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, overload

from .._micrograd_rs import Tensor
from .module import Module
from .parameter import Parameter

Named = Mapping[str, Any] | Iterable[tuple[str, Any]]


def _pairs(values: Any) -> list[tuple[str, Any]]:
    """Names and values of a dictionary or of pairs."""
    if hasattr(values, "items"):
        values = values.items()
    pairs: list[tuple[str, Any]] = []
    for at, pair in enumerate(values):
        if type(pair) not in (tuple, list) or len(pair) != 2:
            raise ValueError(f"takes a dictionary or pairs of a name and a value, got {pair!r} at {at}")
        pairs.append((pair[0], pair[1]))
    return pairs


class _Numbered(Module):
    """Modules whose names are mostly numbers, one after the other."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._modules.values()))

    def __contains__(self, module: object) -> bool:
        return any(module is part for part in self)

    def _name(self, index: int) -> str:
        names = list(self._modules)
        if not -len(names) <= index < len(names):
            raise IndexError(f"index {index} is out of range for {len(names)} modules")
        return names[index]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else (self._name(index),):
            delattr(self, name)
        # Those that are left are numbered anew.
        self._become(list(self._modules.values()))

    def _become(self, modules: list[Any]) -> None:
        for name in list(self._modules):
            delattr(self, name)
        for i, module in enumerate(modules):
            self.add_module(str(i), module)

    def append(self, module: Module) -> Self:
        """Adds a module at the end, under the next number, and answers with the container.

        Arguments:
            module: the module

        Errors: TypeError for what is no module.
        """
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Puts a module before the one at an index, and answers with the container; those behind it are numbered anew.

        Arguments:
            index: where it is to be, from `−len` to `len`; a negative one counts from the end
            module: the module

        Errors: IndexError for an index out of range, TypeError for what is no module.
        """
        if not -len(self) <= index <= len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} modules")
        modules = list(self)
        modules.insert(index, module)
        self._become(modules)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end, under the next numbers, and answers with the container.

        Arguments:
            modules: the modules, in any iterable

        Errors: TypeError for what is no module.
        """
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice = -1) -> Any:
        """Removes a module, and answers with it; those behind it are numbered anew.

        Arguments:
            key: which one: an index, or a slice of indices

        Errors: IndexError for an index out of range.
        """
        whole: Any = self
        found = whole[key]
        del self[key]
        return found

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)


class Sequential(_Numbered):
    """Modules one after another, each on what the one before it answers. Their names are `0`, `1`, …, or a dictionary's keys.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs import nn
    >>> net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> net(mg.ones(5, 3)).shape, len(net), [name for name, _ in net.named_parameters()]
    ((5, 1), 3, ['0.weight', '0.bias', '2.weight', '2.bias'])

    Arguments:
        modules: the modules one after another, or a dictionary of names and modules

    Errors: TypeError for what is no module.
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        for i, module in enumerate(modules):
            if isinstance(module, Mapping):
                for name, part in module.items():
                    self.add_module(name, part)
            else:
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """What the last module makes of what those before it, one after the other, make of the input; without modules the input itself.

        Arguments:
            input: what the first module takes

        Errors: what the modules raise; the message begins with the name of the module that raised it.
        """
        for module in self:
            input = module(input)
        return input

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[self._name(index)]

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)

    def __mul__(self, times: int) -> Sequential:
        if times <= 0:
            raise ValueError(f"takes a number of times above 0, got {times}")
        return Sequential(*(list(self) * times))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        if times <= 0:
            raise ValueError(f"takes a number of times above 0, got {times}")
        return self.extend(list(self) * (times - 1))


class ModuleList(_Numbered):
    """Modules in a list: what is done with them says the module that has it. It has no `forward` of its own.

    >>> from micrograd_rs import nn
    >>> layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
    >>> len(layers), len(list(layers.parameters())), layers[-1]
    (3, 6, Linear(in_features=2, out_features=2, bias=True))

    Arguments:
        modules: the modules, in any iterable; None: there are none at first

    Errors: TypeError for what is no module, and for a module that is not in a list.
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        if isinstance(modules, Module) and not hasattr(modules, "__iter__"):
            raise TypeError(f"ModuleList takes a list of modules, got {type(modules).__name__}: ModuleList([module])")
        self.extend(modules or ())

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> ModuleList: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._name(index)]

    def insert(self, index: int, module: Module) -> None:
        """Puts a module before the one at an index; those behind it are numbered anew.

        Arguments:
            index: where it is to be, from `−len` to `len`; a negative one counts from the end
            module: the module

        Errors: IndexError for an index out of range, TypeError for what is no module.
        """
        super().insert(index, module)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        texts = [repr(module) for module in self]
        if not texts:
            return f"{self._get_name()}()"
        lines: list[str] = []
        start = 0
        # What is the same several times in a row is told once.
        for i, text in enumerate(texts):
            if i + 1 < len(texts) and texts[i + 1] == text:
                continue
            named = f"({start}-{i}): {i - start + 1} x {text}" if i > start else f"({i}): {text}"
            lines.append(named.replace("\n", "\n  "))
            start = i + 1
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules in a dictionary, in the order in which they came: what is done with them says the module that has it. It has no `forward` of its own.

    >>> heads = mg.nn.ModuleDict({"a": mg.nn.Linear(2, 1), "b": mg.nn.Linear(2, 3)})
    >>> heads["b"](mg.ones(5, 2)).shape, list(heads.state_dict())
    ((5, 3), ['a.weight', 'a.bias', 'b.weight', 'b.bias'])

    Arguments:
        modules: a dictionary of names and modules, or pairs of them; None: there are none at first

    Errors: TypeError for what is no module, KeyError for a name that is one of the dictionary's own, such as `keys`, or has a dot.
    """

    def __init__(self, modules: Named | None = None) -> None:
        if modules is not None:
            self.update(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __getitem__(self, name: str) -> Any:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Removes a module, and answers with it.

        Arguments:
            key: its name

        Errors: KeyError for a name that is not there.
        """
        found = self[key]
        del self[key]
        return found

    def update(self, modules: Named) -> None:
        """Adds modules by name; one that is there under the name is replaced.

        Arguments:
            modules: a dictionary of names and modules, or pairs of them

        Errors: TypeError for what is no module.
        """
        for name, module in _pairs(modules):
            self[name] = module

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and modules."""
        return self._modules.items()


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        what = "Parameter" if isinstance(value, Parameter) else "Tensor"
        return f"{what} containing: [{value.dtype} of size {'x'.join(map(str, value.shape))}]"
    return f"Object of type: {type(value).__name__}"


class ParameterList(Module):
    """Tensors in a list: what are parameters is trained, other tensors become parameters. Their names are `0`, `1`, … It has no `forward` of its own.

    >>> weights = mg.nn.ParameterList([mg.zeros(2), mg.zeros(3)])
    >>> len(weights), list(weights.state_dict())
    (2, ['0', '1'])

    Arguments:
        values: tensors, or anything else, which is kept and is no part of the state, in any iterable; None: there are none at first

    Errors: TypeError for a tensor that is not in a list.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        self._size = 0
        self.extend(values or ())

    def append(self, value: Any) -> Self:
        """Adds a tensor at the end, and answers with the list.

        Arguments:
            value: the tensor, which becomes a parameter if it is none; anything else is kept as it is
        """
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds tensors at the end, and answers with the list.

        Arguments:
            values: the tensors, in any iterable but a tensor

        Errors: TypeError for a tensor.
        """
        if isinstance(values, Tensor):
            raise TypeError("takes a list of tensors, got a tensor")
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

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

    def __delitem__(self, index: int) -> None:
        self.pop(index)

    def pop(self, index: int = -1) -> Any:
        """Removes a tensor, and answers with it; those behind it are numbered anew.

        Arguments:
            index: which one; a negative one counts from the end

        Errors: IndexError for an index out of range.
        """
        values = list(self)
        found = values.pop(index)
        for i in range(self._size):
            delattr(self, str(i))
        self._size = 0
        self.extend(values)
        return found

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {_described(value)}" for i, value in enumerate(self))


class ParameterDict(Module):
    """Tensors in a dictionary: what are parameters is trained, other tensors become parameters. It has no `forward` of its own.

    >>> weights = mg.nn.ParameterDict({"a": mg.zeros(2), "b": mg.zeros(3)})
    >>> weights["b"].requires_grad, list(weights.state_dict())
    (True, ['a', 'b'])

    Arguments:
        parameters: a dictionary of names and tensors, or pairs of them; None: there are none at first

    Errors: KeyError for a name that is one of the dictionary's own, such as `keys`.
    """

    def __init__(self, parameters: Named | None = None) -> None:
        self._names: list[str] = []
        self.update(parameters or {})

    def update(self, parameters: Any) -> None:
        """Adds tensors by name; one that is there under the name is replaced.

        Arguments:
            parameters: a dictionary of names and tensors, whose names are sorted first, as in PyTorch; or an `OrderedDict`, another `ParameterDict`
                or pairs, which keep their order

        Errors: KeyError for a name that is one of the dictionary's own, such as `keys`.
        """
        pairs = _pairs(parameters)
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs.sort(key=lambda pair: pair[0])
        for name, value in pairs:
            self[name] = value

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._names)

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

    def pop(self, key: str) -> Any:
        """Removes a tensor, and answers with it.

        Arguments:
            key: its name

        Errors: KeyError for a name that is not there.
        """
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Removes the tensor that came last, and answers with its name and it. KeyError where there is none."""
        if not self._names:
            raise KeyError("popitem(): no tensors")
        name = self._names[-1]
        return name, self.pop(name)

    def clear(self) -> None:
        """Removes all tensors."""
        for name in list(self._names):
            del self[name]

    def get(self, key: str, default: Any = None) -> Any:
        """The tensor under a name, or something else where there is none.

        Arguments:
            key: the name
            default: what comes back where there is none
        """
        return self[key] if key in self._names else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The tensor under a name; where there is none, `default` is put there first.

        Arguments:
            key: the name
            default: a tensor, which becomes a parameter, or anything else
        """
        if key not in self._names:
            self[key] = default
        return self[key]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Another dictionary with the same value under all these names.

        Arguments:
            keys: the names
            default: the value, a tensor or anything else
        """
        return ParameterDict([(name, default) for name in keys])

    def copy(self) -> ParameterDict:
        """Another dictionary of the same tensors."""
        return ParameterDict(list(self.items()))

    def keys(self) -> Iterable[str]:
        """The names."""
        return list(self._names)

    def values(self) -> Iterable[Any]:
        """The tensors."""
        return [self[name] for name in self._names]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and tensors."""
        return [(name, self[name]) for name in self._names]

    def __or__(self, other: Any) -> ParameterDict:
        new = self.copy()
        new.update(other)
        return new

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(f"  ({name}): {_described(value)}" for name, value in self.items())


def _parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value
