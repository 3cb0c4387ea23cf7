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
from ..._names import Lazy as _Lazy, no_tensor
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

__getattr__ = _Lazy(__name__)

_depth = 0
_kept: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Generator[None]:
    """Within it every parametrized tensor is computed once.

    >>> class Twice(mg.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> layer = mg.nn.utils.parametrize.register_parametrization(mg.nn.Linear(2, 2), "weight", Twice())
    >>> with mg.nn.utils.parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _kept.clear()


def _led_back(module: Module, value: Any) -> Any:
    """What a parametrization makes `value` of. One that has no way back, or says that it is not implemented, is taken to change nothing."""
    if not hasattr(module, "right_inverse"):
        return value
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


class ParametrizationList(ModuleList):
    """What a tensor is computed by, one module after another, and what it is computed of: `original`, or `original0`, `original1`, …

    >>> class Twice(mg.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> layer = mg.nn.utils.parametrize.register_parametrization(mg.nn.Linear(2, 2), "weight", Twice())
    >>> layer.parametrizations.weight
    ParametrizationList(
      (0): Twice()
    )

    Arguments:
        modules: the modules, each of which takes what the one before answers with; at least one
        original: the tensor that is computed from now on; what it is computed of is what the modules' `right_inverse` make of it
        unsafe: whether the modules may answer with another shape or dtype than that of `original`

    Errors: ValueError for no modules, for a `right_inverse` that answers with no tensors, and, unless `unsafe`, for another shape or dtype.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("takes at least one parametrization")
        super().__init__(modules)
        self.unsafe = unsafe
        shape = original.shape
        new: Any = original
        with no_grad():
            for module in reversed(modules):
                new = _led_back(module, new)
        self.is_tensor = isinstance(new, Tensor)
        if self.is_tensor:
            if new.dtype != original.dtype or new.device != original.device:
                is_, was = (f"{t.dtype} on {t.device}" for t in (new, original))
                raise ValueError(f"right_inverse() answers with {was}, got {is_}")
            self.ntensors = 1
            # It stays the tensor that it is, for optimisers that have it.
            if new is not original:
                original.data = new.detach()
            self._register("original", original, isinstance(original, Parameter))
        elif isinstance(new, Sequence):
            some: list[Any] = list(new)  # pyright: ignore[reportUnknownArgumentType]
            self.ntensors = len(some)
            for i, part in enumerate(some):
                if not isinstance(part, Tensor):
                    raise ValueError(f"right_inverse() answers with tensors, got {no_tensor(part)}")
                # New parameters, of which no optimiser knows yet: also where one of them is the parameter that was there.
                own: Any = Parameter(part, original.requires_grad) if isinstance(original, Parameter) else part
                self._register(f"original{i}", own, isinstance(original, Parameter))
        else:
            raise ValueError(f"right_inverse() answers with a tensor or a sequence of them, got {type(new).__name__}")
        if not unsafe:
            value = self()
            if not isinstance(value, Tensor) or value.dtype != original.dtype or value.shape != shape:
                text = f"a parametrization answers with {original.dtype} {list(shape)}"
                raise ValueError(f"{text}, got {value!r}")

    def _register(self, name: str, tensor: Any, is_parameter: bool) -> None:
        if is_parameter:
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def originals(self) -> list[Tensor]:
        """What the tensor is computed of."""
        return [getattr(self, name) for name in self._names()]

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets what the tensor is computed of, so that the tensor becomes a value.

        Arguments:
            value: what the tensor is to become, in its shape and dtype

        Errors: RuntimeError where a module of the list has no `right_inverse`; ValueError where one answers with something else than the tensors that
        there are.
        """
        with no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"{type(module).__name__} has no right_inverse(): the tensor cannot be set")
                new = module.right_inverse(new)
            takes = "a tensor" if self.is_tensor else f"{self.ntensors} tensors"
            if isinstance(new, Tensor) != self.is_tensor or not isinstance(new, (Tensor, Sequence)):
                raise ValueError(f"right_inverse() answers with {takes}, got {type(new).__name__}")
            parts: list[Any] = [new] if self.is_tensor else list(new)  # pyright: ignore[reportUnknownArgumentType]
            if len(parts) != self.ntensors:
                raise ValueError(f"right_inverse() answers with {takes}, got {len(parts)}")
            for original, part in zip(self.originals(), parts):
                if not isinstance(part, Tensor) or part.dtype != original.dtype:
                    raise ValueError(f"right_inverse() answers with {original.dtype}, got {part!r}")
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
    """Whether a tensor of the module, or any, is computed of others.

    Arguments:
        module: the module
        tensor_name: the tensor's name; any, if it is not given

    >>> class Twice(mg.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> layer = mg.nn.utils.parametrize.register_parametrization(mg.nn.Linear(2, 2), "weight", Twice())
    >>> mg.nn.utils.parametrize.is_parametrized(layer, "weight"), mg.nn.utils.parametrize.is_parametrized(layer, "bias")
    (True, False)
    """
    parametrizations = vars(module).get("parametrizations")
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Makes a parameter or a buffer one that is computed: `module.weight` is what `parametrization` makes of
    `module.parametrizations.weight.original`. With a method `right_inverse` the tensor keeps its value (where it is the first), and can
    be set. Several are applied one after the other. If not `unsafe`, shape and dtype are to stay.

    Arguments:
        module: the module
        tensor_name: the tensor's name
        parametrization: the module that computes it
        unsafe: whether shape and dtype may change

    >>> class Symmetric(mg.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = mg.nn.utils.parametrize.register_parametrization(mg.nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parts: ParametrizationList = module.parametrizations[tensor_name]
        if not unsafe:
            value = getattr(module, tensor_name)
            new: Any = parametrization(value)
            for what, made in (("a parametrization", new), ("its right_inverse()", _led_back(parametrization, new))):
                if not isinstance(made, Tensor) or made.dtype != value.dtype or made.shape != value.shape:
                    text = f"{what} answers with {value.dtype} {list(value.shape)}"
                    raise ValueError(f"{text}, got {made!r}")
        parts.unsafe |= unsafe
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

    Arguments:
        module: the module
        tensor_name: the tensor's name
        leave_parametrized: whether it keeps the value that was computed

    >>> class Twice(mg.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> layer = mg.nn.utils.parametrize.register_parametrization(mg.nn.Linear(2, 2), "weight", Twice())
    >>> [name for name, _ in mg.nn.utils.parametrize.remove_parametrizations(layer, "weight").named_parameters()]
    ['bias', 'weight']
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"{tensor_name!r} of {type(module).__name__} is not parametrized")
    parts: ParametrizationList = module.parametrizations[tensor_name]
    own: Any
    if parts.is_tensor:
        # It stays the tensor that it is, for optimisers that have it.
        own = parts.original
        if leave_parametrized:
            with no_grad():
                own.data = getattr(module, tensor_name).detach().clone()
        is_parameter = isinstance(own, Parameter)
    elif leave_parametrized:
        # As in PyTorch what is not trained is no parameter any more.
        value: Tensor = getattr(module, tensor_name)
        is_parameter, own = value.requires_grad, value.detach().clone()
        if is_parameter:
            own = Parameter(own)
    else:
        raise ValueError("what is computed of several tensors can only be left as it was computed")
    del module.parametrizations[tensor_name]
    _become(module)
    if is_parameter:
        module.register_parameter(tensor_name, own)
    else:
        module.register_buffer(tensor_name, own)
    return module


def type_before_parametrizations(module: Module) -> type[Module]:
    """The module's class as it was before a tensor of it was parametrized.

    Arguments:
        module: the module

    >>> class Twice(mg.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> layer = mg.nn.utils.parametrize.register_parametrization(mg.nn.Linear(2, 2), "weight", Twice())
    >>> mg.nn.utils.parametrize.type_before_parametrizations(layer) is mg.nn.Linear
    True
    """
    return getattr(type(module), "_before", type(module))


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Gives another module the same parametrizations, and what tensors are computed of.

    Arguments:
        from_module: whose they are
        to_module: who gets them
        tensor_name: of which tensor; all, if it is not given

    >>> class Twice(mg.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> layer = mg.nn.utils.parametrize.register_parametrization(mg.nn.Linear(2, 2), "weight", Twice())
    >>> other = mg.nn.utils.parametrize.transfer_parametrizations_and_params(layer, mg.nn.Linear(2, 2))
    >>> bool((other.weight == layer.weight).all())
    True
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            to_module.register_parameter(name, Parameter(getattr(from_module, name).detach()))
        for part in from_module.parametrizations[name]:
            register_parametrization(to_module, name, part)
        old, new = from_module.parametrizations[name], to_module.parametrizations[name]
        # As in PyTorch both modules have the same tensors from now on.
        for own, tensor in zip(old._names(), old.originals()):
            setattr(new, own, tensor)
    return to_module
