"""Ordinary programs of PyTorch's users, run with its name standing for this library: the numbers are PyTorch's.

`programs/*.py` are written for PyTorch. `recorded.json` is what they answer there; where PyTorch is installed they are run with it too.
`python test_programs.py` writes it anew.
"""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import micrograd_rs as mg
import programs
import pytest

RECORDED = Path(programs.__file__).with_name("recorded.json")
NEEDS = dict.fromkeys(("audio_latents", "bert_t5", "distillation", "flow_bayes", "ppo", "preprocessing", "sac", "time_series", "wgan_gp"), "numpy")


def close(got: list[float], wanted: list[float], where: str, rtol: float = 3e-4) -> None:
    assert len(got) == len(wanted), f"{where}: {len(got)} numbers, not {len(wanted)}"
    for i, (a, b) in enumerate(zip(got, wanted)):
        assert math.isclose(a, b, rel_tol=rtol, abs_tol=2e-5), f"{where}, number {i}: {a} is not {b}"


def test_all_are_recorded():
    assert sorted(json.loads(RECORDED.read_text())) == programs.NAMES, "run `python test_programs.py`"
    assert len(programs.NAMES) >= 40


@pytest.fixture
def as_before():
    """What programs set for all is put back."""
    precision, threads = mg.get_float32_matmul_precision(), mg.get_num_threads()
    yield
    mg.set_float32_matmul_precision(precision)
    mg.set_num_threads(threads)


@pytest.mark.parametrize("name", programs.NAMES)
@pytest.mark.usefixtures("as_before")
def test_program(name):
    pytest.importorskip(NEEDS.get(name, "math"))
    close(programs.run(name, True), json.loads(RECORDED.read_text())[name], name)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_what_is_recorded_is_pytorchs():
    """In a process of its own: what PyTorch sets up for its compiler stays there."""
    done = subprocess.run([sys.executable, "-W", "ignore", __file__, "--show"], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr
    recorded = json.loads(RECORDED.read_text())
    for name, numbers in json.loads(done.stdout.splitlines()[-1]).items():
        close(numbers, recorded[name], name)


if __name__ == "__main__":
    answers = {name: programs.run(name, False) for name in programs.NAMES}
    if "--show" in sys.argv:
        print(json.dumps(answers))
    else:
        lines = [f"{json.dumps(name)}: {json.dumps(numbers)}" for name, numbers in answers.items()]
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
