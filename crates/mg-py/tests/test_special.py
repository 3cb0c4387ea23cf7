"""Special functions as PyTorch has them: values and slopes at poles, at the ends of where the functions are defined, and far out."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import close, leaf

INF = math.inf


# Zeta, digamma and polygamma.


def test_the_slope_of_zeta_at_its_poles():
    q = leaf([0.0, -1.0, 2.0], dtype=mg.float64)
    mg.special.zeta(mg.tensor([2.0, 2.0, 2.0], dtype=mg.float64), q).sum().backward()
    assert q.grad.tolist()[:2] == [-INF, -INF]
    assert q.grad[2].item() == pytest.approx(-2 * 0.2020569031595943)
    x = leaf([-2.0])
    mg.polygamma(1, x).backward()
    assert x.grad.tolist() == [-INF]


def test_zeta_left_of_zero():
    found = mg.special.zeta(mg.tensor([3.0, 4.0, 2.5], dtype=mg.float64), mg.tensor([-20.08, -8.75, -20.08], dtype=mg.float64))
    # As SciPy's polygamma, and as PyTorch has it.
    assert found.tolist()[:2] == pytest.approx([-1952.5993, 259.75715736], rel=1e-5) and math.isnan(found[2])
    q = leaf(1.0)
    total = mg.special.zeta(mg.tensor(1.0), q)
    total.backward()
    assert total.item() == INF and q.grad.item() == pytest.approx(-math.pi**2 / 6)


def test_zeta_of_infinity():
    # As PyTorch 2.15 has it on the CPU.
    found = mg.special.zeta(mg.tensor(INF), mg.tensor([1.0, 0.5, 0.0, -2.75, 2.0])).tolist()
    assert found[:4] == [1, INF, INF, INF] and math.isnan(found[4])


@pytest.mark.parametrize(("n", "x", "wanted"), [(3, -8.75, 1558.54294416512), (2, -20.25, None), (1, -30.5, None), (5, -12.3, None)])
def test_polygamma_left_of_zero(n, x, wanted):
    if wanted is None:
        # By reflection: (−1)ⁿ ψ⁽ⁿ⁾(1 − x) − ψ⁽ⁿ⁾(x) is the n-th derivative of π cot πx, which has the period 1.
        def odd(x):
            return (-1) ** n * mg.polygamma(n, mg.tensor(1 - x, dtype=mg.float64)).item() - mg.polygamma(n, mg.tensor(x, dtype=mg.float64)).item()

        assert odd(x) == pytest.approx(odd(x - math.floor(x)), rel=1e-9)
    else:
        assert mg.polygamma(n, mg.tensor(x, dtype=mg.float64)).item() == pytest.approx(wanted, rel=1e-12)


def test_polygamma_of_an_order_beyond_all_numbers():
    for n in (2**63 - 1, 2**40, 200):
        assert not mg.polygamma(n, mg.tensor(1.5)).isfinite().item()


def test_derivatives_of_digamma_fall_to_zero():
    x = leaf([INF, 1.0])
    for n in (1, 2, 3, 7):
        assert mg.polygamma(n, x).tolist()[0] == 0
    mg.polygamma(1, x).sum().backward()
    assert x.grad.tolist() == pytest.approx([0, -2.4041138])
    assert math.isnan(mg.polygamma(1, mg.tensor(-INF)).item())
    # Of what is large it is the reciprocal, whose square is nothing.
    assert mg.polygamma(1, mg.tensor([1e25, 1e37])).tolist() == pytest.approx([1e-25, 1e-37], rel=1e-6, abs=0)


# Entropies, and logarithms times a number.


def test_entropies_below_zero_have_no_slope():
    x = leaf([-1.0, -2.5, 0.0, 1.0])
    logs = mg.special.entr(x)
    assert logs.tolist() == [-INF, -INF, 0, 0]
    logs.sum().backward()
    assert all(map(math.isnan, x.grad.tolist()[:2])) and x.grad.tolist()[2:] == [INF, -1]
    assert mg.special.entr(mg.tensor([-INF, INF])).tolist() == [-INF, -INF]


def test_zero_times_a_logarithm_is_a_positive_zero():
    assert mg.tensor([0.0, 0.0]).xlogy(mg.tensor([0.25, 2.0])).reciprocal().tolist() == [INF, INF]
    x = leaf([0.0])
    x.xlogy(0.25).backward()
    assert x.grad.item() == pytest.approx(math.log(0.25))


def test_minus_nothing_is_minus_zero():
    x = leaf([-1.0, 0.0, -0.0, 2.0])
    y = x.xlogy(mg.tensor([1.0, 0.5, 0.5, 1.0]))
    assert [math.copysign(1, v) for v in y.tolist()] == [-1, 1, 1, 1]
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([0, math.log(0.5), math.log(0.5), 0])


# Bessel functions and polynomials.


# Of 0.5, 2, 7.5, 8.5 and 30, from 30 digits.
BESSEL = {
    "bessel_j0": [0.9384698072408129, 0.22389077914123567, 0.2663396578803784, 0.041939251842934504, -0.08636798358104021],
    "bessel_j1": [0.2422684576748739, 0.5767248077568734, 0.1352484275797055, 0.2731219636740537, -0.11875106261662294],
    "bessel_y0": [-0.44451873350670656, 0.5103756726497451, 0.11731328614820863, 0.27020510536578746, -0.11729573168666403],
    "bessel_y1": [-1.471472392670243, -0.10703243154093754, -0.25912851048611624, -0.02616867939853747, 0.08442557066174723],
    "modified_bessel_k0": [0.9244190712276659, 0.11389387274953344, 0.00024917761635611437, 8.625756634932507e-05, 2.1324774964630563e-14],
    "modified_bessel_k1": [1.656441120003301, 0.13986588181652243, 0.0002652973901252895, 9.119724775006898e-05, 2.1677320018915495e-14],
    "scaled_modified_bessel_k0": [1.5241093857739094, 0.8415682150707714, 0.4505236991049157, 0.4239359993336981, 0.22788666561625373],
    "scaled_modified_bessel_k1": [2.731009708211786, 1.0334768470686886, 0.4796689337910206, 0.4482133915630794, 0.2316541293777118],
}


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions(device, name):
    function, at = getattr(mg.special, name), [0.5, 2.0, 7.5, 8.5, 30.0]
    got = function(mg.tensor(at, dtype=mg.float64, device=device))
    close(got, BESSEL[name], 4e-15 if "k" in name else 1e-13, 4e-15 if "k" not in name else 0)
    assert got.dtype == mg.float64 and function(mg.tensor([1, 2], device=device)).dtype == mg.float32
    close(function(mg.tensor(at, device=device)), BESSEL[name], 2e-5, 1e-6)
    close(function(mg.tensor(at[:2], dtype=mg.float16, device=device)), BESSEL[name][:2], 2e-3)
    odd = function(mg.tensor([0.0, -1.0, math.nan], device=device)).tolist()
    assert math.isnan(odd[2]) and (odd[0] == {"j": odd[0], "y": -math.inf, "k": math.inf}[name.rpartition("_")[2][0]])
    assert "_j" in name or math.isnan(odd[1])
    # Derivatives by Bessel's own relations.
    x = mg.tensor(at, dtype=mg.float64, device=device, requires_grad=True)
    (slope,) = mg.autograd.grad(function(x).sum(), [x])
    order, other = int(name[-1]), getattr(mg.special, name[:-1] + str(1 - int(name[-1])))
    sign = -1.0 if order == 0 or "k" in name else 1.0
    wanted = sign * other(x) - (function(x) / x if order else 0.0) + (function(x) if "scaled" in name else 0.0)
    close(slope, wanted, 1e-10, 1e-13)


def test_bessel_functions_around_zero():
    close(mg.special.bessel_j0(mg.tensor([0.0, -2.0])), [1.0, BESSEL["bessel_j0"][1]], 1e-6)
    close(mg.special.bessel_j1(mg.tensor([0.0, -2.0, -8.5])), [0.0, -BESSEL["bessel_j1"][1], -BESSEL["bessel_j1"][3]], 1e-5)
    x = mg.zeros(1, requires_grad=True)
    (mg.special.bessel_j0(x) + mg.special.bessel_j1(x)).sum().backward()
    close(x.grad, [0.5])


def test_bessel_functions_of_zero():
    for dtype in (mg.float64, mg.float32, mg.float16):
        zero = mg.zeros((), dtype=dtype)
        assert mg.special.bessel_j0(zero).item() == 1.0 and mg.special.bessel_j1(zero).item() == 0.0
        assert mg.special.bessel_y0(zero).item() == -float("inf") and mg.special.modified_bessel_k0(zero).item() == float("inf")
    small = mg.linspace(-1e-3, 1e-3, 2001, dtype=mg.float64)
    assert mg.special.bessel_j0(small).max().item() <= 1.0
    for name, slope in (("bessel_y0", 1), ("bessel_y1", 1), ("modified_bessel_k0", -1), ("scaled_modified_bessel_k1", -1)):
        x = mg.tensor([0.0, -0.0, 2.0, -3.0], requires_grad=True)
        getattr(mg.special, name)(x).nansum().backward()
        assert x.grad[:2].tolist() == [slope * float("inf")] * 2 and abs(x.grad[2].item()) < 1.0


def test_degrees_of_polynomials():
    special, nan = mg.special, math.nan
    x = mg.tensor([0.5, 2.0, nan])
    assert special.chebyshev_polynomial_t(x, 2.7).tolist()[:2] == [-0.5, 7]
    assert special.chebyshev_polynomial_u(x, -1).tolist() == [0, 0, 0]
    assert special.legendre_polynomial_p(x, 0).tolist() == [1, 1, 1]
    # Degrees in a tensor have no fractions, and take part in the dtype.
    n = mg.tensor([0.25, 2.7, -1.0], dtype=mg.float64)
    found = special.shifted_chebyshev_polynomial_t(x, n)
    assert found.dtype == mg.float64 and found.tolist() == [1, 17, 0]
    assert special.hermite_polynomial_he(2, mg.tensor([3, 1, 0])).tolist() == [2, 2, 1]
    assert special.laguerre_polynomial_l(mg.tensor([1, 3]), mg.tensor([nan, 2.0])).tolist() == [0, -0.5]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("x", [-1e-5, -1e-3, -0.3, -2 - 2**-17, -7.375, -3 + 2**-17])
def test_polygamma_on_both_sides_of_its_poles(n, x):
    wanted = mg.special.polygamma(n, mg.tensor(x, dtype=mg.float64)).item()
    assert mg.special.polygamma(n, mg.tensor(x)).item() == pytest.approx(wanted, rel=1e-4 if x == -7.375 else 2e-6)


# Bessel's functions and sin(πx)/πx near 0.


def derivatives(f, at, count, dtype=mg.float32):
    x = mg.tensor(at, dtype=dtype, requires_grad=True)
    found, y = [], f(x)
    for _ in range(count):
        (y,) = mg.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.tolist())
    return found


@pytest.mark.parametrize("dtype", [mg.float32, mg.float64])
def test_slopes_of_bessel_functions_near_zero(dtype):
    tight = {"rel": 4 * mg.finfo(dtype).eps}
    at = [1e-20, 1e-8, 3e-5, 1e-3, 0.1]
    x = mg.tensor(at, dtype=dtype)
    for f in (mg.i0, mg.special.i0):
        first, second = derivatives(f, at, 2, dtype)
        assert first == pytest.approx(mg.special.i1(x).tolist(), **tight) and second == pytest.approx((0.5 + 3 * x**2 / 16 + 5 * x**4 / 384).tolist(), rel=1e-6)
    first, second = derivatives(mg.special.i1, at, 2, dtype)
    assert first == pytest.approx((0.5 + 3 * x**2 / 16 + 5 * x**4 / 384).tolist(), rel=1e-6)
    assert second == pytest.approx((3 * x / 8 + 5 * x**3 / 96).tolist(), rel=1e-5)
    assert derivatives(mg.special.i1e, at, 2, dtype)[1] == pytest.approx((-1 + 15 * x / 8 - 7 * x**2 / 4 + 35 * x**3 / 32).tolist(), rel=1e-3)
    assert derivatives(mg.special.i1, [1e-45], 1)[0] == [0.5] == derivatives(mg.special.i1e, [1e-45], 1)[0]
    # On both sides of where the series ends.
    for f in (mg.i0, mg.special.i1, mg.special.i1e):
        inside, outside = (derivatives(f, [v], 2, dtype) for v in (1.0, 1 + 2 * mg.finfo(dtype).eps))
        for a, b in zip(inside, outside, strict=True):
            assert a == pytest.approx(b, rel=100 * mg.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [mg.float32, mg.float64])
def test_slopes_of_sinc_near_zero(dtype):
    first, second = derivatives(mg.sinc, [0.0, 1e-45, 1e-40, 1e-4, 1e-3], 2, dtype)
    assert first[:3] == pytest.approx([0, 0, 0], abs=1e-38) and first[3:] == pytest.approx([-math.pi**2 / 3 * v for v in (1e-4, 1e-3)], rel=1e-5)
    assert second == pytest.approx([-math.pi**2 / 3] * 5, rel=1e-5)
    inside, outside = (derivatives(mg.sinc, [v], 2, mg.float64) for v in (0.1591549430918953, 0.1591549430918954))
    assert inside == [pytest.approx(b, rel=1e-11) for b in outside]


def test_slopes_of_polygamma_and_digamma_at_their_poles():
    for n in (1, 2):
        ((a, b),) = derivatives(lambda x, n=n: mg.polygamma(n, x), [1e-20, 1e-13], 1)
        assert [a, b] == mg.polygamma(n + 1, mg.tensor([1e-20, 1e-13])).tolist()
    assert derivatives(lambda x: mg.polygamma(1, x), [1e-300], 1, mg.float64) == [[-INF]]
    assert derivatives(mg.digamma, [0.0, 1e-20], 2)[1] == [-INF, -INF]


def test_bessel_functions_of_the_least_number():
    assert mg.special.modified_bessel_k0(mg.tensor([1e-45])).item() == pytest.approx(103.39488, rel=1e-6)
    assert mg.special.modified_bessel_k0(mg.tensor([5e-324], dtype=mg.float64)).item() == pytest.approx(744.5560034, rel=1e-9)
