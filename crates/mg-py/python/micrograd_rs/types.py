"""Names for annotations, as `torch.types` has them."""

from __future__ import annotations

import os

from ._micrograd_rs import Device, Tensor, layout
from ._micrograd_rs import dtype as _DType
from ._names import Lazy as _Lazy
from ._size import Size

__all__ = ["BoolLikeType", "Device", "FileLike", "FloatLikeType", "IntLikeType", "Number", "Size", "Tensor"]

Number = int | float | bool
# PyTorch has sizes that are not known yet besides.
BoolLikeType = bool
FloatLikeType = float
IntLikeType = int
FileLike = str | os.PathLike[str]
# What PyTorch's own signatures say.
_dtype = _DType
_device = Device
_layout = layout
_int = int
_float = float
_bool = bool
_size = Size | list[int] | tuple[int, ...]
_TensorOrTensors = Tensor | tuple[Tensor, ...]

__getattr__ = _Lazy(__name__)
