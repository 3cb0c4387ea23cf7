"""What a replayed step asks for by ways that no name in its code shows: by `setattr`, patterns, keys, threads, clocks, libraries, operators."""

import collections
import contextlib
import dataclasses
import functools
import logging
import os
import sys
import threading
import time
from operator import attrgetter as by_another_name

import numpy as np
import pytest

import micrograd_rs as mg


class Box:
    pass


def plainly(f):
    return f


def both(run, *args):
    """The same with and without `jit`."""
    plain, jitted = run(plainly, *args), run(mg.jit, *args)
    assert plain == jitted
    return plain


def calls(wrap, f, change, calls=6, at=4):
    """What a step of one number answers, which is changed from outside before the call of this number."""
    step, out = wrap(f), []
    for i in range(calls):
        if i == at:
            change()
        out.append(step(mg.ones(1)).item())
    return out


def test_names_that_are_made_are_written():
    class Net:
        def forward(self, x):
            for i in range(2):
                x = x + 1
                setattr(self, f"act{i}", x)
            return x

    def kept(wrap):
        net, out = Net(), []
        step = wrap(net.forward)
        for i in range(5):
            step(mg.ones(1) * i)
            out.append([net.__dict__["act0"].item(), net.__dict__["act1"].item()])
        return out

    assert both(kept)[-1] == [5.0, 6.0]


@dataclasses.dataclass
class State:
    h: object = None
    c: object = None


class Put:
    def put(self, name, value):
        object.__setattr__(self, name, value)


@pytest.mark.parametrize("which", range(3))
def test_names_are_written_in_other_ways(which):
    def run(wrap):
        state, put, some, name = State(), Put(), type("C", (), {}), "z" + "z"

        def fields(x):
            for field in dataclasses.fields(state):
                setattr(state, field.name, x * 2)

        def by_method(x):
            put.put(name, x * 2)

        def of_class(x):
            setattr(some, name, x * 2)

        step, out = wrap([fields, by_method, of_class][which]), []
        for i in range(5):
            step(mg.ones(1) * i)
            out.append([state.c, getattr(put, name, 0), getattr(some, name, 0)][which].item())
        return out

    assert both(run) == [0.0, 2.0, 4.0, 6.0, 8.0]


@dataclasses.dataclass
class Inner:
    scale: float = 2.0
    bias: float = 1.0


@dataclasses.dataclass
class Config:
    inner: Inner = dataclasses.field(default_factory=Inner)


@pytest.mark.parametrize("by_position", [True, False])
def test_patterns_ask_for_attributes(by_position):
    def run(wrap):
        config = Config()

        def position(x):
            match config:
                case Config(Inner(scale, bias)):
                    return x * scale + bias

        def name(x):
            match config:
                case Config(inner=Inner(bias=bias)):
                    return x + bias

        return calls(wrap, position if by_position else name, lambda: setattr(config.inner, "bias", 10.0))

    assert both(run)[-1] > 10


ASKING = getattr


@pytest.mark.parametrize("which", range(7))
def test_attributes_by_odd_names_and_ways(which):
    def run(wrap):
        names = ("layer.0", "n" * 64, "zscale")
        box, part = [Box()], "zsca"

        def put(value):
            for name in names:
                setattr(box[0], name, value)

        put(2.0)

        def local(x):
            get = getattr
            return x * get(box[0], "zzz", 1.0) * get(box[0], part + "le")

        f = [
            lambda x: x * getattr(box[0], "layer.0"),
            lambda x: x * getattr(box[0], "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"),
            lambda x: x * ASKING(box[0], part + "le"),
            local,
            lambda x: x * float("{0.zscale}".format(box[0])),
            lambda x: x * sum(box[0].__getstate__().values()) / 3,
            lambda x: x * by_another_name(part + "le")(box[0]),
        ][which]
        return calls(wrap, f, lambda: put(5.0))

    assert both(run) == [2.0] * 4 + [5.0] * 2


@pytest.mark.parametrize("which", range(5))
def test_what_a_librarys_code_reads(which):
    def run(wrap):
        log = logging.getLogger("micrograd_rs.test_jit_asked")
        log.setLevel(logging.INFO)
        box = Box()
        box.log, box.zs = log, 2.0
        held = [np.polynomial.Polynomial([2.0]), np.poly1d([2.0]), contextlib.nullcontext(2.0), contextlib.nullcontext(box)]

        def entered(x):
            with held[2] as value:
                return x * value

        def entered_object(x):
            with held[3] as value:
                return x * value.zs

        f, change = [
            (lambda x: x * (5 if box.log.isEnabledFor(logging.DEBUG) else 2), lambda: log.setLevel(logging.DEBUG)),
            (lambda x: x * float(held[0](1.0)), lambda: held[0].coef.fill(5.0)),
            (lambda x: x * float(held[1](1.0)), lambda: held[1].__setitem__(0, 5.0)),
            (entered, lambda: setattr(held[2], "enter_result", 5.0)),
            (entered_object, lambda: setattr(box, "zs", 5.0)),
        ][which]
        return calls(wrap, f, change)

    assert both(run) == [2.0] * 4 + [5.0] * 2


def test_containers_that_are_one_object():
    def run(wrap):
        step, x, out = wrap(lambda a, b, x: ((x * 2 if a is b else x * 3), a, b)), mg.ones(1), []
        for i in range(8):
            a = {"k": x}
            b = a if i < 4 else {"k": x}
            y, first, second = step(a, b, x)
            out.append((y.item(), first is a, second is b))
        return out

    both(run)


def test_containers_in_answers_are_those_that_are_known():
    def run(wrap):
        box, out = Box(), []
        box.meta = {"epoch": 0}
        step = wrap(lambda x: (x * 2, box.meta))
        for i in range(8):
            if i == 4:
                box.meta = {"epoch": 0}
            _, meta = step(mg.ones(1))
            out.append(meta is box.meta)
        meta["epoch"] = 9
        return out, box.meta

    assert both(run) == ([True] * 8, {"epoch": 9})


def test_containers_that_are_made_are_replayed():
    step = mg.jit(lambda x: {"y": [x * 2]})
    for i in range(4):
        assert step(mg.ones(1) * i)["y"][0].item() == 2 * i
    assert step.is_replaying


def test_tensors_that_are_known_are_answered_with():
    total = mg.zeros(1)

    def f(x):
        total.add_(x)
        return total

    step = mg.jit(f)
    assert all(step(mg.ones(1)) is total for _ in range(5))
    assert step.is_replaying


@pytest.mark.parametrize("which", range(5))
def test_operators_and_what_hides(which):
    def run(wrap):
        class Number:
            def __float__(self):
                return 2.0

            def __get__(self, of, kind=None):
                return 2.0

        class Of:
            n = Number()

        number, of, lock, made = Number(), Of(), threading.Lock(), collections.defaultdict(lambda: 2.0)
        remembered = functools.lru_cache(maxsize=None)(lambda: {"s": 2.0})

        def missing(x):
            value = made["a"]
            del made["a"]
            return x * value

        f, change = [
            (lambda x: x * float(number), lambda: setattr(Number, "__float__", lambda s: 5.0)),
            (lambda x: x * of.n, lambda: setattr(Number, "__get__", lambda s, o, t=None: 5.0)),
            (lambda x: x * (5 if lock.locked() else 2), lock.acquire),
            (missing, lambda: setattr(made, "default_factory", lambda: 5.0)),
            (lambda x: x * remembered()["s"], lambda: remembered().update(s=5.0)),
        ][which]
        return calls(wrap, f, change)

    assert both(run) == [2.0] * 4 + [5.0] * 2


class Meta(type):
    def __getattr__(cls, name):
        raise KeyError(name)


class Guarded(metaclass=Meta):
    def __init__(self):
        self.value = 2.0


class Closed(set):
    def __iter__(self):
        raise ValueError("not to be gone through")


def test_what_cannot_be_looked_at_is_no_error():
    guarded, closed = Guarded(), Closed([1.0])
    for f, want in ((lambda x: x * guarded.value, 2.0), (lambda x: x * len(closed), 1.0)):
        step = mg.jit(f)
        assert [step(mg.ones(1)).item() for _ in range(3)] == [want] * 3


def test_a_batch_of_what_a_step_knows():
    class Model(mg.nn.Module):
        def __init__(self, wrap):
            super().__init__()
            self.w = mg.nn.Parameter(mg.ones(3))
            self.core = wrap(lambda x: (x * self.w).sin())

        def forward(self, x):
            return self.core(x)

    def run(wrap):
        model = Model(wrap)
        return mg.func.vmap(lambda w: mg.func.functional_call(model, {"w": w}, (mg.ones(3),)))(mg.ones(2, 3)).tolist()

    both(run)


def test_errors_that_a_step_catches():
    def cholesky(k):
        try:
            return mg.linalg.cholesky(k)
        except RuntimeError:
            return mg.linalg.cholesky(k + 10 * mg.eye(2))

    def loss(y):
        try:
            return mg.nn.functional.cross_entropy(mg.ones(1, 3), y)
        except IndexError:
            return mg.tensor(-1.0)

    for f, good, bad in (
        (cholesky, lambda: mg.eye(2), lambda: -mg.eye(2)),
        (loss, lambda: mg.tensor([0]), lambda: mg.tensor([9])),
    ):
        step = mg.jit(f)
        for i in range(6):
            given = bad() if i == 4 else good()
            assert step(given).sum().item() == f(given).sum().item()


def test_gradients_that_are_something_else_too():
    def given(wrap):
        w, out = mg.ones(2, requires_grad=True), []

        def f(x):
            w.grad = x

        step = wrap(f)
        for i in range(5):
            x = mg.ones(2) * i
            step(x)
            w.grad.add_(1)
            out.append((w.grad.tolist(), x.tolist()))
        return out

    def shared(wrap):
        a, b, out = mg.ones(1, requires_grad=True), mg.ones(1, requires_grad=True), []

        def f(x):
            a.grad = b.grad = x * 2

        step = wrap(f)
        for i in range(5):
            step(mg.ones(1) * i)
            a.grad.add_(1)
            out.append((a.grad.tolist(), b.grad.tolist()))
        return out

    both(given)
    both(shared)


@pytest.mark.parametrize("which", range(4))
def test_arrays_are_more_than_their_numbers(which):
    def fields(i):
        array = np.zeros(1, dtype=[("x", "<f4"), ("y", "<f4")] if i < 4 else [("y", "<f4"), ("x", "<f4")])
        array[array.dtype.names[1]] = 7
        return array

    def order(i):
        array = np.arange(4, dtype=np.float32).reshape(2, 2)
        return array if i < 4 else np.asfortranarray(array)

    def masked(i):
        return np.ma.array([1.0, 2.0], mask=[0, i >= 4], fill_value=2.0)

    f, make = [
        (lambda a: mg.tensor(a["x"].copy()) * 2, fields),
        (lambda a: mg.ones(1) * mg.from_numpy(a).stride()[0], order),
        (lambda a: mg.ones(1) * float(a.ravel(order="K")[1]), order),
        (lambda a: mg.ones(1) * float(a.sum()), masked),
    ][which]

    def run(wrap):
        step = wrap(f)
        return [step(make(i)).tolist() for i in range(6)]

    assert len({str(answer) for answer in both(run)}) == 2


@pytest.mark.parametrize("which", range(3))
def test_options_by_keys_that_stand_nowhere(which):
    def run(wrap):
        w = mg.ones(1, requires_grad=True)
        opt, key, out = mg.optim.SGD([w], lr=0.5), "".join(["l", "r"]), []
        keys = [key]
        f = [
            lambda x, k: x * opt.param_groups[0][k],
            lambda x, k: x * sum(opt.param_groups[0][n] for n in keys),
            lambda x, k: x * sum(v for v in opt.param_groups[0].values() if type(v) is float),
        ][which]
        step = wrap(f)
        for i in range(6):
            if i == 4:
                opt.param_groups[0][key] = 0.25
            out.append(step(mg.ones(1), key).item())
        return out

    assert both(run) == [0.5] * 4 + [0.25] * 2


def test_learning_rates_of_groups_that_are_gone_through_are_replayed():
    w = mg.ones(1, requires_grad=True)
    opt = mg.optim.SGD([w], lr=1.0)

    def f(x):
        opt.zero_grad()
        (w * x).sum().backward()
        for group in opt.param_groups:
            for p in group["params"]:
                p.grad.mul_(2.0)
        opt.step()

    step = mg.jit(f)
    for i in range(6):
        opt.param_groups[0]["lr"] = 1.0 / (i + 1)
        step(mg.ones(1))
    assert step.is_replaying
    assert w.item() == pytest.approx(1 - 2 * sum(1 / (i + 1) for i in range(6)))


def test_classes_that_were_made_of_text():
    def run(wrap):
        made = {}
        exec("class A:\n    k = 2.0\n    def get(self): return self.k\n", made)
        held = [made["A"]()]
        return calls(wrap, lambda x: x * held[0].get(), lambda: setattr(made["A"], "k", 5.0))

    assert both(run) == [2.0] * 4 + [5.0] * 2


def test_a_profiler_that_a_step_stops():
    def run(wrap):
        box = Box()
        box.zval = 1.0
        held = [box]
        helpers = [lambda: held[0].zval]

        def f(x):
            sys.setprofile(None)
            return x * helpers[0]()

        return calls(wrap, f, lambda: setattr(box, "zval", 5.0))

    assert both(run) == [1.0] * 4 + [5.0] * 2


@pytest.mark.parametrize("by_name", [True, False])
def test_which_thread_it_is(by_name):
    def run(wrap):
        main, scale, out = threading.get_ident(), {threading.current_thread().name: 1.0, "other": 5.0}, []
        f = [
            lambda x: x * {main: 1.0}.get(threading.get_ident(), 5.0),
            lambda x: x * scale[threading.current_thread().name],
        ][by_name]
        step = wrap(f)
        for _ in range(4):
            out.append(step(mg.ones(1)).item())
        other = threading.Thread(target=lambda: out.append(step(mg.ones(1)).item()), name="other")
        other.start()
        other.join()
        return out

    assert both(run) == [1.0] * 4 + [5.0]


def test_modes_that_a_step_asks_for():
    def inference(wrap):
        step, out = wrap(lambda x: x * (3 if mg.is_inference_mode_enabled() else 2)), []
        for i in range(6):
            with (mg.no_grad if i < 4 else mg.inference_mode)():
                out.append(step(mg.ones(1)).item())
        return out

    def deterministic(wrap):
        step, out = wrap(lambda x: x * (3 if mg.are_deterministic_algorithms_enabled() else 2)), []
        try:
            for i in range(6):
                mg.use_deterministic_algorithms(i >= 4)
                out.append(step(mg.ones(1)).item())
        finally:
            mg.use_deterministic_algorithms(False)
        return out

    assert both(inference) == both(deterministic) == [2.0] * 4 + [3.0] * 2


def test_what_a_step_puts_beside_an_optimisers_state():
    def run(wrap):
        w = mg.ones(1, requires_grad=True)
        opt, out = mg.optim.SGD([w], lr=0.1, momentum=0.9), []

        def f(x):
            opt.zero_grad()
            (w * x).sum().backward()
            opt.state[w]["seen"] = x * 2
            opt.step()

        step = wrap(f)
        for i in range(7):
            step(mg.ones(1) * i)
            out.append(opt.state[w]["seen"].item())
        return out

    assert both(run) == [2.0 * i for i in range(7)]


@pytest.mark.parametrize("which", range(4))
def test_what_a_program_puts_into_others_modules(which, monkeypatch):
    def run(wrap):
        import builtins

        config = Box()
        config.zs = 2.0
        monkeypatch.setattr(sys, "zconfig", {"s": 2.0}, raising=False)
        monkeypatch.setattr(mg, "zconfig", config, raising=False)
        monkeypatch.setattr(builtins, "ZSCALE", 2.0, raising=False)
        monkeypatch.setenv("MG_TEST_SCALE", "2")
        f, change = [
            (lambda x: x * sys.zconfig["s"], lambda: sys.zconfig.update(s=5.0)),
            (lambda x: x * mg.zconfig.zs, lambda: setattr(config, "zs", 5.0)),
            (lambda x: x * ZSCALE, lambda: setattr(builtins, "ZSCALE", 5.0)),  # noqa: F821
            (lambda x: x * float(os.environ["MG_TEST_SCALE"]), lambda: os.environ.update(MG_TEST_SCALE="5")),
        ][which]
        return calls(wrap, f, change)

    assert both(run) == [2.0] * 4 + [5.0] * 2


@pytest.mark.parametrize("which", range(4))
def test_how_a_tensor_lies(which):
    def run(wrap):
        if which == 3:
            line = mg.arange(9.0)
            step = wrap(lambda x: x[0] * 0 + x.storage_offset())
            return [step(line[2:4] if i < 4 else line[5:7]).item() for i in range(6)]
        held, other = mg.arange(9.0).view(3, 3), mg.arange(9.0).view(3, 3).t()
        f = [
            lambda x: x * float(held.stride()[0]),
            lambda x: x * (1 if held.is_contiguous() else 2),
            lambda x: x * float(held.storage_offset()),
        ][which]

        def change():
            held.data = other if which < 2 else mg.arange(20.0)[5:14].view(3, 3)

        return calls(wrap, f, change)

    assert len(set(both(run))) == 2


def test_a_step_that_reads_a_clock_is_called():
    start = time.perf_counter()
    step = mg.jit(lambda x: x * (2 if time.perf_counter() - start < 0.2 else 3))
    assert [step(mg.ones(1)).item() for _ in range(4)] == [2.0] * 4
    time.sleep(0.25)
    assert step(mg.ones(1)).item() == 3.0
    assert step.reason == "the step reads a clock"


def test_what_keeps_nothing_is_walked_twice():
    def run(wrap):
        w, out = mg.ones(3, requires_grad=True), []
        step = wrap(lambda x: (w + x, w - x, w * x))
        for _ in range(5):
            w.grad = None
            a, b, c = step(mg.ones(3))
            a.sum().backward()
            (a.sum() + b.sum()).backward()
            c.sum().backward()
            with pytest.raises(RuntimeError, match="let go"):
                c.sum().backward()
            out.append(w.grad.tolist())
        return out

    assert both(run) == [[4.0] * 3] * 5
