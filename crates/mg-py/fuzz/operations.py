"""Expressions: operations of the public surface with arguments that mostly fit.

Known names have makers of arguments here. A public name that both libraries have joins by itself if it can be called like a
unary operation, a binary one, a reduction or an operation with an axis; `coverage` lists those that cannot be drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from .draw import FLOATS, INTS, Draw
from .run import Library

Maker = Callable[[Draw], "str | None"]


class Operation:
    """A way to make a tensor: `make` answers with an expression, or None where there is nothing to make it of."""

    def __init__(self, name: str, make: Maker, exact: bool = True, weight: float = 1.0, place: str | None = None) -> None:
        self.name, self.make, self.exact, self.weight = name, make, exact, weight
        #: Where the reference has to have the name, if it may lack it.
        self.place = place


KNOWN: dict[str, Operation] = {}

#: Public names that are drawn elsewhere, or answer with something that is not of the program's own making.
ELSEWHERE = frozenset(
    """backward data grad requires_grad requires_grad_ detach numpy item tolist add_ sub_ mul_ div_ zero_ fill_ copy_ zero_grad
    is_leaf shape ndim dtype dim size numel T mT clone""".split()
)
#: Names that tell of memory or machine rather than of values.
MACHINE = frozenset(
    """cpu cuda data_ptr device element_size grad_fn is_contiguous is_cpu is_cuda is_floating_point itemsize nbytes nelement
    storage_offset stride strides is_realized realize type bfloat16 _repr_html_ dropout register_hook retain_grad resize_ resize_as_""".split()
)


def known(name: str, exact: bool = True, weight: float = 1.0) -> Callable[[Maker], Maker]:
    def keep(make: Maker) -> Maker:
        KNOWN[name] = Operation(name, make, exact, weight)
        return make

    return keep


def _unary(name: str) -> Maker:
    def make(d: Draw) -> str | None:
        x = d.pick()
        return x and f"{x}.{name}()"

    return make


for _name in "neg abs sign square relu logical_not isfinite isinf isnan ravel contiguous clone long int double t".split():
    KNOWN[_name] = Operation(_name, _unary(_name))
for _name in "exp log sqrt tanh sigmoid sin cos erf reciprocal rsqrt".split():
    KNOWN[_name] = Operation(_name, _unary(_name), exact=False)
KNOWN["nonzero"] = Operation("nonzero", _unary("nonzero"), weight=0.5)
KNOWN["half"] = Operation("half", _unary("half"), weight=0.3)
KNOWN["float"] = Operation("float", _unary("float"))
KNOWN["bool"] = Operation("bool", _unary("bool"))


def fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether shapes broadcast."""
    return all(x == y or x == 1 or y == 1 for x, y in zip(reversed(a), reversed(b)))


def operand(d: Draw, x: str) -> str:
    """What goes with `x`: a tensor that broadcasts, or a number."""
    if d.chance(0.25):
        return d.number(d.one((d.dtype(x), "float32", "int64")))
    shape = tuple(d[x].shape)
    fitting = d.tensors(lambda t: fits(tuple(t.shape), shape)) if d.chance(0.97) else d.tensors()
    return d.one(fitting) if fitting else x


def _binary(name: str) -> Maker:
    def make(d: Draw) -> str | None:
        x = d.pick()
        return x and f"{x}.{name}({operand(d, x)})"

    return make


for _name in "add sub mul eq ne lt le gt ge".split():
    KNOWN[_name] = Operation(_name, _binary(_name))


def _tensors(name: str) -> Maker:
    def make(d: Draw) -> str | None:
        x = d.pick()
        if not x:
            return None
        shape = tuple(d[x].shape)
        return f"{x}.{name}({d.one(d.tensors(lambda t: fits(tuple(t.shape), shape)))})"

    return make


for _name in "maximum minimum logical_and logical_or logical_xor".split():
    KNOWN[_name] = Operation(_name, _tensors(_name))


@known("operator", weight=8)
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    y = operand(d, x)
    sign = d.one("+-*+-*+-*<>" if d.exact else "+-*")
    if d.chance(0.15):
        return f"{y} {sign} {x}"
    if d.chance(0.05):
        return f"-{x}"
    return f"{x} {sign} {y}"


@known("div")
def _(d: Draw) -> str | None:
    x = d.pick()
    return x and f"{x} / {d.one((2, 4, 0.5, -2.0))}"


@known("divided", exact=False, weight=0.5)
def _(d: Draw) -> str | None:
    x = d.float_tensor()
    return x and d.one((f"{x} / {operand(d, x)}", f"{x} / {operand(d, x)}", f"2 ** {x}", f"{x} ** {operand(d, x)}"))


@known("pow")
def _(d: Draw) -> str | None:
    x = d.pick()
    return x and d.one((f"{x} ** 2", f"{x}.pow(2)", f"{x} ** 3", f"{x} ** 1", f"{x} ** 0"))


@known("logic", weight=0.7)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: not d.is_float(t))
    y = x and d.pick(lambda t: not d.is_float(t) and fits(tuple(t.shape), tuple(d[x].shape)))
    return x and y and d.one((f"{x} {d.one('&|^')} {y}", f"~{x}"))


def dims(d: Draw, t: Any, several: bool = True) -> str:
    """The axes of a reduction, as arguments; empty for all."""
    if d.chance(0.3):
        return ""
    if several and t.ndim > 1 and d.chance(0.25):
        chosen = d.rng.sample(range(-t.ndim, 0), d.rng.randint(1, t.ndim))
        text = str(tuple(chosen))
    else:
        text = str(d.dim(t))
    return d.one((text, f"dim={text}", f"{text}, keepdim=True", f"dim={text}, keepdim={d.one((True, False))}"))


def _reduction(name: str, several: bool = True, needs_dim: bool = False, suffix: str = "") -> Maker:
    def make(d: Draw) -> str | None:
        x = d.pick()
        if not x:
            return None
        arguments = dims(d, d[x], several)
        if needs_dim and not arguments:
            arguments = str(d.dim(d[x]))
        return f"{x}.{name}({arguments}){suffix if arguments else ''}"

    return make


KNOWN["sum"] = Operation("sum", _reduction("sum"), weight=3)
KNOWN["mean"] = Operation("mean", _reduction("mean"), exact=False)
KNOWN["prod"] = Operation("prod", _reduction("prod", several=False), exact=False)
KNOWN["amax"] = Operation("amax", _reduction("amax"))
KNOWN["amin"] = Operation("amin", _reduction("amin"))
KNOWN["argmax"] = Operation("argmax", _reduction("argmax", several=False))
KNOWN["argmin"] = Operation("argmin", _reduction("argmin", several=False))
KNOWN["logsumexp"] = Operation("logsumexp", _reduction("logsumexp", needs_dim=True), exact=False)
KNOWN["any"] = Operation("any", _reduction("any", several=False))
KNOWN["all"] = Operation("all", _reduction("all", several=False))
KNOWN["max"] = Operation("max", _reduction("max", several=False, suffix=".values"))
KNOWN["min"] = Operation("min", _reduction("min", several=False, suffix=".values"))
KNOWN["max indices"] = Operation("max indices", _reduction("max", several=False, needs_dim=True, suffix="[1]"), weight=0.5)
KNOWN["var"] = Operation("var", _reduction("var"), exact=False, weight=0.5)
KNOWN["std"] = Operation("std", _reduction("std"), exact=False, weight=0.5)
KNOWN["norm"] = Operation("norm", _unary("norm"), exact=False)


@known("softmax", exact=False)
def _(d: Draw) -> str | None:
    x = d.float_tensor()
    return x and f"{x}.{d.one(('softmax', 'log_softmax'))}({d.dim(d[x])})"


KNOWN["log_softmax"] = KNOWN["softmax"]


# Views, and what looks like one.


def factors(d: Draw, n: int) -> list[int]:
    """Sizes of `n` elements."""
    if n == 0:
        return d.one([[0], [0, 2], [3, 0]])
    sizes: list[int] = []
    while n > 1:
        by = d.one([k for k in range(2, n + 1) if n % k == 0])
        sizes.append(by)
        n //= by
    if d.chance(0.3):
        sizes.insert(d.rng.randint(0, len(sizes)), 1)
    return sizes


@known("reshape", weight=2)
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    n = prod(d[x].shape)
    sizes = factors(d, n)
    if sizes and n and d.chance(0.3):
        sizes[d.rng.randrange(len(sizes))] = -1
    if d.chance(0.2):
        sizes = list(d[x].shape)
    if d.chance(0.03):
        sizes = [*sizes, 3]
    return f"{x}.{d.one(('view', 'reshape'))}({tuple(sizes)})"


KNOWN["view"] = KNOWN["reshape"]


@known("flatten")
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    return f"{x}.flatten({d.one(('', '', '0, -1', str(d.dim(d[x])), f'0, {d.dim(d[x])}'))})"


@known("transpose", weight=1.5)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0)
    return x and f"{x}.{d.one(('transpose', 'transpose', 'swapaxes', 'movedim'))}({d.dim(d[x])}, {d.dim(d[x])})"


KNOWN["swapaxes"] = KNOWN["movedim"] = KNOWN["transpose"]


@known("T", weight=1.5)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 2)
    return x and d.one((f"{x}.T", f"{x}.mT", f"{x}.t()"))


KNOWN["mT"] = KNOWN["T"]


@known("permute")
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    order = list(range(d[x].ndim))
    d.rng.shuffle(order)
    return f"{x}.permute({tuple(order)})"


@known("unsqueeze")
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim < 5)
    return x and f"{x}.unsqueeze({d.rng.randint(-d[x].ndim - 1, d[x].ndim)})"


@known("squeeze")
def _(d: Draw) -> str | None:
    x = d.pick()
    return x and f"{x}.squeeze({d.one(('', str(d.dim(d[x]))))})"


@known("expand")
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    sizes = [s if s != 1 or d.chance(0.3) else d.one((2, 3)) for s in d[x].shape]
    if prod(sizes) > 40:
        return None
    if d.chance(0.3) and prod(sizes) < 20:
        sizes.insert(0, 2)
    return f"{x}.{d.one(('expand', 'expand', 'broadcast_to'))}({tuple(sizes)})"


KNOWN["broadcast_to"] = KNOWN["expand"]


def _as(name: str) -> Maker:
    def make(d: Draw) -> str | None:
        x, y = d.pick(), d.pick()
        if not x or not y:
            return None
        if name == "expand_as" and not fits(tuple(d[x].shape), tuple(d[y].shape)):
            return None
        if name == "view_as" and d[x].numel() != d[y].numel():
            return None
        return f"{x}.{name}({y})"

    return make


KNOWN["expand_as"] = Operation("expand_as", _as("expand_as"), weight=0.5)
KNOWN["view_as"] = Operation("view_as", _as("view_as"), weight=0.5)


@known("narrow")
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0)
    if not x:
        return None
    dim = d.dim(d[x])
    size = d[x].shape[dim] if -d[x].ndim <= dim < d[x].ndim else 2
    start = d.rng.randint(0, size)
    return f"{x}.narrow({dim}, {start}, {d.rng.randint(0, size - start)})"


@known("select")
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and t.numel() > 0)
    if not x:
        return None
    dim = d.rng.randrange(-d[x].ndim, d[x].ndim)
    return f"{x}.select({dim}, {position(d, d[x].shape[dim])})"


@known("parts")
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and t.numel() > 0)
    if not x:
        return None
    dim = d.rng.randrange(-d[x].ndim, d[x].ndim)
    how = d.one((f"unbind({dim})", f"split({d.rng.randint(1, 3)}, {dim})", f"chunk({d.rng.randint(1, 3)}, {dim})"))
    return f"{x}.{how}[{d.one((0, 0, -1, 1))}]"


KNOWN["unbind"] = KNOWN["split"] = KNOWN["chunk"] = KNOWN["parts"]


@known("flip")
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0)
    return x and f"{x}.flip({d.dim(d[x])})"


@known("repeat", weight=0.5)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.numel() <= 8)
    return x and f"{x}.repeat({', '.join(str(d.one((1, 2))) for _ in range(max(d[x].ndim, 1)))})"


def position(d: Draw, size: int) -> int:
    if d.chance(0.03):
        return size + 2
    return d.rng.randrange(-size, size) if size else 0


def index(d: Draw, t: Any, writing: bool = False) -> str:
    """What stands between brackets."""
    items: list[str] = []
    left = t.ndim
    shape = list(t.shape)
    if t.ndim and d.chance(0.15):
        masks = d.tensors(lambda m: str(m.dtype).endswith("bool") and 0 < m.ndim and m.shape == t.shape[: m.ndim])
        if masks:
            return d.one(masks)
    advanced = False
    while left and (not items or d.chance(0.5)):
        size = shape[t.ndim - left]
        how = d.rng.random()
        if how < 0.35:
            items.append(str(position(d, size)))
        elif how < 0.75:
            a, b = d.one(("", "0", "1", "-1", "-2")), d.one(("", "", "1", "2", "-1"))
            step = d.one(("", "", "", ":2", ":1"))
            items.append(f"{a}:{b}{step}")
        elif how < 0.85 and size and not advanced:
            advanced = True
            picked = [position(d, size) for _ in range(d.rng.randint(1, 3))]
            if writing:
                picked = list(dict.fromkeys(k % size if abs(k) <= size else k for k in picked))
            items.append(d.one((str(picked), f"L.tensor({picked})")))
        elif how < 0.88 and size and not advanced:
            advanced = True
            items.append(f"L.tensor({position(d, size)})")
        elif how < 0.91 and size and not advanced:
            # Not known before it is computed; now and then out of range.
            advanced = True
            items.append(f"L.tensor([{d.rng.randrange(size)}]) + {d.one((0, 0, 0, 1, size))}")
        elif how < 0.95 and "..." not in items:
            items.append("...")
            break
        else:
            items.append(":")
        left -= 1
    if d.chance(0.1):
        items.insert(d.rng.randint(0, len(items)), "None")
    if not items:
        items = ["..."]
    return ", ".join(items)


@known("index", weight=5)
def _(d: Draw) -> str | None:
    x = d.pick()
    return x and f"{x}[{index(d, d[x])}]"


@known("index_select", weight=0.7)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and t.numel() > 0)
    if not x:
        return None
    dim = d.rng.randrange(-d[x].ndim, d[x].ndim)
    picked = [position(d, d[x].shape[dim]) for _ in range(d.rng.randint(1, 3))]
    return f"{x}.index_select({dim}, L.tensor({[k if k >= 0 else -k - 1 for k in picked]}))"


@known("gather", weight=0.7)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 2 and t.numel() > 0)
    if not x:
        return None
    dim = d.one((0, 1))
    size = d[x].shape[dim]
    shape = (d[x].shape[0], 2) if dim else (2, d[x].shape[1])
    rows = [[d.rng.randrange(size) for _ in range(shape[1])] for _ in range(shape[0])]
    if d.chance(0.5):
        return f"{x}.gather({dim}, L.tensor({rows}))"
    return f"{x}.scatter_add({dim}, L.tensor({rows}), L.ones({len(rows)}, {len(rows[0])}, dtype={x}.dtype))"


KNOWN["scatter_add"] = KNOWN["gather"]


@known("masked", weight=0.8)
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    masks = d.tensors(lambda m: str(m.dtype).endswith("bool") and fits(tuple(m.shape), tuple(d[x].shape)))
    mask = d.one(masks) if masks and d.chance(0.7) else f"({x} > 0)"
    y = operand(d, x)
    number = d.number(d.dtype(x))
    return d.one((f"{x}.masked_select({mask})", f"{x}.masked_fill({mask}, {number})", f"L.where({mask}, {x}, {y})"))


KNOWN["masked_select"] = KNOWN["masked_fill"] = KNOWN["where"] = KNOWN["masked"]


@known("clamp")
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    low, high = sorted((float(d.rng.randint(-3, 3)), float(d.rng.randint(-3, 3))))
    if not d.is_float(d[x]):
        low, high = int(low), int(high)
    return d.one((f"{x}.clamp({low}, {high})", f"{x}.clamp(min={low})", f"{x}.clip(max={high})"))


KNOWN["clip"] = KNOWN["clamp"]


@known("matmul", weight=2)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0)
    if not x:
        return None
    inner = d[x].shape[-1]
    fitting = d.tensors(lambda t: t.ndim > 0 and t.shape[max(t.ndim - 2, 0)] == inner and t.dtype == d[x].dtype)
    if not fitting:
        return f"{x} @ {x}.mT" if d[x].ndim > 1 else f"{x}.dot({x})"
    y = d.one(fitting)
    if d[x].ndim == d[y].ndim and d[x].ndim in (1, 2) and d.chance(0.4):
        return f"{x}.{'dot' if d[x].ndim == 1 else 'mm'}({y})"
    return d.one((f"{x} @ {y}", f"{x}.matmul({y})"))


KNOWN["mm"] = KNOWN["dot"] = KNOWN["matmul"]


@known("to")
def _(d: Draw) -> str | None:
    x = d.pick()
    dtypes = (*FLOATS, *INTS, "bool", "float32", "float64", "float32", "float64")
    return x and f"{x}.to(L.{d.one([name for name in dtypes if d.has(name)])})"


@known("joined", weight=1.5)
def _(d: Draw) -> str | None:
    x = d.pick()
    if not x:
        return None
    alike = d.tensors(lambda t: tuple(t.shape) == tuple(d[x].shape))
    y = d.one(alike)
    dim = d.dim(d[x])
    return d.one((f"L.cat([{x}, {y}], {dim})", f"L.stack([{x}, {y}], {dim})", f"L.cat(({x}, {y}, {x}), dim={dim})"))


@known("like", weight=0.5)
def _(d: Draw) -> str | None:
    x = d.pick()
    like = d.one(("zeros_like({0})", "ones_like({0})", "full_like({0}, {1})"))
    return x and "L." + like.format(x, d.number(d.dtype(x)))


# Networks.


@known("activation", exact=False)
def _(d: Draw) -> str | None:
    x = d.float_tensor()
    return x and f"F.{d.one(('gelu', 'silu', 'softplus', 'leaky_relu', 'sigmoid', 'tanh', 'relu'))}({x})"


@known("linear", weight=0.6)
def _(d: Draw) -> str | None:
    w = d.pick(lambda t: t.ndim == 2 and d.is_float(t))
    x = w and d.pick(lambda t: t.ndim > 0 and t.shape[-1] == d[w].shape[1] and t.dtype == d[w].dtype)
    return w and x and f"F.linear({x}, {w})"


@known("layer_norm", exact=False, weight=0.6)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim > 0 and d.is_float(t) and t.numel() > 0 and t.shape[-1] > 1)
    return x and f"F.layer_norm({x}, ({d[x].shape[-1]},))"


@known("embedding", weight=0.6)
def _(d: Draw) -> str | None:
    w = d.pick(lambda t: t.ndim == 2 and d.is_float(t) and t.shape[0] > 0)
    if not w:
        return None
    picked = [abs(position(d, d[w].shape[0] - 1)) if d[w].shape[0] > 1 else 0 for _ in range(3)]
    return f"F.embedding(L.tensor({picked}), {w})"


@known("loss", exact=False)
def _(d: Draw) -> str | None:
    x = d.pick(lambda t: t.ndim == 2 and d.is_float(t) and t.numel() > 0)
    if not x:
        return None
    rows, classes = d[x].shape
    labels = [d.rng.randrange(classes + (1 if d.chance(0.05) else 0)) for _ in range(rows)]
    known = f"L.tensor({labels})" + (f" + {d.one((0, 0, 1))}" if d.chance(0.2) else "")
    how = d.one(("", "", ", reduction='sum'", ", reduction='none'"))
    same = d.one(d.tensors(lambda t: tuple(t.shape) == (rows, classes) and t.dtype == d[x].dtype))
    return d.one(
        (
            f"F.cross_entropy({x}, {known}{how})",
            f"F.nll_loss({x}, {known}{how})",
            f"F.mse_loss({x}, {same}{how})",
            f"F.binary_cross_entropy_with_logits({x}, ({same} > 0).to({x}.dtype){how})",
        )
    )


@known("dropout", weight=0.2)
def _(d: Draw) -> str | None:
    x = d.float_tensor()
    return x and f"F.dropout({x}, 0.0)"


# Names that join by themselves.

#: How a name is called, with the tensor as the object or as the first argument; then names that are known in that place.
PLACES = (
    ("{x}.{name}(", "tensor"),
    ("F.{name}({x}", "functional"),
    ("L.{name}({x}", "module"),
    ("L.linalg.{name}({x}", "linalg"),
    ("L.special.{name}({x}", "special"),
)
#: Functions of networks that have a maker above.
FUNCTIONS = frozenset(
    """gelu silu softplus leaky_relu sigmoid tanh relu linear layer_norm embedding cross_entropy nll_loss mse_loss
    binary_cross_entropy_with_logits dropout softmax log_softmax one_hot""".split()
)
#: Functions of the module that have one, or that make something of nothing.
MAKERS = frozenset(
    """tensor as_tensor asarray from_numpy from_dlpack zeros ones empty full eye arange linspace zeros_like ones_like empty_like
    full_like cat concat stack where equal allclose one_hot jit device dtype Size Tensor is_grad_enabled explain realize jit
    manual_seed load_safetensors save_safetensors get_default_device set_default_device get_float32_matmul_precision
    set_float32_matmul_precision""".split()
)
#: Their answers are another each time.
RANDOM = frozenset(
    """rand randn randint rand_like randn_like randint_like randperm bernoulli bernoulli_ normal normal_ uniform_ random_
    exponential_ cauchy_ log_normal_ geometric_ dropout dropout_ dropout1d dropout2d dropout3d alpha_dropout_ feature_dropout
    feature_dropout_ multinomial gumbel_softmax rrelu rrelu_ empty empty_like new_empty empty_strided""".split()
)
#: Functions of PyTorch's module that are kernels below those of `nn.functional`: their reduction is a number, and none unless named.
KERNELS = frozenset(
    """binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss hinge_embedding_loss kl_div margin_ranking_loss
    poisson_nll_loss triplet_margin_loss""".split()
)


def _like(call: str, *, second: bool = False, axes: bool = False) -> Maker:
    """A call of a tensor, with a second one or an axis."""

    def make(d: Draw) -> str | None:
        x = d.pick()
        if not x:
            return None
        arguments = ""
        if second:
            shape = tuple(d[x].shape)
            arguments = d.one(d.tensors(lambda t: fits(tuple(t.shape), shape)))
        elif axes:
            arguments = str(d.dim(d[x]))
        return _call(call, x, arguments)

    return make


def _reduced(call: str) -> Maker:
    def make(d: Draw) -> str | None:
        x = d.pick()
        return x and _call(call, x, dims(d, d[x], False))

    return make


def _call(call: str, x: str, arguments: str) -> str:
    begun = call.format(x=x)
    return begun + (", " if arguments and not begun.endswith("(") else "") + arguments + ")"


SIGNATURES: list[tuple[str, str, Callable[[str], Maker]]] = [
    # A reduction can be called without arguments too: so it is tried first.
    ("reduction", "dim=1, keepdim=True", _reduced),
    ("unary", "", _like),
    ("binary", "y", lambda call: _like(call, second=True)),
    ("axis", "1", lambda call: _like(call, axes=True)),
]


def _argued(place: str) -> set[str]:
    """Names of a place that are drawn with arguments of their own."""
    return {name.partition(".")[2] for name in KNOWN if name.startswith(f"{place}.")}


def members(owner: Any) -> list[str]:
    """The names that an owner has: `dir` tells also of those that a class says it has not."""
    return [name for name in dir(owner) if hasattr(owner, name)]


def _candidates(ours: Library, reference: Library) -> list[tuple[str, str, str]]:
    """Public names in each place that nobody wrote an entry for and both libraries have: the name, how it is called, where."""
    known = {
        "tensor": KNOWN.keys() | ELSEWHERE | MACHINE,
        "functional": FUNCTIONS | {*members(ours.tensor)} | _argued("functional"),
        # Operations are functions as well, the same ones.
        "module": MAKERS | KERNELS | {*members(ours.tensor)} | _argued("module"),
        "linalg": frozenset(),
        "special": {*members(ours.tensor)},
    }
    found = []
    for call, place in PLACES:
        for name in members(getattr(ours, place)):
            if name.startswith("_") or name in known[place] or name in RANDOM:
                continue
            if callable(getattr(ours.tensor if place == "tensor" else getattr(ours, place), name)):
                found.append((name, call.replace("{name}", name), place))
    return found


def joined(ours: Library, reference: Library) -> dict[tuple[str, str], Operation]:
    """Operations that nobody wrote an entry for, by the signature that both libraries take."""
    found: dict[tuple[str, str], Operation] = {}
    for name, call, place in _candidates(ours, reference):
        if not hasattr(getattr(reference, place), name):
            continue
        for signature, arguments, maker in SIGNATURES:
            text = _call(call, "x", arguments)
            if all(_takes(library, text) for library in (ours, reference)):
                if _by_chance(ours, text) or _by_chance(reference, text):
                    break
                found[name, place] = Operation(f"{name} ({signature})", maker(call), exact=False)
                break
    return found


def _takes(library: Library, text: str) -> bool:
    module = library.module
    x = module.tensor([[0.25, 0.5], [0.75, 0.25]], dtype=module.float64)
    try:
        return isinstance(eval(text, {"x": x, "y": x.clone(), "L": module, "F": library.functional}), library.tensor)
    except Exception:
        return False


def _by_chance(library: Library, text: str) -> bool:
    """Whether a call answers otherwise each time: then there is nothing to compare."""
    module = library.module
    answers: set[str] = set()
    for _ in range(8):
        x = module.tensor([[0.25, 0.5], [0.75, 0.25]], dtype=module.float64)
        answer = eval(text, {"x": x, "y": x.clone(), "L": module, "F": library.functional})
        answers.add(str(answer.tolist()))
    return len(answers) > 1


def available(ours: Library, reference: Library) -> list[Operation]:
    """What can be drawn: known operations once each, and those that joined."""
    known = {id(o): o for o in KNOWN.values()}.values()
    has = {o.place: members(getattr(reference, o.place)) for o in known if o.place}
    operations = [o for o in known if o.place is None or o.name in has[o.place]]
    return [*operations, *joined(ours, reference).values()]


def undrawn(ours: Library, reference: Library) -> dict[str, str]:
    """Public names that are not drawn, and why."""
    more = joined(ours, reference)
    why = {name: "tells of memory or machine" for name in dir(ours.tensor) if name in MACHINE}
    for name, call, place in _candidates(ours, reference):
        if (name, place) in more or isinstance(getattr(getattr(ours, place), name), type):
            continue
        if not hasattr(getattr(reference, place), name):
            why[call.format(x="x") + ")"] = f"{reference.name} has no such name"
        else:
            why[call.format(x="x") + ")"] = "fits no generic signature: give it an entry in operations.py"
    return why
