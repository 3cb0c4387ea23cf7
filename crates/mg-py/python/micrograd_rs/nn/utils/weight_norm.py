"""Weights as lengths and directions, computed before each use; `parametrizations.weight_norm` does the same by
other names.
"""

from __future__ import annotations

from typing import Any

from ..._micrograd_rs import Tensor
from ..._ops import norm_except_dim
from ..module import Module
from ..parameter import Parameter

__all__ = ["remove_weight_norm", "weight_norm"]


class WeightNorm:
    """Computes `name` of `name_g` and `name_v` before a module is called."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """The weight."""
        g: Tensor = getattr(module, f"{self.name}_g")
        v: Tensor = getattr(module, f"{self.name}_v")
        return v * (g / norm_except_dim(v, 2, self.dim))

    def __call__(self, module: Module, inputs: Any) -> None:
        object.__setattr__(module, self.name, self.compute_weight(module))


def _hook(module: Module, name: str) -> tuple[int, WeightNorm] | None:
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return number, hook
    return None


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Makes a weight the product of its length `weight_g` and its direction `weight_v`, for each index along
    `dim`, or for all as one where that is None: Salimans and Kingma, 2016.

    Arguments:
        module: the module
        name: the weight's
        dim: the axis

    >>> layer = mg.nn.utils.weight_norm(mg.nn.Linear(2, 3))
    >>> [(name, tuple(p.shape)) for name, p in layer.named_parameters()]
    [('bias', (3,)), ('weight_g', (3, 1)), ('weight_v', (3, 2))]
    """
    if _hook(module, name) is not None:
        raise RuntimeError(f"{name!r} has weight_norm already")
    weight = getattr(module, name)
    norm = WeightNorm(name, dim)
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(norm_except_dim(weight.detach(), 2, norm.dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    norm(module, ())
    module.register_forward_pre_hook(norm)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Makes the weight a parameter again, as it is.

    Arguments:
        module: the module
        name: the weight's

    >>> layer = mg.nn.utils.weight_norm(mg.nn.Linear(2, 3))
    >>> [name for name, _ in mg.nn.utils.remove_weight_norm(layer).named_parameters()]
    ['bias', 'weight']
    """
    found = _hook(module, name)
    if found is None:
        raise ValueError(f"{name!r} of {type(module).__name__} has no weight_norm")
    number, norm = found
    weight = norm.compute_weight(module).detach()
    for part in (f"{name}_g", f"{name}_v", name):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight))
    del module._forward_pre_hooks[number]
    return module
