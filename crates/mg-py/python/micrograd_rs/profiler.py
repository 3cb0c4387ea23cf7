"""What launches take.

    with mg.profile("trace.json") as prof:
        loss = step(x)
        loss.item()
    print(prof.table())

`trace.json` is shown by Perfetto (ui.perfetto.dev) and `chrome://tracing`. Work is done when a value is looked at: what is to be in the
profile has to be computed within. Each launch tells the line of Python that called its operation, outside of this package; of a gradient, that of the
operation it belongs to; of a recorded step, or of what was made before the profile began, the line that has it computed. On a CUDA device each launch is waited for, so the whole takes longer than without; a step that is
replayed there as a graph is one launch of the driver, and is not in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._micrograd_rs import _Profile, _profile_start, _profile_stop
from ._names import Lazy as _Lazy

if TYPE_CHECKING:
    import os
    from typing import Self

__all__ = ["profile"]

__getattr__ = _Lazy(__name__)


class profile:
    """Times every launch within a block, on all threads; with a path, writes the trace there at its end."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = path
        self._core: _Profile | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins. There is one profile at a time: another one that was begun is lost."""
        _profile_start()

    def stop(self) -> None:
        """Ends it."""
        self._core = _profile_stop()
        if self._path is not None:
            self.export_chrome_trace(self._path)

    def _done(self) -> _Profile:
        if self._core is None:
            raise RuntimeError("the profile has not ended yet")
        return self._core

    @property
    def launches(self) -> list[dict[str, Any]]:
        """The launches in order: the operation that was called, what it became, shape, operations, bytes, the `line` of
        Python (`file:number`), `start` and `duration` in seconds.
        """
        return self._done().launches

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the trace to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._done().chrome_trace())

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
