"""Distributions, divergences, transforms and constraints, as expressions whose values PyTorch was asked for: `recorded_distributions.json`, which
`python test_more_distributions.py` writes (it needs PyTorch). `T` makes a float64 tensor, `d` is the package, `t` its transforms, `c` its constraints.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from pathlib import Path

import micrograd_rs as mg
import pytest
from micrograd_rs import distributions as D

RECORDED = Path(__file__).with_name("recorded_distributions.json")

# Each with values within its support.
MADE = {
    "d.Pareto(T([1., 2., .5]), T([.7, 1.5, 3.]))": "[1.5, 2.5, .9]",
    "d.GeneralizedPareto(T([0., 1., -1.]), T([1., 2., .5]), T([0., .3, -.4]))": "[.5, 1.5, -.5]",
    "d.InverseGamma(T([.7, 1.5, 3.]), T([1., 2., .5]))": "[1.5, 2.5, .9]",
    "d.FisherSnedecor(T([1., 3., 6.]), T([2., 5., 3.]))": "[1.5, 2.5, .9]",
    "d.Kumaraswamy(T([.7, 1.5, 3.]), T([1., 2., .5]))": "[.5, .25, .9]",
    "d.ContinuousBernoulli(T([.1, .4995, .9]))": "[.5, .25, .9]",
    "d.ContinuousBernoulli(logits=T([-3., 0., 2.]))": "[.5, .25, 1.]",
    "d.VonMises(T([.1, -3., 0.]), T([.01, 2., 30.]))": "[.5, 3.5, -.1]",
    "d.LogisticNormal(T([.1, -.3]), T([1., 2.]))": "[.2, .5, .3]",
    "d.LowRankMultivariateNormal(T([.1, -.3, 1.]), T([[1., .5], [2., 0.], [-1., 1.]]), T([1., .5, 2.]))": "[.2, .5, .3]",
    "d.Wishart(T([4.5, 6.]), T([[2., .5], [.5, 1.]]))": "[[1., .3], [.3, 2.]]",
    "d.Wishart(T(4.5), precision_matrix=T([[2., .5], [.5, 1.]]))": "[[1., .3], [.3, 2.]]",
    "d.LKJCholesky(2, T([.5, 1., 2.5]))": "[[1., 0.], [.6, .8]]",
    "d.TransformedDistribution(d.Normal(T(0.), T(1.)), d.AffineTransform(T([1., 2., 3.]), 2.))": "[.2, .5, .3]",
    "d.TransformedDistribution(d.Normal(T([0.] * 3), T(1.)), t.CorrCholeskyTransform())": "[[1., 0., 0.], [.6, .8, 0.], [0., .6, .8]]",
    "d.TransformedDistribution(d.Normal(T([0.] * 4), T(1.)), [t.ReshapeTransform((4,), (2, 2)), d.ExpTransform()])": "[[1., 2.], [.6, .8]]",
    "d.RelaxedBernoulli(T(.5), T([.2, .3])).expand((2, 2))": "[.2, .5]",
    "d.RelaxedOneHotCategorical(T(.5), T([.2, .8])).expand((2,))": "[.2, .8]",
}
# Where PyTorch's own answer is not the right one (Kumaraswamy's mode) or it has none.
NOT_ASKED = {("d.Kumaraswamy", "mode")}
ATTRIBUTES = ["mean", "mode", "variance", "stddev", "covariance_matrix", "precision_matrix", "scale_tril"]
EXPRESSIONS = [
    f"{made}.{name}" for made in MADE for name in ATTRIBUTES if (made.split("(")[0], name) not in NOT_ASKED and not made.startswith(("d.Transf", "d.Relaxed"))
]
EXPRESSIONS += [f"{made}.log_prob(T({at}))" for made, at in MADE.items()]
EXPRESSIONS += [f"{made}.cdf(T({at}))" for made, at in MADE.items()]
EXPRESSIONS += [f"{made}.icdf(T([.1, .5, .7]))" for made in MADE if not made.startswith(("d.Logistic", "d.Transformed"))]
EXPRESSIONS += [f"{made}.entropy()" for made in MADE]
EXPRESSIONS += [f"{made}.support.check(T({at}))" for made, at in MADE.items()]
LAWS = [
    "d.Bernoulli(T([.2, .7]))", "d.Beta(T([1.2, .7]), T([2., 3.]))", "d.ContinuousBernoulli(T([.2, .7]))", "d.Exponential(T([.2, .7]))",
    "d.Gamma(T([1.2, .7]), T([2., 3.]))", "d.Gumbel(T([1.2, .7]), T([2., 3.]))", "d.Gumbel(T([-.2, .9]), T([1., 3.5]))", "d.Laplace(T([1.2, -.7]), T([2., 3.]))",
    "d.Normal(T([1.2, -.7]), T([2., 3.]))", "d.Pareto(T([.4, .3]), T([2.5, .9]))", "d.Pareto(T([.2, .4]), T([2., 3.]))", "d.Poisson(T([2.5, .9]))",
    "d.Uniform(T([.4, .3]), T([.8, .9]))", "d.InverseGamma(T([1.2, .7]), T([2., 3.]))", "d.Chi2(T([2.5, .9]))",
]  # fmt: skip
VECTORS = [
    "d.LowRankMultivariateNormal(T([1.2, -.7]), T([[1.], [2.]]), T([1., .5]))", "d.LowRankMultivariateNormal(T([0., 1.]), T([[.5], [-1.]]), T([2., .3]))",
    "d.MultivariateNormal(T([[1.2, -.7], [0., 1.]]), scale_tril=T([[1., 0.], [.4, 2.]]))", "d.MultivariateNormal(T([0., .5]), T([[1., .3], [.3, 2.]]))",
]  # fmt: skip
MATRICES = ["d.Wishart(T(4.5), T([[2., .5], [.5, 1.]]))", "d.Wishart(T(7.), scale_tril=T([[1., 0.], [.5, 1.]]))"]
MOVED = [
    f"d.TransformedDistribution(d.Normal(T([{at}]), T([2.])), [d.ExpTransform(), d.AffineTransform(1., 2.)])" for at in ("1.2", "-.7")
]
EXPRESSIONS += [f"d.kl_divergence({p}, {q})" for laws in (LAWS, VECTORS, MATRICES, MOVED) for p in laws for q in laws]
X = "T([[.3, -1., .8], [2., 0., -.4]])"
LIMITS = [
    "c.positive", "c.nonnegative", "c.greater_than(T([1., 2., 3.]))", "c.less_than(2.)", "c.interval(T(-1.), T(2.))", "c.unit_interval",
    "c.half_open_interval(0., 3.)", "c.simplex", "c.corr_cholesky", "c.real", "c.independent(c.positive, 1)",
    "c.cat([c.positive, c.real], -1, [1, 2])", "c.stack([c.positive, c.real, c.unit_interval], -1)",
]  # fmt: skip
for _limit in LIMITS:
    for _to in (f"d.biject_to({_limit})", f"d.transform_to({_limit})"):
        EXPRESSIONS += [f"{_to}({X})", f"{_to}.inv({_to}({X}))", f"T([{_to}.domain.event_dim, {_to}.codomain.event_dim, {_to}.bijective])"]
        if _to != "d.transform_to(c.simplex)":
            EXPRESSIONS.append(f"{_to}.log_abs_det_jacobian({X}, {_to}({X}))")
EXPRESSIONS += [
    f"d.transform_to(c.{limit})({x})" + inverse
    for limit in ("lower_cholesky", "positive_definite")
    for x in ("T([[.3, -1.], [.8, 2.]])",)
    for inverse in ("", ".mT")
]
EXPRESSIONS += [
    "t.CumulativeDistributionTransform(d.Normal(T(0.), T(2.)))(T([.5, -1.]))", "t.CumulativeDistributionTransform(d.Normal(T(0.), T(2.))).inv(T([.5, .1]))",
    "t.PowerTransform(T([2., 3.])).log_abs_det_jacobian(T([2., .5]), T([4., .125]))", "c.multinomial(3).check(T([[1., 2.], [3., 1.]]))",
    "c.symmetric.check(T([[1., 2.], [2., 1.]]))", "c.positive_semidefinite.check(T([[1., 1.], [1., 1.]]))", "c.positive_definite.check(T([[1., 2.], [2., 1.]]))",
    "c.square.check(T([[1., 2.]]))", "c.corr_cholesky.check(T([[1., 0.], [.6, .7]]))", "u.probs_to_logits(T([.2, .8]))", "u.logits_to_probs(T([.2, .8]), True)",
    "u.tril_matrix_to_vec(T([[1., 2.], [3., 4.]]))", "u.vec_to_tril_matrix(T([1., 2., 3.]), -1)", "u.broadcast_all(1., T([2., 3.]))[0]",
]  # fmt: skip


def answer(library, expression: str):
    """Numbers, or the name of an error."""
    d = importlib.import_module(library.__name__ + ".distributions")
    names = {"d": d, "t": d.transforms, "c": d.constraints, "u": importlib.import_module(d.__name__ + ".utils")}
    try:
        found = eval(expression, {**names, "T": lambda x: library.tensor(x, dtype=library.float64)})  # noqa: S307 - our own expressions
    except (NotImplementedError, AttributeError, ValueError) as error:
        return type(error).__name__
    return [list(found.shape), [str(x) if x != x or abs(x) == math.inf else x for x in found.detach().double().flatten().tolist()]]


def same(got, wanted) -> bool:
    if isinstance(got, str) or isinstance(wanted, str):
        return isinstance(got, str) and isinstance(wanted, str)
    (shape, numbers), (others, expected) = got, wanted
    return shape == others and all(
        a == b if isinstance(a, str) or isinstance(b, str) else math.isclose(a, b, rel_tol=3e-6, abs_tol=1e-8) for a, b in zip(numbers, expected, strict=True)
    )


def test_all_are_recorded():
    assert list(json.loads(RECORDED.read_text())) == EXPRESSIONS, "run `python test_more_distributions.py`"


@pytest.mark.parametrize("part", range(8))
def test_answers_are_pytorchs(part):
    """PyTorch approximates Bessel's functions to a millionth."""
    recorded = json.loads(RECORDED.read_text())
    wrong = [(e, found, recorded[e]) for e in EXPRESSIONS[part::8] if not same(found := answer(mg, e), recorded[e])]
    assert not wrong, wrong[:3]


N = 20_000
DRAWN = [
    D.Pareto(1.0, 6.0), D.GeneralizedPareto(1.0, 2.0, 0.1), D.GeneralizedPareto(0.0, 1.0, -0.5), D.InverseGamma(7.0, 2.0), D.FisherSnedecor(5.0, 20.0),
    D.Kumaraswamy(2.0, 3.0), D.ContinuousBernoulli(0.2), D.ContinuousBernoulli(0.5),
]  # fmt: skip


@pytest.mark.parametrize("law", DRAWN, ids=repr)
def test_what_is_drawn_has_the_moments(law):
    mg.manual_seed(3)
    x = law.sample((N,)).double()
    mean, deviation = law.mean.item(), law.stddev.item()
    assert abs(x.mean().item() - mean) < 5 * deviation / math.sqrt(N)
    assert x.var().item() == pytest.approx(deviation**2, rel=0.2)
    assert bool(law.support.check(x).all()) and mg.isfinite(law.expand((2, 3)).log_prob(law.expand((2, 3)).sample((4,)))).all()


def test_samples_carry_gradients():
    mg.manual_seed(1)
    for law, parameters in (
        (D.Pareto, (1.0, 3.0)), (D.InverseGamma, (3.0, 2.0)), (D.FisherSnedecor, (4.0, 6.0)), (D.Kumaraswamy, (2.0, 3.0)), (D.ContinuousBernoulli, (0.3,)),
        (D.GeneralizedPareto, (0.0, 1.0, 0.2)),
    ):  # fmt: skip
        leaves = [mg.tensor(p, requires_grad=True) for p in parameters]
        law(*leaves).rsample((50,)).mean().backward()
        assert all(leaf.grad is not None and mg.isfinite(leaf.grad) and leaf.grad != 0 for leaf in leaves[-1:]), law


def test_angles():
    mg.manual_seed(5)
    law = D.VonMises(mg.tensor([0.5, -3.0]), mg.tensor([4.0, 0.3]))
    x = law.sample((N,))
    assert x.dtype == mg.float32 and bool((x.abs() <= math.pi + 1e-6).all())
    # The mean of e^(ix) is I₁/I₀ in the direction of loc.
    for i, (loc, k) in enumerate([(0.5, 4.0), (-3.0, 0.3)]):
        length = 1 - D.VonMises(loc, k).variance.item()
        assert x[:, i].cos().mean().item() == pytest.approx(length * math.cos(loc), abs=0.03)
        assert x[:, i].sin().mean().item() == pytest.approx(length * math.sin(loc), abs=0.03)


def test_vectors_and_matrices_that_are_drawn():
    mg.manual_seed(7)
    law = D.LowRankMultivariateNormal(mg.tensor([1.0, -1.0, 0.0]), mg.tensor([[1.0], [2.0], [-1.0]]), mg.tensor([1.0, 0.5, 2.0]))
    x = law.rsample((N,))
    assert mg.allclose(x.mean(0), law.mean, atol=0.08) and mg.allclose(x.T.cov(), law.covariance_matrix, atol=0.3)
    wishart = D.Wishart(mg.tensor(5.0), mg.tensor([[2.0, 0.5], [0.5, 1.0]]))
    w = wishart.rsample((N,))
    assert mg.allclose(w.mean(0), wishart.mean, rtol=0.05) and mg.allclose(w.var(0), wishart.variance, rtol=0.15)
    assert wishart.expand((4, 2)).sample().shape == (4, 2, 2, 2)
    factor = D.LKJCholesky(3, 2.0).sample((N,))
    assert bool(D.constraints.corr_cholesky.check(factor).all())
    # A correlation under LKJ of η among n things is 2 Beta(a, a) − 1 with a = η − 1 + n/2: its square is 1 / (2a + 1) on average.
    correlations = factor @ factor.mT
    for i, j in ((1, 0), (2, 0), (2, 1)):
        r = correlations[:, i, j]
        assert abs(r.mean().item()) < 0.02 and r.square().mean().item() == pytest.approx(1 / 6, rel=0.06)


def test_modules_by_their_names():
    from micrograd_rs.distributions.categorical import Categorical
    from micrograd_rs.distributions.multivariate_normal import MultivariateNormal
    from micrograd_rs.distributions.utils import broadcast_all

    assert Categorical is D.Categorical and MultivariateNormal is D.MultivariateNormal and D.normal.Normal is D.Normal
    assert [t.tolist() for t in broadcast_all(1.0, mg.tensor([2.0, 3.0]))] == [[1.0, 1.0], [2.0, 3.0]]


def test_what_is_refused():
    for wrong, text in (
        (lambda: D.Chi2(-1.0), "parameter df"), (lambda: D.Chi2(math.nan), "parameter df"), (lambda: D.Pareto(1.0, -1.0), "parameter alpha"),
        (lambda: D.Binomial(-1, 0.5), "parameter total_count"), (lambda: D.Binomial(mg.tensor(2.5), 0.5), "parameter total_count"),
        (lambda: D.NegativeBinomial(-2.0, 0.5), "parameter total_count"), (lambda: D.NegativeBinomial(2.0, 1.0), "parameter probs"),
        (lambda: D.LKJCholesky(1), "greater than or equal to 2"), (lambda: D.Wishart(1.0, mg.eye(3)), "ndim - 1 = 2"), (lambda: D.ContinuousBernoulli(), "not both"),
        (lambda: D.LowRankMultivariateNormal(mg.zeros(3), mg.ones(2, 1), mg.ones(3)), "cov_factor"), (lambda: D.Pareto(1.0, 1.0).log_prob(mg.tensor(0.5)), "support"),
        (lambda: D.constraints.dependent.check(mg.ones(1)), "dependent"), (lambda: D.CatTransform([D.ExpTransform()], -1, [1, 2]), "as many lengths"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            wrong()
    with pytest.raises(NotImplementedError, match="Cannot transform"):
        D.biject_to(D.constraints.one_hot)
    with pytest.raises(NotImplementedError, match="same transforms"):
        D.kl_divergence(D.TransformedDistribution(D.Normal(0.0, 1.0), D.ExpTransform()), D.TransformedDistribution(D.Normal(0.0, 1.0), D.TanhTransform()))


def test_what_parameters_are_constrained_to():
    """PyTorch's words."""
    assert {name: repr(c) for name, c in D.NegativeBinomial.arg_constraints.items()} == {
        "total_count": "GreaterThanEq(lower_bound=0.0)", "probs": "HalfOpenInterval(lower_bound=0.0, upper_bound=1.0)", "logits": "Real()",
    }  # fmt: skip
    assert repr(D.NegativeBinomial(3.0, mg.tensor(0.5))) == "NegativeBinomial(total_count: 3.0, probs: 0.5)" and set(D.LogNormal.arg_constraints) == {"loc", "scale"}
    plain = D.Independent(D.Bernoulli(mg.full((2,), 0.5)), 0)
    assert plain.has_enumerate_support and plain.enumerate_support().tolist() == [[0.0, 0.0], [1.0, 1.0]]
    with pytest.raises(NotImplementedError, match="enumerated"):
        D.Independent(D.Bernoulli(mg.full((2,), 0.5)), 1).enumerate_support()
    assert set(D.RelaxedBernoulli.arg_constraints) == {"probs", "logits"} and repr(D.LogNormal(0.0, 1.0)).startswith("LogNormal(")


def test_divergences_are_not_below_zero():
    """Of a law from another of its kind, by samples: the formula is the mean of the difference of logarithms."""
    mg.manual_seed(2)
    for p, q in (
        (D.Gumbel(1.2, 2.0), D.Gumbel(0.7, 3.0)), (D.Pareto(1.0, 4.0), D.Pareto(0.5, 3.0)), (D.ContinuousBernoulli(0.3), D.ContinuousBernoulli(0.6)),
        (D.InverseGamma(3.0, 2.0), D.InverseGamma(2.0, 1.0)),
    ):  # fmt: skip
        x = p.sample((N,))
        drawn = (p.log_prob(x) - q.log_prob(x)).mean().item()
        assert D.kl_divergence(p, q).item() == pytest.approx(drawn, abs=0.03) and D.kl_divergence(p, q) > 0


def test_transforms_compare_and_remember():
    assert D.AffineTransform(0.0, 1.0) == D.AffineTransform(0.0, 1.0) != D.AffineTransform(0.0, 2.0)
    assert D.AffineTransform(mg.zeros(2), 1.0) == D.AffineTransform(mg.zeros(2), 1.0) and D.ExpTransform().inv == D.ExpTransform().inv
    cached = D.TanhTransform().with_cache(1)
    x = mg.tensor([30.0])
    assert cached.inv(cached(x)) is x and D.ExpTransform().event_dim == 0
    with pytest.raises(ValueError, match="event_dim"):
        D.CorrCholeskyTransform().event_dim


if __name__ == "__main__":
    import torch

    torch.set_default_dtype(torch.float64)
    lines = [f"{json.dumps(e)}: {json.dumps(answer(torch, e))}" for e in EXPRESSIONS]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    sys.exit(f"{len(lines)} written")


def test_what_lies_beyond_the_unit_interval_is_infinitely_far_from_a_beta():
    beta = D.Beta(mg.tensor(2.0), mg.tensor(3.0))
    for low, high in ((1.0, 4.0), (0.0, 4.0), (-1.0, 1.0), (2.0, 4.0), (1.0, 1.5), (-1.0, 0.0)):
        assert D.kl_divergence(D.Uniform(low, high), beta).item() == math.inf
    assert D.kl_divergence(D.Uniform(0.0, 1.0), beta).item() == pytest.approx(0.5151, abs=1e-4)
    assert D.kl_divergence(D.Uniform(0.2, 0.8), beta).item() == pytest.approx(0.3091, abs=1e-4)
