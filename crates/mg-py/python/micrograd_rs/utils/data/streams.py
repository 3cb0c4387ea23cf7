"""Generators of random numbers that every worker has for itself: that of random tensors, Python's `random` and NumPy's `numpy.random`, which
are one for a process.

While there are workers, the last two ask which thread draws. A worker draws from its own stream, all other threads from the one that they
always had, which goes on as if there were no workers.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..._micrograd_rs import Generator, Tensor, _draw_from, _Turns, get_rng_state, set_rng_state, tensor
from ..._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["State", "begin", "end", "go_on", "packed", "state", "unpacked"]

__getattr__ = _Lazy(__name__)


class _Slot:
    """Where a stream of NumPy's is kept while others draw."""

    def __init__(self, state: Any = None) -> None:
        self.state = state


class _Mine(threading.local):
    """What this thread draws from; outside of workers, from what there was."""

    is_worker = False
    random: random.Random | None = None
    numpy: _Slot | None = None


_mine = _Mine()
_everybody = _Slot()
_guard = threading.Lock()
_workers = 0
# Of `random`, the functions that do not go by its methods.
_NAMES = ("random", "getrandbits", "seed", "getstate", "setstate")
_before: dict[str, Any] = {}
_inst: Any = getattr(random, "_inst", None)


# By name rather than by `super()`: the last worker may make the generator what it was while another thread is in one of these.
_Random = random.Random


class _PerThread(random.Random):
    """What Python's generator becomes."""

    def random(self) -> float:
        own = _mine.random
        return _Random.random(self) if own is None else own.random()

    def getrandbits(self, k: int, /) -> int:
        own = _mine.random
        return _Random.getrandbits(self, k) if own is None else own.getrandbits(k)

    def seed(self, a: Any = None, version: int = 2) -> None:
        own = _mine.random
        if own is None:
            _Random.seed(self, a, version)
        else:
            own.seed(a, version)

    def getstate(self) -> tuple[Any, ...]:
        own = _mine.random
        return _Random.getstate(self) if own is None else own.getstate()

    def setstate(self, state: tuple[Any, ...]) -> None:
        own = _mine.random
        if own is None:
            _Random.setstate(self, state)
        else:
            own.setstate(state)

    # The other half of a pair of normal numbers.
    @property
    def gauss_next(self) -> float | None:
        own = _mine.random
        return (vars(self) if own is None else vars(own))["gauss_next"]  # type: ignore[no-any-return]

    @gauss_next.setter
    def gauss_next(self, value: float | None) -> None:
        own = _mine.random
        (vars(self) if own is None else vars(own))["gauss_next"] = value


class _NumPy:
    """NumPy's generator, while there are workers."""

    def __init__(self, numpy: Any) -> None:
        self._of = numpy.random
        self._own = self._of.get_bit_generator()
        kind = cast("Any", type(self._own))
        self._functions = self._of.get_state, self._of.set_state
        # Threads that wait for the lock that there was hold off those that take the new one.
        self.lock = lock = _Turns(self._own.lock, *self._functions, _mine, _everybody)
        self.kind = kind
        # Its states name the class that they are of.
        self._put(type(kind.__name__, (kind,), {"lock": property(lambda _: lock)})(0))
        # These take no lock.
        self._of.get_state, self._of.set_state = lock.get_state, lock.set_state

    def _put(self, generator: Any) -> None:
        with self.lock:
            self.lock.turn(_everybody)
            state = self.lock.get_state(legacy=False)
            self._of.set_bit_generator(generator)
            self.lock.set_state(state)

    def slot(self, seed: int) -> _Slot:
        return _Slot(self._of.RandomState(self.kind(seed)).get_state(legacy=False))

    def state(self) -> dict[str, Any]:
        """Where this thread's stream is, which a worker that drew nothing need not take its turn for."""
        return cast("dict[str, Any]", self.lock.state_of(_mine.numpy or _everybody))

    def undo(self) -> None:
        # Somebody else may have put others there meanwhile.
        if self._of.get_state == self.lock.get_state:
            self._of.get_state = self._functions[0]
        if self._of.set_state == self.lock.set_state:
            self._of.set_state = self._functions[1]
        self._put(self._own)


_numpy: _NumPy | None = None


def begin(seed: int) -> None:
    """This thread is a worker from now on, with streams of its own; `end()` is called when it has done its work, whether this fails or not.

    It is the worker itself that puts itself there: signals, and with them Ctrl-C, reach the main thread alone.
    """
    global _workers, _numpy
    _mine.is_worker = True
    with _guard:
        _workers += 1
        if _workers == 1 and type(_inst) is random.Random:
            _before.update({name: getattr(random, name) for name in _NAMES})
            _inst.__class__ = _PerThread
            for name in _NAMES:
                setattr(random, name, getattr(_inst, name))
        numpy = sys.modules.get("numpy")
        # Before version 1.24 its generator could not be given another lock.
        if _numpy is None and numpy is not None and hasattr(getattr(numpy, "random", None), "set_bit_generator"):
            _numpy = _NumPy(numpy)
        of_numpy = _numpy
    _draw_from(Generator().manual_seed(seed))
    if type(_inst) is _PerThread:
        _mine.random = random.Random(seed)
    if of_numpy is not None:
        _mine.numpy = of_numpy.slot(seed)


class State(NamedTuple):
    """Where a worker's streams are: of random tensors, of `random`, and of NumPy, where that is there."""

    tensors: Tensor
    random: tuple[Any, ...] | None
    numpy: dict[str, Any] | None


def state() -> State:
    """Where this worker's streams are."""
    own, numpy = _mine.random, _numpy
    kept = numpy.state() if numpy is not None and _mine.numpy is not None else None
    return State(get_rng_state(), None if own is None else own.getstate(), kept)


def go_on(state: State) -> None:
    """Has this worker's streams go on from where they were."""
    set_rng_state(state.tensors)
    if _mine.random is not None and state.random is not None:
        _mine.random.setstate(state.random)
    if _mine.numpy is not None and state.numpy is not None:
        _mine.numpy = _Slot(state.numpy)


def packed(state: State) -> dict[str, Tensor | None]:
    """A state as tensors of bytes: what checkpoints have."""

    def bytes_of(value: Any) -> Tensor | None:
        # Of NumPy are arrays and numbers in it.
        text = json.dumps(value, default=lambda array: {"array": array.tolist(), "dtype": str(array.dtype)})
        return None if value is None else tensor(list(text.encode()), dtype="uint8")

    return {"tensors": state.tensors, "random": bytes_of(state.random), "numpy": bytes_of(state.numpy)}


def unpacked(packed: Mapping[str, Any]) -> State:
    """The state that was packed."""

    def value_of(data: Tensor | None) -> Any:
        return None if data is None else json.loads(bytes(cast("list[int]", data.tolist())), object_hook=_array)

    own, numpy = value_of(packed["random"]), value_of(packed["numpy"])
    return State(packed["tensors"], None if own is None else (own[0], tuple(own[1]), *own[2:]), numpy)


def _array(entries: dict[str, Any]) -> Any:
    numpy: Any = sys.modules.get("numpy")
    return numpy.array(entries["array"], entries["dtype"])[()] if entries.keys() == {"array", "dtype"} and numpy is not None else entries


def end() -> None:
    """This worker has done its work. After the last one everything is as it was."""
    global _workers, _numpy
    if not _mine.is_worker:
        return
    _mine.is_worker = False
    _mine.random = _mine.numpy = None
    _draw_from(None)
    with _guard:
        _workers -= 1
        if _workers:
            return
        if type(_inst) is _PerThread:
            ours = {name: getattr(_inst, name) for name in _NAMES}
            setattr(_inst, "__class__", random.Random)
            for name, function in _before.items():
                # Somebody else may have put another one there meanwhile.
                if getattr(random, name) == ours[name]:
                    setattr(random, name, function)
        if _numpy is not None:
            _numpy.undo()
            _numpy = None


def _before_fork() -> None:
    # Nobody else holds a lock when a fork's child begins.
    _guard.acquire()
    if _numpy is not None:
        _numpy.lock.__enter__()


def _after_fork() -> None:
    if _numpy is not None:
        _numpy.lock.__exit__()
    _guard.release()


def _after_fork_in_child() -> None:
    """In a fork's child there are no workers."""
    global _workers
    _after_fork()
    if _workers:
        # Whichever thread has forked, whether that is a worker or not, is the one that is there.
        _workers, _mine.is_worker = 1, True
        end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
