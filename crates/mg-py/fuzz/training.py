"""Programs that train: modules, optimisers, their state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draw import Draw

if TYPE_CHECKING:
    from .generate import Generator

OPTIMISERS = (
    "L.optim.SGD({0}, lr=0.25)",
    "L.optim.SGD({0}, lr=0.25, momentum=0.5)",
    "L.optim.SGD({0}, lr=0.25, momentum=0.5, nesterov=True)",
    "L.optim.SGD({0}, lr=0.25, weight_decay=0.5)",
    # A small epsilon would make steps of the noise in a gradient that is 0.
    "L.optim.Adam({0}, lr=0.25, eps=0.1)",
    "L.optim.AdamW({0}, lr=0.25, eps=0.1)",
)


def training(g: Generator, d: Draw) -> None:
    inner, outer = d.rng.randint(1, 3), d.rng.randint(1, 3)
    bias = d.one(("", "", ", bias=False"))
    middle = d.one(("", "", f", L.nn.LayerNorm({outer})", ", L.nn.Dropout(0.0)", ", L.nn.ReLU()", ", L.nn.Tanh()"))
    d.exact = False
    if not middle and d.chance(0.5):
        d.add(f"m = W(L.nn.Linear({inner}, {outer}{bias}))", errors=False)
    else:
        d.add(f"m = W(L.nn.Sequential(L.nn.Linear({inner}, {outer}{bias}){middle}, L.nn.Linear({outer}, 1)))", errors=False)
    if "m" not in d.names:
        return
    d.add(f"o = {d.one(OPTIMISERS).format('m.parameters()')}", errors=False)
    d.add(f"x = {d.tensor((2, inner), 'float32')}", errors=False)
    if d.chance(0.5):
        d.add("def f(x):\n    o.zero_grad()\n    y = (m(x) * m(x)).sum()\n    y.backward()\n    o.step()\n    return y")
        d.add("f = J(f)")
        d.add("def e(x):\n    return m(x)")
        d.add("e = J(e)")
    saved = False
    for _ in range(d.rng.randint(4, 9)):
        parameters = [f"{p}" for p in ("m.weight", "m.bias", "m[0].weight", "m[0].bias") if _there(d, p)]
        p = d.one(parameters) if parameters else "x"
        choices = [
            "(m(x) * m(x)).sum().backward()",
            "m(x).sum().backward()",
            "o.step()",
            "o.step()",
            "o.zero_grad()",
            "m.zero_grad()",
            f"{d.new('r')} = m(x)",
            "m.eval()",
            "m.train()",
            f"x = {d.tensor((2, inner), 'float32')}",
            f"with L.no_grad(): {p} += 1",
            f"{p}.data.mul_(0.5)",
            f"{p}.grad = None",
            f"{d.new('g')} = {p}.grad",
            f"{p}.requires_grad_({d.one((True, True, False))})",
            "s = copy.deepcopy(m.state_dict())",
            "z = copy.deepcopy(o.state_dict())",
            "o.param_groups[0]['lr'] = 0.125",
            f"{d.new('m')} = copy.deepcopy(m)",
            f"m = m.to(L.{d.one(('float32', 'float64'))})" if d.chance(0.3) else "m = m.to('cpu')",
        ]
        # Labels that are known and labels that are not yet, now and then ones that do not exist.
        label = d.one((0, 0, 0, 5))
        computed = d.one((f"L.tensor([0, {label}])", f"L.tensor([0, 0]) + {label}"))
        choices += [f"F.cross_entropy(m(x), {computed}).backward()"] * 3
        if saved:
            choices += ["m.load_state_dict(s)"] * 3
        if "z" in d.names:
            choices += ["o.load_state_dict(z)"] * 2
        if "f" in d.names:
            choices += [f"{d.new('r')} = f(x)", f"{d.new('r')} = e(x)"] * 6
            # The answers of a step differentiated outside of it.
            choices += ["e(x).sum().backward()", "(e(x) * e(x)).sum().backward()", "F.cross_entropy(e(x), L.tensor([0, 0])).backward()"] * 3
        line = d.one(choices)
        d.add(line, errors="cross_entropy" in line)
        saved = saved or line.startswith("s = ")


def _there(d: Draw, path: str) -> bool:
    try:
        return eval(path, dict(d.names)) is not None
    except Exception:
        return False
