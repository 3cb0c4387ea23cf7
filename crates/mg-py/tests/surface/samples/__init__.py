"""Samples of calls, a module for each family.

Each module has `SAMPLES`: the operation's name, and expressions that call it. An expression knows `L` (the library), `F` (its
`nn.functional`) and the tensors of `inputs.py`. Its first expression is also run with operands of every dtype. Instead of an expression
there may be a dictionary: `call`, and where they differ from what is usual, `torch` (how PyTorch spells it), `order` (of the gradients that are
compared: 2), `dtypes` (whether every dtype is tried), `rtol`, `error` (whether PyTorch refuses). `INTENDED` names what is meant to
differ, with its reason: `operation:dtype`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path


def families() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")


def module(family: str):
    return import_module(f"{__name__}.{family}")


def of(family: str) -> dict[str, list[dict]]:
    found = {}
    for name, expressions in module(family).SAMPLES.items():
        found[name] = []
        for number, sample in enumerate([expressions] if isinstance(expressions, str) else expressions):
            sample = {"call": sample} if isinstance(sample, str) else dict(sample)
            usual = {"torch": sample["call"], "order": 2, "dtypes": number == 0, "rtol": 1e-7, "error": False}
            found[name].append({**usual, **sample})
    return found
