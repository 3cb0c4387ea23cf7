"""Data types of the standard, and what can be asked of them."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import NamedTuple

from .. import _micrograd_rs as _rs
from .._dtypes import finfo as _finfo
from .._dtypes import iinfo as _iinfo
from .._micrograd_rs import Device, Tensor, dtype
from .._micrograd_rs import promote_types as _promote_types

__all__ = ["__array_namespace_info__", "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

# Those of the standard that there are, by kind; the smaller ones first.
_KINDS: dict[str, dict[str, dtype]] = {
    kind: {each.name: each for each in reversed(_rs._DTYPES) if each._kind == kind}
    for kind in ("bool", "signed integer", "unsigned integer", "real floating", "complex floating")
}
# Half types, which the standard does not know.
_KINDS["real floating"] = {name: each for name, each in _KINDS["real floating"].items() if each.itemsize >= 4}
_KINDS["integral"] = {**_KINDS["signed integer"], **_KINDS["unsigned integer"]}
_KINDS["numeric"] = {**_KINDS["integral"], **_KINDS["real floating"]}
ALL: dict[str, dtype] = {**_KINDS["bool"], **_KINDS["numeric"]}


def of(x: dtype | Tensor) -> dtype:
    """The dtype of an array, or the dtype itself."""
    return x.dtype if isinstance(x, Tensor) else x


class FloatInfo(NamedTuple):
    """The limits of a floating-point dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype


class IntegerInfo(NamedTuple):
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: dtype


def finfo(type: dtype | Tensor, /) -> FloatInfo:
    """The limits of a floating-point dtype, or of an array's."""
    own = of(type)
    found = _finfo(own)
    return FloatInfo(own.itemsize * 8, found.eps, found.max, found.min, found.smallest_normal, own)


def iinfo(type: dtype | Tensor, /) -> IntegerInfo:
    """The limits of an integer dtype, or of an array's."""
    own = of(type)
    found = _iinfo(own)
    return IntegerInfo(own.itemsize * 8, found.max, found.min, own)


def isdtype(dtype: dtype, kind: dtype | str | tuple[dtype | str, ...]) -> builtins.bool:
    """Whether a dtype is of a kind ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating",
    "numeric"), is another dtype, or is one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if not isinstance(kind, str):
        return dtype == kind
    if kind not in _KINDS:
        raise ValueError(f"{kind!r} is no kind of dtype: takes {', '.join(map(repr, _KINDS))}")
    return any(dtype == one for one in _KINDS[kind].values())


def _kind_of(type: dtype) -> str:
    return type._kind


def can_cast(from_: dtype | Tensor, to: dtype, /) -> builtins.bool:
    """Whether promotion leads from one dtype to another."""
    try:
        return _promoted(of(from_), to) == to
    except TypeError:
        return False


def _promoted(a: dtype, b: dtype) -> dtype:
    kinds = {_kind_of(a), _kind_of(b)}
    if a != b and ("bool" in kinds or ("real floating" in kinds and len(kinds) > 1)):
        raise TypeError(f"the standard does not promote {a} and {b}")
    return _promote_types(a, b)


def _listed(items: tuple[Tensor | dtype | complex, ...]) -> Iterator[dtype]:
    return (of(item) for item in items if isinstance(item, (Tensor, dtype)))


def result_type(*arrays_and_dtypes: Tensor | dtype | complex) -> dtype:
    """The dtype that arrays, dtypes and Python's numbers are promoted to: numbers take an array's dtype where it is of their kind."""
    found: dtype | None = None
    for each in _listed(arrays_and_dtypes):
        found = each if found is None else _promoted(found, each)
    if found is None:
        raise ValueError("takes an array or a dtype at least")
    for number in arrays_and_dtypes:
        if isinstance(number, (Tensor, dtype)):
            continue
        kind = _kind_of(found)
        if isinstance(number, builtins.bool):
            fits = kind == "bool"
        elif isinstance(number, int):
            fits = kind != "bool"
        else:
            fits = isinstance(number, float) and kind == "real floating"
        if not fits:
            raise TypeError(f"{number!r} is not of the kind of {found}")
    return found


def astype(x: Tensor, dtype: dtype, /, *, copy: builtins.bool = True, device: Device | None = None) -> Tensor:
    """The array in another dtype; the array itself, if it is of that dtype and need not be copied."""
    moved = x if device is None else x.to(device)
    if moved.dtype == dtype:
        return moved.clone() if copy and moved is x else moved
    return moved.to(dtype)


class _Info:
    """What this namespace can do."""

    def capabilities(self) -> dict[str, builtins.bool | int | None]:
        """What of the standard is optional, and how many axes there may be."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self) -> Device:
        """Where arrays are made."""
        return _rs.get_default_device()

    def devices(self) -> list[Device]:
        """Where arrays can be."""
        from .. import cuda

        return [Device("cpu"), *(Device(f"cuda:{i}") for i in range(cuda.device_count()))]

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, dtype]:
        """The dtypes of what is made of Python's numbers."""
        floats = _rs.get_default_dtype()
        return {"real floating": floats, "integral": _rs.int64, "indexing": _rs.int64}

    def dtypes(self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, dtype]:
        """The dtypes, or those of a kind, or of several."""
        if kind is None:
            return dict(ALL)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {name: one for name, one in ALL.items() if isdtype(one, kinds)}


def __array_namespace_info__() -> _Info:
    """What this namespace can do: devices, dtypes, options of the standard."""
    return _Info()
