"""An autoencoder squeezes handwritten digits into two numbers, and draws each again from these.

    python examples/autoencoder.py [--data DIR] [--epochs 10] [--batch 128] [--device cuda] [--pictures DIR]

Hinton and Salakhutdinov, "Reducing the dimensionality of data with neural networks" (2006). With `--pictures` it writes
plane.svg, where each test image lies in the plane, and again.svg, images and what was drawn of them. Without MNIST's
files in DIR or $MNIST_DIR, it learns digits that are drawn here (`--drawn 60000`).
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


class Autoencoder(nn.Module):
    def __init__(self, hidden: int = 256, code: int = 2):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(784, hidden), nn.SiLU(), nn.Linear(hidden, 64), nn.SiLU(), nn.Linear(64, code)
        )
        self.decoder = nn.Sequential(
            nn.Linear(code, 64), nn.SiLU(), nn.Linear(64, hidden), nn.SiLU(), nn.Linear(hidden, 784), nn.Sigmoid()
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


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
        parser.exit(1, f"autoencoder: {error}\n")
    mg.manual_seed(a.seed)
    mg.set_default_device(a.device)
    train = data.train_images.flatten(1).to(a.device)
    test = data.test_images.flatten(1).to(a.device) / 255
    model = Autoencoder()
    print(nn.summary(model, (1, 784), depth=1))
    adam = optim.AdamW(model.parameters(), lr=4e-3)
    batches = Batches(len(train), a.batch, seed=a.seed, drop_last=True)
    schedule = optim.lr_scheduler.OneCycleLR(adam, max_lr=4e-3, total_steps=a.epochs * len(batches) + 1)

    @mg.jit
    def learn(indices: mg.Tensor) -> mg.Tensor:
        x = train[indices] / 255
        loss = F.mse_loss(model(x), x)
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
            unseen = F.mse_loss(model(test), test).item()
        seconds = time.perf_counter() - start
        print(f"epoch {epoch}: squared error {total.item() / len(batches):.4f}, {unseen:.4f} unseen, {seconds:.1f} s")
    if a.pictures:
        a.pictures.mkdir(parents=True, exist_ok=True)
        with mg.no_grad():
            codes = model.encoder(test[:2000])
            groups = {str(digit): codes[data.test_labels[:2000].to(a.device) == digit] for digit in range(10)}
            plot.scatter(groups, title="Two numbers an image").save(a.pictures / "plane.svg")
            both = mg.cat([test[:10], model(test[:10])]).reshape(20, 1, 28, 28)
            plot.images(both, columns=10, scale=1.5).save(a.pictures / "again.svg")


if __name__ == "__main__":
    main()
