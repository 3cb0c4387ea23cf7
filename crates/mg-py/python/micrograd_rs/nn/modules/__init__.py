"""The classes of `nn`, as `torch.nn.modules` and the modules in it have them: `nn.modules.conv.Conv2d` is `nn.Conv2d`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ... import nn as _nn

_PARTS = (
    "activation",
    "adaptive",
    "batchnorm",
    "channelshuffle",
    "container",
    "conv",
    "distance",
    "dropout",
    "flatten",
    "fold",
    "instancenorm",
    "lazy",
    "linear",
    "loss",
    "normalization",
    "padding",
    "pixelshuffle",
    "pooling",
    "rnn",
    "sparse",
    "transformer",
    "upsampling",
)


class _Part(ModuleType):
    """One of PyTorch's modules: it has what `nn` has, and the classes that others are derived of."""

    def __getattr__(self, name: str) -> Any:
        from .. import containers, convolutions, losses, norms, transformer

        bases = {
            "_BatchNorm": norms._BatchNorm,
            "_ConvNd": convolutions._Conv,
            "_Loss": losses._Loss,
            "_NormBase": norms._Norm,
            "_WeightedLoss": losses._WeightedLoss,
            "_get_clones": transformer._copies,
        }
        if name in bases:
            return bases[name]
        return getattr(containers if name == "OrderedDict" else _nn, name)


for _part in _PARTS:
    sys.modules[f"{__name__}.{_part}"] = _Part(f"{__name__}.{_part}", f"What `nn` has, as `torch.nn.modules.{_part}` does.")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return sys.modules[f"{__name__}.{name}"]
    if name in ("module", "utils"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    return getattr(_nn, name)
