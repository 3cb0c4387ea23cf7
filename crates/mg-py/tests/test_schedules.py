"""Schedules of learning rates: their numbers, several at once, groups that come and go, states, and what schedules refuse."""

from __future__ import annotations

import collections
import copy
import pickle

import micrograd_rs as mg
import pytest
from conftest import close, leaf
from micrograd_rs import Tensor, optim
from micrograd_rs.optim import lr_scheduler

T = mg.tensor


# Rates.


def rates(make, epochs, lr=0.1):
    o = optim.SGD([Tensor([1.0])], lr=lr)
    schedule = make(o)
    out = []
    for _ in range(epochs):
        out.append(schedule.get_last_lr()[0])
        assert o.param_groups[0]["lr"] == out[-1]
        schedule.step()
    return out


def test_schedules():
    close(rates(lambda o: lr_scheduler.StepLR(o, 3, 0.1), 4), [0.1, 0.1, 0.1, 0.01])
    close(rates(lambda o: lr_scheduler.ExponentialLR(o, 0.9), 3), [0.1, 0.09, 0.081])
    close(rates(lambda o: lr_scheduler.CosineAnnealingLR(o, 10, 0.001), 11)[10], 0.001)
    close(rates(lambda o: lr_scheduler.CosineAnnealingLR(o, 10), 6)[5], 0.05)
    warm = rates(lambda o: lr_scheduler.LinearLR(o, 0.1, 1.0, 10), 12)
    close([warm[0], warm[5], warm[10], warm[11]], [0.01, 0.055, 0.1, 0.1])
    close(rates(lambda o: lr_scheduler.MultiStepLR(o, [3, 7]), 8), [0.1] * 3 + [0.01] * 4 + [0.001])
    close(rates(lambda o: lr_scheduler.LambdaLR(o, lambda e: 1 / (e + 1)), 3), [0.1, 0.05, 0.1 / 3])


def fresh(lr=0.1):
    return optim.SGD([Tensor([1.0])], lr=lr)


def exactly(got, wanted):
    assert got == pytest.approx(wanted, rel=1e-12, abs=0)


def test_schedules_multiply():
    """Numbers of PyTorch 2.15: three on one optimiser, whose rate is set by hand in between."""
    o, out = fresh(), []
    schedules = [lr_scheduler.LinearLR(o, 0.1, 1.0, 4), lr_scheduler.StepLR(o, 2, 0.5), lr_scheduler.CosineAnnealingLR(o, 6, 0.001)]
    for i in range(9):
        if i == 5:
            o.param_groups[0]["lr"] = 0.3
        for schedule in schedules:
            schedule.step()
        out.append(o.param_groups[0]["lr"])
    exactly(out[:5], [0.03038990010960492, 0.02086671575733949, 0.019935399650834067, 0.006930774080914217, 0.002589146125472397])
    exactly(out[5:], [0.001, 0.007631742512670284, 0.011508974596215561, 0.022017949192431135])
    assert o.param_groups[0]["initial_lr"] == 0.1 and all(s.base_lrs == [0.1] for s in schedules)


def run(schedule, o, n):
    out = [o.param_groups[0]["lr"]]
    for _ in range(n):
        schedule.step()
        out.append(o.param_groups[0]["lr"])
        assert schedule.get_last_lr() == out[-1:]
    return out


def test_several_schedules():
    """Numbers of PyTorch 2.15."""
    o = fresh()
    warm, cosine, decay = lr_scheduler.LinearLR(o, 0.25, 1.0, 3), lr_scheduler.CosineAnnealingLR(o, 4, 0.001), lr_scheduler.ExponentialLR(o, 0.5)
    schedule = lr_scheduler.SequentialLR(o, [warm, cosine, decay], [3, 6])
    exactly(run(schedule, o, 9), [0.025, 0.05, 0.075, 0.1, 0.0855017856687341, 0.0505, 0.1, 0.05, 0.025, 0.0125])
    o = fresh()
    schedule = lr_scheduler.ChainedScheduler([lr_scheduler.LinearLR(o, 0.25, 1.0, 3), lr_scheduler.ExponentialLR(o, 0.5)])
    exactly(run(schedule, o, 5), [0.025, 0.025, 0.01875, 0.0125, 0.00625, 0.003125])
    for wrong in (
        lambda: lr_scheduler.ChainedScheduler([]),
        lambda: lr_scheduler.ChainedScheduler([schedule], fresh()),
        lambda: lr_scheduler.SequentialLR(o, [schedule], [3]),
        lambda: lr_scheduler.LinearLR(o, 0.0),
        lambda: lr_scheduler.LambdaLR(o, [abs, abs]),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_optimisers_and_schedulers_compose():
    p = leaf([0.0])
    p.grad = T([1.0])
    optimiser = mg.optim.SGD([p], lr=0.1)
    optimiser.param_groups[0].update(lr=1.0)
    optimiser.step()
    assert p.item() == -1
    optimiser.param_groups[0] |= {"lr": 2.0}
    optimiser.step()
    assert p.item() == -3
    schedulers = [mg.optim.lr_scheduler.ExponentialLR(optimiser, 0.5), mg.optim.lr_scheduler.ExponentialLR(optimiser, 0.5)]
    for s in schedulers:
        s.step()
    assert optimiser.param_groups[0]["lr"] == 0.5
    optimiser.param_groups[0]["lr"] = 8.0
    schedulers[0].step()
    assert optimiser.param_groups[0]["lr"] == 4
    for again in (copy.deepcopy(optimiser), pickle.loads(pickle.dumps(optimiser))):
        assert again.param_groups[0]["lr"] == 4

    class Frozen(mg.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = mg.nn.Parameter(mg.ones(1), requires_grad=False)

    assert list(Frozen().state_dict()) == ["w"]


def test_a_cycle_on_groups_that_have_a_schedule_begins_with_their_first_rate():
    # PyTorch's numbers.
    o = optim.SGD([Tensor([1.0])], lr=0.1)
    a = lr_scheduler.ExponentialLR(o, 0.9)
    b = lr_scheduler.CyclicLR(o, 0.01, 0.2, step_size_up=2, cycle_momentum=False)
    found = [o.param_groups[0]["lr"]]
    for _ in range(3):
        o.step()
        a.step()
        b.step()
        found.append(o.param_groups[0]["lr"])
    assert found == pytest.approx([0.1, 0.105, 0.2, 0.105]) and b.base_lrs == [0.01] and o.param_groups[0]["initial_lr"] == 0.1


def test_cycles_that_never_end():
    o = mg.optim.SGD([leaf(1.0)], lr=1.0)
    s = mg.optim.lr_scheduler.CyclicLR(o, 0.5, 1.0, step_size_up=2**63, cycle_momentum=False)
    o.step()
    s.step()
    assert s.get_last_lr() == [0.5]


@pytest.mark.parametrize(
    "make",
    [
        lambda o: lr_scheduler.StepLR(o, 1, 0.5),
        lambda o: lr_scheduler.LambdaLR(o, lambda e: 0.5**e),
        lambda o: lr_scheduler.ExponentialLR(o, 0.5),
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2),
        lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, 2, cycle_momentum=False),
        lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ConstantLR(o, 0.5, 2), lr_scheduler.ExponentialLR(o, 0.5)], [1]),
        lambda o: lr_scheduler.ReduceLROnPlateau(o, "min", 0.5, 0),
    ],
)
def test_a_rate_that_is_a_tensor_stays_it(make):
    def run(rate):
        o = optim.SGD([Tensor([1.0])], lr=rate)
        schedule, found = make(o), []
        for _ in range(4):
            o.step()
            schedule.step(*([1.0] if isinstance(schedule, lr_scheduler.ReduceLROnPlateau) else []))
            last = schedule.get_last_lr()[0]
            assert type(last) is type(rate) and float(last) == float(o.param_groups[0]["lr"]) and (last is not rate or isinstance(rate, float))
            found.append(float(last))
        return found, o

    rate = mg.tensor(0.1)
    found, o = run(rate)
    assert found == pytest.approx(run(0.1)[0], rel=1e-5) and o.param_groups[0]["lr"] is rate and rate.item() == found[-1]
    assert float(o.param_groups[0].get("initial_lr", 0.1)) == pytest.approx(0.1)


def test_schedules_of_ones_own():
    class Halves(lr_scheduler.LRScheduler):
        def get_lr(self):
            return [group["lr"] / (2 if self.last_epoch else 1) for group in self.optimizer.param_groups]

    o = fresh()
    exactly(run(Halves(o), o, 2), [0.1, 0.05, 0.025])
    with pytest.raises(NotImplementedError, match="get_lr"):
        lr_scheduler.LRScheduler(o)


# Groups that come and go.


def test_groups_that_come_after_the_schedule_was_made():
    """As PyTorch: layers that are unfrozen later go on from the rate that they came with."""
    first, later = (mg.nn.Parameter(mg.ones(1)) for _ in range(2))
    optimizer = mg.optim.SGD([first], lr=0.1)
    schedule = mg.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    schedule.step()
    optimizer.add_param_group({"params": [later], "lr": 0.02})
    rates = []
    for _ in range(3):
        optimizer.step()
        schedule.step()
        rates.append(schedule.get_last_lr())
    assert rates == [[0.05, 0.01], [0.05, 0.01], [0.025, 0.005]]


def two_groups():
    a, b = (mg.ones(1, requires_grad=True) for _ in range(2))
    return mg.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=1.0)


def rates_of(optimizer, schedule, times, *told):
    rates = []
    for _ in range(times):
        optimizer.step()
        schedule.step(*told)
        rates.append([round(rate, 5) for rate in schedule.get_last_lr()])
    return rates


SCHEDULES = {
    "StepLR": (lambda o: lr_scheduler.StepLR(o, 2, 0.5), [0.5, 0.25, 0.25]),
    "MultiStepLR": (lambda o: lr_scheduler.MultiStepLR(o, [1, 4], 0.5), [0.5, 0.25, 0.25]),
    "ExponentialLR": (lambda o: lr_scheduler.ExponentialLR(o, 0.5), [0.125, 0.0625, 0.03125]),
    "CosineAnnealingLR": (lambda o: lr_scheduler.CosineAnnealingLR(o, 10), [0.79389, 0.65451, 0.5]),
    "LinearLR": (lambda o: lr_scheduler.LinearLR(o, 0.1, 1.0, 4), [0.775, 1.0, 1.0]),
    "ConstantLR": (lambda o: lr_scheduler.ConstantLR(o, 0.5, 4), [0.5, 1.0, 1.0]),
    "PolynomialLR": (lambda o: lr_scheduler.PolynomialLR(o, 5), [0.4, 0.2, 0.0]),
    "SequentialLR": (
        lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.LinearLR(o, 0.1, 1.0, 4), lr_scheduler.ExponentialLR(o, 0.5)], [8]),
        [0.775, 1.0, 1.0],
    ),
    "ChainedScheduler": (
        lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(o, 0.5, 4), lr_scheduler.ExponentialLR(o, 0.5)]),
        [0.0625, 0.0625, 0.03125],
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("gone", [0, 1])
def test_schedules_go_on_when_a_group_was_removed(name, gone):
    make, expected = SCHEDULES[name]
    optimizer = two_groups()
    schedule = make(optimizer)
    rates_of(optimizer, schedule, 2)
    del optimizer.param_groups[gone]
    base = 0.5 if gone == 0 else 1.0
    got = rates_of(optimizer, schedule, 3)
    assert [len(rates) for rates in got] == [1, 1, 1]
    assert [rate for (rate,) in got] == pytest.approx([base * rate for rate in expected], abs=2e-5)


def test_schedules_that_need_initial_rates_say_so_when_groups_came_or_went():
    optimizer = two_groups()
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, 3)
    rates_of(optimizer, schedule, 1)
    del optimizer.param_groups[0]
    assert rates_of(optimizer, schedule, 2) == [[0.125], [0.0]]
    # Up again: how far is what the initial rates say.
    with pytest.raises(ValueError, match="2 initial rates for 1 groups.*base_lrs"):
        schedule.step()
    schedule.base_lrs = [0.5]
    assert rates_of(optimizer, schedule, 2) == [[0.125], [0.375]]
    with pytest.raises(ValueError, match="1 initial rates for 2 groups"):
        optimizer.add_param_group({"params": [mg.ones(1, requires_grad=True)]})
        schedule.step(3)


def test_plateaus_least_rates_are_those_of_the_groups_that_are_there():
    optimizer = two_groups()
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=[0.3, 0.2])
    assert rates_of(optimizer, schedule, 3, 1.0) == [[1.0, 0.5], [0.5, 0.25], [0.3, 0.2]]
    del optimizer.param_groups[0]
    with pytest.raises(RuntimeError, match="2 least rates for 1 groups.*min_lrs"):
        schedule.step(1.0)
    schedule.min_lrs = [0.1]
    assert rates_of(optimizer, schedule, 2, 1.0) == [[0.1], [0.1]]
    # One number is that of all groups, of later ones as well.
    optimizer = two_groups()
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=0.3)
    optimizer.add_param_group({"params": [mg.ones(1, requires_grad=True)], "lr": 0.4})
    assert rates_of(optimizer, schedule, 2, 1.0) == [[1.0, 0.5, 0.4], [0.5, 0.3, 0.3]]


# Epochs and states.


def test_steps_to_an_epoch():
    o = fresh()
    schedule = lr_scheduler.StepLR(o, 2, 0.5)
    schedule.step(5)
    exactly(schedule.get_last_lr(), [0.025])
    schedule.step()
    exactly(schedule.get_last_lr(), [0.0125])
    schedule.gamma = 0.1
    schedule.step(2)
    exactly(schedule.get_last_lr(), [0.01])


def test_schedules_go_on():
    """As in PyTorch: where a schedule is and what the rate is are saved each in its place."""

    def made():
        o = fresh()
        one, two = lr_scheduler.LinearLR(o, 0.5, 1.0, 4), lr_scheduler.CosineAnnealingLR(o, 10)
        return o, [one, two, lr_scheduler.ChainedScheduler([one, two])]

    def going(o, schedules, n):
        return run(schedules[2], o, n)

    o, schedules = made()
    going(o, schedules, 3)
    saved = pickle.loads(pickle.dumps((o.state_dict(), [s.state_dict() for s in schedules])))
    other, others = made()
    other.load_state_dict(saved[0])
    for schedule, state in zip(others, saved[1]):
        schedule.load_state_dict(state)
    exactly(going(other, others, 5), going(o, schedules, 5))
    assert others[1].last_epoch == 8 and others[1].optimizer is other

    # Resumed at an epoch, with the optimiser's state.
    o = fresh()
    run(lr_scheduler.ExponentialLR(o, 0.5), o, 2)
    again = fresh()
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.ExponentialLR(again, 0.5, last_epoch=2)
    again.load_state_dict(o.state_dict())
    exactly(run(lr_scheduler.ExponentialLR(again, 0.5, last_epoch=2), again, 2), [0.025, 0.0125, 0.00625])

    class Inverse:
        def __init__(self, k):
            self.k = k

        def __call__(self, epoch):
            return 1 / (self.k + epoch)

    first, second = (lr_scheduler.LambdaLR(fresh(), Inverse(k)) for k in (2, 5))
    second.load_state_dict(first.state_dict())
    second.step()
    exactly(second.get_last_lr(), [0.1 / 3])


# What a state of PyTorch's has besides the keys that all schedules have.
THEIRS = {
    "CyclicLR": ["_scale_fn_custom", "base_momentums", "cycle_momentum", "gamma", "max_lrs", "max_momentums", "mode", "scale_mode", "step_ratio", "total_size", "use_beta1"],
    "OneCycleLR": ["_anneal_func_type", "_schedule_phases", "cycle_momentum", "total_steps", "use_beta1"],
}


def test_states_of_cycles_are_pytorchs():
    def cycles(up=3, down=4, **options):
        o = optim.SGD([leaf([1.0])], lr=0.1, momentum=0.9)
        return lr_scheduler.CyclicLR(o, 0.1, 0.2, step_size_up=up, step_size_down=down), lr_scheduler.OneCycleLR(
            optim.SGD([leaf([1.0])], lr=0.1, momentum=0.9), 0.1, 10, **options
        )

    for scheduler in cycles():
        own = set(scheduler.state_dict()) - {"_get_lr_called_within_step", "_is_initial", "_last_lr", "_step_count", "base_lrs", "last_epoch"}
        assert sorted(own) == THEIRS[type(scheduler).__name__]
    cyclic, one = cycles()
    assert (cyclic.state_dict()["total_size"], cyclic.state_dict()["step_ratio"]) == (7.0, 3 / 7)
    # Sizes, shares and phases are those of the state, to the last bit.
    for options in ({"up": 2, "down": 5}, {"three_phase": True, "pct_start": 0.37}, {"pct_start": 1 / 3}):
        for ours, other in zip(cycles(**options), cycles()):
            other.load_state_dict(ours.state_dict())
            assert other.state_dict() == ours.state_dict()
            rates = []
            for scheduler in (ours, other):
                scheduler.optimizer.step()
                rates.append([scheduler.step() or scheduler.get_last_lr() for _ in range(8)])
            assert rates[0] == rates[1]
    with pytest.raises(TypeError, match="integer"):
        cycles(up=2.5)
    # So were they written before.
    old = {k: v for k, v in cyclic.state_dict().items() if k not in ("total_size", "step_ratio")} | {"step_size_up": 2, "step_size_down": 6}
    cyclic.load_state_dict(old)
    assert (cyclic.total_size, cyclic.step_ratio) == (8.0, 0.25)
    one.load_state_dict({**{k: v for k, v in one.state_dict().items() if k != "_schedule_phases"}, "pct_start": 0.5, "three_phase": True})
    assert one.three_phase and one.pct_start == 0.5


def test_milestones_are_counted():
    def rates(scheduler):
        return [scheduler.step() or scheduler.get_last_lr()[0] for _ in range(3)]

    def made(milestones):
        o = optim.SGD([leaf([1.0])], lr=1.0)
        o.step()
        return lr_scheduler.MultiStepLR(o, milestones, 0.5)

    counted = collections.Counter({2: 2, 1: 1})
    first = made([2, 1, 2])
    assert first.milestones == first.state_dict()["milestones"] == counted and isinstance(first.milestones, collections.Counter)
    # A file has a dictionary of them, a state of an earlier version a list.
    for milestones in (counted, dict(counted), [1, 2, 2]):
        second = made([5])
        second.load_state_dict({**second.state_dict(), "milestones": milestones})
        assert second.milestones == counted and isinstance(second.milestones, collections.Counter)
        assert rates(second) == [0.5, 0.125, 0.125]


def test_restarts_count_whole_epochs_as_integers():
    scheduler = lr_scheduler.CosineAnnealingWarmRestarts(optim.SGD([leaf([1.0])], lr=1.0), 4)
    scheduler.step(6)
    assert scheduler.T_cur == 2 and isinstance(scheduler.T_cur, int)
    scheduler.step(6.5)
    assert scheduler.T_cur == 2.5


def test_schedules_know_that_a_step_asks_for_their_rates():
    seen = []

    class Own(lr_scheduler.LRScheduler):
        def get_lr(self):
            seen.append(self._get_lr_called_within_step)
            return [group["lr"] for group in self.optimizer.param_groups]

    scheduler = Own(optim.SGD([leaf([1.0])], lr=1.0))
    scheduler.step()
    scheduler.get_lr()
    with lr_scheduler._enable_get_lr_call(scheduler):
        scheduler.get_lr()
    assert seen == [True, True, False, True] and scheduler.state_dict()["_get_lr_called_within_step"] is False


def test_a_constant_rate_resumed_at_its_end():
    def resumed(last_epoch, **options):
        o = mg.optim.SGD([mg.nn.Parameter(mg.ones(1))], 0.1)
        o.param_groups[0]["initial_lr"] = 0.4
        s = mg.optim.lr_scheduler.ConstantLR(o, 0.5, last_epoch=last_epoch, **options)
        rates = [o.param_groups[0]["lr"]]
        for _ in range(2):
            s.step()
            rates.append(o.param_groups[0]["lr"])
        return rates

    # PyTorch's.
    assert resumed(4) == [0.2, 0.2, 0.2] and resumed(3) == [0.1, 0.2, 0.2] and resumed(5) == [0.1, 0.1, 0.1]
    assert resumed(2, total_iters=3) == [0.2, 0.2, 0.2]


def test_unfit_schedules():
    o = fresh()
    for wrong in (lambda: lr_scheduler.StepLR(o, 0), lambda: lr_scheduler.CosineAnnealingLR(o, 0)):
        with pytest.raises(ValueError):
            wrong()
