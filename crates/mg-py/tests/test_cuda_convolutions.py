"""Convolutions on a CUDA device, beside those in f64 on the host."""

from __future__ import annotations

import micrograd_rs as mg
from conftest import needs_cuda
from micrograd_rs import nn

pytestmark = needs_cuda


def test_convolutions_of_f32_keep_all_bits():
    mg.manual_seed(0)
    for n, c, size, o, kernel, stride, padding in ((16, 64, 16, 64, 3, 1, 1), (16, 32, 17, 128, 3, 2, 1), (8, 64, 16, 192, 1, 1, 0), (4, 3, 33, 64, 7, 2, 3)):
        x, w = mg.randn(n, c, size, size, device="cuda"), mg.randn(o, c, kernel, kernel, device="cuda")
        g = mg.randn(*nn.functional.conv2d(x, w, stride=stride, padding=padding).shape, device="cuda")
        results = []
        for x1, w1, g1 in ((x, w, g), (x.cpu().double(), w.cpu().double(), g.cpu().double())):
            x1, w1 = x1.clone().requires_grad_(), w1.clone().requires_grad_()
            y = nn.functional.conv2d(x1, w1, stride=stride, padding=padding)
            y.backward(g1)
            results.append((y.detach(), x1.grad, w1.grad))
        for got, want in zip(*results, strict=True):
            assert ((got.cpu().double() - want).norm() / want.norm()).item() < 1e-6
    x, w = mg.randn(8, 64, 16, 16, device="cuda"), mg.randn(64, 64, 3, 3, device="cuda")
    for value in (float("inf"), float("nan"), 3.4e38):
        y = x.clone()
        y[3, 5, 7, 9] = value
        got, want = nn.functional.conv2d(y, w), nn.functional.conv2d(y.cpu(), w.cpu())
        assert (got.cpu().isfinite() == want.isfinite()).all()


def test_convolutions_of_groups():
    mg.manual_seed(0)
    # Images, groups, channels and filters of each, lines, columns, side of the kernel, step, padding: each filter sees one channel, or few.
    cases = [
        (2, 24, 1, 1, 7, 7, 3, 1, 1), (3, 10, 1, 1, 13, 14, 3, 2, 1), (2, 8, 1, 1, 28, 30, 5, 1, 2), (1, 6, 1, 1, 15, 9, 5, 2, 0), (2, 5, 1, 1, 56, 56, 7, 1, 3),
        (2, 3, 1, 1, 150, 161, 3, 1, 1), (1, 2, 1, 1, 97, 301, 7, 1, 2), (2, 4, 1, 3, 14, 14, 3, 1, 1), (2, 9, 1, 2, 8, 5, 5, 2, 4), (1, 3, 1, 1, 2, 3, 5, 1, 4),
        (3, 4, 4, 4, 14, 15, 3, 1, 1), (2, 4, 8, 8, 9, 9, 3, 2, 1), (2, 3, 20, 24, 7, 7, 3, 1, 1), (2, 2, 2, 40, 8, 8, 4, 3, 1),
    ]
    for n, groups, c, m, high, wide, side, stride, padding in cases:
        form = {"stride": stride, "padding": padding, "groups": groups}
        x, w = mg.randn(n, groups * c, high, wide), mg.randn(groups * m, c, side, side)
        g = mg.randn(*nn.functional.conv2d(x, w, **form).shape)

        def results(x, w, g, form=form):
            x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
            y = nn.functional.conv2d(x, w, **form)
            y.backward(g)
            return y.detach(), x.grad, w.grad

        for dtype, least in (("f32", 1e-6), ("f16", 2e-3), ("bf16", 1.2e-2), ("f64", 1e-13)):
            given = [t.to(dtype) for t in (x, w, g)]
            here = results(*(t.double() for t in given))
            there = results(*(t.cuda() for t in given))
            for got, again, want in zip(there, results(*(t.cuda() for t in given)), here, strict=True):
                assert ((got.cpu().double() - want).norm() / want.norm()).item() < least, (dtype, form)
                assert (got == again).all()
            if dtype == "f64" or c * m > 1:
                continue
            # Zeros beyond the edge are multiplied, but for the gradient by the input, which has none. (What takes everything multiplies them there too.)
            for of in range(3):
                odd = [t.clone() for t in given]
                for value in (float("inf"), float("nan")):
                    odd[of].view(-1)[int(mg.randint(0, odd[of].numel(), (1,)).item())] = value
                for got, want in zip(results(*(t.cuda() for t in odd)), results(*odd), strict=True):
                    assert (got.cpu().isnan() == want.isnan()).all() and (got.cpu().isinf() == want.isinf()).all(), (dtype, form, of)


def test_convolutions_in_tf32():
    mg.manual_seed(0)
    mg.set_float32_matmul_precision("high")
    try:
        for n, c, size, o, side, stride, padding in ((4, 64, 14, 64, 3, 1, 1), (8, 128, 7, 256, 3, 1, 1), (3, 40, 13, 70, 3, 2, 2), (4, 3, 32, 64, 7, 2, 3), (4, 64, 14, 128, 1, 1, 0)):
            x, w = mg.randn(n, c, size, size, device="cuda"), mg.randn(o, c, side, side, device="cuda")
            g = mg.randn(*nn.functional.conv2d(x, w, stride=stride, padding=padding).shape, device="cuda")
            results = []
            for x1, w1, g1 in ((x, w, g), (x, w, g), (x.cpu().double(), w.cpu().double(), g.cpu().double())):
                x1, w1 = x1.clone().requires_grad_(), w1.clone().requires_grad_()
                y = nn.functional.conv2d(x1, w1, stride=stride, padding=padding)
                y.backward(g1)
                results.append((y.detach(), x1.grad, w1.grad))
            for got, again, want in zip(*results, strict=True):
                assert ((got.cpu().double() - want).norm() / want.norm()).item() < 6e-4
                assert (got == again).all()
    finally:
        mg.set_float32_matmul_precision("highest")
