"""Threads, forks, signals, and the end of the interpreter."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import micrograd_rs as mg
import pytest
from micrograd_rs import Tensor, Value, nn

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def test_threads_share_a_tensor():
    x = mg.rand(256, 256).realize()
    wanted = ((x @ x).relu() + x).sum().item()
    lazy = ((x @ x).relu() + x).sum()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: lazy.item(), range(32))) == {wanted}
        assert set(pool.map(lambda _: ((x @ x).relu() + x).sum().item(), range(32))) == {wanted}


def test_threads_train_each_its_own():
    def train(seed):
        net = nn.Linear(8, 1)
        with mg.no_grad():
            net.weight.fill_(seed)
        x = mg.ones(4, 8)
        for _ in range(50):
            loss = (net(x) ** 2).mean()
            net.zero_grad()
            loss.backward()
            with mg.no_grad():
                for p in net.parameters():
                    p -= 0.01 * p.grad
        return loss.item()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(loss < 1e-2 for loss in pool.map(train, range(8)))


def test_threads_accumulate_into_one_leaf():
    x = Tensor(mg.ones(16))

    def add():
        for _ in range(25):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=add) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.tolist() == [200] * 16


def test_threads_write_to_one_tensor():
    t = mg.zeros(8)

    def write(i):
        for _ in range(100):
            t[i] += 1
            t.sum().item()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert t.shape == (8,) and all(1 <= v <= 100 for v in t.tolist())


def test_values_in_threads():
    def sanity(_):
        x = y = Value(1.0)
        for _ in range(1000):
            y = y * 1.0 + x
        y.backward()
        return x.grad

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert set(pool.map(sanity, range(16))) == {1001.0}


def test_other_threads_run_while_work_does():
    x = mg.rand(1500, 1500).realize()
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    for _ in range(5):
        (x @ x).realize()
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    assert len(during) >= min(5, (end - start) / 0.02)


@forks
def test_a_forked_child_computes(program):
    out = program("""
        import os
        import micrograd_rs as mg
        x = mg.rand(600, 600).realize()
        wanted = (x @ x).relu().sum().item()
        lazy = (x @ x).relu().sum()
        pid = os.fork()
        if pid == 0:
            ok = (x @ x).relu().sum().item() == wanted and lazy.item() == wanted
            y = mg.Tensor([3.0])
            (y * y).sum().backward()
            ok = ok and y.grad.tolist() == [6]
            net = mg.MLP(2, [4, 1])
            net([1.0, 2.0]).backward()
            grandchild = os.fork()
            if grandchild == 0:
                os._exit(0 if (x @ x).relu().sum().item() == wanted else 1)
            ok = ok and os.waitpid(grandchild, 0)[1] == 0
            os._exit(0 if ok else 1)
        _, status = os.waitpid(pid, 0)
        assert lazy.item() == wanted
        print(os.waitstatus_to_exitcode(status))
    """)
    assert out.strip() == "0"


@forks
def test_a_fork_while_threads_compute(program):
    out = program("""
        import os, threading
        import micrograd_rs as mg
        x = mg.rand(300, 300).realize()
        stop = threading.Event()
        def work():
            while not stop.is_set():
                (x @ x + 1).sum().item()
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads: t.start()
        codes = []
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if (x @ x).sum().item() > 0 else 1)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        stop.set()
        for t in threads: t.join()
        print(set(codes))
    """)
    assert out.strip() == "{0}"


@forks
def test_hooks_of_a_fork_compute(program):
    out = program("""
        import os
        def compute():
            import micrograd_rs as mg
            os.write(1, f"{mg.ones(2).sum().item()}\\n".encode())
        os.register_at_fork(before=compute, after_in_parent=compute, after_in_child=compute)
        import micrograd_rs as mg
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        compute()
    """)
    assert out.split() == ["2.0"] * 4


@forks
def test_multiprocessing(program):
    program("""
        import multiprocessing, micrograd_rs as mg
        def work(t):
            return (t @ t).sum().item(), t * 2
        if __name__ == "__main__":
            x = mg.rand(200, 200).realize()
            with multiprocessing.get_context("fork").Pool(2) as pool:
                for total, doubled in pool.map(work, [x] * 4):
                    assert total == (x @ x).sum().item() and mg.equal(doubled, x * 2)
    """)


def interrupted(code):
    """Starts a program, sends it Ctrl-C when it says so, and answers with how it ended and how long that took."""
    # Where the tests run in the background, Ctrl-C is ignored, and so it would be there.
    heeded = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", heeded + textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline().strip() == "ready"
    time.sleep(0.3)
    start = time.perf_counter()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    return child.returncode, out, err, time.perf_counter() - start


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_ctrl_c_stops_a_long_computation():
    code, out, err, took = interrupted("""
        import micrograd_rs as mg
        x = mg.rand(1000, 1000).realize()
        y = x
        for _ in range(2000):
            y = (y @ x) * 0.001
        print("ready")
        try:
            y.realize()
            print("finished")
        except KeyboardInterrupt:
            print("interrupted", mg.ones(2).sum().item())
    """)
    assert code == 0 and out.strip() == "interrupted 2.0", (code, out, err)
    assert took < 5


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_ctrl_c_while_pending_work_is_computed_by_itself():
    code, out, err, took = interrupted("""
        import micrograd_rs as mg
        x = mg.rand(1000, 1000).realize()
        y = x
        print("ready")
        try:
            for _ in range(20000):
                y = (y @ x) * 0.001
            print("finished")
        except KeyboardInterrupt:
            print("interrupted", mg.ones(2).sum().item())
    """)
    assert code == 0 and out.strip() == "interrupted 2.0", (code, out, err)
    assert took < 5


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_handlers_of_signals_raise_what_they_raise():
    code, out, err, _ = interrupted("""
        import signal, micrograd_rs as mg
        class Mine(Exception): pass
        def handler(*_):
            try:
                mg.ones(2).sum().item()
            except RuntimeError:
                pass
            raise Mine("words")
        signal.signal(signal.SIGINT, handler)
        x = mg.rand(1000, 1000).realize()
        y = x
        for _ in range(2000):
            y = (y @ x) * 0.001
        print("ready")
        try:
            y.realize()
        except Mine as error:
            print(error, mg.ones(2).sum().item())
    """)
    assert code == 0 and out.strip() == "words 2.0", (code, out, err)


def test_the_end_with_live_tensors(program):
    program("""
        import atexit, sys, threading
        import micrograd_rs as mg
        from micrograd_rs import nn
        try:
            import numpy
            shared = numpy.ones(1000, dtype="float32")
            kept = mg.from_numpy(shared)
            view = (mg.ones(1000) * 2).numpy()
        except ImportError:
            pass
        a = mg.rand(1000, 1000)
        b = (a @ a).sum()
        leaf = mg.Tensor([1.0]); (leaf * leaf).sum().backward()
        cycle = [a]; cycle.append(cycle)
        step = mg.jit(lambda x: x + a); step(a); step(a)
        value = mg.Value(1.0)
        for _ in range(100_000): value = value + 1
        class Late:
            def __del__(self):
                mg.ones(3).sum().item()
        sys.late = Late(); late = Late()
        atexit.register(lambda: (b.item(), mg.rand(10).sum().item()))
        capsule = a.__dlpack__()
        def forever():
            while True: (mg.rand(100) + 1).sum().item()
        threading.Thread(target=forever, daemon=True).start()
    """)


def test_a_thread_that_outlives_main(program):
    program("""
        import threading, time, micrograd_rs as mg
        def late():
            time.sleep(0.2)
            assert mg.ones(10).sum().item() == 10
        threading.Thread(target=late).start()
    """)


def test_memory_is_given_back():
    def grow():
        for _ in range(50):
            x = Tensor(mg.rand(10_000))
            ((x * 2).relu() * x).sum().backward()

    grow()
    before = mg.Device.cpu().memory_stats()["active"]
    grow()
    assert mg.Device.cpu().memory_stats()["active"] <= before + 1_000_000


def test_cycles_are_collected():
    import gc
    import weakref

    class Holder:
        pass

    holder = Holder()
    holder.step = mg.jit(lambda x, h=holder: x + 1)
    holder.step(mg.ones(1))
    ref = weakref.ref(holder)
    del holder
    gc.collect()
    assert ref() is None


def test_weak_references():
    import weakref

    t = mg.ones(1)
    ref = weakref.ref(t)
    assert ref() is t
    del t
    assert ref() is None


def test_subinterpreters_are_refused_or_work(program):
    program("""
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            raise SystemExit
        import micrograd_rs
        i = interpreters.create()
        try:
            interpreters.run_string(i, "import micrograd_rs as mg; assert mg.ones(2).sum().item() == 2")
        except Exception as error:
            assert "ImportError" in str(error) or "ImportError" in repr(error), error
    """)
