"""Times, and what can be said of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# A spread of more than this part of the median is told.
_WIDE, _VERY_WIDE = 0.1, 0.25
# No time is known better than to a hundred nanoseconds, nor to more than five digits.
_LEAST, _MOST_DIGITS = 100e-9, 5

_UNITS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time is a handy number, and its length in seconds: `("us", 1e-06)`.

    Arguments:
        t: the time in seconds
    """
    length, name = next(((length, name) for length, name in reversed(_UNITS) if t >= length), _UNITS[0])
    return name, length


def trim_sigfig(x: float, n: int) -> float:
    """A number to so many digits.

    Arguments:
        x: the number
        n: how many digits that count it keeps
    """
    if x == 0:
        return 0.0
    scale = 10.0 ** (math.floor(math.log10(abs(x))) + 1 - n)
    return float(round(x / scale) * scale)


@dataclass(frozen=True)
class TaskSpec:
    """What was timed.

    Arguments:
        stmt: the statement
        setup: what ran before it
        global_setup: ""
        label: what it belongs to in a `Compare`: its table; None: the statement
        sub_label: its row there
        description: its column there
        env: where it ran
        num_threads: how many threads there were
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """Its label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        return self.stmt.strip() if "\n" not in self.stmt.strip() else "\n".join(["stmt:", *("  " + line for line in self.stmt.strip().splitlines())])

    def summarize(self) -> str:
        """Title, description and setup."""
        lines = [self.title]
        if self.description and self.label:
            lines.append(self.description)
        if self.setup.strip() not in ("", "pass"):
            lines.append("setup: " + self.setup.strip().replace("\n", "\n  "))
        return "\n".join(lines)


def _quantile(ordered: list[float], part: float) -> float:
    at = part * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


@dataclass(repr=False)
class Measurement:
    """Times of a statement: everything but `raw_times` is of one run.

    Arguments:
        number_per_run: how many runs each time is of
        raw_times: the times, in seconds
        task_spec: what was timed
        metadata: anything that is to go with it
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None
    _ordered: list[float] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self._ordered = sorted(self.times)

    @property
    def times(self) -> list[float]:
        """Seconds of a run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The one in the middle."""
        return _quantile(self._ordered, 0.5)

    @property
    def mean(self) -> float:
        """Their mean."""
        return sum(self._ordered) / len(self._ordered)

    @property
    def iqr(self) -> float:
        """How wide the half in the middle is spread."""
        return _quantile(self._ordered, 0.75) - _quantile(self._ordered, 0.25)

    @property
    def significant_figures(self) -> int:
        """To how many digits the median is known, by the half in the middle."""
        n = len(self._ordered)
        middle = self._ordered[n // 4 : math.ceil(3 * n / 4)]
        mean = sum(middle) / len(middle)
        deviation = math.sqrt(sum((t - mean) ** 2 for t in middle) / len(middle))
        # 1.645 deviations of a mean to either side are nine in ten.
        width = max(1.645 * deviation / math.sqrt(len(middle)), _LEAST)
        return min(max(math.floor(math.log10(self.median / width)), 1), _MOST_DIGITS)

    def meets_confidence(self, threshold: float = _WIDE) -> bool:
        """Whether the half of the times in the middle lies closely together.

        Arguments:
            threshold: how wide it may be, as a part of the median
        """
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Whether the times are spread widely."""
        return not self.meets_confidence()

    @property
    def title(self) -> str:
        """What was timed."""
        return self.task_spec.title

    @property
    def stmt(self) -> str:
        """The statement."""
        return self.task_spec.stmt

    @property
    def label(self) -> str | None:
        """What it belongs to."""
        return self.task_spec.label

    @property
    def sub_label(self) -> str | None:
        """What tells it from others of its label: its row."""
        return self.task_spec.sub_label

    @property
    def description(self) -> str | None:
        """Its column."""
        return self.task_spec.description

    @property
    def num_threads(self) -> int:
        """How many threads it was given."""
        return self.task_spec.num_threads

    @property
    def env(self) -> str:
        """Where it ran."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """Its row in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, length = select_unit(self.median)
        many = len(self._ordered) > 1
        lines = [f"<{type(self).__module__}.Measurement object at {id(self):#x}>", self.task_spec.summarize()]
        lines.append(f"  {'Median: ' if many else ''}{self.median / length:.2f} {unit}")
        if len(self._ordered) >= 4:
            ends = (_quantile(self._ordered, part) / length for part in (0.25, 0.75))
            lines.append(f"  IQR:    {self.iqr / length:.2f} {unit} ({' to '.join(f'{t:.2f}' for t in ends)})")
        count = f"{len(self._ordered)} measurement{'s' if many else ''}, {self.number_per_run} runs{' per measurement' if many else ''}"
        lines.append(f"  {count}, {self.num_threads} thread{'s' if self.num_threads > 1 else ''}")
        if self.has_warnings:
            cause = "significant environmental influence" if not self.meets_confidence(_VERY_WIDE) else "that the system fluctuates"
            lines.append(f"  WARNING: the half in the middle is {self.iqr / self.median:.1%} of the median wide, which speaks of {cause}.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of the same statement as one, in a list.

        Arguments:
            measurements: the measurements
        """
        groups: dict[TaskSpec, list[Measurement]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).append(each)
        merged: list[Measurement] = []
        for spec, group in groups.items():
            runs = group[0].number_per_run
            same = all(each.number_per_run == runs for each in group)
            times = [t for each in group for t in (each.raw_times if same else each.times)]
            merged.append(Measurement(runs if same else 1, times, spec))
        return merged
