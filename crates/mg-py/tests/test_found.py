"""What random programs and random calls have found, each as small as it got. Wanted is what PyTorch answers."""

import math

import micrograd_rs as L
import pytest

F = L.nn.functional
INF = math.inf


def leaf(*values, dtype=L.float32):
    return L.tensor(*values, dtype=dtype, requires_grad=True)


# Matrices without elements.


# Histories.


# Leaves that are turned.


# Poles, signs and overflows.


# What is refused, and what no longer is.


# Numbers beyond all measure.


# Ties and zeros.


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


def test_what_an_operation_gives_back_stays_a_view():
    x = L.tensor([0.0, 0.0]).expand(2, 2)
    y = x.positive()
    x[0].add_(1.0)
    assert x.tolist() == y.tolist() == [[1, 1], [1, 1]] and x.stride() == (0, 1)


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
