"""Loops that go on for ever keep no memory."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell how much memory a process has")

# A program each, so that nothing else's memory is counted.
KEEPS = {
    "sums": "f = lambda: x.sum().item()",
    "steps that fail": """
step = mg.jit(lambda x, y: mg.nn.functional.cross_entropy(x @ w, y))
w, ok, bad = mg.randn(4, 3, requires_grad=True), mg.tensor([0, 1]), mg.tensor([0, 7])
for _ in range(10):
    step(x, ok).item()
def f():
    try:
        step(x, bad).item()
    except IndexError:
        pass
""",
}


@pytest.mark.parametrize("what", KEEPS)
def test_calls_keep_no_memory(what):
    program = f"""
import gc, resource
import micrograd_rs as mg
x = mg.randn(2, 4)
{KEEPS[what]}
def kept():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
for _ in range(20_000):
    f()
before = kept()
for _ in range(40_000):
    f()
print(kept() - before)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    # 24 bytes a call were 960,000, and half a thousand 20 million.
    assert int(told) < 600_000
