"""What is seldom asked, and was answered otherwise than by PyTorch: shapes, values and gradients are those of PyTorch."""


import micrograd_rs as L
import pytest


# Gradients of many parts of one tensor.


# Attention: a mask of truth values adds 0 or -inf.


# Quantiles.


# Truth values without axes beside tensors are indices as they are.


@pytest.mark.parametrize("wrap", [lambda step: step, L.jit])
def test_truth_values_beside_indices(wrap):
    x = L.arange(6).reshape(2, 3)
    for index, wanted in (
        ((True, [0, 1]), [[0, 1, 2], [3, 4, 5]]),
        ((True, [-1, 1], L.tensor(-3)), [3, 3]),
        ((True, ..., L.tensor([-1])), [[2, 5]]),
        ((slice(None), True, [0, 1]), [[0, 1], [3, 4]]),
        ((True, slice(None), [0, 1]), [[0, 3], [1, 4]]),
        ((None, True, [0, 1]), [[[0, 1, 2], [3, 4, 5]]]),
        ((L.tensor([0, 1]), None, True), [[[0, 1, 2]], [[3, 4, 5]]]),
        ((True,), [[[0, 1, 2], [3, 4, 5]]]),
        ((True, 0), [[0, 1, 2]]),
    ):
        step = wrap(lambda x, index=index: x[index])
        for _ in range(3):
            assert step(x).tolist() == wanted
    assert x[False, None, L.tensor([0])].shape == (0, 1, 3)
    with pytest.raises(IndexError):
        x[False, [0, 1]].tolist()


def test_what_truth_values_beside_indices_pick_is_written_to():
    x = L.arange(6).reshape(2, 3)
    x[True, [0, 1], [1, 1]] = 9
    assert x.tolist() == [[0, 9, 2], [3, 9, 5]]
    x[False, [0], [1]] = 7
    assert x.tolist() == [[0, 9, 2], [3, 9, 5]]
    x = L.arange(6.0).reshape(2, 3).requires_grad_()
    x[True, [0, 1], [1, 1]].sum().backward()
    assert x.grad.tolist() == [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]


# Random numbers within their bounds.


@pytest.mark.parametrize("dtype", [L.float16, L.bfloat16])
@pytest.mark.parametrize("bounds", [(0, 1), (1, 2), (-2, -1), (-1, 0), (0, 2), (-3, 5), (1000, 1001)])
def test_uniform_numbers_of_halves_stay_below_their_bound(dtype, bounds):
    L.manual_seed(0)
    low, high = bounds
    x = L.empty(200_000, dtype=dtype).uniform_(low, high)
    assert low <= x.min().item() and x.max().item() < (high if dtype == L.float16 or high < 1000 else 1002)
    if high < 1000:
        assert x.max().item() > high - 0.02 * max(1, high - low)


def test_random_integers_that_the_dtype_does_not_hold():
    for low, high, dtype in ((0, 300, L.uint8), (-1, 2, L.uint8), (0, 200, L.int8), (0, 3, L.bool), (0, 70000, L.int16)):
        with pytest.raises((ValueError, RuntimeError), match="draws"):
            L.randint(low, high, (8,), dtype=dtype)
    with pytest.raises((ValueError, RuntimeError), match="draws"):
        L.randint_like(L.zeros(3, dtype=L.uint8), 300)
    assert L.randint(0, 256, (500,), dtype=L.uint8).max().item() > 200
    assert L.randint(-128, 128, (500,), dtype=L.int8).min().item() < -60
    assert set(L.randint(0, 2, (100,), dtype=L.bool).tolist()) == {True, False}
    assert L.randint(0, 1000, (3,), dtype=L.float16).dtype == L.float16


def test_random_integers_of_the_whole_range():
    L.manual_seed(0)
    x = L.randint(-(2**63), 2**63 - 1, (4000,)).tolist()
    assert min(x) < -(2**62) and max(x) > 2**62
    assert abs(sum(v > 0 for v in x) - 2000) < 200
    assert len({v % 2**20 for v in x}) > 3900
    x = L.randint(-(2**62) - 2**61, 2**62 + 2**61, (4000,)).tolist()
    assert -(2**62) - 2**61 <= min(x) < -(2**62) and 2**62 < max(x) < 2**62 + 2**61


# Transposed convolutions whose output padding is less than a dilation.


# Images read at places.


# Functions that say that there is no gradient.


# What a function under vmap writes to its arguments is theirs.
