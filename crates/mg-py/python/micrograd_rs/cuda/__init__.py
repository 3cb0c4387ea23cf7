"""CUDA devices under PyTorch's names. A device is named by a Device, by "cuda:1", or by its number; None is the default device
where that is a CUDA device, and the first otherwise.

All work of a device is done on one stream: streams are that one, and events are points in its work. `Device` has the same and more. Where there
is no such device, what asks whether there is one, or how much of its memory is used, answers so (False, 0); everything else is a RuntimeError.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _micrograd_rs as _rs
from .._micrograd_rs import Device, Tensor, initial_seed, manual_seed, seed
from .._micrograd_rs import get_rng_state as _get_rng_state
from .._micrograd_rs import set_rng_state as _set_rng_state
from .._names import Lazy as _Lazy
from ._devices import device_of as _device
from .streams import (
    CUDAGraph,
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    graph,
    make_graphed_callables,
    set_stream,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

    from .. import Generator
    from . import amp, memory, nvtx

__all__ = [
    "CUDAGraph",
    "DeviceProperties",
    "Event",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "amp",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "graph",
    "has_half",
    "has_magma",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "nvtx",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]


OutOfMemoryError = MemoryError
has_half = True
has_magma = False


@dataclass(frozen=True, repr=False)
class DeviceProperties:
    """What a device is: its product's name, its memory in bytes, its compute capability, and how much it has of what (sizes in bytes, rates in
    kHz, the bus in bits).

    See `get_device_properties`.

    Arguments:
        name, total_memory: what it is called, and how many bytes it has
        major, minor: its compute capability
        multi_processor_count, warp_size, max_threads_per_multi_processor, max_threads_per_block: how many threads it runs
        regs_per_multiprocessor, shared_memory_per_block, shared_memory_per_block_optin, shared_memory_per_multiprocessor, L2_cache_size: its fast memory
        clock_rate, memory_clock_rate, memory_bus_width: how fast it is, in kHz and bits
        is_integrated, is_multi_gpu_board: whether it shares the host's memory, and its board
    """

    name: str
    total_memory: int
    major: int
    minor: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_multi_processor: int
    max_threads_per_block: int
    regs_per_multiprocessor: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    L2_cache_size: int
    clock_rate: int
    memory_clock_rate: int
    memory_bus_width: int
    is_integrated: int
    is_multi_gpu_board: int

    def __repr__(self) -> str:
        return (
            f"DeviceProperties(name={self.name!r}, major={self.major}, minor={self.minor}, total_memory={self.total_memory >> 20}MB, "
            f"multi_processor_count={self.multi_processor_count}, L2_cache_size={self.L2_cache_size >> 20}MB)"
        )


def is_available() -> bool:
    """Whether there is a CUDA device to use.

    >>> device = "cuda" if mg.cuda.is_available() else "cpu"
    >>> mg.zeros(2, device=device).device.type == device
    True
    """
    return Device.is_cuda_available()


def init() -> None:
    """Does nothing: a device is made ready when it is first used.

    >>> mg.cuda.init()
    """


def is_initialized() -> bool:
    """Whether a device could be used: each is made ready when it is first used.

    >>> mg.cuda.is_initialized() == mg.cuda.is_available()
    True
    """
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current device computes in bf16: all that are taken do; without `including_emulation`, whether its own instructions do.

    >>> mg.cuda.is_bf16_supported() or not mg.cuda.is_available()
    True
    """
    return is_available() and (including_emulation or get_device_capability() >= (8, 0))


def device_count() -> int:
    """The number of CUDA devices.

    >>> mg.cuda.device_count() > 0 or not mg.cuda.is_available()
    True
    """
    return Device.cuda_count()


def current_device() -> int:
    """The number of the CUDA device that None means.

    >>> mg.cuda.current_device()  # doctest: +SKIP
    """
    return _device(None).index or 0


def get_device_name(device: Device | str | int | None = None) -> str:
    """The product's name.

    >>> mg.cuda.get_device_name()  # doctest: +SKIP
    """
    return _device(device).name


def get_device_capability(device: Device | str | int | None = None) -> tuple[int, int]:
    """The compute capability, major and minor.

    >>> mg.cuda.get_device_capability()  # doctest: +SKIP
    """
    return _device(device).compute_capability() or (0, 0)


def get_device_properties(device: Device | str | int | None = None) -> DeviceProperties:
    """What the device is.

    >>> mg.cuda.get_device_properties(0).total_memory  # doctest: +SKIP
    """
    from ._driver import attributes

    device = _device(device)
    return DeviceProperties(device.name, device.total_memory() or 0, *get_device_capability(device), **attributes(device))


def synchronize(device: Device | str | int | None = None) -> None:
    """Waits until all work on the device is done, and tells what it failed with.

    >>> mg.cuda.synchronize()  # doctest: +SKIP
    """
    _device(device).synchronize()


def memory_stats(device: Device | str | int | None = None) -> dict[str, int]:
    """What the allocator holds, in bytes: active, cached, peak; and how often it handed out memory, and from its cache. The first three also under
    PyTorch's names (`allocated_bytes.all.current`, …). Empty where there is no CUDA device.

    >>> mg.cuda.memory_stats().get("allocated_bytes.all.current", 0) == mg.cuda.memory_allocated()
    True
    """
    if not is_available():
        return {}
    stats = _device(device).memory_stats()
    for kind in ("allocated", "active"):
        stats[f"{kind}_bytes.all.current"], stats[f"{kind}_bytes.all.peak"] = stats["active"], stats["peak"]
    stats["reserved_bytes.all.current"] = stats["active"] + stats["cached"]
    stats["reserved_bytes.all.peak"] = max(stats["reserved_bytes.all.current"], stats["peak"])
    return stats


def memory_allocated(device: Device | str | int | None = None) -> int:
    """Bytes in use by tensors; 0 where there is no CUDA device.

    >>> before = mg.cuda.memory_allocated()
    >>> x = mg.zeros(2, 3)
    >>> mg.cuda.memory_allocated() == before
    True
    """
    return memory_stats(device).get("active", 0)


def max_memory_allocated(device: Device | str | int | None = None) -> int:
    """The most bytes that were in use at once since the start, or since `reset_peak_memory_stats`; 0 where there is no CUDA device.

    >>> mg.cuda.max_memory_allocated() >= mg.cuda.memory_allocated()
    True
    """
    return memory_stats(device).get("peak", 0)


def memory_reserved(device: Device | str | int | None = None) -> int:
    """Bytes in use and kept for reuse; 0 where there is no CUDA device.

    >>> mg.cuda.memory_reserved() >= mg.cuda.memory_allocated()
    True
    """
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Device | str | int | None = None) -> int:
    """The most bytes that were in use and kept for reuse at once, without what was kept and given back since (`empty_cache`).

    >>> mg.cuda.max_memory_reserved() >= mg.cuda.memory_reserved()
    True
    """
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


memory_cached = memory_reserved
max_memory_cached = max_memory_reserved


def mem_get_info(device: Device | str | int | None = None) -> tuple[int, int]:
    """Bytes of a device's memory that nobody uses, and all of them, by the driver.

    >>> free, total = mg.cuda.mem_get_info()  # doctest: +SKIP
    """
    from ._driver import memory

    return memory(_device(device))


def memory_summary(device: Device | str | int | None = None, abbreviated: bool = False) -> str:
    """`memory_stats` as a table.

    Arguments:
        device: the device
        abbreviated: of no effect

    >>> print(mg.cuda.memory_summary())  # doctest: +SKIP
    """
    device = _device(device)
    stats = memory_stats(device)
    rows = [("in use", "active"), ("kept for reuse", "cached"), ("peak", "peak")]
    lines = [f"{'memory of ' + str(device):24} {'MiB':>12}", *(f"{text:24} {stats[name] / 2**20:12.1f}" for text, name in rows)]
    return "\n".join([*lines, f"{'times handed out':24} {stats['allocations']:12}", f"{'of these reused':24} {stats['hits']:12}", ""])


def ipc_collect() -> None:
    """Does nothing: processes share no memory of devices.

    >>> mg.cuda.ipc_collect()
    """


_fractions: dict[int, float] = {}


def set_per_process_memory_fraction(fraction: float, device: Device | str | int | None = None) -> None:
    """Lets tensors and what is kept for reuse take no more than this part of a device's memory; a MemoryError is what goes beyond.

    Arguments:
        fraction: the part, from 0 to 1
        device: the device

    >>> mg.cuda.set_per_process_memory_fraction(0.5)  # doctest: +SKIP
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"set_per_process_memory_fraction: takes a part from 0 to 1, got {fraction}")
    device = _device(device)
    device.set_memory_limit(int(fraction * (device.total_memory() or 0)) if fraction < 1 else None)
    _fractions[device.index or 0] = fraction


def get_per_process_memory_fraction(device: Device | str | int | None = None) -> float:
    """What `set_per_process_memory_fraction` said last, or 1.

    >>> mg.cuda.get_per_process_memory_fraction()  # doctest: +SKIP
    """
    return _fractions.get(_device(device).index or 0, 1.0)


def reset_peak_memory_stats(device: Device | str | int | None = None) -> None:
    """Sets the peak to what is in use now.

    >>> mg.cuda.reset_peak_memory_stats()  # doctest: +SKIP
    >>> mg.cuda.max_memory_allocated() == mg.cuda.memory_allocated()  # doctest: +SKIP
    """
    _device(device).reset_peak()


reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_cached = reset_peak_memory_stats


def empty_cache() -> None:
    """Gives the memory that is kept for reuse back, on every device.

    >>> mg.cuda.empty_cache()
    """
    for i in range(device_count()):
        Device.cuda(i).empty_cache()


def manual_seed_all(seed: int) -> None:
    """Seeds the generator of random tensors, which all devices share.

    Arguments:
        seed: any integer

    >>> mg.cuda.manual_seed_all(7)
    >>> mg.initial_seed()
    7
    """
    manual_seed(seed)


def seed_all() -> None:
    """Seeds the generator of random tensors with a seed that nobody knows.

    >>> mg.cuda.seed_all()
    """
    seed()


def get_rng_state(device: int | str | Device | None = None) -> Tensor:
    """The state of the generator of random tensors, which all devices share.

    >>> mg.cuda.get_rng_state().dtype
    micrograd_rs.uint8
    """
    return _get_rng_state()


def set_rng_state(new_state: Tensor, device: int | str | Device | None = None) -> None:
    """Lets the generator of random tensors, which all devices share, go on from a state.

    Arguments:
        new_state: the state

    >>> state = mg.cuda.get_rng_state()
    >>> a = mg.rand(3)
    >>> mg.cuda.set_rng_state(state)
    >>> bool((a == mg.rand(3)).all())
    True
    """
    _set_rng_state(new_state)


def get_rng_state_all() -> list[Tensor]:
    """The state of the generator of random tensors, once for each device.

    >>> len(mg.cuda.get_rng_state_all()) == mg.cuda.device_count()
    True
    """
    return [_get_rng_state() for _ in range(device_count())]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Lets the generator of random tensors, which all devices share, go on from the first of some states; of none, from where it is.

    Arguments:
        new_states: the states

    >>> mg.cuda.set_rng_state_all(mg.cuda.get_rng_state_all())
    """
    for state in [*new_states][:1]:
        _set_rng_state(state)


def set_device(device: Device | str | int | None) -> None:
    """Says that "cuda" is the first device, as it is; a negative number says nothing. RuntimeError for another device: it is named where it
    is used, "cuda:1", or is the default device (`set_default_device`).

    >>> mg.cuda.set_device(0)  # doctest: +SKIP
    """
    if isinstance(device, int) and device < 0:
        return
    wanted = _device(device)
    if wanted.index:
        text = f'"cuda" is the first device always: name {str(wanted)!r} where it is used, or call set_default_device({str(wanted)!r})'
        raise RuntimeError(f"set_device: {text}")


class device:
    """A block in which "cuda" is a device: the first, as it is (see `set_device`).

    >>> with mg.cuda.device(0):  # doctest: +SKIP
    ...     x = mg.zeros(2, device="cuda")
    """

    def __init__(self, device: Device | str | int | None) -> None:
        self.idx = -1 if device is None else device

    def __enter__(self) -> Self:
        set_device(self.idx)
        return self

    def __exit__(self, *_: object) -> None: ...


class device_of(device):
    """A block in which "cuda" is the device that a tensor is on; for a tensor that is on none, as it is.

    Arguments:
        obj: the tensor

    >>> with mg.cuda.device_of(mg.zeros(2)):
    ...     print("as it is")
    as it is
    """

    def __init__(self, obj: Tensor) -> None:
        super().__init__(obj.device if obj.is_cuda else None)


def is_tf32_supported() -> bool:
    """Whether the current device multiplies in tf32: from compute capability 8.0 on.

    >>> mg.cuda.is_tf32_supported()  # doctest: +SKIP
    """
    return is_available() and get_device_capability() >= (8, 0)


def can_device_access_peer(device: Device | str | int | None, peer_device: Device | str | int | None) -> bool:
    """Whether a device reads another one's memory by itself.

    Arguments:
        device, peer_device: the two devices

    >>> mg.cuda.can_device_access_peer(0, 1)  # doctest: +SKIP
    """
    from ._driver import reaches

    return reaches(_device(device), _device(peer_device))


def is_current_stream_capturing() -> bool:
    """Whether a step is being recorded on this thread.

    >>> mg.cuda.is_current_stream_capturing()
    False
    """
    return _rs._is_recording()


def _legacy_class(name: str) -> Any:
    from .. import _legacy

    of_cpu = getattr(_legacy, name)
    return _legacy._made(name, of_cpu.dtype, on_cuda=True)


_CLASSES = ("BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor")
_others = _Lazy(__name__, ("amp", "memory", "nvtx"))


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        made = globals()[name] = _legacy_class(name)
        return made
    if name == "default_generators":
        from ..random import default_generator

        generators: tuple[Generator, ...] = (default_generator,) * device_count()
        return generators
    return _others(name)
