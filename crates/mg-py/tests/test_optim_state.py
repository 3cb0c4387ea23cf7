"""What programs do with `optimizer.state`: entries of their own, and the engine's, changed one after another."""

from __future__ import annotations

import copy
import io
import pickle
import time

import micrograd_rs as mg
import pytest
from micrograd_rs import nn, optim


def adam(p, g, m, v, n, lr=0.1, betas=(0.9, 0.999), eps=1e-8):
    """A step of Adam on lists, as its authors write it: parameter, first and second moment."""
    m = [betas[0] * a + (1 - betas[0]) * b for a, b in zip(m, g)]
    v = [betas[1] * a + (1 - betas[1]) * b * b for a, b in zip(v, g)]
    s = [(a / (1 - betas[1] ** n)) ** 0.5 + eps for a in v]
    return [a - lr * b / (1 - betas[0] ** n) / c for a, b, c in zip(p, m, s)], m, v


def one(kind=optim.Adam, **options):
    w = nn.Parameter(mg.tensor([1.0, 2.0]))
    return w, kind([w], lr=0.1, **options)


def step(o, w, gradient=None):
    w.grad = w.detach() * 2 if gradient is None else mg.tensor(gradient)
    o.step()
    return w.tolist()


def close(found, wanted):
    return found == pytest.approx(wanted, rel=2e-5)


@pytest.mark.parametrize("order", ["entries first", "handed on first", "put anew"])
def test_parameters_that_grow_and_shrink(order):
    """Entries are made longer, the parameter is replaced, and what is remembered goes on with the new one: in any order, with several groups."""
    x, y = nn.Parameter(mg.tensor([1.0, 2.0])), nn.Parameter(mg.tensor([3.0]))
    o = optim.Adam([{"params": [x], "name": "x"}, {"params": [y], "name": "y"}], lr=0.1)
    wanted = {"x": ([1.0, 2.0], [0.0] * 2, [0.0] * 2), "y": ([3.0], [0.0], [0.0])}

    def go(n):
        for group in o.param_groups:
            (p,) = group["params"]
            p.grad = p.detach() * 2
            q, m, v = wanted[group["name"]]
            wanted[group["name"]] = adam(q, [2 * a for a in q], m, v, n)
        o.step()
        for group in o.param_groups:
            (p,) = group["params"]
            q, m, v = wanted[group["name"]]
            its = o.state[p]
            assert close(p.tolist(), q) and close(its["exp_avg"].tolist(), m) and close(its["exp_avg_sq"].tolist(), v)
            assert its["step"].item() == n and sum(q is p for q in o.state) == 1

    go(1)
    go(2)
    for n in (3, 5):
        for group in o.param_groups:
            (old,) = group["params"]
            more = mg.tensor([0.5, 0.25])
            new = nn.Parameter(mg.cat([old.detach(), more]))
            longer = lambda t: mg.cat([t, mg.zeros(2)])  # noqa: E731
            if order == "put anew":
                o.state[new] = {name: longer(t) if t.dim() else t for name, t in o.state.pop(old).items()}
                group["params"] = [new]
            else:
                its = o.state.get(old)
                if order == "handed on first":
                    o.state[new] = its
                    del o.state[old]
                its["exp_avg"] = longer(its["exp_avg"])
                its["exp_avg_sq"] = longer(its["exp_avg_sq"])
                if order == "entries first":
                    del o.state[old]
                group["params"][0] = new
                if order == "entries first":
                    o.state[group["params"][0]] = its
            assert len(o.state) == 2 and old not in o.state
            wanted[group["name"]] = tuple([*a, *b] for a, b in zip(wanted[group["name"]], ([0.5, 0.25], [0.0] * 2, [0.0] * 2)))
        go(n)
        for group in o.param_groups:
            (old,) = group["params"]
            its = o.state.pop(old)
            group["params"][0] = nn.Parameter(old.detach()[1:])
            o.state[group["params"][0]] = {name: t[1:] if t.dim() else t for name, t in its.items()}
            wanted[group["name"]] = tuple(a[1:] for a in wanted[group["name"]])
        go(n + 1)


def test_entries_that_are_made_before_the_first_step():
    w, o = one()
    its = o.state[w]
    its["step"] = mg.tensor(0.0)
    its["exp_avg"] = mg.tensor([1.0, 1.0])
    # It is told where it is wanted: by a step.
    with pytest.raises(ValueError, match="exp_avg_sq"):
        step(o, w)
    assert w.tolist() == [1.0, 2.0]
    its["exp_avg_sq"] = mg.zeros(2)
    p, m, v = adam([1.0, 2.0], [2.0, 4.0], [1.0, 1.0], [0.0, 0.0], 1)
    assert close(step(o, w), p) and close(its["exp_avg"].tolist(), m) and close(o.state[w]["exp_avg_sq"].tolist(), v)


@pytest.mark.parametrize("kind, options", [(optim.Adam, {}), (optim.SGD, {}), (optim.SGD, {"momentum": 0.9}), (optim.RMSprop, {}), (optim.Adagrad, {})])
def test_entries_of_the_programs_own(kind, options):
    """Slow weights beside an optimiser's own memory: kept by steps, copies, saved states and files."""
    w, o = one(kind, **options)
    alone, plain = one(kind, **options)
    for i in range(4):
        assert step(o, w) == step(plain, alone)
        its = o.state[w]
        its["slow"] = w.detach().clone() if i == 0 else its["slow"].add_(w.detach() - its["slow"], alpha=0.5)
        its["n"] = its.get("n", 0) + 1
    slow = o.state[w]["slow"].tolist()
    assert o.state[w]["n"] == 4 and set(o.state[w]) - {"slow", "n"} == set(plain.state[alone] if alone in plain.state else ())
    saved = io.BytesIO()
    pickle.dump(o.state_dict(), saved)
    saved.seek(0)
    for state in (o.state_dict(), copy.deepcopy(o.state_dict()), pickle.load(saved)):
        other = nn.Parameter(w.detach().clone())
        second = kind([other], lr=0.1, **options)
        second.load_state_dict(state)
        assert second.state[other]["n"] == 4 and second.state[other]["slow"].tolist() == slow
        then = nn.Parameter(alone.detach().clone())
        third = kind([then], lr=0.1, **options)
        third.load_state_dict(plain.state_dict())
        assert step(second, other) == step(third, then)
    q = copy.deepcopy(o)
    (p,) = q.param_groups[0]["params"]
    assert q.state[p]["n"] == 4 and q.state[p]["slow"].tolist() == slow and q.state[p]["slow"] is not o.state[w]["slow"]
    assert step(q, p) == step(o, w)
    del o.state[w]["slow"]
    assert "slow" not in o.state[w] and "n" in o.state_dict()["state"][0]


def test_a_state_of_another_optimiser_is_refused_and_changes_nothing():
    w, o = one(optim.SGD, momentum=0.9)
    step(o, w)
    o.state[w]["own"] = 1
    v, adams = one()
    step(adams, v)
    with pytest.raises(ValueError, match="state of another optimiser"):
        o.load_state_dict(adams.state_dict())
    assert o.state[w]["own"] == 1 and o.state[w]["momentum_buffer"].tolist() == [2.0, 4.0]
    # Of several groups none is changed where one does not fit.
    a, b = nn.Parameter(mg.ones(2)), nn.Parameter(mg.ones(3))
    o = optim.SGD([{"params": [a]}, {"params": [b]}], lr=0.1, momentum=0.9)
    for p in (a, b):
        p.grad = mg.ones_like(p)
    o.step()
    state = copy.deepcopy(o.state_dict())
    state["state"][0]["momentum_buffer"] = mg.full((2,), 7.0)
    state["state"][1]["momentum_buffer"] = mg.full((4,), 7.0)
    with pytest.raises(ValueError, match="momentum_buffer"):
        o.load_state_dict(state)
    assert o.state[a]["momentum_buffer"].tolist() == [1.0, 1.0]


def test_what_does_not_fit_is_listed_and_changes_nothing():
    a, b = nn.Parameter(mg.ones(2)), nn.Parameter(mg.ones(3))
    o = optim.Adam([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    for p in (a, b):
        p.grad = mg.ones_like(p)
    o.step()
    o.state[a]["own"] = 1
    good = copy.deepcopy(o.state_dict())

    def told():
        return [(p.tolist(), {k: v if k == "own" else v.tolist() for k, v in o.state[p].items()}) for p in (a, b)], [dict(g, params=0) for g in o.param_groups]

    before = told()

    def refused(change, match, error=ValueError):
        state = copy.deepcopy(good)
        # What fits would be seen, were it loaded.
        state["state"][0]["exp_avg"] = mg.full((2,), 7.0)
        state["param_groups"][0]["lr"] = 7.0
        change(state["state"], state["param_groups"])
        with pytest.raises(error, match=match):
            o.load_state_dict(state)
        assert told() == before

    def several(state, groups):
        del state[0]["exp_avg_sq"]
        state[1]["momentum_buffer"] = mg.ones(3)
        state[1]["exp_avg"] = mg.ones(4)
        state[1]["step"] = mg.ones(2)

    text = r"missing: 0.exp_avg_sq; unexpected: 1.momentum_buffer; of another shape: 1.exp_avg \(takes \[3\], got \[4\]\), 1.step \(takes \[\], got \[2\]\)"
    refused(several, f"Adam.load_state_dict: the state of another optimiser; {text}; Adam remembers exp_avg, ")
    refused(lambda state, groups: groups[1].pop("betas"), "group 1 of the state has no option 'betas'")
    refused(lambda state, groups: groups[1].update(lr="fast"), "group 1 of the state", TypeError)
    refused(lambda state, groups: groups[1].update(betas=(0.9, 2.0)), "group 1 of the state")
    refused(lambda state, groups: groups.pop(), "groups of parameters")
    o.load_state_dict(good)
    assert told() == before


def test_a_state_of_another_lbfgs_is_refused():
    w = nn.Parameter(mg.tensor([1.0, 2.0]))
    o = optim.LBFGS([w])

    def closure():
        o.zero_grad()
        loss = (w**4).sum()
        loss.backward()
        return loss

    o.step(closure)
    state = copy.deepcopy(o.state_dict())
    o.load_state_dict(state)
    before = o.state[w]["d"].tolist()
    state["state"][0]["prev_flat_grad"] = mg.ones(3)
    del state["state"][0]["t"]
    with pytest.raises(ValueError, match=r"missing: 0.t; of another shape: 0.prev_flat_grad \(takes \[2\], got \[3\]\)"):
        o.load_state_dict(state)
    assert o.state[w]["d"].tolist() == before


def test_steps_write_to_the_tensors_that_were_put():
    w, o = one(optim.SGD, momentum=0.5)
    held = {}
    o.state[w] = held
    held["momentum_buffer"] = mine = mg.tensor([4.0, 4.0])
    assert close(step(o, w, [1.0, 1.0]), [0.7, 1.7])
    assert mine.tolist() == [3.0, 3.0] == held["momentum_buffer"].tolist() and o.state[w]["momentum_buffer"] is mine
    mine.fill_(8.0)
    assert close(step(o, w, [1.0, 1.0]), [0.2, 1.2]) and mine.tolist() == [5.0, 5.0]
    # The dictionary is the program's, which may put something else there.
    held["momentum_buffer"] = mg.zeros(2)
    assert close(step(o, w, [1.0, 1.0]), [0.1, 1.1]) and o.state[w]["momentum_buffer"].tolist() == [1.0, 1.0] and mine.tolist() == [5.0, 5.0]
    # Of another dtype it is converted.
    o.state[w]["momentum_buffer"] = mg.tensor([2.0, 2.0], dtype="float64")
    assert close(step(o, w, [1.0, 1.0]), [-0.1, 0.9]) and o.state[w]["momentum_buffer"].dtype == mg.float32


@pytest.mark.parametrize("wrap", [lambda f: f, mg.jit], ids=["plain", "jit"])
def test_recorded_steps_go_on_from_what_was_put(wrap):
    w, o = one(optim.SGD, momentum=0.5)

    @wrap
    def go(x):
        o.zero_grad()
        (w * x).sum().backward()
        o.step()
        return w * 1

    x = mg.ones(2)
    for _ in range(4):
        go(x)
    before = w.tolist()
    mine = mg.tensor([9.5, 9.5])
    o.state[w]["momentum_buffer"] = mine
    assert close(go(x).tolist(), [a - 0.1 * (0.5 * 9.5 + 1) for a in before]) and mine.tolist() == [5.75, 5.75]
    for n in range(4):
        go(x)
    assert mine.tolist() == o.state[w]["momentum_buffer"].tolist() == [5.75 * 0.5**4 + sum(0.5**i for i in range(4))] * 2
    o.state[w]["momentum_buffer"] = mg.zeros(3)
    before = w.tolist()
    with pytest.raises(ValueError, match="momentum_buffer"):
        go(x)
    assert w.tolist() == before
    o.state[w]["momentum_buffer"] = mg.zeros(2)
    assert close(go(x).tolist(), [a - 0.1 for a in before])


def test_entries_that_are_held_are_as_new_as_the_optimiser():
    w, o = one()
    its, state = o.state[w], o.state
    assert dict(its) == {} and state is o.state
    for n in (1, 2):
        step(o, w)
        assert its["step"].item() == n and its is o.state[w] and set(its) == {"step", "exp_avg", "exp_avg_sq"}
    its["step"].fill_(10.0)
    step(o, w)
    assert its["step"].item() == 11
    its["step"] += 5
    step(o, w)
    assert o.state[w]["step"].item() == 17
    # Taken out they are a dictionary as others.
    del o.state[w]
    its["exp_avg"] = 3
    assert w not in o.state and its["exp_avg"] == 3
    step(o, w)
    assert o.state[w]["step"].item() == 1 and its["step"].item() == 17


def test_keys_that_are_no_parameters():
    w, o = one()
    step(o, w)
    o.state["all"] = {"n": 3}
    o.state["all"]["n"] += 1
    state = o.state_dict()
    assert set(state["state"]) == {0, "all"}
    o.state.clear()
    o.load_state_dict(state)
    assert o.state["all"] == {"n": 4} and o.state[w]["step"].item() == 1


def test_looking_at_every_parameter_takes_time_in_proportion():
    def seconds(n):
        params = [nn.Parameter(mg.ones(2)) for _ in range(n)]
        o = optim.Adam(params, lr=0.1)
        for p in params:
            p.grad = mg.ones(2)
        o.step()
        best = float("inf")
        for _ in range(3):
            begin = time.thread_time()
            for p in params:
                o.state[p]["slow"] = o.state[p]["exp_avg"]
            best = min(best, time.thread_time() - begin)
        return best

    assert seconds(1600) < 60 * seconds(100)


def test_a_state_is_made_anew_by_the_classes_of_its_parts():
    # As programs move a state to a device.
    def moved(part):
        if isinstance(part, dict):
            return type(part)({name: moved(its) for name, its in part.items()})
        if isinstance(part, (list, tuple)):
            return type(part)(moved(its) for its in part)
        return part.to("cpu") if isinstance(part, mg.Tensor) else part

    w = mg.Tensor([1.0, 2.0])
    adam = mg.optim.Adam([w], lr=0.1)
    assert moved(adam.state_dict())["state"] == {}
    for _ in range(2):
        adam.zero_grad()
        (w * w).sum().backward()
        adam.step()
    state = adam.state_dict()
    made = moved(state)
    assert type(made["state"]) is dict and made["state"][0]["step"].item() == 2.0
    assert type(state["state"]).fromkeys([0], 1) == {0: 1}
    adam.load_state_dict(made)
    other = mg.optim.Adam([mg.Tensor(w.detach().clone())], lr=0.5)
    other.load_state_dict(made)
    for optimizer in (adam, other):
        (p,) = optimizer.param_groups[0]["params"]
        p.grad = mg.ones(2)
        optimizer.step()
    assert mg.equal(w, p) and other.param_groups[0]["lr"] == 0.1


# Parameters that are in no group for a while.


class Two:
    """Two parameters in a group of SGD with momentum, or in one each, and their step."""

    def __init__(self, apart=False, jit=False):
        self.a, self.b = (mg.ones(1, requires_grad=True) for _ in range(2))
        groups = [{"params": [self.a]}, {"params": [self.b]}] if apart else [self.a, self.b]
        self.o = mg.optim.SGD(groups, lr=0.1, momentum=0.9)
        self.step = mg.jit(self._step) if jit else self._step

    def _step(self):
        self.o.zero_grad()
        (self.a * self.a + self.b * self.b).sum().backward()
        self.o.step()

    def steps(self, n):
        for _ in range(n):
            self.step()
        return round(self.a.item(), 5), round(self.b.item(), 5)


@pytest.mark.parametrize("jit", [False, True])
def test_a_parameter_that_comes_back_goes_on_with_what_was_remembered(jit):
    run = Two(jit=jit)
    assert run.steps(2) == (0.46, 0.46)
    run.o.param_groups[0]["params"] = [run.b]
    assert len(run.o.state[run.a]) == 1
    run.o.add_param_group({"params": [run.a]})
    assert run.steps(1) == (0.062, 0.062)
    # Away for some steps.
    run.o.param_groups[1:] = []
    assert run.steps(4) == (0.062, -0.68288)
    run.o.param_groups[0]["params"].append(run.a)
    assert run.steps(4) == (-0.68288, 0.25426)
    assert not jit or run.step.is_replaying


@pytest.mark.parametrize("jit", [False, True])
def test_a_group_that_comes_back_goes_on_from_where_its_parameters_are(jit):
    run = Two(apart=True, jit=jit)
    assert run.steps(4) == (-0.3086, -0.3086)
    group = run.o.param_groups.pop(0)
    assert run.steps(4)[0] == -0.3086
    # In another group meanwhile, with a rate of its own, which recorded steps of the first one do not have.
    run.o.add_param_group({"params": [run.a], "lr": 0.05})
    assert run.steps(4)[0] == -0.50226
    del run.o.param_groups[1]
    run.steps(4)
    run.o.param_groups.append(group)
    assert run.steps(4)[0] == 0.28162
    assert not jit or run.step.is_replaying


def test_what_is_remembered_of_a_parameter_in_no_group_can_be_changed():
    def left():
        run = Two()
        run.steps(2)
        run.o.param_groups[0]["params"].remove(run.a)
        return run

    def back(run):
        run.o.add_param_group({"params": [run.a]})
        return run.steps(1)[0]

    run = left()
    assert run.o.state[run.a]["momentum_buffer"].tolist() == [pytest.approx(3.4)]
    run.o.state[run.a]["momentum_buffer"].zero_()
    assert back(run) == 0.368
    run = left()
    run.o.state[run.a]["momentum_buffer"] = mg.tensor([1.0])
    assert back(run) == 0.278
    for change in (lambda run: run.o.state.clear(), lambda run: run.o.state.pop(run.a), lambda run: setattr(run.o, "state", {})):
        run = left()
        change(run)
        assert run.a not in run.o.state and back(run) == 0.368
    # What is loaded is all that is remembered.
    run = left()
    run.o.load_state_dict(copy.deepcopy(run.o.state_dict()))
    assert run.a not in run.o.state and run.b in run.o.state and back(run) == 0.368


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda both: pickle.loads(pickle.dumps(both))])
def test_copies_of_an_optimiser_remember_parameters_in_no_group(copied):
    run = Two()
    run.steps(2)
    run.o.param_groups[0]["params"].remove(run.a)
    run.o.state  # noqa: B018
    run.o, run.a, run.b = copied((run.o, run.a, run.b))
    run.o.add_param_group({"params": [run.a]})
    assert run.steps(1) == (0.062, 0.062)
