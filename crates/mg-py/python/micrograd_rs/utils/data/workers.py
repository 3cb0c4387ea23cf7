"""Threads that make batches ahead of time."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from ..._names import Lazy as _Lazy
from . import streams
from .copies import Copier

__all__ = ["WorkerInfo", "get_worker_info"]

__getattr__ = _Lazy(__name__)

_local = threading.local()


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker of a loader this thread is.

    Arguments:
        id: its number, from 0 to `num_workers − 1`
        num_workers: how many workers there are
        seed: what its streams of random numbers begin with
        dataset: its copy of the data set

    See `get_worker_info`.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """Which worker of a loader this thread is; None elsewhere.

    >>> class Parts(mg.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         info = mg.utils.data.get_worker_info()
    ...         return iter(range(info.id, 4, info.num_workers))
    >>> [batch.tolist() for batch in mg.utils.data.DataLoader(Parts(), batch_size=2, num_workers=2)]
    [[0, 2], [1, 3]]
    """
    return getattr(_local, "info", None)


class Mark:
    """Where a worker's streams of random numbers are behind a batch, when that is made."""

    def __init__(self, state: streams.State | None = None) -> None:
        # Not an `Event`, which is Python's code: where Ctrl-C comes while that lets its lock go, it raises a RuntimeError in its place.
        self._waits = threading.Lock()
        self._waits.acquire()
        self._is_done = False
        self._state = state
        self._process = os.getpid()

    def reached(self) -> None:
        """The worker is there."""
        try:
            self._state = streams.state()
        finally:
            self._is_done = True
            self._waits.release()

    def wait(self, timeout: float = 0) -> bool:
        """Whether the worker is there, within so many seconds if there is such a time."""
        if not self._is_done and self._waits.acquire(timeout=timeout if timeout > 0 else -1):
            # Others may wait too.
            self._waits.release()
        return self._is_done

    def state(self) -> streams.State | None:
        """Where they are, when the worker is there; none where it never will be, in a fork's child."""
        if self._state is None and self._process == os.getpid():
            self.wait()
        return self._state


class Job:
    """A batch to be made."""

    def __init__(self, make: Callable[[Kit], Any], worker: int) -> None:
        self.make = make
        # Which one makes it: what it draws, and what its data set remembers, are its own.
        self.worker = worker
        self.mark = Mark()
        self.value: Any = None
        self.error: BaseException | None = None

    def result(self, timeout: float) -> Any:
        """The batch, when it is there."""
        if not self.mark.wait(timeout):
            raise RuntimeError(f"DataLoader: no batch came within {timeout} seconds")
        if self.error is not None:
            raise self.error
        return self.value


@dataclass(frozen=True)
class Kit:
    """What a batch is made with."""

    dataset: Any
    collate: Callable[[Any], Any]


# What a queue has for its worker: a batch to make, or that there are no more; a reference to the workers says so once they are dropped.
_Jobs = SimpleQueue["Job | weakref.ref[Pool] | None"]


def _work(
    jobs: _Jobs,
    info: WorkerInfo,
    kit: Kit,
    start: Callable[[int], Any] | None,
    state: streams.State | None,
    dropped: weakref.ref[Pool],
) -> None:
    # A worker holds nothing of the loader but this queue, and `dropped`, which is put there when the loader is: that ends it.
    _local.info = info
    failed: BaseException | None = None
    why = ""
    try:
        streams.begin(info.seed)
        if start is not None:
            start(info.id)
        if state is not None:
            streams.go_on(state)
    except BaseException as error:
        error.add_note(f"in worker_init_fn of worker {info.id} of a DataLoader")
        failed, why = error, f"worker_init_fn of worker {info.id} of a DataLoader failed: {error!r}"
    while isinstance(job := jobs.get(), Job):
        if why:
            # Not kept: it has the loop's frames once it was raised there, and these the workers.
            job.error, failed = failed or RuntimeError(why), None
        else:
            try:
                job.value = job.make(kit)
            except BaseException as error:
                error.add_note(f"in worker {info.id} of a DataLoader")
                job.error = error
        job.mark.reached()
        # Nothing of it is kept while the next one is waited for.
        del job
    streams.end()


class Pool:
    """Workers, each with a queue, a data set and streams of random numbers of its own."""

    def __init__(
        self,
        n: int,
        seed: int,
        dataset: Any,
        collate: Callable[[Any], Any],
        start: Callable[[int], Any] | None,
        states: Sequence[streams.State | None],
    ) -> None:
        self.process = os.getpid()
        self.queues: list[_Jobs] = [SimpleQueue() for _ in range(n)]
        # Behind the last batch that each was given to make; none before the first of streams that begin with its seed.
        self.marks = [None if i >= len(states) or (state := states[i]) is None else Mark(state) for i in range(n)]
        # What each worker shares with the others, although it is no data.
        self.kept: list[str] = []
        threads: list[threading.Thread] = []
        for i, queue in enumerate(self.queues):
            copier = Copier()
            kit = Kit(copier.of(dataset, type(dataset).__name__), copier.of(collate, "collate_fn"))
            begin = copier.of(start, "worker_init_fn")
            self.kept = copier.kept
            # Not a `__del__`: no code of Python's runs where these are dropped, in which Ctrl-C would be lost.
            end: Any = queue.put
            dropped: weakref.ref[Pool] = weakref.ref(self, end)
            info = WorkerInfo(i, n, seed + i, kit.dataset)
            arguments = (queue, info, kit, begin, states[i] if i < len(states) else None, dropped)
            threads.append(threading.Thread(target=_work, args=arguments, name=f"DataLoader worker {i}", daemon=True))
        for thread in threads:
            try:
                thread.start()
            except BaseException as error:
                self.close()
                # `threading` waits for the thread as an `Event` does.
                interrupt = error.__context__
                if isinstance(error, RuntimeError) and interrupt is not None and not isinstance(interrupt, Exception):
                    raise interrupt from None
                raise

    def put(self, job: Job) -> Job:
        """Has a batch be made."""
        self.marks[job.worker] = job.mark
        self.queues[job.worker].put(job)
        return job

    def close(self) -> None:
        """Ends the workers, after what they have been given."""
        # Threads of another process are not there in a fork's child.
        if self.process == os.getpid():
            for queue in self.queues:
                queue.put(None)

    def __reduce__(self) -> Any:
        # A copy would end them when it goes.
        raise TypeError("workers of a DataLoader cannot be copied")


class Parts:
    """One worker's part of a data set that is iterated: asked for by that worker alone."""

    def __init__(self) -> None:
        self._items: Iterator[Any] | None = None
        self.count = 0

    def take(self, dataset: Any, n: int) -> list[Any]:
        """The next samples, fewer where there are no more."""
        if self._items is None:
            self._items = iter(dataset)
        taken: list[Any] = []
        for _ in range(n):
            try:
                taken.append(next(self._items))
            except StopIteration:
                break
            except Exception as error:
                error.add_note(f"item {self.count} of the data set")
                raise
            self.count += 1
        return taken
