"""Programs that a sixth look found to answer otherwise than PyTorch. The numbers are PyTorch's."""

import pytest

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.optim import lr_scheduler as schedules


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
    "StepLR": (lambda o: schedules.StepLR(o, 2, 0.5), [0.5, 0.25, 0.25]),
    "MultiStepLR": (lambda o: schedules.MultiStepLR(o, [1, 4], 0.5), [0.5, 0.25, 0.25]),
    "ExponentialLR": (lambda o: schedules.ExponentialLR(o, 0.5), [0.125, 0.0625, 0.03125]),
    "CosineAnnealingLR": (lambda o: schedules.CosineAnnealingLR(o, 10), [0.79389, 0.65451, 0.5]),
    "LinearLR": (lambda o: schedules.LinearLR(o, 0.1, 1.0, 4), [0.775, 1.0, 1.0]),
    "ConstantLR": (lambda o: schedules.ConstantLR(o, 0.5, 4), [0.5, 1.0, 1.0]),
    "PolynomialLR": (lambda o: schedules.PolynomialLR(o, 5), [0.4, 0.2, 0.0]),
    "SequentialLR": (
        lambda o: schedules.SequentialLR(o, [schedules.LinearLR(o, 0.1, 1.0, 4), schedules.ExponentialLR(o, 0.5)], [8]),
        [0.775, 1.0, 1.0],
    ),
    "ChainedScheduler": (
        lambda o: schedules.ChainedScheduler([schedules.ConstantLR(o, 0.5, 4), schedules.ExponentialLR(o, 0.5)]),
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
    schedule = schedules.CosineAnnealingLR(optimizer, 3)
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
    schedule = schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=[0.3, 0.2])
    assert rates_of(optimizer, schedule, 3, 1.0) == [[1.0, 0.5], [0.5, 0.25], [0.3, 0.2]]
    del optimizer.param_groups[0]
    with pytest.raises(RuntimeError, match="2 least rates for 1 groups.*min_lrs"):
        schedule.step(1.0)
    schedule.min_lrs = [0.1]
    assert rates_of(optimizer, schedule, 2, 1.0) == [[0.1], [0.1]]
    # One number is that of all groups, of later ones as well.
    optimizer = two_groups()
    schedule = schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=0.3)
    optimizer.add_param_group({"params": [mg.ones(1, requires_grad=True)], "lr": 0.4})
    assert rates_of(optimizer, schedule, 2, 1.0) == [[1.0, 0.5, 0.4], [0.5, 0.3, 0.3]]


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
