"""What a profile saw: launches and ranges, sums of them by name, and tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple

from ._ranges import Range


_Column = tuple[str, Callable[[Any], str]]


class DeviceType(Enum):
    """Where an event was.

    >>> mg.profiler.DeviceType.CPU.name
    'CPU'
    """

    CPU = 0
    CUDA = 1


class Interval(NamedTuple):
    """Microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it took."""
        return self.end - self.start


class _Sums:
    """Times, in microseconds, and bytes. Those of CUDA devices are also under PyTorch's older names, with `cuda` for `device`."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    device_time_total: float
    self_device_time_total: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    device_memory_usage: int
    self_device_memory_usage: int
    flops: int

    @property
    def cpu_time(self) -> float:
        """Of one, on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Of one, on average."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def cuda_time(self) -> float:
        """As `device_time`."""
        return self.device_time

    @property
    def cuda_time_total(self) -> float:
        """As `device_time_total`."""
        return self.device_time_total

    @property
    def self_cuda_time_total(self) -> float:
        """As `self_device_time_total`."""
        return self.self_device_time_total

    @property
    def cuda_memory_usage(self) -> int:
        """As `device_memory_usage`."""
        return self.device_memory_usage

    @property
    def self_cuda_memory_usage(self) -> int:
        """As `self_device_memory_usage`."""
        return self.self_device_memory_usage


class FunctionEvent(_Sums):
    """A launch, or a range. A launch on a CUDA device is waited for in a profile: its time is the processor's and the device's.

    Arguments:
        name: what it was
        start, end: from when to when, in microseconds
        thread: on which thread
        device: on what
        is_user_annotation: whether it is a range

    >>> with mg.profiler.profile() as p:
    ...     _ = (mg.ones(4) * 2).tolist()
    >>> all(event.time_range.end >= event.time_range.start for event in p.events())
    True
    """

    def __init__(self, name: str, start: float, end: float, thread: int, device: DeviceType, is_user_annotation: bool) -> None:
        self.name = name
        self.time_range = Interval(start * 1e6, end * 1e6)
        self.thread = thread
        self.device_type = device
        self.is_user_annotation = is_user_annotation
        self.count = 1
        self.cpu_time_total = self.self_cpu_time_total = self.time_range.elapsed_us()
        on_device = not is_user_annotation and device is DeviceType.CUDA
        self.device_time_total = self.self_device_time_total = self.cpu_time_total if on_device else 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.device_memory_usage = self.self_device_memory_usage = 0
        self.flops = 0
        self.input_shapes: list[tuple[int, ...]] = []
        self.stack: list[str] = []
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []

    @property
    def key(self) -> str:
        """The name by which it is counted: the steps of a profile are one."""
        return "ProfilerStep*" if self.name.startswith("ProfilerStep#") else self.name

    def __repr__(self) -> str:
        return f"<FunctionEvent name={self.name} cpu_time={_time(self.cpu_time)} device_time={_time(self.device_time)} thread={self.thread}>"


class FunctionEventAvg(_Sums):
    """Events of one name, summed.

    Arguments:
        key: their name

    >>> with mg.profiler.profile() as p:
    ...     with mg.profiler.record_function("mine"):
    ...         _ = (mg.ones(4) * 2).tolist()
    >>> [average.count for average in p.key_averages() if average.key == "mine"]
    [1]
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = self.device_time_total = self.self_device_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = self.device_memory_usage = self.self_device_memory_usage = 0
        self.flops = 0
        self.input_shapes: list[tuple[int, ...]] = []
        self.stack: list[str] = []
        self.is_user_annotation = False
        self.device_type = DeviceType.CPU

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Counts another one."""
        if self.count == 0:
            self.input_shapes, self.stack = other.input_shapes, other.stack
            self.is_user_annotation, self.device_type = other.is_user_annotation, other.device_type
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.device_time_total += other.device_time_total
        self.self_device_time_total += other.self_device_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.device_memory_usage += other.device_memory_usage
        self.self_device_memory_usage += other.self_device_memory_usage
        self.flops += other.flops
        return self

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} count={self.count} cpu_time={_time(self.cpu_time)} device_time={_time(self.device_time)}>"


_ORDERS = (
    "count", "cpu_time", "cpu_time_total", "self_cpu_time_total", "device_time", "device_time_total", "self_device_time_total",
    "cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage", "flops",
)  # fmt: skip


class EventList(list[Any]):
    """Events, or sums of them.

    Arguments:
        events: the events
        memory, shapes, stacks, flops: what the table shows of them

    >>> with mg.profiler.profile() as p:
    ...     _ = (mg.ones(4) * 2).tolist()
    >>> averages = p.key_averages()
    >>> type(averages).__name__, len(averages) >= 1
    ('EventList', True)
    """

    def __init__(self, events: Iterable[Any] = (), *, memory: bool = False, shapes: bool = False, stacks: bool = False, flops: bool = False) -> None:
        super().__init__(events)
        self._memory, self._shapes, self._stacks, self._flops = memory, shapes, stacks, flops

    @property
    def self_cpu_time_total(self) -> float:
        """The microseconds of all, each counted once."""
        return float(sum(event.self_cpu_time_total for event in self))

    def total_average(self) -> FunctionEventAvg:
        """All of them summed."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Sums by name; by name and shape; by name and line, with `group_by_stack_n`."""
        sums: dict[tuple[Any, ...], FunctionEventAvg] = {}
        for event in self:
            which = (event.key, str(event.input_shapes) if group_by_input_shapes else "", tuple(event.stack[:group_by_stack_n]), event.device_type)
            sums.setdefault(which, FunctionEventAvg(event.key)).add(event)
        for each in sums.values():
            each.input_shapes = each.input_shapes if group_by_input_shapes else []
            each.stack = each.stack[:group_by_stack_n]
        return EventList(sums.values(), memory=self._memory, shapes=group_by_input_shapes, stacks=group_by_stack_n > 0, flops=self._flops)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """A table with a row for each, the largest `sort_by` first (`cpu_time_total`, `self_cuda_time_total`, `count`, …), at most `row_limit`
        of them, or with -1 all. `time_unit` is "us", "ms" or "s", or fits each number.
        """
        rows: list[Any] = list(self)
        if sort_by is not None:
            order = sort_by.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
            if order not in _ORDERS:
                raise ValueError(f"table: sort_by is one of {', '.join(_ORDERS)}, got {sort_by!r}")
            rows.sort(key=lambda event: -getattr(event, order))
        if top_level_events_only:
            rows = [event for event in rows if getattr(event, "cpu_parent", None) is None]
        whole_cpu = sum(event.self_cpu_time_total for event in self)
        whole_device = sum(event.self_device_time_total for event in self)

        def time(us: float) -> str:
            return _time(us, time_unit)

        def part(value: float, whole: float) -> str:
            return f"{value / whole:.2%}" if whole else "NaN"

        columns: list[_Column] = [
            ("Name", lambda e: _cut(getattr(e, "name", e.key), max_name_column_width)),
            ("Self CPU %", lambda e: part(e.self_cpu_time_total, whole_cpu)),
            ("Self CPU", lambda e: time(e.self_cpu_time_total)),
            ("CPU total %", lambda e: part(e.cpu_time_total, whole_cpu)),
            ("CPU total", lambda e: time(e.cpu_time_total)),
            ("CPU time avg", lambda e: time(e.cpu_time)),
        ]
        on_device = any(event.device_time_total for event in self)
        if on_device:
            of_devices: list[_Column] = [
                ("Self CUDA", lambda e: time(e.self_device_time_total)),
                ("Self CUDA %", lambda e: part(e.self_device_time_total, whole_device)),
                ("CUDA total", lambda e: time(e.device_time_total)),
                ("CUDA time avg", lambda e: time(e.device_time)),
            ]
            columns += of_devices
        if self._memory:
            columns.append(("CPU Mem", lambda e: _bytes(e.cpu_memory_usage)))
            columns.append(("Self CPU Mem", lambda e: _bytes(e.self_cpu_memory_usage)))
            if any(event.device_memory_usage for event in self):
                columns.append(("CUDA Mem", lambda e: _bytes(e.device_memory_usage)))
                columns.append(("Self CUDA Mem", lambda e: _bytes(e.self_device_memory_usage)))
        columns.append(("# of Calls", lambda e: str(e.count)))
        if self._shapes:
            columns.append(("Input Shapes", lambda e: _cut(str([list(shape) for shape in e.input_shapes]), max_shapes_column_width)))
        if self._stacks:
            columns.append(("Source Location", lambda e: _cut(e.stack[0] if e.stack else "", -max_src_column_width)))
        if self._flops:
            columns.append(("Total MFLOPs", lambda e: f"{e.flops / 1e6:.3f}" if e.flops else "--"))
        shown = [[of(event) for _, of in columns] for event in (rows if row_limit < 0 else rows[:row_limit])]
        titles = [title for title, _ in columns]
        widths = [max(len(row[i]) for row in [titles, *shown]) for i in range(len(columns))]
        rule = "  ".join("-" * width for width in widths)
        lines = [rule, "  ".join(title.rjust(width) for title, width in zip(titles, widths, strict=True)), rule]
        lines += ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in shown]
        lines += [rule, f"Self CPU time total: {time(whole_cpu)}"]
        if on_device:
            lines.append(f"Self CUDA time total: {time(whole_device)}")
        return "\n".join([*([header] if header else []), *lines]) + "\n"

    def export_stacks(self, path: str | os.PathLike[str], metric: str) -> None:
        """Lines of a program with their microseconds, as tools for flame graphs read them."""
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                value = int(getattr(event, metric))
                if event.stack and value > 0:
                    frames = ";".join(frame.replace(";", ":").replace(" ", "_") for frame in [*reversed(event.stack), event.key])
                    file.write(f"{frames} {value}\n")

    def __str__(self) -> str:
        return self.table()


def _cut(text: str, width: int) -> str:
    """At most so many characters: the first of them, or of a negative number the last."""
    if width < 0:
        return text if len(text) <= -width else "..." + text[width + 3 :]
    return text if len(text) <= width else text[: width - 3] + "..."


def _time(us: float, unit: str | None = None) -> str:
    scales = {"us": 1.0, "ms": 1e3, "s": 1e6}
    unit = unit or ("s" if us >= 1e6 else "ms" if us >= 1e3 else "us")
    if unit not in scales:
        raise ValueError(f'takes "us", "ms" or "s" as time_unit, got {unit!r}')
    return f"{us / scales[unit]:.3f}{unit}"


def _bytes(n: int) -> str:
    for scale, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if abs(n) >= scale:
            return f"{n / scale:.2f} {unit}"
    return f"{n} B"


def events_of(launches: Iterable[dict[str, Any]], ranges: Iterable[Range], zero: float, last: float) -> list[FunctionEvent]:
    """Launches and ranges as events, with what they are within."""
    found: list[FunctionEvent] = []
    for each in ranges:
        end = last if each.end is None else each.end
        event = FunctionEvent(each.name, each.start - zero, end - zero, each.thread, DeviceType.CPU, True)
        if each.before is not None and each.after is not None:
            event.cpu_memory_usage = event.self_cpu_memory_usage = each.after[0] - each.before[0]
            event.device_memory_usage = event.self_device_memory_usage = each.after[1] - each.before[1]
        found.append(event)
    for launch in launches:
        device = DeviceType.CPU if launch["device"] == "cpu" else DeviceType.CUDA
        name = f"{launch['operation']} ({launch['kind']})"
        event = FunctionEvent(name, launch["start"], launch["start"] + launch["duration"], 0, device, False)
        event.input_shapes, event.flops = [tuple(launch["shape"])], launch["flops"] or 0
        event.stack = [launch["line"]] if launch["line"] else []
        found.append(event)
    # The sort is stable: of two that begin at once, the range is the outer one.
    found.sort(key=lambda event: event.time_range.start)
    around: list[FunctionEvent] = []
    for event in found:
        around = [other for other in around if other.time_range.end > event.time_range.start]
        # A launch knows no thread: it is in the range that began last.
        of_thread = (other for other in reversed(around) if not event.is_user_annotation or other.thread == event.thread)
        event.cpu_parent = next(of_thread, None)
        if event.is_user_annotation:
            around.append(event)
    for event in found:
        parent = event.cpu_parent
        if parent is None:
            continue
        parent.cpu_children.append(event)
        parent.self_cpu_time_total = max(0.0, parent.self_cpu_time_total - event.cpu_time_total)
        parent.self_cpu_memory_usage -= event.cpu_memory_usage
        parent.self_device_memory_usage -= event.device_memory_usage
        # What a range does on a device are the launches in it, however deep.
        above: FunctionEvent | None = parent
        while above is not None and not event.is_user_annotation:
            above.device_time_total += event.device_time_total
            above = above.cpu_parent
    return found
