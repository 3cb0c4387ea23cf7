"""Replayed steps that write: to arguments, to tensors that they know, to views, to data, and to memory that an array sees."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import leaf

T = mg.tensor


def test_state_that_was_reset_goes_on():
    run = T([0.0])
    step = mg.jit(lambda x: run.add_(x) * 1)
    told = []
    for k in range(8):
        if k in (0, 1, 4):
            run.zero_()
        told.append(step(T([1.0])).item())
    assert told == [1, 1, 2, 3, 1, 2, 3, 4]


def test_an_argument_that_a_step_writes_to_unread_from_elsewhere():
    def run(make, when):
        known = mg.tensor([1.0, 2.0])

        def step(p):
            known.zero_()
            return p.add_(1)

        f = make(step)
        told = []
        for k in range(8):
            x = known if k == when else mg.tensor([3.0 + k, 1.0])
            answer = f(x)
            told.append((x.tolist(), answer.tolist(), known.tolist()))
        return told

    # It waited for itself.
    for when in range(8):
        assert run(lambda f: f, when) == run(mg.jit, when)


def test_a_broadcast_leaf_is_written_by_one_of_its_elements():
    def run(make):
        base = mg.tensor([1.0])
        seen = base.expand(3).requires_grad_()

        def step(y):
            with mg.no_grad():
                seen[1].mul_(y)
            answer = (seen * seen).sum()
            answer.backward()
            return answer * 1

        f = make(step)
        told = []
        for k in range(6):
            told.append((f(mg.tensor(k + 1.0)).item(), seen.tolist(), base.tolist(), seen.grad.tolist()))
        return told

    plain = run(lambda f: f)
    assert plain == run(mg.jit)
    assert plain[1] == (12.0, [2.0] * 3, [2.0], [6.0] * 3)


def test_a_view_made_while_nothing_is_recorded_is_written_to_in_a_step():
    def run(make):
        a = leaf([1.0, 2.0, 3.0])
        h = a * 2
        with mg.no_grad():
            view = h[1:]

        def step(y):
            with mg.no_grad():
                view.add_(y)
            return h.sum() * 1

        f = make(step)
        told = [(f(mg.tensor(float(k))).item(), h.tolist(), view.tolist()) for k in range(6)]
        h.sum().backward()
        return told, a.grad.tolist()

    plain = run(lambda f: f)
    assert plain == run(mg.jit)
    assert plain[1] == [2.0, 2.0, 2.0]


def test_what_a_detached_part_adds_of_itself_reaches_an_array():
    np = pytest.importorskip("numpy")
    for make in (lambda f: f, mg.jit):
        w = leaf([0.0, 0.5])
        array = w.detach().numpy()
        part = w[1:]

        def step(y):
            part.detach().add_(part)
            return y * 2

        f = make(step)
        for k in range(6):
            f(mg.ones(1))
            assert w.tolist() == array.tolist() == [0.0, 2.0**k]
        assert isinstance(array, np.ndarray)


def test_a_replay_does_not_forget_that_what_it_overwrites_has_a_history():
    told = []
    for jit in (lambda f: f, mg.jit):
        x = mg.zeros(3)
        f = jit(lambda p: x.copy_(p))
        for p in (mg.ones(3), mg.zeros(3), mg.ones(3), leaf(2.0), mg.ones(3), mg.zeros(3)):
            f(p)
            told.append((x.requires_grad, x.tolist()))
    assert told[:6] == told[6:]


def test_data_of_another_shape_in_a_step():
    def run(make):
        x, p = mg.tensor([1.0, 2.0]), leaf([1.0, 2.0])

        def step(y):
            x.data = mg.cat([x.data, y])
            return x.sum() + (p * 2).sum()

        f = make(step)
        told = []
        for k in range(8):
            if k == 4:
                p.data = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
            answer = f(mg.tensor([float(k)]))
            p.grad = None
            answer.backward()
            told.append((answer.item(), x.tolist(), p.grad.tolist()))
        return told

    plain = run(lambda f: f)
    assert plain == run(mg.jit)
    assert plain[4] == (33.0, [1.0, 2.0, 0.0, 1.0, 2.0, 3.0, 4.0], [[2.0, 2.0], [2.0, 2.0]])


@pytest.mark.parametrize("jit", [lambda f: f, mg.jit])
def test_a_step_that_gives_other_data_is_called_again(jit):
    x, y, w = mg.tensor([1.0, 2.0]), mg.tensor([1.0, 2.0, 3.0]), leaf([2.0])

    def step():
        x.data = y
        x.mul_(w)
        return x.sum()

    step = jit(step)
    found = []
    for k in range(4):
        found.append(step().item())
        if k == 1:
            x.data = mg.tensor([1.0, 1.0])
    assert found == [12, 24, 48, 96]
