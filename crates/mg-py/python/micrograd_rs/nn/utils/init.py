"""Modules whose parameters are not drawn."""

from __future__ import annotations

from typing import Any

from ..module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters and buffers hold numbers that stand for nothing: to be loaded.

    Arguments:
        module_cls: the module's class
        args, kwargs: what it is made of

    >>> mg.nn.utils.skip_init(mg.nn.Linear, 2, 3).weight.shape
    (3, 2)
    """
    device = kwargs.get("device", "cpu")
    return module_cls(*args, **kwargs).to_empty(device=device)
