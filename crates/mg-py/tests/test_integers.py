"""Integers and the numbers that stand beside integers, as PyTorch has them: which fit, which are refused, and where floats come of both."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from micrograd_rs.nn import functional as F

T = mg.tensor
INF, NAN = math.inf, math.nan


# Where floats come of both.


@pytest.mark.parametrize("dtype", [mg.uint8, mg.int8])
@pytest.mark.parametrize("number", [-3, 300])
def test_a_number_beside_integers_is_a_float_where_floats_come_of_them(dtype, number):
    x, wide = mg.tensor([1, 0, 7], dtype=dtype), mg.tensor([1.0, 0.0, 7.0])
    functions = [mg.xlogy, mg.special.xlogy, mg.special.xlog1py, mg.special.zeta, mg.div, mg.true_divide, mg.logaddexp, mg.logaddexp2]
    for f in functions:
        for ours, wanted in ((lambda: f(x, number), f(wide, float(number))), (lambda: f(number, x), f(float(number), wide))):
            answer = ours()
            assert answer.dtype == mg.float32
            mg.testing.assert_close(answer, wanted, equal_nan=True)
    assert mg.div(300, mg.tensor([2], dtype=mg.int8)).tolist() == [150.0]
    assert mg.special.zeta(mg.tensor(7, dtype=mg.uint8), -3).item() == INF
    assert mg.float_power(number, mg.tensor([2, 0], dtype=dtype)).tolist() == [float(number) ** 2, 1.0]
    assert mg.float_power(-3.7, mg.tensor([7], dtype=dtype)).item() == pytest.approx((-3.7) ** 7, rel=1e-14)


def test_a_number_beside_integers_is_one_of_them_where_integers_come_of_both():
    assert mg.pow(300, mg.tensor([1], dtype=mg.int8)).dtype == mg.int8


def test_integers():
    assert mg.trapezoid(mg.zeros(0, dtype=mg.int64)).dtype == mg.int64
    assert F.hardtanh(mg.tensor([0, 3], dtype=mg.uint8)).tolist() == [0, 1]


# Numbers that integers do not hold.


WRITES = {
    "fill_": lambda x, v: x.fill_(v),
    "masked_fill": lambda x, v: x.masked_fill(mg.tensor([True, False]), v),
    "index_fill": lambda x, v: x.index_fill(0, mg.tensor([0]), v),
    "scatter": lambda x, v: x.scatter(0, mg.tensor([0]), v),
    "x[0] =": lambda x, v: x.__setitem__(0, v),
    "x[...] =": lambda x, v: x.__setitem__(..., v),
    "x[[0]] =": lambda x, v: x.__setitem__([0], v),
    "x[mask] =": lambda x, v: x.__setitem__(mg.tensor([True, False]), v),
    "new_full": lambda x, v: x.new_full((2,), v),
    "full_like": lambda x, v: mg.full_like(x, v),
    "tensor": lambda x, v: mg.tensor([v], dtype=x.dtype),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_number_that_integers_do_not_hold_is_not_written(write):
    refused = {
        mg.uint8: [256, -256, 300, math.nan, INF, -INF, 256.0, -0.5, 1e30, 2**40],
        mg.int8: [128, -129, math.nan, 128.0, -128.5],
        mg.int32: [2**31, -(2**31) - 1, 2.0**31],
        mg.int64: [2**63, math.nan, 1e30, -1e30],
    }
    for dtype, numbers in refused.items():
        for number in numbers:
            x = mg.tensor([3, 4], dtype=dtype)
            with pytest.raises((RuntimeError, ValueError), match="overflow|does not fit"):
                write(x, number)
            assert x.tolist() == [3, 4]
    for dtype, number, written in [
        (mg.uint8, -1, 255),
        (mg.uint8, -255, 1),
        (mg.uint8, 255.9, 255),
        (mg.int8, 127.9, 127),
        (mg.int8, -128, -128),
        (mg.int64, -(2.0**63), -(2**63)),
        (mg.int64, 2**63 - 1, 2**63 - 1),
    ]:
        x = mg.tensor([3, 4], dtype=dtype)
        answer = write(x, number)
        assert (x if answer is None else answer)[0].item() == written
    x = mg.tensor([False, False])
    answer = write(x, 2)
    assert (x if answer is None else answer)[0].item() is True


@pytest.mark.parametrize("number", [300, -300, 2**40])
def test_a_factor_that_integers_do_not_hold_is_not_taken(number):
    x = mg.ones(2, dtype=mg.uint8)
    for f in (mg.add, mg.sub):
        with pytest.raises(RuntimeError):
            f(x, x, alpha=number)
    assert mg.add(x, x, alpha=-1).tolist() == [0, 0]


def test_a_number_beyond_all_integers_equals_none_of_them():
    for x in (mg.tensor([1, -(2**63), 2**63 - 1]), mg.tensor([1, 0, 255], dtype=mg.uint8), mg.tensor([True, False, True])):
        for huge in (2**63, 2**70):
            assert (x == huge).tolist() == [False] * 3 == (x > huge).tolist() == (x >= huge).tolist() == x.eq(huge).tolist()
            assert (x != huge).tolist() == [True] * 3 == (x < huge).tolist() == (x <= huge).tolist() == x.ne(huge).tolist()
            assert (huge > x).tolist() == [True] * 3
        assert (x > -(2**70)).tolist() == [True] * 3
        assert (x == -(2**70)).tolist() == [False] * 3


def test_a_float_beyond_an_integer_becomes_its_end():
    x = mg.tensor([300.0, -5.0, 3.9, NAN])
    assert x.to(mg.uint8).tolist() == [255, 0, 3, 0] and x.to(mg.int8).tolist() == [127, -5, 3, 0]
    assert (mg.tensor([255], dtype=mg.uint8) + 1).tolist() == [0]


def test_bounds_of_bytes():
    x = T([0, 100, 255], dtype=mg.uint8)
    assert x.clamp(0, 300).tolist() == [0, 100, 255] and x.clamp(min=-1).tolist() == [0, 100, 255]


def test_bytes_are_added_without_modulo():
    assert mg.trapezoid(mg.tensor([200, 100], dtype=mg.uint8)).item() == 150
    assert mg.cumulative_trapezoid(mg.tensor([100, 100, 100], dtype=mg.int8)).tolist() == [100, 200]


# Division by zero.


DIVIDED = {
    "floor_divide": [lambda x, d: x // d, mg.floor_divide, lambda x, d: x.clone().floor_divide_(d)],
    "remainder": [lambda x, d: x % d, mg.remainder, lambda x, d: x.clone().remainder_(d)],
    "fmod": [mg.fmod, mg.Tensor.fmod],
    "div": [lambda x, d: x.div(d, rounding_mode="floor"), lambda x, d: x.div(d, rounding_mode="trunc")],
}


@pytest.mark.parametrize("name", DIVIDED)
def test_division_by_a_known_zero_is_refused_at_the_call(name):
    x = mg.tensor([5, 7])
    for divided in DIVIDED[name]:
        for zero in (0, mg.tensor(0), mg.tensor([1, 0]), mg.tensor([1, 0], dtype=mg.int16), mg.tensor([0, 9, 0, 9])[::2]):
            with pytest.raises(mg.ArgumentError, match=f"^{name}_?: an integer is divided by zero"):
                divided(x, zero)
        # Of nothing, by floats, and by what is not known yet.
        assert divided(x[:0], 0).shape == (0,) and divided(x, mg.tensor([2, 7])).shape == (2,)
        assert name == "div" or divided(x * 1.0, 0.0).shape == (2,)
        with pytest.raises(mg.ArgumentError, match="divided by zero"):
            divided(x, mg.tensor([1, 1]) * 0).tolist()
    for reflected in (lambda d: 3 // d, lambda d: 3 % d, lambda d: mg.remainder(3, d)):
        with pytest.raises(mg.ArgumentError, match="divided by zero"):
            reflected(mg.tensor([0, 1]))
