"""Schedules: how the learning rate goes on from epoch to epoch.

As in PyTorch, a schedule changes the rate that the optimiser has: several on one optimiser multiply, and so does a rate that
is set by hand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .._micrograd_rs import Tensor, _Schedule
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from .optimizer import Optimizer

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

__getattr__ = _Lazy(__name__)


def groups_of(optimizer: Any, schedule: object) -> list[dict[str, Any]]:
    """An optimiser's groups of parameters; `TypeError` for what is no optimiser."""
    groups: list[dict[str, Any]] | None = getattr(optimizer, "param_groups", None)
    if groups is None:
        raise TypeError(f"{type(schedule).__name__}: takes an optimiser, got {type(optimizer).__name__}")
    return groups


def put_rate(group: dict[str, Any], rate: Any) -> None:
    """Changes a group's rate. A tensor stays the tensor that the program, or another group, has."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(rate)
    else:
        group["lr"] = rate


def _apart(rate: Any) -> Any:
    return rate.clone() if isinstance(rate, Tensor) else rate


def rates_of(optimizer: Optimizer, key: str = "lr") -> list[Any]:
    """The groups' rates, or what else is under a key, as they are now."""
    return [_apart(group[key]) for group in optimizer.param_groups]


class _enable_get_lr_call:
    """A block in which a schedule knows that a step asks for its rates."""

    def __init__(self, o: Any) -> None:
        self.o = o

    def __enter__(self) -> _enable_get_lr_call:
        self.o._get_lr_called_within_step = True
        return self

    def __exit__(self, *_: object) -> None:
        self.o._get_lr_called_within_step = False


class LRScheduler:
    """Changes an optimiser's learning rates epoch by epoch. A subclass says in `get_lr` what they are in `last_epoch`.

    >>> class Halves(mg.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base / (self.last_epoch + 1) for base in self.base_lrs]
    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = Halves(sgd)
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 0.3333, 0.25]

    Arguments:
        optimizer: the optimiser whose groups' learning rates are changed
        last_epoch: the epoch that was the last; −1 at the beginning. Another one takes an optimiser whose state was loaded, with the `initial_lr` of
            its groups

    Errors: TypeError for what is no optimiser; KeyError for a `last_epoch` where groups have no `initial_lr`.
    """

    # Whether `get_lr` is asked for where the schedule begins, or begins again.
    _is_initial = False
    # Whether a step asks for it: schedules that were written for PyTorch warn where it is a program.
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        for i, group in enumerate(groups_of(optimizer, self)):
            if last_epoch == -1:
                group.setdefault("initial_lr", _apart(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"group {i} of the optimiser has no 'initial_lr': to resume at last_epoch={last_epoch}, load the optimiser's state first"
                )
        self.base_lrs: list[float] = rates_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._begin()

    def _begin(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[float]:
        """The learning rates of `last_epoch`, one for each group of parameters, whose rates are still those of the epoch
        before.

        See `LRScheduler`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what the learning rates are: write its get_lr()")

    def _get_closed_form_lr(self) -> list[float]:
        """The learning rates of `last_epoch` where nothing else acts on them."""
        return self.get_lr()

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch, or to another one, and sets the learning rates.

        Arguments:
            epoch: the epoch to go to, with the rates that it has where nothing else acts on them; None: the next one

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> schedule = mg.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.5)
        >>> schedule.step()
        >>> sgd.param_groups[0]["lr"]
        0.5
        """
        self._step_count += 1
        self._update(epoch)

    def _update(self, epoch: int | None = None) -> None:
        before = self.last_epoch
        self.last_epoch = before + 1 if epoch is None else epoch
        try:
            with _enable_get_lr_call(self):
                rates = self.get_lr() if epoch is None else self._get_closed_form_lr()
            for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
                put_rate(group, rate)
        except BaseException:
            self.last_epoch = before
            raise
        self._last_lr = rates_of(self.optimizer)

    def get_last_lr(self) -> list[float]:
        """The learning rates that the last step set, one for each group of parameters.

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> schedule = mg.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.5)
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
        """
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is. The optimiser's rates are in the optimiser's state.

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> schedule = mg.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.5)
        >>> schedule.step()
        >>> schedule.state_dict()["last_epoch"]
        1
        """
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes to where `state_dict` was taken. Load the optimiser's state, too, which has the rates.

        Arguments:
            state_dict: what `state_dict` of such a schedule answered with

        >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
        >>> schedule = mg.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.5)
        >>> schedule.load_state_dict({**schedule.state_dict(), "last_epoch": 3})
        >>> schedule.last_epoch
        3
        """
        vars(self).update(state_dict)


class _Functional(LRScheduler):
    """One function of the epoch, or one for each group of parameters."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(groups_of(optimizer, self))
        if not callable(lr_lambda) and not isinstance(lr_lambda, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{type(self).__name__} takes a function of the epoch, or a list of them, as lr_lambda, got {type(lr_lambda).__name__}")
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"{len(self.lr_lambdas)} functions for {groups} groups of parameters")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is. Of functions that are objects, what they hold is part of it; plain functions are not."""
        state = super().state_dict()
        state["lr_lambdas"] = [None if isinstance(f, FunctionType) else dict(vars(f)) for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        state = dict(state_dict)
        for f, held in zip(self.lr_lambdas, state.pop("lr_lambdas"), strict=True):
            if held is not None:
                vars(f).update(held)
        super().load_state_dict(state)


class LambdaLR(_Functional):
    """The initial rate times what a function says of the epoch: one function, or one for each group of parameters.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.LambdaLR(sgd, lambda epoch: 1 / (epoch + 1))
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 0.3333, 0.25]

    Arguments:
        lr_lambda: a function of the epoch that answers with a factor, or a list of functions, one for each group

    Errors: ValueError for another number of functions than groups, TypeError for what is no optimiser.
    """

    def get_lr(self) -> list[float]:
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_Functional):
    """The rate times what a function says of the epoch: one function, or one for each group of parameters.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.MultiplicativeLR(sgd, lambda epoch: 0.5)
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 0.25, 0.125]

    Arguments:
        lr_lambda: a function of the epoch that answers with a factor, or a list of functions, one for each group

    Errors: ValueError for another number of functions than groups, TypeError for what is no optimiser.
    """

    def get_lr(self) -> list[float]:
        rates = [group["lr"] for group in self.optimizer.param_groups]
        if self._is_initial:
            return rates
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, rates, strict=True)]


class _Scheduled(LRScheduler):
    """A schedule of the engine's."""

    def _schedule(self) -> _Schedule:
        """Made of the attributes whenever it is asked, so that they can be changed."""
        raise NotImplementedError

    def _of_groups(self, rate: Callable[[float, float, int], float], bases: Iterable[float]) -> list[float]:
        return [rate(group["lr"], base, self.last_epoch) for group, base in zip(self.optimizer.param_groups, bases)]

    def _bases(self) -> list[float]:
        """The initial rates. Which of them is whose is not known where groups came or went since."""
        groups, bases = len(self.optimizer.param_groups), len(self.base_lrs)
        if groups != bases:
            text = f"{bases} initial rates for {groups} groups of parameters: where groups were added or removed, change base_lrs too"
            raise ValueError(f"{type(self).__name__}: {text}")
        return self.base_lrs

    def get_lr(self) -> list[float]:
        schedule = self._schedule()
        # As in PyTorch each group goes on from the rate that it has, whether it was there when the schedule was made or came later.
        return self._of_groups(schedule.start if self._is_initial else schedule.next, repeat(0.0))

    def _get_closed_form_lr(self) -> list[float]:
        schedule = self._schedule()
        return self._of_groups(lambda _, base, epoch: schedule.lr(base, epoch), self._bases())


class StepLR(_Scheduled):
    """The rate times `gamma` every `step_size` epochs: `lr · gamma ** ⌊epoch / step_size⌋`.

    >>> import micrograd_rs as mg
    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.StepLR(sgd, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates += schedule.get_last_lr()
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5]

    Arguments:
        step_size: how many epochs have the same rate, at least 1
        gamma: what the rate is multiplied by after them

    Errors: ArgumentError for a `step_size` below 1, TypeError for what is no optimiser.
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _schedule(self) -> _Schedule:
        return _Schedule.step(step_size=int(self.step_size), gamma=self.gamma)


class MultiStepLR(_Scheduled):
    """The rate times `gamma` at each of some epochs.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.MultiStepLR(sgd, milestones=[1, 3], gamma=0.5)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 0.5, 0.25, 0.25]

    Arguments:
        milestones: the epochs from which on the rate is another; one that stands twice counts twice
        gamma: what the rate is multiplied by at each
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        if not isinstance(milestones, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"MultiStepLR takes a list of epochs as milestones, got {type(milestones).__name__}")
        # Counted, as PyTorch's state has them.
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _schedule(self) -> _Schedule:
        return _Schedule.multi_step(milestones=sorted(Counter(self.milestones).elements()), gamma=self.gamma)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        super().load_state_dict(state_dict)
        # A file has a dictionary of them, a state of an earlier version a list.
        self.milestones = Counter(self.milestones)


class ExponentialLR(_Scheduled):
    """The rate times `gamma` every epoch: `lr · gamma ** epoch`.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.5)
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 0.25, 0.125]

    Arguments:
        gamma: what the rate is multiplied by after each epoch
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _schedule(self) -> _Schedule:
        return _Schedule.exponential(gamma=self.gamma)


class CosineAnnealingLR(_Scheduled):
    """Half a cosine from the initial rate down to `eta_min` at epoch `T_max`, then up again: `eta_min + ½ (lr − eta_min) (1 + cos(π · epoch / T_max))`.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.CosineAnnealingLR(sgd, T_max=4)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.8536, 0.5, 0.1464, 0.0]

    Arguments:
        T_max: the epoch in which the rate is at its least
        eta_min: the least rate
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _schedule(self) -> _Schedule:
        return _Schedule.cosine(t_max=self.T_max, eta_min=self.eta_min)

    def get_lr(self) -> list[float]:
        # As PyTorch: a first step that is not to epoch 0 has no epoch before it to go on from.
        if not self._is_initial:
            if self._step_count == 1 and self.last_epoch > 0:
                return self._get_closed_form_lr()
            if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
                # From the bottom it is the initial rates that say how far up.
                return self._of_groups(self._schedule().next, self._bases())
        return super().get_lr()


class LinearLR(_Scheduled):
    """Linearly from `start_factor` times the rate to `end_factor` times it in `total_iters` epochs, then constant: a warm-up.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.LinearLR(sgd, start_factor=0.25, total_iters=3)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [0.25, 0.5, 0.75, 1.0, 1.0]

    Arguments:
        start_factor: what the rate is multiplied by in the first epoch, above 0
        end_factor: what it is multiplied by from epoch `total_iters` on
        total_iters: the epoch from which on the rate is constant

    Errors: ArgumentError for a `start_factor` that is not above 0, TypeError for what is no optimiser.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _schedule(self) -> _Schedule:
        return _Schedule.linear(start_factor=self.start_factor, end_factor=self.end_factor, total_iters=self.total_iters)


class ConstantLR(_Scheduled):
    """`factor` times the rate until epoch `total_iters`, and the rate from there on.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.ConstantLR(sgd, factor=0.5, total_iters=2)
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [0.5, 0.5, 1.0, 1.0]

    Arguments:
        factor: what the rate is multiplied by at first, above 0 and at most 1
        total_iters: the epoch from which on it is not

    Errors: ArgumentError for another `factor`, TypeError for what is no optimiser.
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _schedule(self) -> _Schedule:
        return _Schedule.constant(factor=self.factor, total_iters=self.total_iters)

    def get_lr(self) -> list[float]:
        if self._is_initial and self.last_epoch == self.total_iters != 0:
            # Resumed right where it ends: the rates are those that it had changed.
            return [group["lr"] / self.factor for group in self.optimizer.param_groups]
        return super().get_lr()


class PolynomialLR(_Scheduled):
    """Down to 0 at epoch `total_iters` by a power of what is left: `lr · (1 − epoch / total_iters) ** power`, then 0.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.PolynomialLR(sgd, total_iters=4, power=2.0)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5625, 0.25, 0.0625, 0.0]

    Arguments:
        total_iters: the epoch from which on the rate is 0
        power: the power: 1 for a line
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _schedule(self) -> _Schedule:
        return _Schedule.polynomial(total_iters=self.total_iters, power=self.power)


class _Several(LRScheduler):
    """Schedules of one optimiser."""

    _schedulers: list[LRScheduler]

    def _take(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> None:
        self._schedulers = list(schedulers)
        if not self._schedulers:
            raise ValueError(f"{type(self).__name__} takes at least one schedule")
        self.optimizer = self._schedulers[0].optimizer if optimizer is None else optimizer
        if any(isinstance(scheduler, ReduceLROnPlateau) for scheduler in self._schedulers):
            raise ValueError(f"{type(self).__name__} does not take ReduceLROnPlateau, whose step wants to be told something")
        if any(scheduler.optimizer is not self.optimizer for scheduler in self._schedulers):
            raise ValueError(f"{type(self).__name__} takes schedules of one optimiser")

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        state = dict(state_dict)
        for scheduler, its in zip(self._schedulers, state.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(its)
        super().load_state_dict(state)


class SequentialLR(_Several):
    """One schedule after another: the next one begins, at its epoch 0, at each of the `milestones`.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.SequentialLR(sgd, milestones=[2], schedulers=[
    ...     mg.optim.lr_scheduler.ConstantLR(sgd, factor=0.1), mg.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.5)])
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [0.1, 0.1, 1.0, 0.5, 0.25]

    Arguments:
        schedulers: the schedules, all of this optimiser
        milestones: the epochs in which the next one begins, in order: one fewer than schedules

    Errors: ValueError for schedules of another optimiser, and for another number of milestones; TypeError for what is no optimiser.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        self._take(schedulers, optimizer)
        if len(milestones) != len(self._schedulers) - 1:
            raise ValueError(f"{len(self._schedulers)} schedules take {len(self._schedulers) - 1} milestones, got {len(milestones)}")
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        # What the schedules did when they were made is undone, and the first one begins.
        for group in optimizer.param_groups:
            put_rate(group, group["initial_lr"])
        _undo(self)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._begin()
        self._last_lr = first.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch.

        Arguments:
            epoch: None: it cannot go to another one

        Errors: TypeError for an epoch.
        """
        if epoch is not None:
            raise TypeError("SequentialLR goes on epoch by epoch")
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def _undo(scheduler: LRScheduler) -> None:
    if isinstance(scheduler, _Several):
        for inner in scheduler._schedulers:
            _undo(inner)
    else:
        scheduler.last_epoch -= 1


class ChainedScheduler(_Several):
    """Several schedules at once: each multiplies on what those before it left.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.ChainedScheduler([
    ...     mg.optim.lr_scheduler.ConstantLR(sgd, factor=0.5, total_iters=2), mg.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.5)])
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [0.5, 0.25, 0.25, 0.125]

    Arguments:
        schedulers: the schedules, all of one optimiser
        optimizer: that optimiser; None: the one that they have

    Errors: ValueError for no schedules, and for schedules of several optimisers.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._take(schedulers, optimizer)
        self._last_lr = rates_of(self.optimizer)

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch.

        Arguments:
            epoch: None: it cannot go to another one

        Errors: TypeError for an epoch.
        """
        if epoch is not None:
            raise TypeError("ChainedScheduler goes on epoch by epoch")
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = rates_of(self.optimizer)


# The cycles stand on the classes above.
from .cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR, ReduceLROnPlateau  # noqa: E402


# By the name that it had.
_LRScheduler = LRScheduler
