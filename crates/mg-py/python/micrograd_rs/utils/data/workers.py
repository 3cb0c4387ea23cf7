"""Threads that make batches ahead of time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from ..._names import Lazy as _Lazy

__all__ = ["WorkerInfo", "get_worker_info"]

__getattr__ = _Lazy(__name__)

_local = threading.local()


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker of a loader this thread is."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """Which worker of a loader this thread is; None elsewhere."""
    return getattr(_local, "info", None)


class Job:
    """A batch to be made."""

    def __init__(self, make: Callable[[], Any], worker: int = 0) -> None:
        self.make = make
        # Which one makes it, where that matters.
        self.worker = worker
        self.done = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None

    def result(self, timeout: float) -> Any:
        """The batch, when it is there."""
        if not self.done.wait(timeout if timeout > 0 else None):
            raise RuntimeError(f"DataLoader: no batch came within {timeout} seconds")
        if self.error is not None:
            raise self.error
        return self.value


def _work(jobs: SimpleQueue[Job | None], info: WorkerInfo, start: Callable[[int], Any] | None) -> None:
    # A worker holds nothing of the loader but this queue: who drops the loader ends it.
    _local.info = info
    failed: BaseException | None = None
    try:
        if start is not None:
            start(info.id)
    except BaseException as error:
        error.add_note(f"in worker_init_fn of worker {info.id} of a DataLoader")
        failed = error
    while (job := jobs.get()) is not None:
        try:
            if failed is not None:
                raise failed
            job.value = job.make()
        except BaseException as error:
            if failed is None:
                error.add_note(f"in worker {info.id} of a DataLoader")
            job.error = error
        job.done.set()
        # Nothing of it is kept while the next one is waited for.
        del job


class Pool:
    """Workers. Each has a queue of its own where it matters which one does the work."""

    def __init__(self, n: int, seed: int, dataset: Any, start: Callable[[int], Any] | None, apart: bool) -> None:
        self.n = n
        self.process = os.getpid()
        self.queues: list[SimpleQueue[Job | None]] = [SimpleQueue() for _ in range(n if apart else 1)]
        for i in range(n):
            info = WorkerInfo(i, n, seed + i, dataset)
            queue = self.queues[i % len(self.queues)]
            threading.Thread(target=_work, args=(queue, info, start), name=f"DataLoader worker {i}", daemon=True).start()

    def put(self, job: Job) -> Job:
        """Has a batch be made."""
        self.queues[job.worker % len(self.queues)].put(job)
        return job

    def close(self) -> None:
        """Ends the workers, after what they have been given."""
        # Threads of another process are not there in a fork's child.
        if self.process == os.getpid():
            for i in range(self.n):
                self.queues[i % len(self.queues)].put(None)

    def __del__(self) -> None:
        self.close()


class Parts:
    """One worker's part of a data set that is iterated: asked for by that worker alone."""

    def __init__(self, begin: Callable[[], Iterator[Any]]) -> None:
        self._begin = begin
        self._items: Iterator[Any] | None = None
        self.count = 0

    def take(self, n: int) -> list[Any]:
        """The next samples, fewer where there are no more."""
        if self._items is None:
            self._items = self._begin()
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
