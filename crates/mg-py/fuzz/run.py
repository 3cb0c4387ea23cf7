"""Running programs: one library, one mode, one trace."""

from __future__ import annotations

import copy
import random
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .program import Program, bound, code, targets

MODES = ("deferred", "eager", "mixed", "jit", "threads")


@dataclass
class Library:
    """What a program's `L` is. `name` is that of the module."""

    name: str
    module: Any
    tensor: type
    functional: Any
    #: Whether results are given our order in memory.
    settles: bool = True

    @property
    def linalg(self) -> Any:
        return getattr(self.module, "linalg", None)

    @property
    def special(self) -> Any:
        return getattr(self.module, "special", None)

    def names(self, step: Callable[[Any], Any] | None = None) -> dict[str, Any]:
        """The variables that a program begins with."""
        return {
            "L": self.module,
            "F": self.functional,
            "J": step or (lambda function: function),
            "G": self.gradients,
            "W": self.known,
            "np": np,
            "copy": copy,
        }

    def known(self, module: Any) -> Any:
        """A module with known numbers for parameters."""
        with self.module.no_grad():
            for parameter in module.parameters():
                n = parameter.numel()
                parameter.copy_(self.module.tensor([(k * 7 % 9 - 4) / 4 for k in range(n)]).reshape(parameter.shape))
        return module

    def settle(self, line: str, names: dict[str, Any]) -> None:
        """Gives results the order in memory that ours have: PyTorch's follow their operands, and `reshape` follows that."""
        if self.name != "torch" or not self.settles:
            return
        for name in bound(line):
            t = names.get(name)
            if isinstance(t, self.tensor) and t._base is None and not t.is_contiguous() and not odd(t) and not (t.is_leaf and t.grad is not None):
                place = t.untyped_storage().data_ptr()
                others = [v for n, v in names.items() if n != name and isinstance(v, self.tensor)]
                # A gradient is its leaf's, too.
                others += [v.grad for v in others if not odd(v) and v.is_leaf and v.grad is not None]
                if all(v is not t and v.untyped_storage().data_ptr() != place for v in others):
                    names[name] = t.detach().contiguous().requires_grad_(t.requires_grad) if t.is_leaf else t.contiguous()

    def late_leaf(self, names: dict[str, Any], leaves: dict[int, Any]) -> bool:
        """Whether a tensor of which there are views became a leaf: PyTorch says of some that they require a gradient then. Or
        whether a view that was a leaf is none any more, since what it is a view of was written to. `leaves` knows such views.
        """
        if self.name != "torch":
            return False
        made = list(self.tensors(names))
        leaves.update((id(t), t) for t in made if t._base is not None and not odd(t) and t.is_leaf and t.requires_grad)
        if any(odd(t) or not t.is_leaf for t in leaves.values()):
            return True
        return any(t.is_leaf and t.requires_grad and any(v._base is t for v in made) for t in made if not odd(t))

    def tensors(self, value: Any) -> Iterator[Any]:
        """Tensors, also those inside of lists and the like."""
        if isinstance(value, self.tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from self.tensors(item)
        elif isinstance(value, dict):
            for name, item in value.items():
                if name not in BASIC:
                    yield from self.tensors(item)
        elif hasattr(value, "named_parameters"):
            yield from value.parameters()

    def kept_gradients(self, names: dict[str, Any]) -> Callable[[], bool]:
        """Keeps the gradients that there are, and answers with what puts them back, if it can: PyTorch's `backward` that fails has added to
        some already, ours to none.
        """
        leaves = {id(t): t for t in self.tensors(names) if not odd(t) and t.is_leaf and t.requires_grad}
        kept = [(t, t.grad, None if t.grad is None else t.grad.detach().clone()) for t in leaves.values()]

        def restore() -> bool:
            for leaf, grad, value in kept:
                try:
                    if leaf.grad is not grad:
                        leaf.grad = grad
                    if grad is not None:
                        grad.data.copy_(value)
                except RuntimeError:
                    # The leaf's data has another shape since; or its gradient is zeros without memory.
                    return False
            return True

        return restore

    def gradients(self, *args: Any, **options: Any) -> list[Any]:
        """`autograd.grad`, with memory of their own for all: PyTorch gives one to several, or one number to all elements."""
        return [g if g is None else g.clone() for g in self.module.autograd.grad(*args, **options)]


def ours() -> Library:
    import micrograd_rs as mg

    return Library("micrograd_rs", mg, mg.Tensor, mg.nn.functional)


def torch() -> Library:
    import torch

    # Threads of its own would only be in the way of ours: the tensors are tiny.
    torch.set_num_threads(1)
    # What it warns of is on purpose here: gradients of what is no leaf, deviations of one number.
    warnings.filterwarnings("ignore")
    return Library("torch", torch, torch.Tensor, torch.nn.functional)


BASIC = frozenset(("L", "F", "J", "G", "W", "np", "copy", "__builtins__", "__warningregistry__"))


@dataclass
class Raised:
    """An exception of a line."""

    error: BaseException
    late: bool = False

    @property
    def kind(self) -> str:
        """The kind, coarsely: libraries do not agree on more."""
        return kind(self.error)

    def __str__(self) -> str:
        text = str(self.error).split("\n")[0]
        return f"{type(self.error).__name__}: {text}"


def kind(error: BaseException) -> str:
    if isinstance(error, IndexError):
        return "index"
    if isinstance(error, TypeError):
        return "type"
    if isinstance(error, NameError):
        return "name"
    if isinstance(error, AttributeError):
        return "absent"
    if isinstance(error, (ValueError, RuntimeError)):
        return "value"
    return type(error).__name__


@dataclass
class Trace:
    """What became of a program: what each line raised, and the variables."""

    outcomes: list[Raised | None] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    #: A tensor is no measure of anything: see `odd`.
    void: bool = False
    #: The line at which it parted from what was expected.
    parted: int | None = None


def read_all(library: Library, names: dict[str, Any]) -> Raised | None:
    """Reads every tensor, and answers with the first failure."""
    for name, value in names.items():
        if name in BASIC:
            continue
        tensors = list(value.parameters()) if hasattr(value, "named_parameters") else [value]
        for t in tensors:
            if not isinstance(t, library.tensor):
                continue
            try:
                t.tolist()
                if t.is_leaf and t.grad is not None:
                    t.grad.tolist()
            except Exception as error:
                return Raised(error, late=True)
    return None


def execute(
    program: Program,
    library: Library,
    mode: str = "deferred",
    expected: list[Raised | None] | None = None,
) -> Trace:
    """Runs a program. With what the reference raised, stops where something else comes of a line."""
    with np.errstate(all="ignore"):
        return _execute(program, library, mode, expected)


def _execute(program: Program, library: Library, mode: str, expected: list[Raised | None] | None) -> Trace:
    trace = Trace(names=library.names(library.module.jit if mode == "jit" else None))
    names = trace.names
    rng = random.Random(program.seed)
    leaves: dict[int, Any] | None = {} if any("requires_grad_(" in line for line in program.lines) else None
    for at, line in enumerate(program.lines):
        raised = None
        restore = library.kept_gradients(names) if library.name == "torch" and "backward(" in line else None
        try:
            exec(code(line), names)
            if expected is None:
                library.settle(line, names)
                if leaves is not None:
                    trace.void |= library.late_leaf(names, leaves)
            if mode == "eager":
                for name in targets(line):
                    if isinstance(names.get(name), library.tensor):
                        names[name].tolist()
            elif mode == "mixed" and rng.random() < 0.3:
                known = [n for n, v in names.items() if isinstance(v, library.tensor)]
                if known:
                    read = rng.choice(known)
                    try:
                        names[read].tolist()
                    except Exception as error:
                        raised = Raised(error, late=True)
        except Exception as error:
            raised = Raised(error)
            if restore is not None:
                trace.void |= not restore()
        if expected is not None:
            wanted = expected[at]
            if wanted is not None and raised is None:
                # What depends on values may be found when they are computed, and no later than they are read.
                raised = read_all(library, names)
            if wanted is not None and raised is not None:
                for name in bound(line):
                    if raised.late or mode == "eager":
                        names.pop(name, None)
            if (wanted is None) != (raised is None):
                trace.outcomes.append(raised)
                trace.parted = at
                return trace
        elif raised is not None and (by_halves(line, raised) or within(line, raised)):
            trace.void = True
        elif raised is not None and "leaf Variable that requires grad" in str(raised):
            # A view whose base has come to require a gradient is taken for a leaf, until somebody looks.
            called = re.search(r"(\w+)\.\w+_\(", line)
            written = names.get(called[1] if called else re.split(r"\W", line.removeprefix("with L.no_grad(): "), maxsplit=1)[0])
            trace.void |= getattr(written, "_base", None) is not None and not written.is_leaf
            if "f(" in line:
                made = library.tensors(names)
                trace.void |= any(getattr(t, "_base", None) is not None and t._base.requires_grad for t in made)
        trace.outcomes.append(raised)
    if expected is None:
        trace.void |= any(isinstance(value, library.tensor) and odd(value) for value in names.values())
    return trace


def together(
    programs: list[Program], library: Library, expected: list[list[Raised | None]], times: int = 3
) -> list[list[Trace]]:
    """Runs programs at once, each in a thread of its own and several times."""
    traces: list[list[Trace]] = [[] for _ in programs]
    barrier = threading.Barrier(len(programs))

    def work(at: int) -> None:
        barrier.wait()
        for _ in range(times):
            traces[at].append(execute(programs[at], library, "mixed", expected[at]))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(at,)) for at in range(len(programs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return traces


def by_halves(line: str, raised: Raised) -> bool:
    """Whether a write at several places failed at one of them: the reference has written to those before it."""
    if raised.kind == "ZeroDivisionError" or "ZeroDivisionError" in str(raised):
        return re.search(r"\w_\(|//=|%=", line) is not None
    return raised.kind == "index" and re.search(r"\[.*(\[|L\.tensor).*\] .?= ", line) is not None


def within(line: str, raised: Raised) -> bool:
    """Whether a function failed that may have written to something, by values that are unknown until they are computed: a replay
    then has done nothing, a first run all that does not depend on them, and the reference what comes before.
    """
    return re.search(r"\bf\(", line) is not None and (raised.kind == "index" or "between 0 and 1" in str(raised))


def odd(t: Any) -> bool:
    """Whether the reference has given a tensor up, or says of one that it requires a gradient when nothing comes of it: of
    views that were made while nothing was recorded or before their base became a leaf, and of integers.
    """
    try:
        requires_grad, leaf = t.requires_grad, t.is_leaf
    except RuntimeError:
        return True
    if not requires_grad:
        return False
    if "float" not in str(t.dtype):
        return True
    return leaf and getattr(t, "_base", None) is not None and t._base.requires_grad
