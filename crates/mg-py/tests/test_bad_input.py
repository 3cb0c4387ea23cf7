"""All that can be handed in wrong, each in a Python of its own: an exception of the right kind, and never a crash."""

from __future__ import annotations

import concurrent.futures
import os

import micrograd_rs as mg
import pytest
from conftest import run, without_cuda

# A name, what is done, and the exception it must end in; without one it must succeed.
CASES = {
    "ragged": ("mg.Tensor([[1, 2], [3], [4, 5, 6]])", "ValueError"),
    "ragged deep": ("mg.tensor([[[1], [2]], [[3], 4]])", "ValueError"),
    "ragged arrays": ("mg.tensor([np.ones(2), np.ones(3)])", "ValueError"),
    "string": ("mg.Tensor('abc')", "TypeError"),
    "string of digits": ("mg.Tensor('12')", "TypeError"),
    "strings": ("mg.Tensor(['1', '2'])", "TypeError"),
    "none": ("mg.Tensor(None)", "TypeError"),
    "nones": ("mg.Tensor([1, None])", "TypeError"),
    "object": ("mg.Tensor(object())", "TypeError"),
    "class": ("mg.Tensor(int)", "TypeError"),
    "module": ("mg.Tensor(mg)", "TypeError"),
    "complex": ("mg.Tensor(1j)", "TypeError"),
    "complex list": ("mg.Tensor([1, 2j])", "TypeError"),
    "complex array": ("mg.Tensor(np.ones(2, complex))", "TypeError"),
    "dict": ("mg.Tensor({'a': 1})", "TypeError"),
    "set": ("mg.Tensor({1, 2})", "TypeError"),
    "nan": ("assert np.isnan(mg.Tensor([float('nan')]).item())", None),
    "nan as index": ("mg.ones(2)[float('nan')]", "IndexError"),
    "nan to integer": ("assert mg.tensor([float('nan')]).to('i64').item() == 0", None),
    "nan into an integer": ("mg.tensor([float('nan')], dtype='i64')", "ValueError"),
    "huge integer": ("assert mg.Tensor([2**70]).item() == 2.0**70", None),
    "huge integer as i64": ("mg.tensor([2**70])", "ValueError"),
    "huger integer": ("mg.Tensor([10**400])", "ValueError"),
    "huge shape": ("mg.zeros(2**63)", ("OverflowError", "ValueError", "MemoryError")),
    "huge shape computed": ("mg.zeros(2**40, 2**10).realize()", ("MemoryError", "ValueError")),
    "huge product of sizes": ("mg.zeros(2**32, 2**32, 2**32)", ("ValueError", "MemoryError")),
    "huge expansion": ("(mg.ones(1).expand(2**50) + mg.rand(1)).realize()", ("MemoryError", "ValueError")),
    "huge index": ("mg.ones(2)[2**70]", "IndexError"),
    "huge axis": ("mg.ones(2).sum(2**70)", ("OverflowError", "IndexError", "ValueError")),
    "huge arange": ("mg.arange(2**62)", ("ValueError", "MemoryError")),
    "huge repeat": ("mg.ones(2).repeat(2**40, 2**40)", ("ValueError", "MemoryError")),
    "huge one_hot": ("mg.one_hot(mg.tensor([2**62]))", ("ValueError", "MemoryError")),
    "huge perceptron": ("mg.MLP(2**31, [2**31])", ("MemoryError", "ValueError")),
    "big endian": ("assert mg.tensor(np.arange(3, dtype='>f4')).tolist() == [0, 1, 2]", None),
    "big endian in an operator": ("assert (mg.ones(3) + np.arange(3, dtype='>f4')).tolist() == [1, 2, 3]", None),
    "big endian shared": ("assert mg.from_numpy(np.arange(3, dtype='>i4')).tolist() == [0, 1, 2]", None),
    "read-only array": ("a = np.ones(2); a.flags.writeable = False; assert mg.tensor(a).sum().item() == 2", None),
    "read-only array shared": ("a = np.ones(2); a.flags.writeable = False; t = mg.from_numpy(a); t += 1; assert a[0] == 1", None),
    "object array": ("mg.tensor(np.array([object()]))", "TypeError"),
    "string array": ("mg.tensor(np.array(['a']))", "TypeError"),
    "structured array": ("mg.tensor(np.zeros(2, dtype=[('a', 'f4')]))", "TypeError"),
    "seventeen axes": ("mg.tensor(np.zeros([1] * 17))", "ValueError"),
    "seventeen axes of lists": ("mg.tensor([[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]])", "ValueError"),
    "nothing": ("assert mg.zeros(0).sum().item() == 0; assert mg.tensor([[], []]).shape == (2, 0)", None),
    "nothing multiplied": ("assert (mg.zeros(2, 0) @ mg.zeros(0, 3)).tolist() == [[0, 0, 0]] * 2", None),
    "largest of nothing": ("mg.zeros(0).max().item()", "ValueError"),
    "largest of no rows": ("mg.zeros(0, 3).max(0)", "ValueError"),
    "nothing concatenated": ("mg.cat([])", "ValueError"),
    "nothing stacked": ("mg.stack([])", "ValueError"),
    "item of nothing": ("mg.zeros(0).item()", "ValueError"),
    "item of many": ("mg.zeros(2).item()", "ValueError"),
    "truth of many": ("bool(mg.zeros(2))", "ValueError"),
    "negative size": ("mg.zeros(-1)", "ValueError"),
    "fractional size": ("mg.zeros(1.5)", "TypeError"),
    "unknown dtype": ("mg.zeros(2, dtype='f99')", "TypeError"),
    "dtype that is none": ("mg.zeros(2, dtype=object())", "TypeError"),
    "complex dtype": ("mg.zeros(2, dtype=np.complex64)", "TypeError"),
    "number as dtype": ("mg.zeros(2, dtype=5)", "TypeError"),
    "unknown device": ("mg.zeros(2, device='gpu')", "ValueError"),
    "truth value as device": ("mg.zeros(2, device=True)", "TypeError"),
    "number of no device": ("mg.zeros(2, device=99)", "RuntimeError"),
    "no such device": ("mg.zeros(2, device='cuda:99')", "RuntimeError"),
    "no such device of a tensor": ("mg.zeros(2).to('cuda:99')", "RuntimeError"),
    "no such device of a value": ("mg.Value(1).to('cuda:99')", "RuntimeError"),
    "shapes that do not fit": ("mg.ones(2, 2) + mg.ones(3)", "ValueError"),
    "matrices that do not fit": ("mg.ones(2, 2) @ mg.ones(3, 3)", "ValueError"),
    "matrix of nothing": ("mg.ones(2) @ mg.tensor(1.0)", ("ValueError", "IndexError")),
    "reshape": ("mg.ones(4).reshape(3)", "ValueError"),
    "reshape of unknowns": ("mg.ones(4).reshape(-1, -1)", "ValueError"),
    "reshape of nothing": ("mg.zeros(0).reshape(-1, 0)", "ValueError"),
    "permutation": ("mg.ones(2, 2).permute(0, 0)", "ValueError"),
    "step of 0": ("mg.ones(3)[::0]", "ValueError"),
    "index": ("mg.ones(3)[3]", "IndexError"),
    "late index": ("mg.ones(3)[mg.tensor([1]) + 2].realize()", "IndexError"),
    "late label": ("mg.functional.cross_entropy(mg.ones(1, 3), mg.tensor([1]) + 2).item()", "IndexError"),
    "late embedding": ("mg.functional.embedding(mg.tensor([1]) + 9, mg.ones(3, 2)).realize()", "IndexError"),
    "late gather": ("mg.ones(3).gather(0, mg.tensor([2]) * 2).realize()", "IndexError"),
    "late scatter": ("mg.ones(3).scatter_add(0, mg.tensor([2]) * 2, mg.ones(1)).realize()", "IndexError"),
    "float as index": ("mg.ones(3)[mg.tensor([1.0])]", "TypeError"),
    "mask of another shape": ("mg.ones(3)[mg.tensor([True])]", "IndexError"),
    "integer division by zero": ("(mg.tensor([1]).sum() * 1)[()]; mg.tensor([1]) .__itruediv__(0)", "TypeError"),
    "backward of many": ("mg.Tensor([1, 2]).backward()", "RuntimeError"),
    "backward of a constant": ("mg.ones(1).sum().backward()", ("RuntimeError", "ValueError")),
    "backward twice": ("y = mg.Tensor(1.0) * 2; y.backward(); y.backward()", "RuntimeError"),
    "leaf in place": ("x = mg.Tensor([1.0]); x += 1", "RuntimeError"),
    "gradient of another shape": ("x = mg.Tensor([1.0]); x.grad = mg.ones(2)", "ValueError"),
    "seed that is none": ("mg.Tensor([1.0]).backward('x')", "TypeError"),
    "array that is itself": ("class A:\n def __array__(self, *a, **k): return self\nmg.Tensor(A())", "RecursionError"),
    "array that asks": ("class A:\n def __array__(self, *a, **k): return mg.tensor(self)\nmg.Tensor(A())", "RecursionError"),
    "array in lists": ("class A:\n def __array__(self, *a, **k): return mg.tensor([self])\nmg.Tensor([A()])", "RecursionError"),
    "array of ever new": ("class A:\n def __array__(self, *a, **k): return A()\nmg.Tensor(A())", "RecursionError"),
    "array that raises": ("class A:\n def __array__(self, *a, **k): raise KeyError\nmg.Tensor(A())", "KeyError"),
    "array that is none": ("class A:\n def __array__(self, *a, **k): return None\nmg.Tensor(A())", "TypeError"),
    "sequence that is itself": ("a = []; a.append(a); mg.Tensor(a)", "ValueError"),
    "sequence that yields itself": ("class A:\n def __iter__(self): yield self\nmg.Tensor(A())", "ValueError"),
    "sequence that grows": ("a = [1.0]\nclass A:\n def __float__(self): a.extend([1.0] * 9); return 1.0\na.append(A()); mg.Tensor(a)", None),
    "sequence that shrinks": ("a = [1.0, 2.0, 3.0]\nclass A:\n def __float__(self): a.clear(); return 1.0\na[1] = A(); mg.Tensor(a)", "IndexError"),
    "float that raises": ("class A:\n def __float__(self): raise KeyError\nmg.Tensor([A()])", ("KeyError", "TypeError")),
    "index that raises": ("class A:\n def __index__(self): raise KeyError\nmg.ones(2)[A()]", "KeyError"),
    "buffer released": ("m = memoryview(b'ab'); m.release(); mg.tensor(m)", ("TypeError", "ValueError")),
    "capsule used twice": ("c = mg.ones(2).__dlpack__(); mg.from_dlpack(c); mg.from_dlpack(c)", "TypeError"),
    "capsule of another": ("import datetime; mg.from_dlpack(datetime.datetime_CAPI)", "TypeError"),
    "deleted item": ("t = mg.ones(2); del t[0]", "TypeError"),
    "wrong pickle": ("import pickle; b = pickle.dumps(mg.ones(2)); pickle.loads(b.replace(b'f32', b'f64'))", "ValueError"),
    "truncated file": ("p = __file__ + 'x'; open(p, 'wb').write(b'123'); mg.load_safetensors(p)", ("ValueError", "OSError")),
    "dropout": ("mg.ones(2).dropout(1.5)", "ValueError"),
    "learning rate": ("mg.optim.SGD([mg.Tensor([1.0])], lr=-1)", "ValueError"),
    "schedule": ("mg.optim.lr_scheduler.StepLR(mg.optim.SGD([mg.Tensor([1.0])]), 0)", "ValueError"),
    "layer of negative size": ("mg.nn.Linear(-1, 2)", ("ValueError", "OverflowError")),
    "layer of huge size": ("mg.nn.Linear(2**40, 2**40)", ("ValueError", "MemoryError")),
    "state of another model": ("mg.nn.Linear(1, 1).load_state_dict({})", "StateError"),
    "inputs of another length": ("mg.MLP(2, [1])([1.0])", "ValueError"),
    "value of a string": ("mg.Value('x')", "TypeError"),
    "value of a huge integer": ("mg.Value(10**400)", ("OverflowError", "ValueError")),
    "value divided by zero": ("assert (mg.Value(1) / 0).data == float('inf')", None),
    "value graph beyond recursion": ("v = mg.Value(1.0)\nfor _ in range(10**5): v = v + 1\nimport pickle, copy\nassert pickle.loads(pickle.dumps(v)).data == copy.deepcopy(v).data == 100001", None),
    "tensor graph beyond recursion": ("v = x = mg.Tensor(1.0)\nfor _ in range(10**5): v = v + x\nv.backward(); del v", None),
    "memory limit": ("mg.Device('cpu').set_memory_limit(10**6); mg.rand(10**6).realize()", "MemoryError"),
    "after a memory error": ("d = mg.Device('cpu'); d.set_memory_limit(10**6)\ntry: mg.rand(10**6).realize()\nexcept MemoryError: pass\nd.set_memory_limit(None); assert mg.rand(10**6).realize().numel() == 10**6", None),
    "subclass": ("class T(mg.Tensor): pass", "TypeError"),
    "jit of no function": ("mg.jit(5)", "TypeError"),
    "jit that raises": ("mg.jit(lambda x: 1 / 0)(mg.ones(1))", "ZeroDivisionError"),
    "jit that asks for values": ("f = mg.jit(lambda x: x * x.sum().item()); [f(mg.ones(2) * i) for i in range(9)]", "ValueError"),
    "threads sharing a tensor": (
        "import threading\nt = mg.rand(100, 100)\ndef f():\n for _ in range(50): (t @ t).sum().item(); t[0, 0] = 1.0\n"
        "all = [threading.Thread(target=f) for _ in range(8)]\nfor x in all: x.start()\nfor x in all: x.join()",
        None,
    ),
    "tensors at exit": ("import sys; sys.kept = [mg.rand(10), mg.Value(1.0), mg.from_numpy(np.ones(3)), mg.ones(3).numpy()]", None),
}

PROGRAM = """
import os, tempfile
import micrograd_rs as mg
if "np." in {code!r}:
    import numpy as np
__file__ = os.path.join(tempfile.mkdtemp(), "here")
try:
    exec({code!r}, globals())
except BaseException as error:
    print(*(kind.__name__ for kind in type(error).__mro__))
    print(str(error))
    raise SystemExit(3)
# What is left must be usable.
assert mg.ones(3).sum().item() == 3
print("well")
"""


@pytest.fixture(scope="module")
def ends():
    """How each case ended: they run beside each other."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = {name: pool.submit(run, PROGRAM.format(code=code)) for name, (code, _) in CASES.items()}
        return {name: job.result() for name, job in jobs.items()}


@pytest.mark.parametrize("name", CASES)
def test_case(ends, name):
    pytest.importorskip("numpy")
    done, wanted = ends[name], CASES[name][1]
    said = f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    if done.returncode == 0:
        assert None in wanted, said
        return
    assert done.returncode == 3, said
    kind, text = done.stdout.split("\n", 1)
    assert set(kind.split()) & set(wanted), said
    assert "internal error" not in text and "panick" not in done.stderr and text.strip() or kind.startswith("KeyError"), said


@without_cuda
def test_without_cuda_the_reason_is_given(ends):
    assert "driver" in ends["no such device"].stdout or "device" in ends["no such device"].stdout


def test_dates_are_no_numbers():
    numpy = pytest.importorskip("numpy")
    for time in (numpy.datetime64("2020-01-01"), numpy.timedelta64(3, "D")):
        for given in (time, numpy.array([time]), [time], [[time, time]]):
            for make in (mg.tensor, mg.Tensor, mg.as_tensor, lambda t: mg.ones(1) + t):
                with pytest.raises(TypeError):
                    make(given)
        with pytest.raises(TypeError, match="takes numbers.* got dates or times"):
            mg.tensor(time)


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_margins_of_nothing(mode):
    pad = mg.nn.functional.pad
    assert pad(mg.ones(0, 2, 3), (1, 1), mode=mode).shape == (0, 2, 5)
    for shape, widths in (((0, 0, 0), (0, 0)), ((2, 0, 3), (1, 1)), ((0, 2, 3), (1, 1, 1, 1)), ((2, 3, 0, 3), (1, 1, 0, 0))):
        with pytest.raises(ValueError, match=f"pad: takes elements in mode .{mode}., got shape"):
            pad(mg.ones(*shape), widths, mode=mode)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_margins_of_elements_are_of_all_axes_behind_one_or_two(mode):
    pad = mg.nn.functional.pad
    for axes, ranks in ((1, (2, 3)), (2, (3, 4)), (3, (4, 5))):
        for rank in range(axes, 7):
            x, widths = mg.ones(*[3] * rank), (1, 1) * axes
            if rank in ranks:
                assert pad(x, widths, mode=mode).shape == (*[3] * (rank - axes), *[5] * axes)
                continue
            with pytest.raises(RuntimeError, match=rf"pad: in mode .{mode}. takes margins of the last axis of 2 or 3, .*; got \[1, 1.*\] for \[3.*\]"):
                pad(x, widths, mode=mode)
            assert pad(x, widths).ndim == rank
