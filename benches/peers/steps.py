"""Whole training steps beside PyTorch's: one definition of each network, and both libraries run it.

    python3 steps.py gpt:bf16 gpt:tf32 cnn lstm resnet:bf16 [--device cuda] [--compile] [--jax] [--ours] [--profile] [--tiny] [--json FILE]
    python3 steps.py --read FILE --page FILE                  # a page of what was measured

A case is a network and, after a colon, what products are computed in (f32 if it is not said). `first` is the first
step, in which kernels are assembled: the driver keeps them on disk, so remove its cache (~/.nv/ComputeCache) before.
`step` is the best of three runs of twenty steps on the same batch, which ours replays. The networks' first weights are
drawn by each library, so their losses are alike and not equal.
"""

import argparse
import contextlib
import datetime
import json
import os
import time

import numpy as np
import torch

import micrograd_rs as mg


# What the cases are, on a page.
TITLES = {
    "gpt": "GPT 6 × 384, 64 × 256 letters, AdamW",
    "gpt_small": "GPT 4 × 128, 12 × 64 letters, AdamW",
    "gpt2": "GPT-2 of 124 million parameters, 16 × 1024 words, AdamW",
    "cnn": "MNIST CNN, batch 128, AdamW",
    "resnet": "ResNet-50, batch 64 of 224 × 224, SGD with momentum",
    "resnet18": "ResNet-18, batch 128 of 32 × 32, SGD with momentum",
    "mlp": "Perceptron 784-512-256-10, batch 128, AdamW",
    "lstm": "LSTM 2 × 512, 64 × 128 letters, AdamW",
}
# Letters, lines of a batch, letters of a line, sizes, heads, layers.
GPTS = {"gpt": (65, 64, 256, 384, 6, 6), "gpt_small": (65, 12, 64, 128, 4, 4), "gpt2": (50304, 16, 1024, 768, 12, 12)}
PRODUCTS = {"": "f32", "tf32": "tf32", "bf16": "bf16 autocast"}
# Milliseconds that a replayed step is to take on an H200.
GOALS = {"gpt:bf16": 4.0, "gpt:tf32": 7.0, "cnn": 0.3}


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

    def normed(inputs, outputs, side, stride=1):
        return nn.Sequential(nn.Conv2d(inputs, outputs, side, stride, side // 2, bias=False), nn.BatchNorm2d(outputs))

    class Residual(nn.Module):
        def __init__(self, main, beside):
            super().__init__()
            self.main = nn.ModuleList([normed(*sizes) for sizes in main])
            self.beside = nn.Sequential(*(normed(*sizes) for sizes in beside))

        def forward(self, x):
            h = self.main[0](x)
            for layer in self.main[1:]:
                h = layer(F.relu(h))
            return F.relu(h + self.beside(x))

    class ResNet(nn.Module):
        def __init__(self, stem, blocks):
            super().__init__()
            self.stem, self.pools = normed(3, 64, *stem), stem[1] > 1
            self.blocks = nn.Sequential(*(Residual(*block) for block in blocks))
            self.linear = nn.Linear(blocks[-1][0][-1][1], 1000)

        def forward(self, x, y):
            x = F.relu(self.stem(x))
            x = self.blocks(F.max_pool2d(x, 3, 2, 1) if self.pools else x)
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


def residual(narrow, counts):
    """A residual network's blocks: the convolutions of each, and what lies beside them, as inputs, outputs, side, stride.

    A block is two convolutions of side 3, or (`narrow`) one of them between two of side 1.
    """
    blocks, channels = [], 64
    for stage, (count, width) in enumerate(zip(counts, (64, 128, 256, 512), strict=True)):
        out = 4 * width if narrow else width
        for i in range(count):
            stride = 2 if stage and not i else 1
            if narrow:
                main = [(channels, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1)]
            else:
                main = [(channels, width, 3, stride), (width, out, 3, 1)]
            blocks.append((main, [(channels, out, 1, stride)] if stride > 1 or channels != out else []))
            channels = out
    return blocks


def case(name, tiny):
    """A network, its arguments, and a batch."""
    draw = np.random.default_rng(0)
    if name in GPTS:
        letters, batch, context, size, heads, layers = (65, 4, 32, 64, 2, 2) if tiny else GPTS[name]
        data = (draw.integers(0, letters, (batch, context)) for _ in range(2))
        return "GPT", (letters, context, size, heads, layers, name == "gpt2"), tuple(data)
    if name == "cnn":
        batch = 8 if tiny else 128
        return "CNN", (), (draw.random((batch, 1, 28, 28), dtype=np.float32), draw.integers(0, 10, batch))
    if name in ("resnet", "resnet18"):
        narrow = name == "resnet"
        batch, side, counts = (2, 32, (1, 1, 1, 1)) if tiny else (64, 224, (3, 4, 6, 3)) if narrow else (128, 32, (2, 2, 2, 2))
        data = draw.random((batch, 3, side, side), dtype=np.float32), draw.integers(0, 1000, batch)
        return "ResNet", ((7, 2) if narrow else (3, 1), residual(narrow, counts)), data
    if name == "mlp":
        batch, hidden = (8, 64) if tiny else (128, 512)
        return "MLP", (hidden,), (draw.random((batch, 1, 28, 28), dtype=np.float32), draw.integers(0, 10, batch))
    if name == "lstm":
        batch, context, size = (4, 16, 32) if tiny else (64, 128, 512)
        return "LSTM", (65, size, 2), tuple(draw.integers(0, 65, (batch, context)) for _ in range(2))
    raise SystemExit(f"{name} is none of {', '.join(TITLES)}")


def training(library, run, optimiser, products, device):
    """A training step of a batch, which answers with the loss."""

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

    return step


def make(library, name, products, kind, device, tiny):
    """A step without arguments, what waits for it, and what there is to say of it after it ran."""
    network, arguments, batch = case(name, tiny)
    if library is None:
        import steps_jax

        return *steps_jax.make(network, arguments, batch, products), lambda: ""
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
    run = torch.compile(model) if kind == "PyTorch, compiled" else model
    step = training(library, run, optimiser, products, device)
    wait = library.cuda.synchronize if device == "cuda" else lambda: None
    if kind != "ours, replayed":
        return lambda: step(x, y), wait, lambda: ""
    replayed = mg.jit(step)
    return lambda: replayed(x, y), wait, lambda: "" if replayed.is_replaying else f"NOT REPLAYED: {replayed.reason}"


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


def page(rows, about):
    """The rows of a record, as a table."""
    lines = [f"# Whole training steps on {about['device']}", "", "", "", "| | | first, s | step, ms | of ours |", "|---|---|---:|---:|---:|"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines[2] = (
        f"Written by `benches/peers/steps.py` on {about['date']} at commit {about['commit']}: {versions}. Each network is a process of its own. Data and "
        "weights are drawn. `first` is the first step, with all that is compiled for it; `step` the best of three runs of some steps on one batch."
    )
    of = None
    for row in rows:
        name, _, products = row["case"].partition(":")
        title = f"{TITLES[name]}, {PRODUCTS[products]}" if row["case"] != of else ""
        ours = next((r["step"] for r in rows if r["case"] == row["case"] and r["kind"] == "ours, replayed"), None)
        ratio = f"{row['step'] / ours:.2f}" if ours else ""
        lines.append(f"| {title} | {row['kind']} | {row['first']:.2f} | {row['step']:.3g} | {ratio} |")
        of = row["case"]
    if "H200" in about["device"]:
        reached = {row["case"]: row["step"] for row in rows if row["kind"] == "ours, replayed"}
        told = [f"{TITLES[case.partition(':')[0]]}, {case.partition(':')[2] or 'f32'}: {reached[case]:.3g} of {goal} ms" for case, goal in GOALS.items() if case in reached]
        lines += ["", "Goals of the replayed step: " + "; ".join(told) + "."]
    return "\n".join(lines) + "\n"


def about(device):
    versions = {"PyTorch": torch.__version__, "NumPy": np.__version__}
    with contextlib.suppress(ImportError):
        import jax

        versions["JAX"] = jax.__version__
    if device == "cuda":
        name = torch.cuda.get_device_name()
        versions["CUDA"] = torch.version.cuda
    else:
        with open("/proc/cpuinfo") as file:
            name = next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
        name += f", {len(os.sched_getaffinity(0))} threads"
    return {"device": name, "versions": versions, "date": datetime.date.today().isoformat()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--count", type=int, default=20, help="steps of a run")
    parser.add_argument("--json", default="", help="a row is added to this file for each case and library")
    parser.add_argument("--read", default="", help="rows that were written before, instead of measuring")
    parser.add_argument("--page", default="", help="writes a page")
    parser.add_argument("--commit", default="unknown", help="what was built, for the record")
    for option in ("compile", "jax", "ours", "profile", "tiny"):
        parser.add_argument(f"--{option}", action="store_true")
    options = parser.parse_args()
    if options.read:
        with open(options.read) as file:
            first, *rows = [json.loads(line) for line in file]
        with open(options.page, "w") as file:
            file.write(page(rows, first))
        return
    if options.json and not os.path.exists(options.json):
        with open(options.json, "w") as file:
            print(json.dumps(about(options.device) | {"commit": options.commit}), file=file)
    kinds = {"ours, replayed": mg, "ours, not replayed": mg}
    if not options.ours:
        kinds["PyTorch, eager"] = torch
    if options.compile:
        kinds["PyTorch, compiled"] = torch
    if options.jax:
        kinds["JAX"] = None
    for text in options.cases:
        name, _, products = text.partition(":")
        tf32 = products == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        mg.set_float32_matmul_precision("high" if tf32 else "highest")
        for kind, library in kinds.items():
            step, wait, remarks = make(library, name, products, kind, options.device, options.tiny)
            first, best, before, after = measure(step, wait, 3 if options.tiny else options.count)
            losses = f"loss {before:.4f} -> {after:.4f}"
            print(f"{text:14s} {kind:18s} first {first:6.2f} s  step {best:8.3f} ms  {losses}  {remarks()}", flush=True)
            if options.json:
                row = {"case": text, "kind": kind, "first": first, "step": best, "losses": [before, after], "remarks": remarks()}
                with open(options.json, "a") as file:
                    print(json.dumps(row), file=file)
            if options.profile and kind == "ours, not replayed":
                with mg.profiler.profile() as profile:
                    step().item()
                print(profile.table(40), flush=True)
            del step, wait, remarks


if __name__ == "__main__":
    main()
