"""Expressions of factorisations, of layers that remember, of windows in space, and of other names whose arguments have to fit one another."""

from __future__ import annotations

from .arguments import argued, axis, like, method, positions
from .draw import Draw
from .operations import KNOWN, fits

# Factorisations: of what tells one from another whatever signs and orders a library chooses.


def square(d: Draw, singular: float = 0.1) -> str | None:
    """A square matrix that is far from singular, mostly."""
    x = d.pick(lambda t: t.ndim in (2, 3) and t.shape[-1] == t.shape[-2] and str(t.dtype)[-2:] in ("32", "64") and d.is_float(t))
    if not x:
        n = d.rng.randint(1, 3)
        x = d.tensor((n, n), d.one(("float32", "float64")))
    if d.chance(singular):
        return x
    n = d[x].shape[-1] if x.isidentifier() else x.count("[") - 1
    dtype = d.dtype(x) if x.isidentifier() else "float64" if "float64" in x else "float32"
    return f"({x} + 20 * L.eye({n}, dtype=L.{dtype}))"


def symmetric(d: Draw) -> str | None:
    x = square(d)
    return x and f"({x} @ {x}.mT)"


@argued("lu", "qr", "svd", "slogdet", "cholesky", "eigh", "inv_ex", "cholesky_ex", "lu_factor", "lu_factor_ex", "solve_ex", place="linalg",
        weight=1.0)  # fmt: skip
def _(d: Draw) -> str | None:
    x, s = square(d), symmetric(d)
    return d.one(
        (
            f"L.linalg.slogdet({x}).logabsdet",
            f"L.linalg.slogdet({x})[0]",
            f"{x}.slogdet()[1]",
            f"L.linalg.svd({x}).S",
            f"L.linalg.svd({x}, full_matrices=False)[1]",
            f"{x}.svd()[1]",
            f"L.linalg.qr({x}).R.abs()",
            f"L.linalg.qr({x}, mode='r')[1].abs()",
            f"L.linalg.eigh({s}).eigenvalues",
            f"L.linalg.cholesky({s})",
            f"L.linalg.cholesky({s}, upper=True)",
            f"L.linalg.cholesky_ex({s})[0]",
            f"L.linalg.inv_ex({x})[0]",
            f"L.linalg.inv_ex({x}).info",
            f"L.linalg.lu({x})[1]",
            f"L.linalg.lu_factor({x})[0]",
            f"L.linalg.lu_factor_ex({x}).LU",
            f"L.linalg.solve_ex({x}, {x})[0]",
        )
    )


@argued("lu_solve", "solve_triangular", "multi_dot", "lstsq", "cross", "householder_product", place="linalg", weight=0.6)
def _(d: Draw) -> str | None:
    x = square(d, 0.0)
    vectors = d.pick(lambda t: d.is_float(t) and t.ndim > 0 and t.shape[-1] == 3)
    cross = vectors and f"L.linalg.cross({vectors}, {like(d, vectors, tuple(d[vectors].shape))})"
    return d.one(
        (
            f"L.linalg.lu_solve(*L.linalg.lu_factor({x}), {x})",
            f"L.linalg.solve_triangular({x}.tril(), {x}, upper=False)",
            f"L.linalg.solve_triangular({x}.triu(), {x}, upper=True, left={d.one((True, False))})",
            f"{x}.triangular_solve({x}.triu())[0]",
            f"L.linalg.multi_dot([{x}, {x}, {x}])",
            f"L.linalg.lstsq({x}, {x}).solution",
            f"L.linalg.householder_product({x}.tril(), {x}[..., 0])",
            cross or f"L.linalg.multi_dot(({x}, {x}))",
        )
    )


# Whole numbers, and what is made of none.


@argued("gcd", "lcm", "gcd_", "lcm_", exact=True, weight=0.4)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: not d.is_float(t))
    if not x:
        return None
    shape = tuple(d[x].shape)
    y = d.one(d.tensors(lambda t: not d.is_float(t) and fits(tuple(t.shape), shape)))
    return method(d, x, d.one(("gcd", "lcm")), y)


@argued("frexp", "transpose_", "swapaxes_", "swapdims_", "prelu", weight=0.4)
def _(d: Draw) -> str | None:
    x = d.float_tensor()
    if not x:
        return None
    t = d[x]
    turned = t.ndim > 0 and t.numel() and not (t.requires_grad and t.is_leaf)
    return d.one(
        (
            f"{x}.frexp(){d.one(('.mantissa', '.exponent', '[0]'))}",
            f"{x}.prelu({like(d, x, (1,))})",
            f"{x}.{d.one(('transpose_', 'swapaxes_', 'swapdims_'))}({axis(d, t)}, {axis(d, t)})" if turned else f"{x}.frexp()[0]",
        )
    )


@argued("polygamma", "concatenate", "vander", "tril_indices", "triu_indices", "logspace", "range", "layer_norm", "rms_norm", "bilinear",
        "channel_shuffle", "threshold", "unravel_index", place="module", weight=0.5)  # fmt: skip
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: d.is_float(t) and t.ndim > 0 and t.numel() > 0)
    if not x:
        return None
    last, shape = d[x].shape[-1], tuple(d[x].shape)
    return d.one(
        (
            f"L.polygamma({d.one((0, 1, 2, 3))}, {x})",
            f"L.concatenate(({x}, {x}), {axis(d, d[x])})",
            f"L.vander({x}[(0,) * ({d[x].ndim} - 1)], {d.one((1, 2, 3))})",
            f"L.tril_indices({d.rng.randint(0, 3)}, {d.rng.randint(0, 3)}, {d.rng.randint(-1, 1)})",
            f"L.triu_indices({d.rng.randint(0, 3)}, {d.rng.randint(0, 3)}, {d.rng.randint(-1, 1)})",
            f"L.logspace({d.rng.randint(-2, 1)}, 2, {d.rng.randint(0, 4)})",
            f"L.layer_norm({x}, ({last},), {like(d, x, (last,))}, {like(d, x, (last,))})",
            f"L.rms_norm({x}, ({last},), {like(d, x, (last,))})",
            f"L.threshold({x}, 0.25, -1.0)",
            f"F.bilinear({x}, {x}, {like(d, x, (2, last, last))}, {d.one(('None', like(d, x, (2,))))})",
            f"L.unravel_index(L.tensor({positions(d, d[x].numel(), 2)}), {shape})[-1]",
        )
    )


# Windows in space.


@argued("max_pool3d", "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d", "lp_pool2d", "lp_pool3d", "conv3d", "conv_transpose3d",
        "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
        "fractional_max_pool2d", "fractional_max_pool3d", "fold", place="functional", weight=0.8)  # fmt: skip
def _(d: Draw) -> str | None:
    rank = d.one((1, 2, 3))
    x = d.pick(lambda t: d.is_float(t) and t.ndim == rank + 2 and t.numel() > 0)
    if not x or d.chance(0.3):
        shape = (d.rng.randint(1, 2), d.rng.randint(1, 2), *(d.rng.randint(2, 4 if rank < 3 else 2) for _ in range(rank)))
        x = d.tensor(shape, "float32", d.chance(0.3) and rank == 1)
        channels, dtype, batch = shape[1], "float32", shape[0]
    else:
        channels, dtype, batch = d[x].shape[1], d.dtype(x), d[x].shape[0]
    window = d.one((1, 2, (2,) * rank))
    more = d.one(("", ", stride=1", ", ceil_mode=True"))
    weight = d.tensor((channels, channels, *(1,) * (rank - 1), d.rng.randint(1, 2)), dtype)
    pooled = f"F.max_pool{rank}d({x}, {window}, return_indices=True)"
    return d.one(
        (
            f"F.max_pool{rank}d({x}, {window}{more}{d.one(('', ', dilation=2'))})",
            f"F.max_pool{rank}d({x}, {window}, return_indices=True)[1]",
            f"F.avg_pool{rank}d({x}, {window}{more}, padding={d.one((0, 1))}, count_include_pad={d.one((True, False))})",
            f"F.adaptive_avg_pool{rank}d({x}, {d.one((1, 2, 3, (1,) * rank))})",
            f"F.adaptive_max_pool{rank}d({x}, {d.one((1, 2, 3))})",
            f"F.lp_pool{rank}d({x}, {d.one((1, 2, 3))}, {d.one((1, 2))})",
            f"F.max_unpool{rank}d(*{pooled}, {window})",
            f"F.conv{rank}d({x}, {weight}, {d.one(('None', d.tensor((channels,), dtype)))}{d.one(('', ', padding=1', ', stride=2'))})",
            f"F.conv{rank}d({x}, {weight}, padding={d.one((repr('same'), repr('valid')))})",
            f"F.conv_transpose{rank}d({x}, {weight}{d.one(('', ', stride=2', ', stride=2, output_padding=1', ', padding=1'))})",
            f"F.unfold({x}, 2{d.one(('', ', padding=1', ', stride=2'))})" if rank == 2 else f"F.max_pool{rank}d({x}, 1)",
            f"F.fold(F.unfold({x}, 1), {tuple(d[x].shape[2:])}, 1)" if rank == 2 and x.isidentifier() else f"F.avg_pool{rank}d({x}, 1)",
            f"F.interpolate({x}, scale_factor={d.one((2, 1.5, 0.5))}, mode={d.one((repr('nearest'), repr('area'), repr('nearest-exact')))})",
            f"F.instance_norm({x})" if batch else f"F.avg_pool{rank}d({x}, 1)",
        )
    )


@argued("grid_sample", "affine_grid", "embedding_bag", "ctc_loss", "triplet_margin_with_distance_loss", place="functional", weight=0.5)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 4 and t.numel() > 0 and str(t.dtype)[-2:] in ("32", "64") and d.is_float(t))
    picture = x or d.tensor((1, 1, 2, 3), "float32")
    n, dtype = (d[x].shape[0], d.dtype(x)) if x else (1, "float32")
    theta = d.tensor((n, 2, 3), dtype)
    w = d.pick(lambda t: t.ndim == 2 and d.is_float(t) and t.shape[0] > 0 and t.shape[1] > 1)
    grid = f"F.affine_grid({theta}, ({n}, 1, 2, 2), align_corners={d.one((True, False))})"
    if w and d.chance(0.6):
        rows, classes = d[w].shape
        picked = positions(d, rows, 4)
        mode = d.one(("sum", "mean", "max"))
        return d.one(
            (
                f"F.embedding_bag(L.tensor([{picked[:2]}, {picked[2:]}]), {w}, mode='{mode}')",
                f"F.embedding_bag(L.tensor({picked}), {w}, L.tensor([0, {d.rng.randint(0, 4)}]), mode='{mode}')",
                f"F.ctc_loss({w}.log_softmax(-1), L.tensor([{d.rng.randrange(1, classes)}]), L.tensor({rows}), L.tensor(1)"
                f"{d.one(('', ', zero_infinity=True'))})",
                f"F.triplet_margin_with_distance_loss({w}, {like(d, w, (rows, classes))}, {like(d, w, (rows, classes))})",
            )
        )
    padding = d.one(("zeros", "border", "reflection"))
    mode = d.one(("bilinear", "nearest"))
    return d.one((grid, f"F.grid_sample({picture}, {grid}, mode='{mode}', padding_mode='{padding}', align_corners=False)"))


@argued("pdist", place="functional", weight=0.2)
def _(d: Draw) -> str | None:
    # Of none, PyTorch's gradient ends the process.
    x = d.pick(lambda t: t.ndim == 2 and t.numel() > 0 and str(t.dtype)[-2:] in ("32", "64") and d.is_float(t))
    return x and f"F.pdist({x}{d.one(('', ', 1.0', ', p=3.0'))})"


KNOWN["module.pdist"] = KNOWN["functional.pdist"]


# Layers that remember, and attention.


@argued("gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell", "gru", "lstm", "rnn_tanh", "rnn_relu", place="module", weight=0.5)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 2 and t.numel() > 0 and d.is_float(t) and str(t.dtype)[-2:] in ("32", "64"))
    if not x:
        return None
    (n, features), hidden = d[x].shape, d.rng.randint(1, 2)
    kind, gates = d.one((("gru", 3), ("lstm", 4), ("rnn_tanh", 1), ("rnn_relu", 1)))

    def made(*shape: int) -> str:
        return like(d, x, shape)

    weights = [made(gates * hidden, features), made(gates * hidden, hidden), made(gates * hidden), made(gates * hidden)]
    if d.chance(0.6):
        state = f"({made(n, hidden)}, {made(n, hidden)})" if kind == "lstm" else made(n, hidden)
        return f"L.{kind}_cell({x}, {state}, {', '.join(weights)}){'[1]' if kind == 'lstm' else ''}"
    state = f"({made(1, 1, hidden)}, {made(1, 1, hidden)})" if kind == "lstm" else made(1, 1, hidden)
    flags = f"True, 1, 0.0, False, False, {d.one((True, False))}"
    steps = f"{x}.unsqueeze({0 if flags.endswith('True') else 1})"
    return f"L.{kind}({steps}, {state}, [{', '.join(weights)}], {flags})[0]"


@argued("scaled_dot_product_attention", place="functional", weight=0.6)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim in (3, 4) and t.numel() > 0 and str(t.dtype)[-2:] in ("32", "64") and d.is_float(t))
    if not x:
        x = d.tensor((1, 2, 2, 2), "float32")
        shape, dtype = (1, 2, 2, 2), "float32"
    else:
        shape, dtype = tuple(d[x].shape), d.dtype(x)
    *batch, steps, size = shape
    length = d.rng.randint(1, 3)

    def made(*shape: int) -> str:
        known = d.tensors(lambda t: tuple(t.shape) == shape and d.dtype_of(t) == dtype)
        return d.one(known) if known and d.chance(0.6) else d.tensor(shape, dtype)

    keys, values = made(*batch, length, size), made(*batch, length, size)
    mask = d.one((made(steps, length), f"L.ones({steps}, {length}, dtype=L.bool).tril()", f"({made(steps, length)} < 1)"))
    more = d.one(("", ", is_causal=True", f", attn_mask={mask}", f", attn_mask={mask}", ", scale=0.5"))
    return f"F.scaled_dot_product_attention({x}, {keys}, {values}{more})"
