"""Factorisations on a CUDA device, and what they refuse."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import needs_cuda

pytestmark = needs_cuda


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 130, 300])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_factorisations(n, dtype):
    mg.manual_seed(n)
    tolerance = 1e-3 if dtype == "f32" else 1e-9

    def alike(got, wanted):
        assert got.is_cuda and got.shape == wanted.shape
        assert float((got.cpu() - wanted).abs().max()) <= tolerance * max(1.0, float(wanted.abs().max()))

    x = mg.randn(2, n, n, dtype=dtype)
    own, right = x + 2 * n**0.5 * mg.eye(n, dtype=dtype), mg.randn(2, n, 3, dtype=dtype)
    symmetric = x @ x.transpose(1, 2) / n + mg.eye(n, dtype=dtype)
    on, b = own.cuda(), right.cuda()
    alike(mg.linalg.cholesky(symmetric.cuda()), mg.linalg.cholesky(symmetric))
    alike(mg.linalg.solve(on, b), mg.linalg.solve(own, right))
    alike(mg.linalg.slogdet(on)[1], mg.linalg.slogdet(own)[1])
    for upper in (False, True):
        triangles = (mg.linalg.solve_triangular(t, side, upper=upper) for t, side in ((on, b), (own, right)))
        alike(*triangles)
    # Rows are exchanged as the host does, and the same matrices give the same bits.
    lu, pivots = mg.linalg.lu_factor(x.cuda())
    again, _ = mg.linalg.lu_factor(x.cuda())
    assert mg.equal(lu, again)
    if dtype == "f64":
        assert pivots.tolist() == mg.linalg.lu_factor(x)[1].tolist()
    wide = mg.linalg.lu(x[:, : n // 2 + 1].cuda())
    alike(wide[0] @ wide[1] @ wide[2], x[:, : n // 2 + 1])


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(
    "shape",
    # A lane's row, a warp, a panel and one row more, several panels, wide ones, many rows, the last that a block has in registers, a row more.
    [(1, 1), (2, 3, 2), (5, 31, 31), (3, 32, 32), (2, 33, 33), (2, 70, 40), (2, 40, 70), (1, 7), (9, 1), (130, 130), (260, 20), (1030, 40), (2048, 33), (2049, 3)],
)
def test_reflections(shape, dtype):
    mg.manual_seed(sum(shape))
    tolerance = 1e-4 if dtype == "f32" else 1e-12
    x = mg.randn(*shape, dtype=dtype)
    m, n = shape[-2:]

    def near(got, wanted, scale=1.0):
        assert got.is_cuda and got.shape == wanted.shape
        assert got.numel() == 0 or float((got.cpu() - wanted).abs().max()) <= tolerance * scale

    for mode in ("reduced", "complete", "r") if m <= 300 else ("reduced", "r"):
        q, r = mg.linalg.qr(x.cuda(), mode)
        # Signs are the host's, and the same matrices give the same bits.
        wanted = mg.linalg.qr(x.double(), mode)[1]
        near(r.double(), wanted, 20 * max(1.0, float(wanted.abs().max())))
        assert mg.equal(r, mg.linalg.qr(x.cuda(), mode)[1]) and float(r.cpu().tril(-1).abs().max()) == 0
        if mode != "r":
            near(q @ r, x, float(x.abs().max()) * n**0.5)
            near(q.mT @ q, mg.eye(q.shape[-1], dtype=dtype).expand(*shape[:-2], -1, -1))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_reflections_of_odd_matrices(dtype):
    mg.manual_seed(0)
    x = mg.randn(40, 36, dtype=dtype)
    far = 1e30 if dtype == "f32" else 1e250
    eps = 1e-5 if dtype == "f32" else 1e-13
    below = mg.eye(40, 36, dtype=dtype) + x.tril(-1) / far
    # Squares that are too large, too small, or both; nothing to reflect; less than full rank; signs that follow from what is all but zero.
    for a in (x * far, x / far, x * mg.logspace(-25, 25, 36, dtype=dtype), x * 0, x.triu(), mg.ones(40, 36, dtype=dtype), below):
        q, r = (part.cpu() for part in mg.linalg.qr(a.cuda()))
        assert float((q.mT @ q - mg.eye(36, dtype=dtype)).abs().max()) < eps * 10
        assert float((q @ r - a).abs().max()) <= eps * 10 * float(a.abs().max())
    assert mg.linalg.qr(below.cuda())[1].diagonal().tolist() == [-1.0] * 36
    x[5, 3] = float("nan")
    r = mg.linalg.qr(x.cuda())[1].isnan().cpu()
    assert not bool(r[:, :3].any()) and bool(r[3, 3:].all())
    for shape in ((0, 3), (3, 0), (2, 0, 0), (0, 4, 4)):
        q, r = mg.linalg.qr(mg.zeros(*shape, dtype=dtype, device="cuda"), "complete")
        assert q.shape == (*shape[:-2], shape[-2], shape[-2]) and r.shape == shape


@pytest.mark.parametrize("shape", [(40, 7), (7, 40), (2, 9, 9), (300, 33), (1, 1)])
def test_least_squares(shape):
    mg.manual_seed(1)
    x, b = mg.randn(*shape, dtype="f64"), mg.randn(*shape[:-1], 3, dtype="f64")
    results = []
    for device in ("cpu", "cuda"):
        a, right = (t.detach().to(device).requires_grad_() for t in (x, b))
        solution, left, rank, values = mg.linalg.lstsq(a, right, driver="gels")
        assert rank.numel() == values.numel() == 0 and (left.numel() > 0) == (shape[-2] > shape[-1])
        (solution**3).sum().backward()
        alone = mg.linalg.lstsq(x.to(device), b.to(device), driver="gels").solution
        results.append([t.detach().cpu() for t in (solution, left, a.grad, right.grad, alone)])
    results.append([mg.linalg.lstsq(x, b, driver="gelsy").solution])
    for on in results[1:]:
        for got, wanted in zip(on, results[0]):
            assert got.shape == wanted.shape
            assert got.numel() == 0 or float((got - wanted).abs().max()) <= 1e-7 * max(1.0, float(wanted.abs().max()))
    # What names no driver is PyTorch's for CUDA.
    assert mg.linalg.lstsq(x.cuda(), b.cuda())[2].numel() == 0


@pytest.mark.parametrize("n", [4, 100])
def test_what_factorisations_refuse(n):
    good = mg.eye(n, device="cuda")
    wrong = mg.stack([good, good, good])
    wrong[1, 2, 2] = -1.0
    with pytest.raises(mg.linalg.LinAlgError, match=r"Batch element 1.*order 3"):
        mg.linalg.cholesky(wrong)
    assert mg.linalg.cholesky_ex(wrong)[1].tolist() == [0, 3, 0]
    wrong[1, 2, 2] = 0.0
    for call in (mg.linalg.inv, lambda a: mg.linalg.solve(a, mg.ones(3, n, 1, device="cuda")), mg.linalg.lu_factor):
        with pytest.raises(mg.linalg.LinAlgError, match="Batch element 1"):
            call(wrong)
    assert mg.linalg.inv_ex(wrong)[1].tolist() == [0, 3, 0] and mg.linalg.det(wrong).tolist() == [1, 0, 1]
    # Work goes on, and so does a recording's, after one that was refused.
    factor = mg.jit(lambda a: mg.linalg.cholesky(a).sum())
    assert [factor(4 * good).item() for _ in range(3)] == [2 * n] * 3
    with pytest.raises(mg.linalg.LinAlgError, match="order 1"):
        factor(-good).item()
    assert factor(9 * good).item() == 3 * n
