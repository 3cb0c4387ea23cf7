"""Schedules: the learning rate as a function of the epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._micrograd_rs import _Schedule
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from . import Optimizer

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "StepLR"]

__getattr__ = _Lazy(__name__)


class LRScheduler:
    """Sets an optimiser's learning rate epoch by epoch. The rate that it has is the base."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def lr(self, base: float, epoch: int) -> float:
        """The learning rate of an epoch."""
        raise NotImplementedError

    def step(self) -> None:
        """Goes on to the next epoch."""
        self.last_epoch += 1
        self._set()

    def _set(self) -> None:
        for base, group in zip(self.base_lrs, self.optimizer.param_groups):
            group["lr"] = self.lr(base, self.last_epoch)

    def get_last_lr(self) -> list[float]:
        """The learning rates now, one for each group of parameters."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is."""
        return {"last_epoch": self.last_epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes to where `state_dict` was taken."""
        self.last_epoch = state_dict["last_epoch"]
        self.base_lrs = list(state_dict["base_lrs"])
        self._set()


class LambdaLR(LRScheduler):
    """Times what a function says of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float], last_epoch: int = -1) -> None:
        self.lr_lambda = lr_lambda
        super().__init__(optimizer, last_epoch)

    def lr(self, base: float, epoch: int) -> float:
        return base * self.lr_lambda(epoch)


class _Scheduled(LRScheduler):
    def __init__(self, optimizer: Optimizer, schedule: _Schedule, last_epoch: int) -> None:
        self.schedule = schedule
        super().__init__(optimizer, last_epoch)

    def lr(self, base: float, epoch: int) -> float:
        return self.schedule.lr(base, epoch)


class StepLR(_Scheduled):
    """Times `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        super().__init__(optimizer, _Schedule.step(step_size, gamma), last_epoch)


class MultiStepLR(_Scheduled):
    """Times `gamma` at each of some epochs."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        super().__init__(optimizer, _Schedule.multi_step(list(milestones), gamma), last_epoch)


class ExponentialLR(_Scheduled):
    """Times `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        super().__init__(optimizer, _Schedule.exponential(gamma), last_epoch)


class CosineAnnealingLR(_Scheduled):
    """Half a cosine from the base down to `eta_min` at epoch `T_max`, then up again."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        super().__init__(optimizer, _Schedule.cosine(T_max, eta_min), last_epoch)


class LinearLR(_Scheduled):
    """Linearly from `start_factor` times the base to `end_factor` times it in `total_iters`, then constant: a warm-up."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, _Schedule.linear(start_factor, end_factor, total_iters), last_epoch)
