"""Schedules beside PyTorch's, step by step. Skipped where PyTorch is not installed."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest
from micrograd_rs import Tensor, optim

torch = pytest.importorskip("torch")


def halves(epoch):
    return 0.5 if epoch % 3 else 0.9


class Power:
    def __init__(self, p):
        self.p = p

    def __call__(self, epoch):
        return 1 / (1 + epoch) ** self.p


CASES = {
    "lambda": lambda L, o: L.LambdaLR(o, Power(0.5)),
    "lambdas": lambda L, o: L.LambdaLR(o, [halves, Power(2)]),
    "multiplicative": lambda L, o: L.MultiplicativeLR(o, halves),
    "step": lambda L, o: L.StepLR(o, 3, 0.5),
    "multi": lambda L, o: L.MultiStepLR(o, [2, 5, 5], 0.3),
    "constant": lambda L, o: L.ConstantLR(o, 0.25, 4),
    "constant once": lambda L, o: L.ConstantLR(o, 0.25, 1),
    "linear": lambda L, o: L.LinearLR(o, 0.1, 0.9, 6),
    "exponential": lambda L, o: L.ExponentialLR(o, 0.8),
    "polynomial": lambda L, o: L.PolynomialLR(o, 7, 2.5),
    "cosine": lambda L, o: L.CosineAnnealingLR(o, 5, 0.01),
    "restarts": lambda L, o: L.CosineAnnealingWarmRestarts(o, 3, 1, 0.01),
    "longer restarts": lambda L, o: L.CosineAnnealingWarmRestarts(o, 2, 3),
    "cyclic": lambda L, o: L.CyclicLR(o, 0.01, [0.5, 0.3], 4, 3),
    "cyclic half": lambda L, o: L.CyclicLR(o, 0.01, 0.5, 2, mode="triangular2", base_momentum=0.6),
    "cyclic range": lambda L, o: L.CyclicLR(o, 0.01, 0.5, 3, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "cyclic own": lambda L, o: L.CyclicLR(o, 0.01, 0.5, 3, scale_fn=Power(1), scale_mode="iterations"),
    "one cycle": lambda L, o: L.OneCycleLR(o, 0.5, 20),
    "one cycle linear": lambda L, o: L.OneCycleLR(o, [0.5, 0.1], epochs=4, steps_per_epoch=5, anneal_strategy="linear", three_phase=True, pct_start=0.25),
    "sequential": lambda L, o: L.SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.ExponentialLR(o, 0.9), L.CosineAnnealingLR(o, 4)], [3, 7]),
    "chained": lambda L, o: L.ChainedScheduler([L.ConstantLR(o, 0.1, 4), L.ExponentialLR(o, 0.9), L.PolynomialLR(o, 12)]),
    "swa": lambda L, o: (torch.optim.swa_utils if L is torch.optim.lr_scheduler else optim.swa_utils).SWALR(o, 0.02, 5),
    "swa linear": lambda L, o: (torch.optim.swa_utils if L is torch.optim.lr_scheduler else optim.swa_utils).SWALR(o, [0.02, 0.3], 4, "linear"),
}
KINDS = {"sgd": ("SGD", {"momentum": 0.9}), "adam": ("AdamW", {})}


def made(case, kind):
    name, options = KINDS[kind]
    out = []
    for module, tensor in ((torch.optim, torch.zeros), (optim, lambda n: Tensor([0.0] * n))):
        params = [{"params": [tensor(2)]}, {"params": [tensor(3)], "lr": 0.2}]
        o = getattr(module, name)(params, lr=0.1, **options)
        out.append((o, CASES[case](module.lr_scheduler, o)))
    return out


def same(a, b):
    for theirs, ours in zip(a.param_groups, b.param_groups, strict=True):
        for key in ("lr", "initial_lr", "momentum", "betas", "max_lr", "min_lr"):
            assert (key in ours) == (key in theirs), key
            if key in theirs:
                assert ours[key] == pytest.approx(theirs[key], rel=1e-10, abs=1e-15), key


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_epochs(case, kind):
    warnings.simplefilter("ignore")
    (a, theirs), (b, ours) = made(case, kind)
    same(a, b)
    # One step past its end PyTorch's line is below 0.
    for _ in range(19 if case == "one cycle linear" else 20):
        theirs.step(), ours.step()
        same(a, b)
        assert ours.get_last_lr() == pytest.approx(theirs.get_last_lr(), rel=1e-10, abs=1e-15)
        assert ours.last_epoch == theirs.last_epoch if hasattr(theirs, "last_epoch") else True


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", ["state", "pickle", "deepcopy"])
def test_schedules_go_on(case, way):
    warnings.simplefilter("ignore")
    (a, theirs), (b, ours) = made(case, "sgd")
    for _ in range(6):
        theirs.step(), ours.step()
    if way == "state":
        (_, _), (b2, ours2) = made(case, "sgd")
        b2.load_state_dict(pickle.loads(pickle.dumps(b.state_dict())))
        ours2.load_state_dict(pickle.loads(pickle.dumps(ours.state_dict())))
    else:
        b2, ours2 = copy.deepcopy((b, ours)) if way == "deepcopy" else pickle.loads(pickle.dumps((b, ours)))
    for _ in range(8):
        theirs.step(), ours2.step()
        same(a, b2)


@pytest.mark.parametrize("case", ["step", "multi", "constant", "linear", "exponential", "polynomial", "cosine", "restarts", "longer restarts"])
def test_steps_to_an_epoch(case):
    warnings.simplefilter("ignore")
    (a, theirs), (b, ours) = made(case, "sgd")
    epochs = [4, 2, 5.5, 9.25] if "restarts" in case else [4, 2, 6]
    for epoch in epochs:
        theirs.step(epoch), ours.step(epoch)
        same(a, b)


@pytest.mark.parametrize("options", [{}, {"mode": "max"}, {"threshold_mode": "abs", "threshold": 0.3}, {"cooldown": 2, "min_lr": [0.01, 0.05]}, {"mode": "max", "threshold_mode": "abs", "eps": 0.05}])
def test_plateau(options):
    out = []
    for module, tensor in ((torch.optim, torch.zeros), (optim, lambda n: Tensor([0.0] * n))):
        o = module.SGD([{"params": [tensor(2)]}, {"params": [tensor(3)], "lr": 0.2}], lr=0.1)
        out.append((o, module.lr_scheduler.ReduceLROnPlateau(o, patience=2, factor=0.5, **options)))
    (a, theirs), (b, ours) = out
    metrics = [1.0, 0.9, 0.9, 0.95, 0.9, 0.8999, 0.5, 0.6, float("nan"), 0.7, 0.7, -1.0, -1.0, -1.1, -1.1, -1.1, -1.1, 2.0, 2.0]
    for i, metric in enumerate(metrics):
        theirs.step(metric), ours.step(Tensor(metric).detach() if i % 2 else metric)
        same(a, b)
        assert (ours.best, ours.num_bad_epochs, ours.in_cooldown) == (pytest.approx(theirs.best), theirs.num_bad_epochs, theirs.in_cooldown)
        if i == 9:
            state = pickle.loads(pickle.dumps(ours.state_dict()))
            ours = optim.lr_scheduler.ReduceLROnPlateau(b)
            ours.load_state_dict(state)


def test_what_schedules_refuse():
    L, o = optim.lr_scheduler, optim.SGD([Tensor([0.0])], momentum=0.9)
    for wrong in (
        lambda: L.ConstantLR(o, 1.5),
        lambda: L.PolynomialLR(o, 0),
        lambda: L.CosineAnnealingWarmRestarts(o, 0),
        lambda: L.CosineAnnealingWarmRestarts(o, 2, 0.5),
        lambda: L.CyclicLR(o, 0.1, 1.0, 0),
        lambda: L.CyclicLR(o, 0.1, [1.0, 2.0]),
        lambda: L.CyclicLR(o, 0.1, 1.0, mode="sawtooth"),
        lambda: L.CyclicLR(optim.Rprop([Tensor([0.0])]), 0.1, 1.0),
        lambda: L.OneCycleLR(o, 0.1),
        lambda: L.OneCycleLR(o, 0.1, 10, pct_start=2.0),
        lambda: L.ReduceLROnPlateau(o, factor=1.0),
        lambda: L.ReduceLROnPlateau(o, mode="least"),
        lambda: L.SequentialLR(o, [L.ReduceLROnPlateau(o)], []),
    ):
        with pytest.raises(ValueError):
            wrong()
    cycle = L.OneCycleLR(o, 0.1, 2)
    cycle.step(), cycle.step()
    with pytest.raises(ValueError, match="a cycle of 2"):
        cycle.step()


def took(o, s, times):
    rates = []
    for _ in range(times):
        o.step()
        s.step()
        rates.append([group["lr"] for group in o.param_groups])
    return rates


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["theirs into ours", "ours into theirs"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_states_go_both_ways(case, way, kind):
    """A schedule goes on from the other's state as the other does: keys and values are one another's."""
    for before in (0, 3, 6):
        (first, second) = made(case, kind) if way == "theirs into ours" else made(case, kind)[::-1]
        (o, schedule), (o2, other) = first, second
        took(o, schedule, before)
        state = pickle.loads(pickle.dumps(schedule.state_dict()))
        assert set(state) == set(other.state_dict())
        other.load_state_dict(state)
        for group, its in zip(o2.param_groups, o.param_groups, strict=True):
            group.update({key: value for key, value in its.items() if key in ("lr", "momentum", "betas")})
        # One cycle has 20 steps, the first of which is made where it begins.
        left = 19 - before if "cycle" in case else 20
        for ours, theirs in zip(took(o2, other, left), took(o, schedule, left), strict=True):
            assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-15)
