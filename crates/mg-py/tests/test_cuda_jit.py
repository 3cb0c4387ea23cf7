"""Recorded steps on a CUDA device."""

from __future__ import annotations

import threading

import micrograd_rs as mg
import pytest
from conftest import close, needs_cuda

pytestmark = needs_cuda


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
