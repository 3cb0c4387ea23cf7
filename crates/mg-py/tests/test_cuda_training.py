"""Training on a CUDA device, beside training on the host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import micrograd_rs as mg
import pytest
from conftest import close, needs_cuda
from micrograd_rs import nn, optim

ROOT = Path(__file__).parent.parent.parent.parent

pytestmark = needs_cuda

OPTIMISERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4),
    "adam": lambda p: optim.Adam(p, lr=0.01),
    "adamw": lambda p: optim.AdamW(p, lr=0.01, amsgrad=True),
}


def losses(device, wrap, make=OPTIMISERS["adam"]):
    mg.manual_seed(3)
    net = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 4)).to(device)
    optimiser = make(net.parameters())
    x, y = mg.randn(32, 8).to(device), mg.randint(4, (32,)).to(device)
    schedule = optim.lr_scheduler.ExponentialLR(optimiser, 0.98)

    @wrap
    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss

    out = []
    for _ in range(20):
        out.append(step(x, y).item())
        schedule.step()
    assert all(p.device == mg.Device(device) for p in net.parameters())
    return out


@pytest.mark.parametrize("make", OPTIMISERS.values(), ids=OPTIMISERS)
def test_training_is_as_on_the_host(make):
    host = losses("cpu", lambda f: f, make)
    plain = losses("cuda", lambda f: f, make)
    close(plain, host, rtol=5e-4)
    assert losses("cuda", mg.jit, make) == plain and losses("cuda", lambda f: f, make) == plain
    assert host[-1] < host[0]


def example(name, *arguments, folder, environment):
    """What an example prints that is run in a folder."""
    path = ROOT / "examples" / name
    if not path.exists():
        pytest.skip("there are no examples beside this test")
    # A process that a signal ends says what each of its threads was at.
    command = [sys.executable, "-X", "faulthandler", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_the_example_learns(device, tmp_path):
    environment = {k: v for k, v in os.environ.items() if k != "MNIST_DIR"}
    told = example("mnist.py", "--drawn", "6000", "--epochs", "3", "--device", device, folder=tmp_path, environment=environment)
    assert float(re.search(r"epoch 3/3 ([0-9.]+)%", told)[1]) > 90


def test_moons_under_the_environment(tmp_path):
    assert "accuracy 100%" in example("moons.py", "7", "out.png", folder=tmp_path, environment={**os.environ, "MG_DEVICE": "cuda"})
