"""Replayed steps that train: options, parameters, groups and factors that change, and optimisers of one's own."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import leaf
from micrograd_rs import optim

T = mg.tensor
x = mg.tensor([1.0, 2.0])


def test_a_step_whose_optimiser_runs_outside():
    def run(make):
        w = leaf([3.0])
        optimiser = mg.optim.Adam([w], lr=0.1)
        step = make(lambda x: (w * x).square().sum())
        for k in range(14):
            optimiser.zero_grad()
            step(T([1.0 + k])).backward()
            optimiser.step()
        return w.item()

    assert run(lambda f: f) == run(mg.jit)


def test_what_a_step_changes_in_an_optimiser_is_changed_each_time():
    w, v = (mg.ones(1, requires_grad=True) for _ in range(2))
    sgd = optim.SGD([w], lr=1.0)
    schedule = optim.lr_scheduler.ExponentialLR(sgd, 0.5)

    @mg.jit
    def step(x):
        sgd.zero_grad()
        (w * x).sum().backward()
        sgd.step()
        schedule.step()

    for _ in range(7):
        step(mg.ones(1))
    assert w.item() == 1 - 1.984375 and sgd.param_groups[0]["lr"] == 0.5**7 and "learning rate" in step.reason

    sgd = optim.SGD([w], lr=1.0)

    @mg.jit
    def both(x):
        sgd.zero_grad()
        (w * v * x).sum().backward()
        sgd.step()

    for i in range(12):
        both(mg.ones(1))
        if i == 4:
            assert both.is_replaying and v.item() == 1.0
            sgd.add_param_group({"params": [v]})
    assert both.is_replaying and v.item() != 1.0


@pytest.mark.parametrize("option, value", [("weight_decay", 0.5), ("nesterov", True), ("maximize", True), ("dampening", 0.5), ("momentum", 0.0)])
def test_options_change_between_replays(option, value):
    def train(wrap):
        w = mg.tensor([1.0, -2.0], requires_grad=True)
        o = optim.SGD([w], lr=0.1, momentum=0.9)

        def step(v):
            o.zero_grad()
            (w * v).square().sum().backward()
            o.step()

        step, seen = wrap(step), []
        for i in range(14):
            if i in (5, 10):
                before = o.param_groups[0][option]
                o.param_groups[0][option] = value if i == 5 else before_first
            else:
                before_first = o.param_groups[0][option] if i == 0 else before_first
            step(x)
            seen.append(w.tolist())
        return seen, step

    (plain, _), (replayed, step) = train(lambda f: f), train(mg.jit)
    assert plain == replayed and step.is_replaying


def test_other_parameters_after_a_step():
    w, v = (mg.zeros(1, requires_grad=True) for _ in range(2))
    o = optim.SGD([w], lr=1.0, momentum=0.5)

    @mg.jit
    def step(y):
        w.grad = v.grad = None
        ((w + v) * y).sum().backward()
        o.step()

    for _ in range(4):
        step(mg.ones(1))
    held = o.state[w]["momentum_buffer"].item()
    o.param_groups[0]["params"] = [v]
    for _ in range(4):
        step(mg.ones(1))
    assert v.item() != 0
    o.param_groups[0]["params"] = [v, w]
    before = w.item()
    step(mg.ones(1))
    assert before - w.item() == 1.0 + 0.5 * held  # It goes on with what it had.
    assert held != 0


def test_an_optimiser_of_ones_own_is_looked_at():
    class Slow(optim.SGD):
        def __init__(self, params, lr):
            super().__init__(params, lr=lr)
            self.n, self.factor = 0, 1.0

        def step(self, closure=None):
            self.n += 1
            for p in self.param_groups[0]["params"]:
                p.grad.mul_(self.factor)
            return super().step(closure)

    w = mg.zeros(1, requires_grad=True)
    o = Slow([w], 1.0)

    @mg.jit
    def step(v):
        o.zero_grad()
        (w * v).sum().backward()
        o.step()

    for _ in range(5):
        step(mg.ones(1))
    o.factor = 2.0
    step(mg.ones(1))
    assert o.n == 6 and w.item() == -7


def test_gradients_that_are_gathered_over_calls_that_are_counted():
    w, count = mg.zeros(1, requires_grad=True), 0
    sgd = optim.SGD([w], lr=1.0)

    @mg.jit
    def step(x):
        nonlocal count
        count += 1
        (w * x).sum().backward()
        if count % 4 == 0:
            sgd.step()
            sgd.zero_grad()

    found = []
    for _ in range(12):
        step(mg.ones(1))
        found.append(w.item())
    assert found == [0.0] * 3 + [-4.0] * 4 + [-8.0] * 4 + [-12.0] and count == 12


def test_a_scaler_s_factors_are_those_of_the_call():
    def scales(jit):
        scaler = mg.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1)
        w = mg.tensor([1.0], requires_grad=True)
        sgd = optim.SGD([w], lr=0.1)

        def step(x):
            sgd.zero_grad()
            scaler.scale((w * x).sum()).backward()
            scaler.step(sgd)
            scaler.update()

        step, found = jit(step), []
        for k in range(24):
            if k == 10:
                scaler.set_growth_factor(3.0)
            if k == 14:
                scaler.set_growth_interval(2)
            if k == 18:
                scaler.set_backoff_factor(0.25)
            step(mg.tensor([math.inf if k > 20 else 1.0]))
            found.append(scaler.get_scale())
        return found, step

    (plain, _), (replayed, step) = scales(lambda f: f), scales(mg.jit)
    assert step.is_replaying and plain == replayed
