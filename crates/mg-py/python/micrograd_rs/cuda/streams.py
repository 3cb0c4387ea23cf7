"""Streams and events under PyTorch's names. All work of a device is done on one stream, in the order in which it was called for, so that there
is nothing to choose and nothing to wait for between two of them.

    start, end = mg.cuda.Event(enable_timing=True), mg.cuda.Event(enable_timing=True)
    start.record()
    y = model(x).realize()
    end.record()
    print(start.elapsed_time(end), "ms")
"""

from __future__ import annotations

import warnings
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from .._micrograd_rs import ArgumentError, Device
from ._devices import device_of as _device

if TYPE_CHECKING:
    from typing import Self


class Stream:
    """The stream of a device, whichever is asked for. RuntimeError where there is no such device.

    Arguments:
        device: whose stream it is
        priority: of no effect

    >>> with mg.cuda.stream(mg.cuda.Stream()):  # doctest: +SKIP
    ...     y = mg.ones(10, device="cuda") * 2
    """

    def __init__(self, device: Device | str | int | None = None, priority: int = 0, **_: Any) -> None:
        self.device = _device(device)
        self.priority = 0

    @property
    def device_index(self) -> int:
        """The device's number."""
        return self.device.index or 0

    def synchronize(self) -> None:
        """Waits until all work of the device is done."""
        self.device.synchronize()

    def query(self) -> bool:
        """True: it waits until all work of the device is done, as nothing tells without."""
        self.synchronize()
        return True

    def wait_stream(self, stream: Stream) -> None:
        """Does nothing: work of a device is in order, and copies between devices wait by themselves."""

    def wait_event(self, event: Event) -> None:
        """Does nothing: see `wait_stream`."""

    def record_event(self, event: Event | None = None) -> Event:
        """Marks what was called for until now by an event, a new one where it gets none."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash(("stream", self.device_index))

    def __repr__(self) -> str:
        return f"<micrograd_rs.cuda.Stream device={self.device}>"


class Event:
    """A point in a device's work. With `enable_timing`, `record` waits until the work before it is done, and takes the time then.

    Results are computed when they are looked at: what is to be between two events has to be computed there, by `realize()` or because its
    value is read. `elapsed_time` warns where nothing was.

    Arguments:
        enable_timing: whether it takes the time
        blocking: of no effect
        interprocess, external: False

    >>> before, after = mg.cuda.Event(enable_timing=True), mg.cuda.Event(enable_timing=True)
    >>> before.record()  # doctest: +SKIP
    >>> _ = (mg.ones(10, device="cuda") * 2).realize()  # doctest: +SKIP
    >>> after.record()  # doctest: +SKIP
    >>> before.elapsed_time(after) >= 0  # doctest: +SKIP
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        if interprocess or external:
            raise ArgumentError("Event: events of other processes and libraries are not here")
        self.enable_timing = enable_timing
        self.device: Device | None = None
        self._time = 0
        self._taken = 0

    def record(self, stream: Stream | None = None) -> None:
        """Marks what was called for until now, on a stream's device or the current one."""
        self.device = _device(None) if stream is None else stream.device
        if self.enable_timing:
            self.device.synchronize()
            self._time = perf_counter_ns()
            self._taken = self.device.memory_stats()["allocations"]

    def synchronize(self) -> None:
        """Waits until what it marks is done, and what came after."""
        if self.device is not None:
            self.device.synchronize()

    def query(self) -> bool:
        """True: it waits, as `synchronize` does."""
        self.synchronize()
        return True

    def wait(self, stream: Stream | None = None) -> None:
        """Does nothing: work of a device is in order."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds until another event; both were made with `enable_timing`, and recorded."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ArgumentError("Both events must be created with argument 'enable_timing=True'.")
        if self.device is None or end_event.device is None:
            raise ArgumentError("Both events must be recorded before calculating elapsed time.")
        elapsed = (end_event._time - self._time) / 1e6
        if self._taken == end_event._taken and 0 <= elapsed < 0.05:
            warnings.warn(
                f"nothing was computed on {self.device} between the two events: a result is computed when it is looked at; "
                "call realize() on it before record()",
                stacklevel=2,
            )
        return elapsed

    def __repr__(self) -> str:
        return f"<micrograd_rs.cuda.Event {'uninitialized' if self.device is None else self.device}>"


class StreamContext:
    """A block in which work goes to a stream: the device's one, whichever it is.

    See `stream`.
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def stream(stream: Stream | None) -> StreamContext:
    """A block in which work goes to a stream.

    >>> with mg.cuda.stream(None):
    ...     print("the device's own")
    the device's own
    """
    return StreamContext(stream)


def set_stream(stream: Stream) -> None:
    """Has no effect: a device has one stream.

    >>> mg.cuda.set_stream(mg.cuda.current_stream())  # doctest: +SKIP
    """


def current_stream(device: Device | str | int | None = None) -> Stream:
    """The stream of a device.

    >>> mg.cuda.current_stream().synchronize()  # doctest: +SKIP
    """
    return Stream(device)


def default_stream(device: Device | str | int | None = None) -> Stream:
    """The stream of a device.

    >>> mg.cuda.default_stream() == mg.cuda.current_stream()  # doctest: +SKIP
    """
    return Stream(device)


_INSTEAD = "a step is recorded and replayed by jit: step = micrograd_rs.jit(step), or make_graphed_callables"


class CUDAGraph:
    """RuntimeError: `jit` is what records and replays steps; on CUDA devices as such graphs.

    Arguments:
        keep_graph: as in PyTorch

    >>> try:
    ...     mg.cuda.CUDAGraph()
    ... except RuntimeError:
    ...     print("jit records")
    jit records
    """

    def __init__(self, keep_graph: bool = False) -> None:
        raise RuntimeError(f"CUDAGraph: {_INSTEAD}")


class graph:
    """RuntimeError: see `CUDAGraph`.

    Arguments:
        cuda_graph, pool, stream, capture_error_mode: as in PyTorch

    >>> try:
    ...     mg.cuda.graph(None)
    ... except RuntimeError:
    ...     print("jit records")
    jit records
    """

    def __init__(self, cuda_graph: Any, pool: Any = None, stream: Any = None, capture_error_mode: str = "global") -> None:
        raise RuntimeError(f"graph: {_INSTEAD}")


def make_graphed_callables(callables: Any, sample_args: Any = None, *_: Any, **__: Any) -> Any:
    """Functions or modules whose calls are recorded and replayed (see `compile`): one of one, a tuple of a tuple. It needs no samples.

    Arguments:
        callables: a function or module, or a tuple of them
        sample_args: of no effect

    >>> step = mg.cuda.make_graphed_callables(lambda x: x * 2, (mg.ones(1),))
    >>> step(mg.tensor([3.0]))
    tensor([6.])
    """
    from ..compiler import compile

    return tuple(compile(each) for each in callables) if isinstance(callables, (tuple, list)) else compile(callables)  # pyright: ignore[reportUnknownVariableType]
