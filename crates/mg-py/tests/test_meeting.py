"""What many positions meet at: sums, writes and orders by index, on the default device, against loops of NumPy.

Sums are made in the order of positions, so they are the same bits."""

import numpy as np
import pytest

import micrograd_rs as mg


def meeting(rng, count, places):
    """A third of the positions go to one place, as many to few."""
    index = rng.integers(0, places, count)
    kind = rng.integers(0, 3, count)
    index[kind == 0] = places // 2
    index[kind == 1] %= min(50, places)
    return index


@pytest.mark.parametrize("row", [1, 3, 31, 32, 33, 130])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_sums_where_many_meet(row, dtype):
    rng = np.random.default_rng(row)
    for count, places in [(5000, 3000), (20000, 200), (9000, 40000)]:
        index = meeting(rng, count, places)
        values = (rng.standard_normal((count, row)) * 9).astype(dtype)
        want = np.zeros((places, row), dtype)
        np.add.at(want, index, values)
        zeros = mg.zeros((places, row), dtype=getattr(mg, dtype))
        got = mg.index_add(zeros, 0, mg.tensor(index), mg.tensor(values))
        np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_sums_of_single_elements(dtype):
    """Few meet or some do, at places that are about as many or many more; out of order, and where each comes several times."""
    rng = np.random.default_rng(4)
    for count, places in [(30001, 20000), (9000, 72000), (9000, 72001), (20011, 1 << 20)]:
        some = rng.integers(0, places, count)
        for index in (some, np.sort(some)[::-1].copy(), np.repeat(some, 6)[:count], np.repeat(some, 17)[:count]):
            values = (rng.standard_normal(count) * 9).astype(dtype)
            want = np.zeros(places, dtype)
            np.add.at(want, index, values)
            zeros = mg.zeros(places, dtype=getattr(mg, dtype))
            np.testing.assert_array_equal(mg.scatter_add(zeros, 0, mg.tensor(index), mg.tensor(values)).numpy(), want)
    with pytest.raises(IndexError):
        index[3] = places
        mg.scatter_add(zeros, 0, mg.tensor(index), mg.tensor(values)).sum().item()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
def test_the_last_write_stays(dtype):
    rng = np.random.default_rng(1)
    # Most places are written to, and few.
    for count, places in [(1025, 300), (5000, 10000), (5000, 10001), (2000, 90000)]:
        for index in (meeting(rng, count, places), rng.integers(0, places, count)):
            values = rng.integers(1, 100, count).astype(dtype)
            want = np.zeros(places, dtype)
            want[index] = values
            base = mg.zeros(places, dtype=getattr(mg, dtype))
            np.testing.assert_array_equal(mg.index_put(base, (mg.tensor(index),), mg.tensor(values)).numpy(), want)
            base[mg.tensor(index)] = 3
            want[index] = 3
            np.testing.assert_array_equal(base.numpy(), want)


def test_the_last_write_along_an_axis_stays():
    rng = np.random.default_rng(3)
    for outer, inner in [(3, 1), (1, 5), (4, 3)]:
        for count, places in [(2000, 1500), (2000, 5000)]:
            index = meeting(rng, count, places)
            values = rng.standard_normal((outer, count, inner)).astype("float32")
            want = np.zeros((outer, places, inner), "float32")
            want[:, index] = values
            base = mg.zeros((outer, places, inner))
            got = mg.index_copy(base, 1, mg.tensor(index), mg.tensor(values))
            np.testing.assert_array_equal(got.numpy(), want)


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
