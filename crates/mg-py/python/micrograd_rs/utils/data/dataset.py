"""Data sets: by number, or one sample after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar, cast

from ..._micrograd_rs import Generator, Tensor, as_tensor, int64, tensor
from ..._names import Lazy as _Lazy
from ..._names import is_foreign, kind_of
from ..._ops import randperm

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

__getattr__ = _Lazy(__name__)

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by number. A subclass has `__getitem__`, and `__len__` for what asks how many there are.

    One that has `__getitems__` too, which answers a list of numbers with a list of samples, is asked for whole batches.

    >>> class Squares(mg.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> [batch.tolist() for batch in mg.utils.data.DataLoader(Squares(), batch_size=2)]
    [[0, 1], [4, 9]]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(f"{type(self).__name__} does not say what its samples are: write its __getitem__()")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Samples one after another: a subclass has `__iter__`. Each worker of a loader iterates over its own copy; `get_worker_info()` says
    which one it is, so that each can take its part.

    >>> class Count(mg.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(5))
    >>> [batch.tolist() for batch in mg.utils.data.DataLoader(Count(), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} does not say what its samples are: write its __iter__()")

    def __add__(self, other: Dataset[Any]) -> Any:
        return ChainDataset([self, other])


class Iterated(IterableDataset[T_co]):
    """Whatever can be iterated over, as a data set: a generator gives its samples once."""

    def __init__(self, samples: Iterable[T_co]) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[T_co]:
        return iter(self.samples)


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors with a row for every sample, or arrays and tensors of other libraries, which are made tensors. A loader gathers the rows of a batch in one
    operation, on the device where they are.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs.utils.data import DataLoader, TensorDataset
    >>> rows = TensorDataset(mg.arange(5.0), mg.arange(5))
    >>> len(rows), rows[2], [len(x) for x, y in DataLoader(rows, batch_size=2)]
    (5, (tensor(2.), tensor(2)), [2, 2, 1])

    Arguments:
        tensors: tensors `[samples, …]`, whose rows at one number are a sample

    Errors: ValueError for tensors of unlike numbers of rows.
    """

    def __init__(self, *tensors: Any) -> None:
        if not tensors:
            raise ValueError("TensorDataset takes at least one tensor")
        for t in tensors:
            if not isinstance(t, Tensor) and not is_foreign(t):
                raise TypeError(f"TensorDataset takes tensors and arrays, got {kind_of(t)}")
        tensors = tuple(t if isinstance(t, Tensor) else as_tensor(t) for t in tensors)
        sizes = {len(t) for t in tensors}
        if len(sizes) > 1:
            raise ValueError(f"TensorDataset takes tensors of as many rows, got {', '.join(str(len(t)) for t in tensors)}")
        self.tensors: tuple[Tensor, ...] = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def _gather(self, rows: Tensor) -> list[Tensor]:
        """The rows of a batch."""
        return [t.index_select(0, rows.to(t.device)) for t in self.tensors]


class StackDataset(Dataset[Any]):
    """Several data sets of one length, whose samples go together: tuples of them, or dictionaries where they have names.

    >>> pairs = mg.utils.data.StackDataset([1, 2], [10, 20])
    >>> pairs[1]
    (2, 20)
    >>> mg.utils.data.StackDataset(image=[1, 2], label=[10, 20])[0]
    {'image': 1, 'label': 10}

    Arguments:
        args: the data sets, for samples that are tuples
        kwargs: the data sets by name, for samples that are dictionaries

    Errors: ValueError for data sets of unlike lengths, for both kinds at once, and for none.
    """

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset takes data sets, or data sets by name")
        self.datasets: tuple[Any, ...] | dict[str, Any] = args or kwargs
        sizes = [len(d) for d in self._all()]
        if len(set(sizes)) > 1:
            raise ValueError(f"StackDataset takes data sets of one length, got {', '.join(map(str, sizes))}")
        self._length = sizes[0]

    def _all(self) -> list[Any]:
        return list(self.datasets.values()) if isinstance(self.datasets, dict) else list(self.datasets)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: d[index] for name, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Data sets one after another: the numbers of the second go on where those of the first end.

    >>> both = mg.utils.data.ConcatDataset([[1, 2], [10, 20, 30]])
    >>> len(both), both[2], both[-1]
    (5, 10, 30)

    Arguments:
        datasets: the data sets, each with `__len__`
    """

    def __init__(self, datasets: Iterable[Dataset[T_co]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset takes at least one data set")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise ValueError("ConcatDataset takes data sets by number; for those one after another there is ChainDataset")
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T_co:
        n = len(self)
        if not -n <= index < n:
            raise IndexError(f"sample {index} of {n}")
        index %= n
        which = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return cast("T_co", self.datasets[which][index - before])


class ChainDataset(IterableDataset[Any]):
    """Data sets that are iterated one after another.

    >>> class Numbers(mg.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> list(mg.utils.data.ChainDataset([Numbers(), Numbers()]))
    [1, 2, 1, 2]

    Arguments:
        datasets: the data sets, each an `IterableDataset`
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets: list[Any] = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        for d in self.datasets:
            yield from d

    def __len__(self) -> int:
        return sum(len(d) for d in self.datasets)


class Subset(Dataset[T_co]):
    """Some samples of a data set, by their numbers.

    >>> part = mg.utils.data.Subset([10, 20, 30], [2, 0])
    >>> len(part), part[0]
    (2, 30)

    Arguments:
        dataset: the data set
        indices: the numbers of the samples, in the order that they come to have
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset: Any = dataset
        self.indices = indices
        self._rows: Tensor | None = None

    def __getitem__(self, index: Any) -> T_co:
        if isinstance(index, list):
            return cast("T_co", self.dataset[[self.indices[i] for i in cast("list[int]", index)]])
        return cast("T_co", self.dataset[self.indices[index]])

    def __len__(self) -> int:
        return len(self.indices)

    def _gather(self, rows: Tensor) -> list[Tensor]:
        if self._rows is None or len(self._rows) != len(self.indices):
            self._rows = tensor(list(self.indices), dtype=int64)
        return cast("list[Tensor]", self.dataset._gather(self._rows.to(rows.device).index_select(0, rows)))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_rows": None}


def gathers(dataset: Any) -> bool:
    """Whether a data set gathers the rows of a batch by itself."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return type(dataset) is TensorDataset


def random_split(
    dataset: Dataset[T_co], lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[T_co]]:
    """Parts of a data set that have no sample in common; which sample is in which is drawn.

    >>> from micrograd_rs.utils.data import random_split
    >>> [len(part) for part in random_split(range(10), [0.7, 0.3])]
    [7, 3]

    Arguments:
        dataset: the data set, of which `len` is asked
        lengths: how many samples each part has, which add up to all; or which share of all, which add up to 1
        generator: what the parts are drawn from; None: the default generator

    Errors: ValueError for lengths that do not add up.
    """
    n = len(cast("Any", dataset))
    sizes = list(lengths)
    if all(0 <= size <= 1 for size in sizes) and abs(sum(sizes) - 1) < 1e-9 and not all(isinstance(s, int) for s in sizes):
        counts = [int(n * size) for size in sizes]
        for i in range(n - sum(counts)):
            counts[i % len(counts)] += 1
    else:
        counts = [int(size) for size in sizes]
    if sum(counts) != n or any(count < 0 for count in counts):
        raise ValueError(f"random_split: takes lengths that add up to {n}, how many samples there are, or fractions that add up to 1, got {sizes}, which add up to {sum(sizes)}")
    order = cast("list[int]", randperm(n, generator=generator).tolist())
    ends = list(accumulate(counts))
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)]
