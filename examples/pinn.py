"""A network that solves the heat equation: u_t = 0.1 u_xx, with u(0, x) = sin πx and ends that are kept at 0.

    python examples/pinn.py [--steps 3000] [--picture heat.svg]

Raissi et al., "Physics-informed neural networks" (2019). There is no data: the loss is how far the network is
from the equation at random points, by its own derivatives, and how far from the values at the border. The
gradient of that loss differentiates the second derivatives once more.
"""

from __future__ import annotations

import argparse
import math

import micrograd_rs as mg
from micrograd_rs import nn, optim
from micrograd_rs.autograd import grad
from micrograd_rs.utils import plot

DIFFUSION = 0.1
# How much the border counts: where it is off, so is everything inside.
BORDER = 20.0


def exact(t: mg.Tensor, x: mg.Tensor) -> mg.Tensor:
    return (-DIFFUSION * math.pi**2 * t).exp() * (math.pi * x).sin()


class Heat(nn.Module):
    """u(t, x)."""

    def __init__(self, size: int = 64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, size), nn.Tanh(), nn.Linear(size, size), nn.Tanh(), nn.Linear(size, 1)
        )

    def forward(self, t, x):
        return self.layers(mg.cat([t, x], dim=1))

    def residual(self, t, x):
        """u_t − 0.1 u_xx, which is 0 where the equation holds."""
        t, x = t.detach().requires_grad_(), x.detach().requires_grad_()
        u_t, u_x = grad(self(t, x).sum(), (t, x), create_graph=True)
        (u_xx,) = grad(u_x.sum(), x, create_graph=True)
        return u_t - DIFFUSION * u_xx


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--picture", metavar="FILE")
    a = parser.parse_args()
    mg.manual_seed(0)
    model = Heat()
    adam = optim.Adam(model.parameters(), lr=1e-2)
    schedule = optim.lr_scheduler.CosineAnnealingLR(adam, a.steps)

    @mg.jit
    def step() -> mg.Tensor:
        inside = model.residual(mg.rand(512, 1), mg.rand(512, 1))
        t, x = mg.rand(128, 1), mg.rand(128, 1)
        zero = mg.zeros(128, 1)
        at_first = model(zero, x) - exact(zero, x)
        left, right = model(t, zero), model(t, zero + 1)
        border = at_first.square().mean() + left.square().mean() + right.square().mean()
        loss = inside.square().mean() + BORDER * border
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss

    t, x = (v.reshape(-1, 1) for v in mg.meshgrid(mg.linspace(0, 1, 51), mg.linspace(0, 1, 51), indexing="ij"))
    for i in range(1, a.steps + 1):
        loss = step()
        schedule.step()
        if i % max(a.steps // 5, 1) == 0:
            with mg.no_grad():
                off = (model(t, x) - exact(t, x)).abs().max()
            print(f"step {i}: loss {loss.item():.1e}, at most {off.item():.4f} from the exact solution")
    if a.picture:
        x = mg.linspace(0, 1, 51).unsqueeze(1)
        shown = {}
        with mg.no_grad():
            for at in (0.0, 0.5, 1.0):
                t = mg.full_like(x, at)
                shown[f"t = {at}"] = list(zip(x.flatten().tolist(), model(t, x).flatten().tolist()))
                shown[f"exact, t = {at}"] = list(zip(x.flatten().tolist(), exact(t, x).flatten().tolist()))
        plot.curves(shown, xlabel="x", ylabel="u").save(a.picture)


if __name__ == "__main__":
    main()
