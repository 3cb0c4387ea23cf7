"""Recurrent layers and CTC, whose sequences are one kernel on the CPU, against cells that take one step after the other, sums over all
paths, and derivatives of their own."""

import itertools
import math

import pytest

import micrograd_rs as mg
from micrograd_rs import func, nn

KINDS = ["LSTM", "GRU", "RNN", "relu"]


def layer(kind, features=3, size=4, **options):
    mg.manual_seed(0)
    made = nn.RNN(features, size, nonlinearity="relu", **options) if kind == "relu" else getattr(nn, kind)(features, size, **options)
    return made.double()


def stepped(kind, net, x, states):
    """Outputs and states of one layer in one direction, by its cell."""
    weights = [net.weight_ih_l0, net.weight_hh_l0, net.bias_ih_l0, net.bias_hh_l0]
    outputs = []
    for step in x:
        if kind == "LSTM":
            states = mg.lstm_cell(step, states, *weights)
        else:
            cell = {"GRU": mg.gru_cell, "RNN": mg.rnn_tanh_cell, "relu": mg.rnn_relu_cell}[kind]
            states = [cell(step, states[0], *weights)]
        outputs.append(states[0])
    return mg.stack(outputs), states


def first(kind, batch=2, size=4):
    count = 2 if kind == "LSTM" else 1
    return [mg.randn(batch, size, dtype=mg.float64, requires_grad=True) for _ in range(count)]


def both(kind, net, x, states):
    """The kernel's outputs and states, and those of steps."""
    given = [s.unsqueeze(0) for s in states]
    output, ends = net(x, tuple(given) if kind == "LSTM" else given[0])
    ends = list(ends) if kind == "LSTM" else [ends]
    return [output, *[end[0] for end in ends]], [*(lambda o, s: [o, *s])(*stepped(kind, net, x, states))]


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_steps(kind):
    net = layer(kind)
    x = mg.randn(5, 2, 3, dtype=mg.float64, requires_grad=True)
    states = first(kind)
    kernel, steps = both(kind, net, x, states)
    wanted = [x, *states, *net.parameters()]
    for ours, theirs in zip(kernel, steps, strict=True):
        assert mg.allclose(ours, theirs)
    # Each answer by itself, and all together.
    for part in [*range(len(kernel)), None]:
        total = [sum((y * y.detach().cos()).sum() for i, y in enumerate(answer) if part in (None, i)) for answer in (kernel, steps)]
        found = [mg.autograd.grad(t, wanted, retain_graph=True, allow_unused=True) for t in total]
        for ours, theirs in zip(*found, strict=True):
            assert (ours is None) == (theirs is None)
            assert ours is None or mg.allclose(ours, theirs, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives_are_those_of_steps(kind):
    net = layer(kind)
    x = mg.randn(3, 2, 3, dtype=mg.float64, requires_grad=True)
    states = first(kind)
    wanted = [x, *states, *net.parameters()]
    found = []
    for answer in both(kind, net, x, states):
        total = sum((y**3).sum() for y in answer)
        gradients = mg.autograd.grad(total, wanted, create_graph=True)
        found.append([*gradients, *mg.autograd.grad(sum((g**2).sum() for g in gradients), wanted)])
    for ours, theirs in zip(*found, strict=True):
        assert mg.allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_function_transforms(kind):
    net = layer(kind)
    x = mg.randn(3, 2, 3, dtype=mg.float64)
    direction = mg.randn(3, 2, 3, dtype=mg.float64)

    def outputs(x):
        return net(x)[0]

    found = func.jvp(outputs, (x,), (direction,))[1]
    step = 1e-6
    assert mg.allclose(found, (outputs(x + step * direction) - outputs(x - step * direction)) / (2 * step), atol=1e-7)
    several = mg.stack([x, direction])
    assert mg.allclose(func.vmap(outputs)(several), mg.stack([outputs(x), outputs(direction)]))
    each = func.vmap(func.grad(lambda x: outputs(x).square().sum()))(several)
    alone = [func.grad(lambda x: outputs(x).square().sum())(x) for x in (x, direction)]
    assert mg.allclose(each, mg.stack(alone))


@pytest.mark.parametrize("kind", KINDS)
def test_layers_directions_and_a_replayed_step(kind):
    net = layer(kind, num_layers=2, bidirectional=True, batch_first=True)
    x = mg.randn(2, 5, 3, dtype=mg.float64)
    packed = nn.utils.rnn.pack_padded_sequence(mg.cat([x, mg.zeros(2, 1, 3, dtype=mg.float64)], 1), [5, 4], batch_first=True)
    output = net(x)[0]
    # A sequence that is shorter than another is made of steps.
    padded, _ = nn.utils.rnn.pad_packed_sequence(net(packed)[0], batch_first=True)
    assert mg.allclose(padded[0], output[0])

    def step(x):
        loss = net(x)[0].square().sum()
        return mg.autograd.grad(loss, list(net.parameters()))

    replayed = mg.jit(step)
    for i in range(4):
        given = x + i
        for ours, theirs in zip(replayed(given), step(given), strict=True):
            assert mg.allclose(ours, theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sequence_of_any_length_is_as_many_launches(kind):
    net = layer(kind).float()

    def launches(steps):
        x = mg.randn(steps, 2, 3)
        return len(mg.explain(net(x)[0]).launches)

    assert launches(3) == launches(50)


def test_weights_that_were_written_over_are_refused():
    net = layer("LSTM")
    x = mg.randn(3, 2, 3, dtype=mg.float64, requires_grad=True)
    for again in (False, True):
        total = net(x)[0].sum()
        mg.realize(total)
        with mg.no_grad():
            net.weight_hh_l0.mul_(2.0)
        with pytest.raises(RuntimeError, match="changed in place"):
            mg.autograd.grad(total, [x], create_graph=again)


def labelled(t=5, dtype=mg.float64):
    mg.manual_seed(0)
    x = mg.randn(t, 3, 4, dtype=dtype, requires_grad=True)
    return x, mg.tensor([[1, 1, 2], [3, 2, 0], [1, 0, 0]]), mg.tensor([t, t, t - 1]), mg.tensor([3, 2, 1])


def ctc(x, targets, steps, counts):
    return nn.functional.ctc_loss(x.log_softmax(-1), targets, steps, counts, reduction="none")


def test_ctc_sums_over_paths():
    x, targets, steps, counts = labelled()
    losses = ctc(x, targets, steps, counts).tolist()
    probabilities = x.softmax(-1).tolist()
    for line, loss in enumerate(losses):
        count, t = counts[line].item(), steps[line].item()
        wanted, total = targets[line, :count].tolist(), 0.0
        for path in itertools.product(range(4), repeat=t):
            if [k for k, _ in itertools.groupby(path) if k] == wanted:
                total += math.prod(probabilities[i][line][k] for i, k in enumerate(path))
        assert loss == pytest.approx(-math.log(total))


def test_ctc_has_derivatives():
    x, *rest = labelled()
    direction = mg.randn(*x.shape, dtype=mg.float64)
    step = 1e-5

    def slope(x):
        return mg.autograd.grad(ctc(x, *rest).sum(), x, create_graph=True)[0]

    def difference(f):
        with mg.no_grad():
            ends = [(x + by * direction).requires_grad_() for by in (step, -step)]
        first, second = (f(end).detach() for end in ends)
        return (first - second) / (2 * step)

    first = mg.autograd.grad(ctc(x, *rest).sum(), x)[0]
    assert mg.allclose(first, slope(x))
    assert mg.allclose((first * direction).sum(), difference(lambda x: ctc(x, *rest).sum()), atol=1e-7)
    second = mg.autograd.grad((slope(x) * direction).sum(), x)[0]
    assert mg.allclose(second, difference(slope), atol=1e-6)
    tangent = func.jvp(lambda x: ctc(x, *rest), (x.detach(),), (direction,))[1]
    assert mg.allclose(tangent, difference(lambda x: ctc(x, *rest)), atol=1e-7)
    several = mg.stack([x.detach(), direction])
    assert mg.allclose(func.vmap(lambda x: ctc(x, *rest))(several), mg.stack([ctc(y, *rest) for y in several]))


def test_ctc_of_any_length_is_as_many_launches():
    def launches(t):
        return len(mg.explain(ctc(*labelled(t, mg.float32))).launches)

    assert launches(5) == launches(50)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_name", [False, True])
def test_functions_take_packed_sequences(kind, by_name):
    net = layer(kind, num_layers=2, bidirectional=True)
    mode = {"relu": "rnn_relu", "RNN": "rnn_tanh"}.get(kind, kind.lower())
    x = mg.rand(4, 3, 3, dtype=mg.float64)
    packed = nn.utils.rnn.pack_padded_sequence(x, mg.tensor([4, 2, 1]))
    states = [mg.rand(4, 3, 4, dtype=mg.float64) for _ in range(1 + (kind == "LSTM"))]
    hx = states if kind == "LSTM" else states[0]
    rest = [True, 2, 0.0, False, True]
    names = ["data", "batch_sizes", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional"]
    weights = [w for names in net.all_weights for w in names]
    given = [packed.data, packed.batch_sizes, hx, weights, *rest]
    function = getattr(mg, mode)
    rows, *ends = function(**dict(zip(names, given, strict=True))) if by_name else function(*given)
    want, last = net(packed, tuple(states) if kind == "LSTM" else states[0])
    assert mg.equal(rows, want.data)
    assert all(mg.equal(end, of) for end, of in zip(ends, last if kind == "LSTM" else [last], strict=True))
    # Of one tensor as before.
    even = function(x, hx, weights, *rest, False)
    assert mg.equal(even[0], net(x, tuple(states) if kind == "LSTM" else states[0])[0])


def test_what_packed_functions_refuse():
    weights, h = [mg.ones(4, 3), mg.ones(4, 4)], mg.zeros(1, 2, 4)
    rest = [False, 1, 0.0, False, False]
    for sizes in (mg.tensor([2, 1], dtype=mg.int32), mg.tensor([[2, 1]])):
        with pytest.raises(TypeError, match="rnn_tanh: takes batch_sizes as a tensor of int64 in one axis"):
            mg.rnn_tanh(mg.ones(3, 3), sizes, h, weights, *rest)
    with pytest.raises(ValueError, match="which do not grow"):
        mg.rnn_tanh(mg.ones(3, 3), mg.tensor([1, 2]), h, weights, *rest)
    with pytest.raises(TypeError, match="bidirectional"):
        mg.gru(mg.ones(3, 3), mg.tensor([2, 1]), h, weights, False, 1, 0.0, False)


LAYERS = {"LSTM": "the states (h, c)", "GRU": "one state h", "RNN": "one state h"}


def states(kind, *shape):
    return (mg.zeros(shape), mg.zeros(shape)) if kind.startswith("LSTM") else mg.zeros(shape)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("batch_first", [False, True])
def test_one_sequence_has_states_without_a_batch(kind, batch_first):
    net, x = getattr(nn, kind)(3, 5, num_layers=2, batch_first=batch_first), mg.randn(4, 3)
    output, end = net(x, states(kind, 2, 5))
    alone, alone_end = net(x)
    assert output.shape == (4, 5) and mg.equal(output, alone)
    assert [s.shape for s in (end if kind == "LSTM" else [end])] == [(2, 5)] * (1 + (kind == "LSTM"))
    wanted = "shapes [2, 5] and [2, 5]" if kind == "LSTM" else "shape [2, 5]"
    with pytest.raises(mg.ArgumentError) as refused:
        net(x, states(kind, 2, 1, 5))
    assert str(refused.value).startswith(f"{kind} takes {LAYERS[kind]} of {wanted} for one sequence without a batch, got [2, 1, 5]")
    # And the other way round.
    with pytest.raises(mg.ArgumentError, match=f"^{kind} takes .* for a batch of 4, got .2, 5."):
        net(mg.randn(4, 4, 3), states(kind, 2, 5))


def test_two_states_without_a_batch_are_both_so():
    with pytest.raises(mg.ArgumentError, match="for one sequence without a batch, got .1, 5. and .1, 1, 5.$"):
        nn.LSTM(3, 5)(mg.ones(4, 3), (mg.zeros(1, 5), mg.zeros(1, 1, 5)))


@pytest.mark.parametrize("packed", [False, True])
def test_layers_say_which_states_they_take(packed):
    x = mg.ones(4, 2, 3)
    x, of = (nn.utils.rnn.pack_padded_sequence(x, [4, 2]), "2 packed sequences") if packed else (x, "a batch of 2")
    h, c = mg.zeros(1, 2, 5), mg.zeros(1, 2, 5)
    both = f"LSTM takes the states (h, c) of shapes [1, 2, 5] and [1, 2, 5] for {of}, got "
    one = f"GRU takes one state h of shape [1, 2, 5] for {of}, got "
    for kind, given, error, text in [
        ("LSTM", h, TypeError, f"{both}a tensor of shape [1, 2, 5]"),
        ("LSTM", 5, TypeError, f"{both}int"),
        ("LSTM", (h, 5), TypeError, f"{both}int"),
        ("LSTM", (h,), mg.ArgumentError, f"{both}1 of them"),
        ("LSTM", [h, c, c], mg.ArgumentError, f"{both}3 of them"),
        ("LSTM", (h, mg.zeros(1, 3, 5)), mg.ArgumentError, f"{both}[1, 2, 5] and [1, 3, 5]"),
        ("GRU", (h, c), TypeError, f"{one}a tuple of 2"),
        ("GRU", 5, TypeError, f"{one}int"),
        ("GRU", mg.zeros(1, 3, 5), mg.ArgumentError, f"{one}[1, 3, 5]"),
    ]:
        with pytest.raises(error) as refused:
            getattr(nn, kind)(3, 5)(x, given)
        assert str(refused.value) == text
    # A list will do as well as a pair.
    assert mg.equal(nn.LSTM(3, 5)(x, [h, c])[1][0].detach() * 0, h)


def test_layers_say_which_inputs_they_take():
    for kind in LAYERS:
        net = getattr(nn, kind)(3, 5)
        with pytest.raises(TypeError, match=f"^{kind} takes a tensor or a PackedSequence, got list$"):
            net([1, 2])
        for x in (mg.ones(4, 2, 7), nn.utils.rnn.pack_padded_sequence(mg.ones(4, 2, 7), [4, 2])):
            with pytest.raises(mg.ArgumentError, match=rf"^{kind} takes \[…, 3\], got \[.*7\]$"):
                net(x)


@pytest.mark.parametrize("kind", LAYERS)
def test_cells_say_what_they_take(kind):
    name = f"{kind}Cell"
    cell = getattr(nn, name)(3, 5)
    for x, given in [(mg.ones(3), states(kind, 1, 5)), (mg.ones(4, 3), states(kind, 5)), (mg.ones(4, 3), states(kind, 3, 5))]:
        with pytest.raises(mg.ArgumentError, match=f"^{name} takes .* for an input "):
            cell(x, given)
    h = mg.zeros(4, 5)
    with pytest.raises(TypeError) as refused:
        cell(mg.ones(4, 3), h if kind == "LSTM" else (h, h))
    of, got = ("shapes [4, 5] and [4, 5]", "a tensor of shape [4, 5]") if kind == "LSTM" else ("shape [4, 5]", "a tuple of 2")
    assert str(refused.value) == f"{name} takes {LAYERS[kind]} of {of} for an input [4, 3], got {got}"
    with pytest.raises(TypeError, match=f"^{name} takes a tensor, got list$"):
        cell([1, 2])
    for shape in [(4, 7), (2, 4, 3), ()]:
        with pytest.raises(mg.ArgumentError, match=rf"^{name} takes \[batch, 3\], or \[3\] without a batch, got "):
            cell(mg.ones(shape))
