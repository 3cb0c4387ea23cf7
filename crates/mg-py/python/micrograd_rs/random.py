"""The generator of random tensors, and generators of one's own."""

from __future__ import annotations

from contextlib import contextmanager

from ._micrograd_rs import (
    Generator,
    _default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from ._names import Lazy as _Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator as Yields
    from collections.abc import Iterable

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

default_generator = _default_generator()


@contextmanager
def fork_rng(devices: Iterable[object] | None = None, enabled: bool = True, *, device_type: str = "cuda") -> Yields[None]:
    """Puts the generator of random tensors back to where it was when the block ends, unless `enabled` is False. There is one for all devices, so `devices` and
    `device_type` change nothing.

    >>> _ = mg.manual_seed(7)
    >>> with mg.random.fork_rng():
    ...     a = mg.rand(3)
    >>> bool((a == mg.rand(3)).all())
    True
    """
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)


__getattr__ = _Lazy(__name__)
