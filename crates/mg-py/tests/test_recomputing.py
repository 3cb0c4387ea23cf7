"""`utils.checkpoint`: parts of a model that are computed again on the way back."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import micrograd_rs as mg
import pytest
from conftest import close, leaf, numbers
from micrograd_rs import autograd, nn
from micrograd_rs.nn import functional as F
from micrograd_rs.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


def test_checkpoint():
    layer = nn.Linear(4, 4)
    x = mg.randn(3, 4).requires_grad_()
    calls = []

    def part(x, scale=1.0):
        calls.append(1)
        return F.dropout(layer(x).tanh(), 0.5, True) * scale, "words", mg.tensor(3)

    def run(how):
        layer.zero_grad()
        x.grad = None
        mg.manual_seed(5)
        y, words, n = how()
        assert words == "words" and n.item() == 3
        after = mg.rand(2).tolist()
        (y * y).sum().backward()
        assert mg.rand(1).tolist() is not None
        return y.tolist(), after, x.grad.tolist(), layer.weight.grad.tolist()

    plain = run(lambda: part(x, scale=2.0))
    assert len(calls) == 1
    again = run(lambda: checkpoint(part, x, use_reentrant=False, scale=2.0))
    assert len(calls) == 3
    for a, b in zip(plain, again):
        close(a, b, rtol=1e-5, atol=1e-6)
    y = checkpoint(part, x)[0]
    found = autograd.grad(y.sum(), [x, layer.weight, layer.bias])
    assert all(g is not None for g in found)
    with mg.no_grad():
        assert not checkpoint(part, x)[0].requires_grad
    frozen = checkpoint(lambda x: x * 2, mg.ones(3))
    assert not frozen.requires_grad and frozen.tolist() == [2.0] * 3


def test_checkpoints_within_each_other():
    x = numbers(3).requires_grad_()
    inner = lambda x: checkpoint(lambda x: x.sin() * x, x)  # noqa: E731
    y = checkpoint(lambda x: inner(x).exp(), x)
    (g,) = autograd.grad(y.sum(), x, create_graph=True)
    (h,) = autograd.grad(g.sum(), x)
    z = x.detach().requires_grad_()
    (wanted,) = autograd.grad((z.sin() * z).exp().sum(), z, create_graph=True)
    close(g, wanted, rtol=1e-10)
    close(h, autograd.grad(wanted.sum(), z)[0], rtol=1e-10)


def test_checkpoint_that_computes_something_else():
    x = numbers(3).requires_grad_()
    sizes = iter([3, 2])
    y = checkpoint(lambda x: x[: next(sizes)] * 2, x)
    with pytest.raises(CheckpointError, match="not what it was"):
        y.sum().backward()
    assert issubclass(CheckpointError, RuntimeError)
    dtypes = iter([mg.float32, mg.float64])
    y = checkpoint(lambda x: x.to(next(dtypes)), x)
    with pytest.raises(CheckpointError, match="float64.* instead of .*float32"):
        y.sum().backward()
    # What is not looked at is told of by the walk.
    sizes = iter([3, 2])
    y = checkpoint(lambda x: x[: next(sizes)] * 2, x, determinism_check="none")
    with pytest.raises(RuntimeError, match="not what it was") as raised:
        y.sum().backward()
    assert not isinstance(raised.value, CheckpointError)


def test_checkpoint_sequential():
    net = nn.Sequential(*[nn.Linear(4, 4) for _ in range(5)], nn.Tanh())
    x = mg.randn(2, 4)
    net(x).square().sum().backward()
    wanted = [p.grad.clone() for p in net.parameters()]
    for segments in (1, 2, 3):
        net.zero_grad()
        checkpoint_sequential(net, segments, x, use_reentrant=False).square().sum().backward()
        for p, g in zip(net.parameters(), wanted):
            close(p.grad, g, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="segments"):
        checkpoint_sequential(net, 9, x)


def test_checkpoint_replayed():
    w = mg.tensor([0.5, 1.0], requires_grad=True)

    @mg.jit
    def step(x):
        w.grad = None
        loss = checkpoint(lambda x: (w * x).sin() * mg.rand(2), x).sum()
        loss.backward()
        return loss

    x = mg.tensor([1.0, 2.0])
    for seed in range(6):
        mg.manual_seed(seed)
        loss = step(x).item()
        got = w.grad.tolist()
        mg.manual_seed(seed)
        w.grad = None
        plain = ((w * x).sin() * mg.rand(2)).sum()
        plain.backward()
        assert loss == pytest.approx(plain.item(), rel=1e-6)
        close(got, w.grad, rtol=1e-5)


def test_checkpoint_is_a_decorator():
    calls = []

    @mg.utils.checkpoint.checkpoint(use_reentrant=False, preserve_rng_state=False, respect_saved_tensors_hooks=True)
    def scaled(x, *, by):
        """Scales."""
        calls.append(by)
        return (x * by).exp()

    x = mg.Tensor([1.0])
    y = scaled(x, by=2.0)
    assert scaled.__doc__ == "Scales." and calls == [2.0]
    y.sum().backward()
    assert calls == [2.0, 2.0]
    assert mg.allclose(x.grad, 2 * (x.detach() * 2).exp())
    with pytest.raises(ValueError, match="by"):
        mg.utils.checkpoint.checkpoint(use_reentrant=False, by=2.0)


# What is written before, within and after.


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.data.fill_(3.0),
        lambda w: w.detach().mul_(3),
        lambda w: w.data[0:1].fill_(3.0),
        lambda w: mg.no_grad()(lambda: w[0].add_(2))(),
    ],
)
def test_checkpoints_find_leaves_whose_data_was_written(write):
    w = mg.nn.Parameter(mg.ones(2))
    x = mg.ones(2, requires_grad=True)
    write(w)
    mg.utils.checkpoint.checkpoint(lambda a: a * w, x, use_reentrant=False).sum().backward()
    assert w.grad.tolist() == [1, 1] and x.grad.tolist() == w.tolist()


def checkpointed(f, a):
    return mg.utils.checkpoint.checkpoint(f, a, use_reentrant=False)


def test_checkpoints_find_views_that_were_written():
    w, x = mg.ones(2, 2, requires_grad=True), mg.ones(2, 2, requires_grad=True)
    h = (w * 2).t()
    h.mul_(2)
    checkpointed(lambda a: h * a, x).sum().backward()
    assert w.grad.tolist() == [[4, 4], [4, 4]] and x.grad.tolist() == [[4, 4], [4, 4]]
    table = mg.nn.Embedding(3, 2)
    with mg.no_grad():
        table.weight[0].fill_(0.0)
    checkpointed(lambda i: table(i) * 2, mg.tensor([0, 1])).sum().backward()
    assert table.weight.grad.tolist() == [[2, 2], [2, 2], [0, 0]]


def test_checkpoints_of_functions_that_write_to_what_they_are_given():
    x = mg.ones(2, requires_grad=True)
    checkpointed(lambda a: a.mul_(3), x * 2).sum().backward()
    assert x.grad.tolist() == [6, 6]
    x = mg.tensor([-1.0, 2.0], requires_grad=True)
    h = x * 2
    checkpointed(mg.nn.Sequential(mg.nn.ReLU(inplace=True), mg.nn.Tanh()), h).sum().backward()
    assert x.grad.tolist() == [0, pytest.approx(2 * (1 - math.tanh(4) ** 2), rel=1e-3)] and h.tolist() == [0, 4]
    x = mg.ones(2, requires_grad=True)
    h = x * 2
    seen = checkpointed(lambda a: a.view(2, 1), h)
    seen.mul_(3)
    assert h.tolist() == [6, 6]


def test_checkpoints_tell_of_what_was_changed_since():
    a = mg.tensor([1.0, 2.0], requires_grad=True)
    for write in (lambda x: x.mul_(2), lambda x: x.exp_(), lambda x: x[0].zero_()):
        x = a * 1
        out = checkpointed(lambda x: x * 3, x)
        write(x)
        with pytest.raises(RuntimeError, match="changed in place since"):
            out.sum().backward()
    # Parameters may be updated meanwhile.
    w = mg.nn.Parameter(mg.ones(2))
    out = checkpointed(lambda x: x * w, a * 1)
    with mg.no_grad():
        w.mul_(2)
    out.sum().backward()
    assert w.grad.tolist() == [1, 2]


def test_what_checkpoints_answer_is_told_to_have_changed():
    h, d = checkpointed(lambda x: (lambda h: (h, h.detach()))(x.exp()), leaf([1.0, 2.0]))
    squares = h * h
    d.zero_()
    with pytest.raises(RuntimeError, match="changed in place"):
        squares.sum().backward()


# Answers.


def test_what_a_checkpoint_answers_is_what_its_function_made():
    def f(x):
        h = x * 3
        h.name_of_it = "h"
        h.retain_grad()
        seen.append(h)
        return {"h": h, "again": [h, 3]}

    seen, a = [], leaf([1.0, 2.0])
    answer = checkpointed(f, a * 2)
    assert answer["h"] is seen[0] is answer["again"][0] and answer["h"].name_of_it == "h"
    (answer["h"] * answer["h"]).sum().backward()
    assert answer["h"].grad.tolist() == [12.0, 24.0] and a.grad.tolist() == [72.0, 144.0]


def of_one(h):
    return h, h


def views(h):
    return h[1:], h.view(2, 2)


def view_first(h):
    return h[:3], h


def detached(h):
    return h, h.detach()


@pytest.mark.parametrize("parts", [of_one, views, view_first, detached])
def test_results_of_checkpoints_that_share_memory_do_so(parts):
    def run(call):
        a = leaf([1.0, 2.0, 3.0, 4.0])
        answers = call(lambda x: parts(x * 2), a * 1)
        answers[0].mul_(3)
        mg.cat([(i * i).reshape(-1) for i in answers if i.requires_grad]).sum().backward()
        return [i.tolist() for i in answers], a.grad.tolist(), answers[0] is answers[1]

    assert run(checkpointed) == run(lambda f, x: f(x))


def test_checkpoints_hand_out_what_they_were_given():
    buffer, x = mg.zeros(2), leaf([1.0, 2.0]) * 1
    h, same, of_buffer, whole = checkpointed(lambda x: (x * 2, x, buffer[:1], buffer), x)
    assert same is x and whole is buffer
    buffer.add_(1)
    assert of_buffer.tolist() == [1.0]
    h.sum().backward()


def test_what_a_checkpoint_puts_aside_has_its_gradients():
    def f(x):
        h = x * 2
        aside["before"], aside["on"] = h, (h * 3).sum()
        out = h.exp()
        aside["after"] = out * 5
        return out

    for name, wanted in (("before", [2.0, 2.0]), ("on", [6.0, 6.0]), ("after", [10 * math.exp(2.0), 10 * math.exp(4.0)])):
        aside, a = {}, leaf([1.0, 2.0], dtype=mg.float64)
        out = checkpointed(f, a * 1)
        aside[name].sum().backward()
        assert a.grad.tolist() == pytest.approx(wanted)
        aside, a = {}, leaf([1.0, 2.0], dtype=mg.float64)
        out = checkpointed(f, a * 1)
        (out.sum() + aside[name].sum()).backward()
        assert a.grad.tolist() == pytest.approx([w + 2 * math.exp(2 * x) for w, x in zip(wanted, (1.0, 2.0), strict=True)])


PEAK = """
import sys
import micrograd_rs as mg
from micrograd_rs.utils.checkpoint import checkpoint

depth, is_replayed = int(sys.argv[1]), sys.argv[2] == "True"
block = lambda: mg.nn.Sequential(mg.nn.Linear(64, 2048), mg.nn.GELU(), mg.nn.Linear(2048, 64))
blocks = [block() for _ in range(depth)]

def step(x):
    for one in blocks:
        x = checkpoint(one, x)
    for one in blocks:
        one.zero_grad()
    x.sum().backward()
    return sum(p.grad.sum() for one in blocks for p in one.parameters())

call = mg.jit(step) if is_replayed else step
x = mg.randn(1024, 64)
for i in range(6):
    # The peak is that of the last call: a replay, where there are any.
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    call(x.detach().requires_grad_()).item()
assert not is_replayed or call.is_replaying, call.reason
with open("/proc/self/status") as file:
    print(next(int(line.split()[1]) for line in file if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="asks Linux for the peak of memory")
def test_a_replay_keeps_no_more_than_was_kept_when_it_was_recorded():
    def peak(depth, is_replayed):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(depth), str(is_replayed)], capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, done.stderr
        return int(done.stdout) / 1024

    # What a block keeps, of the 8 MB of each value within it and the 2 MB of its parameters and their gradients.
    grown = {replayed: (peak(14, replayed) - peak(4, replayed)) / 10 for replayed in (False, True)}
    assert grown[True] < grown[False] + 6, grown
