"""What a program changes in an optimiser between two steps, and within one: recorded steps are those of the function as it is, bit for bit."""

from __future__ import annotations

import collections
import copy
import pickle

import micrograd_rs as mg
import pytest
from micrograd_rs import nn, optim
from micrograd_rs.optim import kinds

RULES = [kind for kind in kinds.__all__ if kind != "LBFGS"]


class Run:
    """An optimiser of two parameters, and a third which is in its loss only."""

    def __init__(self, kind, wrap):
        self.w, self.v, self.u = (nn.Parameter(mg.tensor(rows)) for rows in ([[1.0, -2.0], [0.5, 3.0]], [[0.3, 0.7]], [[0.9, -0.7]]))
        options = {"momentum": 0.9} if kind == "SGD" else {}
        self.o = opt = getattr(optim, kind)([self.w, self.v], lr=0.05, **options)
        w, v, u = self.w, self.v, self.u

        def step(x):
            opt.zero_grad()
            loss = (w * x).square().sum() + (v * x).sum().square() + (u * x * w).sum()
            loss.backward()
            opt.step()
            return loss.detach()

        self.step, self.n = wrap(step), 0

    def go(self, n):
        """Losses of `n` steps."""
        self.n += n
        return [self.step(mg.tensor([[1.0, 0.5 + i * 0.1]])).item() for i in range(self.n - n, self.n)]

    def all(self):
        state = self.o.state_dict()["state"]
        return [t.tolist() for t in (self.w, self.v, self.u)], {i: {name: t.tolist() for name, t in its.items()} for i, its in state.items()}


def both(kind, change, n=8):
    """What there was before and after a change, as it is and replayed, which are the same; and the replayed run."""
    ran = []
    for wrap in (lambda f: f, mg.jit):
        run = Run(kind, wrap)
        found = [run.go(6)]
        change(run)
        ran.append((found + [run.go(n), run.all()], run))
    (plain, _), (replayed, run) = ran
    assert plain == replayed
    return plain, run


def multiplied(name, factor):
    def change(run):
        for its in run.o.state.values():
            if name in its:
                its[name].mul_(factor)
    return change


def in_groups(run, **options):
    run.o.param_groups = [{**group, **options} for group in run.o.param_groups]


def put_among(run, i=0, **options):
    run.o.param_groups[i] = {**run.o.param_groups[i], **options}


def of_an_old_list(run):
    held = run.o.param_groups
    in_groups(run, lr=0.5)
    held[0]["lr"] = 3.0


def there_and_back(run):
    held = run.o.param_groups
    in_groups(run, lr=0.5)
    run.go(2)
    run.o.param_groups = held


def through_a_dictionary(run):
    state = run.o.state_dict()["state"]
    for its in state.values():
        if "step" in its:
            its["step"].add_(5)


def loaded(run):
    state = copy.deepcopy(run.o.state_dict())
    state["param_groups"][0]["lr"] = 0.2
    for its in state["state"].values():
        if "step" in its:
            its["step"] = mg.tensor(2.0)
    run.o.load_state_dict(state)


def moved_apart(run):
    group = run.o.param_groups[0]
    run.o.param_groups.append({**group, "params": [run.v], "lr": 0.3})
    group["params"] = [run.w]


CHANGES = {
    "a state that is looked at": lambda run: len(run.o.state),
    "a state that is collected": lambda run: run.o.state_dict(),
    "numbers in place": multiplied("step", 0.0),
    "products in place": multiplied("mu_product", 0.5),
    "other numbers in place": multiplied("eta", 0.25),
    "memory in place": lambda run: [t.mul_(0.5) for its in run.o.state.values() for t in its.values()],
    "through data": lambda run: [its["step"].data.fill_(1) for its in run.o.state.values() if "step" in its],
    "through an array": lambda run: [its["step"].numpy().fill(1) for its in run.o.state.values() if "step" in its],
    "through a collected state": through_a_dictionary,
    "another list": lambda run: in_groups(run, lr=0.5),
    "another list beside the one that is held": of_an_old_list,
    "a list that comes back": there_and_back,
    "another dictionary": lambda run: put_among(run, lr=0.5),
    "another dictionary with other parameters": lambda run: put_among(run, params=[run.v, run.u]),
    "a dictionary more": lambda run: run.o.param_groups.append({**run.o.param_groups[0], "params": [run.u], "lr": 0.01}),
    "a dictionary before": lambda run: run.o.param_groups.insert(0, {**run.o.param_groups[0], "params": [run.u], "lr": 0.01}),
    "a group more": lambda run: run.o.add_param_group({"params": [run.u], "lr": 0.01}),
    "groups apart": moved_apart,
    "no groups": lambda run: run.o.param_groups.clear(),
    "a parameter more": lambda run: run.o.param_groups[0]["params"].append(run.u),
    "a parameter less": lambda run: run.o.param_groups[0]["params"].pop(),
    "an order": lambda run: run.o.param_groups[0]["params"].reverse(),
    "a state that is loaded": loaded,
    "a state that is cleared": lambda run: run.o.state.clear(),
    "a state that is another": lambda run: setattr(run.o, "state", collections.defaultdict(dict)),
    "a state that is popped": lambda run: run.o.state.pop(run.w, None),
    "a state that is restored": lambda run: run.o.__setstate__(run.o.__getstate__()),
    "copies": lambda run: (copy.deepcopy(run.o), pickle.dumps(run.o.state_dict())),
    "zeros for gradients": lambda run: (run.o.zero_grad(set_to_none=False), run.o.step()),
    "flags": lambda run: run.o.param_groups[0].update(foreach=True, fused=False, capturable=True),
    "a decay": lambda run: run.o.param_groups[0].update({"weight_decay": 0.3} if "weight_decay" in run.o.defaults else {}),
    "defaults": lambda run: run.o.defaults.update(lr=0.5),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", RULES)
def test_changes_between_calls(kind, change):
    _, run = both(kind, CHANGES[change])
    assert run.step.is_replaying, run.step.reason


# Steps of these two go on from the rate that they began with.
@pytest.mark.parametrize("change", [lambda run: in_groups(run, lr=0.0), lambda run: put_among(run, lr=0.0)], ids=["list", "dictionary"])
@pytest.mark.parametrize("kind", [kind for kind in RULES if kind not in ("ASGD", "Rprop")])
def test_groups_that_are_put_there_are_stepped_with(kind, change):
    (*_, (now, _)), _ = both(kind, change)
    before = Run(kind, mg.jit)
    before.go(6)
    assert now == before.all()[0]


@pytest.mark.parametrize("kind", [kind for kind in RULES if kind not in ("SGD", "Lion", "Muon")])
def test_numbers_are_those_that_were_written(kind):
    (*_, (_, state)), run = both(kind, multiplied("step", 0.5))
    assert state[0]["step"] == state[1]["step"] == 3 + 8
    # Whichever of those that were handed out is written to, and however often others were.
    first, collected = run.o.state, run.o.state_dict()
    number = first[run.w]["step"]
    assert len(run.o.state) == 2
    number.fill_(2)
    run.go(2)
    assert collected["state"][0]["step"].item() == 4 and first[run.v]["step"].item() == 13
    assert first[run.w]["step"].item() == run.o.state[run.w]["step"].item() == number.item() == 4
    collected["state"][0]["step"].add_(3)
    run.go(1)
    assert run.o.state[run.w]["step"].item() == 8 and run.step.is_replaying
    # What is put there is remembered with what the steps after it make of it.
    entries = run.o.state[run.w]
    memory = next(name for name in entries if name not in ("step", "mu_product", "eta", "mu"))
    entries[memory] = entries[memory] * 2
    run.go(1)
    there = run.o.state[run.w][memory].tolist()
    entries["step"] = mg.tensor(1.0)
    assert run.o.state[run.w][memory].tolist() == there and run.o.state[run.w]["step"].item() == 1


@pytest.mark.parametrize("kind", RULES)
def test_states_that_are_read_within_a_step(kind):
    """A step that looks at numbers is called each time."""
    found = []
    for wrap in (lambda f: f, mg.jit):
        run = Run(kind, lambda f: f)
        plain, o, w = run.step, run.o, run.w

        def step(x):
            plain(x)
            its, collected = o.state[w], o.state_dict()["state"].get(0, {})
            return [its["step"] * 1, collected["step"] * 1] if "step" in its else [w * 1]

        run.step = wrap(step)
        found.append([[t.tolist() for t in run.step(mg.ones(1, 2))] for _ in range(5)])
    assert found[0] == found[1]


def test_a_step_that_writes_a_number():
    for wrap in (lambda f: f, mg.jit):
        run = Run("Adam", lambda f: f)
        run.go(3)
        number, plain = run.o.state[run.w]["step"], run.step

        def step(x):
            number.add_(10)
            plain(x)

        step = wrap(step)
        for i in range(4):
            before = run.o.state[run.w]["step"].item()
            step(mg.ones(1, 2))
            assert run.o.state[run.w]["step"].item() == before + 11


@pytest.mark.parametrize("kind", RULES)
def test_groups_that_a_step_replaces(kind):
    found = []
    for wrap in (lambda f: f, mg.jit):
        run = Run(kind, lambda f: f)
        plain, o = run.step, run.o

        def step(x):
            o.param_groups = [{**group, "lr": group["lr"] * 0.5} for group in o.param_groups]
            return plain(x)

        run.step = wrap(step)
        found.append((run.go(8), run.all(), o.param_groups[0]["lr"]))
    assert found[0] == found[1] and found[0][2] == 0.05 * 0.5**8


@pytest.mark.parametrize("kind", RULES)
def test_options_that_are_missing(kind):
    """A recorded step tells of them as the function does, and goes on once they are there."""
    for change in (lambda run: run.o.param_groups[0].pop("lr"), lambda run: setattr(run.o, "param_groups", [{"params": [run.w, run.v]}])):
        run = Run(kind, mg.jit)
        run.go(6)
        state = run.all()[1]
        change(run)
        for _ in range(2):
            with pytest.raises(KeyError):
                run.go(1)
        run.o.param_groups[0].update(run.o.defaults)
        assert run.all()[1] == state
        run.go(6)
        assert run.step.is_replaying
        twin = Run(kind, lambda f: f)
        twin.go(6)
        twin.n += 2
        twin.go(6)
        assert run.all() == twin.all()


@pytest.mark.parametrize("kind", ["Adam", "NAdam", "ASGD"])
def test_numbers_that_were_handed_out_at_several_times(kind):
    w, v = (nn.Parameter(mg.tensor([1.0, -2.0])) for _ in range(2))
    o = getattr(optim, kind)([w, v], lr=0.1)
    for p in (w, v):
        p.grad = mg.ones(2)
        o.step()
        held = o.state
        assert p in held
    numbers = [held[p]["step"] for p in (w, v)]
    numbers[0].fill_(7)
    numbers[1].fill_(5)
    o.step()
    assert [its["step"].item() for its in o.state.values()] == [8, 6]


def test_two_optimisers_of_the_same_parameters():
    found = []
    for wrap in (lambda f: f, mg.jit):
        w = nn.Parameter(mg.tensor([1.0, -2.0]))
        a, b = optim.Adam([w], lr=0.1), optim.SGD([w], lr=0.01, momentum=0.9)

        @wrap
        def step(x):
            a.zero_grad()
            (w * x).square().sum().backward()
            a.step()
            b.step()

        for i in range(20):
            if i == 5:
                a.state[w]["step"].fill_(1)
                b.param_groups = [{**b.param_groups[0], "lr": 0.1}]
            if i == 12:
                a.state.clear()
                b.state.clear()
            step(mg.tensor([1.0, 0.5]))
        found.append(w.tolist())
    assert found[0] == found[1] and step.is_replaying


def test_a_scaled_optimiser_is_changed():
    """Whose steps may be left out, so that they are counted where they are made."""
    found = []
    for wrap in (lambda f: f, mg.jit):
        w = nn.Parameter(mg.tensor([1.0, -2.0]))
        o, scaler = optim.Adam([w], lr=0.1), mg.amp.GradScaler("cpu", init_scale=4.0)

        @wrap
        def step(x):
            o.zero_grad()
            scaler.scale((w * x).square().sum()).backward()
            scaler.step(o)
            scaler.update()

        counts = []
        for i in range(24):
            if i == 5:
                o.state[w]["step"].fill_(0)
            if i == 10:
                o.param_groups = [{**o.param_groups[0], "lr": 0.5}]
            if i == 15:
                o.state_dict()["state"][0]["step"].mul_(0.5)
            step(mg.tensor([float("inf") if i == 20 else 1.0, 0.5]))
            counts.append(o.state[w]["step"].item())
        found.append((w.tolist(), counts))
    assert found[0] == found[1] and step.is_replaying
    assert found[0][1] == [*range(1, 6), *range(1, 11), *range(6, 11), 10, 11, 12, 13]


def test_an_optimiser_around_another():
    """As sharpness-aware minimisation is written, of which the two share their groups."""

    class Sharp(optim.Optimizer):
        def __init__(self, params, base, **options):
            super().__init__(params, {"rho": 0.05, **options})
            self.base = base(self.param_groups, **options)
            self.param_groups = self.base.param_groups

        def climb(self):
            with mg.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        self.state[p]["old"] = p.detach().clone()
                        p.add_(p.grad * group["rho"])

        def step(self, closure=None):
            with mg.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        p.copy_(self.state[p]["old"])
            self.base.step()

    found = []
    for wrap in (lambda f: f, mg.jit):
        w = nn.Parameter(mg.tensor([1.0, -2.0]))
        o = Sharp([w], optim.Adam, lr=0.1)

        @wrap
        def step(x):
            o.zero_grad()
            (w * x).square().sum().backward()
            o.climb()
            o.zero_grad()
            (w * x).square().sum().backward()
            o.step()

        for i in range(20):
            if i == 5:
                o.param_groups[0]["lr"] = 0.5
            if i == 10:
                o.load_state_dict(o.state_dict())
                assert o.base.state[w]["step"].item() == 10
            if i == 15:
                o.param_groups[0] = {**o.param_groups[0], "lr": 0.2}
            step(mg.tensor([1.0, 0.5]))
        assert o.base.state[w]["step"].item() == 20
        found.append(w.tolist())
    assert found[0] == found[1]


def test_states_are_dictionaries_as_others():
    run = Run("Adam", lambda f: f)
    o, w, v = run.o, run.w, run.v
    assert len(o.state) == 0 and w not in o.state and o.state.get(w) is None
    run.go(1)
    state = o.state
    assert list(state) == list(state.keys()) == list(o.state) and len(state) == 2 and w in state and run.u not in state
    for like in (copy.copy(state), state.copy(), copy.deepcopy(dict(state))):
        assert len(like) == 2 and type(next(iter(like.values()))) is dict
    # Held over steps it is as new as the optimiser.
    run.go(2)
    assert [its["step"].item() for its in state.values()] == [3, 3] and state[w]["exp_avg"].tolist() == o.state[w]["exp_avg"].tolist()
    state.update({w: {**state[w], "step": mg.tensor(7.0)}})
    state |= {v: {**state[v], "step": mg.tensor(9.0)}}
    assert [its["step"].item() for its in o.state.values()] == [7, 9] and state.setdefault(w)["step"].item() == 7
    for name in state[w]:
        assert state[w][name] is not None
    key, its = state.popitem()
    assert key is v and its["step"].item() == 9 and v not in o.state and list(state) == [w]
    o.state.clear()
    assert not state and dict(state) == {}


@pytest.mark.parametrize("first", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", RULES)
def test_a_state_that_is_looked_at_before_a_step_is_recorded(kind, first):
    found = []
    for wrap in (lambda f: f, mg.jit):
        run = Run(kind, wrap)
        losses = run.go(first)
        for rows in (1, 2, 3):
            # Another shape is recorded anew.
            for i in range(4):
                assert len(run.o.state) == len(run.o.state_dict()["state"])
                losses.append(run.step(mg.full((rows, 1, 2), 1 + 0.1 * i)).item())
        found.append((losses, run.all()))
    assert found[0] == found[1] and run.step.is_replaying


@pytest.mark.parametrize("wrap", [lambda f: f, mg.jit])
def test_a_rate_that_a_schedule_makes_negative_goes_up(wrap):
    w = nn.Parameter(mg.tensor([1.0], dtype=mg.float64))
    optimizer = optim.SGD([w], 1.0)
    schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 - epoch / 5)

    @wrap
    def step():
        optimizer.zero_grad()
        (w * 0.5).sum().backward()
        optimizer.step()

    for _ in range(8):
        step()
        schedule.step()
    # 1 − ½ (1 + 0.8 + 0.6 + 0.4 + 0.2 + 0 − 0.2 − 0.4)
    assert w.item() == pytest.approx(1 - 0.5 * 2.4)
    with pytest.raises(ValueError):
        optim.SGD([w], -1.0)
