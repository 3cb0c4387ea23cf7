"""Programs with a step: a function that is called several times with arguments that lie, share and are named otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import statements
from .draw import FLOATS, Draw

if TYPE_CHECKING:
    from .generate import Generator


def argument(d: Draw, shape: tuple[int, ...], dtype: str, leaf: bool) -> str | None:
    """A line that makes a tensor of a shape, lying in memory in one of many ways; the name comes first."""
    name = d.new("x")
    how = d.one(("plain", "plain", "transposed", "columns", "rows", "expanded", "stepped", "overlapping", "leaf"))
    if how == "leaf" or leaf:
        grad = dtype in FLOATS and (leaf or d.chance(0.5))
        return f"{name} = {d.tensor(shape, dtype, grad)}"
    if how == "transposed" and len(shape) > 1:
        return f"{name} = {d.tensor((*shape[:-2], shape[-1], shape[-2]), dtype)}.mT"
    if how == "columns" and shape:
        return f"{name} = {d.tensor((*shape[:-1], shape[-1] + 2), dtype)}[..., 1:-1]"
    if how == "rows" and shape:
        return f"{name} = {d.tensor((shape[0] + 1, *shape[1:]), dtype)}[1:]"
    if how == "expanded" and shape:
        return f"{name} = {d.tensor((1, *shape[1:]), dtype)}.expand{shape}" if len(shape) > 1 else (
            f"{name} = {d.tensor((), dtype)}.expand({shape[0]})"
        )
    if how == "stepped" and shape:
        return f"{name} = {d.tensor((*shape[:-1], shape[-1] * 2), dtype)}[..., ::2]"
    if how == "overlapping":
        alike = d.tensors(lambda t: t.ndim == len(shape) and t.ndim > 0 and tuple(t.shape[1:]) == shape[1:])
        larger = [n for n in alike if d[n].shape[0] > shape[0] and d.dtype(n) == dtype]
        if larger:
            base = d.one(larger)
            return f"{name} = {base}[{d.rng.randint(0, d[base].shape[0] - shape[0])}:][:{shape[0]}]"
    return f"{name} = {d.tensor(shape, dtype)}"


def step(g: Generator, d: Draw) -> None:
    """A function, calls of it, and what happens between them."""
    parameters = ["p", "q"][: d.rng.randint(1, 2)]
    shape = d.shape(3)
    dtype = d.rng.choices(("float32", "float64", "int64"), (6, 3, 1))[0]
    shapes = {p: shape if d.chance(0.75) else d.shape(2) for p in parameters}
    leaf = d.chance(0.15)
    made: dict[str, list[str]] = {p: [] for p in parameters}
    for p in parameters:
        for _ in range(d.rng.randint(2, 4)):
            line = argument(d, shapes[p], dtype, leaf)
            if line and d.add(line, errors=False):
                made[p].append(line.split(" = ")[0])
        if not made[p]:
            return
    keyword = d.chance(0.3)
    numbered = d.chance(0.2)
    # The body is drawn as a program on its own, whose effects are forgotten.
    inner = Draw(d.rng, d.reference, d.without)
    inner.count = d.count
    for line in d.lines:
        inner.add(line, errors=False)
    inner.exact = d.exact
    inner.lines = []
    inner.errors = 2
    known = set(inner.names)
    for p in parameters:
        inner.names[p] = inner.names[made[p][0]]
    captured = [n for n in inner.tensors() if n not in parameters and (n.startswith("w") or d.chance(0.15))]
    hidden = [n for n in inner.tensors() if n not in parameters and n not in captured]
    for name in hidden:
        del inner.names[name]
    inner.body = set(parameters)
    for _ in range(d.rng.randint(1, 5)):
        g.line(inner)
    body = [line for line in inner.lines if not _on_the_host(line)]
    inside = [n for n in inner.tensors() if n in parameters or n not in known]
    begun = [line.removeprefix("with L.no_grad(): ").split(" = ")[0] for line in body]
    inside = [n for n in inside if n in begun or n in parameters]
    if not inside:
        return
    answers = d.rng.sample(inside, d.rng.randint(1, min(2, len(inside))))
    if captured and d.chance(0.1):
        answers.append(d.one(captured))
    form = d.one(("{0}", "({0},)", "[{0}]")) if len(answers) > 1 else d.one(("{0}", "{0}", "({0},)", "{{'a': {0}}}"))
    # What is rebound in a function is its own.
    own = _rebound(body)
    container = None
    if not keyword and len(parameters) == 2 and d.chance(0.4):
        container = d.one(("[{}, {}]", "({}, {})", "{{'a': {}, 'b': {}}}"))
    arguments = ", ".join(f"{p}=None" if keyword and i else p for i, p in enumerate(parameters))
    if container is not None:
        arguments = "c"
        body = ["p, q = c.values()" if "a" in container else "p, q = c", *body]
    if numbered:
        arguments += ", k=1"
        answers[0] = f"{answers[0]} * k"
    lines = [f"    {line}" for line in body if not own]
    text = "\n".join([f"def f({arguments}):", *lines, f"    return {form.format(', '.join(answers))}"])
    if not d.add(text, errors=False) or not d.add("f = J(f)", errors=False):
        return
    d.exact = d.exact and inner.exact
    d.count = inner.count
    for _ in range(d.rng.randint(4, 8)):
        if d.chance(0.3):
            between(g, d)
        chosen = [d.one(made[p]) for p in parameters]
        if len(parameters) > 1 and d.chance(0.25) and shapes["p"] == shapes["q"]:
            chosen[1] = chosen[0]
        alike = [w for w in captured if w in d.names and tuple(d[w].shape) == shapes["p"]]
        if alike and d.chance(0.15):
            chosen[0] = d.one(alike)
        if d.chance(0.15):
            other = d.one(("float32", "float64", "int64")) if d.chance(0.2) and not leaf else dtype
            line = argument(d, shapes["p"] if d.chance(0.8) else d.shape(2), other, leaf)
            if line and d.add(line, errors=False):
                chosen[0] = line.split(" = ")[0]
        words = [
            f"{p}={c}" if keyword and (i or d.chance(0.2)) else c for i, (p, c) in enumerate(zip(parameters, chosen))
        ]
        if container is not None:
            words = [container.format(*chosen)]
        if keyword and len(words) == 2 and words[0].startswith("p=") and d.chance(0.5):
            words.reverse()
        if numbered and d.chance(0.6):
            words.append(f"k={d.one(('1', '2', '1.0', 'True', '0.0', '-0.0', '0'))}")
        d.add(f"{d.new('r')} = f({', '.join(words)})", errors=False)
        if d.chance(0.4):
            # Mostly of the last answer, so that a step is differentiated in the same way several times.
            results = [n for n in d.tensors(lambda t: t.requires_grad and not t.is_leaf) if n.startswith("r")]
            if results:
                of = results[-1] if d.chance(0.7) else d.one(results)
                form = d.rng.choices(("{0}.sum()", "({0} * {0}).sum()", "({0} * 0.5 + {1}).sum()"), (5, 2, 1))[0]
                keeps = "retain_graph=True" if d.chance(0.15) else ""
                d.add(f"{form.format(of, d.one(results))}.backward({keeps})", errors=False)


def between(g: Generator, d: Draw) -> None:
    """What a program does between two calls."""
    for _ in range(10):
        maker = d.one((statements.write, statements.gradient_kept, statements.gradient_kept, statements.gradient))
        text = maker(d)
        if text and d.add(text, errors=False):
            return


def _on_the_host(line: str) -> bool:
    return any(word in line for word in ("tolist", "item()", "numpy", "np.", "nonzero", "masked_select", "float("))


def _rebound(body: list[str]) -> bool:
    """Whether a name from outside is assigned to, as `t += 1` does."""
    inside: set[str] = set()
    for line in body:
        words = line.removeprefix("with L.no_grad(): ").split(" ")
        if len(words) > 1 and words[1] in ("+=", "-=", "*=") and words[0].isidentifier() and words[0] not in inside:
            if words[0] not in ("p", "q"):
                return True
        if len(words) > 1 and words[1] == "=":
            inside.update(n.strip(" ,") for n in line.split(" = ")[0].split(","))
    return False
