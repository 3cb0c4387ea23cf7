"""Names of types that programs take from `torch.jit.annotations`. Nothing reads annotations here.

>>> from micrograd_rs.jit.annotations import BroadcastingList2
>>> def pool(kernel_size: BroadcastingList2[int]) -> None: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Dict, List, Optional, Tuple, TypeAlias, TypeVar, Union  # pyright: ignore[reportDeprecated]

from .._names import Lazy as _Lazy

__all__ = ["Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List", "Optional", "Tuple", "Union"]

_T = TypeVar("_T")

# One for all axes, or one for each.
BroadcastingList1: TypeAlias = Union[_T, Sequence[_T]]  # pyright: ignore[reportDeprecated]
BroadcastingList2: TypeAlias = BroadcastingList1[_T]
BroadcastingList3: TypeAlias = BroadcastingList1[_T]

__getattr__ = _Lazy(__name__)
