"""Where tensors, gradients and layers are on a CUDA device, and what may not meet."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import close, needs_cuda, run
from micrograd_rs import Tensor, Value, nn
from test_cuda_training import losses

pytestmark = needs_cuda


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
    np = pytest.importorskip("numpy")
    before = mg.get_default_device()
    try:
        mg.set_default_device("cuda")
        assert mg.rand(2).is_cuda and mg.tensor([1.0]).is_cuda and nn.Linear(2, 2).weight.is_cuda
        assert (mg.tensor([1.0, 2.0]) + 1).tolist() == [2, 3] and mg.zeros(1, device="cpu").is_cpu
        array = np.ones(2)
        assert all(make(array).is_cuda and make(array, device="cpu").is_cpu for make in (mg.tensor, mg.as_tensor, mg.asarray))
        assert mg.from_numpy(array).is_cpu and mg.tensor(mg.zeros(1, device="cpu")).is_cpu
    finally:
        mg.set_default_device(before)
    with mg.device("cuda"):
        assert mg.tensor(np.ones(2)).is_cuda


def test_the_environment_names_the_default(program):
    code = "import micrograd_rs as mg; print(mg.zeros(1).device, mg.get_default_device(), mg.ones(3).sum().item())"
    assert program(code, MG_DEVICE="cuda").split() == ["cuda:0", "cuda:0", "3.0"]
    assert program(code, MG_DEVICE="cpu").split() == ["cpu", "cpu", "3.0"]
    done = run(code, MG_DEVICE="cuda:99")
    assert done.returncode == 1 and "there is no cuda:99" in done.stderr
    # A device that is hidden is not there, and that is no reason to fail on the host.
    code = "import micrograd_rs as mg; print(mg.cuda.is_available(), mg.cuda.device_count(), mg.ones(3).sum().item())"
    assert program(code, CUDA_VISIBLE_DEVICES="").split() == ["False", "0", "3.0"]


def test_devices_that_are_not_there():
    n = mg.cuda.device_count()
    for ask in (
        lambda: mg.zeros(2, device=f"cuda:{n}"),
        lambda: mg.zeros(2).cuda(n),
        lambda: mg.zeros(2).to(f"cuda:{n}"),
        lambda: mg.Device.cuda(n),
        lambda: nn.Linear(2, 2, device=f"cuda:{n}"),
        lambda: mg.set_default_device(f"cuda:{n}"),
    ):
        with pytest.raises(RuntimeError, match=f"there is no cuda:{n}: this machine has {n} CUDA device"):
            ask()
    for name in ("cuda:", "cuda:-1", "gpu", "cuda:x"):
        with pytest.raises(ValueError, match="is not a device"):
            mg.zeros(2, device=name)


def test_unlike_devices():
    with pytest.raises(ValueError, match="same device") as caught:
        mg.ones(2) + mg.ones(2, device="cuda")
    assert "cpu" in str(caught.value) and "cuda:0" in str(caught.value)
    with pytest.raises(ValueError, match="same device"):
        Value(1.0) + Value(1.0).cuda()


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"])
def test_every_dtype_goes_there_and_back(dtype):
    t = mg.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    there = t.cuda()
    assert there.dtype == t.dtype and there.t().cpu().tolist() == t.t().tolist() and mg.equal(there.cpu(), t)
    assert there[:, 1:].to("cpu").tolist() == t[:, 1:].tolist() and there.flip(0).tolist() == t.flip(0).tolist()


def test_gradients_go_back():
    x = Tensor([1.0, 2.0])
    (x.cuda() ** 2).sum().backward()
    assert x.grad.is_cpu and x.grad.tolist() == [2, 4]
    v = Value(3.0)
    (v.cuda() * 2).backward()
    assert v.grad == 2


def test_values_are_numbers_of_the_host():
    v = Value(2.0).cuda()
    ((v * 3).tanh() + 1).backward()
    assert str(v.device) == "cuda:0" and v.grad != 0


def test_a_layer_on_the_device():
    layer = nn.Linear(2, 3, device="cuda")
    assert layer.weight.is_cuda and layer.bias.is_cuda and layer.weight.is_leaf
    assert layer(mg.ones(1, 2, device="cuda")).shape == (1, 3) and layer.cpu().weight.is_cpu


def test_modules_move():
    net = nn.Sequential(nn.Embedding(5, 4), nn.LayerNorm(4), nn.Linear(4, 2))
    index = mg.tensor([[0, 4], [1, 1]])
    wanted = net(index)
    assert net.cuda() is net and net.to("cuda:0") is net
    close(net(index.cuda()), wanted)
    with pytest.raises(ValueError, match="same device"):
        net(index)
    close(net.cpu()(index), wanted)


two = pytest.mark.skipif(mg.Device.cuda_count() < 2, reason="this machine has one CUDA device")


@two
def test_the_second_device():
    x = mg.arange(6, device="cuda:1").float()
    assert x.device == "cuda:1" and x.to("cuda:0").to("cuda:1").tolist() == x.tolist() and x.cuda().device == "cuda:0"
    with pytest.raises(ValueError, match="same device") as caught:
        x + x.to("cuda:0")
    assert "cuda:0" in str(caught.value) and "cuda:1" in str(caught.value)
    leaf = Tensor([3.0], device="cuda:0")
    (leaf.to("cuda:1") ** 2).sum().backward()
    assert leaf.grad.device == "cuda:0" and leaf.grad.item() == 6
    mg.set_default_device("cuda:1")
    try:
        assert mg.zeros(1).device == "cuda:1" and mg.cuda.current_device() == 1
        assert mg.cuda.memory_allocated() == mg.cuda.memory_allocated(1)
    finally:
        mg.set_default_device("cpu")
    plain = losses("cuda:0", lambda f: f)
    assert losses("cuda:1", lambda f: f) == plain == losses("cuda:1", mg.jit)
    torch = pytest.importorskip("torch")
    theirs = torch.arange(6, device="cuda:1")
    assert mg.from_dlpack(theirs).device == "cuda:1" and torch.from_dlpack(x).device.index == 1
