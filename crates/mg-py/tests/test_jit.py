"""Steps that are recorded and replayed, and what `explain` says of a line."""

from __future__ import annotations

import collections
import dataclasses
import types
from xml.etree import ElementTree

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor, nn, optim


OPTIMISERS = [
    lambda p: optim.SGD(p, lr=0.05),
    lambda p: optim.SGD(p, lr=0.05, momentum=0.9),
    lambda p: optim.Adam(p, lr=0.05),
    lambda p: optim.AdamW(p, lr=0.05, amsgrad=True),
]


def test_replay():
    @mg.jit
    def f(x, y):
        """Its words."""
        return (x * y + 1).sum()

    for i in range(6):
        close(f(mg.full((3,), float(i)), mg.ones(3)), 3 * i + 3)
    assert f.is_replaying, f.reason
    assert f.__name__ == "f" and f.__doc__ == "Its words." and f.__wrapped__.__name__ == "f" and "jit(" in repr(f)
    # Another shape is recorded anew.
    close(f(mg.ones(2, 2), mg.ones(2, 2)), 8)


def test_parts_of_one_tensor():
    """A loop over a tensor gives a step another part each time: it is replayed, whatever views the step makes of it."""
    data = mg.arange(64 * 8).float().view(64, 8)
    host = [[float(8 * i + j) for j in range(8)] for i in range(64)]
    steps = {
        "itself": (lambda x: (x * 2).sum(), lambda x: 2 * sum(map(sum, x))),
        "turned": (lambda x: (x.T * mg.ones(8, 8)).sum(0)[0], lambda x: sum(x[0])),
        "seen otherwise": (lambda x: x.unsqueeze(1).view(4, 16).sum(1)[1], lambda x: sum(x[2]) + sum(x[3])),
        "sliced": (lambda x: (x[1:] - x[:-1]).sum(), lambda x: sum(x[-1]) - sum(x[0])),
    }
    for name, (of, want) in steps.items():
        step = mg.jit(of)
        for at in (0, 8, 16, 3, 40, 40, 56):
            close(step(data[at : at + 8]), want(host[at : at + 8]))
        assert step.is_replaying, (name, step.reason)
    # Two parts of one, which may overlap.
    step = mg.jit(lambda x, y: (x * y.flip(0)).sum())
    for at in (0, 4, 8, 1, 0, 28):
        x, y = host[at : at + 8], host[2 * at : 2 * at + 8]
        want = sum(a * b for p, q in zip(x, reversed(y), strict=True) for a, b in zip(p, q, strict=True))
        close(step(data[at : at + 8], data[2 * at : 2 * at + 8]), want)
    assert step.is_replaying, step.reason

    def writes(x, y):
        x.add_(1)
        return (x * y).sum()

    # What is written to one part is seen in the other: as without `jit`.
    step, other = mg.jit(writes), data.clone()
    for at in (0, 2, 4, 4, 0, 1):
        close(step(data[at : at + 4], data[2:6]), writes(other[at : at + 4], other[2:6]))
        close(data, other)
    assert "several of its arguments" in str(step.reason)


def test_fixed_arguments():
    @mg.jit
    def f(x, power, *, scale=1.0):
        return {"a": [x**power * scale], "b": (x, "text", None)}

    x = mg.tensor([2.0])
    for power in (2, 3, 2, 2, 2):
        out = f(x, power, scale=2.0)
        assert out["a"][0].tolist() == [2 * 2.0**power] and out["b"][0].tolist() == [2] and out["b"][1:] == ("text", None)
    # Numbers by type and value, containers by what is in them, keywords by name.
    g = mg.jit(lambda x, n=None, *, scale=None, shift=None: x / n[0] if n else x * scale if scale else x + shift)
    for _ in range(4):
        assert g(mg.ones(1), [0.0]).tolist() == [float("inf")] and g(mg.ones(1), [-0.0]).tolist() == [-float("inf")]
        assert g(mg.ones(1), (2,)).tolist() == [0.5] and g(mg.ones(1), {0: True}).tolist() == [1.0]
        assert g(mg.ones(1), scale=3.0).tolist() == [3.0] and g(mg.ones(1), shift=3.0).tolist() == [4.0]
        assert g(mg.ones(1), shift=mg.tensor([5.0])).tolist() == [6.0]


@pytest.mark.parametrize("make", OPTIMISERS, ids=["sgd", "momentum", "adam", "adamw"])
def test_training_is_as_without(make):
    def trained(wrap):
        mg.manual_seed(3)
        net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        optimiser = make(net.parameters())

        @wrap
        def step(x, y):
            loss = nn.functional.cross_entropy(net(x), y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            return loss

        losses = []
        for i in range(12):
            mg.manual_seed(i)
            losses.append(step(mg.randn(16, 4), mg.randint(2, (16,))).item())
        assert wrap is not mg.jit or step.is_replaying
        return losses, [p.tolist() for p in net.parameters()], optimiser.state_dict()["state"]

    (losses, parameters, state), (losses_without, parameters_without, state_without) = trained(mg.jit), trained(lambda f: f)
    close(losses, losses_without)
    close(parameters, parameters_without, rtol=1e-4)
    assert state.keys() == state_without.keys()
    for i, entries in state.items():
        for name, t in entries.items():
            close(t, state_without[i][name], rtol=1e-4)


LAYERS = {
    "plain": lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)),
    # Random numbers, and state that the forward changes.
    "dropout": lambda: nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.GELU(), nn.Linear(8, 2)),
    "batchnorm": lambda: nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)),
    "layernorm": lambda: nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 2)),
}


@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("what", ["model", "loss"])
def test_a_replayed_forward_in_a_training_loop_is_as_without(layers, what):
    def trained(wrap):
        mg.manual_seed(3)
        net = LAYERS[layers]()
        optimiser = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
        model = wrap(lambda x: net(x))
        loss_of = wrap(lambda x, y: nn.functional.cross_entropy(net(x), y))
        losses = []
        for i in range(14):
            x, y = mg.randn(16, 4), mg.randint(2, (16,))
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y) if what == "model" else loss_of(x, y)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            if i % 5 == 4:
                # Evaluated in between, and changed by hand.
                net.eval()
                losses.append(model(x).sum().item())
                net.train()
                with mg.no_grad():
                    net[0].weight.mul_(0.5)
        used = model if what == "model" else loss_of
        assert wrap is not mg.jit or used.is_replaying, used.reason
        return losses, [p.tolist() for p in net.parameters()], [b.tolist() for b in net.buffers()]

    (losses, parameters, buffers), without = trained(mg.jit), trained(lambda f: f)
    close(losses, without[0], rtol=1e-5)
    for got, want in ((parameters, without[1]), (buffers, without[2])):
        for a, b in zip(got, want):
            close(a, b, rtol=1e-4)


def test_an_answer_has_the_history_that_the_function_would_have_given_it():
    w = mg.tensor([2.0, 3.0], requires_grad=True)

    @mg.jit
    def f(x):
        y = x * w
        return {"sum": (y * y).sum(), "parts": [y, y[0]]}

    x = mg.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(4):
        f(x)
    assert f.is_replaying, f.reason
    for _ in range(5):
        w.grad = x.grad = None
        out = f(x)
        assert out["sum"].requires_grad and not out["sum"].is_leaf and out["parts"][1].requires_grad
        out["sum"].backward(retain_graph=True)
        out["sum"].backward()
        assert w.grad.tolist() == [8, 48] and x.grad.tolist() == [16, 72]
        with pytest.raises(RuntimeError, match="retain_graph"):
            out["sum"].backward()
        # To an answer, through a part of one, and of a gradient.
        out = f(x)
        (g,) = mg.autograd.grad(out["sum"], out["parts"][0], retain_graph=True)
        assert g.tolist() == [4, 12]
        (g,) = mg.autograd.grad(out["parts"][1], w, retain_graph=True)
        assert g.tolist() == [1, 0]
        (g,) = mg.autograd.grad(out["sum"], x, create_graph=True)
        (g,) = mg.autograd.grad(g.sum(), x)
        assert g.tolist() == [8, 18]
        # A part is a part: what is written to it is seen.
        out = f(x)
        with mg.no_grad():
            out["parts"][1].fill_(7.0)
        assert out["parts"][0].tolist() == [7, 6]
        # What the gradient needs was changed.
        out = f(x)
        with mg.no_grad():
            w.mul_(1.0)
        with pytest.raises(RuntimeError, match="changed in place"):
            out["sum"].backward()


def test_a_replayed_backward_fails_as_the_function_s():
    """A label that is not there is told of, and nothing was changed."""
    net = nn.Linear(3, 2)
    f = mg.jit(lambda x, y: nn.functional.cross_entropy(net(x), y))
    x, good = mg.randn(4, 3), mg.tensor([0, 1, 1, 0])
    for _ in range(6):
        net.zero_grad()
        f(x, good).backward()
    assert f.is_replaying, f.reason
    before = net.weight.grad.tolist()
    with pytest.raises(IndexError):
        f(x, good + 5).backward()
    assert net.weight.grad.tolist() == before
    net.zero_grad()
    f(x, good).backward()
    assert net.weight.grad.tolist() == before


def test_methods():
    class Model:
        def __init__(self):
            self.k = mg.tensor([3.0])

        @mg.jit
        def f(self, x):
            return x * self.k

    model = Model()
    for _ in range(4):
        assert model.f(mg.tensor([2.0])).tolist() == [6]


def test_errors_come_through():
    @mg.jit
    def f(x):
        raise ZeroDivisionError("mine")

    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="mine"):
            f(mg.ones(1))

    @mg.jit
    def shapes(x):
        return x + mg.ones(3)

    with pytest.raises(ValueError, match="add"):
        shapes(mg.ones(2))
    with pytest.raises(TypeError, match="function"):
        mg.jit(5)

    @mg.jit
    def again(x, n):
        return again(x, n - 1) + 1 if n else x

    for _ in range(4):
        assert again(mg.ones(1), 3).tolist() == [4.0]


def test_explain():
    a, b = Tensor(mg.rand(100, 100)), Tensor(mg.rand(100, 100))
    mg.realize(a, [b])
    loss = ((a * b + a).relu() ** 2).sum()
    loss.backward()
    plan = mg.explain(loss, a.grad, b.grad)
    assert len(plan) == len(plan.launches) == 1
    launch = plan.launches[0]
    assert launch["bytes_read"] == 2 * 40_000 and launch["operations"] and launch["shape"] == (100, 100)
    assert plan.dot().startswith("digraph") and str(plan).strip() and plan.temporary_bytes >= 0
    assert plan.svg().count("<rect ") == len(plan) and plan._repr_html_() == plan.svg()
    ElementTree.fromstring(plan.svg())
    assert not loss.is_realized and loss.realize().is_realized
    assert len(mg.explain(loss)) == 0
    with pytest.raises(TypeError):
        mg.explain(5)


def test_realize():
    t = mg.ones(3) + 1
    assert not t.is_realized
    mg.realize(t, (t * 2, [t * 3]))
    assert t.is_realized
    with pytest.raises(TypeError):
        mg.realize(5)


def test_steps_that_cannot_be_replayed():
    """The engine's reasons, without the lines of our Rust."""
    made = [0.0]

    def number(x):
        made[0] += 1
        return x * made[0]

    def fresh(x):
        made[0] += 1
        return x + mg.tensor(made)

    def read(x):
        return x * 2 if x.sum() > 0 else x

    def shown(x):
        str(x * 2)
        return x * 2

    for step, why in (
        (number, "a number was not the same both times: make it an argument or a tensor"),
        (fresh, "a tensor was not the same both times: make it an argument"),
    ):
        made[0] = 0
        step = mg.jit(step)
        got = [step(mg.ones(2)).tolist() for _ in range(30)]
        made[0] = 0
        assert got == [step.__wrapped__(mg.ones(2)).tolist() for _ in range(30)]
        assert not step.is_replaying
    for step, why in (
        (read, "the host reads a value inside the step"),
        (shown, "a tensor is printed inside the step"),
    ):
        with pytest.raises(ValueError, match=why):
            mg.jit(step)(mg.ones(2))


def test_numbers_of_contexts_and_threads():
    import contextvars
    import threading

    scale, local = contextvars.ContextVar("scale", default=2.0), threading.local()
    empty = contextvars.ContextVar("empty")
    local.shift = 1.0

    @mg.jit
    def f(x):
        return x * scale.get() + local.shift + empty.get(0.0)

    x = mg.ones(1)
    for _ in range(4):
        assert f(x).item() == 3
    assert f.is_replaying, f.reason
    scale.set(5.0)
    assert f(x).item() == 6
    local.shift = 2.0
    assert f(x).item() == 7
    empty.set(1.0)
    assert f(x).item() == 8
    assert contextvars.Context().run(f, x).item() == 4
    found = []

    def other():
        local.shift = 10.0
        found.append(f(x).item())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [12]


def test_nobody_is_kept_by_what_is_recorded():
    import gc
    import weakref

    class Trainer:
        def __init__(self, k):
            self.net = nn.Linear(1, 1, bias=False)
            self.net.weight.data = mg.tensor([[k]])

        @mg.jit
        def step(self, x):
            return self.net(x) * 1

    @mg.jit
    def with_model(net, x):
        return net(x) * 1

    x = mg.ones(1, 1)
    for k in (1.0, 2.0, 3.0, 4.0):
        trainer = Trainer(k)
        with mg.no_grad():
            for _ in range(4):
                assert trainer.step(x).item() == with_model(trainer.net, x).item() == k
        assert Trainer.step.is_replaying and with_model.is_replaying
        gone = weakref.ref(trainer), weakref.ref(trainer.net), weakref.ref(trainer.net.weight)
        del trainer
        gc.collect()
        assert [g() for g in gone] == [None] * 3


def test_what_was_written_through_data_before_a_step_is_not_its_own():
    w = mg.Tensor([1.0])
    with mg.no_grad():
        w[:,] = 1.0

    @mg.jit
    def double(x):
        with mg.no_grad():
            w.add_(w)
        return x + 1

    x = mg.zeros(1)
    expected = 1.0
    for k in range(6):
        if k in (0, 1, 4):
            w.data.add_(0.0)
        double(x)
        expected *= 2
        assert w.tolist() == [expected]
    assert double.reason is None


def test_captured_tensors_that_are_frozen():
    v, w = mg.Tensor([1.0]), mg.Tensor([2.0])

    @mg.jit
    def step(x):
        (v * w * x).sum().backward()
        return x * 1

    x = mg.ones(1)
    for _ in range(4):
        step(x)
    assert v.grad.tolist() == [8] and w.grad.tolist() == [4]
    w.requires_grad_(False)
    for _ in range(4):
        step(x)
    assert v.grad.tolist() == [16] and w.grad.tolist() == [4]
    w.requires_grad_()
    step(x)
    assert v.grad.tolist() == [18] and w.grad.tolist() == [5]


def test_a_gradient_that_a_step_hands_back_is_the_one_there_is():
    w = mg.zeros(1)
    w.grad = mg.ones(1)
    step = mg.jit(lambda x: (w.grad, x * 1))
    for _ in range(3):
        assert step(mg.zeros(1))[0].tolist() == [1]
    w.grad = mg.tensor([7.0])
    held = step(mg.zeros(1))[0]
    w.grad.add_(1)
    assert held.tolist() == [8]


@dataclasses.dataclass
class Batch:
    x: object
    scale: float = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    y: object
    name: str = "n"


class Plain:
    def __init__(self, x, scale=1.0):
        self.x, self.scale = x, scale


class Slotted:
    __slots__ = ("scale", "x")

    def __init__(self, x, scale=1.0):
        self.x, self.scale = x, scale


Named = collections.namedtuple("Named", "y n")


@pytest.mark.parametrize("kind", [Batch, Plain, Slotted, types.SimpleNamespace, dict])
def test_objects_that_are_made_for_each_call_are_arguments_by_what_is_in_them(kind):
    def make(i, scale=1.0):
        if kind is dict:
            return {"x": mg.full((2,), float(i)), "scale": scale}
        return kind(x=mg.full((2,), float(i)), scale=scale)

    @mg.jit
    def f(b):
        x, scale = (b["x"], b["scale"]) if kind is dict else (b.x, b.scale)
        return x * scale

    for i in range(8):
        assert f(make(i)).tolist() == [i, i]
        assert f.is_replaying == (i >= 3) or i == 2, f.reason
    # Numbers in them are part of what is recorded.
    assert f(make(3, 2.0)).tolist() == [6, 6] and f(make(3)).tolist() == [3, 3]


def test_answers_are_made_anew_whatever_they_are():
    """Objects of a replay hold its tensors, not those of the call that was recorded."""
    for make in (
        lambda y: Batch(y, 2.0),
        lambda y: Frozen(y),
        lambda y: Plain(y),
        lambda y: Slotted(y),
        lambda y: Named(y, 3),
        lambda y: types.SimpleNamespace(y=y, inner=[Batch(y)]),
    ):
        f = mg.jit(lambda x, make=make: make(x * 2))
        made = [f(mg.full((1,), float(i))) for i in range(7)]
        assert f.is_replaying, f.reason
        assert len({id(m) for m in made}) == 7 and len({type(m) for m in made}) == 1
        assert [(m.x if hasattr(m, "x") else m.y).item() for m in made] == [2.0 * i for i in range(7)]
    assert made[-1].inner[0].x.item() == 12
    assert Frozen(1).name == mg.jit(lambda x: Frozen(x))(mg.ones(1)).name
    # What it was given is given back; what it knows from elsewhere stays that.
    state = Plain(mg.ones(1))
    g = mg.jit(lambda b, c: (b, c, state, b.x + 1))
    for i in range(6):
        b, c = Batch(mg.full((1,), float(i))), [1]
        answer = g(b, c)
        assert answer[0] is b and answer[1] is c and answer[2] is state and answer[3].item() == i + 1
    assert g.is_replaying, g.reason
    # Of what cannot be made again the function makes it.
    h = mg.jit(lambda x: ({1, 2}, x * 1))
    sets = [h(mg.ones(1))[0] for _ in range(6)]
    assert len({id(s) for s in sets}) == 6 and not h.is_replaying and "object" in h.reason


def test_what_is_changed_in_arguments_and_around_is_changed_each_time():
    def into_dict(d):
        d["h"] = d["x"] * 2
        return d["x"] + 1

    def into_list(d):
        d.append(d[0] * 2)
        return d[0] + 1

    def into_object(d):
        d.x = d.x * 2
        return d.x + 1

    for step, make, read in (
        (into_dict, lambda x: {"x": x}, lambda d: d["h"]),
        (into_list, lambda x: [x], lambda d: d[1]),
        (into_object, Batch, lambda d: d.x),
        (into_object, Plain, lambda d: d.x),
    ):
        f = mg.jit(step)
        for i in range(7):
            given = make(mg.full((1,), float(i)))
            f(given)
            assert read(given).item() == 2 * i
        assert not f.is_replaying and "changes" in f.reason
    seen, kept = [], Plain(None)

    @mg.jit
    def log(x):
        y = x * 3
        seen.append(y)
        kept.x = y
        return y

    for i in range(8):
        log(mg.full((1,), float(i)))
        assert kept.x.item() == 3 * i
    assert [y.item() for y in seen] == [3.0 * i for i in range(8)]
    assert "changes what it finds around it" in log.reason and not log.is_replaying


class Settings:
    def __init__(self):
        self.calls, self.rate = 0, 1.0


@pytest.mark.parametrize(
    "around",
    [lambda: {"calls": 0, "rate": 1.0}, lambda: [0, 1.0], lambda: {"log": [], "rate": 1.0}, Settings],
    ids=["dict", "list", "log", "object"],
)
def test_a_step_that_changes_what_it_finds_around_it_is_called(around):
    state = around()

    def step(x):
        if isinstance(state, Settings):
            state.calls += 1
            return x * state.rate
        if isinstance(state, list):
            state[0] += 1
            return x * state[1]
        if "log" in state:
            state["log"].append(1)
        else:
            state["calls"] += 1
        return x * state["rate"]

    def set_to(rate):
        if isinstance(state, Settings):
            state.rate = rate
        elif isinstance(state, list):
            state[1] = rate
        else:
            state["rate"] = rate

    f = mg.jit(step)
    for k in range(80):
        if k % 10 == 9:
            set_to(float(k))
        now = 1.0 if k < 9 else float(k - (k - 9) % 10)
        assert f(mg.tensor([2.0])).tolist() == [2.0 * now], k
        assert not f.is_replaying and "changes what it finds" in f.reason
    counted = state.calls if isinstance(state, Settings) else state[0] if isinstance(state, list) else len(state["log"]) if "log" in state else state["calls"]
    assert counted == 80


class Inner:
    rates = {"a": 1.0}

    def __init__(self):
        self.beta = 0.0

    def __call__(self, x):
        return x * self.beta


class Outer:
    def __init__(self):
        self.inner, self.list = Inner(), [Inner()]

    def step(self, x):
        return self.inner(x) + self.list[0](x)


FACTOR = 1.0
FUNCTIONS = {"f": lambda x: x * FACTOR}


def test_what_code_that_runs_within_a_step_finds_around_it_is_seen():
    """Objects in objects, layers' settings, globals of functions in containers, attributes of classes, names that are made up."""
    global FACTOR
    outer, inner, name = Outer(), Inner(), ["be", "ta"]
    settings = types.SimpleNamespace(scale=1.0)

    class Scaled(nn.Module):
        def __init__(self, settings):
            super().__init__()
            self.settings = settings

        def forward(self, x):
            return x * self.settings.scale

    net = nn.Sequential(nn.Identity(), Scaled(settings))
    hooked, seen = nn.Identity(), {"by": 1.0}
    hooked.register_forward_hook(lambda module, inputs, answer: answer * seen["by"])
    steps = [
        (outer.step, lambda v: (setattr(outer.inner, "beta", v), setattr(outer.list[0], "beta", v)), 2.0),
        (lambda x: net(x), lambda v: setattr(settings, "scale", v), 1.0),
        (lambda x: hooked(x), lambda v: seen.__setitem__("by", v), 1.0),
        (lambda x: FUNCTIONS["f"](x), lambda v: globals().__setitem__("FACTOR", v), 1.0),
        (lambda x: x * Inner.rates["a"], lambda v: Inner.rates.__setitem__("a", v), 1.0),
        (lambda x: x * inner.rates["a"], lambda v: Inner.rates.__setitem__("a", v), 1.0),
        (lambda x: x * getattr(inner, "".join(name)), lambda v: setattr(inner, "beta", v), 1.0),
    ]
    x = mg.ones(1)
    for step, change, factor in steps:
        f = mg.jit(step)
        change(1.0)
        for _ in range(5):
            assert f(x).item() == factor
        assert f.is_replaying, f.reason
        for v in (3.0, 4.0, 4.0, 4.0, 4.0, 1.0):
            change(v)
            assert f(x).item() == factor * v, step
        assert f.is_replaying, f.reason
        change(1.0)


def test_functions_that_are_put_in_the_place_of_others_have_variables_of_their_own():
    def scaling(by):
        return (lambda x: x * by[0]), by

    held = {}
    held["f"], first = scaling([2.0])
    f = mg.jit(lambda x: held["f"](x))
    for _ in range(5):
        assert f(mg.ones(1)).item() == 2.0
    assert f.is_replaying
    held["f"], second = scaling([3.0])
    for _ in range(5):
        assert f(mg.ones(1)).item() == 3.0
    assert f.is_replaying
    second[0] = 4.0
    assert f(mg.ones(1)).item() == 4.0
    assert first == [2.0]


def test_a_step_that_draws_from_elsewhere_or_goes_through_an_iterator_is_called():
    import itertools
    import random

    import numpy as np

    turns, generator = itertools.cycle([1.0, 1.0, 1.0, 1.0, 5.0]), np.random.default_rng(0)
    for step in (
        lambda x: x * next(turns),
        lambda x: x * random.choice([1.0, 1.0, 2.0]),
        lambda x: x * float(generator.integers(2)),
        lambda x: x * float(np.random.randint(2)),
    ):
        f = mg.jit(step)
        for _ in range(10):
            f(mg.ones(1))
            assert not f.is_replaying and f.reason


def test_a_step_that_draws_while_a_loader_has_workers_is_called():
    import random

    class Own(random.Random):
        pass

    own = Own(3)
    loop = iter(mg.utils.data.DataLoader(mg.utils.data.TensorDataset(mg.arange(9)), num_workers=1))
    next(loop)
    for step in (lambda x: x * random.random(), lambda x: x * random.choice([1.0, 2.0]), lambda x: x * own.random()):
        f = mg.jit(step)
        assert len({f(mg.ones(1)).item() for _ in range(20)}) > 1
        assert not f.is_replaying and f.reason
    assert len(list(loop)) == 8


def test_a_step_whose_state_others_change_each_time_is_called():
    state = {"calls": 0, "rate": 0.0}

    @mg.jit
    def step(x):
        state["calls"] += 1
        return x + state["rate"]

    for k in range(40):
        state["rate"] = float(k // 2)
        assert step(mg.tensor([1.0])).tolist() == [1.0 + k // 2]


def test_modes_of_modules_that_count():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls, self.drop = 0, nn.Dropout(1.0)

        def forward(self, x):
            self.calls += 1
            return self.drop(x)

    module = Counts()
    f = mg.jit(lambda x: module(x))
    for k in range(40):
        module.train(k % 14 < 7)
        assert f(mg.tensor([3.0])).tolist() == [0.0 if module.training else 3.0], k


def test_a_gradient_that_a_kernel_is_given_later():
    w = mg.tensor([3.0], requires_grad=True)

    @mg.kernel
    def squared(x):
        return x * x

    @squared.gradient
    def first(x):
        return 5 * x

    @mg.kernel
    def around(x):
        return squared(x) + 0

    @mg.jit
    def step(x):
        return mg.autograd.grad((around(w) * x).sum(), w)[0]

    for _ in range(5):
        assert step(mg.tensor([1.0])).tolist() == [15]
    assert step.is_replaying

    @squared.gradient
    def second(x):
        return 7 * x

    for _ in range(5):
        assert step(mg.tensor([1.0])).tolist() == [21]


def test_what_was_replayed_for_one_shape_is_replayed_after_any_number_of_others():
    f = mg.jit(lambda x: x * 2)
    for n in [1000] * 3 + list(range(1, 150)) + [1000, 7, 1000]:
        assert f(mg.ones(n)).tolist() == [2.0] * n
    total = mg.zeros(1)
    g = mg.jit(lambda x: total.add_(x.sum()))
    for n in [500] * 4 + list(range(1, 150)) + [500] * 2:
        g(mg.ones(n))
    assert total.item() == 6 * 500 + sum(range(1, 150))


def test_options_stand_above_a_function_too():
    @mg.jit(may_read=True)
    def step(x):
        return x * 2 if x.sum().item() > 0 else x

    @mg.jit()
    def twice(x):
        return x * 2

    for _ in range(3):
        assert (step(mg.ones(1)).item(), twice(mg.ones(1)).item()) == (2.0, 2.0)
    assert twice.is_replaying and not step.is_replaying


def test_operations_of_known_shapes_that_look_at_values_are_called_as_they_are():
    index, q = mg.tensor([0, 1, 1]), mg.tensor([0.25, 0.5])
    steps = [
        lambda x: x.scatter_reduce(0, index, x, "prod"),
        lambda x: x.index_reduce(0, index, x, "prod"),
        lambda x: x.scatter(0, index, x, reduce="multiply"),
        lambda x: x.repeat_interleave(index, output_size=2),
        lambda x: x.quantile(q),
        lambda x: mg.segment_reduce(x, "sum", lengths=mg.tensor([1, 2])),
    ]
    for step in steps:
        jitted = mg.jit(step)
        for i in range(3):
            x = mg.arange(3.0) + i
            assert jitted(x).tolist() == step(x).tolist()
