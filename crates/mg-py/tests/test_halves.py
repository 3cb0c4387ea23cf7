"""Half types: what is rounded to them, and how often. Wanted is what PyTorch answers, unless another reason stands beside."""

import math

import micrograd_rs as mg
import pytest
from conftest import leaf

F = mg.nn.functional
HALVES = [mg.float16, mg.bfloat16]
INF = math.inf


def f16(*values, grad=False):
    return mg.tensor(list(values), dtype=mg.float16, requires_grad=grad)


def bf16(*values, grad=False):
    return mg.tensor(list(values), dtype=mg.bfloat16, requires_grad=grad)


def rounded(values, dtype):
    """Numbers, rounded once."""
    return mg.tensor(values, dtype=mg.float32).to(dtype).tolist()


# A number that halves are multiplied with or divided by is not rounded to theirs before.


@pytest.mark.parametrize("number", [65536.0, mg.tensor(65536.0), mg.tensor(65536.0, dtype=mg.float64), 65536, mg.tensor(65536)])
def test_a_factor_may_be_one_that_halves_do_not_hold(number):
    x = f16(1e-3, 0.5)
    assert (x * number).dtype == mg.float16
    assert (x * number).tolist() == [65.5625, 32768.0]
    assert x.mul(number).tolist() == mg.mul(x, number).tolist() == [65.5625, 32768.0]
    x *= number
    assert x.tolist() == [65.5625, 32768.0]


def test_a_number_on_the_left_is_a_factor_too():
    x = f16(1e-3, 0.5)
    assert (65536.0 * x).tolist() == [65.5625, 32768.0]
    # PyTorch multiplies with the reciprocal.
    assert (1e5 / f16(1e4, 3.0)).tolist() == [10.0, 33312.0]
    assert (0.3 / bf16(0.9, 2.9, -3.7)).tolist() == [0.33203125, 0.10302734375, -0.0810546875]


def test_a_divisor_may_be_one_that_halves_do_not_hold():
    x = f16(1e-3, 0.5)
    for number in (1e5, mg.tensor(1e5), 100000):
        assert (x / number).tolist() == f16(0.0, 5.0068e-06).tolist()
    assert (x // 1e-5).tolist() == [100.0, 49984.0]
    assert mg.div(x, 1e-5, rounding_mode="trunc").tolist() == [100.0, 49984.0]
    x /= 1e5
    assert x.tolist() == f16(0.0, 5.0068e-06).tolist()


@pytest.mark.parametrize("dtype", HALVES)
def test_products_and_quotients_with_numbers_are_rounded_once(dtype):
    x = mg.linspace(-3.0, 3.0, 1000).to(dtype)
    wide = x.float()
    for number in (0.9, 0.3, 7.1):
        assert (x * number).tolist() == (wide * number).to(dtype).tolist()
        assert (x / number).tolist() == (wide / number).to(dtype).tolist()
        assert (x // number).tolist() == (wide // number).to(dtype).tolist()
        # What is added, compared or taken as a bound is a number of the dtype.
        assert (x + number).tolist() == (wide + rounded(number, dtype)).to(dtype).tolist()
        assert (x % number).tolist() == (wide % rounded(number, dtype)).to(dtype).tolist()
        assert x.clamp(max=number).max().item() <= rounded(number, dtype)


def test_gradients_keep_the_number():
    x = f16(1e-3, 2e-3, grad=True)
    ((x * x).sum() * 2048 * 16).backward()
    assert x.grad.tolist() == [65.5625, 131.125]
    for step in (lambda x: x * 0.9 / 0.3, mg.jit(lambda x: x * 0.9 / 0.3)):
        for _ in range(4):
            x = bf16(0.9, 0.7, 1.3, 2.9, grad=True)
            step(x).sum().backward()
            assert x.grad.tolist() == [3.0] * 4
    # Of a loss that is scaled by hand: 1e5 is beyond f16, and its gradient is not.
    x = f16(1e-3, 2e-3, grad=True)
    ((x * x).sum() * 1e5 / 1e4).backward()
    assert x.grad.tolist() == f16(0.02, 0.04).tolist()


def test_a_number_that_is_learned_has_a_gradient_of_its_own_dtype():
    for step, by_c, by_x in (
        (lambda x, c: x * c, 6.0, [rounded(0.3, mg.float16)] * 3),
        (lambda x, c: x / c, -66.6875, [3.333984375] * 3),
    ):
        x, c = f16(1.0, 2.0, 3.0, grad=True), mg.tensor(0.3, requires_grad=True)
        step(x, c).sum().backward()
        assert (c.grad.dtype, c.grad.item()) == (mg.float32, by_c)
        assert x.grad.tolist() == by_x


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [(mg.bfloat16, [0.33984375, 0.44140625, 0.2021484375, 0.65234375]), (mg.float16, [0.341064453125, 0.443359375, 0.201904296875, 0.65673828125])],
)
def test_a_number_to_the_power_of_halves_has_its_own_logarithm(dtype, wanted):
    v = leaf([1.0, 2.0, -1.0, 3.5], dtype=dtype)
    (1.3**v).sum().backward()
    for grad, right in zip(v.grad.tolist(), wanted, strict=True):
        assert grad == pytest.approx(right, rel=mg.finfo(dtype).eps)
    v.grad = None
    mg.pow(1.3, v).sum().backward()
    assert v.grad[1].item() == pytest.approx(wanted[1], rel=mg.finfo(dtype).eps)


def test_numbers_beside_halves_in_transforms():
    scaled = mg.func.vmap(lambda x, s: x * s)(mg.ones(2, 3).half(), mg.tensor([0.3, 70000.0]))
    assert scaled.tolist() == [[rounded(0.3, mg.float16)] * 3, [INF] * 3]
    _, slope = mg.func.jvp(lambda s: f16(1.0, 0.3) * s, (mg.tensor(0.3),), (mg.tensor(2.0),))
    assert (slope.dtype, slope.tolist()) == (mg.float16, [2.0, rounded(0.60009765625, mg.float16)])
    _, slope = mg.func.jvp(lambda x: x * 0.3 / 0.7, (f16(1.0, 0.3),), (f16(1.0, 2.0),))
    assert slope.tolist() == f16(0.4287, 0.8574).tolist()


@pytest.mark.parametrize("device", ["cpu"] + (["cuda"] if mg.cuda.is_available() else []))
def test_a_number_beside_halves_fused_or_not(device):
    x = mg.linspace(-2.0, 2.0, 5000, device=device).to(mg.bfloat16)
    fused = (((x * 0.3).exp() * 0.7) / 1.1).tolist()
    a = x * 0.3
    a.tolist()
    b = a.exp()
    b.tolist()
    c = b * 0.7
    c.tolist()
    assert fused == (c / 1.1).tolist()


def test_a_number_that_replays_read_anew():
    x = f16(1e-3, 0.5)
    step = mg.jit(lambda x, s: x * s)
    for s in (65536.0, 65536.0, 1e5, 2e5, 0.3):
        wanted = (x.float() * s).half().tolist()
        assert step(x, s).tolist() == wanted
        assert step(x, mg.tensor(s)).tolist() == wanted


# What is composed of several steps is computed in float32.


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.leaky_relu(x, 0.3),
        lambda x: F.elu(x, 0.3),
        F.celu,
        F.selu,
        F.mish,
        F.silu,
        F.hardswish,
        F.hardsigmoid,
        lambda x: F.softplus(x, 0.3),
        lambda x: F.rrelu(x, 0.1, 0.3),
        lambda x: x.softmax(-1),
        lambda x: x.log_softmax(-1),
        lambda x: x.softmax(0),
        lambda x: F.softmin(x, -1),
        lambda x: x.lerp(x.detach().flip(0), 0.3),
        lambda x: F.smooth_l1_loss(x, x.detach().flip(0), reduction="none", beta=0.3),
    ],
)
def test_values_and_slopes_are_rounded_once(f, dtype):
    x = mg.linspace(-6.0, 6.0, 480).reshape(8, 60).to(dtype)
    g = mg.linspace(-2.0, 3.0, 480).reshape(60, 8).t().to(dtype)
    half, wide = x.clone().requires_grad_(), x.float().requires_grad_()
    y, exact = f(half), f(wide)
    assert y.dtype == dtype
    assert y.tolist() == exact.to(dtype).tolist()
    y.backward(g)
    exact.backward(g.float())
    assert half.grad.tolist() == wide.grad.to(dtype).tolist()


def test_slopes_near_three():
    for f, wanted in ((F.hardsigmoid, 0.1669921875), (F.hardswish, 1.4921875)):
        x = bf16(2.984375, grad=True)
        f(x).backward()
        assert x.grad.tolist() == [wanted]


@pytest.mark.parametrize("dtype", [mg.bfloat16, mg.float16])
def test_slopes_of_digamma_of_halves_are_rounded_once(dtype):
    # Ten points and the trigamma function there.
    points = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    wanted = [65.38813344, 17.19732916, 4.934802201, 2.541879648, 1.644934067, 0.9348022005, 0.6449340668, 0.3949340668, 0.2838229557, 0.1813229557]
    x = leaf(points, dtype=dtype)
    mg.digamma(x).sum().backward()
    for grad, right in zip(x.grad.tolist(), wanted, strict=True):
        assert grad == pytest.approx(right, rel=mg.finfo(dtype).eps / 2)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_softmax_of_halves_is_one_launch(dtype):
    x = mg.linspace(-6.0, 6.0, 64 * 96).reshape(64, 96).to(dtype).requires_grad_()
    y = x.softmax(-1)
    y.backward(mg.ones(64, 96, dtype=dtype))
    assert "1 launch," in str(mg.explain(y, x.grad))


def test_norms_of_halves_may_be_beyond_halves():
    x = mg.full((4, 2), 40000.0, dtype=mg.float16)
    assert x.renorm(2, 1, 1.0).tolist() == [[0.5, 0.5]] * 4


@pytest.mark.parametrize("dtype", HALVES)
def test_products_that_are_weighed_are_added_in_single_precision(dtype):
    a, b, c = (mg.linspace(-2.0, s, 36).reshape(1, 6, 6).to(dtype) for s in (1.0, 2.0, 3.0))
    wanted = (c.float() * 0.3 + a.bmm(b).float() * 0.7).to(dtype)
    assert c.baddbmm(a, b, beta=0.3, alpha=0.7).tolist() == wanted.tolist()
    assert c[0].addmm(a[0], b[0], beta=0.3, alpha=0.7).tolist() == wanted[0].tolist()


@pytest.mark.parametrize("dtype", HALVES)
def test_slopes_of_remainders_are_whole_numbers(dtype):
    a, b = mg.linspace(-9.0, 9.0, 200).to(dtype), mg.linspace(0.3, 2.0, 200).flip(0).to(dtype)
    for f in (mg.remainder, mg.fmod):
        x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
        got = f(x, y)
        assert got.tolist() == f(a.float(), b.float()).to(dtype).tolist()
        got.sum().backward()
        quotient = a.double() / b.double()
        whole = quotient.floor() if f is mg.remainder else quotient.trunc()
        assert y.grad.tolist() == (-whole).tolist() and x.grad.tolist() == [1.0] * 200


def test_the_bounds_of_logit_are_halves():
    assert bf16(0.1, 0.5, 0.9).logit(0.3).tolist() == [-0.84375, 0.0, 0.84375]


@pytest.mark.parametrize("kind", [mg.float16, mg.bfloat16])
def test_products_of_halves_as_float32(device, kind):
    """`out_dtype`: the product is answered with as it was summed."""
    a = (mg.arange(6 * 40, device=device).reshape(6, 40).double().sin() / 3).to(kind).requires_grad_()
    b = (mg.arange(40 * 5, device=device).reshape(40, 5).double().cos() / 3).to(kind).requires_grad_()
    want = a.double() @ b.double()
    got = mg.mm(a, b, out_dtype=mg.float32)
    assert got.dtype == mg.float32 and mg.allclose(got.double(), want, rtol=1e-6, atol=1e-6)
    assert not mg.equal(got, mg.mm(a, b).float()), "it is not the rounded product"
    assert mg.equal(mg.mm(a, b, mg.float32), got) and mg.equal(mg.bmm(a[None], b[None], out_dtype=mg.float32)[0], got)
    assert mg.equal(mg.mm(a, b, out_dtype=kind), a @ b)
    got.backward(mg.ones_like(got))
    assert a.grad.dtype == kind and mg.allclose(a.grad.float(), b.detach().float().sum(1).expand(6, 40), rtol=1e-2)
    c = mg.full((5,), 0.1, device=device)
    wide = mg.addmm(c, a, b, out_dtype=mg.float32, beta=2, alpha=0.5)
    assert wide.dtype == mg.float32 and mg.allclose(wide, c * 2 + got * 0.5, rtol=1e-6)
    narrow = mg.baddbmm(c.to(kind), a[None], b[None], out_dtype=mg.float32)
    assert narrow.dtype == mg.float32 and mg.allclose(narrow[0], c.to(kind).float() + got, rtol=1e-6)
    with pytest.raises(TypeError, match="mm: an out_dtype is the matrices', .*, or float32 of halves, got float64"):
        mg.mm(a, b, out_dtype=mg.float64)
    with pytest.raises(TypeError, match="bmm: an out_dtype"):
        mg.bmm(mg.ones(1, 2, 2), mg.ones(1, 2, 2), out_dtype=mg.float64)
    with pytest.raises(TypeError, match="addmm: with an out_dtype adds to"):
        mg.addmm(c.double(), a, b, out_dtype=mg.float32)
