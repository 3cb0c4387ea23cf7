"""Pickling and copying of tensors and what belongs to them."""

from __future__ import annotations

import copy
import pickle

import micrograd_rs as mg
import pytest
from micrograd_rs import Tensor
from micrograd_rs._micrograd_rs import _rebuild


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"])
def test_tensors(dtype, protocol):
    t = mg.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    for view in (t, t.t(), t[::-1, 1:], t[:0], t[0, 0]):
        other = pickle.loads(pickle.dumps(view, protocol))
        assert other.tolist() == view.tolist() and other.dtype == dtype and other.shape == view.shape


def test_leaves_stay_leaves():
    x = Tensor([1.0])
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert other.requires_grad and other.is_leaf
    assert not pickle.loads(pickle.dumps(x * 2)).requires_grad


def test_deepcopy():
    x = Tensor([1.0, 2.0])
    (x * x).sum().backward()
    other = copy.deepcopy(x)
    assert other.grad.tolist() == [2, 4]
    other.grad.zero_()
    with mg.no_grad():
        other += 1
    assert x.grad.tolist() == [2, 4] and x.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="detach"):
        copy.deepcopy(x * 2)
    a, b = copy.deepcopy([x, x])
    assert a is b


def test_small_things():
    for thing in (mg.float32, mg.Device("cpu"), mg.Device("cuda:1"), mg.zeros(2, 3).shape):
        for other in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
            assert other == thing and type(other) is type(thing)


def test_wrong_pickles():
    for arguments in (
        (b"123", [1], "f32", "cpu", False),
        (b"\2", [1], "bool", "cpu", False),
        (b"1234", [1], "f99", "cpu", False),
        (b"", [2**40, 2**40], "f32", "cpu", False),
        (b"1234", [1], "f32", "gpu", False),
        (b"1234", [-1], "f32", "cpu", False),
        ("1234", [1], "f32", "cpu", False),
    ):
        with pytest.raises((ValueError, TypeError, OverflowError)):
            _rebuild(*arguments)
