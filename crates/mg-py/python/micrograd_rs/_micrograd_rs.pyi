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
    """The type of a tensor's elements: `micrograd_rs.float32` and its like.

    Compares equal to its names ("f32", "float32"). Where one is taken, names, NumPy's dtypes and Python's `float`, `int`
    and `bool` are taken too.

    Arguments:
        name: what it is called

    Errors: DTypeError for another name.

    >>> mg.dtype("float32") == mg.float32, mg.float32.itemsize, mg.float32.is_floating_point
    (True, 4, True)
    """

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
    """The order of elements in memory that a program asks for. What is taken with one of them has no effect: results lie densely in
    row-major order, and kernels read whatever order there is.

    >>> mg.zeros(1, 2, 3, 3).contiguous(memory_format=mg.channels_last).stride()
    (18, 9, 3, 1)
    """

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
    """How a tensor is stored: elements at strides, which is the only way here.

    >>> mg.zeros(2).layout is mg.strided
    True
    """

    strided: ClassVar[layout]
    def __eq__(self, other: object, /) -> _bool: ...
    def __ne__(self, other: object, /) -> _bool: ...
    def __hash__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __reduce__(self) -> Any: ...

strided: layout

class Device:
    """The host's processor ("cpu") or a CUDA device ("cuda:0"). Strings are taken wherever a device is, and compare equal.

    Arguments:
        device: a name, another device, or the number of a CUDA device
        index: the number, where `device` does not say it
        type: another name of `device`

    Errors: ArgumentError for another name.

    >>> mg.device("cuda", 1).index, mg.device("cpu") == "cpu"
    (1, True)
    """

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
    """A tensor: N-dimensional, of one dtype, on one device, computed when its value is needed.

    `Tensor(data)` makes a leaf of the default dtype that requires a gradient, of numbers, nested sequences, generators, arrays or tensors;
    two whole numbers or more, alone, are the sizes of zeros that do not; `tensor(data)` and the other factories make constants with PyTorch's dtypes. Operations record what they are; the work
    is done when a value is looked at, in as few passes over memory as possible.

    Arguments:
        data: what is in it
        shape: the shape that the elements are put into, by itself that of `data`
        requires_grad: whether it is a leaf whose gradient is kept; True by itself, unless there are sizes alone
        sizes: the other sizes, where there are sizes alone

    Errors: ValueError for sequences of unlike lengths; TypeError for what are no numbers.

    >>> x = mg.Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> y = (x @ x).relu().sum()
    >>> y.backward()
    >>> x.grad
    tensor([[ 7., 11.],
            [ 9., 13.]])
    """

    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
    def to_device(self, device: _Device, /, *, stream: None = None) -> Tensor:
        """The same values on another device: `to`, by the standard's name. There is one stream a device, and `stream` is to be `None`.

        >>> mg.tensor([1.0]).to_device("cpu").device
        Device('cpu')
        """
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
        """The sizes of the axes: a tuple that also compares equal to lists.

        >>> x = mg.zeros(2, 3)
        >>> x.shape, x.shape[0]
        ((2, 3), 2)
        """
    @overload
    def size(self, dim: None = None) -> Size:
        """The sizes of the axes, or of one.

        Errors: IndexError for an axis out of range.

        >>> x = mg.zeros(2, 3)
        >>> x.size(), x.size(-1)
        ((2, 3), 3)
        """
    @overload
    def size(self, dim: _int) -> _int:
        """The sizes of the axes, or of one.

        Errors: IndexError for an axis out of range.

        >>> x = mg.zeros(2, 3)
        >>> x.size(), x.size(-1)
        ((2, 3), 3)
        """
    @property
    def ndim(self) -> _int:
        """The number of axes.

        >>> mg.zeros(2, 3).ndim
        2
        """
    def dim(self) -> _int:
        """The number of axes.

        >>> mg.zeros(2, 3).dim()
        2
        """
    def numel(self) -> _int:
        """The number of elements.

        >>> mg.zeros(2, 3).numel()
        6
        """
    def nelement(self) -> _int:
        """The number of elements.

        >>> mg.zeros(2, 3).nelement()
        6
        """
    @property
    def itemsize(self) -> _int:
        """Bytes an element takes.

        >>> mg.zeros(2, dtype=mg.int16).itemsize
        2
        """
    def element_size(self) -> _int:
        """Bytes an element takes.

        >>> mg.zeros(2).element_size(), mg.zeros(2, dtype=mg.float64).element_size()
        (4, 8)
        """
    @property
    def nbytes(self) -> _int:
        """Bytes that all elements take.

        >>> mg.zeros(2, 3).nbytes
        24
        """
    @property
    def strides(self) -> Size:
        """The distance between neighbours along each axis in memory, in elements.

        >>> mg.zeros(2, 3).strides
        (3, 1)
        """
    @overload
    def stride(self, dim: None = None) -> Size:
        """The distance between neighbours along each axis in memory, in elements, or along one axis.

        Errors: IndexError for an axis out of range.

        >>> x = mg.zeros(2, 3)
        >>> x.stride(), x.T.stride()
        ((3, 1), (1, 3))
        """
    @overload
    def stride(self, dim: _int) -> _int:
        """The distance between neighbours along each axis in memory, in elements, or along one axis.

        Errors: IndexError for an axis out of range.

        >>> x = mg.zeros(2, 3)
        >>> x.stride(), x.T.stride()
        ((3, 1), (1, 3))
        """
    def storage_offset(self) -> _int:
        """Where the first element lies in its memory, in elements.

        >>> mg.arange(5)[2:].storage_offset()
        2
        """
    def data_ptr(self) -> _int:
        """The address of the first element; the others lie from there as `stride()` says.

        >>> x = mg.tensor([1.0, 2.0])
        >>> x[1:].data_ptr() - x.data_ptr()
        4
        """
    def is_contiguous(self, memory_format: _Format | None = None) -> _bool:
        """Whether the elements lie in memory in row-major order without gaps; with `channels_last` whether they do with the axis of
        channels, the second one, taken as the last.

        >>> x = mg.zeros(2, 3)
        >>> x.is_contiguous(), x.T.is_contiguous()
        (True, False)
        """
    def contiguous(self, memory_format: _Format | None = None) -> Tensor:
        """The elements in memory of their own in row-major order; the tensor itself where they are already. (Also where another order is
        asked for: kernels here need none.)

        >>> x = mg.tensor([[1, 2], [3, 4]]).T
        >>> x.stride(), x.contiguous().stride()
        ((1, 2), (2, 1))
        """
    @property
    def dtype(self) -> _DTypeClass:
        """The dtype.

        >>> mg.tensor([1, 2]).dtype, mg.tensor([1.0]).dtype
        (micrograd_rs.int64, micrograd_rs.float32)
        """
    @property
    def device(self) -> Device:
        """The device.

        >>> mg.zeros(2, device="cpu").device
        Device('cpu')
        """
    @property
    def is_cuda(self) -> _bool:
        """Whether it is on a CUDA device.

        >>> mg.zeros(2, device="cpu").is_cuda
        False
        """
    @property
    def is_cpu(self) -> _bool:
        """Whether it is on the host.

        >>> mg.zeros(2, device="cpu").is_cpu
        True
        """
    def is_floating_point(self) -> _bool:
        """Whether the elements are floating-point numbers.

        >>> x = mg.tensor([1.0])
        >>> x.is_floating_point(), x.long().is_floating_point()
        (True, False)
        """
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
        """A tensor of data, copied, in this tensor's dtype and on its device unless others are named.

        Arguments:
            data: numbers, nested sequences of them, an array or a tensor

        Errors: As `tensor`.

        >>> mg.zeros(1, dtype=mg.float64).new_tensor([1, 2])
        tensor([1., 2.], dtype=micrograd_rs.float64)
        """
    @property
    def is_sparse(self) -> _bool:
        """Whether only some elements are kept: never.

        >>> mg.tensor([1.0]).is_sparse
        False
        """
    @property
    def is_sparse_csr(self) -> _bool:
        """Whether it is stored by compressed rows: never.

        >>> mg.tensor([1.0]).is_sparse_csr
        False
        """
    @property
    def is_quantized(self) -> _bool:
        """Whether the elements are quantised: never.

        >>> mg.tensor([1.0]).is_quantized
        False
        """
    @property
    def is_meta(self) -> _bool:
        """Whether it has a shape and no elements: never.

        >>> mg.tensor([1.0]).is_meta
        False
        """
    @property
    def is_mps(self) -> _bool:
        """Whether it is on a device of Apple's: never.

        >>> mg.tensor([1.0]).is_mps
        False
        """
    @property
    def is_xpu(self) -> _bool:
        """Whether it is on a device of Intel's: never.

        >>> mg.tensor([1.0]).is_xpu
        False
        """
    @property
    def is_xla(self) -> _bool:
        """Whether it is on a device by XLA: never.

        >>> mg.tensor([1.0]).is_xla
        False
        """
    @property
    def is_mkldnn(self) -> _bool:
        """Whether it is in the layout of oneDNN: never.

        >>> mg.tensor([1.0]).is_mkldnn
        False
        """
    @property
    def is_nested(self) -> _bool:
        """Whether it is made of tensors of unlike sizes: never.

        >>> mg.tensor([1.0]).is_nested
        False
        """
    @property
    def layout(self) -> _Layout:
        """How it is stored: by strides.

        >>> mg.zeros(2).layout
        micrograd_rs.strided
        """
    @property
    def real(self) -> Tensor:
        """The tensor itself: its numbers are real.

        >>> mg.tensor([1.0]).real
        tensor([1.])
        """
    @property
    def H(self) -> Tensor:
        """The last two axes exchanged, of a matrix.

        >>> mg.tensor([[1, 2], [3, 4]]).H
        tensor([[1, 3],
                [2, 4]])
        """
    @property
    def mH(self) -> Tensor:
        """The last two axes exchanged.

        Errors: IndexError for one axis.

        >>> mg.zeros(5, 2, 3).mH.shape
        (5, 3, 2)
        """
    @property
    def output_nr(self) -> _int:
        """Which result of the operation that made it it is: gradients are told apart by other means here, so always 0.

        >>> mg.tensor([1.0]).output_nr
        0
        """
    def ndimension(self) -> _int:
        """The number of axes.

        >>> mg.zeros(2, 3).ndimension()
        2
        """
    def is_complex(self) -> _bool:
        """Whether the elements are complex numbers: never.

        >>> mg.tensor([1.0]).is_complex()
        False
        """
    def is_conj(self) -> _bool:
        """Whether it is to be conjugated when it is read: never.

        >>> mg.tensor([1.0]).is_conj()
        False
        """
    def is_neg(self) -> _bool:
        """Whether it is to be negated when it is read: never.

        >>> mg.tensor([-1.0]).is_neg()
        False
        """
    def is_inference(self) -> _bool:
        """Whether it was made in `inference_mode`; no tensor is less than others for that here.

        >>> mg.tensor([1.0]).is_inference()
        False
        """
    def is_signed(self) -> _bool:
        """Whether its dtype has negative numbers.

        >>> mg.tensor([1.0]).is_signed(), mg.tensor([1], dtype=mg.uint8).is_signed()
        (True, False)
        """
    def is_nonzero(self) -> _bool:
        """Whether its only element is not 0.

        Errors: RuntimeError for several elements, or for none.

        >>> mg.tensor([0.0]).is_nonzero(), mg.tensor(3).is_nonzero()
        (False, True)
        """
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether another tensor has the same shape.

        >>> mg.zeros(2, 3).is_same_size(mg.ones(2, 3))
        True
        """
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Whether another tensor is the same part of the same memory.

        Arguments:
            tensor: the other one

        >>> x = mg.zeros(4)
        >>> x.is_set_to(x.view(4)), x.is_set_to(x[:2])
        (True, False)
        """
    def pin_memory(self, device: _Device | None = None) -> Tensor:
        """A copy in page-locked memory of the host: `to("cuda")` of it is made while the device computes. The tensor itself where there is no CUDA
        device, where it is pinned already, and where it requires a gradient. `RuntimeError` for a tensor that is on a device.

        >>> mg.tensor([1.0]).pin_memory()
        tensor([1.])
        """
    def is_pinned(self, device: _Device | None = None) -> _bool:
        """Whether its memory is page-locked.

        >>> mg.tensor([1.0]).is_pinned()
        False
        """
    def type_as(self, other: Tensor) -> Tensor:
        """In the dtype, and on the device, of another tensor.

        >>> mg.tensor([1, 2]).type_as(mg.tensor([0.5]))
        tensor([1., 2.])
        """
    def dim_order(self, *, ambiguity_check: _bool | Sequence[Any] = False) -> tuple[_int, ...]:
        """The axes from the one with the largest stride on: the order in which elements lie in memory. With `ambiguity_check` (True, or a list of memory
        formats), RuntimeError where there are several such orders.

        Arguments:
            ambiguity_check: whether several orders are refused

        >>> mg.zeros(2, 3, 4).transpose(0, 2).dim_order()
        (2, 1, 0)
        """
    def detach_(self) -> Self:
        """Cuts it off from what computed it, in place: it is a constant from now on.

        >>> x = mg.tensor([1.0], requires_grad=True) * 2
        >>> x.detach_().requires_grad
        False
        """
    def new(self, *args: Any) -> Tensor:
        """A tensor in the same dtype and on the same device, of data, or of zeros in a shape.

        >>> mg.tensor([1, 2], dtype=mg.int32).new([7, 8])
        tensor([7, 8], dtype=micrograd_rs.int32)
        """
    def polygamma(self, n: _int) -> Tensor:
        """The `n`-th derivative of the digamma function.

        >>> mg.tensor([1.0, 2.0]).polygamma(1)
        tensor([1.6449, 0.6449])
        """
    def record_stream(self, stream: Any) -> None:
        """Says that a stream uses it: its memory is given back in the order of its device's work anyway.

        Arguments:
            stream: the stream

        >>> x.record_stream(mg.cuda.current_stream())  # doctest: +SKIP
        """
    @property
    def is_realized(self) -> _bool:
        """Whether the value is computed already.

        >>> x = mg.ones(2) + 1
        >>> before = x.is_realized
        >>> _ = x.tolist()
        >>> before, x.is_realized
        (False, True)
        """
    @property
    def _version(self) -> _int: ...
    @property
    def _base(self) -> Tensor | None: ...
    def _is_view(self) -> _bool: ...
    def _memory(self) -> tuple[_int, _int, Tensor | None]: ...
    def is_shared(self) -> _bool:
        """Whether other processes see its memory: never.

        >>> mg.tensor([1.0]).is_shared()
        False
        """
    def share_memory_(self) -> NoReturn:
        """RuntimeError: processes share no memory.

        >>> mg.tensor([1.0]).share_memory_()
        Traceback (most recent call last):
            ...
        RuntimeError: share_memory_: processes share no memory here: threads (threading.Thread) share a tensor as it is, and another process is sent a copy
        """
    def storage(self) -> TypedStorage:
        """The memory that it lies in, as elements.

        >>> mg.tensor([1.0, 2.0])[1:].storage().tolist()
        [1.0, 2.0]
        """
    def untyped_storage(self) -> UntypedStorage:
        """The memory that it lies in, as bytes.

        >>> mg.zeros(3).untyped_storage().nbytes()
        12
        """
    def realize(self) -> Self:
        """Computes the value now.

        >>> x = (mg.ones(2) + 1).realize()
        >>> x.is_realized
        True
        """

    # Gradients.
    @property
    def requires_grad(self) -> _bool:
        """Whether gradients flow to it. Can be set on leaves.

        Errors: DTypeError for integers; RuntimeError where the result of an operation is to be a constant.

        >>> x = mg.tensor([1.0])
        >>> x.requires_grad = True
        >>> (x * 2).requires_grad
        True
        """
    @requires_grad.setter
    def requires_grad(self, on: _bool) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> Self:
        """Makes it a leaf whose gradient is kept, or a constant.

        Errors: DTypeError for integers; RuntimeError where the result of an operation is to be a constant.

        >>> x = mg.zeros(2).requires_grad_()
        >>> x.requires_grad
        True
        """
    @property
    def is_leaf(self) -> _bool:
        """Whether it is where gradients end: made by the user rather than by operations on what requires a gradient.

        >>> x = mg.tensor([1.0], requires_grad=True)
        >>> x.is_leaf, (x * 2).is_leaf
        (True, False)
        """
    @property
    def grad_fn(self) -> GradNode | None:
        """The operation that computed it, where it requires a gradient; None for leaves and constants.

        >>> x = mg.tensor([3.0], requires_grad=True)
        >>> x.grad_fn is None, (x * 2).grad_fn is None
        (True, False)
        """
    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` left, or None. Can be set and deleted.

        >>> x = mg.tensor([3.0], requires_grad=True)
        >>> x.square().backward()
        >>> x.grad
        tensor([6.])
        """
    @grad.setter
    def grad(self, grad: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    @property
    def data(self) -> Tensor:
        """The same memory without history. Setting it makes the tensor stand for the memory of another one, with its shape, dtype
        and device.

        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> x.data.requires_grad, x.data.data_ptr() == x.data_ptr()
        (False, True)
        """
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def detach(self) -> Tensor:
        """Another tensor on the same memory, cut off from what computed it: no gradient flows through it, and what is written to
        either is seen by the other.

        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x.detach()
        >>> y.requires_grad, y.data_ptr() == x.data_ptr()
        (False, True)
        """
    def zero_grad(self) -> None:
        """Removes the gradient.

        >>> x = mg.tensor([3.0], requires_grad=True)
        >>> x.square().backward()
        >>> x.zero_grad()
        >>> x.grad is None
        True
        """
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Adds the gradient of this tensor to the `grad` of every leaf that it depends on, or of `inputs` alone. A tensor of more
        than one element needs a seed `gradient` of its shape. The graph is let go unless it is to be retained.

        Arguments:
            gradient: what is passed on, of the tensor's shape; 1 for a tensor of one element
            retain_graph: whether the graph stays, so that it can be gone through again
            create_graph: whether the gradients can be differentiated
            inputs: the leaves that get a gradient, by themselves all

        Errors: RuntimeError for what depends on nothing that requires a gradient, for several elements without `gradient`, and where the graph
        was let go; ArgumentError for a `gradient` of another shape.

        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Calls `hook` with the gradient of this tensor each time it is computed; a tensor that it answers with takes the gradient's
        place. Of the result of an operation, it is the gradient of the value that the tensor has now. `remove()` of the answer takes
        the hook away.

        Errors: RuntimeError for what requires no gradient.

        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> handle = x.register_hook(lambda gradient: gradient * 10)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        >>> handle.remove()
        """
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], object]) -> RemovableHandle:
        """Calls `hook` with this tensor, a leaf, each time `backward` has added to its gradient. `remove()` of the answer takes the hook
        away.

        Errors: RuntimeError for what is no leaf, or requires no gradient.

        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
        >>> x.sum().backward()
        tensor([1., 1.])
        """
    def retain_grad(self) -> None:
        """Keeps the gradient of this tensor in `grad` though it is the result of an operation.

        Errors: RuntimeError for what requires no gradient.

        >>> x = mg.tensor([3.0], requires_grad=True)
        >>> y = x * 2
        >>> y.retain_grad()
        >>> y.square().backward()
        >>> y.grad
        tensor([12.])
        """
    @property
    def retains_grad(self) -> _bool:
        """Whether it is the result of an operation whose gradient is kept.

        >>> y = mg.tensor([3.0], requires_grad=True) * 2
        >>> y.retain_grad()
        >>> y.retains_grad
        True
        """

    # What Python gets of it.
    def item(self) -> Any:
        """The only element as Python's number.

        Errors: ArgumentError for several elements, or for none.

        >>> mg.tensor([[2.5]]).item()
        2.5
        """
    def tolist(self) -> Any:
        """The elements as nested lists; a number for a tensor without axes.

        >>> mg.tensor([[1, 2], [3, 4]]).tolist(), mg.tensor(5.0).tolist()
        ([[1, 2], [3, 4]], 5.0)
        """
    def numpy(self, *, force: _bool = False) -> Any:
        """A NumPy array on the tensor's own memory: what is written to either is seen by the other. Operations on the tensor are
        computed before they return, while there is such an array. That of a tensor which requires a gradient is read-only, and
        shows the values as they are now; `t.detach().numpy()` shares. `numpy.array(t)` is a copy. With `force`, as
        `t.detach().cpu().numpy()`.

        >>> x = mg.tensor([1.0, 2.0])
        >>> a = x.numpy()
        >>> a[0] = 9
        >>> x
        tensor([9., 2.])
        """
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
        """Sets every element to 0.

        Errors: RuntimeError for a leaf that requires a gradient, outside of `no_grad`.

        >>> x = mg.ones(2)
        >>> x.zero_()
        tensor([0., 0.])
        """
    def fill_(self, value: _Operand) -> Self:
        """Sets every element to a number.

        Arguments:
            value: the number, or a tensor without axes

        Errors: ArgumentError for a tensor with axes; RuntimeError for a leaf that requires a gradient, outside of `no_grad`.

        >>> mg.zeros(2, 2).fill_(7)
        tensor([[7., 7.],
                [7., 7.]])
        """
    def copy_(self, src: _Operand, non_blocking: _bool = False) -> Self:
        """Sets the elements to those of another tensor, which is broadcast and converted, and may be on another device.

        Arguments:
            src: the other tensor
            non_blocking: of no effect, since nobody waits for a copy

        Errors: ArgumentError for a shape that does not broadcast; RuntimeError for a leaf that requires a gradient, outside of `no_grad`.

        >>> x = mg.zeros(2, 2)
        >>> x.copy_(mg.tensor([1, 2]))
        tensor([[1., 2.],
                [1., 2.]])
        """

    # Operations that are declared in the engine.
    def add(self, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
        """`a + b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand
            alpha (tensor or number, default 1): what `other` is multiplied by first

        >>> x = mg.tensor([1.0, 2.0])
        >>> x.add(mg.tensor([[10.0], [20.0]]))
        tensor([[11., 12.],
                [21., 22.]])
        >>> x.add(10, alpha=2)
        tensor([21., 22.])
        """
    def add_(self, other: _Operand, *, alpha: _Operand = 1) -> Self:
        """`add`, written into the tensor, which is answered. See `add`.

        Arguments:
            other (tensor or number): the second operand
            alpha (tensor or number, default 1): what `other` is multiplied by first
        """
    def sub(self, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
        """`a − b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand
            alpha (tensor or number, default 1): what `other` is multiplied by first

        >>> x = mg.tensor([5, 7])
        >>> x.sub(1, alpha=2)
        tensor([3, 5])
        """
    def subtract(self, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
        """`a − b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand
            alpha (tensor or number, default 1): what `other` is multiplied by first

        >>> x = mg.tensor([5, 7])
        >>> x.subtract(1, alpha=2)
        tensor([3, 5])
        """
    def sub_(self, other: _Operand, *, alpha: _Operand = 1) -> Self:
        """`sub`, written into the tensor, which is answered. See `sub`.

        Arguments:
            other (tensor or number): the second operand
            alpha (tensor or number, default 1): what `other` is multiplied by first
        """
    def subtract_(self, other: _Operand, *, alpha: _Operand = 1) -> Self:
        """`sub`, written into the tensor, which is answered. See `sub`.

        Arguments:
            other (tensor or number): the second operand
            alpha (tensor or number, default 1): what `other` is multiplied by first
        """
    def mul(self, other: _Operand) -> Tensor:
        """`a · b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1, 2, 3])
        >>> x.mul(mg.tensor([[1], [10]]))
        tensor([[ 1,  2,  3],
                [10, 20, 30]])
        """
    def multiply(self, other: _Operand) -> Tensor:
        """`a · b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1, 2, 3])
        >>> x.multiply(mg.tensor([[1], [10]]))
        tensor([[ 1,  2,  3],
                [10, 20, 30]])
        """
    def mul_(self, other: _Operand) -> Self:
        """`mul`, written into the tensor, which is answered. See `mul`.

        Arguments:
            other (tensor or number): the second operand
        """
    def multiply_(self, other: _Operand) -> Self:
        """`mul`, written into the tensor, which is answered. See `mul`.

        Arguments:
            other (tensor or number): the second operand
        """
    def div(self, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand
            rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all

        >>> x = mg.tensor([7, -7])
        >>> x.div(2)
        tensor([ 3.5000, -3.5000])
        >>> x.div(2, rounding_mode="floor")
        tensor([ 3, -4])
        """
    def divide(self, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand
            rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all

        >>> x = mg.tensor([7, -7])
        >>> x.divide(2)
        tensor([ 3.5000, -3.5000])
        >>> x.divide(2, rounding_mode="floor")
        tensor([ 3, -4])
        """
    def true_divide(self, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
        """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand
            rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all

        >>> x = mg.tensor([7, -7])
        >>> x.true_divide(2)
        tensor([ 3.5000, -3.5000])
        >>> x.true_divide(2, rounding_mode="floor")
        tensor([ 3, -4])
        """
    def div_(self, other: _Operand, *, rounding_mode: str | None = None) -> Self:
        """`div`, written into the tensor, which is answered. See `div`.

        Arguments:
            other (tensor or number): the second operand
            rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all
        """
    def divide_(self, other: _Operand, *, rounding_mode: str | None = None) -> Self:
        """`div`, written into the tensor, which is answered. See `div`.

        Arguments:
            other (tensor or number): the second operand
            rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all
        """
    def true_divide_(self, other: _Operand, *, rounding_mode: str | None = None) -> Self:
        """`div`, written into the tensor, which is answered. See `div`.

        Arguments:
            other (tensor or number): the second operand
            rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all
        """
    def maximum(self, other: _Operand) -> Tensor:
        """The larger of `a` and `b`; NaN if either is. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1.0, 5.0, float("nan")])
        >>> x.maximum(mg.tensor([3.0, 2.0, 1.0]))
        tensor([3., 5., nan])
        """
    def maximum_(self, other: _Operand) -> Self:
        """`maximum`, written into the tensor, which is answered. See `maximum`.

        Arguments:
            other (tensor or number): the second operand
        """
    def minimum(self, other: _Operand) -> Tensor:
        """The smaller of `a` and `b`; NaN if either is. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1.0, 5.0, float("nan")])
        >>> x.minimum(mg.tensor([3.0, 2.0, 1.0]))
        tensor([1., 2., nan])
        """
    def minimum_(self, other: _Operand) -> Self:
        """`minimum`, written into the tensor, which is answered. See `minimum`.

        Arguments:
            other (tensor or number): the second operand
        """
    def neg(self) -> Tensor:
        """`−a`.

        >>> x = mg.tensor([1.0, -2.0])
        >>> x.neg()
        tensor([-1.,  2.])
        """
    def negative(self) -> Tensor:
        """`−a`.

        >>> x = mg.tensor([1.0, -2.0])
        >>> x.negative()
        tensor([-1.,  2.])
        """
    def neg_(self) -> Self:
        """`neg`, written into the tensor, which is answered. See `neg`."""
    def negative_(self) -> Self:
        """`neg`, written into the tensor, which is answered. See `neg`."""
    def abs(self) -> Tensor:
        """`|a|`.

        >>> x = mg.tensor([-1.5, 2.0])
        >>> x.abs()
        tensor([1.5000, 2.0000])
        """
    def absolute(self) -> Tensor:
        """`|a|`.

        >>> x = mg.tensor([-1.5, 2.0])
        >>> x.absolute()
        tensor([1.5000, 2.0000])
        """
    def abs_(self) -> Self:
        """`abs`, written into the tensor, which is answered. See `abs`."""
    def absolute_(self) -> Self:
        """`abs`, written into the tensor, which is answered. See `abs`."""
    def sign(self) -> Tensor:
        """−1, 0 or 1 with the sign of `a`; 0 of NaN.

        >>> x = mg.tensor([-3.0, 0.0, 0.5])
        >>> x.sign()
        tensor([-1.,  0.,  1.])
        """
    def sgn(self) -> Tensor:
        """−1, 0 or 1 with the sign of `a`; 0 of NaN.

        >>> x = mg.tensor([-3.0, 0.0, 0.5])
        >>> x.sgn()
        tensor([-1.,  0.,  1.])
        """
    def sign_(self) -> Self:
        """`sign`, written into the tensor, which is answered. See `sign`."""
    def sgn_(self) -> Self:
        """`sign`, written into the tensor, which is answered. See `sign`."""
    def square(self) -> Tensor:
        """`a · a`.

        >>> x = mg.tensor([-3.0, 0.5])
        >>> x.square()
        tensor([9.0000, 0.2500])
        """
    def square_(self) -> Self:
        """`square`, written into the tensor, which is answered. See `square`."""
    def relu(self) -> Tensor:
        """`max(a, 0)`; NaN stays.

        >>> x = mg.tensor([-1.0, 0.0, 2.0])
        >>> x.relu()
        tensor([0., 0., 2.])
        """
    def relu_(self) -> Self:
        """`relu`, written into the tensor, which is answered. See `relu`."""
    def exp(self) -> Tensor:
        """`eᵃ`.

        >>> x = mg.tensor([0.0, 1.0])
        >>> x.exp()
        tensor([1.0000, 2.7183])
        """
    def exp_(self) -> Self:
        """`exp`, written into the tensor, which is answered. See `exp`."""
    def log(self) -> Tensor:
        """The natural logarithm.

        >>> x = mg.tensor([1.0, 10.0, 0.0])
        >>> x.log()
        tensor([0.0000, 2.3026,   -inf])
        """
    def log_(self) -> Self:
        """`log`, written into the tensor, which is answered. See `log`."""
    def sqrt(self) -> Tensor:
        """The correctly rounded square root.

        >>> x = mg.tensor([4.0, 2.0])
        >>> x.sqrt()
        tensor([2.0000, 1.4142])
        """
    def sqrt_(self) -> Self:
        """`sqrt`, written into the tensor, which is answered. See `sqrt`."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent.

        >>> x = mg.tensor([0.0, 1.0, 100.0])
        >>> x.tanh()
        tensor([0.0000, 0.7616, 1.0000])
        """
    def tanh_(self) -> Self:
        """`tanh`, written into the tensor, which is answered. See `tanh`."""
    def sigmoid(self) -> Tensor:
        """`1 / (1 + e⁻ᵃ)`.

        >>> x = mg.tensor([-1.0, 0.0, 1.0])
        >>> x.sigmoid()
        tensor([0.2689, 0.5000, 0.7311])
        """
    def sigmoid_(self) -> Self:
        """`sigmoid`, written into the tensor, which is answered. See `sigmoid`."""
    def sin(self) -> Tensor:
        """The sine, of radians.

        >>> x = mg.tensor([0.0, mg.pi / 2])
        >>> x.sin()
        tensor([0., 1.])
        """
    def sin_(self) -> Self:
        """`sin`, written into the tensor, which is answered. See `sin`."""
    def cos(self) -> Tensor:
        """The cosine, of radians.

        >>> x = mg.tensor([0.0, mg.pi])
        >>> x.cos()
        tensor([ 1., -1.])
        """
    def cos_(self) -> Self:
        """`cos`, written into the tensor, which is answered. See `cos`."""
    def erf(self) -> Tensor:
        """The error function.

        >>> x = mg.tensor([0.0, 0.5, 3.0])
        >>> x.erf()
        tensor([0.0000, 0.5205, 1.0000])
        """
    def erf_(self) -> Self:
        """`erf`, written into the tensor, which is answered. See `erf`."""
    def expm1(self) -> Tensor:
        """`eᵃ − 1`, which keeps its digits where `a` is small.

        >>> x = mg.tensor([1e-7])
        >>> x.expm1()
        tensor([1.0000e-07])
        >>> x.exp() - 1
        tensor([1.1921e-07])
        """
    def expm1_(self) -> Self:
        """`expm1`, written into the tensor, which is answered. See `expm1`."""
    def log1p(self) -> Tensor:
        """`log(1 + a)`, which keeps its digits where `a` is small.

        >>> x = mg.tensor([1e-7])
        >>> x.log1p()
        tensor([1.0000e-07])
        >>> (1 + x).log()
        tensor([1.1921e-07])
        """
    def log1p_(self) -> Self:
        """`log1p`, written into the tensor, which is answered. See `log1p`."""
    def exp2(self) -> Tensor:
        """`2ᵃ`.

        >>> x = mg.tensor([0.0, 3.0, -1.0])
        >>> x.exp2()
        tensor([1.0000, 8.0000, 0.5000])
        """
    def exp2_(self) -> Self:
        """`exp2`, written into the tensor, which is answered. See `exp2`."""
    def log2(self) -> Tensor:
        """The logarithm of base 2.

        >>> x = mg.tensor([1.0, 8.0, 0.5])
        >>> x.log2()
        tensor([ 0.,  3., -1.])
        """
    def log2_(self) -> Self:
        """`log2`, written into the tensor, which is answered. See `log2`."""
    def log10(self) -> Tensor:
        """The logarithm of base 10.

        >>> x = mg.tensor([1.0, 1000.0])
        >>> x.log10()
        tensor([0., 3.])
        """
    def log10_(self) -> Self:
        """`log10`, written into the tensor, which is answered. See `log10`."""
    def tan(self) -> Tensor:
        """The tangent, of radians.

        >>> x = mg.tensor([0.0, mg.pi / 4])
        >>> x.tan()
        tensor([0., 1.])
        """
    def tan_(self) -> Self:
        """`tan`, written into the tensor, which is answered. See `tan`."""
    def asin(self) -> Tensor:
        """The angle of a sine, from −π/2 to π/2.

        >>> x = mg.tensor([0.0, 1.0, 2.0])
        >>> x.asin()
        tensor([0.0000, 1.5708,    nan])
        """
    def arcsin(self) -> Tensor:
        """The angle of a sine, from −π/2 to π/2.

        >>> x = mg.tensor([0.0, 1.0, 2.0])
        >>> x.arcsin()
        tensor([0.0000, 1.5708,    nan])
        """
    def asin_(self) -> Self:
        """`asin`, written into the tensor, which is answered. See `asin`."""
    def arcsin_(self) -> Self:
        """`asin`, written into the tensor, which is answered. See `asin`."""
    def acos(self) -> Tensor:
        """The angle of a cosine, from 0 to π.

        >>> x = mg.tensor([1.0, 0.0])
        >>> x.acos()
        tensor([0.0000, 1.5708])
        """
    def arccos(self) -> Tensor:
        """The angle of a cosine, from 0 to π.

        >>> x = mg.tensor([1.0, 0.0])
        >>> x.arccos()
        tensor([0.0000, 1.5708])
        """
    def acos_(self) -> Self:
        """`acos`, written into the tensor, which is answered. See `acos`."""
    def arccos_(self) -> Self:
        """`acos`, written into the tensor, which is answered. See `acos`."""
    def atan(self) -> Tensor:
        """The angle of a tangent, from −π/2 to π/2.

        >>> x = mg.tensor([0.0, 1.0, float("inf")])
        >>> x.atan()
        tensor([0.0000, 0.7854, 1.5708])
        """
    def arctan(self) -> Tensor:
        """The angle of a tangent, from −π/2 to π/2.

        >>> x = mg.tensor([0.0, 1.0, float("inf")])
        >>> x.arctan()
        tensor([0.0000, 0.7854, 1.5708])
        """
    def atan_(self) -> Self:
        """`atan`, written into the tensor, which is answered. See `atan`."""
    def arctan_(self) -> Self:
        """`atan`, written into the tensor, which is answered. See `atan`."""
    def atan2(self, other: _Operand) -> Tensor:
        """The angle of the point with the coordinates `b` and `a`, from −π to π. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> y = mg.tensor([1.0, -1.0])
        >>> y.atan2(mg.tensor([-1.0, 1.0]))
        tensor([ 2.3562, -0.7854])
        """
    def arctan2(self, other: _Operand) -> Tensor:
        """The angle of the point with the coordinates `b` and `a`, from −π to π. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> y = mg.tensor([1.0, -1.0])
        >>> y.arctan2(mg.tensor([-1.0, 1.0]))
        tensor([ 2.3562, -0.7854])
        """
    def atan2_(self, other: _Operand) -> Self:
        """`atan2`, written into the tensor, which is answered. See `atan2`.

        Arguments:
            other (tensor or number): the second operand
        """
    def arctan2_(self, other: _Operand) -> Self:
        """`atan2`, written into the tensor, which is answered. See `atan2`.

        Arguments:
            other (tensor or number): the second operand
        """
    def sinh(self) -> Tensor:
        """The hyperbolic sine.

        >>> x = mg.tensor([0.0, 1.0])
        >>> x.sinh()
        tensor([0.0000, 1.1752])
        """
    def sinh_(self) -> Self:
        """`sinh`, written into the tensor, which is answered. See `sinh`."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine.

        >>> x = mg.tensor([0.0, 1.0])
        >>> x.cosh()
        tensor([1.0000, 1.5431])
        """
    def cosh_(self) -> Self:
        """`cosh`, written into the tensor, which is answered. See `cosh`."""
    def asinh(self) -> Tensor:
        """The inverse of the hyperbolic sine.

        >>> x = mg.tensor([0.0, 1.0])
        >>> x.asinh()
        tensor([0.0000, 0.8814])
        """
    def arcsinh(self) -> Tensor:
        """The inverse of the hyperbolic sine.

        >>> x = mg.tensor([0.0, 1.0])
        >>> x.arcsinh()
        tensor([0.0000, 0.8814])
        """
    def asinh_(self) -> Self:
        """`asinh`, written into the tensor, which is answered. See `asinh`."""
    def arcsinh_(self) -> Self:
        """`asinh`, written into the tensor, which is answered. See `asinh`."""
    def acosh(self) -> Tensor:
        """The inverse of the hyperbolic cosine; NaN below 1.

        >>> x = mg.tensor([0.5, 1.0, 2.0])
        >>> x.acosh()
        tensor([   nan, 0.0000, 1.3170])
        """
    def arccosh(self) -> Tensor:
        """The inverse of the hyperbolic cosine; NaN below 1.

        >>> x = mg.tensor([0.5, 1.0, 2.0])
        >>> x.arccosh()
        tensor([   nan, 0.0000, 1.3170])
        """
    def acosh_(self) -> Self:
        """`acosh`, written into the tensor, which is answered. See `acosh`."""
    def arccosh_(self) -> Self:
        """`acosh`, written into the tensor, which is answered. See `acosh`."""
    def atanh(self) -> Tensor:
        """The inverse of the hyperbolic tangent; NaN beyond 1.

        >>> x = mg.tensor([0.0, 0.5, 1.0])
        >>> x.atanh()
        tensor([0.0000, 0.5493,    inf])
        """
    def arctanh(self) -> Tensor:
        """The inverse of the hyperbolic tangent; NaN beyond 1.

        >>> x = mg.tensor([0.0, 0.5, 1.0])
        >>> x.arctanh()
        tensor([0.0000, 0.5493,    inf])
        """
    def atanh_(self) -> Self:
        """`atanh`, written into the tensor, which is answered. See `atanh`."""
    def arctanh_(self) -> Self:
        """`atanh`, written into the tensor, which is answered. See `atanh`."""
    def erfc(self) -> Tensor:
        """`1 − erf a`, which keeps its digits where that is small.

        >>> x = mg.tensor([0.0, 5.0])
        >>> x.erfc()
        tensor([1.0000e+00, 1.5375e-12])
        >>> 1 - x.erf()
        tensor([1., 0.])
        """
    def erfc_(self) -> Self:
        """`erfc`, written into the tensor, which is answered. See `erfc`."""
    def erfinv(self) -> Tensor:
        """The inverse of the error function; NaN beyond 1.

        >>> x = mg.tensor([0.0, 0.5, 1.0])
        >>> x.erfinv()
        tensor([0.0000, 0.4769,    inf])
        """
    def erfinv_(self) -> Self:
        """`erfinv`, written into the tensor, which is answered. See `erfinv`."""
    def lgamma(self) -> Tensor:
        """The logarithm of the magnitude of the gamma function.

        >>> x = mg.tensor([1.0, 5.0])
        >>> x.lgamma()
        tensor([0.0000, 3.1781])
        """
    def lgamma_(self) -> Self:
        """`lgamma`, written into the tensor, which is answered. See `lgamma`."""
    def digamma(self) -> Tensor:
        """The derivative of `lgamma`.

        >>> x = mg.tensor([1.0, 2.0])
        >>> x.digamma()
        tensor([-0.5772,  0.4228])
        """
    def digamma_(self) -> Self:
        """`digamma`, written into the tensor, which is answered. See `digamma`."""
    def copysign(self, other: _Operand) -> Tensor:
        """`|a|` with the sign of `b`, zeros and NaN included. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1.0, -2.0])
        >>> x.copysign(mg.tensor([-0.0, 3.0]))
        tensor([-1.,  2.])
        """
    def copysign_(self, other: _Operand) -> Self:
        """`copysign`, written into the tensor, which is answered. See `copysign`.

        Arguments:
            other (tensor or number): the second operand
        """
    def floor(self) -> Tensor:
        """The largest whole number that is no larger. Integers stay.

        >>> x = mg.tensor([1.5, -1.5])
        >>> x.floor()
        tensor([ 1., -2.])
        """
    def floor_(self) -> Self:
        """`floor`, written into the tensor, which is answered. See `floor`."""
    def ceil(self) -> Tensor:
        """The smallest whole number that is no smaller. Integers stay.

        >>> x = mg.tensor([1.5, -1.5])
        >>> x.ceil()
        tensor([ 2., -1.])
        """
    def ceil_(self) -> Self:
        """`ceil`, written into the tensor, which is answered. See `ceil`."""
    def round(self, *, decimals: _int = 0) -> Tensor:
        """The nearest whole number, of two the even one. Integers stay.

        Arguments:
            decimals (int, default 0): how many digits behind the point are kept, or below 0 how many before it become 0

        >>> x = mg.tensor([0.5, 1.5, 2.345])
        >>> x.round()
        tensor([0., 2., 2.])
        >>> x.round(decimals=1)
        tensor([0.5000, 1.5000, 2.3000])
        """
    def round_(self, *, decimals: _int = 0) -> Self:
        """`round`, written into the tensor, which is answered. See `round`.

        Arguments:
            decimals (int, default 0): how many digits behind the point are kept, or below 0 how many before it become 0
        """
    def trunc(self) -> Tensor:
        """The whole number next towards zero. Integers stay.

        >>> x = mg.tensor([1.5, -1.5])
        >>> x.trunc()
        tensor([ 1., -1.])
        """
    def fix(self) -> Tensor:
        """The whole number next towards zero. Integers stay.

        >>> x = mg.tensor([1.5, -1.5])
        >>> x.fix()
        tensor([ 1., -1.])
        """
    def trunc_(self) -> Self:
        """`trunc`, written into the tensor, which is answered. See `trunc`."""
    def fix_(self) -> Self:
        """`trunc`, written into the tensor, which is answered. See `trunc`."""
    def fmod(self, other: _Operand) -> Tensor:
        """The remainder of `a / b` with the sign of `a`, exact: C's `fmod`. Of integers an integer. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([-7.0, 7.0])
        >>> x.fmod(3)
        tensor([-1.,  1.])
        """
    def fmod_(self, other: _Operand) -> Self:
        """`fmod`, written into the tensor, which is answered. See `fmod`.

        Arguments:
            other (tensor or number): the second operand
        """
    def bitwise_and(self, other: _Operand) -> Tensor:
        """The bits that are set in both integers; of truth values, `logical_and`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([12, 10])
        >>> x.bitwise_and(6)
        tensor([4, 2])
        """
    def bitwise_and_(self, other: _Operand) -> Self:
        """`bitwise_and`, written into the tensor, which is answered. See `bitwise_and`.

        Arguments:
            other (tensor or number): the second operand
        """
    def bitwise_or(self, other: _Operand) -> Tensor:
        """The bits that are set in either integer; of truth values, `logical_or`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([12, 10])
        >>> x.bitwise_or(6)
        tensor([14, 14])
        """
    def bitwise_or_(self, other: _Operand) -> Self:
        """`bitwise_or`, written into the tensor, which is answered. See `bitwise_or`.

        Arguments:
            other (tensor or number): the second operand
        """
    def bitwise_xor(self, other: _Operand) -> Tensor:
        """The bits that are set in one of two integers; of truth values, `logical_xor`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([12, 10])
        >>> x.bitwise_xor(6)
        tensor([10, 12])
        """
    def bitwise_xor_(self, other: _Operand) -> Self:
        """`bitwise_xor`, written into the tensor, which is answered. See `bitwise_xor`.

        Arguments:
            other (tensor or number): the second operand
        """
    def bitwise_left_shift(self, other: _Operand) -> Tensor:
        """The bits of an integer moved up by `b`; 0 where `b` is negative or not smaller than the number of bits. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1, 3])
        >>> x.bitwise_left_shift(4)
        tensor([16, 48])
        """
    def bitwise_left_shift_(self, other: _Operand) -> Self:
        """`bitwise_left_shift`, written into the tensor, which is answered. See `bitwise_left_shift`.

        Arguments:
            other (tensor or number): the second operand
        """
    def bitwise_right_shift(self, other: _Operand) -> Tensor:
        """The bits of an integer moved down by `b`, its sign kept; the sign alone where `b` is negative or not smaller than
         the number of bits. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([16, -16])
        >>> x.bitwise_right_shift(2)
        tensor([ 4, -4])
        """
    def bitwise_right_shift_(self, other: _Operand) -> Self:
        """`bitwise_right_shift`, written into the tensor, which is answered. See `bitwise_right_shift`.

        Arguments:
            other (tensor or number): the second operand
        """
    def lt(self, other: _Operand) -> Tensor:
        """`a < b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1, 2, 3])
        >>> x.lt(2)
        tensor([ True, False, False])
        """
    def less(self, other: _Operand) -> Tensor:
        """`a < b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1, 2, 3])
        >>> x.less(2)
        tensor([ True, False, False])
        """
    def lt_(self, other: _Operand) -> Self:
        """`lt`, written into the tensor, which is answered. See `lt`.

        Arguments:
            other (tensor or number): the second operand
        """
    def less_(self, other: _Operand) -> Self:
        """`lt`, written into the tensor, which is answered. See `lt`.

        Arguments:
            other (tensor or number): the second operand
        """
    def le(self, other: _Operand) -> Tensor:
        """`a ≤ b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1, 2, 3])
        >>> x.le(2)
        tensor([ True,  True, False])
        """
    def less_equal(self, other: _Operand) -> Tensor:
        """`a ≤ b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1, 2, 3])
        >>> x.less_equal(2)
        tensor([ True,  True, False])
        """
    def le_(self, other: _Operand) -> Self:
        """`le`, written into the tensor, which is answered. See `le`.

        Arguments:
            other (tensor or number): the second operand
        """
    def less_equal_(self, other: _Operand) -> Self:
        """`le`, written into the tensor, which is answered. See `le`.

        Arguments:
            other (tensor or number): the second operand
        """
    def eq(self, other: _Operand) -> Tensor:
        """`a = b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1.0, 2.0, float("nan")])
        >>> x.eq(x)
        tensor([ True,  True, False])
        """
    def eq_(self, other: _Operand) -> Self:
        """`eq`, written into the tensor, which is answered. See `eq`.

        Arguments:
            other (tensor or number): the second operand
        """
    def ne(self, other: _Operand) -> Tensor:
        """`a ≠ b`; true when either is NaN. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1.0, 2.0, float("nan")])
        >>> x.ne(x)
        tensor([False, False,  True])
        """
    def not_equal(self, other: _Operand) -> Tensor:
        """`a ≠ b`; true when either is NaN. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([1.0, 2.0, float("nan")])
        >>> x.not_equal(x)
        tensor([False, False,  True])
        """
    def ne_(self, other: _Operand) -> Self:
        """`ne`, written into the tensor, which is answered. See `ne`.

        Arguments:
            other (tensor or number): the second operand
        """
    def not_equal_(self, other: _Operand) -> Self:
        """`ne`, written into the tensor, which is answered. See `ne`.

        Arguments:
            other (tensor or number): the second operand
        """
    def logical_and(self, other: _Operand) -> Tensor:
        """`a` and `b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([0, 1, 2])
        >>> x.logical_and(mg.tensor([True, True, False]))
        tensor([False,  True, False])
        """
    def logical_and_(self, other: _Operand) -> Self:
        """`logical_and`, written into the tensor, which is answered. See `logical_and`.

        Arguments:
            other (tensor or number): the second operand
        """
    def logical_or(self, other: _Operand) -> Tensor:
        """`a` or `b`. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([0, 1, 0])
        >>> x.logical_or(mg.tensor([True, True, False]))
        tensor([ True,  True, False])
        """
    def logical_or_(self, other: _Operand) -> Self:
        """`logical_or`, written into the tensor, which is answered. See `logical_or`.

        Arguments:
            other (tensor or number): the second operand
        """
    def logical_xor(self, other: _Operand) -> Tensor:
        """`a` or `b`, not both. Here `a` is the tensor, and `b` is `other`.

        Arguments:
            other (tensor or number): the second operand

        >>> x = mg.tensor([0, 1, 0])
        >>> x.logical_xor(mg.tensor([True, True, False]))
        tensor([ True, False, False])
        """
    def logical_xor_(self, other: _Operand) -> Self:
        """`logical_xor`, written into the tensor, which is answered. See `logical_xor`.

        Arguments:
            other (tensor or number): the second operand
        """
    def logical_not(self) -> Tensor:
        """Not `a`.

        >>> x = mg.tensor([0, 1, 2])
        >>> x.logical_not()
        tensor([ True, False, False])
        """
    def logical_not_(self) -> Self:
        """`logical_not`, written into the tensor, which is answered. See `logical_not`."""
    def gelu(self, approximate: str = "none") -> Tensor:
        """Gaussian error linear unit, `x Φ(x)` (Hendrycks and Gimpel, 2016): by the error function or, with
        `approximate = "tanh"`, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`. Integers become the default float.

        Arguments:
            approximate (str, default "none"): "none" or "tanh"

        Errors: Another word than `"none"` and `"tanh"`.

        >>> x = mg.tensor([-1.0, 0.0, 1.0])
        >>> x.gelu()
        tensor([-0.1587,  0.0000,  0.8413])
        >>> x.gelu(approximate="tanh")
        tensor([-0.1588,  0.0000,  0.8412])
        """
    def silu(self) -> Tensor:
        """Sigmoid linear unit, `x σ(x)`. Integers become the default float.

        >>> x = mg.tensor([-1.0, 0.0, 1.0])
        >>> x.silu()
        tensor([-0.2689,  0.0000,  0.7311])
        """
    def silu_(self) -> Self:
        """`silu`, written into the tensor, which is answered. See `silu`."""
    def leaky_relu(self, negative_slope: _float = 0.01) -> Tensor:
        """`x`, or `negative_slope · x` where `x` is not positive. Integers become the default float.

        Arguments:
            negative_slope (float, default 0.01)

        >>> x = mg.tensor([-1.0, 0.0, 2.0])
        >>> x.leaky_relu(0.2)
        tensor([-0.2000,  0.0000,  2.0000])
        """
    def leaky_relu_(self, negative_slope: _float = 0.01) -> Self:
        """`leaky_relu`, written into the tensor, which is answered. See `leaky_relu`.

        Arguments:
            negative_slope (float, default 0.01)
        """
    def celu_(self, alpha: _float = 1.0) -> Self:
        """`celu`, written into the tensor, which is answered. See `celu`.

        Arguments:
            alpha (float, default 1.0)
        """
    def elu_(self, alpha: _float = 1.0) -> Self:
        """`elu`, written into the tensor, which is answered. See `nn.functional.elu`.

        Arguments:
            alpha (float, default 1.0)
        """
    def selu_(self) -> Self:
        """`selu`, written into the tensor, which is answered. See `selu`."""
    def softplus(self, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
        """`log(1 + exp(beta · x)) / beta`, without overflow, and `x` where `beta · x` is above `threshold`. From a threshold of 20
        on that changes nothing that float32 could tell, and what is more exact is computed. Integers become the default float.

        Arguments:
            beta (float, default 1.0)
            threshold (float, default 20.0)

        >>> x = mg.tensor([-1.0, 0.0, 100.0])
        >>> x.softplus()
        tensor([  0.3133,   0.6931, 100.0000])
        """
    def softplus_(self, beta: _float = 1.0, threshold: _float = 20.0) -> Self:
        """`softplus`, written into the tensor, which is answered. See `softplus`.

        Arguments:
            beta (float, default 1.0)
            threshold (float, default 20.0)
        """
    def hardtanh_(self, min_val: _float = -1.0, max_val: _float = 1.0) -> Self:
        """`hardtanh`, written into the tensor, which is answered. See `nn.functional.hardtanh`.

        Arguments:
            min_val (float, default -1.0)
            max_val (float, default 1.0)
        """
    def relu6_(self) -> Self:
        """`relu6`, written into the tensor, which is answered. See `nn.functional.relu6`."""
    def prelu(self, weight: Tensor) -> Tensor:
        """`x`, or `weight · x` where `x` is not positive; `weight` is one number, or one for each position along axis 1 (He et al.,
        2015). Integers become the default float.

        Arguments:
            weight (tensor)

        Errors: A weight of more than one axis, or of another size than axis 1; unlike dtypes.

        >>> x = mg.tensor([[-1.0, -1.0], [2.0, 2.0]])
        >>> x.prelu(mg.tensor([0.25, 0.5]))
        tensor([[-0.2500, -0.5000],
                [ 2.0000,  2.0000]])
        """
    def mish_(self) -> Self:
        """`mish`, written into the tensor, which is answered. See `nn.functional.mish`."""
    def hardswish_(self) -> Self:
        """`hardswish`, written into the tensor, which is answered. See `nn.functional.hardswish`."""
    def hardsigmoid_(self) -> Self:
        """`hardsigmoid`, written into the tensor, which is answered. See `nn.functional.hardsigmoid`."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """`x`, or 0 where `|x|` is not above `lambd`; NaN stays. Integers become the default float.

        Arguments:
            lambd (float, default 0.5)

        >>> x = mg.tensor([-1.0, 0.3, 0.7])
        >>> x.hardshrink()
        tensor([-1.0000,  0.0000,  0.7000])
        """
    def threshold_(self, threshold: _float, value: _float) -> Self:
        """`threshold`, written into the tensor, which is answered. See `threshold`.

        Arguments:
            threshold (float)
            value (float)
        """
    def softmax(self, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
        """`eˣ / Σ eˣ` along an axis, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is taken, or axis 0 of
        tensors of no, one or three axes.

        Arguments:
            dim (int, or None): along which axis
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range, a `dtype` of integers.

        >>> x = mg.tensor([[1.0, 2.0, 3.0]])
        >>> x.softmax(dim=1)
        tensor([[0.0900, 0.2447, 0.6652]])
        """
    def log_softmax(self, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
        """`log softmax` along an axis, without overflow, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is
        taken, or axis 0 of tensors of no, one or three axes.

        Arguments:
            dim (int, or None): along which axis
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range, a `dtype` of integers.

        >>> x = mg.tensor([0.0, 1000.0])
        >>> x.log_softmax(dim=0)
        tensor([-1000.,     0.])
        """
    def rrelu_(self, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Generator | None = None) -> Self:
        """`rrelu`, written into the tensor, which is answered. See `rrelu`.

        Arguments:
            lower (float, default 0.125)
            upper (float, default 0.3333333333333333)
            training (bool, default False)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one
        """
    @overload
    def new_zeros(self, size: _Sizes, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """Zeros of a shape, in the tensor's dtype and on its device unless others are named.

        Arguments:
            size (int or ints): the shape, as one list or as its numbers
            dtype (dtype, or None): the dtype of the result
            device (device, or None): where the result is
            requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

        Errors: More than 16 axes, sizes that overflow; a device that is not there.

        >>> x = mg.tensor([1, 2])
        >>> x.new_zeros(2, 2)
        tensor([[0, 0],
                [0, 0]])
        """
    @overload
    def new_zeros(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """Zeros of a shape, in the tensor's dtype and on its device unless others are named.

        Arguments:
            size (int or ints): the shape, as one list or as its numbers
            dtype (dtype, or None): the dtype of the result
            device (device, or None): where the result is
            requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

        Errors: More than 16 axes, sizes that overflow; a device that is not there.

        >>> x = mg.tensor([1, 2])
        >>> x.new_zeros(2, 2)
        tensor([[0, 0],
                [0, 0]])
        """
    @overload
    def new_ones(self, size: _Sizes, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """Ones of a shape, in the tensor's dtype and on its device unless others are named.

        Arguments:
            size (int or ints): the shape, as one list or as its numbers
            dtype (dtype, or None): the dtype of the result
            device (device, or None): where the result is
            requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

        Errors: More than 16 axes, sizes that overflow; a device that is not there.

        >>> x = mg.tensor([1.0, 2.0], dtype=mg.float64)
        >>> x.new_ones(2)
        tensor([1., 1.], dtype=micrograd_rs.float64)
        """
    @overload
    def new_ones(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """Ones of a shape, in the tensor's dtype and on its device unless others are named.

        Arguments:
            size (int or ints): the shape, as one list or as its numbers
            dtype (dtype, or None): the dtype of the result
            device (device, or None): where the result is
            requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

        Errors: More than 16 axes, sizes that overflow; a device that is not there.

        >>> x = mg.tensor([1.0, 2.0], dtype=mg.float64)
        >>> x.new_ones(2)
        tensor([1., 1.], dtype=micrograd_rs.float64)
        """
    @overload
    def new_empty(self, size: _Sizes, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """As `new_zeros`: there is no memory that nobody wrote.

        Arguments:
            size (int or ints): the shape, as one list or as its numbers
            dtype (dtype, or None): the dtype of the result
            device (device, or None): where the result is
            requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

        Errors: More than 16 axes, sizes that overflow; a device that is not there.

        >>> x = mg.tensor([1, 2], dtype=mg.int16)
        >>> x.new_empty(2, 3).dtype
        micrograd_rs.int16
        """
    @overload
    def new_empty(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """As `new_zeros`: there is no memory that nobody wrote.

        Arguments:
            size (int or ints): the shape, as one list or as its numbers
            dtype (dtype, or None): the dtype of the result
            device (device, or None): where the result is
            requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

        Errors: More than 16 axes, sizes that overflow; a device that is not there.

        >>> x = mg.tensor([1, 2], dtype=mg.int16)
        >>> x.new_empty(2, 3).dtype
        micrograd_rs.int16
        """
    def new_full(self, size: _Sizes, fill_value: _Operand, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
        """The same value everywhere, in the tensor's dtype and on its device unless others are named.

        Arguments:
            size (int or ints): the shape
            fill_value (tensor or number): the value
            dtype (dtype, or None): the dtype of the result
            device (device, or None): where the result is
            requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

        Errors: More than 16 axes, sizes that overflow; a device that is not there; a value with axes.

        >>> x = mg.tensor([1.0, 2.0])
        >>> x.new_full((2, 2), 7)
        tensor([[7., 7.],
                [7., 7.]])
        """
    def bernoulli(self, p: _float | None = None, *, generator: Generator | None = None) -> Tensor:
        """1 with the probabilities that a tensor holds (or with `p` everywhere), else 0, in its dtype. Gradients of the probabilities are zeros.

        Arguments:
            p (float, or None)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: Probabilities that are not floats; ones outside [0, 1]: what is not known yet is found when the draws are computed.

        >>> x = mg.tensor([0.0, 1.0, 1.0])
        >>> x.bernoulli()
        tensor([0., 1., 1.])
        """
    def bernoulli_(self, p: _Operand = 0.5, *, generator: Generator | None = None) -> Self:
        """1 with probability `p`, a number or a tensor that broadcasts, else 0, in the tensor's shape and dtype.

        Arguments:
            p (tensor or number, default 0.5)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: A number outside [0, 1]; a tensor that is not of floats or does not broadcast to the shape.

        >>> mg.zeros(3).bernoulli_(1.0)
        tensor([1., 1., 1.])
        """
    def uniform_(self, from_: _float = 0.0, to: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Uniform random numbers from `from` up to `to`, in the tensor's shape and dtype.

        Arguments:
            from_ (float, default 0.0): the lower bound, which may be named `from` too
            to (float, default 1.0)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: A tensor that is not of floats; bounds in the wrong order, or that the dtype does not hold.

        >>> x = mg.zeros(100).uniform_(2, 3)
        >>> bool(((2 <= x) & (x < 3)).all())
        True
        """
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Normal random numbers of a mean and a standard deviation, in the tensor's shape and dtype.

        Arguments:
            mean (float, default 0.0)
            std (float, default 1.0): the deviation
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: A tensor that is not of floats; a negative deviation.

        >>> mg.zeros(2).normal_(5.0, 0.0)
        tensor([5., 5.])
        """
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None) -> Self:
        """Random numbers whose logarithms are normal, of a mean and a standard deviation, in the tensor's shape and dtype.

        Arguments:
            mean (float, default 1.0)
            std (float, default 2.0): the deviation
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: A tensor that is not of floats; a deviation that is not positive.

        >>> bool((mg.zeros(100).log_normal_() > 0).all())
        True
        """
    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Exponential random numbers of the rate `lambd`, in the tensor's shape and dtype.

        Arguments:
            lambd (float, default 1.0)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: A tensor that is not of floats; a rate that is not positive.

        >>> bool((mg.zeros(100).exponential_(lambd=2.0) >= 0).all())
        True
        """
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Random numbers of Cauchy's distribution about `median`, in the tensor's shape and dtype.

        Arguments:
            median (float, default 0.0)
            sigma (float, default 1.0)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: A tensor that is not of floats; a `sigma` that is not positive.

        >>> mg.zeros(3).cauchy_().shape
        (3,)
        """
    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Self:
        """How many trials of probability `p` it takes to the first success, random numbers in the tensor's shape and dtype.

        Arguments:
            p (float)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: Truth values; a `p` outside (0, 1).

        >>> x = mg.zeros(100, dtype=mg.int64).geometric_(0.5)
        >>> x.min() >= 1
        tensor(True)
        """
    def random_(self, from_: _int | None = None, to: _int | None = None, *, generator: Generator | None = None) -> Self:
        """Random integers from `from` (0, if it is not given) up to `to`, which is left out, in the tensor's shape and dtype. Without `to`, up to the
        largest of the dtype, of floats up to where they hold all; with the least of int64 as `from`, all of 64 bits.

        Arguments:
            from_ (int, or None): the lower bound, which may be named `from` too
            to (int, or None)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: Bounds with no integer between them, or beyond the dtype's.

        >>> x = mg.zeros(100, dtype=mg.int64).random_(2, 5)
        >>> x.unique()
        tensor([2, 3, 4])
        """
    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
        """Positions (int64) drawn with the weights along the last axis, which need not add up to 1: `num_samples` of each row. Without
        replacement, the first of an exponential race (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006); with it,
        where so many numbers fall among the running sums of the weights. A single one is the first of a race.

        Arguments:
            num_samples (int)
            replacement (bool, default False)
            generator (Generator, or None): where random numbers are drawn from, by itself the default one

        Errors: Weights that are not floats, other than one or two axes; no samples, or without replacement more than there are weights. Weights
        that are negative or not finite, rows of zeros: what is not known yet is found when the samples are computed.

        >>> weights = mg.tensor([[0.0, 0.0, 1.0], [3.0, 0.0, 0.0]])
        >>> weights.multinomial(1)
        tensor([[2],
                [0]])
        """
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The diagonal of two axes (above the main one by `offset`), which go; it becomes the last. A view.

        Arguments:
            offset (int, default 0)
            dim1 (int, default 0): the first of the axes
            dim2 (int, default 1): the second one

        Errors: An axis out of range, or twice the same.

        >>> x = mg.arange(9).reshape(3, 3)
        >>> x.diagonal()
        tensor([0, 4, 8])
        >>> x.diagonal(offset=1)
        tensor([1, 5])
        """
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """The last axis as the diagonal of two new ones (above the main one by `offset`), among zeros.

        Arguments:
            offset (int, default 0)
            dim1 (int, default -2): where the rows are in the result
            dim2 (int, default -1): where the columns are

        Errors: No axes; an axis out of range, or twice the same.

        >>> x = mg.tensor([1, 2])
        >>> x.diag_embed()
        tensor([[1, 0],
                [0, 2]])
        """
    def diag(self, diagonal: _int = 0) -> Tensor:
        """Of a vector, the matrix with it as a diagonal; of a matrix, a copy of that diagonal.

        Arguments:
            diagonal (int, default 0)

        Errors: Other than one or two axes.

        >>> mg.tensor([1, 2]).diag()
        tensor([[1, 0],
                [0, 2]])
        >>> mg.tensor([[1, 2], [3, 4]]).diag()
        tensor([1, 4])
        """
    def diagflat(self, offset: _int = 0) -> Tensor:
        """All elements as a diagonal of a matrix.

        Arguments:
            offset (int, default 0): how far above the main diagonal, or below 0 how far below it

        Errors: More elements than a matrix can have rows.

        >>> x = mg.tensor([[1], [2]])
        >>> x.diagflat(1)
        tensor([[0, 1, 0],
                [0, 0, 2],
                [0, 0, 0]])
        """
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and below it;
        0 elsewhere.

        Arguments:
            diagonal (int, default 0)

        Errors: Fewer than two axes.

        >>> x = mg.ones(3, 3)
        >>> x.tril()
        tensor([[1., 0., 0.],
                [1., 1., 0.],
                [1., 1., 1.]])
        """
    def tril_(self, diagonal: _int = 0) -> Self:
        """`tril`, written into the tensor, which is answered. See `tril`.

        Arguments:
            diagonal (int, default 0)
        """
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and above it;
        0 elsewhere.

        Arguments:
            diagonal (int, default 0)

        Errors: Fewer than two axes.

        >>> x = mg.ones(3, 3)
        >>> x.triu(diagonal=1)
        tensor([[0., 1., 1.],
                [0., 0., 1.],
                [0., 0., 0.]])
        """
    def triu_(self, diagonal: _int = 0) -> Self:
        """`triu`, written into the tensor, which is answered. See `triu`.

        Arguments:
            diagonal (int, default 0)
        """
    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """A copy with `src` in place of one position along an axis.

        Arguments:
            src (tensor)
            dim (int): along which axis
            index (int)

        Errors: An axis or index out of range; a `src` of another shape.

        >>> x = mg.zeros(2, 3)
        >>> x.select_scatter(mg.tensor([1.0, 2.0, 3.0]), 0, 1)
        tensor([[0., 0., 0.],
                [1., 2., 3.]])
        """
    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """A copy with `src` in place of positions along an axis; see `slice`.

        Arguments:
            src (tensor)
            dim (int, default 0): along which axis
            start (int, or None): the first position
            end (int, or None): before which position it ends
            step (int, default 1)

        Errors: An axis out of range, step 0; a `src` of another shape.

        >>> x = mg.zeros(4)
        >>> x.slice_scatter(mg.ones(2), start=1, end=3)
        tensor([0., 1., 1., 0.])
        """
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A copy with `src` in place of a diagonal; see `diagonal`.

        Arguments:
            src (tensor)
            offset (int, default 0): how far above the main diagonal, or below 0 how far below it
            dim1 (int, default 0): the first of the axes
            dim2 (int, default 1): the second one

        Errors: An axis out of range, or twice the same; a `src` of another shape.

        >>> x = mg.zeros(2, 2)
        >>> x.diagonal_scatter(mg.tensor([1.0, 2.0]))
        tensor([[1., 0.],
                [0., 2.]])
        """
    def dropout(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """In training, zeros with probability `p`, and the survivors scaled by 1/(1 − p) (Srivastava et al., 2014); else the tensor
        itself. Each element is multiplied with 0 or the scale: an infinity that is left out is NaN.

        Arguments:
            p (float, default 0.5)
            training (bool, default True)

        Errors: A probability outside [0, 1]; integers, where some are left out.

        >>> x = mg.ones(1000)
        >>> x.dropout(p=0.5).unique()
        tensor([0., 2.])
        >>> x.dropout(p=0.5, training=False) is x
        True
        """
    def dropout_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`dropout`, written into the tensor, which is answered. See `dropout`.

        Arguments:
            p (float, default 0.5)
            training (bool, default True)
        """
    def feature_dropout_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`feature_dropout`, written into the tensor, which is answered. See `feature_dropout`.

        Arguments:
            p (float, default 0.5): the probability
            training (bool, default True): whether anything is left out
        """
    def dropout1d_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`dropout1d`, written into the tensor, which is answered. See `nn.functional.dropout1d`.

        Arguments:
            p (float, default 0.5): the probability
            training (bool, default True): whether anything is left out
        """
    def dropout2d_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`dropout2d`, written into the tensor, which is answered. See `nn.functional.dropout2d`.

        Arguments:
            p (float, default 0.5): the probability
            training (bool, default True): whether anything is left out
        """
    def dropout3d_(self, p: _float = 0.5, training: _bool = True) -> Self:
        """`dropout3d`, written into the tensor, which is answered. See `nn.functional.dropout3d`.

        Arguments:
            p (float, default 0.5): the probability
            training (bool, default True): whether anything is left out
        """
    def alpha_dropout_(self, p: _float = 0.5, training: _bool = False) -> Self:
        """`alpha_dropout`, written into the tensor, which is answered. See `alpha_dropout`.

        Arguments:
            p (float, default 0.5)
            training (bool, default False)
        """
    def feature_alpha_dropout_(self, p: _float = 0.5, training: _bool = False) -> Self:
        """`feature_alpha_dropout`, written into the tensor, which is answered. See `feature_alpha_dropout`.

        Arguments:
            p (float, default 0.5): the probability
            training (bool, default False): whether anything is left out
        """
    def gt(self, other: _Operand) -> Tensor:
        """`self > other`.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1, 2, 3])
        >>> x.gt(2)
        tensor([False, False,  True])
        """
    def greater(self, other: _Operand) -> Tensor:
        """`self > other`.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1, 2, 3])
        >>> x.greater(2)
        tensor([False, False,  True])
        """
    def gt_(self, other: _Operand) -> Self:
        """`gt`, written into the tensor, which is answered. See `gt`.

        Arguments:
            other (tensor or number): the second operand
        """
    def greater_(self, other: _Operand) -> Self:
        """`gt`, written into the tensor, which is answered. See `gt`.

        Arguments:
            other (tensor or number): the second operand
        """
    def ge(self, other: _Operand) -> Tensor:
        """`self ≥ other`.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1, 2, 3])
        >>> x.ge(2)
        tensor([False,  True,  True])
        """
    def greater_equal(self, other: _Operand) -> Tensor:
        """`self ≥ other`.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1, 2, 3])
        >>> x.greater_equal(2)
        tensor([False,  True,  True])
        """
    def ge_(self, other: _Operand) -> Self:
        """`ge`, written into the tensor, which is answered. See `ge`.

        Arguments:
            other (tensor or number): the second operand
        """
    def greater_equal_(self, other: _Operand) -> Self:
        """`ge`, written into the tensor, which is answered. See `ge`.

        Arguments:
            other (tensor or number): the second operand
        """
    def remainder(self, other: _Operand) -> Tensor:
        """The remainder of `self / other` with the sign of `other`, as Python's `%`.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices, truth values. An integer divided by zero: what is not known yet is found when the
        value is computed.

        >>> x = mg.tensor([-7, 7])
        >>> x.remainder(3)
        tensor([2, 1])
        """
    def remainder_(self, other: _Operand) -> Self:
        """`remainder`, written into the tensor, which is answered. See `remainder`.

        Arguments:
            other (tensor or number): the second operand
        """
    def floor_divide(self, other: _Operand) -> Tensor:
        """`⌊self / other⌋`, as Python's `//`.

        Arguments:
            other (tensor or number): the second operand

        Errors: As `remainder`.

        >>> x = mg.tensor([-7, 7])
        >>> x.floor_divide(2)
        tensor([-4,  3])
        """
    def floor_divide_(self, other: _Operand) -> Self:
        """`floor_divide`, written into the tensor, which is answered. See `floor_divide`.

        Arguments:
            other (tensor or number): the second operand
        """
    def pow(self, exponent: _Operand) -> Tensor:
        """`self` to a power: a tensor or a number. The exponents 2, 3, 1, 0.5, −1 and 0 take shorter ways, as in PyTorch.
        Integers to the power of integers are integers.

        Arguments:
            exponent (tensor or number)

        Errors: Shapes that do not broadcast, unlike devices; a negative whole number as the exponent of an integer tensor (in a
        tensor of exponents it gives 0, but for the bases 1 and −1); truth values on both sides.

        >>> x = mg.tensor([1, 2, 3])
        >>> x.pow(2)
        tensor([1, 4, 9])
        >>> x.pow(mg.tensor([3, 2, 1]))
        tensor([1, 4, 3])
        """
    def pow_(self, exponent: _Operand) -> Self:
        """`pow`, written into the tensor, which is answered. See `pow`.

        Arguments:
            exponent (tensor or number)
        """
    def float_power(self, exponent: _Operand) -> Tensor:
        """`self` to a power, in float64.

        Arguments:
            exponent (tensor or number): the power

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([2, 3])
        >>> x.float_power(-1)
        tensor([0.5000, 0.3333], dtype=micrograd_rs.float64)
        """
    def float_power_(self, exponent: _Operand) -> Self:
        """`float_power`, written into the tensor, which is answered. See `float_power`.

        Arguments:
            exponent (tensor or number): the power
        """
    def clamp(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
        `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
        share it.

        Arguments:
            min (tensor or number, or None)
            max (tensor or number, or None)

        Errors: No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
        broadcast, unlike devices.

        >>> x = mg.tensor([-2.0, 0.5, 2.0])
        >>> x.clamp(min=-1, max=1)
        tensor([-1.0000,  0.5000,  1.0000])
        >>> x.clamp(min=mg.tensor([0.0, 1.0, 0.0]))
        tensor([0., 1., 2.])
        """
    def clip(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
        `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
        share it.

        Arguments:
            min (tensor or number, or None)
            max (tensor or number, or None)

        Errors: No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
        broadcast, unlike devices.

        >>> x = mg.tensor([-2.0, 0.5, 2.0])
        >>> x.clip(min=-1, max=1)
        tensor([-1.0000,  0.5000,  1.0000])
        >>> x.clip(min=mg.tensor([0.0, 1.0, 0.0]))
        tensor([0., 1., 2.])
        """
    def clamp_(self, min: _Operand | None = None, max: _Operand | None = None) -> Self:
        """`clamp`, written into the tensor, which is answered. See `clamp`.

        Arguments:
            min (tensor or number, or None)
            max (tensor or number, or None)
        """
    def clip_(self, min: _Operand | None = None, max: _Operand | None = None) -> Self:
        """`clamp`, written into the tensor, which is answered. See `clamp`.

        Arguments:
            min (tensor or number, or None)
            max (tensor or number, or None)
        """
    def clamp_min(self, min: _Operand) -> Tensor:
        """Values no smaller than `min`, as `clamp`.

        Arguments:
            min (tensor or number)

        Errors: As `clamp`.

        >>> x = mg.tensor([-2.0, 0.5])
        >>> x.clamp_min(0)
        tensor([0.0000, 0.5000])
        """
    def clamp_min_(self, min: _Operand) -> Self:
        """`clamp_min`, written into the tensor, which is answered. See `clamp_min`.

        Arguments:
            min (tensor or number)
        """
    def clamp_max(self, max: _Operand) -> Tensor:
        """Values no larger than `max`, as `clamp`.

        Arguments:
            max (tensor or number)

        Errors: As `clamp`.

        >>> x = mg.tensor([-2.0, 0.5])
        >>> x.clamp_max(0)
        tensor([-2.,  0.])
        """
    def clamp_max_(self, max: _Operand) -> Self:
        """`clamp_max`, written into the tensor, which is answered. See `clamp_max`.

        Arguments:
            max (tensor or number)
        """
    def frac(self) -> Tensor:
        """What is left of the number without its whole part; its sign stays.

        Errors: Integers and truth values.

        >>> x = mg.tensor([1.25, -1.25])
        >>> x.frac()
        tensor([ 0.2500, -0.2500])
        """
    def frac_(self) -> Self:
        """`frac`, written into the tensor, which is answered. See `frac`."""
    def bitwise_not(self) -> Tensor:
        """The bits of integers turned over; of truth values, `logical_not`.

        Errors: Floats.

        >>> x = mg.tensor([0, 5])
        >>> x.bitwise_not()
        tensor([-1, -6])
        """
    def bitwise_not_(self) -> Self:
        """`bitwise_not`, written into the tensor, which is answered. See `bitwise_not`."""
    def isnan(self) -> Tensor:
        """Whether elements are no numbers.

        >>> x = mg.tensor([1.0, float("nan"), float("inf")])
        >>> x.isnan()
        tensor([False,  True, False])
        """
    def isinf(self) -> Tensor:
        """Whether elements are infinite.

        >>> x = mg.tensor([1.0, float("nan"), -float("inf")])
        >>> x.isinf()
        tensor([False, False,  True])
        """
    def isfinite(self) -> Tensor:
        """Whether elements are neither infinite nor no numbers.

        >>> x = mg.tensor([1.0, float("nan"), float("inf")])
        >>> x.isfinite()
        tensor([ True, False, False])
        """
    def isposinf(self) -> Tensor:
        """Whether elements are +∞.

        >>> x = mg.tensor([float("inf"), -float("inf")])
        >>> x.isposinf()
        tensor([ True, False])
        """
    def isneginf(self) -> Tensor:
        """Whether elements are −∞.

        >>> x = mg.tensor([float("inf"), -float("inf")])
        >>> x.isneginf()
        tensor([False,  True])
        """
    def isreal(self) -> Tensor:
        """True for every element: all numbers here are real.

        >>> x = mg.tensor([1.0, float("nan")])
        >>> x.isreal()
        tensor([True, True])
        """
    def signbit(self) -> Tensor:
        """Whether the sign is minus, also that of a zero and of NaN.

        >>> x = mg.tensor([0.0, -0.0, -1.0])
        >>> x.signbit()
        tensor([False,  True,  True])
        """
    def angle(self) -> Tensor:
        """The angle of a number to the positive axis: 0, or π of what is negative; NaN of NaN. Integers become the default float.

        >>> x = mg.tensor([1.0, -1.0])
        >>> x.angle()
        tensor([0.0000, 3.1416])
        """
    def get_device(self) -> _int:
        """The number of its CUDA device; −1 on the host.

        >>> x = mg.zeros(2, device="cpu")
        >>> x.get_device()
        -1
        """
    def conj(self) -> Tensor:
        """The tensor itself: the conjugate of a real number is that number.

        >>> x = mg.tensor([1.0])
        >>> x.conj().data_ptr() == x.data_ptr()
        True
        """
    def conj_physical(self) -> Tensor:
        """The tensor itself: the conjugate of a real number is that number.

        >>> x = mg.tensor([1.0])
        >>> x.conj_physical().data_ptr() == x.data_ptr()
        True
        """
    def conj_physical_(self) -> Self:
        """`conj_physical`, written into the tensor, which is answered. See `conj_physical`."""
    def resolve_conj(self) -> Tensor:
        """The tensor itself: nothing of it is left to be conjugated.

        >>> x = mg.tensor([1.0])
        >>> x.resolve_conj().data_ptr() == x.data_ptr()
        True
        """
    def resolve_neg(self) -> Tensor:
        """The tensor itself: nothing of it is left to be negated.

        >>> x = mg.tensor([1.0])
        >>> x.resolve_neg().data_ptr() == x.data_ptr()
        True
        """
    def positive(self) -> Tensor:
        """The tensor itself.

        Errors: Truth values.

        >>> x = mg.tensor([1.0])
        >>> x.positive().data_ptr() == x.data_ptr()
        True
        """
    def reciprocal(self) -> Tensor:
        """`1 / x`. Integers become the default float.

        >>> x = mg.tensor([2.0, 0.0])
        >>> x.reciprocal()
        tensor([0.5000,    inf])
        """
    def reciprocal_(self) -> Self:
        """`reciprocal`, written into the tensor, which is answered. See `reciprocal`."""
    def rsqrt(self) -> Tensor:
        """`1 / √x`. Integers become the default float.

        >>> x = mg.tensor([4.0, 0.0])
        >>> x.rsqrt()
        tensor([0.5000,    inf])
        """
    def rsqrt_(self) -> Self:
        """`rsqrt`, written into the tensor, which is answered. See `rsqrt`."""
    def sinc(self) -> Tensor:
        """`sin(πx) / πx`, and 1 at 0. Integers become the default float.

        >>> x = mg.tensor([0.0, 0.5, 1.5])
        >>> x.sinc()
        tensor([ 1.0000,  0.6366, -0.2122])
        """
    def sinc_(self) -> Self:
        """`sinc`, written into the tensor, which is answered. See `sinc`."""
    def deg2rad(self) -> Tensor:
        """Degrees as radians. Integers become the default float.

        >>> x = mg.tensor([180.0, 90.0])
        >>> x.deg2rad()
        tensor([3.1416, 1.5708])
        """
    def deg2rad_(self) -> Self:
        """`deg2rad`, written into the tensor, which is answered. See `deg2rad`."""
    def rad2deg(self) -> Tensor:
        """Radians as degrees. Integers become the default float.

        >>> x = mg.tensor([mg.pi, 1.0])
        >>> x.rad2deg()
        tensor([180.0000,  57.2958])
        """
    def rad2deg_(self) -> Self:
        """`rad2deg`, written into the tensor, which is answered. See `rad2deg`."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """`log(x / (1 − x))`, after `x` was brought to between `eps` and `1 − eps`, if that is given. Integers become the default float.

        Arguments:
            eps (float, or None)

        >>> x = mg.tensor([0.5, 0.0])
        >>> x.logit()
        tensor([0., -inf])
        >>> x.logit(eps=1e-3)
        tensor([ 0.0000, -6.9068])
        """
    def logit_(self, eps: _float | None = None) -> Self:
        """`logit`, written into the tensor, which is answered. See `logit`.

        Arguments:
            eps (float, or None)
        """
    def nan_to_num(self, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """NaN and infinities replaced by numbers: `nan`, and the largest and the least number of the dtype unless others are
        given. Integers stay.

        Arguments:
            nan (float, default 0.0)
            posinf (float, or None): what stands for ∞
            neginf (float, or None): what stands for −∞

        >>> x = mg.tensor([float("nan"), float("inf"), 1.0])
        >>> x.nan_to_num(nan=0.0, posinf=99.0)
        tensor([ 0., 99.,  1.])
        """
    def nan_to_num_(self, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Self:
        """`nan_to_num`, written into the tensor, which is answered. See `nan_to_num`.

        Arguments:
            nan (float, default 0.0)
            posinf (float, or None): what stands for ∞
            neginf (float, or None): what stands for −∞
        """
    def lerp(self, end: Tensor, weight: _Operand) -> Tensor:
        """`self + weight · (end − self)`, from the nearer end; the weight is a number or a tensor.

        Arguments:
            end (tensor)
            weight (tensor or number)

        Errors: Integers; shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([0.0, 10.0])
        >>> x.lerp(mg.tensor([10.0, 20.0]), 0.25)
        tensor([ 2.5000, 12.5000])
        """
    def lerp_(self, end: Tensor, weight: _Operand) -> Self:
        """`lerp`, written into the tensor, which is answered. See `lerp`.

        Arguments:
            end (tensor)
            weight (tensor or number)
        """
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
        """`self + value · tensor1 · tensor2`.

        Arguments:
            tensor1 (tensor)
            tensor2 (tensor)
            value (tensor or number, default 1)

        Errors: A `value` that is a float where the tensors are of integers; shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1.0, 2.0])
        >>> x.addcmul(mg.tensor([3.0, 4.0]), mg.tensor([10.0, 10.0]), value=0.5)
        tensor([16., 22.])
        """
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Self:
        """`addcmul`, written into the tensor, which is answered. See `addcmul`.

        Arguments:
            tensor1 (tensor)
            tensor2 (tensor)
            value (tensor or number, default 1)
        """
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
        """`self + value · tensor1 / tensor2`.

        Arguments:
            tensor1 (tensor)
            tensor2 (tensor)
            value (tensor or number, default 1)

        Errors: Integers; shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1.0, 2.0])
        >>> x.addcdiv(mg.tensor([3.0, 4.0]), mg.tensor([2.0, 2.0]), value=2)
        tensor([4., 6.])
        """
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Self:
        """`addcdiv`, written into the tensor, which is answered. See `addcdiv`.

        Arguments:
            tensor1 (tensor)
            tensor2 (tensor)
            value (tensor or number, default 1)
        """
    def xlogy(self, other: _Operand) -> Tensor:
        """`self · log other`, and 0 where `self` is 0 and `other` a number. Integers become the default float.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([0.0, 2.0])
        >>> x.xlogy(mg.tensor([0.0, 1.0]))
        tensor([0., 0.])
        """
    def xlogy_(self, other: _Operand) -> Self:
        """`xlogy`, written into the tensor, which is answered. See `xlogy`.

        Arguments:
            other (tensor or number): the second operand
        """
    def logaddexp(self, other: _Operand) -> Tensor:
        """`ln(exp(x) + exp(y))` without overflow. Integers become the default float.

        Arguments:
            other (tensor or number): `y`

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1000.0, 0.0])
        >>> x.logaddexp(mg.tensor([1000.0, 0.0]))
        tensor([1.0007e+03, 6.9315e-01])
        """
    def logaddexp2(self, other: _Operand) -> Tensor:
        """`log₂(2ˣ + 2ʸ)` without overflow. Integers become the default float.

        Arguments:
            other (tensor or number): `y`

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([3.0, 1000.0])
        >>> x.logaddexp2(mg.tensor([3.0, 1000.0]))
        tensor([   4., 1001.])
        """
    def heaviside(self, values: Tensor) -> Tensor:
        """0 where `self` is negative or NaN, `values` where it is 0, 1 where it is positive.

        Arguments:
            values (tensor)

        Errors: Shapes that do not broadcast, unlike devices or dtypes.

        >>> x = mg.tensor([-1.0, 0.0, 1.0])
        >>> x.heaviside(mg.tensor([0.5]))
        tensor([0.0000, 0.5000, 1.0000])
        """
    def heaviside_(self, values: Tensor) -> Self:
        """`heaviside`, written into the tensor, which is answered. See `heaviside`.

        Arguments:
            values (tensor)
        """
    def fmax(self, other: _Operand) -> Tensor:
        """The larger one; where one is NaN, the other.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1.0, float("nan")])
        >>> x.fmax(mg.tensor([3.0, 2.0]))
        tensor([3., 2.])
        """
    def fmin(self, other: _Operand) -> Tensor:
        """The smaller one; where one is NaN, the other.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1.0, float("nan")])
        >>> x.fmin(mg.tensor([3.0, 2.0]))
        tensor([1., 2.])
        """
    def hypot(self, other: _Operand) -> Tensor:
        """`√(self² + other²)` without overflow. Integers become the default float.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([3.0, 3e38])
        >>> x.hypot(mg.tensor([4.0, 0.0]))
        tensor([5.0000e+00, 3.0000e+38])
        """
    def hypot_(self, other: _Operand) -> Self:
        """`hypot`, written into the tensor, which is answered. See `hypot`.

        Arguments:
            other (tensor or number): the second operand
        """
    def nextafter(self, other: _Operand) -> Tensor:
        """The next number of the dtype after `self` towards `other`.

        Arguments:
            other (tensor or number): the second operand

        Errors: Integers; shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1.0])
        >>> x.nextafter(mg.tensor([2.0])) - x
        tensor([1.1921e-07])
        """
    def nextafter_(self, other: _Operand) -> Self:
        """`nextafter`, written into the tensor, which is answered. See `nextafter`.

        Arguments:
            other (tensor or number): the second operand
        """
    def ldexp(self, other: _Operand) -> Tensor:
        """`self · 2^other`. Integers become the default float.

        Arguments:
            other (tensor or number): the second operand

        Errors: Shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1.0, 3.0])
        >>> x.ldexp(mg.tensor([4, -1]))
        tensor([16.0000,  1.5000])
        """
    def ldexp_(self, other: _Operand) -> Self:
        """`ldexp`, written into the tensor, which is answered. See `ldexp`.

        Arguments:
            other (tensor or number): the second operand
        """
    def frexp(self) -> tuple[Tensor, ...]:
        """Numbers as a fraction from ½ to 1 (with their sign) times a power of two: the fractions and the exponents (int32). Zeros
        and what is not finite are their own fractions.

        Errors: Integers and truth values.

        >>> x = mg.tensor([10.0, -0.25])
        >>> x.frexp()
        frexp(mantissa=tensor([ 0.6250, -0.5000]), exponent=tensor([ 4, -1], dtype=micrograd_rs.int32))
        """
    def cbrt(self) -> Tensor:
        """The cube root. Integers become the default float.

        >>> x = mg.tensor([27.0, -8.0])
        >>> x.cbrt()
        tensor([ 3., -2.])
        """
    def isclose(self, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False) -> Tensor:
        """Whether elements are within `atol + rtol · |other|` of each other; equal infinities are, and NaN where `equal_nan`
        says so.

        Arguments:
            other (tensor): the second operand
            rtol (float, default 1e-5)
            atol (float, default 1e-8)
            equal_nan (bool, default False)

        Errors: Shapes that do not broadcast, unlike devices or dtypes; a negative tolerance.

        >>> x = mg.tensor([1.0, 2.0])
        >>> x.isclose(mg.tensor([1.000001, 2.1]))
        tensor([ True, False])
        """
    def allclose(self, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False) -> _bool:
        """Whether all elements are within `atol + rtol · |other|` of each other. Waits for the value.

        Arguments:
            other (tensor): the second operand
            rtol (float, default 1e-5)
            atol (float, default 1e-8)
            equal_nan (bool, default False): whether NaN is close to NaN

        Errors: As `isclose`; those of the computation.

        >>> x = mg.tensor([1.0, float("nan")])
        >>> x.allclose(x), x.allclose(x, equal_nan=True)
        (False, True)
        """
    def equal(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape and the same elements. Waits for the value.

        Arguments:
            other (tensor): the second operand

        Errors: Unlike devices; those of the computation.

        >>> x = mg.tensor([1, 2])
        >>> x.equal(mg.tensor([1, 2])), x.equal(mg.tensor([[1, 2]]))
        (True, False)
        """
    def cholesky(self, upper: _bool = False) -> Tensor:
        """`L` with `L Lᵀ = A` of symmetric positive definite matrices, `[…, n, n]`, of which the lower triangle is read; with `upper` the
        transpose, and the upper triangle is read. float32 and float64.

        Arguments:
            upper (bool, default False)

        Errors: What is no square matrix, one that is not positive definite, other dtypes.

        >>> A = mg.tensor([[4.0, 2.0], [2.0, 3.0]])
        >>> L = A.cholesky()
        >>> L
        tensor([[2.0000, 0.0000],
                [1.0000, 1.4142]])
        >>> mg.allclose(L @ L.T, A)
        True
        """
    def qr(self, some: _bool = True) -> tuple[Tensor, ...]:
        """`linalg.qr` in mode `"reduced"`, or, if not `some`, `"complete"`.

        Arguments:
            some (bool, default True)

        Errors: What is no matrix, other dtypes.

        >>> A = mg.tensor([[3.0, 1.0], [4.0, 2.0], [0.0, 1.0]])
        >>> Q, R = A.qr()
        >>> Q.shape, R.shape
        ((3, 2), (2, 2))
        """
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> tuple[Tensor, ...]:
        """`U`, `σ` and `V` (not transposed, unlike `linalg.svd`) with `A = U diag(σ) Vᵀ`; square if not `some`. Without `compute_uv`, `U` and `V`
        are zeros.

        Arguments:
            some (bool, default True)
            compute_uv (bool, default True)

        Errors: What is no matrix, numbers that are not finite, other dtypes.

        >>> A = mg.tensor([[0.0, 2.0], [1.0, 0.0]])
        >>> U, S, V = A.svd()
        >>> mg.allclose(U * S @ V.T, A)
        True
        """
    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> tuple[Tensor, ...]:
        """`linalg.lu_factor` as a method, to which a singular matrix is no error; with `get_infos` what `linalg.lu_factor_ex` answers with.

        Arguments:
            pivot (bool, default True)
            get_infos (bool, default False)

        Errors: What is no matrix, other dtypes; without `pivot`.

        >>> A = mg.tensor([[0.0, 1.0], [2.0, 3.0]])
        >>> A.lu()
        (tensor([[2., 3.],
                [0., 1.]]), tensor([2, 2], dtype=micrograd_rs.int32))
        """
    def orgqr(self, input2: Tensor) -> Tensor:
        """`householder_product` under LAPACK's name.

        Arguments:
            input2 (tensor): the factors `τ`

        Errors: Those of `householder_product`.

        >>> A = mg.tensor([[1.0], [1.0]])
        >>> A.orgqr(mg.tensor([1.0]))
        tensor([[ 0.],
                [-1.]])
        """
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each integer occurs, from 0 to the largest one (at least `minlength` of them): int64. With `weights`, the sum of
        the weights of its occurrences: float32 of float32, else float64. The values are looked at, since the shape depends on them.

        Arguments:
            weights (tensor, or None)
            minlength (int, default 0)

        Errors: What is no line of integers, a negative one; weights of another shape.

        >>> x = mg.tensor([0, 1, 1, 3])
        >>> x.bincount()
        tensor([1, 2, 0, 1])
        >>> x.bincount(weights=mg.tensor([0.5, 1.0, 2.0, 4.0]), minlength=5)
        tensor([0.5000, 3.0000, 0.0000, 4.0000, 0.0000])
        """
    def histc(self, bins: _int = 100, min: _float = 0.0, max: _float = 0.0) -> Tensor:
        """How many elements lie in each of `bins` intervals of the same width from `min` to `max`, both included; from the least
        element to the largest, if these are the same. What lies outside does not count. Integers become the default float.

        Arguments:
            bins (int, default 100)
            min (float, default 0.0)
            max (float, default 0.0)

        Errors: No bins; bounds that are not finite or in the wrong order, elements that are not finite where they are the bounds.

        >>> x = mg.tensor([1.0, 2.0, 1.0])
        >>> x.histc(bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
        """
    def histogram(self, bins: _Operand = 100, *, range: _float | Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> tuple[Tensor, ...]:
        """How many elements lie in each of `bins` intervals of the same width, and the intervals' ends, one more. They go from
        `range[0]` to `range[1]`, both included, or from the least element to the largest. A tensor as `bins` (one axis, ascending) is
        these ends itself. With `weight`, of the tensor's shape, the
        sums of the elements' weights; with `density`, divided by their sum and the width, so that the integral is 1. Integers become
        the default float.

        Arguments:
            bins (tensor or number, default 100)
            range (float or floats, or None)
            weight (tensor, or None)
            density (bool, default False)

        Errors: No bins; a range of other than two numbers that are finite and in order, or beside ends; ends of other than one axis, or of
        another dtype; weights of another shape.

        >>> x = mg.tensor([1.0, 2.0, 1.0])
        >>> x.histogram(bins=2, range=(0.0, 4.0))
        histogram(hist=tensor([2., 1.]), bin_edges=tensor([0., 2., 4.]))
        """
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """What lies along an axis at some positions, by their indices (integers, in one axis).

        Arguments:
            dim (int): along which axis
            index (tensor)

        Errors: An axis out of range, indices that are no integers or have more axes, more than one for a tensor without axes. An index
        out of range is an error at once where it is known, else when the value is computed.

        >>> x = mg.tensor([[1, 2, 3], [4, 5, 6]])
        >>> x.index_select(1, mg.tensor([2, 0]))
        tensor([[3, 1],
                [6, 4]])
        """
    def gather(self, dim: _int, index: Tensor) -> Tensor:
        """`out[…, j, …] = self[…, index[…, j, …], …]` along an axis, for an index (integers) that is nowhere else longer than the
        tensor.

        Arguments:
            dim (int): along which axis
            index (tensor)

        Errors: As `index_select`; an index of other axes than the tensor's, or longer.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.gather(1, mg.tensor([[0, 0], [1, 0]]))
        tensor([[1, 1],
                [4, 3]])
        """
    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """Elements by the positions that `indices` have along an axis (negative ones count from its end), where all other axes
        broadcast; by their positions among all elements, in one axis, where no axis is named.

        Arguments:
            indices (tensor)
            dim (int, or None): along which axis

        Errors: As `gather`; shapes that do not broadcast.

        >>> x = mg.tensor([[30, 10, 20]])
        >>> x.take_along_dim(x.argsort(1), dim=1)
        tensor([[10, 20, 30]])
        """
    def take(self, index: Tensor) -> Tensor:
        """Elements by their positions among all, in row-major order; negative ones count from the end. The result has the shape of the
        index.

        Arguments:
            index (tensor)

        Errors: Indices that are no integers, or out of range.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.take(mg.tensor([0, -1]))
        tensor([1, 4])
        """
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy with the elements of `source` at the positions among all elements that `index` says (negative ones count from the
        end), the last one where a position occurs more than once; or added there, with `accumulate`.

        Arguments:
            index (tensor)
            source (tensor)
            accumulate (bool, default False)

        Errors: Indices that are no integers, or out of range; another number or dtype of elements.

        >>> x = mg.zeros(2, 2)
        >>> x.put(mg.tensor([1, 1]), mg.tensor([5.0, 7.0]), accumulate=True)
        tensor([[ 0., 12.],
                [ 0.,  0.]])
        """
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Self:
        """`put`, written into the tensor, which is answered. See `put`.

        Arguments:
            index (tensor)
            source (tensor)
            accumulate (bool, default False)
        """
    def scatter(self, dim: _int, index: Tensor, src: _Operand, *, reduce: str | None = None) -> Tensor:
        """`src` (a tensor, or one number) written at the places that `index` names along an axis, the last one where a place is met more
        than once; with `reduce`, added (`"add"`) or multiplied (`"multiply"`).

        Arguments:
            dim (int): along which axis
            index (tensor)
            src (tensor or number)
            reduce (str, or None)

        Errors: As `gather`; a `src` that is shorter than the index, or of another dtype.

        >>> x = mg.zeros(2, 3)
        >>> x.scatter(1, mg.tensor([[2], [0]]), 1.0)
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
        """
    def scatter_(self, dim: _int, index: Tensor, src: _Operand, *, reduce: str | None = None) -> Self:
        """`scatter`, written into the tensor, which is answered. See `scatter`.

        Arguments:
            dim (int): along which axis
            index (tensor)
            src (tensor or number)
            reduce (str, or None)
        """
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """`src` added at the places that `index` names along an axis, in order.

        Arguments:
            dim (int): along which axis
            index (tensor)
            src (tensor)

        Errors: As `gather`; a `src` that is shorter than the index, or of another dtype.

        >>> x = mg.zeros(3)
        >>> x.scatter_add(0, mg.tensor([0, 0, 2]), mg.tensor([1.0, 2.0, 3.0]))
        tensor([3., 0., 3.])
        """
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Self:
        """`scatter_add`, written into the tensor, which is answered. See `scatter_add`.

        Arguments:
            dim (int): along which axis
            index (tensor)
            src (tensor)
        """
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """`src` at the places that `index` names along an axis, all that meet at a place reduced: `"sum"`, `"prod"`, `"mean"`,
        `"amax"` or `"amin"`, with the tensor's own element unless `include_self` is false.

        Arguments:
            dim (int): along which axis
            index (tensor)
            src (tensor)
            reduce (str): "sum", "prod", "mean", "amax" or "amin"
            include_self (bool, default True)

        Errors: As `gather`; a `src` that is shorter than the index, or of another dtype; another word.

        >>> x = mg.tensor([5.0, 5.0])
        >>> x.scatter_reduce(0, mg.tensor([0, 0]), mg.tensor([1.0, 9.0]), reduce="amax")
        tensor([9., 5.])
        """
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Self:
        """`scatter_reduce`, written into the tensor, which is answered. See `scatter_reduce`.

        Arguments:
            dim (int): along which axis
            index (tensor)
            src (tensor)
            reduce (str): "sum", "prod", "mean", "amax" or "amin"
            include_self (bool, default True)
        """
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Operand = 1) -> Tensor:
        """`alpha · source` added at some positions along an axis, by their indices (integers, in one axis), in order.

        Arguments:
            dim (int): along which axis
            index (tensor): the positions, in one axis
            source (tensor)
            alpha (tensor or number, default 1)

        Errors: As `index_select`; a `source` that does not fit, or of another dtype.

        >>> x = mg.zeros(3, 2)
        >>> x.index_add(0, mg.tensor([0, 0]), mg.tensor([[1.0, 2.0], [10.0, 20.0]]))
        tensor([[11., 22.],
                [ 0.,  0.],
                [ 0.,  0.]])
        """
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Operand = 1) -> Self:
        """`index_add`, written into the tensor, which is answered. See `index_add`.

        Arguments:
            dim (int): along which axis
            index (tensor): the positions, in one axis
            source (tensor)
            alpha (tensor or number, default 1)
        """
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """`source` written to some positions along an axis, by their indices (integers, in one axis); the last one where a position
        occurs more than once.

        Arguments:
            dim (int): along which axis
            index (tensor): the positions, in one axis
            source (tensor)

        Errors: As `index_select`; a `source` that does not fit, or of another dtype.

        >>> x = mg.zeros(3)
        >>> x.index_copy(0, mg.tensor([2, 0]), mg.tensor([1.0, 2.0]))
        tensor([2., 0., 1.])
        """
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Self:
        """`index_copy`, written into the tensor, which is answered. See `index_copy`.

        Arguments:
            dim (int): along which axis
            index (tensor): the positions, in one axis
            source (tensor)
        """
    def index_fill(self, dim: _int, index: Tensor, value: _Operand) -> Tensor:
        """One number written to some positions along an axis, by their indices (integers, in one axis).

        Arguments:
            dim (int): along which axis
            index (tensor): the positions, in one axis
            value (tensor or number)

        Errors: As `index_select`; a tensor with axes as the value.

        >>> x = mg.zeros(2, 3)
        >>> x.index_fill(1, mg.tensor([0, 2]), 9.0)
        tensor([[9., 0., 9.],
                [9., 0., 9.]])
        """
    def index_fill_(self, dim: _int, index: Tensor, value: _Operand) -> Self:
        """`index_fill`, written into the tensor, which is answered. See `index_fill`.

        Arguments:
            dim (int): along which axis
            index (tensor): the positions, in one axis
            value (tensor or number)
        """
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """`source` at some positions along an axis, by their indices, all that meet at a position reduced with the tensor's own element
        (unless `include_self` is false): `"prod"`, `"mean"`, `"amax"` or `"amin"`.

        Arguments:
            dim (int): along which axis
            index (tensor): the positions, in one axis
            source (tensor)
            reduce (str): "prod", "mean", "amax" or "amin"
            include_self (bool, default True)

        Errors: As `index_select`; a `source` that does not fit, or of another dtype; another word.

        >>> x = mg.ones(2)
        >>> x.index_reduce(0, mg.tensor([0, 0]), mg.tensor([2.0, 3.0]), "prod")
        tensor([6., 1.])
        """
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Self:
        """`index_reduce`, written into the tensor, which is answered. See `index_reduce`.

        Arguments:
            dim (int): along which axis
            index (tensor): the positions, in one axis
            source (tensor)
            reduce (str): "prod", "mean", "amax" or "amin"
            include_self (bool, default True)
        """
    def index_put(self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Tensor:
        """`values` written to what tensors of integers or truth values pick of the first axes, as by `x[indices] = values`; with
        `accumulate` added there, as often as a place is picked.

        Arguments:
            indices (tensors)
            values (tensor)
            accumulate (bool, default False)

        Errors: Indices that do not broadcast or are out of range; values of another dtype, or that do not broadcast.

        >>> x = mg.zeros(2, 2)
        >>> x.index_put((mg.tensor([0, 1]), mg.tensor([1, 1])), mg.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [0., 6.]])
        """
    def index_put_(self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Self:
        """`index_put`, written into the tensor, which is answered. See `index_put`.

        Arguments:
            indices (tensors)
            values (tensor)
            accumulate (bool, default False)
        """
    def fill_diagonal_(self, fill_value: _Operand, wrap: _bool = False) -> Self:
        """The tensor with one number on the diagonal: where all indices are the same. Of a matrix with more rows than columns the diagonal
        goes on below, one row left out each time, with `wrap`.

        Arguments:
            fill_value (tensor or number): the number
            wrap (bool, default False)

        Errors: Fewer than two axes; more than two that are not of one size; a tensor with axes as the value.

        >>> mg.zeros(2, 3).fill_diagonal_(7.0)
        tensor([[7., 0., 0.],
                [0., 7., 0.]])
        """
    def masked_fill(self, mask: Tensor, value: _Operand) -> Tensor:
        """The tensor with one number where a mask of truth values holds, which broadcasts.

        Arguments:
            mask (tensor)
            value (tensor or number)

        Errors: A mask of another dtype, or that does not broadcast; a tensor with axes as the value.

        >>> x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> x.masked_fill(x > 2, 0.0)
        tensor([[1., 2.],
                [0., 0.]])
        """
    def masked_fill_(self, mask: Tensor, value: _Operand) -> Self:
        """`masked_fill`, written into the tensor, which is answered. See `masked_fill`.

        Arguments:
            mask (tensor)
            value (tensor or number)
        """
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where a mask of truth values holds, in one axis. Tensor and mask broadcast.

        Arguments:
            mask (tensor)

        Errors: A mask of another dtype, or that does not broadcast.

        >>> x = mg.tensor([[1, 5], [7, 2]])
        >>> x.masked_select(x > 2)
        tensor([5, 7])
        """
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """The tensor with the elements of `source`, in order, where a mask of truth values holds, which broadcasts.

        Arguments:
            mask (tensor)
            source (tensor)

        Errors: A mask of another dtype, or that does not broadcast; another dtype. Fewer elements than places are found when the value is
        computed.

        >>> x = mg.zeros(3)
        >>> x.masked_scatter(mg.tensor([True, False, True]), mg.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
        """
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """`masked_scatter`, written into the tensor, which is answered. See `masked_scatter`.

        Arguments:
            mask (tensor)
            source (tensor)
        """
    def argwhere(self) -> Tensor:
        """The positions of what is not zero: a row each.

        >>> x = mg.tensor([[0, 5], [7, 0]])
        >>> x.argwhere()
        tensor([[0, 1],
                [1, 0]])
        """
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """The positions along an axis, each without it; views.

        Arguments:
            dim (int, default 0): along which axis

        Errors: An axis out of range.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.unbind()
        (tensor([1, 2]), tensor([3, 4]))
        """
    def split(self, split_size: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts along an axis, of so many positions each (the last may have fewer) or of the sizes in a list; views.

        Arguments:
            split_size (int or ints): how many positions a part has, or the sizes of all parts
            dim (int, default 0): along which axis

        Errors: An axis out of range, sizes that do not make it, parts of no positions.

        >>> x = mg.arange(5)
        >>> x.split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        >>> x.split([1, 4])
        (tensor([0]), tensor([1, 2, 3, 4]))
        """
    def split_with_sizes(self, split_sizes: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts of these sizes along an axis, views.

        Arguments:
            split_sizes (int or ints): the sizes of all parts
            dim (int, default 0): along which axis

        Errors: An axis out of range, sizes that do not make it.

        >>> x = mg.arange(3)
        >>> x.split_with_sizes([1, 2])
        (tensor([0]), tensor([1, 2]))
        """
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most so many parts of equal size along an axis (the last may be smaller), views; of an axis without positions exactly so many.

        Arguments:
            chunks (int): how many parts
            dim (int, default 0): along which axis

        Errors: An axis out of range, no parts, more than 2²⁰ of an axis without positions.

        >>> x = mg.arange(5)
        >>> x.chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        """
    def tensor_split(self, indices_or_sections: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
        """So many parts along an axis, whose sizes differ by 1 at most, or those that end before each position in a list; views.

        Arguments:
            indices_or_sections (int or ints): how many parts, or where they end
            dim (int, default 0): along which axis

        Errors: An axis out of range, no parts, more than 2²⁰ where the axis has fewer positions.

        >>> x = mg.arange(5)
        >>> x.tensor_split(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        >>> x.tensor_split([1, 3])
        (tensor([0]), tensor([1, 2]), tensor([3, 4]))
        """
    def hsplit(self, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
        """Parts along the second axis, or the only one, as `tensor_split`, where a number divides it; views.

        Arguments:
            indices_or_sections (int or ints): how many parts, or where they end

        Errors: No axes; a number that does not divide the axis.

        >>> x = mg.arange(4).reshape(2, 2)
        >>> x.hsplit(2)
        (tensor([[0],
                [2]]), tensor([[1],
                [3]]))
        """
    def vsplit(self, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
        """Parts along the first axis, as `hsplit`.

        Arguments:
            indices_or_sections (int or ints): how many parts, or where they end

        Errors: Fewer than two axes; a number that does not divide the axis.

        >>> x = mg.arange(4).reshape(2, 2)
        >>> x.vsplit(2)
        (tensor([[0, 1]]), tensor([[2, 3]]))
        """
    def dsplit(self, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
        """Parts along the third axis, as `hsplit`.

        Arguments:
            indices_or_sections (int or ints): how many parts, or where they end

        Errors: Fewer than three axes; a number that does not divide the axis.

        >>> x = mg.arange(4).reshape(1, 2, 2)
        >>> x.dsplit(2)[0]
        tensor([[[0],
                 [2]]])
        """
    def combinations(self, r: _int = 2, with_replacement: _bool = False) -> Tensor:
        """All choices of `r` elements of a vector in its order, a row each; the same one more than once with `with_replacement`.

        Arguments:
            r (int, default 2)
            with_replacement (bool, default False)

        Errors: A tensor that is no vector.

        >>> x = mg.tensor([1, 2, 3])
        >>> x.combinations()
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
        """
    def matmul(self, other: Tensor) -> Tensor:
        """The matrix product, as NumPy's `@`: vectors are taken as a row on the left and a column on the right, batches
        broadcast.

        Arguments:
            other (tensor): the second operand

        Errors: Scalars, inner sizes that differ, batches that do not broadcast, unlike devices.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.matmul(mg.tensor([10, 100]))
        tensor([210, 430])
        >>> mg.ones(5, 1, 2, 3).matmul(mg.ones(4, 3, 2)).shape
        (5, 4, 2, 2)
        """
    def mm(self, mat2: Tensor, out_dtype: _DType | None = None) -> Tensor:
        """The product of two matrices. With `out_dtype` of float32, that of halves is not rounded to their dtype.

        Arguments:
            mat2 (tensor): the matrix on the right
            out_dtype (dtype, or None)

        Errors: What is no matrix, inner sizes that differ, unlike devices; an `out_dtype` that is neither the matrices' nor float32 of halves.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.mm(x)
        tensor([[ 7, 10],
                [15, 22]])
        """
    def bmm(self, mat2: Tensor, out_dtype: _DType | None = None) -> Tensor:
        """The products of two batches of matrices, `[b, n, m]` and `[b, m, p]`. With `out_dtype` of float32, those of halves are not rounded to
        their dtype.

        Arguments:
            mat2 (tensor): the matrices on the right
            out_dtype (dtype, or None)

        Errors: Other than three axes, batches or inner sizes that differ, unlike devices; an `out_dtype` that is neither the matrices' nor float32 of
        halves.

        >>> x = mg.ones(5, 2, 3)
        >>> x.bmm(mg.ones(5, 3, 4)).shape
        (5, 2, 4)
        """
    def mv(self, vec: Tensor) -> Tensor:
        """The product of a matrix and a vector.

        Arguments:
            vec (tensor): the vector

        Errors: What is no matrix or no vector, sizes that differ, unlike devices.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.mv(mg.tensor([10, 100]))
        tensor([210, 430])
        """
    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors' elements.

        Arguments:
            tensor (tensor): the other vector

        Errors: What is no vector, sizes that differ, unlike devices.

        >>> x = mg.tensor([1, 2, 3])
        >>> x.dot(mg.tensor([10, 100, 1000]))
        tensor(3210)
        """
    def vdot(self, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors' elements.

        Arguments:
            tensor (tensor): the other vector

        Errors: What is no vector, sizes that differ, unlike devices.

        >>> x = mg.tensor([1, 2, 3])
        >>> x.vdot(mg.tensor([10, 100, 1000]))
        tensor(3210)
        """
    def inner(self, other: Tensor) -> Tensor:
        """The sums of products along the last axes of both; with a tensor without axes, the product.

        Arguments:
            other (tensor): the second operand

        Errors: Last axes that differ, unlike devices.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.inner(mg.tensor([10, 100]))
        tensor([210, 430])
        """
    def outer(self, vec2: Tensor) -> Tensor:
        """The products of each element of a vector with each of another: `[n, m]`.

        Arguments:
            vec2 (tensor): the other vector

        Errors: What is no vector, unlike devices.

        >>> x = mg.tensor([1, 2])
        >>> x.outer(mg.tensor([10, 20, 30]))
        tensor([[10, 20, 30],
                [20, 40, 60]])
        """
    def ger(self, vec2: Tensor) -> Tensor:
        """The products of each element of a vector with each of another: `[n, m]`.

        Arguments:
            vec2 (tensor): the other vector

        Errors: What is no vector, unlike devices.

        >>> x = mg.tensor([1, 2])
        >>> x.ger(mg.tensor([10, 20, 30]))
        tensor([[10, 20, 30],
                [20, 40, 60]])
        """
    def addmm(self, mat1: Tensor, mat2: Tensor, out_dtype: _DType | None = None, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · mat1 @ mat2`, of matrices; the tensor broadcasts to the product. With `beta` 0 it is not looked at.

        Arguments:
            mat1 (tensor)
            mat2 (tensor)
            out_dtype (dtype, or None)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the product is multiplied by

        Errors: What is no matrix, shapes that do not fit, unlike devices; an `out_dtype` (see `mm`) that does not fit. Beside integers, factors lose
        their fractions.

        >>> x = mg.tensor([100.0, 200.0])
        >>> x.addmm(mg.eye(2), mg.tensor([[1.0, 2.0], [3.0, 4.0]]), alpha=10)
        tensor([[110., 220.],
                [130., 240.]])
        """
    def addmm_(self, mat1: Tensor, mat2: Tensor, out_dtype: _DType | None = None, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`addmm`, written into the tensor, which is answered. See `addmm`.

        Arguments:
            mat1 (tensor)
            mat2 (tensor)
            out_dtype (dtype, or None)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the product is multiplied by
        """
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · mat @ vec`, of a matrix and a vector; the tensor broadcasts to the product. With `beta` 0 it is not
        looked at.

        Arguments:
            mat (tensor)
            vec (tensor)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the product is multiplied by

        Errors: What is no matrix or no vector, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.

        >>> x = mg.tensor([100.0, 200.0])
        >>> x.addmv(mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mg.tensor([1.0, 1.0]))
        tensor([103., 207.])
        """
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`addmv`, written into the tensor, which is answered. See `addmv`.

        Arguments:
            mat (tensor)
            vec (tensor)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the product is multiplied by
        """
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · Σ batch1[i] @ batch2[i]`, of batches of matrices; the tensor broadcasts to the sum. With `beta` 0 it
        is not looked at.

        Arguments:
            batch1 (tensor)
            batch2 (tensor)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the sum is multiplied by

        Errors: Other than three axes, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.

        >>> x = mg.zeros(2, 2)
        >>> x.addbmm(mg.ones(3, 2, 1), mg.ones(3, 1, 2))
        tensor([[3., 3.],
                [3., 3.]])
        """
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`addbmm`, written into the tensor, which is answered. See `addbmm`.

        Arguments:
            batch1 (tensor)
            batch2 (tensor)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the sum is multiplied by
        """
    def baddbmm(self, batch1: Tensor, batch2: Tensor, out_dtype: _DType | None = None, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · batch1 @ batch2`, of batches of matrices; the tensor broadcasts to the products. With `beta` 0 it is
        not looked at.

        Arguments:
            batch1 (tensor)
            batch2 (tensor)
            out_dtype (dtype, or None)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the products are multiplied by

        Errors: Other than three axes, shapes that do not fit, unlike devices; an `out_dtype` (see `bmm`) that does not fit. Beside integers, factors lose
        their fractions.

        >>> x = mg.ones(3, 2, 2)
        >>> x.baddbmm(mg.ones(3, 2, 1), mg.ones(3, 1, 2), beta=10)[0]
        tensor([[11., 11.],
                [11., 11.]])
        """
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, out_dtype: _DType | None = None, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`baddbmm`, written into the tensor, which is answered. See `baddbmm`.

        Arguments:
            batch1 (tensor)
            batch2 (tensor)
            out_dtype (dtype, or None)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the products are multiplied by
        """
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
        """`beta · self + alpha · vec1 ⊗ vec2`; the tensor broadcasts to the products. With `beta` 0 it is not looked at. Of truth values a
        sum is "or", and a factor whether it is not 0.

        Arguments:
            vec1 (tensor)
            vec2 (tensor)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the products are multiplied by

        Errors: What is no vector, shapes that do not fit, unlike devices, a float as factor of integers.

        >>> x = mg.zeros(2, 2)
        >>> x.addr(mg.tensor([1.0, 2.0]), mg.tensor([10.0, 20.0]))
        tensor([[10., 20.],
                [20., 40.]])
        """
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Self:
        """`addr`, written into the tensor, which is answered. See `addr`.

        Arguments:
            vec1 (tensor)
            vec2 (tensor)
            beta (tensor or number, default 1): what the tensor is multiplied by
            alpha (tensor or number, default 1): what the products are multiplied by
        """
    def trace(self) -> Tensor:
        """The sum of a matrix' diagonal; of integers in int64.

        Errors: What is no matrix.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.trace()
        tensor(5)
        """
    def kron(self, other: Tensor) -> Tensor:
        """The Kronecker product: blocks of the other tensor, each times an element of this one. The tensor of fewer axes has axes of
        size 1 before them.

        Arguments:
            other (tensor): the second operand

        Errors: More than four axes that are larger than 1, unlike devices.

        >>> x = mg.eye(2)
        >>> x.kron(mg.tensor([[1.0, 2.0]]))
        tensor([[1., 2., 0., 0.],
                [0., 0., 1., 2.]])
        """
    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """The cross product of vectors along an axis of three positions: the first such axis, if none is named. Shapes broadcast.

        Arguments:
            other (tensor): the second operand
            dim (int, or None): along which axis

        Errors: No such axis, shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([1.0, 0.0, 0.0])
        >>> x.cross(mg.tensor([0.0, 1.0, 0.0]))
        tensor([0., 0., 1.])
        """
    def matrix_power(self, n: _int) -> Tensor:
        """Matrices multiplied with themselves, `n` times; the identity, if `n` is 0; of a negative `n`, the inverse's power (float32 and float64).
        By squaring.

        Arguments:
            n (int)

        Errors: What is no square matrix; with a negative `n` a singular one.

        >>> A = mg.tensor([[1.0, 1.0], [0.0, 1.0]])
        >>> A.matrix_power(5)
        tensor([[1., 5.],
                [0., 1.]])
        >>> A.matrix_power(-1)
        tensor([[ 1., -1.],
                [ 0.,  1.]])
        """
    def inverse(self) -> Tensor:
        """The inverses of square matrices: see `linalg.inv`.

        Errors: What is no square matrix, a singular one, other dtypes.

        >>> A = mg.tensor([[2.0, 0.0], [0.0, 4.0]])
        >>> A.inverse()
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
        """
    def triangular_solve(self, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> tuple[Tensor, ...]:
        """`X` with `A X = b` (or `Aᵀ X = b`), where `A` is a triangle; and a copy of `A`, for each matrix of the batch. The older name of `linalg.solve_triangular`.

        Arguments:
            A (tensor)
            upper (bool, default True): whether the triangle is the upper one
            transpose (bool, default False): whether it is `Aᵀ X = b`
            unitriangular (bool, default False): whether the diagonal is taken for ones

        Errors: Those of `linalg.solve_triangular`.

        >>> b = mg.tensor([[5.0], [8.0]])
        >>> b.triangular_solve(mg.tensor([[1.0, 2.0], [0.0, 4.0]])).solution
        tensor([[1.],
                [2.]])
        """
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """`linalg.lu_solve` with the right side first.

        Arguments:
            LU_data (tensor): the factors in one matrix
            LU_pivots (tensor): the rows that were exchanged

        Errors: Those of `linalg.lu_solve`.

        >>> b = mg.tensor([[3.0], [4.0]])
        >>> b.lu_solve(*mg.linalg.lu_factor(mg.tensor([[2.0, 1.0], [1.0, 3.0]])))
        tensor([[1.],
                [1.]])
        """
    def cholesky_solve(self, L: Tensor, upper: _bool = False) -> Tensor:
        """`X` with `L Lᵀ X = B`, of what `cholesky` answers with; with `upper`, `L` is its transpose.

        Arguments:
            L (tensor)
            upper (bool, default False)

        Errors: Shapes that do not fit, other dtypes, unlike devices.

        >>> b = mg.tensor([[3.0], [4.0]])
        >>> L = mg.linalg.cholesky(mg.tensor([[2.0, 1.0], [1.0, 3.0]]))
        >>> b.cholesky_solve(L)
        tensor([[1.0000],
                [1.0000]])
        """
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of `L Lᵀ`, of what `cholesky` answers with; with `upper`, the tensor is its transpose.

        Arguments:
            upper (bool, default False)

        Errors: What is no square matrix, other dtypes, a zero on the diagonal: what is not known yet is found when the inverse is computed.

        >>> L = mg.linalg.cholesky(mg.tensor([[4.0, 0.0], [0.0, 16.0]]))
        >>> L.cholesky_inverse()
        tensor([[0.2500, 0.0000],
                [0.0000, 0.0625]])
        """
    def det(self) -> Tensor:
        """The determinants of square matrices. float32 and float64. A singular matrix has a
        gradient, and second derivatives.

        Errors: What is no square matrix, other dtypes.

        >>> A = mg.tensor([[2.0, 1.0], [1.0, 3.0]])
        >>> A.det()
        tensor(5.)
        """
    def slogdet(self) -> tuple[Tensor, ...]:
        """The signs of determinants (−1, 0 or 1), and the logarithms of their magnitudes (−∞ of a singular matrix). float32 and float64.

        Errors: What is no square matrix, other dtypes.

        >>> A = mg.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> A.slogdet()
        slogdet(sign=tensor(-1.), logabsdet=tensor(0.))
        """
    def logdet(self) -> Tensor:
        """The logarithms of determinants: −∞ of a singular matrix, NaN where the determinant is negative. float32 and float64.

        Errors: What is no square matrix, other dtypes.

        >>> A = mg.tensor([[2.0, 0.0], [0.0, 0.5]])
        >>> A.logdet()
        tensor(0.)
        """
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """The pseudoinverse: see `linalg.pinv`, whose `rtol` is `rcond` here.

        Arguments:
            rcond (float, default 1e-15)

        Errors: What is no matrix, numbers that are not finite, other dtypes.

        >>> A = mg.tensor([[2.0, 0.0], [0.0, 0.0]])
        >>> A.pinverse()
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])
        """
    def matrix_exp(self) -> Tensor:
        """`eᴬ = Σ Aᵏ / k!` of square matrices, `[…, n, n]`. Reads the largest norm, which says how often the result is squared; within `vmap`, where
        there is none yet, it is squared as often as there are bits in a number (24, of float64 53), and what asks for more is NaN. Half types are computed in float32.

        Errors: What is no square matrix, other dtypes.

        >>> A = mg.tensor([[0.0, 1.0], [0.0, 0.0]])
        >>> A.matrix_exp()
        tensor([[1., 1.],
                [0., 1.]])
        """
    @overload
    def reshape(self, shape: _Dims) -> Tensor:
        """The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
        that there can be one, as PyTorch has it; else a copy.

        Arguments:
            shape (int or ints)

        Errors: Another number of elements.

        >>> x = mg.arange(6)
        >>> x.reshape((2, -1))
        tensor([[0, 1, 2],
                [3, 4, 5]])
        """
    @overload
    def reshape(self, *shape: _int) -> Tensor:
        """The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
        that there can be one, as PyTorch has it; else a copy.

        Arguments:
            shape (int or ints)

        Errors: Another number of elements.

        >>> x = mg.arange(6)
        >>> x.reshape((2, -1))
        tensor([[0, 1, 2],
                [3, 4, 5]])
        """
    def reshape_as(self, other: Tensor) -> Tensor:
        """As `reshape`, to the shape of another tensor.

        Arguments:
            other (tensor): the second operand

        Errors: Another number of elements.

        >>> mg.arange(6).reshape_as(mg.zeros(3, 2)).shape
        (3, 2)
        """
    @overload
    def view(self, shape: _Dims) -> Tensor:
        """As `reshape`, and always a view. In Python, of a dtype: the bits of the elements as elements of that, which are as many bytes, on the
        same memory; without a history, but for the tensor's own dtype, and on the host.

        Arguments:
            shape (int or ints)

        Errors: Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
        matrix in one axis.

        >>> x = mg.arange(4)
        >>> x.view(2, 2)
        tensor([[0, 1],
                [2, 3]])
        >>> mg.tensor(1.0).view(mg.int32)
        tensor(1065353216, dtype=micrograd_rs.int32)
        """
    @overload
    def view(self, *shape: _int) -> Tensor:
        """As `reshape`, and always a view. In Python, of a dtype: the bits of the elements as elements of that, which are as many bytes, on the
        same memory; without a history, but for the tensor's own dtype, and on the host.

        Arguments:
            shape (int or ints)

        Errors: Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
        matrix in one axis.

        >>> x = mg.arange(4)
        >>> x.view(2, 2)
        tensor([[0, 1],
                [2, 3]])
        >>> mg.tensor(1.0).view(mg.int32)
        tensor(1065353216, dtype=micrograd_rs.int32)
        """
    @overload
    def view(self, dtype: _DType) -> Tensor:
        """As `reshape`, and always a view. In Python, of a dtype: the bits of the elements as elements of that, which are as many bytes, on the
        same memory; without a history, but for the tensor's own dtype, and on the host.

        Arguments:
            shape (int or ints)

        Errors: Another number of elements; elements that do not lie so that they can be seen in that shape, as those of a transposed
        matrix in one axis.

        >>> x = mg.arange(4)
        >>> x.view(2, 2)
        tensor([[0, 1],
                [2, 3]])
        >>> mg.tensor(1.0).view(mg.int32)
        tensor(1065353216, dtype=micrograd_rs.int32)
        """
    def view_as(self, other: Tensor) -> Tensor:
        """As `view`, to the shape of another tensor.

        Arguments:
            other (tensor): the second operand

        Errors: As `view`.

        >>> mg.arange(6).view_as(mg.zeros(3, 2)).shape
        (3, 2)
        """
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Axes `start_dim` to `end_dim` as one.

        Arguments:
            start_dim (int, default 0)
            end_dim (int, default -1)

        Errors: An axis out of range; a first one behind the last.

        >>> x = mg.zeros(2, 3, 4)
        >>> x.flatten().shape, x.flatten(start_dim=1).shape
        ((24,), (2, 12))
        """
    def unflatten(self, dim: _int, sizes: _Dims) -> Tensor:
        """An axis as several, of sizes whose product is its size; one may be −1.

        Arguments:
            dim (int): along which axis
            sizes (int or ints)

        Errors: An axis out of range, another product.

        >>> x = mg.zeros(2, 6)
        >>> x.unflatten(1, (3, -1)).shape
        (2, 3, 2)
        """
    def ravel(self) -> Tensor:
        """All elements in one axis: the same memory where they lie one after the other, else a copy.

        Errors: A value that could not be computed.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.ravel()
        tensor([1, 2, 3, 4])
        """
    @overload
    def permute(self, dims: _Dims) -> Tensor:
        """Axes in another order, a view.

        Arguments:
            dims (int or ints): the axes in their new order

        Errors: What is no permutation of the axes.

        >>> x = mg.zeros(2, 3, 4)
        >>> x.permute((2, 0, 1)).shape
        (4, 2, 3)
        """
    @overload
    def permute(self, *dims: _int) -> Tensor:
        """Axes in another order, a view.

        Arguments:
            dims (int or ints): the axes in their new order

        Errors: What is no permutation of the axes.

        >>> x = mg.zeros(2, 3, 4)
        >>> x.permute((2, 0, 1)).shape
        (4, 2, 3)
        """
    @overload
    def permute_dims(self, dims: _Dims) -> Tensor:
        """Axes in another order, a view.

        Arguments:
            dims (int or ints): the axes in their new order

        Errors: What is no permutation of the axes.

        >>> x = mg.zeros(2, 3, 4)
        >>> x.permute_dims((2, 0, 1)).shape
        (4, 2, 3)
        """
    @overload
    def permute_dims(self, *dims: _int) -> Tensor:
        """Axes in another order, a view.

        Arguments:
            dims (int or ints): the axes in their new order

        Errors: What is no permutation of the axes.

        >>> x = mg.zeros(2, 3, 4)
        >>> x.permute_dims((2, 0, 1)).shape
        (4, 2, 3)
        """
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two axes exchanged, a view.

        Arguments:
            dim0 (int): one of the axes
            dim1 (int): the other

        Errors: An axis out of range.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.transpose(0, 1)
        tensor([[1, 3],
                [2, 4]])
        """
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Two axes exchanged, a view.

        Arguments:
            dim0 (int): one of the axes
            dim1 (int): the other

        Errors: An axis out of range.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.swapdims(0, 1)
        tensor([[1, 3],
                [2, 4]])
        """
    def transpose_(self, dim0: _int, dim1: _int) -> Self:
        """`transpose` of the tensor itself, which is answered. See `transpose`.

        Arguments:
            dim0 (int): one of the axes
            dim1 (int): the other
        """
    def swapdims_(self, dim0: _int, dim1: _int) -> Self:
        """`transpose` of the tensor itself, which is answered. See `transpose`.

        Arguments:
            dim0 (int): one of the axes
            dim1 (int): the other
        """
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Two axes exchanged, a view: `transpose`, by NumPy's name.

        Arguments:
            axis0 (int): one of the axes
            axis1 (int): the other

        Errors: An axis out of range.

        >>> x = mg.zeros(2, 3, 4)
        >>> x.swapaxes(0, 2).shape
        (4, 3, 2)
        """
    def swapaxes_(self, axis0: _int, axis1: _int) -> Self:
        """`swapaxes` of the tensor itself, which is answered. See `swapaxes`.

        Arguments:
            axis0 (int): one of the axes
            axis1 (int): the other
        """
    def adjoint(self) -> Tensor:
        """The last two axes exchanged, a view; of a tensor without axes, itself.

        Errors: One axis.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.adjoint()
        tensor([[1, 3],
                [2, 4]])
        """
    def matrix_transpose(self) -> Tensor:
        """The last two axes exchanged, a view; of a tensor without axes, itself.

        Errors: One axis.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.matrix_transpose()
        tensor([[1, 3],
                [2, 4]])
        """
    def movedim(self, source: _Dims, destination: _Dims) -> Tensor:
        """Axes moved to other places, a view; those that are not named keep their order.

        Arguments:
            source (int or ints): where the axes are
            destination (int or ints): where they come to be

        Errors: An axis out of range or twice the same; as many sources as destinations are wanted.

        >>> x = mg.zeros(2, 3, 4)
        >>> x.movedim(0, -1).shape
        (3, 4, 2)
        """
    def moveaxis(self, source: _Dims, destination: _Dims) -> Tensor:
        """Axes moved to other places, a view; those that are not named keep their order.

        Arguments:
            source (int or ints): where the axes are
            destination (int or ints): where they come to be

        Errors: An axis out of range or twice the same; as many sources as destinations are wanted.

        >>> x = mg.zeros(2, 3, 4)
        >>> x.moveaxis(0, -1).shape
        (3, 4, 2)
        """
    def slice(self, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """Positions `start`, `start + step`, … before `end` along an axis, as Python's slices: negative ends count from the
        end, `None` is the end that the step comes from or goes to, bounds are clamped, the step may be negative. A view.

        Arguments:
            dim (int, default 0): along which axis
            start (int, or None)
            end (int, or None)
            step (int, default 1)

        Errors: An axis out of range, step 0.

        >>> x = mg.arange(6)
        >>> x.slice(0, 1, 5, 2)
        tensor([1, 3])
        """
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """`length` positions from `start` (from the end, if it is negative) along an axis, a view.

        Arguments:
            dim (int): along which axis
            start (int)
            length (int)

        Errors: An axis out of range, positions outside of it.

        >>> x = mg.arange(6)
        >>> x.narrow(0, 2, 3)
        tensor([2, 3, 4])
        """
    def select(self, dim: _int, index: _int) -> Tensor:
        """One position along an axis, which disappears; a view.

        Arguments:
            dim (int): along which axis
            index (int)

        Errors: An axis or index out of range.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.select(1, 0)
        tensor([1, 3])
        """
    @overload
    def flip(self, dims: _Dims) -> Tensor:
        """Axes backwards: a copy, as PyTorch has it. `slice` by −1 is a view.

        Arguments:
            dims (int or ints): the axes

        Errors: An axis out of range, or twice the same.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.flip((0, 1))
        tensor([[4, 3],
                [2, 1]])
        """
    @overload
    def flip(self, *dims: _int) -> Tensor:
        """Axes backwards: a copy, as PyTorch has it. `slice` by −1 is a view.

        Arguments:
            dims (int or ints): the axes

        Errors: An axis out of range, or twice the same.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.flip((0, 1))
        tensor([[4, 3],
                [2, 1]])
        """
    def fliplr(self) -> Tensor:
        """The second axis backwards, a copy.

        Errors: Fewer than two axes.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.fliplr()
        tensor([[2, 1],
                [4, 3]])
        """
    def flipud(self) -> Tensor:
        """The first axis backwards, a copy.

        Errors: No axes.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.flipud()
        tensor([[3, 4],
                [1, 2]])
        """
    def rot90(self, k: _int = 1, dims: _Dims = (0, 1)) -> Tensor:
        """Turned by `k` right angles in the plane of two axes, from the first towards the second; a copy.

        Arguments:
            k (int, default 1)
            dims (int or ints, default (0, 1)): the two axes of the plane

        Errors: Other than two axes, or twice the same.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.rot90()
        tensor([[2, 4],
                [1, 3]])
        """
    def roll(self, shifts: _Dims, dims: _Dims | None = None) -> Tensor:
        """Each axis moved by so many positions, where what goes beyond its end comes in at its start; all elements in row-major
        order where no axes are named. A copy.

        Arguments:
            shifts (int or ints): how far each axis moves
            dims (int or ints, or None): the axes

        Errors: As many numbers as axes are wanted.

        >>> x = mg.tensor([1, 2, 3, 4])
        >>> x.roll(1)
        tensor([4, 1, 2, 3])
        """
    @overload
    def expand(self, size: _Dims) -> Tensor:
        """Broadcast to a shape, a view; −1 keeps a size.

        Arguments:
            size (int or ints)

        Errors: A shape that it does not broadcast to.

        >>> x = mg.tensor([[1], [2]])
        >>> x.expand(-1, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
        """
    @overload
    def expand(self, *size: _int) -> Tensor:
        """Broadcast to a shape, a view; −1 keeps a size.

        Arguments:
            size (int or ints)

        Errors: A shape that it does not broadcast to.

        >>> x = mg.tensor([[1], [2]])
        >>> x.expand(-1, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
        """
    def expand_as(self, other: Tensor) -> Tensor:
        """Broadcast to the shape of another tensor, a view.

        Arguments:
            other (tensor): the second operand

        Errors: A shape that it does not broadcast to.

        >>> mg.tensor([1, 2]).expand_as(mg.zeros(2, 2))
        tensor([[1, 2],
                [1, 2]])
        """
    @overload
    def broadcast_to(self, size: _Dims) -> Tensor:
        """Broadcast to a shape, a view; −1 keeps a size.

        Arguments:
            size (int or ints)

        Errors: A shape that it does not broadcast to.

        >>> x = mg.tensor([1, 2])
        >>> x.broadcast_to((2, 2))
        tensor([[1, 2],
                [1, 2]])
        """
    @overload
    def broadcast_to(self, *size: _int) -> Tensor:
        """Broadcast to a shape, a view; −1 keeps a size.

        Arguments:
            size (int or ints)

        Errors: A shape that it does not broadcast to.

        >>> x = mg.tensor([1, 2])
        >>> x.broadcast_to((2, 2))
        tensor([[1, 2],
                [1, 2]])
        """
    @overload
    def sum_to_size(self, size: _Sizes) -> Tensor:
        """The sum over those axes that, of the shape `size`, would be broadcast to the tensor's own: the reverse of `expand`.

        Arguments:
            size (int or ints)

        Errors: A shape that does not broadcast to the tensor's.

        >>> mg.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
        """
    @overload
    def sum_to_size(self, *size: _int) -> Tensor:
        """The sum over those axes that, of the shape `size`, would be broadcast to the tensor's own: the reverse of `expand`.

        Arguments:
            size (int or ints)

        Errors: A shape that does not broadcast to the tensor's.

        >>> mg.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
        """
    @overload
    def repeat(self, repeats: _Sizes) -> Tensor:
        """The tensor so many times along each axis; more numbers than axes make new axes in front.

        Arguments:
            repeats (int or ints): how often, along each axis

        Errors: Fewer numbers than axes.

        >>> x = mg.tensor([1, 2])
        >>> x.repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
        """
    @overload
    def repeat(self, *repeats: _int) -> Tensor:
        """The tensor so many times along each axis; more numbers than axes make new axes in front.

        Arguments:
            repeats (int or ints): how often, along each axis

        Errors: Fewer numbers than axes.

        >>> x = mg.tensor([1, 2])
        >>> x.repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
        """
    @overload
    def tile(self, dims: _Sizes) -> Tensor:
        """As `repeat`; fewer numbers than axes are those of the last axes.

        Arguments:
            dims (int or ints): how often, along each axis

        Errors: More than 16 axes.

        >>> x = mg.tensor([[1, 2]])
        >>> x.tile((2,))
        tensor([[1, 2, 1, 2]])
        """
    @overload
    def tile(self, *dims: _int) -> Tensor:
        """As `repeat`; fewer numbers than axes are those of the last axes.

        Arguments:
            dims (int or ints): how often, along each axis

        Errors: More than 16 axes.

        >>> x = mg.tensor([[1, 2]])
        >>> x.tile((2,))
        tensor([[1, 2, 1, 2]])
        """
    def repeat_interleave(self, repeats: _Operand | None = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Each position along an axis so many times: the same number for all, or one for each. All elements in one axis, where none is
        named. Of a tensor of numbers alone, their positions, each as often as the number says.

        `output_size`, the size of the result's axis where a tensor says the numbers, is checked.

        Arguments:
            repeats (tensor or number, or None): how often
            dim (int, or None): along which axis
            output_size (int, or None)

        Errors: An axis out of range; negative numbers, or as many as the axis is not long; numbers that are no integers.

        >>> x = mg.tensor([1, 2])
        >>> x.repeat_interleave(2)
        tensor([1, 1, 2, 2])
        >>> x.repeat_interleave(mg.tensor([1, 3]))
        tensor([1, 2, 2, 2])
        """
    def unsqueeze(self, dim: _int) -> Tensor:
        """A new axis of size 1 before `dim`, which may be one past the last; a view.

        Arguments:
            dim (int): along which axis

        Errors: An axis out of range.

        >>> x = mg.tensor([1, 2])
        >>> x.unsqueeze(0).shape, x.unsqueeze(-1).shape
        ((1, 2), (2, 1))
        """
    def unsqueeze_(self, dim: _int) -> Self:
        """`unsqueeze` of the tensor itself, which is answered. See `unsqueeze`.

        Arguments:
            dim (int): along which axis
        """
    @overload
    def squeeze(self, dim: _Dims | None = None) -> Tensor:
        """Without axes of size 1: one, several (others stay), or all of them; a view.

        Arguments:
            dim (int or ints, or None): along which axes

        Errors: An axis out of range, or twice the same.

        >>> x = mg.zeros(1, 2, 1)
        >>> x.squeeze().shape, x.squeeze(0).shape
        ((2,), (2, 1))
        """
    @overload
    def squeeze(self, *dim: _int) -> Tensor:
        """Without axes of size 1: one, several (others stay), or all of them; a view.

        Arguments:
            dim (int or ints, or None): along which axes

        Errors: An axis out of range, or twice the same.

        >>> x = mg.zeros(1, 2, 1)
        >>> x.squeeze().shape, x.squeeze(0).shape
        ((2,), (2, 1))
        """
    @overload
    def squeeze_(self, dim: _Dims | None = None) -> Self:
        """`squeeze` of the tensor itself, which is answered. See `squeeze`.

        Arguments:
            dim (int or ints, or None): along which axes
        """
    @overload
    def squeeze_(self, *dim: _int) -> Self:
        """`squeeze` of the tensor itself, which is answered. See `squeeze`.

        Arguments:
            dim (int or ints, or None): along which axes
        """
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Windows of `size` positions along an axis, every `step`; the axis counts them, and a new last one is within them. A view:
        where windows overlap they share their elements.

        Arguments:
            dimension (int): the axis
            size (int)
            step (int)

        Errors: An axis out of range, windows longer than it, step 0.

        >>> x = mg.arange(5)
        >>> x.unfold(0, 3, 1)
        tensor([[0, 1, 2],
                [1, 2, 3],
                [2, 3, 4]])
        """
    def as_strided(self, size: _Sizes, stride: _Dims, storage_offset: _int | None = None) -> Tensor:
        """The memory that the tensor is of, seen with these sizes and strides from `storage_offset` on, all in elements (from where
        the tensor begins, if that is not given). A view; what lies in memory as computed results do is row-major.

        Arguments:
            size (int or ints): the sizes
            stride (int or ints): how far neighbours along each axis are from each other in memory
            storage_offset (int, or None)

        Errors: What lies outside of the memory; as many strides as sizes are wanted; a detached view.

        >>> x = mg.arange(5)
        >>> x.as_strided((3, 2), (1, 2))
        tensor([[0, 2],
                [1, 3],
                [2, 4]])
        """
    @overload
    def resize_(self, size: _Sizes) -> Self:
        """The tensor in another shape, whatever its number of elements: what stands in its memory from where it begins, in row-major order. Where there
        is less, it has memory of its own from then on, with zeros behind what there was, and other views stay what they were.

        Arguments:
            size (int or ints): the sizes

        Errors: A tensor that requires a gradient, which keeps its size: make another one of `x.detach().clone()`; a shape that is too large.

        >>> mg.arange(6).resize_(2, 2)
        tensor([[0, 1],
                [2, 3]])
        >>> mg.tensor([1, 2]).resize_(3)
        tensor([1, 2, 0])
        """
    @overload
    def resize_(self, *size: _int) -> Self:
        """The tensor in another shape, whatever its number of elements: what stands in its memory from where it begins, in row-major order. Where there
        is less, it has memory of its own from then on, with zeros behind what there was, and other views stay what they were.

        Arguments:
            size (int or ints): the sizes

        Errors: A tensor that requires a gradient, which keeps its size: make another one of `x.detach().clone()`; a shape that is too large.

        >>> mg.arange(6).resize_(2, 2)
        tensor([[0, 1],
                [2, 3]])
        >>> mg.tensor([1, 2]).resize_(3)
        tensor([1, 2, 0])
        """
    def resize_as_(self, the_template: Tensor) -> Self:
        """The tensor in another one's shape: see `resize_`.

        Arguments:
            the_template (tensor): the tensor whose shape it is

        Errors: A tensor that requires a gradient.

        >>> mg.arange(6).resize_as_(mg.empty(3, 2))
        tensor([[0, 1],
                [2, 3],
                [4, 5]])
        """
    def t(self) -> Tensor:
        """The transpose of a matrix; a view of all of it for vectors and scalars.

        Errors: More than two axes.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.t()
        tensor([[1, 3],
                [2, 4]])
        """
    def t_(self) -> Self:
        """`t` of the tensor itself, which is answered. See `t`."""
    def clone(self) -> Tensor:
        """A copy of the value in its own memory; gradients flow through it.

        >>> x = mg.tensor([1, 2])
        >>> y = x.clone()
        >>> y[0] = 9
        >>> x
        tensor([1, 2])
        """
    def sum(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The sum of all elements, or over some axes. Integers and truth values become int64; `dtype` is what the elements are
        converted to before. Floats are added in blocks of float32 or float64, and the blocks' sums in float64.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range or named twice.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.sum()
        tensor(10)
        >>> x.sum(dim=0), x.sum(dim=1, keepdim=True)
        (tensor([4, 6]), tensor([[3],
                [7]]))
        """
    def prod(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The product of all elements, or over some axes. Integers and truth values become int64; `dtype` is what the elements are
        converted to before.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range or named twice.

        >>> x = mg.tensor([[1, 2], [3, 4]])
        >>> x.prod(), x.prod(1)
        (tensor(24), tensor([ 2, 12]))
        """
    def mean(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The mean of all elements, or over some axes; of integers, in the default float unless `dtype` says otherwise.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range or named twice, a `dtype` of integers.

        >>> x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> x.mean(), x.mean(dim=0)
        (tensor(2.5000), tensor([2., 3.]))
        """
    def nansum(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The sum of what is not NaN, of all elements or over some axes.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range or named twice.

        >>> x = mg.tensor([1.0, float("nan"), 2.0])
        >>> x.nansum()
        tensor(3.)
        """
    def nanmean(self, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The mean of what is not NaN, of all elements or over some axes; of integers, in the default float.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range or named twice, a `dtype` of integers.

        >>> x = mg.tensor([1.0, float("nan"), 2.0])
        >>> x.nanmean()
        tensor(1.5000)
        """
    def amax(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """The largest element, or the largest over some axes; NaN if any is. Equal ones share the gradient.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range or named twice; no elements.

        >>> x = mg.tensor([[1, 7], [3, 4]])
        >>> x.amax(dim=1)
        tensor([7, 4])
        """
    def amin(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """The smallest element, or the smallest over some axes; NaN if any is. Equal ones share the gradient.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range or named twice; no elements.

        >>> x = mg.tensor([[1, 7], [3, 4]])
        >>> x.amin(dim=(0, 1))
        tensor(1)
        """
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> tuple[Tensor, ...]:
        """The smallest and the largest element, of all or along an axis. Equal ones share the gradient.

        Arguments:
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range; no elements.

        >>> x = mg.tensor([3, 1, 2])
        >>> x.aminmax()
        aminmax(min=tensor(1), max=tensor(3))
        """
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index (int64) of the first largest element along an axis, or of the flattened tensor.

        Arguments:
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: Truth values; an axis out of range; no elements.

        >>> x = mg.tensor([[1, 7], [3, 2]])
        >>> x.argmax(), x.argmax(dim=1)
        (tensor(1), tensor([1, 0]))
        """
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index (int64) of the first smallest element along an axis, or of the flattened tensor.

        Arguments:
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: Truth values; an axis out of range; no elements.

        >>> x = mg.tensor([[1, 7], [3, 2]])
        >>> x.argmin(), x.argmin(dim=1)
        (tensor(0), tensor([0, 1]))
        """
    def any(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """Whether any element is not zero, of all or over some axes: a truth value, and of uint8 a uint8.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range or named twice.

        >>> x = mg.tensor([[0, 0], [0, 3]])
        >>> x.any(), x.any(dim=1)
        (tensor(True), tensor([False,  True]))
        """
    def all(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """Whether no element is zero, of all or over some axes: a truth value, and of uint8 a uint8.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range or named twice.

        >>> x = mg.tensor([[1, 0], [2, 3]])
        >>> x.all(), x.all(dim=1)
        (tensor(False), tensor([False,  True]))
        """
    def count_nonzero(self, dim: _Dims | None = None) -> Tensor:
        """How many elements are not zero (int64), of all or over some axes.

        Arguments:
            dim (int or ints, or None): along which axes

        Errors: An axis out of range or named twice.

        >>> x = mg.tensor([[0, 1], [2, 3]])
        >>> x.count_nonzero(), x.count_nonzero(dim=1)
        (tensor(3), tensor([1, 2]))
        """
    def var(self, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
        """The variance of all elements, or over some axes: squares of deviations from the mean, over their count less
        `correction`, which is 1 (Bessel's) unless `unbiased` is false. Over 0, where the correction is larger.

        Arguments:
            dim (int or ints, or None): along which axes
            unbiased (bool, or None)
            keepdim (bool, default False): whether the axes stay, with size 1
            correction (float, or None)

        Errors: A tensor that is not of floats; an axis out of range or named twice.

        >>> x = mg.tensor([1.0, 2.0, 3.0, 4.0])
        >>> x.var(), x.var(correction=0)
        (tensor(1.6667), tensor(1.2500))
        """
    def std(self, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
        """The standard deviation, the square root of the variance, of all elements or over some axes; see `var`. Its gradient is 0
        where nothing varies.

        Arguments:
            dim (int or ints, or None): along which axes
            unbiased (bool, or None): whether the squares are divided by one less than their count
            keepdim (bool, default False): whether the axes stay, with size 1
            correction (float, or None): by how much less than their count they are divided; 1, where nothing is said

        Errors: A tensor that is not of floats; an axis out of range or named twice.

        >>> x = mg.tensor([[1.0, 3.0], [1.0, 5.0]])
        >>> x.std(dim=1)
        tensor([1.4142, 2.8284])
        """
    def logsumexp(self, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
        """`log Σ eˣ` over some axes (all, if none is named), without overflow. Integers become the default float.

        Arguments:
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range or named twice.

        >>> x = mg.tensor([1000.0, 1000.0])
        >>> x.logsumexp(dim=0)
        tensor(1000.6932)
        """
    def norm(self, p: _float | str = "fro", dim: _Dims | None = None, keepdim: _bool = False, dtype: _DType | None = None) -> Tensor:
        """The norm of all elements as one vector, or over some axes: the `p`-th root of the sum of `p`-th powers of magnitudes
        (2 for `"fro"`); `"nuc"` is the sum of singular values of matrices. With `p` infinite the largest magnitude, −∞ the smallest, 0 how many are not zero. The gradient of a
        norm that is 0 is 0. Integers become the default float.

        Arguments:
            p (float or str, default "fro")
            dim (int or ints, or None): along which axes
            keepdim (bool, default False): whether the axes stay, with size 1
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range or named twice; a `p` that is NaN or another word; with an infinite or negative `p`, no elements.

        >>> x = mg.tensor([[3.0, 4.0], [6.0, 8.0]])
        >>> x.norm(dim=1), x.norm(p=1)
        (tensor([ 5., 10.]), tensor(21.))
        """
    def dist(self, other: Tensor, p: _float = 2.0) -> Tensor:
        """The `p`-norm of the difference to another tensor, which is broadcast.

        Arguments:
            other (tensor): the second operand
            p (float, default 2.0)

        Errors: Shapes that do not broadcast, unlike devices; a `p` that is NaN.

        >>> x = mg.tensor([1.0, 1.0])
        >>> x.dist(mg.tensor([4.0, 5.0]))
        tensor(5.)
        """
    def renorm(self, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """The parts along an axis, those whose `p`-norm is larger than `maxnorm` scaled down to it.

        Arguments:
            p (float)
            dim (int): along which axis
            maxnorm (float)

        Errors: Fewer than two axes, an axis out of range, a `p` that is not positive, a negative `maxnorm`.

        >>> x = mg.tensor([[3.0, 4.0], [0.3, 0.4]])
        >>> x.renorm(2, 0, 1.0)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
        """
    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Self:
        """`renorm`, written into the tensor, which is answered. See `renorm`.

        Arguments:
            p (float)
            dim (int): along which axis
            maxnorm (float)
        """
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """Differences of neighbours along an axis, taken `n` times; of truth values, whether they differ. `prepend` and `append`
        are put before and after the elements first, unless `n` is 0.

        Arguments:
            n (int, default 1)
            dim (int, default -1): along which axis
            prepend (tensor, or None)
            append (tensor, or None)

        Errors: A tensor without axes, an axis out of range; what is put beside it and does not fit.

        >>> x = mg.tensor([1, 4, 9, 16])
        >>> x.diff(), x.diff(n=2)
        (tensor([3, 5, 7]), tensor([2, 2]))
        """
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance matrix of variables, which are rows, by observations, which are columns; of one row, the variance. Each
        observation counts `fweights` times (integers), and with `aweights`; both have one axis. Integers become the default float.

        Arguments:
            correction (int, default 1): by how much less than the count of observations sums are divided
            fweights (tensor, or None)
            aweights (tensor, or None)

        Errors: More than two axes; weights of another number than the observations', that are no integers or floats, negative, or not finite.

        >>> x = mg.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
        >>> x.cov()
        tensor([[ 1., -1.],
                [-1.,  1.]])
        """
    def corrcoef(self) -> Tensor:
        """The matrix of correlation coefficients of variables, which are rows, by observations, which are columns. Integers become
        the default float.

        Errors: More than two axes.

        >>> x = mg.tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])
        >>> x.corrcoef()
        tensor([[ 1., -1.],
                [-1.,  1.]])
        """
    def cumsum(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """The sum of each element and all before it along an axis. Integers become int64. float32 is added in float64, half types in float32; the
        order of additions depends on the shape alone.

        Arguments:
            dim (int): along which axis
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range.

        >>> x = mg.tensor([[1, 2, 3], [4, 5, 6]])
        >>> x.cumsum(1)
        tensor([[ 1,  3,  6],
                [ 4,  9, 15]])
        """
    def cumulative_sum(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """The sum of each element and all before it along an axis. Integers become int64. float32 is added in float64, half types in float32; the
        order of additions depends on the shape alone.

        Arguments:
            dim (int): along which axis
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range.

        >>> x = mg.tensor([[1, 2, 3], [4, 5, 6]])
        >>> x.cumulative_sum(1)
        tensor([[ 1,  3,  6],
                [ 4,  9, 15]])
        """
    def cumsum_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """`cumsum`, written into the tensor, which is answered. See `cumsum`.

        Arguments:
            dim (int): along which axis
            dtype (dtype, or None): the dtype of the result
        """
    def cumulative_sum_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """`cumsum`, written into the tensor, which is answered. See `cumsum`.

        Arguments:
            dim (int): along which axis
            dtype (dtype, or None): the dtype of the result
        """
    def cumprod(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """The product of each element and all before it along an axis. Integers become int64.

        Arguments:
            dim (int): along which axis
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range.

        >>> x = mg.tensor([1, 2, 3, 4])
        >>> x.cumprod(0)
        tensor([ 1,  2,  6, 24])
        """
    def cumulative_prod(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """The product of each element and all before it along an axis. Integers become int64.

        Arguments:
            dim (int): along which axis
            dtype (dtype, or None): the dtype of the result

        Errors: An axis out of range.

        >>> x = mg.tensor([1, 2, 3, 4])
        >>> x.cumulative_prod(0)
        tensor([ 1,  2,  6, 24])
        """
    def cumprod_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """`cumprod`, written into the tensor, which is answered. See `cumprod`.

        Arguments:
            dim (int): along which axis
            dtype (dtype, or None): the dtype of the result
        """
    def cumulative_prod_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """`cumprod`, written into the tensor, which is answered. See `cumprod`.

        Arguments:
            dim (int): along which axis
            dtype (dtype, or None): the dtype of the result
        """
    def logcumsumexp(self, dim: _int) -> Tensor:
        """`log Σ eˣ` of each element and all before it along an axis, without overflow. Integers become the default float.

        Arguments:
            dim (int): along which axis

        Errors: An axis out of range.

        >>> x = mg.tensor([1000.0, 1000.0])
        >>> x.logcumsumexp(0)
        tensor([1000.0000, 1000.6932])
        """
    def cummax(self, dim: _int) -> Extreme:
        """The largest element so far along an axis, and its index (int64): of equal ones the last. NaN is larger than every number. The
        gradient goes to the element at the index.

        Arguments:
            dim (int): along which axis

        Errors: An axis out of range.

        >>> x = mg.tensor([1, 3, 2, 5])
        >>> x.cummax(0)
        cummax(values=tensor([1, 3, 3, 5]), indices=tensor([0, 1, 1, 3]))
        """
    def cummin(self, dim: _int) -> Extreme:
        """The smallest element so far along an axis, and its index (int64): of equal ones the last. NaN is smaller than every number. The
        gradient goes to the element at the index.

        Arguments:
            dim (int): along which axis

        Errors: An axis out of range.

        >>> x = mg.tensor([5, 3, 4, 1])
        >>> x.cummin(0)
        cummin(values=tensor([5, 3, 3, 1]), indices=tensor([0, 1, 1, 3]))
        """
    def recurrence(self, factors: Tensor, dim: _int) -> Tensor:
        """The linear recurrence `yᵢ = xᵢ + aᵢ yᵢ₋₁` along an axis, which begins with `y₋₁ = 0`; `factors` are the `aᵢ`, and broadcast.
        Exponential averages, discounted returns and state-space models are of this kind. Integers become the default float.

        Arguments:
            factors (tensor)
            dim (int): along which axis

        Errors: An axis out of range; factors that do not broadcast to the shape.

        >>> x = mg.tensor([1.0, 1.0, 1.0])
        >>> x.recurrence(mg.tensor(0.5), 0)
        tensor([1.0000, 1.5000, 1.7500])
        """
    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The elements that are met, in order, each once; or with `dim` the parts along an axis that are met, in the order of their
        elements. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how often each is
        met (both int64). NaN is equal to nothing. The result is in order whether `sorted` is asked for or not. How many there are is
        looked at. The gradient goes to the first of what is equal.

        Arguments:
            sorted (bool, default True)
            return_inverse (bool, default False)
            return_counts (bool, default False)
            dim (int, or None): along which axis

        Errors: An axis out of range; parts without elements.

        >>> x = mg.tensor([3, 1, 3, 2])
        >>> x.unique()
        tensor([1, 2, 3])
        >>> x.unique(return_counts=True)
        (tensor([1, 2, 3]), tensor([1, 1, 2]))
        """
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The elements of which neighbours are not equal, in the tensor's own order: the first of each run; or with `dim` the parts along an
        axis. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how long each run is
        (both int64). NaN is equal to nothing. How many there are is looked at. The gradient goes to the first of each run.

        Arguments:
            return_inverse (bool, default False)
            return_counts (bool, default False)
            dim (int, or None): along which axis

        Errors: An axis out of range; parts without elements.

        >>> x = mg.tensor([1, 1, 2, 1])
        >>> x.unique_consecutive()
        tensor([1, 2, 1])
        """
    def sort(self, dim: _int = -1, descending: _bool = False, *, stable: _bool = False) -> Extreme:
        """The elements along an axis in order, and the positions (int64) that they had. NaN is larger than every number, and equal elements
        keep their order, whether `stable` is asked for or not. The gradient goes back to where the elements came from.

        Arguments:
            dim (int, default -1): along which axis
            descending (bool, default False): whether the largest come first
            stable (bool, default False)

        Errors: An axis out of range.

        >>> x = mg.tensor([3, 1, 2])
        >>> x.sort()
        sort(values=tensor([1, 2, 3]), indices=tensor([1, 2, 0]))
        >>> x.sort(descending=True).values
        tensor([3, 2, 1])
        """
    def argsort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Tensor:
        """The positions (int64) of the elements along an axis, in the elements' order. NaN is larger than every number, and equal elements
        keep their order.

        Arguments:
            dim (int, default -1): along which axis
            descending (bool, default False): whether the largest come first
            stable (bool, default False): whether equal elements keep their order, as they do always

        Errors: An axis out of range.

        >>> x = mg.tensor([3, 1, 2])
        >>> x.argsort()
        tensor([1, 2, 0])
        """
    def msort(self) -> Tensor:
        """The elements in order along the first axis: `sort` without the positions.

        >>> x = mg.tensor([[3, 1], [2, 4]])
        >>> x.msort()
        tensor([[2, 1],
                [3, 4]])
        """
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> Extreme:
        """The `k` largest elements along an axis (or the smallest), in order, and their positions (int64): of equal ones the first. NaN is larger than
        every number. The result is in order whether `sorted` is asked for or not.

        Arguments:
            k (int)
            dim (int, default -1): along which axis
            largest (bool, default True)
            sorted (bool, default True)

        Errors: An axis out of range; more elements than there are; truth values.

        >>> x = mg.tensor([3, 1, 5, 2])
        >>> x.topk(2)
        topk(values=tensor([5, 3]), indices=tensor([2, 0]))
        """
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> Extreme:
        """The `k`-th smallest element along an axis (from 1), and its position (int64). NaN is larger than every number. The gradient goes to
        the element at the position.

        Arguments:
            k (int)
            dim (int, default -1): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range; a `k` that is 0 or more than there are elements; truth values.

        >>> x = mg.tensor([3, 1, 5, 2])
        >>> x.kthvalue(2)
        kthvalue(values=tensor(2), indices=tensor(3))
        """
    @overload
    def median(self, dim: None = None, keepdim: _bool = False) -> Tensor:
        """The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
        equal ones sharing the gradient; or along an axis with its position (int64), to which the gradient goes.

        Arguments:
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range, or without elements; truth values.

        >>> x = mg.tensor([[1, 9, 5], [4, 2, 8]])
        >>> x.median()
        tensor(4)
        >>> x.median(dim=1)
        median(values=tensor([5, 4]), indices=tensor([2, 0]))
        """
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> Extreme:
        """The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
        equal ones sharing the gradient; or along an axis with its position (int64), to which the gradient goes.

        Arguments:
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range, or without elements; truth values.

        >>> x = mg.tensor([[1, 9, 5], [4, 2, 8]])
        >>> x.median()
        tensor(4)
        >>> x.median(dim=1)
        median(values=tensor([5, 4]), indices=tensor([2, 0]))
        """
    @overload
    def nanmedian(self, dim: None = None, keepdim: _bool = False) -> Tensor:
        """As `median`, of what is not NaN; NaN where nothing else is.

        Arguments:
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range, or without elements; truth values.

        >>> x = mg.tensor([1.0, float("nan"), 3.0, 2.0])
        >>> x.nanmedian()
        tensor(2.)
        """
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> Extreme:
        """As `median`, of what is not NaN; NaN where nothing else is.

        Arguments:
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range, or without elements; truth values.

        >>> x = mg.tensor([1.0, float("nan"), 3.0, 2.0])
        >>> x.nanmedian()
        tensor(2.)
        """
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> Extreme:
        """The element that is met most often along an axis, the least of several, and the last position (int64) where it is. The gradient
        goes to that. NaN is equal to nothing.

        Arguments:
            dim (int, default -1): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1

        Errors: An axis out of range, or without elements.

        >>> x = mg.tensor([1, 2, 2, 3])
        >>> x.mode()
        mode(values=tensor(2), indices=tensor(2))
        """
    def quantile(self, q: _Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear") -> Tensor:
        """The elements below which a share `q` of all lies, or of those along an axis; with several shares (one axis), these come first in the
        result. Between two elements it is found by `interpolation`: "linear", "lower", "higher", "nearest" or "midpoint". NaN where
        any element is NaN. float32 and float64.

        Arguments:
            q (tensor or number)
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1
            interpolation (str, default "linear")

        Errors: An axis out of range; no elements; shares that are not between 0 and 1, or of another dtype; another dtype or interpolation.

        >>> x = mg.tensor([0.0, 1.0, 2.0, 3.0])
        >>> x.quantile(0.5), x.quantile(mg.tensor([0.0, 0.1]))
        (tensor(1.5000), tensor([0.0000, 0.3000]))
        """
    def nanquantile(self, q: _Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear") -> Tensor:
        """As `quantile`, of what is not NaN.

        Arguments:
            q (tensor or number): the share, or several in one axis
            dim (int, or None): along which axis
            keepdim (bool, default False): whether the axes stay, with size 1
            interpolation (str, default "linear"): what lies between two elements, as `quantile`

        Errors: As `quantile`.

        >>> x = mg.tensor([0.0, float("nan"), 2.0])
        >>> x.nanquantile(0.5)
        tensor(1.)
        """
    def gcd(self, other: _Operand) -> Tensor:
        """The greatest common divisor of integers, which is not negative; that of 0 and 0 is 0.

        Arguments:
            other (tensor or number): the second operand

        Errors: What is no integer, shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([12, -9])
        >>> x.gcd(mg.tensor([8, 6]))
        tensor([4, 3])
        """
    def gcd_(self, other: _Operand) -> Self:
        """`gcd`, written into the tensor, which is answered. See `gcd`.

        Arguments:
            other (tensor or number): the second operand
        """
    def lcm(self, other: _Operand) -> Tensor:
        """The least common multiple of integers, which is not negative; 0 where one of them is.

        Arguments:
            other (tensor or number): the second operand

        Errors: What is no integer, shapes that do not broadcast, unlike devices.

        >>> x = mg.tensor([4, 6])
        >>> x.lcm(mg.tensor([6, 9]))
        tensor([12, 18])
        """
    def lcm_(self, other: _Operand) -> Self:
        """`lcm`, written into the tensor, which is answered. See `lcm`.

        Arguments:
            other (tensor or number): the second operand
        """
    def igamma(self, other: _Operand) -> Tensor:
        """The regularised lower incomplete gamma function `P(a, x) = ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a)`, with the tensor as `a`, for `a` and `x` that are not
        negative. Integers become the default float; half types are computed in float32. By series and continued fractions, with a gradient by `x` alone.

        Arguments:
            other (tensor or number): `x`

        Errors: Shapes that do not broadcast, unlike devices.

        >>> a = mg.tensor([1.0, 2.0])
        >>> a.igamma(mg.tensor([1.0, 2.0]))
        tensor([0.6321, 0.5940])
        """
    def igamma_(self, other: _Operand) -> Self:
        """`igamma`, written into the tensor, which is answered. See `igamma`.

        Arguments:
            other (tensor or number): `x`
        """
    def igammac(self, other: _Operand) -> Tensor:
        """The regularised upper incomplete gamma function `Q(a, x) = 1 − P(a, x)`: see `igamma`.

        Arguments:
            other (tensor or number): `x`

        Errors: Shapes that do not broadcast, unlike devices.

        >>> a = mg.tensor([1.0, 2.0])
        >>> a.igammac(mg.tensor([1.0, 2.0]))
        tensor([0.3679, 0.4060])
        """
    def igammac_(self, other: _Operand) -> Self:
        """`igammac`, written into the tensor, which is answered. See `igammac`.

        Arguments:
            other (tensor or number): `x`
        """
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind and order 0. Integers become the default float.

        >>> x = mg.tensor([0.0, 1.0])
        >>> x.i0()
        tensor([1.0000, 1.2661])
        """
    def i0_(self) -> Self:
        """`i0`, written into the tensor, which is answered. See `i0`."""
    def polygamma_(self, n: _int) -> Self:
        """The derivative of order n of `digamma`.

        Arguments:
            n (int)

        Errors: A negative order; a tensor that is not of floats.

        >>> mg.tensor([1.0, 2.0]).polygamma_(1)
        tensor([1.6449, 0.6449])
        """
    def mvlgamma(self, p: _int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p. Integers become the default float.

        Arguments:
            p (int)

        Errors: A dimension below 1 or above 1024; truth values.

        >>> x = mg.tensor([2.0, 3.0])
        >>> x.mvlgamma(2)
        tensor([0.4516, 1.5502])
        """
    def mvlgamma_(self, p: _int) -> Self:
        """`mvlgamma`, written into the tensor, which is answered. See `mvlgamma`.

        Arguments:
            p (int)
        """

    # Views and conversions.
    @property
    def T(self) -> Tensor:
        """All axes in reverse order.

        >>> mg.tensor([[1, 2], [3, 4]]).T
        tensor([[1, 3],
                [2, 4]])
        """
    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged.

        Errors: IndexError for one axis.

        >>> mg.zeros(5, 2, 3).mT.shape
        (5, 3, 2)
        """
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

        Arguments:
            args: a device, a dtype, both, or another tensor
            copy: whether it is a copy where nothing changes, too
            kwargs: `device`, `dtype`, `other`, and what has no effect here: `non_blocking`, `memory_format`

        Errors: ArgumentError for what is no device; RuntimeError for a device that is not there; TypeError for what is neither.

        >>> x = mg.tensor([1, 2])
        >>> x.to(mg.float16)
        tensor([1., 2.], dtype=micrograd_rs.float16)
        >>> x.to("cpu") is x
        True
        """
    def cpu(self) -> Tensor:
        """The tensor on the host.

        >>> mg.tensor([1.0]).cpu().device
        Device('cpu')
        """
    def cuda(
        self,
        device: _int | _Device | None = None,
        non_blocking: _bool = False,
        memory_format: _Format | None = None,
    ) -> Tensor:
        """The tensor on a CUDA device.

        Arguments:
            device: which one, by its number or name; the current one unless it says
            non_blocking: of no effect, since nobody waits for a copy

        Errors: RuntimeError where there is no such device.

        >>> mg.tensor([1.0]).cuda()  # doctest: +SKIP
        """
    @overload
    def type(self, dtype: None = None, non_blocking: _bool = False) -> _DTypeClass:
        """As `to(dtype)`; without one, the dtype.

        >>> x = mg.tensor([1, 2])
        >>> x.type(), x.type(mg.float32)
        (micrograd_rs.int64, tensor([1., 2.]))

        Arguments:
            dtype: the dtype
            non_blocking: of no effect
        """
    @overload
    def type(self, dtype: _DType, non_blocking: _bool = False) -> Tensor:
        """As `to(dtype)`; without one, the dtype.

        >>> x = mg.tensor([1, 2])
        >>> x.type(), x.type(mg.float32)
        (micrograd_rs.int64, tensor([1., 2.]))

        Arguments:
            dtype: the dtype
            non_blocking: of no effect
        """
    def float(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(float32)`.

        >>> mg.tensor([1, 2]).float()
        tensor([1., 2.])
        """
    def double(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(float64)`.

        >>> mg.tensor([1.0]).double()
        tensor([1.], dtype=micrograd_rs.float64)
        """
    def half(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(float16)`.

        >>> mg.tensor([1.0, 1e6]).half()
        tensor([1., inf], dtype=micrograd_rs.float16)
        """
    def bfloat16(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(bfloat16)`.

        >>> mg.tensor([1.0, 2.0]).bfloat16()
        tensor([1., 2.], dtype=micrograd_rs.bfloat16)
        """
    def long(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(int64)`.

        >>> mg.tensor([1.7, -1.7]).long()
        tensor([ 1, -1])
        """
    def int(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(int32)`.

        >>> mg.tensor([1.7, -1.7]).int()
        tensor([ 1, -1], dtype=micrograd_rs.int32)
        """
    def short(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(int16)`.

        >>> mg.tensor([1.7, -1.7]).short()
        tensor([ 1, -1], dtype=micrograd_rs.int16)
        """
    def char(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(int8)`.

        >>> mg.tensor([1.5, -2.0]).char()
        tensor([ 1, -2], dtype=micrograd_rs.int8)
        """
    def byte(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(uint8)`.

        >>> mg.tensor([1.0, 255.0]).byte()
        tensor([  1, 255], dtype=micrograd_rs.uint8)
        """
    def bool(self, memory_format: _Format | None = None) -> Tensor:
        """As `to(bool)`.

        >>> mg.tensor([0.0, 0.5]).bool()
        tensor([False,  True])
        """

    # Indexing.
    def nonzero(self, *, out: None = None, as_tuple: _bool = False) -> Any:
        """The positions of what is not zero: a row each. With `as_tuple`, a tensor for each axis.

        Arguments:
            as_tuple: whether there is a tensor for each axis

        >>> x = mg.tensor([[0, 5], [7, 0]])
        >>> x.nonzero()
        tensor([[0, 1],
                [1, 0]])
        >>> x.nonzero(as_tuple=True)
        (tensor([0, 1]), tensor([1, 0]))
        """
    def where(self, condition: Tensor, other: _Operand) -> Tensor:
        """`self` where the condition holds, else `other`.

        Arguments:
            condition: truth values; they and both tensors broadcast
            other: a tensor or a number

        >>> x = mg.tensor([-1.0, 2.0])
        >>> x.where(x > 0, 0.0)
        tensor([0., 2.])
        """

    # Reductions.
    @overload
    def max(self, dim: _int, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Extreme:
        """The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.

        Arguments:
            dim: the axis, or another tensor

        Errors: EmptyError where there are no elements; IndexError for an axis out of range.

        >>> x = mg.tensor([[1, 7], [3, 2]])
        >>> x.max()
        tensor(7)
        >>> x.max(dim=1)
        max(values=tensor([7, 3]), indices=tensor([1, 0]))
        >>> x.max(mg.tensor(3))
        tensor([[3, 7],
                [3, 3]])
        """
    @overload
    def max(self, *, axis: _int, keepdim: _bool = False, keepdims: _bool | None = None) -> Extreme:
        """The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.

        Arguments:
            dim: the axis, or another tensor

        Errors: EmptyError where there are no elements; IndexError for an axis out of range.

        >>> x = mg.tensor([[1, 7], [3, 2]])
        >>> x.max()
        tensor(7)
        >>> x.max(dim=1)
        max(values=tensor([7, 3]), indices=tensor([1, 0]))
        >>> x.max(mg.tensor(3))
        tensor([[3, 7],
                [3, 3]])
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

        Arguments:
            dim: the axis, or another tensor

        Errors: EmptyError where there are no elements; IndexError for an axis out of range.

        >>> x = mg.tensor([[1, 7], [3, 2]])
        >>> x.max()
        tensor(7)
        >>> x.max(dim=1)
        max(values=tensor([7, 3]), indices=tensor([1, 0]))
        >>> x.max(mg.tensor(3))
        tensor([[3, 7],
                [3, 3]])
        """
    @overload
    def min(self, dim: _int, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Extreme:
        """The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.

        Arguments:
            dim: the axis, or another tensor

        Errors: EmptyError where there are no elements; IndexError for an axis out of range.

        >>> x = mg.tensor([[1, 7], [3, 2]])
        >>> x.min()
        tensor(1)
        >>> x.min(dim=1)
        min(values=tensor([1, 2]), indices=tensor([0, 1]))
        >>> x.min(mg.tensor(3))
        tensor([[1, 3],
                [3, 2]])
        """
    @overload
    def min(self, *, axis: _int, keepdim: _bool = False, keepdims: _bool | None = None) -> Extreme:
        """The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
        indices; over several axes, the values.

        Arguments:
            dim: the axis, or another tensor

        Errors: EmptyError where there are no elements; IndexError for an axis out of range.

        >>> x = mg.tensor([[1, 7], [3, 2]])
        >>> x.min()
        tensor(1)
        >>> x.min(dim=1)
        min(values=tensor([1, 2]), indices=tensor([0, 1]))
        >>> x.min(mg.tensor(3))
        tensor([[1, 3],
                [3, 2]])
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

        Arguments:
            dim: the axis, or another tensor

        Errors: EmptyError where there are no elements; IndexError for an axis out of range.

        >>> x = mg.tensor([[1, 7], [3, 2]])
        >>> x.min()
        tensor(1)
        >>> x.min(dim=1)
        min(values=tensor([1, 2]), indices=tensor([0, 1]))
        >>> x.min(mg.tensor(3))
        tensor([[1, 3],
                [3, 2]])
        """

class Value:
    """A number (float64) that remembers how it was computed: micrograd's `Value`.

    `backward()` gives every value that it came from its gradient. Leaves accumulate gradients over calls until
    `zero_grad()`. Equal is only what is the same value, as in micrograd: so sets, keys and `in` tell values of one number
    apart. `<`, `<=`, `>` and `>=` compare the data; for equal numbers, compare those: `a.data == 1`.

    Arguments:
        data: the number
        device: where it is computed
        label: what it is called in a drawing of the graph

    >>> a = mg.Value(2.0)
    >>> b = a * a + 3 * a
    >>> b.backward()
    >>> b.data, a.grad
    (10.0, 7.0)
    """

    __array_ufunc__: None

    def __new__(cls, data: SupportsFloat, device: _Device | None = None, label: str | None = None) -> Self: ...
    @property
    def data(self) -> _float:
        """The number. Setting it leaves what was computed from it as it is.

        >>> mg.Value(2.0).data
        2.0
        """
    @data.setter
    def data(self, data: _float) -> None: ...
    @property
    def grad(self) -> _float:
        """The derivative, by this value, of what `backward` was called on; 0 before.

        >>> a = mg.Value(3.0)
        >>> (a**2).backward()
        >>> a.grad
        6.0
        """
    @grad.setter
    def grad(self, grad: _float) -> None: ...
    @property
    def label(self) -> str:
        """The name shown in drawings.

        >>> mg.Value(2.0, label="a").label
        'a'
        """
    @label.setter
    def label(self, label: str) -> None: ...
    @property
    def _prev(self) -> set[Value]: ...
    @property
    def _op(self) -> str: ...
    @property
    def is_leaf(self) -> _bool:
        """Whether it was not computed from other values.

        >>> a = mg.Value(2.0)
        >>> a.is_leaf, (a * 2).is_leaf
        (True, False)
        """
    @property
    def device(self) -> Device:
        """The device it is labelled with.

        >>> mg.Value(2.0).device
        Device('cpu')
        """
    def to(self, device: _Device) -> Value:
        """The same number under another device's label; gradients flow back through it.

        >>> mg.Value(2.0).to("cpu").data
        2.0
        """
    def cpu(self) -> Value:
        """As `to("cpu")`.

        >>> mg.Value(2.0).cpu().device
        Device('cpu')
        """
    def cuda(self, ordinal: _int = 0) -> Value:
        """As `to("cuda:N")`.

        Arguments:
            ordinal: the device's number

        >>> mg.Value(2.0).cuda()  # doctest: +SKIP
        """
    def backward(self) -> None:
        """Gives every value that this one came from its gradient. Can be called again; leaves accumulate.

        >>> a, b = mg.Value(2.0), mg.Value(3.0)
        >>> (a * b + a).backward()
        >>> a.grad, b.grad
        (4.0, 2.0)
        """
    def zero_grad(self) -> None:
        """Sets the gradient to 0.

        >>> a = mg.Value(2.0)
        >>> (a * a).backward()
        >>> a.zero_grad()
        >>> a.grad
        0.0
        """
    def relu(self) -> Value:
        """`max(0, x)`.

        >>> mg.Value(-2.0).relu().data, mg.Value(3.0).relu().data
        (0.0, 3.0)
        """
    def exp(self) -> Value:
        """`eˣ`.

        >>> mg.Value(0.0).exp().data
        1.0
        """
    def log(self) -> Value:
        """The natural logarithm.

        >>> mg.Value(1.0).log().data
        0.0
        """
    def tanh(self) -> Value:
        """The hyperbolic tangent.

        >>> round(mg.Value(1.0).tanh().data, 4)
        0.7616
        """
    def sigmoid(self) -> Value:
        """`1 / (1 + e⁻ˣ)`.

        >>> mg.Value(0.0).sigmoid().data
        0.5
        """
    def trace(self) -> list[Value]:
        """Every value that this one was computed from, itself last, each behind its operands.

        >>> a, b = mg.Value(2.0), mg.Value(3.0)
        >>> sorted(value.data for value in (a * b).trace())
        [2.0, 3.0, 6.0]
        """
    def dot(self, rankdir: str = "LR") -> str:
        """The graph in Graphviz's DOT language. `rankdir` is "LR" or "TB".

        >>> (mg.Value(2.0) * 3).dot().startswith("digraph")
        True
        """
    def svg(self, rankdir: str = "LR") -> str:
        """The graph as an SVG picture; Graphviz is not needed. `rankdir` is "LR" or "TB".

        >>> (mg.Value(2.0) * 3).svg().startswith("<svg")
        True
        """
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
    """`relu(Σ wᵢ·xᵢ + b)`, or the sum alone if not `nonlin`. Weights are uniform in [−1, 1), the bias is 0.

    Arguments:
        nin: how many inputs it takes
        nonlin: whether negative sums become 0
        seed: what the weights are drawn by; unlike each time without one

    >>> n = mg.Neuron(2, seed=1)
    >>> len(n.parameters()), n([1.0, -2.0]).data >= 0
    (3, True)
    """

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
    """Neurons that take the same inputs.

    Arguments:
        nin: how many inputs each takes
        nout: how many neurons there are
        nonlin: whether negative sums become 0
        seed: what the weights are drawn by; unlike each time without one

    >>> layer = mg.Layer(2, 3, seed=1)
    >>> len(layer([1.0, -2.0])), len(layer.parameters())
    (3, 9)
    """

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
    """A multilayer perceptron: layers one after another, all with ReLU but the last, which is linear.

    Arguments:
        nin: how many inputs it takes
        nouts: how many neurons each layer has
        seed: what the weights are drawn by; unlike each time without one

    >>> model = mg.MLP(2, [4, 1], seed=1)
    >>> loss = (model([1.0, -2.0]) - 1) ** 2
    >>> loss.backward()
    >>> len(model.parameters()), any(p.grad != 0 for p in model.parameters())
    (17, True)
    """

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
    """The launches that computing some tensors would take; `print` shows them.

    >>> plan = mg.explain((mg.ones(3) * 2 + 1).sum())
    >>> len(plan)
    1
    """

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
    """Makes a replayed function: a call that does the same work as two calls before it is replayed, without a graph or a plan
    being made. It answers what the function would have: shapes, dtypes, devices and layouts of tensors among its arguments (in
    lists, tuples, dictionaries and dataclasses too) are looked at in each call, which of them are the same or share memory,
    numbers, strings and other objects by type and value or identity, modes and numbers of modules, the numbers that the function
    knows from around it, and whether gradients are recorded. Where something differs the function runs as usual and is recorded
    for that case too. It may read and update tensors that it knows from elsewhere (parameters, optimisers' state), and answers
    with tensors, alone or in lists, tuples and dictionaries. To read a tensor's value within it is an error, unless `may_read` says that
    it may, and is then called each time. So is a function that changes Python's objects around it (a counter, a list, a learning rate): leave that
    to the loop that calls it. What it prints is printed when it is not replayed, and `reason` says why it is not.
    """

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
    """Says how tensors are printed: digits, when and how much of long axes is left out, characters of a line, and whether numbers have
    an exponent (None: where their sizes ask for it). The rest is as it is by itself.

    Arguments:
        precision: how many digits there are behind the point
        threshold: of how many elements on the middle is left out
        edgeitems: how many are shown at each end then
        linewidth: how many characters a line has
        profile: "default", "short" or "full", which set the others
        sci_mode: whether numbers have an exponent

    Errors: ValueError for another profile.

    >>> mg.set_printoptions(precision=2)
    >>> mg.tensor([1 / 3])
    tensor([0.33])
    >>> mg.set_printoptions(profile="default")
    """

def get_num_threads() -> _int:
    """How many threads a launch on the host may use.

    >>> mg.get_num_threads() >= 1
    True
    """

def set_num_threads(num: _int) -> None:
    """Sets how many threads a launch on the host may use. Results do not depend on it.

    Arguments:
        num: how many, at least 1

    Errors: RuntimeError for a number below 1.

    >>> mg.set_num_threads(mg.get_num_threads())
    """

def explain(*tensors: Tensor) -> Explanation:
    """The launches that computing these tensors would take; none where their values are known. Nothing is computed."""

def realize(*tensors: Tensor | Sequence[Tensor]) -> None:
    """Computes several tensors, alone or in lists and tuples, together, in as few passes as they share.

    Arguments:
        tensors: one after the other, or in lists

    >>> x = mg.ones(3) * 2
    >>> y = x + 1
    >>> mg.realize(x, y)
    >>> x.is_realized, y.is_realized
    (True, True)
    """

def tensor(
    data: Any,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    layout: _Layout | None = None,
    pin_memory: _bool | None = None,
) -> Tensor:
    """A tensor of data, copied: floats are of the default dtype, integers i64, truth values bool; what has a dtype keeps it.

    Arguments:
        data: a number, nested sequences of numbers, an array or a tensor

    Errors: ValueError for sequences of unlike lengths; TypeError for what are no numbers; DTypeError where integers are to require a gradient;
    RuntimeError for a device that is not there.

    >>> mg.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> mg.tensor(0.5, dtype=mg.float64)
    tensor(0.5000, dtype=micrograd_rs.float64)
    """

def as_tensor(data: Any, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """A tensor as it is; a NumPy array by its own memory, as by `from_numpy`, where dtype and device are the array's; anything else as by `tensor`.

    Arguments:
        data: a tensor, an array, or what `tensor` takes

    Errors: As `tensor`.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.as_tensor(x) is x
    True
    >>> mg.as_tensor([1, 2], dtype=mg.float32)
    tensor([1., 2.])
    """

def from_numpy(array: Any) -> Tensor:
    """A tensor on a NumPy array's own memory: what is written to the array is seen by operations that come later. Arrays that
    cannot be used as they are (unaligned, of types that tensors do not have) are copied.

    Arguments:
        array: the array

    Errors: TypeError for what is no array, or one of other than numbers.

    >>> import numpy
    >>> a = numpy.zeros(2, dtype="float32")
    >>> x = mg.from_numpy(a)
    >>> a[0] = 9
    >>> x
    tensor([9., 0.])
    """

def from_dlpack(ext_tensor: Any, *, device: _Device | None = None, copy: _bool | None = None) -> Tensor:
    """A tensor of what another library exports by DLPack, on the device where it is: a copy, unless `copy=False` asks for its
    memory.

    Arguments:
        ext_tensor: what has `__dlpack__`, or a capsule
        copy: whether the memory is copied: it is unless this is false

    Errors: AttributeError for what exports nothing.

    >>> import numpy
    >>> mg.from_dlpack(numpy.arange(3))
    tensor([0, 1, 2])
    """

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
    """Zeros, of the default dtype unless asked otherwise.

    Arguments:
        shape: the sizes, one after the other or in one list
        size: the same, by name

    Errors: ValueError for a negative size; ArgumentError for more than 16 axes; TypeError for what are no integers; RuntimeError for a device that is
    not there.

    >>> mg.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    >>> mg.zeros(2, dtype=mg.int64)
    tensor([0, 0])
    """
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
    """Zeros, of the default dtype unless asked otherwise.

    Arguments:
        shape: the sizes, one after the other or in one list
        size: the same, by name

    Errors: ValueError for a negative size; ArgumentError for more than 16 axes; TypeError for what are no integers; RuntimeError for a device that is
    not there.

    >>> mg.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    >>> mg.zeros(2, dtype=mg.int64)
    tensor([0, 0])
    """

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
    """Zeros in the shape and dtype of another tensor, on its device.

    >>> mg.zeros_like(mg.tensor([[1, 2]]))
    tensor([[0, 0]])
    """

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
    """Ones, of the default dtype unless asked otherwise.

    Arguments:
        shape: the sizes, one after the other or in one list
        size: the same, by name

    Errors: As `zeros`.

    >>> mg.ones(2, 3)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
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
    """Ones, of the default dtype unless asked otherwise.

    Arguments:
        shape: the sizes, one after the other or in one list
        size: the same, by name

    Errors: As `zeros`.

    >>> mg.ones(2, 3)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """

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
    """Ones in the shape and dtype of another tensor, on its device.

    >>> mg.ones_like(mg.tensor([[1, 2]]), dtype=mg.float32)
    tensor([[1., 1.]])
    """

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
    """As `zeros`: there is no memory that nobody wrote.

    Arguments:
        shape: the sizes, one after the other or in one list
        size: the same, by name

    Errors: As `zeros`.

    >>> mg.empty(2, 3).shape
    (2, 3)
    """
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
    """As `zeros`: there is no memory that nobody wrote.

    Arguments:
        shape: the sizes, one after the other or in one list
        size: the same, by name

    Errors: As `zeros`.

    >>> mg.empty(2, 3).shape
    (2, 3)
    """

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
    """As `zeros_like`.

    >>> mg.empty_like(mg.tensor([[1, 2]])).dtype
    micrograd_rs.int64
    """

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
    """Uniform random numbers in the shape and dtype of another tensor, on its device.

    Errors: DTypeError for integers, unless `dtype` is another.

    >>> mg.rand_like(mg.zeros(2, 3)).shape
    (2, 3)
    """

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
    """Normal random numbers in the shape and dtype of another tensor, on its device.

    Errors: DTypeError for integers, unless `dtype` is another.

    >>> mg.randn_like(mg.zeros(2, 3, dtype=mg.float64)).dtype
    micrograd_rs.float64
    """

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
    """The same value everywhere; of the dtype of that number unless asked otherwise: the default float, i64, or bool. NumPy's numbers and tensors of one
    are numbers, too.

    Arguments:
        size: the shape
        fill_value: the value

    Errors: TypeError for what is no number; as `zeros`.

    >>> mg.full((2, 2), 7), mg.full((2,), 0.5)
    (tensor([[7, 7],
            [7, 7]]), tensor([0.5000, 0.5000]))
    """

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
    """The same value everywhere, in the shape and dtype of another tensor, on its device.

    Arguments:
        fill_value: the value

    >>> mg.full_like(mg.tensor([1.0, 2.0]), 7)
    tensor([7., 7.])
    """

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
    """The identity matrix, or its first `m` columns.

    Arguments:
        n: how many rows
        m: how many columns, as many as rows unless given

    Errors: ArgumentError for a negative number.

    >>> mg.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """

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
    """`start`, `start + step`, … before `end`: i64 if all three are integers, else the default dtype.

    Arguments:
        start: the first number; 0, where one number is given
        end: what it ends before
        step: how far neighbours are from each other, 1 unless given

    Errors: ArgumentError for a step of 0, or one that leads away from the end.

    >>> mg.arange(4)
    tensor([0, 1, 2, 3])
    >>> mg.arange(1, 2, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500])
    """

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
    """`steps` numbers from `start` to `end`, both included.

    Arguments:
        start: the first number
        end: the last one
        steps: how many there are

    Errors: ArgumentError for a negative number of steps.

    >>> mg.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """

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
    """Random integers from `low` (0, if one bound is given) up to `high`, which is left out.

    Arguments:
        low: the least integer; where two arguments are given the first is `high`
        high: what none reaches
        size: the shape

    Errors: ArgumentError where there is no integer between the bounds.

    >>> x = mg.randint(0, 3, (100,))
    >>> x.unique()
    tensor([0, 1, 2])
    """
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
    """Random integers from `low` (0, if one bound is given) up to `high`, which is left out.

    Arguments:
        low: the least integer; where two arguments are given the first is `high`
        high: what none reaches
        size: the shape

    Errors: ArgumentError where there is no integer between the bounds.

    >>> x = mg.randint(0, 3, (100,))
    >>> x.unique()
    tensor([0, 1, 2])
    """

def set_default_device(device: _Device) -> None:
    """Makes this the device of tensors that are made without naming one; the CPU at first, or what MG_DEVICE says.

    Arguments:
        device: the device

    Errors: RuntimeError for a device that is not there.

    >>> mg.set_default_device("cpu")
    >>> mg.zeros(2).device
    Device('cpu')
    """

def get_default_device() -> Device:
    """The device of tensors that are made without naming one.

    >>> mg.get_default_device()
    Device('cpu')
    """

def set_float32_matmul_precision(precision: Literal["highest", "high", "medium"]) -> None:
    """How products of f32 matrices are computed on CUDA devices: "highest" (at first) in f32 throughout, "high" and "medium" on
    tensor cores, with operands rounded to 10 bits of fraction. ValueError for anything else.

    Arguments:
        precision: "highest", "high" or "medium"

    >>> mg.set_float32_matmul_precision("highest")
    """

def get_float32_matmul_precision() -> Literal["highest", "high"]:
    """How products of f32 matrices are computed on CUDA devices: "highest" or "high", as which "medium" counts.

    >>> mg.get_float32_matmul_precision()
    'highest'
    """

class Generator:
    """A generator of random numbers: a seed, which is the key of Philox4x32-10, and the position of the next number. The same seed gives the same numbers on
    every device.

    What is drawn takes its positions where the operation is called, in the program's order: a draw of `n` numbers takes `n` of them, rounded up to a
    multiple of 4, and the element at row-major place `i` has the number at the first of them plus `i`. An f32 is the upper 24 bits of word `at % 4` of
    the block at counter `at / 4`, an f64 the upper 53 bits of words `2 (at % 2)` and the next of the block at counter `2⁶³ + at / 2`. What each distribution makes of
    these is in docs/random.md of the sources.

    Arguments:
        device: where it is said to be

    Errors: RuntimeError for a device that is not there.

    >>> g = mg.Generator().manual_seed(7)
    >>> a = mg.rand(3, generator=g)
    >>> bool((a == mg.rand(3, generator=g.manual_seed(7))).all())
    True
    """

    def __new__(cls, device: _Device | None = None) -> Self: ...
    def manual_seed(self, seed: _int) -> Self:
        """Starts anew with a seed; answers with the generator itself.

        >>> g = mg.Generator().manual_seed(7)
        >>> g.initial_seed()
        7
        """
    def seed(self) -> _int:
        """Starts anew with a seed that nobody knows, and answers with it.

        >>> g = mg.Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
    def initial_seed(self) -> _int:
        """The seed.

        >>> mg.Generator().manual_seed(7).initial_seed()
        7
        """
    def get_state(self) -> Tensor:
        """The state as a tensor of bytes: seed and position.

        >>> g = mg.Generator().manual_seed(7)
        >>> state = g.get_state()
        >>> a = mg.rand(3, generator=g)
        >>> _ = g.set_state(state)
        >>> bool((a == mg.rand(3, generator=g)).all())
        True
        """
    def set_state(self, new_state: Tensor) -> Self:
        """Goes on from a state that `get_state` answered with.

        Arguments:
            new_state: the state

        See `Generator.get_state`.
        """
    def clone_state(self) -> Generator:
        """A generator of its own in the same state.

        >>> g = mg.Generator().manual_seed(7)
        >>> bool((mg.rand(3, generator=g.clone_state()) == mg.rand(3, generator=g)).all())
        True
        """
    def __copy__(self) -> Generator: ...
    def __deepcopy__(self, memo: Any) -> Generator: ...
    @property
    def device(self) -> Device:
        """The device that it was made for; it makes the same numbers on every one.

        >>> mg.Generator().device
        Device('cpu')
        """

def manual_seed(seed: _int) -> Generator:
    """Seeds the generator of random tensors, and answers with it: the same seed gives the same numbers, on every device.

    Arguments:
        seed: any integer

    Errors: ValueError for what is no integer of 64 bits.

    >>> a = [mg.rand(2) for _ in range(2) if mg.manual_seed(7)]
    >>> bool((a[0] == a[1]).all())
    True
    """
def seed() -> _int:
    """Seeds the generator of random tensors with a seed that nobody knows, and answers with it.

    >>> mg.seed() == mg.initial_seed()
    True
    """
def initial_seed() -> _int:
    """The seed of the generator of random tensors.

    >>> _ = mg.manual_seed(7)
    >>> mg.initial_seed()
    7
    """
def get_rng_state() -> Tensor:
    """The state of the generator of random tensors, as a tensor of bytes.

    >>> state = mg.get_rng_state()
    >>> a = mg.rand(3)
    >>> mg.set_rng_state(state)
    >>> bool((a == mg.rand(3)).all())
    True
    """
def set_rng_state(new_state: Tensor) -> None:
    """Lets the generator of random tensors go on from a state that `get_rng_state` answered with.

    Arguments:
        new_state: the state

    See `get_rng_state`.
    """
def promote_types(type1: _DType, type2: _DType) -> _DTypeClass:
    """The dtype in which two dtypes meet.

    Arguments:
        type1: a dtype
        type2: another one

    Errors: TypeError for what are no dtypes.

    >>> mg.promote_types(mg.int64, mg.float16), mg.promote_types(mg.uint8, mg.int8)
    (micrograd_rs.float16, micrograd_rs.int16)
    """
@overload
def result_type(tensor1: _Operand, tensor2: _Operand) -> _DTypeClass:
    """The dtype of the result of an operation on two tensors or numbers.

    Arguments:
        tensor1: a tensor or a number
        tensor2: another one

    Errors: TypeError for dtypes.

    >>> mg.result_type(mg.tensor([1, 2]), 0.5), mg.result_type(mg.tensor([1.0], dtype=mg.float16), 0.5)
    (micrograd_rs.float32, micrograd_rs.float16)
    """
@overload
def result_type(*, tensor: Tensor, other: _Operand) -> _DTypeClass:
    """The dtype of the result of an operation on two tensors or numbers.

    Arguments:
        tensor1: a tensor or a number
        tensor2: another one

    Errors: TypeError for dtypes.

    >>> mg.result_type(mg.tensor([1, 2]), 0.5), mg.result_type(mg.tensor([1.0], dtype=mg.float16), 0.5)
    (micrograd_rs.float32, micrograd_rs.float16)
    """
@overload
def result_type(*, scalar: _float, tensor: Tensor) -> _DTypeClass:
    """The dtype of the result of an operation on two tensors or numbers.

    Arguments:
        tensor1: a tensor or a number
        tensor2: another one

    Errors: TypeError for dtypes.

    >>> mg.result_type(mg.tensor([1, 2]), 0.5), mg.result_type(mg.tensor([1.0], dtype=mg.float16), 0.5)
    (micrograd_rs.float32, micrograd_rs.float16)
    """
@overload
def result_type(*, scalar1: _float, scalar2: _float) -> _DTypeClass:
    """The dtype of the result of an operation on two tensors or numbers.

    Arguments:
        tensor1: a tensor or a number
        tensor2: another one

    Errors: TypeError for dtypes.

    >>> mg.result_type(mg.tensor([1, 2]), 0.5), mg.result_type(mg.tensor([1.0], dtype=mg.float16), 0.5)
    (micrograd_rs.float32, micrograd_rs.float16)
    """
def can_cast(from_: _DType, to: _DType) -> _bool:
    """Whether a conversion stays within what an operation may do to its result: no floats to integers, nothing to truth values.

    Arguments:
        from_: the dtype of the result
        to: the dtype that it is written into

    Errors: TypeError for what are no dtypes.

    >>> mg.can_cast(mg.int64, mg.float32), mg.can_cast(mg.float32, mg.int64)
    (True, False)
    """
def set_default_dtype(d: _DType) -> None:
    """Makes this the dtype of floating-point numbers that nobody gave one; float32 at first.

    Arguments:
        d: a floating-point dtype

    Errors: DTypeError for integers.

    >>> mg.set_default_dtype(mg.float64)
    >>> mg.tensor([1.0]).dtype
    micrograd_rs.float64
    >>> mg.set_default_dtype(mg.float32)
    """
def get_default_dtype() -> _DTypeClass:
    """The dtype of floating-point numbers that nobody gave one.

    >>> mg.get_default_dtype()
    micrograd_rs.float32
    """

def broadcast_shapes(*shapes: _Sizes) -> Size:
    """The shape that shapes (sequences, or sizes of one axis) broadcast to.

    Arguments:
        shapes: one after the other

    Errors: ArgumentError where they do not.

    >>> mg.broadcast_shapes((3, 1), (4,), (2, 1, 1))
    (2, 3, 4)
    """

@overload
def where(condition: Tensor, input: None = None, other: None = None, *, out: None = None) -> tuple[Tensor, ...]:
    """`input` where the condition holds, else `other`; with the condition alone, the positions where it does.

    Arguments:
        condition: truth values; they and both others broadcast
        input, other: tensors or numbers

    Errors: DTypeError for a condition of other than truth values; ArgumentError for shapes that do not broadcast.

    >>> x = mg.tensor([-1.0, 2.0])
    >>> mg.where(x > 0, x, 0.0)
    tensor([0., 2.])
    >>> mg.where(x > 0)
    (tensor([1]),)
    """
@overload
def where(condition: Tensor, input: _Operand, other: _Operand, *, out: None = None) -> Tensor:
    """`input` where the condition holds, else `other`; with the condition alone, the positions where it does.

    Arguments:
        condition: truth values; they and both others broadcast
        input, other: tensors or numbers

    Errors: DTypeError for a condition of other than truth values; ArgumentError for shapes that do not broadcast.

    >>> x = mg.tensor([-1.0, 2.0])
    >>> mg.where(x > 0, x, 0.0)
    tensor([0., 2.])
    >>> mg.where(x > 0)
    (tensor([1]),)
    """


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

    Arguments:
        retain_graph: whether the graph stays, so that it can be gone through again
        create_graph: whether the gradients can be differentiated

    Errors: RuntimeError for an input that the outputs do not depend on, unless `allow_unused` or `materialize_grads`, and where the graph was let go.

    >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    >>> (g,) = mg.autograd.grad((x**3).sum(), x, create_graph=True)
    >>> g.tolist()
    [3.0, 12.0]
    >>> mg.autograd.grad(g.sum(), x)
    (tensor([ 6., 12.]),)
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

    Arguments:
        retain_graph: whether the graph stays, so that it can be gone through again
        create_graph: whether the gradients can be differentiated
        grad_variables: an older name of `grad_tensors`

    Errors: As `Tensor.backward`.

    >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    >>> mg.autograd.backward([(x * x).sum(), x.sum()])
    >>> x.grad
    tensor([3., 5.])
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
    """What computed a tensor: an operation as a walk over the graph meets it.

    >>> x = mg.tensor([1.0], requires_grad=True)
    >>> node = (x * 2).grad_fn
    >>> node.name(), isinstance(node, mg.autograd.graph.Node)
    ('MulBackward0', True)
    """

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

def _list_names_of_tensors(listed: Callable[[type], list[str]]) -> None: ...
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
    """A text's bytes in UTF-8: 256 numbers, and nothing to learn.

    >>> t = mg.tokenizers.Bytes()
    >>> t.encode("hé"), t.decode([104, 105])
    ([104, 195, 169], 'hi')
    """
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
    """A CSV file as text, to be taken as numbers, as classes or as it is.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> _ = open(path, "w").write("x,kind\n1.5,cat\n2.5,dog\n")
    >>> table = mg.utils.data.read_csv(path)
    >>> table.columns, table.numbers("x")
    (['x', 'kind'], tensor([1.5000, 2.5000]))
    >>> table.labels("kind")
    (tensor([0, 1]), ['cat', 'dog'])
    """
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
    """A number for each character of a text, in the order of their code points.

    Arguments:
        text: the text

    >>> t = mg.tokenizers.Characters("hello")
    >>> t.alphabet, t.encode("hello")
    ('ehlo', [1, 0, 2, 2, 3])
    """
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
    """Byte-level byte pair encoding, as GPT-2 has it.

    >>> t = mg.tokenizers.BPE.train(["low lower lowest"], vocab_size=258)
    >>> len(t), t.decode(t.encode("low"))
    (258, 'low')
    """
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
    """Whether operations on this type of device run in mixed precision.

    Arguments:
        device_type: "cpu" or "cuda"

    >>> with mg.autocast("cpu"):
    ...     mg.is_autocast_enabled("cpu")
    True
    """
def get_autocast_dtype(device_type: str) -> dtype:
    """The dtype that products on this type of device run in, within autocast.

    Arguments:
        device_type: "cpu" or "cuda"

    Errors: RuntimeError for another type of device.

    >>> mg.get_autocast_dtype("cpu"), mg.get_autocast_dtype("cuda")
    (micrograd_rs.bfloat16, micrograd_rs.float16)
    """
def set_autocast_enabled(device_type: str, enabled: _bool) -> None:
    """Switches mixed precision on or off for operations on this type of device, on this thread.

    Arguments:
        device_type: "cpu" or "cuda"
        enabled: whether it is on

    >>> mg.set_autocast_enabled("cpu", False)
    """
def set_autocast_dtype(device_type: str, dtype: _DType) -> None:
    """Sets the dtype that products on this type of device run in, within autocast, on this thread.

    Arguments:
        device_type: "cpu" or "cuda"
        dtype: float16, bfloat16 or float32

    >>> mg.set_autocast_dtype("cpu", mg.bfloat16)
    """
def is_autocast_cache_enabled() -> _bool:
    """Whether a parameter is converted once in a region of mixed precision.

    >>> mg.is_autocast_cache_enabled()
    True
    """
def set_autocast_cache_enabled(enabled: _bool) -> None:
    """Has a parameter be converted once in a region of mixed precision, or each time that it is used.

    Arguments:
        enabled: whether it is converted once

    >>> mg.set_autocast_cache_enabled(True)
    """
def clear_autocast_cache() -> None:
    """Forgets the parameters that were converted.

    >>> mg.clear_autocast_cache()
    """
def _autocast_lists(device_type: str) -> list[tuple[str, str]]: ...
def is_grad_enabled() -> _bool:
    """Whether operations record what gradients need.

    >>> with mg.no_grad():
    ...     mg.is_grad_enabled()
    False
    """

def save_safetensors(tensors: Mapping[str, Tensor], path: _Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes named tensors to a safetensors file, with text as metadata."""

def _safetensors_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of the file that `save_safetensors` writes."""

def _from_safetensors_bytes(data: bytes) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What `load_safetensors` answers with, with its text, of the bytes of a file."""

@overload
def load_safetensors(path: _Path) -> dict[str, Tensor]:
    """The named tensors of a safetensors file, copied to memory; with `metadata`, and its text. `mg.load(path, mmap=True)` and
    `mg.safetensors.safe_open` map the file, and read elements where somebody looks at them.

    Arguments:
        path: the file
        metadata: whether the text of the file is answered too

    Errors: OSError where the file cannot be read; ValueError where it is none.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    >>> mg.save_safetensors({"a": mg.tensor([1, 2])}, path)
    >>> mg.load_safetensors(path)
    {'a': tensor([1, 2])}
    """
@overload
def load_safetensors(path: _Path, *, metadata: _bool) -> Any:
    """The named tensors of a safetensors file, copied to memory; with `metadata`, and its text. `mg.load(path, mmap=True)` and
    `mg.safetensors.safe_open` map the file, and read elements where somebody looks at them.

    Arguments:
        path: the file
        metadata: whether the text of the file is answered too

    Errors: OSError where the file cannot be read; ValueError where it is none.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    >>> mg.save_safetensors({"a": mg.tensor([1, 2])}, path)
    >>> mg.load_safetensors(path)
    {'a': tensor([1, 2])}
    """

def calculate_gain(nonlinearity: str, param: _float = 0.01) -> _float:
    """The recommended factor for weights before a nonlinearity.

    Arguments:
        nonlinearity: "linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu" or the name of a convolution
        param: the slope below 0 of "leaky_relu", by itself 0.01

    >>> mg.nn.init.calculate_gain("relu"), mg.nn.init.calculate_gain("tanh")
    (1.4142135623730951, 1.6666666666666667)
    """

def uniform_(tensor: Tensor, a: _float = 0.0, b: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform on [a, b).

    Arguments:
        tensor: the tensor, which is answered
        a, b: the bounds

    >>> w = mg.nn.init.uniform_(mg.empty(100), -1, 1)
    >>> bool(((-1 <= w) & (w < 1)).all())
    True
    """
def normal_(tensor: Tensor, mean: _float = 0.0, std: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with this mean and standard deviation.

    Arguments:
        tensor: the tensor, which is answered
        mean, std: the mean and the deviation

    >>> mg.nn.init.normal_(mg.empty(2), mean=3.0, std=0.0)
    tensor([3., 3.])
    """
def constant_(tensor: Tensor, val: _float = 0.0) -> Tensor:
    """The same value everywhere.

    Arguments:
        tensor: the tensor, which is answered
        val: the value

    >>> mg.nn.init.constant_(mg.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
def zeros_(tensor: Tensor) -> Tensor:
    """Zeros.

    Arguments:
        tensor: the tensor, which is answered

    >>> mg.nn.init.zeros_(mg.empty(2))
    tensor([0., 0.])
    """
def ones_(tensor: Tensor) -> Tensor:
    """Ones.

    Arguments:
        tensor: the tensor, which is answered

    >>> mg.nn.init.ones_(mg.empty(2))
    tensor([1., 1.])
    """
def xavier_uniform_(tensor: Tensor, gain: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform, scaled by fan-in and fan-out: Glorot and Bengio, 2010.

    On ±`gain` √(6 / (fan-in + fan-out)).

    Arguments:
        tensor: the weight, of two axes or more, which is answered
        gain: the factor; see `calculate_gain`

    >>> w = mg.nn.init.xavier_uniform_(mg.empty(3, 5), gain=mg.nn.init.calculate_gain("relu"))
    >>> bool((w.abs() <= 2**0.5 * (6 / 8) ** 0.5).all())
    True
    """
def xavier_normal_(tensor: Tensor, gain: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, scaled by fan-in and fan-out: Glorot and Bengio, 2010.

    Of the deviation `gain` √(2 / (fan-in + fan-out)).

    Arguments:
        tensor: the weight, of two axes or more, which is answered
        gain: the factor; see `calculate_gain`

    >>> w = mg.nn.init.xavier_normal_(mg.empty(100, 100))
    >>> abs(w.std().item() - 0.1) < 0.01
    True
    """
def kaiming_uniform_(
    tensor: Tensor, a: _float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Uniform, scaled by one of the fans: He et al., 2015.

    On ±√3 times `kaiming_normal_`'s deviation.

    Arguments:
        tensor: the weight, of two axes or more, which is answered
        a: the slope below 0, of "leaky_relu"
        mode: which fan: "fan_in" or "fan_out"
        nonlinearity: what comes behind it, as `calculate_gain` has it

    >>> w = mg.nn.init.kaiming_uniform_(mg.empty(3, 6), nonlinearity="relu")
    >>> bool((w.abs() <= 1).all())
    True
    """
def kaiming_normal_(
    tensor: Tensor, a: _float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Normal, scaled by one of the fans: He et al., 2015.

    Of the deviation gain / √fan.

    Arguments:
        tensor: the weight, of two axes or more, which is answered
        a: the slope below 0, of "leaky_relu"
        mode: which fan: "fan_in" or "fan_out"
        nonlinearity: what comes behind it, as `calculate_gain` has it

    >>> w = mg.nn.init.kaiming_normal_(mg.empty(100, 200), nonlinearity="relu")
    >>> abs(w.std().item() - 0.1) < 0.01
    True
    """
def trunc_normal_(
    tensor: Tensor, mean: _float = 0.0, std: _float = 1.0, a: _float = -2.0, b: _float = 2.0, generator: Generator | None = None
) -> Tensor:
    """Normal with this mean and standard deviation, within [a, b]: what lies beyond is not drawn.

    Arguments:
        tensor: the tensor, which is answered
        mean, std: the mean and the deviation
        a, b: the bounds

    >>> w = mg.nn.init.trunc_normal_(mg.empty(100), a=-1, b=1)
    >>> bool((w.abs() <= 1).all())
    True
    """
def orthogonal_(tensor: Tensor, gain: _float = 1.0, generator: Generator | None = None) -> Tensor:
    """Orthonormal rows or columns, whichever are fewer, times `gain`: Saxe, McClelland and Ganguli, 2013.

    Arguments:
        tensor: the weight, of two axes or more, which is answered
        gain: the factor

    >>> w = mg.nn.init.orthogonal_(mg.empty(3, 5))
    >>> mg.allclose(w @ w.T, mg.eye(3), atol=1e-5)
    True
    """
def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix, zeros beside it.

    Arguments:
        tensor: the matrix, which is answered

    >>> mg.nn.init.eye_(mg.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
def dirac_(tensor: Tensor, groups: _int = 1) -> Tensor:
    """What keeps the channels of a convolution as they are, within each group: Zagoruyko and Komodakis, 2017.

    Arguments:
        tensor: the kernels, of three to five axes, which are answered
        groups: how many groups

    >>> w = mg.nn.init.dirac_(mg.empty(1, 1, 3))
    >>> mg.conv1d(mg.tensor([[[1.0, 2.0, 3.0]]]), w, padding=1)
    tensor([[[1., 2., 3.]]])
    """
def sparse_(tensor: Tensor, sparsity: _float, std: _float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal with this standard deviation, with a part `sparsity` of each column set to 0: Martens, 2010.

    Arguments:
        tensor: the matrix, which is answered
        sparsity: which part of each column is 0
        std: the deviation

    >>> w = mg.nn.init.sparse_(mg.empty(10, 4), sparsity=0.3)
    >>> (w == 0).sum(0)
    tensor([3, 3, 3, 3])
    """

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
    """Whether `inference_mode` is on.

    >>> with mg.inference_mode():
    ...     mg.is_inference_mode_enabled()
    True
    """
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
def _read_idx(path: _Path) -> Tensor: ...
def _mnist(folder: _Path) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def _drawn_digits(train: _int, test: _int, seed: _int) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def _batch(samples: Sequence[Any]) -> Tensor | None: ...
def _image(path: _Path | None, bytes: bytes, mode: str) -> Tensor: ...
def read_csv(path: _Path, *, delimiter: str = ",", header: _bool = True) -> Table:
    """Reads a CSV file as RFC 4180 has it: `delimiter` parts fields, and with `header` the first row has the columns' names (else they are
    "0", "1", …). Raises `ValueError`, which names file and line, where a row has another number of fields, a quote is not closed, or the
    text is no UTF-8.

    Arguments:
        path: the file
        delimiter: what parts fields
        header: whether the first row has names

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> _ = open(path, "w").write("x,kind\n1.5,cat\n2.5,dog\n")
    >>> table = mg.utils.data.read_csv(path)
    >>> len(table)
    2
    """
def _batches(n: _int, batch: _int, shuffle_seed: _int | None, drop_last: _bool, epoch: _int) -> list[Tensor]: ...

# Operations that are declared in the engine.
def add(input: _Operand, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`a + b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand
        alpha (tensor or number, default 1): what `other` is multiplied by first

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.add(x, mg.tensor([[10.0], [20.0]]))
    tensor([[11., 12.],
            [21., 22.]])
    >>> mg.add(x, 10, alpha=2)
    tensor([21., 22.])
    """

def add_(input: Tensor, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`add`, written into the tensor, which is answered. See `add`.

    Arguments:
        other (tensor or number): the second operand
        alpha (tensor or number, default 1): what `other` is multiplied by first
    """

def sub(input: _Operand, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`a − b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand
        alpha (tensor or number, default 1): what `other` is multiplied by first

    >>> x = mg.tensor([5, 7])
    >>> mg.sub(x, 1, alpha=2)
    tensor([3, 5])
    """

def subtract(input: _Operand, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`a − b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand
        alpha (tensor or number, default 1): what `other` is multiplied by first

    >>> x = mg.tensor([5, 7])
    >>> mg.subtract(x, 1, alpha=2)
    tensor([3, 5])
    """

def sub_(input: Tensor, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`sub`, written into the tensor, which is answered. See `sub`.

    Arguments:
        other (tensor or number): the second operand
        alpha (tensor or number, default 1): what `other` is multiplied by first
    """

def subtract_(input: Tensor, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`sub`, written into the tensor, which is answered. See `sub`.

    Arguments:
        other (tensor or number): the second operand
        alpha (tensor or number, default 1): what `other` is multiplied by first
    """

def mul(input: _Operand, other: _Operand) -> Tensor:
    """`a · b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.mul(x, mg.tensor([[1], [10]]))
    tensor([[ 1,  2,  3],
            [10, 20, 30]])
    """

def multiply(input: _Operand, other: _Operand) -> Tensor:
    """`a · b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.multiply(x, mg.tensor([[1], [10]]))
    tensor([[ 1,  2,  3],
            [10, 20, 30]])
    """

def mul_(input: Tensor, other: _Operand) -> Tensor:
    """`mul`, written into the tensor, which is answered. See `mul`.

    Arguments:
        other (tensor or number): the second operand
    """

def multiply_(input: Tensor, other: _Operand) -> Tensor:
    """`mul`, written into the tensor, which is answered. See `mul`.

    Arguments:
        other (tensor or number): the second operand
    """

def div(input: _Operand, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand
        rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all

    >>> x = mg.tensor([7, -7])
    >>> mg.div(x, 2)
    tensor([ 3.5000, -3.5000])
    >>> mg.div(x, 2, rounding_mode="floor")
    tensor([ 3, -4])
    """

def divide(input: _Operand, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand
        rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all

    >>> x = mg.tensor([7, -7])
    >>> mg.divide(x, 2)
    tensor([ 3.5000, -3.5000])
    >>> mg.divide(x, 2, rounding_mode="floor")
    tensor([ 3, -4])
    """

def true_divide(input: _Operand, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`a / b`, correctly rounded; integers are promoted to the default float by the public API's true division. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand
        rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all

    >>> x = mg.tensor([7, -7])
    >>> mg.true_divide(x, 2)
    tensor([ 3.5000, -3.5000])
    >>> mg.true_divide(x, 2, rounding_mode="floor")
    tensor([ 3, -4])
    """

def div_(input: Tensor, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`div`, written into the tensor, which is answered. See `div`.

    Arguments:
        other (tensor or number): the second operand
        rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all
    """

def divide_(input: Tensor, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`div`, written into the tensor, which is answered. See `div`.

    Arguments:
        other (tensor or number): the second operand
        rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all
    """

def true_divide_(input: Tensor, other: _Operand, *, rounding_mode: str | None = None) -> Tensor:
    """`div`, written into the tensor, which is answered. See `div`.

    Arguments:
        other (tensor or number): the second operand
        rounding_mode (str, or None): "trunc" rounds towards 0, "floor" down, None not at all
    """

def maximum(input: _Operand, other: _Operand) -> Tensor:
    """The larger of `a` and `b`; NaN if either is. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1.0, 5.0, float("nan")])
    >>> mg.maximum(x, mg.tensor([3.0, 2.0, 1.0]))
    tensor([3., 5., nan])
    """

def maximum_(input: Tensor, other: _Operand) -> Tensor:
    """`maximum`, written into the tensor, which is answered. See `maximum`.

    Arguments:
        other (tensor or number): the second operand
    """

def minimum(input: _Operand, other: _Operand) -> Tensor:
    """The smaller of `a` and `b`; NaN if either is. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1.0, 5.0, float("nan")])
    >>> mg.minimum(x, mg.tensor([3.0, 2.0, 1.0]))
    tensor([1., 2., nan])
    """

def minimum_(input: Tensor, other: _Operand) -> Tensor:
    """`minimum`, written into the tensor, which is answered. See `minimum`.

    Arguments:
        other (tensor or number): the second operand
    """

def neg(input: Tensor) -> Tensor:
    """`−a`.

    >>> x = mg.tensor([1.0, -2.0])
    >>> mg.neg(x)
    tensor([-1.,  2.])
    """

def negative(input: Tensor) -> Tensor:
    """`−a`.

    >>> x = mg.tensor([1.0, -2.0])
    >>> mg.negative(x)
    tensor([-1.,  2.])
    """

def neg_(input: Tensor) -> Tensor:
    """`neg`, written into the tensor, which is answered. See `neg`."""

def negative_(input: Tensor) -> Tensor:
    """`neg`, written into the tensor, which is answered. See `neg`."""

def abs(input: Tensor) -> Tensor:
    """`|a|`.

    >>> x = mg.tensor([-1.5, 2.0])
    >>> mg.abs(x)
    tensor([1.5000, 2.0000])
    """

def absolute(input: Tensor) -> Tensor:
    """`|a|`.

    >>> x = mg.tensor([-1.5, 2.0])
    >>> mg.absolute(x)
    tensor([1.5000, 2.0000])
    """

def abs_(input: Tensor) -> Tensor:
    """`abs`, written into the tensor, which is answered. See `abs`."""

def absolute_(input: Tensor) -> Tensor:
    """`abs`, written into the tensor, which is answered. See `abs`."""

def sign(input: Tensor) -> Tensor:
    """−1, 0 or 1 with the sign of `a`; 0 of NaN.

    >>> x = mg.tensor([-3.0, 0.0, 0.5])
    >>> mg.sign(x)
    tensor([-1.,  0.,  1.])
    """

def sgn(input: Tensor) -> Tensor:
    """−1, 0 or 1 with the sign of `a`; 0 of NaN.

    >>> x = mg.tensor([-3.0, 0.0, 0.5])
    >>> mg.sgn(x)
    tensor([-1.,  0.,  1.])
    """

def sign_(input: Tensor) -> Tensor:
    """`sign`, written into the tensor, which is answered. See `sign`."""

def sgn_(input: Tensor) -> Tensor:
    """`sign`, written into the tensor, which is answered. See `sign`."""

def square(input: Tensor) -> Tensor:
    """`a · a`.

    >>> x = mg.tensor([-3.0, 0.5])
    >>> mg.square(x)
    tensor([9.0000, 0.2500])
    """

def square_(input: Tensor) -> Tensor:
    """`square`, written into the tensor, which is answered. See `square`."""

def relu(input: Tensor) -> Tensor:
    """`max(a, 0)`; NaN stays.

    >>> x = mg.tensor([-1.0, 0.0, 2.0])
    >>> mg.relu(x)
    tensor([0., 0., 2.])
    """

def relu_(input: Tensor) -> Tensor:
    """`relu`, written into the tensor, which is answered. See `relu`."""

def exp(input: Tensor) -> Tensor:
    """`eᵃ`.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.exp(x)
    tensor([1.0000, 2.7183])
    """

def exp_(input: Tensor) -> Tensor:
    """`exp`, written into the tensor, which is answered. See `exp`."""

def log(input: Tensor) -> Tensor:
    """The natural logarithm.

    >>> x = mg.tensor([1.0, 10.0, 0.0])
    >>> mg.log(x)
    tensor([0.0000, 2.3026,   -inf])
    """

def log_(input: Tensor) -> Tensor:
    """`log`, written into the tensor, which is answered. See `log`."""

def sqrt(input: Tensor) -> Tensor:
    """The correctly rounded square root.

    >>> x = mg.tensor([4.0, 2.0])
    >>> mg.sqrt(x)
    tensor([2.0000, 1.4142])
    """

def sqrt_(input: Tensor) -> Tensor:
    """`sqrt`, written into the tensor, which is answered. See `sqrt`."""

def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent.

    >>> x = mg.tensor([0.0, 1.0, 100.0])
    >>> mg.tanh(x)
    tensor([0.0000, 0.7616, 1.0000])
    """

def tanh_(input: Tensor) -> Tensor:
    """`tanh`, written into the tensor, which is answered. See `tanh`."""

def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + e⁻ᵃ)`.

    >>> x = mg.tensor([-1.0, 0.0, 1.0])
    >>> mg.sigmoid(x)
    tensor([0.2689, 0.5000, 0.7311])
    """

def sigmoid_(input: Tensor) -> Tensor:
    """`sigmoid`, written into the tensor, which is answered. See `sigmoid`."""

def sin(input: Tensor) -> Tensor:
    """The sine, of radians.

    >>> x = mg.tensor([0.0, mg.pi / 2])
    >>> mg.sin(x)
    tensor([0., 1.])
    """

def sin_(input: Tensor) -> Tensor:
    """`sin`, written into the tensor, which is answered. See `sin`."""

def cos(input: Tensor) -> Tensor:
    """The cosine, of radians.

    >>> x = mg.tensor([0.0, mg.pi])
    >>> mg.cos(x)
    tensor([ 1., -1.])
    """

def cos_(input: Tensor) -> Tensor:
    """`cos`, written into the tensor, which is answered. See `cos`."""

def erf(input: Tensor) -> Tensor:
    """The error function.

    >>> x = mg.tensor([0.0, 0.5, 3.0])
    >>> mg.erf(x)
    tensor([0.0000, 0.5205, 1.0000])
    """

def _special_erf(input: Tensor) -> Tensor:
    """The error function.

    >>> x = mg.tensor([0.0, 0.5, 3.0])
    >>> mg.erf(x)
    tensor([0.0000, 0.5205, 1.0000])
    """

def erf_(input: Tensor) -> Tensor:
    """`erf`, written into the tensor, which is answered. See `erf`."""

def _special_erf_(input: Tensor) -> Tensor:
    """`erf`, written into the tensor, which is answered. See `erf`."""

def expm1(input: Tensor) -> Tensor:
    """`eᵃ − 1`, which keeps its digits where `a` is small.

    >>> x = mg.tensor([1e-7])
    >>> mg.expm1(x)
    tensor([1.0000e-07])
    >>> x.exp() - 1
    tensor([1.1921e-07])
    """

def _special_expm1(input: Tensor) -> Tensor:
    """`eᵃ − 1`, which keeps its digits where `a` is small.

    >>> x = mg.tensor([1e-7])
    >>> mg.expm1(x)
    tensor([1.0000e-07])
    >>> x.exp() - 1
    tensor([1.1921e-07])
    """

def expm1_(input: Tensor) -> Tensor:
    """`expm1`, written into the tensor, which is answered. See `expm1`."""

def _special_expm1_(input: Tensor) -> Tensor:
    """`expm1`, written into the tensor, which is answered. See `expm1`."""

def log1p(input: Tensor) -> Tensor:
    """`log(1 + a)`, which keeps its digits where `a` is small.

    >>> x = mg.tensor([1e-7])
    >>> mg.log1p(x)
    tensor([1.0000e-07])
    >>> (1 + x).log()
    tensor([1.1921e-07])
    """

def _special_log1p(input: Tensor) -> Tensor:
    """`log(1 + a)`, which keeps its digits where `a` is small.

    >>> x = mg.tensor([1e-7])
    >>> mg.log1p(x)
    tensor([1.0000e-07])
    >>> (1 + x).log()
    tensor([1.1921e-07])
    """

def log1p_(input: Tensor) -> Tensor:
    """`log1p`, written into the tensor, which is answered. See `log1p`."""

def _special_log1p_(input: Tensor) -> Tensor:
    """`log1p`, written into the tensor, which is answered. See `log1p`."""

def exp2(input: Tensor) -> Tensor:
    """`2ᵃ`.

    >>> x = mg.tensor([0.0, 3.0, -1.0])
    >>> mg.exp2(x)
    tensor([1.0000, 8.0000, 0.5000])
    """

def _special_exp2(input: Tensor) -> Tensor:
    """`2ᵃ`.

    >>> x = mg.tensor([0.0, 3.0, -1.0])
    >>> mg.exp2(x)
    tensor([1.0000, 8.0000, 0.5000])
    """

def exp2_(input: Tensor) -> Tensor:
    """`exp2`, written into the tensor, which is answered. See `exp2`."""

def _special_exp2_(input: Tensor) -> Tensor:
    """`exp2`, written into the tensor, which is answered. See `exp2`."""

def log2(input: Tensor) -> Tensor:
    """The logarithm of base 2.

    >>> x = mg.tensor([1.0, 8.0, 0.5])
    >>> mg.log2(x)
    tensor([ 0.,  3., -1.])
    """

def log2_(input: Tensor) -> Tensor:
    """`log2`, written into the tensor, which is answered. See `log2`."""

def log10(input: Tensor) -> Tensor:
    """The logarithm of base 10.

    >>> x = mg.tensor([1.0, 1000.0])
    >>> mg.log10(x)
    tensor([0., 3.])
    """

def log10_(input: Tensor) -> Tensor:
    """`log10`, written into the tensor, which is answered. See `log10`."""

def tan(input: Tensor) -> Tensor:
    """The tangent, of radians.

    >>> x = mg.tensor([0.0, mg.pi / 4])
    >>> mg.tan(x)
    tensor([0., 1.])
    """

def tan_(input: Tensor) -> Tensor:
    """`tan`, written into the tensor, which is answered. See `tan`."""

def asin(input: Tensor) -> Tensor:
    """The angle of a sine, from −π/2 to π/2.

    >>> x = mg.tensor([0.0, 1.0, 2.0])
    >>> mg.asin(x)
    tensor([0.0000, 1.5708,    nan])
    """

def arcsin(input: Tensor) -> Tensor:
    """The angle of a sine, from −π/2 to π/2.

    >>> x = mg.tensor([0.0, 1.0, 2.0])
    >>> mg.arcsin(x)
    tensor([0.0000, 1.5708,    nan])
    """

def asin_(input: Tensor) -> Tensor:
    """`asin`, written into the tensor, which is answered. See `asin`."""

def arcsin_(input: Tensor) -> Tensor:
    """`asin`, written into the tensor, which is answered. See `asin`."""

def acos(input: Tensor) -> Tensor:
    """The angle of a cosine, from 0 to π.

    >>> x = mg.tensor([1.0, 0.0])
    >>> mg.acos(x)
    tensor([0.0000, 1.5708])
    """

def arccos(input: Tensor) -> Tensor:
    """The angle of a cosine, from 0 to π.

    >>> x = mg.tensor([1.0, 0.0])
    >>> mg.arccos(x)
    tensor([0.0000, 1.5708])
    """

def acos_(input: Tensor) -> Tensor:
    """`acos`, written into the tensor, which is answered. See `acos`."""

def arccos_(input: Tensor) -> Tensor:
    """`acos`, written into the tensor, which is answered. See `acos`."""

def atan(input: Tensor) -> Tensor:
    """The angle of a tangent, from −π/2 to π/2.

    >>> x = mg.tensor([0.0, 1.0, float("inf")])
    >>> mg.atan(x)
    tensor([0.0000, 0.7854, 1.5708])
    """

def arctan(input: Tensor) -> Tensor:
    """The angle of a tangent, from −π/2 to π/2.

    >>> x = mg.tensor([0.0, 1.0, float("inf")])
    >>> mg.arctan(x)
    tensor([0.0000, 0.7854, 1.5708])
    """

def atan_(input: Tensor) -> Tensor:
    """`atan`, written into the tensor, which is answered. See `atan`."""

def arctan_(input: Tensor) -> Tensor:
    """`atan`, written into the tensor, which is answered. See `atan`."""

def atan2(input: _Operand, other: _Operand) -> Tensor:
    """The angle of the point with the coordinates `b` and `a`, from −π to π. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> y = mg.tensor([1.0, -1.0])
    >>> mg.atan2(y, mg.tensor([-1.0, 1.0]))
    tensor([ 2.3562, -0.7854])
    """

def arctan2(input: _Operand, other: _Operand) -> Tensor:
    """The angle of the point with the coordinates `b` and `a`, from −π to π. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> y = mg.tensor([1.0, -1.0])
    >>> mg.arctan2(y, mg.tensor([-1.0, 1.0]))
    tensor([ 2.3562, -0.7854])
    """

def atan2_(input: Tensor, other: _Operand) -> Tensor:
    """`atan2`, written into the tensor, which is answered. See `atan2`.

    Arguments:
        other (tensor or number): the second operand
    """

def arctan2_(input: Tensor, other: _Operand) -> Tensor:
    """`atan2`, written into the tensor, which is answered. See `atan2`.

    Arguments:
        other (tensor or number): the second operand
    """

def sinh(input: Tensor) -> Tensor:
    """The hyperbolic sine.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.sinh(x)
    tensor([0.0000, 1.1752])
    """

def sinh_(input: Tensor) -> Tensor:
    """`sinh`, written into the tensor, which is answered. See `sinh`."""

def cosh(input: Tensor) -> Tensor:
    """The hyperbolic cosine.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.cosh(x)
    tensor([1.0000, 1.5431])
    """

def cosh_(input: Tensor) -> Tensor:
    """`cosh`, written into the tensor, which is answered. See `cosh`."""

def asinh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic sine.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.asinh(x)
    tensor([0.0000, 0.8814])
    """

def arcsinh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic sine.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.arcsinh(x)
    tensor([0.0000, 0.8814])
    """

def asinh_(input: Tensor) -> Tensor:
    """`asinh`, written into the tensor, which is answered. See `asinh`."""

def arcsinh_(input: Tensor) -> Tensor:
    """`asinh`, written into the tensor, which is answered. See `asinh`."""

def acosh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic cosine; NaN below 1.

    >>> x = mg.tensor([0.5, 1.0, 2.0])
    >>> mg.acosh(x)
    tensor([   nan, 0.0000, 1.3170])
    """

def arccosh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic cosine; NaN below 1.

    >>> x = mg.tensor([0.5, 1.0, 2.0])
    >>> mg.arccosh(x)
    tensor([   nan, 0.0000, 1.3170])
    """

def acosh_(input: Tensor) -> Tensor:
    """`acosh`, written into the tensor, which is answered. See `acosh`."""

def arccosh_(input: Tensor) -> Tensor:
    """`acosh`, written into the tensor, which is answered. See `acosh`."""

def atanh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic tangent; NaN beyond 1.

    >>> x = mg.tensor([0.0, 0.5, 1.0])
    >>> mg.atanh(x)
    tensor([0.0000, 0.5493,    inf])
    """

def arctanh(input: Tensor) -> Tensor:
    """The inverse of the hyperbolic tangent; NaN beyond 1.

    >>> x = mg.tensor([0.0, 0.5, 1.0])
    >>> mg.arctanh(x)
    tensor([0.0000, 0.5493,    inf])
    """

def atanh_(input: Tensor) -> Tensor:
    """`atanh`, written into the tensor, which is answered. See `atanh`."""

def arctanh_(input: Tensor) -> Tensor:
    """`atanh`, written into the tensor, which is answered. See `atanh`."""

def erfc(input: Tensor) -> Tensor:
    """`1 − erf a`, which keeps its digits where that is small.

    >>> x = mg.tensor([0.0, 5.0])
    >>> mg.erfc(x)
    tensor([1.0000e+00, 1.5375e-12])
    >>> 1 - x.erf()
    tensor([1., 0.])
    """

def _special_erfc(input: Tensor) -> Tensor:
    """`1 − erf a`, which keeps its digits where that is small.

    >>> x = mg.tensor([0.0, 5.0])
    >>> mg.erfc(x)
    tensor([1.0000e+00, 1.5375e-12])
    >>> 1 - x.erf()
    tensor([1., 0.])
    """

def erfc_(input: Tensor) -> Tensor:
    """`erfc`, written into the tensor, which is answered. See `erfc`."""

def _special_erfc_(input: Tensor) -> Tensor:
    """`erfc`, written into the tensor, which is answered. See `erfc`."""

def _special_erfcx(input: Tensor) -> Tensor:
    """`e^(a²) · erfc a`.

    >>> x = mg.tensor([0.0, 10.0])
    >>> mg.special.erfcx(x)
    tensor([1.0000, 0.0561])
    """

def _special_entr(input: Tensor) -> Tensor:
    """`−a ln a`; 0 at 0, and −∞ below.

    >>> x = mg.tensor([0.5, 0.0, -1.0])
    >>> mg.special.entr(x)
    tensor([0.3466, 0.0000,   -inf])
    """

def erfinv(input: Tensor) -> Tensor:
    """The inverse of the error function; NaN beyond 1.

    >>> x = mg.tensor([0.0, 0.5, 1.0])
    >>> mg.erfinv(x)
    tensor([0.0000, 0.4769,    inf])
    """

def _special_erfinv(input: Tensor) -> Tensor:
    """The inverse of the error function; NaN beyond 1.

    >>> x = mg.tensor([0.0, 0.5, 1.0])
    >>> mg.erfinv(x)
    tensor([0.0000, 0.4769,    inf])
    """

def erfinv_(input: Tensor) -> Tensor:
    """`erfinv`, written into the tensor, which is answered. See `erfinv`."""

def _special_erfinv_(input: Tensor) -> Tensor:
    """`erfinv`, written into the tensor, which is answered. See `erfinv`."""

def _special_ndtri(input: Tensor) -> Tensor:
    """The number below which the normal distribution has the part `a`; NaN outside [0, 1].

    >>> x = mg.tensor([0.5, 0.975])
    >>> mg.special.ndtri(x)
    tensor([0.0000, 1.9600])
    """

def lgamma(input: Tensor) -> Tensor:
    """The logarithm of the magnitude of the gamma function.

    >>> x = mg.tensor([1.0, 5.0])
    >>> mg.lgamma(x)
    tensor([0.0000, 3.1781])
    """

def lgamma_(input: Tensor) -> Tensor:
    """`lgamma`, written into the tensor, which is answered. See `lgamma`."""

def digamma(input: Tensor) -> Tensor:
    """The derivative of `lgamma`.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.digamma(x)
    tensor([-0.5772,  0.4228])
    """

def _special_digamma(input: Tensor) -> Tensor:
    """The derivative of `lgamma`.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.digamma(x)
    tensor([-0.5772,  0.4228])
    """

def digamma_(input: Tensor) -> Tensor:
    """`digamma`, written into the tensor, which is answered. See `digamma`."""

def _special_digamma_(input: Tensor) -> Tensor:
    """`digamma`, written into the tensor, which is answered. See `digamma`."""

def _special_i0e(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 0, times `e^(−|a|)`.

    >>> x = mg.tensor([0.0, 100.0])
    >>> mg.special.i0e(x)
    tensor([1.0000, 0.0399])
    """

def _special_i1e(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 1, times `e^(−|a|)`.

    >>> x = mg.tensor([0.0, 100.0])
    >>> mg.special.i1e(x)
    tensor([0.0000, 0.0397])
    """

def copysign(input: _Operand, other: _Operand) -> Tensor:
    """`|a|` with the sign of `b`, zeros and NaN included. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1.0, -2.0])
    >>> mg.copysign(x, mg.tensor([-0.0, 3.0]))
    tensor([-1.,  2.])
    """

def copysign_(input: Tensor, other: _Operand) -> Tensor:
    """`copysign`, written into the tensor, which is answered. See `copysign`.

    Arguments:
        other (tensor or number): the second operand
    """

def floor(input: Tensor) -> Tensor:
    """The largest whole number that is no larger. Integers stay.

    >>> x = mg.tensor([1.5, -1.5])
    >>> mg.floor(x)
    tensor([ 1., -2.])
    """

def floor_(input: Tensor) -> Tensor:
    """`floor`, written into the tensor, which is answered. See `floor`."""

def ceil(input: Tensor) -> Tensor:
    """The smallest whole number that is no smaller. Integers stay.

    >>> x = mg.tensor([1.5, -1.5])
    >>> mg.ceil(x)
    tensor([ 2., -1.])
    """

def ceil_(input: Tensor) -> Tensor:
    """`ceil`, written into the tensor, which is answered. See `ceil`."""

def round(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """The nearest whole number, of two the even one. Integers stay.

    Arguments:
        decimals (int, default 0): how many digits behind the point are kept, or below 0 how many before it become 0

    >>> x = mg.tensor([0.5, 1.5, 2.345])
    >>> mg.round(x)
    tensor([0., 2., 2.])
    >>> mg.round(x, decimals=1)
    tensor([0.5000, 1.5000, 2.3000])
    """

def _special_round(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """The nearest whole number, of two the even one. Integers stay.

    Arguments:
        decimals (int, default 0): how many digits behind the point are kept, or below 0 how many before it become 0

    >>> x = mg.tensor([0.5, 1.5, 2.345])
    >>> mg.round(x)
    tensor([0., 2., 2.])
    >>> mg.round(x, decimals=1)
    tensor([0.5000, 1.5000, 2.3000])
    """

def round_(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """`round`, written into the tensor, which is answered. See `round`.

    Arguments:
        decimals (int, default 0): how many digits behind the point are kept, or below 0 how many before it become 0
    """

def _special_round_(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """`round`, written into the tensor, which is answered. See `round`.

    Arguments:
        decimals (int, default 0): how many digits behind the point are kept, or below 0 how many before it become 0
    """

def trunc(input: Tensor) -> Tensor:
    """The whole number next towards zero. Integers stay.

    >>> x = mg.tensor([1.5, -1.5])
    >>> mg.trunc(x)
    tensor([ 1., -1.])
    """

def fix(input: Tensor) -> Tensor:
    """The whole number next towards zero. Integers stay.

    >>> x = mg.tensor([1.5, -1.5])
    >>> mg.fix(x)
    tensor([ 1., -1.])
    """

def trunc_(input: Tensor) -> Tensor:
    """`trunc`, written into the tensor, which is answered. See `trunc`."""

def fix_(input: Tensor) -> Tensor:
    """`trunc`, written into the tensor, which is answered. See `trunc`."""

def fmod(input: _Operand, other: _Operand) -> Tensor:
    """The remainder of `a / b` with the sign of `a`, exact: C's `fmod`. Of integers an integer. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([-7.0, 7.0])
    >>> mg.fmod(x, 3)
    tensor([-1.,  1.])
    """

def fmod_(input: Tensor, other: _Operand) -> Tensor:
    """`fmod`, written into the tensor, which is answered. See `fmod`.

    Arguments:
        other (tensor or number): the second operand
    """

def bitwise_and(input: _Operand, other: _Operand) -> Tensor:
    """The bits that are set in both integers; of truth values, `logical_and`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([12, 10])
    >>> mg.bitwise_and(x, 6)
    tensor([4, 2])
    """

def bitwise_and_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_and`, written into the tensor, which is answered. See `bitwise_and`.

    Arguments:
        other (tensor or number): the second operand
    """

def bitwise_or(input: _Operand, other: _Operand) -> Tensor:
    """The bits that are set in either integer; of truth values, `logical_or`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([12, 10])
    >>> mg.bitwise_or(x, 6)
    tensor([14, 14])
    """

def bitwise_or_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_or`, written into the tensor, which is answered. See `bitwise_or`.

    Arguments:
        other (tensor or number): the second operand
    """

def bitwise_xor(input: _Operand, other: _Operand) -> Tensor:
    """The bits that are set in one of two integers; of truth values, `logical_xor`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([12, 10])
    >>> mg.bitwise_xor(x, 6)
    tensor([10, 12])
    """

def bitwise_xor_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_xor`, written into the tensor, which is answered. See `bitwise_xor`.

    Arguments:
        other (tensor or number): the second operand
    """

def bitwise_left_shift(input: _Operand, other: _Operand) -> Tensor:
    """The bits of an integer moved up by `b`; 0 where `b` is negative or not smaller than the number of bits. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1, 3])
    >>> mg.bitwise_left_shift(x, 4)
    tensor([16, 48])
    """

def bitwise_left_shift_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_left_shift`, written into the tensor, which is answered. See `bitwise_left_shift`.

    Arguments:
        other (tensor or number): the second operand
    """

def bitwise_right_shift(input: _Operand, other: _Operand) -> Tensor:
    """The bits of an integer moved down by `b`, its sign kept; the sign alone where `b` is negative or not smaller than
     the number of bits. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([16, -16])
    >>> mg.bitwise_right_shift(x, 2)
    tensor([ 4, -4])
    """

def bitwise_right_shift_(input: Tensor, other: _Operand) -> Tensor:
    """`bitwise_right_shift`, written into the tensor, which is answered. See `bitwise_right_shift`.

    Arguments:
        other (tensor or number): the second operand
    """

def lt(input: _Operand, other: _Operand) -> Tensor:
    """`a < b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.lt(x, 2)
    tensor([ True, False, False])
    """

def less(input: _Operand, other: _Operand) -> Tensor:
    """`a < b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.less(x, 2)
    tensor([ True, False, False])
    """

def lt_(input: Tensor, other: _Operand) -> Tensor:
    """`lt`, written into the tensor, which is answered. See `lt`.

    Arguments:
        other (tensor or number): the second operand
    """

def less_(input: Tensor, other: _Operand) -> Tensor:
    """`lt`, written into the tensor, which is answered. See `lt`.

    Arguments:
        other (tensor or number): the second operand
    """

def le(input: _Operand, other: _Operand) -> Tensor:
    """`a ≤ b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.le(x, 2)
    tensor([ True,  True, False])
    """

def less_equal(input: _Operand, other: _Operand) -> Tensor:
    """`a ≤ b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.less_equal(x, 2)
    tensor([ True,  True, False])
    """

def le_(input: Tensor, other: _Operand) -> Tensor:
    """`le`, written into the tensor, which is answered. See `le`.

    Arguments:
        other (tensor or number): the second operand
    """

def less_equal_(input: Tensor, other: _Operand) -> Tensor:
    """`le`, written into the tensor, which is answered. See `le`.

    Arguments:
        other (tensor or number): the second operand
    """

def eq(input: _Operand, other: _Operand) -> Tensor:
    """`a = b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1.0, 2.0, float("nan")])
    >>> mg.eq(x, x)
    tensor([ True,  True, False])
    """

def eq_(input: Tensor, other: _Operand) -> Tensor:
    """`eq`, written into the tensor, which is answered. See `eq`.

    Arguments:
        other (tensor or number): the second operand
    """

def ne(input: _Operand, other: _Operand) -> Tensor:
    """`a ≠ b`; true when either is NaN. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1.0, 2.0, float("nan")])
    >>> mg.ne(x, x)
    tensor([False, False,  True])
    """

def not_equal(input: _Operand, other: _Operand) -> Tensor:
    """`a ≠ b`; true when either is NaN. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([1.0, 2.0, float("nan")])
    >>> mg.not_equal(x, x)
    tensor([False, False,  True])
    """

def ne_(input: Tensor, other: _Operand) -> Tensor:
    """`ne`, written into the tensor, which is answered. See `ne`.

    Arguments:
        other (tensor or number): the second operand
    """

def not_equal_(input: Tensor, other: _Operand) -> Tensor:
    """`ne`, written into the tensor, which is answered. See `ne`.

    Arguments:
        other (tensor or number): the second operand
    """

def logical_and(input: _Operand, other: _Operand) -> Tensor:
    """`a` and `b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([0, 1, 2])
    >>> mg.logical_and(x, mg.tensor([True, True, False]))
    tensor([False,  True, False])
    """

def logical_and_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_and`, written into the tensor, which is answered. See `logical_and`.

    Arguments:
        other (tensor or number): the second operand
    """

def logical_or(input: _Operand, other: _Operand) -> Tensor:
    """`a` or `b`. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([0, 1, 0])
    >>> mg.logical_or(x, mg.tensor([True, True, False]))
    tensor([ True,  True, False])
    """

def logical_or_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_or`, written into the tensor, which is answered. See `logical_or`.

    Arguments:
        other (tensor or number): the second operand
    """

def logical_xor(input: _Operand, other: _Operand) -> Tensor:
    """`a` or `b`, not both. Here `a` is the tensor, and `b` is `other`.

    Arguments:
        other (tensor or number): the second operand

    >>> x = mg.tensor([0, 1, 0])
    >>> mg.logical_xor(x, mg.tensor([True, True, False]))
    tensor([ True, False, False])
    """

def logical_xor_(input: Tensor, other: _Operand) -> Tensor:
    """`logical_xor`, written into the tensor, which is answered. See `logical_xor`.

    Arguments:
        other (tensor or number): the second operand
    """

def logical_not(input: Tensor) -> Tensor:
    """Not `a`.

    >>> x = mg.tensor([0, 1, 2])
    >>> mg.logical_not(x)
    tensor([ True, False, False])
    """

def logical_not_(input: Tensor) -> Tensor:
    """`logical_not`, written into the tensor, which is answered. See `logical_not`."""

def _nn_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Gaussian error linear unit, `x Φ(x)` (Hendrycks and Gimpel, 2016): by the error function or, with
    `approximate = "tanh"`, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`. Integers become the default float.

    Arguments:
        approximate (str, default "none"): "none" or "tanh"

    Errors: Another word than `"none"` and `"tanh"`.

    >>> x = mg.tensor([-1.0, 0.0, 1.0])
    >>> mg.nn.functional.gelu(x)
    tensor([-0.1587,  0.0000,  0.8413])
    >>> mg.nn.functional.gelu(x, approximate="tanh")
    tensor([-0.1588,  0.0000,  0.8412])
    """

def _nn_silu(input: Tensor) -> Tensor:
    """Sigmoid linear unit, `x σ(x)`. Integers become the default float.

    >>> x = mg.tensor([-1.0, 0.0, 1.0])
    >>> mg.nn.functional.silu(x)
    tensor([-0.2689,  0.0000,  0.7311])
    """

def _nn_silu_(input: Tensor) -> Tensor:
    """`silu`, written into the tensor, which is answered. See `silu`."""

def _nn_leaky_relu(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """`x`, or `negative_slope · x` where `x` is not positive. Integers become the default float.

    Arguments:
        negative_slope (float, default 0.01)

    >>> x = mg.tensor([-1.0, 0.0, 2.0])
    >>> mg.nn.functional.leaky_relu(x, 0.2)
    tensor([-0.2000,  0.0000,  2.0000])
    """

def _nn_leaky_relu_(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """`leaky_relu`, written into the tensor, which is answered. See `leaky_relu`.

    Arguments:
        negative_slope (float, default 0.01)
    """

def celu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive (Barron, 2017). Integers become the default float.

    Arguments:
        alpha (float, default 1.0)

    Errors: An `alpha` of 0.

    >>> x = mg.tensor([-1.0, 0.0, 2.0])
    >>> mg.celu(x, alpha=2.0)
    tensor([-0.7869,  0.0000,  2.0000])
    """

def _nn_celu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive (Barron, 2017). Integers become the default float.

    Arguments:
        alpha (float, default 1.0)

    Errors: An `alpha` of 0.

    >>> x = mg.tensor([-1.0, 0.0, 2.0])
    >>> mg.celu(x, alpha=2.0)
    tensor([-0.7869,  0.0000,  2.0000])
    """

def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`celu`, written into the tensor, which is answered. See `celu`.

    Arguments:
        alpha (float, default 1.0)
    """

def _nn_celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`celu`, written into the tensor, which is answered. See `celu`.

    Arguments:
        alpha (float, default 1.0)
    """

def _nn_elu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`x`, or `alpha (eˣ − 1)` where `x` is not positive (Clevert, Unterthiner and Hochreiter, 2015). Integers become the default float.

    Arguments:
        alpha (float, default 1.0)

    >>> x = mg.tensor([-1.0, 0.0, 2.0])
    >>> mg.nn.functional.elu(x)
    tensor([-0.6321,  0.0000,  2.0000])
    """

def _nn_elu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`elu`, written into the tensor, which is answered. See `nn.functional.elu`.

    Arguments:
        alpha (float, default 1.0)
    """

def selu(input: Tensor) -> Tensor:
    """`elu` with the scales that keep mean 0 and variance 1 from layer to layer (Klambauer et al., 2017). Integers become the default float.

    >>> x = mg.tensor([-1.0, 0.0, 2.0])
    >>> mg.selu(x)
    tensor([-1.1113,  0.0000,  2.1014])
    """

def _nn_selu(input: Tensor) -> Tensor:
    """`elu` with the scales that keep mean 0 and variance 1 from layer to layer (Klambauer et al., 2017). Integers become the default float.

    >>> x = mg.tensor([-1.0, 0.0, 2.0])
    >>> mg.selu(x)
    tensor([-1.1113,  0.0000,  2.1014])
    """

def selu_(input: Tensor) -> Tensor:
    """`selu`, written into the tensor, which is answered. See `selu`."""

def _nn_selu_(input: Tensor) -> Tensor:
    """`selu`, written into the tensor, which is answered. See `selu`."""

def softplus(input: Tensor, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
    """`log(1 + exp(beta · x)) / beta`, without overflow, and `x` where `beta · x` is above `threshold`. From a threshold of 20
    on that changes nothing that float32 could tell, and what is more exact is computed. Integers become the default float.

    Arguments:
        beta (float, default 1.0)
        threshold (float, default 20.0)

    >>> x = mg.tensor([-1.0, 0.0, 100.0])
    >>> mg.nn.functional.softplus(x)
    tensor([  0.3133,   0.6931, 100.0000])
    """

def _nn_softplus(input: Tensor, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
    """`log(1 + exp(beta · x)) / beta`, without overflow, and `x` where `beta · x` is above `threshold`. From a threshold of 20
    on that changes nothing that float32 could tell, and what is more exact is computed. Integers become the default float.

    Arguments:
        beta (float, default 1.0)
        threshold (float, default 20.0)

    >>> x = mg.tensor([-1.0, 0.0, 100.0])
    >>> mg.nn.functional.softplus(x)
    tensor([  0.3133,   0.6931, 100.0000])
    """

def softplus_(input: Tensor, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
    """`softplus`, written into the tensor, which is answered. See `softplus`.

    Arguments:
        beta (float, default 1.0)
        threshold (float, default 20.0)
    """

def _nn_softplus_(input: Tensor, beta: _float = 1.0, threshold: _float = 20.0) -> Tensor:
    """`softplus`, written into the tensor, which is answered. See `softplus`.

    Arguments:
        beta (float, default 1.0)
        threshold (float, default 20.0)
    """

def _nn_hardtanh(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
    """`x`, no smaller than `min_val` and no larger than `max_val`; the gradient is 0 at the bounds. Integers stay.

    Arguments:
        min_val (float, default -1.0)
        max_val (float, default 1.0)

    Errors: Truth values; a `max_val` below 0 for unsigned integers; a `min_val` above `max_val`.

    >>> x = mg.tensor([-2.0, 0.5, 2.0])
    >>> mg.nn.functional.hardtanh(x)
    tensor([-1.0000,  0.5000,  1.0000])
    """

def _nn_hardtanh_(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
    """`hardtanh`, written into the tensor, which is answered. See `nn.functional.hardtanh`.

    Arguments:
        min_val (float, default -1.0)
        max_val (float, default 1.0)
    """

def _nn_relu6(input: Tensor) -> Tensor:
    """`x`, no smaller than 0 and no larger than 6; the gradient is 0 at the bounds. Integers stay.

    Errors: Truth values.

    >>> x = mg.tensor([-1.0, 3.0, 9.0])
    >>> mg.nn.functional.relu6(x)
    tensor([0., 3., 6.])
    """

def _nn_relu6_(input: Tensor) -> Tensor:
    """`relu6`, written into the tensor, which is answered. See `nn.functional.relu6`."""

def _nn_logsigmoid(input: Tensor) -> Tensor:
    """`log σ(x)`, without overflow. Integers become the default float.

    >>> x = mg.tensor([-1000.0, 0.0, 1.0])
    >>> mg.nn.functional.logsigmoid(x)
    tensor([-1.0000e+03, -6.9315e-01, -3.1326e-01])
    """

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`x`, or `weight · x` where `x` is not positive; `weight` is one number, or one for each position along axis 1 (He et al.,
    2015). Integers become the default float.

    Arguments:
        weight (tensor)

    Errors: A weight of more than one axis, or of another size than axis 1; unlike dtypes.

    >>> x = mg.tensor([[-1.0, -1.0], [2.0, 2.0]])
    >>> mg.prelu(x, mg.tensor([0.25, 0.5]))
    tensor([[-0.2500, -0.5000],
            [ 2.0000,  2.0000]])
    """

def _nn_prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`x`, or `weight · x` where `x` is not positive; `weight` is one number, or one for each position along axis 1 (He et al.,
    2015). Integers become the default float.

    Arguments:
        weight (tensor)

    Errors: A weight of more than one axis, or of another size than axis 1; unlike dtypes.

    >>> x = mg.tensor([[-1.0, -1.0], [2.0, 2.0]])
    >>> mg.prelu(x, mg.tensor([0.25, 0.5]))
    tensor([[-0.2500, -0.5000],
            [ 2.0000,  2.0000]])
    """

def _nn_mish(input: Tensor) -> Tensor:
    """`x tanh(softplus(x))` (Misra, 2019). Integers become the default float.

    >>> x = mg.tensor([-1.0, 0.0, 1.0])
    >>> mg.nn.functional.mish(x)
    tensor([-0.3034,  0.0000,  0.8651])
    """

def _nn_mish_(input: Tensor) -> Tensor:
    """`mish`, written into the tensor, which is answered. See `nn.functional.mish`."""

def _nn_softsign(input: Tensor) -> Tensor:
    """`x / (1 + |x|)`. Integers become the default float.

    >>> x = mg.tensor([-1.0, 0.0, 3.0])
    >>> mg.nn.functional.softsign(x)
    tensor([-0.5000,  0.0000,  0.7500])
    """

def _nn_hardswish(input: Tensor) -> Tensor:
    """`x` times a sixth of `x + 3`, that no smaller than 0 and no larger than 6 (Howard et al., 2019). Integers become the default float.

    >>> x = mg.tensor([-1.0, 0.0, 1.0, 4.0])
    >>> mg.nn.functional.hardswish(x)
    tensor([-0.3333,  0.0000,  0.6667,  4.0000])
    """

def _nn_hardswish_(input: Tensor) -> Tensor:
    """`hardswish`, written into the tensor, which is answered. See `nn.functional.hardswish`."""

def _nn_hardsigmoid(input: Tensor) -> Tensor:
    """A sixth of `x + 3`, that no smaller than 0 and no larger than 6. Integers become the default float.

    >>> x = mg.tensor([-4.0, 0.0, 4.0])
    >>> mg.nn.functional.hardsigmoid(x)
    tensor([0.0000, 0.5000, 1.0000])
    """

def _nn_hardsigmoid_(input: Tensor) -> Tensor:
    """`hardsigmoid`, written into the tensor, which is answered. See `nn.functional.hardsigmoid`."""

def hardshrink(input: Tensor, lambd: _float = 0.5) -> Tensor:
    """`x`, or 0 where `|x|` is not above `lambd`; NaN stays. Integers become the default float.

    Arguments:
        lambd (float, default 0.5)

    >>> x = mg.tensor([-1.0, 0.3, 0.7])
    >>> mg.hardshrink(x)
    tensor([-1.0000,  0.0000,  0.7000])
    """

def _nn_hardshrink(input: Tensor, lambd: _float = 0.5) -> Tensor:
    """`x`, or 0 where `|x|` is not above `lambd`; NaN stays. Integers become the default float.

    Arguments:
        lambd (float, default 0.5)

    >>> x = mg.tensor([-1.0, 0.3, 0.7])
    >>> mg.hardshrink(x)
    tensor([-1.0000,  0.0000,  0.7000])
    """

def _nn_softshrink(input: Tensor, lambd: _float = 0.5) -> Tensor:
    """`x` moved towards 0 by `lambd`, and 0 where that would pass it; NaN stays. Integers become the default float.

    Arguments:
        lambd (float, default 0.5)

    Errors: A `lambd` below 0.

    >>> x = mg.tensor([-1.0, 0.25, 1.0])
    >>> mg.nn.functional.softshrink(x)
    tensor([-0.5000,  0.0000,  0.5000])
    """

def _nn_tanhshrink(input: Tensor) -> Tensor:
    """`x − tanh(x)`. Integers become the default float.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.nn.functional.tanhshrink(x)
    tensor([0.0000, 0.2384])
    """

def threshold(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`x` where it is above `threshold`, else `value`; NaN stays. Integers stay.

    Arguments:
        threshold (float)
        value (float)

    Errors: Truth values.

    >>> x = mg.tensor([0.5, 1.0, 2.0])
    >>> mg.threshold(x, 1.0, -9.0)
    tensor([-9., -9.,  2.])
    """

def _nn_threshold(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`x` where it is above `threshold`, else `value`; NaN stays. Integers stay.

    Arguments:
        threshold (float)
        value (float)

    Errors: Truth values.

    >>> x = mg.tensor([0.5, 1.0, 2.0])
    >>> mg.threshold(x, 1.0, -9.0)
    tensor([-9., -9.,  2.])
    """

def threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`threshold`, written into the tensor, which is answered. See `threshold`.

    Arguments:
        threshold (float)
        value (float)
    """

def _nn_threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`threshold`, written into the tensor, which is answered. See `threshold`.

    Arguments:
        threshold (float)
        value (float)
    """

def _nn_glu(input: Tensor, dim: _int = -1) -> Tensor:
    """The first half along an axis, times the sigmoid of the second (Dauphin et al., 2017). Integers become the default float.

    Arguments:
        dim (int, default -1): along which axis

    Errors: No axes; an axis of odd size.

    >>> x = mg.tensor([[1.0, 2.0, 0.0, 100.0]])
    >>> mg.nn.functional.glu(x)
    tensor([[0.5000, 2.0000]])
    """

def softmax(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """`eˣ / Σ eˣ` along an axis, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is taken, or axis 0 of
    tensors of no, one or three axes.

    Arguments:
        dim (int, or None): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range, a `dtype` of integers.

    >>> x = mg.tensor([[1.0, 2.0, 3.0]])
    >>> mg.softmax(x, dim=1)
    tensor([[0.0900, 0.2447, 0.6652]])
    """

def _nn_softmax(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """`eˣ / Σ eˣ` along an axis, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is taken, or axis 0 of
    tensors of no, one or three axes.

    Arguments:
        dim (int, or None): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range, a `dtype` of integers.

    >>> x = mg.tensor([[1.0, 2.0, 3.0]])
    >>> mg.softmax(x, dim=1)
    tensor([[0.0900, 0.2447, 0.6652]])
    """

def log_softmax(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """`log softmax` along an axis, without overflow, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is
    taken, or axis 0 of tensors of no, one or three axes.

    Arguments:
        dim (int, or None): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range, a `dtype` of integers.

    >>> x = mg.tensor([0.0, 1000.0])
    >>> mg.log_softmax(x, dim=0)
    tensor([-1000.,     0.])
    """

def _nn_log_softmax(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """`log softmax` along an axis, without overflow, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is
    taken, or axis 0 of tensors of no, one or three axes.

    Arguments:
        dim (int, or None): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range, a `dtype` of integers.

    >>> x = mg.tensor([0.0, 1000.0])
    >>> mg.log_softmax(x, dim=0)
    tensor([-1000.,     0.])
    """

def _nn_softmin(input: Tensor, dim: _int | None = None, dtype: _DType | None = None) -> Tensor:
    """The softmax of `−x`; see `softmax`.

    Arguments:
        dim (int, or None): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range, a `dtype` of integers.

    >>> x = mg.tensor([1.0, 2.0, 3.0])
    >>> mg.nn.functional.softmin(x, dim=0)
    tensor([0.6652, 0.2447, 0.0900])
    """

def _nn_gumbel_softmax(logits: Tensor, tau: _float = 1.0, hard: _bool = False, dim: _int = -1) -> Tensor:
    """A sample of a categorical distribution with the log probabilities `logits`, softened: the softmax of what they are with
    Gumbel noise, divided by `tau` (Jang, Gu and Poole, 2016; Maddison, Mnih and Teh, 2016). With `hard`, zeros and a one, with the
    gradient of the softened sample. Integers become the default float.

    Arguments:
        logits (tensor)
        tau (float, default 1.0)
        hard (bool, default False)
        dim (int, default -1): along which axis

    Errors: An axis out of range; with `hard`, an axis of size 0.

    >>> logits = mg.tensor([[0.0, 100.0, 0.0]])
    >>> mg.nn.functional.gumbel_softmax(logits, hard=True)
    tensor([[0., 1., 0.]])
    """

def rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Generator | None = None) -> Tensor:
    """`x`, or `x` times a slope where `x` is not positive: in training one for each element, drawn uniformly from [lower, upper),
    else their mean (Xu et al., 2015). Integers become the default float.

    Arguments:
        lower (float, default 0.125)
        upper (float, default 0.3333333333333333)
        training (bool, default False)
        generator (Generator, or None): where random numbers are drawn from, by itself the default one

    Errors: A `lower` above `upper`.

    >>> x = mg.tensor([-24.0, 24.0])
    >>> mg.rrelu(x)
    tensor([-5.5000, 24.0000])
    """

def _nn_rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Generator | None = None) -> Tensor:
    """`x`, or `x` times a slope where `x` is not positive: in training one for each element, drawn uniformly from [lower, upper),
    else their mean (Xu et al., 2015). Integers become the default float.

    Arguments:
        lower (float, default 0.125)
        upper (float, default 0.3333333333333333)
        training (bool, default False)
        generator (Generator, or None): where random numbers are drawn from, by itself the default one

    Errors: A `lower` above `upper`.

    >>> x = mg.tensor([-24.0, 24.0])
    >>> mg.rrelu(x)
    tensor([-5.5000, 24.0000])
    """

def rrelu_(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Generator | None = None) -> Tensor:
    """`rrelu`, written into the tensor, which is answered. See `rrelu`.

    Arguments:
        lower (float, default 0.125)
        upper (float, default 0.3333333333333333)
        training (bool, default False)
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
    """

def _nn_rrelu_(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, *, generator: Generator | None = None) -> Tensor:
    """`rrelu`, written into the tensor, which is answered. See `rrelu`.

    Arguments:
        lower (float, default 0.125)
        upper (float, default 0.3333333333333333)
        training (bool, default False)
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
    """

def _nn_scaled_dot_product_attention(input: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: _float = 0.0, is_causal: _bool = False, *, scale: _float | None = None, enable_gqa: _bool = False) -> Tensor:
    """Attention (Vaswani et al., 2017): for queries `[…, l, e]`, keys `[…, s, e]` and values `[…, s, v]`, the means `[…, l, v]` of the
    values by weights `softmax(scale · q kᵀ + mask)`. `scale` is 1/√e where it is not given. A mask broadcasts to `[…, l, s]`: of
    truth values, it says which keys take part; of numbers, what is added. With `is_causal` a query takes the keys up to its own position.
    A query that takes no key is answered with 0 (with NaN where a score is no number: a mask of truth values adds 0 or −∞). Weights are left out with probability `dropout_p`, and the others scaled by
    1/(1 − `dropout_p`). Scores never all lie in memory where there are many of them: with `dropout_p`, or a mask that requires a gradient, they are
    computed some queries at a time, and again for gradients. With `enable_gqa` the third last axis counts heads, of which keys and values may have fewer: each of theirs serves as many
    neighbouring ones of the query.

    Arguments:
        key (tensor): `[…, s, e]`
        value (tensor): `[…, s, v]`
        attn_mask (tensor, or None): what broadcasts to `[…, l, s]`
        dropout_p (float, default 0.0)
        is_causal (bool, default False)
        scale (float, or None)
        enable_gqa (bool, default False)

    Errors: Shapes that do not fit; what are no floats of one dtype; a mask together with `is_causal`; a probability outside [0, 1]; unlike devices.

    >>> q = k = v = mg.eye(2)[None]
    >>> mg.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    tensor([[[1.0000, 0.0000],
             [0.3302, 0.6698]]])
    """

def _special_bessel_j0(input: Tensor) -> Tensor:
    """J₀, the Bessel function of the first kind of order 0. Integers become the default float; half types are computed in float32.

    >>> x = mg.tensor([0.0, 2.404825557])
    >>> mg.special.bessel_j0(x).round(decimals=6)
    tensor([1., 0.])
    """

def _special_bessel_j1(input: Tensor) -> Tensor:
    """J₁, the Bessel function of the first kind of order 1. Integers become the default float; half types are computed in float32.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.special.bessel_j1(x)
    tensor([0.0000, 0.4401])
    """

def _special_bessel_y0(input: Tensor) -> Tensor:
    """Y₀, the Bessel function of the second kind of order 0: −∞ at 0, NaN of negative numbers. Integers become the default float; half
    types are computed in float32.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.special.bessel_y0(x)
    tensor([  -inf, 0.0883])
    """

def _special_bessel_y1(input: Tensor) -> Tensor:
    """Y₁, the Bessel function of the second kind of order 1: −∞ at 0, NaN of negative numbers. Integers become the default float; half
    types are computed in float32.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.special.bessel_y1(x)
    tensor([   -inf, -0.7812])
    """

def _special_modified_bessel_k0(input: Tensor) -> Tensor:
    """K₀, the modified Bessel function of the second kind of order 0: ∞ at 0, NaN of negative numbers. Integers become the default
    float; half types are computed in float32.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.special.modified_bessel_k0(x)
    tensor([   inf, 0.4210])
    """

def _special_modified_bessel_k1(input: Tensor) -> Tensor:
    """K₁, the modified Bessel function of the second kind of order 1: ∞ at 0, NaN of negative numbers. Integers become the default
    float; half types are computed in float32.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.special.modified_bessel_k1(x)
    tensor([   inf, 0.6019])
    """

def _special_scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """`exp(x) · modified_bessel_k0(x)`, which does not become 0 so soon.

    >>> x = mg.tensor([1.0, 1000.0])
    >>> mg.special.scaled_modified_bessel_k0(x)
    tensor([1.1445, 0.0396])
    """

def _special_scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """`exp(x) · modified_bessel_k1(x)`, which does not become 0 so soon.

    >>> x = mg.tensor([1.0, 1000.0])
    >>> mg.special.scaled_modified_bessel_k1(x)
    tensor([1.6362, 0.0396])
    """

def _special_spherical_bessel_j0(input: Tensor) -> Tensor:
    """Bessel's spherical function of order 0, `sin(x) / x`: 1 at 0, and 0 at infinity. Integers become the default float; half types are
    computed in float32.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.special.spherical_bessel_j0(x)
    tensor([1.0000, 0.8415])
    """

def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, l]` (or `[c, l]`) with a weight `[o, c / groups, k]`, plus a bias `[o]`:
    `[n, o, (l + 2 padding − dilation (k − 1) − 1) / stride + 1]`. A padding of `"same"` keeps `l`, `"valid"` is none. Products of
    float32 are exact; half types are added in float32, integers as such.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1)
        padding (int, ints or str, default 0)
        dilation (int or ints, default 1)
        groups (int, default 1)

    Errors: Shapes that do not fit, a kernel larger than the padded input, numbers that are not positive, truth values.

    >>> x = mg.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    >>> mg.conv1d(x, mg.tensor([[[1.0, 0.0, -1.0]]]), padding=1)
    tensor([[[-2., -2., -2.,  3.]]])
    """

def _nn_conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, l]` (or `[c, l]`) with a weight `[o, c / groups, k]`, plus a bias `[o]`:
    `[n, o, (l + 2 padding − dilation (k − 1) − 1) / stride + 1]`. A padding of `"same"` keeps `l`, `"valid"` is none. Products of
    float32 are exact; half types are added in float32, integers as such.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1)
        padding (int, ints or str, default 0)
        dilation (int or ints, default 1)
        groups (int, default 1)

    Errors: Shapes that do not fit, a kernel larger than the padded input, numbers that are not positive, truth values.

    >>> x = mg.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    >>> mg.conv1d(x, mg.tensor([[[1.0, 0.0, -1.0]]]), padding=1)
    tensor([[[-2., -2., -2.,  3.]]])
    """

def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[o, c / groups, kh, kw]`, plus a bias
    `[o]`; see `conv1d` for sizes. Stride, padding and dilation are one number, or one for each axis.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1): how far the kernel moves each time
        padding (int, ints or str, default 0): zeros on each side, "same" or "valid"
        dilation (int or ints, default 1): how far the kernel's elements are from each other
        groups (int, default 1): how many parts the channels are in, each with kernels of its own

    Errors: As `conv1d`.

    >>> x = mg.ones(1, 3, 32, 32)
    >>> mg.conv2d(x, mg.ones(8, 3, 5, 5), stride=2, padding=2).shape
    (1, 8, 16, 16)
    """

def _nn_conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[o, c / groups, kh, kw]`, plus a bias
    `[o]`; see `conv1d` for sizes. Stride, padding and dilation are one number, or one for each axis.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1): how far the kernel moves each time
        padding (int, ints or str, default 0): zeros on each side, "same" or "valid"
        dilation (int or ints, default 1): how far the kernel's elements are from each other
        groups (int, default 1): how many parts the channels are in, each with kernels of its own

    Errors: As `conv1d`.

    >>> x = mg.ones(1, 3, 32, 32)
    >>> mg.conv2d(x, mg.ones(8, 3, 5, 5), stride=2, padding=2).shape
    (1, 8, 16, 16)
    """

def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[o, c / groups, kd, kh, kw]`, plus a
    bias `[o]`; see `conv1d` for sizes.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1): how far the kernel moves each time
        padding (int, ints or str, default 0): zeros on each side, "same" or "valid"
        dilation (int or ints, default 1): how far the kernel's elements are from each other
        groups (int, default 1): how many parts the channels are in, each with kernels of its own

    Errors: As `conv1d`.

    >>> x = mg.ones(1, 2, 8, 16, 16)
    >>> mg.conv3d(x, mg.ones(4, 2, 3, 3, 3), padding="same").shape
    (1, 4, 8, 16, 16)
    """

def _nn_conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes | str = 0, dilation: _Sizes = 1, groups: _int = 1) -> Tensor:
    """The convolution (cross-correlation) of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[o, c / groups, kd, kh, kw]`, plus a
    bias `[o]`; see `conv1d` for sizes.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1): how far the kernel moves each time
        padding (int, ints or str, default 0): zeros on each side, "same" or "valid"
        dilation (int or ints, default 1): how far the kernel's elements are from each other
        groups (int, default 1): how many parts the channels are in, each with kernels of its own

    Errors: As `conv1d`.

    >>> x = mg.ones(1, 2, 8, 16, 16)
    >>> mg.conv3d(x, mg.ones(4, 2, 3, 3, 3), padding="same").shape
    (1, 4, 8, 16, 16)
    """

def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, l]` (or `[c, l]`) with a weight `[c, o / groups, k]`, plus a bias `[o]`: the gradient of a
    convolution by its input, `[n, o, (l − 1) stride − 2 padding + dilation (k − 1) + output_padding + 1]`.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1)
        padding (int or ints, default 0)
        output_padding (int or ints, default 0)
        groups (int, default 1)
        dilation (int or ints, default 1)

    Errors: Shapes that do not fit; an output padding that is not smaller than stride or dilation.

    >>> x = mg.tensor([[[1.0, 2.0]]])
    >>> mg.conv_transpose1d(x, mg.tensor([[[1.0, 10.0]]]), stride=2)
    tensor([[[ 1., 10.,  2., 20.]]])
    """

def _nn_conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, l]` (or `[c, l]`) with a weight `[c, o / groups, k]`, plus a bias `[o]`: the gradient of a
    convolution by its input, `[n, o, (l − 1) stride − 2 padding + dilation (k − 1) + output_padding + 1]`.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1)
        padding (int or ints, default 0)
        output_padding (int or ints, default 0)
        groups (int, default 1)
        dilation (int or ints, default 1)

    Errors: Shapes that do not fit; an output padding that is not smaller than stride or dilation.

    >>> x = mg.tensor([[[1.0, 2.0]]])
    >>> mg.conv_transpose1d(x, mg.tensor([[[1.0, 10.0]]]), stride=2)
    tensor([[[ 1., 10.,  2., 20.]]])
    """

def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[c, o / groups, kh, kw]`, plus a bias `[o]`; see
    `conv_transpose1d` for sizes.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1): how far the input's elements come to lie from each other
        padding (int or ints, default 0): what is taken away on each side
        output_padding (int or ints, default 0): what is added on one side
        groups (int, default 1): how many parts the channels are in, each with kernels of its own
        dilation (int or ints, default 1): how far the kernel's elements are from each other

    Errors: As `conv_transpose1d`.

    >>> x = mg.ones(1, 8, 16, 16)
    >>> mg.conv_transpose2d(x, mg.ones(8, 3, 4, 4), stride=2, padding=1).shape
    (1, 3, 32, 32)
    """

def _nn_conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, h, w]` (or `[c, h, w]`) with a weight `[c, o / groups, kh, kw]`, plus a bias `[o]`; see
    `conv_transpose1d` for sizes.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1): how far the input's elements come to lie from each other
        padding (int or ints, default 0): what is taken away on each side
        output_padding (int or ints, default 0): what is added on one side
        groups (int, default 1): how many parts the channels are in, each with kernels of its own
        dilation (int or ints, default 1): how far the kernel's elements are from each other

    Errors: As `conv_transpose1d`.

    >>> x = mg.ones(1, 8, 16, 16)
    >>> mg.conv_transpose2d(x, mg.ones(8, 3, 4, 4), stride=2, padding=1).shape
    (1, 3, 32, 32)
    """

def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[c, o / groups, kd, kh, kw]`, plus a bias `[o]`;
    see `conv_transpose1d` for sizes.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1): how far the input's elements come to lie from each other
        padding (int or ints, default 0): what is taken away on each side
        output_padding (int or ints, default 0): what is added on one side
        groups (int, default 1): how many parts the channels are in, each with kernels of its own
        dilation (int or ints, default 1): how far the kernel's elements are from each other

    Errors: As `conv_transpose1d`.

    >>> x = mg.ones(1, 2, 4, 4, 4)
    >>> mg.conv_transpose3d(x, mg.ones(2, 1, 2, 2, 2), stride=2).shape
    (1, 1, 8, 8, 8)
    """

def _nn_conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0, output_padding: _Sizes = 0, groups: _int = 1, dilation: _Sizes = 1) -> Tensor:
    """The transposed convolution of an input `[n, c, d, h, w]` (or `[c, d, h, w]`) with a weight `[c, o / groups, kd, kh, kw]`, plus a bias `[o]`;
    see `conv_transpose1d` for sizes.

    Arguments:
        weight (tensor)
        bias (tensor, or None)
        stride (int or ints, default 1): how far the input's elements come to lie from each other
        padding (int or ints, default 0): what is taken away on each side
        output_padding (int or ints, default 0): what is added on one side
        groups (int, default 1): how many parts the channels are in, each with kernels of its own
        dilation (int or ints, default 1): how far the kernel's elements are from each other

    Errors: As `conv_transpose1d`.

    >>> x = mg.ones(1, 2, 4, 4, 4)
    >>> mg.conv_transpose3d(x, mg.ones(2, 1, 2, 2, 2), stride=2).shape
    (1, 1, 8, 8, 8)
    """

def scalar_tensor(s: _Operand, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A number as a tensor without axes; of the default dtype unless another is named.

    Arguments:
        s (tensor or number): the number
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A device that is not there.

    >>> mg.scalar_tensor(2)
    tensor(2.)
    """

@overload
def rand(size: _Sizes, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Uniform random numbers in [0, 1), of the default dtype unless another is named.

    Arguments:
        size (int or ints): the shape, as one list or as its numbers
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.

    >>> x = mg.rand(2, 3)
    >>> x.shape, bool(((0 <= x) & (x < 1)).all())
    ((2, 3), True)
    """
@overload
def rand(*size: _int, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Uniform random numbers in [0, 1), of the default dtype unless another is named.

    Arguments:
        size (int or ints): the shape, as one list or as its numbers
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.

    >>> x = mg.rand(2, 3)
    >>> x.shape, bool(((0 <= x) & (x < 1)).all())
    ((2, 3), True)
    """

@overload
def randn(size: _Sizes, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Normal random numbers of mean 0 and variance 1, of the default dtype unless another is named.

    Arguments:
        size (int or ints): the shape, as one list or as its numbers
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.

    >>> a = mg.randn(1000, generator=mg.Generator().manual_seed(1))
    >>> b = mg.randn(1000, generator=mg.Generator().manual_seed(1))
    >>> bool((a == b).all()), abs(a.mean().item()) < 0.1
    (True, True)
    """
@overload
def randn(*size: _int, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Normal random numbers of mean 0 and variance 1, of the default dtype unless another is named.

    Arguments:
        size (int or ints): the shape, as one list or as its numbers
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; more than 16 axes, sizes that overflow; a device that is not there.

    >>> a = mg.randn(1000, generator=mg.Generator().manual_seed(1))
    >>> b = mg.randn(1000, generator=mg.Generator().manual_seed(1))
    >>> bool((a == b).all()), abs(a.mean().item()) < 0.1
    (True, True)
    """

def logspace(start: _float, end: _float, steps: _int, base: _float = 10.0, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """`steps` powers of `base`, whose exponents are evenly spaced from `start` to `end`, both included. Computed in float64, and
    rounded once; where the dtype is one of integers, from `start` and `end` without their fractions, as PyTorch does.

    Arguments:
        start (float)
        end (float)
        steps (int)
        base (float, default 10.0)
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: Too many of them; a device that is not there.

    >>> mg.logspace(0, 3, 4)
    tensor([   1.,   10.,  100., 1000.])
    """

def range(start: _float, end: _float, step: _float = 1.0, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """`start`, `start + step`, … up to `end`, which is included; of the default dtype unless another is named. `arange`, which
    leaves the end out, is what one wants.

    Arguments:
        start (float)
        end (float)
        step (float, default 1.0)
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: Bounds that are not finite or that the step does not lead to; a step of 0; a device that is not there.

    >>> mg.range(0, 1, 0.5)
    tensor([0.0000, 0.5000, 1.0000])
    """

def randperm(n: _int, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """The integers below `n` in a random order, int64 unless another dtype is named.

    Arguments:
        n (int)
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that does not hold all of them, truth values; a device that is not there.

    >>> mg.randperm(5).sort().values
    tensor([0, 1, 2, 3, 4])
    """

def randint_like(input: Tensor, low: _int | None = None, high: _int | None = None, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Random integers from `low` up to `high`, which is left out (from 0 up to `low`, if one bound is given), in the shape of a
    tensor; in its dtype and on its device unless others are named.

    Arguments:
        low (int, or None)
        high (int, or None)
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: No bound; bounds with no integer between them, or beyond an integer dtype; a device that is not there.

    >>> x = mg.zeros(2, 3)
    >>> mg.randint_like(x, 5, 6)
    tensor([[5., 5., 5.],
            [5., 5., 5.]])
    """

def normal(mean: _Operand, std: _Operand = 1.0, size: _Sizes | None = None, *, generator: Generator | None = None, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Normal random numbers of a mean and a standard deviation, which are numbers or tensors that broadcast; of two numbers, in
    a shape. Gradients of means and deviations are zeros.

    Arguments:
        mean (tensor or number)
        std (tensor or number, default 1.0): the deviation
        size (int or ints, or None): the shape, where `mean` and `std` are numbers
        generator (Generator, or None): where random numbers are drawn from, by itself the default one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: Tensors that are not of floats, that do not broadcast, or on unlike devices; a deviation that is negative or no number: what is
    not known yet is found when the numbers are drawn; numbers without a shape, a shape beside tensors.

    >>> mg.normal(0.0, 1.0, (2, 3)).shape
    (2, 3)
    >>> mg.normal(mg.tensor([1.0, 10.0]), 0.0)
    tensor([ 1., 10.])
    """

def bernoulli(input: Tensor, p: _float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probabilities that a tensor holds (or with `p` everywhere), else 0, in its dtype. Gradients of the probabilities are zeros.

    Arguments:
        p (float, or None)
        generator (Generator, or None): where random numbers are drawn from, by itself the default one

    Errors: Probabilities that are not floats; ones outside [0, 1]: what is not known yet is found when the draws are computed.

    >>> x = mg.tensor([0.0, 1.0, 1.0])
    >>> mg.bernoulli(x)
    tensor([0., 1., 1.])
    """

def multinomial(input: Tensor, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
    """Positions (int64) drawn with the weights along the last axis, which need not add up to 1: `num_samples` of each row. Without
    replacement, the first of an exponential race (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006); with it,
    where so many numbers fall among the running sums of the weights. A single one is the first of a race.

    Arguments:
        num_samples (int)
        replacement (bool, default False)
        generator (Generator, or None): where random numbers are drawn from, by itself the default one

    Errors: Weights that are not floats, other than one or two axes; no samples, or without replacement more than there are weights. Weights
    that are negative or not finite, rows of zeros: what is not known yet is found when the samples are computed.

    >>> weights = mg.tensor([[0.0, 0.0, 1.0], [3.0, 0.0, 0.0]])
    >>> mg.multinomial(weights, 1)
    tensor([[2],
            [0]])
    """

def _nn_ctc_loss(input: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[_int], target_lengths: Tensor | Sequence[_int], blank: _int = 0, reduction: str = "mean", zero_infinity: _bool = False) -> Tensor:
    """The negative logarithm of the probability that a line of labels comes out where repeated labels and then blanks are taken away (Graves et al.,
    2006): of `log_probs` `[t, n, classes]` (or `[t, classes]`), lines `targets` `[n, s]`, or one after the other in one axis, of which the first
    `target_lengths` count, and `input_lengths` steps. `blank` is the class that stands for none. What is impossible is infinite, or with
    `zero_infinity` 0. `reduction` is "mean" (of losses divided by their lines' lengths), "sum" or "none".

    Arguments:
        targets (tensor)
        input_lengths (tensor or ints)
        target_lengths (tensor or ints)
        blank (int, default 0)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"
        zero_infinity (bool, default False)

    Errors: Shapes that do not fit; no floats, or labels and lengths that are no integers; a length or label out of range, where it is known; another
    reduction; unlike devices.

    >>> log_probs = mg.zeros(4, 1, 3).log_softmax(2)
    >>> mg.nn.functional.ctc_loss(log_probs, mg.tensor([[1, 2]]), [4], [2])
    tensor(0.8432)
    """

def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """The diagonal of two axes (above the main one by `offset`), which go; it becomes the last. A view.

    Arguments:
        offset (int, default 0)
        dim1 (int, default 0): the first of the axes
        dim2 (int, default 1): the second one

    Errors: An axis out of range, or twice the same.

    >>> x = mg.arange(9).reshape(3, 3)
    >>> mg.diagonal(x)
    tensor([0, 4, 8])
    >>> mg.diagonal(x, offset=1)
    tensor([1, 5])
    """

def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """The last axis as the diagonal of two new ones (above the main one by `offset`), among zeros.

    Arguments:
        offset (int, default 0)
        dim1 (int, default -2): where the rows are in the result
        dim2 (int, default -1): where the columns are

    Errors: No axes; an axis out of range, or twice the same.

    >>> x = mg.tensor([1, 2])
    >>> mg.diag_embed(x)
    tensor([[1, 0],
            [0, 2]])
    """

def diag(input: Tensor, diagonal: _int = 0) -> Tensor:
    """Of a vector, the matrix with it as a diagonal; of a matrix, a copy of that diagonal.

    Arguments:
        diagonal (int, default 0)

    Errors: Other than one or two axes.

    >>> mg.diag(mg.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    >>> mg.diag(mg.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """

def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """All elements as a diagonal of a matrix.

    Arguments:
        offset (int, default 0): how far above the main diagonal, or below 0 how far below it

    Errors: More elements than a matrix can have rows.

    >>> x = mg.tensor([[1], [2]])
    >>> mg.diagflat(x, 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """

def tril(input: Tensor, diagonal: _int = 0) -> Tensor:
    """The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and below it;
    0 elsewhere.

    Arguments:
        diagonal (int, default 0)

    Errors: Fewer than two axes.

    >>> x = mg.ones(3, 3)
    >>> mg.tril(x)
    tensor([[1., 0., 0.],
            [1., 1., 0.],
            [1., 1., 1.]])
    """

def tril_(input: Tensor, diagonal: _int = 0) -> Tensor:
    """`tril`, written into the tensor, which is answered. See `tril`.

    Arguments:
        diagonal (int, default 0)
    """

def triu(input: Tensor, diagonal: _int = 0) -> Tensor:
    """The elements on the diagonal `diagonal` of the last two axes (above the main one, if it is positive) and above it;
    0 elsewhere.

    Arguments:
        diagonal (int, default 0)

    Errors: Fewer than two axes.

    >>> x = mg.ones(3, 3)
    >>> mg.triu(x, diagonal=1)
    tensor([[0., 1., 1.],
            [0., 0., 1.],
            [0., 0., 0.]])
    """

def triu_(input: Tensor, diagonal: _int = 0) -> Tensor:
    """`triu`, written into the tensor, which is answered. See `triu`.

    Arguments:
        diagonal (int, default 0)
    """

def tril_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The positions of the lower triangle of a matrix, row by row: `[2, n]`, rows first.

    Arguments:
        row (int): how many rows the matrix has
        col (int): how many columns it has
        offset (int, default 0): up to how far above the main diagonal
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is

    Errors: A dtype other than int64 and int32; more positions than memory has room for.

    >>> mg.tril_indices(3, 3)
    tensor([[0, 1, 1, 2, 2, 2],
            [0, 0, 1, 0, 1, 2]])
    """

def triu_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """The positions of the upper triangle of a matrix, row by row: `[2, n]`, rows first.

    Arguments:
        row (int): how many rows the matrix has
        col (int): how many columns it has
        offset (int, default 0): from how far above the main diagonal on
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is

    Errors: A dtype other than int64 and int32; more positions than memory has room for.

    >>> mg.triu_indices(3, 3, offset=1)
    tensor([[0, 0, 1],
            [1, 2, 2]])
    """

def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor:
    """A copy with `src` in place of one position along an axis.

    Arguments:
        src (tensor)
        dim (int): along which axis
        index (int)

    Errors: An axis or index out of range; a `src` of another shape.

    >>> x = mg.zeros(2, 3)
    >>> mg.select_scatter(x, mg.tensor([1.0, 2.0, 3.0]), 0, 1)
    tensor([[0., 0., 0.],
            [1., 2., 3.]])
    """

def slice_scatter(input: Tensor, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
    """A copy with `src` in place of positions along an axis; see `slice`.

    Arguments:
        src (tensor)
        dim (int, default 0): along which axis
        start (int, or None): the first position
        end (int, or None): before which position it ends
        step (int, default 1)

    Errors: An axis out of range, step 0; a `src` of another shape.

    >>> x = mg.zeros(4)
    >>> mg.slice_scatter(x, mg.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """

def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """A copy with `src` in place of a diagonal; see `diagonal`.

    Arguments:
        src (tensor)
        offset (int, default 0): how far above the main diagonal, or below 0 how far below it
        dim1 (int, default 0): the first of the axes
        dim2 (int, default 1): the second one

    Errors: An axis out of range, or twice the same; a `src` of another shape.

    >>> x = mg.zeros(2, 2)
    >>> mg.diagonal_scatter(x, mg.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """

def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis, whose lengths are taken for at least `eps`. Shapes broadcast,
    integers become the default float.

    Arguments:
        x1 (tensor): the first vectors
        x2 (tensor): the others
        dim (int, default 1): along which axis
        eps (float, default 1e-8)

    Errors: Shapes that do not broadcast, unlike devices, an axis out of range.

    >>> mg.cosine_similarity(mg.tensor([[1.0, 0.0], [1.0, 1.0]]), mg.tensor([[0.0, 2.0], [3.0, 3.0]]))
    tensor([0., 1.])
    """

def _nn_cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis, whose lengths are taken for at least `eps`. Shapes broadcast,
    integers become the default float.

    Arguments:
        x1 (tensor): the first vectors
        x2 (tensor): the others
        dim (int, default 1): along which axis
        eps (float, default 1e-8)

    Errors: Shapes that do not broadcast, unlike devices, an axis out of range.

    >>> mg.cosine_similarity(mg.tensor([[1.0, 0.0], [1.0, 1.0]]), mg.tensor([[0.0, 2.0], [3.0, 3.0]]))
    tensor([0., 1.])
    """

def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-6, keepdim: _bool = False) -> Tensor:
    """The `p`-norm of `x1 − x2 + eps` along the last axis. Shapes broadcast; differences of integers become the default float.

    Arguments:
        x1 (tensor)
        x2 (tensor)
        p (float, default 2.0)
        eps (float, default 1e-6)
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: Shapes that do not broadcast, unlike devices, truth values; as `norm`.

    >>> mg.pairwise_distance(mg.tensor([[0.0, 0.0]]), mg.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

def _nn_pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-6, keepdim: _bool = False) -> Tensor:
    """The `p`-norm of `x1 − x2 + eps` along the last axis. Shapes broadcast; differences of integers become the default float.

    Arguments:
        x1 (tensor)
        x2 (tensor)
        p (float, default 2.0)
        eps (float, default 1e-6)
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: Shapes that do not broadcast, unlike devices, truth values; as `norm`.

    >>> mg.pairwise_distance(mg.tensor([[0.0, 0.0]]), mg.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The `p`-norms of the differences of all pairs of rows: of `[…, n, m]` and `[…, k, m]` those of row `i` and row `j`, `[…, n, k]`; batches broadcast.
    Integers become the default float. Where `p` is infinite and several components differ by as much, each has the whole gradient, as in `pdist`
    (and not a share, as in `norm`). Euclidean distances of more than 25 rows are computed by a product, unless `compute_mode` is
    "donot_use_mm_for_euclid_dist"; "use_mm_for_euclid_dist" asks for the product always.

    Arguments:
        x1 (tensor): `[…, n, m]`
        x2 (tensor): `[…, k, m]`
        p (float, default 2.0)
        compute_mode (str, or None)

    Errors: Fewer than two axes, rows of unlike lengths, truth values, batches that do not broadcast, unlike devices; a `p` below 0; another mode.

    >>> mg.cdist(mg.tensor([[0.0, 0.0], [3.0, 0.0]]), mg.tensor([[0.0, 4.0]]))
    tensor([[4.],
            [5.]])
    """

def pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """The `p`-norms of the differences of all pairs of rows `i < j` of a matrix, ordered by `i`, then `j`. Integers become the default float.

    Arguments:
        p (float, default 2.0)

    Errors: Another number of axes than two; truth values; a `p` below 0.

    >>> x = mg.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> mg.pdist(x)
    tensor([5.0000, 1.0000, 4.2426])
    """

def _nn_pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """The `p`-norms of the differences of all pairs of rows `i < j` of a matrix, ordered by `i`, then `j`. Integers become the default float.

    Arguments:
        p (float, default 2.0)

    Errors: Another number of axes than two; truth values; a `p` below 0.

    >>> x = mg.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> mg.pdist(x)
    tensor([5.0000, 1.0000, 4.2426])
    """

def _nn_normalize(input: Tensor, p: _float = 2.0, dim: _Dims = 1, eps: _float = 1e-12) -> Tensor:
    """`x / max(‖x‖, eps)` with the `p`-norm over some axes. Integers become the default float.

    Arguments:
        p (float, default 2.0)
        dim (int or ints, default 1): along which axes
        eps (float, default 1e-12)

    Errors: An axis out of range or named twice; as `norm`.

    >>> x = mg.tensor([[3.0, 4.0], [0.0, 0.0]])
    >>> mg.nn.functional.normalize(x)
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """

def _nn_dropout(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In training, zeros with probability `p`, and the survivors scaled by 1/(1 − p) (Srivastava et al., 2014); else the tensor
    itself. Each element is multiplied with 0 or the scale: an infinity that is left out is NaN.

    Arguments:
        p (float, default 0.5)
        training (bool, default True)

    Errors: A probability outside [0, 1]; integers, where some are left out.

    >>> x = mg.ones(1000)
    >>> mg.nn.functional.dropout(x, p=0.5).unique()
    tensor([0., 2.])
    >>> mg.nn.functional.dropout(x, p=0.5, training=False) is x
    True
    """

def _nn_dropout_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout`, written into the tensor, which is answered. See `dropout`.

    Arguments:
        p (float, default 0.5)
        training (bool, default True)
    """

def feature_dropout(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout` of whole channels: of all behind the first two axes together.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default True): whether anything is left out

    Errors: A probability outside [0, 1]; fewer than two axes, where something is left out.

    >>> x = mg.ones(2, 3, 4)
    >>> mg.feature_dropout(x, 1.0, True).sum()
    tensor(0.)
    """

def feature_dropout_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`feature_dropout`, written into the tensor, which is answered. See `feature_dropout`.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default True): whether anything is left out
    """

def _nn_dropout1d(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout` of whole channels of `[n, channels, length]` or `[channels, length]`.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default True): whether anything is left out

    Errors: A probability outside [0, 1]; another number of axes.

    >>> x = mg.ones(1, 8, 4)
    >>> y = mg.nn.functional.dropout1d(x, p=0.5)
    >>> bool((y.amax(2) == y.amin(2)).all())
    True
    """

def _nn_dropout1d_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout1d`, written into the tensor, which is answered. See `nn.functional.dropout1d`.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default True): whether anything is left out
    """

def _nn_dropout2d(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout` of whole channels of `[n, channels, height, width]`: of all behind the first two axes together.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default True): whether anything is left out

    Errors: A probability outside [0, 1]; fewer than two axes, where something is left out.

    >>> x = mg.ones(1, 8, 4, 4)
    >>> y = mg.nn.functional.dropout2d(x, p=0.5)
    >>> bool((y.amax((2, 3)) == y.amin((2, 3))).all())
    True
    """

def _nn_dropout2d_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout2d`, written into the tensor, which is answered. See `nn.functional.dropout2d`.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default True): whether anything is left out
    """

def _nn_dropout3d(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout` of whole channels of `[n, channels, depth, height, width]`, or of that without a batch.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default True): whether anything is left out

    Errors: A probability outside [0, 1]; fewer than two axes, where something is left out.

    >>> x = mg.ones(1, 8, 2, 2, 2)
    >>> y = mg.nn.functional.dropout3d(x, p=0.5)
    >>> bool((y.amax((2, 3, 4)) == y.amin((2, 3, 4))).all())
    True
    """

def _nn_dropout3d_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """`dropout3d`, written into the tensor, which is answered. See `nn.functional.dropout3d`.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default True): whether anything is left out
    """

def alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """In training, the least value of `selu` with probability `p`, shifted and scaled so that mean 0 and variance 1 stay (Klambauer
    et al., 2017); else the tensor itself. Integers become the default float.

    Arguments:
        p (float, default 0.5)
        training (bool, default False)

    Errors: A probability outside [0, 1].

    >>> x = mg.zeros(1000)
    >>> len(mg.alpha_dropout(x, p=0.5, training=True).unique())
    2
    """

def _nn_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """In training, the least value of `selu` with probability `p`, shifted and scaled so that mean 0 and variance 1 stay (Klambauer
    et al., 2017); else the tensor itself. Integers become the default float.

    Arguments:
        p (float, default 0.5)
        training (bool, default False)

    Errors: A probability outside [0, 1].

    >>> x = mg.zeros(1000)
    >>> len(mg.alpha_dropout(x, p=0.5, training=True).unique())
    2
    """

def alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`alpha_dropout`, written into the tensor, which is answered. See `alpha_dropout`.

    Arguments:
        p (float, default 0.5)
        training (bool, default False)
    """

def _nn_alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`alpha_dropout`, written into the tensor, which is answered. See `alpha_dropout`.

    Arguments:
        p (float, default 0.5)
        training (bool, default False)
    """

def feature_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`alpha_dropout` of whole channels: of all behind the first two axes together.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default False): whether anything is left out

    Errors: A probability outside [0, 1]; fewer than two axes, where something is left out.

    >>> x = mg.zeros(4, 100, 2)
    >>> len(mg.feature_alpha_dropout(x, p=0.5, training=True).unique())
    2
    """

def _nn_feature_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`alpha_dropout` of whole channels: of all behind the first two axes together.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default False): whether anything is left out

    Errors: A probability outside [0, 1]; fewer than two axes, where something is left out.

    >>> x = mg.zeros(4, 100, 2)
    >>> len(mg.feature_alpha_dropout(x, p=0.5, training=True).unique())
    2
    """

def feature_alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`feature_alpha_dropout`, written into the tensor, which is answered. See `feature_alpha_dropout`.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default False): whether anything is left out
    """

def _nn_feature_alpha_dropout_(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """`feature_alpha_dropout`, written into the tensor, which is answered. See `feature_alpha_dropout`.

    Arguments:
        p (float, default 0.5): the probability
        training (bool, default False): whether anything is left out
    """

def gt(input: _Operand, other: _Operand) -> Tensor:
    """`self > other`.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.gt(x, 2)
    tensor([False, False,  True])
    """

def greater(input: _Operand, other: _Operand) -> Tensor:
    """`self > other`.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.greater(x, 2)
    tensor([False, False,  True])
    """

def gt_(input: Tensor, other: _Operand) -> Tensor:
    """`gt`, written into the tensor, which is answered. See `gt`.

    Arguments:
        other (tensor or number): the second operand
    """

def greater_(input: Tensor, other: _Operand) -> Tensor:
    """`gt`, written into the tensor, which is answered. See `gt`.

    Arguments:
        other (tensor or number): the second operand
    """

def ge(input: _Operand, other: _Operand) -> Tensor:
    """`self ≥ other`.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.ge(x, 2)
    tensor([False,  True,  True])
    """

def greater_equal(input: _Operand, other: _Operand) -> Tensor:
    """`self ≥ other`.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.greater_equal(x, 2)
    tensor([False,  True,  True])
    """

def ge_(input: Tensor, other: _Operand) -> Tensor:
    """`ge`, written into the tensor, which is answered. See `ge`.

    Arguments:
        other (tensor or number): the second operand
    """

def greater_equal_(input: Tensor, other: _Operand) -> Tensor:
    """`ge`, written into the tensor, which is answered. See `ge`.

    Arguments:
        other (tensor or number): the second operand
    """

def rsub(input: _Operand, other: _Operand, *, alpha: _Operand = 1) -> Tensor:
    """`other − alpha · self`.

    Arguments:
        other (tensor or number): the second operand
        alpha (tensor or number, default 1)

    Errors: Truth values; an `alpha` that is a float where the result is not, or a tensor with axes or a gradient; shapes that do not broadcast.

    >>> x = mg.tensor([1, 2])
    >>> mg.rsub(x, 10, alpha=2)
    tensor([8, 6])
    """

def remainder(input: _Operand, other: _Operand) -> Tensor:
    """The remainder of `self / other` with the sign of `other`, as Python's `%`.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices, truth values. An integer divided by zero: what is not known yet is found when the
    value is computed.

    >>> x = mg.tensor([-7, 7])
    >>> mg.remainder(x, 3)
    tensor([2, 1])
    """

def remainder_(input: Tensor, other: _Operand) -> Tensor:
    """`remainder`, written into the tensor, which is answered. See `remainder`.

    Arguments:
        other (tensor or number): the second operand
    """

def floor_divide(input: _Operand, other: _Operand) -> Tensor:
    """`⌊self / other⌋`, as Python's `//`.

    Arguments:
        other (tensor or number): the second operand

    Errors: As `remainder`.

    >>> x = mg.tensor([-7, 7])
    >>> mg.floor_divide(x, 2)
    tensor([-4,  3])
    """

def floor_divide_(input: Tensor, other: _Operand) -> Tensor:
    """`floor_divide`, written into the tensor, which is answered. See `floor_divide`.

    Arguments:
        other (tensor or number): the second operand
    """

def pow(input: _Operand, exponent: _Operand) -> Tensor:
    """`self` to a power: a tensor or a number. The exponents 2, 3, 1, 0.5, −1 and 0 take shorter ways, as in PyTorch.
    Integers to the power of integers are integers.

    Arguments:
        exponent (tensor or number)

    Errors: Shapes that do not broadcast, unlike devices; a negative whole number as the exponent of an integer tensor (in a
    tensor of exponents it gives 0, but for the bases 1 and −1); truth values on both sides.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.pow(x, 2)
    tensor([1, 4, 9])
    >>> mg.pow(x, mg.tensor([3, 2, 1]))
    tensor([1, 4, 3])
    """

def pow_(input: Tensor, exponent: _Operand) -> Tensor:
    """`pow`, written into the tensor, which is answered. See `pow`.

    Arguments:
        exponent (tensor or number)
    """

def float_power(input: _Operand, exponent: _Operand) -> Tensor:
    """`self` to a power, in float64.

    Arguments:
        exponent (tensor or number): the power

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([2, 3])
    >>> mg.float_power(x, -1)
    tensor([0.5000, 0.3333], dtype=micrograd_rs.float64)
    """

def float_power_(input: Tensor, exponent: _Operand) -> Tensor:
    """`float_power`, written into the tensor, which is answered. See `float_power`.

    Arguments:
        exponent (tensor or number): the power
    """

def clamp(input: _Operand, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
    `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
    share it.

    Arguments:
        min (tensor or number, or None)
        max (tensor or number, or None)

    Errors: No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
    broadcast, unlike devices.

    >>> x = mg.tensor([-2.0, 0.5, 2.0])
    >>> mg.clamp(x, min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
    >>> mg.clamp(x, min=mg.tensor([0.0, 1.0, 0.0]))
    tensor([0., 1., 2.])
    """

def clip(input: _Operand, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
    `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
    share it.

    Arguments:
        min (tensor or number, or None)
        max (tensor or number, or None)

    Errors: No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
    broadcast, unlike devices.

    >>> x = mg.tensor([-2.0, 0.5, 2.0])
    >>> mg.clip(x, min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
    >>> mg.clip(x, min=mg.tensor([0.0, 1.0, 0.0]))
    tensor([0., 1., 2.])
    """

def clamp_(input: Tensor, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """`clamp`, written into the tensor, which is answered. See `clamp`.

    Arguments:
        min (tensor or number, or None)
        max (tensor or number, or None)
    """

def clip_(input: Tensor, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
    """`clamp`, written into the tensor, which is answered. See `clamp`.

    Arguments:
        min (tensor or number, or None)
        max (tensor or number, or None)
    """

def clamp_min(input: _Operand, min: _Operand) -> Tensor:
    """Values no smaller than `min`, as `clamp`.

    Arguments:
        min (tensor or number)

    Errors: As `clamp`.

    >>> x = mg.tensor([-2.0, 0.5])
    >>> mg.clamp_min(x, 0)
    tensor([0.0000, 0.5000])
    """

def clamp_min_(input: Tensor, min: _Operand) -> Tensor:
    """`clamp_min`, written into the tensor, which is answered. See `clamp_min`.

    Arguments:
        min (tensor or number)
    """

def clamp_max(input: _Operand, max: _Operand) -> Tensor:
    """Values no larger than `max`, as `clamp`.

    Arguments:
        max (tensor or number)

    Errors: As `clamp`.

    >>> x = mg.tensor([-2.0, 0.5])
    >>> mg.clamp_max(x, 0)
    tensor([-2.,  0.])
    """

def clamp_max_(input: Tensor, max: _Operand) -> Tensor:
    """`clamp_max`, written into the tensor, which is answered. See `clamp_max`.

    Arguments:
        max (tensor or number)
    """

def frac(input: Tensor) -> Tensor:
    """What is left of the number without its whole part; its sign stays.

    Errors: Integers and truth values.

    >>> x = mg.tensor([1.25, -1.25])
    >>> mg.frac(x)
    tensor([ 0.2500, -0.2500])
    """

def frac_(input: Tensor) -> Tensor:
    """`frac`, written into the tensor, which is answered. See `frac`."""

def bitwise_not(input: Tensor) -> Tensor:
    """The bits of integers turned over; of truth values, `logical_not`.

    Errors: Floats.

    >>> x = mg.tensor([0, 5])
    >>> mg.bitwise_not(x)
    tensor([-1, -6])
    """

def bitwise_not_(input: Tensor) -> Tensor:
    """`bitwise_not`, written into the tensor, which is answered. See `bitwise_not`."""

def isnan(input: Tensor) -> Tensor:
    """Whether elements are no numbers.

    >>> x = mg.tensor([1.0, float("nan"), float("inf")])
    >>> mg.isnan(x)
    tensor([False,  True, False])
    """

def isinf(input: Tensor) -> Tensor:
    """Whether elements are infinite.

    >>> x = mg.tensor([1.0, float("nan"), -float("inf")])
    >>> mg.isinf(x)
    tensor([False, False,  True])
    """

def isfinite(input: Tensor) -> Tensor:
    """Whether elements are neither infinite nor no numbers.

    >>> x = mg.tensor([1.0, float("nan"), float("inf")])
    >>> mg.isfinite(x)
    tensor([ True, False, False])
    """

def isposinf(input: Tensor) -> Tensor:
    """Whether elements are +∞.

    >>> x = mg.tensor([float("inf"), -float("inf")])
    >>> mg.isposinf(x)
    tensor([ True, False])
    """

def isneginf(input: Tensor) -> Tensor:
    """Whether elements are −∞.

    >>> x = mg.tensor([float("inf"), -float("inf")])
    >>> mg.isneginf(x)
    tensor([False,  True])
    """

def isreal(input: Tensor) -> Tensor:
    """True for every element: all numbers here are real.

    >>> x = mg.tensor([1.0, float("nan")])
    >>> mg.isreal(x)
    tensor([True, True])
    """

def signbit(input: Tensor) -> Tensor:
    """Whether the sign is minus, also that of a zero and of NaN.

    >>> x = mg.tensor([0.0, -0.0, -1.0])
    >>> mg.signbit(x)
    tensor([False,  True,  True])
    """

def angle(input: Tensor) -> Tensor:
    """The angle of a number to the positive axis: 0, or π of what is negative; NaN of NaN. Integers become the default float.

    >>> x = mg.tensor([1.0, -1.0])
    >>> mg.angle(x)
    tensor([0.0000, 3.1416])
    """

def get_device(input: Tensor) -> _int:
    """The number of its CUDA device; −1 on the host.

    >>> x = mg.zeros(2, device="cpu")
    >>> mg.get_device(x)
    -1
    """

def real(input: Tensor) -> Tensor:
    """The tensor itself: its numbers are real.

    >>> x = mg.tensor([1.0])
    >>> mg.real(x).data_ptr() == x.data_ptr()
    True
    """

def conj(input: Tensor) -> Tensor:
    """The tensor itself: the conjugate of a real number is that number.

    >>> x = mg.tensor([1.0])
    >>> mg.conj(x).data_ptr() == x.data_ptr()
    True
    """

def conj_physical(input: Tensor) -> Tensor:
    """The tensor itself: the conjugate of a real number is that number.

    >>> x = mg.tensor([1.0])
    >>> mg.conj_physical(x).data_ptr() == x.data_ptr()
    True
    """

def conj_physical_(input: Tensor) -> Tensor:
    """`conj_physical`, written into the tensor, which is answered. See `conj_physical`."""

def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: nothing of it is left to be conjugated.

    >>> x = mg.tensor([1.0])
    >>> mg.resolve_conj(x).data_ptr() == x.data_ptr()
    True
    """

def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: nothing of it is left to be negated.

    >>> x = mg.tensor([1.0])
    >>> mg.resolve_neg(x).data_ptr() == x.data_ptr()
    True
    """

def positive(input: Tensor) -> Tensor:
    """The tensor itself.

    Errors: Truth values.

    >>> x = mg.tensor([1.0])
    >>> mg.positive(x).data_ptr() == x.data_ptr()
    True
    """

def reciprocal(input: Tensor) -> Tensor:
    """`1 / x`. Integers become the default float.

    >>> x = mg.tensor([2.0, 0.0])
    >>> mg.reciprocal(x)
    tensor([0.5000,    inf])
    """

def reciprocal_(input: Tensor) -> Tensor:
    """`reciprocal`, written into the tensor, which is answered. See `reciprocal`."""

def rsqrt(input: Tensor) -> Tensor:
    """`1 / √x`. Integers become the default float.

    >>> x = mg.tensor([4.0, 0.0])
    >>> mg.rsqrt(x)
    tensor([0.5000,    inf])
    """

def rsqrt_(input: Tensor) -> Tensor:
    """`rsqrt`, written into the tensor, which is answered. See `rsqrt`."""

def sinc(input: Tensor) -> Tensor:
    """`sin(πx) / πx`, and 1 at 0. Integers become the default float.

    >>> x = mg.tensor([0.0, 0.5, 1.5])
    >>> mg.sinc(x)
    tensor([ 1.0000,  0.6366, -0.2122])
    """

def _special_sinc(input: Tensor) -> Tensor:
    """`sin(πx) / πx`, and 1 at 0. Integers become the default float.

    >>> x = mg.tensor([0.0, 0.5, 1.5])
    >>> mg.sinc(x)
    tensor([ 1.0000,  0.6366, -0.2122])
    """

def sinc_(input: Tensor) -> Tensor:
    """`sinc`, written into the tensor, which is answered. See `sinc`."""

def _special_sinc_(input: Tensor) -> Tensor:
    """`sinc`, written into the tensor, which is answered. See `sinc`."""

def deg2rad(input: Tensor) -> Tensor:
    """Degrees as radians. Integers become the default float.

    >>> x = mg.tensor([180.0, 90.0])
    >>> mg.deg2rad(x)
    tensor([3.1416, 1.5708])
    """

def deg2rad_(input: Tensor) -> Tensor:
    """`deg2rad`, written into the tensor, which is answered. See `deg2rad`."""

def rad2deg(input: Tensor) -> Tensor:
    """Radians as degrees. Integers become the default float.

    >>> x = mg.tensor([mg.pi, 1.0])
    >>> mg.rad2deg(x)
    tensor([180.0000,  57.2958])
    """

def rad2deg_(input: Tensor) -> Tensor:
    """`rad2deg`, written into the tensor, which is answered. See `rad2deg`."""

def logit(input: Tensor, eps: _float | None = None) -> Tensor:
    """`log(x / (1 − x))`, after `x` was brought to between `eps` and `1 − eps`, if that is given. Integers become the default float.

    Arguments:
        eps (float, or None)

    >>> x = mg.tensor([0.5, 0.0])
    >>> mg.logit(x)
    tensor([0., -inf])
    >>> mg.logit(x, eps=1e-3)
    tensor([ 0.0000, -6.9068])
    """

def _special_logit(input: Tensor, eps: _float | None = None) -> Tensor:
    """`log(x / (1 − x))`, after `x` was brought to between `eps` and `1 − eps`, if that is given. Integers become the default float.

    Arguments:
        eps (float, or None)

    >>> x = mg.tensor([0.5, 0.0])
    >>> mg.logit(x)
    tensor([0., -inf])
    >>> mg.logit(x, eps=1e-3)
    tensor([ 0.0000, -6.9068])
    """

def logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """`logit`, written into the tensor, which is answered. See `logit`.

    Arguments:
        eps (float, or None)
    """

def _special_logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """`logit`, written into the tensor, which is answered. See `logit`.

    Arguments:
        eps (float, or None)
    """

def nan_to_num(input: Tensor, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
    """NaN and infinities replaced by numbers: `nan`, and the largest and the least number of the dtype unless others are
    given. Integers stay.

    Arguments:
        nan (float, default 0.0)
        posinf (float, or None): what stands for ∞
        neginf (float, or None): what stands for −∞

    >>> x = mg.tensor([float("nan"), float("inf"), 1.0])
    >>> mg.nan_to_num(x, nan=0.0, posinf=99.0)
    tensor([ 0., 99.,  1.])
    """

def nan_to_num_(input: Tensor, nan: _float | None = 0.0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
    """`nan_to_num`, written into the tensor, which is answered. See `nan_to_num`.

    Arguments:
        nan (float, default 0.0)
        posinf (float, or None): what stands for ∞
        neginf (float, or None): what stands for −∞
    """

def lerp(input: _Operand, end: Tensor, weight: _Operand) -> Tensor:
    """`self + weight · (end − self)`, from the nearer end; the weight is a number or a tensor.

    Arguments:
        end (tensor)
        weight (tensor or number)

    Errors: Integers; shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.0, 10.0])
    >>> mg.lerp(x, mg.tensor([10.0, 20.0]), 0.25)
    tensor([ 2.5000, 12.5000])
    """

def lerp_(input: Tensor, end: Tensor, weight: _Operand) -> Tensor:
    """`lerp`, written into the tensor, which is answered. See `lerp`.

    Arguments:
        end (tensor)
        weight (tensor or number)
    """

def addcmul(input: _Operand, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
    """`self + value · tensor1 · tensor2`.

    Arguments:
        tensor1 (tensor)
        tensor2 (tensor)
        value (tensor or number, default 1)

    Errors: A `value` that is a float where the tensors are of integers; shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.addcmul(x, mg.tensor([3.0, 4.0]), mg.tensor([10.0, 10.0]), value=0.5)
    tensor([16., 22.])
    """

def addcmul_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
    """`addcmul`, written into the tensor, which is answered. See `addcmul`.

    Arguments:
        tensor1 (tensor)
        tensor2 (tensor)
        value (tensor or number, default 1)
    """

def addcdiv(input: _Operand, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
    """`self + value · tensor1 / tensor2`.

    Arguments:
        tensor1 (tensor)
        tensor2 (tensor)
        value (tensor or number, default 1)

    Errors: Integers; shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.addcdiv(x, mg.tensor([3.0, 4.0]), mg.tensor([2.0, 2.0]), value=2)
    tensor([4., 6.])
    """

def addcdiv_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Operand = 1) -> Tensor:
    """`addcdiv`, written into the tensor, which is answered. See `addcdiv`.

    Arguments:
        tensor1 (tensor)
        tensor2 (tensor)
        value (tensor or number, default 1)
    """

def xlogy(input: _Operand, other: _Operand) -> Tensor:
    """`self · log other`, and 0 where `self` is 0 and `other` a number. Integers become the default float.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.0, 2.0])
    >>> mg.xlogy(x, mg.tensor([0.0, 1.0]))
    tensor([0., 0.])
    """

def _special_xlogy(input: _Operand, other: _Operand) -> Tensor:
    """`self · log other`, and 0 where `self` is 0 and `other` a number. Integers become the default float.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.0, 2.0])
    >>> mg.xlogy(x, mg.tensor([0.0, 1.0]))
    tensor([0., 0.])
    """

def xlogy_(input: Tensor, other: _Operand) -> Tensor:
    """`xlogy`, written into the tensor, which is answered. See `xlogy`.

    Arguments:
        other (tensor or number): the second operand
    """

def _special_xlogy_(input: Tensor, other: _Operand) -> Tensor:
    """`xlogy`, written into the tensor, which is answered. See `xlogy`.

    Arguments:
        other (tensor or number): the second operand
    """

def _special_xlog1py(input: _Operand, other: _Operand) -> Tensor:
    """`self · log(1 + other)`, and 0 where `self` is 0 and `other` a number. Integers become the default float.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.0, 2.0])
    >>> mg.special.xlog1py(x, mg.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """

def logaddexp(input: _Operand, other: _Operand) -> Tensor:
    """`ln(exp(x) + exp(y))` without overflow. Integers become the default float.

    Arguments:
        other (tensor or number): `y`

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1000.0, 0.0])
    >>> mg.logaddexp(x, mg.tensor([1000.0, 0.0]))
    tensor([1.0007e+03, 6.9315e-01])
    """

def logaddexp2(input: _Operand, other: _Operand) -> Tensor:
    """`log₂(2ˣ + 2ʸ)` without overflow. Integers become the default float.

    Arguments:
        other (tensor or number): `y`

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([3.0, 1000.0])
    >>> mg.logaddexp2(x, mg.tensor([3.0, 1000.0]))
    tensor([   4., 1001.])
    """

def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 where `self` is negative or NaN, `values` where it is 0, 1 where it is positive.

    Arguments:
        values (tensor)

    Errors: Shapes that do not broadcast, unlike devices or dtypes.

    >>> x = mg.tensor([-1.0, 0.0, 1.0])
    >>> mg.heaviside(x, mg.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """

def heaviside_(input: Tensor, values: Tensor) -> Tensor:
    """`heaviside`, written into the tensor, which is answered. See `heaviside`.

    Arguments:
        values (tensor)
    """

def fmax(input: _Operand, other: _Operand) -> Tensor:
    """The larger one; where one is NaN, the other.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1.0, float("nan")])
    >>> mg.fmax(x, mg.tensor([3.0, 2.0]))
    tensor([3., 2.])
    """

def fmin(input: _Operand, other: _Operand) -> Tensor:
    """The smaller one; where one is NaN, the other.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1.0, float("nan")])
    >>> mg.fmin(x, mg.tensor([3.0, 2.0]))
    tensor([1., 2.])
    """

def hypot(input: _Operand, other: _Operand) -> Tensor:
    """`√(self² + other²)` without overflow. Integers become the default float.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([3.0, 3e38])
    >>> mg.hypot(x, mg.tensor([4.0, 0.0]))
    tensor([5.0000e+00, 3.0000e+38])
    """

def hypot_(input: Tensor, other: _Operand) -> Tensor:
    """`hypot`, written into the tensor, which is answered. See `hypot`.

    Arguments:
        other (tensor or number): the second operand
    """

def nextafter(input: _Operand, other: _Operand) -> Tensor:
    """The next number of the dtype after `self` towards `other`.

    Arguments:
        other (tensor or number): the second operand

    Errors: Integers; shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1.0])
    >>> mg.nextafter(x, mg.tensor([2.0])) - x
    tensor([1.1921e-07])
    """

def nextafter_(input: Tensor, other: _Operand) -> Tensor:
    """`nextafter`, written into the tensor, which is answered. See `nextafter`.

    Arguments:
        other (tensor or number): the second operand
    """

def ldexp(input: _Operand, other: _Operand) -> Tensor:
    """`self · 2^other`. Integers become the default float.

    Arguments:
        other (tensor or number): the second operand

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1.0, 3.0])
    >>> mg.ldexp(x, mg.tensor([4, -1]))
    tensor([16.0000,  1.5000])
    """

def ldexp_(input: Tensor, other: _Operand) -> Tensor:
    """`ldexp`, written into the tensor, which is answered. See `ldexp`.

    Arguments:
        other (tensor or number): the second operand
    """

def frexp(input: Tensor) -> tuple[Tensor, ...]:
    """Numbers as a fraction from ½ to 1 (with their sign) times a power of two: the fractions and the exponents (int32). Zeros
    and what is not finite are their own fractions.

    Errors: Integers and truth values.

    >>> x = mg.tensor([10.0, -0.25])
    >>> mg.frexp(x)
    frexp(mantissa=tensor([ 0.6250, -0.5000]), exponent=tensor([ 4, -1], dtype=micrograd_rs.int32))
    """

def cbrt(input: Tensor) -> Tensor:
    """The cube root. Integers become the default float.

    >>> x = mg.tensor([27.0, -8.0])
    >>> mg.cbrt(x)
    tensor([ 3., -2.])
    """

def isclose(input: Tensor, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False) -> Tensor:
    """Whether elements are within `atol + rtol · |other|` of each other; equal infinities are, and NaN where `equal_nan`
    says so.

    Arguments:
        other (tensor): the second operand
        rtol (float, default 1e-5)
        atol (float, default 1e-8)
        equal_nan (bool, default False)

    Errors: Shapes that do not broadcast, unlike devices or dtypes; a negative tolerance.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.isclose(x, mg.tensor([1.000001, 2.1]))
    tensor([ True, False])
    """

def allclose(input: Tensor, other: Tensor, rtol: _float = 1e-5, atol: _float = 1e-8, equal_nan: _bool = False) -> _bool:
    """Whether all elements are within `atol + rtol · |other|` of each other. Waits for the value.

    Arguments:
        other (tensor): the second operand
        rtol (float, default 1e-5)
        atol (float, default 1e-8)
        equal_nan (bool, default False): whether NaN is close to NaN

    Errors: As `isclose`; those of the computation.

    >>> x = mg.tensor([1.0, float("nan")])
    >>> mg.allclose(x, x), mg.allclose(x, x, equal_nan=True)
    (False, True)
    """

def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape and the same elements. Waits for the value.

    Arguments:
        other (tensor): the second operand

    Errors: Unlike devices; those of the computation.

    >>> x = mg.tensor([1, 2])
    >>> mg.equal(x, mg.tensor([1, 2])), mg.equal(x, mg.tensor([[1, 2]]))
    (True, False)
    """

def cholesky(input: Tensor, upper: _bool = False) -> Tensor:
    """`L` with `L Lᵀ = A` of symmetric positive definite matrices, `[…, n, n]`, of which the lower triangle is read; with `upper` the
    transpose, and the upper triangle is read. float32 and float64.

    Arguments:
        upper (bool, default False)

    Errors: What is no square matrix, one that is not positive definite, other dtypes.

    >>> A = mg.tensor([[4.0, 2.0], [2.0, 3.0]])
    >>> L = mg.linalg.cholesky(A)
    >>> L
    tensor([[2.0000, 0.0000],
            [1.0000, 1.4142]])
    >>> mg.allclose(L @ L.T, A)
    True
    """

def _linalg_cholesky(input: Tensor, upper: _bool = False) -> Tensor:
    """`L` with `L Lᵀ = A` of symmetric positive definite matrices, `[…, n, n]`, of which the lower triangle is read; with `upper` the
    transpose, and the upper triangle is read. float32 and float64.

    Arguments:
        upper (bool, default False)

    Errors: What is no square matrix, one that is not positive definite, other dtypes.

    >>> A = mg.tensor([[4.0, 2.0], [2.0, 3.0]])
    >>> L = mg.linalg.cholesky(A)
    >>> L
    tensor([[2.0000, 0.0000],
            [1.0000, 1.4142]])
    >>> mg.allclose(L @ L.T, A)
    True
    """

def _linalg_cholesky_ex(input: Tensor, *, upper: _bool = False, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`cholesky`, and for each matrix the order of the first leading minor that is not positive definite (int32), or 0: then its factor
    is what was found so far.

    Arguments:
        upper (bool, default False): whether the factor is an upper triangle
        check_errors (bool, default False)

    Errors: What is no square matrix, other dtypes; with `check_errors` one that is not positive definite.

    >>> A = mg.tensor([[1.0, 2.0], [2.0, 1.0]])
    >>> mg.linalg.cholesky_ex(A).info
    tensor(2, dtype=micrograd_rs.int32)
    """

def _linalg_qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, ...]:
    """`Q R = A` of matrices `[…, m, n]`: `Q`'s columns are orthonormal, `R` is an upper triangle. With `k` the smaller of `m` and `n`,
    mode `"reduced"` answers with `[…, m, k]` and `[…, k, n]`, `"complete"` with `[…, m, m]` and `[…, m, n]`, `"r"` with no `Q`. Signs
    are those of LAPACK's reflections. float32 and float64. Mode `"complete"` of more rows than columns has no gradient.

    Arguments:
        mode (str, default "reduced")

    Errors: What is no matrix, another mode, other dtypes.

    >>> A = mg.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> Q, R = mg.linalg.qr(A)
    >>> mg.allclose(Q @ R, A), mg.allclose(Q.T @ Q, mg.eye(2), atol=1e-6)
    (True, True)
    """

def qr(input: Tensor, some: _bool = True) -> tuple[Tensor, ...]:
    """`linalg.qr` in mode `"reduced"`, or, if not `some`, `"complete"`.

    Arguments:
        some (bool, default True)

    Errors: What is no matrix, other dtypes.

    >>> A = mg.tensor([[3.0, 1.0], [4.0, 2.0], [0.0, 1.0]])
    >>> Q, R = mg.qr(A)
    >>> Q.shape, R.shape
    ((3, 2), (2, 2))
    """

def _linalg_eigh(input: Tensor, UPLO: str = "L") -> tuple[Tensor, ...]:
    """The eigenvalues `λ` (ascending) and eigenvectors `V` (its columns) of symmetric matrices, `[…, n, n]`: `A = V diag(λ) Vᵀ`. Of `A` the
    lower triangle is read, or with `UPLO` `"U"` the upper one. An eigenvector's sign is not determined, nor are those of eigenvalues that
    are equal, and a gradient that asks for eigenvectors of such a matrix is not finite (one that asks for eigenvalues alone is). float32 and float64; computed on the host, on every device.

    Arguments:
        UPLO (str, default "L")

    Errors: What is no square matrix, numbers that are not finite, other dtypes.

    >>> A = mg.tensor([[2.0, 0.0], [0.0, 1.0]])
    >>> mg.linalg.eigh(A).eigenvalues
    tensor([1., 2.])
    """

def _linalg_eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, ascending: see `eigh`.

    Arguments:
        UPLO (str, default "L"): which triangle is read, "L" or "U"

    Errors: What is no square matrix, numbers that are not finite, other dtypes.

    >>> A = mg.tensor([[2.0, 1.0], [1.0, 2.0]])
    >>> mg.linalg.eigvalsh(A).round(decimals=4)
    tensor([1., 3.])
    """

def _linalg_svd(input: Tensor, full_matrices: _bool = True, *, driver: str | None = None) -> tuple[Tensor, ...]:
    """`U`, `σ` (descending) and `Vᵀ` with `A = U diag(σ) Vᵀ` of matrices `[…, m, n]`, `U` and `V` orthogonal: `[…, m, m]` and `[…, n, n]`, or if
    not `full_matrices`, the first columns of `U` and rows of `Vᵀ`, as many as there are singular values. A singular vector's sign is
    not determined, nor are those of singular values that are equal, and a gradient that asks for singular vectors of such a matrix, or of one that singular
    values of 0 leave undetermined, is not finite (one that asks for singular values alone is). float32 and float64; computed on the host,
    on every device, always by divide and conquer: `driver` is for CUDA in PyTorch, and has to be `None`.

    Arguments:
        full_matrices (bool, default True)
        driver (str, or None)

    Errors: What is no matrix, numbers that are not finite, other dtypes; a driver.

    >>> A = mg.tensor([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]])
    >>> U, S, Vh = mg.linalg.svd(A, full_matrices=False)
    >>> S
    tensor([2., 1.])
    >>> mg.allclose(U * S @ Vh, A)
    True
    """

def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True) -> tuple[Tensor, ...]:
    """`U`, `σ` and `V` (not transposed, unlike `linalg.svd`) with `A = U diag(σ) Vᵀ`; square if not `some`. Without `compute_uv`, `U` and `V`
    are zeros.

    Arguments:
        some (bool, default True)
        compute_uv (bool, default True)

    Errors: What is no matrix, numbers that are not finite, other dtypes.

    >>> A = mg.tensor([[0.0, 2.0], [1.0, 0.0]])
    >>> U, S, V = mg.svd(A)
    >>> mg.allclose(U * S @ V.T, A)
    True
    """

def _linalg_svdvals(input: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of matrices, descending: see `svd`.

    Arguments:
        driver (str, or None)

    Errors: What is no matrix, numbers that are not finite, other dtypes; a driver.

    >>> A = mg.tensor([[0.0, 2.0], [1.0, 0.0]])
    >>> mg.linalg.svdvals(A)
    tensor([2., 1.])
    """

def _linalg_lu(input: Tensor, *, pivot: _bool = True) -> tuple[Tensor, ...]:
    """`P`, `L` and `U` with `A = P L U` of matrices `[…, m, n]`, by elimination with row exchanges: a permutation `[…, m, m]`, a lower triangle
    `[…, m, k]` with ones on the diagonal, an upper triangle `[…, k, n]`, with `k` the smaller of `m` and `n`. float32 and float64.

    Arguments:
        pivot (bool, default True)

    Errors: What is no matrix, other dtypes; without `pivot`.

    >>> A = mg.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> P, L, U = mg.linalg.lu(A)
    >>> mg.equal(P @ L @ U, A)
    True
    """

def _linalg_lu_factor(input: Tensor, *, pivot: _bool = True) -> tuple[Tensor, ...]:
    """`lu` in one matrix, `L` below the diagonal and `U` on and above it, and for each step the row that was exchanged (int32), counted
    from 1: what `lu_solve` and `lu_unpack` take.

    Arguments:
        pivot (bool, default True)

    Errors: What is no matrix, other dtypes; a singular matrix, for which there are `lu` and `lu_factor_ex`; without `pivot`.

    >>> A = mg.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> LU, pivots = mg.linalg.lu_factor(A)
    >>> mg.linalg.lu_solve(LU, pivots, mg.tensor([[1.0], [5.0]]))
    tensor([[1.],
            [1.]])
    """

def _linalg_lu_factor_ex(input: Tensor, *, pivot: _bool = True, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`lu_factor`, and the first element of `U`'s diagonal that is 0 (int32), counted from 1, or 0.

    Arguments:
        pivot (bool, default True)
        check_errors (bool, default False)

    Errors: What is no matrix, other dtypes; without `pivot`; with `check_errors` a singular matrix.

    >>> A = mg.tensor([[1.0, 2.0], [2.0, 4.0]])
    >>> mg.linalg.lu_factor_ex(A).info
    tensor(2, dtype=micrograd_rs.int32)
    """

def _linalg_ldl_factor(input: Tensor, *, hermitian: _bool = False) -> tuple[Tensor, ...]:
    """`A = P L D Lᵀ Pᵀ` of symmetric matrices, `[…, n, n]`, of which the lower triangle is read: `L` below the blocks of `D`, and these, in one
    matrix with zeros above them, and for each step the row that was exchanged (int32), counted from 1. A block of `D` has one row or two: of two
    rows both pivots are that of the second one, negative. Steps are those of LAPACK's `sytrf` (Bunch and Kaufman, 1977); `ldl_solve` takes both. No
    numbers here are complex: `hermitian` makes no difference. float32 and float64; computed on the host, on every device. There is no gradient.

    Arguments:
        hermitian (bool, default False): of no effect: no numbers are complex

    Errors: What is no square matrix, other dtypes; a `D` with a block that is a 0, for which there is `ldl_factor_ex`.

    >>> A = mg.tensor([[1.0, 4.0], [4.0, 2.0]])
    >>> LD, pivots = mg.linalg.ldl_factor(A)
    >>> LD
    tensor([[1., 0.],
            [4., 2.]])
    >>> pivots
    tensor([-2, -2], dtype=micrograd_rs.int32)
    """

def _linalg_ldl_factor_ex(input: Tensor, *, hermitian: _bool = False, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`ldl_factor`, and for each matrix the first row whose block of `D` is one number, and that is 0 (int32), counted from 1, or 0. Blocks of two rows
    may have zeros on their diagonal.

    Arguments:
        hermitian (bool, default False): of no effect: no numbers are complex
        check_errors (bool, default False): whether a block of D that is a 0 is an error

    Errors: What is no square matrix, other dtypes; with `check_errors` a `D` with a block that is a 0.

    >>> mg.linalg.ldl_factor_ex(mg.zeros(2, 2)).info
    tensor(1, dtype=micrograd_rs.int32)
    """

def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: _bool = True, unpack_pivots: _bool = True) -> tuple[Tensor, ...]:
    """`P`, `L` and `U` of what `lu_factor` answers with. Without `unpack_pivots` or `unpack_data` these are empty.

    Arguments:
        LU_data (tensor): the factors in one matrix
        LU_pivots (tensor): the rows that were exchanged
        unpack_data (bool, default True)
        unpack_pivots (bool, default True)

    Errors: What is no matrix; pivots of another shape, or that name rows that are not there.

    >>> A = mg.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> P, L, U = mg.lu_unpack(*mg.linalg.lu_factor(A))
    >>> U
    tensor([[2., 3.],
            [0., 1.]])
    """

def _linalg_householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first `n` columns of a product of reflections `I − τᵢ vᵢ vᵢᵀ`, `Q` of shape `[…, m, n]`: `vᵢ` stands below the diagonal of column `i` of the
    tensor, with a one on it, and `τ` is `[…, k]`. What `geqrf` of LAPACK answers with becomes the `Q` of `qr`. By products of matrices
    (Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder transformations", 1989).

    Arguments:
        tau (tensor): the factors `τ`

    Errors: What is no matrix, more columns than rows, more reflections than columns, unlike dtypes.

    >>> A = mg.tensor([[1.0], [1.0]])
    >>> mg.linalg.householder_product(A, mg.tensor([1.0]))
    tensor([[ 0.],
            [-1.]])
    """

def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """`householder_product` under LAPACK's name.

    Arguments:
        input2 (tensor): the factors `τ`

    Errors: Those of `householder_product`.

    >>> A = mg.tensor([[1.0], [1.0]])
    >>> mg.orgqr(A, mg.tensor([1.0]))
    tensor([[ 0.],
            [-1.]])
    """

def svd_lowrank(A: Tensor, q: _int = 6, niter: _int = 2, M: Tensor | None = None) -> tuple[Tensor, ...]:
    """The largest `q` singular values of matrices `[…, m, n]`, about: `A ≈ U diag(S) Vᵀ`. Of the span of `A`'s products with random vectors
    that `niter` times went through `A` and its transpose (Halko, Martinsson and Tropp, 2011, algorithm 4.4). With `M`, of `A − M`.

    Arguments:
        A (tensor)
        q (int, default 6)
        niter (int, default 2)
        M (tensor, or None)

    Errors: What is no matrix; a `q` of more than its shorter side; what `qr` and `svd` refuse.

    >>> A = mg.outer(mg.tensor([1.0, 2.0, 2.0]), mg.tensor([3.0, 4.0]))
    >>> U, S, V = mg.svd_lowrank(A, q=1)
    >>> S.round(decimals=3)
    tensor([15.])

    >>> mg.allclose(U * S @ V.T, A, atol=1e-5)
    True
    """

def pca_lowrank(A: Tensor, q: _int | None = None, center: _bool = True, niter: _int = 2) -> tuple[Tensor, ...]:
    """The `q` principal components of rows, `[…, m, n]`, about: `svd_lowrank` of `A` less its mean row, unless `center` is false. Without a
    `q` six, or as many as there are.

    Arguments:
        A (tensor)
        q (int, or None)
        center (bool, default True)
        niter (int, default 2): how often the random vectors go through the matrix and its transpose

    Errors: As `svd_lowrank`.

    >>> A = mg.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> U, S, V = mg.pca_lowrank(A, q=1)
    >>> V.abs()
    tensor([[0.7071],
            [0.7071]])
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

    Arguments:
        query (tensor): `[l, batch, size]`
        key (tensor)
        value (tensor)
        embed_dim_to_check (int): the size, which queries have to have
        num_heads (int): how many heads there are
        in_proj_weight (tensor, or None)
        in_proj_bias (tensor, or None): what is added to projected queries, keys and values, `[3 size]`
        bias_k (tensor, or None)
        bias_v (tensor, or None)
        add_zero_attn (bool)
        dropout_p (float): the probability with which weights are left out
        out_proj_weight (tensor)
        out_proj_bias (tensor, or None): what is added to the answer
        training (bool, default True): whether weights are left out at all
        key_padding_mask (tensor, or None)
        need_weights (bool, default True)
        attn_mask (tensor, or None)
        use_separate_proj_weight (bool, default False)
        q_proj_weight (tensor, or None): the projection of queries, with `use_separate_proj_weight`
        k_proj_weight (tensor, or None): that of keys
        v_proj_weight (tensor, or None): that of values
        static_k (tensor, or None)
        static_v (tensor, or None)
        average_attn_weights (bool, default True)
        is_causal (bool, default False)

    Errors: Shapes that do not fit, a size that does not divide into heads, `is_causal` without a mask, masks that are
    neither of truth values nor of floats, unlike dtypes or devices.

    >>> x, eye = mg.ones(3, 1, 2), mg.eye(2)
    >>> y, weights = mg.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 2, 1, mg.cat([eye, eye, eye]), None, None, None, False, 0.0, eye, None)
    >>> weights
    tensor([[[0.3333, 0.3333, 0.3333],
             [0.3333, 0.3333, 0.3333],
             [0.3333, 0.3333, 0.3333]]])
    """

def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """How often each integer occurs, from 0 to the largest one (at least `minlength` of them): int64. With `weights`, the sum of
    the weights of its occurrences: float32 of float32, else float64. The values are looked at, since the shape depends on them.

    Arguments:
        weights (tensor, or None)
        minlength (int, default 0)

    Errors: What is no line of integers, a negative one; weights of another shape.

    >>> x = mg.tensor([0, 1, 1, 3])
    >>> mg.bincount(x)
    tensor([1, 2, 0, 1])
    >>> mg.bincount(x, weights=mg.tensor([0.5, 1.0, 2.0, 4.0]), minlength=5)
    tensor([0.5000, 3.0000, 0.0000, 4.0000, 0.0000])
    """

def histc(input: Tensor, bins: _int = 100, min: _float = 0.0, max: _float = 0.0) -> Tensor:
    """How many elements lie in each of `bins` intervals of the same width from `min` to `max`, both included; from the least
    element to the largest, if these are the same. What lies outside does not count. Integers become the default float.

    Arguments:
        bins (int, default 100)
        min (float, default 0.0)
        max (float, default 0.0)

    Errors: No bins; bounds that are not finite or in the wrong order, elements that are not finite where they are the bounds.

    >>> x = mg.tensor([1.0, 2.0, 1.0])
    >>> mg.histc(x, bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """

def histogram(input: _Operand, bins: _Operand = 100, *, range: _float | Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> tuple[Tensor, ...]:
    """How many elements lie in each of `bins` intervals of the same width, and the intervals' ends, one more. They go from
    `range[0]` to `range[1]`, both included, or from the least element to the largest. A tensor as `bins` (one axis, ascending) is
    these ends itself. With `weight`, of the tensor's shape, the
    sums of the elements' weights; with `density`, divided by their sum and the width, so that the integral is 1. Integers become
    the default float.

    Arguments:
        bins (tensor or number, default 100)
        range (float or floats, or None)
        weight (tensor, or None)
        density (bool, default False)

    Errors: No bins; a range of other than two numbers that are finite and in order, or beside ends; ends of other than one axis, or of
    another dtype; weights of another shape.

    >>> x = mg.tensor([1.0, 2.0, 1.0])
    >>> mg.histogram(x, bins=2, range=(0.0, 4.0))
    histogram(hist=tensor([2., 1.]), bin_edges=tensor([0., 2., 4.]))
    """

def _histogramdd(input: Tensor, bins: _Sizes | None = None, edges: Sequence[Tensor] | None = None, range: _float | Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> tuple[Tensor, ...]:
    """How many points, the last axis of the tensor `[…, n]`, lie in each of the boxes that edges along `n` axes make: the boxes' counts
    `[bins…]`, and then the edges along each axis. They are `edges`, a tensor of one axis for each; or `bins` says how many boxes of one width there
    are along each axis, between the least and the largest coordinate or within `range` (two numbers for each axis). A point on the last
    edge is in the last box; one outside is in none. `weight` `[…]` is what a point counts; with `density` the sum of the
    boxes, each by its volume, is 1.

    Arguments:
        bins (int or ints, or None): how many boxes there are along each axis
        edges (tensors, or None)
        range (float or floats, or None)
        weight (tensor, or None)
        density (bool, default False)

    Errors: A tensor without axes or of integers; other than one number of bins, or tensor of two or more edges of the tensor's dtype, for each of `n`
    axes; no bins; a range of other than two finite numbers in order for each axis, or beside edges; weights of another shape.
    """

def constant_pad_nd(input: Tensor, pad: _Dims, value: _float = 0.0) -> Tensor:
    """The tensor with margins of one number: `pad` has two widths for each axis, from the last one on; negative ones take away.

    Arguments:
        pad (int or ints)
        value (float, default 0.0): what the margins are

    Errors: As `pad`.

    >>> x = mg.tensor([[1, 2]])
    >>> mg.constant_pad_nd(x, (1, 0, 0, 1), 9)
    tensor([[9, 1, 2],
            [9, 9, 9]])
    """

def _nn_pad(input: Tensor, pad: _Dims, mode: str = "constant", value: _float | None = None) -> Tensor:
    """With margins, whose widths are given from the last axis on, before and after: `[left, right, top, bottom, …]`. What is in them
    says `mode`: "constant" is `value` (0), "reflect" the axis mirrored at its ends, "replicate" its ends, "circular" its other end. A
    negative width takes away.

    Arguments:
        pad (int or ints): the widths of the margins
        mode (str, default "constant")
        value (float, or None)

    Errors: An odd number of widths, or too many; another mode; margins of elements that are not those of all axes behind one or two; a `value` for another
    mode than "constant"; more taken away, mirrored or wrapped than there is.

    >>> x = mg.tensor([[1, 2, 3]])
    >>> mg.nn.functional.pad(x, (1, 2), value=9)
    tensor([[9, 1, 2, 3, 9, 9]])
    >>> mg.nn.functional.pad(x, (2, 0), mode="reflect")
    tensor([[3, 2, 1, 2, 3]])
    """

def _nn_interpolate(input: Tensor, size: _Sizes | None = None, scale_factor: _float | Sequence[_float] | None = None, mode: str = "nearest", align_corners: _bool | None = None, recompute_scale_factor: _bool | None = None, antialias: _bool = False) -> Tensor:
    """In another size along the axes behind the first two: `size`, or the old one times `scale_factor`, rounded down; one for all axes
    or one for each. `mode` is "nearest", "nearest-exact" (of pixels' centres), "linear" (one axis), "bilinear" (two), "bicubic" (two),
    "trilinear" (three) or "area" (means). With `align_corners` the centres of the outermost pixels stay where they are, else their
    outer edges. Positions follow from `scale_factor` as it is given, or with `recompute_scale_factor` from the sizes. With `antialias`
    (of "bilinear" and "bicubic") what becomes smaller is weighed over all that it covers.

    Arguments:
        size (int or ints, or None)
        scale_factor (float or floats, or None)
        mode (str, default "nearest")
        align_corners (bool, or None)
        recompute_scale_factor (bool, or None)
        antialias (bool, default False)

    Errors: Both a size and a factor, or neither; sizes for another number of axes; a mode for another number of axes; `align_corners` for a
    mode that has none; an axis that is empty, or becomes so in another mode than "area"; integers where numbers are averaged, but uint8 in the modes "bilinear" and "bicubic".

    >>> x = mg.tensor([[[0.0, 1.0, 2.0]]])
    >>> mg.nn.functional.interpolate(x, scale_factor=2)
    tensor([[[0., 0., 1., 1., 2., 2.]]])
    >>> mg.nn.functional.interpolate(x, size=5, mode="linear", align_corners=True)
    tensor([[[0.0000, 0.5000, 1.0000, 1.5000, 2.0000]]])
    """

def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """`[…, channels · r², height, width]` as `[…, channels, height · r, width · r]`, with `r` the `upscale_factor` (Shi et al., 2016).

    Arguments:
        upscale_factor (int)

    Errors: Fewer than three axes; channels that do not part so; a factor of 0.

    >>> x = mg.tensor([[[1]], [[2]], [[3]], [[4]]])
    >>> mg.pixel_shuffle(x, 2)
    tensor([[[1, 2],
             [3, 4]]])
    """

def _nn_pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """`[…, channels · r², height, width]` as `[…, channels, height · r, width · r]`, with `r` the `upscale_factor` (Shi et al., 2016).

    Arguments:
        upscale_factor (int)

    Errors: Fewer than three axes; channels that do not part so; a factor of 0.

    >>> x = mg.tensor([[[1]], [[2]], [[3]], [[4]]])
    >>> mg.pixel_shuffle(x, 2)
    tensor([[[1, 2],
             [3, 4]]])
    """

def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """`[…, channels, height · r, width · r]` as `[…, channels · r², height, width]`, with `r` the `downscale_factor`.

    Arguments:
        downscale_factor (int)

    Errors: Fewer than three axes; height or width that do not part so; a factor of 0.

    >>> x = mg.tensor([[[1, 2], [3, 4]]])
    >>> mg.pixel_unshuffle(x, 2).flatten()
    tensor([1, 2, 3, 4])
    """

def _nn_pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """`[…, channels, height · r, width · r]` as `[…, channels · r², height, width]`, with `r` the `downscale_factor`.

    Arguments:
        downscale_factor (int)

    Errors: Fewer than three axes; height or width that do not part so; a factor of 0.

    >>> x = mg.tensor([[[1, 2], [3, 4]]])
    >>> mg.pixel_unshuffle(x, 2).flatten()
    tensor([1, 2, 3, 4])
    """

def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels (axis 1) in another order: the first of each of so many groups, then the second of each, … (Zhang et al., 2018).

    Arguments:
        groups (int)

    Errors: Fewer than three axes; channels that do not part into the groups.

    >>> x = mg.arange(4).reshape(1, 4, 1)
    >>> mg.channel_shuffle(x, 2).flatten()
    tensor([0, 2, 1, 3])
    """

def _nn_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels (axis 1) in another order: the first of each of so many groups, then the second of each, … (Zhang et al., 2018).

    Arguments:
        groups (int)

    Errors: Fewer than three axes; channels that do not part into the groups.

    >>> x = mg.arange(4).reshape(1, 4, 1)
    >>> mg.channel_shuffle(x, 2).flatten()
    tensor([0, 2, 1, 3])
    """

def index_select(input: Tensor, dim: _int, index: Tensor) -> Tensor:
    """What lies along an axis at some positions, by their indices (integers, in one axis).

    Arguments:
        dim (int): along which axis
        index (tensor)

    Errors: An axis out of range, indices that are no integers or have more axes, more than one for a tensor without axes. An index
    out of range is an error at once where it is known, else when the value is computed.

    >>> x = mg.tensor([[1, 2, 3], [4, 5, 6]])
    >>> mg.index_select(x, 1, mg.tensor([2, 0]))
    tensor([[3, 1],
            [6, 4]])
    """

def gather(input: Tensor, dim: _int, index: Tensor) -> Tensor:
    """`out[…, j, …] = self[…, index[…, j, …], …]` along an axis, for an index (integers) that is nowhere else longer than the
    tensor.

    Arguments:
        dim (int): along which axis
        index (tensor)

    Errors: As `index_select`; an index of other axes than the tensor's, or longer.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.gather(x, 1, mg.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """

def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None = None) -> Tensor:
    """Elements by the positions that `indices` have along an axis (negative ones count from its end), where all other axes
    broadcast; by their positions among all elements, in one axis, where no axis is named.

    Arguments:
        indices (tensor)
        dim (int, or None): along which axis

    Errors: As `gather`; shapes that do not broadcast.

    >>> x = mg.tensor([[30, 10, 20]])
    >>> mg.take_along_dim(x, x.argsort(1), dim=1)
    tensor([[10, 20, 30]])
    """

def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements by their positions among all, in row-major order; negative ones count from the end. The result has the shape of the
    index.

    Arguments:
        index (tensor)

    Errors: Indices that are no integers, or out of range.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.take(x, mg.tensor([0, -1]))
    tensor([1, 4])
    """

def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """A copy with the elements of `source` at the positions among all elements that `index` says (negative ones count from the
    end), the last one where a position occurs more than once; or added there, with `accumulate`.

    Arguments:
        index (tensor)
        source (tensor)
        accumulate (bool, default False)

    Errors: Indices that are no integers, or out of range; another number or dtype of elements.

    >>> x = mg.zeros(2, 2)
    >>> mg.put(x, mg.tensor([1, 1]), mg.tensor([5.0, 7.0]), accumulate=True)
    tensor([[ 0., 12.],
            [ 0.,  0.]])
    """

def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """`put`, written into the tensor, which is answered. See `put`.

    Arguments:
        index (tensor)
        source (tensor)
        accumulate (bool, default False)
    """

def scatter(input: _Operand, dim: _int, index: Tensor, src: _Operand, *, reduce: str | None = None) -> Tensor:
    """`src` (a tensor, or one number) written at the places that `index` names along an axis, the last one where a place is met more
    than once; with `reduce`, added (`"add"`) or multiplied (`"multiply"`).

    Arguments:
        dim (int): along which axis
        index (tensor)
        src (tensor or number)
        reduce (str, or None)

    Errors: As `gather`; a `src` that is shorter than the index, or of another dtype.

    >>> x = mg.zeros(2, 3)
    >>> mg.scatter(x, 1, mg.tensor([[2], [0]]), 1.0)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """

def scatter_(input: Tensor, dim: _int, index: Tensor, src: _Operand, *, reduce: str | None = None) -> Tensor:
    """`scatter`, written into the tensor, which is answered. See `scatter`.

    Arguments:
        dim (int): along which axis
        index (tensor)
        src (tensor or number)
        reduce (str, or None)
    """

def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor:
    """`src` added at the places that `index` names along an axis, in order.

    Arguments:
        dim (int): along which axis
        index (tensor)
        src (tensor)

    Errors: As `gather`; a `src` that is shorter than the index, or of another dtype.

    >>> x = mg.zeros(3)
    >>> mg.scatter_add(x, 0, mg.tensor([0, 0, 2]), mg.tensor([1.0, 2.0, 3.0]))
    tensor([3., 0., 3.])
    """

def scatter_add_(input: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor:
    """`scatter_add`, written into the tensor, which is answered. See `scatter_add`.

    Arguments:
        dim (int): along which axis
        index (tensor)
        src (tensor)
    """

def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """`src` at the places that `index` names along an axis, all that meet at a place reduced: `"sum"`, `"prod"`, `"mean"`,
    `"amax"` or `"amin"`, with the tensor's own element unless `include_self` is false.

    Arguments:
        dim (int): along which axis
        index (tensor)
        src (tensor)
        reduce (str): "sum", "prod", "mean", "amax" or "amin"
        include_self (bool, default True)

    Errors: As `gather`; a `src` that is shorter than the index, or of another dtype; another word.

    >>> x = mg.tensor([5.0, 5.0])
    >>> mg.scatter_reduce(x, 0, mg.tensor([0, 0]), mg.tensor([1.0, 9.0]), reduce="amax")
    tensor([9., 5.])
    """

def scatter_reduce_(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """`scatter_reduce`, written into the tensor, which is answered. See `scatter_reduce`.

    Arguments:
        dim (int): along which axis
        index (tensor)
        src (tensor)
        reduce (str): "sum", "prod", "mean", "amax" or "amin"
        include_self (bool, default True)
    """

def index_add(input: _Operand, dim: _int, index: Tensor, source: Tensor, *, alpha: _Operand = 1) -> Tensor:
    """`alpha · source` added at some positions along an axis, by their indices (integers, in one axis), in order.

    Arguments:
        dim (int): along which axis
        index (tensor): the positions, in one axis
        source (tensor)
        alpha (tensor or number, default 1)

    Errors: As `index_select`; a `source` that does not fit, or of another dtype.

    >>> x = mg.zeros(3, 2)
    >>> mg.index_add(x, 0, mg.tensor([0, 0]), mg.tensor([[1.0, 2.0], [10.0, 20.0]]))
    tensor([[11., 22.],
            [ 0.,  0.],
            [ 0.,  0.]])
    """

def index_add_(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: _Operand = 1) -> Tensor:
    """`index_add`, written into the tensor, which is answered. See `index_add`.

    Arguments:
        dim (int): along which axis
        index (tensor): the positions, in one axis
        source (tensor)
        alpha (tensor or number, default 1)
    """

def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor) -> Tensor:
    """`source` written to some positions along an axis, by their indices (integers, in one axis); the last one where a position
    occurs more than once.

    Arguments:
        dim (int): along which axis
        index (tensor): the positions, in one axis
        source (tensor)

    Errors: As `index_select`; a `source` that does not fit, or of another dtype.

    >>> x = mg.zeros(3)
    >>> mg.index_copy(x, 0, mg.tensor([2, 0]), mg.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """

def index_copy_(input: Tensor, dim: _int, index: Tensor, source: Tensor) -> Tensor:
    """`index_copy`, written into the tensor, which is answered. See `index_copy`.

    Arguments:
        dim (int): along which axis
        index (tensor): the positions, in one axis
        source (tensor)
    """

def index_fill(input: _Operand, dim: _int, index: Tensor, value: _Operand) -> Tensor:
    """One number written to some positions along an axis, by their indices (integers, in one axis).

    Arguments:
        dim (int): along which axis
        index (tensor): the positions, in one axis
        value (tensor or number)

    Errors: As `index_select`; a tensor with axes as the value.

    >>> x = mg.zeros(2, 3)
    >>> mg.index_fill(x, 1, mg.tensor([0, 2]), 9.0)
    tensor([[9., 0., 9.],
            [9., 0., 9.]])
    """

def index_fill_(input: Tensor, dim: _int, index: Tensor, value: _Operand) -> Tensor:
    """`index_fill`, written into the tensor, which is answered. See `index_fill`.

    Arguments:
        dim (int): along which axis
        index (tensor): the positions, in one axis
        value (tensor or number)
    """

def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """`source` at some positions along an axis, by their indices, all that meet at a position reduced with the tensor's own element
    (unless `include_self` is false): `"prod"`, `"mean"`, `"amax"` or `"amin"`.

    Arguments:
        dim (int): along which axis
        index (tensor): the positions, in one axis
        source (tensor)
        reduce (str): "prod", "mean", "amax" or "amin"
        include_self (bool, default True)

    Errors: As `index_select`; a `source` that does not fit, or of another dtype; another word.

    >>> x = mg.ones(2)
    >>> mg.index_reduce(x, 0, mg.tensor([0, 0]), mg.tensor([2.0, 3.0]), "prod")
    tensor([6., 1.])
    """

def index_reduce_(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """`index_reduce`, written into the tensor, which is answered. See `index_reduce`.

    Arguments:
        dim (int): along which axis
        index (tensor): the positions, in one axis
        source (tensor)
        reduce (str): "prod", "mean", "amax" or "amin"
        include_self (bool, default True)
    """

def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Tensor:
    """`values` written to what tensors of integers or truth values pick of the first axes, as by `x[indices] = values`; with
    `accumulate` added there, as often as a place is picked.

    Arguments:
        indices (tensors)
        values (tensor)
        accumulate (bool, default False)

    Errors: Indices that do not broadcast or are out of range; values of another dtype, or that do not broadcast.

    >>> x = mg.zeros(2, 2)
    >>> mg.index_put(x, (mg.tensor([0, 1]), mg.tensor([1, 1])), mg.tensor([5.0, 6.0]))
    tensor([[0., 5.],
            [0., 6.]])
    """

def index_put_(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Tensor:
    """`index_put`, written into the tensor, which is answered. See `index_put`.

    Arguments:
        indices (tensors)
        values (tensor)
        accumulate (bool, default False)
    """

def masked_fill(input: _Operand, mask: Tensor, value: _Operand) -> Tensor:
    """The tensor with one number where a mask of truth values holds, which broadcasts.

    Arguments:
        mask (tensor)
        value (tensor or number)

    Errors: A mask of another dtype, or that does not broadcast; a tensor with axes as the value.

    >>> x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mg.masked_fill(x, x > 2, 0.0)
    tensor([[1., 2.],
            [0., 0.]])
    """

def masked_fill_(input: Tensor, mask: Tensor, value: _Operand) -> Tensor:
    """`masked_fill`, written into the tensor, which is answered. See `masked_fill`.

    Arguments:
        mask (tensor)
        value (tensor or number)
    """

def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask of truth values holds, in one axis. Tensor and mask broadcast.

    Arguments:
        mask (tensor)

    Errors: A mask of another dtype, or that does not broadcast.

    >>> x = mg.tensor([[1, 5], [7, 2]])
    >>> mg.masked_select(x, x > 2)
    tensor([5, 7])
    """

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The tensor with the elements of `source`, in order, where a mask of truth values holds, which broadcasts.

    Arguments:
        mask (tensor)
        source (tensor)

    Errors: A mask of another dtype, or that does not broadcast; another dtype. Fewer elements than places are found when the value is
    computed.

    >>> x = mg.zeros(3)
    >>> mg.masked_scatter(x, mg.tensor([True, False, True]), mg.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """

def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`masked_scatter`, written into the tensor, which is answered. See `masked_scatter`.

    Arguments:
        mask (tensor)
        source (tensor)
    """

def argwhere(input: Tensor) -> Tensor:
    """The positions of what is not zero: a row each.

    >>> x = mg.tensor([[0, 5], [7, 0]])
    >>> mg.argwhere(x)
    tensor([[0, 1],
            [1, 0]])
    """

def unravel_index(input: Tensor, shape: _Sizes) -> tuple[Tensor, ...]:
    """The positions along axes of a shape that positions among all elements in row-major order have: a tensor for each axis.

    Arguments:
        shape (int or ints)

    Errors: Indices that are no integers.

    >>> x = mg.tensor([1, 5])
    >>> mg.unravel_index(x, (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """

def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """The positions along an axis, each without it; views.

    Arguments:
        dim (int, default 0): along which axis

    Errors: An axis out of range.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.unbind(x)
    (tensor([1, 2]), tensor([3, 4]))
    """

def split(input: Tensor, split_size: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
    """Parts along an axis, of so many positions each (the last may have fewer) or of the sizes in a list; views.

    Arguments:
        split_size (int or ints): how many positions a part has, or the sizes of all parts
        dim (int, default 0): along which axis

    Errors: An axis out of range, sizes that do not make it, parts of no positions.

    >>> x = mg.arange(5)
    >>> mg.split(x, 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    >>> mg.split(x, [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """

def split_with_sizes(input: Tensor, split_sizes: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
    """Parts of these sizes along an axis, views.

    Arguments:
        split_sizes (int or ints): the sizes of all parts
        dim (int, default 0): along which axis

    Errors: An axis out of range, sizes that do not make it.

    >>> x = mg.arange(3)
    >>> mg.split_with_sizes(x, [1, 2])
    (tensor([0]), tensor([1, 2]))
    """

def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """At most so many parts of equal size along an axis (the last may be smaller), views; of an axis without positions exactly so many.

    Arguments:
        chunks (int): how many parts
        dim (int, default 0): along which axis

    Errors: An axis out of range, no parts, more than 2²⁰ of an axis without positions.

    >>> x = mg.arange(5)
    >>> mg.chunk(x, 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """

def tensor_split(input: Tensor, indices_or_sections: _Dims, dim: _int = 0) -> tuple[Tensor, ...]:
    """So many parts along an axis, whose sizes differ by 1 at most, or those that end before each position in a list; views.

    Arguments:
        indices_or_sections (int or ints): how many parts, or where they end
        dim (int, default 0): along which axis

    Errors: An axis out of range, no parts, more than 2²⁰ where the axis has fewer positions.

    >>> x = mg.arange(5)
    >>> mg.tensor_split(x, 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> mg.tensor_split(x, [1, 3])
    (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """

def hsplit(input: Tensor, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
    """Parts along the second axis, or the only one, as `tensor_split`, where a number divides it; views.

    Arguments:
        indices_or_sections (int or ints): how many parts, or where they end

    Errors: No axes; a number that does not divide the axis.

    >>> x = mg.arange(4).reshape(2, 2)
    >>> mg.hsplit(x, 2)
    (tensor([[0],
            [2]]), tensor([[1],
            [3]]))
    """

def vsplit(input: Tensor, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
    """Parts along the first axis, as `hsplit`.

    Arguments:
        indices_or_sections (int or ints): how many parts, or where they end

    Errors: Fewer than two axes; a number that does not divide the axis.

    >>> x = mg.arange(4).reshape(2, 2)
    >>> mg.vsplit(x, 2)
    (tensor([[0, 1]]), tensor([[2, 3]]))
    """

def dsplit(input: Tensor, indices_or_sections: _Dims) -> tuple[Tensor, ...]:
    """Parts along the third axis, as `hsplit`.

    Arguments:
        indices_or_sections (int or ints): how many parts, or where they end

    Errors: Fewer than three axes; a number that does not divide the axis.

    >>> x = mg.arange(4).reshape(1, 2, 2)
    >>> mg.dsplit(x, 2)[0]
    tensor([[[0],
             [2]]])
    """

def cat(tensors: Sequence[Tensor], dim: _int = 0) -> Tensor:
    """Tensors one after the other along an axis, in the dtype in which they meet. As in PyTorch, a tensor of shape `[0]` has its
    say about the dtype, and fits anything.

    Arguments:
        tensors (tensors)
        dim (int, default 0): along which axis

    Errors: No tensors, shapes that differ off the axis, unlike devices.

    >>> x = mg.tensor([[1, 2]])
    >>> mg.cat([x, x])
    tensor([[1, 2],
            [1, 2]])
    >>> mg.cat([x, mg.tensor([[0.5]])], dim=1)
    tensor([[1.0000, 2.0000, 0.5000]])
    """

def concat(tensors: Sequence[Tensor], dim: _int = 0) -> Tensor:
    """Tensors one after the other along an axis, in the dtype in which they meet. As in PyTorch, a tensor of shape `[0]` has its
    say about the dtype, and fits anything.

    Arguments:
        tensors (tensors)
        dim (int, default 0): along which axis

    Errors: No tensors, shapes that differ off the axis, unlike devices.

    >>> x = mg.tensor([[1, 2]])
    >>> mg.concat([x, x])
    tensor([[1, 2],
            [1, 2]])
    >>> mg.concat([x, mg.tensor([[0.5]])], dim=1)
    tensor([[1.0000, 2.0000, 0.5000]])
    """

def concatenate(tensors: Sequence[Tensor], dim: _int = 0) -> Tensor:
    """Tensors one after the other along an axis, in the dtype in which they meet. As in PyTorch, a tensor of shape `[0]` has its
    say about the dtype, and fits anything.

    Arguments:
        tensors (tensors)
        dim (int, default 0): along which axis

    Errors: No tensors, shapes that differ off the axis, unlike devices.

    >>> x = mg.tensor([[1, 2]])
    >>> mg.concatenate([x, x])
    tensor([[1, 2],
            [1, 2]])
    >>> mg.concatenate([x, mg.tensor([[0.5]])], dim=1)
    tensor([[1.0000, 2.0000, 0.5000]])
    """

def stack(tensors: Sequence[Tensor], dim: _int = 0) -> Tensor:
    """Tensors of one shape along a new axis, in the dtype in which they meet.

    Arguments:
        tensors (tensors)
        dim (int, default 0): along which axis

    Errors: No tensors, shapes that differ, unlike devices.

    >>> x, y = mg.tensor([1, 2]), mg.tensor([3, 4])
    >>> mg.stack([x, y])
    tensor([[1, 2],
            [3, 4]])
    >>> mg.stack([x, y], dim=1)
    tensor([[1, 3],
            [2, 4]])
    """

def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other: along the second axis, vectors along the only one.

    Arguments:
        tensors (tensors): in their order

    Errors: As `cat`.

    >>> mg.hstack([mg.tensor([1, 2]), mg.tensor([3])])
    tensor([1, 2, 3])
    """

def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: along the first axis, vectors as rows.

    Arguments:
        tensors (tensors): in their order

    Errors: As `cat`.

    >>> mg.vstack([mg.tensor([1, 2]), mg.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """

def row_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other: along the first axis, vectors as rows.

    Arguments:
        tensors (tensors): in their order

    Errors: As `cat`.

    >>> mg.row_stack([mg.tensor([1, 2]), mg.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """

def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors behind each other: along the third axis.

    Arguments:
        tensors (tensors): in their order

    Errors: As `cat`.

    >>> mg.dstack([mg.tensor([1, 2]), mg.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
    """

def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other, vectors as columns.

    Arguments:
        tensors (tensors): in their order

    Errors: As `cat`.

    >>> mg.column_stack([mg.tensor([1, 2]), mg.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """

@overload
def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """Matrices (vectors are rows, numbers of one element) along the diagonal of a larger one, among zeros.

    Arguments:
        tensors (tensors): in their order, one after the other or in one list

    Errors: More than two axes, unlike devices.

    >>> mg.block_diag(mg.tensor([[1, 2]]), mg.tensor([[3]]))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
@overload
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices (vectors are rows, numbers of one element) along the diagonal of a larger one, among zeros.

    Arguments:
        tensors (tensors): in their order, one after the other or in one list

    Errors: More than two axes, unlike devices.

    >>> mg.block_diag(mg.tensor([[1, 2]]), mg.tensor([[3]]))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """

@overload
def meshgrid(tensors: Sequence[Tensor], *, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid: each vector along an axis of its own, broadcast along the others; views. With `indexing = "xy"` the
    first two axes are exchanged.

    Arguments:
        tensors (tensors)
        indexing (str, default "ij")

    Errors: No tensors, tensors with more than one axis, unlike dtypes or devices; another word than `"ij"` and `"xy"`.

    >>> y, x = mg.meshgrid(mg.tensor([0, 1]), mg.tensor([5, 6, 7]))
    >>> y
    tensor([[0, 0, 0],
            [1, 1, 1]])
    >>> x
    tensor([[5, 6, 7],
            [5, 6, 7]])
    """
@overload
def meshgrid(*tensors: Tensor, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid: each vector along an axis of its own, broadcast along the others; views. With `indexing = "xy"` the
    first two axes are exchanged.

    Arguments:
        tensors (tensors)
        indexing (str, default "ij")

    Errors: No tensors, tensors with more than one axis, unlike dtypes or devices; another word than `"ij"` and `"xy"`.

    >>> y, x = mg.meshgrid(mg.tensor([0, 1]), mg.tensor([5, 6, 7]))
    >>> y
    tensor([[0, 0, 0],
            [1, 1, 1]])
    >>> x
    tensor([[5, 6, 7],
            [5, 6, 7]])
    """

@overload
def cartesian_prod(tensors: Sequence[Tensor]) -> Tensor:
    """All choices of one element from each vector, a row each; of one vector, that itself.

    Arguments:
        tensors (tensors): one after the other or in one list

    Errors: Tensors that are no vectors.

    >>> mg.cartesian_prod(mg.tensor([1, 2]), mg.tensor([5, 6]))
    tensor([[1, 5],
            [1, 6],
            [2, 5],
            [2, 6]])
    """
@overload
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All choices of one element from each vector, a row each; of one vector, that itself.

    Arguments:
        tensors (tensors): one after the other or in one list

    Errors: Tensors that are no vectors.

    >>> mg.cartesian_prod(mg.tensor([1, 2]), mg.tensor([5, 6]))
    tensor([[1, 5],
            [1, 6],
            [2, 5],
            [2, 6]])
    """

def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """All choices of `r` elements of a vector in its order, a row each; the same one more than once with `with_replacement`.

    Arguments:
        r (int, default 2)
        with_replacement (bool, default False)

    Errors: A tensor that is no vector.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.combinations(x)
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """

def standard_gamma(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Random numbers of the gamma distribution with the shape parameters that the tensor holds, and scale 1. Gradients flow to the
    parameters, as the quantile that was drawn moves. (Marsaglia and Tsang, 2000.)

    Arguments:
        generator (Generator, or None): where random numbers are drawn from, by itself the default one

    Errors: A tensor that is not of floats.

    >>> shapes = mg.full((1000,), 9.0)
    >>> abs(mg.standard_gamma(shapes).mean().item() - 9) < 1
    True
    """

def poisson(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Random numbers of Poisson's distribution with the rates that the tensor holds, in its dtype. Gradients of the rates are zeros.
    The quantile of a uniform number, looked for about its expansion (Cornish and Fisher, 1938) by the incomplete gamma function.

    Arguments:
        generator (Generator, or None): where random numbers are drawn from, by itself the default one

    Errors: A tensor that is not of floats; rates that are negative, or NaN.

    >>> rates = mg.tensor([0.0, 100.0])
    >>> mg.poisson(rates)[0]
    tensor(0.)
    """

def _nn_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x Wᵀ + b` on the last axis, with a weight `[out, in]`, or `[in]` for one output without an axis.

    Arguments:
        weight (tensor)
        bias (tensor, or None): `[out]`

    Errors: Shapes that do not fit, unlike devices.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.nn.functional.linear(x, mg.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]]), mg.tensor([0.0, 10.0, 0.0]))
    tensor([ 1., 13.,  6.])
    """

def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`Σ x1 W x2 + b` on the last axes of two tensors, with a weight `[out, in1, in2]`.

    Arguments:
        input1 (tensor): `[…, in1]`
        input2 (tensor): `[…, in2]`
        weight (tensor)
        bias (tensor, or None): `[out]`

    Errors: Shapes that do not fit, unlike devices.

    >>> mg.bilinear(mg.tensor([[1.0, 2.0]]), mg.tensor([[3.0, 4.0]]), mg.eye(2)[None])
    tensor([[11.]])
    """

def _nn_bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`Σ x1 W x2 + b` on the last axes of two tensors, with a weight `[out, in1, in2]`.

    Arguments:
        input1 (tensor): `[…, in1]`
        input2 (tensor): `[…, in2]`
        weight (tensor)
        bias (tensor, or None): `[out]`

    Errors: Shapes that do not fit, unlike devices.

    >>> mg.bilinear(mg.tensor([[1.0, 2.0]]), mg.tensor([[3.0, 4.0]]), mg.eye(2)[None])
    tensor([[11.]])
    """

def _nn_embedding(input: Tensor, weight: Tensor, padding_idx: _int | None = None) -> Tensor:
    """Rows of a table `[n, size]` by integers of any shape, which become `[…, size]`. The row `padding_idx` gets no gradient.

    Arguments:
        weight (tensor): the table
        padding_idx (int, or None)

    Errors: What is no table, no integers; a `padding_idx` outside the table; unlike devices. An index outside the table is found when the
    value is computed, if not before.

    >>> table = mg.tensor([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    >>> mg.nn.functional.embedding(mg.tensor([2, 1]), table)
    tensor([[ 2., 20.],
            [ 1., 10.]])
    """

def _nn_embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, *, mode: str = "mean", per_sample_weights: Tensor | None = None, include_last_offset: _bool = False, padding_idx: _int | None = None) -> Tensor:
    """Sums, means or largest elements (`mode`) of rows of a table `[n, size]`: of each row of indices `[bags, m]`, or of what lies between
    the positions `offsets` in indices `[m]` (with `include_last_offset` the last of them is the end). The row `padding_idx` does
    not count, `per_sample_weights` are what rows count in a sum; a bag of nothing is 0.

    Arguments:
        weight (tensor): the table
        offsets (tensor, or None)
        mode (str, default "mean")
        per_sample_weights (tensor, or None)
        include_last_offset (bool, default False)
        padding_idx (int, or None)

    Errors: What is no table, no integers, not as many axes; offsets that do not begin with 0, fall, or are beyond the indices; another mode than "sum", "mean" and "max"; weights for another mode than
    sums; unlike devices. An index outside the table is found when the value is computed, if not
    before.

    >>> table = mg.tensor([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    >>> mg.nn.functional.embedding_bag(mg.tensor([1, 2, 2]), table, mg.tensor([0, 2]), mode="sum")
    tensor([[ 3., 30.],
            [ 2., 20.]])
    """

def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Integers as rows of zeros with a one, int64. Without `num_classes` there are as many classes as the largest integer says, which is
    read.

    Arguments:
        num_classes (int, default -1)

    Errors: What are no integers; no classes, or no integers without a number of them; an integer outside the classes is found when the value is computed.

    >>> x = mg.tensor([0, 2])
    >>> mg.nn.functional.one_hot(x, num_classes=4)
    tensor([[1, 0, 0, 0],
            [0, 0, 1, 0]])
    """

def _nn_one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Integers as rows of zeros with a one, int64. Without `num_classes` there are as many classes as the largest integer says, which is
    read.

    Arguments:
        num_classes (int, default -1)

    Errors: What are no integers; no classes, or no integers without a number of them; an integer outside the classes is found when the value is computed.

    >>> x = mg.tensor([0, 2])
    >>> mg.nn.functional.one_hot(x, num_classes=4)
    tensor([[1, 0, 0, 0],
            [0, 0, 1, 0]])
    """

def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product, as NumPy's `@`: vectors are taken as a row on the left and a column on the right, batches
    broadcast.

    Arguments:
        other (tensor): the second operand

    Errors: Scalars, inner sizes that differ, batches that do not broadcast, unlike devices.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.matmul(x, mg.tensor([10, 100]))
    tensor([210, 430])
    >>> mg.matmul(mg.ones(5, 1, 2, 3), mg.ones(4, 3, 2)).shape
    (5, 4, 2, 2)
    """

def _linalg_matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product, as NumPy's `@`: vectors are taken as a row on the left and a column on the right, batches
    broadcast.

    Arguments:
        other (tensor): the second operand

    Errors: Scalars, inner sizes that differ, batches that do not broadcast, unlike devices.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.matmul(x, mg.tensor([10, 100]))
    tensor([210, 430])
    >>> mg.matmul(mg.ones(5, 1, 2, 3), mg.ones(4, 3, 2)).shape
    (5, 4, 2, 2)
    """

def mm(input: Tensor, mat2: Tensor, out_dtype: _DType | None = None) -> Tensor:
    """The product of two matrices. With `out_dtype` of float32, that of halves is not rounded to their dtype.

    Arguments:
        mat2 (tensor): the matrix on the right
        out_dtype (dtype, or None)

    Errors: What is no matrix, inner sizes that differ, unlike devices; an `out_dtype` that is neither the matrices' nor float32 of halves.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.mm(x, x)
    tensor([[ 7, 10],
            [15, 22]])
    """

def bmm(input: Tensor, mat2: Tensor, out_dtype: _DType | None = None) -> Tensor:
    """The products of two batches of matrices, `[b, n, m]` and `[b, m, p]`. With `out_dtype` of float32, those of halves are not rounded to
    their dtype.

    Arguments:
        mat2 (tensor): the matrices on the right
        out_dtype (dtype, or None)

    Errors: Other than three axes, batches or inner sizes that differ, unlike devices; an `out_dtype` that is neither the matrices' nor float32 of
    halves.

    >>> x = mg.ones(5, 2, 3)
    >>> mg.bmm(x, mg.ones(5, 3, 4)).shape
    (5, 2, 4)
    """

def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector.

    Arguments:
        vec (tensor): the vector

    Errors: What is no matrix or no vector, sizes that differ, unlike devices.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.mv(x, mg.tensor([10, 100]))
    tensor([210, 430])
    """

def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements.

    Arguments:
        tensor (tensor): the other vector

    Errors: What is no vector, sizes that differ, unlike devices.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.dot(x, mg.tensor([10, 100, 1000]))
    tensor(3210)
    """

def vdot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements.

    Arguments:
        tensor (tensor): the other vector

    Errors: What is no vector, sizes that differ, unlike devices.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.vdot(x, mg.tensor([10, 100, 1000]))
    tensor(3210)
    """

def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last axes of both; with a tensor without axes, the product.

    Arguments:
        other (tensor): the second operand

    Errors: Last axes that differ, unlike devices.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.inner(x, mg.tensor([10, 100]))
    tensor([210, 430])
    """

def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """The products of each element of a vector with each of another: `[n, m]`.

    Arguments:
        vec2 (tensor): the other vector

    Errors: What is no vector, unlike devices.

    >>> x = mg.tensor([1, 2])
    >>> mg.outer(x, mg.tensor([10, 20, 30]))
    tensor([[10, 20, 30],
            [20, 40, 60]])
    """

def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """The products of each element of a vector with each of another: `[n, m]`.

    Arguments:
        vec2 (tensor): the other vector

    Errors: What is no vector, unlike devices.

    >>> x = mg.tensor([1, 2])
    >>> mg.ger(x, mg.tensor([10, 20, 30]))
    tensor([[10, 20, 30],
            [20, 40, 60]])
    """

def addmm(input: _Operand, mat1: Tensor, mat2: Tensor, out_dtype: _DType | None = None, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · mat1 @ mat2`, of matrices; the tensor broadcasts to the product. With `beta` 0 it is not looked at.

    Arguments:
        mat1 (tensor)
        mat2 (tensor)
        out_dtype (dtype, or None)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the product is multiplied by

    Errors: What is no matrix, shapes that do not fit, unlike devices; an `out_dtype` (see `mm`) that does not fit. Beside integers, factors lose
    their fractions.

    >>> x = mg.tensor([100.0, 200.0])
    >>> mg.addmm(x, mg.eye(2), mg.tensor([[1.0, 2.0], [3.0, 4.0]]), alpha=10)
    tensor([[110., 220.],
            [130., 240.]])
    """

def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, out_dtype: _DType | None = None, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`addmm`, written into the tensor, which is answered. See `addmm`.

    Arguments:
        mat1 (tensor)
        mat2 (tensor)
        out_dtype (dtype, or None)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the product is multiplied by
    """

def addmv(input: _Operand, mat: Tensor, vec: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · mat @ vec`, of a matrix and a vector; the tensor broadcasts to the product. With `beta` 0 it is not
    looked at.

    Arguments:
        mat (tensor)
        vec (tensor)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the product is multiplied by

    Errors: What is no matrix or no vector, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.

    >>> x = mg.tensor([100.0, 200.0])
    >>> mg.addmv(x, mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mg.tensor([1.0, 1.0]))
    tensor([103., 207.])
    """

def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`addmv`, written into the tensor, which is answered. See `addmv`.

    Arguments:
        mat (tensor)
        vec (tensor)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the product is multiplied by
    """

def addbmm(input: _Operand, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · Σ batch1[i] @ batch2[i]`, of batches of matrices; the tensor broadcasts to the sum. With `beta` 0 it
    is not looked at.

    Arguments:
        batch1 (tensor)
        batch2 (tensor)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the sum is multiplied by

    Errors: Other than three axes, shapes that do not fit, unlike devices. Beside integers, factors lose their fractions.

    >>> x = mg.zeros(2, 2)
    >>> mg.addbmm(x, mg.ones(3, 2, 1), mg.ones(3, 1, 2))
    tensor([[3., 3.],
            [3., 3.]])
    """

def addbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`addbmm`, written into the tensor, which is answered. See `addbmm`.

    Arguments:
        batch1 (tensor)
        batch2 (tensor)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the sum is multiplied by
    """

def baddbmm(input: _Operand, batch1: Tensor, batch2: Tensor, out_dtype: _DType | None = None, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · batch1 @ batch2`, of batches of matrices; the tensor broadcasts to the products. With `beta` 0 it is
    not looked at.

    Arguments:
        batch1 (tensor)
        batch2 (tensor)
        out_dtype (dtype, or None)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the products are multiplied by

    Errors: Other than three axes, shapes that do not fit, unlike devices; an `out_dtype` (see `bmm`) that does not fit. Beside integers, factors lose
    their fractions.

    >>> x = mg.ones(3, 2, 2)
    >>> mg.baddbmm(x, mg.ones(3, 2, 1), mg.ones(3, 1, 2), beta=10)[0]
    tensor([[11., 11.],
            [11., 11.]])
    """

def baddbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, out_dtype: _DType | None = None, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`baddbmm`, written into the tensor, which is answered. See `baddbmm`.

    Arguments:
        batch1 (tensor)
        batch2 (tensor)
        out_dtype (dtype, or None)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the products are multiplied by
    """

def addr(input: _Operand, vec1: Tensor, vec2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`beta · self + alpha · vec1 ⊗ vec2`; the tensor broadcasts to the products. With `beta` 0 it is not looked at. Of truth values a
    sum is "or", and a factor whether it is not 0.

    Arguments:
        vec1 (tensor)
        vec2 (tensor)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the products are multiplied by

    Errors: What is no vector, shapes that do not fit, unlike devices, a float as factor of integers.

    >>> x = mg.zeros(2, 2)
    >>> mg.addr(x, mg.tensor([1.0, 2.0]), mg.tensor([10.0, 20.0]))
    tensor([[10., 20.],
            [20., 40.]])
    """

def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: _Operand = 1, alpha: _Operand = 1) -> Tensor:
    """`addr`, written into the tensor, which is answered. See `addr`.

    Arguments:
        vec1 (tensor)
        vec2 (tensor)
        beta (tensor or number, default 1): what the tensor is multiplied by
        alpha (tensor or number, default 1): what the products are multiplied by
    """

@overload
def einsum(equation: str, operands: Sequence[Tensor]) -> Tensor:
    """Sums of products of tensors whose axes are named by letters, as Einstein wrote them: `"ij,jk->ik"` is the matrix product.
    An axis of size 1 broadcasts. A letter that occurs twice in an operand takes its diagonal; `...` are further axes, which
    broadcast. Without `->`, the result has the letters that occur once, in alphabetical order, after the further axes.

    Operands are contracted two at a time by matrix products, in the order that takes the fewest multiplications (up to 8 of
    them; of more, the cheapest pair first).

    Arguments:
        equation (str)
        operands (tensors)

    Errors: An equation that is none or does not fit the operands, axes of one letter and different sizes, unlike devices.

    >>> A, x = mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mg.tensor([10.0, 100.0])
    >>> mg.einsum("ij,j->i", A, x)
    tensor([210., 430.])
    >>> mg.einsum("ii", A)
    tensor(5.)
    """
@overload
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products of tensors whose axes are named by letters, as Einstein wrote them: `"ij,jk->ik"` is the matrix product.
    An axis of size 1 broadcasts. A letter that occurs twice in an operand takes its diagonal; `...` are further axes, which
    broadcast. Without `->`, the result has the letters that occur once, in alphabetical order, after the further axes.

    Operands are contracted two at a time by matrix products, in the order that takes the fewest multiplications (up to 8 of
    them; of more, the cheapest pair first).

    Arguments:
        equation (str)
        operands (tensors)

    Errors: An equation that is none or does not fit the operands, axes of one letter and different sizes, unlike devices.

    >>> A, x = mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mg.tensor([10.0, 100.0])
    >>> mg.einsum("ij,j->i", A, x)
    tensor([210., 430.])
    >>> mg.einsum("ii", A)
    tensor(5.)
    """
@overload
def einsum(operand: Tensor, /, *operands: Tensor | Sequence[Any]) -> Tensor:
    """Sums of products of tensors whose axes are named by letters, as Einstein wrote them: `"ij,jk->ik"` is the matrix product.
    An axis of size 1 broadcasts. A letter that occurs twice in an operand takes its diagonal; `...` are further axes, which
    broadcast. Without `->`, the result has the letters that occur once, in alphabetical order, after the further axes.

    Operands are contracted two at a time by matrix products, in the order that takes the fewest multiplications (up to 8 of
    them; of more, the cheapest pair first).

    Arguments:
        equation (str)
        operands (tensors)

    Errors: An equation that is none or does not fit the operands, axes of one letter and different sizes, unlike devices.

    >>> A, x = mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mg.tensor([10.0, 100.0])
    >>> mg.einsum("ij,j->i", A, x)
    tensor([210., 430.])
    >>> mg.einsum("ii", A)
    tensor(5.)
    """

def tensordot(input: Tensor, other: Tensor, dims: _int | Sequence[_Dims] = 2) -> Tensor:
    """Sums of products over axes of both tensors that belong together: the last `dims` of the first and the first of the second,
    or a list of axes of each. The other axes stay, those of the first one first. By matrix products.

    Arguments:
        other (tensor): the second operand
        dims (int or two lists of ints, default 2): along which axes

    Errors: Axes that are not there or named twice, sizes that differ, unlike devices.

    >>> x = mg.ones(3, 4, 5)
    >>> mg.tensordot(x, mg.ones(4, 5, 2)).shape
    (3, 2)
    >>> mg.tensordot(x, mg.ones(2, 3), dims=([0], [1])).shape
    (4, 5, 2)
    """

def trace(input: Tensor) -> Tensor:
    """The sum of a matrix' diagonal; of integers in int64.

    Errors: What is no matrix.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.trace(x)
    tensor(5)
    """

def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: blocks of the other tensor, each times an element of this one. The tensor of fewer axes has axes of
    size 1 before them.

    Arguments:
        other (tensor): the second operand

    Errors: More than four axes that are larger than 1, unlike devices.

    >>> x = mg.eye(2)
    >>> mg.kron(x, mg.tensor([[1.0, 2.0]]))
    tensor([[1., 2., 0., 0.],
            [0., 0., 1., 2.]])
    """

@overload
def chain_matmul(matrices: Sequence[Tensor]) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Arguments:
        matrices (tensors)

    Errors: No matrices, what is no matrix, shapes that do not fit, unlike devices.

    >>> mg.chain_matmul(mg.ones(2, 3), mg.ones(3, 4), mg.ones(4, 1))
    tensor([[12.],
            [12.]])
    """
@overload
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Arguments:
        matrices (tensors)

    Errors: No matrices, what is no matrix, shapes that do not fit, unlike devices.

    >>> mg.chain_matmul(mg.ones(2, 3), mg.ones(3, 4), mg.ones(4, 1))
    tensor([[12.],
            [12.]])
    """

def _linalg_multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications; the first may be a vector, taken as a
    row, and the last, taken as a column.

    Arguments:
        tensors (tensors)

    Errors: No tensors, what is neither, shapes that do not fit, unlike devices.

    >>> mg.linalg.multi_dot([mg.ones(3), mg.ones(3, 4), mg.ones(4)])
    tensor(12.)
    """

def cross(input: Tensor, other: Tensor, dim: _int | None = None) -> Tensor:
    """The cross product of vectors along an axis of three positions: the first such axis, if none is named. Shapes broadcast.

    Arguments:
        other (tensor): the second operand
        dim (int, or None): along which axis

    Errors: No such axis, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1.0, 0.0, 0.0])
    >>> mg.cross(x, mg.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """

def _linalg_cross(input: Tensor, other: Tensor, *, dim: _int = -1) -> Tensor:
    """The cross product of vectors along an axis of three positions. Shapes broadcast.

    Arguments:
        other (tensor): the second operand
        dim (int, default -1): along which axis

    Errors: Another number of axes or size along the axis, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([1.0, 0.0, 0.0])
    >>> mg.linalg.cross(x, mg.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """

def _linalg_vecdot(input: Tensor, y: Tensor, *, dim: _int = -1) -> Tensor:
    """The sums of products of vectors along an axis. Shapes broadcast.

    Arguments:
        y (tensor): the other vectors
        dim (int, default -1): along which axis

    Errors: An axis out of range, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mg.linalg.vecdot(x, mg.tensor([10.0, 100.0]))
    tensor([210., 430.])
    """

def matrix_power(input: Tensor, n: _int) -> Tensor:
    """Matrices multiplied with themselves, `n` times; the identity, if `n` is 0; of a negative `n`, the inverse's power (float32 and float64).
    By squaring.

    Arguments:
        n (int)

    Errors: What is no square matrix; with a negative `n` a singular one.

    >>> A = mg.tensor([[1.0, 1.0], [0.0, 1.0]])
    >>> mg.linalg.matrix_power(A, 5)
    tensor([[1., 5.],
            [0., 1.]])
    >>> mg.linalg.matrix_power(A, -1)
    tensor([[ 1., -1.],
            [ 0.,  1.]])
    """

def _linalg_matrix_power(input: Tensor, n: _int) -> Tensor:
    """Matrices multiplied with themselves, `n` times; the identity, if `n` is 0; of a negative `n`, the inverse's power (float32 and float64).
    By squaring.

    Arguments:
        n (int)

    Errors: What is no square matrix; with a negative `n` a singular one.

    >>> A = mg.tensor([[1.0, 1.0], [0.0, 1.0]])
    >>> mg.linalg.matrix_power(A, 5)
    tensor([[1., 5.],
            [0., 1.]])
    >>> mg.linalg.matrix_power(A, -1)
    tensor([[ 1., -1.],
            [ 0.,  1.]])
    """

def _linalg_vector_norm(input: Tensor, ord: _float = 2.0, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The norm of vectors: of all elements as one, or over some axes. See `norm` for the orders. Integers become the default float.

    Arguments:
        ord (float, default 2.0): the order: 2 for the length, 1 for the sum of magnitudes, infinity for the largest one, …
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range or named twice; an order that is NaN; with an infinite or negative one, no elements.

    >>> x = mg.tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> mg.linalg.vector_norm(x, dim=1)
    tensor([ 5., 10.])
    >>> mg.linalg.vector_norm(x, ord=float("inf"))
    tensor(8.)
    """

def _linalg_matrix_norm(input: Tensor, ord: _float | str = "fro", dim: _Dims = (-2, -1), keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The norm of the matrices in two axes: `"fro"` is the root of the sum of squares; 1 and −1 the largest and the least sum of a
    column's magnitudes, infinity and −infinity of a row's; `"nuc"` the sum of the singular values, 2 and −2 the largest and the least of
    them (float32 and float64). Integers become the default float.

    Arguments:
        ord (float or str, default "fro"): the order, "fro", "nuc", infinity, 1, 2, or those below 0
        dim (int or ints, default (-2, -1)): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: Fewer than two axes, axes out of range or the same; other orders; with −1, −2 and −infinity, no sums or singular values (of
    which the largest, with 1, 2 and infinity, is 0).

    >>> A = mg.tensor([[1.0, -2.0], [3.0, 4.0]])
    >>> mg.linalg.matrix_norm(A)
    tensor(5.4772)
    >>> mg.linalg.matrix_norm(A, ord=1)
    tensor(6.)
    """

def _linalg_norm(input: Tensor, ord: _float | str | None = None, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The norm of a vector or a matrix. Without an order the root of the sum of squares, of all elements or over some axes; with
    one, that of vectors over one axis (or of a tensor of one), that of matrices over two (or of a tensor of two). See
    `vector_norm` and `matrix_norm`. Integers become the default float.

    Arguments:
        ord (float or str, or None): the order
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: With an order, other than one or two axes; those of `vector_norm` and `matrix_norm`.

    >>> x = mg.tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> mg.linalg.norm(x, dim=1)
    tensor([ 5., 10.])
    >>> mg.linalg.norm(x, "nuc")
    tensor(11.1803)
    """

def vander(input: Tensor, n: _int | None = None, increasing: _bool = False) -> Tensor:
    """The powers of a vector's elements as columns: from the `n − 1`-th (`n` is the vector's size, if it is not given) down to
    the 0-th, or up to it.

    Arguments:
        n (int, or None)
        increasing (bool, default False): whether powers go up

    Errors: What is no vector.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.vander(x)
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """

def _linalg_diagonal(input: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """The diagonals of matrices (above the main one by `offset`) as the last axis: a view. `dim1` and `dim2` say which axes the matrices
    have.

    Arguments:
        offset (int, default 0)
        dim1 (int, default -2)
        dim2 (int, default -1)

    Errors: An axis out of range, or twice the same.

    >>> A = mg.arange(8).reshape(2, 2, 2)
    >>> mg.linalg.diagonal(A)
    tensor([[0, 3],
            [4, 7]])
    """

def _linalg_vander(input: Tensor, *, n: _int | None = None) -> Tensor:
    """The powers of the elements along the last axis, from the 0-th up, as many as there are elements unless `n` says how many.

    Arguments:
        n (int, or None)

    Errors: `n` not larger than 1.

    >>> x = mg.tensor([1, 2, 3])
    >>> mg.linalg.vander(x)
    tensor([[1, 1, 1],
            [1, 2, 4],
            [1, 3, 9]])
    """

def _linalg_inv(input: Tensor) -> Tensor:
    """The inverses of square matrices, `[…, n, n]`. float32 and float64.

    Errors: What is no square matrix, a singular one, other dtypes.

    >>> A = mg.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> mg.linalg.inv(A)
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """

def inverse(input: Tensor) -> Tensor:
    """The inverses of square matrices: see `linalg.inv`.

    Errors: What is no square matrix, a singular one, other dtypes.

    >>> A = mg.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> mg.inverse(A)
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """

def _linalg_inv_ex(input: Tensor, *, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`inv`, and for each matrix the first pivot that is 0 (int32), counted from 1, or 0: then its inverse is none.

    Arguments:
        check_errors (bool, default False)

    Errors: What is no square matrix, other dtypes; with `check_errors` a singular one.

    >>> A = mg.tensor([[1.0, 2.0], [2.0, 4.0]])
    >>> mg.linalg.inv_ex(A).info
    tensor(2, dtype=micrograd_rs.int32)
    """

def _linalg_solve(input: Tensor, B: Tensor, *, left: _bool = True) -> Tensor:
    """`X` with `A X = B`, or if not `left`, with `X A = B`: `A` is `[…, n, n]`, `B` `[…, n, k]` (or `[…, k, n]`), or a vector, or vectors of `A`'s own
    batch, `[…, n]`. Batches broadcast. float32 and float64.

    Arguments:
        B (tensor)
        left (bool, default True)

    Errors: Shapes that do not fit, a singular matrix, other dtypes, unlike devices.

    >>> A = mg.tensor([[2.0, 1.0], [1.0, 3.0]])
    >>> mg.linalg.solve(A, mg.tensor([3.0, 4.0]))
    tensor([1., 1.])
    """

def _linalg_solve_ex(input: Tensor, B: Tensor, *, left: _bool = True, check_errors: _bool = False) -> tuple[Tensor, ...]:
    """`solve`, and for each matrix the first pivot that is 0 (int32), counted from 1, or 0: then there is no solution.

    Arguments:
        B (tensor): the right side
        left (bool, default True): whether it is `A X = B`, or `X A = B`
        check_errors (bool, default False)

    Errors: Shapes that do not fit, other dtypes, unlike devices; with `check_errors` a singular matrix.

    >>> A = mg.tensor([[1.0, 2.0], [2.0, 4.0]])
    >>> mg.linalg.solve_ex(A, mg.tensor([1.0, 1.0])).info
    tensor(2, dtype=micrograd_rs.int32)
    """

def _linalg_solve_triangular(input: Tensor, B: Tensor, *, upper: _bool, left: _bool = True, unitriangular: _bool = False) -> Tensor:
    """`X` with `A X = B`, or if not `left`, with `X A = B`, where `A` is a triangle: with `upper` that above the diagonal, else that below, of a matrix
    of which nothing else is read; with `unitriangular` the diagonal is ones, whatever stands there. Batches broadcast. float32 and float64.

    Arguments:
        B (tensor)
        upper (bool)
        left (bool, default True)
        unitriangular (bool, default False)

    Errors: Shapes that do not fit, other dtypes, unlike devices. A diagonal with a 0 is no error: there are infinities and NaN.

    >>> A = mg.tensor([[1.0, 2.0], [0.0, 4.0]])
    >>> mg.linalg.solve_triangular(A, mg.tensor([[5.0], [8.0]]), upper=True)
    tensor([[1.],
            [2.]])
    """

def triangular_solve(input: Tensor, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> tuple[Tensor, ...]:
    """`X` with `A X = b` (or `Aᵀ X = b`), where `A` is a triangle; and a copy of `A`, for each matrix of the batch. The older name of `linalg.solve_triangular`.

    Arguments:
        A (tensor)
        upper (bool, default True): whether the triangle is the upper one
        transpose (bool, default False): whether it is `Aᵀ X = b`
        unitriangular (bool, default False): whether the diagonal is taken for ones

    Errors: Those of `linalg.solve_triangular`.

    >>> b = mg.tensor([[5.0], [8.0]])
    >>> mg.triangular_solve(b, mg.tensor([[1.0, 2.0], [0.0, 4.0]])).solution
    tensor([[1.],
            [2.]])
    """

def _linalg_lu_solve(input: Tensor, pivots: Tensor, B: Tensor, *, left: _bool = True, adjoint: _bool = False) -> Tensor:
    """`X` with `A X = B` (or `X A = B`, if not `left`; or with `Aᵀ` for `A`, if `adjoint`) of what `lu_factor` answers with for `A`.

    Arguments:
        pivots (tensor)
        B (tensor)
        left (bool, default True)
        adjoint (bool, default False)

    Errors: Shapes that do not fit, pivots that name rows that are not there, other dtypes, unlike devices.

    >>> A = mg.tensor([[2.0, 1.0], [1.0, 3.0]])
    >>> LU, pivots = mg.linalg.lu_factor(A)
    >>> mg.linalg.lu_solve(LU, pivots, mg.tensor([[3.0], [4.0]]))
    tensor([[1.],
            [1.]])
    """

def _linalg_ldl_solve(input: Tensor, pivots: Tensor, B: Tensor, *, hermitian: _bool = False) -> Tensor:
    """`X` with `A X = B` of what `ldl_factor` answers with for `A`: `B` is `[…, n, k]`, batches broadcast. It has a gradient by `B`. No numbers here
    are complex: `hermitian` makes no difference.

    Arguments:
        pivots (tensor): the rows that were exchanged
        B (tensor): the right side
        hermitian (bool, default False): of no effect: no numbers are complex

    Errors: Shapes that do not fit, pivots that are no integers or that no factorisation has, other dtypes, unlike devices. A `D` with a 0 on its
    diagonal is no error: there are infinities and NaN.

    >>> A = mg.tensor([[0.0, 2.0], [2.0, 0.0]])
    >>> mg.linalg.ldl_solve(*mg.linalg.ldl_factor(A), mg.tensor([[2.0], [4.0]]))
    tensor([[2.],
            [1.]])
    """

def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """`linalg.lu_solve` with the right side first.

    Arguments:
        LU_data (tensor): the factors in one matrix
        LU_pivots (tensor): the rows that were exchanged

    Errors: Those of `linalg.lu_solve`.

    >>> b = mg.tensor([[3.0], [4.0]])
    >>> mg.lu_solve(b, *mg.linalg.lu_factor(mg.tensor([[2.0, 1.0], [1.0, 3.0]])))
    tensor([[1.],
            [1.]])
    """

def cholesky_solve(input: Tensor, L: Tensor, upper: _bool = False) -> Tensor:
    """`X` with `L Lᵀ X = B`, of what `cholesky` answers with; with `upper`, `L` is its transpose.

    Arguments:
        L (tensor)
        upper (bool, default False)

    Errors: Shapes that do not fit, other dtypes, unlike devices.

    >>> b = mg.tensor([[3.0], [4.0]])
    >>> L = mg.linalg.cholesky(mg.tensor([[2.0, 1.0], [1.0, 3.0]]))
    >>> mg.cholesky_solve(b, L)
    tensor([[1.0000],
            [1.0000]])
    """

def cholesky_inverse(input: Tensor, upper: _bool = False) -> Tensor:
    """The inverse of `L Lᵀ`, of what `cholesky` answers with; with `upper`, the tensor is its transpose.

    Arguments:
        upper (bool, default False)

    Errors: What is no square matrix, other dtypes, a zero on the diagonal: what is not known yet is found when the inverse is computed.

    >>> L = mg.linalg.cholesky(mg.tensor([[4.0, 0.0], [0.0, 16.0]]))
    >>> mg.cholesky_inverse(L)
    tensor([[0.2500, 0.0000],
            [0.0000, 0.0625]])
    """

def det(input: Tensor) -> Tensor:
    """The determinants of square matrices. float32 and float64. A singular matrix has a
    gradient, and second derivatives.

    Errors: What is no square matrix, other dtypes.

    >>> A = mg.tensor([[2.0, 1.0], [1.0, 3.0]])
    >>> mg.linalg.det(A)
    tensor(5.)
    """

def _linalg_det(input: Tensor) -> Tensor:
    """The determinants of square matrices. float32 and float64. A singular matrix has a
    gradient, and second derivatives.

    Errors: What is no square matrix, other dtypes.

    >>> A = mg.tensor([[2.0, 1.0], [1.0, 3.0]])
    >>> mg.linalg.det(A)
    tensor(5.)
    """

def slogdet(input: Tensor) -> tuple[Tensor, ...]:
    """The signs of determinants (−1, 0 or 1), and the logarithms of their magnitudes (−∞ of a singular matrix). float32 and float64.

    Errors: What is no square matrix, other dtypes.

    >>> A = mg.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> mg.linalg.slogdet(A)
    slogdet(sign=tensor(-1.), logabsdet=tensor(0.))
    """

def _linalg_slogdet(input: Tensor) -> tuple[Tensor, ...]:
    """The signs of determinants (−1, 0 or 1), and the logarithms of their magnitudes (−∞ of a singular matrix). float32 and float64.

    Errors: What is no square matrix, other dtypes.

    >>> A = mg.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> mg.linalg.slogdet(A)
    slogdet(sign=tensor(-1.), logabsdet=tensor(0.))
    """

def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants: −∞ of a singular matrix, NaN where the determinant is negative. float32 and float64.

    Errors: What is no square matrix, other dtypes.

    >>> A = mg.tensor([[2.0, 0.0], [0.0, 0.5]])
    >>> mg.logdet(A)
    tensor(0.)
    """

def _linalg_tensorinv(input: Tensor, ind: _int = 2) -> Tensor:
    """The inverse of a tensor as a map from its last axes to its first `ind`: `tensordot(tensorinv(A), B, ind)` is `tensorsolve(A, B)`.

    Arguments:
        ind (int, default 2)

    Errors: First axes of another product than the others', a singular map, other dtypes.

    >>> A = mg.eye(6).reshape(2, 3, 6)
    >>> mg.linalg.tensorinv(A).shape
    (6, 2, 3)
    """

def _linalg_tensorsolve(input: Tensor, B: Tensor, dims: _Dims | None = None) -> Tensor:
    """`X` with `tensordot(A, X, X.ndim) = B`. The axes `dims` of `A` are moved to its end first.

    Arguments:
        B (tensor)
        dims (int or ints, or None): along which axes

    Errors: Shapes that do not fit, a singular map, other dtypes.

    >>> A = 2 * mg.eye(6).reshape(2, 3, 6)
    >>> mg.linalg.tensorsolve(A, mg.ones(2, 3))
    tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000])
    """

def lobpcg(A: Tensor, k: _int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: _int | None = None, iK: Tensor | None = None, niter: _int | None = None, tol: _float | None = None, largest: _bool | None = None, method: str | None = None) -> tuple[Tensor, ...]:
    """The `k` largest eigenvalues (or smallest, if not `largest`), and their vectors, of symmetric matrices `[…, m, m]`: `λ`, descending (or
    ascending), and `X` `[…, m, k]` with `A X = B X diag(λ)` and `Xᵀ B X = I`, where `B` is positive definite, or the identity. By
    locally optimal block preconditioned conjugate gradients (Knyazev, 2001), from `X`, or `n` random vectors, on, with `iK` as the
    preconditioner, until what is left of each pair is less than `tol` (the root of the dtype's epsilon) beside `A` and `λ`, or `niter`
    steps (1000; −1: any number). `method` makes no difference, and no `tracker` is called. float32 and float64. Gradients of first and second order flow to `A` and `B`, by Newton's method, unless
    eigenvalues are equal: then they are not finite.

    Arguments:
        A (tensor): the matrices
        k (int, or None): how many pairs; as many as `X` has columns, or one, if it is not given
        B (tensor, or None): positive definite matrices; identities, if they are not given
        X (tensor, or None): vectors to begin with; random ones, if they are not given
        n (int, or None): how many vectors are improved at once, where `X` is not given; `k`, if it is not
        iK (tensor, or None): the preconditioner, about the inverse of `A`
        niter (int, or None): the most steps
        tol (float, or None): what may be left of each pair
        largest (bool, or None): whether the largest eigenvalues are looked for, as they are if it is not given
        method (str, or None): "basic" or "ortho": of no effect

    Errors: What is no square matrix, shapes that do not fit, fewer rows than three times the vectors, a `B` that is not positive definite, other
    dtypes, another method.

    >>> A = mg.diag(mg.arange(1.0, 10.0))
    >>> values, vectors = mg.lobpcg(A, k=2)
    >>> values.round(decimals=3)
    tensor([9., 8.])
    >>> mg.allclose(A @ vectors, vectors * values, atol=1e-2)
    True
    """

def _linalg_matrix_sqrth(A: Tensor) -> Tensor:
    """The square root of symmetric positive definite matrices `[…, n, n]`, of which the lower triangle is read: the symmetric `X` with `X X = A`,
    by eigenvalues. float32 and float64.

    Arguments:
        A (tensor)

    Errors: What is no square matrix, numbers that are not finite, other dtypes.

    >>> A = mg.tensor([[4.0, 0.0], [0.0, 9.0]])
    >>> mg.linalg.matrix_sqrth(A)
    tensor([[2., 0.],
            [0., 3.]])
    """

def _linalg_pinv(input: _Operand, rcond: _Operand | None = None, *, atol: _Operand | None = None, rtol: _Operand | None = None, hermitian: _bool = False) -> Tensor:
    """The pseudoinverse (Moore and Penrose) of matrices `[…, m, n]`: `[…, n, m]`, by singular values. Those not above the larger of `atol` and
    `rtol` times the largest count as 0; without either, `rtol` is the larger of `m` and `n` times the dtype's epsilon. With `hermitian`
    the matrices are symmetric. float32 and float64.

    Arguments:
        rcond (tensor or number, or None): an older name of `rtol`
        atol (tensor or number, or None)
        rtol (tensor or number, or None)
        hermitian (bool, default False)

    Errors: What is no matrix, numbers that are not finite, other dtypes.

    >>> A = mg.tensor([[2.0, 0.0], [0.0, 0.0]])
    >>> mg.linalg.pinv(A)
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """

def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor:
    """The pseudoinverse: see `linalg.pinv`, whose `rtol` is `rcond` here.

    Arguments:
        rcond (float, default 1e-15)

    Errors: What is no matrix, numbers that are not finite, other dtypes.

    >>> A = mg.tensor([[2.0, 0.0], [0.0, 0.0]])
    >>> mg.pinverse(A)
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """

def _linalg_matrix_rank(input: _Operand, tol: _Operand | None = None, *, atol: _Operand | None = None, rtol: _Operand | None = None, hermitian: _bool = False) -> Tensor:
    """How many singular values of a matrix are above a bound (int64): the larger of `atol` and `rtol` times the largest one; without either, `rtol`
    is the larger of `m` and `n` times the dtype's epsilon. With `hermitian` the matrices are symmetric.

    Arguments:
        tol (tensor or number, or None): an older name of `atol`
        atol (tensor or number, or None)
        rtol (tensor or number, or None)
        hermitian (bool, default False)

    Errors: What is no matrix, numbers that are not finite, other dtypes.

    >>> A = mg.tensor([[1.0, 2.0], [2.0, 4.0]])
    >>> mg.linalg.matrix_rank(A)
    tensor(1)
    """

def _linalg_cond(input: Tensor, p: _float | str | None = None) -> Tensor:
    """The condition number of matrices: the norm of order `p` times that of the inverse. Orders 2 (which `None` is) and −2 are the quotient of the
    largest and the least singular value, and its reciprocal, and take matrices that are not square; the others are those of
    `matrix_norm`. A singular matrix' is ∞, that of a matrix without elements 0.

    Arguments:
        p (float or str, or None)

    Errors: What is no matrix, or for an order but ±2 no square one; another order; other dtypes.

    >>> A = mg.tensor([[1.0, 0.0], [0.0, 100.0]])
    >>> mg.linalg.cond(A)
    tensor(100.)
    """

def _linalg_lstsq(input: Tensor, B: Tensor, rcond: _float | None = None, *, driver: str | None = None) -> tuple[Tensor, ...]:
    """`X` that makes `A X − B` least in the sum of squares: `A` is `[…, m, n]`, `B` `[…, m, k]` or, of one batch with `A`, `[…, m]`. Also the sums of squares of
    what is left, for each column, the ranks (int64), and singular values.

    The driver `"gels"`, which `None` is on a CUDA device, takes all matrices to be of rank `m` or `n`, and goes by `qr`; there are no ranks,
    and sums of squares if `m > n`. Others go by singular values, computed on the host, and of several `X` find the least one: `"gelsy"`, which
    `None` is on the CPU, says nothing of what is left, `"gelsd"` and `"gelss"` do if `m > n` and all matrices are of rank `n` (within `vmap`, of whatever rank), and they tell singular
    values. Those not above `rcond` times the largest count as 0. What is not said is empty. float32 and float64.

    Arguments:
        B (tensor)
        rcond (float, or None)
        driver (str, or None)

    Errors: Shapes that do not fit, another driver, numbers that are not finite, other dtypes.

    >>> A = mg.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> mg.linalg.lstsq(A, mg.tensor([[1.0], [3.0], [5.0]])).solution
    tensor([[1.0000],
            [2.0000]])
    """

def matrix_exp(input: Tensor) -> Tensor:
    """`eᴬ = Σ Aᵏ / k!` of square matrices, `[…, n, n]`. Reads the largest norm, which says how often the result is squared; within `vmap`, where
    there is none yet, it is squared as often as there are bits in a number (24, of float64 53), and what asks for more is NaN. Half types are computed in float32.

    Errors: What is no square matrix, other dtypes.

    >>> A = mg.tensor([[0.0, 1.0], [0.0, 0.0]])
    >>> mg.linalg.matrix_exp(A)
    tensor([[1., 1.],
            [0., 1.]])
    """

def _linalg_matrix_exp(input: Tensor) -> Tensor:
    """`eᴬ = Σ Aᵏ / k!` of square matrices, `[…, n, n]`. Reads the largest norm, which says how often the result is squared; within `vmap`, where
    there is none yet, it is squared as often as there are bits in a number (24, of float64 53), and what asks for more is NaN. Half types are computed in float32.

    Errors: What is no square matrix, other dtypes.

    >>> A = mg.tensor([[0.0, 1.0], [0.0, 0.0]])
    >>> mg.linalg.matrix_exp(A)
    tensor([[1., 1.],
            [0., 1.]])
    """

def _nn_mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """Squared differences. Shapes broadcast, integers become the default float. With a `weight` of the input's shape each counts that much, and the
    mean is a weighted one.

    Arguments:
        target (tensor): what the input should be
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"
        weight (tensor, or None)

    Errors: Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.nn.functional.mse_loss(x, mg.tensor([1.0, 4.0]))
    tensor(2.)
    >>> mg.nn.functional.mse_loss(x, mg.tensor([1.0, 4.0]), reduction="none")
    tensor([0., 4.])
    """

def _nn_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """Magnitudes of differences. Shapes broadcast, integers become the default float. With a `weight` of the input's shape each counts that much,
    and the mean is a weighted one.

    Arguments:
        target (tensor): what the input should be
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"
        weight (tensor, or None)

    Errors: Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.nn.functional.l1_loss(x, mg.tensor([1.0, 4.0]))
    tensor(1.)
    """

def _nn_smooth_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", beta: _float = 1.0) -> Tensor:
    """Differences `d` below `beta` as `½d²/beta`, others as `d − ½beta` (Girshick, 2015). Shapes broadcast, integers become the default float.

    Arguments:
        target (tensor): what the input should be
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"
        beta (float, default 1.0)

    Errors: Shapes that do not broadcast, unlike devices; a `beta` below 0; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([0.0, 0.0])
    >>> mg.nn.functional.smooth_l1_loss(x, mg.tensor([0.5, 4.0]), reduction="none")
    tensor([0.1250, 3.5000])
    """

def _nn_huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: _float = 1.0, weight: Tensor | None = None) -> Tensor:
    """Differences `d` below `delta` as `½d²`, others as `delta (d − ½delta)` (Huber, 1964). Shapes broadcast, integers become the default float.
    With a `weight` of the input's shape each counts that much.

    Arguments:
        target (tensor): what the input should be
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"
        delta (float, default 1.0)
        weight (tensor, or None)

    Errors: Shapes that do not broadcast, unlike devices; a `delta` that is not above 0; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([0.0, 0.0])
    >>> mg.nn.functional.huber_loss(x, mg.tensor([0.5, 4.0]), reduction="none", delta=2.0)
    tensor([0.1250, 6.0000])
    """

def _nn_nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: _int = -100, reduction: str = "mean") -> Tensor:
    """The negative log likelihood of integer labels under log probabilities `[classes]`, `[n, classes]` or `[n, classes, …]`; the labels
    have that shape without the classes. With a `weight` for each class, samples count as much as their label's, and the mean is a
    weighted one; samples with the label `ignore_index` do not count. Integers become the default float.

    Arguments:
        target (tensor): the labels
        weight (tensor, or None)
        ignore_index (int, default -100)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not fit, labels that are not integers; another reduction than "mean", "sum" and "none". A label out of range is
    found when the value is computed, if not before.

    >>> log_probs = mg.tensor([[0.5, 0.5], [0.1, 0.9]]).log()
    >>> mg.nn.functional.nll_loss(log_probs, mg.tensor([0, 1]))
    tensor(0.3993)
    """

def _nn_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: _int = -100, reduction: str = "mean", label_smoothing: _float = 0.0) -> Tensor:
    """The cross entropy, in nats, of logits `[classes]`, `[n, classes]` or `[n, classes, …]` and a target: integer labels in
    the logits' shape without the classes, or probabilities in the logits' shape. With a `weight` for each class, samples count as
    much as their label's, and the mean is a weighted one; samples with the label `ignore_index` do not count; `label_smoothing` is
    the part of each target that is spread evenly over all classes. Integers become the default float.

    Arguments:
        target (tensor)
        weight (tensor, or None)
        ignore_index (int, default -100)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"
        label_smoothing (float, default 0.0)

    Errors: Shapes that do not fit, a smoothing outside [0, 1], probabilities beside a label to ignore; another reduction than "mean", "sum"
    and "none". A label out of range is found when the value is computed, if not before.

    >>> logits = mg.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    >>> mg.nn.functional.cross_entropy(logits, mg.tensor([0, 2]))
    tensor(0.2395)
    >>> mg.nn.functional.cross_entropy(logits, mg.tensor([0, -100]), label_smoothing=0.1)
    tensor(0.3729)
    """

def _nn_linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None, reduction: str = "mean", ignore_index: _int | None = None, label_smoothing: _float = 0.0) -> Tensor:
    """The cross entropy (see there) of the classes' scores that a linear map makes of `[…, in]`, with a weight `[classes, …, in]` and
    a bias `[classes, …]`: of `[n, classes, …]`, where the weight's axes between are the further ones. Without an `ignore_index`, −100
    is the label that does not count.

    Arguments:
        linear_weight (tensor): the weight of the linear map
        target (tensor): the labels, or probabilities
        linear_bias (tensor, or None): its bias
        weight (tensor, or None)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"
        ignore_index (int, or None)
        label_smoothing (float, default 0.0): the part of each target that is spread evenly over all classes

    Errors: Those of `linear` and `cross_entropy`.

    >>> x = mg.tensor([[1.0, 0.0]])
    >>> mg.nn.functional.linear_cross_entropy(x, mg.tensor([[2.0, 0.0], [0.0, 2.0]]), mg.tensor([0]))
    tensor(0.1269)
    """

def _nn_binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean") -> Tensor:
    """The cross entropy of probabilities and targets, `−y log x − (1 − y) log(1 − x)`, whose logarithms are taken for at least −100;
    `weight` broadcasts to them.

    Arguments:
        target (tensor): probabilities, in the input's shape
        weight (tensor, or None)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that differ, unlike devices, a weight that does not broadcast; another reduction than "mean", "sum" and "none"; numbers
    outside of [0, 1], as labels that are out of range: what is not known yet is found when the loss is computed.

    >>> x = mg.tensor([0.9, 0.2])
    >>> mg.nn.functional.binary_cross_entropy(x, mg.tensor([1.0, 0.0]))
    tensor(0.1643)
    """

def _nn_binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean", pos_weight: Tensor | None = None) -> Tensor:
    """The cross entropy of logits and probabilities of one shape, `−y log σ(x) − (1 − y) log(1 − σ(x))`, without overflow. `weight`
    broadcasts to them; `pos_weight` broadcasts to them too, and is what the first term counts.

    Arguments:
        target (tensor): probabilities, in the input's shape
        weight (tensor, or None)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"
        pos_weight (tensor, or None)

    Errors: Shapes that differ, unlike devices, weights that do not broadcast; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([2.0, -1000.0])
    >>> mg.nn.functional.binary_cross_entropy_with_logits(x, mg.tensor([1.0, 0.0]), reduction="none")
    tensor([0.1269, 0.0000])
    """

def _nn_kl_div(input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: _bool = False) -> Tensor:
    """The divergence of Kullback and Leibler of a target from log probabilities, by elements: `y (log y − x)`, 0 where `y` is. With
    `log_target` the target is of logarithms, too. The reduction "batchmean" divides the sum by the size of the first axis.

    Arguments:
        target (tensor)
        reduction (str, default "mean"): what becomes of the divergences: "mean", "batchmean", "sum" or "none"
        log_target (bool, default False)

    Errors: Shapes that do not broadcast, unlike devices; another reduction than "mean", "batchmean", "sum" and "none".

    >>> x = mg.tensor([[0.5, 0.5]]).log()
    >>> mg.nn.functional.kl_div(x, mg.tensor([[0.9, 0.1]]), reduction="batchmean")
    tensor(0.3681)
    """

def _nn_poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool = True, full: _bool = False, *, eps: _float = 1e-8, reduction: str = "mean") -> Tensor:
    """The negative log likelihood of counts under Poisson distributions of rate `eˣ`, or with `log_input` false of rate `x`, to whose
    logarithm's operand `eps` is added: `eˣ − y x`. With `full`, Stirling's approximation of `log y!` is added where `y > 1`.

    Arguments:
        target (tensor): the counts
        log_input (bool, default True)
        full (bool, default False)
        eps (float, default 1e-8)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.nn.functional.poisson_nll_loss(x, mg.tensor([1.0, 3.0]))
    tensor(0.3591)
    """

def _nn_gaussian_nll_loss(input: _Operand, target: Tensor, var: _Operand, full: _bool = False, eps: _float = 1e-6, reduction: str = "mean") -> Tensor:
    """The negative log likelihood of targets under normal distributions of mean `x` and variance `var`, which is taken for at least
    `eps` (its gradient is as if it were not): `½(log var + (x − y)² / var)`, with `full` and ½ log 2π. `var` is a number, or has the
    input's shape, that without the last axis, or that with one axis of size 1.

    Arguments:
        target (tensor): what was seen
        var (tensor or number)
        full (bool, default False)
        eps (float, default 1e-6)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not fit, unlike devices; a `var` below 0: what is not known yet is found when the value is computed; another reduction
    than "mean", "sum" and "none".

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.nn.functional.gaussian_nll_loss(x, mg.tensor([1.0, 4.0]), mg.tensor([1.0, 4.0]))
    tensor(0.5966)
    """

def _nn_hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0, *, reduction: str = "mean") -> Tensor:
    """`x` where the target is 1, and what `x` is below `margin` where it is −1. Shapes broadcast, integers become the default float.

    Arguments:
        target (tensor)
        margin (float, default 1.0)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([0.3, 0.3])
    >>> mg.nn.functional.hinge_embedding_loss(x, mg.tensor([1, -1]), reduction="none")
    tensor([0.3000, 0.7000])
    """

def _nn_margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, *, reduction: str = "mean") -> Tensor:
    """How much is missing for `target · (input1 − input2)` to be `margin`, where something is. Shapes broadcast, integers become the default float.

    Arguments:
        input1 (tensor)
        input2 (tensor)
        target (tensor)
        margin (float, default 0.0)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not broadcast, or of unlike numbers of axes; unlike devices; another reduction than "mean", "sum" and "none".

    >>> mg.nn.functional.margin_ranking_loss(mg.tensor([3.0, 1.0]), mg.tensor([1.0, 3.0]), mg.tensor([1.0, 1.0]), reduction="none")
    tensor([0., 2.])
    """

def _nn_cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, *, reduction: str = "mean") -> Tensor:
    """`1 − cos(input1, input2)` where the target is 1, and what the cosine is above `margin` where it is −1. The vectors lie along the
    last axis of `[n, size]` or `[size]`.

    Arguments:
        input1 (tensor)
        input2 (tensor)
        target (tensor)
        margin (float, default 0.0)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not fit, unlike devices; another reduction than "mean", "sum" and "none".

    >>> x, y = mg.tensor([[1.0, 0.0]]), mg.tensor([[0.0, 2.0]])
    >>> mg.nn.functional.cosine_embedding_loss(x, y, mg.tensor([1])), mg.nn.functional.cosine_embedding_loss(x, y, mg.tensor([-1]))
    (tensor(1.), tensor(0.))
    """

def _nn_triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = 1.0, p: _float = 2.0, eps: _float = 1e-6, swap: _bool = False, *, reduction: str = "mean") -> Tensor:
    """How much nearer than `margin` beyond the distance to `positive` the distance of `anchor` to `negative` is; distances are
    `p`-norms of differences along the last axis, to which `eps` is added. With `swap`, the distance of `positive` to `negative` is
    taken where it is smaller (Balntas et al., 2016).

    Arguments:
        anchor (tensor)
        positive (tensor)
        negative (tensor)
        margin (float, default 1.0)
        p (float, default 2.0)
        eps (float, default 1e-6)
        swap (bool, default False)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".

    >>> anchor, near, far = mg.tensor([[0.0]]), mg.tensor([[1.0]]), mg.tensor([[1.5]])
    >>> mg.nn.functional.triplet_margin_loss(anchor, near, far)
    tensor(0.5000)
    """

def _nn_soft_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """`log(1 + exp(−y x))`, without overflow. Shapes broadcast, integers become the default float.

    Arguments:
        target (tensor): 1 or −1
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([2.0, 2.0])
    >>> mg.nn.functional.soft_margin_loss(x, mg.tensor([1.0, -1.0]), reduction="none")
    tensor([0.1269, 2.1269])
    """

def _nn_multi_margin_loss(input: Tensor, target: Tensor, p: _int = 1, margin: _float = 1.0, weight: Tensor | None = None, *, reduction: str = "mean") -> Tensor:
    """For labels `[n]` of scores `[n, classes]` (or `[]` of `[classes]`): the mean over classes of what each other score is above the
    label's less `margin`, to the power `p` and times the label's `weight`. Integers become the default float.

    Arguments:
        target (tensor): the labels
        p (int, default 1)
        margin (float, default 1.0)
        weight (tensor, or None)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not fit, labels that are not integers; another `p` than 1 and 2; another reduction than "mean", "sum" and "none".
    A label out of range is found when the value is computed, if not before.

    >>> x = mg.tensor([[0.1, 0.2, 0.7]])
    >>> mg.nn.functional.multi_margin_loss(x, mg.tensor([2]))
    tensor(0.3000)
    """

def _nn_multilabel_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """For targets `[n, classes]` (or `[classes]`), rows of labels up to the first −1: the sum over a row's labels and all classes that
    are none of them of what the class's score is above the label's less 1, divided by the number of classes. Integers become the default float.

    Arguments:
        target (tensor): rows of labels
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that differ, labels that are not integers; another reduction than "mean", "sum" and "none". A label out of range is found
    when the value is computed.

    >>> x = mg.tensor([[0.1, 0.2, 0.4, 0.8]])
    >>> mg.nn.functional.multilabel_margin_loss(x, mg.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """

def _nn_multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean") -> Tensor:
    """The mean over classes, the last axis of the input, of the cross entropies of logits and targets; see `binary_cross_entropy_with_logits`.

    Arguments:
        target (tensor): probabilities, in the input's shape
        weight (tensor, or None)
        reduction (str, default "mean"): what becomes of the losses: "mean", "sum" or "none"

    Errors: Shapes that do not broadcast, unlike devices, a weight that does not broadcast; another reduction than "mean", "sum" and "none".

    >>> x = mg.tensor([[3.0, -3.0]])
    >>> mg.nn.functional.multilabel_soft_margin_loss(x, mg.tensor([[1.0, 0.0]]))
    tensor(0.0486)
    """

@overload
def reshape(input: Tensor, shape: _Dims) -> Tensor:
    """The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
    that there can be one, as PyTorch has it; else a copy.

    Arguments:
        shape (int or ints)

    Errors: Another number of elements.

    >>> x = mg.arange(6)
    >>> mg.reshape(x, (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
@overload
def reshape(input: Tensor, *shape: _int) -> Tensor:
    """The same elements in another shape; one size may be −1, and follows from the others. A view where the elements lie so
    that there can be one, as PyTorch has it; else a copy.

    Arguments:
        shape (int or ints)

    Errors: Another number of elements.

    >>> x = mg.arange(6)
    >>> mg.reshape(x, (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """

def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Axes `start_dim` to `end_dim` as one.

    Arguments:
        start_dim (int, default 0)
        end_dim (int, default -1)

    Errors: An axis out of range; a first one behind the last.

    >>> x = mg.zeros(2, 3, 4)
    >>> mg.flatten(x).shape, mg.flatten(x, start_dim=1).shape
    ((24,), (2, 12))
    """

def unflatten(input: Tensor, dim: _int, sizes: _Dims) -> Tensor:
    """An axis as several, of sizes whose product is its size; one may be −1.

    Arguments:
        dim (int): along which axis
        sizes (int or ints)

    Errors: An axis out of range, another product.

    >>> x = mg.zeros(2, 6)
    >>> mg.unflatten(x, 1, (3, -1)).shape
    (2, 3, 2)
    """

def ravel(input: Tensor) -> Tensor:
    """All elements in one axis: the same memory where they lie one after the other, else a copy.

    Errors: A value that could not be computed.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.ravel(x)
    tensor([1, 2, 3, 4])
    """

@overload
def permute(input: Tensor, dims: _Dims) -> Tensor:
    """Axes in another order, a view.

    Arguments:
        dims (int or ints): the axes in their new order

    Errors: What is no permutation of the axes.

    >>> x = mg.zeros(2, 3, 4)
    >>> mg.permute(x, (2, 0, 1)).shape
    (4, 2, 3)
    """
@overload
def permute(input: Tensor, *dims: _int) -> Tensor:
    """Axes in another order, a view.

    Arguments:
        dims (int or ints): the axes in their new order

    Errors: What is no permutation of the axes.

    >>> x = mg.zeros(2, 3, 4)
    >>> mg.permute(x, (2, 0, 1)).shape
    (4, 2, 3)
    """

@overload
def permute_dims(input: Tensor, dims: _Dims) -> Tensor:
    """Axes in another order, a view.

    Arguments:
        dims (int or ints): the axes in their new order

    Errors: What is no permutation of the axes.

    >>> x = mg.zeros(2, 3, 4)
    >>> mg.permute_dims(x, (2, 0, 1)).shape
    (4, 2, 3)
    """
@overload
def permute_dims(input: Tensor, *dims: _int) -> Tensor:
    """Axes in another order, a view.

    Arguments:
        dims (int or ints): the axes in their new order

    Errors: What is no permutation of the axes.

    >>> x = mg.zeros(2, 3, 4)
    >>> mg.permute_dims(x, (2, 0, 1)).shape
    (4, 2, 3)
    """

def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two axes exchanged, a view.

    Arguments:
        dim0 (int): one of the axes
        dim1 (int): the other

    Errors: An axis out of range.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.transpose(x, 0, 1)
    tensor([[1, 3],
            [2, 4]])
    """

def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two axes exchanged, a view.

    Arguments:
        dim0 (int): one of the axes
        dim1 (int): the other

    Errors: An axis out of range.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.swapdims(x, 0, 1)
    tensor([[1, 3],
            [2, 4]])
    """

def transpose_(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """`transpose` of the tensor itself, which is answered. See `transpose`.

    Arguments:
        dim0 (int): one of the axes
        dim1 (int): the other
    """

def swapdims_(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """`transpose` of the tensor itself, which is answered. See `transpose`.

    Arguments:
        dim0 (int): one of the axes
        dim1 (int): the other
    """

def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """Two axes exchanged, a view: `transpose`, by NumPy's name.

    Arguments:
        axis0 (int): one of the axes
        axis1 (int): the other

    Errors: An axis out of range.

    >>> x = mg.zeros(2, 3, 4)
    >>> mg.swapaxes(x, 0, 2).shape
    (4, 3, 2)
    """

def swapaxes_(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """`swapaxes` of the tensor itself, which is answered. See `swapaxes`.

    Arguments:
        axis0 (int): one of the axes
        axis1 (int): the other
    """

def adjoint(input: Tensor) -> Tensor:
    """The last two axes exchanged, a view; of a tensor without axes, itself.

    Errors: One axis.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.adjoint(x)
    tensor([[1, 3],
            [2, 4]])
    """

def matrix_transpose(input: Tensor) -> Tensor:
    """The last two axes exchanged, a view; of a tensor without axes, itself.

    Errors: One axis.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.matrix_transpose(x)
    tensor([[1, 3],
            [2, 4]])
    """

def movedim(input: Tensor, source: _Dims, destination: _Dims) -> Tensor:
    """Axes moved to other places, a view; those that are not named keep their order.

    Arguments:
        source (int or ints): where the axes are
        destination (int or ints): where they come to be

    Errors: An axis out of range or twice the same; as many sources as destinations are wanted.

    >>> x = mg.zeros(2, 3, 4)
    >>> mg.movedim(x, 0, -1).shape
    (3, 4, 2)
    """

def moveaxis(input: Tensor, source: _Dims, destination: _Dims) -> Tensor:
    """Axes moved to other places, a view; those that are not named keep their order.

    Arguments:
        source (int or ints): where the axes are
        destination (int or ints): where they come to be

    Errors: An axis out of range or twice the same; as many sources as destinations are wanted.

    >>> x = mg.zeros(2, 3, 4)
    >>> mg.moveaxis(x, 0, -1).shape
    (3, 4, 2)
    """

def narrow(input: Tensor, dim: _int, start: _int, length: _int) -> Tensor:
    """`length` positions from `start` (from the end, if it is negative) along an axis, a view.

    Arguments:
        dim (int): along which axis
        start (int)
        length (int)

    Errors: An axis out of range, positions outside of it.

    >>> x = mg.arange(6)
    >>> mg.narrow(x, 0, 2, 3)
    tensor([2, 3, 4])
    """

def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """One position along an axis, which disappears; a view.

    Arguments:
        dim (int): along which axis
        index (int)

    Errors: An axis or index out of range.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.select(x, 1, 0)
    tensor([1, 3])
    """

@overload
def flip(input: Tensor, dims: _Dims) -> Tensor:
    """Axes backwards: a copy, as PyTorch has it. `slice` by −1 is a view.

    Arguments:
        dims (int or ints): the axes

    Errors: An axis out of range, or twice the same.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.flip(x, (0, 1))
    tensor([[4, 3],
            [2, 1]])
    """
@overload
def flip(input: Tensor, *dims: _int) -> Tensor:
    """Axes backwards: a copy, as PyTorch has it. `slice` by −1 is a view.

    Arguments:
        dims (int or ints): the axes

    Errors: An axis out of range, or twice the same.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.flip(x, (0, 1))
    tensor([[4, 3],
            [2, 1]])
    """

def fliplr(input: Tensor) -> Tensor:
    """The second axis backwards, a copy.

    Errors: Fewer than two axes.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.fliplr(x)
    tensor([[2, 1],
            [4, 3]])
    """

def flipud(input: Tensor) -> Tensor:
    """The first axis backwards, a copy.

    Errors: No axes.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.flipud(x)
    tensor([[3, 4],
            [1, 2]])
    """

def rot90(input: Tensor, k: _int = 1, dims: _Dims = (0, 1)) -> Tensor:
    """Turned by `k` right angles in the plane of two axes, from the first towards the second; a copy.

    Arguments:
        k (int, default 1)
        dims (int or ints, default (0, 1)): the two axes of the plane

    Errors: Other than two axes, or twice the same.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.rot90(x)
    tensor([[2, 4],
            [1, 3]])
    """

def roll(input: Tensor, shifts: _Dims, dims: _Dims | None = None) -> Tensor:
    """Each axis moved by so many positions, where what goes beyond its end comes in at its start; all elements in row-major
    order where no axes are named. A copy.

    Arguments:
        shifts (int or ints): how far each axis moves
        dims (int or ints, or None): the axes

    Errors: As many numbers as axes are wanted.

    >>> x = mg.tensor([1, 2, 3, 4])
    >>> mg.roll(x, 1)
    tensor([4, 1, 2, 3])
    """

@overload
def expand(input: Tensor, size: _Dims) -> Tensor:
    """Broadcast to a shape, a view; −1 keeps a size.

    Arguments:
        size (int or ints)

    Errors: A shape that it does not broadcast to.

    >>> x = mg.tensor([[1], [2]])
    >>> x.expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
@overload
def expand(input: Tensor, *size: _int) -> Tensor:
    """Broadcast to a shape, a view; −1 keeps a size.

    Arguments:
        size (int or ints)

    Errors: A shape that it does not broadcast to.

    >>> x = mg.tensor([[1], [2]])
    >>> x.expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """

@overload
def broadcast_to(input: Tensor, size: _Dims) -> Tensor:
    """Broadcast to a shape, a view; −1 keeps a size.

    Arguments:
        size (int or ints)

    Errors: A shape that it does not broadcast to.

    >>> x = mg.tensor([1, 2])
    >>> mg.broadcast_to(x, (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
@overload
def broadcast_to(input: Tensor, *size: _int) -> Tensor:
    """Broadcast to a shape, a view; −1 keeps a size.

    Arguments:
        size (int or ints)

    Errors: A shape that it does not broadcast to.

    >>> x = mg.tensor([1, 2])
    >>> mg.broadcast_to(x, (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """

@overload
def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Tensors broadcast to one shape, views.

    Arguments:
        tensors (tensors): one after the other or in one list

    Errors: Shapes that do not broadcast.

    >>> x, y = mg.broadcast_tensors(mg.zeros(2, 1), mg.zeros(3))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
@overload
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors broadcast to one shape, views.

    Arguments:
        tensors (tensors): one after the other or in one list

    Errors: Shapes that do not broadcast.

    >>> x, y = mg.broadcast_tensors(mg.zeros(2, 1), mg.zeros(3))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """

@overload
def tile(input: Tensor, dims: _Sizes) -> Tensor:
    """As `repeat`; fewer numbers than axes are those of the last axes.

    Arguments:
        dims (int or ints): how often, along each axis

    Errors: More than 16 axes.

    >>> x = mg.tensor([[1, 2]])
    >>> mg.tile(x, (2,))
    tensor([[1, 2, 1, 2]])
    """
@overload
def tile(input: Tensor, *dims: _int) -> Tensor:
    """As `repeat`; fewer numbers than axes are those of the last axes.

    Arguments:
        dims (int or ints): how often, along each axis

    Errors: More than 16 axes.

    >>> x = mg.tensor([[1, 2]])
    >>> mg.tile(x, (2,))
    tensor([[1, 2, 1, 2]])
    """

def repeat_interleave(input: _Operand, repeats: _Operand | None = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
    """Each position along an axis so many times: the same number for all, or one for each. All elements in one axis, where none is
    named. Of a tensor of numbers alone, their positions, each as often as the number says.

    `output_size`, the size of the result's axis where a tensor says the numbers, is checked.

    Arguments:
        repeats (tensor or number, or None): how often
        dim (int, or None): along which axis
        output_size (int, or None)

    Errors: An axis out of range; negative numbers, or as many as the axis is not long; numbers that are no integers.

    >>> x = mg.tensor([1, 2])
    >>> mg.repeat_interleave(x, 2)
    tensor([1, 1, 2, 2])
    >>> mg.repeat_interleave(x, mg.tensor([1, 3]))
    tensor([1, 2, 2, 2])
    """

def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """A new axis of size 1 before `dim`, which may be one past the last; a view.

    Arguments:
        dim (int): along which axis

    Errors: An axis out of range.

    >>> x = mg.tensor([1, 2])
    >>> mg.unsqueeze(x, 0).shape, mg.unsqueeze(x, -1).shape
    ((1, 2), (2, 1))
    """

def unsqueeze_(input: Tensor, dim: _int) -> Tensor:
    """`unsqueeze` of the tensor itself, which is answered. See `unsqueeze`.

    Arguments:
        dim (int): along which axis
    """

@overload
def squeeze(input: Tensor, dim: _Dims | None = None) -> Tensor:
    """Without axes of size 1: one, several (others stay), or all of them; a view.

    Arguments:
        dim (int or ints, or None): along which axes

    Errors: An axis out of range, or twice the same.

    >>> x = mg.zeros(1, 2, 1)
    >>> mg.squeeze(x).shape, mg.squeeze(x, 0).shape
    ((2,), (2, 1))
    """
@overload
def squeeze(input: Tensor, *dim: _int) -> Tensor:
    """Without axes of size 1: one, several (others stay), or all of them; a view.

    Arguments:
        dim (int or ints, or None): along which axes

    Errors: An axis out of range, or twice the same.

    >>> x = mg.zeros(1, 2, 1)
    >>> mg.squeeze(x).shape, mg.squeeze(x, 0).shape
    ((2,), (2, 1))
    """

@overload
def squeeze_(input: Tensor, dim: _Dims | None = None) -> Tensor:
    """`squeeze` of the tensor itself, which is answered. See `squeeze`.

    Arguments:
        dim (int or ints, or None): along which axes
    """
@overload
def squeeze_(input: Tensor, *dim: _int) -> Tensor:
    """`squeeze` of the tensor itself, which is answered. See `squeeze`.

    Arguments:
        dim (int or ints, or None): along which axes
    """

def as_strided(input: Tensor, size: _Sizes, stride: _Dims, storage_offset: _int | None = None) -> Tensor:
    """The memory that the tensor is of, seen with these sizes and strides from `storage_offset` on, all in elements (from where
    the tensor begins, if that is not given). A view; what lies in memory as computed results do is row-major.

    Arguments:
        size (int or ints): the sizes
        stride (int or ints): how far neighbours along each axis are from each other in memory
        storage_offset (int, or None)

    Errors: What lies outside of the memory; as many strides as sizes are wanted; a detached view.

    >>> x = mg.arange(5)
    >>> mg.as_strided(x, (3, 2), (1, 2))
    tensor([[0, 2],
            [1, 3],
            [2, 4]])
    """

def atleast_1d(input: Tensor) -> Tensor:
    """With at least one axis; a view.

    >>> mg.atleast_1d(mg.tensor(5)).shape
    (1,)
    """

def atleast_2d(input: Tensor) -> Tensor:
    """With at least two axes, new ones in front; a view.

    >>> mg.atleast_2d(mg.tensor([1, 2])).shape
    (1, 2)
    """

def atleast_3d(input: Tensor) -> Tensor:
    """With at least three axes: of a vector the middle one, of a matrix the first two; a view.

    >>> mg.atleast_3d(mg.zeros(2, 3)).shape
    (2, 3, 1)
    """

def norm_except_dim(input: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor:
    """The norm of order `pow` over all axes but `dim`, which stay with size 1; over all, without axes, where `dim` is -1.

    Arguments:
        pow (int, default 2)
        dim (int, default 0): along which axis

    Errors: An axis that is not there.

    >>> x = mg.tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> mg.norm_except_dim(x)
    tensor([[ 5.],
            [10.]])
    """

def layer_norm(input: Tensor, normalized_shape: _Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-5) -> Tensor:
    """Normalised over the last axes, whose sizes are `normalized_shape`, then scaled and shifted (Ba, Kiros and Hinton, 2016).
    Integers become the default float.

    Arguments:
        normalized_shape (int or ints)
        weight (tensor, or None): what it is multiplied by, of the shape `normalized_shape`
        bias (tensor, or None): what is added then, of the same shape
        eps (float, default 1e-5): what is added to the variance

    Errors: Sizes that are not the last ones; weight or bias of another shape.

    >>> x = mg.tensor([[1.0, 3.0], [10.0, 30.0]])
    >>> mg.layer_norm(x, (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

def _nn_layer_norm(input: Tensor, normalized_shape: _Sizes, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-5) -> Tensor:
    """Normalised over the last axes, whose sizes are `normalized_shape`, then scaled and shifted (Ba, Kiros and Hinton, 2016).
    Integers become the default float.

    Arguments:
        normalized_shape (int or ints)
        weight (tensor, or None): what it is multiplied by, of the shape `normalized_shape`
        bias (tensor, or None): what is added then, of the same shape
        eps (float, default 1e-5): what is added to the variance

    Errors: Sizes that are not the last ones; weight or bias of another shape.

    >>> x = mg.tensor([[1.0, 3.0], [10.0, 30.0]])
    >>> mg.layer_norm(x, (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

def rms_norm(input: Tensor, normalized_shape: _Sizes, weight: Tensor | None = None, eps: _float | None = None) -> Tensor:
    """Divided by the root of the mean square over the last axes, whose sizes are `normalized_shape`, then scaled (Zhang and
    Sennrich, 2019). `eps`, which is added to the mean square, is the distance of 1 to the next number of the dtype that is computed in
    (float32 for half types) where it is not given. Integers become the default float.

    Arguments:
        normalized_shape (int or ints)
        weight (tensor, or None)
        eps (float, or None)

    Errors: Sizes that are not the last ones; a weight of another shape.

    >>> x = mg.tensor([[3.0, 4.0]])
    >>> mg.rms_norm(x, (2,))
    tensor([[0.8485, 1.1314]])
    """

def _nn_rms_norm(input: Tensor, normalized_shape: _Sizes, weight: Tensor | None = None, eps: _float | None = None) -> Tensor:
    """Divided by the root of the mean square over the last axes, whose sizes are `normalized_shape`, then scaled (Zhang and
    Sennrich, 2019). `eps`, which is added to the mean square, is the distance of 1 to the next number of the dtype that is computed in
    (float32 for half types) where it is not given. Integers become the default float.

    Arguments:
        normalized_shape (int or ints)
        weight (tensor, or None)
        eps (float, or None)

    Errors: Sizes that are not the last ones; a weight of another shape.

    >>> x = mg.tensor([[3.0, 4.0]])
    >>> mg.rms_norm(x, (2,))
    tensor([[0.8485, 1.1314]])
    """

def group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-5) -> Tensor:
    """Normalised over groups of channels (axis 1) and all that lies behind them, then scaled and shifted by channel (Wu and He,
    2018). Integers become the default float.

    Arguments:
        num_groups (int)
        weight (tensor, or None): what each channel is multiplied by
        bias (tensor, or None): what is added to each channel then
        eps (float, default 1e-5): what is added to the variance

    Errors: Fewer than two axes; no channels, or channels without elements; channels that do not part into `num_groups`; weight or bias
    that are not one number for each channel.

    >>> x = mg.tensor([[[1.0], [3.0], [10.0], [30.0]]])
    >>> mg.group_norm(x, 2).flatten()
    tensor([-1.0000,  1.0000, -1.0000,  1.0000])
    """

def _nn_group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-5) -> Tensor:
    """Normalised over groups of channels (axis 1) and all that lies behind them, then scaled and shifted by channel (Wu and He,
    2018). Integers become the default float.

    Arguments:
        num_groups (int)
        weight (tensor, or None): what each channel is multiplied by
        bias (tensor, or None): what is added to each channel then
        eps (float, default 1e-5): what is added to the variance

    Errors: Fewer than two axes; no channels, or channels without elements; channels that do not part into `num_groups`; weight or bias
    that are not one number for each channel.

    >>> x = mg.tensor([[[1.0], [3.0], [10.0], [30.0]]])
    >>> mg.group_norm(x, 2).flatten()
    tensor([-1.0000,  1.0000, -1.0000,  1.0000])
    """

def _nn_batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: _bool = False, momentum: _float = 0.1, eps: _float = 1e-5) -> Tensor:
    """Normalised by channel (axis 1), then scaled and shifted (Ioffe and Szegedy, 2015): in training by mean and variance of the
    input over all other axes, which `running_mean` and `running_var`, where given, are moved towards by `momentum`; else by those
    two. Integers become the default float.

    Arguments:
        running_mean (tensor, or None)
        running_var (tensor, or None)
        weight (tensor, or None): what each channel is multiplied by
        bias (tensor, or None): what is added to each channel then
        training (bool, default False)
        momentum (float, default 0.1)
        eps (float, default 1e-5): what is added to the variance

    Errors: Fewer than two axes; in training, one value for each channel; else, no running mean or variance; what is not one number for
    each channel.

    >>> x, mean, var = mg.tensor([[1.0], [3.0]]), mg.zeros(1), mg.ones(1)
    >>> mg.nn.functional.batch_norm(x, mean, var, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    >>> mean, var
    (tensor([0.2000]), tensor([1.1000]))
    """

def _nn_instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: _bool = True, momentum: _float = 0.1, eps: _float = 1e-5) -> Tensor:
    """Normalised by sample and channel over all axes behind those two, then scaled and shifted by channel (Ulyanov, Vedaldi and
    Lempitsky, 2016). With `use_input_stats` by the input's own mean and variance, towards whose means over samples `running_mean`
    and `running_var`, where given, are moved by `momentum`; else by those two. Integers become the default float.

    Arguments:
        running_mean (tensor, or None)
        running_var (tensor, or None)
        weight (tensor, or None): what each channel is multiplied by
        bias (tensor, or None): what is added to each channel then
        use_input_stats (bool, default True)
        momentum (float, default 0.1)
        eps (float, default 1e-5): what is added to the variance

    Errors: Fewer than three axes; one value for each channel; without the input's own statistics, no running mean or variance; what is not one
    number for each channel.

    >>> x = mg.tensor([[[1.0, 3.0], [10.0, 30.0]]])
    >>> mg.nn.functional.instance_norm(x)
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """

def _nn_local_response_norm(input: Tensor, size: _int, alpha: _float = 1e-4, beta: _float = 0.75, k: _float = 1.0) -> Tensor:
    """Divided by `(k + alpha · m)` to the power `beta`, where `m` is the mean of squares over `size` neighbouring channels (axis 1),
    those beyond the ends taken for 0 (Krizhevsky, Sutskever and Hinton, 2012). Integers become the default float.

    Arguments:
        size (int)
        alpha (float, default 1e-4)
        beta (float, default 0.75)
        k (float, default 1.0)

    Errors: Fewer than three axes; a `size` of 0.

    >>> x = mg.ones(1, 3, 1)
    >>> mg.nn.functional.local_response_norm(x, size=2, alpha=1.0).flatten()
    tensor([0.7378, 0.5946, 0.5946])
    """

def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a view of all of it for vectors and scalars.

    Errors: More than two axes.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.t(x)
    tensor([[1, 3],
            [2, 4]])
    """

def t_(input: Tensor) -> Tensor:
    """`t` of the tensor itself, which is answered. See `t`."""

def clone(input: Tensor) -> Tensor:
    """A copy of the value in its own memory; gradients flow through it.

    >>> x = mg.tensor([1, 2])
    >>> y = mg.clone(x)
    >>> y[0] = 9
    >>> x
    tensor([1, 2])
    """

def rnn_tanh(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, ...]:
    """An Elman network of tanh, `h = tanh(W x + b + U h + c)`, over `[steps, batch, features]` (or `[batch,
    steps, features]` with `batch_first`): the outputs of all steps of the last layer and the states `[layers
    · directions, batch, size]` at the end. `params` has for each layer, and each direction, `W`, `U` and, if
    `has_biases`, `b` and `c`. While `train`, layers after the first have their input dropped out by
    `dropout`.

    Arguments:
        hx (tensor): the states at the beginning
        params (tensors)
        has_biases (bool)
        num_layers (int): how many layers there are
        dropout (float)
        train (bool)
        bidirectional (bool): whether each layer goes backwards too
        batch_first (bool)

    Errors: Shapes that do not fit, no steps, unlike dtypes or devices.

    >>> x, h, one = mg.ones(3, 1, 1), mg.zeros(1, 1, 1), mg.ones(1, 1)
    >>> out, h = mg.rnn_tanh(x, h, [one, one], False, 1, 0.0, False, False, False)
    >>> out.flatten()
    tensor([0.7616, 0.9427, 0.9597])
    """

def rnn_relu(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, ...]:
    """As `rnn_tanh`, with `max(x, 0)` in the place of tanh.

    Arguments:
        hx (tensor): the states at the beginning
        params (tensors): the weights of each layer and direction
        has_biases (bool): whether there are biases
        num_layers (int): how many layers there are
        dropout (float): the probability with which the inputs of layers after the first are left out
        train (bool): whether they are
        bidirectional (bool): whether each layer goes backwards too
        batch_first (bool): whether the batch is the first axis

    Errors: As `rnn_tanh`.

    >>> x, h, one = mg.ones(3, 1, 1), mg.zeros(1, 1, 1), mg.ones(1, 1)
    >>> out, h = mg.rnn_relu(x, h, [one, one], False, 1, 0.0, False, False, False)
    >>> out.flatten()
    tensor([1., 2., 3.])
    """

def gru(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, ...]:
    """Gated recurrent units (Cho et al., 2014), as `rnn_tanh`: `r = σ(W₁x + U₁h)`, `z = σ(W₂x + U₂h)`, `n =
    tanh(W₃x + r (U₃h + c₃))`, `h = (1 − z) n + z h`, the weights of `r`, `z` and `n` one below the other.

    Arguments:
        hx (tensor): the states at the beginning
        params (tensors): the weights of each layer and direction
        has_biases (bool): whether there are biases
        num_layers (int): how many layers there are
        dropout (float): the probability with which the inputs of layers after the first are left out
        train (bool): whether they are
        bidirectional (bool): whether each layer goes backwards too
        batch_first (bool): whether the batch is the first axis

    Errors: As `rnn_tanh`.

    >>> x, h, w = mg.ones(3, 1, 1), mg.zeros(1, 1, 1), mg.ones(3, 1)
    >>> out, h = mg.gru(x, h, [w, w], False, 1, 0.0, False, False, False)
    >>> out.flatten()
    tensor([0.2048, 0.3468, 0.4517])
    """

def lstm(input: Tensor, hx: Sequence[Tensor], params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, ...]:
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), as `rnn_tanh`: `i`, `f`, `o = σ(W x + U h)`, `g
    = tanh(W x + U h)`, `c = f c + i g`, `h = o tanh(c)`, the weights of `i`, `f`, `g` and `o` one below the
    other. `hx` is `[h, c]`, and the answer the outputs and both states at the end. Where `h` is narrower than
    `c`, a last weight of each layer projects it (Sak et al., 2014).

    Arguments:
        hx (tensors)
        params (tensors): the weights of each layer and direction
        has_biases (bool): whether there are biases
        num_layers (int): how many layers there are
        dropout (float): the probability with which the inputs of layers after the first are left out
        train (bool): whether they are
        bidirectional (bool): whether each layer goes backwards too
        batch_first (bool): whether the batch is the first axis

    Errors: As `rnn_tanh`.

    >>> x, h, w = mg.ones(3, 1, 1), mg.zeros(1, 1, 1), mg.ones(4, 1)
    >>> out, h, c = mg.lstm(x, [h, h], [w, w], False, 1, 0.0, False, False, False)
    >>> out.flatten()
    tensor([0.3696, 0.6505, 0.7888])
    """

def packed_rnn(input: Tensor, batch_sizes: _Dims, mode: str, hx: Sequence[Tensor], params: Sequence[Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool) -> tuple[Tensor, ...]:
    """`rnn_tanh`, `rnn_relu`, `gru` or `lstm` (`mode`: "RNN_TANH", "RNN_RELU", "GRU" or "LSTM") over packed
    sequences: rows `[rows, features]`, first the first steps of all sequences, then the second steps of those
    that have one, the longest sequence first; `batch_sizes` says how many sequences there are at each step.
    Answers with the rows of the outputs, and the states at each sequence's end.

    Arguments:
        batch_sizes (int or ints)
        mode (str)
        hx (tensors): the states at the beginning, of an LSTM both
        params (tensors): the weights of each layer and direction
        has_biases (bool): whether there are biases
        num_layers (int): how many layers there are
        dropout (float): the probability with which the inputs of layers after the first are left out
        train (bool): whether they are
        bidirectional (bool): whether each layer goes backwards too

    Errors: Numbers of sequences that grow, or do not sum to the rows; as `rnn_tanh`.

    >>> rows, h, one = mg.ones(3, 1), mg.zeros(1, 2, 1), mg.ones(1, 1)
    >>> out, h = mg.packed_rnn(rows, [2, 1], "RNN_RELU", [h], [one, one], False, 1, 0.0, False, False)
    >>> h.flatten()
    tensor([2., 1.])
    """

def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of `rnn_tanh` for `[batch, features]`: the next state `[batch, size]`.

    Arguments:
        hx (tensor): the state
        w_ih (tensor): the weight of the input, `[size, features]`
        w_hh (tensor): that of the state, `[size, size]`
        b_ih (tensor, or None): what is added to the input's part, `[size]`
        b_hh (tensor, or None): what is added to the state's part, `[size]`

    Errors: Shapes that do not fit, unlike dtypes or devices.

    >>> x = mg.ones(1, 2)
    >>> mg.rnn_tanh_cell(x, mg.zeros(1, 1), mg.ones(1, 2), mg.ones(1, 1))
    tensor([[0.9640]])
    """

def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of `rnn_relu` for `[batch, features]`: the next state `[batch, size]`.

    Arguments:
        hx (tensor): the state
        w_ih (tensor): the weight of the input, `[size, features]`
        w_hh (tensor): that of the state, `[size, size]`
        b_ih (tensor, or None): what is added to the input's part, `[size]`
        b_hh (tensor, or None): what is added to the state's part, `[size]`

    Errors: Shapes that do not fit, unlike dtypes or devices.

    >>> x = mg.ones(1, 2)
    >>> mg.rnn_relu_cell(x, mg.ones(1, 1), mg.ones(1, 2), mg.ones(1, 1))
    tensor([[3.]])
    """

def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of `gru` for `[batch, features]`: the next state `[batch, size]`.

    Arguments:
        hx (tensor): the state
        w_ih (tensor): the weight of the input, `[3 size, features]`
        w_hh (tensor): that of the state, `[3 size, size]`
        b_ih (tensor, or None): what is added to the input's part, `[3 size]`
        b_hh (tensor, or None): what is added to the state's part, `[3 size]`

    Errors: Shapes that do not fit, unlike dtypes or devices.

    >>> x = mg.ones(1, 2)
    >>> mg.gru_cell(x, mg.zeros(1, 1), mg.ones(3, 2), mg.ones(3, 1))
    tensor([[0.1149]])
    """

def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, ...]:
    """One step of `lstm` for `[batch, features]` and `hx`, `[h, c]`: the next two states `[batch, size]`.

    Arguments:
        hx (tensors)
        w_ih (tensor): the weight of the input, `[4 size, features]`
        w_hh (tensor): that of the state, `[4 size, size]`
        b_ih (tensor, or None): what is added to the input's part, `[4 size]`
        b_hh (tensor, or None): what is added to the state's part, `[4 size]`

    Errors: Shapes that do not fit, unlike dtypes or devices.

    >>> x = mg.ones(1, 2)
    >>> h, c = mg.lstm_cell(x, [mg.zeros(1, 1), mg.zeros(1, 1)], mg.ones(4, 2), mg.ones(4, 1))
    >>> h, c
    (tensor([[0.6083]]), tensor([[0.8491]]))
    """

def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The mean of each of `output_size` shares of `[n, c, length]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.

    Arguments:
        output_size (int or ints, or None for some)

    Errors: Another number of axes; planes without elements; integers.

    >>> x = mg.tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> mg.adaptive_avg_pool1d(x, 2)
    tensor([[[2., 6.]]])
    """

def _nn_adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The mean of each of `output_size` shares of `[n, c, length]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.

    Arguments:
        output_size (int or ints, or None for some)

    Errors: Another number of axes; planes without elements; integers.

    >>> x = mg.tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> mg.adaptive_avg_pool1d(x, 2)
    tensor([[[2., 6.]]])
    """

@overload
def _nn_adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each of `output_size` shares of `[n, c, length]` (or without `n`), as `adaptive_avg_pool1d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> mg.nn.functional.adaptive_max_pool1d(x, 2)
    tensor([[[3., 7.]]])
    """
@overload
def _nn_adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, length]` (or without `n`), as `adaptive_avg_pool1d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> mg.nn.functional.adaptive_max_pool1d(x, 2)
    tensor([[[3., 7.]]])
    """
@overload
def _nn_adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, length]` (or without `n`), as `adaptive_avg_pool1d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> mg.nn.functional.adaptive_max_pool1d(x, 2)
    tensor([[[3., 7.]]])
    """

def _nn_adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The mean of each of `output_size` shares of `[n, c, height, width]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.

    Arguments:
        output_size (int or ints, or None for some)

    Errors: Another number of axes; planes without elements; integers.

    >>> x = mg.ones(1, 8, 7, 9)
    >>> mg.nn.functional.adaptive_avg_pool2d(x, 1).shape, mg.nn.functional.adaptive_avg_pool2d(x, (2, None)).shape
    ((1, 8, 1, 1), (1, 8, 2, 9))
    """

@overload
def _nn_adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each of `output_size` shares of `[n, c, height, width]` (or without `n`), as `adaptive_avg_pool2d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.adaptive_max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
@overload
def _nn_adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, height, width]` (or without `n`), as `adaptive_avg_pool2d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.adaptive_max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
@overload
def _nn_adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, height, width]` (or without `n`), as `adaptive_avg_pool2d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.adaptive_max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

def _nn_adaptive_avg_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The mean of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`): shares of an axis of `l` elements begin at `⌊i l / size⌋` and
    end before `⌈(i + 1) l / size⌉`. Where a size is None, it is the input's.

    Arguments:
        output_size (int or ints, or None for some)

    Errors: Another number of axes; planes without elements; integers.

    >>> x = mg.ones(1, 2, 4, 7, 9)
    >>> mg.nn.functional.adaptive_avg_pool3d(x, (2, 2, 1)).shape
    (1, 2, 2, 2, 1)
    """

@overload
def _nn_adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`), as `adaptive_avg_pool3d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.ones(1, 2, 4, 7, 9)
    >>> mg.nn.functional.adaptive_max_pool3d(x, 1).shape
    (1, 2, 1, 1, 1)
    """
@overload
def _nn_adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`), as `adaptive_avg_pool3d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.ones(1, 2, 4, 7, 9)
    >>> mg.nn.functional.adaptive_max_pool3d(x, 1).shape
    (1, 2, 1, 1, 1)
    """
@overload
def _nn_adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each of `output_size` shares of `[n, c, depth, height, width]` (or without `n`), as `adaptive_avg_pool3d` has them; with
    `return_indices` also where it stands in its plane (int64): of equal ones the first.

    Arguments:
        output_size (int or ints, or None for some)
        return_indices (bool, default False)

    Errors: Another number of axes; planes without elements; truth values.

    >>> x = mg.ones(1, 2, 4, 7, 9)
    >>> mg.nn.functional.adaptive_max_pool3d(x, 1).shape
    (1, 2, 1, 1, 1)
    """

@overload
def _nn_fractional_max_pool2d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: Literal[False] = False, _random_samples: Tensor | None = None) -> Tensor:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (int64). `_random_samples` `[n, c, 2]`, in [0, 1), are what is drawn.

    Arguments:
        kernel_size (int or ints)
        output_size (int or ints, or None)
        output_ratio (float or floats, or None)
        return_indices (bool, default False)
        _random_samples (tensor, or None)

    Errors: Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.

    >>> x = mg.ones(1, 1, 9, 9)
    >>> mg.nn.functional.fractional_max_pool2d(x, 2, output_ratio=0.7).shape
    (1, 1, 6, 6)
    """
@overload
def _nn_fractional_max_pool2d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, *, return_indices: Literal[True], _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (int64). `_random_samples` `[n, c, 2]`, in [0, 1), are what is drawn.

    Arguments:
        kernel_size (int or ints)
        output_size (int or ints, or None)
        output_ratio (float or floats, or None)
        return_indices (bool, default False)
        _random_samples (tensor, or None)

    Errors: Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.

    >>> x = mg.ones(1, 1, 9, 9)
    >>> mg.nn.functional.fractional_max_pool2d(x, 2, output_ratio=0.7).shape
    (1, 1, 6, 6)
    """
@overload
def _nn_fractional_max_pool2d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (int64). `_random_samples` `[n, c, 2]`, in [0, 1), are what is drawn.

    Arguments:
        kernel_size (int or ints)
        output_size (int or ints, or None)
        output_ratio (float or floats, or None)
        return_indices (bool, default False)
        _random_samples (tensor, or None)

    Errors: Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.

    >>> x = mg.ones(1, 1, 9, 9)
    >>> mg.nn.functional.fractional_max_pool2d(x, 2, output_ratio=0.7).shape
    (1, 1, 6, 6)
    """

@overload
def _nn_fractional_max_pool3d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: Literal[False] = False, _random_samples: Tensor | None = None) -> Tensor:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, depth, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (int64). `_random_samples` `[n, c, 3]`, in [0, 1), are what is drawn.

    Arguments:
        kernel_size (int or ints)
        output_size (int or ints, or None)
        output_ratio (float or floats, or None)
        return_indices (bool, default False)
        _random_samples (tensor, or None)

    Errors: Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.

    >>> x = mg.ones(1, 1, 9, 9, 9)
    >>> mg.nn.functional.fractional_max_pool3d(x, 2, output_size=4).shape
    (1, 1, 4, 4, 4)
    """
@overload
def _nn_fractional_max_pool3d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, *, return_indices: Literal[True], _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, depth, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (int64). `_random_samples` `[n, c, 3]`, in [0, 1), are what is drawn.

    Arguments:
        kernel_size (int or ints)
        output_size (int or ints, or None)
        output_ratio (float or floats, or None)
        return_indices (bool, default False)
        _random_samples (tensor, or None)

    Errors: Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.

    >>> x = mg.ones(1, 1, 9, 9, 9)
    >>> mg.nn.functional.fractional_max_pool3d(x, 2, output_size=4).shape
    (1, 1, 4, 4, 4)
    """
@overload
def _nn_fractional_max_pool3d(input: Tensor, kernel_size: _Sizes, output_size: _Sizes | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements of `output_size` windows of `kernel_size` over `[n, c, depth, height, width]` (or without `n`), which begin at random, about as far
    from each other as their number says (Graham, 2014); or of as many as `output_ratio` of the sizes. With `return_indices` also where they stand
    in their plane (int64). `_random_samples` `[n, c, 3]`, in [0, 1), are what is drawn.

    Arguments:
        kernel_size (int or ints)
        output_size (int or ints, or None)
        output_ratio (float or floats, or None)
        return_indices (bool, default False)
        _random_samples (tensor, or None)

    Errors: Another number of axes; windows that do not fit; both a size and a ratio, or none; integers.

    >>> x = mg.ones(1, 1, 9, 9, 9)
    >>> mg.nn.functional.fractional_max_pool3d(x, 2, output_size=4).shape
    (1, 1, 4, 4, 4)
    """

def _special_chebyshev_polynomial_t(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the first kind,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.chebyshev_polynomial_t(x, 3)
    tensor([-1.,  1.])
    """

def _special_shifted_chebyshev_polynomial_t(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the first kind at `2x − 1`,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.shifted_chebyshev_polynomial_t(x, 2)
    tensor([-1.,  1.])
    """

def _special_chebyshev_polynomial_u(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the second kind,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.chebyshev_polynomial_u(x, 3)
    tensor([-1.,  4.])
    """

def _special_shifted_chebyshev_polynomial_u(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the second kind at `2x − 1`,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.shifted_chebyshev_polynomial_u(x, 2)
    tensor([-1.,  3.])
    """

def _special_chebyshev_polynomial_v(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the third kind,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.chebyshev_polynomial_v(x, 3)
    tensor([-1.,  1.])
    """

def _special_shifted_chebyshev_polynomial_v(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the third kind at `2x − 1`,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.shifted_chebyshev_polynomial_v(x, 2)
    tensor([-1.,  1.])
    """

def _special_chebyshev_polynomial_w(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the fourth kind,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.chebyshev_polynomial_w(x, 3)
    tensor([-1.,  7.])
    """

def _special_shifted_chebyshev_polynomial_w(input: _Operand, n: _Operand) -> Tensor:
    """Chebyshev's polynomials of the fourth kind at `2x − 1`,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.shifted_chebyshev_polynomial_w(x, 2)
    tensor([-1.,  5.])
    """

def _special_hermite_polynomial_h(input: _Operand, n: _Operand) -> Tensor:
    """Hermite's polynomials of physics,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.hermite_polynomial_h(x, 2)
    tensor([-1.,  2.])
    """

def _special_hermite_polynomial_he(input: _Operand, n: _Operand) -> Tensor:
    """Hermite's polynomials of probability,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.hermite_polynomial_he(x, 2)
    tensor([-0.7500,  0.0000])
    """

def _special_laguerre_polynomial_l(input: _Operand, n: _Operand) -> Tensor:
    """Laguerre's polynomials,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.laguerre_polynomial_l(x, 2)
    tensor([ 0.1250, -0.5000])
    """

def _special_legendre_polynomial_p(input: _Operand, n: _Operand) -> Tensor:
    """Legendre's polynomials,
    of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    number. Integers become the default float; half types are computed in float32. Gradients flow to the tensor.

    Arguments:
        n (tensor or number)

    Errors: Degrees beyond 10,000, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([0.5, 1.0])
    >>> mg.special.legendre_polynomial_p(x, 2)
    tensor([-0.1250,  1.0000])
    """

@overload
def max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> mg.nn.functional.max_pool1d(x, 2)
    tensor([[[5., 3.]]])
    >>> mg.nn.functional.max_pool1d(x, 2, stride=1, return_indices=True)
    (tensor([[[5., 5., 3.]]]), tensor([[[1, 1, 3]]]))
    """
@overload
def max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> mg.nn.functional.max_pool1d(x, 2)
    tensor([[[5., 3.]]])
    >>> mg.nn.functional.max_pool1d(x, 2, stride=1, return_indices=True)
    (tensor([[[5., 5., 3.]]]), tensor([[[1, 1, 3]]]))
    """
@overload
def max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> mg.nn.functional.max_pool1d(x, 2)
    tensor([[[5., 3.]]])
    >>> mg.nn.functional.max_pool1d(x, 2, stride=1, return_indices=True)
    (tensor([[[5., 5., 3.]]]), tensor([[[1, 1, 3]]]))
    """

@overload
def _nn_max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> mg.nn.functional.max_pool1d(x, 2)
    tensor([[[5., 3.]]])
    >>> mg.nn.functional.max_pool1d(x, 2, stride=1, return_indices=True)
    (tensor([[[5., 5., 3.]]]), tensor([[[1, 1, 3]]]))
    """
@overload
def _nn_max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> mg.nn.functional.max_pool1d(x, 2)
    tensor([[[5., 3.]]])
    >>> mg.nn.functional.max_pool1d(x, 2, stride=1, return_indices=True)
    (tensor([[[5., 5., 3.]]]), tensor([[[1, 1, 3]]]))
    """
@overload
def _nn_max_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, length]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> mg.nn.functional.max_pool1d(x, 2)
    tensor([[[5., 3.]]])
    >>> mg.nn.functional.max_pool1d(x, 2, stride=1, return_indices=True)
    (tensor([[[5., 5., 3.]]]), tensor([[[1, 1, 3]]]))
    """

def max_pool1d_with_indices(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False) -> tuple[Tensor, ...]:
    """`max_pool1d` with its indices.

    Arguments:
        kernel_size (int or ints): how long windows are
        stride (int or ints, or None): how far they are from each other
        padding (int or ints, default 0): how far they begin before the plane
        dilation (int or ints, default 1): how far their elements are from each other
        ceil_mode (bool, default False): whether the last one may hang over

    Errors: As `max_pool1d`.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> mg.nn.functional.max_pool1d_with_indices(x, 2)
    (tensor([[[5., 3.]]]), tensor([[[1, 3]]]))
    """

def _nn_max_pool1d_with_indices(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False) -> tuple[Tensor, ...]:
    """`max_pool1d` with its indices.

    Arguments:
        kernel_size (int or ints): how long windows are
        stride (int or ints, or None): how far they are from each other
        padding (int or ints, default 0): how far they begin before the plane
        dilation (int or ints, default 1): how far their elements are from each other
        ceil_mode (bool, default False): whether the last one may hang over

    Errors: As `max_pool1d`.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> mg.nn.functional.max_pool1d_with_indices(x, 2)
    (tensor([[[5., 3.]]]), tensor([[[1, 3]]]))
    """

@overload
def max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
@overload
def max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
@overload
def max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

@overload
def _nn_max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
@overload
def _nn_max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
@overload
def _nn_max_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.max_pool2d(x, 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

def _nn_max_pool2d_with_indices(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False) -> tuple[Tensor, ...]:
    """`max_pool2d` with its indices.

    Arguments:
        kernel_size (int or ints): how long windows are
        stride (int or ints, or None): how far they are from each other
        padding (int or ints, default 0): how far they begin before the plane
        dilation (int or ints, default 1): how far their elements are from each other
        ceil_mode (bool, default False): whether the last one may hang over

    Errors: As `max_pool2d`.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.max_pool2d_with_indices(x, 2)[1]
    tensor([[[[ 5,  7],
              [13, 15]]]])
    """

@overload
def max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.ones(1, 1, 4, 4, 4)
    >>> mg.nn.functional.max_pool3d(x, 2).shape
    (1, 1, 2, 2, 2)
    """
@overload
def max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.ones(1, 1, 4, 4, 4)
    >>> mg.nn.functional.max_pool3d(x, 2).shape
    (1, 1, 2, 2, 2)
    """
@overload
def max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.ones(1, 1, 4, 4, 4)
    >>> mg.nn.functional.max_pool3d(x, 2).shape
    (1, 1, 2, 2, 2)
    """

@overload
def _nn_max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: Literal[False] = False) -> Tensor:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.ones(1, 1, 4, 4, 4)
    >>> mg.nn.functional.max_pool3d(x, 2).shape
    (1, 1, 2, 2, 2)
    """
@overload
def _nn_max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.ones(1, 1, 4, 4, 4)
    >>> mg.nn.functional.max_pool3d(x, 2).shape
    (1, 1, 2, 2, 2)
    """
@overload
def _nn_max_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`); NaN if any is. Windows are `stride`
    (`kernel_size`, where it is not given) apart, begin `padding` before the plane (at most half a window), and have steps of `dilation`; with `ceil_mode` the last
    one may hang over. With `return_indices` also where the elements stand in their plane (int64): of equal ones the first, to which the
    gradient goes.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        dilation (int or ints, default 1)
        ceil_mode (bool, default False)
        return_indices (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; truth values.

    >>> x = mg.ones(1, 1, 4, 4, 4)
    >>> mg.nn.functional.max_pool3d(x, 2).shape
    (1, 1, 2, 2, 2)
    """

def _nn_max_pool3d_with_indices(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, dilation: _Sizes = 1, ceil_mode: _bool = False) -> tuple[Tensor, ...]:
    """`max_pool3d` with its indices.

    Arguments:
        kernel_size (int or ints): how long windows are
        stride (int or ints, or None): how far they are from each other
        padding (int or ints, default 0): how far they begin before the plane
        dilation (int or ints, default 1): how far their elements are from each other
        ceil_mode (bool, default False): whether the last one may hang over

    Errors: As `max_pool3d`.

    >>> x = mg.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> mg.nn.functional.max_pool3d_with_indices(x, 2)[1].item()
    7
    """

def avg_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """The mean of each window of `kernel_size` over `[n, c, length]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    `count_include_pad` is false. Half types are added in float32; means of int64 are rounded towards 0.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        ceil_mode (bool, default False)
        count_include_pad (bool, default True)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; other integers than int64.

    >>> x = mg.tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> mg.nn.functional.avg_pool1d(x, 2)
    tensor([[[2., 6.]]])
    """

def _nn_avg_pool1d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """The mean of each window of `kernel_size` over `[n, c, length]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    `count_include_pad` is false. Half types are added in float32; means of int64 are rounded towards 0.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        ceil_mode (bool, default False)
        count_include_pad (bool, default True)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; other integers than int64.

    >>> x = mg.tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> mg.nn.functional.avg_pool1d(x, 2)
    tensor([[[2., 6.]]])
    """

def _nn_avg_pool2d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None) -> Tensor:
    """The mean of each window of `kernel_size` over `[n, c, height, width]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    `count_include_pad` is false. Instead of by their number, sums are divided by `divisor_override` where it is given. Half types are added in float32; means of int64 are rounded towards 0.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        ceil_mode (bool, default False)
        count_include_pad (bool, default True)
        divisor_override (int, or None)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; other integers than int64.

    >>> x = mg.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.nn.functional.avg_pool2d(x, 2)
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])
    """

def _nn_avg_pool3d(input: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None) -> Tensor:
    """The mean of each window of `kernel_size` over `[n, c, depth, height, width]` (or without `n`). Windows are `stride` (`kernel_size`, where it is not
    given) apart and begin `padding` before the plane (at most half a window); with `ceil_mode` the last one may hang over. Zeros of the padding count, unless
    `count_include_pad` is false. Instead of by their number, sums are divided by `divisor_override` where it is given. Half types are added in float32; means of int64 are rounded towards 0.

    Arguments:
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        ceil_mode (bool, default False)
        count_include_pad (bool, default True)
        divisor_override (int, or None)

    Errors: Another number of axes; windows that do not fit; numbers that are 0; other integers than int64.

    >>> x = mg.ones(1, 1, 4, 4, 4)
    >>> mg.nn.functional.avg_pool3d(x, 2, stride=1).shape
    (1, 1, 3, 3, 3)
    """

def _nn_lp_pool1d(input: Tensor, norm_type: _float, kernel_size: _Sizes, stride: _Sizes | None = None, ceil_mode: _bool = False) -> Tensor:
    """The root of the sum of `norm_type`-th powers of each window over `[n, c, length]` (or without `n`); windows that hang over, with
    `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    largest magnitude, of −∞ the least. Integers become the default float.

    Arguments:
        norm_type (float)
        kernel_size (int or ints): how long windows are
        stride (int or ints, or None): how far they are from each other; `kernel_size`, where it is not given
        ceil_mode (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.

    >>> x = mg.tensor([[[3.0, 4.0, 6.0, 8.0]]])
    >>> mg.nn.functional.lp_pool1d(x, 2.0, 2)
    tensor([[[ 5., 10.]]])
    """

def _nn_lp_pool2d(input: Tensor, norm_type: _float, kernel_size: _Sizes, stride: _Sizes | None = None, ceil_mode: _bool = False) -> Tensor:
    """The root of the sum of `norm_type`-th powers of each window over `[n, c, height, width]` (or without `n`); windows that hang over, with
    `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    largest magnitude, of −∞ the least. Integers become the default float.

    Arguments:
        norm_type (float)
        kernel_size (int or ints): how long windows are
        stride (int or ints, or None): how far they are from each other; `kernel_size`, where it is not given
        ceil_mode (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.

    >>> x = mg.tensor([[[3.0, 4.0], [0.0, 0.0]]])
    >>> mg.nn.functional.lp_pool2d(x, 2.0, 2)
    tensor([[[5.]]])
    """

def _nn_lp_pool3d(input: Tensor, norm_type: _float, kernel_size: _Sizes, stride: _Sizes | None = None, ceil_mode: _bool = False) -> Tensor:
    """The root of the sum of `norm_type`-th powers of each window over `[n, c, depth, height, width]` (or without `n`); windows that hang over, with
    `ceil_mode`, count as if they were whole. Where the sum is 0, so is the gradient. Of a `norm_type` of ∞ it is the
    largest magnitude, of −∞ the least. Integers become the default float.

    Arguments:
        norm_type (float)
        kernel_size (int or ints): how long windows are
        stride (int or ints, or None): how far they are from each other; `kernel_size`, where it is not given
        ceil_mode (bool, default False)

    Errors: Another number of axes; windows that do not fit; numbers that are 0, `norm_type` among them.

    >>> x = mg.ones(1, 2, 2, 2)
    >>> mg.nn.functional.lp_pool3d(x, 1.0, 2)
    tensor([[[[8.]]]])
    """

def _nn_max_unpool1d(input: Tensor, indices: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, output_size: _Sizes | None = None) -> Tensor:
    """Zeros with the elements of `[n, c, length]` (or without `n`) where `indices` (int64, of the same shape) say in their plane, the last one where
    a place is met more than once: the reverse of `max_pool1d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    `padding`, need it, or `output_size`, which differs from that by less than `stride`.

    Arguments:
        indices (tensor)
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        output_size (int or ints, or None)

    Errors: Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    the value is computed, if not before.

    >>> x = mg.tensor([[[1.0, 5.0, 2.0, 3.0]]])
    >>> y, at = mg.nn.functional.max_pool1d(x, 2, return_indices=True)
    >>> mg.nn.functional.max_unpool1d(y, at, 2)
    tensor([[[0., 5., 0., 3.]]])
    """

def _nn_max_unpool2d(input: Tensor, indices: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, output_size: _Sizes | None = None) -> Tensor:
    """Zeros with the elements of `[n, c, height, width]` (or without `n`) where `indices` (int64, of the same shape) say in their plane, the last one where
    a place is met more than once: the reverse of `max_pool2d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    `padding`, need it, or `output_size`, which differs from that by less than `stride`.

    Arguments:
        indices (tensor)
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        output_size (int or ints, or None)

    Errors: Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    the value is computed, if not before.

    >>> x = mg.arange(4.0).reshape(1, 1, 2, 2)
    >>> y, at = mg.nn.functional.max_pool2d(x, 2, return_indices=True)
    >>> mg.nn.functional.max_unpool2d(y, at, 2)
    tensor([[[[0., 0.],
              [0., 3.]]]])
    """

def _nn_max_unpool3d(input: Tensor, indices: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0, output_size: _Sizes | None = None) -> Tensor:
    """Zeros with the elements of `[n, c, depth, height, width]` (or without `n`) where `indices` (int64, of the same shape) say in their plane, the last one where
    a place is met more than once: the reverse of `max_pool3d`. The plane is as large as windows of `kernel_size`, `stride` apart and with
    `padding`, need it, or `output_size`, which differs from that by less than `stride`.

    Arguments:
        indices (tensor)
        kernel_size (int or ints)
        stride (int or ints, or None)
        padding (int or ints, default 0)
        output_size (int or ints, or None)

    Errors: Another number of axes; indices of another shape or dtype; an output size that is too far away. An index outside the plane is found when
    the value is computed, if not before.

    >>> x = mg.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> y, at = mg.nn.functional.max_pool3d(x, 2, return_indices=True)
    >>> mg.nn.functional.max_unpool3d(y, at, 2).flatten()
    tensor([0., 0., 0., 0., 0., 0., 0., 7.])
    """

def sum(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The sum of all elements, or over some axes. Integers and truth values become int64; `dtype` is what the elements are
    converted to before. Floats are added in blocks of float32 or float64, and the blocks' sums in float64.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range or named twice.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.sum(x)
    tensor(10)
    >>> mg.sum(x, dim=0), mg.sum(x, dim=1, keepdim=True)
    (tensor([4, 6]), tensor([[3],
            [7]]))
    """

def prod(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The product of all elements, or over some axes. Integers and truth values become int64; `dtype` is what the elements are
    converted to before.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range or named twice.

    >>> x = mg.tensor([[1, 2], [3, 4]])
    >>> mg.prod(x), mg.prod(x, 1)
    (tensor(24), tensor([ 2, 12]))
    """

def mean(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The mean of all elements, or over some axes; of integers, in the default float unless `dtype` says otherwise.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range or named twice, a `dtype` of integers.

    >>> x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mg.mean(x), mg.mean(x, dim=0)
    (tensor(2.5000), tensor([2., 3.]))
    """

def nansum(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The sum of what is not NaN, of all elements or over some axes.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range or named twice.

    >>> x = mg.tensor([1.0, float("nan"), 2.0])
    >>> mg.nansum(x)
    tensor(3.)
    """

def nanmean(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
    """The mean of what is not NaN, of all elements or over some axes; of integers, in the default float.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range or named twice, a `dtype` of integers.

    >>> x = mg.tensor([1.0, float("nan"), 2.0])
    >>> mg.nanmean(x)
    tensor(1.5000)
    """

def amax(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """The largest element, or the largest over some axes; NaN if any is. Equal ones share the gradient.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range or named twice; no elements.

    >>> x = mg.tensor([[1, 7], [3, 4]])
    >>> mg.amax(x, dim=1)
    tensor([7, 4])
    """

def amin(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """The smallest element, or the smallest over some axes; NaN if any is. Equal ones share the gradient.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range or named twice; no elements.

    >>> x = mg.tensor([[1, 7], [3, 4]])
    >>> mg.amin(x, dim=(0, 1))
    tensor(1)
    """

def aminmax(input: Tensor, *, dim: _int | None = None, keepdim: _bool = False) -> tuple[Tensor, ...]:
    """The smallest and the largest element, of all or along an axis. Equal ones share the gradient.

    Arguments:
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range; no elements.

    >>> x = mg.tensor([3, 1, 2])
    >>> mg.aminmax(x)
    aminmax(min=tensor(1), max=tensor(3))
    """

def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
    """The index (int64) of the first largest element along an axis, or of the flattened tensor.

    Arguments:
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: Truth values; an axis out of range; no elements.

    >>> x = mg.tensor([[1, 7], [3, 2]])
    >>> mg.argmax(x), mg.argmax(x, dim=1)
    (tensor(1), tensor([1, 0]))
    """

def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
    """The index (int64) of the first smallest element along an axis, or of the flattened tensor.

    Arguments:
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: Truth values; an axis out of range; no elements.

    >>> x = mg.tensor([[1, 7], [3, 2]])
    >>> mg.argmin(x), mg.argmin(x, dim=1)
    (tensor(0), tensor([0, 1]))
    """

def any(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """Whether any element is not zero, of all or over some axes: a truth value, and of uint8 a uint8.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range or named twice.

    >>> x = mg.tensor([[0, 0], [0, 3]])
    >>> mg.any(x), mg.any(x, dim=1)
    (tensor(True), tensor([False,  True]))
    """

def all(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """Whether no element is zero, of all or over some axes: a truth value, and of uint8 a uint8.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range or named twice.

    >>> x = mg.tensor([[1, 0], [2, 3]])
    >>> mg.all(x), mg.all(x, dim=1)
    (tensor(False), tensor([False,  True]))
    """

def count_nonzero(input: Tensor, dim: _Dims | None = None) -> Tensor:
    """How many elements are not zero (int64), of all or over some axes.

    Arguments:
        dim (int or ints, or None): along which axes

    Errors: An axis out of range or named twice.

    >>> x = mg.tensor([[0, 1], [2, 3]])
    >>> mg.count_nonzero(x), mg.count_nonzero(x, dim=1)
    (tensor(3), tensor([1, 2]))
    """

def var(input: Tensor, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
    """The variance of all elements, or over some axes: squares of deviations from the mean, over their count less
    `correction`, which is 1 (Bessel's) unless `unbiased` is false. Over 0, where the correction is larger.

    Arguments:
        dim (int or ints, or None): along which axes
        unbiased (bool, or None)
        keepdim (bool, default False): whether the axes stay, with size 1
        correction (float, or None)

    Errors: A tensor that is not of floats; an axis out of range or named twice.

    >>> x = mg.tensor([1.0, 2.0, 3.0, 4.0])
    >>> mg.var(x), mg.var(x, correction=0)
    (tensor(1.6667), tensor(1.2500))
    """

def std(input: Tensor, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
    """The standard deviation, the square root of the variance, of all elements or over some axes; see `var`. Its gradient is 0
    where nothing varies.

    Arguments:
        dim (int or ints, or None): along which axes
        unbiased (bool, or None): whether the squares are divided by one less than their count
        keepdim (bool, default False): whether the axes stay, with size 1
        correction (float, or None): by how much less than their count they are divided; 1, where nothing is said

    Errors: A tensor that is not of floats; an axis out of range or named twice.

    >>> x = mg.tensor([[1.0, 3.0], [1.0, 5.0]])
    >>> mg.std(x, dim=1)
    tensor([1.4142, 2.8284])
    """

def var_mean(input: Tensor, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> tuple[Tensor, ...]:
    """The variance (see `var`) and the mean, of all elements or over some axes.

    Arguments:
        dim (int or ints, or None): along which axes
        unbiased (bool, or None): whether the squares are divided by one less than their count
        keepdim (bool, default False): whether the axes stay, with size 1
        correction (float, or None): by how much less than their count they are divided; 1, where nothing is said

    Errors: A tensor that is not of floats; an axis out of range or named twice.

    >>> x = mg.tensor([1.0, 3.0])
    >>> mg.var_mean(x)
    (tensor(2.), tensor(2.))
    """

def std_mean(input: Tensor, dim: _Dims | None = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None) -> tuple[Tensor, ...]:
    """The standard deviation (see `std`) and the mean, of all elements or over some axes.

    Arguments:
        dim (int or ints, or None): along which axes
        unbiased (bool, or None): whether the squares are divided by one less than their count
        keepdim (bool, default False): whether the axes stay, with size 1
        correction (float, or None): by how much less than their count they are divided; 1, where nothing is said

    Errors: A tensor that is not of floats; an axis out of range or named twice.

    >>> x = mg.tensor([1.0, 3.0])
    >>> mg.std_mean(x, correction=0)
    (tensor(1.), tensor(2.))
    """

def logsumexp(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """`log Σ eˣ` over some axes (all, if none is named), without overflow. Integers become the default float.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range or named twice.

    >>> x = mg.tensor([1000.0, 1000.0])
    >>> mg.logsumexp(x, dim=0)
    tensor(1000.6932)
    """

def _special_logsumexp(input: Tensor, dim: _Dims | None = None, keepdim: _bool = False) -> Tensor:
    """`log Σ eˣ` over some axes (all, if none is named), without overflow. Integers become the default float.

    Arguments:
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range or named twice.

    >>> x = mg.tensor([1000.0, 1000.0])
    >>> mg.logsumexp(x, dim=0)
    tensor(1000.6932)
    """

def norm(input: Tensor, p: _float | str = "fro", dim: _Dims | None = None, keepdim: _bool = False, dtype: _DType | None = None) -> Tensor:
    """The norm of all elements as one vector, or over some axes: the `p`-th root of the sum of `p`-th powers of magnitudes
    (2 for `"fro"`); `"nuc"` is the sum of singular values of matrices. With `p` infinite the largest magnitude, −∞ the smallest, 0 how many are not zero. The gradient of a
    norm that is 0 is 0. Integers become the default float.

    Arguments:
        p (float or str, default "fro")
        dim (int or ints, or None): along which axes
        keepdim (bool, default False): whether the axes stay, with size 1
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range or named twice; a `p` that is NaN or another word; with an infinite or negative `p`, no elements.

    >>> x = mg.tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> mg.norm(x, dim=1), mg.norm(x, p=1)
    (tensor([ 5., 10.]), tensor(21.))
    """

def dist(input: Tensor, other: Tensor, p: _float = 2.0) -> Tensor:
    """The `p`-norm of the difference to another tensor, which is broadcast.

    Arguments:
        other (tensor): the second operand
        p (float, default 2.0)

    Errors: Shapes that do not broadcast, unlike devices; a `p` that is NaN.

    >>> x = mg.tensor([1.0, 1.0])
    >>> mg.dist(x, mg.tensor([4.0, 5.0]))
    tensor(5.)
    """

def renorm(input: Tensor, p: _float, dim: _int, maxnorm: _float) -> Tensor:
    """The parts along an axis, those whose `p`-norm is larger than `maxnorm` scaled down to it.

    Arguments:
        p (float)
        dim (int): along which axis
        maxnorm (float)

    Errors: Fewer than two axes, an axis out of range, a `p` that is not positive, a negative `maxnorm`.

    >>> x = mg.tensor([[3.0, 4.0], [0.3, 0.4]])
    >>> mg.renorm(x, 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """

def renorm_(input: Tensor, p: _float, dim: _int, maxnorm: _float) -> Tensor:
    """`renorm`, written into the tensor, which is answered. See `renorm`.

    Arguments:
        p (float)
        dim (int): along which axis
        maxnorm (float)
    """

def diff(input: Tensor, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """Differences of neighbours along an axis, taken `n` times; of truth values, whether they differ. `prepend` and `append`
    are put before and after the elements first, unless `n` is 0.

    Arguments:
        n (int, default 1)
        dim (int, default -1): along which axis
        prepend (tensor, or None)
        append (tensor, or None)

    Errors: A tensor without axes, an axis out of range; what is put beside it and does not fit.

    >>> x = mg.tensor([1, 4, 9, 16])
    >>> mg.diff(x), mg.diff(x, n=2)
    (tensor([3, 5, 7]), tensor([2, 2]))
    """

def trapezoid(input: Tensor, x: Tensor | None = None, *, dx: _float | None = None, dim: _int = -1) -> Tensor:
    """The integral along an axis by the trapezoidal rule: of values at the points `x` (one axis, or a shape that broadcasts
    with the tensor's), or at points that are `dx` apart.

    Arguments:
        x (tensor, or None)
        dx (float, or None)
        dim (int, default -1): along which axis

    Errors: A tensor without axes, an axis out of range, truth values; points that do not fit the values, or both `x` and `dx`.

    >>> y = mg.tensor([0.0, 1.0, 4.0])
    >>> mg.trapezoid(y), mg.trapezoid(y, mg.tensor([0.0, 1.0, 3.0]))
    (tensor(3.), tensor(5.5000))
    """

def trapz(input: Tensor, x: Tensor | None = None, *, dx: _float | None = None, dim: _int = -1) -> Tensor:
    """The integral along an axis by the trapezoidal rule: of values at the points `x` (one axis, or a shape that broadcasts
    with the tensor's), or at points that are `dx` apart.

    Arguments:
        x (tensor, or None)
        dx (float, or None)
        dim (int, default -1): along which axis

    Errors: A tensor without axes, an axis out of range, truth values; points that do not fit the values, or both `x` and `dx`.

    >>> y = mg.tensor([0.0, 1.0, 4.0])
    >>> mg.trapz(y), mg.trapz(y, mg.tensor([0.0, 1.0, 3.0]))
    (tensor(3.), tensor(5.5000))
    """

def cumulative_trapezoid(input: Tensor, x: Tensor | None = None, *, dx: _float | None = None, dim: _int = -1) -> Tensor:
    """The integral up to each point but the first along an axis by the trapezoidal rule; see `trapezoid`.

    Arguments:
        x (tensor, or None)
        dx (float, or None)
        dim (int, default -1): along which axis

    Errors: A tensor without axes, an axis out of range, truth values; points that do not fit the values, or both `x` and `dx`.

    >>> y = mg.tensor([0.0, 1.0, 4.0])
    >>> mg.cumulative_trapezoid(y)
    tensor([0.5000, 3.0000])
    """

def cov(input: Tensor, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables, which are rows, by observations, which are columns; of one row, the variance. Each
    observation counts `fweights` times (integers), and with `aweights`; both have one axis. Integers become the default float.

    Arguments:
        correction (int, default 1): by how much less than the count of observations sums are divided
        fweights (tensor, or None)
        aweights (tensor, or None)

    Errors: More than two axes; weights of another number than the observations', that are no integers or floats, negative, or not finite.

    >>> x = mg.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    >>> mg.cov(x)
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """

def corrcoef(input: Tensor) -> Tensor:
    """The matrix of correlation coefficients of variables, which are rows, by observations, which are columns. Integers become
    the default float.

    Errors: More than two axes.

    >>> x = mg.tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])
    >>> mg.corrcoef(x)
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """

def gradient(input: Tensor, *, spacing: _float | Sequence[_float] | Sequence[Tensor] | None = None, dim: _Dims | None = None, edge_order: _int = 1) -> tuple[Tensor, ...]:
    """The slopes along axes (all, if none is named) by differences of neighbours, a tensor for each: central ones inside, at the
    ends those of `edge_order` 1 or 2. `spacing` is the distance of points (1), a number for all axes or a list of one for each; or where they lie,
    a tensor of one axis for each.

    Arguments:
        spacing (float, floats or tensors, or None)
        dim (int or ints, or None): along which axes
        edge_order (int, default 1)

    Errors: An axis out of range or named twice, or with too few positions; another order; a list of other than a distance for each axis;
    other than a point for each position.

    >>> y = mg.tensor([1.0, 4.0, 9.0, 16.0])
    >>> mg.gradient(y)
    (tensor([3., 4., 6., 7.]),)
    """

def _nn_grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: _bool | None = None) -> Tensor:
    """Images `[n, c, height, width]` read at the places of a grid `[n, h, w, 2]`, each an x and a y: −1 … 1 from one edge to the other (from one centre
    of an outermost element to the other, with `align_corners`); `[n, c, h, w]`. `mode` says what lies between elements: "bilinear",
    "nearest", whose grid has a gradient of 0, or "bicubic"; `padding_mode` what lies beyond them: "zeros", "border" or "reflection". Of images
    `[n, c, depth, height, width]` with a grid `[n, d, h, w, 3]` likewise. (Jaderberg et al., 2015.)

    Arguments:
        grid (tensor)
        mode (str, default "bilinear")
        padding_mode (str, default "zeros")
        align_corners (bool, or None)

    Errors: Shapes that do not fit; images without elements; another mode; integers; dtypes that differ; unlike devices.

    >>> x = mg.tensor([[[[0.0, 10.0]]]])
    >>> mg.nn.functional.grid_sample(x, mg.tensor([[[[0.0, 0.0], [0.5, 0.0]]]]), align_corners=True)
    tensor([[[[5.0000, 7.5000]]]])
    """

def _nn_affine_grid(input: Tensor, size: _Sizes, align_corners: _bool | None = None) -> Tensor:
    """The grid `[n, h, w, 2]` with which `grid_sample` moves images of `size` `[n, c, h, w]` by affine maps `[n, 2, 3]`; or `[n, d, h, w, 3]` of
    `[n, c, d, h, w]` by `[n, 3, 4]`. With `align_corners` −1 and 1 are the centres of the outermost elements, else their edges.

    Arguments:
        size (int or ints)
        align_corners (bool, or None)

    Errors: Shapes that do not fit; a size of 0; integers.

    >>> half_turn = mg.tensor([[[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]])
    >>> mg.nn.functional.affine_grid(half_turn, (1, 1, 1, 2), align_corners=True)
    tensor([[[[ 1.,  0.],
              [-1.,  0.]]]])
    """

def cumsum(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """The sum of each element and all before it along an axis. Integers become int64. float32 is added in float64, half types in float32; the
    order of additions depends on the shape alone.

    Arguments:
        dim (int): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range.

    >>> x = mg.tensor([[1, 2, 3], [4, 5, 6]])
    >>> mg.cumsum(x, 1)
    tensor([[ 1,  3,  6],
            [ 4,  9, 15]])
    """

def cumulative_sum(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """The sum of each element and all before it along an axis. Integers become int64. float32 is added in float64, half types in float32; the
    order of additions depends on the shape alone.

    Arguments:
        dim (int): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range.

    >>> x = mg.tensor([[1, 2, 3], [4, 5, 6]])
    >>> mg.cumulative_sum(x, 1)
    tensor([[ 1,  3,  6],
            [ 4,  9, 15]])
    """

def cumsum_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """`cumsum`, written into the tensor, which is answered. See `cumsum`.

    Arguments:
        dim (int): along which axis
        dtype (dtype, or None): the dtype of the result
    """

def cumulative_sum_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """`cumsum`, written into the tensor, which is answered. See `cumsum`.

    Arguments:
        dim (int): along which axis
        dtype (dtype, or None): the dtype of the result
    """

def cumprod(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """The product of each element and all before it along an axis. Integers become int64.

    Arguments:
        dim (int): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range.

    >>> x = mg.tensor([1, 2, 3, 4])
    >>> mg.cumprod(x, 0)
    tensor([ 1,  2,  6, 24])
    """

def cumulative_prod(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """The product of each element and all before it along an axis. Integers become int64.

    Arguments:
        dim (int): along which axis
        dtype (dtype, or None): the dtype of the result

    Errors: An axis out of range.

    >>> x = mg.tensor([1, 2, 3, 4])
    >>> mg.cumulative_prod(x, 0)
    tensor([ 1,  2,  6, 24])
    """

def cumprod_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """`cumprod`, written into the tensor, which is answered. See `cumprod`.

    Arguments:
        dim (int): along which axis
        dtype (dtype, or None): the dtype of the result
    """

def cumulative_prod_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor:
    """`cumprod`, written into the tensor, which is answered. See `cumprod`.

    Arguments:
        dim (int): along which axis
        dtype (dtype, or None): the dtype of the result
    """

def logcumsumexp(input: Tensor, dim: _int) -> Tensor:
    """`log Σ eˣ` of each element and all before it along an axis, without overflow. Integers become the default float.

    Arguments:
        dim (int): along which axis

    Errors: An axis out of range.

    >>> x = mg.tensor([1000.0, 1000.0])
    >>> mg.logcumsumexp(x, 0)
    tensor([1000.0000, 1000.6932])
    """

def cummax(input: Tensor, dim: _int) -> Extreme:
    """The largest element so far along an axis, and its index (int64): of equal ones the last. NaN is larger than every number. The
    gradient goes to the element at the index.

    Arguments:
        dim (int): along which axis

    Errors: An axis out of range.

    >>> x = mg.tensor([1, 3, 2, 5])
    >>> mg.cummax(x, 0)
    cummax(values=tensor([1, 3, 3, 5]), indices=tensor([0, 1, 1, 3]))
    """

def cummin(input: Tensor, dim: _int) -> Extreme:
    """The smallest element so far along an axis, and its index (int64): of equal ones the last. NaN is smaller than every number. The
    gradient goes to the element at the index.

    Arguments:
        dim (int): along which axis

    Errors: An axis out of range.

    >>> x = mg.tensor([5, 3, 4, 1])
    >>> mg.cummin(x, 0)
    cummin(values=tensor([5, 3, 3, 1]), indices=tensor([0, 1, 1, 3]))
    """

def recurrence(input: Tensor, factors: Tensor, dim: _int) -> Tensor:
    """The linear recurrence `yᵢ = xᵢ + aᵢ yᵢ₋₁` along an axis, which begins with `y₋₁ = 0`; `factors` are the `aᵢ`, and broadcast.
    Exponential averages, discounted returns and state-space models are of this kind. Integers become the default float.

    Arguments:
        factors (tensor)
        dim (int): along which axis

    Errors: An axis out of range; factors that do not broadcast to the shape.

    >>> x = mg.tensor([1.0, 1.0, 1.0])
    >>> mg.recurrence(x, mg.tensor(0.5), 0)
    tensor([1.0000, 1.5000, 1.7500])
    """

def searchsorted(sorted_sequence: Tensor, input: _Operand, *, out_int32: _bool = False, right: _bool = False, side: str | None = None, sorter: Tensor | None = None) -> Tensor:
    """How many elements of a sorted line are smaller than each value of `input`, or with `right` (or `side="right"`) not larger: where it
    would be put, int64 or int32. `sorted_sequence` is one line, or a line for each line of the values along their last axis;
    `sorter` says in what order its elements are sorted, as `argsort` answers. NaN is larger than every number. Unlike dtypes meet in
    the one that has both.

    Arguments:
        sorted_sequence (tensor)
        input (tensor or number)
        out_int32 (bool, default False): whether the positions are int32 rather than int64
        right (bool, default False)
        side (str, or None)
        sorter (tensor, or None)

    Errors: Truth values; lines that do not belong to the values'; another side, or one that contradicts `right`; a sorter of another shape, or of no
    integers.

    >>> mg.searchsorted(mg.tensor([1, 3, 5]), mg.tensor([0, 3, 9]))
    tensor([0, 1, 3])
    >>> mg.searchsorted(mg.tensor([1, 3, 5]), 3, right=True)
    tensor(2)
    """

def bucketize(input: _Operand, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False) -> Tensor:
    """The numbers (int64 or int32) of the intervals between sorted `boundaries` in which values lie: each holds its upper boundary, or with
    `right` its lower one. NaN is larger than every number.

    Arguments:
        input (tensor or number): the values
        boundaries (tensor)
        out_int32 (bool, default False): whether the numbers are int32 rather than int64
        right (bool, default False)

    Errors: Boundaries of other than one axis; truth values.

    >>> mg.bucketize(mg.tensor([0.5, 1.0, 7.0]), mg.tensor([1.0, 5.0]))
    tensor([0, 0, 2])
    """

def isin(elements: _Operand, test_elements: _Operand, *, assume_unique: _bool = False, invert: _bool = False) -> Tensor:
    """Whether each of `elements` is among `test_elements`, or where `invert` is set is not. NaN is not among any.

    Arguments:
        elements (tensor or number)
        test_elements (tensor or number)
        assume_unique (bool, default False): whether nothing occurs twice, which is of no use here
        invert (bool, default False)

    Errors: Unlike devices.

    >>> mg.isin(mg.tensor([1, 2, 3]), mg.tensor([3, 1]))
    tensor([ True, False,  True])
    """

def unique(input: Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The elements that are met, in order, each once; or with `dim` the parts along an axis that are met, in the order of their
    elements. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how often each is
    met (both int64). NaN is equal to nothing. The result is in order whether `sorted` is asked for or not. How many there are is
    looked at. The gradient goes to the first of what is equal.

    Arguments:
        sorted (bool, default True)
        return_inverse (bool, default False)
        return_counts (bool, default False)
        dim (int, or None): along which axis

    Errors: An axis out of range; parts without elements.

    >>> x = mg.tensor([3, 1, 3, 2])
    >>> mg.unique(x)
    tensor([1, 2, 3])
    >>> mg.unique(x, return_counts=True)
    (tensor([1, 2, 3]), tensor([1, 1, 2]))
    """

def unique_consecutive(input: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The elements of which neighbours are not equal, in the tensor's own order: the first of each run; or with `dim` the parts along an
    axis. With `return_inverse` also, of each element (or part), which of these it is; with `return_counts` how long each run is
    (both int64). NaN is equal to nothing. How many there are is looked at. The gradient goes to the first of each run.

    Arguments:
        return_inverse (bool, default False)
        return_counts (bool, default False)
        dim (int, or None): along which axis

    Errors: An axis out of range; parts without elements.

    >>> x = mg.tensor([1, 1, 2, 1])
    >>> mg.unique_consecutive(x)
    tensor([1, 2, 1])
    """

def segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: _int = 0, unsafe: _bool = False, initial: _float | None = None) -> Tensor:
    """What segments of an axis, one behind the other, come to: `reduce` is "sum", "mean", "max", "min" or "prod".

    `lengths` says how long each is, `[…, n]` with the axes of floating-point `data` that lie before `axis`; or `offsets` `[…, n + 1]` where each begins,
    and the last ends. The answer has `n` in the place of that axis. An empty segment is `initial`, which all begin with; without one it is 0, 1 for a product, −∞
    and ∞ for "max" and "min", NaN for a mean.

    Arguments:
        data (tensor)
        reduce (str)
        lengths (tensor, or None)
        indices (tensor, or None)
        offsets (tensor, or None)
        axis (int, default 0)
        unsafe (bool, default False)
        initial (float, or None)

    Errors: Other than floating-point data; another word; both of lengths and offsets, or neither, or indices; lengths of another shape, or that do not add up to the
    axis's size, unless `unsafe`.

    >>> mg.segment_reduce(mg.tensor([1.0, 2.0, 3.0]), "sum", lengths=mg.tensor([2, 1]))
    tensor([3., 3.])
    """

def sort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool = False) -> Extreme:
    """The elements along an axis in order, and the positions (int64) that they had. NaN is larger than every number, and equal elements
    keep their order, whether `stable` is asked for or not. The gradient goes back to where the elements came from.

    Arguments:
        dim (int, default -1): along which axis
        descending (bool, default False): whether the largest come first
        stable (bool, default False)

    Errors: An axis out of range.

    >>> x = mg.tensor([3, 1, 2])
    >>> mg.sort(x)
    sort(values=tensor([1, 2, 3]), indices=tensor([1, 2, 0]))
    >>> mg.sort(x, descending=True).values
    tensor([3, 2, 1])
    """

def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Tensor:
    """The positions (int64) of the elements along an axis, in the elements' order. NaN is larger than every number, and equal elements
    keep their order.

    Arguments:
        dim (int, default -1): along which axis
        descending (bool, default False): whether the largest come first
        stable (bool, default False): whether equal elements keep their order, as they do always

    Errors: An axis out of range.

    >>> x = mg.tensor([3, 1, 2])
    >>> mg.argsort(x)
    tensor([1, 2, 0])
    """

def msort(input: Tensor) -> Tensor:
    """The elements in order along the first axis: `sort` without the positions.

    >>> x = mg.tensor([[3, 1], [2, 4]])
    >>> mg.msort(x)
    tensor([[2, 1],
            [3, 4]])
    """

def topk(input: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> Extreme:
    """The `k` largest elements along an axis (or the smallest), in order, and their positions (int64): of equal ones the first. NaN is larger than
    every number. The result is in order whether `sorted` is asked for or not.

    Arguments:
        k (int)
        dim (int, default -1): along which axis
        largest (bool, default True)
        sorted (bool, default True)

    Errors: An axis out of range; more elements than there are; truth values.

    >>> x = mg.tensor([3, 1, 5, 2])
    >>> mg.topk(x, 2)
    topk(values=tensor([5, 3]), indices=tensor([2, 0]))
    """

def kthvalue(input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False) -> Extreme:
    """The `k`-th smallest element along an axis (from 1), and its position (int64). NaN is larger than every number. The gradient goes to
    the element at the position.

    Arguments:
        k (int)
        dim (int, default -1): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range; a `k` that is 0 or more than there are elements; truth values.

    >>> x = mg.tensor([3, 1, 5, 2])
    >>> mg.kthvalue(x, 2)
    kthvalue(values=tensor(2), indices=tensor(3))
    """

@overload
def median(input: Tensor, dim: None = None, keepdim: _bool = False) -> Tensor:
    """The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
    equal ones sharing the gradient; or along an axis with its position (int64), to which the gradient goes.

    Arguments:
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range, or without elements; truth values.

    >>> x = mg.tensor([[1, 9, 5], [4, 2, 8]])
    >>> mg.median(x)
    tensor(4)
    >>> mg.median(x, dim=1)
    median(values=tensor([5, 4]), indices=tensor([2, 0]))
    """
@overload
def median(input: Tensor, dim: _int, keepdim: _bool = False) -> Extreme:
    """The median: of two elements in the middle the lower one, and NaN where there is any. Of all elements (NaN, if there are none), with
    equal ones sharing the gradient; or along an axis with its position (int64), to which the gradient goes.

    Arguments:
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range, or without elements; truth values.

    >>> x = mg.tensor([[1, 9, 5], [4, 2, 8]])
    >>> mg.median(x)
    tensor(4)
    >>> mg.median(x, dim=1)
    median(values=tensor([5, 4]), indices=tensor([2, 0]))
    """

@overload
def nanmedian(input: Tensor, dim: None = None, keepdim: _bool = False) -> Tensor:
    """As `median`, of what is not NaN; NaN where nothing else is.

    Arguments:
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range, or without elements; truth values.

    >>> x = mg.tensor([1.0, float("nan"), 3.0, 2.0])
    >>> mg.nanmedian(x)
    tensor(2.)
    """
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool = False) -> Extreme:
    """As `median`, of what is not NaN; NaN where nothing else is.

    Arguments:
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range, or without elements; truth values.

    >>> x = mg.tensor([1.0, float("nan"), 3.0, 2.0])
    >>> mg.nanmedian(x)
    tensor(2.)
    """

def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False) -> Extreme:
    """The element that is met most often along an axis, the least of several, and the last position (int64) where it is. The gradient
    goes to that. NaN is equal to nothing.

    Arguments:
        dim (int, default -1): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1

    Errors: An axis out of range, or without elements.

    >>> x = mg.tensor([1, 2, 2, 3])
    >>> mg.mode(x)
    mode(values=tensor(2), indices=tensor(2))
    """

def quantile(input: _Operand, q: _Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear") -> Tensor:
    """The elements below which a share `q` of all lies, or of those along an axis; with several shares (one axis), these come first in the
    result. Between two elements it is found by `interpolation`: "linear", "lower", "higher", "nearest" or "midpoint". NaN where
    any element is NaN. float32 and float64.

    Arguments:
        q (tensor or number)
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1
        interpolation (str, default "linear")

    Errors: An axis out of range; no elements; shares that are not between 0 and 1, or of another dtype; another dtype or interpolation.

    >>> x = mg.tensor([0.0, 1.0, 2.0, 3.0])
    >>> mg.quantile(x, 0.5), mg.quantile(x, mg.tensor([0.0, 0.1]))
    (tensor(1.5000), tensor([0.0000, 0.3000]))
    """

def nanquantile(input: _Operand, q: _Operand, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear") -> Tensor:
    """As `quantile`, of what is not NaN.

    Arguments:
        q (tensor or number): the share, or several in one axis
        dim (int, or None): along which axis
        keepdim (bool, default False): whether the axes stay, with size 1
        interpolation (str, default "linear"): what lies between two elements, as `quantile`

    Errors: As `quantile`.

    >>> x = mg.tensor([0.0, float("nan"), 2.0])
    >>> mg.nanquantile(x, 0.5)
    tensor(1.)
    """

def gcd(input: _Operand, other: _Operand) -> Tensor:
    """The greatest common divisor of integers, which is not negative; that of 0 and 0 is 0.

    Arguments:
        other (tensor or number): the second operand

    Errors: What is no integer, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([12, -9])
    >>> mg.gcd(x, mg.tensor([8, 6]))
    tensor([4, 3])
    """

def gcd_(input: Tensor, other: _Operand) -> Tensor:
    """`gcd`, written into the tensor, which is answered. See `gcd`.

    Arguments:
        other (tensor or number): the second operand
    """

def lcm(input: _Operand, other: _Operand) -> Tensor:
    """The least common multiple of integers, which is not negative; 0 where one of them is.

    Arguments:
        other (tensor or number): the second operand

    Errors: What is no integer, shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([4, 6])
    >>> mg.lcm(x, mg.tensor([6, 9]))
    tensor([12, 18])
    """

def lcm_(input: Tensor, other: _Operand) -> Tensor:
    """`lcm`, written into the tensor, which is answered. See `lcm`.

    Arguments:
        other (tensor or number): the second operand
    """

def igamma(input: _Operand, other: _Operand) -> Tensor:
    """The regularised lower incomplete gamma function `P(a, x) = ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a)`, with the tensor as `a`, for `a` and `x` that are not
    negative. Integers become the default float; half types are computed in float32. By series and continued fractions, with a gradient by `x` alone.

    Arguments:
        other (tensor or number): `x`

    Errors: Shapes that do not broadcast, unlike devices.

    >>> a = mg.tensor([1.0, 2.0])
    >>> mg.igamma(a, mg.tensor([1.0, 2.0]))
    tensor([0.6321, 0.5940])
    """

def igamma_(input: Tensor, other: _Operand) -> Tensor:
    """`igamma`, written into the tensor, which is answered. See `igamma`.

    Arguments:
        other (tensor or number): `x`
    """

def igammac(input: _Operand, other: _Operand) -> Tensor:
    """The regularised upper incomplete gamma function `Q(a, x) = 1 − P(a, x)`: see `igamma`.

    Arguments:
        other (tensor or number): `x`

    Errors: Shapes that do not broadcast, unlike devices.

    >>> a = mg.tensor([1.0, 2.0])
    >>> mg.igammac(a, mg.tensor([1.0, 2.0]))
    tensor([0.3679, 0.4060])
    """

def igammac_(input: Tensor, other: _Operand) -> Tensor:
    """`igammac`, written into the tensor, which is answered. See `igammac`.

    Arguments:
        other (tensor or number): `x`
    """

def _special_gammainc(input: _Operand, other: _Operand) -> Tensor:
    """`igamma`, by the name of `special`.

    Arguments:
        other (tensor or number): `x`

    Errors: Shapes that do not broadcast, unlike devices.

    >>> mg.special.gammainc(mg.tensor([1.0]), mg.tensor([1.0]))
    tensor([0.6321])
    """

def _special_gammaincc(input: _Operand, other: _Operand) -> Tensor:
    """`igammac`, by the name of `special`.

    Arguments:
        other (tensor or number): `x`

    Errors: Shapes that do not broadcast, unlike devices.

    >>> mg.special.gammaincc(mg.tensor([1.0]), mg.tensor([1.0]))
    tensor([0.3679])
    """

def _special_gammaln(input: Tensor) -> Tensor:
    """The logarithm of the magnitude of the gamma function. Integers become the default float.

    >>> x = mg.tensor([1.0, 5.0])
    >>> mg.special.gammaln(x)
    tensor([0.0000, 3.1781])
    """

def _special_psi(input: Tensor) -> Tensor:
    """The derivative of the logarithm of the gamma function. Integers become the default float.

    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.special.psi(x)
    tensor([-0.5772,  0.4228])
    """

def _special_expit(input: Tensor) -> Tensor:
    """`1 / (1 + e⁻ˣ)`. Integers become the default float.

    >>> x = mg.tensor([-1.0, 0.0, 1.0])
    >>> mg.special.expit(x)
    tensor([0.2689, 0.5000, 0.7311])
    """

def _special_ndtr(input: Tensor) -> Tensor:
    """The distribution function of the normal distribution. Integers become the default float.

    >>> x = mg.tensor([0.0, 1.96])
    >>> mg.special.ndtr(x)
    tensor([0.5000, 0.9750])
    """

def _special_log_ndtr(input: Tensor) -> Tensor:
    """The logarithm of the distribution function of the normal distribution, far into its tail. Integers become the default float.

    >>> x = mg.tensor([0.0, -100.0])
    >>> mg.special.log_ndtr(x)
    tensor([-6.9315e-01, -5.0055e+03])
    """

def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 0. Integers become the default float.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.i0(x)
    tensor([1.0000, 1.2661])
    """

def _special_i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 0. Integers become the default float.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.i0(x)
    tensor([1.0000, 1.2661])
    """

def i0_(input: Tensor) -> Tensor:
    """`i0`, written into the tensor, which is answered. See `i0`."""

def _special_i0_(input: Tensor) -> Tensor:
    """`i0`, written into the tensor, which is answered. See `i0`."""

def _special_i1(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind and order 1. Integers become the default float.

    >>> x = mg.tensor([0.0, 1.0])
    >>> mg.special.i1(x)
    tensor([0.0000, 0.5652])
    """

def _special_zeta(input: _Operand, other: _Operand) -> Tensor:
    """Hurwitz's zeta function, Σ 1/(q + k)ˣ over k ≥ 0, for x > 1. ∞ at whole numbers q that are not positive. Integers become
    the default float.

    Arguments:
        other (tensor or number): `q`

    Errors: Shapes that do not broadcast, unlike devices.

    >>> x = mg.tensor([2.0])
    >>> mg.special.zeta(x, 1.0), mg.pi**2 / 6
    (tensor([1.6449]), 1.6449340668482264)
    """

def polygamma(n: _int, input: Tensor) -> Tensor:
    """The derivative of order n of `digamma`. Integers become the default float.

    Arguments:
        n (int)
        input (tensor): where it is taken

    Errors: A negative order.

    >>> mg.polygamma(1, mg.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])
    """

def _special_polygamma(n: _int, input: Tensor) -> Tensor:
    """The derivative of order n of `digamma`. Integers become the default float.

    Arguments:
        n (int)
        input (tensor): where it is taken

    Errors: A negative order.

    >>> mg.polygamma(1, mg.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])
    """

def mvlgamma(input: Tensor, p: _int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p. Integers become the default float.

    Arguments:
        p (int)

    Errors: A dimension below 1 or above 1024; truth values.

    >>> x = mg.tensor([2.0, 3.0])
    >>> mg.mvlgamma(x, 2)
    tensor([0.4516, 1.5502])
    """

def mvlgamma_(input: Tensor, p: _int) -> Tensor:
    """`mvlgamma`, written into the tensor, which is answered. See `mvlgamma`.

    Arguments:
        p (int)
    """

def _special_multigammaln(input: Tensor, p: _int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p. Integers become the default float.

    Arguments:
        p (int)

    Errors: A dimension below 1 or above 1024; truth values.

    >>> x = mg.tensor([2.0, 3.0])
    >>> mg.special.multigammaln(x, 2)
    tensor([0.4516, 1.5502])
    """

def _nn_unfold(input: Tensor, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0, stride: _Sizes = 1) -> Tensor:
    """The windows of `kernel_size` of `[n, c, height, width]` (or without `n`) as columns `[n, c · places, windows]`; zeros where they hang over. Windows
    are `stride` apart, begin `padding` before the plane, and have steps of `dilation`. (im2col.)

    Arguments:
        kernel_size (int or ints)
        dilation (int or ints, default 1)
        padding (int or ints, default 0)
        stride (int or ints, default 1)

    Errors: Another number of axes; windows that do not fit; numbers that are 0.

    >>> x = mg.arange(9.0).reshape(1, 1, 3, 3)
    >>> mg.nn.functional.unfold(x, 2)
    tensor([[[0., 1., 3., 4.],
             [1., 2., 4., 5.],
             [3., 4., 6., 7.],
             [4., 5., 7., 8.]]])
    """

def _nn_fold(input: Tensor, output_size: _Sizes, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0, stride: _Sizes = 1) -> Tensor:
    """Columns `[n, c · places, windows]` (or without `n`) added where the windows of an image of `output_size` lie, as `unfold` has them:
    `[n, c, height, width]`. (col2im.)

    Arguments:
        output_size (int or ints)
        kernel_size (int or ints): how large windows are
        dilation (int or ints, default 1): how far their elements are from each other
        padding (int or ints, default 0): how far they begin before the plane
        stride (int or ints, default 1): how far they are from each other

    Errors: Another number of axes, columns or windows than the sizes say; numbers that are 0; integers.

    >>> columns = mg.ones(1, 4, 4)
    >>> mg.nn.functional.fold(columns, (3, 3), 2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """

def _windows_bartlett(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Bartlett's window, a triangle.

    Arguments:
        m (int): how many points
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """

def _windows_blackman(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Blackman's window: `0.42 − 0.5 cos x + 0.08 cos 2x`.

    Arguments:
        m (int): how many points
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.blackman(5).round(decimals=3)
    tensor([-0.0000, 0.3400, 1.0000, 0.3400, -0.0000])
    """

def _windows_cosine(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A window of half a period of the sine.

    Arguments:
        m (int): how many points
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.cosine(5)
    tensor([0.3090, 0.8090, 1.0000, 0.8090, 0.3090])
    """

def _windows_exponential(m: _int, *, center: _float | None = None, tau: _float = 1.0, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A window that falls off exponentially by `tau` from `center`, which a symmetric one has in its middle.

    Arguments:
        m (int): how many points
        center (float, or None)
        tau (float, default 1.0)
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A `tau` that is not positive, a `center` of a symmetric window; a dtype that is not floating point; a device that is not
    there.

    >>> mg.signal.windows.exponential(5)
    tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])
    """

def _windows_gaussian(m: _int, *, std: _float = 1.0, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Gauss' bell, of a standard deviation.

    Arguments:
        m (int): how many points
        std (float, default 1.0): the deviation
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A deviation that is not positive; a dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.gaussian(5)
    tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])
    """

def _windows_general_cosine(m: _int, *, a: _float | Sequence[_float], sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A window of cosines: `Σ (−1)ᵏ aₖ cos(k x)`.

    Arguments:
        m (int): how many points
        a (float or floats): the weights
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: No weights; a dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """

def _windows_general_hamming(m: _int, *, alpha: _float = 0.54, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """A window of one cosine: `α − (1 − α) cos x`.

    Arguments:
        m (int): how many points
        alpha (float, default 0.54): the weight α
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.general_hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """

def _windows_hamming(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Hamming's window: `0.54 − 0.46 cos x`.

    Arguments:
        m (int): how many points
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """

def _windows_hann(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Hann's window: `½ − ½ cos x`.

    Arguments:
        m (int): how many points
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    >>> mg.signal.windows.hann(4, sym=False)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """

def _windows_kaiser(m: _int, *, beta: _float = 12.0, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Kaiser's window, `I₀(β √(1 − x²)) / I₀(β)`. The modified Bessel function is the mean of `exp(y cos θ)` over a circle, by the
    trapezoidal rule, which converges exponentially on what is periodic (Trefethen and Weideman, "The exponentially convergent
    trapezoidal rule", 2014).

    Arguments:
        m (int): how many points
        beta (float, default 12.0): how narrow it is
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A negative `beta`; a dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.kaiser(5, beta=2.0)
    tensor([0.4387, 0.8348, 1.0000, 0.8348, 0.4387])
    """

def _windows_nuttall(m: _int, *, sym: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Nuttall's window, of four cosines.

    Arguments:
        m (int): how many points
        sym (bool, default True): whether it is symmetric, or one period of a longer one
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.signal.windows.nuttall(5).round(decimals=3)
    tensor([0.0000, 0.2270, 1.0000, 0.2270, 0.0000])
    """

def bartlett_window(window_length: _int, periodic: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Bartlett's window, a triangle: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.bartlett`.

    Arguments:
        window_length (int)
        periodic (bool, default True)
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """

def blackman_window(window_length: _int, periodic: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Blackman's window: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.blackman`.

    Arguments:
        window_length (int)
        periodic (bool, default True)
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.blackman_window(4).round(decimals=3)
    tensor([-0.0000, 0.3400, 1.0000, 0.3400])
    """

def hann_window(window_length: _int, periodic: _bool = True, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Hann's window, `sin²`: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.hann`.

    Arguments:
        window_length (int)
        periodic (bool, default True)
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    >>> mg.hann_window(5, periodic=False)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """

def hamming_window(window_length: _int, periodic: _bool = True, alpha: _float = 0.54, beta: _float = 0.46, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Hamming's window `alpha − beta cos x`: `window_length` points of one period, or (with `periodic` false) symmetric ones.

    Arguments:
        window_length (int)
        periodic (bool, default True)
        alpha (float, default 0.54)
        beta (float, default 0.46)
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """

def kaiser_window(window_length: _int, periodic: _bool = True, beta: _float = 12.0, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """Kaiser's window: `window_length` points of one period, or (with `periodic` false) symmetric ones. As `signal.windows.kaiser`.

    Arguments:
        window_length (int)
        periodic (bool, default True)
        beta (float, default 12.0): how narrow it is
        dtype (dtype, or None): the dtype of the result
        device (device, or None): where the result is
        requires_grad (bool, default False): whether the result is a leaf whose gradient is kept

    Errors: A dtype that is not floating point; a device that is not there.

    >>> mg.kaiser_window(4, beta=2.0)
    tensor([0.4387, 0.8348, 1.0000, 0.8348])
    """
