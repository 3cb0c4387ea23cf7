"""Functions of two arrays, where the standard differs from PyTorch: an array without axes takes part in promotion as any other."""

from __future__ import annotations

from collections.abc import Callable

import micrograd_rs as _mg

from .._micrograd_rs import Tensor
from .._micrograd_rs import promote_types as _promote_types

__all__ = [
    "add",
    "atan2",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "less",
    "less_equal",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "not_equal",
    "pow",
    "remainder",
    "sign",
    "subtract",
]
_Array = Tensor | float
_Binary = Callable[[_Array, _Array], Tensor]


def _same(x1: _Array, x2: _Array) -> tuple[_Array, _Array]:
    """Arrays of one dtype, if one of them has no axes: PyTorch would give it the other's."""
    if isinstance(x1, Tensor) and isinstance(x2, Tensor) and x1.dtype != x2.dtype and (x1.ndim == 0) != (x2.ndim == 0):
        dtype = _promote_types(x1.dtype, x2.dtype)
        return x1.to(dtype), x2.to(dtype)
    return x1, x2


def _binary(name: str, function: _Binary, text: str) -> _Binary:
    def called(x1: _Array, x2: _Array, /) -> Tensor:
        return function(*_same(x1, x2))

    called.__name__ = called.__qualname__ = name
    called.__doc__ = text
    return called


def _floor_divide(x1: _Array, x2: _Array) -> Tensor:
    found = _mg.floor_divide(x1, x2)
    if not found.is_floating_point():
        return found
    # Where one is infinite and the other is not, the quotient needs no rounding but for its sign.
    exact = _mg.div(x1, x2)
    return _mg.where(_mg.isinf(_tensor(x1, found)) ^ _mg.isinf(_tensor(x2, found)), exact, found)


def _remainder(x1: _Array, x2: _Array) -> Tensor:
    found = _mg.remainder(x1, x2)
    if not found.is_floating_point():
        return found
    return _mg.where(found == 0, _mg.copysign(found, x2), found)


def _tensor(x: _Array, like: Tensor) -> Tensor:
    return x if isinstance(x, Tensor) else _mg.full((), x, dtype=like.dtype, device=like.device)


def sign(x: Tensor, /) -> Tensor:
    """−1, 0 or 1 with the sign of each; NaN stays."""
    found = _mg.sign(x)
    return _mg.where(_mg.isnan(x), x, found) if x.is_floating_point() else found


add = _binary("add", _mg.add, "The sum.")
atan2 = _binary("atan2", _mg.atan2, "The angle of the point (x2, x1).")
bitwise_and = _binary("bitwise_and", _mg.bitwise_and, "Bits that are set in both.")
bitwise_left_shift = _binary("bitwise_left_shift", _mg.bitwise_left_shift, "Bits moved up.")
bitwise_or = _binary("bitwise_or", _mg.bitwise_or, "Bits that are set in one of both.")
bitwise_right_shift = _binary("bitwise_right_shift", _mg.bitwise_right_shift, "Bits moved down.")
bitwise_xor = _binary("bitwise_xor", _mg.bitwise_xor, "Bits that are set in one and not in the other.")
copysign = _binary("copysign", _mg.copysign, "The size of the first with the sign of the second.")
divide = _binary("divide", _mg.div, "The quotient, of floats.")
equal = _binary("equal", _mg.eq, "Whether elements are equal.")
floor_divide = _binary("floor_divide", _floor_divide, "The quotient rounded down; of infinity and a number it is infinity.")
greater = _binary("greater", _mg.gt, "Whether the first is greater.")
greater_equal = _binary("greater_equal", _mg.ge, "Whether the first is greater or equal.")
hypot = _binary("hypot", _mg.hypot, "The length of the vector (x1, x2).")
less = _binary("less", _mg.lt, "Whether the first is less.")
less_equal = _binary("less_equal", _mg.le, "Whether the first is less or equal.")
logaddexp = _binary("logaddexp", _mg.logaddexp, "The logarithm of the sum of exponentials.")
maximum = _binary("maximum", _mg.maximum, "The greater one; NaN, where there is one.")
minimum = _binary("minimum", _mg.minimum, "The smaller one; NaN, where there is one.")
multiply = _binary("multiply", _mg.mul, "The product.")
nextafter = _binary("nextafter", _mg.nextafter, "The next number from the first towards the second.")
not_equal = _binary("not_equal", _mg.ne, "Whether elements differ.")
pow = _binary("pow", _mg.pow, "The first to the power of the second.")
remainder = _binary("remainder", _remainder, "What floor division leaves, with the divisor's sign, that of 0 too.")
subtract = _binary("subtract", _mg.sub, "The difference.")
