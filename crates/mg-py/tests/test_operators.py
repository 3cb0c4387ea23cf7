"""Operators, with whatever stands on the other side."""

from __future__ import annotations

import math
import operator

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor
from micrograd_rs.nn import functional as F

T = mg.tensor
BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("kind", ["tensor", "int", "float", "numpy scalar", "numpy 0-d", "numpy array", "bool"])
def test_sides(op, kind):
    numpy = pytest.importorskip("numpy")
    f = BINARY[op]
    data = [1.5, 2.0, 3.0]
    other = {
        "tensor": mg.tensor([2.0, 2.0, 2.0]),
        "int": 2,
        "float": 2.0,
        "numpy scalar": numpy.float32(2),
        "numpy 0-d": numpy.array(2.0),
        "numpy array": numpy.array([2, 2, 2], dtype=numpy.float32),
        "bool": True,
    }[kind]
    n = 1.0 if kind == "bool" else 2.0
    t = mg.tensor(data)
    if op == "-" and kind == "bool":
        # As in PyTorch, on either side.
        for refused in (lambda: f(t, other), lambda: f(other, t)):
            with pytest.raises(TypeError, match="truth values"):
                refused()
        return
    right, left = f(t, other), f(other, t)
    assert isinstance(right, Tensor) and isinstance(left, Tensor)
    close(right, [f(v, n) for v in data])
    close(left, [f(n, v) for v in data])
    assert right.dtype == (mg.bool if op in "<= >= == !=".split() or op in "<>" else mg.float32)


def test_numbers_do_not_widen():
    for dtype in ("f64", "f32", "f16", "bf16"):
        t = mg.ones(2, dtype=dtype)
        assert (t + 1).dtype == dtype and (2.5 * t).dtype == dtype and (1 / t).dtype == dtype
    assert (mg.ones(2, dtype="i32") + 1).dtype == mg.int32
    assert (mg.ones(2, dtype="u8") * 2).dtype == mg.uint8
    assert (mg.ones(2, dtype="i64") + 0.5).dtype == mg.float32
    assert (mg.ones(2, dtype="i64") / 2).dtype == mg.float32


def test_numpy_scalars_do_not_widen():
    numpy = pytest.importorskip("numpy")
    assert (mg.ones(2) * numpy.float64(2)).dtype == mg.float32
    assert (numpy.float64(2) * mg.ones(2)).dtype == mg.float32
    assert (mg.ones(2, dtype="i64") + numpy.int32(1)).dtype == mg.int64
    assert (numpy.int64(3) - mg.ones(2)).tolist() == [2, 2]
    for time in (numpy.datetime64("2020-01-01"), numpy.timedelta64(1, "D")):
        with pytest.raises(TypeError, match="dates"):
            mg.ones(2) + time


def test_dtypes_meet():
    assert (mg.ones(1, dtype="i32") + mg.ones(1, dtype="f32")).dtype == mg.float32
    assert (mg.ones(1, dtype="f64") + mg.ones(1, dtype="f32")).dtype == mg.float64
    assert (mg.ones(1, dtype="u8") + mg.ones(1, dtype="i64")).dtype == mg.int64
    assert (mg.ones(1, dtype="bool") + mg.ones(1, dtype="i64")).tolist() == [2]


def test_no_axes_give_way():
    half, byte = mg.ones(2, dtype="f16"), mg.tensor([1, 2], dtype="u8")
    assert (half * mg.tensor(0.5)).dtype == mg.float16 and (mg.tensor(0.5) * half).dtype == mg.float16
    assert (mg.ones(2, dtype="i32") + mg.tensor(1)).dtype == mg.int32
    assert (mg.ones(2) * mg.tensor(1.0, dtype="f64")).dtype == mg.float32
    assert (byte * mg.tensor(0.5, dtype="f64")).dtype == mg.float64
    assert (mg.tensor(1, dtype="u8") + 1).dtype == mg.uint8 and (mg.tensor(1.0) + mg.tensor(1.0, dtype="f64")).dtype == mg.float64
    assert mg.where(mg.tensor([True, False]), half, mg.tensor(2.0)).dtype == mg.float16
    assert mg.maximum(half, mg.tensor(2.0)).dtype == mg.float16


def test_truth_values():
    a, b = mg.tensor([True, True, False]), mg.tensor([True, False, False])
    assert (a + b).tolist() == [True, True, False] and (a * b).tolist() == [True, False, False]
    assert (a + True).dtype == (a**True).dtype == mg.where(a, True, b).dtype == mg.bool and (a + 1).tolist() == [2, 2, 1]
    b += b
    b *= a
    assert b.tolist() == [True, False, False]
    for bad in (lambda: a - b, lambda: 1.0 - a, lambda: a - True, lambda: -a, lambda: a**b, lambda: a // b, lambda: a << 1.0):
        with pytest.raises(TypeError):
            bad()
    with pytest.raises(TypeError, match="bool"):
        a += 1
    assert mg.zeros(2, dtype="bool").scatter_add(0, mg.tensor([0, 0]), mg.tensor([True, True])).int().tolist() == [1, 0]


@pytest.mark.parametrize("dtype", ["i64", "i32"])
def test_integers(dtype):
    values, others = [7, -7, 6, -6, 0, 1], [2, 2, -4, -4, 3, -1]
    t, u = mg.tensor(values, dtype=dtype), mg.tensor(others, dtype=dtype)
    pairs = list(zip(values, others))
    assert (t // u).tolist() == [a // b for a, b in pairs] and (t % u).tolist() == [a % b for a, b in pairs]
    assert (t // 4).tolist() == [a // 4 for a in values] and (-9 % u).tolist() == [-9 % b for b in others]
    assert (t & u).tolist() == [a & b for a, b in pairs] and (t | 8).tolist() == [a | 8 for a in values]
    assert (5 ^ t).tolist() == [5 ^ a for a in values] and (~t).tolist() == [~a for a in values]
    assert (t << 2).tolist() == [a << 2 for a in values] and (t >> 1).tolist() == [a >> 1 for a in values]
    assert (1 << mg.tensor([0, 3, 64, -1], dtype=dtype)).tolist() == [1, 8, 0, 0]
    assert mg.fmod(t, u).tolist() == [int(math.fmod(a, b)) for a, b in pairs]
    assert {(t // u).dtype.short_name, (t % 2).dtype.short_name, (t & 1).dtype.short_name} == {dtype}
    whole = t[:4]
    whole //= 2
    whole <<= 1
    assert t.tolist()[:4] == [a // 2 << 1 for a in values[:4]]
    with pytest.raises(ValueError, match="zero"):
        (u // 0).tolist()
    for bad in (lambda: t & 1.0, lambda: t << mg.ones(1)):
        with pytest.raises(TypeError, match="integers"):
            bad()
    for same in (t.floor(), mg.ceil(t), t.round(), t.trunc()):
        assert same.dtype == t.dtype and same.tolist() == t.tolist()


def test_quotients_of_floats_are_pythons():
    values = [7.5, -7.5, 1.0, -0.5, 1e300, 0.3]
    others = [2.0, -2.0, 0.1, 1e300, 7.0, -0.1]
    for a in values:
        for b in others:
            t, u = mg.tensor(a, dtype="f64"), mg.tensor(b, dtype="f64")
            assert ((t // u).item(), (t % u).item(), t.fmod(u).item()) == (a // b, a % b, math.fmod(a, b)), (a, b)
    assert (mg.tensor(1.0) // 0).item() == math.inf and (mg.tensor(1.0) % 0).isnan().item()


def test_rounding():
    t = mg.tensor([-2.5, -1.5, -0.4, 0.5, 1.5, 2.5, 7.9])
    assert t.round().tolist() == [-2, -2, 0, 0, 2, 2, 7.0 + 1] and math.copysign(1, t.round()[2].item()) == -1
    assert t.floor().tolist() == [-3, -2, -1, 0, 1, 2, 7] and mg.ceil(t).tolist() == [-2, -1, 0, 1, 2, 3, 8]
    assert t.trunc().tolist() == [-2, -1, 0, 0, 1, 2, 7]
    close(mg.frac(t), [-0.5, -0.5, -0.4, 0.5, 0.5, 0.5, 0.9], rtol=1e-5)
    with pytest.raises(TypeError, match="truth"):
        mg.tensor([True]).floor()


def test_powers_of_integers():
    assert (3 ** mg.tensor([20])).tolist() == [3**20] and (mg.tensor([3]) ** mg.tensor([20])).dtype == mg.int64
    assert (mg.tensor([2, -1, 1, 0]) ** mg.tensor([-1, -3, -5, -1])).tolist() == [0, -1, 1, 0]
    assert (mg.tensor([2, 1]) ** -1.0).tolist() == [0.5, 1] and (mg.tensor([200], dtype="u8") ** 2).tolist() == [64]
    with pytest.raises(ValueError, match="negative"):
        mg.tensor([2]) ** -1


def test_alpha():
    i = mg.tensor([2, -3])
    assert i.add(i, alpha=2).tolist() == [6, -9] and mg.sub(i, 1, alpha=3).tolist() == [-1, -6]
    assert i.add_(i, alpha=2).tolist() == [6, -9] and i.sub_(1, alpha=2).tolist() == [4, -11]
    assert mg.tensor([1.0]).add(mg.tensor([1]), alpha=0.5).tolist() == [1.5]
    with pytest.raises(TypeError, match="alpha"):
        i.add(i, alpha=2.5)


def test_triangles():
    numpy = pytest.importorskip("numpy")
    a = numpy.arange(24.0).reshape(2, 3, 4)
    for k in (-9, -1, 0, 1, 9):
        assert mg.tensor(a).tril(k).tolist() == numpy.tril(a, k).tolist()
        assert mg.triu(mg.tensor(a), diagonal=k).tolist() == numpy.triu(a, k).tolist()
    assert mg.tensor(a > 3).tril().dtype == mg.bool
    with pytest.raises(ValueError, match="matrices"):
        mg.ones(3).tril()


def test_names_that_were_absent():
    x = T([7, -7])
    assert (x // 2).tolist() == [3, -4] and (x % 2).tolist() == [1, 1] and (x << 1).tolist() == [14, -14]
    assert (x & 3).tolist() == [3, 1] and (x | 1).tolist() == [7, -7] and (x ^ 1).tolist() == [6, -8]
    for name in ("register_hook", "retain_grad", "sort", "topk", "cumsum", "floor", "round", "tril"):
        assert hasattr(x, name)
    assert F.cross_entropy(mg.zeros(2, 2), T([0, -100])).item() == pytest.approx(math.log(2))
    assert F.cross_entropy(mg.zeros(2), T(1)).item() == pytest.approx(math.log(2))
    assert F.cross_entropy(mg.zeros(1, 2), T([[0.5, 0.5]])).item() == pytest.approx(math.log(2))


def test_bounds():
    byte = mg.tensor([0, 100, 255], dtype="u8")
    assert byte.clamp(0, 300).tolist() == byte.clamp(min=-1).tolist() == [0, 100, 255]
    assert byte.clamp(0.5, 10.5).tolist() == [0.5, 10.5, 10.5] and byte.clamp(mg.tensor(7), 90).tolist() == [7, 90, 90]
    for bad in ({"max": -1}, {"min": 256}, {}):
        with pytest.raises(ValueError):
            byte.clamp(**bad)
    x = mg.Tensor([0.0, 1.0, 0.5, 2.0])
    x.clamp(0, 1).sum().backward()
    assert x.grad.tolist() == [0, 0, 1, 0]


def test_filled_over_has_no_gradient():
    x = mg.Tensor([1.0, 2.0])
    y = x * 2
    y.fill_(3)
    y.sum().backward()
    assert x.grad.tolist() == [0, 0] and y.tolist() == [3, 3]
    z = x * 2
    z.zero_()
    (z + x).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_unary():
    t = mg.tensor([-1.5, 2.0])
    assert (-t).tolist() == [1.5, -2] and (+t).tolist() == t.tolist() and abs(t).tolist() == [1.5, 2]
    assert (~mg.tensor([True, False])).tolist() == [False, True]
    assert (~mg.tensor([0, 5, -3])).tolist() == [~0, ~5, ~-3]
    with pytest.raises(TypeError, match="float32"):
        ~t


def test_logic():
    a, b = mg.tensor([True, True, False]), mg.tensor([True, False, False])
    assert (a & b).tolist() == [True, False, False]
    assert (a | b).tolist() == [True, True, False]
    assert (a ^ b).tolist() == [False, True, False]
    assert (a & True).tolist() == a.tolist() and (False | b).tolist() == b.tolist()
    assert (a & mg.tensor([1, 2, 3])).tolist() == [1, 0, 0]
    with pytest.raises(TypeError, match="integers"):
        a & mg.tensor([1.0, 2.0, 3.0])


def test_in_place():
    t = mg.tensor([1.0, 2.0])
    before, other = t, t[0:1]
    t += 1
    t *= mg.tensor([2.0, 3.0])
    t -= 1
    t /= 2
    t **= 2
    assert t is before and t.tolist() == [2.25, 16.0]
    assert other.tolist() == [2.25]
    t.add_(1, alpha=2).mul_(2).sub_(1).div_(1).fill_(4)
    assert t.tolist() == [4, 4] and t.zero_().tolist() == [0, 0]
    t.copy_(mg.tensor(5.0))
    assert t.tolist() == [5, 5]
    whole = mg.tensor([1, 2])
    whole += 1
    assert whole.tolist() == [2, 3]
    with pytest.raises(TypeError, match="cannot be written"):
        whole += 0.5
    with pytest.raises(ValueError, match=r"\[2\]"):
        whole += mg.tensor([1, 2, 3])
    before = m = mg.eye(2)
    m @= mg.tensor([[1.0, 2], [3, 4]])
    assert m.tolist() == [[1, 2], [3, 4]] and before.tolist() == [[1, 0], [0, 1]]
    truth = mg.tensor([True, False])
    truth &= True
    truth |= mg.tensor([False, True])
    truth ^= True
    assert truth.tolist() == [False, False]


def test_leaves_are_changed_under_no_grad_only():
    x = Tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="no_grad"):
        x += 1
    with pytest.raises(RuntimeError, match="no_grad"):
        x[0] = 5.0
    with mg.no_grad():
        x += 1
        x[0] = 5
    assert x.tolist() == [5, 3] and x.requires_grad and x.is_leaf


def test_nothing_to_compute_with():
    t = mg.ones(2)
    for other in ("x", None, object(), [1, 2], 1j, {}):
        for f in (operator.add, operator.mul, operator.matmul, operator.lt, operator.truediv):
            with pytest.raises(TypeError):
                f(t, other)
            with pytest.raises(TypeError):
                f(other, t)
        assert (t == other) is False and (t != other) is True


def test_other_libraries_have_their_turn():
    class Unit:
        def __radd__(self, other):
            return "radd"

        def __lt__(self, other):
            return "lt"

        def __gt__(self, other):
            return "gt"

    assert mg.ones(2) + Unit() == "radd"
    assert (mg.ones(2) < Unit()) == "gt"


def test_numpy_leaves_its_operators_to_us():
    numpy = pytest.importorskip("numpy")
    a = numpy.ones((2, 2), dtype=numpy.float32)
    t = mg.ones(2, 2)
    assert isinstance(a @ t, Tensor) and (a @ t).tolist() == [[2, 2], [2, 2]]
    assert isinstance(a - t, Tensor) and isinstance(a == t, Tensor)
    assert isinstance(t @ a, Tensor)
    x = Tensor([1.0, 2.0])
    (numpy.array([3.0, 4.0]) * x).sum().backward()
    assert x.grad.tolist() == [3, 4]


def test_integers_of_64_bits():
    a = mg.tensor([7, -7])
    assert (a + 2**62).tolist() == [7 + 2**62, -7 + 2**62]
    assert (a * a).tolist() == [49, 49]
    assert (a**2).tolist() == [49, 49]
    big = mg.tensor([2**63 - 1])
    assert (big + 1).tolist() == [-(2**63)]
    # Compared, they are what they are.
    assert (big < 2**64).tolist() == [True] and (big == 2**64).tolist() == [False]
    for f in (operator.add, operator.pow):
        with pytest.raises(ValueError, match="does not fit int64"):
            f(a, 2**70)
    close(a.float() + 2**70, [2.0**70, 2.0**70])
    close(a / 2, [3.5, -3.5])


def test_matmul_of_a_number_is_an_error():
    with pytest.raises(TypeError, match="number"):
        mg.ones(2) @ 3


def test_reflected_power():
    x = Tensor([1.0, 2.0, 3.0])
    y = 2**x
    close(y, [2, 4, 8])
    y.sum().backward()
    close(x.grad, [v * math.log(2) for v in (2, 4, 8)])
    assert pow(mg.tensor([2.0]), 3).tolist() == [8]
    with pytest.raises(TypeError):
        pow(mg.tensor([2.0]), 3, 5)


def test_conversions():
    t = mg.tensor(2.5)
    assert float(t) == 2.5 and int(t) == 2 and round(t) == 2 and round(mg.tensor(2.567), 1) == pytest.approx(2.6)
    assert f"{t:.2f}" == "2.50" and f"{t}" == "2.5" and f"{mg.tensor([2.5])}" == str(mg.tensor([2.5]))
    assert [10, 20, 30][mg.tensor(1)] == 20
    assert bool(t) and not bool(mg.tensor(0)) and bool(mg.tensor([[1]]))
    assert complex(t) == 2.5 + 0j
    with pytest.raises(TypeError, match="one integer"):
        [1][t]
    with pytest.raises(ValueError, match=r"any\(\) or t\.all\(\)"):
        bool(mg.ones(2))
    with pytest.raises(ValueError, match=r"shape \[2\]"):
        float(mg.ones(2))
    with pytest.raises(ValueError, match="one element"):
        mg.ones(2).item()
    assert (2.5 in mg.tensor([1.0, 2.5])) and (3 not in mg.tensor([1.0, 2.5]))
    with pytest.raises(ValueError):
        f"{mg.ones(2):.2f}"


def test_hash_is_identity():
    a, b = mg.ones(2), mg.ones(2)
    assert len({a, b, a}) == 2
    assert a in [a] and {a: 1}[a] == 1


def test_iteration():
    t = mg.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in t] == [[1, 2], [3, 4]] and len(t) == 2
    assert [row.tolist() for row in reversed(t)] == [[3, 4], [1, 2]]
    with pytest.raises(TypeError, match="iterated"):
        iter(mg.tensor(1))
    with pytest.raises(TypeError, match="length"):
        len(mg.tensor(1))
    a, b = t
    assert a.tolist() == [1, 2] and b.tolist() == [3, 4]
    assert sum(mg.tensor([1.0, 2.0])).item() == 3
