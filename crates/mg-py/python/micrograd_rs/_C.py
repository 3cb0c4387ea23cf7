"""What libraries call of PyTorch's own C++ side where they begin: it counts no calls, and nothing is traced.

>>> import micrograd_rs as mg
>>> mg._C._log_api_usage_once("a library's class")
"""

from __future__ import annotations

from ._names import Lazy as _Lazy

__all__ = ["_get_tracing_state", "_log_api_usage_once"]


def _log_api_usage_once(event: str) -> None:
    """Nothing: nobody is told what is used."""


def _get_tracing_state() -> None:
    """None: programs are not traced."""


__getattr__ = _Lazy(__name__)
