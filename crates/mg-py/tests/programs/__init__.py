"""Ordinary programs, as users of PyTorch write them, and how they are run: with PyTorch, or with its name standing for this library."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("__init__", "given"))


def ported(source: str) -> str:
    """The program with its imports changed, and nothing else."""
    source = re.sub(r"^import torch((?:\.\w+)*) as ", r"import micrograd_rs\1 as ", source, flags=re.M)
    source = re.sub(r"^import torch(?:\.\w+)*$", "import micrograd_rs as torch", source, flags=re.M)
    return re.sub(r"^(\s*)from torch((?:\.\w+)*) import ", r"\1from micrograd_rs\2 import ", source, flags=re.M)


def run(name: str, port: bool) -> list[float]:
    """What the program's `main` answers: losses, and other numbers that tell whether it did the same."""
    path = HERE / f"{name}.py"
    source = path.read_text()
    code = compile(ported(source) if port else source, str(path), "exec")
    module = type(sys)(f"programs_{name}{'_ported' if port else ''}")
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(HERE))
    try:
        exec(code, module.__dict__)
        return [float(x) for x in module.main()]
    finally:
        sys.path.remove(str(HERE))
        del sys.modules[module.__name__]
