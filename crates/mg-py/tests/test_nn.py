"""Modules, layers, losses, initialisers."""

from __future__ import annotations

import copy
import math
import pickle

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import nn
from micrograd_rs.nn import functional as F


def takes_over():
    """Whether `p.data = q` gives p the memory, dtype and device of q, as in PyTorch."""
    p, q = mg.Tensor([1.0]), mg.ones(1, dtype="f64")
    p.data = q
    return p.dtype == mg.float64


def shares():
    """Whether `t.detach()` has t's memory, as in PyTorch."""
    t = mg.ones(1)
    t.detach().zero_()
    return t.item() == 0


needs_data = pytest.mark.skipif(not takes_over(), reason="p.data = q does not take over q's dtype yet")
needs_sharing = pytest.mark.skipif(not shares(), reason="t.detach() does not share memory yet")


class Net(nn.Module):
    def __init__(self):
        self.hidden = nn.Linear(2, 8)
        self.rest = nn.Sequential(nn.Tanh(), nn.Linear(8, 1))
        self.scale = nn.Parameter(mg.ones(1))
        self.constant = mg.ones(1)
        self.register_buffer("mean", mg.zeros(2))

    def forward(self, x):
        return self.rest(self.hidden(x)) * self.scale


def test_registration():
    net = Net()
    names = ["hidden.weight", "hidden.bias", "rest.1.weight", "rest.1.bias"]
    assert sorted(n for n, _ in net.named_parameters()) == sorted([*names, "scale"])
    assert [n for n, _ in net.named_buffers()] == ["mean"]
    assert [n for n, _ in net.named_children()] == ["hidden", "rest"]
    assert [n for n, _ in net.named_modules()] == ["", "hidden", "rest", "rest.0", "rest.1"]
    assert len(list(net.parameters(recurse=False))) == 1 and len(list(net.buffers())) == 1
    assert set(net.state_dict()) == {*names, "scale", "mean"}
    net.scale = None
    assert len(list(net.parameters())) == 4
    net.scale = nn.Parameter(mg.ones(1))
    del net.scale
    assert len(list(net.parameters())) == 4 and not hasattr(net, "scale")
    with pytest.raises(TypeError, match="'hidden' is a module"):
        net.hidden = 5
    del net.hidden
    net.hidden = 5
    assert len(list(net.parameters())) == 2


def test_shared_parameters_come_once():
    class Tied(nn.Module):
        def __init__(self):
            self.a = nn.Linear(2, 2)
            self.b = self.a

    assert len(list(Tied().parameters())) == 2 and len(Tied().state_dict()) == 4
    assert [n for n, _ in Tied().named_parameters(remove_duplicate=False)] == list(Tied().state_dict())
    assert [n for n, _ in Tied().named_modules()] == ["", "a"]


def test_super_init_may_be_called():
    class Polite(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(1, 1)

    assert len(list(Polite().parameters())) == 2


def test_unknown_attributes():
    net = Net()
    with pytest.raises(AttributeError, match=r"did you mean 'hidden'\?"):
        net.hiden
    with pytest.raises(NotImplementedError, match="forward"):
        nn.Module()(1)


def test_modes():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    assert net.training and net[1].training
    net.eval()
    assert not net.training and not net[1].training
    x = mg.ones(3, 2)
    assert net(x).tolist() == net(x).tolist()
    net.train()
    assert net[1].training
    for p in (-0.1, 1.5):
        with pytest.raises(ValueError):
            nn.Dropout(p)


def test_gradients_and_freezing():
    net = Net()
    net(mg.ones(3, 2)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net(mg.ones(3, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all(p.grad.abs().sum().item() == 0 for p in net.parameters())
    parameters = list(net.parameters())
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in parameters)


def test_state():
    a, b = Net(), Net()
    state = a.state_dict()
    b.load_state_dict(state)
    x = mg.randn(4, 2)
    assert a(x).tolist() == b(x).tolist()
    wrong = {k: v for k, v in state.items() if k != "scale"} | {"other": mg.ones(1), "mean": mg.ones(3)}
    before = b(x).tolist()
    with pytest.raises(ValueError, match=r'(?s)Missing key.*"scale".*Unexpected key.*"other".*size mismatch for mean'):
        b.load_state_dict(wrong)
    assert b(x).tolist() == before
    weight = b.hidden.weight
    keys = b.load_state_dict({"scale": mg.tensor([2.0], dtype="f64"), "more": mg.ones(1)}, strict=False)
    assert b.scale.tolist() == [2] and b.scale.dtype == mg.float32 and b.hidden.weight is weight
    assert keys.unexpected_keys == ["more"] and "hidden.weight" in keys.missing_keys and len(keys.missing_keys) == 5
    assert b.load_state_dict(a.state_dict()) == ([], [])
    snapshot = copy.deepcopy(a.state_dict())
    with mg.no_grad():
        a.scale.fill_(9)
    assert snapshot["scale"].tolist() == [1] and a.state_dict()["scale"].tolist() == [9]


@needs_sharing
def test_a_state_shares_memory():
    """As PyTorch's: averages of weights are written so."""
    net = Net()
    state = net.state_dict()
    for t in state.values():
        t.mul_(0).add_(3)
    assert net.scale.tolist() == [3] and net.mean.tolist() == [3, 3] and not state["scale"].requires_grad
    with mg.no_grad():
        net.scale.fill_(9)
    assert state["scale"].tolist() == [9]


class Tied(nn.Module):
    def __init__(self):
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x))


def test_tied_weights():
    net = Tied()
    assert [n for n, _ in net.named_parameters()] == ["a.weight", "a.bias", "b.bias"]
    assert list(net.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.a.weight is other.b.weight is not net.a.weight


OPTIMISERS = [lambda p: mg.optim.SGD(p, lr=0.1, momentum=0.5), lambda p: mg.optim.Adam(p, lr=0.1, amsgrad=True)]


def trained(convert, make=OPTIMISERS[0]):
    """Losses of steps of which some come after a conversion: the optimiser was made before."""
    mg.manual_seed(3)
    net = Tied()
    sgd = make(net.parameters())
    x, losses = mg.tensor([[1.0, -1.0], [0.5, 2.0]]), []
    for i in range(6):
        if i == 2:
            convert(net)
        sgd.zero_grad()
        loss = (net(x.to(net.a.weight.dtype)) - 1).square().mean()
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    return losses


def test_what_changes_nothing_changes_nothing():
    net = Net()
    net(mg.ones(3, 2)).sum().backward()
    parameters, mean, grads = list(net.parameters()), net.mean, [p.grad.tolist() for p in net.parameters()]
    for same in (net.to("cpu"), net.float(), net.to("f32"), net.cpu()):
        assert same is net and all(p is q for p, q in zip(net.parameters(), parameters, strict=True)) and net.mean is mean
    assert [p.grad.tolist() for p in net.parameters()] == grads
    assert trained(lambda net: net.to("cpu").float()) == trained(lambda net: None)
    with pytest.raises(TypeError, match="floating"):
        net.to("i64")
    assert net.scale.dtype == mg.float32


@needs_data
def test_optimisers_and_ties_outlive_a_conversion():
    for make in OPTIMISERS:
        close(trained(lambda net: net.double(), make), trained(lambda net: None, make), rtol=1e-4)
        close(trained(lambda net: net.double().float(), make), trained(lambda net: None, make))
    net = Tied()
    net(mg.ones(3, 2)).sum().backward()
    parameters, grads = list(net.parameters()), [p.grad.tolist() for p in net.parameters()]
    net.double()
    assert net.a.weight is net.b.weight and all(p is q for p, q in zip(net.parameters(), parameters, strict=True))
    assert all(p.is_leaf and p.requires_grad and p.dtype == p.grad.dtype == mg.float64 for p in parameters)
    close([p.grad for p in parameters], grads)
    net(mg.ones(3, 2, dtype="f64")).sum().backward()
    close(net.a.bias.grad, [2 * g for g in grads[1]])


@pytest.mark.parametrize("move", [lambda m: m.to("cpu"), lambda m: m.double(), lambda m: m.float()])
def test_a_model_that_is_moved_after_its_optimiser_was_made_trains(move):
    m = mg.nn.Linear(1, 1, bias=False)
    m.tied = m.weight
    optimiser = mg.optim.SGD(m.parameters(), lr=0.1)
    with mg.no_grad():
        m.weight.fill_(3.0)
    weight = m.weight
    move(m)
    assert m.weight is weight and m.tied is weight
    losses = []
    for _ in range(4):
        optimiser.zero_grad()
        loss = m(mg.ones(1, 1, dtype=m.weight.dtype)).square().sum()
        loss.backward()
        optimiser.step()
        losses.append(round(loss.item(), 2))
    assert losses == [9, 5.76, 3.69, 2.36]


@needs_data
def test_conversion():
    net = Net().double()
    assert net.hidden.weight.dtype == mg.float64 and net.hidden.weight.is_leaf and net.hidden.weight.requires_grad
    assert net(mg.ones(1, 2, dtype="f64")).dtype == mg.float64
    assert net.to("f32").mean.dtype == mg.float32 and net.cpu() is net and net.half().scale.dtype == mg.float16


def test_pickling():
    net = Net()
    x = mg.randn(3, 2)
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert other(x).tolist() == net(x).tolist()
        assert [n for n, _ in other.named_parameters()] == [n for n, _ in net.named_parameters()]
        with mg.no_grad():
            other.scale.fill_(0)
        assert net.scale.tolist() == [1]


def test_apply():
    seen = []
    net = Net()
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Linear", "Tanh", "Linear", "Sequential", "Net"]


def test_reprs():
    assert repr(nn.Linear(2, 3)) == "Linear(in_features=2, out_features=3, bias=True)"
    assert repr(nn.Sequential(nn.ReLU(), nn.Flatten())) == "Sequential(\n  (0): ReLU()\n  (1): Flatten(start_dim=1, end_dim=-1)\n)"
    assert repr(nn.Dropout(0.1)) == "Dropout(p=0.1, inplace=False)" and "eps" in repr(nn.LayerNorm(3)) and repr(nn.Embedding(2, 3)) == "Embedding(2, 3)"


def test_containers():
    seq = nn.Sequential(nn.Linear(2, 4), nn.ReLU())
    assert seq.append(nn.Linear(4, 1)) is seq and len(seq) == 3 and isinstance(seq[-1], nn.Linear) and len(seq[:2]) == 2
    assert seq(mg.ones(1, 2)).shape == (1, 1) and [type(m).__name__ for m in seq] == ["Linear", "ReLU", "Linear"]
    named = nn.Sequential({"a": nn.Linear(2, 2), "b": nn.Tanh()})
    assert [n for n, _ in named.named_parameters()] == ["a.weight", "a.bias"]
    many = nn.ModuleList([nn.Linear(1, 1)]).extend([nn.Linear(1, 1)])
    assert len(many) == 2 and len(list(many.parameters())) == 4
    many[0] = nn.Linear(1, 2)
    assert many[0].weight.shape == (2, 1)
    by_name = nn.ModuleDict({"x": nn.Linear(1, 1)})
    by_name["y"] = nn.Tanh()
    assert "y" in by_name and list(by_name) == ["x", "y"] and len(by_name) == 2 and list(by_name.keys()) == ["x", "y"]
    assert dict(by_name.items())["x"] is by_name["x"] is list(by_name.values())[0]


@pytest.mark.parametrize(
    ("module", "f"),
    [
        (nn.ReLU(), lambda x: max(x, 0)),
        (nn.Tanh(), math.tanh),
        (nn.Sigmoid(), lambda x: 1 / (1 + math.exp(-x))),
        (nn.SiLU(), lambda x: x / (1 + math.exp(-x))),
        (nn.Softplus(), lambda x: math.log1p(math.exp(x))),
        (nn.GELU(), lambda x: x * (1 + math.erf(x / 2**0.5)) / 2),
        (nn.GELU("tanh"), lambda x: x / 2 * (1 + math.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))),
        (nn.LeakyReLU(0.1), lambda x: x if x > 0 else 0.1 * x),
        (nn.Identity(), lambda x: x),
    ],
    ids=repr,
)
def test_activations(module, f):
    close(module(mg.tensor([-1.0, 0.0, 2.0])), [f(x) for x in (-1.0, 0.0, 2.0)])


def test_layers():
    linear = nn.Linear(3, 2, bias=False)
    assert linear.bias is None and linear(mg.ones(4, 5, 3)).shape == (4, 5, 2)
    bound = 1 / math.sqrt(3)
    assert all(-bound <= v <= bound for v in linear.weight.flatten().tolist())
    assert nn.Linear(2, 2, dtype="f64").weight.dtype == mg.float64
    table = nn.Embedding(5, 3)
    assert table(mg.tensor([[0, 4]])).shape == (1, 2, 3)
    with pytest.raises(IndexError):
        table(mg.tensor([5])).tolist()
    norm = nn.LayerNorm([2, 3])
    close(norm(mg.randn(4, 2, 3)).mean((1, 2)), [0.0] * 4)
    assert nn.LayerNorm(3, bias=False).bias is None and nn.LayerNorm(3, elementwise_affine=False).weight is None
    assert nn.Flatten()(mg.ones(2, 3, 4)).shape == (2, 12)
    close(nn.Softmax()(mg.randn(2, 3)).sum(-1), [1, 1])
    close(nn.LogSoftmax(0)(mg.randn(2, 3)).exp().sum(0), [1, 1, 1])
    with pytest.raises(ValueError, match="linear: takes"):
        linear(mg.ones(4, 2))


def test_losses():
    x, y = mg.tensor([[1.0, 2.0]]), mg.tensor([1])
    close(nn.CrossEntropyLoss()(x, y), math.log(1 + math.exp(-1)))
    close(nn.NLLLoss(reduction="sum")(x.log_softmax(1), y), math.log(1 + math.exp(-1)))
    close(nn.MSELoss(reduction="none")(x, mg.zeros(1, 2)), [[1, 4]])
    close(nn.BCEWithLogitsLoss()(mg.zeros(2), mg.ones(2)), math.log(2))
    with pytest.raises(ValueError, match="median"):
        nn.MSELoss(reduction="median")


def test_initialisers():
    w = mg.empty(200, 100)
    for f, std in (
        (lambda: nn.init.xavier_uniform_(w), math.sqrt(2 / 300)),
        (lambda: nn.init.xavier_normal_(w, gain=2), 2 * math.sqrt(2 / 300)),
        (lambda: nn.init.kaiming_uniform_(w, nonlinearity="relu"), math.sqrt(2 / 100)),
        (lambda: nn.init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"), math.sqrt(2 / 200)),
        (lambda: nn.init.normal_(w, 0, 3), 3),
        (lambda: nn.init.uniform_(w, -1, 1), math.sqrt(1 / 3)),
    ):
        assert f() is w
        close(w.std(), std, rtol=0.03)
        assert abs(w.mean().item()) < 0.05 * std
    assert nn.init.zeros_(w).sum().item() == 0 and nn.init.ones_(w).mean().item() == 1
    assert nn.init.constant_(w, 3).mean().item() == 3
    assert nn.init.calculate_gain("relu") == pytest.approx(math.sqrt(2))
    for wrong in (lambda: nn.init.calculate_gain("nope"), lambda: nn.init.kaiming_normal_(w, mode="nope")):
        with pytest.raises(ValueError, match="nope"):
            wrong()
    leaf = nn.Linear(2, 2).weight
    nn.init.zeros_(leaf)
    assert leaf.requires_grad and leaf.sum().item() == 0


def test_initialisers_of_shapes():
    assert nn.init.eye_(mg.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    kernel = nn.init.dirac_(mg.empty(4, 2, 3), groups=2)
    x = mg.randn(1, 4, 5)
    close(F.conv1d(x, kernel, padding=1, groups=2), x)
    for wrong in (lambda: nn.init.eye_(mg.empty(3)), lambda: nn.init.dirac_(mg.empty(3, 2)), lambda: nn.init.sparse_(mg.empty(3), 0.5)):
        with pytest.raises(ValueError):
            wrong()


def test_orthogonal_matrices():
    for shape in ((5, 3), (3, 5), (4, 2, 3), (4, 4)):
        w = nn.init.orthogonal_(mg.empty(*shape, dtype="f64"), gain=2).flatten(1)
        product = w.T @ w if shape[0] > w.shape[1] else w @ w.T
        close(product, (mg.eye(len(product)) * 4).tolist(), atol=1e-9)
    with pytest.raises(ValueError):
        nn.init.orthogonal_(mg.empty(3))


def test_truncated_normals():
    w = nn.init.trunc_normal_(mg.empty(200, 200), mean=1.0, std=2.0, a=-1.0, b=4.0)
    assert -1 <= w.min().item() < -0.9 and 3.9 < w.max().item() <= 4
    # Of the normal distribution between one deviation below the mean and one and a half above it.
    close(w.mean(), 1 + 2 * 0.145187, atol=0.05)
    close(w.std(), 2 * 0.644736, atol=0.05)
    half = nn.init.trunc_normal_(mg.empty(1000, dtype="f16"))
    assert half.dtype == mg.float16 and half.abs().max().item() <= 2


def test_sparse_columns():
    w = nn.init.sparse_(mg.empty(10, 40), sparsity=0.25, std=0.5)
    assert (w == 0).sum(0).tolist() == [3] * 40
    close(w[w != 0].std(), 0.5, atol=0.1)


def test_gains():
    assert nn.init.calculate_gain("selu") == 0.75 and nn.init.calculate_gain("conv_transpose2d") == 1
    assert nn.init.calculate_gain("leaky_relu", 1) == pytest.approx(1)


def test_same_seed_same_network():
    mg.manual_seed(4)
    a = nn.Linear(3, 3).weight.tolist()
    mg.manual_seed(4)
    assert nn.Linear(3, 3).weight.tolist() == a


def test_parameter():
    p = nn.Parameter([1.0, 2.0])
    assert isinstance(p, nn.Parameter) and isinstance(p, mg.Tensor) and p.is_leaf and p.requires_grad
    assert not isinstance(mg.ones(1), nn.Parameter) and not isinstance(5, nn.Parameter)


class Frozen(nn.Module):
    def __init__(self):
        self.trained = nn.Parameter(mg.ones(1))
        self.table = nn.Parameter(mg.ones(2), requires_grad=False)
        self.constant = mg.ones(3)
        self.linear = nn.Linear(2, 2).requires_grad_(False)
        self.tied = self.linear.weight


def test_frozen_parameters():
    net = Frozen()
    assert not net.table.requires_grad and isinstance(net.table, nn.Parameter) and not isinstance(net.constant, nn.Parameter)
    for other in (net, copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert [n for n, _ in other.named_parameters()] == ["trained", "table", "tied", "linear.bias"]
        assert list(other.state_dict()) == ["trained", "table", "tied", "linear.weight", "linear.bias"]
        assert isinstance(other.table, nn.Parameter) and not other.table.requires_grad
        again = nn.Module()
        again.table = other.table
        assert list(again.state_dict()) == ["table"]
    sgd = mg.optim.SGD(net.parameters(), lr=0.1)
    net.trained.sum().backward()
    sgd.step()
    close(net.trained, [0.9]), close(net.table, [1, 1])


def test_what_no_parameter_is():
    net = nn.Linear(2, 2)
    weight = net.weight
    for wrong in (mg.ones(2, 2), net.weight * 2):
        with pytest.raises(TypeError, match="nn.Parameter"):
            net.weight = wrong
        with pytest.raises(TypeError, match="nn.Parameter"):
            net.register_parameter("other", wrong)
    assert net.weight is weight and len(list(net.parameters())) == 2
    # A parameter in a buffer's place is a parameter.
    net.register_buffer("scale", mg.ones(1))
    net.scale = nn.Parameter(mg.ones(1))
    assert len(list(net.parameters())) == 3 and not list(net.buffers())
    net.register_buffer("mean", mg.ones(1))
    net.mean = mg.zeros(1)
    assert [b.tolist() for b in net.buffers()] == [[0]]


def test_containers_count_modules():
    class Scaled(nn.Sequential):
        def __init__(self, *parts):
            super().__init__(*parts)
            self.scale = nn.Parameter(mg.ones(1))

    net = Scaled(nn.Linear(1, 1), nn.Tanh())
    net.append(nn.Linear(1, 1))
    assert len(net) == 3 and [n for n, _ in net.named_children()] == ["0", "1", "2"]
