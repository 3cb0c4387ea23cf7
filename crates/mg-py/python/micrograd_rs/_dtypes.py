"""What numbers dtypes hold."""

from __future__ import annotations

from . import _micrograd_rs as _rs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._micrograd_rs import dtype

# Bits of the fraction and of the exponent.
_FLOATS = {"float64": (52, 11), "float32": (23, 8), "float16": (10, 5), "bfloat16": (7, 8)}
_INTEGERS = {"int64": 64, "int32": 32, "int16": 16, "int8": 8, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


class finfo:
    """The limits of a floating-point dtype: `bits`, `eps`, `max`, `min`, `tiny` (the least normal number), `smallest_normal`,
    `resolution`, `dtype`."""

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtype | str | None = None) -> None:
        name = _rs.dtype(_rs.get_default_dtype() if type is None else type).name
        if name not in _FLOATS:
            raise TypeError(f"finfo() takes a floating-point dtype, got {name}; iinfo() is for integers")
        fraction, exponent = _FLOATS[name]
        bias = 2 ** (exponent - 1) - 1
        self.bits = 1 + fraction + exponent
        self.eps = 2.0**-fraction
        self.max = (2.0 - self.eps) * 2.0**bias
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - bias)
        # What so many decimal digits tell apart.
        digits = {"float64": 15, "float32": 6, "float16": 3, "bfloat16": 2}[name]
        self.resolution = float(f"1e-{digits}")
        self.dtype = name

    def __repr__(self) -> str:
        said = (f"{key}={getattr(self, key):g}" for key in ("resolution", "min", "max", "eps", "smallest_normal", "tiny"))
        return f"finfo({', '.join(said)}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer dtype: `bits`, `max`, `min`, `dtype`."""

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtype | str) -> None:
        name = _rs.dtype(type).name
        if name not in _INTEGERS:
            raise TypeError(f"iinfo() takes an integer dtype, got {name}")
        self.bits = _INTEGERS[name]
        signed = name.startswith("int")
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -(2 ** (self.bits - 1)) if signed else 0
        self.dtype = name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
