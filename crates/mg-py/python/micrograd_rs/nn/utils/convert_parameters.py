"""All parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from ..._micrograd_rs import Tensor
from ..._ops import cat

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters' elements, one after the other.

    >>> mg.nn.utils.parameters_to_vector(mg.nn.Linear(2, 3).parameters()).shape
    (9,)

    Arguments:
        parameters: the tensors
    """
    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Gives the parameters the elements of a vector, in their order.

    Arguments:
        vec: the vector
        parameters: the parameters

    >>> layer = mg.nn.Linear(2, 1)
    >>> mg.nn.utils.vector_to_parameters(mg.tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer(mg.tensor([10.0, 100.0])).item()
    213.0
    """
    found = list(parameters)
    wanted = sum(p.numel() for p in found)
    if vec.dim() != 1 or vec.numel() < wanted:
        raise ValueError(f"takes a vector of {wanted} elements, got shape {tuple(vec.shape)}")
    at = 0
    for p in found:
        n = p.numel()
        p.data = vec.detach()[at : at + n].reshape(tuple(p.shape))
        at += n
