"""Models as ONNX files: read back, checked and run by the `onnx` and `onnxruntime` packages where they are installed."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import micrograd_rs as mg
import pytest
from micrograd_rs import nn
from micrograd_rs.nn import functional as F

ROOT = Path(__file__).parent.parent.parent.parent


def run(data, *inputs):
    """What onnxruntime makes of inputs, after the file was checked."""
    numpy = pytest.importorskip("numpy", reason="onnxruntime takes NumPy's arrays")
    onnx = pytest.importorskip("onnx", reason="files are checked by the onnx package where it is installed")
    runtime = pytest.importorskip("onnxruntime", reason="files are run by onnxruntime where it is installed")
    onnx.checker.check_model(data, full_check=True)
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    assert len(names) <= len(inputs)
    given = {name: numpy.asarray(x.numpy()) for name, x in zip(session_order(data), inputs)}
    return session.run(None, {name: given[name] for name in names})


def session_order(data):
    import onnx

    return [value.name for value in onnx.load_from_string(data).graph.input]


def same(model, *inputs, at=(), tolerance=1e-5, **options):
    """The file answers as the model does, for these inputs and others of the shapes that are left open."""
    data = mg.onnx.export(model, inputs, **options)
    for given in (inputs, *at):
        with mg.no_grad():
            if isinstance(model, nn.Module):
                model.eval()
            wanted = model(*given)
        wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
        for got, want in zip(run(data, *given), wanted, strict=True):
            assert got.shape == tuple(want.shape) and str(got.dtype) == repr(want.dtype).rpartition(".")[2]
            assert mg.allclose(mg.tensor(got.tolist(), dtype=want.dtype).reshape(want.shape), want, rtol=tolerance, atol=tolerance)
    return data


def test_perceptron_with_any_batch():
    mg.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.5), nn.Linear(16, 3), nn.LogSoftmax(1))
    model.train()
    others = [(mg.randn(n, 5),) for n in (1, 4, 9)]
    data = same(model, mg.randn(2, 5), at=others, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
    import onnx

    graph = onnx.load_from_string(data).graph
    assert {i.name for i in graph.initializer} >= {name for name, _ in model.named_parameters()}
    shapes = [[d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in (*graph.input, *graph.output)]
    assert shapes == [["batch", 5], ["batch", 3]]


def test_the_mode_comes_back():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    model[0].eval()
    model[1].train()
    mg.onnx.export(model, mg.zeros(1, 2))
    assert not model[0].training and model[1].training
    with pytest.raises(ValueError, match="draws random numbers"):
        mg.onnx.export(model, mg.zeros(1, 2), training=True)
    assert not model[0].training and model[1].training


def test_axes_of_sums_are_numbers():
    """What reads models as the standard has them: an axis of a running sum is a tensor without axes."""
    pytest.importorskip("numpy")
    onnx = pytest.importorskip("onnx", reason="files are run by the onnx package where it is installed")
    from onnx.reference import ReferenceEvaluator

    for f, x in (
        (lambda x: x.cumsum(1), mg.randn(2, 3)),
        (lambda x: x.flip(0).cumsum(0), mg.randn(4)),
        (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), mg.randn(1, 2, 4, 4)),
        (lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), mg.randn(1, 2, 4, 4)),
    ):
        model = onnx.load_from_string(mg.onnx.export(f, (x,)))
        onnx.checker.check_model(model, full_check=True)
        (got,) = ReferenceEvaluator(model).run(None, {model.graph.input[0].name: x.numpy()})
        assert mg.allclose(mg.tensor(got), f(x), rtol=1e-5, atol=1e-5)


def test_a_model_that_asks_whether_it_is_exported():
    asked = []

    class Net(nn.Module):
        def forward(self, x):
            asked.append((mg.onnx.is_in_onnx_export(), mg.compiler.is_exporting()))
            return x * 2

    mg.onnx.export(Net(), mg.ones(2))
    assert set(asked) == {(True, True)} and not mg.onnx.is_in_onnx_export()
    with pytest.raises(ZeroDivisionError):
        mg.onnx.export(lambda x: x / (1 // 0), mg.ones(2))
    assert not mg.onnx.is_in_onnx_export()


def test_convolutions():
    mg.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True),
        nn.Conv2d(8, 8, (3, 1), padding="same", dilation=(2, 1), groups=4),
        nn.ZeroPad2d((1, 0, 2, 0)),
        nn.AvgPool2d(2, padding=1),
        nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1, groups=2),
        nn.GroupNorm(2, 4),
        nn.SiLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 5),
    )
    for _ in range(3):
        model(mg.randn(4, 3, 20, 20))
    same(model, mg.randn(2, 3, 20, 20), at=[(mg.randn(5, 3, 20, 20),)], dynamic_axes={"input": {0: "n"}})
    same(nn.Sequential(nn.Conv1d(2, 3, 3), nn.MaxPool1d(2), nn.Conv1d(3, 1, 2)), mg.randn(2, 2, 11))
    same(nn.Sequential(nn.Conv3d(1, 2, 2), nn.AvgPool3d(2, count_include_pad=False, padding=1)), mg.randn(1, 1, 5, 6, 7))
    same(nn.Upsample(scale_factor=2, mode="nearest"), mg.randn(1, 2, 3, 4))
    same(nn.PixelShuffle(2), mg.randn(2, 8, 3, 4))


def test_resnet(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import resnet

    mg.manual_seed(0)
    model = resnet.ResNet18(7)
    same(model, mg.randn(2, 3, 32, 32), at=[(mg.randn(1, 3, 32, 32),)], tolerance=1e-3, dynamic_axes={"x": {0: "batch"}})


def test_gpt_of_any_length(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import gpt

    mg.manual_seed(0)
    model = gpt.GPT(letters=11, context=24, size=32, heads=4, layers=2)

    def scores(letters):
        return model(letters)[0]

    model.eval()
    others = [(mg.randint(11, (1, 24)),), (mg.randint(11, (5, 1)),)]
    data = same(scores, mg.randint(11, (3, 8)), at=others, tolerance=1e-4, dynamic_axes={"letters": {0: "batch", 1: "steps"}})
    assert len(data) > 4 * sum(p.numel() for p in model.parameters())


def test_transformer_and_lstm():
    mg.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    same(nn.TransformerEncoder(layer, 2), mg.randn(2, 5, 16), tolerance=1e-4)

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(9, 4)
            self.lstm = nn.LSTM(4, 6, num_layers=2, batch_first=True)
            self.gru = nn.GRU(6, 5, batch_first=True, bidirectional=True)

        def forward(self, x):
            y, (h, _) = self.lstm(self.embedding(x))
            return self.gru(y)[0], h

    same(Reader(), mg.randint(9, (3, 4)), at=[(mg.randint(9, (1, 4)),)], tolerance=1e-4, dynamic_axes={"x": {0: "batch"}})


FUNCTIONS = {
    "rows": lambda x: x.exp() + x.abs().sqrt() - x.sin() * x.cos() / (x.tanh() + 3) + x.sigmoid().log() - F.softplus(x).pow(1.5),
    "rows with small numbers": lambda x: x.expm1() + x.abs().log1p() + x.exp2() + (x.abs() + 1).log2() + (x.abs() + 1).log10() + x.erf(),
    "whole numbers": lambda x: x.floor() + x.ceil() * 10 + (x * 10).trunc() * 100 + x.round() + x.fmod(0.3),
    "choices": lambda x: mg.where((x > 0) & (x < 1) | ~(x != x), x, -x).clamp(-0.5, 0.7),
    "angles": lambda x: x.tan() + x.atan() + x.sinh() + x.cosh() + x.asinh() + x.clamp(-0.9, 0.9).atanh() + x.clamp(-1, 1).asin(),
    "reductions": lambda x: (x.sum(0), x.mean((0, 2)), x.amax(1, keepdim=True), x.min(), x.argmax(1), x.argmin(), x.std(1)),
    "reductions of others": lambda x: ((x > 0).sum(1), (x > 0).any(0), (x > 0).all(), x.prod(2)),
    "views": lambda x: (x[:, 1], x[..., ::2], x.flip(1), x.permute(2, 0, 1), x.unsqueeze(1), x[1:, None, -2:], x.diagonal(0, 1, 2)),
    "windows": lambda x: (x.unfold(2, 3, 2), x.as_strided((2, 2), (5, 3), 1)),
    "joined": lambda x: (mg.cat([x, x * 2], 1), mg.stack([x, x]), x.repeat(1, 2, 1), x.roll(1, 2), x.tril()),
    "indices": lambda x: (x[[2, 0]], x.index_select(1, mg.tensor([1, 1])), x.gather(2, mg.zeros(3, 2, 2, dtype=mg.int64))),
    "written": lambda x: mg.zeros(3, 4, 6).index_copy(1, mg.tensor([2, 0, 1]), F.pad(x, (1, 0))),
    "sums by index": lambda x: mg.zeros(4, 3, 5).index_add(0, mg.tensor([1, 1, 3]), x),
    "sorted": lambda x: (*x.sort(1), *x.topk(2, 2), x.cumsum(1)),
    "products": lambda x: (x @ x.mT, mg.einsum("abc,dbc->ad", x, x), x.norm(), F.normalize(x)),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "attention with a mask": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=mg.ones(3, 3).tril() > 0),
    "integers": lambda x: (x * 10).long() // 3 + (x * 7).int() % 4,
    "losses": lambda x: F.cross_entropy(x.flatten(1), mg.tensor([1, 0, 2])) + F.mse_loss(x, x * 2) + F.smooth_l1_loss(x, x * 3),
    "itself": lambda x: (x, x, mg.ones(2)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    mg.manual_seed(0)
    same(FUNCTIONS[name], mg.randn(3, 3, 5), tolerance=1e-4)


def test_half_types():
    # onnxruntime leaves out conversions back and forth.
    same(lambda x: (x.half() * 2).float(), mg.randn(3, 4), tolerance=1e-2)
    same(lambda x: x * 2, mg.randn(3, 4).half(), tolerance=1e-2)


def test_several_inputs_of_one_size():
    def f(x, *, y):
        return {"sum": x + y, "outer": x[:, None] * y[None]}

    data = mg.onnx.export(f, mg.ones(3), kwargs={"y": mg.ones(3)}, dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
    total, outer = run(data, mg.arange(4.0), mg.ones(4))
    assert total.tolist() == [1, 2, 3, 4] and outer.shape == (4, 4)
    with pytest.raises(ValueError, match="the size 'n' is|the size \"n\" is"):
        mg.onnx.export(f, mg.ones(3), kwargs={"y": mg.ones(4)}, dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})


def test_sizes_by_sums_and_products():
    def f(x):
        return x.reshape(x.shape[0] * x.shape[1], -1).repeat(2, 1), x[:, 1:].expand(2, -1, -1, -1)

    same(f, mg.randn(3, 4, 2), at=[(mg.randn(5, 2, 2),)], dynamic_axes={"x": {0: "a", 1: "b"}})


def test_what_it_refuses(tmp_path):
    model = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="version 18"):
        mg.onnx.export(model, mg.zeros(1, 2), opset_version=11)
    with pytest.raises(ValueError, match="dynamic_axes names 'x'"):
        mg.onnx.export(model, mg.zeros(1, 2), dynamic_axes={"x": {0: "n"}})
    with pytest.raises(ValueError, match="axis 5 of input 0"):
        mg.onnx.export(model, mg.zeros(1, 2), dynamic_axes={"input": {5: "n"}})
    with pytest.raises(ValueError, match="no operator for lgamma"):
        mg.onnx.export(lambda x: x.lgamma(), mg.zeros(1, 2))
    with pytest.raises((ValueError, RuntimeError), match="value|examples"):
        mg.onnx.export(lambda x: x * x.sum().item(), mg.zeros(1, 2))
    assert model(mg.zeros(1, 2)).shape == (1, 2)


def test_to_files(tmp_path):
    model, file = nn.Linear(2, 3), io.BytesIO()
    data = mg.onnx.export(model, (mg.zeros(1, 2),), tmp_path / "a.onnx", input_names=["weight"])
    mg.onnx.export(model, (mg.zeros(1, 2),), file, input_names=["weight"])
    assert (tmp_path / "a.onnx").read_bytes() == data == file.getvalue()
    # A name that is taken gets a number.
    assert re.search(rb"weight_1", data) and data.count(b"micrograd-rs") == 1


def test_numbers_beside_halves_are_not_rounded_to_theirs():
    x = mg.linspace(0.5, 2.0, 12).reshape(3, 4).half()
    same(lambda x: (x * 0.3, x / 7.1, (x - 1.0) / 1e5, F.leaky_relu(x - 1.0, 0.3), x.softmax(-1)), x, tolerance=0.0)


def test_the_mode_in_which_random_numbers_are_drawn_is_told():
    model, x = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)), mg.ones(1, 2)
    for mode in (True, mg.onnx.TrainingMode.TRAINING, mg.onnx.TrainingMode.PRESERVE):
        with pytest.raises(ValueError, match=r"^onnx\.export: the model draws random numbers in training, and was called so .*: without `training`"):
            mg.onnx.export(model, x, training=mode)
        assert all(part.training for part in model.modules())
    with pytest.raises(ValueError, match=r"^onnx\.export: the model draws random numbers: call its eval\(\) first, or draw them outside"):
        mg.onnx.export(lambda x: x + mg.rand(2), x)
    files = [mg.onnx.export(model, x, training=mode) for mode in (False, mg.onnx.TrainingMode.EVAL)]
    model.eval()
    assert files == [mg.onnx.export(model, x, training=mg.onnx.TrainingMode.PRESERVE)] * 2


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ({"input_names": ["x", "x"]}, r"the name \"x\" twice among those of inputs and results"),
        ({"input_names": ["x", "y"], "output_names": ["x"]}, r"the name \"x\" twice"),
        ({"output_names": ["z", "z"]}, r"the name \"z\" twice"),
        ({"input_names": ["x", "y", "w"]}, r"the names of inputs \[\"x\", \"y\", \"w\"\], of which there are 2"),
        ({"output_names": ["z", "w"]}, r"the names of results \[\"z\", \"w\"\], of which there are 1"),
    ],
)
def test_names_that_do_not_fit(names, text):
    with pytest.raises(ValueError, match=rf"^onnx\.export: {text}"):
        mg.onnx.export(lambda a, b: a + b, (mg.ones(2), mg.ones(2)), **names)
