"""All operations beside PyTorch's, in one process, sorted by where we are worst.

    python3 operations.py [--device cuda] [--only REGEX] [--json FILE] [--worst 40] [--processor]
    python3 operations.py --read FILE --page FILE [--title TEXT]          # a page of what was measured
    python3 operations.py --once [--device cuda] [--only REGEX]           # each of ours once, for compute-sanitizer

A case is one expression that both libraries run on the same numbers. Rounds take turns, ours and PyTorch's, and the best of each is
kept. `GB/s` counts each operand and the result once; `of copy` compares that with a copy (`clone`) of 2**26 (CPU: 2**22) floats.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

import numpy as np

from operations_cases import CASES, inputs


def namespace(library, device, large):
    """What expressions know: the library, `nn.functional`, gradients, and the tensors of `inputs`."""
    functional = library.nn.functional

    def gradient(result, *of):
        return library.autograd.grad([result], list(of), [library.ones_like(result)])

    names = {"L": library, "F": functional, "G": gradient}
    for name, array in inputs(large).items():
        tensor = library.tensor(np.ascontiguousarray(array), device=device)
        names[name] = tensor.t() if name.startswith("t_") else tensor
        if name.startswith("g_"):
            names[name].requires_grad_(True)
    return names


def flat(result):
    """The tensors of a result."""
    if isinstance(result, (tuple, list)):
        return [tensor for part in result for tensor in flat(part)]
    return [result] if hasattr(result, "shape") else []


def bytes_of(expression, names, result):
    """Of the operands that are named, each once, and of the result."""
    used = [names[word] for word in set(re.findall(r"\w+", expression)) if word in names and hasattr(names[word], "shape")]
    count = sum(tensor.numel() * tensor.element_size() for tensor in used)
    return count + sum(tensor.numel() * tensor.element_size() for tensor in flat(result))


class Side:
    """One of both libraries, which runs expressions."""

    clock = staticmethod(time.perf_counter)

    def __init__(self, library, names, wait, realize):
        self.library, self.names, self.wait, self.realize = library, names, wait, realize

    def prepare(self, expression):
        """Compiles it, and finds out how many calls make a round."""
        code = eval(f"lambda: {expression}", self.names)

        def call():
            result = code()
            if self.realize:
                self.library.realize(*flat(result))
            return result

        self.call = call
        self.result = call()
        self.wait()
        call()
        self.wait()
        return self

    def count(self, seconds):
        """So many calls take about so long."""
        once = self.round(1)
        return max(1, min(200, int(seconds / max(once, 1e-7))))

    def round(self, calls):
        """Seconds for a call, of so many."""
        started = self.clock()
        for _ in range(calls):
            self.call()
        self.wait()
        return (self.clock() - started) / calls


def agree(a, b):
    """Whether results are about the same, as far as their elements' mean size says."""
    pairs = list(zip(flat(a), flat(b), strict=False))
    if len(flat(a)) != len(flat(b)):
        return False
    for one, other in pairs:
        if tuple(one.shape) != tuple(other.shape):
            return False
        sizes = [float(tensor.detach().double().abs().mean()) if tensor.numel() else 0.0 for tensor in (one, other)]
        if not np.isclose(*sizes, rtol=2e-2, atol=1e-6, equal_nan=True):
            return False
    return True


def measured(case, ours, torch, seconds, rounds):
    """A row of the table."""
    name, expression, random = case
    row = {"op": name, "expression": expression}
    try:
        torch.prepare(expression)
    except Exception as error:  # noqa: BLE001
        return {**row, "skip": f"PyTorch: {type(error).__name__}: {error}"[:160]}
    try:
        ours.prepare(expression)
        if not random and not agree(ours.result, torch.result):
            row["differs"] = True
    except Exception as error:  # noqa: BLE001
        return {**row, "skip": f"ours: {type(error).__name__}: {error}"[:160]}
    size = bytes_of(expression, torch.names, torch.result)
    ours.result = torch.result = None
    counts = [side.count(seconds) for side in (ours, torch)]
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for at, side in enumerate((ours, torch)):
            best[at] = min(best[at], side.round(counts[at]))
    return {**row, "ours": best[0], "torch": best[1], "ratio": best[1] / best[0], "gbs": size / best[0] / 1e9}


def about(torch, cuda):
    """When, where and with what."""
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    known = {"date": today, "python": platform.python_version(), "torch": torch.__version__}
    if cuda:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(query, capture_output=True, text=True, check=False).stdout.split()
        known |= {"device": torch.cuda.get_device_name(), "cuda": torch.version.cuda, "driver": driver[0] if driver else "unknown"}
    processors = pathlib.Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*:\s*(.*)", processors.read_text()) if processors.exists() else []
    return known | {"host": f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"}


def page(rows, title):
    """What was measured, as a page."""
    runs = [", ".join(f"{name} {value}" for name, value in row["about"].items()) for row in rows if "about" in row]
    known = {row["op"] for row in rows if "op" in row}
    missing = [name for name, *_ in CASES if name not in known]
    done = sorted((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])
    copy = next(row["gbs"] for row in done if row["op"] == "clone")
    lines = [
        f"# {title}",
        "",
        "Written by `benches/peers/operations.py`: each expression in both libraries in turn, in one process, the best of the rounds. Sorted",
        "by where we are worst. A ratio above 1 is ours. `of copy`: operands and result, each once, against a copy's rate.",
        "",
        *(text for run in runs for text in (f"Measured: {run}.", "")),
        *([f"Not measured: {len(missing)} operations, `{missing[0]}` to `{missing[-1]}`.", ""] if missing else []),
        f"{len(done)} operations; {sum(row['ratio'] < 0.95 for row in done)} are slower than PyTorch by more than 5 %,",
        f"{sum(row['ratio'] >= 1.05 for row in done)} are faster by more than 5 %. A copy goes at {copy:.0f} GB/s.",
        "",
        "| Operation | Ours, µs | PyTorch, µs | Ratio | GB/s | Of copy |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in done:
        share = f"{row['gbs'] / copy:.2f}" if row["gbs"] < 4 * copy else ""
        lines.append(
            f"| {row['op']} | {row['ours'] * 1e6:.1f} | {row['torch'] * 1e6:.1f} | {row['ratio']:.2f} | {row['gbs']:.1f} | {share} |"
        )
    left = [f"`{row['op']}` ({row['skip']})" for row in rows if "skip" in row]
    return "\n".join([*lines, "", *(["Left out: " + "; ".join(left)] if left else [])]).rstrip() + "\n"


def once(device, only):
    """Runs each of our operations once, and waits for it."""
    import micrograd_rs as mg

    names, count = namespace(mg, device, False), 0
    for name, expression, *_ in CASES:
        if re.search(only, name):
            mg.realize(*flat(eval(expression, names)))
            count += 1
    if device == "cuda":
        mg.cuda.synchronize()
    print(f"{count} operations ran")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default=".")
    parser.add_argument("--after", default="", help="goes on behind the case of this name, and adds to the file of --json")
    parser.add_argument("--json", default="")
    parser.add_argument("--worst", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.03)
    parser.add_argument("--limit", type=float, default=1e9, help="stop after so many seconds")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processor", action="store_true", help="the processor's time instead of the clock's: of one thread, on a busy machine")
    parser.add_argument("--read", default="", help="rows that were written before, instead of measuring")
    parser.add_argument("--page", default="", help="writes a page")
    parser.add_argument("--commit", default="", help="what was built, for the record")
    parser.add_argument("--title", default="All operations beside PyTorch")
    parser.add_argument("--once", action="store_true", help="measures nothing: each of ours is run once")
    args = parser.parse_args()
    if args.once:
        return once(args.device, args.only)
    if args.read:
        lines = open(args.read).read().splitlines()  # noqa: SIM115
        text = page([json.loads(line) for line in lines if line.startswith("{")], args.title)
        open(args.page, "w").write(text)  # noqa: SIM115
        return 0
    if args.processor:
        Side.clock = staticmethod(time.process_time)
        args.threads = 1
    os.environ.setdefault("MG_NUM_THREADS", str(args.threads))
    import torch

    import micrograd_rs as mg

    torch.set_num_threads(args.threads)
    torch.backends.cuda.matmul.allow_tf32 = False
    cuda = args.device == "cuda"
    ours = Side(mg, namespace(mg, args.device, cuda), mg.cuda.synchronize if cuda else lambda: None, True)
    theirs = Side(torch, namespace(torch, args.device, cuda), torch.cuda.synchronize if cuda else lambda: None, False)
    rows, started = [], time.perf_counter()
    out = open(args.json, "a" if args.after else "w") if args.json else None  # noqa: SIM115
    there = {"about": about(torch, cuda) | ({"commit": args.commit} if args.commit else {})}
    if out:
        print(json.dumps(there), file=out, flush=True)
    names = [name for name, *_ in CASES]
    for case in CASES[names.index(args.after) + 1 if args.after else 0 :]:
        if not re.search(args.only, case[0]) and case[0] != "clone":
            continue
        if time.perf_counter() - started > args.limit:
            print("out of time before", case[0])
            break
        row = measured(case, ours, theirs, args.seconds, args.rounds)
        rows.append(row)
        if out:
            print(json.dumps(row), file=out, flush=True)
    copy = next((row["gbs"] for row in rows if row["op"] == "clone" and "gbs" in row), float("nan"))
    done = sorted((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])
    print(f"{len(done)} operations, copy {copy:.0f} GB/s; slower than PyTorch: {sum(row['ratio'] < 1 for row in done)}")
    print(f"{'operation':36} {'ours µs':>10} {'torch µs':>10} {'ratio':>6} {'GB/s':>7} {'of copy':>7}")
    for row in done[: args.worst]:
        note = " (differs)" if row.get("differs") else ""
        print(
            f"{row['op']:36} {row['ours'] * 1e6:10.1f} {row['torch'] * 1e6:10.1f} {row['ratio']:6.2f} {row['gbs']:7.1f} "
            f"{row['gbs'] / copy:7.2f}{note}"
        )
    if args.page:
        open(args.page, "w").write(page([there, *rows], args.title))  # noqa: SIM115
    for row in rows:
        if "skip" in row:
            print(f"skipped: {row['op']}: {row['skip']}")
        elif row.get("differs"):
            print(f"differs: {row['op']}: {row['expression']}")


if __name__ == "__main__":
    sys.exit(main())
