"""A variational autoencoder squeezes handwritten digits into two numbers, and draws digits from any two.

    python examples/vae.py [--data DIR] [--epochs 10] [--drawn 60000] [--pictures DIR] [--device cuda]

Kingma and Welling, "Auto-encoding variational Bayes" (2013). With `--pictures` writes plane.svg, where each
test image lies in the plane, and digits.svg, what is drawn from places all over it. Without MNIST's files in
DIR or $MNIST_DIR, digits are drawn here.
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

PIXELS = 28 * 28


class VAE(nn.Module):
    def __init__(self, hidden: int = 400, latent: int = 2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(PIXELS, hidden), nn.SiLU(), nn.Linear(hidden, 128), nn.SiLU())
        self.mean, self.log_variance = nn.Linear(128, latent), nn.Linear(128, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, 128), nn.SiLU(), nn.Linear(128, hidden), nn.SiLU(), nn.Linear(hidden, PIXELS)
        )

    def encode(self, x):
        h = self.encoder(x)
        return self.mean(h), self.log_variance(h)

    def loss(self, x):
        """The evidence's lower bound, with its sign turned: nats an image."""
        mean, log_variance = self.encode(x)
        z = mean + (log_variance / 2).exp() * mg.randn_like(mean)
        drawn = F.binary_cross_entropy_with_logits(self.decoder(z), x, reduction="sum")
        # How far the code of an image is from the normal distribution that codes are drawn from.
        apart = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum()
        return (drawn + apart) / len(x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="the files of MNIST, as https://github.com/cvdfoundation/mnist has them (else those in $MNIST_DIR)")
    parser.add_argument("--drawn", metavar="N", type=int, help="digits to draw, whatever files there are (60,000 where there are none)")
    parser.add_argument("--pictures", metavar="DIR", type=Path)
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    for name, default in (("epochs", 10), ("batch", 128), ("seed", 1337)):
        parser.add_argument(f"--{name}", type=int, default=default)
    a = parser.parse_args()
    try:
        data = Mnist.load_or_draw(a.data, a.drawn, usual=60_000, seed=a.seed)
    except (OSError, ValueError) as error:
        parser.exit(1, f"vae: {error}\n")
    mg.set_default_device(a.device)
    mg.manual_seed(a.seed)
    train, test = (images.flatten(1).to(a.device) for images in (data.train_images, data.test_images))
    model = VAE()
    adam = optim.Adam(model.parameters(), lr=2e-3)
    batches = Batches(len(train), a.batch, seed=a.seed, drop_last=True)
    schedule = optim.lr_scheduler.CosineAnnealingLR(adam, a.epochs * len(batches))

    @mg.jit
    def learn(indices: mg.Tensor) -> mg.Tensor:
        loss = model.loss(train[indices] / 255)
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss

    for epoch in range(1, a.epochs + 1):
        start, total = time.perf_counter(), mg.zeros(())
        for indices in batches:
            total += learn(indices)
            schedule.step()
        with mg.no_grad():
            unseen = model.loss(test / 255).item()
        seconds = time.perf_counter() - start
        seen = (total / len(batches)).item()
        print(f"epoch {epoch}: {seen:.1f} nats an image, {unseen:.1f} unseen, {seconds:.1f} s")

    with mg.no_grad():
        means, _ = model.encode(test / 255)
        labels = data.test_labels.to(a.device)
        print("where the digits lie:")
        for digit in range(10):
            x, y = means[labels == digit].mean(0).tolist()
            print(f"  {digit}: {x:5.2f} {y:5.2f}")
        if a.pictures:
            a.pictures.mkdir(parents=True, exist_ok=True)
            some, their = means[:2000], labels[:2000]
            groups = {str(digit): some[their == digit] for digit in range(10)}
            plot.scatter(groups, title="Two numbers an image").save(a.pictures / "plane.svg")
            line = mg.linspace(-2, 2, 12)
            grid = mg.cartesian_prod(line.flip(0), line).flip(1)
            drawn = model.decoder(grid).sigmoid().view(-1, 28, 28)
            plot.images(drawn, columns=12, scale=1.5).save(a.pictures / "digits.svg")


if __name__ == "__main__":
    main()
