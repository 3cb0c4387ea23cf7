"""Distributions: what they draw has the law that they say, and gradients go where they should. (Their formulas are compared with PyTorch's in
`programs/flows.py`.)
"""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
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
    assert mg.poisson(mg.tensor([0.0, -1.0])).tolist()[0] == 0 and mg.isnan(mg.poisson(mg.tensor([-1.0]))).all()


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


def test_in_a_recorded_step():
    step = mg.jit(lambda x: D.Normal(x, 1.0).log_prob(mg.zeros(3)).sum())
    for i in range(4):
        assert step(mg.full((3,), float(i))).item() == pytest.approx(3 * (-0.5 * i * i - 0.9189385), rel=1e-5)
