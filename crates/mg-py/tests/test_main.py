"""`python -m micrograd_rs`."""

from __future__ import annotations

import subprocess
import sys

import micrograd_rs as mg
from micrograd_rs import __main__ as program


def test_it_tells_what_there_is_and_that_it_computes():
    done = subprocess.run([sys.executable, "-m", "micrograd_rs"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"micrograd_rs {mg.__version__}" in done.stdout and "threads" in done.stdout
    assert ("cuda:0: " if mg.cuda.is_available() else "no GPU: ") in done.stdout
    assert done.stdout.count("cpu: ") == 1 + len(program.CHECKS) and "cpu: gradients: ok" in done.stdout


def test_what_is_wrong_is_told(monkeypatch, capsys):
    def broken(device):
        raise RuntimeError("no luck")

    monkeypatch.setattr(program, "CHECKS", {"numbers": lambda device: False, "luck": broken})
    assert program.main() == 1
    said = capsys.readouterr().out
    assert "cpu: numbers: WRONG" in said and "cpu: luck: FAILED: no luck" in said
