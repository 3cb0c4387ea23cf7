"""Names that PyTorch's programs have from older days: a class for each dtype, and switches for which there is nothing to switch."""

from __future__ import annotations

from typing import Any

from . import _micrograd_rs as _rs

# These stood here once, and pickles of that time say so.
from ._functions.symbols import sym_float as sym_float
from ._functions.symbols import sym_int as sym_int
from ._functions.symbols import sym_ite as sym_ite
from ._functions.symbols import sym_max as sym_max
from ._functions.symbols import sym_min as sym_min
from ._functions.symbols import sym_not as sym_not
from ._micrograd_rs import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._micrograd_rs import Device, dtype


class _OfDType(type):
    """A class of tensors of one dtype: a call makes one of data or of sizes, `isinstance` looks at the dtype."""

    dtype: dtype
    on_cuda: bool

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        device = device or ("cuda" if cls.on_cuda else None)
        if all(isinstance(arg, int) for arg in args):
            return _rs.zeros(*args, dtype=cls.dtype, device=device) if args else _rs.zeros(0, dtype=cls.dtype, device=device)
        if len(args) == 1 and type(args[0]).__name__ == "Size":
            return _rs.zeros(args[0], dtype=cls.dtype, device=device)
        return _rs.tensor(*args, dtype=cls.dtype, device=device)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype and instance.is_cuda == cls.on_cuda

    def __repr__(cls) -> str:
        return f"<class 'micrograd_rs.{'cuda.' if cls.on_cuda else ''}{cls.__name__}'>"


def _made(name: str, kind: dtype, on_cuda: bool = False) -> Any:
    where = "cuda." if on_cuda else ""
    doc = (
        f"Tensors of {kind}: `{name}(data)`, `{name}(*sizes)` (which are zeros), `isinstance(t, {name})`.\n\n"
        f">>> x = mg.{where}{name}([1, 0])\n>>> x.dtype, isinstance(x, mg.{where}{name}), mg.{where}{name}(2, 3).shape\n({kind}, True, (2, 3))"
    )
    return _OfDType(name, (), {"dtype": kind, "on_cuda": on_cuda, "__doc__": doc})


FloatTensor: Any = _made("FloatTensor", _rs.float32)
DoubleTensor: Any = _made("DoubleTensor", _rs.float64)
HalfTensor: Any = _made("HalfTensor", _rs.float16)
BFloat16Tensor: Any = _made("BFloat16Tensor", _rs.bfloat16)
LongTensor: Any = _made("LongTensor", _rs.int64)
IntTensor: Any = _made("IntTensor", _rs.int32)
ShortTensor: Any = _made("ShortTensor", _rs.int16)
CharTensor: Any = _made("CharTensor", _rs.int8)
ByteTensor: Any = _made("ByteTensor", _rs.uint8)
BoolTensor: Any = _made("BoolTensor", getattr(_rs, "bool"))

_deterministic = [False, False]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks for results that are the same each time, as they always are here.

    Arguments:
        mode: whether they are asked for
        warn_only: whether another would only be warned of

    >>> mg.use_deterministic_algorithms(True)
    >>> mg.are_deterministic_algorithms_enabled(), mg.is_deterministic_algorithms_warn_only_enabled()
    (True, False)
    >>> mg.use_deterministic_algorithms(False)
    """
    _deterministic[:] = [bool(mode), bool(warn_only)]


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` said last.

    See `use_deterministic_algorithms`.
    """
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What `use_deterministic_algorithms` said last.

    See `use_deterministic_algorithms`.
    """
    return _deterministic[0] and _deterministic[1]


def set_default_tensor_type(t: Any) -> None:
    """Makes the dtype of a class (`FloatTensor`, …) the default one, and a CUDA class's device the default device.

    Arguments:
        t: the class, or its name

    >>> mg.set_default_tensor_type(mg.DoubleTensor)
    >>> mg.tensor([1.0]).dtype
    micrograd_rs.float64
    >>> mg.set_default_tensor_type(mg.FloatTensor)
    """
    name = t if isinstance(t, str) else t.__name__
    _rs.set_default_dtype(name)
    if "cuda" in name or getattr(t, "on_cuda", False):
        _rs.set_default_device("cuda")


def set_flush_denormal(mode: bool) -> bool:
    """False: numbers too small for a full mantissa are kept.

    Arguments:
        mode: of no effect

    >>> mg.set_flush_denormal(True)
    False
    """
    return False


def get_num_interop_threads() -> int:
    """One: launches are made one after the other.

    >>> mg.get_num_interop_threads()
    1
    """
    return 1


def set_num_interop_threads(num: int) -> None:
    """Has no effect: launches are made one after the other.

    Arguments:
        num: of no effect

    >>> mg.set_num_interop_threads(4)
    >>> mg.get_num_interop_threads()
    1
    """
    if num < 1:
        raise RuntimeError(f"takes a positive number of threads, got {num}")


def typename(obj: Any) -> str:
    """The name of a tensor's class of old, or of an object's class.

    Arguments:
        obj: anything

    >>> mg.typename(mg.tensor([1.0])), mg.typename([])
    ('micrograd_rs.FloatTensor', 'list')
    """
    if isinstance(obj, Tensor):
        kinds = [FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, LongTensor, IntTensor, ShortTensor, CharTensor, ByteTensor, BoolTensor]
        named = next((k.__name__ for k in kinds if k.dtype == obj.dtype), "Tensor")
        return f"micrograd_rs.{'cuda.' if obj.is_cuda else ''}{named}"
    kind = obj.__class__
    name = f"{kind.__module__}.{kind.__qualname__}"
    return name.removeprefix("builtins.")


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: dtype | str | None = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros in memory at strides: there is no memory that nobody wrote.

    Arguments:
        size: the sizes, as one list
        stride: how far neighbours along each axis are from each other in memory, in elements: one for each size
        dtype: the dtype of the result; None is the default float
        layout: of no effect: all tensors are strided
        device: where the result is made; None is the default device
        requires_grad: whether the result is a leaf that gradients are computed for
        pin_memory: of no effect

    Errors: RuntimeError for another number of strides than of sizes.

    >>> mg.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    if len(size) != len(stride):
        raise RuntimeError(f"takes as many strides as sizes, got {tuple(stride)} and {tuple(size)}")
    count = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    made = _rs.zeros(count, dtype=dtype, device=device).as_strided(tuple(size), tuple(stride))
    return made.requires_grad_() if requires_grad else made


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of a tensor, an array, a number, or sequences of them.

    Arguments:
        obj: what it is made of
        dtype: the dtype of the result; None is that of a tensor or an array, int64 of integers, the default float of floats
        device: where the result is; None is where `obj` is, of what is no tensor the default device
        copy: False is on the memory of `obj`, True in memory of its own; None answers with a tensor as it is, and shares an array's memory where its dtype and
            device stay
        requires_grad: whether the result is a leaf that gradients are computed for

    Errors: ValueError, with `copy=False`, where the memory cannot be shared.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.asarray(x) is x, mg.asarray(x, copy=True) is x
    (True, False)
    """
    made = _rs.as_tensor(obj, dtype=dtype, device=device)
    if isinstance(obj, Tensor):
        shared = made.data_ptr() == obj.data_ptr()
    else:
        interface = getattr(obj, "__array_interface__", None)
        shared = interface is not None and made.is_cpu and made.data_ptr() == interface["data"][0]
    if copy is False and not shared:
        raise ValueError("asarray: copy=False, but the memory cannot be shared: its dtype or device is to change, or it is no tensor and no array that can be written to")
    if copy and shared:
        made = made.detach().clone() if not requires_grad and not made.requires_grad else made.clone()
    return made if not requires_grad or made.requires_grad else made.detach().requires_grad_()


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor in one axis of what lies in a buffer. It shares memory that can be written to, where NumPy is installed; else it is a copy.

    Arguments:
        buffer: bytes, an array of `array`, or another object with a buffer
        dtype: the dtype of the elements
        count: how many elements there are; −1 is all
        offset: from which byte on
        requires_grad: whether the result is a leaf that gradients are computed for

    Errors: ValueError for a dtype that buffers have not, for a buffer that does not end with an element, and for more elements than there are.

    >>> mg.frombuffer(bytes([1, 2, 3, 4]), dtype=mg.uint8, offset=1)
    tensor([2, 3, 4], dtype=micrograd_rs.uint8)
    """
    kind = _rs.zeros(0, dtype=dtype)
    code = kind.dtype._code
    if code is None:
        raise ValueError(f"a buffer has no elements of {kind.dtype}")
    flat = memoryview(buffer).cast("B")[offset:]
    if count < 0 and len(flat) % kind.itemsize:
        raise ValueError(f"buffer length ({len(flat)} bytes) after offset must be a multiple of element size ({kind.itemsize})")
    count = len(flat) // kind.itemsize if count < 0 else count
    if count * kind.itemsize > len(flat):
        raise ValueError(f"requested buffer length ({count * kind.itemsize} bytes) after offset must not be greater than {len(flat)}")
    cast = getattr(flat[: count * kind.itemsize], "cast")
    part = cast(code)
    try:
        import numpy
    except ImportError:
        made = _rs.tensor(part.tolist(), dtype=dtype)
    else:
        made = _rs.from_numpy(numpy.asarray(part))
    return made.requires_grad_() if requires_grad else made


def get_autocast_gpu_dtype() -> dtype:
    """`get_autocast_dtype("cuda")`.

    >>> mg.get_autocast_gpu_dtype()
    micrograd_rs.float16
    """
    return _rs.get_autocast_dtype("cuda")


def get_autocast_cpu_dtype() -> dtype:
    """`get_autocast_dtype("cpu")`.

    >>> mg.get_autocast_cpu_dtype()
    micrograd_rs.bfloat16
    """
    return _rs.get_autocast_dtype("cpu")


def set_autocast_gpu_dtype(dtype: dtype) -> None:
    """`set_autocast_dtype("cuda", dtype)`.

    Arguments:
        dtype: the half type that operations on CUDA compute in, within `autocast`

    >>> mg.set_autocast_gpu_dtype(mg.float16)
    """
    _rs.set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """`set_autocast_dtype("cpu", dtype)`.

    Arguments:
        dtype: the half type that operations on the host compute in, within `autocast`

    >>> mg.set_autocast_cpu_dtype(mg.bfloat16)
    """
    _rs.set_autocast_dtype("cpu", dtype)


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`.

    >>> with mg.autocast("cpu"):
    ...     mg.is_autocast_cpu_enabled()
    True
    """
    return _rs.is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`.

    Arguments:
        enabled: whether operations on the host compute in a half type

    >>> mg.set_autocast_cpu_enabled(False)
    """
    _rs.set_autocast_enabled("cpu", enabled)


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms`, by a word or a number: "default" (0), "warn" (1), "error" (2).

    Arguments:
        debug_mode: the word or the number

    >>> mg.set_deterministic_debug_mode("error")
    >>> mg.get_deterministic_debug_mode()
    2
    >>> mg.set_deterministic_debug_mode("default")
    """
    modes: dict[Any, int] = {"default": 0, "warn": 1, "error": 2, 0: 0, 1: 1, 2: 2}
    if debug_mode not in modes:
        raise RuntimeError(f'set_deterministic_debug_mode: takes "default", "warn", "error", 0, 1 or 2, got {debug_mode!r}')
    use_deterministic_algorithms(modes[debug_mode] > 0, warn_only=modes[debug_mode] == 1)


def get_deterministic_debug_mode() -> int:
    """0 where results need not be the same each time, which they are anyway, 1 or 2 where `use_deterministic_algorithms` said so.

    See `set_deterministic_debug_mode`.
    """
    return 0 if not _deterministic[0] else 1 if _deterministic[1] else 2


_always_warns = [False]


def set_warn_always(b: bool) -> None:
    """Whether what PyTorch warns of once is warned of each time: nothing is, of what is here.

    Arguments:
        b: whether each time

    >>> mg.set_warn_always(True)
    >>> mg.is_warn_always_enabled()
    True
    >>> mg.set_warn_always(False)
    """
    _always_warns[0] = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` said last.

    See `set_warn_always`.
    """
    return _always_warns[0]


def get_device_module(device: Any = None) -> Any:
    """The module of a device: `cpu` or `cuda`.

    Arguments:
        device: a device, such as "cpu" or "cuda:0"; None is the current accelerator, or the processor where there is none

    Errors: RuntimeError for another device.

    >>> mg.get_device_module("cpu").__name__
    'micrograd_rs.cpu'
    """
    from importlib import import_module

    kind = ("cuda" if _rs.Device.is_cuda_available() else "cpu") if device is None else str(device).split(":")[0]
    if kind not in ("cpu", "cuda"):
        raise RuntimeError(f"get_device_module: there are the devices cpu and cuda, got {device!r}")
    return import_module(f"micrograd_rs.{kind}")


def _assert(condition: Any, message: str) -> None:  # pyright: ignore[reportUnusedFunction]
    """`assert condition, message`."""
    assert condition, message
