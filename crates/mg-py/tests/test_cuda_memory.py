"""The memory of a CUDA device: what is counted, and where it ends."""

from __future__ import annotations

import gc

import micrograd_rs as mg
import pytest
from conftest import needs_cuda

pytestmark = needs_cuda


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
