"""Numbers by step: to CSV, and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._micrograd_rs import _History
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    import os

    from .plot import Picture

__all__ = ["History"]

__getattr__ = _Lazy(__name__)


class History:
    """What was noted of each step.

    >>> from micrograd_rs.utils.history import History
    >>> history = History()
    >>> history.log(1, loss=0.5)
    >>> history.log(2, loss=0.25, accuracy=0.75)
    >>> print(history.to_csv(), end="")
    step,loss,accuracy
    1,0.5,
    2,0.25,0.75
    >>> history["loss"]
    [(1.0, 0.5), (2.0, 0.25)]
    """

    def __init__(self) -> None:
        self._core = _History()

    def log(self, step: int, **values: Any) -> None:
        """Notes numbers of a step by name. Tensors of one element are read."""
        for name, value in values.items():
            self._core.log(step, name, float(value))

    def names(self) -> list[str]:
        """The names, in the order in which they were first noted."""
        return self._core.names()

    def __getitem__(self, name: str) -> list[tuple[float, float]]:
        """The steps at which something of this name was noted, and what."""
        if name not in self.names():
            raise KeyError(name)
        return self._core.series(name)

    def to_csv(self) -> str:
        """As comma-separated values: a line of names, and a line for each step."""
        return self._core.to_csv()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the comma-separated values to a file, which takes the place of an older one in one step."""
        self._core.save_csv(path)

    def plot(self, *names: str, log: bool = False) -> Picture:
        """Its curves, of some names or of all, as a picture."""
        from .plot import curves

        return curves({name: self[name] for name in names or self.names()}, xlabel="step", log=log)

    def _repr_svg_(self) -> str:
        return self.plot().svg
