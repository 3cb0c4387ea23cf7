"""The device that computes faster than the processor, whatever it is: a CUDA device here, where there is one.

>>> import micrograd_rs as mg
>>> device = mg.accelerator.current_accelerator().type if mg.accelerator.is_available() else "cpu"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import cuda as _cuda
from ._micrograd_rs import Device
from ._names import Lazy as _Lazy

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]

__getattr__ = _Lazy(__name__)

is_available = _cuda.is_available
device_count = _cuda.device_count
current_device_index = current_device_idx = _cuda.current_device
set_device_index = set_device_idx = _cuda.set_device
current_stream = _cuda.current_stream
set_stream = _cuda.set_stream
synchronize = _cuda.synchronize
empty_cache = _cuda.empty_cache
get_memory_info = _cuda.mem_get_info
memory_stats = _cuda.memory_stats
memory_allocated = _cuda.memory_allocated
memory_reserved = _cuda.memory_reserved
max_memory_allocated = _cuda.max_memory_allocated
max_memory_reserved = _cuda.max_memory_reserved
reset_peak_memory_stats = _cuda.reset_peak_memory_stats


def current_accelerator(check_available: bool = False) -> Device | None:
    """A CUDA device, by its kind; None where there is none."""
    return Device("cuda") if is_available() else None


class device_index:
    """A block in which "cuda" is a device: the first, as it is (see `cuda.set_device`)."""

    def __init__(self, device: int | None) -> None:
        self._of = _cuda.device(device)

    def __enter__(self) -> Self:
        self._of.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._of.__exit__(*error)
