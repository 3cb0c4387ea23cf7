"""How tensors, parameters and values are printed."""

from __future__ import annotations

import micrograd_rs as mg
from micrograd_rs import Tensor, nn


def test_repr():
    assert repr(mg.tensor([1, 2])) == "tensor([1, 2])"
    assert repr(Tensor([1.0, 2.5])) == "tensor([1.0000, 2.5000], requires_grad=True)"
    assert repr(mg.tensor(3)) == "tensor(3)" and "grad_fn=<MulBackward0>" in repr(Tensor([1.0]) * 2)
    assert repr(mg.tensor([1], dtype="int8")) == "tensor([1], dtype=micrograd_rs.int8)"
    assert str(mg.float32) == repr(mg.float32) == "micrograd_rs.float32"
    assert "[]" in repr(mg.zeros(0)) and repr(mg.tensor([True, False])) == "tensor([ True, False])"
    text = repr(mg.arange(10_000).reshape(100, 100))
    assert "..." in text and len(text) < 1000 and "9999" in text
    assert "nan" in repr(mg.tensor([float("nan")])) and "inf" in repr(mg.tensor([float("inf")]))
    assert "e" in repr(mg.tensor([1e-20, 1e20]))


def test_html():
    html = Tensor([[1.0, 2.0], [3.0, 4.0]])._repr_html_()
    assert html.count("<tr>") == 2 and html.count("<td>") == 4 and "requires grad" in html and "f32" in html
    large = mg.zeros(1000, 1000)._repr_html_()
    assert large.count("<tr>") == 13 and "…" in large
    assert "<pre>" in mg.zeros(2, 2, 2)._repr_html_() and "<table>" in mg.tensor(1)._repr_html_()
    assert "<pre>" in mg.zeros(0)._repr_html_()


def test_printing_does_not_keep_gradients_away():
    x = Tensor([1.0])
    y = x * 2
    repr(y)
    y.sum().backward()
    assert x.grad.tolist() == [2]


def test_numbers_are_written_as_pythons():
    w = mg.tensor(2.5, requires_grad=True)
    assert f"{mg.tensor(3)} {mg.tensor(0.25)} {w} {mg.tensor(True)}" == "3 0.25 2.5 True"
    assert f"{mg.tensor([1.0])}" == str(mg.tensor([1.0]))


def test_a_parameter_says_that_it_is_one():
    assert repr(nn.Parameter(mg.ones(2))) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert repr(nn.Linear(1, 1).bias).startswith("Parameter containing:\ntensor([")
    assert repr(mg.ones(2, requires_grad=True)) == "tensor([1., 1.], requires_grad=True)"


def test_a_value_says_where_it_is():
    assert repr(mg.Value(3.14)) == str(mg.Value(3.14)) == "Value(data=3.14, grad=0.0, device=cpu)"


def test_columns_are_as_wide_as_finite_numbers_that_are_not_zero():
    nan = float("nan")
    assert repr(mg.tensor([[nan, nan], [1, 2]])) == "tensor([[nan, nan],\n        [1., 2.]])"
    assert repr(mg.tensor([0.0, -0.0])) == "tensor([0., -0.])"
    assert repr(mg.tensor([-float("inf"), 1.5])) == "tensor([  -inf, 1.5000])"
