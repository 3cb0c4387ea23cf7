"""Gradients within and around a replayed step: carried from call to call, kept, hooked, and walked by the caller."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import leaf
from micrograd_rs import nn, optim

T = mg.tensor
x = mg.tensor([1.0, 2.0])


# Gradients that a step carries, sets or hands back.


def test_gradients_that_a_step_carries():
    w = leaf([0.0])
    micro = mg.jit(lambda x: (w * x).sum().backward() or x * 1)
    for k in range(8):
        w.grad = None
        micro(T([4.0]))
        assert w.grad.item() == 4
    w.grad = T([100.0])
    micro(T([4.0]))
    assert w.grad.item() == 104
    w.grad.zero_()
    micro(T([4.0]))
    assert w.grad.item() == 4


def test_a_gradient_that_is_the_last_word_is_there():
    w = leaf([1.0])

    @mg.jit
    def step(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    for k in range(6):
        step(T([float(k)]))
        assert w.grad.item() == k


def test_a_replayed_step_sets_the_gradient_of_what_it_changes():
    w = mg.tensor(2.0)

    def step(_: mg.Tensor) -> None:
        w.mul_(w)
        w.grad = w.detach().clone()

    jitted = mg.jit(step)
    for at in range(5):
        jitted(mg.tensor(float(at)))
        assert w.grad is not None and w.grad.item() == w.item() == 2.0 ** 2 ** (at + 1)


def test_a_loss_that_is_handed_back_can_be_differentiated():
    w = leaf([2.0])
    f = mg.jit(lambda x: (w * x).sum())
    for k in range(8):
        w.grad = None
        f(T([float(k)])).backward()
        assert w.grad.item() == k


# Gradients that are kept.


def test_gradients_that_are_kept_within_a_step():
    @mg.jit
    def step(v):
        h = v * 3
        h.retain_grad()
        return h

    for _ in range(5):
        a = mg.tensor([1.0, 2.0], requires_grad=True)
        h = step(a * 2)
        (h * h).sum().backward()
        assert h.retains_grad and h.grad.tolist() == [12, 24]


def test_a_kept_gradient_of_a_replays_answer():
    @mg.jit
    def f(w):
        t = (w * 2).t()
        return t, t * 2

    for _ in range(5):
        w = mg.ones(2, 2, requires_grad=True)
        y, z = f(w)
        y.retain_grad()
        ((y * y).sum() + (z * z).sum()).backward()
        assert y.grad.tolist() == [[20, 20], [20, 20]]
    assert f.is_replaying


# Hooks.


def test_hooks_that_a_step_registers_are_there():
    def step(v):
        v.register_hook(lambda g: g * 10)
        return v * 2

    replayed = mg.jit(step)
    for _ in range(5):
        v = mg.ones(2, requires_grad=True)
        replayed(v).sum().backward()
        assert v.grad.tolist() == [20, 20]


@pytest.mark.parametrize("retains", [False, True])
def test_hooks_of_answers_are_called_once(retains):
    step, calls = mg.jit(lambda v: v * 2), []
    for i in range(6):
        v = mg.ones(2, requires_grad=True)
        y = step(v)
        if retains:
            y.retain_grad()
        else:
            y.register_hook(lambda g: calls.append(g.sum().item()) or g * 3)
        y.sum().backward()
        assert v.grad.tolist() == ([2, 2] if retains else [6, 6])
        assert y.grad.tolist() == [1, 1] if retains else len(calls) == i + 1


def gradients_with_a_hook(f, hooked):
    """Of the arguments of six calls; `hooked` computes what is given, calls, and answers with a loss."""
    found = []
    for _ in range(6):
        w = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        hooked(f, w).backward()
        found.append(w.grad.tolist())
    return found


def hook_on_what_is_given(f, w):
    h = w * 2
    h.register_hook(lambda g: g * 2)
    return f(h)[0].sum() + h.sum()


def kept_gradient_of_what_is_given(f, w):
    h = w * 2
    h.retain_grad()
    loss = f(h)[1].sum()
    h.register_hook(lambda g: g * 3)
    return loss


def two_steps_in_a_row(f, w):
    y = f(w)[0]
    y.register_hook(lambda g: g * 3)
    return f(y)[1].sum()


def hook_on_an_answer_that_is_an_argument(f, w):
    h = w * 1
    answer = f(h)[2]
    answer.register_hook(lambda g: g * 3)
    return (answer * f(h)[0]).sum()


def hook_on_an_answer_that_is_a_view(f, w):
    a, b, _ = f(w)
    a.register_hook(lambda g: g * 3)
    return (a * a).sum() + (b * b).sum()


@pytest.mark.parametrize(
    "hooked",
    [
        hook_on_what_is_given,
        kept_gradient_of_what_is_given,
        two_steps_in_a_row,
        hook_on_an_answer_that_is_an_argument,
        hook_on_an_answer_that_is_a_view,
    ],
)
def test_hooks_around_a_replay(hooked):
    def step(h):
        t = (h * 2).t()
        return t, t.sin(), h

    f = mg.jit(step)
    assert gradients_with_a_hook(f, hooked) == gradients_with_a_hook(step, hooked)
    assert f.is_replaying


def test_hooks_that_come_later_are_called():
    w = mg.ones(2, requires_grad=True)
    o = optim.SGD([w], lr=0.25)

    @mg.jit
    def step(v):
        o.zero_grad()
        (w * v).sum().backward()
        o.step()

    for _ in range(4):
        step(mg.ones(2))
    assert step.is_replaying and w.tolist() == [0, 0]
    handle = o.register_step_pre_hook(lambda *_: w.grad.zero_())
    for _ in range(4):
        step(mg.ones(2))
    assert w.tolist() == [0, 0]
    handle.remove()
    step(mg.ones(2))
    assert w.tolist() == [-0.25, -0.25]
    layer = nn.Identity()
    forward = mg.jit(lambda v: layer(v))
    for _ in range(4):
        assert forward(x).tolist() == [1, 2]
    handle = nn.modules.module.register_module_forward_hook(lambda module, args, output: output * 10)
    try:
        for _ in range(3):
            assert forward(x).tolist() == [10, 20]
    finally:
        handle.remove()
    assert forward(x).tolist() == [1, 2]


def test_a_gradient_that_is_replaced_and_answered_with_is_the_one_that_was_there():
    w = mg.ones(2, requires_grad=True)

    @mg.jit
    def swapped(x):
        before = w.grad
        w.grad = w.detach() * x
        return before, x + 1

    @mg.jit
    def taken(x):
        before = w.grad
        w.grad = None
        return [before], x + 1

    for step in (swapped, taken):
        for k in range(5):
            held = w.grad = mg.full((2,), float(k))
            answer = step(mg.ones(2))[0]
            got = answer[0] if isinstance(answer, list) else answer
            held.add_(10)
            assert got.tolist() == [k + 10, k + 10]
            assert w.grad is None if step is taken else w.grad.tolist() == [1, 1]
        assert step.is_replaying

    @mg.jit
    def part(x):
        before = w.grad
        w.grad = None
        return before[:1], x + 1

    for k in range(4):
        held = w.grad = mg.full((2,), float(k))
        got = part(mg.ones(2))[0]
        held.add_(10)
        assert got.tolist() == [k + 10] and w.grad is None
