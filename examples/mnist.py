"""A perceptron learns to read handwritten digits.

    python examples/mnist.py --data DIR
    python examples/mnist.py --data DIR --load checkpoints/mnist.safetensors

Trains on MNIST's four files, as they are published, in DIR or in $MNIST_DIR; without either, on digits that are drawn
here. `--help` lists the options.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import micrograd_rs as mg
from micrograd_rs import Tensor, nn, optim
from micrograd_rs.data import Batches, Mnist

# The loss is read once in so many steps: that waits for it.
LOSS_EVERY = 20
# Images that are classified at once.
TEST_BATCH = 1000


class Set:
    """Images and what they show. They stay bytes; a batch becomes numbers when it is used."""

    def __init__(self, images: Tensor, labels: Tensor, device: mg.Device) -> None:
        if labels.numel() == 0:
            raise ValueError("there are no images in the files")
        self.images = images.flatten(1).to(device)
        self.labels = labels.to(device)
        self.pixels = self.images.shape[1]

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """The images at these indices, f32 in [0, 1], and their labels."""
        return self.images.index_select(0, indices) / 255, self.labels.index_select(0, indices)


def perceptron(pixels: int) -> nn.Sequential:
    """784-512-256-10 on images of 28×28."""
    return nn.Sequential(nn.Linear(pixels, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))


def learn(model: nn.Module, train: Set, test: Set, options: argparse.Namespace) -> None:
    adam = optim.Adam(model.parameters(), lr=options.lr)
    batches = Batches(len(train), options.batch, seed=options.seed)
    # Half a cosine down to 0 over the whole training: what is learnt last is not shaken any more.
    schedule = optim.lr_scheduler.CosineAnnealingLR(adam, max(options.epochs * len(batches), 1))
    for epoch in range(1, options.epochs + 1):
        start = time.perf_counter()
        for step, indices in enumerate(batches, 1):
            x, y = train.batch(indices)
            loss = nn.functional.cross_entropy(model(x), y)
            adam.zero_grad()
            loss.backward()
            adam.step()
            schedule.step()
            if sys.stdout.isatty() and (step % LOSS_EVERY == 0 or step == len(batches)):
                print(f"\repoch {epoch}/{options.epochs} {step / len(batches):4.0%}  loss {loss.item():.4f} ", end="", flush=True)
        right = accuracy(model, test)
        seconds = time.perf_counter() - start
        start_of_line = "\r" if sys.stdout.isatty() else ""
        print(f"{start_of_line}epoch {epoch}/{options.epochs} {right:.2%} of the test images right, {seconds:.2f} s", flush=True)
        options.save.parent.mkdir(parents=True, exist_ok=True)
        mg.save_safetensors(model.state_dict(), options.save, {"epoch": str(epoch), "test accuracy": str(right)})
    print(f"\nsaved to {options.save}; see what it reads with --load {options.save}")


@mg.no_grad()
def accuracy(model: nn.Module, test: Set) -> float:
    """The share of a set's images that the model reads right."""
    right = 0
    for indices in Batches(len(test), TEST_BATCH).epoch(0):
        x, y = test.batch(indices)
        right += int((model(x).argmax(1) == y).sum())
    return right / len(test)


@mg.no_grad()
def show(model: nn.Module, test: Set) -> None:
    """Draws some test images with what the model makes of them, up to half of them misread."""
    n = min(len(test), TEST_BATCH)
    x, y = test.batch(mg.arange(n))
    odds = model(x).softmax(1)
    sure, said = odds.amax(1).tolist(), odds.argmax(1).tolist()
    labels, images = y.tolist(), test.images[:n].reshape(n, -1, 28).tolist()
    wrong = [i for i in range(n) if said[i] != labels[i]]
    right = [i for i in range(n) if said[i] == labels[i]]
    shown = (wrong[:2] + right)[:4]
    print()
    for i in shown:
        # Two rows of pixels are one line of signs.
        for upper, lower in zip(images[i][::2], images[i][1::2]):
            print("".join(" .:-=+*#%@"[(a + b) // 2 * 9 // 255] for a, b in zip(upper, lower)).rstrip())
        verdict = "" if said[i] == labels[i] else f", but it is a {labels[i]}"
        print(f"{said[i]}, {sure[i]:.1%} sure{verdict}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="A perceptron learns to read handwritten digits.")
    parser.add_argument("--data", metavar="DIR", type=Path, help="the files of MNIST, as https://github.com/cvdfoundation/mnist has them; else $MNIST_DIR, else drawn digits")
    parser.add_argument("--epochs", metavar="N", type=int, default=5, help="how often every image is seen (5)")
    parser.add_argument("--batch", metavar="N", type=int, default=128, help="images a step (128)")
    parser.add_argument("--lr", metavar="X", type=float, default=1e-3, help="the learning rate at first (0.001)")
    parser.add_argument("--seed", metavar="N", type=int, default=1337, help="of everything that is random (1337)")
    parser.add_argument("--drawn", metavar="N", type=int, help="digits to draw, whatever files there are (60,000 where there are none)")
    parser.add_argument("--save", metavar="FILE", type=Path, default=Path("checkpoints/mnist.safetensors"), help="the checkpoint, written after each epoch")
    parser.add_argument("--load", metavar="FILE", type=Path, help="trains nothing, and shows what this checkpoint makes of the test images")
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    options = parser.parse_args()
    for name in ("epochs", "batch"):
        if getattr(options, name) < 1:
            parser.error(f"argument --{name}: takes a number of at least 1, got {getattr(options, name)}")
    folder = options.data or os.environ.get("MNIST_DIR")
    try:
        # Batches' indices and the model are made there too.
        mg.set_default_device(options.device)
        device = mg.get_default_device()
        data = Mnist.load_or_draw(options.data, options.drawn, usual=60_000, seed=options.seed)
        source = "MNIST" if folder and not options.drawn else "drawn digits"
        if source != "MNIST":
            print("training on drawn digits; --data DIR takes the files of MNIST", file=sys.stderr)
        mg.manual_seed(options.seed)
        train = Set(data.train_images, data.train_labels, device)
        test = Set(data.test_images, data.test_labels, device)
        print(f"{source}: {len(train)} images to train on, {len(test)} to test on")
        model = perceptron(train.pixels)
        if options.load:
            model.load_state_dict(mg.load_safetensors(options.load))
            print(f"{options.load}: {accuracy(model, test):.2%} of the test images right")
            show(model, test)
        else:
            learn(model, train, test, options)
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError, RuntimeError, MemoryError) as error:
        print(f"mnist: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
