"""What the tests share."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap

import micrograd_rs as mg
import pytest

# What a test launches but once is to be the kernel that it is about, and not what serves until that is assembled.
os.environ.setdefault("MG_MEANWHILE", "0")

HAS_CUDA = mg.Device.is_cuda_available()
DEVICES = ["cpu", *(["cuda"] if HAS_CUDA else [])]
RECORDED = 4  # calls after which a step is replayed

needs_cuda = pytest.mark.skipif(not HAS_CUDA, reason="this machine has no CUDA")
without_cuda = pytest.mark.skipif(HAS_CUDA, reason="this machine has CUDA")


@pytest.fixture(params=DEVICES)
def device(request):
    """Every device that this machine has."""
    return request.param


@pytest.fixture(autouse=True)
def seeded():
    mg.manual_seed(0)


def run(code: str, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess:
    """Runs a program in a Python of its own."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
    )


def leaf(*values, dtype=mg.float32):
    """A tensor that requires a gradient."""
    return mg.tensor(*values, dtype=dtype, requires_grad=True)


def numbers(*shape, seed=1, low=0.2, high=1.8):
    """Fixed numbers, no two of them the same."""
    n = math.prod(shape)
    flat = [low + (high - low) * ((i + seed) * 0.6180339887 % 1) for i in range(n)]
    return mg.tensor(flat, dtype=mg.float64).reshape(shape)


def trained(module, *args):
    """The module, with gradients of a loss in its parameters."""
    out = module(*args)
    (out[0] if isinstance(out, tuple) else out).square().sum().backward()
    return module


@pytest.fixture
def program():
    """Runs a program in a Python of its own, which must end well; answers with what it printed."""

    def ends_well(code: str, **options):
        done = run(code, **options)
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return ends_well


def close(got, wanted, rtol=1e-5, atol=1e-6):
    """Compares nested lists of numbers, shapes included."""
    got = got.tolist() if hasattr(got, "tolist") else got
    wanted = wanted.tolist() if hasattr(wanted, "tolist") else wanted
    if isinstance(wanted, (list, tuple)):
        assert isinstance(got, (list, tuple)), f"{got} is no sequence, wanted {wanted}"
        assert len(got) == len(wanted), f"{got} and {wanted} differ in length"
        for a, b in zip(got, wanted):
            close(a, b, rtol, atol)
    else:
        assert got == pytest.approx(wanted, rel=rtol, abs=atol, nan_ok=True), f"{got} is not {wanted}"
