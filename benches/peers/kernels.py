"""Sorting, convolution, attention and factorisations beside PyTorch's on the CPU, in one process.

    python3 kernels.py [--only REGEX] [--page FILE] [--title TEXT] [--threads 2] [--processor]

Rounds take turns, ours and PyTorch's (and NumPy's, where it has the same), and the best of each is kept.
"""

import argparse
import os
import re
import time


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=".")
    parser.add_argument("--page", default="", help="writes a page")
    parser.add_argument("--title", default="Kernels beside PyTorch")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processor", action="store_true", help="the processor's time instead of the clock's: of one thread, on a busy machine")
    args = parser.parse_args()
    if args.processor:
        args.threads = 1
    os.environ.setdefault("MG_NUM_THREADS", str(args.threads))
    return args


ARGS = arguments()

import numpy as np  # noqa: E402
import torch  # noqa: E402

import micrograd_rs as mg  # noqa: E402

CLOCK = time.process_time if ARGS.processor else time.perf_counter
ROWS = []
RNG = np.random.default_rng(0)
CONVOLUTIONS = """
    MNIST 128 1 28 32 3 1 0
    MNIST 128 32 13 64 3 1 0
    CIFAR 64 3 32 64 3 1 1
    CIFAR 64 64 32 64 3 1 1
    CIFAR 64 64 32 128 3 2 1
    CIFAR 64 128 16 128 3 1 1
    ResNet-50 4 64 56 64 3 1 1
    ResNet-50 4 128 28 128 3 1 1
    ResNet-50 4 256 14 256 3 1 1
    ResNet-50 4 512 7 512 3 1 1
    ResNet-50 4 64 56 256 1 1 0
    ResNet-50 4 256 56 64 1 1 0
    ResNet-50 4 512 28 128 1 1 0
    ResNet-50 4 1024 14 256 1 1 0
    ResNet-50 4 512 7 2048 1 1 0
"""


def once(call, times):
    """Seconds for a call, of so many."""
    started = CLOCK()
    for _ in range(times):
        result = call()
        for part in result if isinstance(result, (tuple, list)) else (result,):
            if hasattr(part, "realize"):
                part.realize()
    return (CLOCK() - started) / times


def compare(name, *calls):
    """A row: ours, PyTorch's, and what else there is."""
    if not re.search(ARGS.only, name):
        return
    counts = [max(1, min(200, int(ARGS.seconds / max(once(call, 1), 1e-6)))) for call in calls]
    best = [float("inf")] * len(calls)
    for _ in range(ARGS.rounds):
        for at, (call, count) in enumerate(zip(calls, counts)):
            best[at] = min(best[at], once(call, count))
    ratio = min(best[1:]) / best[0]
    others = " | ".join(f"{seconds * 1e3:.3f}" for seconds in [*best, *[float("nan")] * (3 - len(best))])
    ROWS.append(f"| {name} | {others} | {ratio:.2f} |".replace("nan", ""))
    print(ROWS[-1], flush=True)


def both(array):
    """The same numbers in both libraries."""
    return mg.tensor(array), torch.tensor(array)


def normal(*shape):
    """Numbers of a normal distribution, f32."""
    return RNG.standard_normal(shape).astype(np.float32)


def order():
    """Sorts and selections."""
    for n in (1 << 16, 1 << 20, 1 << 22):
        array = normal(n)
        ours, theirs = both(array)
        compare(f"sort, {n}", lambda: mg.sort(ours), lambda: torch.sort(theirs))
        compare(f"argsort, {n}", lambda: mg.argsort(ours), lambda: torch.argsort(theirs), lambda: np.argsort(array))
        compare(f"topk 100, {n}", lambda: mg.topk(ours, 100), lambda: torch.topk(theirs, 100), lambda: np.argpartition(array, -100))
    ours, theirs = both(normal(1024, 4096))
    compare("sort of rows, 1024 × 4096", lambda: mg.sort(ours, 1), lambda: torch.sort(theirs, 1))
    compare("topk 10 of rows, 1024 × 4096", lambda: mg.topk(ours, 10, 1), lambda: torch.topk(theirs, 10, 1))
    array = RNG.integers(0, 1 << 40, 1 << 20)
    ours, theirs = both(array)
    compare("sort of int64, 1048576", lambda: mg.sort(ours), lambda: torch.sort(theirs))


def convolutions():
    """2-D convolutions: images, channels, size, channels of the result, kernel, stride, padding."""
    for line in CONVOLUTIONS.strip().splitlines():
        name, *numbers = line.split()
        batch, channels, size, out, kernel, stride, padding = map(int, numbers)
        images, weights = normal(batch, channels, size, size), normal(out, channels, kernel, kernel)
        (x, tx), (w, tw) = both(images), both(weights)
        label = f"{name}: {batch}×{channels}×{size}×{size} to {out}, {kernel}×{kernel}" + (", stride 2" if stride == 2 else "")

        def ours(x=x, w=w, stride=stride, padding=padding):
            return mg.nn.functional.conv2d(x, w, stride=stride, padding=padding)

        def theirs(x=tx, w=tw, stride=stride, padding=padding):
            return torch.nn.functional.conv2d(x, w, stride=stride, padding=padding)

        compare(f"conv2d, {label}", ours, theirs)
        g, tg = ours().detach(), theirs().detach()
        for tensor in (x, w, tx, tw):
            tensor.requires_grad_()
        compare(
            f"… and its gradients, {label}",
            lambda: mg.autograd.grad([ours()], [x, w], [g]),  # noqa: B023
            lambda: torch.autograd.grad([theirs()], [tx, tw], [tg]),  # noqa: B023
        )


def attention():
    """Scaled dot products."""
    ours, theirs = mg.nn.functional.scaled_dot_product_attention, torch.nn.functional.scaled_dot_product_attention
    for shape in ((4, 8, 256, 64), (1, 8, 1024, 64), (2, 4, 2048, 32)):
        label = "×".join(map(str, shape))
        pairs = [both(normal(*shape)) for _ in range(4)]
        (q, k, v, g), (tq, tk, tv, tg) = zip(*pairs)
        for causal in (False, True):
            word = ", causal" if causal else ""
            compare(f"attention{word}, {label}", lambda c=causal: ours(q, k, v, is_causal=c), lambda c=causal: theirs(tq, tk, tv, is_causal=c))  # noqa: B023
        for tensor in (q, k, v, tq, tk, tv):
            tensor.requires_grad_()
        compare(
            f"… and its gradients, {label}",
            lambda: mg.autograd.grad([ours(q, k, v)], [q, k, v], [g]),  # noqa: B023
            lambda: torch.autograd.grad([theirs(tq, tk, tv)], [tq, tk, tv], [tg]),  # noqa: B023
        )


def factorisations():
    """Of matrices with 512 rows."""
    n = 512
    matrix = RNG.standard_normal((n, n))
    solid, right = matrix + 4 * np.sqrt(n) * np.eye(n), RNG.standard_normal((n, n))
    symmetric = solid @ solid.T / n + np.eye(n)
    for dtype in (np.float32, np.float64):
        (a, ta), (s, ts), (b, tb) = (both(array.astype(dtype)) for array in (solid, symmetric, right))
        label = f"512, {np.dtype(dtype).name}"
        compare(f"solve, {label}", lambda: mg.linalg.solve(a, b), lambda: torch.linalg.solve(ta, tb))  # noqa: B023
        compare(f"cholesky, {label}", lambda: mg.linalg.cholesky(s), lambda: torch.linalg.cholesky(ts))  # noqa: B023
        compare(f"svd, {label}", lambda: mg.linalg.svd(b), lambda: torch.linalg.svd(tb))  # noqa: B023
        compare(f"eigh, {label}", lambda: mg.linalg.eigh(s), lambda: torch.linalg.eigh(ts))  # noqa: B023


def main():
    torch.set_num_threads(ARGS.threads)
    for part in (order, convolutions, attention, factorisations):
        part()
    if ARGS.page:
        lines = [
            f"# {ARGS.title}",
            "",
            "Written by `benches/peers/kernels.py`: rounds take turns in one process, the best of each is kept. A ratio above 1 is ours; it is",
            "to the faster one of the others.",
            "",
            "| Operation | Ours, ms | PyTorch, ms | NumPy, ms | Ratio |",
            "| --- | ---: | ---: | ---: | ---: |",
            *ROWS,
        ]
        with open(ARGS.page, "w") as page:
            page.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
