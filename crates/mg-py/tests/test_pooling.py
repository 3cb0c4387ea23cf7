"""Windows where they hang over, overlap and step over elements; planes that are divided among tasks; all dtypes; against loops."""

from __future__ import annotations

import random

import micrograd_rs as mg
import numpy as np
import pytest

F = mg.nn.functional
SHAPES = [
    # plane, kernel, stride, padding, dilation, ceil
    ((7, 9), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((7, 9), (3, 3), (1, 1), (1, 1), (1, 1), False),
    ((8, 20), (3, 3), (2, 2), (1, 1), (1, 1), True),
    ((9, 33), (2, 3), (3, 2), (1, 1), (2, 3), True),
    ((5, 64), (4, 4), (4, 4), (2, 2), (1, 1), False),
    ((6, 50), (1, 7), (1, 5), (0, 3), (1, 2), False),
    ((40, 41), (5, 3), (2, 3), (2, 1), (1, 1), True),
    ((300, 301), (3, 3), (2, 2), (1, 1), (1, 1), False),
]


def outputs(n, k, s, p, d, ceil):
    room = n + 2 * p - d * (k - 1) - 1
    count = (room + (s - 1 if ceil else 0)) // s + 1
    return count - 1 if ceil and (count - 1) * s >= n + p else count


def windows(plane, kernel, stride, padding, dilation, ceil):
    """The elements of each window, in order; None where it hangs over."""
    axes = list(zip(plane, kernel, stride, padding, dilation))
    counts = [outputs(n, k, s, p, d, ceil) for n, k, s, p, d in axes]
    for oy in range(counts[0]):
        for ox in range(counts[1]):
            found = []
            for ky in range(kernel[0]):
                for kx in range(kernel[1]):
                    y = oy * stride[0] - padding[0] + ky * dilation[0]
                    x = ox * stride[1] - padding[1] + kx * dilation[1]
                    inside = 0 <= y < plane[0] and 0 <= x < plane[1]
                    found.append(y * plane[1] + x if inside else None)
            yield found


def plane(shape, seed=0):
    """Small whole numbers, many of them equal: every sum is exact."""
    rng = random.Random(seed)
    return np.array([rng.randint(-9, 9) for _ in range(shape[0] * shape[1])], float).reshape(shape)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8"])
@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_largest(device, case, dtype):
    shape, *told = case
    data = plane(shape) + (9 if dtype == "uint8" else 0)
    x = mg.tensor(np.stack([data, data[::-1].copy()]), dtype=getattr(mg, dtype), device=device)
    if x.dtype.is_floating_point:
        x.requires_grad_()
    kernel, stride, padding, dilation, ceil = told
    y, at = F.max_pool2d(x[None], kernel, stride, padding, dilation, ceil, return_indices=True)
    gradient = np.zeros((2, data.size))
    for channel, numbers in enumerate((data.ravel(), data[::-1].ravel())):
        got, places = y[0, channel].flatten().tolist(), at[0, channel].flatten().tolist()
        for i, window in enumerate(windows(shape, *told)):
            inside = [e for e in window if e is not None]
            best = max(inside, key=lambda e: (numbers[e], -e))
            assert (got[i], places[i]) == (numbers[best], best)
            gradient[channel, best] += i % 5
    if x.dtype.is_floating_point:
        weight = (mg.arange(y[0, 0].numel(), device=device) % 5).reshape(y[0, 0].shape).to(x.dtype)
        for create_graph in (False, True):
            (found,) = mg.autograd.grad((y * weight).sum(), [x], create_graph=create_graph, retain_graph=True)
            assert found.flatten(1).tolist() == gradient.tolist()
        # Linear in the weights, so that the gradient by them is what is picked.
        assert (y.double() * weight).sum().item() == pytest.approx((found * x).double().sum().item())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("case", [c for c in SHAPES if c[4] == (1, 1)], ids=str)
@pytest.mark.parametrize("margin", [True, False])
def test_means(device, case, dtype, margin):
    shape, kernel, stride, padding, dilation, ceil = case
    data = plane(shape)
    x = mg.tensor(data[None], dtype=getattr(mg, dtype), device=device).requires_grad_()
    y = F.avg_pool2d(x, kernel, stride, padding, ceil, margin)
    gradient, wanted = np.zeros(data.size), []
    columns = outputs(shape[1], kernel[1], stride[1], padding[1], 1, ceil)
    for i, window in enumerate(windows(*case)):
        inside = [e for e in window if e is not None]
        count = len(inside)
        if margin:
            count = 1
            for axis, o in enumerate(divmod(i, columns)):
                begin = o * stride[axis] - padding[axis]
                count *= min(begin + kernel[axis], shape[axis] + padding[axis]) - begin
        wanted.append(sum(data.ravel()[inside]) / count)
        gradient[inside] += (i % 5) / count
    tolerance = 4e-3 if dtype == "float16" else 1e-5
    assert np.allclose(y.detach().double().flatten().tolist(), wanted, tolerance, tolerance)
    weight = (mg.arange(y.numel(), device=device) % 5).reshape(y.shape).to(x.dtype)
    (found,) = mg.autograd.grad((y * weight).sum(), [x])
    assert np.allclose(found.double().flatten().tolist(), gradient, tolerance, 4 * tolerance)


@pytest.mark.parametrize("case", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_columns(device, case, dtype):
    shape, kernel, stride, padding, dilation, _ = case
    told = (kernel, dilation, padding, stride)
    data = plane(shape)
    x = mg.tensor(data[None, None], dtype=getattr(mg, dtype), device=device).requires_grad_()
    columns = F.unfold(x, *told)
    wanted = [[0.0 if e is None else data.ravel()[e] for e in w] for w in windows(shape, *case[1:5], False)]
    assert columns[0].T.tolist() == wanted
    back = np.zeros(data.size)
    for window in windows(shape, *case[1:5], False):
        for e in window:
            if e is not None:
                back[e] += data.ravel()[e]
    assert F.fold(columns, shape, *told).flatten().tolist() == back.tolist()
    (found,) = mg.autograd.grad((columns * columns.detach()).sum(), [x])
    assert found.flatten().tolist() == back.tolist()


@pytest.mark.parametrize("out", [(1, 1), (3, 4), (7, 9), (10, 20), (5, None)])
def test_shares(device, out):
    data = plane((7, 9))
    sizes = [n if n is not None else of for n, of in zip(out, (7, 9))]
    x = mg.tensor(data[None], dtype=mg.float64, device=device).requires_grad_()
    y, (z, at) = F.adaptive_avg_pool2d(x, out), F.adaptive_max_pool2d(x, out, return_indices=True)
    means, best = np.zeros(data.size), np.zeros(data.size)
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            rows = range(i * 7 // sizes[0], -(-(i + 1) * 7 // sizes[0]))
            columns = range(j * 9 // sizes[1], -(-(j + 1) * 9 // sizes[1]))
            inside = [r * 9 + c for r in rows for c in columns]
            assert y[0, i, j].item() == pytest.approx(np.mean(data.ravel()[inside]))
            first = max(inside, key=lambda e: (data.ravel()[e], -e))
            assert (z[0, i, j].item(), at[0, i, j].item()) == (data.ravel()[first], first)
            means[inside] += 1 / len(inside)
            best[first] += 1
    assert np.allclose(mg.autograd.grad(y.sum(), [x])[0].flatten().tolist(), means)
    assert mg.autograd.grad(z.sum(), [x])[0].flatten().tolist() == best.tolist()


def test_threads_do_not_matter(program):
    code = """
import micrograd_rs as mg
mg.manual_seed(3)
x = mg.randn(2, 300, 310).requires_grad_()
F = mg.nn.functional
for f in (F.max_pool2d, F.avg_pool2d):
    y = f(x, 3, 2, 1)
    for t in (y, *mg.autograd.grad(y.square().sum(), [x])):
        print(t.tolist())
"""
    assert program(code, MG_NUM_THREADS="1") == program(code, MG_NUM_THREADS="3")


def test_nothing_to_pool(device):
    for shape in [(0, 3, 4, 4), (2, 0, 4, 4)]:
        x = mg.zeros(*shape, device=device).requires_grad_()
        for f in (F.max_pool2d, F.avg_pool2d):
            y = f(x, 2)
            y.sum().backward()
            assert y.shape == (*shape[:2], 2, 2) and x.grad.shape == shape
    with pytest.raises(ValueError, match="do not fit"):
        F.max_pool2d(mg.zeros(1, 1, 0, 4, device=device), 2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_windows_of_two_by_two_flow_back_to_the_right_element(device, dtype):
    """Side by side they have a way of their own: equal elements, infinite ones, NaNs, elements that no window has."""
    inf, nan = float("inf"), float("nan")
    x = mg.tensor(
        [
            # the last; the first of two; nothing but −∞; the second line
            [[1, 2, 5, 5, -inf, -inf, 0, 0, 9], [3, 4, 5, 1, -inf, -inf, 7, 8, 9], [9] * 9],
            # a NaN, of several the last; an infinite one; both zeros; negative ones
            [[1, nan, nan, 1, 2, inf, 0.0, -0.0, 9], [3, 4, nan, 5, 1, 2, -1, -2, 9], [9] * 9],
        ],
        dtype=getattr(mg, dtype),
        device=device,
        requires_grad=True,
    )
    expected = mg.zeros(2, 3, 9)
    for share, first, second in zip((1, 2, 3, 4), [(1, 1), (0, 2), (0, 4), (1, 7)], [(0, 1), (1, 2), (0, 5), (0, 6)]):
        expected[0, *first] = expected[1, *second] = share
    weights = mg.tensor([[[1.0, 2, 3, 4]]] * 2, dtype=x.dtype, device=device)
    for pool in (lambda x: F.max_pool2d(x[None], 2)[0], lambda x: F.max_pool3d(x[None], (1, 2, 2))[0]):
        (found,) = mg.autograd.grad(pool(x), [x], [weights])
        assert found.tolist() == expected.tolist()


def test_axes_that_keep_their_size_are_not_interpolated():
    x = mg.arange(10.0).square().reshape(1, 1, 2, 5)
    assert F.interpolate(x[:, :, 0], scale_factor=1.1, mode="linear").tolist() == x[:, :, 0].tolist()
    y = F.interpolate(x, scale_factor=(1.3, 2.0), mode="bilinear")
    assert y.tolist() == F.interpolate(x, size=(2, 10), mode="bilinear").tolist()
    # Of cubes positions follow from the factor there too.
    assert F.interpolate(x, scale_factor=1.1, mode="bicubic").tolist() != x.tolist()


@pytest.mark.parametrize("dtype", [getattr(mg, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)])
def test_largest_integers_of_every_width(dtype):
    info = mg.iinfo(dtype)
    ends = [info.min, info.max, info.max - 1, info.min + 1, 5, 7]
    x = mg.tensor(ends, dtype=dtype).reshape(1, 1, 6)
    y, at = F.max_pool1d(x, 2, return_indices=True)
    assert y.dtype == dtype and y.tolist() == [[[info.max, info.max - 1, 7]]] and at.tolist() == [[[1, 2, 5]]]
    least = mg.full((1, 1, 4), info.min, dtype=dtype)
    assert F.max_pool1d(least, 3, 1, 1).tolist() == least.tolist()
    assert F.adaptive_max_pool1d(x, 2).tolist() == [[[info.max, 7]]]


@pytest.mark.parametrize("pool, axes", [(F.lp_pool1d, 1), (F.lp_pool2d, 2), (F.lp_pool3d, 3)])
def test_norms_of_no_finite_order(device, pool, axes):
    line = [1.0, -5.0, 2.0, 3.0, -4.0]
    x = mg.tensor(line, device=device).reshape(1, 1, *[1] * (axes - 1), 5).requires_grad_()
    window = 2 if axes == 1 else (*[1] * (axes - 1), 2)
    for order, wanted, slopes in ((float("inf"), [5.0, 3.0], [0.0, -1.0, 0.0, 1.0, 0.0]), (-float("inf"), [1.0, 2.0], [1.0, 0.0, 1.0, 0.0, 0.0])):
        y = pool(x, order, window)
        assert y.flatten().tolist() == wanted
        (g,) = mg.autograd.grad(y.sum(), x)
        assert g.flatten().tolist() == slopes
        assert pool(x, order, window, ceil_mode=True).flatten().tolist() == [*wanted, 4.0]
        assert getattr(mg.nn, f"LPPool{axes}d")(order, window)(x).flatten().tolist() == wanted
    half = pool(x.half(), float("inf"), window)
    assert half.dtype == mg.float16 and half.flatten().tolist() == [5.0, 3.0]
    for none in (0, 0.0):
        with pytest.raises(ValueError, match="norm_type that is not 0"):
            pool(x, none, window)


@pytest.mark.parametrize("pool", [F.fractional_max_pool2d, F.fractional_max_pool3d])
def test_an_empty_batch_keeps_its_history(pool):
    x = mg.ones(0, 1, *[4] * (2 if pool is F.fractional_max_pool2d else 3), requires_grad=True)
    y = pool(x, 2, output_size=2)
    assert y.requires_grad and y.shape[:2] == (0, 1)
    y.sum().backward()
    assert x.grad.shape == x.shape


def test_the_slope_of_a_sum_that_is_zero():
    x = mg.tensor([0.0, 0, 1, -1, 1, 2], requires_grad=True)
    F.lp_pool1d(x[None, None], 1.0, 2).sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 0, 1, 1]
