"""What modules hold: parameters, buffers, and those whose shape is not known yet."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from .._micrograd_rs import Device, Tensor, dtype, empty
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]

__getattr__ = _Lazy(__name__)

# Tensors that were made or assigned as parameters, by what they are: such a one stays a parameter when it is frozen.
_marked: dict[int, ref[Tensor]] = {}
# Those that were made as buffers, and whether they are saved.
buffers_known: dict[int, tuple[ref[Tensor], bool]] = {}
# Those whose shape is not known yet.
_shapeless: dict[int, ref[Tensor]] = {}


def _forgets(known: dict[int, Any], key: int) -> Callable[[Any], Any]:
    # No Python: Ctrl-C in it would be lost, and what is let go stay known, though another tensor has its number since. (The default of `pop` is
    # the reference that the callback is given.)
    return partial(known.pop, key)


def mark(t: Any) -> None:
    key = id(t)
    _marked[key] = ref(t, _forgets(_marked, key))


def is_marked(t: Tensor) -> bool:
    return id(t) in _marked


def mark_buffer(t: Any, persistent: bool) -> None:
    key = id(t)
    buffers_known[key] = ref(t, _forgets(buffers_known, key)), persistent


def mark_shapeless(t: Any) -> None:
    key = id(t)
    _shapeless[key] = ref(t, _forgets(_shapeless, key))
    t.materialize = _Materialize(t)


def marks_of(t: Tensor) -> tuple[bool, bool | None, bool]:
    """What is remembered of a tensor: whether it is a parameter, a buffer (and saved), without a shape."""
    buffer = buffers_known.get(id(t))
    return id(t) in _marked, None if buffer is None else buffer[1], id(t) in _shapeless


def mark_as(t: Tensor, marks: tuple[bool, bool | None, bool]) -> None:
    parameter, buffer, shapeless = marks
    if parameter:
        mark(t)
    if buffer is not None:
        mark_buffer(t, buffer)
    if shapeless:
        mark_shapeless(t)


class _ParameterType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, Tensor) or not instance.is_leaf:
            return False
        return instance.requires_grad or id(instance) in _marked


class Parameter(metaclass=_ParameterType):
    """A tensor that is trained: a leaf that requires a gradient. `Parameter(t)` makes one, on the memory of `t`: what is written to either is seen by
    the other. What `Tensor(data)` makes is one.

    What was made a parameter stays one without `requires_grad`: it is frozen, and part of the module's state.

    >>> layer = mg.nn.Module()
    >>> layer.scale = mg.nn.Parameter(mg.ones(2))
    >>> layer.scale.requires_grad, [name for name, _ in layer.named_parameters()]
    (True, ['scale'])

    Arguments:
        data: the tensor whose memory it is on, or numbers, in lists or an array, which are copied; None: a tensor without elements
        requires_grad: whether it is trained
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = empty(0)
        t = data.detach().realize() if isinstance(data, Tensor) else Tensor(data, requires_grad=False)
        mark(t)
        return t.requires_grad_(requires_grad)


class _BufferType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and id(instance) in buffers_known


class Buffer(metaclass=_BufferType):
    """A tensor that belongs to a module's state (if `persistent`) and is not trained: what is assigned to a module under a name becomes a buffer of it,
    as with `register_buffer`.

    >>> from micrograd_rs import nn, zeros
    >>> net = nn.Module()
    >>> net.mean = nn.Buffer(zeros(2))
    >>> list(net.state_dict())
    ['mean']

    Arguments:
        data: the tensor whose memory it is on, or numbers, in lists or an array, which are copied; None: a tensor without elements
        persistent: whether it is part of what `state_dict` has
    """

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = empty(0)
        t = data.detach() if isinstance(data, Tensor) else Tensor(data, requires_grad=False)
        mark_buffer(t, persistent)
        return t


def is_lazy(param: object) -> bool:
    """Whether a parameter or a buffer has no shape yet."""
    return id(param) in _shapeless


def materialize(t: Tensor, shape: Any, device: Device | str | None = None, dtype: dtype | str | None = None) -> None:
    """Gives a parameter or a buffer that has no shape yet one, with numbers that stand for nothing. It stays the
    tensor that it is.
    """
    device, dtype = t.device if device is None else device, t.dtype if dtype is None else dtype
    t.data = empty(tuple(shape), device=device, dtype=dtype)
    _shapeless.pop(id(t), None)
    if isinstance(getattr(t, "materialize", None), _Materialize):
        delattr(t, "materialize")


class _Materialize:
    """`materialize` of a tensor that has no shape yet, as its attribute. It does not hold the tensor, and that of a copy finds whose it is."""

    def __init__(self, t: Tensor | None = None) -> None:
        self._of = None if t is None else ref(t)

    def __call__(self, shape: Any, device: Device | str | None = None, dtype: dtype | str | None = None) -> None:
        all_of = [known() for known in ([self._of] if self._of is not None else _shapeless.values())]
        t = next((t for t in all_of if t is not None and getattr(t, "materialize", None) is self), None)
        if t is None:
            raise RuntimeError("materialize: it has a shape already")
        materialize(t, shape, device, dtype)

    def __reduce__(self) -> Any:
        return _Materialize, ()


class _UninitializedParameterType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return id(instance) in _shapeless and isinstance(instance, Parameter)


class UninitializedParameter(metaclass=_UninitializedParameterType):
    """A parameter whose shape is found out when its module meets the first input. Optimisers may have it before.

    >>> weight = mg.nn.UninitializedParameter()
    >>> weight.requires_grad, mg.nn.parameter.is_lazy(weight)
    (True, True)

    Arguments:
        requires_grad: whether it is trained
        device: the device that it is to be on; None: the default device
        dtype: the dtype that it is to have; None: the default dtype
    """

    def __new__(
        cls, requires_grad: bool = True, device: Device | str | None = None, dtype: dtype | str | None = None
    ) -> Any:
        t: Any = Parameter(empty(0, device=device, dtype=dtype), requires_grad)
        mark_shapeless(t)
        return t


class _UninitializedBufferType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return id(instance) in _shapeless and not isinstance(instance, Parameter)


class UninitializedBuffer(metaclass=_UninitializedBufferType):
    """A buffer whose shape is found out when its module meets the first input.

    >>> mg.nn.UninitializedBuffer()
    tensor([])

    Arguments:
        requires_grad: of no effect: buffers are not trained
        device: the device that it is to be on; None: the default device
        dtype: the dtype that it is to have; None: the default dtype
        persistent: whether it is part of what `state_dict` has
    """

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
        persistent: bool = True,
    ) -> Any:
        t: Any = Buffer(empty(0, device=device, dtype=dtype), persistent=persistent)
        mark_shapeless(t)
        return t
