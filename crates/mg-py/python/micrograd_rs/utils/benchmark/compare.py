"""Measurements side by side."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from .measurement import Measurement, select_unit, trim_sigfig

# Of terminals: the best, the better half, the worst.
_BEST, _GOOD, _POOR, _WORST, _END = "\033[92m\033[1m", "\033[34m\033[1m", "\033[2m\033[91m", "\033[31m\033[1m", "\033[0m"


class Colorize(enum.Enum):
    """What the best is looked for in."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """A table for each label: a row for each `sub_label` and number of threads, a column for each `description`. `str()` of it, or `print()`.

    >>> from micrograd_rs.utils.benchmark import Compare, Timer
    >>> results = [Timer("a * a", "a = 1", label="square", description=how).timeit(3) for how in ("one", "other")]
    >>> "one" in str(Compare(results))
    True

    Arguments:
        results: the measurements

    Errors: ValueError for what is no measurement.
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = False
        self._colorize = Colorize.NONE
        self._highlight = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Takes more measurements.

        Arguments:
            results: the measurements

        Errors: ValueError for what is no measurement.
        """
        for each in results:
            if not isinstance(each, Measurement):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError(f"Expected an instance of `Measurement`, got {type(each)} instead.")
            self._results.append(each)

    def trim_significant_figures(self) -> None:
        """Shows no more digits than are known."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Shows the best and the worst of each column, or row, in colours of terminals.

        Arguments:
            rowwise: whether the best is that of a row
        """
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Shows by how much times are spread, where it is much."""
        self._highlight = True

    def print(self) -> None:
        """Prints it."""
        print(str(self))

    def __str__(self) -> str:
        labels: dict[str, list[Measurement]] = {}
        for each in Measurement.merge(self._results):
            labels.setdefault(each.label or "[Unknown]" if each.label else each.title, []).append(each)
        return "\n".join(self._table(label, group) for label, group in labels.items())

    def _table(self, label: str, group: list[Measurement]) -> str:
        unit, length = select_unit(min(each.median for each in group))
        columns = list(dict.fromkeys(each.description or "" for each in group))
        rows = list(dict.fromkeys((each.env, each.num_threads, each.as_row_name) for each in group))
        rows.sort(key=lambda row: (row[0], row[1]))
        at = {((each.env, each.num_threads, each.as_row_name), each.description or ""): each for each in group}

        def shown(each: Measurement | None) -> str:
            if each is None:
                return ""
            if not self._trim:
                text = f"{each.median / length:.1f}"
            else:
                digits = each.significant_figures
                value = trim_sigfig(each.median, digits) / length
                whole = len(str(int(value))) if value >= 1 else 0
                text = f"{value:.{max(digits - whole, 0)}f}"
            if self._highlight and each.has_warnings:
                text = f"(! {each.iqr / each.median * 100:.0f}%) {text}"
            return text

        cells = {(row, column): shown(at.get((row, column))) for row in rows for column in columns}
        names = {row: f"      {row[2]}" for row in rows}
        left = max(len(f"{max(row[1] for row in rows)} threads: "), *(len(name) for name in names.values())) + 2
        widths = {column: max(len(column), *(len(cells[row, column]) for row in rows)) for column in columns}
        head = " " * left + "|  " + "  |  ".join(column.center(widths[column]) for column in columns)
        title = f" {label} "
        lines = ["[" + title.center(max(len(head) - 2, len(title) + 2), "-") + "]", head.rstrip()]
        last: tuple[str, int] | None = None
        for row in rows:
            if last != row[:2]:
                last = row[:2]
                env = "" if row[0] == "Unspecified env" else f" ({row[0]})"
                lines.append(f"{row[1]} threads:{env} ".ljust(len(head), "-"))
            texts: list[str] = []
            for column in columns:
                text = cells[row, column].rjust(widths[column])
                texts.append(self._coloured(text, at, row, column, rows, columns))
            lines.append(names[row].ljust(left) + "|  " + "  |  ".join(texts).rstrip())
        words = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}
        lines += ["", f"Times are in {words[unit]} ({unit}).", ""]
        if self._highlight and any(each.has_warnings for each in group):
            lines.append("(! XX%) The half of the times in the middle is that part of the median wide.\n")
        return "\n".join(lines)

    def _coloured(
        self,
        text: str,
        at: dict[tuple[tuple[str, int, str], str], Measurement],
        row: tuple[str, int, str],
        column: str,
        rows: list[tuple[str, int, str]],
        columns: list[str],
    ) -> str:
        here = at.get((row, column))
        if here is None or self._colorize is Colorize.NONE:
            return text
        others = [(row, c) for c in columns] if self._colorize is Colorize.ROWWISE else [(r, column) for r in rows]
        times = [at[which].median for which in others if which in at]
        best, worst, middle = min(times), max(times), sorted(times)[len(times) // 2]
        if len(times) == 1 or worst == best:
            return text
        if here.median <= best * 1.02:
            return _BEST + text + _END
        if here.median >= worst and here.median > 3 * middle:
            return _WORST + text + _END
        return (_GOOD if here.median <= middle else _POOR) + text + _END
