"""`micrograd_rs.amp` for CUDA devices, under the names that PyTorch had for it first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import amp as _amp
from .._micrograd_rs import float16 as _f16
from .._names import Lazy as _Lazy
from ..amp.of_device import AutocastOf as _AutocastOf
from ..amp.of_device import GradScalerOf as _GradScalerOf

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._micrograd_rs import dtype as _DType

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = _Lazy(__name__)


class autocast(_AutocastOf):
    """`amp.autocast("cuda")`."""

    _type, _lower = "cuda", _f16


class GradScaler(_GradScalerOf):
    """`amp.GradScaler("cuda")`."""

    _type = "cuda"


def custom_fwd(fwd: Any = None, *, cast_inputs: _DType | None = None) -> Callable[..., Any]:
    """`amp.custom_fwd(device_type="cuda")`."""
    return _amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Callable[..., Any]:
    """`amp.custom_bwd(device_type="cuda")`."""
    return _amp.custom_bwd(bwd, device_type="cuda")
