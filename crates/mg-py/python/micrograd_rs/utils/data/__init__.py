"""Data sets, samplers and the loader that makes batches of them.

>>> import micrograd_rs as mg
>>> from micrograd_rs.utils.data import DataLoader, TensorDataset
>>> loader = DataLoader(TensorDataset(mg.arange(6.0), mg.arange(6)), batch_size=4)
>>> [(x.tolist(), y.tolist()) for x, y in loader]
[([0.0, 1.0, 2.0, 3.0], [0, 1, 2, 3]), ([4.0, 5.0], [4, 5])]
"""

from __future__ import annotations

import sys
from types import ModuleType

from ..._names import Lazy as _Lazy
from .collate import default_collate, default_convert
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .files import ImageFolder, Table, decode_image, read_csv, read_idx, read_image
from .loader import DataLoader
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .workers import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "ImageFolder",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "Table",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "decode_image",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
    "read_csv",
    "read_idx",
    "read_image",
]

# `from micrograd_rs.utils.data._utils.collate import default_collate` finds it.
_utils = ModuleType(f"{__name__}._utils", "As `torch.utils.data._utils`: `collate`, `pin_memory`, and the loader's workers.")
_utils.collate = sys.modules[f"{__name__}.collate"]  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
_utils.pin_memory = sys.modules[f"{__name__}.collate"]  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
_utils.worker = sys.modules[f"{__name__}.workers"]  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
sys.modules[f"{__name__}._utils"] = _utils
sys.modules[f"{__name__}._utils.collate"] = sys.modules[f"{__name__}.collate"]
sys.modules[f"{__name__}._utils.pin_memory"] = sys.modules[f"{__name__}.collate"]
sys.modules[f"{__name__}._utils.worker"] = sys.modules[f"{__name__}.workers"]

__getattr__ = _Lazy(__name__, ("dataloader", "distributed"))
