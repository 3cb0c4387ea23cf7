"""Steps that fail: everything is as it was before them, and the training goes on."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import micrograd_rs as mg
from conftest import leaf
from micrograd_rs.nn import functional as F

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.interrupts import failing_trial  # noqa: E402

T = mg.tensor


def test_every_kind_of_error_has_an_exception() -> None:
    """What a match over kinds of another crate leaves out is no error of its compiler."""
    crates = Path(__file__).parents[2]
    declared = (crates / "mg-device" / "src" / "error.rs").read_text(encoding="utf-8").split("pub enum ErrorKind {")[1].split("\n}")[0]
    kinds = set(re.findall(r"^    ([A-Z]\w*)\b", declared, re.MULTILINE))
    assert {"Shape", "OutOfMemory", "Internal"} <= kinds
    text = (crates / "mg-py" / "src" / "error.rs").read_text(encoding="utf-8").split("match error.kind() {")[1].split("\n        _ =>")[0]
    assert kinds == set(re.findall(r"ErrorKind::(\w+)", text))


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_a_step_that_fails_changes_nothing(seed: int) -> None:
    assert [wrong for at in range(seed, seed + 3) if (wrong := failing_trial(at))] == []


def test_a_replay_whose_second_plan_finds_no_memory_changes_nothing() -> None:
    device = mg.get_default_device()
    weight, x = mg.zeros(4).realize(), mg.ones(4).realize()

    @mg.jit
    def step(x: mg.Tensor) -> mg.Tensor:
        weight.add_(x)
        mg.realize(weight)
        # Of its own plan, and much larger than what the first one needs.
        return (weight.sum() + mg.zeros(1 << 20)).cos()

    for _ in range(6):
        step(x)
    assert step.is_replaying
    before = weight.tolist()
    device.empty_cache()
    device.set_memory_limit(device.memory_stats()["active"] + 4096)
    try:
        with pytest.raises(MemoryError):
            step(x)
    finally:
        device.set_memory_limit(None)
    assert weight.tolist() == before
    step(x)
    assert weight.tolist() == [n + 1 for n in before]


def test_an_index_out_of_range_in_one_replay():
    w = T([1.0, 2.0])

    def work(i):
        w.mul_(2)
        return mg.ones(3).index_select(0, i).sum() + w.sum()

    f = mg.jit(work)
    good = T([0, 1])
    told = [f(good).item() for _ in range(5)]
    with pytest.raises(IndexError) as caught:
        f(T([0, 3])).item()
    assert "/rustc/" not in str(caught.value)
    kept = w.tolist()
    assert f(good).item() == 2 + 2 * sum(kept) and told == [8, 14, 26, 50, 98]


def test_a_bad_label_loses_no_parameter():
    w = leaf([[1.0, 2.0]] * 3)
    optimiser = mg.optim.SGD([w], lr=0.1)
    for labels in (T([0, 5]), T([0, 5]) * 1):
        with pytest.raises(IndexError):
            optimiser.zero_grad()
            F.cross_entropy(mg.ones(2, 3) @ w, labels).backward()
            optimiser.step()
            w.tolist()
        assert w.tolist() == [[1, 2]] * 3
    optimiser.zero_grad()
    F.cross_entropy(mg.ones(2, 3) @ w, T([0, 1])).backward()
    optimiser.step()
    assert w.tolist() != [[1, 2]] * 3


def test_a_step_on_what_is_no_probability_changes_nothing():
    w = leaf([0.5])
    sgd = mg.optim.SGD([w], lr=0.125)

    def step(x):
        sgd.zero_grad()
        loss = F.binary_cross_entropy(w * x, mg.ones(1))
        loss.backward()
        sgd.step()
        return loss

    replayed = mg.jit(step)
    for f in (step, replayed):
        for x in (1.0, 1.0, 1.0, 1.0, 4.0, 0.5):
            before = w.tolist()
            with mg.no_grad():
                w.fill_(0.5)
            if x == 4.0:
                with pytest.raises(RuntimeError, match="between 0 and 1"):
                    f(mg.tensor([x])).item()
                assert w.tolist() == [0.5], before
            else:
                f(mg.tensor([x])).item()
                assert w.tolist() == [0.5 + 0.125 / 0.5]


def test_what_does_not_depend_on_a_bad_index_is_written() -> None:
    weight, other = mg.zeros(3).realize(), mg.zeros(3).realize()
    bad = mg.tensor([0, 1]) + mg.tensor([0, 5])
    weight += mg.arange(4.0).index_select(0, bad).sum()
    other += 1
    with pytest.raises(IndexError):
        mg.realize(weight, other)
        if mg.get_default_device().is_cuda():
            mg.cuda.synchronize()
    assert weight.tolist() == [0.0] * 3
    assert other.tolist() == [1.0] * 3


NO_MEMORY = """
import io, pickle, resource, micrograd_rs as mg
x = mg.ones(20_000_000).realize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for f in (pickle.dumps, lambda x: mg.save({"x": x}, io.BytesIO()), lambda x: x[:15_000_000].tolist(), bytes):
    resource.setrlimit(resource.RLIMIT_AS, (size + 60_000_000, hard))
    try:
        f(x)
        found = "done"
    except MemoryError:
        found = "MemoryError"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    print(found, x.sum().item())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="this Python has reserved addresses, which a limit of them does not reach")
def test_bytes_and_lists_that_python_has_no_memory_for() -> None:
    run = subprocess.run([sys.executable, "-c", NO_MEMORY], capture_output=True, text=True, timeout=300, check=False)
    assert run.stdout.splitlines() == ["MemoryError 20000000.0"] * 4, run.stderr


def test_positions_that_no_memory_has_room_for() -> None:
    for f in (mg.tril_indices, mg.triu_indices):
        with pytest.raises(MemoryError, match="out of memory"):
            f(1 << 20, 1 << 40)
