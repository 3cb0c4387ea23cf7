"""Which version this is.

>>> import micrograd_rs as mg
>>> mg.version.__version__ == mg.__version__
True
"""

from __future__ import annotations

from ._micrograd_rs import Device, __version__
from ._names import Lazy as _Lazy

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

debug = False
git_version: str | None = None
hip: str | None = None
xpu: str | None = None


def _of_driver() -> str | None:
    if not Device.is_cuda_available():
        return None
    from .cuda._driver import version

    return version()


# The version of CUDA that the driver speaks: kernels are made for it on the machine. None where there is no device.
cuda: str | None = _of_driver()

__getattr__ = _Lazy(__name__)
