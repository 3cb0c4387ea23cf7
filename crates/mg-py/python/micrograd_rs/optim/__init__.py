"""Optimisers, which change parameters by their gradients, and schedules of their learning rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._names import Lazy as _Lazy
from . import kinds, lr_scheduler
from .kinds import *
from .optimizer import Optimizer

if TYPE_CHECKING:
    from . import swa_utils

__all__ = ["Optimizer", "lr_scheduler", "swa_utils"]
__all__ += kinds.__all__

__getattr__ = _Lazy(__name__, ("swa_utils",))
