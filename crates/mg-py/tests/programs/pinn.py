"""A network that solves an equation: second derivatives by torch.autograd.grad, first steps by Adam, then L-BFGS."""

import torch
import torch.nn as nn
from torch.autograd import grad

from given import start


class PINN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(i, o) for i, o in zip(layers[:-1], layers[1:])])
        self.activation = nn.Tanh()
        for layer in self.linears:
            nn.init.xavier_normal_(layer.weight.data, gain=1.0)
            nn.init.zeros_(layer.bias.data)

    def forward(self, x):
        if torch.is_tensor(x) is not True:
            x = torch.from_numpy(x)
        for layer in self.linears[:-1]:
            x = self.activation(layer(x))
        return self.linears[-1](x)


def residual(model, xt, nu=0.01 / torch.pi):
    xt = xt.clone().requires_grad_(True)
    u = model(xt)
    du = grad(u, xt, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_x, u_t = du[:, [0]], du[:, [1]]
    u_xx = grad(u_x.sum(), xt, create_graph=True, retain_graph=True)[0][:, 0:1]
    return u_t + u * u_x - nu * u_xx


def main():
    model = start(torch, PINN([2, 12, 12, 1]))
    x, t = torch.meshgrid(torch.linspace(-1, 1, 9), torch.linspace(0, 1, 5), indexing="ij")
    inside = torch.stack([x.reshape(-1), t.reshape(-1)], dim=1)
    x0 = torch.linspace(-1, 1, 16).view(-1, 1)
    initial = torch.hstack([x0, torch.zeros_like(x0)])
    wanted = -torch.sin(torch.pi * x0)
    edge = torch.vstack([torch.tensor([[-1.0, s], [1.0, s]]) for s in (0.0, 0.5, 1.0)])
    mse = nn.MSELoss(reduction="mean")

    def total():
        return mse(residual(model, inside), torch.zeros(len(inside), 1)) + mse(model(initial), wanted) + model(edge).pow(2).mean()

    losses = []
    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(4):
        adam.zero_grad()
        loss = total()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    lbfgs = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=5, history_size=10, tolerance_grad=1e-7, line_search_fn="strong_wolfe")

    def closure():
        lbfgs.zero_grad()
        loss = total()
        loss.backward()
        return loss

    losses.append(float(lbfgs.step(closure)))
    losses.append(total().item())
    hess = torch.autograd.functional.hessian(lambda z: model(z).sum(), inside[7:8])
    losses.append(hess.reshape(2, 2).trace().item())
    return losses
