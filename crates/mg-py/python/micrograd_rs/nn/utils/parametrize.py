"""Parameters that are computed of others.

>>> import micrograd_rs as mg
>>> from micrograd_rs import nn
>>> from micrograd_rs.nn.utils import parametrize
>>> class Symmetric(nn.Module):
...     def forward(self, x):
...         return x.triu() + x.triu(1).mT
>>> layer = nn.Linear(3, 3)
>>> _ = parametrize.register_parametrization(layer, "weight", Symmetric())
>>> bool((layer.weight == layer.weight.T).all())
True
>>> [name for name, _ in layer.named_parameters()]
['bias', 'parametrizations.weight.original']
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from ..._micrograd_rs import Tensor
from ..._names import no_tensor
from ...autograd import no_grad
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_depth = 0
_kept: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Generator[None]:
    """Within it every parametrized tensor is computed once."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _kept.clear()


class ParametrizationList(ModuleList):
    """What a tensor is computed by, one module after another, and what it is computed of: `original`, or
    `original0`, `original1`, …
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("takes at least one parametrization")
        super().__init__(modules)
        self.unsafe = unsafe
        new: Any = original
        with no_grad():
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    new = module.right_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if not unsafe and new.dtype != original.dtype:
                raise ValueError(f"right_inverse() answers with {original.dtype}, got {new.dtype}")
            self._register("original", original, new)
        else:
            for i, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(f"right_inverse() answers with tensors, got {no_tensor(part)}")
                self._register(f"original{i}", original, part)
        if not unsafe:
            value = self()
            if not isinstance(value, Tensor) or value.dtype != original.dtype or value.shape != original.shape:
                text = f"a parametrization answers with {original.dtype} {list(original.shape)}"
                raise ValueError(f"{text}, got {value!r}")

    def _register(self, name: str, original: Tensor, new: Tensor) -> None:
        if isinstance(original, Parameter):
            if new is original or (new.shape == original.shape and self.is_tensor):
                # It stays the tensor that it is, for optimisers that have it.
                if new is not original:
                    original.data = new.detach()
                self.register_parameter(name, original)
            else:
                self.register_parameter(name, Parameter(new.detach(), original.requires_grad))
        else:
            self.register_buffer(name, new)

    def originals(self) -> list[Tensor]:
        """What the tensor is computed of."""
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets what the tensor is computed of, so that it becomes `value`."""
        with no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"{type(module).__name__} has no right_inverse(): the tensor cannot be set")
                new = module.right_inverse(new)
            parts = [new] if self.is_tensor else list(new)
            if len(parts) != self.ntensors:
                raise ValueError(f"right_inverse() answers with {self.ntensors} tensors, got {len(parts)}")
            for original, part in zip(self.originals(), parts):
                original.data = part.detach().clone()

    def forward(self) -> Any:
        value: Any = None
        for i, module in enumerate(self):
            value = module(*self.originals()) if i == 0 else module(value)
        return value


def _computed(module: Module, name: str) -> Any:
    parametrization = module.parametrizations[name]
    if not _depth:
        return parametrization()
    key = id(module), name
    if key not in _kept:
        _kept[key] = parametrization()
    return _kept[key]


def _property(name: str) -> property:
    def get(module: Module) -> Any:
        return _computed(module, name)

    def put(module: Module, value: Tensor) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, put)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of the module, or any, is computed of others."""
    parametrizations = vars(module).get("parametrizations")
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Makes a parameter or a buffer one that is computed: `module.weight` is what `parametrization` makes of
    `module.parametrizations.weight.original`. With a method `right_inverse` the tensor keeps its value, and can
    be set. Several are applied one after the other. If not `unsafe`, shape and dtype are to stay.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parts: ParametrizationList = module.parametrizations[tensor_name]
        if not unsafe:
            value = getattr(module, tensor_name)
            new = parametrization(value)
            if new.dtype != value.dtype or new.shape != value.shape:
                text = f"a parametrization answers with {value.dtype} {list(value.shape)}"
                raise ValueError(f"{text}, got {new.dtype} {list(new.shape)}")
        if hasattr(parametrization, "right_inverse") and parts.is_tensor:
            with no_grad():
                value = parametrization.right_inverse(getattr(module, tensor_name))
                parts.right_inverse(value)
        parts.append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(f"{type(module).__name__} has no parameter or buffer {tensor_name!r}")
    original = getattr(module, tensor_name)
    parts = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if "parametrizations" not in vars(module):
        module.add_module("parametrizations", ModuleDict())
    module.parametrizations.add_module(tensor_name, parts)
    _become(module)
    return module


def _become(module: Module) -> None:
    """Gives the module a class of its own, that computes what is parametrized."""
    cls = type_before_parametrizations(module)
    names: list[str] = list(module.parametrizations)
    if names:
        fields: dict[str, Any] = {"__module__": cls.__module__, "_before": cls}
        fields.update({name: _property(name) for name in names})
        cls = type(f"Parametrized{cls.__name__}", (cls,), fields)
    else:
        delattr(module, "parametrizations")
    object.__setattr__(module, "__class__", cls)


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes a tensor one of the module's own again: with the value that was computed, or the one that it was
    computed of.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"{tensor_name!r} of {type(module).__name__} is not parametrized")
    parts: ParametrizationList = module.parametrizations[tensor_name]
    is_parameter = any(isinstance(t, Parameter) for t in parts.originals())
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name).detach().clone()
    elif parts.is_tensor:
        value = parts.original
    else:
        raise ValueError("what is computed of several tensors can only be left as it was computed")
    if is_parameter and parts.is_tensor and leave_parametrized:
        # It stays the tensor that it is, for optimisers that have it.
        parts.original.data = value
        value = parts.original
    del module.parametrizations[tensor_name]
    _become(module)
    if is_parameter:
        own: Any = value
        module.register_parameter(tensor_name, own if isinstance(value, Parameter) else Parameter(value))
    else:
        module.register_buffer(tensor_name, value)
    return module


def type_before_parametrizations(module: Module) -> type[Module]:
    """The module's class as it was."""
    return getattr(type(module), "_before", type(module))


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Gives another module the same parametrizations, and what tensors are computed of."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            to_module.register_parameter(name, Parameter(getattr(from_module, name).detach()))
        for part in from_module.parametrizations[name]:
            register_parametrization(to_module, name, part)
        both = from_module.parametrizations[name], to_module.parametrizations[name]
        for old, new in zip(both[0].originals(), both[1].originals()):
            new.data = old.detach().clone()
    return to_module
