"""Optimisers, which change parameters by their gradients, and schedules of their learning rates."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._names import Lazy as _Lazy
from .._words import share_words as _share_words
from . import kinds, lr_scheduler
from .kinds import *
from .optimizer import Optimizer

if TYPE_CHECKING:
    from . import swa_utils

__all__ = ["Optimizer", "lr_scheduler", "swa_utils"]
__all__ += kinds.__all__

_share_words(
    [globals()[name] for name in kinds.__all__],
    """
    Arguments:
        params: the parameters: tensors, pairs of names and tensors as `named_parameters()` has them, or dictionaries with a list of either under "params" and
            with options of their own
        lr: the learning rate, which a step is multiplied by, at least 0: a number, or a tensor of one element
        weight_decay: how much of a parameter is added to its gradient, at least 0
        maximize: whether steps go up the gradient, rather than down
        foreach: of no effect: a step is one program for all parameters
        fused: of no effect: a step is one program for all parameters
        capturable: of no effect: `jit` records steps as they are
        differentiable: False: steps cannot be differentiated

    Errors: ArgumentError for numbers that make no sense, such as a negative `lr`, and for a parameter that is the result of an operation or is given twice;
    ValueError for no parameters, and for `differentiable`; TypeError for what is no tensor.
    """,
)
_share_words([getattr(lr_scheduler, name) for name in lr_scheduler.__all__], "")


class _Part(ModuleType):
    """One of PyTorch's modules: it has what the package has."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules[__name__], name)


# `from micrograd_rs.optim.adamw import AdamW` finds it.
_PARTS = ("adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "lbfgs", "nadam", "radam", "rmsprop", "rprop", "sgd")
for _part in _PARTS:
    sys.modules[f"{__name__}.{_part}"] = globals()[_part] = _Part(f"{__name__}.{_part}", f"What `optim` has, as `torch.optim.{_part}` does.")

__getattr__ = _Lazy(__name__, ("swa_utils",))


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS, "__all__", "__doc__", "__file__", "__name__", "__path__", "__spec__"})
