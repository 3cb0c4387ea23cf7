"""What attention is computed with, under the names of PyTorch's `nn.attention`; scores of one's own are in `nn.attention.flex_attention`, sequences
of several lengths in `nn.attention.varlen`.

>>> import micrograd_rs as mg
>>> from micrograd_rs.nn.attention import SDPBackend, sdpa_kernel
>>> q = mg.randn(1, 2, 4, 8)
>>> with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
...     mg.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).shape
(1, 2, 4, 8)
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

from ..._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Generator

    from . import bias, flex_attention, varlen

__all__ = ["SDPBackend", "bias", "flex_attention", "sdpa_kernel", "varlen"]


class SDPBackend(IntEnum):
    """PyTorch's ways to compute `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: SDPBackend | list[SDPBackend], set_priority: bool = False) -> Generator[None]:
    """A block, or a function, in which attention is computed by one of some ways. There is one here for each shape, dtype and device, and
    its answer is that of each of them: the choice changes nothing. TypeError for what names no way.
    """
    for each in backends if isinstance(backends, list) else [backends]:
        if not isinstance(each, SDPBackend):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"sdpa_kernel: takes an SDPBackend or a list of them, got {backends!r}")
    yield


__getattr__ = _Lazy(__name__, ("bias", "flex_attention", "varlen"))
