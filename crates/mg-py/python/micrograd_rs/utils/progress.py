"""Bars of progress, in terminals and notebooks.

    for x, y in progress(loader, "epoch 1") as bar:
        ...
        bar.set(loss=loss)
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Generic, TextIO, TypeVar

from .._micrograd_rs import Tensor, _Bar
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

T = TypeVar("T")

__all__ = ["progress"]

__getattr__ = _Lazy(__name__)


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class progress(Generic[T]):
    """Goes through what it is given, and shows how far it is, how fast it goes and what `set` was told, on one line of `file` (the
    error output). Where that is neither a terminal nor a notebook nothing is shown, unless `disable=False` says so.

    Tensors that `set` is told are read when the line is shown, at most every `interval` seconds, so that a step waits for none. With
    `memory` (a device) the memory in use there is shown.
    """

    def __init__(
        self,
        iterable: Iterable[T] | None = None,
        desc: str = "",
        total: int | None = None,
        *,
        unit: str = "it",
        interval: float = 0.1,
        disable: bool | None = None,
        file: TextIO | None = None,
        memory: Any = None,
    ) -> None:
        if total is None and iterable is not None and hasattr(iterable, "__len__"):
            total = len(iterable)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        self._iterable = iterable
        self._file = sys.stderr if file is None else file
        if disable is None:
            isatty = getattr(self._file, "isatty", lambda: False)
            disable = not (isatty() or _in_notebook())
        self.disable = disable
        self._interval = interval
        self._values: dict[str, Any] = {}
        self._memory = memory
        self._bar = _Bar(desc, total, unit)
        self._shown = 0.0
        self._length = 0
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[T]:
        if self._iterable is None:
            raise TypeError("there is nothing to go through: give an iterable, or call update()")
        try:
            self._show()
            for item in self._iterable:
                yield item
                self.update()
        finally:
            self.close()

    @property
    def n(self) -> int:
        """How many steps were made."""
        return self._bar.done

    def update(self, n: int = 1) -> None:
        """So many steps further."""
        self._bar.advance(n)
        if not self.disable and time.monotonic() - self._shown >= self._interval:
            self._show()

    def set(self, **values: Any) -> None:
        """Shows values by name beside the bar."""
        self._values.update(values)

    def set_postfix(self, **values: Any) -> None:
        """`set`, under tqdm's name."""
        self.set(**values)

    def _text(self) -> str:
        for name, value in self._values.items():
            number = value.item() if isinstance(value, Tensor) else value
            self._bar.set(name, f"{number:.4g}" if isinstance(number, float) else str(number))
        if self._memory is not None:
            self._bar.set("memory", _bytes(self._memory.memory_stats()["active"]))
        from shutil import get_terminal_size

        return self._bar.text(get_terminal_size((100, 24)).columns - 1)

    def _show(self) -> None:
        if self.disable:
            return
        text = self._text()
        # What is left of a longer line is written over.
        self._file.write("\r" + text + " " * max(self._length - len(text), 0))
        self._file.flush()
        self._length, self._shown = len(text), time.monotonic()

    def close(self) -> None:
        """Shows it for the last time, and ends the line."""
        if not self._closed and not self.disable:
            self._show()
            self._file.write("\n")
            self._file.flush()
        self._closed = True


def _bytes(n: int) -> str:
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.4g}{unit}"
        n = n / 1000  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    return f"{n:.4g}GB"
