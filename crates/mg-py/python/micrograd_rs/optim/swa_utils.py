"""Averages of weights: stochastic weight averaging (Izmailov et al., "Averaging weights leads to wider optima and better
generalization", 2018) and exponential moving averages.

>>> import micrograd_rs as mg
>>> from micrograd_rs.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
>>> model = mg.nn.Linear(2, 1)
>>> ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
>>> ema.update_parameters(model)
>>> bool((ema.module.weight == model.weight).all())
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, cast

from .._micrograd_rs import Tensor, int64, realize, tensor, where
from .._names import Lazy as _Lazy
from ..autograd import no_grad
from ..nn.module import Module
from .cycles import _each
from .lr_scheduler import LRScheduler

if TYPE_CHECKING:
    from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

__getattr__ = _Lazy(__name__)

Average = Callable[[Tensor, Tensor, Any], Tensor]
Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """A function for `AveragedModel`'s `avg_fn`: an exponential moving average, `decay · average + (1 − decay) · now`.

    Arguments:
        decay: how much of the average is kept each time, from 0 to 1

    >>> average = mg.optim.swa_utils.get_ema_avg_fn(decay=0.75)
    >>> average(mg.tensor(0.0), mg.tensor(4.0), mg.tensor(1))
    tensor(1.)
    """
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"takes a decay from 0 to 1, got {decay}")
    return lambda average, now, n: average + (now - average) * (1 - decay)


def get_swa_avg_fn() -> Average:
    """The mean of all.

    >>> average = mg.optim.swa_utils.get_swa_avg_fn()
    >>> average(mg.tensor(1.0), mg.tensor(4.0), mg.tensor(2))
    tensor(2.)
    """
    return lambda average, now, n: average + (now - average) / (n + 1)


def _of_each(average: Average) -> Averages:
    @no_grad()
    def update(averages: Sequence[Tensor], now: Sequence[Tensor], n: Any) -> None:
        for old, new in zip(averages, now, strict=True):
            old.copy_(average(old, new, n))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """As `get_ema_avg_fn`, of many tensors at once.

    Arguments:
        decay: how much goes on

    >>> averages = [mg.tensor(0.0), mg.tensor(1.0)]
    >>> mg.optim.swa_utils.get_ema_multi_avg_fn(decay=0.75)(averages, [mg.tensor(4.0), mg.tensor(1.0)], mg.tensor(1))
    >>> averages
    [tensor(1.), tensor(1.)]
    """
    return _of_each(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Averages:
    """As `get_swa_avg_fn`, of many tensors at once.

    >>> averages = [mg.tensor(1.0)]
    >>> mg.optim.swa_utils.get_swa_multi_avg_fn()(averages, [mg.tensor(4.0)], mg.tensor(2))
    >>> averages
    [tensor(2.)]
    """
    return _of_each(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model, whose parameters are averages of those that `update_parameters` is given: the mean of all, or what a function says. An update
    is one program.

    How many were averaged is a tensor, `n_averaged`, so updates can be recorded by `jit`.

    >>> model = mg.nn.Linear(1, 1, bias=False)
    >>> average = mg.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 3.0):
    ...     _ = model.weight.data.fill_(value)
    ...     average.update_parameters(model)
    >>> average(mg.ones(1, 1)).item()
    2.0

    Arguments:
        model: the model, which is copied
        device: the device that the copy is on; None: that of the model
        avg_fn: a function `avg_fn(average, now, n_averaged)` of tensors that answers with the next average of one parameter, such as
            `get_ema_avg_fn()`; None: the mean of all
        multi_avg_fn: a function `multi_avg_fn(averages, now, n_averaged)` that changes the averages of all parameters, in lists; None: `avg_fn` says
            it
        use_buffers: whether buffers are averaged, too; without it they are the last ones
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("AveragedModel takes avg_fn or multi_avg_fn, not both")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model answers.

        Arguments:
            args: what the model is called with
            kwargs: what the model is called with by name
        """
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Averages a model's parameters in. The first ones are taken as they are.

        Arguments:
            model: a model of the same parameters: the one that was copied, as it is now
        """
        # Written as themselves: `jit` does not follow what is written through a detached tensor.
        own: list[Tensor] = list(self.module.parameters())
        given: list[Tensor] = [p.detach() for p in model.parameters()]
        buffers = list(zip(self.module.buffers(), model.buffers(), strict=True))
        if self.use_buffers:
            own += [a for a, _ in buffers]
            given += [b for _, b in buffers]
        given = [b.to(a.device) for a, b in zip(own, given, strict=True)]
        with no_grad():
            # Whether it is the first time is the device's to know: reading it would wait for the device.
            is_first = self.n_averaged == 0
            for a, b in zip(own, given, strict=True):
                a.copy_(where(is_first.to(a.device), b, a))
            count = self.n_averaged
            if self.avg_fn is not None:
                averages: Averages = _of_each(self.avg_fn)
            else:
                averages = self.multi_avg_fn or get_swa_multi_avg_fn()
            averages(own, given, count.to(own[0].device) if own else count)
            if not self.use_buffers:
                for a, b in buffers:
                    a.copy_(b.detach().to(a.device))
            self.n_averaged += 1
            realize(*own, self.n_averaged, *(a for a, _ in buffers))


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Computes the running statistics of a model's batch norms anew, from all that a loader has: those of averaged weights are not the average of theirs.

    Arguments:
        loader: an iterable of batches; of a list or tuple the first entry is given to the model
        model: the model, which is left in the mode that it was in
        device: the device that batches are put on; None: they stay where they are

    >>> model = mg.nn.Sequential(mg.nn.BatchNorm1d(1))
    >>> mg.optim.swa_utils.update_bn([mg.tensor([[1.0], [3.0]]), mg.tensor([[5.0], [7.0]])], model)
    >>> model[0].running_mean
    tensor([4.])
    """
    norms = [module for module in model.modules() if hasattr(module, "reset_running_stats")]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    try:
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
        with no_grad():
            for batch in loader:
                given = cast("Any", batch[0] if isinstance(batch, (list, tuple)) else batch)
                model(given if device is None else given.to(device))
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """From the rate to `swa_lr` in `anneal_epochs` epochs, then constant.

    >>> sgd = mg.optim.SGD([mg.nn.Parameter(mg.zeros(1))], lr=1.0)
    >>> schedule = mg.optim.swa_utils.SWALR(sgd, swa_lr=0.2, anneal_epochs=4, anneal_strategy="linear")
    >>> rates = []
    >>> for epoch in range(6):
    ...     rates.append(round(sgd.param_groups[0]["lr"], 4))
    ...     sgd.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.8, 0.6, 0.4, 0.2, 0.2]

    Arguments:
        swa_lr: the rate that it comes to: one number, or one for each group
        anneal_epochs: in how many epochs it is there
        anneal_strategy: "cos" for half a cosine, "linear" for a line
        optimizer: the optimiser whose groups' learning rates are changed
        last_epoch: the epoch that was the last; −1 at the beginning. Another one takes an optimiser whose state was loaded, with the `initial_lr` of
            its groups

    Errors: ValueError for another `anneal_strategy` or number of epochs, and for another number of rates than groups; TypeError for what is no
    optimiser.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"SWALR takes 'cos' or 'linear', got {anneal_strategy!r}")
        if anneal_epochs < 0:
            raise ValueError(f"SWALR takes at least 0 epochs, got {anneal_epochs}")
        for rate, group in zip(_each("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _done(self, step: int) -> float:
        """How far it is: from 0 to 1."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[float]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._done(step - 1), self._done(step)
        out: list[float] = []
        for group in self.optimizer.param_groups:
            target, rate = group["swa_lr"], group["lr"]
            start = target if before == 1 else (rate - before * target) / (1 - before)
            out.append(target * now + start * (1 - now))
        return out
