"""The last good checkpoint of a training.

    with Checkpointer("run.mg", every=500, model=net, optim=adam) as checkpointer:
        checkpointer.load()
        for x, y in loader:
            ...
            checkpointer.step(loss)
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, cast

from .._micrograd_rs import Tensor, _needs_values, get_rng_state, set_rng_state
from .._names import Lazy as _Lazy
from .._names import kind_of

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Checkpointer", "TrainingError"]

__getattr__ = _Lazy(__name__)


class TrainingError(FloatingPointError):
    """A loss that is no number or infinite, or NaN in what was to be saved: of which `step`, and its `loss` (None where the loss was good)."""

    def __init__(self, text: str, step: int = 0, loss: float | None = None) -> None:
        super().__init__(text)
        self.step, self.loss = step, loss


class Checkpointer:
    """Saves a training to a file now and then, and never over the last good file what has gone wrong: a loss that is no number, or infinite, is a
    `TrainingError` that names the step, and so is NaN in what is to be saved.

    Parts are given by name: what has a `state_dict()` and a `load_state_dict()`, as models, optimisers, schedules and loaders. The state of the
    generator of random tensors is saved and loaded with them, so that a run with dropout and a loader that shuffles goes on with the numbers that it
    would have drawn. `step(loss)` is told
    each step's loss. It is read when the next checkpoint is due, every `every` steps: nothing waits for it before, and a loop that reads the loss
    itself hands on the number, which is looked at at once. With `on_nan="warn"` there is a warning in the place of the error; the file is
    left as it is.

    >>> import math, os, tempfile
    >>> import micrograd_rs as mg
    >>> from micrograd_rs.utils.checkpointer import Checkpointer
    >>> path = os.path.join(tempfile.mkdtemp(), "run.mg")
    >>> net = mg.nn.Linear(1, 1)
    >>> sgd = mg.optim.SGD(net.parameters(), lr=0.1)
    >>> checkpointer = Checkpointer(path, every=2, model=net, optim=sgd)
    >>> for x in (1.0, 2.0, math.nan, 3.0):
    ...     loss = net(mg.tensor([x])).square().mean()
    ...     sgd.zero_grad()
    ...     loss.backward()
    ...     sgd.step()
    ...     checkpointer.step(loss)
    Traceback (most recent call last):
    micrograd_rs.utils.checkpointer.TrainingError: the loss of step 3 is nan; the last good checkpoint is that of step 2, in ...
    >>> checkpointer.load(), math.isnan(net.weight.item())
    (2, False)
    """

    def __init__(self, path: str | os.PathLike[str], *, every: int = 1000, on_nan: str = "raise", **parts: Any) -> None:
        if type(every) is not int or every < 1:
            raise ValueError(f"Checkpointer takes at least 1 step between checkpoints, got {every!r}")
        if on_nan not in ("raise", "warn"):
            raise ValueError(f"Checkpointer: on_nan is 'raise' or 'warn', got {on_nan!r}")
        for name, does in (("step", "counts the steps"), ("rng", "keeps the state of the generator")):
            if name in parts:
                raise ValueError(f"Checkpointer {does} itself: a part has another name than {name!r}")
        for name, part in parts.items():
            if not (hasattr(part, "state_dict") and hasattr(part, "load_state_dict")):
                raise TypeError(f"Checkpointer takes parts that have a state_dict() and a load_state_dict(), got {kind_of(part)} as {name!r}")
        self.path = os.fspath(path)
        self.every, self.on_nan = every, on_nan
        # How many steps were made, and the last one that was saved.
        self.steps = 0
        self.saved: int | None = None
        self._parts = parts
        # Losses that nobody has looked at yet, with their steps.
        self._losses: list[tuple[int, Tensor]] = []
        # Whether those that were looked at at once are good, since the last time.
        self._is_good = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # What an exception has left half done is not saved.
        if kind is None:
            self.save()

    def step(self, loss: Any) -> None:
        """A step was made, and this is its loss: a tensor of one element, or a number."""
        # What is noted of a step is noted again in each: `jit` does not replay what calls this.
        _needs_values()
        if isinstance(loss, Tensor) and loss.numel() != 1:
            raise ValueError(f"Checkpointer: a loss is one number, got a tensor of shape {tuple(loss.shape)}")
        self.steps += 1
        if isinstance(loss, Tensor):
            self._losses.append((self.steps, loss.detach()))
        elif not math.isfinite(number := float(loss)):
            self._tell_loss(self.steps, number)
            self._is_good = False
        if self.steps % self.every == 0:
            self.save()

    def check(self) -> bool:
        """Looks at the losses since the last time: whether they are good. TrainingError for the first that is not."""
        losses, self._losses = self._losses, []
        is_good, self._is_good = self._is_good, True
        numbers = _numbers([t for _, t in losses])
        for (step, _), number in zip(losses, numbers, strict=True):
            if not math.isfinite(number):
                self._tell_loss(step, number)
                return False
        return is_good

    def save(self) -> bool:
        """Looks at the losses and saves, if all is well; whether it did. TrainingError if not: then the file is what it was."""
        if not self.check():
            return False
        state: dict[str, Any] = {name: part.state_dict() for name, part in self._parts.items()}
        if spoilt := _spoilt(state):
            self._tell(f"after step {self.steps} there is NaN in {', '.join(spoilt)}", self.steps, None)
            return False
        from ..serialization import save

        save({"step": self.steps, "rng": get_rng_state(), **state}, self.path)
        self.saved = self.steps
        return True

    def load(self) -> int:
        """Loads the file into the parts, if it is there: of which step it is, 0 where there is none. Steps are counted from there on, and random
        numbers drawn as they would have been then. A part that refuses its state leaves those before it as they were, where they take that back."""
        if not os.path.exists(self.path):
            return 0
        from ..serialization import load

        state: Any = load(self.path)
        parts = [*self._parts]
        if not isinstance(state, dict) or {*cast("dict[Any, Any]", state)} != {"step", "rng", *parts} or type(state["step"]) is not int:  # type: ignore[redundant-cast]
            held = [*cast("dict[Any, Any]", state)] if isinstance(state, dict) else kind_of(state)  # type: ignore[redundant-cast]
            raise ValueError(f"{self.path}: no checkpoint of {parts}: it has {held}")
        before: list[tuple[Any, Any]] = []
        try:
            for i, (name, part) in enumerate(self._parts.items(), 1):
                # What was loaded last is never taken back.
                kept = _kept(part.state_dict()) if i < len(parts) else None
                part.load_state_dict(state[name])
                before.append((part, kept))
            # Last: what loads may have drawn.
            set_rng_state(cast("dict[str, Any]", state)["rng"])
        except BaseException:
            for part, kept in before:
                # What has its shapes of what it loaded does not go back.
                with suppress(Exception):
                    part.load_state_dict(kept)
            raise
        self.steps = self.saved = state["step"]
        self._losses, self._is_good = [], True
        return self.steps

    def _tell_loss(self, step: int, loss: float) -> None:
        self._tell(f"the loss of step {step} is {loss}", step, loss)

    def _tell(self, what: str, step: int, loss: float | None) -> None:
        good = f"nothing was saved to {self.path} yet"
        if self.saved is not None:
            good = f"the last good checkpoint is that of step {self.saved}, in {self.path}"
        text = f"{what}; {good}"
        if self.on_nan == "raise":
            raise TrainingError(text, step, loss)
        from warnings import warn

        warn(text, RuntimeWarning, stacklevel=4)


def _kept(state: Any) -> Any:
    """A state as it is now, whatever is loaded. Its tensors are on the host: where they were there may be no room for them twice."""
    if isinstance(state, Tensor):
        return state.detach().clone() if state.device.type == "cpu" else state.detach().cpu()
    if isinstance(state, dict):
        # What a dictionary has besides, as versions, it has still.
        new: dict[Any, Any] = copy(cast("dict[Any, Any]", state))  # type: ignore[redundant-cast]
        for key, item in new.items():
            new[key] = _kept(item)
        return new
    if isinstance(state, list):
        return [_kept(item) for item in cast("list[Any]", state)]  # type: ignore[redundant-cast]
    if type(state) is tuple:
        return tuple(_kept(item) for item in cast("tuple[Any, ...]", state))  # type: ignore[redundant-cast]
    return state


def _numbers(tensors: list[Tensor]) -> list[float]:
    """The numbers of tensors of one element, read at once."""
    from .._ops import stack

    return stack([t.reshape(()).double().cpu() for t in tensors]).tolist() if tensors else []


def _spoilt(state: Any) -> list[str]:
    """The places of tensors with NaN in a state."""
    found: list[tuple[str, Tensor]] = []

    def look(value: Any, path: str) -> None:
        if isinstance(value, Tensor):
            if value.is_floating_point():
                found.append((path, value.detach().isnan().any()))
        elif isinstance(value, dict):
            for key, item in cast("dict[Any, Any]", value).items():  # type: ignore[redundant-cast]
                look(item, f"{path}.{key}" if path else str(key))
        elif isinstance(value, (list, tuple)):
            for i, item in enumerate(cast("list[Any]", value)):
                look(item, f"{path}.{i}" if path else str(i))

    look(state, "")
    return [path for (path, _), number in zip(found, _numbers([t for _, t in found]), strict=True) if number]
