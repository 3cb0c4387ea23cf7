"""What launches take, and what ranges of a program do.

    with mg.profile("trace.json") as prof:
        loss = step(x)
        loss.item()
    print(prof.table())

`trace.json` is shown by Perfetto (ui.perfetto.dev) and `chrome://tracing`. Work is done when a value is looked at: what is to be in the
profile has to be computed within. Each launch tells the line of Python that called its operation, outside of this package; of a gradient, that of the
operation it belongs to; of a recorded step, or of what was made before the profile began, the line that has it computed. On a CUDA device each launch is waited for, so the whole takes longer than without; a step that is
replayed there as a graph is one launch of the driver, and is not in it.

The names of `torch.profiler` are here too: activities, `schedule`, `record_function`, `key_averages()`.

    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3), on_trace_ready=tensorboard_trace_handler("log")) as prof:
        for x, y in loader:
            with record_function("step"):
                step(x, y).item()
            prof.step()

A launch belongs to the range in which it is made, which is where the value is looked at (`item()`, `realize()`), not where the operation was called.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from .._micrograd_rs import _Profile, _profile_start, _profile_stop
from .._names import Lazy as _Lazy
from . import _ranges

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Self

    from ._events import DeviceType, EventList, FunctionEvent, FunctionEventAvg
    from ._ranges import record_function
    from ._schedule import ProfilerAction, ProfilerActivity, schedule, supported_activities, tensorboard_trace_handler

__all__ = [
    "DeviceType",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

__getattr__ = _Lazy(
    __name__,
    (),
    {
        "DeviceType": "_events",
        "EventList": "_events",
        "FunctionEvent": "_events",
        "FunctionEventAvg": "_events",
        "ProfilerAction": "_schedule",
        "ProfilerActivity": "_schedule",
        "record_function": "_ranges",
        "schedule": "_schedule",
        "supported_activities": "_schedule",
        "tensorboard_trace_handler": "_schedule",
    },
)


class profile:
    """Times every launch within a block, on all threads, and notes its ranges (`record_function`); with a path, writes the trace there at its
    end.

    - `activities`: whose launches are kept, `ProfilerActivity.CPU` and `.CUDA`; both unless it says.
    - `schedule`: what to do in which step (see `schedule`); `step()` says that one is over. Without it all is recorded.
    - `on_trace_ready`: called with the profile when one was recorded.
    - `record_shapes`: `key_averages(group_by_input_shape=True)` tells launches of results of different shapes apart.
    - `profile_memory`: of each range, how many bytes more are in use at its end than at its beginning.
    - `with_stack`: events have the line that called their operation. `with_flops`: tables have their floating-point operations.
    - `acc_events`: what several cycles of a schedule record is kept together, and not the last alone.

    `with_modules`, `experimental_config`, `custom_trace_id_callback` and `post_processing_timeout_s` are for PyTorch's own tools, and change nothing.

    `execution_trace_observer` is None.

    >>> with mg.profiler.profile() as p:
    ...     with mg.profiler.record_function("step"):
    ...         _ = (mg.ones(4) * 2).tolist()
    >>> "step" in {event.name for event in p.events()}
    True
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], object] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        acc_events: bool = False,
        execution_trace_observer: None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        from ._schedule import ProfilerActivity, always

        if execution_trace_observer is not None:
            raise ValueError("profile: launches are in the profile itself: execution_trace_observer is None")
        self._path = path
        self.activities = set(ProfilerActivity) if activities is None else set(activities)
        if not self.activities or not all(isinstance(each, ProfilerActivity) for each in self.activities):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"profile: takes activities, ProfilerActivity.CPU and ProfilerActivity.CUDA, got {activities!r}")
        self.schedule = schedule or always
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops, self.with_modules, self.acc_events = with_stack, with_flops, with_modules, acc_events
        self.record_steps = schedule is not None
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._metadata: dict[str, Any] = {}
        self._parts: list[_Part] = []
        self._log: _ranges.Log | None = None
        self._step: _ranges.record_function | None = None
        self._zero = 0.0
        self._stopped = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins. There is one profile at a time: another one that was begun is lost."""
        self._stopped = False
        self._go(self.current_action)
        self._begin_step()

    def step(self) -> None:
        """The step is over: on to what the schedule says of the next one."""
        self._end_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        if before.value == 3 or (before.value == 2 and self.current_action.value < 2):
            self._save()
        self._go(self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """Ends it."""
        self._end_step()
        self._stopped = True
        if self._log is not None:
            self._save()
        if self._path is not None and (self._parts or not self.record_steps):
            self.export_chrome_trace(self._path)

    def _begin_step(self) -> None:
        if self.record_steps and self._log is not None:
            self._step = _ranges.record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _go(self, action: ProfilerAction) -> None:
        """Records from here on, if that is what is to be done and is not being done."""
        if action.value < 2 or self._log is not None:
            return
        if not self.acc_events:
            self._parts = []
        self._log = _ranges.Log(self.profile_memory)
        _profile_start()
        # After it, so that a launch does not seem to be before the range that it is in.
        self._zero = perf_counter()
        _ranges.run(self._log)

    def _save(self) -> None:
        assert self._log is not None
        last, log, self._log = perf_counter(), self._log, None
        _ranges.run(None)
        self._parts.append(_Part(_profile_stop(), log.ranges, self._zero, last))
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _done(self) -> list[_Part]:
        if not self._parts and self.record_steps and self._stopped:
            raise RuntimeError(f"nothing was recorded in {self.step_num} steps: call step() after each, as many times as the schedule needs")
        if not self._parts:
            raise RuntimeError("the profile has not ended yet")
        return self._parts

    def _kept(self, launch: dict[str, Any]) -> bool:
        from ._schedule import ProfilerActivity

        return (ProfilerActivity.CPU if launch["device"] == "cpu" else ProfilerActivity.CUDA) in self.activities

    @property
    def launches(self) -> list[dict[str, Any]]:
        """The launches in order: the operation that was called, what it became, shape, operations, bytes, the `line` of
        Python (`file:number`), `start` and `duration` in seconds.
        """
        first = self._done()[0].zero
        found: list[dict[str, Any]] = []
        for part in self._done():
            for launch in part.core.launches:
                if self._kept(launch):
                    launch["start"] += part.zero - first
                    found.append(launch)
        return found

    def events(self) -> EventList:
        """Launches and ranges, each by itself, in the order of their beginnings: times in microseconds."""
        from ._events import EventList, events_of

        parts = self._done()
        ranges = [each for part in parts for each in part.ranges]
        found = events_of(self.launches, ranges, parts[0].zero, parts[-1].last)
        return EventList(found, memory=self.profile_memory, shapes=self.record_shapes, stacks=self.with_stack, flops=self.with_flops)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Launches and ranges, summed by name, or by name and shape, or line: `print(prof.key_averages().table(sort_by="cpu_time_total"))`.

        A range's time is by the clock, without what is in it where it says `self`.
        """
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def add_metadata(self, key: str, value: str) -> None:
        """A text that the trace has under a name."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """A value, as JSON, that the trace has under a name."""
        import json

        self._metadata[key] = json.loads(value)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the trace to a file, packed if its name ends in `.gz`."""
        import gzip
        import json
        import os

        parts = self._done()
        lines: list[tuple[float, str]] = []
        for part in parts:
            later = (part.zero - parts[0].zero) * 1e6
            for launch, line in zip(part.core.launches, part.core.chrome_trace().splitlines()[1:], strict=False):
                if not self._kept(launch):
                    continue
                line = line.removesuffix(",")
                if later:
                    event = json.loads(line)
                    event["ts"] += later
                    line = json.dumps(event, separators=(",", ":"))
                lines.append((launch["start"] * 1e6 + later, line))
            for each in part.ranges:
                start, end = each.start - parts[0].zero, (part.last if each.end is None else each.end) - parts[0].zero
                event = {"name": each.name, "cat": "user_annotation", "ph": "X", "pid": 1, "tid": f"thread {each.thread}"}
                event |= {"ts": round(start * 1e6, 3), "dur": round((end - start) * 1e6, 3), "args": {} if each.args is None else {"args": each.args}}
                lines.append((start * 1e6, json.dumps(event, separators=(",", ":"))))
        lines.sort(key=lambda at: at[0])
        more = "".join(f",{json.dumps(name)}:{json.dumps(value)}" for name, value in self._metadata.items())
        text = '{"displayTimeUnit":"ns","traceEvents":[\n' + ",\n".join(line for _, line in lines) + f"\n]{more}}}\n"
        if os.fspath(path).endswith(".gz"):
            with gzip.open(path, "wt", encoding="utf-8") as packed:
                packed.write(text)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Writes the lines of the program that launches were called from, with their microseconds (`self_cpu_time_total` or
        `self_cuda_time_total`), as tools for flame graphs read them. Needs `with_stack=True`.
        """
        if not self.with_stack:
            raise ValueError("export_stacks: needs a profile with with_stack=True")
        self.key_averages(group_by_stack_n=1).export_stacks(path, metric)

    def table(self, row_limit: int = 20) -> str:
        """What took most of the time, by operation."""
        rows: dict[str, list[float]] = {}
        for launch in self.launches:
            row = rows.setdefault(f"{launch['operation']} ({launch['kind']})", [0, 0.0, 0.0])
            row[0] += 1
            row[1] += launch["duration"]
            row[2] += launch["bytes_read"] + launch["bytes_written"]
        whole = sum(row[1] for row in rows.values()) or 1.0
        lines = [f"{'operation':40} {'calls':>7} {'total ms':>10} {'mean us':>10} {'part':>6} {'GB/s':>8}"]
        for name, (calls, time, moved) in sorted(rows.items(), key=lambda item: -item[1][1])[:row_limit]:
            lines.append(
                f"{name[:40]:40} {calls:7.0f} {time * 1e3:10.3f} {time / calls * 1e6:10.1f} {time / whole:6.1%}"
                f" {moved / max(time, 1e-12) / 1e9:8.2f}"
            )
        return "\n".join(lines)


class _Part:
    """What was recorded in one go: launches, ranges, and the times of its beginning and end."""

    def __init__(self, core: _Profile, ranges: list[_ranges.Range], zero: float, last: float) -> None:
        self.core, self.ranges, self.zero, self.last = core, ranges, zero, last


def kineto_available() -> bool:
    """True: there is a profiler. (In PyTorch it is a library of that name.)

    >>> mg.profiler.kineto_available()
    True
    """
    return True
