"""What `linalg` has, under names of older days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._micrograd_rs import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence


def frobenius_norm(input: Tensor, dim: int | Sequence[int] = (), keepdim: bool = False) -> Tensor:
    """The root of the sum of squares.

    Arguments:
        input: any shape
        dim: over which axes, one or several; an empty list is over all of them
        keepdim: whether an axis that is summed over stays in the result, with size 1

    >>> mg.frobenius_norm(mg.tensor([[3.0, 4.0]]))
    tensor(5.)
    """
    from ..linalg import vector_norm

    return vector_norm(input, 2, dim if isinstance(dim, int) else tuple(dim) or None, keepdim)


def nuclear_norm(input: Tensor, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of a matrix's singular values.

    Arguments:
        input: any shape of two axes or more; float32 or float64
        dim: the two axes that the matrices lie in
        keepdim: whether these axes stay in the result, with size 1

    >>> mg.nuclear_norm(mg.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(7.)
    """
    from ..linalg import matrix_norm

    return matrix_norm(input, "nuc", tuple(dim), keepdim)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """`linalg.lu_factor`, or with `get_infos` `linalg.lu_factor_ex`, under the name of older days.

    Arguments:
        A: the matrices, `[…, m, n]`; float32 or float64
        pivot: True: there is no elimination without row exchanges here
        get_infos: whether the answer has a third tensor, which says where `U` has its first 0; a singular matrix is no error then

    Errors: ValueError for what is no matrix, and for `pivot=False`; TypeError for other dtypes; LinAlgError, without `get_infos`, for a singular matrix.

    >>> mg.lu(mg.tensor([[0.0, 1.0], [2.0, 3.0]]))
    (tensor([[2., 3.],
            [0., 1.]]), tensor([2, 2], dtype=micrograd_rs.int32))
    """
    from ..linalg import lu_factor, lu_factor_ex

    return lu_factor_ex(A, pivot=pivot) if get_infos else tuple(lu_factor(A, pivot=pivot))
