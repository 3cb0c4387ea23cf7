"""Ctrl-C at any instant: what a block or a function switches is put back, and no parameter is lost."""

from __future__ import annotations

import copy
import gc
import linecache
import math
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import micrograd_rs as mg
from micrograd_rs import nn

# Ctrl-C in a callback of Python's own (of a `WeakSet`, say) is told of there, and goes no further.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

HOME = str(Path(mg.__file__).parent)


def modes():
    anomaly = (mg.autograd.is_anomaly_enabled(), mg.autograd.is_anomaly_check_nan_enabled())
    return mg.is_grad_enabled(), mg.is_inference_mode_enabled(), mg.is_autocast_enabled("cpu"), str(mg.get_default_device()), anomaly


PLAIN = modes()


def at_each_instant(function, holds=lambda: True):
    """Runs a function until it has been interrupted at each line of the package's code, after which `holds` says whether all is as it should
    be; answers with how often that was.
    """
    k = 0
    while True:
        k += 1
        n = 0
        lines: dict[int, int] = {}

        def trace(frame, event, _arg):
            nonlocal n
            if not frame.f_code.co_filename.startswith(HOME):
                return None
            before = lines.get(id(frame), 0) if event == "line" else 0
            lines[id(frame)] = frame.f_lineno
            # A `with` comes again where its block is left: Python looks for no signals before it has called what ends the block.
            is_left = frame.f_lineno < before and linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with ")
            if event in ("call", "line") and not is_left:
                n += 1
                if n == k:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            function()
            sys.settrace(None)
            assert n < k, "the interrupt was lost"
            return k - 1
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        assert modes() == PLAIN, (k, modes())
        assert holds(), k


def blocks():
    x = mg.ones(2, requires_grad=True)
    for block in (mg.no_grad, mg.enable_grad, mg.inference_mode, mg.autograd.detect_anomaly, lambda: mg.autocast("cpu"), lambda: mg.device("cpu")):
        with block():
            x * 2
    return x


def functions():
    for block in (mg.no_grad(), mg.enable_grad(), mg.inference_mode(), mg.autocast("cpu")):

        @block
        def f(x):
            return x * 2

        f(mg.ones(2))

    @mg.no_grad()
    def two():
        sent = yield 1
        yield sent

    body = two()
    assert (next(body), body.send(3)) == (1, 3)
    body.close()


class Twice(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        assert not mg.is_grad_enabled()
        return x * 2

    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2


def training():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    best = mg.optim.Adam(net.parameters())
    mean = mg.optim.swa_utils.AveragedModel(net)

    def step():
        best.zero_grad()
        Twice.apply(net(mg.ones(4, 3))).sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        nn.utils.clip_grad_value_(net.parameters(), 1.0)
        best.step()
        best.load_state_dict(best.state_dict())
        net.load_state_dict(net.state_dict())

    step()
    assert mean is not None
    return step


@pytest.mark.parametrize("function", [blocks, functions])
def test_a_switch_is_put_back(function):
    function()
    assert modes() == PLAIN
    assert at_each_instant(function) > 10 and modes() == PLAIN


def test_a_step_of_a_training_leaves_gradients_on():
    step = training()
    assert at_each_instant(step) > 100
    step()
    assert modes() == PLAIN


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_signals_find_blocks_whole():
    def stop(*_):
        raise KeyboardInterrupt

    # Python's import of what a block needs is no part of what is tried.
    with mg.inference_mode(), mg.autocast("cpu"):
        pass
    before = signal.signal(signal.SIGALRM, stop)
    x = mg.ones(2, requires_grad=True)
    try:
        for i in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-4 + i * 1e-6)
                while True:
                    with mg.no_grad():
                        pass
                    with mg.inference_mode(), mg.autocast("cpu"):
                        pass
            except KeyboardInterrupt:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert modes() == PLAIN
    finally:
        signal.signal(signal.SIGALRM, before)
    (x * 2).sum().backward()


def test_blocks_are_used_again_and_within_each_other():
    off, on = mg.no_grad(), mg.enable_grad()
    with off:
        with on:
            with off:
                assert not mg.is_grad_enabled()
            assert mg.is_grad_enabled()
        assert not mg.is_grad_enabled()
    assert mg.is_grad_enabled()
    with pytest.raises(RuntimeError, match="not entered"):
        off.__exit__(None, None, None)
    with pytest.raises(ZeroDivisionError), off:
        1 / 0
    assert mg.is_grad_enabled()
    with mg.no_grad() as nothing, mg.autocast("cpu") as region:
        assert nothing is None and isinstance(region, mg.autocast) and region.fast_dtype == mg.bfloat16
    mg.set_grad_enabled(False)
    assert not mg.is_grad_enabled()
    with mg.set_grad_enabled(True):
        assert mg.is_grad_enabled()
    assert not mg.is_grad_enabled()
    switch = mg.set_grad_enabled(True)
    with switch:
        pass
    assert not mg.is_grad_enabled()
    with switch:
        assert mg.is_grad_enabled()
    mg.set_grad_enabled(True)
    assert modes() == PLAIN


def test_blocks_are_copied():
    region = mg.autocast("cpu", dtype=mg.float16, cache_enabled=False)
    for other in (copy.deepcopy(region), pickle.loads(pickle.dumps(region)), copy.copy(region)):
        with other:
            assert mg.get_autocast_dtype("cpu") == mg.float16 and not mg.is_autocast_cache_enabled()
    for block in (mg.no_grad(), mg.inference_mode()):
        with copy.deepcopy(block):
            assert not mg.is_grad_enabled()
    assert modes() == PLAIN

    class Mine(mg.autocast):
        def __init__(self, how):
            super().__init__("cpu", dtype=how)

    with Mine(mg.float16):
        assert mg.get_autocast_dtype("cpu") == mg.float16


def test_none_is_lost_where_a_step_is_looked_at():
    w = mg.randn(4, requires_grad=True)
    optimizer = mg.optim.Adam([w])

    @mg.jit
    def step(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = mg.ones(4)
    for _ in range(5):
        step(x)
    assert step.is_replaying
    # A replay runs Python's code where it asks the optimiser for its groups: at each line of that.
    assert at_each_instant(lambda: step(x)) > 3
    assert step.is_replaying


def test_none_is_lost_while_lines_are_looked_up(monkeypatch):
    """Python is asked for lines within `detect_anomaly`, and where an error tells of a write."""
    import linecache

    x = mg.ones(2, requires_grad=True)
    changed = x * 1
    answer = changed.sin()
    changed.add_(1)
    asked = 0

    def stop(*_):
        nonlocal asked
        asked += 1
        raise KeyboardInterrupt

    monkeypatch.setattr(linecache, "getline", stop)
    with pytest.raises(KeyboardInterrupt):
        answer.sum().backward()
    assert asked == 1
    with mg.autograd.detect_anomaly():
        for work in (lambda: x * 2, lambda: mg.ones(2), x.sum, lambda: x.detach().add_(1)):
            with pytest.raises(KeyboardInterrupt):
                work()
    assert asked == 5 and x.tolist() == [1.0, 1.0]

    def fail(*_):
        raise ValueError("no lines")

    # What is no interrupt is none of the caller's: there is no line.
    monkeypatch.setattr(linecache, "getline", fail)
    with mg.autograd.detect_anomaly():
        assert (x * 2).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("persistent", [False, True])
def test_none_is_lost_where_workers_are_dropped(persistent):
    data = mg.utils.data.TensorDataset(mg.arange(6))

    def loops():
        loader = mg.utils.data.DataLoader(data, batch_size=2, num_workers=2, persistent_workers=persistent)
        assert [b.tolist() for (b,) in loader] == [[0, 1], [2, 3], [4, 5]]
        for _ in loader:
            random.random()
            draw()
            break
        del loader

    try:
        import numpy

        draw = numpy.random.rand
    except ImportError:
        draw = random.random
    before = threading.active_count()
    loops()
    assert at_each_instant(loops) > 50
    # Workers end where nobody has them, however far the loop came.
    gc.collect()
    ends = time.monotonic() + 20
    while threading.active_count() > before and time.monotonic() < ends:
        time.sleep(0.01)
    assert threading.active_count() <= before
    assert type(random._inst) is random.Random


@pytest.mark.parametrize("change", ["rate", "schedule", "load"])
def test_groups_of_an_optimiser_are_whole_whenever_a_change_is_interrupted(change):
    w = mg.randn(4, requires_grad=True)
    optimizer = mg.optim.Adam([w], 1e-3)
    schedule = mg.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    state = optimizer.state_dict()

    def changed():
        if change == "rate":
            optimizer.param_groups[0]["lr"] = 1e-3
        elif change == "schedule":
            schedule.step()
        else:
            optimizer.load_state_dict(state)

    names = set(optimizer.param_groups[0])

    def is_whole():
        group = optimizer.param_groups[0]
        optimizer.zero_grad()
        return set(group) == names and group["params"][0] is w

    assert at_each_instant(changed, is_whole) > 3


def test_an_interrupt_loses_no_parameter():
    mg.manual_seed(0)
    model = mg.nn.Sequential(*[mg.nn.Linear(128, 128) for _ in range(3)])
    optimiser = mg.optim.Adam(model.parameters())
    x = mg.randn(64, 128)
    stopped = 0
    # Who is begun in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    for trial in range(12):
        timer = threading.Timer(0.001 * (trial + 1), signal.raise_signal, (signal.SIGINT,))
        try:
            timer.start()
            end = time.monotonic() + 2
            while time.monotonic() < end:
                optimiser.zero_grad()
                model(x).square().mean().backward()
                optimiser.step()
        except KeyboardInterrupt:
            stopped += 1
        timer.join()
        assert all(math.isfinite(p.sum().item()) for p in model.parameters())
    signal.signal(signal.SIGINT, before)
    assert stopped == 12


def test_what_modules_hold_is_let_go_of_without_python():
    # Ctrl-C in Python that lets go of something is told of on stderr, and lost.
    held = [nn.Parameter(mg.ones(2)), nn.Buffer(mg.ones(2)), nn.UninitializedParameter(), nn.Parameter(mg.ones(2), requires_grad=False)]
    numbers = [id(t) for t in held]
    calls: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_qualname) if event == "call" else None)
    try:
        held.clear()
    finally:
        sys.setprofile(before)
    from micrograd_rs.nn import parameter

    assert not calls
    assert not any(n in known for n in numbers for known in (parameter._marked, parameter.buffers_known, parameter._shapeless))


def test_ctrl_c_while_numpy_is_imported_is_no_missing_numpy():
    pytest.importorskip("numpy")
    script = """
import sys
import micrograd_rs as mg

class Interrupts:
    raises = KeyboardInterrupt

    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            raise self.raises("while it is imported")

sys.meta_path.insert(0, Interrupts())
for ask in (lambda: mg.ones(2).numpy(), lambda: mg.float32.dtype):
    for Interrupts.raises in (KeyboardInterrupt, ImportError):
        try:
            ask()
        except BaseException as error:
            print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["KeyboardInterrupt", "ImportError", "KeyboardInterrupt", "AttributeError"], done.stderr
