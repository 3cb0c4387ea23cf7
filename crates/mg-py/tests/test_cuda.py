"""Tensors on a CUDA device; nothing where there is none."""

from __future__ import annotations

import copy
import pickle

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor, Value, nn, optim

pytestmark = pytest.mark.skipif(not mg.Device.is_cuda_available(), reason="this machine has no CUDA")


def test_making_and_moving():
    for t in (
        mg.zeros(2, device="cuda"),
        mg.tensor([0.0, 0.0], device=mg.Device("cuda:0")),
        Tensor([0, 0], device="cuda", requires_grad=False),
        mg.zeros(2).cuda(),
        mg.zeros(2).cuda(0),
        mg.zeros(2, dtype="i64").to("cuda", "f32"),
        mg.as_tensor([0.0, 0.0], device="cuda"),
        mg.full((2,), 0.0, device="cuda"),
        mg.from_dlpack(mg.zeros(2), device="cuda"),
    ):
        assert t.device == "cuda:0" and t.is_cuda and t.tolist() == [0, 0] and t.cpu().device == "cpu"
        assert t.to("cuda") is t and t.__dlpack_device__() == (2, 0) and "cuda" in repr(t)
    x = Tensor([1.0, 2.0], device="cuda")
    assert x.is_leaf and x.requires_grad


def test_the_default_device():
    before = mg.get_default_device()
    try:
        mg.set_default_device("cuda")
        assert mg.rand(2).is_cuda and mg.tensor([1.0]).is_cuda and nn.Linear(2, 2).weight.is_cuda
        assert (mg.tensor([1.0, 2.0]) + 1).tolist() == [2, 3] and mg.zeros(1, device="cpu").is_cpu
    finally:
        mg.set_default_device(before)


def test_unlike_devices():
    with pytest.raises(ValueError, match="same device") as caught:
        mg.ones(2) + mg.ones(2, device="cuda")
    assert "cpu" in str(caught.value) and "cuda:0" in str(caught.value)
    with pytest.raises(ValueError, match="same device"):
        Value(1.0) + Value(1.0).cuda()


def test_gradients_go_back():
    x = Tensor([1.0, 2.0])
    (x.cuda() ** 2).sum().backward()
    assert x.grad.is_cpu and x.grad.tolist() == [2, 4]
    v = Value(3.0)
    (v.cuda() * 2).backward()
    assert v.grad == 2


def test_reading():
    t = mg.tensor([[1.5, 2.0], [3.0, 4.0]], device="cuda")
    assert t[0, 0].item() == 1.5 and float(t[1, 1]) == 4 and f"{t[0, 0]:.2f}" == "1.50" and bool(t[0, 0])
    assert t.t().tolist() == [[1.5, 3], [2, 4]] and 4 in t and "<table>" in t._repr_html_()
    with pytest.raises(TypeError, match="cpu"):
        t.numpy()
    for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert other.is_cuda and other.tolist() == t.tolist()


def test_numbers_and_indices():
    t = mg.tensor([1.0, 2.0, 3.0], device="cuda")
    assert (2**t).tolist() == [2, 4, 8] and (1 - t).tolist() == [0, -1, -2] and (t > 1).tolist() == [False, True, True]
    assert t[[0, 2]].tolist() == [1, 3] and t[mg.tensor([-1])].tolist() == [3] and t[t > 1].tolist() == [2, 3]
    t[t > 2] = 9
    t[mg.tensor([0])] = 7.0
    t[1] = 8
    assert t.tolist() == [7, 8, 9] and mg.one_hot(mg.tensor([1], device="cuda"), 2).tolist() == [[0, 1]]
    with pytest.raises(IndexError):
        (t[mg.tensor([3], device="cuda") + 2]).tolist()


def losses(device, wrap):
    mg.manual_seed(3)
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)).to(device)
    adam = optim.Adam(net.parameters(), lr=0.01)
    x, y = mg.randn(32, 8).to(device), mg.randint(4, (32,)).to(device)

    @wrap
    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss

    return [step(x, y).item() for _ in range(20)]


def test_training_is_as_on_the_host():
    host = losses("cpu", lambda f: f)
    close(losses("cuda", lambda f: f), host, rtol=1e-4)
    close(losses("cuda", mg.jit), host, rtol=1e-4)
    assert host[-1] < host[0]


def test_a_layer_on_the_device():
    layer = nn.Linear(2, 3, device="cuda")
    assert layer.weight.is_cuda and layer.bias.is_cuda and layer.weight.is_leaf
    assert layer(mg.ones(1, 2, device="cuda")).shape == (1, 3) and layer.cpu().weight.is_cpu
