"""Runs a sample with one of the libraries."""

from __future__ import annotations

from .inputs import FLOATS, flat, make, weights

DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool"]


def name_of(dtype) -> str:
    return str(dtype).split(".")[-1] if "." in str(dtype) else dtype.name


def value(part):
    """An answer as JSON has it."""
    if not hasattr(part, "dtype"):
        return {"number": part if isinstance(part, (bool, int, float)) else str(part)}
    detached = part.detach()
    if detached.dtype.is_floating_point:
        numbers = (detached + 0).double().flatten().tolist()  # with 0, for what PyTorch only says is zeros
    else:
        numbers = detached.flatten().tolist()
    return {"dtype": name_of(part.dtype), "shape": list(part.shape), "values": numbers}


def gradients(L, outputs, inputs, seed, create_graph):
    """The gradients of weighed outputs, `None` where there is none; `None` for all where nothing can be differentiated."""
    total = None
    for number, part in enumerate(outputs):
        if not hasattr(part, "dtype") or not part.requires_grad:
            continue
        weight = L.tensor(weights(part.numel(), seed + number), dtype=part.dtype, device=part.device).reshape(part.shape)
        term = (part * weight).sum()
        total = term if total is None else total + term
    if total is None:
        return None
    return L.autograd.grad(total, inputs, create_graph=create_graph, allow_unused=True)


def evaluate(L, F, expression: str, order: int = 2, device: str = "cpu") -> dict:
    """The answer of an expression in float64, and its gradients up to an order (fewer where there are none)."""
    names = make(L, F, device=device)
    outputs = flat(eval(expression, names))  # noqa: S307 - our own samples
    result: dict = {"answer": [value(part) for part in outputs], "gradients": []}
    # A sample may write into its operands: it does so to clones, and leaves are what gradients are taken of.
    used = [name for name in FLOATS if hasattr(names[name], "requires_grad") and names[name].is_leaf]
    inputs = [names[name] for name in used]
    for step in range(order):
        found = gradients(L, outputs, inputs, 99 + step, create_graph=True)
        if found is None:
            break
        result["gradients"].append({n: value(g)["values"] for n, g in zip(used, found) if g is not None and any_value(g)})
        outputs = [g for g in found if g is not None]
    return result


def any_value(gradient) -> bool:
    """Whether a gradient is anything but zeros: whether zeros are there or absent is not a difference."""
    return any(number != 0 for number in (gradient.detach() + 0).flatten().tolist())


def dtypes(L, F, expression: str, device: str = "cpu") -> dict:
    """What the operation answers for operands of each dtype: the dtypes, or that it is an error."""
    found = {}
    for dtype in DTYPES:
        try:
            names = make(L, F, dtype=dtype, device=device, grad=False)
            answers = [value(part) for part in flat(eval(expression, names))]  # noqa: S307
            found[dtype] = [a.get("dtype", "number") for a in answers]
        except Exception:  # noqa: BLE001 - that it is refused is what is wanted
            found[dtype] = "error"
    return found


def within_autocast(L, F, expression: str, dtype: str, device: str = "cpu") -> list[str]:
    """The dtypes of the answers for float operands of a dtype, in a region of mixed precision in bfloat16."""
    names = make(L, F, dtype=dtype, device=device, grad=False)
    with L.autocast(device, dtype=L.bfloat16):
        parts = flat(eval(expression, names))  # noqa: S307
    return [name_of(part.dtype) if hasattr(part, "dtype") else "number" for part in parts]
