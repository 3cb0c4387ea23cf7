"""Modules of several devices, of which there is one here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._names import Lazy as _Lazy
from .module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """A module `module` in a module: on one device, which is what there is, its calls are that module's.

    ValueError where `device_ids` names several.
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError(f"a module is on one device here, got {list(device_ids)}")
        self.module = module
        self.dim = dim
        self.device_ids = list(device_ids or [])
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


__getattr__ = _Lazy(__name__)
