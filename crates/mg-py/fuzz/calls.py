"""Random calls of the public surface: whatever the arguments are, the answer is a result or an error that says what is wrong.

Calls come in blocks, each from a seed of its own with tensors of its own, so that one block shows again what it has shown. They
are made in another process: this one sees where it is, when it crashes and when it hangs.
"""

from __future__ import annotations

import inspect
import math
import os
import random
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .child import watched

#: Calls from one seed.
BLOCK = 250
#: A call that takes longer, in seconds, hangs.
LONGEST = 30
#: Tensors with more elements are not computed: who asks for that waits for it.
LARGEST = 10**5
#: Memory that the process may ask for.
MEMORY = 8 << 30

#: The process that calls.
CHILD = [sys.executable, "-m", "fuzz.calls"]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
    "RUST_BACKTRACE": "0",
}

#: What an error may be.
ERRORS = (
    ArithmeticError,
    AttributeError,
    BufferError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
)
#: Names that write files, change what all others do, or are of Python's own making.
NEVER = frozenset(
    """save_safetensors load_safetensors save load __class__ __init_subclass__ __subclasshook__ __new__ __init__ __getattribute__ __setattr__
    __delattr__ __dir__ __doc__ __module__ __dict__ __weakref__ __sizeof__ __reduce__ __reduce_ex__ __annotations__
    __class_getitem__ test main to_svg""".split()
)
INTEGERS = (0, 1, -1, 2, -2, 3, 4, 7, 8, 9, 64, 255, 256, -129, 2**31, -(2**31) - 1, 2**40, 2**62, 2**63 - 1, 2**63, -(2**63), 10**30)
FLOATS = (0.0, -0.0, 0.5, 1.0, -2.25, 1e-320, 1e308, 3.4e38, 65520.0, float("nan"), float("inf"), float("-inf"))
WORDS = ("", "mean", "sum", "none", "cpu", "cuda", "cuda:7", "cpu:1", "float32", "same", "tanh", "relu", "fan_in", "é", "\0", "a" * 300)


class Calls:
    """Draws calls and makes them."""

    def __init__(self, seed: int) -> None:
        import micrograd_rs as mg

        self.mg = mg
        self.rng = random.Random(seed)
        self.dtypes = [dtype for dtype in mg._micrograd_rs._DTYPES if not dtype.name.startswith("float8")]
        self.pool: list[Any] = []
        self.others: list[Any] = []
        for _ in range(12):
            self.keep(self.tensor())
        self.keep(mg.zeros(2, 0, dtype=mg.bool)[1])

    # Arguments.

    def shape(self) -> tuple[int, ...]:
        return tuple(self.rng.choices((0, 1, 2, 3, 5), (1, 3, 4, 3, 1))[0] for _ in range(self.rng.choice((0, 1, 1, 2, 2, 2, 3, 4))))

    def tensor(self) -> Any:
        rng, mg = self.rng, self.mg
        t = mg.tensor(0.5)
        shape = self.shape()
        n = int(np.prod(shape))
        values = [rng.choice((0.0, 1.0, -1.0, 2.0, 0.25, 3.0, float("nan"), float("inf"), -300.0)) for _ in range(n)]
        dtype = rng.choice(self.dtypes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            t = mg.tensor(np.array(values, dtype=np.float64).reshape(shape)).to(dtype)
        how = rng.random()
        if dtype.is_floating_point and how < 0.35:
            t = t.detach().requires_grad_()
            if how < 0.15:
                t = t * 2
        elif how < 0.5 and t.ndim > 1:
            t = t.mT
        elif how < 0.6 and t.ndim:
            t = t[..., 1:]
        elif how < 0.65:
            t = t.expand(2, *t.shape)
        elif how < 0.7:
            t = mg.from_numpy(np.array(values, dtype=np.float32).reshape(shape))
        return t

    def keep(self, value: Any) -> None:
        """Something that a call answered with is an argument of others."""
        if isinstance(value, self.mg.Tensor):
            if value.numel() > LARGEST or value.ndim > 8:
                return
            if len(self.pool) >= 24:
                self.pool[self.rng.randrange(len(self.pool))] = value
            else:
                self.pool.append(value)
        elif isinstance(value, (tuple, list)):
            for item in value[:4]:
                self.keep(item)
        elif type(value).__module__.startswith("micrograd_rs") and not isinstance(value, type):
            self.others = [*self.others[-10:], value]

    def array(self) -> Any:
        rng = self.rng
        dtype = rng.choice(("f4", "f8", "f2", "i8", "i4", "i2", "u1", "u8", "?", ">f4", "c8", "O", "U3", "M8[s]", "V4"))
        a = np.zeros(self.shape(), dtype)
        how = rng.random()
        return a.T if how < 0.2 else a[..., ::-1] if how < 0.4 and a.ndim else a[()] if how < 0.5 else a

    def number(self) -> Any:
        rng = self.rng
        if rng.random() < 0.6:
            return rng.choice(INTEGERS[:8])
        return rng.choice(INTEGERS) if rng.random() < 0.5 else rng.choice(FLOATS)

    def argument(self, depth: int = 0) -> Any:
        rng = self.rng
        how = rng.random()
        if how < 0.45 and self.pool:
            return rng.choice(self.pool)
        if how < 0.66:
            return self.number()
        if how < 0.72:
            return rng.choice((True, False, None))
        if how < 0.8:
            items = [self.number() for _ in range(rng.randrange(5))]
            return rng.choice((tuple, list))(items)
        if how < 0.84 and depth < 3:
            items = [self.argument(depth + 1) for _ in range(rng.randrange(4))]
            return rng.choice((tuple, list))(items)
        if how < 0.87:
            return rng.choice(self.dtypes)
        if how < 0.9:
            return slice(*(rng.choice((None, self.number())) for _ in range(3)))
        if how < 0.93:
            return self.array()
        if how < 0.96:
            return rng.choice(WORDS)
        if how < 0.97 and self.others:
            return rng.choice(self.others)
        return rng.choice(
            (..., 1j, b"ab", object(), {}, {"a": 1}, set(), range(3), lambda *a: a[0], np.float32(1), np.int64(-1), np.True_, int,
             self.mg, self.mg.Tensor, self.mg.device("cpu"), NotImplemented, iter(()), memoryview(b"abcd"), float, "0.5")
        )

    # What is called.

    def function(self) -> tuple[str, Callable[..., Any]]:
        rng, mg = self.rng, self.mg
        how = rng.random()
        if how < 0.6:
            owner: Any = rng.choice(self.pool)
            where = "tensor"
        elif how < 0.66 and self.others:
            owner = rng.choice(self.others)
            where = type(owner).__name__
        else:
            where = rng.choice(("", "functional", "nn", "nn.init", "nn.functional", "nn.utils", "linalg", "autograd", "optim",
                                "optim.lr_scheduler", "cuda", "data", "engine"))
            owner = mg
            for part in filter(None, where.split(".")):
                owner = getattr(owner, part, mg)
        names = PUBLIC.get(id(type(owner)) if where == "tensor" else id(owner))
        if names is None:
            names = self.names(owner)
            if where == "tensor":
                PUBLIC[id(type(owner))] = names
            elif owner not in self.others:
                PUBLIC[id(owner)] = names
        name = rng.choice(names)
        return f"{where}.{name}", getattr(owner, name)

    def names(self, owner: Any) -> list[str]:
        """Names that are the library's own, and can be called without changing what all others do."""
        known = [n for n in dir(owner) if n not in NEVER and not n.startswith("set_")]
        known = [n for n in known if not n.startswith("_") or n.startswith("__")]
        if not inspect.ismodule(owner):
            return known
        return [n for n in known if str(getattr(getattr(owner, n), "__module__", "")).startswith("micrograd_rs")]

    def fitting(self, name: str) -> Any:
        """An argument that its name lets expect, mostly."""
        rng = self.rng
        how = rng.random()
        if how < 0.2:
            return self.argument()
        integers = [t for t in self.pool if t.dtype in (self.mg.int64, self.mg.int32)]
        if any(word in name for word in ("dim", "axis", "axes", "source", "destination", "diagonal", "start")):
            axes = rng.sample(range(-3, 4), rng.randint(1, 3))
            return axes[0] if how < 0.8 else tuple(axes)
        if any(word in name for word in ("size", "shape", "repeats", "sizes", "features", "length", "end", "sections")):
            return self.shape() if how < 0.5 else rng.randint(-1, 5)
        if name in ("keepdim", "requires_grad", "unbiased", "largest", "descending", "bias", "inplace", "training", "retain_graph"):
            return rng.random() < 0.5
        if name == "dtype":
            return rng.choice(self.dtypes)
        if "index" in name or name in ("indices", "target", "key") and how < 0.6:
            return rng.choice(integers) if integers and how < 0.7 else rng.choice((0, -1, [0, 0], slice(None), None, ...))
        if name in ("mask", "condition"):
            return rng.choice(self.pool) > 0
        if name in ("p", "value", "fill_value", "alpha", "eps", "lr", "min", "max", "exponent", "n", "step", "steps", "negative_slope"):
            return rng.choice((self.number(), 0.5, 2, self.rng.choice(self.pool)))
        if name in ("params", "parameters", "tensors", "inputs", "outputs"):
            return rng.sample(self.pool, 2)
        return rng.choice(self.pool) if how < 0.9 else self.number()

    def arguments(self, function: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
        rng = self.rng
        args: list[Any] = []
        named: dict[str, Any] = {}
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        if parameters and rng.random() < 0.8:
            for p in parameters:
                if p.kind == p.VAR_POSITIONAL:
                    args += [self.fitting(p.name) for _ in range(rng.randrange(4))]
                elif p.kind == p.VAR_KEYWORD or (p.default is not p.empty and rng.random() < 0.6):
                    continue
                elif p.kind == p.KEYWORD_ONLY or named or (p.kind != p.POSITIONAL_ONLY and rng.random() < 0.1):
                    named[p.name] = self.fitting(p.name)
                elif len(args) == len([q for q in parameters[: parameters.index(p)]]):
                    args.append(self.fitting(p.name))
                else:
                    named[p.name] = self.fitting(p.name)
            return args, named
        args = [self.argument() for _ in range(rng.choices(range(6), (3, 6, 5, 3, 1, 1))[0])]
        if rng.random() < 0.2:
            known = [p.name for p in parameters if p.kind != p.POSITIONAL_ONLY] or ["dim", "keepdim", "dtype", "axis"]
            for name in rng.sample(known, min(len(known), rng.randint(1, 2))):
                named[name] = self.argument()
        return args, named

    def call(self) -> str | None:
        """One call; what is wrong with how it ended, if anything is."""
        text = "?"
        try:
            text, function = self.function()
            if not callable(function):
                self.keep(function)
                return None
            args, named = self.arguments(function)
            text = f"{text}({', '.join([*map(shown, args), *(f'{n}={shown(v)}' for n, v in named.items())])})"
            told(text)
            result = function(*args, **named)
            self.keep(result)
            if isinstance(result, self.mg.Tensor) and math.prod(max(n, 1) for n in result.shape) <= LARGEST:
                text += "; read"
                how = self.rng.random()
                if how < 0.5:
                    result.tolist()
                elif how < 0.6:
                    repr(result)
                elif how < 0.65 and result.requires_grad:
                    result.sum().backward()
        except ERRORS as error:
            if "internal error" in worded(error) or "panick" in worded(error):
                return f"{text}: {type(error).__name__}: {worded(error)}"
        except BaseException as error:
            return f"{text}: {type(error).__name__}: {worded(error)}"
        return None


def worded(error: BaseException) -> str:
    """What an error says. A key that is missing may be a tensor, which has no value to say."""
    try:
        return str(error)
    except ERRORS as other:
        return f"<{type(other).__name__}>"


#: Names of what was looked at already.
PUBLIC: dict[int, list[str]] = {}
#: Where the process tells what it does.
STATUS = -1


def told(text: str) -> None:
    if STATUS >= 0:
        os.pwrite(STATUS, text.encode("utf-8", "replace")[:900].ljust(900), 100)


def shown(value: Any) -> str:
    if type(value).__name__ == "Tensor":
        return f"<{value.dtype} {tuple(value.shape)}{' tracked' if value.requires_grad else ''}>"
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ", ".join(map(shown, value)) + ")"
    try:
        return repr(value)[:60].replace("\n", " ")
    except BaseException as error:
        return f"<{type(value).__name__}: {type(error).__name__}>"


def work(seed: int, blocks: int, status: str) -> int:
    """Blocks of calls, one after the other, in this process."""
    import resource

    global STATUS
    STATUS = os.open(status, os.O_RDWR)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(3000)
    for block in range(blocks):
        calls = Calls(seed + block)
        for at in range(BLOCK):
            os.pwrite(STATUS, f"{seed + block} {at}".ljust(100).encode(), 0)
            wrong = calls.call()
            if wrong is not None:
                print(f"block {seed + block}, call {at}: {wrong}", flush=True)
    os.pwrite(STATUS, b"done".ljust(100), 0)
    return 0


def calls(count: int, seed: int) -> int:
    """So many calls, in processes of their own; the status is 1 where something went wrong."""
    blocks = -(-count // BLOCK)
    print(f"{blocks * BLOCK} calls from seed {seed}", flush=True)
    found: dict[str, int] = {}

    def add(text: str) -> None:
        kind = re.sub(r"\d+", "0", re.sub(r"block \d+, call \d+: ", "", text))
        kind = re.sub(r"\(.*\)", "", kind)
        found[kind] = found.get(kind, 0) + 1
        if found[kind] == 1:
            print(text, flush=True)

    at, end = seed, seed + blocks
    while at < end:
        said, printed, how = watched([*CHILD, str(at), str(end - at)], ENVIRONMENT, 1000, LONGEST)
        where = said[:100].decode().strip("\0 ").split()
        last = said[100:].decode("utf-8", "replace").strip()
        lines = printed.splitlines()
        for line in lines:
            if line.startswith("block "):
                add(line)
        if where == ["done"]:
            break
        if not where:
            print(f"the process does not begin: {printed[-2000:]}")
            return 1
        add(f"block {where[0]}, call {where[1]}: {last}: {how}: {lines[-1] if lines else ''}")
        at = int(where[0]) + 1
    wrong = sum(found.values())
    print(f"{blocks * BLOCK} calls, {wrong} wrong", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(work(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
