"""Modules of several devices, of which there is one here."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from .._names import Lazy as _Lazy
from .module import Module

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


class DataParallel(Module):
    """A module `module` in a module: on one device, which is what there is, its calls are that module's.

    >>> model = mg.nn.DataParallel(mg.nn.Linear(2, 1))
    >>> model(mg.ones(5, 2)).shape, list(model.state_dict())
    ((5, 1), ['module.weight', 'module.bias'])

    Arguments:
        module: the module that is called
        device_ids: a list of no or one device, which is not looked at: the module stays where it is; None: the same
        output_device: of no effect
        dim: of no effect

    Errors: ValueError where `device_ids` names several devices.
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError(f"a module is on one device here, got {list(device_ids)}")
        self.module = module
        self.dim = dim
        self.device_ids = list(device_ids or [])
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of the arguments.

        Arguments:
            inputs: what the module is called with
            kwargs: what the module is called with by name
        """
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """What a module makes of inputs, on the one device that there is.

    Arguments:
        module: the module that is called
        inputs: what it is called with: one argument, or a tuple of them
        device_ids: a list of no or one device, which is not looked at; None: the same
        output_device: of no effect
        dim: of no effect
        module_kwargs: what the module is called with by name

    Errors: ValueError where `device_ids` names several devices.

    >>> from micrograd_rs import nn, ones
    >>> nn.parallel.data_parallel(nn.Linear(2, 3), ones(4, 2)).shape
    (4, 3)
    """
    given: tuple[Any, ...] = inputs if isinstance(inputs, tuple) else (inputs,)  # pyright: ignore[reportUnknownVariableType]
    return DataParallel(module, device_ids, output_device, dim)(*given, **(module_kwargs or {}))


class DistributedDataParallel(Module):
    """RuntimeError, whatever it is called with: a model is trained by one process (see `distributed`).

    Arguments:
        module: a module
        args: anything
        kwargs: anything
    """

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "DistributedDataParallel: a model is trained by one process here: use the module itself where distributed.is_initialized() is False, "
            "as it is"
        )


class _Part(ModuleType):
    """`nn.parallel.data_parallel` and `nn.parallel.distributed`, as PyTorch has them: they have what is here."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules[__name__], name)


for _part in ("data_parallel", "distributed"):
    sys.modules[f"{__name__}.{_part}"] = _Part(f"{__name__}.{_part}", f"What `nn.parallel` has, as `torch.nn.parallel.{_part}` does.")

__getattr__ = _Lazy(__name__)
