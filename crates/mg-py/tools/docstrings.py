"""Says what the docstrings of public names lack: by room how many have none, no example, or no word of an argument.

    python tools/docstrings.py            counts
    python tools/docstrings.py --names    the names, too
    python tools/docstrings.py nn optim   of some rooms

The built package must be importable.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import sys
import types
from typing import Any

import micrograd_rs as mg

ROOMS = [
    "", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize", "optim", "optim.lr_scheduler", "optim.swa_utils",
    "autograd", "autograd.forward_ad", "autograd.functional", "autograd.graph", "amp", "func", "utils.data", "utils.checkpoint", "linalg", "special",
    "signal.windows", "distributions", "metrics", "kernels", "jit", "onnx", "onnx.ops", "profiler", "random", "serialization", "safetensors", "npz", "cuda", "testing",
    "tokenizers", "hub",
]  # fmt: skip
# Classes whose methods users call by name.
CLASSES = [
    "Tensor", "nn.Module", "optim.Optimizer", "optim.lr_scheduler.LRScheduler", "distributions.Distribution", "metrics.Metric", "amp.GradScaler",
    "utils.data.DataLoader", "Value", "Generator",
]  # fmt: skip
FUNCTIONS = (types.FunctionType, classmethod, staticmethod)
# Arguments that are the same everywhere.
PLAIN = {
    "self", "args", "kwargs", "input", "other", "out", "dtype", "device", "requires_grad", "layout", "pin_memory", "memory_format", "generator", "dim", "keepdim",
    "axis", "keepdims", "inplace",
}  # fmt: skip


def members(room: str) -> dict[str, Any]:
    """The public callables of a room that are its own: what another room has is counted there."""
    module = importlib.import_module(f"micrograd_rs.{room}".rstrip("."))
    names = {*getattr(module, "__all__", ()), *(dir(module) if not hasattr(module, "__all__") or not room else ())}
    found = {}
    for name in sorted(name for name in names if not name.startswith("_")):
        value = getattr(module, name, None)
        if callable(value) and not inspect.ismodule(value) and str(getattr(value, "__module__", "micrograd_rs")).startswith(("micrograd_rs", "None")):
            found[name] = value
    return found


def inside(place: str) -> dict[str, Any]:
    """The public names of a room, or of a class: of a tensor its attributes too, of others what is called."""
    if place not in CLASSES:
        return members(place)
    of = named(place, "")
    has = {name: getattr(of, name) for name in dir(of) if not name.startswith("_") and hasattr(of, name)}
    return {name: value for name, value in has.items() if of is mg.Tensor or callable(value)}


def arguments(value: Any) -> list[str]:
    """What a callable takes that is not the same everywhere. What is called on an enumeration is its members' matter."""
    if isinstance(value, enum.EnumMeta):
        return []
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in parameters if name not in PLAIN and not name.startswith("_")]


def explained(text: str | None) -> set[str]:
    """The arguments that a docstring's "Arguments:" has an entry for."""
    paragraphs = [part for part in inspect.cleandoc(text or "").split("\n\n") if part.startswith("Arguments:\n")]
    entries = re.findall(r"^    (\w[\w, ]*): \S", "\n".join(paragraphs), re.MULTILINE)
    return {name for entry in entries for name in entry.split(", ")}


def unexplained(value: Any) -> list[str]:
    """The arguments of a class or a function that its "Arguments:" has no entry for. A method without a docstring has that of the class that it is inherited from."""
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return []
    told = explained(value.__doc__ if inspect.isclass(value) else inspect.getdoc(value))
    return [name for name in parameters if name not in told and name not in ("self", "cls") and not name.startswith("_")]


def methods(kind: type) -> dict[str, Any]:
    """The public functions of a class that are written in Python here."""
    found = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_") and isinstance(inspect.getattr_static(kind, name), FUNCTIONS)}
    return {name: value for name, value in found.items() if str(inspect.unwrap(value).__module__).startswith("micrograd_rs")}


def named(name: str, room: str) -> Any:
    """What a docstring of a room means by a name: its own, one of the package, or a tensor's method."""
    for start in (importlib.import_module(f"micrograd_rs.{room}".rstrip(".")), mg, mg.Tensor):
        found = start
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None


def words(value: Any, room: str, hops: int = 2) -> str:
    """A docstring, and those that it refers to by "See `name`"."""
    text = inspect.getdoc(value) if not inspect.isclass(value) else value.__doc__
    if not isinstance(text, str):
        return ""
    others = [named(name, room) for name in re.findall(r"[Ss]ee `([\w.]+)`", text)] if hops else []
    return "\n".join([text, *(words(other, room, hops - 1) for other in others if other is not None and other is not value)])


def sections(value: Any) -> tuple[dict[str, str], list[str]]:
    """The arguments that a docstring lists, with what it says of each, and its paragraphs of errors."""
    text = inspect.getdoc(value) or ""
    told: dict[str, str] = {}
    for block in re.findall(r"^Arguments:\n((?:    .*\n?)+)", text, re.MULTILINE):
        for names, words in re.findall(r"^    (\S[^:(]*?)(?: \([^:]*\))?(?::|$)(.*(?:\n        .*)*)", block, re.MULTILINE):
            told.update((name.strip().lstrip("*"), " ".join(words.split())) for name in names.split(","))
    return told, [" ".join(found.split()) for found in re.findall(r"^Errors: ((?:.+\n?)+)", text, re.MULTILINE)]


def speechless(value: Any) -> list[str]:
    """What a docstring names and says nothing of: arguments that are listed by their types alone, errors without their exceptions."""
    told, errors = sections(value)
    bare = [name for name, words in told.items() if not words]
    return bare + [text for text in errors if not re.search(r"\b[A-Z]\w*(Error|Exception|Interrupt|Iteration|Warning)\b", text)]


def unlisted(value: Any) -> list[str]:
    """The parameters that a function's or a method's docstring does not list."""
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return []
    told, _ = sections(value)
    return [name for name in parameters if name not in told and name != "self" and not name.startswith("_")]


def lacks(value: Any, room: str = "") -> list[str]:
    """What a docstring lacks: an example may be that of one that it refers to, arguments are its own."""
    text = words(value, room)
    if not text:
        return ["docstring", "example", "arguments"]
    found = [] if ">>>" in text else ["example"]
    told = set(re.findall(r"\w+", words(value, room, hops=0)))
    if any(name not in told for name in arguments(value)):
        found.append("arguments")
    return found


def lacking(room: str) -> dict[str, list[str]]:
    """The names of a room, or of a class, by what their docstrings lack."""
    of = room.rpartition(".")[0] if room in CLASSES else room
    return {what: [name for name, value in inside(room).items() if what in lacks(value, of)] for what in ("docstring", "example", "arguments")}


def main() -> None:
    rooms = [a for a in sys.argv[1:] if not a.startswith("-")] or ROOMS
    print(f"{'room':31}{'names':>7}{'no docstring':>14}{'no example':>12}{'an argument missing':>21}")
    for room in [*rooms, *(CLASSES if rooms is ROOMS else [])]:
        counts, size = lacking(room), len(inside(room))
        print(f"{room or 'micrograd_rs':31}{size:7}" + "".join(f"{len(counts[what]):{w}}" for what, w in (("docstring", 14), ("example", 12), ("arguments", 21))))
        if "--names" in sys.argv:
            for what, names in counts.items():
                print(f"    no {what}: {', '.join(names)}")


if __name__ == "__main__":
    main()
