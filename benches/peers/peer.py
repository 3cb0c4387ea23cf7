"""Runs one framework on the cases, and prints one JSON object a line. The protocol is in README.md beside this file.

    peer.py --framework torch --case add_2e6 --rounds 3
    peer.py --framework jax --serve          # lines "CASE [ROUNDS]" on stdin
    peer.py --list | --describe [--python | --gpu]
"""

import argparse
import gc
import importlib
import json
import os
import sys

from cases import CASES, GPU_CASES, PYTHON_CASES

FRAMEWORKS = ("torch", "torch-compile", "torch-graph", "jax", "numpy", "micrograd", "micrograd_rs")
ALL_CASES = {**GPU_CASES, **CASES, **PYTHON_CASES}


def load(framework: str, threads: int, device: str):
    """The framework's version and the function that prepares a case; its threads and device are set before it is imported."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)
    os.environ["JAX_PLATFORMS"] = device
    os.environ["PEER_DEVICE"] = device
    # Several share the device: none takes its memory beforehand. What it took, it keeps.
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    module = importlib.import_module(framework.split("-")[0] + "_cases")
    prepare = module.framework(framework).prepare if hasattr(module, "framework") else module.prepare
    return module.VERSION, prepare


class Server:
    """Answers requests; keeps the case of the last one, so that rounds of several workers can take turns."""

    def __init__(self, framework: str, device: str, threads: int, seconds: float, out):
        self.framework, self.device, self.threads, self.seconds, self.out = framework, device, threads, seconds, out
        self.name = self.timer = None

    def say(self, **fields):
        print(json.dumps({"framework": self.framework, **fields}), file=self.out, flush=True)

    def start(self) -> bool:
        try:
            from data import Skip
        except ImportError as error:
            self.say(skip=str(error))
            return False
        try:
            self.version, self.prepare = load(self.framework, self.threads, self.device)
        except (ImportError, Skip) as error:
            self.say(skip=str(error))
            return False
        return True

    def hello(self):
        self.say(version=self.version, threads=self.threads, device=self.device)

    def answer(self, name: str, rounds: int):
        from data import Skip
        from work import Timer

        try:
            if name != self.name:
                self.name = self.timer = None
                gc.collect()
                if name not in ALL_CASES:
                    raise Skip("no such case")
                self.timer = Timer(self.prepare(ALL_CASES[name]), self.seconds)
                self.name = name
            if rounds == 0:
                self.say(case=name, version=self.version, check=self.timer.check)
            for _ in range(rounds):
                seconds = self.timer.round()
                self.say(case=name, seconds_per_call=seconds, calls=self.timer.calls, version=self.version)
        except Skip as reason:
            self.say(case=name, skip=str(reason))
        except Exception as error:  # a framework's own failure is a result, too
            self.say(case=name, error=f"{type(error).__name__}: {error}".splitlines()[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--case", metavar="NAME", help="run one case")
    what.add_argument("--serve", action="store_true", help="read 'CASE [ROUNDS]' lines from stdin")
    what.add_argument("--list", action="store_true", help="the names of the cases")
    what.add_argument("--describe", action="store_true", help="the cases as JSON lines: what a call does, its flops and bytes")
    parser.add_argument("--python", action="store_true", help="list and describe the cases of Python's own")
    parser.add_argument("--gpu", action="store_true", help="list and describe the cases of a GPU")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--framework", choices=FRAMEWORKS)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.2, help="a round takes at least this long")
    options = parser.parse_args()

    if options.list or options.describe:
        for case in (PYTHON_CASES if options.python else GPU_CASES if options.gpu else CASES).values():
            described = {"case": case.name, "work": case.work, "flops": case.flops, "bytes": case.bytes}
            print(json.dumps(described) if options.describe else case.name)
        return 0
    if options.framework is None:
        parser.error("--framework is needed")

    # Whatever a framework prints goes to stderr: stdout carries the protocol alone.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server(options.framework, options.device, options.threads, options.seconds, out)
    if not server.start():
        return 0
    if options.case is not None:
        server.answer(options.case, options.rounds)
        return 0
    server.hello()
    for line in sys.stdin:
        words = line.split()
        if words:
            server.answer(words[0], int(words[1]) if len(words) > 1 else 1)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
