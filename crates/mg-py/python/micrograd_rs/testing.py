"""Comparisons that say what differs.

>>> import micrograd_rs as mg
>>> mg.testing.assert_close(mg.ones(2), mg.tensor([1.0, 1.0000001]))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ._micrograd_rs import Tensor, as_tensor, promote_types
from ._micrograd_rs import randint as _randint
from ._names import Lazy as _Lazy
from ._ops import rand

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

_CLOSE = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def _name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def _is(value: Any, kind: Any) -> bool:
    # Not a narrowing: what is in it is anything.
    return isinstance(value, kind)


def _compared(
    actual: Any, expected: Any, rtol: float | None, atol: float | None, equal_nan: bool, checks: dict[str, bool], path: str
) -> str | None:
    """What is wrong, or None."""
    where = f"\n\nThe failure occurred for item {path}" if path else ""
    pairs: list[tuple[str, Any, Any]]
    if _is(actual, Mapping) and _is(expected, Mapping):
        if set(actual) != set(expected):
            return f"The keys of the mappings do not match: {sorted(map(str, actual))} and {sorted(map(str, expected))}{where}"
        pairs = [(f"{path}[{key!r}]", actual[key], expected[key]) for key in actual]
    elif _is(actual, Sequence) and _is(expected, Sequence) and not _is(actual, str):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        pairs = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(actual, expected, strict=True))]
    else:
        wrong = _tensors(actual, expected, rtol, atol, equal_nan, checks)
        return None if wrong is None else wrong + where
    for inner, a, b in pairs:
        wrong = _compared(a, b, rtol, atol, equal_nan, checks, inner)
        if wrong is not None:
            return wrong
    return None


def _tensors(
    actual: Any, expected: Any, rtol: float | None, atol: float | None, equal_nan: bool, checks: dict[str, bool]
) -> str | None:
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}"
    numbers = not isinstance(actual, Tensor) and not isinstance(expected, Tensor)
    kind = _numbers_text if numbers else _tensors_text
    types = cast("list[type[Any]]", [type(actual), type(expected)])
    if checks["dtype"] and types[0] is not types[1] and all(each in (int, float) for each in types):
        return f"The (d)types do not match: {types[0]} != {types[1]}."
    a, b = as_tensor(actual).detach(), as_tensor(expected).detach()
    if numbers and (a.is_floating_point() or b.is_floating_point()):
        a, b = as_tensor(float(actual), dtype="float64"), as_tensor(float(expected), dtype="float64")
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {tuple(a.shape)} != {tuple(b.shape)}."
    if checks["device"] and a.device != b.device:
        return f"The values for attribute 'device' do not match: {a.device} != {b.device}."
    if checks["dtype"] and a.dtype != b.dtype and not numbers:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
    if checks["stride"] and a.stride() != b.stride():
        return f"The values for attribute 'stride()' do not match: {a.stride()} != {b.stride()}."
    if rtol is None or atol is None:
        bounds = [_CLOSE.get(_name(t.dtype), (0.0, 0.0)) for t in (a, b)]
        rtol, atol = max(r for r, _ in bounds), max(e for _, e in bounds)
    # Floats of eight bits are not computed with.
    a, b = (t.to("float32") if t.is_floating_point() and t.itemsize == 1 else t for t in (a, b))
    common = promote_types(a.dtype, b.dtype)
    a, b = a.to(common).to(b.device), b.to(common)
    far = ~a.isclose(b, rtol, atol, equal_nan)
    count = int(far.sum().item())
    if not count:
        return None
    return kind(a, b, far, count, rtol, atol)


def _numbers_text(a: Tensor, b: Tensor, far: Tensor, count: int, rtol: float, atol: float) -> str:
    """What to say of two numbers."""
    return f"Scalars are not close!\n\nExpected {b.item()} but got {a.item()}.\n(rtol {rtol}, atol {atol})"


def _tensors_text(a: Tensor, b: Tensor, far: Tensor, count: int, rtol: float, atol: float) -> str:
    """What to say of two tensors."""
    away = (a.double() - b.double()).abs()
    exact = rtol == 0 and atol == 0
    head = f"Tensor-likes are not {'equal' if exact else 'close'}!\n\nMismatched elements: {count} / {far.numel()} ({100 * count / far.numel():.1f}%)"
    share = away / b.double().abs()
    return (
        f"{head}\nGreatest absolute difference: {away.max().item()} (up to {atol} allowed)"
        f"\nGreatest relative difference: {share.max().item()} (up to {rtol} allowed)"
    )


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError where `|actual − expected| > atol + rtol · |expected|` somewhere, or shapes, dtypes or devices differ: of tensors,
    numbers, and sequences and mappings of them. Without tolerances those of the dtype hold. ValueError for one tolerance
    without the other.

    Arguments:
        actual, expected: what is compared
        allow_subclasses: of no effect
        rtol, atol: the tolerances
        equal_nan: whether NaN is close to NaN
        check_device, check_dtype, check_layout, check_stride: what has to be the same
        msg: what the error says, or a function of what it would

    >>> mg.testing.assert_close(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 2.0000001]))
    >>> try:
    ...     mg.testing.assert_close(mg.tensor([1.0]), mg.tensor([1.1]))
    ... except AssertionError:
    ...     print("not close")
    not close
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, but got rtol={rtol} and atol={atol}")
    checks = {"device": check_device, "dtype": check_dtype, "stride": check_stride}
    wrong = _compared(actual, expected, rtol, atol, equal_nan, checks, "")
    if wrong is not None:
        raise AssertionError(wrong if msg is None else msg(wrong) if callable(msg) else msg)


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:
    """As `assert_close`, of any dtypes and devices.

    Arguments:
        actual, expected: what is compared
        rtol, atol: the tolerances
        equal_nan: whether NaN is close to NaN
        msg: what the error says

    >>> mg.testing.assert_allclose(mg.tensor([1.0]), [1.0])
    """
    checks: Any = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "msg": msg or None}
    assert_close(actual, expected, check_device=False, check_dtype=False, **checks)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Random numbers from `low` up to `high`: −9 … 9 of floats, 0 … 1 of truth values, and what the dtype holds of −9 … 9 of integers. `memory_format` changes
    nothing.

    Arguments:
        shape: the sizes
        noncontiguous: whether it does not lie densely
        exclude_zero: whether zeros are replaced

    >>> x = mg.testing.make_tensor(2, 3, dtype=mg.float32, low=0, high=1)
    >>> x.shape, bool(((0 <= x) & (x < 1)).all())
    ((2, 3), True)
    """
    sizes: list[int] = list(shape[0]) if len(shape) == 1 and _is(shape[0], Sequence) else list(shape)
    if noncontiguous and sizes:
        sizes[-1] *= 2
    name = _name(dtype)
    if name == "bool":
        made = _randint(0, 2, sizes, dtype=dtype, device=device)
    elif "int" in name:
        least = int(low) if low is not None else 0 if name.startswith("u") else -9
        made = _randint(least, int(high) if high is not None else 10, sizes, dtype=dtype, device=device)
    else:
        bottom, top = -9.0 if low is None else low, 9.0 if high is None else high
        made = (rand(sizes, device=device) * (top - bottom) + bottom).to(dtype)
    if exclude_zero:
        made = made.masked_fill(made == 0, 1)
    if noncontiguous and sizes:
        made = made[..., ::2]
    return made.requires_grad_() if requires_grad else made


__getattr__ = _Lazy(__name__)
