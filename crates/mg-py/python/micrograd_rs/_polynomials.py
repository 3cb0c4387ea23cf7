"""Orthogonal polynomials, by the recurrences that lead from two of them to the next (Abramowitz and Stegun, "Handbook of mathematical functions",
chapter 22).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ._micrograd_rs import Tensor, as_tensor, get_default_dtype, int64, ones_like, result_type, where, zeros_like

__all__ = [
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "spherical_bessel_j0",
]

_Operand = Tensor | float


#: The largest degree: recurrences are as long as that.
_MOST = 10_000


def _checked(degree: int) -> int:
    if degree > _MOST:
        raise ValueError(f"polynomials are evaluated up to degree {_MOST:,}, got {degree:,}")
    return degree


def _floats(x: _Operand, beside: _Operand = 0) -> Tensor:
    """As floats, of the dtype that it has beside the other."""
    kind = result_type(x, beside)
    return as_tensor(x).to(kind if kind.is_floating_point else get_default_dtype())


def _evaluated(input: _Operand, n: _Operand, first: Callable[[Tensor], Tensor], step: Callable[[int, Tensor, Tensor, Tensor], Tensor]) -> Tensor:
    """The polynomials of degrees `n`, a number or numbers in a tensor, without their fractions: 1, `first(x)`, and what `step(k, x, pₖ, pₖ₋₁)` makes
    of two of them; 0 of degrees below 0 and of those that are no number. Degrees beyond 10,000 are an error.
    """
    x = _floats(input, n)
    if not isinstance(n, Tensor):
        degree = _checked(int(n)) if math.isfinite(n) else -1
        if degree < 0:
            return zeros_like(x)
        below, here = ones_like(x), first(x)
        if degree == 0:
            return below
        for k in range(1, degree):
            below, here = here, step(k, x, here, below)
        return here
    # Of degrees in a tensor the largest says how far, so that their values are read.
    degrees = where(n.isfinite(), n, -1).to(int64).to(x.device)
    most = _checked(int(degrees.max().item())) if degrees.numel() else 0
    below, here = ones_like(x), first(x)
    found = where(degrees == 0, below, where(degrees == 1, here, zeros_like(x)))
    for k in range(1, most):
        below, here = here, step(k, x, here, below)
        found = where(degrees == k + 1, here, found)
    return found


def _twice(_: int, x: Tensor, here: Tensor, below: Tensor) -> Tensor:
    return 2 * x * here - below


def _made(name: str, text: str, first: Callable[[Tensor], Tensor], step: Callable[[int, Tensor, Tensor, Tensor], Tensor], shifted: bool = False) -> Any:
    def polynomial(input: _Operand, n: _Operand) -> Tensor:
        return _evaluated(2 * _floats(input, n) - 1 if shifted else input, n, first, step)

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = (
        f"{text}, at numbers or a tensor, of a degree `n`, a number, or degrees in a tensor that broadcasts, without their fractions: 0 below 0, and an error beyond 10,000. Integers become the "
        "default dtype. Gradients flow to `input`."
    )
    return polynomial


_CHEBYSHEV: list[tuple[str, str, Callable[[Tensor], Tensor]]] = [
    ("t", "first", lambda x: x),
    ("u", "second", lambda x: 2 * x),
    ("v", "third", lambda x: 2 * x - 1),
    ("w", "fourth", lambda x: 2 * x + 1),
]
_kinds: dict[str, Any] = {}
for _letter, _kind, _first in _CHEBYSHEV:
    _name = f"chebyshev_polynomial_{_letter}"
    _kinds[_name] = _made(_name, f"Chebyshev's polynomials of the {_kind} kind", _first, _twice)
    _kinds[f"shifted_{_name}"] = _made(f"shifted_{_name}", f"Chebyshev's polynomials of the {_kind} kind at `2x − 1`", _first, _twice, True)

chebyshev_polynomial_t = _kinds["chebyshev_polynomial_t"]
chebyshev_polynomial_u = _kinds["chebyshev_polynomial_u"]
chebyshev_polynomial_v = _kinds["chebyshev_polynomial_v"]
chebyshev_polynomial_w = _kinds["chebyshev_polynomial_w"]
shifted_chebyshev_polynomial_t = _kinds["shifted_chebyshev_polynomial_t"]
shifted_chebyshev_polynomial_u = _kinds["shifted_chebyshev_polynomial_u"]
shifted_chebyshev_polynomial_v = _kinds["shifted_chebyshev_polynomial_v"]
shifted_chebyshev_polynomial_w = _kinds["shifted_chebyshev_polynomial_w"]
hermite_polynomial_h: Any = _made(
    "hermite_polynomial_h", "Hermite's polynomials of physics", lambda x: 2 * x, lambda k, x, here, below: 2 * x * here - 2 * k * below
)
hermite_polynomial_he: Any = _made(
    "hermite_polynomial_he", "Hermite's polynomials of probability", lambda x: x, lambda k, x, here, below: x * here - k * below
)
laguerre_polynomial_l: Any = _made(
    "laguerre_polynomial_l",
    "Laguerre's polynomials",
    lambda x: 1 - x,
    lambda k, x, here, below: ((2 * k + 1 - x) * here - k * below) / (k + 1),
)
legendre_polynomial_p: Any = _made(
    "legendre_polynomial_p",
    "Legendre's polynomials",
    lambda x: x,
    lambda k, x, here, below: ((2 * k + 1) * x * here - k * below) / (k + 1),
)


def spherical_bessel_j0(input: _Operand) -> Tensor:
    """Bessel's spherical function of order 0, `sin(x) / x`: 1 at 0, and 0 at infinity."""
    x = _floats(input)
    # The quotient is as near as its parts, but for 0 and infinity.
    plain = (x != 0) & x.isfinite()
    inside = where(plain, x, 1.0)
    return where(plain, inside.sin() / inside, where(x == 0, 1.0, where(x.isinf(), 0.0, x)))
