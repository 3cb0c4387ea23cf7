"""Bessel functions of orders 0 and 1, by Chebyshev series on two ranges (Clenshaw, "Chebyshev series for mathematical functions", 1962; summed by his recurrence).
Up to 8, or 2 for the modified ones, series in x² of the function, without its logarithm; beyond, series in (8/x)² of the modulus and phase of Hankel's expansion, or
in 4/x of √x eˣ K. Coefficients are the discrete cosine transforms of values in 40 digits, down to 10⁻¹⁸.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._micrograd_rs import Tensor, as_tensor, float32, get_default_dtype, where
from ._ops import cos, exp, log, sin
from ._special_ops import i0, i1

__all__ = [
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
]

# The first is two units of 10⁻¹⁶ below its own, so that J₀(0) is 1 and never above.
_J0 = (
    0.15772797147488993, -0.008723442352852221, 0.2651786132033368, -0.37009499387264977, 0.15806710233209725, -0.034893769411408884,
    0.004819180069467605, -0.00046062616620627504, 3.246032882100508e-05, -1.7619469077621507e-06, 7.608163592418782e-08, -2.679253530557673e-09,
    7.848696314479465e-11, -1.9438346867370164e-12, 4.125320595634374e-14, -7.588508125447546e-16, 1.2218515873961411e-17,
)
_J1 = (
    0.08104484632565812, -0.1489751450676521, 0.1609992623572097, -0.08268049176681791, 0.022213639654966037, -0.003646940600769276,
    0.0004050337728354822, -3.255554866857259e-05, 1.9858774049915165e-06, -9.521984756750436e-08, 3.687133759097148e-09, -1.178026622695885e-10,
    3.160154580348003e-12, -7.221755239651773e-14, 1.4232144003513942e-15, -2.4441972916190464e-17,
)
_Y0 = (
    -0.03314611320328494, -0.2744743055297453, 0.17903431407718265, 0.26156734625504663, -0.17730201278114358, 0.04719668959576339, -0.007287962479552079,
    0.0007531135932577742, -5.632079141056987e-05, 3.206532537654801e-06, -1.44072332740187e-07, 5.248794787330516e-09, -1.5837552541812015e-10,
    4.02633081830612e-12, -8.747341203310769e-14, 1.6434898714919468e-15, -2.6977881152566837e-17,
)
_Y1 = (
    0.0025380132357417816, -0.01608717304766875, -0.09591204536083074, 0.08445197259652346, -0.028328123944594365, 0.005289897544167113,
    -0.0006414551451326356, 5.505982873338744e-05, -3.53808001868935e-06, 1.7707804556154404e-07, -7.11055004989928e-09, 2.344337905911516e-10,
    -6.4651518414115946e-12, 1.51429151205002e-13, -3.0511859694473254e-15, 5.34668038572867e-17,
)
_P0 = (
    0.9994603493475187, -0.0005365220468132117, 3.0751847875194745e-06, -5.1705945376060975e-08, 1.6306464635151382e-09, -7.86409137723707e-11,
    5.168262387349193e-12, -4.3045788699253914e-13, 4.3265957431549404e-14, -5.069034095935236e-15, 6.748072215733873e-16, -1.0011513723467786e-16,
    1.6305919233744186e-17, -2.880866169482871e-18,
)
_Q0 = (
    -0.015555854605337009, 6.838519942611649e-05, -7.414498411060647e-07, 1.7972457247968992e-08, -7.27191593686632e-10, 4.2201219046687385e-11,
    -3.206747420996635e-12, 3.006145125351706e-13, -3.336328185322427e-14, 4.255225040245461e-15, -6.09993013164005e-16, 9.662128970303257e-17,
    -1.6686065214378146e-17, 3.1082440486738143e-18,
)
_P1 = (
    1.0009030408600137, 0.0008989898330859408, -3.987284300488908e-06, 6.177633960644299e-08, -1.8718907491063067e-09, 8.816898659582339e-11,
    -5.704863640395645e-12, 4.699195515230542e-13, -4.6842237839904895e-14, 5.452674896044717e-15, -7.221180842274018e-16, 1.0667689114335412e-16,
    -1.7312313216116335e-17, 3.0492991197665872e-18,
)
_Q1 = (
    0.04677778706953532, -9.62772354915708e-05, 9.138615257955454e-07, -2.0959781384083424e-08, 8.229193327650554e-10, -4.686363688176945e-11,
    3.5152187949686082e-12, -3.2643156743279e-13, 3.5967765829165294e-14, -4.5612523950772974e-15, 6.508282957783384e-16, -1.0269147531823243e-16,
    1.767635548776479e-17, -3.2834519872981614e-18,
)
_K0 = (
    -0.2676636966169514, 0.3442898999246285, 0.0359799365153615, 0.001264615411446926, 2.286212103119452e-05, 2.5347910790261494e-07,
    1.904516377220209e-09, 1.0349695257633625e-11, 4.2598161427910826e-14, 1.3744654358807508e-16,
)
_K1 = (
    0.7626501136694739, -0.3531559607765449, -0.12261118082265715, -0.006975723859639864, -0.0001730288957513052, -2.4334061415659684e-06,
    -2.213387630734726e-08, -1.4114883926335278e-10, -6.666901694199329e-13, -2.427449850519366e-15, -7.023863479386288e-18,
)
_L0 = (
    1.2201515410329777, -0.0314481013119645, 0.0015698838857300533, -0.00012849549581627802, 1.39498137188765e-05, -1.8317555227191195e-06,
    2.766813639445015e-07, -4.660489897687948e-08, 8.574034017414225e-09, -1.6975345093890614e-09, 3.5773972814003283e-10, -7.957489244477396e-11,
    1.8559491149549264e-11, -4.514597883374519e-12, 1.1403405882073441e-12, -2.9800969231481784e-13, 8.032890775068375e-14, -2.2275133267462965e-14,
    6.340076476276646e-15, -1.848593377920907e-15, 5.5120559994043335e-16, -1.6782311257549006e-16, 5.2103917776435543e-17, -1.6475805939842632e-17,
    5.3004337711773354e-18, -1.7331712005821001e-18,
)
_L1 = (
    1.3603130952422213, 0.10392373657681724, -0.002857816859622779, 0.00019521551847135162, -1.936197974166083e-05, 2.406484947837217e-06,
    -3.5019606030878126e-07, 5.7410841254500495e-08, -1.0345762465678097e-08, 2.0150497551970347e-09, -4.1903547593419254e-10, 9.218315187605315e-11,
    -2.129967838427791e-11, 5.139639673482343e-12, -1.2891739609498229e-12, 3.348419666052243e-13, -8.976705182010146e-14, 2.4771544242195988e-14,
    -7.0198370892147685e-15, 2.038703166239861e-15, -6.057047270643018e-16, 1.8380935752430455e-16, -5.689462849193648e-17, 1.7940510478863572e-17,
    -5.7567444820733025e-18, 1.8778651901623268e-18,
)


def _floats(input: Tensor) -> tuple[Tensor, Tensor]:
    """The input as floats, in its dtype and in the one that is computed in."""
    x = as_tensor(input)
    x = x if x.is_floating_point() else x.to(get_default_dtype())
    return x, x if x.itemsize > 2 else x.to(float32)


def _sum(coefficients: Sequence[float], t: Tensor) -> Tensor:
    """The sum of Chebyshev polynomials of t in [−1, 1]."""
    below, here = t * 0.0, t * 0.0 + coefficients[-1]
    for c in coefficients[-2:0:-1]:
        below, here = here, 2.0 * t * here - below + c
    return t * here - below + coefficients[0]


def _near(x: Tensor) -> tuple[Tensor, Tensor]:
    """x within [−8, 8], and x²/32 − 1. (At the ends `clamp` has no gradient.)"""
    x = where(x.abs() > 8, 8.0, x)
    return x, x * x / 32.0 - 1.0


def _wave(x: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """J and Y of |x| from 8 on."""
    y = x.abs()
    y = where(y <= 8, 8.0, y)
    u = 8.0 / y
    t = 2.0 * u * u - 1.0
    p, q = (_sum(_P0, t), _sum(_Q0, t) * u) if order == 0 else (_sum(_P1, t), _sum(_Q1, t) * u)
    # Cosine and sine of y − π/4, or of y − 3π/4, times √2.
    a, b = cos(y) + sin(y), sin(y) - cos(y)
    c, s = (a, b) if order == 0 else (b, -a)
    size = (math.pi * y).rsqrt()
    return size * (p * c - q * s), size * (p * s + q * c)


def _positive(x: Tensor, values: Tensor, at_zero: float) -> Tensor:
    """Values of positive numbers; of others what there is instead: at 0 an infinity, with as steep a slope, and of negative numbers NaN, with none."""
    # Of −0 and 0 the sum is 0.
    pole = log(x + 0.0)
    nothing = where(x < 0, x, 0.0) * math.nan
    return where(x > 0, values, where(x == 0, pole if at_zero < 0 else -pole, nothing))


def bessel_j0(input: Tensor) -> Tensor:
    """J₀, the Bessel function of the first kind of order 0, element by element. Integers become the default dtype.

    >>> from micrograd_rs import special, tensor
    >>> special.bessel_j0(tensor([0.0, 1.0]))
    tensor([1.0000, 0.7652])
    """
    whole, x = _floats(input)
    near = _sum(_J0, _near(x)[1])
    return where(x.abs() <= 8, near, _wave(x, 0)[0]).to(whole.dtype)


def bessel_j1(input: Tensor) -> Tensor:
    """J₁, the Bessel function of the first kind of order 1, element by element. Integers become the default dtype.

    >>> from micrograd_rs import special, tensor
    >>> special.bessel_j1(tensor([0.0, 1.0]))
    tensor([0.0000, 0.4401])
    """
    whole, x = _floats(input)
    inner, t = _near(x)
    return where(x.abs() <= 8, inner * _sum(_J1, t), x.sign() * _wave(x, 1)[0]).to(whole.dtype)


def bessel_y0(input: Tensor) -> Tensor:
    """Y₀, the Bessel function of the second kind of order 0, element by element: −∞ at 0, NaN of negative numbers. Integers become the default dtype.

    >>> from micrograd_rs import special, tensor
    >>> special.bessel_y0(tensor([0.0, 1.0]))
    tensor([  -inf, 0.0883])
    """
    whole, x = _floats(input)
    some = where(x > 0, x, 1.0)
    inner, t = _near(some)
    near = 2.0 / math.pi * log(inner) * _sum(_J0, t) + _sum(_Y0, t)
    return _positive(x, where(some <= 8, near, _wave(some, 0)[1]), -math.inf).to(whole.dtype)


def bessel_y1(input: Tensor) -> Tensor:
    """Y₁, the Bessel function of the second kind of order 1, element by element: −∞ at 0, NaN of negative numbers. Integers become the default dtype.

    >>> from micrograd_rs import special, tensor
    >>> special.bessel_y1(tensor([1.0, 2.0]))
    tensor([-0.7812, -0.1070])
    """
    whole, x = _floats(input)
    some = where(x > 0, x, 1.0)
    inner, t = _near(some)
    near = 2.0 / math.pi * (log(inner) * inner * _sum(_J1, t) - 1.0 / inner) + inner * _sum(_Y1, t)
    return _positive(x, where(some <= 8, near, _wave(some, 1)[1]), -math.inf).to(whole.dtype)


def _k(x: Tensor, order: int, scaled: bool) -> Tensor:
    """K of an order, times eˣ where that is asked for."""
    some = where(x > 0, x, 1.0)
    inner, outer = where(some > 2, 2.0, some), where(some <= 2, 2.0, some)
    t, u = inner * inner / 2.0 - 1.0, 4.0 / outer - 1.0
    if order == 0:
        near, far = _sum(_K0, t) - log(inner / 2.0) * i0(inner), _sum(_L0, u) * outer.rsqrt()
    else:
        near, far = _sum(_K1, t) / inner + log(inner / 2.0) * i1(inner), _sum(_L1, u) * outer.rsqrt()
    values = where(some <= 2, near * exp(inner), far) if scaled else where(some <= 2, near, far * exp(-outer))
    return _positive(x, values, math.inf)


def modified_bessel_k0(input: Tensor) -> Tensor:
    """K₀, the modified Bessel function of the second kind of order 0, element by element: ∞ at 0, NaN of negative numbers. Integers become the default dtype.

    >>> from micrograd_rs import special, tensor
    >>> special.modified_bessel_k0(tensor([1.0, 3.0]))
    tensor([0.4210, 0.0347])
    """
    whole, x = _floats(input)
    return _k(x, 0, False).to(whole.dtype)


def modified_bessel_k1(input: Tensor) -> Tensor:
    """K₁, the modified Bessel function of the second kind of order 1, element by element: ∞ at 0, NaN of negative numbers. Integers become the default dtype.

    >>> from micrograd_rs import special, tensor
    >>> special.modified_bessel_k1(tensor([1.0, 3.0]))
    tensor([0.6019, 0.0402])
    """
    whole, x = _floats(input)
    return _k(x, 1, False).to(whole.dtype)


def scaled_modified_bessel_k0(x: Tensor) -> Tensor:
    """`exp(x) · modified_bessel_k0(x)`, which does not become 0 so soon.

    >>> from micrograd_rs import special, tensor
    >>> special.scaled_modified_bessel_k0(tensor([1.0, 1000.0]))
    tensor([1.1445, 0.0396])
    """
    whole, values = _floats(x)
    return _k(values, 0, True).to(whole.dtype)


def scaled_modified_bessel_k1(x: Tensor) -> Tensor:
    """`exp(x) · modified_bessel_k1(x)`, which does not become 0 so soon.

    >>> from micrograd_rs import special, tensor
    >>> special.scaled_modified_bessel_k1(tensor([1.0, 1000.0]))
    tensor([1.6362, 0.0396])
    """
    whole, values = _floats(x)
    return _k(values, 1, True).to(whole.dtype)
