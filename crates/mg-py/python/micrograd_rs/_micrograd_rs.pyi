# Written by tools/stubs.py from tools/_micrograd_rs.pyi.in and the op table: change those.
import builtins
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, ParamSpec, Protocol, SupportsFloat, TypeAlias, TypeVar, overload, type_check_only

from typing_extensions import Buffer, Self

from ._size import Extreme, Size

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
_Path: TypeAlias = str | os.PathLike[str]

_P = ParamSpec("_P")
_R = TypeVar("_R")

__version__: str

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
    def is_floating_point(self) -> _bool:
        """Whether it is a floating-point type."""
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
uint8: dtype
bool: dtype

class Device:
    """The host's processor ("cpu") or a CUDA device ("cuda:0"). Compares equal to its name."""

    def __new__(cls, device: str = "cpu") -> Self: ...
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

    __array_priority__: _int
    __array_ufunc__: None

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
        """The address of the first element."""
    def is_contiguous(self) -> _bool:
        """Whether the elements lie in memory in row-major order without gaps."""
    def contiguous(self) -> Tensor:
        """The elements in memory of their own in row-major order; the tensor itself where they are already."""
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
    @property
    def is_realized(self) -> _bool:
        """Whether the value is computed already."""
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
    def grad_fn(self) -> str | None:
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
        self, gradient: Tensor | None = None, retain_graph: _bool | None = None, create_graph: _bool = False
    ) -> None:
        """Adds the gradient of this tensor to the `grad` of every leaf that it depends on."""

    # What Python gets of it.
    def item(self) -> Any:
        """The only element as Python's number."""
    def tolist(self) -> Any:
        """The elements as nested lists; a number for a tensor without axes."""
    def numpy(self) -> Any:
        """A NumPy array that shares the tensor's memory; read-only where the tensor requires a gradient."""
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
    def __imatmul__(self, other: _Operand, /) -> Self: ...
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
    def pow(self, exponent: _Operand) -> Tensor:
        """`self` to a power: a tensor or a number."""
    def gt(self, other: _Operand) -> Tensor:
        """`self > other`."""
    def ge(self, other: _Operand) -> Tensor:
        """`self ≥ other`."""
    def matmul(self, other: _Operand) -> Tensor:
        """The matrix product, as NumPy's `@`."""
    def mm(self, other: _Operand) -> Tensor:
        """The matrix product, as NumPy's `@`."""
    def dot(self, other: _Operand) -> Tensor:
        """The matrix product, as NumPy's `@`."""
    def floor_divide(self, other: _Operand) -> Tensor:
        """`⌊self / other⌋`, as `//`."""
    def remainder(self, other: _Operand) -> Tensor:
        """The remainder of `self / other` with the sign of `other`, as `%`."""
    def bitwise_not(self) -> Tensor:
        """The bits of integers turned over; of truth values, `logical_not`."""
    def add(self, other: _Operand, *, alpha: _float | None = None) -> Tensor:
        """`self + alpha · other`."""
    def sub(self, other: _Operand, *, alpha: _float | None = None) -> Tensor:
        """`self − alpha · other`."""
    def add_(self, other: _Operand, alpha: _float | None = None) -> Self:
        """Adds `alpha · other` in place."""
    def sub_(self, other: _Operand, alpha: _float | None = None) -> Self:
        """Subtracts `alpha · other` in place."""
    def zero_(self) -> Self:
        """Sets every element to 0."""
    def fill_(self, value: _Operand) -> Self:
        """Sets every element to a number."""
    def copy_(self, src: _Operand) -> Self:
        """Sets the elements to those of another tensor, which is broadcast and converted, and may be on another device."""

    # Operations that are declared in the engine.
    def mul(self, other: _Operand) -> Tensor:
        """`a · b`."""
    def multiply(self, other: _Operand) -> Tensor:
        """`a · b`."""
    def mul_(self, other: _Operand) -> Self:
        """`mul`, written into the tensor, which is answered."""
    def multiply_(self, other: _Operand) -> Self:
        """`mul`, written into the tensor, which is answered."""
    def div(self, other: _Operand) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to f32 by the public API's true division."""
    def divide(self, other: _Operand) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to f32 by the public API's true division."""
    def true_divide(self, other: _Operand) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to f32 by the public API's true division."""
    def div_(self, other: _Operand) -> Self:
        """`div`, written into the tensor, which is answered."""
    def divide_(self, other: _Operand) -> Self:
        """`div`, written into the tensor, which is answered."""
    def true_divide_(self, other: _Operand) -> Self:
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
        """−1, 0 or 1 with the sign of `a`; NaN stays."""
    def sign_(self) -> Self:
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
    def softplus(self) -> Tensor:
        """`log(1 + eᵃ)`, without overflow."""
    def softplus_(self) -> Self:
        """`softplus`, written into the tensor, which is answered."""
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
    def floor(self) -> Tensor:
        """The largest whole number that is no larger. Integers stay."""
    def floor_(self) -> Self:
        """`floor`, written into the tensor, which is answered."""
    def ceil(self) -> Tensor:
        """The smallest whole number that is no smaller. Integers stay."""
    def ceil_(self) -> Self:
        """`ceil`, written into the tensor, which is answered."""
    def round(self) -> Tensor:
        """The nearest whole number, of two the even one. Integers stay."""
    def round_(self) -> Self:
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
        `approximate = "tanh"`, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`. Integers become f32.

        # Errors

        Another word than `"none"` and `"tanh"`.
        """
    def silu(self) -> Tensor:
        """Sigmoid linear unit, `x σ(x)`. Integers become f32."""
    def silu_(self) -> Self:
        """`silu`, written into the tensor, which is answered."""
    def leaky_relu(self, negative_slope: _float = 0.01) -> Tensor:
        """`x`, or `negative_slope · x` where `x` is not positive. Integers become f32."""
    def leaky_relu_(self, negative_slope: _float = 0.01) -> Self:
        """`leaky_relu`, written into the tensor, which is answered."""
    def celu_(self, alpha: _float = 1.0) -> Self:
        """`celu`, written into the tensor, which is answered."""
    def logaddexp(self, other: _Operand) -> Tensor:
        """`ln(exp(x) + exp(y))` without overflow."""
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
        """`log Σ eˣ` of each element and all before it along an axis, without overflow. Integers become f32.

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
        Exponential averages, discounted returns and state-space models are of this kind. Integers become f32.

        # Errors

        An axis out of range; factors that do not broadcast to the shape.
        """

    # Views and conversions.
    @overload
    def reshape(self, shape: Sequence[_int], /) -> Tensor:
        """The same elements in another shape; one size may be −1, and follows from the others."""
    @overload
    def reshape(self, *shape: _int) -> Tensor:
        """The same elements in another shape; one size may be −1, and follows from the others."""
    @overload
    def view(self, shape: Sequence[_int], /) -> Tensor:
        """As `reshape`, and always a view: an error where the elements do not lie so that there is one."""
    @overload
    def view(self, *shape: _int) -> Tensor:
        """As `reshape`, and always a view: an error where the elements do not lie so that there is one."""
    def view_as(self, other: Tensor) -> Tensor:
        """As `reshape`, to the shape of another tensor."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Axes `start_dim` to `end_dim` as one."""
    def ravel(self) -> Tensor:
        """All elements in one axis: the same memory where they lie one after the other, else a copy."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two axes exchanged."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Two axes exchanged."""
    def t(self) -> Tensor:
        """The transpose of a matrix; vectors and scalars as they are."""
    @property
    def T(self) -> Tensor:
        """All axes in reverse order."""
    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
    @overload
    def permute(self, dims: Sequence[_int], /) -> Tensor:
        """Axes in another order."""
    @overload
    def permute(self, *dims: _int) -> Tensor:
        """Axes in another order."""
    def movedim(self, source: _int, destination: _int) -> Tensor:
        """An axis moved to another place."""
    def slice(self, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """Positions `start`, `start + step`, … before `end` along an axis, as Python's slices: negative ends count from the
        end, the step may be negative.
        """
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """`length` positions along an axis from `start`."""
    def select(self, dim: _int, index: _int) -> Tensor:
        """One position along an axis, which goes."""
    @overload
    def flip(self, dims: Sequence[_int], /) -> Tensor:
        """Axes backwards."""
    @overload
    def flip(self, *dims: _int) -> Tensor:
        """Axes backwards."""
    @overload
    def expand(self, sizes: Sequence[_int], /) -> Tensor:
        """Broadcast to a shape; −1 keeps a size."""
    @overload
    def expand(self, *sizes: _int) -> Tensor:
        """Broadcast to a shape; −1 keeps a size."""
    def expand_as(self, other: Tensor) -> Tensor:
        """Broadcast to the shape of another tensor."""
    @overload
    def broadcast_to(self, shape: Sequence[_int], /) -> Tensor:
        """Broadcast to a shape."""
    @overload
    def broadcast_to(self, *shape: _int) -> Tensor:
        """Broadcast to a shape."""
    @overload
    def repeat(self, repeats: Sequence[_int], /) -> Tensor:
        """The tensor so many times along each axis."""
    @overload
    def repeat(self, *repeats: _int) -> Tensor:
        """The tensor so many times along each axis."""
    def unsqueeze(self, dim: _int) -> Tensor:
        """A new axis of size 1 before `dim`, which may be one past the last."""
    def squeeze(self, dim: _int | None = None) -> Tensor:
        """Without an axis of size 1 (others stay), or without all of them."""
    def split(self, split_size: _Sizes, dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts of `split_size` positions along an axis (the last may be smaller), or of the sizes in a list."""
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most so many parts of equal size along an axis."""
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """The positions along an axis, each without it."""
    def clone(self) -> Tensor:
        """A copy in memory of its own; gradients flow through it."""
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
    def cuda(self, device: _int | _Device | None = None) -> Tensor:
        """The tensor on a CUDA device."""
    @overload
    def type(self, dtype: None = None) -> _DTypeClass:
        """As `to(dtype)`; without one, the dtype."""
    @overload
    def type(self, dtype: _DType) -> Tensor:
        """As `to(dtype)`; without one, the dtype."""
    def float(self) -> Tensor:
        """As `to(float32)`."""
    def double(self) -> Tensor:
        """As `to(float64)`."""
    def half(self) -> Tensor:
        """As `to(float16)`."""
    def bfloat16(self) -> Tensor:
        """As `to(bfloat16)`."""
    def long(self) -> Tensor:
        """As `to(int64)`."""
    def int(self) -> Tensor:
        """As `to(int32)`."""
    def bool(self) -> Tensor:
        """As `to(bool)`."""

    # Indexing.
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """Rows (or what lies along `dim`) by their indices, i64 or i32 with one axis. IndexError for one outside of the axis."""
    def gather(self, dim: _int, index: Tensor) -> Tensor:
        """`out[…, j, …] = self[…, index[…, j, …], …]` along an axis, for an index of i64 or i32 that is nowhere else longer than
        the tensor. IndexError for an index outside of the axis.
        """
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """`src` added at `index` (i64 or i32) along an axis. IndexError for an index outside of the axis."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where a mask holds, in one axis. Tensor and mask broadcast."""
    def masked_fill(self, mask: Tensor, value: _Operand) -> Tensor:
        """The tensor with `value` where a mask of truth values holds, which broadcasts."""
    def nonzero(self, *, as_tuple: _bool = False) -> Any:
        """The positions of what is not zero: a row each. With `as_tuple`, a tensor for each axis."""
    def where(self, condition: Tensor, other: _Operand) -> Tensor:
        """`self` where the condition holds, else `other`."""

    # Reductions.
    def sum(
        self,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        dtype: _DType | None = None,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The sum of all elements, or over some axes. Integers become i64."""
    def mean(
        self,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        dtype: _DType | None = None,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The mean of all elements, or over some axes; of integers, in f32."""
    def prod(
        self,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The product of all elements, or over some axes."""
    def amax(
        self,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The largest element, or the largest over some axes."""
    def amin(
        self,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The smallest element, or the smallest over some axes."""
    def argmax(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        axis: _int | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The index of the first largest element along an axis, or of the flattened tensor."""
    def argmin(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        axis: _int | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The index of the first smallest element along an axis, or of the flattened tensor."""
    def logsumexp(
        self,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """`log Σ eˣ` over some axes, without overflow."""
    def any(
        self,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """Whether any element is not zero, of all or over some axes."""
    def all(
        self,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """Whether no element is zero, of all or over some axes."""
    @overload
    def max(self, dim: _int, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Extreme:
        """The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over NumPy's `axis`, or several axes, the values.
        """
    @overload
    def max(
        self,
        dim: Sequence[_int] | Tensor | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over NumPy's `axis`, or several axes, the values.
        """
    @overload
    def min(self, dim: _int, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Extreme:
        """The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over NumPy's `axis`, or several axes, the values.
        """
    @overload
    def min(
        self,
        dim: Sequence[_int] | Tensor | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over NumPy's `axis`, or several axes, the values.
        """
    def var(
        self,
        dim: _Dims | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: _int | None = None,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
        ddof: _int | None = None,
    ) -> Tensor:
        """The variance of all elements, or over some axes, with Bessel's correction."""
    def std(
        self,
        dim: _Dims | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: _int | None = None,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
        ddof: _int | None = None,
    ) -> Tensor:
        """The standard deviation of all elements, or over some axes, with Bessel's correction."""
    def norm(
        self,
        p: _float = 2.0,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor:
        """The Euclidean norm of all elements, or over some axes; with `p` 1, the sum of magnitudes, with infinity the largest,
        with 0 how many are not zero. The gradient of a norm that is 0 is 0.
        """

    # Compositions.
    def softmax(self, dim: _int | None = None, *, dtype: _DType | None = None, axis: _int | None = None) -> Tensor:
        """`eˣ / Σ eˣ` along an axis."""
    def log_softmax(
        self, dim: _int | None = None, *, dtype: _DType | None = None, axis: _int | None = None
    ) -> Tensor:
        """`log softmax` along an axis, without overflow."""
    def clamp(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given; NaN stays. The gradient
        passes between bounds that are numbers, and is 0 at them.
        """
    def clip(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """As `clamp`."""
    def frac(self) -> Tensor:
        """What is left of a number without its whole part; its sign stays."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The elements on a diagonal of the last two axes (above the main one, if it is positive) and below it; 0 elsewhere."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The elements on a diagonal of the last two axes (above the main one, if it is positive) and above it; 0 elsewhere."""
    def isnan(self) -> Tensor:
        """Whether elements are no numbers."""
    def isinf(self) -> Tensor:
        """Whether elements are infinite."""
    def isfinite(self) -> Tensor:
        """Whether elements are neither infinite nor no numbers."""
    def reciprocal(self) -> Tensor:
        """`1 / x`."""
    def rsqrt(self) -> Tensor:
        """`1 / √x`."""
    def dropout(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """Zeros with probability `p`, and the survivors scaled by 1/(1 − p)."""

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
    def __len__(self) -> _int: ...

def jit(function: Callable[_P, _R]) -> Jit[_P, _R]:
    """Makes a replayed function of one that takes and answers with tensors."""

def explain(*tensors: Tensor) -> Explanation:
    """The launches that computing these tensors would take. Nothing is computed."""

def realize(*tensors: Tensor | Sequence[Tensor]) -> None:
    """Computes several tensors together, in as few passes as they share."""

def tensor(
    data: Any, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False
) -> Tensor:
    """A tensor of data, copied: floats are f32, integers i64, truth values bool; what has a dtype keeps it."""

def as_tensor(data: Any, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """A tensor as it is; anything else as by `tensor`."""

def from_numpy(array: Any) -> Tensor:
    """A tensor on a NumPy array's own memory."""

def from_dlpack(x: Any, /, *, device: _Device | None = None, copy: _bool | None = None) -> Tensor:
    """A tensor of what another library exports by DLPack: a copy, unless `copy=False` asks for its memory."""

@overload
def zeros(
    shape: Sequence[_int],
    /,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Zeros, f32 unless asked otherwise."""
@overload
def zeros(
    *shape: _int,
    size: _Sizes | None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Zeros, f32 unless asked otherwise."""

def zeros_like(
    input: Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """As `zeros`, in the shape and dtype of another tensor."""

@overload
def ones(
    shape: Sequence[_int],
    /,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Ones, f32 unless asked otherwise."""
@overload
def ones(
    *shape: _int,
    size: _Sizes | None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Ones, f32 unless asked otherwise."""

def ones_like(
    input: Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """As `ones`, in the shape and dtype of another tensor."""

@overload
def empty(
    shape: Sequence[_int],
    /,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """As `zeros`: there is no memory that nobody wrote."""
@overload
def empty(
    *shape: _int,
    size: _Sizes | None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """As `zeros`: there is no memory that nobody wrote."""

def empty_like(
    input: Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """As `empty`, in the shape and dtype of another tensor."""

@overload
def rand(
    shape: Sequence[_int],
    /,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Uniform random numbers in [0, 1)."""
@overload
def rand(
    *shape: _int,
    size: _Sizes | None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Uniform random numbers in [0, 1)."""

def rand_like(
    input: Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """As `rand`, in the shape and dtype of another tensor."""

@overload
def randn(
    shape: Sequence[_int],
    /,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Normal random numbers of mean 0 and variance 1."""
@overload
def randn(
    *shape: _int,
    size: _Sizes | None = None,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Normal random numbers of mean 0 and variance 1."""

def randn_like(
    input: Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """As `randn`, in the shape and dtype of another tensor."""

def full(
    size: _Sizes,
    fill_value: _float | Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """The same value everywhere."""

def full_like(
    input: Tensor,
    fill_value: _float,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """The same value everywhere, in the shape and dtype of another tensor."""

def eye(
    n: _int,
    m: _int | None = None,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """The identity matrix, or its first `m` columns."""

def arange(
    start: _float,
    end: _float | None = None,
    step: _float | None = None,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """`start`, `start + step`, … before `end`: i64 if all three are integers, else f32."""

def linspace(
    start: _float,
    end: _float,
    steps: _int,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included."""

@overload
def randint(
    low: _int, size: Sequence[_int], /, *, dtype: _DType | None = None, device: _Device | None = None
) -> Tensor:
    """Random integers from `low` (0, if one bound is given) up to `high`, which is left out."""
@overload
def randint(
    low: _int,
    high: _int | None = None,
    size: Sequence[_int] | None = None,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
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

def manual_seed(seed: _int) -> None:
    """Seeds the generator of random tensors: the same seed gives the same numbers, on every device."""

def cat(tensors: Sequence[Any] | Iterator[Any], dim: _int = 0, *, axis: _int | None = None) -> Tensor:
    """Tensors one after the other along an axis."""

def stack(tensors: Sequence[Any] | Iterator[Any], dim: _int = 0, *, axis: _int | None = None) -> Tensor:
    """Tensors of one shape along a new axis."""

@overload
def where(condition: Tensor, input: None = None, other: None = None) -> tuple[Tensor, ...]:
    """`input` where the condition holds, else `other`; with the condition alone, the positions where it does."""
@overload
def where(condition: Tensor, input: _Operand, other: _Operand) -> Tensor:
    """`input` where the condition holds, else `other`; with the condition alone, the positions where it does."""

def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape and elements."""

def allclose(
    input: Tensor, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False
) -> _bool:
    """Whether all elements are within `atol + rtol · |other|` of each other."""

def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Integers as rows of zeros with a one."""

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x Wᵀ + b` on the last axis, with weights `[out, in]`."""

def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """Rows of a table `[n, dim]` by integers of any shape."""

def layer_norm(
    input: Tensor,
    normalized_shape: _Sizes,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-5,
) -> Tensor:
    """Normalised over the last axes, then scaled and shifted."""

def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: _int = -100,
    reduction: str = "mean",
    label_smoothing: _float = 0.0,
) -> Tensor:
    """The cross entropy, in nats, of logits `[classes]`, `[n, classes]` or `[n, classes, …]` and a target: integer labels in
    the logits' shape without the classes, or probabilities in the logits' shape."""

def nll_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The negative log likelihood of integer labels `[n]` under log probabilities `[n, classes]`."""

def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Squared differences."""

def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The cross entropy of logits and probabilities of the same shape."""

def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: _bool | None = None,
    create_graph: _bool = False,
    allow_unused: _bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs` with respect to `inputs`. Nothing is accumulated."""

def is_grad_enabled() -> _bool:
    """Whether operations record what gradients need."""

def save_safetensors(tensors: Mapping[str, Tensor], path: _Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes named tensors to a safetensors file, with text as metadata."""

@overload
def load_safetensors(path: _Path) -> dict[str, Tensor]:
    """The named tensors of a safetensors file; with `metadata`, and its text."""
@overload
def load_safetensors(path: _Path, *, metadata: _bool) -> Any:
    """The named tensors of a safetensors file; with `metadata`, and its text."""

def calculate_gain(nonlinearity: str, param: _float = 0.01) -> _float:
    """The recommended factor for weights before a nonlinearity."""

def uniform_(tensor: Tensor, a: _float = 0.0, b: _float = 1.0) -> Tensor:
    """Uniform on [a, b)."""
def normal_(tensor: Tensor, mean: _float = 0.0, std: _float = 1.0) -> Tensor:
    """Normal with this mean and standard deviation."""
def constant_(tensor: Tensor, val: _float = 0.0) -> Tensor:
    """The same value everywhere."""
def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
def xavier_uniform_(tensor: Tensor, gain: _float = 1.0) -> Tensor:
    """Uniform, scaled by fan-in and fan-out: Glorot and Bengio, 2010."""
def xavier_normal_(tensor: Tensor, gain: _float = 1.0) -> Tensor:
    """Normal, scaled by fan-in and fan-out: Glorot and Bengio, 2010."""
def kaiming_uniform_(
    tensor: Tensor, a: _float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Uniform, scaled by one of the fans: He et al., 2015."""
def kaiming_normal_(
    tensor: Tensor, a: _float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Normal, scaled by one of the fans: He et al., 2015."""

# What the package's own modules use.
class _Optimizer:
    def __new__(cls, kind: str, parameters: Sequence[Tensor], options: dict[str, Any]) -> Self: ...
    def set_options(self, options: dict[str, Any]) -> None:
        """Changes the options for steps to come, and the learning rate for recorded ones too."""
    @property
    def is_recorded(self) -> _bool:
        """Whether `jit` holds a step of it."""
    def step(self) -> None:
        """Changes every parameter that has a gradient."""
    def state(self) -> dict[str, Tensor]:
        """What it remembers of each parameter."""
    def load_state(self, state: dict[str, Tensor]) -> None: ...

class _Schedule:
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
    def lr(self, base: _float, epoch: _int) -> _float:
        """The learning rate of an epoch that nothing else acts on."""
    def next(self, now: _float, base: _float, epoch: _int) -> _float:
        """The learning rate of an epoch after that of the epoch before."""
    def start(self, now: _float, base: _float, epoch: _int) -> _float:
        """The learning rate of the epoch where the schedule begins."""

class _Graph:
    def __new__(cls, outside: Sequence[tuple[_Graph, _int]], nodes: Sequence[Any]) -> Self: ...

def _set_grad_enabled(on: _bool) -> _bool: ...
def _before_fork() -> None: ...
def _after_fork() -> None: ...
def _rows() -> list[tuple[str, _int, str]]: ...
def _rebuild(bytes: Buffer, shape: Sequence[_int], dtype: str, device: str, requires_grad: _bool) -> Tensor: ...
def _rebuild_value(graph: _Graph, i: _int) -> Value: ...
def _linear_parameters(
    in_features: _int, out_features: _int, bias: _bool, dtype: _DType | None
) -> tuple[Tensor, Tensor | None]: ...
def _embedding_parameters(num_embeddings: _int, embedding_dim: _int, dtype: _DType | None) -> Tensor: ...
def _layer_norm_parameters(
    normalized_shape: Sequence[_int], eps: _float, affine: _bool, dtype: _DType | None
) -> tuple[Tensor | None, Tensor | None]: ...
def _mnist(folder: _Path) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def _drawn_digits(train: _int, test: _int, seed: _int) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def _batches(n: _int, batch: _int, shuffle_seed: _int | None, drop_last: _bool, epoch: _int) -> list[Tensor]: ...

# Operations that are declared in the engine.
def mul(input: Tensor, other: _Operand) -> Tensor:
    """`a · b`."""

def multiply(input: Tensor, other: _Operand) -> Tensor:
    """`a · b`."""

def mul_(input: Tensor, other: _Operand) -> Tensor:
    """`mul`, written into the tensor."""

def multiply_(input: Tensor, other: _Operand) -> Tensor:
    """`mul`, written into the tensor."""

def div(input: Tensor, other: _Operand) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to f32 by the public API's true division."""

def divide(input: Tensor, other: _Operand) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to f32 by the public API's true division."""

def true_divide(input: Tensor, other: _Operand) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to f32 by the public API's true division."""

def div_(input: Tensor, other: _Operand) -> Tensor:
    """`div`, written into the tensor."""

def divide_(input: Tensor, other: _Operand) -> Tensor:
    """`div`, written into the tensor."""

def true_divide_(input: Tensor, other: _Operand) -> Tensor:
    """`div`, written into the tensor."""

def maximum(input: Tensor, other: _Operand) -> Tensor:
    """The larger of `a` and `b`; NaN if either is."""

def maximum_(input: Tensor, other: _Operand) -> Tensor:
    """`maximum`, written into the tensor."""

def minimum(input: Tensor, other: _Operand) -> Tensor:
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
    """−1, 0 or 1 with the sign of `a`; NaN stays."""

def sign_(input: Tensor) -> Tensor:
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

def softplus(input: Tensor) -> Tensor:
    """`log(1 + eᵃ)`, without overflow."""

def softplus_(input: Tensor) -> Tensor:
    """`softplus`, written into the tensor."""

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

def erf_(input: Tensor) -> Tensor:
    """`erf`, written into the tensor."""

def floor(input: Tensor) -> Tensor:
    """The largest whole number that is no larger. Integers stay."""

def floor_(input: Tensor) -> Tensor:
    """`floor`, written into the tensor."""

def ceil(input: Tensor) -> Tensor:
    """The smallest whole number that is no smaller. Integers stay."""

def ceil_(input: Tensor) -> Tensor:
    """`ceil`, written into the tensor."""

def round(input: Tensor) -> Tensor:
    """The nearest whole number, of two the even one. Integers stay."""

def round_(input: Tensor) -> Tensor:
    """`round`, written into the tensor."""

def trunc(input: Tensor) -> Tensor:
    """The whole number next towards zero. Integers stay."""

def fix(input: Tensor) -> Tensor:
    """The whole number next towards zero. Integers stay."""

def trunc_(input: Tensor) -> Tensor:
    """`trunc`, written into the tensor."""

def fix_(input: Tensor) -> Tensor:
    """`trunc`, written into the tensor."""

def fmod(input: Tensor, other: _Operand) -> Tensor:
    """The remainder of `a / b` with the sign of `a`, exact: C's `fmod`. Of integers an integer."""

def fmod_(input: Tensor, other: _Operand) -> Tensor:
    """`fmod`, written into the tensor."""

def bitwise_and(input: Tensor, other: _Operand) -> Tensor:
    """The bits that are set in both integers; of truth values, `logical_and`."""

def bitwise_and_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_and`, written into the tensor."""

def bitwise_or(input: Tensor, other: _Operand) -> Tensor:
    """The bits that are set in either integer; of truth values, `logical_or`."""

def bitwise_or_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_or`, written into the tensor."""

def bitwise_xor(input: Tensor, other: _Operand) -> Tensor:
    """The bits that are set in one of two integers; of truth values, `logical_xor`."""

def bitwise_xor_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_xor`, written into the tensor."""

def bitwise_left_shift(input: Tensor, other: _Operand) -> Tensor:
    """The bits of an integer moved up by `b`; 0 where `b` is negative or not smaller than the number of bits."""

def bitwise_left_shift_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_left_shift`, written into the tensor."""

def bitwise_right_shift(input: Tensor, other: _Operand) -> Tensor:
    """The bits of an integer moved down by `b`, its sign kept; the sign alone where `b` is negative or not smaller than
     the number of bits.
    """

def bitwise_right_shift_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_right_shift`, written into the tensor."""

def lt(input: Tensor, other: _Operand) -> Tensor:
    """`a < b`."""

def less(input: Tensor, other: _Operand) -> Tensor:
    """`a < b`."""

def lt_(input: Tensor, other: _Operand) -> Tensor:
    """`lt`, written into the tensor."""

def less_(input: Tensor, other: _Operand) -> Tensor:
    """`lt`, written into the tensor."""

def le(input: Tensor, other: _Operand) -> Tensor:
    """`a ≤ b`."""

def less_equal(input: Tensor, other: _Operand) -> Tensor:
    """`a ≤ b`."""

def le_(input: Tensor, other: _Operand) -> Tensor:
    """`le`, written into the tensor."""

def less_equal_(input: Tensor, other: _Operand) -> Tensor:
    """`le`, written into the tensor."""

def eq(input: Tensor, other: _Operand) -> Tensor:
    """`a = b`."""

def eq_(input: Tensor, other: _Operand) -> Tensor:
    """`eq`, written into the tensor."""

def ne(input: Tensor, other: _Operand) -> Tensor:
    """`a ≠ b`; true when either is NaN."""

def not_equal(input: Tensor, other: _Operand) -> Tensor:
    """`a ≠ b`; true when either is NaN."""

def ne_(input: Tensor, other: _Operand) -> Tensor:
    """`ne`, written into the tensor."""

def not_equal_(input: Tensor, other: _Operand) -> Tensor:
    """`ne`, written into the tensor."""

def logical_and(input: Tensor, other: _Operand) -> Tensor:
    """`a` and `b`."""

def logical_and_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_and`, written into the tensor."""

def logical_or(input: Tensor, other: _Operand) -> Tensor:
    """`a` or `b`."""

def logical_or_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_or`, written into the tensor."""

def logical_xor(input: Tensor, other: _Operand) -> Tensor:
    """`a` or `b`, not both."""

def logical_xor_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_xor`, written into the tensor."""

def logical_not(input: Tensor) -> Tensor:
    """Not `a`."""

def logical_not_(input: Tensor) -> Tensor:
    """`logical_not`, written into the tensor."""

def _nn_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Gaussian error linear unit, `x Φ(x)` (Hendrycks and Gimpel, 2016): by the error function or, with
    `approximate = "tanh"`, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`. Integers become f32.

    # Errors

    Another word than `"none"` and `"tanh"`.
    """

def _nn_silu(input: Tensor) -> Tensor:
    """Sigmoid linear unit, `x σ(x)`. Integers become f32."""

def _nn_silu_(input: Tensor) -> Tensor:
    """`silu`, written into the tensor."""

def _nn_leaky_relu(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """`x`, or `negative_slope · x` where `x` is not positive. Integers become f32."""

def _nn_leaky_relu_(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """`leaky_relu`, written into the tensor."""

def celu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive (Barron, 2017). Integers become f32.

    # Errors

    An `alpha` of 0.
    """

def _nn_celu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive (Barron, 2017). Integers become f32.

    # Errors

    An `alpha` of 0.
    """

def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`celu`, written into the tensor."""

def _nn_celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`celu`, written into the tensor."""

def logaddexp(input: Tensor, other: _Operand) -> Tensor:
    """`ln(exp(x) + exp(y))` without overflow."""

def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, l]` (or `[c, l]`) with a weight `[o, c / groups, k]`, plus a bias `[o]`:
    `[n, o, (l + 2 padding − dilation (k − 1) − 1) / stride + 1]`. A padding of `"same"` keeps `l`, `"valid"` is none. Products of
    f32 are exact; half types are added in f32.

    # Errors

    Shapes that do not fit, a kernel larger than the padded input, numbers that are not positive, integers.
    """

def _nn_conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, l]` (or `[c, l]`) with a weight `[o, c / groups, k]`, plus a bias `[o]`:
    `[n, o, (l + 2 padding − dilation (k − 1) − 1) / stride + 1]`. A padding of `"same"` keeps `l`, `"valid"` is none. Products of
    f32 are exact; half types are added in f32.

    # Errors

    Shapes that do not fit, a kernel larger than the padded input, numbers that are not positive, integers.
    """

def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[o, c / groups, kh, kw]`, plus a bias
    `[o]`; see [`Tensor::conv1d`] for sizes. Stride, padding and dilation are one number, or one for each axis.

    # Errors

    As [`Tensor::conv1d`].
    """

def _nn_conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[o, c / groups, kh, kw]`, plus a bias
    `[o]`; see [`Tensor::conv1d`] for sizes. Stride, padding and dilation are one number, or one for each axis.

    # Errors

    As [`Tensor::conv1d`].
    """

def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[o, c / groups, kd, kh, kw]`, plus a
    bias `[o]`; see [`Tensor::conv1d`] for sizes.

    # Errors

    As [`Tensor::conv1d`].
    """

def _nn_conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[o, c / groups, kd, kh, kw]`, plus a
    bias `[o]`; see [`Tensor::conv1d`] for sizes.

    # Errors

    As [`Tensor::conv1d`].
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
    [`Tensor::conv_transpose1d`] for sizes.

    # Errors

    As [`Tensor::conv_transpose1d`].
    """

def _nn_conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[c, o / groups, kh, kw]`, plus a bias `[o]`; see
    [`Tensor::conv_transpose1d`] for sizes.

    # Errors

    As [`Tensor::conv_transpose1d`].
    """

def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[c, o / groups, kd, kh, kw]`, plus a bias `[o]`;
    see [`Tensor::conv_transpose1d`] for sizes.

    # Errors

    As [`Tensor::conv_transpose1d`].
    """

def _nn_conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[c, o / groups, kd, kh, kw]`, plus a bias `[o]`;
    see [`Tensor::conv_transpose1d`] for sizes.

    # Errors

    As [`Tensor::conv_transpose1d`].
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
    """`log Σ eˣ` of each element and all before it along an axis, without overflow. Integers become f32.

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
    Exponential averages, discounted returns and state-space models are of this kind. Integers become f32.

    # Errors

    An axis out of range; factors that do not broadcast to the shape.
    """
