"""Expressions of operations whose arguments have to fit one another: shapes of products, positions along an axis, windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .draw import Draw
from .operations import KNOWN, Maker, Operation, fits, position

Shape = tuple[int, ...]


def argued(*names: str, exact: bool = False, weight: float = 0.6, place: str = "tensor") -> Callable[[Maker], Maker]:
    """An entry for some names of a place, drawn where the reference has the first."""

    def keep(make: Maker) -> Maker:
        operation = Operation(names[0], make, exact, weight, place)
        for name in names:
            # A function of networks may be called as one that tensors have.
            KNOWN[name if place == "tensor" else f"{place}.{name}"] = operation
        return make

    return keep


def method(d: Draw, x: str, name: str, arguments: str) -> str:
    """A call of a method; in place now and then, where there is such a twin."""
    t = d[x]
    twin = hasattr(t, name + "_") and not (t.requires_grad and t.is_leaf) and d.chance(0.25)
    return f"{x}.{name}{'_' if twin else ''}({arguments})"


def like(d: Draw, x: str, shape: Shape) -> str:
    """A tensor of a shape and of the dtype of `x`: one that is there, or numbers."""
    there = d.tensors(lambda t: tuple(t.shape) == shape and t.dtype == d[x].dtype)
    return d.one(there) if there and d.chance(0.7) else d.tensor(shape, d.dtype(x))


def matrix(d: Draw) -> str | None:
    return d.pick(lambda t: t.ndim == 2 and not str(t.dtype).endswith("bool"))


def axis(d: Draw, t: Any) -> int:
    return d.rng.randrange(-t.ndim, t.ndim)


def positions(d: Draw, size: int, n: int, distinct: bool = False) -> list[int]:
    if distinct:
        return d.rng.sample(range(size), min(n, size))
    return [d.rng.randrange(size) for _ in range(n)]


def table(d: Draw, shape: Shape, size: int) -> str:
    """Positions in a shape."""
    if not shape:
        return str(d.rng.randrange(size))
    return "[" + ", ".join(table(d, shape[1:], size) for _ in range(shape[0])) + "]"


# Products with something added.


@argued("addcmul", "addcdiv", "addcmul_", "addcdiv_")
def _(d: Draw) -> str | None:
    x = d.float_tensor()
    if not x:
        return None
    shape = tuple(d[x].shape)
    fitting = d.tensors(lambda t: fits(tuple(t.shape), shape) and d.is_float(t))
    name = d.one(("addcmul", "addcdiv"))
    value = d.one(("", ", value=2", ", value=-0.5"))
    return method(d, x, name, f"{d.one(fitting)}, {d.one(fitting)}{value}")


def scales(d: Draw, x: str) -> str:
    whole = ("", "", ", beta=2", ", alpha=2", ", beta=0")
    return d.one((*whole, ", beta=0.5, alpha=-1") if d.is_float(d[x]) else whole)


@argued("addmm", "addmm_")
def _(d: Draw) -> str | None:
    x = matrix(d)
    if not x:
        return None
    (n, m), k = d[x].shape, d.rng.randint(0, 3)
    return method(d, x, "addmm", f"{like(d, x, (n, k))}, {like(d, x, (k, m))}{scales(d, x)}")


@argued("addmv", "addmv_", weight=0.3)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 1 and not str(t.dtype).endswith("bool"))
    if not x:
        return None
    n, k = d[x].shape[0], d.rng.randint(0, 3)
    return method(d, x, "addmv", f"{like(d, x, (n, k))}, {like(d, x, (k,))}{scales(d, x)}")


@argued("addr", "addr_", weight=0.3)
def _(d: Draw) -> str | None:
    x = matrix(d)
    if not x:
        return None
    n, m = d[x].shape
    return method(d, x, "addr", f"{like(d, x, (n,))}, {like(d, x, (m,))}{scales(d, x)}")


@argued("baddbmm", "addbmm", "baddbmm_", "addbmm_", "bmm")
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 3 and not str(t.dtype).endswith("bool"))
    if not x:
        return None
    (b, n, m), k = d[x].shape, d.rng.randint(0, 3)
    how = d.rng.random()
    if how < 0.4:
        return f"{x}.bmm({like(d, x, (b, m, k))})"
    if how < 0.7:
        return method(d, x, "baddbmm", f"{like(d, x, (b, n, k))}, {like(d, x, (b, k, m))}{scales(d, x)}")
    return method(d, x, "addbmm", f"{like(d, x, (2, m, k))}, {like(d, x, (2, k, n))}{scales(d, x)}") if n == m else None


@argued("lerp", "lerp_")
def _(d: Draw) -> str | None:
    x = d.float_tensor()
    if not x:
        return None
    shape = tuple(d[x].shape)
    ends = d.tensors(lambda t: fits(tuple(t.shape), shape) and t.dtype == d[x].dtype)
    return method(d, x, "lerp", f"{d.one(ends)}, {d.one(('0.25', '0.5', '1.5', d.one(ends)))}")


@argued("outer", "ger", "vdot", "mv", exact=True)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 1)
    if not x:
        return None
    alike = d.tensors(lambda t: t.ndim == 1 and t.dtype == d[x].dtype)
    same = d.tensors(lambda t: t.shape == d[x].shape and t.dtype == d[x].dtype)
    known = d.tensors(lambda t: t.ndim == 2 and t.shape[1] == d[x].shape[0] and t.dtype == d[x].dtype)
    mv = f"{d.one(known)}.mv({x})" if known else f"{x}.outer({x})"
    return d.one((f"{x}.outer({d.one(alike)})", f"{x}.ger({d.one(alike)})", f"{x}.vdot({d.one(same)})", mv))


@argued("cross", weight=0.4, exact=True)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: 3 in tuple(t.shape) and not str(t.dtype).endswith("bool"))
    return x and f"{x}.cross({like(d, x, tuple(d[x].shape))}, dim={tuple(d[x].shape).index(3)})"


# Positions.


@argued("index_add", "index_copy", "index_fill", "index_add_", "index_copy_", "index_fill_", "index_reduce", "index_reduce_", exact=True)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and t.numel() > 0)
    if not x:
        return None
    dim = axis(d, d[x])
    name = d.one(("index_add", "index_copy", "index_fill"))
    at = positions(d, d[x].shape[dim], d.rng.randint(1, 3), name != "index_add")
    if name == "index_fill":
        return method(d, x, name, f"{dim}, L.tensor({at}), {d.number(d.dtype(x))}")
    shape = list(d[x].shape)
    shape[dim] = len(at)
    more = d.one(("", ", alpha=2")) if name == "index_add" and d.dtype(x) != "bool" else ""
    return method(d, x, name, f"{dim}, L.tensor({at}), {like(d, x, tuple(shape))}{more}")


@argued("scatter", "scatter_", "scatter_add_", "scatter_reduce", "scatter_reduce_", exact=True)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: 0 < t.ndim < 4 and t.numel() > 0)
    if not x:
        return None
    dim = axis(d, d[x]) % d[x].ndim
    size = d[x].shape[dim]
    shape = tuple(min(s, 2) if k != dim else d.rng.randint(1, size) for k, s in enumerate(d[x].shape))
    if d.chance(0.5):
        at = table(d, shape, size)
        reduce = d.one(("sum", "amax", "amin", "prod", "mean")) if d.is_float(d[x]) else "sum"
        more = d.one(("", ", include_self=False"))
        source = like(d, x, shape)
        if d.chance(0.4):
            return method(d, x, "scatter_add", f"{dim}, L.tensor({at}), {source}")
        return method(d, x, "scatter_reduce", f"{dim}, L.tensor({at}), {source}, '{reduce}'{more}")
    # Which of several is written to one place is not told.
    ones = tuple(1 if k == dim else s for k, s in enumerate(shape))
    index = f"L.full({ones}, {d.rng.randrange(size)})"
    value = d.number(d.dtype(x)) if d.chance(0.5) else like(d, x, ones)
    return method(d, x, "scatter", f"{dim}, {index}, {value}")


@argued("take", "take_along_dim", "put", "put_", exact=True)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and t.numel() > 0)
    if not x:
        return None
    n = d[x].numel()
    how = d.rng.random()
    if how < 0.4:
        return f"{x}.take(L.tensor({table(d, d.one(((), (2,), (1, 3))), n)}))"
    if how < 0.7:
        at = positions(d, n, d.rng.randint(1, 3), True)
        return method(d, x, "put", f"L.tensor({at}), {like(d, x, (len(at),))}{d.one(('', ', accumulate=True'))}")
    dim = axis(d, d[x]) % d[x].ndim
    shape = tuple(1 if k != dim and d.chance(0.3) else s if k != dim else 2 for k, s in enumerate(d[x].shape))
    return f"{x}.take_along_dim(L.tensor({table(d, shape, d[x].shape[dim])}), {dim})"


@argued("index_put", "index_put_", exact=True)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and t.numel() > 0)
    if not x:
        return None
    accumulate = d.chance(0.5) and d.dtype(x) != "bool"
    at = positions(d, d[x].shape[0], d.rng.randint(1, 3), not accumulate)
    value = like(d, x, (len(at), *d[x].shape[1:]))
    return method(d, x, "index_put", f"(L.tensor({at}),), {value}{', accumulate=True' if accumulate else ''}")


@argued("select_scatter", "diagonal_scatter", "masked_scatter", "masked_scatter_", "masked_fill_", exact=True)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and t.numel() > 0)
    if not x:
        return None
    how = d.rng.random()
    if how < 0.35:
        dim = axis(d, d[x]) % d[x].ndim
        shape = tuple(s for k, s in enumerate(d[x].shape) if k != dim)
        return f"{x}.select_scatter({like(d, x, shape)}, {dim}, {position(d, d[x].shape[dim])})"
    if how < 0.55 and d[x].ndim == 2:
        return f"{x}.diagonal_scatter({like(d, x, (min(d[x].shape),))})"
    masks = d.tensors(lambda m: str(m.dtype).endswith("bool") and fits(tuple(m.shape), tuple(d[x].shape)) and m.ndim <= d[x].ndim)
    if not masks:
        return None
    if how < 0.8:
        return method(d, x, "masked_fill", f"{d.one(masks)}, {d.number(d.dtype(x))}")
    return method(d, x, "masked_scatter", f"{d.one(masks)}, {like(d, x, tuple(d[x].shape))}")


# Order.


@argued("sort", "msort", "argsort", "topk", "kthvalue", "cummax", "cummin", "aminmax", "median", "nanmedian", "mode")
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: not str(t.dtype).endswith("bool"))
    if not x or not d.exact and not d.is_float(d[x]):
        return None
    t = d[x]
    dim = d.dim(t)
    size = t.shape[dim] if t.ndim and -t.ndim <= dim < t.ndim else 1
    how = d.one(
        (
            f"sort({dim}{d.one(('', ', descending=True'))}).values",
            f"cummax({dim}).values",
            f"cummin({dim}).values",
            f"aminmax(dim={dim}).{d.one(('min', 'max'))}",
            f"median({d.one(('', str(dim)))})",
            f"nanmedian({d.one(('', str(dim)))})",
            f"topk({d.rng.randint(0, size)}, {dim}).values",
            f"kthvalue({d.rng.randint(1, max(size, 1))}, {dim}).values",
            f"mode({dim}).values",
            "msort()",
            f"argsort(dim={dim}, stable=True)" if d.exact else "msort()",
        )
    )
    return f"{x}.{how}" + (".values" if how.startswith(("median(", "nanmedian(")) and not how.endswith("()") else "")


@argued("unique", "bincount", "searchsorted", "bucketize", exact=True, weight=0.4)
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x or not d.exact:
        return None
    line = "L.tensor([-1.0, 0.0, 0.5, 2.0])"
    return d.one((f"{x}.unique()", f"L.searchsorted({line}, {x})", f"L.bucketize({x}, {line}, right=True)", f"{x}.bincount()"))


# Views.


@argued(
    "unfold", "unflatten", "tensor_split", "hsplit", "vsplit", "dsplit", "split_with_sizes", "swapdims", "moveaxis", "as_strided",
    exact=True, weight=1.0,
)  # fmt: skip
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0)
    if not x:
        return None
    t = d[x]
    dim = axis(d, t)
    size = t.shape[dim]
    first = d.rng.randint(0, size)
    n = d.rng.randint(1, 3)
    window = d.rng.randint(0, size)
    sizes = [s for s in range(1, size + 1) if size and size % s == 0] or [1]
    part = d.one(sizes)
    how = d.one(
        (
            # Windows that overlap are not written to; here all are.
            f"unfold({dim}, {window}, {max(window, d.rng.randint(1, 2))})",
            f"unflatten({dim}, ({part}, {size // part}))",
            f"tensor_split({n}, {dim})[-1]",
            f"tensor_split([{first}], {dim})[0]",
            f"split_with_sizes([{first}, {size - first}], {dim})[{d.one((0, 1))}]",
            f"swapdims({dim}, {axis(d, t)})",
            f"moveaxis({dim}, {axis(d, t)})",
            f"hsplit({n})[0]",
            f"vsplit({n})[0]",
        )
    )
    return f"{x}.{how}"


# Bits.


@argued("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift",
        "bitwise_and_", "bitwise_or_", "bitwise_xor_", "bitwise_not_", "bitwise_left_shift_", "bitwise_right_shift_",
        exact=True, weight=0.4)  # fmt: skip
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: not d.is_float(t))
    if not x:
        return None
    shape = tuple(d[x].shape)
    y = d.one(d.tensors(lambda t: not d.is_float(t) and fits(tuple(t.shape), shape)))
    if d.dtype(x) != "bool" and d.chance(0.3):
        return method(d, x, d.one(("bitwise_left_shift", "bitwise_right_shift")), str(d.rng.randint(0, 3)))
    if d.chance(0.2):
        return method(d, x, "bitwise_not", "")
    return method(d, x, d.one(("bitwise_and", "bitwise_or", "bitwise_xor")), d.one((y, y, str(d.rng.randint(0, 7)))))


# Several tensors.


@argued("hstack", "vstack", "dstack", "column_stack", "row_stack", "broadcast_tensors", "meshgrid", "cartesian_prod",
        exact=True, place="module")  # fmt: skip
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    alike = d.tensors(lambda t: tuple(t.shape) == tuple(d[x].shape))
    y = d.one(alike)
    if d[x].ndim == 1 and d.chance(0.3):
        alike = d.tensors(lambda t: t.ndim == 1 and t.dtype == d[x].dtype)
        y = d.one(alike)
        return d.one((f"L.meshgrid({x}, {y}, indexing='ij')[0]", f"L.cartesian_prod({x}, {y})"))
    if d.chance(0.3):
        y = d.one(d.tensors(lambda t: fits(tuple(t.shape), tuple(d[x].shape))))
        return f"L.broadcast_tensors({x}, {y})[{d.one((0, 1))}]"
    return f"L.{d.one(('hstack', 'vstack', 'dstack', 'column_stack', 'row_stack'))}(({x}, {y}))"


@argued("einsum", place="module", exact=True)
def _(d: Draw) -> str | None:
    x = matrix(d)
    if not x:
        return None
    (n, m), k = d[x].shape, d.rng.randint(0, 3)
    return d.one(
        (
            f"L.einsum('ij,jk->ik', {x}, {like(d, x, (m, k))})",
            f"L.einsum('ij,kj->ki', {x}, {like(d, x, (k, m))})",
            f"L.einsum('ij,ij->i', {x}, {like(d, x, (n, m))})",
            f"L.einsum('ij->ji', {x})",
            f"L.einsum('ij->', {x})",
            f"L.einsum('ij,j', {x}, {like(d, x, (m,))})",
            f"L.einsum('ij,kl->ijkl', {x}, {like(d, x, (1, k))})" if n * m * k <= 24 else f"L.einsum('ij->j', {x})",
        )
    )


@argued("var_mean", "std_mean", place="module", weight=0.3)
def _(d: Draw) -> str | None:
    x = d.float_tensor()
    return x and f"L.{d.one(('var_mean', 'std_mean'))}({x}{', ' + str(d.dim(d[x])) if d.chance(0.6) else ''})[{d.one((0, 1))}]"


@argued("cdist", place="module", weight=0.3)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 2 and d.is_float(t))
    return x and f"L.cdist({x}, {like(d, x, (2, d[x].shape[1]))}{d.one(('', ', p=1.0', ', p=3.0'))})"


@argued("gradient", place="module", weight=0.3)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and d.is_float(t) and min(t.shape) > 1)
    return x and f"L.gradient({x}{d.one(('', ', spacing=0.5', ', edge_order=1'))})[0]"


@argued("renorm", "renorm_", weight=0.3)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 1 and d.is_float(t))
    return x and method(d, x, "renorm", f"{d.one((1, 2))}, {axis(d, d[x])}, {d.one((1.0, 2.5))}")


@argued("new_full", exact=True, weight=0.2)
def _(d: Draw) -> str | None:
    x = d.pick()
    return x and f"{x}.new_full((2, 1), {d.number(d.dtype(x))})"


# Networks.


def batched(d: Draw, rank: int) -> str | None:
    """Floats with channels and so many axes behind them."""
    x = d.pick(lambda t: d.is_float(t) and t.ndim in (rank + 1, rank + 2) and t.numel() > 0)
    if x and d.chance(0.5):
        return x
    shape = tuple(d.rng.randint(1, 2) for _ in range(2)) + tuple(d.rng.randint(2, 4) for _ in range(rank))
    return d.tensor(shape, d.one(("float32", "float64")))


@argued("pad", place="functional", exact=True)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0)
    if not x:
        return None
    n = d.rng.randint(1, min(d[x].ndim, 2))
    sizes = [d.one((0, 1, 2, -1)) for _ in range(2 * n)]
    if d.chance(0.3):
        mode = d.one(("reflect", "replicate", "circular"))
        return f"F.pad({x}, {tuple(abs(s) for s in sizes)}, mode='{mode}')"
    return f"F.pad({x}, {tuple(sizes)}{d.one(('', f', value={d.number(d.dtype(x))}'))})"


@argued("conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", place="functional")
def _(d: Draw) -> str | None:
    rank = d.one((1, 2))
    inner, outer = d.rng.randint(1, 2), d.rng.randint(1, 2)
    x = d.tensor((d.rng.randint(1, 2), inner, *(d.rng.randint(2, 4) for _ in range(rank))), "float32")
    named = d.pick(lambda t: t.ndim == rank + 2 and str(t.dtype).endswith("float32") and t.numel() > 0)
    if named and d.chance(0.7):
        x, inner = named, d[named].shape[1]
    window = tuple(d.rng.randint(1, 2) for _ in range(rank))
    turned = d.chance(0.4)
    weight = d.tensor((inner, outer, *window) if turned else (outer, inner, *window), "float32")
    known = d.tensors(lambda t: tuple(t.shape) == ((inner, outer) if turned else (outer, inner)) + window and "float32" in str(t.dtype))
    more = d.one(("", "", ", stride=2", ", padding=1", ", dilation=2" if not turned else ""))
    return f"F.conv{'_transpose' if turned else ''}{rank}d({x}, {d.one(known) if known else weight}{more})"


@argued("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "lp_pool1d",
        "adaptive_max_pool1d", "adaptive_max_pool2d", place="functional")  # fmt: skip
def _(d: Draw) -> str | None:
    rank = d.one((1, 2))
    x = batched(d, rank)
    how = d.one(
        (
            f"F.max_pool{rank}d({x}, {d.one((1, 2))}{d.one(('', ', stride=1', ', padding=1', ', ceil_mode=True'))})",
            f"F.avg_pool{rank}d({x}, {d.one((1, 2))}{d.one(('', ', stride=1', ', ceil_mode=True'))})",
            f"F.adaptive_avg_pool{rank}d({x}, {d.one((1, 2, 3))})",
            f"F.adaptive_max_pool{rank}d({x}, {d.one((1, 2))})",
        )
    )
    return x and how


@argued("interpolate", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "local_response_norm", "instance_norm",
        place="functional", weight=0.4)  # fmt: skip
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: d.is_float(t) and t.ndim == 4 and t.numel() > 0) or d.tensor((1, 4, 2, 2), "float32")
    return d.one(
        (
            f"F.interpolate({x}, scale_factor=2{d.one(('', ', mode=' + repr('bilinear')))})",
            f"F.interpolate({x}, size=(3, 2), mode='nearest')",
            f"F.pixel_shuffle({x}, 2)",
            f"F.pixel_unshuffle({x}, {d.one((1, 2))})",
            f"F.channel_shuffle({x}, {d.one((1, 2))})",
            f"F.local_response_norm({x}, 2)",
            f"F.instance_norm({x})",
        )
    )


@argued("batch_norm", "rms_norm", "threshold", "prelu", place="functional", weight=0.5)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: d.is_float(t) and t.ndim > 1 and t.numel() > 0)
    if not x:
        return None
    channels = d[x].shape[1]
    return d.one(
        (
            f"F.batch_norm({x}, None, None, training=True)",
            f"F.rms_norm({x}, ({d[x].shape[-1]},))",
            f"F.threshold({x}, 0.5, {d.number('float32')})",
            f"F.prelu({x}, {like(d, x, (d.one((1, channels)),))})",
        )
    )


@argued("cosine_embedding_loss", "margin_ranking_loss", "triplet_margin_loss", "gaussian_nll_loss", "multi_margin_loss",
        "multilabel_margin_loss", place="functional", weight=0.5)  # fmt: skip
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: d.is_float(t) and t.ndim == 2 and t.numel() > 0)
    if not x:
        return None
    rows, classes = d[x].shape
    y, z = like(d, x, (rows, classes)), like(d, x, (rows, classes))
    signs = str([d.one((1, -1)) for _ in range(rows)])
    how = d.one(("", "", ", reduction='sum'", ", reduction='none'"))
    return d.one(
        (
            f"F.cosine_embedding_loss({x}, {y}, L.tensor({signs}){how})",
            f"F.margin_ranking_loss({x}, {y}, L.ones_like({x}){how})",
            f"F.triplet_margin_loss({x}, {y}, {z}{how})",
            f"F.gaussian_nll_loss({x}, {y}, L.ones_like({x}){how})",
            f"F.multi_margin_loss({x}, L.tensor({positions(d, classes, rows)}){how})",
        )
    )
