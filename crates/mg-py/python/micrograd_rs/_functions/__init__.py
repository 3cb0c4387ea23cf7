"""Functions that PyTorch has at its top beside those of its modules, and that are written here: each file has those of a subject."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PARTS = ("counts", "images", "layers", "losses", "making", "matrices", "methods", "recurrent", "symbols")


def __getattr__(name: str) -> Any:
    # All of them stood here once, and pickles of that time name this module.
    from importlib import import_module

    if name not in _PARTS and not name.startswith("__"):
        for part in _PARTS:
            found = vars(import_module(f"{__name__}.{part}")).get(name)
            if getattr(found, "__module__", "") == f"{__name__}.{part}":
                return found
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
