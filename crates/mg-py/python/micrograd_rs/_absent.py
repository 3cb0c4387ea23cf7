"""Names that programs compare with, of dtypes and layouts that no tensor has here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from ._micrograd_rs import dtype

__all__ = ["complex32", "complex64", "complex128", "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr"]


class _Absent:
    """A dtype or a layout that no tensor has: it is equal to itself alone, and whatever is asked for a tensor of it is a TypeError."""

    def __init__(self, name: str, why: str) -> None:
        self._name, self._why = name, why

    def __repr__(self) -> str:
        return f"{__package__}.{self._name}"

    def __reduce__(self) -> str:
        # The one object of that name, so that it stays equal to itself.
        return self._name

    def __index__(self) -> NoReturn:
        # Where a size or a dtype is taken (`x.view(dtype)`), an object is asked for its number first.
        raise TypeError(f"{self!r}: {self._why}")


class AbsentDtype(_Absent):
    """The name of a dtype that there is none of: `x.dtype == mg.complex64` is False for every tensor, and `mg.zeros(2, dtype=mg.complex64)` a TypeError.

    >>> import micrograd_rs as mg
    >>> mg.ones(2).dtype in (mg.complex64, mg.complex128)
    False
    """

    is_complex = True
    is_floating_point = False
    is_signed = True

    def __init__(self, name: str, itemsize: int) -> None:
        super().__init__(name, "there are no complex numbers here")
        self.itemsize = itemsize

    def to_real(self) -> dtype:
        """The dtype that the real parts would have."""
        from . import _micrograd_rs as rs

        return {4: rs.float16, 8: rs.float32, 16: rs.float64}[self.itemsize]

    def to_complex(self) -> AbsentDtype:
        """Itself."""
        return self


class AbsentLayout(_Absent):
    """The name of a layout that there is none of: `x.layout == mg.sparse_coo` is False for every tensor."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "there are no sparse tensors here")


complex32 = chalf = AbsentDtype("complex32", 4)
complex64 = cfloat = AbsentDtype("complex64", 8)
complex128 = cdouble = AbsentDtype("complex128", 16)
sparse_coo = AbsentLayout("sparse_coo")
sparse_csr = AbsentLayout("sparse_csr")
sparse_csc = AbsentLayout("sparse_csc")
sparse_bsr = AbsentLayout("sparse_bsr")
sparse_bsc = AbsentLayout("sparse_bsc")
