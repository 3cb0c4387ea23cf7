"""Kernels that are text: CUDA C or PTX, launched on tensors."""

from __future__ import annotations

import os
import sys
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

from .._micrograd_rs import Tensor, _Raw, is_grad_enabled
from ..autograd.function import Function
from ._values import is_sequence, is_tuple, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["RawKernel", "raw"]

THREADS = 256


class RawKernel:
    """A kernel that is CUDA C or PTX text: `source`, and the name of its entry.

    The entry's parameters are the arguments of a call in their order (tensors as pointers to their first element; they lie densely;
    numbers as what the parameter is), then a pointer to each result. It reads its operands and writes its results, and nothing else.

    `outputs` says what the results are, from the arguments: a shape and a dtype, a tensor that one is like, or a list of these; without it there is one,
    like the first tensor. Several have one dtype. `grid` and `block` are blocks and threads, numbers or up to three of them, or functions of the arguments; without
    `grid`, one thread for each element of the first result. `shared` is dynamic shared memory in bytes, `options` are for the compiler.

    CUDA C is compiled by NVRTC when it is first called on a device, PTX is assembled by the driver. On the CPU, `host` is called instead: a function of the
    same arguments, which answers with the results.

    See `raw`.
    """

    def __init__(
        self,
        source: str,
        name: str,
        *,
        outputs: Any = None,
        grid: Any = None,
        block: Any = THREADS,
        shared: Any = 0,
        options: Sequence[str] = (),
        host: Callable[..., Any] | None = None,
    ) -> None:
        for what, value in (("source", source), ("name", name)):
            if kind_of(value) is not str:
                raise TypeError(f"the {what} of a kernel is text, not {kind_of(value).__name__}")
        self.name = name
        self.source = source
        self._outputs, self._grid, self._block, self._shared = outputs, grid, block, shared
        self._host = host
        self._gradient: Callable[..., Any] | None = None
        self._raw = _Raw(name, source, is_ptx(source), list(options), folders())
        if host is not None:
            update_wrapper(self, host)

    def gradient(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Says what the gradient is: a decorator. `function` takes the arguments and the gradient of each result, and answers with the gradient of
        each argument, None for numbers and for what has none.
        """
        self._gradient = function
        return function

    def ptx(self, capability: int = 75) -> str:
        """The text as PTX, for devices of this compute capability and newer ones."""
        return self._raw.ptx(capability)

    def __call__(self, *args: Any) -> Any:
        """The results for these arguments."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        if not tensors:
            raise TypeError(f"{self.name}() takes at least one tensor: it says where the kernel runs")
        if is_grad_enabled() and any(t.requires_grad for t in tensors):
            # On the host too, whose half could be differentiated: what is right there is right on a device.
            return _Launched.apply(self, *args)
        return self._run(args)

    def _run(self, args: tuple[Any, ...]) -> Any:
        tensors = [a for a in args if isinstance(a, Tensor)]
        if all(t.device.type == "cpu" for t in tensors):
            if self._host is None:
                raise RuntimeError(
                    f"{self.name}() is a kernel for CUDA devices, and its tensors are on the CPU: give it a host half, "
                    "RawKernel(..., host=function), or call it with tensors on a device"
                )
            answer = self._host(*args)
            if answer is None:
                raise TypeError(f"the host half of {self.name} answers with its results, got None")
            return answer
        results = self._results(args, tensors[0])
        block = self._sizes("block", self._block, args)
        grid = self._grid
        if grid is None:
            threads = block[0] * block[1] * block[2]
            count = 1
            for n in results[0][0]:
                count *= n
            grid = -(-count // threads) if threads > 0 else 0
        given: Any = self._shared
        shared: Any = given(*args) if callable(given) else given
        found = self._raw.launch(args, self._sizes("grid", grid, args), block, shared, results)
        return found[0] if len(found) == 1 else tuple(found)

    def _results(self, args: tuple[Any, ...], first: Tensor) -> list[tuple[Any, Any]]:
        """What the results are: their shapes and dtypes."""
        given: Any = self._outputs(*args) if callable(self._outputs) else self._outputs
        if given is None:
            given = first
        several: Any = given if is_sequence(given) and not (is_tuple(given) and len(given) == 2 and not _is_one(given[0])) else [given]
        results: list[tuple[Any, Any]] = []
        for one in several:
            if isinstance(one, Tensor):
                results.append((tuple(one.shape), one.dtype))
            elif is_tuple(one) and len(one) == 2 and (is_sequence(one[0]) or isinstance(one[0], int)):
                shape: Any = one[0]
                results.append(((shape,) if isinstance(shape, int) else tuple(shape), one[1]))
            else:
                text = f"outputs of {self.name} are (shape, dtype), a tensor, or a list of these"
                raise TypeError(f"{text}, not {kind_of(one).__name__}")
        return results

    def _sizes(self, what: str, given: Any, args: tuple[Any, ...]) -> tuple[int, int, int]:
        """Up to three numbers as three."""
        found: Any = given(*args) if callable(given) else given
        several: tuple[Any, ...] = tuple(found) if is_sequence(found) else (found,)
        if not 1 <= len(several) <= 3 or not all(isinstance(n, int) and 0 <= n < 2**32 for n in several):
            raise ValueError(f"the {what} of {self.name} is one to three numbers, not {found!r}")
        x, y, z = (*several, 1, 1)[:3]
        return int(x), int(y), int(z)

    def __repr__(self) -> str:
        return f"<kernel {self.name} ({'PTX' if is_ptx(self.source) else 'CUDA C'})>"

    def __reduce__(self) -> Any:
        # As a function is, by its name.
        name: str | None = getattr(self, "__qualname__", None)
        if name is None:
            raise TypeError(f"a kernel without a host half is not pickled: {self!r}")
        return name

    def __copy__(self) -> RawKernel:
        return self

    def __deepcopy__(self, memo: Any) -> RawKernel:
        return self


def _is_one(what: Any) -> bool:
    """Whether it stands for a whole result by itself."""
    return isinstance(what, Tensor) or (is_tuple(what) and len(what) == 2 and is_sequence(what[0]))


class _Launched(Function):
    """A call whose gradient is the user's."""

    @staticmethod
    def forward(ctx: Any, kernel: RawKernel, *args: Any) -> Any:
        ctx.kernel, ctx.numbers = kernel, [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*(a if isinstance(a, Tensor) else None for a in args))
        return kernel._run(args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        kernel: RawKernel = ctx.kernel
        if kernel._gradient is None:
            text = f"the kernel {kernel.name} was given no gradient: say what it is with @{kernel.name}.gradient"
            raise RuntimeError(text)
        saved: Any = zip(ctx.saved_tensors, ctx.numbers, strict=True)
        found: Any = kernel._gradient(*(number if t is None else t for t, number in saved), *gradients)
        return (None, *found) if is_tuple(found) else (None, found)


def raw(source: str, *, name: str | None = None, **how: Any) -> Callable[[Callable[..., Any]], RawKernel]:
    """Makes a `RawKernel` of the text, and of the function that follows as its half for the CPU: a decorator. The entry's name is the
    function's, unless `name` says another.

    >>> import micrograd_rs as mg
    >>> @mg.kernels.raw('''
    ... extern "C" __global__ void twice(const float* x, float* y) { … }
    ... ''')
    ... def twice(x):
    ...     return 2 * x
    >>> twice(mg.tensor([1.0, 2.0])).tolist()
    [2.0, 4.0]

    Arguments:
        source: the text
        how: what `RawKernel` takes besides
    """

    def made(host: Callable[..., Any]) -> RawKernel:
        return RawKernel(source, name or host.__name__, host=host, **how)

    return made


def is_ptx(source: str) -> bool:
    """Whether a text is PTX: its directives say so."""
    lines = [line.split("//")[0].strip() for line in source.splitlines()]
    return any(line.startswith(".version") for line in lines) or any(".entry" in line for line in lines)


def folders() -> list[str]:
    """Where Python packages put NVIDIA's compiler."""
    inside = (("nvidia", "cu13", "lib"), ("nvidia", "cuda_nvrtc", "lib"), ("nvidia", "cuda_nvrtc", "bin"))
    found = (os.path.join(place or ".", *path) for place in sys.path for path in inside)
    return [folder for folder in found if os.path.isdir(folder)]
