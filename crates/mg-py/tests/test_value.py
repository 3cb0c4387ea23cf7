"""micrograd's `Value`, `Neuron`, `Layer` and `MLP`."""

from __future__ import annotations

import copy
import math
import pickle
import random
import xml.etree.ElementTree as xml

import micrograd_rs as mg
import pytest
from micrograd_rs import MLP, Layer, Neuron, Value


def test_sanity_check():
    x = Value(-4.0)
    z = 2 * x + 2 + x
    q = z.relu() + z * x
    h = (z * z).relu()
    y = h + q + q * x
    y.backward()
    assert (y.data, x.grad) == (-20.0, 46.0)


def test_more_operations():
    a, b = Value(-4.0), Value(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    g.backward()
    assert g.data == pytest.approx(24.70408163265306, abs=1e-12)
    assert a.grad == pytest.approx(138.83381924198252, abs=1e-12)
    assert b.grad == pytest.approx(645.5772594752186, abs=1e-12)


def test_backward_twice():
    x = Value(3.0)
    y = x**3
    y.backward()
    assert x.grad == 27
    x.zero_grad()
    y.backward()
    assert x.grad == 27
    y.backward()
    assert x.grad == 54


@pytest.mark.parametrize(
    ("f", "at", "value", "slope"),
    [
        (lambda v: v.exp(), 0.5, math.exp(0.5), math.exp(0.5)),
        (lambda v: v.log(), 0.5, math.log(0.5), 2.0),
        (lambda v: v.tanh(), 0.5, math.tanh(0.5), 1 - math.tanh(0.5) ** 2),
        (lambda v: v.sigmoid(), 0.0, 0.5, 0.25),
        (lambda v: v.relu(), -0.5, 0.0, 0.0),
        (lambda v: v.relu(), 0.5, 0.5, 1.0),
        (lambda v: -v, 2.0, -2.0, -1.0),
        (lambda v: +v, 2.0, 2.0, 1.0),
        (lambda v: abs(v), -2.0, 2.0, -1.0),
        (lambda v: v + 1, 2.0, 3.0, 1.0),
        (lambda v: 1 + v, 2.0, 3.0, 1.0),
        (lambda v: v - 1, 2.0, 1.0, 1.0),
        (lambda v: 1 - v, 2.0, -1.0, -1.0),
        (lambda v: v * 3, 2.0, 6.0, 3.0),
        (lambda v: 3 * v, 2.0, 6.0, 3.0),
        (lambda v: v / 4, 2.0, 0.5, 0.25),
        (lambda v: 4 / v, 2.0, 2.0, -1.0),
        (lambda v: v**3, 2.0, 8.0, 12.0),
        (lambda v: v**-1, 2.0, 0.5, -0.25),
        (lambda v: v**0.5, 4.0, 2.0, 0.25),
        (lambda v: 2**v, 3.0, 8.0, 8 * math.log(2)),
        (lambda v: v**v, 2.0, 4.0, 4 * (math.log(2) + 1)),
        (lambda v: v**0, 0.0, 1.0, 0.0),
        (lambda v: True + v, 2.0, 3.0, 1.0),
        (lambda v: v + v, 2.0, 4.0, 2.0),
        (lambda v: v * v, 2.0, 4.0, 4.0),
    ],
)
def test_operations(f, at, value, slope):
    x = Value(at)
    y = f(x)
    y.backward()
    assert y.data == pytest.approx(value, rel=1e-12) and x.grad == pytest.approx(slope, rel=1e-12)


def test_comparisons():
    a, b = Value(1.0), Value(2.0)
    assert a < b and a <= b and b > a and b >= a and a != b and a < 2 and 0 < a and a <= Value(1) <= a and a >= 1
    nan = Value(float("nan"))
    assert not nan < nan and not nan >= nan and nan == nan
    assert max([a, b]) is b and sorted([b, a])[0] is a
    assert (a == "x") is False and a != None  # noqa: E711
    with pytest.raises(TypeError):
        a < "x"


def test_identity():
    """As micrograd: equal is what is the same value, so that `in` works in lists as it does in sets."""
    a, b = Value(1.0), Value(1.0)
    assert a != b and a == a and len({a, b}) == 2 and b not in [a] and not a == 1.0 and a != 1.0 and 1 != a
    c = a + b
    # Another handle on the same value.
    (again,) = [v for v in c._prev if v == a]
    assert again is not a and hash(again) == hash(a) and {again, a} == {a} and {a: 5}[again] == 5
    (p, q) = sorted(c._prev, key=lambda v: hash(v) != hash(a))
    p.grad = 5
    assert a.grad == 5


def test_attributes():
    a = Value(2, label="a")
    assert a.data == 2.0 and a.grad == 0.0 and a.label == "a" and a.is_leaf and a._op == "" and a._prev == set()
    a.data, a.grad, a.label = 5, 7, "b"
    assert (a.data, a.grad, a.label) == (5.0, 7.0, "b")
    assert repr(Value(1)) == "Value(data=1.0, grad=0.0, device=cpu)" and repr(Value(float("nan"))) == "Value(data=nan, grad=0.0, device=cpu)"
    c = a * 2 + a
    assert c._op == "+" and (a**3)._op == "**3" and a.relu()._op == "ReLU" and (a * a)._op == "*"
    assert len((a + a).trace()) == 2 and len((a + a)._prev) == 1 and not c.is_leaf
    assert float(a) == 5.0 and f"{a:.1f}" == "5.0" and round(Value(2.567), 1) == 2.6 and round(Value(2.4)) == 2
    assert bool(a) and not Value(0)
    with pytest.raises(AttributeError):
        a.nonsense
    with pytest.raises(TypeError):
        a.data = "x"


def test_drawings():
    a, b = Value(2.0, label="a"), Value(-3.0)
    y = (a * b + 1).relu()
    dot = y.dot()
    assert dot.startswith("digraph") and "ReLU" in dot and "data" in dot and "rankdir=LR" in dot.replace(" ", "")
    for svg in (y.svg(), y.svg("TB"), y._repr_svg_()):
        root = xml.fromstring(svg)
        assert root.tag.endswith("svg") and "ReLU" in svg
    with pytest.raises(ValueError, match="XX"):
        y.dot("XX")


def test_pickling():
    a, b = Value(2.0, label="a"), Value(3.0)
    y = (a * b + 2**a).tanh() + a
    y.backward()
    for copied in (pickle.loads(pickle.dumps(y)), copy.deepcopy(y)):
        assert copied.data == y.data and copied._op == "+" and len(copied.trace()) == len(y.trace())
        leaf = next(v for v in copied.trace() if v.label == "a")
        before = a.grad
        assert leaf.grad == before
        copied.backward()
        assert leaf.grad == 2 * before and a.grad == before
    assert copy.copy(a) is a


@pytest.mark.parametrize("again", [copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_values_are_copied_with_their_graphs(again):
    a = mg.Value(2.0)
    c = again([a, a * 3])
    c[1].backward()
    assert c[0].grad == 3
    mlp = mg.nn.MLP(2, [2, 1])
    parameters, m = again((mlp.parameters(), mlp))
    for k, p in enumerate(parameters):
        p.data = float(k)
    assert [p.data for p in m.parameters()] == list(range(len(parameters)))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_what_is_copied_together_stays_together(copied):
    a = Value(2.0, label="a")
    b = 3 * a
    first, second = copied([a, b])
    second.backward()
    assert first.grad == 3 and a.grad == 0 and first.label == "a"
    # What depends may come before what it depends on, or deep inside of something.
    second, (first, again) = copied((b, [a, a]))
    second.backward()
    assert first.grad == 3 and first == again and first != a
    several = copied({"sums": [b + a, b * b], "leaf": a, "middle": b})
    several["sums"][1].backward()
    several["sums"][0].backward()
    assert several["leaf"].grad == 3 * 2 * 6 + 4 and several["middle"].grad == 1
    # A second copy is another one.
    assert copied([a, b])[0].grad == 0 and first.grad == 3


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_parts_are_copied_with_their_values(copied):
    net = MLP(2, [4, 1], seed=1)
    loss = net([1.0, 2.0])
    for parameters, other, score in (copied((net.parameters(), net, loss)), copied([net, net.parameters(), loss])):
        if isinstance(parameters, MLP):
            parameters, other = other, parameters
        assert parameters == other.parameters() and parameters != net.parameters()
        score.backward()
        assert any(p.grad for p in other.parameters()) and not any(p.grad for p in net.parameters())
    neuron, weights, layer = copied((net.layers[0].neurons[1], net.parameters()[3:5], net.layers[0]))
    assert neuron.w == weights == layer.neurons[1].w


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_deep_graphs_are_copied(copied):
    x = y = Value(1.0)
    chain = [x]
    for _ in range(100_000):
        y = y + x
        chain.append(y)
    for one, other in (copied((y, x)), copied([x, y])[::-1], copied(chain)[::-100_000], copied(chain[::-1])[::100_000]):
        one.backward()
        assert one.data == 100_001 and other.grad == 100_001


def test_a_pickler_may_be_kept():
    import io

    a = Value(2.0)
    b = 3 * a
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dump([a])
    pickler.dump([b, a])
    for again in (b, [a, b]):
        assert pickle.loads(pickle.dumps(again)) is not None
    file.seek(0)
    unpickler = pickle.Unpickler(file)
    (first,), (second, third) = unpickler.load(), unpickler.load()
    second.backward()
    assert first == third and first.grad == 3


def test_pickles_that_are_wrong():
    from micrograd_rs._micrograd_rs import _Graph, _rebuild_value

    for nodes in (
        [(1.0, 0.0, "+", [5, 6], None, "cpu", None)],
        [(1.0, 0.0, "+", [0, 0], None, "cpu", None)],
        [(1.0, 0.0, "nonsense", [], None, "cpu", None)],
        [(1.0, 0.0, "", [], None, "gpu", None)],
    ):
        with pytest.raises(ValueError):
            _Graph([], nodes)
    graph = _Graph([], [(1.0, 0.0, "", [], None, "cpu", None)])
    assert _rebuild_value(graph, 0).data == 1
    for i in (1, 2**40):
        with pytest.raises(IndexError):
            _rebuild_value(graph, i)
        with pytest.raises(IndexError):
            _Graph([(graph, i)], [])
    with pytest.raises(TypeError):
        _rebuild_value(5, 0)
    with pytest.raises(ValueError):
        MLP(2, [1]).__setstate__(([Value(1.0)], "cpu"))


def test_long_and_deep():
    x = y = Value(1.0)
    for _ in range(1_000_000):
        y = y + x
    y.backward()
    assert y.data == 1_000_001 and x.grad == 1_000_001
    del y
    x = y = Value(1.0)
    for _ in range(64):
        y = y + y
    y.backward()
    assert x.grad == 2.0**64 and len(y.trace()) == 65


def test_memory_of_dropped_graphs_is_used_again(program):
    program("""
        import resource
        from micrograd_rs import Value
        def graph():
            x = y = Value(1.0)
            for _ in range(100_000):
                y = y * 1.0 + x
            y.backward()
        graph()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(20):
            graph()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 8_000, grown
    """)


def test_what_numbers_do_not_go_with():
    v = Value(1.0)
    for other in ("x", None, [1], object(), 1j, mg.ones(2)):
        with pytest.raises(TypeError):
            v + other
        with pytest.raises(TypeError):
            v**other
    for wrong in ("x", None, [1], 1j, object()):
        with pytest.raises(TypeError):
            Value(wrong)
    with pytest.raises((OverflowError, ValueError)):
        Value(10**400)
    with pytest.raises((OverflowError, ValueError)):
        v + 10**400
    with pytest.raises(TypeError):
        pow(v, 2, 3)


def test_division_by_zero_is_ieee():
    assert (Value(1.0) / 0).data == math.inf and math.isnan((Value(0.0) / 0).data) and Value(0.0).log().data == -math.inf


def test_numpy_numbers():
    numpy = pytest.importorskip("numpy")
    v = Value(numpy.float32(2))
    assert (v + numpy.float64(1)).data == 3 and (numpy.float64(1) + v).data == 3 and (numpy.int64(3) * v).data == 6
    assert isinstance(numpy.float64(1) - v, Value)


def test_devices():
    v = Value(1.0)
    assert v.device == "cpu" and v.cpu().data == 1 and v.to("cpu").data == 1
    y = v.to("cpu") * 3
    y.backward()
    assert v.grad == 3


def test_sizes_and_reprs():
    net = MLP(2, [16, 16, 1])
    assert len(net.parameters()) == 337 and len(MLP(3, [4, 4, 1]).parameters()) == 41
    assert repr(MLP(3, [1, 1])) == "MLP of [Layer of [ReLUNeuron(3)], Layer of [LinearNeuron(1)]]"
    assert repr(Neuron(2)) == "ReLUNeuron(2)" and repr(Neuron(2, nonlin=False)) == "LinearNeuron(2)"
    assert repr(Layer(2, 2, nonlin=False)) == "Layer of [LinearNeuron(2), LinearNeuron(2)]"
    assert len(net.layers) == 3 and len(net.layers[0].neurons) == 16 and len(net.layers[0].neurons[0].w) == 2
    assert net.layers[0].neurons[0].b.data == 0 and net.layers[0].neurons[0].nonlin and not net.layers[2].neurons[0].nonlin
    assert all(-1 <= p.data < 1 for p in net.parameters())


def test_calls():
    n = Neuron(2, nonlin=False, seed=1)
    w, b = n.w, n.b
    b.data = 0.5
    assert n([1.0, 2.0]).data == pytest.approx(w[0].data + 2 * w[1].data + 0.5)
    assert isinstance(MLP(2, [3])([1.0, 2.0]), list) and isinstance(MLP(2, [3, 1])((Value(1.0), 2)), Value)
    assert isinstance(Neuron(2)(x for x in (1, 2)), Value)
    for wrong in ([1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match=r"2"):
            MLP(2, [3, 1])(wrong)
    for wrong in (["x", 1], [None, 1], 5):
        with pytest.raises(TypeError):
            n(wrong)
    with pytest.raises((MemoryError, ValueError, OverflowError)):
        MLP(2**40, [2**40])
    with pytest.raises((TypeError, OverflowError)):
        MLP(-1, [1])


def test_seeds():
    random.seed(5)
    a = [p.data for p in MLP(2, [4, 1]).parameters()]
    random.seed(5)
    assert a == [p.data for p in MLP(2, [4, 1]).parameters()]
    assert [p.data for p in MLP(2, [4], seed=3).parameters()] == [p.data for p in MLP(2, [4], seed=3).parameters()]
    assert a != [p.data for p in MLP(2, [4, 1]).parameters()]


def test_parts_are_pickled():
    net = MLP(2, [4, 1], seed=1)
    net([1.0, 2.0]).backward()
    for part in (net, net.layers[0], net.layers[0].neurons[0]):
        for copied in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
            assert repr(copied) == repr(part)
            assert [(p.data, p.grad) for p in copied.parameters()] == [(p.data, p.grad) for p in part.parameters()]
            copied.parameters()[0].data = 99
            assert part.parameters()[0].data != 99
    net.zero_grad()
    assert all(p.grad == 0 for p in net.parameters())


def moons(n, noise, seed):
    chance = random.Random(seed)
    points, labels = [], []
    for i in range(n):
        t = math.pi * (i // 2) / (n // 2 - 1)
        x, y = (math.cos(t), math.sin(t)) if i % 2 == 0 else (1 - math.cos(t), 0.5 - math.sin(t))
        points.append([x + chance.gauss(0, noise), y + chance.gauss(0, noise)])
        labels.append(1 if i % 2 else -1)
    return points, labels


@pytest.mark.parametrize("seed", range(5))
def test_two_moons(seed):
    points, labels = moons(100, 0.1, seed)
    net = MLP(2, [16, 16, 1], seed=seed)
    parameters = net.parameters()
    for step in range(100):
        scores = [net(p) for p in points]
        losses = [(1 + -label * score).relu() for label, score in zip(labels, scores)]
        loss = sum(losses) * (1.0 / len(losses)) + 1e-4 * sum(p * p for p in parameters)
        accuracy = sum((label > 0) == (score.data > 0) for label, score in zip(labels, scores)) / len(labels)
        if accuracy == 1.0:
            return
        net.zero_grad()
        loss.backward()
        for p in parameters:
            p.data -= (1.0 - 0.9 * step / 100) * p.grad
    pytest.fail(f"accuracy {accuracy} after 100 steps")
