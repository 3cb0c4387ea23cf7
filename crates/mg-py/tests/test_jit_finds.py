"""What a replayed step finds around it: wherever that stands and however it changes, the numbers are those of the function as it is."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import importlib
import operator
import sys
import threading
import types

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs import nn, optim

x = mg.tensor([1.0, 2.0])
MODULE = sys.modules[__name__]
SCALE = 2.0


class Box:
    """Something that holds a number."""

    def __init__(self, scale=2.0):
        self.scale = scale

    def times(self, v):
        return v * self.scale

    def __call__(self, v):
        return self.times(v)


def times(v, box=None, scale=2.0):
    return v * (scale if box is None else box["scale"] if isinstance(box, dict) else box.scale)


def bound_method():
    box = Box()
    method = box.times
    return (lambda v: method(v)), lambda: setattr(box, "scale", 5.0)


def bound_method_in_a_list():
    box = Box()
    methods = [box.times]
    return (lambda v: methods[0](v)), lambda: setattr(box, "scale", 5.0)


def bound_method_of_an_object_that_is_called():
    boxes = [Box()]
    calls = [box.__call__ for box in boxes]
    return (lambda v: calls[0](v)), lambda: setattr(boxes[0], "scale", 5.0)


def method_of_a_dictionary():
    numbers = {"scale": 2.0}
    get = numbers.get
    return (lambda v: v * get("scale")), lambda: numbers.update(scale=5.0)


def partial_with_an_object():
    box = Box()
    part = functools.partial(times, box=box)
    return (lambda v: part(v)), lambda: setattr(box, "scale", 5.0)


def partial_with_a_dictionary():
    numbers = {"scale": 2.0}
    part = functools.partial(times, box=numbers)
    return (lambda v: part(v)), lambda: numbers.update(scale=5.0)


def name_put_together():
    box = types.SimpleNamespace(scale0=2.0)
    return (lambda v: v * getattr(box, f"scale{0}")), lambda: setattr(box, "scale0", 5.0)


def name_in_a_variable_beside_a_text():
    box, name = Box(), "scale"
    return (lambda v: v * float(getattr(box, name, "3"))), lambda: setattr(box, "scale", 5.0)


def name_of_an_attribute_getter():
    box, get = Box(), operator.attrgetter("scale")
    return (lambda v: v * get(box)), lambda: setattr(box, "scale", 5.0)


def variable_by_its_name():
    return (lambda v: v * globals()["SCALE"]), lambda: setattr(MODULE, "SCALE", 5.0)


def variable_of_an_imported_module():
    return (lambda v: v * importlib.import_module(__name__).SCALE), lambda: setattr(MODULE, "SCALE", 5.0)


def one_of_many_closures():
    scales = [[2.0] for _ in range(41)]

    def make(i):
        return lambda v: v * scales[i][0]

    made = {str(i): make(i) for i in range(41)}
    return (lambda v: made["7"](v)), lambda: scales[7].__setitem__(0, 5.0)


def attribute_of_a_function():
    def own(v):
        return v * own.scale

    own.scale = 2.0
    return own, lambda: setattr(own, "scale", 5.0)


def defaults_of_a_function():
    def own(v, scale=2.0):
        return v * scale

    return (lambda v: own(v)), lambda: setattr(own, "__defaults__", (5.0,))


def attribute_of_an_argument_s_class():
    class Own:
        scale = 2.0

    own = Own()
    return (lambda v, box=own: v * box.scale), lambda: setattr(Own, "scale", 5.0)


def attribute_of_a_metaclass():
    class Meta(type):
        scale = 2.0

    class Own(metaclass=Meta):
        pass

    return (lambda v: v * Own.scale), lambda: setattr(Meta, "scale", 5.0)


def attribute_of_a_list():
    class Own(list):
        pass

    own = Own([1])
    own.scale = 2.0
    return (lambda v: v * own.scale), lambda: setattr(own, "scale", 5.0)


def attribute_of_a_dictionary():
    class Own(dict):
        __getattr__ = dict.__getitem__
        __setattr__ = dict.__setitem__

    own = Own(scale=2.0)
    return (lambda v: v * own.scale), lambda: setattr(own, "scale", 5.0)


def slot_with_a_private_name():
    class Own:
        __slots__ = ("__scale",)

        def __init__(self):
            self.__scale = 2.0

        def set(self, scale):
            self.__scale = scale

        def times(self, v):
            return v * self.__scale

    own = Own()
    return (lambda v: own.times(v)), lambda: own.set(5.0)


def values_of_a_dictionary():
    numbers = {"scale": 2.0}
    values = numbers.values()
    return (lambda v: v * next(iter(values))), lambda: numbers.update(scale=5.0)


def frozen_set_of_objects():
    box = Box()
    boxes = frozenset([box])
    return (lambda v: v * next(iter(boxes)).scale), lambda: setattr(box, "scale", 5.0)


def set_of_numbers():
    numbers = {2.0}
    return (lambda v: v * sum(numbers)), lambda: (numbers.clear(), numbers.add(5.0))


def memory_of_others():
    buffer = bytearray(np.array([2.0]).tobytes())
    seen = memoryview(buffer)
    return (lambda v: v * np.frombuffer(seen)[0]), lambda: buffer.__setitem__(slice(None), np.array([5.0]).tobytes())


def small_array():
    numbers = np.array([2.0])
    return (lambda v: v * numbers[0]), lambda: numbers.fill(5.0)


def dictionary_of_a_library():
    numbers = [collections.ChainMap({"scale": 2.0})]
    return (lambda v: v * numbers[0]["scale"]), lambda: numbers[0].update(scale=5.0)


def event_of_a_library():
    flags = {"on": threading.Event()}
    return (lambda v: v * (5.0 if flags["on"].is_set() else 2.0)), lambda: flags["on"].set()


def object_taken_apart_by_a_library():
    @dataclasses.dataclass
    class Own:
        scale: float

    owns = [Own(2.0)]
    return (lambda v: v * dataclasses.astuple(owns[0])[0]), lambda: setattr(owns[0], "scale", 5.0)


def member_of_an_enumeration():
    class Kind(enum.Enum):
        LOW = 2.0
        HIGH = 5.0

    box = types.SimpleNamespace(kind=Kind.LOW)
    return (lambda v: v * box.kind.value), lambda: setattr(box, "kind", Kind.HIGH)


def schedule_of_the_package():
    schedule = optim.lr_scheduler.ExponentialLR(optim.SGD([mg.ones(1, requires_grad=True)], lr=2.0), 2.5)
    return (lambda v: v * schedule.get_last_lr()[0]), schedule.step


def learning_rate_read_by_the_step():
    group = optim.SGD([mg.ones(1, requires_grad=True)], lr=2.0).param_groups[0]
    return (lambda v: v * group["lr"]), lambda: group.update(lr=5.0)


def hook_of_a_layer_with_an_object():
    class Own:
        scale = 2.0

        def hook(self, module, args, output):
            return output * self.scale

    own, layer = Own(), nn.Identity()
    layer.register_forward_hook(own.hook)
    return layer, lambda: setattr(own, "scale", 5.0)


@pytest.mark.parametrize(
    "place",
    [
        bound_method,
        bound_method_in_a_list,
        bound_method_of_an_object_that_is_called,
        method_of_a_dictionary,
        partial_with_an_object,
        partial_with_a_dictionary,
        name_put_together,
        name_in_a_variable_beside_a_text,
        name_of_an_attribute_getter,
        variable_by_its_name,
        variable_of_an_imported_module,
        one_of_many_closures,
        attribute_of_a_function,
        defaults_of_a_function,
        attribute_of_an_argument_s_class,
        attribute_of_a_metaclass,
        attribute_of_a_list,
        attribute_of_a_dictionary,
        slot_with_a_private_name,
        values_of_a_dictionary,
        frozen_set_of_objects,
        set_of_numbers,
        memory_of_others,
        small_array,
        dictionary_of_a_library,
        event_of_a_library,
        object_taken_apart_by_a_library,
        member_of_an_enumeration,
        schedule_of_the_package,
        learning_rate_read_by_the_step,
        hook_of_a_layer_with_an_object,
    ],
)
def test_a_number_that_changes_is_seen(place, monkeypatch):
    monkeypatch.setattr(MODULE, "SCALE", 2.0)
    function, change = place()
    step = mg.jit(function)
    for _ in range(5):
        assert step(x).tolist() == [2, 4]
    change()
    for _ in range(4):
        assert step(x).tolist() == [5, 10]


def test_what_is_counted_within_a_step_is_counted_each_time():
    class Tracker:
        def __init__(self):
            self.n, self.seen = 0, []

        def up(self):
            self.n += 1

    class Counter(dict):
        n = 0

    def own(v):
        own.n += 1
        return v * 2

    own.n = 0
    tracker, counter = Tracker(), Counter()
    up, append = tracker.up, tracker.seen.append

    def step(v):
        up()
        append(1)
        counter.n += 1
        return own(v)

    replayed = mg.jit(step)
    for _ in range(7):
        replayed(x)
    assert (tracker.n, len(tracker.seen), counter.n, own.n) == (7, 7, 7, 7)


def test_kinds_of_containers_and_texts_are_told_apart():
    class Own(list):
        pass

    step = mg.jit(lambda v, given: v * (1.0 if type(given) is list else 2.0 if isinstance(given, list) else 3.0))
    for given, wanted in (([1], 1), (Own([1]), 2), ([1], 1), ((1,), 3)):
        for _ in range(3):
            assert step(x, given).tolist() == [wanted, 2 * wanted]
    step = mg.jit(lambda v, given: v * (2.0 if isinstance(given, str) else 3.0))
    for given, wanted in (("a", 2), (b"a", 3), ("\ud800", 2), ("\ud801", 2), (10**5000, 3)):
        for _ in range(3):
            assert step(x, given).tolist() == [wanted, 2 * wanted]


def test_answers_keep_who_is_who():
    def step(v):
        y = v * 2
        lines = [y]
        return {y: y + 1}, (y, y), [lines, lines]

    replayed = mg.jit(step)
    for i in range(6):
        keys, pair, twice = replayed(x * i)
        ((key, value),) = keys.items()
        assert key.tolist() == [2 * i, 4 * i] and value.tolist() == [2 * i + 1, 4 * i + 1]
        assert pair[0] is pair[1] is key and twice[0] is twice[1] and twice[0][0] is key
    assert replayed.is_replaying


@pytest.mark.parametrize("retains", [False, True])
def test_hooks_of_answers_are_called_once(retains):
    step, calls = mg.jit(lambda v: v * 2), []
    for i in range(6):
        v = mg.ones(2, requires_grad=True)
        y = step(v)
        if retains:
            y.retain_grad()
        else:
            y.register_hook(lambda g: calls.append(g.sum().item()) or g * 3)
        y.sum().backward()
        assert v.grad.tolist() == ([2, 2] if retains else [6, 6])
        assert y.grad.tolist() == [1, 1] if retains else len(calls) == i + 1


def test_hooks_that_a_step_registers_are_there():
    def step(v):
        v.register_hook(lambda g: g * 10)
        return v * 2

    replayed = mg.jit(step)
    for _ in range(5):
        v = mg.ones(2, requires_grad=True)
        replayed(v).sum().backward()
        assert v.grad.tolist() == [20, 20]


def test_hooks_that_come_later_are_called():
    w = mg.ones(2, requires_grad=True)
    o = optim.SGD([w], lr=0.25)

    @mg.jit
    def step(v):
        o.zero_grad()
        (w * v).sum().backward()
        o.step()

    for _ in range(4):
        step(mg.ones(2))
    assert step.is_replaying and w.tolist() == [0, 0]
    handle = o.register_step_pre_hook(lambda *_: w.grad.zero_())
    for _ in range(4):
        step(mg.ones(2))
    assert w.tolist() == [0, 0]
    handle.remove()
    step(mg.ones(2))
    assert w.tolist() == [-0.25, -0.25]
    layer = nn.Identity()
    forward = mg.jit(lambda v: layer(v))
    for _ in range(4):
        assert forward(x).tolist() == [1, 2]
    handle = nn.modules.module.register_module_forward_hook(lambda module, args, output: output * 10)
    try:
        for _ in range(3):
            assert forward(x).tolist() == [10, 20]
    finally:
        handle.remove()
    assert forward(x).tolist() == [1, 2]


def test_modes_are_left_as_the_step_leaves_them():
    def step(v):
        y = v * 2
        mg.set_grad_enabled(False)
        return y

    replayed = mg.jit(step)
    for _ in range(5):
        with mg.enable_grad():
            replayed(x)
            assert not mg.is_grad_enabled()


def test_an_optimiser_of_ones_own_is_looked_at():
    class Slow(optim.SGD):
        def __init__(self, params, lr):
            super().__init__(params, lr=lr)
            self.n, self.factor = 0, 1.0

        def step(self, closure=None):
            self.n += 1
            for p in self.param_groups[0]["params"]:
                p.grad.mul_(self.factor)
            return super().step(closure)

    w = mg.zeros(1, requires_grad=True)
    o = Slow([w], 1.0)

    @mg.jit
    def step(v):
        o.zero_grad()
        (w * v).sum().backward()
        o.step()

    for _ in range(5):
        step(mg.ones(1))
    o.factor = 2.0
    step(mg.ones(1))
    assert o.n == 6 and w.item() == -7


@pytest.mark.parametrize("option, value", [("weight_decay", 0.5), ("nesterov", True), ("maximize", True), ("dampening", 0.5), ("momentum", 0.0)])
def test_options_change_between_replays(option, value):
    def train(wrap):
        w = mg.tensor([1.0, -2.0], requires_grad=True)
        o = optim.SGD([w], lr=0.1, momentum=0.9)

        def step(v):
            o.zero_grad()
            (w * v).square().sum().backward()
            o.step()

        step, seen = wrap(step), []
        for i in range(14):
            if i in (5, 10):
                before = o.param_groups[0][option]
                o.param_groups[0][option] = value if i == 5 else before_first
            else:
                before_first = o.param_groups[0][option] if i == 0 else before_first
            step(x)
            seen.append(w.tolist())
        return seen, step

    (plain, _), (replayed, step) = train(lambda f: f), train(mg.jit)
    assert plain == replayed and step.is_replaying


def test_other_parameters_after_a_step():
    w, v = (mg.zeros(1, requires_grad=True) for _ in range(2))
    o = optim.SGD([w], lr=1.0, momentum=0.5)

    @mg.jit
    def step(y):
        w.grad = v.grad = None
        ((w + v) * y).sum().backward()
        o.step()

    for _ in range(4):
        step(mg.ones(1))
    held = o.state[w]["momentum_buffer"].item()
    o.param_groups[0]["params"] = [v]
    for _ in range(4):
        step(mg.ones(1))
    assert v.item() != 0
    o.param_groups[0]["params"] = [v, w]
    before = w.item()
    step(mg.ones(1))
    assert before - w.item() == 1.0 + 0.5 * held  # It goes on with what it had.
    assert held != 0


def test_what_needs_values_runs_plainly():
    norm = nn.BatchNorm1d(2, momentum=None)
    step = mg.jit(lambda v: norm(v))
    other = nn.BatchNorm1d(2, momentum=None)
    for i in range(5):
        batch = mg.tensor([[1.0 * i, 2.0], [3.0, 5.0]])
        step(batch), other(batch)
    assert norm.running_mean.tolist() == other.running_mean.tolist() and not step.is_replaying
    scores = mg.metrics.AUROC()

    @mg.jit
    def score(p, t):
        scores.update(p, t)

    for _ in range(5):
        score(mg.tensor([0.1, 0.9]), mg.tensor([1, 0]))
        score(mg.tensor([0.1, 0.9]), mg.tensor([0, 1]))
    assert scores.compute().item() == 0.5


def test_many_examples_at_once():
    step = mg.jit(lambda v: v.square().sum())
    for _ in range(4):
        step(x)
    assert step.is_replaying
    assert mg.func.vmap(step)(mg.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [5, 25]


def test_a_profiler_of_calls_goes_on():
    import cProfile

    profile = cProfile.Profile()
    profile.enable()
    try:
        step = mg.jit(lambda v: v * 2)
        for _ in range(4):
            assert step(x).tolist() == [2, 4]
    finally:
        profile.disable()
    for _ in range(4):
        step(x)
    assert step.is_replaying


def test_named_tuples_within_a_step():
    step = mg.jit(lambda v: collections.namedtuple("Pair", "a b")(v, v * 2).b)
    for _ in range(5):
        assert step(x).tolist() == [2, 4]


def gradients_with_a_hook(f, hooked):
    """Of the arguments of six calls; `hooked` computes what is given, calls, and answers with a loss."""
    found = []
    for _ in range(6):
        w = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        hooked(f, w).backward()
        found.append(w.grad.tolist())
    return found


def hook_on_what_is_given(f, w):
    h = w * 2
    h.register_hook(lambda g: g * 2)
    return f(h)[0].sum() + h.sum()


def kept_gradient_of_what_is_given(f, w):
    h = w * 2
    h.retain_grad()
    loss = f(h)[1].sum()
    h.register_hook(lambda g: g * 3)
    return loss


def two_steps_in_a_row(f, w):
    y = f(w)[0]
    y.register_hook(lambda g: g * 3)
    return f(y)[1].sum()


def hook_on_an_answer_that_is_an_argument(f, w):
    h = w * 1
    answer = f(h)[2]
    answer.register_hook(lambda g: g * 3)
    return (answer * f(h)[0]).sum()


def hook_on_an_answer_that_is_a_view(f, w):
    a, b, _ = f(w)
    a.register_hook(lambda g: g * 3)
    return (a * a).sum() + (b * b).sum()


@pytest.mark.parametrize(
    "hooked",
    [
        hook_on_what_is_given,
        kept_gradient_of_what_is_given,
        two_steps_in_a_row,
        hook_on_an_answer_that_is_an_argument,
        hook_on_an_answer_that_is_a_view,
    ],
)
def test_hooks_around_a_replay(hooked):
    def step(h):
        t = (h * 2).t()
        return t, t.sin(), h

    f = mg.jit(step)
    assert gradients_with_a_hook(f, hooked) == gradients_with_a_hook(step, hooked)
    assert f.is_replaying


def test_a_kept_gradient_of_a_replays_answer():
    @mg.jit
    def f(w):
        t = (w * 2).t()
        return t, t * 2

    for _ in range(5):
        w = mg.ones(2, 2, requires_grad=True)
        y, z = f(w)
        y.retain_grad()
        ((y * y).sum() + (z * z).sum()).backward()
        assert y.grad.tolist() == [[20, 20], [20, 20]]
    assert f.is_replaying


def test_what_known_tensors_are_is_looked_at_though_their_numbers_are_not():
    a, b = nn.Parameter(mg.ones(2)), nn.Parameter(mg.ones(2) * 3).requires_grad_(False)

    @mg.jit
    def decayed(v):
        loss = (a * v).sum()
        for p in (a, b):
            if p.requires_grad:
                loss = loss + (p**2).sum()
        return loss

    assert [decayed(mg.ones(2)).item() for _ in range(5)] == [4] * 5 and decayed.is_replaying
    b.requires_grad_(True)
    assert [decayed(mg.ones(2)).item() for _ in range(5)] == [22] * 5 and decayed.is_replaying

    c = mg.ones(3)
    f = mg.jit(lambda v: v * c.shape[0] * c.ndim * len(c))
    assert [f(x).tolist() for _ in range(4)] == [[9, 18]] * 4 and f.is_replaying
    c.unsqueeze_(0)
    assert [f(x).tolist() for _ in range(4)] == [[2, 4]] * 4 and f.is_replaying

    m = nn.Linear(2, 3)
    g = mg.jit(lambda v: v * m.weight.shape[0])
    assert [g(x).tolist() for _ in range(4)] == [[3, 6]] * 4 and g.is_replaying
    m.weight.data = mg.ones(5, 2)
    assert g(x).tolist() == [5, 10]

    d = mg.ones(2)
    h = mg.jit(lambda v: v * (2 if d.is_leaf else 3) * (5 if d.dtype == mg.float32 else 7))
    assert [h(x).tolist() for _ in range(4)] == [[10, 20]] * 4 and h.is_replaying
    d.data = mg.ones(2, dtype=mg.float64)
    assert h(x).tolist() == [14, 28]


def test_functions_in_answers():
    f = mg.jit(lambda v: lambda other: v * other)
    assert [f(mg.tensor([float(i)]))(x).tolist() for i in range(5)] == [[i * 1.0, i * 2.0] for i in range(5)]
    assert "function" in f.reason
    g = mg.jit(lambda v: (v * 2, mg.relu, float))
    assert [g(mg.tensor([float(i)]))[0].item() for i in range(5)] == [0, 2, 4, 6, 8] and g.is_replaying
    assert g(x)[1] is mg.relu
    h = mg.jit(lambda v: (v * 2).add)
    assert [h(mg.tensor([float(i)]))(1).item() for i in range(5)] == [1, 3, 5, 7, 9]
    k = mg.jit(lambda v: type("Made", (), {"t": v * 2}))
    assert [k(mg.tensor([float(i)])).t.item() for i in range(5)] == [0, 2, 4, 6, 8]


def test_gradients_that_are_kept_within_a_step():
    @mg.jit
    def step(v):
        h = v * 3
        h.retain_grad()
        return h

    for _ in range(5):
        a = mg.tensor([1.0, 2.0], requires_grad=True)
        h = step(a * 2)
        (h * h).sum().backward()
        assert h.retains_grad and h.grad.tolist() == [12, 24]


def test_methods_of_a_class_that_are_replaced_are_seen_without_being_named():
    class Net(mg.nn.Module):
        def forward(self, x):
            return x * 2

    class Scale:
        def __call__(self, x):
            return x + 1

    net, scale = Net(), Scale()
    f, g = mg.jit(lambda x: net(x)), mg.jit(lambda x: scale(x))
    for _ in range(3):
        assert (f(mg.ones(1)).item(), g(mg.ones(1)).item()) == (2.0, 2.0)
    assert f.is_replaying and g.is_replaying
    Net.forward, Scale.__call__ = lambda self, x: x * 3, lambda self, x: x + 4
    assert (f(mg.ones(1)).item(), g(mg.ones(1)).item()) == (3.0, 5.0)


def test_the_order_of_an_ordered_dictionary_is_seen():
    scales = collections.OrderedDict(a=1.0, b=2.0)
    f = mg.jit(lambda x: x * next(iter(scales.values())))
    for _ in range(3):
        assert f(mg.ones(1)).item() == 1.0
    scales.move_to_end("a")
    assert f(mg.ones(1)).item() == 2.0
