"""What a replayed step differentiates: the histories of what it is given and knows, gradients that are shared, threads."""

import functools
import resource
import sys
import threading
import time

import pytest

import micrograd_rs as mg
from micrograd_rs import nn


def leaf(*numbers):
    return mg.tensor(list(numbers), requires_grad=True)


W, U, RHO = leaf(1.0, 2.0), leaf(1.0, 2.0), leaf(0.1, 0.2)


def hooked():
    h = W * 2
    h.register_hook(lambda g: g * 100)
    return h


def in_pieces():
    h = mg.zeros(2)
    h[0] = (W * 2)[1]
    h += W
    return h


# What a step is given, one after the other, after a few calls with `W * 2`.
GIVEN = {
    "another factor": lambda: W * 10,
    "another leaf": lambda: U * 2,
    "a sum": lambda: W.sum() * mg.ones(2),
    "a hook": hooked,
    "a leaf": lambda: W,
    "a part": lambda: mg.cat([W * 3, U])[1:3],
    "written in pieces": in_pieces,
    "a view of a leaf": lambda: U.view(2),
    "both": lambda: W.exp() + U,
}

STEPS = {
    "backward": lambda h: (h * h).sum().backward(),
    "grad": lambda h: mg.autograd.grad((h * h).sum(), [W, U], allow_unused=True),
    "in a list": lambda h: sum(x.sum() for x in [h, h * 2]).backward(),
    "of what it is given": lambda h: mg.autograd.grad((h * h).sum(), [h]),
    "a graph": lambda h: mg.autograd.grad((h * h * W).sum(), [W], create_graph=True)[0].sum().backward(),
}


def outcome(step, given):
    for w in (W, U, RHO):
        w.grad = mg.zeros(2)
    answer = step(given)
    answers = [a.tolist() for a in answer if a is not None] if isinstance(answer, (list, tuple)) else None
    return answers, [w.grad.tolist() for w in (W, U, RHO)]


@pytest.mark.parametrize("name", STEPS)
def test_the_history_of_an_argument_is_its_own(name):
    step = mg.jit(STEPS[name])
    for _ in range(6):
        assert outcome(step, W * 2) == outcome(STEPS[name], W * 2)
    for made in [*GIVEN.values(), *reversed(GIVEN.values())]:
        for _ in range(4):
            assert outcome(step, made()) == outcome(STEPS[name], made())


def test_a_gradient_of_an_argument_is_kept():
    step = mg.jit(lambda h: (h * h).sum().backward())
    for _ in range(6):
        step(W * 2)
    h = W * 2
    h.retain_grad()
    step(h)
    assert h.grad.tolist() == [4.0, 8.0]


def test_what_was_changed_in_place_since_is_told():
    step = mg.jit(lambda s: (1.0 / s).sum().backward())
    for _ in range(6):
        step(RHO.exp())
    e = RHO.exp()
    with mg.no_grad():
        e.add_(1.0)
    with pytest.raises(RuntimeError, match="changed in place"):
        step(e)


def test_the_history_of_what_a_step_knows_may_change():
    h = W * 2
    plain = lambda x: (h * x).sum().backward(retain_graph=True)  # noqa: E731
    step = mg.jit(plain)
    x = mg.ones(2)

    def both():
        for _ in range(3):
            assert outcome(step, x) == outcome(plain, x)

    for _ in range(3):
        both()
    h.mul_(3.0)
    both()
    h.mul_(W)
    both()
    with mg.no_grad():
        h.mul_(2.0)
    both()


def test_views_of_leaves_are_replayed():
    w = leaf(1.0, 2.0, 3.0, 4.0)
    view = w.view(2, 2)
    step = mg.jit(lambda x: (view.t() @ x).sum().backward())
    x = mg.ones(2, 2)
    for _ in range(6):
        w.grad = None
        step(x)
    assert step.is_replaying, step.reason
    assert w.grad.tolist() == [2.0] * 4


def steps_with_gradients(a, b):
    acc = mg.zeros(3)

    def adds(x):
        (a * x + b * x * 2).sum().backward()

    def adds_to_another(x):
        acc.add_(x)
        (a * x).sum().backward()

    def clips(x):
        (a * x + b * x * 2).sum().backward()
        nn.utils.clip_grad_norm_([a, b], 1.0)

    def reads_after(x):
        acc.add_(x)
        b.copy_(a.grad * 2.0) if a.grad is not None else None

    return acc, {"adds": adds, "to another": adds_to_another, "clips": clips, "reads": reads_after}


@pytest.mark.parametrize("name", ["adds", "to another", "clips", "reads"])
@pytest.mark.parametrize("tie", ["two gradients", "a sum", "none"])
def test_gradients_may_be_one_tensor_later(name, tie):
    def run(wrap):
        a, b = leaf(1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0)
        if name == "reads":
            b.requires_grad_(False)
        acc, steps = steps_with_gradients(a, b)
        step = wrap(steps[name])
        a.grad = mg.zeros(3)
        told = []
        for i in range(12):
            if i == 6:
                if tie == "two gradients" and name != "reads":
                    b.grad = a.grad
                elif tie == "a sum":
                    a.grad = acc
            step(mg.ones(3))
            told.append([t.tolist() for t in (a.grad, b.grad, acc, b) if t is not None])
        return told

    found = []
    thread = threading.Thread(target=lambda: found.append(run(mg.jit)), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it waits for itself"
    assert found == [run(lambda f: f)]


@pytest.mark.parametrize("kind", ["in place", "gradients", "first gradients", "two steps"])
def test_threads_lose_nothing(kind):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(60):
            a, b, w = mg.zeros(3), mg.zeros(3), mg.ones(3, requires_grad=True)

            def adds(x, b=b):
                b.add_(x)

            def both(x, a=a, b=b):
                a.add_(x)
                b.add_(x)

            def other_way(x, a=a, b=b):
                b.add_(x)
                a.add_(x)

            def differentiates(x, w=w):
                (w * x).sum().backward()

            steps = {
                "in place": [mg.jit(adds)],
                "gradients": [mg.jit(differentiates)],
                "first gradients": [mg.jit(differentiates), differentiates],
                "two steps": [mg.jit(both), mg.jit(other_way)],
            }[kind]
            x = mg.ones(3)
            if kind == "first gradients":
                for _ in range(4):
                    w.grad = None
                    steps[0](x)
                w.grad = None

            def run(steps=steps, x=x):
                for i in range(10):
                    steps[i % len(steps)](x)

            threads = [threading.Thread(target=run) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            counted = w.grad if "gradients" in kind else b
            assert counted.tolist() == [30.0] * 3
            if kind == "two steps":
                assert a.tolist() == [30.0] * 3
    finally:
        sys.setswitchinterval(interval)


def test_what_a_cache_forgets_is_computed_again():
    factor = [1.0]

    @functools.lru_cache
    def scale():
        return factor[0]

    step = mg.jit(lambda x: x * scale())
    x = mg.tensor(2.0)
    for _ in range(6):
        assert step(x).item() == 2.0
    assert step.is_replaying, step.reason
    for now in (3.0, 5.0, 7.0):
        factor[0] = now
        scale.cache_clear()
        for _ in range(6):
            assert step(x).item() == 2.0 * now
    assert step.is_replaying, step.reason


def test_much_that_hangs_on_an_object_is_not_looked_at_in_each_call():
    class Agent:
        def __init__(self):
            self.net = nn.Linear(2, 2)
            self.buffer = []

        def remember(self, what):
            self.buffer.append(what)

        def update(self, x):
            return self.net(x)

    agent = Agent()
    step = mg.jit(agent.update)
    x = mg.ones(1, 2)
    expected = agent.update(x).tolist()
    for _ in range(6):
        assert step(x).tolist() == expected
    # To look takes far longer than any pause that the machine makes of its own.
    for i in range(100_000):
        agent.remember((i, float(i)))
    for _ in range(40):
        assert step(x).tolist() == expected
    assert not step.is_replaying
    assert "takes longer" in step.reason
    agent.buffer.clear()
    for _ in range(80):
        assert step(x).tolist() == expected
    assert step.is_replaying, step.reason


def test_weights_are_converted_once_in_a_replay_too():
    x = mg.tensor([[1.1, 2.3], [0.4, 0.9], [3.1, -1.7]])

    def gradients(wrap):
        w = nn.Parameter(mg.tensor([[1.0, 0.3], [0.7, 2.0]]))

        def step(x):
            w.grad = None
            with mg.autocast("cpu", dtype=mg.bfloat16):
                y = nn.functional.linear(x, w) + nn.functional.linear(x * 2, w)
            y.float().pow(2).sum().backward()

        step = wrap(step)
        told = []
        for _ in range(6):
            step(x)
            told.append(w.grad.tolist())
        return told

    assert gradients(mg.jit) == gradients(lambda f: f)


def test_what_does_not_lead_to_what_is_wanted_may_do_so_the_next_time():
    x = mg.tensor([1.0, 2.0])
    for plain in [
        lambda h: mg.autograd.grad((h * W).sum(), [W])[0],
        lambda h: mg.autograd.grad((h * x).sum() + W.sum(), [W])[0],
    ]:
        step = mg.jit(plain)
        for _ in range(5):
            assert step(U * 1).tolist() == plain(U * 1).tolist()
        for _ in range(3):
            assert step(W * 1).tolist() == plain(W * 1).tolist()
    c = U * 1
    plain = lambda: mg.autograd.grad((c * W).sum(), [W], retain_graph=True)[0]  # noqa: E731
    step = mg.jit(plain)
    for _ in range(5):
        assert step().tolist() == plain().tolist()
    c.mul_(W)
    assert step().tolist() == plain().tolist()


@pytest.mark.parametrize("kind", ["hook", "retained"])
def test_a_view_may_be_watched_later(kind):
    w = leaf(1.0, 2.0)
    v = w.view(2, 1)
    step = mg.jit(lambda: (v * v).sum().backward())
    for _ in range(5):
        step()
    w.grad = None
    if kind == "hook":
        v.register_hook(lambda g: g * 10)
    else:
        v.retain_grad()
    step()
    if kind == "hook":
        assert w.grad.tolist() == [20.0, 40.0]
    else:
        assert v.grad.tolist() == [[2.0], [4.0]]


def test_a_gradient_that_another_thread_lets_go_is_not_let_go_by_replays():
    w = mg.ones(3, requires_grad=True)

    def plain(x):
        (w * x).sum().backward()
        time.sleep(0.02)

    step, ends = mg.jit(plain), threading.Event()

    def lets_go():
        while not ends.is_set():
            if w.grad is not None:
                w.grad = None
            time.sleep(0.001)

    thread = threading.Thread(target=lets_go)
    thread.start()
    for _ in range(5):
        step(mg.ones(3))
    ends.set()
    thread.join()
    for _ in range(4):
        w.grad = None
        step(mg.ones(3))
        assert w.grad.tolist() == [1.0] * 3


def test_conversions_are_let_go_with_the_values_that_they_are_of():
    layer = nn.Linear(1024, 1024, bias=False)
    optimizer = mg.optim.SGD(layer.parameters(), lr=0.01)

    def plain(x, k):
        optimizer.zero_grad()
        loss = layer(x).sum() * k
        loss.backward()
        optimizer.step()
        return loss

    x = mg.ones(4, 1024)
    peaks = []
    with mg.autocast("cpu", dtype=mg.bfloat16):
        step = mg.jit(plain)
        for i in range(60):
            (step if i % 2 else plain)(x, float(i)).tolist()
            if i in (20, 59):
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    # A conversion is 2 MiB: 40 of them would be 80.
    assert peaks[1] - peaks[0] < 30 * 1024


@pytest.mark.parametrize("later", [("w", "u"), ("u", "w"), ("u", "u")])
def test_a_gradient_that_a_replays_history_has_read_is_another_one_later(later):
    def gradients(wrap):
        scaled = wrap(lambda p: p * 2.5)
        pair = wrap(lambda p: (p * 2.0, p * 3.0))
        leaves = {"w": leaf(1.0, 2.0), "u": leaf(3.0, 5.0)}
        told = []
        for given, factor in [("w", "w")] * 12 + [later] * 3:
            for t in leaves.values():
                t.grad = None
            p, x = leaves[given], leaves[factor]
            (scaled(p) * x).sum().backward()
            # Both answers have one gradient at first, and each its own later.
            first, second = pair(p)
            (first * x + second * (leaves["w"] if given == factor == "w" else x * 7.0)).sum().backward()
            told.append([None if t.grad is None else t.grad.tolist() for t in leaves.values()])
        return told

    assert gradients(mg.jit) == gradients(lambda f: f)
