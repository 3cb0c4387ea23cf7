"""What `autocast` and `GradScaler` are for one type of device, under the names that PyTorch had for them first."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .autocast_mode import autocast
from .grad_scaler import _DEFAULTS, GradScaler

if TYPE_CHECKING:
    from .._micrograd_rs import dtype as _DType


class AutocastOf(autocast):
    """`amp.autocast` of the class's type of device, in its dtype unless another is asked for."""

    _type: ClassVar[str]
    _lower: ClassVar[_DType]

    def __init__(self, enabled: bool = True, dtype: _DType | None = None, cache_enabled: bool = True) -> None:
        super().__init__(self._type, dtype=self._lower if dtype is None else dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScalerOf(GradScaler):
    """`amp.GradScaler` of the class's type of device."""

    _type: ClassVar[str]

    def __init__(
        self,
        init_scale: float = _DEFAULTS["init_scale"],
        growth_factor: float = _DEFAULTS["growth_factor"],
        backoff_factor: float = _DEFAULTS["backoff_factor"],
        growth_interval: int = _DEFAULTS["growth_interval"],
        enabled: bool = True,
    ) -> None:
        super().__init__(self._type, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
