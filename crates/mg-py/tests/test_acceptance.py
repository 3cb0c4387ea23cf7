"""Cases with values computed independently of this project, on every device."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor
from micrograd_rs import functional as F


def test_construction(device):
    t = Tensor([[1, 2, 3], [4, 5, 6]], device=device)
    assert t.shape == (2, 3) and t.shape == [2, 3]
    assert t.strides == (3, 1) and t.strides == [3, 1]
    assert t.is_contiguous() and t.dtype == mg.float32 and t.requires_grad
    assert str(t.device).startswith(device)


def test_views(device):
    t = Tensor([[1, 2, 3], [4, 5, 6]], device=device)
    turned = t.transpose(0, 1)
    assert turned.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert turned.data_ptr() == t.data_ptr() and not turned.is_contiguous()
    assert turned.slice(0, 0, 3, 2).tolist() == [[1, 4], [3, 6]]
    assert turned.reshape([6]).tolist() == [1, 4, 2, 5, 3, 6]
    assert turned.contiguous().is_contiguous() and turned.contiguous().tolist() == turned.tolist()


@pytest.mark.parametrize(
    ("data", "f", "wanted"),
    [
        ([[1, -2], [3, 4]], lambda x: (x.relu() * x).sum(), [[2, 0], [6, 8]]),
        ([1.5, 2, -3], lambda x: (x**3).sum(), [6.75, 12, 27]),
        ([3], lambda x: (x**3).sum(), [27]),
        ([2], lambda a: (a * a + a).sum(), [5]),
        ([2], lambda a: (2 * a + 3 * a).sum(), [5]),
        ([[1, 2], [3, 4]], lambda x: (x.t() * x.t()).sum(), [[2, 4], [6, 8]]),
        ([1, 2, 3, 4], lambda x: x[1:3].sum(), [0, 1, 1, 0]),
        ([1, 2, 3, 4], lambda x: x[::-2].sum(), [0, 1, 0, 1]),
        ([1, 2], lambda x: (x.expand(3, 2) * x).sum(), [6, 12]),
        ([1, 2, 3, 4], lambda x: (x.reshape(2, 2).t().contiguous() ** 2).sum(), [2, 4, 6, 8]),
        ([0, 2, -1], lambda x: (x**0).sum(), [0, 0, 0]),
        ([-2, 3], lambda x: (x**2).sum(), [-4, 6]),
        ([0.0], lambda x: (x**0.5).sum(), [math.inf]),
        ([0.0], lambda x: x.sigmoid().sum(), [0.25]),
        ([0.0], lambda x: x.tanh().sum(), [1.0]),
    ],
)
def test_gradients(device, data, f, wanted):
    x = Tensor(data, device=device)
    f(x).backward()
    close(x.grad, wanted)
    assert x.grad.shape == x.shape


def test_two_operands(device):
    a = Tensor([[1, 2], [3, 4]], device=device)
    b = Tensor([[10, 20], [30, 40]], device=device)
    ((a + b) * a).sum().backward()
    close(a.grad, [[12, 24], [36, 48]])
    close(b.grad, a.tolist())
    a, b = Tensor(2.0, device=device), Tensor(3.0, device=device)
    y = (a * b + a) ** 2
    y.backward()
    assert y.item() == 64 and a.grad.item() == 2 * 8 * 4 and b.grad.item() == 2 * 8 * 2


def test_backward_twice(device):
    x = Tensor(3.0, device=device)
    y = x**3
    y.backward(retain_graph=True)
    assert x.grad.item() == 27
    y.backward()
    assert x.grad.item() == 54
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()


def test_seed_gradient(device):
    x = Tensor([1, 2], device=device)
    y = 10 * (x - mg.tensor([2.0, 3.0], device=device)) ** 2 / 2
    with pytest.raises((ValueError, RuntimeError), match=r"shape \[2\] needs a seed gradient"):
        y.backward()
    y.backward(mg.ones(2, device=device))
    close(x.grad, [-10, -10])


def test_sum_of_many_ones():
    assert mg.ones(1 << 25).sum().item() == 33_554_432


def test_dot_of_ten_million():
    numpy = pytest.importorskip("numpy")
    random = numpy.random.default_rng(0)
    a, b = (random.random(10_000_000, dtype=numpy.float32) for _ in range(2))
    exact = float(numpy.dot(a.astype(numpy.float64), b.astype(numpy.float64)))
    for dot in ((mg.tensor(a) * mg.tensor(b)).sum(), mg.tensor(a) @ mg.tensor(b)):
        assert abs(dot.item() - exact) <= 1e-6 * exact


@pytest.mark.parametrize("n", [0, 1, 31, 33, 255, 257, 1023, 1025, (1 << 20) + 1])
def test_sizes(device, n):
    x = mg.arange(n, device=device).float()
    assert (x + 1).sum().item() == pytest.approx(n * (n + 1) / 2, rel=1e-6)
    assert (x * 2 - x).tolist()[-3:] == [float(i) for i in range(n)][-3:]


def test_broadcasting(device):
    a = Tensor([[1, 2, 3]], device=device)
    b = Tensor([[4], [5]], device=device)
    c = a + b
    assert c.tolist() == [[5, 6, 7], [6, 7, 8]]
    c.sum().backward()
    assert a.grad.tolist() == [[2, 2, 2]] and b.grad.tolist() == [[3], [3]]
    assert (mg.ones(1, 2, device=device) + mg.ones(2, 2, 1, device=device)).shape == (2, 2, 2)
    assert (mg.tensor([1.0, 2, 3], device=device) * mg.ones(2, 3, device=device)).shape == (2, 3)
    with pytest.raises(ValueError, match=r"\[2, 2\].*\[3\]"):
        mg.ones(2, 2, device=device) + mg.ones(3, device=device)


def test_matmul(device):
    a = mg.tensor([[1.0, 2], [3, 4]], device=device)
    b = mg.tensor([[5.0, 6], [7, 8]], device=device)
    assert (a @ b).tolist() == [[19, 22], [43, 50]]
    with pytest.raises(ValueError, match=r"\[2, 2\].*\[3, 2\]"):
        a @ mg.ones(3, 2, device=device)
    a = Tensor([[2, 3], [4, 5]], device=device)
    b = Tensor([[6, 7], [8, 9]], device=device)
    y = ((a @ b + 10) * 11).sum()
    assert y.item() == 2794
    y.backward()
    assert a.grad.tolist() == [[143, 187], [143, 187]] and b.grad.tolist() == [[66, 66], [88, 88]]


@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(1, 2, 3), (3, 4, 5), (5, 4, 3), (16, 16, 16), (64, 64, 64), (72, 73, 74), (74, 73, 72), (128, 128, 128), (784, 128, 10)],
)
def test_matmul_sizes(device, m, k, n):
    numpy = pytest.importorskip("numpy")
    random = numpy.random.default_rng(0)
    a, b = random.standard_normal((m, k)), random.standard_normal((k, n))
    ours = mg.tensor(a, dtype="f32", device=device) @ mg.tensor(b, dtype="f32", device=device)
    assert numpy.allclose(ours.cpu().numpy(), a @ b, rtol=1e-5, atol=1e-4)
    turned = mg.tensor(numpy.ascontiguousarray(a.T), dtype="f32", device=device).t()
    wide = mg.tensor(numpy.concatenate([b, b], 1), dtype="f32", device=device)[:, :n]
    assert numpy.allclose((turned @ wide).cpu().numpy(), a @ b, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [((2, 3, 4), (2, 4, 5), (2, 3, 5)), ((2, 3, 4), (4, 5), (2, 3, 5)), ((4,), (4, 5), (5,)), ((3, 4), (4,), (3,)), ((4,), (4,), ())],
)
def test_matmul_ranks(device, a, b, out):
    numpy = pytest.importorskip("numpy")
    x, y = (numpy.arange(math.prod(s), dtype=numpy.float32).reshape(s) for s in (a, b))
    ours = mg.tensor(x, device=device) @ mg.tensor(y, device=device)
    assert ours.shape == out and ours.tolist() == (x @ y).tolist()


@pytest.mark.parametrize("shape", [(20, 20), (128, 784)])
def test_transposed_copies(device, shape):
    t = mg.arange(math.prod(shape), device=device).reshape(*shape)
    assert t.t().contiguous().tolist() == [list(column) for column in zip(*t.tolist())]


def test_softmax(device):
    x = mg.tensor([[1e4, -1e4, 0.0], [1.0, 2.0, 3.0]], device=device)
    for axis in (0, 1, -1):
        close(x.softmax(axis).sum(axis), [1.0] * x.softmax(axis).sum(axis).numel())
    close(x.softmax(1)[0], [1.0, 0.0, 0.0])
    assert all(math.isfinite(v) for row in x.log_softmax(1).tolist() for v in row)


def test_activations(device):
    one = mg.tensor(1.0, device=device)
    close(F.gelu(one), 0.841345)
    close(F.silu(one), 0.731059)


def test_cross_entropy(device):
    x = Tensor([[2, 1, 0.1]], device=device)
    loss = F.cross_entropy(x, mg.tensor([0], device=device))
    loss.backward()
    close(loss, 0.417030)
    close(x.grad, [[-0.340999, 0.242433, 0.098566]])
    close(F.cross_entropy(mg.tensor([[0.7, 0.2, 0.1]], device=device), mg.tensor([1], device=device)), 1.267950)


def test_mse(device):
    x = Tensor([1, 2], device=device)
    loss = F.mse_loss(x, mg.tensor([2.0, 3.0], device=device))
    loss.backward()
    close(loss, 1)
    close(x.grad, [-1, -1])


def test_ragged_lists():
    for data, place in (([[1, 2], [3], [4, 5, 6]], r"\[1\]"), ([1, [2]], r"\[1\]")):
        with pytest.raises(ValueError, match=place):
            Tensor(data)


def test_nan_and_infinity_are_as_in_numpy(device):
    numpy = pytest.importorskip("numpy")
    special = numpy.array([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0, -1.0], dtype=numpy.float32)
    x = mg.tensor(special, device=device)
    with numpy.errstate(all="ignore"):
        for name in ("exp", "sqrt", "sin", "cos", "tanh", "abs", "sign", "square", "reciprocal"):
            wanted = getattr(numpy, name)(special)
            # What is no number has no sign in NumPy, and 0 in PyTorch.
            wanted = numpy.nan_to_num(wanted) if name == "sign" else wanted
            assert numpy.allclose(getattr(x, name)().cpu().numpy(), wanted, rtol=1e-6, atol=0, equal_nan=True), name
        for op in ("__add__", "__sub__", "__mul__", "__truediv__", "__pow__"):
            ours = getattr(x[:, None], op)(x[None]).cpu().numpy()
            assert numpy.allclose(ours, getattr(special[:, None], op)(special[None]), rtol=1e-6, equal_nan=True), op
        for op in ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"):
            ours = getattr(x[:, None], op)(x[None]).cpu().numpy()
            assert (ours == getattr(special[:, None], op)(special[None])).all(), op
        for name in ("max", "min", "sum", "prod"):
            close(getattr(x, name)(), float(getattr(special, name)()))
