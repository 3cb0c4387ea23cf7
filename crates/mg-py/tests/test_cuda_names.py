"""The names that PyTorch has for a CUDA device: `cuda`, its streams and events, its figures."""

from __future__ import annotations

import warnings

import micrograd_rs as mg
import pytest
from conftest import needs_cuda

pytestmark = needs_cuda


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
