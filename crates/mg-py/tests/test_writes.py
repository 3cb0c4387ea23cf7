"""Writes in place to data, leaves, views, broadcast and filled tensors, and the gradients of what is left, as PyTorch has them."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import leaf

T = mg.tensor


# Data and leaves.


def test_writes_to_data_and_to_what_is_detached():
    p = leaf([1.0, 2.0])
    (p * p).sum().backward()
    p.data.sub_(0.5 * p.grad)
    assert p.tolist() == [0, 0]
    p.data.copy_(T([3.0, 4.0]))
    p.data[0] = 7
    p.grad.detach().mul_(2)
    assert p.tolist() == [7, 4] and p.grad.tolist() == [4, 8]
    p.grad.data.zero_()
    p.detach().zero_()
    assert p.tolist() == [0, 0] and p.grad.tolist() == [0, 0]


@pytest.mark.parametrize("call", ["squeeze_(0)", "squeeze_()", "unsqueeze_(0)", "t_()", "transpose_(0, 1)", "swapaxes_(0, 1)"])
def test_a_leaf_takes_another_shape_where_nothing_is_recorded(call):
    w = leaf([[1.0, 2.0]])
    shared = w.detach()
    with pytest.raises(RuntimeError, match=r"in no_grad\(\)"):
        eval("w." + call)
    with mg.no_grad():
        assert eval("w." + call) is w
    wanted = eval("shared." + call.replace("_(", "(")).shape
    assert (w.shape, w.is_leaf, w.requires_grad) == (wanted, True, True)
    shared += 1
    (w * w).sum().backward()
    assert (w.grad.shape, w.grad.flatten().tolist()) == (wanted, [4, 6])


def test_views_that_were_there_before_a_leaf_was_are_written_to_like_it():
    x = mg.ones(3)
    view, detached = x[:1], x.detach()
    x.requires_grad_()
    for write in (lambda v: v.mul_(2), lambda v: v.__setitem__(0, 5.0), lambda v: v.zero_(), lambda v: v.view(1, 1).fill_(3.0)):
        with pytest.raises(RuntimeError, match="leaf"):
            write(view)
    assert x.tolist() == [1.0, 1.0, 1.0]
    with mg.no_grad():
        view.mul_(2)
    detached[1] = 4.0
    assert x.tolist() == [2.0, 4.0, 1.0]
    x.requires_grad_(False)
    view.mul_(2)
    assert x.tolist() == [4.0, 4.0, 1.0]
    # A view that is a leaf itself is nothing to the others.
    x = mg.ones(3)
    view, other = x[:1], x[:2]
    view.requires_grad_()
    x.mul_(2)
    other.mul_(2)
    assert (x.tolist(), view.tolist()) == ([4.0, 4.0, 2.0], [4.0])


# Views and parts.


@pytest.mark.parametrize("view", [lambda t: t.t_(), lambda t: t[:], lambda t: t.view(2)])
def test_a_view_that_is_written_to_by_itself_keeps_its_history(view):
    x = leaf([1.0, 2.0])
    v = view(x * 2)
    y = v.clone()
    with mg.no_grad():
        v.mul_(3)
    assert v.tolist() == [6, 12]
    assert mg.autograd.grad(y.sum(), v, retain_graph=True)[0].tolist() == [1, 1]
    assert mg.autograd.grad(y.sum() + v.sum(), x)[0].tolist() == [4, 4]


def test_a_write_through_a_view_of_what_was_picked_is_that_ones():
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    picked = w[[0, 1]]
    seen = picked[:]
    seen.mul_(2)
    by_seen, by_picked = mg.autograd.grad(seen.sum(), [seen, picked])
    assert by_seen.tolist() == by_picked.tolist() == [1.0, 1.0]


def test_parts_of_what_is_written_over_have_gradients_of_what_is_left():
    def run(change):
        x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
        y = x * x
        change(y, x)
        (y * mg.arange(1.0, 10.0).view(3, 3)).sum().backward()
        return x.grad.tolist()

    def meet(y, x):
        y[0] = x[1] * 3
        y[:, 0] = x[2]
        y[0:2, 0:2] = x[1:, 1:] * 2

    def again(y, x):
        y[1] = x[0] * 3
        y[1] = y[1].clone() * x[0]
        y[1, 2] = 0

    def column(y, x):
        y[:, 1] = x[1]
        y.t()[2] = y[0] * 2

    assert run(meet) == [[0.0, 0.0, 0.0], [0.0, 2.0, 85.0], [0.0, 136.0, 179.0]]
    assert run(again) == [[26.0, 68.0, 18.0], [0.0, 0.0, 0.0], [98.0, 128.0, 162.0]]
    assert run(column) == [[14.0, 0.0, 108.0], [46.0, 5.0, 8.0], [98.0, 0.0, 0.0]]


# Elements of a broadcast view share a place, whoever else sees it.


@pytest.mark.parametrize("jit", [lambda f: f, mg.jit])
def test_an_element_of_a_broadcast_leaf_is_written_for_all(jit):
    def step(x):
        x.requires_grad_()
        with mg.no_grad():
            x[0].mul_(0.0)
        return x * 2

    step = jit(step)
    for _ in range(5):
        x = mg.tensor(1.0).expand(2)
        assert step(x).tolist() == [0, 0]
        assert x.tolist() == [0, 0] and x.is_leaf


def test_parts_of_broadcast_tensors_that_were_detached():
    x = mg.tensor([[1.0], [2.0]]).expand(2, 3).detach()
    row = x[1, :1]
    row += 5
    assert x.tolist() == [[1, 1, 1], [7, 7, 7]]
    x[0, 2] = 9.0
    assert (x.tolist(), row.tolist()) == ([[9, 9, 9], [7, 7, 7]], [7])
    with pytest.raises(RuntimeError, match="broadcast view"):
        x[0].fill_(1.0)
    assert x.numpy().tolist() == [[9, 9, 9], [7, 7, 7]]
    other = x.detach()
    other[1, 1] = 0.0
    assert x.tolist() == [[9, 9, 9], [0, 0, 0]]


# Memory that one number fills.


@pytest.mark.parametrize("seen", [lambda x: None, lambda x: x.detach(), lambda x: x.view(-1)])
@pytest.mark.parametrize("jit", [lambda f: f, mg.jit])
def test_a_tensor_that_a_number_filled_is_written_to(seen, jit):
    x, source = mg.tensor([5.0, 6.0]), mg.tensor([0.0, 1.0])

    def look(c):
        seen(x)

    look = jit(look)
    for fill in (mg.tensor(0.0), mg.tensor([0.0])):
        x[:] = fill
        look(source)
        x[:] = source
        assert x.tolist() == [0, 1]
        x[:,] = fill
        x.tolist()
        seen(x)
        x.copy_(source)
        assert x.tolist() == [0, 1]


@pytest.mark.parametrize("fill", [lambda t: t.fill_(0.0), lambda t: t.__setitem__(..., 0.0)])
def test_what_was_filled_is_one_result_when_its_numbers_change(fill):
    w = mg.tensor(0.0, requires_grad=True)
    filled = w.fix()
    fill(filled)
    after = filled - w
    for _ in range(3):
        filled.data.add_(1.0)
    to_w, to_filled = mg.autograd.grad(filled + after, [w, filled])
    assert (to_w.item(), to_filled.item()) == (-1.0, 2.0)
