"""Switches of what computes. Those that PyTorch has for libraries that are not used here are kept, and change nothing.

>>> import micrograd_rs as mg
>>> mg.backends.cudnn.benchmark = True
>>> mg.backends.mps.is_available()
False
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import _micrograd_rs as _rs
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum"]


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

    @staticmethod
    @contextmanager
    def sdp_kernel(
        enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
    ) -> Generator[None]:
        """A block in which attention is computed by some of PyTorch's ways; see `nn.attention.sdpa_kernel`."""
        yield

    @staticmethod
    def preferred_linalg_library(backend: str | None = None) -> str:
        """ "default": factorisations are done by the processor, whichever is asked for."""
        return "default"

    @staticmethod
    def preferred_blas_library(backend: str | None = None) -> str:
        """ "default": products are our own kernels', whichever is asked for."""
        return "default"

    @staticmethod
    def is_flash_attention_available() -> bool:
        """True: attention does not lay out its scores in memory."""
        return True

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

    @staticmethod
    def is_acceptable(tensor: Any) -> bool:
        """False: it is not used."""
        return False

    def set_flags(
        self,
        _enabled: bool | None = None,
        _benchmark: bool | None = None,
        _benchmark_limit: int | None = None,
        _deterministic: bool | None = None,
        _allow_tf32: bool | None = None,
    ) -> tuple[bool, bool, int, bool, bool]:
        """Sets those that are given, and answers with what they were."""
        before = (self.enabled, self.benchmark, self.benchmark_limit, self.deterministic, self.allow_tf32)
        given = {
            "enabled": _enabled,
            "benchmark": _benchmark,
            "benchmark_limit": _benchmark_limit,
            "deterministic": _deterministic,
            "allow_tf32": _allow_tf32,
        }
        for name, value in given.items():
            if value is not None:
                setattr(self, name, value)
        return before

    @contextmanager
    def flags(
        self,
        enabled: bool = False,
        benchmark: bool = False,
        benchmark_limit: int = 10,
        deterministic: bool = False,
        allow_tf32: bool | None = None,
    ) -> Generator[None]:
        """A block in which they are so; `allow_tf32` stays what it is unless it is given."""
        before = self.set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
        try:
            yield
        finally:
            self.set_flags(*before)

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

    @contextmanager
    def flags(self, enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none") -> Generator[None]:
        """A block in which it is not used, as everywhere."""
        yield

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
nnpack = _Absent()
openmp = _Absent()
opt_einsum = _Absent()

# `import micrograd_rs.backends.cudnn as cudnn` finds it, as a module would be found.
for _name in __all__:
    sys.modules[f"{__name__}.{_name}"] = globals()[_name]

__getattr__ = _Lazy(__name__)
