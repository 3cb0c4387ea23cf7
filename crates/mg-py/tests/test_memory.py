"""Memory shared with others: NumPy, the buffer protocol, DLPack."""

from __future__ import annotations

import array
import ctypes
import gc
import sys

import micrograd_rs as mg
import pytest
from conftest import leaf, run
from micrograd_rs import Tensor

numpy = pytest.importorskip("numpy")

DTYPES = ["float64", "float32", "float16", "int64", "int32", "uint8", "bool"]
INTEGERS = [dtype.name for dtype in mg._micrograd_rs._DTYPES if dtype._kind.endswith("integer")]


def some(dtype, shape=(2, 3, 4)):
    return numpy.arange(24).reshape(shape).astype(dtype)


VIEWS = {
    "whole": lambda a: a,
    "transposed": lambda a: a.T,
    "slice": lambda a: a[1, :, 1:3],
    "reversed": lambda a: a[::-1, ::-1, ::-1],
    "step": lambda a: a[:, ::2, ::-2],
    "broadcast": lambda a: numpy.broadcast_to(a[:1], (3, 3, 4)),
    "empty": lambda a: a[:, :0],
    "number": lambda a: a[1, 2, 3],
    "fortran": lambda a: numpy.asfortranarray(a),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(dtype, view):
    a = VIEWS[view](some(dtype))
    t = mg.tensor(a)
    assert t.dtype == dtype and t.shape == numpy.shape(a) and t.tolist() == a.tolist()
    back = t.numpy()
    assert back.dtype == dtype and back.shape == numpy.shape(a) and back.tolist() == a.tolist()
    for reader in (mg.as_tensor, Tensor, mg.from_dlpack if isinstance(a, numpy.ndarray) else mg.tensor):
        assert reader(a).tolist() == a.astype("float32").tolist()


@pytest.mark.parametrize("view", [v for v in VIEWS if v != "number"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensor_views_go_out(dtype, view):
    a = some(dtype)
    t = mg.tensor(a)
    views = {
        "whole": t,
        "transposed": t.T,
        "slice": t[1, :, 1:3],
        "reversed": t[::-1, ::-1, ::-1],
        "step": t[:, ::2, ::-2],
        "broadcast": t[:1].expand(3, 3, 4),
        "empty": t[:, :0],
        "fortran": t.permute(2, 1, 0).contiguous().permute(2, 1, 0),
    }
    out = views[view].numpy()
    assert out.tolist() == VIEWS[view](a).tolist() and out.flags.writeable
    assert memoryview(views[view]).shape == out.shape and numpy.asarray(views[view]).tolist() == out.tolist()
    if dtype != "bool":
        assert numpy.from_dlpack(views[view]).tolist() == out.tolist()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_every_width(dtype):
    limits = numpy.iinfo(dtype)
    a = numpy.array([limits.min, 0, 1, limits.max], dtype=dtype)
    t = mg.tensor(a)
    assert t.dtype == dtype and t.tolist() == a.tolist() and t.numpy().dtype == a.dtype
    assert mg.tensor(a.tolist(), dtype=dtype).tolist() == a.tolist()
    assert mg.from_numpy(a).data_ptr() == a.ctypes.data and numpy.from_dlpack(t).tolist() == a.tolist()
    with numpy.errstate(over="ignore"):
        assert (t + t).tolist() == (a + a).tolist() and (t * t).tolist() == (a * a).tolist()
        assert (t >> 1).tolist() == (a >> 1).tolist() and (t.max().item(), t.min().item()) == (limits.max, limits.min)
    assert (t // 3).tolist() == (a // 3).tolist() and (t == t).all() and t.argmax().item() == 3
    with pytest.raises(ValueError, match="does not fit"):
        mg.tensor([limits.max + 1], dtype=dtype)


@pytest.mark.parametrize("dtype", [">f4", ">i8", ">u2", "<f8", ">f2"])
def test_either_byte_order(dtype):
    a = numpy.arange(6, dtype=dtype).reshape(2, 3)
    assert mg.tensor(a.T).tolist() == a.T.tolist() and mg.as_tensor(a).tolist() == a.tolist()


@pytest.mark.parametrize(
    ("make", "error", "word"),
    [
        (lambda: numpy.ones(2, dtype=complex), TypeError, "complex"),
        (lambda: numpy.array(["a"]), TypeError, "numbers"),
        (lambda: numpy.array([object()]), TypeError, "objects"),
        (lambda: numpy.zeros(2, dtype=[("a", "f4"), ("b", "i4")]), TypeError, "numbers"),
        (lambda: numpy.array(["2020-01-01"], dtype="datetime64[D]"), (TypeError, ValueError), "."),
        (lambda: numpy.zeros([1] * 17), ValueError, "16"),
        (lambda: numpy.ones(2, dtype=numpy.longdouble), TypeError, "numbers"),
        (lambda: memoryview(b"abc").cast("c")[:0], None, ""),
    ],
)
def test_unfit_arrays(make, error, word):
    for f in (mg.tensor, Tensor, lambda a: [mg.tensor([a, a])]):
        if error is None:
            f(make())
        else:
            with pytest.raises(error, match=word):
                f(make())


def test_out_without_a_copy():
    t = mg.rand(1000).realize()
    a = t.numpy()
    assert a.ctypes.data == t.data_ptr() and a.flags.writeable
    t += 1
    t[0] = 5
    assert a.tolist() == t.tolist() and a[0] == 5 and a.min() >= 1
    a[1] = 7
    doubled = t * 2
    a[1] = 8
    assert t[1].item() == 8 and doubled[1].item() == 14 and a.ctypes.data == t.data_ptr()
    for read in (numpy.asarray, memoryview, numpy.from_dlpack):
        b = read(t)
        b[2] = 9
        assert a[2] == t[2].item() == 9
        t[2] = 1
        assert b[2] == 1


def test_arrays_share_with_all_that_share():
    x = mg.arange(6.0)
    rows, turned, apart, copy = x.view(2, 3), x.view(2, 3).t(), x[1:4].detach(), x.clone()
    sum_of = x + 1
    for t in (rows, turned, apart, x):
        a = t.numpy()
        a[...] = 1
        x.fill_(0)
        turned[0, 1] = 5
        assert a.sum() == 5
        a[...] = 2
        assert t.tolist() == numpy.full(t.shape, 2).tolist()
        apart[2] = 3
        assert rows.tolist() == x.view(2, 3).tolist() and turned.tolist() == rows.t().tolist() and x[3].item() == 3
        assert apart.tolist() == x[1:4].tolist() and 3 in a
    assert copy.tolist() == [0, 1, 2, 3, 4, 5] and sum_of.tolist() == [1, 2, 3, 4, 5, 6]
    # With the last array the memory is as any other.
    del a
    gc.collect()
    later = x * 1
    x.fill_(8)
    apart[0] = 9
    assert later.tolist() == [2, 2, 2, 3, 2, 2] and x.tolist() == [8, 9, 8, 8, 8, 8] and turned[1, 0].item() == 9


def test_arrays_are_taken_as_they_are():
    numpy = pytest.importorskip("numpy")
    for take in (mg.as_tensor, mg.asarray, lambda a: mg.as_tensor(a, dtype=mg.float32, device="cpu")):
        a = numpy.zeros(3, dtype=numpy.float32)
        t = take(a)
        t[0] = 5
        a[2] = 7
        assert a.tolist() == [5, 0, 7] and t.tolist() == [5, 0, 7]
    # What is of another dtype, or may not be written, is copied.
    a = numpy.zeros(3)
    t = mg.as_tensor(a, dtype=mg.float32)
    a[0] = 1
    assert t.tolist() == [0, 0, 0]
    a.flags.writeable = False
    t = mg.as_tensor(a)
    t[1] = 9
    assert a.tolist() == [1, 0, 0]
    assert mg.as_tensor(numpy.float32(3)).item() == 3


def test_an_empty_write_to_a_view_of_a_leaf_leaves_memory_shared():
    np = pytest.importorskip("numpy")
    w = mg.tensor([[0.0], [0.0], [0.0]], requires_grad=True)
    seen = w.detach().numpy()
    with mg.no_grad():
        w[::2, 0:0] += 1.0
        w.fill_(2)
    np.testing.assert_array_equal(seen, [[2.0]] * 3)


def test_what_is_written_to_memory_that_an_array_sees_has_a_history():
    np = pytest.importorskip("numpy")
    w, t = leaf(3.0), mg.tensor([0.0, 1.0])
    array = t.numpy()
    t[0] = w
    total = (t * t).sum()
    assert mg.autograd.grad(total, t, retain_graph=True)[0].tolist() == [6.0, 2.0]
    assert mg.autograd.grad(total, w)[0].item() == 6.0
    assert isinstance(array, np.ndarray) and array.tolist() == [3.0, 1.0]


@pytest.mark.parametrize("how", [mg.optim.SGD, mg.optim.Adam])
def test_arrays_of_parameters(how):
    w = Tensor([1.0, 2.0])
    a = w.detach().numpy()
    opt = how([w], lr=1.0)
    for _ in range(3):
        opt.zero_grad()
        (w * w).sum().backward()
        opt.step()
        assert a.tolist() == w.tolist()
    a[:] = 3
    assert w.tolist() == [3, 3] and w.is_leaf and w.requires_grad
    (w * w).sum().backward()
    g = w.grad.numpy()
    before = g.copy()
    (w * 1).sum().backward()
    assert (g == before + 1).all()
    g[:] = 0
    assert w.grad.tolist() == [0, 0]
    # What requires a gradient is shown as it is, and not to be written.
    b = w.numpy()
    assert not b.flags.writeable and b.tolist() == [3, 3]
    with pytest.raises(TypeError, match="not writable"):
        (ctypes.c_char * 4).from_buffer(w)
    y = w * 2
    c = y.detach().numpy()
    c[:] = 4
    assert y.tolist() == [4, 4] and c.ctypes.data == y.data_ptr()


def test_arrays_of_what_a_graph_has_read():
    w, v, x = Tensor([1.0, 2.0]), Tensor([1.0, 1.0]), mg.tensor([3.0, 4.0])
    for read in (False, True):
        h = x * 2 * w
        loss = (h * v).sum()
        if read:
            loss.item()
        pending = x + 1
        a = x.numpy()
        a[:] = 0
        assert pending.tolist() == [4, 5] and loss.item() == 22 and x.tolist() == [0, 0]
        w.grad = v.grad = None
        loss.backward()
        assert v.grad.tolist() == [6, 16]
        a[:] = 3, 4
    # A batch is not copied, and all the data less so, since a graph has it.
    data = mg.rand(100, 8).realize()
    at = data.data_ptr()
    batch = data[10:20]
    loss = (batch.view(10, 8) @ Tensor(mg.rand(8, 4).tolist())).relu().sum()
    loss.item()
    assert batch.numpy().ctypes.data == at + 10 * 32 and data.data_ptr() == at


def test_arrays_and_replayed_steps():
    w, state = mg.tensor([1.0, 2.0]), mg.zeros(2)

    @mg.jit
    def step(x):
        state.add_(x)
        return (w * x).sum()

    one = mg.ones(2)
    for _ in range(4):
        assert step(one).item() == 3
    a, b = w.numpy(), state.numpy()
    for k in range(5):
        a[0] = k
        assert step(one).item() == k + 2 and b.tolist() == state.tolist() == [5 + k] * 2
    b[:] = 0
    c = one.numpy()
    c[:] = 2
    assert step(one).item() == 12 and state.tolist() == [2, 2] == b.tolist()
    del a, b, c
    gc.collect()
    for k in range(4):
        assert step(one).item() == 12 and state.tolist() == [4 + 2 * k] * 2


def test_exported_memory_is_not_used_again():
    exported = [(mg.full((4096,), float(i)) * 1).numpy() for i in range(50)]
    gc.collect()
    others = [(mg.full((4096,), -1.0) * 1).realize() for _ in range(50)]
    assert all((a == i).all() for i, a in enumerate(exported)) and len(others) == 50


def test_array_protocol():
    t = mg.tensor([1.0, 2.0])
    assert numpy.array(t).flags.writeable and numpy.asarray(t, dtype="int32").tolist() == [1, 2]
    assert numpy.array(t, copy=True).ctypes.data != t.data_ptr()
    assert numpy.mean(t.numpy()) == 1.5 and numpy.stack([t, t]).shape == (2, 2)
    with pytest.raises(ValueError, match="copy"):
        t.__array__("float64", copy=False)
    with pytest.raises(TypeError, match="bfloat16"):
        t.bfloat16().numpy()
    assert Tensor([1.0]).numpy().tolist() == [1]


def test_lazy_results_are_computed():
    assert (mg.ones(3) + 1).numpy().tolist() == [2, 2, 2]


def test_from_numpy_shares():
    a = numpy.zeros((2, 3), dtype=numpy.float32)
    t = mg.from_numpy(a)
    a[0, 1] = 5
    assert t.tolist() == [[0, 5, 0], [0, 0, 0]] and t.data_ptr() == a.ctypes.data
    doubled = t * 2
    a[0, 1] = 7
    assert doubled.tolist()[0][1] == 10 and (t * 2).tolist()[0][1] == 14
    turned = mg.from_numpy(a[::-1].T)
    a[1, 2] = 9
    assert turned.tolist() == a[::-1].T.tolist()
    del a
    gc.collect()
    assert t.tolist()[0][1] == 7
    with pytest.raises(TypeError, match="list"):
        mg.from_numpy([1])
    fixed = numpy.ones(2, dtype=numpy.float32)
    fixed.flags.writeable = False
    assert mg.from_numpy(fixed).tolist() == [1, 1]


def test_borrowed_memory_is_read_at_once():
    np = pytest.importorskip("numpy")
    buf, w = np.ones(2, np.float32), leaf([1.0, 1.0])
    for k in (1, 2):
        buf[:] = k
        (w * mg.from_numpy(buf)).sum().backward()
    assert w.grad.tolist() == [3, 3]
    for write in (lambda d, s: d.copy_(s), lambda d, s: d.__setitem__(slice(None), s), lambda d, s: d.add_(s)):
        target = mg.zeros(2)
        buf[:] = 2
        write(target, mg.from_numpy(buf))
        buf[:] = 100
        assert target.tolist() == [2, 2]
    mg.from_numpy(buf)[0] = 7
    assert buf.tolist() == [7, 100]


def test_writing_to_a_tensor_leaves_a_read_only_array_alone():
    fixed = numpy.ones(2, dtype=numpy.float32)
    fixed.flags.writeable = False
    t = mg.from_numpy(fixed)
    t[0] = 5
    t += 1
    assert fixed.tolist() == [1, 1] and t.tolist() == [6, 2]


def test_arrays_are_let_go():
    a = numpy.zeros(1000, dtype=numpy.float32)
    before = sys.getrefcount(a)
    t = mg.from_numpy(a)
    assert sys.getrefcount(a) > before
    del t
    gc.collect()
    mg.zeros(1).realize()
    assert sys.getrefcount(a) == before


def test_arrays_that_cannot_be_shared_are_copied():
    odd = numpy.frombuffer(b"\0" * 9, dtype=numpy.uint8)[1:].view(numpy.float32)
    assert mg.from_numpy(odd).tolist() == [0, 0]
    fields = numpy.zeros(3, dtype=[("a", "f4"), ("b", "i1")])["a"]
    assert mg.from_numpy(fields).tolist() == [0, 0, 0]


def test_the_buffer_protocol():
    assert mg.tensor(array.array("d", [1, 2])).dtype == mg.float64
    assert mg.tensor(b"\x01\x02").tolist() == [1, 2] and mg.tensor(bytearray(b"")).shape == (0,)
    assert mg.tensor(memoryview(array.array("i", range(6))).cast("B").cast("i", (2, 3))).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert mg.tensor((ctypes.c_float * 2)(1, 2)).tolist() == [1, 2]
    t = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    view = memoryview(t)
    assert not view.readonly and view.format == "f" and view.tolist() == t.tolist() and view.c_contiguous
    assert bytes(t[0]) == bytes(view[:1].cast("B"))[:8] if view.c_contiguous else True
    assert bytes(memoryview(t.t())) == bytes(memoryview(t.t().contiguous()))
    (ctypes.c_float * 1).from_buffer(t)[0] = 5
    assert t.tolist() == [[5, 2], [3, 4]] and view[0, 0] == 5
    assert memoryview(Tensor([1.0])).readonly
    with pytest.raises((BufferError, TypeError)):
        memoryview(t.bfloat16())


def test_dlpack():
    t = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert t.__dlpack_device__() == (1, 0)
    shared = mg.from_dlpack(t, copy=False)
    assert shared.data_ptr() == t.data_ptr() and mg.from_dlpack(t).data_ptr() != t.data_ptr()
    for capsule in (t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), t.__dlpack__(copy=True)):
        assert mg.from_dlpack(capsule).tolist() == t.tolist()
        with pytest.raises(TypeError, match="used"):
            mg.from_dlpack(capsule)
    del capsule
    t.__dlpack__()  # Nobody takes it.
    with pytest.raises(BufferError):
        t.__dlpack__(dl_device=(2, 0))
    for wrong in (5, object(), "x"):
        with pytest.raises((TypeError, AttributeError)):
            mg.from_dlpack(wrong)
    a = numpy.arange(4.0)
    borrowed = mg.from_dlpack(a, copy=False)
    a[0] = 9
    assert borrowed.tolist() == [9, 1, 2, 3] and mg.from_dlpack(a[::-1], copy=False).tolist() == [3, 2, 1, 9]
    assert mg.from_dlpack(mg.ones(2, dtype="bf16")).dtype == mg.bfloat16

    class Old:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self):
            return self.a.__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)

    assert mg.from_dlpack(Old(a)).tolist() == a.tolist() and mg.tensor(Old(a)).dtype == mg.float64

    class Wrong:
        def __dlpack__(self, **_):
            return 5

    with pytest.raises(TypeError, match="capsule"):
        mg.from_dlpack(Wrong())


def test_dlpack_outlives_its_tensor():
    a = numpy.from_dlpack(mg.full((1000,), 7.0) * 1)
    gc.collect()
    _ = [(mg.full((1000,), -1.0) * 1).realize() for _ in range(20)]
    assert (a == 7).all()


def test_lists_of_arrays():
    a = numpy.arange(3, dtype="float32")
    assert mg.tensor([a, a]).dtype == mg.float32 and mg.tensor([a, [1, 2, 3]]).shape == (2, 3)
    assert mg.tensor([numpy.float32(1), numpy.float32(2)]).tolist() == [1, 2]
    assert mg.tensor([numpy.int64(1), 2]).dtype == mg.int64
    big = numpy.array([2**53 + 1, 2**62 + 1])
    assert mg.tensor([big, big]).tolist() == [big.tolist()] * 2


def test_without_numpy(program):
    out = program("""
        import sys
        sys.modules["numpy"] = None
        import micrograd_rs as mg
        t = mg.tensor([1.0, 2.0])
        try:
            t.numpy()
        except ImportError as error:
            print(error)
        assert (t * 2 + [t][0]).tolist() == [3, 6]
        assert memoryview(t).tolist() == [1, 2]
    """)
    assert "pip install numpy" in out


def test_what_runs_backwards_is_exported_as_a_copy():
    """PyTorch takes no negative strides."""
    numpy = pytest.importorskip("numpy")
    x = mg.arange(6.0).reshape(2, 3)
    for view in (x[::-1], x[:, ::-1], x.t()[::-1, ::-1]):
        array = numpy.from_dlpack(view)
        assert array.tolist() == view.tolist() and min(array.strides) > 0
        with pytest.raises(BufferError, match="backwards"):
            view.__dlpack__(copy=False)
    assert min(numpy.from_dlpack(x.t()).strides) > 0 and numpy.from_dlpack(x.t()).tolist() == x.t().tolist()


def test_truth_values_of_others_are_0_and_1():
    numpy = pytest.importorskip("numpy")
    odd = numpy.array([0, 1, 2, 255], numpy.uint8).view(numpy.bool_)
    for given in (odd, odd[::-1], odd.reshape(2, 2).T):
        wanted = [bool(b) for b in given.view(numpy.uint8).flatten()]
        for made in (mg.from_dlpack(given), mg.from_numpy(given), mg.tensor(given), mg.as_tensor(given)):
            t = made.flatten()
            assert t.dtype == mg.bool and t.tolist() == wanted and t.nonzero().numel() == 3
            assert t.sum().item() == 3 and (t == True).tolist() == wanted and t.int().tolist() == [int(b) for b in wanted]  # noqa: E712
        with pytest.raises(ValueError, match="2 of the bytes"):
            mg.from_dlpack(given, copy=False)
    even = numpy.array([True, False, True])
    shared = mg.from_dlpack(even[::2], copy=False)
    assert shared.dtype == mg.bool and shared.tolist() == [True, True]
    even[0] = False
    assert shared.tolist() == [False, True]
    assert mg.from_dlpack(even[:0], copy=False).tolist() == [] == mg.from_dlpack(even[:0]).tolist()


@pytest.mark.parametrize("how", ["a write", "NumPy"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.softmax(1),
        lambda x: x.log_softmax(1),
        lambda x: x.frexp()[0],
        lambda x: x.logsumexp(1),
        lambda x: x.sigmoid(),
        lambda x: mg.special.ndtr(x),
        lambda x: x.nanmean(1),
        lambda x: mg.nn.functional.threshold(x, 0.0, 1.0),
    ],
)
def test_gradients_read_nothing_again_of_memory_that_numpy_shares(function, how):
    """As PyTorch, whose operations save what they need when they are called. (One that needs its operand itself is refused where that was written to.)"""

    def of(is_shared):
        x = mg.tensor([[0.5, -1.25], [2.0, 0.75]], requires_grad=True)
        array = x.detach().numpy() if is_shared else None
        y = function(x) * 2
        if how == "a write":
            with mg.no_grad():
                x.add_(-3.0)
        elif array is not None:
            array -= 3.0
        try:
            (y * y.detach()).sum().backward()
        except RuntimeError as error:
            assert "changed in place since" in str(error)
            return None
        return x.grad.tolist()

    alone, shared = of(False), of(True)
    assert shared == alone or shared is None


@pytest.mark.parametrize("back", ["mg.from_dlpack(a, copy=False)", "mg.from_numpy(a.numpy())"])
def test_memory_that_came_back_by_way_of_torch_is_let_go(back):
    pytest.importorskip("torch")
    done = run(f"""
        import gc, weakref
        import numpy as np
        import torch
        import micrograd_rs as mg

        class Array(np.ndarray):
            pass

        for _ in range(20):
            array = np.arange(4.0).view(Array)
            gone = weakref.ref(array)
            t = mg.from_numpy(array)
            a = torch.from_dlpack(t)
            u = {back}
            del t, a, array
            assert gone() is not None and u.tolist() == [0.0, 1.0, 2.0, 3.0]
            del u
            gc.collect()
            assert gone() is None
        """)
    assert done.returncode == 0, done.stderr


def test_a_deleter_is_called_without_the_lock_wherever_and_by_whomever():
    done = run("""
        import ctypes, gc, threading, weakref
        import numpy as np
        import micrograd_rs as mg

        class Array(np.ndarray):
            pass

        api, name = ctypes.pythonapi, b"used_dltensor"
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

        def taken():
            array = np.arange(4.0).view(Array)
            capsule = mg.from_numpy(array).__dlpack__()
            managed = api.PyCapsule_GetPointer(capsule, b"dltensor")
            api.PyCapsule_SetName(capsule, name)
            return weakref.ref(array), managed, ctypes.c_void_p.from_address(managed + 56).value

        def called(kind, to):
            gone, managed, deleter = taken()
            assert gone() is not None
            to(lambda: kind(None, ctypes.c_void_p)(deleter)(managed))
            gc.collect()
            assert gone() is None

        def by_thread(f):
            thread = threading.Thread(target=f)
            thread.start()
            thread.join()

        # Within a call of ours, a call of Python's, and of a thread.
        within = lambda f: mg.tensor(1.0 for _ in [f()])
        for _ in range(20):
            for kind in (ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE):
                for to in (within, lambda f: f(), by_thread, lambda f: by_thread(lambda: within(f))):
                    called(kind, to)
        # What is left until the end.
        left = mg.from_numpy(np.arange(4.0)), taken(), mg.from_numpy(np.arange(4.0)).__dlpack__()
        """)
    assert done.returncode == 0, done.stderr


def test_places_that_elements_of_an_array_share_are_not_written_by_way_of_all_of_them():
    base = numpy.arange(3.0)
    x = mg.from_numpy(numpy.lib.stride_tricks.as_strided(base, (2, 3), (0, 8)))
    for write in (lambda: x.add_(1), lambda: x[:, :2].zero_(), lambda: x.detach().mul_(2), lambda: x.__setitem__((slice(None), 0), 1.0)):
        with pytest.raises(ValueError, match="broadcast view"):
            write()
    assert base.tolist() == [0.0, 1.0, 2.0]
    x[0].add_(1)
    assert base.tolist() == [1.0, 2.0, 3.0] and x.tolist() == [[1.0, 2.0, 3.0]] * 2
