"""Losses that are scaled up, so that small gradients of float16 do not vanish."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakKeyDictionary

from .._micrograd_rs import Device, Tensor, _GradScaler, tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..optim import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What was done with an optimiser's gradients since the last `update()`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Of:
    """What is known of an optimiser."""

    def __init__(self, found: Tensor) -> None:
        self.stage = OptState.READY
        self.found = found


_HINT = "was scale(loss) called before?"
_DEFAULTS = _GradScaler.defaults()


class GradScaler:
    """Scales losses before `backward()`, unscales gradients, and leaves out the steps whose gradients are not finite. The scale grows while all goes
    well, and shrinks where a step was left out.

    Nothing is read on the host: scale, counter and what was found are tensors on the device, and a step is left out by choosing, in the optimiser's
    own plan, so it can be part of a function under `jit`. `step()` of an optimiser that is written in Python has to read what was found.

        scaler = mg.amp.GradScaler()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)                   # only where gradients are clipped or looked at
        nn.utils.clip_grad_norm_(parameters, 1.0)
        scaler.step(optimizer)
        scaler.update()

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> sgd, scaler = mg.optim.SGD([p], lr=0.25), mg.amp.GradScaler("cpu", init_scale=1024.0)
    >>> scaler.scale((p * 2).sum()).backward()
    >>> scaler.step(sgd)
    >>> scaler.update()
    >>> p.item()
    0.5

    Arguments:
        device: the type of device that losses are on, "cuda" or "cpu"
        init_scale: the scale at first
        growth_factor: what the scale is multiplied by after `growth_interval` good steps in a row, above 1
        backoff_factor: what the scale is multiplied by after a step that was left out, below 1
        growth_interval: how many good steps in a row there are before the scale grows
        enabled: whether it does anything; without it losses are not scaled and no step is left out

    Errors: ValueError for a `growth_factor` that is not above 1, and for a `backoff_factor` that is not below 1.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = _DEFAULTS["init_scale"],
        growth_factor: float = _DEFAULTS["growth_factor"],
        backoff_factor: float = _DEFAULTS["backoff_factor"],
        growth_interval: int = _DEFAULTS["growth_interval"],
        enabled: bool = True,
    ) -> None:
        self._device = device
        if enabled and device == "cuda" and not Device.is_cuda_available():
            import warnings

            warnings.warn("there is no CUDA device: the GradScaler is switched off", stacklevel=2)
            enabled = False
        self._enabled = enabled
        self._init_scale = float(init_scale)
        self._growth_factor = float(growth_factor)
        self._backoff_factor = float(backoff_factor)
        self._growth_interval = int(growth_interval)
        self._init_growth_tracker = 0
        self._core: _GradScaler | None = None
        # By the optimisers themselves: another one may come to be where one was.
        self._of: WeakKeyDictionary[Optimizer, _Of] = WeakKeyDictionary()
        # Of those whose gradients were looked at since the last `update()`, whether they live or not.
        self._seen: list[_Of] = []
        if enabled and not (self._growth_factor > 1 and self._backoff_factor < 1):
            raise ValueError(f"takes a growth_factor above 1 and a backoff_factor below 1, got {growth_factor} and {backoff_factor}")

    def _made(self, device: Any) -> _GradScaler:
        if self._core is None:
            core = _GradScaler(device, init_scale=self._init_scale, **self._options())
            core.set_growth_tracker(self._init_growth_tracker)
            self._core = core
        return self._core

    def _known(self, name: str) -> _GradScaler:
        if self._core is None:
            raise RuntimeError(f"{name}() before the scale was used: {_HINT}")
        return self._core

    @overload
    def scale(self, outputs: Tensor) -> Tensor: ...
    @overload
    def scale(self, outputs: list[Tensor]) -> list[Tensor]: ...
    @overload
    def scale(self, outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]: ...
    @overload
    def scale(self, outputs: Iterable[Tensor]) -> Iterable[Tensor]: ...
    def scale(self, outputs: Any) -> Any:
        """The loss, or each of several results, times the scale.

        Arguments:
            outputs: a tensor, or several

        >>> mg.amp.GradScaler("cpu", init_scale=4.0).scale(mg.tensor(3.0))
        tensor(12.)
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return self._made(outputs.device).scaled(outputs)
        if not hasattr(outputs, "__iter__"):
            raise ValueError(f"takes a tensor or tensors, got {type(outputs).__name__}")
        parts: Any = map(self.scale, outputs)
        return type(outputs)(parts) if isinstance(outputs, (list, tuple)) else parts  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of the optimiser's parameters by the scale, and notes whether they are finite. Once in each step, and only
        where gradients are clipped or looked at before `step()`, which does it by itself otherwise.

        Arguments:
            optimizer: the optimiser

        >>> p = mg.nn.Parameter(mg.tensor([1.0]))
        >>> sgd, scaler = mg.optim.SGD([p], lr=0.25), mg.amp.GradScaler("cpu", init_scale=1024.0)
        >>> scaler.scale((p * 2).sum()).backward()
        >>> scaler.unscale_(sgd)
        >>> p.grad
        tensor([2.])
        """
        if not self._enabled:
            return
        core = self._known("unscale_")
        of = self._state(core, optimizer)
        if of.stage is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update()")
        if of.stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step()")
        params: list[Tensor] = [p for group in optimizer.param_groups for p in group["params"]]
        if not any(p.grad is not None for p in params):
            raise RuntimeError("there are no gradients to unscale: call backward() before")
        core.unscale(params, of.found)
        of.stage = OptState.UNSCALED
        self._seen.append(of)

    def _state(self, core: _GradScaler, optimizer: Optimizer) -> _Of:
        of = self._of.get(optimizer)
        if of is None:
            self._of[optimizer] = of = _Of(core.finding())
        return of

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """A step of the optimiser, left out where gradients are not finite. Answers with what its `step()` does.

        Arguments:
            optimizer: the optimiser
            args, kwargs: what its `step()` is called with

        >>> p = mg.nn.Parameter(mg.tensor([1.0]))
        >>> sgd, scaler = mg.optim.SGD([p], lr=0.25), mg.amp.GradScaler("cpu")
        >>> scaler.scale((p * float("inf")).sum()).backward()
        >>> scaler.step(sgd)
        >>> p.item()
        1.0
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs or args:
            raise RuntimeError("takes no closure: compute the loss and its gradients before")
        core = self._known("step")
        of = self._state(core, optimizer)
        if of.stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update()")
        if of.stage is OptState.READY:
            self.unscale_(optimizer)
        if optimizer._kind is None:
            answer = None if of.found.item() else optimizer.step(**kwargs)
        else:
            optimizer._left_out = of.found
            try:
                answer = optimizer.step(**kwargs)
            finally:
                optimizer._left_out = None
        of.stage = OptState.STEPPED
        return answer

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """The next scale; at the end of each step. With `new_scale`, that.

        Arguments:
            new_scale: the next scale

        >>> p = mg.nn.Parameter(mg.tensor([1.0]))
        >>> sgd, scaler = mg.optim.SGD([p], lr=0.25), mg.amp.GradScaler("cpu", init_scale=1024.0)
        >>> scaler.scale((p * float("inf")).sum()).backward()
        >>> scaler.step(sgd)
        >>> scaler.update()
        >>> scaler.get_scale()
        512.0
        """
        if not self._enabled:
            return
        core = self._known("update")
        seen = self._seen
        if new_scale is not None:
            if isinstance(new_scale, Tensor) and (new_scale.numel() != 1 or new_scale.requires_grad):
                raise ValueError("takes a float or a tensor of one element that requires no gradient")
            core.set_scale(new_scale if isinstance(new_scale, Tensor) else tensor(float(new_scale)))
        else:
            if not seen:
                raise RuntimeError("update() before a step: no gradients were looked at since the last one")
            core.update([of.found for of in seen])
        for of in seen:
            of.stage = OptState.READY
        self._seen = []

    def get_scale(self) -> float:
        """The scale. Reads it on the host.

        >>> mg.amp.GradScaler("cpu", init_scale=1024.0).get_scale()
        1024.0
        """
        if not self._enabled:
            return 1.0
        return self._init_scale if self._core is None else self._core.scale.item()

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by after so many good steps.

        >>> mg.amp.GradScaler("cpu").get_growth_factor()
        2.0
        """
        return self._growth_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after a step that was left out.

        >>> mg.amp.GradScaler("cpu").get_backoff_factor()
        0.5
        """
        return self._backoff_factor

    def get_growth_interval(self) -> int:
        """How many good steps there are before the scale grows.

        >>> mg.amp.GradScaler("cpu").get_growth_interval()
        2000
        """
        return self._growth_interval

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by after so many good steps.

        Arguments:
            new_factor: the factor

        >>> scaler = mg.amp.GradScaler("cpu")
        >>> scaler.set_growth_factor(4.0)
        >>> scaler.get_growth_factor()
        4.0
        """
        self._growth_factor = float(new_factor)
        self._changed()

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by after a step that was left out.

        Arguments:
            new_factor: the factor

        >>> scaler = mg.amp.GradScaler("cpu")
        >>> scaler.set_backoff_factor(0.25)
        >>> scaler.get_backoff_factor()
        0.25
        """
        self._backoff_factor = float(new_factor)
        self._changed()

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets how many good steps there are before the scale grows.

        Arguments:
            new_interval: how many

        >>> scaler = mg.amp.GradScaler("cpu")
        >>> scaler.set_growth_interval(100)
        >>> scaler.get_growth_interval()
        100
        """
        self._growth_interval = int(new_interval)
        self._changed()

    def _changed(self) -> None:
        if self._core is not None:
            self._core.set_options(**self._options())

    def _options(self) -> dict[str, Any]:
        return {"growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval}

    def is_enabled(self) -> bool:
        """Whether it does anything.

        >>> mg.amp.GradScaler("cpu", enabled=False).is_enabled()
        False
        """
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Scale, factors, interval and counter, under PyTorch's names; empty where it is switched off. Reads them on the host.

        >>> sorted(mg.amp.GradScaler("cpu").state_dict())
        ['_growth_tracker', 'backoff_factor', 'growth_factor', 'growth_interval', 'scale']
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._init_growth_tracker if self._core is None else self._core.growth_tracker.item(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from what `state_dict()` answered with.

        Arguments:
            state_dict: that

        >>> first, second = mg.amp.GradScaler("cpu", init_scale=8.0), mg.amp.GradScaler("cpu")
        >>> second.load_state_dict(first.state_dict())
        >>> second.get_scale()
        8.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("the state is empty: it was saved of a GradScaler that was switched off")
        self._init_scale = float(state_dict["scale"])
        self._growth_factor = float(state_dict["growth_factor"])
        self._backoff_factor = float(state_dict["backoff_factor"])
        self._growth_interval = int(state_dict["growth_interval"])
        self._init_growth_tracker = int(state_dict["_growth_tracker"])
        self._changed()
        if self._core is not None:
            self._core.set_scale(tensor(self._init_scale))
            self._core.set_growth_tracker(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        if self._seen:
            raise RuntimeError("a GradScaler can be pickled at the beginning of a step, or after update()")
        own = dict(vars(self))
        if self._core is not None:
            own["_init_scale"], own["_init_growth_tracker"] = self.get_scale(), self._core.growth_tracker.item()
        own["_core"] = None
        del own["_of"]
        return own

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._of = WeakKeyDictionary()
