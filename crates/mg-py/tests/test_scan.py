"""Running sums where lines are divided: at the bounds of chunks, blocks and pieces, on every device, forwards and backwards."""

from __future__ import annotations

from itertools import accumulate

import micrograd_rs as mg
import pytest

LENGTHS = [1, 2, 31, 33, 127, 1023, 1024, 1025, 2047, 2049, 8191, 8192, 8193, 65537, 140_000]


def whole(n, seed=0):
    """Small whole numbers: every sum of them is exact."""
    return [((i * 7919 + seed * 31) >> 3) % 7 - 3 for i in range(n)]


def reverse(t, dim):
    """A scan from the end, which is what the gradient of a scan is."""
    x = mg.zeros(*t.shape, dtype=t.dtype, device=t.device).requires_grad_()
    (x.cumsum(dim) * t).sum().backward()
    return x.grad


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["f32", "f64", "i64"])
def test_lines(device, length, dtype):
    data = whole(length)
    x = mg.tensor(data, dtype=dtype, device=device)
    assert x.cumsum(0).tolist() == list(accumulate(data))
    if dtype != "i64":
        assert reverse(x, 0).tolist() == list(accumulate(data[::-1]))[::-1]


@pytest.mark.parametrize("rows,length", [(3, 1025), (40, 300), (1000, 7), (5, 20_000), (2, 70_001)])
def test_many_lines(device, rows, length):
    data = [whole(length, row) for row in range(rows)]
    wanted = [list(accumulate(line)) for line in data]
    x = mg.tensor(data, dtype="f32", device=device)
    assert x.cumsum(1).tolist() == wanted
    assert x.t().cumsum(0).t().tolist() == wanted  # the same, read transposed
    beside = x.t().contiguous()
    assert beside.cumsum(0).t().tolist() == wanted
    assert reverse(beside, 0).t().tolist() == [list(accumulate(line[::-1]))[::-1] for line in data]


@pytest.mark.parametrize("length", [5, 1025, 9000])
def test_extremes_take_the_last_of_equals(device, length):
    data = whole(length)
    best, wanted = [], []
    for i, value in enumerate(data):
        if not wanted or value >= wanted[-1]:
            wanted.append(value)
            best.append(i)
        else:
            wanted.append(wanted[-1])
            best.append(best[-1])
    for dtype in ("f32", "i64", "i32"):
        found = mg.tensor(data, dtype=dtype, device=device).cummax(0)
        assert found.values.tolist() == wanted and found.indices.tolist() == best
    found = mg.tensor([-v for v in data], dtype="f16", device=device).cummin(0)
    assert found.indices.tolist() == best


def test_recurrences_of_long_lines(device):
    n = 20_000
    x, a = mg.rand(n, dtype="f64", device=device), mg.rand(n, dtype="f64", device=device)
    y, wanted = 0.0, []
    for value, factor in zip(x.tolist(), a.tolist()):
        y = value + factor * y
        wanted.append(y)
    assert x.recurrence(a, 0).tolist() == pytest.approx(wanted, rel=1e-12)


def test_half_types_are_added_in_single(device):
    x = mg.full((4096,), 0.001, dtype="f16", device=device)
    # Added in half precision it would stop growing at 2.
    assert x.cumsum(0)[-1].item() == pytest.approx(4096 * 0.0010004, rel=2e-3)


def test_the_order_does_not_depend_on_threads(program):
    code = """
        import micrograd_rs as mg
        mg.manual_seed(3)
        x = mg.randn(3, 300_000)
        print(hash(tuple(x.cumsum(1).flatten().tolist())), hash(tuple(x.logcumsumexp(0).flatten().tolist())))
    """
    assert program(code, MG_NUM_THREADS="1") == program(code, MG_NUM_THREADS="3")


@pytest.mark.parametrize("dim", [0, 1])
def test_zeros_of_a_product_have_gradients(device, dim):
    """No division: the gradient at a zero is the product of the others."""
    data = [[2.0, 0.0, 3.0], [0.0, 4.0, 0.0], [1.0, 5.0, 2.0]]
    x = mg.tensor(data, dtype="f64", device=device, requires_grad=True)
    (g,) = mg.autograd.grad(x.cumprod(dim).sum(), x)
    lines = data if dim == 1 else [list(column) for column in zip(*data)]
    for which, line in enumerate(lines):
        for j in range(3):
            wanted, before = 0.0, 1.0
            for k in range(j):
                before *= line[k]
            product = before
            for i in range(j, 3):
                product *= line[i] if i != j else 1.0
                wanted += product
            got = g[which, j] if dim == 1 else g[j, which]
            assert got.item() == pytest.approx(wanted)


def test_nothing_is_written_where_there_is_nothing(device):
    """Lines that are there, of which none has an element beside it."""
    for shape in ((64, 33, 0), (0, 64, 5), (5, 0, 64)):
        for dim in range(3):
            x = mg.zeros(*shape, device=device)
            assert [x.cumsum(dim).shape, x.cummax(dim).indices.shape, x.recurrence(x, dim).shape] == [shape] * 3
            assert x.cumsum(dim).tolist() == x.tolist()
