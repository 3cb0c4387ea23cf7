"""Convolutions and transposed ones as PyTorch has them: paddings, results without elements, gradients, other names and forms of arguments."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import nn
from micrograd_rs.nn import functional as F


def test_convolutions_by_other_names(device):
    x, w, b = mg.rand(7, 2, 3, device=device), mg.rand(3, 3, 4, device=device), mg.rand(4, device=device)
    got = mg.conv_tbc(x, w, b, 1)
    assert got.shape == (7, 2, 4) and F.conv_tbc(x, w, b).shape == (5, 2, 4)
    # One element as it is defined.
    wanted = sum((x[2 + k, 1] @ w[k, :, 3] for k in range(3)), b[3])
    close(got[3, 1, 3], wanted, 1e-4)
    x, w, b = mg.rand(2, 4, 6, 6, device=device), mg.rand(4, 2, 3, 3, device=device), mg.rand(4, device=device)
    sizes = [2, 1], [1, 0], [1, 2]
    close(mg.convolution(x, w, b, *sizes, False, [0, 0], 2), F.conv2d(x, w, b, *sizes, 2))
    close(mg.convolution(x, w, b, *sizes, True, [1, 0], 2), F.conv_transpose2d(x, w, b, sizes[0], sizes[1], [1, 0], 2, sizes[2]))
    with pytest.raises(ValueError, match="a weight of 3 to 5 axes"):
        mg.convolution(x, b, None, [1], [0], [1], False, [0], 1)
    assert mg.equal(mg.native_channel_shuffle(x, 2), F.channel_shuffle(x, 2))


def test_a_convolution_takes_one_number_in_a_list():
    x = mg.arange(50.0).reshape(1, 2, 5, 5)
    for kind, options in (
        (nn.Conv2d, {"stride": 2, "padding": 1, "dilation": 1}),
        (nn.Conv2d, {"padding": 2, "dilation": 2, "padding_mode": "circular"}),
        (nn.ConvTranspose2d, {"stride": 2, "padding": 1, "output_padding": 1}),
    ):
        one = kind(2, 4, 3, **options)
        several = kind(2, 4, 3, **{name: [n] if isinstance(n, int) else n for name, n in options.items()})
        several.load_state_dict(one.state_dict())
        assert several.stride == one.stride and mg.equal(several(x), one(x))
    with pytest.raises(ValueError, match="kernel_size takes 2 numbers"):
        nn.Conv2d(2, 4, [3])
    with pytest.raises(ValueError, match="stride takes 2 numbers"):
        nn.Conv2d(2, 4, 3, stride=[1, 1, 1])


@pytest.mark.parametrize(
    ("name", "input", "weight", "options"),
    [
        ("1d", (2, 4, 9), (6, 2, 3), dict(stride=2, padding=1, groups=2)),
        ("2d", (2, 4, 9, 8), (6, 4, 3, 2), dict(stride=(2, 1), dilation=2)),
        ("3d", (1, 2, 5, 5, 5), (3, 2, 2, 2, 2), dict(padding=1)),
    ],
)
def test_gradients_of_convolutions(device, name, input, weight, options):
    x, w = mg.rand(input, device=device, requires_grad=True), mg.rand(weight, device=device, requires_grad=True)
    y = getattr(F, f"conv{name}")(x, w, **options)
    g = mg.rand_like(y)
    by_x, by_w = mg.autograd.grad(y, [x, w], g)
    close(getattr(nn.grad, f"conv{name}_input")(input, w.detach(), g, **options), by_x, 1e-4)
    with mg.no_grad():
        got = getattr(nn.grad, f"conv{name}_weight")(x, weight, g, **options)
    close(got, by_w, 1e-4)
    assert not got.requires_grad
    # Of second order: the gradient is linear in the weight.
    first = getattr(nn.grad, f"conv{name}_input")(input, w, g, **options)
    (second,) = mg.autograd.grad(first, [w], mg.ones_like(first))
    close(mg.autograd.grad(getattr(F, f"conv{name}")(mg.ones_like(x), w, **options), [w], g)[0], second, 1e-4)


@pytest.mark.parametrize("dtype", [mg.float32, mg.float64, mg.float16])
def test_padding_is_zeros_for_what_is_infinite(dtype):
    """Whatever the batch and the channels, which kernels are chosen by."""
    inf, nan = float("inf"), float("nan")
    mg.manual_seed(0)
    for size, special in ((1, inf), (3, -inf), (3, nan)):
        for channels in (1, 4, 5, 16, 33):
            w = mg.randn(channels, 1, size, size).to(dtype)
            w[0, 0, 0, 0] = special
            x = mg.randn(1, 1, 12, 12).abs().add(1).to(dtype)
            for n in (1, 3, 4, 14):
                y = F.conv2d(x.repeat(n, 1, 1, 1), w, padding=2)
                wanted = mg.zeros(y.shape[2:])
                wanted[:2] = wanted[:, :2] = 1
                if size == 1:
                    wanted[-2:] = wanted[:, -2:] = 1
                if special != special:
                    wanted[:] = 1
                assert mg.equal(y[:, 0].isnan(), (wanted > 0).expand(n, *wanted.shape)), (size, special, channels, n)
                assert y[:, 1:].isfinite().all()
                # What is multiplied in the gradients: zeros beyond the edge by the result's, but no results that are not there.
                g = mg.zeros_like(y)
                g[-1, 0, 0, 0] = inf
                by_w = nn.grad.conv2d_weight(x.repeat(n, 1, 1, 1), w.shape, g, padding=2)
                assert by_w[0].isnan().sum() == (1 if size == 1 else 8) and by_w[1:].isfinite().all()
                by_x = nn.grad.conv2d_input((n, 1, 12, 12), w, mg.ones_like(y), padding=2)
                inside = by_x[0, 0, : 14 - size + 1, : 14 - size + 1]
                assert (inside.isnan() if special != special else inside == special).all() and by_x.isnan().any() == (special != special)


# Transposed ones.


def test_a_transposed_convolution_leaves_something():
    for padding in (1, 2):
        for batch in (1, 2):
            with pytest.raises(ValueError, match=rf"a padding of \[{padding}\] leaves none of 2 positions"):
                F.conv_transpose1d(mg.zeros(batch, 1, 2), mg.ones(1, 1, 1), padding=padding)
    with pytest.raises(ValueError, match="leaves none"):
        F.conv_transpose2d(mg.zeros(1, 1, 2, 5), mg.ones(1, 1, 1, 1), padding=1)
    assert F.conv_transpose1d(mg.zeros(0, 1, 3), mg.ones(1, 1, 1), padding=1).shape == (0, 1, 1)


def test_output_padding_between_stride_and_dilation():
    x, w = mg.arange(32.0).reshape(2, 4, 4), mg.arange(72.0).reshape(4, 6, 3) / 10
    at = lambda **how: F.conv_transpose1d(x, w, mg.arange(6.0), **how)
    whole = at(stride=1, dilation=4)
    for padding in (0, 1, 2, 3):
        for more in (0, 1, 2, 3):
            got = at(stride=1, padding=padding, output_padding=more, dilation=4)
            assert got.shape == (2, 6, 12 - 2 * padding + more)
            # Less is cut off behind; where there is no more, the bias alone.
            kept = whole[..., padding : min(12, 12 - padding + more)]
            bias = mg.arange(6.0).reshape(1, 6, 1).expand(2, 6, max(0, more - padding))
            mg.testing.assert_close(got, mg.cat([kept, bias], 2))
    with pytest.raises((ValueError, RuntimeError), match="output_padding"):
        at(stride=2, output_padding=2, dilation=2)
    assert mg.nn.ConvTranspose2d(2, 3, 3, dilation=2, output_padding=1)(mg.ones(1, 2, 4, 4)).shape == (1, 3, 9, 9)


def test_gradients_of_output_padding():
    w = (mg.arange(36.0).reshape(2, 3, 3, 2) / 10).requires_grad_()
    x = mg.arange(36.0).reshape(2, 2, 3, 3).requires_grad_()
    y = F.conv_transpose2d(x, w, stride=(1, 2), padding=(1, 2), output_padding=(2, 3), dilation=(3, 4))
    (y * y).sum().backward()
    assert y.shape == (2, 3, 9, 8)
    assert (y.sum().item(), w.grad.sum().item()) == pytest.approx((17384.4004, 2157657.5))
    assert x.grad[0, 0, 0].tolist() == pytest.approx([746.4, 715.32, 1110.96])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_integers_are_convolved_in_their_own_arithmetic(axes, dtype):
    dtype = getattr(mg, dtype)
    forward, backward = getattr(F, f"conv{axes}d"), getattr(F, f"conv_transpose{axes}d")
    x = mg.randint(0, 5, (2, 4, 6, 5, 4)[: axes + 2], dtype=dtype)
    w = mg.randint(0, 5, (6, 2, 3, 2, 2)[: axes + 2], dtype=dtype)
    b = mg.randint(0, 5, (6,), dtype=dtype)

    def same(f, x, w, b, *told):
        y = f(x, w, b, *told)
        assert y.dtype == dtype and y.tolist() == f(x.double(), w.double(), b.double(), *told).to(mg.int64).to(dtype).tolist()

    for told in ((1, 0, 1, 2), (2, 1, 1, 2), (1, 2, 2, 2), (3, 1, 2, 2)):
        same(forward, x, w, b, *told)
    same(forward, x[0], w, b, 1, "same", 1, 2)
    w = mg.randint(0, 5, (4, 3, 3, 2, 2)[: axes + 2], dtype=dtype)
    for told in ((1, 0, 0, 2, 1), (2, 1, 1, 2, 1), (3, 0, 2, 2, 2), (1, 3, 1, 2, 3), (2, 0, 0, 2, 1)):
        same(backward, x, w, b, *told)


def test_large_integers_are_convolved_exactly():
    assert F.conv1d(mg.full((1, 1, 3), 2**53 + 1), mg.ones(1, 1, 2, dtype=mg.int64)).tolist() == [[[2**54 + 2] * 2]]
    with pytest.raises(TypeError, match="takes a bias of integers for int64, got float32"):
        F.conv1d(mg.ones(1, 1, 3, dtype=mg.int64), mg.ones(1, 1, 2, dtype=mg.int64), mg.ones(1))
    with pytest.raises(TypeError, match="takes numbers, got bool and bool"):
        F.conv1d(mg.ones(1, 1, 3, dtype=mg.bool), mg.ones(1, 1, 2, dtype=mg.bool))
    with pytest.raises(ValueError):
        F.conv1d(mg.ones(1, 1, 3, dtype=mg.int64), mg.ones(1, 1, 4, dtype=mg.int64))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_kernel_that_does_not_fit_is_told_with_the_axes_that_there_are(axes):
    layer = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[axes - 1](2, 3, 9)
    text = rf"a kernel of \[{', '.join('9' * axes)}\] does not fit an input of \[{', '.join('4' * axes)}\] with its padding"
    with pytest.raises(ValueError, match=text):
        layer(mg.ones(1, 2, *[4] * axes))


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_work_behind_a_convolution_changes_no_bit(device, dtype):
    # Images, channels, lines, columns, filters, side of the kernel, step, padding: whole and broken tiles, planes that are fours and that are not.
    cases = [
        (2, 16, 9, 12, 24, 3, 1, 1), (3, 8, 7, 7, 40, 3, 1, 1), (2, 64, 12, 12, 136, 3, 1, 1), (5, 32, 10, 10, 64, 3, 1, 0), (3, 64, 8, 8, 96, 1, 1, 0), (2, 40, 14, 14, 72, 3, 2, 1),
        (2, 3, 20, 24, 64, 7, 2, 3), (4, 1, 14, 14, 32, 3, 1, 0), (1, 16, 12, 12, 20, 5, 1, 2),
    ]
    mg.manual_seed(0)
    for n, c, high, wide, o, side, stride, padding in cases:
        x, w, point = mg.randn(n, c, high, wide), mg.randn(o, c, side, side), mg.eye(o).reshape(o, o, 1, 1)
        shape = F.conv2d(x, w, stride=stride, padding=padding).shape
        bias, scale, beside = mg.randn(o, 1, 1), mg.randn(o, 1, 1), mg.randn(*shape)
        beside.view(-1)[:3] = mg.tensor([float("inf"), float("nan"), -0.0])
        x, w, point, bias, beside = (t.to(dtype).to(device) for t in (x, w, point, bias, beside))
        scale = scale.to(device)

        def by_itself(t):
            return mg.tensor(t.float().tolist(), device=device).to(dtype)

        works = {
            "bias": lambda y, bias=bias: F.relu(y + bias),
            "norm": lambda y, scale=scale, bias=bias, beside=beside: F.relu(((y.float() - bias.float()) * scale).to(y.dtype) + beside),
            "both": lambda y, bias=bias: (y + bias).sigmoid() * y,
        }
        for name, work in works.items():
            y = by_itself(F.conv2d(x, w, stride=stride, padding=padding))
            wanted = work(y).float().tolist()
            got = work(F.conv2d(x, w, stride=stride, padding=padding)).float()
            wanted = mg.tensor(wanted, device=device)
            assert mg.equal(got.isnan(), wanted.isnan()) and mg.equal(got.nan_to_num(), wanted.nan_to_num()), (name, dtype, w.shape)
            # Products of matrices are added up in another order where channels are innermost.
            if name == "norm" or side == 1:
                continue
            # A layer of one element reads it, for which channels may be innermost.
            inner = F.conv2d(work(F.conv2d(x, w, stride=stride, padding=padding)), point).float()
            assert mg.equal(inner, wanted), (name, dtype, w.shape)


def test_gradients_of_what_is_behind_a_convolution(device):
    mg.manual_seed(0)
    sizes = [(3, 16, 3, 1, 1), (16, 32, 3, 1, 1), (32, 32, 1, 1, 0), (32, 24, 3, 2, 1)]
    x = mg.randn(4, 3, 12, 12)
    weights = [mg.randn(o, c, side, side) / (c * side * side) ** 0.5 for c, o, side, _, _ in sizes]
    biases = [mg.randn(o) / 10 for _, o, *_ in sizes]

    def gradients(x, weights, biases):
        leaves = [t.clone().requires_grad_() for t in (x, *weights, *biases)]
        h = leaves[0]
        for w, b, (*_, stride, padding) in zip(leaves[1:], leaves[1 + len(sizes) :], sizes, strict=False):
            h = F.relu(F.conv2d(h, w, b, stride=stride, padding=padding))
        h.square().mean().backward()
        return [h.detach(), *(t.grad for t in leaves)]

    here = gradients(x.double(), [w.double() for w in weights], [b.double() for b in biases])
    there = gradients(x.to(device), [w.to(device) for w in weights], [b.to(device) for b in biases])
    again = gradients(x.to(device), [w.to(device) for w in weights], [b.to(device) for b in biases])
    for got, same, want in zip(there, again, here, strict=True):
        assert mg.equal(got, same)
        assert ((got.cpu().double() - want).norm() / want.norm()).item() < 2e-6
