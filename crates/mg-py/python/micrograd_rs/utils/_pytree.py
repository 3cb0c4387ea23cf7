"""Functions on what is in tuples, lists and dictionaries, as `torch.utils._pytree` has them.

>>> from micrograd_rs.utils._pytree import tree_map
>>> tree_map(lambda x: x + 1, {"a": 1, "b": [2, (3,)]})
{'a': 2, 'b': [3, (4,)]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import _tree
from .._names import Lazy as _Lazy
from .._tree import Spec as TreeSpec

__all__ = [
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

__getattr__ = _Lazy(__name__)

_IsLeaf = Callable[[Any], bool] | None


def register_pytree_node(
    cls: type[Any],
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[list[Any], Any], Any],
    **kwargs: Any,
) -> None:
    """Has objects of a class be containers here, in `func` and in what hooks are given: `flatten_fn` answers with an object's items and what it keeps
    besides, `unflatten_fn` makes one of both. Subclasses are not meant. What else PyTorch takes, by name, is for saving programs, and changes
    nothing.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda pair: ((pair.a, pair.b), None), lambda items, _: Pair(*items))
    >>> tree_map(lambda x: x + 1, [Pair(1, 2)])[0].b
    3
    """
    _tree.register(cls, flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node


def tree_flatten(tree: Any, is_leaf: _IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and how it is made of them. What `is_leaf` is true of is a leaf as it is."""
    return _tree.flatten(tree, is_leaf)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """The reverse of `tree_flatten`."""
    return _tree.unflatten(list(leaves), treespec)


def tree_leaves(tree: Any, is_leaf: _IsLeaf = None) -> list[Any]:
    """The leaves in order."""
    return _tree.flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: _IsLeaf = None) -> TreeSpec:
    """How it is made of its leaves."""
    return _tree.flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: _IsLeaf = None) -> Any:
    """Something of the same make, with what the function makes of each leaf, and of those at its place in others. ValueError for others of another
    make."""
    leaves, spec = _tree.flatten(tree, is_leaf)
    others: list[list[Any]] = []
    for rest in rests:
        found, its = _tree.flatten(rest, is_leaf)
        if its != spec:
            raise ValueError(f"tree_map: takes trees of the same make, got {tree!r} and {rest!r}")
        others.append(found)
    return _tree.unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def tree_map_only(type_or_types: Any, func: Callable[[Any], Any], tree: Any, is_leaf: _IsLeaf = None) -> Any:
    """`tree_map` of the leaves of some types; the others stay."""

    def changed(leaf: Any) -> Any:
        return func(leaf) if isinstance(leaf, type_or_types) else leaf

    return tree_map(changed, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: _IsLeaf = None) -> bool:
    """Whether it is true of all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: _IsLeaf = None) -> bool:
    """Whether it is true of a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))
