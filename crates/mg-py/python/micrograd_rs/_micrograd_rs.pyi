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
    def name(self) -> str: ...
    @property
    def short_name(self) -> str: ...
    @property
    def itemsize(self) -> _int: ...
    @property
    def is_floating_point(self) -> _bool: ...
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
    def is_cpu(self) -> _bool: ...
    def is_cuda(self) -> _bool: ...
    @property
    def type(self) -> str: ...
    @property
    def index(self) -> _int | None: ...
    @property
    def name(self) -> str: ...
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
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: _int) -> _int: ...
    @property
    def ndim(self) -> _int: ...
    def dim(self) -> _int: ...
    def numel(self) -> _int: ...
    def nelement(self) -> _int: ...
    @property
    def itemsize(self) -> _int: ...
    def element_size(self) -> _int: ...
    @property
    def nbytes(self) -> _int: ...
    @property
    def strides(self) -> Size:
        """The distance between neighbours along each axis in memory, in elements."""
    @overload
    def stride(self, dim: None = None) -> Size: ...
    @overload
    def stride(self, dim: _int) -> _int: ...
    def storage_offset(self) -> _int: ...
    def data_ptr(self) -> _int: ...
    def is_contiguous(self) -> _bool: ...
    def contiguous(self) -> Tensor: ...
    @property
    def dtype(self) -> _DTypeClass: ...
    @property
    def device(self) -> Device: ...
    @property
    def is_cuda(self) -> _bool: ...
    @property
    def is_cpu(self) -> _bool: ...
    def is_floating_point(self) -> _bool: ...
    @property
    def is_realized(self) -> _bool: ...
    def realize(self) -> Self:
        """Computes the value now."""

    # Gradients.
    @property
    def requires_grad(self) -> _bool: ...
    @requires_grad.setter
    def requires_grad(self, on: _bool) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> Self: ...
    @property
    def is_leaf(self) -> _bool: ...
    @property
    def grad_fn(self) -> str | None: ...
    @property
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, grad: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    @property
    def data(self) -> Tensor: ...
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def detach(self) -> Tensor: ...
    def zero_grad(self) -> None: ...
    def backward(
        self, gradient: Tensor | None = None, retain_graph: _bool | None = None, create_graph: _bool = False
    ) -> None:
        """Adds the gradient of this tensor to the `grad` of every leaf that it depends on."""

    # What Python gets of it.
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def numpy(self) -> Any:
        """A read-only NumPy array on the tensor's own memory."""
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
    def __deepcopy__(self, _memo: dict[Any, Any], /) -> Tensor: ...
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
    def pow(self, exponent: _Operand) -> Tensor: ...
    def gt(self, other: _Operand) -> Tensor: ...
    def ge(self, other: _Operand) -> Tensor: ...
    def matmul(self, other: _Operand) -> Tensor: ...
    def mm(self, other: _Operand) -> Tensor: ...
    def dot(self, other: _Operand) -> Tensor: ...
    def add_(self, other: _Operand, alpha: _float | None = None) -> Self: ...
    def sub_(self, other: _Operand, alpha: _float | None = None) -> Self: ...
    def mul_(self, other: _Operand) -> Self: ...
    def div_(self, other: _Operand) -> Self: ...
    def zero_(self) -> Self: ...
    def fill_(self, value: _Operand) -> Self: ...
    def copy_(self, src: _Operand) -> Self: ...

    # The op table.
    def neg(self) -> Tensor:
        """`−a`."""
    def abs(self) -> Tensor:
        """`|a|`."""
    def sign(self) -> Tensor:
        """−1, 0 or 1 with the sign of `a`; NaN stays."""
    def square(self) -> Tensor:
        """`a · a`."""
    def relu(self) -> Tensor:
        """`max(a, 0)`; NaN stays."""
    def exp(self) -> Tensor:
        """`eᵃ`."""
    def log(self) -> Tensor:
        """The natural logarithm."""
    def sqrt(self) -> Tensor:
        """The correctly rounded square root."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""
    def sigmoid(self) -> Tensor:
        """`1 / (1 + e⁻ᵃ)`."""
    def softplus(self) -> Tensor:
        """`log(1 + eᵃ)`, without overflow."""
    def sin(self) -> Tensor:
        """The sine, of radians."""
    def cos(self) -> Tensor:
        """The cosine, of radians."""
    def erf(self) -> Tensor:
        """The error function."""
    def logical_not(self) -> Tensor:
        """Not `a`."""
    def add(self, other: _Operand) -> Tensor:
        """`a + b`."""
    def sub(self, other: _Operand) -> Tensor:
        """`a − b`."""
    def mul(self, other: _Operand) -> Tensor:
        """`a · b`."""
    def div(self, other: _Operand) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to f32 by the public API's true division."""
    def maximum(self, other: _Operand) -> Tensor:
        """The larger of `a` and `b`; NaN if either is."""
    def minimum(self, other: _Operand) -> Tensor:
        """The smaller of `a` and `b`; NaN if either is."""
    def lt(self, other: _Operand) -> Tensor:
        """`a < b`."""
    def le(self, other: _Operand) -> Tensor:
        """`a ≤ b`."""
    def eq(self, other: _Operand) -> Tensor:
        """`a = b`."""
    def ne(self, other: _Operand) -> Tensor:
        """`a ≠ b`; true when either is NaN."""
    def logical_and(self, other: _Operand) -> Tensor:
        """`a` and `b`."""
    def logical_or(self, other: _Operand) -> Tensor:
        """`a` or `b`."""
    def logical_xor(self, other: _Operand) -> Tensor:
        """`a` or `b`, not both."""

    # Views and conversions.
    @overload
    def reshape(self, shape: Sequence[_int], /) -> Tensor: ...
    @overload
    def reshape(self, *shape: _int) -> Tensor: ...
    @overload
    def view(self, shape: Sequence[_int], /) -> Tensor: ...
    @overload
    def view(self, *shape: _int) -> Tensor: ...
    def view_as(self, other: Tensor) -> Tensor: ...
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor: ...
    def ravel(self) -> Tensor: ...
    def transpose(self, dim0: _int, dim1: _int) -> Tensor: ...
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor: ...
    def t(self) -> Tensor: ...
    @property
    def T(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    @overload
    def permute(self, dims: Sequence[_int], /) -> Tensor: ...
    @overload
    def permute(self, *dims: _int) -> Tensor: ...
    def movedim(self, source: _int, destination: _int) -> Tensor: ...
    def slice(self, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor: ...
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor: ...
    def select(self, dim: _int, index: _int) -> Tensor: ...
    @overload
    def flip(self, dims: Sequence[_int], /) -> Tensor: ...
    @overload
    def flip(self, *dims: _int) -> Tensor: ...
    @overload
    def expand(self, sizes: Sequence[_int], /) -> Tensor: ...
    @overload
    def expand(self, *sizes: _int) -> Tensor: ...
    def expand_as(self, other: Tensor) -> Tensor: ...
    @overload
    def broadcast_to(self, shape: Sequence[_int], /) -> Tensor: ...
    @overload
    def broadcast_to(self, *shape: _int) -> Tensor: ...
    @overload
    def repeat(self, repeats: Sequence[_int], /) -> Tensor: ...
    @overload
    def repeat(self, *repeats: _int) -> Tensor: ...
    def unsqueeze(self, dim: _int) -> Tensor: ...
    def squeeze(self, dim: _int | None = None) -> Tensor: ...
    def split(self, split_size: _Sizes, dim: _int = 0) -> tuple[Tensor, ...]: ...
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]: ...
    def clone(self) -> Tensor: ...
    def to(
        self,
        *args: Tensor | _DType | _Device,
        copy: _bool = False,
        device: _Device | None = None,
        dtype: _DType | None = None,
        non_blocking: _bool = False,
    ) -> Tensor: ...
    def cpu(self) -> Tensor: ...
    def cuda(self, device: _int | _Device | None = None) -> Tensor: ...
    @overload
    def type(self, dtype: None = None) -> _DTypeClass: ...
    @overload
    def type(self, dtype: _DType) -> Tensor: ...
    def float(self) -> Tensor: ...
    def double(self) -> Tensor: ...
    def half(self) -> Tensor: ...
    def bfloat16(self) -> Tensor: ...
    def long(self) -> Tensor: ...
    def int(self) -> Tensor: ...
    def bool(self) -> Tensor: ...

    # Indexing.
    def index_select(self, dim: _int, index: Tensor) -> Tensor: ...
    def gather(self, dim: _int, index: Tensor) -> Tensor: ...
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor: ...
    def masked_select(self, mask: Tensor) -> Tensor: ...
    def masked_fill(self, mask: Tensor, value: _Operand) -> Tensor: ...
    def nonzero(self, *, as_tuple: _bool = False) -> Any: ...
    def where(self, condition: Tensor, other: _Operand) -> Tensor: ...

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
    def max(self, dim: _int, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Extreme: ...
    @overload
    def max(
        self,
        dim: Sequence[_int] | Tensor | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor: ...
    @overload
    def min(self, dim: _int, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Extreme: ...
    @overload
    def min(
        self,
        dim: Sequence[_int] | Tensor | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor: ...
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
    ) -> Tensor: ...
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
    ) -> Tensor: ...
    def norm(
        self,
        p: _float = 2.0,
        dim: _Dims | None = None,
        keepdim: _bool = False,
        *,
        axis: _Dims | None = None,
        keepdims: _bool | None = None,
    ) -> Tensor: ...

    # Compositions.
    def softmax(self, dim: _int | None = None, *, dtype: _DType | None = None, axis: _int | None = None) -> Tensor: ...
    def log_softmax(
        self, dim: _int | None = None, *, dtype: _DType | None = None, axis: _int | None = None
    ) -> Tensor: ...
    def gelu(self, approximate: str = "none") -> Tensor: ...
    def silu(self) -> Tensor: ...
    def leaky_relu(self, negative_slope: _float = 0.01) -> Tensor: ...
    def clamp(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor: ...
    def clip(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor: ...
    def isnan(self) -> Tensor: ...
    def isinf(self) -> Tensor: ...
    def isfinite(self) -> Tensor: ...
    def reciprocal(self) -> Tensor: ...
    def rsqrt(self) -> Tensor: ...
    def dropout(self, p: _float = 0.5, training: _bool = True) -> Tensor: ...

class Value:
    """A number (float64) that remembers how it was computed: micrograd's `Value`."""

    __array_ufunc__: None

    def __new__(cls, data: SupportsFloat, device: _Device | None = None, label: str | None = None) -> Self: ...
    @property
    def data(self) -> _float: ...
    @data.setter
    def data(self, data: _float) -> None: ...
    @property
    def grad(self) -> _float: ...
    @grad.setter
    def grad(self, grad: _float) -> None: ...
    @property
    def label(self) -> str: ...
    @label.setter
    def label(self, label: str) -> None: ...
    @property
    def _prev(self) -> set[Value]: ...
    @property
    def _op(self) -> str: ...
    @property
    def is_leaf(self) -> _bool: ...
    @property
    def device(self) -> Device: ...
    def to(self, device: _Device) -> Value: ...
    def cpu(self) -> Value: ...
    def cuda(self, ordinal: _int = 0) -> Value: ...
    def backward(self) -> None:
        """Gives every value that this one came from its gradient. Can be called again; leaves accumulate."""
    def zero_grad(self) -> None: ...
    def relu(self) -> Value: ...
    def exp(self) -> Value: ...
    def log(self) -> Value: ...
    def tanh(self) -> Value: ...
    def sigmoid(self) -> Value: ...
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
    def parameters(self) -> list[Value]: ...
    def zero_grad(self) -> None: ...
    def to(self, device: _Device) -> Self: ...
    @property
    def w(self) -> list[Value]: ...
    @property
    def b(self) -> Value: ...
    @property
    def nonlin(self) -> _bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: Any, /) -> None: ...

class Layer:
    """Neurons that take the same inputs."""

    def __new__(cls, nin: _int, nout: _int, nonlin: _bool = True, seed: _int | None = None) -> Self: ...
    def __call__(self, x: Sequence[Value | _float]) -> Any: ...
    def parameters(self) -> list[Value]: ...
    def zero_grad(self) -> None: ...
    def to(self, device: _Device) -> Self: ...
    @property
    def neurons(self) -> list[Neuron]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: Any, /) -> None: ...

class MLP:
    """A multilayer perceptron: layers one after another, all with ReLU but the last, which is linear."""

    def __new__(cls, nin: _int, nouts: Sequence[_int], seed: _int | None = None) -> Self: ...
    def __call__(self, x: Sequence[Value | _float]) -> Any: ...
    def parameters(self) -> list[Value]: ...
    def zero_grad(self) -> None: ...
    def to(self, device: _Device) -> Self: ...
    @property
    def layers(self) -> list[Layer]: ...
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
    def is_replaying(self) -> _bool: ...

class Explanation:
    """The launches that computing some tensors would take; `print` shows them."""

    @property
    def launches(self) -> list[dict[str, Any]]: ...
    @property
    def temporary_bytes(self) -> _int: ...
    def dot(self) -> str: ...
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
) -> Tensor: ...
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
) -> Tensor: ...
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
) -> Tensor: ...
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
) -> Tensor: ...
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
) -> Tensor: ...
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
) -> Tensor: ...
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
def where(condition: Tensor, input: None = None, other: None = None) -> tuple[Tensor, ...]: ...
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

def cross_entropy(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The cross entropy of logits `[n, classes]` and integer labels `[n]`, in nats."""

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
def load_safetensors(path: _Path) -> dict[str, Tensor]: ...
@overload
def load_safetensors(path: _Path, *, metadata: _bool) -> Any:
    """The named tensors of a safetensors file; with `metadata`, and its text."""

def calculate_gain(nonlinearity: str, param: _float = 0.01) -> _float:
    """The recommended factor for weights before a nonlinearity."""

def uniform_(tensor: Tensor, a: _float = 0.0, b: _float = 1.0) -> Tensor: ...
def normal_(tensor: Tensor, mean: _float = 0.0, std: _float = 1.0) -> Tensor: ...
def constant_(tensor: Tensor, val: _float = 0.0) -> Tensor: ...
def zeros_(tensor: Tensor) -> Tensor: ...
def ones_(tensor: Tensor) -> Tensor: ...
def xavier_uniform_(tensor: Tensor, gain: _float = 1.0) -> Tensor: ...
def xavier_normal_(tensor: Tensor, gain: _float = 1.0) -> Tensor: ...
def kaiming_uniform_(
    tensor: Tensor, a: _float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor: ...
def kaiming_normal_(
    tensor: Tensor, a: _float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor: ...

# What the package's own modules use.
class _Optimizer:
    def __new__(cls, kind: str, parameters: Sequence[Tensor], options: dict[str, Any]) -> Self: ...
    def set_options(self, options: dict[str, Any]) -> None: ...
    @property
    def is_recorded(self) -> _bool: ...
    def step(self) -> None: ...
    def state(self) -> dict[str, Tensor]: ...
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
    def lr(self, base: _float, epoch: _int) -> _float: ...
    def next(self, now: _float, base: _float, epoch: _int) -> _float: ...
    def start(self, now: _float, base: _float, epoch: _int) -> _float: ...

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
