"""How optimisers that are written for PyTorch sort what they give to `torch._foreach_add_` and its like."""

from __future__ import annotations

from collections.abc import Sequence

from .._micrograd_rs import Device, Tensor, dtype
from .._names import Lazy as _Lazy

__all__ = ["_device_has_foreach_support", "_get_foreach_kernels_supported_devices", "_get_fused_kernels_supported_devices", "_group_tensors_by_device_and_dtype", "_has_foreach_support"]

_Lists = list[list[Tensor | None]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Where tensors can be."""
    return ["cpu", "cuda"]


_get_fused_kernels_supported_devices = _get_foreach_kernels_supported_devices


def _device_has_foreach_support(device: Device) -> bool:
    """True: lists of tensors can be on each."""
    return device.type in _get_foreach_kernels_supported_devices()


def _has_foreach_support(tensors: Sequence[Tensor | None], device: Device) -> bool:
    """True: see `_device_has_foreach_support`."""
    return _device_has_foreach_support(device)


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Device, dtype], tuple[_Lists, list[int]]]:
    """Lists whose elements of one place belong together, as such lists for each device and dtype of the first list's tensors, and `with_indices` where each
    was. A list may be empty, and then is so in all groups; ValueError where another has a length of its own, or the first has no tensor somewhere.

    >>> import micrograd_rs as mg
    >>> a, b = [mg.ones(1), mg.ones(1).double(), mg.zeros(1)], [mg.ones(2), None, mg.zeros(2)]
    >>> groups = _group_tensors_by_device_and_dtype([a, b], with_indices=True)
    >>> [(str(kind), at) for (_, kind), (_, at) in groups.items()]
    [('micrograd_rs.float32', [0, 2]), ('micrograd_rs.float64', [1])]
    """
    first: Sequence[Tensor | None] = tensorlistlist[0] if tensorlistlist else []
    if any(len(each) not in (0, len(first)) for each in tensorlistlist):
        raise ValueError(f"_group_tensors_by_device_and_dtype: takes lists of one length, or empty ones, got {', '.join(str(len(each)) for each in tensorlistlist)}")
    groups: dict[tuple[Device, dtype], tuple[_Lists, list[int]]] = {}
    for i, t in enumerate(first):
        if t is None:
            raise ValueError(f"_group_tensors_by_device_and_dtype: takes tensors in the first list, got None at {i}")
        lists, indices = groups.setdefault((t.device, t.dtype), ([[] for _ in tensorlistlist], []))
        for group, each in zip(lists, tensorlistlist, strict=True):
            group.extend(each[i : i + 1])
        if with_indices:
            indices.append(i)
    return groups


__getattr__ = _Lazy(__name__)
