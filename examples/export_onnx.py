"""A network learns to read digits, leaves as an ONNX file, and onnxruntime answers as it did.

    python examples/export_onnx.py [--data DIR] [--steps 200] [--file digits.onnx]
    python examples/export_onnx.py --check digits.onnx

Learns MNIST of DIR or $MNIST_DIR, else digits that are drawn here. Beside the file it writes what the network makes of some images (`digits.npz`);
`--check` asks onnxruntime, where it is installed, for the same. The program in Rust writes both, too.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.data import Batches, Mnist
from micrograd_rs.nn import functional as F


def network() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 5 * 5, 10),
    )  # fmt: skip


def numbers(images: mg.Tensor) -> mg.Tensor:
    """Bytes as numbers from 0 to 1, in one colour."""
    return images.unsqueeze(1) / 255


def trained(data: Mnist, steps: int) -> nn.Sequential:
    model = network()
    adam = mg.optim.Adam(model.parameters(), lr=2e-3)
    batches = Batches(len(data.train_labels), 64, seed=0, drop_last=True)
    done = 0
    while done < steps:
        for indices in batches:
            loss = F.cross_entropy(model(numbers(data.train_images[indices])), data.train_labels[indices])
            adam.zero_grad()
            loss.backward()
            adam.step()
            done += 1
            if done == steps:
                break
    return model.eval()


def check(path: Path) -> None:
    """Has onnxruntime run the file, and compares."""
    try:
        import onnxruntime
    except ImportError:
        print("skipped: onnxruntime is not installed (pip install onnxruntime)")
        return
    asked = mg.npz.load(path.with_suffix(".npz"))
    session = onnxruntime.InferenceSession(str(path))
    (scores,) = session.run(["scores"], {"image": asked["images"].numpy()})
    scores = mg.tensor(scores)
    apart = (scores - asked["scores"]).abs().max().item()
    same = (scores.argmax(1) == asked["scores"].argmax(1)).sum().item()
    print(f"onnxruntime: {same} of {len(scores)} digits the same, scores at most {apart:.1e} apart")
    assert same == len(scores) and apart < 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="the files of MNIST, as https://github.com/cvdfoundation/mnist has them (else those in $MNIST_DIR)")
    parser.add_argument("--drawn", metavar="N", type=int, help="digits to draw, whatever files there are (6000 where there are none)")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--file", type=Path, default=Path("digits.onnx"))
    parser.add_argument("--check", metavar="FILE", type=Path)
    a = parser.parse_args()
    if a.check:
        check(a.check)
        return
    mg.manual_seed(0)
    try:
        data = Mnist.load_or_draw(a.data, a.drawn, usual=6000, seed=0)
    except (OSError, ValueError) as error:
        parser.exit(1, f"export_onnx: {error}\n")
    model = trained(data, a.steps)
    images = numbers(data.test_images[:100])
    with mg.no_grad():
        scores = model(images)
    right = (scores.argmax(1) == data.test_labels[:100]).sum().item()
    print(f"{right} of 100 unseen digits right")
    # The batch may be of any size; the network was called with one image.
    names = {"input_names": ["image"], "output_names": ["scores"], "dynamic_axes": {"image": {0: "batch"}}}
    file = mg.onnx.export(model, (images[:1],), str(a.file), **names)
    mg.npz.savez(a.file.with_suffix(".npz"), images=images, scores=scores)
    print(f"{a.file}: {len(file)} bytes")
    check(a.file)


if __name__ == "__main__":
    main()
