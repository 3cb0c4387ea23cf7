"""Tensors with 2³¹ elements and more: what lies beyond the reach of 32 bits is found, written and counted like the rest.

They take 8 GB of memory and a minute: `HUGE_TESTS=1 pytest tests/test_huge.py`.
"""

import os

import numpy as np
import pytest

import micrograd_rs as mg

pytestmark = pytest.mark.skipif(not os.environ.get("HUGE_TESTS"), reason="takes 8 GB; HUGE_TESTS=1 runs it")

HALF = 1 << 30
N = (1 << 31) + 5
PLACES = [0, 7, (1 << 31) - 1, 1 << 31, N - 1]
VALUES = [1, 2, 3, 4, 5]


@pytest.fixture(scope="module")
def x():
    """Zeros, with something at both sides of what 31 bits count."""
    array = np.zeros(N, dtype=np.int8)
    array[PLACES] = VALUES
    return mg.from_numpy(array)


def at(tensor, places):
    return [int(tensor[place].item()) for place in places]


def test_elementwise(x):
    assert at(x + x, PLACES) == [2, 4, 6, 8, 10]
    assert at(mg.where(x > 2, x, mg.zeros_like(x)), PLACES) == [0, 0, 3, 4, 5]
    assert at(x.bool(), [*PLACES, 1, N - 2]) == [1, 1, 1, 1, 1, 0, 0]


def test_reductions(x):
    assert x.sum().item() == 15
    assert (x.max().item(), x.min().item(), x.argmax().item()) == (5, 0, N - 1)
    assert mg.count_nonzero(x).item() == 5
    assert x[: 2 * HALF].reshape(2, HALF).sum(1).tolist() == [3, 3]
    assert x[: 2 * HALF].reshape(HALF, 2).sum(0).tolist() == [1, 5]
    assert x.bool().any().item() and not x.bool().all().item()
    assert mg.equal(x, x)


def test_movement(x):
    assert at(mg.flip(x, [0]), [N - 1 - place for place in PLACES]) == VALUES
    assert at(mg.roll(x, 3), [(place + 3) % N for place in PLACES]) == VALUES
    assert at(x[1:].clone(), [6, (1 << 31) - 2, (1 << 31) - 1, N - 2]) == [2, 3, 4, 5]
    assert at(x[1::2].clone(), [3, HALF - 1]) == [2, 3]
    assert at(mg.cat([x[:HALF], x[HALF:]]), PLACES) == VALUES
    assert at(mg.nn.functional.pad(x, (2, 3)), [place + 2 for place in PLACES]) == VALUES
    assert at(x[: HALF + 3].repeat(2), [HALF + 3, HALF + 10]) == [1, 2]
    assert at(x[7].expand(N).clone(), [0, N - 1]) == [2, 2]
    turned = x[: 2 * HALF].reshape(1 << 16, 1 << 15).t().contiguous()
    assert (turned[-1, -1].item(), turned[7, 0].item()) == (3, 2)


def test_indices(x):
    places = mg.tensor(np.array(PLACES))
    for picked in (mg.gather(x, 0, places), x[places], mg.take(x, places), mg.index_select(x, 0, places)):
        assert picked.tolist() == VALUES
    written = x.index_put((places,), mg.tensor(np.array([9, 8, 7, 6, 5], dtype=np.int8)))
    assert at(written, [*PLACES, N - 2]) == [9, 8, 7, 6, 5, 0]
    assert at(mg.scatter_add(x, 0, places, mg.ones(5, dtype=mg.int8)), PLACES) == [2, 3, 4, 5, 6]
    assert x[x > 0].tolist() == VALUES
    assert mg.nonzero(x).flatten().tolist() == PLACES
    with pytest.raises(IndexError):
        x[mg.tensor([N])].tolist()


def test_writes(x):
    y = x.clone()
    y[N - 3] = 11
    y[(1 << 31) + 1 : (1 << 31) + 2] = 12
    assert at(y, [*PLACES, N - 3, (1 << 31) + 1]) == [*VALUES, 11, 12]
    assert at(x, [N - 3]) == [0]
