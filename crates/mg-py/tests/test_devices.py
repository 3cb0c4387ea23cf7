"""Devices: how they are named, which is the default one, and what is told where there is no CUDA."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import without_cuda
from micrograd_rs import Tensor


def test_devices():
    d = mg.Device("cpu")
    assert d == "cpu" and str(d) == "cpu" and repr(d) == "Device('cpu')" and d.is_cpu() and not d.is_cuda()
    assert d.type == "cpu" and d.index is None and d.name and d == mg.Device.cpu() and hash(d) == hash(mg.Device())
    assert mg.zeros(1).device == "cpu" and mg.zeros(1).is_cpu and not mg.zeros(1).is_cuda and mg.device is mg.Device
    t = mg.zeros(1000).realize()
    assert set(d.memory_stats()) == {"active", "cached", "peak", "allocations", "hits"} and d.memory_stats()["active"] >= t.nbytes
    d.empty_cache()
    assert d.memory_stats()["cached"] == 0
    for wrong in ("", "gpu", "cuda:x", "cuda:-1", "cpu:1:2"):
        with pytest.raises(ValueError):
            mg.Device(wrong)
    assert mg.Device("cuda:3") != mg.Device("cuda") and d != 5


def test_devices_by_kind_and_number():
    assert mg.device("cuda", 1) == mg.device("cuda:1") == mg.device(1) == mg.device(type="cuda", index=1)
    assert mg.device("cpu", 0) == mg.device() == mg.device(mg.device("cpu")) == mg.device(type="cpu")
    for wrong in (("cuda:1", 0), ("gpu",), ("cuda", -1)):
        with pytest.raises((RuntimeError, TypeError, ValueError, OverflowError)):
            mg.device(*wrong)


def test_the_default_device():
    before = mg.get_default_device()
    mg.set_default_device("cpu")
    assert mg.get_default_device() == "cpu" and mg.zeros(1).device == "cpu"
    mg.set_default_device(before)
    with pytest.raises(ValueError):
        mg.set_default_device("gpu")
    for wrong in (0.0, True):
        with pytest.raises(TypeError, match='takes a Device, "cpu", "cuda", "cuda:N" or N, got'):
            mg.zeros(1, device=wrong)


@without_cuda
def test_a_number_is_a_cuda_device():
    assert mg.device(1) == "cuda:1"
    for moved in (lambda: mg.zeros(1).to(0), lambda: mg.zeros(1, device=0), lambda: mg.nn.Linear(1, 1).to(0), lambda: mg.nn.Linear(1, 1, device=0)):
        with pytest.raises(RuntimeError, match="cuda:0"):
            moved()


def test_a_device_is_a_context():
    import threading

    before = mg.get_default_device()
    with mg.device("cpu") as outer:
        assert outer == "cpu" and mg.zeros(1).device == "cpu"
        with mg.device("cpu"):
            assert mg.get_default_device() == "cpu"
    assert mg.get_default_device() == before
    with pytest.raises(KeyError), mg.device("cpu"):
        raise KeyError
    if not mg.cuda.is_available():
        with pytest.raises(RuntimeError), mg.device("cuda"):
            pass
        assert mg.get_default_device() == before
    else:
        seen = []
        with mg.device("cuda"):
            assert mg.zeros(1).is_cuda
            thread = threading.Thread(target=lambda: seen.append(mg.get_default_device()))
            thread.start()
            thread.join()
        assert seen == [before]


@without_cuda
def test_there_is_no_cuda():
    assert mg.Device.cuda_count() == 0
    assert mg.get_default_device() == "cpu"
    why = "driver|device"
    for ask in (
        lambda: mg.Device.cuda(),
        lambda: mg.zeros(2).cuda(),
        lambda: mg.zeros(2).to("cuda:1"),
        lambda: mg.zeros(2, device="cuda"),
        lambda: Tensor([1], device="cuda"),
        lambda: mg.tensor([1], device=mg.Device("cuda")),
        lambda: mg.nn.Linear(2, 2, device="cuda"),
        lambda: mg.nn.Linear(2, 2).cuda(),
        lambda: mg.Value(1, device="cuda"),
        lambda: mg.Value(1).cuda(),
        lambda: mg.MLP(2, [1]).to("cuda"),
        lambda: mg.arange(3, device="cuda"),
        lambda: mg.as_tensor([1], device="cuda"),
        lambda: mg.from_dlpack(mg.ones(1), device="cuda"),
        lambda: mg.set_default_device("cuda"),
    ):
        with pytest.raises(RuntimeError, match=why):
            ask()


def test_a_device_without_memory():
    for call in (lambda: mg.device("meta"), lambda: mg.zeros(2, device="meta"), lambda: mg.ones(2).to("meta")):
        with pytest.raises(ValueError, match='"meta" is not a device; .*: no tensor takes memory before it is looked at, so that "cpu" does'):
            call()
    assert mg.zeros(1 << 20, 1 << 20).t().shape == (1 << 20, 1 << 20)  # no memory is taken before somebody looks
