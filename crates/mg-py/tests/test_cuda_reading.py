"""What the host reads of tensors on a CUDA device, what it gives them, and when it is told of mistakes."""

from __future__ import annotations

import copy
import pickle

import micrograd_rs as mg
import pytest
from conftest import needs_cuda
from micrograd_rs import Tensor

pytestmark = needs_cuda


def test_reading():
    t = mg.tensor([[1.5, 2.0], [3.0, 4.0]], device="cuda")
    assert t[0, 0].item() == 1.5 and float(t[1, 1]) == 4 and f"{t[0, 0]:.2f}" == "1.50" and bool(t[0, 0])
    assert t.t().tolist() == [[1.5, 3], [2, 4]] and 4 in t and "<table>" in t._repr_html_()
    with pytest.raises(TypeError, match="cpu"):
        t.numpy()
    for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert other.is_cuda and other.tolist() == t.tolist()


def test_the_host_reads_copies_only():
    t = mg.arange(6, device="cuda").float().reshape(2, 3)
    numpy = pytest.importorskip("numpy")
    for read in (lambda: t.numpy(), lambda: numpy.asarray(t), lambda: numpy.array(t)):
        with pytest.raises(TypeError, match=r"t\.cpu\(\)\.numpy\(\)"):
            read()
    with pytest.raises(BufferError, match="t.cpu"):
        memoryview(t)
    assert t.cpu().numpy().tolist() == t.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert t.t().cpu().numpy().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_numpy_goes_in():
    numpy = pytest.importorskip("numpy")
    a = numpy.arange(12, dtype="float64").reshape(3, 4)[:, ::-2]
    for t in (mg.tensor(a, device="cuda"), mg.as_tensor(a, device="cuda"), mg.from_numpy(a).cuda(), Tensor(a, device="cuda")):
        assert t.is_cuda and t.tolist() == a.tolist()


def test_mistakes_of_indices_come_when_values_are_read():
    t = mg.arange(4, device="cuda")
    bad = t[mg.tensor([1, 9], device="cuda")]
    with pytest.raises(IndexError, match="index 9 is out of range for axis 0 of size 4"):
        bad.tolist()
    mg.cuda.synchronize()
    t.gather(0, mg.tensor([7], device="cuda")).realize()
    with pytest.raises(IndexError, match="index 7"):
        mg.cuda.synchronize()
    assert t.tolist() == [0, 1, 2, 3]
