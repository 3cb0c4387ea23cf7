"""Hooks and gradients of results that are written to, asked for, and answered with."""

import micrograd_rs as mg
import pytest
from conftest import leaf

WRITES = {
    "none": lambda y: None,
    "no_grad": lambda y: mg.no_grad()(lambda: y.add_(1))(),
    "data": lambda y: y.data.add_(1),
    "detach": lambda y: y.detach().add_(1),
}


@pytest.mark.parametrize("before", WRITES)
@pytest.mark.parametrize("after", WRITES)
def test_a_hook_of_a_result_is_of_what_the_graph_has_of_it(before, after):
    v = mg.tensor([1.0, 2.0], requires_grad=True)
    y = v * 2
    used, view = y.mean(), y.view(-1)
    WRITES[before](y)
    y.register_hook(lambda gradient: gradient * 3)
    WRITES[after](y)
    assert mg.autograd.grad(y.sum(), v, retain_graph=True)[0].tolist() == [6.0, 6.0]
    assert mg.autograd.grad(used, v, retain_graph=True)[0].tolist() == [3.0, 3.0]
    assert mg.autograd.grad((view * 1).sum(), v)[0].tolist() == [6.0, 6.0]


def test_a_gradient_that_a_step_gives_its_answer_is_there_each_time():
    @mg.jit
    def step(a):
        r = a * 2
        r.grad = mg.ones_like(r)
        return r

    assert [step(mg.ones(2) + i).grad.tolist() for i in range(5)] == [[1.0, 1.0]] * 5


def test_a_result_whose_gradient_was_asked_for_keeps_it_from_then_on():
    v = mg.tensor([1.0], requires_grad=True)
    y = v * 2
    y.sum().backward(inputs=[y], retain_graph=True)
    assert y.grad.item() == 1.0 and y.retains_grad and v.grad is None
    y.sum().backward()
    assert y.grad.item() == 2.0 and v.grad.item() == 2.0


def test_a_kept_gradient_that_is_asked_for_is_counted_once():
    p = mg.tensor([1.0, 2.0], requires_grad=True)
    h = p * 1
    h.retain_grad()
    (h * h).sum().backward(inputs=[h])
    assert h.grad.tolist() == [2, 4] and p.grad is None


def test_a_gradient_that_is_kept_is_that_of_the_tensor_as_it_is():
    def of(write, of=lambda h: h):
        w = leaf([1.0, 1.0])
        h = w * 2
        kept = of(h)
        kept.retain_grad()
        total = write(h, kept)
        assert kept.retains_grad
        total.backward()
        return None if kept.grad is None else kept.grad.tolist()

    def unrecorded(h, _):
        y = h + 1
        with mg.no_grad():
            h.mul_(3)
        return y.sum() + 2 * h.sum()

    assert of(lambda h, _: h.mul_(3).sum()) == [1.0, 1.0]
    assert of(lambda h, _: (h[0].mul_(3), h.sum())[1]) == [1.0, 1.0]
    assert of(lambda h, _: (h.__setitem__(0, 7.0), (h * 5).sum())[1]) == [5.0, 5.0]
    # What was made of it before it was written to is no part of that.
    assert of(lambda h, _: (h + 1, h.mul_(3))[0].sum()) is None
    assert of(unrecorded) == [3.0, 3.0]
    assert of(lambda h, v: (h.mul_(3), h.sum() + v.sum())[1], lambda h: h[:1]) == [1.0]
    assert of(lambda h, v: v.mul_(3).sum(), lambda h: h[:1]) == [1.0]
    # Twice, and beside a hook, which stays with what it was registered for.
    w = leaf([1.0, 1.0])
    h = w * 2
    told = []
    h.register_hook(lambda g: told.append(g.tolist()))
    h.retain_grad()
    h.mul_(3)
    h.mul_(5)
    h.sum().backward()
    assert (h.grad.tolist(), w.grad.tolist(), told) == ([1.0, 1.0], [30.0, 30.0], [[15.0, 15.0]])


def test_what_is_always_called_is_called_where_a_hook_before_fails():
    told, module = [], mg.nn.Linear(2, 2)
    module.register_forward_hook(lambda *given: told.append(given[-1]), always_call=True)
    module.register_forward_pre_hook(lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        module(mg.ones(2))
    assert told == [None]


def test_a_retained_gradient_that_was_read_stays_what_it_was():
    w = mg.ones(2, requires_grad=True)
    y = w * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    (first, leaf) = y.grad, w.grad
    y.sum().backward()
    assert first.tolist() == [1, 1] and y.grad.tolist() == [2, 2]
    # Of a leaf there is one, which grows.
    assert leaf is w.grad and leaf.tolist() == [4, 4]


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_hooks_of_what_has_a_derivative_as_other_operations_are_called(kind):
    """PyTorch's numbers, of a layer whose weights are all 0.1."""
    plain = {
        "RNN": (1.1654, 3.1631, 3.2123, 11.8422),
        "GRU": (0.3192, 0.1861, 0.0362, 0.4241),
        "LSTM": (0.2745, 0.2617, 0.0469, 0.3615),
    }
    doubled = {
        "RNN": (2.3309, 6.3262, 20.8385, 65.7556),
        "GRU": (0.6383, 0.3722, 0.3017, 2.0460),
        "LSTM": (0.5491, 0.5235, 0.3211, 1.7497),
    }
    p = mg.tensor([[[0.1, 0.2]], [[0.3, 0.4]], [[0.2, 0.1]]], requires_grad=True)
    layer = getattr(mg.nn, kind)(2, 3)
    with mg.no_grad():
        for t in layer.parameters():
            t.fill_(0.1)
    for wanted, factor in ((plain[kind], None), (doubled[kind], 2)):
        y, _ = layer(p)
        told = []

        def hook(inputs, outputs):
            told.append((len(inputs), [g.requires_grad for g in outputs]))
            return None if factor is None else tuple(None if g is None else g * factor for g in inputs)

        # The sequence itself lies behind a view.
        y.grad_fn.next_functions[0][0].register_hook(hook)
        g, w = mg.autograd.grad((y * y).sum(), [p, layer.weight_hh_l0], create_graph=True)
        assert [n > 1 for n, _ in told] == [True] and told[0][1] == [True]
        further = mg.autograd.grad((g * g).sum() + (w * w).sum(), [p, layer.weight_ih_l0])
        assert [t.sum().item() for t in (g, w, *further)] == pytest.approx(wanted, abs=1e-4)
