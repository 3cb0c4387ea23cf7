"""Helpers for modules, sequences of several lengths, modules that find out their sizes."""

from __future__ import annotations

import copy
import pickle

import micrograd_rs as mg
import pytest
from conftest import close, trained
from micrograd_rs import nn
from micrograd_rs.nn.utils import rnn
from micrograd_rs.nn.utils.stateless import functional_call


def test_vectors_of_parameters():
    net = nn.Linear(3, 2)
    vector = nn.utils.parameters_to_vector(net.parameters())
    assert vector.shape == (8,)
    weight = net.weight
    nn.utils.vector_to_parameters(mg.arange(8.0), net.parameters())
    assert net.weight is weight and weight.requires_grad and net.bias.tolist() == [6, 7]
    with pytest.raises(ValueError, match="8 elements"):
        nn.utils.vector_to_parameters(mg.ones(7), net.parameters())


def test_clipping():
    net = trained(nn.Linear(3, 2), mg.ones(4, 3))
    before = nn.utils.get_total_norm([p.grad for p in net.parameters()])
    norm = nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    close(norm, before)
    close(nn.utils.get_total_norm([p.grad for p in net.parameters()]), 0.1, rtol=1e-4)
    kept = [p.grad.tolist() for p in net.parameters()]
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    close([p.grad.tolist() for p in net.parameters()], kept)
    nn.utils.clip_grad_value_(net.weight, 0.01)
    assert net.weight.grad.abs().max().item() <= 0.0100001
    # As in PyTorch: the upper bound holds last.
    nn.utils.clip_grad_value_(net.weight, -0.5)
    assert net.weight.grad.flatten().tolist() == [-0.5] * 6
    net.weight.grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="nan"):
        nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0


def test_clipping_reads_nothing():
    net = nn.Linear(3, 2)
    sgd = mg.optim.SGD(net.parameters(), lr=0.1)

    @mg.jit
    def step(x):
        sgd.zero_grad()
        net(x).square().sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        sgd.step()

    for _ in range(4):
        step(mg.ones(2, 3))
    assert step.reason is None, step.reason


def test_functional_calls():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).eval()
    x = mg.randn(3, 2)
    before = net(x).tolist()
    zero = {name: mg.zeros(p.shape) for name, p in net.named_parameters()}
    assert functional_call(net, zero, x).tolist() == [[0, 0]] * 3
    assert net(x).tolist() == before and isinstance(net[0].weight, nn.Parameter)
    w = mg.ones(2, 2).requires_grad_()
    functional_call(net, {"0.weight": w * 2}, (x,)).square().sum().backward()
    assert w.grad is not None
    with pytest.raises(RuntimeError, match="unexpected: nothing"):
        functional_call(net, {"nothing": w}, x)
    with pytest.raises(RuntimeError, match="missing"):
        functional_call(net, {"0.weight": w}, x, strict=True)
    with pytest.raises(ValueError):
        functional_call(net, {"0.weight": mg.ones(2, 3)}, x)
    assert net(x).tolist() == before
    with pytest.raises(ValueError, match="twice"):
        functional_call(net, [{"0.weight": w}, {"0.weight": w}], x)


def test_functional_calls_of_tied_weights():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    x = mg.ones(1, 2)
    eye = {"0.weight": mg.eye(2)}
    assert functional_call(net, eye, x).tolist() == [[1, 1]]
    assert functional_call(net, {**eye, "1.weight": mg.zeros(2, 2)}, x, tie_weights=False).tolist() == [[0, 0]]
    with pytest.raises(ValueError, match="one tensor"):
        functional_call(net, {**eye, "1.weight": mg.zeros(2, 2)}, x)


def test_functional_calls_take_one_value_of_tied_weights():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    x, one, two = mg.ones(1, 2), mg.eye(2), 2 * mg.eye(2)
    call = mg.func.functional_call
    with pytest.raises(ValueError, match="'0.weight', '1.weight'.*one tensor"):
        call(net, {"0.weight": one, "1.weight": two}, (x,))
    assert call(net, {"0.weight": two, "1.weight": two}, (x,)).tolist() == [[4, 4]]
    assert call(net, {"1.weight": two}, (x,)).tolist() == [[4, 4]]
    assert call(net, {"0.weight": one, "1.weight": two}, (x,), tie_weights=False).tolist() == [[2, 2]]
    with pytest.raises(ValueError, match="0.weight.*more than one dictionary"):
        call(net, [{"0.weight": one}, {"0.weight": one}], (x,))
    # One module under two names.
    net = nn.Sequential(net[0], net[0])
    with pytest.raises(ValueError, match="'0.weight', '1.weight'.*one tensor"):
        call(net, {"0.weight": one, "1.weight": two}, (x,))
    assert call(net, {"1.weight": two}, (x,)).tolist() == [[4, 4]]


def test_folding():
    net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    for _ in range(3):
        net(mg.randn(16, 4) * 2 + 1)
    net.eval()
    x = mg.randn(5, 4)
    close(nn.utils.fuse_linear_bn_eval(net[0], net[1])(x), net(x), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError):
        nn.utils.fuse_linear_bn_eval(net[0].train(), net[1])
    assert nn.utils.skip_init(nn.Linear, 3, 2).weight.shape == (2, 3)


def test_recurrent_steps_are_cells():
    for kind, cell in ((nn.LSTM, nn.LSTMCell), (nn.GRU, nn.GRUCell), (nn.RNN, nn.RNNCell)):
        layer, step = kind(3, 4), cell(3, 4)
        step.load_state_dict({name.removesuffix("_l0"): t for name, t in layer.state_dict().items()})
        x, h, outputs = mg.randn(6, 2, 3), None, []
        for t in range(6):
            h = step(x[t], h)
            outputs.append(h[0] if isinstance(h, tuple) else h)
        output, last = layer(x)
        close(output, mg.stack(outputs), rtol=1e-4, atol=1e-5)
        last = last[0] if isinstance(last, tuple) else last
        close(last[0], outputs[-1], rtol=1e-4, atol=1e-5)


def test_packed_sequences_do_not_see_padding():
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        layer = kind(3, 4, 2, bidirectional=True)
        parts = [mg.randn(n, 3) for n in (2, 5, 1)]
        packed, last = layer(rnn.pack_sequence(parts, enforce_sorted=False))
        outputs = rnn.unpack_sequence(packed)
        last = last[0] if isinstance(last, tuple) else last
        for i, part in enumerate(parts):
            alone, end = layer(part)
            end = end[0] if isinstance(end, tuple) else end
            close(outputs[i], alone, rtol=1e-4, atol=1e-5)
            close(last[:, i], end, rtol=1e-4, atol=1e-5)


def test_recurrent_layers_refuse():
    for wrong in (
        lambda: nn.LSTM(3, 0),
        lambda: nn.GRU(3, 4, dropout=1.5),
        lambda: nn.LSTM(3, 4, proj_size=4),
        lambda: nn.RNN(3, 4, nonlinearity="gelu"),
        lambda: nn.LSTM(3, 4)(mg.ones(2, 2, 5)),
        lambda: nn.LSTM(3, 4)(mg.ones(3)),
        lambda: nn.GRU(3, 4)(mg.ones(2, 2, 3), mg.ones(1, 3, 4)),
        lambda: rnn.pack_padded_sequence(mg.ones(3, 2, 1), [1, 3]),
        lambda: rnn.pack_padded_sequence(mg.ones(3, 2, 1), [4, 3]),
        lambda: nn.MultiheadAttention(5, 2),
        lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"),
        lambda: nn.Transformer(4, 2)(mg.ones(1, 1, 5), mg.ones(1, 1, 4)),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_dropout_between_layers():
    layer = nn.LSTM(3, 50, 2, dropout=0.5)
    x = mg.randn(4, 2, 3)
    assert layer(x)[0].tolist() != layer(x)[0].tolist()
    layer.eval()
    assert layer(x)[0].tolist() == layer(x)[0].tolist()


def test_recurrent_layers_are_replayed():
    layer = nn.LSTM(3, 4, 2, batch_first=True)
    adam = mg.optim.Adam(layer.parameters(), lr=0.01)

    @mg.jit
    def step(x, y):
        adam.zero_grad()
        loss = (layer(x)[0] - y).square().mean()
        loss.backward()
        adam.step()
        return loss.detach()

    x, y = mg.randn(2, 5, 3), mg.rand(2, 5, 4)
    losses = [step(x, y).item() for _ in range(30)]
    assert step.reason is None and losses[-1] < losses[0]


def test_lazy_modules():
    net = nn.Sequential(nn.LazyLinear(5), nn.LazyBatchNorm1d(), nn.ReLU(), nn.LazyLinear(2, bias=False))
    assert isinstance(net[0].weight, nn.UninitializedParameter) and isinstance(net[1].running_mean, nn.UninitializedBuffer)
    assert net[0].has_uninitialized_params() and isinstance(net[0], nn.LazyLinear)
    sgd = mg.optim.SGD(net.parameters(), lr=0.1)
    weight = net[0].weight
    trained(net, mg.randn(8, 3))
    assert net[0].weight is weight and weight.shape == (5, 3) and type(net[0]) is nn.Linear and type(net[1]) is nn.BatchNorm1d
    assert net[1].num_features == 5 and "LazyLinear" not in repr(net) and not isinstance(weight, nn.UninitializedParameter)
    before = weight.tolist()
    sgd.step()
    assert weight.tolist() != before
    assert len(pickle.loads(pickle.dumps(net))(mg.randn(8, 3))) == 8


def test_lazy_modules_are_loaded():
    full, lazy = nn.Linear(4, 3), nn.LazyLinear(3)
    lazy.load_state_dict(full.state_dict())
    x = mg.randn(2, 4)
    close(lazy(x), full(x))
    lazy = nn.LazyLinear(3)
    copied = copy.deepcopy(lazy)
    assert copied.has_uninitialized_params()
    copied(x)
    assert lazy.has_uninitialized_params() and not hasattr(copied, "_initialize_hook")


class Scale(nn.LazyModuleMixin):
    def __init__(self):
        super().__init__()
        self.scale = nn.UninitializedParameter()

    def initialize_parameters(self, x):
        nn.parameter.materialize(self.scale, x.shape[-1:])
        nn.init.ones_(self.scale)

    def forward(self, x):
        return x * self.scale


def test_lazy_modules_of_ones_own():
    scale = Scale()
    assert scale(mg.full((2, 3), 5.0)).tolist() == [[5] * 3] * 2 and scale.scale.shape == (3,)


def test_pruning_again_over_several_modules():
    # Rounds of pruning, as for lottery tickets: what is pruned already has none of its elements chosen again.
    prune = nn.utils.prune
    a, b = nn.Linear(3, 2, bias=False), nn.Linear(2, 2, bias=False)
    with mg.no_grad():
        a.weight.copy_(mg.tensor([[1.0, -2.0, 3.0], [4.0, -5.0, 6.0]]))
        b.weight.copy_(mg.tensor([[0.5, 7.0], [-8.0, 9.0]]))
    both = [(a, "weight"), (b, "weight")]
    prune.l1_unstructured(a, "weight", 1)
    assert a.weight.tolist() == [[0, -2, 3], [4, -5, 6]]
    prune.global_unstructured(both, prune.L1Unstructured, amount=2)
    assert a.weight_mask.tolist() == [[0, 0, 1], [1, 1, 1]] and b.weight_mask.tolist() == [[0, 1], [1, 1]]
    prune.global_unstructured(both, prune.L1Unstructured, amount=0.3)
    assert a.weight.tolist() == [[0, 0, 0], [0, -5, 6]] and b.weight.tolist() == [[0, 7], [-8, 9]]
    prune.ln_structured(b, "weight", 1, n=2, dim=0)
    assert b.weight.tolist() == [[0, 0], [-8, 9]]
    prune.custom_from_mask(a, "weight", mg.tensor([[1, 1, 1], [1, 0, 1]]))
    assert a.weight.tolist() == [[0, 0, 0], [0, 0, 6]] and len(a._forward_pre_hooks) == 1
    prune.remove(a, "weight")
    assert a.weight.tolist() == [[0, 0, 0], [0, 0, 6]] and list(a.state_dict()) == ["weight"]


def test_pruning_that_fails_has_changed_nothing():
    prune = nn.utils.prune

    class Fails(prune.BasePruningMethod):
        def compute_mask(self, t, default_mask):
            raise ArithmeticError("no mask")

    layer = nn.Linear(3, 2)
    weight = layer.weight
    for how in (lambda: Fails.apply(layer, "weight"), lambda: prune.l1_unstructured(layer, "weight", 7)):
        with pytest.raises((ArithmeticError, ValueError)):
            how()
        assert layer.weight is weight and list(layer.state_dict()) == ["weight", "bias"]
    prune.l1_unstructured(layer, "weight", 2)
    before, mask = layer.weight.tolist(), layer.weight_mask.tolist()
    for how in (lambda: Fails.apply(layer, "weight"), lambda: prune.l1_unstructured(layer, "weight", 5)):
        with pytest.raises((ArithmeticError, ValueError)):
            how()
        assert layer(mg.zeros(1, 3)).shape == (1, 2) and len(layer._forward_pre_hooks) == 1
        assert layer.weight.tolist() == before and layer.weight_mask.tolist() == mask
    Fails.PRUNING_TYPE = "other"
    with pytest.raises(ValueError, match="other"):
        Fails.apply(layer, "weight")


@pytest.mark.parametrize("batch_first", [False, True])
def test_what_is_packed_is_a_copy(batch_first):
    for shape in [(2, 2, 3), (1, 2, 3), (2, 1, 3)]:
        x = mg.ones(shape)
        batch, steps = shape[:2] if batch_first else shape[1::-1]
        packed = rnn.pack_padded_sequence(x, [steps] * batch, batch_first=batch_first)
        x.mul_(3)
        packed.data.add_(1)
        assert packed.data.max().item() == 2 and x.min().item() == 3
