"""Optimisers, which change parameters by their gradients, and schedules of their learning rates."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._names import Lazy as _Lazy
from . import kinds, lr_scheduler
from .kinds import *
from .optimizer import Optimizer

if TYPE_CHECKING:
    from . import swa_utils

__all__ = ["Optimizer", "lr_scheduler", "swa_utils"]
__all__ += kinds.__all__



class _Part(ModuleType):
    """One of PyTorch's modules: it has what the package has."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules[__name__], name)


# `from micrograd_rs.optim.adamw import AdamW` finds it.
for _part in ("adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "lbfgs", "nadam", "radam", "rmsprop", "rprop", "sgd"):
    sys.modules[f"{__name__}.{_part}"] = globals()[_part] = _Part(f"{__name__}.{_part}", f"What `optim` has, as `torch.optim.{_part}` does.")

__getattr__ = _Lazy(__name__, ("swa_utils",))
