"""Data sets and batches: what `utils.data` has, MNIST, and batches by their numbers alone."""

from __future__ import annotations

import os
from typing import NamedTuple

from ._micrograd_rs import Tensor, _batches, _drawn_digits, _mnist
from ._names import Lazy as _Lazy
from .utils import data as _data
from .utils.data import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Batches", "Mnist", *_data.__all__]  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__ = _Lazy(__name__)


class Mnist(NamedTuple):
    """Images of ten classes with their labels, in two parts.

    >>> digits = mg.data.Mnist.drawn(train=100, test=10)
    >>> digits.train_images.shape, digits.test_labels.dtype
    ((100, 28, 28), micrograd_rs.uint8)

    Arguments:
        train_images: images to learn from, uint8 `[n, rows, columns]`
        train_labels: their classes, uint8 `[n]`
        test_images: other images, uint8 `[m, rows, columns]`
        test_labels: their classes, uint8 `[m]`
    """

    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Mnist:
        """Reads MNIST's four files in a folder, as they are published.

        Arguments:
            folder: the folder, with `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`, each
                with or without `.gz` behind it

        Errors: OSError for a file that cannot be read, ValueError for one that is something else.
        """
        return cls(*_mnist(folder))

    @classmethod
    def load_or_draw(cls, folder: str | os.PathLike[str] | None = None, drawn: int | None = None, *, usual: int = 60_000, seed: int = 0) -> Mnist:
        """The data set that a program's user asks for. Where `drawn` is above 0, it is so many digits that are drawn here, and a sixth as many to test
        with. Else it is the files in `folder`, and without that the files in the folder that the environment variable MNIST_DIR names. Where nothing is
        asked for, `usual` digits are drawn.

        Arguments:
            folder: a folder with MNIST's four files, as `load` takes it
            drawn: how many training images are drawn, whatever files there are; None and 0 leave it open
            usual: how many are drawn where neither a folder nor a number is given
            seed: of what is drawn

        Errors: ValueError for both a folder and a number, and for more than 2²⁴ digits; OSError for a folder without the files.

        >>> digits = mg.data.Mnist.load_or_draw(drawn=12)
        >>> digits.train_images.shape, digits.test_images.shape
        ((12, 28, 28), (2, 28, 28))
        """
        if drawn and folder:
            raise ValueError(f"Mnist.load_or_draw: takes a folder with the files or a number of digits to draw, got both: {os.fspath(folder)} and {drawn}")
        if not drawn and (found := folder or os.environ.get("MNIST_DIR")):
            return cls.load(found)
        count = drawn or usual
        return cls.drawn(count, count // 6, seed)

    @classmethod
    def drawn(cls, train: int = 60_000, test: int = 10_000, seed: int = 0) -> Mnist:
        """Digits that are drawn here, in the form of MNIST, with no file to read: the same for the same seed.

        Arguments:
            train: how many images there are to learn from
            test: how many others there are
            seed: what they are drawn by

        >>> mg.equal(mg.data.Mnist.drawn(3, 1, seed=5).train_images, mg.data.Mnist.drawn(3, 1, seed=5).train_images)
        True
        """
        return cls(*_drawn_digits(train, test, seed))


class Batches:
    """A division of samples into batches: tensors of indices. Each loop over it is the next epoch.

    >>> [batch.tolist() for batch in mg.data.Batches(5, 2)]
    [[0, 1], [2, 3], [4]]

    Arguments:
        n: how many samples there are
        batch: how many a batch has, at least 1
        seed: what the order of each epoch is drawn by, with the epoch's number; None: samples are in order
        drop_last: whether a last batch that would be smaller is left out

    Errors: ValueError for a `batch` below 1.
    """

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
        """The batches of an epoch: a list of int64 tensors of indices.

        Arguments:
            k: the epoch's number, from 0 on

        >>> batches = mg.data.Batches(4, 2, seed=1)
        >>> sorted(i for batch in batches.epoch(3) for i in batch.tolist())
        [0, 1, 2, 3]
        """
        return _batches(self.n, self.batch, self.seed, self.drop_last, k)

    def __iter__(self) -> Iterator[Tensor]:
        """The batches of the next epoch."""
        k = self._epoch
        self._epoch += 1
        return iter(self.epoch(k))
