"""Every operation of the op table and every composition, as methods and as functions."""

from __future__ import annotations

import math
from statistics import NormalDist

import micrograd_rs as mg
import numpy
import pytest
from conftest import close, leaf
from micrograd_rs import Tensor
from micrograd_rs import functional as F
from micrograd_rs._micrograd_rs import _rows
from micrograd_rs._ops import __all__ as names

POINTS = [0.25, 0.5, 1.5]
OTHERS = [2.0, 0.5, 1.25]
T = mg.tensor
INF = math.inf


def digamma(x):
    steps = 0.0
    while x < 12:
        steps, x = steps + 1 / x, x + 1
    return math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6) - steps


REFERENCE = {
    "expm1": math.expm1,
    "log1p": math.log1p,
    "exp2": math.exp2,
    "log2": math.log2,
    "log10": math.log10,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "erfc": math.erfc,
    "erfinv": lambda x: NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2),
    "lgamma": math.lgamma,
    "digamma": digamma,
    "copysign": math.copysign,
    "neg": lambda x: -x,
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "square": lambda x: x * x,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "erf": math.erf,
    "relu": lambda x: max(x, 0.0),
    "logical_not": lambda x: not x,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "maximum": max,
    "minimum": min,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
    "fmod": math.fmod,
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y,
    "bitwise_left_shift": lambda x, y: x << y,
    "bitwise_right_shift": lambda x, y: x >> y,
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_xor": lambda x, y: bool(x) != bool(y),
}
LOGICAL = {"logical_and", "logical_or", "logical_xor", "logical_not"}
#: Defined between -1 and 1.
BETWEEN = {"asin", "acos", "atanh", "erfinv"}
BITS = {name for name in REFERENCE if name.startswith("bitwise_")}
ROWS = [(name, arity) for name, arity, _ in _rows()]


def test_every_row_has_a_reference():
    assert {name for name, _ in ROWS} | {"pow"} == set(REFERENCE)


@pytest.mark.parametrize(("name", "arity"), ROWS)
def test_rows(device, name, arity):
    whole = [[5, -6, 7], [1, 2, 3]]
    inside = [[0.25, 0.5, 0.75], OTHERS] if name in BETWEEN else [[1.25, 1.5, 2.5], OTHERS] if name == "acosh" else [POINTS, OTHERS]
    numbers = [[True, False, True], [True, True, False]] if name in LOGICAL else whole if name in BITS else inside
    operands = [mg.tensor(n, device=device) for n in numbers[:arity]]
    wanted = [REFERENCE[name](*at) for at in zip(*numbers[:arity])]
    close(getattr(operands[0], name)(*operands[1:]), wanted)
    for module in (mg, F, mg.nn.functional):
        close(getattr(module, name)(*operands), wanted)
    assert getattr(Tensor, name).__doc__.strip()


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize(("name", "arity"), [r for r in ROWS if r[0] not in LOGICAL | BITS | {"lt", "le", "eq", "ne", "sign", "round"}] + [("pow", 2)])
def test_gradients(device, name, arity, dtype):
    h = 1e-6
    points = [0.25, 0.5, 0.75] if name in BETWEEN else [1.25, 1.5, 2.5] if name == "acosh" else POINTS
    operands = [Tensor(n, dtype=dtype, device=device) for n in (points, [2.0, 0.75, 1.25])[:arity]]
    getattr(operands[0], name)(*operands[1:]).sum().backward()
    for which, x in enumerate(operands):
        wanted = []
        for i in range(3):
            at = [o.tolist()[i] for o in operands]
            up, down = ([*at[:which], at[which] + d, *at[which + 1 :]] for d in (h, -h))
            wanted.append((REFERENCE[name](*up) - REFERENCE[name](*down)) / (2 * h))
        close(x.grad, wanted, rtol=2e-5, atol=1e-5)


def test_functions_are_where_pytorch_has_them():
    for name in names:
        assert getattr(mg, name) is getattr(F, name), name
        assert getattr(mg, name).__doc__


COMPOSITIONS = {
    "gelu": (lambda t: F.gelu(t), lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2),
    "gelu tanh": (
        lambda t: F.gelu(t, approximate="tanh"),
        lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "silu": (lambda t: F.silu(t), lambda x: x / (1 + math.exp(-x))),
    "leaky_relu": (lambda t: F.leaky_relu(t, 0.2), lambda x: x if x > 0 else 0.2 * x),
    "reciprocal": (lambda t: t.reciprocal(), lambda x: 1 / x),
    "clamp": (lambda t: t.clamp(-1, 2), lambda x: min(max(x, -1), 2)),
    "clip": (lambda t: mg.clip(t, max=1), lambda x: min(x, 1)),
    "gt": (lambda t: t.gt(1).float(), lambda x: float(x > 1)),
    "ge": (lambda t: mg.ge(t, 0.5).float(), lambda x: float(x >= 0.5)),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_compositions(device, name):
    f, reference = COMPOSITIONS[name]
    points = [-30.0, -3.0, -0.5, 0.5, 1.5, 40.0]
    close(f(mg.tensor(points, dtype="f64", device=device)), [reference(x) for x in points], rtol=1e-9)


def test_special_values():
    t = mg.tensor([float("nan"), math.inf, -math.inf, 1.0])
    assert t.isnan().tolist() == [True, False, False, False]
    assert t.isinf().tolist() == [False, True, True, False]
    assert t.isfinite().tolist() == [False, False, False, True]
    close(mg.tensor([4.0, 0.25]).rsqrt(), [0.5, 2])
    assert mg.tensor([float("nan")]).clamp(0, 1).isnan().item()


def test_ldexp_does_not_overflow_on_the_way():
    x = mg.tensor([0.0, 2.0**-140, 3.0, -1.5, 1.0, INF])
    assert x.ldexp(mg.tensor([200, 200, -3, 1, 10**6, -200])).tolist() == [0, 2.0**60, 0.375, -3, INF, INF]
    for dtype in (mg.float32, mg.float64):
        info = mg.finfo(dtype)
        # Every power that leads from one end to the other, and each number is rounded once.
        for n in (-1, -2, -5, -100, -126, -127, -149, -300, -1022, -1023, -1075, 1, 127, 128, 1023, 1024, 2000):
            numbers = [info.max, 1 + info.eps, 1.5, info.tiny * 1.75, info.tiny * info.eps, 0.0, -INF]
            with numpy.errstate(all="ignore"):
                wanted = numpy.ldexp(mg.tensor(numbers, dtype=dtype).numpy(), n).tolist()
            assert mg.tensor(numbers, dtype=dtype).ldexp(mg.tensor(n)).tolist() == wanted, (dtype, n)
    assert mg.tensor([0.0, 2.0**-20]).half().ldexp(mg.tensor([30, 30])).tolist() == [0, 1024]
    x, n = leaf([2.0]), leaf([3.0])
    answer = x.ldexp(n)
    with mg.no_grad():
        n.zero_()
    answer.backward()
    assert x.grad.item() == 8 and n.grad.item() == pytest.approx(16 * math.log(2))


def test_softmax_and_its_log():
    x = mg.tensor([[1.0, 2.0, 3.0]])
    e = [math.exp(v) for v in (1, 2, 3)]
    close(F.softmax(x, dim=1), [[v / sum(e) for v in e]])
    close(F.log_softmax(x, axis=-1), [[math.log(v / sum(e)) for v in e]])
    assert F.softmax(mg.tensor([1, 2, 3]), 0, dtype="f64").dtype == mg.float64


def test_linear_embedding_layer_norm():
    x, w, b = mg.tensor([[1.0, 2.0]]), mg.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), mg.tensor([0.0, 0.0, 1.0])
    assert F.linear(x, w, b).tolist() == [[1, 2, 4]] and F.linear(x, w).tolist() == [[1, 2, 3]]
    with pytest.raises(ValueError, match="linear"):
        F.linear(x, mg.zeros(3))
    table = Tensor([[1.0, 2.0], [3.0, 4.0]])
    F.embedding(mg.tensor([1, 1]), table).sum().backward()
    assert table.grad.tolist() == [[0, 0], [2, 2]]
    y = F.layer_norm(mg.tensor([[1.0, 2.0, 3.0]]), 3)
    close(y.mean(), 0), close(y.var(correction=0), 1, rtol=1e-4)
    with pytest.raises(ValueError):
        F.layer_norm(mg.zeros(2, 3), (4,))


def test_dropout():
    x = mg.ones(10_000)
    kept = F.dropout(x, 0.25)
    assert set(kept.tolist()) == {0.0, mg.tensor(1 / 0.75).item()}
    assert 0.2 < (kept == 0).float().mean().item() < 0.3
    assert F.dropout(x, 0.25, training=False).tolist() == x.tolist()
    for p in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="p"):
            F.dropout(x, p)


def test_equal_and_allclose():
    a = mg.tensor([1.0, math.inf, float("nan")])
    assert not mg.equal(a, a) and mg.equal(a[:2], a[:2]) and not mg.equal(a, a[:2])
    assert mg.allclose(a[:2], a[:2] + 1e-9) and not mg.allclose(a, a) and mg.allclose(a, a, equal_nan=True)
    assert not mg.allclose(mg.ones(1), mg.ones(1) * 1.1) and mg.allclose(mg.ones(1), mg.ones(1) * 1.1, rtol=0.2)


def test_lazy_errors_have_their_line():
    with pytest.raises(ValueError) as caught:
        mg.ones(2) + mg.ones(3)
    assert caught.traceback[-1].path.name == "test_operations.py"
    assert "add" in str(caught.value) and ".rs" not in str(caught.value)


def test_half_precision_is_lost_in_no_intermediate():
    x = mg.tensor([300.0, 400.0], dtype=mg.float16)
    assert x.norm().item() == 500 and mg.tensor([300.0, -300.0], dtype=mg.float16).std().item() == pytest.approx(424.25, abs=0.3)
    assert mg.tensor(-3.0, dtype=mg.float16).gelu().item() == pytest.approx(-0.0040497, rel=2e-3)
    y = mg.functional.layer_norm(mg.tensor([-2.998, -2.96], dtype=mg.float16), (2,))
    assert y[0].item() == pytest.approx(-y[1].item(), rel=2e-3)


def test_edges_of_shapes():
    with pytest.raises(IndexError):
        mg.tensor(1.0).flatten(1)
    assert mg.tensor(1.0).flatten(-1, 0).shape == (1,)
    assert mg.functional.linear(mg.zeros(1, 0, 0), mg.zeros(0, 0)).shape == (1, 0, 0)
    assert mg.functional.linear(mg.ones(2, 3), mg.ones(3), mg.tensor(1.0)).tolist() == [4, 4]


def test_shapes_without_axes_and_without_elements():
    assert mg.stack([T([1.0]), T([1])]).dtype == mg.float32
    assert T(3.0).squeeze(0).item() == 3 and T(3.0).logsumexp(0).item() == 3
    assert mg.cat([mg.zeros(0), mg.ones(1, 2)]).shape == (1, 2)
    assert mg.zeros(0, 2).logsumexp(0).tolist() == [-math.inf] * 2
    x = mg.ones(3).expand(2, 3)
    assert x.reshape(6).tolist() == [1] * 6
    with pytest.raises((ValueError, IndexError, RuntimeError)):
        mg.ones(2).flip(0, 0)
    assert mg.ones(2).var(correction=2).isnan().item() or mg.ones(2).var(correction=2).isinf().item()
    x = T([1, 2])
    x.add_(T([1, 1]), alpha=2)
    assert x.tolist() == [3, 4]


def test_differences_of_no_rows_have_fewer_columns():
    sizes = [mg.diff(mg.zeros(0, 3), n=n).shape for n in (1, 2, 5)]
    assert sizes == [(0, 2), (0, 1), (0, 0)] and mg.diff(mg.zeros(2, 3), n=9, dim=0).shape == (0, 3)


def test_axes_and_channels_that_are_not_there():
    with pytest.raises(IndexError):
        mg.norm_except_dim(mg.tensor(1.0))
    for groups, shape in ((1, (2, 0, 3)), (2, (2, 4, 0))):
        with pytest.raises(ValueError, match="takes channels with elements"):
            F.group_norm(mg.zeros(*shape), groups)
    assert mg.vander(leaf([2.0]), 1).requires_grad is False


def test_extremes_share_the_gradient_of_equal_ones():
    nan = math.nan
    for name in ("fmin", "fmax"):
        a, b = Tensor([nan, 1.0, nan, 2.0]), Tensor([1.0, nan, nan, 2.0])
        getattr(a, name)(b).sum().backward()
        assert (a.grad.tolist(), b.grad.tolist()) == ([0, 1, 1, 0.5], [1, 0, 0, 0.5])
        assert getattr(mg.tensor([True, False]), name)(mg.tensor([False, False])).tolist() == [name == "fmax", False]


def test_truth_values_have_no_absolute_values_nor_places_of_the_largest():
    t = mg.tensor([True, False, True])
    for refused in (t.abs, lambda: abs(t), t.argmax, lambda: t.argmin(0), lambda: mg.cross(t, t, dim=0)):
        with pytest.raises(TypeError, match="truth values"):
            refused()
    for refused in (lambda: mg.cdist(t[None], t[None]), lambda: F.pdist(t[None])):
        with pytest.raises(TypeError, match="takes numbers, got truth values"):
            refused()
