"""Groups of parameters of an optimiser, with their options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import Any, TypeVar

from .._micrograd_rs import _LBFGS, Tensor, _Alone, _needs_values, _Optimizer
from .._names import Lazy as _Lazy
from .memory import Memory, Told

__all__: list[str] = []

__getattr__ = _Lazy(__name__)

_T = TypeVar("_T")


class Group(Told):
    """Parameters, under `params`, and their options, which can be changed as those of any dictionary. Steps read them."""

    def __init__(self, kind: str | None, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._kind = kind
        # What its optimiser does one at a time: none before it has one.
        self._alone: _Alone | None = None
        self.core_now: _Optimizer | _LBFGS | None = None
        # What the core was made on, and whether it takes the options.
        self.params_then: list[Tensor] = []
        self.fits = True
        # Whether it was taken out of an optimiser, which remembers its parameters since: it may have them go on in another group.
        self.is_out = False

    def core(self) -> Any:
        """What changes these parameters with these options; None without parameters."""
        if self.core_now is not None:
            self.core_now.set_options(self)
        return self.core_now

    def is_on(self, params: Sequence[Tensor]) -> bool:
        """Whether its core was made on these, and takes the options."""
        return self.fits and len(params) == len(self.params_then) and all(map(is_, params, self.params_then))

    def renew(self, memory: Memory | None) -> None:
        """Makes a core on the parameters that it has now, which goes on from what was remembered of them."""
        params = list(self["params"])
        self._alone = memory.alone if memory is not None else None
        if self._kind is None or memory is None or not params:
            core = None
        else:
            alone = memory.alone
            core = _LBFGS(params, self, alone) if self._kind == "LBFGS" else _Optimizer(self._kind, params, self, alone)
            if known := memory.taken(params):
                # It reads the numbers among it.
                _needs_values()
                core.put_state(known)
        self.core_now, self.params_then, self.fits, self.is_out = core, params, True, False

    def take(self, other: Group) -> None:
        """Goes on in the place of another group on the same parameters."""
        if other.core_now is not None:
            other.core_now.set_options(self)
        self.core_now, self.params_then, self._alone = other.core_now, other.params_then, other._alone
        other.core_now, other.params_then = None, []

    def check(self, options: Mapping[str, Any], what: str) -> None:
        """Raises an error that begins with `what` where the core does not take these options."""
        if self.core_now is None:
            return
        try:
            self.core_now.check_options(dict(options))
        except KeyError as error:
            raise ValueError(f"{what} has no option {error}") from None
        except (TypeError, ValueError) as error:
            raise type(error)(f"{what}: {error}") from None

    def _at_once(self, change: Callable[[], _T]) -> _T:
        return change() if self._alone is None else self._alone.run(change)

    def _become(self, new: dict[str, Any]) -> None:
        # The core hears of it at once: steps that are replayed do not come by here.
        if self.core_now is not None:
            try:
                self.core_now.set_options(new)
                self.fits = True
            except KeyError:
                # Options that are taken out are missed by the next step.
                self.fits = False
        super()._become(new)


