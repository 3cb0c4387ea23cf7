"""Functions on what is in tuples, lists and dictionaries, as `torch.utils._pytree` has them.

>>> from micrograd_rs.utils._pytree import tree_map
>>> tree_map(lambda x: x + 1, {"a": 1, "b": [2, (3,)]})
{'a': 2, 'b': [3, (4,)]}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _tree
from .._names import Lazy as _Lazy
from .._tree import Spec as TreeSpec

__all__ = ["TreeSpec", "tree_all", "tree_any", "tree_flatten", "tree_leaves", "tree_map", "tree_map_only", "tree_structure", "tree_unflatten"]

__getattr__ = _Lazy(__name__)


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and how it is made of them."""
    return _tree.flatten(tree)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """The reverse of `tree_flatten`."""
    return _tree.unflatten(list(leaves), treespec)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves in order."""
    return _tree.flatten(tree)[0]


def tree_structure(tree: Any) -> TreeSpec:
    """How it is made of its leaves."""
    return _tree.flatten(tree)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """Something of the same make, with what the function makes of each leaf, and of those at its place in others. ValueError for others of another
    make."""
    leaves, spec = _tree.flatten(tree)
    others: list[list[Any]] = []
    for rest in rests:
        found, its = _tree.flatten(rest)
        if its != spec:
            raise ValueError(f"tree_map: takes trees of the same make, got {tree!r} and {rest!r}")
        others.append(found)
    return _tree.unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def tree_map_only(type_or_types: Any, func: Callable[[Any], Any], tree: Any) -> Any:
    """`tree_map` of the leaves of some types; the others stay."""
    
    def changed(leaf: Any) -> Any:
        return func(leaf) if isinstance(leaf, type_or_types) else leaf

    return tree_map(changed, tree)


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether it is true of all leaves."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether it is true of a leaf."""
    return any(map(pred, tree_leaves(tree)))
