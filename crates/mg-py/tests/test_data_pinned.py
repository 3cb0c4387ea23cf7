"""Batches in page-locked memory, on their way to a device: by a driver that does what it is asked for as late as it may, or some of it at once, and by a
device where there is one.
"""

from __future__ import annotations

import collections
import os
import shutil
import subprocess
from pathlib import Path

import micrograd_rs as mg
import pytest
from conftest import HAS_CUDA, needs_cuda, run
from micrograd_rs.utils.data import DataLoader, TensorDataset
from micrograd_rs.utils.data._utils.pin_memory import pin_memory

STUB = Path(__file__).parents[2] / "mg-autograd" / "tests" / "cuda_faults" / "stub.c"


@pytest.mark.skipif(HAS_CUDA, reason="this machine has a device to pin for")
def test_without_a_device_nothing_is_pinned():
    x = mg.arange(6.0)
    assert x.pin_memory() is x and not x.is_pinned()
    loader = DataLoader(TensorDataset(x), batch_size=2, pin_memory=True)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        batches = [batch.tolist() for (batch,) in loader]
    assert batches == [[0, 1], [2, 3], [4, 5]]


class Own:
    def __init__(self, name):
        self.name = name

    def pin_memory(self):
        return Own(f"pinned {self.name}")


def test_a_batch_keeps_its_structure():
    pair = collections.namedtuple("pair", "a b")
    ordered = collections.OrderedDict(x=Own("x"), y=[Own("y"), "text"])
    made = pin_memory({"pair": pair(Own("a"), 2), "ordered": ordered, "tuple": (Own("t"), b"bytes"), "none": None, "range": range(3)})
    assert type(made["pair"]) is pair and made["pair"].a.name == "pinned a" and made["pair"].b == 2
    assert type(made["ordered"]) is collections.OrderedDict and list(made["ordered"]) == ["x", "y"]
    assert made["ordered"]["y"][0].name == "pinned y" and made["ordered"]["y"][1] == "text" and ordered["x"].name == "x"
    assert type(made["tuple"]) is tuple and made["tuple"][0].name == "pinned t" and made["tuple"][1:] == (b"bytes",)
    assert made["none"] is None and list(made["range"]) == [0, 1, 2]


PROGRAM = """
import micrograd_rs as mg
from micrograd_rs.utils.data import DataLoader, TensorDataset

class Samples:
    def __len__(self):
        return 40
    def __getitem__(self, i):
        return {"x": mg.full((300,), float(i)), "y": i}

def arrived(t):
    assert t.is_pinned() and t.device == "cpu", "not pinned"
    wanted = t.tolist()
    there = t.to("cuda", non_blocking=True)
    assert there.is_cuda and not there.is_pinned()
    t.fill_(-1)
    t.realize()
    return there, wanted

sent = []
x = mg.arange(40 * 300, dtype=mg.float32).reshape(40, 300)
for workers in (0, 2):
    for (batch,) in DataLoader(TensorDataset(x), batch_size=8, shuffle=True, num_workers=workers, pin_memory=True):
        sent.append(arrived(batch))
    for batch in DataLoader(Samples(), batch_size=8, num_workers=workers, pin_memory=True):
        sent += [arrived(batch["x"]), arrived(batch["y"])]
    # A loop that keeps nothing finds the same memory again.
    for (batch,) in DataLoader(TensorDataset(x), batch_size=8, num_workers=workers, pin_memory=True):
        there, wanted = arrived(batch)
        assert there.cpu().tolist() == wanted
assert all(there.cpu().tolist() == wanted for there, wanted in sent), "another batch arrived"

# What is differentiated, a part, and what NumPy has, arrive too.
leaf = mg.arange(5.0, requires_grad=True)
assert leaf.pin_memory() is leaf
pinned = mg.arange(5.0).pin_memory()
assert pinned.is_pinned() and pinned.pin_memory() is pinned and pinned.tolist() == [0, 1, 2, 3, 4]
pinned.requires_grad_(True)
moved = pinned.to("cuda")
assert moved.requires_grad and moved.detach().cpu().tolist() == [0, 1, 2, 3, 4]
pinned = mg.arange(5.0).pin_memory()
assert pinned[1:3].to("cuda").cpu().tolist() == [1, 2] and pinned.clone().is_pinned() is False
try:
    pinned.to("cuda").pin_memory()
except RuntimeError as error:
    assert "only tensors on the CPU" in str(error)
else:
    raise AssertionError("pinned what is on a device")

# Factories put there what they make.
made = [
    mg.zeros(3, pin_memory=True), mg.tensor([1.0, 2.0], pin_memory=True), mg.full((2,), 7.0, pin_memory=True), mg.arange(3, pin_memory=True),
    mg.rand(4, pin_memory=True), mg.randn(4, pin_memory=True), mg.zeros(2).new_ones(3, pin_memory=True), mg.ones_like(mg.zeros(2), pin_memory=True),
]
assert all(t.is_pinned() for t in made) and made[1].tolist() == [1.0, 2.0] and made[6].tolist() == [1.0, 1.0, 1.0]
assert not mg.zeros(3, pin_memory=False).is_pinned() and not mg.rand(3, pin_memory=None).is_pinned()
for leaf in (mg.ones(2, pin_memory=True, requires_grad=True), mg.rand(2, pin_memory=True, requires_grad=True)):
    assert leaf.is_pinned() and leaf.is_leaf and leaf.requires_grad
    (leaf * 3).sum().backward()
    assert leaf.grad.tolist() == [3.0, 3.0]
for make in (lambda: mg.zeros(2, device="cuda", pin_memory=True), lambda: mg.rand(2, device="cuda", pin_memory=True)):
    try:
        make()
    except RuntimeError as error:
        assert "pin_memory: takes a tensor on the host" in str(error), error
    else:
        raise AssertionError("pinned what is on a device")
print("right", len(sent))
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A folder with a driver whose streams may be late."""
    if not STUB.exists() or shutil.which("cc") is None or os.name != "posix":
        pytest.skip("no C compiler, or no sources")
    folder = tmp_path_factory.mktemp("driver")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", folder / "libcuda.so", STUB], check=True)
    return str(folder)


@pytest.mark.parametrize("late", [None, "0", "1", "2"])
@pytest.mark.skipif(HAS_CUDA, reason="the driver of this machine is a driver")
def test_batches_arrive_whenever_copies_are_made(driver, late):
    done = run(PROGRAM, LD_LIBRARY_PATH=driver, **({} if late is None else {"STUB_LATE": late}))
    assert (done.returncode, done.stdout) == (0, "right 30\n"), done.stderr


@needs_cuda
def test_batches_arrive_on_a_device():
    done = run(PROGRAM)
    assert (done.returncode, done.stdout) == (0, "right 30\n"), done.stderr


@needs_cuda
def test_batches_arrive_while_the_device_works():
    x = mg.arange(64 * 1024, dtype=mg.float32).reshape(64, 1024)
    work = mg.rand(1024, 1024, device="cuda")
    for (batch,) in DataLoader(TensorDataset(x), batch_size=4, num_workers=2, pin_memory=True):
        wanted = batch.tolist()
        for _ in range(20):
            work = work @ work * 1e-3
        work.realize()
        there = batch.to("cuda")
        twice = (there * 2).realize()
        batch.fill_(-1.0)
        batch.realize()
        del there
        assert (twice / 2).cpu().tolist() == wanted
