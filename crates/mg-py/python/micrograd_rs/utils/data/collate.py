"""Batches of samples: tensors that are stacked, in the structure that the samples have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..._micrograd_rs import Tensor, as_tensor, float64, int64, tensor
from ..._names import Lazy as _Lazy
from ..._ops import stack

__all__ = ["default_collate", "default_convert"]

__getattr__ = _Lazy(__name__)


def _is_array(value: Any) -> bool:
    """NumPy's arrays and numbers, which need not be installed."""
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


def _rebuilt(like: Any, items: list[Any]) -> Any:
    """Items in a sequence of the type that samples have."""
    if hasattr(like, "_fields"):
        return type(like)(*items)
    if isinstance(like, (list, tuple)):
        # As in PyTorch, a tuple's columns are a list.
        return items
    try:
        return type(like)(items)
    except TypeError:
        return items


def default_collate(batch: Sequence[Any]) -> Any:
    """A batch of samples. Tensors and arrays are stacked along a new first axis, numbers become a tensor (f64, i64 or bool), text
    stays as it is, and dictionaries, tuples, named tuples and lists are collated entry by entry.

    Raises `TypeError` for anything else, `ValueError` where shapes, lengths or keys differ.

    >>> default_collate([{"x": 1.0, "name": "a"}, {"x": 2.0, "name": "b"}])
    {'x': tensor([1., 2.], dtype=f64), 'name': ['a', 'b']}
    """
    if not batch:
        raise ValueError("a batch of no samples")
    first: Any = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if _is_array(first):
        return stack([as_tensor(item) for item in batch], 0)
    if isinstance(first, bool):
        return tensor(list(batch))
    if isinstance(first, int):
        return tensor(list(batch), dtype=int64)
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _columns(cast("Sequence[Mapping[Any, Any]]", batch))
    if isinstance(first, Sequence):
        rows = cast("Sequence[Sequence[Any]]", batch)
        if any(len(row) != len(rows[0]) for row in rows):
            raise ValueError(f"samples of {sorted({len(row) for row in rows})} entries in one batch: all have to have as many")
        return _rebuilt(first, [default_collate(column) for column in zip(*rows, strict=True)])
    raise TypeError(
        f"default_collate takes tensors, arrays, numbers, text, dictionaries, tuples and lists; a sample has {type(first).__name__}. "
        "Pass a collate_fn of your own"
    )


def _columns(rows: Sequence[Mapping[Any, Any]]) -> Any:
    first = rows[0]
    for row in rows:
        if row.keys() != first.keys():
            raise ValueError(f"samples of different keys in one batch: {list(first)} and {list(row)}")
    columns = {key: default_collate([row[key] for row in rows]) for key in first}
    try:
        return cast("Any", type(first))(columns)
    except TypeError:
        return columns


def default_convert(sample: Any) -> Any:
    """A sample by itself, arrays in it as tensors: what a loader without batches answers with."""
    if isinstance(sample, Tensor):
        return sample
    if _is_array(sample):
        return as_tensor(sample)
    if isinstance(sample, (str, bytes)):
        return sample
    if isinstance(sample, Mapping):
        entries: Mapping[Any, Any] = sample  # pyright: ignore[reportUnknownVariableType]
        return {key: default_convert(value) for key, value in entries.items()}
    if isinstance(sample, Sequence):
        items: Sequence[Any] = sample  # pyright: ignore[reportUnknownVariableType]
        return _rebuilt(sample, [default_convert(item) for item in items])
    return sample
