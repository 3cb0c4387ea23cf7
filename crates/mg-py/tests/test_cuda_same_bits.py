"""Results on a CUDA device that are the host's in every bit."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import needs_cuda

pytestmark = needs_cuda


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_normal_numbers_are_the_hosts(dtype):
    """Pairs of uniform numbers make pairs of normal ones, wherever a walk of them begins."""
    for take in (lambda x: x, lambda x: x[1:], lambda x: x[3:1000:2], lambda x: x.flip(0), lambda x: x[:4097].reshape(17, 241).t().contiguous()):
        both = []
        for device in ("cpu", "cuda"):
            mg.manual_seed(11)
            mg.rand(5, device=device)
            both.append((take(mg.randn(10_001, dtype=dtype, device=device)) + 0).cpu())
        assert both[0].tolist() == both[1].tolist()


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i64", "i32", "u8", "i16"])
def test_running_extremes_are_the_hosts(dtype):
    for shape, dim in (((3, 9000), 1), ((5, 7), 1), ((70, 40), 0), ((1, 70_000), 1), ((2, 300, 33), 1), ((4, 8), 1)):
        x = (mg.randn(shape) * 3).round().abs().to(dtype)
        x = -x if dtype in ("f32", "f64", "f16", "bf16") else x
        for f in (mg.cummax, mg.cummin):
            there, here = f(x.cuda(), dim), f(x, dim)
            assert there[0].cpu().tolist() == here[0].tolist() and there[1].cpu().tolist() == here[1].tolist()
    if dtype in ("f32", "f64"):
        x = mg.randn(4, 50, dtype=dtype)
        x[1, 20] = float("nan")
        grads = []
        for device in ("cpu", "cuda"):
            t = x.detach().to(device).requires_grad_()
            values, _ = t.cummax(1)
            (values.nan_to_num() * mg.arange(50, device=device).to(dtype)).sum().backward()
            grads.append(t.grad.cpu().tolist())
        assert grads[0] == grads[1]


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i16"])
@pytest.mark.parametrize("row", [32, 100, 256, 300])
def test_sums_of_long_rows_are_the_hosts(dtype, row):
    """Few positions of a target are followed, many are looked for; in their order."""
    n, size = 6000, 3000
    for kind in range(4):
        index = mg.randint(size, (n,))
        if kind == 1:
            index[: n // 2] = 7
        if kind == 2:
            index = index % 100
        if kind == 3:
            index[100:133] = 2999
        x = (mg.randn(n, row) * 8).to(dtype)
        base = mg.zeros(size, row, dtype=dtype)
        there = base.cuda().index_add(0, index.cuda(), x.cuda())
        assert (there.cpu() == base.index_add(0, index, x)).all().item()
        assert (there == base.cuda().index_add(0, index.cuda(), x.cuda())).all().item()
    with pytest.raises(IndexError):
        index[5] = size
        base.cuda().index_add(0, index.cuda(), x.cuda()).sum().item()
