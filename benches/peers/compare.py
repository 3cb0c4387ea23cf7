"""Ours and its peers side by side on a GPU, in one run; needs Python and NumPy, and no cargo.

    python3 compare.py --ours PROGRAM [--out FOLDER] [--only PATTERN,…] [--rounds N] [--budget SECONDS]

PROGRAM is the worker that `cargo bench --bench peers --no-run` builds. Writes gpu-NAME.json and gpu-NAME.md into the folder, after
every case anew, so that what was measured is there whatever happens. How it measures is in README.md beside this file.
"""

import argparse
import concurrent.futures
import datetime
import fnmatch
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import report
from cases import CURVES, GPU_CASES, Case
from worker import Refusal, Side, Worker

HERE = pathlib.Path(__file__).parent
PEERS = ("torch", "torch-compile", "torch-graph", "jax")
COMPILED = ("torch-compile", "jax")  # prepared alone: they choose kernels by timing them
PAUSE = 0.005  # seconds between rounds


def gpu() -> dict[str, str] | None:
    """What nvidia-smi says of the first GPU."""
    fields = "name,driver_version,memory.total,clocks.max.sm,clocks.max.mem"
    try:
        text = subprocess.run(
            ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return dict(zip(fields.split(","), (value.strip() for value in text.splitlines()[0].split(","))))


def machine() -> dict:
    processor = platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            processor = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"gpu": gpu(), "cpu": processor, "processors": os.cpu_count(), "os": platform.release().split("-")[0]}


def selected(only: list[str]) -> list[Case]:
    """The cases whose name contains one of these, or matches it where it has a '*'."""
    wanted = [pattern if "*" in pattern else f"*{pattern}*" for pattern in only] or ["*"]
    return [case for case in GPU_CASES.values() if any(fnmatch.fnmatchcase(case.name, pattern) for pattern in wanted)]


def takes_part(name: str, case: Case) -> bool:
    if name == "ours-cpu":
        return any(case.name in curve for curve in CURVES.values()) and case.parameters["n"] <= 2**26
    return name not in ("ours-jit", "torch-graph") or case.kind == "mlp"


def warm_up(frameworks: list[str], cases: list[Case], start, helpers: int):
    """Fills the compiler's cache, several cases at a time: what one compiles, the measured worker finds."""
    if "torch-compile" not in frameworks or not helpers:
        return
    mine = [case for case in cases if case.kind != "matmul"]

    def share(index: int):
        worker = start("torch-compile")
        for case in mine[index::helpers]:
            worker.prepare(case.name)
        worker.end()

    with concurrent.futures.ThreadPoolExecutor(helpers) as pool:
        list(pool.map(share, range(helpers)))


def measure(case: Case, workers: list[Worker], rounds: int) -> dict[str, Side]:
    """Everybody prepares, then rounds in turn."""
    workers = [worker for worker in workers if takes_part(worker.name, case)]
    together = [worker for worker in workers if worker.name not in COMPILED]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        sides = dict(zip((w.name for w in together), pool.map(lambda w: w.prepare(case.name), together)))
    sides.update((worker.name, worker.prepare(case.name)) for worker in workers if worker.name in COMPILED)
    for _ in range(rounds):
        for worker in workers:
            if sides[worker.name].refused is None:
                time.sleep(PAUSE)
                sides[worker.name] = worker.round(case.name, sides[worker.name])
    return {worker.name: sides[worker.name] for worker in workers}


def command(arguments: list[str]) -> str:
    """The command as it is recorded: without the paths, which mean nothing elsewhere."""
    before = ["", *arguments]
    words = ["PATH" if previous in ("--ours", "--source", "--out") else word for previous, word in zip(before, arguments)]
    return " ".join(["compare.py", *words])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="our worker")
    parser.add_argument("--frameworks", default=",".join(PEERS), help="the peers, separated by commas (%(default)s)")
    parser.add_argument("--only", default="", help="cases whose name contains this, or matches it where it has a '*'; several by commas")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.05, help="a round takes at least this long (%(default)s)")
    parser.add_argument("--budget", type=float, default=0, help="begin no case after so many seconds")
    parser.add_argument("--helpers", type=int, default=max(2, (os.cpu_count() or 2) * 2 // 3), help="processes that compile beforehand (%(default)s)")
    parser.add_argument("--device", default="cuda", choices=("cpu", "cuda"), help="cpu shows that everything runs")
    parser.add_argument("--source", type=pathlib.Path, help="a JSON file that says what ours was built from")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="the folder for the files")
    options = parser.parse_args()

    cases = selected([pattern for pattern in options.only.split(",") if pattern])
    if not cases:
        parser.error(f"no case matches {options.only}")
    found = machine()
    if options.device == "cuda" and found["gpu"] is None:
        print("skipped: no CUDA device")
        return 0
    began = time.monotonic()
    cache = tempfile.TemporaryDirectory()
    environment = {"TORCHINDUCTOR_CACHE_DIR": cache.name}

    def start(name: str) -> Worker:
        common = ["--serve", "--seconds", str(options.seconds)]
        ours = [str(pathlib.Path(options.ours).absolute())]
        threads = ["--threads", str(os.cpu_count() or 1)]
        commands = {
            "ours": [*ours, *common, *threads, "--device", options.device],
            "ours-jit": [*ours, *common, *threads, "--device", options.device, "--replay"],
            "ours-cpu": [*ours, *common, *threads, "--device", "cpu"],
        }
        peer = [sys.executable, "-B", str(HERE / "peer.py"), *common, "--device", options.device, "--framework", name]
        return Worker(name, commands.get(name, peer), environment)

    frameworks = [name for name in options.frameworks.split(",") if name]
    workers, left_out, versions = [], [], {}
    for worker in map(start, ["ours", "ours-jit", *frameworks, "ours-cpu"]):
        try:
            worker.start()
            versions[worker.name] = worker.hello.get("version", "")
            workers.append(worker)
        except Refusal as refusal:
            left_out.append(f"{worker.name}: {refusal.text}")
            print("left out:", left_out[-1], flush=True)
    if not any(worker.name == "ours" for worker in workers):
        return 1
    warm_up([worker.name for worker in workers], cases, start, options.helpers)
    print(f"ready after {time.monotonic() - began:.0f} s", flush=True)

    run = report.Run(
        command=command(sys.argv[1:]),
        date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        source=json.loads(options.source.read_text()) if options.source else {},
        machine=found,
        versions=versions,
        left_out=left_out,
        rounds=options.rounds,
        seconds=options.seconds,
        measured=[],
    )
    options.out.mkdir(parents=True, exist_ok=True)
    name = "-".join((found["gpu"] or {"name": "none"})["name"].lower().split())
    for case in cases:
        if options.budget and time.monotonic() - began > options.budget:
            left_out.append(f"{case.name}: the time was up")
            continue
        measured = report.Measured(case, measure(case, workers, options.rounds))
        print(report.line(measured), flush=True)
        run.measured.append(measured)
        report.write(run, options.out / f"gpu-{name}")
    for worker in workers:
        worker.end()
    report.write(run, options.out / f"gpu-{name}")
    print(f"{len(run.measured)} cases in {time.monotonic() - began:.0f} s; gpu-{name}.json and .md in {options.out}")
    return 1 if any(measured.failed for measured in run.measured) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
