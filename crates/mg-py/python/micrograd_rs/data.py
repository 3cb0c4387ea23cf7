"""Data sets and batches: what `utils.data` has, MNIST, and batches by their numbers alone."""

from __future__ import annotations

import os
from typing import NamedTuple

from ._micrograd_rs import Tensor, _batches, _drawn_digits, _mnist
from .utils import data as _data
from .utils.data import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Batches", "Mnist", *_data.__all__]  # pyright: ignore[reportUnsupportedDunderAll]


class Mnist(NamedTuple):
    """Images of ten classes with their labels, as u8: images `[n, rows, columns]`, labels `[n]`."""

    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Mnist:
        """Reads MNIST's four files in a folder, as they are published; they may end in `.gz`."""
        return cls(*_mnist(folder))

    @classmethod
    def drawn(cls, train: int = 60_000, test: int = 10_000, seed: int = 0) -> Mnist:
        """Digits that are drawn here, in the form of MNIST: the same for the same seed, with no file to read."""
        return cls(*_drawn_digits(train, test, seed))


class Batches:
    """A division of `n` samples into batches: tensors of indices. With a seed they are shuffled, anew for every epoch."""

    def __init__(self, n: int, batch: int, seed: int | None = None, drop_last: bool = False) -> None:
        if batch < 1:
            raise ValueError(f"Batches: takes a batch of at least 1, got {batch}")
        self.n = n
        self.batch = batch
        self.seed = seed
        self.drop_last = drop_last
        self._epoch = 0

    def __len__(self) -> int:
        return self.n // self.batch if self.drop_last else -(-self.n // self.batch)

    def epoch(self, k: int) -> list[Tensor]:
        """The batches of epoch `k`."""
        return _batches(self.n, self.batch, self.seed, self.drop_last, k)

    def __iter__(self) -> Iterator[Tensor]:
        """The batches of the next epoch."""
        k = self._epoch
        self._epoch += 1
        return iter(self.epoch(k))
