"""NumPy's functions of tensors: those of elements (`numpy.sqrt(t)`, `array * t`), and all others."""

from __future__ import annotations

from typing import Any

from . import _ops
from ._micrograd_rs import Tensor, from_numpy, tensor

# NumPy's name, and Python's for the operator from the right.
_REFLECTED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "true_divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "remainder": "__rmod__",
    "power": "__rpow__",
    "matmul": "__rmatmul__",
    "bitwise_and": "__rand__",
    "bitwise_or": "__ror__",
    "bitwise_xor": "__rxor__",
    "left_shift": "__rlshift__",
    "right_shift": "__rrshift__",
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
}
_OURS = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "conjugate": "conj",
    "fabs": "abs",
    "invert": "bitwise_not",
    "rint": "round",
}


def _array(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    if value.requires_grad:
        raise RuntimeError("an array of a tensor that requires a gradient would lose it: use t.detach()")
    return value.cpu().numpy()


def called(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """What a function of NumPy's answers with operands of which one is a tensor."""
    name: str = ufunc.__name__
    if method == "__call__" and not kwargs:
        if len(inputs) == 2 and not isinstance(inputs[0], Tensor) and name in _REFLECTED:
            return getattr(inputs[1], _REFLECTED[name])(inputs[0])
        ours = getattr(_ops, _OURS.get(name, name), None)
        if ours is not None:
            operands = [from_numpy(x) if type(x).__module__ == "numpy" and hasattr(x, "shape") and x.shape else x for x in inputs]
            try:
                return ours(*operands)
            except TypeError:
                # Where NumPy takes a number some of ours take tensors alone.
                like = next(x for x in operands if isinstance(x, Tensor))
                if not any(isinstance(x, (int, float)) for x in operands):
                    raise
                return ours(*(tensor(x, dtype=like.dtype, device=like.device) if isinstance(x, (int, float)) else x for x in operands))
    out = kwargs.get("out") if kwargs else None
    options = dict(kwargs or {})
    if out is not None:
        options["out"] = tuple(_array(x) for x in out)
    if "where" in options:
        options["where"] = _array(options["where"])
    made = getattr(ufunc, method)(*(_array(x) for x in inputs), **options)
    if out is not None:
        return out[0] if len(out) == 1 else out
    if isinstance(made, tuple):
        return tuple(from_numpy(part) for part in made)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return from_numpy(made) if getattr(made, "shape", ()) else made


# What is made of a tensor's shape and dtype alone has no gradient.
_OF_SHAPES = frozenset({"empty_like", "full_like", "ones_like", "zeros_like"})


def _wants_gradient(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.requires_grad
    return isinstance(value, (tuple, list)) and any(_wants_gradient(part) for part in value)  # pyright: ignore[reportUnknownVariableType]


def _is_of_floats(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_is_of_floats(part) for part in value)  # pyright: ignore[reportUnknownVariableType]
    return not isinstance(value, Tensor) and getattr(getattr(value, "dtype", None), "kind", "") == "f"


# By NumPy's name: ours, how many operands it takes by position, and NumPy's names of what it takes besides, each with our name and which values are
# ours, too. Whatever else is given is NumPy's own affair.
_AXIS: dict[str, tuple[str, type]] = {"axis": ("dim", int)}
_TWINS: dict[str, tuple[str, range, dict[str, tuple[str, type]]]] = {
    "concatenate": ("cat", range(1, 2), _AXIS),
    "stack": ("stack", range(1, 2), _AXIS),
    "where": ("where", range(3, 4), {}),
    "einsum": ("einsum", range(2, 64), {}),
    "sort": ("sort", range(1, 2), _AXIS),
    "linalg.cholesky": ("cholesky", range(1, 2), {}),
    "linalg.det": ("det", range(1, 2), {}),
    "linalg.eigh": ("eigh", range(1, 2), {"UPLO": ("UPLO", str)}),
    "linalg.eigvalsh": ("eigvalsh", range(1, 2), {"UPLO": ("UPLO", str)}),
    "linalg.inv": ("inv", range(1, 2), {}),
    "linalg.pinv": ("pinv", range(1, 2), {}),
    "linalg.qr": ("qr", range(1, 2), {}),
    "linalg.slogdet": ("slogdet", range(1, 2), {}),
    "linalg.solve": ("solve", range(2, 3), {}),
    "linalg.svd": ("svd", range(1, 2), {"full_matrices": ("full_matrices", bool)}),
}


def _ours_of(value: Any) -> Any:
    """Arrays among operands as tensors."""
    if isinstance(value, (tuple, list)):
        return [_ours_of(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
    shape: Any = getattr(value, "shape", None)
    return from_numpy(value) if type(value).__module__ == "numpy" and shape else value


def _twin(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ours answers with in the place of a function of NumPy's; None where there is none that takes what is given."""
    where = func.__module__.removeprefix("numpy").removeprefix(".")
    ours, counts, names = _TWINS.get(f"{where}.{func.__name__}".removeprefix("."), ("", range(0), {}))
    if len(args) - 1 in counts and "axis" in names and type(args[-1]) is int:
        args, kwargs = args[:-1], {"axis": args[-1], **kwargs}
    if len(args) not in counts or any(name not in names or type(value) is not names[name][1] for name, value in kwargs.items()):
        return None
    if func.__name__ == "solve" and len(args[1].shape) != 1 and len(args[1].shape) != len(args[0].shape):
        # NumPy's has another rule for what is a stack of vectors.
        return None
    options = {names[name][0]: value for name, value in kwargs.items()}
    import micrograd_rs as mg

    made = getattr(mg.linalg if where == "linalg" else mg, ours)(*(_ours_of(value) for value in args), **options)
    return made[0] if ours == "sort" else made


def of_arrays(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What another function of NumPy's answers with: ours where there is one, and else its own, which calls tensors' methods or reads their numbers; in
    which case no gradient would come back."""
    made = _twin(func, args, kwargs)
    if made is not None:
        return made
    made = func._implementation(*args, **kwargs)
    wants = _wants_gradient(args) or _wants_gradient(tuple(kwargs.values()))
    if wants and func.__name__ not in _OF_SHAPES and _is_of_floats(made):
        raise RuntimeError(f"numpy.{func.__name__} of a tensor that requires a gradient would lose it: use t.detach()")
    return made
