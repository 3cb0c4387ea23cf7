"""What are methods else, as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _ops
from .._micrograd_rs import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence


def detach(input: Tensor) -> Tensor:
    """The tensor without its history. See `Tensor.detach`.

    Arguments:
        input: any tensor; the result lies on the same memory

    >>> x = mg.ones(2, requires_grad=True)
    >>> mg.detach(x * 2).requires_grad
    False
    """
    return input.detach()


def detach_(input: Tensor) -> Tensor:
    """Takes its history off a tensor, which is answered. See `Tensor.detach_`.

    Arguments:
        input: the tensor, no view

    Errors: RuntimeError for a view.

    >>> x = mg.ones(2, requires_grad=True) * 2
    >>> mg.detach_(x).requires_grad
    False
    """
    return input.detach_()


def fill(input: Tensor, value: float | Tensor) -> Tensor:
    """A tensor of the same shape and dtype with one number everywhere.

    Arguments:
        input: whose shape, dtype and device the result has
        value: the number; a tensor without axes is one, too

    >>> mg.fill(mg.zeros(2, 2), 7)
    tensor([[7., 7.],
            [7., 7.]])
    """
    return input.clone().fill_(value)


def fill_(input: Tensor, value: float | Tensor) -> Tensor:
    """Writes one number everywhere into a tensor, which is answered. See `Tensor.fill_`.

    Arguments:
        input: the tensor that is written into
        value: the number; a tensor without axes is one, too

    >>> mg.fill_(mg.zeros(2), 7)
    tensor([7., 7.])
    """
    return input.fill_(value)


def zero_(input: Tensor) -> Tensor:
    """Writes 0 everywhere into a tensor, which is answered. See `Tensor.zero_`.

    Arguments:
        input: the tensor that is written into

    >>> mg.zero_(mg.ones(2))
    tensor([0., 0.])
    """
    return input.zero_()


def is_complex(input: Tensor) -> bool:
    """False: no numbers here are complex. See `Tensor.is_complex`.

    Arguments:
        input: any tensor

    >>> mg.is_complex(mg.ones(2))
    False
    """
    return input.is_complex()


def is_conj(input: Tensor) -> bool:
    """False: no numbers here are complex, so none is left to be conjugated. See `Tensor.is_conj`.

    Arguments:
        input: any tensor

    >>> mg.is_conj(mg.ones(2))
    False
    """
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """False: no number here is left to be negated. See `Tensor.is_neg`.

    Arguments:
        input: any tensor

    >>> mg.is_neg(mg.ones(2))
    False
    """
    return input.is_neg()


def is_inference(input: Tensor) -> bool:
    """Whether a tensor was made within `inference_mode`. See `Tensor.is_inference`.

    Arguments:
        input: any tensor

    >>> mg.is_inference(mg.ones(2))
    False
    """
    return input.is_inference()


def is_nonzero(input: Tensor) -> bool:
    """Whether a number is not 0. Waits for the value. See `Tensor.is_nonzero`.

    Arguments:
        input: a tensor of one element

    Errors: RuntimeError for another number of elements.

    >>> mg.is_nonzero(mg.tensor(3.0))
    True
    """
    return input.is_nonzero()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape. See `Tensor.is_same_size`.

    Arguments:
        input: any tensor
        other: what it is compared with

    >>> mg.is_same_size(mg.ones(2, 3), mg.zeros(2, 3))
    True
    """
    return input.is_same_size(other)


def is_signed(input: Tensor) -> bool:
    """Whether a tensor's dtype has numbers below 0. See `Tensor.is_signed`.

    Arguments:
        input: any tensor

    >>> mg.is_signed(mg.ones(2, dtype=mg.uint8))
    False
    """
    return input.is_signed()


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `chunk`.

    Arguments:
        input: any shape of one axis or more
        chunks: how many parts there are at most
        dim: along which axis

    See `chunk`.
    """
    return tuple(input.chunk(chunks, dim))


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `split`.

    Arguments:
        input: any shape of one axis or more
        split_size: how many positions a part has, or a list of the sizes of all parts
        dim: along which axis

    See `split`.
    """
    return tuple(input.split(split_size, dim))


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """As `split_with_sizes`.

    Arguments:
        input: any shape of one axis or more
        split_sizes: a list of the sizes of all parts
        dim: along which axis

    See `split_with_sizes`.
    """
    return tuple(input.split(list(split_sizes), dim))


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """As `narrow`, in memory of its own.

    Arguments:
        input: any shape of one axis or more
        dim: along which axis
        start: the first position, counted from the end if it is negative
        length: how many positions there are

    See `narrow`.
    """
    return input.narrow(dim, start, length).clone()


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """`nonzero`, in so many rows: the first of them, or followed by rows of `fill_value`.

    Arguments:
        input: any shape and dtype
        size: how many rows there are
        fill_value: what stands in rows that nothing was found for

    >>> mg.nonzero_static(mg.tensor([0, 5, 7]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    found = input.nonzero()[:size]
    missing = size - found.shape[0]
    return _ops.cat([found, found.new_full((missing, input.dim()), fill_value)]) if missing else found


def conj_physical_(input: Tensor) -> Tensor:
    """The tensor itself: its numbers are real. `Tensor.conj_physical_` as a function.

    Arguments:
        input: any tensor

    >>> mg.conj_physical_(mg.tensor([1.0]))
    tensor([1.])
    """
    return input.conj_physical_()


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """`Tensor.resize_as_` as a function: gives a tensor another one's shape.

    Arguments:
        input: the tensor that is written into
        the_template: the tensor whose shape it is
        memory_format: of no effect

    >>> x = mg.arange(6)
    >>> mg.resize_as_(x, mg.empty(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return input.resize_as_(the_template)


def to_dlpack(tensor: Tensor) -> object:
    """The tensor's memory in the form in which libraries give it to each other.

    Arguments:
        tensor: any tensor that requires no gradient

    >>> mg.from_dlpack(mg.to_dlpack(mg.tensor([1, 2])))
    tensor([1, 2])
    """
    return tensor.__dlpack__()
