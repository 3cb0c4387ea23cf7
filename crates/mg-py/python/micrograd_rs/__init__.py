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

from . import _micrograd_rs as _rs
from ._micrograd_rs import (
    MLP,
    Device,
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
    bfloat16,
    broadcast_shapes,
    can_cast,
    clear_autocast_cache,
    dtype,
    empty,
    empty_like,
    explain,
    eye,
    float16,
    float32,
    float64,
    from_dlpack,
    from_numpy,
    full,
    full_like,
    get_autocast_dtype,
    get_default_device,
    get_default_dtype,
    get_float32_matmul_precision,
    get_rng_state,
    initial_seed,
    int8,
    int16,
    int32,
    int64,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    is_grad_enabled,
    jit,
    linspace,
    load_safetensors,
    manual_seed,
    ones,
    ones_like,
    promote_types,
    rand_like,
    randint,
    randn_like,
    realize,
    result_type,
    save_safetensors,
    seed,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_default_device,
    set_default_dtype,
    set_float32_matmul_precision,
    set_rng_state,
    tensor,
    uint8,
    uint16,
    uint32,
    uint64,
    where,
    zeros,
    zeros_like,
)
from ._micrograd_rs import bool as bool
from ._dtypes import finfo, iinfo
from ._names import Lazy as _Lazy
from ._ops import *
from ._size import Size
from .autograd import enable_grad, inference_mode, is_inference_mode_enabled, no_grad, set_grad_enabled
from .random import default_generator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any as _Any

    from . import (
        amp,
        array_api,
        autograd,
        cuda,
        data,
        engine,
        func,
        functional,
        kernels,
        linalg,
        metrics,
        nn,
        npz,
        optim,
        profiler,
        random,
        safetensors,
        serialization,
        signal,
        special,
        utils,
    )
    from .amp import autocast
    from .func import vmap
    from .profiler import profile
    from .kernels import kernel

device = Device
asarray = as_tensor
double = float64
float = float32
half = float16
long = int64
int = int32
short = int16

__all__ = [
    "MLP",
    "Device",
    "Explanation",
    "Generator",
    "Jit",
    "Layer",
    "Neuron",
    "Size",
    "Tensor",
    "Value",
    "__version__",
    "amp",
    "arange",
    "array_api",
    "as_tensor",
    "asarray",
    "autocast",
    "autograd",
    "bfloat16",
    "broadcast_shapes",
    "can_cast",
    "cat",
    "clear_autocast_cache",
    "concat",
    "cuda",
    "data",
    "default_generator",
    "device",
    "double",
    "dtype",
    "empty",
    "empty_like",
    "enable_grad",
    "engine",
    "explain",
    "eye",
    "finfo",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "func",
    "functional",
    "get_autocast_dtype",
    "get_default_device",
    "get_default_dtype",
    "get_float32_matmul_precision",
    "get_rng_state",
    "half",
    "iinfo",
    "inference_mode",
    "initial_seed",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_autocast_cache_enabled",
    "is_autocast_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "jit",
    "kernel",
    "kernels",
    "linalg",
    "linspace",
    "load",
    "load_safetensors",
    "long",
    "manual_seed",
    "metrics",
    "nn",
    "no_grad",
    "npz",
    "ones",
    "ones_like",
    "optim",
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
    "seed",
    "serialization",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_float32_matmul_precision",
    "set_grad_enabled",
    "set_rng_state",
    "signal",
    "special",
    "stack",
    "tensor",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "utils",
    "vmap",
    "where",
    "zeros",
    "zeros_like",
]

def is_tensor(obj: object) -> _bool:
    """Whether it is a tensor."""
    return isinstance(obj, Tensor)


def save(obj: _Any, f: _Any) -> None:
    """Writes tensors, numbers, text and containers of them (a model's `state_dict()`, …) to a file, a safetensors file, which takes the
    place of an older one in one step. See `micrograd_rs.serialization`.
    """
    from .serialization import save as write

    write(obj, f)


def load(f: _Any, map_location: _Any = None, *, weights_only: _bool = True, mmap: _bool = False) -> _Any:
    """What is in a file: one that `save` wrote, any safetensors file, PyTorch's `.pt`, NumPy's `.npy` and `.npz`. Nothing in it is
    executed. See `micrograd_rs.serialization`.
    """
    from .serialization import load as read

    return read(f, map_location, weights_only=weights_only, mmap=mmap)


# A child of a fork has none of the parent's threads: nobody may be in the engine when it is made.
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(
        before=_rs._before_fork, after_in_parent=_rs._after_fork, after_in_child=_rs._after_fork
    )

# What is only needed by some is imported when it is first used; unknown names are answered with the nearest.
__getattr__ = _Lazy(__name__, (
        "array_api",
        "amp",
        "autograd",
        "cuda",
        "data",
        "engine",
        "func",
        "functional",
        "kernels",
        "linalg",
        "metrics",
        "nn",
        "npz",
        "optim",
        "profiler",
        "random",
        "safetensors",
        "serialization",
        "signal",
        "special",
        "utils",
    ),
    {"autocast": "amp", "profile": "profiler", "kernel": "kernels", "vmap": "func"},
)
