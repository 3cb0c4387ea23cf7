"""ResNet-18 for images of 32 × 32, under torchvision's names: trained here, or with weights from elsewhere.

    python examples/resnet.py [--data DIR] [--epochs 1] [--batch 128] [--device cuda] [--bfloat16] [--drawn 2000]
    python examples/resnet.py --weights resnet18.safetensors [--stem imagenet]

He et al., "Deep residual learning for image recognition" (2015). It learns MNIST's digits of DIR or $MNIST_DIR,
set into images of 32 × 32 in three colours; without the files, digits that are drawn here. `--weights` takes a
safetensors file or a `.pt` of PyTorch's, and says what it has; the names are `conv1.weight`,
`layer1.0.bn1.running_mean`, `fc.bias` and so on.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import nullcontext

import micrograd_rs as mg
from micrograd_rs import nn, optim
from micrograd_rs.data import Batches, Mnist
from micrograd_rs.nn import functional as F


class BasicBlock(nn.Module):
    """Two convolutions, and the input added to what they make of it."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.bn2(self.conv2(h))
        return F.relu(h + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    """With the stem for images of 32 × 32, or for ImageNet's of 224 × 224, as torchvision has it."""

    def __init__(self, classes: int = 10, stem: str = "cifar"):
        super().__init__()
        if stem == "imagenet":
            self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
            self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        else:
            self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
            self.maxpool = nn.Identity()
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = nn.Sequential(BasicBlock(64, 64, 1), BasicBlock(64, 64, 1))
        self.layer2 = nn.Sequential(BasicBlock(64, 128, 2), BasicBlock(128, 128, 1))
        self.layer3 = nn.Sequential(BasicBlock(128, 256, 2), BasicBlock(256, 256, 1))
        self.layer4 = nn.Sequential(BasicBlock(256, 512, 2), BasicBlock(512, 512, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def with_weights(path: str, stem: str = "cifar") -> ResNet18:
    """A network with the weights of a file, which says how many classes there are."""
    state = mg.load(path)
    if isinstance(state, dict) and isinstance(state.get("state_dict"), dict):
        # Training programs often keep it beside what else they go on with.
        state = state["state_dict"]
    if not isinstance(state, dict) or "fc.bias" not in state:
        there = ", ".join(map(repr, list(state)[:3])) if isinstance(state, dict) else type(state).__name__
        raise ValueError(f"{path} has no weights of a ResNet-18, of which the last are called 'fc.bias'; it has {there}")
    model = ResNet18(len(state["fc.bias"]), stem)
    # Nothing is changed unless all names and shapes fit.
    model.load_state_dict(state)
    return model.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="the files of MNIST, as https://github.com/cvdfoundation/mnist has them (else those in $MNIST_DIR)")
    parser.add_argument("--drawn", metavar="N", type=int, help="digits to draw, whatever files there are (2000 where there are none)")
    parser.add_argument("--weights", metavar="FILE")
    parser.add_argument("--stem", choices=("cifar", "imagenet"), default="cifar")
    parser.add_argument("--save", metavar="FILE")
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    parser.add_argument("--bfloat16", action="store_true", help="products and convolutions in bfloat16")
    for name, default in (("epochs", 1), ("batch", 128), ("seed", 1337)):
        parser.add_argument(f"--{name}", type=int, default=default)
    a = parser.parse_args()
    if a.weights:
        try:
            model = with_weights(a.weights, a.stem)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            parser.exit(1, f"resnet: {' '.join(str(error).split())}\n")
        size = 224 if a.stem == "imagenet" else 32
        with mg.no_grad():
            odds = model(mg.zeros(1, 3, size, size)).softmax(1)
        print(f"{sum(p.numel() for p in model.parameters())} parameters, {odds.shape[1]} classes")
        print(f"a black image is a {odds.argmax().item()}: {odds.max().item():.1%}")
        return
    try:
        data = Mnist.load_or_draw(a.data, a.drawn, usual=2000, seed=a.seed)
    except (OSError, ValueError) as error:
        parser.exit(1, f"resnet: {error}\n")
    mg.manual_seed(a.seed)
    mg.set_default_device(a.device)
    train_x, test_x = (images.to(a.device) for images in (data.train_images, data.test_images))
    train_y, test_y = (labels.long().to(a.device) for labels in (data.train_labels, data.test_labels))

    def images(bytes_):
        return F.pad(bytes_ / 255, (2, 2, 2, 2)).unsqueeze(1).expand(-1, 3, -1, -1)

    def precision():
        return mg.autocast(a.device, dtype=mg.bfloat16) if a.bfloat16 else nullcontext()

    model = ResNet18()
    sgd = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
    batches = Batches(len(train_y), a.batch, seed=a.seed, drop_last=True)
    schedule = optim.lr_scheduler.OneCycleLR(sgd, max_lr=0.05, total_steps=a.epochs * len(batches) + 1)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(batches)} steps an epoch")

    @mg.jit
    def learn(indices: mg.Tensor) -> mg.Tensor:
        with precision():
            loss = F.cross_entropy(model(images(train_x[indices])), train_y[indices])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        return loss

    for epoch in range(1, a.epochs + 1):
        start = time.perf_counter()
        for indices in batches:
            loss = learn(indices)
            schedule.step()
        last = loss.item()
        ms = (time.perf_counter() - start) / len(batches) * 1e3
        model.eval()
        with mg.no_grad(), precision():
            right = [(model(images(x)).argmax(1) == y).sum() for x, y in zip(test_x.split(500), test_y.split(500))]
            part = mg.stack(right).sum().item() / len(test_y)
        model.train()
        print(f"epoch {epoch}: loss {last:.4f}, {part:.2%} of the test images right, {ms:.1f} ms a step")
    if a.save:
        mg.save_safetensors(model.state_dict(), a.save)


if __name__ == "__main__":
    main()
