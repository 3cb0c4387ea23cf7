"""Checkpoints and data sets."""

from __future__ import annotations

import gzip
import json
import struct

import micrograd_rs as mg
import pytest
from micrograd_rs import nn
from micrograd_rs.data import Batches, Mnist


def test_there_and_back(tmp_path):
    path = tmp_path / "a.safetensors"
    tensors = {
        "f": mg.randn(2, 3),
        "turned": mg.randn(2, 3).t(),
        "n": mg.arange(3),
        "h": mg.ones(2, dtype="f16"),
        "b": mg.ones(2, dtype="bf16"),
        "t": mg.tensor([True]),
        "empty": mg.zeros(0, 4),
        "one": mg.tensor(1.5, dtype="f64"),
    }
    mg.save_safetensors(tensors, path, {"who": "we"})
    loaded, metadata = mg.load_safetensors(str(path), metadata=True)
    assert metadata == {"who": "we"} and set(loaded) == set(tensors)
    for name, t in tensors.items():
        assert loaded[name].tolist() == t.tolist() and loaded[name].dtype == t.dtype and loaded[name].shape == t.shape
    net = nn.Linear(2, 2)
    mg.save_safetensors(net.state_dict(), path)
    other = nn.Linear(2, 2)
    other.load_state_dict(mg.load_safetensors(path))
    assert other.weight.tolist() == net.weight.tolist()


def test_the_form_is_safetensors(tmp_path):
    path = tmp_path / "a.safetensors"
    mg.save_safetensors({"x": mg.tensor([1.0, 2.0])}, path)
    raw = path.read_bytes()
    (n,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + n])
    assert header["x"]["dtype"] == "F32" and header["x"]["shape"] == [2]
    assert struct.unpack("<2f", raw[8 + n :]) == (1.0, 2.0)


def test_mistakes(tmp_path):
    with pytest.raises(FileNotFoundError, match="none") as caught:
        mg.load_safetensors(tmp_path / "none")
    assert caught.value.filename == str(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        mg.save_safetensors({}, tmp_path / "none" / "a")
    for i, junk in enumerate((b"", b"12345678", b"\xff" * 100, struct.pack("<Q", 2) + b"{]", struct.pack("<Q", 2**63))):
        path = tmp_path / f"junk{i}"
        path.write_bytes(junk)
        with pytest.raises(ValueError):
            mg.load_safetensors(path)
    with pytest.raises(OSError):
        mg.load_safetensors(tmp_path)
    with pytest.raises(TypeError):
        mg.save_safetensors({"x": 5}, tmp_path / "a")
    with pytest.raises(TypeError):
        mg.save_safetensors({5: mg.ones(1)}, tmp_path / "a")
    with pytest.raises(TypeError):
        mg.load_safetensors(5)
    with pytest.raises(FileNotFoundError):
        Mnist.load(tmp_path / "none")
    with pytest.raises(OSError):
        Mnist.load(tmp_path)


def idx(kind, shape, data):
    return struct.pack(">HBB", 0, kind, len(shape)) + b"".join(struct.pack(">I", n) for n in shape) + bytes(data)


def test_mnist(tmp_path):
    for part, n in (("train", 3), ("t10k", 2)):
        images, labels = idx(8, (n, 2, 2), range(n * 4)), idx(8, (n,), range(n))
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(images)
        (tmp_path / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    data = Mnist.load(tmp_path)
    assert data.train_images.shape == (3, 2, 2) and data.train_images.dtype == mg.uint8
    assert data.test_images.tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]] and data.train_labels.tolist() == [0, 1, 2]
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(8, (3, 2, 2), range(5)))
    with pytest.raises(ValueError):
        Mnist.load(tmp_path)


def test_the_digits_that_are_asked_for(tmp_path, monkeypatch):
    for part, n in (("train", 3), ("t10k", 2)):
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(idx(8, (n, 2, 2), range(n * 4)))
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(idx(8, (n,), range(n)))
    monkeypatch.delenv("MNIST_DIR", raising=False)

    def sizes(*given, **named):
        data = Mnist.load_or_draw(*given, **named, usual=18)
        return len(data.train_labels), len(data.test_labels)

    assert sizes() == sizes(None, 0) == (18, 3) and sizes(None, 12) == (12, 2) and sizes(tmp_path) == sizes(str(tmp_path), 0) == (3, 2)
    # The environment's folder stands behind both that are given.
    monkeypatch.setenv("MNIST_DIR", str(tmp_path))
    assert sizes() == (3, 2) and sizes(drawn=12) == (12, 2)
    monkeypatch.setenv("MNIST_DIR", str(tmp_path / "none"))
    assert sizes(tmp_path) == (3, 2) and sizes(drawn=12) == (12, 2)
    with pytest.raises(FileNotFoundError):
        sizes()
    with pytest.raises(ValueError, match=r"^Mnist\.load_or_draw: takes a folder with the files or a number of digits to draw, got both: .* and 12$"):
        sizes(tmp_path, 12)
    with pytest.raises(OSError, match=r"^Mnist\.load: .*no file train-images-idx3-ubyte"):
        Mnist.load(tmp_path.parent)


def test_drawn():
    a, b = Mnist.drawn(20, 5, seed=1), Mnist.drawn(20, 5, seed=1)
    assert a.train_images.shape == (20, 28, 28) and a.train_images.tolist() == b.train_images.tolist()
    assert Mnist.drawn(20, 5, seed=2).train_images.tolist() != a.train_images.tolist()
    with pytest.raises(ValueError):
        Mnist.drawn(2**30, 0)


def test_batches():
    batches = Batches(10, 4)
    assert len(batches) == 3 and [b.tolist() for b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(Batches(10, 4, drop_last=True)) == 2 == len(list(Batches(10, 4, drop_last=True)))
    shuffled = Batches(10, 4, seed=1)
    first, second = [[i for b in shuffled for i in b.tolist()] for _ in range(2)]
    assert sorted(first) == sorted(second) == list(range(10)) and first != second
    assert [i for b in shuffled.epoch(0) for i in b.tolist()] == first
    with pytest.raises(ValueError):
        Batches(10, 0)
