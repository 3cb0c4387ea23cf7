"""Regression by L-BFGS: five numbers of a damped oscillation, from 200 noisy measurements.

    python examples/lbfgs.py [--picture oscillation.svg]

L-BFGS uses the loss of all measurements, several times in a step, and what the last gradients say of its curvature.
Where parameters are few and the loss is smooth, that needs far fewer gradients than Adam.
"""

from __future__ import annotations

import argparse

import micrograd_rs as mg
from micrograd_rs import optim
from micrograd_rs.utils import plot

NAMES = ("amplitude", "decay", "frequency", "phase", "level")
TRUE = (2.0, 0.3, 3.0, 0.5, 1.0)
NOISE = 0.1


def oscillation(t: mg.Tensor, p: mg.Tensor) -> mg.Tensor:
    amplitude, decay, frequency, phase, level = p.unbind()
    return amplitude * (-decay * t).exp() * (frequency * t + phase).cos() + level


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", metavar="FILE")
    a = parser.parse_args()
    mg.manual_seed(0)
    mg.set_default_dtype(mg.float64)
    t = mg.linspace(0, 8, 200)
    y = oscillation(t, mg.tensor(TRUE)) + NOISE * mg.randn(200)
    calls = 0

    def loss_of(p: mg.Tensor) -> mg.Tensor:
        nonlocal calls
        calls += 1
        return (oscillation(t, p) - y).square().mean()

    start = mg.tensor([1.0, 0.1, 2.7, 0.0, 0.0])
    p = start.clone().requires_grad_()
    lbfgs = optim.LBFGS([p], max_iter=20, line_search_fn="strong_wolfe", tolerance_change=1e-14)

    def closure() -> mg.Tensor:
        lbfgs.zero_grad()
        loss = loss_of(p)
        loss.backward()
        return loss

    for step in range(1, 4):
        loss = lbfgs.step(closure)  # the loss before the step
        print(f"step {step}: loss {loss.item():.6f} before, {calls} gradients so far")
    best = loss_of(p.detach()).item()
    for name, found, true in zip(NAMES, p.tolist(), TRUE):
        print(f"{name:>9}: {found:7.4f}, and it was {true}")

    calls, q = 0, start.clone().requires_grad_()
    adam = optim.Adam([q], lr=0.02)
    while calls < 5000:
        loss = loss_of(q)
        if loss.item() < best * (1 + 1e-6):
            break
        adam.zero_grad()
        loss.backward()
        adam.step()
    print(f"the same loss, {best:.6f}, takes Adam {calls} gradients")
    if a.picture:
        seen = plot.curves(
            {
                "measured": list(zip(t.tolist(), y.tolist())),
                "found": list(zip(t.tolist(), oscillation(t, p.detach()).tolist())),
            },
            xlabel="t",
        )
        seen.save(a.picture)


if __name__ == "__main__":
    main()
