"""Names of PyTorch's that are neither layers nor operations: timers, CUDA's streams and memory where there is no device, attention by functions of
scores, the graph of gradients.
"""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import nn
from micrograd_rs.nn import functional as F
from micrograd_rs.nn.attention import SDPBackend, bias, sdpa_kernel
from micrograd_rs.nn.attention.flex_attention import (
    AuxRequest,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)
from micrograd_rs.utils import benchmark

NO_CUDA = pytest.mark.skipif(mg.cuda.is_available(), reason="this machine has CUDA")


# Timers.


def test_timers_compute_what_they_time(monkeypatch):
    x, w = mg.ones(8, 8), mg.ones(8, 8, requires_grad=True)
    net = nn.Linear(8, 8)
    optimizer = mg.optim.SGD(net.parameters(), lr=0.1)

    def launches(stmt, setup="pass", runs=4, **names):
        timed = benchmark.Timer(stmt, setup, globals={"x": x, "w": w, **names})
        timed.timeit(1)
        with mg.profile() as prof:
            timed._take(runs)
        return len(prof.launches)

    assert launches("x @ x") >= 4 and launches("y = x @ x") >= 4 and launches("for i in range(2):\n    y = x @ x") >= 4
    assert launches("y.mul_(2)", "y = x.clone()") >= 4 and launches("[x @ x, {'a': x + 1}]") >= 8
    assert launches("(x @ w).sum().backward()") >= 4
    before = net.weight.tolist()
    assert launches("net(x).sum().backward(); optimizer.step(); optimizer.zero_grad()", net=net, optimizer=optimizer) >= 4
    assert net.weight.tolist() != before
    assert benchmark.Timer("torch.ones(2) + mg.ones(2)").timeit(2).number_per_run == 2


def test_measurements_and_tables():
    spec = {"label": "product", "sub_label": "[8, 8]"}
    m = benchmark.Timer("a * a", "a = 3", description="ints", **spec).blocked_autorange(min_run_time=0.005)
    assert sum(m.raw_times) >= 0.005 and 0 < m.median < 1e-3 and m.iqr >= 0 and m.mean > 0 and m.as_row_name == "[8, 8]" and m.title == "product: [8, 8]"
    assert "product: [8, 8]\nints\nsetup: a = 3\n" in repr(m) and "1 thread" in repr(m)
    known = benchmark.Measurement(10, [1e-4, 1.1e-4, 1.2e-4, 1.3e-4, 2e-4], m.task_spec)
    assert known.times == [pytest.approx(t) for t in (1e-5, 1.1e-5, 1.2e-5, 1.3e-5, 2e-5)]
    assert known.median == pytest.approx(1.2e-5) and known.iqr == pytest.approx(2e-6) and known.has_warnings and known.significant_figures == 1
    assert len(benchmark.Measurement.merge([m, m, known])) == 1
    other = benchmark.Measurement(1, [3.25e-3], benchmark.TaskSpec("b", "pass", label="product", sub_label="[8, 8]", description="lists"))
    compare = benchmark.Compare([known, other])
    assert "|  ints" in str(compare) and "lists" in str(compare) and "3250.0" in str(compare) and "Times are in microseconds (us)." in str(compare)
    compare.trim_significant_figures()
    assert "|    10  |   3250" in str(compare)
    compare.colorize(rowwise=True)
    compare.highlight_warnings()
    assert "\033[92m" in str(compare) and "(! 17%)" in str(compare)
    assert benchmark.Timer("1 + 1", num_threads=2).adaptive_autorange(min_run_time=0.001, max_run_time=0.1).num_threads == 2
    threads = mg.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        benchmark.Timer("1 / 0").timeit(1)
    assert mg.get_num_threads() == threads
    for wrong, text in (({"language": "c++"}, "Python"), ({"global_setup": "x"}, "global_setup")):
        with pytest.raises(ValueError, match=text):
            benchmark.Timer("1", **wrong)
    with pytest.raises(SyntaxError, match="statement"):
        benchmark.Timer("1 +")
    with pytest.raises(ValueError, match="Measurement"):
        benchmark.Compare([1.0])
    assert benchmark.select_unit(2e-5) == ("us", 1e-6) and benchmark.trim_sigfig(1234.5, 2) == 1200.0


# CUDA.


@NO_CUDA
def test_cuda_without_a_device():
    cuda = mg.cuda
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == cuda.memory_reserved() == cuda.max_memory_reserved() == 0
    assert cuda.memory_stats() == {} and cuda.get_rng_state_all() == [] and cuda.default_generators == () and not cuda.is_tf32_supported()
    cuda.set_rng_state_all([])
    cuda.empty_cache()
    cuda.ipc_collect()
    cuda.manual_seed_all(3)
    cuda.set_device(-1)
    with cuda.device(None), cuda.device_of(mg.ones(1)), cuda.stream(None):
        pass
    event = cuda.Event(enable_timing=True)
    assert event.query() and "uninitialized" in repr(event)
    for wrong in (
        cuda.mem_get_info, cuda.memory_summary, cuda.Stream, cuda.current_stream, cuda.default_stream, cuda.reset_peak_memory_stats, event.record,
        lambda: cuda.set_device(0), lambda: cuda.device(0).__enter__(), lambda: cuda.set_per_process_memory_fraction(0.5), lambda: cuda.get_device_properties(0),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="cuda:0 cannot be used"):
            wrong()
    assert cuda.memory.memory_allocated is cuda.memory_allocated


def test_cuda_by_errors_and_names():
    cuda = mg.cuda
    with pytest.raises(ValueError, match="enable_timing=True"):
        cuda.Event().elapsed_time(cuda.Event())
    with pytest.raises(ValueError, match="must be recorded"):
        cuda.Event(enable_timing=True).elapsed_time(cuda.Event(enable_timing=True))
    with pytest.raises(ValueError, match="takes a CUDA device"):
        cuda.set_device("cpu")
    with pytest.raises(ValueError, match="part from 0 to 1"):
        cuda.set_per_process_memory_fraction(2.0)
    for wrong in (cuda.CUDAGraph, lambda: cuda.graph(None)):
        with pytest.raises(RuntimeError, match="jit"):
            wrong()
    f = cuda.make_graphed_callables(lambda x: x * 2, (mg.ones(1),))
    assert [f(mg.ones(1)).item() for _ in range(4)] == [2.0] * 4 and f.is_replaying
    assert len(cuda.make_graphed_callables((nn.ReLU(), nn.Tanh()), ((), ()))) == 2
    try:
        raise MemoryError("none left")
    except cuda.OutOfMemoryError as error:
        assert "none left" in str(error)
    assert repr(cuda.FloatTensor) == "<class 'micrograd_rs.cuda.FloatTensor'>" and not isinstance(mg.ones(1), cuda.FloatTensor)
    with pytest.raises(AttributeError, match="did you mean 'Event'"):
        cuda.Events


class Standing:
    """What stands for a CUDA device here: its work is counted."""

    index = 0

    def __init__(self):
        self.waits, self.allocations = 0, 0

    def synchronize(self):
        self.waits += 1

    def memory_stats(self):
        return {"allocations": self.allocations, "active": 3 << 20, "cached": 1 << 20, "peak": 5 << 20, "hits": 2}

    def __str__(self):
        return "cuda:0"


def test_events_on_a_device_that_stands_for_one(monkeypatch):
    from micrograd_rs.cuda import streams

    device = Standing()
    monkeypatch.setattr(streams, "_device", lambda _: device)
    start, end = (mg.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    device.allocations += 1
    end.record(mg.cuda.current_stream())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert start.elapsed_time(end) > 0 > end.elapsed_time(start)
    again = mg.cuda.Stream().record_event(mg.cuda.Event(enable_timing=True))
    again._time = end._time + 1000
    with pytest.warns(UserWarning, match="nothing was computed on cuda:0"):
        assert end.elapsed_time(again) == pytest.approx(1e-3)
    waits = device.waits
    plain = mg.cuda.Event()
    plain.record()
    assert device.waits == waits
    plain.synchronize()
    mg.cuda.Stream().synchronize()
    mg.cuda.Stream().wait_event(plain)
    mg.cuda.Stream().wait_stream(mg.cuda.Stream())
    assert device.waits == waits + 2 and mg.cuda.Stream() == mg.cuda.default_stream() and mg.cuda.Stream().query()
    with mg.cuda.stream(mg.cuda.Stream()), mg.cuda.Stream():
        pass


def test_memory_of_a_device_that_stands_for_one(monkeypatch):
    device = Standing()
    monkeypatch.setattr(mg.cuda, "_device", lambda _: device)
    monkeypatch.setattr(mg.cuda, "is_available", lambda: True)
    stats = mg.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == mg.cuda.memory_allocated() == 3 << 20 and stats["allocated_bytes.all.peak"] == 5 << 20
    assert mg.cuda.memory_reserved() == 4 << 20 and mg.cuda.max_memory_reserved() == 5 << 20
    assert "in use" in mg.cuda.memory_summary() and "3.0" in mg.cuda.memory_summary()


def test_the_driver_is_asked_as_it_wants(monkeypatch):
    """Which functions are called, with a library that stands for the driver's."""
    from micrograd_rs.cuda import _driver

    calls = []

    class Library:
        def __getattr__(self, name):
            def function(*args):
                calls.append(name)
                if name == "cuMemGetInfo_v2":
                    args[0]._obj.value, args[1]._obj.value = 7, 11
                elif name == "cuDeviceGetAttribute":
                    args[0]._obj.value = args[1].value
                elif name == "cuCtxPushCurrent_v2" and args[0].value == 99:
                    return 1
                return 0

            return function

    monkeypatch.setattr(_driver, "_library", Library)
    assert _driver.memory(Standing()) == (7, 11)
    assert calls == [
        "cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", "cuMemGetInfo_v2", "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2",
    ]  # fmt: skip
    assert _driver.attributes(Standing())["multi_processor_count"] == 16
    monkeypatch.setattr(Library, "cuMemGetInfo_v2", lambda *_: 201, raising=False)
    calls.clear()
    with pytest.raises(RuntimeError, match="cuMemGetInfo_v2: the CUDA driver answers with error 201"):
        _driver.memory(Standing())
    assert calls[-2:] == ["cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2"]


# Attention.


def test_ways_of_attention():
    q = mg.rand(1, 2, 4, 8)
    plain = F.scaled_dot_product_attention(q, q, q)
    for backends in (SDPBackend.MATH, [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
        with sdpa_kernel(backends, set_priority=True):
            assert mg.equal(F.scaled_dot_product_attention(q, q, q), plain)
    with pytest.raises(TypeError, match="takes an SDPBackend"), sdpa_kernel("math"):
        pass

    @sdpa_kernel(SDPBackend.MATH)
    def attend():
        return F.scaled_dot_product_attention(q, q, q)

    assert mg.equal(attend(), plain)
    assert bias.causal_upper_left(2, 3)._materialize().tolist() == [[True, False, False], [True, True, False]]
    assert bias.causal_lower_right(2, 3)._materialize("cpu").tolist() == [[True, True, False], [True, True, True]]
    assert bias.causal_lower_right(3, 2)._materialize().tolist() == [[False, False], [True, False], [True, True]]
    with pytest.raises(TypeError, match="CausalVariant"):
        bias.CausalBias(1, 2, 3)
    with pytest.raises(RuntimeError, match="2 sizes"):
        bias.causal_upper_left(3)


def written_out(q, k, v, score, mask, scale=None):
    """Attention by the definition, score for score."""
    out = mg.zeros(*q.shape[:3], v.shape[-1])
    b, h, rows, columns = *q.shape[:3], k.shape[2]
    scale = scale or 1 / math.sqrt(q.shape[-1])
    for i in range(b):
        for j in range(h):
            for r in range(rows):
                at = [c for c in range(columns) if mask(i, j, r, c)]
                if at:
                    scores = [score(((q[i, j, r] * k[i, j, c]).sum() * scale).item(), i, j, r, c) for c in at]
                    weights = mg.tensor(scores).softmax(0)
                    out[i, j, r] = sum(w * v[i, j, c] for w, c in zip(weights, at))
    return out


def test_scores_of_ones_own():
    mg.manual_seed(4)
    q, k, v = mg.randn(2, 2, 5, 4), mg.randn(2, 2, 6, 4), mg.randn(2, 2, 6, 3)
    plain = flex_attention(q, k, v)
    assert mg.allclose(plain, F.scaled_dot_product_attention(q, k, v), atol=1e-6)
    table = mg.randn(2, 11)
    made = flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s * 0.5 + table[h, i - j + 5] + b)
    wanted = written_out(q, k, v, lambda s, b, h, i, j: s * 0.5 + table[h, i - j + 5].item() + b, lambda *_: True)
    assert mg.allclose(made, wanted, atol=1e-5)
    documents = mg.tensor([0, 0, 1, 1, 1, 2])

    def same(b, h, i, j):
        return (documents[i] == documents[j]) & (i >= j - 1) & (i != 4)

    mask = create_block_mask(same, None, None, 5, 6, BLOCK_SIZE=2)
    seen = create_mask(same, None, None, 5, 6)[0, 0].tolist()
    made, lse = flex_attention(q, k, v, block_mask=mask, scale=0.7, return_lse=True)
    assert mg.allclose(made, written_out(q, k, v, lambda s, *_: s, lambda b, h, i, j: seen[i][j], 0.7), atol=1e-5)
    again, aux = flex_attention(q, k, v, block_mask=mask, scale=0.7, return_aux=AuxRequest(lse=True, max_scores=True))
    assert mg.equal(again, made) and mg.equal(aux.lse, lse) and aux.max_scores.shape == (2, 2, 5)
    scores = (q @ k.mT * 0.7).masked_fill(~mg.tensor(seen), -math.inf)
    assert mg.allclose(aux.max_scores, scores.amax(-1)) and flex_attention(q, k, v, return_aux=AuxRequest())[1] == (None, None)
    assert made[:, :, 4].abs().max() == 0 and bool((lse[:, :, 4] == -math.inf).all()) and lse.shape == (2, 2, 5)
    assert mask.shape == (1, 1, 5, 6) and mask.to_dense()[0, 0].tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert mask.sparsity() == pytest.approx(600 / 9) and mask.numel() == 30
    assert mask.full_kv_num_blocks.tolist() == [[[1, 1, 0]]] and mask.kv_num_blocks.tolist() == [[[0, 1, 0]]] and mask.kv_indices[0, 0, 1, 0] == 2
    assert mask[0].shape == (1, 1, 5, 6) and mask[:, :, 1:].shape == (1, 1, 3, 6) and "BlockMask(shape=(1, 1, 5, 6)" in repr(mask)


def test_gradients_of_scores_of_ones_own():
    mg.manual_seed(6)
    q, k, v, table = (mg.randn(*s).requires_grad_() for s in ((1, 4, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), (4, 5)))
    made = flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + table[h, i - j + 2], enable_gqa=True)
    gradients = mg.autograd.grad(made.sin().sum(), (q, k, v, table))
    i, j = mg.arange(3)[:, None], mg.arange(3)[None]
    scores = q @ k.repeat_interleave(2, 1).mT / 2 + table[:, i - j + 2]
    again = mg.autograd.grad((scores.softmax(-1) @ v.repeat_interleave(2, 1)).sin().sum(), (q, k, v, table))
    for a, b in zip(gradients, again):
        assert mg.allclose(a, b, atol=1e-5)
    for wrong, text in (
        (lambda: flex_attention(q, k, v), "enable_gqa"), (lambda: flex_attention(q[0], k, v), "4 axes"),
        (lambda: flex_attention(q, q, q, block_mask=create_block_mask(noop_mask, None, None, 4, 3)), "of 4 queries and 3 keys, got 3 and 3"),
        (lambda: flex_attention(q, k[:, :0], v[:, :0], enable_gqa=True), "got 0 and 4"), (lambda: flex_attention(q, k, v[:, :, :2], enable_gqa=True), "lengths of values"),
        (lambda: create_block_mask(noop_mask, None, None, 3, 3, BLOCK_SIZE=0), "BLOCK_SIZE above 0, got 0"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            wrong()
    band = and_masks(lambda b, h, i, j: i >= j, lambda b, h, i, j: i - j < 2)
    assert create_mask(band, 1, None, 3, 3)[0, 0].tolist() == [[True, False, False], [True, True, False], [False, True, True]]
    either = or_masks(lambda b, h, i, j: i == j, lambda b, h, i, j: i == 0)
    assert create_mask(either, None, 2, 2, 2).tolist() == [[[[True, True], [False, True]]] * 2]
    assert create_mask(noop_mask, None, None, 2, 2).all()


# The graph of gradients.


def test_the_graph_of_gradients():
    from micrograd_rs.autograd import graph

    x = mg.ones(2, requires_grad=True)
    y = x.exp()
    edge = graph.get_gradient_edge(y)
    assert isinstance(edge.node, graph.Node) and edge.node.name() == "ExpBackward0" and edge.output_nr == 0
    leaf = graph.get_gradient_edge(x)
    assert leaf.node.name() == edge.node.next_functions[0][0].name() and leaf.node.variable.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(mg.ones(1))
    for wrong in (lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t), graph.save_on_cpu):
        with pytest.raises(NotImplementedError, match="utils.checkpoint"):
            wrong()
    with pytest.raises(NotImplementedError, match=r"clone\(\)"):
        graph.allow_mutation_on_saved_tensors()
    with graph.disable_saved_tensors_hooks("none"):
        assert x.exp().requires_grad


# Devices and processes.


def test_accelerators_and_versions():
    assert mg.accelerator.is_available() == mg.cuda.is_available() and mg.accelerator.device_count() == mg.cuda.device_count()
    found = mg.accelerator.current_accelerator(check_available=True)
    assert (found is None) == (not mg.cuda.is_available()) and (found is None or found.type == "cuda")
    assert mg.cpu.is_available() and mg.cpu.device_count() == 1 and mg.cpu.current_device() == "cpu"
    mg.cpu.synchronize()
    assert mg.version.__version__ == mg.__version__ and mg.version.hip is None and (mg.version.cuda is None) == (not mg.cuda.is_available())
    with mg.accelerator.device_index(None):
        pass
    assert mg.OutOfMemoryError is mg.cuda.OutOfMemoryError is MemoryError


def test_one_process():
    import micrograd_rs.distributed as dist
    from micrograd_rs.nn.parallel import DistributedDataParallel
    from micrograd_rs.nn.parallel.distributed import DistributedDataParallel as Again

    assert not dist.is_available() and not dist.is_initialized() and not dist.is_nccl_available() and Again is DistributedDataParallel
    for wrong in (dist.get_rank, dist.barrier, lambda: dist.init_process_group("nccl"), lambda: dist.all_reduce(mg.ones(1)), lambda: DistributedDataParallel(nn.ReLU())):
        with pytest.raises(RuntimeError, match="one process here"):
            wrong()
    with pytest.raises(RuntimeError, match="share no memory"):
        nn.Linear(1, 1).share_memory()


def test_one_device_for_all():
    net = nn.Linear(2, 3)
    assert mg.equal(nn.parallel.data_parallel(net, mg.ones(4, 2)), net(mg.ones(4, 2)))
    bilinear = nn.Bilinear(2, 2, 1)
    assert nn.parallel.data_parallel(bilinear, (mg.ones(4, 2),), module_kwargs={"input2": mg.ones(4, 2)}).shape == (4, 1)
    with pytest.raises(ValueError, match="one device"):
        nn.parallel.data_parallel(net, mg.ones(4, 2), device_ids=[0, 1])


def test_samples_of_several_processes():
    from micrograd_rs.utils.data import DistributedSampler

    parts = [list(DistributedSampler(range(10), num_replicas=3, rank=r, shuffle=False)) for r in range(3)]
    assert parts == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    assert [list(DistributedSampler(range(10), 3, r, False, drop_last=True)) for r in range(3)] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    assert list(DistributedSampler([7], 4, 3, False)) == [0] and len(DistributedSampler(range(10), 3, 0)) == 4
    shuffled = [DistributedSampler(range(12), 3, r, seed=5) for r in range(3)]
    first = [list(s) for s in shuffled]
    assert sorted(i for part in first for i in part) == list(range(12)) and first == [list(s) for s in shuffled]
    for s in shuffled:
        s.set_epoch(1)
    assert [list(s) for s in shuffled] != first and sorted(i for s in shuffled for i in s) == list(range(12))
    with pytest.raises(ValueError, match="Invalid rank 3"):
        DistributedSampler([1], 3, 3)
    with pytest.raises(RuntimeError, match="say num_replicas and rank"):
        DistributedSampler([1])


# Modules and first values.


def test_modules_compiled_in_place(tmp_path):
    import copy
    import pickle

    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    x = mg.ones(4, 2)
    plain, names = net(x), list(net.state_dict())
    assert net.compile(mode="reduce-overhead", backend="eager") is None
    seen = []
    handle = net.register_forward_hook(lambda module, args, output: seen.append(output.shape))
    for _ in range(4):
        assert mg.allclose(net(x), plain)
    assert list(net.state_dict()) == names and type(net) is nn.Sequential and seen[0] == (4, 3)
    assert net._compiled.call.is_replaying or net._compiled.call.reason
    handle.remove()
    with mg.no_grad():
        net[0].weight.zero_()
        net[0].bias.fill_(2)
    for _ in range(4):
        assert net(x).tolist() == [[2.0] * 3] * 4
    for other in (copy.deepcopy(net), copy.copy(net), pickle.loads(pickle.dumps(net))):
        assert other(x).tolist() == [[2.0] * 3] * 4
        with mg.no_grad():
            if other[0] is not net[0]:
                other[0].bias.fill_(5)
                assert other(x).tolist() == [[5.0] * 3] * 4 and net(x).tolist() == [[2.0] * 3] * 4
    net.compile(disable=True)
    assert net._compiled is None
    loss = nn.Linear(2, 1)
    loss.compile()
    for _ in range(4):
        loss.zero_grad()
        loss(x).sum().backward()
        assert loss.weight.grad.tolist() == [[4.0, 4.0]]
    deep = nn.Sequential(nn.Linear(1, 1))
    deep[0].compile(fullgraph=True)
    with pytest.raises(RuntimeError, match=r"0 \(Linear\): "):
        for _ in range(3):
            deep(mg.ones(2, 3))


def test_classes_that_are_many():
    from micrograd_rs.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss

    layer = AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[4, 10], div_value=2.0, head_bias=True)
    assert [(n, tuple(p.shape)) for n, p in layer.named_parameters()] == [
        ("head.weight", (6, 8)), ("head.bias", (6,)), ("tail.0.0.weight", (4, 8)), ("tail.0.1.weight", (6, 4)), ("tail.1.0.weight", (2, 8)), ("tail.1.1.weight", (10, 2)),
    ]  # fmt: skip
    x, target = mg.randn(7, 8), mg.tensor([0, 3, 4, 9, 10, 19, 4])
    found = layer(x, target)
    everything = layer.log_prob(x)
    assert mg.allclose(everything.exp().sum(1), mg.ones(7)) and everything.shape == (7, 20)
    assert mg.allclose(found.output, everything.gather(1, target.unsqueeze(1)).squeeze(1), atol=1e-6) and mg.allclose(found.loss, -found.output.mean())
    assert layer.predict(x).tolist() == everything.argmax(1).tolist()
    assert mg.allclose(layer(x[2], target[2]).output, found.output[2]) and layer(x[2], target[2]).output.shape == ()
    found.loss.backward()
    assert all(p.grad is not None for p in layer.parameters())
    before = layer.head.weight.tolist()
    layer.reset_parameters()
    assert layer.head.weight.tolist() != before
    for wrong, text in (
        (lambda: layer(x, mg.full((7,), 20)), r"\[0, 19\]"), (lambda: layer(x, target[:3]), "batch dimension"), (lambda: layer(x, target.unsqueeze(1)), "takes an input"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            wrong()
    for cutoffs in ([], [4, 4], [5, 2], [0, 3], [20]):
        with pytest.raises(ValueError, match="cutoffs should be"):
            AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs)


def test_first_values_of_a_generator():
    shape = (64, 48)
    laws = {
        "uniform_": ((-2.0, 3.0), 0.5, 5 / math.sqrt(12)), "normal_": ((1.0, 2.0), 1.0, 2.0), "xavier_uniform_": ((2.0,), 0.0, 2 * math.sqrt(2 / 112)),
        "xavier_normal_": ((), 0.0, math.sqrt(2 / 112)), "kaiming_uniform_": ((0.0, "fan_out", "relu"), 0.0, math.sqrt(2 / 64)),
        "kaiming_normal_": ((), 0.0, math.sqrt(2 / 48)), "trunc_normal_": ((0.0, 1.0, -1.0, 1.0), 0.0, 0.5396),
    }  # fmt: skip
    for name, (args, mean, deviation) in laws.items():
        init = getattr(nn.init, name)
        state = mg.get_rng_state()
        one, again = (init(mg.empty(shape), *args, generator=mg.Generator().manual_seed(3)) for _ in range(2))
        assert mg.equal(one, again) and mg.equal(mg.get_rng_state(), state), name
        assert one.mean().item() == pytest.approx(mean, abs=4 * deviation / 55) and one.std().item() == pytest.approx(deviation, rel=0.04), name
        parameter = nn.Parameter(mg.empty(shape))
        assert init(parameter, *args, generator=mg.Generator()) is parameter and parameter.requires_grad and parameter.is_leaf
    for sizes in ((3, 5), (5, 3), (4, 2, 3)):
        q = nn.init.orthogonal_(mg.empty(sizes), 2.0, generator=mg.Generator().manual_seed(1)).flatten(1)
        product = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
        assert mg.allclose(product, 4 * mg.eye(min(q.shape)), atol=1e-5)
    thin = nn.init.sparse_(mg.empty(10, 4), 0.25, std=1.0, generator=mg.Generator().manual_seed(2))
    assert (thin == 0).sum(0).tolist() == [3] * 4
    # A generator's numbers are those of the default one with its seed, for all of them.
    every: dict[str, tuple[object, ...]] = {**{name: args for name, (args, *_) in laws.items()}, "orthogonal_": (), "sparse_": (0.25,)}
    for name, args in every.items():
        init = getattr(nn.init, name)
        for sizes in ((5, 7), (7, 5)):
            mg.manual_seed(3)
            wanted = init(mg.empty(sizes), *args)
            assert mg.equal(init(mg.empty(sizes), *args, generator=mg.Generator().manual_seed(3)), wanted), name
    assert nn.init._calculate_fan_in_and_fan_out(mg.empty(4, 3, 2, 2)) == (12, 16)
    for wrong, text in (
        (lambda g: nn.init.xavier_normal_(mg.empty(3), generator=g), "two axes or more"), (lambda g: nn.init.kaiming_normal_(mg.empty(3, 3), mode="fan", generator=g), "got \"fan\""),
        (lambda g: nn.init.orthogonal_(mg.empty(3), generator=g), "two axes or more"), (lambda g: nn.init.sparse_(mg.empty(3), 0.1, generator=g), "takes a matrix"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            wrong(mg.Generator())


# Arguments by name, and modules where programs look for them.


def test_arguments_by_name():
    q = mg.rand(1, 2, 3, 4)
    assert mg.equal(F.scaled_dot_product_attention(query=q, key=q, value=q, is_causal=True), F.scaled_dot_product_attention(q, q, q, None, 0.0, True))
    assert nn.Hardtanh(min_value=-2.0, max_value=2.0)(mg.tensor([-3.0, 3.0])).tolist() == [-2.0, 2.0]
    with pytest.raises(ValueError, match="below"):
        nn.Hardtanh(min_value=2.0)


def test_arrays_as_tensors():
    t = mg.ones(3)
    assert mg.asarray(t) is t and mg.asarray(obj=[1, 2]).tolist() == [1, 2] and mg.asarray(2.0).shape == ()
    copied = mg.asarray(t, copy=True)
    copied.fill_(5)
    assert t.tolist() == [1.0] * 3 and mg.asarray(t, dtype=mg.float64).dtype == mg.float64
    assert mg.asarray(t, requires_grad=True).requires_grad and not t.requires_grad
    for wrong in (lambda: mg.asarray([1.0], copy=False), lambda: mg.asarray(t, dtype=mg.float64, copy=False)):
        with pytest.raises(ValueError, match="cannot be shared"):
            wrong()
    numpy = pytest.importorskip("numpy")
    array = numpy.zeros(3, dtype=numpy.float32)
    shared = mg.asarray(array)
    shared[0] = 7
    assert array.tolist() == [7.0, 0.0, 0.0] and mg.asarray(array, copy=False).tolist() == [7.0, 0.0, 0.0]
    own = mg.asarray(array, copy=True)
    own[1] = 3
    assert array.tolist() == [7.0, 0.0, 0.0] and mg.asarray(array, dtype=mg.int64).tolist() == [7, 0, 0]


def test_modules_where_programs_look():
    from micrograd_rs.nn.modules.linear import NonDynamicallyQuantizableLinear
    from micrograd_rs.nn.modules.utils import _reverse_repeat_tuple
    from micrograd_rs.nn.parallel.data_parallel import DataParallel
    from micrograd_rs.optim.adamw import AdamW
    from micrograd_rs.optim.optimizer import ParamsT
    from micrograd_rs.utils._pytree import tree_all, tree_any, tree_flatten, tree_leaves, tree_map, tree_map_only, tree_unflatten
    from micrograd_rs.utils.data.distributed import DistributedSampler
    from micrograd_rs.utils.tensorboard.writer import SummaryWriter

    assert AdamW is mg.optim.AdamW is mg.optim.adamw.AdamW and DataParallel is nn.DataParallel and DistributedSampler is mg.utils.data.DistributedSampler
    assert SummaryWriter is mg.utils.tensorboard.SummaryWriter and _reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1) and ParamsT is not None
    assert isinstance(nn.MultiheadAttention(2, 1).out_proj, NonDynamicallyQuantizableLinear)
    tree = {"a": mg.ones(2), "b": [1, (2.0,)]}
    leaves, spec = tree_flatten(tree)
    assert len(leaves) == 3 and tree_unflatten(leaves, spec)["b"] == [1, (2.0,)] and tree_leaves([1, [2]]) == [1, 2]
    assert tree_map(lambda x, y: x + y, [1, (2,)], [3, (4,)]) == [4, (6,)] and tree_map_only(int, lambda x: -x, [1, 2.0]) == [-1, 2.0]
    assert tree_all(lambda x: x > 0, [1, [2]]) and not tree_any(lambda x: x > 2, [1, [2]])
    with pytest.raises(ValueError, match="same make"):
        tree_map(lambda x, y: x, [1], [1, 2])


def test_modules_where_programs_look_for_them(program):
    program(
        """
        import micrograd_rs as mg
        from micrograd_rs.autograd.gradcheck import gradcheck
        from micrograd_rs.autograd.grad_mode import no_grad
        from micrograd_rs.cpu.amp import GradScaler, autocast
        from micrograd_rs.nn.grad import conv2d_input
        assert gradcheck is mg.autograd.gradcheck and callable(gradcheck) and no_grad is mg.no_grad is mg.autograd.grad_mode.no_grad
        with autocast():
            assert (mg.ones(2, 2) @ mg.ones(2, 2)).dtype == mg.bfloat16
        assert GradScaler(enabled=False).get_scale() == 1.0 and conv2d_input
        import pickle
        assert type(pickle.loads(pickle.dumps(GradScaler(enabled=False)))) is GradScaler
        """
    )


def test_arguments_that_change_nothing(tmp_path):
    path = tmp_path / "a.mg"
    mg.save({"a": mg.ones(2)}, path, _use_new_zipfile_serialization=False)
    assert mg.load(path, encoding="latin1")["a"].tolist() == [1.0, 1.0]
    with mg.random.fork_rng(devices=[], device_type="cuda"):
        mg.manual_seed(7)
        first = mg.rand(1).item()
    assert first not in (mg.rand(1).item(),) and mg.initial_seed() != 7
    assert mg.testing.make_tensor(2, dtype=mg.float32, device="cpu", memory_format=mg.contiguous_format).shape == (2,)
    assert mg.autograd.gradcheck(lambda x: x * 2, (mg.ones(2, dtype=mg.float64, requires_grad=True),), masked=False)
    assert nn.SyncBatchNorm(3, bias=False).bias is None and mg.utils.data.default_convert(data=[1]) == [1]
    assert mg.compile(lambda x: x + 1, name="more", recompile_limit=3)(mg.ones(1)).item() == 2.0


def test_what_event_files_do_not_have(tmp_path):
    from micrograd_rs.utils.tensorboard import SummaryWriter

    class Canvas:
        def draw(self):
            pass

        def buffer_rgba(self):
            return memoryview(bytes(range(24))).cast("B", (2, 3, 4))

    class Figure:
        canvas = Canvas()

    with SummaryWriter(tmp_path, max_queue=2, flush_secs=1) as writer:
        writer.add_figure("f", Figure(), 1, close=False)
        writer.add_figure("g", [Figure(), Figure()], 1, close=False)
        for name, text in (("add_graph", "onnx.export"), ("add_hparams", "add_text"), ("add_embedding", "projector"), ("add_pr_curve", "add_figure")):
            with pytest.raises(NotImplementedError, match=f"SummaryWriter.{name}.*{text}"):
                getattr(writer, name)(None)
    data = next(tmp_path.iterdir()).read_bytes()
    assert b"g/1" in data and data.count(b"\x89PNG") == 3
    with pytest.raises(ValueError, match="another folder"):
        SummaryWriter(tmp_path, purge_step=3)


# Functions that programs of others call.


def test_operations_on_many_tensors():
    one, other = [mg.tensor([1.0, -4.0]), mg.tensor([[9.0]])], [mg.tensor([2.0, 0.5]), mg.tensor([[3.0]])]
    same = lambda got, wanted: len(got) == len(wanted) and all(mg.equal(a, b) for a, b in zip(got, wanted))  # noqa: E731
    assert same(mg._foreach_mul(one, 2.0), [t * 2 for t in one]) and isinstance(mg._foreach_mul(one, 2.0), tuple)
    assert same(mg._foreach_mul(one, [2.0, 3.0]), [one[0] * 2, one[1] * 3]) and same(mg._foreach_add(one, other, alpha=0.5), [a + 0.5 * b for a, b in zip(one, other)])
    assert same(mg._foreach_maximum(one, 0.0), [t.clamp(min=0) for t in one]) and same(mg._foreach_minimum(one, other), [a.minimum(b) for a, b in zip(one, other)])
    assert same(mg._foreach_lerp(one, other, 0.25), [a.lerp(b, 0.25) for a, b in zip(one, other)]) and same(mg._foreach_pow(2.0, other), [2.0**t for t in other])
    for value in ([0.1, 0.2], mg.tensor([0.1, 0.2])):
        assert all(mg.allclose(a, b) for a, b in zip(mg._foreach_addcdiv(one, other, other, value), [one[0] + 0.1, one[1] + 0.2]))
    assert [t.item() for t in mg._foreach_norm(one)] == [pytest.approx(17**0.5), 9.0] and [t.item() for t in mg._foreach_max(one)] == [1.0, 9.0]
    kept = [t.clone() for t in one]
    assert mg._foreach_mul_(kept, 0.5)[0] is kept[0] and same(kept, [t * 0.5 for t in one])
    mg._foreach_copy_(kept, other, True)
    assert same(kept, other)
    mg._foreach_zero_(kept)
    assert same(mg._foreach_sqrt(kept), [mg.zeros(2), mg.zeros(1, 1)])
    with pytest.raises(RuntimeError, match="_foreach_add: takes lists of one length, got 2 and 1"):
        mg._foreach_add(one, [1.0])
    with pytest.raises(AttributeError, match="_foreach_more"):
        mg._foreach_more


def test_boxes_of_points():
    """PyTorch's numbers."""
    points = mg.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]])
    found = mg.histogramdd(points, bins=[3, 3], weight=mg.tensor([1.0, 2.0, 4.0, 8.0]))
    assert found.hist.tolist() == [[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [4.0, 0.0, 8.0]]
    assert mg.allclose(found.bin_edges[0], mg.tensor([0.0, 2 / 3, 4 / 3, 2.0])) and len(found.bin_edges) == 2
    flat = mg.histogramdd(mg.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), bins=[2, 2], range=[0.0, 1.0, 0.0, 1.0], density=True)
    assert flat.hist.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    own = mg.histogramdd(points, bins=[mg.tensor([0.0, 1.0, 2.0]), mg.tensor([0.0, 0.5, 2.0])])
    assert own.hist.tolist() == [[0.0, 1.0], [2.0, 1.0]]
    with pytest.raises(RuntimeError, match="as many bins"):
        mg.histogramdd(points, bins=[3])
    hist, edges = mg.histogramdd(points[:0], bins=[2, 1])
    assert hist.tolist() == [[0.0], [0.0]] and [e.tolist() for e in edges] == [[0.0, 0.5, 1.0], [0.0, 1.0]]


def test_functions_at_the_top(tmp_path):
    weight = mg.arange(15.0).reshape(5, 3)
    answer, bag, sizes, offsets = mg.embedding_bag(weight, mg.tensor([0, 2, 2, 4]), mg.tensor([0, 3]), mode=0)
    assert answer.tolist() == [[12.0, 15.0, 18.0], [12.0, 13.0, 14.0]] and bag.tolist() == [0, 0, 0, 1] and sizes.tolist() == [3, 1] and offsets.tolist() == [0, 3]
    assert mg.empty_permuted((2, 3, 5, 7), (0, 2, 3, 1)).stride() == (105, 1, 21, 3)
    matrix = mg.tensor([[3.0, 0.0], [0.0, 4.0]])
    assert mg.frobenius_norm(matrix).item() == 5.0 and mg.frobenius_norm(matrix, 0).tolist() == [3.0, 4.0] and mg.nuclear_norm(matrix).item() == pytest.approx(7.0)
    assert mg.nonzero_static(matrix, size=3).tolist() == [[0, 0], [1, 1], [-1, -1]] and mg.nonzero_static(matrix, size=1, fill_value=9).tolist() == [[0, 0]]
    assert [t.requires_grad for t in mg.native_layer_norm(matrix.clone().requires_grad_(), [2], None, None, 0.0)] == [True, False, False]
    out, mean, rstd = mg.native_layer_norm(matrix, [2], None, None, 0.0)
    assert out.tolist() == [[1.0, -1.0], [-1.0, 1.0]] and mean.tolist() == [[1.5], [2.0]] and mg.allclose(rstd, mg.tensor([[2 / 3], [0.5]]))
    kept, mask = mg.native_dropout(mg.ones(1000), 0.25, True)
    assert mg.equal(kept != 0, mask) and kept.max().item() == pytest.approx(4 / 3) and 650 < mask.sum().item() < 850
    x = mg.ones(3)
    assert mg.dropout_(x, 1.0, True) is x and x.tolist() == [0.0] * 3 and mg.conj_physical_(x) is x
    path = tmp_path / "numbers.bin"
    path.write_bytes(bytes.fromhex("0000803f0000004000004040"))
    assert mg.from_file(str(path), size=3).tolist() == [1.0, 2.0, 3.0] and mg.from_file(str(path), size=2).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="has 12 bytes, 9 elements are 36"):
        mg.from_file(str(path), size=9)
    pytest.importorskip("numpy")
    shared = mg.from_file(str(path), shared=True, size=4)
    shared[0] = 5.0
    assert mg.from_file(str(path), size=4).tolist() == [5.0, 2.0, 3.0, 0.0]


def test_one_of_two_functions():
    x = mg.tensor([1.0], requires_grad=True)
    assert mg.cond(x.sum() > 0, lambda x: x * 2, lambda x: x, (x,)).item() == 2.0
    assert mg.cond(False, lambda: 1, lambda: 2) == 2 and mg.sym_sum([1, 2, 3]) == 6 and mg.sym_sqrt(9) == 3.0


def test_switches_that_change_nothing():
    try:
        for mode, number in (("warn", 1), ("error", 2), (0, 0), (2, 2), ("default", 0)):
            mg.set_deterministic_debug_mode(mode)
            assert mg.get_deterministic_debug_mode() == number and mg.are_deterministic_algorithms_enabled() == (number > 0)
    finally:
        mg.use_deterministic_algorithms(False)
    with pytest.raises(RuntimeError, match="got 7"):
        mg.set_deterministic_debug_mode(7)
    assert mg.get_autocast_gpu_dtype() == mg.float16 and mg.get_autocast_cpu_dtype() == mg.bfloat16 and not mg.is_autocast_cpu_enabled()
    mg.set_warn_always(True)
    assert mg.is_warn_always_enabled() and mg.set_warn_always(False) is None
    assert mg.get_device_module("cpu") is mg.cpu and mg.get_device_module("cuda:0") is mg.cuda and mg.sym_max(1, 2) == 2 and mg.sym_int(2.5) == 2
    with pytest.raises(RuntimeError, match="'tpu'"):
        mg.get_device_module("tpu")
    with pytest.raises(AssertionError, match="no"):
        mg._assert(False, "no")
    cudnn, before = mg.backends.cudnn, mg.get_float32_matmul_precision()
    with cudnn.flags(enabled=False, benchmark=True):
        assert not cudnn.enabled and cudnn.benchmark
    assert cudnn.enabled and not cudnn.benchmark and mg.get_float32_matmul_precision() == before
    with mg.backends.cuda.sdp_kernel(enable_math=False), mg.backends.mkldnn.flags(enabled=False):
        assert mg.backends.cuda.preferred_linalg_library() == "default" and mg.backends.cuda.is_flash_attention_available()
    from micrograd_rs.utils.checkpoint import checkpoint, set_checkpoint_debug_enabled, set_checkpoint_early_stop

    with set_checkpoint_early_stop(False), set_checkpoint_debug_enabled(True):
        x = mg.ones(2, requires_grad=True)
        checkpoint(lambda a: a.exp(), x, use_reentrant=False).sum().backward()
        assert mg.allclose(x.grad, x.detach().exp())
    net = nn.Sequential(nn.BatchNorm1d(2))
    assert mg.func.replace_all_batch_norm_modules_(net) is net and list(net.state_dict()) == ["0.weight", "0.bias"]
    assert mg.allclose(net(mg.tensor([[1.0, 2.0], [3.0, 6.0]])), mg.tensor([[-1.0, -1.0], [1.0, 1.0]]), atol=1e-4)


def test_strategies_and_marks_that_change_nothing():
    import micrograd_rs.multiprocessing as mp

    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies() and mp.Process is importlib.import_module("multiprocessing").Process
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    with pytest.raises(ValueError, match="file_descriptor, file_system, got 'x'"):
        mp.set_sharing_strategy("x")
    with mg.autograd.set_multithreading_enabled(False):
        assert not mg.compiler.is_exporting()
    assert mg.compiler.assume_constant_result(len) is len and mg.compiler.nested_compile_region(len) is len
    assert mg.compiler.nested_compile_region(max_reuse_entries=3)(len) is len
    with mg.cpu.stream(mg.cpu.Stream()) as _:
        mg.cpu.current_stream().wait_stream(mg.cpu.current_stream())
    x = mg.ones(2, requires_grad=True)
    mg.utils.checkpoint.checkpoint(lambda x: x.exp(), x, context_fn=mg.utils.checkpoint.noop_context_fn).sum().backward()
    close(x.grad, [math.e] * 2)
    assert isinstance(1, mg.types.IntLikeType) and isinstance(True, mg.types.BoolLikeType) and isinstance(1.0, mg.types.FloatLikeType)


def test_what_distributions_and_annotations_of_ones_own_are_written_with():
    from micrograd_rs.distributions.utils import _standard_normal, _sum_rightmost
    from micrograd_rs.nn.common_types import _size_2_opt_t, _size_2_t, _size_any_t

    drawn = _standard_normal(mg.Size([3, 2]), dtype=mg.float64, device=mg.device("cpu"))
    assert drawn.shape == (3, 2) and drawn.dtype == mg.float64
    x = mg.arange(6.0).reshape(1, 2, 3)
    assert _sum_rightmost(x, 2).tolist() == [15.0] and _sum_rightmost(x, 0) is x
    assert _size_2_t == int | tuple[int, int] and _size_any_t == int | tuple[Any, ...] and _size_2_opt_t == int | None | tuple[int | None, int | None]


def test_polynomials():
    """PyTorch's numbers, of degree 3 and of degrees in a tensor."""
    x = mg.tensor([-1.5, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0], dtype=mg.float64)
    third = {
        "chebyshev_polynomial_t": [-9.0, -1.0, 0.792, 0.0, -0.792, 1.0, 26.0], "chebyshev_polynomial_u": [-21.0, -4.0, 0.984, 0.0, -0.984, 4.0, 56.0],
        "chebyshev_polynomial_v": [-29.0, -7.0, 1.624, 1.0, -0.344, 1.0, 41.0], "chebyshev_polynomial_w": [-13.0, -1.0, 0.344, -1.0, -1.624, 7.0, 71.0],
        "hermite_polynomial_h": [-9.0, 4.0, 3.384, 0.0, -3.384, -4.0, 40.0], "hermite_polynomial_he": [1.125, 2.0, 0.873, 0.0, -0.873, -2.0, 2.0],
        "laguerre_polynomial_l": [9.4375, 17 / 3, 2.0395, 1.0, 0.2305, -2 / 3, -1 / 3], "legendre_polynomial_p": [-6.1875, -1.0, 0.3825, 0.0, -0.3825, 1.0, 17.0],
        "shifted_chebyshev_polynomial_t": [-244.0, -99.0, -11.584, -1.0, 0.944, 1.0, 99.0],
        "shifted_chebyshev_polynomial_u": [-496.0, -204.0, -26.368, -4.0, 1.088, 4.0, 204.0],
        "shifted_chebyshev_polynomial_v": [-559.0, -239.0, -35.608, -7.0, 1.448, 1.0, 169.0],
        "shifted_chebyshev_polynomial_w": [-433.0, -169.0, -17.128, -1.0, 0.728, 7.0, 239.0],
    }  # fmt: skip
    degrees = mg.tensor([-1, 0, 1, 2, 8, 9, 10])
    for name, wanted in third.items():
        polynomial = getattr(mg.special, name)
        assert mg.allclose(polynomial(x, 3), mg.tensor(wanted, dtype=mg.float64), atol=1e-12), name
        assert polynomial(x, degrees).tolist() == pytest.approx([polynomial(x[i], n).item() for i, n in enumerate(degrees.tolist())]), name
        assert polynomial(x.unsqueeze(1), mg.tensor([0, 3])).shape == (7, 2) and polynomial(x, -1).abs().max() == 0 and polynomial(0.5, mg.tensor(2)).dtype == mg.float32
        assert polynomial(mg.tensor([1, 2]), 3).dtype == mg.float32
    assert mg.special.chebyshev_polynomial_t(mg.tensor([2.0]), degrees[4:5]).item() == 18817.0
    y = mg.tensor([0.3, 2.0], requires_grad=True)
    mg.special.legendre_polynomial_p(y, 3).sum().backward()
    assert mg.allclose(y.grad, mg.tensor([7.5 * 0.09 - 1.5, 28.5]))
    found = mg.special.spherical_bessel_j0(mg.tensor([0.0, 1e-8, 2.0, math.inf, -math.inf], dtype=mg.float64)).tolist()
    assert found == [1.0, 1.0, pytest.approx(math.sin(2) / 2), 0.0, 0.0]
    assert mg.special.modified_bessel_i0(mg.ones(1)).item() == pytest.approx(1.2660659) and mg.special.modified_bessel_i1(mg.ones(1)).item() == pytest.approx(0.5651591)
    matrix = mg.tensor([[[5.0, 4.0], [4.0, 5.0]]], dtype=mg.float64)
    assert mg.allclose(mg.linalg.matrix_sqrth(matrix), mg.tensor([[[2.0, 1.0], [1.0, 2.0]]], dtype=mg.float64))


def test_directions_that_tensors_carry():
    from micrograd_rs.autograd import forward_ad as fwAD

    x, v = mg.tensor([[0.3, -1.0], [2.0, 0.5]], dtype=mg.float64), mg.tensor([[1.0, 2.0], [0.0, -1.0]], dtype=mg.float64)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, v)
        primal, tangent = fwAD.unpack_dual((dual.sin() * dual).sum(1))
        assert mg.allclose(tangent, ((x.cos() * x + x.sin()) * v).sum(1)) and mg.allclose(primal, (x.sin() * x).sum(1))
        assert fwAD.unpack_dual(dual).tangent is v and fwAD.unpack_dual(dual).primal is x and fwAD.unpack_dual(x * 2).tangent is None
        assert mg.func.jvp(lambda a: (a.sin() * a).sum(1), (x,), (v,))[1].tolist() == pytest.approx(tangent.tolist())
        assert not primal.requires_grad and not fwAD.unpack_dual(dual * 2).primal.requires_grad and primal.numpy().shape == (2,)
        weight = mg.ones(2, requires_grad=True, dtype=mg.float64)
        assert fwAD.unpack_dual(dual * weight).primal.requires_grad and fwAD.unpack_dual(fwAD.make_dual(weight, weight.detach()) * 2).primal.requires_grad
        assert mg.equal(fwAD.unpack_dual(dual + 1).tangent, v) and fwAD.unpack_dual(dual.sign()).tangent.abs().max() == 0
    net = nn.Linear(2, 3).double()
    with fwAD.dual_level():
        for name, p in list(net.named_parameters()):
            delattr(net, name)
            setattr(net, name, fwAD.make_dual(p, mg.ones_like(p)))
        assert mg.allclose(fwAD.unpack_dual(net(x)).tangent, (x.sum(1, keepdim=True) + 1).expand(2, 3))
    y = mg.tensor([1.0, 2.0], requires_grad=True)
    with fwAD.dual_level():
        fwAD.unpack_dual((fwAD.make_dual(y, mg.ones(2)) ** 3).sum()).tangent.backward()
    assert y.grad.tolist() == [6.0, 12.0]
    assert fwAD.unpack_dual(y) == (y, None)
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(x, v)
    with pytest.raises(RuntimeError, match="not the last one"):
        fwAD.exit_dual_level()
    with fwAD.dual_level():
        for wrong in (lambda: fwAD.make_dual(x, v[0]), lambda: fwAD.make_dual(x, v.float()), lambda: fwAD.make_dual(mg.ones(1).long(), mg.ones(1).long())):
            with pytest.raises(ValueError, match="make_dual"):
                wrong()
        with pytest.raises(ValueError, match="no_grad"), mg.no_grad():
            fwAD.make_dual(x, v)
        with pytest.raises(RuntimeError, match="func.jvp"):
            fwAD.enter_dual_level()


def test_directions_of_what_is_written_in_place():
    from micrograd_rs.autograd import forward_ad as fwAD

    def second(d):
        d[0] = d[1] * 3

    # As PyTorch 2.15 has them.
    writes = [
        (second, [60, 20]),
        (lambda d: d.mul_(2), [20, 40]),
        (lambda d: d.zero_(), [0, 0]),
        (lambda d: d.copy_(mg.ones(2)), [0, 0]),
        (lambda d: d[0].mul_(7), [70, 20]),
        (lambda d: d.mul_(d), [20, 80]),
    ]
    for write, tangent in writes:
        with fwAD.dual_level():
            x, t = mg.tensor([1.0, 2.0]), mg.tensor([10.0, 20.0])
            d = fwAD.make_dual(x, t)
            before = d.sin()
            z = d + 1
            write(d)
            t.mul_(5)
            assert fwAD.unpack_dual(d).tangent.tolist() == tangent and x.tolist() == [1, 2]
            assert mg.allclose(fwAD.unpack_dual(d * d).tangent, 2 * d.detach() * mg.tensor(tangent))
            assert mg.allclose(fwAD.unpack_dual(before).tangent, x.cos() * mg.tensor([10.0, 20.0]))
            assert mg.allclose(fwAD.unpack_dual(z * d).tangent, mg.tensor([10.0, 20.0]) * d.detach() + (x + 1) * mg.tensor(tangent))
    with fwAD.dual_level():
        zeros = fwAD.make_dual(mg.tensor([-0.0, 0.0]), mg.ones(2))
        assert str(zeros.detach().tolist()) == "[-0.0, 0.0]"


def test_what_scripts_do(tmp_path):
    from micrograd_rs.utils.data._utils.collate import default_collate

    assert default_collate is mg.utils.data.default_collate
    future = mg.jit.fork(lambda x, y: x + y, mg.ones(2), y=1)
    assert mg.jit.wait(future).tolist() == [2.0, 2.0] and future.done() and future.value() is future.wait()
    with pytest.raises(NotImplementedError, match="onnx.export"):
        mg.jit.save(nn.ReLU(), tmp_path / "m.pt")
    with pytest.raises(NotImplementedError, match="state_dict"):
        mg.jit.load(tmp_path / "m.pt")
    packed = nn.utils.rnn.pack_sequence([mg.ones(3), mg.ones(2)])
    for name, dtype in (("byte", mg.uint8), ("char", mg.int8), ("short", mg.int16), ("int", mg.int32), ("long", mg.int64)):
        made = getattr(packed, name)()
        assert made.data.dtype == dtype and made.batch_sizes.tolist() == [2, 2, 1]
    assert packed.pin_memory() is packed and not packed.is_pinned()
