"""Distributions: what they draw has the law that they say, and gradients go where they should. (Their formulas are compared with PyTorch's in
`programs/flows.py`.)
"""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import leaf
from micrograd_rs import distributions as D

N = 20_000


@pytest.fixture(autouse=True)
def seeded():
    mg.manual_seed(11)


def far(found: float, wanted: float, deviation: float, count: int = N) -> bool:
    return abs(found - wanted) > 5 * deviation / math.sqrt(count) + 1e-6


FAMILY = [
    D.Normal(1.0, 2.0), D.Uniform(-1.0, 3.0), D.Laplace(0.5, 1.5), D.Exponential(2.0), D.Gamma(0.4, 2.0), D.Gamma(7.0, 0.5), D.Beta(2.0, 0.7),
    D.LogNormal(0.1, 0.4), D.Gumbel(1.0, 0.5), D.Weibull(2.0, 1.7), D.HalfNormal(1.2), D.Chi2(5.0), D.StudentT(9.0, 1.0, 2.0), D.Bernoulli(0.3),
    D.Geometric(0.4), D.Poisson(0.7), D.Poisson(40.0), D.Binomial(7, 0.35), D.NegativeBinomial(4.0, 0.3),
]


@pytest.mark.parametrize("d", FAMILY, ids=repr)
def test_moments(d):
    x = d.sample((N,)).double()
    mean, deviation = d.mean.item(), d.stddev.item()
    assert not far(x.mean().item(), mean, deviation)
    assert x.var().item() == pytest.approx(deviation**2, rel=0.15)
    assert d.expand((2, 3)).sample((4,)).shape == (4, 2, 3)
    assert mg.isfinite(d.log_prob(d.sample((50,)))).all()


@pytest.mark.parametrize("d", [d for d in FAMILY if type(d) in (D.Normal, D.Uniform, D.Laplace, D.Exponential, D.Gamma, D.Gumbel, D.Weibull, D.HalfNormal, D.Chi2)], ids=repr)
def test_values_lie_as_cdf_says(d):
    """Kolmogorov and Smirnov: the largest distance is below 2/√n but once in a thousand times."""
    x = d.sample((N,)).sort().values
    below = d.cdf(x).double()
    steps = mg.arange(1, N + 1, dtype=mg.float64) / N
    assert (below - steps).abs().max().item() < 2 / math.sqrt(N)


@pytest.mark.parametrize("rate", [0.05, 3.0, 11.0, 250.0])
def test_counts_come_as_often_as_they_should(rate):
    counts = mg.poisson(mg.full((N,), rate)).long()
    seen = mg.bincount(counts).double()
    wanted = N * D.Poisson(mg.tensor(rate, dtype=mg.float64)).log_prob(mg.arange(len(seen), dtype=mg.float64)).exp()
    often = wanted > 8
    chi2 = ((seen - wanted) ** 2 / wanted)[often].sum().item()
    degrees = int(often.sum().item())
    assert chi2 < degrees + 5 * math.sqrt(2 * degrees) + 5
    assert mg.poisson(mg.tensor([0.0])).tolist() == [0.0]
    with pytest.raises(ValueError, match="not negative"):
        mg.poisson(mg.tensor([0.0, -1.0]))


@pytest.mark.parametrize(("count", "p"), [(65, 0.5), (300, 0.02), (1000, 0.9), (10**6, 0.3)])
def test_counts_of_many_trials(count, p):
    mg.manual_seed(1)
    law = mg.distributions.Binomial(count, mg.tensor(p, dtype=mg.float64))
    drawn = law.sample((20_000,))
    spread = (count * p * (1 - p)) ** 0.5
    assert drawn.mean().item() == pytest.approx(count * p, abs=5 * spread / 20_000**0.5)
    assert drawn.std().item() == pytest.approx(spread, rel=0.03)
    assert 0 <= drawn.min().item() and drawn.max().item() <= count and bool((drawn == drawn.floor()).all())
    if count <= 300:
        # Each number as often as its probability says: chi squared over those that are expected 20 times.
        found = mg.bincount(drawn.long(), minlength=count + 1).double()
        expected = law.log_prob(mg.arange(count + 1.0, dtype=mg.float64)).exp() * 20_000
        seen = expected > 20
        chi = ((found - expected) ** 2 / expected)[seen].sum().item()
        degrees = int(seen.sum())
        assert chi < degrees + 5 * (2 * degrees) ** 0.5
    mixed = mg.distributions.Binomial(mg.tensor([0.0, 3.0, 500.0]), mg.tensor([0.5, 1.0, 0.0])).sample((50,))
    assert mixed[:, 0].sum() == 0 and (mixed[:, 1] == 3).all() and mixed[:, 2].sum() == 0


def test_choices():
    shares = mg.tensor([[0.1, 0.6, 0.3], [0.5, 0.5, 0.0]])
    drawn = D.Categorical(shares).sample((N,))
    assert drawn.shape == (N, 2) and drawn.dtype == mg.int64
    for row in range(2):
        found = mg.bincount(drawn[:, row], minlength=3) / N
        assert mg.allclose(found, shares[row], atol=0.02)
    counts = D.Multinomial(5, shares).sample((100,))
    assert counts.shape == (100, 2, 3) and bool((counts.sum(-1) == 5).all())
    hot = D.OneHotCategorical(shares).sample()
    assert hot.sum(-1).tolist() == [1.0, 1.0]
    soft = D.RelaxedOneHotCategorical(0.5, shares[0]).rsample((3,))
    assert mg.allclose(soft.sum(-1), mg.ones(3))


def test_gradients_reach_parameters():
    alpha = mg.tensor([0.3, 2.0, 60.0], dtype=mg.float64, requires_grad=True)
    mg.standard_gamma(alpha.expand(N, 3)).mean(0).sum().backward()
    # The mean is the parameter.
    assert mg.allclose(alpha.grad, mg.ones(3, dtype=mg.float64), atol=0.05)
    loc = mg.tensor(0.5, requires_grad=True)
    D.Normal(loc, 1.0).rsample((100,)).mean().backward()
    assert loc.grad.item() == pytest.approx(1.0)
    a = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    D.Dirichlet(a).rsample((10,))[:, 0].mean().backward()
    assert mg.isfinite(a.grad).all()


def test_gradients_of_gamma_are_pytorchs():
    torch = pytest.importorskip("torch")
    alpha = mg.tensor([0.2, 1.0, 3.0, 40.0, 500.0], dtype=mg.float64).expand(40, 5).clone().requires_grad_()
    drawn = mg.standard_gamma(alpha)
    drawn.sum().backward()
    wanted = torch._standard_gamma_grad(torch.tensor(alpha.tolist(), dtype=torch.float64), torch.tensor(drawn.tolist(), dtype=torch.float64))
    # PyTorch's is an approximation itself.
    assert mg.allclose(alpha.grad, mg.tensor(wanted.tolist(), dtype=mg.float64), rtol=2e-3)


def test_transforms_can_be_undone():
    T = D.transforms
    x = mg.linspace(-2, 2, 9, dtype=mg.float64)
    for t in (T.ExpTransform(), T.SigmoidTransform(), T.TanhTransform(), T.SoftplusTransform(), T.AffineTransform(1.0, -2.0)):
        both = T.ComposeTransform([t, T.AffineTransform(0.5, 2.0)])
        for each in (t, both):
            y = each(x.requires_grad_())
            assert mg.allclose(each.inv(y), x, atol=1e-6)
            slope = mg.autograd.grad(y.sum(), x)[0].abs().log()
            assert mg.allclose(each.log_abs_det_jacobian(x, y), slope.expand(x.shape), atol=1e-6)
    stick = T.StickBreakingTransform()
    y = stick(mg.tensor([0.3, -0.7]))
    assert y.sum().item() == pytest.approx(1.0) and mg.allclose(stick.inv(y), mg.tensor([0.3, -0.7]), atol=1e-5)


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="scale"):
        D.Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="support"):
        D.Exponential(1.0).log_prob(mg.tensor(-1.0))
    with pytest.raises(ValueError, match="must match|broadcastable"):
        D.MultivariateNormal(mg.zeros(3), mg.eye(3)).log_prob(mg.zeros(2))
    with pytest.raises(NotImplementedError, match="KL"):
        D.kl_divergence(D.Poisson(1.0), D.Normal(0.0, 1.0))
    assert mg.isnan(D.Normal(0.0, -1.0, validate_args=False).log_prob(mg.tensor(0.0)))


@pytest.mark.parametrize("name", ["Uniform", "Exponential", "Gamma", "HalfNormal", "Weibull", "LogNormal", "HalfCauchy"])
def test_distribution_functions_look_at_their_argument(name):
    parameters = {"Exponential": (1.0,), "HalfNormal": (1.0,), "HalfCauchy": (1.0,), "Weibull": (1.0, 2.0), "Gamma": (1.0, 1.0)}
    one = getattr(mg.distributions, name)(*map(mg.tensor, parameters.get(name, (0.0, 1.0))))
    for wrong in (-5.0, math.nan):
        with pytest.raises(ValueError, match="within the support"):
            one.cdf(mg.tensor(wrong))
    assert 0 < one.cdf(mg.tensor(0.5)).item() < 1
    free = getattr(mg.distributions, name)(*map(mg.tensor, parameters.get(name, (0.0, 1.0))), validate_args=False)
    free.cdf(mg.tensor(-5.0))


def test_small_concentrations_are_numbers():
    for small in (1e-3, 0.03):
        drawn = mg.distributions.Beta(mg.tensor(small), mg.tensor(small)).sample((2000,))
        assert not drawn.isnan().any() and 0.4 < float(drawn.mean()) < 0.6
        drawn = mg.distributions.Dirichlet(mg.full((3,), small)).sample((2000,))
        assert not drawn.isnan().any()
    assert mg.distributions.Laplace(mg.tensor(0.0, dtype="float16"), 1.0).sample((100000,)).isfinite().all()


def test_in_a_recorded_step():
    step = mg.jit(lambda x: D.Normal(x, 1.0).log_prob(mg.zeros(3)).sum())
    for i in range(4):
        assert step(mg.full((3,), float(i))).item() == pytest.approx(3 * (-0.5 * i * i - 0.9189385), rel=1e-5)


INF = math.inf
PARAMETERS = {
    "Bernoulli": ([0.3, 0.6],), "Poisson": ([2.0, 0.5],), "Binomial": (3, [0.3, 0.6]), "Exponential": ([2.0, 0.5],), "Beta": ([2.0, 0.5], [1.5, 3.0]), "Gamma": ([2.0, 0.5], [1.5, 3.0]),
    "Gumbel": ([2.0, 0.5], [1.5, 3.0]), "Laplace": ([2.0, 0.5], [1.5, 3.0]), "Normal": ([2.0, 0.5], [1.5, 3.0]), "Uniform": ([0.2, -0.5], [0.7, 3.0]),
}  # fmt: skip
# PyTorch's, of these and q's parameters times 1.1.
DIVERGENCES = {
    ("Bernoulli", "Bernoulli"): [0.00207, 0.00782], ("Bernoulli", "Poisson"): [1.3526, 0.23569], ("Beta", "Beta"): [0.00297, 0.00346],
    ("Beta", "Exponential"): [0.57674, 1.78446], ("Beta", "Gamma"): [0.8626, 0.02285], ("Beta", "Normal"): [2.02486, 3.22977],
    ("Beta", "Uniform"): [INF, 2.45612], ("Binomial", "Binomial"): [0.00621, 0.02346], ("Exponential", "Exponential"): [0.00469, 0.00469],
    ("Exponential", "Gamma"): [1.03782, 4.7824], ("Exponential", "Gumbel"): [2.07504, 0.67573], ("Exponential", "Normal"): [1.68954, 0.6999],
    ("Gamma", "Exponential"): [0.97313, 1.69751], ("Gamma", "Gamma"): [0.00271, 0.00342], ("Gamma", "Gumbel"): [0.72819, 3.21163],
    ("Gamma", "Normal"): [0.54916, 3.13016], ("Gumbel", "Gumbel"): [0.01088, 0.00733], ("Gumbel", "Normal"): [0.19818, 0.2466],
    ("Laplace", "Laplace"): [0.01213, 0.00453], ("Laplace", "Normal"): [0.15489, 0.14766], ("Normal", "Gumbel"): [0.26164, 0.19598],
    ("Normal", "Laplace"): [0.10131, 0.09497], ("Normal", "Normal"): [0.01588, 0.00865], ("Poisson", "Poisson"): [0.00938, 0.00234],
    ("Uniform", "Beta"): [0.51749, INF], ("Uniform", "Exponential"): [0.89469, INF], ("Uniform", "Gamma"): [1.45757, INF],
    ("Uniform", "Gumbel"): [3.0325, 1.0006], ("Uniform", "Normal"): [2.67913, 0.92947], ("Uniform", "Uniform"): [INF, 0.09531],
}  # fmt: skip
INFINITE = {
    "Exponential": ["Beta", "Uniform"], "Gamma": ["Beta", "Uniform"], "Gumbel": ["Beta", "Exponential", "Gamma", "Uniform"], "Laplace": ["Beta", "Exponential", "Gamma", "Uniform"], "Normal": ["Beta", "Exponential", "Gamma", "Uniform"], "Poisson": ["Bernoulli", "Binomial"],
}  # fmt: skip


def _made(name, factor):
    return getattr(D, name)(*[a if isinstance(a, int) else mg.tensor(a) * factor for a in PARAMETERS[name]], validate_args=False)


def test_divergences_between_families():
    for (p, q), expected in DIVERGENCES.items():
        got = D.kl_divergence(_made(p, 1.0), _made(q, 1.1)).tolist()
        assert got == pytest.approx(expected, rel=1e-3, abs=2e-5), (p, q)
    for p, others in INFINITE.items():
        for q in others:
            assert D.kl_divergence(_made(p, 1.0), _made(q, 1.1)).tolist() == [INF, INF], (p, q)
    # Edges of what events there can be.
    for low, high, q, expected in (
        (0.0, 1.0, "Beta", 0.178244), (0.0, 3.0, "Beta", INF), (0.0, 3.0, "Exponential", 1.208241), (0.0, 3.0, "Gamma", 0.241845), (-0.1, 3.0, "Gamma", INF), (0.0, 3.0, "Gumbel", 0.613645),
    ):
        parameters = [mg.tensor(a[0]) for a in PARAMETERS[q]]
        assert D.kl_divergence(D.Uniform(low, high), getattr(D, q)(*parameters)).item() == pytest.approx(expected, abs=1e-5), q
    assert D.kl_divergence(D.Beta(2.0, 3.0), D.Uniform(-1.0, 2.0)).item() == pytest.approx(1.3335, abs=1e-4)
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Beta(mg.ones(2), mg.ones(2))).tolist() == [INF, INF]


@pytest.mark.parametrize(("p", "q"), [
    (D.Gumbel(1.0, 0.5), D.Gumbel(0.2, 0.8)), (D.Gumbel(0.2, 0.8), D.Gumbel(1.0, 0.5)), (D.Exponential(2.0), D.Gumbel(0.2, 0.8)), (D.Gamma(2.0, 3.0), D.Gumbel(0.2, 0.8)),
    (D.Normal(1.0, 0.5), D.Gumbel(0.2, 0.8)), (D.Uniform(0.5, 1.5), D.Gamma(2.0, 3.0)), (D.Beta(2.0, 3.0), D.Gamma(2.0, 3.0)), (D.Weibull(2.0, 1.7), D.Weibull(1.2, 0.9)),
], ids=lambda d: repr(d))  # fmt: skip
def test_divergences_are_what_samples_say(p, q):
    x = p.sample((N,))
    ratio = p.log_prob(x) - q.log_prob(x)
    assert not far(ratio.mean().item(), D.kl_divergence(p, q).item(), ratio.std().item())


def test_divergences_of_what_is_transformed():
    def moved(loc, by=2.0):
        return D.TransformedDistribution(D.Normal(loc, 1.0), [D.ExpTransform(), D.AffineTransform(1.0, mg.tensor(by))])

    assert D.kl_divergence(moved(0.0), moved(1.0)).item() == pytest.approx(0.5)
    with pytest.raises(NotImplementedError):
        D.kl_divergence(moved(0.0), moved(1.0, by=3.0))
    stick = [D.TransformedDistribution(D.Normal(mg.full((2,), loc), 1.0), D.StickBreakingTransform()) for loc in (0.0, 1.0)]
    assert D.kl_divergence(*stick).item() == pytest.approx(1.0)
    assert D.ExpTransform() == D.ExpTransform() != D.SigmoidTransform() and D.ExpTransform().inv == D.ExpTransform().inv != D.ExpTransform()
    assert D.AffineTransform(0.0, 1.0) == D.AffineTransform(mg.tensor(0.0), 1.0) != D.AffineTransform(mg.ones(2), 1.0)
    assert D.ReshapeTransform((4,), (2, 2)).domain.event_dim == 1 and D.ReshapeTransform((4,), (2, 2)).codomain.event_dim == 2


def test_relaxed_ones_expand():
    one = D.RelaxedBernoulli(mg.tensor(0.5), probs=mg.tensor([0.3, 0.6])).expand((3, 2))
    assert one.batch_shape == one.rsample().shape == one.probs.shape == (3, 2)
    assert one.log_prob(mg.full((3, 2), 0.4))[2].tolist() == pytest.approx([-0.7544, -0.7434], abs=1e-4)
    many = D.RelaxedOneHotCategorical(mg.tensor(0.5), probs=mg.tensor([0.3, 0.7])).expand((3,))
    assert many.batch_shape == (3,) and many.event_shape == (2,) and many.rsample((5,)).shape == (5, 3, 2)
    assert many.log_prob(mg.tensor([0.4, 0.6])).tolist() == pytest.approx([-0.7544] * 3, abs=1e-4)


def test_relaxed_bernoulli_at_its_ends():
    relaxed = mg.distributions.RelaxedBernoulli(mg.tensor(0.5), mg.tensor(0.3))
    x = leaf([0.0, 1.0, 0.5])
    logs = relaxed.log_prob(x)
    assert logs.tolist() == pytest.approx([43.8224, 6.4305, -0.8675], abs=1e-3)
    logs.sum().backward()
    assert x.grad.tolist() == pytest.approx([0.0, 0.0, -0.8], abs=1e-5)


def test_chi2_is_checked():
    for wrong in (-1.0, 0.0, math.nan, mg.tensor([1.0, -1.0])):
        with pytest.raises(ValueError, match="df"):
            D.Chi2(wrong)
    assert D.Chi2(3.0).df.item() == 3 and D.Chi2(-1.0, validate_args=False).df.item() == -1
