"""What the CUDA driver tells of a device beside what the engine asks it: free memory, numbers of units."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from .._micrograd_rs import Device

# CUdevice_attribute, by cuda.h.
ATTRIBUTES = {
    "max_threads_per_block": 1,
    "shared_memory_per_block": 8,
    "warp_size": 10,
    "clock_rate": 13,
    "multi_processor_count": 16,
    "is_integrated": 18,
    "memory_clock_rate": 36,
    "memory_bus_width": 37,
    "L2_cache_size": 38,
    "max_threads_per_multi_processor": 39,
    "shared_memory_per_multiprocessor": 81,
    "regs_per_multiprocessor": 82,
    "is_multi_gpu_board": 84,
    "shared_memory_per_block_optin": 97,
}


def _library() -> Any:
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise RuntimeError(f"the CUDA driver's library ({name}) is not on this machine: {error}") from None


def _call(library: Any, function: str, *args: Any) -> None:
    code = getattr(library, function)(*args)
    if code:
        raise RuntimeError(f"{function}: the CUDA driver answers with error {code}")


def _handle(library: Any, device: Device) -> ctypes.c_int:
    _call(library, "cuInit", ctypes.c_uint(0))
    handle = ctypes.c_int()
    _call(library, "cuDeviceGet", ctypes.byref(handle), ctypes.c_int(device.index or 0))
    return handle


def attributes(device: Device) -> dict[str, int]:
    """What `ATTRIBUTES` names."""
    library = _library()
    handle = _handle(library, device)
    found: dict[str, int] = {}
    for name, number in ATTRIBUTES.items():
        value = ctypes.c_int()
        _call(library, "cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(number), handle)
        found[name] = value.value
    return found


def memory(device: Device) -> tuple[int, int]:
    """Bytes that are free, and all of them."""
    library = _library()
    handle = _handle(library, device)
    context, none = ctypes.c_void_p(), ctypes.c_void_p()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    # The context that the engine uses, which stays what it is; this thread's own is put back.
    _call(library, "cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    try:
        _call(library, "cuCtxPushCurrent_v2", context)
        try:
            _call(library, "cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        finally:
            _call(library, "cuCtxPopCurrent_v2", ctypes.byref(none))
    finally:
        _call(library, "cuDevicePrimaryCtxRelease_v2", handle)
    return free.value, total.value


def reaches(device: Device, other: Device) -> bool:
    """Whether a device reads another one's memory by itself."""
    library = _library()
    first, second, answer = _handle(library, device), _handle(library, other), ctypes.c_int()
    _call(library, "cuDeviceCanAccessPeer", ctypes.byref(answer), first, second)
    return bool(answer.value)


def version() -> str:
    """The version of CUDA that the driver speaks: "13.0"."""
    number = ctypes.c_int()
    _call(_library(), "cuDriverGetVersion", ctypes.byref(number))
    return f"{number.value // 1000}.{number.value % 1000 // 10}"
