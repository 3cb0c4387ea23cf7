"""What a replayed step is given and what it answers: places, names, layouts, containers, and who is who."""

from __future__ import annotations

import collections
import math

import micrograd_rs as mg
import pytest
from conftest import RECORDED, leaf

T = mg.tensor
x = mg.tensor([1.0, 2.0])


# Arguments.


def test_arguments_are_read_as_they_lie():
    f = mg.jit(lambda a: a + 1)
    for _ in range(RECORDED):
        f(T([[1.0, 2.0], [3.0, 4.0]]))
    for _ in range(RECORDED):
        assert f(T([[1.0, 3.0], [2.0, 4.0]]).t()).tolist() == [[2, 3], [4, 5]]
        assert f(T([[9.0, 1.0, 2.0], [9.0, 3.0, 4.0]])[:, 1:]).tolist() == [[2, 3], [4, 5]]
        assert f(T([[4.0, 3.0], [2.0, 1.0]]).flip(0, 1)).tolist() == [[2, 3], [4, 5]]
        assert f(T([1.0, 2.0]).expand(2, 2)).tolist() == [[2, 3], [2, 3]]


def test_one_tensor_twice_is_not_two():
    f = mg.jit(lambda a, b: a + 10 * b)
    x, y = T([1.0]), T([2.0])
    assert [f(x, x).item() for _ in range(RECORDED)] == [11] * RECORDED and f(x, y).item() == 21
    w = T([5.0])
    g = mg.jit(lambda a: a * 10 + w)
    assert [g(w).item() for _ in range(RECORDED)] == [55] * RECORDED and g(x).item() == 15


@pytest.mark.parametrize("kind", ["tensor", "list", "dict"])
def test_a_step_tells_apart_which_of_its_arguments_it_knows_from_elsewhere(kind):
    def made(value):
        t = mg.tensor([value])
        return {"tensor": t, "list": [t], "dict": {"a": t}}[kind]

    known, one, two, three = (made(v) for v in (0.0, 1.0, 2.0, 3.0))

    @mg.jit
    def step(p, q=None):
        return p, q, known

    for p, q in [(known, one), (two, known), (known, three), (known, one), (one, two), (two, known), (three, two), (known, known)] * 3:
        answer = step(p, q=q)
        assert answer[0] is p and answer[1] is q and answer[2] is known


def test_arguments_by_name():
    f = mg.jit(lambda x, scale=None, shift=None: x * scale if shift is None else x + shift)
    assert [f(T([1.0]), scale=T([5.0])).item() for _ in range(RECORDED)] == [5] * RECORDED
    assert f(T([1.0]), shift=T([5.0])).item() == 6
    g = mg.jit(lambda a, b: a - b)
    assert [g(a=T([3.0]), b=T([1.0])).item() for _ in range(RECORDED)] == [2] * RECORDED
    assert g(b=T([1.0]), a=T([3.0])).item() == 2


def test_parts_of_arguments():
    f, g = mg.jit(lambda x: x[0]), mg.jit(lambda x: x.unbind()[1] + sum(row for row in x))
    for k in range(6):
        x = T([[float(k)], [1.0]])
        assert f(x).tolist() == [k] and g(x).tolist() == [k + 2]


def test_numbers_are_told_apart_by_what_they_are():
    f = mg.jit(lambda x, s: x / s)
    for s in (0.0, 0.0, 0.0, 0.0):
        assert f(T([1.0]), s).item() == math.inf
    assert f(T([1.0]), -0.0).item() == -math.inf
    g = mg.jit(lambda x, n: x + n[0])
    x = T([1, 2])
    for _ in range(RECORDED):
        assert g(x, (1,)).dtype == mg.int64
    assert g(x, (1.0,)).dtype == mg.float32 and g(x, (True,)).tolist() == [2, 3]


def test_containers_of_tensors():
    f = mg.jit(lambda items: items[0] + items[1])
    for k in range(6):
        assert f([T([float(k)]), T([1.0])]).item() == k + 1 and f((T([float(k)]), T([2.0]))).item() == k + 2
    g = mg.jit(lambda named: named["a"] * named["b"])
    for k in range(6):
        assert g({"a": T([float(k)]), "b": T([3.0])}).item() == 3 * k


def test_kinds_of_containers_and_texts_are_told_apart():
    class Own(list):
        pass

    step = mg.jit(lambda v, given: v * (1.0 if type(given) is list else 2.0 if isinstance(given, list) else 3.0))
    for given, wanted in (([1], 1), (Own([1]), 2), ([1], 1), ((1,), 3)):
        for _ in range(3):
            assert step(x, given).tolist() == [wanted, 2 * wanted]
    step = mg.jit(lambda v, given: v * (2.0 if isinstance(given, str) else 3.0))
    for given, wanted in (("a", 2), (b"a", 3), ("\ud800", 2), ("\ud801", 2), (10**5000, 3)):
        for _ in range(3):
            assert step(x, given).tolist() == [wanted, 2 * wanted]


@pytest.mark.parametrize(
    "step",
    [lambda x: x[0] + x[1], lambda x: x[0] + T([1.0]), lambda x: x.t().contiguous() * 2, lambda x: x.index_put((T([1]),), T([[5.0]]))],
)
def test_steps_that_were_refused_at_the_sixth_call(step):
    f = mg.jit(step)
    for k in range(14):
        x = T([[float(k)], [2.0]])
        assert f(x).tolist() == step(x).tolist()


def test_many_examples_at_once():
    step = mg.jit(lambda v: v.square().sum())
    for _ in range(4):
        step(x)
    assert step.is_replaying
    assert mg.func.vmap(step)(mg.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [5, 25]


# Answers.


def test_answers_and_changed_arguments_are_the_callers():
    @mg.jit
    def f(x):
        y = x * 2
        y += 1
        return y

    held = [f(T([float(i)])) for i in range(6)]
    assert [h.item() for h in held] == [1, 3, 5, 7, 9, 11]

    @mg.jit
    def g(x):
        x += 1
        return x * 2

    xs = [T([float(k)]) for k in range(6)]
    assert [g(x).item() for x in xs] == [2, 4, 6, 8, 10, 12] and [x.item() for x in xs] == [1, 2, 3, 4, 5, 6]

    @mg.jit
    def h(x):
        y = (x * x).sum()
        y.backward()
        return y

    xs = [leaf([k + 1.0]) for k in range(6)]
    for x in xs:
        h(x)
    assert [x.grad.item() for x in xs] == [2, 4, 6, 8, 10, 12]


def test_answers_keep_who_is_who():
    def step(v):
        y = v * 2
        lines = [y]
        return {y: y + 1}, (y, y), [lines, lines]

    replayed = mg.jit(step)
    for i in range(6):
        keys, pair, twice = replayed(x * i)
        ((key, value),) = keys.items()
        assert key.tolist() == [2 * i, 4 * i] and value.tolist() == [2 * i + 1, 4 * i + 1]
        assert pair[0] is pair[1] is key and twice[0] is twice[1] and twice[0][0] is key
    assert replayed.is_replaying


def test_functions_in_answers():
    f = mg.jit(lambda v: lambda other: v * other)
    assert [f(mg.tensor([float(i)]))(x).tolist() for i in range(5)] == [[i * 1.0, i * 2.0] for i in range(5)]
    assert "function" in f.reason
    g = mg.jit(lambda v: (v * 2, mg.relu, float))
    assert [g(mg.tensor([float(i)]))[0].item() for i in range(5)] == [0, 2, 4, 6, 8] and g.is_replaying
    assert g(x)[1] is mg.relu
    h = mg.jit(lambda v: (v * 2).add)
    assert [h(mg.tensor([float(i)]))(1).item() for i in range(5)] == [1, 3, 5, 7, 9]
    k = mg.jit(lambda v: type("Made", (), {"t": v * 2}))
    assert [k(mg.tensor([float(i)])).t.item() for i in range(5)] == [0, 2, 4, 6, 8]


def test_named_tuples_within_a_step():
    step = mg.jit(lambda v: collections.namedtuple("Pair", "a b")(v, v * 2).b)
    for _ in range(5):
        assert step(x).tolist() == [2, 4]
