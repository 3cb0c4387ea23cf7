"""Which device is meant."""

from __future__ import annotations

from .. import _micrograd_rs as _rs
from .._micrograd_rs import Device


def device_of(device: Device | str | int | None) -> Device:
    """A CUDA device by its name or number; of None, the default device where that is one, else the first."""
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
