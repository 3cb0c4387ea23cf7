"""Regression by a Gaussian process: Cholesky factors, marginal likelihood, predictions, draws of the posterior."""

import math

import torch
from torch.distributions import MultivariateNormal

from given import normals


class RBFKernel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length = torch.nn.Parameter(torch.zeros(()))
        self.log_scale = torch.nn.Parameter(torch.tensor(0.0))

    def forward(self, a, b):
        d = torch.cdist(a / self.log_length.exp(), b / self.log_length.exp())
        return self.log_scale.exp() * torch.exp(-0.5 * d**2)


def main():
    torch.set_default_dtype(torch.float64)
    try:
        x = torch.linspace(-2, 2, 20).unsqueeze(1)
        y = torch.sin(3 * x[:, 0]) + 0.1 * torch.tensor(normals(1, 20))
        kernel = RBFKernel()
        log_noise = torch.tensor(-2.0, requires_grad=True)
        optimizer = torch.optim.Adam([{"params": kernel.parameters()}, {"params": [log_noise], "lr": 0.05}], lr=0.1)
        losses = []
        for _ in range(6):
            optimizer.zero_grad()
            K = kernel(x, x) + log_noise.exp() * torch.eye(len(x))
            L = torch.linalg.cholesky(K)
            alpha = torch.cholesky_solve(y.unsqueeze(1), L)
            nll = 0.5 * y @ alpha.squeeze(1) + L.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)
            nll.backward()
            optimizer.step()
            losses.append(nll.item())
        with torch.no_grad():
            K = kernel(x, x) + log_noise.exp() * torch.eye(len(x))
            again = -MultivariateNormal(torch.zeros(len(x)), covariance_matrix=K).log_prob(y)
            losses.append(again.item())
            xs = torch.linspace(-3, 3, 7)[:, None]
            L = torch.linalg.cholesky(K)
            v = torch.linalg.solve_triangular(L, kernel(x, xs), upper=False)
            mean = v.mT @ torch.linalg.solve_triangular(L, y[:, None], upper=False)
            cov = kernel(xs, xs) - v.mT @ v + 1e-8 * torch.eye(len(xs))
            losses += mean.squeeze(-1).tolist() + cov.diag().sqrt().tolist()
            posterior = MultivariateNormal(mean.squeeze(1), cov)
            assert posterior.rsample((4,)).shape == torch.Size([4, 7])
            losses.append(posterior.entropy().item())
        return losses
    finally:
        torch.set_default_dtype(torch.float32)
