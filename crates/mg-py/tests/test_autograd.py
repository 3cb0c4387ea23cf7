"""Gradients: accumulation, graphs that are kept, `grad`, higher orders, switches."""

from __future__ import annotations

import math
import threading

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor
from micrograd_rs.autograd import grad


def test_accumulation_and_removal():
    x = Tensor([1.0, 2.0])
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8]
    x.zero_grad()
    assert x.grad is None
    (x * 3).sum().backward()
    x.grad.zero_()
    assert x.grad.tolist() == [0, 0]
    x.grad += 1
    x.grad[1] = 5
    assert x.grad.tolist() == [1, 5]
    x.grad = mg.tensor([7.0, 8.0])
    assert x.grad.tolist() == [7, 8]
    del x.grad
    assert x.grad is None
    with pytest.raises(ValueError, match=r"\[3\].*\[2\]"):
        x.grad = mg.ones(3)
    with pytest.raises(TypeError):
        x.grad = 5


def test_leaves():
    x = Tensor([1.0])
    y = x * 2
    assert x.is_leaf and not y.is_leaf and y.requires_grad and y.grad_fn.name() == "MulBackward0" and x.grad_fn is None
    assert not y.detach().requires_grad and y.detach().is_leaf and y.data.tolist() == [2]
    with pytest.raises((RuntimeError, ValueError), match="leaf|leaves"):
        y.requires_grad = False
    constant = mg.ones(2)
    assert constant.requires_grad_() is constant and constant.requires_grad
    constant.requires_grad = False
    assert not constant.requires_grad
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        mg.ones(2, dtype="i64").requires_grad_()
    with pytest.raises((RuntimeError, ValueError), match="gradient"):
        mg.ones(1).sum().backward()
    x.data = mg.tensor([9.0])
    assert x.tolist() == [9] and x.requires_grad


def test_grad_answers():
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    z = (x * y).sum()
    dx, dy = grad(z, [x, y])
    assert dx.tolist() == [3, 4] and dy.tolist() == [1, 2] and x.grad is None
    (middle,) = grad((2 * x).sum(), x, create_graph=True)
    assert middle.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="allow_unused=True"):
        grad((x * 1).sum(), [y])
    assert grad((x * 1).sum(), [y], allow_unused=True) == (None,)
    (seeded,) = grad(x * 2, x, grad_outputs=mg.tensor([1.0, 10.0]))
    assert seeded.tolist() == [2, 20]
    (both,) = grad([x * 2, x * 3], x, grad_outputs=[mg.ones(2), mg.ones(2)])
    assert both.tolist() == [5, 5]
    with pytest.raises(ValueError, match="1 seed gradients for 2"):
        grad([x, x], x, grad_outputs=[mg.ones(2)])
    with pytest.raises(TypeError):
        grad(5, x)


def test_of_what_is_on_the_way():
    x = Tensor([2.0])
    h = x * x
    y = h * h
    (dh,) = grad(y.sum(), h)
    assert dh.tolist() == [8]


def test_higher_orders():
    x = Tensor(0.7, dtype="f64")
    y, wanted = x.sin(), [math.cos, lambda v: -math.sin(v), lambda v: -math.cos(v), math.sin]
    for order in range(4):
        (y,) = grad(y, x, create_graph=True)
        close(y, wanted[order](0.7), rtol=1e-12)


def test_hessian_vector_product():
    x = Tensor([1.0, 2.0, 3.0])
    v = mg.tensor([1.0, 0.0, -1.0])
    (g,) = grad((x**3).sum(), x, create_graph=True)
    (hv,) = grad((g * v).sum(), x)
    close(hv, [6, 0, -18])


def test_no_grad():
    x = Tensor([1.0])
    with mg.no_grad():
        assert not mg.is_grad_enabled() and not (x * 2).requires_grad
        with mg.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    assert mg.is_grad_enabled() and (x * 2).requires_grad

    @mg.no_grad()
    def called():
        """Its words."""
        return x * 2

    @mg.no_grad
    def bare():
        return x * 2

    assert not called().requires_grad and not bare().requires_grad
    assert called.__name__ == "called" and called.__doc__ == "Its words."
    with pytest.raises(KeyError), mg.no_grad():
        raise KeyError
    assert mg.is_grad_enabled()
    with mg.set_grad_enabled(False):
        assert not mg.is_grad_enabled()
    assert mg.is_grad_enabled()
    again = mg.no_grad()
    with again, again:
        assert not mg.is_grad_enabled()
    assert mg.is_grad_enabled()


def test_switches_are_each_threads_own():
    seen = []
    with mg.no_grad():
        thread = threading.Thread(target=lambda: seen.append(mg.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_a_long_chain():
    x = y = Tensor(1.0)
    for _ in range(20_000):
        y = y + x * 0.001
    y.backward()
    close(x.grad, 21.0, rtol=1e-3)


def test_mixed_dtypes():
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0], dtype="f64")
    (x * y).sum().backward()
    assert x.grad.dtype == mg.float32 and y.grad.dtype == mg.float64


def test_inputs_of_all_ranks():
    for shape in ((), (0,), (1, 1), (2, 0, 3)):
        x = Tensor(mg.ones(*shape))
        (x * 2).sum().backward()
        assert x.grad.shape == shape and all(v == 2 for v in x.grad.flatten().tolist())


def test_wrong_seeds():
    x = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"\[3\]"):
        (x * 1).backward(mg.ones(3))
    with pytest.raises(TypeError):
        (x * 1).backward(5)


def test_unlike_devices():
    a = mg.Value(1.0)
    assert a.device == "cpu"
    if mg.Device.is_cuda_available():
        with pytest.raises(ValueError, match="same device") as caught:
            mg.ones(2) + mg.ones(2, device="cuda")
        assert "cpu" in str(caught.value) and "cuda:0" in str(caught.value)


def test_a_gradient_with_a_history_keeps_it_where_more_is_added():
    w = mg.tensor(2.0, requires_grad=True)
    (w * 1).backward()
    g = w.grad
    g.mul_(w)
    triple = g * 3
    g.backward()
    # As in PyTorch: what was added changed the numbers alone.
    assert w.grad is g and g.requires_grad and not g.is_leaf and g.item() == 3.0
    assert mg.autograd.grad(triple, [g], retain_graph=True)[0].item() == 3.0
    v = mg.tensor(2.0, requires_grad=True)
    (v * v).backward(create_graph=True)
    first = v.grad
    triple = first * 3
    (v * v * v).backward()
    assert v.grad is first and first.item() == 16.0
    assert [g.item() for g in mg.autograd.grad(triple, [first, v])] == [3.0, 6.0]
