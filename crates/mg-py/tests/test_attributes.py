"""Attributes that programs put on tensors: these are copied, saved, kept with gradients, and looked at by replayed steps."""

from __future__ import annotations

import copy
import pickle
import weakref

import micrograd_rs as mg
import pytest


def test_tensors_take_attributes():
    p = mg.nn.Parameter(mg.ones(2))
    p.no_weight_decay = True
    p.tag = ["a"]
    assert p.no_weight_decay and vars(p) == {"no_weight_decay": True, "tag": ["a"]}
    assert not hasattr(p, "other") and getattr(p, "other", 3) == 3
    for copied in (copy.deepcopy(p), copy.copy(p), pickle.loads(pickle.dumps(p))):
        assert vars(copied) == vars(p)
    assert copy.deepcopy(p).tag is not p.tag and copy.copy(p).tag is p.tag
    del p.tag
    with pytest.raises(AttributeError, match="tag"):
        p.tag  # noqa: B018
    with pytest.raises(AttributeError, match="tag"):
        del p.tag
    for name in ("shape", "dtype"):
        with pytest.raises(AttributeError, match=name):
            setattr(p, name, 1)
    q = mg.ones(1)
    q.mean = "mine"
    assert q.mean == "mine" and copy.copy(q).mean == "mine"
    p.grad = mg.ones(2)
    assert "grad" not in vars(p) and p.grad.tolist() == [1, 1]
    del p.grad
    assert p.grad is None
    held = mg.nn.Linear(2, 2)
    held.weight.kind = "weight"
    assert next(held.double().parameters()).kind == "weight"


@pytest.mark.parametrize("name", ["data", "requires_grad"])
def test_what_tensors_are_made_of_is_not_deleted(name):
    with pytest.raises(RuntimeError, match="cannot be deleted"):
        delattr(mg.ones(2), name)


def test_attributes_of_a_gradient_stay_with_it():
    p = mg.nn.Parameter(mg.ones(2))
    (p * 2).sum().backward()
    p.grad.tag = 1
    (p * 2).sum().backward()
    assert p.grad.tag == 1 and p.grad.tolist() == [4.0, 4.0]
    p.grad = None
    (p * 2).sum().backward()
    assert not hasattr(p.grad, "tag")
    given = mg.ones(2)
    given.tag = 2
    p.grad = given
    del given
    assert p.grad.tag == 2
    # The memory goes when the gradient does.
    kept = weakref.ref(p.grad)
    p.zero_grad()
    assert kept() is None and p.grad is None


def test_attributes_of_tensors_are_saved(tmp_path):
    p = mg.nn.Parameter(mg.ones(2))
    p.group, p.options = "slow", {"decay": 0.1, "shape": (1, 2)}
    t = mg.arange(4.0)
    part = t[1:]
    t.weight, t.own, part.seen = p, t, True
    mg.save({"t": t, "part": part, "p": p, "again": p}, tmp_path / "f")
    d = mg.load(tmp_path / "f")
    assert d["p"].group == "slow" and d["p"].options == {"decay": 0.1, "shape": (1, 2)} and d["p"].requires_grad
    assert d["t"].weight is d["p"] is d["again"] and d["t"].own is d["t"] and d["part"].seen
    d["part"][0] = 9.0
    assert d["t"].tolist() == [0.0, 9.0, 2.0, 3.0]
    t.weight = object()
    with pytest.raises(TypeError, match="weight"):
        mg.save(t, tmp_path / "f")
    assert mg.load(tmp_path / "f")["p"].group == "slow"


def test_replays_look_at_attributes_of_tensors():
    w = mg.ones(2)
    w.scale = 2.0
    f = mg.jit(lambda x: (w * x).sum() * w.scale)
    assert [f(mg.ones(2)).item() for _ in range(4)] == [4] * 4 and f.is_replaying
    w.scale = 3.0
    assert [f(mg.ones(2)).item() for _ in range(4)] == [6] * 4 and f.is_replaying

    @mg.jit
    def counted(x):
        x.count = getattr(x, "count", 0) + 1
        y = x * 2
        y.of = x.count
        return y

    x = mg.ones(2)
    assert [counted(x).of for _ in range(5)] == [1, 2, 3, 4, 5]
