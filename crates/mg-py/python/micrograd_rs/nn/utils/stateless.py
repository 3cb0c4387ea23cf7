"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..._micrograd_rs import Tensor
from ..module import Module

__all__ = ["functional_call"]


@contextmanager
def _with(module: Module, given: Mapping[str, Tensor], tie_weights: bool, strict: bool) -> Generator[None]:
    places: dict[str, tuple[Module, str]] = {}
    same: dict[int, list[str]] = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for name in (*part._parameters, *part._buffers):
            full = f"{prefix}.{name}" if prefix else name
            places[full] = part, name
            t = vars(part).get(name)
            if isinstance(t, Tensor):
                same.setdefault(id(t), []).append(full)
    unexpected = [name for name in given if name not in places]
    missing = [name for name in places if name not in given]
    if unexpected or (strict and missing):
        words = [f"unexpected: {', '.join(unexpected)}"] if unexpected else []
        words += [f"missing: {', '.join(missing)}"] if strict and missing else []
        raise RuntimeError("the parameters of another model; " + "; ".join(words))
    taken = dict(given)
    if tie_weights:
        # What is one tensor in the module is one here.
        for names in same.values():
            found = [given[name] for name in names if name in given]
            if found:
                if any(t is not found[0] for t in found):
                    text = f"{', '.join(names)} are one tensor, and are given several"
                    raise ValueError(f"{text}; pass tie_weights=False")
                taken.update({name: found[0] for name in names})
    before = {name: vars(places[name][0]).get(places[name][1]) for name in taken}
    try:
        for name, t in taken.items():
            part, own = places[name]
            object.__setattr__(part, own, t)
        yield
    finally:
        for name, t in before.items():
            part, own = places[name]
            object.__setattr__(part, own, t)


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """What a module answers with other parameters and buffers (by name, in one dictionary or several) in the
    place of its own, which stay what they are.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs import nn
    >>> net = nn.Linear(2, 1)
    >>> weights = {"weight": mg.tensor([[1.0, 2.0]]), "bias": mg.zeros(1)}
    >>> nn.utils.stateless.functional_call(net, weights, (mg.ones(1, 2),)).tolist()
    [[3.0]]
    """
    dicts = parameters_and_buffers
    if isinstance(dicts, Mapping):
        dicts = [dicts]
    given: dict[str, Tensor] = {}
    for one in dicts:
        twice = [name for name in one if name in given]
        if twice:
            raise ValueError(f"{', '.join(twice)} is given twice")
        given.update(one)
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _with(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))
