"""Two networks against each other: one draws handwritten digits from noise, the other tells them from real ones.

    python examples/dcgan.py [--data DIR] [--epochs 5] [--batch 128] [--width 32] [--device cuda] [--pictures DIR]

Radford et al., "Unsupervised representation learning with deep convolutional generative adversarial networks"
(2015). With `--pictures` writes what is drawn from the same 64 noises after each epoch. Without MNIST's files
in DIR or $MNIST_DIR, it learns digits that are drawn here (`--drawn 60000`).
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import micrograd_rs as mg
from micrograd_rs import nn, optim
from micrograd_rs.data import Batches, Mnist
from micrograd_rs.nn import functional as F
from micrograd_rs.utils import plot

NOISE = 64


def generator(width: int) -> nn.Sequential:
    """From [n, 64, 1, 1] to images [n, 1, 28, 28] from −1 to 1."""
    return nn.Sequential(
        nn.ConvTranspose2d(NOISE, 4 * width, 7, bias=False),
        nn.BatchNorm2d(4 * width),
        nn.ReLU(),
        nn.ConvTranspose2d(4 * width, 2 * width, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.ConvTranspose2d(2 * width, 1, 4, stride=2, padding=1),
        nn.Tanh(),
    )


def discriminator(width: int) -> nn.Sequential:
    """From images to one number: above 0 for what seems real."""
    return nn.Sequential(
        nn.Conv2d(1, width, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(width, 2 * width, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.LeakyReLU(0.2),
        nn.Conv2d(2 * width, 1, 7),
        nn.Flatten(0),
    )


def start(module: nn.Module) -> None:
    """Weights as in the paper."""
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight, 1.0, 0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="the files of MNIST, as https://github.com/cvdfoundation/mnist has them (else those in $MNIST_DIR)")
    parser.add_argument("--drawn", metavar="N", type=int, help="digits to draw, whatever files there are (60,000 where there are none)")
    parser.add_argument("--pictures", metavar="DIR", type=Path)
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    for name, default in (("epochs", 5), ("batch", 128), ("width", 32), ("seed", 1337)):
        parser.add_argument(f"--{name}", type=int, default=default)
    a = parser.parse_args()
    try:
        data = Mnist.load_or_draw(a.data, a.drawn, usual=60_000, seed=a.seed)
    except (OSError, ValueError) as error:
        parser.exit(1, f"dcgan: {error}\n")
    mg.manual_seed(a.seed)
    mg.set_default_device(a.device)
    real = data.train_images.unsqueeze(1).to(a.device)
    draws, judges = generator(a.width).apply(start), discriminator(a.width).apply(start)
    adams = [optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.999)) for net in (draws, judges)]

    @mg.jit
    def learn(indices: mg.Tensor) -> tuple[mg.Tensor, mg.Tensor, mg.Tensor]:
        """One step of each: the losses, and how often the judge was right."""
        images = real[indices] / 127.5 - 1
        drawn = draws(mg.randn(len(images), NOISE, 1, 1))
        seems_real, seems_drawn = judges(images), judges(drawn.detach())
        # A little less than certain that what is real is real: Salimans et al. (2016).
        of_judge = F.binary_cross_entropy_with_logits(seems_real, mg.full_like(seems_real, 0.9))
        of_judge = of_judge + F.softplus(seems_drawn).mean()
        adams[1].zero_grad()
        of_judge.backward()
        adams[1].step()
        # Gradients reach the judge here too, and are forgotten with the next step.
        of_drawer = F.softplus(-judges(drawn)).mean()
        adams[0].zero_grad()
        of_drawer.backward()
        adams[0].step()
        right = ((seems_real > 0).float().mean() + (seems_drawn < 0).float().mean()) / 2
        return of_drawer, of_judge, right

    batches = Batches(len(real), a.batch, seed=a.seed, drop_last=True)
    noise = mg.randn(64, NOISE, 1, 1)
    for epoch in range(1, a.epochs + 1):
        begun, sums = time.perf_counter(), mg.zeros(3)
        for indices in batches:
            sums += mg.stack(learn(indices))
        of_drawer, of_judge, right = (sums / len(batches)).tolist()
        ms = (time.perf_counter() - begun) / len(batches) * 1e3
        print(
            f"epoch {epoch}: the drawer's loss {of_drawer:.3f}, the judge's {of_judge:.3f}, which is right "
            f"{right:.0%} of the time; {ms:.1f} ms a step"
        )
        if a.pictures:
            a.pictures.mkdir(parents=True, exist_ok=True)
            draws.eval()
            with mg.no_grad():
                plot.images(draws(noise) / 2 + 0.5, columns=16, scale=1.5).save(a.pictures / f"epoch-{epoch}.svg")
            draws.train()


if __name__ == "__main__":
    main()
