"""Elementwise functions at corners, ends, zeros and infinities: the values and slopes that PyTorch has there."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import leaf
from micrograd_rs.nn import functional as F

INF, NAN = math.inf, math.nan


def test_subgradients():
    def slope(f, *at):
        x = leaf(list(at))
        return mg.autograd.grad(f(x).sum(), x)[0].tolist()

    assert slope(lambda x: x.norm(), 0.0, 0.0) == [0, 0]
    assert slope(lambda x: F.leaky_relu(x, 0.25), 0.0) == [0.25]
    assert slope(lambda x: x.max(0).values, 1.0, 1.0) == [1, 0] and slope(lambda x: x.amax(0), 1.0, 1.0) == [0.5, 0.5]
    assert slope(lambda x: x.clamp(0.0, 1.0), 0.0, 0.5, 1.0) == [0, 1, 0]
    assert slope(lambda x: x.sign(), 2.0) == [0]
    x = leaf([1.0])
    h = x * 1
    h.fill_(3.0)
    assert mg.autograd.grad(h.sum(), x)[0].tolist() == [0]


@pytest.mark.parametrize("kind", [mg.float16, mg.bfloat16, mg.float32, mg.float64])
def test_what_is_no_number_has_the_sign_0(kind):
    x = mg.tensor([NAN, -2.0, 0.0, INF] * 9, dtype=kind)
    assert x.sign().tolist() == x.sgn().tolist() == [0, -1, 0, 1] * 9
    y = x.clone().requires_grad_()
    y.abs().sum().backward()
    assert y.grad.tolist() == [0, -1, 0, 1] * 9
    of_standard = mg.array_api.sign(mg.tensor([NAN, -2.0])).tolist()
    assert math.isnan(of_standard[0]) and of_standard[1] == -1 and mg.array_api.sign(mg.tensor([-2])).tolist() == [-1]


def test_softshrink_keeps_the_sign_of_zero():
    assert F.softshrink(mg.tensor([-0.0, 0.0, -0.2])).reciprocal().tolist() == [-INF, INF, -INF]


@pytest.mark.parametrize("f", [F.elu, F.celu, F.selu])
def test_an_infinite_gradient_goes_through(f):
    x = leaf([-0.5, 0.5])
    f(x).backward(mg.tensor([INF, INF]))
    assert x.grad.tolist() == [INF, INF]


def second(f, at: float) -> tuple[float, float]:
    w = mg.tensor(at, requires_grad=True)
    (slope,) = mg.autograd.grad(f(w), w, create_graph=True)
    (curve,) = mg.autograd.grad(slope, w)
    return slope.item(), curve.item()


def test_second_slopes_at_zero():
    assert second(F.celu, 0.0) == second(F.elu, 0.0) == (1.0, 0.0)
    assert second(lambda x: F.elu(x, 2.0), 0.0) == (2.0, 0.0)
    slope, curve = second(F.selu, 0.0)
    assert slope == pytest.approx(1.7580993408473766) and curve == 0.0
    assert second(lambda x: F.elu(x, 2.0), -1.0) == pytest.approx((2 / math.e, 2 / math.e))


def test_slopes_at_the_edge():
    w = mg.tensor(0.0, requires_grad=True)
    mg.special.entr(w).backward()
    assert w.grad is not None and w.grad.item() == math.inf
    v = mg.tensor([1.0, 2.0], requires_grad=True)
    mg.nextafter(v, mg.tensor([1.0, 5.0])).sum().backward()
    assert v.grad is not None and v.grad.tolist() == [0.0, 1.0]
    x = mg.tensor(math.nan, requires_grad=True)
    F.selu(x).backward()
    assert x.grad is not None and x.grad.item() == pytest.approx(1.0507009873554805)


def test_angles_have_no_slope():
    x = leaf([math.nan, -1.0, 2.0])
    x.angle().sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_logit_at_its_ends():
    w = mg.tensor([0.0, 1.0, 0.5, -1.0, 2.0], requires_grad=True)
    w.logit().sum().backward()
    assert w.grad is not None
    zero, one, half, below, above = w.grad.tolist()
    assert zero == one == math.inf and half == 4.0 and math.isnan(below) and math.isnan(above)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_either_zero_has_the_slope_of_what_lies_within(zero):
    x = leaf([zero, 1.0, 0.5, -0.5])
    x.logit().sum().backward()
    assert x.grad.tolist()[:3] == [INF, INF, 4] and math.isnan(x.grad.tolist()[3])


@pytest.mark.parametrize("name, slope", [("logaddexp", 0.25), ("logaddexp2", 0.25 * math.log(2))])
def test_how_slopes_of_sums_of_exponentials_change(name, slope):
    # As PyTorch 2.15 has it on the CPU.
    a, b = leaf([0.0, 1.0]), mg.tensor([0.0, 1.0])
    total = getattr(a, name)(b)
    (g,) = mg.autograd.grad(total.sum(), a, create_graph=True)
    assert g.tolist() == [0.5, 0.5]
    assert mg.autograd.grad(g.sum(), a)[0].tolist() == pytest.approx([slope, slope])
    far = leaf([-1e30, 1.0, INF, -INF, 3.0])
    total = getattr(far, name)(mg.tensor([1.0, -1e30, INF, -INF, INF]))
    assert total.tolist() == [1, 1, INF, -INF, INF]
    total.sum().backward()
    assert far.grad.tolist()[:2] == [0, 1]


@pytest.mark.parametrize(("x", "y"), [(1.0, 0.1), (0.25, 0.001), (6.0, 0.1), (-1.0, 0.1), (1.0, -0.1), (5.0, 3.0), (1e300, 1e-3), (1.0, INF), (-1.0, INF)])
def test_the_divisor_of_a_remainder_was_taken_off_as_often_as_the_value_says(x, y):
    a, b = mg.tensor(x, dtype=mg.float64), leaf(y, dtype=mg.float64)
    mg.remainder(a, b).backward()
    assert b.grad == -mg.floor_divide(a, b.detach())
    b.grad = None
    left = mg.fmod(a, b)
    left.backward()
    assert b.grad.item() == -round((x - left.item()) / y)


def test_a_remainder_by_zero_has_an_infinite_slope():
    b = leaf(0.0)
    mg.remainder(mg.tensor(1.0), b).backward()
    assert b.grad.item() == -INF


@pytest.mark.parametrize("at", [-18.0, -50.0, -87.0, -1.0, -1e-3])
def test_small_slopes_of_exponential_units_keep_their_digits(at):
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    for f, wide, narrow in ((F.elu, 1, 1), (lambda x: F.celu(x, 2.0), 1, 2), (F.selu, scale * alpha, 1)):
        x = leaf([at, 1.0])
        (first,) = mg.autograd.grad(f(x).sum(), x, create_graph=True)
        (second,) = mg.autograd.grad(first.sum(), x)
        assert first[0].item() == pytest.approx(wide * math.exp(at / narrow), rel=1e-6)
        assert second[0].item() == pytest.approx(wide * math.exp(at / narrow) / narrow, rel=1e-6)
    # What was asked of the result alone does not mind what becomes of its operand.
    x = leaf([at, 1.0])
    y = x.expm1()
    with mg.no_grad():
        x += 1
    y.sum().backward()
    assert x.grad.tolist() == (y + 1).tolist()
    x = leaf([NAN, -0.0])
    y = F.elu(x)
    y.sum().backward()
    assert math.isnan(y[0].item()) and x.grad.tolist() == [1, 1]


def test_slopes_of_logit_outside_of_its_domain():
    x = mg.tensor([-1.0, 0.0, 0.25, 1.0, 2.0], dtype=mg.float64, requires_grad=True)
    first = mg.autograd.grad(x.logit().sum(), x, create_graph=True)[0]
    second = mg.autograd.grad(first.sum(), x, create_graph=True)[0]
    third = mg.autograd.grad(second.sum(), x)[0]
    assert [math.isnan(v) for v in first.tolist()] == [True, False, False, False, True]
    assert first[1:4].tolist() == [INF, pytest.approx(16 / 3), INF]
    # What is no number wherever it stands does not change; as in PyTorch.
    assert second[0].item() == second[4].item() == third[0].item() == third[4].item() == 0
    assert second[2].item() == pytest.approx(1 / 0.75**2 - 1 / 0.25**2)
