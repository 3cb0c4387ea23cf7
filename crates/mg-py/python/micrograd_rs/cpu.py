"""The processor, under the names that PyTorch has for devices."""

from __future__ import annotations

from typing import Any

from ._names import Lazy as _Lazy

__all__ = ["current_device", "device_count", "is_available", "is_initialized", "set_device", "synchronize"]

__getattr__ = _Lazy(__name__)


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
