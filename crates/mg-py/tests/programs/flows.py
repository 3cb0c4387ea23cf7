"""Densities with torch.distributions: mixtures, transformed and independent distributions, a coupling flow, variational inference, PPO's ratio."""

import torch
import torch.nn as nn
from torch import distributions as D
from torch.distributions import Beta, Dirichlet, Exponential, Gamma, Independent, Laplace, LogNormal, Normal, Poisson, Uniform, kl_divergence

from given import normals, start


class Coupling(nn.Module):
    def __init__(self, dim, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, 12), nn.ReLU(), nn.Linear(12, dim))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        b = b * torch.exp(s) + t
        return torch.cat([b, a] if self.flip else [a, b], dim=1), s.sum(1)


def main():
    out = []
    flow = start(torch, nn.ModuleList([Coupling(4, i % 2 == 1) for i in range(2)]))
    base = Independent(Normal(torch.zeros(4), torch.ones(4)), 1)
    optimizer = torch.optim.Adamax(flow.parameters(), lr=0.01)
    for i in range(3):
        z, total = torch.tensor(normals(i, 16, 4)) * 2 + 1, 0
        for layer in flow:
            z, log_det = layer(z)
            total = total + log_det
        loss = -(base.log_prob(z) + total).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())

    logits = torch.tensor([0.2, -0.3, 0.5], requires_grad=True)
    means = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    x = torch.tensor(normals(5, 20))
    mixture = D.MixtureSameFamily(D.Categorical(logits=logits), D.Normal(means, torch.tensor([0.5, 1.0, 0.7])))
    nll = -mixture.log_prob(x).mean()
    nll.backward()
    out += [nll.item(), *logits.grad.tolist(), *means.grad.tolist(), mixture.mean.item(), mixture.variance.item()]

    mu, rho = torch.zeros(3, requires_grad=True), torch.full((3,), -1.0, requires_grad=True)
    q = Normal(mu, nn.functional.softplus(rho))
    assert q.rsample().requires_grad and not q.sample().requires_grad and q.rsample((2, 5)).shape == (2, 5, 3)
    kl = kl_divergence(q, Normal(0.0, 1.0)).sum()
    kl.backward()
    out += [kl.item(), *rho.grad.tolist(), q.entropy().sum().item(), q.cdf(torch.tensor(0.3)).sum().item(), q.icdf(torch.tensor(0.3)).sum().item()]

    value = torch.tensor([0.3, 0.6, 0.9])
    family = [
        Uniform(-1.0, 2.0), Laplace(0.1, 1.5), Exponential(2.0), Gamma(2.0, 3.0), Beta(2.0, torch.tensor([0.5, 1.0, 3.0])),
        LogNormal(0.2, 0.7), D.StudentT(4.0), D.Cauchy(0.0, 2.0), D.HalfNormal(1.3), D.Gumbel(0.0, 1.0), D.Chi2(3.0), D.Weibull(1.5, 2.0),
    ]
    for d in family:
        out.append(d.log_prob(value).sum().item())
        assert torch.isfinite(d.sample((3,))).all()
    out += [d.mean.sum().item() for d in family if not isinstance(d, D.Cauchy)]
    out += [d.entropy().sum().item() for d in family]
    counts = torch.tensor([0.0, 2.0, 5.0])
    out += [Poisson(torch.tensor(1.7)).log_prob(counts).sum().item(), D.Geometric(0.3).log_prob(counts).sum().item(), D.Binomial(6, torch.tensor(0.4)).log_prob(counts).sum().item(), D.NegativeBinomial(3.0, torch.tensor(0.4)).log_prob(counts).sum().item()]
    simplex = torch.tensor([0.2, 0.3, 0.5])
    out += [Dirichlet(torch.tensor([1.0, 2.0, 3.0])).log_prob(simplex).item(), D.OneHotCategorical(simplex).log_prob(torch.tensor([0.0, 0.0, 1.0])).item(), D.Multinomial(3, simplex).log_prob(torch.tensor([1.0, 0.0, 2.0])).item()]
    squashed = D.TransformedDistribution(Normal(torch.zeros(2), torch.ones(2)), [D.transforms.TanhTransform(cache_size=1)])
    affine = D.TransformedDistribution(Normal(0.0, 1.0), [D.AffineTransform(1.0, 2.0), D.ExpTransform()])
    out += [squashed.log_prob(torch.tensor([0.1, -0.7])).sum().item(), affine.log_prob(torch.tensor(3.0)).item()]
    pairs = [(D.Categorical(simplex), D.Categorical(torch.ones(3) / 3)), (D.Bernoulli(0.3), D.Bernoulli(0.6)), (Gamma(2.0, 3.0), Gamma(1.0, 1.0)), (Beta(2.0, 3.0), Beta(1.0, 1.0)), (Laplace(0.0, 1.0), Laplace(1.0, 2.0)), (Exponential(1.0), Exponential(2.0)), (Dirichlet(torch.ones(3)), Dirichlet(torch.tensor([1.0, 2.0, 3.0]))), (Poisson(2.0), Poisson(3.0)), (Uniform(0.0, 1.0), Uniform(-1.0, 2.0))]
    out += [kl_divergence(p, q).sum().item() for p, q in pairs]

    old, new = D.Categorical(logits=torch.tensor(normals(6, 5, 3))), D.Categorical(logits=torch.tensor(normals(7, 5, 3)))
    actions, advantage = torch.tensor([0, 2, 1, 1, 0]), torch.tensor(normals(8, 5))
    ratio = (new.log_prob(actions) - old.log_prob(actions)).exp()
    surrogate = torch.min(ratio * advantage, torch.clamp(ratio, 0.8, 1.2) * advantage).mean()
    out += [surrogate.item(), new.entropy().mean().item(), new.probs.max().item()]
    try:
        Normal(0.0, -1.0, validate_args=True)
        raise AssertionError("a negative scale")
    except ValueError:
        pass
    assert str(Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    return out
