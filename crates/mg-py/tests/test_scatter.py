"""Sums and writes at positions of which many meet at one place, on the default device, against loops of NumPy.

Sums are made in the order of positions, so the sums are the same bits."""

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


def test_what_nothing_is_written_of_has_a_gradient_of_zeros():
    none, base = mg.zeros(0, 2, requires_grad=True), mg.ones(3, 2, requires_grad=True)
    at = mg.zeros(0, dtype=mg.int64)
    places = mg.zeros(0, 2, dtype=mg.int64)
    for made in (
        base.index_add(0, at, none),
        base.index_copy(0, at, none),
        base.scatter(0, places, none),
        base.scatter_add(0, places, none),
        base.scatter_reduce(0, places, none, "amax"),
        base.scatter_reduce(0, places, none, "sum", include_self=False),
    ):
        assert made.tolist() == base.tolist()
        by_base, by_none = mg.autograd.grad(made.sum(), (base, none))
        assert by_base.tolist() == [[1.0, 1.0]] * 3 and by_none.shape == (0, 2)
    x = mg.zeros(0, 2, 3, 3, requires_grad=True)
    y = mg.nn.functional.max_unpool2d(x, mg.zeros(0, 2, 3, 3, dtype=mg.int64), 2)
    assert y.shape == (0, 2, 6, 6) and mg.autograd.grad(y.sum(), x)[0].shape == x.shape
