"""What random programs and random calls have found, each as small as it got. Wanted is what PyTorch answers."""

import math

import micrograd_rs as L
import pytest

F = L.nn.functional
INF = math.inf


def leaf(*values, dtype=L.float32):
    return L.tensor(*values, dtype=dtype, requires_grad=True)


# Matrices without elements.


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("p", [None, 2, -2, 1, INF])
def test_the_condition_of_an_empty_matrix_is_zero(shape, p):
    answer = L.linalg.cond(L.zeros(*shape), p)
    assert answer.tolist() == L.zeros(*shape[:-2]).tolist()
    assert L.linalg.cond(L.zeros(*shape, dtype=L.int32), p).dtype == L.int32


def test_the_condition_by_a_word_takes_square_matrices():
    assert L.linalg.cond(L.zeros(0, 0), "fro").item() == 0
    with pytest.raises(ValueError, match="square"):
        L.linalg.cond(L.zeros(0, 2), "nuc")


@pytest.mark.parametrize("order", [1, 2, INF, "fro", "nuc"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0)])
def test_the_norm_of_an_empty_matrix_is_zero(order, shape):
    x = L.zeros(*shape, requires_grad=True)
    for norm in (L.linalg.norm, L.linalg.matrix_norm):
        answer = norm(x, order)
        assert answer.item() == 0 and answer.requires_grad
        assert L.autograd.grad(answer, x)[0].shape == shape


def test_there_is_no_least_sum_of_none():
    for order in (-1, -2, -INF):
        with pytest.raises(ValueError, match="no elements to reduce"):
            L.linalg.norm(L.zeros(0, 0), order)


# Histories.


def test_r_alone_has_a_gradient():
    both, alone = leaf([[1.0, 3.0], [2.0, 2.0]]), leaf([[1.0, 3.0], [2.0, 2.0]])
    L.linalg.qr(both).R.sum().backward()
    L.linalg.qr(alone, mode="r").R.sum().backward()
    assert alone.grad.tolist() == both.grad.tolist()


# Leaves that are turned.


# Poles, signs and overflows.


def test_the_slope_of_zeta_at_its_poles():
    q = leaf([0.0, -1.0, 2.0], dtype=L.float64)
    L.special.zeta(L.tensor([2.0, 2.0, 2.0], dtype=L.float64), q).sum().backward()
    assert q.grad.tolist()[:2] == [-INF, -INF]
    assert q.grad[2].item() == pytest.approx(-2 * 0.2020569031595943)
    x = leaf([-2.0])
    L.polygamma(1, x).backward()
    assert x.grad.tolist() == [-INF]


def test_ldexp_does_not_overflow_on_the_way():
    x = L.tensor([0.0, 2.0**-140, 3.0, -1.5, 1.0, INF])
    assert x.ldexp(L.tensor([200, 200, -3, 1, 10**6, -200])).tolist() == [0, 2.0**60, 0.375, -3, INF, INF]
    assert L.tensor([0.0, 2.0**-20]).half().ldexp(L.tensor([30, 30])).tolist() == [0, 1024]
    x, n = leaf([2.0]), leaf([3.0])
    answer = x.ldexp(n)
    with L.no_grad():
        n.zero_()
    answer.backward()
    assert x.grad.item() == 8 and n.grad.item() == pytest.approx(16 * math.log(2))


def test_softshrink_keeps_the_sign_of_zero():
    assert F.softshrink(L.tensor([-0.0, 0.0, -0.2])).reciprocal().tolist() == [-INF, INF, -INF]


@pytest.mark.parametrize("f", [F.elu, F.celu, F.selu])
def test_an_infinite_gradient_goes_through(f):
    x = leaf([-0.5, 0.5])
    f(x).backward(L.tensor([INF, INF]))
    assert x.grad.tolist() == [INF, INF]


def test_bytes_are_added_without_modulo():
    assert L.trapezoid(L.tensor([200, 100], dtype=L.uint8)).item() == 150
    assert L.cumulative_trapezoid(L.tensor([100, 100, 100], dtype=L.int8)).tolist() == [100, 200]


def test_counts_meet_rates_of_another_dtype():
    assert F.poisson_nll_loss(L.tensor([0]), L.tensor(1.0, dtype=L.float64)).dtype == L.float64
    assert F.poisson_nll_loss(L.tensor(0), L.tensor(1.0, dtype=L.bfloat16)).dtype == L.float32


# What is refused, and what no longer is.


def test_axes_and_channels_that_are_not_there():
    with pytest.raises(IndexError):
        L.norm_except_dim(L.tensor(1.0))
    for groups, shape in ((1, (2, 0, 3)), (2, (2, 4, 0))):
        with pytest.raises(ValueError, match="takes channels with elements"):
            F.group_norm(L.zeros(*shape), groups)
    assert L.vander(leaf([2.0]), 1).requires_grad is False


def test_a_transposed_convolution_may_leave_nothing():
    x, w = L.zeros(2, 1, 2, requires_grad=True), L.ones(1, 1, 1, requires_grad=True)
    answer = F.conv_transpose1d(x, w, padding=1)
    assert answer.shape == (2, 1, 0)
    answer.sum().backward()
    assert w.grad.tolist() == [[[0]]]
    with pytest.raises(ValueError, match="padding"):
        F.conv_transpose1d(x, w, padding=2)


# Numbers beyond all measure.


# Ties and zeros.


def test_nothing_flows_through_a_tie():
    a, b = leaf([0.5]), leaf([0.5])
    loss = F.margin_ranking_loss(a, b, L.tensor([1.0]))
    loss.backward()
    assert (str(loss.item()), a.grad.tolist(), b.grad.tolist()) == ("0.0", [0], [0])
    x = leaf([1.0])
    F.hinge_embedding_loss(x, L.tensor([-1.0])).backward()
    assert x.grad.tolist() == [0]


def test_zero_times_a_logarithm_is_a_positive_zero():
    assert L.tensor([0.0, 0.0]).xlogy(L.tensor([0.25, 2.0])).reciprocal().tolist() == [INF, INF]
    x = leaf([0.0])
    x.xlogy(0.25).backward()
    assert x.grad.item() == pytest.approx(math.log(0.25))


@pytest.mark.parametrize("norm", [L.linalg.vector_norm, L.linalg.norm])
def test_a_negative_norm_does_not_change_with_zeros(norm):
    x = leaf([0.0, 3.0])
    answer = norm(x, -1)
    answer.backward()
    assert (answer.item(), x.grad.tolist()) == (0, [0, 0])
    x = leaf([1.0, 2.0], dtype=L.float64)
    norm(x, -1).backward()
    assert x.grad.tolist() == pytest.approx([4 / 9, 1 / 9])


def test_the_median_of_nothing_has_a_history():
    for f in (L.median, L.nanmedian):
        x = L.zeros(0, requires_grad=True)
        answer = f(x)
        assert answer.requires_grad and math.isnan(answer.item())
        answer.backward()
        assert x.grad.shape == (0,)


@pytest.mark.parametrize("call", ["L.eye(-1)", "L.eye(2, -1)", "L.linspace(0, 1, -1)", "L.nn.Linear(-1, 2)"])
def test_a_negative_count_is_a_wrong_value(call):
    with pytest.raises(ValueError, match="negative"):
        eval(call)


# Who has overwritten what was saved.


# Layers beyond number.


def test_small_concentrations_are_numbers():
    for small in (1e-3, 0.03):
        drawn = L.distributions.Beta(L.tensor(small), L.tensor(small)).sample((2000,))
        assert not drawn.isnan().any() and 0.4 < float(drawn.mean()) < 0.6
        drawn = L.distributions.Dirichlet(L.full((3,), small)).sample((2000,))
        assert not drawn.isnan().any()
    assert L.distributions.Laplace(L.tensor(0.0, dtype="float16"), 1.0).sample((100000,)).isfinite().all()


# Elements of a broadcast view share a place, whoever else sees it.


# A result whose data is another tensor's keeps its history.


def test_new_tensors_without_a_size_are_empty():
    x = L.ones(2, 3, dtype=L.int8)
    assert x.new().shape == (0,) and x.new().dtype == L.int8
    assert x.new(2, 3).shape == x.new(x.shape).shape == (2, 3)
    assert x.new([2, 3]).tolist() == [2, 3]
    for wrong in (True, 2.5):
        with pytest.raises(TypeError):
            x.new(wrong)


# What draws and losses take, known when they are called or not.


@pytest.mark.parametrize("late", [lambda x: x, lambda x: x * 1])
@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        (lambda x: x.multinomial(1), [[0.0, 0.0], [math.nan, 1.0], [-1.0, 2.0], [INF, 1.0], [[1.0, 1.0], [0.0, 0.0]]]),
        (lambda x: x.multinomial(2, replacement=True), [[0.0, 0.0], [math.nan, 1.0], [-1.0, 2.0]]),
        (lambda x: x.bernoulli(), [[math.nan], [-0.1], [1.1]]),
        (lambda x: L.zeros(1).bernoulli_(x), [[math.nan], [-0.1], [1.1]]),
        (lambda x: F.binary_cross_entropy(x, L.ones(1)), [[math.nan], [-0.1], [1.1]]),
        (lambda x: F.binary_cross_entropy(L.ones(1), x, reduction="none"), [[math.nan], [-0.1], [1.1]]),
        (lambda x: L.nn.BCELoss()(x, L.ones(1)), [[-1.0]]),
    ],
)
def test_probabilities_and_weights(call, numbers, late):
    for wrong in numbers:
        with pytest.raises(RuntimeError, match=r"takes (numbers|weights)"):
            call(late(L.tensor(wrong))).tolist()
    call(late(L.tensor([1.0]))).tolist()


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, L.nn.MSELoss(), L.nn.L1Loss()])
def test_losses_that_broadcast_say_so(loss):
    with pytest.warns(UserWarning, match=r"target size \(\[3\]\) that is different to the input size \(\[3, 1\]\)"):
        loss(L.zeros(3, 1), L.ones(3))
    loss(L.zeros(3), L.ones(3))


# Distributions.


def test_relaxed_bernoulli_at_its_ends():
    relaxed = L.distributions.RelaxedBernoulli(L.tensor(0.5), L.tensor(0.3))
    x = leaf([0.0, 1.0, 0.5])
    logs = relaxed.log_prob(x)
    assert logs.tolist() == pytest.approx([43.8224, 6.4305, -0.8675], abs=1e-3)
    logs.sum().backward()
    assert x.grad.tolist() == pytest.approx([0.0, 0.0, -0.8], abs=1e-5)


@pytest.mark.parametrize("name", ["Uniform", "Exponential", "Gamma", "HalfNormal", "Weibull", "LogNormal", "HalfCauchy"])
def test_distribution_functions_look_at_their_argument(name):
    parameters = {"Exponential": (1.0,), "HalfNormal": (1.0,), "HalfCauchy": (1.0,), "Weibull": (1.0, 2.0), "Gamma": (1.0, 1.0)}
    one = getattr(L.distributions, name)(*map(L.tensor, parameters.get(name, (0.0, 1.0))))
    for wrong in (-5.0, math.nan):
        with pytest.raises(ValueError, match="within the support"):
            one.cdf(L.tensor(wrong))
    assert 0 < one.cdf(L.tensor(0.5)).item() < 1
    free = getattr(L.distributions, name)(*map(L.tensor, parameters.get(name, (0.0, 1.0))), validate_args=False)
    free.cdf(L.tensor(-5.0))


# Memory that one number fills.


# Results are tensors of their own.


def test_results_that_end_in_a_view_of_what_is_theirs():
    w = leaf([[1.0, 2.0]])
    for made in (lambda: w.kron(w), lambda: w.tile(2), lambda: w.repeat_interleave(2), lambda: w.outer(w) if w.ndim == 1 else w.roll(1)):
        t = made()
        total = t.sum()
        with L.no_grad():
            t.mul_(0)
        (found,) = L.autograd.grad(total, t)
        assert found.tolist() == L.ones(t.shape).tolist()
        t = made()
        t.detach_()
        assert t.is_leaf and not t.requires_grad
    # What is turned in place is no view of another.
    t = L.tensor(1.0)
    t.unsqueeze_(0)
    t.detach_()
    with pytest.raises(RuntimeError, match="view"):
        t[:1].detach_()


# Functions of numbers far out.


@pytest.mark.parametrize(("n", "x", "wanted"), [(3, -8.75, 1558.54294416512), (2, -20.25, None), (1, -30.5, None), (5, -12.3, None)])
def test_polygamma_left_of_zero(n, x, wanted):
    if wanted is None:
        # By reflection: (−1)ⁿ ψ⁽ⁿ⁾(1 − x) − ψ⁽ⁿ⁾(x) is the n-th derivative of π cot πx, which has the period 1.
        def odd(x):
            return (-1) ** n * L.polygamma(n, L.tensor(1 - x, dtype=L.float64)).item() - L.polygamma(n, L.tensor(x, dtype=L.float64)).item()

        assert odd(x) == pytest.approx(odd(x - math.floor(x)), rel=1e-9)
    else:
        assert L.polygamma(n, L.tensor(x, dtype=L.float64)).item() == pytest.approx(wanted, rel=1e-12)


def test_zeta_left_of_zero():
    found = L.special.zeta(L.tensor([3.0, 4.0, 2.5], dtype=L.float64), L.tensor([-20.08, -8.75, -20.08], dtype=L.float64))
    # As SciPy's polygamma, and as PyTorch has it.
    assert found.tolist()[:2] == pytest.approx([-1952.5993, 259.75715736], rel=1e-5) and math.isnan(found[2])
    q = leaf(1.0)
    total = L.special.zeta(L.tensor(1.0), q)
    total.backward()
    assert total.item() == INF and q.grad.item() == pytest.approx(-math.pi**2 / 6)


def test_entropies_below_zero_have_no_slope():
    x = leaf([-1.0, -2.5, 0.0, 1.0])
    logs = L.special.entr(x)
    assert logs.tolist() == [-INF, -INF, 0, 0]
    logs.sum().backward()
    assert all(map(math.isnan, x.grad.tolist()[:2])) and x.grad.tolist()[2:] == [INF, -1]
    assert L.special.entr(L.tensor([-INF, INF])).tolist() == [-INF, -INF]


def test_angles_have_no_slope():
    x = leaf([math.nan, -1.0, 2.0])
    x.angle().sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("late", [lambda x: x, lambda x: x * 1])
def test_triangles_with_a_zero_on_the_diagonal_have_no_inverse(late):
    with pytest.raises(L.linalg.LinAlgError, match="diagonal"):
        late(L.tensor([[0.0, 0.0], [1.0, 1.0]])).cholesky_inverse().tolist()
    assert late(L.tensor([[2.0, 0.0], [1.0, 1.0]])).cholesky_inverse().tolist() == [[0.5, -0.5], [-0.5, 1]]


def test_polygamma_of_an_order_beyond_all_numbers():
    for n in (2**63 - 1, 2**40, 200):
        assert not L.polygamma(n, L.tensor(1.5)).isfinite().item()


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_either_zero_has_the_slope_of_what_lies_within(zero):
    x = leaf([zero, 1.0, 0.5, -0.5])
    x.logit().sum().backward()
    assert x.grad.tolist()[:3] == [INF, INF, 4] and math.isnan(x.grad.tolist()[3])


def test_derivatives_of_digamma_fall_to_zero():
    x = leaf([INF, 1.0])
    for n in (1, 2, 3, 7):
        assert L.polygamma(n, x).tolist()[0] == 0
    L.polygamma(1, x).sum().backward()
    assert x.grad.tolist() == pytest.approx([0, -2.4041138])
    assert math.isnan(L.polygamma(1, L.tensor(-INF)).item())
    # Of what is large it is the reciprocal, whose square is nothing.
    assert L.polygamma(1, L.tensor([1e25, 1e37])).tolist() == pytest.approx([1e-25, 1e-37], rel=1e-6, abs=0)


@pytest.mark.parametrize("between", ["cdist", "pdist"])
def test_all_coordinates_that_are_farthest_have_the_whole_gradient(between):
    # As PyTorch 2.15 has it on the CPU.
    x = leaf([[1.0, 2.0], [2.0, 3.0], [0.0, 1.0]])
    if between == "cdist":
        y = leaf([[2.0, 3.0], [0.0, 0.0]])
        far = L.cdist(x, y, p=INF)
        assert far.tolist() == [[1, 2], [0, 3], [2, 1]]
        far.sum().backward()
        assert x.grad.tolist() == [[-1, 0], [0, 1], [-1, 0]] and y.grad.tolist() == [[2, 2], [0, -3]]
    else:
        far = L.nn.functional.pdist(x, p=INF)
        assert far.tolist() == [1, 1, 2]
        far.sum().backward()
        assert x.grad.tolist() == [[0, 0], [2, 2], [-2, -2]]
    # An infinite one too; of no coordinates there is none.
    z = leaf([[INF, 1.0], [0.0, 5.0]])
    far = L.cdist(z, L.zeros(1, 2), p=INF)
    far.sum().backward()
    assert far.tolist() == [[INF], [5]] and z.grad.tolist() == [[1, 0], [0, 1]]
    assert L.cdist(leaf([[], []]), L.zeros(1, 0), p=INF).tolist() == [[0], [0]]
    assert math.isnan(L.cdist(leaf([[math.nan, 1.0]]), L.zeros(1, 2), p=INF).item())


def test_the_farthest_coordinates_twice_and_replayed():
    x, y = L.tensor([[1.0, 2.0], [3.0, 3.0]]), L.tensor([[0.0, 0.0], [1.0, 1.0]])

    def squares(x):
        (g,) = L.autograd.grad((L.cdist(x, y, p=INF) ** 2).sum(), x, create_graph=True)
        return g, L.autograd.grad(g.sum(), x)[0]

    wanted = [t.tolist() for t in squares(x.clone().requires_grad_())]
    assert wanted == [[[0.0, 6.0], [10.0, 10.0]], [[0.0, 4.0], [8.0, 8.0]]]
    step = L.jit(squares)
    for _ in range(4):
        assert [t.tolist() for t in step(x.clone().requires_grad_())] == wanted
    assert L.autograd.gradcheck(lambda x: L.cdist(x, y.double(), p=INF), leaf([[0.5, 2.0], [3.0, 0.25]], dtype=L.float64))


def test_minus_nothing_is_minus_zero():
    x = leaf([-1.0, 0.0, -0.0, 2.0])
    y = x.xlogy(L.tensor([1.0, 0.5, 0.5, 1.0]))
    assert [math.copysign(1, v) for v in y.tolist()] == [-1, 1, 1, 1]
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([0, math.log(0.5), math.log(0.5), 0])


def test_what_an_operation_gives_back_stays_a_view():
    x = L.tensor([0.0, 0.0]).expand(2, 2)
    y = x.positive()
    x[0].add_(1.0)
    assert x.tolist() == y.tolist() == [[1, 1], [1, 1]] and x.stride() == (0, 1)


def test_zeta_of_infinity():
    # As PyTorch 2.15 has it on the CPU.
    found = L.special.zeta(L.tensor(INF), L.tensor([1.0, 0.5, 0.0, -2.75, 2.0])).tolist()
    assert found[:4] == [1, INF, INF, INF] and math.isnan(found[4])


def test_the_rate_of_a_number_beside_halves():
    half, number = L.tensor([0.0], dtype=L.float16), L.tensor(0)
    assert L.nn.functional.poisson_nll_loss(number, half).dtype == L.float16
    assert L.nn.functional.poisson_nll_loss(number.reshape(1), half).dtype == L.float32
    # What is beyond float32 is infinite, whatever it is compared with.
    assert L.nn.functional.poisson_nll_loss(L.tensor(400.0), L.tensor(0.0, dtype=L.float64)).item() == INF


def test_the_larger_of_each_pair_by_name():
    a, b = L.tensor([1.0, 5.0]), L.tensor([2.0, 3.0])
    assert L.max(a, other=b).tolist() == [2, 5] and a.min(other=b).tolist() == [1, 3] and a.max(other=None).item() == 5
    for wrong in ({"other": 2.0}, {"dim": 0, "other": b}):
        with pytest.raises(TypeError):
            a.max(**wrong)


def test_one_element_is_asked_of_several():
    for asks in (lambda t: t.item(), bool, float, lambda t: L.linspace(0, 1, -1)):
        for kind in (RuntimeError, ValueError):
            with pytest.raises(kind):
                asks(L.tensor([1.0, 2.0]))


def test_slopes_of_entropies_at_the_ends():
    # As PyTorch 2.15 has them on the CPU.
    x, y = leaf([1.0, 0.0, 1.0, 0.0, 0.5]), L.tensor([1.0, 0.0, 0.0, 1.0, 1.0])
    loss = L.nn.functional.binary_cross_entropy(x, y, reduction="none")
    assert loss.tolist() == pytest.approx([0, 0, 100, 100, math.log(2)])
    (g,) = L.autograd.grad(loss.sum(), x, create_graph=True)
    assert g.tolist() == pytest.approx([0, 0, 1e12, -1e12, -2])
    (second,) = L.autograd.grad(g[4], x)
    assert second.tolist() == [0, 0, 0, 0, 4]
    half = leaf([1.0, 0.0, 0.5], dtype=L.float16)
    L.nn.functional.binary_cross_entropy(half, half.detach().clone()).backward()
    assert half.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name, slope", [("logaddexp", 0.25), ("logaddexp2", 0.25 * math.log(2))])
def test_how_slopes_of_sums_of_exponentials_change(name, slope):
    # As PyTorch 2.15 has it on the CPU.
    a, b = leaf([0.0, 1.0]), L.tensor([0.0, 1.0])
    total = getattr(a, name)(b)
    (g,) = L.autograd.grad(total.sum(), a, create_graph=True)
    assert g.tolist() == [0.5, 0.5]
    assert L.autograd.grad(g.sum(), a)[0].tolist() == pytest.approx([slope, slope])
    far = leaf([-1e30, 1.0, INF, -INF, 3.0])
    total = getattr(far, name)(L.tensor([1.0, -1e30, INF, -INF, INF]))
    assert total.tolist() == [1, 1, INF, -INF, INF]
    total.sum().backward()
    assert far.grad.tolist()[:2] == [0, 1]
