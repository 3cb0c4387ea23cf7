"""Weights of a fixed length or a fixed largest stretch."""

from __future__ import annotations

from typing import Any

from ... import linalg
from ..._micrograd_rs import Tensor, eye, ones_like, where, zeros_like
from ..._names import Lazy as _Lazy
from ..._ops import cat, norm_except_dim, randn, stack
from ...autograd import no_grad
from ... import functional as F
from ..module import Module
from . import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

__getattr__ = _Lazy(__name__)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except_dim(weight_v, 2, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, 2, self.dim), weight


class _Renamed:
    """Has states of `nn.utils.weight_norm` be loaded."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state: dict[str, Any], prefix: str, *_: Any) -> None:
        old = f"{prefix}{self.name}_g", f"{prefix}{self.name}_v"
        if all(key in state for key in old):
            for i, key in enumerate(old):
                state[f"{prefix}parametrizations.{self.name}.original{i}"] = state.pop(key)


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Makes a weight the product of its length (`parametrizations.weight.original0`) and its direction (`…original1`), each trained by itself (Salimans
    and Kingma, 2016), and answers with the module.

    Arguments:
        module: the module
        name: the weight's name
        dim: the axis along which each index has a length of its own; None: one length for all

    Errors: ValueError where there is no such weight.

    >>> layer = mg.nn.utils.parametrizations.weight_norm(mg.nn.Linear(2, 3))
    >>> [(name, tuple(p.shape)) for name, p in layer.named_parameters()]
    [('bias', (3,)), ('parametrizations.weight.original0', (3, 1)), ('parametrizations.weight.original1', (3, 2))]
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_Renamed(name))
    return module


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"takes n_power_iterations above 0, got {n_power_iterations}")
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(f"dim {dim} is not an axis of a weight of {weight.dim()}")
        self.dim = dim % weight.dim()
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if weight.dim() > 1:
            with no_grad():
                matrix = self._matrix(weight.detach())
                rows, columns = matrix.shape
                u, v = (randn(n, dtype=weight.dtype, device=weight.device) for n in (rows, columns))
                self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
                self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1) if self.dim else weight.flatten(1)

    def _iterate(self, matrix: Tensor, times: int) -> None:
        with no_grad():
            u, v = self._u, self._v
            for _ in range(times):
                u = F.normalize(matrix.mv(v), dim=0, eps=self.eps)
                v = F.normalize(matrix.T.mv(u), dim=0, eps=self.eps)
            self._u.copy_(u)
            self._v.copy_(v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a weight by its largest singular value, which steps of the power method follow at each use in training (Miyato et al., 2018), and answers
    with the module. A weight of several axes is taken for a matrix whose rows are along `dim`.

    Arguments:
        module: the module
        name: the weight's name
        n_power_iterations: how many steps of the power method each use in training takes, above 0
        eps: what lengths are at least taken for, so that nothing is divided by 0
        dim: the axis of the outputs; None: 1 for transposed convolutions, 0 for others

    Errors: ValueError where there is no such weight, and for another number of steps; IndexError where there is no axis `dim`.

    >>> layer = mg.nn.utils.parametrizations.spectral_norm(mg.nn.Linear(4, 3))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'parametrizations.weight.original']
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{type(module).__name__} has no parameter or buffer {name!r}")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


def _orthonormal(matrix: Tensor) -> Tensor:
    """The columns made orthogonal and of length 1, so that the triangle that leads back has a positive diagonal."""
    q, r = linalg.qr(matrix)
    return q * r.diagonal(0, -2, -1).sign().unsqueeze(-2)


def _reflectors(matrix: Tensor) -> Tensor:
    """The vectors of the reflections whose product has the columns made orthogonal, below a diagonal of signs and what is left above it: Golub and
    Van Loan, Matrix Computations, 5.2.
    """
    left = matrix
    vectors: list[Tensor] = []
    rows, columns = matrix.shape[-2], matrix.shape[-1]
    for i in range(columns):
        x = left[..., i]
        x = cat([x.new_zeros((*x.shape[:-1], i)), x[..., i:]], -1)
        first = x[..., i : i + 1]
        is_done = (x[..., i + 1 :] == 0).all(-1, True) if i + 1 < rows else first == first
        # Away from the first number, so that nothing cancels.
        end = where(is_done, first, where(first >= 0, -1.0, 1.0) * x.norm(dim=-1, keepdim=True))
        pivot = where(is_done, 1.0, first - end)
        v = where(is_done, 0.0, x / pivot)
        reflector = cat([v[..., :i], ones_like(first), v[..., i + 1 :]], -1)
        tau = where(is_done, 0.0, -pivot / where(end == 0, 1.0, end))
        left = left - tau.unsqueeze(-1) * reflector.unsqueeze(-1) * (reflector.unsqueeze(-2) @ left)
        sign = where(is_done, -end.sign(), end.sign())
        vectors.append(cat([v[..., :i], sign, v[..., i + 1 :]], -1))
    return stack(vectors, -1) + left.triu(1)


class _Orthogonal(Module):
    """Matrices with orthogonal columns (or rows), of matrices without constraints: Lezcano-Casado and Martínez-Rubio, 2019."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        self.shape = weight.shape
        self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.shape[-2] < X.shape[-1]
        x = X.mT if wide else X
        n, k = x.shape[-2], x.shape[-1]
        if self.orthogonal_map == "householder":
            below = x.tril(-1)
            q = linalg.householder_product(below, 2 / (1 + (below * below).sum(-2)))
            # Signs, which are not learned.
            q = q * x.diagonal(0, -2, -1).detach().sign().unsqueeze(-2)
        else:
            lower = x.tril()
            if n != k:
                lower = cat([lower, x.new_zeros((*x.shape[:-2], n, n - k))], -1)
            skew = lower - lower.mT
            if self.orthogonal_map == "matrix_exp":
                q = linalg.matrix_exp(skew)
            else:
                identity = eye(n, dtype=x.dtype, device=x.device)
                q = linalg.solve(identity - skew / 2, identity + skew / 2)
            q = q[..., :k]
        if self.base is not None:
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        if not self.use_trivialization:
            if self.orthogonal_map != "householder":
                raise NotImplementedError("a matrix can be assigned with use_trivialization, or to householder's map, only")
            with no_grad():
                return _reflectors(Q.mT).mT if Q.shape[-2] < Q.shape[-1] else _reflectors(Q)
        with no_grad():
            tall = Q.mT if Q.shape[-2] < Q.shape[-1] else Q
            n, k = tall.shape[-2], tall.shape[-1]
            if n != k:
                more = randn(*tall.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
                tall = cat([tall, more], -1)
            self.base = _orthonormal(tall)
            # The map takes this to the identity.
            start = zeros_like(Q)
            start.diagonal(0, -2, -1).fill_(-1.0)
            return start


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keeps a weight's columns orthogonal and of length 1 (its rows, where it is wide), and answers with the module.

    Arguments:
        module: the module
        name: the weight's name
        orthogonal_map: "matrix_exp" for the matrix exponential, "cayley" for Cayley's map, "householder" for Householder's reflections; None: the
            first for square matrices, the last for others
        use_trivialization: whether the maps begin at the matrix that is assigned, without which the first two take no matrix that is assigned

    Errors: ValueError where there is no such weight, for one of a single axis, and for another map.

    >>> layer = mg.nn.utils.parametrizations.orthogonal(mg.nn.Linear(3, 3))
    >>> mg.allclose(layer.weight.T @ layer.weight, mg.eye(3), atol=1e-5)
    True
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    orth = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, orth, unsafe=True)
