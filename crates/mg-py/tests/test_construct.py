"""Tensors from everything that they can be made of."""

from __future__ import annotations

import array
import math

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor

T = mg.tensor


def test_numbers():
    assert Tensor(3).shape == () and Tensor(3).item() == 3.0 and Tensor(3).dtype == "f32"
    assert mg.tensor(3).dtype == mg.int64 and mg.tensor(3.0).dtype == mg.float32 and mg.tensor(True).dtype == mg.bool
    assert mg.tensor(2**62).item() == 2**62
    assert Tensor(2**70).item() == 2.0**70
    assert math.isnan(Tensor(float("nan")).item())


def test_numbers_of_numpy():
    np = pytest.importorskip("numpy")
    assert T([np.float64(1)]).dtype == mg.float64
    with pytest.raises(TypeError):
        T(np.datetime64("2020-01-01"))


@pytest.mark.parametrize(
    "data",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [(1.0, 2), [3, 4.0]],
        (row for row in [[1, 2], [3, 4]]),
        [range(1, 3), range(3, 5)],
        [(i for i in (1, 2)), iter([3, 4])],
        [{1: 0, 2: 0}.keys(), [3, 4]],
        [mg.tensor([1, 2]), mg.tensor([3.0, 4.0])],
        [Tensor([1, 2]), [3, 4]],
        [[mg.tensor(1), 2], [3, mg.tensor(4.0)]],
        [array.array("f", [1, 2]), array.array("i", [3, 4])],
        [b"\x01\x02", bytearray(b"\x03\x04")],
    ],
    ids=lambda d: type(d).__name__,
)
def test_nested(data):
    t = Tensor(data)
    assert t.tolist() == [[1.0, 2.0], [3.0, 4.0]] and t.dtype == mg.float32


def test_tensors_of_one_element_in_sequences_are_numbers():
    assert mg.tensor([mg.tensor([1]), mg.tensor([2])]).tolist() == [1, 2]
    assert mg.tensor([mg.ones(1, 1), 2.0]).tolist() == [1.0, 2.0]
    assert mg.tensor([[mg.tensor(1)], [mg.tensor([2])]]).tolist() == [[1], [2]]
    assert mg.as_tensor((mg.tensor([True]), mg.tensor([2]))).tolist() == [1, 2]
    assert mg.tensor([mg.ones(2), mg.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert mg.tensor(mg.ones(1)).shape == (1,)


def test_dtype_is_found():
    assert mg.tensor([1, 2]).dtype == mg.int64
    assert mg.tensor([1, 2.5]).dtype == mg.float32
    assert mg.tensor([True, False]).dtype == mg.bool
    assert mg.tensor([True, 2]).tolist() == [1, 2]
    assert mg.tensor([True, 2.5]).tolist() == [1.0, 2.5]
    assert mg.tensor([]).dtype == mg.float32 and mg.tensor([]).shape == (0,)
    assert mg.tensor([[], []]).shape == (2, 0)
    assert mg.tensor([16777217, 1.0], dtype="f64").tolist() == [16777217.0, 1.0]


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"])
def test_dtype_is_taken(dtype):
    t = Tensor([[0, 1]], dtype=dtype)
    assert t.dtype == dtype and t.tolist() == [[0, 1]] and t.requires_grad == t.is_floating_point()
    assert mg.zeros(2, dtype=dtype).dtype == dtype
    assert mg.tensor([1], dtype=getattr(mg, t.dtype.name)).dtype == dtype


def test_python_types_are_dtypes():
    assert mg.zeros(1, dtype=float).dtype == mg.float64
    assert mg.zeros(1, dtype=int).dtype == mg.int64
    assert mg.zeros(1, dtype=bool).dtype == mg.bool


def test_shape_argument():
    assert Tensor(range(6), (2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert Tensor([1, 2, 3], shape=[3, 1]).shape == (3, 1)
    x = Tensor([1, 2, 3, 4], (2, 2))
    assert x.is_leaf and x.requires_grad
    with pytest.raises(ValueError, match="4"):
        Tensor([1, 2, 3, 4], (3, 2))


def test_gradients_are_kept_as_asked():
    assert Tensor([1.0]).requires_grad
    assert not Tensor([1.0], requires_grad=False).requires_grad
    assert not mg.tensor([1.0]).requires_grad
    assert mg.tensor([1.0], requires_grad=True).requires_grad
    assert mg.randn(2, requires_grad=True).requires_grad
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        mg.tensor([1], requires_grad=True)


def test_data_is_copied():
    numpy = pytest.importorskip("numpy")
    a = numpy.zeros(3, dtype=numpy.float32)
    t = mg.tensor(a)
    a[0] = 1
    assert t.tolist() == [0, 0, 0]
    source = mg.zeros(2)
    copy = mg.tensor(source)
    source[0] = 1
    assert copy.tolist() == [0, 0]


def test_factories():
    assert mg.zeros(2, 3).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert mg.ones((2,)).tolist() == [1, 1]
    assert mg.ones([2]).tolist() == [1, 1]
    assert mg.zeros(size=(1, 2)).shape == (1, 2)
    assert mg.zeros(()).shape == ()
    assert mg.zeros(0).shape == (0,)
    assert mg.full((2,), 7).tolist() == [7, 7] and mg.full((2,), 7).dtype == mg.int64
    assert mg.full((2,), 0.5).dtype == mg.float32
    assert mg.eye(2).tolist() == [[1, 0], [0, 1]]
    assert mg.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert mg.arange(4).tolist() == [0, 1, 2, 3] and mg.arange(4).dtype == mg.int64
    assert mg.arange(1, 4).tolist() == [1, 2, 3]
    assert mg.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert mg.arange(3, 3).tolist() == []
    close(mg.arange(0, 1, 0.25), [0, 0.25, 0.5, 0.75])
    assert mg.arange(0, 1, 0.25).dtype == mg.float32
    close(mg.linspace(0, 1, 5), [0, 0.25, 0.5, 0.75, 1])
    assert mg.linspace(2, 3, 1).tolist() == [2] and mg.linspace(2, 3, 0).tolist() == []
    assert mg.linspace(0.1, 0.7, 1000).tolist()[-1] == mg.tensor(0.7).item()
    assert mg.zeros_like(mg.ones(2, dtype="i32")).dtype == mg.int32
    assert mg.full_like(mg.ones(2), 3.0).tolist() == [3, 3]
    assert mg.one_hot(mg.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert mg.one_hot(mg.tensor([0, 1]), 4).shape == (2, 4)
    for like in (mg.ones_like, mg.empty_like, mg.rand_like, mg.randn_like):
        assert like(mg.zeros(2, 3)).shape == (2, 3)


def test_new_tensors_without_a_size_are_empty():
    x = mg.ones(2, 3, dtype=mg.int8)
    assert x.new().shape == (0,) and x.new().dtype == mg.int8
    assert x.new(2, 3).shape == x.new(x.shape).shape == (2, 3)
    assert x.new([2, 3]).tolist() == [2, 3]
    for wrong in (True, 2.5):
        with pytest.raises(TypeError):
            x.new(wrong)


@pytest.mark.parametrize(("start", "end"), [(1.0, 0.0), (0.0, -1.0), (0.0, -0.5), (3.0, 0.0)])
@pytest.mark.parametrize("steps", [2, 3, 7])
def test_the_ends_of_a_line_have_the_sign_that_they_were_given(start, end, steps):
    line = mg.linspace(start, end, steps)
    assert (line[0].item(), line[-1].item()) == (start, end)
    assert not line.tolist() or all(math.copysign(1.0, v) == 1.0 for v in line.tolist() if v == 0.0)


@pytest.mark.parametrize("call", ["mg.eye(-1)", "mg.eye(2, -1)", "mg.linspace(0, 1, -1)", "mg.nn.Linear(-1, 2)"])
def test_a_negative_count_is_a_wrong_value(call):
    with pytest.raises(ValueError, match="negative"):
        eval(call)


def test_random_numbers():
    mg.manual_seed(1)
    a = [mg.rand(1000).tolist(), mg.randn(1000).tolist(), mg.randint(3, 9, (1000,)).tolist()]
    mg.manual_seed(1)
    b = [mg.rand(1000).tolist(), mg.randn(1000).tolist(), mg.randint(3, 9, (1000,)).tolist()]
    assert a == b
    assert all(0 <= v < 1 for v in a[0])
    assert abs(sum(a[1]) / 1000) < 0.15 and 0.8 < sum(v * v for v in a[1]) / 1000 < 1.2
    assert set(a[2]) == {3, 4, 5, 6, 7, 8}
    assert mg.randint(5, (3,)).dtype == mg.int64
    mg.manual_seed(2)
    assert mg.rand(1000).tolist() != a[0]


def test_joining():
    a, b = mg.tensor([[1, 2]]), mg.tensor([[3, 4]])
    assert mg.cat([a, b]).tolist() == [[1, 2], [3, 4]]
    assert mg.cat([a, b], dim=1).tolist() == [[1, 2, 3, 4]]
    assert mg.cat((a, b), axis=-1).tolist() == [[1, 2, 3, 4]]
    assert mg.stack([a, b]).shape == (2, 1, 2)
    assert mg.concat([a, b.float()]).dtype == mg.float32
    with pytest.raises(ValueError, match="cat"):
        mg.cat([a, mg.zeros(2, 3)], 0)
    with pytest.raises(ValueError):
        mg.cat([])


def test_as_tensor():
    t = mg.zeros(2)
    assert mg.as_tensor(t) is t
    assert mg.as_tensor(t, dtype="f64").dtype == mg.float64
    assert mg.asarray([1.0]).tolist() == [1.0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([[1, 2], [3], [4, 5, 6]], [r"[1] has length 1", "[0] has length 2"]),
        ([[1, 2], [3, 4, 5]], ["[1] has length 3", "[0] has length 2"]),
        ([1, [2]], ["[1] is a sequence of length 1", "[0] is a number"]),
        ([[1], 2], ["[1] is a number", "[0] has length 1"]),
        ([[[1, 2], [3, 4]], [[5, 6], [7]]], ["[1][1] has length 1", "[1][0] has length 2"]),
        ([[[1], [2]], [[3]]], ["[1] has length 1", "[0] has length 2"]),
        ([mg.zeros(2), mg.zeros(3)], ["[1] has length 3", "[0] has length 2"]),
        ([[], [1]], ["[1] has length 1", "[0] has length 0"]),
    ],
)
def test_ragged(data, words):
    for make in (Tensor, mg.tensor):
        with pytest.raises(ValueError, match="ragged") as caught:
            make(data)
        for part in words:
            assert part in str(caught.value)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ("abc", "str"),
        (["a"], "str"),
        (None, "NoneType"),
        ([1, None], "NoneType"),
        (object(), "object"),
        ([object()], "object"),
        (1j, "complex"),
        ([1, 2j], "complex"),
        ({1: 2}, "dict"),
        ({1, 2}, "set"),
        (len, "builtin_function_or_method"),
        (int, "type"),
    ],
    ids=str,
)
def test_what_is_no_number(data, kind):
    with pytest.raises(TypeError, match=kind):
        Tensor(data)


def test_the_place_of_what_is_no_number():
    with pytest.raises(TypeError, match=r"str at \[1\]\[0\]"):
        Tensor([[1, 2], ["x", 3]])


def test_numbers_that_do_not_fit():
    with pytest.raises(ValueError, match=r"256 at \[1\] does not fit uint8"):
        mg.tensor([1, 256], dtype="u8")
    with pytest.raises(ValueError, match="does not fit int32"):
        mg.tensor(2**31, dtype="i32")
    with pytest.raises(ValueError, match="does not fit int64"):
        mg.tensor([2**63])
    with pytest.raises(ValueError, match="too large for a float"):
        Tensor([10**400])
    with pytest.raises(ValueError, match="does not fit int64"):
        mg.tensor(float("nan"), dtype="i64")


def test_depth():
    deep = 1.0
    for _ in range(17):
        deep = [deep]
    with pytest.raises(ValueError, match="deeper than 16"):
        Tensor(deep)
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="deeper than 16"):
        Tensor(endless)
    assert Tensor(deep[0]).ndim == 16


def test_a_list_that_changes_while_it_is_read():
    class Trap:
        def __init__(self, victim):
            self.victim = victim

        def __float__(self):
            self.victim.clear()
            return 1.0

    victim = [1.0, 2.0, 3.0]
    victim[1] = Trap(victim)
    with pytest.raises(IndexError):
        Tensor(victim)


def test_errors_of_user_code_come_through():
    class Broken:
        def __iter__(self):
            raise KeyError("mine")

    class Half:
        def __iter__(self):
            yield 1
            raise ZeroDivisionError("mine")

    with pytest.raises((KeyError, TypeError)):
        Tensor(Broken())
    with pytest.raises(ZeroDivisionError, match="mine"):
        Tensor(Half())


def test_recursion_in_user_code():
    class Own:
        def __array__(self, *args, **kwargs):
            return self

    class Asking:
        def __array__(self, *args, **kwargs):
            return mg.tensor(self)

    for endless in (Own(), Asking(), [Asking()]):
        with pytest.raises(RecursionError):
            Tensor(endless)


def test_wrong_names():
    with pytest.raises(TypeError, match="f99"):
        Tensor([1], dtype="f99")
    with pytest.raises(TypeError, match="complex"):
        Tensor([1], dtype=complex)
    with pytest.raises(ValueError, match="gpu"):
        Tensor([1], device="gpu")
    with pytest.raises(TypeError, match="3.5"):
        Tensor([1], device=3.5)
    with pytest.raises(TypeError):
        Tensor([1], nonsense=1)


def test_wrong_shapes():
    with pytest.raises(ValueError, match="negative"):
        mg.zeros(-1)
    with pytest.raises(ValueError, match="16"):
        mg.zeros(*[1] * 17)
    with pytest.raises(TypeError):
        mg.zeros(2.5)
    with pytest.raises((ValueError, MemoryError, OverflowError)):
        mg.zeros(2**62, 2**62)
    with pytest.raises((MemoryError, ValueError)):
        mg.zeros(2**50).realize()
    with pytest.raises(ValueError, match="step"):
        mg.arange(0, 5, 0)
    with pytest.raises(ValueError, match="finite"):
        mg.arange(0.0, math.inf)
    with pytest.raises(ValueError):
        mg.randint(5, 5, (2,))


def test_items_that_have_a_dtype():
    numpy = pytest.importorskip("numpy")
    for data, dtype in (
        ([numpy.float64(0.1)], "f64"),
        ([0.1, numpy.float64(0.1)], "f64"),
        ([numpy.float64(0.1), 0.1], "f64"),
        ([[0.1], [numpy.float64(0.1)]], "f64"),
        ((0.1, numpy.float64(0.1)), "f64"),
        ([1, numpy.float64(0.1)], "f64"),
        ([0.1, numpy.array(0.1)], "f64"),
        ([mg.tensor(0.1, dtype="f64"), 0.1], "f64"),
        ([numpy.float32(0.1), 0.1], "f32"),
        ([numpy.float16(0.1), 0.1], "f32"),
        ([numpy.float16(0.5)], "f16"),
        ([numpy.float16(0.5), 2], "f16"),
        ([numpy.int32(1)], "i32"),
        ([numpy.int32(1), 2], "i64"),
        ([numpy.uint8(1), numpy.int32(2)], "i32"),
        ([numpy.bool_(True)], "bool"),
        ([numpy.ones(2), numpy.ones(2)], "f64"),
        ([numpy.ones(2, numpy.float32)], "f32"),
        ([mg.tensor(1.0, dtype="bf16")], "bf16"),
    ):
        t = mg.tensor(data)
        assert t.dtype == dtype, data
        if dtype == "f64":
            assert {0.1, 1.0} >= set(t.flatten().tolist()) and t.flatten()[-1].item() in (0.1, 1.0), data
    # Nothing is read twice, and nothing loses digits.
    mixed = mg.tensor([0.1, (x for x in [numpy.float64(0.1)])][::-1][0])
    assert mixed.dtype == mg.float64 and mixed.tolist() == [0.1]
    late = mg.tensor([[0.1], (x for x in [0.2]), [numpy.float64(0.3)]])
    assert late.dtype == mg.float64 and late.tolist() == [[0.1], [0.2], [0.3]]
    assert mg.tensor([numpy.float64(0.1)], dtype="f32").dtype == mg.float32


def test_dates_are_no_numbers():
    numpy = pytest.importorskip("numpy")
    day = numpy.datetime64("2020-01-01")
    for data in (day, [day], numpy.timedelta64(1, "D"), [[numpy.timedelta64(1, "D")]]):
        with pytest.raises(TypeError, match="dates"):
            mg.tensor(data)


def test_full_like_is_exact():
    big = 2**53 + 1
    assert mg.full_like(mg.zeros(2, dtype="i64"), big).tolist() == [big, big]
    assert mg.full_like(mg.zeros(2), 0.5).tolist() == [0.5, 0.5] and mg.full_like(mg.zeros(1, dtype="i64"), 2.7).tolist() == [2]
    assert mg.full_like(mg.zeros(1), 1, dtype="bool").tolist() == [True]
    for bad, dtype in ((300, "u8"), (float("nan"), "i64"), (2**40, "i32")):
        with pytest.raises(ValueError, match="fit"):
            mg.full_like(mg.zeros(1, dtype=dtype), bad)


def test_joining_meets_dtypes():
    one, half = mg.tensor([1]), mg.tensor([0.5])
    assert mg.stack([one, half]).tolist() == [[1.0], [0.5]] and mg.stack([one, half]).dtype == mg.float32
    assert mg.cat([half, mg.tensor([1.0], dtype="f64")]).dtype == mg.float64
    nothing, row = mg.zeros(0, dtype="f64"), mg.ones(1, 2)
    assert mg.cat([nothing, row]).tolist() == [[1, 1]] and mg.cat([nothing, row]).dtype == mg.float64
    assert mg.cat([row, nothing, row], 1).shape == (1, 4) and mg.cat([nothing, nothing]).shape == (0,)
    x = mg.Tensor([[1.0, 2.0]])
    mg.cat([mg.zeros(0), x]).sum().backward()
    assert x.grad.tolist() == [[1, 1]]
    for dims in ((0, 0), (0, -2)):
        with pytest.raises(ValueError, match="twice"):
            mg.ones(2, 3).flip(*dims)


def test_full_takes_the_kind_of_a_number_and_not_its_width():
    np = pytest.importorskip("numpy")
    floats = [np.log(0.5), np.float32(1.5), np.float16(1.5), np.bool_(True), 1.5, mg.tensor(1.5, dtype=mg.float64)]
    for value in floats:
        filled = mg.full((3,), value)
        assert filled.dtype == mg.float32 and filled.tolist() == pytest.approx([float(value)] * 3)
    for value in (np.int8(2), np.int32(2), np.int64(2), np.uint8(2), 2, mg.tensor(2, dtype=mg.int32)):
        assert mg.full((3,), value).dtype == mg.int64 and mg.full((3,), value).tolist() == [2, 2, 2]
    assert mg.full((3,), True).dtype == mg.full((3,), mg.tensor(True)).dtype == mg.bool
    assert mg.full((3,), np.float32(1.5), dtype=mg.float64).dtype == mg.float64


def test_stack_tells_of_the_shapes_that_it_was_given():
    with pytest.raises(ValueError, match=r"stack: takes tensors of one shape, got \[2\] and \[3\]"):
        mg.stack([mg.ones(2), mg.ones(3)])
    with pytest.raises(ValueError, match=r"got \[2\] and \[2, 1\]"):
        mg.stack([mg.ones(2), mg.ones(2, 1)], dim=1)


MADE = {
    "zeros": lambda **k: mg.zeros(2, **k),
    "ones": lambda **k: mg.ones(2, **k),
    "empty": lambda **k: mg.empty(2, **k),
    "full": lambda **k: mg.full((2,), 1.0, **k),
    "eye": lambda **k: mg.eye(2, **k),
    "arange": lambda **k: mg.arange(2.0, **k),
    "range": lambda **k: mg.range(0, 2, **k),
    "linspace": lambda **k: mg.linspace(0, 1, 2, **k),
    "logspace": lambda **k: mg.logspace(0, 1, 2, **k),
    "rand": lambda **k: mg.rand(2, **k),
    "randn": lambda **k: mg.randn(2, **k),
    "normal": lambda **k: mg.normal(0.0, 1.0, (2,), **k),
    "randint": lambda **k: mg.randint(3, (2,), dtype=mg.float32, **k),
    "randperm": lambda **k: mg.randperm(2, dtype=mg.float32, **k),
}


@pytest.mark.parametrize("name", MADE)
def test_what_factories_take_beside(name):
    made = MADE[name](out=None, requires_grad=True, layout=mg.strided, pin_memory=False, device="cpu")
    assert made.requires_grad and made.is_leaf and made.layout is mg.strided
    assert not MADE[name](out=None).requires_grad
    with pytest.raises(TypeError, match=rf"{name}\(\) takes out=None: .*copy_"):
        MADE[name](out=mg.zeros(2))
    with pytest.raises(TypeError, match=r"micrograd_rs\.sparse_coo: there are no sparse tensors here; micrograd_rs\.strided"):
        MADE[name](layout=mg.sparse_coo)
    with pytest.raises(TypeError):
        MADE[name](layout="dense")


def test_choices_take_no_place_for_their_results():
    t = mg.tensor([0.0, 2.0])
    assert mg.where(t > 0, t, -1.0, out=None).tolist() == [-1, 2] and mg.nonzero(t, out=None).tolist() == [[1]]
    for name, call in (("where", lambda out: mg.where(t > 0, t, t, out=out)), ("nonzero", lambda out: mg.nonzero(t, out=out))):
        with pytest.raises(TypeError, match=rf"{name}\(\) takes out=None"):
            call(mg.zeros(2))


def test_a_bytearray_is_a_sequence_of_integers():
    assert mg.tensor(bytearray(b"abc")).dtype == mg.tensor([bytearray(b"abc")]).dtype == mg.int64
    assert mg.tensor(bytearray(b"abc"), dtype=mg.uint8).tolist() == [97, 98, 99]
