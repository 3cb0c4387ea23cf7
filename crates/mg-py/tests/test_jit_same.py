"""What surrounds a replayed step is looked at object by object: whatever changes after many replays is seen by the next call."""

import builtins as others
import dataclasses
import functools
import math
import sys as system
import types
from typing import Any

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs import nn, optim
from micrograd_rs.nn import functional as F

G = 3.0
ADDED: Any = None


def helper(v, by=2.0):
    return v * by


@dataclasses.dataclass
class Conf:
    a: float = 1.0


conf = Conf()
partly = functools.partial(helper, by=3.0)


class Net(nn.Module):
    scale = 2.0

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.drop = nn.Dropout(0.0)
        self.k: Any = 1.0
        self.opts = {"a": 1.0}
        self.sizes = [1.0, 2.0]
        self.pair = (1.0, [1.0])
        self.some = {1.0, 2.0}
        self.flag = True

    @property
    def prop(self):
        return self.k * 2

    @staticmethod
    def plus(v):
        return v + 1

    def forward(self, x):
        y = self.lin(x) * self.k * self.scale * self.opts["a"] * self.sizes[0] * self.pair[1][0] * sum(self.some)
        return self.drop(y) + self.prop if self.flag else self.plus(y)


class Slotted:
    __slots__ = ("by",)

    def __init__(self):
        self.by = 1.0


def become(cls, name, value):
    def change(_):
        was = cls.__dict__.get(name)
        setattr(cls, name, value)
        return lambda: delattr(cls, name) if was is None else setattr(cls, name, was)

    return change


def set_global(name, value):
    def change(_):
        was = globals()[name]
        globals()[name] = value
        return lambda: globals().__setitem__(name, was)

    return change


def set_defaults(_):
    was, helper.__defaults__ = helper.__defaults__, (9.0,)
    return lambda: setattr(helper, "__defaults__", was)


def set_conf(_):
    conf.a = 2.5
    return lambda: setattr(conf, "a", 1.0)


def moved(n):
    n.opts["a"] = n.opts.pop("a") + 1.0


CHANGES = {
    "a global": set_global("G", 5.0),
    "a global of another type": set_global("G", 5),
    "a function among the globals": set_global("helper", lambda v: v * 100),
    "what is partly applied": set_global("partly", functools.partial(helper, by=4.0)),
    "defaults": set_defaults,
    "an attribute": lambda n: setattr(n, "k", 3.0),
    "minus zero": lambda n: setattr(n, "k", -0.0),
    "True for 1.0": lambda n: setattr(n, "k", True),
    "a tensor for a number": lambda n: setattr(n, "k", mg.tensor(2.0)),
    "a dictionary": lambda n: n.opts.update(a=2.0),
    "a key more": lambda n: n.opts.__setitem__("b", 1.0),
    "a key anew": moved,
    "a list": lambda n: n.sizes.__setitem__(0, 7.0),
    "a shorter list": lambda n: n.sizes.pop(),
    "a list in a tuple": lambda n: n.pair[1].__setitem__(0, 4.0),
    "a set": lambda n: n.some.add(4.0),
    "an attribute of a class": become(Net, "scale", 4.0),
    "an attribute before that of the class": lambda n: setattr(n, "scale", 4.0),
    "a method": become(Net, "forward", lambda self, x: x * 1.0),
    "a method that was not there": become(Net, "__call__", lambda self, x: x * 3.0),
    "a property": become(Net, "prop", property(lambda s: 77.0)),
    "a static method": become(Net, "plus", staticmethod(lambda v: v - 1)),
    "another class": lambda n: setattr(n, "__class__", type("Sub", (Net,), {"forward": lambda s, x: x * 0})),
    "a mode": lambda n: n.train(),
    "a branch": lambda n: setattr(n, "flag", False),
    "values": lambda n: n.lin.weight.data.fill_(1.0),
    "a layer": lambda n: setattr(n, "lin", nn.Linear(2, 2)),
    "a parameter": lambda n: setattr(n.lin, "weight", nn.Parameter(mg.ones(2, 2))),
    "a hook": lambda n: n.register_forward_hook(lambda m, i, o: o * 10),
    "a frozen layer": lambda n: n.lin.requires_grad_(False),
    "a dataclass": set_conf,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_after_many_replays_is_seen(name):
    net = Net()
    net.eval()
    x, slotted = mg.tensor([1.0, 2.0]), Slotted()

    def f(x):
        return partly(helper(net(x))) * G * conf.a * slotted.by

    step = mg.jit(f)
    for _ in range(7):
        step(x)
    assert step.is_replaying
    undo = CHANGES[name](net)
    try:
        for _ in range(7):
            assert step(x).tolist() == f(x).tolist()
        assert step.is_replaying
        slotted.by = 2.0
        assert step(x).tolist() == f(x).tolist()
    finally:
        if isinstance(undo, types.FunctionType):
            undo()
    for _ in range(5):
        assert step(x).tolist() == f(x).tolist()


def test_steps_in_turns_are_each_replayed():
    net = Net()
    x = mg.tensor([1.0, 2.0])
    step = mg.jit(lambda x: net(x))
    for _ in range(8):
        for mode in (True, False):
            net.train(mode)
            assert step(x).tolist() == net(x).tolist()
    for mode in (True, False):
        net.train(mode)
        step(x)
        assert step.is_replaying


def test_rates_are_read_and_other_options_recorded_anew():
    def trained(jitted):
        w = mg.tensor([1.0, -2.0], requires_grad=True)
        o = optim.SGD([w], lr=0.1)

        def step():
            o.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            o.step()

        run = mg.jit(step) if jitted else step
        seen = []
        for i in range(30):
            if i == 10:
                o.param_groups[0]["lr"] = 0.2
            if i == 18:
                o.param_groups[0]["nesterov"] = False
                o.param_groups[0]["momentum"] = 0.5
            if i == 24:
                o.param_groups[0]["weight_decay"] = 0.1
            run()
            seen.append(w.tolist())
        return seen

    assert trained(True) == trained(False)


def test_models_are_not_kept():
    import gc
    import weakref

    step = mg.jit(lambda x: holder["net"](x))
    holder = {"net": Net()}
    x = mg.tensor([1.0, 2.0])
    for _ in range(8):
        step(x)
    assert step.is_replaying
    gone = weakref.ref(holder.pop("net"))
    holder["net"] = Net()
    for _ in range(8):
        assert step(x).tolist() == holder["net"](x).tolist()
    gc.collect()
    assert gone() is None


def backward(*_):
    raise AssertionError("nobody calls it")


def evaluate(net, x):
    net.eval()
    return net(x)


def test_attributes_are_no_variables_of_the_same_name():
    net, x = Net(), mg.tensor([1.0, 2.0])

    @mg.jit
    def step(x):
        loss = evaluate(net, x).sum()
        loss.backward()
        return loss

    net.eval()
    for _ in range(5):
        step(x)
    assert step.is_replaying, step.reason


def test_a_class_may_get_other_bases():
    class One:
        by = 2.0

    class Other:
        by = 3.0

    class Of(One):
        def scaled(self, x):
            return x * self.by

    x = mg.tensor([1.0, 2.0])
    step = mg.jit(lambda x: Of().scaled(x))
    for _ in range(7):
        step(x)
    assert step.is_replaying
    Of.__bases__ = (Other,)
    for _ in range(3):
        assert step(x).tolist() == [3.0, 6.0]


@pytest.mark.parametrize("is_argument", [False, True])
@pytest.mark.parametrize("above", [object, mg.nn.Module])
def test_an_objects_class_may_get_other_bases(is_argument, above):
    class One(above):
        def factor(self):
            return 2.0

    class Other(above):
        def factor(self):
            return 3.0

    class Same(above):
        def factor(self):
            return 2.0

    class Of(One):
        def scaled(self, x):
            return x * self.factor()

    x = mg.tensor([1.0, 2.0])
    made = Of()
    given = [made] if is_argument else []
    step = mg.jit(lambda x, *given: (given[0] if given else made).scaled(x))
    for bases, expected in [((One,), 2.0), ((Other,), 3.0), ((Same,), 2.0), ((Other, One), 3.0)]:
        Of.__bases__ = bases
        for _ in range(9):
            assert step(x, *given).tolist() == [expected, 2 * expected]
        assert step.is_replaying, step.reason
    for changed in [4.0, 5.0]:
        # What the objects have of those above them is looked at as that of the class itself is.
        Other.factor = lambda self, changed=changed: changed
        for _ in range(9):
            assert step(x, *given).tolist() == [changed, 2 * changed]


@pytest.mark.parametrize("change", ["defaults", "keyword defaults", "code"])
def test_the_function_itself_may_change(change):
    def f(x, a=2.0, *, b=1.0):
        return x * a * b

    def other(x, a=2.0, *, b=1.0):
        return x + a

    x = mg.tensor([1.0, 2.0])
    step = mg.jit(f)
    for _ in range(7):
        step(x)
    assert step.is_replaying
    match change:
        case "defaults":
            f.__defaults__ = (5.0,)
        case "keyword defaults":
            f.__kwdefaults__ = {"b": 7.0}
        case "code":
            f.__code__ = other.__code__
    for _ in range(5):
        assert step(x).tolist() == f(x).tolist()


def test_functions_made_since_are_looked_at_and_others_not_looked_for_again():
    """Who refers to code is looked for among all objects there are: where nobody came or went that is known already."""
    import gc

    x, made = mg.tensor([1.0, 2.0]), []

    def make(by):
        def inner(v):
            return v * by

        return inner

    made.append(make(2.0))
    looked = 0

    def watch(*_):
        nonlocal looked
        looked += 1
        return found(*_)

    found, gc.get_referrers = gc.get_referrers, watch
    try:
        count = [0]

        def f(x):
            count[0] += 1
            return made[-1](x)

        step = mg.jit(f)
        for i in range(12):
            step(x)
        looked = 0
        for i in range(20):
            assert step(x).tolist() == [2.0, 4.0]
        assert looked == 0
        made.append(make(3.0))
        assert step(x).tolist() == [3.0, 6.0]
    finally:
        gc.get_referrers = found


class Plain:
    def __init__(self, k):
        self.k = k


def test_what_is_given_and_known_from_around_is_not_what_is_only_known():
    x, known = mg.tensor([1.0, 2.0]), Plain(2.0)

    def f(p, x):
        return x * (p[0] if isinstance(p, list) else p).k + known.k + (1.0 if p is known else 0.0)

    for given, then in ((known, Plain(2.0)), (Plain(2.0), known), ([known], [Plain(2.0)])):
        known.k = 2.0
        step = mg.jit(f)
        for _ in range(8):
            step(given, x)
        assert step.is_replaying
        assert step(then, x).tolist() == f(then, x).tolist()
        known.k = 5.0
        assert step(then, x).tolist() == f(then, x).tolist()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * others.globals()["G"],
        lambda x: x * others.eval("G"),
        lambda x: x * system.modules[__name__].G,
        lambda x: x * renamed()["G"],
    ],
)
def test_what_is_found_under_any_name_is_not_replayed(f):
    x = mg.tensor([1.0, 2.0])
    step = mg.jit(f)
    for _ in range(8):
        step(x)
    undo = set_global("G", 5.0)(None)
    try:
        assert step(x).tolist() == [5.0, 10.0]
    finally:
        undo()


renamed = globals


def test_a_dictionary_that_changes_while_it_is_looked_at():
    """What compares a key may be a program's: it takes the value out."""
    x, known = mg.tensor([1.0, 2.0]), {}

    class Key:
        __slots__ = ("a",)
        is_taking = False

        def __getattribute__(self, name):
            if name == "a" and Key.is_taking:
                Key.is_taking = False
                for key in list(known):
                    known[key] = None
            return object.__getattribute__(self, name)

    key = Key()
    key.a = 1

    def put():
        known[key] = [float(len("ab")), 3.0]

    put()
    step = mg.jit(lambda x: x * known[key][0] if known[key] else x)
    for _ in range(20):
        for _ in range(6):
            step(x)
        Key.is_taking = True
        step(x)
        put()
        assert step(x).tolist() == [2.0, 4.0]


def with_optimizer():
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    opt = mg.optim.SGD([w], lr=0.5)

    def step(x):
        opt.zero_grad()
        (w * x).sum().backward()
        opt.step()
        return w.detach().clone()

    return step


# Where something stands, under which name, what to put there, and what makes a step that uses it.
LINEAR, BLOCK = mg.nn.Linear(2, 2), mg.nn.Sequential(mg.nn.Linear(2, 2), mg.nn.Tanh())

PATCHES = {
    "a function of functional": (F, "relu", lambda x: x * 10, lambda: lambda x: F.relu(x)),
    "a function of the package": (mg, "sin", lambda x: x * 10, lambda: lambda x: mg.sin(x)),
    "by a module in a module": (F, "gelu", lambda x: x * 10, lambda: lambda x: mg.nn.functional.gelu(x)),
    "a layer's forward": (mg.nn.Linear, "forward", lambda self, x: x * 10, lambda: lambda x: LINEAR(x)),
    "a layer's call": (mg.nn.Linear, "__call__", lambda self, x: x * 10, lambda: lambda x: LINEAR(x)),
    "a layer's within another": (mg.nn.Tanh, "forward", lambda self, x: x * 10, lambda: lambda x: BLOCK(x)),
    "a tensor's method": (mg.Tensor, "relu", lambda self: self * 10, lambda: lambda x: x.relu()),
    "a tensor's operator": (mg.Tensor, "__mul__", lambda a, b: a + b, lambda: lambda x: x * 2.0),
    "an optimizer's step": (mg.optim.SGD, "step", lambda self: None, with_optimizer),
    "a layer that it makes": (mg.nn.ReLU, "forward", lambda self, x: x * 10, lambda: lambda x: nn.ReLU()(x)),
    "Python's": (math, "sqrt", lambda x: x * 10, lambda: lambda x: x * math.sqrt(4.0)),
    "NumPy's": (np, "sqrt", lambda x: x * 10, lambda: lambda x: x * float(np.sqrt(4.0))),
}


@pytest.mark.parametrize("which", PATCHES)
def test_what_a_program_puts_in_place_of_a_librarys_is_seen(monkeypatch, which):
    where, name, put, make = PATCHES[which]
    x = mg.tensor([1.0, -2.0])
    f, g = make(), make()
    step = mg.jit(f)
    for _ in range(7):
        assert step(x).tolist() == g(x).tolist()
    assert step.is_replaying, step.reason
    with monkeypatch.context() as patch:
        patch.setattr(where, name, put)
        for _ in range(7):
            assert step(x).tolist() == g(x).tolist()
    for _ in range(7):
        assert step(x).tolist() == g(x).tolist()
    assert step.is_replaying, step.reason


def test_what_comes_to_a_library_is_seen(monkeypatch):
    def plain(x):
        try:
            return F.newly_made(x)
        except AttributeError:
            return x * 2

    x = mg.tensor([1.0, -2.0])
    step = mg.jit(plain)
    for _ in range(6):
        assert step(x).tolist() == [2.0, -4.0]
    monkeypatch.setattr(F, "newly_made", lambda x: x * 7, raising=False)
    for _ in range(3):
        assert step(x).tolist() == [7.0, -14.0]
