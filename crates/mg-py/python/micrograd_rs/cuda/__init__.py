"""CUDA devices under PyTorch's names. A device is named by a Device, by "cuda:1", or by its number; None is the default device
where that is a CUDA device, and the first otherwise.

All work of a device is done on one stream, so there are no streams to choose. `Device` has the same and more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import _micrograd_rs as _rs
from .._micrograd_rs import Device, Tensor, initial_seed, manual_seed, seed
from .._micrograd_rs import get_rng_state as _get_rng_state
from .._micrograd_rs import set_rng_state as _set_rng_state
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from . import amp

__all__ = [
    "DeviceProperties",
    "amp",
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_rng_state",
    "synchronize",
]


class DeviceProperties(NamedTuple):
    """What a device is: its product's name, its memory in bytes, its compute capability."""

    name: str
    total_memory: int
    major: int
    minor: int


def _device(device: Device | str | int | None) -> Device:
    if device is None:
        default = _rs.get_default_device()
        return default if default.is_cuda() else Device.cuda()
    if isinstance(device, int) and not isinstance(device, bool):
        if device < 0:
            raise ValueError(f"takes the number of a CUDA device, got {device}")
        return Device.cuda(device)
    if isinstance(device, str):
        device = Device(device)
    if not isinstance(device, Device):
        raise TypeError(f'takes a Device, "cuda", "cuda:N" or a number, got {device!r}')
    if not device.is_cuda():
        raise ValueError(f"takes a CUDA device, got {str(device)!r}")
    return Device.cuda(device.index or 0)


def is_available() -> bool:
    """Whether there is a CUDA device to use."""
    return Device.is_cuda_available()


def init() -> None:
    """Does nothing: a device is made ready when it is first used."""


def is_initialized() -> bool:
    """Whether a device could be used: each is made ready when it is first used."""
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current device computes in bf16: all that are taken do; without `including_emulation`, whether its own instructions do."""
    return is_available() and (including_emulation or get_device_capability() >= (8, 0))


def device_count() -> int:
    """The number of CUDA devices."""
    return Device.cuda_count()


def current_device() -> int:
    """The number of the CUDA device that None means."""
    return _device(None).index or 0


def get_device_name(device: Device | str | int | None = None) -> str:
    """The product's name."""
    return _device(device).name


def get_device_capability(device: Device | str | int | None = None) -> tuple[int, int]:
    """The compute capability, major and minor."""
    return _device(device).compute_capability() or (0, 0)


def get_device_properties(device: Device | str | int | None = None) -> DeviceProperties:
    """What the device is."""
    device = _device(device)
    return DeviceProperties(device.name, device.total_memory() or 0, *get_device_capability(device))


def synchronize(device: Device | str | int | None = None) -> None:
    """Waits until all work on the device is done, and tells what it failed with."""
    _device(device).synchronize()


def memory_stats(device: Device | str | int | None = None) -> dict[str, int]:
    """What the allocator holds, in bytes: active, cached, peak; and how often it handed out memory, and from its cache."""
    return _device(device).memory_stats()


def memory_allocated(device: Device | str | int | None = None) -> int:
    """Bytes in use by tensors."""
    return memory_stats(device)["active"]


def max_memory_allocated(device: Device | str | int | None = None) -> int:
    """The most bytes that were in use at once since the start, or since `reset_peak_memory_stats`."""
    return memory_stats(device)["peak"]


def memory_reserved(device: Device | str | int | None = None) -> int:
    """Bytes in use and kept for reuse."""
    stats = memory_stats(device)
    return stats["active"] + stats["cached"]


def reset_peak_memory_stats(device: Device | str | int | None = None) -> None:
    """Sets the peak to what is in use now."""
    _device(device).reset_peak()


def empty_cache() -> None:
    """Gives the memory that is kept for reuse back, on every device."""
    for i in range(device_count()):
        Device.cuda(i).empty_cache()


def manual_seed_all(seed: int) -> None:
    """Seeds the generator of random tensors, which all devices share."""
    manual_seed(seed)


def seed_all() -> None:
    """Seeds the generator of random tensors with a seed that nobody knows."""
    seed()


def get_rng_state(device: int | str | Device | None = None) -> Tensor:
    """The state of the generator of random tensors, which all devices share."""
    return _get_rng_state()


def set_rng_state(new_state: Tensor, device: int | str | Device | None = None) -> None:
    """Lets the generator of random tensors, which all devices share, go on from a state."""
    _set_rng_state(new_state)


__getattr__ = _Lazy(__name__, ("amp",))
