"""Indexing, slicing, masks, and assignment through all of them, against NumPy."""

from __future__ import annotations

import random
import time

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor
from micrograd_rs.nn import functional as F

numpy = pytest.importorskip("numpy")

SHAPE = (4, 3, 5)
T = mg.tensor
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
        ((..., ..., 0), IndexError),
        ("x", TypeError),
        (1.5, IndexError),
        (mg.tensor([1.5]), TypeError),
        (object(), TypeError),
        (slice(0, 2, 0), ValueError),
        (slice("a", None), TypeError),
        ([0, 4], IndexError),
        ([-5], IndexError),
        (mg.tensor([True, False]), IndexError),
        ((mg.tensor([0, 1]), mg.tensor([0, 1, 2])), IndexError),
    ],
    ids=str,
)
def test_wrong(index, error):
    t = mg.zeros(*SHAPE)
    with pytest.raises(error):
        t[index]
    with pytest.raises(error):
        t[index] = 0.0


def test_a_float_is_no_position():
    for index in (1.5, 1.0, (None, 0.5), (0, 2.0)):
        with pytest.raises(IndexError, match="^index: takes integers"):
            mg.ones(3, 3)[index]
    with pytest.raises(IndexError):
        mg.ones(3)[1.5] = 2


def test_an_index_beyond_says_so():
    with pytest.raises(IndexError, match=r"7.*axis 0.*size 4"):
        mg.zeros(4)[7]
    with pytest.raises(IndexError, match=r"7.*size 4"):
        mg.zeros(4)[mg.tensor([7])]
    late = mg.tensor([3]) + 4
    with pytest.raises(IndexError, match=r"7.*size 4"):
        mg.zeros(4)[late].tolist()


def test_an_index_that_is_computed_is_told_as_it_is():
    """Not as it is counted from the beginning, nor as a position among all elements."""
    late = mg.tensor([-5]) - 2
    grid = mg.zeros(3, 4)
    for read in (
        lambda: mg.zeros(4)[late], lambda: mg.zeros(4).index_fill(0, late, 1.0), lambda: mg.zeros(4).take(late),
        lambda: mg.zeros(4).index_put((late,), mg.tensor(1.0)),
    ):
        with pytest.raises(IndexError, match=r"index -7 is out of range for axis 0 of size 4"):
            read().tolist()
    with pytest.raises(IndexError, match=r"index -7 is out of range for axis 0 of size 3"):
        grid[late, mg.tensor([1]) * 1].tolist()
    with pytest.raises(IndexError, match=r"index -7 is out of range for axis 1 of size 4"):
        grid[mg.tensor([1]) * 1, late].tolist()
    with pytest.raises(IndexError, match=r"index -7 is out of range for axis 0 of size 3"):
        grid[late, mg.tensor([1])] = 1.0
        grid.tolist()
    assert grid.sum().item() == 0


@pytest.mark.parametrize(
    ("index", "axis", "size"), [((0, 3), 1, 3), ((0, 0, 9), 2, 4), ((1, slice(None), 9), 2, 4), ((..., -5), 2, 4)]
)
def test_an_index_out_of_range_is_told_of_with_the_axis_of_the_tensor(index, axis, size):
    x = mg.zeros(2, 3, 4)
    for do in (lambda: x[index], lambda: x.__setitem__(index, 1.0)):
        with pytest.raises(IndexError, match=f"axis {axis} of size {size}"):
            do()


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


def test_masked_select_takes_masks_that_broadcast():
    x = mg.arange(6.0).reshape(2, 3)
    assert x.masked_select(x > 2).tolist() == [3, 4, 5]
    assert x.masked_select(mg.tensor([True, False, True])).tolist() == [0, 2, 3, 5]
    assert x.masked_select(mg.tensor([[False], [True]])).tolist() == [3, 4, 5]
    assert x.masked_select(mg.tensor(True)).tolist() == [0, 1, 2, 3, 4, 5]
    assert x[0].masked_select(mg.tensor([[True, False, False], [False, False, True]])).tolist() == [0, 2]
    assert mg.tensor(5.0).masked_select(mg.tensor(True)).tolist() == [5] and mg.tensor(5.0).masked_select(mg.tensor([True] * 2)).tolist() == [5, 5]
    leaf = Tensor([1.0, 2.0])
    leaf.masked_select(mg.tensor([[True, False], [True, True]])).sum().backward()
    assert leaf.grad.tolist() == [2, 1]
    with pytest.raises(ValueError, match="broadcast"):
        mg.ones(3).masked_select(mg.ones(2, 2).bool())
    for dtype in ("i64", "i32", "u8", "f32"):
        with pytest.raises(TypeError, match="truth values"):
            mg.tensor([1.0, 2.0, 3.0]).masked_select(mg.tensor([1, 0, 1], dtype=dtype))
        with pytest.raises(TypeError, match="truth values"):
            mg.ones(3).masked_fill(mg.tensor([1, 0, 1], dtype=dtype), 0)
    with pytest.raises(IndexError):
        mg.ones(3)[mg.ones(2, 2).bool()]


def test_masks_are_of_truth_values():
    with pytest.raises((TypeError, ValueError)):
        T([1.0, 2.0]).masked_select(T([1, 0, 1]))
    with pytest.raises((ValueError, RuntimeError)):
        mg.ones(3).masked_select(mg.ones(2, 2).bool())
    x = mg.ones(3)
    x.data = T([5.0])
    assert x.tolist() == [5]


@pytest.mark.parametrize("dtype", ["i64", "i32"])
def test_known_indices_are_checked_at_the_call(dtype):
    x, wide = mg.ones(2, 3), mg.zeros(1, 3, dtype=dtype)

    def index(*at):
        return mg.tensor(list(at), dtype=dtype)

    assert x.index_select(1, index(0, 2)).shape == (2, 2) and x.index_select(0, index(1)[0]).shape == (1, 3)
    assert x.gather(0, wide).shape == (1, 3) and x.gather(0, wide[:, :2]).shape == (1, 2)
    assert x.scatter_add(0, wide, mg.ones(1, 3)).tolist() == [[2, 2, 2], [1, 1, 1]]
    assert mg.functional.embedding(index(0, 1), x).shape == (2, 3)
    for at, call in (
        (5, lambda: x.index_select(0, index(0, 5))),
        (-1, lambda: x.index_select(0, index(-1))),
        (2, lambda: x.gather(0, (wide + 2).realize())),
        (-1, lambda: x.gather(0, (wide - 1).realize())),
        (2, lambda: x.scatter_add(0, (wide + 2).realize(), mg.ones(1, 3))),
        (2, lambda: mg.functional.embedding(index(0, 2, 1), x)),
        (-1, lambda: mg.functional.embedding(index(0, -1, 1), x)),
        (2, lambda: mg.functional.embedding(index(1, 0, 2, 1)[::2], x)),
        (3, lambda: mg.functional.cross_entropy(x, index(0, 3))),
        (-1, lambda: mg.functional.cross_entropy(x, index(0, -1))),
        (3, lambda: mg.functional.nll_loss(x, index(3, 0))),
        (-3, lambda: x[index(-3)]),
        # What is not computed yet is checked when it is used.
        (2, lambda: x.gather(0, wide + 2).tolist()),
        (-1, lambda: x.index_select(0, (wide - 1)[0]).tolist()),
    ):
        with pytest.raises(IndexError, match=f"index {at} is out of range for axis [01] of size [23]"):
            call()


def test_a_bad_label_leaves_the_model_as_it_is():
    w = Tensor([[1.0, 1.0], [1.0, 1.0]])
    sgd = mg.optim.SGD([w], lr=0.1)
    with pytest.raises(IndexError, match="index 5"):
        mg.functional.cross_entropy(mg.ones(2, 2) @ w, mg.tensor([0, 5])).backward()
        sgd.step()
    assert w.tolist() == [[1, 1], [1, 1]]


def test_index_dtypes():
    x = mg.ones(2, 3)
    for dtype in ("u8", "i32", "i64", "bool", "f32"):
        index = mg.zeros(1, 3, dtype=dtype)
        for call, picked in (
            (lambda: x.index_select(0, index[0]), [[1.0] * 3] * 3),
            (lambda: x.gather(0, index), [[1.0] * 3]),
            (lambda: x.scatter_add(0, index, mg.ones(1, 3)), [[2.0] * 3, [1.0] * 3]),
        ):
            if dtype in ("bool", "f32"):
                with pytest.raises(TypeError, match="integers as indices, got " + str(index.dtype).removeprefix("micrograd_rs.")):
                    call()
            else:
                assert call().tolist() == picked
    with pytest.raises(TypeError, match="values of float32, got int64"):
        x.scatter_add(0, mg.zeros(1, 3, dtype="i64"), mg.ones(1, 3, dtype="i64"))


def test_classes_below_zero_are_an_error_and_positions_below_zero_count_from_the_end():
    for labels in ([-1], [2, -1], [[-3]]):
        with pytest.raises(RuntimeError, match="non-negative"):
            F.one_hot(mg.tensor(labels))
    assert F.one_hot(mg.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert mg.zeros(3).index_fill(0, mg.tensor([0, -1]), 5).tolist() == [5, 0, 5]
    assert mg.zeros(2, 3).index_fill(1, mg.tensor([-2]), 5).tolist() == [[0, 5, 0]] * 2
    with pytest.raises(IndexError):
        mg.zeros(3).index_fill(0, mg.tensor([-4]), 5)
    fill = mg.jit(lambda x, at: x.index_fill(0, at, 5.0))
    for at in ([0], [-1], [1], [-2], [2]):
        wanted = [0.0] * 3
        wanted[at[0]] = 5.0
        assert fill(mg.zeros(3), mg.tensor(at)).tolist() == wanted


def written(x, index, value):
    """In order, one by one."""
    x = [list(row) for row in x]
    for at, row in zip(index, value):
        x[at] = row
    return x


def test_writes_by_indices_are_recorded():
    """Of those that go to one place the last one stays, in replays with other indices too."""

    @mg.jit
    def step(x, index, value):
        y = x * 1
        y[index] = value
        return y

    for call in range(8):
        index = mg.randint(-5, 5, (7,))
        x, value = mg.randn(5, 2), mg.randn(7, 2)
        assert step(x, index, value).tolist() == written(x.tolist(), index.tolist(), value.tolist())
    assert step.is_replaying
    # Negative indices where none were recorded, one index alone, pairs of indices.
    for call in range(4):
        one = mg.tensor([call - 3])
        assert step(x, one, value[:1]).tolist() == written(x.tolist(), [call - 3], value[:1].tolist())

    @mg.jit
    def pairs(x, i, j):
        y = x * 1
        y[i, j] = 9
        y[:, j] += 1
        return y

    for call in range(5):
        i, j = mg.randint(3, (4,)), mg.randint(3, (4,))
        x = mg.arange(9).reshape(3, 3) + call
        expected = x.tolist()
        for a, b in zip(i.tolist(), j.tolist()):
            expected[a][b] = 9
        expected = [[v + (b in j.tolist()) for b, v in enumerate(row)] for row in expected]
        assert pairs(x, i, j).tolist() == expected
    assert pairs.is_replaying


def test_writes_by_masks_are_recorded():
    @mg.jit
    def step(x, mask, rows, row, columns, first):
        y = x * 1
        y[mask] = -1.5
        y[rows] = row
        y[:, columns] = first
        return y

    for call in range(6):
        x, row = mg.randn(3, 4), mg.randn(4)
        mask, rows = mg.rand(3, 4) < 0.5, mg.rand(3) < 0.5
        expected = [[-1.5 if m else v for v, m in zip(*pair)] for pair in zip(x.tolist(), mask.tolist())]
        expected = [row.tolist() if hit else old for old, hit in zip(expected, rows.tolist())]
        columns, first = mg.rand(4) < 0.5, mg.randn(3, 1)
        expected = [[one if m else v for v, m in zip(old, columns.tolist())] for old, (one,) in zip(expected, first.tolist())]
        close(step(x, mask, rows, row, columns, first), expected)
    assert step.is_replaying
    # An element for each that the mask picks: how many they are only the host knows.
    y = mg.zeros(2, 3)
    y[mg.tensor([[True, False, True], [False, True, False]])] = mg.tensor([1.0, 2.0, 3.0])
    assert y.tolist() == [[1, 0, 2], [0, 3, 0]]
    for wrong in (mg.ones(2), mg.ones(2, 3)):
        with pytest.raises(ValueError):
            y[y > 0] = wrong


@pytest.mark.parametrize("whole", [False, True], ids=["rows", "whole"])
def test_rows_written_by_tensors(whole):
    """A few rows in much memory are written where they are; the same by way of all of it."""
    numpy = pytest.importorskip("numpy")
    n = 50_000 if not whole else 50
    a = numpy.arange(n * 6, dtype="float32").reshape(n, 3, 2)
    picks = [
        (mg.tensor([3, 41, -1]), slice(None)),
        (mg.tensor([[3], [3]]), mg.tensor([0, 2])),
        (slice(None, 9), mg.tensor([2, 1, 2])),
        (mg.tensor([5, 5, 5]),),
        (mg.tensor([5, 7]), slice(None), mg.tensor([1, 0])),
    ]
    for pick in picks:
        as_numpy = tuple(numpy.array(p.tolist()) if isinstance(p, mg.Tensor) else p for p in pick)
        shape = a[as_numpy].shape
        for value in (mg.rand(*shape), mg.rand(shape[-1]), 7.0, mg.rand(*shape) * 2):
            b, wanted = mg.tensor(a), a.copy()
            held = b.numpy().copy() if whole else None
            b[pick] = value
            wanted[as_numpy] = numpy.asarray(value) if isinstance(value, mg.Tensor) else value
            assert (b.numpy() == wanted).all() and (held is None or (held == a).all())
        with pytest.raises(IndexError):
            b[mg.tensor([0, n])] = 1.0
        assert (b.numpy() == wanted).all()
    if not whole:
        b = mg.tensor(a)
        at = b.data_ptr()
        b[mg.tensor([3, 41, -1])] = mg.rand(3, 2)
        assert b.data_ptr() == at
    # Of itself, and with somebody who has the old value.
    b = mg.tensor(a)
    b[mg.tensor([1, 2])] = b[:2]
    old = b * 1
    b[mg.tensor([0])] = b[2:3]
    assert b[:3].tolist() == [a[1].tolist(), a[0].tolist(), a[1].tolist()] and old[0].tolist() == a[0].tolist()


def test_an_index_of_nothing_is_looked_at():
    for of, more in ((mg.ones(0, 0), ()), (mg.ones(1, 0), ()), (mg.ones(1, 3), (slice(0, 0),))):
        with pytest.raises(IndexError):
            of[(mg.tensor([0]) + 1, *more)]
    with pytest.raises(IndexError):
        mg.ones(2, 0).index_select(0, mg.tensor([1]) + 1)


def test_what_is_picked_lies_as_it_is_seen():
    x = mg.tensor([[[1.0]], [[2.0]]])
    t = x[:, [0, 0]]
    assert t.is_contiguous() and t.contiguous() is t


def test_a_view_of_nothing_at_an_end():
    t = mg.zeros(2, 0, dtype=mg.bool)[1]
    assert t[t].tolist() == [] and t.tolist() == []


def test_leading_axes_of_size_one_are_none_where_elements_are_written():
    w = mg.zeros(2)
    w[0] = mg.tensor([5.0])
    w[1] = mg.tensor([[7.0]])
    assert w.tolist() == [5, 7]
    with pytest.raises(ValueError):
        w[0] = mg.tensor([1.0, 2.0])


@pytest.mark.parametrize("index", [[0, 1], [True, True, False], [[0, 1], [1, 0]]], ids=["list", "mask", "array"])
def test_axes_of_size_one_in_front_of_what_is_assigned_are_none(index):
    want, got = numpy.zeros((3, 4)), mg.zeros(3, 4)
    want[index if isinstance(index[0], bool) else numpy.array(index)] = numpy.arange(4.0)
    got[mg.tensor(index)] = mg.arange(4.0).reshape(1, 1, 1, 4)
    assert got.tolist() == want.tolist()
    # index_put takes what broadcasts, no more.
    with pytest.raises(RuntimeError, match="broadcast"):
        got.index_put_((mg.tensor([0]),), mg.zeros(1, 1, 4))


def test_a_tensor_without_axes_is_its_own_row():
    w = mg.Tensor(5.0)
    for index in (mg.tensor(0), mg.tensor([0]), mg.tensor([1]) - 1):
        row = w.index_select(0, index)
        assert (row.shape, row.item()) == ((), 5.0)
        w.grad = None
        row.backward()
        assert w.grad.item() == 1.0
    assert mg.tensor([5, 6]).index_select(0, mg.tensor(1)).tolist() == [6]
    with pytest.raises(ValueError):
        w.index_select(0, mg.tensor([0, 0]))
    with pytest.raises(IndexError):
        w.index_select(1, mg.tensor([0]))
    with pytest.raises(IndexError):
        w.index_select(0, mg.tensor([1])).item()


WRITES = {
    "one": lambda b, i, v: b.__setitem__(i, 7.0),
    "rows": lambda b, i, v: b.__setitem__(i, v),
    "part": lambda b, i, v: b[2:-1].__setitem__(i, v),
    "column": lambda b, i, v: b.__setitem__((slice(None), i[:3] % b.shape[1]), 3.0),
    "both": lambda b, i, v: b.__setitem__((i, i % b.shape[1]), v[:, 0]),
    "of one": lambda b, i, v: b.__setitem__((i, 2), v[:, 1]),
    "flat": lambda b, i, v: b.reshape(-1).__setitem__(i, v[:, 0]),
    "transposed": lambda b, i, v: (b.T if isinstance(b, numpy.ndarray) else b.t()).__setitem__((slice(None), i), 5.0),
}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64, numpy.int64, numpy.uint8, numpy.bool_])
@pytest.mark.parametrize("what", WRITES)
def test_writes_at_indices_are_numpys(what, dtype, jitted):
    """Of several at one place the last stays, also where it is recorded and replayed with other indices."""
    rng = numpy.random.default_rng(1)
    ours, theirs = mg.tensor(numpy.zeros((9, 5), dtype)), numpy.zeros((9, 5), dtype)

    def write(b, i, v):
        WRITES[what](b, i, v)

    f = mg.jit(write) if jitted else write
    for _ in range(6):
        i = rng.integers(0, 6, 7)
        v = (rng.integers(0, 2, (7, 5)) if dtype == numpy.bool_ else rng.integers(0, 99, (7, 5))).astype(dtype)
        held = ours.clone() if rng.random() < 0.5 else None
        before = theirs.copy()
        f(ours, mg.tensor(i), mg.tensor(v))
        WRITES[what](theirs, i, v)
        assert ours.numpy().tolist() == theirs.tolist()
        assert held is None or held.tolist() == before.tolist()
    assert not jitted or f.is_replaying, f.reason


COSTS = {
    "one": lambda b, i, v: b.__setitem__(i, 7.0),
    "rows": lambda b, i, v: b.__setitem__(i, v),
    "part": lambda b, i, v: b[5:].__setitem__(i, v),
    "index_copy_": lambda b, i, v: b.index_copy_(0, i, v),
    "index_fill_": lambda b, i, v: b.index_fill_(0, i, 2.0),
}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("what", COSTS)
def test_writes_at_indices_cost_what_is_written(what, jitted):
    """A cache of 48 MB, of which a few rows are written: not all of it is copied each time."""
    big = mg.zeros(20000, 600)
    rows, at = mg.ones(16, 600), mg.arange(16) * 1000

    def write(b, i, v):
        COSTS[what](b, i, v)
        if not jitted:
            COSTS[what](b, i + 1, v)

    f = mg.jit(write) if jitted else write
    for _ in range(4):
        f(big, at, rows)
    big[0, 0].item()
    began = time.process_time()
    for _ in range(20):
        f(big, at, rows)
        big[0, 0].item()
    # To copy it takes 6 ms and more.
    assert time.process_time() - began < 0.06
    assert (big[:, 0] != 0).sum().item() == (16 if jitted else 32)


@pytest.mark.parametrize("jitted", [False, True])
def test_a_write_at_an_index_that_is_not_there_writes_nothing(jitted):
    b = mg.arange(12.0).reshape(6, 2)

    def write(b, i):
        b[i] = 9.0

    f = mg.jit(write) if jitted else write
    good = mg.tensor([0, 3, 3])
    for _ in range(4):
        f(b, good)
    b.copy_(mg.arange(12.0).reshape(6, 2))
    for bad in ([1, 6, 2], [-7, 0, 0]):
        with pytest.raises(IndexError):
            f(b, mg.tensor(bad))
            b.tolist()
        # Known only when it is computed.
        with pytest.raises(IndexError):
            f(b, mg.tensor(bad) + 0)
            b.tolist()
        assert b.tolist() == mg.arange(12.0).reshape(6, 2).tolist()
    f(b, good)
    assert b[:, 0].tolist() == [9, 2, 4, 9, 8, 10]


def test_bytes_are_a_mask():
    """As in PyTorch, and as there with a warning: NumPy takes them for positions."""
    x = mg.arange(3)
    mask = mg.tensor([1, 0, 7], dtype=mg.uint8)
    with pytest.warns(UserWarning, match="an index of uint8 is a mask"):
        assert x[mask].tolist() == [0, 2]
    with pytest.warns(UserWarning, match="an index of uint8 is a mask"):
        assert x[mask.numpy()].tolist() == [0, 2]
    with pytest.warns(UserWarning, match="an index of uint8 is a mask"):
        assert mg.arange(6).reshape(2, 3)[:, mask].tolist() == [[0, 2], [3, 5]]
    assert x[mg.tensor([1, 0, 1], dtype=mg.int8)].tolist() == [1, 0, 1]
    assert x[mg.tensor(0, dtype=mg.uint8)].shape == (0, 3)
    with pytest.warns(UserWarning, match="an index of uint8 is a mask"):
        x[mg.tensor([0, 1, 0], dtype=mg.uint8)] = 9
    assert x.tolist() == [0, 9, 2]
    with pytest.warns(UserWarning, match="an index of uint8 is a mask"):
        x[numpy.array([1, 1, 0], dtype=numpy.uint8)] += 1
    assert x.tolist() == [1, 10, 2]
    assert x.index_put((mask,), mg.tensor(5)).tolist() == [5, 10, 5]
    assert x.index_put((mask,), mg.tensor([5, 6]), accumulate=True).tolist() == [6, 10, 8]
    assert mg.where(mask, x, -x).tolist() == x.where(mask, -x).tolist() == [1, -10, 2]
    assert mg.where(mask)[0].tolist() == [0, 2]
    with pytest.raises(IndexError, match="a mask of shape"), pytest.warns(UserWarning):
        x[mg.tensor([1, 0], dtype=mg.uint8)]


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (1, 1), (4, 3), (3, 5)])
@pytest.mark.parametrize("offset", [-(2**63), -4, -1, 0, 1, 2, 9, 2**63 - 1])
def test_positions_of_triangles(rows, columns, offset):
    all_of = [(i, j) for i in range(rows) for j in range(columns)]
    for found, kept in [
        (mg.tril_indices(rows, columns, offset), lambda i, j: j - i <= offset),
        (mg.triu_indices(rows, columns, offset), lambda i, j: j - i >= offset),
    ]:
        want = [at for at in all_of if kept(*at)]
        assert found.tolist() == [[i for i, _ in want], [j for _, j in want]]


def test_truth_values_pick_as_arrays_of_them_do():
    array = numpy.arange(6.0).reshape(2, 3)
    for index in [True, False, (True, True), (True, False), (slice(None), True, True), (None, True, slice(None), True), (..., True)]:
        assert numpy.array_equal(mg.tensor(array)[index].numpy(), array[index]), index
    x = mg.arange(3.0)
    y = x[True]
    y.add_(10)
    x[True] = 5.0
    assert x.tolist() == [5, 5, 5] and y.tolist() == [[10, 11, 12]]


# Truth values without axes beside tensors are indices as they are.
@pytest.mark.parametrize("wrap", [lambda step: step, mg.jit])
def test_truth_values_beside_indices(wrap):
    x = mg.arange(6).reshape(2, 3)
    for index, wanted in (
        ((True, [0, 1]), [[0, 1, 2], [3, 4, 5]]),
        ((True, [-1, 1], mg.tensor(-3)), [3, 3]),
        ((True, ..., mg.tensor([-1])), [[2, 5]]),
        ((slice(None), True, [0, 1]), [[0, 1], [3, 4]]),
        ((True, slice(None), [0, 1]), [[0, 3], [1, 4]]),
        ((None, True, [0, 1]), [[[0, 1, 2], [3, 4, 5]]]),
        ((mg.tensor([0, 1]), None, True), [[[0, 1, 2]], [[3, 4, 5]]]),
        ((True,), [[[0, 1, 2], [3, 4, 5]]]),
        ((True, 0), [[0, 1, 2]]),
    ):
        step = wrap(lambda x, index=index: x[index])
        for _ in range(3):
            assert step(x).tolist() == wanted
    assert x[False, None, mg.tensor([0])].shape == (0, 1, 3)
    with pytest.raises(IndexError):
        x[False, [0, 1]].tolist()


def test_what_truth_values_beside_indices_pick_is_written_to():
    x = mg.arange(6).reshape(2, 3)
    x[True, [0, 1], [1, 1]] = 9
    assert x.tolist() == [[0, 9, 2], [3, 9, 5]]
    x[False, [0], [1]] = 7
    assert x.tolist() == [[0, 9, 2], [3, 9, 5]]
    x = mg.arange(6.0).reshape(2, 3).requires_grad_()
    x[True, [0, 1], [1, 1]].sum().backward()
    assert x.grad.tolist() == [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]


def test_truth_values_without_axes_as_indices():
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    put = x.index_put((mg.tensor(True),), mg.tensor(5.0), accumulate=True)
    assert put.tolist() == [6, 7, 8]
    assert x.index_put((mg.tensor(False),), mg.tensor(5.0)).tolist() == [1, 2, 3]
    put.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    for dtype in (mg.bfloat16, mg.int16):
        t = mg.tensor(1).to(dtype)
        assert t.index_put((mg.tensor(True),), mg.tensor(4).to(dtype)).item() == 4


def test_floats_that_are_written_into_integers_are_not_rounded_before():
    x, mask, at = mg.zeros(2, dtype=mg.int64), mg.tensor([True, False]), mg.tensor([0])
    assert x.masked_fill(mask, 16777217.0).tolist() == [16777217, 0]
    assert x.index_fill(0, at, 2.0**53 - 1).tolist() == [2**53 - 1, 0] and x.scatter(0, at, 2147483649.0)[0].item() == 2147483649
    x[mask] = -16777217.75
    assert x.tolist() == [-16777217, 0]
    x[at] = 16777219.0
    assert x.tolist() == [16777219, 0]


LISTS = [
    [[0, 1], [1, 2]],
    [slice(0, 2), 1],
    [..., 1],
    [None, 1],
    [0, [1, 2]],
    [(0, 1), range(2)],
    [mg.tensor([0, 1]), mg.tensor([1, 2])],
    [mg.tensor(1), 2],
    [numpy.array([0, 1]), 1],
    [[0, 1]],
    [[]],
    [True, [1, 2]],
    [[[0, 1], [1, 2]]],
]


@pytest.mark.parametrize("index", LISTS, ids=str)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_list_with_more_than_numbers_in_it_is_a_tuple(index, compiled):
    def read(m):
        with pytest.warns(UserWarning, match="read as a tuple"):
            return m[index]

    def written(m):
        m = m.clone()
        with pytest.warns(UserWarning, match="read as a tuple"):
            m[index] = -1.0
        return m

    m = mg.arange(16.0).reshape(4, 4)
    expected = m.clone()
    expected[tuple(index)] = -1.0
    assert (mg.jit(read) if compiled else read)(m).tolist() == m[tuple(index)].tolist()
    assert (mg.jit(written) if compiled else written)(m).tolist() == expected.tolist()


@pytest.mark.parametrize("index", [[0, 1], [True, False, True, False], [], [0] * 40, [[0, 1]] * 32, [[0]] * 40, range(2), numpy.array([[0, 1], [1, 2]])], ids=str)
def test_a_list_of_numbers_and_a_long_one_are_one_index(index, recwarn):
    m = mg.arange(16.0).reshape(4, 4)
    whole = mg.tensor(index) if len(index) else mg.zeros(0, dtype=mg.int64)
    assert m[index].tolist() == m[whole].tolist() and not recwarn


def test_bytes_of_numpy_are_a_mask():
    x = mg.arange(3.0)
    mask = numpy.array([1, 0, 1], dtype=numpy.uint8)
    with pytest.warns(UserWarning, match="an index of uint8 is a mask"):
        assert x[mask].tolist() == x[mg.tensor(mask)].tolist() == [0, 2]
    with pytest.warns(UserWarning, match="an index of uint8 is a mask"):
        x[mask] = 5
    assert x.tolist() == [5, 1, 5] and x[numpy.array([1, 0, 1], dtype=numpy.int8)].tolist() == [1, 5, 1]


def test_a_second_ellipsis_at_the_end_is_nothing():
    x = mg.arange(6).reshape(2, 3)
    assert x[..., ...].tolist() == x.tolist() and x[..., 0, ...].tolist() == [0, 3] and x[0, ..., ...].tolist() == [0, 1, 2]
    assert x[..., None, ...].shape == (2, 3, 1)
    with pytest.raises(IndexError):
        x[..., ..., 0]


def test_floats_in_a_list_are_positions():
    x = mg.arange(6).reshape(2, 3)
    assert x[[1.0]].tolist() == [[3, 4, 5]] and x[[0, 1.9]].tolist() == x.tolist()
    for wrong in (1.0, mg.tensor([1.0]), numpy.array([1.0])):
        with pytest.raises((IndexError, TypeError)):
            x[wrong]
