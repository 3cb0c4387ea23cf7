"""Optimisers step beside PyTorch's, and exchange their states with them. Skipped where PyTorch is not installed."""

from __future__ import annotations

import inspect
import math

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor, optim
from micrograd_rs.optim import kinds

torch = pytest.importorskip("torch")

CASES = {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, {"momentum": 0.9, "dampening": 0.3, "maximize": True}],
    "Adam": [{}, {"weight_decay": 0.1, "amsgrad": True}, {"betas": (0.5, 0.9), "eps": 1e-3, "maximize": True}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "AdamW": [{}, {"weight_decay": 0.3, "amsgrad": True}],
    "Adamax": [{}, {"weight_decay": 0.1, "betas": (0.7, 0.9)}, {"maximize": True}],
    "NAdam": [{}, {"weight_decay": 0.1, "momentum_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{}, {"betas": (0.9, 0.99), "weight_decay": 0.1}, {"betas": (0.9, 0.9)}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RMSprop": [{}, {"momentum": 0.9}, {"centered": True, "weight_decay": 0.1, "alpha": 0.8}, {"momentum": 0.5, "centered": True, "maximize": True}],
    "Adagrad": [{}, {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}],
    "Adadelta": [{}, {"rho": 0.7, "weight_decay": 0.1, "maximize": True}],
    "Rprop": [{}, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.05)}],
    "ASGD": [{}, {"t0": 2.0, "lambd": 0.1, "alpha": 0.5, "weight_decay": 0.1}],
    "Adafactor": [{}, {"weight_decay": 0.1, "eps": (1e-4, 1e-2), "d": 1.5}],
    "Muon": [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}, {"adjust_lr_fn": "spectral_unclamped", "ns_steps": 3}],
}
ALL = [(kind, options) for kind, several in CASES.items() for options in several]
IDS = [f"{kind}-{'-'.join(options) or 'plain'}" for kind, options in ALL]
SHAPES = [(3, 4), (5,), (), (2, 3, 2)]


def started(kind):
    generator = torch.Generator().manual_seed(1)
    shapes = [(3, 4), (4, 3)] if kind == "Muon" else SHAPES
    theirs = [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]
    return theirs, [Tensor(p.detach().numpy(), dtype="float64") for p in theirs]


def gradients(theirs, ours, seed):
    generator = torch.Generator().manual_seed(seed)
    for i, (t, o) in enumerate(zip(theirs, ours)):
        # One has none now and then, and some of another's elements are 0.
        if seed % 3 == 1 and i == 1:
            t.grad = o.grad = None
            continue
        g = torch.randn(t.shape, generator=generator, dtype=torch.float64)
        g = torch.where(g.abs() < 0.3, 0, g)
        t.grad, o.grad = g.clone(), mg.tensor(g.numpy())


def tolerance(kind):
    # PyTorch multiplies matrices in bf16.
    return {"rtol": 0, "atol": 3e-2} if kind == "Muon" else {"rtol": 1e-9, "atol": 1e-12}


def to_torch(value):
    if isinstance(value, Tensor):
        return torch.from_numpy(value.detach().numpy().copy())
    if isinstance(value, dict):
        return {k: to_torch(v) for k, v in value.items()}
    return [to_torch(v) for v in value] if isinstance(value, list) else value


def same(ours, theirs, kind):
    for o, t in zip(ours, theirs, strict=True):
        close(o, t.detach().tolist(), **tolerance(kind))


def same_state(ours, theirs, kind):
    assert ours.keys() == theirs.keys()
    for i, entries in theirs.items():
        assert ours[i].keys() == entries.keys(), i
        for name, value in entries.items():
            if not (isinstance(value, list) or value is None):
                value = torch.as_tensor(value)
                # Counts are f32 in PyTorch, and so are ours.
                loose = {"rtol": 1e-6, "atol": 1e-12} if value.dtype == torch.float32 else tolerance(kind)
                close(ours[i][name], value.tolist(), **loose)


@pytest.mark.parametrize(("kind", "options"), ALL, ids=IDS)
def test_steps(kind, options):
    theirs, ours = started(kind)
    t, o = getattr(torch.optim, kind)(theirs, **options), getattr(optim, kind)(ours, **options)
    for step in range(8):
        gradients(theirs, ours, step)
        t.step(), o.step()
        same(ours, theirs, kind)
        for group in (*t.param_groups, *o.param_groups):
            group["lr"] *= 0.9
    same_state(o.state_dict()["state"], t.state_dict()["state"], kind)


@pytest.mark.parametrize(("kind", "options"), ALL, ids=IDS)
def test_states_go_both_ways(kind, options):
    theirs, ours = started(kind)
    t, o = getattr(torch.optim, kind)(theirs, **options), getattr(optim, kind)(ours, **options)
    for step in range(4):
        gradients(theirs, ours, step)
        t.step(), o.step()
    their_state, our_state = t.state_dict(), o.state_dict()
    assert our_state["param_groups"][0].keys() == their_state["param_groups"][0].keys()
    their2 = [p.detach().clone().requires_grad_() for p in theirs]
    our2 = [Tensor(p.detach().numpy(), dtype="float64") for p in theirs]
    t2, o2 = getattr(torch.optim, kind)(their2, lr=5.0), getattr(optim, kind)(our2, lr=5.0)
    t2.load_state_dict(to_torch(our_state)), o2.load_state_dict(their_state)
    for step in range(4, 8):
        gradients(theirs, our2, step), gradients(their2, ours, step)
        t.step(), o2.step(), t2.step()
        same(our2, theirs, kind), same(our2, their2, kind)


@pytest.mark.parametrize("kind", [*CASES, "LBFGS"])
def test_signatures(kind):
    """Names, order and defaults of the arguments are PyTorch's, and the defaults are those of the engine."""
    wanted = inspect.signature(getattr(torch.optim, kind)).parameters
    got = inspect.signature(getattr(optim, kind)).parameters
    by_place = [n for n, p in got.items() if p.kind is not p.KEYWORD_ONLY]
    assert by_place == [n for n, p in wanted.items() if p.kind is not p.KEYWORD_ONLY]
    assert got.keys() == wanted.keys()
    for name, parameter in wanted.items():
        default = got[name].default
        assert default == parameter.default, name
    if kind == "LBFGS":
        return
    for name, value in mg._micrograd_rs._optimizer_defaults(kind).items():
        if name in got:
            assert got[name].default == value, name


def test_defaults_of_lion():
    defaults = mg._micrograd_rs._optimizer_defaults("Lion")
    got = inspect.signature(optim.Lion).parameters
    assert {n: got[n].default for n in defaults} == defaults
    assert set(kinds.__all__) == {*CASES, "LBFGS", "Lion"}


def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


@pytest.mark.parametrize("options", [{}, {"lr": 0.1, "max_iter": 5}, {"line_search_fn": "strong_wolfe"}, {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 7}])
@pytest.mark.parametrize("resumed", [False, True])
def test_lbfgs(options, resumed):
    options = {"lr": 1e-3, **options} if "line_search_fn" not in options else options
    theirs = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in ([-1.2, 0.3], [1.0, 0.5])]
    ours = [Tensor(p.detach().numpy(), dtype="float64") for p in theirs]
    t, o = torch.optim.LBFGS(theirs, **options), optim.LBFGS(ours, **options)
    calls = [0, 0]

    def closure(of, params, which):
        def run():
            of.zero_grad()
            calls[which] += 1
            loss = rosenbrock(*params).sum()
            loss.backward()
            return loss

        return run

    for step in range(6):
        a, b = t.step(closure(t, theirs, 0)), o.step(closure(o, ours, 1))
        assert b.item() == pytest.approx(a.item(), rel=1e-6) and calls[0] == calls[1], step
        for p, q in zip(ours, theirs):
            close(p, q.tolist(), rtol=1e-6, atol=1e-9)
        if resumed and step == 2:
            mine, its = o.state_dict(), t.state_dict()
            t, o = torch.optim.LBFGS(theirs, **options), optim.LBFGS(ours, **options)
            t.load_state_dict(to_torch(mine)), o.load_state_dict(its)
    state = o.state_dict()["state"][0]
    assert state["func_evals"] == t.state_dict()["state"][0]["func_evals"] and state["n_iter"] == t.state_dict()["state"][0]["n_iter"]
    if options == {"line_search_fn": "strong_wolfe"}:
        for p in ours:
            close(p, [1, 1], atol=1e-5)


def test_lion():
    """The article's algorithm, by hand."""
    p, m, values, beta = 2.0, 0.0, [0.5, -2.0, 0.1, 3.0], (0.9, 0.99)
    w = Tensor([p], dtype="float64")
    lion = optim.Lion([w], lr=0.1, weight_decay=0.2)
    for g in values:
        w.grad = mg.tensor([g], dtype="float64")
        lion.step()
        update = math.copysign(1.0, beta[0] * m + (1 - beta[0]) * g)
        p = p * (1 - 0.1 * 0.2) - 0.1 * update
        m = beta[1] * m + (1 - beta[1]) * g
        close(w, [p], rtol=1e-12)
    assert lion.state_dict()["state"][0].keys() == {"exp_avg"}
