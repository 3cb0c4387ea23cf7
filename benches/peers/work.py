"""What a framework's module gives for a case, and how it is timed."""

import itertools
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Work(NamedTuple):
    call: Callable[[], Any]
    arrays: Callable[[Any], list[np.ndarray]]  # a call's result as arrays, for the check
    sync: Callable[[Any], Any] | None = None  # waits for a call's result, where calls return before they are done
    reset: Callable[[], None] | None = None  # before each round, untimed: parameters as they were
    comparable: bool = True  # False where results are random, and have no check


class Timer:
    """One case, warmed up; a round takes at least `seconds`."""

    def __init__(self, work: Work, seconds: float):
        self.work = work
        self.sync = work.sync or (lambda result: None)
        self.seconds = seconds
        self.sync_each = False
        self.calls = 0
        self.check = self._check()

    def _calibrate(self):
        """So many calls that a round takes long enough."""
        self.calls = 1
        self._timed()  # whatever else the first calls have to do is not to be counted
        while (per_call := self._timed()) * self.calls < self.seconds:
            self.calls = min(math.ceil(self.seconds / per_call * 1.1), self.calls * 10)
        if self.work.sync and self.calls > 1:
            # Waiting for each call lets a framework reuse memory sooner, not waiting hides its overhead: take what is faster.
            self.sync_each = True
            self.sync_each = self._timed() < per_call

    def _check(self) -> float | None:
        """The first call, whose results have to be what they are elsewhere: the sum of their mean magnitudes."""
        if self.work.reset:
            self.work.reset()
        result = self.work.call()
        self.sync(result)
        if not self.work.comparable:
            return None
        return sum(float(np.abs(array).mean(dtype=np.float64)) for array in self.work.arrays(result))

    def round(self) -> float:
        """Seconds per call: all calls, and one synchronisation at the end."""
        if not self.calls:
            self._calibrate()
        return self._timed()

    def _timed(self) -> float:
        call, sync = self.work.call, self.sync
        if self.work.reset:
            self.work.reset()
        start = time.perf_counter()
        if self.sync_each:
            for _ in itertools.repeat(None, self.calls):
                sync(call())
        else:
            for _ in itertools.repeat(None, self.calls - 1):
                call()
            sync(call())
        return (time.perf_counter() - start) / self.calls
