"""Strides, offsets and addresses of tensors: PyTorch 2.15's, whoever has read a tensor and wherever its elements are by now."""

from __future__ import annotations

import copy
import ctypes
import io
import pickle

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs import nn


def turned():
    """Of a memory that nobody else has."""
    return mg.arange(6.0).reshape(2, 3).t().detach()


def cut():
    return mg.arange(6.0).reshape(2, 3)[:, 1:].detach()


def of_parameter():
    p = nn.Parameter(mg.arange(6.0).reshape(2, 3))
    p.data = p.data.t()
    return p


def of_memory():
    return mg.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3).T)


MADE = {"turned": (turned, (1, 3), 0), "cut": (cut, (3, 1), 1), "data": (of_parameter, (1, 3), 0), "array": (of_memory, (1, 3), 0)}
LOOKS = [lambda t: None, lambda t: t.tolist(), lambda t: (t + 1).sum().item(), lambda t: t[0].sum().item(), lambda t: repr(t)]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", MADE)
def test_what_is_read_lies_as_before(name, look):
    make, stride, offset = MADE[name]
    t = make()
    want = make().tolist()
    for _ in range(2):
        assert t.stride() == stride and t.storage_offset() == offset and not t.is_contiguous()
        assert t.t().stride() == stride[::-1] and t[1:].stride() == stride and t[1:].storage_offset() == offset + stride[0]
        look(t)
    # So these are copies, in memory of their own.
    for f in (lambda t: t.contiguous(), lambda t: t.reshape(-1), lambda t: t.ravel(), lambda t: t.flatten()):
        with mg.no_grad():
            f(t.detach()).zero_()
        assert t.tolist() == want
    with pytest.raises(RuntimeError):
        t.view(-1)


@pytest.mark.parametrize("look", LOOKS)
def test_what_is_made_of_it_lies_so(look):
    t = turned()
    look(t)
    row = t[1]
    look(row)
    assert row.stride() == (3,) and row.storage_offset() == 1 and not row.is_contiguous()
    assert row.detach().stride() == (3,) and t.detach().stride() == (1, 3)
    assert copy.deepcopy(t).stride() == (1, 3) and copy.copy(t).stride() == (1, 3)
    both = copy.deepcopy([t, row])
    both[1].zero_()
    assert both[0].tolist() == [[0, 3], [0, 0], [2, 5]] and [x.stride() for x in both] == [(1, 3), (3,)]
    # A view of it is written to as before.
    row.fill_(7)
    assert t.tolist() == [[0, 3], [7, 7], [2, 5]] and t.stride() == (1, 3)
    assert t.clone().is_contiguous() and t.t().is_contiguous() and t.t().contiguous().tolist() == [[0, 7, 2], [3, 7, 5]]


@pytest.mark.parametrize("name", MADE)
def test_what_is_cut_off_first_lies_so(name):
    make, stride, offset = MADE[name]
    for look in LOOKS:
        for cut_off in (lambda t: t.detach(), lambda t: t[:].detach(), lambda t: nn.Parameter(t), lambda t: t.detach().detach()):
            t = make()
            other = cut_off(t)
            look(other)
            again = other.detach()
            assert again.stride() == other.stride() == stride and again.storage_offset() == offset
            again.contiguous().zero_()
            assert t.tolist() == other.tolist() == make().tolist()
            del t
            assert again.stride() == other.detach().stride() == stride
            look(again)
            again.contiguous().zero_()
            assert other.tolist() == make().tolist()


def test_a_leaf_keeps_it_over_steps():
    p = of_parameter()
    o = mg.optim.SGD([p], lr=0.5, momentum=0.9)
    for _ in range(3):
        p.sum().backward()
        o.step()
        assert p.stride() == (1, 3) and p.detach().contiguous().zero_().sum().item() == 0
        assert p.grad.shape == (3, 2)
    assert p.tolist() != [[0, 0]] * 3


def at(t):
    """The elements, from the address and the strides."""
    size = t.itemsize
    ptr = lambda *i: t.data_ptr() + sum(k * s for k, s in zip(i, t.stride(), strict=True)) * size  # noqa: E731
    read = lambda *i: ctypes.c_float.from_address(ptr(*i)).value  # noqa: E731
    return [[read(i, j) for j in range(t.shape[1])] for i in range(t.shape[0])]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", MADE)
def test_an_address_is_of_memory_that_lies_so(name, look):
    make, stride, _ = MADE[name]
    t = make()
    look(t)
    with mg.no_grad():
        t.add_(1)
    assert at(t) == t.tolist()
    assert at(t[1:]) == t[1:].tolist() and at(t.t()) == t.t().tolist()
    array = t.detach().numpy()
    assert [s // 4 for s in array.strides] == list(stride)
    array[1] = -1
    assert t[1].tolist() == [-1, -1] and at(t) == t.tolist() == array.tolist()


def written():
    """Tensors whose memory lies as what was written to them last."""
    rows, turned, filled = mg.zeros(3, 4), mg.zeros(3, 4), mg.zeros(2, 300)
    rows[...] = mg.arange(4.0)
    turned.copy_(mg.arange(12.0).reshape(4, 3).t())
    filled.fill_(mg.tensor(3.0))
    layer = nn.Linear(4, 3, bias=False)
    with mg.no_grad():
        layer.weight.copy_(mg.arange(12.0).reshape(4, 3).t())
    of_data = mg.zeros(2, 3)
    of_data.data = mg.ones(3, 2).t()
    of_data[0] = mg.arange(3.0)
    return {"rows": rows, "turned": turned, "filled": filled, "weight": layer.weight, "data": of_data}


WANTED = {
    "rows": [[0, 1, 2, 3]] * 3,
    "turned": [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]],
    "filled": [[3] * 300] * 2,
    "weight": [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]],
    "data": [[0, 1, 2], [1, 1, 1]],
}


@pytest.mark.parametrize("name", WANTED)
def test_bytes_are_those_of_the_elements_in_order(name, tmp_path):
    want = WANTED[name]
    assert pickle.loads(pickle.dumps(written()[name])).tolist() == want
    t = written()[name]
    assert t.tolist() == want and pickle.loads(pickle.dumps(t)).tolist() == want
    mg.npz.savez(tmp_path / "x.npz", t=written()[name])
    assert np.load(tmp_path / "x.npz")["t"].tolist() == want
    file = io.BytesIO()
    mg.save({"t": written()[name]}, file)
    assert mg.load(io.BytesIO(file.getvalue()))["t"].tolist() == want
    mg.save_safetensors({"t": written()[name]}, tmp_path / "x.safetensors")
    assert mg.load_safetensors(tmp_path / "x.safetensors")["t"].tolist() == want
    assert np.array(written()[name].detach()).tolist() == np.from_dlpack(written()[name].detach()).tolist() == want
    assert at(written()[name]) == want and copy.deepcopy(written()[name]).tolist() == want
    assert np.frombuffer(bytes(written()[name].detach()), dtype=np.float32).tolist() == sum(want, [])


def test_saved_together_they_share_what_they_shared():
    p = of_parameter()
    p.tolist()
    part = p.detach()[1:]
    file = io.BytesIO()
    mg.save({"p": p, "part": part}, file)
    found = mg.load(io.BytesIO(file.getvalue()))
    assert found["p"].tolist() == p.tolist() and found["part"].tolist() == part.tolist()
    found["part"].zero_()
    assert found["p"].tolist() == [[0, 3], [0, 0], [0, 0]]


def test_a_replay_answers_with_what_lies_as_the_function_s_answer():
    @mg.jit
    def step(x):
        return (x * 2).t().detach(), (x + 1).t()

    for i in range(5):
        a, b = step(mg.arange(6.0).reshape(2, 3) + i)
        assert a.stride() == (1, 3) and b.stride() == (1, 3) and a[1].tolist() == [2 + 2 * i, 8 + 2 * i]
    assert step.is_replaying

    # An argument that lies otherwise is another one.
    @mg.jit
    def copies(x):
        return x.contiguous() * 1, x.contiguous() is x

    for _ in range(5):
        assert copies(mg.zeros(3, 2))[1] is True
        t = turned()
        t.tolist()
        assert copies(t)[1] is False
