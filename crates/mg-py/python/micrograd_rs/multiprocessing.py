"""Python's `multiprocessing`, under PyTorch's name: a tensor that is sent to another process is copied."""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # pyright: ignore[reportWildcardImportFromLibrary]

from ._names import Lazy as _Lazy

__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy"]
__all__ += _multiprocessing.__all__

_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """What `set_sharing_strategy` takes: "file_descriptor" and "file_system"."""
    return {"file_descriptor", "file_system"}


def set_sharing_strategy(new_strategy: str) -> None:
    """Says how processes would share tensors. They share none, so it changes nothing. ValueError for a word that
    `get_all_sharing_strategies` has not.
    """
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        raise ValueError(f"set_sharing_strategy: takes one of {', '.join(sorted(get_all_sharing_strategies()))}, got {new_strategy!r}")
    _strategy = new_strategy


def get_sharing_strategy() -> str:
    """What `set_sharing_strategy` said last."""
    return _strategy


__getattr__ = _Lazy(__name__)
