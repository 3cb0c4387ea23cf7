"""Kernels of one's own: functions of numbers that become elementwise operations, and text for a GPU's compiler.

>>> import micrograd_rs as mg
>>> @mg.kernel
... def swish(x, beta=1.0):
...     return x / (1 + mg.exp(-beta * x))
>>> x = mg.Tensor([0.0, 1.0])
>>> y = swish(x, beta=2.0)
>>> y.sum().backward()
>>> x.grad.tolist()
[0.5, 1.090784...]

See docs/kernels.md.
"""

from __future__ import annotations

from .._names import Lazy as _Lazy
from ._kernel import Kernel, kernel
from ._raw import RawKernel, raw
from ._read import KernelError

__all__ = ["Kernel", "KernelError", "RawKernel", "kernel", "raw"]

__getattr__ = _Lazy(__name__)
