"""Python's `multiprocessing`, under PyTorch's name: a tensor that is sent to another process is copied."""

from __future__ import annotations

from multiprocessing import *  # pyright: ignore[reportWildcardImportFromLibrary]
from multiprocessing import __all__ as __all__
