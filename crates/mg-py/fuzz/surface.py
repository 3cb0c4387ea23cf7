"""The reference's functions under PyTorch's names: what a program reaches as `L` and `F`."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .run import Library
from .storages import (
    DType,
    Tensor,
    Track,
    cat,
    dtypes,
    fresh_tensor,
    gradients_of,
    matmul,
    no_grad,
    promoted,
    sizes_of,
    stack,
    where,
)


def grad(
    outputs: Tensor,
    inputs: Sequence[Tensor],
    *,
    allow_unused: bool = False,
    retain_graph: Any = None,
    create_graph: bool = False,
) -> tuple[Tensor | None, ...]:
    if create_graph:
        raise AttributeError("no gradients of gradients")
    inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    for x in inputs:
        if not x.requires_grad:
            raise RuntimeError("one of the inputs does not require a gradient")
        if not x.is_leaf:
            raise AttributeError("gradients of leaves only")
    found = gradients_of(outputs, None)
    answers: list[Tensor | None] = []
    for x in inputs:
        assert x.track.leaf is not None
        known = found.get(x.track.leaf)
        if known is None and not allow_unused:
            raise RuntimeError("one of the inputs was not used")
        answers.append(None if known is None else fresh_tensor(known.reshape(x.shape), x.dtype.name))
    return tuple(answers)


def tensor(data: Any, dtype: DType | None = None, requires_grad: bool = False) -> Tensor:
    array = np.array(data.value if isinstance(data, Tensor) else data)
    name = dtype.name if dtype else array.dtype.name
    if dtype is None and not isinstance(data, (np.ndarray, Tensor)) and name == "float64":
        name = "float32"
    return fresh_tensor(array, name).requires_grad_(requires_grad)


def full(size: Sequence[int], value: Any, dtype: DType | None = None, requires_grad: bool = False) -> Tensor:
    return tensor(np.full(size, value), dtype or dtypes[promoted(value)], requires_grad)


def _filled(value: int) -> Callable[..., Tensor]:
    def call(*size: Any, dtype: DType = dtypes["float32"], requires_grad: bool = False) -> Tensor:
        return full(sizes_of(size), value, dtype, requires_grad)

    return call


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor in the memory of an array that lies in one piece."""
    if not array.flags.c_contiguous:
        raise AttributeError("only of arrays in one piece")
    flat = array.reshape(-1)
    return Tensor(flat, np.arange(flat.size).reshape(array.shape), Track(flat.size))


def arange(start: float, end: float | None = None, step: float = 1) -> Tensor:
    return tensor(np.arange(*((0, start) if end is None else (start, end)), step), dtypes[promoted(start)])


class functional:
    relu = staticmethod(lambda x: x.relu())
    sigmoid = staticmethod(lambda x: x.sigmoid())
    tanh = staticmethod(lambda x: x.tanh())
    linear = staticmethod(lambda x, w: matmul(x, w.t()))
    dropout = staticmethod(lambda x, p: x)

    @staticmethod
    def embedding(index: Tensor, w: Tensor) -> Tensor:
        if w.ndim != 2:
            raise RuntimeError("no table")
        return w[index]

    @staticmethod
    def mse_loss(x: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
        squares = (x - y) * (x - y)
        return squares if reduction == "none" else squares.mean() if reduction == "mean" else squares.sum()

    @staticmethod
    def nll_loss(x: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
        if x.ndim != 2 or labels.shape != x.shape[:1]:
            raise RuntimeError("shapes that do not fit")
        if labels.numel() and (labels.value.max() >= x.shape[1] or labels.value.min() < 0):
            raise IndexError("a label that is out of bounds")
        picked = -x.gather(1, labels.unsqueeze(1)).squeeze(1)
        return picked if reduction == "none" else picked.mean() if reduction == "mean" else picked.sum()

    @staticmethod
    def cross_entropy(x: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
        return functional.nll_loss(x.log_softmax(1), labels, reduction)


module = types.SimpleNamespace(
    **dtypes,
    Tensor=Tensor,
    tensor=tensor,
    zeros=_filled(0),
    ones=_filled(1),
    full=full,
    arange=arange,
    eye=lambda n, dtype=dtypes["float32"]: tensor(np.eye(n), dtype),
    zeros_like=lambda x: full(x.shape, 0, x.dtype),
    ones_like=lambda x: full(x.shape, 1, x.dtype),
    full_like=lambda x, value: full(x.shape, value, x.dtype),
    from_numpy=from_numpy,
    where=where,
    cat=cat,
    stack=stack,
    no_grad=no_grad,
    autograd=types.SimpleNamespace(grad=grad),
    functional=functional,
)


def library() -> Library:
    return Library("numpy", module, Tensor, functional)
