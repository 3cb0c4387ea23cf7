"""Weights of which some are zero: each is kept whole as `name_orig` beside a mask `name_mask`, and their product is made at each call.

>>> import micrograd_rs as mg
>>> from micrograd_rs import nn
>>> from micrograd_rs.nn.utils import prune
>>> layer = prune.l1_unstructured(nn.Linear(4, 2), "weight", amount=3)
>>> int((layer.weight == 0).sum().item())
3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._micrograd_rs import Tensor, ones_like
from ..._names import Lazy as _Lazy
from ..._ops import cat, rand
from ...autograd import no_grad
from ..module import Module

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod:
    """Says by `compute_mask(t, default_mask)` which elements stay. `apply` puts it on a module's parameter; what prunes one that is pruned already looks
    at what is left of it. `PRUNING_TYPE` is "unstructured", "structured" (along `dim`) or "global".

    >>> class Negative(mg.nn.utils.prune.BasePruningMethod):
    ...     def compute_mask(self, t, default_mask):
    ...         return default_mask * (t > 0)
    >>> layer = mg.nn.Linear(4, 2)
    >>> _ = Negative.apply(layer, "weight")
    >>> bool((layer.weight >= 0).all())
    True
    """

    PRUNING_TYPE: str = "unstructured"
    _tensor_name: str
    dim: int

    def __call__(self, module: Module, inputs: Any) -> None:
        object.__setattr__(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask of what stays, in the shape of `t`: for subclasses to write.

        Arguments:
            t: what is judged: the parameter, or scores in its shape; of a parameter that is pruned already what is left of it, as `PRUNING_TYPE` says
            default_mask: what has stayed so far: 1 where an element is there, else 0, in the shape of `t`

        Errors: NotImplementedError where a subclass does not write it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what stays: write its compute_mask()")

    def _of_the_rest(self, t: Tensor, mask: Tensor) -> Tensor:
        """A mask of what stays, where `mask` has pruned already: by the elements that are left, by the indices along the axis of
        which something is left, or by all of it, as `PRUNING_TYPE` says."""
        if self.PRUNING_TYPE == "global":
            return self.compute_mask(t, mask).to(mask.dtype)
        if self.PRUNING_TYPE == "structured":
            axes = [d for d in range(t.dim()) if d != self.dim % t.dim()]
            kept = mask.ne(0).any(axes) if axes else mask.ne(0)
            at = kept.nonzero().squeeze(1)
            part = self.compute_mask(t.index_select(self.dim, at), mask.index_select(self.dim, at))
            return mask.index_copy(self.dim, at, part.to(mask.dtype))
        if self.PRUNING_TYPE != "unstructured":
            raise ValueError(f"PRUNING_TYPE is 'unstructured', 'structured' or 'global', got {self.PRUNING_TYPE!r}")
        kept = mask != 0
        new = mask.clone()
        new[kept] = self.compute_mask(t[kept], mask[kept]).to(mask.dtype)
        return new

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter, with zeros where it is pruned.

        Arguments:
            module: the module whose parameter it is
        """
        mask, original = getattr(module, self._tensor_name + "_mask"), getattr(module, self._tensor_name + "_orig")
        pruned: Tensor = mask.to(original.dtype) * original
        return pruned

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prunes a parameter of a module: it is kept whole as `name_orig` beside a mask `name_mask`, and their product is made at each call. Answers
        with what does it.

        Arguments:
            module: the module
            name: the parameter's name, such as "weight"
            args: what the class is made of, such as `amount`
            importance_scores: what is judged in the place of the parameter, in its shape; None: the parameter
            kwargs: what the class is made of by name

        Errors: AttributeError where there is no such parameter; AssertionError for scores of another shape; what the class raises, ValueError for an
        amount that is too large say. Then the module is as it was.
        """
        before = next((h for h in _methods(module) if h._tensor_name == name), None)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        original: Any = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                "importance_scores should have the same shape as parameter {} of {}".format(name, type(module).__name__)
            )
        if before is None:
            if name not in module._parameters:
                raise AttributeError(f"{type(module).__name__} has no parameter {name!r}")
            default = ones_like(original)
        else:
            default = getattr(module, name + "_mask").detach().clone()
        # What says which elements stay may fail: the module is touched after that.
        with no_grad():
            mask = (method.compute_mask if before is None else method._of_the_rest)(scores.detach(), default)
        if before is None:
            delattr(module, name)
            module.register_parameter(name + "_orig", original)
            module.register_buffer(name + "_mask", mask)
        else:
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            _forget(module, name)
            method = container
            setattr(module, name + "_mask", mask)
        object.__setattr__(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A tensor with zeros where this would prune it, as a new one.

        Arguments:
            t: the tensor
            default_mask: what has stayed so far: 1 where an element is there, else 0, in the shape of `t`; None: all of it
            importance_scores: what is judged in its place, in its shape; None: `t` itself

        Errors: AssertionError for scores of another shape.

        >>> mg.nn.utils.prune.L1Unstructured(amount=2).prune(mg.tensor([3.0, 1.0, 2.0]))
        tensor([3., 0., 0.])
        """
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        return t * self.compute_mask(scores, ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Makes the pruned parameter a plain one again, with its zeros.

        Arguments:
            module: the module that it was put on
        """
        name = self._tensor_name
        weight = self.apply_mask(module)
        original = getattr(module, name + "_orig")
        with no_grad():
            original.data = weight.detach()
        for part in (name + "_orig", name + "_mask", name):
            delattr(module, part)
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several ways to prune one parameter, one after the other.

    Arguments:
        args: the ways, each on a parameter of the same name

    Errors: ValueError for ways of parameters of other names.
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Adds a way to prune the parameter.

        Arguments:
            method: the way, on a parameter of the same name; None adds none

        Errors: ValueError for a way of a parameter of another name.
        """
        if method is None:
            return
        if method._tensor_name != self._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return self._pruning_methods[-1]._of_the_rest(t, default_mask)


class Identity(BasePruningMethod):
    """Prunes nothing, and makes the mask and the copy."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


def _checked(amount: float) -> None:
    if amount < 0 or not isinstance(amount, int) and amount > 1:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount: float, most: int) -> int:
    if isinstance(amount, int):
        if amount > most:
            raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={most}")
        return amount
    return round(amount * most)


def _without(mask: Tensor, at: Tensor) -> Tensor:
    return mask.clone().reshape(-1).index_fill(0, at.reshape(-1), 0).reshape(mask.shape)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements by chance.

    Arguments:
        amount: how many elements are pruned: an integer, or a float from 0 to 1 for a part of all

    Errors: ValueError for a negative amount, and for a float above 1; for more elements than there are where it is applied.
    """

    def __init__(self, amount: float) -> None:
        _checked(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _count(self.amount, t.numel())
        if count == 0:
            return default_mask.clone()
        return _without(default_mask, rand(t.numel(), device=t.device).topk(count).indices)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of the least magnitudes.

    Arguments:
        amount: how many elements are pruned: an integer, or a float from 0 to 1 for a part of all

    Errors: ValueError for a negative amount, and for a float above 1; for more elements than there are where it is applied.
    """

    def __init__(self, amount: float) -> None:
        _checked(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _count(self.amount, t.numel())
        if count == 0:
            return default_mask.clone()
        return _without(default_mask, t.abs().reshape(-1).topk(count, largest=False).indices)


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"
    amount: float

    def _strengths(self, t: Tensor) -> Tensor:
        """A number for each index along the axis: the least are pruned."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() < 2:
            raise ValueError(f"Structured pruning can only be applied to multidimensional tensors, got shape {tuple(t.shape)}")
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        # The strongest stay.
        kept = self._strengths(t).topk(size - count).indices
        line = t.new_zeros(size).index_fill(0, kept, 1)
        shape = [1] * t.dim()
        shape[self.dim] = size
        return line.reshape(shape).to(default_mask.dtype) * default_mask


class RandomStructured(_Structured):
    """Prunes whole indices along an axis by chance.

    Arguments:
        amount: how many indices are pruned: an integer, or a float from 0 to 1 for a part of all
        dim: the axis, counted from the end where it is negative

    Errors: ValueError for a negative amount, and for a float above 1; for more indices than there are, and for a tensor of a single axis, where it is
    applied.
    """

    def __init__(self, amount: float, dim: int = -1) -> None:
        _checked(amount)
        self.amount, self.dim = amount, dim

    def _strengths(self, t: Tensor) -> Tensor:
        return rand(t.shape[self.dim], device=t.device)


class LnStructured(_Structured):
    """Prunes the indices along an axis whose parts have the least norms.

    Arguments:
        amount: how many indices are pruned: an integer, or a float from 0 to 1 for a part of all
        n: the order of the norm
        dim: the axis, counted from the end where it is negative

    Errors: ValueError for a negative amount, and for a float above 1; for more indices than there are, and for a tensor of a single axis, where it is
    applied.
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        _checked(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _strengths(self, t: Tensor) -> Tensor:
        return t.movedim(self.dim, 0).flatten(1).norm(self.n, 1)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says.

    Arguments:
        mask: 1 or True where an element stays, else 0, in the parameter's shape
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * self.mask.to(default_mask.dtype).reshape(default_mask.shape)


def _methods(module: Module) -> list[BasePruningMethod]:
    return [hook for hook in module._forward_pre_hooks.values() if isinstance(hook, BasePruningMethod)]


def _forget(module: Module, name: str) -> None:
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            del module._forward_pre_hooks[key]


def identity(module: Module, name: str) -> Module:
    """Makes mask and copy of a parameter, prunes nothing, and answers with the module.

    Arguments:
        module: the module
        name: the parameter's name, such as "weight"

    Errors: AttributeError where there is no such parameter.
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes elements of a parameter by chance, and answers with the module.

    Arguments:
        module: the module
        name: the parameter's name, such as "weight"
        amount: how many elements are pruned: an integer, or a float from 0 to 1 for a part of all

    Errors: AttributeError where there is no such parameter; ValueError for an amount that is negative or too large.

    >>> layer = mg.nn.utils.prune.random_unstructured(mg.nn.Linear(4, 2), "weight", amount=0.5)
    >>> int((layer.weight == 0).sum())
    4
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prunes the elements of a parameter whose magnitudes are the least, and answers with the module.

    Arguments:
        module: the module
        name: the parameter's name, such as "weight"
        amount: how many elements are pruned: an integer, or a float from 0 to 1 for a part of all
        importance_scores: what magnitudes are taken of, in the parameter's shape; None: the parameter

    Errors: AttributeError where there is no such parameter; AssertionError for scores of another shape; ValueError for an amount that is negative or
    too large.

    >>> layer = mg.nn.utils.prune.l1_unstructured(mg.nn.Linear(4, 2), "weight", amount=3)
    >>> int((layer.weight == 0).sum())
    3
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes indices of a parameter along an axis by chance, and answers with the module.

    Arguments:
        module: the module
        name: the parameter's name, such as "weight"
        amount: how many indices are pruned: an integer, or a float from 0 to 1 for a part of all
        dim: the axis, counted from the end where it is negative

    Errors: AttributeError where there is no such parameter; ValueError for an amount that is negative or too large, and for a parameter of a single
    axis.

    >>> layer = mg.nn.utils.prune.random_structured(mg.nn.Linear(4, 2), "weight", amount=1, dim=0)
    >>> sorted((layer.weight == 0).sum(1).tolist())
    [0, 4]
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prunes the indices of a parameter along an axis whose parts have the least norms, and answers with the module.

    Arguments:
        module: the module
        name: the parameter's name, such as "weight"
        amount: how many indices are pruned: an integer, or a float from 0 to 1 for a part of all
        n: the order of the norm
        dim: the axis, counted from the end where it is negative
        importance_scores: what norms are taken of, in the parameter's shape; None: the parameter

    Errors: AttributeError where there is no such parameter; AssertionError for scores of another shape; ValueError for an amount that is negative or
    too large, and for a parameter of a single axis.

    >>> layer = mg.nn.utils.prune.ln_structured(mg.nn.Linear(4, 2), "weight", amount=1, n=2, dim=0)
    >>> sorted((layer.weight == 0).sum(1).tolist())
    [0, 4]
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prunes several parameters as one: the least of all their elements go.

    Arguments:
        parameters: pairs of a module and the name of its parameter
        pruning_method: a class whose `PRUNING_TYPE` is "unstructured", such as `L1Unstructured`
        importance_scores: what is judged in the place of some parameters, by their pairs, each in the parameter's shape; None: the parameters
        kwargs: what the class is made of, such as `amount`

    Errors: TypeError for a class of another `PRUNING_TYPE`; ValueError for an amount that is negative or too large.

    >>> net = mg.nn.Sequential(mg.nn.Linear(4, 2), mg.nn.Linear(2, 4))
    >>> prune = mg.nn.utils.prune
    >>> prune.global_unstructured([(net[0], "weight"), (net[1], "weight")], prune.L1Unstructured, amount=5)
    >>> int((net[0].weight == 0).sum() + (net[1].weight == 0).sum())
    5
    """
    pairs: Sequence[tuple[Module, str]] = list(parameters)
    scores = importance_scores or {}
    parts: list[Tensor] = [scores[pair] if pair in scores else getattr(*pair) for pair in pairs]
    whole = cat([part.detach().reshape(-1) for part in parts])
    masks = [getattr(module, name + "_mask", ones_like(getattr(module, name))) for module, name in pairs]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method of type {method.PRUNING_TYPE}')
    container.add_pruning_method(method)
    final = container.compute_mask(whole, cat([mask.reshape(-1) for mask in masks]))
    at = 0
    for (module, name), mask in zip(pairs, masks, strict=True):
        custom_from_mask(module, name, final[at : at + mask.numel()].reshape(mask.shape))
        at += mask.numel()


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes what a mask has zeros for, and answers with the module.

    Arguments:
        module: the module
        name: the parameter's name, such as "weight"
        mask: 1 or True where an element stays, else 0, in the parameter's shape

    Errors: AttributeError where there is no such parameter.

    >>> layer = mg.nn.utils.prune.custom_from_mask(mg.nn.Linear(2, 1, bias=False), "weight", mg.tensor([[1, 0]]))
    >>> layer.weight_mask
    tensor([[1., 0.]])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Makes a pruned parameter a plain one again, with its zeros, and answers with the module.

    Arguments:
        module: the module
        name: the parameter's name, such as "weight"

    Errors: ValueError for a parameter that is not pruned.

    >>> prune = mg.nn.utils.prune
    >>> layer = prune.remove(prune.l1_unstructured(mg.nn.Linear(4, 2), "weight", amount=3), "weight")
    >>> [name for name, _ in layer.named_parameters()], int((layer.weight == 0).sum())
    (['bias', 'weight'], 3)
    """
    for method in _methods(module):
        if method._tensor_name == name:
            method.remove(module)
            _forget(module, name)
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether a module, or one inside it, has a parameter that is pruned.

    Arguments:
        module: the module

    >>> prune, layer = mg.nn.utils.prune, mg.nn.Linear(4, 2)
    >>> prune.is_pruned(layer), prune.is_pruned(prune.identity(layer, "weight"))
    (False, True)
    """
    return any(_methods(part) for part in module.modules())


__getattr__ = _Lazy(__name__)
