"""Regions of mixed precision."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from .. import _micrograd_rs as _rs
from .._micrograd_rs import Device, Tensor
from .._micrograd_rs import bfloat16 as _bf16
from .._micrograd_rs import float16 as _f16

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from .._micrograd_rs import dtype as _DType

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """Whether there is mixed precision on this type of device: on "cpu" and "cuda".

    Arguments:
        device_type: the type of device

    >>> mg.amp.is_autocast_available("cpu"), mg.amp.is_autocast_available("mps")
    (True, False)
    """
    return device_type in ("cpu", "cuda")


class autocast(_rs._Switch):
    """A block, or a function, in which products (matrix products, convolutions, attention, recurrent layers) of operands on this type of device run in
    `dtype`, and what loses too much there in float32; the rest runs in the dtypes that it is given.

    Parameters stay what they are, and have gradients of their own dtype. float64 is left alone. The lists are PyTorch's: see `micrograd_rs.amp`.

    The backward pass belongs outside: it runs in the dtypes that the forward pass ran in.

    >>> import micrograd_rs as mg
    >>> net = mg.nn.Linear(4, 2)
    >>> with mg.autocast("cpu", dtype=mg.bfloat16):
    ...     out = net(mg.ones(3, 4))
    >>> out.dtype, net.weight.dtype
    (micrograd_rs.bfloat16, micrograd_rs.float32)

    Arguments:
        device_type: "cpu" or "cuda"
        dtype: the dtype of products, float16 or bfloat16; None: float16 on "cuda", bfloat16 on "cpu"
        enabled: whether it is on; False switches it off for a part of a block
        cache_enabled: whether a parameter is converted once, however often it is used, until the outermost block ends; None: as
            `set_autocast_cache_enabled` said

    Errors: RuntimeError for another type of device, ValueError for a `device_type` that is no text. A `dtype` that is neither, and "cuda" where there
    is no GPU, are a warning, and it is off.
    """

    if TYPE_CHECKING:

        def __enter__(self) -> Self: ...

    # A subclass may be made of something else.
    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self:
        return _rs._Switch.__new__(cls)

    def __init__(
        self,
        device_type: str,
        dtype: _DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"takes device_type as text, got {type(device_type).__name__}")
        if not is_autocast_available(device_type):
            raise RuntimeError(f'autocast is for "cpu" and "cuda", got {device_type!r}')
        self.device = device_type
        self.fast_dtype = _rs.get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = _rs.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda" and not Device.is_cuda_available():
            _warn("there is no CUDA device: autocast is switched off")
            enabled = False
        elif enabled and self.fast_dtype not in (_f16, _bf16):
            _warn(f"autocast takes float16 and bfloat16, got {self.fast_dtype}: it is switched off")
            enabled = False
        self._enabled = enabled
        self._set_autocast(device_type, enabled, self.fast_dtype, self._cache_enabled)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.device, self._enabled, self.fast_dtype, self._cache_enabled), vars(self)

    def __call__(self, func: Callable[P, R]) -> Callable[P, R]:
        return autocast_decorator(self, func)


def _again(cls: type[autocast], device_type: str, enabled: bool, dtype: _DType, caches: bool) -> autocast:
    """One that was copied or pickled."""
    made = cls.__new__(cls)
    made._set_autocast(device_type, enabled, dtype, caches)
    return made


def _warn(text: str) -> None:
    import warnings

    warnings.warn(text, stacklevel=3)


def autocast_decorator(autocast_instance: autocast, func: Callable[P, R]) -> Callable[P, R]:
    """The function, called in the region."""

    @wraps(func)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        return autocast_instance._run(func, args, kwargs)

    return within


def _is_cast(value: Tensor, device_type: str) -> bool:
    return value.is_floating_point() and value.device.is_cuda() == (device_type == "cuda") and value.dtype != _rs.float64


def _cast(value: Any, device_type: str, dtype: _DType) -> Any:
    """The tensors in it converted, in lists, tuples and dictionaries too."""
    if isinstance(value, Tensor):
        return value.to(dtype) if _is_cast(value, device_type) else value
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value)  # type: ignore[redundant-cast]
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in items.items()}
    if isinstance(value, (list, tuple)):
        parts: list[Any] = [_cast(v, device_type, dtype) for v in value]  # pyright: ignore[reportUnknownVariableType]
        return parts if isinstance(value, list) else tuple(parts)
    return value


@overload
def custom_fwd(fwd: None = None, *, device_type: str, cast_inputs: _DType | None = None) -> Callable[[Callable[..., R]], Callable[..., R]]: ...
@overload
def custom_fwd(fwd: Callable[..., R], *, device_type: str, cast_inputs: _DType | None = None) -> Callable[..., R]: ...
def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: _DType | None = None) -> Any:
    """For the `forward` of an `autograd.Function`. With `cast_inputs`, tensors among its arguments are converted to that dtype where a
    region is on, and it runs as if there was none; without, it runs as its surroundings do. `custom_bwd` has `backward` run likewise.

    Arguments:
        fwd: the method
        device_type: "cpu" or "cuda"
        cast_inputs: the dtype to which tensors among the arguments are converted

    >>> class Twice(mg.autograd.Function):
    ...     @staticmethod
    ...     @mg.amp.custom_fwd(device_type="cpu", cast_inputs=mg.float32)
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @mg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, gradient):
    ...         return gradient * 2
    >>> with mg.autocast("cpu"):
    ...     Twice.apply(mg.ones(2, dtype=mg.bfloat16)).dtype
    micrograd_rs.float32
    """
    if not isinstance(device_type, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"takes device_type as text, got {type(device_type).__name__}")
    if fwd is None:
        return partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = _rs.get_autocast_dtype(device_type)
        on = _rs.is_autocast_enabled(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = on
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        if not on:
            return fwd(*args, **kwargs)
        off = autocast(device_type, enabled=False)
        return off._run(fwd, _cast(args, device_type, cast_inputs), _cast(kwargs, device_type, cast_inputs))

    return forward


@overload
def custom_bwd(bwd: None = None, *, device_type: str) -> Callable[[Callable[..., R]], Callable[..., R]]: ...
@overload
def custom_bwd(bwd: Callable[..., R], *, device_type: str) -> Callable[..., R]: ...
def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """For the `backward` of an `autograd.Function`: runs as `forward` did, see `custom_fwd`.

    Arguments:
        bwd: the method
        device_type: "cpu" or "cuda"

    See `custom_fwd`.
    """
    if not isinstance(device_type, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"takes device_type as text, got {type(device_type).__name__}")
    if bwd is None:
        return partial(custom_bwd, device_type=device_type)

    @wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        return autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype)._run(bwd, args, kwargs)

    return backward
