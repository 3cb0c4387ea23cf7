"""A part of the samples for each of several processes."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

from ..._micrograd_rs import Generator
from ..._names import Lazy as _Lazy
from ..._ops import randperm
from .sampler import Sampler

__all__ = ["DistributedSampler"]

__getattr__ = _Lazy(__name__)


class DistributedSampler(Sampler[int]):
    """The samples of one of several processes: every `num_replicas`th from number `rank` on, of all in order, or shuffled, the same in all processes. So
    that all have as many, the first come again at the end, or with `drop_last` the last are left out.

    >>> from micrograd_rs.utils.data import DistributedSampler
    >>> [list(DistributedSampler(range(5), num_replicas=2, rank=rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]

    Arguments:
        dataset: the data set, of which `len` is asked
        num_replicas: how many processes share the samples
        rank: which of them this is, from 0 to `num_replicas − 1`
        shuffle: whether the order is another in each epoch, which `set_epoch` says
        seed: what the order is drawn by, with the epoch; the same in all processes
        drop_last: whether samples that are too many for equal shares are left out

    Errors: RuntimeError where `num_replicas` or `rank` is not said: there are no groups of processes to ask here; ValueError for a `rank` that is
    none of them.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise RuntimeError("DistributedSampler: there is no group of processes to ask: say num_replicas and rank")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset: Sized = dataset
        self.num_replicas, self.rank = num_replicas, rank
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else -(-count // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            order = randperm(count, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        if not self.drop_last and count:
            order *= -(-self.total_size // count)
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Has the next loop be shuffled by this epoch: without it, all are shuffled alike.

        Arguments:
            epoch: its number

        >>> sampler = mg.utils.data.DistributedSampler(range(100), num_replicas=2, rank=0)
        >>> first = list(sampler)
        >>> sampler.set_epoch(1)
        >>> list(sampler) == first
        False
        """
        self.epoch = epoch
