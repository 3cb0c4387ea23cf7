"""The classes of `nn`, as `torch.nn.modules` has them."""

from __future__ import annotations

from typing import Any

from ... import nn as _nn


def __getattr__(name: str) -> Any:
    if name == "module":
        from importlib import import_module

        return import_module(f"{__name__}.module")
    return getattr(_nn, name)
