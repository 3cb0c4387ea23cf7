"""Seeing a training: event files, histories, bars of progress, pictures."""

from __future__ import annotations

import io
import math
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET

import micrograd_rs as mg
import pytest
from micrograd_rs.utils import plot
from micrograd_rs.utils.history import History
from micrograd_rs.utils.progress import progress
from micrograd_rs.utils.tensorboard import SummaryWriter


def write(folder):
    with SummaryWriter(folder) as writer:
        for step in range(3):
            writer.add_scalar("loss", mg.tensor(1.0 / (step + 1)), step, walltime=100.0 + step)
        writer.add_histogram("weights", mg.arange(10.0), 2, bins=5)
        writer.add_image("digit", mg.rand(1, 4, 5), 1)
        writer.add_image("colours", mg.zeros(4, 5, 3, dtype=mg.uint8), 1, dataformats="HWC")
        writer.add_text("note", "a *word*", 7)
        writer.add_scalars("both", {"train": 1.0, "test": 2.0}, 4)


def test_tensorboard_reads_it_back(tmp_path):
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="reads back with TensorBoard"
    )
    write(tmp_path)
    events = reader.EventAccumulator(str(tmp_path), size_guidance={reader.TENSORS: 0, reader.IMAGES: 0})
    events.Reload()
    loss = events.Scalars("loss")
    assert [(e.step, e.wall_time) for e in loss] == [(0, 100.0), (1, 101.0), (2, 102.0)]
    assert [e.value for e in loss] == pytest.approx([1.0, 0.5, 1 / 3])
    (histogram,) = events.Histograms("weights")
    values = histogram.histogram_value
    assert (values.min, values.max, values.num, values.sum) == (0.0, 9.0, 10.0, 45.0)
    assert list(values.bucket) == [2.0, 2.0, 2.0, 2.0, 2.0]
    assert values.bucket_limit == pytest.approx([1.8, 3.6, 5.4, 7.2, 9.0])
    (image,) = events.Images("digit")
    assert (image.width, image.height, image.step) == (5, 4, 1)
    assert image.encoded_image_string.startswith(b"\x89PNG")
    assert events.Images("colours")
    (text,) = events.Tensors("note")
    assert text.step == 7 and text.tensor_proto.string_val[0] == b"a *word*"
    train = reader.EventAccumulator(str(tmp_path / "both_train"))
    train.Reload()
    assert train.Scalars("both")[0].value == 1.0


def test_records_have_their_lengths(tmp_path):
    write(tmp_path)
    (file,) = tmp_path.glob("events.out.tfevents.*")
    data, at, records = file.read_bytes(), 0, 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        at += 16 + length
        records += 1
    assert at == len(data)
    assert records == 1 + 3 + 4


def test_bad_images(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(ValueError, match="channels"):
            writer.add_image("x", mg.zeros(2, 4, 4))
        with pytest.raises(ValueError, match="dataformats"):
            writer.add_image("x", mg.zeros(2, 4, 4), dataformats="WHC")


def test_history(tmp_path):
    history = History()
    history.log(1, loss=mg.tensor(0.5))
    history.log(2, loss=0.25, **{"a,b": 1})
    assert history.to_csv() == 'step,loss,"a,b"\n1,0.5,\n2,0.25,1\n'
    assert history["loss"] == [(1.0, 0.5), (2.0, 0.25)]
    with pytest.raises(KeyError):
        history["nothing"]
    history.save(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text() == history.to_csv()
    assert [p.name for p in tmp_path.iterdir()] == ["run.csv"]
    ET.fromstring(history.plot("loss").svg)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_in_a_terminal():
    out = Terminal()
    bar = progress(range(4), "epoch 1", interval=0.0, file=out, unit="batch")
    for i in bar:
        bar.set(loss=mg.tensor(0.5 / (i + 1)), step=i)
    lines = out.getvalue().split("\r")
    assert lines[1].startswith("epoch 1:   0%|")
    assert "100%" in lines[-1] and "loss=0.125" in lines[-1] and lines[-1].endswith("\n")
    assert bar.n == 4


def test_progress_is_quiet_elsewhere():
    out = io.StringIO()
    assert list(progress([1, 2], file=out)) == [1, 2]
    assert out.getvalue() == ""
    with progress(total=3, file=out, disable=False) as bar:
        bar.update(2)
    assert "2/3" in out.getvalue()
    with pytest.raises(TypeError):
        iter(progress(total=3)).__next__()


def test_progress_ends_its_line_on_errors():
    out = Terminal()
    with pytest.raises(ZeroDivisionError):
        for _ in progress(range(3), file=out):
            raise ZeroDivisionError
    assert out.getvalue().endswith("\n")


def parts(picture, tag):
    return ET.fromstring(picture.svg).findall(f".//{{http://www.w3.org/2000/svg}}{tag}")


def test_pictures(tmp_path):
    nan = float("nan")
    curves = plot.curves({"train": [1.0, 0.5, nan, 0.25], "test": mg.tensor([2.0, 1.0])}, title="<loss>", log=True)
    texts = [t.text for t in parts(curves, "text")]
    assert {"<loss>", "train", "test"} <= set(texts)
    points = plot.scatter({"cats": mg.rand(5, 2), "dogs": [(0.5, nan), (1.0, 2.0)]}, title="<plane>", xlabel="z0")
    assert len(parts(points, "circle")) == 6
    assert {"<plane>", "z0", "cats", "dogs"} <= {t.text for t in parts(points, "text")}
    assert len(parts(plot.histogram(mg.randn(100), bins=7), "rect")) == 7 + 1
    images = plot.images(mg.rand(5, 1, 8, 8), columns=3)
    assert len(parts(images, "image")) == 5
    assert len(parts(plot.images(mg.zeros(2, 8, 8, dtype=mg.uint8)), "image")) == 2
    matrix = plot.confusion_matrix(mg.tensor([[5, 1], [0, 3]]), labels=["cat", "dog"])
    texts = [t.text for t in parts(matrix, "text")]
    assert texts.count("cat") == 2 and "5" in texts
    matrix.save(tmp_path / "matrix.svg")
    assert (tmp_path / "matrix.svg").read_text() == matrix.svg == matrix._repr_svg_()
    with pytest.raises(ValueError, match="square"):
        plot.confusion_matrix(mg.zeros(2, 3))
    with pytest.raises(ValueError, match="channels"):
        plot.images(mg.zeros(1, 2, 3, 3))


def test_modules_in_notebooks():
    nn = mg.nn
    html = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))._repr_html_()
    root = ET.fromstring(html)
    assert len(root.findall(".//details")) == 1
    assert "9 parameters" in html and "in_features=2" in html


# Checkpoints of what goes well.


class Run:
    def __init__(self, path, **how):
        from micrograd_rs.utils.checkpointer import Checkpointer

        self.w = mg.nn.Parameter(mg.ones(1))
        self.sgd = mg.optim.SGD([self.w], lr=0.1, momentum=0.9)
        self.net = mg.nn.Module()
        self.net.w = self.w
        self.kept = Checkpointer(path, model=self.net, optim=self.sgd, **how)

    def step(self, x=1.0, read=False):
        loss = (self.w * x).square().sum()
        self.sgd.zero_grad()
        loss.backward()
        self.sgd.step()
        self.kept.step(loss.item() if read else loss)


def test_the_last_good_checkpoint_is_kept(tmp_path):
    from micrograd_rs.utils.checkpointer import TrainingError

    run = Run(tmp_path / "run.mg", every=3)
    assert run.kept.load() == 0
    for _ in range(4):
        run.step()
    good = mg.load(tmp_path / "run.mg")
    assert good["step"] == 3 and run.kept.saved == 3
    run.step(math.nan)
    with pytest.raises(TrainingError, match="the loss of step 5 is nan; the last good checkpoint is that of step 3, in .*run.mg") as told:
        run.step()
    assert (told.value.step, isinstance(told.value, FloatingPointError)) == (5, True) and math.isnan(told.value.loss)
    assert mg.load(tmp_path / "run.mg")["model"]["w"].tolist() == good["model"]["w"].tolist()
    # Training goes on from there as it would have.
    assert run.kept.load() == 3 == run.kept.steps
    other = Run(tmp_path / "run.mg", every=3)
    other.kept.load()
    for one in (run, other):
        one.step()
    assert run.w.tolist() == other.w.tolist() and run.kept.steps == 4


def test_nan_in_what_is_saved_is_told(tmp_path):
    from micrograd_rs.utils.checkpointer import TrainingError

    run = Run(tmp_path / "run.mg", every=2)
    run.step()
    run.step()
    run.sgd.state[run.w]["momentum_buffer"].fill_(math.nan)
    run.step()
    with pytest.raises(TrainingError, match="after step 4 there is NaN in model.w, optim.state.0.momentum_buffer"):
        run.kept.steps += 1
        run.kept.save()
    assert mg.load(tmp_path / "run.mg")["step"] == 2


def test_a_loss_that_was_read_is_looked_at_at_once(tmp_path):
    from micrograd_rs.utils.checkpointer import TrainingError

    run = Run(tmp_path / "run.mg", every=100)
    run.step(read=True)
    with pytest.raises(TrainingError, match="the loss of step 2 is inf; nothing was saved to"):
        run.step(math.inf, read=True)
    # Left by an error nothing is saved; else what there is.
    with pytest.raises(KeyError):
        with run.kept:
            raise KeyError
    assert not (tmp_path / "run.mg").exists()
    run = Run(tmp_path / "run.mg", every=100)
    with run.kept:
        run.step()
    assert mg.load(tmp_path / "run.mg")["step"] == 1


def test_nan_can_be_a_warning(tmp_path):
    run = Run(tmp_path / "run.mg", every=2, on_nan="warn")
    run.step()
    run.step()
    run.step(math.nan)
    with pytest.warns(RuntimeWarning, match="the loss of step 3 is nan"):
        run.step()
    run.step()
    # The loss is NaN for good, and the file is what it was.
    with pytest.warns(RuntimeWarning, match="the loss of step 5 is nan"):
        run.step()
    assert mg.load(tmp_path / "run.mg")["step"] == 2


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_what_is_warned_of_is_not_saved(tmp_path, read, bad):
    path = tmp_path / "run.mg"
    net = mg.nn.Linear(1, 1)
    from micrograd_rs.utils.checkpointer import Checkpointer

    kept = Checkpointer(path, every=2, on_nan="warn", model=net)
    of = float if read else mg.tensor
    kept.step(of(1.0))
    kept.step(of(1.0))
    # A bad one when a checkpoint is due, and one before: both ways of telling are one.
    kept.step(of(1.0))
    with pytest.warns(RuntimeWarning, match="the loss of step 4 is"):
        kept.step(of(bad))
    assert mg.load(path)["step"] == 2 == kept.saved
    with pytest.warns(RuntimeWarning, match="the loss of step 5 is"):
        kept.step(of(bad))
        kept.step(of(1.0))
    assert mg.load(path)["step"] == 2 == kept.saved
    # What goes well since is saved again.
    kept.step(of(1.0))
    kept.step(of(1.0))
    assert mg.load(path)["step"] == 8 == kept.saved


def test_parts_are_loaded_in_any_order_and_all_or_none(tmp_path):
    from micrograd_rs.utils.checkpointer import Checkpointer

    path = tmp_path / "run.mg"
    run = Run(path, every=1)
    run.step()
    after = run.w.tolist(), run.sgd.state[run.w]["momentum_buffer"].tolist()
    other = Run(path)
    assert Checkpointer(path, optim=other.sgd, model=other.net).load() == 1
    assert (other.w.tolist(), other.sgd.state[other.w]["momentum_buffer"].tolist()) == after
    # A part that does not fit leaves those before it as they were.
    third = Run(path)
    third.step(3.0)
    before = third.w.tolist(), third.sgd.state[third.w]["momentum_buffer"].tolist()
    mg.save({**mg.load(path), "last": mg.nn.Linear(2, 2).state_dict()}, path)
    wrong = Checkpointer(path, model=third.net, optim=third.sgd, last=mg.nn.Linear(3, 3))
    with pytest.raises((ValueError, RuntimeError), match="size mismatch"):
        wrong.load()
    assert (third.w.tolist(), third.sgd.state[third.w]["momentum_buffer"].tolist()) == before
    assert wrong.steps == 0 and wrong.saved is None
    # One that has remembered nothing yet remembers nothing again.
    fresh = Run(path)
    with pytest.raises((ValueError, RuntimeError), match="size mismatch"):
        Checkpointer(path, optim=fresh.sgd, model=fresh.net, last=mg.nn.Linear(3, 3)).load()
    assert fresh.w.tolist() == [1.0]
    other = Run(path)
    for one in (other, fresh):
        one.step()
        one.step()
    assert other.w.tolist() == fresh.w.tolist()


TRAINED = """
import os, sys
import micrograd_rs as mg
from micrograd_rs import nn, optim
from micrograd_rs.utils.checkpointer import Checkpointer
from micrograd_rs.utils.data import DataLoader, TensorDataset

path, lasts, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
mg.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.3), nn.ReLU(), nn.Linear(16, 1))
adam = optim.Adam(net.parameters(), lr=0.01)
x = mg.randn(48, 8)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 8, shuffle=True, num_workers=workers)
kept = Checkpointer(path, every=4, model=net, optim=adam, loader=loader)
kept.load()
while kept.steps < 30:
    for a, b in loader:
        loss = (net(a) - b).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        kept.step(loss)
        lasts -= 1
        if not lasts:
            os.kill(os.getpid(), 9)
print([p.tolist() for p in net.parameters()])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills itself by a signal")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_that_is_killed_and_resumed_ends_at_the_same_bits(tmp_path, workers):
    def trained(name, lasts):
        command = [sys.executable, "-c", TRAINED, str(tmp_path / name), str(lasts), str(workers)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == (-9 if lasts else 0), done.stderr
        return done.stdout

    whole = trained("whole.mg", 0)
    # In the middle of an epoch, right behind a checkpoint, and where a checkpoint was the end of one.
    for lasts in (7, 4, 6):
        trained("killed.mg", lasts)
    assert mg.load(tmp_path / "killed.mg")["step"] == 12
    assert trained("killed.mg", 0) == whole


def test_checkpointers_that_are_none(tmp_path):
    from micrograd_rs.utils.checkpointer import Checkpointer

    path = tmp_path / "run.mg"
    for wrong, error in (
        (lambda: Checkpointer(path, every=0), "at least 1 step"),
        (lambda: Checkpointer(path, on_nan="ignore"), "'raise' or 'warn'"),
        (lambda: Checkpointer(path, net=3), "state_dict"),
        (lambda: Checkpointer(path, rng=mg.nn.Linear(1, 1)), "another name than 'rng'"),
        (lambda: Run(path).kept.step(mg.ones(2)), "one number"),
    ):
        with pytest.raises((ValueError, TypeError), match=error):
            wrong()
    mg.save({"model": 1}, path)
    with pytest.raises(ValueError, match="no checkpoint of"):
        Run(path).kept.load()


def test_no_loss_is_read_before_it_is_due(tmp_path, monkeypatch):
    run = Run(tmp_path / "run.mg", every=4)
    read = []
    monkeypatch.setattr("micrograd_rs.utils.checkpointer._numbers", lambda tensors: read.append(len(tensors)) or [0.0] * len(tensors))
    for _ in range(8):
        run.step()
    # The losses at once, and then whether there is NaN.
    assert read == [4, 2, 4, 2]
