"""A tensor and autograd engine: micrograd grown up, under PyTorch's names.

>>> import micrograd_rs as mg
>>> x = mg.Tensor([1.0, 2.0, 3.0])
>>> (x * x).sum().backward()
>>> x.grad.tolist()
[2.0, 4.0, 6.0]

`Tensor(data)` is a leaf that requires a gradient; `tensor`, `zeros`, `randn`, `from_numpy` and the other factories make
constants. Operations record what they are; the work is done when a value is looked at. `Value`, `Neuron`, `Layer` and
`MLP` are micrograd's own, on numbers. `nn`, `optim`, `autograd`, `functional`, `linalg`, `cuda` and `utils.data` are as in PyTorch.
"""

from __future__ import annotations

import os as _os
from builtins import bool as _bool

from . import _kinds
from . import _micrograd_rs as _rs
from ._micrograd_rs import (
    MLP,
    ArgumentError,
    Device,
    DTypeError,
    EmptyError,
    Explanation,
    Generator,
    Jit,
    Layer,
    Neuron,
    Tensor,
    Value,
    __version__,
    arange,
    as_tensor,
    broadcast_shapes,
    can_cast,
    clear_autocast_cache,
    channels_last,
    channels_last_3d,
    contiguous_format,
    dtype,
    empty,
    empty_like,
    eye,
    from_dlpack,
    from_numpy,
    full,
    full_like,
    get_autocast_dtype,
    get_default_device,
    get_default_dtype,
    get_float32_matmul_precision,
    get_num_threads,
    get_rng_state,
    initial_seed,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    is_grad_enabled,
    layout,
    linspace,
    load_safetensors,
    manual_seed,
    memory_format,
    ones,
    ones_like,
    preserve_format,
    promote_types,
    rand_like,
    randint,
    randn_like,
    realize,
    result_type,
    seed,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_default_device,
    set_default_dtype,
    set_float32_matmul_precision,
    set_num_threads,
    set_printoptions,
    set_rng_state,
    strided,
    tensor,
    where,
    zeros,
    zeros_like,
)
from ._micrograd_rs import bool as bool
from ._micrograd_rs import _scaled_mm as _scaled_mm
from ._dtypes import finfo, iinfo
from ._names import Lazy as _Lazy, tell_why as _tell_why
from ._kinds import *
from ._ops import *
from ._size import Size
from .autograd import enable_grad, inference_mode, is_inference_mode_enabled, no_grad, set_grad_enabled
from .random import default_generator

_tell_why(Tensor)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping as _Mapping
    from collections.abc import Sequence as _Sequence
    from typing import Any as _Any

    from . import (
        accelerator,
        amp,
        array_api,
        autograd,
        backends,
        compiler,
        cpu,
        cuda,
        data,
        distributed,
        distributions,
        engine,
        func,
        functional,
        fx,
        hub,
        kernels,
        linalg,
        metrics,
        multiprocessing,
        nn,
        npz,
        onnx,
        optim,
        profiler,
        random,
        safetensors,
        serialization,
        signal,
        special,
        storage,
        testing,
        tokenizers,
        types,
        utils,
        version,
    )
    from ._absent import cdouble, cfloat, chalf, complex32, complex64, complex128, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
    from .amp import GradScaler, autocast
    from .cuda import OutOfMemoryError
    from .func import vmap
    from .profiler import profile
    from .storage import TypedStorage, UntypedStorage
    from .kernels import kernel
    from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
    from ._functions.counts import (
        binomial,
        histogramdd,
    )
    from ._functions.images import (
        adaptive_max_pool1d,
        affine_grid_generator,
        conv_tbc,
        convolution,
        grid_sampler,
        grid_sampler_2d,
        grid_sampler_3d,
        native_channel_shuffle,
    )
    from ._functions.layers import (
        batch_norm,
        dropout,
        dropout_,
        embedding,
        embedding_bag,
        instance_norm,
        native_dropout,
        native_layer_norm,
    )
    from ._functions.losses import (
        binary_cross_entropy_with_logits,
        cosine_embedding_loss,
        ctc_loss,
        hinge_embedding_loss,
        kl_div,
        margin_ranking_loss,
        poisson_nll_loss,
        triplet_margin_loss,
    )
    from ._functions.making import (
        empty_permuted,
        from_file,
    )
    from ._functions.matrices import (
        frobenius_norm,
        lu,
        nuclear_norm,
    )
    from ._functions.methods import (
        conj_physical_,
        detach,
        detach_,
        fill,
        fill_,
        is_complex,
        is_conj,
        is_inference,
        is_neg,
        is_nonzero,
        is_same_size,
        is_signed,
        narrow_copy,
        nonzero_static,
        resize_as_,
        to_dlpack,
        unsafe_chunk,
        unsafe_split,
        unsafe_split_with_sizes,
        zero_,
    )
    from ._functions.recurrent import (
        gru,
        lstm,
        rnn_relu,
        rnn_tanh,
    )
    from ._functions.symbols import (
        cond,
        sym_float,
        sym_int,
        sym_ite,
        sym_max,
        sym_min,
        sym_not,
        sym_sqrt,
        sym_sum,
    )
    from ._legacy import (
        BFloat16Tensor,
        BoolTensor,
        ByteTensor,
        CharTensor,
        DoubleTensor,
        FloatTensor,
        HalfTensor,
        IntTensor,
        LongTensor,
        ShortTensor,
        are_deterministic_algorithms_enabled,
        asarray,
        empty_strided,
        frombuffer,
        get_autocast_cpu_dtype,
        get_autocast_gpu_dtype,
        get_deterministic_debug_mode,
        get_device_module,
        get_num_interop_threads,
        is_autocast_cpu_enabled,
        is_deterministic_algorithms_warn_only_enabled,
        is_warn_always_enabled,
        set_autocast_cpu_dtype,
        set_autocast_cpu_enabled,
        set_autocast_gpu_dtype,
        set_default_tensor_type,
        set_deterministic_debug_mode,
        set_flush_denormal,
        set_num_interop_threads,
        set_warn_always,
        typename,
        use_deterministic_algorithms,
    )
    from .compiler import compile
    from .jit import _Called

    jit: _Called

device = Device
double = float64
float = float32
half = float16
long = int64
int = int32
short = int16
e = 2.718281828459045
inf = 1e309
nan = inf - inf
newaxis = None
pi = 3.141592653589793

__all__ = [
    "MLP",
    "ArgumentError",
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "Device",
    "DTypeError",
    "DoubleTensor",
    "EmptyError",
    "Explanation",
    "FloatTensor",
    "Generator",
    "GradScaler",
    "HalfTensor",
    "IntTensor",
    "Jit",
    "Layer",
    "LongTensor",
    "Neuron",
    "OutOfMemoryError",
    "ShortTensor",
    "Size",
    "Tensor",
    "TypedStorage",
    "UntypedStorage",
    "Value",
    "__version__",
    "accelerator",
    "amp",
    "adaptive_max_pool1d",
    "arange",
    "are_deterministic_algorithms_enabled",
    "array_api",
    "as_tensor",
    "asarray",
    "autocast",
    "autograd",
    "backends",
    "batch_norm",
    "binomial",
    "broadcast_shapes",
    "can_cast",
    "cat",
    "cdouble",
    "cfloat",
    "chalf",
    "clear_autocast_cache",
    "channels_last",
    "channels_last_3d",
    "compile",
    "compiler",
    "complex128",
    "complex32",
    "complex64",
    "cpu",
    "concat",
    "contiguous_format",
    "cuda",
    "data",
    "distributed",
    "default_generator",
    "detach",
    "detach_",
    "device",
    "distributions",
    "double",
    "dropout",
    "dtype",
    "e",
    "embedding",
    "empty",
    "empty_like",
    "empty_strided",
    "enable_grad",
    "engine",
    "explain",
    "eye",
    "fill",
    "fill_",
    "finfo",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "func",
    "functional",
    "fx",
    "get_autocast_dtype",
    "get_default_device",
    "get_default_dtype",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "get_rng_state",
    "half",
    "hub",
    "iinfo",
    "inf",
    "inference_mode",
    "initial_seed",
    "instance_norm",
    "is_autocast_cache_enabled",
    "is_autocast_enabled",
    "is_complex",
    "is_conj",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "jit",
    "kernel",
    "kernels",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "ctc_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "triplet_margin_loss",
    "kl_div",
    "layout",
    "linalg",
    "linspace",
    "load",
    "load_safetensors",
    "long",
    "manual_seed",
    "memory_format",
    "metrics",
    "multiprocessing",
    "nan",
    "narrow_copy",
    "nn",
    "no_grad",
    "npz",
    "onnx",
    "ones",
    "ones_like",
    "optim",
    "pi",
    "poisson_nll_loss",
    "preserve_format",
    "profile",
    "profiler",
    "promote_types",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "random",
    "realize",
    "result_type",
    "safetensors",
    "save",
    "save_safetensors",
    "rnn_relu",
    "rnn_tanh",
    "seed",
    "serialization",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_grad_enabled",
    "set_num_interop_threads",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "signal",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "special",
    "storage",
    "stack",
    "strided",
    "tensor",
    "testing",
    "tokenizers",
    "to_dlpack",
    "typename",
    "types",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "use_deterministic_algorithms",
    "utils",
    "version",
    "vmap",
    "where",
    "zero_",
    "zeros",
    "zeros_like",
    "conj_physical_",
    "resize_as_",
    "dropout_",
    "embedding_bag",
    "empty_permuted",
    "frobenius_norm",
    "from_file",
    "gru",
    "histogramdd",
    "native_dropout",
    "native_layer_norm",
    "nonzero_static",
    "nuclear_norm",
    "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype",
    "get_deterministic_debug_mode",
    "get_device_module",
    "is_autocast_cpu_enabled",
    "is_warn_always_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_gpu_dtype",
    "set_deterministic_debug_mode",
    "set_warn_always",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "lstm",
    "lu",
    "conv_tbc",
    "convolution",
    "native_channel_shuffle",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "affine_grid_generator",
    "cond",
    "sym_sum",
    "sym_sqrt",
    "is_anomaly_enabled",
    "is_anomaly_check_nan_enabled",
    "set_anomaly_enabled",
]
__all__ += _kinds.__all__

def is_tensor(obj: object) -> _bool:
    """Whether it is a tensor.

    Arguments:
        obj: anything

    >>> mg.is_tensor(mg.zeros(2)), mg.is_tensor([0.0, 0.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def save(obj: _Any, f: _Any, pickle_module: _Any = None, pickle_protocol: _Any = None, _use_new_zipfile_serialization: _bool = True) -> None:
    """Writes tensors, numbers, text and containers of them (a model's `state_dict()`, …) to a file, a safetensors file, which takes the
    place of an older one in one step. See `micrograd_rs.serialization`.

    Arguments:
        obj: what is written
        f: the file, by its path or open
        pickle_module, pickle_protocol: of no effect

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> mg.save(mg.nn.Linear(2, 1).state_dict(), path)
    >>> list(mg.load(path))
    ['weight', 'bias']
    """
    from .serialization import save as write

    write(obj, f)


def load(
    f: _Any,
    map_location: _Any = None,
    pickle_module: _Any = None,
    *,
    weights_only: _bool | None = True,
    mmap: _bool | None = False,
    encoding: str | None = None,
) -> _Any:
    """What is in a file, copied to memory unless `mmap=True` maps it: one that `save` wrote, any safetensors file, PyTorch's `.pt`, NumPy's `.npy` and
    `.npz`. Nothing in it is executed. See `micrograd_rs.serialization`.

    Arguments:
        f: the file, by its path or open
        map_location: where tensors go
        pickle_module, weights_only, encoding: of no effect, see `serialization.load`
        mmap: whether tensors are read when they are looked at

    >>> import io
    >>> file = io.BytesIO()
    >>> mg.save({"weights": mg.tensor([1.0, 2.0]), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> mg.load(file)
    {'weights': tensor([1., 2.]), 'epoch': 3}
    """
    from .serialization import load as read

    return read(f, map_location, pickle_module, weights_only=weights_only, mmap=mmap)


def save_safetensors(tensors: _Mapping[str, Tensor], path: str | _os.PathLike[str], metadata: _Mapping[str, str] | None = None) -> None:
    """Writes named tensors to a safetensors file, with text as metadata; an older file is replaced in one step. (`save` writes numbers, text and
    containers, too.)

    Arguments:
        tensors: a dictionary of tensors by their names, which are text
        path: the file's path
        metadata: text by names that are text, which lies beside the tensors; None is none

    Errors: TypeError for what is no tensor under a name that is text; OSError for a file that cannot be written.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    >>> mg.save_safetensors({"a": mg.tensor([1.0, 2.0])}, path, {"by": "me"})
    >>> mg.load_safetensors(path)["a"].tolist()
    [1.0, 2.0]
    """
    from .safetensors import checked

    _rs.save_safetensors(checked("save_safetensors", tensors), path, None if metadata is None else dict(metadata))


def explain(*tensors: Tensor | _Sequence[Tensor]) -> Explanation:
    """The launches that computing some tensors would take: `print` shows a table, `launches` is a list of dictionaries, `svg()` a
    picture. Where values are known there are none. Nothing is computed.

    Arguments:
        tensors: one after the other, or in lists: what is wanted at once, such as a loss and its gradients

    Errors: TypeError for what is no tensor.

    >>> x = mg.ones(3)
    >>> len(mg.explain(x * 2 + 1))
    1
    """
    from ._names import no_tensor

    all_: list[Tensor] = []
    for each in tensors:
        for t in each if isinstance(each, (list, tuple)) else (each,):
            if not isinstance(t, Tensor):
                raise TypeError(f"explain: takes tensors, got {no_tensor(t)}")
            all_.append(t)
    return _rs.explain(*all_)


# A child of a fork has none of the parent's threads: nobody may be in the engine when it is made.
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(
        before=_rs._before_fork, after_in_parent=_rs._after_fork, after_in_child=_rs._after_fork
    )

# What is only needed by some is imported when it is first used; unknown names are answered with the nearest.
__getattr__ = _Lazy(__name__, (
        "_C",
        "accelerator",
        "array_api",
        "amp",
        "autograd",
        "backends",
        "compiler",
        "cpu",
        "cuda",
        "data",
        "distributed",
        "distributions",
        "engine",
        "func",
        "functional",
        "fx",
        "hub",
        "kernels",
        "jit",
        "linalg",
        "metrics",
        "multiprocessing",
        "nn",
        "npz",
        "onnx",
        "optim",
        "profiler",
        "random",
        "safetensors",
        "serialization",
        "signal",
        "special",
        "storage",
        "testing",
        "tokenizers",
        "types",
        "utils",
        "version",
    ),
    {
        **dict.fromkeys(
            (
                "cdouble", "cfloat", "chalf", "complex128", "complex32", "complex64", "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc",
                "sparse_csr",
            ),
            "_absent",
        ),
        **dict.fromkeys(("binomial", "histogramdd"), "_functions.counts"),
        **dict.fromkeys(
            (
                "adaptive_max_pool1d", "affine_grid_generator", "conv_tbc", "convolution", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d",
                "native_channel_shuffle",
            ),
            "_functions.images",
        ),
        **dict.fromkeys(
            (
                "batch_norm", "dropout", "dropout_", "embedding", "embedding_bag", "instance_norm", "native_dropout", "native_layer_norm",
            ),
            "_functions.layers",
        ),
        **dict.fromkeys(
            (
                "binary_cross_entropy_with_logits", "cosine_embedding_loss", "ctc_loss", "hinge_embedding_loss", "kl_div", "margin_ranking_loss",
                "poisson_nll_loss", "triplet_margin_loss",
            ),
            "_functions.losses",
        ),
        **dict.fromkeys(("empty_permuted", "from_file"), "_functions.making"),
        **dict.fromkeys(("frobenius_norm", "lu", "nuclear_norm"), "_functions.matrices"),
        **dict.fromkeys(
            (
                "conj_physical_", "detach", "detach_", "fill", "fill_", "is_complex", "is_conj", "is_inference", "is_neg", "is_nonzero",
                "is_same_size", "is_signed", "narrow_copy", "nonzero_static", "resize_as_", "to_dlpack", "unsafe_chunk", "unsafe_split",
                "unsafe_split_with_sizes", "zero_",
            ),
            "_functions.methods",
        ),
        **dict.fromkeys(("gru", "lstm", "rnn_relu", "rnn_tanh"), "_functions.recurrent"),
        **dict.fromkeys(("cond", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"), "_functions.symbols"),
        **dict.fromkeys(
            (
                "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
                "ShortTensor", "_assert", "are_deterministic_algorithms_enabled", "asarray", "empty_strided", "frombuffer", "get_autocast_cpu_dtype",
                "get_autocast_gpu_dtype", "get_deterministic_debug_mode", "get_device_module", "get_num_interop_threads", "is_autocast_cpu_enabled",
                "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
                "set_autocast_gpu_dtype", "set_default_tensor_type", "set_deterministic_debug_mode", "set_flush_denormal", "set_num_interop_threads",
                "set_warn_always", "typename", "use_deterministic_algorithms",
            ),
            "_legacy",
        ),
        **dict.fromkeys(("GradScaler", "autocast"), "amp"),
        **dict.fromkeys(("is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"), "autograd.anomaly_mode"),
        "compile": "compiler",
        "OutOfMemoryError": "cuda",
        "vmap": "func",
        "kernel": "kernels",
        "profile": "profiler",
        **dict.fromkeys(("TypedStorage", "UntypedStorage"), "storage"),
    },
    {"_foreach_": "_foreach"},
)
