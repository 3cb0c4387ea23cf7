"""Programs whose memory NumPy is given on the way: that changes nothing in what they compute.

A program runs with the library alone, twice. Between its lines some tensors' memory is given to NumPy, by whatever way there is, and some
tensors are made of NumPy's: once of the memory itself, once of copies. Nobody writes there but the program, by way of tensors.
"""

from __future__ import annotations

import random
import re

from .check import Checker
from .compare import Difference, differs, readable
from .intended.readings import out_of_range
from .interrupts import one_by_one
from .program import Program, code, targets
from .run import Library, execute, read_all

#: Lines that share memory themselves.
WITHOUT = r"numpy|np\."
#: How a tensor's memory is given to NumPy.
GIVEN = ("{x}.numpy()", "{x}.numpy()", "np.from_dlpack({x})", "{x}[...].numpy()", "{x}.T.numpy()", "{x}.reshape(-1)[:1].numpy()", "np.asarray({x})")
MADE = re.compile(r"^(\w+) = L\.tensor\((\[.*\]), dtype=L\.(float(?:32|64)|int(?:8|16|32|64)|uint8)(, requires_grad=True)?\)$")
#: What has NumPy's arrays.
ARRAY = re.compile(r"s\d+")


def given(program: Program, library: Library) -> tuple[Program, Program]:
    """The program with memory given away between its lines, and with copies instead."""
    rng = random.Random(program.seed)
    names = library.names()
    shared: list[str] = []
    apart: list[str] = []

    def add(line: str, copied: str | None = None) -> None:
        try:
            exec(code(line), names)
            library.settle(line, names)
        except Exception:
            for name in targets(line):
                names.pop(name, None)
        shared.append(line)
        apart.append(copied or line)

    count = 0
    for line in program.lines:
        made = MADE.match(line)
        if made and rng.random() < 0.4:
            name, data, dtype, grad = made.groups()
            count += 1
            add(f"s{count} = np.array({data}, dtype=np.{dtype})")
            leaf = ".requires_grad_()" if grad else ""
            line = f"{name} = L.from_numpy(s{count}){leaf}"
            add(line, f"{name} = L.from_numpy(s{count}).clone(){leaf}")
        else:
            add(line)
        known = [n for n, v in names.items() if isinstance(v, library.tensor) and "bfloat" not in str(v.dtype)]
        while known and rng.random() < 0.4:
            count += 1
            form = f"s{count} = " + rng.choice(GIVEN)
            x = rng.choice(known)
            add(form.format(x=f"{x}.detach()"), form.format(x=f"{x}.detach().clone()"))
    return program.with_lines(shared), program.with_lines(apart)


class Shared:
    """Checks programs, each beside itself."""

    def __init__(self) -> None:
        self.of = Checker("auto", WITHOUT)
        self.library = self.of.ours

    def check(self, program: Program, modes: tuple[str, ...]) -> tuple[str, Difference] | None:
        """The first mode in which the program differs, and in what."""
        for mode in modes:
            found = self._in(program, mode) if mode != "jit" or program.has_step else None
            if found is not None:
                return mode, found
        return None

    def _in(self, program: Program, mode: str) -> Difference | None:
        shared, apart = given(program, self.library)
        wanted, got = execute(apart, self.library, mode), execute(shared, self.library, mode)
        # Whoever has an array keeps it; what is in it is what was in the tensor once, of one of the two.
        arrays = [trace.names.pop(name) for trace in (wanted, got) for name in list(filter(ARRAY.fullmatch, trace.names))]
        for at, (was, now) in enumerate(zip(wanted.outcomes, got.outcomes)):
            if (was is None) != (now is None):
                if now is not None and "changed in place" in str(now):
                    # Here the memory itself is needed, which nobody has another copy of.
                    return None
                if was is not None and now is None and "changed in place" in str(was):
                    # What was computed within was kept, and with it the old numbers.
                    return None
                made = {name: wanted.names[name] for name in targets(shared.lines[at]) if name in wanted.names}
                if now is not None and (out_of_range(str(now)) or read_all(self.library, made)):
                    # Told of at the call, since what is on memory that others have is computed there.
                    return None
                return Difference("error" if was is None else "no error", shared.lines[at], f"{now}, want {was}")
        for name, value in list(wanted.names.items()):
            if isinstance(value, self.library.tensor) and not readable(value):
                # Neither is what was computed of it.
                wanted.names.pop(name), got.names.pop(name, None)
        found = differs(shared, wanted, got, self.library, self.library)
        del arrays
        return found


def shared(programs: int, seed: int, seconds: float | None = None) -> int:
    """So many programs; the status is 1 where one differs."""
    checker = Shared()

    def trial(seed: int) -> str | None:
        program = checker.of.generator.program(seed, ("tensors", "step"))
        found = checker.check(program, ("deferred", "eager", "jit"))
        return found and f"{found[0]}: {found[1]}\n{given(program, checker.library)[0]}"

    print(f"{programs} programs from seed {seed}, with memory that NumPy has", flush=True)
    return one_by_one(trial, programs, seed, seconds, "programs")
