"""What training needs beside a network: data, steps that are computed again instead of kept, and ways to see how it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from . import benchmark, checkpoint, checkpointer, data, dlpack, history, hooks, model_zoo, plot, progress, tensorboard

__all__ = ["benchmark", "checkpoint", "checkpointer", "data", "dlpack", "history", "hooks", "model_zoo", "plot", "progress", "tensorboard"]

__getattr__ = _Lazy(__name__, ("_foreach_utils", "_pytree", "benchmark", "checkpoint", "checkpointer", "data", "dlpack", "history", "hooks", "model_zoo", "plot", "progress", "tensorboard"))
