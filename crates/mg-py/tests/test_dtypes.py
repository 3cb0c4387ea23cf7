"""Dtypes: their limits, how they meet, how they are converted, the one that floats have."""

from __future__ import annotations

import micrograd_rs as mg
import numpy
import pytest

T = mg.tensor


@pytest.fixture
def default():
    before = mg.get_default_dtype()
    yield
    mg.set_default_dtype(before)


@pytest.mark.parametrize("name", ["float64", "float32", "float16"])
def test_limits_of_floats(name):
    ours, theirs = mg.finfo(getattr(mg, name)), numpy.finfo(name)
    assert (ours.bits, ours.eps, ours.max, ours.min, ours.tiny) == tuple(
        getattr(theirs, key).item() if hasattr(getattr(theirs, key), "item") else getattr(theirs, key)
        for key in ("bits", "eps", "max", "min", "tiny")
    )
    assert ours.resolution == pytest.approx(float(theirs.resolution), rel=1e-3) and ours.smallest_normal == ours.tiny
    assert ours.dtype == name


def test_limits():
    assert mg.finfo(mg.bfloat16).max == pytest.approx(3.3895313892515355e38) and mg.finfo(mg.bfloat16).eps == 0.0078125
    assert mg.finfo().bits == 32
    for name in ["int64", "int32", "uint8"]:
        ours, theirs = mg.iinfo(getattr(mg, name)), numpy.iinfo(name)
        assert (ours.bits, ours.min, ours.max, ours.dtype) == (theirs.bits, theirs.min, theirs.max, name)
    for call in [lambda: mg.finfo(mg.int64), lambda: mg.iinfo(mg.float32), lambda: mg.iinfo(mg.bool)]:
        with pytest.raises(TypeError):
            call()


def test_how_dtypes_meet():
    assert mg.promote_types(mg.float16, mg.bfloat16) == mg.float32
    assert mg.promote_types(mg.uint8, mg.int32) == mg.int32
    assert mg.result_type(mg.tensor([1, 2]), 1.5) == mg.float32
    assert mg.result_type(mg.tensor([1.0], dtype=mg.float16), mg.tensor(1.0, dtype=mg.float64)) == mg.float16
    assert mg.result_type(mg.tensor([1], dtype=mg.uint8), 3) == mg.uint8
    assert mg.can_cast(mg.float64, mg.float16) and mg.can_cast(mg.int64, mg.uint8) and mg.can_cast(mg.bool, mg.bool)
    assert not mg.can_cast(mg.float32, mg.int64) and not mg.can_cast(mg.int32, mg.bool)
    assert mg.is_tensor(mg.zeros(1)) and not mg.is_tensor([1.0])
    assert mg.is_floating_point(mg.zeros(1)) and not mg.is_floating_point(mg.arange(2))


def test_promotion():
    assert (mg.ones(2, dtype=mg.float16) * T(0.5)).dtype == mg.float16
    assert (mg.ones(2, dtype=mg.int32) + T(1)).dtype == mg.int32
    assert (mg.ones(2) * T(0.5, dtype=mg.float64)).dtype == mg.float32
    b, c = T([True, False]), T([True, True])
    for answer in (b + c, b * c, b.maximum(c), b.minimum(c), mg.where(b, True, b)):
        assert answer.dtype == mg.bool
    b += b
    assert b.tolist() == [True, False]
    power = 3 ** T([20])
    assert power.dtype == mg.int64 and power.item() == 3486784401
    assert mg.full_like(T([0]), 2**53 + 1).item() == 2**53 + 1


def test_a_power_of_two_is_a_float_before_integers_meet():
    for one in (mg.uint64, mg.int8, mg.bool):
        for other in (mg.int64, mg.uint64):
            assert mg.tensor([1], dtype=one).ldexp(mg.tensor([2], dtype=other)).dtype == mg.float32
    assert mg.tensor([3], dtype=mg.uint64).ldexp(mg.tensor([2])).tolist() == [12.0]
    assert mg.tensor(0).ldexp(mg.tensor(0.0, dtype=mg.float16)).dtype == mg.float16


@pytest.mark.usefixtures("default")
def test_default_dtype():
    mg.set_default_dtype(mg.float64)
    assert mg.get_default_dtype() == mg.float64
    made = [
        mg.zeros(2),
        mg.rand(2),
        mg.randn(2),
        mg.tensor(0.1),
        mg.tensor([1, 0.5]),
        mg.tensor([]),
        mg.full((2,), 0.5),
        mg.arange(0, 1, 0.25),
        mg.linspace(0, 1, 3),
        mg.eye(2),
        mg.arange(3) + 0.5,
        mg.arange(3) / 2,
        mg.arange(3).sqrt(),
        mg.arange(3).mean(),
        mg.nn.Linear(2, 2).weight,
        mg.scalar_tensor(1),
        mg.signal.windows.hann(3),
    ]
    assert [t.dtype for t in made] == [mg.float64] * len(made)
    assert mg.tensor(0.1).item() == 0.1 and mg.tensor([0.1, 1]).tolist() == [0.1, 1]
    assert (mg.ones(2, dtype=mg.float32) * 0.5).dtype == mg.float32
    assert mg.tensor([1, 2]).dtype == mg.int64
    with pytest.raises(TypeError):
        mg.set_default_dtype(mg.int64)
    mg.set_default_dtype(mg.float16)
    assert mg.zeros(1).dtype == mg.tensor([0.5]).dtype == (mg.arange(2) * 0.5).dtype == mg.float16


def test_numpy_takes_dtypes():
    assert numpy.dtype(mg.float32) == numpy.float32 and numpy.zeros(2, dtype=mg.float32).dtype == numpy.float32
    assert numpy.ones(2).astype(mg.int32).dtype == numpy.int32 and numpy.empty(1, mg.bool).dtype == numpy.bool_
    with pytest.raises(TypeError):
        numpy.dtype(mg.bfloat16)


def test_a_conversion_reads_what_was_there():
    """It happens where the result is stored, and the memory of what is converted may be taken over by another result of the same launch."""
    for dtype in (mg.float16, mg.bfloat16):
        for _ in range(2):
            x, most = mg.tensor([1.25, 0.5]) + 0, mg.tensor(3.0) + 0
            mg.realize(x, most)
            larger, converted = mg.maximum(x, most), x.to(dtype)
            del x
            mg.realize(converted, larger)
            assert converted.tolist() == [1.25, 0.5] and larger.tolist() == [3, 3]


def test_what_dtypes_say_of_themselves():
    said = {d: (d.is_complex, d.is_floating_point, d.is_signed, d.itemsize) for d in (mg.float32, mg.bfloat16, mg.int8, mg.uint8, mg.bool)}
    assert list(said.values()) == [(False, True, True, 4), (False, True, True, 2), (False, False, True, 1), (False, False, False, 1), (False, False, False, 1)]
    assert mg.float32.to_real() is mg.float32 and mg.int64.to_real() is mg.int64
    assert (mg.float16.to_complex(), mg.float32.to_complex(), mg.float64.to_complex()) == (mg.complex32, mg.complex64, mg.complex128)
    assert mg.complex64.to_complex() is mg.complex64
    assert (mg.complex32.to_real(), mg.complex64.to_real(), mg.complex128.to_real()) == (mg.float16, mg.float32, mg.float64)
    for none in (mg.bfloat16, mg.int64, mg.bool):
        with pytest.raises(RuntimeError, match=f"no complex dtype is of {none.name}"):
            none.to_complex()


def test_complex_numbers_are_told_of():
    with pytest.raises(TypeError, match=r"result_type\(\): .*micrograd_rs\.complex64: promote_types\(a, b\) is of dtypes, and there are no complex numbers here"):
        mg.result_type(mg.ones(2), mg.complex64)
    with pytest.raises(TypeError, match=r"got the dtype micrograd_rs\.float64: promote_types\(a, b\) is of dtypes$"):
        mg.result_type(mg.ones(2), mg.float64)
    for call in (lambda: mg.result_type(mg.ones(2), 1j), lambda: mg.ones(2) + 1j, lambda: mg.zeros(2, dtype=mg.complex64), lambda: mg.zeros(2, dtype=complex)):
        with pytest.raises(TypeError, match="complex"):
            call()
    for call in (lambda: mg.result_type(mg.ones(2), 1j), lambda: mg.promote_types(mg.float32, mg.complex64), lambda: mg.zeros(2, dtype=complex)):
        with pytest.raises(TypeError, match="there are no complex numbers here"):
            call()
