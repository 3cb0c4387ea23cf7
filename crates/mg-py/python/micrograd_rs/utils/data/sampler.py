"""Samplers: in what order samples are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar, cast

from ..._micrograd_rs import Generator, Tensor, as_tensor, float64, randint
from ..._names import Lazy as _Lazy
from ..._ops import multinomial, randperm

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

__getattr__ = _Lazy(__name__)

T_co = TypeVar("T_co", covariant=True)

# How many numbers are drawn before the first of them is taken.
_AT_ONCE = 1 << 20


class Sampler(Generic[T_co]):
    """Numbers of samples, or lists of them, in some order: a subclass has `__iter__`, and `__len__` where it is known.

    >>> class Backwards(mg.utils.data.Sampler):
    ...     def __init__(self, data):
    ...         self.data = data
    ...     def __iter__(self):
    ...         return iter(range(len(self.data) - 1, -1, -1))
    >>> data = [10, 20, 30]
    >>> [batch.tolist() for batch in mg.utils.data.DataLoader(data, batch_size=2, sampler=Backwards(data))]
    [[30, 20], [10]]

    Arguments:
        data_source: of no effect
    """

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} does not say its order: write its __iter__()")


class SequentialSampler(Sampler[int]):
    """The numbers from 0 on, as many as there are samples.

    >>> list(mg.utils.data.SequentialSampler(["a", "b", "c"]))
    [0, 1, 2]

    Arguments:
        data_source: the data set, of which `len` is asked
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def new_seed(generator: Generator | None) -> int:
    """A seed that is drawn from a generator, or from the default one."""
    return int(randint(0, 2**62, (1,), generator=generator).item())


class Drawn(Sampler[int]):
    """An order that is drawn. A loader draws it from a seed that is part of its state."""

    generator: Generator | None

    def __iter__(self) -> Iterator[int]:
        generator = self.generator or Generator().manual_seed(new_seed(None))
        return iter(self.order(generator))

    def order(self, generator: Generator) -> Iterable[int]:
        """The numbers of an epoch, in its order: an iterator.

        Arguments:
            generator: what they are drawn from
        """
        pieces = self.pieces(generator)
        if pieces is not None:
            return (i for piece in pieces for i in cast("list[int]", piece.tolist()))
        return cast("list[int]", self.rows(generator).tolist())

    def pieces(self, generator: Generator) -> Iterator[Tensor] | None:
        """The numbers of an epoch, drawn as they are asked for, where there are too many to draw at once; otherwise None.

        Arguments:
            generator: what they are drawn from
        """
        return None

    def rows(self, generator: Generator) -> Tensor:
        """The numbers of an epoch in its order, an int64 tensor `[samples]`.

        Arguments:
            generator: what they are drawn from
        """
        raise NotImplementedError


class RandomSampler(Drawn):
    """The numbers of samples in a random order, another one in each loop. More than a million are drawn as they are asked for.

    >>> sorted(mg.utils.data.RandomSampler(range(5)))
    [0, 1, 2, 3, 4]

    Arguments:
        data_source: the data set, of which `len` is asked
        replacement: whether each number is drawn from all, so that some come several times and some do not
        num_samples: how many numbers a loop has; None: as many as there are samples
        generator: what they are drawn from; None: the default generator
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if num_samples is not None and num_samples < 0:
            raise ValueError(f"RandomSampler takes a number of samples of at least 0, got {num_samples}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """How many samples there are."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def pieces(self, generator: Generator) -> Iterator[Tensor] | None:
        n, wanted = len(self.data_source), self.num_samples
        if wanted <= max(_AT_ONCE, 0 if self.replacement else n) or not n:
            return None
        size = _AT_ONCE if self.replacement else n

        def drawn() -> Iterator[Tensor]:
            # The same numbers as all at once.
            for start in range(0, wanted, size):
                count = min(size, wanted - start)
                yield randint(0, n, (count,), generator=generator) if self.replacement else randperm(n, generator=generator)[:count]

        return drawn()

    def rows(self, generator: Generator) -> Tensor:
        n, wanted = len(self.data_source), self.num_samples
        if self.replacement and n:
            return randint(0, n, (wanted,), generator=generator)
        if wanted <= n:
            return randperm(n, generator=generator)[:wanted]
        if not n:
            raise ValueError("RandomSampler: there are no samples to draw from")
        from ..._ops import cat

        parts = [randperm(n, generator=generator) for _ in range(-(-wanted // n))]
        return cat(parts)[:wanted]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Drawn):
    """Some numbers in a random order, another one in each loop.

    >>> sorted(mg.utils.data.SubsetRandomSampler([7, 3, 5]))
    [3, 5, 7]

    Arguments:
        indices: the numbers
        generator: what the order is drawn from; None: the default generator
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def order(self, generator: Generator) -> Sequence[int]:
        return [self.indices[i] for i in cast("list[int]", randperm(len(self.indices), generator=generator).tolist())]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Drawn):
    """Numbers drawn by weights, which need not add up to 1.

    >>> list(mg.utils.data.WeightedRandomSampler([0.0, 1.0, 0.0], 4))
    [1, 1, 1, 1]

    Arguments:
        weights: a weight for each sample, at least 0, in a sequence or a tensor `[samples]`
        num_samples: how many numbers a loop has
        replacement: whether a number may come more than once; without it there are at least as many samples
        generator: what they are drawn from; None: the default generator
    """

    def __init__(
        self,
        weights: Sequence[float] | Tensor,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        if num_samples < 1:
            raise ValueError(f"WeightedRandomSampler takes at least 1 sample, got {num_samples}")
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError(f"WeightedRandomSampler takes weights of one axis, got {tuple(self.weights.shape)}")
        if not replacement and num_samples > len(self.weights):
            raise ValueError(f"WeightedRandomSampler cannot draw {num_samples} of {len(self.weights)} without replacement")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def rows(self, generator: Generator) -> Tensor:
        return multinomial(self.weights, self.num_samples, self.replacement, generator=generator)

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of another sampler's numbers.

    >>> list(mg.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]

    Arguments:
        sampler: what the numbers come from, an iterable
        batch_size: how many are in a list, at least 1
        drop_last: whether a last list that would be shorter is left out
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if batch_size < 1:
            raise ValueError(f"takes a batch of at least 1 sample, got {batch_size}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return self.batches(self.sampler)

    def batches(self, order: Iterable[int]) -> Iterator[list[int]]:
        """The lists of an order: an iterator.

        Arguments:
            order: the numbers, in any iterable
        """
        batch: list[int] = []
        for i in order:
            batch.append(i)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        n = len(cast("Any", self.sampler))
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
