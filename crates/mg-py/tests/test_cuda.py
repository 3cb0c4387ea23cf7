"""Tensors on a CUDA device; nothing where there is none."""

from __future__ import annotations

import concurrent.futures
import copy
import gc
import os
import pickle
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import micrograd_rs as mg
import pytest
from conftest import close, run
from micrograd_rs import Tensor, Value, nn, optim

ROOT = Path(__file__).parent.parent.parent.parent

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


OPTIMISERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4),
    "adam": lambda p: optim.Adam(p, lr=0.01),
    "adamw": lambda p: optim.AdamW(p, lr=0.01, amsgrad=True),
}


def losses(device, wrap, make=OPTIMISERS["adam"]):
    mg.manual_seed(3)
    net = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 4)).to(device)
    optimiser = make(net.parameters())
    x, y = mg.randn(32, 8).to(device), mg.randint(4, (32,)).to(device)
    schedule = optim.lr_scheduler.ExponentialLR(optimiser, 0.98)

    @wrap
    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss

    out = []
    for _ in range(20):
        out.append(step(x, y).item())
        schedule.step()
    assert all(p.device == mg.Device(device) for p in net.parameters())
    return out


@pytest.mark.parametrize("make", OPTIMISERS.values(), ids=OPTIMISERS)
def test_training_is_as_on_the_host(make):
    host = losses("cpu", lambda f: f, make)
    plain = losses("cuda", lambda f: f, make)
    close(plain, host, rtol=5e-4)
    assert losses("cuda", mg.jit, make) == plain and losses("cuda", lambda f: f, make) == plain
    assert host[-1] < host[0]


def test_a_layer_on_the_device():
    layer = nn.Linear(2, 3, device="cuda")
    assert layer.weight.is_cuda and layer.bias.is_cuda and layer.weight.is_leaf
    assert layer(mg.ones(1, 2, device="cuda")).shape == (1, 3) and layer.cpu().weight.is_cpu


def test_the_names_of_pytorch():
    assert mg.cuda.is_available() and mg.cuda.device_count() == mg.Device.cuda_count() >= 1
    assert mg.cuda.get_device_name() == mg.Device("cuda").name != "cuda:0"
    major, minor = mg.cuda.get_device_capability("cuda:0")
    assert (major, minor) >= (7, 5)
    properties = mg.cuda.get_device_properties(0)
    assert properties.total_memory == mg.Device.cuda().total_memory() > 1 << 30
    assert (properties.major, properties.minor) == (major, minor) == mg.Device.cuda().compute_capability()
    mg.cuda.synchronize()
    mg.cuda.manual_seed_all(5)
    a = mg.rand(3, device="cuda")
    mg.cuda.manual_seed(5)
    assert mg.rand(3, device="cuda").tolist() == a.tolist()
    for wrong, error in ((-1, ValueError), ("cpu", ValueError), (1.5, TypeError), (True, TypeError), (99, RuntimeError)):
        with pytest.raises(error):
            mg.cuda.synchronize(wrong)
    with pytest.raises(AttributeError, match="did you mean 'is_available'"):
        mg.cuda.is_availabel()


def test_more_names_of_pytorch():
    properties = mg.cuda.get_device_properties()
    assert properties.multi_processor_count > 8 and properties.warp_size == 32 and properties.max_threads_per_block == 1024
    assert properties.L2_cache_size > 1 << 20 and "multi_processor_count=" in repr(properties)
    free, total = mg.cuda.mem_get_info()
    assert 0 < free < total and abs(total - properties.total_memory) < 1 << 30
    x = mg.ones(1 << 24, device="cuda").realize()
    assert mg.cuda.memory_stats()["allocated_bytes.all.current"] == mg.cuda.memory_allocated() >= 1 << 26
    assert mg.cuda.max_memory_reserved() >= mg.cuda.memory_reserved() >= mg.cuda.memory_allocated() and "in use" in mg.cuda.memory_summary()
    start, end = (mg.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(20):
        x = (x * 1.0001 + 1).realize()
    end.record()
    mg.cuda.synchronize()
    assert 0.05 < start.elapsed_time(end) < 1000 and end.query()
    (x * 2).sum()
    again = mg.cuda.Event(enable_timing=True)
    end.record()
    again.record()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        elapsed = end.elapsed_time(again)
    assert [str(warning.message).split(" on ")[0] for warning in told] == ["nothing was computed"] * (elapsed < 0.05)
    stream = mg.cuda.Stream()
    stream.wait_stream(mg.cuda.current_stream())
    with mg.cuda.stream(stream):
        y = (mg.ones(4, device="cuda") * 2).realize()
    stream.synchronize()
    y.record_stream(stream)
    assert y.tolist() == [2.0] * 4 and stream == mg.cuda.default_stream()
    mg.cuda.set_device(0)
    with mg.cuda.device(0), mg.cuda.device_of(y):
        assert mg.cuda.current_device() == 0
    assert mg.cuda.is_tf32_supported() == (mg.cuda.get_device_capability() >= (8, 0)) and len(mg.cuda.get_rng_state_all()) == mg.cuda.device_count()
    mg.cuda.set_rng_state_all(mg.cuda.get_rng_state_all())
    assert mg.accelerator.current_accelerator().type == "cuda" and float(mg.version.cuda) >= 11 and mg.get_device_module() is mg.cuda
    try:
        mg.cuda.set_per_process_memory_fraction(0.5)
        assert mg.cuda.get_per_process_memory_fraction() == 0.5
        with pytest.raises(mg.cuda.OutOfMemoryError):
            mg.ones(properties.total_memory // 4 * 3 // 4, device="cuda").realize()
    finally:
        mg.cuda.set_per_process_memory_fraction(1.0)
    if mg.cuda.device_count() == 1:
        with pytest.raises(RuntimeError):
            mg.cuda.set_device(1)
    from micrograd_rs.profiler import ProfilerActivity, profile, record_function

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof, record_function("product"):
        (mg.rand(256, 256, device="cuda") @ mg.rand(256, 256, device="cuda")).realize()
    sums = {event.key: event for event in prof.key_averages()}
    assert sums["product"].cuda_time_total > 0 and "Self CUDA" in prof.key_averages().table(sort_by="self_cuda_time_total")
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        (mg.rand(256, 256, device="cuda") @ mg.rand(256, 256, device="cuda")).realize()
    assert not any(launch["device"] != "cpu" for launch in prof.launches)


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


def test_the_environment_names_the_default(program):
    code = "import micrograd_rs as mg; print(mg.zeros(1).device, mg.get_default_device(), mg.ones(3).sum().item())"
    assert program(code, MG_DEVICE="cuda").split() == ["cuda:0", "cuda:0", "3.0"]
    assert program(code, MG_DEVICE="cpu").split() == ["cpu", "cpu", "3.0"]
    done = run(code, MG_DEVICE="cuda:99")
    assert done.returncode == 1 and "there is no cuda:99" in done.stderr
    # A device that is hidden is not there, and that is no reason to fail on the host.
    code = "import micrograd_rs as mg; print(mg.cuda.is_available(), mg.cuda.device_count(), mg.ones(3).sum().item())"
    assert program(code, CUDA_VISIBLE_DEVICES="").split() == ["False", "0", "3.0"]


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


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"])
def test_every_dtype_goes_there_and_back(dtype):
    t = mg.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    there = t.cuda()
    assert there.dtype == t.dtype and there.t().cpu().tolist() == t.t().tolist() and mg.equal(there.cpu(), t)
    assert there[:, 1:].to("cpu").tolist() == t[:, 1:].tolist() and there.flip(0).tolist() == t.flip(0).tolist()


def test_pickles_keep_the_device():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()
    x = mg.rand(5, 3, device="cuda")
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert all(p.is_cuda and p.is_leaf and p.requires_grad for p in other.parameters())
        assert other(x).tolist() == net(x).tolist()
    leaf = pickle.loads(pickle.dumps(Tensor([1.0], device="cuda")))
    assert leaf.is_cuda and leaf.requires_grad
    assert pickle.loads(pickle.dumps(mg.Device("cuda:0"))) == "cuda:0"


def test_a_pickle_where_the_device_is_not(tmp_path):
    (tmp_path / "t").write_bytes(pickle.dumps(mg.ones(2, device="cuda")))
    done = run(f"import pickle; pickle.load(open({str(tmp_path / 't')!r}, 'rb'))", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 1 and "RuntimeError" in done.stderr and "cuda:0 cannot be used" in done.stderr


def test_state_moves_between_devices(tmp_path):
    there, here = nn.Linear(3, 2).cuda(), nn.Linear(3, 2)
    path = tmp_path / "net.safetensors"
    mg.save_safetensors(there.state_dict(), path)
    here.load_state_dict(mg.load_safetensors(path))
    assert here.weight.is_cpu and here.weight.tolist() == there.weight.tolist()
    other = nn.Linear(3, 2, device="cuda")
    other.load_state_dict(here.state_dict())
    assert other.weight.is_cuda and other.weight.tolist() == here.weight.tolist()
    adam = optim.Adam(other.parameters(), lr=0.1)
    other(mg.ones(1, 3, device="cuda")).sum().backward()
    adam.step()
    again = optim.Adam(other.parameters(), lr=0.1)
    again.load_state_dict(adam.state_dict())
    again.zero_grad()
    other(mg.ones(1, 3, device="cuda")).sum().backward()
    again.step()
    assert other.weight.is_cuda and other.weight.grad.is_cuda


def test_files_are_read_to_the_device(tmp_path):
    from micrograd_rs.safetensors import load_file, load_sharded, safe_open, save_sharded

    made = {f"small{i}": mg.rand(i, 3) for i in range(40)}
    made |= {"large": mg.rand(3000, 3001), "wide": mg.rand(3, dtype="f64"), "truth": mg.rand(70001) < 0.5, "half": mg.rand(9).half(), "none": mg.zeros(0, 2)}
    path = tmp_path / "f.safetensors"
    mg.save_safetensors(made, path)
    save_sharded(made, tmp_path, max_shard_size=1 << 20)
    ways = [load_file(path, "cuda"), load_sharded(tmp_path, "cuda:0"), mg.load(path, "cuda"), mg.load(path, mmap=True, map_location=mg.device(0))]
    with safe_open(path, device="cuda") as file:
        ways.append({name: file.get_tensor(name) for name in file.keys()})
        rows = file.get_slice("large")
        for index in (slice(10, 2000), slice(3, 3), (slice(2, 9), slice(5, 7)), (slice(None), 4), 7):
            assert rows[index].is_cuda and (rows[index].cpu() == made["large"][index]).all()
    for found in ways:
        assert set(found) == set(made)
        for name, t in found.items():
            assert t.is_cuda and t.dtype == made[name].dtype and t.shape == made[name].shape and (t.cpu() == made[name]).all(), name
    # What `save` wrote goes back to where it was, and what shares memory shares it there.
    whole = made["large"].cuda()
    mg.save({"whole": whole, "row": whole[5], "turned": whole.t(), "here": made["half"], "array": made["wide"].numpy()}, path)
    back = mg.load(path)
    assert back["whole"].is_cuda and back["here"].is_cpu and (back["array"] == made["wide"].numpy()).all()
    back["whole"].zero_()
    assert not back["row"].any() and not back["turned"].any()
    assert mg.load(path, map_location="cpu")["row"].is_cpu
    path.write_bytes(path.read_bytes()[:-8] + b"\2" * 8)
    wrong = tmp_path / "g.safetensors"
    mg.save_safetensors({"truth": made["truth"]}, wrong)
    wrong.write_bytes(wrong.read_bytes()[:-1] + b"\7")
    with pytest.raises(ValueError, match="byte 7 at 70000 is no BOOL"):
        load_file(wrong, "cuda")
    mg.save_safetensors({"large": made["large"]}, path)
    file = safe_open(path, device="cuda")
    os.truncate(path, 5000)
    with pytest.raises(ValueError, match="shorter while it was read"):
        file.get_tensor("large")


def test_products_of_f32_keep_all_bits():
    mg.manual_seed(0)
    a, chosen = mg.randn(256, 512, device="cuda"), mg.eye(512, device="cuda")[mg.randperm(512).cuda()]
    wide = a * 2.0 ** mg.randint(-100, 100, (256, 512), device="cuda")
    for x, y in ((a, chosen), (a, chosen.t()), (wide, chosen), (wide, chosen.t().contiguous().t())):
        assert (x @ y == x[:, y.cpu().argmax(0).cuda()]).all()
    # Shapes that large tiles are taken for, however operands lie; as sums in f64 are.
    for m, n, k in ((512, 384, 1000), (256, 1024, 4096), (2048, 1024, 260)):
        a, b = mg.randn(m, k, device="cuda"), mg.randn(k, n, device="cuda")
        want = a.cpu().double() @ b.cpu().double()
        for x in (a, a.t().contiguous().t()):
            for y in (b, b.t().contiguous().t()):
                got = x @ y
                assert ((got.cpu().double() - want).norm() / want.norm()).item() < 5e-7
                assert (got == x @ y).all()
    a = mg.randn(256, 512, device="cuda")
    b = mg.randn(512, 384, device="cuda")
    for value in (float("inf"), float("-inf"), float("nan"), 3.4e38, 1e-40):
        for x, y, at in ((a.clone(), b, 0), (a, b.clone(), 1)):
            (x, y)[at][3, 7] = value
            got, want = (x @ y).cpu(), x.cpu() @ y.cpu()
            assert (got.isnan() == want.isnan()).all() and (got.isinf() == want.isinf()).all()
            assert mg.allclose(got[want.isfinite()], want[want.isfinite()], rtol=1e-4, atol=1e-4)
    for size in (1e-36, 1e-30, 1e30):
        got, want = (a * size) @ (b * 1e-3), (a.cpu().double() * size) @ (b.cpu().double() * 1e-3)
        assert ((got.cpu().double() - want).norm() / want.norm()).item() < 1e-6


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_products_add_up_the_columns_of_what_they_store(dtype):
    """Biases' gradients: the same elements as without the sum, their sum as f64 has it, twice the same bits."""
    mg.manual_seed(0)
    dtype = getattr(mg, dtype)
    # So large that kernels add them up, with edges of tiles.
    for batch, m, n, k in (((), 8200, 2052, 40), ((), 8449, 2048, 96), ((3,), 2740, 2052, 33)):
        a, b = mg.randn(*batch, m, k, device="cuda", dtype=dtype), mg.randn(*batch, k, n, device="cuda", dtype=dtype)
        axes = tuple(range(len(batch) + 1))
        for turned in (False, True):
            x = a.transpose(-1, -2).contiguous().transpose(-1, -2) if turned else a

            def both():
                stored = mg.relu(x @ b) * 0.5
                sums = stored.sum(axes)
                mg.realize(stored, sums)
                return stored, sums

            (stored, sums), (again, sums_again) = both(), both()
            assert (stored == again).all() and (sums == sums_again).all()
            assert (stored == mg.relu(x @ b) * 0.5).all()
            wide = stored.cpu().double()
            off = (sums.cpu().double() - wide.sum(axes)).abs()
            room = 1e-6 * wide.abs().sum(axes) + mg.finfo(dtype).eps * wide.sum(axes).abs()
            assert (off <= room).all()
    x[..., 7, 5], x[..., 8, 6] = float("nan"), float("inf")
    stored = mg.relu(x @ b)
    sums = stored.sum(axes)
    mg.realize(stored, sums)
    assert (sums.isnan() == stored.cpu().double().sum(axes).isnan().cuda()).all()


def test_convolutions_of_f32_keep_all_bits():
    mg.manual_seed(0)
    for n, c, size, o, kernel, stride, padding in ((16, 64, 16, 64, 3, 1, 1), (16, 32, 17, 128, 3, 2, 1), (8, 64, 16, 192, 1, 1, 0), (4, 3, 33, 64, 7, 2, 3)):
        x, w = mg.randn(n, c, size, size, device="cuda"), mg.randn(o, c, kernel, kernel, device="cuda")
        g = mg.randn(*nn.functional.conv2d(x, w, stride=stride, padding=padding).shape, device="cuda")
        results = []
        for x1, w1, g1 in ((x, w, g), (x.cpu().double(), w.cpu().double(), g.cpu().double())):
            x1, w1 = x1.clone().requires_grad_(), w1.clone().requires_grad_()
            y = nn.functional.conv2d(x1, w1, stride=stride, padding=padding)
            y.backward(g1)
            results.append((y.detach(), x1.grad, w1.grad))
        for got, want in zip(*results, strict=True):
            assert ((got.cpu().double() - want).norm() / want.norm()).item() < 1e-6
    x, w = mg.randn(8, 64, 16, 16, device="cuda"), mg.randn(64, 64, 3, 3, device="cuda")
    for value in (float("inf"), float("nan"), 3.4e38):
        y = x.clone()
        y[3, 5, 7, 9] = value
        got, want = nn.functional.conv2d(y, w), nn.functional.conv2d(y.cpu(), w.cpu())
        assert (got.cpu().isfinite() == want.isfinite()).all()


def test_convolutions_of_groups():
    mg.manual_seed(0)
    # Images, groups, channels and filters of each, lines, columns, side of the kernel, step, padding: each filter sees one channel, or few.
    cases = [
        (2, 24, 1, 1, 7, 7, 3, 1, 1), (3, 10, 1, 1, 13, 14, 3, 2, 1), (2, 8, 1, 1, 28, 30, 5, 1, 2), (1, 6, 1, 1, 15, 9, 5, 2, 0), (2, 5, 1, 1, 56, 56, 7, 1, 3),
        (2, 3, 1, 1, 150, 161, 3, 1, 1), (1, 2, 1, 1, 97, 301, 7, 1, 2), (2, 4, 1, 3, 14, 14, 3, 1, 1), (2, 9, 1, 2, 8, 5, 5, 2, 4), (1, 3, 1, 1, 2, 3, 5, 1, 4),
        (3, 4, 4, 4, 14, 15, 3, 1, 1), (2, 4, 8, 8, 9, 9, 3, 2, 1), (2, 3, 20, 24, 7, 7, 3, 1, 1), (2, 2, 2, 40, 8, 8, 4, 3, 1),
    ]
    for n, groups, c, m, high, wide, side, stride, padding in cases:
        form = {"stride": stride, "padding": padding, "groups": groups}
        x, w = mg.randn(n, groups * c, high, wide), mg.randn(groups * m, c, side, side)
        g = mg.randn(*nn.functional.conv2d(x, w, **form).shape)

        def results(x, w, g, form=form):
            x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
            y = nn.functional.conv2d(x, w, **form)
            y.backward(g)
            return y.detach(), x.grad, w.grad

        for dtype, least in (("f32", 1e-6), ("f16", 2e-3), ("bf16", 1.2e-2), ("f64", 1e-13)):
            given = [t.to(dtype) for t in (x, w, g)]
            here = results(*(t.double() for t in given))
            there = results(*(t.cuda() for t in given))
            for got, again, want in zip(there, results(*(t.cuda() for t in given)), here, strict=True):
                assert ((got.cpu().double() - want).norm() / want.norm()).item() < least, (dtype, form)
                assert (got == again).all()
            if dtype == "f64" or c * m > 1:
                continue
            # Zeros beyond the edge are multiplied, but for the gradient by the input, which has none. (What takes everything multiplies them there too.)
            for of in range(3):
                odd = [t.clone() for t in given]
                for value in (float("inf"), float("nan")):
                    odd[of].view(-1)[int(mg.randint(0, odd[of].numel(), (1,)).item())] = value
                for got, want in zip(results(*(t.cuda() for t in odd)), results(*odd), strict=True):
                    assert (got.cpu().isnan() == want.isnan()).all() and (got.cpu().isinf() == want.isinf()).all(), (dtype, form, of)


def test_convolutions_in_tf32():
    mg.manual_seed(0)
    mg.set_float32_matmul_precision("high")
    try:
        for n, c, size, o, side, stride, padding in ((4, 64, 14, 64, 3, 1, 1), (8, 128, 7, 256, 3, 1, 1), (3, 40, 13, 70, 3, 2, 2), (4, 3, 32, 64, 7, 2, 3), (4, 64, 14, 128, 1, 1, 0)):
            x, w = mg.randn(n, c, size, size, device="cuda"), mg.randn(o, c, side, side, device="cuda")
            g = mg.randn(*nn.functional.conv2d(x, w, stride=stride, padding=padding).shape, device="cuda")
            results = []
            for x1, w1, g1 in ((x, w, g), (x, w, g), (x.cpu().double(), w.cpu().double(), g.cpu().double())):
                x1, w1 = x1.clone().requires_grad_(), w1.clone().requires_grad_()
                y = nn.functional.conv2d(x1, w1, stride=stride, padding=padding)
                y.backward(g1)
                results.append((y.detach(), x1.grad, w1.grad))
            for got, again, want in zip(*results, strict=True):
                assert ((got.cpu().double() - want).norm() / want.norm()).item() < 6e-4
                assert (got == again).all()
    finally:
        mg.set_float32_matmul_precision("highest")


def test_modules_move():
    net = nn.Sequential(nn.Embedding(5, 4), nn.LayerNorm(4), nn.Linear(4, 2))
    index = mg.tensor([[0, 4], [1, 1]])
    wanted = net(index)
    assert net.cuda() is net and net.to("cuda:0") is net
    close(net(index.cuda()), wanted)
    with pytest.raises(ValueError, match="same device"):
        net(index)
    close(net.cpu()(index), wanted)


def test_memory_is_counted():
    device = mg.Device("cuda")
    gc.collect()
    before = mg.cuda.memory_allocated()
    t = mg.zeros(1 << 18, device="cuda").realize()
    assert mg.cuda.memory_allocated() == before + (1 << 20) == device.memory_stats()["active"]
    mg.cuda.reset_peak_memory_stats()
    ((t + 1).realize() + 1).realize()
    assert mg.cuda.max_memory_allocated() >= before + (2 << 20)
    del t
    assert mg.cuda.memory_allocated() == before and mg.cuda.memory_reserved() >= before + (1 << 20)
    mg.cuda.empty_cache()
    assert mg.cuda.memory_reserved() == before
    hits = device.memory_stats()["hits"]
    for _ in range(10):
        mg.zeros(1 << 18, device="cuda").realize()
    assert device.memory_stats()["hits"] >= hits + 9


def test_out_of_memory():
    device = mg.Device("cuda")
    mg.cuda.empty_cache()
    small = mg.ones(1000, device="cuda").realize()
    device.set_memory_limit(device.memory_stats()["active"] + (1 << 20))
    try:
        with pytest.raises(MemoryError, match=r"out of memory: 4\.00 MiB asked for, .* in use, .* cached, limit .*, .* free"):
            mg.zeros(1 << 20, device="cuda").realize()
        assert (small + 1).sum().item() == 2000
    finally:
        device.set_memory_limit(None)
    assert mg.zeros(1 << 20, device="cuda").sum().item() == 0
    with pytest.raises(MemoryError, match="out of memory"):
        mg.zeros(1 << 46, dtype="u8", device="cuda").realize()
    assert (small + 1).sum().item() == 2000


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


def test_threads():
    def work(seed):
        x = mg.full((64, 64), 1.0 + seed, device="cuda")
        total = 0.0
        for _ in range(20):
            total += ((x @ x) / 64).mean().item()
        leaf = Tensor([float(seed)], device="cuda")
        (leaf * leaf).sum().backward()
        return total, leaf.grad.item()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for seed, (total, grad) in enumerate(pool.map(work, range(16))):
            assert total == pytest.approx(20 * (1.0 + seed) ** 2, rel=1e-5) and grad == 2 * seed


def test_the_end_with_live_tensors(program):
    program("""
        import threading
        import micrograd_rs as mg
        a = mg.rand(100, 100, device="cuda")
        b = (a @ a).sum()
        made = (a + 1).realize()
        leaf = mg.Tensor([1.0], device="cuda"); (leaf * leaf).sum().backward()
        cycle = [a]; cycle.append(cycle)
        step = mg.jit(lambda x: x + a)
        for _ in range(4): step(a)
        threading.Thread(target=lambda: mg.rand(10, device="cuda").realize()).start()
        class Late:
            def __del__(self):
                assert mg.ones(3, device="cuda").sum().item() == 3
        late = Late()
    """)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_is_told(program):
    out = program("""
        import os, micrograd_rs as mg
        x = mg.ones(3, device="cuda").realize()
        pending = x + 1
        pid = os.fork()
        if pid == 0:
            for use in (pending.tolist, x.tolist, lambda: mg.zeros(1, device="cuda").realize(), mg.cuda.synchronize):
                try:
                    use()
                    print("no error")
                except RuntimeError as error:
                    print("spawn" if 'start the child with "spawn"' in str(error) else error)
            del x, pending
            print(mg.ones(3).sum().item(), flush=True)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        print(pending.tolist())
    """)
    assert out.split("\n")[:6] == ["spawn"] * 4 + ["3.0", "[2.0, 2.0, 2.0]"]


def test_a_spawned_child_computes(tmp_path):
    path = tmp_path / "main.py"
    path.write_text("""
import multiprocessing, micrograd_rs as mg
def work(t):
    return (t * 2).sum().item(), (t + 1)
if __name__ == "__main__":
    x = mg.ones(4, device="cuda")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        total, other = pool.apply(work, (x,))
    assert total == 8 and other.is_cuda and other.tolist() == [2] * 4
    print("well")
""")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "well", done.stderr


def test_jit_on_the_device():
    @mg.jit
    def f(x, y):
        return (x @ y).relu().sum(), x.t() + 1

    for i in range(6):
        x, y = mg.rand(3, 3, device="cuda"), mg.rand(3, 3, device="cuda")
        total, turned = f(x, y)
        close(total, (x.cpu() @ y.cpu()).relu().sum().item())
        assert turned.is_cuda and turned.tolist() == (x.cpu().t() + 1).tolist()
    assert f.is_replaying
    # The same function on the host is another recording.
    close(f(mg.ones(3, 3), mg.ones(3, 3))[0], 27)


def test_replays_make_anew_what_is_other_than_it_was():
    w = mg.randn(64, 64, device="cuda")
    step = mg.jit(lambda x, i: ((x @ w).relu() + x[i]).sum(1))
    batches = [mg.randn(32, 64, device="cuda") for _ in range(3)]
    rows, beyond = mg.arange(31, -1, -1, device="cuda"), mg.arange(3, 35, device="cuda")
    expected = [((x @ w).relu() + x.flip(0)).sum(1).tolist() for x in batches]

    def calls(*which):
        for i in which:
            assert step(batches[i], rows).tolist() == pytest.approx(expected[i], rel=1e-2, abs=1e-2)

    def with_profile():
        with mg.profiler.profile():
            calls(1, 1, 1)

    def with_less_precision():
        mg.set_float32_matmul_precision("high")
        try:
            calls(1, 1, 1)
        finally:
            mg.set_float32_matmul_precision("highest")

    def with_failures():
        for _ in range(3):
            with pytest.raises(IndexError):
                step(batches[1], beyond).tolist()

    def with_results_held():
        held = [step(batches[1], rows) for _ in range(3)]
        assert all(h.tolist() == held[0].tolist() for h in held)

    def beside_copies():
        stop = threading.Event()

        def copies():
            while not stop.is_set():
                mg.ones(16).to("cuda")

        thread = threading.Thread(target=copies)
        thread.start()
        try:
            calls(*[1] * 20)
        finally:
            stop.set()
            thread.join()

    for between in [lambda: None, with_profile, with_less_precision, with_failures, with_results_held, beside_copies]:
        calls(0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0)
        between()
        calls(0, 0, 0, 0, 2, 1, 2, 0, 1, 2)
    assert step.is_replaying


def test_values_are_numbers_of_the_host():
    v = Value(2.0).cuda()
    ((v * 3).tanh() + 1).backward()
    assert str(v.device) == "cuda:0" and v.grad != 0


F = nn.functional

OPERATIONS = {
    "arithmetic": lambda x, y, i: (x + y) * 2 - 1 / (y.abs() + 1) + (3 - x) / 7 + 2**x - (-x) + abs(y),
    "powers": lambda x, y, i: x.abs() ** 0.5 + x**2 + x.square() + (x.abs() + 1).rsqrt() + (x.abs() + 1).reciprocal(),
    "functions": lambda x, y, i: x.exp() + (x.abs() + 1).log() + x.tanh() + x.sigmoid() + x.sin() + x.cos() + x.erf() + x.sign(),
    "activations": lambda x, y, i: x.relu() + x.gelu() + x.silu() + x.softplus() + x.leaky_relu(0.1) + x.clamp(-1, 0.5),
    "comparisons": lambda x, y, i: ((x > y) & (x < 1)) | (x == 0) | ~(y >= 0) ^ (x != y),
    "choices": lambda x, y, i: mg.where(x > 0, x, y) + mg.where(x > 0, 1.0, y) + x.masked_fill(x > 0, 3.0) + x.maximum(y).minimum(0.5),
    "reductions": lambda x, y, i: mg.stack([x.sum(), x.mean(), x.amax(), x.amin(), x.var(), x.std(), x.prod(), x.logsumexp(), x.norm()]),
    "axes": lambda x, y, i: mg.cat([x.sum(0), x.mean(0), x.amax(0), x.var(0), x.argmax(0).float(), x.min(0)[0], x.max(0)[1].float()]),
    "any and all": lambda x, y, i: mg.stack([(x > 0).any(), (x > 9).any(), (x < 9).all(), x.isfinite().all(), x.isnan().any()]),
    "softmax": lambda x, y, i: x.softmax(1) + x.log_softmax(0),
    "layer_norm": lambda x, y, i: F.layer_norm(x, (4,), mg.ones_like(x[0]), mg.zeros_like(x[0])),
    "products": lambda x, y, i: x @ y.t() + x.mm(y.t()) + x[0].dot(y[0]) + x.matmul(y.t()),
    "views": lambda x, y, i: x.t().reshape(2, 6)[:, ::2].flip(0).permute(1, 0).unsqueeze(0).expand(2, 3, 2).contiguous(),
    "joins": lambda x, y, i: mg.cat([x, y, x[:1]], 0).repeat(2, 1).narrow(0, 3, 5),
    "splits": lambda x, y, i: mg.cat([*x.split(2, 1), *x.chunk(2, 1), *(t[:, None] for t in x.unbind(1))], 1),
    "indices": lambda x, y, i: mg.cat([x[i], x.index_select(0, i), x[[0, 2]], x[i, 1:2].expand(3, 4), x[:, [1, 0, 3, 3]]]),
    "masks": lambda x, y, i: mg.cat([x[x > 0], x.masked_select(x < 0), x.nonzero().flatten().float()]),
    "gather": lambda x, y, i: x.gather(1, i[:, None]) + x.scatter_add(1, i[:, None].expand(3, 4), y),
    "embedding": lambda x, y, i: F.embedding(i, x),
    "one_hot": lambda x, y, i: mg.one_hot(i, 5),
    "losses": lambda x, y, i: F.cross_entropy(x, i) + F.mse_loss(x, y) + F.nll_loss(x.log_softmax(1), i),
    "bce": lambda x, y, i: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    "linear": lambda x, y, i: F.linear(x, y, y[:, 0]),
    "dropout": lambda x, y, i: F.dropout(x, 0.5, True) + x.dropout(0.25),
    "casts": lambda x, y, i: x.half().float() + x.bfloat16().float() + x.double().float() + x.long().float() + x.bool().float(),
    "likes": lambda x, y, i: mg.zeros_like(x) + mg.ones_like(x) + mg.full_like(x, 2.0) + mg.rand_like(x) + mg.randn_like(x),
    "numbers of integers": lambda x, y, i: (i + 1) * 2 - i / 2 + i**2 + (i == 1) + (1 - i),
}


def written(x, y, i):
    x = x.clone()
    x[0] = 1
    x[:, 1] = y[:, 1]
    x[i, 2] += 5
    x[x > 3] = 0
    x += y
    x.mul_(2).add_(1).clamp(-3, 3)
    x[1].fill_(7).sub_(y[1])
    nn.init.uniform_(x[:1])
    nn.init.normal_(x[1:2], 1.0, 0.5)
    nn.init.constant_(x[2:3, :2], 4.0)
    return x.copy_(x.cpu())


@pytest.mark.parametrize("f", [*OPERATIONS.values(), written], ids=[*OPERATIONS, "written"])
def test_operations_stay_on_the_device_of_their_tensors(f):
    """The default device is the host: nothing that an operation makes by itself may be made there."""
    assert mg.get_default_device() == "cpu"
    x, y = mg.tensor([[0.5, -1, 2, 0], [1, -2, 0.25, 3], [-0.5, 1, 1, -1]]), mg.randn(3, 4)
    i = mg.tensor([2, 0, 2])
    mg.manual_seed(4)
    host = f(x, y, i)
    mg.manual_seed(4)
    there = f(x.cuda(), y.cuda(), i.cuda())
    assert there.is_cuda and there.dtype == host.dtype and there.shape == host.shape
    close(there, host)


@pytest.mark.parametrize("name", [n for n in OPERATIONS if n not in ("comparisons", "any and all", "masks", "one_hot", "numbers of integers")])
def test_gradients_stay_on_the_device_of_their_tensors(name):
    def gradients(device):
        mg.manual_seed(4)
        x = mg.tensor([[0.5, -1, 2, 0.125], [1, -2, 0.25, 3], [-0.5, 1.5, 0.75, -1]]).to(device).requires_grad_()
        y = mg.randn(3, 4).to(device).requires_grad_()
        out = OPERATIONS[name](x, y, mg.tensor([2, 0, 2]).to(device))
        if out.requires_grad:
            (out**2).sum().backward()
        return x.grad, y.grad

    for host, there in zip(gradients("cpu"), gradients("cuda")):
        assert (host is None) == (there is None)
        if host is not None:
            assert there.is_cuda
            close(there, host, rtol=1e-4, atol=1e-5)


# Other libraries. Each has streams of its own, so what one makes must be waited for by the other.


def test_dlpack_itself():
    t = mg.arange(6, device="cuda").float().reshape(2, 3)
    assert t.__dlpack_device__() == (2, 0)
    for shared in (mg.from_dlpack(t, copy=False), mg.from_dlpack(t)):
        assert shared.is_cuda and shared.tolist() == t.tolist()
    assert mg.from_dlpack(t, copy=False).data_ptr() == t.data_ptr() != mg.from_dlpack(t).data_ptr()
    for options in ({}, {"stream": None}, {"stream": 1}, {"stream": 2}, {"stream": -1}, {"max_version": (1, 0)}, {"copy": True}):
        assert mg.from_dlpack(t.__dlpack__(**options)).tolist() == t.tolist()
    assert mg.from_dlpack(t, device="cpu").tolist() == t.tolist() and mg.from_dlpack(t, device="cpu").is_cpu
    # A copy on the host, where it is asked for there.
    assert mg.from_dlpack(t.__dlpack__(dl_device=(1, 0))).is_cpu
    with pytest.raises(BufferError, match="cuda:0"):
        t.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError):
        t.__dlpack__(dl_device=(10, 0))
    with pytest.raises(TypeError, match="stream"):
        t.__dlpack__(stream="default")
    numpy = pytest.importorskip("numpy", minversion="2.1")
    assert numpy.from_dlpack(t, device="cpu").tolist() == t.tolist()


def busy(torch):
    """Some milliseconds of work on PyTorch's current stream; answers with a matrix of ones that comes last."""
    x = torch.rand(4096, 4096, device="cuda")
    for _ in range(8):
        x = torch.tanh(x @ x * 1e-3)
    return x * 0 + 1


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool):
        theirs = torch.tensor([[0, 1, 1], [1, 1, 0]], dtype=dtype, device="cuda")
        for make in (mg.from_dlpack, mg.tensor, mg.as_tensor, lambda t: mg.from_dlpack(t, copy=False)):
            for view in (theirs, theirs.t(), theirs[:, 1:], theirs[:1].expand(4, 3)):
                ours = make(view)
                assert ours.is_cuda and ours.tolist() == view.tolist()
        back = torch.from_dlpack(mg.from_dlpack(theirs))
        assert back.is_cuda and back.dtype == dtype and back.tolist() == theirs.tolist()
        assert torch.from_dlpack(mg.from_dlpack(theirs).t()).tolist() == theirs.t().tolist()
    ours = mg.rand(64, device="cuda")
    theirs = torch.from_dlpack(ours)
    assert theirs.data_ptr() == ours.data_ptr() and mg.from_dlpack(theirs, copy=False).data_ptr() == ours.data_ptr()
    # Values do not change under those who hold them.
    wanted = theirs.tolist()
    ours += 1
    assert theirs.tolist() == wanted and ours.tolist() != wanted


@pytest.mark.parametrize("own_stream", [False, True])
def test_work_of_pytorch_is_waited_for(own_stream):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    with torch.cuda.stream(torch.cuda.Stream() if own_stream else torch.cuda.current_stream()):
        for _ in range(3):
            # Their work comes first: our copy, and work on their memory, waits for it.
            ours = mg.from_dlpack(busy(torch))
            assert ours.sum().item() == 4096 * 4096
            theirs = busy(torch)
            shared = mg.from_dlpack(theirs, copy=False)
            assert (shared * 2).sum().item() == 2 * 4096 * 4096
            # They write what we have seen, and let go of it while we read.
            theirs.copy_(busy(torch) * 3)
            assert shared.sum().item() == 3 * 4096 * 4096
            doubled = shared + shared
            del shared, theirs
            torch.zeros(4096, 4096, device="cuda")
            assert doubled.sum().item() == 6 * 4096 * 4096
            # Ours comes first: theirs waits for it.
            x = mg.full((2048, 2048), 1.0, device="cuda")
            for _ in range(20):
                x = (x @ x) / 2048
            theirs = torch.from_dlpack(x)
            assert theirs.double().sum().item() == 2048 * 2048
            # They read late what we let go of.
            x = mg.ones(4096, 4096, device="cuda").realize()
            theirs = torch.from_dlpack(x)
            late = busy(torch) + theirs
            del x, theirs
            for i in range(3):
                mg.full((4096, 4096), float(i + 5), device="cuda").realize()
            assert late.double().sum().item() == 2 * 4096 * 4096


def test_gradients_beside_pytorch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    data = torch.randn(32, 8, device="cuda")
    weight = torch.randn(4, 8, device="cuda", requires_grad=True)
    torch.tanh(data @ weight.t()).square().mean().backward()
    ours = Tensor(mg.from_dlpack(weight.detach()), device="cuda")
    ((mg.from_dlpack(data) @ ours.t()).tanh() ** 2).mean().backward()
    close(ours.grad, weight.grad, rtol=1e-4)


def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy")
    try:
        theirs = cupy.arange(12, dtype="float32").reshape(3, 4)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is not ours
        pytest.skip(f"this CuPy does not work: {error}")
    for view in (theirs, theirs.T, theirs[:, ::-2], theirs[1:, 1:]):
        assert mg.from_dlpack(view).tolist() == view.tolist() == mg.from_dlpack(view, copy=False).tolist()
    ours = mg.arange(12, device="cuda").float().reshape(3, 4)
    back = cupy.from_dlpack(ours)
    assert back.tolist() == ours.tolist() and cupy.from_dlpack(ours.t()).tolist() == ours.t().tolist()
    with cupy.cuda.Stream(non_blocking=True):
        x = cupy.ones((2048, 2048), dtype="float32")
        for _ in range(10):
            x = (x @ x) / 2048
        assert mg.from_dlpack(x).sum().item() == 2048 * 2048
        y = mg.ones(2048, 2048, device="cuda")
        for _ in range(10):
            y = (y @ y) / 2048
        assert float(cupy.from_dlpack(y).sum()) == 2048 * 2048


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    try:
        theirs = jax.numpy.arange(12, dtype="float32").reshape(3, 4)
        on_gpu = "cuda" in str(next(iter(theirs.devices()))).lower()
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is not ours
        pytest.skip(f"this JAX does not work: {error}")
    if not on_gpu:
        pytest.skip("this JAX has no CUDA")
    assert mg.from_dlpack(theirs).is_cuda and mg.from_dlpack(theirs).tolist() == theirs.tolist()
    ours = mg.arange(12, device="cuda").float().reshape(3, 4)
    assert jax.dlpack.from_dlpack(ours).tolist() == ours.tolist()


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_the_example_learns(device, tmp_path):
    example = ROOT / "examples" / "mnist.py"
    if not example.exists():
        pytest.skip("there are no examples beside this test")
    # A process that a signal ends says what each of its threads was at.
    environment = {k: v for k, v in os.environ.items() if k != "MNIST_DIR"} | {"PYTHONFAULTHANDLER": "1"}
    arguments = [sys.executable, str(example), "--drawn", "6000", "--epochs", "3", "--device", device]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"epoch 3/3 ([0-9.]+)%", done.stdout)[1]) > 90


def test_moons_under_the_environment(tmp_path):
    example = ROOT / "examples" / "moons.py"
    if not example.exists():
        pytest.skip("there are no examples beside this test")
    environment = {**os.environ, "MG_DEVICE": "cuda", "PYTHONFAULTHANDLER": "1"}
    arguments = [sys.executable, str(example), "7", "out.png"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment)
    assert done.returncode == 0 and "accuracy 100%" in done.stdout, done.stderr


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 130, 300])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_factorisations(n, dtype):
    mg.manual_seed(n)
    tolerance = 1e-3 if dtype == "f32" else 1e-9

    def alike(got, wanted):
        assert got.is_cuda and got.shape == wanted.shape
        assert float((got.cpu() - wanted).abs().max()) <= tolerance * max(1.0, float(wanted.abs().max()))

    x = mg.randn(2, n, n, dtype=dtype)
    own, right = x + 2 * n**0.5 * mg.eye(n, dtype=dtype), mg.randn(2, n, 3, dtype=dtype)
    symmetric = x @ x.transpose(1, 2) / n + mg.eye(n, dtype=dtype)
    on, b = own.cuda(), right.cuda()
    alike(mg.linalg.cholesky(symmetric.cuda()), mg.linalg.cholesky(symmetric))
    alike(mg.linalg.solve(on, b), mg.linalg.solve(own, right))
    alike(mg.linalg.slogdet(on)[1], mg.linalg.slogdet(own)[1])
    for upper in (False, True):
        triangles = (mg.linalg.solve_triangular(t, side, upper=upper) for t, side in ((on, b), (own, right)))
        alike(*triangles)
    # Rows are exchanged as the host does, and the same matrices give the same bits.
    lu, pivots = mg.linalg.lu_factor(x.cuda())
    again, _ = mg.linalg.lu_factor(x.cuda())
    assert mg.equal(lu, again)
    if dtype == "f64":
        assert pivots.tolist() == mg.linalg.lu_factor(x)[1].tolist()
    wide = mg.linalg.lu(x[:, : n // 2 + 1].cuda())
    alike(wide[0] @ wide[1] @ wide[2], x[:, : n // 2 + 1])


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(
    "shape",
    # A lane's row, a warp, a panel and one row more, several panels, wide ones, many rows, the last that a block has in registers, a row more.
    [(1, 1), (2, 3, 2), (5, 31, 31), (3, 32, 32), (2, 33, 33), (2, 70, 40), (2, 40, 70), (1, 7), (9, 1), (130, 130), (260, 20), (1030, 40), (2048, 33), (2049, 3)],
)
def test_reflections(shape, dtype):
    mg.manual_seed(sum(shape))
    tolerance = 1e-4 if dtype == "f32" else 1e-12
    x = mg.randn(*shape, dtype=dtype)
    m, n = shape[-2:]

    def near(got, wanted, scale=1.0):
        assert got.is_cuda and got.shape == wanted.shape
        assert got.numel() == 0 or float((got.cpu() - wanted).abs().max()) <= tolerance * scale

    for mode in ("reduced", "complete", "r") if m <= 300 else ("reduced", "r"):
        q, r = mg.linalg.qr(x.cuda(), mode)
        # Signs are the host's, and the same matrices give the same bits.
        wanted = mg.linalg.qr(x.double(), mode)[1]
        near(r.double(), wanted, 20 * max(1.0, float(wanted.abs().max())))
        assert mg.equal(r, mg.linalg.qr(x.cuda(), mode)[1]) and float(r.cpu().tril(-1).abs().max()) == 0
        if mode != "r":
            near(q @ r, x, float(x.abs().max()) * n**0.5)
            near(q.mT @ q, mg.eye(q.shape[-1], dtype=dtype).expand(*shape[:-2], -1, -1))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_reflections_of_odd_matrices(dtype):
    mg.manual_seed(0)
    x = mg.randn(40, 36, dtype=dtype)
    far = 1e30 if dtype == "f32" else 1e250
    eps = 1e-5 if dtype == "f32" else 1e-13
    below = mg.eye(40, 36, dtype=dtype) + x.tril(-1) / far
    # Squares that are too large, too small, or both; nothing to reflect; less than full rank; signs that follow from what is all but zero.
    for a in (x * far, x / far, x * mg.logspace(-25, 25, 36, dtype=dtype), x * 0, x.triu(), mg.ones(40, 36, dtype=dtype), below):
        q, r = (part.cpu() for part in mg.linalg.qr(a.cuda()))
        assert float((q.mT @ q - mg.eye(36, dtype=dtype)).abs().max()) < eps * 10
        assert float((q @ r - a).abs().max()) <= eps * 10 * float(a.abs().max())
    assert mg.linalg.qr(below.cuda())[1].diagonal().tolist() == [-1.0] * 36
    x[5, 3] = float("nan")
    r = mg.linalg.qr(x.cuda())[1].isnan().cpu()
    assert not bool(r[:, :3].any()) and bool(r[3, 3:].all())
    for shape in ((0, 3), (3, 0), (2, 0, 0), (0, 4, 4)):
        q, r = mg.linalg.qr(mg.zeros(*shape, dtype=dtype, device="cuda"), "complete")
        assert q.shape == (*shape[:-2], shape[-2], shape[-2]) and r.shape == shape


@pytest.mark.parametrize("shape", [(40, 7), (7, 40), (2, 9, 9), (300, 33), (1, 1)])
def test_least_squares(shape):
    mg.manual_seed(1)
    x, b = mg.randn(*shape, dtype="f64"), mg.randn(*shape[:-1], 3, dtype="f64")
    results = []
    for device in ("cpu", "cuda"):
        a, right = (t.detach().to(device).requires_grad_() for t in (x, b))
        solution, left, rank, values = mg.linalg.lstsq(a, right, driver="gels")
        assert rank.numel() == values.numel() == 0 and (left.numel() > 0) == (shape[-2] > shape[-1])
        (solution**3).sum().backward()
        alone = mg.linalg.lstsq(x.to(device), b.to(device), driver="gels").solution
        results.append([t.detach().cpu() for t in (solution, left, a.grad, right.grad, alone)])
    results.append([mg.linalg.lstsq(x, b, driver="gelsy").solution])
    for on in results[1:]:
        for got, wanted in zip(on, results[0]):
            assert got.shape == wanted.shape
            assert got.numel() == 0 or float((got - wanted).abs().max()) <= 1e-7 * max(1.0, float(wanted.abs().max()))
    # What names no driver is PyTorch's for CUDA.
    assert mg.linalg.lstsq(x.cuda(), b.cuda())[2].numel() == 0


@pytest.mark.parametrize("n", [4, 100])
def test_what_factorisations_refuse(n):
    good = mg.eye(n, device="cuda")
    wrong = mg.stack([good, good, good])
    wrong[1, 2, 2] = -1.0
    with pytest.raises(mg.linalg.LinAlgError, match=r"Batch element 1.*order 3"):
        mg.linalg.cholesky(wrong)
    assert mg.linalg.cholesky_ex(wrong)[1].tolist() == [0, 3, 0]
    wrong[1, 2, 2] = 0.0
    for call in (mg.linalg.inv, lambda a: mg.linalg.solve(a, mg.ones(3, n, 1, device="cuda")), mg.linalg.lu_factor):
        with pytest.raises(mg.linalg.LinAlgError, match="Batch element 1"):
            call(wrong)
    assert mg.linalg.inv_ex(wrong)[1].tolist() == [0, 3, 0] and mg.linalg.det(wrong).tolist() == [1, 0, 1]
    # Work goes on, and so does a recording's, after one that was refused.
    factor = mg.jit(lambda a: mg.linalg.cholesky(a).sum())
    assert [factor(4 * good).item() for _ in range(3)] == [2 * n] * 3
    with pytest.raises(mg.linalg.LinAlgError, match="order 1"):
        factor(-good).item()
    assert factor(9 * good).item() == 3 * n


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


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_normal_numbers_are_the_hosts(dtype):
    """Pairs of uniform numbers make pairs of normal ones, wherever a walk of them begins."""
    for take in (lambda x: x, lambda x: x[1:], lambda x: x[3:1000:2], lambda x: x.flip(0), lambda x: x[:4097].reshape(17, 241).t().contiguous()):
        both = []
        for device in ("cpu", "cuda"):
            mg.manual_seed(11)
            mg.rand(5, device=device)
            both.append((take(mg.randn(10_001, dtype=dtype, device=device)) + 0).cpu())
        assert both[0].tolist() == both[1].tolist()


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i64", "i32", "u8", "i16"])
def test_running_extremes_are_the_hosts(dtype):
    for shape, dim in (((3, 9000), 1), ((5, 7), 1), ((70, 40), 0), ((1, 70_000), 1), ((2, 300, 33), 1), ((4, 8), 1)):
        x = (mg.randn(shape) * 3).round().abs().to(dtype)
        x = -x if dtype in ("f32", "f64", "f16", "bf16") else x
        for f in (mg.cummax, mg.cummin):
            there, here = f(x.cuda(), dim), f(x, dim)
            assert there[0].cpu().tolist() == here[0].tolist() and there[1].cpu().tolist() == here[1].tolist()
    if dtype in ("f32", "f64"):
        x = mg.randn(4, 50, dtype=dtype)
        x[1, 20] = float("nan")
        grads = []
        for device in ("cpu", "cuda"):
            t = x.detach().to(device).requires_grad_()
            values, _ = t.cummax(1)
            (values.nan_to_num() * mg.arange(50, device=device).to(dtype)).sum().backward()
            grads.append(t.grad.cpu().tolist())
        assert grads[0] == grads[1]


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i16"])
@pytest.mark.parametrize("row", [32, 100, 256, 300])
def test_sums_of_long_rows_are_the_hosts(dtype, row):
    """Few positions of a target are followed, many are looked for; in their order."""
    n, size = 6000, 3000
    for kind in range(4):
        index = mg.randint(size, (n,))
        if kind == 1:
            index[: n // 2] = 7
        if kind == 2:
            index = index % 100
        if kind == 3:
            index[100:133] = 2999
        x = (mg.randn(n, row) * 8).to(dtype)
        base = mg.zeros(size, row, dtype=dtype)
        there = base.cuda().index_add(0, index.cuda(), x.cuda())
        assert (there.cpu() == base.index_add(0, index, x)).all().item()
        assert (there == base.cuda().index_add(0, index.cuda(), x.cuda())).all().item()
    with pytest.raises(IndexError):
        index[5] = size
        base.cuda().index_add(0, index.cuda(), x.cuda()).sum().item()
