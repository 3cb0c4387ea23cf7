"""Models as ONNX files, which other programs run.

>>> import io
>>> from micrograd_rs import nn, onnx, zeros
>>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
>>> file = io.BytesIO()
>>> onnx.export(model, (zeros(1, 4),), file, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "batch"}})[:2]
b'\\x08\\x08'
>>> file.getvalue()[:2]
b'\\x08\\x08'
"""

from __future__ import annotations

import enum
import inspect
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from .._micrograd_rs import ArgumentError, Tensor, _Exporter
from .._names import Lazy as _Lazy
from .._tree import flatten, tensors, unflatten
from ..autograd import no_grad
from ..nn.module import Module

if TYPE_CHECKING:
    from . import ops

__all__ = ["OPSET", "TrainingMode", "export", "is_in_onnx_export", "ops"]

__getattr__ = _Lazy(__name__, ("ops",))

OPSET = 18
"""The version of ONNX's operators that files are written in."""

_Axes = Mapping[int, str] | Sequence[int]


class TrainingMode(enum.Enum):
    """How `export` calls a module: as in use, as in training, or as its parts are set.

    >>> from micrograd_rs import nn, onnx, zeros
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).eval()
    >>> one, other = (onnx.export(model, (zeros(1, 2),), training=mode) for mode in (onnx.TrainingMode.EVAL, onnx.TrainingMode.PRESERVE))
    >>> one == other
    True
    """

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


# How many exports are under way in a thread.
_under_way = threading.local()


def is_in_onnx_export() -> bool:
    """Whether this thread is in a call of `export`, whose model asks.

    >>> from micrograd_rs.onnx import is_in_onnx_export
    >>> is_in_onnx_export()
    False
    """
    return bool(getattr(_under_way, "count", 0))


def export(
    model: Module | Callable[..., Any],
    args: Any = (),
    f: str | os.PathLike[str] | IO[bytes] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    verbose: bool = False,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes: Mapping[str, _Axes] | None = None,
    training: bool | TrainingMode = False,
    export_params: bool = True,
    do_constant_folding: bool = True,
) -> bytes:
    """Writes what a model makes of inputs like these to an ONNX file, and answers with its bytes.

    The model is called with stand-ins for all tensors in `args` (a tensor, or a tuple of arguments) and `kwargs`, in the
    mode for use unless `training`; what it has recorded is written in ONNX's operators. Other arguments are what they are.
    Parameters and buffers keep their names. Inputs have the names of `forward`'s arguments, unless `input_names` says
    others, one name each and none twice; results are `output_0`, … in the order in which they stand in what the model answers with.

    `dynamic_axes` leaves sizes open: `{"x": {0: "batch"}}` by names of inputs (those of results are found), or `{"x": [0]}`.
    Axes of one name have one size. The model is called with several sizes then, and whatever follows from an open size has to
    do so by sums and products.

    Raises ArgumentError for what ONNX has no operator for, random numbers, sizes that cannot be left open, names of inputs that are
    not there, a version of operators below 18, which is what is written, and beyond 2 GB.

    >>> from micrograd_rs import arange, onnx
    >>> len(onnx.export(lambda x: x * 2 + 1, (arange(3.0),))) > 50
    True

    Arguments:
        model: the module or function
        f: the file, by its path or open; none is written without it
        output_names: the names of results
        opset_version: as in PyTorch; no older one than is written
        training: whether the model is called as in training, or a `TrainingMode`
        export_params: True
        verbose: whether it says what it wrote
        do_constant_folding: of no effect
    """
    if opset_version is not None and opset_version < OPSET:
        raise ArgumentError(f"onnx.export: files are written in version {OPSET} of ONNX's operators, not {opset_version}")
    if not export_params:
        raise ArgumentError("onnx.export: a file without its parameters is not written")
    given = cast("tuple[Any, ...]", args if isinstance(args, tuple) else (args,))  # type: ignore[redundant-cast]
    leaves, spec = flatten([list(given), dict(kwargs or {})])
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    inputs = tensors([leaves[i] for i in at], "inputs")
    names = list(input_names) if input_names is not None else _names_of(model, given, kwargs or {}, len(at))
    mode = training if isinstance(training, TrainingMode) else TrainingMode.TRAINING if training else TrainingMode.EVAL
    module = model if isinstance(model, Module) else None
    named = [*module.named_parameters(), *module.named_buffers()] if module is not None else []
    open_sizes = _open(dynamic_axes or {}, names, list(output_names or ()))
    exporter = _Exporter(inputs, named, names, list(output_names or ()), open_sizes)
    modes = [(part, part.training) for part in module.modules()] if module is not None else []
    try:
        if module is not None and mode is not TrainingMode.PRESERVE:
            module.train(mode is TrainingMode.TRAINING)
        with no_grad():
            while (inside := exporter.begin()) is not None:
                filled = list(leaves)
                for i, stand_in in zip(at, inside, strict=True):
                    filled[i] = stand_in
                positional, by_name = unflatten(filled, spec)
                answer = _called(model, positional, by_name)
                exporter.end(tensors([leaf for leaf in flatten(answer)[0] if leaf is not None], "results"))
    except ArgumentError as error:
        if mode is TrainingMode.EVAL or "draws random numbers" not in str(error):
            raise
        text = f"onnx.export: the model draws random numbers in training, and was called so ({mode}): without `training` it is called in the mode for use"
        raise ArgumentError(text) from error
    finally:
        for part, before in modes:
            object.__setattr__(part, "training", before)
    data = exporter.finish()
    if isinstance(f, (str, os.PathLike)):
        with open(f, "wb") as file:
            file.write(data)
    elif f is not None:
        f.write(data)
    if verbose:
        print(f"{len(data)} bytes, inputs {', '.join(names)}")
    return data


def _called(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    _under_way.count = getattr(_under_way, "count", 0) + 1
    try:
        return model(*args, **kwargs)
    except ArgumentError as error:
        # Stand-ins have no values, as those of `vmap` have none.
        if "stands for many examples at once" not in str(error):
            raise
        text = (
            "onnx.export: the model reads a value of what it computes (`if x.sum() > 0`, `float(x)`, `x.item()`), and a graph has none: where(condition, a, b) "
            "chooses by values, and what depends on sizes alone (`if x.shape[0] > 1`) may stay"
        )
        raise ArgumentError(text) from error
    finally:
        _under_way.count -= 1


def _names_of(model: Any, given: tuple[Any, ...], kwargs: Mapping[str, Any], count: int) -> list[str]:
    """The names of a function's arguments, where each is one tensor."""
    try:
        bound = inspect.signature(getattr(model, "forward", model)).bind(*given, **kwargs)
    except (TypeError, ValueError):
        return [f"input_{i}" for i in range(count)]
    names: list[str] = []
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            names += list(value)
            continue
        inside = [leaf for leaf in flatten(value)[0] if isinstance(leaf, Tensor)]
        several = len(inside) > 1 or parameter.kind is inspect.Parameter.VAR_POSITIONAL
        names += [f"{name}_{i}" for i in range(len(inside))] if several else [name] * len(inside)
    return names if len(names) == count else [f"input_{i}" for i in range(count)]


def _open(axes: Mapping[str, _Axes], inputs: list[str], outputs: list[str]) -> list[tuple[int, int, str]]:
    """Open sizes: an input, its axis, and the size's name."""
    found: list[tuple[int, int, str]] = []
    for name, of in axes.items():
        if name not in inputs:
            # Sizes of results follow.
            if name in outputs or name.startswith("output_"):
                continue
            raise ArgumentError(f"onnx.export: dynamic_axes names {name!r}; the inputs are {', '.join(inputs)}")
        pairs = list(of.items()) if isinstance(of, Mapping) else [(axis, f"{name}_{axis}") for axis in of]
        found += [(inputs.index(name), axis, size) for axis, size in pairs]
    return found
