"""A reference of our own in NumPy: tensors are positions in storages, and nobody remembers a graph.

A storage is a flat array. A tensor is an array of positions in one; a view is a view of the positions. Gradients are carried
forward: beside the numbers lie their slopes, one row an element, by the leaf that they are slopes of. So a write through any
view is a write into an array, and `backward` only reads. What this cannot do: gradients of gradients, gradients of what is no
leaf, and refusing a second walk. Numbers are computed in f64 and rounded to the dtype after each operation.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from .measure import fits_integer

DTYPES = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "int64": np.int64,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint8": np.uint8,
    "bool": np.bool_,
}
ORDER = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
Slope = dict["Leaf", np.ndarray]


class Leaf:
    """What a slope is a slope of: a leaf's elements. Equal only to itself."""

    def __init__(self, owner: Tensor, size: int) -> None:
        self.owner, self.size = owner, size


class Mode(threading.local):
    grad = True


mode = Mode()


class no_grad:
    def __enter__(self) -> None:
        self.before, mode.grad = mode.grad, False

    def __exit__(self, *_: object) -> None:
        mode.grad = self.before


class Track:
    """The slopes of a storage as some of its tensors see them: those that are views of one another, not those detached."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.slopes: Slope = {}
        self.requires_grad = False
        self.leaf: Leaf | None = None
        #: The leaf that it was before it was made a constant: made one again, it is that one.
        self.former: Leaf | None = None
        #: The tensor that the others are views of; and whether it is a leaf of its own since.
        self.first: weakref.ref[Tensor] | None = None
        self.left: weakref.ref[Tensor] | None = None


def category(name: str) -> int:
    return 0 if name == "bool" else 2 if name.startswith("float") else 1


def larger(a: str, b: str) -> str:
    if {a, b} == {"uint8", "int8"}:
        return "int16"
    return a if ORDER.index(a) >= ORDER.index(b) else b


def promoted(*operands: Any) -> str:
    """The dtype of a result: tensors with axes first, then those without, then numbers, each if its category is higher."""
    ranks: list[str | None] = [None, None, None]
    for x in operands:
        if isinstance(x, Tensor):
            at, name = (0 if x.ndim else 1), x.dtype.name
        else:
            at = 2
            name = "bool" if isinstance(x, bool) else "int64" if isinstance(x, int) else "float32"
        before = ranks[at]
        ranks[at] = name if before is None else larger(before, name)
    best: str | None = None
    for name in ranks:
        if name is not None and (best is None or category(name) > category(best)):
            best = name
    assert best is not None
    return best


class DType:
    def __init__(self, name: str) -> None:
        self.name, self.of = name, DTYPES[name]

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    @property
    def is_floating_point(self) -> bool:
        return category(self.name) == 2


dtypes = {name: DType(name) for name in DTYPES}


class Tensor:
    def __init__(self, storage: np.ndarray, at: np.ndarray, track: Track) -> None:
        self.storage, self.at, self.track = storage, at, track
        self.grad: Tensor | None = None
        if track.first is None:
            track.first = weakref.ref(self)

    # What it is.

    shape = property(lambda self: self.at.shape)
    ndim = property(lambda self: self.at.ndim)
    dtype = property(lambda self: dtypes[self.storage.dtype.name])
    requires_grad = property(lambda self: self.track.requires_grad)
    value = property(lambda self: self.storage[self.at])

    @property
    def is_leaf(self) -> bool:
        leaf = self.track.leaf
        return not self.track.requires_grad or (leaf is not None and leaf.owner is self)

    def numel(self) -> int:
        return int(self.at.size)

    def stride(self) -> tuple[int, ...]:
        """Steps between neighbours: 0 where they are the same element."""
        if not self.at.size:
            return (1,) * self.ndim
        first = self.at[(0,) * self.ndim]
        steps = []
        for axis, size in enumerate(self.shape):
            place = tuple(1 if k == axis else 0 for k in range(self.ndim))
            steps.append(int(self.at[place] - first) if size > 1 else 1)
        return tuple(steps)

    def tolist(self) -> Any:
        return self.value.tolist()

    def item(self) -> Any:
        if self.numel() != 1:
            raise RuntimeError("item of several elements")
        return self.value.reshape(()).item()

    __float__ = lambda self: float(self.item())
    __bool__ = lambda self: bool(self.item())
    __hash__ = object.__hash__

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("no axes")
        return int(self.shape[0])

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("no axes")
        return iter([self[k] for k in range(len(self))])

    def __deepcopy__(self, memo: dict[Any, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError("only leaves can be copied deeply")
        kept = memo.get(id(self.storage))
        if kept is None:
            kept = memo[id(self.storage)] = self.storage.copy()
            # What is in the memo has to live as long as it.
            memo.setdefault("storages", []).append(self.storage)
        copied = Tensor(kept, self.at, Track(kept.size))
        if self.requires_grad:
            copied.requires_grad_()
        copied.grad = None if self.grad is None else self.grad.detach().clone()
        return copied

    def numpy(self) -> np.ndarray:
        if self.requires_grad:
            raise RuntimeError("it requires a gradient")
        n = self.storage.itemsize
        if not self.at.size:
            return np.zeros(self.shape, self.storage.dtype)
        first = int(self.at[(0,) * self.ndim])
        strides = [s * n for s in self.stride()]
        return np.lib.stride_tricks.as_strided(self.storage[first:], self.shape, strides)

    # Slopes.

    def _slope(self, leaf: Leaf) -> np.ndarray:
        """One row for each element of `leaf`, in the tensor's shape."""
        rows = self.track.slopes.get(leaf)
        return np.zeros((leaf.size, *self.shape)) if rows is None else rows[:, self.at]

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        if not self.is_leaf:
            if not requires_grad:
                raise RuntimeError("only of leaves")
            return self
        if requires_grad == self.requires_grad:
            return self
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError("only of floats")
        self._as_leaf(requires_grad)
        return self

    def _as_leaf(self, requires_grad: bool) -> None:
        if requires_grad and not self._apart():
            raise AttributeError("elements in one place")
        old = self.track.leaf or self.track.former
        if self.track.first is not None and self.track.first() is self:
            self.track.left = weakref.ref(self)
        self.track = Track(self.storage.size)
        self.track.first = weakref.ref(self)
        self.track.former = old
        if requires_grad:
            self.track.requires_grad = True
            leaf = old if old is not None and old.owner is self and old.size == self.numel() else Leaf(self, self.numel())
            rows = np.zeros((leaf.size, self.storage.size))
            rows[np.arange(leaf.size), self.at.ravel()] = 1
            self.track.leaf, self.track.slopes = leaf, {leaf: rows}

    def detach(self) -> Tensor:
        return Tensor(self.storage, self.at, Track(self.storage.size))

    @property
    def data(self) -> Tensor:
        return self.detach()

    @data.setter
    def data(self, value: Tensor) -> None:
        if not self.is_leaf:
            raise AttributeError("of leaves only")
        if value.dtype is not self.dtype:
            raise AttributeError("of the same dtype only")
        self.storage, self.at = value.storage, value.at
        if self.requires_grad and self.is_leaf:
            self._as_leaf(True)
        else:
            self.track = Track(self.storage.size)

    def backward(self, gradient: Tensor | None = None, retain_graph: Any = None) -> None:
        with no_grad():
            for leaf, grad in gradients_of(self, gradient).items():
                owner = leaf.owner
                if not owner.requires_grad or not owner.is_leaf or owner.track.leaf is not leaf:
                    continue
                fresh = fresh_tensor(grad.reshape(owner.shape), owner.dtype.name)
                if owner.grad is None:
                    owner.grad = fresh
                else:
                    owner.grad.add_(fresh)

    # Views.

    def _view_of(self, at: np.ndarray) -> Tensor:
        track = self.track if mode.grad or not self.track.requires_grad else Track(self.storage.size)
        return Tensor(self.storage, at, track)

    def __getitem__(self, key: Any) -> Tensor:
        key, copies = _key(key, self)
        at = self.at[key]
        return self._taken(at) if copies else self._view_of(np.asarray(at))

    def _taken(self, at: np.ndarray) -> Tensor:
        """A copy of elements at these positions."""
        return lift(lambda x: x, self.dtype.name, [Tensor(self.storage, np.asarray(at), self.track)], lambda dx: dx)

    def _reshaped(self, shape: tuple[int, ...]) -> tuple[np.ndarray, bool]:
        """Positions in another shape, and whether they would still be a view of an array in memory."""
        places = self.at.reshape(shape)
        array = self._array()
        try:
            view = array.view()
            view.shape = places.shape
            return places, True
        except (AttributeError, ValueError):
            return places, False

    def _array(self) -> np.ndarray:
        if not self.at.size:
            return np.zeros(self.shape)
        return np.lib.stride_tricks.as_strided(np.zeros(1), self.shape, [s * 8 for s in self.stride()])

    def reshape(self, *shape: Any) -> Tensor:
        at, view = self._reshaped(sizes_of(shape))
        return self._view_of(at) if view else self._taken(at)

    def view(self, *shape: Any) -> Tensor:
        at, view = self._reshaped(sizes_of(shape))
        if not view:
            raise RuntimeError("no view of this shape")
        return self._view_of(at)

    def view_as(self, other: Tensor) -> Tensor:
        return self.view(*other.shape)

    def flatten(self, start: int = 0, end: int = -1) -> Tensor:
        start, end = _axis(start, self), _axis(end, self)
        if start > end:
            raise RuntimeError("ends before it starts")
        if not self.ndim:
            return self.reshape(1)
        if start == end:
            return self
        n = int(np.prod(self.shape[start : end + 1]))
        return self.reshape(*self.shape[:start], n, *self.shape[end + 1 :])

    def ravel(self) -> Tensor:
        return self.contiguous().view(self.numel())

    def contiguous(self) -> Tensor:
        return self if self._contiguous() else self.clone()

    def _contiguous(self) -> bool:
        return bool(self._array().flags.c_contiguous)

    def transpose(self, a: int, b: int) -> Tensor:
        first, second = _axis(a, self), _axis(b, self)
        return self._view_of(self.at.swapaxes(first, second) if self.ndim else self.at)

    swapaxes = transpose

    def movedim(self, a: int, b: int) -> Tensor:
        source, destination = _axis(a, self), _axis(b, self)
        return self._view_of(np.moveaxis(self.at, source, destination) if self.ndim else self.at)

    def t(self) -> Tensor:
        if self.ndim > 2:
            raise RuntimeError("more than two axes")
        return self._view_of(self.at.T)

    @property
    def T(self) -> Tensor:
        return self._view_of(self.at.T)

    @property
    def mT(self) -> Tensor:
        if self.ndim < 2:
            raise RuntimeError("fewer than two axes")
        return self._view_of(self.at.swapaxes(-1, -2))

    def permute(self, *order: Any) -> Tensor:
        return self._view_of(self.at.transpose(sizes_of(order)))

    def unsqueeze(self, axis: int) -> Tensor:
        return self._view_of(np.expand_dims(self.at, normalize_axis_index(axis, self.ndim + 1)))

    def squeeze(self, axis: int | None = None) -> Tensor:
        if axis is None:
            return self._view_of(self.at.squeeze())
        axis = _axis(axis, self)
        return self._view_of(self.at.squeeze(axis) if self.ndim and self.shape[axis] == 1 else self.at)

    def expand(self, *shape: Any) -> Tensor:
        sizes = sizes_of(shape)
        return self._view_of(np.broadcast_to(self.at, sizes))

    broadcast_to = expand

    def expand_as(self, other: Tensor) -> Tensor:
        return self.expand(*other.shape)

    def narrow(self, axis: int, start: int, length: int) -> Tensor:
        axis = _axis(axis, self)
        if not self.ndim or start + length > self.shape[axis] or start < 0 or length < 0:
            raise RuntimeError("out of range")
        return self._view_of(self.at[(slice(None),) * axis + (slice(start, start + length),)])

    def select(self, axis: int, index: int) -> Tensor:
        return self._view_of(self.at[(slice(None),) * _axis(axis, self) + (index,)])

    def unbind(self, axis: int = 0) -> tuple[Tensor, ...]:
        return tuple(self.select(axis, k) for k in range(self.shape[_axis(axis, self)]))

    def split(self, size: int, axis: int = 0) -> tuple[Tensor, ...]:
        n = self.shape[_axis(axis, self)]
        return tuple(self.narrow(axis, k, min(size, n - k)) for k in range(0, n, size))

    def chunk(self, n: int, axis: int = 0) -> tuple[Tensor, ...]:
        return self.split(max(-(-self.shape[_axis(axis, self)] // n), 1), axis)

    # Copies.

    def flip(self, *axes: int) -> Tensor:
        along = tuple(_axis(a, self) for a in axes)
        return self._taken(np.flip(self.at, along) if self.ndim else self.at)

    def repeat(self, *times: int) -> Tensor:
        if len(times) < self.ndim:
            raise RuntimeError("fewer numbers than axes")
        return self._taken(np.tile(self.at, times))

    def clone(self) -> Tensor:
        return self._taken(self.at)

    def to(self, dtype: DType) -> Tensor:
        if dtype is self.dtype:
            return self
        return lift(lambda x: x, dtype.name, [self], lambda dx: dx)

    double = lambda self: self.to(dtypes["float64"])
    float = lambda self: self.to(dtypes["float32"])
    half = lambda self: self.to(dtypes["float16"])
    long = lambda self: self.to(dtypes["int64"])
    int = lambda self: self.to(dtypes["int32"])
    bool = lambda self: self.to(dtypes["bool"])

    def index_select(self, axis: int, index: Tensor) -> Tensor:
        return self._taken(np.take(self.at, index.value, _axis(axis, self)))

    def gather(self, axis: int, index: Tensor) -> Tensor:
        return self._taken(np.take_along_axis(self.at, index.value, axis))

    def masked_select(self, mask: Tensor) -> Tensor:
        if mask.dtype.name != "bool":
            raise RuntimeError("no mask")
        return self._taken(np.broadcast_arrays(self.at, mask.value)[0][np.broadcast_arrays(mask.value, self.at)[0]])

    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        if mask.dtype.name != "bool":
            raise RuntimeError("no mask")
        return where(mask, _number(value, self.dtype.name), self)

    def nonzero(self) -> Tensor:
        return fresh_tensor(np.argwhere(self.value) if self.ndim else np.zeros((int(bool(self)), 0)), "int64")

    # Writes.

    def _check_left(self) -> None:
        left = self.track.left() if self.track.left is not None else None
        if mode.grad and left is not None and left.requires_grad:
            raise RuntimeError("a view of a leaf that requires a gradient is written to in place")

    def _write(self, source: Any) -> Tensor:
        """Numbers and slopes, into the positions of this tensor."""
        source = source if isinstance(source, Tensor) else _number(source, self.dtype.name)
        at = self.at
        if not self._apart():
            raise RuntimeError("its elements share places: which is written last is nobody's measure")
        np.broadcast_to(source.at, at.shape)
        self._check_left()
        if mode.grad and self.track.leaf is not None and self.track.requires_grad:
            raise RuntimeError("a leaf that requires a gradient is written to in place")
        recorded = mode.grad and (self.requires_grad or source.requires_grad) and self.dtype.is_floating_point
        slopes = {}
        if recorded:
            leaves = {**self.track.slopes, **(source.track.slopes if source.requires_grad else {})}
            slopes = {leaf: np.array(source._slope(leaf)) for leaf in leaves}
        self.storage[at] = converted(source.value, self.dtype.name)
        for leaf, rows in slopes.items():
            if leaf not in self.track.slopes:
                self.track.slopes[leaf] = np.zeros((leaf.size, self.storage.size))
            missing = at.ndim + 1 - rows.ndim
            rows = rows.reshape(rows.shape[:1] + (1,) * missing + rows.shape[1:])
            self.track.slopes[leaf][:, at] = rows
        if recorded:
            self.track.requires_grad = True
        return self

    def _apart(self) -> bool:
        """Whether every element has a place of its own."""
        return len({*self.at.ravel().tolist()}) == self.at.size

    def _updated(self, result: Tensor) -> Tensor:
        if not self._apart():
            raise RuntimeError("more than one element of the written-to tensor refers to a single memory location")
        if category(result.dtype.name) > category(self.dtype.name):
            raise RuntimeError("a result of a higher category")
        if result.shape != self.shape:
            raise RuntimeError("of another shape")
        return self._write(result)

    def __setitem__(self, key: Any, value: Any) -> None:
        key, _ = _key(key, self)
        at = np.asarray(self.at[key])
        if isinstance(value, Tensor):
            while value.ndim > at.ndim and value.shape[0] == 1:
                value = value[0]
        Tensor(self.storage, at, self.track)._write(value)

    def copy_(self, source: Tensor) -> Tensor:
        return self._write(source)

    zero_ = lambda self: self.fill_(0)

    def fill_(self, value: Any) -> Tensor:
        if isinstance(value, Tensor) and value.ndim:
            raise RuntimeError("not one number")
        if not self.requires_grad and not isinstance(value, Tensor):
            # Also where elements share places.
            self._check_left()
            self.storage[self.at] = converted(np.asarray(value), self.dtype.name)
            return self
        return self._write(value)

    def add_(self, other: Any, alpha: Any = 1) -> Tensor:
        return self._updated(add(self, other if alpha == 1 else mul(other, alpha)))

    def sub_(self, other: Any, alpha: Any = 1) -> Tensor:
        return self._updated(sub(self, other if alpha == 1 else mul(other, alpha)))

    def mul_(self, other: Any) -> Tensor:
        return self._updated(mul(self, other))

    def div_(self, other: Any) -> Tensor:
        return self._updated(div(self, other))

    __iadd__, __isub__, __imul__ = add_, sub_, mul_

    # Reductions.

    def sum(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        axes = _axes(dim, self)
        name = "int64" if category(self.dtype.name) < 2 else self.dtype.name
        shifted = tuple(a + 1 for a in axes)
        if not self.ndim:
            axes = shifted = ()
        return lift(
            lambda x: x.sum(axes, keepdims=keepdim), name, [self], lambda dx: dx.sum(shifted, keepdims=keepdim)
        )

    def mean(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        if not self.dtype.is_floating_point:
            raise RuntimeError("mean of what is not floating point")
        n = int(np.prod([self.shape[a] for a in _axes(dim, self)])) if self.ndim else 1
        total = self.to(dtypes["float64"]).sum(dim, keepdim)
        return (total * float("nan") if n == 0 else total / n).to(self.dtype)

    def _extreme(self, dim: Any, keepdim: bool, sign: int) -> Tensor:
        axes = _axes(dim, self)[: self.ndim]
        self._some(axes)
        x = self.value.astype(np.float64) * sign
        best = x.max(axes, keepdims=True)
        share = (x == best) / (x == best).sum(axes, keepdims=True)
        shifted = tuple(a + 1 for a in axes)
        return lift(
            lambda x: (np.max if sign > 0 else np.min)(x, axes, keepdims=keepdim),
            self.dtype.name,
            [self],
            lambda dx: (share * dx).sum(shifted, keepdims=keepdim),
        )

    def amax(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        return self._extreme(dim, keepdim, 1)

    def amin(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        return self._extreme(dim, keepdim, -1)

    def _some(self, axes: tuple[int, ...]) -> None:
        if self.ndim and not all(self.shape[a] for a in axes):
            raise IndexError("of no elements")

    def _arg(self, which: Any, dim: int | None, keepdim: bool) -> Tensor:
        self._some(_axes(dim, self))
        if dim is None:
            at = np.asarray(which(self.value))
            return fresh_tensor(at.reshape((1,) * self.ndim) if keepdim else at, "int64")
        dim = _axis(dim, self)
        if not self.ndim:
            return fresh_tensor(np.asarray(0), "int64")
        return fresh_tensor(np.asarray(which(self.value, dim, keepdims=keepdim)), "int64")

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        _no_bool(self.dtype.name)
        return self._arg(np.argmax, dim, keepdim)

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        _no_bool(self.dtype.name)
        return self._arg(np.argmin, dim, keepdim)

    def _best(self, arg: Any, amax: Any, dim: int | None, keepdim: bool) -> Any:
        if dim is None:
            return amax(self)
        self._some(_axes(dim, self))
        index = self._arg(arg, dim, True)
        axis = _axis(dim, self)
        if not self.ndim:
            return Best((self.clone(), index))
        values = self._taken(np.take_along_axis(self.at, index.value, axis))
        if not keepdim:
            values, index = values.squeeze(axis), index.squeeze(axis)
        return Best((values, index))

    def max(self, dim: int | None = None, keepdim: bool = False) -> Any:
        return self._best(np.argmax, Tensor.amax, dim, keepdim)

    def min(self, dim: int | None = None, keepdim: bool = False) -> Any:
        return self._best(np.argmin, Tensor.amin, dim, keepdim)

    def any(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        axes = _axes(dim, self)[: self.ndim]
        name = "uint8" if self.dtype.name == "uint8" else "bool"
        return fresh_tensor(np.any(self.value, axes, keepdims=keepdim), name)

    def all(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        axes = _axes(dim, self)[: self.ndim]
        name = "uint8" if self.dtype.name == "uint8" else "bool"
        return fresh_tensor(np.all(self.value, axes, keepdims=keepdim), name)

    # Compositions.

    def softmax(self, dim: int) -> Tensor:
        if not self.numel():
            raise AttributeError("of some elements only")
        if self.dtype.name in ("float16", "float32"):
            return self.double().softmax(dim).to(self.dtype)
        e = (self - self.detach().amax(dim, True)).exp()
        return e / e.sum(dim, True)

    def log_softmax(self, dim: int) -> Tensor:
        if self.dtype.name in ("float16", "float32"):
            return self.double().log_softmax(dim).to(self.dtype)
        return self - self.logsumexp(dim, True)

    def logsumexp(self, dim: int, keepdim: bool = False) -> Tensor:
        if not isinstance(dim, int) or not self.dtype.is_floating_point or not self.numel():
            raise AttributeError("over one axis of floats only")
        if self.dtype.name in ("float16", "float32"):
            return self.double().logsumexp(dim, keepdim).to(self.dtype)
        best = self.detach().amax(dim, True)
        if not np.isfinite(best.value).all():
            raise AttributeError("of finite numbers only")
        total = (self - best).exp().sum(dim, True).log() + best
        return total if keepdim or not self.ndim else total.squeeze(dim)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        low = -np.inf if min is None else min
        high = np.inf if max is None else max
        name = promoted(self, *(b for b in (min, max) if b is not None))

        def inside(x: np.ndarray) -> np.ndarray:
            return ((x > low) & (x < high)).astype(np.float64)

        def clamped(x: np.ndarray) -> np.ndarray:
            return np.minimum(np.maximum(x.astype(np.float64), low), high)

        return lift(clamped, name, [self], lambda dx: inside(self.value) * dx)

    clip = clamp


class Best(tuple):
    """The largest or smallest elements, and where they are."""

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


# What the tensors are made of.


def sizes_of(shape: Sequence[Any]) -> tuple[int, ...]:
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)


def _axis(axis: int, t: Tensor) -> int:
    return int(normalize_axis_index(axis, max(t.ndim, 1)))


def _axes(dim: Any, t: Tensor) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(t.ndim))
    return tuple(_axis(a, t) for a in ((dim,) if isinstance(dim, int) else dim))


def _key(key: Any, t: Tensor) -> tuple[Any, bool]:
    """An index for NumPy, and whether what it takes is a copy."""
    items, copies = [], False
    for k in key if isinstance(key, tuple) else (key,):
        if isinstance(k, Tensor):
            k = k.value
            if not k.ndim and k.dtype != bool:
                items.append(int(k))
                continue
        if isinstance(k, list):
            k = np.asarray(k, dtype=np.int64 if not k else None)
        copies |= isinstance(k, np.ndarray)
        items.append(k)
    if copies and any(isinstance(k, int) and not isinstance(k, bool) for k in items):
        raise AttributeError("NumPy takes a number beside indices for one of them")
    return tuple(items), copies


def converted(value: np.ndarray, name: str) -> np.ndarray:
    """Numbers in another dtype. What a float becomes that an integer type has no place for is nobody's measure."""
    if value.dtype.kind == "f" and not fits_integer(value, name):
        raise AttributeError("floats that do not fit the integers")
    with np.errstate(all="ignore"):
        return value.astype(DTYPES[name])


def fresh_tensor(value: Any, name: str) -> Tensor:
    value = converted(np.array(value), name)
    return Tensor(value.ravel(), np.arange(value.size).reshape(value.shape), Track(value.size))


def _number(value: Any, name: str) -> Tensor:
    return value if isinstance(value, Tensor) else fresh_tensor(np.asarray(value), name)


def lift(
    f: Callable[..., Any], name: str, operands: list[Tensor], slope: Callable[..., Any] | None = None
) -> Tensor:
    """A new tensor: `f` of the values, and of the slopes (with an axis more, in front) what `slope` makes of them."""
    wide = np.float64 if category(name) == 2 else DTYPES[name]
    with np.errstate(all="ignore"):
        values = [x.value.astype(np.result_type(x.value.dtype, wide)) if category(name) == 2 else x.value for x in operands]
        made = fresh_tensor(f(*values), name)
        if slope is None or not mode.grad or category(name) != 2 or not any(x.requires_grad for x in operands):
            return made
        made.track.requires_grad = True
        leaves: Slope = {}
        for x in operands:
            if x.requires_grad:
                leaves.update(x.track.slopes)
        for leaf in leaves:
            rows = slope(*(x._slope(leaf) if x.requires_grad else np.zeros((leaf.size, *x.shape)) for x in operands))
            made.track.slopes[leaf] = np.broadcast_to(rows, (leaf.size, *made.shape)).reshape(leaf.size, made.numel()).copy()
    return made


def _aligned(rows: np.ndarray, ndim: int) -> np.ndarray:
    """Slopes of an operand with fewer axes than the result."""
    return rows.reshape(rows.shape[:1] + (1,) * (ndim + 1 - rows.ndim) + rows.shape[1:])


def _times(by: Any, rows: np.ndarray) -> np.ndarray:
    """What does not depend on a leaf stays so, however steep."""
    return np.where((rows == 0) | (isinstance(by, float) and by == 0), 0.0, by * rows)


def _elementwise(f: Any, by_first: Any, by_second: Any = None, name: Any = None) -> Callable[..., Tensor]:
    """An operation on one operand or two, with its slopes by each."""

    def call(a: Any, b: Any = None) -> Tensor:
        both = [a] if by_second is None else [a, b]
        for x in both:
            if not isinstance(x, (Tensor, bool, int, float)):
                raise TypeError("not a tensor, nor a number")
        result = promoted(*both) if name is None else name(promoted(*both))
        inputs = [_number(x, promoted(*both) if category(promoted(*both)) else promoted(x)) for x in both]
        values = [x.value.astype(np.float64) for x in inputs]
        ndim = max(x.ndim for x in inputs)
        np.broadcast_shapes(*(x.shape for x in inputs))

        def slope(*rows: np.ndarray) -> np.ndarray:
            total = _times(by_first(*values), _aligned(rows[0], ndim))
            return total if by_second is None else total + _times(by_second(*values), _aligned(rows[1], ndim))

        meeting = promoted(*both)
        if category(meeting) == 1 and category(result) < 2:
            inputs = [x.to(dtypes[meeting]) for x in inputs]
        return lift(f, result, inputs, slope)

    return call


def _floating(name: str) -> str:
    return name if category(name) == 2 else "float32"


def _boolean(name: str) -> str:
    return "bool"


def _no_bool(name: str) -> str:
    if name == "bool":
        raise RuntimeError("not supported for truth values")
    return name


def _no_float(name: str) -> str:
    if category(name) == 2:
        raise RuntimeError("not of floats")
    return name


def sub(a: Any, b: Any) -> Tensor:
    if any(isinstance(x, bool) or isinstance(x, Tensor) and x.dtype.name == "bool" for x in (a, b)):
        raise RuntimeError("no differences of truth values")
    return _sub(a, b)


add = _elementwise(np.add, lambda a, b: 1.0, lambda a, b: 1.0)
_sub = _elementwise(np.subtract, lambda a, b: 1.0, lambda a, b: -1.0)
mul = _elementwise(np.multiply, lambda a, b: b, lambda a, b: a)
div = _elementwise(np.true_divide, lambda a, b: 1 / b, lambda a, b: -a / (b * b), _floating)
maximum = _elementwise(np.maximum, lambda a, b: ~(a <= b) + (a == b) / 2, lambda a, b: ~(b <= a) + (a == b) / 2)
minimum = _elementwise(np.minimum, lambda a, b: ~(a >= b) + (a == b) / 2, lambda a, b: ~(b >= a) + (a == b) / 2)


def _sign(x: Any) -> Any:
    """The sign, 0 of what is no number."""
    return np.sign(x) if x.dtype.kind != "f" else np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype)


UNARY = {
    "neg": (np.negative, lambda x: -1.0, _no_bool),
    "abs": (np.abs, _sign, _no_bool),
    "square": (lambda x: x * x, lambda x: 2 * x, lambda name: "int64" if name == "bool" else name),
    "relu": (lambda x: np.maximum(x, 0), lambda x: ~(x <= 0) * 1.0, _no_bool),
    "sign": (lambda x: x if x.dtype == bool else _sign(x), lambda x: 0.0, None),
    "exp": (np.exp, np.exp, _floating),
    "log": (np.log, lambda x: 1 / x, _floating),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x), _floating),
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2, _floating),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda x: 1 / (2 + np.exp(x) + np.exp(-x)), _floating),
    "sin": (np.sin, np.cos, _floating),
    "cos": (np.cos, lambda x: -np.sin(x), _floating),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / (x * x), _floating),
}
for _name, (_f, _by, _kind) in UNARY.items():
    setattr(Tensor, _name, _elementwise(_f, _by, None, _kind))

for _name, _call in {"add": add, "sub": sub, "mul": mul, "truediv": div}.items():
    setattr(Tensor, f"__{_name}__", lambda a, b, call=_call: call(a, b))
    setattr(Tensor, f"__r{_name}__", lambda a, b, call=_call: call(b, a))
    setattr(Tensor, _name.removeprefix("true"), lambda a, b, call=_call: call(a, b))
for _name, _f in {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.items():
    _call = _elementwise(_f, None, lambda a, b: 0.0, lambda name: _no_float(name))
    setattr(Tensor, f"__{_name}__", lambda a, b, call=_call: call(a, b))
Tensor.__invert__ = lambda a: _elementwise(np.invert, None, None, lambda name: _no_float(name))(a)
Tensor.__neg__ = Tensor.neg
Tensor.maximum, Tensor.minimum = (lambda a, b: maximum(a, b)), (lambda a, b: minimum(a, b))

COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
for _name, _f in COMPARISONS.items():
    _call = _elementwise(_f, None, lambda a, b: 0.0, _boolean)
    setattr(Tensor, _name, lambda a, b, call=_call: call(a, b))
    setattr(Tensor, f"__{_name}__", lambda a, b, call=_call: call(a, b))
for _name in ("logical_and", "logical_or", "logical_xor"):
    _call = _elementwise(getattr(np, _name), None, lambda a, b: 0.0, _boolean)
    setattr(Tensor, _name, lambda a, b, call=_call: call(a, b))
for _name in ("logical_not", "isnan", "isinf", "isfinite"):
    setattr(Tensor, _name, _elementwise(getattr(np, _name), None, None, _boolean))


def _pow(x: Tensor, n: Any) -> Tensor:
    if not isinstance(n, int) or isinstance(n, bool):
        raise AttributeError("powers of whole numbers only")
    if category(x.dtype.name) == 0:
        raise AttributeError("no powers of truth values")
    return _elementwise(lambda v: v**n, lambda v: n * v ** (n - 1) if n else 0.0)(x)


def _unknown(*_: object) -> Any:
    raise AttributeError("not known here")


Tensor.__pow__ = Tensor.pow = _pow
Tensor.__rpow__ = Tensor.__copy__ = _unknown


def matmul(a: Tensor, b: Tensor) -> Tensor:
    if a.dtype is not b.dtype:
        raise RuntimeError("expected m1 and m2 to have the same dtype")
    if not a.ndim or not b.ndim:
        raise RuntimeError("of no axes")
    if a.dtype.name == "bool":
        raise AttributeError("not of truth values")
    x, y = a.value.astype(np.float64), b.value.astype(np.float64)

    def slope(da: np.ndarray, db: np.ndarray) -> np.ndarray:
        return np.stack([np.matmul(p, y) + np.matmul(x, q) for p, q in zip(da, db)]) if len(da) else np.zeros(())

    return lift(np.matmul, a.dtype.name, [a, b], slope)


def _of_rank(rank: int) -> Callable[[Tensor, Tensor], Tensor]:
    def product(a: Tensor, b: Tensor) -> Tensor:
        if a.ndim != rank or b.ndim != rank:
            raise RuntimeError("of other axes")
        return matmul(a, b)

    return product


Tensor.__matmul__ = Tensor.matmul = matmul
Tensor.mm, Tensor.dot = _of_rank(2), _of_rank(1)


def where(condition: Tensor, a: Any, b: Any) -> Tensor:
    c = condition.value
    if c.ndim > max(x.ndim if isinstance(x, Tensor) else 0 for x in (a, b)):
        # The dtype is told before an operand gets axes, which would count for more then.
        meeting = promoted(a, b)
        a = a.to(dtypes[meeting]) if isinstance(a, Tensor) else _number(a, meeting)
        return where(condition, a.expand(c.shape), b)
    choose = _elementwise(lambda x, y: np.where(c, x, y), lambda x, y: c * 1.0, lambda x, y: ~c * 1.0)
    return choose(a, b)


def _joined(tensors: Sequence[Tensor], dim: int, join: Any) -> Tensor:
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("of nothing")
    name = promoted(*tensors)
    rank = max(tensors[0].ndim + (join is np.stack), 1)
    dim = int(normalize_axis_index(dim, rank))
    return lift(
        lambda *x: join(x, dim), name, tensors, lambda *dx: join(dx, dim + 1)
    )


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    if not all(t.ndim for t in tensors):
        raise RuntimeError("of no axes")
    if any(t.shape == (0,) for t in tensors):
        raise AttributeError("the reference lets these pass as anything")
    return _joined(tensors, dim, np.concatenate)


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    if len({t.shape for t in tensors}) > 1:
        raise RuntimeError("of several shapes")
    return _joined(tensors, dim, np.stack)


def gradients_of(y: Tensor, gradient: Tensor | None) -> Slope:
    if not y.requires_grad:
        raise RuntimeError("it does not require a gradient")
    if gradient is None:
        if y.numel() != 1:
            raise RuntimeError("a gradient of several elements")
        seed = np.ones(y.shape)
    else:
        if gradient.shape != y.shape:
            raise RuntimeError("a gradient of another shape")
        seed = gradient.value.astype(np.float64)
    return {leaf: (y._slope(leaf) * seed).reshape(leaf.size, y.numel()).sum(1) for leaf in y.track.slopes}
