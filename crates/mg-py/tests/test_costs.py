"""What work costs: time, memory and launches grow with what is asked, however long a history, a chain of views or a plan is."""

from __future__ import annotations

import threading
import time

import micrograd_rs as mg
import pytest
from conftest import leaf


# Long histories and chains of views.


def test_gradients_through_long_chains_of_views():
    import time

    def seconds(n):
        w = leaf([[1.0, 2.0, 3.0]])
        y = w * 1
        for _ in range(n // 2):
            y = y.t()[:]
        began = time.process_time()
        y.sum().backward()
        assert w.grad.tolist() == [[1, 1, 1]]
        return time.process_time() - began

    # Linear: a walk that asked each view for what it is a view of took a thousand times as long.
    assert seconds(40000) < 60 * max(seconds(2000), 0.002)


@pytest.mark.parametrize("step", [lambda y: y.view(3), lambda y: y[:], lambda y: y.flip(0), lambda y: y.view(3, 1).t()[0]])
def test_long_histories_of_views_take_time_as_they_are_long(step):
    def took(n):
        x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
        start = time.process_time()
        y = x * 1.0
        for _ in range(n):
            y = step(y)
        y.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0, 1.0]
        return time.process_time() - start

    short, long = min(took(20_000) for _ in range(3)), min(took(160_000) for _ in range(2))
    # In a quadratic way it would be 64 times as long.
    assert long < 45 * short


def test_long_chains_of_views():
    def work():
        x = mg.zeros(20_001)
        y = x
        for k in range(20_000):
            y = y[1:] if k % 2 else y.view(-1)[1:]
        y.fill_(1.0)
        assert x[-1].item() == 1 and x[0].item() == 0

    threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=work)
        began = time.monotonic()
        thread.start()
        thread.join()
    finally:
        threading.stack_size(0)
    assert time.monotonic() - began < 20


def test_views_of_views_of_gradients_are_no_recursion():
    w = mg.ones(6000, requires_grad=True)
    c = w[0]
    for i in range(1, 6000):
        c = mg.stack([c, w[i]]).sum()
    c.backward()
    assert w.grad.sum().item() == 6000.0


def test_reads_do_not_look_at_gradients_that_nobody_has_read():
    cells = [mg.nn.LSTM(8, 8) for _ in range(100)]
    for cell in cells:
        cell(mg.randn(20, 2, 8))[0].sum().backward()
    times = []
    for k in range(10):
        fresh = mg.ones(3) + k
        start = time.process_time()
        fresh.tolist()
        times.append(time.process_time() - start)
    # To walk over all of these graphs takes nine milliseconds.
    assert min(times) < 2e-3


# Plans.


def test_plans_of_long_recurrences_are_made_in_a_time_that_grows_with_them():
    w = mg.full((2, 2), 0.4, requires_grad=True)

    def took(steps):
        x, start = mg.ones(2, 1), time.process_time()
        for _ in range(steps):
            x = (w @ x).tanh()
        x.sum().backward()
        w.grad.tolist()
        return time.process_time() - start

    took(10)
    # Of 8 times the length; it grew with the square, to 19 seconds for 16,000.
    assert took(8000) < 30 * max(took(1000), 0.05)


# Parts of a tensor, and of a module.


@pytest.mark.parametrize(
    "parts",
    [
        lambda x: [x[i] for i in range(len(x))],
        list,
        lambda x: x.unbind(),
        lambda x: [x[i : i + 1].sum() for i in range(len(x) - 1, -1, -1)],
    ],
)
def test_gradients_of_many_elements_take_time_by_their_number(parts):
    n = 20000
    x = mg.arange(float(n)).requires_grad_()
    begun = time.process_time()
    (mg.stack(tuple(parts(x))) * mg.arange(float(n))).sum().backward()
    got = x.grad.tolist()
    # Some tenths of a second; it took minutes.
    assert time.process_time() - begun < 30
    assert sorted(got) == [float(i) for i in range(n)]


def written_row_by_row(n, change):
    x, y = mg.ones(n, 3, requires_grad=True), mg.zeros(n, 3)
    for i in range(n):
        change(x, y, i)
    y.sum().backward()
    return x.grad


def set_row(x, y, i):
    y[i] = x[i] * 2


def add_to_row(x, y, i):
    y[i] += x[i] * 2


def go_on(x, y, i):
    y[i] = (y[i - 1] if i else 0) * 0.5 + x[i]


@pytest.mark.parametrize(("change", "wanted"), [(set_row, [2.0] * 8), (add_to_row, [2.0] * 8), (go_on, [2 - 0.5**k for k in range(7, -1, -1)])])
def test_rows_written_one_by_one_cost_their_own_elements(change, wanted):
    grad = written_row_by_row(40, change)
    # The whole of them once for each row would be 19,200 bytes.
    assert sum(launch["bytes_written"] for launch in mg.explain(grad).launches) < 4000
    assert written_row_by_row(8, change).tolist() == [[w] * 3 for w in wanted]


def test_a_row_costs_a_row():
    x, row = mg.zeros(6000, 600), mg.ones(600)
    x[0] = row
    x.sum().item()
    began = time.monotonic()
    for i in range(6000):
        x[i] = row
    total = x.sum().item()
    # 15 ms where nothing else works; each row copying all would take 10 s.
    assert total == 6000 * 600 and time.monotonic() - began < 2


def test_modules_of_many_parts_are_made_in_the_time_that_their_parts_take():
    start = time.process_time()
    parts = mg.nn.ModuleList([mg.nn.Identity() for _ in range(4000)])
    for i in range(2000):
        parts.register_buffer(f"b{i}", None)
    # Each name was compared with all others for what is near it: 20 seconds.
    assert len(parts) == 4000 and time.process_time() - start < 3
    with pytest.raises(KeyError, match="there already"):
        parts.register_buffer("training", None)
