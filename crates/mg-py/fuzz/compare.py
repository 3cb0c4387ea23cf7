"""What is compared when two libraries ran the same program."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import intended
from .intended.releases import FLAT
from .program import Program
from .run import BASIC, Library, Raised, Trace, odd
from .values import TOLERANCE, flat


@dataclass(frozen=True)
class Difference:
    """`what`: a short name of its class; `where`: a variable or a line."""

    what: str
    where: str
    detail: str
    #: The numbers, where it is numbers that differ.
    got: Any = field(default=None, compare=False)
    wanted: Any = field(default=None, compare=False)
    #: The line that raises, or does not.
    line: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.what} of {self.where}: {self.detail}"


@dataclass
class Seen:
    """A tensor as it looks from outside."""

    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    is_leaf: bool
    value: Any
    grad: Seen | None

    def __str__(self) -> str:
        return f"{self.value} {self.dtype}{list(self.shape)}"


def dtype_name(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def seen(t: Any, with_grad: bool = True) -> Seen:
    leaf = bool(t.is_leaf)
    grad = t.grad if with_grad and leaf else None
    return Seen(
        tuple(t.shape),
        dtype_name(t.dtype),
        bool(t.requires_grad),
        leaf,
        t.tolist(),
        None if grad is None else seen(grad, False),
    )


def parts(library: Library, names: dict[str, Any]) -> dict[str, Any]:
    """Every tensor, array and number of a program by a name: of lists, dictionaries and modules, what is inside."""
    found: dict[str, Any] = {}

    def add(name: str, value: Any) -> None:
        if isinstance(value, (library.tensor, np.ndarray, bool, int, float)):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            found[f"len({name})"] = len(value)
            for at, item in enumerate(value):
                add(f"{name}[{at}]", item)
        elif isinstance(value, dict) and "param_groups" not in value:
            for key in value:
                add(f"{name}[{key!r}]", value[key])
        elif hasattr(value, "named_parameters"):
            found[f"{name}.training"] = value.training
            for key, parameter in value.named_parameters():
                found[f"{name}.{key}"] = parameter
        elif value is None or isinstance(value, str):
            found[name] = value

    for name, value in names.items():
        if name not in BASIC:
            add(name, value)
    return found


def numbers(value: Any, of_gradient: bool) -> tuple[list[float], str]:
    """The numbers of a tensor, of its gradient, of an array, or a number; and their dtype."""
    if of_gradient:
        value = getattr(value, "grad", None)
    if value is None or not hasattr(value, "dtype"):
        return ([value] if isinstance(value, (int, float)) else []), "float32"
    return flat(value.tolist()), dtype_name(value.dtype)


#: Up to here sums of quarters' products are exact in any order.
EXACT_UP_TO = {"float64": 2.0**40, "float32": 2.0**12}
#: And they are multiples of this many-th parts.
FINE = 2.0**12


def same(a: Any, b: Any, dtype: str, program: Program) -> bool:
    """Whether nested lists of numbers are the same, as far as the dtype and the program promise it."""
    a, b = flat(a), flat(b)
    if len(a) != len(b):
        return False
    if dtype not in TOLERANCE:
        return a == b
    limit = tolerance(a, dtype, program)
    return all(alike(x, y, limit) for x, y in zip(a, b))


def alike(x: float, y: float, limit: float) -> bool:
    return x == y or (x != x and y != y) or abs(x - y) <= limit


def tolerance(values: list[float], dtype: str, program: Program) -> float:
    """How far numbers may be off those of the reference."""
    scale = max((abs(x) for x in values if math.isfinite(x)), default=0.0)
    limit = TOLERANCE.get(program.half or dtype, 0.0) * max(scale, 1.0)
    # A number that is no multiple of so much has been rounded all the same.
    if program.exact and scale <= EXACT_UP_TO.get(dtype, -1.0) and all(x * FINE % 1 == 0 for x in values if math.isfinite(x)):
        limit = 0.0
    return limit


def tensors_differ(a: Seen, b: Seen, program: Program, name: str) -> Difference | None:
    if a.shape != b.shape:
        return Difference("shape", name, f"{list(b.shape)}, want {list(a.shape)}")
    if a.dtype != b.dtype:
        return Difference("dtype", name, f"{b.dtype}, want {a.dtype}")
    if a.requires_grad != b.requires_grad:
        return Difference("requires_grad", name, f"{b.requires_grad}, want {a.requires_grad} of {list(a.shape)}")
    if a.is_leaf != b.is_leaf:
        return Difference("is_leaf", name, f"{b.is_leaf}, want {a.is_leaf}")
    if not same(a.value, b.value, a.dtype, program):
        return Difference("value", name, f"{b}, want {a}", b.value, a.value)
    if (a.grad is None) != (b.grad is None):
        return Difference("grad", name, f"{b.grad}, want {a.grad}")
    if a.grad is not None and b.grad is not None:
        inner = tensors_differ(a.grad, b.grad, program, name)
        if inner is not None:
            return Difference(f"grad's {inner.what}", name, inner.detail, inner.got, inner.wanted)
    return None


def values_differ(
    a: dict[str, Any], b: dict[str, Any], of_a: Library, of_b: Library, program: Program
) -> Difference | None:
    for name, wanted in a.items():
        if isinstance(wanted, of_a.tensor):
            if odd(wanted) or not readable(wanted):
                continue
        if name not in b:
            return Difference("absence", name, f"is not there, want {wanted}")
        got = b[name]
        if isinstance(wanted, of_a.tensor):
            if not isinstance(got, of_b.tensor):
                return Difference("type", name, f"{type(got).__name__}, want a tensor")
            try:
                there = seen(got)
            except Exception as error:
                return Difference("unreadable", name, f"{Raised(error)}, want {seen(wanted)}")
            found = tensors_differ(seen(wanted), there, program, name)
            if found is not None:
                return found
        elif isinstance(wanted, np.ndarray):
            got = np.asarray(got)
            if wanted.shape != got.shape or wanted.dtype != got.dtype:
                return Difference("array", name, f"{got.dtype}{got.shape}, want {wanted.dtype}{wanted.shape}")
            if not same(wanted.tolist(), got.tolist(), str(wanted.dtype), program):
                there, here = got.tolist(), wanted.tolist()
                return Difference("array", name, f"{there}, want {here}", there, here)
        elif hasattr(got, "requires_grad"):
            return Difference("number", name, f"a tensor, want {wanted!r}")
        elif isinstance(wanted, float):
            if not isinstance(got, float) or not same(wanted, got, "float32", program):
                return Difference("number", name, f"{got!r}, want {wanted!r}", got, wanted)
        elif type(wanted) is not type(got) or wanted != got:
            return Difference("number", name, f"{got!r}, want {wanted!r}")
    return None


def readable(t: Any) -> bool:
    """Whether whoever is compared with can read a tensor and its gradient: some of PyTorch's gradients have no memory, and we tell of
    a bad index where something is computed of it.
    """
    try:
        seen(t)
    except (RuntimeError, IndexError):
        return False
    return True


def can_mark(t: Any) -> bool:
    """Whether every element has a place of its own, so that all may be written."""
    return t.numel() > 0 and all(size <= 1 or stride != 0 for size, stride in zip(t.shape, t.stride()))


def mark(library: Library, found: dict[str, Any], order: list[str]) -> str | None:
    """Writes a number of its own into every tensor: afterwards, each tells with whom it shares memory."""
    with library.module.no_grad():
        for at, name in enumerate(order):
            try:
                found[name].fill_(at + 2)
            except Exception as error:
                return f"{name}.fill_({at + 2}) raises {Raised(error)}"
    return None


def sharing_differs(
    a: dict[str, Any], b: dict[str, Any], of_a: Library, of_b: Library, program: Program, reverse: bool
) -> Difference | None:
    order = [n for n, v in a.items() if isinstance(v, of_a.tensor) and can_mark(v)]
    if reverse:
        order.reverse()
    why = mark(of_a, a, order)
    if why is not None:
        # The reference does not let them be written.
        return None
    why = mark(of_b, b, order)
    if why is not None:
        return Difference("marking", why.split(".")[0], why)
    for name, wanted in a.items():
        if isinstance(wanted, of_a.tensor) and isinstance(b.get(name), of_b.tensor):
            left, right = wanted.tolist(), b[name].tolist()
        elif isinstance(wanted, np.ndarray):
            left, right = wanted.tolist(), np.asarray(b[name]).tolist()
        else:
            continue
        # What could not be marked is what it was, and may have been rounded.
        if not same(left, right, dtype_name(wanted.dtype), program):
            who = sorted({int(x) - 2 for x in flat(left) + flat(right) if x == x and 0 <= x - 2 < len(order)})
            involved = ", ".join(order[w] for w in who)
            return Difference("sharing", name, f"after a write to {involved}: {right}, want {left}", right, left)
    return None


#: The differences that were passed over, as they are intended, since somebody has emptied it.
PASSED: list[Difference] = []


def told(program: Program, at: int, outcomes: Sequence[Raised | None] = ()) -> str:
    """A line, and beneath it the function that it calls, whether a gradient was taken with its history, whether what it writes to was
    made by a softmax, whether a walk has failed before, whether PyTorch has no gradient of something up to there, whether `data` was
    written to, and whether there are inner products.
    """
    line = program.lines[at]
    called = [before for before in program.lines[:at] if before.startswith("def f(")] if " f(" in line else []
    graph = ["# after create_graph"] if any("create_graph" in before for before in program.lines[:at]) else []
    written = re.search(r"\b(\w+)\.\w+_\(", line)
    made = [before for before in program.lines[:at] if written and re.search(rf"(^|: ){written[1]} = ", before)]
    softmax = ["# of a softmax"] if made and re.search(r"softm(ax|in)\(", made[-1]) else []
    walks = (raised for before, raised in zip(program.lines[:at], outcomes) if re.search(r"backward\(|G\(|f\(", before))
    failed = ["# after a walk that failed"] if any(walks) else []
    flat = ["# after what PyTorch has no gradient of"] if any(map(FLAT.search, program.lines[: at + 1])) else []
    data = ["# after a write to data"] if any(re.search(r"\.data\b.*(_\(|=)", before) for before in program.lines[:at]) else []
    inner = ["# after an inner product"] if any(".inner(" in before for before in program.lines[:at]) else []
    return "\n".join([line, *called[-1:], *graph, *softmax, *failed, *flat, *data, *inner])


def differs(
    program: Program, reference: Trace, trace: Trace, of_a: Library, of_b: Library, sharing: bool = True
) -> Difference | None:
    """The first difference that is not intended. Writes to the variables of both."""
    with np.errstate(all="ignore"):
        return _differs(program, reference, trace, of_a, of_b, sharing)


def _differs(
    program: Program, reference: Trace, trace: Trace, of_a: Library, of_b: Library, sharing: bool
) -> Difference | None:
    for at, got in enumerate(trace.outcomes):
        if got is not None and "internal error" in str(got):
            return Difference("panic", program.lines[at].split("\n")[0], f"{got}")
    if trace.parted is not None:
        at = trace.parted
        wanted, got = reference.outcomes[at], trace.outcomes[at]
        line = program.lines[at]
        if got is not None and got.kind == "absent":
            return None
        if intended.outcome(told(program, at, reference.outcomes), wanted, got, of_a.name):
            return None
        if got is None:
            return Difference("no error", line.split("\n")[0], f"want {wanted}", line=line)
        return Difference("error", line.split("\n")[0], f"{got}", line=line)
    for at, (wanted, got) in enumerate(zip(reference.outcomes, trace.outcomes)):
        if wanted is not None and got is not None and wanted.kind != got.kind and got.kind != "absent":
            if not intended.kinds(told(program, at), wanted, got):
                return Difference("kind of error", program.lines[at].split("\n")[0], f"{got}, want {wanted}")
    a, b = parts(of_a, reference.names), parts(of_b, trace.names)
    found = values_differ(a, b, of_a, of_b, program)
    if found is None and sharing:
        found = sharing_differs(a, b, of_a, of_b, program, False) or sharing_differs(
            a, b, of_a, of_b, program, True
        )
    if found is not None and intended.difference(program, found, of_a.name):
        PASSED.append(found)
        return None
    return found
