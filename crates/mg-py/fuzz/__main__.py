"""`python -m fuzz`: draws programs, compares, shrinks what differs."""

from __future__ import annotations

import argparse
import collections
import faulthandler
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# What panics is told of as a difference.
os.environ.setdefault("RUST_BACKTRACE", "0")

from .check import Checker, reference, signature
from .compare import Difference
from .generate import KINDS
from .program import Program, script
from .run import MODES


#: Seconds after which a program is taken for one that hangs.
HANGS_AFTER = 300


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None, help="of the first program; a fresh one where none is given")
    parser.add_argument("--mode", default="all", help=f"all, or some of {', '.join(MODES)}, with commas")
    parser.add_argument("--kind", default="all", help=f"all, or some of {', '.join(KINDS)}, with commas")
    parser.add_argument("--reference", default="auto", choices=("auto", "torch", "numpy"))
    parser.add_argument("--subject", default="micrograd_rs", choices=("micrograd_rs", "numpy"), help="who is checked")
    parser.add_argument("--without", help="draws no line that this regular expression finds something in")
    parser.add_argument("--coverage", action="store_true", help="lists what can be drawn and what cannot, and ends")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--most", type=int, default=10, help="stops after so many classes of differences")
    parser.add_argument("--each", type=int, default=1, help="shows so many programs of a class")
    parser.add_argument("--jobs", type=int, default=1, help="processes beside each other")
    parser.add_argument("--dismissed", action="store_true", help="shows what differs where the reference is no measure")
    parser.add_argument("--out", help="a folder for the smallest programs, as scripts")
    parser.add_argument("--interrupts", type=int, default=0, help="instead of programs: so many trainings, interrupted")
    parser.add_argument("--failures", type=int, default=0, help="instead of programs: so many trainings, of which a step fails")
    parser.add_argument("--seconds", type=float, help="of programs, interrupts and failures: stops after so long, with what was done till then")
    parser.add_argument("--device", help="where our tensors are made; the default device unless told otherwise")
    parser.add_argument("--shared", type=int, default=0, help="instead of programs beside a reference: so many whose memory NumPy is given")
    parser.add_argument("--calls", type=int, default=0, help="instead of programs: so many calls with random arguments")
    parser.add_argument("--files", type=int, default=0, help="instead of programs: so many damaged files of every format that is read")
    options = parser.parse_args()

    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    if options.device:
        import micrograd_rs

        micrograd_rs.set_default_device(options.device)
    if options.failures:
        from .interrupts import failures

        return failures(options.failures, seed, options.seconds)
    if options.interrupts:
        from .interrupts import interrupts

        return interrupts(options.interrupts, seed, options.seconds)
    if options.shared:
        from .shared import shared

        return shared(options.shared, seed, options.seconds)
    if options.calls:
        from .calls import calls

        return calls(options.calls, seed)
    if options.files:
        from .files import files

        return files(options.files, seed, options.seconds)
    if options.jobs > 1:
        return in_processes(options, seed)
    subject = None if options.subject == "micrograd_rs" else reference(options.subject)
    checker = Checker(options.reference, options.without, subject)
    if options.coverage:
        print(checker.coverage())
        return 0
    modes = MODES if options.mode == "all" else tuple(options.mode.split(","))
    kinds = KINDS if options.kind == "all" else tuple(options.kind.split(","))
    print(f"{options.programs} programs from seed {seed}, compared with {checker.reference.name}", flush=True)
    classes: collections.Counter[str] = collections.Counter()
    differing = 0
    start = time.monotonic()
    shrinking = 0.0
    done = 0
    right: list[Program] = []
    watch = tempfile.NamedTemporaryFile("w", prefix="fuzz-", suffix=".hang", delete=False)
    for at in range(options.programs):
        # A program that hangs may hold whatever threads wait for: this needs none of it.
        watch.seek(0)
        watch.write(f"seed {seed + at:<20}\n")
        watch.flush()
        faulthandler.dump_traceback_later(HANGS_AFTER, exit=True, file=watch)
        if options.seconds is not None and time.monotonic() - start > options.seconds:
            print(f"\nstopped after {options.seconds:.0f} seconds")
            break
        program = checker.generator.program(seed + at, kinds)
        found = checker.check(program, modes)
        done += 1
        if found is None:
            if "threads" in modes:
                right.append(program)
            if len(right) == 2:
                beside = checker.check_together(right)
                if beside is not None:
                    differing += 1
                    classes[f"threads: {signature(beside[1])}"] += 1
                    print(f"\n--- seeds {right[0].seed} and {right[1].seed} at once, of {beside[0].seed}: {beside[1]}")
                    print("\n\n".join(checker.show(p) for p in right), flush=True)
                right = []
            continue
        differing += 1
        mode, difference = found
        began = time.monotonic()
        if not options.no_shrink:
            program = checker.smallest(program, mode, difference)
            found = checker.check(program, (mode,))
            difference = found[1] if found else difference
        shrinking += time.monotonic() - began
        name = checker.class_of(program, mode, difference)
        classes[name] += 1
        if classes[name] <= options.each:
            print(f"\n--- seed {seed + at}, {mode}: {difference}")
            print(checker.show(program), flush=True)
            if options.out:
                keep(Path(options.out), f"{seed + at}-{mode}.py", program, checker, difference)
        if len(classes) >= options.most:
            print(f"\nstopped after {options.most} classes")
            break
    faulthandler.cancel_dump_traceback_later()
    watch.close()
    Path(watch.name).unlink()
    took = time.monotonic() - start - shrinking
    print(f"\n{done} programs, {differing} differ, {done / max(took, 1e-9):.0f} programs a second")
    for name, n in classes.most_common():
        print(f"{n:6} {name}")
    if checker.dismissed:
        print("where the reference is no measure:")
    for reason, told in checker.dismissed.items():
        print(f"{len(told):6} {reason}")
        if options.dismissed:
            print("\n".join(f"       {one[:200]}" for one in told))
    return 1 if differing else 0


def keep(folder: Path, name: str, program: Program, checker: Checker, difference: Difference) -> None:
    """Writes a program as a script that both libraries run."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = (difference.where,) if difference.where.isidentifier() else ()
    (folder / name).write_text(f"# {difference}\n" + script(program, checker.raising(program), shown))


def in_processes(options: argparse.Namespace, seed: int) -> int:
    """The programs in several processes; the status is that of the worst."""
    share = -(-options.programs // options.jobs)
    arguments = [word for word in sys.argv[1:]]
    jobs = []
    for job in range(options.jobs):
        own = ["--jobs", "1", "--seed", str(seed + job * share), "--programs", str(share)]
        jobs.append(subprocess.Popen([sys.executable, "-m", "fuzz", *arguments, *own]))
    return max(job.wait() for job in jobs)


sys.exit(main())
