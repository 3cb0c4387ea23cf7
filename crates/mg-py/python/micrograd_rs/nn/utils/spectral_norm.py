"""Weights divided by their largest singular value, before each use; `parametrizations.spectral_norm` does the
same by other names.
"""

from __future__ import annotations

from typing import Any

from ..._micrograd_rs import Tensor, randn
from ...autograd import no_grad
from ... import functional as F
from ..module import Module
from ..parameter import Parameter

__all__ = ["remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """Computes `name` of `name_orig`, `name_u` and `name_v` before a module is called."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"takes n_power_iterations above 0, got {n_power_iterations}")
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix, its rows along `dim`."""
        return (weight.movedim(self.dim, 0) if self.dim else weight).flatten(1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """The weight."""
        weight: Tensor = getattr(module, f"{self.name}_orig")
        u: Tensor = getattr(module, f"{self.name}_u")
        v: Tensor = getattr(module, f"{self.name}_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with no_grad():
                new_u, new_v, constant = u, v, matrix.detach()
                for _ in range(self.n_power_iterations):
                    new_v = F.normalize(constant.T.mv(new_u), dim=0, eps=self.eps)
                    new_u = F.normalize(constant.mv(new_v), dim=0, eps=self.eps)
                u.copy_(new_u)
                v.copy_(new_v)
        u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module: Module, inputs: Any) -> None:
        object.__setattr__(module, self.name, self.compute_weight(module, module.training))


def _hook(module: Module, name: str) -> tuple[int, SpectralNorm] | None:
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return number, hook
    return None


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a weight, then `weight_orig`, by its largest singular value, which `n_power_iterations` of the
    power method follow at each call in training: Miyato et al., 2018.

    Arguments:
        module: the module
        name: the weight's
        n_power_iterations: how many steps of the power method each call in training takes
        eps: what lengths are at least taken for
        dim: the axis of the outputs; found, if it is not given

    >>> layer = mg.nn.utils.spectral_norm(mg.nn.Linear(20, 40), n_power_iterations=50)
    >>> _ = layer(mg.ones(1, 20))
    >>> abs(mg.linalg.svdvals(layer.weight)[0].item() - 1) < 0.1
    True
    """
    if _hook(module, name) is not None:
        raise RuntimeError(f"{name!r} has spectral_norm already")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    norm = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = getattr(module, name)
    with no_grad():
        rows, columns = norm.matrix(weight.detach()).shape
        u, v = (randn(n, dtype=weight.dtype, device=weight.device) for n in (rows, columns))
        u, v = F.normalize(u, dim=0, eps=eps), F.normalize(v, dim=0, eps=eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    object.__setattr__(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(norm)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Makes the weight a parameter again, as it is.

    Arguments:
        module: the module
        name: the weight's

    >>> layer = mg.nn.utils.spectral_norm(mg.nn.Linear(2, 3))
    >>> [name for name, _ in mg.nn.utils.remove_spectral_norm(layer).named_parameters()]
    ['bias', 'weight']
    """
    found = _hook(module, name)
    if found is None:
        raise ValueError(f"{name!r} of {type(module).__name__} has no spectral_norm")
    number, norm = found
    weight = norm.compute_weight(module, False).detach()
    for part in (f"{name}_orig", f"{name}_u", f"{name}_v", name):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight))
    del module._forward_pre_hooks[number]
    return module
