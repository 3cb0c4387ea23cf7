"""Statements: making tensors, writing into them, gradients, sharing with NumPy."""

from __future__ import annotations

from .draw import FLOATS, Draw, rare
from .operations import Operation, fits, index, operand

#: Operations whose answer jumps: after a rounded number they are no longer drawn.
JUMPS = frozenset(
    """argmax argmin sign sgn signbit copysign eq ne not_equal lt less le less_equal gt greater ge greater_equal nonzero argwhere
    logic logical_and logical_or logical_xor logical_not masked bool long int to any all floor ceil round trunc fix floor_divide
    remainder fmod frac max min sort msort argsort topk count_nonzero isclose isin isneginf isposinf isreal heaviside histc
    hardshrink nextafter unique searchsorted bucketize median nanmedian mode kthvalue hinge_embedding_loss""".split()
)


def make(d: Draw) -> str:
    """A tensor of its own."""
    weighed = {"float64": 6, "float32": 9, "float16": 2, "bfloat16": 1, "int64": 3, "int32": 1, "uint8": 1, "int16": 0.7, "int8": 0.7, "bool": 2}
    weighed |= dict.fromkeys(rare(), 0.2)
    known = [name for name in weighed if d.has(name)]
    dtype = d.rng.choices(known, [weighed[name] for name in known])[0]
    leaf = dtype in FLOATS and d.chance(0.55)
    if d.chance(0.08):
        text = d.one(("L.arange(6)", "L.eye(3)", "L.ones(2, 3)", "L.zeros(3)", "L.full((2, 2), 1.5)", "L.arange(0.0, 3.0)"))
        return f"{d.new()} = {text}"
    return f"{d.new('w' if leaf else 't')} = {d.tensor(d.shape(), dtype, leaf)}"


def compute(d: Draw, operations: list[Operation], weights: list[float]) -> str | None:
    operation = d.rng.choices(operations, weights)[0]
    if not d.exact and operation.name.partition(" ")[0].rstrip("_") in JUMPS:
        return None
    if not operation.exact and d.exact and len(d.lines) and not d.chance(0.35):
        return None
    text = operation.make(d)
    if not text:
        return None
    if not operation.exact:
        d.exact = False
    line = f"{d.new()} = {text}"
    if d.chance(0.06):
        line = f"with L.no_grad(): {line}"
    return line


def write(d: Draw) -> str | None:
    """A write into a tensor, through whatever shares its memory."""
    x = d.writable()
    if not x:
        return None
    t = d[x]
    if not d.exact and not d.is_float(t):
        # What was rounded would jump.
        return None
    leaf = t.requires_grad and t.is_leaf
    how = d.rng.random()
    number = d.number(d.dtype(x))
    through = x
    form = d.rng.random()
    if form < 0.12:
        through = f"{x}.data"
    elif form < 0.2:
        through = f"{x}.detach()"
    if how < 0.3:
        # Now and then what is changed is the other operand, too.
        y = x if d.chance(0.1) else operand(d, x)
        line = d.one((f"{through}.add_({y})", f"{through}.sub_({y})", f"{through}.mul_({y})", f"{through}.copy_({y})"))
        if ("copy_" in line and y not in d.names) or (through == x and d.body is None and d.chance(0.3)):
            line = f"{x} {d.one(('+=', '-=', '*='))} {y}"
    elif how < 0.5:
        line = d.one(
            (
                f"{through}.zero_()",
                f"{through}.fill_({number})",
                f"{through}.mul_({d.one((2, 0.5, -1))})",
                f"{through}.add_({number})",
                f"{through}.div_(2)",
                f"{through}.sub_({number}, alpha=2)",
            )
        )
    else:
        if not t.ndim and d.chance(0.8):
            return None
        at = index(d, t, True)
        value = number
        if d.chance(0.6):
            try:
                shape = tuple(eval(f"{x}[{at}]", dict(d.names)).shape)
            except Exception:
                shape = ()
            fitting = d.tensors(lambda y: fits(tuple(y.shape), shape) and y.ndim <= len(shape))
            value = d.one(fitting) if fitting else number
        line = f"{through}[{at}] {d.one(('=', '=', '=', '+=', '*='))} {value}"
        if d.body is not None and through == x and d.chance(0.3):
            line = f"{x}[{at}].{d.one(('add_', 'mul_'))}({number})"
    # A leaf may only be written where nothing is recorded.
    if (leaf and through == x and d.chance(0.9)) or d.chance(0.08):
        line = f"with L.no_grad(): {line}"
    return line


def trained(d: Draw) -> list[str]:
    """Tensors that a gradient can be taken of."""
    return d.tensors(lambda t: t.requires_grad and d.is_float(t))


def loss(d: Draw) -> str | None:
    """An expression of one element that depends on what is trained."""
    known = trained(d)
    if not known:
        return None
    y = known[-1 - d.rng.randrange(min(4, len(known)))]
    if d[y].ndim == 0 and d.chance(0.5):
        return y
    form = d.one(("{y}.sum()", "{y}.sum()", "({y} * {y}).sum()", "({y} * 2).sum()"))
    if d.chance(0.3):
        other = d.one(known)
        if d[other].dtype == d[y].dtype:
            return f"({form.format(y=y)} + ({other} * {other}).sum())"
    return form.format(y=y)


def gradient(d: Draw) -> str | None:
    of = loss(d)
    if not of:
        return None
    how = d.rng.random()
    if how < 0.4:
        return f"{of}.backward({d.one(('', 'retain_graph=True'))})"
    if how < 0.45:
        y = d.one(trained(d))
        return f"{y}.backward(L.ones_like({y}))"
    known = trained(d)
    inputs = d.rng.sample(known, d.rng.randint(1, min(2, len(known))))
    options = "".join(
        [", allow_unused=True" if d.chance(0.85) else "", d.one(("", ", retain_graph=True", ", create_graph=True"))]
    )
    names = ", ".join(d.new("g") for _ in inputs)
    return f"{names}, = G({of}, [{', '.join(inputs)}]{options})"


def gradient_kept(d: Draw) -> str | None:
    """Gradients that were taken are looked at, changed, held and set."""
    leaves = d.tensors(lambda t: t.is_leaf and t.requires_grad)
    if not leaves:
        return None
    w = d.one(leaves)
    if d[w].grad is None:
        if d.chance(0.9):
            return None
        return f"{w}.grad = L.ones_like({w})"
    return d.one(
        (
            f"{w}.grad = None",
            f"{w}.grad.zero_()",
            f"{w}.grad *= 2",
            f"{w}.grad.data.mul_(0.5)",
            f"{w}.grad.detach().add_(1)",
            f"{w}.grad = {w}.detach().clone()",
            f"{d.new('g')} = {w}.grad",
            f"{d.new('g')} = {w}.grad",
            f"{d.new('g')} = {w}.grad.clone()",
            f"with L.no_grad(): {w} -= 0.5 * {w}.grad",
            f"{w}.data.sub_({w}.grad, alpha=0.25)",
            f"{w}.data -= 0.25 * {w}.grad",
        )
    )


def flags(d: Draw) -> str | None:
    x = d.float_tensor()
    if not x:
        return None
    return d.one(
        (
            f"{x}.requires_grad_()",
            f"{x}.requires_grad_(False)",
            f"{d.new('t')} = {x}.detach()",
            f"{d.new('t')} = {x}.data",
            f"{d.new('w')} = {x}.detach().requires_grad_()",
            f"{d.new('w')} = {x}.detach().clone().requires_grad_()",
            f"{x}.data = {x}.data * 2",
            f"{x}.data = {d.one(d.tensors(lambda t: t.shape == d[x].shape and t.dtype == d[x].dtype))}.detach().clone()",
        )
    )


def host(d: Draw) -> str | None:
    """Values on the host, and memory that NumPy sees."""
    how = d.rng.random()
    if how < 0.25:
        x = d.pick()
        return x and f"{d.new('h')} = {x}.{d.one(('tolist()', 'sum().item()'))}"
    if how < 0.4:
        x = d.pick()
        return x and f"{d.new('a')} = {x}{'.detach()' if d[x].requires_grad or d.rng.random() < 0.3 else ''}.numpy()"
    if how < 0.6:
        dtype = d.one(("float32", "float64", "int64"))
        shape = tuple(d.rng.choices((1, 2, 3), k=d.rng.randint(1, 2)))
        return f"{d.new('a')} = np.array({d.data(shape, dtype)}, dtype=np.{dtype})"
    arrays = [n for n, v in d.names.items() if type(v).__name__ == "ndarray"]
    if not arrays:
        return None
    a = d.one(arrays)
    if how < 0.8:
        return d.one((f"{d.new()} = L.from_numpy({a})", f"{d.new()} = L.tensor({a})", f"{d.new()} = L.from_numpy({a}) * 2"))
    if not d[a].flags.writeable or not d[a].ndim:
        return None
    return d.one((f"{a}[:] = {d.rng.randint(1, 5)}", f"{a} += 1", f"{a}[0] = {d.rng.randint(1, 5)}"))


def copies(d: Draw) -> str | None:
    x = d.pick()
    y = d.pick()
    if not x or not y:
        return None
    return d.one(
        (
            f"{d.new('c')} = copy.deepcopy([{x}, {y}, {x}])",
            f"{d.new('c')} = copy.copy({x})",
            f"{d.new('c')} = {{'a': {x}, 'b': {y}}}",
            f"{d.new('c')} = {x}.clone()",
        )
    )


#: How often each kind of statement is drawn.
STATEMENTS = (
    (make, 2.0),
    (write, 5.0),
    (gradient, 2.5),
    (gradient_kept, 1.5),
    (flags, 0.8),
    (host, 0.7),
    (copies, 0.3),
)
