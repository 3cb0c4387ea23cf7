"""Random numbers: distributions, generators, the state of the global one."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from micrograd_rs.nn import functional as F

N = 40_000
INF, NAN = math.inf, math.nan


def moments(t):
    t = t.double()
    return t.mean().item(), t.std().item()


@pytest.mark.parametrize(
    ("draw", "mean", "std"),
    [
        (lambda t: t.uniform_(-1, 3), 1, 4 / math.sqrt(12)),
        (lambda t: t.normal_(2, 3), 2, 3),
        (lambda t: t.exponential_(0.5), 2, 2),
        (lambda t: t.log_normal_(0.5, 0.25), math.exp(0.5 + 0.25**2 / 2), None),
        (lambda t: t.geometric_(0.25), 4, math.sqrt(0.75) / 0.25),
        (lambda t: t.bernoulli_(0.3), 0.3, math.sqrt(0.21)),
        (lambda t: t.random_(10, 20), 14.5, math.sqrt(99 / 12)),
        (lambda t: t.random_(7), 3, 2),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_moments(device, draw, mean, std, dtype):
    t = mg.zeros(N, dtype=dtype, device=device)
    assert draw(t) is t
    got, spread = moments(t)
    assert got == pytest.approx(mean, abs=0.05 * max(1, abs(mean)))
    if std is not None:
        assert spread == pytest.approx(std, rel=0.05)


def test_bounds(device):
    u = mg.empty(N, device=device).uniform_(2, 5)
    assert 2 <= u.min().item() and u.max().item() < 5
    assert mg.empty(N, device=device).exponential_().min().item() >= 0
    g = mg.empty(N, dtype="int64", device=device).geometric_(0.9)
    assert g.min().item() == 1 and g.dtype == mg.int64
    assert sorted(set(mg.empty(N, dtype="int32", device=device).random_(-3, 3).tolist())) == [-3, -2, -1, 0, 1, 2]
    assert set(mg.empty(N, dtype="bool", device=device).random_().tolist()) == {True, False}
    wide = mg.empty(N, dtype="int64", device=device).random_()
    assert wide.min().item() >= 0 and wide.max().item() > 2**62
    every = mg.randint(-(2**62), 2**62, (N,), device=device)
    assert every.min().item() < 0 < every.max().item() and abs(every.double().mean().item()) < 2**62 / 50
    # Half of Cauchy's numbers are within sigma of the median.
    c = mg.empty(N, dtype="float64", device=device).cauchy_(3, 2)
    assert (c - 3).abs().lt(2).double().mean().item() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("dtype", [mg.float16, mg.bfloat16])
@pytest.mark.parametrize("bounds", [(0, 1), (1, 2), (-2, -1), (-1, 0), (0, 2), (-3, 5), (1000, 1001)])
def test_uniform_numbers_of_halves_stay_below_their_bound(dtype, bounds):
    mg.manual_seed(0)
    low, high = bounds
    x = mg.empty(200_000, dtype=dtype).uniform_(low, high)
    assert low <= x.min().item() and x.max().item() < (high if dtype == mg.float16 or high < 1000 else 1002)
    if high < 1000:
        assert x.max().item() > high - 0.02 * max(1, high - low)


def test_random_integers_of_the_whole_range():
    mg.manual_seed(0)
    x = mg.randint(-(2**63), 2**63 - 1, (4000,)).tolist()
    assert min(x) < -(2**62) and max(x) > 2**62
    assert abs(sum(v > 0 for v in x) - 2000) < 200
    assert len({v % 2**20 for v in x}) > 3900
    x = mg.randint(-(2**62) - 2**61, 2**62 + 2**61, (4000,)).tolist()
    assert -(2**62) - 2**61 <= min(x) < -(2**62) and 2**62 < max(x) < 2**62 + 2**61


def test_refused():
    t = mg.zeros(3)
    for call in [
        lambda: t.uniform_(2, 1),
        lambda: t.normal_(0, -1),
        lambda: t.exponential_(0),
        lambda: t.cauchy_(0, 0),
        lambda: t.geometric_(1),
        lambda: t.bernoulli_(1.5),
        lambda: t.random_(3, 3),
        lambda: mg.zeros(3, dtype="uint8").random_(0, 300),
        lambda: mg.zeros(3, dtype="int64").normal_(),
        lambda: mg.normal(1.0, 2.0),
        lambda: mg.tensor([1, 2]).multinomial(1),
        lambda: mg.Generator().set_state(mg.zeros(4, dtype="uint8")),
    ]:
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            call()
    leaf = mg.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError):
        leaf.uniform_()
    with mg.no_grad():
        leaf.uniform_()
    assert leaf.requires_grad and leaf.is_leaf


@pytest.mark.parametrize("late", [lambda x: x, lambda x: x * 1])
@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        (lambda x: x.multinomial(1), [[0.0, 0.0], [math.nan, 1.0], [-1.0, 2.0], [INF, 1.0], [[1.0, 1.0], [0.0, 0.0]]]),
        (lambda x: x.multinomial(2, replacement=True), [[0.0, 0.0], [math.nan, 1.0], [-1.0, 2.0]]),
        (lambda x: x.bernoulli(), [[math.nan], [-0.1], [1.1]]),
        (lambda x: mg.zeros(1).bernoulli_(x), [[math.nan], [-0.1], [1.1]]),
        (lambda x: F.binary_cross_entropy(x, mg.ones(1)), [[math.nan], [-0.1], [1.1]]),
        (lambda x: F.binary_cross_entropy(mg.ones(1), x, reduction="none"), [[math.nan], [-0.1], [1.1]]),
        (lambda x: mg.nn.BCELoss()(x, mg.ones(1)), [[-1.0]]),
    ],
)
def test_probabilities_and_weights(call, numbers, late):
    for wrong in numbers:
        with pytest.raises(RuntimeError, match=r"takes (numbers|weights)"):
            call(late(mg.tensor(wrong))).tolist()
    call(late(mg.tensor([1.0]))).tolist()


@pytest.mark.parametrize("rate", [-1.0, math.nan])
def test_there_are_no_counts_of_negative_rates(rate):
    with pytest.raises(RuntimeError, match="poisson: takes rates that are not negative"):
        mg.poisson(mg.tensor([1.0, rate]))
    assert mg.poisson(mg.tensor([0.0, -0.0])).tolist() == [0.0, 0.0]


def test_deviations_that_are_none_are_refused():
    for std in (-1.0, NAN, mg.tensor([1.0, -1.0]), mg.tensor([1.0, NAN])):
        with pytest.raises(mg.ArgumentError, match="^normal: takes .*deviation"):
            mg.normal(mg.zeros(2), std)
    with pytest.raises(mg.ArgumentError, match="deviation"):
        mg.normal(0.0, NAN, (2,))
    with pytest.raises(mg.ArgumentError, match="deviation"):
        mg.normal(0.0, mg.tensor([1.0]) - 2).tolist()
    half, one = mg.zeros(2, dtype=mg.float16), mg.ones(2)
    assert mg.normal(half, one).dtype == mg.normal(half, 1.0).dtype == mg.normal(0.0, half).dtype == mg.float16
    assert mg.normal(one, half).dtype == mg.float32 and mg.normal(one.double(), one).dtype == mg.float64


def test_random_integers_that_the_dtype_does_not_hold():
    for low, high, dtype in ((0, 300, mg.uint8), (-1, 2, mg.uint8), (0, 200, mg.int8), (0, 3, mg.bool), (0, 70000, mg.int16)):
        with pytest.raises((ValueError, RuntimeError), match="draws"):
            mg.randint(low, high, (8,), dtype=dtype)
    with pytest.raises((ValueError, RuntimeError), match="draws"):
        mg.randint_like(mg.zeros(3, dtype=mg.uint8), 300)
    assert mg.randint(0, 256, (500,), dtype=mg.uint8).max().item() > 200
    assert mg.randint(-128, 128, (500,), dtype=mg.int8).min().item() < -60
    assert set(mg.randint(0, 2, (100,), dtype=mg.bool).tolist()) == {True, False}
    assert mg.randint(0, 1000, (3,), dtype=mg.float16).dtype == mg.float16


def test_generators(device):
    def draw(generator):
        t = mg.zeros(5, device=device)
        return [
            t.uniform_(generator=generator).tolist(),
            t.normal_(generator=generator).tolist(),
            mg.rand(3, generator=generator, device=device).tolist(),
            mg.randn(3, generator=generator, device=device).tolist(),
            mg.randint(0, 100, (3,), generator=generator, device=device).tolist(),
            mg.randperm(9, generator=generator, device=device).tolist(),
            mg.multinomial(mg.ones(4, device=device), 3, generator=generator).tolist(),
            mg.normal(0.0, 1.0, (2,), generator=generator, device=device).tolist(),
            mg.bernoulli(mg.full((6,), 0.5, device=device), generator=generator).tolist(),
            mg.poisson(mg.full((6,), 3.0, device=device), generator=generator).tolist(),
            # Trials one by one, and more of them than that.
            mg.binomial(mg.full((6,), 9.0, device=device), mg.full((6,), 0.5, device=device), generator=generator).tolist(),
            mg.binomial(mg.full((6,), 1e4, device=device), mg.full((6,), 0.5, device=device), generator=generator).tolist(),
        ]

    g = mg.Generator(device)
    assert g.manual_seed(5) is g and g.initial_seed() == 5
    first = draw(g)
    after = g.get_state()
    assert draw(g) != first
    assert draw(mg.Generator().manual_seed(5)) == first
    again = g.set_state(after).clone_state()
    assert draw(again) == draw(g)
    assert mg.Generator().manual_seed(-1).initial_seed() == 2**64 - 1
    # Another generator's numbers leave the global one where it is, and are those of the same seed.
    assert mg.manual_seed(5).initial_seed() == mg.initial_seed() == 5
    assert draw(None) == first
    assert mg.default_generator.get_state().tolist() == mg.get_rng_state().tolist() == after.tolist()


X = mg.ones(2, 3)


def test_generators_of_what_is_drawn_like_others():
    def drawn(seed):
        g = mg.Generator().manual_seed(seed)
        return [mg.rand_like(X, generator=g), mg.randn_like(X, generator=g), mg.randint_like(X, 9, generator=g), mg.randint_like(X, 2, 9, generator=g)]

    one, same, other = ([t.tolist() for t in drawn(seed)] for seed in (3, 3, 4))
    assert one == same != other
    assert mg.rand_like(X, dtype=mg.float64).dtype == mg.float64 and mg.rand_like(X, requires_grad=True).requires_grad
    state = mg.get_rng_state()
    drawn(1)
    assert mg.equal(mg.get_rng_state(), state)


def test_numbers_are_the_same_everywhere(device):
    """The first numbers of seed 0, as they are documented: words of Philox."""
    mg.manual_seed(0)
    cpu = mg.rand(4)
    mg.manual_seed(0)
    assert mg.rand(4, device=device).tolist() == cpu.tolist()
    # Random123's words for counter 0 and key 0.
    words = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert cpu.tolist() == [(word >> 8) / 2**24 for word in words]
    mg.manual_seed(0)
    assert mg.zeros(4, device=device).uniform_().tolist() == cpu.tolist()


def test_global_state():
    mg.manual_seed(3)
    state = mg.get_rng_state()
    a = mg.randn(4).tolist()
    mg.set_rng_state(state)
    assert mg.randn(4).tolist() == a
    with mg.random.fork_rng():
        inside = mg.rand(2).tolist()
        mg.manual_seed(99)
    assert mg.rand(2).tolist() == inside
    mg.cuda.set_rng_state(mg.cuda.get_rng_state())
    assert mg.cuda.get_rng_state().tolist() == mg.get_rng_state().tolist()
    before = mg.seed()
    assert mg.initial_seed() == before


def test_permutations(device):
    p = mg.randperm(1000, device=device)
    assert sorted(p.tolist()) == list(range(1000)) and p.tolist() != list(range(1000))
    counts = [[0] * 4 for _ in range(4)]
    for _ in range(2000):
        for at, value in enumerate(mg.randperm(4).tolist()):
            counts[at][value] += 1
    assert all(400 < c < 600 for row in counts for c in row), counts


def test_samples_of_weights(device):
    weights = mg.tensor([1.0, 0.0, 3.0], device=device)
    drawn = mg.multinomial(weights, N, replacement=True).tolist()
    assert drawn.count(1) == 0 and drawn.count(2) / N == pytest.approx(0.75, abs=0.01)
    rows = mg.tensor([[1.0, 2.0, 3.0, 4.0]], device=device).expand(4000, 4)
    without = mg.multinomial(rows, 4).tolist()
    assert all(sorted(row) == [0, 1, 2, 3] for row in without)
    first = [row[0] for row in without]
    assert first.count(3) / 4000 == pytest.approx(0.4, abs=0.03)
    # The second one, given that the first was 3: of the weights that are left.
    second = [row[1] for row in without if row[0] == 3]
    assert second.count(2) / len(second) == pytest.approx(0.5, abs=0.05)


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


def test_steps_draw_anew():
    """A replayed step goes on with the global generator, and is not replayed where it draws from another."""

    @mg.jit
    def step(x):
        return x + mg.zeros(3).uniform_()

    x = mg.zeros(3)
    results = [tuple(step(x).tolist()) for _ in range(5)]
    assert len(set(results)) == 5 and step.is_replaying
    g = mg.Generator()

    @mg.jit
    def other(x):
        return x + mg.rand(3, generator=g)

    results = [tuple(other(x).tolist()) for _ in range(5)]
    assert len(set(results)) == 5 and not other.is_replaying


def test_random_numbers_go_on():
    f = mg.jit(lambda x: x + mg.rand(3))
    told = []
    for k in range(8):
        if k < 2:
            mg.manual_seed(0)
        told.append(tuple(f(mg.zeros(3)).tolist()))
    assert told[0] == told[1] and len(set(told[1:])) == 7
    mg.manual_seed(0)
    assert tuple(f(mg.zeros(3)).tolist()) == told[0]


def test_generators_are_copied_and_pickled_with_their_state():
    import copy
    import pickle

    generator = mg.Generator().manual_seed(7)
    mg.rand(3, generator=generator)
    others = [copy.copy(generator), copy.deepcopy([generator, generator]), pickle.loads(pickle.dumps(generator))]
    assert others[1][0] is others[1][1]
    wanted = mg.rand(4, generator=generator).tolist()
    for other in (others[0], others[1][0], others[2]):
        assert mg.rand(4, generator=other).tolist() == wanted


@pytest.mark.parametrize(
    "draw",
    [
        mg.bernoulli,
        lambda p: p.bernoulli(),
        mg.poisson,
        lambda p: mg.normal(p, 1.0),
        lambda p: mg.normal(0.0, p),
        lambda p: mg.binomial(mg.full((3,), 4.0), p),
    ],
)
def test_gradients_of_what_was_drawn_are_zeros(draw):
    p = mg.tensor([0.0, 0.5, 1.0])
    mg.manual_seed(3)
    plain = draw(p)
    assert not plain.requires_grad
    p.requires_grad_()
    mg.manual_seed(3)
    drawn = draw(p)
    assert drawn.requires_grad and drawn.tolist() == plain.tolist() and drawn.dtype == plain.dtype
    (drawn * p).sum().backward()
    assert p.grad.tolist() == plain.tolist()
    with mg.no_grad():
        assert not draw(p).requires_grad
    half = p.detach().half().requires_grad_()
    assert half.bernoulli().dtype == mg.float16 and half.bernoulli().requires_grad


def test_means_without_end_are_drawn_about():
    mean = mg.tensor([INF, -INF], requires_grad=True)
    assert mg.normal(mean, 1.0).tolist() == [INF, -INF]


def test_integers_that_a_dtype_does_not_hold_are_not_drawn():
    for n, dtype in ((257, mg.uint8), (129, mg.int8), (2050, mg.float16), (258, mg.bfloat16)):
        with pytest.raises(RuntimeError, match=f"^randperm: .*, got n = {n}"):
            mg.randperm(n, dtype=dtype)
        assert mg.randperm(n - 1, dtype=dtype).long().sort()[0].tolist() == list(range(n - 1))
    with pytest.raises(TypeError, match="truth values"):
        mg.randperm(2, dtype=mg.bool)
    for low, high, dtype in ((0, 70_000, mg.float16), (-70_000, 0, mg.float16), (0, 300, mg.uint8), (0, 3, mg.bool)):
        text = f"draws .* not from {low} to {high - 1}"
        with pytest.raises(RuntimeError, match="^randint: " + text):
            mg.randint(low, high, (2,), dtype=dtype)
        with pytest.raises(RuntimeError, match="^random_: " + text):
            mg.zeros(2, dtype=dtype).random_(low, high)
    assert mg.randint(0, 65_505, (2,), dtype=mg.float16).isfinite().all()
    assert mg.zeros(2, dtype=mg.uint64).random_().shape == (2,)


def test_random_integers_from_a_bound_on(device):
    x = mg.empty(4000, dtype=mg.int64, device=device)
    for drawn in (x.random_(3, None), x.random_(**{"from": 3, "to": None}), x.random_(**{"from": 3})):
        assert drawn.min().item() >= 3 and drawn.max().item() > 2**61
    assert set(x.random_(3).tolist()) == {0, 1, 2} == set(x.random_(to=3).tolist())
    y = mg.empty(4000, device=device)
    assert y.random_(3, None).min().item() >= 3 and 2**23 < y.max().item() <= 2**24
    assert mg.empty(4000, dtype=mg.int8, device=device).random_(100, None).unique().tolist() == list(range(100, 128))
    signs = x.random_(-(2**63), None) < 0
    assert 0.4 < signs.double().mean().item() < 0.6
    with pytest.raises(ValueError, match="^random_: draws uint8 from 0"):
        mg.empty(2, dtype=mg.uint8).random_(-3, None)


@pytest.mark.parametrize("width", [3 * 2**30, 3 * 2**55, 3 * 2**61, 2**63 - 1])
def test_wide_ranges_are_drawn_evenly(width, device):
    x = mg.randint(0, width, (60_000,), device=device)
    assert x.min().item() >= 0 and x.max().item() < width
    thirds = [((x >= k * (width // 3)) & (x < (k + 1) * (width // 3))).double().mean().item() for k in range(3)]
    assert thirds == pytest.approx([1 / 3] * 3, abs=0.01)
    # Lower bits are as random as upper ones.
    assert (x & 1).double().mean().item() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("dtype", [mg.float64, mg.float32, mg.float16, mg.bfloat16])
def test_uniform_numbers_are_below_their_end(dtype, device):
    for low, high in ((1.0, 1 + 2 * mg.finfo(dtype).eps), (1024.0, 1024 + 2048 * mg.finfo(dtype).eps), (-1.0, 1.0)):
        x = mg.empty(4000, dtype=dtype, device=device).uniform_(low, high)
        assert low <= x.min().item() and x.max().item() < high
    assert mg.empty(2, dtype=dtype, device=device).uniform_(2.0, 2.0).tolist() == [2.0, 2.0]
    largest = mg.finfo(dtype).max
    for low, high in ((0.0, INF), (-INF, 0.0), (-largest, largest)):
        with pytest.raises(ValueError, match="^uniform_: takes bounds of"):
            mg.empty(3, dtype=dtype).uniform_(low, high)


def test_a_shape_has_to_be_given():
    for draw in (mg.rand, mg.randn):
        assert draw(()).shape == () and draw(size=(2,)).shape == (2,)
        with pytest.raises(TypeError, match="missing required argument 'size'"):
            draw()


def test_seeds_and_states_that_are_none():
    assert mg.Generator().manual_seed(1.5).initial_seed() == 1
    for wrong in (mg.zeros(3), mg.zeros(3, dtype=mg.uint8)):
        with pytest.raises(ValueError, match="^set_rng_state: takes the state that was asked for before: 16 bytes, in a tensor of uint8; got"):
            mg.set_rng_state(wrong)
