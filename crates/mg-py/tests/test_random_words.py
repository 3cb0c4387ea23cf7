"""docs/random.md: which words of Philox an operation takes, and what it makes of them, computed again from a generator that is written here."""

from __future__ import annotations

import math
from pathlib import Path

import micrograd_rs as mg
import numpy as np
import pytest
from micrograd_rs.nn import functional as F

PAGE = Path(__file__).parents[3] / "docs/random.md"
SEED = 0x1234_5678_9ABC_DEF1
ROUNDS = 10


def philox(counter, key, upper=0):
    """Philox4x32-10 of 64-bit counters, with 64 bits above them: four words of each (Salmon et al., 2011)."""
    low = np.uint64(0xFFFF_FFFF)
    upper = np.full_like(counter, upper)
    words = [counter & low, counter >> np.uint64(32), upper & low, upper >> np.uint64(32)]
    k = [key & 0xFFFF_FFFF, key >> 32]
    for _ in range(ROUNDS):
        a, b = words[0] * np.uint64(0xD251_1F53), words[2] * np.uint64(0xCD9E_8D57)
        hi = [(b >> np.uint64(32)) ^ words[1] ^ np.uint64(k[0]), (a >> np.uint64(32)) ^ words[3] ^ np.uint64(k[1])]
        words = [hi[0], b & low, hi[1], a & low]
        k = [(k[0] + 0x9E37_79B9) & 0xFFFF_FFFF, (k[1] + 0xBB67_AE85) & 0xFFFF_FFFF]
    return words


def uniform(first, n, double, seed=SEED):
    """The numbers at `n` positions from `first` on."""
    at = np.arange(first, first + n, dtype=np.uint64)
    if not double:
        words = np.stack(philox(at // np.uint64(4), seed))
        word = words[(at % np.uint64(4)).astype(int), np.arange(n)]
        return (word >> np.uint64(8)).astype(np.float32) * np.float32(2**-24)
    words = np.stack(philox(at // np.uint64(2) + np.uint64(1 << 63), seed))
    pair = (at % np.uint64(2)).astype(int) * 2
    bits = (words[pair, np.arange(n)] << np.uint64(32)) | words[pair + 1, np.arange(n)]
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def weights_that_stay(drawn, queries, keys, p):
    """Which weights of attention stay: `[heads, queries, keys]`, of two numbers for each head."""
    words = (drawn.reshape(-1, 2) * 2.0**32).astype(np.uint64)
    i, j = np.meshgrid(np.arange(queries, dtype=np.uint64), np.arange(keys, dtype=np.uint64), indexing="ij")
    stay = []
    for a, b in words:
        block = np.stack(philox(j // np.uint64(8) | i << np.uint64(32), 0, a | b << np.uint64(32)))
        word = np.take_along_axis(block, (j % np.uint64(4)).astype(int)[None], 0)[0]
        number = np.where(j % np.uint64(8) < np.uint64(4), word & np.uint64(0xFFFF), word >> np.uint64(16))
        stay.append(number >= np.uint64(math.floor(65536 * p + 0.5)))
    return np.stack(stay)


def normal(first, n, double):
    """Box and Muller: pairs of neighbours."""
    u = uniform(first, n + n % 2, double).astype(np.float64)
    radius, turn = np.sqrt(-2 * np.log1p(-u[::2])), 2 * math.pi * u[1::2]
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], 1).ravel()[:n]


def after(n):
    """The position that a draw of `n` ends at."""
    return (n + 3) // 4 * 4


@pytest.fixture
def generator():
    return mg.Generator().manual_seed(SEED)


def position(generator):
    return int(np.frombuffer(bytes(generator.get_state().tolist()), dtype="<u8")[1])


def close(tensor, want, double):
    np.testing.assert_allclose(tensor.double().cpu().numpy(), np.asarray(want, dtype=np.float64), rtol=1e-13 if double else 2e-6, atol=1e-15 if double else 1e-7)


def same(tensor, want):
    np.testing.assert_array_equal(tensor.cpu().numpy(), want)


def test_known_answers():
    """Of Random123's file of known answers, those with a counter of 64 bits."""
    words = philox(np.zeros(1, dtype=np.uint64), 0)
    assert [int(w[0]) for w in words] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


DOUBLE = pytest.mark.parametrize("double", [False, True])
N = 1003


@DOUBLE
def test_uniform(device, generator, double):
    dtype = mg.float64 if double else mg.float32
    same(mg.rand(N, generator=generator, dtype=dtype, device=device), uniform(0, N, double))
    assert position(generator) == after(N)
    # What comes next begins at a whole block, and the position may be any.
    same(mg.rand(3, generator=generator, dtype=dtype, device=device), uniform(after(N), 3, double))
    assert position(generator) == after(N) + 4
    state = np.array([SEED, 2**40 + 5], dtype="<u8").tobytes()
    generator.set_state(mg.tensor(list(state), dtype=mg.uint8))
    same(mg.rand(9, generator=generator, dtype=dtype, device=device), uniform(2**40 + 5, 9, double))
    at = position(generator)
    x = mg.empty(7, dtype=dtype, device=device).uniform_(-2, 3, generator=generator)
    close(x, uniform(at, 7, double).astype(np.float64) * 5 - 2, double)


def test_the_global_generator_and_negative_seeds(device):
    mg.manual_seed(11)
    same(mg.rand(2, 3, device=device), uniform(0, 6, False, seed=11).reshape(2, 3))
    same(mg.rand_like(mg.empty(2, dtype=mg.float64, device=device)), uniform(8, 2, True, seed=11))
    generator = mg.Generator().manual_seed(-5)
    same(mg.rand(5, generator=generator, device=device), uniform(0, 5, False, seed=2**64 - 5))
    assert mg.Generator().initial_seed() == 67280421310721


@pytest.mark.parametrize("dtype", [mg.float16, mg.bfloat16])
def test_halves(device, generator, dtype):
    u = uniform(0, 4000, False)
    got = mg.rand(4000, generator=generator, dtype=dtype, device=device)
    most = 1 - mg.finfo(dtype).eps / 2
    want = mg.tensor(u).to(dtype).minimum(mg.tensor(most, dtype=dtype))
    assert mg.equal(got.cpu(), want)
    got = mg.empty(8, dtype=dtype, device=device).bernoulli_(0.25, generator=generator)
    same(got.float(), uniform(4000, 8, False) < np.float32(0.25))


@DOUBLE
def test_normal(device, generator, double):
    dtype = mg.float64 if double else mg.float32
    close(mg.randn(N, generator=generator, dtype=dtype, device=device), normal(0, N, double), double)
    assert position(generator) == after(N)
    z = normal(after(N), 6, double)
    close(mg.empty(6, dtype=dtype, device=device).normal_(2, 3, generator=generator), z * 3 + 2, double)
    z = normal(after(N) + 8, 5, double)
    x = mg.empty(5, dtype=dtype, device=device).log_normal_(0.5, 0.25, generator=generator)
    close(x, np.exp(z * 0.25 + 0.5), double)
    means = mg.arange(4, dtype=dtype, device=device)
    close(mg.normal(means, 2.0, generator=generator), normal(after(N) + 16, 4, double) * 2 + np.arange(4), double)


@DOUBLE
def test_of_one_uniform_number(device, generator, double):
    dtype = mg.float64 if double else mg.float32
    surprise = lambda at, n: -np.log1p(-uniform(at, n, double).astype(np.float64))  # noqa: E731
    x = mg.empty(N, dtype=dtype, device=device)
    at = 0
    close(x.exponential_(0.5, generator=generator), surprise(at, N) * 2, double)
    at += after(N)
    got = x.geometric_(0.25, generator=generator).double().cpu().numpy()
    want = np.floor(surprise(at, N) / -math.log1p(-0.25)) + 1
    # A number at the edge of two may be rounded to the other one in f32.
    assert (got != want).sum() <= (0 if double else 2) and abs(got - want).max() <= 1
    at += after(N)
    angle = math.pi * (uniform(at, N, double).astype(np.float64) - 0.5)
    got = x.cauchy_(3, 2, generator=generator).double().cpu().numpy()
    np.testing.assert_allclose(got, np.tan(angle) * 2 + 3, rtol=1e-10 if double else 1e-3, atol=1e-10 if double else 1e-4)
    at += after(N)
    p = mg.linspace(0, 1, N, dtype=dtype, device=device)
    same(mg.bernoulli(p, generator=generator).double(), uniform(at, N, double) < p.cpu().numpy())
    assert position(generator) == at + after(N)


def test_integers(device, generator):
    draw = lambda low, high, n: mg.randint(low, high, (n,), generator=generator, device=device)  # noqa: E731
    same(draw(-3, 1000, N), np.floor(uniform(0, N, True) * 1003).astype(int) - 3)
    at = after(N)
    same(draw(0, 2**53 - 1, 6), np.floor(uniform(at, 6, True) * (2**53 - 1)).astype(int))
    at += 8
    width = 2**60 + 12345
    upper, lower = (uniform(first, 5, True).tolist() for first in (at, at + 8))
    want = [((int(u * 2**32) << 32 | int(v * 2**32)) * width >> 64) - 7 for u, v in zip(upper, lower, strict=True)]
    assert draw(-7, width - 7, 5).tolist() == want
    at += 16
    low, high = -(2**63), 2**63 - 2
    upper, lower = (uniform(first, 4, True).tolist() for first in (at, at + 4))
    want = [((int(u * 2**32) << 32 | int(v * 2**32)) * (high - low) >> 64) + low for u, v in zip(upper, lower, strict=True)]
    assert draw(low, high, 4).tolist() == want
    at += 8
    x = mg.empty(5, dtype=mg.int16, device=device).random_(10, 20, generator=generator)
    same(x, np.floor(uniform(at, 5, True) * 10).astype(int) + 10)
    assert position(generator) == at + 8


def test_permutations(device, generator):
    same(mg.randperm(N, generator=generator, device=device), np.argsort(uniform(0, N, True), kind="stable"))
    assert position(generator) == after(N)


@DOUBLE
def test_multinomial(device, generator, double):
    weights = np.array([[0.1, 0.0, 2.0, 0.5, 1.0], [3.0, 1.0, 1.0, 0.25, 0.0]])
    w = mg.tensor(weights, dtype=mg.float64 if double else mg.float32, device=device)
    u = uniform(0, 10, double).reshape(2, 5).astype(np.float64)
    race = weights / -np.log(u + 2.0**-26)
    same(w.multinomial(1, generator=generator), race.argmax(1)[:, None])
    u = uniform(12, 10, double).reshape(2, 5).astype(np.float64)
    same(w.multinomial(3, generator=generator), np.argsort(-weights / -np.log(u + 2.0**-26), axis=1)[:, :3])
    places = uniform(24, 14, True).reshape(2, 7) * weights.sum(1, keepdims=True)
    want = [np.searchsorted(row.cumsum(), place, side="right") for row, place in zip(weights, places, strict=True)]
    same(w.multinomial(7, replacement=True, generator=generator), want)
    assert position(generator) == 24 + 16


def test_poisson(device, generator):
    rates = np.array([0.0, 0.1, 1.0, 3.5, 20.0, 400.0] * 40)
    u = uniform(0, len(rates), True)
    got = mg.poisson(mg.tensor(rates, dtype=mg.float32, device=device), generator=generator)
    assert position(generator) == after(len(rates))

    def quantile(rate, p):
        k, sum_, log = 0, 0.0, -rate
        while rate > 0:
            sum_ += math.exp(log)
            if sum_ >= p:
                break
            k += 1
            log += math.log(rate / k)
        return k

    same(got, [quantile(*pair) for pair in zip(rates, u, strict=True)])


@DOUBLE
def test_gamma(device, generator, double):
    alphas = np.array([0.3, 0.9, 1.0, 2.5, 40.0] * 30)
    n, dtype = len(alphas), mg.float64 if double else mg.float32
    got = mg._ops.standard_gamma(mg.tensor(alphas, dtype=dtype, device=device), generator=generator)
    raised = np.where(alphas < 1, alphas + 1, alphas)
    d = raised - 1 / 3
    c, want, at = np.sqrt(9 * d), np.full(n, np.nan), 0
    for _ in range(8):
        z, u = normal(at, n, double), uniform(at + after(n), n, double).astype(np.float64)
        at += 2 * after(n)
        v = (1 + z / c) ** 3
        there = v > 0
        v = np.where(there, v, 1)
        with np.errstate(divide="ignore"):
            accepted = there & (np.log(u) < z * z / 2 + d * (1 - v + np.log(v)))
        want = np.where(np.isnan(want) & accepted, d * v, want)
    u = 1 - uniform(at, n, double).astype(np.float64)
    want = np.where(alphas < 1, want * u ** (1 / alphas), want)
    assert position(generator) == at + after(n) == 17 * after(n)
    np.testing.assert_allclose(got.double().cpu().numpy(), want, rtol=1e-11 if double else 2e-5)


def test_distributions_of_gamma(device):
    at = lambda: int(np.frombuffer(bytes(mg.get_rng_state().tolist()), dtype="<u8")[1])  # noqa: E731
    own = mg._ops.standard_gamma
    a, b = mg.tensor([0.5, 3.0], device=device), mg.tensor([2.0, 0.25], device=device)
    for sample, parts in (
        (lambda: mg.distributions.Gamma(a, 2.0).sample(), lambda: own(a) / 2),
        (lambda: mg.distributions.Beta(a, b).sample(), lambda: (lambda x, y: x / (x + y))(own(a), own(b))),
        (lambda: mg.distributions.Dirichlet(a).sample(), lambda: (lambda x: x / x.sum())(own(a))),
        (lambda: mg.distributions.Binomial(5, mg.tensor(0.3, device=device)).sample(), lambda: (mg.rand(5, device=device) < 0.3).sum(0)),
        (lambda: mg.distributions.Normal(a, b).sample(), lambda: a + b * mg.randn(2, device=device)),
        (lambda: mg.distributions.Poisson(a).sample(), lambda: mg.poisson(a)),
    ):
        mg.manual_seed(3)
        sample = sample().double()
        drawn = at()
        mg.manual_seed(3)
        assert mg.allclose(sample, parts().double(), rtol=1e-6) and at() == drawn > 0


@pytest.mark.parametrize("dtype", [mg.float64, mg.float32, mg.float16])
def test_dropout(device, dtype):
    mg.manual_seed(SEED)
    x = mg.ones(2, 3, 5, dtype=dtype, device=device)
    same(F.dropout(x, 0.3) != 0, (uniform(0, 30, False) >= np.float32(0.3)).reshape(2, 3, 5))
    same(F.dropout1d(x, 0.5)[:, :, 0] != 0, (uniform(32, 6, False) >= 0.5).reshape(2, 3))
    mg.manual_seed(SEED)
    q = mg.zeros(1, 2, 4, dtype=dtype, device=device)
    F.dropout(x, 0.0), F.rrelu(x), F.dropout(x, 0.5, training=False)
    F.scaled_dot_product_attention(q, q, q, dropout_p=2.0**-18)
    same(mg.rand(2, device=device), uniform(0, 2, False))


@pytest.mark.parametrize("dtype", [mg.float64, mg.float32, mg.float16])
@pytest.mark.parametrize("p", [0.1, 0.75])
def test_weights_of_attention(device, dtype, p):
    """Of values that are an identity the means are the weights."""
    mg.manual_seed(SEED)
    q = mg.zeros(2, 3, 70, 8, dtype=dtype, device=device)
    k = mg.zeros(2, 3, 45, 8, dtype=dtype, device=device)
    got = F.scaled_dot_product_attention(q, k, mg.eye(45, dtype=dtype, device=device).expand(2, 3, 45, 45), dropout_p=p)
    stay = weights_that_stay(uniform(0, 12, True), 70, 45, p)
    same(got.reshape(6, 70, 45) != 0, stay)
    t = math.floor(65536 * p + 0.5)
    assert got.max().item() == pytest.approx(65536 / (65536 - t) / 45, rel=2e-3)
    same(mg.rand(2, device=device), uniform(12, 2, False))


@DOUBLE
def test_slopes_and_softmax(device, double):
    dtype = mg.float64 if double else mg.float32
    mg.manual_seed(SEED)
    x = mg.full((9,), -1.0, dtype=dtype, device=device)
    close(-F.rrelu(x, 0.1, 0.3, training=True), uniform(0, 9, double).astype(np.float64) * (0.3 - 0.1) + 0.1, double)
    u = uniform(12, 9, double).astype(np.float64)
    noise = -np.log(np.maximum(-np.log1p(-u), 2.0**-25))
    want = np.exp(noise) / np.exp(noise).sum()
    np.testing.assert_allclose(F.gumbel_softmax(x).double().cpu().numpy(), want, rtol=1e-12 if double else 2e-5)


def test_examples_of_a_batch(device):
    mg.manual_seed(SEED)
    got = mg.func.vmap(lambda x: x + mg.rand(3, device=device), randomness="different")(mg.zeros(2, 3, device=device))
    at = int(np.frombuffer(bytes(mg.get_rng_state().tolist()), dtype="<u8")[1]) - after(6)
    same(got, uniform(at, 6, False).reshape(2, 3))


def test_the_page_is_where_the_words_say():
    assert "docs/random.md" in mg.Generator.__doc__ and PAGE.is_file()
