"""Tensors whose axes lie in an order of one's own, and such of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _micrograd_rs as _rs
from .._micrograd_rs import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros whose axes lie in memory in an order, the outermost first.

    Arguments:
        size: the sizes, as one list
        physical_layout: the axes in that order, each once
        dtype: the dtype of the result; None is the default float
        layout: of no effect: all tensors are strided
        device: where the result is made; None is the default device
        requires_grad: whether the result is a leaf that gradients are computed for
        pin_memory: of no effect

    Errors: RuntimeError for a `physical_layout` that does not name each axis once.

    >>> mg.empty_permuted((2, 3, 4), (0, 2, 1)).stride()
    (12, 1, 3)
    """
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError(f"empty_permuted: the layout names each of {len(size)} axes once, got {tuple(physical_layout)}")
    made = _rs.zeros([size[axis] for axis in physical_layout], dtype=dtype, device=device)
    back = [0] * len(size)
    for at, axis in enumerate(physical_layout):
        back[axis] = at
    made = made.permute(back)
    return made.requires_grad_() if requires_grad else made


def from_file(
    filename: str, shared: bool | None = None, size: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False
) -> Tensor:
    """The first elements of a file, in one axis.

    Arguments:
        filename: the file's path
        shared: whether what is written to the tensor is in the file, which is made as large as the elements need; that wants NumPy
        size: how many elements there are
        dtype: the dtype of the elements; None is the default float
        layout: of no effect: all tensors are strided
        device: where the tensor is; None is the default device, and with `shared` the host
        pin_memory: of no effect

    Errors: RuntimeError for a file that is too short; OSError for one that cannot be read.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
    >>> _ = open(path, "wb").write(bytes([1, 2, 3]))
    >>> mg.from_file(path, size=2, dtype=mg.uint8)
    tensor([1, 2], dtype=micrograd_rs.uint8)
    """
    import mmap
    from .._legacy import frombuffer

    dtype = _rs.get_default_dtype() if dtype is None else dtype
    length = size * _rs.zeros(0, dtype=dtype).itemsize
    if not shared:
        with open(filename, "rb") as file:
            data = bytearray(file.read(length))
        if len(data) < length:
            raise RuntimeError(f"from_file: {filename} has {len(data)} bytes, {size} elements are {length}")
        made = frombuffer(data, dtype=dtype, count=size) if size else _rs.zeros(0, dtype=dtype)
        return made.to(device=device)
    with open(filename, "a+b") as file:
        if file.seek(0, 2) < length:
            file.truncate(length)
        file.flush()
        mapped = mmap.mmap(file.fileno(), length)
    return frombuffer(mapped, dtype=dtype, count=size)
