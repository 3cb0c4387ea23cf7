"""As `micrograd_rs.utils.data`: the loader and what stands beside it in `torch.utils.data.dataloader`."""

from __future__ import annotations

from ..._names import Lazy as _Lazy
from .collate import default_collate, default_convert
from .dataset import Dataset, IterableDataset
from .loader import DataLoader
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from .workers import get_worker_info

__all__ = [
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
]

__getattr__ = _Lazy(__name__)
