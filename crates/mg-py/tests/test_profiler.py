"""What launches take."""

from __future__ import annotations

import json

import micrograd_rs as mg
import pytest


def test_a_trace_of_launches(tmp_path):
    x, w = mg.rand(64, 32), mg.rand(32, 16)
    with mg.profile(tmp_path / "trace.json") as prof:
        y = (x @ w).relu().sum()
        y.item()
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(trace) == len(prof.launches) >= 1
    product = next(e for e in trace if "matmul" in e["name"])
    assert product["ph"] == "X" and product["dur"] > 0 and product["tid"] == "cpu"
    assert product["args"]["flops"] == 2 * 64 * 32 * 16
    assert product["args"]["bytes_read"] >= 4 * (64 * 32 + 32 * 16)
    assert any("sum" in launch["operations"] for launch in prof.launches)
    ends = [e["ts"] for e in trace]
    assert ends == sorted(ends)
    assert "matmul" in prof.table()


def test_what_is_outside_is_not_in_it():
    (mg.rand(8) + 1).sum().item()
    with mg.profile() as prof:
        pass
    assert prof.launches == []
    (mg.rand(8) + 1).sum().item()
    assert prof.launches == []
    with pytest.raises(RuntimeError, match="not ended"):
        mg.profile().table()


def test_replays_are_in_it():
    step = mg.jit(lambda x: (x @ x).relu())
    for _ in range(3):
        step(mg.rand(8, 8))
    with mg.profile() as prof:
        step(mg.rand(8, 8)).tolist()
    assert any("matmul" in launch["kind"] or "matmul" in launch["operation"] for launch in prof.launches)
