"""What subclasses of layers say of themselves is asked, as PyTorch's layers ask it."""

from __future__ import annotations

import copy
import importlib
import types

import micrograd_rs as mg
import pytest
from micrograd_rs import nn

F = nn.functional


def test_children_are_asked_for_apply():
    class Own(nn.Module):
        def __init__(self):
            self.a = nn.Linear(1, 1)
            self.extra = mg.ones(2)

        def _apply(self, fn, recurse=True):
            super()._apply(fn)
            self.extra = fn(self.extra)
            return self

        def named_modules(self, *args, **kwargs):
            raise AssertionError("this is not asked")

    net = nn.Sequential(nn.Sequential(Own()), nn.Linear(1, 1)).double()
    assert net[0][0].extra.dtype == net[0][0].a.weight.dtype == net[1].weight.dtype == mg.float64
    assert net.half()[0][0].extra.dtype == mg.float16
    # Not those inside, where that is asked.
    with_inner = nn.Module()
    with_inner.own, with_inner.weight = nn.Linear(1, 1), nn.Parameter(mg.ones(1))
    with_inner._apply(lambda t: t.double(), recurse=False)
    assert with_inner.weight.dtype == mg.float64 and with_inner.own.weight.dtype == mg.float32

    class Failing(nn.Module):
        def _apply(self, fn, recurse=True):
            raise OSError("not this one")

    with pytest.raises(OSError, match="not this one"):
        nn.Sequential(nn.Linear(1, 1), Failing()).double()
    assert nn.Linear(1, 1).double().weight.dtype == mg.float64


def test_deepcopy_asks_for_the_state():
    class WithFile(nn.Module):
        def __init__(self):
            self.a, self.x = nn.Linear(1, 1), 1
            self.handle = (i for i in range(3))
            self.register_buffer("b", mg.ones(1))

        def __getstate__(self):
            state = self.__dict__.copy()
            state["handle"] = None
            return state

        def __setstate__(self, state):
            super().__setstate__(state)
            self.x = 2

    net = nn.Sequential(WithFile())
    made = copy.deepcopy(net)[0]
    assert made.handle is None and made.x == 2 and net[0].x == 1
    assert made.a.weight is not net[0].a.weight and made.a.weight.tolist() == net[0].a.weight.tolist()
    assert [name for name, _ in made.named_parameters()] == ["a.weight", "a.bias"] and list(dict(made.named_buffers())) == ["b"]

    class Reduced(nn.Linear):
        def __reduce_ex__(self, protocol):
            return Reduced, (self.in_features, 7)

    assert copy.deepcopy(Reduced(3, 2)).out_features == 7

    class Same(nn.Linear):
        def __deepcopy__(self, memo):
            return self

    same = Same(1, 1)
    assert copy.deepcopy(nn.Sequential(same))[0] is same

    # What it was before: frozen parameters stay parameters, gradients are left, what is shared is shared.
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    net[0].bias.requires_grad_(False)
    net(mg.ones(1, 2)).sum().backward()
    made = copy.deepcopy(net)
    assert made[0].weight is made[1].weight and made[0].weight.grad is None and net[0].weight.grad is not None
    assert isinstance(made[0].bias, nn.Parameter) and not made[0].bias.requires_grad


def halves(module):
    for t in module.parameters():
        nn.init.constant_(t, 0.5)


LAYERS = [
    (nn.Linear, (2, 1)), (nn.Bilinear, (2, 2, 1)), (nn.Embedding, (3, 2)), (nn.EmbeddingBag, (3, 2)), (nn.LayerNorm, (2,)), (nn.RMSNorm, (2,)),
    (nn.GroupNorm, (1, 2)), (nn.BatchNorm1d, (2,)), (nn.BatchNorm2d, (2,)), (nn.BatchNorm3d, (2,)), (nn.PReLU, ()), (nn.Conv1d, (1, 1, 2)), (nn.Conv2d, (1, 1, 2)),
    (nn.ConvTranspose1d, (1, 1, 2)), (nn.GRU, (2, 2)), (nn.LSTMCell, (2, 2)), (nn.SyncBatchNorm, (2,)),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "sizes"), LAYERS, ids=[layer.__name__ for layer, _ in LAYERS])
def test_reset_parameters_of_a_subclass(layer, sizes):
    asked = []

    class Own(layer):
        def reset_parameters(self):
            asked.append([tuple(p.shape) for p in self.parameters()])
            halves(self)

    mg.manual_seed(0)
    before = mg.get_rng_state().tolist()
    made = Own(*sizes)
    assert len(asked) == 1 and asked[0] == [tuple(p.shape) for p in layer(*sizes).parameters()] != []
    assert all(p.unique().tolist() == [0.5] for p in made.parameters())
    # What is not drawn is not drawn.
    mg.manual_seed(0)
    Own(*sizes)
    assert mg.get_rng_state().tolist() == before

    class Then(layer):
        def reset_parameters(self):
            super().reset_parameters()

    mg.manual_seed(3)
    expected = layer(*sizes)
    mg.manual_seed(3)
    got = Then(*sizes)
    for a, b in zip(got.parameters(), expected.parameters(), strict=True):
        assert a.tolist() == b.tolist() and a.requires_grad and a.dtype == b.dtype


def test_reset_running_stats_of_a_subclass():
    class Own(nn.BatchNorm1d):
        def reset_running_stats(self):
            super().reset_running_stats()
            if self.running_mean is not None:
                self.running_mean.fill_(3)

    assert Own(2).running_mean.tolist() == [3.0, 3.0] and Own(2, track_running_stats=False).running_mean is None

    class Instance(nn.InstanceNorm2d):
        def reset_running_stats(self):
            super().reset_running_stats()
            self.running_var.fill_(5)

    assert Instance(2, track_running_stats=True).running_var.tolist() == [5.0, 5.0]


def test_padding_of_a_table():
    class Own(nn.Embedding):
        def _fill_padding_idx_with_zero(self):
            if self.padding_idx is not None:
                with mg.no_grad():
                    self.weight[self.padding_idx].fill_(7)

    assert Own(3, 2, padding_idx=1).weight[1].tolist() == [7.0, 7.0]
    again = Own(3, 2, padding_idx=1)
    again.reset_parameters()
    assert again.weight[1].tolist() == [7.0, 7.0]
    assert Own.from_pretrained(mg.ones(2, 2), padding_idx=0).weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]

    class Frozen(nn.Embedding):
        def reset_parameters(self):
            nn.init.ones_(self.weight)
            self._fill_padding_idx_with_zero()

    frozen = Frozen(3, 2, padding_idx=2, _freeze=True, dtype=mg.float64)
    assert frozen.weight.tolist() == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]] and not frozen.weight.requires_grad and frozen.weight.dtype == mg.float64


@pytest.mark.parametrize(("layer", "x"), [(nn.Conv1d, mg.ones(1, 2, 5)), (nn.Conv2d, mg.ones(1, 2, 5, 5)), (nn.Conv3d, mg.ones(1, 2, 5, 5, 5))])
@pytest.mark.parametrize("mode", ["zeros", "reflect"])
def test_convolutions_ask_for_conv_forward(layer, x, mode):
    class Standardised(layer):
        def _conv_forward(self, input, weight, bias):
            axes = tuple(range(1, weight.dim()))
            weight = weight - weight.mean(axes, keepdim=True)
            return super()._conv_forward(input, weight, bias)

    plain = layer(2, 3, 3, padding=1, padding_mode=mode)
    own = Standardised(2, 3, 3, padding=1, padding_mode=mode)
    own.load_state_dict(plain.state_dict())
    got, expected = own(x), plain(x)
    assert not got.allclose(expected)
    with mg.no_grad():
        plain.weight -= plain.weight.mean(tuple(range(1, plain.weight.dim())), keepdim=True)
    assert got.allclose(plain(x), atol=1e-6)

    # One of an instance, as programs that make images tile put it.
    def around(self, input, weight, bias):
        input = F.pad(input, self._reversed_padding_repeated_twice, mode="circular")
        return type(self).convolve(input, weight, bias, self.stride, (0,) * self.axes, self.dilation, self.groups)

    x = mg.randn(*x.shape)
    tiled = layer(2, 3, 3, padding=1)
    tiled._conv_forward = types.MethodType(around, tiled)
    circular = layer(2, 3, 3, padding=1, padding_mode="circular")
    circular.load_state_dict(tiled.state_dict())
    assert tiled(x).allclose(circular(x))


def test_norms_ask_for_the_axes():
    class Any(nn.modules.batchnorm._BatchNorm):
        def _check_input_dim(self, input):
            if input.dim() < 2:
                raise ValueError("too few axes")

    norm = Any(2)
    x = mg.randn(3, 2, 4, 5)
    plain = nn.BatchNorm2d(2)
    assert norm(x).tolist() == plain(x).tolist() and norm(x[:, :, 0, 0]).shape == (3, 2)
    with pytest.raises(ValueError, match="too few axes"):
        norm(mg.ones(2))
    with pytest.raises(NotImplementedError, match="_check_input_dim"):
        nn.modules.batchnorm._BatchNorm(2)(x)

    class Loose(nn.BatchNorm1d):
        def _check_input_dim(self, input):
            pass

    assert Loose(2)(x).tolist() == nn.BatchNorm2d(2)(x).tolist()

    class Own(nn.modules.instancenorm._InstanceNorm):
        def _get_no_batch_dim(self):
            return 2

        def _check_input_dim(self, input):
            pass

    assert Own(2)(x[0, :, :, 0]).tolist() == nn.InstanceNorm1d(2)(x[0, :, :, 0]).tolist()


def test_transformers_ask_for_their_blocks():
    class Encoder(nn.TransformerEncoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            return super()._sa_block(x, attn_mask, key_padding_mask, is_causal) * 0

        def _ff_block(self, x):
            return x * 0 + 1

    class Decoder(nn.TransformerDecoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            return x * 0

        def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
            return x * 0 + mem.mean()

        def _ff_block(self, x):
            return x * 0

    x = mg.randn(3, 2, 4)
    for first in (True, False):
        layer = Encoder(4, 2, 8, norm_first=first).eval()
        expected = x + 1 if first else layer.norm2(layer.norm1(x) + 1)
        assert layer(x).allclose(expected, atol=1e-6)
        decoder = Decoder(4, 2, 8, norm_first=first).eval()
        memory = mg.full((3, 2, 4), 2.0)
        expected = x + 2 if first else decoder.norm3(decoder.norm2(decoder.norm1(x) + 2))
        assert decoder(x, memory).allclose(expected, atol=1e-6)


def test_bases_under_pytorchs_paths():
    class Focal(nn.modules.loss._WeightedLoss):
        def forward(self, input, target):
            return F.cross_entropy(input, target, self.weight, reduction=self.reduction)

    loss = Focal(weight=mg.tensor([1.0, 2.0]), reduction="sum")
    assert isinstance(loss, nn.modules.loss._Loss) and loss.reduction == "sum" and list(loss.state_dict()) == ["weight"]
    assert isinstance(nn.MSELoss(), nn.modules.loss._Loss) and loss(mg.zeros(1, 2), mg.tensor([1])).item() == pytest.approx(2 * 0.6931472)

    class Own(nn.modules.conv._ConvNd):
        def __init__(self):
            super().__init__(2, 4, (3, 3), (1, 1), (1, 1), (1, 1), False, (0, 0), 2, True, "zeros")

        def forward(self, input):
            return F.conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    conv = Own()
    assert conv.weight.shape == (4, 1, 3, 3) and conv(mg.ones(1, 2, 5, 5)).shape == (1, 4, 5, 5) and conv.transposed is False
    assert repr(conv) == "Own(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2)"

    class Back(nn.modules.conv._ConvTransposeNd):
        def __init__(self):
            super().__init__(2, 4, (3,), (2,), (0,), (1,), True, (0,), 1, False, "zeros")

        def forward(self, input, output_size=None):
            more = self._output_padding(input, output_size)
            return F.conv_transpose1d(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)

    assert Back().weight.shape == (2, 4, 3) and Back()(mg.ones(1, 2, 5)).shape == (1, 4, 11) and Back()(mg.ones(1, 2, 5), [12]).shape == (1, 4, 12)
    with pytest.raises(TypeError, match="kernel_size"):
        nn.modules.conv._ConvNd(1, 1, 3, 1, 0, 1, False, 0, 1, True, "zeros")

    class Gated(nn.modules.rnn.RNNBase):
        def forward(self, input):
            return self._run(input, None)[0]

    assert Gated("GRU", 2, 3)(mg.ones(4, 1, 2)).shape == (4, 1, 3)
    assert issubclass(nn.modules.rnn.RNNCellBase, nn.Module)

    class Drop(nn.modules.dropout._DropoutNd):
        def forward(self, input):
            return F.dropout(input, self.p, self.training, self.inplace)

    assert Drop(0.25).eval()(mg.ones(3)).tolist() == [1.0] * 3 and repr(Drop(0.25)) == "Drop(p=0.25, inplace=False)"
    of = {
        "activation": [], "conv": [("_ConvNd", nn.Conv2d(1, 1, 1)), ("_ConvNd", nn.ConvTranspose1d(1, 1, 1)), ("_ConvTransposeNd", nn.ConvTranspose1d(1, 1, 1))],
        "batchnorm": [("_BatchNorm", nn.BatchNorm1d(1)), ("_NormBase", nn.InstanceNorm1d(1)), ("_BatchNorm", nn.SyncBatchNorm(1)), ("_LazyNormBase", nn.LazyBatchNorm1d())],
        "instancenorm": [("_InstanceNorm", nn.InstanceNorm3d(1))], "dropout": [("_DropoutNd", nn.Dropout()), ("_DropoutNd", nn.Dropout2d())],
        "pooling": [("_MaxPoolNd", nn.MaxPool1d(2)), ("_AvgPoolNd", nn.AvgPool1d(2)), ("_AvgPoolNd", nn.AvgPool3d(2)), ("_AdaptiveAvgPoolNd", nn.AdaptiveAvgPool2d(1)),
                    ("_AdaptiveMaxPoolNd", nn.AdaptiveMaxPool2d(1)), ("_LPPoolNd", nn.LPPool1d(2, 2)), ("_MaxUnpoolNd", nn.MaxUnpool1d(2))],
        "padding": [("_ConstantPadNd", nn.ConstantPad1d(1, 0.0)), ("_ReflectionPadNd", nn.ReflectionPad1d(1)), ("_ReplicationPadNd", nn.ReplicationPad1d(1)), ("_CircularPadNd", nn.CircularPad1d(1))],
    }  # fmt: skip
    for place, found in of.items():
        module = importlib.import_module(f"micrograd_rs.nn.modules.{place}")
        assert getattr(nn.modules, place) is module and not hasattr(module, "__file__")
        for name, example in found:
            assert isinstance(example, getattr(module, name)) and not isinstance(nn.Linear(1, 1), getattr(module, name)), name
    with pytest.raises(AttributeError):
        nn.modules.loss._nothing_of_that_name
