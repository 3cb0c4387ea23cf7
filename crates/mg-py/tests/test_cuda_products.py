"""Products of matrices on a CUDA device: every bit of f32, and sums beside what is stored."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import needs_cuda

pytestmark = needs_cuda


def test_products_of_f32_keep_all_bits():
    mg.manual_seed(0)
    a, chosen = mg.randn(256, 512, device="cuda"), mg.eye(512, device="cuda")[mg.randperm(512).cuda()]
    wide = a * 2.0 ** mg.randint(-100, 100, (256, 512), device="cuda")
    for x, y in ((a, chosen), (a, chosen.t()), (wide, chosen), (wide, chosen.t().contiguous().t())):
        assert (x @ y == x[:, y.cpu().argmax(0).cuda()]).all()
    # Shapes that large tiles are taken for, however operands lie; as sums in f64 are.
    for m, n, k in ((512, 384, 1000), (256, 1024, 4096), (2048, 1024, 260)):
        a, b = mg.randn(m, k, device="cuda"), mg.randn(k, n, device="cuda")
        want = a.cpu().double() @ b.cpu().double()
        for x in (a, a.t().contiguous().t()):
            for y in (b, b.t().contiguous().t()):
                got = x @ y
                assert ((got.cpu().double() - want).norm() / want.norm()).item() < 5e-7
                assert (got == x @ y).all()
    a = mg.randn(256, 512, device="cuda")
    b = mg.randn(512, 384, device="cuda")
    for value in (float("inf"), float("-inf"), float("nan"), 3.4e38, 1e-40):
        for x, y, at in ((a.clone(), b, 0), (a, b.clone(), 1)):
            (x, y)[at][3, 7] = value
            got, want = (x @ y).cpu(), x.cpu() @ y.cpu()
            assert (got.isnan() == want.isnan()).all() and (got.isinf() == want.isinf()).all()
            assert mg.allclose(got[want.isfinite()], want[want.isfinite()], rtol=1e-4, atol=1e-4)
    for size in (1e-36, 1e-30, 1e30):
        got, want = (a * size) @ (b * 1e-3), (a.cpu().double() * size) @ (b.cpu().double() * 1e-3)
        assert ((got.cpu().double() - want).norm() / want.norm()).item() < 1e-6


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_products_add_up_the_columns_of_what_they_store(dtype):
    """Biases' gradients: the same elements as without the sum, their sum as f64 has it, twice the same bits."""
    mg.manual_seed(0)
    dtype = getattr(mg, dtype)
    # So large that kernels add them up, with edges of tiles.
    for batch, m, n, k in (((), 8200, 2052, 40), ((), 8449, 2048, 96), ((3,), 2740, 2052, 33)):
        a, b = mg.randn(*batch, m, k, device="cuda", dtype=dtype), mg.randn(*batch, k, n, device="cuda", dtype=dtype)
        axes = tuple(range(len(batch) + 1))
        for turned in (False, True):
            x = a.transpose(-1, -2).contiguous().transpose(-1, -2) if turned else a

            def both():
                stored = mg.relu(x @ b) * 0.5
                sums = stored.sum(axes)
                mg.realize(stored, sums)
                return stored, sums

            (stored, sums), (again, sums_again) = both(), both()
            assert (stored == again).all() and (sums == sums_again).all()
            assert (stored == mg.relu(x @ b) * 0.5).all()
            wide = stored.cpu().double()
            off = (sums.cpu().double() - wide.sum(axes)).abs()
            room = 1e-6 * wide.abs().sum(axes) + mg.finfo(dtype).eps * wide.sum(axes).abs()
            assert (off <= room).all()
    x[..., 7, 5], x[..., 8, 6] = float("nan"), float("inf")
    stored = mg.relu(x @ b)
    sums = stored.sum(axes)
    mg.realize(stored, sums)
    assert (sums.isnan() == stored.cpu().double().sum(axes).isnan().cuda()).all()
