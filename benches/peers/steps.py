"""Whole training steps beside PyTorch's: one definition of each network, and both libraries run it.

    python3 steps.py gpt:bf16 gpt:tf32 cnn lstm resnet:bf16 [--device cuda] [--compile] [--ours] [--profile] [--tiny]

A case is a network and, after a colon, what products are computed in (f32 if it is not said). `first` is the first
step, in which kernels are assembled: the driver keeps them on disk, so remove its cache (~/.nv/ComputeCache) before.
`step` is the best of three runs of twenty steps on the same batch, which ours replays. The networks' first weights are
drawn by each library, so their losses are alike and not equal.
"""

import argparse
import time

import numpy as np
import torch

import micrograd_rs as mg


def networks(library):
    """The networks, as `library` has them."""
    nn, F = library.nn, library.nn.functional

    class Block(nn.Module):
        def __init__(self, size, heads, bias):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
            self.qkv, self.out = nn.Linear(size, 3 * size, bias=bias), nn.Linear(size, size, bias=bias)
            self.up, self.down = nn.Linear(size, 4 * size, bias=bias), nn.Linear(4 * size, size, bias=bias)

        def forward(self, x):
            batch, steps, size = x.shape
            parts = self.qkv(self.norm1(x)).split(size, dim=2)
            q, k, v = (part.view(batch, steps, self.heads, -1).transpose(1, 2) for part in parts)
            means = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(means.transpose(1, 2).reshape(batch, steps, size))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self, letters, context, size, heads, layers, bias=False):
            super().__init__()
            self.letter, self.place = nn.Embedding(letters, size), nn.Embedding(context, size)
            self.blocks = nn.ModuleList([Block(size, heads, bias) for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, letters, bias=False)
            self.head.weight = self.letter.weight

        def forward(self, x, y):
            h = self.letter(x) + self.place(library.arange(x.shape[1], device=x.device))
            for block in self.blocks:
                h = block(h)
            return F.cross_entropy(self.head(self.norm(h)).flatten(0, 1), y.flatten())

    class CNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
            self.linear1, self.linear2 = nn.Linear(9216, 128), nn.Linear(128, 10)

        def forward(self, x, y):
            x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
            return F.cross_entropy(self.linear2(F.relu(self.linear1(x.flatten(1)))), y)

    class Bottleneck(nn.Module):
        def __init__(self, channels, width, stride):
            super().__init__()
            out = 4 * width
            self.conv1, self.norm1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
            self.conv2, self.norm2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
            self.conv3, self.norm3 = nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out)
            self.down = None
            if stride > 1 or channels != out:
                self.down = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

        def forward(self, x):
            beside = x if self.down is None else self.down(x)
            h = F.relu(self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))))
            return F.relu(self.norm3(self.conv3(h)) + beside)

    class ResNet(nn.Module):
        def __init__(self, *counts):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
            blocks, channels = [], 64
            for stage, (count, width) in enumerate(zip(counts, (64, 128, 256, 512), strict=True)):
                for i in range(count):
                    blocks.append(Bottleneck(channels, width, 2 if stage and not i else 1))
                    channels = 4 * width
            self.blocks, self.linear = nn.Sequential(*blocks), nn.Linear(channels, 1000)

        def forward(self, x, y):
            x = self.blocks(F.max_pool2d(F.relu(self.norm(self.conv(x))), 3, 2, 1))
            return F.cross_entropy(self.linear(x.mean((2, 3))), y)

    class MLP(nn.Module):
        def __init__(self, hidden):
            super().__init__()
            self.linear1, self.linear2, self.linear3 = nn.Linear(784, hidden), nn.Linear(hidden, hidden // 2), nn.Linear(hidden // 2, 10)

        def forward(self, x, y):
            return F.cross_entropy(self.linear3(F.relu(self.linear2(F.relu(self.linear1(x.flatten(1)))))), y)

    class LSTM(nn.Module):
        def __init__(self, letters, size, layers):
            super().__init__()
            self.letter, self.lstm = nn.Embedding(letters, size), nn.LSTM(size, size, layers, batch_first=True)
            self.head = nn.Linear(size, letters)

        def forward(self, x, y):
            return F.cross_entropy(self.head(self.lstm(self.letter(x))[0]).flatten(0, 1), y.flatten())

    return {"GPT": GPT, "CNN": CNN, "ResNet": ResNet, "MLP": MLP, "LSTM": LSTM}


def case(name, tiny):
    """A network, its arguments, and a batch."""
    draw = np.random.default_rng(0)
    if name in ("gpt", "gpt2"):
        letters, batch, context, size, heads, layers = (
            (65, 4, 32, 64, 2, 2) if tiny else (65, 64, 256, 384, 6, 6) if name == "gpt" else (50304, 16, 1024, 768, 12, 12)
        )
        data = (draw.integers(0, letters, (batch, context)) for _ in range(2))
        return "GPT", (letters, context, size, heads, layers, name == "gpt2"), tuple(data)
    if name == "cnn":
        batch = 8 if tiny else 128
        return "CNN", (), (draw.random((batch, 1, 28, 28), dtype=np.float32), draw.integers(0, 10, batch))
    if name == "resnet":
        batch, side, counts = (2, 32, (1, 1, 1, 1)) if tiny else (64, 224, (3, 4, 6, 3))
        return "ResNet", counts, (draw.random((batch, 3, side, side), dtype=np.float32), draw.integers(0, 1000, batch))
    if name == "mlp":
        batch, hidden = (8, 64) if tiny else (128, 512)
        return "MLP", (hidden,), (draw.random((batch, 1, 28, 28), dtype=np.float32), draw.integers(0, 10, batch))
    if name == "lstm":
        batch, context, size = (4, 16, 32) if tiny else (64, 128, 512)
        return "LSTM", (65, size, 2), tuple(draw.integers(0, 65, (batch, context)) for _ in range(2))
    raise SystemExit(f"{name} is none of gpt, gpt2, cnn, resnet, mlp, lstm")


def make(library, name, products, kind, device, tiny):
    """A step, without arguments, and what there is to say of it after it ran."""
    network, arguments, batch = case(name, tiny)
    library.manual_seed(0)
    model = networks(library)[network](*arguments).to(device)
    fused = {"fused": True} if library is torch and device == "cuda" else {}
    if network == "ResNet":
        optimiser = library.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    else:
        optimiser = library.optim.AdamW(model.parameters(), lr=3e-4, **fused)
    x, y = (library.as_tensor(array).to(device) for array in batch)
    if library is torch and network == "ResNet" and products == "bf16":
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    run = torch.compile(model) if kind == "torch compile" else model

    def step(x, y):
        if products == "bf16":
            with library.autocast(device, library.bfloat16):
                loss = run(x, y)
        else:
            loss = run(x, y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss

    if kind != "ours jit":
        return lambda: step(x, y), lambda: ""
    replayed = mg.jit(step)
    return lambda: replayed(x, y), lambda: "" if replayed.is_replaying else f"  NOT REPLAYED: {replayed.reason}"


def measure(step, synchronize, count):
    """Seconds of the first step, milliseconds of the best later ones, and the losses at both ends."""
    begin = time.perf_counter()
    before = step().item()
    first = time.perf_counter() - begin
    for _ in range(4):
        step()
    best = float("inf")
    for _ in range(3):
        synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            loss = step()
        synchronize()
        best = min(best, (time.perf_counter() - begin) / count)
    return first, best * 1e3, before, loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--device", default="cuda")
    for option in ("compile", "ours", "profile", "tiny"):
        parser.add_argument(f"--{option}", action="store_true")
    options = parser.parse_args()
    kinds = ["ours jit", "ours eager"] + ["torch eager"] * (not options.ours) + ["torch compile"] * options.compile
    for text in options.cases:
        name, _, products = text.partition(":")
        tf32 = products == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        mg.set_float32_matmul_precision("high" if tf32 else "highest")
        for kind in kinds:
            library = mg if kind.startswith("ours") else torch
            wait = library.cuda.synchronize if options.device == "cuda" else lambda: None
            step, remarks = make(library, name, products, kind, options.device, options.tiny)
            first, best, before, after = measure(step, wait, 3 if options.tiny else 20)
            losses = f"loss {before:.4f} -> {after:.4f}"
            print(f"{text:14s} {kind:14s} first {first:6.2f} s  step {best:8.3f} ms  {losses}{remarks()}", flush=True)
            if options.profile and kind == "ours eager":
                with mg.profiler.profile() as profile:
                    step().item()
                print(profile.table(40), flush=True)
            del step, remarks


if __name__ == "__main__":
    main()
