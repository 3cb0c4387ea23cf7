"""`micrograd_rs.profiler` under the names that `torch.autograd.profiler` has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import profiler as _profiler
from .._names import Lazy as _Lazy
from ..profiler import EventList, FunctionEvent, FunctionEventAvg, ProfilerActivity, record_function

if TYPE_CHECKING:
    from typing import Self

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "emit_nvtx", "profile", "record_function"]

__getattr__ = _Lazy(__name__)


class profile:
    """A profile of a block (see `profiler.profile`); with `enabled=False` none.

    >>> import micrograd_rs as mg
    >>> with mg.autograd.profiler.profile() as prof:
    ...     _ = mg.ones(4).exp().realize()
    >>> prof.total_average().count >= 1
    True
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_cpu: bool = True,
        acc_events: bool = False,
        **_: Any,
    ) -> None:
        self.enabled = enabled
        wanted = {ProfilerActivity.CPU} if use_cpu else set[ProfilerActivity]()
        if use_cuda or use_device == "cuda":
            wanted.add(ProfilerActivity.CUDA)
        self._of = _profiler.profile(
            activities=wanted,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            acc_events=acc_events,
        )

    def __enter__(self) -> Self:
        if self.enabled:
            self._of.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.enabled:
            self._of.stop()

    @property
    def function_events(self) -> EventList:
        """Each launch and range."""
        return self._of.events() if self.enabled else EventList()

    @property
    def self_cpu_time_total(self) -> float:
        """The microseconds of all."""
        return self.function_events.self_cpu_time_total

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Sums by name."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """All summed."""
        return self.function_events.total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **how: Any) -> str:
        """Each launch and range, as a table (see `EventList.table`)."""
        return self.function_events.table(sort_by, row_limit, **how)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the trace to a file."""
        self._of.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes lines for flame graphs."""
        self._of.export_stacks(path, metric)


def emit_nvtx(enabled: bool = True, record_shapes: bool = False) -> Any:
    """RuntimeError: launches are not told to NVIDIA's tools. `profiler.profile` times them, and writes a trace."""
    raise RuntimeError("emit_nvtx: launches are not told to NVIDIA's tools; profiler.profile times them: profile(activities=[ProfilerActivity.CUDA])")
