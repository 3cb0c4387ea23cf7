"""Several processes on one model, which is not here: `is_available()` and `is_initialized()` answer so, and programs that ask run as one process.
Everything else is a RuntimeError.

>>> import micrograd_rs as mg
>>> rank = mg.distributed.get_rank() if mg.distributed.is_available() and mg.distributed.is_initialized() else 0
"""

from __future__ import annotations

import sys
from enum import Enum
from types import ModuleType
from typing import Any, NoReturn

from ._names import Lazy as _Lazy

_ABSENT = (
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all", "barrier", "broadcast", "broadcast_object_list",
    "destroy_process_group", "gather", "get_backend", "get_rank", "get_world_size", "init_process_group", "irecv", "isend", "new_group", "recv",
    "reduce", "reduce_scatter", "scatter", "send",
)  # fmt: skip
__all__ = ["ProcessGroup", "ReduceOp", "is_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched"]


def is_available() -> bool:
    """False: there is one process."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


is_gloo_available = is_mpi_available = is_nccl_available = is_torchelastic_launched = is_available


class ReduceOp(Enum):
    """How PyTorch's processes put their tensors together: names that are written as defaults (`op=dist.ReduceOp.SUM`), and that nothing here takes."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


class ProcessGroup:
    """Several processes, for annotations: there is none, and to make one is a RuntimeError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _no_processes("ProcessGroup")


def _no_processes(name: str) -> NoReturn:
    raise RuntimeError(
        f"distributed.{name}: a model is trained by one process here; ask distributed.is_available(), which is False, and go on without: "
        "threads share its processor's cores, and larger batches are gradients accumulated"
    )


def _absent(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        _no_processes(name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "RuntimeError: there is one process."
    return function


for _name in _ABSENT:
    globals()[_name] = _absent(_name)

# `from torch.distributed import nn` and `import torch.distributed.nn.functional` find those that gradients go through, which are as absent.
for _name in ("nn", "nn.functional"):
    _module = ModuleType(f"{__name__}.{_name}", "What `distributed` has, as `torch.distributed.nn` does: RuntimeErrors.")
    vars(_module).update({function: globals()[function] for function in _ABSENT}, __getattr__=_Lazy(_module.__name__))
    sys.modules[_module.__name__] = _module
nn = sys.modules[f"{__name__}.nn"]
vars(nn)["functional"] = sys.modules[f"{__name__}.nn.functional"]

__getattr__ = _Lazy(__name__)
