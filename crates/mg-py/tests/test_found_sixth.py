"""Programs that a sixth look found to answer otherwise than PyTorch. The numbers are PyTorch's."""

import copy
import pickle

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.optim import lr_scheduler as schedules


def two_groups():
    a, b = (mg.ones(1, requires_grad=True) for _ in range(2))
    return mg.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=1.0)


def rates_of(optimizer, schedule, times, *told):
    rates = []
    for _ in range(times):
        optimizer.step()
        schedule.step(*told)
        rates.append([round(rate, 5) for rate in schedule.get_last_lr()])
    return rates


SCHEDULES = {
    "StepLR": (lambda o: schedules.StepLR(o, 2, 0.5), [0.5, 0.25, 0.25]),
    "MultiStepLR": (lambda o: schedules.MultiStepLR(o, [1, 4], 0.5), [0.5, 0.25, 0.25]),
    "ExponentialLR": (lambda o: schedules.ExponentialLR(o, 0.5), [0.125, 0.0625, 0.03125]),
    "CosineAnnealingLR": (lambda o: schedules.CosineAnnealingLR(o, 10), [0.79389, 0.65451, 0.5]),
    "LinearLR": (lambda o: schedules.LinearLR(o, 0.1, 1.0, 4), [0.775, 1.0, 1.0]),
    "ConstantLR": (lambda o: schedules.ConstantLR(o, 0.5, 4), [0.5, 1.0, 1.0]),
    "PolynomialLR": (lambda o: schedules.PolynomialLR(o, 5), [0.4, 0.2, 0.0]),
    "SequentialLR": (
        lambda o: schedules.SequentialLR(o, [schedules.LinearLR(o, 0.1, 1.0, 4), schedules.ExponentialLR(o, 0.5)], [8]),
        [0.775, 1.0, 1.0],
    ),
    "ChainedScheduler": (
        lambda o: schedules.ChainedScheduler([schedules.ConstantLR(o, 0.5, 4), schedules.ExponentialLR(o, 0.5)]),
        [0.0625, 0.0625, 0.03125],
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("gone", [0, 1])
def test_schedules_go_on_when_a_group_was_removed(name, gone):
    make, expected = SCHEDULES[name]
    optimizer = two_groups()
    schedule = make(optimizer)
    rates_of(optimizer, schedule, 2)
    del optimizer.param_groups[gone]
    base = 0.5 if gone == 0 else 1.0
    got = rates_of(optimizer, schedule, 3)
    assert [len(rates) for rates in got] == [1, 1, 1]
    assert [rate for (rate,) in got] == pytest.approx([base * rate for rate in expected], abs=2e-5)


def test_schedules_that_need_initial_rates_say_so_when_groups_came_or_went():
    optimizer = two_groups()
    schedule = schedules.CosineAnnealingLR(optimizer, 3)
    rates_of(optimizer, schedule, 1)
    del optimizer.param_groups[0]
    assert rates_of(optimizer, schedule, 2) == [[0.125], [0.0]]
    # Up again: how far is what the initial rates say.
    with pytest.raises(ValueError, match="2 initial rates for 1 groups.*base_lrs"):
        schedule.step()
    schedule.base_lrs = [0.5]
    assert rates_of(optimizer, schedule, 2) == [[0.125], [0.375]]
    with pytest.raises(ValueError, match="1 initial rates for 2 groups"):
        optimizer.add_param_group({"params": [mg.ones(1, requires_grad=True)]})
        schedule.step(3)


def test_plateaus_least_rates_are_those_of_the_groups_that_are_there():
    optimizer = two_groups()
    schedule = schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=[0.3, 0.2])
    assert rates_of(optimizer, schedule, 3, 1.0) == [[1.0, 0.5], [0.5, 0.25], [0.3, 0.2]]
    del optimizer.param_groups[0]
    with pytest.raises(RuntimeError, match="2 least rates for 1 groups.*min_lrs"):
        schedule.step(1.0)
    schedule.min_lrs = [0.1]
    assert rates_of(optimizer, schedule, 2, 1.0) == [[0.1], [0.1]]
    # One number is that of all groups, of later ones as well.
    optimizer = two_groups()
    schedule = schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=0.3)
    optimizer.add_param_group({"params": [mg.ones(1, requires_grad=True)], "lr": 0.4})
    assert rates_of(optimizer, schedule, 2, 1.0) == [[1.0, 0.5, 0.4], [0.5, 0.3, 0.3]]


def test_functional_calls_take_one_value_of_tied_weights():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    x, one, two = mg.ones(1, 2), mg.eye(2), 2 * mg.eye(2)
    call = mg.func.functional_call
    with pytest.raises(ValueError, match="'0.weight', '1.weight'.*one tensor"):
        call(net, {"0.weight": one, "1.weight": two}, (x,))
    assert call(net, {"0.weight": two, "1.weight": two}, (x,)).tolist() == [[4, 4]]
    assert call(net, {"1.weight": two}, (x,)).tolist() == [[4, 4]]
    assert call(net, {"0.weight": one, "1.weight": two}, (x,), tie_weights=False).tolist() == [[2, 2]]
    with pytest.raises(ValueError, match="0.weight.*more than one dictionary"):
        call(net, [{"0.weight": one}, {"0.weight": one}], (x,))
    # One module under two names.
    net = nn.Sequential(net[0], net[0])
    with pytest.raises(ValueError, match="'0.weight', '1.weight'.*one tensor"):
        call(net, {"0.weight": one, "1.weight": two}, (x,))
    assert call(net, {"1.weight": two}, (x,)).tolist() == [[4, 4]]


W = [[1.0, 2.0], [3.0, 4.0]]


def layer_of(weights=W):
    layer = nn.Linear(2, len(weights), bias=False).double()
    with mg.no_grad():
        layer.weight.copy_(mg.tensor(weights, dtype=mg.float64))
    return layer


def test_weight_norm_has_parameters_that_no_optimiser_knows():
    layer = layer_of()
    weight = layer.weight
    optimizer = mg.optim.SGD([weight], lr=0.1, momentum=0.9)
    step = lambda: (optimizer.zero_grad(), layer(mg.ones(1, 2, dtype=mg.float64)).sum().backward(), optimizer.step())  # noqa: E731
    step()
    nn.utils.parametrizations.weight_norm(layer)
    parts = layer.parametrizations.weight
    assert parts.original1 is not weight and parts.original1.grad is None
    before = parts.original1.tolist()
    step()
    # The momentum is the old weight's, which has no gradient any more.
    assert parts.original1.tolist() == before and parts.original1.grad is not None and weight.grad is None
    with mg.no_grad():
        weight.fill_(1.0)
    assert parts.original1.tolist() == [[1, 1], [1, 1]]
    # What is left to be trained is a new parameter, too; what was frozen is none.
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter) and layer.weight is not weight
    layer = layer_of()
    layer.weight.requires_grad_(False)
    nn.utils.parametrizations.weight_norm(layer)
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert [name for name, _ in layer.named_buffers()] == ["weight"] and not list(layer.parameters())


def test_weight_norm_loads_states_of_the_older_one():
    old = nn.utils.weight_norm(layer_of())
    new = nn.utils.parametrizations.weight_norm(layer_of([[5.0, 6.0], [7.0, 8.0]]))
    new.load_state_dict(old.state_dict())
    assert new.weight.flatten().tolist() == pytest.approx([1, 2, 3, 4])


def test_other_parametrizations_keep_the_parameter():
    for make in (nn.utils.parametrizations.spectral_norm, nn.utils.parametrizations.orthogonal):
        layer = layer_of()
        weight = layer.weight
        make(layer)
        assert layer.parametrizations.weight.original is weight
        nn.utils.parametrize.remove_parametrizations(layer, "weight")
        assert layer.weight is weight
    # A buffer as well.
    module = nn.Module()
    buffer = mg.ones(2)
    module.register_buffer("b", buffer)
    nn.utils.parametrize.register_parametrization(module, "b", Doubled())
    assert module.parametrizations.b.original is buffer and buffer.tolist() == [0.5, 0.5]
    nn.utils.parametrize.remove_parametrizations(module, "b")
    assert module.b is buffer and buffer.tolist() == [1, 1]


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


class Moved(nn.Module):
    def forward(self, x):
        return x + 1

    def right_inverse(self, x):
        return x - 1


class NoWayBack(nn.Module):
    def forward(self, x):
        return x + 1

    def right_inverse(self, x):
        raise NotImplementedError("right_inverse")


class Flat(nn.Module):
    def forward(self, x):
        return x.reshape(2, 2)

    def right_inverse(self, x):
        return x.flatten()


def test_what_parametrizations_begin_with():
    register = nn.utils.parametrize.register_parametrization
    layer = layer_of()
    register(layer, "weight", Doubled())
    assert layer.weight.tolist() == W
    # A second one is applied to what was there.
    register(layer, "weight", Moved())
    assert layer.weight.tolist() == [[2, 3], [4, 5]]
    layer.weight = mg.ones(2, 2, dtype=mg.float64)
    assert layer.weight.tolist() == [[1, 1], [1, 1]]
    layer = layer_of()
    register(layer, "weight", NoWayBack())
    assert layer.weight.tolist() == [[2, 3], [4, 5]]
    layer = layer_of()
    weight = layer.weight
    register(layer, "weight", Flat())
    assert layer.parametrizations.weight.original is weight and tuple(weight.shape) == (4,) and layer.weight.tolist() == W
    other = layer_of([[0.0, 0.0], [0.0, 0.0]])
    layer = layer_of()
    register(layer, "weight", Doubled())
    nn.utils.parametrize.transfer_parametrizations_and_params(layer, other)
    assert other.parametrizations.weight.original is layer.parametrizations.weight.original and other.weight.tolist() == W


def test_orthogonal_without_trivialization_begins_where_it_can():
    matrix = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
    layer = layer_of(matrix)
    orthogonal = nn.utils.parametrizations.orthogonal
    orthogonal(layer, orthogonal_map="householder", use_trivialization=False)
    # The columns made orthogonal, with a triangle of positive diagonal that leads back.
    long, short = 0.1690308509, 0.3162277660
    assert layer.weight.flatten().tolist() == pytest.approx([long, 3 * short, 3 * long, -short, 5 * long, 0], abs=1e-9)
    for kind in ("matrix_exp", "cayley"):
        layer = layer_of()
        orthogonal(layer, orthogonal_map=kind, use_trivialization=False)
        assert layer.parametrizations.weight.original.tolist() == W
        with pytest.raises(NotImplementedError, match="use_trivialization"):
            layer.weight = mg.eye(2, dtype=mg.float64)


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


def test_losses_of_what_is_no_number_have_no_slope():
    for loss in (nn.functional.smooth_l1_loss, nn.functional.huber_loss):
        x = mg.tensor([float("nan"), float("inf"), -2.0, -1.0, 0.5], requires_grad=True)
        loss(x, mg.zeros(5), reduction="none").backward(mg.ones(5))
        first, *others = x.grad.tolist()
        assert first != first and others == [1.0, -1.0, -1.0, 0.5]


def test_a_gradient_that_ends_where_the_graph_was_let_go_needs_no_more_of_it():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    h = (x * x).sum()
    y = h * 3
    h.backward()
    assert mg.autograd.grad(y, y, retain_graph=True)[0].item() == 1.0
    assert mg.autograd.grad(y, h, retain_graph=True)[0].item() == 3.0
    # Beyond it there is no way.
    for further in (lambda: mg.autograd.grad(y, x), lambda: mg.autograd.grad(y * 2, [y, x]), lambda: y.backward()):
        with pytest.raises(RuntimeError, match="let go"):
            further()


@pytest.mark.parametrize("index", [[0, 1], [True, True, False], [[0, 1], [1, 0]]], ids=["list", "mask", "array"])
def test_axes_of_size_one_in_front_of_what_is_assigned_are_none(index):
    want, got = np.zeros((3, 4)), mg.zeros(3, 4)
    want[index if isinstance(index[0], bool) else np.array(index)] = np.arange(4.0)
    got[mg.tensor(index)] = mg.arange(4.0).reshape(1, 1, 1, 4)
    assert got.tolist() == want.tolist()
    # index_put takes what broadcasts, no more.
    with pytest.raises(RuntimeError, match="broadcast"):
        got.index_put_((mg.tensor([0]),), mg.zeros(1, 1, 4))


def test_what_answers_with_a_tensor_itself_answers_with_that_object():
    x = mg.ones(3)
    for same in (x.float(), x.to(mg.float32), x.contiguous(), x.flatten(), mg.flatten(x), x.cpu(), x.type_as(x)):
        assert same is x
    for other in (x.double(), x.detach(), x.view(3), x.expand(3), x.clone(), x * 1, mg.atleast_2d(x)):
        assert other is not x
    flag = mg.tensor([True])
    assert flag.bool() is flag and flag.int() is not flag


def test_many_weighted_samples_take_no_time_for_each_weight():
    mg.manual_seed(0)
    weights = mg.arange(200_000.0)
    weights[5] = 0.0
    # As long as these took a number for each sample and weight, this was minutes.
    with_it = mg.multinomial(weights, 200_000, replacement=True)
    without = mg.multinomial(weights[1:], 199_998)
    assert 0 <= int(with_it.min()) and int(with_it.max()) < 200_000 and not bool((with_it == 5).any())
    assert with_it.double().mean().item() == pytest.approx(200_000 * 2 / 3, rel=0.01)
    # All but the one of weight 0, the large ones first.
    assert without.unique().numel() == 199_998 and not bool((without == 4).any())
    assert without[:1000].double().mean().item() == pytest.approx(200_000 * 2 / 3, rel=0.03)
    rows = mg.multinomial(mg.tensor([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]), 4000, replacement=True)
    assert rows[1].tolist() == [1] * 4000 and (rows[0] == 2).sum().item() / 4000 == pytest.approx(0.75, abs=0.03)
    assert (rows[0] == 1).sum().item() == 0
    assert len(list(mg.utils.data.WeightedRandomSampler(weights, 50_000))) == 50_000


@pytest.mark.parametrize(("count", "p"), [(65, 0.5), (300, 0.02), (1000, 0.9), (10**6, 0.3)])
def test_counts_of_many_trials(count, p):
    mg.manual_seed(1)
    law = mg.distributions.Binomial(count, mg.tensor(p, dtype=mg.float64))
    drawn = law.sample((20_000,))
    spread = (count * p * (1 - p)) ** 0.5
    assert drawn.mean().item() == pytest.approx(count * p, abs=5 * spread / 20_000**0.5)
    assert drawn.std().item() == pytest.approx(spread, rel=0.03)
    assert 0 <= drawn.min().item() and drawn.max().item() <= count and bool((drawn == drawn.floor()).all())
    if count <= 300:
        # Each number as often as its probability says: chi squared over those that are expected 20 times.
        found = mg.bincount(drawn.long(), minlength=count + 1).double()
        expected = law.log_prob(mg.arange(count + 1.0, dtype=mg.float64)).exp() * 20_000
        seen = expected > 20
        chi = ((found - expected) ** 2 / expected)[seen].sum().item()
        degrees = int(seen.sum())
        assert chi < degrees + 5 * (2 * degrees) ** 0.5
    mixed = mg.distributions.Binomial(mg.tensor([0.0, 3.0, 500.0]), mg.tensor([0.5, 1.0, 0.0])).sample((50,))
    assert mixed[:, 0].sum() == 0 and (mixed[:, 1] == 3).all() and mixed[:, 2].sum() == 0
