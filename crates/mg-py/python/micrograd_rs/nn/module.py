"""`Module`: what networks are built of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NoReturn, Self, TypeVar, cast

from .._micrograd_rs import Device, Tensor, dtype, empty_like
from .._names import unknown, kind_of, no_tensor
from . import _copies, _hooks, _moves, _state, _texts
from ._hooks import Hook, Hooks, RemovableHandle, hooks_property
from ._parts import HELD, Held, Parts, Transient, put, twins
from ._registration import checked, registered, what_is
from ._state import IncompatibleKeys
from ._texts import tell_where
from .parameter import Buffer, Parameter, buffers_known, mark

T = TypeVar("T")

__all__ = ["IncompatibleKeys", "Module", "Parameter"]


def is_another(module: Module, base: type[Module], *methods: str) -> bool:
    """Whether a subclass says of itself how it does what one of these methods does."""
    return any(getattr(type(module), method) is not getattr(base, method) for method in methods)


class _Compiled:
    """What `Module.compile` made of a module's calls. A copy of the module has none."""

    def __init__(self, module: Module, call: Callable[..., Any]) -> None:
        self.module, self.call = module, call

    def __deepcopy__(self, memo: dict[int, Any]) -> None:
        return None

    def __reduce__(self) -> Any:
        return type(None), ()


class Module:
    """A part of a network. A subclass assigns layers, parameters and other modules to itself and says in
    `forward` what it makes of an input; names, gradients, modes and checkpoints follow from that.

    >>> class Net(mg.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = mg.nn.Linear(2, 8)
    ...         self.out = mg.nn.Linear(8, 1)
    ...     def forward(self, x):
    ...         return self.out(self.hidden(x).relu())
    >>> model = Net()
    >>> model(mg.ones(5, 2)).shape, [name for name, _ in model.named_parameters()]
    ((5, 1), ['hidden.weight', 'hidden.bias', 'out.weight', 'out.bias'])
    """

    training: bool
    _kinds: dict[str, str]
    _hooks: dict[str, Hooks] | None = None
    _compiled: _Compiled | None = None
    _version: int = 1

    def __new__(cls, *_: Any, **__: Any) -> Self:
        # Here rather than in `__init__`, so that nobody has to call that.
        module = object.__new__(cls)
        vars(module).update(_kinds={}, training=True, **{name: Held(module, kinds) for name, kinds in HELD.items()})
        return module

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return _copies.deep(self, memo)

    def __copy__(self) -> Any:
        return _copies.shallow(self)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The output for an input: for subclasses to write. Call the module, `module(x)`, and not this: hooks and `compile` are of the call.

        Arguments:
            args: what the module is called with
            kwargs: what the module is called with by name

        Errors: NotImplementedError where a subclass does not write it.

        >>> class Twice(mg.nn.Module):
        ...     def forward(self, x):
        ...         return x * 2
        >>> Twice()(mg.tensor([1.0]))
        tensor([2.])
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what it makes of an input: write its forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._compiled is not None and self._compiled.module is self:
                return self._compiled.call(*args, **kwargs)
            if self._hooks is None and not _hooks.everywhere:
                return self.forward(*args, **kwargs)
            return _hooks.called(self, args, kwargs)
        except Exception as error:
            tell_where(error, self)
            raise

    def _as_written(self, *args: Any, **kwargs: Any) -> Any:
        """The call without what `compile` made of it."""
        if self._hooks is None and not _hooks.everywhere:
            return self.forward(*args, **kwargs)
        return _hooks.called(self, args, kwargs)

    def compile(
        self,
        *,
        fullgraph: bool = False,
        dynamic: bool | None = None,
        backend: Any = "inductor",
        mode: str | None = None,
        options: dict[str, Any] | None = None,
        disable: bool = False,
    ) -> None:
        """Has this module's calls recorded and replayed from now on, as `micrograd_rs.compile` does of another module that stands for it: its names
        and its state stay what they are. Copies, and what is read of a file, are not compiled.

        Arguments:
            fullgraph: whether reading a value is an error
            dynamic, backend, mode, options: of no effect
            disable: whether it runs as usual

        >>> model = mg.nn.Linear(2, 1)
        >>> model.compile()
        >>> model(mg.ones(5, 2)).shape, list(model.state_dict())
        ((5, 1), ['weight', 'bias'])
        """
        from ..compiler import compile

        made = None if disable else _Compiled(self, compile(self._as_written, fullgraph=fullgraph))
        object.__setattr__(self, "_compiled", made)

    def share_memory(self) -> NoReturn:
        """RuntimeError: processes share no memory. Threads share a module as it is; another process is sent its `state_dict()`.

        >>> try:
        ...     mg.nn.Linear(2, 1).share_memory()
        ... except RuntimeError:
        ...     print("not here")
        not here
        """
        raise RuntimeError(
            f"{type(self).__name__}.share_memory: processes share no memory here: threads (threading.Thread) share a module as it is, and another "
            "process is sent its state_dict()"
        )

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(getattr(type(self), name, None), property):
            # What the class says to do with it.
            object.__setattr__(self, name, value)
            return
        kind = self._kinds.get(name)
        if isinstance(value, Module) and kind != "parameter":
            kind, value = "module", registered(self, "module", name, value)
        elif isinstance(value, Buffer):
            kind = "buffer" if buffers_known[id(value)][1] else "transient"
            value = registered(self, "buffer", name, value)
        elif isinstance(value, Parameter):
            kind = "parameter"
            mark(value)
            value = registered(self, "parameter", name, value)
        elif value is not None and kind is not None and not (isinstance(value, Tensor) and kind in ("buffer", "transient")):
            takes = "it takes one (nn.Parameter(t)), or numbers written into it under no_grad()" if kind == "parameter" else "it takes one"
            what = "buffer" if kind == "transient" else kind
            raise TypeError(f"{name!r} is a {what}, and {takes}, or None; got {what_is(value)}. Delete it first to have something else there")
        if kind is None:
            object.__setattr__(self, name, value)
        else:
            self._kinds[name] = kind
            put(self, name, value)

    def __delattr__(self, name: str) -> None:
        registered = self._kinds.pop(name, None) is not None
        object.__delattr__(self, name)
        if registered and twins:
            for twin in twins.get(self, ()):
                vars(twin).pop(name, None)

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there.
        found = getattr(type(self), name, None)
        if isinstance(found, (property, cached_property)):
            # It is there, and what it looked for was not: its own error says what.
            return cast("Any", found.__get__(self, type(self)))
        known = [*dir(type(self)), *vars(self)]
        # With its name and without its object, or Python would suggest a name once more.
        raise AttributeError(unknown(f"'{type(self).__name__}'", name, known), name=name)

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Makes a parameter known under this name, as assigning it does.

        Arguments:
            name: the name, without a dot, which is not another attribute's
            param: the parameter; None: the name is kept for one, and `state_dict` leaves it out

        Errors: TypeError for what is no parameter, KeyError for a name that is taken, empty or has a dot.

        >>> model = mg.nn.Module()
        >>> model.register_parameter("scale", mg.nn.Parameter(mg.ones(2)))
        >>> [name for name, _ in model.named_parameters()]
        ['scale']
        """
        name = checked(self, name, "parameter")
        if isinstance(param, Parameter):
            mark(param)
            param = registered(self, "parameter", name, param)
        elif param is not None:
            raise TypeError(f"{name!r} takes a parameter: nn.Parameter(t); got {what_is(param)}")
        self._kinds[name] = "parameter"
        put(self, name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Makes a tensor known under this name that moves with the module and is not trained.

        Arguments:
            name: the name, without a dot, which is not another attribute's
            tensor: the tensor; None: the name is kept for one
            persistent: whether it is part of what `state_dict` has

        Errors: TypeError for what is no tensor, KeyError for a name that is taken, empty or has a dot.

        >>> model = mg.nn.Module()
        >>> model.register_buffer("mean", mg.zeros(2))
        >>> list(model.state_dict()), list(model.parameters())
        (['mean'], [])
        """
        name = checked(self, name, "buffer")
        if tensor is not None:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{name!r} takes a tensor or None, got {no_tensor(tensor)}")
            tensor = registered(self, "buffer", name, tensor)
        self._kinds[name] = "buffer" if persistent else "transient"
        put(self, name, tensor)

    def add_module(self, name: str, module: Any) -> None:
        """Makes a module a part of this one under this name, as assigning it does.

        Arguments:
            name: the name, without a dot, which is not another attribute's
            module: the module; None: the name is kept for one

        Errors: TypeError for what is no module, KeyError for a name that is taken, empty or has a dot.

        >>> model = mg.nn.Module()
        >>> model.add_module("out", mg.nn.Linear(2, 1))
        >>> model.out
        Linear(in_features=2, out_features=1, bias=True)
        """
        if module is not None and not isinstance(module, Module):
            what = kind_of(module)
            if isinstance(module, type):
                what = f"the class {module.__name__}: call it, {module.__name__}(…)"
            elif isinstance(module, (list, tuple)):
                what += ": give modules one by one, *modules"
            raise TypeError(f"{name!r} takes a module or None, got {what}")
        name = checked(self, name, "module")
        if module is not None:
            module = registered(self, "module", name, module)
        self._kinds[name] = "module"
        put(self, name, module)

    register_module = add_module

    @property
    def _modules(self) -> Parts:
        return Parts(self, ("module",))

    @_modules.setter
    def _modules(self, parts: Mapping[str, Any]) -> None:
        self._modules.become(parts)

    @property
    def _parameters(self) -> Parts:
        return Parts(self, ("parameter",))

    @_parameters.setter
    def _parameters(self, parts: Mapping[str, Any]) -> None:
        self._parameters.become(parts)

    @property
    def _buffers(self) -> Parts:
        return Parts(self, ("buffer", "transient"))

    @_buffers.setter
    def _buffers(self, parts: Mapping[str, Any]) -> None:
        self._buffers.become(parts)

    @property
    def _non_persistent_buffers_set(self) -> Transient:
        return Transient(self)

    @_non_persistent_buffers_set.setter
    def _non_persistent_buffers_set(self, names: Iterable[str]) -> None:
        transient, given = Transient(self), set(names)
        for name in self._buffers:
            (transient.add if name in given else transient.discard)(name)

    # What PyTorch calls the hooks of a module.
    _forward_pre_hooks = hooks_property("forward_pre")
    _forward_hooks = hooks_property("forward")
    _backward_pre_hooks = hooks_property("backward_pre")
    _backward_hooks = hooks_property("backward")
    _state_dict_hooks = hooks_property("state")
    _state_dict_pre_hooks = hooks_property("state_pre")
    _load_state_dict_pre_hooks = hooks_property("load_pre")
    _load_state_dict_post_hooks = hooks_property("load")

    def _own(self, kinds: tuple[str, ...], of: type[T]) -> Iterator[tuple[str, T]]:
        for name, its in list(self._kinds.items()):
            value = vars(self).get(name)
            if its in kinds and isinstance(value, of):
                yield name, value

    def get_submodule(self, target: str) -> Module:
        """The module at a place.

        Arguments:
            target: the place, names with dots between, such as `encoder.layers.0`; "" is this module

        Errors: AttributeError where there is no module.

        >>> model = mg.nn.Sequential(mg.nn.Linear(2, 8), mg.nn.Sequential(mg.nn.ReLU()))
        >>> model.get_submodule("1.0")
        ReLU()
        """
        found = self
        for name in target.split(".") if target else ():
            part = getattr(found, name)
            if not isinstance(part, Module):
                raise AttributeError(f"'{name}' of '{target}' is not a module but {type(part).__name__}")
            found = part
        return found

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Puts a module at a place.

        Arguments:
            target: the place, names with dots between, such as `encoder.layers.0`
            module: the module that is put there
            strict: whether there has to be a module already whose place it takes

        Errors: AttributeError where the module around the place is not there, and, with `strict`, the one in it; ValueError for what is no module,
        and for "".

        >>> model = mg.nn.Sequential(mg.nn.Linear(2, 8), mg.nn.ReLU())
        >>> model.set_submodule("1", mg.nn.Tanh())
        >>> model[1]
        Tanh()
        """
        place, _, name = target.rpartition(".")
        if not target:
            raise ValueError("takes the place of a part, not of the module itself")
        if not isinstance(module, Module):
            raise ValueError(f"takes a module, got {kind_of(module)}")
        parent = self.get_submodule(place)
        if strict and name not in parent._modules:
            raise AttributeError(f"'{type(parent).__name__}' has no module '{name}' at '{target}'")
        setattr(parent, name, module)

    def _at(self, target: str, kinds: tuple[str, ...], what: str) -> Tensor:
        place, _, name = target.rpartition(".")
        module = self.get_submodule(place)
        found = getattr(module, name)
        if module._kinds.get(name) not in kinds and name not in Parts(module, kinds):
            raise AttributeError(f"'{name}' of '{target}' is not a {what}")
        return found  # type: ignore[no-any-return]

    def get_parameter(self, target: str) -> Tensor:
        """The parameter at a place.

        Arguments:
            target: the place, names with dots between, such as `encoder.fc1.weight`

        Errors: AttributeError where there is no parameter.

        >>> mg.nn.Sequential(mg.nn.Linear(2, 8)).get_parameter("0.weight").shape
        (8, 2)
        """
        return self._at(target, ("parameter",), "parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a place.

        Arguments:
            target: the place, names with dots between, such as `norm.running_mean`

        Errors: AttributeError where there is no buffer.

        >>> mg.nn.Sequential(mg.nn.BatchNorm1d(2)).get_buffer("0.running_mean")
        tensor([0., 0.])
        """
        return self._at(target, ("buffer", "transient"), "buffer")

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside this one, each once, with their names.

        >>> model = mg.nn.Sequential(mg.nn.Linear(2, 8), mg.nn.ReLU())
        >>> [name for name, _ in model.named_children()]
        ['0', '1']
        """
        seen: set[int] = set()
        for name, child in self._own(("module",), Module):
            if id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules directly inside this one, each once.

        >>> list(mg.nn.Sequential(mg.nn.ReLU(), mg.nn.Tanh()).children())
        [ReLU(), Tanh()]
        """
        for _, child in self.named_children():
            yield child

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all inside it, with their names; its own name is "".

        Arguments:
            memo: a set of modules that are left out, to which those that come are added; None: an empty one
            prefix: what stands before the names, with a dot between
            remove_duplicate: whether a module that stands at several places comes once

        >>> model = mg.nn.Sequential(mg.nn.Linear(2, 8), mg.nn.Sequential(mg.nn.ReLU()))
        >>> [name for name, _ in model.named_modules()]
        ['', '0', '1', '1.0']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._own(("module",), Module):
            yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all inside it.

        Arguments:
            remove_duplicate: whether a module that stands at several places comes once

        >>> model = mg.nn.Sequential(mg.nn.Linear(2, 8), mg.nn.Sequential(mg.nn.ReLU()))
        >>> [type(module).__name__ for module in model.modules()]
        ['Sequential', 'Linear', 'Sequential', 'ReLU']
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def _named(self, kinds: tuple[str, ...], prefix: str, recurse: bool, once: bool) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        places = self.named_modules(prefix=prefix, remove_duplicate=once) if recurse else [(prefix, self)]
        for place, module in places:
            for name, t in module._own(kinds, Tensor):
                if id(t) in seen:
                    continue
                if once:
                    seen.add(id(t))
                yield (f"{place}.{name}" if place else name), t

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All parameters with their names, such as `0.weight` or `encoder.fc1.bias`.

        Arguments:
            prefix: what stands before the names, with a dot between
            recurse: whether those of modules inside this one come, too
            remove_duplicate: whether a parameter that stands at several places comes once

        >>> model = mg.nn.Sequential(mg.nn.Linear(2, 8), mg.nn.ReLU())
        >>> [(name, tuple(p.shape)) for name, p in model.named_parameters()]
        [('0.weight', (8, 2)), ('0.bias', (8,))]
        """
        return self._named(("parameter",), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """All parameters, each once.

        Arguments:
            recurse: whether those of modules inside this one come, too

        >>> sum(p.numel() for p in mg.nn.Linear(2, 8).parameters())
        24
        """
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their names, such as `norm.running_mean`.

        Arguments:
            prefix: what stands before the names, with a dot between
            recurse: whether those of modules inside this one come, too
            remove_duplicate: whether a buffer that stands at several places comes once

        >>> [name for name, _ in mg.nn.BatchNorm1d(2).named_buffers()]
        ['running_mean', 'running_var', 'num_batches_tracked']
        """
        return self._named(("buffer", "transient"), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once.

        Arguments:
            recurse: whether those of modules inside this one come, too

        >>> [tuple(b.shape) for b in mg.nn.BatchNorm1d(2).buffers()]
        [(2,), (2,), ()]
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def train(self, mode: bool = True) -> Self:
        """Puts the module and all inside it in the mode for training, or in the one for use, and answers with the module. Dropout and normalisations
        differ in the two.

        Arguments:
            mode: True for training, False for use

        Errors: ValueError for anything else.

        >>> model = mg.nn.Sequential(mg.nn.Dropout(0.5)).eval()
        >>> model.training, model.train()[0].training
        (False, True)
        """
        if mode is not True and mode is not False:
            raise ValueError(f"a mode is True or False, got {mode!r}")
        object.__setattr__(self, "training", mode)
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """As `train(False)`.

        >>> model = mg.nn.Dropout(0.5).eval()
        >>> model(mg.ones(3))
        tensor([1., 1., 1.])
        """
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Makes all parameters trained, or frozen, and answers with the module.

        Arguments:
            requires_grad: whether they are trained

        >>> model = mg.nn.Linear(2, 1).requires_grad_(False)
        >>> [p.requires_grad for p in model.parameters()]
        [False, False]
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of all parameters, or makes them 0.

        Arguments:
            set_to_none: whether `grad` becomes None, rather than a tensor of zeros

        >>> model = mg.nn.Linear(2, 1)
        >>> model(mg.ones(5, 2)).sum().backward()
        >>> model.zero_grad()
        >>> model.weight.grad is None
        True
        """
        for parameter in self.parameters():
            grad = parameter.grad
            if set_to_none or grad is None:
                parameter.grad = None
            else:
                grad.zero_()

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Calls a function with every module inside this one and then with itself, and answers with the module.

        Arguments:
            fn: the function of a module; what it answers with is not looked at

        >>> def zero(module):
        ...     if isinstance(module, mg.nn.Linear):
        ...         mg.nn.init.zeros_(module.weight)
        >>> mg.nn.Sequential(mg.nn.Linear(2, 1)).apply(zero)[0].weight.detach()
        tensor([[0., 0.]])
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Sets parameters and buffers to what `fn` makes of them. Parameters stay the tensors that they are, with
        their gradients: optimisers that have them go on, and what shares them shares them still. Buffers are
        replaced, unless nothing changes.
        """
        _moves.applied(self, fn, recurse)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Puts parameters and buffers on another device, into another dtype (floating-point ones), or both, and answers with the module: `to(device)`,
        `to(dtype)`, `to(device, dtype)`, `to(tensor)`.

        Parameters stay the tensors that they are, with their gradients: optimisers that have them go on, and what shares them shares them still.
        Buffers are replaced, unless nothing changes.

        Arguments:
            args: what `Tensor.to` takes: a device such as "cuda", a floating-point dtype, both, or a tensor whose device and dtype are taken
            kwargs: the same by name: `device`, `dtype`, `non_blocking`; `memory_format`, for what has as many axes as the format is of

        Errors: TypeError for a dtype that is not of floats; what `Tensor.to` raises for a device that is not there.

        >>> model = mg.nn.Linear(2, 1).to(mg.float64)
        >>> model.weight.dtype
        micrograd_rs.float64
        """
        return self._apply(lambda t: _moves.converted(t, *args, **kwargs))

    def to_empty(self, *, device: Device | str | None, recurse: bool = True) -> Self:
        """Puts parameters and buffers on a device, with numbers that stand for nothing, and answers with the module.

        Arguments:
            device: the device; None: the one that they are on
            recurse: whether modules inside this one go, too

        >>> mg.nn.Linear(2, 1).to_empty(device="cpu").weight.shape
        (1, 2)
        """
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def cpu(self) -> Self:
        """As `to("cpu")`.

        >>> mg.nn.Linear(2, 1).cpu().weight.device
        Device('cpu')
        """
        return self.to("cpu")

    def cuda(self, device: int | str | Device | None = None) -> Self:
        """As `to("cuda")`.

        Arguments:
            device: which one, where there are several: a number, or a device such as "cuda:1"; None: the first

        >>> mg.nn.Linear(2, 1).cuda()  # doctest: +SKIP
        """
        return self.to(f"cuda:{device}" if isinstance(device, int) else device or "cuda")

    def type(self, dst_type: dtype | str) -> Self:
        """As `to(dst_type)`.

        Arguments:
            dst_type: a floating-point dtype, or its name

        >>> mg.nn.Linear(2, 1).type(mg.float16).weight.dtype
        micrograd_rs.float16
        """
        return self.to(dst_type)

    def float(self) -> Self:
        """As `to("float32")`.

        >>> mg.nn.Linear(2, 1).half().float().weight.dtype
        micrograd_rs.float32
        """
        return self.to("float32")

    def double(self) -> Self:
        """As `to("float64")`.

        >>> mg.nn.Linear(2, 1).double().weight.dtype
        micrograd_rs.float64
        """
        return self.to("float64")

    def half(self) -> Self:
        """As `to("float16")`.

        >>> mg.nn.Linear(2, 1).half().weight.dtype
        micrograd_rs.float16
        """
        return self.to("float16")

    def bfloat16(self) -> Self:
        """As `to("bfloat16")`.

        >>> mg.nn.Linear(2, 1).bfloat16().weight.dtype
        micrograd_rs.bfloat16
        """
        return self.to("bfloat16")

    def _hooks_of(self, kind: str) -> dict[int, Any]:
        if self._hooks is None:
            object.__setattr__(self, "_hooks", {})
        assert self._hooks is not None
        return self._hooks.setdefault(kind, {})

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Has a function called before `forward`, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(module, args)`; what it answers with, a tuple or one argument, takes the place of the arguments, and None leaves
                them. With `with_kwargs` it is `hook(module, args, kwargs)`, which answers with both or None
            prepend: whether it comes before other hooks rather than after them
            with_kwargs: whether it is given the arguments by name, too

        >>> model = mg.nn.Identity()
        >>> handle = model.register_forward_pre_hook(lambda module, args: (args[0] * 10,))
        >>> model(mg.tensor([1.0]))
        tensor([10.])
        >>> handle.remove()
        """
        return _hooks.add(self._hooks_of("forward_pre"), Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Has a function called after `forward`, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(module, args, output)`; what it answers with takes the place of the output, and None leaves it. With `with_kwargs`
                it is `hook(module, args, kwargs, output)`
            prepend: whether it comes before other hooks rather than after them
            with_kwargs: whether it is given the arguments by name, too
            always_call: whether it is called after an error of `forward`, too, with None as the output

        >>> model = mg.nn.Sequential(mg.nn.Linear(2, 8), mg.nn.ReLU())
        >>> handle = model[0].register_forward_hook(lambda module, args, output: print(output.shape))
        >>> _ = model(mg.ones(5, 2))
        (5, 8)
        >>> handle.remove()
        """
        return _hooks.add(self._hooks_of("forward"), Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has a function called when the gradients of the result are known, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(module, grad_output)` with a tuple, a gradient for each tensor of the result; what it answers with takes its place,
                and None leaves it
            prepend: whether it comes before other hooks rather than after them

        >>> model = mg.nn.Linear(2, 1)
        >>> handle = model.register_full_backward_pre_hook(lambda module, grad_output: print(grad_output[0].shape))
        >>> model(mg.ones(5, 2)).sum().backward()
        (5, 1)
        """
        return _hooks.add(self._hooks_of("backward_pre"), Hook(hook), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has a function called when the gradients of the arguments are known, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(module, grad_input, grad_output)` with tuples: a gradient for each positional argument, None for what is no tensor,
                and one for each tensor of the result; what it answers with takes the place of the first, and None leaves it
            prepend: whether it comes before other hooks rather than after them

        >>> model = mg.nn.Linear(2, 1)
        >>> handle = model.register_full_backward_hook(lambda module, grad_input, grad_output: print(grad_input[0].shape))
        >>> model(mg.ones(5, 2, requires_grad=True)).sum().backward()
        (5, 2)
        """
        return _hooks.add(self._hooks_of("backward"), Hook(hook), prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As `register_full_backward_hook`, by the name that it had.

        Arguments:
            hook: called as `hook(module, grad_input, grad_output)`

        See `nn.Module.register_full_backward_hook`.
        """
        return self.register_full_backward_hook(hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has a function called before `state_dict` collects, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(module, prefix, keep_vars)`; what it answers with is not looked at

        >>> model = mg.nn.Linear(2, 1)
        >>> handle = model.register_state_dict_pre_hook(lambda module, prefix, keep_vars: print("saving"))
        >>> _ = model.state_dict()
        saving
        """
        return _hooks.add(self._hooks_of("state_pre"), Hook(hook))

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has a function called after `state_dict` has collected, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(module, state_dict, prefix, local_metadata)`; it may change the dictionary

        >>> model = mg.nn.Linear(2, 1)
        >>> def without_bias(module, state, prefix, local):
        ...     del state[prefix + "bias"]
        >>> handle = model.register_state_dict_post_hook(without_bias)
        >>> list(model.state_dict())
        ['weight']
        """
        return _hooks.add(self._hooks_of("state"), Hook(hook))

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has a function called before the module is loaded, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`; it may change the
                dictionary, which is a copy, and the lists

        >>> model = mg.nn.Linear(2, 1)
        >>> def renamed(module, state, prefix, *_):
        ...     state[prefix + "weight"] = state.pop(prefix + "w")
        >>> handle = model.register_load_state_dict_pre_hook(renamed)
        >>> model.load_state_dict({"w": mg.zeros(1, 2), "bias": mg.zeros(1)})
        <All keys matched successfully>
        """
        return _hooks.add(self._hooks_of("load_pre"), Hook(hook))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)

        def without_module(_: Module, *args: Any) -> Any:
            return hook(*args)

        return self.register_load_state_dict_pre_hook(without_module)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has a function called after the module is loaded, until `remove()` of the handle that comes back.

        Arguments:
            hook: called as `hook(module, incompatible_keys)`, with the lists `missing_keys` and `unexpected_keys`, which it may change

        >>> model = mg.nn.Linear(2, 1)
        >>> handle = model.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
        >>> model.load_state_dict({"bias": mg.zeros(1)})
        <All keys matched successfully>
        """
        return _hooks.add(self._hooks_of("load"), Hook(hook))

    def get_extra_state(self) -> Any:
        """What belongs to the state besides parameters and buffers: for subclasses to say.

        >>> class Counts(mg.nn.Module):
        ...     calls = 0
        ...     def get_extra_state(self):
        ...         return {"calls": self.calls}
        ...     def set_extra_state(self, state):
        ...         self.calls = state["calls"]
        >>> first, second = Counts(), Counts()
        >>> first.calls = 3
        >>> _ = second.load_state_dict(first.state_dict())
        >>> second.calls
        3
        """
        raise RuntimeError("get_extra_state() is for subclasses with more in their state than parameters and buffers")

    def set_extra_state(self, state: Any) -> None:
        """Takes what `get_extra_state` answered with: for subclasses to write that write the other.

        Arguments:
            state: what it answered with, as it was saved

        See `nn.Module.get_extra_state`.
        """
        raise RuntimeError("set_extra_state() is for subclasses with more in their state than parameters and buffers")

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        _state.save_own(self, destination, prefix, keep_vars)

    def state_dict(
        self, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and buffers by name, as constants that share their memory: later training changes them, and what is written to them changes the
        module. `copy.deepcopy(net.state_dict())` is a snapshot.

        Arguments:
            destination: a dictionary that they are put into and that comes back; None: a new one
            prefix: what stands before every name, with its dot
            keep_vars: whether they are the parameters and buffers themselves, with their gradients, rather than constants

        >>> model = mg.nn.Sequential(mg.nn.Linear(2, 1), mg.nn.BatchNorm1d(1))
        >>> list(model.state_dict())
        ['0.weight', '0.bias', '1.weight', '1.bias', '1.running_mean', '1.running_var', '1.num_batches_tracked']
        """
        return _state.save(self, _state.State() if destination is None else destination, prefix, keep_vars)

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: Mapping[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        _state.load_own(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Sets parameters and buffers to the numbers of `state_dict`, and answers with what was missing and what is not known, the lists `missing_keys`
        and `unexpected_keys`.

        Arguments:
            state_dict: tensors by name, as `state_dict` has them; arrays and tensors of other libraries are taken, too
            strict: whether a name that is missing or not known is an error
            assign: whether its tensors take the place of the module's, with their dtypes and devices, rather than that their numbers are written into
                the module's

        Errors: StateError, which is a ValueError and a RuntimeError, that lists all names that are missing or not known (with `strict`) and all
        tensors of another shape. Then nothing was changed: neither what fits nor what does not.

        >>> import micrograd_rs as mg
        >>> net = mg.nn.Linear(2, 1)
        >>> _ = net.bias.data.fill_(3)
        >>> net.load_state_dict({"bias": mg.zeros(1), "scale": mg.ones(1)})
        Traceback (most recent call last):
        micrograd_rs.nn._state.StateError: Error(s) in loading state_dict for Linear:...Missing key(s) in state_dict: "weight"...
        >>> net.bias.item()
        3.0
        >>> net.load_state_dict({"bias": mg.zeros(1), "scale": mg.ones(1)}, strict=False)
        IncompatibleKeys(missing_keys=['weight'], unexpected_keys=['scale'])
        >>> net.bias.item()
        0.0
        """
        return _state.load(self, state_dict, strict, assign)

    def __getstate__(self) -> dict[str, Any]:
        return _copies.get_state(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        _copies.set_state(self, state)

    def extra_repr(self) -> str:
        """What stands between the parentheses of the module's text.

        >>> class Scaled(mg.nn.Module):
        ...     def extra_repr(self):
        ...         return "by=2"
        >>> Scaled()
        Scaled(by=2)
        """
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return _texts.text(self)

    def _repr_html_(self) -> str:
        """For notebooks: its parts, to be opened one by one, each with the number of its parameters."""
        return _texts.html(self)

    def __dir__(self) -> Iterable[str]:
        return sorted({*dir(type(self)), *vars(self)})
