"""`micrograd_rs.amp` for CUDA devices, under the names that PyTorch had for it first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import amp as _amp
from .._micrograd_rs import float16 as _f16
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._micrograd_rs import dtype as _DType

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = _Lazy(__name__)


class autocast(_amp.autocast):
    """`amp.autocast("cuda")`."""

    def __init__(self, enabled: bool = True, dtype: _DType = _f16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`amp.GradScaler("cuda")`."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: _DType | None = None) -> Callable[..., Any]:
    """`amp.custom_fwd(device_type="cuda")`."""
    return _amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Callable[..., Any]:
    """`amp.custom_bwd(device_type="cuda")`."""
    return _amp.custom_bwd(bwd, device_type="cuda")
