"""Pictures as SVG: curves, points, grids of images, confusion matrices, histograms. Notebooks show them; `save` writes them.

>>> from micrograd_rs.utils import plot
>>> picture = plot.curves({"loss": [1.0, 0.5, 0.25]}, title="Training")
>>> picture.svg[:4]
'<svg'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .. import _micrograd_rs as _rs
from .._micrograd_rs import Tensor, as_tensor
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    import os

__all__ = ["Picture", "confusion_matrix", "curves", "histogram", "images", "scatter"]

__getattr__ = _Lazy(__name__)


class Picture:
    """An SVG picture: its text under `svg`."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
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


def curves(
    series: Mapping[str, Any] | Any, title: str = "", xlabel: str = "", ylabel: str = "", log: bool = False
) -> Picture:
    """Curves by name: each a sequence or a tensor of numbers, or of pairs. With `log` the upright axis is logarithmic. What is not finite is
    a gap.
    """
    named = cast("Mapping[str, Any]", series if isinstance(series, Mapping) else {"": series})
    return Picture(_rs._svg_curves([(name, _points(s)) for name, s in named.items()], title, xlabel, ylabel, log))


def scatter(groups: Mapping[str, Any] | Any, title: str = "", xlabel: str = "", ylabel: str = "") -> Picture:
    """Points by name: each group a sequence of pairs, or a tensor `[n, 2]`. What is not finite is left out."""
    named = cast("Mapping[str, Any]", groups if isinstance(groups, Mapping) else {"": groups})
    pairs = [(name, _points(g)) for name, g in named.items()]
    return Picture(_rs._svg_scatter(pairs, title, xlabel, ylabel))


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
