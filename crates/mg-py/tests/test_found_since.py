"""What random programs have found since `test_found.py`, each as small as it got. Wanted is what PyTorch answers."""

import math

import micrograd_rs as L
import pytest

F = L.nn.functional
INF = math.inf


def leaf(*values, dtype=L.float32):
    return L.tensor(*values, dtype=dtype, requires_grad=True)


def jitted(step):
    """The step as it is, and one that is replayed."""
    return [step, L.jit(step)]


# A number beside integers that it does not fit, where floats come of both.


@pytest.mark.parametrize("dtype", [L.uint8, L.int8])
@pytest.mark.parametrize("number", [-3, 300])
def test_a_number_beside_integers_is_a_float_where_floats_come_of_them(dtype, number):
    x, wide = L.tensor([1, 0, 7], dtype=dtype), L.tensor([1.0, 0.0, 7.0])
    functions = [L.xlogy, L.special.xlogy, L.special.xlog1py, L.special.zeta, L.div, L.true_divide, L.logaddexp, L.logaddexp2]
    for f in functions:
        for ours, wanted in ((lambda: f(x, number), f(wide, float(number))), (lambda: f(number, x), f(float(number), wide))):
            answer = ours()
            assert answer.dtype == L.float32
            L.testing.assert_close(answer, wanted, equal_nan=True)
    assert L.div(300, L.tensor([2], dtype=L.int8)).tolist() == [150.0]
    assert L.special.zeta(L.tensor(7, dtype=L.uint8), -3).item() == INF
    assert L.float_power(number, L.tensor([2, 0], dtype=dtype)).tolist() == [float(number) ** 2, 1.0]
    assert L.float_power(-3.7, L.tensor([7], dtype=dtype)).item() == pytest.approx((-3.7) ** 7, rel=1e-14)


def test_a_number_beside_integers_is_one_of_them_where_integers_come_of_both():
    assert L.pow(300, L.tensor([1], dtype=L.int8)).dtype == L.int8


# Rows that hold infinity.


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, INF])
def test_a_row_is_no_part_of_its_own_distance(p):
    x = leaf([[INF, 1.0], [0.0, 2.0]])
    L.pdist(x, p).sum().backward()
    y = leaf([[INF, 1.0], [0.0, 2.0]])
    L.cdist(y[:1], y[1:], p).sum().backward()
    # Between two rows there is one distance, whichever function is asked.
    assert str(x.grad) == str(y.grad + 0.0)
    assert L.pdist(x, p).item() == INF


def test_distances_from_infinity():
    x = leaf([[INF, 1.0], [0.0, 2.0], [1.0, 5.0]])
    L.pdist(x, 1.0).sum().backward()
    assert x.grad.tolist() == [[2.0, -2.0], [-2.0, 0.0], [0.0, 2.0]]
    # Whether two infinities, or what is no number, are apart is not known.
    assert math.isnan(L.pdist(L.tensor([[INF, 1.0], [INF, 2.0]]), 0.0).item())
    assert math.isnan(L.cdist(L.tensor([[math.nan, 1.0]]), L.tensor([[0.0, 2.0]]), 0.0).item())
    assert L.pdist(L.tensor([[INF, 1.0], [0.0, 2.0]]), 0.0).item() == 2.0


# Names of arguments.


def test_functions_that_are_methods_too_take_their_tensor_by_name():
    x = L.tensor([[1.0, 4.0], [3.0, 2.0]])
    assert L.max(input=x).item() == 4.0 and L.min(input=x).item() == 1.0
    assert L.max(input=x, dim=1).values.tolist() == [4.0, 3.0] and L.max(x, 0).indices.tolist() == [1, 0]
    assert L.min(input=x, other=L.full((2, 2), 2.0)).tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert L.numel(input=x) == 4 and L.nonzero(input=x).shape == (4, 2) and L.is_floating_point(input=x)
    with pytest.raises(TypeError):
        L.max(x, input=x)


# Histories.


# Steps.


def test_the_exponential_of_one_number_is_that_of_numbers():
    x = L.tensor([[[-float("inf")]], [[0.0]], [[1.5]]], requires_grad=True)
    y = L.matrix_exp(x)
    assert y[:, 0, 0].tolist() == x.exp()[:, 0, 0].tolist()
    y[1:].sum().backward()
    assert x.grad[1:].tolist() == y[1:].tolist()


@pytest.mark.parametrize("values", [[INF, INF, 1.0], [math.nan, 2.0, math.nan], [-INF, -INF, 1.0], [-0.0, -0.0], [3.0, 1.0, 3.0, 3.0, 7.0, 7.0]])
@pytest.mark.parametrize("name", ["max", "min", "median"])
def test_what_is_found_among_equals_shares_its_gradient(name, values):
    x = leaf(values)
    found = getattr(x, name)()
    found.backward()
    share = [v == found.item() or (math.isnan(v) and math.isnan(found.item())) for v in values]
    assert x.grad.tolist() == pytest.approx([s / sum(share) for s in share])
    assert math.isnan(found.item()) or math.copysign(1.0, found.item()) == math.copysign(1.0, values[share.index(True)])


# Numbers that integers do not hold.

WRITES = {
    "fill_": lambda x, v: x.fill_(v),
    "masked_fill": lambda x, v: x.masked_fill(L.tensor([True, False]), v),
    "index_fill": lambda x, v: x.index_fill(0, L.tensor([0]), v),
    "scatter": lambda x, v: x.scatter(0, L.tensor([0]), v),
    "x[0] =": lambda x, v: x.__setitem__(0, v),
    "x[...] =": lambda x, v: x.__setitem__(..., v),
    "x[[0]] =": lambda x, v: x.__setitem__([0], v),
    "x[mask] =": lambda x, v: x.__setitem__(L.tensor([True, False]), v),
    "new_full": lambda x, v: x.new_full((2,), v),
    "full_like": lambda x, v: L.full_like(x, v),
    "tensor": lambda x, v: L.tensor([v], dtype=x.dtype),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_number_that_integers_do_not_hold_is_not_written(write):
    refused = {
        L.uint8: [256, -256, 300, math.nan, INF, -INF, 256.0, -0.5, 1e30, 2**40],
        L.int8: [128, -129, math.nan, 128.0, -128.5],
        L.int32: [2**31, -(2**31) - 1, 2.0**31],
        L.int64: [2**63, math.nan, 1e30, -1e30],
    }
    for dtype, numbers in refused.items():
        for number in numbers:
            x = L.tensor([3, 4], dtype=dtype)
            with pytest.raises((RuntimeError, ValueError), match="overflow|does not fit"):
                write(x, number)
            assert x.tolist() == [3, 4]
    for dtype, number, written in [
        (L.uint8, -1, 255),
        (L.uint8, -255, 1),
        (L.uint8, 255.9, 255),
        (L.int8, 127.9, 127),
        (L.int8, -128, -128),
        (L.int64, -(2.0**63), -(2**63)),
        (L.int64, 2**63 - 1, 2**63 - 1),
    ]:
        x = L.tensor([3, 4], dtype=dtype)
        answer = write(x, number)
        assert (x if answer is None else answer)[0].item() == written
    x = L.tensor([False, False])
    answer = write(x, 2)
    assert (x if answer is None else answer)[0].item() is True


@pytest.mark.parametrize("number", [300, -300, 2**40])
def test_a_factor_that_integers_do_not_hold_is_not_taken(number):
    x = L.ones(2, dtype=L.uint8)
    for f in (L.add, L.sub):
        with pytest.raises(RuntimeError):
            f(x, x, alpha=number)
    assert L.add(x, x, alpha=-1).tolist() == [0, 0]


def test_a_number_beyond_all_integers_equals_none_of_them():
    for x in (L.tensor([1, -(2**63), 2**63 - 1]), L.tensor([1, 0, 255], dtype=L.uint8), L.tensor([True, False, True])):
        for huge in (2**63, 2**70):
            assert (x == huge).tolist() == [False] * 3 == (x > huge).tolist() == (x >= huge).tolist() == x.eq(huge).tolist()
            assert (x != huge).tolist() == [True] * 3 == (x < huge).tolist() == (x <= huge).tolist() == x.ne(huge).tolist()
            assert (huge > x).tolist() == [True] * 3
        assert (x > -(2**70)).tolist() == [True] * 3
        assert (x == -(2**70)).tolist() == [False] * 3


@pytest.mark.parametrize(("start", "end"), [(1.0, 0.0), (0.0, -1.0), (0.0, -0.5), (3.0, 0.0)])
@pytest.mark.parametrize("steps", [2, 3, 7])
def test_the_ends_of_a_line_have_the_sign_that_they_were_given(start, end, steps):
    line = L.linspace(start, end, steps)
    assert (line[0].item(), line[-1].item()) == (start, end)
    assert not line.tolist() or all(math.copysign(1.0, v) == 1.0 for v in line.tolist() if v == 0.0)


def test_classes_below_zero_are_an_error_and_positions_below_zero_count_from_the_end():
    for labels in ([-1], [2, -1], [[-3]]):
        with pytest.raises(RuntimeError, match="non-negative"):
            F.one_hot(L.tensor(labels))
    assert F.one_hot(L.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert L.zeros(3).index_fill(0, L.tensor([0, -1]), 5).tolist() == [5, 0, 5]
    assert L.zeros(2, 3).index_fill(1, L.tensor([-2]), 5).tolist() == [[0, 5, 0]] * 2
    with pytest.raises(IndexError):
        L.zeros(3).index_fill(0, L.tensor([-4]), 5)
    fill = L.jit(lambda x, at: x.index_fill(0, at, 5.0))
    for at in ([0], [-1], [1], [-2], [2]):
        wanted = [0.0] * 3
        wanted[at[0]] = 5.0
        assert fill(L.zeros(3), L.tensor(at)).tolist() == wanted


def test_a_conversion_reads_what_was_there():
    """It happens where the result is stored, and the memory of what is converted may be taken over by another result of the same launch."""
    for dtype in (L.float16, L.bfloat16):
        for _ in range(2):
            x, most = L.tensor([1.25, 0.5]) + 0, L.tensor(3.0) + 0
            L.realize(x, most)
            larger, converted = L.maximum(x, most), x.to(dtype)
            del x
            L.realize(converted, larger)
            assert converted.tolist() == [1.25, 0.5] and larger.tolist() == [3, 3]


def test_truth_values_without_axes_as_indices():
    x = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    put = x.index_put((L.tensor(True),), L.tensor(5.0), accumulate=True)
    assert put.tolist() == [6, 7, 8]
    assert x.index_put((L.tensor(False),), L.tensor(5.0)).tolist() == [1, 2, 3]
    put.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    for dtype in (L.bfloat16, L.int16):
        t = L.tensor(1).to(dtype)
        assert t.index_put((L.tensor(True),), L.tensor(4).to(dtype)).item() == 4


def test_degrees_of_polynomials():
    special, nan = L.special, math.nan
    x = L.tensor([0.5, 2.0, nan])
    assert special.chebyshev_polynomial_t(x, 2.7).tolist()[:2] == [-0.5, 7]
    assert special.chebyshev_polynomial_u(x, -1).tolist() == [0, 0, 0]
    assert special.legendre_polynomial_p(x, 0).tolist() == [1, 1, 1]
    # Degrees in a tensor have no fractions, and take part in the dtype.
    n = L.tensor([0.25, 2.7, -1.0], dtype=L.float64)
    found = special.shifted_chebyshev_polynomial_t(x, n)
    assert found.dtype == L.float64 and found.tolist() == [1, 17, 0]
    assert special.hermite_polynomial_he(2, L.tensor([3, 1, 0])).tolist() == [2, 2, 1]
    assert special.laguerre_polynomial_l(L.tensor([1, 3]), L.tensor([nan, 2.0])).tolist() == [0, -0.5]


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [(L.bfloat16, [0.33984375, 0.44140625, 0.2021484375, 0.65234375]), (L.float16, [0.341064453125, 0.443359375, 0.201904296875, 0.65673828125])],
)
def test_a_number_to_the_power_of_halves_has_its_own_logarithm(dtype, wanted):
    v = leaf([1.0, 2.0, -1.0, 3.5], dtype=dtype)
    (1.3**v).sum().backward()
    for grad, right in zip(v.grad.tolist(), wanted, strict=True):
        assert grad == pytest.approx(right, rel=L.finfo(dtype).eps)
    v.grad = None
    L.pow(1.3, v).sum().backward()
    assert v.grad[1].item() == pytest.approx(wanted[1], rel=L.finfo(dtype).eps)


@pytest.mark.parametrize("rate", [-1.0, math.nan])
def test_there_are_no_counts_of_negative_rates(rate):
    with pytest.raises(RuntimeError, match="poisson: takes rates that are not negative"):
        L.poisson(L.tensor([1.0, rate]))
    assert L.poisson(L.tensor([0.0, -0.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", [L.bfloat16, L.float16])
def test_slopes_of_digamma_of_halves_are_rounded_once(dtype):
    # Ten points and the trigamma function there.
    points = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    wanted = [65.38813344, 17.19732916, 4.934802201, 2.541879648, 1.644934067, 0.9348022005, 0.6449340668, 0.3949340668, 0.2838229557, 0.1813229557]
    x = leaf(points, dtype=dtype)
    L.digamma(x).sum().backward()
    for grad, right in zip(x.grad.tolist(), wanted, strict=True):
        assert grad == pytest.approx(right, rel=L.finfo(dtype).eps / 2)


@pytest.mark.parametrize(
    ("index", "axis", "size"), [((0, 3), 1, 3), ((0, 0, 9), 2, 4), ((1, slice(None), 9), 2, 4), ((..., -5), 2, 4)]
)
def test_an_index_out_of_range_is_told_of_with_the_axis_of_the_tensor(index, axis, size):
    x = L.zeros(2, 3, 4)
    for do in (lambda: x[index], lambda: x.__setitem__(index, 1.0)):
        with pytest.raises(IndexError, match=f"axis {axis} of size {size}"):
            do()
def test_roots_of_matrices_have_gradients_where_eigenvalues_are_equal():
    a = leaf([[4.0, 0.0], [0.0, 4.0]], dtype=L.float64)
    L.linalg.matrix_sqrth(a).backward(L.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=L.float64))
    assert a.grad.tolist() == [[0.25, 0.625], [0.625, 1.0]]
    # What rounding has made negative is zero.
    assert L.linalg.matrix_sqrth(L.tensor([[-1e-7]])).tolist() == [[0.0]]
    b = leaf([[4.0, 2.0], [2.0, 5.0]], dtype=L.float64)
    (first,) = L.autograd.grad(L.linalg.matrix_sqrth(b).sum(), b, create_graph=True)
    (first * first).sum().backward()
    L.testing.assert_close(b.grad[0], L.tensor([-0.014283891270608603, -0.011913148152859772], dtype=L.float64))


def test_tensors_of_one_element_in_sequences_are_numbers():
    assert L.tensor([L.tensor([1]), L.tensor([2])]).tolist() == [1, 2]
    assert L.tensor([L.ones(1, 1), 2.0]).tolist() == [1.0, 2.0]
    assert L.tensor([[L.tensor(1)], [L.tensor([2])]]).tolist() == [[1], [2]]
    assert L.as_tensor((L.tensor([True]), L.tensor([2]))).tolist() == [1, 2]
    assert L.tensor([L.ones(2), L.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert L.tensor(L.ones(1)).shape == (1,)


def test_the_sign_of_a_determinant_has_no_slope_where_its_logarithm_has_an_infinite_one():
    w = L.zeros(2, 2, requires_grad=True)
    L.linalg.slogdet(w)[0].backward()
    assert w.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_norms_of_halves_may_be_beyond_halves():
    x = L.full((4, 2), 40000.0, dtype=L.float16)
    assert x.renorm(2, 1, 1.0).tolist() == [[0.5, 0.5]] * 4


@pytest.mark.parametrize(
    ("loss", "first", "second"),
    [
        (lambda w: F.binary_cross_entropy_with_logits(w, L.zeros(1)), 0.5, 0.25),
        (lambda w: F.binary_cross_entropy_with_logits(w, L.ones(1), pos_weight=L.full((1,), 2.0)), -1.0, 0.5),
        (lambda w: F.huber_loss(w, L.zeros(1)), 0.0, 1.0),
        (lambda w: F.smooth_l1_loss(w, L.zeros(1), beta=0.5), 0.0, 2.0),
    ],
)
def test_losses_have_second_derivatives_at_zero(loss, first, second):
    w = L.zeros(1, requires_grad=True)
    slope = L.autograd.grad(loss(w), w, create_graph=True)[0]
    assert (slope.item(), L.autograd.grad(slope.sum(), w)[0].item()) == (first, second)
