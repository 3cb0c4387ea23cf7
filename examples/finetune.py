"""A network that has learnt the digits 0 to 4 learns 5 to 9 from a few of each.

    python examples/finetune.py [--data DIR] [--few 10] [--drawn 6000] [--device cuda]

The first network is saved. A second one takes its weights but for the last layer, which is for other classes, and learns on: the new layer in large steps, the
others in small ones. Beside it a third one learns the same few images from nothing. Learns MNIST of DIR or $MNIST_DIR, else digits that are drawn here.
"""

from __future__ import annotations

import argparse
import os

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.data import Batches, Mnist
from micrograd_rs.nn import functional as F


class Reader(nn.Module):
    """What is seen in an image, and which of five digits that is."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 5 * 5, 64), nn.ReLU(),
        )  # fmt: skip
        self.head = nn.Linear(64, 5)

    def forward(self, images):
        return self.head(self.features(images))


def digits(images: mg.Tensor, labels: mg.Tensor, first: int) -> tuple[mg.Tensor, mg.Tensor]:
    """The five digits from `first` on, as numbers from 0 to 1, and which of the five they are."""
    some = (labels >= first) & (labels < first + 5)
    return images[some].unsqueeze(1) / 255, labels[some].long() - first


def few(x: mg.Tensor, y: mg.Tensor, each: int) -> tuple[mg.Tensor, mg.Tensor]:
    """So many of each digit."""
    at = mg.cat([(y == digit).nonzero()[:each, 0] for digit in range(5)])
    return x[at], y[at]


def learn(model: Reader, x: mg.Tensor, y: mg.Tensor, epochs: int, rate: float = 2e-3) -> None:
    """Steps of 0.002 for the last layer, and of `rate` for those before it."""
    adam = mg.optim.Adam([{"params": model.head.parameters()}, {"params": model.features.parameters(), "lr": rate}], lr=2e-3)
    for epoch in range(epochs):
        for indices in Batches(len(y), min(64, len(y)), seed=epoch):
            loss = F.cross_entropy(model(x[indices]), y[indices])
            adam.zero_grad()
            loss.backward()
            adam.step()


@mg.no_grad()
def right(model: nn.Module, x: mg.Tensor, y: mg.Tensor) -> float:
    found = [(model(part).argmax(1) == labels).sum() for part, labels in zip(x.split(500), y.split(500))]
    return mg.stack(found).sum().item() / len(y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="the files of MNIST, as https://github.com/cvdfoundation/mnist has them (else those in $MNIST_DIR)")
    parser.add_argument("--drawn", metavar="N", type=int, help="digits to draw, whatever files there are (6000 where there are none)")
    parser.add_argument("--few", type=int, default=10, help="of each new digit")
    parser.add_argument("--save", metavar="FILE", default="known.safetensors")
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    a = parser.parse_args()
    mg.manual_seed(0)
    mg.set_default_device(a.device)
    try:
        data = Mnist.load_or_draw(a.data, a.drawn, usual=6000, seed=0)
    except (OSError, ValueError) as error:
        parser.exit(1, f"finetune: {error}\n")
    train, test = ((i.to(a.device), l.to(a.device)) for i, l in ((data.train_images, data.train_labels), (data.test_images, data.test_labels)))
    known = Reader()
    learn(known, *digits(*train, 0), epochs=1)
    print(f"0 to 4, of all images: {right(known, *digits(*test, 0)):.2%} right")
    mg.save_safetensors(known.state_dict(), a.save)

    taught = Reader()
    state = {name: t for name, t in mg.load(a.save).items() if not name.startswith("head.")}
    print(taught.load_state_dict(state, strict=False))
    some, unseen = few(*digits(*train, 5), a.few), digits(*test, 5)
    learn(taught, *some, epochs=100, rate=5e-4)
    print(f"5 to 9, of {len(some[1])} images and what was known: {right(taught, *unseen):.2%} right")
    fresh = Reader()
    learn(fresh, *some, epochs=100)
    print(f"5 to 9, of {len(some[1])} images alone: {right(fresh, *unseen):.2%} right")


if __name__ == "__main__":
    main()
