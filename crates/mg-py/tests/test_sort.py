"""Sorting at the sizes at which the work is divided otherwise, on every device: against Python's sort, which is stable."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import micrograd_rs as mg
import pytest

LENGTHS = [0, 1, 2, 31, 33, 96, 97, 255, 1023, 1025, 4096, 4097, 32_769, 70_000, 140_001]
DTYPES = ["f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"]


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
