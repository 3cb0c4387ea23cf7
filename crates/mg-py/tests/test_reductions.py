"""Reductions over any axes, against NumPy, with their gradients' shapes; and over segments."""

from __future__ import annotations

import itertools
import math
import pickle

import micrograd_rs as mg
import pytest
from conftest import close, leaf
from micrograd_rs import Tensor

numpy = pytest.importorskip("numpy")

SHAPE = (2, 3, 4)
AXES = [None, *range(-3, 3), *itertools.combinations(range(3), 2), (0, 1, 2), (-1, 0)]
INF = math.inf


@pytest.fixture
def array():
    return numpy.random.default_rng(0).standard_normal(SHAPE).astype(numpy.float32)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "amin", "var", "std", "any", "all"])
def test_axes(array, name, axis, keep):
    wanted = getattr(numpy, name)(array, axis=axis, keepdims=keep, **({"ddof": 1} if name in ("var", "std") else {}))
    x = Tensor(array)
    got = getattr(x, name)(axis, keepdim=keep) if name not in ("var", "std") else getattr(x, name)(dim=axis, keepdim=keep)
    assert got.shape == wanted.shape
    close(got, wanted, rtol=1e-4)
    close(getattr(x, name)(axis=axis, keepdims=keep), wanted, rtol=1e-4)
    if name in ("any", "all"):
        assert got.dtype == mg.bool
        return
    got.sum().backward()
    assert x.grad.shape == SHAPE


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(array, name, axis, keep):
    wanted = getattr(numpy, name)(array, axis=axis, keepdims=keep)
    got = getattr(mg.tensor(array), name)(axis, keepdim=keep)
    assert got.dtype == mg.int64 and got.shape == wanted.shape and got.tolist() == wanted.tolist()


def test_extremes_are_pairs_along_a_dim(array):
    t = mg.tensor(array)
    found = t.max(1)
    assert found.values.tolist() == array.max(1).tolist() and found.indices.tolist() == array.argmax(1).tolist()
    values, indices = t.min(dim=-1, keepdim=True)
    assert values.shape == (2, 3, 1) and indices.tolist() == array.argmin(-1, keepdims=True).tolist()
    assert t.max().item() == array.max() and t.min(axis=0).indices.tolist() == array.argmin(0).tolist()
    values, indices = t.max(axis=1, keepdims=True)
    assert values.shape == (2, 1, 4) and indices.tolist() == array.argmax(1, keepdims=True).tolist()
    # NumPy's own function has no indices.
    assert numpy.max(t, axis=0).tolist() == array.max(0).tolist() and t.min(dim=(0, 1)).tolist() == array.min((0, 1)).tolist()
    assert t.max(t * 0).tolist() == numpy.maximum(array, 0).tolist()
    assert "values=" in repr(found)


def test_first_of_equals():
    t = mg.tensor([1.0, 3.0, 3.0, 1.0])
    assert t.argmax().item() == 1 and t.argmin().item() == 0


def test_integers_and_truth():
    assert mg.tensor([200, 100], dtype="u8").sum().item() == 300
    assert mg.tensor([True, True]).sum().item() == 2
    assert mg.tensor([1, 2]).mean().item() == 1.5
    assert mg.tensor([1, 2]).sum(dtype="f64").dtype == mg.float64


@pytest.mark.parametrize("axes", [(), []])
def test_no_axes_are_none_where_truth_is_asked_for(axes):
    x = mg.tensor([[0.0, 2.0], [math.nan, -1.0]])
    for f in (mg.any, mg.all, mg.Tensor.any, mg.Tensor.all):
        found = f(x, dim=axes)
        assert found.dtype == mg.bool and found.tolist() == [[False, True], [True, True]]
        assert f(x, dim=axes, keepdim=True).shape == (2, 2) and f(x).shape == f(x, dim=None).shape == ()
        assert f(mg.tensor([0, 7], dtype=mg.uint8), dim=axes).tolist() == [0, 1]
        assert f(mg.tensor([0, 7], dtype=mg.uint8), dim=axes).dtype == mg.uint8
    # Sums take no axes for all of them, as PyTorch's do.
    assert x[0].sum(dim=axes).item() == 2


def test_nothing_to_reduce():
    empty = mg.zeros(0, 3)
    assert empty.sum().item() == 0 and empty.prod().item() == 1 and empty.sum(0).tolist() == [0, 0, 0]
    assert empty.sum(1).tolist() == [] and empty.any().item() is False and empty.all().item() is True
    close(empty.mean(), float("nan"))
    for name in ("max", "min", "argmax", "argmin", "amax"):
        with pytest.raises(ValueError):
            getattr(empty, name)().tolist()


NOTHING = mg.zeros(0, 3)


EMPTY = ["max", "min", "amax", "amin", "argmax", "argmin", "median", "nanmedian", "mode"]


@pytest.mark.parametrize("name", EMPTY)
def test_the_largest_of_nothing_is_an_index_error(name):
    with pytest.raises(IndexError, match=f"^{name}: ") as told:
        getattr(mg, name)(NOTHING, 0)
    # NumPy's is a ValueError, PyTorch's of all elements a RuntimeError.
    assert isinstance(told.value, mg.EmptyError) and isinstance(told.value, (ValueError, RuntimeError))
    assert isinstance(pickle.loads(pickle.dumps(told.value)), mg.EmptyError)
    answer = getattr(mg, name)(NOTHING, 1)
    assert (answer if isinstance(answer, mg.Tensor) else answer[0]).shape == (0,)


def test_the_median_of_nothing_has_a_history():
    for f in (mg.median, mg.nanmedian):
        x = mg.zeros(0, requires_grad=True)
        answer = f(x)
        assert answer.requires_grad and math.isnan(answer.item())
        answer.backward()
        assert x.grad.shape == (0,)


def test_norms(array):
    t, flat = mg.tensor(array), array.ravel().astype(float)
    close(t.norm(), float(numpy.linalg.norm(flat)))
    close(t.norm(1), float(abs(flat).sum()), rtol=1e-5)
    close(t.norm(float("inf")), float(abs(flat).max()))
    close(t.norm(3, dim=0), (abs(array.astype(float)) ** 3).sum(0) ** (1 / 3), rtol=1e-4)
    close(mg.linalg.norm(t), float(numpy.linalg.norm(flat)))
    close(t.norm(-1), 1 / float((1 / abs(flat)).sum()), rtol=1e-4)
    close(t.norm(-float("inf")), float(abs(flat).min()))
    assert mg.tensor([1.0, 0.0, 2.0]).norm(0).item() == 2
    with pytest.raises(ValueError, match="NaN"):
        t.norm(float("nan"))


def test_logsumexp(array):
    t = mg.tensor(array)
    close(t.logsumexp(1), numpy.log(numpy.exp(array).sum(1)), rtol=1e-5)
    close((t * 0 + 1e4).logsumexp(0), numpy.full((3, 4), 1e4 + numpy.log(2)))
    assert mg.zeros(0, 3).logsumexp(0).tolist() == [-float("inf")] * 3
    assert mg.zeros(0, 3).logsumexp(1).tolist() == [] and mg.zeros(0).logsumexp(0, keepdim=True).shape == (1,)


def test_corrections(array):
    t = mg.tensor(array)
    close(t.var(correction=0), float(array.var()), rtol=1e-4)
    close(t.std(unbiased=False), float(array.std()), rtol=1e-4)
    # A correction that leaves nothing to divide by.
    assert t.var(ddof=2, axis=0).tolist() == numpy.full((3, 4), numpy.inf).tolist()
    assert mg.tensor([1.0, 2.0]).var(correction=5).item() == float("inf")
    assert mg.ones(3).var(correction=3).isnan().item() and mg.ones(1).std().isnan().item()


def test_no_axes_have_the_axis_0():
    t = mg.tensor(2.0)
    for name in ("sum", "mean", "prod", "amax", "amin", "logsumexp", "any", "all", "argmax", "argmin", "softmax", "squeeze"):
        for dim in (0, -1):
            wanted = {"any": True, "all": True, "argmax": 0, "argmin": 0, "softmax": 1.0}.get(name, 2.0)
            assert getattr(t, name)(dim).shape == () and getattr(t, name)(dim).item() == wanted, name
        with pytest.raises(IndexError):
            getattr(t, name)(1)
    assert t.max(0).values.item() == 2 and t.min(-1).indices.item() == 0
    with pytest.raises(ValueError, match="twice"):
        t.sum((0, -1))


def test_means_are_divisions():
    assert all(mg.ones(n).mean().item() == 1 for n in range(1, 300))


def test_means_are_divided():
    assert all(mg.ones(n).mean().item() == 1 for n in range(1, 400))


def test_max_along_an_axis_has_one_gradient():
    for f, at, wanted in ((mg.max, [1.0, 3.0, 3.0], [0, 1, 0]), (mg.min, [1.0, 0.0, 0.0], [0, 1, 0])):
        x = mg.Tensor(at)
        values, indices = f(x, 0)
        values.backward()
        assert x.grad.tolist() == wanted and indices.item() == 1
    x = mg.Tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]])
    x.amax(1).sum().backward()
    assert x.grad.tolist() == [[0, 0.5, 0.5], [0.5, 0.5, 0]]
    x = mg.Tensor([0.0, 0.0])
    x.norm().backward()
    assert x.grad.tolist() == [0, 0]


@pytest.mark.parametrize("values", [[INF, INF, 1.0], [math.nan, 2.0, math.nan], [-INF, -INF, 1.0], [-0.0, -0.0], [3.0, 1.0, 3.0, 3.0, 7.0, 7.0]])
@pytest.mark.parametrize("name", ["max", "min", "median"])
def test_what_is_found_among_equals_shares_its_gradient(name, values):
    x = leaf(values)
    found = getattr(x, name)()
    found.backward()
    share = [v == found.item() or (math.isnan(v) and math.isnan(found.item())) for v in values]
    assert x.grad.tolist() == pytest.approx([s / sum(share) for s in share])
    assert math.isnan(found.item()) or math.copysign(1.0, found.item()) == math.copysign(1.0, values[share.index(True)])


@pytest.mark.parametrize("axis", [3, -4, (0, 5)])
def test_axes_that_are_not_there(axis):
    with pytest.raises(IndexError, match="axis|axes"):
        mg.zeros(*SHAPE).sum(axis)


def test_wrong_arguments():
    t = mg.zeros(*SHAPE)
    with pytest.raises(ValueError, match="twice|more than once|repeated"):
        t.sum((0, 0))
    with pytest.raises(TypeError, match="one of them"):
        t.sum(0, axis=1)
    with pytest.raises(TypeError, match="an integer, not tuple"):
        t.argmax((0, 1))
    with pytest.raises(TypeError):
        t.sum("x")
    with pytest.raises(TypeError):
        t.sum(0.5)


def test_nothing_has_no_norm_of_a_negative_order():
    for norm in (lambda x: mg.linalg.norm(x, -1), lambda x: mg.linalg.vector_norm(x, -0.5), lambda x: x.norm(-2), lambda x: mg.dist(x, x, -1)):
        with pytest.raises(ValueError, match="the norm of order -.* of no elements, in shape"):
            norm(mg.ones(0))
    assert mg.linalg.norm(mg.ones(2, 0), -1, dim=0).shape == (0,) and mg.linalg.norm(mg.ones(0), 0.5).item() == 0


# Segments.


DATA = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]


@pytest.mark.parametrize(
    ("reduce", "initial", "first", "empty", "last"),
    [
        ("sum", None, [5.0, 7.0, 9.0], 0.0, [17.0, 19.0, 21.0]),
        ("sum", 2.0, [7.0, 9.0, 11.0], 2.0, [19.0, 21.0, 23.0]),
        ("mean", None, [2.5, 3.5, 4.5], math.nan, [8.5, 9.5, 10.5]),
        ("mean", 2.0, [3.5, 4.5, 5.5], 2.0, [9.5, 10.5, 11.5]),
        ("max", None, [4.0, 5.0, 6.0], -math.inf, [10.0, 11.0, 12.0]),
        ("max", 2.0, [4.0, 5.0, 6.0], 2.0, [10.0, 11.0, 12.0]),
        ("min", None, [1.0, 2.0, 3.0], math.inf, [7.0, 8.0, 9.0]),
        ("min", 2.0, [1.0, 2.0, 2.0], 2.0, [2.0, 2.0, 2.0]),
        ("prod", None, [4.0, 10.0, 18.0], 1.0, [70.0, 88.0, 108.0]),
        ("prod", 2.0, [8.0, 20.0, 36.0], 2.0, [140.0, 176.0, 216.0]),
    ],
)
def test_segments(device, reduce, initial, first, empty, last):
    data, lengths = mg.tensor(DATA, device=device), mg.tensor([2, 0, 2], device=device)
    close(mg.segment_reduce(data, reduce, lengths=lengths, initial=initial), [first, [empty] * 3, last])
    close(mg.segment_reduce(data, reduce, offsets=mg.tensor([0, 2, 2, 4], device=device), initial=initial), [first, [empty] * 3, last])


def test_segments_of_rows_and_their_gradients(device):
    data = mg.tensor(DATA, device=device, requires_grad=True)
    lengths = mg.tensor([[1, 2], [3, 0], [0, 3], [2, 1]], device=device)
    answer = mg.segment_reduce(data, "sum", lengths=lengths, axis=1)
    assert answer.tolist() == [[1.0, 5.0], [15.0, 0.0], [0.0, 24.0], [21.0, 12.0]]
    answer.square().sum().backward()
    assert data.grad.tolist() == [[2.0, 10.0, 10.0], [30.0] * 3, [48.0] * 3, [42.0, 42.0, 24.0]]


def test_segments_that_do_not_fit():
    data = mg.tensor(DATA)
    for wrong, kind, text in (
        (dict(reduce="sum", lengths=mg.tensor([2, 1])), ValueError, "do not add up to 4, the size of axis 0"),
        (dict(reduce="sum"), ValueError, "takes lengths or offsets"),
        (dict(reduce="median", lengths=mg.tensor([4])), ValueError, "reduce is one of sum, mean, prod, max, min, got 'median'"),
        (dict(reduce="sum", lengths=mg.tensor([3]), axis=1), ValueError, r"takes lengths \[4, n\] for axis 1"),
    ):
        with pytest.raises(kind, match=text):
            mg.segment_reduce(data, **wrong)
    with pytest.raises(TypeError, match="floating-point data"):
        mg.segment_reduce(mg.arange(4), "sum", lengths=mg.tensor([4]))


def test_the_axis_of_a_largest_element_as_a_tensor():
    x = mg.arange(6).reshape(2, 3)
    one = mg.tensor(1)
    for answer in (mg.max(x, dim=one), x.max(dim=one), x.max(one, keepdim=False), mg.max(x, one, False), mg.max(input=x, dim=one)):
        assert answer.values.tolist() == [2, 5] and answer.indices.tolist() == [2, 2]
    assert mg.min(x, one, True).values.tolist() == x.min(dim=one, keepdim=True).values.tolist() == [[0], [3]]
    # Alone by position it is another tensor.
    assert mg.max(x, one).tolist() == x.max(one).tolist() == mg.max(x, other=one).tolist() == [[1, 1, 2], [3, 4, 5]]
    for wrong in (lambda: x.max(1, dim=1), lambda: x.max(1, True, keepdim=True), lambda: x.max(1, True, 2), lambda: x.max(1, other=x), lambda: x.max(other=1)):
        with pytest.raises(TypeError):
            wrong()
    assert repr(x.max(1)) == "max(values=tensor([2, 5]), indices=tensor([2, 2]))" and repr(x.min(1)).startswith("min(values=")
    assert pickle.loads(pickle.dumps(x.max(1))).indices.tolist() == [2, 2]


def test_deviations_are_of_floats():
    for f in (mg.std, mg.var, mg.std_mean, mg.var_mean):
        with pytest.raises(TypeError, match="takes floats, got int64"):
            f(mg.arange(3))


def test_dtypes_of_sums_of_nothing():
    for dtype in (mg.int32, mg.bool, mg.uint8):
        assert mg.ones((), dtype=dtype).sum_to_size(()).dtype == mg.int64
        assert mg.ones(2, dtype=dtype).sum_to_size(2).dtype == dtype and mg.ones(2, dtype=dtype).sum_to_size(1).dtype == mg.int64
    for weights in (None, mg.zeros(0), mg.zeros(0, dtype=mg.float64)):
        counts = mg.bincount(mg.zeros(0, dtype=mg.int64), weights=weights, minlength=2)
        assert counts.dtype == mg.int64 and counts.tolist() == [0, 0]
    assert mg.trapezoid(mg.ones(2), mg.tensor(1.0, dtype=mg.float64)).dtype == mg.float64
    assert mg.trapezoid(mg.ones(2), mg.tensor(1.0)).item() == 0
    with pytest.raises(ValueError, match="1 points for 3 values"):
        mg.trapezoid(mg.ones(3), mg.tensor(1.0))


def test_slopes_are_quotients():
    x = mg.tensor([[1.0, 2, 4, 8], [10, 20, 40, 80]])
    down, along = mg.gradient(x, spacing=3.0)
    assert down.tolist() == [[3, 6, 12, 24]] * 2 and along[0].tolist() == (mg.tensor([1.0, 1.5, 3, 4]) / 3).tolist()
    with pytest.raises(ValueError, match="1 distances for 2 axes"):
        mg.gradient(mg.ones(3, 3), spacing=[0.1], dim=(1, 0))


def test_a_norm_without_an_order():
    x = mg.tensor([[3.0, 4.0]])
    assert mg.norm(x, p=None).item() == x.norm(p=None, keepdim=False).item() == 5 and mg.norm(x, None, 0).tolist() == [3, 4]


def test_a_norm_beyond_all_numbers_has_a_slope():
    x = leaf([3e38, 3e38])
    mg.linalg.vector_norm(x).backward()
    assert x.grad.tolist() == [0, 0]
