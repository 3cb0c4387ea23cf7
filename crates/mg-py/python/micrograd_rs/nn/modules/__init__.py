"""The classes of `nn`, as `torch.nn.modules` and the modules in it have them: `nn.modules.conv.Conv2d` is `nn.Conv2d`."""

from __future__ import annotations

import sys
from collections import OrderedDict
from importlib import import_module
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


# What is not in `nn`: where it is here, and its name there.
_BASES = {
    "NonDynamicallyQuantizableLinear": ("multihead", "NonDynamicallyQuantizableLinear"),
    "_AdaptiveAvgPoolNd": ("pooling", "_AdaptiveAvgPool"),
    "_AdaptiveMaxPoolNd": ("pooling", "_AdaptiveMaxPool"),
    "_AvgPoolNd": ("pooling", "_AvgPoolNd"),
    "_BatchNorm": ("norms", "_BatchNorm"),
    "_CircularPadNd": ("images", "_CircularPad"),
    "_ConstantPadNd": ("images", "_ConstantPad"),
    "_ConvNd": ("convolutions", "_ConvNd"),
    "_ConvTransposeNd": ("convolutions", "_ConvTransposeNd"),
    "_DropoutNd": ("activations", "_Dropout"),
    "_InstanceNorm": ("norms", "_InstanceNorm"),
    "_LPPoolNd": ("pooling", "_LPPool"),
    "_LazyConvXdMixin": ("lazy", "_LazyConvXdMixin"),
    "_LazyNormBase": ("lazy", "_LazyNormBase"),
    "_Loss": ("losses", "_Loss"),
    "_MaxPoolNd": ("pooling", "_MaxPool"),
    "_MaxUnpoolNd": ("pooling", "_MaxUnpool"),
    "_NormBase": ("norms", "_NormBase"),
    "_ReflectionPadNd": ("images", "_ReflectionPad"),
    "_ReplicationPadNd": ("images", "_ReplicationPad"),
    "_WeightedLoss": ("losses", "_WeightedLoss"),
    "_get_activation_fn": ("transformer", "_activation"),
    "_get_clones": ("transformer", "_copies"),
}


class _Part(ModuleType):
    """One of PyTorch's modules: it has what `nn` has, and the classes that others are derived of."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        if name in _BASES:
            place, own = _BASES[name]
            return getattr(import_module(f"..{place}", __name__), own)
        return OrderedDict if name == "OrderedDict" else getattr(_nn, name)


for _part in _PARTS:
    sys.modules[f"{__name__}.{_part}"] = _Part(f"{__name__}.{_part}", f"What `nn` has, as `torch.nn.modules.{_part}` does.")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return sys.modules[f"{__name__}.{name}"]
    if name in ("module", "utils"):
        return import_module(f"{__name__}.{name}")
    return getattr(_nn, name)
