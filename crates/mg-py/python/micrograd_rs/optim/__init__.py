"""Optimisers, which change parameters by their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._micrograd_rs import Tensor, _Optimizer
from .._names import Lazy as _Lazy
from . import lr_scheduler

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]

__getattr__ = _Lazy(__name__)

Parameters = Iterable[Tensor] | Iterable[Mapping[str, Any]]


class _Group(dict[str, Any]):
    """Parameters and their options. The learning rate can be changed; the others are those the optimiser was made with."""

    def __init__(self, core: _Optimizer, options: dict[str, Any]) -> None:
        super().__init__(options)
        self.core = core

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "lr":
            self.core.lr = value
        elif key not in ("initial_lr",) and key in self:
            raise ValueError(f"{key!r} of an optimiser cannot be changed, only 'lr'; make another optimiser")
        super().__setitem__(key, value)


class Optimizer:
    """What changes parameters by their gradients. Parameters come as tensors, or as dictionaries of tensors (under
    `params`) with options of their own.
    """

    param_groups: list[_Group]

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups = []
        groups: list[Any] = [params] if isinstance(params, Tensor) else list(params)
        if not groups or not isinstance(groups[0], Mapping):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _make(self, params: list[Tensor], options: dict[str, Any]) -> _Optimizer:
        raise NotImplementedError

    def add_param_group(self, param_group: Any) -> None:
        """Adds parameters with options of their own."""
        given = dict(param_group)
        params = given["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        unknown = [key for key in given if key != "params" and key not in self.defaults]
        if unknown:
            raise ValueError(f"{type(self).__name__} takes {', '.join(self.defaults)}; not {', '.join(unknown)}")
        taken = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in taken for p in params):
            raise ValueError("a parameter is in more than one group")
        options = {**self.defaults, **given, "params": params}
        self.param_groups.append(_Group(self._make(params, options), options))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of all parameters, or sets them to 0."""
        for group in self.param_groups:
            if set_to_none:
                group.core.zero_grad()
                continue
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes every parameter that has a gradient. With a closure, calls it first, for the loss."""
        loss = None if closure is None else closure()
        for group in self.param_groups:
            group.core.step()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """What it remembers of each parameter, and the options."""
        return {
            "state": [group.core.state() for group in self.param_groups],
            "param_groups": [{k: v for k, v in group.items() if k != "params"} for group in self.param_groups],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Remembers what `state_dict` answered with, for parameters of the same shapes in the same order."""
        states, groups = state_dict["state"], state_dict["param_groups"]
        if len(states) != len(self.param_groups):
            raise ValueError(f"a state of {len(states)} groups of parameters, for {len(self.param_groups)}")
        for group, state, options in zip(self.param_groups, states, groups):
            group.core.load_state(state)
            group["lr"] = options["lr"]

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {k}: {v}\n" for k, v in sorted(group.items()) if k != "params")
        return text + ")"


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum in PyTorch's form."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _make(self, params: list[Tensor], options: dict[str, Any]) -> _Optimizer:
        return _Optimizer.sgd(params, *(options[name] for name in self.defaults))


class Adam(Optimizer):
    """Adam: Kingma and Ba, 2015."""

    _decoupled = False

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _make(self, params: list[Tensor], options: dict[str, Any]) -> _Optimizer:
        return _Optimizer.adam(params, *(options[name] for name in self.defaults), self._decoupled)


class AdamW(Adam):
    """Adam with decoupled weight decay: Loshchilov and Hutter, 2019."""

    _decoupled = True

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
