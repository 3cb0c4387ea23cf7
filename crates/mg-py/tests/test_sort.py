"""Sorting at the sizes at which the work is divided otherwise, on every device, against Python's sort, which is stable, and NumPy's; and quantiles."""

from __future__ import annotations

import bisect
import math
import os
import random
import subprocess
import sys

import micrograd_rs as mg
import numpy as np
import pytest

LENGTHS = [0, 1, 2, 31, 33, 96, 97, 255, 1023, 1025, 4096, 4097, 32_769, 70_000, 140_001]
DTYPES = ["f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"]
INF = math.inf


def numbers(n, spread, seed=0):
    """Numbers that every dtype with a sign has, of which many are equal where the spread is small."""
    rng = random.Random(seed)
    return [rng.randint(-spread, spread) for _ in range(n)]


def fitting(data, dtype):
    if dtype == "bool":
        return [value > 0 for value in data]
    return [abs(value) for value in data] if dtype == "u8" else data


def order(data, descending=False):
    """Positions in order; of equal elements the first one first, either way."""
    return sorted(range(len(data)), key=lambda at: -data[at] if descending else data[at])


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", [3, 120])
def test_lines(device, length, dtype, spread):
    data = fitting(numbers(length, spread, length), dtype)
    x = mg.tensor(data, dtype=dtype, device=device)
    for descending in (False, True):
        wanted = order(data, descending)
        found = x.sort(0, descending)
        assert found.indices.tolist() == wanted
        assert x.argsort(descending=descending).tolist() == wanted
        assert found.values.tolist() == [data[at] for at in wanted]
        for k in {0, min(1, length), length // 40, length // 3} if dtype != "bool" else ():
            largest = x.topk(k, largest=descending)
            assert largest.indices.tolist() == wanted[:k] and largest.values.tolist() == [data[at] for at in wanted[:k]]
    assert x.msort().tolist() == sorted(data)


@pytest.mark.parametrize("rows,length", [(3, 1025), (40, 300), (1000, 7), (5, 20_000), (2, 140_001), (5000, 1)])
def test_many_lines(device, rows, length):
    data = [numbers(length, 1000, row) for row in range(rows)]
    x = mg.tensor(data, dtype="f32", device=device)
    wanted = [order(line) for line in data]
    values = [sorted(line) for line in data]
    assert x.argsort(1).tolist() == wanted
    assert x.t().argsort(0).t().tolist() == wanted
    assert x.t().contiguous().sort(0).values.t().tolist() == values
    assert x.t().contiguous().msort().t().tolist() == values
    assert x.flip(1).sort(1).values.tolist() == values
    largest = [[line[at] for at in order(line, True)[: length // 20 + 1]] for line in data]
    assert x.topk(length // 20 + 1).values.tolist() == largest


@pytest.mark.parametrize("high", [1, 200, 70000, 1 << 40, 1 << 62])
@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_orders_of_small_and_large_integers(dtype, high):
    rng = np.random.default_rng(2)
    if dtype == "int32" and high > 1 << 31:
        high = 1 << 31
    for rows, length in [(1, 9000), (3, 5000), (1, 70000), (2, 100)]:
        x = rng.integers(-high if high > 200 else 0, high, (rows, length)).astype(dtype)
        for descending in (False, True):
            order = np.argsort(~x if descending else x, axis=1, kind="stable")
            values, indices = mg.sort(mg.tensor(x), dim=1, descending=descending, stable=True)
            np.testing.assert_array_equal(indices.numpy(), order)
            np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, order, 1))
        np.testing.assert_array_equal(mg.msort(mg.tensor(x[0])).numpy(), np.sort(x[0]))
        np.testing.assert_array_equal(mg.unique(mg.tensor(x)).numpy(), np.unique(x))


def test_digits_that_all_integers_share_are_kept():
    """Only the highest digit differs, only one in the middle, and none."""
    for shift in (0, 24, 40, 56):
        x = (np.arange(9000) % 5 << shift) + 7
        values, indices = mg.sort(mg.tensor(x), stable=True)
        order = np.argsort(x, kind="stable")
        np.testing.assert_array_equal(values.numpy(), x[order])
        np.testing.assert_array_equal(indices.numpy(), order)
    same = np.full(9000, -3)
    np.testing.assert_array_equal(mg.argsort(mg.tensor(same), stable=True).numpy(), np.arange(9000))
    assert mg.mode(mg.tensor(same))[0].item() == -3


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("length", [9, 900, 200_000])
def test_special_numbers(device, dtype, length):
    """NaN is larger than infinity; zeros of both signs are equal, and keep their order."""
    rng = random.Random(length)
    nan, inf = float("nan"), float("inf")
    data = [rng.choice([nan, inf, -inf, 0.0, -0.0, 1.5, -1.5]) for _ in range(length)]
    x = mg.tensor(data, dtype=dtype, device=device)
    keys = [(1e300 if value == inf else value) if value == value else inf for value in data]
    for descending in (False, True):
        wanted = order(keys, descending)
        assert x.argsort(descending=descending).tolist() == wanted
        for found in [x.sort(descending=descending).values.tolist()] + ([] if descending else [x.msort().tolist()]):
            assert str(found) == str([data[at] for at in wanted])


def test_wide_numbers(device):
    """Numbers that differ in their last bits alone, and by all that there is."""
    rng = random.Random(1)
    for length in (50, 5000, 150_000):
        close = [2**62 + rng.randint(-99, 99) for _ in range(length)]
        far = [rng.choice([-1, 1]) * 2 ** rng.randint(0, 62) + rng.randint(-1, 0) for _ in range(length)]
        for data in (close, far, sorted(far), [7] * length):
            x = mg.tensor(data, dtype="i64", device=device)
            assert x.argsort().tolist() == order(data)
            assert x.argsort(descending=True).tolist() == order(data, True)
            assert x.msort().tolist() == sorted(data)


def test_threads_do_not_matter(device):
    program = f"""
import micrograd_rs as mg
mg.manual_seed(3)
x = mg.randn(3, 150_000, device="{device}").round(decimals=2)
print(hash(str([x.argsort().tolist(), x.msort().tolist(), x.topk(100).indices.tolist()])))
"""
    found = set()
    for threads in ("1", "2", "3"):
        ran = {**os.environ, "MG_NUM_THREADS": threads, "PYTHONHASHSEED": "0"}
        found.add(subprocess.run([sys.executable, "-c", program], env=ran, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1 and found != {""}


def test_gradients_go_back(device):
    x = mg.randn(200, 300, device=device).requires_grad_()
    weights = mg.randn(200, 300, device=device)
    for dim in (0, 1):
        for values in (x.sort(dim).values, x.t().sort(1 - dim).values.t()):
            (found,) = mg.autograd.grad((values * weights).sum(), x)
            wanted = weights.gather(dim, x.detach().argsort(dim).argsort(dim))
            assert (found == wanted).all()


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "i64", "u8"])
@pytest.mark.parametrize("rows,length", [(1, 1), (3, 64), (40, 1000), (1, 70_000), (2, 140_001)])
def test_ranks(device, dtype, rows, length):
    data = [fitting(numbers(length, 100, row), dtype) for row in range(rows)]
    x = mg.tensor(data, dtype=dtype, device=device)
    orders = [order(line) for line in data]
    for k in {1, length // 3 + 1, length}:
        found = x.kthvalue(k, 1)
        assert found.indices.tolist() == [line[k - 1] for line in orders]
        assert found.values.tolist() == [line[at[k - 1]] for line, at in zip(data, orders)]
    middle = [line[(length - 1) // 2] for line in orders]
    assert x.median(1).indices.tolist() == x.nanmedian(1).indices.tolist() == middle
    everything = sorted(value for line in data for value in line)
    assert x.median().item() == everything[(len(everything) - 1) // 2]
    modes = []
    for line in data:
        counts: dict = {}
        for at, value in enumerate(line):
            counts[value] = counts.get(value, (0, 0))[0] + 1, at
        best = max(counts, key=lambda value: (counts[value][0], -value))
        modes.append((best, counts[best][1]))
    assert x.mode(1).values.tolist() == [value for value, _ in modes]
    assert x.mode(1).indices.tolist() == [at for _, at in modes]


@pytest.mark.parametrize("length", [5, 3000, 200_000])
def test_medians_with_nan(device, length):
    data = [float("nan") if at % 7 == 3 else float(value) for at, value in enumerate(numbers(length, 500))]
    x = mg.tensor(data, device=device)
    found = x.median(0)
    assert found.indices.item() == 3 and x.median().isnan().item()
    rest = sorted(value for value in data if value == value)
    assert x.nanmedian().item() == rest[(len(rest) - 1) // 2] == x.nanmedian(0).values.item()


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i64", "i32"])
@pytest.mark.parametrize("length,spread", [(1, 1), (300, 9), (5000, 200), (150_000, 100)])
def test_what_is_there(device, dtype, length, spread):
    data = numbers(length, spread)
    x = mg.tensor(data, dtype=dtype, device=device)
    wanted = sorted(set(data))
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert values.tolist() == wanted == x.unique().tolist()
    assert values[inverse].tolist() == data
    assert counts.tolist() == [mg.tensor(data, dtype=dtype, device=device).eq(value).sum().item() for value in wanted]
    runs = x.sort().values.unique_consecutive(return_counts=True)
    assert runs[0].tolist() == wanted and runs[1].tolist() == counts.tolist()
    others = mg.arange(-spread, spread + 1, 3, device=device)
    assert mg.isin(x, others).tolist() == [value in set(others.tolist()) for value in data]
    boundaries = values[::2]
    for right in (False, True):
        place = bisect.bisect_right if right else bisect.bisect_left
        found = mg.searchsorted(boundaries, x, right=right)
        assert found.tolist() == [place(wanted[::2], value) for value in data] == mg.bucketize(x, boundaries, right=right).tolist()


def test_parts_that_are_there(device):
    rng = random.Random(5)
    rows = [[rng.randint(0, 2) for _ in range(7)] for _ in range(500)]
    rows += rows[:100]
    x = mg.tensor(rows, device=device)
    wanted = sorted({tuple(row) for row in rows})
    for found, inverse, counts in (
        x.unique(dim=0, return_inverse=True, return_counts=True),
        (lambda v, i, c: (v.t(), i, c))(*x.t().unique(dim=1, return_inverse=True, return_counts=True)),
    ):
        assert [tuple(row) for row in found.tolist()] == wanted
        assert [wanted[at] for at in inverse.tolist()] == [tuple(row) for row in rows]
        assert counts.tolist() == [[tuple(row) for row in rows].count(row) for row in wanted]


def test_quantiles_of_infinities(device):
    """Neighbours that are equal have nothing between them, be they infinite."""
    x = mg.tensor([float("-inf"), float("-inf"), 1.0, float("inf"), float("inf")], device=device)
    assert x.quantile(mg.tensor([0.1, 0.5, 0.9], device=device)).tolist() == [float("-inf"), 1.0, float("inf")]


def test_quantiles_beside_infinity():
    x = mg.tensor([-INF, 0.0])
    assert [x.quantile(q).item() for q in (0.5, 0.6, 0.9, 1.0)] == [-INF, -INF, -INF, 0.0]
    assert math.isnan(x.quantile(0.4).item())
    x = mg.tensor([3.0, -1.0, 7.0, 2.5], requires_grad=True)
    y = mg.quantile(x, mg.tensor([0.1, 0.2, 0.6, 0.9]))
    assert y.tolist() == pytest.approx([0.05, 1.1, 2.9, 5.8], abs=1e-6)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([1.1, 1.1, 0.7, 1.1])


@pytest.mark.parametrize("descending", [False, True])
def test_elements_and_positions_of_what_no_cache_holds(device, descending):
    """So long a line is sorted once for both where both are wanted, and elements alone where they are."""
    x = np.random.default_rng(4).standard_normal(13_000_001 if device != "cpu" else 300_001).astype(np.float32)
    x[:: 1000], x[1 :: 1000], x[2 :: 1000] = 0.0, -0.0, np.nan
    t, other = mg.tensor(x, device=device), mg.tensor(-x, device=device)
    # NaN is larger than every number; what is equal keeps its order.
    keys = np.where(np.isnan(x), np.float32(np.inf), x) + np.float32(0)
    expected = np.argsort(-keys if descending else keys, kind="stable")
    values, at = t.sort(0, descending)
    mg.realize(values, at)
    np.testing.assert_array_equal(at.numpy(force=True), expected)
    found = values.numpy(force=True)
    np.testing.assert_array_equal(found, x[expected])
    np.testing.assert_array_equal(np.signbit(found), np.signbit(x[expected]))
    alone = t.sort(0, descending).values.numpy(force=True)
    np.testing.assert_array_equal(alone, found)
    # Two sorts of unlike operands stay two.
    mine, theirs = t.sort(0, descending).values, other.sort(0, descending).indices
    mg.realize(mine, theirs)
    np.testing.assert_array_equal(mine.numpy(force=True), found)
    np.testing.assert_array_equal(theirs.numpy(force=True), other.cpu().argsort(0, descending).numpy())
