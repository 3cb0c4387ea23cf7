"""The programs a reader would run: the pages' Python, and the examples."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import micrograd_rs as mg
import pytest
from conftest import close

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


def test_mnist_cnn(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "mnist_cnn.py", "--drawn", "3000", "--epochs", "2")
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"epoch 2: .* ([0-9.]+)% of the test images right", done.stdout)[1]) > 90


@pytest.mark.skipif("MNIST_DIR" not in os.environ, reason="MNIST_DIR names no folder with the files")
def test_mnist_cnn_on_the_real_files(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "mnist_cnn.py", MNIST_DIR=os.environ["MNIST_DIR"])
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"epoch 3: .* ([0-9.]+)%", done.stdout)[1]) >= 99.2


def test_vae(tmp_path):
    program = ROOT / "examples" / "vae.py"
    done = python(tmp_path, program, "--drawn", "3000", "--epochs", "3", "--batch", "32", "--pictures", "out")
    assert done.returncode == 0, done.stderr
    unseen = [float(nats) for nats in re.findall(r"([0-9.]+) unseen", done.stdout)]
    # 204 is what it takes to draw the mean of all digits, wherever the code lies.
    assert len(unseen) == 3 and unseen[-1] < 190, done.stdout
    assert (tmp_path / "out" / "plane.svg").read_text().count("<circle") == 500
    assert (tmp_path / "out" / "digits.svg").read_text().count("<image") == 144


def test_autoencoder(tmp_path):
    program = ROOT / "examples" / "autoencoder.py"
    done = python(tmp_path, program, "--drawn", "3000", "--epochs", "3", "--batch", "32", "--pictures", "out")
    assert done.returncode == 0, done.stderr
    unseen = [float(error) for error in re.findall(r"([0-9.]+) unseen", done.stdout)]
    # 0.07 is what it costs to draw the mean of all digits.
    assert len(unseen) == 3 and unseen[-1] < 0.06, done.stdout
    assert "encoder: Sequential" in done.stdout
    assert (tmp_path / "out" / "plane.svg").read_text().count("<circle") == 500
    assert (tmp_path / "out" / "again.svg").read_text().count("<image") == 20


def test_dcgan(tmp_path):
    options = ["--drawn", "320", "--epochs", "2", "--batch", "32", "--width", "8", "--pictures", "out"]
    done = python(tmp_path, ROOT / "examples" / "dcgan.py", *options)
    assert done.returncode == 0, done.stderr
    # The judge has the easier work at first.
    right = [int(part) for part in re.findall(r"right ([0-9]+)% of the time", done.stdout)]
    assert len(right) == 2 and right[-1] > 80, done.stdout
    assert (tmp_path / "out" / "epoch-2.svg").read_text().count("<image") == 64


def test_lbfgs(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "lbfgs.py", "--picture", "out.svg")
    assert done.returncode == 0, done.stderr
    found = re.findall(r": +([0-9.]+), and it was ([0-9.]+)", done.stdout)
    assert len(found) == 5 and all(abs(float(a) - float(b)) < 0.1 for a, b in found)
    gradients = int(re.search(r"(\d+) gradients so far\n *amplitude", done.stdout)[1])
    assert gradients < 50 < int(re.search(r"takes Adam (\d+)", done.stdout)[1])
    assert (tmp_path / "out.svg").read_text().startswith("<svg")


def test_pinn(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "pinn.py", "--steps", "600", "--picture", "out.svg")
    assert done.returncode == 0, done.stderr
    assert float(re.findall(r"at most ([0-9.]+)", done.stdout)[-1]) < 0.05
    assert (tmp_path / "out.svg").read_text().startswith("<svg")


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


def test_finetune(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "finetune.py", "--drawn", "1200", "--few", "4")
    assert done.returncode == 0, done.stderr
    assert "missing_keys=['head.weight', 'head.bias']" in done.stdout
    known, taught, fresh = (float(part) for part in re.findall(r": ([0-9.]+)% right", done.stdout))
    # A fifth is what guessing gets right.
    assert known > 60 and taught > 50 and fresh > 50 and "of 20 images alone" in done.stdout


def test_export_onnx(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "export_onnx.py", "--drawn", "2000", "--steps", "60")
    assert done.returncode == 0, done.stderr
    assert int(re.search(r"([0-9]+) of 100 unseen digits right", done.stdout)[1]) > 70
    asked = mg.npz.load(tmp_path / "digits.npz")
    assert (tmp_path / "digits.onnx").stat().st_size > 40_000 and asked["scores"].shape == (100, 10)
    # Where onnxruntime is installed it has run the file; otherwise that it has not is said.
    assert "100 of 100 digits the same" in done.stdout or "skipped: onnxruntime is not installed" in done.stdout


def test_gpt(tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat and the dog sat on the log. " * 60)
    done = python(tmp_path, ROOT / "examples" / "gpt.py", "text.txt", "--steps", "40", "--context", "16")
    assert losses(done)[-1] < 1.5 and "14 letters" in done.stdout


def test_the_cache_of_keys_and_values_changes_nothing(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import gpt

    mg.manual_seed(0)
    model = gpt.GPT(letters=10, context=16, size=32, heads=4, layers=2)
    model.eval()
    letters = mg.randint(10, (3, 12))
    with mg.no_grad():
        whole, _ = model(letters)
        caches = model.caches(3)
        parts = [model(letters[:, :5], caches=caches, at=mg.arange(5))[0]]
        parts += [model(letters[:, i : i + 1], caches=caches, at=mg.arange(i, i + 1))[0] for i in range(5, 12)]
        assert mg.allclose(mg.cat(parts, dim=1), whole, atol=1e-5)
    # Beyond the context, too.
    drawn = model.generate(letters[:, :1], 40)
    assert drawn.shape == (3, 41) and mg.equal(drawn[:, :1], letters[:, :1])


def test_resnet(tmp_path):
    program = ROOT / "examples" / "resnet.py"
    done = python(tmp_path, program, "--drawn", "60", "--batch", "12", "--save", "r.safetensors")
    assert done.returncode == 0, done.stderr
    assert "11173962 parameters, 5 steps an epoch" in done.stdout and "epoch 1: loss" in done.stdout
    shown = python(tmp_path, program, "--weights", "r.safetensors")
    assert "10 classes" in shown.stdout and "a black image is a" in shown.stdout, shown.stderr
    refused = python(tmp_path, program, "--weights", "r.safetensors", "--stem", "imagenet")
    assert refused.returncode == 1 and "conv1.weight" in refused.stderr


OF_DIGITS = ["autoencoder", "dcgan", "export_onnx", "finetune", "mnist", "mnist_cnn", "resnet", "vae"]


@pytest.mark.parametrize("name", OF_DIGITS)
def test_digits_that_are_asked_for(name, tmp_path):
    program = ROOT / "examples" / f"{name}.py"
    for arguments, text in (([], "none"), (["--data", "nowhere"], "nowhere"), (["--data", ".", "--drawn", "12"], "got both: . and 12")):
        done = python(tmp_path, program, *arguments, MNIST_DIR=str(tmp_path / "none"))
        assert done.returncode == 1 and not done.stdout, done.stdout
        # One line, without where in the program it was.
        assert re.fullmatch(rf"{name}: .*{text}.*\n", done.stderr), done.stderr


def test_digits_that_are_drawn_whatever_the_environment_says(tmp_path):
    done = python(tmp_path, ROOT / "examples" / "mnist.py", "--drawn", "600", "--epochs", "1", MNIST_DIR=str(tmp_path / "none"))
    assert done.returncode == 0 and "drawn digits: 600 images to train on, 100 to test on" in done.stdout, done.stderr


def test_devices_of_the_programs_are_found_alike(tmp_path):
    texts = {path.stem: path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py")}
    with_device = {name: text for name, text in texts.items() if '"--device"' in text}
    assert len(with_device) == 10
    for name, text in with_device.items():
        assert 'device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")\n' in text, name
        assert 'add_argument("--device", default=device, help=' in text, name
    done = python(tmp_path, ROOT / "examples" / "mnist.py", "--drawn", "60", MG_DEVICE="cuda:99")
    assert done.returncode == 1 and done.stderr.count("\n") <= 2 and "cuda:99" in done.stderr, done.stderr


def test_weights_that_are_none_of_resnets(tmp_path):
    program = ROOT / "examples" / "resnet.py"
    mg.save(mg.nn.Sequential(mg.nn.Linear(4, 3)).state_dict(), tmp_path / "other.safetensors")
    mg.npz.save(tmp_path / "line.npy", mg.ones(3))
    (tmp_path / "text.pt").write_text("hello")
    mg.save({"fc.bias": mg.zeros(10)}, tmp_path / "part.safetensors")
    for file, text in (
        ("other.safetensors", "other.safetensors has no weights of a ResNet-18, of which the last are called 'fc.bias'; it has '0.weight', '0.bias'"),
        ("line.npy", "line.npy has no weights of a ResNet-18.*; it has Tensor"),
        ("text.pt", "text.pt is neither safetensors, nor"),
        ("part.safetensors", "Error.* in loading state_dict for ResNet18: Missing key.* \"conv1.weight\""),
        ("none.pt", "No such file .*none.pt"),
        (".", "Is a directory"),
    ):
        done = python(tmp_path, program, "--weights", file)
        assert done.returncode == 1 and not done.stdout, done.stdout
        assert re.fullmatch(rf"resnet: .*{text}.*\n", done.stderr), done.stderr


def test_weights_beside_what_training_goes_on_with(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import resnet

    mg.manual_seed(0)
    model = resnet.ResNet18(3).eval()
    mg.save({"state_dict": model.state_dict(), "epoch": 3}, tmp_path / "r.safetensors")
    x = mg.ones(1, 3, 32, 32)
    with mg.no_grad():
        assert mg.equal(resnet.with_weights(str(tmp_path / "r.safetensors"))(x), model(x))


def as_torch(name, *classes):
    """The classes of an example, which name nothing that PyTorch does not have, as PyTorch's."""
    torch = pytest.importorskip("torch", reason="compared with PyTorch where it is installed")
    text = (ROOT / "examples" / name).read_text("utf-8")
    text = text.replace("import micrograd_rs as mg", "import torch as mg").replace("from micrograd_rs.utils", "#")
    text = text.replace("from micrograd_rs.data", "#").replace("from micrograd_rs", "from torch")
    space = {"__name__": name}
    exec(compile(text, name, "exec"), space)
    return torch, [space[c] for c in classes]


def test_resnet_answers_as_in_pytorch(tmp_path, monkeypatch):
    torch, (theirs,) = as_torch("resnet.py", "ResNet18")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import resnet

    torch.manual_seed(0)
    model = theirs(7).train()
    model(torch.randn(4, 3, 32, 32))  # so that the averages are none of the first
    model.eval()
    torch.save(model.state_dict(), tmp_path / "r.pt")
    ours = resnet.with_weights(str(tmp_path / "r.pt"))
    x = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        wanted = model(x)
    with mg.no_grad():
        got = ours(mg.tensor(x.tolist()))
    close(got, wanted, rtol=1e-3, atol=1e-4)


def test_gpt_answers_as_in_pytorch(monkeypatch):
    torch, (theirs,) = as_torch("gpt.py", "GPT")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import gpt

    torch.manual_seed(0)
    sizes = {"letters": 11, "context": 16, "size": 32, "heads": 4, "layers": 2, "dropout": 0.0}
    model, ours = theirs(**sizes), gpt.GPT(**sizes)
    ours.load_state_dict({name: mg.tensor(t.tolist()) for name, t in model.state_dict().items()})
    x = torch.randint(11, (3, 17))
    scores, loss = model(x[:, :-1], x[:, 1:])
    loss.backward()
    x = mg.tensor(x.tolist())
    our_scores, our_loss = ours(x[:, :-1], x[:, 1:])
    our_loss.backward()
    close(our_scores, scores, rtol=1e-4, atol=1e-5)
    close(our_loss, loss, rtol=1e-5)
    for (name, p), q in zip(model.named_parameters(), ours.parameters(), strict=True):
        assert mg.allclose(q.grad, mg.tensor(p.grad.tolist()), rtol=1e-3, atol=1e-5), name
