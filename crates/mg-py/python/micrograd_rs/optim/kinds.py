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
    """Stochastic gradient descent: `p − lr · g` for a gradient `g`. With `momentum` the step is along `b` in the place of `g`, where `b ← momentum · b +
    (1 − dampening) · g` (`b = g` in the first step), or, with `nesterov`, along `g + momentum · b`.

    >>> import micrograd_rs as mg
    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> sgd = mg.optim.SGD([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> sgd.step()
    >>> p.item()
    0.5

    Arguments:
        momentum: how much of `b` is kept at each step, at least 0; 0: there is none
        dampening: how much of a gradient is left out of `b`
        nesterov: whether momentum is Nesterov's, which takes a `momentum` above 0 and no `dampening`
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
    """Adam (Kingma and Ba, 2015): `p − lr · m̂ / (√v̂ + eps)`, where `m ← β₁ m + (1 − β₁) g` and `v ← β₂ v + (1 − β₂) g²` for a gradient `g`, and at
    step `t` `m̂ = m / (1 − β₁ᵗ)` and `v̂ = v / (1 − β₂ᵗ)`.

    >>> import micrograd_rs as mg
    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adam = mg.optim.Adam([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> adam.step()
    >>> round(p.item(), 3)
    0.75

    Arguments:
        betas: β₁ and β₂: how much of the mean of gradients, and of that of their squares, is kept at each step, from 0 to below 1
        eps: what is added to the root of the mean square, so that nothing is divided by 0
        amsgrad: whether the largest `v` so far is taken in the place of the last one
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
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019): a parameter becomes smaller by `lr · weight_decay` of itself at each step,
    whatever its gradient. Everything else is as in `Adam`, whose docstring has the formula.

    >>> import micrograd_rs as mg
    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adamw = mg.optim.AdamW([p], lr=0.25, weight_decay=0.5)
    >>> (p * 0).sum().backward()
    >>> adamw.step()
    >>> p.item()
    0.875

    Arguments:
        weight_decay: how much of itself a parameter loses at each step, times `lr`; at least 0
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
    """Adam by the largest gradient instead of the mean square (Kingma and Ba, 2015, section 7.1): `p − lr · m̂ / u`, where `u ← max(β₂ u, |g| + eps)`,
    and `m̂` is as in `Adam`.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adamax = mg.optim.Adamax([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> adamax.step()
    >>> round(p.item(), 3)
    0.75

    Arguments:
        betas: β₁ and β₂: how much of the mean of gradients, and of the largest one, is kept at each step, from 0 to below 1
        eps: what is added to a gradient's magnitude, so that nothing is divided by 0
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
    """Adam with Nesterov's momentum (Dozat, 2016): the mean of gradients is taken where it will be after the next step, with a momentum of `β₁ (1 − ½ ·
    0.96^(t · momentum_decay))` at step `t`.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> nadam = mg.optim.NAdam([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> nadam.step()
    >>> round(p.item(), 3)
    0.736

    Arguments:
        betas: β₁ and β₂: how much of the mean of gradients, and of that of their squares, is kept at each step, from 0 to below 1
        eps: what is added to the root of the mean square, so that nothing is divided by 0
        momentum_decay: how fast the momentum grows, at least 0
        decoupled_weight_decay: whether weights decay as `AdamW`'s do
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
    """Adam whose steps are rectified while the mean square is of few gradients (Liu et al., 2020): while it is of too few, a step is `lr · m̂` alone.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> radam = mg.optim.RAdam([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> radam.step()
    >>> round(p.item(), 3)
    0.5

    Arguments:
        betas: β₁ and β₂: how much of the mean of gradients, and of that of their squares, is kept at each step, from 0 to below 1
        eps: what is added to the root of the mean square, so that nothing is divided by 0
        decoupled_weight_decay: whether weights decay as `AdamW`'s do
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
    """`p − lr · g / (√v + eps)`, where `v ← alpha · v + (1 − alpha) · g²` (Tieleman and Hinton, 2012); with `centered` (Graves, 2013) `v` less the
    square of the mean gradient in the place of `v`, and with `momentum` a step is along `b ← momentum · b + g / (√v + eps)`.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> rmsprop = mg.optim.RMSprop([p], lr=0.01)
    >>> (p * 2).sum().backward()
    >>> rmsprop.step()
    >>> round(p.item(), 3)
    0.9

    Arguments:
        alpha: how much of the mean of squares is kept at each step
        eps: what is added to its root, so that nothing is divided by 0
        momentum: how much of `b` is kept at each step, at least 0; 0: there is none
        centered: whether the gradient's variance is taken, rather than the mean of its squares
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
    """`p − lr_t · g / (√s + eps)`, where `s` is the sum of all squares `g²` so far, and `lr_t = lr / (1 + (t − 1) · lr_decay)` at step `t` (Duchi et
    al., 2011).

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adagrad = mg.optim.Adagrad([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> adagrad.step()
    >>> round(p.item(), 3)
    0.75

    Arguments:
        lr_decay: how fast the rate goes down, at least 0
        initial_accumulator_value: what the sums of squares begin with, at least 0
        eps: what is added to their root, so that nothing is divided by 0
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
    """Steps in the parameters' own unit (Zeiler, 2012): `d = g · √(u + eps) / √(v + eps)`, where `v` is the running mean of `g²` and `u` that of `d²`;
    the step is `lr · d`.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> adadelta = mg.optim.Adadelta([p])
    >>> (p * 2).sum().backward()
    >>> adadelta.step()
    >>> round(p.item(), 3)
    0.997

    Arguments:
        rho: how much of the running means is kept at each step, from 0 to 1
        eps: what is added to them before their roots are taken: the larger, the larger the first steps
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
    """Steps whose sizes follow the gradients' signs alone (Riedmiller and Braun, 1993), for gradients of all samples at once: each element's step grows
    while its gradient keeps its sign, and becomes smaller where it changes.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> rprop = mg.optim.Rprop([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> rprop.step()
    >>> p.item()
    0.75

    Arguments:
        lr: how large the first step is, at least 0
        etas: what a step is multiplied by where the sign changed, between 0 and 1, and where it did not, above 1
        step_sizes: the least step and the largest
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
    """Stochastic gradient descent that averages (Polyak and Juditsky, 1992): `p ← (1 − lambd · lr_t) p − lr_t · g` with `lr_t = lr / (1 + lambd · lr ·
    t) ** alpha` at step `t`. The averages are in its state, under `ax`; before step `t0` they are the parameters themselves.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> asgd = mg.optim.ASGD([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> asgd.step()
    >>> round(p.item(), 3)
    0.5

    Arguments:
        lambd: how fast the rate goes down, and parameters with it
        alpha: the power of the rate's descent
        t0: the step from which on it averages
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
    """The sign of a momentum (Chen et al., 2023): `p − lr · sign(β₁ m + (1 − β₁) g)`, and then `m ← β₂ m + (1 − β₂) g`. PyTorch has none; names and
    state are those of `lion-pytorch`.

    >>> p = mg.nn.Parameter(mg.tensor([1.0]))
    >>> lion = mg.optim.Lion([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> lion.step()
    >>> p.item()
    0.75

    Arguments:
        betas: β₁ and β₂: how much of the momentum goes into a step, and how much is kept, from 0 to below 1
        weight_decay: how much of itself a parameter loses at each step, times `lr`; at least 0
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
    """Adam without a mean of gradients, with mean squares of rows and columns in the place of one for each element (Shazeer and Stern, 2018). Steps are
    a part of the parameter's own size, and no longer than `d` on the mean.

    >>> p = mg.nn.Parameter(mg.ones(3, 2))
    >>> adafactor = mg.optim.Adafactor([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> adafactor.step()
    >>> bool((p < 1).all())
    True

    Arguments:
        lr: the largest rate, at least 0; it is no larger than `1 / √t` at step `t`
        beta2_decay: how the share of new squares goes down: `t ** beta2_decay` at step `t`
        eps: what squares, and a parameter's own size, are at least taken for; a first one of None is the dtype's `finfo(dtype).eps`
        d: how large the root of the mean square of a step may be, beside the rate, before the step is made shorter
        weight_decay: how much of itself a parameter loses at each step, times `lr`; at least 0
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
    """A momentum whose singular values are made 1, for matrices (Jordan et al., 2024): for what is not one, such as a bias, take another optimiser.

    >>> p = mg.nn.Parameter(mg.ones(3, 2))
    >>> muon = mg.optim.Muon([p], lr=0.25)
    >>> (p * 2).sum().backward()
    >>> muon.step()
    >>> bool((p < 1).all())
    True

    Arguments:
        weight_decay: how much of itself a parameter loses at each step, times `lr`; at least 0
        momentum: how much of the momentum is kept at each step, at least 0
        nesterov: whether momentum is Nesterov's
        ns_coefficients: the three coefficients of the iteration of Newton and Schulz that makes the singular values 1
        eps: what the matrix's norm is at least taken for before it
        ns_steps: how many times it is iterated
        adjust_lr_fn: how the rate follows a matrix's shape: "original", "match_rms_adamw" for steps as large as `AdamW`'s, or "spectral_unclamped";
            None: "original"

    Errors: ArgumentError for a parameter that is no matrix, for numbers that make no sense, such as a negative `lr`, and for a parameter that is the
    result of an operation or is given twice; ValueError for no parameters; TypeError for what is no tensor, and for another `adjust_lr_fn`.
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
    """The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno (Liu and Nocedal, 1989).

    For losses of all samples at once: a step asks its closure for several of them. There is one group of parameters. It reads losses, so `jit` runs a
    function with such a step as it is.

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

    Arguments:
        lr: how far a step goes along its direction, at least 0
        max_iter: how many iterations a step has at most
        max_eval: how often a step asks for the loss at most; None: 1.25 · `max_iter`
        tolerance_grad: the largest magnitude of a gradient at which it is done
        tolerance_change: the largest change of parameters or loss at which it is done
        history_size: how many changes are remembered: each takes twice the memory of all parameters
        line_search_fn: "strong_wolfe" for steps whose length is looked for; None: steps of `lr`

    Errors: ArgumentError for numbers that make no sense, such as a negative `lr`, and for a parameter that is the result of an operation or is given
    twice; ValueError for no parameters, and for several groups; TypeError for what is no tensor, and for another `line_search_fn`.
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
        """Makes up to `max_iter` iterations, and answers with the first loss.

        Arguments:
            closure: a function without arguments that removes the gradients, computes the loss, calls its `backward` and answers with it

        Errors: TypeError without a closure.

        >>> p = mg.nn.Parameter(mg.tensor([3.0]))
        >>> lbfgs = mg.optim.LBFGS([p])
        >>> def closure():
        ...     lbfgs.zero_grad()
        ...     loss = (p**2).sum()
        ...     loss.backward()
        ...     return loss
        >>> lbfgs.step(closure).item()
        9.0
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
