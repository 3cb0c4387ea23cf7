"""Kernels of the user's own, in Python's syntax: values, dtypes, gradients, errors, and what happens around them."""

import copy
import linecache
import math
import pickle
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs.autograd import gradcheck, gradgradcheck
from micrograd_rs.kernels import Kernel, KernelError

FLOATS = [mg.float64, mg.float32, mg.float16, mg.bfloat16]
INTEGERS = [dtype for dtype in mg._micrograd_rs._DTYPES if dtype._kind.endswith("integer")]

SCALE = 3.0
TABLE = (0.5, -1.0, 2.0)


@mg.kernel
def swish(x, beta=1.0):
    """x times the sigmoid of beta x."""
    return x / (1 + mg.exp(-beta * x))


@mg.kernel
def polynomial(x):
    total = 0.0
    for c in TABLE:
        total = total * x + c
    return total


@mg.kernel
def branches(x, y):
    if x < 0:
        return math.sqrt(-x) * y
    elif x > 2 and y > 0:
        z = math.log(x) + y
    else:
        t = x * 3
        z = t**2 if y != 0 else t
    z += 1
    return z - abs(y)


@mg.kernel
def escape(cr, ci, *, steps=30):
    zr = zi = 0.0
    n = 0
    for _ in range(steps):
        if zr * zr + zi * zi > 4.0:
            break
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        n += 1
    return n


@mg.kernel
def newton(a):
    x = a if a > 1 else 1.0
    for _ in range(60):
        step = (x * x - a) / (2 * x)
        if abs(step) < 1e-14:
            break
        x -= step
    return x


@mg.kernel
def loops(x, y):
    total = x * 0
    for i in range(6):
        if i == 2:
            continue
        if x > i:
            continue
        for j in range(3):
            if total > y:
                break
            total += i * j + 1
        if total > 2 * y:
            return -total
    return total


@mg.kernel
def whole(a, b):
    return (a // b) * 2 + a % b - min(a, b, 5) + (a & b | 1) ^ (a << 1)


@mg.kernel
def several(x, y):
    low, high = (x, y) if x < y else (y, x)
    return low, high, high - low


@mg.kernel
def methods(x):
    return x.clamp(-1, 1).exp() + mg.nn.functional.gelu(x, approximate="tanh") + x.abs().clamp(max=0.5)


@mg.kernel
def logic(x, y):
    a = x > 0 and y > 0
    b = not a or x == y
    c = x or y
    d = x and y
    return c + 2 * d + (1 if a else 0) + (3 if b else 5) + (1 < x < 3)


def grid(dtype=mg.float64):
    x = np.array([-3.0, -1.5, -0.5, 0.0, 0.5, 1.0, 2.5, 7.0])
    return mg.tensor(x, dtype=dtype)


def of_elements(kernel, *arrays, **constants):
    """Python's own function of each element."""
    function = kernel.__wrapped__
    found = [function(*(v.item() for v in each), **constants) for each in zip(*(a.ravel() for a in np.broadcast_arrays(*arrays)), strict=True)]
    return np.array(found, dtype=np.float64).reshape(np.broadcast_shapes(*(a.shape for a in arrays)))


@pytest.mark.parametrize("kernel", [branches, loops, newton, polynomial, escape], ids=lambda k: k.__name__)
def test_values_are_those_of_the_function(kernel):
    rng = np.random.default_rng(0)
    n = len(kernel._names)
    arrays = [rng.uniform(-3, 5, (4, 7))] + [rng.uniform(-3, 5, (7,))] * (n - 1)
    if kernel is newton:
        arrays = [np.abs(arrays[0]) + 0.1]
    expected = of_elements(kernel, *arrays)
    got = kernel(*(mg.tensor(a) for a in arrays)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_swish_in_float64():
    x = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(swish(mg.tensor(x), 2.0).numpy(), x / (1 + np.exp(-2.0 * x)), rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats(dtype):
    x = grid(dtype)
    y = mg.tensor([1.0, -2.0, 0.0, 3.0, 1.0, 0.5, 0.25, -1.0], dtype=dtype)
    got = branches(x, y)
    assert got.dtype == dtype and got.shape == x.shape
    expected = of_elements(branches, x.to(mg.float64).numpy(), y.to(mg.float64).numpy())
    tolerance = {mg.float64: 1e-14, mg.float32: 1e-5, mg.float16: 1e-2, mg.bfloat16: 8e-2}[dtype]
    np.testing.assert_allclose(got.to(mg.float64).numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers(dtype):
    a, b = np.array([7, 3, 12, 100, 5]), np.array([2, 5, 5, 3, 1])
    got = whole(mg.tensor(a, dtype=dtype), mg.tensor(b, dtype=dtype))
    assert got.dtype == dtype
    expected = of_elements(whole, a, b).astype(np.int64)
    bits = 8 * dtype.itemsize
    difference = got.to(mg.int64).numpy() - expected
    assert not np.any(difference & ((1 << bits) - 1 if bits < 64 else -1)), (got, expected)
    assert swish(mg.tensor(a, dtype=dtype)).dtype == mg.float32


def test_numbers_take_the_dtype_of_what_they_meet():
    @mg.kernel
    def step(x):
        return 1.0 if x > 0 else 0.1

    @mg.kernel
    def scaled(x):
        slope = 1.0 if x > 0 else 0.1
        return slope * x

    @mg.kernel
    def count(x):
        n = 0
        for i in range(3):
            if x > i:
                n += 1
        return n

    for dtype in FLOATS:
        x = grid(dtype)
        assert step(x).dtype == dtype and scaled(x).dtype == dtype and count(x).dtype == mg.int64
    assert step(grid()).tolist()[0] == 0.1
    assert scaled(grid()).tolist()[0] == -3.0 * 0.1
    assert scaled(mg.arange(3)).dtype == mg.float32
    assert count(mg.tensor([0.5, 5.0])).tolist() == [1, 3]
    # A number beside a float16 tensor does not widen it, and a tensor without axes neither.
    assert swish(grid(mg.float16), 2.0).dtype == mg.float16
    assert swish(grid(mg.float16), mg.tensor(2.0, dtype=mg.float64)).dtype == mg.float16
    assert swish(grid(mg.float32), grid(mg.float64)).dtype == mg.float64


def test_broadcasting_and_numbers():
    x, y = mg.randn(3, 1, 4), mg.randn(5, 1)
    assert branches(x, y).shape == (3, 5, 4)
    assert branches(x, 2.0).shape == (3, 1, 4) and branches(1, y).shape == (5, 1)
    assert branches(1.0, 2.0).shape == () and branches(1.0, 2.0).item() == pytest.approx(branches.__wrapped__(1.0, 2.0))

    @mg.kernel
    def constant(x, y):
        return 1

    assert constant(x, y).shape == (3, 5, 4) and constant(x, y).sum().item() == 60
    assert swish(mg.zeros(0, 3)).shape == (0, 3)
    assert swish(mg.zeros(2, 3).t()).shape == (3, 2)
    with pytest.raises(ValueError, match="swish: shapes .*broadcast"):
        swish(mg.ones(2), mg.ones(3))
    assert swish(np.ones(2)).shape == (2,)


def test_a_result_is_a_tensor_of_its_own():
    same = mg.kernel(lambda x: x)
    x = mg.tensor([1.0, 2.0])
    y = same(x)
    y += 1
    assert x.tolist() == [1.0, 2.0] and y.tolist() == [2.0, 3.0]
    rows = same(mg.ones(3).expand(2, 3))
    rows[0] = 5.0
    assert rows.tolist() == [[5.0] * 3, [1.0] * 3]


def test_several_results():
    low, high, between = several(mg.tensor([1.0, 5.0]), mg.tensor([2.0, 3.0]))
    assert low.tolist() == [1.0, 3.0] and high.tolist() == [2.0, 5.0] and between.tolist() == [1.0, 2.0]


def test_logic_is_pythons():
    x, y = np.meshgrid([-1.0, 0.0, 2.0, 3.0], [-1.0, 0.0, 2.0])
    np.testing.assert_array_equal(logic(mg.tensor(x), mg.tensor(y)).numpy(), of_elements(logic, x, y))


def test_methods_and_functions():
    x = grid()
    expected = x.clamp(-1, 1).exp() + mg.nn.functional.gelu(x, approximate="tanh") + x.abs().clamp(max=0.5)
    np.testing.assert_array_equal(methods(x).numpy(), expected.numpy())

    @mg.kernel
    def of_numpy(x):
        return np.sin(x) + np.pi * np.power(x, 2)

    np.testing.assert_allclose(of_numpy(x).numpy(), np.sin(x.numpy()) + np.pi * x.numpy() ** 2, rtol=1e-14)

    @mg.kernel
    def of_math(x):
        return math.hypot(x, 1.0, 2.0) + math.degrees(x) + math.log(abs(x) + 1, 10) + math.fabs(x) + math.atan2(x, math.pi)

    v = x.numpy()
    expected = np.sqrt(v * v + 5) + np.degrees(v) + np.log10(abs(v) + 1) + abs(v) + np.arctan2(v, np.pi)
    np.testing.assert_allclose(of_math(x).numpy(), expected, rtol=1e-13)

    @mg.kernel
    def of_python(x):
        q, r = divmod(x, 2)
        return q + 10 * r + round(x) + int(x) + float(x > 0) + max(x, 1, -x) + sum((x, 1, 2)) + pow(x, 2) + (x if bool(x) else 9)

    np.testing.assert_allclose(of_python(x).numpy(), of_elements(of_python, v), rtol=1e-13)


DIFFERENTIABLE = [
    (swish, 2),
    (branches, 2),
    (newton, 1),
    (polynomial, 1),
    (methods, 1),
    (mg.kernel(lambda x, y: x**3 * mg.tanh(y) if x * y > 0 else math.sin(x) - y), 2),
]


@pytest.mark.parametrize(("kernel", "n"), DIFFERENTIABLE, ids=lambda k: getattr(k, "__name__", str(k)))
def test_gradients_of_first_and_second_order(kernel, n):
    rng = np.random.default_rng(1)
    x = mg.tensor(rng.uniform(0.2, 1.8, (2, 3)), requires_grad=True)
    y = mg.tensor(rng.uniform(-2, -0.2, (3,)), requires_grad=True)
    inputs = (x, y)[:n]
    assert gradcheck(kernel, inputs) and gradgradcheck(kernel, inputs)
    other = tuple((-t).detach().requires_grad_() for t in inputs) if kernel is not newton else inputs
    assert gradcheck(kernel, other) and gradgradcheck(kernel, other)


def test_what_is_not_taken_has_no_say_in_the_gradient():
    """Of a branch that is not taken nothing flows back: neither NaN nor 0 · ∞, at any order."""

    @mg.kernel
    def root(x):
        return math.sqrt(x) * math.log(x) if x > 0 else x * 0

    @mg.kernel
    def early(x):
        if x <= 0:
            return 2 * x
        y = 1 / x
        for _ in range(2):
            y = y * math.sqrt(x)
        return y

    x = mg.tensor([-1.0, 0.0, 4.0], dtype=mg.float64, requires_grad=True)
    for kernel, slope in [(root, [0.0, 0.0, 0.25 * math.log(4) + 0.5]), (early, [2.0, 2.0, 0.0])]:
        (first,) = mg.autograd.grad(kernel(x).sum(), [x], create_graph=True)
        assert first.tolist() == pytest.approx(slope)
        (second,) = mg.autograd.grad(first.sum(), [x])
        assert not second.isnan().any()
        assert second.tolist()[:2] == [0.0, 0.0]


def test_a_gradient_of_ones_own():
    @mg.kernel
    def straight(x):
        return math.floor(x)

    @straight.gradient
    def slope(x):
        return 1.0

    x = mg.tensor([0.5, 1.5], requires_grad=True)
    y = straight(x)
    (y * y).sum().backward()
    assert y.tolist() == [0.0, 1.0] and x.grad.tolist() == [0.0, 2.0]
    assert isinstance(slope, Kernel)

    def both(x, y, g):
        return g * y * 10, g * x

    product = mg.kernel(lambda x, y: x * y, derivative=both)
    a, b = mg.tensor([2.0, 3.0], requires_grad=True), mg.tensor([[5.0], [7.0]], requires_grad=True)
    product(a, b).sum().backward()
    assert a.grad.tolist() == [120.0, 120.0] and b.grad.tolist() == [[5.0], [5.0]]
    # With a number in an argument's place, and in another kernel.
    outer = mg.kernel(lambda x: product(x, 2.0) + 1)
    (slope_,) = mg.autograd.grad(outer(a).sum(), [a])
    assert slope_.tolist() == [20.0, 20.0]
    # Gradients of gradients are those of the derivative.
    cube = mg.kernel(lambda x: x**3, derivative=lambda x: 3 * x**2)
    x = mg.tensor([2.0], requires_grad=True, dtype=mg.float64)
    (first,) = mg.autograd.grad(cube(x), [x], create_graph=True)
    (second,) = mg.autograd.grad(first, [x])
    assert first.item() == 12.0 and second.item() == 12.0
    assert gradcheck(cube, (x,)) and gradgradcheck(cube, (x,))
    with pytest.raises(SyntaxError, match="one result for each of the 1 arguments"):
        mg.kernel(lambda x: x, derivative=lambda x: (x, x))(x)
    with pytest.raises(SyntaxError, match="takes 1 or 2 arguments"):
        mg.kernel(lambda x: x, derivative=lambda x, y, z: x)(x)


def test_kernels_call_kernels():
    @mg.kernel
    def double(x, *, by=2):
        return x * by

    @mg.kernel
    def outer(x):
        low, high, _ = several(x, 1.0)
        return double(double(x), by=3) + low * high

    assert outer(mg.tensor([3.0])).tolist() == [21.0]
    assert gradcheck(outer, (mg.tensor([3.0, 0.2], dtype=mg.float64, requires_grad=True),))


def test_one_pass():
    x, y = mg.randn(1000), mg.randn(1000)
    assert str(mg.explain((swish(x * 2 + 1, 1.5) * y).exp())).splitlines()[0].startswith("1 launch,")


def test_constants_are_looked_at_again():
    module = sys.modules[__name__]
    scaled = mg.kernel(lambda x: x * SCALE)
    table = [1.0, 2.0]
    held = types.SimpleNamespace(rate=0.5)
    power = 2

    @mg.kernel
    def around(x):
        return x**power * held.rate + table[1]

    x = mg.tensor([3.0])
    assert scaled(x).item() == 9.0 and around(x).item() == 6.5
    module.SCALE = 5.0
    try:
        assert scaled(x).item() == 15.0
    finally:
        module.SCALE = 3.0
    power, held.rate, table[1] = 3, 1.0, 0.0
    assert scaled(x).item() == 9.0 and around(x).item() == 27.0
    assert scaled(x).item() == 9.0


def test_constants_of_the_kernel():
    @mg.kernel
    def power(x, *, n=2, mode="plain"):
        y = 1
        for _ in range(n):
            y = y * x
        return y if mode == "plain" else -y

    x = mg.tensor([2.0])
    assert [power(x, n=n).item() for n in (0, 1, 5)] == [1.0, 2.0, 32.0]
    assert power(x, mode="other").item() == -4.0 and power(x).item() == 4.0
    with pytest.raises(TypeError, match="'n' stands after"):
        power(x, n=x)
    with pytest.raises(TypeError, match=r"power\(\) .*unexpected keyword"):
        power(x, m=1)
    with pytest.raises(TypeError, match=r"power\(\) missing"):
        power()


def test_jit_replays_and_sees_what_changes():
    held = types.SimpleNamespace(slope=2.0)

    @mg.kernel
    def line(x):
        return held.slope * x if x > 0 else -x

    @mg.jit
    def step(x):
        return line(x).sum() + swish(x, beta=3.0).sum()

    x = mg.tensor([1.0, -2.0])
    expected = line(x).sum().item() + swish(x, beta=3.0).sum().item()
    for _ in range(6):
        assert step(x).item() == pytest.approx(expected)
    assert step.is_replaying, step.reason
    held.slope = 10.0
    assert step(x).item() == pytest.approx(expected + 8.0)


def test_jit_of_a_training_step():
    w = mg.tensor([0.3, -0.7], requires_grad=True)
    optimizer = mg.optim.SGD([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = (branches(w, x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    plain = [step(mg.tensor([1.0, 2.0])).item() for _ in range(8)]
    w.data = mg.tensor([0.3, -0.7])
    replayed = mg.jit(step)
    assert [replayed(mg.tensor([1.0, 2.0])).item() for _ in range(8)] == pytest.approx(plain)


def test_vmap_and_functional_derivatives():
    x, y = mg.randn(4, 3, dtype=mg.float64), mg.randn(3, dtype=mg.float64)
    got = mg.vmap(branches, in_dims=(0, None))(x, y)
    assert np.array_equal(got.numpy(), branches(x, y).numpy())
    each = mg.vmap(mg.func.grad(lambda v: swish(v).sum()))(x)
    expected = mg.stack([mg.func.grad(lambda v: swish(v).sum())(row) for row in x])
    np.testing.assert_allclose(each.numpy(), expected.numpy(), rtol=1e-12)
    hessian = mg.func.hessian(lambda v: branches(v, y).sum())(x[0])
    assert hessian.shape == (3, 3) and not hessian.isnan().any()
    value, tangent = mg.func.jvp(swish, (x,), (mg.ones_like(x),))
    (gradient,) = mg.autograd.grad(swish(z := x.clone().requires_grad_()).sum(), [z])
    np.testing.assert_allclose(tangent.numpy(), gradient.numpy(), rtol=1e-12)
    cube = mg.kernel(lambda x: x**3, derivative=lambda x: 3 * x**2)
    each = mg.vmap(mg.func.grad(lambda v: cube(v).sum()))(x)
    np.testing.assert_allclose(each.numpy(), 3 * x.numpy() ** 2, rtol=1e-12)


class Swish(mg.nn.Module):
    def __init__(self):
        super().__init__()
        self.beta = mg.nn.Parameter(mg.tensor([1.5]))
        self.function = swish

    def forward(self, x):
        return self.function(x, self.beta)


def test_modules_with_kernels_are_pickled_and_copied():
    module = Swish()
    x = mg.tensor([1.0, -1.0])
    for other in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module), copy.copy(module)):
        assert other.function is swish and other(x).tolist() == module(x).tolist()
    local = mg.kernel(lambda x: x)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(local)
    assert swish.__name__ == "swish" and "sigmoid" in swish.__doc__ and repr(swish) == "<kernel swish(x, beta=1.0)>"


def cell(number, text, around):
    """Runs text as a notebook runs a cell."""
    name = f"<ipython-input-{number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), around)


def test_redefined_in_a_notebook():
    around = {"mg": mg}
    cell(1, "@mg.kernel\ndef f(x):\n    return x + 1\n", around)
    cell(2, "@mg.kernel\ndef g(x):\n    return f(x) * 10\n", around)
    x = mg.tensor([1.0])
    first = around["f"]
    assert around["g"](x).item() == 20.0
    cell(3, "@mg.kernel\ndef f(x):\n    return x + 2\n", around)
    assert around["g"](x).item() == 30.0 and first(x).item() == 2.0
    # The same cell again, with other text.
    cell(3, "@mg.kernel\ndef f(x):\n    return x + 3\n", around)
    assert around["g"](x).item() == 40.0


@pytest.mark.parametrize(
    ("body", "match", "line"),
    [
        ("    while x > 0:\n        x -= 1\n    return x", "`while` has no bound", 2),
        ("    for i in range(x):\n        x -= 1\n    return x", "the bound of a loop is constant", 2),
        ("    for i in x:\n        x -= 1\n    return x", "a loop runs over range", 2),
        ("    if x > 0:\n        return x", "ends without a return", 1),
        ("    y = x", "ends without a return", 1),
        ("    if x > 0:\n        y = 1\n    return y", "'y' is assigned in one branch only", 4),
        ("    return z", "the name 'z' is not known", 2),
        ("    return T + x", "'T' is a tensor: pass it as an argument", 2),
        ("    return D + x", "'D' is no number but dict", 2),
        ("    return x.sum()", "'sum' is no elementwise method", 2),
        ("    return mg.sum(x)", "no elementwise function", 2),
        ("    return mg.softmax(x, 0)", "no elementwise function", 2),
        ("    return x[0]", "a kernel sees one element of each tensor", 2),
        ("    return x @ x", "`@` is of matrices", 2),
        ("    return x.T", "a number has no 'T'", 2),
        ("    return [v for v in (x,)]", "a list comprehension is not supported", 2),
        ("    return x in (1, 2)", "`in` is not supported", 2),
        ("    with x:\n        pass\n    return x", "`with` is not supported", 2),
        ("    print(x)\n    return x", "nobody takes", 2),
        ("    y = print(x)\n    return x", "'print' is not supported", 2),
        ("    return math.gamma(x)", "'math.gamma' is not supported", 2),
        ("    return 1 / 0 + x", "ZeroDivisionError", 2),
        ("    return", "returns nothing", 2),
        ("    a, b = x\n    return a", "2 names for one number", 2),
        ("    a, b = x, x, x\n    return a", "2 names for 3 values", 2),
        ("    x.y = 1\n    return x", "names are assigned to", 2),
        ("    return helper(x)", "the name 'helper' is not known", 2),
        ("    return len(x)", "'len' is not supported", 2),
        ("    return mg.nn.functional.gelu(x, approximate=x)", "a constant word", 2),
        ("    return f(x)", "kernels call each other more than", None),
        ("    return 'text'", "a number is expected, not str", 2),
        ("    return (x, (x, x))", "a number is expected, not a tuple", 2),
        ("    y = 10 ** 400\n    return x * 1e400 + float(y)", "OverflowError", 3),
        ("    n = 0\n    for _ in range(100000):\n        n += x\n    return n", "takes more than 65536 steps", None),
    ],
)
def test_what_is_refused_says_where_and_why(body, match, line):
    text = f"def f(x):\n{body}\n"
    around = {"mg": mg, "math": math, "np": np, "T": mg.ones(2), "D": {}}
    cell("refused", text, around)
    with pytest.raises(KernelError, match=match) as caught:
        around["f"] = mg.kernel(around["f"])
        around["f"](mg.ones(2))
    assert "kernel 'f'" in str(caught.value)
    if line is not None:
        assert caught.value.lineno == line and caught.value.filename == "<ipython-input-refused>"
        assert caught.value.text.strip() and caught.value.offset >= 1


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="takes a function, not int"):
        mg.kernel(3)
    with pytest.raises(TypeError, match="takes a function"):
        mg.kernel(math.sin)
    around = {"mg": mg}
    exec("def f(x):\n    return x\n", around)
    with pytest.raises(KernelError, match="its text is not there"):
        mg.kernel(around["f"])
    with pytest.raises(KernelError, match=r"`\*args`"):

        @mg.kernel
        def f(*xs):
            return xs

    def helper(x):
        return x

    with pytest.raises(KernelError, match="'helper' is no kernel; mark it with @mg.kernel"):
        mg.kernel(lambda x: helper(x))(mg.ones(1))
    with pytest.raises(TypeError, match="takes tensors, numbers"):
        swish("text")
    with pytest.raises(TypeError, match="<lambda>: bitwise_and: takes integers"):
        mg.kernel(lambda x: x & 1)(mg.ones(2))


def test_truth_values_are_numbers():
    """0 and 1 where one computes with them, which do not decide the dtype."""
    answers = {
        "1 - (x == 1)": [0, 1],
        "x - (x > 1)": [1, 1],
        "(x > 1) - 0.5": [-0.5, 0.5],
        "2 + (x == 1)": [3, 2],
        "(x > 1) * x": [0, 2],
        "-(x > 1)": [0, -1],
        "(x > 0) - (x > 1)": [1, 0],
        "x + True": [2, 3],
    }
    around = {"mg": mg}
    for i, (text, wanted) in enumerate(answers.items()):
        cell(f"truth-{i}", f"@mg.kernel\ndef f(x):\n    return {text}\n", around)
        for dtype in (mg.float16, mg.float32, mg.int32, mg.uint8):
            got = around["f"](mg.tensor([1, 2], dtype=dtype))
            assert got.tolist() == wanted, (text, dtype)
            assert got.dtype == dtype or "x -" not in text and "* x" not in text and "x +" not in text, (text, dtype)
    with pytest.raises(mg.DTypeError, match="truth values are not subtracted"):
        cell("truth", "@mg.kernel\ndef f(x):\n    return 1 - x\n", around)
        around["f"](mg.tensor([True]))


def test_the_page_on_kernels(capsys):
    """Its snippets are run one after the other, as a reader runs them."""
    page = Path(__file__).parents[3] / "docs" / "kernels.md"
    if not page.exists():
        pytest.skip("the documentation is not beside the package")
    around = {"__name__": "page"}
    blocks = page.read_text(encoding="utf-8").split("```python\n")[1:]
    assert len(blocks) >= 6
    for i, block in enumerate(blocks):
        cell(f"page-{i}", block.split("```")[0], around)
    assert "####" in capsys.readouterr().out


# What is asked for where it decides.


@mg.kernel
def of_its_own(x, a, b):
    return x * (a // b), a % b


@of_its_own.gradient
def of_its_own_slope(x, a, b, g, h):
    return g * (a // b) + h * 0, 0.0, 0


@mg.kernel
def deeper(x, a, b):
    return of_its_own(x, a, b)[0] + 1


@mg.kernel(derivative=lambda x, a, b: (a // b, 0, 0))
def guarded_within(x, a, b):
    if a > 0:
        if b != 0:
            return deeper(x, a, b)
        return 2 * x
    return of_its_own(x, a, b)[1] if b != 0 else x


@mg.kernel
def calls_its_own(x, a, b):
    return deeper(x, a, b) if b != 0 and a > 0 else 2 * x


@mg.kernel
def calls_one_that_is_guarded(x, a, b):
    return guarded_within(x, a, b) if b != 0 else x


def test_kernels_with_gradients_of_their_own_are_guarded_in_branches():
    a, b = mg.tensor([5, 5, -5, 7]), mg.tensor([2, 0, 0, -2])
    for kernel, values, slopes in (
        (calls_its_own, [3, 4, 6, -15], [2, 2, 2, -4]),
        (calls_one_that_is_guarded, [3, 2, 3, -15], [2, 1, 1, -4]),
    ):
        def slope(x, kernel=kernel):
            return mg.autograd.grad(kernel(x, a, b).sum(), x)[0]

        x = mg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        assert kernel(x, a, b).tolist() == values and kernel(x.detach(), a, b).tolist() == values
        assert slope(x).tolist() == slopes
        step = mg.jit(slope)
        for _ in range(3):
            assert step(x).tolist() == slopes
        assert mg.vmap(lambda *each, kernel=kernel: kernel(*each))(x, a, b).tolist() == values
        # Where the branch is taken it is an error as ever.
    with pytest.raises((ValueError, ZeroDivisionError), match="divided by zero"):
        deeper(x, a, b).tolist()
    with pytest.raises((ValueError, ZeroDivisionError), match="divided by zero"):
        mg.kernel(lambda x, a, b: deeper(x, a, b) if a > 0 else x)(x, a, b).tolist()


@mg.kernel
def quotient(a, b):
    return a // b if b != 0 else 0


@mg.kernel
def rest(a, b):
    if b == 0:
        return -1
    return a % b


@mg.kernel
def guarded_by_and(a, b):
    return b != 0 and a // b > 1


@mg.kernel
def guarded_in_a_loop(a, b):
    total = 0
    for k in range(3):
        if b - k == 0:
            continue
        total += a // (b - k)
    return total


@mg.kernel
def guarded_by_a_call(a, b):
    return rest(a, b) if a > 0 else quotient(a, b)


@pytest.mark.parametrize("kernel", [quotient, rest, guarded_by_and, guarded_in_a_loop, guarded_by_a_call])
@pytest.mark.parametrize("dtype", [mg.int8, mg.int32, mg.int64])
def test_divisions_that_a_branch_protects(kernel, dtype):
    a, b = mg.tensor([7, 8, 9, 5, 0], dtype=dtype), mg.tensor([2, 0, 1, 3, 0], dtype=dtype)
    wanted = [int(kernel.__wrapped__(x, y)) for x, y in zip(a.tolist(), b.tolist())]
    assert kernel(a, b).tolist() == wanted
    for numbers in ((7, b), (a, 2)):
        kernel(*numbers)


def test_divisions_that_nothing_protects():
    @mg.kernel
    def half(a, b):
        return a // b if a > 0 else 0

    zeros = mg.tensor([0, 0])
    assert half(mg.tensor([0, -1]), zeros).tolist() == [0, 0]
    with pytest.raises((ValueError, ZeroDivisionError, RuntimeError), match="zero"):
        half(mg.tensor([0, 1]), zeros).tolist()
    assert half(mg.tensor([1.0, -1.0]), mg.tensor([0.0, 0.0])).tolist() == [math.inf, 0]


def test_rounding_integers_to_tens():
    @mg.kernel
    def tens(x, *, digits=-1):
        return round(x, digits)

    numbers = [14, 15, 25, 26, -14, -15, -25, -26, 0, 5, 1234567]
    for digits in (-1, -2, -3, -18, -19, -40, 0, 1):
        wanted = [round(n, digits) for n in numbers]
        assert tens(mg.tensor(numbers), digits=digits).tolist() == wanted
        assert mg.tensor(numbers).round(decimals=digits).tolist() == wanted
    small = mg.tensor([14, 15, 115, -128], dtype=mg.int8).round(decimals=-1)
    assert small.dtype == mg.int8 and small.tolist() == [10, 20, 120, 126]
    assert mg.tensor([2**64 - 1, 2**63], dtype=mg.uint64).round(decimals=-3).tolist() == [
        (2**64 - 1 + 385) % 2**64,
        9223372036854776000,
    ]


def test_truth_values_are_numbers_where_one_computes_with_them():
    @mg.kernel
    def sign(x):
        return (x > 0) - (x < 0)

    @mg.kernel
    def several(x):
        over, under = x > 0, x < 0
        return over + over, over * under, -over, +over, abs(under), over**under, over // (x == x), ~over, over & under, over | under, sign(x) * x

    x = mg.tensor([2.0, -3.0, 0.0])
    assert sign(x).tolist() == [1, -1, 0] and sign(x).dtype == mg.int64
    found = [t.tolist() for t in several(x)]
    assert found[:7] == [[2, 0, 0], [0, 0, 0], [-1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 1], [1, 0, 0]]
    assert found[7:] == [[False, True, True], [False] * 3, [True, True, False], [2.0, 3.0, 0.0]]
    # Weak, as other numbers of the text are.
    assert several(x.half())[-1].dtype == mg.float16
    assert mg.kernel(lambda x: ((x > 0) - (x < 0)) * x)(mg.tensor([3], dtype=mg.int8)).dtype == mg.int8


def test_a_gradient_that_is_defined_anew():
    @mg.kernel
    def squared(x):
        return x * x

    @mg.kernel
    def around(x):
        return squared(x) + 0

    @mg.kernel
    def further(x):
        return around(x) * 1

    x = mg.tensor([1.0, 2.0], requires_grad=True)

    def slope():
        return mg.autograd.grad(further(x).sum(), x)[0].tolist()

    assert slope() == [2, 4]

    @squared.gradient
    def first(x):
        return 5 * x

    assert slope() == [5, 10]

    @squared.gradient
    def second(x):
        return 7 * x

    assert slope() == [7, 14]

    @second.gradient
    def third(x):
        return 11.0

    y = mg.autograd.grad(further(x).sum(), x, create_graph=True)[0]
    assert mg.autograd.grad(y.sum(), x)[0].tolist() == [11, 11]


def test_the_builder_refuses_what_is_no_kind_of_values():
    builder = mg._micrograd_rs._KernelBuilder("f", 1)
    with pytest.raises(ValueError, match="not \"complex\""):
        builder.cast("complex", builder.argument(0))
