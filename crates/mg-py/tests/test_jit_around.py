"""What stands around a replayed step: wherever a number stands and however it changes, the step answers as its function would."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import gc
import importlib
import operator
import sys
import sysconfig
import threading
import types

import micrograd_rs as mg
import numpy as np
import pytest
from conftest import RECORDED
from micrograd_rs import nn, optim

T = mg.tensor
x = mg.tensor([1.0, 2.0])
MODULE = sys.modules[__name__]
SCALE = 2.0


# Numbers that change.


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


def test_what_surrounds_a_step_is_looked_at():
    class Scale:
        by = 2.0

    scale, factor = Scale(), 2.0
    model = mg.nn.Dropout(0.5)
    f = mg.jit(lambda x: x * scale.by * factor)
    drop = mg.jit(lambda x: model(x))
    for _ in range(RECORDED):
        assert f(T([1.0])).item() == 4
        drop(mg.ones(50))
    scale.by, factor = 3.0, 5.0
    assert f(T([1.0])).item() == 15
    model.eval()
    assert drop(mg.ones(50)).tolist() == [1.0] * 50


def test_an_evaluation_sees_training():
    m = mg.nn.Linear(1, 1, bias=False)
    step = mg.jit(lambda x: m(x).sum())
    m.weight.data = T([[1.0]])
    assert [step(T([[b]])).item() for b in (1.0, 2.0, 3.0, 4.0)] == [1, 2, 3, 4]
    m.load_state_dict({"weight": T([[7.0]])})
    assert step(T([[1.0]])).item() == 7
    with mg.no_grad():
        m.weight.fill_(2.0)
    assert step(T([[1.0]])).item() == 2
    m.weight.grad = mg.ones(1, 1)
    mg.optim.SGD(m.parameters(), lr=1.0).step()
    assert step(T([[1.0]])).item() == 1


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


# What a step counts.


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


def cells():
    """Something that a step changes, with a number in it that others change: how to count, how to set and how to read."""
    record = {"n": 0, "inner": {"scale": 1.0}}
    entries = [0, 1.0]

    class Holder:
        n, scale = 0, 1.0

    holder = Holder()
    yield (
        lambda: record.__setitem__("n", record["n"] + 1),
        lambda v: record["inner"].__setitem__("scale", v),
        lambda: record["inner"]["scale"],
    )
    yield lambda: entries.__setitem__(0, entries[0] + 1), lambda v: entries.__setitem__(1, v), lambda: entries[1]
    yield lambda: setattr(holder, "n", holder.n + 1), lambda v: setattr(holder, "scale", v), lambda: holder.scale


@pytest.mark.parametrize("cell", range(3))
def test_what_a_step_counts_hides_no_other_change(cell):
    count, change, read = list(cells())[cell]

    def step(x):
        count()
        return x * read()

    f = mg.jit(step)
    told = []
    for k in range(12):
        change(1.0 + k // 3)
        told.append(f(mg.ones(1)).item())
    assert told == [1.0 + k // 3 for k in range(12)]


def test_a_module_that_counts_its_calls_is_seen_to_change():
    class Counts(mg.nn.Module):
        def __init__(self):
            self.steps = 0
            self.scale = 1.0

        def forward(self, x):
            self.steps += 1
            return x * self.scale if self.training else x * 0

    module = Counts()
    compiled = mg.compile(module)
    x = mg.ones(2)
    for _ in range(6):
        assert compiled(x).tolist() == [1, 1]
    compiled.scale = 3.0
    assert (module.scale, compiled(x).tolist(), module.steps) == (3.0, [3, 3], 7)
    module.eval()
    assert compiled(x).tolist() == [0, 0]


# Modes, and steps that run as they are.


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


def test_replays_know_the_default_dtype():
    def f(x):
        return x / 2 + mg.ones(2)

    step, x = mg.jit(f), mg.tensor([1, 2])
    try:
        for dtype in (mg.float32, mg.float64, mg.float32, mg.float64):
            mg.set_default_dtype(dtype)
            for _ in range(3):
                assert step(x).dtype == f(x).dtype == dtype
        assert step.is_replaying
    finally:
        mg.set_default_dtype(mg.float32)


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


def test_what_others_want_to_be_called_when_garbage_is_collected_is_no_part_of_a_step():
    class Unseen:
        """Something of which nobody can say whether it changed."""

        __slots__ = ("value",)

        def __get__(self, obj, owner):
            return self

    source = types.ModuleType("elsewhere")
    exec("def collected(phase, info):\n    seen.append(unseen)\n", vars(source))
    vars(source).update(seen=[], unseen=Unseen())
    before = gc.get_threshold()
    step = mg.jit(lambda v: functools.reduce(lambda a, _: [a[0] * 2.0], range(50), [v])[0])
    gc.callbacks.append(source.collected)
    try:
        gc.set_threshold(1, 1, 1)
        answers = [step(x) for _ in range(4)]
        assert gc.isenabled()
        gc.disable()
        other = mg.jit(lambda v: v + 1.0)
        other(x)
        assert not gc.isenabled()
    finally:
        gc.callbacks.remove(source.collected)
        gc.set_threshold(*before)
        gc.enable()
    # Without the interpreter's lock it is collected only where there is much of it.
    assert source.seen or sysconfig.get_config_var("Py_GIL_DISABLED"), "garbage was collected meanwhile"
    assert step.is_replaying and all((a == x * 2.0**50).all() for a in answers)
