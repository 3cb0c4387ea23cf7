"""What launches take."""

from __future__ import annotations

import json
import linecache

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


def lines_of(prof):
    """The lines of this file that launches tell, as texts."""
    texts = []
    for launch in prof.launches:
        name, number = launch["line"].rsplit(":", 1)
        assert name == __file__
        texts.append(linecache.getline(name, int(number)).strip())
    return texts


def test_launches_tell_the_users_line(tmp_path):
    x, w = mg.rand(64, 32), mg.rand(32, 16, requires_grad=True)
    with mg.profile(tmp_path / "trace.json") as prof:
        y = x @ w  # the product
        loss = (y * y).sum()  # the sum
        loss.backward()
        loss.item()
        w.grad.tolist()
    texts = lines_of(prof)
    named = {launch["operation"]: text for launch, text in zip(prof.launches, texts)}
    assert sum(text.endswith("# the product") for text in texts) >= 2, named
    assert any(text.endswith("# the sum") for text in texts), named
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [e["args"]["line"] for e in trace] == [launch["line"] for launch in prof.launches]


def test_a_line_is_that_of_who_called_the_package():
    net = mg.nn.Sequential(mg.nn.Linear(8, 4), mg.nn.ReLU())
    optimizer = mg.optim.SGD(net.parameters(), lr=0.1)
    x = mg.rand(16, 8)
    with mg.profile() as prof:
        y = net(x)  # forward
        y.sum().backward()  # backward
        optimizer.step()  # step
        net[0].weight.tolist()
    texts = lines_of(prof)
    assert any(text.endswith("# forward") for text in texts), texts
    assert all("#" in text or "weight" in text for text in texts), texts


def test_what_was_made_before_tells_who_has_it_computed():
    y = (mg.rand(8, 8) @ mg.rand(8, 8)).relu()
    step = mg.jit(lambda x: (x @ x).relu())
    for _ in range(3):
        step(mg.rand(8, 8)).tolist()
    with mg.profile() as prof:
        y.tolist()  # looked at
        step(mg.rand(8, 8)).tolist()  # replayed
    texts = lines_of(prof)
    assert texts and all(text.endswith(("# looked at", "# replayed")) for text in texts), texts


def test_lines_are_remembered_in_a_profile_alone():
    with mg.profile() as prof:
        with mg.profile():
            pass
        (mg.rand(8) + 1).sum().item()
    assert prof.launches == []
    with mg.profile() as prof:
        (mg.rand(8) + 1).sum().item()
    assert lines_of(prof)
