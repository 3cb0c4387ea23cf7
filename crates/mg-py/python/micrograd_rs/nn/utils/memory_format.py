"""Orders of weights in memory, of which kernels here need none."""

from __future__ import annotations

from ..._micrograd_rs import memory_format as _Format
from ..module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Module, memory_format: _Format) -> Module:
    """The module as it is: weights lie in one way here.

    Arguments:
        module: the module
        memory_format: of no effect

    >>> conv = mg.nn.Conv2d(1, 2, 3)
    >>> mg.nn.utils.convert_conv2d_weight_memory_format(conv, mg.channels_last) is conv
    True
    """
    return module


def convert_conv3d_weight_memory_format(module: Module, memory_format: _Format) -> Module:
    """The module as it is: weights lie in one way here.

    Arguments:
        module: the module
        memory_format: of no effect

    >>> conv = mg.nn.Conv3d(1, 2, 3)
    >>> mg.nn.utils.convert_conv3d_weight_memory_format(conv, mg.channels_last_3d) is conv
    True
    """
    return module
