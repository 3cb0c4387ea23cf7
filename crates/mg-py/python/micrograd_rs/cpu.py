"""The processor, under the names that PyTorch has for devices."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from ._micrograd_rs import bfloat16
from ._names import Lazy as _Lazy
from .amp.of_device import AutocastOf as _AutocastOf
from .amp.of_device import GradScalerOf as _GradScalerOf

__all__ = ["Stream", "amp", "current_device", "current_stream", "device_count", "is_available", "is_initialized", "set_device", "stream", "synchronize"]

__getattr__ = _Lazy(__name__)


class Stream:
    """What a program asks for in turn: there is one."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Has no effect: there is one."""


_stream = Stream()


def current_stream(device: Any = None) -> Stream:
    """The one that there is."""
    return _stream


def stream(stream: Any) -> AbstractContextManager[None]:
    """A block in which nothing is otherwise."""
    return nullcontext()


class _Autocast(_AutocastOf):
    """`amp.autocast("cpu")`."""

    _type, _lower = "cpu", bfloat16


class _GradScaler(_GradScalerOf):
    """`amp.GradScaler("cpu")`."""

    _type = "cpu"


# `from micrograd_rs.cpu.amp import autocast` finds it.
amp: Any = ModuleType(f"{__name__}.amp", "`micrograd_rs.amp` for the processor, under the names that PyTorch had for it first.")
amp.autocast, amp.GradScaler = _Autocast, _GradScaler
_Autocast.__name__ = _Autocast.__qualname__ = "autocast"
_GradScaler.__name__ = _GradScaler.__qualname__ = "GradScaler"
# Where what was pickled is looked for.
_Autocast.__module__ = _GradScaler.__module__ = amp.__name__
sys.modules[f"{__name__}.amp"] = amp


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """One, whatever it is made of."""
    return 1


def current_device() -> str:
    """ "cpu"."""
    return "cpu"


def set_device(device: Any) -> None:
    """Has no effect: there is one."""


def synchronize(device: Any = None) -> None:
    """Has no effect: what the processor was asked for is done when the call returns."""
