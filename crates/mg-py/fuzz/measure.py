"""Whether the reference is a measure of a program: it is run with PyTorch once more, and each of its operations is looked at, or done otherwise."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .program import Program
from .run import Library, Trace, execute
from .values import flat

#: What becomes of an operation: told the operation, its name without that of an overload, and its arguments, answers with its answer.
Through = Callable[[Any, str, tuple[Any, ...], dict[str, Any]], Any]


def through(program: Program, library: Library, each: Through) -> Trace:
    """Runs a program with PyTorch, each of whose operations is left to a function."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return each(func, func.overloadpacket.__name__, args, kwargs or {})

    with Mode():
        return execute(program, library)


#: The bounds of integer types.
BOUNDS = {
    **{f"int{bits}": (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0.0, 2.0**bits) for bits in (8, 16, 32, 64)},
}


def fits_integer(values: np.ndarray, dtype: str) -> bool:
    """Whether floats, without their fractions, are numbers of an integer type."""
    if dtype not in BOUNDS:
        return True
    low, high = BOUNDS[dtype]
    values = np.trunc(values)
    return bool(np.all((values >= low) & (values < high)))


def left_to_machine(program: Program, library: Library) -> bool:
    """Whether PyTorch converts a float to an integer type that it does not fit, or asks for the sign of NaN: what comes of that
    depends on the processor. (Our own reference does neither.)
    """
    if library.name != "torch":
        return False
    import torch

    found = False

    def each(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal found
        name = name.rstrip("_")
        source, target = None, None
        if name == "_to_copy":
            source, target = args[0], kwargs.get("dtype")
        elif name == "copy":
            source, target = args[1], args[0].dtype
        elif name in ("signbit", "copysign"):
            signed = args[-1]
            found |= isinstance(signed, torch.Tensor) and bool(torch.isnan(signed.detach()).any())
        if source is not None and target is not None and source.dtype.is_floating_point and not target.is_floating_point:
            found |= not fits_integer(source.detach().double().numpy(), str(target).rpartition(".")[2])
        return func(*args, **kwargs)

    through(program, library, each)
    return found


#: Products of matrices and vectors.
PRODUCTS = frozenset("mm addmm bmm baddbmm addbmm mv addmv dot vdot addr convolution convolution_backward".split())


def overflows(program: Program, library: Library) -> bool:
    """Whether a sum of products of finite numbers goes beyond the largest with PyTorch: a product that is rounded before it is added is
    infinite sooner than one that is not, and two such are no number.
    """
    if library.name != "torch":
        return False
    import torch

    found = False

    def each(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal found
        answer = func(*args, **kwargs)
        if name in PRODUCTS:
            given = [a for a in args if isinstance(a, torch.Tensor)]
            made = [a for a in (answer if isinstance(answer, tuple) else (answer,)) if isinstance(a, torch.Tensor)]
            finite = all(bool(a.detach().isfinite().all()) for a in given)
            found |= finite and not all(bool(a.detach().isfinite().all()) for a in made)
        return answer

    through(program, library, each)
    return found


def results(func: Any, name: str, answer: Any) -> list[tuple[int | None, Any]]:
    """The tensors of floats that an operation has computed, and which of its results they are."""
    import torch

    told = func._schema.returns
    found: list[tuple[int | None, Any]] = []
    for at, kind in enumerate(told):
        t = answer if len(told) == 1 else answer[at]
        computed = kind.alias_info is None or kind.alias_info.is_write and name not in ("copy_", "fill_", "zero_")
        if computed and isinstance(t, torch.Tensor) and t.is_floating_point() and not t._is_zerotensor():
            found.append((None if len(told) == 1 else at, t))
    return found


#: Operations that make, convert or move numbers.
MADE = frozenset("_to_copy copy empty_like zeros_like ones_like full_like rand_like randn_like bernoulli native_dropout".split())


def unrounded(program: Program, library: Library) -> Trace:
    """Runs a program with PyTorch, each operation being computed in float64 and its answer rounded once to the dtype that it has: what a
    kernel rounds, or lets overflow, on its way is left out.
    """
    import torch

    def wide(value: Any, integers: bool = False) -> Any:
        if isinstance(value, torch.Tensor):
            return value.double() if value.is_floating_point() or integers else value.clone()
        if isinstance(value, (list, tuple)):
            return type(value)(wide(item, integers) for item in value)
        return value

    def each(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensors = [a for a in flat(args) if isinstance(a, torch.Tensor)]
        # Integers become floats of the default dtype where a function has no other answer.
        integers = len(tensors) == 1 and not tensors[0].is_floating_point() and tensors[0].dtype != torch.bool
        narrow = integers or any(a.is_floating_point() and a.dtype != torch.float64 for a in tensors)
        again: list[Any] = []
        if narrow and name.rstrip("_") not in MADE and not any(kind.alias_info and not kind.alias_info.is_write for kind in func._schema.returns):
            # Before the operation itself, which may overwrite its operands.
            try:
                exact = func(*wide(args, integers), **{key: wide(value) for key, value in kwargs.items()})
                again = [t.clone() if isinstance(t, torch.Tensor) else t for t in (exact if isinstance(exact, (list, tuple)) else (exact,))]
            except (RuntimeError, TypeError, NotImplementedError):
                pass
        answer = func(*args, **kwargs)
        if again:
            for at, t in results(func, name, answer):
                better = again[at or 0]
                if isinstance(better, torch.Tensor) and t.is_floating_point() and better.shape == t.shape and better.dtype == torch.float64:
                    t.copy_(better)
        return answer

    return through(program, library, each)


def composed(program: Program, library: Library) -> Trace:
    """Runs a program with PyTorch, where what is composed of several operations here is composed of the same: an infinite gradient that comes
    by two ways is no number then, and may be infinite where a kernel adds the slopes first.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    def lerp(start: Any, end: Any, weight: Any) -> Any:
        weight = torch.as_tensor(weight, dtype=start.dtype)
        apart = end - start
        return torch.where(weight.abs() < 0.5, start + weight * apart, end - apart * (1 - weight))

    def log_add(a: Any, b: Any, rest: Callable[[Any], Any]) -> Any:
        dtype = torch.result_type(a, b)
        # Half types are computed in float32.
        a, b = (x.to(torch.promote_types(dtype, torch.float32)) for x in (a, b))
        below = a < b
        large, small = torch.where(below, b, a), torch.where(below, a, b)
        return (large + rest(small - large)).to(dtype)

    instead: dict[str, Callable[..., Any]] = {
        "lerp": lerp,
        "logaddexp": lambda a, b: log_add(a, b, torch.nn.functional.softplus),
        "logaddexp2": lambda a, b: log_add(a, b, lambda apart: apart.exp2().log1p() / math.log(2.0)),
        "mish": lambda x: x * torch.nn.functional.softplus(x).tanh(),
        "silu": lambda x: x * x.sigmoid(),
        "hardswish": lambda x: x * torch.nn.functional.hardtanh(x + 3, 0.0, 6.0) / 6,
    }

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            other = instead.get(getattr(func, "__name__", ""))
            plain = other is not None and not any(kwargs.values())
            return other(*args) if plain and other is not None else func(*args, **kwargs)

    with Mode():
        return execute(program, library)


#: How a line asks for a dtype that is narrower than float64.
NARROW = re.compile(r"\bL\.(float16|bfloat16|float32|half|float)\b")


def widened(program: Program, library: Library) -> Trace:
    """Runs a program with PyTorch, all of whose floats are float64."""
    import torch

    lines = [re.sub(r"\.(half|float|bfloat16)\(\)", ".double()", NARROW.sub("L.float64", line)) for line in program.lines]
    torch.set_default_dtype(torch.float64)
    try:
        return execute(program.with_lines(lines), library)
    finally:
        torch.set_default_dtype(torch.float32)


#: How far rounded numbers are moved: a few units in the last place.
UNITS = {"float64": 2.0**-49, "float32": 2.0**-21, "float16": 2.0**-9, "bfloat16": 2.0**-6}


#: Operations that are computed by series, to fewer places.
SERIES = frozenset("digamma lgamma polygamma erfinv i0 special_i0e special_i1 special_i1e special_zeta logaddexp logaddexp2".split())


#: What LAPACK computes: a matrix that is off by some units in the last place of its largest element has the same answer, as far as can be told.
NEARBY = frozenset(
    """_linalg_svd linalg_pinv linalg_eigh _linalg_eigh linalg_inv_ex linalg_lu_factor_ex linalg_lu _linalg_det _linalg_slogdet
    _linalg_solve_ex linalg_qr linalg_lstsq linalg_cholesky_ex""".split()
)


#: Operations whose means and deviations are rounded, whatever they are: the mean is multiplied by the deviation before it is subtracted.
NORMS = frozenset("native_layer_norm native_batch_norm native_group_norm _native_batch_norm_legit _fused_rms_norm".split())


#: Operations that choose between numbers, where 0 and -0 are equal.
EXTREMES = frozenset(
    "relu clamp clamp_min clamp_max maximum minimum max min amax amin fmax fmin hardtanh threshold softshrink".split()
)


#: And those that add numbers, where 0 and -0 are added in some order.
ZEROS = EXTREMES | PRODUCTS | NEARBY | {"sum"}


def shaken(program: Program, library: Library, seed: int, signs: bool = False) -> Trace:
    """Runs a program with PyTorch, each rounded number that an operation answers with being moved by some units in the last place; or
    zeros alone having either sign where that is left to the order of work.
    """
    import torch

    rng = np.random.default_rng(seed)

    def each(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name in NEARBY and args[0].is_floating_point() and not signs:
            # The answer is that of a matrix nearby.
            a = args[0].detach()
            far = a.abs().amax().nan_to_num(0.0, 0.0, 0.0) if a.numel() else 0.0
            off = torch.tensor(rng.uniform(-1.0, 1.0, tuple(a.shape))).to(a.dtype) * far * UNITS[str(a.dtype)[6:]]
            args = (args[0] + off, *args[1:])
        answer = func(*args, **kwargs)
        for _, t in results(func, name, answer):
            if name.rstrip("_") in (EXTREMES if not signs else ZEROS):
                # Which zero is the larger one is left to the processor.
                t.copy_(torch.where((t == 0) & torch.tensor(rng.random(tuple(t.shape)) < 0.5), -t, t))
            if signs:
                continue
            # Multiples of small powers of two are taken for exact, as far as the dtype has them.
            # Beyond so much there are no quarters.
            unit = UNITS[str(t.dtype)[6:]]
            fine = min(4096, int(0.0625 / unit))
            # Nor does a number tell whether it was rounded to such a multiple where it has no finer ones.
            far = min(2.0**-4 / unit, 8 / (unit * fine))
            rounded = ((t * fine != (t * fine).round()) | (t.abs() > far) | (name in NORMS)) & t.isfinite()
            if rounded.any():
                way = torch.tensor(rng.choice((-1.0, 1.0), tuple(t.shape)))
                size = t.double().abs()
                if name.rstrip("_") in SERIES:
                    size = 16 * size.clamp(min=0.25)
                moved = t + way * size * unit
                # What is nearly 0 might as well be 0, or another whole number.
                gone = ((t - t.round()).abs() < 1e-5) & torch.tensor(rng.random(tuple(t.shape)) < 0.3)
                t.copy_(torch.where(rounded, torch.where(gone, t.round(), moved).to(t.dtype), t))
        return answer

    return through(program, library, each)


def with_poles(program: Program, library: Library) -> Trace:
    """Runs a program with PyTorch where the derivative of digamma is infinite at its poles: PyTorch's sine of -2 pi is not quite 0."""
    import torch

    def each(func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        at = args[1] if name in ("polygamma", "special_polygamma") and args[0] == 1 else None
        if name == "polygamma_" and args[1] == 1:
            at = args[0].clone()
        pole = (at <= 0) & (at == at.floor()) if at is not None else None
        answer = func(*args, **kwargs)
        if pole is not None:
            answer.masked_fill_(pole, float("inf"))
        return answer

    return through(program, library, each)
