"""Products, attention, convolutions and losses of large vocabularies beside PyTorch's on the GPU, in one process.

    python3 tensor_cores.py [--parts REGEX] [--only REGEX] [--json FILE] [--rounds 5] [--seconds 0.02] [--commit X]
    python3 tensor_cores.py --read FILE --page PAGE            # a page of what a run wrote

A row is one call on random data. Rounds take turns, ours, then each way in which PyTorch computes the same (cuBLAS in the layout that is asked for,
FlashAttention and cuDNN, cuDNN in both layouts of images); a round is as many calls as take `--seconds`, with one wait at the end, and a figure the
median of the rounds. Errors are the norm of the difference from float64 over the norm of float64's result, where it was computed.
"""

import argparse
import datetime
import json
import math
import re
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=".")
    parser.add_argument("--parts", default=".", help="a pattern of the functions that have the rows")
    parser.add_argument("--json", default="", help="a line for each row")
    parser.add_argument("--read", default="", help="a file that --json wrote, instead of measuring")
    parser.add_argument("--page", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--commit", default="")
    return parser.parse_args()


ARGS = arguments()
ROWS = []


def measured(calls, wait):
    """Seconds a call of each, the median of rounds in turns."""
    counts = []
    for call, end in zip(calls, wait):
        for _ in range(3):
            call()
        end()
        started = time.perf_counter()
        for _ in range(3):
            call()
        end()
        counts.append(max(1, min(2000, int(ARGS.seconds / ((time.perf_counter() - started) / 3)))))
    rounds = [[] for _ in calls]
    for _ in range(ARGS.rounds):
        for times, call, end, count in zip(rounds, calls, wait, counts):
            started = time.perf_counter()
            for _ in range(count):
                call()
            end()
            times.append((time.perf_counter() - started) / count)
    return [statistics.median(times) for times in rounds]


class Bench:
    """Both libraries, and how a row is measured."""

    def __init__(self):
        import torch

        import micrograd_rs as mg

        self.torch, self.mg = torch, mg
        torch.backends.cudnn.benchmark = True
        self.ours = {torch.bfloat16: mg.bfloat16, torch.float16: mg.float16, torch.float32: mg.float32}
        self.file = open(ARGS.json, "a") if ARGS.json else None
        if self.file:
            print(json.dumps({"about": self.about()}), file=self.file, flush=True)

    def about(self):
        return {
            "device": self.torch.cuda.get_device_name(),
            "torch": self.torch.__version__,
            "cuda": self.torch.version.cuda,
            "cudnn": self.torch.backends.cudnn.version(),
            "commit": ARGS.commit,
            "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        }

    def precision(self, name):
        """tf32 or all bits of f32, in both."""
        self.mg.set_float32_matmul_precision("high" if name == "tf32" else "highest")
        self.torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        self.torch.backends.cudnn.allow_tf32 = name == "tf32"

    def dtype(self, name):
        self.precision(name)
        return {"bf16": self.torch.bfloat16, "f16": self.torch.float16, "tf32": self.torch.float32, "f32": self.torch.float32}[name]

    def random(self, *shape, dtype):
        """The same random numbers in both libraries."""
        theirs = self.torch.randn(*shape, device="cuda", dtype=self.torch.float32).to(dtype)
        return self.mg.from_dlpack(theirs).clone(), theirs

    def row(self, group, name, ours, theirs, work=0.0, traffic=0.0, reference=None):
        """`theirs` by names; `work` in operations, `traffic` in bytes; `reference` in f64 for errors."""
        if not re.search(ARGS.only, f"{group} {name}"):
            return
        mg, torch = self.mg, self.torch

        def call():
            result = ours()
            mg.realize(*(result if isinstance(result, (list, tuple)) else (result,)))

        row = {"group": group, "name": name, "work": work, "traffic": traffic}
        try:
            calls, waits, names = [call], [mg.cuda.synchronize], []
            for label, other in theirs.items():
                try:
                    other()
                    torch.cuda.synchronize()
                except (RuntimeError, torch.OutOfMemoryError):
                    continue
                calls.append(other)
                waits.append(torch.cuda.synchronize)
                names.append(label)
            times = measured(calls, waits)
            row |= {"ours": times[0], "theirs": dict(zip(names, times[1:]))}
            if reference is not None:
                truth = reference()
                row["errors"] = [self.error(torch.from_dlpack(ours()), truth), self.error(next(iter(theirs.values()))(), truth)]
        except (RuntimeError, ValueError, MemoryError, NotImplementedError) as error:
            row["failed"] = str(error)[:200]
        ROWS.append(row)
        if self.file:
            print(json.dumps(row), file=self.file, flush=True)
        print(line(row), flush=True)

    def error(self, result, truth):
        return float((result.double() - truth).norm() / truth.norm())


def products(bench):
    """All forms: how each operand lies."""
    torch = bench.torch
    for name in ("bf16", "f16", "tf32", "f32"):
        dtype = bench.dtype(name)
        for n in (1024, 2048, 4096, 8192):
            (a, ta), (b, tb) = bench.random(n, n, dtype=dtype), bench.random(n, n, dtype=dtype)
            for form, turn_a, turn_b in (("kn", False, False), ("kk", False, True), ("mn", True, False), ("mk", True, True)):
                x, y = a.t() if turn_a else a, b.t() if turn_b else b
                tx, ty = ta.t() if turn_a else ta, tb.t() if turn_b else tb
                truth = (lambda tx=tx, ty=ty: tx.double() @ ty.double()) if n <= 2048 else None
                bench.row(f"products, {name}", f"{n}, {form}", lambda x=x, y=y: x @ y, {"cuBLAS": lambda tx=tx, ty=ty: tx @ ty}, 2.0 * n**3, reference=truth)
        for m, k, n in ((1000, 1000, 1000), (4097, 4097, 4097), (16384, 768, 50257), (16384, 50257, 768), (50257, 16384, 768)):
            (a, ta), (b, tb) = bench.random(m, k, dtype=dtype), bench.random(k, n, dtype=dtype)
            bench.row(f"products of sizes that are not aligned, {name}", f"{m} × {k} @ {k} × {n}", lambda: a @ b, {"cuBLAS": lambda: ta @ tb}, 2.0 * m * k * n)  # noqa: B023
        del a, b, ta, tb
        torch.cuda.empty_cache()


def attention(bench):
    """2¹⁴ tokens of width 2048."""
    torch, mg = bench.torch, bench.mg
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backends = {"FlashAttention": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
    scaled, theirs = mg.nn.functional.scaled_dot_product_attention, torch.nn.functional.scaled_dot_product_attention
    for name, heads in (("bf16", (64, 128, 32, 96, 256)), ("tf32", (64, 128))):
        dtype = bench.dtype(name)
        for head in heads:
            for length in (256, 1024, 4096, 16384) if name == "bf16" and head in (64, 128) else (1024, 4096):
                shape = (2**14 // length, 2048 // head, length, head)
                (q, tq), (k, tk), (v, tv), (g, tg) = (bench.random(*shape, dtype=dtype) for _ in range(4))
                for causal in (False, True):
                    work = 4.0 * 2**14 * 2048 * length / (2 if causal else 1)

                    def kernel(backend, q, k, v, c=causal):
                        with sdpa_kernel(backend):
                            return theirs(q, k, v, is_causal=c)

                    group = f"attention, {name}"
                    label = f"heads of {head}, length {length}" + (", causal" if causal else "")
                    if name == "tf32":
                        ways = {"memory-efficient": lambda k_=kernel: k_(SDPBackend.EFFICIENT_ATTENTION, tq, tk, tv)}  # noqa: B023
                    else:
                        ways = {way: lambda b=backend, k_=kernel: k_(b, tq, tk, tv) for way, backend in backends.items()}  # noqa: B023
                    bench.row(group, label, lambda c=causal: scaled(q, k, v, is_causal=c), ways, work)  # noqa: B023
                    for tensor in (q, k, v, tq, tk, tv):
                        tensor.requires_grad_()

                    def both(c=causal):
                        y = scaled(q, k, v, is_causal=c)  # noqa: B023
                        return [y, *mg.autograd.grad([y], [q, k, v], [g])]  # noqa: B023

                    def gradients(way):
                        return lambda: torch.autograd.grad([way()], [tq, tk, tv], [tg])  # noqa: B023

                    bench.row(group, label + ", and its gradients", both, {way: gradients(call) for way, call in ways.items()}, 3.5 * work)
                    for tensor in (q, k, v, tq, tk, tv):
                        tensor.requires_grad_(False)
    dtype = bench.dtype("bf16")
    for batch, heads, groups in ((8, 32, 32), (8, 32, 8), (1, 32, 8)):
        length, head = 32768, 128
        (q, tq), (k, tk), (v, tv) = (bench.random(batch, h, n, head, dtype=dtype) for h, n in ((heads, 1), (groups, length), (groups, length)))
        bench.row(
            "attention, one query",
            f"batch {batch}, {heads} heads, {groups} of keys, {length} keys",
            lambda: scaled(q, k, v, enable_gqa=True),  # noqa: B023
            {"PyTorch": lambda: theirs(tq, tk, tv, enable_gqa=True)},  # noqa: B023
            traffic=2.0 * batch * groups * length * head * 2,
        )


def dropout(bench):
    """Attention that leaves out a tenth of the weights: 2¹⁴ tokens of width 2048."""
    torch, mg = bench.torch, bench.mg
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backends = {"FlashAttention": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
    scaled, theirs = mg.nn.functional.scaled_dot_product_attention, torch.nn.functional.scaled_dot_product_attention
    dtype = bench.dtype("bf16")
    for head in (64, 128):
        for length in (1024, 2048, 4096, 8192):
            shape = (2**14 // length, 2048 // head, length, head)
            (q, tq), (k, tk), (v, tv), (g, tg) = (bench.random(*shape, dtype=dtype) for _ in range(4))
            for causal in (False, True):
                work = 4.0 * 2**14 * 2048 * length / (2 if causal else 1)

                def kernel(backend, c=causal):
                    with sdpa_kernel(backend):
                        return theirs(tq, tk, tv, is_causal=c, dropout_p=0.1)  # noqa: B023

                ways = {way: lambda b=backend, k_=kernel: k_(b) for way, backend in backends.items()}
                label = f"heads of {head}, length {length}" + (", causal" if causal else "")
                bench.row("attention with dropout, bf16", label, lambda c=causal: scaled(q, k, v, is_causal=c, dropout_p=0.1), ways, work)  # noqa: B023
                for tensor in (q, k, v, tq, tk, tv):
                    tensor.requires_grad_()

                def both(c=causal):
                    y = scaled(q, k, v, is_causal=c, dropout_p=0.1)  # noqa: B023
                    return [y, *mg.autograd.grad([y], [q, k, v], [g])]  # noqa: B023

                def gradients(way):
                    return lambda: torch.autograd.grad([way()], [tq, tk, tv], [tg])  # noqa: B023

                ways = {way: gradients(call) for way, call in ways.items()}
                bench.row("attention with dropout, bf16", label + ", and its gradients", both, ways, 3.5 * work)
                for tensor in (q, k, v, tq, tk, tv):
                    tensor.requires_grad_(False)


# Images a side, channels, filters, window, stride: layers of ResNet-50 at batch 256.
LAYERS = """
    224 3 64 7 2
    56 64 64 1 1
    56 64 256 1 1
    56 256 64 1 1
    56 64 64 3 1
    56 128 128 3 2
    28 512 128 1 1
    28 128 128 3 1
    28 128 512 1 1
    14 256 256 3 1
    14 256 1024 1 1
    14 1024 256 1 1
    7 512 512 3 1
    7 512 2048 1 1
"""


# Images a side, channels, window, stride, of which each filter sees one channel: layers of MobileNet, EfficientNet and ConvNeXt at batch 64.
DEPTHWISE = """
    112 32 3 1
    112 96 3 2
    56 144 3 1
    56 128 3 2
    56 144 5 2
    28 256 3 1
    28 240 5 1
    14 512 3 1
    14 672 5 1
    14 672 5 2
    7 1024 3 1
    7 1152 5 1
    56 96 7 1
    28 192 7 1
    14 384 7 1
    7 768 7 1
"""
# Images a side, channels, stride, of 32 groups: layers of ResNeXt-50 at batch 64.
GROUPED = """
    56 128 1
    56 256 2
    28 256 1
    14 512 1
    7 1024 1
"""


def convolution(bench, label, tensors, layouts, stride, groups, work=0.0, traffic=0.0):
    """A convolution and its gradients: of images, weight and gradient of each library, a group's name and the peer's ways for each way in which ours lie."""
    torch, mg = bench.torch, bench.mg
    conv = mg.nn.functional.conv2d
    padding = tensors[0][1].shape[2] // 2

    def backward(which, t):
        x, w, g = t
        return torch.ops.aten.convolution_backward(g, x, w, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups, which)

    last = [t.to(memory_format=torch.channels_last) for t in tensors[1]]
    for layout, (group, others) in layouts.items():
        mine = tensors[0]
        if layout == "channels last":
            mine = [t.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2) for t in mine]
        kinds = {"forward": None, "by the input": [True, False, False], "by the weight": [False, True, False]}
        for kind, which in kinds.items():
            if kind == "by the input" and mine[0].shape[1] == 3:
                continue

            def ours(kind=kind, mine=mine):
                x, w, g = mine
                if kind == "forward":
                    return conv(x, w, stride=stride, padding=padding, groups=groups)
                of = x if kind == "by the input" else w
                of.requires_grad_()
                found = mg.autograd.grad([conv(x, w, stride=stride, padding=padding, groups=groups)], [of], [g])
                of.requires_grad_(False)
                return found

            def theirs(t, which=which):
                if which is None:
                    return torch.nn.functional.conv2d(t[0], t[1], stride=stride, padding=padding, groups=groups)
                return backward(which, t)

            ways = {way: lambda t=tensors[1] if way == "planes" else last, f=theirs: f(t) for way in others}
            bench.row(group, f"{label}, {kind}", ours, ways, work, traffic)


def layer(bench, dtype, batch, size, channels, filters, window, stride, groups=1):
    """Random images, weight and gradient in both libraries; what the layer is called, and the gradient's places."""
    out = (size + 2 * (window // 2) - window) // stride + 1
    shapes = (batch, channels, size, size), (filters, channels // groups, window, window), (batch, filters, out, out)
    label = f"{size} × {size}, {channels} to {filters}, {window} × {window}" + (f", stride {stride}" if stride > 1 else "")
    return list(zip(*(bench.random(*shape, dtype=dtype) for shape in shapes))), label, out * out


def convolutions(bench):
    for name in ("bf16", "tf32", "f32"):
        dtype = bench.dtype(name)
        batch = 64 if name == "f32" else 256
        for text in LAYERS.strip().splitlines():
            size, channels, filters, window, stride = map(int, text.split())
            tensors, label, places = layer(bench, dtype, batch, size, channels, filters, window, stride)
            layouts = {way: (f"convolutions in {way}, {name}", [way]) for way in ("planes", "channels last")}
            convolution(bench, label, tensors, layouts, stride, 1, work=2.0 * batch * places * filters * channels * window**2)
        bench.torch.cuda.empty_cache()


def groups(bench):
    """Convolutions whose filters see one channel each, or few. Ours lie in planes; theirs in both ways."""
    batch = 64
    both = ["planes", "channels last"]
    for name in ("bf16", "f16", "f32"):
        dtype = bench.dtype(name)
        for text in DEPTHWISE.strip().splitlines():
            size, channels, window, stride = map(int, text.split())
            tensors, label, places = layer(bench, dtype, batch, size, channels, channels, window, stride, channels)
            traffic = float(batch * channels * (size**2 + places) * dtype.itemsize)
            convolution(bench, label, tensors, {"planes": (f"depthwise convolutions, {name}", both)}, stride, channels, traffic=traffic)
    for name in ("bf16", "f16", "f32"):
        dtype = bench.dtype(name)
        for text in GROUPED.strip().splitlines():
            size, channels, stride = map(int, text.split())
            tensors, label, places = layer(bench, dtype, batch, size, channels, channels, 3, stride, 32)
            traffic = float(batch * channels * (size**2 + places) * dtype.itemsize)
            convolution(bench, label, tensors, {"planes": (f"convolutions of 32 groups, {name}", both)}, stride, 32, traffic=traffic)
    bench.torch.cuda.empty_cache()


def losses(bench):
    """Logits and cross entropy in one, and the gradients by both."""
    torch, mg = bench.torch, bench.mg
    dtype = bench.dtype("bf16")
    for rows, width, words in ((16384, 384, 65), (8192, 768, 50257), (4096, 2048, 131072), (2048, 2048, 262144)):
        (x, tx), (w, tw) = bench.random(rows, width, dtype=dtype), bench.random(words, width, dtype=dtype)
        tl = torch.randint(0, words, (rows,), device="cuda")
        labels = mg.from_dlpack(tl).clone()
        for tensor in (x, w, tx, tw):
            tensor.requires_grad_()

        def ours():
            loss = mg.nn.functional.linear_cross_entropy(x, w, labels)  # noqa: B023
            return [loss, *mg.autograd.grad([loss], [x, w])]  # noqa: B023

        def theirs():
            loss = torch.nn.functional.cross_entropy((tx @ tw.t()).float(), tl)  # noqa: B023
            return torch.autograd.grad([loss], [tx, tw])  # noqa: B023

        bench.row("loss of a vocabulary, and its gradients", f"{rows} rows of {width}, {words} words", ours, {"PyTorch": theirs}, 6.0 * rows * width * words)
        torch.cuda.empty_cache()


def best(row):
    return min(row.get("theirs", {}).items(), key=lambda item: item[1], default=("none", math.nan))


def rate(row, seconds):
    if row["work"]:
        return f"{row['work'] / seconds / 1e12:.0f} TFLOP/s"
    return f"{row['traffic'] / seconds / 1e12:.2f} TB/s" if row["traffic"] else ""


def line(row):
    if "failed" in row:
        return f"| {row['name']} | failed: {row['failed']} |"
    way, seconds = best(row)
    errors = " | ".join(f"{e:.1e}" for e in row.get("errors", ())) or " | "
    return f"| {row['name']} | {row['ours'] * 1e6:.1f} | {seconds * 1e6:.1f} | {way} | {rate(row, row['ours'])} | {rate(row, seconds)} | {seconds / row['ours']:.2f} | {errors} |"


def mean(rows):
    ratios = [best(row)[1] / row["ours"] for row in rows if "ours" in row and row["theirs"]]
    if not ratios:
        return ""
    return f"Geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.2f}, least {min(ratios):.2f}, of {len(ratios)}."


def page(about, rows):
    found = [
        f"# Products, attention and convolutions on {about['device']}",
        "",
        f"Written by `benches/peers/tensor_cores.py` on {about['time'][:10]} at commit {about['commit'] or 'unknown'}, beside PyTorch {about['torch']}, CUDA {about['cuda']}, "
        f"cuDNN {about['cudnn']}, in one process and in turns; the median of rounds, on random data. `ratio` is PyTorch's time, by the fastest of its ways that are named, over ours: "
        "above 1 we are faster. `errors` are ours and PyTorch's, beside float64, over the norm. In forms of products the first letter says along which axis the left operand lies, "
        "the second along which the right one does: `kn` is `a @ b`, `kk` `a @ b.T`, `mn` `a.T @ b`, `mk` `a.T @ b.T`. `planes` are images whose channels lie one behind another (NCHW).",
    ]
    for group in dict.fromkeys(row["group"] for row in rows):
        of = [row for row in rows if row["group"] == group]
        found += ["", f"## {group[0].upper()}{group[1:]}", "", mean(of), "", "| | ours, µs | PyTorch, µs | its way | ours | PyTorch | ratio | error | PyTorch's |", "|---|---:|---:|---|---:|---:|---:|---:|---:|"]
        found += [line(row) for row in of]
    return "\n".join(found) + "\n"


def main():
    if ARGS.read:
        lines = [json.loads(text) for text in Path(ARGS.read).read_text().splitlines()]
        about = next(record["about"] for record in lines if "about" in record)
        Path(ARGS.page).write_text(page(about, [record for record in lines if "group" in record]))
        return
    bench = Bench()
    for part in (products, attention, dropout, convolutions, groups, losses):
        if re.search(ARGS.parts, part.__name__):
            part(bench)
    for group in dict.fromkeys(row["group"] for row in ROWS):
        print(group, mean([row for row in ROWS if row["group"] == group]))


if __name__ == "__main__":
    main()
