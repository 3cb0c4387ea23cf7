"""Where time goes: torch.profiler with a schedule, record_function, tables, traces; torch.utils.benchmark; CUDA's clocks where there are any."""

import json
import os
import tempfile
import time

import torch
import torch.nn as nn
import torch.profiler
import torch.utils.benchmark as benchmark
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

from given import normals, start


class MyModule(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super(MyModule, self).__init__()
        self.linear = nn.Linear(in_features, out_features, bias)

    def forward(self, input, mask):
        with record_function("LINEAR PASS"):
            out = self.linear(input)
        with record_function("MASK INDICES"):
            threshold = out.sum(axis=1).mean().item()
            hi_idx = (mask > threshold).nonzero(as_tuple=True)
        return out, hi_idx


def batched_dot_mul_sum(a, b):
    """Computes batched dot by multiplying and summing"""
    return a.mul(b).sum(-1)


def batched_dot_bmm(a, b):
    """Computes batched dot by reducing to ``bmm``"""
    a = a.reshape(-1, 1, a.shape[-1])
    b = b.reshape(-1, b.shape[-1], 1)
    return torch.bmm(a, b).flatten(-3)


def main():
    model = start(torch, MyModule(16, 4))
    input, mask = torch.tensor(normals(1, 8, 16)), torch.tensor(normals(2, 8, 8))
    out = []
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities += [ProfilerActivity.CUDA]
    with profile(activities=activities, record_shapes=True) as prof:
        with record_function("model_inference"):
            y, hi = model(input, mask)
            y.sum().item()
    table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
    names = {event.key for event in prof.key_averages()}
    assert {"model_inference", "LINEAR PASS", "MASK INDICES"} <= names and "model_inference" in table and "CPU total" in table
    averages = {e.key: e for e in prof.key_averages()}
    assert averages["model_inference"].count == 1 and averages["model_inference"].cpu_time_total >= averages["LINEAR PASS"].cpu_time_total > 0
    assert "LINEAR" in prof.key_averages(group_by_input_shape=True).table(sort_by="self_cpu_time_total", row_limit=50)
    with tempfile.TemporaryDirectory() as folder:
        prof.export_chrome_trace(os.path.join(folder, "trace.json"))
        with open(os.path.join(folder, "trace.json")) as file:
            events = json.load(file)["traceEvents"]
        assert any(e.get("name") == "model_inference" for e in events)
        seen = []

        def trace_handler(p):
            seen.append(p.step_num)
            p.key_averages().table(sort_by="self_cuda_time_total", row_limit=-1)
            p.export_chrome_trace(os.path.join(folder, "trace_" + str(p.step_num) + ".json"))

        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=trace_handler, record_shapes=True, profile_memory=True, with_stack=True, with_flops=True) as p:
            for step in range(9):
                y, _ = model(input, mask)
                y.square().mean().backward()
                p.step()
        assert len([f for f in os.listdir(folder) if f.startswith("trace_")]) == 2
        out += seen
        with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=0, active=1, repeat=1, skip_first=1), on_trace_ready=tensorboard_trace_handler(os.path.join(folder, "log"))) as p:
            for step in range(3):
                model(input, mask)[0].sum().item()
                p.step()
        assert any(f.endswith(".pt.trace.json") for f in os.listdir(os.path.join(folder, "log")))
    actions = [schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)(i).value for i in range(7)]

    @record_function("decorated")
    def decorated(x):
        return x * 2

    with torch.autograd.profiler.profile() as old, torch.autograd.profiler.record_function("old"):
        decorated(input).sum().item()
    assert {"old", "decorated"} <= {e.key for e in old.key_averages()}
    x = torch.tensor(normals(3, 10, 8))
    assert batched_dot_mul_sum(x, x).allclose(batched_dot_bmm(x, x))
    t0 = benchmark.Timer(stmt="batched_dot_mul_sum(x, x)", setup="y = x", globals={"x": x, "batched_dot_mul_sum": batched_dot_mul_sum}, label="Batched dot", sub_label="[10, 8]", description="mul/sum", num_threads=torch.get_num_threads())
    t1 = benchmark.Timer(stmt="batched_dot_bmm(x, x)", globals={"x": x, "batched_dot_bmm": batched_dot_bmm}, label="Batched dot", sub_label="[10, 8]", description="bmm")
    m0, m1 = t0.timeit(20), t1.blocked_autorange(min_run_time=0.01)
    assert 0 < m0.median < 1 and m0.number_per_run == 20 and m1.times and m1.iqr >= 0 and "Batched dot" in repr(m0)
    compare = benchmark.Compare([m0, m1])
    compare.trim_significant_figures()
    compare.colorize()
    text = str(compare)
    assert "mul/sum" in text and "bmm" in text and "[10, 8]" in text
    begin = time.perf_counter()
    if torch.cuda.is_available():
        started, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        started.record()
        model.cuda()(input.cuda(), mask.cuda())
        ended.record()
        torch.cuda.synchronize()
        assert started.elapsed_time(ended) >= 0
        model.cpu()
    assert time.perf_counter() >= begin
    return out + actions + [y.sum().item(), float(len(hi[0]))]
