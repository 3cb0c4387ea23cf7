"""The optimisers of the engine, with PyTorch's names, options and defaults.

`foreach`, `fused` and `capturable` are taken and change nothing: a step is one program for all parameters, and `jit` records it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._micrograd_rs import Tensor
from .._names import Lazy as _Lazy
from ..autograd import enable_grad
from .groups import Group
from .memory import Remembered
from .optimizer import Optimizer, Parameters, options_of

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "Muon",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
]

__getattr__ = _Lazy(__name__)


class SGD(Optimizer):
    """Stochastic gradient descent: `p - lr * g`, with `momentum` in PyTorch's form, dampened by `dampening`, or Nesterov's with `nesterov`.
    `weight_decay * p` is added to the gradient; with `maximize` the step goes upwards. `params` are parameters or groups of them.

    >>> import micrograd_rs as mg
    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> sgd = mg.optim.SGD([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> sgd.step()
    >>> p.item()
    0.5

    `foreach`, `fused` and `differentiable` say how PyTorch computes it. ValueError for numbers that make no sense.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        momentum: how much of the last step is kept
        dampening: how much of a gradient is left out of what is kept
        weight_decay: how much of a parameter is added to its gradient
        nesterov: whether the gradient is taken where momentum leads
        maximize: whether the step goes upwards
        foreach, differentiable, fused: of no effect
    """

    _kind = "SGD"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, options_of(locals()))


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015): steps of `lr` by the mean of gradients over the root of that of their squares and `eps`, both remembered
    by `betas`. `weight_decay * p` is added to the gradient; with `maximize` the step goes upwards. `params` are parameters or groups of them.

    >>> import micrograd_rs as mg
    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adam = mg.optim.Adam([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> adam.step()
    >>> round(p.item(), 3)
    0.75

    With `amsgrad`, the largest mean square so far in place of the last one; with `decoupled_weight_decay`, `AdamW`'s decay.
    `foreach`, `fused`, `capturable` and `differentiable` say how PyTorch computes it. ValueError for numbers that make no sense.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        betas: how much of the mean of gradients, and of that of their squares, is kept at each step
        eps: what is added to the root of the mean square
        weight_decay: how much of a parameter is added to its gradient
        amsgrad: whether the largest mean square so far is taken in place of the last one
        foreach, capturable, differentiable, fused: of no effect
        maximize: whether the step goes upwards
        decoupled_weight_decay: whether weights decay as `AdamW`'s do
    """

    _kind = "Adam"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019): a parameter becomes smaller by `lr * weight_decay` of itself at each
    step, whatever its gradient. Everything else is as in `Adam`.

    >>> import micrograd_rs as mg
    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adamw = mg.optim.AdamW([p], lr=0.25, weight_decay=0.5)
    >>> (p * 0).sum().backward()
    >>> adamw.step()
    >>> p.item()
    0.875

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        betas: how much of the mean of gradients, and of that of their squares, is kept at each step
        eps: what is added to the root of the mean square
        weight_decay: how much smaller parameters become at each step, times `lr`
        amsgrad: whether the largest mean square so far is taken in place of the last one
        maximize: whether the step goes upwards
        foreach, capturable, differentiable, fused: of no effect
    """

    _kind = "AdamW"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        Optimizer.__init__(self, params, {**options_of(locals()), "decoupled_weight_decay": True})


class Adamax(Optimizer):
    """Adam by the largest gradient instead of the mean square: Kingma and Ba, 2015, section 7.1.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        betas: how much of the mean, and of the largest gradient, stays each time
        eps: what is added to the latter
        weight_decay: what part of a parameter is added to its gradient
        foreach, capturable, differentiable, fused: how PyTorch computes it; of no effect here, where they are taken
        maximize: whether the step goes upwards

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adamax = mg.optim.Adamax([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> adamax.step()
    >>> round(p.item(), 3)
    0.75
    """

    _kind = "Adamax"

    def __init__(
        self,
        params: Parameters,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class NAdam(Optimizer):
    """Adam with Nesterov's momentum: Dozat, 2016.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        betas: how much of the means of gradients and of their squares stays each time
        eps: what is added to the root of the latter
        weight_decay: what part of a parameter is added to its gradient
        momentum_decay: how fast the momentum grows
        decoupled_weight_decay: whether decay is as in `AdamW`
        foreach, capturable, differentiable, fused: how PyTorch computes it; of no effect here, where they are taken
        maximize: whether the step goes upwards

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> nadam = mg.optim.NAdam([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> nadam.step()
    >>> round(p.item(), 3)
    0.736
    """

    _kind = "NAdam"

    def __init__(
        self,
        params: Parameters,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class RAdam(Optimizer):
    """Adam whose steps are rectified while the mean square is of few gradients: Liu et al., 2020.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        betas: how much of the means of gradients and of their squares stays each time
        eps: what is added to the root of the latter
        weight_decay: what part of a parameter is added to its gradient
        decoupled_weight_decay: whether decay is as in `AdamW`
        foreach, capturable, differentiable, fused: how PyTorch computes it; of no effect here, where they are taken
        maximize: whether the step goes upwards

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> radam = mg.optim.RAdam([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> radam.step()
    >>> round(p.item(), 3)
    0.5
    """

    _kind = "RAdam"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class RMSprop(Optimizer):
    """The gradient over the root of the running mean of its squares: Tieleman and Hinton, 2012; `centered`: Graves, 2013.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        alpha: how much of the mean of squares stays each time
        eps: what is added to its root
        weight_decay: what part of a parameter is added to its gradient
        momentum: how much of the momentum stays each time
        centered: whether the variance is taken, rather than the mean of squares
        foreach, capturable, differentiable, fused: how PyTorch computes it; of no effect here, where they are taken
        maximize: whether the step goes upwards

    Errors: ArgumentError for numbers that make no sense.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> rmsprop = mg.optim.RMSprop([p], lr=0.01)
    >>> (p * 2).sum().backward()
    >>> rmsprop.step()
    >>> round(p.item(), 3)
    0.9
    """

    _kind = "RMSprop"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class Adagrad(Optimizer):
    """The gradient over the root of the sum of its squares: Duchi et al., 2011.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        lr_decay: how the rate goes down: `lr / (1 + t · lr_decay)`
        weight_decay: what part of a parameter is added to its gradient
        initial_accumulator_value: what the sums of squares begin with
        eps: what is added to their root
        foreach, capturable, differentiable, fused: how PyTorch computes it; of no effect here, where they are taken
        maximize: whether the step goes upwards

    Errors: ArgumentError for numbers that make no sense.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adagrad = mg.optim.Adagrad([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> adagrad.step()
    >>> round(p.item(), 3)
    0.75
    """

    _kind = "Adagrad"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, options_of(locals()))


class Adadelta(Optimizer):
    """Steps in the parameters' own unit: Zeiler, 2012.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: what steps are multiplied by
        rho: how much of the mean squares stays each time
        eps: what is added to them
        weight_decay: what part of a parameter is added to its gradient
        foreach, capturable, differentiable, fused: how PyTorch computes it; of no effect here, where they are taken
        maximize: whether the step goes upwards

    Errors: ArgumentError for numbers that make no sense.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adadelta = mg.optim.Adadelta([p])
    >>> (p * 2).sum().backward()
    >>> adadelta.step()
    >>> round(p.item(), 3)
    0.997
    """

    _kind = "Adadelta"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class Rprop(Optimizer):
    """Steps whose sizes follow the gradients' signs alone, for gradients of all samples at once: Riedmiller and Braun, 1993.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: how large the first step is
        etas: what a step is multiplied by where the sign changed, and where it did not
        step_sizes: the least step and the largest
        foreach, differentiable, capturable: how PyTorch computes it; of no effect
        maximize: whether the step goes upwards

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> rprop = mg.optim.Rprop([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> rprop.step()
    >>> p.item()
    0.75
    """

    _kind = "Rprop"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class ASGD(Optimizer):
    """Stochastic gradient descent that averages: Polyak and Juditsky, 1992. The averages are in its state, under `ax`.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        lambd, alpha: how the rate goes down: `lr / (1 + lambd · lr · t) ** alpha` at step `t`
        t0: the step from which on it averages
        weight_decay: what part of a parameter is added to its gradient
        foreach, capturable, differentiable, fused: how PyTorch computes it; of no effect here, where they are taken
        maximize: whether the step goes upwards

    Errors: ArgumentError for numbers that make no sense.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> asgd = mg.optim.ASGD([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> asgd.step()
    >>> round(p.item(), 3)
    0.5
    """

    _kind = "ASGD"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class Lion(Optimizer):
    """The sign of a momentum: Chen et al., 2023. PyTorch has none; names and state are those of `lion-pytorch`.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        betas: how much of the momentum goes into a step, and how much stays
        weight_decay: the part of a parameter that goes at each step, times the rate
        maximize: whether the step goes upwards
        foreach: of no effect

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> lion = mg.optim.Lion([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> lion.step()
    >>> p.item()
    0.75
    """

    _kind = "Lion"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
    ) -> None:
        super().__init__(params, options_of(locals()))


class Adafactor(Optimizer):
    """Mean squares of rows and columns in place of one for each element: Shazeer and Stern, 2018.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        beta2_decay: how the share of new squares goes down: `t ** beta2_decay` at step `t`
        eps: what the squares, and a parameter's own size, are at least taken for; None is of the dtype
        d: how large a step may be, on the mean, beside the rate
        weight_decay: the part of a parameter that goes at each step, times the rate
        foreach: of no effect
        maximize: whether the step goes upwards

    >>> p = mg.nn.Parameter(mg.ones(3, 2))
    >>> adafactor = mg.optim.Adafactor([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> adafactor.step()
    >>> bool((p < 1).all())
    True
    """

    _kind = "Adafactor"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))


class Muon(Optimizer):
    """A momentum whose singular values are made 1, for matrices: Jordan et al., 2024.

    `adjust_lr_fn` says how the rate follows a matrix's shape: `"original"`, `"match_rms_adamw"` or `"spectral_unclamped"`.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: the learning rate
        weight_decay: the part of a parameter that goes at each step, times the rate
        momentum: how much of the momentum stays each time
        nesterov: whether it is Nesterov's
        ns_coefficients, ns_steps, eps: of the iteration of Newton and Schulz that makes the singular values 1
        adjust_lr_fn: "original", "match_rms_adamw" or "spectral_unclamped"

    >>> p = mg.nn.Parameter(mg.ones(3, 2))
    >>> muon = mg.optim.Muon([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> muon.step()
    >>> bool((p < 1).all())
    True
    """

    _kind = "Muon"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(params, options_of(locals()))


class LBFGS(Optimizer):
    """The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno: Liu and Nocedal, 1989.

    For losses of all samples at once: a step asks its closure for several of them. There is one group of parameters. It reads
    losses, so `jit` runs a function with such a step as it is.

    Arguments:
        params: tensors, dictionaries of them with options of their own, or `named_parameters()`
        lr: how far a step goes along its direction
        max_iter: how many iterations a step has at most
        max_eval: how often it asks for the loss at most; 1.25 · `max_iter`, if it is not given
        tolerance_grad: below which largest gradient it ends
        tolerance_change: below which change of parameters or loss it ends
        history_size: how many changes are remembered
        line_search_fn: "strong_wolfe", or None for steps of `lr`
        maximize: whether the step goes upwards

    >>> p = mg.nn.Parameter(mg.tensor([3.0, -2.0]))
    >>> lbfgs = mg.optim.LBFGS([p], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     lbfgs.zero_grad()
    ...     loss = ((p - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = lbfgs.step(closure)
    >>> p.detach()
    tensor([1.0000, 1.0000])
    """

    _kind = "LBFGS"

    def __init__(
        self,
        params: Parameters,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        options = options_of(locals())
        options["max_eval"] = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, options)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS takes one group of parameters")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to `max_iter` iterations. The closure removes the gradients, computes the loss, calls its `backward` and answers
        with it; the first loss is the step's answer.
        """
        if closure is None:
            raise TypeError("LBFGS.step() takes a closure, which computes the loss and its gradients")
        with enable_grad():
            return self._alone.run(lambda: self._step_with(closure))

    def _step_with(self, closure: Callable[[], Any]) -> Any:
        core = self._groups()[0].core()
        return core.step(closure) if core is not None else closure()

    @staticmethod
    def _read(group: Group) -> Remembered:
        known = Optimizer._read(group).get(0)
        if known is None:
            return {}
        n = sum(name.startswith("old_dirs.") for name in known)
        state: dict[str, Any] = {name: known[name].item() for name in ("func_evals", "n_iter", "t", "H_diag", "prev_loss")}
        state |= {name: known[name] for name in ("d", "prev_flat_grad")}
        for name in ("old_dirs", "old_stps"):
            state[name] = [known[f"{name}.{i}"] for i in range(n)]
        state["ro"] = [known[f"ro.{i}"].item() for i in range(n)]
        state["al"] = [None] * group["history_size"]
        return {0: state}

    @staticmethod
    def _flat(entries: Remembered) -> dict[str, Tensor]:
        lines: dict[str, Any] = {}
        for name, value in entries.get(0, {}).items():
            if isinstance(value, list):
                items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
                lines |= {f"{name}.{i}": item for i, item in enumerate(items) if name != "al"}
            else:
                lines[name] = value
        return Optimizer._flat({0: lines})
