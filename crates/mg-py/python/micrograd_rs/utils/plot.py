"""Pictures as SVG: curves, points, grids of images, confusion matrices, histograms. Notebooks show them; `save` writes them.

>>> from micrograd_rs.utils import plot
>>> picture = plot.curves({"loss": [1.0, 0.5, 0.25]}, title="Training")
>>> picture.svg[:4]
'<svg'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import fspath
from os.path import splitext
from typing import TYPE_CHECKING, Any, cast, overload

from .. import _micrograd_rs as _rs
from .._micrograd_rs import Tensor, as_tensor
from .._names import Lazy as _Lazy
from .._names import kind_of

if TYPE_CHECKING:
    import os

__all__ = ["Picture", "confusion_matrix", "curves", "histogram", "images", "scatter"]

__getattr__ = _Lazy(__name__)


# Formats that other programs make of SVG.
_OTHERS = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".pdf", ".ps", ".eps"))


class Picture:
    """An SVG picture: its text under `svg`."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file, as SVG. Raises `ValueError` where the name ends as those of other formats do (`.png`, `.pdf`, …)."""
        whole: str = fspath(path)
        name, ending = splitext(whole)
        if ending.lower() in _OTHERS:
            text = f"Picture.save: writes SVG, and {ending} is another format: save {name + '.svg'!r}, which browsers show and other programs convert"
            raise ValueError(text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg)} bytes of SVG; save() writes it)"


def _points(series: Any) -> list[tuple[float, float]]:
    if isinstance(series, Tensor) or hasattr(series, "__array_interface__"):
        series = as_tensor(series).detach().tolist()
    items: list[Any] = list(series)
    if items and isinstance(items[0], (tuple, list)):
        return [(float(pair[0]), float(pair[1])) for pair in items]
    return [(float(i), float(y)) for i, y in enumerate(items)]


def _numbers(what: str, which: str, values: Any) -> list[float]:
    """A line of numbers."""
    if isinstance(values, Tensor) or hasattr(values, "__array_interface__"):
        t = as_tensor(values)
        if t.ndim != 1:
            raise ValueError(f"plot.{what}: {which} is a line of numbers, got a tensor {list(t.shape)}")
        values = t.detach().tolist()
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"plot.{what}: {which} is a line of numbers, got {kind_of(cast('object', values))}")
    return [float(value) for value in values]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _together(what: str, x: Any, arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """What is drawn, and the other arguments: `(x, y, …)`, as matplotlib has it, is made pairs."""
    if not arguments or isinstance(arguments[0], str):
        return x, arguments
    xs, ys = _numbers(what, "x", x), _numbers(what, "y", arguments[0])
    if len(xs) != len(ys):
        raise ValueError(f"plot.{what}: x and y have as many numbers, got {len(xs)} and {len(ys)}")
    return list(zip(xs, ys, strict=True)), arguments[1:]


_WORDS = ("title", "xlabel", "ylabel")


def _named(what: str, arguments: tuple[Any, ...], given: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Arguments by their names."""
    if len(arguments) > len(names):
        raise TypeError(f"plot.{what}: takes {', '.join(names)} behind what it draws, got {len(arguments)} arguments")
    for name, value in zip(names, arguments):
        if name in given:
            raise TypeError(f"plot.{what}: got two values for {name}")
        given[name] = value
    for name, value in given.items():
        if name not in names:
            raise TypeError(f"plot.{what}: takes {', '.join(names)}, got {name}")
        if name in _WORDS and not isinstance(value, str):
            raise TypeError(f"plot.{what}: {name} is text, got {type(value).__name__}")
    return {"title": "", "xlabel": "", "ylabel": "", **given}


@overload
def curves(series: Mapping[str, Any] | Any, title: str = "", xlabel: str = "", ylabel: str = "", log: bool = False) -> Picture: ...
@overload
def curves(x: Any, y: Any, /, title: str = "", xlabel: str = "", ylabel: str = "", log: bool = False) -> Picture: ...
def curves(series: Any, *arguments: Any, **given: Any) -> Picture:
    """Curves by name: each a sequence or a tensor of numbers, or of pairs. `curves(x, y)` is one curve through points of which all `x` stand in one
    line of numbers and all `y` in another, as in matplotlib. With `log` the upright axis is logarithmic. What is not finite is a gap.

    >>> curves({"train": [1.0, 0.5], "test": [1.0, 0.75]}, title="Loss").svg.count('fill="none"')
    2
    >>> curves([0.1, 0.2, 0.4], [3.0, 2.0, 1.0], xlabel="rate").svg.count('fill="none"')
    1
    """
    series, rest = _together("curves", series, arguments)
    options = _named("curves", rest, given, (*_WORDS, "log"))
    named = cast("Mapping[str, Any]", series if isinstance(series, Mapping) else {"": series})
    all_ = [(name, _points(s)) for name, s in named.items()]
    return Picture(_rs._svg_curves(all_, options["title"], options["xlabel"], options["ylabel"], options.get("log", False)))


@overload
def scatter(groups: Mapping[str, Any] | Any, title: str = "", xlabel: str = "", ylabel: str = "") -> Picture: ...
@overload
def scatter(x: Any, y: Any, /, title: str = "", xlabel: str = "", ylabel: str = "") -> Picture: ...
def scatter(groups: Any, *arguments: Any, **given: Any) -> Picture:
    """Points by name: each group a sequence of pairs, or a tensor `[n, 2]`; or `scatter(x, y)`, two lines of as many numbers. What is not finite
    is left out.

    >>> scatter({"cats": [(0.0, 1.0)], "dogs": [(1.0, 1.0), (2.0, 0.0)]}).svg.count("<circle")
    3
    >>> scatter([0.0, 1.0, 2.0], [1.0, 1.0, 0.0], title="Animals").svg.count("<circle")
    3
    """
    groups, rest = _together("scatter", groups, arguments)
    options = _named("scatter", rest, given, _WORDS)
    named = cast("Mapping[str, Any]", groups if isinstance(groups, Mapping) else {"": groups})
    pairs = [(name, _points(g)) for name, g in named.items()]
    return Picture(_rs._svg_scatter(pairs, options["title"], options["xlabel"], options["ylabel"]))


def histogram(values: Any, bins: int = 30, title: str = "") -> Picture:
    """How numbers are spread over so many bins of one width."""
    return Picture(_rs._svg_histogram(as_tensor(values), bins, title))


def images(values: Any, columns: int = 8, scale: float = 3.0) -> Picture:
    """Images side by side: `[n, channels, height, width]`, `[n, height, width]` or `[height, width]`, of floats from 0 to 1 or of uint8;
    each pixel `scale` wide.
    """
    t = as_tensor(values).detach()
    t = t if t.is_floating_point() else t.float() / 255.0
    while t.ndim < 3:
        t = t.unsqueeze(0)
    return Picture(_rs._svg_images(t.unsqueeze(1) if t.ndim == 3 else t, columns, scale))


def confusion_matrix(matrix: Any, labels: Sequence[str] = (), title: str = "") -> Picture:
    """A confusion matrix, as `metrics.ConfusionMatrix` computes it: a row for each label, a column for each prediction."""
    return Picture(_rs._svg_confusion_matrix(as_tensor(matrix), [str(label) for label in labels], title))
