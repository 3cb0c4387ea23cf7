"""How long statements take, under the names of PyTorch's `utils.benchmark`.

>>> import micrograd_rs as mg
>>> from micrograd_rs.utils import benchmark
>>> timer = benchmark.Timer("x @ x", globals={"x": mg.ones(8, 8)}, label="product")
>>> timer.timeit(10).median > 0
True
"""

from __future__ import annotations

from ..._names import Lazy as _Lazy
from .compare import Colorize, Compare
from .measurement import Measurement, TaskSpec, select_unit, trim_sigfig
from .timer import Language, Timer, timer

__all__ = ["Colorize", "Compare", "Language", "Measurement", "TaskSpec", "Timer", "select_unit", "timer", "trim_sigfig"]

__getattr__ = _Lazy(__name__)
