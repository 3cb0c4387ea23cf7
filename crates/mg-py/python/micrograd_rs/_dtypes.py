"""What numbers dtypes hold."""

from __future__ import annotations

from . import _micrograd_rs as _rs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._micrograd_rs import dtype

# Every dtype by its names, short and long; what is known of each stands in one table, which the extension has.
NAMED: dict[str, dtype] = {name: each for each in _rs._DTYPES for name in (each.short_name, *each._names)}


class finfo:
    """The limits of a floating-point dtype: `bits`, `eps`, `max`, `min`, `tiny` (the least normal number), `smallest_normal`,
    `resolution`, `dtype`.

    Arguments:
        type: the dtype, by itself the default one

    >>> mg.finfo(mg.float16).max, mg.finfo(mg.float32).eps
    (65504.0, 1.1920928955078125e-07)
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtype | str | None = None) -> None:
        own = _rs.dtype(_rs.get_default_dtype() if type is None else type)
        if not own.is_floating_point:
            raise TypeError(f"finfo() takes a floating-point dtype, got {own.name}; iinfo() is for integers")
        self.bits = 8 * own.itemsize
        fraction = self.bits - 1 - own._exponent_bits
        bias = 2 ** (own._exponent_bits - 1) - 1
        self.eps = 2.0**-fraction
        # "fn": finite, so that the largest exponent is one of numbers, but for the last of these, which is none.
        self.max = (2.0 - 2.0 * self.eps) * 2.0 ** (bias + 1) if own.name.endswith("fn") else (2.0 - self.eps) * 2.0**bias
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - bias)
        # So many decimal digits are told apart: of 10 there are log10(2) bits.
        self.resolution = float(f"1e-{fraction * 30103 // 100000}")
        self.dtype = own.name

    def __repr__(self) -> str:
        said = (f"{key}={getattr(self, key):g}" for key in ("resolution", "min", "max", "eps", "smallest_normal", "tiny"))
        return f"finfo({', '.join(said)}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer dtype: `bits`, `max`, `min`, `dtype`.

    Arguments:
        type: the dtype

    >>> mg.iinfo(mg.int8).min, mg.iinfo(mg.int8).max
    (-128, 127)
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtype | str) -> None:
        own = _rs.dtype(type)
        if not own._kind.endswith("integer"):
            raise TypeError(f"iinfo() takes an integer dtype, got {own.name}")
        self.bits = 8 * own.itemsize
        self.max = 2 ** (self.bits - own.is_signed) - 1
        self.min = -(2 ** (self.bits - 1)) if own.is_signed else 0
        self.dtype = own.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
