"""Switches of what computes. Those that PyTorch has for libraries that are not used here are kept, and change nothing.

>>> import micrograd_rs as mg
>>> mg.backends.cudnn.benchmark = True
>>> mg.backends.mps.is_available()
False
"""

from __future__ import annotations

import sys
from typing import Any

from .. import _micrograd_rs as _rs
from .._names import Lazy as _Lazy

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]


class _Matmul:
    """How products on CUDA devices are computed."""

    allow_fp16_reduced_precision_reduction: bool = True
    allow_bf16_reduced_precision_reduction: bool = True

    @property
    def allow_tf32(self) -> bool:
        """Whether operands of f32 may be rounded to tf32: what `set_float32_matmul_precision` says."""
        return _rs.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, on: bool) -> None:
        _rs.set_float32_matmul_precision("high" if on else "highest")

    @property
    def fp32_precision(self) -> str:
        """ "tf32" or "ieee"."""
        return "tf32" if self.allow_tf32 else "ieee"

    @fp32_precision.setter
    def fp32_precision(self, name: str) -> None:
        self.allow_tf32 = name == "tf32"


class _Cuda:
    """CUDA devices."""

    matmul = _Matmul()

    @staticmethod
    def is_built() -> bool:
        """True: kernels for CUDA devices are in the package."""
        return True

    def _ours(self, *args: Any, **kwargs: Any) -> None:
        """Has no effect: attention has one kernel for each shape."""

    enable_flash_sdp = enable_mem_efficient_sdp = enable_math_sdp = enable_cudnn_sdp = _ours

    def flash_sdp_enabled(self) -> bool:
        """True: attention does not lay out its scores in memory."""
        return True

    mem_efficient_sdp_enabled = math_sdp_enabled = cudnn_sdp_enabled = flash_sdp_enabled


class _Cudnn:
    """Convolutions are our own kernels', always the same for a shape: these switches are kept, and change nothing."""

    enabled: bool = True
    benchmark: bool = False
    deterministic: bool = True
    benchmark_limit: int = 10

    @staticmethod
    def is_available() -> bool:
        """False: it is not used."""
        return False

    @staticmethod
    def version() -> None:
        """None."""
        return None

    @property
    def allow_tf32(self) -> bool:
        """As `cuda.matmul.allow_tf32`."""
        return cuda.matmul.allow_tf32

    @allow_tf32.setter
    def allow_tf32(self, on: bool) -> None:
        cuda.matmul.allow_tf32 = on


class _Absent:
    """What is not used here."""

    enabled: bool = False

    @staticmethod
    def is_available() -> bool:
        """False."""
        return False

    @staticmethod
    def is_built() -> bool:
        """False."""
        return False


class _Cpu:
    """The processor."""

    @staticmethod
    def get_cpu_capability() -> str:
        """A name for what code is made for: loops are compiled on the machine that they run on."""
        return "NATIVE"


cpu = _Cpu()
cuda = _Cuda()
cudnn = _Cudnn()
mkl = _Absent()
mkldnn = _Absent()
mps = _Absent()
openmp = _Absent()

# `import micrograd_rs.backends.cudnn as cudnn` finds it, as a module would be found.
for _name in __all__:
    sys.modules[f"{__name__}.{_name}"] = globals()[_name]

__getattr__ = _Lazy(__name__)
