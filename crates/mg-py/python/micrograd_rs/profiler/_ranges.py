"""Ranges of a program, which a profile shows around the launches that are made within them."""

from __future__ import annotations

import threading
import time
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .._micrograd_rs import Device

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

P = ParamSpec("P")
R = TypeVar("R")


class Range:
    """One range: seconds of `time.perf_counter`, and bytes in use on the processor and on CUDA devices where they were asked for."""

    __slots__ = ("after", "args", "before", "end", "name", "start", "thread")

    def __init__(self, name: str, args: str | None, before: tuple[int, int] | None) -> None:
        self.name, self.args, self.before = name, args, before
        self.after: tuple[int, int] | None = None
        self.thread = threading.get_ident()
        self.start = time.perf_counter()
        self.end: float | None = None


class Log:
    """The ranges of a profile that is running, in the order of their beginnings."""

    def __init__(self, memory: bool) -> None:
        self.ranges: list[Range] = []
        self._memory = memory

    def begin(self, name: str, args: str | None) -> Range:
        made = Range(name, args, in_use() if self._memory else None)
        self.ranges.append(made)
        return made

    def end(self, of: Range) -> None:
        of.end = time.perf_counter()
        of.after = in_use() if self._memory else None


def in_use() -> tuple[int, int]:
    """Bytes of tensors on the processor, and on all CUDA devices."""
    devices = (Device.cuda(i) for i in range(Device.cuda_count()))
    return Device.cpu().memory_stats()["active"], sum(each.memory_stats()["active"] for each in devices)


# Of the profile that is running.
_running: list[Log] = []


def run(log: Log | None) -> None:
    """Notes ranges in a log from now on, or in none."""
    _running[:] = [] if log is None else [log]


class record_function:
    """A range of a program with a name, as a block or above a function. Outside of a profile it costs next to nothing, and is nowhere.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs.profiler import profile, record_function
    >>> with profile() as prof, record_function("product"):
    ...     _ = (mg.ones(8, 8) @ mg.ones(8, 8)).realize()
    >>> next(event.count for event in prof.key_averages() if event.key == "product")
    1
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._begun: list[tuple[Log, Range] | None] = []

    def __enter__(self) -> Self:
        # It may end while the profile that it began in is over, or another one runs.
        log = next(iter(_running), None)
        self._begun.append(None if log is None else (log, log.begin(self.name, self.args)))
        return self

    def __exit__(self, *_: object) -> None:
        begun = self._begun.pop()
        if begun is not None:
            begun[0].end(begun[1])

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def within(*args: P.args, **kwargs: P.kwargs) -> R:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return within


def pushed() -> list[record_function]:
    """The ranges that this thread pushed, and has not popped yet."""
    stack: Any = getattr(_stacks, "ranges", None)
    if stack is None:
        stack = _stacks.ranges = []
    return stack  # type: ignore[no-any-return]


_stacks = threading.local()
