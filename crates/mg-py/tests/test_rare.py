"""What is seldom asked, and was answered otherwise than by PyTorch: shapes, values and gradients are those of PyTorch."""

import math

import micrograd_rs as L
import pytest

F = L.nn.functional
INF, NAN = math.inf, math.nan


# Gradients of many parts of one tensor.


# Attention: a mask of truth values adds 0 or -inf.


@pytest.mark.parametrize("dtype", [L.float32, L.float64, L.float16, L.bfloat16])
@pytest.mark.parametrize("lead", [(1, 1), (1, 1, 1)])
def test_attention_of_scores_that_are_no_numbers(dtype, lead):
    q, k, v = (L.ones(*lead, 3, 4, dtype=dtype) for _ in range(3))
    q[..., 1, :] = NAN
    mask = L.zeros(3, 3, dtype=L.bool)
    mask[2] = True
    answer = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).reshape(3, 4)[:, 0].tolist()
    assert str(answer) == "[0.0, nan, 1.0]"
    q, k = L.ones(*lead, 3, 4, dtype=dtype), k.clone()
    k[..., 2, :] = NAN
    mask = L.tensor([[True, True, False], [True, False, False], [False, False, False]])
    answer = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert answer.isnan().all()
    assert F.scaled_dot_product_attention(q, k, v, is_causal=True).reshape(3, 4)[:, 0].isnan().tolist() == [False, False, True]


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


def test_output_padding_between_stride_and_dilation():
    x, w = L.arange(32.0).reshape(2, 4, 4), L.arange(72.0).reshape(4, 6, 3) / 10
    at = lambda **how: F.conv_transpose1d(x, w, L.arange(6.0), **how)
    whole = at(stride=1, dilation=4)
    for padding in (0, 1, 2, 3):
        for more in (0, 1, 2, 3):
            got = at(stride=1, padding=padding, output_padding=more, dilation=4)
            assert got.shape == (2, 6, 12 - 2 * padding + more)
            # Less is cut off behind; where there is no more, the bias alone.
            kept = whole[..., padding : min(12, 12 - padding + more)]
            bias = L.arange(6.0).reshape(1, 6, 1).expand(2, 6, max(0, more - padding))
            L.testing.assert_close(got, L.cat([kept, bias], 2))
    with pytest.raises((ValueError, RuntimeError), match="output_padding"):
        at(stride=2, output_padding=2, dilation=2)
    assert L.nn.ConvTranspose2d(2, 3, 3, dilation=2, output_padding=1)(L.ones(1, 2, 4, 4)).shape == (1, 3, 9, 9)


def test_gradients_of_output_padding():
    w = (L.arange(36.0).reshape(2, 3, 3, 2) / 10).requires_grad_()
    x = L.arange(36.0).reshape(2, 2, 3, 3).requires_grad_()
    y = F.conv_transpose2d(x, w, stride=(1, 2), padding=(1, 2), output_padding=(2, 3), dilation=(3, 4))
    (y * y).sum().backward()
    assert y.shape == (2, 3, 9, 8)
    assert (y.sum().item(), w.grad.sum().item()) == pytest.approx((17384.4004, 2157657.5))
    assert x.grad[0, 0, 0].tolist() == pytest.approx([746.4, 715.32, 1110.96])


# Images read at places.


def test_bicubic_volumes():
    x = (L.arange(240.0).reshape(1, 2, 4, 5, 6) % 7).requires_grad_()
    grid = (L.arange(36.0).reshape(1, 2, 3, 2, 3) / 18 - 1.02).requires_grad_()
    y = F.grid_sample(x, grid, mode="bicubic", padding_mode="border", align_corners=False)
    wanted = [-1.1, 0.01, 1.47, 1.23, 2.22, 3.21, 3.89, 4.39, 4.33, 2.89, 2.61, -0.28]
    assert y.flatten()[:12].tolist() == pytest.approx(wanted, abs=0.006)
    (y * y).sum().backward()
    assert grid.grad.flatten()[:6].tolist() == pytest.approx([1.6, 4.6, -0.1, 3.4, -3.7, 5.9], abs=0.06)


def test_the_grid_of_the_nearest_has_a_gradient_of_zeros():
    x, grid = L.arange(16.0).reshape(1, 1, 4, 4).requires_grad_(), L.zeros(1, 2, 2, 2).requires_grad_()
    F.grid_sample(x, grid, mode="nearest", align_corners=False).sum().backward()
    assert grid.grad.tolist() == L.zeros(1, 2, 2, 2).tolist() and x.grad.sum().item() == 4.0
    grid = L.zeros(1, 2, 2, 2).requires_grad_()
    F.grid_sample(x.detach(), grid, mode="nearest", align_corners=False).sum().backward()
    assert grid.grad.abs().sum().item() == 0.0


# Functions that say that there is no gradient.


# What a function under vmap writes to its arguments is theirs.
