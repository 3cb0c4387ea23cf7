"""The processor, under the names that PyTorch has for devices."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from . import amp as _amp
from ._micrograd_rs import bfloat16
from ._micrograd_rs import dtype as _DType
from ._names import Lazy as _Lazy

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


class _Autocast(_amp.autocast):
    """`amp.autocast("cpu")`."""

    def __init__(self, enabled: bool = True, dtype: _DType = bfloat16, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class _GradScaler(_amp.GradScaler):
    """`amp.GradScaler("cpu")`."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


# `from micrograd_rs.cpu.amp import autocast` finds it.
amp: Any = ModuleType(f"{__name__}.amp", "`micrograd_rs.amp` for the processor, under the names that PyTorch had for it first.")
amp.autocast, amp.GradScaler = _Autocast, _GradScaler
_Autocast.__name__ = _Autocast.__qualname__ = "autocast"
_GradScaler.__name__ = _GradScaler.__qualname__ = "GradScaler"
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
