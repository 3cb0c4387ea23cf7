"""The interface of modules: places, hooks, states, containers, errors."""

from __future__ import annotations

import copy
import functools
import pickle
from collections import OrderedDict

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.seen = nn.Buffer(mg.zeros(1))
        self.passing = nn.Buffer(mg.zeros(1), persistent=False)

    def forward(self, x, scale=1.0):
        return self.norm(self.linear(x)) * scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleList([Block(), Block()])
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        for block in self.encoder:
            x = block(x)
        return self.out(x)


def test_places():
    net = Net()
    assert net.get_submodule("encoder.1.linear") is net.encoder[1].linear and net.get_submodule("") is net
    assert net.get_parameter("encoder.0.linear.weight") is net.encoder[0].linear.weight
    assert net.get_buffer("encoder.0.norm.running_mean") is net.encoder[0].norm.running_mean
    for wrong in (
        lambda: net.get_submodule("encoder.2"),
        lambda: net.get_submodule("encoder.0.forward"),
        lambda: net.get_parameter("encoder.0.seen"),
        lambda: net.get_buffer("encoder.0.linear.weight"),
        lambda: net.set_submodule("encoder.7", nn.Identity(), strict=True),
    ):
        with pytest.raises(AttributeError):
            wrong()
    net.set_submodule("encoder.1", nn.Identity())
    assert isinstance(net.encoder[1], nn.Identity)


def test_buffers_are_assigned():
    block = Block()
    assert [n for n, _ in block.named_buffers(recurse=False)] == ["seen", "passing"]
    assert isinstance(block.seen, nn.Buffer) and not isinstance(block.seen, nn.Parameter)
    assert "seen" in block.state_dict() and "passing" not in block.state_dict()
    for other in (copy.deepcopy(block), pickle.loads(pickle.dumps(block)), block.double()):
        assert isinstance(other.seen, nn.Buffer) and "passing" not in other.state_dict()
    block.seen = mg.ones(1)
    assert block.state_dict()["seen"].tolist() == [1]


def test_parts_as_dictionaries():
    block = Block()
    assert list(block._modules) == ["linear", "norm"] and list(block._buffers) == ["seen", "passing"]
    assert set(block.linear._parameters) == {"weight", "bias"}
    block._modules["linear"] = nn.Identity()
    assert isinstance(block.linear, nn.Identity)
    weight = block._modules.pop("norm")
    assert isinstance(weight, nn.BatchNorm1d) and not hasattr(block, "norm")


def test_parts_of_modules_go_backwards():
    net = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    assert list(reversed(net._modules)) == ["1", "0"] == list(reversed(net._modules.keys()))
    assert [name for name, _ in reversed(net._modules.items())] == ["1", "0"]
    assert next(reversed(net._modules.values())) is net[1]
    assert list(reversed(net[0]._parameters.items()))[0][1] is net[0].bias
    copied = net._modules.copy()
    del net[1]
    assert type(copied) is dict and list(copied) == ["0", "1"] and len(net._modules) == 1 and ("0", net[0]) in net._modules.items()


def test_names_are_checked():
    net = nn.Module()
    for name, error in (("a.b", KeyError), ("", KeyError), ("forward", KeyError), (1, TypeError)):
        for register in (net.add_module, net.register_buffer, net.register_parameter):
            with pytest.raises(error):
                register(name, None)
    with pytest.raises(TypeError):
        net.register_buffer("b", [1.0])
    with pytest.raises(TypeError):
        net.add_module("m", 3)


def test_hooks_before_and_after():
    block, seen = Block().eval(), []
    handles = [
        block.register_forward_pre_hook(lambda m, args: seen.append("pre") or (args[0] * 2,)),
        block.register_forward_pre_hook(
            lambda m, args, kwargs: seen.append("first") or (args, {**kwargs, "scale": 3.0}), prepend=True, with_kwargs=True
        ),
        block.register_forward_hook(lambda m, args, out: seen.append("after") or out + 1),
        block.register_forward_hook(lambda m, args, kwargs, out: seen.append(kwargs["scale"]), with_kwargs=True),
    ]
    x = mg.randn(4, 3)
    close(block(x), block.norm(block.linear(x * 2)) * 3 + 1)
    assert seen == ["first", "pre", "after", 3.0]
    for handle in handles:
        handle.remove()
    close(block(x), block.norm(block.linear(x)))
    assert len(seen) == 4
    with block.register_forward_hook(lambda m, args, out: None):
        assert len(block._forward_hooks) == 1
    assert not block._forward_hooks


def test_hooks_that_are_always_called():
    linear, seen = nn.Linear(3, 1), []
    linear.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    with pytest.raises(ValueError):
        linear(mg.ones(1, 2))
    assert seen == [None]


def test_hooks_of_all_modules():
    from micrograd_rs.nn.modules import module as modules

    seen = []
    with modules.register_module_forward_hook(lambda m, args, out: seen.append(type(m).__name__)):
        nn.Sequential(nn.Tanh(), nn.ReLU())(mg.ones(1))
    nn.Tanh()(mg.ones(1))
    assert seen == ["Tanh", "ReLU", "Sequential"]


def test_hooks_are_copied_with_the_module():
    block = Block().eval()
    block.register_forward_hook(add_one)
    x = mg.randn(2, 3)
    for other in (copy.deepcopy(block), pickle.loads(pickle.dumps(block))):
        close(other(x), block(x))
        assert len(other._forward_hooks) == 1


def add_one(module, args, out):
    return out + 1


def test_state_hooks():
    net = Block()
    net.register_state_dict_post_hook(lambda m, state, prefix, local: state.update({prefix + "more": mg.ones(1)}))
    net.register_state_dict_pre_hook(lambda m, prefix, keep: m.seen.fill_(7))
    state = net.state_dict(prefix="a.")
    assert all(name.startswith("a.") for name in state) and "a.more" in state and state["a.seen"].tolist() == [7]
    other = Block()
    other.register_load_state_dict_pre_hook(lambda m, state, prefix, *rest: state.pop(prefix + "more"))
    other.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    state = net.state_dict()
    del state["seen"]
    assert other.load_state_dict(state) == ([], [])
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other.linear.weight.tolist() == net.linear.weight.tolist()


class Counting(nn.Module):
    def __init__(self):
        self.count = 0

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]


class Renamed(nn.Module):
    def __init__(self):
        self.weight = nn.Parameter(mg.zeros(2))

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        if prefix + "w" in state_dict:
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "w")
        super()._load_from_state_dict(state_dict, prefix, *rest)


def test_what_modules_make_of_states():
    net = nn.Sequential(Counting(), Renamed())
    net[0].count = 5
    state = net.state_dict()
    assert state["0._extra_state"] == {"count": 5}
    other = nn.Sequential(Counting(), Renamed())
    other.load_state_dict({"0._extra_state": {"count": 5}, "1.w": mg.ones(2)})
    assert other[0].count == 5 and other[1].weight.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match='Missing key\\(s\\) in state_dict: "0._extra_state"'):
        other.load_state_dict({"1.w": mg.ones(2)})
    with pytest.raises(ValueError, match="1.w"):
        other.load_state_dict({"0._extra_state": {"count": 6}, "1.w": mg.ones(3), "1.weight": mg.ones(4)})
    # What does not fit changes nothing.
    assert other[0].count == 5 and other[1].weight.tolist() == [1, 1]


def test_states_with_assign():
    net = nn.Linear(2, 2)
    state = {"weight": mg.ones(2, 2, dtype="f64"), "bias": nn.Parameter(mg.zeros(2))}
    net.load_state_dict(state, assign=True)
    assert net.weight.dtype == mg.float64 and net.weight.requires_grad and net.bias is state["bias"]
    state["weight"].fill_(3)
    assert net.weight.tolist() == [[3, 3], [3, 3]]
    assert [n for n, _ in net.named_parameters()] == ["weight", "bias"]


def test_states_of_arrays():
    numpy = pytest.importorskip("numpy")
    net = nn.Linear(2, 1)
    net.load_state_dict({"weight": numpy.array([[1.0, 2.0]]), "bias": numpy.array([3.0])})
    assert net(mg.ones(1, 2)).tolist() == [[6]]


def test_states_keep_the_parameters():
    net = nn.Linear(2, 1)
    assert net.state_dict(keep_vars=True)["weight"] is net.weight
    assert net.state_dict()._metadata[""] == {"version": 1}


def test_errors_name_the_layer():
    net = Net()
    net.encoder[1].linear = nn.Linear(4, 3)
    with pytest.raises(ValueError, match=r"^encoder\.1\.linear: takes \[…, 4\], got \[2, 3\]$"):
        net(mg.ones(2, 3))
    with pytest.raises(ValueError, match=r"^linear: takes"):
        net.encoder[1].linear(mg.ones(2, 3))

    class Broken(nn.Module):
        def forward(self, x):
            raise OSError(2, "no such file")

    with pytest.raises(OSError) as told:
        nn.Sequential(Broken())(1)
    assert told.value.args == (2, "no such file")


def test_conversions():
    net = Net()
    x = mg.ones(2, 3, dtype="bf16")
    net.to(x)
    assert net.out.weight.dtype == mg.bfloat16
    net.to("cpu", mg.float64)
    assert net.out.weight.dtype == mg.float64 and net.encoder[0].norm.num_batches_tracked.dtype == mg.int64
    net.to(dtype=mg.float32, non_blocking=True)
    weight = net.out.weight
    assert net.to_empty(device="cpu").out.weight is weight and weight.requires_grad and weight.shape == (1, 3)
    for convert, kind in ((net.half, mg.float16), (net.bfloat16, mg.bfloat16), (net.float, mg.float32), (net.double, mg.float64)):
        assert convert().out.weight.dtype == kind
    assert net.type(mg.float32).out.weight.dtype == mg.float32


def test_module_lists():
    a, b, c, d = (nn.Linear(1, n) for n in (1, 2, 3, 4))
    modules = nn.ModuleList([a, c])
    modules.insert(1, b)
    modules += [d]
    assert list(modules) == [a, b, c, d] and b in modules and [n for n, _ in modules.named_children()] == ["0", "1", "2", "3"]
    assert modules.pop(1) is b and list(modules) == [a, c, d] and [n for n, _ in modules.named_children()] == ["0", "1", "2"]
    del modules[0:2]
    assert list(modules) == [d] and modules[-1] is d and list(modules + [a]) == [d, a] and list(modules[:0]) == []
    modules[0] = a
    assert modules[0] is a
    for wrong in (lambda: modules[5], lambda: modules.insert(9, a)):
        with pytest.raises(IndexError):
            wrong()
    assert "(0-1): 2 x ReLU()" in repr(nn.ModuleList([nn.ReLU(), nn.ReLU()])) and repr(nn.ModuleList()) == "ModuleList()"


def test_sequential_lists():
    a, b = nn.Linear(1, 1), nn.Tanh()
    net = nn.Sequential(a) + nn.Sequential(b)
    assert list(net) == [a, b] and len(net * 2) == 4
    net.insert(0, b)
    net.extend([a])
    del net[0]
    assert list(net) == [a, b, a] and net.pop(-1) is a and len(net) == 2
    assert list(net.parameters()) == list(a.parameters())


def test_module_dictionaries():
    a, b = nn.Tanh(), nn.ReLU()
    modules = nn.ModuleDict([["a", a], ["b", b]])
    assert list(modules) == ["a", "b"] and modules.pop("a") is a and list(modules.items()) == [("b", b)]
    modules.update({"c": a})
    del modules["b"]
    assert list(modules.values()) == [a]
    modules.clear()
    assert len(modules) == 0
    with pytest.raises(KeyError):
        modules["forward"] = a
    with pytest.raises(ValueError):
        modules.update([1])


def test_parameter_dictionaries():
    p = nn.ParameterDict({"a": mg.ones(1)})
    p |= {"b": mg.zeros(2)}
    assert p.get("c") is None and p.setdefault("c", mg.ones(3)).shape == (3,) and len(list(p.parameters())) == 3
    assert p.popitem()[0] == "c" and list(reversed(p)) == ["b", "a"] and list(p.copy()) == ["a", "b"]
    p.clear()
    assert len(p) == 0 and not list(p.parameters())
    q = nn.ParameterList([mg.ones(1), mg.ones(2)])
    q += [mg.ones(3)]
    assert q.pop(0).shape == (1,) and [t.shape for t in q] == [(2,), (3,)]
    assert [n for n, _ in q.named_parameters()] == ["0", "1"]


def test_parameters_are_drawn_anew():
    for module in (nn.Linear(20, 3), nn.Bilinear(2, 3, 4), nn.Embedding(5, 3, padding_idx=1), nn.PReLU(), nn.BatchNorm1d(3)):
        first = [t.tolist() for t in module.parameters()]
        with mg.no_grad():
            for t in module.parameters():
                t.fill_(50)
        module.apply(lambda m: m.reset_parameters())
        for before, t in zip(first, module.parameters()):
            assert t.max().item() < 20 and t.requires_grad
            assert len(set(t.flatten().tolist())) == 1 or t.tolist() != before
    assert nn.Embedding(5, 3, padding_idx=-1).weight[4].tolist() == [0, 0, 0]


def test_embeddings_of_others():
    table = mg.randn(4, 3)
    frozen = nn.Embedding.from_pretrained(table)
    assert not frozen.weight.requires_grad and len(list(frozen.parameters())) == 1
    close(frozen(mg.tensor([2])), table[2:3])
    bag = nn.EmbeddingBag.from_pretrained(table, freeze=False, mode="sum")
    close(bag(mg.tensor([[0, 1]])), table[:2].sum(0, keepdim=True))
    assert bag.weight.requires_grad
    short = nn.Embedding(4, 3, max_norm=0.5, _weight=table * 10)
    short(mg.tensor([1, 1]))
    lengths = short.weight.norm(dim=1).tolist()
    assert lengths[1] == pytest.approx(0.5, rel=1e-3) and lengths[0] > 0.6
    often = nn.Embedding(4, 3, scale_grad_by_freq=True)
    often(mg.tensor([1, 1, 2])).sum().backward()
    close(often.weight.grad, [[0] * 3, [1] * 3, [1] * 3, [0] * 3])


def test_summaries():
    net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Dropout(), nn.Linear(128, 10)).train()
    net[3].bias.requires_grad_(False)
    table = nn.summary(net, (32, 784))
    kinds = ["Sequential", "Linear", "ReLU", "Dropout", "Linear"]
    assert [row.kind for row in table.rows] == kinds and [row.depth for row in table.rows] == [0, 1, 1, 1, 1]
    assert table.rows[1].input_shape == (32, 784) and table.rows[1].output_shape == (32, 128)
    assert (table.total_params, table.trainable_params, table.param_bytes) == (101_770, 101_760, 4 * 101_770)
    assert table.rows[1].flops >= 2 * 32 * 784 * 128 and table.flops == sum(row.flops for row in table.rows[1:])
    assert table.rows[2].bytes == 2 * 4 * 32 * 128 and "3: Linear" in str(table) and "101,770" in str(table)
    assert net.training and net[2].training and not net._forward_hooks
    deep = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)
    assert [row.name for row in nn.summary(deep, mg.randn(3, 1, 8), depth=1).rows] == ["", "layers.0", "layers.1"]
    rows = nn.summary(nn.LSTM(3, 4), mg.randn(5, 2, 3)).rows
    assert rows[0].output_shape == [(5, 2, 4), (1, 2, 4), (1, 2, 4)]
    with pytest.raises(ValueError):
        nn.summary(net, (32, 7))
    assert not net._forward_hooks


def test_assignments_over_what_is_registered():
    """As in PyTorch: what has a kind takes that kind, or None."""
    net = nn.Module()
    net.part, net.weight = nn.Linear(1, 1), nn.Parameter(mg.ones(2))
    net.register_buffer("mean", mg.zeros(2))
    net.register_buffer("kept", None, persistent=False)
    for name, value in (("part", 5), ("part", mg.ones(1)), ("weight", 5), ("weight", nn.Linear(1, 1)), ("weight", mg.ones(2)), ("mean", 5), ("kept", "a")):
        before = getattr(net, name)
        with pytest.raises(TypeError, match=f"'{name}' is a (module|parameter|buffer)"):
            setattr(net, name, value)
        assert getattr(net, name) is before
    net.kept = mg.ones(1)
    assert dict(net.named_buffers()).keys() == {"mean", "kept"} and "kept" not in net.state_dict()
    for name in ("part", "weight", "mean"):
        setattr(net, name, None)
        assert getattr(net, name) is None
    net.part, net.mean = nn.Parameter(mg.ones(1)), nn.Linear(1, 1)
    assert [name for name, _ in net.named_parameters()] == ["part", "mean.weight", "mean.bias"] and list(net._modules) == ["mean"]
    del net.part
    net.part = 5
    assert net.part == 5 and "part" not in net._parameters


def test_errors_in_properties_are_their_own():
    class Net(nn.Module):
        @property
        def w(self):
            return self.a.nothing

        @functools.cached_property
        def c(self):
            raise AttributeError("not yet")

    net = Net()
    net.a = nn.Linear(1, 1)
    with pytest.raises(AttributeError, match="'Linear' has no attribute 'nothing'"):
        net.w
    with pytest.raises(AttributeError, match="not yet"):
        net.c
    with pytest.raises(AttributeError, match="'Net' has no attribute 'b'"):
        net.b


def numbers(module):
    return {name: t.tolist() for name, t in module.state_dict().items()}


@pytest.mark.parametrize("assign", [False, True])
def test_states_that_do_not_fit_change_nothing(assign):
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3), nn.BatchNorm1d(3))
    before, parts = numbers(net), [*net.parameters(), *net.buffers()]
    ones = {name: mg.ones_like(t) for name, t in net.state_dict().items()}

    def refused(state, match, strict=True):
        with pytest.raises(RuntimeError, match=match):
            net.load_state_dict(state, strict=strict, assign=assign)
        assert numbers(net) == before and all(a is b for a, b in zip(parts, [*net.parameters(), *net.buffers()]))

    misshapen = ones | {"1.weight": mg.ones(4, 2)}
    for strict in (True, False):
        refused(misshapen, r"size mismatch for 1.weight \(takes \(3, 2\), got \(4, 2\)\)", strict)
        refused(ones | {"0.bias": "text"}, "0.bias", strict)
    missing = {name: t for name, t in misshapen.items() if name != "0.weight"} | {"more": mg.ones(1)}
    refused(missing, r'(?s)Missing.*"0.weight".*Unexpected.*"more".*size mismatch for 1.weight')
    del missing["1.weight"]
    keys = net.load_state_dict(missing, strict=False, assign=assign)
    assert keys == (["0.weight", "1.weight"], ["more"]) and net[0].bias.tolist() == [1, 1] and net[1].weight.tolist() == before["1.weight"]


@pytest.mark.parametrize("assign", [False, True])
def test_what_hooks_do_not_excuse_is_taken_back(assign):
    net = nn.Sequential(nn.Linear(2, 2), Counting(), nn.LazyLinear(3))
    net[1].count = 4
    seen = []
    excused = ["0.bias"]

    def hook(module, keys):
        seen.append((module[0].weight.tolist(), list(keys.missing_keys)))
        for name in excused:
            keys.missing_keys.remove(name)

    net.register_load_state_dict_post_hook(hook)
    before = net[0].weight.tolist()
    state = {"0.weight": mg.ones(2, 2), "1._extra_state": {"count": 5}, "2.weight": mg.ones(3, 2)}
    for excused in (["0.bias"], ["no such name"]):
        with pytest.raises((ValueError, RuntimeError)):
            net.load_state_dict(state, assign=assign)
        # The hook saw what was loaded.
        assert seen.pop() == ([[1, 1], [1, 1]], ["0.bias", "2.bias"])
        assert net[0].weight.tolist() == before and net[1].count == 4 and nn.parameter.is_lazy(net[2].weight)
    excused = ["0.bias", "2.bias"]
    net.load_state_dict(state, assign=assign)
    assert net[0].weight.tolist() == [[1, 1], [1, 1]] and net[1].count == 5 and net[2].weight.shape == (3, 2)


def test_dictionaries_of_parameters_are_in_the_order_of_their_names():
    """As in PyTorch, whose optimisers know parameters by their place."""
    def names(given):
        return [name for name, _ in nn.ParameterDict(given).named_parameters()]

    b, a = mg.ones(1), mg.zeros(1)
    assert names({"b": b, "a": a}) == ["a", "b"]
    assert names(OrderedDict(b=b, a=a)) == names([("b", b), ("a", a)]) == names(nn.ParameterDict([("b", b), ("a", a)])) == ["b", "a"]
    p = nn.ParameterDict([("z", b)])
    p.update({"d": b, "c": a})
    assert list(p) == ["z", "c", "d"] and list(p | {"y": b, "x": b}) == ["z", "c", "d", "x", "y"]
    assert list(nn.ModuleDict({"b": nn.ReLU(), "a": nn.ReLU()})) == ["b", "a"]


def test_states_of_old_batch_norms():
    state = nn.BatchNorm1d(2).state_dict()
    assert state._metadata[""] == {"version": 2} and nn.InstanceNorm1d(2, track_running_stats=True).state_dict()._metadata[""]["version"] == 2
    del state["num_batches_tracked"]
    norm = nn.BatchNorm1d(2)
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        norm.load_state_dict(state)
    state._metadata[""]["version"] = 1
    norm.num_batches_tracked.fill_(3)
    assert repr(norm.load_state_dict(state)) == "<All keys matched successfully>" and norm.num_batches_tracked.item() == 3
    # What has no versions is old.
    assert nn.Sequential(nn.BatchNorm1d(2)).load_state_dict({f"0.{name}": t for name, t in state.items()}).missing_keys == []


def test_copies_share_what_is_registered():
    class Net(nn.Module):
        def __init__(self):
            self.a, self.w, self.x = nn.Linear(1, 1), nn.Parameter(mg.ones(1)), 1
            self.register_buffer("b", mg.zeros(1))

    net = Net()
    made = copy.copy(net)
    assert made is not net and made.a is net.a and made.w is net.w
    made.a, made.w, made.x, made.more = nn.Linear(2, 2), nn.Parameter(mg.zeros(3)), 2, nn.Tanh()
    assert net.a is made.a and net.w is made.w and net.x == 1 and net.more is made.more
    net.double()
    assert made.b is net.b and made.b.dtype == mg.float64
    del net.more
    assert not hasattr(made, "more")
    third = copy.copy(made)
    third.register_parameter("v", nn.Parameter(mg.ones(1)))
    assert net.v is third.v
    # In its own place it is by itself.
    made._modules = {"a": nn.Tanh()}
    assert isinstance(made.a, nn.Tanh) and isinstance(net.a, nn.Linear) and third.a is net.a
    assert copy.deepcopy(third).a is not third.a
    del made, third
    net.a = nn.Linear(3, 3)

    class Told(nn.Module):
        def __getstate__(self):
            return {**self.__dict__, "told": True}

    assert copy.copy(Told()).told


def test_parts_that_are_set():
    net = nn.Sequential(nn.Linear(1, 1), nn.Tanh())
    net._modules = {"x": nn.ReLU(), "y": None}
    assert list(net._modules) == ["x", "y"] and isinstance(net.x, nn.ReLU) and not hasattr(net, "0")
    net.register_buffer("b", mg.ones(1), persistent=False)
    net._buffers = {"b": mg.zeros(1), "c": mg.zeros(1)}
    assert list(net.state_dict()) == ["c"]
    net._parameters = {}
    assert list(net.parameters()) == []


def test_names_of_buffers_that_are_not_saved_are_live():
    net = nn.Module()
    net.register_buffer("a", mg.zeros(1))
    net.register_buffer("b", mg.zeros(1), persistent=False)
    names = net._non_persistent_buffers_set
    assert names == {"b"} and names - {"b"} == set() and len(names) == 1 and repr(names) == "{'b'}"
    names.add("a")
    assert list(net.state_dict()) == [] and "a" in names
    names.discard("b")
    assert list(net.state_dict()) == ["b"]
    names.add("no buffer")
    net._non_persistent_buffers_set = {"b"}
    assert list(net.state_dict()) == ["a"]
    assert net._buffers | {"c": 1} == {"a": net.a, "b": net.b, "c": 1} and list({"c": 1} | net._buffers) == ["c", "a", "b"]


def test_hooks_by_number_are_functions():
    seen = []
    layer = nn.Linear(2, 1)
    assert len(layer._forward_hooks) == 0 and layer._hooks is None and repr(layer._backward_hooks) == "{}"

    def first(module, args, output):
        seen.append("first")

    def second(module, args, kwargs, output):
        seen.append("second")

    handle = layer.register_forward_hook(first)
    after = layer.register_forward_hook(second, with_kwargs=True)
    assert list(layer._forward_hooks.items()) == [(handle.id, first), (after.id, second)]
    layer._forward_hooks.move_to_end(handle.id)
    layer(mg.ones(1, 2))
    layer._forward_hooks.move_to_end(handle.id, last=False)
    layer(mg.ones(1, 2))
    assert seen == ["second", "first", "first", "second"]
    # How it is called stays as it was registered.
    layer._forward_hooks[after.id] = lambda module, args, kwargs, output: output * 0
    assert layer(mg.ones(1, 2)).item() == 0
    del layer._forward_hooks[after.id]
    handle.remove()
    assert not layer._forward_hooks
    with pytest.raises(KeyError):
        layer._forward_hooks.move_to_end(handle.id)
    layer.register_forward_pre_hook(lambda module, args: (args[0] * 0,))
    kept = copy.deepcopy(layer)
    layer._forward_pre_hooks = OrderedDict()
    with mg.no_grad():
        layer.bias.zero_(), kept.bias.zero_(), layer.weight.fill_(1.0)
    assert layer(mg.ones(1, 2)).item() == 2 and kept(mg.ones(1, 2)).item() == 0 and len(kept._forward_pre_hooks) == 1
    layer._forward_hooks = {0: lambda module, args, output: output + 1}
    assert layer(mg.ones(1, 2)).item() == 3


def test_parts_among_the_attributes():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)
            self.register_buffer("seen", mg.zeros(1))

        def __getattr__(self, name):
            parts = self.__dict__["_modules"]
            return getattr(parts["inner"], name) if name in ("in_features",) else super().__getattr__(name)

    net = Net()
    own = net.__dict__
    assert list(own["_modules"]) == ["inner"] and list(own["_buffers"]) == ["seen"] and not own["_parameters"] and net.in_features == 2
    assert list(net.inner.__dict__["_parameters"]) == ["weight", "bias"] and "_parameters" in vars(net) and isinstance(own.get("_modules"), dict | nn.Module._modules.fget(net).__class__)
    weight = nn.Parameter(mg.ones(2, 2))
    net.inner.__dict__["_parameters"]["weight"] = weight
    own["_buffers"]["more"] = mg.ones(1)
    assert net.inner.weight is weight and net.inner._parameters["weight"] is weight and list(net.state_dict()) == ["seen", "more", "inner.weight", "inner.bias"]
    del own["_buffers"]["more"]
    assert not hasattr(net, "more") and own["_modules"] == net._modules
    for other in (copy.deepcopy(net.inner), pickle.loads(pickle.dumps(net.inner)), copy.copy(net.inner)):
        parts = other.__dict__["_parameters"]
        assert parts["weight"] is other.weight and list(parts) == ["weight", "bias"] and set(vars(other)) == set(vars(net.inner))

    class Stated(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(1, 1)

        def __getstate__(self):
            return self.__dict__.copy()

    for other in (copy.deepcopy(Stated()), copy.copy(Stated())):
        assert other.__dict__["_modules"]["layer"] is other.layer
    left = nn.Linear(1, 1).__dict__["_parameters"]
    with pytest.raises(ReferenceError, match="gone"):
        len(left)
