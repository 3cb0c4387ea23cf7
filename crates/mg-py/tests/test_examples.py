"""The programs a reader would run: the pages' Python, and the examples."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

CRATE = Path(__file__).parent.parent
ROOT = CRATE.parent.parent


def python(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**{k: v for k, v in os.environ.items() if k != "MNIST_DIR"}, "PYTHONUTF8": "1", **environment},
    )


@pytest.mark.parametrize("page", [ROOT / "README.md", CRATE / "README.md"], ids=["root", "crate"])
def test_pages(page, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert blocks
    done = python(tmp_path, "-c", "\n".join(blocks))
    assert done.returncode == 0, done.stderr


def pixels(path):
    """The lines of a PNG of 8-bit colours without filters."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        (n,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + n]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + n : at + 12 + n])[0]
        parts[kind] = body
        at += 12 + n
    width, height, depth, colour = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    raw = zlib.decompress(parts[b"IDAT"])
    assert (depth, colour) == (8, 2) and len(raw) == height * (3 * width + 1) and b"IEND" in parts
    return [raw[i * (3 * width + 1) + 1 : (i + 1) * (3 * width + 1)] for i in range(height)]


def test_moons(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "moons.py", "7", "out.png")
    assert done.returncode == 0, done.stderr
    assert "337 parameters" in done.stdout and "accuracy 100%" in done.stdout
    seen = {line[i : i + 3] for line in pixels(tmp_path / "out.png") for i in range(0, len(line), 30)}
    assert any(p[0] > p[2] + 50 for p in seen) and any(p[2] > p[0] + 50 for p in seen), "both classes are shown"


def test_mnist_on_drawn_digits(tmp_path):
    program = ROOT / "examples" / "mnist.py"
    done = python(tmp_path, program, "--drawn", "6000", "--epochs", "3", "--save", "a/b.safetensors")
    assert done.returncode == 0, done.stderr
    right = float(re.search(r"epoch 3/3 ([0-9.]+)% of the test images right", done.stdout)[1])
    assert right > 90
    shown = python(tmp_path, program, "--drawn", "6000", "--load", "a/b.safetensors")
    assert f"{right:.2f}% of the test images right" in shown.stdout and "sure" in shown.stdout


def test_mnist_says_what_is_wrong(tmp_path):
    program = ROOT / "examples" / "mnist.py"
    for arguments in (["--data", "nowhere"], ["--drawn", "60", "--load", "nothing"], ["--drawn", "60", "--device", "gpu"]):
        done = python(tmp_path, program, *arguments)
        assert done.returncode == 1 and "mnist: " in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif("MNIST_DIR" not in os.environ, reason="MNIST_DIR names no folder with the files")
def test_mnist_on_the_real_files(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "mnist.py", "--epochs", "3", MNIST_DIR=os.environ["MNIST_DIR"])
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"epoch 3/3 ([0-9.]+)%", done.stdout)[1]) > 95


def losses(done):
    assert done.returncode == 0, done.stderr
    found = [float(loss) for loss in re.findall(r"step \d+: loss ([0-9.]+)", done.stdout)]
    assert found, done.stdout
    return found


def test_names(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "names.py", "--steps", "60")
    # Of 27 letters, none is known at first.
    assert losses(done)[-1] < 1.5 and "(lstm): LSTM(16, 64, num_layers=2" in done.stdout
    assert re.search(r"drawn: [a-z-]+ ", done.stdout)


def test_translate(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "translate.py", "--steps", "80")
    assert losses(done)[-1] < 1.5 and "of 20 right" in done.stdout


def test_gpt(tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat and the dog sat on the log. " * 60)
    done = python(tmp_path, ROOT / "examples" / "gpt.py", "text.txt", "--steps", "40", "--context", "16")
    assert losses(done)[-1] < 1.5 and "14 letters" in done.stdout
