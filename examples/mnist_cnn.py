"""A convolutional network learns to read handwritten digits: above 99.2 % of MNIST's test images after three epochs.

    python examples/mnist_cnn.py [--data DIR] [--epochs 3] [--batch 128] [--device cuda] [--drawn 60000]

Trains on MNIST's four files, as they are published, in DIR or in $MNIST_DIR; without either, on digits that are
drawn here.
"""

from __future__ import annotations

import argparse
import os
import time

import micrograd_rs as mg
from micrograd_rs import nn, optim
from micrograd_rs.data import Batches, Mnist
from micrograd_rs.metrics import Accuracy
from micrograd_rs.nn import functional as F


def network() -> nn.Sequential:
    """Two convolutions, each normalised and halved by pooling, and two layers on what is left."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 5 * 5, 128),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(128, 10),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="the files of MNIST, as https://github.com/cvdfoundation/mnist has them (else those in $MNIST_DIR)")
    parser.add_argument("--drawn", metavar="N", type=int, help="digits to draw, whatever files there are (60,000 where there are none)")
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    for name, default in (("epochs", 3), ("batch", 128), ("seed", 1337)):
        parser.add_argument(f"--{name}", type=int, default=default)
    a = parser.parse_args()
    try:
        data = Mnist.load_or_draw(a.data, a.drawn, usual=60_000, seed=a.seed)
    except (OSError, ValueError) as error:
        parser.exit(1, f"mnist_cnn: {error}\n")
    mg.set_default_device(a.device)
    mg.manual_seed(a.seed)

    # Images stay bytes, where the work is done; a batch becomes numbers when it is used.
    train_x, test_x = (images.unsqueeze(1).to(a.device) for images in (data.train_images, data.test_images))
    train_y, test_y = (labels.long().to(a.device) for labels in (data.train_labels, data.test_labels))

    model = network()
    adam = optim.Adam(model.parameters())
    batches = Batches(len(train_y), a.batch, seed=a.seed, drop_last=True)
    steps = a.epochs * len(batches)
    schedule = optim.lr_scheduler.OneCycleLR(adam, max_lr=8e-3, total_steps=steps + 1)
    count = sum(p.numel() for p in model.parameters())
    print(f"{count} parameters, {len(train_y)} images, {len(batches)} steps an epoch")

    @mg.jit
    def learn(indices: mg.Tensor) -> mg.Tensor:
        loss = F.cross_entropy(model(train_x[indices] / 255), train_y[indices])
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss

    @mg.no_grad()
    def accuracy() -> float:
        model.eval()
        right = Accuracy()
        for x, y in zip(test_x.split(1000), test_y.split(1000)):
            right.update(model(x / 255), y)
        model.train()
        return right.compute().item()

    for epoch in range(1, a.epochs + 1):
        start = time.perf_counter()
        for indices in batches:
            loss = learn(indices)
            schedule.step()
        last = loss.item()  # waits for the device
        seconds = time.perf_counter() - start
        print(f"epoch {epoch}: loss {last:.4f}, {accuracy():.2%} of the test images right, {seconds:.1f} s")


if __name__ == "__main__":
    main()
