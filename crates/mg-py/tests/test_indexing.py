"""Indexing, slicing, masks, and assignment through all of them, against NumPy."""

from __future__ import annotations

import random

import micrograd_rs as mg
import pytest
from micrograd_rs import Tensor

numpy = pytest.importorskip("numpy")

SHAPE = (4, 3, 5)
INDICES = {
    "int": 2,
    "negative int": -1,
    "ints": (1, 2, 3),
    "numpy int": numpy.int64(2),
    "slice": slice(1, 3),
    "step": slice(None, None, 2),
    "reverse": slice(None, None, -1),
    "negative step": slice(3, 0, -2),
    "empty": slice(3, 1),
    "beyond": slice(-100, 100),
    "all": slice(None),
    "ellipsis": ...,
    "ellipsis then int": (..., 1),
    "int then ellipsis then slice": (1, ..., slice(None, None, -2)),
    "new axis": (None, 1),
    "new axes": (slice(None), None, 2, ..., None),
    "list": [0, 2, 2],
    "negative list": [-1, 0],
    "tuple of lists": ([0, 1], [2, 0]),
    "array": numpy.array([[0, 1], [3, 2]]),
    "int array and slice": (numpy.array([1, 3]), slice(1, None)),
    "slice and array": (slice(1, 3), numpy.array([2, 0, 2])),
    "arrays apart": (numpy.array([0, 1]), slice(None), numpy.array([4, 3])),
    "arrays broadcast": (numpy.array([[0], [1]]), numpy.array([2, 0])),
    "mask": numpy.arange(60).reshape(SHAPE) % 3 == 0,
    "mask of rows": numpy.array([True, False, True, False]),
    "mask of two axes": numpy.arange(12).reshape(4, 3) % 2 == 0,
    "mask of last axis": (slice(None), slice(None), numpy.array([True, False, True, True, False])),
    "nothing": numpy.zeros(4, dtype=bool),
    "empty list": [],
    "true": True,
    "false": False,
    "empty tuple": (),
}


def ours(index):
    """An index as tensors where NumPy takes arrays."""
    if isinstance(index, tuple):
        return tuple(ours(i) for i in index)
    return mg.tensor(index) if isinstance(index, numpy.ndarray) else index


@pytest.fixture
def array():
    return numpy.arange(60, dtype=numpy.float32).reshape(SHAPE)


@pytest.mark.parametrize("name", INDICES)
def test_reading(array, name):
    index = INDICES[name]
    wanted = array[index]
    t = mg.tensor(array)
    for got in (t[ours(index)], t[index], mg.tensor(array.T.copy()).T[ours(index)]):
        assert got.shape == wanted.shape and got.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", INDICES)
def test_writing(array, name):
    index = INDICES[name]
    for value in (-1.0, numpy.arange(array[index].size, dtype=numpy.float32).reshape(array[index].shape) * -1):
        wanted, t = array.copy(), mg.tensor(array)
        view = t[1]
        wanted[index] = value
        t[ours(index)] = value
        assert t.tolist() == wanted.tolist()
        assert view.tolist() == wanted[1].tolist()


@pytest.mark.parametrize("name", [n for n in INDICES if n not in ("true", "false")])
def test_gradients(array, name):
    index = INDICES[name]
    x = Tensor(array)
    picked = x[ours(index)]
    (picked * mg.arange(picked.numel()).reshape(*picked.shape)).sum().backward()
    wanted = numpy.zeros_like(array)
    numpy.add.at(wanted, index, numpy.arange(array[index].size).reshape(array[index].shape))
    assert x.grad.tolist() == wanted.tolist()


def test_random_views():
    """Views of views of views, each read, and then written through."""
    chance = random.Random(0)
    for _ in range(200):
        array = numpy.arange(120, dtype=numpy.float32).reshape(2, 3, 4, 5)
        t = mg.tensor(array)
        a, b = array, t
        for _ in range(chance.randrange(1, 5)):
            if a.ndim and chance.random() < 0.3:
                axes = chance.sample(range(a.ndim), a.ndim)
                a, b = a.transpose(axes), b.permute(*axes)
            index = []
            for axis, n in enumerate(a.shape):
                if n and axis and chance.random() < 0.25:
                    index.append(chance.randrange(-n, n))
                else:
                    step = chance.choice([1, 1, 2, -1, -2])
                    index.append(slice(chance.choice([None, 0, 1, -1]), chance.choice([None, n, -1]), step))
            a, b = a[tuple(index)], b[tuple(index)]
        assert b.tolist() == a.tolist() and b.shape == a.shape
        a[...] = -7
        b[...] = -7
        assert t.tolist() == array.tolist()


def test_views_share():
    t = mg.zeros(2, 3)
    row, column, turned = t[0], t[:, 1], t.t()
    row[1] = 5
    assert t.tolist() == [[0, 5, 0], [0, 0, 0]] and column.tolist() == [5, 0] and turned.tolist()[1] == [5, 0]
    turned[2] = 9
    assert t.tolist() == [[0, 5, 9], [0, 0, 9]]
    column += 1
    assert t.tolist() == [[0, 6, 9], [0, 1, 9]]
    t.reshape(6)[0] = -1
    assert row.tolist() == [-1, 6, 9]


def test_picked_by_tensors_is_a_copy():
    t = mg.zeros(3)
    t[mg.tensor([0, 1])][0] = 5
    assert t.tolist() == [0, 0, 0]


def test_repeated_positions():
    x = Tensor([1.0, 2.0])
    x[mg.tensor([0, 0, 1])].sum().backward()
    assert x.grad.tolist() == [2, 1]
    t = mg.zeros(2)
    t[[0, 0]] = mg.tensor([1.0, 2.0])
    assert t.tolist() == [2, 0]


def test_gradients_through_writing():
    x, v = Tensor([1.0, 2.0, 3.0]), Tensor([10.0])
    y = x * 2
    y[1:2] = v * 3
    (y * mg.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [2, 0, 200] and v.grad.tolist() == [30]


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (4, IndexError),
        (-5, IndexError),
        (2**70, IndexError),
        ((0, 0, 0, 0), IndexError),
        ((..., ...), IndexError),
        ("x", TypeError),
        (1.5, TypeError),
        (mg.tensor([1.5]), TypeError),
        (object(), TypeError),
        (slice(0, 2, 0), ValueError),
        (slice("a", None), TypeError),
        ([0, 4], IndexError),
        ([-5], IndexError),
        (mg.tensor([True, False]), ValueError),
        ((mg.tensor([0, 1]), mg.tensor([0, 1, 2])), ValueError),
    ],
    ids=str,
)
def test_wrong(index, error):
    t = mg.zeros(*SHAPE)
    with pytest.raises(error):
        t[index]
    with pytest.raises(error):
        t[index] = 0.0


def test_an_index_beyond_says_so():
    with pytest.raises(IndexError, match=r"7.*axis 0.*size 4"):
        mg.zeros(4)[7]
    with pytest.raises(IndexError, match=r"7.*size 4"):
        mg.zeros(4)[mg.tensor([7])]
    late = mg.tensor([3]) + 4
    with pytest.raises(IndexError, match=r"7.*size 4"):
        mg.zeros(4)[late].tolist()


def test_wrong_values():
    t = mg.zeros(2, 3)
    with pytest.raises(ValueError, match=r"\[4\]"):
        t[0] = mg.zeros(4)
    with pytest.raises(TypeError):
        t[0] = "x"
    with pytest.raises((ValueError, TypeError)):
        t[0] = [1, [2]]
    with pytest.raises(TypeError):
        del t[0]
    t[0] = [1, 2, 3]
    t[1] = range(3)
    assert t.tolist() == [[1, 2, 3], [0, 1, 2]]


def test_named_ways():
    t = mg.tensor([[1.0, 2, 3], [4, 5, 6]])
    assert t.index_select(1, mg.tensor([2, 0])).tolist() == [[3, 1], [6, 4]]
    assert t.gather(1, mg.tensor([[0], [2]])).tolist() == [[1], [6]]
    assert t.masked_fill(t > 3, 0).tolist() == [[1, 2, 3], [0, 0, 0]]
    assert t.masked_select(t > 3).tolist() == [4, 5, 6]
    assert (t > 4).nonzero().tolist() == [[1, 1], [1, 2]]
    assert [a.tolist() for a in mg.where(t > 4)] == [[1, 1], [1, 2]]
    assert mg.where(t > 3, t, 0.0).tolist() == [[0, 0, 0], [4, 5, 6]]
    assert mg.where(t > 3, 1, t).tolist() == [[1, 2, 3], [1, 1, 1]]
    assert mg.zeros(3).scatter_add(0, mg.tensor([0, 2, 0]), mg.tensor([1.0, 2, 3])).tolist() == [4, 0, 2]
    assert mg.tensor(5).nonzero().tolist() == [[]] and mg.tensor(0).nonzero().tolist() == []
    assert t.narrow(1, 1, 2).tolist() == [[2, 3], [5, 6]]
    assert t.select(1, -1).tolist() == [3, 6]
