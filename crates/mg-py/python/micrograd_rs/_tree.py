"""Tensors in tuples, lists and dictionaries in each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ._micrograd_rs import Tensor
from ._names import no_tensor


class Spec(NamedTuple):
    """How something is made of its leaves: which kind of container, its keys (or what a registered one keeps besides), and its parts; a
    leaf has no kind."""

    kind: type[Any] | None
    keys: tuple[Any, ...]
    parts: tuple[Spec, ...]

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return 1 if self.kind is None else sum(part.leaves for part in self.parts)


LEAF = Spec(None, (), ())

_Apart = Callable[[Any], tuple[Iterable[Any], Any]]
_Made = Callable[[list[Any], Any], Any]

# Classes of programs, how each is taken apart into items and what it keeps besides, and how it is made of both again.
_registered: dict[type[Any], tuple[_Apart, _Made]] = {}


def register(kind: type[Any], apart: _Apart, made: _Made) -> None:
    """Has objects of a class be containers. ValueError for a class that is one already."""
    if kind in _registered or kind in (dict, tuple, list):
        raise ValueError(f"{kind.__qualname__} is known as a container already")
    _registered[kind] = apart, made


def _parts(tree: Any) -> tuple[type[Any], tuple[Any, ...], list[Any]] | None:
    whole: Any = tree
    kind: type[Any] = whole.__class__
    if kind in _registered:
        items, kept = _registered[kind][0](whole)
        return kind, (kept,), list(items)
    if isinstance(tree, dict):
        return dict, tuple(whole), list(whole.values())
    return (kind, (), list(whole)) if isinstance(tree, (tuple, list)) else None


def items(tree: Any, lists: bool = True) -> tuple[Any, ...] | None:
    """The items of a tuple, or of a list; None of anything else."""
    parts = _parts(tree)
    return None if parts is None or parts[0] is dict or (parts[0] is list and not lists) else tuple(parts[2])


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Spec]:
    """The leaves of something, in order, and how it is made of them. What `is_leaf` says is one, is one."""
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is None:
        return [tree], LEAF
    kind, keys, items = parts
    leaves: list[Any] = []
    specs: list[Spec] = []
    for item in items:
        its, spec = flatten(item, is_leaf)
        leaves += its
        specs.append(spec)
    return leaves, Spec(kind, keys, tuple(specs))


def unflatten(leaves: list[Any], spec: Spec) -> Any:
    """The reverse of `flatten`."""
    if spec.kind is None:
        return leaves[0]
    items: list[Any] = []
    at = 0
    for part in spec.parts:
        items.append(unflatten(leaves[at : at + part.leaves], part))
        at += part.leaves
    if spec.kind in _registered:
        return _registered[spec.kind][1](items, spec.keys[0])
    if spec.kind is dict:
        return dict(zip(spec.keys, items, strict=True))
    # A tuple with names takes its fields one by one.
    return spec.kind(*items) if hasattr(spec.kind, "_fields") else spec.kind(items)


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """Something of the same make, with what the function makes of each leaf."""
    leaves, spec = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], spec)


def broadcast(prefix: Any, spec: Spec, what: str) -> list[Any]:
    """One for each leaf of `spec`, where one leaf of `prefix` may stand for all below it."""
    whole: Any = prefix
    parts = _parts(prefix)
    if parts is None:
        return [prefix] * spec.leaves
    kind, keys, items = parts
    named = kind is dict
    fits = spec.kind is not None and len(items) == len(spec.parts) and named == (spec.kind is dict)
    if not fits or (named and set(keys) != set(spec.keys)):
        raise ValueError(f"{what} is not made as what it is for: {prefix!r}")
    if named:
        items = [whole[key] for key in spec.keys]
    return [leaf for item, part in zip(items, spec.parts, strict=True) for leaf in broadcast(item, part, what)]


def tensors(leaves: list[Any], where: str) -> list[Tensor]:
    """The leaves, all of which are tensors."""
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(f"{where} are tensors, in tuples, lists and dictionaries, not {no_tensor(leaf)}")
    return leaves
