"""State: who shares memory, who sees a write, what is left after a failure; see docs/state.md."""

import copy
import functools
import gc
import threading
import weakref

import pytest

import micrograd_rs as mg
from conftest import leaf
from micrograd_rs import nn, optim
from micrograd_rs.autograd import grad

T = mg.tensor


def late():
    """A row whose index turns out to be out of range when it is computed."""
    return T([[1.0, 2.0], [3.0, 4.0]]).index_select(0, T([4]) + 1)[0]


def test_data_and_detach_share_memory():
    p = mg.Tensor([1.0, 2.0])
    p.data.sub_(T([1.0, 1.0]))
    p.detach()[1] = 5
    assert p.tolist() == [0, 5] and p.requires_grad and p.is_leaf
    (p * 3).sum().backward()
    p.grad.data.mul_(2)
    assert p.grad.tolist() == [6, 6]
    x = mg.zeros(10)
    d = x[4:8].detach()
    view = d[1:3]
    del x
    d.sum().item()
    other = d.detach()
    view.add_(1)
    assert d.tolist() == other.tolist() == [0, 1, 1, 0] and view.tolist() == [1, 1]
    d.fill_(3)
    assert view.tolist() == [3, 3] and other.tolist() == [3] * 4


def test_a_gradient_is_one_object():
    w = mg.Tensor([1.0, 2.0])
    (w * w).sum().backward()
    g = w.grad
    assert w.grad is g and w.grad is w.grad
    (w * w).sum().backward()
    g.mul_(2)
    assert w.grad is g and g.tolist() == [8, 16]
    w.grad = None
    assert w.grad is None and g.tolist() == [8, 16]
    (w * 3).sum().backward()
    assert w.grad is not g and w.grad.tolist() == [3, 3]
    w.grad = g
    assert w.grad is g
    (w * w).sum().backward(create_graph=True)
    assert w.grad is not g and w.grad is w.grad
    del w.grad
    v = mg.Tensor([1.0, 2.0])
    v.grad = w.grad = g
    assert v.grad is w.grad is g
    optim.SGD([w, v], lr=0.1).zero_grad(set_to_none=False)
    assert v.grad is g and g.tolist() == [0, 0]
    # Nobody is kept: neither the tensor by its gradient nor the gradient by who has asked for it.
    gone = weakref.ref(w), weakref.ref(g)
    optim.SGD([w, v], lr=0.1).zero_grad()
    del g
    assert gone[1]() is None
    del w
    assert gone[0]() is None


def test_a_held_gradient_does_not_come_back():
    w = leaf([1.0])
    (w * 3).sum().backward()
    held = w.grad
    w.grad = None
    (w * 2).sum().backward()
    held += w.grad
    assert w.grad.item() == 2 and held.item() == 5 and w.grad is w.grad
    held.zero_()
    assert w.grad.item() == 2


def test_deep_copies_share_what_was_shared():
    x = mg.arange(6.0)
    all_of = {"x": x, "row": x[2:4], "turned": x.view(2, 3).t(), "detached": x.detach(), "part": x[1:5].detach()[1:]}
    other = copy.deepcopy(all_of)
    other["row"].fill_(9)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    assert other["x"].tolist() == other["detached"].tolist() == [0, 1, 9, 9, 4, 5]
    assert other["turned"].tolist() == [[0, 9], [1, 4], [9, 5]] and other["part"].tolist() == [9, 9, 4]
    other["part"].mul_(-1)
    other["detached"].add_(1)
    assert other["x"].tolist() == [1, 2, -8, -8, -3, 6] and other["turned"].tolist() == [[1, -8], [2, -3], [-8, 6]]
    same = copy.deepcopy([x, x.float()])
    same[0].fill_(3)
    assert same[1].tolist() == [3] * 6
    alone = copy.deepcopy(x[2:4])
    alone.zero_()
    assert x.tolist() == [0, 1, 2, 3, 4, 5] and alone.tolist() == [0, 0]
    # A leaf with a gradient that others have, and a view that became a leaf.
    flat = mg.zeros(4)
    w = flat[:2].requires_grad_()
    (w * 3).sum().backward()
    flat, w, g = copy.deepcopy((flat, w, w.grad))
    assert w.is_leaf and w.requires_grad and not flat.requires_grad and w.grad is g and g.tolist() == [3, 3]
    flat.add_(1)
    assert w.tolist() == [1, 1]
    optim.SGD([w], lr=1.0).step()
    assert flat.tolist() == [-2, -2, 1, 1]


def test_deep_copies_of_modules_share_what_was_shared():
    class Net(nn.Module):
        def __init__(self):
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
            self.b.weight = self.a.weight
            self.register_buffer("seen", self.a.weight.detach()[0])

    net = Net()
    other = copy.deepcopy(net)
    with mg.no_grad():
        other.a.weight.fill_(7)
    assert other.b.weight is other.a.weight and other.seen.tolist() == [7, 7]
    assert 7 not in net.seen.tolist()
    assert len(list(other.parameters())) == 3


def test_a_parameter_takes_other_memory_and_stays_itself():
    w = mg.Tensor([1.0, 2.0])
    opt = optim.SGD([w], lr=0.5)
    row = w[1:]
    w.data = T([[3.0], [4.0]], dtype=mg.float64)
    assert w.shape == (2, 1) and w.dtype == mg.float64 and w.is_leaf and w.requires_grad
    assert row.tolist() == [2.0]
    w.sum().backward()
    opt.step()
    assert w.tolist() == [[2.5], [3.5]]


def test_parameters_are_on_the_memory_of_what_they_are_made_of():
    x = mg.ones(2)
    p = mg.nn.Parameter(x)
    p.data.add_(1)
    assert x.tolist() == [2, 2]
    x.add_(1)
    assert p.tolist() == [3, 3]
    flat = mg.zeros(4)
    a, b = mg.nn.Parameter(flat[:2]), mg.nn.Parameter(flat[2:])
    flat.copy_(mg.tensor([1.0, 2.0, 3.0, 4.0]))
    assert a.tolist() == [1, 2] and b.tolist() == [3, 4]
    (a.sum() + b.sum() * 2).backward()
    mg.optim.SGD([a, b], 0.5).step()
    assert flat.tolist() == [0.5, 1.5, 2, 3] and a.grad.tolist() == [1, 1]
    layer = mg.nn.Linear(2, 2)
    tied = mg.nn.Parameter(layer.weight.data)
    with mg.no_grad():
        tied.zero_()
    assert layer.weight.tolist() == [[0, 0], [0, 0]]


def test_a_backward_that_fails_adds_to_no_gradient():
    a, b = mg.Tensor([1.0]), mg.Tensor([2.0])
    y = (b * b).sum() + a.sum() * 3
    with mg.no_grad():
        b.add_(1)
    with pytest.raises(RuntimeError, match="changed in place"):
        y.backward()
    assert a.grad is None and b.grad is None


def test_what_was_copied_over_gets_zeros():
    w, v = mg.Tensor(3.0), mg.Tensor([1.0, 2.0])
    h = w.abs()
    h.copy_(v[0])
    h.backward()
    assert w.grad.tolist() == 0 and v.grad.tolist() == [1, 0]
    y = w * 2
    y.add_(1)
    y.copy_(y + v[1])
    assert [g.tolist() for g in grad(y, [w, v])] == [2, [0, 1]]
    x = w.clone()
    x.copy_(x.exp())
    x.data.mul_(1)
    assert grad(x, w)[0].item() == pytest.approx(20.0855, rel=1e-5)
    z = (v * v).sum()
    z[...] = 0.0
    (g,) = grad(z * z, [v], create_graph=True)
    assert g.tolist() == [0, 0] and not g.requires_grad


def test_a_view_forgets_what_was_written_over_it_whatever_comes_after():
    w = mg.Tensor([1.0, 2.0])
    y = w * 1
    view = y[:1]
    view[0] = 5.0
    y.detach().mul_(2)
    view.sum().backward()
    assert view.tolist() == [10] and w.grad.tolist() == [0, 0]


def test_a_write_to_nothing_keeps_its_history():
    w = mg.Tensor(2.0)
    for index in (T([False] * 3), [], slice(0, 0)):
        t = mg.zeros(3)
        t[index] = w
        assert t.requires_grad
    t = mg.zeros(0)
    t[t > 0] += w
    assert t.requires_grad
    leaf = mg.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError):
        leaf[T([False] * 3)] = 1.0


def test_gradients_are_constants():
    a, b = mg.tensor(2.0, dtype=mg.float64, requires_grad=True), mg.Tensor(3.0)
    (a * b).backward()
    assert a.grad.tolist() == 3 and not a.grad.requires_grad and not b.grad.requires_grad


def test_what_waits_for_what_failed_is_no_gradient():
    m = nn.Linear(1, 2)
    x = mg.zeros(2, 1)
    mg.functional.cross_entropy(m(x), T([0, 0]) + 5).backward()
    with pytest.raises(IndexError):
        m.weight.grad.tolist()
    assert m.bias.grad is None
    m.zero_grad()
    m(x).sum().backward()
    mg.functional.cross_entropy(m(x), T([0, 0]) + 5).backward()
    with pytest.raises(IndexError):
        m.weight.grad.tolist()
    assert m.bias.grad.tolist() == [2, 2]


def test_nothing_of_a_broadcast_view_can_be_written():
    row = mg.tensor([1.0, 2.0])
    x = row.expand(3, 2).detach()
    x[0:0].add_(1)
    with pytest.raises(ValueError, match="broadcast"):
        x.add_(1)


def test_gradients_are_of_what_requires_them():
    w, x = mg.Tensor(1.0), mg.tensor(2.0)
    with pytest.raises(RuntimeError, match="input 1 does not require"):
        grad(w * x, [w, x], allow_unused=True)


def test_what_a_gradient_does_not_read_can_be_written_to():
    w = mg.Tensor([2.0, 4.0])
    y = w.reciprocal()
    z = w**0
    with mg.no_grad():
        w.zero_()
    y.sum().backward()
    assert w.grad.tolist() == [-0.25, -0.0625]
    (g,) = grad(z.sum(), [w], create_graph=True)
    assert g.tolist() == [0, 0] and not g.requires_grad


def test_views_that_are_leaves():
    flat = mg.zeros(6)
    w = flat[:3].requires_grad_()
    flat.add_(1)
    opt = optim.SGD([w], lr=1.0)
    w.sum().backward()
    opt.step()
    assert w.requires_grad and w.tolist() == [0, 0, 0] and flat.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_view_that_is_a_leaf_stays_one():
    flat = mg.zeros(6)
    w = flat[:3].requires_grad_()
    flat.add_(1)
    assert w.requires_grad and w.is_leaf
    optimiser = mg.optim.SGD([w], lr=1.0)
    for _ in range(2):
        optimiser.zero_grad()
        w.sum().backward()
        optimiser.step()
    assert w.requires_grad and flat.tolist() == [-1, -1, -1, 1, 1, 1]


def test_a_write_without_gradients_keeps_the_history():
    w = mg.Tensor([2.0])
    t = w * w
    with mg.no_grad():
        t *= 10
    (t + w).backward()
    assert t.requires_grad and w.grad.tolist() == [5]
    h = w * 3
    h.fill_(0.0)
    w.grad = None
    h.sum().backward()
    assert w.grad.tolist() == [0]


def test_gradients_with_respect_to_views():
    x = mg.Tensor([1.0, 2.0, 3.0, 4.0])
    h = x[1:]
    z = h[1:]
    assert grad((z * z).sum() + h.sum(), h)[0].tolist() == [1, 7, 9]
    same = x.view(4)
    assert grad((same * 2).sum() + (x * x).sum(), same)[0].tolist() == [2] * 4
    x = mg.Tensor([[1.0, 2.0]])
    h = x.t()
    z = h.t()
    assert grad((z * z).sum() + h.sum(), h)[0].tolist() == [[3], [5]]
    # No further than to what is asked for.
    h = x * 2
    y = (h * h).sum()
    grad(y, h)
    h.backward(mg.ones(1, 2))
    assert x.grad.tolist() == [[2, 2]]


def test_a_saved_value_that_was_changed_is_an_error():
    w, x = mg.Tensor([3.0]), T([2.0])
    y = (w * x).sum()
    x.zero_()
    with pytest.raises(RuntimeError, match="changed in place"):
        y.backward()
    y = w * 2
    y.mul_(w)
    y.sum().backward()
    assert w.grad.tolist() == [12]


def test_memory_of_others_is_shared_both_ways():
    numpy = pytest.importorskip("numpy")
    array, w = numpy.ones(2, numpy.float32), mg.Tensor([1.0, 1.0])
    for k in (1, 2):
        array[:] = k
        (w * mg.from_numpy(array)).sum().backward()
    assert w.grad.tolist() == [3, 3]
    target = mg.zeros(2)
    target.copy_(mg.from_numpy(array))
    array[:] = 100
    assert target.tolist() == [2, 2]
    t = mg.from_numpy(array).requires_grad_()
    with mg.no_grad():
        t.add_(1)
    t.detach()[0] = 7
    assert array.tolist() == [7, 101] and t.tolist() == [7, 101]
    every = numpy.arange(6.0)
    mg.from_numpy(every[::2])[1] = 9
    assert every.tolist() == [0, 1, 9, 3, 4, 5]
    step = mg.jit(lambda x: t.detach().add_(x).sum())
    for _ in range(4):
        step(mg.ones(2))
    assert array.tolist() == [11, 105]


def test_what_could_not_be_written_has_not_been():
    w = mg.Tensor([1.0, 1.0])
    opt = optim.SGD([w], lr=0.1)
    (w * late()).sum().backward()
    with pytest.raises(IndexError):
        opt.step()
    assert w.tolist() == [1, 1] and w.requires_grad
    opt.zero_grad()
    (w * 2).sum().backward()
    opt.step()
    assert w.tolist() == pytest.approx([0.8, 0.8])
    c = mg.zeros(2).clone().realize()
    for _ in range(4):
        c.add_(1)
    c.mul_(late())
    for _ in range(30):
        c.add_(1)
    with pytest.raises(IndexError):
        c.tolist()
    assert c.tolist() == [4, 4]
    with mg.no_grad():
        w[:1] = late()[:1]
    with pytest.raises(IndexError):
        w.tolist()
    assert w.tolist() == pytest.approx([0.8, 0.8])


@pytest.mark.parametrize("how", [optim.Adam, optim.AdamW, lambda p, lr: optim.SGD(p, lr=lr, momentum=0.9)])
def test_a_step_that_failed_was_not_made(how):
    def trained(batches):
        w, v = mg.Tensor([1.0, 1.0]), mg.Tensor([2.0])
        opt = how([w, v], lr=0.1)
        for bad in batches:
            opt.zero_grad()
            ((w * (late() if bad else 3)).sum() + (v * v).sum()).backward()
            if bad:
                with pytest.raises(IndexError):
                    opt.step()
            else:
                opt.step()
        state = opt.state_dict()["state"]
        return w.tolist(), {k: x if isinstance(x, (int, float)) else x.tolist() for k, x in state.get(0, {}).items()}

    # `v` has had the steps that `w` could not make.
    assert trained([False, True, False, True, True, False]) == trained([False] * 3)
    assert trained([True, False]) == trained([False])
    assert trained([True, True]) == ([1, 1], trained([])[1])


def test_a_replayed_step_that_failed_was_not_made():
    w, table = mg.Tensor([1.0, 1.0]), T([[1.0, 2.0], [3.0, 4.0]])
    opt = optim.Adam([w], lr=0.1)

    @mg.jit
    def step(i):
        opt.zero_grad()
        (w * table.index_select(0, i)[0]).sum().backward()
        opt.step()
        return w * 1

    for _ in range(4):
        step(T([1]))
    before = w.tolist()
    for _ in range(3):
        with pytest.raises(IndexError):
            step(T([5]))
    assert w.tolist() == before and opt.state_dict()["state"][0]["step"] == 4
    step(T([1]))
    assert opt.state_dict()["state"][0]["step"] == 5


def test_a_failure_that_nobody_was_told_of_is_not_forgotten():
    x = mg.ones(2).clone().realize()
    x.add_(late())
    kept = [T([1.0]) * float(i) for i in range(5000)]
    with pytest.raises(IndexError):
        x.tolist()
    assert x.tolist() == [1, 1] and len(kept) == 5000


def test_chains_of_views_are_one_view():
    def deep():
        y = x = mg.zeros(100_001)
        for _ in range(100_000):
            y = y[1:]
        y[0] = 7
        assert x[100_000].item() == 7

    before = threading.stack_size(256 * 1024)
    thread = threading.Thread(target=deep)
    thread.start()
    thread.join()
    threading.stack_size(before)


def test_replays_see_what_surrounds_the_function():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    x = mg.ones(1, 2)
    with mg.no_grad():
        for step in (mg.jit(model), mg.jit(lambda x: model(x)), mg.jit(functools.partial(lambda m, x: m(x), model))):
            model.train()
            for _ in range(4):
                step(x)
            assert step.is_replaying, step.reason
            model.eval()
            for _ in range(4):
                assert step(x).tolist() == model(x).tolist()
    scale = 2.0
    step = mg.jit(lambda x: x * scale)
    for value in (2.0, 2.0, 2.0, 3.0, -0.0, 0.0):
        scale = value
        assert str(step(T([1.0])).tolist()) == str([value])


def test_replays_beside_threads_that_look():
    w = mg.zeros(4)

    @mg.jit
    def step(x):
        w.add_(x)
        return w.sum()

    for _ in range(5):
        step(mg.ones(4))
    stop = threading.Event()
    seen = []

    def look():
        while not stop.is_set():
            seen.append((w.shape, w[0:2].tolist()))

    def call():
        for _ in range(300):
            step(mg.ones(4))

    threads = [threading.Thread(target=call) for _ in range(2)]
    watcher = threading.Thread(target=look)
    for thread in (watcher, *threads):
        thread.start()
    for thread in threads:
        thread.join(60)
    stop.set()
    watcher.join(60)
    assert not any(thread.is_alive() for thread in (watcher, *threads)) and seen


def test_a_step_that_sees_one_memory_in_two_ways():
    flat = mg.ones(4)
    head, tail = flat[:2], flat[2:]

    def plain(x):
        n = head.sum() + flat.sum()
        tail.add_(x)
        return n

    step = mg.jit(plain)
    got = [step(T([1.0, 1.0])).item() for _ in range(8)]
    assert got == [6 + 2 * i for i in range(8)] and flat.tolist() == [1, 1, 9, 9]
    w = mg.Tensor([1.0, 2.0])
    (w * w).sum().backward()
    held = w.grad

    @mg.jit
    def more(x):
        n = held.sum()
        (w * x).sum().backward()
        return n

    assert [more(T([1.0, 1.0])).item() for _ in range(6)] == [6 + 2 * i for i in range(6)]
    assert w.grad.tolist() == [8, 10]


def test_what_is_replayed_can_be_let_go_and_copied():
    class Trainer:
        def __init__(self):
            self.w = mg.zeros(2)
            self.fast = mg.jit(self.step)

        def step(self, x):
            return (self.w + x).sum()

    trainer = Trainer()
    for _ in range(4):
        trainer.fast(mg.ones(2))
    assert trainer.fast.is_replaying
    assert copy.deepcopy(trainer).fast(mg.ones(2)).item() == 2
    gone = weakref.ref(trainer)
    del trainer
    gc.collect()
    assert gone() is None


def test_what_is_written_to_shared_memory_stays_shared_whatever_is_recorded():
    for way in range(4):
        w = mg.Tensor([1.0])
        array = w.detach().numpy()
        t = (w * 3)[0]
        seen = w.data
        if way == 0:
            seen[0] *= t
        elif way == 1:
            seen[0] = t
            seen[0] = t * 2
        elif way == 2:
            seen[0] = t
            seen[0] = seen[0]
        else:
            seen.mul_(t)
            seen[0] = seen[0] * 1.0
        assert array.tolist() == ([6.0] if way == 1 else [3.0])
        assert seen.requires_grad
        w.data[0] = 7.0
        assert array.tolist() == [7.0]
        array[0] = 5.0
        assert (w.tolist(), seen.tolist()) == ([5.0], [5.0])
        if way in (1, 2):
            seen.sum().backward()
            assert w.grad.tolist() == ([6.0] if way == 1 else [3.0])


def test_data_of_its_own_leaves_views_what_they_are():
    t, w = T([0.0]), mg.Tensor(2.0)
    seen = t[:]
    t.data = t
    seen[:] = w * 3
    t.sum().backward()
    assert (t.tolist(), w.grad.item()) == ([6.0], 3.0)


def test_a_tensor_that_is_given_its_own_memory_stays_what_it_is():
    x = T([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    view = y[1:]
    y.data = y.data
    y.mul_(3)
    view.sum().backward()
    assert x.grad.tolist() == [0, 6, 6] and view.tolist() == [12, 18]
    turned = mg.ones(2, 3)
    turned.data = turned.data.t()
    assert turned.shape == (3, 2)
    turned.data = turned.data[:2]
    assert turned.shape == (2, 2)


# A result whose data is another tensor's keeps its history.
def test_a_result_is_given_data_of_another_shape():
    w = leaf([1.0, 2.0, 3.0])
    x = w * 2
    x.data = mg.ones(2)
    assert x.shape == (2,) and x.requires_grad and not x.is_leaf
    with pytest.raises(RuntimeError, match=r"\[2\].*\[3\]"):
        (x * 3).sum().backward()
    x = w * 2
    x.data = mg.ones(2, 3, dtype=mg.float64)
    (x * 3).sum().backward()
    assert w.grad.tolist() == [12, 12, 12] and w.grad.dtype == mg.float32
    x = w * 2
    x.data = mg.ones(5)
    x.data = mg.ones(3)
    x.mul_(2)
    x.sum().backward()
    assert w.grad.tolist() == [16, 16, 16]
    with pytest.raises(TypeError):
        (w * 2).data = mg.ones(3, dtype=mg.int32)


def test_a_gradient_of_another_shape_is_added_only_where_it_fits():
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    w.data = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises((RuntimeError, ValueError), match=r"shape \[2, 2\].*shape \[2\]"):
        (w * w).sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]
    w.data = mg.tensor([5.0])
    (w * w).sum().backward()
    assert w.grad.tolist() == [12.0, 14.0]


def test_gradients_of_leaves_that_have_another_dtype_since():
    w = leaf([1.0, 2.0], dtype=mg.float64)
    (w * 2).sum().backward()
    w.data = mg.tensor([1.0, 2.0])
    (w * 3).sum().backward()
    assert w.dtype == mg.float32 and w.grad.dtype == mg.float64 and w.grad.tolist() == [5, 5]


def test_results_are_cut_off_in_place():
    w = leaf([1.0, 2.0])
    x = w * 2
    assert x.detach_() is x and x.is_leaf and not x.requires_grad
    x.mul_(2)
    assert (x.tolist(), w.detach_().requires_grad) == ([4, 8], False)
    for view in (mg.ones(2)[1:], (leaf([1.0, 2.0]) * 1)[:1]):
        with pytest.raises(RuntimeError, match="view"):
            view.detach_()


@pytest.mark.parametrize("shares", [lambda s: s.numpy(), lambda s: s.detach().numpy()], ids=["numpy", "of a detached one"])
def test_operations_in_place_keep_what_their_gradient_asks_for(shares):
    """Also where the memory that they write is an array's too."""
    pytest.importorskip("numpy")
    for write, wanted in ((lambda s, t: s.mul_(t), 3.0), (lambda s, t: s.__imul__(t), 3.0), (lambda s, t: s.div_(t), -1 / 3)):
        w = mg.tensor([1.0], requires_grad=True)
        s = mg.tensor([1.0])
        array = shares(s)
        write(s, w * 3)
        s.sum().backward()
        assert w.grad.item() == pytest.approx(wanted)
        assert array.tolist() == s.tolist()
