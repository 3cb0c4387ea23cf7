"""The loader: batches of a data set, made ahead of time by threads."""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar, cast
from warnings import warn

from ..._micrograd_rs import Device, Generator, Tensor, _needs_values, arange, realize, tensor
from ..._names import Lazy as _Lazy
from ..._names import kind_of
from .collate import default_collate, default_convert, pin_memory as _pinned
from .dataset import Dataset, IterableDataset, Iterated, gathers
from .sampler import BatchSampler, Drawn, RandomSampler, Sampler, SequentialSampler, new_seed
from .streams import State, packed, unpacked
from .workers import Job, Kit, Mark, Parts, Pool

__all__ = ["DataLoader"]

__getattr__ = _Lazy(__name__)

T_co = TypeVar("T_co", covariant=True)


def _sample(dataset: Any, index: Any) -> Any:
    try:
        return dataset[index]
    except Exception as error:
        error.add_note(f"item {index} of the data set")
        # The end of a loop is not to be taken for the loader's own.
        if isinstance(error, StopIteration):
            raise RuntimeError(f"item {index} of the data set raised StopIteration") from error
        raise


def _samples(dataset: Any, indices: Sequence[Any]) -> list[Any]:
    many = getattr(dataset, "__getitems__", None)
    if many is None:
        return [_sample(dataset, i) for i in indices]
    try:
        return cast("list[Any]", many(indices))
    except Exception as error:
        error.add_note(f"items {list(indices)} of the data set")
        raise


def _batch(kit: Kit, indices: Sequence[Any]) -> Any:
    samples = _samples(kit.dataset, indices)
    try:
        return kit.collate(samples)
    except Exception as error:
        # Who collates otherwise may have counted otherwise.
        first, other = getattr(error, "_samples", (0, 0))
        if other and kit.collate is default_collate and other < len(indices):
            error.add_note(f"samples {first} and {other} of the batch are items {indices[first]} and {indices[other]} of the data set")
        raise


def _computed(batch: Any) -> Any:
    """A batch whose tensors have been computed: by the worker, not by the loop."""
    tensors: list[Tensor] = []

    def collect(value: Any) -> None:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, dict):
            entries: dict[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]
            list(map(collect, entries.values()))
        elif isinstance(value, (list, tuple)):
            items: Sequence[Any] = value  # pyright: ignore[reportUnknownVariableType]
            list(map(collect, items))  # pyright: ignore[reportUnknownArgumentType]

    collect(batch)
    if tensors:
        realize(*tensors)
    return batch


def _ready(is_ahead: bool, pins: bool, batch: Any) -> Any:
    """A batch as the loop is given it."""
    if is_ahead:
        batch = _computed(batch)
    return _pinned(batch) if pins else batch


class DataLoader(Generic[T_co]):
    """Batches of a data set, epoch after epoch: an iterable.

    What has no `__getitem__` but can be iterated over (a generator, a set, an iterator) is taken as an `IterableDataset` is.

    >>> data = mg.utils.data.TensorDataset(mg.arange(5), mg.arange(5) * 10)
    >>> for x, y in mg.utils.data.DataLoader(data, batch_size=2):
    ...     print(x.tolist(), y.tolist())
    [0, 1] [0, 10]
    [2, 3] [20, 30]
    [4] [40]

    Workers are threads (`num_workers`), each of which makes a batch while the loop computes. Batches come in the samplers' order, which does not
    depend on the number of workers: it is drawn when an epoch begins. An exception in a worker is raised in the loop, with a note that names the
    item.

    Each worker has a copy of the data set and of `collate_fn`, made when its epoch begins (with `persistent_workers` once), and makes every
    `num_workers`th batch. `get_worker_info().dataset` is the copy. Objects, lists and dictionaries are copied; tensors, arrays, tables, the entries
    of containers of more than a thousand, and what cannot be copied (open files, generators: a warning names them) are shared. Data sets say
    otherwise by `__getstate__` or `__deepcopy__`.

    What samples draw, random tensors and what comes from `random` and `numpy.random`, is of a worker's own streams, seeded by
    `get_worker_info().seed` (`initial_seed()` there), and the same in each run.

    `state_dict()` between two batches and `load_state_dict()` before a loop go on in the middle of an epoch, with the same order and, with as many
    workers, in the middle of their streams.

    A `TensorDataset`, or a `Subset` of one, with no `collate_fn` of one's own is gathered in one operation for a batch, on the device where its
    tensors are.

    With `pin_memory` each batch is put in page-locked memory by the thread that makes it. `batch.to("cuda")` of such a batch does not make the loop
    wait: the GPU copies it by itself, while it computes the step before, and what is computed from the copy comes after it. A batch in other memory
    is copied by the processor first, on the loop's thread.

    Arguments:
        dataset: what has samples by number, by `__getitem__` and `__len__`, or can be iterated over
        batch_size: how many samples a batch has, at least 1; None: samples come by themselves
        shuffle: whether each epoch has an order of its own, drawn at random; None: it has not
        sampler: an iterable of samples' numbers, which says the order; None: one after the other, or as `shuffle` says
        batch_sampler: an iterable of lists of samples' numbers, one for each batch, in the place of `batch_size`, `shuffle`, `sampler` and
            `drop_last`
        num_workers: how many threads make batches while the loop computes; 0: each is made when it is asked for
        collate_fn: a function of a list of samples that answers with the batch; None: `default_collate`, and `default_convert` of a sample where
            `batch_size` is None
        pin_memory: whether batches are put in page-locked memory. Without a GPU there is none: each loop warns of it, and batches are what they are
            otherwise, with `is_pinned()` False
        drop_last: whether a last batch of fewer samples is left out
        timeout: how many seconds a batch of a worker is waited for before it is a RuntimeError; 0: for ever
        worker_init_fn: a function that is called in each worker with its number when it begins
        multiprocessing_context: of no effect: workers are threads
        generator: what orders, and the seeds of workers, are drawn from; None: the default generator
        prefetch_factor: how many batches each worker makes ahead, at least 1; None: 2
        persistent_workers: whether workers stay from one loop to the next
        pin_memory_device: of no effect
        in_order: of no effect: batches come in order

    Errors: ValueError for a `batch_size` or `prefetch_factor` below 1, for a negative `num_workers` or `timeout`, for `prefetch_factor` and
    `persistent_workers` without workers, for what says the same twice, as `shuffle` and `sampler` do, and for a sampler of what is iterated over;
    TypeError for sizes that are no integers, and for what is no data set.
    """

    def __init__(
        self,
        dataset: Dataset[T_co] | Sequence[T_co] | Iterable[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[Sequence[Any]] | Iterable[Sequence[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        for name, number in (("batch_size", batch_size), ("num_workers", num_workers)):
            if number is not None and not hasattr(number, "__index__"):
                raise TypeError(f"DataLoader takes an integer as {name}, got {number!r}")
        if not isinstance(dataset, IterableDataset) and not hasattr(dataset, "__getitem__") and not hasattr(dataset, "__getitems__"):
            if not hasattr(dataset, "__iter__"):
                raise TypeError(f"DataLoader takes a data set with __getitem__ and __len__, or what can be iterated over, got {kind_of(dataset)}")
            dataset = Iterated(cast("Iterable[T_co]", dataset))  # type: ignore[redundant-cast]
        if num_workers < 0:
            raise ValueError(f"DataLoader takes a num_workers of at least 0, got {num_workers}")
        if timeout < 0:
            raise ValueError(f"DataLoader takes a timeout of at least 0, got {timeout}")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("DataLoader makes batches ahead with workers only: prefetch_factor takes num_workers above 0")
        if prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError(f"DataLoader takes a prefetch_factor of at least 1, got {prefetch_factor}")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers takes num_workers above 0")
        self._is_iterable = isinstance(dataset, IterableDataset)
        if self._is_iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("an IterableDataset has its own order: it takes no shuffle, sampler or batch_sampler")
        if sampler is not None and shuffle:
            raise ValueError("DataLoader takes a sampler or shuffle, not both")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler stands for batch_size, shuffle, sampler and drop_last: pass it alone")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("drop_last takes a batch_size")
        elif batch_size is not None and batch_size < 1:
            raise ValueError(f"DataLoader takes a batch_size of at least 1, got {batch_size}")
        self.dataset: Any = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor or (2 if num_workers else None)
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.sampler: Any = sampler
        if sampler is None and not self._is_iterable:
            rows: Any = dataset
            self.sampler = RandomSampler(rows, generator=generator) if shuffle else SequentialSampler(rows)
        self.batch_sampler: Any = batch_sampler
        if batch_size is not None and batch_sampler is None and not self._is_iterable:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self._has_batches = batch_size is not None or batch_sampler is not None
        self.collate_fn: Callable[[Any], Any] = collate_fn or (default_collate if self._has_batches else default_convert)
        self._pool: Pool | None = None
        self._has_warned = False
        self._pins = False
        self._current: weakref.ref[_Epoch] | None = None
        self._resumed: dict[str, Any] | None = None
        # Where the streams of workers that are resumed begin.
        self._streams: list[State | None] = []

    def __iter__(self) -> Iterator[Any]:
        # Samples are looked at on the host.
        _needs_values()
        self._pins = self.pin_memory and Device.is_cuda_available()
        if self.pin_memory and not self._pins:
            warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.", stacklevel=2)
        state, self._resumed = self._resumed, None
        epoch = _Epoch(self, state)
        self._current = weakref.ref(epoch)
        return epoch

    def __len__(self) -> int:
        """How many batches there are; of data that is iterated, how many its own length says."""
        if not self._is_iterable:
            return len(self.batch_sampler if self._has_batches else self.sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def state_dict(self) -> dict[str, Any]:
        """Where the last loop over it is: the epoch's seed, how many batches it has given, and where the workers' streams of random numbers were
        then. Numbers and tensors only.

        See `utils.data.DataLoader.load_state_dict`.
        """
        if self._resumed is not None:
            return dict(self._resumed)
        epoch = self._current() if self._current is not None else None
        own = None if self.generator is None else self.generator.get_state()
        if epoch is None or epoch.is_done:
            return {"seed": None, "batches": 0, "generator": own, "sampler": None, "workers": self._states()}
        return {
            "seed": epoch.seed,
            "batches": epoch.given,
            "generator": own,
            "sampler": epoch.sampler_state,
            "workers": _packed([None if mark is None else mark.state() for mark in epoch.marks]),
        }

    def _states(self) -> list[dict[str, Any] | None] | None:
        """Where the workers' streams are between two loops, of workers that stay."""
        pool = self._pool
        return _packed(self._streams if pool is None else [None if mark is None else mark.state() for mark in pool.marks])

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Has the next loop go on where `state_dict` was taken, and draw what it would have drawn: with as many workers. What was given then is not
        loaded again; of data that is iterated it is, since there is no other way to what follows.

        Arguments:
            state_dict: what `state_dict` of a loader of the same data answered with

        Errors: ValueError for a dictionary that is no such state.

        >>> loader = mg.utils.data.DataLoader(range(6), batch_size=2)
        >>> first = next(iter(loader))
        >>> state = loader.state_dict()
        >>> again = mg.utils.data.DataLoader(range(6), batch_size=2)
        >>> again.load_state_dict(state)
        >>> [batch.tolist() for batch in again]
        [[2, 3], [4, 5]]
        """
        missing = {"seed", "batches", "generator", "sampler"} - state_dict.keys()
        if missing:
            raise ValueError(f"the state of a DataLoader has {', '.join(sorted(missing))} too")
        if self.generator is not None and state_dict["generator"] is not None:
            self.generator.set_state(state_dict["generator"])
        self._resumed = dict(state_dict) if state_dict["seed"] is not None else None
        self._current = None
        # The streams of another number of workers are none of these workers'. Files from before there were any have none.
        states: list[Any] = state_dict.get("workers") or []
        self._streams = [None if s is None else unpacked(s) for s in states] if len(states) == self.num_workers else []
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _workers(self, seed: int) -> Pool:
        pool = self._pool
        if pool is None or pool.process != os.getpid():
            pool = Pool(self.num_workers, seed, self.dataset, self.collate_fn, self.worker_init_fn, self._streams)
            self._streams = []
            if pool.kept and not self._has_warned:
                self._has_warned = True
                what = ", ".join(pool.kept[:5]) + (", …" if len(pool.kept) > 5 else "")
                warn(f"DataLoader: workers share what cannot be copied: {what}; make it in worker_init_fn, or when it is first used", stacklevel=4)
            if self.persistent_workers:
                self._pool = pool
        return pool

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pool": None, "_current": None}


class _Epoch:
    """One loop over a loader."""

    def __init__(self, loader: DataLoader[Any], state: dict[str, Any] | None) -> None:
        self._loader = loader
        # What workers are given does not keep the loader.
        self._ready = partial(_ready, loader.num_workers > 0, loader._pins)
        self.given = 0
        self.is_done = False
        self.sampler_state: Any = None
        self._dropped = 0
        if state is None:
            self.seed = new_seed(loader.generator)
        else:
            self.seed = int(state["seed"])
        skipped = 0 if state is None else int(state["batches"])
        jobs = self._of_iterable(skipped) if loader._is_iterable else self._of_numbers(state, skipped)
        self.given = skipped
        self._jobs = jobs
        self._kit = Kit(loader.dataset, loader.collate_fn)
        self._pool = loader._workers(self.seed) if loader.num_workers else None
        # Where each worker's streams are: behind the last batch of its that was given, or, where all is made again on the way to the next one, when the
        # epoch began.
        self.marks: list[Mark | None] = [] if self._pool is None else list(self._pool.marks)
        self._ahead: deque[Job] = deque()

    def __iter__(self) -> _Epoch:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a loop over a DataLoader cannot be copied: copy the loader, or take its state_dict()")

    def __next__(self) -> Any:
        loader = self._loader
        while True:
            if self._pool is None:
                job = next(self._jobs, None)
                made = None if job is None else job.make(self._kit)
            else:
                wanted = (loader.prefetch_factor or 2) * loader.num_workers
                while len(self._ahead) < wanted and (job := next(self._jobs, None)) is not None:
                    self._ahead.append(self._pool.put(job))
                job = self._ahead.popleft() if self._ahead else None
                made = None if job is None else job.result(loader.timeout)
            if job is None:
                self.is_done = True
                self._end()
                raise StopIteration
            if made is _Nothing:
                continue
            if self._dropped > 0:
                self._dropped -= 1
                continue
            self.given += 1
            if self.marks and not loader._is_iterable:
                self.marks[job.worker] = job.mark
            return made

    def _end(self) -> None:
        if self._pool is not None and not self._loader.persistent_workers:
            self._pool.close()
            self._pool = None
            self._ahead.clear()

    def __len__(self) -> int:
        return len(self._loader)

    def _order(self, sampler: Any) -> Any:
        """A sampler's order, drawn from the epoch's seed where the loader draws it."""
        if isinstance(sampler, Drawn) and (sampler.generator is None or sampler.generator is self._loader.generator):
            return sampler.order(Generator().manual_seed(self.seed))
        return sampler

    def _of_numbers(self, state: dict[str, Any] | None, skipped: int) -> Iterator[Job]:
        loader = self._loader
        batches, sampler = loader.batch_sampler, loader.sampler
        inner = batches.sampler if isinstance(batches, BatchSampler) else sampler
        # A sampler with a generator of its own, or a state, begins this epoch where it began when the state was taken.
        own = getattr(inner, "generator", None)
        keeps = own if isinstance(own, Generator) and own is not loader.generator else None
        if keeps is not None:
            if state is not None and state["sampler"] is not None:
                keeps.set_state(state["sampler"])
            self.sampler_state = keeps.get_state()
        fast = self._gathered(inner, skipped)
        if fast is not None:
            return fast
        if not loader._has_batches:
            order: Any = self._order(sampler)
        elif type(batches) is BatchSampler:
            order = batches.batches(self._order(inner))
        else:
            order = batches
        return self._fetched(islice(iter(order), skipped, None), skipped)

    def _fetched(self, order: Iterator[Any], skipped: int) -> Iterator[Job]:
        loader = self._loader
        n, has_batches, ready = loader.num_workers, loader._has_batches, self._ready

        def make(indices: Any, kit: Kit) -> Any:
            made = _batch(kit, indices) if has_batches else kit.collate(_sample(kit.dataset, indices))
            return ready(made)

        for i, indices in enumerate(order, skipped):
            yield Job(partial(make, indices), i % max(1, n))

    def _gathered(self, inner: Any, skipped: int) -> Iterator[Job] | None:
        """Batches that are gathered by tensors of their rows, for data sets and samplers that know how."""
        loader = self._loader
        if loader.collate_fn is not default_collate or type(loader.batch_sampler) is not BatchSampler:
            return None
        if not gathers(loader.dataset):
            return None
        n = len(loader.dataset)
        if type(inner) is SequentialSampler and len(inner) == n:
            rows: Tensor = arange(n)
        elif isinstance(inner, Drawn) and type(inner).order is Drawn.order:
            own = inner.generator
            seeded = own is None or own is loader.generator
            if inner.pieces(Generator()) is not None:
                return self._gathered_lazily(loader.batch_sampler.batches(self._order(inner)), skipped)
            rows = inner.rows(Generator().manual_seed(self.seed) if seeded or own is None else own)
        else:
            rows = tensor(list(self._order(inner)), dtype="int64")
        rows = rows.to(_device_of(loader.dataset))
        # Numbers out of range are found here, not in the middle of the epoch.
        realize(rows)
        size, n, ready = loader.batch_sampler.batch_size, loader.num_workers, self._ready
        end = len(rows) - len(rows) % size if loader.batch_sampler.drop_last else len(rows)

        def make(start: int, kit: Kit) -> Any:
            batch = kit.dataset._gather(rows[start : min(start + size, end)])
            return ready(batch)

        return (Job(partial(make, start), start // size % max(1, n)) for start in range(skipped * size, end, size))

    def _gathered_lazily(self, batches: Iterator[list[int]], skipped: int) -> Iterator[Job]:
        n, device, ready = self._loader.num_workers, _device_of(self._loader.dataset), self._ready

        def make(indices: list[int], kit: Kit) -> Any:
            batch = kit.dataset._gather(tensor(indices, dtype="int64").to(device))
            return ready(batch)

        return (Job(partial(make, indices), i % max(1, n)) for i, indices in enumerate(islice(batches, skipped, None), skipped))

    def _of_iterable(self, skipped: int) -> Iterator[Job]:
        loader = self._loader
        n = max(1, loader.num_workers)
        size, drop_last, ready = loader.batch_size, loader.drop_last, self._ready
        parts = [Parts() for _ in range(n)]
        finished = [False] * n
        # What was given before is made again, by the worker that it belongs to, and dropped.
        self._dropped = skipped

        def make(worker: int, kit: Kit) -> Any:
            taken = parts[worker].take(kit.dataset, size or 1)
            if len(taken) < (size or 1):
                finished[worker] = True
                if not taken or (size is not None and drop_last):
                    return _Nothing
            made = kit.collate(taken if size is not None else taken[0])
            return ready(made)

        def jobs() -> Iterator[Job]:
            while not all(finished):
                for worker in range(n):
                    if not finished[worker]:
                        yield Job(partial(make, worker), worker)

        return jobs()


def _packed(states: Sequence[State | None]) -> list[dict[str, Any] | None] | None:
    return [None if state is None else packed(state) for state in states] or None


class _Nothing:
    """What a worker answers with whose part is at its end."""


def _device_of(dataset: Any) -> Any:
    while hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    return dataset.tensors[0].device
