"""Optimisers, which change parameters by their gradients, and schedules of their learning rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._names import Lazy as _Lazy
from . import lr_scheduler
from .kinds import (
    ASGD,
    LBFGS,
    SGD,
    Adadelta,
    Adafactor,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lion,
    Muon,
    NAdam,
    RAdam,
    RMSprop,
    Rprop,
)
from .optimizer import Optimizer

if TYPE_CHECKING:
    from . import swa_utils

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]

__getattr__ = _Lazy(__name__, ("swa_utils",))
