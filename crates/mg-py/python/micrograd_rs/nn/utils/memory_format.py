"""Orders of weights in memory."""

from __future__ import annotations

from ..._micrograd_rs import memory_format as _Format
from ..convolutions import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Module, memory_format: _Format) -> Module:
    """Has the weights of all convolutions of images in a module lie so, and answers with the module.

    Arguments:
        module: the module
        memory_format: `channels_last` or `contiguous_format`

    >>> conv = mg.nn.Conv2d(2, 2, 3)
    >>> mg.nn.utils.convert_conv2d_weight_memory_format(conv, mg.channels_last).weight.stride()
    (18, 1, 6, 2)
    """
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Module, memory_format: _Format) -> Module:
    """Has the weights of all convolutions of volumes in a module lie so, and answers with the module.

    Arguments:
        module: the module
        memory_format: `channels_last_3d` or `contiguous_format`

    >>> conv = mg.nn.Conv3d(2, 2, 3)
    >>> mg.nn.utils.convert_conv3d_weight_memory_format(conv, mg.channels_last_3d).weight.stride()
    (54, 1, 18, 6, 2)
    """
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: Module, kinds: tuple[type[Module], ...], memory_format: _Format) -> Module:
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().contiguous(memory_format=memory_format)
    return module
