"""Modules of `nn` against what PyTorch answered: names of the state, shapes, values in both modes; what is drawn at first."""

from __future__ import annotations

import copy
import inspect
import json
import math

import micrograd_rs as mg
import numpy as np
import pytest
from conftest import leaf
from micrograd_rs import nn
from micrograd_rs.nn import functional as F
from surface.modules import CASES, RECORDED, run
from test_surface import near

MODULES = [json.loads(line) for line in RECORDED.read_text().splitlines()]


def test_modules_are_recorded():
    assert [(m["made"], m["called"]) for m in MODULES] == [*CASES], "run `python -m surface.modules`"


# What Rust's options say otherwise, or of several layers at once.
OTHERWISE = {"RNN": {"relu", "proj_size"}, "GRU": {"relu", "proj_size"}, "LSTM": {"relu"}, "Transformer": {"num_heads"}}
WITH_OPTIONS = """
    Linear LazyLinear Embedding LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d
    RNNCell LSTMCell GRUCell RNN LSTM GRU
    Conv1d Conv2d Conv3d LazyConv1d LazyConv2d LazyConv3d
    ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
    MultiheadAttention Transformer AdaptiveLogSoftmaxWithLoss
""".split()


@pytest.mark.parametrize("layer", WITH_OPTIONS)
def test_defaults_are_the_engines(layer):
    wanted = mg._micrograd_rs._layer_defaults(layer)
    got = inspect.signature(getattr(nn, layer)).parameters
    assert wanted and wanted.keys() - got.keys() == OTHERWISE.get(layer, set())
    for name in wanted.keys() & got.keys():
        assert got[name].default == wanted[name] and type(got[name].default) is type(wanted[name]), name


def test_other_layers_have_no_options_by_name():
    with pytest.raises(ValueError, match='"Flatten"'):
        mg._micrograd_rs._layer_defaults("Flatten")


@pytest.mark.parametrize("bias", [None, 0, 1, np.bool_(True)])
def test_a_bias_is_there_where_it_is_said_by_anything_true(bias):
    for layer in (nn.Linear(2, 3, bias=bias), nn.Bilinear(2, 2, 3, bias=bias), nn.Conv1d(2, 3, 1, bias=bias)):
        assert (layer.bias is not None) == bool(bias)


@pytest.mark.parametrize("entry", [pytest.param(m, id=m["made"]) for m in MODULES])
def test_modules_are_pytorchs(device, entry):
    got = run(mg, entry["made"], entry["called"], device)
    # In the same order, too: what one library saves the other loads.
    assert list(got["shapes"].items()) == list(entry["shapes"].items())
    assert len(got["answers"]) == len(entry["answers"])
    for a, b in [*zip(got["answers"], entry["answers"]), *((got["after"][n], b) for n, b in entry["after"].items())]:
        assert (a["shape"], a["dtype"]) == (b["shape"], b["dtype"])
        near(a["values"], b["values"], 1e-7, entry["made"])
    for name, wanted in entry["gradients"].items():
        found = got["gradients"][name]
        # A gradient that is zero everywhere may be absent.
        near(found or [0.0] * len(wanted or []), wanted or [0.0] * len(found or []), 1e-6, f"{entry['made']}: {name}")
    # What PyTorch says of its dtypes, and of functions by their address, is its own.
    if "containing" not in entry["repr"] and " at 0x" not in entry["repr"]:
        assert got["repr"] == entry["repr"]


# What is made by those that are made of it, and what becomes another class: see test_module.py.
# `SyncBatchNorm` is for CUDA alone in PyTorch; rotary positions are torchtune's: see test_rotary.py.
BASES = {"Module", "RNNBase", "RNNCellBase", "SyncBatchNorm", "RotaryPositionalEmbeddings", *(name for name in nn.__all__ if name.startswith("Lazy"))}


def test_every_class_has_a_case():
    said = " ".join(made for made, _ in CASES)
    known = {name for name in nn.__all__ if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)}
    assert not {name for name in known - BASES if f"nn.{name}(" not in said}


def test_state_goes_both_ways_to_pytorch():
    torch = pytest.importorskip("torch")
    made = "nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.PReLU(), nn.GroupNorm(2, 6), nn.RMSNorm(6), nn.Bilinear(6, 6, 2))"
    theirs, ours = eval(made, {"nn": torch.nn}), eval(made, {"nn": nn})  # noqa: S307
    ours.load_state_dict({name: mg.tensor(t.tolist()).to(str(t.dtype).split(".")[1]) for name, t in theirs.state_dict().items()})
    for name, t in theirs.state_dict().items():
        assert ours.state_dict()[name].tolist() == t.tolist()
    again = eval(made, {"nn": nn})  # noqa: S307
    theirs.load_state_dict({name: torch.tensor(t.tolist()) for name, t in again.state_dict().items()})
    for name, t in theirs.state_dict().items():
        assert again.state_dict()[name].tolist() == t.tolist()


@pytest.mark.parametrize("p", [0.2, 0.5])
def test_dropouts_drop_as_many_as_they_should(device, p):
    mg.manual_seed(7)
    x = mg.ones(100, 100, 3, 4, device=device)
    # Four standard deviations of the binomial distribution.
    off = 4 * math.sqrt(p * (1 - p) / 10_000)
    for module in (nn.Dropout2d(p), nn.FeatureAlphaDropout(p)):
        y = module(x).flatten(2)
        assert (y == y[..., :1]).all().item(), "channels go as a whole"
        kept = y[..., 0] == y[..., 0].max()
        assert abs(kept.double().mean().item() - (1 - p)) < off
        assert mg.equal(module.eval()(x), x)
    y = nn.Dropout(p)(x[..., 0, 0])
    assert abs((y == 0).double().mean().item() - p) < off
    assert y.max().item() == pytest.approx(1 / (1 - p))
    for shape, module in (((50, 200, 3), nn.Dropout1d(p)), ((200, 3), nn.Dropout1d(p)), ((50, 20, 2, 3, 4), nn.Dropout3d(p)), ((20, 2, 3, 4), nn.Dropout3d(p))):
        y = module(mg.ones(shape, device=device))
        batch = len(shape) in (3, 5)
        rows = y.flatten(2 if batch else 1)
        assert y.shape == shape and (rows == rows[..., :1]).all().item()


@pytest.mark.parametrize(
    ("drop", "shape"),
    [
        (lambda x: F.dropout(x, 1.0), (3,)),
        (lambda x: F.dropout(x, 1.0, inplace=True), (3,)),
        (lambda x: F.dropout1d(x, 1.0), (2, 3, 4)),
        (lambda x: F.dropout2d(x, 1.0), (2, 3, 2, 2)),
        (lambda x: F.dropout3d(x, 1.0), (2, 3, 2, 2, 2)),
        (lambda x: F.alpha_dropout(x, 1.0, True), (3,)),
        (lambda x: F.feature_alpha_dropout(x, 1.0, True), (2, 3, 4)),
        (lambda x: mg.feature_dropout(x, 1.0, True), (2, 3, 4)),
        (mg.nn.Dropout(1.0), (3,)),
        (mg.nn.Dropout2d(1.0), (2, 3, 2, 2)),
        (mg.nn.AlphaDropout(1.0), (3,)),
        (lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=1.0), (1, 2, 3, 4)),
    ],
)
def test_what_is_dropped_whole_has_a_gradient_of_zeros(drop, shape):
    x = mg.ones(*shape, requires_grad=True)
    y = drop(x * 1.0)
    assert y.requires_grad and (y == 0).all()
    y.sum().backward()
    assert x.grad.shape == shape and (x.grad == 0).all()


def test_channels_are_left_out_where_there_are_some():
    scalar = mg.tensor(1.0)
    assert F.feature_alpha_dropout(scalar).item() == 1.0
    assert F.dropout3d(mg.ones(4)).shape == (4,)
    with pytest.raises(ValueError):
        F.feature_alpha_dropout(scalar, training=True)


def test_alpha_dropout_keeps_mean_and_variance(device):
    mg.manual_seed(8)
    x = mg.randn(200_000, device=device)
    y = F.alpha_dropout(x, 0.3, training=True)
    assert abs(y.mean().item()) < 0.02 and abs(y.std().item() - 1) < 0.02
    assert mg.equal(F.alpha_dropout(x, 0.3), x)


def test_rrelu_draws_slopes(device):
    mg.manual_seed(9)
    x = -mg.ones(100_000, device=device)
    y = -F.rrelu(x, 0.2, 0.4, training=True)
    assert y.min().item() >= 0.2 and y.max().item() <= 0.4 and y.std().item() == pytest.approx(0.2 / math.sqrt(12), rel=0.02)
    assert mg.equal(F.rrelu(-x, training=True), -x)


def test_gumbel_softmax_is_a_sample(device):
    mg.manual_seed(10)
    odds = mg.tensor([0.1, 0.2, 0.7], device=device)
    logits = odds.log().expand(50_000, 3)
    hard = F.gumbel_softmax(logits, hard=True)
    assert set(hard.round().flatten().tolist()) == {0.0, 1.0}
    assert mg.allclose(hard.mean(0), odds, atol=0.01)
    x = mg.Tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    (F.gumbel_softmax(x, tau=2.0, hard=True) * mg.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.abs().sum().item() > 0 and abs(x.grad.sum().item()) < 1e-6
    assert F.gumbel_softmax(mg.zeros(1000, 1000, device=device), tau=0.01).isfinite().all().item()


def test_batch_norm_learns_in_a_replayed_step(device):
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1)).to(device)
    twin = copy.deepcopy(net)

    def trained(net):
        sgd = mg.optim.SGD(net.parameters(), lr=0.1)

        def step(x, y):
            sgd.zero_grad()
            loss = F.mse_loss(net(x), y)
            loss.backward()
            sgd.step()
            return loss

        return step

    replayed, plain = mg.jit(trained(net)), trained(twin)
    mg.manual_seed(11)
    for _ in range(6):
        x = mg.randn(16, 4, device=device)
        y = x.sum(1, keepdim=True)
        assert replayed(x, y).item() == pytest.approx(plain(x, y).item(), rel=1e-4)
    for (name, a), (_, b) in zip(net.state_dict().items(), twin.state_dict().items()):
        assert mg.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-5), name
    assert net[1].num_batches_tracked.item() == 6


def test_gradients_of_batch_norm_that_come_back_transposed():
    # PyTorch 2.15 mixes up the elements of one sample's.
    x = mg.randn(1, 3, 2, 2, dtype=mg.float64).requires_grad_()
    mean, variance, weight = mg.randn(3, dtype=mg.float64), mg.tensor([1.0, 2.0, 3.0], dtype=mg.float64), mg.randn(3, dtype=mg.float64)
    back = mg.randn(1, 4, 3, dtype=mg.float64)
    out = F.batch_norm(x, mean, variance, weight, None, training=False)
    (out.flatten(2).transpose(1, 2) * back).sum().backward()
    scale = (weight / (variance + 1e-5).sqrt()).view(1, 3, 1, 1)
    assert mg.allclose(x.grad, scale * back.transpose(1, 2).reshape(1, 3, 2, 2), rtol=1e-12)


def test_first_values_are_pytorchs():
    mg.manual_seed(12)
    bound = 1 / math.sqrt(50)
    weight = nn.Bilinear(50, 20, 30).weight
    assert weight.max().item() <= bound and weight.min().item() >= -bound
    assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
    table = nn.Embedding(100, 100, padding_idx=3).weight
    assert table[3].abs().sum().item() == 0 and table.std().item() == pytest.approx(1, rel=0.05)
    norm = nn.BatchNorm2d(3)
    assert [norm.weight.tolist(), norm.bias.tolist(), norm.running_mean.tolist(), norm.running_var.tolist()] == [[1.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3]
    norm(mg.randn(2, 3, 4, 4))
    assert norm.num_batches_tracked.item() == 1 and norm.running_mean.abs().sum().item() > 0
    norm.reset_running_stats()
    assert norm.num_batches_tracked.item() == 0 and norm.running_var.tolist() == [1.0] * 3
    norm.track_running_stats = False
    norm(mg.randn(2, 3, 4, 4))
    assert norm.num_batches_tracked.item() == 0 and norm.running_mean.tolist() == [0.0] * 3


def test_padding_gets_no_gradient():
    table = nn.Embedding(4, 2, padding_idx=1)
    table(mg.tensor([0, 1, 1, 3])).sum().backward()
    assert table.weight.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("picked", "offsets", "options", "value", "gradient"),
    [
        ([0, 1, 2, 0], [0, 2], {}, [[3, 5], [3, 7]], [[0, 1], [1, 0], [1, 1]]),
        ([0, 1, 2, 0], [0, 2, 2], {}, [[3, 5], [0, 0], [3, 7]], [[0, 1], [1, 0], [1, 1]]),
        ([0, 0, 2, 0], [0, 2], {"padding_idx": 0}, [[0, 0], [3, 7]], [[0, 0], [0, 0], [1, 1]]),
        ([0, 2, 1], [0, 1, 3], {"include_last_offset": True}, [[1, 5], [3, 7]], [[1, 1], [0, 0], [1, 1]]),
        ([], [0, 0], {}, [[0, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]),
    ],
)
def test_the_largest_of_bags_that_are_given_by_offsets(picked, offsets, options, value, gradient):
    w = leaf([[1.0, 5.0], [3.0, 2.0], [3.0, 7.0]])
    answer = F.embedding_bag(mg.tensor(picked, dtype=mg.int64), w, mg.tensor(offsets), mode="max", **options)
    answer.sum().backward()
    assert (answer.tolist(), w.grad.tolist()) == (value, gradient)


def test_labels_to_ignore_among_unknown_ones():
    x = mg.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 0.0]])
    labels = mg.tensor([1, -200]) + mg.tensor([0, 100])
    assert F.cross_entropy(x, labels).item() == pytest.approx(F.cross_entropy(x[:1], labels[:1]).item())
    assert F.nll_loss(x, labels).item() == -2.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.BatchNorm1d(3)(mg.ones(2, 3, 4, 5)),
        lambda: nn.BatchNorm2d(3)(mg.ones(2, 3)),
        lambda: nn.GroupNorm(2, 3),
        lambda: nn.Dropout(1.5),
        lambda: nn.Hardtanh(1.0, 0.0),
        lambda: nn.ReflectionPad2d((1, 2)),
        lambda: nn.Softmax2d()(mg.ones(2, 3)),
        lambda: nn.MultiMarginLoss(3),
        lambda: nn.EmbeddingBag(3, 2, mode="prod"),
        lambda: nn.Embedding(3, 2, padding_idx=3),
        lambda: nn.HuberLoss("median"),
    ],
)
def test_unfit_arguments(make):
    with pytest.raises(ValueError):
        make()


def test_in_place():
    for module in (nn.ReLU(True), nn.ELU(0.5, True), nn.Hardtanh(inplace=True), nn.Threshold(0.5, 1.0, True), nn.Dropout(1.0, True)):
        x = mg.tensor([-2.0, 0.25, 3.0])
        wanted = type(module)(*([0.5] if isinstance(module, nn.ELU) else [0.5, 1.0] if isinstance(module, nn.Threshold) else [1.0] if isinstance(module, nn.Dropout) else []))(x)
        wanted = wanted.tolist()
        assert module(x) is x and x.tolist() == wanted and "inplace" in repr(module)


def test_bags_lie_in_the_indices():
    at, table = mg.tensor([0, 1, 2]), mg.ones(4, 2)
    for offsets, text in (
        ([0, 5], "takes offsets from 0 to the 3 indices' end, got 5"),
        ([1, 2], "takes 0 as the first offset, got 1"),
        ([0, 2, 1], "takes offsets that do not fall"),
        ([-1, 2], "takes 0 as the first offset, got -1"),
    ):
        for mode in ("sum", "mean", "max"):
            with pytest.raises(ValueError, match="embedding_bag: " + text):
                F.embedding_bag(at, table, mg.tensor(offsets), mode=mode)
    with pytest.raises(ValueError, match="end, got 4"):
        F.embedding_bag(at, table, mg.tensor([0, 2, 4]), include_last_offset=True)
    with pytest.raises(IndexError):
        F.embedding_bag(at, table, mg.tensor([0, 2]) * 2).tolist()
    assert F.embedding_bag(at, table, mg.tensor([0, 3, 3]), mode="sum").tolist() == [[3, 3], [0, 0], [0, 0]]
    assert F.embedding_bag(at[:0], table, mg.tensor([0, 0])).tolist() == [[0, 0], [0, 0]]


def test_dropout_multiplies():
    x = mg.tensor([math.inf, math.nan, 1.0] * 2000)
    for p in (0.5, 1.0):
        y = F.dropout(x, p).reshape(-1, 3)
        assert not (y[:, :2] == 0).any() and y[:, 1].isnan().all() and (y[:, 0].isnan().double().mean() - p).abs() < 0.05
    with pytest.raises(TypeError, match="^dropout: scales what stays: takes floats, got int64"):
        F.dropout(mg.ones(3, dtype=mg.int64), 0.5)
    assert F.dropout(mg.ones(3, dtype=mg.int64), 0.5, False).tolist() == [1, 1, 1]


def test_dropout_is_one_launch(device):
    x = mg.ones(1000, device=device, requires_grad=True)
    assert len(mg.explain(F.dropout(x.exp() * 2, 0.5) + 1).launches) == 1


def test_a_parameter_without_a_shape_is_given_one():
    class Lines(nn.modules.lazy.LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.UninitializedParameter()

        def initialize_parameters(self, input):
            if self.has_uninitialized_params():
                with mg.no_grad():
                    self.weight.materialize((input.shape[-1], 2))
                    self.weight.fill_(1.0)

        def forward(self, input):
            return input @ self.weight

    net = Lines()
    for lines, size in ((copy.deepcopy(net), 5), (net, 3)):
        assert lines(mg.ones(4, size)).tolist() == [[size, size]] * 4
        assert not isinstance(lines.weight, nn.UninitializedParameter) and isinstance(lines.weight, nn.Parameter)
        assert not hasattr(lines.weight, "materialize")
    assert not hasattr(mg.ones(2), "materialize")
    buffer = nn.UninitializedBuffer()
    buffer.materialize((2,), dtype=mg.float64)
    assert buffer.shape == (2,) and buffer.dtype == mg.float64


def test_a_promise_that_no_mask_keeps():
    model, x = mg.nn.Transformer(8, 2, 1, 1, 16, batch_first=True).eval(), mg.randn(2, 3, 8)
    with pytest.raises(RuntimeError, match="tgt_mask is causal: it takes a tgt_mask"):
        model(x, x, tgt_is_causal=True)
    with pytest.raises(RuntimeError, match="mask is causal: it takes a mask"):
        model.encoder(x, is_causal=True)
    with pytest.raises(RuntimeError):
        model(x, x, memory_is_causal=True)
    mask = mg.nn.Transformer.generate_square_subsequent_mask(3)
    assert model(x, x, tgt_mask=mask, tgt_is_causal=True).equal(model(x, x, tgt_mask=mask))
