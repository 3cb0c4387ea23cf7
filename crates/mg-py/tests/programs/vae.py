"""A variational autoencoder: reparametrised samples, a divergence in closed form and one of torch.distributions."""

import torch
from torch import nn, optim
from torch.distributions import Normal, kl_divergence
from torch.nn import functional as F

from given import normals, start


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 24)
        self.fc21 = nn.Linear(24, 4)
        self.fc22 = nn.Linear(24, 4)
        self.fc3 = nn.Linear(4, 24)
        self.fc4 = nn.Linear(24, 64)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar, eps):
        std = torch.exp(0.5 * logvar)
        assert torch.randn_like(std).shape == eps.shape
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x, eps):
        mu, logvar = self.encode(x.view(-1, 64))
        return self.decode(self.reparameterize(mu, logvar, eps)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD, KLD


def main():
    model = start(torch, VAE())
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for i in range(5):
        data = torch.tensor(normals(i, 8, 1, 8, 8)).sigmoid()
        optimizer.zero_grad()
        recon, mu, logvar = model(data, torch.tensor(normals(50 + i, 8, 4)))
        loss, kld = loss_function(recon, data, mu, logvar)
        posterior = Normal(mu, (0.5 * logvar).exp())
        again = kl_divergence(posterior, Normal(torch.zeros_like(mu), torch.ones_like(mu))).sum()
        assert torch.allclose(kld, again, rtol=1e-4)
        loss.backward()
        optimizer.step()
        losses += [loss.item() / len(data), again.item()]
    return losses
