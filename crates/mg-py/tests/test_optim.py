"""Optimisers, schedules, and training with them."""

from __future__ import annotations

import math
import pickle

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import Tensor, nn, optim
from micrograd_rs.optim import lr_scheduler


def given(p, g):
    p.grad = mg.tensor([g])


def test_sgd():
    p = Tensor([2.0])
    sgd = optim.SGD([p], lr=0.1)
    given(p, 1.0)
    sgd.step()
    close(p, [1.9])
    p = Tensor([2.0])
    sgd = optim.SGD([p], lr=0.1, momentum=0.5)
    given(p, 1.0)
    sgd.step()
    close(p, [1.9])
    given(p, 0.5)
    sgd.step()
    close(p, [1.8])


def test_adam():
    for kind in (optim.Adam, optim.AdamW):
        p = Tensor([2.0])
        adam = kind([p], lr=0.1, weight_decay=0.0)
        given(p, 1.0)
        adam.step()
        close(p, [1.9])


def reference(steps, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.0, decoupled=False, amsgrad=False):
    p, m, v, most = 2.0, 0.0, 0.0, 0.0
    for t, g in enumerate(steps, 1):
        if decoupled:
            p -= lr * decay * p
        else:
            g += decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        most = max(most, v)
        p -= lr * m / (1 - betas[0] ** t) / (math.sqrt((most if amsgrad else v) / (1 - betas[1] ** t)) + eps)
    return p


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1}, {"amsgrad": True}, {"betas": (0.5, 0.9), "eps": 1e-3}])
@pytest.mark.parametrize("kind", [optim.Adam, optim.AdamW])
def test_adam_over_steps(kind, options):
    p = Tensor([2.0])
    adam = kind([p], lr=0.05, **({"weight_decay": 0.0} | options))
    steps = [1.0, -0.5, 2.0, 0.1, 0.0]
    for g in steps:
        given(p, g)
        adam.step()
    expected = reference(
        steps,
        0.05,
        options.get("betas", (0.9, 0.999)),
        options.get("eps", 1e-8),
        options.get("weight_decay", 0.0),
        kind is optim.AdamW,
        options.get("amsgrad", False),
    )
    close(p, [expected], rtol=1e-5)


def test_options_of_sgd():
    p = Tensor([2.0])
    sgd = optim.SGD([p], lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)
    given(p, 1.0)
    sgd.step()
    g = 1.0 + 0.1 * 2
    close(p, [2 - 0.1 * (g + 0.9 * g)])
    p = Tensor([2.0])
    sgd = optim.SGD([p], lr=0.1, maximize=True)
    given(p, 1.0)
    sgd.step()
    close(p, [2.1])


def test_a_missing_gradient_changes_nothing():
    a, b = Tensor([1.0]), Tensor([1.0])
    for kind in (optim.SGD, optim.Adam, optim.AdamW):
        o = kind([a, b], lr=0.1)
        o.zero_grad()
        given(b, 1.0)
        o.step()
    assert a.tolist() == [1] and b.tolist() != [1]


def test_zero_grad():
    p = Tensor([1.0])
    o = optim.SGD([p], lr=0.1)
    given(p, 1.0)
    o.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0]
    o.zero_grad()
    assert p.grad is None


def test_closure():
    p = Tensor([2.0])
    o = optim.SGD([p], lr=0.1)

    def closure():
        o.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert o.step(closure).item() == 4
    close(p, [1.6])


def test_groups():
    a, b = Tensor([1.0]), Tensor([1.0])
    o = optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.1)
    given(a, 1.0), given(b, 1.0)
    o.step()
    close(a, [0.9]), close(b, [0.0])
    o.param_groups[0]["lr"] = 0.5
    o.step()
    close(a, [0.4])
    assert "lr: 0.5" in repr(o)
    with pytest.raises(ValueError, match="momentum"):
        o.param_groups[0]["momentum"] = 0.5
    with pytest.raises(ValueError, match="more than one"):
        o.add_param_group({"params": [a]})
    with pytest.raises(ValueError, match="nonsense"):
        optim.SGD([{"params": [a], "nonsense": 1}])


def test_states():
    def trained(o, p, steps):
        for g in steps:
            given(p, g)
            o.step()

    p, q = Tensor([2.0]), Tensor([2.0])
    first, second = optim.Adam([p], lr=0.1), optim.Adam([q], lr=0.5)
    trained(first, p, [1.0, 0.3])
    with mg.no_grad():
        q.copy_(p)
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    assert second.param_groups[0]["lr"] == 0.1
    trained(first, p, [0.5]), trained(second, q, [0.5])
    assert p.tolist() == q.tolist()
    with pytest.raises(ValueError, match="groups"):
        first.load_state_dict({"state": [], "param_groups": []})


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD([p], lr=-1),
        lambda p: optim.SGD([p], momentum=-1),
        lambda p: optim.SGD([p], nesterov=True),
        lambda p: optim.Adam([p], lr=float("nan")),
        lambda p: optim.Adam([p], betas=(1.0, 0.9)),
        lambda p: optim.Adam([p], eps=-1),
        lambda p: optim.AdamW([p], weight_decay=-1),
        lambda p: optim.SGD([p * 2]),
        lambda p: optim.SGD([]),
        lambda p: optim.SGD([p, p]),
    ],
)
def test_unfit_options(make):
    with pytest.raises((ValueError, RuntimeError)):
        make(Tensor([1.0]))


def test_unfit_parameters():
    for wrong in ([1.0], 5, ["x"], [None]):
        with pytest.raises(TypeError):
            optim.SGD(wrong)


def rates(make, epochs, lr=0.1):
    o = optim.SGD([Tensor([1.0])], lr=lr)
    schedule = make(o)
    out = []
    for _ in range(epochs):
        out.append(schedule.get_last_lr()[0])
        assert o.param_groups[0]["lr"] == out[-1]
        schedule.step()
    return out


def test_schedules():
    close(rates(lambda o: lr_scheduler.StepLR(o, 3, 0.1), 4), [0.1, 0.1, 0.1, 0.01])
    close(rates(lambda o: lr_scheduler.ExponentialLR(o, 0.9), 3), [0.1, 0.09, 0.081])
    close(rates(lambda o: lr_scheduler.CosineAnnealingLR(o, 10, 0.001), 11)[10], 0.001)
    close(rates(lambda o: lr_scheduler.CosineAnnealingLR(o, 10), 6)[5], 0.05)
    warm = rates(lambda o: lr_scheduler.LinearLR(o, 0.1, 1.0, 10), 12)
    close([warm[0], warm[5], warm[10], warm[11]], [0.01, 0.055, 0.1, 0.1])
    close(rates(lambda o: lr_scheduler.MultiStepLR(o, [3, 7]), 8), [0.1] * 3 + [0.01] * 4 + [0.001])
    close(rates(lambda o: lr_scheduler.LambdaLR(o, lambda e: 1 / (e + 1)), 3), [0.1, 0.05, 0.1 / 3])


def test_schedules_go_on():
    o = optim.SGD([Tensor([1.0])], lr=0.1)
    schedule = lr_scheduler.ExponentialLR(o, 0.5)
    schedule.step()
    state = schedule.state_dict()
    other = lr_scheduler.ExponentialLR(optim.SGD([Tensor([1.0])], lr=0.1), 0.5)
    other.load_state_dict(state)
    assert other.get_last_lr() == [0.05]
    for wrong in (lambda: lr_scheduler.StepLR(o, 0), lambda: lr_scheduler.CosineAnnealingLR(o, 0)):
        with pytest.raises(ValueError):
            wrong()


def test_xor():
    mg.manual_seed(1)
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1), nn.Sigmoid())
    x, y = mg.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]]), mg.tensor([[0.0], [1], [1], [0]])
    adam = optim.Adam(net.parameters(), lr=0.05)
    for _ in range(500):
        loss = nn.functional.mse_loss(net(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert (net(x) > 0.5).flatten().tolist() == [False, True, True, False]


def test_line():
    x = mg.rand(1000, 1) * 10
    y = 2 * x + 1 + mg.randn(1000, 1) * 0.1
    line = nn.Linear(1, 1)
    adam = optim.Adam(line.parameters(), lr=0.1)
    for _ in range(500):
        adam.zero_grad()
        ((line(x) - y) ** 2).mean().backward()
        adam.step()
    assert line.weight.item() == pytest.approx(2, abs=0.05) and line.bias.item() == pytest.approx(1, abs=0.05)


def curve(steps=30):
    mg.manual_seed(7)
    data = mg.data.Mnist.drawn(512, 16, seed=1)
    x, y = data.train_images.reshape(512, -1).float() / 255, data.train_labels.long()
    net = nn.Sequential(nn.Linear(784, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 10))
    sgd, losses = optim.SGD(net.parameters(), lr=0.1, momentum=0.9), []
    for epoch in range(steps // 8 + 1):
        for batch in mg.data.Batches(512, 64, seed=3).epoch(epoch):
            loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
            sgd.zero_grad()
            loss.backward()
            sgd.step()
            losses.append(loss.item())
    return losses[:steps]


def test_same_seed_same_numbers():
    first = curve()
    assert first == curve() and first[-1] < first[0] * 0.6
