"""Schedules that go up and down again, that begin again, or that follow what they are told. They are in `lr_scheduler`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .._micrograd_rs import _Schedule
from .._names import Lazy as _Lazy
from .lr_scheduler import LRScheduler, _enable_get_lr_call, groups_of, put_rate, rates_of

if TYPE_CHECKING:
    from .optimizer import Optimizer

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR", "ReduceLROnPlateau"]

__getattr__ = _Lazy(__name__)


def _each(name: str, optimizer: Optimizer, value: float | Sequence[float]) -> list[float]:
    """A value for every group of parameters."""
    n = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * n  # type: ignore[list-item]
    if len(value) != n:
        raise ValueError(f"{len(value)} values of {name} for {n} groups of parameters")
    return list(value)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the initial rate down to `eta_min` in `T_0` epochs, again and again, each `T_mult` times as long as the one before (Loshchilov
    and Hutter, 2017).

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd, T_0=2)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 1.0, 0.5, 1.0]

    Arguments:
        T_0: how many epochs the first period has, at least 1
        T_mult: how many times as long each period is as the one before, at least 1
        eta_min: the least rate

    Errors: ValueError for another `T_0` or `T_mult`, TypeError for what is no optimiser.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if value < 1 or value != int(value):
                raise ValueError(f"CosineAnnealingWarmRestarts takes a {name} of at least 1, got {value!r}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [_Schedule.restarted(base=base, eta_min=self.eta_min, done=self.T_cur, length=self.T_i) for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Goes on to the next epoch, or to another one, and sets the learning rates.

        Arguments:
            epoch: the epoch to go to, at least 0; it may lie between two, as `epoch + batch / batches` does; None: the next one

        Errors: ValueError for a negative epoch.

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> schedule = mg.optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd, T_0=2)
        >>> schedule.step(1.5)
        >>> round(schedule.get_last_lr()[0], 4)
        0.1464
        """
        if epoch is None and self.last_epoch >= 0:
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
            epoch = self.last_epoch + 1
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f"takes an epoch of at least 0, got {epoch}")
            done, length = _Schedule.restarts(t_0=self.T_0, t_mult=self.T_mult, epoch=epoch)
            self.T_cur = int(done) if isinstance(epoch, int) else done
            self.T_i = int(length)
        self.last_epoch = math.floor(epoch)
        with _enable_get_lr_call(self):
            rates = self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            put_rate(group, rate)
        self._last_lr = rates_of(self.optimizer)


class _Cycling(LRScheduler):
    """Cycles a momentum, or the first of the betas, against the rate."""

    cycle_momentum: bool

    def _begin_momenta(
        self, optimizer: Optimizer, base: float | Sequence[float], largest: float | Sequence[float], last_epoch: int
    ) -> None:
        if not self.cycle_momentum:
            return
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(f"{type(optimizer).__name__} has no momentum to cycle: pass cycle_momentum=False")
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = _each("base_momentum", optimizer, base)
        self.max_momentums = _each("max_momentum", optimizer, largest)
        if last_epoch == -1:
            for low, high, group in zip(self.base_momentums, self.max_momentums, optimizer.param_groups, strict=True):
                self._put_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low

    def _put_momentum(self, group: Any, momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, group["betas"][1])
        else:
            group["momentum"] = momentum


class CyclicLR(_Cycling):
    """Up from `base_lr` to `max_lr` in `step_size_up` steps and down again, over and over (Smith, 2017). Call `step` after every batch.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.CyclicLR(sgd, base_lr=0.0, max_lr=1.0, step_size_up=2, cycle_momentum=False)
    >>> rates = []
    >>> for epoch in range(6):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [0.0, 0.5, 1.0, 0.5, 0.0, 0.5]

    Arguments:
        base_lr: the least rate: one number, or one for each group
        max_lr: the largest rate: one number, or one for each group
        step_size_up: how many steps it goes up
        step_size_down: how many steps it goes down; None: as many
        mode: how cycles become smaller: "triangular": not at all, "triangular2": each goes half as high as the one before, "exp_range": `gamma` times
            as high every step
        gamma: the factor of "exp_range"
        scale_fn: a function in the mode's place that says how high a cycle goes, from 0 to 1; None: the mode says it
        scale_mode: what it is called with: "cycle" for the cycle's number, "iterations" for the step's
        cycle_momentum: whether the momentum, or the first of `betas`, goes the other way: down while rates go up
        base_momentum: the least momentum: one number, or one for each group
        max_momentum: the largest momentum: one number, or one for each group

    Errors: ValueError for another `mode`, for another number of rates than groups, and, with `cycle_momentum`, for an optimiser without a momentum;
    TypeError for what is no optimiser.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(f"CyclicLR takes 'triangular', 'triangular2' or 'exp_range', got {mode!r}")
        down = step_size_up if step_size_down is None else step_size_down
        # The sizes as they were given: what is kept of them is rounded.
        _Schedule.cyclic(step_size_up=step_size_up, step_size_down=down, epoch=0)
        self._put_sizes(step_size_up, down)
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else ("iterations" if mode == "exp_range" else "cycle")
        groups_of(optimizer, self)
        base_lrs = _each("base_lr", optimizer, base_lr)
        self.max_lrs = _each("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                put_rate(group, rate)
        self.cycle_momentum = cycle_momentum
        self._begin_momenta(optimizer, base_momentum, max_momentum, last_epoch)
        # The first rate is that which the groups began with, where a schedule was made on them before.
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _put_sizes(self, up: float, down: float) -> None:
        # As PyTorch has them, in whose terms the state is.
        self.total_size = float(up) + float(down)
        self.step_ratio = float(up) / self.total_size

    def _phase(self, epoch: int) -> tuple[int, float]:
        up = round(self.step_ratio * self.total_size)
        return _Schedule.cyclic(step_size_up=up, step_size_down=round(self.total_size) - up, epoch=epoch)

    def scale_fn(self, x: float) -> float:
        """How high a cycle goes, from 0 to 1.

        Arguments:
            x: the number of the cycle, or, with `scale_mode="iterations"`, of the step
        """
        if self._scale_fn_custom is not None:
            return float(self._scale_fn_custom(x))
        if self.mode == "triangular2":
            return float(0.5 ** (x - 1))
        return float(self.gamma**x) if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[float]:
        cycle, up = self._phase(self.last_epoch)
        height = up * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            momenta = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, high, group in momenta:
                self._put_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is. Of a `scale_fn` that is an object, what it holds is part of it; a plain function is not."""
        state = super().state_dict()
        f = state["_scale_fn_custom"]
        held: dict[str, Any] | None = None if f is None or isinstance(f, FunctionType) else {**vars(f)}
        state["_scale_fn_custom"] = held
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        state = dict(state_dict)
        held = state.pop("_scale_fn_custom")
        if "step_size_up" in state:
            # Of a version that had the sizes themselves.
            self._put_sizes(state.pop("step_size_up"), state.pop("step_size_down"))
        super().load_state_dict(state)
        if held is not None:
            vars(self._scale_fn_custom).update(held)


# The keys of a group between which a phase of one cycle goes: of the rate, and of the momentum.
_TWO = ((("initial_lr", "max_lr"), ("max_momentum", "base_momentum")), (("max_lr", "min_lr"), ("base_momentum", "max_momentum")))
_THREE = (
    (("initial_lr", "max_lr"), ("max_momentum", "base_momentum")),
    (("max_lr", "initial_lr"), ("base_momentum", "max_momentum")),
    (("initial_lr", "min_lr"), ("max_momentum", "max_momentum")),
)


class OneCycleLR(_Cycling):
    """Once up from `max_lr / div_factor` to `max_lr`, then down to `1 / final_div_factor` of what it began with (Smith and Topin, 2018). Call `step`
    after every batch.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.OneCycleLR(sgd, max_lr=1.0, total_steps=5, pct_start=0.4, cycle_momentum=False)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [0.04, 1.0, 0.75, 0.25, 0.0]

    Arguments:
        max_lr: the largest rate: one number, or one for each group
        total_steps: how many steps there are; None: `epochs · steps_per_epoch`
        epochs: how many epochs there are, without `total_steps`
        steps_per_epoch: how many steps each of them has
        pct_start: the part of all steps that goes up, from 0 to 1
        anneal_strategy: "cos" for half a cosine, "linear" for a line
        cycle_momentum: whether the momentum, or the first of `betas`, goes the other way: down while rates go up
        base_momentum: the least momentum: one number, or one for each group
        max_momentum: the largest momentum: one number, or one for each group
        div_factor: how many times smaller the first rate is than the largest
        final_div_factor: how many times smaller the last rate is than the first
        three_phase: whether it goes down to the first rate, in as many steps as it went up, before it goes down to the last

    Errors: ValueError without a number of steps, for another `anneal_strategy`, and, with `cycle_momentum`, for an optimiser without a momentum;
    `step` raises it after the last step. TypeError for what is no optimiser.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR takes total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps < 1:
            raise ValueError(f"OneCycleLR takes at least 1 step, got {total_steps}")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"OneCycleLR takes a pct_start from 0 to 1, got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR takes 'cos' or 'linear', got {anneal_strategy!r}")
        self.total_steps = total_steps
        self.pct_start = float(pct_start)
        self.three_phase = three_phase
        self._anneal_func_type = anneal_strategy
        groups_of(optimizer, self)
        rates = _each("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for rate, group in zip(rates, optimizer.param_groups, strict=True):
                group["initial_lr"], group["max_lr"] = rate / div_factor, rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        self._begin_momenta(optimizer, base_momentum, max_momentum, last_epoch)
        # The groups have them.
        for name in ("base_momentums", "max_momentums"):
            vars(self).pop(name, None)
        super().__init__(optimizer, last_epoch)

    def _phases(self, pct_start: float) -> list[dict[str, Any]]:
        """The phases as PyTorch's state has them: where each ends, and what goes between what."""
        up = pct_start * self.total_steps
        ends: list[float] = [up - 1, 2 * up - 2, self.total_steps - 1] if self.three_phase else [up - 1, self.total_steps - 1]
        return [
            {"end_step": end, "start_lr": lr[0], "end_lr": lr[1], "start_momentum": momentum[0], "end_momentum": momentum[1]}
            for end, (lr, momentum) in zip(ends, _THREE if self.three_phase else _TWO, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        del state["pct_start"], state["three_phase"]
        return {**state, "_schedule_phases": self._phases(self.pct_start)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        state = dict(state_dict)
        phases = state.pop("_schedule_phases", None)
        super().load_state_dict(state)
        if phases is not None:
            self.three_phase = len(phases) == 3
            found = (phases[0]["end_step"] + 1) / self.total_steps
            # The share of the steps that the end of the phase was computed of, to the last bit.
            shares = (self.pct_start, round(found, 12), found)
            self.pct_start = next((p for p in shares if self._phases(p)[0]["end_step"] == phases[0]["end_step"]), found)

    def get_lr(self) -> list[float]:
        if self.last_epoch > self.total_steps:
            raise ValueError(f"a step {self.last_epoch} of a cycle of {self.total_steps} steps")
        linear = self._anneal_func_type == "linear"
        phase, done = _Schedule.one_cycle(
            total_steps=self.total_steps, pct_start=self.pct_start, linear=linear, three_phase=self.three_phase, step=self.last_epoch
        )
        rate, momentum = (_THREE if self.three_phase else _TWO)[phase]

        def between(group: Any, keys: tuple[str, str]) -> float:
            start, end = group[keys[0]], group[keys[1]]
            return float(start + (end - start) * done)

        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                self._put_momentum(group, between(group, momentum))
        # The step after the last one is past the end, where a line would go on below 0.
        return [max(0.0, between(group, rate)) for group in self.optimizer.param_groups]


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` whenever what `step` is told has been no better for more than `patience` epochs.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.ReduceLROnPlateau(sgd, factor=0.5, patience=1)
    >>> rates = []
    >>> for loss in [1.0, 0.5, 0.5, 0.5, 0.5]:
    ...     schedule.step(loss)
    ...     rates.append(sgd.param_groups[0]["lr"])
    >>> rates
    [1.0, 1.0, 1.0, 0.5, 0.5]

    Arguments:
        mode: "min" where less is better, as of a loss, "max" where more is
        factor: what rates are multiplied by, below 1
        patience: how many epochs may be no better before that
        threshold: by how much the best has to be surpassed to count
        threshold_mode: whether `threshold` is a part of the best, "rel", or a difference, "abs"
        cooldown: how many epochs do not count after a change
        min_lr: the least rate: one number, or one for each group
        eps: the largest change that is not made: rates stay where they would hardly move

    Errors: ValueError for a `factor` that is not below 1, another `mode` or `threshold_mode`, and another number of rates than groups; TypeError for
    what is no optimiser.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau takes a factor below 1, got {factor}")
        if mode not in ("min", "max"):
            raise ValueError(f"ReduceLROnPlateau takes 'min' or 'max', got {mode!r}")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"ReduceLROnPlateau takes 'rel' or 'abs', got {threshold_mode!r}")
        self.optimizer = optimizer
        self.mode, self.factor, self.patience, self.cooldown = mode, factor, patience, cooldown
        self.threshold, self.threshold_mode, self.eps = threshold, threshold_mode, eps
        groups_of(optimizer, self)
        self.min_lrs = _each("min_lr", optimizer, min_lr)
        # That of groups that come later.
        self.default_min_lr: Any = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.last_epoch = 0
        self._last_lr = rates_of(optimizer)
        self._reset()

    def _reset(self) -> None:
        """Forgets what it was told."""
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def _is_better(self, metric: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        by = self.threshold * self.best if self.threshold_mode == "rel" else self.threshold
        limit = self.best if math.isinf(self.best) else self.best + sign * by
        return metric > limit if self.mode == "max" else metric < limit

    def step(  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        self, metrics: Any, epoch: int | None = None
    ) -> None:
        """Goes on to the next epoch, and sets the learning rates.

        Arguments:
            metrics: what is looked at, such as the epoch's loss: a number, or a tensor of one element, which is read
            epoch: the epoch to go to; None: the next one

        Errors: TypeError for what is no number.

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> schedule = mg.optim.lr_scheduler.ReduceLROnPlateau(sgd, factor=0.5, patience=0)
        >>> for loss in mg.tensor([1.0, 1.0]):
        ...     schedule.step(loss)
        >>> schedule.get_last_lr()
        [0.5]
        """
        metric = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(metric):
            self.best, self.num_bad_epochs = metric, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            groups = self.optimizer.param_groups
            if len(groups) != len(self.min_lrs):
                if self.default_min_lr is None:
                    text = f"{len(self.min_lrs)} least rates for {len(groups)} groups of parameters"
                    raise RuntimeError(f"ReduceLROnPlateau: {text}: where groups were added or removed, change min_lrs too")
                self.min_lrs = [self.default_min_lr] * len(groups)
            for group, low in zip(groups, self.min_lrs, strict=True):
                before = float(group["lr"])
                rate = max(before * self.factor, low)
                if before - rate > self.eps:
                    put_rate(group, rate)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = rates_of(self.optimizer)

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs do not count."""
        return self.cooldown_counter > 0
