"""Memory that tensors lie in, as `torch.storage` has it: an address, and how much there is. It is read, not written to.

>>> import micrograd_rs as mg
>>> x = mg.arange(6.0)
>>> memory = x[2:].untyped_storage()
>>> memory.nbytes(), memory.data_ptr() == x.data_ptr()
(24, True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _micrograd_rs as _rs
from ._micrograd_rs import Tensor
from ._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._micrograd_rs import Device, dtype

__all__ = ["TypedStorage", "UntypedStorage"]

__getattr__ = _Lazy(__name__)


class _Storage:
    """The memory of a tensor, as it is when it is asked."""

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{type(self).__name__} is the memory of a tensor: x.untyped_storage(), x.storage()")
        self._tensor = tensor

    def data_ptr(self) -> int:
        """The address of the first byte: the same for all tensors that share the memory."""
        return self._tensor._memory()[0]

    def nbytes(self) -> int:
        """How many bytes there are, those beside a view included."""
        return self._tensor._memory()[1]

    @property
    def device(self) -> Device:
        """Where it is."""
        return self._tensor.device

    @property
    def is_cuda(self) -> bool:
        """Whether it is on a CUDA device."""
        return self._tensor.is_cuda

    def is_shared(self) -> bool:
        """Whether other processes see it: never."""
        return False

    def _all(self) -> Tensor:
        """All of the memory, in one axis."""
        whole = self._tensor._memory()[2]
        return (self._tensor.detach() if whole is None else whole).reshape(-1)

    def tolist(self) -> list[Any]:
        """What there is, as Python's numbers."""
        raise NotImplementedError

    def size(self) -> int:
        """How many of them there are."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        return self.tolist()[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Storage):
            return NotImplemented
        return type(self) is type(other) and self._tensor._memory()[:2] == other._tensor._memory()[:2]

    __hash__ = None  # type: ignore[assignment]


class UntypedStorage(_Storage):
    """The memory that a tensor lies in, as bytes: `x.untyped_storage()`.

    >>> mg.tensor([1.0, 2.0]).untyped_storage().nbytes()
    8
    """

    def size(self) -> int:
        """How many bytes there are."""
        return self.nbytes()

    def tolist(self) -> list[int]:
        """The bytes."""
        every = self._all().cpu()
        # Python's buffers know no bfloat16.
        every = every.view(_rs.int16) if every.dtype._code is None else every
        return list(memoryview(every).cast("B"))

    def __repr__(self) -> str:
        return f"<UntypedStorage of {self.nbytes()} bytes on {self.device}>"


class TypedStorage(_Storage):
    """The memory that a tensor lies in, as elements: `x.storage()`.

    >>> mg.tensor([1.0, 2.0])[1:].storage().tolist()
    [1.0, 2.0]
    """

    @property
    def dtype(self) -> dtype:
        """The dtype of the elements."""
        return self._tensor.dtype

    def element_size(self) -> int:
        """How many bytes an element takes."""
        return self._tensor.itemsize

    def size(self) -> int:
        """How many elements there are."""
        return self.nbytes() // self._tensor.itemsize

    def untyped(self) -> UntypedStorage:
        """The same memory, as bytes."""
        return UntypedStorage(self._tensor)

    def tolist(self) -> list[Any]:
        """The elements."""
        return self._all().tolist()  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<TypedStorage of {self.size()} elements of {self.dtype} on {self.device}>"
