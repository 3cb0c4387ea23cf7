"""Ranges under the names of PyTorch's `cuda.nvtx`: a profile (`profiler.profile`) has them. NVIDIA's tools do not see them.

>>> from micrograd_rs.cuda import nvtx
>>> nvtx.range_push("epoch"), nvtx.range_push("step"), nvtx.range_pop(), nvtx.range_pop()
(0, 1, 1, 0)
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._names import Lazy as _Lazy
from ..profiler._ranges import pushed as _pushed
from ..profiler._ranges import record_function as _record

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

__getattr__ = _Lazy(__name__)


def range_push(msg: str) -> int:
    """Begins a range within those that this thread has begun; answers with how many they are."""
    stack = _pushed()
    stack.append(_record(msg).__enter__())
    return len(stack) - 1


def range_pop() -> int:
    """Ends the range that this thread began last; answers with how many are around it. RuntimeError where there is none."""
    stack = _pushed()
    if not stack:
        raise RuntimeError("range_pop: this thread has begun no range")
    stack.pop().__exit__()
    return len(stack)


def range_start(msg: str) -> Any:
    """Begins a range that any thread may end."""
    return _record(msg).__enter__()


def range_end(range_id: Any) -> None:
    """Ends a range that `range_start` began."""
    range_id.__exit__()


def mark(msg: str) -> None:
    """A range without length."""
    with _record(msg):
        pass


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Generator[None]:
    """A block, or a function, as a range; the message is formatted with what else is given."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
