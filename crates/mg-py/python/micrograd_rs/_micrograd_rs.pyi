# Written by tools/stubs.py from tools/_micrograd_rs.pyi.in and the op table: change those.
import builtins
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, NoReturn, ParamSpec, Protocol, SupportsFloat, TypeAlias, TypeVar, overload, type_check_only

from typing_extensions import Buffer, Self

from ._absent import AbsentDtype
from ._size import Extreme, Size
from .storage import TypedStorage, UntypedStorage

_float: TypeAlias = builtins.float
_int: TypeAlias = builtins.int
_bool: TypeAlias = builtins.bool

@type_check_only
class _HasArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> Any: ...

# NumPy's arrays and scalars have the interface; NumPy itself is not needed.
_Operand: TypeAlias = Tensor | _float | _HasArrayInterface
_DType: TypeAlias = dtype | str | type[Any] | Any
_Device: TypeAlias = Device | str
_Sizes: TypeAlias = _int | Sequence[_int]
_Dims: TypeAlias = _int | Sequence[_int]
_Format: TypeAlias = memory_format
_Layout: TypeAlias = layout
_Path: TypeAlias = str | os.PathLike[str]

_P = ParamSpec("_P")
_R = TypeVar("_R")

__version__: str

class ArgumentError(ValueError, RuntimeError):
    """Shapes or numbers that an operation does not take: a ValueError, and the RuntimeError that PyTorch raises."""

class EmptyError(ArgumentError, IndexError):
    """No elements, of which one is asked for (the largest, the median): an ArgumentError, and the IndexError that PyTorch raises along an axis."""

class DTypeError(TypeError, RuntimeError):
    """Dtypes that an operation does not take: a TypeError, and the RuntimeError that PyTorch raises."""

class LinAlgError(RuntimeError):
    """A matrix that cannot be factorised, inverted or solved with."""

class dtype:
    """The type of a tensor's elements. Compares equal to its names."""

    def __new__(cls, name: _DType) -> Self: ...
    @property
    def name(self) -> str:
        """The name that PyTorch and NumPy use: "float32"."""
    @property
    def short_name(self) -> str:
        """The short name: "f32"."""
    @property
    def itemsize(self) -> _int:
        """Bytes an element takes."""
    @property
    def is_complex(self) -> Literal[False]:
        """Whether it is a type of complex numbers: none is."""
    @property
    def is_floating_point(self) -> _bool:
        """Whether it is a floating-point type."""
    @property
    def is_signed(self) -> _bool:
        """Whether it holds numbers below zero."""
    def to_real(self) -> _DTypeClass:
        """The dtype of its real parts: itself."""
    def to_complex(self) -> AbsentDtype:
        """The name of the dtype of complex numbers of such parts, of which there are no tensors: `complex64` of float32. RuntimeError where there is none."""
    @property
    def dtype(self) -> Any:
        """NumPy's dtype of it, by which NumPy takes it for one: `numpy.zeros(2, dtype=float32)`."""
    @property
    def _names(self) -> list[str]: ...
    @property
    def _kind(self) -> str: ...
    @property
    def _exponent_bits(self) -> _int: ...
    @property
    def _legacy(self) -> str | None: ...
    @property
    def _code(self) -> Any: ...
    @property
    def _numpy(self) -> str | None: ...
    def __eq__(self, other: object, /) -> _bool: ...
    def __ne__(self, other: object, /) -> _bool: ...
    def __hash__(self) -> _int: ...

# Members of the same name would hide it.
_DTypeClass: TypeAlias = dtype

float64: dtype
float32: dtype
float16: dtype
bfloat16: dtype
int64: dtype
int32: dtype
int16: dtype
int8: dtype
uint64: dtype
uint32: dtype
uint16: dtype
uint8: dtype
bool: dtype
_DTYPES: tuple[dtype, ...]

class memory_format:
    """The order of elements in memory that a program asks for: taken, and without effect."""

    contiguous_format: ClassVar[memory_format]
    preserve_format: ClassVar[memory_format]
    channels_last: ClassVar[memory_format]
    channels_last_3d: ClassVar[memory_format]
    def __eq__(self, other: object, /) -> _bool: ...
    def __ne__(self, other: object, /) -> _bool: ...
    def __hash__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __reduce__(self) -> Any: ...

contiguous_format: memory_format
preserve_format: memory_format
channels_last: memory_format
channels_last_3d: memory_format

class layout:
    """How a tensor is stored: by strides."""

    strided: ClassVar[layout]
    def __eq__(self, other: object, /) -> _bool: ...
    def __ne__(self, other: object, /) -> _bool: ...
    def __hash__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __reduce__(self) -> Any: ...

strided: layout

class Device:
    """The host's processor ("cpu") or a CUDA device ("cuda:0"). Compares equal to its name."""

    def __new__(cls, device: str | _int | Device | None = None, index: _int | None = None, *, type: str | None = None) -> Self: ...
    @staticmethod
    def cpu() -> Device:
        """The host."""
    @staticmethod
    def cuda(ordinal: _int = 0) -> Device:
        """A CUDA device. RuntimeError that says why, where it is not there."""
    @staticmethod
    def is_cuda_available() -> _bool:
        """Whether there is a CUDA device to use."""
    @staticmethod
    def cuda_count() -> _int:
        """The number of CUDA devices."""
    def is_cpu(self) -> _bool:
        """Whether it is the host."""
    def is_cuda(self) -> _bool:
        """Whether it is a CUDA device."""
    @property
    def type(self) -> str:
        """"cpu" or "cuda"."""
    @property
    def index(self) -> _int | None:
        """The number among devices of its kind; None for the CPU."""
    @property
    def name(self) -> str:
        """The product's name."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_error: object) -> None: ...
    def synchronize(self) -> None:
        """Waits until all work on the device is done, and tells what it failed with."""
    def total_memory(self) -> _int | None:
        """The device's own memory in bytes; None for the CPU."""
    def compute_capability(self) -> tuple[_int, _int] | None:
        """The compute capability, major and minor; None for the CPU."""
    def memory_stats(self) -> dict[str, _int]:
        """What the allocator holds, in bytes: active, cached, peak; and how often it handed out memory, and from its cache."""
    def reset_peak(self) -> None:
        """Sets the peak of `memory_stats` to what is in use now."""
    def set_memory_limit(self, limit: _int | None) -> None:
        """Sets the most bytes that tensors and cache together may take; None for no limit."""
    def empty_cache(self) -> None:
        """Gives the memory that is cached for reuse back to the system."""
    def __eq__(self, other: object, /) -> _bool: ...
    def __ne__(self, other: object, /) -> _bool: ...
    def __hash__(self) -> _int: ...

class Tensor:
    """A tensor: N-dimensional, of one dtype, on one device, computed when its value is needed."""

    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
    def to_device(self, device: _Device, /, *, stream: None = None) -> Tensor:
        """The same values on another device: `to`, by the standard's name. There is one stream a device, and `stream` is to be `None`."""
    __array_priority__: _int
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    @overload
    def __new__(cls, size: _int, /, *sizes: _int) -> Self: ...
    @overload
    def __new__(
        cls,
        data: Any,
        shape: _Sizes | None = None,
        device: _Device | None = None,
        dtype: _DType | None = None,
        requires_grad: _bool | None = None,
    ) -> Self: ...

    # What it is.
    @property
    def shape(self) -> Size:
        """The sizes of the axes: a tuple that also compares equal to lists."""
    @overload
    def size(self, dim: None = None) -> Size:
        """The sizes of the axes, or of one."""
    @overload
    def size(self, dim: _int) -> _int:
        """The sizes of the axes, or of one."""
    @property
    def ndim(self) -> _int:
        """The number of axes."""
    def dim(self) -> _int:
        """The number of axes."""
    def numel(self) -> _int:
        """The number of elements."""
    def nelement(self) -> _int:
        """The number of elements."""
    @property
    def itemsize(self) -> _int:
        """Bytes an element takes."""
    def element_size(self) -> _int:
        """Bytes an element takes."""
    @property
    def nbytes(self) -> _int:
        """Bytes that all elements take."""
    @property
    def strides(self) -> Size:
        """The distance between neighbours along each axis in memory, in elements."""
    @overload
    def stride(self, dim: None = None) -> Size:
        """The distance between neighbours along each axis in memory, in elements, or along one axis."""
    @overload
    def stride(self, dim: _int) -> _int:
        """The distance between neighbours along each axis in memory, in elements, or along one axis."""
    def storage_offset(self) -> _int:
        """Where the first element lies in its memory, in elements."""
    def data_ptr(self) -> _int:
        """The address of the first element; the others lie from there as `stride()` says."""
    def is_contiguous(self, memory_format: _Format | None = None) -> _bool:
        """Whether the elements lie in memory in row-major order without gaps; with `channels_last` whether they do with the axis of
        channels, the second one, taken as the last.
        """
    def contiguous(self, memory_format: _Format | None = None) -> Tensor:
        """The elements in memory of their own in row-major order; the tensor itself where they are already. (Also where another order is
        asked for: kernels here need none.)
        """
    @property
    def dtype(self) -> _DTypeClass:
        """The dtype."""
    @property
    def device(self) -> Device:
        """The device."""
    @property
    def is_cuda(self) -> _bool:
        """Whether it is on a CUDA device."""
    @property
    def is_cpu(self) -> _bool:
        """Whether it is on the host."""
    def is_floating_point(self) -> _bool:
        """Whether the elements are floating-point numbers."""
    def new_tensor(
        self,
        data: Any,
        *,
        dtype: _DType | None = None,
        device: _Device | None = None,
        requires_grad: _bool = False,
        layout: _Layout | None = None,
        pin_memory: _bool | None = None,
    ) -> Tensor:
        """A tensor of data, copied, in this tensor's dtype and on its device unless others are named."""
    @property
    def is_sparse(self) -> _bool:
        """Whether only some elements are kept: never."""
    @property
    def is_sparse_csr(self) -> _bool:
        """Whether it is stored by compressed rows: never."""
    @property
    def is_quantized(self) -> _bool:
        """Whether the elements are quantised: never."""
    @property
    def is_meta(self) -> _bool:
        """Whether it has a shape and no elements: never."""
    @property
    def is_mps(self) -> _bool:
        """Whether it is on a device of Apple's: never."""
    @property
    def is_xpu(self) -> _bool:
        """Whether it is on a device of Intel's: never."""
    @property
    def is_xla(self) -> _bool:
        """Whether it is on a device by XLA: never."""
    @property
    def is_mkldnn(self) -> _bool:
        """Whether it is in the layout of oneDNN: never."""
    @property
    def is_nested(self) -> _bool:
        """Whether it is made of tensors of unlike sizes: never."""
    @property
    def layout(self) -> _Layout:
        """How it is stored: by strides."""
    @property
    def real(self) -> Tensor:
        """The tensor itself: its numbers are real."""
    @property
    def H(self) -> Tensor:
        """The last two axes exchanged, of a matrix."""
    @property
    def mH(self) -> Tensor:
        """The last two axes exchanged."""
    @property
    def output_nr(self) -> _int:
        """Which result of the operation that made it it is: gradients are told apart by other means here, so always 0."""
    def ndimension(self) -> _int:
        """The number of axes."""
    def is_complex(self) -> _bool:
        """Whether the elements are complex numbers: never."""
    def is_conj(self) -> _bool:
        """Whether it is to be conjugated when it is read: never."""
    def is_neg(self) -> _bool:
        """Whether it is to be negated when it is read: never."""
    def is_inference(self) -> _bool:
        """Whether it was made in `inference_mode`; no tensor is less than others for that here."""
    def is_signed(self) -> _bool:
        """Whether its dtype has negative numbers."""
    def is_nonzero(self) -> _bool:
        """Whether its only element is not 0."""
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether another tensor has the same shape."""
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Whether another tensor is the same part of the same memory."""
    def pin_memory(self, device: _Device | None = None) -> Tensor:
        """The tensor itself: copies to a device need no pinned memory here."""
    def is_pinned(self, device: _Device | None = None) -> _bool:
        """Whether its memory is pinned: never."""
    def type_as(self, other: Tensor) -> Tensor:
        """In the dtype, and on the device, of another tensor."""
    def dim_order(self) -> tuple[_int, ...]:
        """The axes from the one with the largest stride on: the order in which elements lie in memory."""
    def detach_(self) -> Self:
        """Cuts it off from what computed it, in place: it is a constant from now on."""
    def new(self, *args: Any) -> Tensor:
        """A tensor in the same dtype and on the same device, of data, or of zeros in a shape."""
    def polygamma(self, n: _int) -> Tensor:
        """The `n`-th derivative of the digamma function."""
    def record_stream(self, stream: Any) -> None:
        """Says that a stream uses it: its memory is given back in the order of its device's work anyway."""
    @property
    def is_realized(self) -> _bool:
        """Whether the value is computed already."""
    @property
    def _version(self) -> _int: ...
    @property
    def _base(self) -> Tensor | None: ...
    def _is_view(self) -> _bool: ...
    def _memory(self) -> tuple[_int, _int, Tensor | None]: ...
    def is_shared(self) -> _bool:
        """Whether other processes see its memory: never."""
    def share_memory_(self) -> NoReturn:
        """RuntimeError: processes share no memory."""
    def storage(self) -> TypedStorage:
        """The memory that it lies in, as elements."""
    def untyped_storage(self) -> UntypedStorage:
        """The memory that it lies in, as bytes."""
    def realize(self) -> Self:
        """Computes the value now."""

    # Gradients.
    @property
    def requires_grad(self) -> _bool:
        """Whether gradients flow to it. Can be set on leaves."""
    @requires_grad.setter
    def requires_grad(self, on: _bool) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> Self:
        """Makes it a leaf whose gradient is kept, or a constant."""
    @property
    def is_leaf(self) -> _bool:
        """Whether it is where gradients end: made by the user rather than by operations on what requires a gradient."""
    @property
    def grad_fn(self) -> GradNode | None:
        """The operation that computed it, where it requires a gradient; None for leaves and constants."""
    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` left, or None. Can be set and deleted."""
    @grad.setter
    def grad(self, grad: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    @property
    def data(self) -> Tensor:
        """The same memory without history. Setting it makes the tensor stand for the memory of another one, with its shape, dtype
        and device.
        """
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def detach(self) -> Tensor:
        """Another tensor on the same memory, cut off from what computed it: no gradient flows through it, and what is written to
        either is seen by the other.
        """
    def zero_grad(self) -> None:
        """Removes the gradient."""
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Adds the gradient of this tensor to the `grad` of every leaf that it depends on, or of `inputs` alone."""
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Calls `hook` with the gradient of this tensor each time it is computed; a tensor that it answers with takes the gradient's
        place. Of the result of an operation, it is the gradient of the value that the tensor has now. `remove()` of the answer takes
        the hook away.
        """
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], object]) -> RemovableHandle:
        """Calls `hook` with this tensor, a leaf, each time `backward` has added to its gradient. `remove()` of the answer takes the hook
        away.
        """
    def retain_grad(self) -> None:
        """Keeps the gradient of this tensor in `grad` though it is the result of an operation."""
    @property
    def retains_grad(self) -> _bool:
        """Whether it is the result of an operation whose gradient is kept."""

    # What Python gets of it.
    def item(self) -> Any:
        """The only element as Python's number."""
    def tolist(self) -> Any:
        """The elements as nested lists; a number for a tensor without axes."""
    def numpy(self, *, force: _bool = False) -> Any:
        """A NumPy array that shares the tensor's memory; read-only where the tensor requires a gradient. With `force`, as `t.detach().cpu().numpy()`."""
    def __array__(self, dtype: Any = None, copy: _bool | None = None) -> Any: ...
    def __buffer__(self, flags: _int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[_int, _int] | None = None,
        dl_device: tuple[_int, _int] | None = None,
        copy: _bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[_int, _int]: ...
    def __float__(self) -> _float: ...
    def __int__(self) -> _int: ...
    def __index__(self) -> _int: ...
    def __bool__(self) -> _bool: ...
    def __round__(self, ndigits: _int | None = None) -> Any: ...
    def __format__(self, spec: str, /) -> str: ...
    def __len__(self) -> _int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __reversed__(self) -> Iterator[Tensor]: ...
    def __contains__(self, value: Any, /) -> _bool: ...
    def __hash__(self) -> _int: ...
    def __deepcopy__(self, memo: dict[Any, Any], /) -> Tensor: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, attributes: dict[str, Any], /) -> None: ...
    def __getitem__(self, index: Any, /) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def _repr_html_(self) -> str: ...

    # Operators.
    def __add__(self, other: _Operand, /) -> Tensor: ...
    def __radd__(self, other: _Operand, /) -> Tensor: ...
    def __iadd__(self, other: _Operand, /) -> Self: ...
    def __sub__(self, other: _Operand, /) -> Tensor: ...
    def __rsub__(self, other: _Operand, /) -> Tensor: ...
    def __isub__(self, other: _Operand, /) -> Self: ...
    def __mul__(self, other: _Operand, /) -> Tensor: ...
    def __rmul__(self, other: _Operand, /) -> Tensor: ...
    def __imul__(self, other: _Operand, /) -> Self: ...
    def __truediv__(self, other: _Operand, /) -> Tensor: ...
    def __rtruediv__(self, other: _Operand, /) -> Tensor: ...
    def __itruediv__(self, other: _Operand, /) -> Self: ...
    def __pow__(self, other: _Operand, modulo: None = None, /) -> Tensor: ...
    def __rpow__(self, other: _Operand, modulo: None = None, /) -> Tensor: ...
    def __ipow__(self, other: _Operand, modulo: None = None, /) -> Self: ...
    def __matmul__(self, other: _Operand, /) -> Tensor: ...
    def __rmatmul__(self, other: _Operand, /) -> Tensor: ...
    def __floordiv__(self, other: _Operand, /) -> Tensor: ...
    def __rfloordiv__(self, other: _Operand, /) -> Tensor: ...
    def __ifloordiv__(self, other: _Operand, /) -> Self: ...
    def __mod__(self, other: _Operand, /) -> Tensor: ...
    def __rmod__(self, other: _Operand, /) -> Tensor: ...
    def __imod__(self, other: _Operand, /) -> Self: ...
    def __lshift__(self, other: _Operand, /) -> Tensor: ...
    def __rlshift__(self, other: _Operand, /) -> Tensor: ...
    def __ilshift__(self, other: _Operand, /) -> Self: ...
    def __rshift__(self, other: _Operand, /) -> Tensor: ...
    def __rrshift__(self, other: _Operand, /) -> Tensor: ...
    def __irshift__(self, other: _Operand, /) -> Self: ...
    def __and__(self, other: _Operand, /) -> Tensor: ...
    def __rand__(self, other: _Operand, /) -> Tensor: ...
    def __iand__(self, other: _Operand, /) -> Self: ...
    def __or__(self, other: _Operand, /) -> Tensor: ...
    def __ror__(self, other: _Operand, /) -> Tensor: ...
    def __ior__(self, other: _Operand, /) -> Self: ...
    def __xor__(self, other: _Operand, /) -> Tensor: ...
    def __rxor__(self, other: _Operand, /) -> Tensor: ...
    def __ixor__(self, other: _Operand, /) -> Self: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __lt__(self, other: _Operand, /) -> Tensor: ...
    def __le__(self, other: _Operand, /) -> Tensor: ...
    def __gt__(self, other: _Operand, /) -> Tensor: ...
    def __ge__(self, other: _Operand, /) -> Tensor: ...
    # Elementwise, unlike object's.
    @overload
    def __eq__(self, other: _Operand, /) -> Tensor: ...
    @overload
    def __eq__(self, other: object, /) -> Any: ...
    @overload
    def __ne__(self, other: _Operand, /) -> Tensor: ...
    @overload
    def __ne__(self, other: object, /) -> Any: ...
    def zero_(self) -> Self:
        """Sets every element to 0."""
    def fill_(self, value: _Operand) -> Self:
        """Sets every element to a number."""
    def copy_(self, src: _Operand, non_blocking: _bool = False) -> Self:
        """Sets the elements to those of another tensor, which is broadcast and converted, and may be on another device."""

    # Operations that are declared in the engine.
    def add(self, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
        """`a + b`."""
    def add_(self, other: _Operand, *, alpha: _Operand = 1) -> Self:
        """`add`, written into the tensor, which is answered."""
    def sub(self, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
        """`a − b`."""
    def subtract(self, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
        """`a − b`."""
    def sub_(self, other: _Operand, *, alpha: _Operand = 1) -> Self:
        """`sub`, written into the tensor, which is answered."""
    def subtract_(self, other: _Operand, *, alpha: _Operand = 1) -> Self:
        """`sub`, written into the tensor, which is answered."""
    def mul(self, other: _Operand) -> Tensor:
        """`a · b`."""
    def multiply(self, other: _Operand) -> Tensor:
        """`a · b`."""
    def mul_(self, other: _Operand) -> Self:
        """`mul`, written into the tensor, which is answered."""
    def multiply_(self, other: _Operand) -> Self:
        """`mul`, written into the tensor, which is answered."""
    def div(self, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division."""
    def divide(self, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division."""
    def true_divide(self, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division."""
    def div_(self, other: _Operand, *, rounding_mode: str | None = None) -> Self:
        """`div`, written into the tensor, which is answered."""
    def divide_(self, other: _Operand, *, rounding_mode: str | None = None) -> Self:
        """`div`, written into the tensor, which is answered."""
    def true_divide_(self, other: _Operand, *, rounding_mode: str | None = None) -> Self:
        """`div`, written into the tensor, which is answered."""
    def maximum(self, other: _Operand) -> Tensor:
        """The larger of `a` and `b`; NaN if either is."""
    def maximum_(self, other: _Operand) -> Self:
        """`maximum`, written into the tensor, which is answered."""
    def minimum(self, other: _Operand) -> Tensor:
        """The smaller of `a` and `b`; NaN if either is."""
    def minimum_(self, other: _Operand) -> Self:
        """`minimum`, written into the tensor, which is answered."""
    def neg(self) -> Tensor:
        """`−a`."""
    def negative(self) -> Tensor:
        """`−a`."""
    def neg_(self) -> Self:
        """`neg`, written into the tensor, which is answered."""
    def negative_(self) -> Self:
        """`neg`, written into the tensor, which is answered."""
    def abs(self) -> Tensor:
        """`|a|`."""
    def absolute(self) -> Tensor:
        """`|a|`."""
    def abs_(self) -> Self:
        """`abs`, written into the tensor, which is answered."""
    def absolute_(self) -> Self:
        """`abs`, written into the tensor, which is answered."""
    def sign(self) -> Tensor:
        """−1, 0 or 1 with the sign of `a`; 0 of NaN."""
    def sgn(self) -> Tensor:
        """−1, 0 or 1 with the sign of `a`; 0 of NaN."""
    def sign_(self) -> Self:
        """`sign`, written into the tensor, which is answered."""
    def sgn_(self) -> Self:
        """`sign`, written into the tensor, which is answered."""
    def square(self) -> Tensor:
        """`a · a`."""
    def square_(self) -> Self:
        """`square`, written into the tensor, which is answered."""
    def relu(self) -> Tensor:
        """`max(a, 0)`; NaN stays."""
    def relu_(self) -> Self:
        """`relu`, written into the tensor, which is answered."""
    def exp(self) -> Tensor:
        """`eᵃ`."""
    def exp_(self) -> Self:
        """`exp`, written into the tensor, which is answered."""
    def log(self) -> Tensor:
        """The natural logarithm."""
    def log_(self) -> Self:
        """`log`, written into the tensor, which is answered."""
    def sqrt(self) -> Tensor:
        """The correctly rounded square root."""
    def sqrt_(self) -> Self:
        """`sqrt`, written into the tensor, which is answered."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""
    def tanh_(self) -> Self:
        """`tanh`, written into the tensor, which is answered."""
    def sigmoid(self) -> Tensor:
        """`1 / (1 + e⁻ᵃ)`."""
    def sigmoid_(self) -> Self:
        """`sigmoid`, written into the tensor, which is answered."""
    def sin(self) -> Tensor:
        """The sine, of radians."""
    def sin_(self) -> Self:
        """`sin`, written into the tensor, which is answered."""
    def cos(self) -> Tensor:
        """The cosine, of radians."""
    def cos_(self) -> Self:
        """`cos`, written into the tensor, which is answered."""
    def erf(self) -> Tensor:
        """The error function."""
    def erf_(self) -> Self:
        """`erf`, written into the tensor, which is answered."""
    def expm1(self) -> Tensor:
        """`eᵃ − 1`, which keeps its digits where `a` is small."""
    def expm1_(self) -> Self:
        """`expm1`, written into the tensor, which is answered."""
    def log1p(self) -> Tensor:
        """`log(1 + a)`, which keeps its digits where `a` is small."""
    def log1p_(self) -> Self:
        """`log1p`, written into the tensor, which is answered."""
    def exp2(self) -> Tensor:
        """`2ᵃ`."""
    def exp2_(self) -> Self:
        """`exp2`, written into the tensor, which is answered."""
    def log2(self) -> Tensor:
        """The logarithm of base 2."""
    def log2_(self) -> Self:
        """`log2`, written into the tensor, which is answered."""
    def log10(self) -> Tensor:
        """The logarithm of base 10."""
    def log10_(self) -> Self:
        """`log10`, written into the tensor, which is answered."""
    def tan(self) -> Tensor:
        """The tangent, of radians."""
    def tan_(self) -> Self:
        """`tan`, written into the tensor, which is answered."""
    def asin(self) -> Tensor:
        """The angle of a sine, from −π/2 to π/2."""
    def arcsin(self) -> Tensor:
        """The angle of a sine, from −π/2 to π/2."""
    def asin_(self) -> Self:
        """`asin`, written into the tensor, which is answered."""
    def arcsin_(self) -> Self:
        """`asin`, written into the tensor, which is answered."""
    def acos(self) -> Tensor:
        """The angle of a cosine, from 0 to π."""
    def arccos(self) -> Tensor:
        """The angle of a cosine, from 0 to π."""
    def acos_(self) -> Self:
        """`acos`, written into the tensor, which is answered."""
    def arccos_(self) -> Self:
        """`acos`, written into the tensor, which is answered."""
    def atan(self) -> Tensor:
        """The angle of a tangent, from −π/2 to π/2."""
    def arctan(self) -> Tensor:
        """The angle of a tangent, from −π/2 to π/2."""
    def atan_(self) -> Self:
        """`atan`, written into the tensor, which is answered."""
    def arctan_(self) -> Self:
        """`atan`, written into the tensor, which is answered."""
    def atan2(self, other: _Operand) -> Tensor:
        """The angle of the point with the coordinates `b` and `a`, from −π to π."""
    def arctan2(self, other: _Operand) -> Tensor:
        """The angle of the point with the coordinates `b` and `a`, from −π to π."""
    def atan2_(self, other: _Operand) -> Self:
        """`atan2`, written into the tensor, which is answered."""
    def arctan2_(self, other: _Operand) -> Self:
        """`atan2`, written into the tensor, which is answered."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine."""
    def sinh_(self) -> Self:
        """`sinh`, written into the tensor, which is answered."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine."""
    def cosh_(self) -> Self:
        """`cosh`, written into the tensor, which is answered."""
    def asinh(self) -> Tensor:
        """The inverse of the hyperbolic sine."""
    def arcsinh(self) -> Tensor:
        """The inverse of the hyperbolic sine."""
    def asinh_(self) -> Self:
        """`asinh`, written into the tensor, which is answered."""
    def arcsinh_(self) -> Self:
        """`asinh`, written into the tensor, which is answered."""
    def acosh(self) -> Tensor:
        """The inverse of the hyperbolic cosine; NaN below 1."""
    def arccosh(self) -> Tensor:
        """The inverse of the hyperbolic cosine; NaN below 1."""
    def acosh_(self) -> Self:
        """`acosh`, written into the tensor, which is answered."""
    def arccosh_(self) -> Self:
        """`acosh`, written into the tensor, which is answered."""
    def atanh(self) -> Tensor:
        """The inverse of the hyperbolic tangent; NaN beyond 1."""
    def arctanh(self) -> Tensor:
        """The inverse of the hyperbolic tangent; NaN beyond 1."""
    def atanh_(self) -> Self:
        """`atanh`, written into the tensor, which is answered."""
    def arctanh_(self) -> Self:
        """`atanh`, written into the tensor, which is answered."""
    def erfc(self) -> Tensor:
        """`1 − erf a`, which keeps its digits where that is small."""
    def erfc_(self) -> Self:
        """`erfc`, written into the tensor, which is answered."""
    def erfinv(self) -> Tensor:
        """The inverse of the error function; NaN beyond 1."""
    def erfinv_(self) -> Self:
        """`erfinv`, written into the tensor, which is answered."""
    def lgamma(self) -> Tensor:
        """The logarithm of the magnitude of the gamma function."""
    def lgamma_(self) -> Self:
        """`lgamma`, written into the tensor, which is answered."""
    def digamma(self) -> Tensor:
        """The derivative of `lgamma`."""
    def digamma_(self) -> Self:
        """`digamma`, written into the tensor, which is answered."""
    def copysign(self, other: _Operand) -> Tensor:
        """`|a|` with the sign of `b`, zeros and NaN included."""
    def copysign_(self, other: _Operand) -> Self:
        """`copysign`, written into the tensor, which is answered."""
    def floor(self) -> Tensor:
        """The largest whole number that is no larger. Integers stay."""
    def floor_(self) -> Self:
        """`floor`, written into the tensor, which is answered."""
    def ceil(self) -> Tensor:
        """The smallest whole number that is no smaller. Integers stay."""
    def ceil_(self) -> Self:
        """`ceil`, written into the tensor, which is answered."""
    def round(self, *, decimals: _int = 0) -> Tensor:
        """The nearest whole number, of two the even one. Integers stay."""
    def round_(self, *, decimals: _int = 0) -> Self:
        """`round`, written into the tensor, which is answered."""
    def trunc(self) -> Tensor:
        """The whole number next towards zero. Integers stay."""
    def fix(self) -> Tensor:
        """The whole number next towards zero. Integers stay."""
    def trunc_(self) -> Self:
        """`trunc`, written into the tensor, which is answered."""
    def fix_(self) -> Self:
        """`trunc`, written into the tensor, which is answered."""
    def fmod(self, other: _Operand) -> Tensor:
        """The remainder of `a / b` with the sign of `a`, exact: C's `fmod`. Of integers an integer."""
    def fmod_(self, other: _Operand) -> Self:
        """`fmod`, written into the tensor, which is answered."""
    def bitwise_and(self, other: _Operand) -> Tensor:
        """The bits that are set in both integers; of truth values, `logical_and`."""
    def bitwise_and_(self, other: _Operand) -> Self:
        """`bitwise_and`, written into the tensor, which is answered."""
    def bitwise_or(self, other: _Operand) -> Tensor:
        """The bits that are set in either integer; of truth values, `logical_or`."""
    def bitwise_or_(self, other: _Operand) -> Self:
        """`bitwise_or`, written into the tensor, which is answered."""
    def bitwise_xor(self, other: _Operand) -> Tensor:
        """The bits that are set in one of two integers; of truth values, `logical_xor`."""
    def bitwise_xor_(self, other: _Operand) -> Self:
        """`bitwise_xor`, written into the tensor, which is answered."""
    def bitwise_left_shift(self, other: _Operand) -> Tensor:
        """The bits of an integer moved up by `b`; 0 where `b` is negative or not smaller than the number of bits."""
    def bitwise_left_shift_(self, other: _Operand) -> Self:
        """`bitwise_left_shift`, written into the tensor, which is answered."""
    def bitwise_right_shift(self, other: _Operand) -> Tensor:
        """The bits of an integer moved down by `b`, its sign kept; the sign alone where `b` is negative or not smaller than
         the number of bits.
        """
    def bitwise_right_shift_(self, other: _Operand) -> Self:
        """`bitwise_right_shift`, written into the tensor, which is answered."""
    def lt(self, other: _Operand) -> Tensor:
        """`a < b`."""
    def less(self, other: _Operand) -> Tensor:
        """`a < b`."""
    def lt_(self, other: _Operand) -> Self:
        """`lt`, written into the tensor, which is answered."""
    def less_(self, other: _Operand) -> Self:
        """`lt`, written into the tensor, which is answered."""
    def le(self, other: _Operand) -> Tensor:
        """`a ≤ b`."""
    def less_equal(self, other: _Operand) -> Tensor:
        """`a ≤ b`."""
    def le_(self, other: _Operand) -> Self:
        """`le`, written into the tensor, which is answered."""
    def less_equal_(self, other: _Operand) -> Self:
        """`le`, written into the tensor, which is answered."""
    def eq(self, other: _Operand) -> Tensor:
        """`a = b`."""
    def eq_(self, other: _Operand) -> Self:
        """`eq`, written into the tensor, which is answered."""
    def ne(self, other: _Operand) -> Tensor:
        """`a ≠ b`; true when either is NaN."""
    def not_equal(self, other: _Operand) -> Tensor:
        """`a ≠ b`; true when either is NaN."""
    def ne_(self, other: _Operand) -> Self:
        """`ne`, written into the tensor, which is answered."""
    def not_equal_(self, other: _Operand) -> Self:
        """`ne`, written into the tensor, which is answered."""
    def logical_and(self, other: _Operand) -> Tensor:
        """`a` and `b`."""
    def logical_and_(self, other: _Operand) -> Self:
        """`logical_and`, written into the tensor, which is answered."""
    def logical_or(self, other: _Operand) -> Tensor:
        """`a` or `b`."""
    def logical_or_(self, other: _Operand) -> Self:
        """`logical_or`, written into the tensor, which is answered."""
    def logical_xor(self, other: _Operand) -> Tensor:
        """`a` or `b`, not both."""
    def logical_xor_(self, other: _Operand) -> Self:
        """`logical_xor`, written into the tensor, which is answered."""
    def logical_not(self) -> Tensor:
        """Not `a`."""
    def logical_not_(self) -> Self:
        """`logical_not`, written into the tensor, which is answered."""
    def gelu(self, approximate: str = "none") -> Tensor:
        """Gaussian error linear unit, `x Φ(x)` (Hendrycks and Gimpel, 2016): by the error function or, with
        `approximate = "tanh"`, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`. Integers become the default float.

        # Errors

        Another word than `"none"` and `"tanh"`.
        """
    def silu(self) -> Tensor:
        """Sigmoid linear unit, `x σ(x)`. Integers become the default float."""
    def silu_(self) -> Self:
        """`silu`, written into the tensor, which is answered."""
    def leaky_relu(self, negative_slope: _float = 0.01) -> Tensor:
        """`x`, or `negative_slope · x` where `x` is not positive. Integers become the default float."""
    def leaky_relu_(self, negative_slope: _float = 0.01) -> Self:
        """`leaky_relu`, written into the tensor, which is answered."""
    def celu_(self, alpha: _float = 1.0) -> Self:
        """`celu`, written into the tensor, which is answered."""
    def elu_(self, alpha: _float = 1.0) -> Self:
        """`elu`, written into the tensor, which is answered."""
    def selu_(self) -> Self:
        """`selu`, written into the tensor, which is answered."""
    def softplus(self, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
        """`log(1 + exp(beta · x)) / beta`, without overflow, and `x` where `beta · x` is above `threshold`. From a threshold of 20
        on that changes nothing that f32 could tell, and what is more exact is computed. Integers become the default float.
        """
    def softplus_(self, beta: _float = 1.0, threshold: _float = 20.0) -> Self:
        """`softplus`, written into the tensor, which is answered."""
    def hardtanh_(self, min_val: _float = -1.0, max_val: _float = 1.0) -> Self:
        """`hardtanh`, written into the tensor, which is answered."""
    def relu6_(self) -> Self:
        """`relu6`, written into the tensor, which is answered."""
    def prelu(self, weight: Tensor) -> Tensor:
        """`x`, or `weight · x` where `x` is not positive; `weight` is one number, or one for each position along axis 1 (He et al.,
        2015). Integers become the default float.

        # Errors

        A weight of more than one axis, or of another size than axis 1; unlike dtypes.
        """
    def mish_(self) -> Self:
        """`mish`, written into the tensor, which is answered."""
    def hardswish_(self) -> Self:
        """`hardswish`, written into the tensor, which is answered."""
    def hardsigmoid_(self) -> Self:
        """`hardsigmoid`, written into the tensor, which is answered."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """`x`, or 0 where `|x|` is not above `lambd`; NaN stays. Integers become the default float."""
    def threshold_(self, threshold: _float, value: _float) -> Self:
        """`threshold`, written into the tensor, which is answered."""
    def softmax(self, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
        """`eˣ / Σ eˣ` along an axis, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is taken, or axis 0 of
        tensors of no, one or three axes.

        # Errors

        An axis out of range, a `dtype` of integers.
        """
    def log_softmax(self, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
        """`log softmax` along an axis, without overflow, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is
        taken, or axis 0 of tensors of no, one or three axes.

        # Errors

        An axis out of range, a `dtype` of integers.
        """
    def rrelu_(self, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False) -> Self:
        """`rrelu`, written into the tensor, which is answered."""
    @overload
    def new_zeros(self, size: _Sizes, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """Zeros of a shape, in the tensor's dtype and on its device unless others are named.

        # Errors

        More than 16 axes, sizes that overflow; a device that is not there.
        """
    @overload
    def new_zeros(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """Zeros of a shape, in the tensor's dtype and on its device unless others are named.

        # Errors

        More than 16 axes, sizes that overflow; a device that is not there.
        """
    @overload
    def new_ones(self, size: _Sizes, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """Ones of a shape, in the tensor's dtype and on its device unless others are named.

        # Errors

        More than 16 axes, sizes that overflow; a device that is not there.
        """
    @overload
    def new_ones(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """Ones of a shape, in the tensor's dtype and on its device unless others are named.

        # Errors

        More than 16 axes, sizes that overflow; a device that is not there.
        """
    @overload
    def new_empty(self, size: _Sizes, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """As `new_zeros`: there is no memory that nobody wrote.

        # Errors

        More than 16 axes, sizes that overflow; a device that is not there.
        """
    @overload
    def new_empty(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """As `new_zeros`: there is no memory that nobody wrote.

        # Errors

        More than 16 axes, sizes that overflow; a device that is not there.
        """
    def new_full(self, size: _Sizes, fill_value: _Operand, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """The same value everywhere, in the tensor's dtype and on its device unless others are named.

        # Errors

        More than 16 axes, sizes that overflow; a device that is not there; a value with axes.
        """
    def bernoulli(self, p: _float | None = None, *, generator: Generator | None = None) -> Tensor:
        """1 with the probabilities that a tensor holds (or with `p` everywhere), else 0, in its dtype. Gradients of the probabilities are zeros.

        # Errors

        Probabilities that are not floats; ones outside [0, 1]: what is not known yet is found when the draws are computed.
        """
    def bernoulli_(self, p: _Operand = 0.5, *, generator: Generator | None = None) -> Self:
        """1 with probability `p`, a number or a tensor that broadcasts, else 0, in the tensor's shape and dtype.

        # Errors

        A number outside [0, 1]; a tensor that is not of floats or does not broadcast to the shape.
        """
    def uniform_(self, from_: _float = 0.0, to: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Uniform random numbers from `from` up to `to`, in the tensor's shape and dtype.

        # Errors

        A tensor that is not of floats; bounds in the wrong order.
        """
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Normal random numbers of a mean and a standard deviation, in the tensor's shape and dtype.

        # Errors

        A tensor that is not of floats; a negative deviation.
        """
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None) -> Self:
        """Random numbers whose logarithms are normal, of a mean and a standard deviation, in the tensor's shape and dtype.

        # Errors

        A tensor that is not of floats; a deviation that is not positive.
        """
    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Exponential random numbers of the rate `lambd`, in the tensor's shape and dtype.

        # Errors

        A tensor that is not of floats; a rate that is not positive.
        """
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Random numbers of Cauchy's distribution about `median`, in the tensor's shape and dtype.

        # Errors

        A tensor that is not of floats; a `sigma` that is not positive.
        """
    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Self:
        """How many trials of probability `p` it takes to the first success, random numbers in the tensor's shape and dtype.

        # Errors

        Truth values; a `p` outside (0, 1).
        """
    def random_(self, from_: _int | None = None, to: _int | None = None, *, generator: Generator | None = None) -> Self:
        """Random integers from `from` up to `to`, which is left out, in the tensor's shape and dtype. With one bound, from 0 up to it;
        with none, all that are not negative, of floats those up to which there are all.

        # Errors

        Bounds with no integer between them, or beyond the dtype's.
        """
    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
        """Positions (i64) drawn with the weights along the last axis, which need not add up to 1: `num_samples` of each row. Without
        replacement, the first of an exponential race (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006); with it,
        where so many numbers fall among the running sums of the weights. A single one is the first of a race.

        # Errors

        Weights that are not floats, other than one or two axes; no samples, or without replacement more than there are weights. Weights
        that are negative or not finite, rows of zeros: what is not known yet is found when the samples are computed.
        """
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The diagonal of two axes (above the main one by `offset`), which go; it becomes the last. A view.

        # Errors

        An axis out of range, or twice the same.
        """
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """The last axis as the diagonal of two new ones (above the main one by `offset`), among zeros.

        # Errors

        No axes; an axis out of range, or twice the same.
        """
    def diag(self, diagonal: _int = 0) -> Tensor:
        """Of a vector, the matrix with it as a diagonal; of a matrix, a copy of that diagonal.

        # Errors

        Other than one or two axes.
        """
    def diagflat(self, offset: _int = 0) -> Tensor:
        """All elements as a diagonal of a matrix.

        # Errors

        More elements than a matrix can have rows.
        """
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and below it;
        0 elsewhere.

        # Errors

        Fewer than two axes.
        """
    def tril_(self, diagonal: _int = 0) -> Self:
        """`tril`, written into the tensor, which is answered."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and above it;
        0 elsewhere.

        # Errors

        Fewer than two axes.
        """
    def triu_(self, diagonal: _int = 0) -> Self:
        """`triu`, written into the tensor, which is answered."""
    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """A copy with `src` in place of one position along an axis.

        # Errors

        An axis or index out of range; a `src` of another shape.
        """
    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """A copy with `src` in place of positions along an axis; see `slice`.

        # Errors

        An axis out of range, step 0; a `src` of another shape.
        """
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A copy with `src` in place of a diagonal; see `diagonal`.

        # Errors

        An axis out of range, or twice the same; a `src` of another shape.
        """
    def dropout(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """In training, zeros with probability `p`, and the survivors scaled by 1/(1 − p) (Srivastava et al., 2014); else the tensor
        itself. Integers become the default float.

        # Errors

        A probability outside [0, 1].
        """
    def dropout_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`dropout`, written into the tensor, which is answered."""
    def feature_dropout_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`feature_dropout`, written into the tensor, which is answered."""
    def dropout1d_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`dropout1d`, written into the tensor, which is answered."""
    def dropout2d_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`dropout2d`, written into the tensor, which is answered."""
    def dropout3d_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`dropout3d`, written into the tensor, which is answered."""
    def alpha_dropout_(self, p: _float = 0.5, training: _bool = False) -> Self:
        """`alpha_dropout`, written into the tensor, which is answered."""
    def feature_alpha_dropout_(self, p: _float = 0.5, training: _bool = False) -> Self:
        """`feature_alpha_dropout`, written into the tensor, which is answered."""
    def gt(self, other: _Operand) -> Tensor:
        """`self > other`.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def greater(self, other: _Operand) -> Tensor:
        """`self > other`.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def gt_(self, other: _Operand) -> Self:
        """`gt`, written into the tensor, which is answered."""
    def greater_(self, other: _Operand) -> Self:
        """`gt`, written into the tensor, which is answered."""
    def ge(self, other: _Operand) -> Tensor:
        """`self ≥ other`.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def greater_equal(self, other: _Operand) -> Tensor:
        """`self ≥ other`.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def ge_(self, other: _Operand) -> Self:
        """`ge`, written into the tensor, which is answered."""
    def greater_equal_(self, other: _Operand) -> Self:
        """`ge`, written into the tensor, which is answered."""
    def remainder(self, other: _Operand) -> Tensor:
        """The remainder of `self / other` with the sign of `other`, as Python's `%`.

        # Errors

        Shapes that do not broadcast, unlike devices, truth values. An integer divided by zero: what is not known yet is found when the
        value is computed.
        """
    def remainder_(self, other: _Operand) -> Self:
        """`remainder`, written into the tensor, which is answered."""
    def floor_divide(self, other: _Operand) -> Tensor:
        """`⌊self / other⌋`, as Python's `//`.

        # Errors

        As `remainder`.
        """
    def floor_divide_(self, other: _Operand) -> Self:
        """`floor_divide`, written into the tensor, which is answered."""
    def pow(self, exponent: _Operand) -> Tensor:
        """`self` to a power: a tensor or a number. The exponents 2, 3, 1, 0.5, −1 and 0 take shorter ways, as in PyTorch.
        Integers to the power of integers are integers.

        # Errors

        Shapes that do not broadcast, unlike devices; a negative whole number as the exponent of an integer tensor (in a
        tensor of exponents it gives 0, but for the bases 1 and −1); truth values on both sides.
        """
    def pow_(self, exponent: _Operand) -> Self:
        """`pow`, written into the tensor, which is answered."""
    def float_power(self, exponent: _Operand) -> Tensor:
        """`self` to a power, in f64.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def float_power_(self, exponent: _Operand) -> Self:
        """`float_power`, written into the tensor, which is answered."""
    def clamp(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
        `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
        share it.

        # Errors

        No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
        broadcast, unlike devices.
        """
    def clip(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
        `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
        share it.

        # Errors

        No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
        broadcast, unlike devices.
        """
    def clamp_(self, min: _Operand | None = None, max: _Operand | None = None) -> Self:
        """`clamp`, written into the tensor, which is answered."""
    def clip_(self, min: _Operand | None = None, max: _Operand | None = None) -> Self:
        """`clamp`, written into the tensor, which is answered."""
    def clamp_min(self, min: _Operand) -> Tensor:
        """Values no smaller than `min`, as `clamp`.

        # Errors

        As `clamp`.
        """
    def clamp_min_(self, min: _Operand) -> Self:
        """`clamp_min`, written into the tensor, which is answered."""
    def clamp_max(self, max: _Operand) -> Tensor:
        """Values no larger than `max`, as `clamp`.

        # Errors

        As `clamp`.
        """
    def clamp_max_(self, max: _Operand) -> Self:
        """`clamp_max`, written into the tensor, which is answered."""
    def frac(self) -> Tensor:
        """What is left of the number without its whole part; its sign stays.

        # Errors

        Integers and truth values.
        """
    def frac_(self) -> Self:
        """`frac`, written into the tensor, which is answered."""
    def bitwise_not(self) -> Tensor:
        """The bits of integers turned over; of truth values, `logical_not`.

        # Errors

        Floats.
        """
    def bitwise_not_(self) -> Self:
        """`bitwise_not`, written into the tensor, which is answered."""
    def isnan(self) -> Tensor:
        """Whether elements are no numbers."""
    def isinf(self) -> Tensor:
        """Whether elements are infinite."""
    def isfinite(self) -> Tensor:
        """Whether elements are neither infinite nor no numbers."""
    def isposinf(self) -> Tensor:
        """Whether elements are +∞."""
    def isneginf(self) -> Tensor:
        """Whether elements are −∞."""
    def isreal(self) -> Tensor:
        """True for every element: all numbers here are real."""
    def signbit(self) -> Tensor:
        """Whether the sign is minus, also that of a zero and of NaN."""
    def angle(self) -> Tensor:
        """The angle of a number to the positive axis: 0, or π of what is negative; NaN of NaN. Integers become the default float."""
    def get_device(self) -> _int:
        """The number of its CUDA device; −1 on the host."""
    def conj(self) -> Tensor:
        """The tensor itself: the conjugate of a real number is that number."""
    def conj_physical(self) -> Tensor:
        """The tensor itself: the conjugate of a real number is that number."""
    def resolve_conj(self) -> Tensor:
        """The tensor itself: nothing of it is left to be conjugated."""
    def resolve_neg(self) -> Tensor:
        """The tensor itself: nothing of it is left to be negated."""
    def positive(self) -> Tensor:
        """The tensor itself.

        # Errors

        Truth values.
        """
    def reciprocal(self) -> Tensor:
        """`1 / x`. Integers become the default float."""
    def reciprocal_(self) -> Self:
        """`reciprocal`, written into the tensor, which is answered."""
    def rsqrt(self) -> Tensor:
        """`1 / √x`. Integers become the default float."""
    def rsqrt_(self) -> Self:
        """`rsqrt`, written into the tensor, which is answered."""
    def sinc(self) -> Tensor:
        """`sin(πx) / πx`, and 1 at 0. Integers become the default float."""
    def sinc_(self) -> Self:
        """`sinc`, written into the tensor, which is answered."""
    def deg2rad(self) -> Tensor:
        """Degrees as radians. Integers become the default float."""
    def deg2rad_(self) -> Self:
        """`deg2rad`, written into the tensor, which is answered."""
    def rad2deg(self) -> Tensor:
        """Radians as degrees. Integers become the default float."""
    def rad2deg_(self) -> Self:
        """`rad2deg`, written into the tensor, which is answered."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """`log(x / (1 − x))`, after `x` was brought to between `eps` and `1 − eps`, if that is given. Integers become the default float."""
    def logit_(self, eps: _float | None = None) -> Self:
        """`logit`, written into the tensor, which is answered."""
    def nan_to_num(self, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """NaN and infinities replaced by numbers: `nan`, and the largest and the least number of the dtype unless others are
        given. Integers stay.
        """
    def nan_to_num_(self, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Self:
        """`nan_to_num`, written into the tensor, which is answered."""
    def lerp(self, end: Tensor, weight: _Operand) -> Tensor:
        """`self + weight · (end − self)`, from the nearer end; the weight is a number or a tensor.

        # Errors

        Integers; shapes that do not broadcast, unlike devices.
        """
    def lerp_(self, end: Tensor, weight: _Operand) -> Self:
        """`lerp`, written into the tensor, which is answered."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
        """`self + value · tensor1 · tensor2`.

        # Errors

        A `value` that is a float where the tensors are of integers; shapes that do not broadcast, unlike devices.
        """
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Self:
        """`addcmul`, written into the tensor, which is answered."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
        """`self + value · tensor1 / tensor2`.

        # Errors

        Integers; shapes that do not broadcast, unlike devices.
        """
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Self:
        """`addcdiv`, written into the tensor, which is answered."""
    def xlogy(self, other: _Operand) -> Tensor:
        """`self · log other`, and 0 where `self` is 0 and `other` a number. Integers become the default float.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def xlogy_(self, other: _Operand) -> Self:
        """`xlogy`, written into the tensor, which is answered."""
    def logaddexp(self, other: _Operand) -> Tensor:
        """`ln(exp(x) + exp(y))` without overflow. Integers become the default float.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def logaddexp2(self, other: _Operand) -> Tensor:
        """`log₂(2ˣ + 2ʸ)` without overflow. Integers become the default float.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def heaviside(self, values: Tensor) -> Tensor:
        """0 where `self` is negative or NaN, `values` where it is 0, 1 where it is positive.

        # Errors

        Shapes that do not broadcast, unlike devices or dtypes.
        """
    def heaviside_(self, values: Tensor) -> Self:
        """`heaviside`, written into the tensor, which is answered."""
    def fmax(self, other: _Operand) -> Tensor:
        """The larger one; where one is NaN, the other.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def fmin(self, other: _Operand) -> Tensor:
        """The smaller one; where one is NaN, the other.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def hypot(self, other: _Operand) -> Tensor:
        """`√(self² + other²)` without overflow. Integers become the default float.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def hypot_(self, other: _Operand) -> Self:
        """`hypot`, written into the tensor, which is answered."""
    def nextafter(self, other: _Operand) -> Tensor:
        """The next number of the dtype after `self` towards `other`.

        # Errors

        Integers; shapes that do not broadcast, unlike devices.
        """
    def nextafter_(self, other: _Operand) -> Self:
        """`nextafter`, written into the tensor, which is answered."""
    def ldexp(self, other: _Operand) -> Tensor:
        """`self · 2^other`. Integers become the default float.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def ldexp_(self, other: _Operand) -> Self:
        """`ldexp`, written into the tensor, which is answered."""
    def frexp(self) -> tuple[Tensor, ...]:
        """Numbers as a fraction from ½ to 1 (with their sign) times a power of two: the fractions and the exponents (i32). Zeros
        and what is not finite are their own fractions.

        # Errors

        Integers and truth values.
        """
    def cbrt(self) -> Tensor:
        """The cube root. Integers become the default float."""
    def isclose(self, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False) -> Tensor:
        """Whether elements are within `atol + rtol · |other|` of each other; equal infinities are, and NaN where `equal_nan`
        says so.

        # Errors

        Shapes that do not broadcast, unlike devices or dtypes; a negative tolerance.
        """
    def allclose(self, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False) -> _bool:
        """Whether all elements are within `atol + rtol · |other|` of each other. Waits for the value.

        # Errors

        As `isclose`; those of the computation.
        """
    def equal(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape and the same elements. Waits for the value.

        # Errors

        Unlike devices; those of the computation.
        """
    def cholesky(self, upper: _bool = False) -> Tensor:
        """`L` with `L Lᵀ = A` of symmetric positive definite matrices, `[…, n, n]`, of which the lower triangle is read; with `upper` the
        transpose, and the upper triangle is read. f32 and f64.

        # Errors

        What is no square matrix, one that is not positive definite, other dtypes.
        """
    def qr(self, some: _bool = True) -> tuple[Tensor, ...]:
        """`linalg.qr` in mode `"reduced"`, or, if not `some`, `"complete"`.

        # Errors

        What is no matrix, other dtypes.
        """
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> tuple[Tensor, ...]:
        """`U`, `σ` and `V` (not transposed, unlike `linalg.svd`) with `A = U diag(σ) Vᵀ`; square if not `some`. Without `compute_uv`, `U` and `V`
        are zeros.

        # Errors

        What is no matrix, numbers that are not finite, other dtypes.
        """
    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> tuple[Tensor, ...]:
        """`linalg.lu_factor` as a method, to which a singular matrix is no error; with `get_infos` what `linalg.lu_factor_ex` answers with.

        # Errors

        What is no matrix, other dtypes; without `pivot`.
        """
    def orgqr(self, input2: Tensor) -> Tensor:
        """`householder_product` under LAPACK's name.

        # Errors

        Those of `householder_product`.
        """
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each integer occurs, from 0 to the largest one (at least `minlength` of them): i64. With `weights`, the sum of
        the weights of its occurrences: f32 of f32, else f64. The values are looked at, since the shape depends on them.

        # Errors

        What is no line of integers, a negative one; weights of another shape.
        """
    def histc(self, bins: _int = 100, min: _float = 0.0, max: _float = 0.0) -> Tensor:
        """How many elements lie in each of `bins` intervals of the same width from `min` to `max`, both included; from the least
        element to the largest, if these are the same. What lies outside does not count. Integers become the default float.

        # Errors

        No bins; bounds that are not finite or in the wrong order, elements that are not finite where they are the bounds.
        """
    def histogram(self, bins: _Operand = 100, *, range: _float | Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> tuple[Tensor, ...]:
        """How many elements lie in each of `bins` intervals of the same width, and the intervals' ends, one more. They go from
        `range[0]` to `range[1]`, both included, or from the least element to the largest. A tensor as `bins` (one axis, ascending) is
        these ends itself. With `weight`, of the tensor's shape, the
        sums of the elements' weights; with `density`, divided by their sum and the width, so that the integral is 1. Integers become
        the default float.

        # Errors

        No bins; a range of other than two numbers that are finite and in order, or beside ends; ends of other than one axis, or of
        another dtype; weights of another shape.
        """
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """What lies along an axis at some positions, by their indices (integers, in one axis).

        # Errors

        An axis out of range, indices that are no integers or have more axes, more than one for a tensor without axes. An index
        out of range is an error at once where it is known, else when the value is computed.
        """
    def gather(self, dim: _int, index: Tensor) -> Tensor:
        """`out[…, j, …] = self[…, index[…, j, …], …]` along an axis, for an index (integers) that is nowhere else longer than the
        tensor.

        # Errors

        As `index_select`; an index of other axes than the tensor's, or longer.
        """
    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """Elements by the positions that `indices` have along an axis (negative ones count from its end), where all other axes
        broadcast; by their positions among all elements, in one axis, where no axis is named.

        # Errors

        As `gather`; shapes that do not broadcast.
        """
    def take(self, index: Tensor) -> Tensor:
        """Elements by their positions among all, in row-major order; negative ones count from the end. The result has the shape of the
        index.

        # Errors

        Indices that are no integers, or out of range.
        """
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy with the elements of `source` at the positions among all elements that `index` says (negative ones count from the
        end), the last one where a position occurs more than once; or added there, with `accumulate`.

        # Errors

        Indices that are no integers, or out of range; another number or dtype of elements.
        """
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Self:
        """`put`, written into the tensor, which is answered."""
    def scatter(self, dim: _int, index: Tensor, src: _Operand, *, reduce: str | None = None) -> Tensor:
        """`src` (a tensor, or one number) written at the places that `index` names along an axis, the last one where a place is met more
        than once; with `reduce`, added (`"add"`) or multiplied (`"multiply"`).

        # Errors

        As `gather`; a `src` that is shorter than the index, or of another dtype.
        """
    def scatter_(self, dim: _int, index: Tensor, src: _Operand, *, reduce: str | None = None) -> Self:
        """`scatter`, written into the tensor, which is answered."""
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """`src` added at the places that `index` names along an axis, in order.

        # Errors

        As `gather`; a `src` that is shorter than the index, or of another dtype.
        """
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Self:
        """`scatter_add`, written into the tensor, which is answered."""
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """`src` at the places that `index` names along an axis, all that meet at a place reduced: `"sum"`, `"prod"`, `"mean"`,
        `"amax"` or `"amin"`, with the tensor's own element unless `include_self` is false.

        # Errors

        As `gather`; a `src` that is shorter than the index, or of another dtype; another word.
        """
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Self:
        """`scatter_reduce`, written into the tensor, which is answered."""
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Operand = 1) -> Tensor:
        """`alpha · source` added at some positions along an axis, by their indices (integers, in one axis), in order.

        # Errors

        As `index_select`; a `source` that does not fit, or of another dtype.
        """
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Operand = 1) -> Self:
        """`index_add`, written into the tensor, which is answered."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """`source` written to some positions along an axis, by their indices (integers, in one axis); the last one where a position
        occurs more than once.

        # Errors

        As `index_select`; a `source` that does not fit, or of another dtype.
        """
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Self:
        """`index_copy`, written into the tensor, which is answered."""
    def index_fill(self, dim: _int, index: Tensor, value: _Operand) -> Tensor:
        """One number written to some positions along an axis, by their indices (integers, in one axis).

        # Errors

        As `index_select`; a tensor with axes as the value.
        """
    def index_fill_(self, dim: _int, index: Tensor, value: _Operand) -> Self:
        """`index_fill`, written into the tensor, which is answered."""
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """`source` at some positions along an axis, by their indices, all that meet at a position reduced with the tensor's own element
        (unless `include_self` is false): `"prod"`, `"mean"`, `"amax"` or `"amin"`.

        # Errors

        As `index_select`; a `source` that does not fit, or of another dtype; another word.
        """
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Self:
        """`index_reduce`, written into the tensor, which is answered."""
    def index_put(self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Tensor:
        """`values` written to what tensors of integers or truth values pick of the first axes, as by `x[indices] = values`; with
        `accumulate` added there, as often as a place is picked.

        # Errors

        Indices that do not broadcast or are out of range; values of another dtype, or that do not broadcast.
        """
    def index_put_(self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Self:
        """`index_put`, written into the tensor, which is answered."""
    def fill_diagonal_(self, fill_value: _Operand, wrap: _bool = False) -> Self:
        """The tensor with one number on the diagonal: where all indices are the same. Of a matrix with more rows than columns the diagonal
        goes on below, one row left out each time, with `wrap`.

        # Errors

        Fewer than two axes; more than two that are not of one size; a tensor with axes as the value.
        """
    def masked_fill(self, mask: Tensor, value: _Operand) -> Tensor:
        """The tensor with one number where a mask of truth values holds, which broadcasts.

        # Errors

        A mask of another dtype, or that does not broadcast; a tensor with axes as the value.
        """
    def masked_fill_(self, mask: Tensor, value: _Operand) -> Self:
        """`masked_fill`, written into the tensor, which is answered."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where a mask of truth values holds, in one axis. Tensor and mask broadcast.

        # Errors

        A mask of another dtype, or that does not broadcast.
        """
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """The tensor with the elements of `source`, in order, where a mask of truth values holds, which broadcasts.

        # Errors

        A mask of another dtype, or that does not broadcast; another dtype. Fewer elements than places are found when the value is
        computed.
        """
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """`masked_scatter`, written into the tensor, which is answered."""
    def argwhere(self) -> Tensor:
        """The positions of what is not zero: a row each."""
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """The positions along an axis, each without it; views.

        # Errors

        An axis out of range.
        """
    def split(self, split_size: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts along an axis, of so many positions each (the last may have fewer) or of the sizes in a list; views.

        # Errors

        An axis out of range, sizes that do not make it, parts of no positions.
        """
    def split_with_sizes(self, split_sizes: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts of these sizes along an axis, views.

        # Errors

        An axis out of range, sizes that do not make it.
        """
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most so many parts of equal size along an axis (the last may be smaller), views; of an axis without positions exactly so many.

        # Errors

        An axis out of range, no parts, more than 2²⁰ of an axis without positions.
        """
    def tensor_split(self, indices_or_sections: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
        """So many parts along an axis, whose sizes differ by 1 at most, or those that end before each position in a list; views.

        # Errors

        An axis out of range, no parts, more than 2²⁰ where the axis has fewer positions.
        """
    def hsplit(self, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
        """Parts along the second axis, or the only one, as `tensor_split`, where a number divides it; views.

        # Errors

        No axes; a number that does not divide the axis.
        """
    def vsplit(self, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
        """Parts along the first axis, as `hsplit`.

        # Errors

        Fewer than two axes; a number that does not divide the axis.
        """
    def dsplit(self, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
        """Parts along the third axis, as `hsplit`.

        # Errors

        Fewer than three axes; a number that does not divide the axis.
        """
    def combinations(self, r: _int = 2, with_replacement: _bool = False) -> Tensor:
        """All choices of `r` elements of a vector in its order, a row each; the same one more than once with `with_replacement`.

        # Errors

        A tensor that is no vector.
        """
    def matmul(self, other: Tensor) -> Tensor:
        """The matrix product, as NumPy's `@`: vectors are taken as a row on the left and a column on the right, batches
        broadcast.

        # Errors

        Scalars, inner sizes that differ, batches that do not broadcast, unlike devices.
        """
    def mm(self, mat2: Tensor) -> Tensor:
        """The product of two matrices.

        # Errors

        What is no matrix, inner sizes that differ, unlike devices.
        """
    def bmm(self, mat2: Tensor) -> Tensor:
        """The products of two batches of matrices, `[b, n, m]` and `[b, m, p]`.

        # Errors

        Other than three axes, batches or inner sizes that differ, unlike devices.
        """
    def mv(self, vec: Tensor) -> Tensor:
        """The product of a matrix and a vector.

        # Errors

        What is no matrix or no vector, sizes that differ, unlike devices.
        """
    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors' elements.

        # Errors

        What is no vector, sizes that differ, unlike devices.
        """
    def vdot(self, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors' elements.

        # Errors

        What is no vector, sizes that differ, unlike devices.
        """
    def inner(self, other: Tensor) -> Tensor:
        """The sums of products along the last axes of both; with a tensor without axes, the product.

        # Errors

        Last axes that differ, unlike devices.
        """
    def outer(self, vec2: Tensor) -> Tensor:
        """The products of each element of a vector with each of another: `[n, m]`.

        # Errors

        What is no vector, unlike devices.
        """
    def ger(self, vec2: Tensor) -> Tensor:
        """The products of each element of a vector with each of another: `[n, m]`.

        # Errors

        What is no vector, unlike devices.
        """
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · mat1 @ mat2`, of matrices; the tensor broadcasts to the product. With `beta` 0 it is not looked at.

        # Errors

        What is no matrix, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.
        """
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`addmm`, written into the tensor, which is answered."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · mat @ vec`, of a matrix and a vector; the tensor broadcasts to the product. With `beta` 0 it is not
        looked at.

        # Errors

        What is no matrix or no vector, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.
        """
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`addmv`, written into the tensor, which is answered."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · Σ batch1[i] @ batch2[i]`, of batches of matrices; the tensor broadcasts to the sum. With `beta` 0 it
        is not looked at.

        # Errors

        Other than three axes, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.
        """
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`addbmm`, written into the tensor, which is answered."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · batch1 @ batch2`, of batches of matrices; the tensor broadcasts to the products. With `beta` 0 it is
        not looked at.

        # Errors

        Other than three axes, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.
        """
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`baddbmm`, written into the tensor, which is answered."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · vec1 ⊗ vec2`; the tensor broadcasts to the products. With `beta` 0 it is not looked at. Of truth values a
        sum is "or", and a factor whether it is not 0.

        # Errors

        What is no vector, shapes that do not fit, unlike devices, a float as factor of integers.
        """
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`addr`, written into the tensor, which is answered."""
    def trace(self) -> Tensor:
        """The sum of a matrix' diagonal; of integers in i64.

        # Errors

        What is no matrix.
        """
    def kron(self, other: Tensor) -> Tensor:
        """The Kronecker product: blocks of the other tensor, each times an element of this one. The tensor of fewer axes has axes of
        size 1 before them.

        # Errors

        More than four axes that are larger than 1, unlike devices.
        """
    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """The cross product of vectors along an axis of three positions: the first such axis, if none is named. Shapes broadcast.

        # Errors

        No such axis, shapes that do not broadcast, unlike devices.
        """
    def matrix_power(self, n: _int) -> Tensor:
        """Matrices multiplied with themselves, `n` times; the identity, if `n` is 0; of a negative `n`, the inverse's power (f32 and f64).
        By squaring.

        # Errors

        What is no square matrix; with a negative `n` a singular one.
        """
    def inverse(self) -> Tensor:
        """The inverses of square matrices: see `linalg.inv`.

        # Errors

        What is no square matrix, a singular one, other dtypes.
        """
    def triangular_solve(self, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> tuple[Tensor, ...]:
        """`X` with `A X = b` (or `Aᵀ X = b`), where `A` is a triangle; and a copy of `A`, for each matrix of the batch. The older name of `linalg.solve_triangular`.

        # Errors

        Those of `linalg.solve_triangular`.
        """
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """`linalg.lu_solve` with the right side first.

        # Errors

        Those of `linalg.lu_solve`.
        """
    def cholesky_solve(self, L: Tensor, upper: _bool = False) -> Tensor:
        """`X` with `L Lᵀ X = B`, of what `cholesky` answers with; with `upper`, `L` is its transpose.

        # Errors

        Shapes that do not fit, other dtypes, unlike devices.
        """
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of `L Lᵀ`, of what `cholesky` answers with; with `upper`, the tensor is its transpose.

        # Errors

        What is no square matrix, other dtypes, a zero on the diagonal: what is not known yet is found when the inverse is computed.
        """
    def det(self) -> Tensor:
        """The determinants of square matrices. f32 and f64. A singular matrix has a
        gradient; its second derivatives are not to be relied on.

        # Errors

        What is no square matrix, other dtypes.
        """
    def slogdet(self) -> tuple[Tensor, ...]:
        """The signs of determinants (−1, 0 or 1), and the logarithms of their magnitudes (−∞ of a singular matrix). f32 and f64.

        # Errors

        What is no square matrix, other dtypes.
        """
    def logdet(self) -> Tensor:
        """The logarithms of determinants: −∞ of a singular matrix, NaN where the determinant is negative. f32 and f64.

        # Errors

        What is no square matrix, other dtypes.
        """
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """The pseudoinverse: see `linalg.pinv`, whose `rtol` is `rcond` here.

        # Errors

        What is no matrix, numbers that are not finite, other dtypes.
        """
    def matrix_exp(self) -> Tensor:
        """`eᴬ = Σ Aᵏ / k!` of square matrices, `[…, n, n]`. Reads the largest norm, which says how often the result is squared; within `vmap`, where
        there is none yet, it is squared as often as there are bits in a number (24, of f64 53), and what asks for more is NaN. Half types are computed in f32.

        # Errors

        What is no square matrix, other dtypes.
        """
    @overload
    def reshape(self, shape: _Dims) -> Tensor:
        """The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
        that there can be one, as PyTorch has it; else a copy.

        # Errors

        Another number of elements.
        """
    @overload
    def reshape(self, *shape: _int) -> Tensor:
        """The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
        that there can be one, as PyTorch has it; else a copy.

        # Errors

        Another number of elements.
        """
    def reshape_as(self, other: Tensor) -> Tensor:
        """As `reshape`, to the shape of another tensor.

        # Errors

        Another number of elements.
        """
    @overload
    def view(self, shape: _Dims) -> Tensor:
        """As `reshape`, and always a view. In Python, of a dtype: the bits of the elements as elements of that, which are as many bytes, on the
        same memory; without a history, but for the tensor's own dtype, and on the host.

        # Errors

        Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
        matrix in one axis.
        """
    @overload
    def view(self, *shape: _int) -> Tensor:
        """As `reshape`, and always a view. In Python, of a dtype: the bits of the elements as elements of that, which are as many bytes, on the
        same memory; without a history, but for the tensor's own dtype, and on the host.

        # Errors

        Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
        matrix in one axis.
        """
    @overload
    def view(self, dtype: _DType) -> Tensor:
        """As `reshape`, and always a view. In Python, of a dtype: the bits of the elements as elements of that, which are as many bytes, on the
        same memory; without a history, but for the tensor's own dtype, and on the host.

        # Errors

        Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
        matrix in one axis.
        """
    def view_as(self, other: Tensor) -> Tensor:
        """As `view`, to the shape of another tensor.

        # Errors

        As `view`.
        """
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Axes `start_dim` to `end_dim` as one.

        # Errors

        An axis out of range; a first one behind the last.
        """
    def unflatten(self, dim: _int, sizes: _Dims) -> Tensor:
        """An axis as several, of sizes whose product is its size; one may be −1.

        # Errors

        An axis out of range, another product.
        """
    def ravel(self) -> Tensor:
        """All elements in one axis: the same memory where they lie one after the other, else a copy.

        # Errors

        A value that could not be computed.
        """
    @overload
    def permute(self, dims: _Dims) -> Tensor:
        """Axes in another order, a view.

        # Errors

        What is no permutation of the axes.
        """
    @overload
    def permute(self, *dims: _int) -> Tensor:
        """Axes in another order, a view.

        # Errors

        What is no permutation of the axes.
        """
    @overload
    def permute_dims(self, dims: _Dims) -> Tensor:
        """Axes in another order, a view.

        # Errors

        What is no permutation of the axes.
        """
    @overload
    def permute_dims(self, *dims: _int) -> Tensor:
        """Axes in another order, a view.

        # Errors

        What is no permutation of the axes.
        """
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two axes exchanged, a view.

        # Errors

        An axis out of range.
        """
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Two axes exchanged, a view.

        # Errors

        An axis out of range.
        """
    def transpose_(self, dim0: _int, dim1: _int) -> Self:
        """`transpose`, written into the tensor, which is answered."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Self:
        """`transpose`, written into the tensor, which is answered."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Two axes exchanged, a view: `transpose`, by NumPy's name.

        # Errors

        An axis out of range.
        """
    def swapaxes_(self, axis0: _int, axis1: _int) -> Self:
        """`swapaxes`, written into the tensor, which is answered."""
    def adjoint(self) -> Tensor:
        """The last two axes exchanged, a view; of a tensor without axes, itself.

        # Errors

        One axis.
        """
    def matrix_transpose(self) -> Tensor:
        """The last two axes exchanged, a view; of a tensor without axes, itself.

        # Errors

        One axis.
        """
    def movedim(self, source: _Dims, destination: _Dims) -> Tensor:
        """Axes moved to other places, a view; those that are not named keep their order.

        # Errors

        An axis out of range or twice the same; as many sources as destinations are wanted.
        """
    def moveaxis(self, source: _Dims, destination: _Dims) -> Tensor:
        """Axes moved to other places, a view; those that are not named keep their order.

        # Errors

        An axis out of range or twice the same; as many sources as destinations are wanted.
        """
    def slice(self, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """Positions `start`, `start + step`, … before `end` along an axis, as Python's slices: negative ends count from the
        end, `None` is the end that the step comes from or goes to, bounds are clamped, the step may be negative. A view.

        # Errors

        An axis out of range, step 0.
        """
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """`length` positions from `start` (from the end, if it is negative) along an axis, a view.

        # Errors

        An axis out of range, positions outside of it.
        """
    def select(self, dim: _int, index: _int) -> Tensor:
        """One position along an axis, which disappears; a view.

        # Errors

        An axis or index out of range.
        """
    @overload
    def flip(self, dims: _Dims) -> Tensor:
        """Axes backwards: a copy, as PyTorch has it. `slice` by −1 is a view.

        # Errors

        An axis out of range, or twice the same.
        """
    @overload
    def flip(self, *dims: _int) -> Tensor:
        """Axes backwards: a copy, as PyTorch has it. `slice` by −1 is a view.

        # Errors

        An axis out of range, or twice the same.
        """
    def fliplr(self) -> Tensor:
        """The second axis backwards, a copy.

        # Errors

        Fewer than two axes.
        """
    def flipud(self) -> Tensor:
        """The first axis backwards, a copy.

        # Errors

        No axes.
        """
    def rot90(self, k: _int = 1, dims: _Dims = (0, 1)) -> Tensor:
        """Turned by `k` right angles in the plane of two axes, from the first towards the second; a copy.

        # Errors

        Other than two axes, or twice the same.
        """
    def roll(self, shifts: _Dims, dims: _Dims | None = None) -> Tensor:
        """Each axis moved by so many positions, where what goes beyond its end comes in at its start; all elements in row-major
        order where no axes are named. A copy.

        # Errors

        As many numbers as axes are wanted.
        """
    @overload
    def expand(self, size: _Dims) -> Tensor:
        """Broadcast to a shape, a view; −1 keeps a size.

        # Errors

        A shape that it does not broadcast to.
        """
    @overload
    def expand(self, *size: _int) -> Tensor:
        """Broadcast to a shape, a view; −1 keeps a size.

        # Errors

        A shape that it does not broadcast to.
        """
    def expand_as(self, other: Tensor) -> Tensor:
        """Broadcast to the shape of another tensor, a view.

        # Errors

        A shape that it does not broadcast to.
        """
    @overload
    def broadcast_to(self, size: _Dims) -> Tensor:
        """Broadcast to a shape, a view; −1 keeps a size.

        # Errors

        A shape that it does not broadcast to.
        """
    @overload
    def broadcast_to(self, *size: _int) -> Tensor:
        """Broadcast to a shape, a view; −1 keeps a size.

        # Errors

        A shape that it does not broadcast to.
        """
    @overload
    def sum_to_size(self, size: _Sizes) -> Tensor:
        """The sum over those axes that, of the shape `size`, would be broadcast to the tensor's own: the reverse of `expand`.

        # Errors

        A shape that does not broadcast to the tensor's.
        """
    @overload
    def sum_to_size(self, *size: _int) -> Tensor:
        """The sum over those axes that, of the shape `size`, would be broadcast to the tensor's own: the reverse of `expand`.

        # Errors

        A shape that does not broadcast to the tensor's.
        """
    @overload
    def repeat(self, repeats: _Sizes) -> Tensor:
        """The tensor so many times along each axis; more numbers than axes make new axes in front.

        # Errors

        Fewer numbers than axes.
        """
    @overload
    def repeat(self, *repeats: _int) -> Tensor:
        """The tensor so many times along each axis; more numbers than axes make new axes in front.

        # Errors

        Fewer numbers than axes.
        """
    @overload
    def tile(self, dims: _Sizes) -> Tensor:
        """As `repeat`; fewer numbers than axes are those of the last axes.

        # Errors

        More than 16 axes.
        """
    @overload
    def tile(self, *dims: _int) -> Tensor:
        """As `repeat`; fewer numbers than axes are those of the last axes.

        # Errors

        More than 16 axes.
        """
    def repeat_interleave(self, repeats: _Operand | None = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Each position along an axis so many times: the same number for all, or one for each. All elements in one axis, where none is
        named. Of a tensor of numbers alone, their positions, each as often as the number says.

        `output_size`, the size of the result's axis where a tensor says the numbers, is checked.

        # Errors

        An axis out of range; negative numbers, or as many as the axis is not long; numbers that are no integers.
        """
    def unsqueeze(self, dim: _int) -> Tensor:
        """A new axis of size 1 before `dim`, which may be one past the last; a view.

        # Errors

        An axis out of range.
        """
    def unsqueeze_(self, dim: _int) -> Self:
        """`unsqueeze`, written into the tensor, which is answered."""
    @overload
    def squeeze(self, dim: _Dims | None = None) -> Tensor:
        """Without axes of size 1: one, several (others stay), or all of them; a view.

        # Errors

        An axis out of range, or twice the same.
        """
    @overload
    def squeeze(self, *dim: _int) -> Tensor:
        """Without axes of size 1: one, several (others stay), or all of them; a view.

        # Errors

        An axis out of range, or twice the same.
        """
    @overload
    def squeeze_(self, dim: _Dims | None = None) -> Self:
        """`squeeze`, written into the tensor, which is answered."""
    @overload
    def squeeze_(self, *dim: _int) -> Self:
        """`squeeze`, written into the tensor, which is answered."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Windows of `size` positions along an axis, every `step`; the axis counts them, and a new last one is within them. A view:
        where windows overlap they share their elements.

        # Errors

        An axis out of range, windows longer than it, step 0.
        """
    def as_strided(self, size: _Sizes, stride: _Dims, storage_offset: _int | None = None) -> Tensor:
        """The memory that the tensor is of, seen with these sizes and strides from `storage_offset` on, all in elements (from where
        the tensor begins, if that is not given). A view; what lies in memory as computed results do is row-major.

        # Errors

        What lies outside of the memory; as many strides as sizes are wanted; a detached view.
        """
    def t(self) -> Tensor:
        """The transpose of a matrix; a view of all of it for vectors and scalars.

        # Errors

        More than two axes.
        """
    def t_(self) -> Self:
        """`t`, written into the tensor, which is answered."""
    def clone(self) -> Tensor:
        """A copy of the value in its own memory; gradients flow through it."""
    def sum(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The sum of all elements, or over some axes. Integers and truth values become i64; `dtype` is what the elements are
        converted to before. Floats are added in blocks of f32 or f64, and the blocks' sums in f64.

        # Errors

        An axis out of range or named twice.
        """
    def prod(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The product of all elements, or over some axes. Integers and truth values become i64; `dtype` is what the elements are
        converted to before.

        # Errors

        An axis out of range or named twice.
        """
    def mean(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The mean of all elements, or over some axes; of integers, in the default float unless `dtype` says otherwise.

        # Errors

        An axis out of range or named twice, a `dtype` of integers.
        """
    def nansum(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The sum of what is not NaN, of all elements or over some axes.

        # Errors

        An axis out of range or named twice.
        """
    def nanmean(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The mean of what is not NaN, of all elements or over some axes; of integers, in the default float.

        # Errors

        An axis out of range or named twice, a `dtype` of integers.
        """
    def amax(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """The largest element, or the largest over some axes; NaN if any is. Equal ones share the gradient.

        # Errors

        An axis out of range or named twice; no elements.
        """
    def amin(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """The smallest element, or the smallest over some axes; NaN if any is. Equal ones share the gradient.

        # Errors

        An axis out of range or named twice; no elements.
        """
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> tuple[Tensor, ...]:
        """The smallest and the largest element, of all or along an axis. Equal ones share the gradient.

        # Errors

        An axis out of range; no elements.
        """
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index (i64) of the first largest element along an axis, or of the flattened tensor.

        # Errors

        Truth values; an axis out of range; no elements.
        """
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index (i64) of the first smallest element along an axis, or of the flattened tensor.

        # Errors

        Truth values; an axis out of range; no elements.
        """
    def any(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """Whether any element is not zero, of all or over some axes: a truth value, and of u8 a u8.

        # Errors

        An axis out of range or named twice.
        """
    def all(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """Whether no element is zero, of all or over some axes: a truth value, and of u8 a u8.

        # Errors

        An axis out of range or named twice.
        """
    def count_nonzero(self, dim: _Dims | None = None) -> Tensor:
        """How many elements are not zero (i64), of all or over some axes.

        # Errors

        An axis out of range or named twice.
        """
    def var(self, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
        """The variance of all elements, or over some axes: squares of deviations from the mean, over their count less
        `correction`, which is 1 (Bessel's) unless `unbiased` is false. Over 0, where the correction is larger. Integers become the default float.

        # Errors

        An axis out of range or named twice.
        """
    def std(self, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
        """The standard deviation, the square root of the variance, of all elements or over some axes; see `var`. Its gradient is 0
        where nothing varies. Integers become the default float.

        # Errors

        An axis out of range or named twice.
        """
    def logsumexp(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """`log Σ eˣ` over some axes (all, if none is named), without overflow. Integers become the default float.

        # Errors

        An axis out of range or named twice.
        """
    def norm(self, p: _float | str = "fro", dim: _Dims | None = None, keepdim: _bool = False, dtype: _DType | None = None) -> Tensor:
        """The norm of all elements as one vector, or over some axes: the `p`-th root of the sum of `p`-th powers of magnitudes
        (2 for `"fro"`); `"nuc"` is the sum of singular values of matrices. With `p` infinite the largest magnitude, −∞ the smallest, 0 how many are not zero. The gradient of a
        norm that is 0 is 0. Integers become the default float.

        # Errors

        An axis out of range or named twice; a `p` that is NaN or another word; with an infinite or negative `p`, no elements.
        """
    def dist(self, other: Tensor, p: _float = 2.0) -> Tensor:
        """The `p`-norm of the difference to another tensor, which is broadcast.

        # Errors

        Shapes that do not broadcast, unlike devices; a `p` that is NaN.
        """
    def renorm(self, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """The parts along an axis, those whose `p`-norm is larger than `maxnorm` scaled down to it.

        # Errors

        Fewer than two axes, an axis out of range, a `p` that is not positive, a negative `maxnorm`.
        """
    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Self:
        """`renorm`, written into the tensor, which is answered."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """Differences of neighbours along an axis, taken `n` times; of truth values, whether they differ. `prepend` and `append`
        are put before and after the elements first, unless `n` is 0.

        # Errors

        A tensor without axes, an axis out of range; what is put beside it and does not fit.
        """
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance matrix of variables, which are rows, by observations, which are columns; of one row, the variance. Each
        observation counts `fweights` times (integers), and with `aweights`; both have one axis. Integers become the default float.

        # Errors

        More than two axes; weights of another number than the observations', that are no integers or floats, negative, or not finite.
        """
    def corrcoef(self) -> Tensor:
        """The matrix of correlation coefficients of variables, which are rows, by observations, which are columns. Integers become
        the default float.

        # Errors

        More than two axes.
        """
    def cumsum(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """The sum of each element and all before it along an axis. Integers become i64. f32 is added in f64, half types in f32; the
        order of additions depends on the shape alone.

        # Errors

        An axis out of range.
        """
    def cumulative_sum(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """The sum of each element and all before it along an axis. Integers become i64. f32 is added in f64, half types in f32; the
        order of additions depends on the shape alone.

        # Errors

        An axis out of range.
        """
    def cumsum_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """`cumsum`, written into the tensor, which is answered."""
    def cumulative_sum_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """`cumsum`, written into the tensor, which is answered."""
    def cumprod(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """The product of each element and all before it along an axis. Integers become i64.

        # Errors

        An axis out of range.
        """
    def cumulative_prod(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """The product of each element and all before it along an axis. Integers become i64.

        # Errors

        An axis out of range.
        """
    def cumprod_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """`cumprod`, written into the tensor, which is answered."""
    def cumulative_prod_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """`cumprod`, written into the tensor, which is answered."""
    def logcumsumexp(self, dim: _int) -> Tensor:
        """`log Σ eˣ` of each element and all before it along an axis, without overflow. Integers become the default float.

        # Errors

        An axis out of range.
        """
    def cummax(self, dim: _int) -> Extreme:
        """The largest element so far along an axis, and its index (i64): of equal ones the last. NaN is larger than every number. The
        gradient goes to the element at the index.

        # Errors

        An axis out of range.
        """
    def cummin(self, dim: _int) -> Extreme:
        """The smallest element so far along an axis, and its index (i64): of equal ones the last. NaN is smaller than every number. The
        gradient goes to the element at the index.

        # Errors

        An axis out of range.
        """
    def recurrence(self, factors: Tensor, dim: _int) -> Tensor:
        """The linear recurrence `yᵢ = xᵢ + aᵢ yᵢ₋₁` along an axis, which begins with `y₋₁ = 0`; `factors` are the `aᵢ`, and broadcast.
        Exponential averages, discounted returns and state-space models are of this kind. Integers become the default float.

        # Errors

        An axis out of range; factors that do not broadcast to the shape.
        """
    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The elements that are met, in order, each once; or with `dim` the parts along an axis that are met, in the order of their
        elements. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how often each is
        met (both i64). NaN is equal to nothing. The result is in order whether `sorted` is asked for or not. How many there are is
        looked at. The gradient goes to the first of what is equal.

        # Errors

        An axis out of range; parts without elements.
        """
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The elements of which neighbours are not equal, in the tensor's own order: the first of each run; or with `dim` the parts along an
        axis. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how long each run is
        (both i64). NaN is equal to nothing. How many there are is looked at. The gradient goes to the first of each run.

        # Errors

        An axis out of range; parts without elements.
        """
    def sort(self, dim: _int = -1, descending: _bool = False, *, stable: _bool = False) -> Extreme:
        """The elements along an axis in order, and the positions (i64) that they had. NaN is larger than every number, and equal elements
        keep their order, whether `stable` is asked for or not. The gradient goes back to where the elements came from.

        # Errors

        An axis out of range.
        """
    def argsort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Tensor:
        """The positions (i64) of the elements along an axis, in the elements' order. NaN is larger than every number, and equal elements
        keep their order.

        # Errors

        An axis out of range.
        """
    def msort(self) -> Tensor:
        """The elements in order along the first axis: `sort` without the positions."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> Extreme:
        """The `k` largest elements along an axis (or the smallest), in order, and their positions (i64): of equal ones the first. NaN is larger than
        every number. The result is in order whether `sorted` is asked for or not.

        # Errors

        An axis out of range; more elements than there are; truth values.
        """
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> Extreme:
        """The `k`-th smallest element along an axis (from 1), and its position (i64). NaN is larger than every number. The gradient goes to
        the element at the position.

        # Errors

        An axis out of range; a `k` that is 0 or more than there are elements; truth values.
        """
    @overload
    def median(self, dim: None = None, keepdim: _bool = False) -> Tensor:
        """The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
        equal ones sharing the gradient; or along an axis with its position (i64), to which the gradient goes.

        # Errors

        An axis out of range, or without elements; truth values.
        """
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> Extreme:
        """The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
        equal ones sharing the gradient; or along an axis with its position (i64), to which the gradient goes.

        # Errors

        An axis out of range, or without elements; truth values.
        """
    @overload
    def nanmedian(self, dim: None = None, keepdim: _bool = False) -> Tensor:
        """As `median`, of what is not NaN; NaN where nothing else is.

        # Errors

        An axis out of range, or without elements; truth values.
        """
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> Extreme:
        """As `median`, of what is not NaN; NaN where nothing else is.

        # Errors

        An axis out of range, or without elements; truth values.
        """
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> Extreme:
        """The element that is met most often along an axis, the least of several, and the last position (i64) where it is. The gradient
        goes to that. NaN is equal to nothing.

        # Errors

        An axis out of range, or without elements.
        """
    def quantile(self, q: _Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear") -> Tensor:
        """The elements below which a share `q` of all lies, or of those along an axis; with several shares (one axis), these come first in the
        result. Between two elements it is found by `interpolation`: "linear", "lower", "higher", "nearest" or "midpoint". NaN where
        any element is NaN. f32 and f64.

        # Errors

        An axis out of range; no elements; shares that are not between 0 and 1, or of another dtype; another dtype or interpolation.
        """
    def nanquantile(self, q: _Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear") -> Tensor:
        """As `quantile`, of what is not NaN.

        # Errors

        As `quantile`.
        """
    def gcd(self, other: _Operand) -> Tensor:
        """The greatest common divisor of integers, which is not negative; that of 0 and 0 is 0.

        # Errors

        What is no integer, shapes that do not broadcast, unlike devices.
        """
    def gcd_(self, other: _Operand) -> Self:
        """`gcd`, written into the tensor, which is answered."""
    def lcm(self, other: _Operand) -> Tensor:
        """The least common multiple of integers, which is not negative; 0 where one of them is.

        # Errors

        What is no integer, shapes that do not broadcast, unlike devices.
        """
    def lcm_(self, other: _Operand) -> Self:
        """`lcm`, written into the tensor, which is answered."""
    def igamma(self, other: _Operand) -> Tensor:
        """The regularised lower incomplete gamma function `P(a, x) = ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a)`, with the tensor as `a`, for `a` and `x` that are not
        negative. Integers become the default float; half types are computed in f32. By series and continued fractions, with a gradient by `x` alone.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def igamma_(self, other: _Operand) -> Self:
        """`igamma`, written into the tensor, which is answered."""
    def igammac(self, other: _Operand) -> Tensor:
        """The regularised upper incomplete gamma function `Q(a, x) = 1 − P(a, x)`: see `igamma`.

        # Errors

        Shapes that do not broadcast, unlike devices.
        """
    def igammac_(self, other: _Operand) -> Self:
        """`igammac`, written into the tensor, which is answered."""
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind and order 0. Integers become the default float."""
    def i0_(self) -> Self:
        """`i0`, written into the tensor, which is answered."""
    def polygamma_(self, n: _int) -> Self:
        """The derivative of order n of `digamma`.

        # Errors

        A negative order; a tensor that is not of floats.
        """
    def mvlgamma(self, p: _int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p. Integers become the default float.

        # Errors

        A dimension below 1 or above 1024; truth values.
        """
    def mvlgamma_(self, p: _int) -> Self:
        """`mvlgamma`, written into the tensor, which is answered."""

    # Views and conversions.
    @property
    def T(self) -> Tensor:
        """All axes in reverse order."""
    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
    def to(
        self,
        *args: Tensor | _DType | _Device,
        copy: _bool = False,
        device: _Device | None = None,
        dtype: _DType | None = None,
        non_blocking: _bool = False,
    ) -> Tensor:
        """The tensor on another device, in another dtype, or both; itself where nothing changes. Takes a device, a dtype, or
        a tensor to be like, by place or by name.
        """
    def cpu(self) -> Tensor:
        """The tensor on the host."""
    def cuda(
        self,
        device: _int | _Device | None = None,
        non_blocking: _bool = False,
        memory_format: _Format | None = None,
    ) -> Tensor:
        """The tensor on a CUDA device."""
    @overload
    def type(self, dtype: None = None, non_blocking: _bool = False) -> _DTypeClass:
        """As `to(dtype)`; without one, the dtype."""
    @overload
    def type(self, dtype: _DType, non_blocking: _bool = False) -> Tensor:
        """As `to(dtype)`; without one, the dtype."""
    def float(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(float32)`."""
    def double(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(float64)`."""
    def half(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(float16)`."""
    def bfloat16(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(bfloat16)`."""
    def long(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(int64)`."""
    def int(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(int32)`."""
    def short(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(int16)`."""
    def char(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(int8)`."""
    def byte(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(uint8)`."""
    def bool(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(bool)`."""

    # Indexing.
    def nonzero(self, *, out: None = None, as_tuple: _bool = False) -> Any:
        """The positions of what is not zero: a row each. With `as_tuple`, a tensor for each axis."""
    def where(self, condition: Tensor, other: _Operand) -> Tensor:
        """`self` where the condition holds, else `other`."""

    # Reductions.
    @overload
    def max(self, dim: _int, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Extreme:
        """The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.
        """
    @overload
    def max(self, *, axis: _int, keepdim: _bool = False, keepdims: _bool | None = None) -> Extreme:
        """The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.
        """
    @overload
    def max(
        self,
        dim: Sequence[_int] | Tensor | None = None,
        keepdim: _bool = False,
        *,
        axis: Sequence[_int] | None = None,
        keepdims: _bool | None = None,
        out: None = None,
        other: Tensor | None = None,
    ) -> Tensor:
        """The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.
        """
    @overload
    def min(self, dim: _int, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Extreme:
        """The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.
        """
    @overload
    def min(self, *, axis: _int, keepdim: _bool = False, keepdims: _bool | None = None) -> Extreme:
        """The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.
        """
    @overload
    def min(
        self,
        dim: Sequence[_int] | Tensor | None = None,
        keepdim: _bool = False,
        *,
        axis: Sequence[_int] | None = None,
        keepdims: _bool | None = None,
        out: None = None,
        other: Tensor | None = None,
    ) -> Tensor:
        """The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.
        """

class Value:
    """A number (float64) that remembers how it was computed: micrograd's `Value`."""

    __array_ufunc__: None

    def __new__(cls, data: SupportsFloat, device: _Device | None = None, label: str | None = None) -> Self: ...
    @property
    def data(self) -> _float:
        """The number. Setting it leaves what was computed from it as it is."""
    @data.setter
    def data(self, data: _float) -> None: ...
    @property
    def grad(self) -> _float:
        """The derivative, by this value, of what `backward` was called on; 0 before."""
    @grad.setter
    def grad(self, grad: _float) -> None: ...
    @property
    def label(self) -> str:
        """The name shown in drawings."""
    @label.setter
    def label(self, label: str) -> None: ...
    @property
    def _prev(self) -> set[Value]: ...
    @property
    def _op(self) -> str: ...
    @property
    def is_leaf(self) -> _bool:
        """Whether it was not computed from other values."""
    @property
    def device(self) -> Device:
        """The device it is labelled with."""
    def to(self, device: _Device) -> Value:
        """The same number under another device's label; gradients flow back through it."""
    def cpu(self) -> Value:
        """As `to("cpu")`."""
    def cuda(self, ordinal: _int = 0) -> Value:
        """As `to("cuda:N")`."""
    def backward(self) -> None:
        """Gives every value that this one came from its gradient. Can be called again; leaves accumulate."""
    def zero_grad(self) -> None:
        """Sets the gradient to 0."""
    def relu(self) -> Value:
        """`max(0, x)`."""
    def exp(self) -> Value:
        """`eˣ`."""
    def log(self) -> Value:
        """The natural logarithm."""
    def tanh(self) -> Value:
        """The hyperbolic tangent."""
    def sigmoid(self) -> Value:
        """`1 / (1 + e⁻ˣ)`."""
    def trace(self) -> list[Value]:
        """Every value that this one was computed from, itself last."""
    def dot(self, rankdir: str = "LR") -> str:
        """The graph in Graphviz's DOT language."""
    def svg(self, rankdir: str = "LR") -> str:
        """The graph as an SVG picture; Graphviz is not needed."""
    def _repr_svg_(self) -> str: ...
    def __add__(self, other: Value | _float, /) -> Value: ...
    def __radd__(self, other: _float, /) -> Value: ...
    def __sub__(self, other: Value | _float, /) -> Value: ...
    def __rsub__(self, other: _float, /) -> Value: ...
    def __mul__(self, other: Value | _float, /) -> Value: ...
    def __rmul__(self, other: _float, /) -> Value: ...
    def __truediv__(self, other: Value | _float, /) -> Value: ...
    def __rtruediv__(self, other: _float, /) -> Value: ...
    def __pow__(self, other: Value | _float, modulo: None = None, /) -> Value: ...
    def __rpow__(self, other: _float, modulo: None = None, /) -> Value: ...
    def __neg__(self) -> Value: ...
    def __pos__(self) -> Value: ...
    def __abs__(self) -> Value: ...
    def __lt__(self, other: Value | _float, /) -> _bool: ...
    def __le__(self, other: Value | _float, /) -> _bool: ...
    def __gt__(self, other: Value | _float, /) -> _bool: ...
    def __ge__(self, other: Value | _float, /) -> _bool: ...
    def __eq__(self, other: object, /) -> _bool: ...
    def __ne__(self, other: object, /) -> _bool: ...
    def __hash__(self) -> _int: ...
    def __float__(self) -> _float: ...
    def __bool__(self) -> _bool: ...
    def __round__(self, ndigits: _int | None = None) -> Any: ...
    def __format__(self, spec: str, /) -> str: ...
    def __copy__(self) -> Value: ...
    def __deepcopy__(self, memo: dict[Any, Any], /) -> Value: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class Neuron:
    """`relu(Σ wᵢ·xᵢ + b)`, or the sum alone if not `nonlin`."""

    def __new__(cls, nin: _int, nonlin: _bool = True, seed: _int | None = None) -> Self: ...
    def __call__(self, x: Sequence[Value | _float]) -> Value: ...
    def parameters(self) -> list[Value]:
        """All parameters."""
    def zero_grad(self) -> None:
        """Sets the gradient of each parameter to 0."""
    def to(self, device: _Device) -> Self:
        """Makes new parameters on a device: the same numbers, and no gradient."""
    @property
    def w(self) -> list[Value]:
        """The weights."""
    @property
    def b(self) -> Value:
        """The bias."""
    @property
    def nonlin(self) -> _bool:
        """Whether ReLU follows the sum."""
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: Any, /) -> None: ...

class Layer:
    """Neurons that take the same inputs."""

    def __new__(cls, nin: _int, nout: _int, nonlin: _bool = True, seed: _int | None = None) -> Self: ...
    def __call__(self, x: Sequence[Value | _float]) -> Any: ...
    def parameters(self) -> list[Value]:
        """All parameters."""
    def zero_grad(self) -> None:
        """Sets the gradient of each parameter to 0."""
    def to(self, device: _Device) -> Self:
        """Makes new parameters on a device: the same numbers, and no gradient."""
    @property
    def neurons(self) -> list[Neuron]:
        """The neurons."""
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: Any, /) -> None: ...

class MLP:
    """A multilayer perceptron: layers one after another, all with ReLU but the last, which is linear."""

    def __new__(cls, nin: _int, nouts: Sequence[_int], seed: _int | None = None) -> Self: ...
    def __call__(self, x: Sequence[Value | _float]) -> Any: ...
    def parameters(self) -> list[Value]:
        """All parameters."""
    def zero_grad(self) -> None:
        """Sets the gradient of each parameter to 0."""
    def to(self, device: _Device) -> Self:
        """Makes new parameters on a device: the same numbers, and no gradient."""
    @property
    def layers(self) -> list[Layer]:
        """The layers."""
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: Any, /) -> None: ...

class Jit(Generic[_P, _R]):
    """A function that is recorded when it is called, and replayed once two calls launched the same."""

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def __get__(self, object: Any, _class: Any = None, /) -> Any: ...
    @property
    def __wrapped__(self) -> Callable[_P, _R]: ...
    @property
    def __name__(self) -> str: ...
    @property
    def is_replaying(self) -> _bool:
        """Whether some last call was replayed."""
    @property
    def reason(self) -> str | None:
        """Why the last call was not recorded so that it can be replayed, or None."""

class Explanation:
    """The launches that computing some tensors would take; `print` shows them."""

    @property
    def launches(self) -> list[dict[str, Any]]:
        """The launches in order: what each is, its shape and operations, bytes read and written."""
    @property
    def temporary_bytes(self) -> _int:
        """Bytes of temporary memory."""
    def dot(self) -> str:
        """The launches as a Graphviz drawing."""
    def svg(self) -> str:
        """The launches as an SVG picture: a box for each, with lines from those that it waits for."""
    def _repr_html_(self) -> str: ...
    def __len__(self) -> _int: ...

def jit(function: Callable[_P, _R], *, may_read: _bool = False) -> Jit[_P, _R]:
    """Makes a replayed function of one that takes and answers with tensors. With `may_read` it may read values, and runs as usual then."""

def _is_recording() -> _bool: ...
def _looks_at_state() -> None: ...
def _needs_values() -> None: ...
def _old_reduction(size_average: _bool | None, reduce: _bool | None) -> str | None: ...
def set_printoptions(
    precision: _int | None = None,
    threshold: _float | None = None,
    edgeitems: _int | None = None,
    linewidth: _int | None = None,
    profile: str | None = None,
    sci_mode: _bool | None = None,
) -> None:
    """Says how tensors are printed: digits, how much of long axes is left out, characters of a line, exponents."""

def get_num_threads() -> _int:
    """How many threads a launch on the host may use."""

def set_num_threads(num: _int) -> None:
    """Sets how many threads a launch on the host may use. Results do not depend on it."""

def explain(*tensors: Tensor) -> Explanation:
    """The launches that computing these tensors would take. Nothing is computed."""

def realize(*tensors: Tensor | Sequence[Tensor]) -> None:
    """Computes several tensors together, in as few passes as they share."""

def tensor(
    data: Any,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
) -> Tensor:
    """A tensor of data, copied: floats are of the default dtype, integers i64, truth values bool; what has a dtype keeps it."""

def as_tensor(data: Any, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """A tensor as it is; a NumPy array by its own memory, as by `from_numpy`, where dtype and device are the array's; anything else as by
    `tensor`."""

def from_numpy(array: Any) -> Tensor:
    """A tensor on a NumPy array's own memory."""

def from_dlpack(ext_tensor: Any, *, device: _Device | None = None, copy: _bool | None = None) -> Tensor:
    """A tensor of what another library exports by DLPack: a copy, unless `copy=False` asks for its memory."""

@overload
def zeros(
    shape: Sequence[_int],
    /,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """Zeros, of the default dtype unless asked otherwise."""
@overload
def zeros(
    *shape: _int,
    size: _Sizes | None = None,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """Zeros, of the default dtype unless asked otherwise."""

def zeros_like(
    input: Tensor,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """As `zeros`, in the shape and dtype of another tensor."""

@overload
def ones(
    shape: Sequence[_int],
    /,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """Ones, of the default dtype unless asked otherwise."""
@overload
def ones(
    *shape: _int,
    size: _Sizes | None = None,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """Ones, of the default dtype unless asked otherwise."""

def ones_like(
    input: Tensor,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """As `ones`, in the shape and dtype of another tensor."""

@overload
def empty(
    shape: Sequence[_int],
    /,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """As `zeros`: there is no memory that nobody wrote."""
@overload
def empty(
    *shape: _int,
    size: _Sizes | None = None,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """As `zeros`: there is no memory that nobody wrote."""

def empty_like(
    input: Tensor,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """As `empty`, in the shape and dtype of another tensor."""

def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """As `rand`, in the shape and dtype of another tensor."""

def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """As `randn`, in the shape and dtype of another tensor."""

def full(
    size: _Sizes,
    fill_value: _float | Tensor,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
) -> Tensor:
    """The same value everywhere."""

def full_like(
    input: Tensor,
    fill_value: _float,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
    memory_format: _Format | None = None,
) -> Tensor:
    """The same value everywhere, in the shape and dtype of another tensor."""

def eye(
    n: _int,
    m: _int | None = None,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
) -> Tensor:
    """The identity matrix, or its first `m` columns."""

def arange(
    start: _float | None = None,
    end: _float | None = None,
    step: _float | None = None,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
) -> Tensor:
    """`start`, `start + step`, … before `end`: i64 if all three are integers, else the default dtype."""

def linspace(
    start: _float,
    end: _float,
    steps: _int,
    *,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included."""

@overload
def randint(
    low: _int,
    size: Sequence[_int],
    /,
    *,
    generator: Generator | None = None,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
) -> Tensor:
    """Random integers from `low` (0, if one bound is given) up to `high`, which is left out."""
@overload
def randint(
    low: _int | None = None,
    high: _int | None = None,
    size: Sequence[_int] | None = None,
    *,
    generator: Generator | None = None,
    out: None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
) -> Tensor:
    """Random integers from `low` (0, if one bound is given) up to `high`, which is left out."""

def set_default_device(device: _Device) -> None:
    """Makes this the device of tensors that are made without naming one; the CPU at first, or what MG_DEVICE says."""

def get_default_device() -> Device:
    """The device of tensors that are made without naming one."""

def set_float32_matmul_precision(precision: Literal["highest", "high", "medium"]) -> None:
    """How products of f32 matrices are computed on CUDA devices: "highest" (at first) in f32 throughout, "high" and
    "medium" on tensor cores, with operands rounded to 10 bits of fraction."""

def get_float32_matmul_precision() -> Literal["highest", "high"]:
    """How products of f32 matrices are computed on CUDA devices; "medium" counts as "high"."""

class Generator:
    """A generator of random numbers: a seed and a position. The same seed gives the same numbers on every device."""

    def __new__(cls, device: _Device | None = None) -> Self: ...
    def manual_seed(self, seed: _int) -> Self:
        """Starts anew with a seed; answers with the generator itself."""
    def seed(self) -> _int:
        """Starts anew with a seed that nobody knows, and answers with it."""
    def initial_seed(self) -> _int:
        """The seed."""
    def get_state(self) -> Tensor:
        """The state as a tensor of bytes: seed and position."""
    def set_state(self, new_state: Tensor) -> Self:
        """Goes on from a state that `get_state` answered with."""
    def clone_state(self) -> Generator:
        """A generator of its own in the same state."""
    def __copy__(self) -> Generator: ...
    def __deepcopy__(self, memo: Any) -> Generator: ...
    @property
    def device(self) -> Device:
        """The device that it was made for; it makes the same numbers on every one."""

def manual_seed(seed: _int) -> Generator:
    """Seeds the generator of random tensors, and answers with it: the same seed gives the same numbers, on every device."""
def seed() -> _int:
    """Seeds the generator of random tensors with a seed that nobody knows, and answers with it."""
def initial_seed() -> _int:
    """The seed of the generator of random tensors."""
def get_rng_state() -> Tensor:
    """The state of the generator of random tensors, as a tensor of bytes."""
def set_rng_state(new_state: Tensor) -> None:
    """Lets the generator of random tensors go on from a state that `get_rng_state` answered with."""
def promote_types(type1: _DType, type2: _DType) -> _DTypeClass:
    """The dtype in which two dtypes meet."""
def result_type(tensor1: _Operand, tensor2: _Operand) -> _DTypeClass:
    """The dtype of the result of an operation on two tensors or numbers."""
def can_cast(from_: _DType, to: _DType) -> _bool:
    """Whether a conversion stays within what an operation may do to its result: no floats to integers, nothing to truth values."""
def set_default_dtype(d: _DType) -> None:
    """Makes this the dtype of floating-point numbers that nobody gave one; float32 at first."""
def get_default_dtype() -> _DTypeClass:
    """The dtype of floating-point numbers that nobody gave one."""

def broadcast_shapes(*shapes: _Sizes) -> Size:
    """The shape that shapes broadcast to."""

@overload
def where(condition: Tensor, input: None = None, other: None = None, *, out: None = None) -> tuple[Tensor, ...]:
    """`input` where the condition holds, else `other`; with the condition alone, the positions where it does."""
@overload
def where(condition: Tensor, input: _Operand, other: _Operand, *, out: None = None) -> Tensor:
    """`input` where the condition holds, else `other`; with the condition alone, the positions where it does."""


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: _bool | None = None,
    create_graph: _bool = False,
    only_inputs: _bool = True,
    allow_unused: _bool | None = None,
    is_grads_batched: _bool = False,
    materialize_grads: _bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs` with respect to `inputs`, which may be any tensors on the way. Nothing is
    accumulated. An input that the outputs do not depend on is an error, None with `allow_unused`, or zeros with
    `materialize_grads`. `only_inputs` is always so. With `is_grads_batched` the first axis of each of `grad_outputs` counts gradients, and so does that of the answers:
    as if the function was called for each of them, in one walk.
    """
def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: _bool | None = None,
    create_graph: _bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds the gradients of the sum of `tensors` to the `grad` of every leaf that they depend on, or of `inputs` alone: as if `backward`
    was called of each, in one walk. `grad_tensors` are their gradients, which tensors of one element can do without.
    """

class RemovableHandle:
    """A hook that was registered: `remove()` takes it away again, and so does the end of a `with` block."""

    def remove(self) -> None:
        """Takes the hook away. Again does nothing."""
    @property
    def id(self) -> _int:
        """The hook's number."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

class GradNode:
    """What computed a tensor: an operation as a walk over the graph meets it. Each operation has a class of its own, which is called as it is."""

    def __new__(cls, node: GradNode) -> Self: ...
    def name(self) -> str:
        """The operation's name: `MulBackward0`, `AccumulateGrad` for a leaf."""
    @property
    def next_functions(self) -> tuple[tuple[GradNode | None, _int], ...]:
        """What it was computed of, as far as gradients flow there, and which result of that. Empty once the graph was let go."""
    @property
    def variable(self) -> Tensor:
        """The leaf that it stands for."""
    def register_prehook(self, fn: Callable[[tuple[Tensor | None, ...]], Any]) -> RemovableHandle:
        """Calls `fn(grad_outputs)` with the gradients of the operation's results before those of its inputs are computed; a tuple that it answers
        with takes their place. `remove()` of the answer takes the hook away.
        """
    def register_hook(self, fn: Callable[[tuple[Tensor | None, ...], tuple[Tensor | None, ...]], Any]) -> RemovableHandle:
        """Calls `fn(grad_inputs, grad_outputs)` with the gradients of what the operation was computed of, in the order of `next_functions`, and of its
        results; a tuple that it answers with takes the inputs' place. `remove()` of the answer takes the hook away.
        """

def _multi_grad_hook(tensors: Sequence[Tensor], hook: Callable[..., Any], any: _bool) -> RemovableHandle: ...

class _Saved:
    """What a call has saved."""
    def tensors(self) -> list[Tensor | None]:
        """The tensors."""

class _Level:
    """A function that is differentiated: its inputs, and derivatives of its results."""
    def __new__(cls, name: str, inputs: Sequence[Tensor]) -> Self: ...
    @staticmethod
    def joined(levels: Sequence[_Level]) -> _Level:
        """Several as one, of results that were computed of the inputs of all."""
    def inputs(self) -> list[Tensor]:
        """The inputs that the function is to be called with."""
    def outside(self) -> None:
        """The function has been called."""
    def results(self, results: Sequence[Tensor]) -> list[Tensor]:
        """Results as the outside has them."""
    def vjp(self, results: Sequence[Tensor], given: Sequence[Tensor], last: _bool) -> list[Tensor]:
        """Gradients of the inputs, given those of results."""
    def jvp(self, results: Sequence[Tensor], given: Sequence[Tensor], last: _bool) -> list[Tensor]:
        """Tangents of results, given those of the inputs."""
    def tangents(self, results: Sequence[Tensor], given: Sequence[Tensor], last: _bool) -> list[Tensor | None]:
        """As `jvp`; None where a result was not computed of the inputs."""
    def rows(
        self, results: Sequence[Tensor], chunk: _int | None = None
    ) -> tuple[list[list[Tensor]], list[str]]:
        """The derivatives of each result with respect to each input, by gradients."""
    def columns(
        self, results: Sequence[Tensor], chunk: _int | None = None
    ) -> tuple[list[list[Tensor]], list[str]]:
        """As `rows`, by tangents."""

class _Traced:
    """A function that is called with stand-ins for many examples."""
    def __new__(cls, tensors: Sequence[Tensor], axes: Sequence[_int]) -> Self: ...
    def inside(self) -> list[Tensor]:
        """The stand-ins."""
    def written(self) -> list[_int]:
        """The positions of stand-ins that the function has written to."""
    def batched(
        self, results: Sequence[Tensor], given: Sequence[Tensor], size: _int, randomness: str
    ) -> tuple[list[Tensor], list[str]]:
        """Results for a batch, with the examples in front, and kernels that ran once for each example."""
    def more(self, made: Tensor) -> Tensor:
        """A stand-in for what has been made of examples already, along its first axis: it is given behind the others."""
    def differs(self, result: Tensor) -> _bool:
        """Whether a result differs from example to example."""
    def end(self) -> None:
        """The function has ended."""

class Bytes:
    """A text's bytes in UTF-8: 256 numbers, and nothing to learn."""
    def __new__(cls) -> Self: ...
    @property
    def vocab_size(self) -> _int:
        """How many numbers there are."""
    def encode(self, text: str) -> list[_int]:
        """The numbers of a text."""
    def decode(self, ids: Sequence[_int] | Tensor) -> str:
        """The text of numbers, of a list or a tensor. Bytes that are no UTF-8 become U+FFFD."""
    def __call__(self, text: str) -> Tensor:
        """The numbers of a text as an int64 tensor of one axis."""
    def __len__(self) -> _int: ...

class Table:
    """A CSV file as text, to be taken as numbers, as classes or as it is."""
    @property
    def columns(self) -> list[str]:
        """The columns' names, in order."""
    def __len__(self) -> _int: ...
    def numbers(
        self, columns: str | Sequence[str] | None = None, dtype: _DType | None = None, missing: _float | None = None
    ) -> Tensor:
        """Columns as numbers, `[rows, columns]`, or one of this name, `[rows]`; None is all of them. `dtype` is floating point or int64, and
        an empty field becomes `missing`. Raises `ValueError`, which names file, line and column, for what is no number.
        """
    def labels(self, column: str) -> tuple[Tensor, list[str]]:
        """A column as classes: int64 numbers `[rows]`, and the texts that they stand for, in their order."""
    def strings(self, column: str) -> list[str]:
        """The texts of a column."""

class Characters:
    """A number for each character of a text, in the order of their code points."""
    def __new__(cls, text: str) -> Self: ...
    @property
    def vocab_size(self) -> _int:
        """How many numbers there are."""
    def encode(self, text: str) -> list[_int]:
        """The numbers of a text."""
    def decode(self, ids: Sequence[_int] | Tensor) -> str:
        """The text of numbers, of a list or a tensor. Bytes that are no UTF-8 become U+FFFD."""
    def __call__(self, text: str) -> Tensor:
        """The numbers of a text as an int64 tensor of one axis."""
    def __len__(self) -> _int: ...
    @property
    def alphabet(self) -> str:
        """The characters, in the order of their numbers."""

class BPE:
    """Byte-level byte pair encoding, as GPT-2 has it."""
    @staticmethod
    def train(
        texts: str | Iterable[str],
        vocab_size: _int,
        special_tokens: Sequence[str] = ...,
        min_frequency: _int = 0,
    ) -> BPE:
        """Learns from texts: added tokens come first, then the bytes, then what is joined, the most frequent pair first, until there are
        `vocab_size` tokens or no pair is met `min_frequency` times. Hugging Face's trainer learns the same.
        """
    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> BPE:
        """Reads Hugging Face's `tokenizer.json` with a byte-level BPE model in it. Nothing is put around texts."""
    @staticmethod
    def from_files(vocab: str | os.PathLike[str], merges: str | os.PathLike[str]) -> BPE:
        """Reads the two files that GPT-2 was published with: `vocab.json` and `merges.txt`."""
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a `tokenizer.json`, which Hugging Face's libraries read."""
    def token_to_id(self, token: str) -> _int | None:
        """The number of a token: an added one, or what it stands for."""
    def id_to_token(self, id: _int) -> bytes | None:
        """The bytes that a number stands for."""
    @property
    def vocab_size(self) -> _int:
        """How many numbers there are."""
    def encode(self, text: str) -> list[_int]:
        """The numbers of a text."""
    def decode(self, ids: Sequence[_int] | Tensor) -> str:
        """The text of numbers, of a list or a tensor. Bytes that are no UTF-8 become U+FFFD."""
    def __call__(self, text: str) -> Tensor:
        """The numbers of a text as an int64 tensor of one axis."""
    def __len__(self) -> _int: ...

class _Exporter:
    """An export: as long as there are stand-ins, the model is called with them."""
    def __new__(
        cls,
        inputs: Sequence[Tensor],
        named: Sequence[tuple[str, Tensor]],
        input_names: Sequence[str],
        output_names: Sequence[str],
        dynamic_axes: Sequence[tuple[_int, _int, str]],
    ) -> Self: ...
    def begin(self) -> list[Tensor] | None:
        """Stand-ins that the model is to be called with next, or None when it was called with all."""
    def end(self, results: Sequence[Tensor]) -> None:
        """What the model has made of the stand-ins."""
    def finish(self) -> bytes:
        """The bytes of the file."""

def _checkpoint(function: Callable[[], list[Tensor]], keeps_random: _bool) -> None: ...
def _set_detect_anomaly(on: _bool, check_nan: _bool) -> None: ...
def _anomaly_mode() -> tuple[_bool, _bool]: ...
def _is_tracing() -> _bool: ...

class _Kernel:
    """A function of scalars that is applied to the elements of tensors."""
    @property
    def steps(self) -> _int:
        """How many steps it consists of."""
    @property
    def results(self) -> _int:
        """How many results it has."""
    def __call__(self, *args: Any) -> Any: ...

class _KernelBuilder:
    """A kernel that is being written down."""
    def __new__(cls, name: str, arguments: _int) -> Self: ...
    def argument(self, at: _int) -> _int:
        """The argument at a position."""
    def constant(self, value: _float) -> _int:
        """A number."""
    def call(self, name: str, parts: Sequence[Any]) -> _int:
        """An elementwise operation of values and of constants (each in a tuple of its own)."""
    def select(self, condition: _int, yes: _int, no: _int) -> _int:
        """One value where another holds, else a third."""
    def within(self, condition: _int, value: _int) -> _int:
        """A value as a branch reads it."""
    def shield(self, condition: _int, value: _int) -> _int:
        """A value as a branch divides by it."""
    def cast(self, sort: str, value: _int) -> _int:
        """A value as a `float`, an `int` or a `bool`."""
    def kernel(self, kernel: _Kernel, conditions: Sequence[_int], args: Sequence[_int]) -> list[_int]:
        """The results of another kernel, in branches of these conditions."""
    def end(self, results: Sequence[_int], gradient: _Kernel | None = None) -> _Kernel:
        """The kernel, with a gradient of its own or without."""

class _Raw:
    """A kernel that is CUDA C or PTX text."""
    def __new__(cls, name: str, source: str, is_ptx: _bool, options: Sequence[str], folders: Sequence[str]) -> Self: ...
    def ptx(self, capability: _int) -> str:
        """The PTX for devices of a compute capability."""
    def launch(
        self,
        args: tuple[Any, ...],
        grid: tuple[_int, _int, _int],
        block: tuple[_int, _int, _int],
        shared: _int,
        outputs: Sequence[tuple[Sequence[_int], dtype]],
    ) -> list[Tensor]:
        """Launches it; answers with its results."""

def _elementwise() -> list[tuple[str, str, list[str]]]: ...

class _Begun:
    """A call of an `autograd.Function` that has begun."""
    def __new__(cls, inputs: Sequence[Tensor]) -> Self: ...
    def end(
        self,
        results: Sequence[Tensor],
        saved: Sequence[Tensor | None],
        non_differentiable: Sequence[Tensor],
        dirty: Sequence[Tensor],
        keeps_none: _bool,
        name: str,
        function: Callable[[_Saved, tuple[Tensor | None, ...]], Sequence[Tensor | None]],
        forward: Callable[[_Saved, tuple[Tensor | None, ...]], Sequence[Tensor | None]] | None = None,
        saved_forward: Sequence[Tensor | None] | None = None,
    ) -> list[Tensor]:
        """Ends it with these results: what the caller is to see of them. `function` is the gradient, `forward` gives the tangents, of what was
        saved for them.
        """

def is_autocast_enabled(device_type: str = "cuda") -> _bool:
    """Whether operations on this type of device run in mixed precision."""
def get_autocast_dtype(device_type: str) -> dtype:
    """The dtype that products on this type of device run in, within autocast."""
def set_autocast_enabled(device_type: str, enabled: _bool) -> None:
    """Switches mixed precision on or off for operations on this type of device, on this thread."""
def set_autocast_dtype(device_type: str, dtype: _DType) -> None:
    """Sets the dtype that products on this type of device run in, within autocast, on this thread."""
def is_autocast_cache_enabled() -> _bool:
    """Whether a parameter is converted once in a region of mixed precision."""
def set_autocast_cache_enabled(enabled: _bool) -> None:
    """Has a parameter be converted once in a region of mixed precision, or each time that it is used."""
def clear_autocast_cache() -> None:
    """Forgets the parameters that were converted."""
def _autocast_lists(device_type: str) -> list[tuple[str, str]]: ...
def is_grad_enabled() -> _bool:
    """Whether operations record what gradients need."""

def save_safetensors(tensors: Mapping[str, Tensor], path: _Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes named tensors to a safetensors file, with text as metadata."""

def _safetensors_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of the file that `save_safetensors` writes."""

def _from_safetensors_bytes(data: bytes) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What `load_safetensors` answers with, with its text, of the bytes of a file."""

@overload
def load_safetensors(path: _Path) -> dict[str, Tensor]:
    """The named tensors of a safetensors file; with `metadata`, and its text."""
@overload
def load_safetensors(path: _Path, *, metadata: _bool) -> Any:
    """The named tensors of a safetensors file; with `metadata`, and its text."""

def calculate_gain(nonlinearity: str, param: _float = 0.01) -> _float:
    """The recommended factor for weights before a nonlinearity."""

def uniform_(tensor: Tensor, a: _float = 0.0, b: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform on [a, b)."""
def normal_(tensor: Tensor, mean: _float = 0.0, std: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with this mean and standard deviation."""
def constant_(tensor: Tensor, val: _float = 0.0) -> Tensor:
    """The same value everywhere."""
def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
def xavier_uniform_(tensor: Tensor, gain: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform, scaled by fan-in and fan-out: Glorot and Bengio, 2010."""
def xavier_normal_(tensor: Tensor, gain: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, scaled by fan-in and fan-out: Glorot and Bengio, 2010."""
def kaiming_uniform_(
    tensor: Tensor, a: _float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Uniform, scaled by one of the fans: He et al., 2015."""
def kaiming_normal_(
    tensor: Tensor, a: _float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Normal, scaled by one of the fans: He et al., 2015."""
def trunc_normal_(
    tensor: Tensor, mean: _float = 0.0, std: _float = 1.0, a: _float = -2.0, b: _float = 2.0, generator: Generator | None = None
) -> Tensor:
    """Normal with this mean and standard deviation, within [a, b]: what lies beyond is not drawn."""
def orthogonal_(tensor: Tensor, gain: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Orthonormal rows or columns, whichever are fewer, times `gain`: Saxe, McClelland and Ganguli, 2013."""
def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix, zeros beside it."""
def dirac_(tensor: Tensor, groups: _int = 1) -> Tensor:
    """What keeps the channels of a convolution as they are, within each group: Zagoruyko and Komodakis, 2017."""
def sparse_(tensor: Tensor, sparsity: _float, std: _float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal with this standard deviation, with a part `sparsity` of each column set to 0: Martens, 2010."""

# What the package's own modules use.
def _total_norm(given: Sequence[Tensor], norm_type: _float) -> Tensor: ...
def _clip_grads_with_norm(parameters: Sequence[Tensor], max_norm: _float, total_norm: Tensor) -> None: ...
def _clip_grad_value(parameters: Sequence[Tensor], clip_value: _float) -> None: ...

class _Alone:
    """What an optimiser does by one thread at a time: steps, replayed ones too, loads, saves, and changes of its options."""
    def __new__(cls) -> Self: ...
    def run(self, function: Callable[[], _R]) -> _R:
        """Calls a function while no other thread does anything of it; what this thread does within is a part of that."""

class _Optimizer:
    """A group of parameters of an optimiser of `mg-nn`."""
    def __new__(cls, kind: str, parameters: Sequence[Tensor], options: dict[str, Any], alone: _Alone) -> Self: ...
    def set_options(self, options: dict[str, Any]) -> None:
        """Changes the options for steps to come, replayed ones too."""
    @staticmethod
    def step(groups: Sequence[_Optimizer], left_out: Tensor | None = None) -> None:
        """Changes every parameter that has a gradient, of several groups in one plan.
        Where `left_out` turns out to hold, all stays what it was.
        """
    def state(self) -> dict[str, Tensor]:
        """What it remembers of each parameter."""
    def load_state(self, state: dict[str, Tensor]) -> None: ...
    def put_state(self, state: dict[str, Tensor]) -> None:
        """As `load_state`, where the tensors are its own from now on: steps write to them."""
    def incompatible_keys(self, state: dict[str, Tensor], before: _int) -> tuple[list[str], list[str], list[str]]:
        """What `load_state` would miss, not know, and have otherwise, of parameters that are counted from `before`."""
    def check_options(self, options: dict[str, Any]) -> None:
        """Raises what `set_options` would."""
    def last_change(self) -> _int:
        """The last change of what it remembers: another number after each step and each load, which no other has."""

class _GradScaler:
    """The scale of losses, on a device."""
    def __new__(
        cls, device: _Device, init_scale: _float, growth_factor: _float, backoff_factor: _float, growth_interval: _int
    ) -> Self: ...
    @staticmethod
    def defaults() -> dict[str, Any]:
        """The options, with their defaults."""
    def set_options(self, growth_factor: _float, backoff_factor: _float, growth_interval: _int) -> None:
        """Has it go on otherwise."""
    @property
    def scale(self) -> Tensor:
        """The scale itself."""
    @property
    def growth_tracker(self) -> Tensor:
        """The number of good steps since it last changed."""
    def scaled(self, output: Tensor) -> Tensor:
        """A tensor times the scale."""
    def finding(self) -> Tensor:
        """A place for what is found in the gradients of an optimiser."""
    def unscale(self, parameters: Sequence[Tensor], found: Tensor) -> None:
        """Divides the gradients of parameters by the scale, and notes what is not finite."""
    def update(self, found: Sequence[Tensor]) -> None:
        """The next scale."""
    def set_scale(self, scale: Tensor) -> None:
        """Sets the scale."""
    def set_growth_tracker(self, steps: _int) -> None:
        """Sets the number of good steps since the scale last changed."""

class _Profile:
    """Launches that were timed."""
    @property
    def launches(self) -> list[dict[str, Any]]:
        """The launches in order: times in seconds."""
    def chrome_trace(self) -> str:
        """The launches as `chrome://tracing` and Perfetto show them."""

def _profile_start() -> None: ...
def _profile_stop() -> _Profile: ...

class _Metric:
    """A metric of `mg-nn`."""
    def __new__(cls, kind: str, number: _int, word: str) -> Self: ...
    def update(self, input: Tensor, target: Tensor | None = None) -> None:
        """Adds a batch."""
    def compute(self) -> Tensor:
        """The metric of all batches so far."""
    def reset(self) -> None:
        """Begins anew."""

class _EventWriter:
    """An event file."""
    def __new__(cls, directory: _Path, suffix: str) -> Self: ...
    @property
    def path(self) -> os.PathLike[str]:
        """Where it is."""
    def scalar(self, tag: str, value: _float, step: _int, time: _float | None) -> None: ...
    def histogram(self, tag: str, values: Tensor, bins: _int, step: _int, time: _float | None) -> None: ...
    def image(self, tag: str, image: Tensor, step: _int, time: _float | None) -> None:
        """One image `[channels, height, width]`, with an axis before."""
    def text(self, tag: str, text: str, step: _int, time: _float | None) -> None: ...
    def flush(self) -> None: ...

class _Bar:
    """A bar of progress, as text."""
    def __new__(cls, name: str, total: _int | None, unit: str) -> Self: ...
    def advance(self, steps: _int) -> None: ...
    @property
    def done(self) -> _int: ...
    def set(self, name: str, value: str) -> None: ...
    def text(self, width: _int) -> str: ...

class _History:
    """Numbers by step."""
    def __new__(cls) -> Self: ...
    def log(self, step: _int, name: str, value: _float) -> None: ...
    def names(self) -> list[str]: ...
    def series(self, name: str) -> list[tuple[_float, _float]]: ...
    def to_csv(self) -> str: ...
    def save_csv(self, path: _Path) -> None: ...

def _svg_curves(
    series: Sequence[tuple[str, Sequence[tuple[_float, _float]]]], title: str, xlabel: str, ylabel: str, log: _bool
) -> str: ...
def _svg_scatter(groups: Sequence[tuple[str, Sequence[tuple[_float, _float]]]], title: str, xlabel: str, ylabel: str) -> str: ...
def _svg_histogram(values: Tensor, bins: _int, title: str) -> str: ...
def _svg_images(all: Tensor, columns: _int, scale: _float) -> str: ...
def _svg_confusion_matrix(matrix: Tensor, names: Sequence[str], title: str) -> str: ...

class _LBFGS:
    """L-BFGS of `mg-nn`."""
    def __new__(cls, parameters: Sequence[Tensor], options: dict[str, Any], alone: _Alone) -> Self: ...
    def set_options(self, options: dict[str, Any]) -> None: ...
    def step(self, closure: Callable[[], Any]) -> Any:
        """A step; the closure answers with a loss whose gradients it has computed."""
    def state(self) -> dict[str, Tensor]: ...
    def load_state(self, state: dict[str, Tensor]) -> None: ...
    def put_state(self, state: dict[str, Tensor]) -> None:
        """As `load_state`."""
    def incompatible_keys(self, state: dict[str, Tensor], before: _int) -> tuple[list[str], list[str], list[str]]:
        """What `load_state` would miss, not know, and have otherwise."""
    def check_options(self, options: dict[str, Any]) -> None:
        """Raises what `set_options` would."""
    def last_change(self) -> _int: ...

def _optimizer_defaults(kind: str) -> dict[str, Any]: ...
def _layer_defaults(layer: str) -> dict[str, Any]: ...
def _is_same(a: Tensor, b: Tensor) -> _bool: ...
def _optimizer_memory() -> dict[str, list[str]]: ...

class _Schedule:
    """A schedule of `mg-nn`: how the learning rate goes on from epoch to epoch."""
    @staticmethod
    def step(step_size: _int, gamma: _float) -> _Schedule: ...
    @staticmethod
    def multi_step(milestones: Sequence[_int], gamma: _float) -> _Schedule: ...
    @staticmethod
    def exponential(gamma: _float) -> _Schedule: ...
    @staticmethod
    def cosine(t_max: _int, eta_min: _float) -> _Schedule: ...
    @staticmethod
    def linear(start_factor: _float, end_factor: _float, total_iters: _int) -> _Schedule: ...
    @staticmethod
    def constant(factor: _float, total_iters: _int) -> _Schedule: ...
    @staticmethod
    def polynomial(total_iters: _int, power: _float) -> _Schedule: ...
    @staticmethod
    def restarts(t_0: _int, t_mult: _int, epoch: _float) -> tuple[_float, _float]:
        """How far its cycle a schedule with warm restarts is at an epoch, and how long the cycle is."""
    @staticmethod
    def restarted(base: _float, eta_min: _float, done: _float, length: _float) -> _float:
        """The learning rate so far within a cycle of warm restarts."""
    @staticmethod
    def cyclic(step_size_up: _int, step_size_down: _int, epoch: _int) -> tuple[_int, _float]:
        """The cycle that an epoch is in, and how far up it is."""
    @staticmethod
    def one_cycle(
        total_steps: _int, pct_start: _float, linear: _bool, three_phase: _bool, step: _int
    ) -> tuple[_int, _float]:
        """The phase of one cycle that a step is in, and how far it is."""
    def lr(self, base: _float, epoch: _int) -> _float:
        """The learning rate of an epoch that nothing else acts on."""
    def next(self, now: _float, base: _float, epoch: _int) -> _float:
        """The learning rate of an epoch after that of the epoch before."""
    def start(self, now: _float, base: _float, epoch: _int) -> _float:
        """The learning rate of the epoch where the schedule begins."""

class _Mapped:
    """A safetensors file whose tensors are read when they are asked for."""
    def __new__(cls, path: _Path) -> Self: ...
    def names(self) -> list[str]:
        """The tensors' names."""
    def metadata(self) -> dict[str, str]:
        """What else was saved."""
    def info(self, name: str) -> tuple[_DTypeClass, list[_int]] | None:
        """The dtype and the shape of a tensor; None for one that is not there."""
    def tensor(self, name: str) -> Tensor: ...
    def rows(self, name: str, start: _int, length: _int) -> Tensor: ...

class _Pages:
    """A file of elements whose places are known, which are read when they are looked at."""
    def __new__(cls, path: _Path) -> Self: ...
    def line(self, at: _int, n: _int, dtype: _DType) -> Tensor:
        """`n` elements from a byte of the file on."""

class _Sharded:
    """The tensors of the safetensors files that an index names."""
    def __new__(cls, path: _Path) -> Self: ...
    def names(self) -> list[str]:
        """The tensors' names."""
    def file_of(self, name: str) -> _Mapped:
        """The file that a tensor is in."""

def _save_sharded(tensors: dict[str, Tensor], folder: _Path, max_bytes: _int, metadata: dict[str, str]) -> None: ...

class _Graph:
    """Nodes that are pickled together, each behind its operands."""
    def __new__(cls, outside: Sequence[tuple[_Graph, _int]], nodes: Sequence[Any]) -> Self: ...

def _default_generator() -> Generator: ...
def _draw_from(generator: Generator | None) -> None: ...
class _Turns:
    """What every draw of NumPy's takes, which asks whose stream the next numbers are of. It is no Python code: between what it does no
    signal is looked for, and Ctrl-C finds it whole.
    """
    def __new__(cls, lock: Any, get_state: Any, set_state: Any, mine: Any, everybody: Any) -> Self: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...
    def acquire(self, *how: Any, **named: Any) -> _bool: ...
    def release(self) -> None: ...
    def state_of(self, mine: Any) -> Any:
        """Where a stream is, which need not take its turn for that. The thread does not hold the lock."""
    def get_state(self, legacy: _bool = True) -> Any:
        """NumPy's own function, which takes no lock, for this thread's stream."""
    def set_state(self, state: Any) -> None:
        """As `get_state`."""
    def turn(self, mine: Any) -> None:
        """Whose stream the next numbers are of. The thread holds the lock."""

class _Switch:
    """A block, or a function, in a mode."""
    def __new__(
        cls,
        records: _bool | None = None,
        *,
        inference: _bool | None = None,
        anomaly: tuple[_bool, _bool] | None = None,
        at_once: _bool = False,
    ) -> Self: ...
    def __enter__(self) -> Self | None: ...
    def __exit__(self, exc_type: object = None, error: object = None, traceback: object = None) -> None: ...
    def _run(self, function: Callable[..., _R], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _R: ...
    def _take_back(self) -> None: ...
    def _set_autocast(self, device_type: str, enabled: _bool, of: _DType, caches: _bool) -> None: ...

def is_inference_mode_enabled() -> _bool:
    """Whether `inference_mode` is on."""
def _before_fork() -> None: ...
def _after_fork() -> None: ...
def _rows() -> list[tuple[str, _int, str]]: ...
def _rebuild(bytes: Buffer, shape: Sequence[_int], dtype: str, device: str, requires_grad: _bool) -> Tensor: ...
def _rebuild_value(graph: _Graph, i: _int) -> Value: ...
def _linear_parameters(
    in_features: _int, out_features: _int, bias: _bool, dtype: _DType | None
) -> tuple[Tensor, Tensor | None]: ...
def _embedding_parameters(num_embeddings: _int, embedding_dim: _int, dtype: _DType | None) -> Tensor: ...
def _embedding_renorm(table: Tensor, indices: Tensor, max_norm: _float, norm_type: _float) -> None: ...
def _scale_grad_by_freq(table: Tensor, indices: Tensor) -> Tensor: ...
def _layer_norm_parameters(
    normalized_shape: Sequence[_int], eps: _float, affine: _bool, dtype: _DType | None
) -> tuple[Tensor | None, Tensor | None]: ...
def _mnist(folder: _Path) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def _drawn_digits(train: _int, test: _int, seed: _int) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def _image(path: _Path | None, bytes: bytes, mode: str) -> Tensor: ...
def read_csv(path: _Path, *, delimiter: str = ",", header: _bool = True) -> Table:
    """Reads a CSV file as RFC 4180 has it: `delimiter` parts fields, and with `header` the first row has the columns' names (else they are
    "0", "1", …). Raises `ValueError`, which names file and line, where a row has another number of fields, a quote is not closed, or the
    text is no UTF-8.
    """
def _batches(n: _int, batch: _int, shuffle_seed: _int | None, drop_last: _bool, epoch: _int) -> list[Tensor]: ...

# Operations that are declared in the engine.
def add(input: _Operand, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`a + b`."""

def add_(input: Tensor, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`add`, written into the tensor."""

def sub(input: _Operand, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`a − b`."""

def subtract(input: _Operand, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`a − b`."""

def sub_(input: Tensor, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`sub`, written into the tensor."""

def subtract_(input: Tensor, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`sub`, written into the tensor."""

def mul(input: _Operand, other: _Operand) -> Tensor:
    """`a · b`."""

def multiply(input: _Operand, other: _Operand) -> Tensor:
    """`a · b`."""

def mul_(input: Tensor, other: _Operand) -> Tensor:
    """`mul`, written into the tensor."""

def multiply_(input: Tensor, other: _Operand) -> Tensor:
    """`mul`, written into the tensor."""

def div(input: _Operand, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division."""

def divide(input: _Operand, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division."""

def true_divide(input: _Operand, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division."""

def div_(input: Tensor, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`div`, written into the tensor."""

def divide_(input: Tensor, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`div`, written into the tensor."""

def true_divide_(input: Tensor, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`div`, written into the tensor."""

def maximum(input: _Operand, other: _Operand) -> Tensor:
    """The larger of `a` and `b`; NaN if either is."""

def maximum_(input: Tensor, other: _Operand) -> Tensor:
    """`maximum`, written into the tensor."""

def minimum(input: _Operand, other: _Operand) -> Tensor:
    """The smaller of `a` and `b`; NaN if either is."""

def minimum_(input: Tensor, other: _Operand) -> Tensor:
    """`minimum`, written into the tensor."""

def neg(input: Tensor) -> Tensor:
    """`−a`."""

def negative(input: Tensor) -> Tensor:
    """`−a`."""

def neg_(input: Tensor) -> Tensor:
    """`neg`, written into the tensor."""

def negative_(input: Tensor) -> Tensor:
    """`neg`, written into the tensor."""

def abs(input: Tensor) -> Tensor:
    """`|a|`."""

def absolute(input: Tensor) -> Tensor:
    """`|a|`."""

def abs_(input: Tensor) -> Tensor:
    """`abs`, written into the tensor."""

def absolute_(input: Tensor) -> Tensor:
    """`abs`, written into the tensor."""

def sign(input: Tensor) -> Tensor:
    """−1, 0 or 1 with the sign of `a`; 0 of NaN."""

def sgn(input: Tensor) -> Tensor:
    """−1, 0 or 1 with the sign of `a`; 0 of NaN."""

def sign_(input: Tensor) -> Tensor:
    """`sign`, written into the tensor."""

def sgn_(input: Tensor) -> Tensor:
    """`sign`, written into the tensor."""

def square(input: Tensor) -> Tensor:
    """`a · a`."""

def square_(input: Tensor) -> Tensor:
    """`square`, written into the tensor."""

def relu(input: Tensor) -> Tensor:
    """`max(a, 0)`; NaN stays."""

def relu_(input: Tensor) -> Tensor:
    """`relu`, written into the tensor."""

def exp(input: Tensor) -> Tensor:
    """`eᵃ`."""

def exp_(input: Tensor) -> Tensor:
    """`exp`, written into the tensor."""

def log(input: Tensor) -> Tensor:
    """The natural logarithm."""

def log_(input: Tensor) -> Tensor:
    """`log`, written into the tensor."""

def sqrt(input: Tensor) -> Tensor:
    """The correctly rounded square root."""

def sqrt_(input: Tensor) -> Tensor:
    """`sqrt`, written into the tensor."""

def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""

def tanh_(input: Tensor) -> Tensor:
    """`tanh`, written into the tensor."""

def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + e⁻ᵃ)`."""

def sigmoid_(input: Tensor) -> Tensor:
    """`sigmoid`, written into the tensor."""

def sin(input: Tensor) -> Tensor:
    """The sine, of radians."""

def sin_(input: Tensor) -> Tensor:
    """`sin`, written into the tensor."""

def cos(input: Tensor) -> Tensor:
    """The cosine, of radians."""

def cos_(input: Tensor) -> Tensor:
    """`cos`, written into the tensor."""

def erf(input: Tensor) -> Tensor:
    """The error function."""

def _special_erf(input: Tensor) -> Tensor:
    """The error function."""

def erf_(input: Tensor) -> Tensor:
    """`erf`, written into the tensor."""

def _special_erf_(input: Tensor) -> Tensor:
    """`erf`, written into the tensor."""

def expm1(input: Tensor) -> Tensor:
    """`eᵃ − 1`, which keeps its digits where `a` is small."""

def _special_expm1(input: Tensor) -> Tensor:
    """`eᵃ − 1`, which keeps its digits where `a` is small."""

def expm1_(input: Tensor) -> Tensor:
    """`expm1`, written into the tensor."""

def _special_expm1_(input: Tensor) -> Tensor:
    """`expm1`, written into the tensor."""

def log1p(input: Tensor) -> Tensor:
    """`log(1 + a)`, which keeps its digits where `a` is small."""

def _special_log1p(input: Tensor) -> Tensor:
    """`log(1 + a)`, which keeps its digits where `a` is small."""

def log1p_(input: Tensor) -> Tensor:
    """`log1p`, written into the tensor."""

def _special_log1p_(input: Tensor) -> Tensor:
    """`log1p`, written into the tensor."""

def exp2(input: Tensor) -> Tensor:
    """`2ᵃ`."""

def _special_exp2(input: Tensor) -> Tensor:
    """`2ᵃ`."""

def exp2_(input: Tensor) -> Tensor:
    """`exp2`, written into the tensor."""

def _special_exp2_(input: Tensor) -> Tensor:
    """`exp2`, written into the tensor."""

def log2(input: Tensor) -> Tensor:
    """The logarithm of base 2."""

def log2_(input: Tensor) -> Tensor:
    """`log2`, written into the tensor."""

def log10(input: Tensor) -> Tensor:
    """The logarithm of base 10."""

def log10_(input: Tensor) -> Tensor:
    """`log10`, written into the tensor."""

def tan(input: Tensor) -> Tensor:
    """The tangent, of radians."""

def tan_(input: Tensor) -> Tensor:
    """`tan`, written into the tensor."""

def asin(input: Tensor) -> Tensor:
    """The angle of a sine, from −π/2 to π/2."""

def arcsin(input: Tensor) -> Tensor:
    """The angle of a sine, from −π/2 to π/2."""

def asin_(input: Tensor) -> Tensor:
    """`asin`, written into the tensor."""

def arcsin_(input: Tensor) -> Tensor:
    """`asin`, written into the tensor."""

def acos(input: Tensor) -> Tensor:
    """The angle of a cosine, from 0 to π."""

def arccos(input: Tensor) -> Tensor:
    """The angle of a cosine, from 0 to π."""

def acos_(input: Tensor) -> Tensor:
    """`acos`, written into the tensor."""

def arccos_(input: Tensor) -> Tensor:
    """`acos`, written into the tensor."""

def atan(input: Tensor) -> Tensor:
    """The angle of a tangent, from −π/2 to π/2."""

def arctan(input: Tensor) -> Tensor:
    """The angle of a tangent, from −π/2 to π/2."""

def atan_(input: Tensor) -> Tensor:
    """`atan`, written into the tensor."""

def arctan_(input: Tensor) -> Tensor:
    """`atan`, written into the tensor."""

def atan2(input: _Operand, other: _Operand) -> Tensor:
    """The angle of the point with the coordinates `b` and `a`, from −π to π."""

def arctan2(input: _Operand, other: _Operand) -> Tensor:
    """The angle of the point with the coordinates `b` and `a`, from −π to π."""

def atan2_(input: Tensor, other: _Operand) -> Tensor:
    """`atan2`, written into the tensor."""

def arctan2_(input: Tensor, other: _Operand) -> Tensor:
    """`atan2`, written into the tensor."""

def sinh(input: Tensor) -> Tensor:
    """The hyperbolic sine."""

def sinh_(input: Tensor) -> Tensor:
    """`sinh`, written into the tensor."""

def cosh(input: Tensor) -> Tensor:
    """The hyperbolic cosine."""

def cosh_(input: Tensor) -> Tensor:
    """`cosh`, written into the tensor."""

def asinh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic sine."""

def arcsinh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic sine."""

def asinh_(input: Tensor) -> Tensor:
    """`asinh`, written into the tensor."""

def arcsinh_(input: Tensor) -> Tensor:
    """`asinh`, written into the tensor."""

def acosh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic cosine; NaN below 1."""

def arccosh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic cosine; NaN below 1."""

def acosh_(input: Tensor) -> Tensor:
    """`acosh`, written into the tensor."""

def arccosh_(input: Tensor) -> Tensor:
    """`acosh`, written into the tensor."""

def atanh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic tangent; NaN beyond 1."""

def arctanh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic tangent; NaN beyond 1."""

def atanh_(input: Tensor) -> Tensor:
    """`atanh`, written into the tensor."""

def arctanh_(input: Tensor) -> Tensor:
    """`atanh`, written into the tensor."""

def erfc(input: Tensor) -> Tensor:
    """`1 − erf a`, which keeps its digits where that is small."""

def _special_erfc(input: Tensor) -> Tensor:
    """`1 − erf a`, which keeps its digits where that is small."""

def erfc_(input: Tensor) -> Tensor:
    """`erfc`, written into the tensor."""

def _special_erfc_(input: Tensor) -> Tensor:
    """`erfc`, written into the tensor."""

def _special_erfcx(input: Tensor) -> Tensor:
    """`e^(a²) · erfc a`."""

def _special_entr(input: Tensor) -> Tensor:
    """`−a ln a`; 0 at 0, and −∞ below."""

def erfinv(input: Tensor) -> Tensor:
    """The inverse of the error function; NaN beyond 1."""

def _special_erfinv(input: Tensor) -> Tensor:
    """The inverse of the error function; NaN beyond 1."""

def erfinv_(input: Tensor) -> Tensor:
    """`erfinv`, written into the tensor."""

def _special_erfinv_(input: Tensor) -> Tensor:
    """`erfinv`, written into the tensor."""

def _special_ndtri(input: Tensor) -> Tensor:
    """The number below which the normal distribution has the part `a`; NaN outside [0, 1]."""

def lgamma(input: Tensor) -> Tensor:
    """The logarithm of the magnitude of the gamma function."""

def lgamma_(input: Tensor) -> Tensor:
    """`lgamma`, written into the tensor."""

def digamma(input: Tensor) -> Tensor:
    """The derivative of `lgamma`."""

def _special_digamma(input: Tensor) -> Tensor:
    """The derivative of `lgamma`."""

def digamma_(input: Tensor) -> Tensor:
    """`digamma`, written into the tensor."""

def _special_digamma_(input: Tensor) -> Tensor:
    """`digamma`, written into the tensor."""

def _special_i0e(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 0, times `e^(−|a|)`."""

def _special_i1e(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 1, times `e^(−|a|)`."""

def copysign(input: _Operand, other: _Operand) -> Tensor:
    """`|a|` with the sign of `b`, zeros and NaN included."""

def copysign_(input: Tensor, other: _Operand) -> Tensor:
    """`copysign`, written into the tensor."""

def floor(input: Tensor) -> Tensor:
    """The largest whole number that is no larger. Integers stay."""

def floor_(input: Tensor) -> Tensor:
    """`floor`, written into the tensor."""

def ceil(input: Tensor) -> Tensor:
    """The smallest whole number that is no smaller. Integers stay."""

def ceil_(input: Tensor) -> Tensor:
    """`ceil`, written into the tensor."""

def round(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """The nearest whole number, of two the even one. Integers stay."""

def _special_round(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """The nearest whole number, of two the even one. Integers stay."""

def round_(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """`round`, written into the tensor."""

def _special_round_(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """`round`, written into the tensor."""

def trunc(input: Tensor) -> Tensor:
    """The whole number next towards zero. Integers stay."""

def fix(input: Tensor) -> Tensor:
    """The whole number next towards zero. Integers stay."""

def trunc_(input: Tensor) -> Tensor:
    """`trunc`, written into the tensor."""

def fix_(input: Tensor) -> Tensor:
    """`trunc`, written into the tensor."""

def fmod(input: _Operand, other: _Operand) -> Tensor:
    """The remainder of `a / b` with the sign of `a`, exact: C's `fmod`. Of integers an integer."""

def fmod_(input: Tensor, other: _Operand) -> Tensor:
    """`fmod`, written into the tensor."""

def bitwise_and(input: _Operand, other: _Operand) -> Tensor:
    """The bits that are set in both integers; of truth values, `logical_and`."""

def bitwise_and_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_and`, written into the tensor."""

def bitwise_or(input: _Operand, other: _Operand) -> Tensor:
    """The bits that are set in either integer; of truth values, `logical_or`."""

def bitwise_or_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_or`, written into the tensor."""

def bitwise_xor(input: _Operand, other: _Operand) -> Tensor:
    """The bits that are set in one of two integers; of truth values, `logical_xor`."""

def bitwise_xor_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_xor`, written into the tensor."""

def bitwise_left_shift(input: _Operand, other: _Operand) -> Tensor:
    """The bits of an integer moved up by `b`; 0 where `b` is negative or not smaller than the number of bits."""

def bitwise_left_shift_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_left_shift`, written into the tensor."""

def bitwise_right_shift(input: _Operand, other: _Operand) -> Tensor:
    """The bits of an integer moved down by `b`, its sign kept; the sign alone where `b` is negative or not smaller than
     the number of bits.
    """

def bitwise_right_shift_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_right_shift`, written into the tensor."""

def lt(input: _Operand, other: _Operand) -> Tensor:
    """`a < b`."""

def less(input: _Operand, other: _Operand) -> Tensor:
    """`a < b`."""

def lt_(input: Tensor, other: _Operand) -> Tensor:
    """`lt`, written into the tensor."""

def less_(input: Tensor, other: _Operand) -> Tensor:
    """`lt`, written into the tensor."""

def le(input: _Operand, other: _Operand) -> Tensor:
    """`a ≤ b`."""

def less_equal(input: _Operand, other: _Operand) -> Tensor:
    """`a ≤ b`."""

def le_(input: Tensor, other: _Operand) -> Tensor:
    """`le`, written into the tensor."""

def less_equal_(input: Tensor, other: _Operand) -> Tensor:
    """`le`, written into the tensor."""

def eq(input: _Operand, other: _Operand) -> Tensor:
    """`a = b`."""

def eq_(input: Tensor, other: _Operand) -> Tensor:
    """`eq`, written into the tensor."""

def ne(input: _Operand, other: _Operand) -> Tensor:
    """`a ≠ b`; true when either is NaN."""

def not_equal(input: _Operand, other: _Operand) -> Tensor:
    """`a ≠ b`; true when either is NaN."""

def ne_(input: Tensor, other: _Operand) -> Tensor:
    """`ne`, written into the tensor."""

def not_equal_(input: Tensor, other: _Operand) -> Tensor:
    """`ne`, written into the tensor."""

def logical_and(input: _Operand, other: _Operand) -> Tensor:
    """`a` and `b`."""

def logical_and_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_and`, written into the tensor."""

def logical_or(input: _Operand, other: _Operand) -> Tensor:
    """`a` or `b`."""

def logical_or_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_or`, written into the tensor."""

def logical_xor(input: _Operand, other: _Operand) -> Tensor:
    """`a` or `b`, not both."""

def logical_xor_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_xor`, written into the tensor."""

def logical_not(input: Tensor) -> Tensor:
    """Not `a`."""

def logical_not_(input: Tensor) -> Tensor:
    """`logical_not`, written into the tensor."""

def _nn_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Gaussian error linear unit, `x Φ(x)` (Hendrycks and Gimpel, 2016): by the error function or, with
    `approximate = "tanh"`, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`. Integers become the default float.

    # Errors

    Another word than `"none"` and `"tanh"`.
    """

def _nn_silu(input: Tensor) -> Tensor:
    """Sigmoid linear unit, `x σ(x)`. Integers become the default float."""

def _nn_silu_(input: Tensor) -> Tensor:
    """`silu`, written into the tensor."""

def _nn_leaky_relu(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """`x`, or `negative_slope · x` where `x` is not positive. Integers become the default float."""

def _nn_leaky_relu_(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """`leaky_relu`, written into the tensor."""

def celu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive (Barron, 2017). Integers become the default float.

    # Errors

    An `alpha` of 0.
    """

def _nn_celu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive (Barron, 2017). Integers become the default float.

    # Errors

    An `alpha` of 0.
    """

def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`celu`, written into the tensor."""

def _nn_celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`celu`, written into the tensor."""

def _nn_elu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`x`, or `alpha (eˣ − 1)` where `x` is not positive (Clevert, Unterthiner and Hochreiter, 2015). Integers become the default float."""

def _nn_elu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`elu`, written into the tensor."""

def selu(input: Tensor) -> Tensor:
    """`elu` with the scales that keep mean 0 and variance 1 from layer to layer (Klambauer et al., 2017). Integers become the default float."""

def _nn_selu(input: Tensor) -> Tensor:
    """`elu` with the scales that keep mean 0 and variance 1 from layer to layer (Klambauer et al., 2017). Integers become the default float."""

def selu_(input: Tensor) -> Tensor:
    """`selu`, written into the tensor."""

def _nn_selu_(input: Tensor) -> Tensor:
    """`selu`, written into the tensor."""

def softplus(input: Tensor, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
    """`log(1 + exp(beta · x)) / beta`, without overflow, and `x` where `beta · x` is above `threshold`. From a threshold of 20
    on that changes nothing that f32 could tell, and what is more exact is computed. Integers become the default float.
    """

def _nn_softplus(input: Tensor, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
    """`log(1 + exp(beta · x)) / beta`, without overflow, and `x` where `beta · x` is above `threshold`. From a threshold of 20
    on that changes nothing that f32 could tell, and what is more exact is computed. Integers become the default float.
    """

def softplus_(input: Tensor, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
    """`softplus`, written into the tensor."""

def _nn_softplus_(input: Tensor, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
    """`softplus`, written into the tensor."""

def _nn_hardtanh(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
    """`x`, no smaller than `min_val` and no larger than `max_val`; the gradient is 0 at the bounds. Integers stay.

    # Errors

    Truth values; a `max_val` below 0 for unsigned integers; a `min_val` above `max_val`.
    """

def _nn_hardtanh_(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
    """`hardtanh`, written into the tensor."""

def _nn_relu6(input: Tensor) -> Tensor:
    """`x`, no smaller than 0 and no larger than 6; the gradient is 0 at the bounds. Integers stay.

    # Errors

    Truth values.
    """

def _nn_relu6_(input: Tensor) -> Tensor:
    """`relu6`, written into the tensor."""

def _nn_logsigmoid(input: Tensor) -> Tensor:
    """`log σ(x)`, without overflow. Integers become the default float."""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`x`, or `weight · x` where `x` is not positive; `weight` is one number, or one for each position along axis 1 (He et al.,
    2015). Integers become the default float.

    # Errors

    A weight of more than one axis, or of another size than axis 1; unlike dtypes.
    """

def _nn_prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`x`, or `weight · x` where `x` is not positive; `weight` is one number, or one for each position along axis 1 (He et al.,
    2015). Integers become the default float.

    # Errors

    A weight of more than one axis, or of another size than axis 1; unlike dtypes.
    """

def _nn_mish(input: Tensor) -> Tensor:
    """`x tanh(softplus(x))` (Misra, 2019). Integers become the default float."""

def _nn_mish_(input: Tensor) -> Tensor:
    """`mish`, written into the tensor."""

def _nn_softsign(input: Tensor) -> Tensor:
    """`x / (1 + |x|)`. Integers become the default float."""

def _nn_hardswish(input: Tensor) -> Tensor:
    """`x` times a sixth of `x + 3`, that no smaller than 0 and no larger than 6 (Howard et al., 2019). Integers become the default float."""

def _nn_hardswish_(input: Tensor) -> Tensor:
    """`hardswish`, written into the tensor."""

def _nn_hardsigmoid(input: Tensor) -> Tensor:
    """A sixth of `x + 3`, that no smaller than 0 and no larger than 6. Integers become the default float."""

def _nn_hardsigmoid_(input: Tensor) -> Tensor:
    """`hardsigmoid`, written into the tensor."""

def hardshrink(input: Tensor, lambd: _float = 0.5) -> Tensor:
    """`x`, or 0 where `|x|` is not above `lambd`; NaN stays. Integers become the default float."""

def _nn_hardshrink(input: Tensor, lambd: _float = 0.5) -> Tensor:
    """`x`, or 0 where `|x|` is not above `lambd`; NaN stays. Integers become the default float."""

def _nn_softshrink(input: Tensor, lambd: _float = 0.5) -> Tensor:
    """`x` moved towards 0 by `lambd`, and 0 where that would pass it; NaN stays. Integers become the default float.

    # Errors

    A `lambd` below 0.
    """

def _nn_tanhshrink(input: Tensor) -> Tensor:
    """`x − tanh(x)`. Integers become the default float."""

def threshold(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`x` where it is above `threshold`, else `value`; NaN stays. Integers stay.

    # Errors

    Truth values.
    """

def _nn_threshold(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`x` where it is above `threshold`, else `value`; NaN stays. Integers stay.

    # Errors

    Truth values.
    """

def threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`threshold`, written into the tensor."""

def _nn_threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`threshold`, written into the tensor."""

def _nn_glu(input: Tensor, dim: _int = -1) -> Tensor:
    """The first half along an axis, times the sigmoid of the second (Dauphin et al., 2017). Integers become the default float.

    # Errors

    No axes; an axis of odd size.
    """

def softmax(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """`eˣ / Σ eˣ` along an axis, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is taken, or axis 0 of
    tensors of no, one or three axes.

    # Errors

    An axis out of range, a `dtype` of integers.
    """

def _nn_softmax(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """`eˣ / Σ eˣ` along an axis, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is taken, or axis 0 of
    tensors of no, one or three axes.

    # Errors

    An axis out of range, a `dtype` of integers.
    """

def log_softmax(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """`log softmax` along an axis, without overflow, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is
    taken, or axis 0 of tensors of no, one or three axes.

    # Errors

    An axis out of range, a `dtype` of integers.
    """

def _nn_log_softmax(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """`log softmax` along an axis, without overflow, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is
    taken, or axis 0 of tensors of no, one or three axes.

    # Errors

    An axis out of range, a `dtype` of integers.
    """

def _nn_softmin(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """The softmax of `−x`; see `softmax`.

    # Errors

    An axis out of range, a `dtype` of integers.
    """

def _nn_gumbel_softmax(logits: Tensor, tau: _float = 1.0, hard: _bool = False, dim: _int = -1) -> Tensor:
    """A sample of a categorical distribution with the log probabilities `logits`, softened: the softmax of what they are with
    Gumbel noise, divided by `tau` (Jang, Gu and Poole, 2016; Maddison, Mnih and Teh, 2016). With `hard`, zeros and a one, with the
    gradient of the softened sample. Integers become the default float.

    # Errors

    An axis out of range; with `hard`, an axis of size 0.
    """

def rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False) -> Tensor:
    """`x`, or `x` times a slope where `x` is not positive: in training one for each element, drawn uniformly from [lower, upper),
    else their mean (Xu et al., 2015). Integers become the default float.

    # Errors

    A `lower` above `upper`.
    """

def _nn_rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False) -> Tensor:
    """`x`, or `x` times a slope where `x` is not positive: in training one for each element, drawn uniformly from [lower, upper),
    else their mean (Xu et al., 2015). Integers become the default float.

    # Errors

    A `lower` above `upper`.
    """

def rrelu_(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False) -> Tensor:
    """`rrelu`, written into the tensor."""

def _nn_rrelu_(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False) -> Tensor:
    """`rrelu`, written into the tensor."""

def _nn_scaled_dot_product_attention(input: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: _float = 0.0, is_causal: _bool = False, *, scale: _float | None = None, enable_gqa: _bool = False) -> Tensor:
    """Attention (Vaswani et al., 2017): for queries `[…, l, e]`, keys `[…, s, e]` and values `[…, s, v]`, the means `[…, l, v]` of the
    values by weights `softmax(scale · q kᵀ + mask)`. `scale` is 1/√e where it is not given. A mask broadcasts to `[…, l, s]`: of
    truth values, it says which keys take part; of numbers, what is added. With `is_causal` a query takes the keys up to its own position.
    A query that takes no key is answered with 0 (with NaN where a score is no number: a mask of truth values adds 0 or −∞). Weights are left out with probability `dropout_p`, and the others scaled by
    1/(1 − `dropout_p`). Scores never all lie in memory where there are many of them: with `dropout_p`, or a mask that requires a gradient, they are
    computed some queries at a time, and again for gradients. With `enable_gqa` the third last axis counts heads, of which keys and values may have fewer: each of theirs serves as many
    neighbouring ones of the query.

    # Errors

    Shapes that do not fit; what are no floats of one dtype; a mask together with `is_causal`; a probability outside [0, 1]; unlike devices.
    """

def _special_bessel_j0(input: Tensor) -> Tensor:
    """J₀, the Bessel function of the first kind of order 0. Integers become the default float; half types are computed in f32."""

def _special_bessel_j1(input: Tensor) -> Tensor:
    """J₁, the Bessel function of the first kind of order 1. Integers become the default float; half types are computed in f32."""

def _special_bessel_y0(input: Tensor) -> Tensor:
    """Y₀, the Bessel function of the second kind of order 0: −∞ at 0, NaN of negative numbers. Integers become the default float; half
    types are computed in f32.
    """

def _special_bessel_y1(input: Tensor) -> Tensor:
    """Y₁, the Bessel function of the second kind of order 1: −∞ at 0, NaN of negative numbers. Integers become the default float; half
    types are computed in f32.
    """

def _special_modified_bessel_k0(input: Tensor) -> Tensor:
    """K₀, the modified Bessel function of the second kind of order 0: ∞ at 0, NaN of negative numbers. Integers become the default
    float; half types are computed in f32.
    """

def _special_modified_bessel_k1(input: Tensor) -> Tensor:
    """K₁, the modified Bessel function of the second kind of order 1: ∞ at 0, NaN of negative numbers. Integers become the default
    float; half types are computed in f32.
    """

def _special_scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """`exp(x) · modified_bessel_k0(x)`, which does not become 0 so soon."""

def _special_scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """`exp(x) · modified_bessel_k1(x)`, which does not become 0 so soon."""

def _special_spherical_bessel_j0(input: Tensor) -> Tensor:
    """Bessel's spherical function of order 0, `sin(x) / x`: 1 at 0, and 0 at infinity. Integers become the default float; half types are
    computed in f32.
    """

def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, l]` (or `[c, l]`) with a weight `[o, c / groups, k]`, plus a bias `[o]`:
    `[n, o, (l + 2 padding − dilation (k − 1) − 1) / stride + 1]`. A padding of `"same"` keeps `l`, `"valid"` is none. Products of
    f32 are exact; half types are added in f32, integers as such.

    # Errors

    Shapes that do not fit, a kernel larger than the padded input, numbers that are not positive, truth values.
    """

def _nn_conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, l]` (or `[c, l]`) with a weight `[o, c / groups, k]`, plus a bias `[o]`:
    `[n, o, (l + 2 padding − dilation (k − 1) − 1) / stride + 1]`. A padding of `"same"` keeps `l`, `"valid"` is none. Products of
    f32 are exact; half types are added in f32, integers as such.

    # Errors

    Shapes that do not fit, a kernel larger than the padded input, numbers that are not positive, truth values.
    """

def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[o, c / groups, kh, kw]`, plus a bias
    `[o]`; see `conv1d` for sizes. Stride, padding and dilation are one number, or one for each axis.

    # Errors

    As `conv1d`.
    """

def _nn_conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[o, c / groups, kh, kw]`, plus a bias
    `[o]`; see `conv1d` for sizes. Stride, padding and dilation are one number, or one for each axis.

    # Errors

    As `conv1d`.
    """

def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[o, c / groups, kd, kh, kw]`, plus a
    bias `[o]`; see `conv1d` for sizes.

    # Errors

    As `conv1d`.
    """

def _nn_conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[o, c / groups, kd, kh, kw]`, plus a
    bias `[o]`; see `conv1d` for sizes.

    # Errors

    As `conv1d`.
    """

def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, l]` (or `[c, l]`) with a weight `[c, o / groups, k]`, plus a bias `[o]`: the gradient of a
    convolution by its input, `[n, o, (l − 1) stride − 2 padding + dilation (k − 1) + output_padding + 1]`.

    # Errors

    Shapes that do not fit; an output padding that is not smaller than stride or dilation.
    """

def _nn_conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, l]` (or `[c, l]`) with a weight `[c, o / groups, k]`, plus a bias `[o]`: the gradient of a
    convolution by its input, `[n, o, (l − 1) stride − 2 padding + dilation (k − 1) + output_padding + 1]`.

    # Errors

    Shapes that do not fit; an output padding that is not smaller than stride or dilation.
    """

def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[c, o / groups, kh, kw]`, plus a bias `[o]`; see
    `conv_transpose1d` for sizes.

    # Errors

    As `conv_transpose1d`.
    """

def _nn_conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[c, o / groups, kh, kw]`, plus a bias `[o]`; see
    `conv_transpose1d` for sizes.

    # Errors

    As `conv_transpose1d`.
    """

def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[c, o / groups, kd, kh, kw]`, plus a bias `[o]`;
    see `conv_transpose1d` for sizes.

    # Errors

    As `conv_transpose1d`.
    """

def _nn_conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[c, o / groups, kd, kh, kw]`, plus a bias `[o]`;
    see `conv_transpose1d` for sizes.

    # Errors

    As `conv_transpose1d`.
    """

def scalar_tensor(s: _Operand, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A number as a tensor without axes; of the default dtype unless another is named.

    # Errors

    A device that is not there.
    """

@overload
def rand(size: _Sizes | None = None, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Uniform random numbers in [0, 1), of the default dtype unless another is named.

    # Errors

    A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.
    """
@overload
def rand(*size: _int, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Uniform random numbers in [0, 1), of the default dtype unless another is named.

    # Errors

    A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.
    """

@overload
def randn(size: _Sizes | None = None, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Normal random numbers of mean 0 and variance 1, of the default dtype unless another is named.

    # Errors

    A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.
    """
@overload
def randn(*size: _int, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Normal random numbers of mean 0 and variance 1, of the default dtype unless another is named.

    # Errors

    A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.
    """

def logspace(start: _float, end: _float, steps: _int, base: _float = 10.0, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """`steps` powers of `base`, whose exponents are evenly spaced from `start` to `end`, both included. Computed in f64, and
    rounded once; where the dtype is one of integers, from `start` and `end` without their fractions, as PyTorch does.

    # Errors

    Too many of them; a device that is not there.
    """

def range(start: _float, end: _float, step: _float = 1.0, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """`start`, `start + step`, … up to `end`, which is included; of the default dtype unless another is named. `arange`, which
    leaves the end out, is what one wants.

    # Errors

    Bounds that are not finite or that the step does not lead to; a step of 0; a device that is not there.
    """

def randperm(n: _int, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """The integers below `n` in a random order, i64 unless another dtype is named.

    # Errors

    A dtype that does not hold all of them, truth values; a device that is not there.
    """

def randint_like(input: Tensor, low: _int | None = None, high: _int | None = None, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Random integers from `low` up to `high`, which is left out (from 0 up to `low`, if one bound is given), in the shape of a
    tensor; in its dtype and on its device unless others are named.

    # Errors

    No bound; bounds with no integer between them, or beyond an integer dtype; a device that is not there.
    """

def normal(mean: _Operand, std: _Operand = 1.0, size: _Sizes | None = None, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Normal random numbers of a mean and a standard deviation, which are numbers or tensors that broadcast; of two numbers, in
    a shape. Gradients of means and deviations are zeros.

    # Errors

    Tensors that are not of floats, that do not broadcast, or on unlike devices; a deviation that is negative or no number: what is
    not known yet is found when the numbers are drawn; numbers without a shape, a shape beside tensors.
    """

def bernoulli(input: Tensor, p: _float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probabilities that a tensor holds (or with `p` everywhere), else 0, in its dtype. Gradients of the probabilities are zeros.

    # Errors

    Probabilities that are not floats; ones outside [0, 1]: what is not known yet is found when the draws are computed.
    """

def multinomial(input: Tensor, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
    """Positions (i64) drawn with the weights along the last axis, which need not add up to 1: `num_samples` of each row. Without
    replacement, the first of an exponential race (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006); with it,
    where so many numbers fall among the running sums of the weights. A single one is the first of a race.

    # Errors

    Weights that are not floats, other than one or two axes; no samples, or without replacement more than there are weights. Weights
    that are negative or not finite, rows of zeros: what is not known yet is found when the samples are computed.
    """

def _nn_ctc_loss(input: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[_int], target_lengths: Tensor | Sequence[_int], blank: _int = 0, reduction: str = "mean", zero_infinity: _bool = False) -> Tensor:
    """The negative logarithm of the probability that a line of labels comes out where repeated labels and then blanks are taken away (Graves et al.,
    2006): of `log_probs` `[t, n, classes]` (or `[t, classes]`), lines `targets` `[n, s]`, or one after the other in one axis, of which the first
    `target_lengths` count, and `input_lengths` steps. `blank` is the class that stands for none. What is impossible is infinite, or with
    `zero_infinity` 0. `reduction` is "mean" (of losses divided by their lines' lengths), "sum" or "none".

    # Errors

    Shapes that do not fit; no floats, or labels and lengths that are no integers; a length or label out of range, where it is known; another
    reduction; unlike devices.
    """

def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """The diagonal of two axes (above the main one by `offset`), which go; it becomes the last. A view.

    # Errors

    An axis out of range, or twice the same.
    """

def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """The last axis as the diagonal of two new ones (above the main one by `offset`), among zeros.

    # Errors

    No axes; an axis out of range, or twice the same.
    """

def diag(input: Tensor, diagonal: _int = 0) -> Tensor:
    """Of a vector, the matrix with it as a diagonal; of a matrix, a copy of that diagonal.

    # Errors

    Other than one or two axes.
    """

def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """All elements as a diagonal of a matrix.

    # Errors

    More elements than a matrix can have rows.
    """

def tril(input: Tensor, diagonal: _int = 0) -> Tensor:
    """The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and below it;
    0 elsewhere.

    # Errors

    Fewer than two axes.
    """

def tril_(input: Tensor, diagonal: _int = 0) -> Tensor:
    """`tril`, written into the tensor."""

def triu(input: Tensor, diagonal: _int = 0) -> Tensor:
    """The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and above it;
    0 elsewhere.

    # Errors

    Fewer than two axes.
    """

def triu_(input: Tensor, diagonal: _int = 0) -> Tensor:
    """`triu`, written into the tensor."""

def tril_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The positions of the lower triangle of a matrix, row by row: `[2, n]`, rows first.

    # Errors

    A dtype other than i64 and i32; more positions than memory has room for.
    """

def triu_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The positions of the upper triangle of a matrix, row by row: `[2, n]`, rows first.

    # Errors

    A dtype other than i64 and i32; more positions than memory has room for.
    """

def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor:
    """A copy with `src` in place of one position along an axis.

    # Errors

    An axis or index out of range; a `src` of another shape.
    """

def slice_scatter(input: Tensor, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
    """A copy with `src` in place of positions along an axis; see `slice`.

    # Errors

    An axis out of range, step 0; a `src` of another shape.
    """

def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """A copy with `src` in place of a diagonal; see `diagonal`.

    # Errors

    An axis out of range, or twice the same; a `src` of another shape.
    """

def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis, whose lengths are taken for at least `eps`. Shapes broadcast,
    integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices, an axis out of range.
    """

def _nn_cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis, whose lengths are taken for at least `eps`. Shapes broadcast,
    integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices, an axis out of range.
    """

def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-6, keepdim: _bool = False) -> Tensor:
    """The `p`-norm of `x1 − x2 + eps` along the last axis. Shapes broadcast; differences of integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices, truth values; as `norm`.
    """

def _nn_pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-6, keepdim: _bool = False) -> Tensor:
    """The `p`-norm of `x1 − x2 + eps` along the last axis. Shapes broadcast; differences of integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices, truth values; as `norm`.
    """

def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The `p`-norms of the differences of all pairs of rows: of `[…, n, m]` and `[…, k, m]` those of row `i` and row `j`, `[…, n, k]`; batches broadcast.
    Integers become the default float. Where `p` is infinite and several components differ by as much, each has the whole gradient, as in `pdist`
    (and not a share, as in `norm`). Euclidean distances of more than 25 rows are computed by a product, unless `compute_mode` is
    "donot_use_mm_for_euclid_dist"; "use_mm_for_euclid_dist" asks for the product always.

    # Errors

    Fewer than two axes, rows of unlike lengths, truth values, batches that do not broadcast, unlike devices; a `p` below 0; another mode.
    """

def pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """The `p`-norms of the differences of all pairs of rows `i < j` of a matrix, ordered by `i`, then `j`. Integers become the default float.

    # Errors

    Another number of axes than two; truth values; a `p` below 0.
    """

def _nn_pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """The `p`-norms of the differences of all pairs of rows `i < j` of a matrix, ordered by `i`, then `j`. Integers become the default float.

    # Errors

    Another number of axes than two; truth values; a `p` below 0.
    """

def _nn_normalize(input: Tensor, p: _float = 2.0, dim: _Dims = 1, eps: _float = 1e-12) -> Tensor:
    """`x / max(‖x‖, eps)` with the `p`-norm over some axes. Integers become the default float.

    # Errors

    An axis out of range or named twice; as `norm`.
    """

def _nn_dropout(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In training, zeros with probability `p`, and the survivors scaled by 1/(1 − p) (Srivastava et al., 2014); else the tensor
    itself. Integers become the default float.

    # Errors

    A probability outside [0, 1].
    """

def _nn_dropout_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout`, written into the tensor."""

def feature_dropout(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout` of whole channels: of all behind the first two axes together.

    # Errors

    A probability outside [0, 1]; fewer than two axes, where something is left out.
    """

def feature_dropout_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`feature_dropout`, written into the tensor."""

def _nn_dropout1d(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout` of whole channels of `[n, channels, length]` or `[channels, length]`.

    # Errors

    A probability outside [0, 1]; another number of axes.
    """

def _nn_dropout1d_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout1d`, written into the tensor."""

def _nn_dropout2d(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout` of whole channels of `[n, channels, height, width]`: of all behind the first two axes together.

    # Errors

    A probability outside [0, 1]; fewer than two axes, where something is left out.
    """

def _nn_dropout2d_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout2d`, written into the tensor."""

def _nn_dropout3d(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout` of whole channels of `[n, channels, depth, height, width]`, or of that without a batch.

    # Errors

    A probability outside [0, 1]; fewer than two axes, where something is left out.
    """

def _nn_dropout3d_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout3d`, written into the tensor."""

def alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """In training, the least value of `selu` with probability `p`, shifted and scaled so that mean 0 and variance 1 stay (Klambauer
    et al., 2017); else the tensor itself. Integers become the default float.

    # Errors

    A probability outside [0, 1].
    """

def _nn_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """In training, the least value of `selu` with probability `p`, shifted and scaled so that mean 0 and variance 1 stay (Klambauer
    et al., 2017); else the tensor itself. Integers become the default float.

    # Errors

    A probability outside [0, 1].
    """

def alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`alpha_dropout`, written into the tensor."""

def _nn_alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`alpha_dropout`, written into the tensor."""

def feature_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`alpha_dropout` of whole channels: of all behind the first two axes together.

    # Errors

    A probability outside [0, 1]; fewer than two axes, where something is left out.
    """

def _nn_feature_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`alpha_dropout` of whole channels: of all behind the first two axes together.

    # Errors

    A probability outside [0, 1]; fewer than two axes, where something is left out.
    """

def feature_alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`feature_alpha_dropout`, written into the tensor."""

def _nn_feature_alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`feature_alpha_dropout`, written into the tensor."""

def gt(input: _Operand, other: _Operand) -> Tensor:
    """`self > other`.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def greater(input: _Operand, other: _Operand) -> Tensor:
    """`self > other`.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def gt_(input: Tensor, other: _Operand) -> Tensor:
    """`gt`, written into the tensor."""

def greater_(input: Tensor, other: _Operand) -> Tensor:
    """`gt`, written into the tensor."""

def ge(input: _Operand, other: _Operand) -> Tensor:
    """`self ≥ other`.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def greater_equal(input: _Operand, other: _Operand) -> Tensor:
    """`self ≥ other`.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def ge_(input: Tensor, other: _Operand) -> Tensor:
    """`ge`, written into the tensor."""

def greater_equal_(input: Tensor, other: _Operand) -> Tensor:
    """`ge`, written into the tensor."""

def rsub(input: _Operand, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`other − alpha · self`.

    # Errors

    Truth values; an `alpha` that is a float where the result is not, or a tensor with axes or a gradient; shapes that do not broadcast.
    """

def remainder(input: _Operand, other: _Operand) -> Tensor:
    """The remainder of `self / other` with the sign of `other`, as Python's `%`.

    # Errors

    Shapes that do not broadcast, unlike devices, truth values. An integer divided by zero: what is not known yet is found when the
    value is computed.
    """

def remainder_(input: Tensor, other: _Operand) -> Tensor:
    """`remainder`, written into the tensor."""

def floor_divide(input: _Operand, other: _Operand) -> Tensor:
    """`⌊self / other⌋`, as Python's `//`.

    # Errors

    As `remainder`.
    """

def floor_divide_(input: Tensor, other: _Operand) -> Tensor:
    """`floor_divide`, written into the tensor."""

def pow(input: _Operand, exponent: _Operand) -> Tensor:
    """`self` to a power: a tensor or a number. The exponents 2, 3, 1, 0.5, −1 and 0 take shorter ways, as in PyTorch.
    Integers to the power of integers are integers.

    # Errors

    Shapes that do not broadcast, unlike devices; a negative whole number as the exponent of an integer tensor (in a
    tensor of exponents it gives 0, but for the bases 1 and −1); truth values on both sides.
    """

def pow_(input: Tensor, exponent: _Operand) -> Tensor:
    """`pow`, written into the tensor."""

def float_power(input: _Operand, exponent: _Operand) -> Tensor:
    """`self` to a power, in f64.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def float_power_(input: Tensor, exponent: _Operand) -> Tensor:
    """`float_power`, written into the tensor."""

def clamp(input: _Operand, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
    `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
    share it.

    # Errors

    No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
    broadcast, unlike devices.
    """

def clip(input: _Operand, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
    `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
    share it.

    # Errors

    No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
    broadcast, unlike devices.
    """

def clamp_(input: Tensor, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """`clamp`, written into the tensor."""

def clip_(input: Tensor, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """`clamp`, written into the tensor."""

def clamp_min(input: _Operand, min: _Operand) -> Tensor:
    """Values no smaller than `min`, as `clamp`.

    # Errors

    As `clamp`.
    """

def clamp_min_(input: Tensor, min: _Operand) -> Tensor:
    """`clamp_min`, written into the tensor."""

def clamp_max(input: _Operand, max: _Operand) -> Tensor:
    """Values no larger than `max`, as `clamp`.

    # Errors

    As `clamp`.
    """

def clamp_max_(input: Tensor, max: _Operand) -> Tensor:
    """`clamp_max`, written into the tensor."""

def frac(input: Tensor) -> Tensor:
    """What is left of the number without its whole part; its sign stays.

    # Errors

    Integers and truth values.
    """

def frac_(input: Tensor) -> Tensor:
    """`frac`, written into the tensor."""

def bitwise_not(input: Tensor) -> Tensor:
    """The bits of integers turned over; of truth values, `logical_not`.

    # Errors

    Floats.
    """

def bitwise_not_(input: Tensor) -> Tensor:
    """`bitwise_not`, written into the tensor."""

def isnan(input: Tensor) -> Tensor:
    """Whether elements are no numbers."""

def isinf(input: Tensor) -> Tensor:
    """Whether elements are infinite."""

def isfinite(input: Tensor) -> Tensor:
    """Whether elements are neither infinite nor no numbers."""

def isposinf(input: Tensor) -> Tensor:
    """Whether elements are +∞."""

def isneginf(input: Tensor) -> Tensor:
    """Whether elements are −∞."""

def isreal(input: Tensor) -> Tensor:
    """True for every element: all numbers here are real."""

def signbit(input: Tensor) -> Tensor:
    """Whether the sign is minus, also that of a zero and of NaN."""

def angle(input: Tensor) -> Tensor:
    """The angle of a number to the positive axis: 0, or π of what is negative; NaN of NaN. Integers become the default float."""

def get_device(input: Tensor) -> _int:
    """The number of its CUDA device; −1 on the host."""

def real(input: Tensor) -> Tensor:
    """The tensor itself: its numbers are real."""

def conj(input: Tensor) -> Tensor:
    """The tensor itself: the conjugate of a real number is that number."""

def conj_physical(input: Tensor) -> Tensor:
    """The tensor itself: the conjugate of a real number is that number."""

def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: nothing of it is left to be conjugated."""

def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: nothing of it is left to be negated."""

def positive(input: Tensor) -> Tensor:
    """The tensor itself.

    # Errors

    Truth values.
    """

def reciprocal(input: Tensor) -> Tensor:
    """`1 / x`. Integers become the default float."""

def reciprocal_(input: Tensor) -> Tensor:
    """`reciprocal`, written into the tensor."""

def rsqrt(input: Tensor) -> Tensor:
    """`1 / √x`. Integers become the default float."""

def rsqrt_(input: Tensor) -> Tensor:
    """`rsqrt`, written into the tensor."""

def sinc(input: Tensor) -> Tensor:
    """`sin(πx) / πx`, and 1 at 0. Integers become the default float."""

def _special_sinc(input: Tensor) -> Tensor:
    """`sin(πx) / πx`, and 1 at 0. Integers become the default float."""

def sinc_(input: Tensor) -> Tensor:
    """`sinc`, written into the tensor."""

def _special_sinc_(input: Tensor) -> Tensor:
    """`sinc`, written into the tensor."""

def deg2rad(input: Tensor) -> Tensor:
    """Degrees as radians. Integers become the default float."""

def deg2rad_(input: Tensor) -> Tensor:
    """`deg2rad`, written into the tensor."""

def rad2deg(input: Tensor) -> Tensor:
    """Radians as degrees. Integers become the default float."""

def rad2deg_(input: Tensor) -> Tensor:
    """`rad2deg`, written into the tensor."""

def logit(input: Tensor, eps: _float | None = None) -> Tensor:
    """`log(x / (1 − x))`, after `x` was brought to between `eps` and `1 − eps`, if that is given. Integers become the default float."""

def _special_logit(input: Tensor, eps: _float | None = None) -> Tensor:
    """`log(x / (1 − x))`, after `x` was brought to between `eps` and `1 − eps`, if that is given. Integers become the default float."""

def logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """`logit`, written into the tensor."""

def _special_logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """`logit`, written into the tensor."""

def nan_to_num(input: Tensor, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
    """NaN and infinities replaced by numbers: `nan`, and the largest and the least number of the dtype unless others are
    given. Integers stay.
    """

def nan_to_num_(input: Tensor, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
    """`nan_to_num`, written into the tensor."""

def lerp(input: _Operand, end: Tensor, weight: _Operand) -> Tensor:
    """`self + weight · (end − self)`, from the nearer end; the weight is a number or a tensor.

    # Errors

    Integers; shapes that do not broadcast, unlike devices.
    """

def lerp_(input: Tensor, end: Tensor, weight: _Operand) -> Tensor:
    """`lerp`, written into the tensor."""

def addcmul(input: _Operand, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
    """`self + value · tensor1 · tensor2`.

    # Errors

    A `value` that is a float where the tensors are of integers; shapes that do not broadcast, unlike devices.
    """

def addcmul_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
    """`addcmul`, written into the tensor."""

def addcdiv(input: _Operand, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
    """`self + value · tensor1 / tensor2`.

    # Errors

    Integers; shapes that do not broadcast, unlike devices.
    """

def addcdiv_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
    """`addcdiv`, written into the tensor."""

def xlogy(input: _Operand, other: _Operand) -> Tensor:
    """`self · log other`, and 0 where `self` is 0 and `other` a number. Integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def _special_xlogy(input: _Operand, other: _Operand) -> Tensor:
    """`self · log other`, and 0 where `self` is 0 and `other` a number. Integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def xlogy_(input: Tensor, other: _Operand) -> Tensor:
    """`xlogy`, written into the tensor."""

def _special_xlogy_(input: Tensor, other: _Operand) -> Tensor:
    """`xlogy`, written into the tensor."""

def _special_xlog1py(input: _Operand, other: _Operand) -> Tensor:
    """`self · log(1 + other)`, and 0 where `self` is 0 and `other` a number. Integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def logaddexp(input: _Operand, other: _Operand) -> Tensor:
    """`ln(exp(x) + exp(y))` without overflow. Integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def logaddexp2(input: _Operand, other: _Operand) -> Tensor:
    """`log₂(2ˣ + 2ʸ)` without overflow. Integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 where `self` is negative or NaN, `values` where it is 0, 1 where it is positive.

    # Errors

    Shapes that do not broadcast, unlike devices or dtypes.
    """

def heaviside_(input: Tensor, values: Tensor) -> Tensor:
    """`heaviside`, written into the tensor."""

def fmax(input: _Operand, other: _Operand) -> Tensor:
    """The larger one; where one is NaN, the other.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def fmin(input: _Operand, other: _Operand) -> Tensor:
    """The smaller one; where one is NaN, the other.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def hypot(input: _Operand, other: _Operand) -> Tensor:
    """`√(self² + other²)` without overflow. Integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def hypot_(input: Tensor, other: _Operand) -> Tensor:
    """`hypot`, written into the tensor."""

def nextafter(input: _Operand, other: _Operand) -> Tensor:
    """The next number of the dtype after `self` towards `other`.

    # Errors

    Integers; shapes that do not broadcast, unlike devices.
    """

def nextafter_(input: Tensor, other: _Operand) -> Tensor:
    """`nextafter`, written into the tensor."""

def ldexp(input: _Operand, other: _Operand) -> Tensor:
    """`self · 2^other`. Integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def ldexp_(input: Tensor, other: _Operand) -> Tensor:
    """`ldexp`, written into the tensor."""

def frexp(input: Tensor) -> tuple[Tensor, ...]:
    """Numbers as a fraction from ½ to 1 (with their sign) times a power of two: the fractions and the exponents (i32). Zeros
    and what is not finite are their own fractions.

    # Errors

    Integers and truth values.
    """

def cbrt(input: Tensor) -> Tensor:
    """The cube root. Integers become the default float."""

def isclose(input: Tensor, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False) -> Tensor:
    """Whether elements are within `atol + rtol · |other|` of each other; equal infinities are, and NaN where `equal_nan`
    says so.

    # Errors

    Shapes that do not broadcast, unlike devices or dtypes; a negative tolerance.
    """

def allclose(input: Tensor, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False) -> _bool:
    """Whether all elements are within `atol + rtol · |other|` of each other. Waits for the value.

    # Errors

    As `isclose`; those of the computation.
    """

def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape and the same elements. Waits for the value.

    # Errors

    Unlike devices; those of the computation.
    """

def cholesky(input: Tensor, upper: _bool = False) -> Tensor:
    """`L` with `L Lᵀ = A` of symmetric positive definite matrices, `[…, n, n]`, of which the lower triangle is read; with `upper` the
    transpose, and the upper triangle is read. f32 and f64.

    # Errors

    What is no square matrix, one that is not positive definite, other dtypes.
    """

def _linalg_cholesky(input: Tensor, upper: _bool = False) -> Tensor:
    """`L` with `L Lᵀ = A` of symmetric positive definite matrices, `[…, n, n]`, of which the lower triangle is read; with `upper` the
    transpose, and the upper triangle is read. f32 and f64.

    # Errors

    What is no square matrix, one that is not positive definite, other dtypes.
    """

def _linalg_cholesky_ex(input: Tensor, *, upper: _bool = False, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`cholesky`, and for each matrix the order of the first leading minor that is not positive definite (i32), or 0: then its factor
    is what was found so far.

    # Errors

    What is no square matrix, other dtypes; with `check_errors` one that is not positive definite.
    """

def _linalg_qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, ...]:
    """`Q R = A` of matrices `[…, m, n]`: `Q`'s columns are orthonormal, `R` is an upper triangle. With `k` the smaller of `m` and `n`,
    mode `"reduced"` answers with `[…, m, k]` and `[…, k, n]`, `"complete"` with `[…, m, m]` and `[…, m, n]`, `"r"` with no `Q`. Signs
    are those of LAPACK's reflections. f32 and f64. Mode `"complete"` of more rows than columns has no gradient.

    # Errors

    What is no matrix, another mode, other dtypes.
    """

def qr(input: Tensor, some: _bool = True) -> tuple[Tensor, ...]:
    """`linalg.qr` in mode `"reduced"`, or, if not `some`, `"complete"`.

    # Errors

    What is no matrix, other dtypes.
    """

def _linalg_eigh(input: Tensor, UPLO: str = "L") -> tuple[Tensor, ...]:
    """The eigenvalues `λ` (ascending) and eigenvectors `V` (its columns) of symmetric matrices, `[…, n, n]`: `A = V diag(λ) Vᵀ`. Of `A` the
    lower triangle is read, or with `UPLO` `"U"` the upper one. An eigenvector's sign is not determined, nor are those of eigenvalues that
    are equal, and a gradient that asks for eigenvectors of such a matrix is not finite (one that asks for eigenvalues alone is). f32 and f64; computed on the host, on every device.

    # Errors

    What is no square matrix, numbers that are not finite, other dtypes.
    """

def _linalg_eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, ascending: see `eigh`.

    # Errors

    What is no square matrix, numbers that are not finite, other dtypes.
    """

def _linalg_svd(input: Tensor, full_matrices: _bool = True, *, driver: str | None = None) -> tuple[Tensor, ...]:
    """`U`, `σ` (descending) and `Vᵀ` with `A = U diag(σ) Vᵀ` of matrices `[…, m, n]`, `U` and `V` orthogonal: `[…, m, m]` and `[…, n, n]`, or if
    not `full_matrices`, the first columns of `U` and rows of `Vᵀ`, as many as there are singular values. A singular vector's sign is
    not determined, nor are those of singular values that are equal, and a gradient that asks for singular vectors of such a matrix, or of one that singular
    values of 0 leave undetermined, is not finite (one that asks for singular values alone is). f32 and f64; computed on the host,
    on every device, always by divide and conquer: `driver` is for CUDA in PyTorch, and has to be `None`.

    # Errors

    What is no matrix, numbers that are not finite, other dtypes; a driver.
    """

def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True) -> tuple[Tensor, ...]:
    """`U`, `σ` and `V` (not transposed, unlike `linalg.svd`) with `A = U diag(σ) Vᵀ`; square if not `some`. Without `compute_uv`, `U` and `V`
    are zeros.

    # Errors

    What is no matrix, numbers that are not finite, other dtypes.
    """

def _linalg_svdvals(input: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of matrices, descending: see `svd`.

    # Errors

    What is no matrix, numbers that are not finite, other dtypes; a driver.
    """

def _linalg_lu(input: Tensor, *, pivot: _bool = True) -> tuple[Tensor, ...]:
    """`P`, `L` and `U` with `A = P L U` of matrices `[…, m, n]`, by elimination with row exchanges: a permutation `[…, m, m]`, a lower triangle
    `[…, m, k]` with ones on the diagonal, an upper triangle `[…, k, n]`, with `k` the smaller of `m` and `n`. f32 and f64.

    # Errors

    What is no matrix, other dtypes; without `pivot`.
    """

def _linalg_lu_factor(input: Tensor, *, pivot: _bool = True) -> tuple[Tensor, ...]:
    """`lu` in one matrix, `L` below the diagonal and `U` on and above it, and for each step the row that was exchanged (i32), counted
    from 1: what `lu_solve` and `lu_unpack` take.

    # Errors

    What is no matrix, other dtypes; a singular matrix, for which there are `lu` and `lu_factor_ex`; without `pivot`.
    """

def _linalg_lu_factor_ex(input: Tensor, *, pivot: _bool = True, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`lu_factor`, and the first element of `U`'s diagonal that is 0 (i32), counted from 1, or 0.

    # Errors

    What is no matrix, other dtypes; without `pivot`; with `check_errors` a singular matrix.
    """

def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: _bool = True, unpack_pivots: _bool = True) -> tuple[Tensor, ...]:
    """`P`, `L` and `U` of what `lu_factor` answers with. Without `unpack_pivots` or `unpack_data` these are empty.

    # Errors

    What is no matrix; pivots of another shape, or that name rows that are not there.
    """

def _linalg_householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first `n` columns of a product of reflections `I − τᵢ vᵢ vᵢᵀ`, `Q` of shape `[…, m, n]`: `vᵢ` stands below the diagonal of column `i` of the
    tensor, with a one on it, and `τ` is `[…, k]`. What `geqrf` of LAPACK answers with becomes the `Q` of `qr`. By products of matrices
    (Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder transformations", 1989).

    # Errors

    What is no matrix, more columns than rows, more reflections than columns, unlike dtypes.
    """

def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """`householder_product` under LAPACK's name.

    # Errors

    Those of `householder_product`.
    """

def svd_lowrank(A: Tensor, q: _int = 6, niter: _int = 2, M: Tensor | None = None) -> tuple[Tensor, ...]:
    """The largest `q` singular values of matrices `[…, m, n]`, about: `A ≈ U diag(S) Vᵀ`. Of the span of `A`'s products with random vectors
    that `niter` times went through `A` and its transpose (Halko, Martinsson and Tropp, 2011, algorithm 4.4). With `M`, of `A − M`.

    # Errors

    What is no matrix; a `q` of more than its shorter side; what `qr` and `svd` refuse.
    """

def pca_lowrank(A: Tensor, q: _int | None = None, center: _bool = True, niter: _int = 2) -> tuple[Tensor, ...]:
    """The `q` principal components of rows, `[…, m, n]`, about: `svd_lowrank` of `A` less its mean row, unless `center` is false. Without a
    `q` six, or as many as there are.

    # Errors

    As `svd_lowrank`.
    """

def _nn_multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: _int, num_heads: _int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: _bool, dropout_p: _float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: _bool = True, key_padding_mask: Tensor | None = None, need_weights: _bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: _bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: _bool = True, is_causal: _bool = False) -> tuple[Tensor, ...]:
    """Attention of several heads (Vaswani et al., 2017): queries `[l, batch, size]`, keys and values `[s, batch,
    …]`, or all three without the batch, are projected by `in_proj_weight` `[3 size, size]` (or by three
    weights with `use_separate_proj_weight`), attended to by heads of `size / num_heads`, and projected by
    `out_proj_weight`. Answers with that, `[l, batch, size]`, and, if `need_weights`, with the weights
    `[batch, l, s]`, the mean of all heads or, without `average_attn_weights`, `[batch, heads, l, s]`; else
    with a tensor without elements.

    `attn_mask` `[l, s]` or `[batch · heads, l, s]` and `key_padding_mask` `[batch, s]` are true where a key
    is *not* taken, or are added to the scores. `is_causal` says that `attn_mask` is the causal one. `bias_k`
    and `bias_v` are one more key and value; `add_zero_attn` adds another one of zeros; `static_k` and
    `static_v` `[batch · heads, s, size / heads]` are taken in the place of projected ones.

    # Errors

    Shapes that do not fit, a size that does not divide into heads, `is_causal` without a mask, masks that are
    neither of truth values nor of floats, unlike dtypes or devices.
    """

def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """How often each integer occurs, from 0 to the largest one (at least `minlength` of them): i64. With `weights`, the sum of
    the weights of its occurrences: f32 of f32, else f64. The values are looked at, since the shape depends on them.

    # Errors

    What is no line of integers, a negative one; weights of another shape.
    """

def histc(input: Tensor, bins: _int = 100, min: _float = 0.0, max: _float = 0.0) -> Tensor:
    """How many elements lie in each of `bins` intervals of the same width from `min` to `max`, both included; from the least
    element to the largest, if these are the same. What lies outside does not count. Integers become the default float.

    # Errors

    No bins; bounds that are not finite or in the wrong order, elements that are not finite where they are the bounds.
    """

def histogram(input: _Operand, bins: _Operand = 100, *, range: _float | Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> tuple[Tensor, ...]:
    """How many elements lie in each of `bins` intervals of the same width, and the intervals' ends, one more. They go from
    `range[0]` to `range[1]`, both included, or from the least element to the largest. A tensor as `bins` (one axis, ascending) is
    these ends itself. With `weight`, of the tensor's shape, the
    sums of the elements' weights; with `density`, divided by their sum and the width, so that the integral is 1. Integers become
    the default float.

    # Errors

    No bins; a range of other than two numbers that are finite and in order, or beside ends; ends of other than one axis, or of
    another dtype; weights of another shape.
    """

def _histogramdd(input: Tensor, bins: _Sizes | None = None, edges: Sequence[Tensor] | None = None, range: _float | Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> tuple[Tensor, ...]:
    """How many points, the last axis of the tensor `[…, n]`, lie in each of the boxes that edges along `n` axes make: the boxes' counts
    `[bins…]`, and then the edges along each axis. They are `edges`, a tensor of one axis for each; or `bins` says how many boxes of one width there
    are along each axis, between the least and the largest coordinate or within `range` (two numbers for each axis). A point on the last
    edge is in the last box; one outside is in none. `weight` `[…]` is what a point counts; with `density` the sum of the
    boxes, each by its volume, is 1.

    # Errors

    A tensor without axes or of integers; other than one number of bins, or tensor of two or more edges of the tensor's dtype, for each of `n`
    axes; no bins; a range of other than two finite numbers in order for each axis, or beside edges; weights of another shape.
    """

def constant_pad_nd(input: Tensor, pad: _Dims, value: _float = 0.0) -> Tensor:
    """The tensor with margins of one number: `pad` has two widths for each axis, from the last one on; negative ones take away.

    # Errors

    As `pad`.
    """

def _nn_pad(input: Tensor, pad: _Dims, mode: str = "constant", value: _float | None = None) -> Tensor:
    """With margins, whose widths are given from the last axis on, before and after: `[left, right, top, bottom, …]`. What is in them
    says `mode`: "constant" is `value` (0), "reflect" the axis mirrored at its ends, "replicate" its ends, "circular" its other end. A
    negative width takes away.

    # Errors

    An odd number of widths, or too many; another mode; margins of elements that are not those of all axes behind one or two; a `value` for another
    mode than "constant"; more taken away, mirrored or wrapped than there is.
    """

def _nn_interpolate(input: Tensor, size: _Sizes | None = None, scale_factor: _float | Sequence[_float] | None = None, mode: str = "nearest", align_corners: _bool | None = None, recompute_scale_factor: _bool | None = None, antialias: _bool = False) -> Tensor:
    """In another size along the axes behind the first two: `size`, or the old one times `scale_factor`, rounded down; one for all axes
    or one for each. `mode` is "nearest", "nearest-exact" (of pixels' centres), "linear" (one axis), "bilinear" (two), "bicubic" (two),
    "trilinear" (three) or "area" (means). With `align_corners` the centres of the outermost pixels stay where they are, else their
    outer edges. Positions follow from `scale_factor` as it is given, or with `recompute_scale_factor` from the sizes. With `antialias`
    (of "bilinear" and "bicubic") what becomes smaller is weighed over all that it covers.

    # Errors

    Both a size and a factor, or neither; sizes for another number of axes; a mode for another number of axes; `align_corners` for a
    mode that has none; an axis that is empty, or becomes so in another mode than "area"; integers where numbers are averaged, but u8 in the modes "bilinear" and "bicubic".
    """

def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """`[…, channels · r², height, width]` as `[…, channels, height · r, width · r]`, with `r` the `upscale_factor` (Shi et al., 2016).

    # Errors

    Fewer than three axes; channels that do not part so; a factor of 0.
    """

def _nn_pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """`[…, channels · r², height, width]` as `[…, channels, height · r, width · r]`, with `r` the `upscale_factor` (Shi et al., 2016).

    # Errors

    Fewer than three axes; channels that do not part so; a factor of 0.
    """

def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """`[…, channels, height · r, width · r]` as `[…, channels · r², height, width]`, with `r` the `downscale_factor`.

    # Errors

    Fewer than three axes; height or width that do not part so; a factor of 0.
    """

def _nn_pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """`[…, channels, height · r, width · r]` as `[…, channels · r², height, width]`, with `r` the `downscale_factor`.

    # Errors

    Fewer than three axes; height or width that do not part so; a factor of 0.
    """

def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels (axis 1) in another order: the first of each of so many groups, then the second of each, … (Zhang et al., 2018).

    # Errors

    Fewer than three axes; channels that do not part into the groups.
    """

def _nn_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels (axis 1) in another order: the first of each of so many groups, then the second of each, … (Zhang et al., 2018).

    # Errors

    Fewer than three axes; channels that do not part into the groups.
    """

def index_select(input: Tensor, dim: _int, index: Tensor) -> Tensor:
    """What lies along an axis at some positions, by their indices (integers, in one axis).

    # Errors

    An axis out of range, indices that are no integers or have more axes, more than one for a tensor without axes. An index
    out of range is an error at once where it is known, else when the value is computed.
    """

def gather(input: Tensor, dim: _int, index: Tensor) -> Tensor:
    """`out[…, j, …] = self[…, index[…, j, …], …]` along an axis, for an index (integers) that is nowhere else longer than the
    tensor.

    # Errors

    As `index_select`; an index of other axes than the tensor's, or longer.
    """

def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None = None) -> Tensor:
    """Elements by the positions that `indices` have along an axis (negative ones count from its end), where all other axes
    broadcast; by their positions among all elements, in one axis, where no axis is named.

    # Errors

    As `gather`; shapes that do not broadcast.
    """

def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements by their positions among all, in row-major order; negative ones count from the end. The result has the shape of the
    index.

    # Errors

    Indices that are no integers, or out of range.
    """

def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """A copy with the elements of `source` at the positions among all elements that `index` says (negative ones count from the
    end), the last one where a position occurs more than once; or added there, with `accumulate`.

    # Errors

    Indices that are no integers, or out of range; another number or dtype of elements.
    """

def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """`put`, written into the tensor."""

def scatter(input: _Operand, dim: _int, index: Tensor, src: _Operand, *, reduce: str | None = None) -> Tensor:
    """`src` (a tensor, or one number) written at the places that `index` names along an axis, the last one where a place is met more
    than once; with `reduce`, added (`"add"`) or multiplied (`"multiply"`).

    # Errors

    As `gather`; a `src` that is shorter than the index, or of another dtype.
    """

def scatter_(input: Tensor, dim: _int, index: Tensor, src: _Operand, *, reduce: str | None = None) -> Tensor:
    """`scatter`, written into the tensor."""

def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor:
    """`src` added at the places that `index` names along an axis, in order.

    # Errors

    As `gather`; a `src` that is shorter than the index, or of another dtype.
    """

def scatter_add_(input: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor:
    """`scatter_add`, written into the tensor."""

def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """`src` at the places that `index` names along an axis, all that meet at a place reduced: `"sum"`, `"prod"`, `"mean"`,
    `"amax"` or `"amin"`, with the tensor's own element unless `include_self` is false.

    # Errors

    As `gather`; a `src` that is shorter than the index, or of another dtype; another word.
    """

def scatter_reduce_(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """`scatter_reduce`, written into the tensor."""

def index_add(input: _Operand, dim: _int, index: Tensor, source: Tensor, *, alpha: _Operand = 1) -> Tensor:
    """`alpha · source` added at some positions along an axis, by their indices (integers, in one axis), in order.

    # Errors

    As `index_select`; a `source` that does not fit, or of another dtype.
    """

def index_add_(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: _Operand = 1) -> Tensor:
    """`index_add`, written into the tensor."""

def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor) -> Tensor:
    """`source` written to some positions along an axis, by their indices (integers, in one axis); the last one where a position
    occurs more than once.

    # Errors

    As `index_select`; a `source` that does not fit, or of another dtype.
    """

def index_copy_(input: Tensor, dim: _int, index: Tensor, source: Tensor) -> Tensor:
    """`index_copy`, written into the tensor."""

def index_fill(input: _Operand, dim: _int, index: Tensor, value: _Operand) -> Tensor:
    """One number written to some positions along an axis, by their indices (integers, in one axis).

    # Errors

    As `index_select`; a tensor with axes as the value.
    """

def index_fill_(input: Tensor, dim: _int, index: Tensor, value: _Operand) -> Tensor:
    """`index_fill`, written into the tensor."""

def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """`source` at some positions along an axis, by their indices, all that meet at a position reduced with the tensor's own element
    (unless `include_self` is false): `"prod"`, `"mean"`, `"amax"` or `"amin"`.

    # Errors

    As `index_select`; a `source` that does not fit, or of another dtype; another word.
    """

def index_reduce_(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """`index_reduce`, written into the tensor."""

def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Tensor:
    """`values` written to what tensors of integers or truth values pick of the first axes, as by `x[indices] = values`; with
    `accumulate` added there, as often as a place is picked.

    # Errors

    Indices that do not broadcast or are out of range; values of another dtype, or that do not broadcast.
    """

def index_put_(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Tensor:
    """`index_put`, written into the tensor."""

def masked_fill(input: _Operand, mask: Tensor, value: _Operand) -> Tensor:
    """The tensor with one number where a mask of truth values holds, which broadcasts.

    # Errors

    A mask of another dtype, or that does not broadcast; a tensor with axes as the value.
    """

def masked_fill_(input: Tensor, mask: Tensor, value: _Operand) -> Tensor:
    """`masked_fill`, written into the tensor."""

def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask of truth values holds, in one axis. Tensor and mask broadcast.

    # Errors

    A mask of another dtype, or that does not broadcast.
    """

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The tensor with the elements of `source`, in order, where a mask of truth values holds, which broadcasts.

    # Errors

    A mask of another dtype, or that does not broadcast; another dtype. Fewer elements than places are found when the value is
    computed.
    """

def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`masked_scatter`, written into the tensor."""

def argwhere(input: Tensor) -> Tensor:
    """The positions of what is not zero: a row each."""

def unravel_index(input: Tensor, shape: _Sizes) -> tuple[Tensor, ...]:
    """The positions along axes of a shape that positions among all elements in row-major order have: a tensor for each axis.

    # Errors

    Indices that are no integers.
    """

def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """The positions along an axis, each without it; views.

    # Errors

    An axis out of range.
    """

def split(input: Tensor, split_size: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
    """Parts along an axis, of so many positions each (the last may have fewer) or of the sizes in a list; views.

    # Errors

    An axis out of range, sizes that do not make it, parts of no positions.
    """

def split_with_sizes(input: Tensor, split_sizes: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
    """Parts of these sizes along an axis, views.

    # Errors

    An axis out of range, sizes that do not make it.
    """

def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """At most so many parts of equal size along an axis (the last may be smaller), views; of an axis without positions exactly so many.

    # Errors

    An axis out of range, no parts, more than 2²⁰ of an axis without positions.
    """

def tensor_split(input: Tensor, indices_or_sections: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
    """So many parts along an axis, whose sizes differ by 1 at most, or those that end before each position in a list; views.

    # Errors

    An axis out of range, no parts, more than 2²⁰ where the axis has fewer positions.
    """

def hsplit(input: Tensor, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
    """Parts along the second axis, or the only one, as `tensor_split`, where a number divides it; views.

    # Errors

    No axes; a number that does not divide the axis.
    """

def vsplit(input: Tensor, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
    """Parts along the first axis, as `hsplit`.

    # Errors

    Fewer than two axes; a number that does not divide the axis.
    """

def dsplit(input: Tensor, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
    """Parts along the third axis, as `hsplit`.

    # Errors

    Fewer than three axes; a number that does not divide the axis.
    """

def cat(tensors: Sequence[Tensor], dim: _int = 0) -> Tensor:
    """Tensors one after the other along an axis, in the dtype in which they meet. As in PyTorch, a tensor of shape `[0]` has its
    say about the dtype, and fits anything.

    # Errors

    No tensors, shapes that differ off the axis, unlike devices.
    """

def concat(tensors: Sequence[Tensor], dim: _int = 0) -> Tensor:
    """Tensors one after the other along an axis, in the dtype in which they meet. As in PyTorch, a tensor of shape `[0]` has its
    say about the dtype, and fits anything.

    # Errors

    No tensors, shapes that differ off the axis, unlike devices.
    """

def concatenate(tensors: Sequence[Tensor], dim: _int = 0) -> Tensor:
    """Tensors one after the other along an axis, in the dtype in which they meet. As in PyTorch, a tensor of shape `[0]` has its
    say about the dtype, and fits anything.

    # Errors

    No tensors, shapes that differ off the axis, unlike devices.
    """

def stack(tensors: Sequence[Tensor], dim: _int = 0) -> Tensor:
    """Tensors of one shape along a new axis, in the dtype in which they meet.

    # Errors

    No tensors, shapes that differ, unlike devices.
    """

def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other: along the second axis, vectors along the only one.

    # Errors

    As `cat`.
    """

def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: along the first axis, vectors as rows.

    # Errors

    As `cat`.
    """

def row_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: along the first axis, vectors as rows.

    # Errors

    As `cat`.
    """

def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors behind each other: along the third axis.

    # Errors

    As `cat`.
    """

def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other, vectors as columns.

    # Errors

    As `cat`.
    """

@overload
def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """Matrices (vectors are rows, numbers of one element) along the diagonal of a larger one, among zeros.

    # Errors

    More than two axes, unlike devices.
    """
@overload
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices (vectors are rows, numbers of one element) along the diagonal of a larger one, among zeros.

    # Errors

    More than two axes, unlike devices.
    """

@overload
def meshgrid(tensors: Sequence[Tensor], *, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid: each vector along an axis of its own, broadcast along the others; views. With `indexing = "xy"` the
    first two axes are exchanged.

    # Errors

    No tensors, tensors with more than one axis, unlike dtypes or devices; another word than `"ij"` and `"xy"`.
    """
@overload
def meshgrid(*tensors: Tensor, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid: each vector along an axis of its own, broadcast along the others; views. With `indexing = "xy"` the
    first two axes are exchanged.

    # Errors

    No tensors, tensors with more than one axis, unlike dtypes or devices; another word than `"ij"` and `"xy"`.
    """

@overload
def cartesian_prod(tensors: Sequence[Tensor]) -> Tensor:
    """All choices of one element from each vector, a row each; of one vector, that itself.

    # Errors

    Tensors that are no vectors.
    """
@overload
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All choices of one element from each vector, a row each; of one vector, that itself.

    # Errors

    Tensors that are no vectors.
    """

def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """All choices of `r` elements of a vector in its order, a row each; the same one more than once with `with_replacement`.

    # Errors

    A tensor that is no vector.
    """

def standard_gamma(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Random numbers of the gamma distribution with the shape parameters that the tensor holds, and scale 1. Gradients flow to the
    parameters, as the quantile that was drawn moves. (Marsaglia and Tsang, 2000.)

    # Errors

    A tensor that is not of floats.
    """

def poisson(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Random numbers of Poisson's distribution with the rates that the tensor holds, in its dtype. Gradients of the rates are zeros.
    The quantile of a uniform number, looked for about its expansion (Cornish and Fisher, 1938) by the incomplete gamma function.

    # Errors

    A tensor that is not of floats; rates that are negative, or NaN.
    """

def _nn_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x Wᵀ + b` on the last axis, with a weight `[out, in]`, or `[in]` for one output without an axis.

    # Errors

    Shapes that do not fit, unlike devices.
    """

def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`Σ x1 W x2 + b` on the last axes of two tensors, with a weight `[out, in1, in2]`.

    # Errors

    Shapes that do not fit, unlike devices.
    """

def _nn_bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`Σ x1 W x2 + b` on the last axes of two tensors, with a weight `[out, in1, in2]`.

    # Errors

    Shapes that do not fit, unlike devices.
    """

def _nn_embedding(input: Tensor, weight: Tensor, padding_idx: _int | None = None) -> Tensor:
    """Rows of a table `[n, size]` by integers of any shape, which become `[…, size]`. The row `padding_idx` gets no gradient.

    # Errors

    What is no table, no integers; a `padding_idx` outside the table; unlike devices. An index outside the table is found when the
    value is computed, if not before.
    """

def _nn_embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, *, mode: str = "mean", per_sample_weights: Tensor | None = None, include_last_offset: _bool = False, padding_idx: _int | None = None) -> Tensor:
    """Sums, means or largest elements (`mode`) of rows of a table `[n, size]`: of each row of indices `[bags, m]`, or of what lies between
    the positions `offsets` in indices `[m]` (with `include_last_offset` the last of them is the end). The row `padding_idx` does
    not count, `per_sample_weights` are what rows count in a sum; a bag of nothing is 0.

    # Errors

    What is no table, no integers, not as many axes; offsets that do not begin with 0, fall, or are beyond the indices; another mode than "sum", "mean" and "max"; weights for another mode than
    sums; unlike devices. An index outside the table is found when the value is computed, if not
    before.
    """

def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Integers as rows of zeros with a one, i64. Without `num_classes` there are as many classes as the largest integer says, which is
    read.

    # Errors

    What are no integers; an integer outside the classes is found when the value is computed.
    """

def _nn_one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Integers as rows of zeros with a one, i64. Without `num_classes` there are as many classes as the largest integer says, which is
    read.

    # Errors

    What are no integers; an integer outside the classes is found when the value is computed.
    """

def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product, as NumPy's `@`: vectors are taken as a row on the left and a column on the right, batches
    broadcast.

    # Errors

    Scalars, inner sizes that differ, batches that do not broadcast, unlike devices.
    """

def _linalg_matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product, as NumPy's `@`: vectors are taken as a row on the left and a column on the right, batches
    broadcast.

    # Errors

    Scalars, inner sizes that differ, batches that do not broadcast, unlike devices.
    """

def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices.

    # Errors

    What is no matrix, inner sizes that differ, unlike devices.
    """

def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices, `[b, n, m]` and `[b, m, p]`.

    # Errors

    Other than three axes, batches or inner sizes that differ, unlike devices.
    """

def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector.

    # Errors

    What is no matrix or no vector, sizes that differ, unlike devices.
    """

def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements.

    # Errors

    What is no vector, sizes that differ, unlike devices.
    """

def vdot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements.

    # Errors

    What is no vector, sizes that differ, unlike devices.
    """

def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last axes of both; with a tensor without axes, the product.

    # Errors

    Last axes that differ, unlike devices.
    """

def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """The products of each element of a vector with each of another: `[n, m]`.

    # Errors

    What is no vector, unlike devices.
    """

def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """The products of each element of a vector with each of another: `[n, m]`.

    # Errors

    What is no vector, unlike devices.
    """

def addmm(input: _Operand, mat1: Tensor, mat2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · mat1 @ mat2`, of matrices; the tensor broadcasts to the product. With `beta` 0 it is not looked at.

    # Errors

    What is no matrix, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.
    """

def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`addmm`, written into the tensor."""

def addmv(input: _Operand, mat: Tensor, vec: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · mat @ vec`, of a matrix and a vector; the tensor broadcasts to the product. With `beta` 0 it is not
    looked at.

    # Errors

    What is no matrix or no vector, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.
    """

def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`addmv`, written into the tensor."""

def addbmm(input: _Operand, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · Σ batch1[i] @ batch2[i]`, of batches of matrices; the tensor broadcasts to the sum. With `beta` 0 it
    is not looked at.

    # Errors

    Other than three axes, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.
    """

def addbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`addbmm`, written into the tensor."""

def baddbmm(input: _Operand, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · batch1 @ batch2`, of batches of matrices; the tensor broadcasts to the products. With `beta` 0 it is
    not looked at.

    # Errors

    Other than three axes, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.
    """

def baddbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`baddbmm`, written into the tensor."""

def addr(input: _Operand, vec1: Tensor, vec2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · vec1 ⊗ vec2`; the tensor broadcasts to the products. With `beta` 0 it is not looked at. Of truth values a
    sum is "or", and a factor whether it is not 0.

    # Errors

    What is no vector, shapes that do not fit, unlike devices, a float as factor of integers.
    """

def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`addr`, written into the tensor."""

@overload
def einsum(equation: str, operands: Sequence[Tensor]) -> Tensor:
    """Sums of products of tensors whose axes are named by letters, as Einstein wrote them: `"ij,jk->ik"` is the matrix product.
    An axis of size 1 broadcasts. A letter that occurs twice in an operand takes its diagonal; `...` are further axes, which
    broadcast. Without `->`, the result has the letters that occur once, in alphabetical order, after the further axes.

    Operands are contracted two at a time by matrix products, in the order that takes the fewest multiplications (up to 8 of
    them; of more, the cheapest pair first).

    # Errors

    An equation that is none or does not fit the operands, axes of one letter and different sizes, unlike devices.
    """
@overload
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products of tensors whose axes are named by letters, as Einstein wrote them: `"ij,jk->ik"` is the matrix product.
    An axis of size 1 broadcasts. A letter that occurs twice in an operand takes its diagonal; `...` are further axes, which
    broadcast. Without `->`, the result has the letters that occur once, in alphabetical order, after the further axes.

    Operands are contracted two at a time by matrix products, in the order that takes the fewest multiplications (up to 8 of
    them; of more, the cheapest pair first).

    # Errors

    An equation that is none or does not fit the operands, axes of one letter and different sizes, unlike devices.
    """
@overload
def einsum(operand: Tensor, /, *operands: Tensor | Sequence[Any]) -> Tensor:
    """Sums of products of tensors whose axes are named by letters, as Einstein wrote them: `"ij,jk->ik"` is the matrix product.
    An axis of size 1 broadcasts. A letter that occurs twice in an operand takes its diagonal; `...` are further axes, which
    broadcast. Without `->`, the result has the letters that occur once, in alphabetical order, after the further axes.

    Operands are contracted two at a time by matrix products, in the order that takes the fewest multiplications (up to 8 of
    them; of more, the cheapest pair first).

    # Errors

    An equation that is none or does not fit the operands, axes of one letter and different sizes, unlike devices.
    """

def tensordot(input: Tensor, other: Tensor, dims: _int | Sequence[_Dims] = 2) -> Tensor:
    """Sums of products over axes of both tensors that belong together: the last `dims` of the first and the first of the second,
    or a list of axes of each. The other axes stay, those of the first one first. By matrix products.

    # Errors

    Axes that are not there or named twice, sizes that differ, unlike devices.
    """

def trace(input: Tensor) -> Tensor:
    """The sum of a matrix' diagonal; of integers in i64.

    # Errors

    What is no matrix.
    """

def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: blocks of the other tensor, each times an element of this one. The tensor of fewer axes has axes of
    size 1 before them.

    # Errors

    More than four axes that are larger than 1, unlike devices.
    """

@overload
def chain_matmul(matrices: Sequence[Tensor]) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications.

    # Errors

    No matrices, what is no matrix, shapes that do not fit, unlike devices.
    """
@overload
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications.

    # Errors

    No matrices, what is no matrix, shapes that do not fit, unlike devices.
    """

def _linalg_multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications; the first may be a vector, taken as a
    row, and the last, taken as a column.

    # Errors

    No tensors, what is neither, shapes that do not fit, unlike devices.
    """

def cross(input: Tensor, other: Tensor, dim: _int | None = None) -> Tensor:
    """The cross product of vectors along an axis of three positions: the first such axis, if none is named. Shapes broadcast.

    # Errors

    No such axis, shapes that do not broadcast, unlike devices.
    """

def _linalg_cross(input: Tensor, other: Tensor, *, dim: _int = -1) -> Tensor:
    """The cross product of vectors along an axis of three positions. Shapes broadcast.

    # Errors

    Another size along the axis, shapes that do not broadcast, unlike devices.
    """

def _linalg_vecdot(input: Tensor, y: Tensor, *, dim: _int = -1) -> Tensor:
    """The sums of products of vectors along an axis. Shapes broadcast.

    # Errors

    An axis out of range, shapes that do not broadcast, unlike devices.
    """

def matrix_power(input: Tensor, n: _int) -> Tensor:
    """Matrices multiplied with themselves, `n` times; the identity, if `n` is 0; of a negative `n`, the inverse's power (f32 and f64).
    By squaring.

    # Errors

    What is no square matrix; with a negative `n` a singular one.
    """

def _linalg_matrix_power(input: Tensor, n: _int) -> Tensor:
    """Matrices multiplied with themselves, `n` times; the identity, if `n` is 0; of a negative `n`, the inverse's power (f32 and f64).
    By squaring.

    # Errors

    What is no square matrix; with a negative `n` a singular one.
    """

def _linalg_vector_norm(input: Tensor, ord: _float = 2.0, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The norm of vectors: of all elements as one, or over some axes. See `norm` for the orders. Integers become the default float.

    # Errors

    An axis out of range or named twice; an order that is NaN; with an infinite or negative one, no elements.
    """

def _linalg_matrix_norm(input: Tensor, ord: _float | str = "fro", dim: _Dims = (-2, -1), keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The norm of the matrices in two axes: `"fro"` is the root of the sum of squares; 1 and −1 the largest and the least sum of a
    column's magnitudes, infinity and −infinity of a row's; `"nuc"` the sum of the singular values, 2 and −2 the largest and the least of
    them (f32 and f64). Integers become the default float.

    # Errors

    Fewer than two axes, axes out of range or the same; other orders; with −1, −2 and −infinity, no sums or singular values (of
    which the largest, with 1, 2 and infinity, is 0).
    """

def _linalg_norm(input: Tensor, ord: _float | str | None = None, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The norm of a vector or a matrix. Without an order the root of the sum of squares, of all elements or over some axes; with
    one, that of vectors over one axis (or of a tensor of one), that of matrices over two (or of a tensor of two). See
    `vector_norm` and `matrix_norm`. Integers become the default float.

    # Errors

    With an order, other than one or two axes; those of `vector_norm` and `matrix_norm`.
    """

def vander(input: Tensor, n: _int | None = None, increasing: _bool = False) -> Tensor:
    """The powers of a vector's elements as columns: from the `n − 1`-th (`n` is the vector's size, if it is not given) down to
    the 0-th, or up to it.

    # Errors

    What is no vector.
    """

def _linalg_diagonal(input: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """The diagonals of matrices (above the main one by `offset`) as the last axis: a view. `dim1` and `dim2` say which axes the matrices
    have.

    # Errors

    An axis out of range, or twice the same.
    """

def _linalg_vander(input: Tensor, *, n: _int | None = None) -> Tensor:
    """The powers of the elements along the last axis, from the 0-th up, as many as there are elements unless `n` says how many.

    # Errors

    `n` not larger than 1.
    """

def _linalg_inv(input: Tensor) -> Tensor:
    """The inverses of square matrices, `[…, n, n]`. f32 and f64.

    # Errors

    What is no square matrix, a singular one, other dtypes.
    """

def inverse(input: Tensor) -> Tensor:
    """The inverses of square matrices: see `linalg.inv`.

    # Errors

    What is no square matrix, a singular one, other dtypes.
    """

def _linalg_inv_ex(input: Tensor, *, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`inv`, and for each matrix the first pivot that is 0 (i32), counted from 1, or 0: then its inverse is none.

    # Errors

    What is no square matrix, other dtypes; with `check_errors` a singular one.
    """

def _linalg_solve(input: Tensor, B: Tensor, *, left: _bool = True) -> Tensor:
    """`X` with `A X = B`, or if not `left`, with `X A = B`: `A` is `[…, n, n]`, `B` `[…, n, k]` (or `[…, k, n]`), or a vector, or vectors of `A`'s own
    batch, `[…, n]`. Batches broadcast. f32 and f64.

    # Errors

    Shapes that do not fit, a singular matrix, other dtypes, unlike devices.
    """

def _linalg_solve_ex(input: Tensor, B: Tensor, *, left: _bool = True, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`solve`, and for each matrix the first pivot that is 0 (i32), counted from 1, or 0: then there is no solution.

    # Errors

    Shapes that do not fit, other dtypes, unlike devices; with `check_errors` a singular matrix.
    """

def _linalg_solve_triangular(input: Tensor, B: Tensor, *, upper: _bool, left: _bool = True, unitriangular: _bool = False) -> Tensor:
    """`X` with `A X = B`, or if not `left`, with `X A = B`, where `A` is a triangle: with `upper` that above the diagonal, else that below, of a matrix
    of which nothing else is read; with `unitriangular` the diagonal is ones, whatever stands there. Batches broadcast. f32 and f64.

    # Errors

    Shapes that do not fit, other dtypes, unlike devices. A diagonal with a 0 is no error: there are infinities and NaN.
    """

def triangular_solve(input: Tensor, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> tuple[Tensor, ...]:
    """`X` with `A X = b` (or `Aᵀ X = b`), where `A` is a triangle; and a copy of `A`, for each matrix of the batch. The older name of `linalg.solve_triangular`.

    # Errors

    Those of `linalg.solve_triangular`.
    """

def _linalg_lu_solve(input: Tensor, pivots: Tensor, B: Tensor, *, left: _bool = True, adjoint: _bool = False) -> Tensor:
    """`X` with `A X = B` (or `X A = B`, if not `left`; or with `Aᵀ` for `A`, if `adjoint`) of what `lu_factor` answers with for `A`.

    # Errors

    Shapes that do not fit, pivots that name rows that are not there, other dtypes, unlike devices.
    """

def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """`linalg.lu_solve` with the right side first.

    # Errors

    Those of `linalg.lu_solve`.
    """

def cholesky_solve(input: Tensor, L: Tensor, upper: _bool = False) -> Tensor:
    """`X` with `L Lᵀ X = B`, of what `cholesky` answers with; with `upper`, `L` is its transpose.

    # Errors

    Shapes that do not fit, other dtypes, unlike devices.
    """

def cholesky_inverse(input: Tensor, upper: _bool = False) -> Tensor:
    """The inverse of `L Lᵀ`, of what `cholesky` answers with; with `upper`, the tensor is its transpose.

    # Errors

    What is no square matrix, other dtypes, a zero on the diagonal: what is not known yet is found when the inverse is computed.
    """

def det(input: Tensor) -> Tensor:
    """The determinants of square matrices. f32 and f64. A singular matrix has a
    gradient; its second derivatives are not to be relied on.

    # Errors

    What is no square matrix, other dtypes.
    """

def _linalg_det(input: Tensor) -> Tensor:
    """The determinants of square matrices. f32 and f64. A singular matrix has a
    gradient; its second derivatives are not to be relied on.

    # Errors

    What is no square matrix, other dtypes.
    """

def slogdet(input: Tensor) -> tuple[Tensor, ...]:
    """The signs of determinants (−1, 0 or 1), and the logarithms of their magnitudes (−∞ of a singular matrix). f32 and f64.

    # Errors

    What is no square matrix, other dtypes.
    """

def _linalg_slogdet(input: Tensor) -> tuple[Tensor, ...]:
    """The signs of determinants (−1, 0 or 1), and the logarithms of their magnitudes (−∞ of a singular matrix). f32 and f64.

    # Errors

    What is no square matrix, other dtypes.
    """

def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants: −∞ of a singular matrix, NaN where the determinant is negative. f32 and f64.

    # Errors

    What is no square matrix, other dtypes.
    """

def _linalg_tensorinv(input: Tensor, ind: _int = 2) -> Tensor:
    """The inverse of a tensor as a map from its last axes to its first `ind`: `tensordot(tensorinv(A), B, ind)` is `tensorsolve(A, B)`.

    # Errors

    First axes of another product than the others', a singular map, other dtypes.
    """

def _linalg_tensorsolve(input: Tensor, B: Tensor, dims: _Dims | None = None) -> Tensor:
    """`X` with `tensordot(A, X, X.ndim) = B`. The axes `dims` of `A` are moved to its end first.

    # Errors

    Shapes that do not fit, a singular map, other dtypes.
    """

def _linalg_matrix_sqrth(A: Tensor) -> Tensor:
    """The square root of symmetric positive definite matrices `[…, n, n]`, of which the lower triangle is read: the symmetric `X` with `X X = A`,
    by eigenvalues. f32 and f64.

    # Errors

    What is no square matrix, numbers that are not finite, other dtypes.
    """

def _linalg_pinv(input: _Operand, rcond: _Operand | None = None, *, atol: _Operand | None = None, rtol: _Operand | None = None, hermitian: _bool = False) -> Tensor:
    """The pseudoinverse (Moore and Penrose) of matrices `[…, m, n]`: `[…, n, m]`, by singular values. Those not above the larger of `atol` and
    `rtol` times the largest count as 0; without either, `rtol` is the larger of `m` and `n` times the dtype's epsilon. With `hermitian`
    the matrices are symmetric. f32 and f64.

    # Errors

    What is no matrix, numbers that are not finite, other dtypes.
    """

def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor:
    """The pseudoinverse: see `linalg.pinv`, whose `rtol` is `rcond` here.

    # Errors

    What is no matrix, numbers that are not finite, other dtypes.
    """

def _linalg_matrix_rank(input: _Operand, tol: _Operand | None = None, *, atol: _Operand | None = None, rtol: _Operand | None = None, hermitian: _bool = False) -> Tensor:
    """How many singular values of a matrix are above a bound (i64): the larger of `atol` and `rtol` times the largest one; without either, `rtol`
    is the larger of `m` and `n` times the dtype's epsilon. With `hermitian` the matrices are symmetric.

    # Errors

    What is no matrix, numbers that are not finite, other dtypes.
    """

def _linalg_cond(input: Tensor, p: _float | str | None = None) -> Tensor:
    """The condition number of matrices: the norm of order `p` times that of the inverse. Orders 2 (which `None` is) and −2 are the quotient of the
    largest and the least singular value, and its reciprocal, and take matrices that are not square; the others are those of
    `matrix_norm`. A singular matrix' is ∞, that of a matrix without elements 0.

    # Errors

    What is no matrix, or for an order but ±2 no square one; another order; other dtypes.
    """

def _linalg_lstsq(input: Tensor, B: Tensor, rcond: _float | None = None, *, driver: str | None = None) -> tuple[Tensor, ...]:
    """`X` that makes `A X − B` least in the sum of squares: `A` is `[…, m, n]`, `B` `[…, m, k]` or, of one batch with `A`, `[…, m]`. Also the sums of squares of
    what is left, for each column, the ranks (i64), and singular values.

    The driver `"gels"`, which `None` is on a CUDA device, takes all matrices to be of rank `m` or `n`, and goes by `qr`; there are no ranks,
    and sums of squares if `m > n`. Others go by singular values, computed on the host, and of several `X` find the least one: `"gelsy"`, which
    `None` is on the CPU, says nothing of what is left, `"gelsd"` and `"gelss"` do if `m > n` and all matrices are of rank `n` (within `vmap`, of whatever rank), and they tell singular
    values. Those not above `rcond` times the largest count as 0. What is not said is empty. f32 and f64.

    # Errors

    Shapes that do not fit, another driver, numbers that are not finite, other dtypes.
    """

def matrix_exp(input: Tensor) -> Tensor:
    """`eᴬ = Σ Aᵏ / k!` of square matrices, `[…, n, n]`. Reads the largest norm, which says how often the result is squared; within `vmap`, where
    there is none yet, it is squared as often as there are bits in a number (24, of f64 53), and what asks for more is NaN. Half types are computed in f32.

    # Errors

    What is no square matrix, other dtypes.
    """

def _linalg_matrix_exp(input: Tensor) -> Tensor:
    """`eᴬ = Σ Aᵏ / k!` of square matrices, `[…, n, n]`. Reads the largest norm, which says how often the result is squared; within `vmap`, where
    there is none yet, it is squared as often as there are bits in a number (24, of f64 53), and what asks for more is NaN. Half types are computed in f32.

    # Errors

    What is no square matrix, other dtypes.
    """

def _nn_mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """Squared differences. Shapes broadcast, integers become the default float. With a `weight` of the input's shape each counts that much, and the
    mean is a weighted one.

    # Errors

    Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    """

def _nn_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """Magnitudes of differences. Shapes broadcast, integers become the default float. With a `weight` of the input's shape each counts that much,
    and the mean is a weighted one.

    # Errors

    Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    """

def _nn_smooth_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", beta: _float = 1.0) -> Tensor:
    """Differences `d` below `beta` as `½d²/beta`, others as `d − ½beta` (Girshick, 2015). Shapes broadcast, integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices; a `beta` below 0; another reduction than "mean", "sum" and "none".
    """

def _nn_huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: _float = 1.0, weight: Tensor | None = None) -> Tensor:
    """Differences `d` below `delta` as `½d²`, others as `delta (d − ½delta)` (Huber, 1964). Shapes broadcast, integers become the default float.
    With a `weight` of the input's shape each counts that much.

    # Errors

    Shapes that do not broadcast, unlike devices; a `delta` that is not above 0; another reduction than "mean", "sum" and "none".
    """

def _nn_nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: _int = -100, reduction: str = "mean") -> Tensor:
    """The negative log likelihood of integer labels under log probabilities `[classes]`, `[n, classes]` or `[n, classes, …]`; the labels
    have that shape without the classes. With a `weight` for each class, samples count as much as their label's, and the mean is a
    weighted one; samples with the label `ignore_index` do not count. Integers become the default float.

    # Errors

    Shapes that do not fit, labels that are not integers; another reduction than "mean", "sum" and "none". A label out of range is
    found when the value is computed, if not before.
    """

def _nn_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: _int = -100, reduction: str = "mean", label_smoothing: _float = 0.0) -> Tensor:
    """The cross entropy, in nats, of logits `[classes]`, `[n, classes]` or `[n, classes, …]` and a target: integer labels in
    the logits' shape without the classes, or probabilities in the logits' shape. With a `weight` for each class, samples count as
    much as their label's, and the mean is a weighted one; samples with the label `ignore_index` do not count; `label_smoothing` is
    the part of each target that is spread evenly over all classes. Integers become the default float.

    # Errors

    Shapes that do not fit, a smoothing outside [0, 1], probabilities beside a label to ignore; another reduction than "mean", "sum"
    and "none". A label out of range is found when the value is computed, if not before.
    """

def _nn_linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None, reduction: str = "mean", ignore_index: _int | None = None, label_smoothing: _float = 0.0) -> Tensor:
    """The cross entropy (see there) of the classes' scores that a linear map makes of `[…, in]`, with a weight `[classes, …, in]` and
    a bias `[classes, …]`: of `[n, classes, …]`, where the weight's axes between are the further ones. Without an `ignore_index`, −100
    is the label that does not count.

    # Errors

    Those of `linear` and `cross_entropy`.
    """

def _nn_binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean") -> Tensor:
    """The cross entropy of probabilities and targets, `−y log x − (1 − y) log(1 − x)`, whose logarithms are taken for at least −100;
    `weight` broadcasts to them.

    # Errors

    Shapes that differ, unlike devices, a weight that does not broadcast; another reduction than "mean", "sum" and "none"; numbers
    outside of [0, 1], as labels that are out of range: what is not known yet is found when the loss is computed.
    """

def _nn_binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean", pos_weight: Tensor | None = None) -> Tensor:
    """The cross entropy of logits and probabilities of one shape, `−y log σ(x) − (1 − y) log(1 − σ(x))`, without overflow. `weight`
    broadcasts to them; `pos_weight` broadcasts to them too, and is what the first term counts.

    # Errors

    Shapes that differ, unlike devices, weights that do not broadcast; another reduction than "mean", "sum" and "none".
    """

def _nn_kl_div(input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: _bool = False) -> Tensor:
    """The divergence of Kullback and Leibler of a target from log probabilities, by elements: `y (log y − x)`, 0 where `y` is. With
    `log_target` the target is of logarithms, too. The reduction "batchmean" divides the sum by the size of the first axis.

    # Errors

    Shapes that do not broadcast, unlike devices; another reduction than "mean", "batchmean", "sum" and "none".
    """

def _nn_poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool = True, full: _bool = False, *, eps: _float = 1e-8, reduction: str = "mean") -> Tensor:
    """The negative log likelihood of counts under Poisson distributions of rate `eˣ`, or with `log_input` false of rate `x`, to whose
    logarithm's operand `eps` is added: `eˣ − y x`. With `full`, Stirling's approximation of `log y!` is added where `y > 1`.

    # Errors

    Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    """

def _nn_gaussian_nll_loss(input: _Operand, target: Tensor, var: _Operand, full: _bool = False, eps: _float = 1e-6, reduction: str = "mean") -> Tensor:
    """The negative log likelihood of targets under normal distributions of mean `x` and variance `var`, which is taken for at least
    `eps` (its gradient is as if it were not): `½(log var + (x − y)² / var)`, with `full` and ½ log 2π. `var` is a number, or has the
    input's shape, that without the last axis, or that with one axis of size 1.

    # Errors

    Shapes that do not fit, unlike devices; a `var` below 0: what is not known yet is found when the value is computed; another reduction
    than "mean", "sum" and "none".
    """

def _nn_hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0, *, reduction: str = "mean") -> Tensor:
    """`x` where the target is 1, and what `x` is below `margin` where it is −1. Shapes broadcast, integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    """

def _nn_margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, *, reduction: str = "mean") -> Tensor:
    """How much is missing for `target · (input1 − input2)` to be `margin`, where something is. Shapes broadcast, integers become the default float.

    # Errors

    Shapes that do not broadcast, or of unlike numbers of axes; unlike devices; another reduction than "mean", "sum" and "none".
    """

def _nn_cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, *, reduction: str = "mean") -> Tensor:
    """`1 − cos(input1, input2)` where the target is 1, and what the cosine is above `margin` where it is −1. The vectors lie along the
    last axis of `[n, size]` or `[size]`.

    # Errors

    Shapes that do not fit, unlike devices; another reduction than "mean", "sum" and "none".
    """

def _nn_triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = 1.0, p: _float = 2.0, eps: _float = 1e-6, swap: _bool = False, *, reduction: str = "mean") -> Tensor:
    """How much nearer than `margin` beyond the distance to `positive` the distance of `anchor` to `negative` is; distances are
    `p`-norms of differences along the last axis, to which `eps` is added. With `swap`, the distance of `positive` to `negative` is
    taken where it is smaller (Balntas et al., 2016).

    # Errors

    Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    """

def _nn_soft_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """`log(1 + exp(−y x))`, without overflow. Shapes broadcast, integers become the default float.

    # Errors

    Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    """

def _nn_multi_margin_loss(input: Tensor, target: Tensor, p: _int = 1, margin: _float = 1.0, weight: Tensor | None = None, *, reduction: str = "mean") -> Tensor:
    """For labels `[n]` of scores `[n, classes]` (or `[]` of `[classes]`): the mean over classes of what each other score is above the
    label's less `margin`, to the power `p` and times the label's `weight`. Integers become the default float.

    # Errors

    Shapes that do not fit, labels that are not integers; another `p` than 1 and 2; another reduction than "mean", "sum" and "none".
    A label out of range is found when the value is computed, if not before.
    """

def _nn_multilabel_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """For targets `[n, classes]` (or `[classes]`), rows of labels up to the first −1: the sum over a row's labels and all classes that
    are none of them of what the class's score is above the label's less 1, divided by the number of classes. Integers become the default float.

    # Errors

    Shapes that differ, labels that are not integers; another reduction than "mean", "sum" and "none". A label out of range is found
    when the value is computed.
    """

def _nn_multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean") -> Tensor:
    """The mean over classes, the last axis of the input, of the cross entropies of logits and targets; see `binary_cross_entropy_with_logits`.

    # Errors

    Shapes that do not broadcast, unlike devices, a weight that does not broadcast; another reduction than "mean", "sum" and "none".
    """

@overload
def reshape(input: Tensor, shape: _Dims) -> Tensor:
    """The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
    that there can be one, as PyTorch has it; else a copy.

    # Errors

    Another number of elements.
    """
@overload
def reshape(input: Tensor, *shape: _int) -> Tensor:
    """The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
    that there can be one, as PyTorch has it; else a copy.

    # Errors

    Another number of elements.
    """

def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Axes `start_dim` to `end_dim` as one.

    # Errors

    An axis out of range; a first one behind the last.
    """

def unflatten(input: Tensor, dim: _int, sizes: _Dims) -> Tensor:
    """An axis as several, of sizes whose product is its size; one may be −1.

    # Errors

    An axis out of range, another product.
    """

def ravel(input: Tensor) -> Tensor:
    """All elements in one axis: the same memory where they lie one after the other, else a copy.

    # Errors

    A value that could not be computed.
    """

@overload
def permute(input: Tensor, dims: _Dims) -> Tensor:
    """Axes in another order, a view.

    # Errors

    What is no permutation of the axes.
    """
@overload
def permute(input: Tensor, *dims: _int) -> Tensor:
    """Axes in another order, a view.

    # Errors

    What is no permutation of the axes.
    """

@overload
def permute_dims(input: Tensor, dims: _Dims) -> Tensor:
    """Axes in another order, a view.

    # Errors

    What is no permutation of the axes.
    """
@overload
def permute_dims(input: Tensor, *dims: _int) -> Tensor:
    """Axes in another order, a view.

    # Errors

    What is no permutation of the axes.
    """

def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two axes exchanged, a view.

    # Errors

    An axis out of range.
    """

def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two axes exchanged, a view.

    # Errors

    An axis out of range.
    """

def transpose_(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """`transpose`, written into the tensor."""

def swapdims_(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """`transpose`, written into the tensor."""

def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """Two axes exchanged, a view: `transpose`, by NumPy's name.

    # Errors

    An axis out of range.
    """

def swapaxes_(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """`swapaxes`, written into the tensor."""

def adjoint(input: Tensor) -> Tensor:
    """The last two axes exchanged, a view; of a tensor without axes, itself.

    # Errors

    One axis.
    """

def matrix_transpose(input: Tensor) -> Tensor:
    """The last two axes exchanged, a view; of a tensor without axes, itself.

    # Errors

    One axis.
    """

def movedim(input: Tensor, source: _Dims, destination: _Dims) -> Tensor:
    """Axes moved to other places, a view; those that are not named keep their order.

    # Errors

    An axis out of range or twice the same; as many sources as destinations are wanted.
    """

def moveaxis(input: Tensor, source: _Dims, destination: _Dims) -> Tensor:
    """Axes moved to other places, a view; those that are not named keep their order.

    # Errors

    An axis out of range or twice the same; as many sources as destinations are wanted.
    """

def narrow(input: Tensor, dim: _int, start: _int, length: _int) -> Tensor:
    """`length` positions from `start` (from the end, if it is negative) along an axis, a view.

    # Errors

    An axis out of range, positions outside of it.
    """

def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """One position along an axis, which disappears; a view.

    # Errors

    An axis or index out of range.
    """

@overload
def flip(input: Tensor, dims: _Dims) -> Tensor:
    """Axes backwards: a copy, as PyTorch has it. `slice` by −1 is a view.

    # Errors

    An axis out of range, or twice the same.
    """
@overload
def flip(input: Tensor, *dims: _int) -> Tensor:
    """Axes backwards: a copy, as PyTorch has it. `slice` by −1 is a view.

    # Errors

    An axis out of range, or twice the same.
    """

def fliplr(input: Tensor) -> Tensor:
    """The second axis backwards, a copy.

    # Errors

    Fewer than two axes.
    """

def flipud(input: Tensor) -> Tensor:
    """The first axis backwards, a copy.

    # Errors

    No axes.
    """

def rot90(input: Tensor, k: _int = 1, dims: _Dims = (0, 1)) -> Tensor:
    """Turned by `k` right angles in the plane of two axes, from the first towards the second; a copy.

    # Errors

    Other than two axes, or twice the same.
    """

def roll(input: Tensor, shifts: _Dims, dims: _Dims | None = None) -> Tensor:
    """Each axis moved by so many positions, where what goes beyond its end comes in at its start; all elements in row-major
    order where no axes are named. A copy.

    # Errors

    As many numbers as axes are wanted.
    """

@overload
def expand(input: Tensor, size: _Dims) -> Tensor:
    """Broadcast to a shape, a view; −1 keeps a size.

    # Errors

    A shape that it does not broadcast to.
    """
@overload
def expand(input: Tensor, *size: _int) -> Tensor:
    """Broadcast to a shape, a view; −1 keeps a size.

    # Errors

    A shape that it does not broadcast to.
    """

@overload
def broadcast_to(input: Tensor, size: _Dims) -> Tensor:
    """Broadcast to a shape, a view; −1 keeps a size.

    # Errors

    A shape that it does not broadcast to.
    """
@overload
def broadcast_to(input: Tensor, *size: _int) -> Tensor:
    """Broadcast to a shape, a view; −1 keeps a size.

    # Errors

    A shape that it does not broadcast to.
    """

@overload
def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Tensors broadcast to one shape, views.

    # Errors

    Shapes that do not broadcast.
    """
@overload
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors broadcast to one shape, views.

    # Errors

    Shapes that do not broadcast.
    """

@overload
def tile(input: Tensor, dims: _Sizes) -> Tensor:
    """As `repeat`; fewer numbers than axes are those of the last axes.

    # Errors

    More than 16 axes.
    """
@overload
def tile(input: Tensor, *dims: _int) -> Tensor:
    """As `repeat`; fewer numbers than axes are those of the last axes.

    # Errors

    More than 16 axes.
    """

def repeat_interleave(input: _Operand, repeats: _Operand | None = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
    """Each position along an axis so many times: the same number for all, or one for each. All elements in one axis, where none is
    named. Of a tensor of numbers alone, their positions, each as often as the number says.

    `output_size`, the size of the result's axis where a tensor says the numbers, is checked.

    # Errors

    An axis out of range; negative numbers, or as many as the axis is not long; numbers that are no integers.
    """

def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """A new axis of size 1 before `dim`, which may be one past the last; a view.

    # Errors

    An axis out of range.
    """

def unsqueeze_(input: Tensor, dim: _int) -> Tensor:
    """`unsqueeze`, written into the tensor."""

@overload
def squeeze(input: Tensor, dim: _Dims | None = None) -> Tensor:
    """Without axes of size 1: one, several (others stay), or all of them; a view.

    # Errors

    An axis out of range, or twice the same.
    """
@overload
def squeeze(input: Tensor, *dim: _int) -> Tensor:
    """Without axes of size 1: one, several (others stay), or all of them; a view.

    # Errors

    An axis out of range, or twice the same.
    """

@overload
def squeeze_(input: Tensor, dim: _Dims | None = None) -> Tensor:
    """`squeeze`, written into the tensor."""
@overload
def squeeze_(input: Tensor, *dim: _int) -> Tensor:
    """`squeeze`, written into the tensor."""

def as_strided(input: Tensor, size: _Sizes, stride: _Dims, storage_offset: _int | None = None) -> Tensor:
    """The memory that the tensor is of, seen with these sizes and strides from `storage_offset` on, all in elements (from where
    the tensor begins, if that is not given). A view; what lies in memory as computed results do is row-major.

    # Errors

    What lies outside of the memory; as many strides as sizes are wanted; a detached view.
    """

def atleast_1d(input: Tensor) -> Tensor:
    """With at least one axis; a view."""

def atleast_2d(input: Tensor) -> Tensor:
    """With at least two axes, new ones in front; a view."""

def atleast_3d(input: Tensor) -> Tensor:
    """With at least three axes: of a vector the middle one, of a matrix the first two; a view."""

def norm_except_dim(input: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor:
    """The norm of order `pow` over all axes but `dim`, which stay with size 1; over all, without axes, where `dim` is -1.

    # Errors

    An axis that is not there.
    """

def layer_norm(input: Tensor, normalized_shape: _Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-5) -> Tensor:
    """Normalised over the last axes, whose sizes are `normalized_shape`, then scaled and shifted (Ba, Kiros and Hinton, 2016).
    Integers become the default float.

    # Errors

    Sizes that are not the last ones; weight or bias of another shape.
    """

def _nn_layer_norm(input: Tensor, normalized_shape: _Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-5) -> Tensor:
    """Normalised over the last axes, whose sizes are `normalized_shape`, then scaled and shifted (Ba, Kiros and Hinton, 2016).
    Integers become the default float.

    # Errors

    Sizes that are not the last ones; weight or bias of another shape.
    """

def rms_norm(input: Tensor, normalized_shape: _Sizes, weight: Tensor | None = None, eps: _float | None = None) -> Tensor:
    """Divided by the root of the mean square over the last axes, whose sizes are `normalized_shape`, then scaled (Zhang and
    Sennrich, 2019). `eps`, which is added to the mean square, is the distance of 1 to the next number of the dtype that is computed in
    (f32 for half types) where it is not given. Integers become the default float.

    # Errors

    Sizes that are not the last ones; a weight of another shape.
    """

def _nn_rms_norm(input: Tensor, normalized_shape: _Sizes, weight: Tensor | None = None, eps: _float | None = None) -> Tensor:
    """Divided by the root of the mean square over the last axes, whose sizes are `normalized_shape`, then scaled (Zhang and
    Sennrich, 2019). `eps`, which is added to the mean square, is the distance of 1 to the next number of the dtype that is computed in
    (f32 for half types) where it is not given. Integers become the default float.

    # Errors

    Sizes that are not the last ones; a weight of another shape.
    """

def group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-5) -> Tensor:
    """Normalised over groups of channels (axis 1) and all that lies behind them, then scaled and shifted by channel (Wu and He,
    2018). Integers become the default float.

    # Errors

    Fewer than two axes; no channels, or channels without elements; channels that do not part into `num_groups`; weight or bias
    that are not one number for each channel.
    """

def _nn_group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-5) -> Tensor:
    """Normalised over groups of channels (axis 1) and all that lies behind them, then scaled and shifted by channel (Wu and He,
    2018). Integers become the default float.

    # Errors

    Fewer than two axes; no channels, or channels without elements; channels that do not part into `num_groups`; weight or bias
    that are not one number for each channel.
    """

def _nn_batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: _bool = False, momentum: _float = 0.1, eps: _float = 1e-5) -> Tensor:
    """Normalised by channel (axis 1), then scaled and shifted (Ioffe and Szegedy, 2015): in training by mean and variance of the
    input over all other axes, which `running_mean` and `running_var`, where given, are moved towards by `momentum`; else by those
    two. Integers become the default float.

    # Errors

    Fewer than two axes; in training, one value for each channel; else, no running mean or variance; what is not one number for
    each channel.
    """

def _nn_instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: _bool = True, momentum: _float = 0.1, eps: _float = 1e-5) -> Tensor:
    """Normalised by sample and channel over all axes behind those two, then scaled and shifted by channel (Ulyanov, Vedaldi and
    Lempitsky, 2016). With `use_input_stats` by the input's own mean and variance, towards whose means over samples `running_mean`
    and `running_var`, where given, are moved by `momentum`; else by those two. Integers become the default float.

    # Errors

    Fewer than three axes; one value for each channel; without the input's own statistics, no running mean or variance; what is not one
    number for each channel.
    """

def _nn_local_response_norm(input: Tensor, size: _int, alpha: _float = 1e-4, beta: _float = 0.75, k: _float = 1.0) -> Tensor:
    """Divided by `(k + alpha · m)` to the power `beta`, where `m` is the mean of squares over `size` neighbouring channels (axis 1),
    those beyond the ends taken for 0 (Krizhevsky, Sutskever and Hinton, 2012). Integers become the default float.

    # Errors

    Fewer than three axes; a `size` of 0.
    """

def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a view of all of it for vectors and scalars.

    # Errors

    More than two axes.
    """

def t_(input: Tensor) -> Tensor:
    """`t`, written into the tensor."""

def clone(input: Tensor) -> Tensor:
    """A copy of the value in its own memory; gradients flow through it."""

def rnn_tanh(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, ...]:
    """An Elman network of tanh, `h = tanh(W x + b + U h + c)`, over `[steps, batch, features]` (or `[batch,
    steps, features]` with `batch_first`): the outputs of all steps of the last layer and the states `[layers
    · directions, batch, size]` at the end. `params` has for each layer, and each direction, `W`, `U` and, if
    `has_biases`, `b` and `c`. While `train`, layers after the first have their input dropped out by
    `dropout`.

    # Errors

    Shapes that do not fit, no steps, unlike dtypes or devices.
    """

def rnn_relu(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, ...]:
    """As `rnn_tanh`, with `max(x, 0)` in the place of tanh.

    # Errors

    As `rnn_tanh`.
    """

def gru(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, ...]:
    """Gated recurrent units (Cho et al., 2014), as `rnn_tanh`: `r = σ(W₁x + U₁h)`, `z = σ(W₂x + U₂h)`, `n =
    tanh(W₃x + r (U₃h + c₃))`, `h = (1 − z) n + z h`, the weights of `r`, `z` and `n` one below the other.

    # Errors

    As `rnn_tanh`.
    """

def lstm(input: Tensor, hx: Sequence[Tensor], params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, ...]:
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), as `rnn_tanh`: `i`, `f`, `o = σ(W x + U h)`, `g
    = tanh(W x + U h)`, `c = f c + i g`, `h = o tanh(c)`, the weights of `i`, `f`, `g` and `o` one below the
    other. `hx` is `[h, c]`, and the answer the outputs and both states at the end. Where `h` is narrower than
    `c`, a last weight of each layer projects it (Sak et al., 2014).

    # Errors

    As `rnn_tanh`.
    """

def packed_rnn(input: Tensor, batch_sizes: _Dims, mode: str, hx: Sequence[Tensor], params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool) -> tuple[Tensor, ...]:
    """`rnn_tanh`, `rnn_relu`, `gru` or `lstm` (`mode`: "RNN_TANH", "RNN_RELU", "GRU" or "LSTM") over packed
    sequences: rows `[rows, features]`, first the first steps of all sequences, then the second steps of those
    that have one, the longest sequence first; `batch_sizes` says how many sequences there are at each step.
    Answers with the rows of the outputs, and the states at each sequence's end.

    # Errors

    Numbers of sequences that grow, or do not sum to the rows; as `rnn_tanh`.
    """

def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of `rnn_tanh` for `[batch, features]`: the next state `[batch, size]`.

    # Errors

    Shapes that do not fit, unlike dtypes or devices.
    """

def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of `rnn_relu` for `[batch, features]`: the next state `[batch, size]`.

    # Errors

    Shapes that do not fit, unlike dtypes or devices.
    """

def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of `gru` for `[batch, features]`: the next state `[batch, size]`.

    # Errors

    Shapes that do not fit, unlike dtypes or devices.
    """

def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, ...]:
    """One step of `lstm` for `[batch, features]` and `hx`, `[h, c]`: the next two states `[batch, size]`.

    # Errors

    Shapes that do not fit, unlike dtypes or devices.
    """

def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The mean of each of `output_size` shares of `[n, c, length]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.

    # Errors

    Another number of axes; planes without elements; integers.
    """

def _nn_adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The mean of each of `output_size` shares of `[n, c, length]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.

    # Errors

    Another number of axes; planes without elements; integers.
    """

@overload
def _nn_adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each of `output_size` shares of `[n, c, length]` (or without `n`), as `adaptive_avg_pool1d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """
@overload
def _nn_adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, length]` (or without `n`), as `adaptive_avg_pool1d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """
@overload
def _nn_adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, length]` (or without `n`), as `adaptive_avg_pool1d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """

def _nn_adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The mean of each of `output_size` shares of `[n, c, height, width]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.

    # Errors

    Another number of axes; planes without elements; integers.
    """

@overload
def _nn_adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each of `output_size` shares of `[n, c, height, width]` (or without `n`), as `adaptive_avg_pool2d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """
@overload
def _nn_adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, height, width]` (or without `n`), as `adaptive_avg_pool2d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """
@overload
def _nn_adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, height, width]` (or without `n`), as `adaptive_avg_pool2d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """

def _nn_adaptive_avg_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The mean of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.

    # Errors

    Another number of axes; planes without elements; integers.
    """

@overload
def _nn_adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`), as `adaptive_avg_pool3d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """
@overload
def _nn_adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`), as `adaptive_avg_pool3d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """
@overload
def _nn_adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`), as `adaptive_avg_pool3d` has them; with
    `return_indices` also where it stands in its plane (i64): of equal ones the first.

    # Errors

    Another number of axes; planes without elements; truth values.
    """

@overload
def _nn_fractional_max_pool2d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: Literal[False] = False, _random_samples: Tensor | None = None) -> Tensor:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (i64). `_random_samples` `[n, c, 2]`, in [0, 1), are what is drawn.

    # Errors

    Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.
    """
@overload
def _nn_fractional_max_pool2d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, *, return_indices: Literal[True], _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (i64). `_random_samples` `[n, c, 2]`, in [0, 1), are what is drawn.

    # Errors

    Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.
    """
@overload
def _nn_fractional_max_pool2d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (i64). `_random_samples` `[n, c, 2]`, in [0, 1), are what is drawn.

    # Errors

    Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.
    """

@overload
def _nn_fractional_max_pool3d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: Literal[False] = False, _random_samples: Tensor | None = None) -> Tensor:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, depth, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (i64). `_random_samples` `[n, c, 3]`, in [0, 1), are what is drawn.

    # Errors

    Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.
    """
@overload
def _nn_fractional_max_pool3d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, *, return_indices: Literal[True], _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, depth, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (i64). `_random_samples` `[n, c, 3]`, in [0, 1), are what is drawn.

    # Errors

    Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.
    """
@overload
def _nn_fractional_max_pool3d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, depth, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (i64). `_random_samples` `[n, c, 3]`, in [0, 1), are what is drawn.

    # Errors

    Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.
    """

def _special_chebyshev_polynomial_t(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the first kind,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_shifted_chebyshev_polynomial_t(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the first kind at `2x − 1`,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_chebyshev_polynomial_u(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the second kind,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_shifted_chebyshev_polynomial_u(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the second kind at `2x − 1`,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_chebyshev_polynomial_v(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the third kind,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_shifted_chebyshev_polynomial_v(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the third kind at `2x − 1`,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_chebyshev_polynomial_w(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the fourth kind,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_shifted_chebyshev_polynomial_w(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the fourth kind at `2x − 1`,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_hermite_polynomial_h(input: _Operand, n: _Operand) -> Tensor:
    """Hermite's polynomials of physics,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_hermite_polynomial_he(input: _Operand, n: _Operand) -> Tensor:
    """Hermite's polynomials of probability,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_laguerre_polynomial_l(input: _Operand, n: _Operand) -> Tensor:
    """Laguerre's polynomials,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

def _special_legendre_polynomial_p(input: _Operand, n: _Operand) -> Tensor:
    """Legendre's polynomials,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.

    # Errors

    Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    """

@overload
def max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """

@overload
def _nn_max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def _nn_max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def _nn_max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """

def max_pool1d_with_indices(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False) -> tuple[Tensor, ...]:
    """`max_pool1d` with its indices.

    # Errors

    As `max_pool1d`.
    """

def _nn_max_pool1d_with_indices(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False) -> tuple[Tensor, ...]:
    """`max_pool1d` with its indices.

    # Errors

    As `max_pool1d`.
    """

@overload
def max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """

@overload
def _nn_max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def _nn_max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def _nn_max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """

def _nn_max_pool2d_with_indices(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False) -> tuple[Tensor, ...]:
    """`max_pool2d` with its indices.

    # Errors

    As `max_pool2d`.
    """

@overload
def max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """

@overload
def _nn_max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def _nn_max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """
@overload
def _nn_max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (i64): of equal ones the first, to which the
    gradient goes.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; truth values.
    """

def _nn_max_pool3d_with_indices(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False) -> tuple[Tensor, ...]:
    """`max_pool3d` with its indices.

    # Errors

    As `max_pool3d`.
    """

def avg_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """The mean of each window of `kernel_size` over `[n, c, length]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    `count_include_pad` is false. Half types are added in f32; means of i64 are rounded towards 0.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; other integers than i64.
    """

def _nn_avg_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """The mean of each window of `kernel_size` over `[n, c, length]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    `count_include_pad` is false. Half types are added in f32; means of i64 are rounded towards 0.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; other integers than i64.
    """

def _nn_avg_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None) -> Tensor:
    """The mean of each window of `kernel_size` over `[n, c, height, width]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    `count_include_pad` is false. Instead of by their number, sums are divided by `divisor_override` where it is given. Half types are added in f32; means of i64 are rounded towards 0.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; other integers than i64.
    """

def _nn_avg_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None) -> Tensor:
    """The mean of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    `count_include_pad` is false. Instead of by their number, sums are divided by `divisor_override` where it is given. Half types are added in f32; means of i64 are rounded towards 0.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0; other integers than i64.
    """

def _nn_lp_pool1d(input: Tensor, norm_type: _float, kernel_size: _Sizes, stride: _Sizes | None = None, ceil_mode: _bool = False) -> Tensor:
    """The root of the sum of `norm_type`-th powers of each window over `[n, c, length]` (or without `n`); windows that hang over, with
    `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    largest magnitude, of −∞ the least. Integers become the default float.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.
    """

def _nn_lp_pool2d(input: Tensor, norm_type: _float, kernel_size: _Sizes, stride: _Sizes | None = None, ceil_mode: _bool = False) -> Tensor:
    """The root of the sum of `norm_type`-th powers of each window over `[n, c, height, width]` (or without `n`); windows that hang over, with
    `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    largest magnitude, of −∞ the least. Integers become the default float.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.
    """

def _nn_lp_pool3d(input: Tensor, norm_type: _float, kernel_size: _Sizes, stride: _Sizes | None = None, ceil_mode: _bool = False) -> Tensor:
    """The root of the sum of `norm_type`-th powers of each window over `[n, c, depth, height, width]` (or without `n`); windows that hang over, with
    `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    largest magnitude, of −∞ the least. Integers become the default float.

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.
    """

def _nn_max_unpool1d(input: Tensor, indices: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, output_size: _Sizes | None = None) -> Tensor:
    """Zeros with the elements of `[n, c, length]` (or without `n`) where `indices` (i64, of the same shape) say in their plane, the last one where
    a place is met more than once: the reverse of `max_pool1d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    `padding`, need it, or `output_size`, which differs from that by less than `stride`.

    # Errors

    Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    the value is computed, if not before.
    """

def _nn_max_unpool2d(input: Tensor, indices: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, output_size: _Sizes | None = None) -> Tensor:
    """Zeros with the elements of `[n, c, height, width]` (or without `n`) where `indices` (i64, of the same shape) say in their plane, the last one where
    a place is met more than once: the reverse of `max_pool2d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    `padding`, need it, or `output_size`, which differs from that by less than `stride`.

    # Errors

    Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    the value is computed, if not before.
    """

def _nn_max_unpool3d(input: Tensor, indices: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, output_size: _Sizes | None = None) -> Tensor:
    """Zeros with the elements of `[n, c, depth, height, width]` (or without `n`) where `indices` (i64, of the same shape) say in their plane, the last one where
    a place is met more than once: the reverse of `max_pool3d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    `padding`, need it, or `output_size`, which differs from that by less than `stride`.

    # Errors

    Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    the value is computed, if not before.
    """

def sum(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The sum of all elements, or over some axes. Integers and truth values become i64; `dtype` is what the elements are
    converted to before. Floats are added in blocks of f32 or f64, and the blocks' sums in f64.

    # Errors

    An axis out of range or named twice.
    """

def prod(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The product of all elements, or over some axes. Integers and truth values become i64; `dtype` is what the elements are
    converted to before.

    # Errors

    An axis out of range or named twice.
    """

def mean(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The mean of all elements, or over some axes; of integers, in the default float unless `dtype` says otherwise.

    # Errors

    An axis out of range or named twice, a `dtype` of integers.
    """

def nansum(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The sum of what is not NaN, of all elements or over some axes.

    # Errors

    An axis out of range or named twice.
    """

def nanmean(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The mean of what is not NaN, of all elements or over some axes; of integers, in the default float.

    # Errors

    An axis out of range or named twice, a `dtype` of integers.
    """

def amax(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """The largest element, or the largest over some axes; NaN if any is. Equal ones share the gradient.

    # Errors

    An axis out of range or named twice; no elements.
    """

def amin(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """The smallest element, or the smallest over some axes; NaN if any is. Equal ones share the gradient.

    # Errors

    An axis out of range or named twice; no elements.
    """

def aminmax(input: Tensor, *, dim: _int | None = None, keepdim: _bool = False) -> tuple[Tensor, ...]:
    """The smallest and the largest element, of all or along an axis. Equal ones share the gradient.

    # Errors

    An axis out of range; no elements.
    """

def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
    """The index (i64) of the first largest element along an axis, or of the flattened tensor.

    # Errors

    Truth values; an axis out of range; no elements.
    """

def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
    """The index (i64) of the first smallest element along an axis, or of the flattened tensor.

    # Errors

    Truth values; an axis out of range; no elements.
    """

def any(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """Whether any element is not zero, of all or over some axes: a truth value, and of u8 a u8.

    # Errors

    An axis out of range or named twice.
    """

def all(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """Whether no element is zero, of all or over some axes: a truth value, and of u8 a u8.

    # Errors

    An axis out of range or named twice.
    """

def count_nonzero(input: Tensor, dim: _Dims | None = None) -> Tensor:
    """How many elements are not zero (i64), of all or over some axes.

    # Errors

    An axis out of range or named twice.
    """

def var(input: Tensor, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
    """The variance of all elements, or over some axes: squares of deviations from the mean, over their count less
    `correction`, which is 1 (Bessel's) unless `unbiased` is false. Over 0, where the correction is larger. Integers become the default float.

    # Errors

    An axis out of range or named twice.
    """

def std(input: Tensor, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
    """The standard deviation, the square root of the variance, of all elements or over some axes; see `var`. Its gradient is 0
    where nothing varies. Integers become the default float.

    # Errors

    An axis out of range or named twice.
    """

def var_mean(input: Tensor, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> tuple[Tensor, ...]:
    """The variance (see `var`) and the mean, of all elements or over some axes. Integers become the default float.

    # Errors

    An axis out of range or named twice.
    """

def std_mean(input: Tensor, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> tuple[Tensor, ...]:
    """The standard deviation (see `std`) and the mean, of all elements or over some axes. Integers become the default float.

    # Errors

    An axis out of range or named twice.
    """

def logsumexp(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """`log Σ eˣ` over some axes (all, if none is named), without overflow. Integers become the default float.

    # Errors

    An axis out of range or named twice.
    """

def _special_logsumexp(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """`log Σ eˣ` over some axes (all, if none is named), without overflow. Integers become the default float.

    # Errors

    An axis out of range or named twice.
    """

def norm(input: Tensor, p: _float | str = "fro", dim: _Dims | None = None, keepdim: _bool = False, dtype: _DType | None = None) -> Tensor:
    """The norm of all elements as one vector, or over some axes: the `p`-th root of the sum of `p`-th powers of magnitudes
    (2 for `"fro"`); `"nuc"` is the sum of singular values of matrices. With `p` infinite the largest magnitude, −∞ the smallest, 0 how many are not zero. The gradient of a
    norm that is 0 is 0. Integers become the default float.

    # Errors

    An axis out of range or named twice; a `p` that is NaN or another word; with an infinite or negative `p`, no elements.
    """

def dist(input: Tensor, other: Tensor, p: _float = 2.0) -> Tensor:
    """The `p`-norm of the difference to another tensor, which is broadcast.

    # Errors

    Shapes that do not broadcast, unlike devices; a `p` that is NaN.
    """

def renorm(input: Tensor, p: _float, dim: _int, maxnorm: _float) -> Tensor:
    """The parts along an axis, those whose `p`-norm is larger than `maxnorm` scaled down to it.

    # Errors

    Fewer than two axes, an axis out of range, a `p` that is not positive, a negative `maxnorm`.
    """

def renorm_(input: Tensor, p: _float, dim: _int, maxnorm: _float) -> Tensor:
    """`renorm`, written into the tensor."""

def diff(input: Tensor, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """Differences of neighbours along an axis, taken `n` times; of truth values, whether they differ. `prepend` and `append`
    are put before and after the elements first, unless `n` is 0.

    # Errors

    A tensor without axes, an axis out of range; what is put beside it and does not fit.
    """

def trapezoid(input: Tensor, x: Tensor | None = None, *, dx: _float | None = None, dim: _int = -1) -> Tensor:
    """The integral along an axis by the trapezoidal rule: of values at the points `x` (one axis, or a shape that broadcasts
    with the tensor's), or at points that are `dx` apart.

    # Errors

    A tensor without axes, an axis out of range, truth values; points that do not fit the values, or both `x` and `dx`.
    """

def trapz(input: Tensor, x: Tensor | None = None, *, dx: _float | None = None, dim: _int = -1) -> Tensor:
    """The integral along an axis by the trapezoidal rule: of values at the points `x` (one axis, or a shape that broadcasts
    with the tensor's), or at points that are `dx` apart.

    # Errors

    A tensor without axes, an axis out of range, truth values; points that do not fit the values, or both `x` and `dx`.
    """

def cumulative_trapezoid(input: Tensor, x: Tensor | None = None, *, dx: _float | None = None, dim: _int = -1) -> Tensor:
    """The integral up to each point but the first along an axis by the trapezoidal rule; see `trapezoid`.

    # Errors

    A tensor without axes, an axis out of range, truth values; points that do not fit the values, or both `x` and `dx`.
    """

def cov(input: Tensor, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables, which are rows, by observations, which are columns; of one row, the variance. Each
    observation counts `fweights` times (integers), and with `aweights`; both have one axis. Integers become the default float.

    # Errors

    More than two axes; weights of another number than the observations', that are no integers or floats, negative, or not finite.
    """

def corrcoef(input: Tensor) -> Tensor:
    """The matrix of correlation coefficients of variables, which are rows, by observations, which are columns. Integers become
    the default float.

    # Errors

    More than two axes.
    """

def gradient(input: Tensor, *, spacing: _float | Sequence[_float] | Sequence[Tensor] | None = None, dim: _Dims | None = None, edge_order: _int = 1) -> tuple[Tensor, ...]:
    """The slopes along axes (all, if none is named) by differences of neighbours, a tensor for each: central ones inside, at the
    ends those of `edge_order` 1 or 2. `spacing` is the distance of points (1), one for all axes or one for each; or where they lie,
    a tensor of one axis for each.

    # Errors

    An axis out of range or named twice, or with too few positions; another order; other than one distance or one for each axis;
    other than a point for each position.
    """

def _nn_grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: _bool | None = None) -> Tensor:
    """Images `[n, c, height, width]` read at the places of a grid `[n, h, w, 2]`, each an x and a y: −1 … 1 from one edge to the other (from one centre
    of an outermost element to the other, with `align_corners`); `[n, c, h, w]`. `mode` says what lies between elements: "bilinear",
    "nearest", whose grid has a gradient of 0, or "bicubic"; `padding_mode` what lies beyond them: "zeros", "border" or "reflection". Of images
    `[n, c, depth, height, width]` with a grid `[n, d, h, w, 3]` likewise. (Jaderberg et al., 2015.)

    # Errors

    Shapes that do not fit; images without elements; another mode; integers; dtypes that differ; unlike devices.
    """

def _nn_affine_grid(input: Tensor, size: _Sizes, align_corners: _bool | None = None) -> Tensor:
    """The grid `[n, h, w, 2]` with which `grid_sample` moves images of `size` `[n, c, h, w]` by affine maps `[n, 2, 3]`; or `[n, d, h, w, 3]` of
    `[n, c, d, h, w]` by `[n, 3, 4]`. With `align_corners` −1 and 1 are the centres of the outermost elements, else their edges.

    # Errors

    Shapes that do not fit; a size of 0; integers.
    """

def cumsum(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """The sum of each element and all before it along an axis. Integers become i64. f32 is added in f64, half types in f32; the
    order of additions depends on the shape alone.

    # Errors

    An axis out of range.
    """

def cumulative_sum(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """The sum of each element and all before it along an axis. Integers become i64. f32 is added in f64, half types in f32; the
    order of additions depends on the shape alone.

    # Errors

    An axis out of range.
    """

def cumsum_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """`cumsum`, written into the tensor."""

def cumulative_sum_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """`cumsum`, written into the tensor."""

def cumprod(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """The product of each element and all before it along an axis. Integers become i64.

    # Errors

    An axis out of range.
    """

def cumulative_prod(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """The product of each element and all before it along an axis. Integers become i64.

    # Errors

    An axis out of range.
    """

def cumprod_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """`cumprod`, written into the tensor."""

def cumulative_prod_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """`cumprod`, written into the tensor."""

def logcumsumexp(input: Tensor, dim: _int) -> Tensor:
    """`log Σ eˣ` of each element and all before it along an axis, without overflow. Integers become the default float.

    # Errors

    An axis out of range.
    """

def cummax(input: Tensor, dim: _int) -> Extreme:
    """The largest element so far along an axis, and its index (i64): of equal ones the last. NaN is larger than every number. The
    gradient goes to the element at the index.

    # Errors

    An axis out of range.
    """

def cummin(input: Tensor, dim: _int) -> Extreme:
    """The smallest element so far along an axis, and its index (i64): of equal ones the last. NaN is smaller than every number. The
    gradient goes to the element at the index.

    # Errors

    An axis out of range.
    """

def recurrence(input: Tensor, factors: Tensor, dim: _int) -> Tensor:
    """The linear recurrence `yᵢ = xᵢ + aᵢ yᵢ₋₁` along an axis, which begins with `y₋₁ = 0`; `factors` are the `aᵢ`, and broadcast.
    Exponential averages, discounted returns and state-space models are of this kind. Integers become the default float.

    # Errors

    An axis out of range; factors that do not broadcast to the shape.
    """

def searchsorted(sorted_sequence: Tensor, input: _Operand, *, out_int32: _bool = False, right: _bool = False, side: str | None = None, sorter: Tensor | None = None) -> Tensor:
    """How many elements of a sorted line are smaller than each value of `input`, or with `right` (or `side="right"`) not larger: where it
    would be put, i64 or i32. `sorted_sequence` is one line, or a line for each line of the values along their last axis;
    `sorter` says in what order its elements are sorted, as `argsort` answers. NaN is larger than every number. Unlike dtypes meet in
    the one that has both.

    # Errors

    Truth values; lines that do not belong to the values'; another side, or one that contradicts `right`; a sorter of another shape, or of no
    integers.
    """

def bucketize(input: _Operand, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False) -> Tensor:
    """The numbers (i64 or i32) of the intervals between sorted `boundaries` in which values lie: each holds its upper boundary, or with
    `right` its lower one. NaN is larger than every number.

    # Errors

    Boundaries of other than one axis; truth values.
    """

def isin(elements: _Operand, test_elements: _Operand, *, assume_unique: _bool = False, invert: _bool = False) -> Tensor:
    """Whether each of `elements` is among `test_elements`, or where `invert` is set is not. NaN is not among any.

    # Errors

    Unlike devices.
    """

def unique(input: Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The elements that are met, in order, each once; or with `dim` the parts along an axis that are met, in the order of their
    elements. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how often each is
    met (both i64). NaN is equal to nothing. The result is in order whether `sorted` is asked for or not. How many there are is
    looked at. The gradient goes to the first of what is equal.

    # Errors

    An axis out of range; parts without elements.
    """

def unique_consecutive(input: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The elements of which neighbours are not equal, in the tensor's own order: the first of each run; or with `dim` the parts along an
    axis. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how long each run is
    (both i64). NaN is equal to nothing. How many there are is looked at. The gradient goes to the first of each run.

    # Errors

    An axis out of range; parts without elements.
    """

def segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: _int = 0, unsafe: _bool = False, initial: _float | None = None) -> Tensor:
    """What segments of an axis, one behind the other, come to: `reduce` is "sum", "mean", "max", "min" or "prod".

    `lengths` says how long each is, `[…, n]` with the axes of floating-point `data` that lie before `axis`; or `offsets` `[…, n + 1]` where each begins,
    and the last ends. The answer has `n` in the place of that axis. An empty segment is `initial`, which all begin with; without one it is 0, 1 for a product, −∞
    and ∞ for "max" and "min", NaN for a mean.

    # Errors

    Other than floating-point data; another word; both of lengths and offsets, or neither, or indices; lengths of another shape, or that do not add up to the
    axis's size, unless `unsafe`.
    """

def sort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool = False) -> Extreme:
    """The elements along an axis in order, and the positions (i64) that they had. NaN is larger than every number, and equal elements
    keep their order, whether `stable` is asked for or not. The gradient goes back to where the elements came from.

    # Errors

    An axis out of range.
    """

def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Tensor:
    """The positions (i64) of the elements along an axis, in the elements' order. NaN is larger than every number, and equal elements
    keep their order.

    # Errors

    An axis out of range.
    """

def msort(input: Tensor) -> Tensor:
    """The elements in order along the first axis: `sort` without the positions."""

def topk(input: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> Extreme:
    """The `k` largest elements along an axis (or the smallest), in order, and their positions (i64): of equal ones the first. NaN is larger than
    every number. The result is in order whether `sorted` is asked for or not.

    # Errors

    An axis out of range; more elements than there are; truth values.
    """

def kthvalue(input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False) -> Extreme:
    """The `k`-th smallest element along an axis (from 1), and its position (i64). NaN is larger than every number. The gradient goes to
    the element at the position.

    # Errors

    An axis out of range; a `k` that is 0 or more than there are elements; truth values.
    """

@overload
def median(input: Tensor, dim: None = None, keepdim: _bool = False) -> Tensor:
    """The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
    equal ones sharing the gradient; or along an axis with its position (i64), to which the gradient goes.

    # Errors

    An axis out of range, or without elements; truth values.
    """
@overload
def median(input: Tensor, dim: _int, keepdim: _bool = False) -> Extreme:
    """The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
    equal ones sharing the gradient; or along an axis with its position (i64), to which the gradient goes.

    # Errors

    An axis out of range, or without elements; truth values.
    """

@overload
def nanmedian(input: Tensor, dim: None = None, keepdim: _bool = False) -> Tensor:
    """As `median`, of what is not NaN; NaN where nothing else is.

    # Errors

    An axis out of range, or without elements; truth values.
    """
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool = False) -> Extreme:
    """As `median`, of what is not NaN; NaN where nothing else is.

    # Errors

    An axis out of range, or without elements; truth values.
    """

def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False) -> Extreme:
    """The element that is met most often along an axis, the least of several, and the last position (i64) where it is. The gradient
    goes to that. NaN is equal to nothing.

    # Errors

    An axis out of range, or without elements.
    """

def quantile(input: _Operand, q: _Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear") -> Tensor:
    """The elements below which a share `q` of all lies, or of those along an axis; with several shares (one axis), these come first in the
    result. Between two elements it is found by `interpolation`: "linear", "lower", "higher", "nearest" or "midpoint". NaN where
    any element is NaN. f32 and f64.

    # Errors

    An axis out of range; no elements; shares that are not between 0 and 1, or of another dtype; another dtype or interpolation.
    """

def nanquantile(input: _Operand, q: _Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear") -> Tensor:
    """As `quantile`, of what is not NaN.

    # Errors

    As `quantile`.
    """

def gcd(input: _Operand, other: _Operand) -> Tensor:
    """The greatest common divisor of integers, which is not negative; that of 0 and 0 is 0.

    # Errors

    What is no integer, shapes that do not broadcast, unlike devices.
    """

def gcd_(input: Tensor, other: _Operand) -> Tensor:
    """`gcd`, written into the tensor."""

def lcm(input: _Operand, other: _Operand) -> Tensor:
    """The least common multiple of integers, which is not negative; 0 where one of them is.

    # Errors

    What is no integer, shapes that do not broadcast, unlike devices.
    """

def lcm_(input: Tensor, other: _Operand) -> Tensor:
    """`lcm`, written into the tensor."""

def igamma(input: _Operand, other: _Operand) -> Tensor:
    """The regularised lower incomplete gamma function `P(a, x) = ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a)`, with the tensor as `a`, for `a` and `x` that are not
    negative. Integers become the default float; half types are computed in f32. By series and continued fractions, with a gradient by `x` alone.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def igamma_(input: Tensor, other: _Operand) -> Tensor:
    """`igamma`, written into the tensor."""

def igammac(input: _Operand, other: _Operand) -> Tensor:
    """The regularised upper incomplete gamma function `Q(a, x) = 1 − P(a, x)`: see `igamma`.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def igammac_(input: Tensor, other: _Operand) -> Tensor:
    """`igammac`, written into the tensor."""

def _special_gammainc(input: _Operand, other: _Operand) -> Tensor:
    """`igamma`, by the name of `special`.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def _special_gammaincc(input: _Operand, other: _Operand) -> Tensor:
    """`igammac`, by the name of `special`.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def _special_gammaln(input: Tensor) -> Tensor:
    """The logarithm of the magnitude of the gamma function. Integers become the default float."""

def _special_psi(input: Tensor) -> Tensor:
    """The derivative of the logarithm of the gamma function. Integers become the default float."""

def _special_expit(input: Tensor) -> Tensor:
    """`1 / (1 + e⁻ˣ)`. Integers become the default float."""

def _special_ndtr(input: Tensor) -> Tensor:
    """The distribution function of the normal distribution. Integers become the default float."""

def _special_log_ndtr(input: Tensor) -> Tensor:
    """The logarithm of the distribution function of the normal distribution, far into its tail. Integers become the default float."""

def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 0. Integers become the default float."""

def _special_i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 0. Integers become the default float."""

def i0_(input: Tensor) -> Tensor:
    """`i0`, written into the tensor."""

def _special_i0_(input: Tensor) -> Tensor:
    """`i0`, written into the tensor."""

def _special_i1(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 1. Integers become the default float."""

def _special_zeta(input: _Operand, other: _Operand) -> Tensor:
    """Hurwitz's zeta function, Σ 1/(q + k)ˣ over k ≥ 0, for x > 1. ∞ at whole numbers q that are not positive. Integers become
    the default float.

    # Errors

    Shapes that do not broadcast, unlike devices.
    """

def polygamma(n: _int, input: Tensor) -> Tensor:
    """The derivative of order n of `digamma`. Integers become the default float.

    # Errors

    A negative order.
    """

def _special_polygamma(n: _int, input: Tensor) -> Tensor:
    """The derivative of order n of `digamma`. Integers become the default float.

    # Errors

    A negative order.
    """

def mvlgamma(input: Tensor, p: _int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p. Integers become the default float.

    # Errors

    A dimension below 1 or above 1024; truth values.
    """

def mvlgamma_(input: Tensor, p: _int) -> Tensor:
    """`mvlgamma`, written into the tensor."""

def _special_multigammaln(input: Tensor, p: _int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p. Integers become the default float.

    # Errors

    A dimension below 1 or above 1024; truth values.
    """

def _nn_unfold(input: Tensor, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0, stride: _Sizes = 1) -> Tensor:
    """The windows of `kernel_size` of `[n, c, height, width]` (or without `n`) as columns `[n, c · places, windows]`; zeros where they hang over. Windows
    are `stride` apart, begin `padding` before the plane, and have steps of `dilation`. (im2col.)

    # Errors

    Another number of axes; windows that do not fit; numbers that are 0.
    """

def _nn_fold(input: Tensor, output_size: _Sizes, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0, stride: _Sizes = 1) -> Tensor:
    """Columns `[n, c · places, windows]` (or without `n`) added where the windows of an image of `output_size` lie, as `unfold` has them:
    `[n, c, height, width]`. (col2im.)

    # Errors

    Another number of axes, columns or windows than the sizes say; numbers that are 0; integers.
    """

def _windows_bartlett(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Bartlett's window, a triangle.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def _windows_blackman(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Blackman's window: `0.42 − 0.5 cos x + 0.08 cos 2x`.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def _windows_cosine(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A window of half a period of the sine.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def _windows_exponential(m: _int, *, center: _float | None = None, tau: _float = 1.0, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A window that falls off exponentially by `tau` from `center`, which a symmetric one has in its middle.

    # Errors

    A `tau` that is not positive, a `center` of a symmetric window; a dtype that is not floating point; a device that is not
    there.
    """

def _windows_gaussian(m: _int, *, std: _float = 1.0, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Gauss' bell, of a standard deviation.

    # Errors

    A deviation that is not positive; a dtype that is not floating point; a device that is not there.
    """

def _windows_general_cosine(m: _int, *, a: _float | Sequence[_float], sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A window of cosines: `Σ (−1)ᵏ aₖ cos(k x)`.

    # Errors

    No weights; a dtype that is not floating point; a device that is not there.
    """

def _windows_general_hamming(m: _int, *, alpha: _float = 0.54, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A window of one cosine: `α − (1 − α) cos x`.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def _windows_hamming(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Hamming's window: `0.54 − 0.46 cos x`.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def _windows_hann(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Hann's window: `½ − ½ cos x`.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def _windows_kaiser(m: _int, *, beta: _float = 12.0, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Kaiser's window, `I₀(β √(1 − x²)) / I₀(β)`. The modified Bessel function is the mean of `exp(y cos θ)` over a circle, by the
    trapezoidal rule, which converges exponentially on what is periodic (Trefethen and Weideman, "The exponentially convergent
    trapezoidal rule", 2014).

    # Errors

    A negative `beta`; a dtype that is not floating point; a device that is not there.
    """

def _windows_nuttall(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Nuttall's window, of four cosines.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def bartlett_window(window_length: _int, periodic: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Bartlett's window, a triangle: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.bartlett`.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def blackman_window(window_length: _int, periodic: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Blackman's window: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.blackman`.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def hann_window(window_length: _int, periodic: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Hann's window, `sin²`: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.hann`.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def hamming_window(window_length: _int, periodic: _bool = True, alpha: _float = 0.54, beta: _float = 0.46, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Hamming's window `alpha − beta cos x`: `window_length` points of one period, or (with `periodic` false) symmetric ones.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """

def kaiser_window(window_length: _int, periodic: _bool = True, beta: _float = 12.0, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Kaiser's window: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.kaiser`.

    # Errors

    A dtype that is not floating point; a device that is not there.
    """
