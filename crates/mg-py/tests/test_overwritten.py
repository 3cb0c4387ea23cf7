"""Tensors that a graph has read and that somebody writes over: which may be, which are an error as in PyTorch, and which lines the error names."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import leaf
from micrograd_rs.nn import functional as F


# What may be written over.


@pytest.mark.parametrize("f", [lambda x: x.msort(), lambda x: x.quantile(0.5), lambda x: x.nanquantile(0.0)])
def test_what_was_sorted_may_be_overwritten(f):
    w = leaf([3.0, 1.0])
    answer = f(w)
    with mg.no_grad():
        w.mul_(0)
    answer.sum().backward()
    assert sum(w.grad.tolist()) == (2 if answer.ndim else 1)


@pytest.mark.parametrize("read", [False, True])
def test_what_was_pooled_may_be_overwritten(read):
    w = leaf([[[1.0, 3.0, -2.0, -5.0]]])
    pooled = F.max_pool1d(w, 2)
    if read:
        pooled.tolist()
    pooled.relu_()
    pooled.sum().backward()
    assert w.grad.tolist() == [[[0, 1, 0, 0]]]
    net = mg.nn.Sequential(mg.nn.Conv2d(1, 1, 2), mg.nn.MaxPool2d(2), mg.nn.ReLU(inplace=True))
    net(mg.ones(2, 1, 4, 4)).sum().backward()
    assert net[0].weight.grad.shape == (1, 1, 2, 2)


def test_what_was_divided_may_be_overwritten_and_its_operands_may_not():
    a, b = leaf([6.0]), leaf([2.0])
    quotient = a / b
    quotient *= 3
    quotient.backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([1.5], [-4.5])
    divisor = b * 1
    quotient = a / divisor
    divisor += 1
    with pytest.raises(RuntimeError, match="changed in place"):
        quotient.backward()


def test_a_matrix_may_be_overwritten_once_it_is_inverted():
    m = leaf([[2.0, 0.0], [0.0, 4.0]])
    own = m * 1
    inverse = own.inverse()
    own.zero_()
    inverse.sum().backward()
    assert m.grad.tolist() == [[-0.25, -0.125], [-0.125, -0.0625]]


def test_erfinv_keeps_its_operand_only():
    w = mg.tensor([0.5], requires_grad=True)
    y = w.erfinv()
    with mg.no_grad():
        y.mul_(2)
    y.sum().backward()
    assert w.grad is not None and w.grad.item() == pytest.approx(1.1125, rel=1e-3)


def test_exponents_of_what_is_written_over():
    v, w = mg.tensor(2.0), leaf(3.0)
    y = v.ldexp(w)
    v.zero_()
    y.backward()
    assert w.grad.item() == pytest.approx(16 * math.log(2))


def test_a_gradient_that_is_a_value_which_was_written_over_is_one_all_the_same():
    w = leaf([1.5, 2.0, 3.0])
    c = w.clone()
    d = c.clone()
    c.mul_(d)
    c.sum().backward()
    assert w.grad.tolist() == [3.0, 4.0, 6.0]
    w = leaf([1.5, 2.0, 3.0])
    c = w.clone()
    d = c[1:].clone()
    c[:2].mul_(d)
    c.sum().backward()
    assert w.grad.tolist() == [2.0, 4.5, 3.0]
    # What is made of that value is refused.
    c = w.clone()
    d = c * c
    c.mul_(d)
    with pytest.raises(RuntimeError, match="changed in place"):
        c.sum().backward()


def test_what_was_not_written_has_its_gradients():
    w = leaf([1.0, 2.0])
    y = (w * w).sum()
    with mg.no_grad():
        w[mg.tensor([0]) + 2] = mg.tensor(5.0, dtype=mg.float64)
    with pytest.raises(IndexError):
        w.tolist()
    y.backward(retain_graph=True)
    assert w.grad.tolist() == [2, 4] and w.tolist() == [1, 2]
    with mg.no_grad():
        w[0] = 7.0
    with pytest.raises(RuntimeError, match="changed in place since"):
        y.backward()


# Copies, and what was copied.


def test_what_was_copied_stays_when_its_origin_changes():
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    copied = mg.zeros(2)
    copied.copy_(w)
    part = mg.zeros(3)
    part[1:] = w
    squares = (copied * copied).sum() + (part * part).sum()
    with mg.no_grad():
        w.mul_(3.0)
    squares.backward()
    assert w.grad.tolist() == [4.0, 8.0]


def test_what_was_copied_of_a_constant_stays_when_it_changes():
    w, other = leaf([1.0, 2.0]), mg.tensor([3.0, 4.0])
    w.detach().copy_(other)
    squares = (w * w).sum()
    other.zero_()
    squares.backward()
    assert w.grad.tolist() == [6.0, 8.0]


def test_what_was_copied_from_may_be_written():
    w = mg.tensor([0.0], requires_grad=True)
    h = mg.tensor([2.0]) * 1
    with mg.no_grad():
        w.copy_(h)
    y = w.exp() * w
    h *= h
    (g,) = mg.autograd.grad(y, w)
    assert g.item() == pytest.approx(3 * math.exp(2)) and h.item() == 4 and w.item() == 2
    # What is written itself is told of.
    y = w.exp() * w
    with mg.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="changed in place"):
        mg.autograd.grad(y, w)


# The lines that an error names.


def test_the_error_of_what_was_overwritten_names_the_line():
    x = leaf([1.0, 2.0])
    y = x * 1
    z = y.exp() * y
    y += 1  # the write
    with pytest.raises(RuntimeError, match=r'changed in place since; it was changed at ".*test_overwritten.py", line \d+: y \+= 1  # the write'):
        z.sum().backward()


def test_the_error_of_what_was_overwritten_names_both_lines_where_anomalies_are_looked_for():
    with mg.autograd.detect_anomaly(check_nan=False):
        x = leaf([1.0, 2.0])
        y = x * 1
        z = y * y  # the save
        y[0] = 3.0  # the write
        with pytest.raises(RuntimeError, match=r'saved at ".*test_overwritten.py", line \d+: z = y \* y  # the save; it was changed at .* # the write'):
            z.sum().backward()


def test_what_a_function_saved_names_the_line_too():
    class Twice(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            return g * 2

    x = leaf([1.0])
    y = x * 1
    z = Twice.apply(y)
    y.add_(1)  # the write
    with pytest.raises(RuntimeError, match="the write"):
        z.backward()


# Memory that NumPy has, too: it is written where it is.

INTO_THEMSELVES = {
    "mul": lambda c: c.mul_(c),
    "imul": lambda c: c.__imul__(c),
    "ipow": lambda c: c.__ipow__(c),
    "pow": lambda c: c.pow_(c),
    "atan2": lambda c: c.atan2_(c),
    "addcmul": lambda c: c.addcmul_(c, c),
    "addmv": lambda c: c.addmv_(mg.eye(2) * c, c),
    "a view": lambda c: c.mul_(c.view(2)),
    "another half": lambda c: c[:1].mul_(c[1:]),
    "the same half": lambda c: c[:1].mul_(c[:1]),
    "products": lambda c: c.mul_(c * 2),
    "turned": lambda c: c.mul_(c.flip(0)),
    "index_add": lambda c: c.index_add_(0, mg.tensor([1, 0]), c),
    "scatter_reduce": lambda c: c.scatter_reduce_(0, mg.tensor([1, 0]), c, "prod"),
    "masked_scatter": lambda c: c.masked_scatter_(c > 2.5, c),
    "exp": lambda c: c.exp_(),
}


@pytest.mark.parametrize("change", INTO_THEMSELVES.values(), ids=INTO_THEMSELVES)
def test_memory_that_others_have_is_changed_by_what_it_was(change):
    pytest.importorskip("numpy")

    def found(is_shared):
        w = leaf([3.0, 2.0])
        c = w.clone()
        array = c.detach().numpy() if is_shared else None
        change(c)
        assert array is None or array.tolist() == c.tolist()
        return c.tolist(), mg.autograd.grad(c.sum(), [w])[0].tolist()

    assert found(True) == found(False)


def test_a_constant_on_the_same_memory_is_not_what_it_was():
    pytest.importorskip("numpy")
    for share in (mg.Tensor.detach, lambda c: c.data):
        w = leaf([3.0, 2.0])
        c = w.clone()
        array = c.detach().numpy()
        c.mul_(share(c))
        assert array.tolist() == [9.0, 4.0]
        assert mg.autograd.grad(c.sum(), [w])[0].tolist() == [3.0, 2.0]


def test_a_sum_with_itself_on_memory_of_others_has_saved_nothing():
    pytest.importorskip("numpy")
    w = leaf([1.0, 1.0])
    x = mg.tensor([1.0, 2.0])
    array = x.numpy()
    x.add_(w)
    x.add_(x)
    # What has saved no value is walked again, as in PyTorch.
    x.sum().backward()
    (x * 0.5 + x).sum().backward()
    assert w.grad.tolist() == [5.0, 5.0] and array.tolist() == [4.0, 6.0]
