"""RealNVP on two moons, and Bayes by backprop: Gaussian posteriors on weights, scale mixtures as prior, ELBO."""

import math

import numpy as np
import torch
import torch.distributions as dist
import torch.nn as nn
import torch.nn.functional as F
from torch import distributions
from torch.distributions import constraints, transform_to
from torch.nn.parameter import Parameter

from given import normals, start


class RealNVP(nn.Module):
    def __init__(self, nets, nett, mask, prior):
        super(RealNVP, self).__init__()
        self.prior = prior
        self.mask = nn.Parameter(mask, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(mask))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(mask))])

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp

    def sample(self, batchSize):
        return self.g(self.prior.sample((batchSize, 1)).squeeze(1))


class Gaussian(object):
    def __init__(self, mu, rho):
        self.mu, self.rho = mu, rho

    @property
    def sigma(self):
        return torch.log1p(torch.exp(self.rho))

    def log_prob(self, input):
        return (-math.log(math.sqrt(2 * math.pi)) - torch.log(self.sigma) - ((input - self.mu) ** 2) / (2 * self.sigma**2)).sum()


class ScaleMixtureGaussian(object):
    def __init__(self, pi, sigma1, sigma2):
        self.pi, self.gaussian1, self.gaussian2 = pi, torch.distributions.Normal(0, sigma1), torch.distributions.Normal(0, sigma2)

    def log_prob(self, input):
        prob1, prob2 = torch.exp(self.gaussian1.log_prob(input)), torch.exp(self.gaussian2.log_prob(input))
        return (torch.log(self.pi * prob1 + (1 - self.pi) * prob2)).sum()


class BayesianLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight_mu = nn.Parameter(torch.Tensor(out_features, in_features).uniform_(-0.2, 0.2))
        self.weight_rho = nn.Parameter(torch.Tensor(out_features, in_features).uniform_(-5, -4))
        self.weight_prior = ScaleMixtureGaussian(0.5, torch.FloatTensor([math.exp(-0)]), torch.FloatTensor([math.exp(-6)]))

    def forward(self, input, eps):
        weight = Gaussian(self.weight_mu, self.weight_rho)
        w = weight.mu + weight.sigma * eps
        return F.linear(input, w), weight.log_prob(w) - self.weight_prior.log_prob(w)


def main():
    torch.manual_seed(3)
    masks = torch.from_numpy(np.array([[0, 1], [1, 0]] * 2).astype(np.float32))
    prior = distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    nets = lambda: nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2), nn.Tanh())
    nett = lambda: nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2))
    flow = RealNVP(nets, nett, masks, prior)
    for i, net in enumerate([*flow.s, *flow.t]):
        start(torch, net, i)
    optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad == True], lr=1e-2)
    angle = np.linspace(0, np.pi, 16)
    moons = np.concatenate([np.stack([np.cos(angle), np.sin(angle)], 1), np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], 1)]).astype(np.float32)
    out = []
    for t in range(6):
        loss = -flow.log_prob(torch.from_numpy(moons)).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        out.append(loss.item())
    assert flow.sample(5).shape == (5, 2)
    z = flow.f(torch.from_numpy(moons))[0]
    assert np.allclose(flow.g(z).detach().numpy(), moons, atol=1e-5)
    layer = BayesianLinear(3, 2)
    with torch.no_grad():
        layer.weight_mu.copy_(torch.tensor(normals(1, 2, 3)) * 0.1)
        layer.weight_rho.fill_(-4.5)
    x, y = torch.tensor(normals(2, 10, 3)), torch.tensor(normals(3, 10, 2))
    opt = torch.optim.Adamax(layer.parameters(), lr=0.02)
    for t in range(4):
        opt.zero_grad()
        pred, kl = layer(x, torch.tensor(normals(4 + t, 2, 3)))
        loss = kl / 10 + F.gaussian_nll_loss(pred, y, torch.full_like(pred, 0.25), reduction="sum")
        loss.backward()
        opt.step()
        out.append(loss.item())
    raw = torch.zeros(3, requires_grad=True)
    adam = torch.optim.Adam([raw], lr=0.1)
    data = torch.tensor([0.2, 1.5, 0.7, 2.2, 0.1])
    for _ in range(5):
        adam.zero_grad()
        positive = transform_to(constraints.positive)(raw[:2])
        unit = transform_to(constraints.unit_interval)(raw[2])
        mix = dist.MixtureSameFamily(dist.Categorical(torch.stack([unit, 1 - unit])), dist.Gamma(positive + 1, positive))
        nll = -mix.log_prob(data).sum()
        nll.backward()
        adam.step()
        out.append(nll.item())
    others = [dist.Pareto(1.0, 2.0), dist.InverseGamma(3.0, 2.0), dist.Kumaraswamy(2.0, 3.0), dist.VonMises(0.3, 2.0), dist.FisherSnedecor(3.0, 6.0), dist.HalfNormal(1.0), dist.Weibull(1.0, 2.0)]
    for d in others:
        x = torch.tensor(1.3) if not isinstance(d, dist.Kumaraswamy) else torch.tensor(0.3)
        out += [d.log_prob(x).item(), d.mean.item(), d.sample((3,)).shape[0]]
    low = dist.LowRankMultivariateNormal(torch.zeros(3), torch.ones(3, 1), torch.tensor([1.0, 2.0, 3.0]))
    out += [low.log_prob(torch.ones(3)).item(), low.entropy().item(), dist.kl_divergence(low, low).item()]
    corr = dist.LKJCholesky(3, 1.5)
    out += [corr.log_prob(torch.linalg.cholesky(torch.tensor([[1.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.0]]))).item()]
    return out
