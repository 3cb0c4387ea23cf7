"""Errors that say what to do: of what, what was given, and what is wanted."""

from __future__ import annotations

import argparse
import importlib
import io
import math
import warnings

import micrograd_rs as mg
import pytest
from micrograd_rs import metrics, nn, optim
from micrograd_rs.utils import plot
from micrograd_rs.utils.data import DataLoader, Dataset, default_collate

F = nn.functional
INF, NAN = math.inf, math.nan


class Foreign:
    """As another library's tensor."""

    def __dlpack__(self, **_):
        raise AssertionError("nobody asked for it")


@mg.kernel
def twice(x, *, mode="twice"):
    if mode == "twice":
        return x * 2
    return x


@mg.kernel
def worded(x, mode="twice"):
    if mode == "twice":
        return x * 2
    return x


def test_kernels_say_which_argument_is_none_of_theirs():
    name = f"{Foreign.__module__}.Foreign as 'x': mg.from_dlpack"
    with pytest.raises(TypeError, match=r"twice\(\): takes tensors, numbers and NumPy arrays, got " + name):
        twice(Foreign())
    with pytest.raises(TypeError, match=r"got str as 'x': what chooses how it computes is a constant, an argument after `\*`"):
        twice("twice")
    with pytest.raises(TypeError, match=r"got object as 'x'$"):
        twice(object())
    with pytest.raises(mg.kernels.KernelError, match=r"compared with the text 'twice': .* an argument after `\*`"):
        worded(mg.ones(2))
    assert twice(mg.ones(2), mode="once").tolist() == [1.0, 1.0] and twice(True).tolist() == 2


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_that_make_no_batch(workers):
    class Lines(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            return {"x": (mg.ones(3 if i < 5 else i), i)}

    batches = iter(DataLoader(Lines(), batch_size=4, num_workers=workers))
    next(batches)
    with pytest.raises(ValueError, match=r"same shape in entry \['x'\]\[0\]: sample 0 of the batch has \[3\], sample 1 has \[5\].*pad_sequence") as e:
        next(batches)
    assert "samples 0 and 1 of the batch are items 4 and 5 of the data set" in e.value.__notes__
    # Who collates otherwise counts otherwise.
    with pytest.raises(ValueError, match="sample 0 of the batch has .3., sample 1 has .6.") as e:
        list(DataLoader(Lines(), batch_size=4, num_workers=workers, collate_fn=lambda batch: default_collate(batch[::2])))
    assert not any("items" in note for note in getattr(e.value, "__notes__", ()))


def test_collating_what_differs():
    with pytest.raises(ValueError, match=r"same number of entries: sample 0 of the batch has 2, sample 1 has 1\."):
        default_collate([(1, 2), (3,)])
    with pytest.raises(ValueError, match=r"same keys: sample 0 of the batch has \['a'\], sample 2 has \['b'\]$"):
        default_collate([{"a": 1}, {"a": 2}, {"b": 1}])
    with pytest.raises(ValueError, match=r"sample 0 of the batch has \[2\], sample 1 has NoneType"):
        default_collate([mg.ones(2), None])
    with pytest.raises(TypeError, match=r"a sample in entry \[1\] has object"):
        default_collate([(1, object()), (1, object())])
    assert default_collate([mg.ones(2)] * 3).shape == (3, 2)


def test_plots_take_two_lines_of_numbers():
    x, y = mg.tensor([0.0, 1.0, 2.0]), [1.0, 1.0, 0.0]
    pairs = plot.scatter([(0.0, 1.0), (1.0, 1.0), (2.0, 0.0)], title="t").svg
    assert plot.scatter(x, y, title="t").svg == plot.scatter(x, y, "t").svg == pairs
    assert plot.curves(x, y, "t", log=True).svg == plot.curves([(0.0, 1.0), (1.0, 1.0), (2.0, 0.0)], "t", "", "", True).svg
    assert plot.curves(series={"a": y}, ylabel="b").svg == plot.curves({"a": y}, "", "", "b").svg
    for wrong, kind, text in (
        (lambda: plot.scatter(x, y[:2]), ValueError, "x and y have as many numbers, got 3 and 2"),
        (lambda: plot.scatter(mg.ones(3, 2), y), ValueError, r"plot.scatter: x is a line of numbers, got a tensor \[3, 2\]"),
        (lambda: plot.curves({"a": x}, y), TypeError, "x is a line of numbers, got dict"),
        (lambda: plot.curves(x, 3), TypeError, "y is a line of numbers, got int"),
        (lambda: plot.curves(x, title=3), TypeError, "title is text, got int"),
        (lambda: plot.scatter(x, y, color="red"), TypeError, "takes title, xlabel, ylabel, got color"),
        (lambda: plot.scatter(x, y, "a", title="b"), TypeError, "two values for title"),
        (lambda: plot.scatter(x, y, "a", "b", "c", "d"), TypeError, "got 4 arguments"),
    ):
        with pytest.raises(kind, match=text):
            wrong()


def test_pictures_are_svg(tmp_path):
    picture = plot.curves([1.0, 2.0])
    for name in ("x.png", "x.PDF"):
        with pytest.raises(ValueError, match=r"Picture.save: writes SVG, .*x\.svg'"):
            picture.save(tmp_path / name)
        assert not (tmp_path / name).exists()
    picture.save(tmp_path / "x.svg")
    picture.save(tmp_path / "plain")
    assert (tmp_path / "x.svg").read_text(encoding="utf-8") == (tmp_path / "plain").read_text(encoding="utf-8") == picture.svg


def test_what_is_no_tensor_is_named(tmp_path):
    path = tmp_path / "a.safetensors"
    with pytest.raises(TypeError, match=r"save_safetensors: takes tensors, got int under 'b': save\(\) writes"):
        mg.save_safetensors({"a": mg.ones(1), "b": 1}, path)
    with pytest.raises(TypeError, match="got the name 3"):
        mg.save_safetensors({3: mg.ones(1)}, path)
    with pytest.raises(TypeError, match="under 'b'"):
        mg.safetensors.save_file({"b": [1.0]}, path)
    assert not path.exists()
    mg.save_safetensors({"a": mg.ones(2)}, path, {"who": "me"})
    assert mg.load_safetensors(path, metadata=True)[1] == {"who": "me"}


X, Y, Z = mg.ones(2, 3), mg.zeros(2, 3), mg.full((2, 3), 2.0)


TOLD = {
    "mg.add(mg.ones(2), (1, 2))": "add(): takes tensors, numbers and NumPy arrays, got tuple",
    "mg.ones(2).mul('a')": "mul(): takes tensors, numbers and NumPy arrays, got str",
    "mg.exp(3)": "exp(): argument 'input' must be a tensor, not int",
    "mg.ones(2).matmul(3)": "matmul(): argument 'other' must be a tensor, not int",
    "mg.exp(foreign)": "exp(): argument 'input' must be a tensor, not test_helping_errors.Foreign: mg.from_dlpack(t) or mg.tensor(t) makes one of it",
    "nn.Linear(3, 2)(foreign)": "linear(): argument 'input' must be a tensor, not test_helping_errors.Foreign",
    "mg.nn.functional.scaled_dot_product_attention(H, H[:, :2], H[:, :2])": "scaled_dot_product_attention: takes what has the same axes before the last two "
    "(enable_gqa: or fewer heads of keys and values), got shapes [1, 4, 2, 3], [1, 2, 2, 3] and [1, 2, 2, 3]",
    "rnn.pack_padded_sequence(X, [2, 3], batch_first=True)": "pack_padded_sequence: takes lengths in descending order, got [2, 3]; pass enforce_sorted=False",
    "rnn.pack_padded_sequence(X, [3], batch_first=True)": "pack_padded_sequence: takes 2 lengths, one of each sequence, got 1",
    "rnn.pack_padded_sequence(X, [4, 1], batch_first=True)": "pack_padded_sequence: takes lengths above 0 and up to 3, got [4, 1]",
    "nn.RotaryPositionalEmbeddings(4)(X)": "RotaryPositionalEmbeddings: takes [batch, sequence, heads, 4], got shape (2, 3)",
    "nn.RotaryPositionalEmbeddings(4, 8)(mg.ones(1, 9, 2, 4))": "RotaryPositionalEmbeddings: has angles of 8 positions, got 9 tokens",
    "nn.Sequential(nn.RotaryPositionalEmbeddings(4))(X)": "0 (RotaryPositionalEmbeddings): takes [batch, sequence, heads, 4]",
    "nn.Softmax2d()(X)": "Softmax2d: takes [n, channels, height, width] or that without n, got (2, 3)",
    "mg.einsum('ij,jk->ik', X, Y)": "einsum: axes that belong together have sizes 3 and 2, got shapes [2, 3] and [2, 3]",
    "rnn.pad_sequence([])": "pad_sequence: takes at least one sequence",
    "rnn.pad_sequence([X, X[:, :2]])": "pad_sequence: sequences differ in more than length: (2, 3) and (2, 2)",
    "mg.ones(2).sum(2**70)": "sum(): an integer beyond 2**63 is no size, axis or position",
    "mg.ones(2, 2**70)": "ones(): an integer beyond 2**63 is no size, axis or position",
    "mg.ones(3).view(2**70)": "view(): an integer beyond 2**63 is no size, axis or position",
    "mg.ones(2).reshape('a')": "reshape(): 'str' object cannot be interpreted as an integer",
    "mg.ones(2).fill_('a')": "fill_(): takes tensors, numbers and NumPy arrays, got str",
    "mg.ones(2).copy_('a')": "copy_(): takes tensors, numbers and NumPy arrays, got str",
    "mg.ones(2).copy_(mg.ones(3))": "copy_: [3] does not broadcast to [2]",
    "mg.ones(2, dtype=mg.int64).fill_(2**70)": "fill_: the value",
    "mg.where([1, 0], X, Y)": "where(): the condition must be a tensor of truth values, not list",
    "mg.where(X, X, Y)": "where: takes a condition of truth values, got float32",
    "mg.where(X > 0, 'a', 1)": "where(): takes tensors, numbers and NumPy arrays, got str",
    "mg.ones(3)['a']": "index: takes integers",
    "mg.eye(-1)": "eye(): takes a number that is not negative, got -1",
    "mg.linspace(0, 3, -1)": "linspace(): takes a number that is not negative, got -1",
    "mg.linspace(X, 3, 2)": "linspace(): float() takes a tensor of one element",
    "mg.full((2,), mg.ones(2))": "full(): takes a number or a tensor of one element, got shape [2]",
    "mg.full_like(X, mg.ones(2))": "full_like(): takes a number or a tensor of one element, got shape [2]",
    "mg.broadcast_shapes(-1)": "broadcast_shapes(): sizes cannot be negative",
    "mg.randint(0, 5.5, (2,))": "randint(): 'float' object",
    "mg.nn.functional.triplet_margin_with_distance_loss(X, X, X, reduction='abc')": "triplet_margin_with_distance_loss: a reduction is",
    "mg.array_api.take(mg.ones(2, 2), mg.tensor([0]))": "take: an axis has to be named",
    "mg.native_layer_norm(X, [5], None, None, 1e-5)": "native_layer_norm: takes a tensor that ends with the axes [5]",
    "mg.ones(2).add_(mg.ones(3))": "add_: ",
    "mg.ones(2).__iadd__((1, 2))": "__iadd__(): takes tensors, numbers and NumPy arrays, got tuple",
}


@pytest.mark.parametrize("call", TOLD)
def test_errors_name_the_operation(call):
    with pytest.raises(Exception) as told:
        eval(call, {"mg": mg, "nn": nn, "rnn": nn.utils.rnn, "X": X, "Y": Y, "H": mg.ones(1, 4, 2, 3), "foreign": Foreign()})
    assert str(told.value).startswith(TOLD[call])


def test_messages_have_words_for_what_was_given(tmp_path):
    """They name who says it and tell numbers and words as they were given, not as a Rust value of them is shown."""
    with pytest.raises(ValueError, match=r"^tensor\(\): ragged data: "):
        mg.tensor([[1], [1, 2]])
    with pytest.raises(ValueError, match=r"^as_tensor\(\): ragged data: "):
        mg.as_tensor([[1], [1, 2]])
    with pytest.raises(ValueError, match=r"^new_tensor\(\): ragged data: "):
        mg.ones(1).new_tensor([[1], [1, 2]])
    with pytest.raises(TypeError, match=r"^Tensor\(\): takes numbers"):
        mg.Tensor("a")
    with pytest.raises(RuntimeError, match=r"^is_nonzero\(\): "):
        mg.ones(2).is_nonzero()
    with pytest.raises(OSError, match=r"^Mnist\.load: "):
        mg.data.Mnist.load(tmp_path)
    with pytest.raises(ValueError, match="order of a matrix norm, got 3$"):
        mg.linalg.matrix_norm(mg.ones(2, 2), 3)
    with pytest.raises(ValueError, match='order of a matrix norm, got "x"$'):
        mg.linalg.norm(mg.ones(2, 2), "x")
    with pytest.raises(ValueError, match="not of 9$"):
        mg.ones(2).repeat_interleave(mg.tensor([1, 2]), 0, output_size=9)
    with pytest.raises(ValueError, match="not of 9$"):
        mg.ones(2).repeat_interleave(2, 0, output_size=9)
    with pytest.raises(ValueError, match="a tau of 0 and a center of none$"):
        mg.signal.windows.exponential(3, tau=0)
    with pytest.raises(ValueError, match="a tau of 1 and a center of 1.5$"):
        mg.signal.windows.exponential(3, center=1.5)


def test_metrics_take_numbers():
    mean = metrics.Mean()
    mean.update(4.0)
    mean.update([1.0, 2.0], 3)
    assert mean.compute().item() == pytest.approx((4 + 3 + 6) / 7)
    assert metrics.MeanSquaredError()([4.0, 2.0], [1.0, 1.0]).item() == 5.0
    assert metrics.Accuracy()([1, 0, 1], mg.tensor([1, 1, 1])).item() == pytest.approx(2 / 3)
    with pytest.raises(TypeError, match="got str"):
        mean.update("4")


@pytest.mark.parametrize("kind", [metrics.ConfusionMatrix, metrics.Precision, metrics.Recall, metrics.F1Score])
def test_metrics_say_how_many_classes_there_are(kind):
    name = kind.__name__
    with pytest.raises(ValueError, match=rf"{name}\(2\): takes scores \[n, 2, …\] of 2 classes, got \[1, 3\]: num_classes is 3\?"):
        kind(2).update(mg.ones(1, 3), mg.tensor([1]))
    for scores, label, got in ((mg.ones(1, 2), 2, 2), (mg.tensor([2]), 0, 2), (mg.tensor([0]), -1, -1), (mg.tensor([-1]), 0, -1)):
        metric = kind(2)
        with pytest.raises(IndexError, match=rf"{name}\(2\): takes labels and predictions from 0 to 1, got {got}: num_classes"):
            metric.update(scores, mg.tensor([label]))
            metric.compute()


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: nn.Conv2d(3, 8), TypeError, r"^Conv2d\.__init__\(\) missing 1 required positional argument: 'kernel_size'"),
        (lambda: nn.ConvTranspose1d(3, 8), TypeError, r"^ConvTranspose1d\.__init__"),
        (lambda: nn.BatchNorm2d(), TypeError, r"^BatchNorm2d\.__init__"),
        (lambda: nn.MaxPool2d(), TypeError, r"^MaxPool2d\.__init__"),
        (lambda: nn.TransformerEncoderLayer(4), TypeError, r"^TransformerEncoderLayer\.__init__"),
        (lambda: nn.Linear(-1, 2), RuntimeError, "^Linear: in_features takes an integer that is not negative, got -1"),
        (lambda: nn.Linear(2, "a"), TypeError, r"^Linear: out_features takes an integer, got 'a' \(str\)"),
        (lambda: nn.Linear(2, 2.0), TypeError, r"^Linear: out_features takes an integer, got 2.0 \(float\)"),
        (lambda: nn.Bilinear(1, "a", 2), TypeError, "^Bilinear: in2_features"),
        (lambda: nn.Conv2d("a", 8, 3), TypeError, "^Conv2d: in_channels takes an integer, got 'a'"),
        (lambda: nn.Conv2d(3, 8, (3, -3)), ValueError, "^Conv2d: kernel_size takes an integer that is not negative, got -3"),
        (lambda: nn.Embedding(-1, 2), ValueError, "^Embedding: num_embeddings"),
        (lambda: nn.LSTM("a", 2), TypeError, "^LSTM: input_size"),
        (lambda: nn.GRUCell(2, -2), ValueError, "^GRUCell: hidden_size"),
        (lambda: nn.BatchNorm1d("a"), TypeError, "^BatchNorm1d: num_features"),
        (lambda: nn.LayerNorm((2, -1)), ValueError, "^LayerNorm: normalized_shape"),
        (lambda: nn.RMSNorm("a"), TypeError, "^RMSNorm: normalized_shape"),
        (lambda: nn.GroupNorm("a", 2), TypeError, "^GroupNorm: num_groups"),
        (lambda: nn.MultiheadAttention("a", 1), TypeError, "^MultiheadAttention: embed_dim"),
    ],
)
def test_layers_name_their_sizes(make, kind, text):
    with pytest.raises(kind, match=text):
        make()


def test_what_has_an_index_is_a_size():
    class Two:
        def __index__(self):
            return 2

    assert nn.Linear(Two(), 3).weight.shape == (3, 2)
    # A class of one's own has the name of its base, as in PyTorch.
    with pytest.raises(TypeError, match=r"^Conv2d\.__init__"):
        type("Mine", (nn.Conv2d,), {})(3)


def test_states_of_other_parameters():
    one, two = optim.Adam(nn.Linear(2, 2).parameters()), optim.Adam(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).parameters())
    with pytest.raises(ValueError, match=r"Adam.load_state_dict: group 0 of the state has 4 parameters, this optimiser's has 2"):
        one.load_state_dict(two.state_dict())
    with pytest.raises(ValueError, match="the state has 0 groups of parameters, this optimiser has 1"):
        one.load_state_dict({"state": {}, "param_groups": []})


def test_explaining_a_list():
    x = mg.ones(3)
    assert len(mg.explain([x + 1, (x + 1) * 2])) == len(mg.explain(x + 1, (x + 1) * 2)) > 0
    for wrong in (5, [x, 5]):
        with pytest.raises(TypeError, match="explain: takes tensors, got int"):
            mg.explain(wrong)


def test_advice_can_be_followed(tmp_path):
    with pytest.raises(NotImplementedError, match=r"nn\.summary\(model, input\)"):
        mg.utils.tensorboard.SummaryWriter(tmp_path).add_graph(nn.Linear(2, 2))
    with pytest.raises(TypeError, match=r"nn\.summary: calls the model and was given no input: nn\.summary\(model, \(32, 784\)\)"):
        nn.summary(nn.Linear(2, 2))
    assert nn.summary(nn.Linear(2, 2), (1, 2)).total_params == 6


@pytest.mark.parametrize(
    "schedule",
    [
        lambda o: optim.lr_scheduler.StepLR(o, 1),
        lambda o: optim.lr_scheduler.LambdaLR(o, lambda _: 1.0),
        lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 10),
        lambda o: optim.lr_scheduler.OneCycleLR(o, 0.1, 10),
        lambda o: optim.lr_scheduler.CyclicLR(o, 0.1, 0.2),
        lambda o: optim.lr_scheduler.ReduceLROnPlateau(o),
    ],
)
def test_schedules_take_optimisers(schedule):
    with pytest.raises(TypeError, match=r"LR\w*: takes an optimiser, got Linear"):
        schedule(nn.Linear(2, 2))


def test_an_export_that_reads():
    for reads in (lambda x: x * 2 if x.sum() > 0 else x, lambda x: x * float(x.sum()), lambda x: x + x.sum().item()):
        with pytest.raises(ValueError, match=r"^onnx.export: the model reads a value .*where\(condition, a, b\)"):
            mg.onnx.export(reads, mg.ones(2))
    with pytest.raises(ValueError, match="must fit"):
        mg.onnx.export(fails, mg.ones(2))
    assert len(mg.onnx.export(lambda x: mg.where(x.sum() > 0, x * 2, x) if x.shape[0] > 1 else x, mg.ones(2))) > 50


def fails(x):
    raise mg.ArgumentError("must fit")


def test_a_leaf_that_is_changed():
    w = mg.tensor([1.0], requires_grad=True)

    def added():
        nonlocal w
        w += 1

    def put():
        w[0] = 5

    for change in (added, put, w.zero_):
        with pytest.raises(RuntimeError, match=r"a leaf that requires a gradient cannot be changed while gradients are recorded: wrap the change in no_grad\(\)"):
            change()
    with mg.no_grad(), warnings.catch_warnings():
        added(), put()
    assert w.tolist() == [5.0]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fft", "no complex numbers here, and so no Fourier transforms"),
        ("view_as_complex", "no complex numbers"),
        ("sparse_coo_tensor", "no sparse tensors"),
        ("quantize_per_tensor", "no quantised tensors"),
        ("ao", "no quantised tensors"),
        ("quantization", "no quantised tensors"),
        ("float8_e4m3fnuz", "float8_e4m3fn and float8_e5m2"),
        ("package", "compiler and exporter"),
        ("_dynamo", "compiler and exporter"),
        ("mps", "devices are 'cpu' and 'cuda'"),
    ],
)
def test_what_is_not_here_on_purpose(name, why):
    assert not hasattr(mg, name)
    with pytest.raises(AttributeError, match=f"module 'micrograd_rs' has no attribute '{name}': .*{why}"):
        getattr(mg, name)


@pytest.mark.parametrize(
    ("space", "name", "why"),
    [
        (mg, "symeig", r"linalg\.eigvalsh"),
        (mg, "eig", r"complex numbers, which are not here: linalg\.eigh is for symmetric"),
        (mg, "Stream", r"it is cuda\.Stream"),
        (mg, "FloatStorage", r"x\.untyped_storage\(\)"),
        (mg, "ScriptModule", r"jit\.ScriptModule"),
        (mg, "npu", "devices are 'cpu' and 'cuda'"),
        (mg.linalg, "eigvals", "complex numbers, which are not here; did you mean 'eigvalsh', for symmetric ones"),
        (mg.linalg, "eig", "did you mean 'eigh', for symmetric ones"),
        (optim, "SparseAdam", r"gradients are dense here.*optim\.Adam"),
        (nn, "quantized", "no quantised tensors"),
        (mg.utils, "collect_env", "python -m micrograd_rs"),
        (mg.utils.data, "datapipes", "IterableDataset"),
        (mg.distributed, "fsdp", "one process"),
        (mg.multiprocessing, "spawn", r"multiprocessing\.Process"),
    ],
)
def test_what_there_is_instead(space, name, why):
    with pytest.raises(AttributeError, match=f"module '{space.__name__}' has no attribute '{name}': .*{why}"):
        getattr(space, name)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda out: mg.add(mg.ones(2), 1, out=out), "add"),
        (lambda out: mg.matmul(mg.eye(2), mg.eye(2), out=out), "matmul"),
        (lambda out: mg.cat([mg.ones(2)], out=out), "cat"),
        (lambda out: mg.sum(mg.ones(2), dim=0, out=out), "sum"),
        (lambda out: mg.zeros(2, out=out), "zeros"),
        (lambda out: mg.max(mg.ones(2), out=out), "max"),
        (lambda out: mg.min(mg.ones(2), dim=0, out=(out, out)), "min"),
        (lambda out: mg.linalg.inv(mg.eye(2), out=out), "inv"),
        (lambda out: mg.special.erf(mg.ones(2), out=out), "erf"),
    ],
)
def test_out_is_taken_nowhere(call, name):
    with pytest.raises(TypeError, match=rf"^{name}\(\) takes out=None: results are new tensors, and y\.copy_\(x\) writes x into y$"):
        call(mg.ones(2))


def test_a_module_that_is_saved_as_a_whole(tmp_path):
    with pytest.raises(TypeError, match=r"Linear cannot be saved; .*save the state_dict\(\)"):
        mg.save(nn.Linear(1, 1), tmp_path / "net.pt")


def test_what_is_not_here_by_mistake():
    for name, near in (("exports", None), ("masked_sel", "masked_select"), ("packages", None)):
        with pytest.raises(AttributeError) as e:
            getattr(mg, name)
        assert "compiler" not in str(e.value) and "shape" not in str(e.value)
        assert near is None or f"did you mean '{near}'" in str(e.value)
    with pytest.raises(AttributeError, match="'micrograd_rs.nn' has no attribute 'fft'$"):
        nn.fft
    with pytest.raises(AttributeError, match="'annotation'(?!.*'annotations')"):
        mg.annotation  # what `from __future__ import annotations` leaves is none of its names


def test_files_that_are_none(tmp_path):
    path = tmp_path / "x.pt"
    for data in (b"", b"hello, a text", b'{"a": 1}'):
        path.write_bytes(data)
        for mmap in (False, True):
            with pytest.raises(ValueError, match=r"x\.pt is neither safetensors, nor a \.pt zip, nor \.npy/\.npz$"):
                mg.load(path, mmap=mmap)
        with open(path, "rb") as file, pytest.raises(ValueError, match=r"the file is neither safetensors, nor a \.pt zip, nor \.npy/\.npz$"):
            mg.load(file)
    path.write_bytes(b"\x80\x02}q")
    for f in (path, io.BytesIO(path.read_bytes())):
        with pytest.raises(ValueError, match="a pickle"):
            mg.load(f)


def test_what_save_takes_is_said(tmp_path):
    for wrong, kind in ((argparse.Namespace(a=1), r"argparse\.Namespace"), ({"p": tmp_path}, r"p: .*Path")):
        with pytest.raises(TypeError, match=rf"{kind} cannot be saved; tensors, arrays, .* dtypes, devices, .*vars\(args\) .*str\(path\)"):
            mg.save(wrong, tmp_path / "a")


def test_what_was_traced_has_no_code_to_save(tmp_path):
    traced = mg.jit.trace(nn.Linear(2, 2), mg.ones(1, 2))
    assert not hasattr(traced, "save")
    with pytest.raises(AttributeError, match="'Linear' has no attribute 'save': no file holds a module's code: .*onnx"):
        traced.save(tmp_path / "a")
    with pytest.raises(NotImplementedError, match="jit.save: no file holds a module's code"):
        mg.jit.save(traced, tmp_path / "a")


def test_what_another_library_has_is_named(tmp_path):
    name = rf"{Foreign.__module__}\.Foreign"
    for wrong in (
        lambda: optim.SGD([Foreign()], 0.1),
        lambda: nn.Module().register_buffer("a", Foreign()),
        lambda: nn.Sequential(Foreign()),
        lambda: mg.explain(Foreign()),
        lambda: mg.func.grad(lambda x: x)(Foreign()),
        lambda: mg.save({"a": Foreign()}, tmp_path / "a"),
        lambda: mg.save_safetensors({"a": Foreign()}, tmp_path / "a"),
    ):
        with pytest.raises(TypeError, match=name):
            wrong()
    with pytest.raises(TypeError, match=r"'a' takes a tensor or None, got .*: mg.from_dlpack\(t\) or mg.tensor\(t\) makes one of it"):
        nn.Module().register_buffer("a", Foreign())
    # Of Python's own and of this package the name says it.
    with pytest.raises(TypeError, match="'a' takes a tensor or None, got Linear$"):
        nn.Module().register_buffer("a", nn.Linear(1, 1))


def test_data_of_another_library():
    """Samples are tensors here, whoever made them."""

    class Their:
        """One that is not ours, on our memory."""

        def __init__(self, t):
            self.t = t

        def __dlpack__(self, **options):
            return self.t.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.t.__dlpack_device__()

        def __len__(self):
            return len(self.t)

    samples = [(Their(mg.tensor([1.0, i])), i) for i in range(3)]
    (x, y), = DataLoader(samples, batch_size=3)
    assert isinstance(x, mg.Tensor) and x.tolist() == [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]] and y.tolist() == [0, 1, 2]
    assert next(iter(DataLoader(samples, batch_size=None)))[0].tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match=r"same shape in entry \[0\]"):
        default_collate([(Their(mg.ones(2)),), (Their(mg.ones(3)),)])
    data = mg.utils.data.TensorDataset(Their(mg.arange(4.0)), mg.arange(4))
    assert [x.tolist() for x, _ in DataLoader(data, batch_size=2)] == [[0.0, 1.0], [2.0, 3.0]] and data[1][0].item() == 1.0
    with pytest.raises(TypeError, match="TensorDataset takes tensors and arrays, got list"):
        mg.utils.data.TensorDataset([1, 2])


def test_arrays_are_rows_of_a_data_set():
    np = pytest.importorskip("numpy")
    data = mg.utils.data.TensorDataset(np.arange(4.0), mg.arange(4))
    assert [x.tolist() for x, _ in DataLoader(data, batch_size=2)] == [[0.0, 1.0], [2.0, 3.0]]


NET = nn.Linear(3, 2)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: DataLoader(5), TypeError, "takes a data set with __getitem__ and __len__, or what can be iterated over, got int$"),
        (lambda: DataLoader([1], batch_size=2.0), TypeError, "takes an integer as batch_size, got 2.0"),
        (lambda: DataLoader([1], num_workers="2"), TypeError, "takes an integer as num_workers, got '2'"),
        (lambda: mg.utils.data.random_split([1, 2, 3], [1, 1]), ValueError, r"add up to 3, .* got \[1, 1\], which add up to 2"),
        (lambda: optim.Adam({"params": NET.parameters()}), TypeError, r"a list of groups, got a dictionary: \[group\]"),
        (lambda: optim.lr_scheduler.MultiStepLR(optim.SGD(NET.parameters()), 5), TypeError, "a list of epochs as milestones, got int"),
        (lambda: optim.lr_scheduler.LambdaLR(optim.SGD(NET.parameters()), 5), TypeError, "a function of the epoch, .* got int"),
        (lambda: nn.Sequential(NET, nn.ReLU), TypeError, r"'1' takes a module or None, got the class ReLU: call it, ReLU\(…\)"),
        (lambda: nn.Sequential([NET]), TypeError, r"got list: give modules one by one, \*modules"),
        (lambda: nn.ModuleList(NET), TypeError, r"a list of modules, got Linear: ModuleList\(\[module\]\)"),
        (lambda: nn.utils.clip_grad_norm_(NET, 1.0), TypeError, r"got Linear: pass its parameters\(\)"),
        (lambda: NET.load_state_dict("net.pt"), TypeError, r"Linear.load_state_dict .* got str: load_state_dict\(load\('net.pt'\)\)"),
        (lambda: mg.distributions.Categorical([0.5, 0.5]), TypeError, "Categorical takes `probs` as a tensor, got list"),
        (lambda: NET.register_buffer("weight", mg.ones(1)), KeyError, "'weight' is a parameter already"),
        (lambda: NET.add_module("bias", nn.ReLU()), KeyError, "'bias' is a parameter already"),
    ],
)
def test_common_mistakes(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_what_is_registered_stays_of_its_kind():
    net = nn.Linear(3, 2)
    net.register_buffer("mean", mg.zeros(1))
    net.register_buffer("mean", mg.ones(1), persistent=False)
    with pytest.raises(KeyError, match="'mean' is a buffer already"):
        net.register_parameter("mean", nn.Parameter(mg.ones(1)))
    net.register_parameter("weight", nn.Parameter(mg.zeros(2, 3)))
    del net.mean
    net.register_parameter("mean", nn.Parameter(mg.ones(1)))
    assert sorted(net.state_dict()) == ["bias", "mean", "weight"] and not net.weight.any()
    assert list(nn.ModuleList(nn.Sequential(net, nn.ReLU()))) and list(DataLoader([1], batch_size=mg.tensor(1).item()))


@pytest.mark.parametrize("name", ["here.pt", "here.safetensors", "here"])
def test_a_folder_that_is_missing_is_told_with_the_path(name, tmp_path):
    path = tmp_path / "none" / name
    with pytest.raises(FileNotFoundError) as raised:
        mg.save({"a": mg.ones(2)}, path)
    assert raised.value.filename == str(path) and f"the folder {path.parent})" in str(raised.value)
    for save in (lambda: mg.npz.savez(path, mg.ones(2)), lambda: mg.npz.save(path, mg.ones(2))):
        with pytest.raises(FileNotFoundError) as raised:
            save()
        assert raised.value.filename.startswith(str(path)) and not raised.value.filename.endswith(".tmp")


def test_channels_that_do_not_fit_are_told_with_those_that_would():
    conv2d, transposed = mg.nn.functional.conv2d, mg.nn.functional.conv_transpose2d
    for work, text in (
        (lambda: conv2d(mg.ones(1, 4, 8, 8), mg.ones(2, 3, 3, 3)), "[N, C, H, W] with C = 3 channels for a weight of shape [2, 3, 3, 3], got shape [1, 4, 8, 8], with 4"),
        (lambda: conv2d(mg.ones(1, 4, 8, 8), mg.ones(4, 3, 3, 3), groups=2), "[N, C, H, W] with C = 6 = 2 groups × 3 channels"),
        (lambda: transposed(mg.ones(1, 4, 8, 8), mg.ones(3, 4, 3, 3)), "with C = 3 channels"),
        (lambda: mg.nn.functional.conv1d(mg.ones(4, 8), mg.ones(2, 3, 3)), "[N, C, L] with C = 3 channels"),
    ):
        with pytest.raises(ValueError) as raised:
            work()
        assert text in str(raised.value)


def test_names_that_are_elsewhere_are_told_with_where():
    from micrograd_rs._names import _ELSEWHERE

    with pytest.raises(AttributeError, match=r"'flop_counter': nn.summary\(model, x\) counts FLOPs"):
        mg.utils.flop_counter
    for module, names in _ELSEWHERE.items():
        space = importlib.import_module(f"micrograd_rs.{module}".rstrip("."))
        for name, why in names.items():
            assert not hasattr(space, name)
            if why.startswith("it is "):
                there = mg
                for part in why.removeprefix("it is ").split("."):
                    there = getattr(there, part)


# Arguments that operations refuse.


REFUSED = {
    "arange": [lambda: mg.arange(0, -3, 2), lambda: mg.arange(3, 0), lambda: mg.arange(-3), lambda: mg.arange(0.0, 1.0, -0.5)],
    "histc": [lambda: mg.histc(mg.tensor([1.0, NAN])), lambda: mg.histc(mg.tensor([1.0, INF])), lambda: mg.histc(mg.tensor([1.0]), 4, 0, INF)],
    "histogram": [lambda: mg.histogram(mg.tensor([1.0, NAN]), 3), lambda: mg.histogram(mg.tensor([1.0, -INF]), 3)],
    "cov": [lambda: mg.cov(mg.ones(2, 3), fweights=mg.tensor([1, -1, 2])), lambda: mg.cov(mg.ones(2, 3), aweights=mg.tensor([1, -1, 2.0]))],
    "triplet_margin_loss": [lambda: F.triplet_margin_loss(X, Y, Z, margin=m) for m in (0, -1, NAN)],
    "triplet_margin_with_distance_loss": [lambda: F.triplet_margin_with_distance_loss(X, Y, Z, margin=0)],
    "TripletMarginLoss": [lambda: nn.TripletMarginLoss(margin=0)],
    "TripletMarginWithDistanceLoss": [lambda: nn.TripletMarginWithDistanceLoss(margin=-1)],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses(name):
    for call in REFUSED[name]:
        with pytest.raises(ValueError, match=f"^{name}: "):
            call()


def test_what_is_not_known_yet_is_refused_where_it_is_computed():
    for call in (lambda x: mg.histc(x), lambda x: mg.histogram(x, 3)[0], lambda x: mg.cov(mg.ones(2, 2), aweights=x)):
        with pytest.raises(mg.ArgumentError, match="finite"):
            call(mg.tensor([1.0, INF]) * 1).tolist()
    # A range that is given leaves out what is outside of it.
    assert mg.histc(mg.tensor([1.0, INF, NAN]), 4, 0, 3).tolist() == [0, 1, 0, 0]
    assert mg.arange(0, 0, -1).tolist() == mg.arange(3, 3).tolist() == mg.array_api.arange(3, 0).tolist() == []


def test_what_is_refused():
    truth = mg.tensor([True])
    for refused in (
        lambda: truth.mvlgamma(1),
        lambda: mg.trapezoid(truth),
        lambda: mg.tensor([0.0, 0.0]).inner(mg.tensor([0.0])),
        lambda: F.soft_margin_loss(mg.tensor(0.0), mg.zeros(0, 0)),
        lambda: F.pairwise_distance(truth, truth),
    ):
        with pytest.raises((TypeError, ValueError)):
            refused()


def test_what_is_written_in_place_is_told_of_by_the_operation():
    x, y = mg.tensor([1, 2]), mg.tensor([1.0, 2])
    with pytest.raises(TypeError, match="^add: a result of float32 cannot be written into a tensor of int64"):
        x += 1.5
    with pytest.raises(TypeError, match="^div: a result of float32"):
        x /= 2
    with pytest.raises(TypeError, match="^pow: a result of float32"):
        x **= 0.5
    with pytest.raises(ValueError, match="^add: shapes"):
        y += mg.ones(3)
    with pytest.raises(ValueError, match="^mul: "):
        y *= mg.ones(3, 1)
    for index in (0, slice(0, 1)):
        with pytest.raises(TypeError, match="^__setitem__.*got str"):
            y[index] = "a"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: mg.arange("x"), r"arange\(\): .*not str"),
        (lambda: mg.arange(0.5, "x"), r"arange\(\): .*not str"),
        (lambda: mg.linspace(0, 1, 2.5), r"linspace\(\): 'float'"),
        (lambda: mg.linspace(0, "1", 2), r"linspace\(\): .*not str"),
        (lambda: mg.eye(2.5), r"eye\(\): 'float'"),
        (lambda: mg.eye(2, "a"), r"eye\(\): 'str'"),
        (lambda: mg.full("a", 1), r"full\(\): 'str'"),
        (lambda: mg.full((2,), "a"), r"full\(\): takes numbers"),
        (lambda: mg.ones(3)[0:"a"], "index: takes integers and None as a slice's ends and step, got str"),
        (lambda: mg.max(mg.ones(2, 2), 0, 1), r"max\(\): argument 'keepdim' must be True or False, not int"),
        (lambda: mg.ones(2, 2).min(0, 1), r"min\(\): argument 'keepdim' must be True or False, not int"),
        (lambda: mg.ones(2).flip(), r"flip\(\) missing required argument 'dims'"),
        (lambda: mg.flip(mg.ones(2)), r"flip\(\) missing required argument 'dims'"),
        (lambda: mg.cat(mg.ones(2, 2)), r"cat\(\): argument 'tensors' must be a sequence of tensors, not Tensor"),
        (lambda: mg.stack(mg.ones(2, 2)), r"stack\(\): argument 'tensors' must be a sequence of tensors, not Tensor"),
    ],
)
def test_what_is_no_argument_is_told_of_by_the_operation(call, told):
    with pytest.raises(TypeError, match=f"(argument .*: )?{told}"):
        call()
