"""Threads that wait for each other or share a step: whoever waits for the engine does not keep the interpreter's lock meanwhile, and no call is lost."""

import copy
import subprocess
import sys
import threading
import time

import micrograd_rs as mg
import pytest

T = mg.tensor


#: The main thread's steps ask for signals as they go, and have the weight meanwhile.
STEPS = """
import copy, sys, threading, time
import micrograd_rs as mg

w = mg.nn.Parameter(mg.eye(192))
opt = mg.optim.SGD([w], lr=0.0, momentum=0.5)

@mg.jit
def step(x):
    opt.zero_grad()
    for _ in range(60):
        x = x @ w
    loss = (x * x).sum()
    loss.backward()
    opt.step()
    return loss

ends = time.monotonic() + float(sys.argv[1])
x = mg.ones(64, 192)
"""

ASKED = {
    "as_tensor": "mg.as_tensor(w, dtype=mg.float32)",
    "result_type": "mg.result_type(w, 1)",
    "compare": "w < 2**70",
    "index": "w[w.detach()[0].long(), 1:]",
    "format": "f'{w}'",
    "pickle": "copy.deepcopy(w)",
    "nested": "mg.tensor([w.detach()[0, 0], 1.0])",
    "optimiser": "mg.optim.Adam([w])",
    "loss": "mg.nn.functional.mse_loss(w, mg.ones(192, 1).expand(192, 192))",
}


def run(script: str, seconds: float) -> str:
    done = subprocess.run([sys.executable, "-c", script, str(seconds)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("asked", ASKED)
def test_a_thread_that_asks_a_tensor_of_a_step_lets_the_step_go_on(asked):
    script = f"""{STEPS}
def ask():
    while time.monotonic() < ends:
        {ASKED[asked]}

thread = threading.Thread(target=ask, daemon=True)
thread.start()
while time.monotonic() < ends:
    loss = step(x)
thread.join(20)
print(thread.is_alive(), loss.item())
"""
    assert run(script, 0.8).split() == ["False", str(64.0 * 192)]


@pytest.mark.parametrize("asked", ASKED)
def test_a_signal_handler_that_asks_a_tensor_of_the_step_it_interrupts_is_refused(asked):
    script = f"""{STEPS}
import signal
found, x = [], mg.ones(1024, 192)

def handler(*_):
    try:
        {ASKED[asked]}
        found.append("")
    except RuntimeError as error:
        found.append(str(error))

signal.signal(signal.SIGALRM, handler)
for _ in range(4):
    step(x)  # What is recorded may not be looked at meanwhile, by whomever.
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
while not any(found) and time.monotonic() < ends:
    loss = step(x)
signal.setitimer(signal.ITIMER_REAL, 0)
assert all(not text or "signal handler" in text for text in found), found
print(any(found), loss.item())
"""
    assert run(script, 30).split() == ["True", str(1024.0 * 192)]


def test_copies_of_a_model_that_other_threads_read_are_its_own():
    script = """
import copy, sys, threading, time
import micrograd_rs as mg

parts = mg.nn.ParameterList([mg.nn.Parameter(mg.full((4,), float(i))) for i in range(20)])
ends = time.monotonic() + float(sys.argv[1])

def read():
    while time.monotonic() < ends:
        for p in parts:
            p.data.mul_(1.0)
            p.tolist()

threads = [threading.Thread(target=read, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
wrong = 0
while time.monotonic() < ends:
    wrong += any(p.tolist() != [float(i)] * 4 for i, p in enumerate(copy.deepcopy(parts)))
for thread in threads:
    thread.join(20)
print(wrong)
"""
    assert run(script, 1.5) == "0\n"


@pytest.mark.parametrize("kind", ["SGD", "Adam", "RMSprop"])
def test_a_step_that_threads_share_loses_no_update_whether_it_is_replayed_or_not(kind):
    threads, calls, before = 4, 30, sys.getswitchinterval()

    def ended(shared):
        p = mg.nn.Parameter(mg.zeros(5))
        p.grad = mg.ones(5)
        options = {"lr": 1.0, **({"momentum": 0.5} if kind == "SGD" else {})}
        optimizer = getattr(mg.optim, kind)([p], **options)
        step = mg.jit(lambda: optimizer.step()) if shared else optimizer.step

        def many():
            for k in range(calls):
                step()
                if k % 5 == 0:
                    p.sum().item()

        if not shared:
            for _ in range(threads):
                many()
            return p.tolist()
        all_of_them = [threading.Thread(target=many) for _ in range(threads)]
        for thread in all_of_them:
            thread.start()
        for thread in all_of_them:
            thread.join()
        return p.tolist()

    wanted = ended(shared=False)
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(60):
            assert ended(shared=True) == wanted
    finally:
        sys.setswitchinterval(before)


def test_two_threads_call_one_step():
    w = T([1.0])
    f = mg.jit(lambda x: x * 2 + w)
    wrong = []

    def work(k):
        for i in range(200):
            if f(T([float(k * 1000 + i)])).item() != 2 * (k * 1000 + i) + 1 or w.item() != 1:
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def at_once(*works, seconds=1.5):
    """Runs each of these again and again, on a thread of its own; raises what one of them has raised."""
    ends, failed, before = time.monotonic() + seconds, [], sys.getswitchinterval()

    def many(work):
        try:
            while time.monotonic() < ends and not failed:
                work()
        except BaseException as error:
            failed.append(error)

    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=many, args=(work,), daemon=True) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    finally:
        sys.setswitchinterval(before)
    if failed:
        raise failed[0]


@pytest.mark.parametrize("replayed", [False, True])
def test_a_step_finds_a_state_as_one_load_has_left_it(replayed):
    parts = [mg.nn.Parameter(mg.zeros(3)) for _ in range(2)]
    for p in parts:
        p.grad = mg.zeros(3)
    optimizer = mg.optim.SGD([{"params": [p]} for p in parts], lr=1.0, momentum=1.0)
    step = mg.jit(lambda: optimizer.step()) if replayed else optimizer.step

    def state(lr, buffer):
        known = optimizer.state_dict()
        groups = [{**group, "lr": lr} for group in known["param_groups"]]
        return {"state": {i: {"momentum_buffer": mg.full((3,), buffer)} for i in range(2)}, "param_groups": groups}

    # With either, a step goes as far.
    states, k, steps = [state(1.0, 2.0), state(2.0, 1.0)], 0, 0
    optimizer.load_state_dict(states[0])

    def go():
        nonlocal steps
        step()
        steps += 1

    def load():
        nonlocal k
        k += 1
        optimizer.load_state_dict(states[k % 2])

    def save():
        groups = optimizer.state_dict()["param_groups"]
        assert groups[0]["lr"] == groups[1]["lr"]

    at_once(go, load, save)
    assert steps > 5 and k > 5
    for p in parts:
        assert p.tolist() == [-2.0 * steps] * 3


def test_a_change_of_an_option_is_no_part_of_another_load():
    p = mg.nn.Parameter(mg.zeros(3))
    optimizer = mg.optim.SGD([p], lr=1.0, momentum=0.5)
    group = optimizer.state_dict()["param_groups"][0]
    states = [{"state": {}, "param_groups": [{**group, "momentum": m, "weight_decay": m}]} for m in (0.25, 0.5)]
    k = 0

    def load():
        nonlocal k
        k += 1
        optimizer.load_state_dict(states[k % 2])
        # A rate is put meanwhile, and nothing else goes back for its sake.
        now = dict(optimizer.param_groups[0])
        assert now["momentum"] == now["weight_decay"] == states[k % 2]["param_groups"][0]["momentum"]

    def change():
        optimizer.param_groups[0]["lr"] = 0.125

    at_once(load, change, change)


def test_lbfgs_is_loaded_between_its_steps():
    p = mg.nn.Parameter(mg.full((3,), 4.0))
    optimizer = mg.optim.LBFGS([p], lr=0.5, max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = ((p - 1) ** 4).sum()
        loss.backward()
        return loss

    for _ in range(2):
        optimizer.step(closure)
    saved = copy.deepcopy(optimizer.state_dict())

    def save():
        known = copy.deepcopy(optimizer.state_dict())["state"][0]
        assert len(known["old_dirs"]) == len(known["old_stps"]) == len(known["ro"])

    at_once(lambda: optimizer.step(closure), lambda: optimizer.load_state_dict(saved), save)

    def asks():
        with pytest.raises(ValueError, match="a step of this optimiser is being made"):
            optimizer.load_state_dict(saved)
        return closure()

    # Its own closure would wait for itself.
    optimizer.step(asks)


class Mine(mg.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 1.0})


def test_an_optimiser_of_pythons_is_loaded_at_once():
    parts = [mg.nn.Parameter(mg.zeros(1)) for _ in range(2)]
    optimizer = Mine([{"params": [p]} for p in parts])
    group = [{**g, "lr": None} for g in optimizer.state_dict()["param_groups"]]
    states = [{"state": {0: {"of": n}, 1: {"of": n}}, "param_groups": [{**g, "lr": n} for g in group]} for n in (1.0, 2.0)]
    optimizer.load_state_dict(states[0])
    k = 0

    def load():
        nonlocal k
        k += 1
        optimizer.load_state_dict(states[k % 2])

    def save():
        known = optimizer.state_dict()
        seen = {*(g["lr"] for g in known["param_groups"]), *(entries["of"] for entries in known["state"].values())}
        assert len(seen) == 1

    at_once(load, save, save)
