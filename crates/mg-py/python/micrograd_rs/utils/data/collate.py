"""Batches of samples: tensors that are stacked, in the structure that the samples have."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, cast

from ..._micrograd_rs import ArgumentError, Tensor, _batch, as_tensor, float64, tensor
from ..._names import Lazy as _Lazy
from ..._names import kind_of
from ..._ops import stack

__all__ = [
    "collate",
    "collate_float_fn",
    "collate_int_fn",
    "collate_str_fn",
    "collate_tensor_fn",
    "default_collate",
    "default_collate_fn_map",
    "default_convert",
    "pin_memory",
]

__getattr__ = _Lazy(__name__)


def _is_array(value: object) -> bool:
    """NumPy's arrays and numbers, which need not be installed, and tensors of other libraries."""
    kind = type(value)
    return kind.__module__ == "numpy" and hasattr(value, "dtype") or hasattr(kind, "__dlpack__")


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
    """A batch of samples. Tensors, arrays and tensors of other libraries are stacked along a new first axis, numbers become a tensor (float64, int64 or
    bool), text stays as it is, and dictionaries, tuples, named tuples and lists are collated entry by entry.

    >>> default_collate([{"x": 1.0, "name": "a"}, {"x": 2.0, "name": "b"}])
    {'x': tensor([1., 2.], dtype=micrograd_rs.float64), 'name': ['a', 'b']}

    Arguments:
        batch: the samples, all of one kind

    Errors: TypeError for samples of another kind; ValueError where shapes, lengths or keys differ: it says which samples differ, and in what.
    """
    return _collated(batch, "", default_collate_fn_map)


def collate(batch: Sequence[Any], *, collate_fn_map: Mapping[Any, Callable[..., Any]] | None = None) -> Any:
    """A batch of samples as `default_collate` makes it, of whose entries those of the types in `collate_fn_map` (a type or a tuple of them) are put together by
    the functions there, `function(entries, collate_fn_map=…)`, and dictionaries, tuples and lists entry by entry. `TypeError` for anything else.

    >>> from micrograd_rs.utils.data._utils.collate import collate
    >>> collate([{"x": 1.0}, {"x": 2.0}], collate_fn_map={float: lambda entries, *, collate_fn_map: sum(entries)})
    {'x': 3.0}
    """
    return _collated(batch, "", collate_fn_map or {})


def collate_tensor_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Tensor:
    """Tensors, stacked along a new first axis."""
    return _stacked(batch, "")


def collate_float_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Tensor:
    """Numbers as a float64 tensor."""
    return tensor(list(batch), dtype=float64)


def collate_int_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Tensor:
    """Integers as an int64 tensor, truth values as a bool one; where fractions are among them, all are floats."""
    return tensor(list(batch))


def collate_str_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Sequence[Any]:
    """Texts as they are."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
"""How `default_collate` puts entries together, by their type; what is put here is known to it."""


def _collated(batch: Sequence[Any], place: str, fns: Mapping[Any, Callable[..., Any]]) -> Any:
    """The batch of what samples have at a place, as one would write it behind a sample: `[0]['x']`."""
    if not batch:
        raise ValueError("a batch of no samples")
    first: Any = batch[0]
    fn = fns.get(type(first)) or next((fn for kinds, fn in fns.items() if isinstance(first, kinds)), None)
    if fn is collate_tensor_fn:
        # With the place in what is said of unlike ones.
        return _stacked(batch, place)
    if fn is not None:
        return fn(batch, collate_fn_map=fns)
    if fns is default_collate_fn_map and _is_array(first):
        return _stacked(batch, place)
    if isinstance(first, Mapping):
        return _columns(cast("Sequence[Mapping[Any, Any]]", batch), place, fns)
    if isinstance(first, Sequence):
        rows = cast("Sequence[Sequence[Any]]", batch)
        for at, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise _unlike(at, place, "number of entries", [str(len(rows[0])), str(len(row))])
        columns = zip(*rows, strict=True)
        return _rebuilt(first, [_collated(column, f"{place}[{i}]", fns) for i, column in enumerate(columns)])
    if fns is not default_collate_fn_map:
        raise TypeError(f"collate: a sample{_of(place)} has {kind_of(first)}, for which collate_fn_map has no function")
    raise TypeError(
        f"default_collate takes tensors, arrays, numbers, text, dictionaries, tuples and lists; a sample{_of(place)} has {kind_of(first)}. "
        "Pass a collate_fn of your own"
    )


def _of(place: str) -> str:
    return f" in entry {place}" if place else ""


def _kind(value: Any) -> str:
    return f"{list(value.shape)}" if isinstance(value, Tensor) else kind_of(value)


def _unlike(at: int, place: str, what: str, found: Sequence[str]) -> Exception:
    """The error for a sample that is not like the first."""
    text = f"default_collate takes samples of the same {what}{_of(place)}: sample 0 of the batch has {found[0]}, sample {at} has {found[1]}"
    if what != "keys":
        text += ". Pass a collate_fn of your own, which pads them (nn.utils.rnn.pad_sequence), cuts them or keeps them as a list"
    error = ArgumentError(text)
    # A loader says which items of the data set they are.
    error._samples = (0, at)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    return error


def _stacked(batch: Sequence[Any], place: str) -> Tensor:
    copied = _batch(batch)
    if copied is not None:
        return copied
    items = [as_tensor(item) if _is_array(item) else item for item in batch]
    try:
        return stack(items, 0)
    except (TypeError, ValueError):
        first = items[0]
        for at, item in enumerate(items):
            if not isinstance(item, Tensor) or item.shape != first.shape:
                raise _unlike(at, place, "shape", [_kind(first), _kind(item)]) from None
        raise


def _columns(rows: Sequence[Mapping[Any, Any]], place: str, fns: Mapping[Any, Callable[..., Any]]) -> Any:
    first = rows[0]
    for at, row in enumerate(rows):
        if row.keys() != first.keys():
            raise _unlike(at, place, "keys", [str(list(first)), str(list(row))])
    columns = {key: _collated([row[key] for row in rows], f"{place}[{key!r}]", fns) for key in first}
    try:
        return cast("Any", type(first))(columns)
    except TypeError:
        return columns


def default_convert(data: Any) -> Any:
    """A sample by itself, arrays in it as tensors: what a loader without batches answers with.

    Arguments:
        data: the sample

    >>> import numpy
    >>> mg.utils.data.default_convert({"x": numpy.zeros(2), "name": "a"})
    {'x': tensor([0., 0.], dtype=micrograd_rs.float64), 'name': 'a'}
    """
    if isinstance(data, Tensor):
        return data
    if _is_array(data):
        return as_tensor(data)
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        entries: Mapping[Any, Any] = data  # pyright: ignore[reportUnknownVariableType]
        return {key: default_convert(value) for key, value in entries.items()}
    if isinstance(data, Sequence):
        items: Sequence[Any] = data  # pyright: ignore[reportUnknownVariableType]
        return _rebuilt(data, [default_convert(item) for item in items])
    return data


def pin_memory(data: Any, device: Any = None) -> Any:
    """A batch whose tensors are in page-locked memory (`Tensor.pin_memory`), in the structure that it has; what has a `pin_memory()` of its own does
    so itself.
    """
    # The same, of which nothing more is known below.
    whole = data
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        pinned = {key: pin_memory(value, device) for key, value in whole.items()}
        try:
            if isinstance(data, MutableMapping):
                # It may be more than its entries.
                clone: Any = copy.copy(data)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                clone.update(pinned)
                return clone
            return type(data)(pinned)  # type: ignore[call-arg, unused-ignore] # pyright: ignore
        except TypeError:
            return pinned
    if isinstance(data, tuple):
        items = [pin_memory(item, device) for item in whole]
        return type(data)(*items) if hasattr(data, "_fields") else type(data)(items)  # pyright: ignore
    if isinstance(data, Sequence):
        items = [pin_memory(item, device) for item in whole]
        try:
            if isinstance(data, MutableSequence):
                copied: Any = copy.copy(data)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                for i, item in enumerate(items):
                    copied[i] = item
                return copied
            return type(data)(items)  # type: ignore[call-arg, unused-ignore] # pyright: ignore
        except TypeError:
            return items
    return data
