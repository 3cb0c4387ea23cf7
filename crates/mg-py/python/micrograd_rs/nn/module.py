"""`Module`: what networks are built of."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar
from weakref import ref

from .._micrograd_rs import Device, Tensor, dtype, realize
from .._names import unknown
from ..autograd import no_grad

T = TypeVar("T")


def _what(value: object) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__
    return "a tensor that is none" if value.is_leaf else "the result of an operation"


# Tensors that were made or assigned as parameters, by what they are: such a one stays a parameter when it is frozen.
_marked: dict[int, ref[Tensor]] = {}


def _mark(t: Any) -> None:
    key = id(t)
    _marked[key] = ref(t, lambda _: _marked.pop(key, None))


class _ParameterType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, Tensor) or not instance.is_leaf:
            return False
        return instance.requires_grad or id(instance) in _marked


class Parameter(metaclass=_ParameterType):
    """A tensor that is trained: a leaf that requires a gradient. `Parameter(t)` makes one; what `Tensor(data)` makes is one.

    What was made a parameter stays one without `requires_grad`: it is frozen, and part of the module's state.
    """

    def __new__(cls, data: Any, requires_grad: bool = True) -> Any:
        t = data.detach().clone().realize() if isinstance(data, Tensor) else Tensor(data, requires_grad=False)
        _mark(t)
        return t.requires_grad_(requires_grad)


class IncompatibleKeys(NamedTuple):
    """Names that a state lacks, and names that the module does not know."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module:
    """A part of a network. A subclass assigns layers, parameters and other modules to itself and says in `forward` what it
    makes of an input; names, gradients, modes and checkpoints follow from that.
    """

    training: bool
    _kinds: dict[str, str]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        # Here rather than in `__init__`, so that nobody has to call that.
        module = object.__new__(cls)
        object.__setattr__(module, "_kinds", {})
        object.__setattr__(module, "training", True)
        return module

    def __init__(self) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A module of its own on copies of the parameters, which have no gradients yet."""
        module = self.__class__.__new__(self.__class__)
        memo[id(self)] = module
        for name, value in vars(self).items():
            copied = copy.deepcopy(value, memo)
            if isinstance(value, Parameter):
                _mark(copied)
            object.__setattr__(module, name, copied)
        for parameter in module.parameters():
            parameter.grad = None
        return module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The output for an input."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it makes of an input: write its forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def __setattr__(self, name: str, value: object) -> None:
        kind = self._kinds.get(name)
        if isinstance(value, Module):
            kind = "module"
        elif isinstance(value, Parameter):
            kind = "parameter"
            _mark(value)
        elif isinstance(value, Tensor):
            if kind == "parameter":
                raise TypeError(f"{name!r} is a parameter and takes one: nn.Parameter(t), or write into it under no_grad()")
            kind = None if kind == "module" else kind
        elif value is not None:
            kind = None
        if kind is None:
            self._kinds.pop(name, None)
        else:
            self._kinds[name] = kind
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._kinds.pop(name, None)
        object.__delattr__(self, name)

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there.
        known = [*dir(type(self)), *vars(self)]
        raise AttributeError(unknown(f"'{type(self).__name__}'", name, known))

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Makes a parameter known under this name; None keeps the name for one."""
        if isinstance(param, Parameter):
            _mark(param)
        elif param is not None:
            raise TypeError(f"{name!r} takes a parameter: nn.Parameter(t); got {_what(param)}")
        self._kinds[name] = "parameter"
        object.__setattr__(self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Makes a tensor one that is saved with the parameters (if `persistent`) and not trained."""
        self._kinds[name] = "buffer" if persistent else "transient"
        object.__setattr__(self, name, tensor)

    def add_module(self, name: str, module: Module | None) -> None:
        """Makes a module a part of this one under this name."""
        self._kinds[name] = "module"
        object.__setattr__(self, name, module)

    register_module = add_module

    def _own(self, kind: str, of: type[T]) -> Iterator[tuple[str, T]]:
        for name, its in list(self._kinds.items()):
            value = vars(self).get(name)
            if its == kind and isinstance(value, of):
                yield name, value

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside this one, with their names."""
        yield from self._own("module", Module)

    def children(self) -> Iterator[Module]:
        """The modules directly inside this one."""
        for _, child in self.named_children():
            yield child

    def named_modules(self, memo: set[int] | None = None, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all inside it, each once, with their names."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        """This module and all inside it, each once."""
        for _, module in self.named_modules():
            yield module

    def _named(self, kind: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        for place, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, t in module._own(kind, Tensor):
                if id(t) not in seen:
                    seen.add(id(t))
                    yield (f"{place}.{name}" if place else name), t

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All parameters, each once, with their names: `0.weight`, `encoder.fc1.bias`."""
        return self._named("parameter", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """All parameters, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers, each once, with their names."""
        yield from self._named("buffer", prefix, recurse)
        yield from self._named("transient", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def train(self, mode: bool = True) -> Self:
        """Puts the module and all inside it in the mode for training, or the one for using it."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self) -> Self:
        """As `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Makes all parameters trained, or constants."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of all parameters, or sets them to 0."""
        for parameter in self.parameters():
            grad = parameter.grad
            if set_to_none or grad is None:
                parameter.grad = None
            else:
                grad.zero_()

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Calls `fn` with every module inside this one and with itself."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Puts parameters and buffers on another device, into another dtype (floating-point ones), or both.

        Parameters stay the tensors that they are, with their gradients: optimisers that have them go on, and what shares them
        shares them still. Buffers are replaced, unless nothing changes.
        """
        done: set[int] = set()
        moved: list[Tensor] = []

        def converted(t: Tensor) -> Tensor:
            out = t.detach().to(*args, **kwargs)
            if not t.is_floating_point():
                return out.to(t.dtype)
            if not out.is_floating_point():
                raise TypeError(f"a module takes floating-point dtypes, got {out.dtype}")
            return out

        for module in self.modules():
            for name, kind in list(module._kinds.items()):
                t = vars(module).get(name)
                if not isinstance(t, Tensor) or id(t) in done:
                    continue
                new = converted(t)
                if new.dtype == t.dtype and new.device == t.device:
                    continue
                moved.append(new)
                if kind != "parameter":
                    object.__setattr__(module, name, new)
                    continue
                done.add(id(t))
                grad = None if t.grad is None else converted(t.grad)
                t.data = new
                if grad is not None and t.grad is not None:
                    t.grad.data = grad
                    moved.append(grad)
        realize(moved)
        return self

    def cpu(self) -> Self:
        """As `to("cpu")`."""
        return self.to("cpu")

    def cuda(self, device: int | str | Device | None = None) -> Self:
        """As `to("cuda")`."""
        return self.to(f"cuda:{device}" if isinstance(device, int) else device or "cuda")

    def type(self, dst_type: dtype | str) -> Self:
        """As `to(dst_type)`."""
        return self.to(dst_type)

    def float(self) -> Self:
        """As `to("float32")`."""
        return self.to("float32")

    def double(self) -> Self:
        """As `to("float64")`."""
        return self.to("float64")

    def half(self) -> Self:
        """As `to("float16")`."""
        return self.to("float16")

    def bfloat16(self) -> Self:
        """As `to("bfloat16")`."""
        return self.to("bfloat16")

    def _saved(self) -> dict[str, Tensor]:
        own: dict[str, Tensor] = {}
        for place, module in self.named_modules():
            for name, kind in module._kinds.items():
                t = vars(module).get(name)
                if kind in ("parameter", "buffer") and isinstance(t, Tensor):
                    own[f"{place}.{name}" if place else name] = t
        return own

    def state_dict(self) -> dict[str, Tensor]:
        """Parameters and buffers by name, as constants that share their memory: later training changes them, and what is written
        to them changes the module. `copy.deepcopy(net.state_dict())` is a snapshot.
        """
        return {name: t.detach() for name, t in self._saved().items()}

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> IncompatibleKeys:
        """Sets parameters and buffers to those of `state_dict`, converted to their dtypes. Answers with what was missing and what
        is not known, which is an error if `strict`.

        ValueError that lists them, if any are missing or not known (if `strict`) or of another shape; then nothing was changed.
        """
        own = self._saved()
        problems: list[str] = []
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        if strict:
            problems += ["missing: " + ", ".join(missing)] if missing else []
            problems += ["unexpected: " + ", ".join(unexpected)] if unexpected else []
        both = {name: t for name, t in own.items() if name in state_dict}
        shapes = [
            f"{name} (takes {t.shape}, got {state_dict[name].shape})"
            for name, t in both.items()
            if t.shape != state_dict[name].shape
        ]
        problems += ["of another shape: " + ", ".join(shapes)] if shapes else []
        if problems:
            raise ValueError("the state of another model; " + "; ".join(problems))
        with no_grad():
            for name, t in both.items():
                t.copy_(state_dict[name])
            realize(list(both.values()))
        return IncompatibleKeys(missing, unexpected)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for _, parameter in self._own("parameter", Tensor):
            _mark(parameter)

    def extra_repr(self) -> str:
        """What stands between the parentheses of the module's text."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self.named_children()]
        extra = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({extra})"
        return f"{type(self).__name__}({extra}\n  " + "\n  ".join(lines) + "\n)"
