"""What every optimiser does: recorded steps, failed ones, options that change, hooks."""

from __future__ import annotations

import copy
import inspect

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor, nn, optim
from micrograd_rs.optim import kinds

RULES = [kind for kind in kinds.__all__ if kind != "LBFGS"]


@pytest.mark.parametrize("kind", RULES)
def test_defaults_are_the_engines(kind):
    got = inspect.signature(getattr(optim, kind)).parameters
    wanted = mg._micrograd_rs._optimizer_defaults(kind)
    named = wanted.keys() & got.keys()
    assert "lr" in named and {name: got[name].default for name in named} == {name: wanted[name] for name in named}


def made(kind, params, **options):
    """With something to remember."""
    return getattr(optim, kind)(params, **options, **({"momentum": 0.9} if kind == "SGD" else {}))


def model(kind):
    mg.manual_seed(3)
    return nn.Linear(4, 3, bias=kind != "Muon")


def batches(n):
    mg.manual_seed(5)
    return [(mg.randn(8, 4), mg.randn(8, 3)) for _ in range(n)]


@pytest.mark.parametrize("kind", RULES)
def test_recorded_steps_are_the_same(kind):
    """Step counts, corrections and learning rates go on under jit; a state that is loaded is gone on with."""
    nets = [model(kind), model(kind)]
    optimisers = [made(kind, net.parameters(), lr=0.05) for net in nets]

    def plain(net, o, x, y):
        o.zero_grad()
        loss = (net(x) - y).square().mean()
        loss.backward()
        o.step()
        return loss.detach()

    recorded = mg.jit(lambda x, y: plain(nets[1], optimisers[1], x, y))
    saved = None
    for i, (x, y) in enumerate(batches(14)):
        a, b = plain(nets[0], optimisers[0], x, y), recorded(x, y)
        close(b, a.item(), rtol=1e-5)
        for o in optimisers:
            o.param_groups[0]["lr"] *= 0.9
        if i == 8:
            assert recorded.is_replaying
            saved = [copy.deepcopy(o.state_dict()) for o in optimisers]
        if i == 10:
            for o, state in zip(optimisers, saved):
                o.load_state_dict(state)
    for p, q in zip(*(net.parameters() for net in nets)):
        close(q, p.tolist(), rtol=1e-5, atol=1e-6)
    for a, b in zip(*(o.state_dict()["state"].values() for o in optimisers)):
        assert a.keys() == b.keys()
        for name in a:
            close(b[name], a[name].tolist(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("make", "key", "values"), [
    (lambda p: optim.SGD(p, lr=0.1, momentum=0.9), "momentum", [0.5, 0.8]),
    (lambda p: optim.AdamW(p, lr=0.1), "betas", [(0.5, 0.999), (0.8, 0.9)]),
    (lambda p: optim.NAdam(p, lr=0.1), "betas", [(0.5, 0.999), (0.8, 0.9)]),
])
def test_recorded_steps_heed_what_schedules_change(make, key, values):
    starts = [Tensor([1.0, -2.0]), Tensor([1.0, -2.0])]
    optimisers = [make([p]) for p in starts]

    def step(p, o, x):
        o.zero_grad()
        (p * x).square().sum().backward()
        o.step()

    @mg.jit
    def recorded(x):
        step(starts[1], optimisers[1], x)
        return x * 1

    for i in range(10):
        if i >= 5:
            for o in optimisers:
                o.param_groups[0][key] = values[i % 2]
        x = mg.tensor([0.5 + i, 1.0])
        step(starts[0], optimisers[0], x)
        recorded(x)
    assert recorded.is_replaying
    close(starts[1], starts[0].tolist(), rtol=1e-6)


@pytest.mark.parametrize("kind", RULES)
def test_steps_that_fail_do_not_count(kind):
    """A gradient that cannot be computed, an index out of range, changes nothing of its parameter nor of what is remembered."""
    shape = (2, 2)
    w, other = Tensor(mg.ones(*shape)), Tensor(mg.ones(*shape))
    o = made(kind, [w, other], lr=0.1)

    def step(bad=False):
        o.zero_grad()
        rows = mg.tensor([0, 1]) * (5 if bad else 1)
        (w.index_select(0, rows) * 2).sum().backward()
        (other * 3).sum().backward()
        o.step()

    step()
    before, state = w.tolist(), o.state_dict()["state"][0]
    with pytest.raises(IndexError):
        step(bad=True)
    assert w.tolist() == before
    after = o.state_dict()["state"][0]
    assert after.keys() == state.keys()
    for name in state:
        assert after[name].tolist() == state[name].tolist(), name
    step()
    fresh = Tensor(mg.ones(*shape))
    twin = made(kind, [fresh], lr=0.1)
    for _ in range(2):
        twin.zero_grad()
        (fresh * 2).sum().backward()
        twin.step()
    close(w, fresh.tolist(), rtol=1e-6)


@pytest.mark.parametrize("kind", RULES)
def test_groups_make_one_plan(kind):
    """Two groups step as one, each with its options."""
    a, b, alone = (Tensor(mg.full((2, 2), 1.0)) for _ in range(3))
    o = made(kind, [{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    single = made(kind, [alone], lr=0.5)
    for _ in range(3):
        for p in (a, b, alone):
            p.grad = mg.tensor([[1.0, 2.0], [-1.0, 0.5]])
        o.step(), single.step()
    close(b, alone.tolist(), rtol=1e-6)
    assert a.tolist() != b.tolist()
    assert set(o.state) == {a, b} and o.state[b].keys() == single.state[alone].keys()


def test_named_parameters():
    net = nn.Linear(2, 1)
    o = optim.AdamW(net.named_parameters(), lr=0.1)
    assert o.param_groups[0]["param_names"] == ["weight", "bias"] and o.param_groups[0]["params"][0] is net.weight
    assert o.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    net(mg.ones(3, 2)).sum().backward()
    o.step()
    optim.AdamW(net.parameters()).load_state_dict(o.state_dict())


def test_hooks():
    p, seen = Tensor([1.0]), []
    o = optim.RMSprop([p])
    before = o.register_step_pre_hook(lambda of, args, kwargs: seen.append(("pre", of is o)))
    o.register_step_post_hook(lambda of, args, kwargs: seen.append(("post", of is o)))
    o.step()
    before.remove()
    o.step()
    assert seen == [("pre", True), ("post", True), ("post", True)]


def test_what_optimisers_refuse():
    w = Tensor([1.0])
    for wrong in (
        lambda: optim.Muon([w]),
        lambda: optim.Muon([Tensor(mg.ones(2, 2))], ns_steps=100),
        lambda: optim.Rprop([w], etas=(1.5, 1.2)),
        lambda: optim.Adadelta([w], rho=1.5),
        lambda: optim.Adafactor([w], d=0.5),
        lambda: optim.NAdam([w], momentum_decay=-1.0),
        lambda: optim.Lion([w], betas=(1.0, 0.9)),
        lambda: optim.RMSprop([w], alpha=-0.1),
        lambda: optim.LBFGS([{"params": [w]}, {"params": [Tensor([1.0])]}]),
        lambda: optim.Adam([w], differentiable=True),
    ):
        with pytest.raises(ValueError):
            wrong()
    for wrong in (
        lambda: optim.Adam([w], betas=0.9),
        lambda: optim.Adam([w], amsgrad="yes"),
        lambda: optim.LBFGS([w], line_search_fn="goldstein"),
        lambda: optim.Muon([Tensor(mg.ones(2, 2))], adjust_lr_fn="other"),
        lambda: optim.LBFGS([w]).step(),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_a_closure_that_raises():
    """The exception comes through, and the parameters are what they were."""
    w, calls = Tensor([1.0, 2.0]), []
    o = optim.LBFGS([w], line_search_fn="strong_wolfe")

    def closure():
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("mine")
        o.zero_grad()
        loss = w.square().square().sum()
        loss.backward()
        return loss

    with pytest.raises(KeyError, match="mine"):
        o.step(closure)
    assert w.tolist() == [1.0, 2.0] and o.state_dict()["state"] == {}
    o.step(closure)
    assert w.abs().max().item() < 0.05

    def again():
        return o.step(again)

    with pytest.raises(ValueError, match="being made"):
        o.step(again)
