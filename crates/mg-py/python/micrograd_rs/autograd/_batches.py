"""Functions that are called with stand-ins: by `vmap` for many examples, by derivatives for their arguments. What a `Function` says of batches is
heard here."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .._micrograd_rs import Tensor
from .._names import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._micrograd_rs import _Level, _Traced
    from .function import Function


class VmapInfo(NamedTuple):
    """What `vmap` is told of a batch: how many examples it has, and what random numbers are within it."""

    batch_size: int
    randomness: str


class Batching:
    """A call of a function by `vmap`."""

    def __init__(self, traced: _Traced, given: Sequence[Tensor], info: VmapInfo) -> None:
        self.traced, self._given, self.info = traced, given, info
        # What functions have made of batches themselves, by the stand-ins for it, in their order.
        self.more: list[Tensor] = []

    def differs(self, args: Sequence[Any]) -> list[int]:
        """Which arguments differ from example to example."""
        return [i for i, a in enumerate(args) if isinstance(a, Tensor) and self.traced.differs(a)]

    def whole(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Tensors for the batch, the examples in front."""
        # Drawn here they would be drawn again for whoever else has them.
        randomness = "error" if self.info.randomness == "different" else self.info.randomness
        found, _ = self.traced.batched(list(tensors), [*self._given, *self.more], self.info.batch_size, randomness)
        return found

    def stands(self, made: Tensor) -> Tensor:
        """A stand-in for what was made of the batch, the examples in front."""
        inside = self.traced.more(made)
        self.more.append(made)
        return inside


class _Open(threading.local):
    """Calls that have begun on this thread, the innermost last."""

    def __init__(self) -> None:
        self.calls: list[Batching | _Level] = []


_open = _Open()


class begun:
    """A block in which a function is called with stand-ins."""

    def __init__(self, call: Batching | _Level) -> None:
        self._call = call

    def __enter__(self) -> None:
        _open.calls.append(self._call)

    def __exit__(self, *_: object) -> None:
        _open.calls.pop()


class Found(NamedTuple):
    """A call by `vmap`, which of the arguments differ, and whether somebody differentiates within it."""

    batching: Batching
    at: list[int]
    is_differentiated: bool


def innermost(cls: type[Function], args: Sequence[Any]) -> Found | None:
    """The `vmap` that a call of a function of one's own is an example of, if it says itself what it does with a batch."""
    is_differentiated = False
    for call in reversed(_open.calls):
        if not isinstance(call, Batching):
            is_differentiated = True
            continue
        if at := call.differs(args):
            if cls.generate_vmap_rule:
                raise RuntimeError(f"vmap: {cls.__name__} has generate_vmap_rule=True and a vmap() of its own: it has one of them")
            return Found(call, at, is_differentiated)
    return None


def made(cls: type[Function], args: Sequence[Any], found: Found) -> tuple[Any, bool]:
    """The answer of a function's own `vmap`, as stand-ins of an example; and whether the gradient of its arguments is to be said beside it."""
    batching = found.batching
    wholes = batching.whole([args[i] for i in found.at])
    given, in_dims = list(args), cast("list[int | None]", [None] * len(args))
    for i, t in zip(found.at, wholes, strict=True):
        given[i], in_dims[i] = t, 0
    # It is called outside: what it computes of the whole batch is nobody's example, but that of a vmap around this one.
    before = _open.calls
    _open.calls = before[: before.index(batching)]
    try:
        answer: Any = cls.vmap(batching.info, tuple(in_dims), *given)
    finally:
        _open.calls = before
    pair = _tuple(answer)
    if pair is None or len(pair) != 2:
        raise RuntimeError(f"vmap: {cls.__name__}.vmap answers with a pair, the results and along which axes their examples are; got {kind_of(answer)}")
    results, dims = _tuple(pair[0]), _tuple(pair[1])
    each: list[Any] = [pair[0]] if results is None else list(results)
    places: list[Any] = [pair[1]] * len(each) if dims is None else list(dims)
    if len(places) != len(each):
        raise RuntimeError(f"vmap: {cls.__name__}.vmap answers with {len(each)} results and {len(places)} axes")
    for i, (result, place) in enumerate(zip(each, places, strict=True)):
        if place is None or not isinstance(result, Tensor):
            continue
        if not -result.ndim <= place < result.ndim or result.shape[place] != batching.info.batch_size:
            text = f"result {i} of shape {list(result.shape)} has no {batching.info.batch_size} examples along axis {place}"
            raise RuntimeError(f"vmap: {cls.__name__}.vmap: {text}")
        each[i] = batching.stands(result.movedim(place, 0))
    # Somebody who differentiates around the vmap differentiates what was computed of the batch.
    is_inside = found.is_differentiated or any(args[i].requires_grad and not t.requires_grad for i, t in zip(found.at, wholes, strict=True))
    return (each[0] if results is None else tuple(each)), is_inside


def _tuple(value: Any) -> tuple[Any, ...] | None:
    whole: Any = value
    return whole if isinstance(value, tuple) else None
