"""What launches take."""

from __future__ import annotations

import gzip
import json
import linecache

import micrograd_rs as mg
import pytest
from micrograd_rs.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler


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


def model():
    with record_function("product"):
        y = (mg.ones(16, 16) @ mg.ones(16, 16)).realize()
    with record_function("sum", "of all"):
        return y.sum().item()


def test_ranges_are_summed_by_name():
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True, with_flops=True, profile_memory=True) as prof:
        with record_function("model"):
            for _ in range(3):
                model()
    sums = {event.key: event for event in prof.key_averages()}
    assert sums["model"].count == 1 and sums["product"].count == sums["sum"].count == 3
    assert sums["model"].cpu_time_total >= sums["product"].cpu_time_total + sums["sum"].cpu_time_total > 0
    assert sums["model"].self_cpu_time_total < sums["model"].cpu_time_total
    launch = next(event for event in prof.events() if "matmul" in event.name)
    assert launch.cpu_parent.name == "product" and launch.cpu_parent.cpu_parent.name == "model" and launch.flops == 2 * 16**3
    assert launch.stack[0].startswith(__file__) and launch.input_shapes == [(16, 16)] and launch.time_range.elapsed_us() > 0
    whole = prof.key_averages().self_cpu_time_total
    assert whole == pytest.approx(prof.key_averages().total_average().self_cpu_time_total)
    table = prof.key_averages(group_by_input_shape=True, group_by_stack_n=1).table(sort_by="self_cpu_time_total", row_limit=-1)
    for word in ("Self CPU %", "# of Calls", "Input Shapes", "[[16, 16]]", "Source Location", "Total MFLOPs", "CPU Mem", "Self CPU time total:", "product"):
        assert word in table, word
    assert len(prof.key_averages().table(row_limit=2).splitlines()) == 3 + 2 + 2
    rows = [line.split()[0] for line in prof.key_averages().table(sort_by="count", row_limit=1).splitlines()[3:4]]
    assert rows[0] in ("product", "sum", "matmul")
    with pytest.raises(ValueError, match="sort_by is one of count, cpu_time"):
        prof.key_averages().table(sort_by="colour")
    with pytest.raises(ValueError, match="ProfilerActivity"):
        profile(activities=["cpu"])


def test_memory_of_ranges():
    kept = []
    with profile(profile_memory=True) as prof:
        with record_function("kept"):
            kept.append(mg.ones(512, 512).add(1).realize())
        with record_function("dropped"):
            mg.ones(512, 512).add(1).realize()
    sums = {event.key: event for event in prof.key_averages()}
    assert sums["kept"].cpu_memory_usage >= 512 * 512 * 4 and sums["dropped"].cpu_memory_usage < 512 * 512 * 4


def test_schedules(tmp_path):
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    assert [plan(i).value for i in range(11)] == [0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0]
    assert [schedule(wait=2, warmup=0, active=1, skip_first_wait=1)(i).value for i in range(5)] == [3, 0, 0, 3, 0]
    with pytest.raises(ValueError, match="active step"):
        schedule(wait=1, warmup=1, active=0)
    seen = []

    def ready(prof):
        seen.append((prof.step_num, sorted(e.name for e in prof.events() if e.name.startswith("ProfilerStep")), len(prof.launches) > 0))

    with profile(schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(11):
            model()
            prof.step()
    assert seen == [(5, ["ProfilerStep#3", "ProfilerStep#4"], True), (9, ["ProfilerStep#7", "ProfilerStep#8"], True)]
    assert {e.key: e.count for e in prof.key_averages()}["ProfilerStep*"] == 2
    handler = tensorboard_trace_handler(tmp_path / "log", "me", use_gzip=True)
    with profile(schedule=schedule(wait=0, warmup=0, active=1, repeat=2), on_trace_ready=handler, acc_events=True) as prof:
        for _ in range(3):
            model()
            prof.step()
    files = sorted((tmp_path / "log").iterdir())
    assert len(files) == 2 and all(f.name.startswith("me.") and f.name.endswith(".pt.trace.json.gz") for f in files)
    with gzip.open(files[1], "rt") as file:
        names = [e["name"] for e in json.load(file)["traceEvents"]]
    assert names.count("product") == 2 and {"ProfilerStep#0", "ProfilerStep#1"} <= set(names)
    with profile(schedule=plan) as prof:
        prof.step()
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        prof.key_averages()


def test_traces_have_ranges_and_what_was_added(tmp_path):
    with profile(with_stack=True) as prof:
        model()
    prof.add_metadata("run", "first")
    prof.add_metadata_json("sizes", "[1, 2]")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["run"] == "first" and trace["sizes"] == [1, 2]
    ranges = {e["name"]: e for e in trace["traceEvents"] if e.get("cat") == "user_annotation"}
    assert set(ranges) == {"product", "sum"} and ranges["sum"]["args"] == {"args": "of all"} and ranges["sum"]["dur"] > 0
    launch = next(e for e in trace["traceEvents"] if "matmul" in e["name"])
    assert ranges["product"]["ts"] <= launch["ts"] < ranges["product"]["ts"] + ranges["product"]["dur"]
    prof.export_stacks(tmp_path / "stacks.txt")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    assert lines and all(line.rsplit(" ", 1)[1].isdigit() and __file__.rsplit("/", 1)[1] in line for line in lines)
    with profile() as other:
        pass
    with pytest.raises(ValueError, match="with_stack"):
        other.export_stacks(tmp_path / "none.txt")


def test_ranges_without_a_profile_and_across_its_end():
    assert model() == 16.0 * 256
    prof = profile()
    open_before = record_function("before")
    open_before.__enter__()
    prof.start()
    within = record_function("within")
    within.__enter__()
    prof.stop()
    within.__exit__()
    open_before.__exit__()
    assert [e.key for e in prof.key_averages()] == ["within"]

    @record_function("doubled")
    def doubled(n):
        return 2 * doubled(n - 1) if n else 1

    with profile() as prof:
        assert doubled(3) == 8
    assert {e.key: e.count for e in prof.key_averages()} == {"doubled": 4}


def test_ranges_of_threads_lie_within_their_own():
    import threading

    def work(name):
        with record_function(name), record_function("inner of " + name):
            mg.ones(4).add(1).realize()

    with profile() as prof:
        threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    for event in prof.events():
        if event.name.startswith("inner of "):
            assert event.cpu_parent.name == event.name.removeprefix("inner of ")


def test_the_older_names():
    with mg.autograd.profiler.profile() as prof, mg.autograd.profiler.record_function("old"):
        mg.ones(4).exp().realize()
    assert prof.self_cpu_time_total > 0 and "old" in prof.key_averages().table() and "old" in prof.table()
    with mg.autograd.profiler.profile(enabled=False) as prof:
        pass
    assert len(prof.function_events) == 0 and prof.total_average().count == 0
    with pytest.raises(RuntimeError, match="profiler.profile"):
        mg.autograd.profiler.emit_nvtx()
    from micrograd_rs.cuda import nvtx

    with profile() as prof:
        assert nvtx.range_push("a") == 0 and nvtx.range_push("b") == 1 and nvtx.range_pop() == 1 and nvtx.range_pop() == 0
        with nvtx.range("step {}", 3):
            nvtx.mark("here")
        nvtx.range_end(nvtx.range_start("c"))
    assert [e.name for e in prof.events()] == ["a", "b", "step 3", "here", "c"]
    with pytest.raises(RuntimeError, match="begun no range"):
        nvtx.range_pop()
