"""Matrices as PyTorch has them: norms and conditions of empty ones, factorisations, inverses, determinants, exponentials and roots, with gradients."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import close, leaf

INF = math.inf


# Norms and conditions.


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("p", [None, 2, -2, 1, INF])
def test_the_condition_of_an_empty_matrix_is_zero(shape, p):
    answer = mg.linalg.cond(mg.zeros(*shape), p)
    assert answer.tolist() == mg.zeros(*shape[:-2]).tolist()
    assert mg.linalg.cond(mg.zeros(*shape, dtype=mg.int32), p).dtype == mg.int32


def test_the_condition_by_a_word_takes_square_matrices():
    assert mg.linalg.cond(mg.zeros(0, 0), "fro").item() == 0
    with pytest.raises(ValueError, match="square"):
        mg.linalg.cond(mg.zeros(0, 2), "nuc")


@pytest.mark.parametrize("order", [1, 2, INF, "fro", "nuc"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0)])
def test_the_norm_of_an_empty_matrix_is_zero(order, shape):
    x = mg.zeros(*shape, requires_grad=True)
    for norm in (mg.linalg.norm, mg.linalg.matrix_norm):
        answer = norm(x, order)
        assert answer.item() == 0 and answer.requires_grad
        assert mg.autograd.grad(answer, x)[0].shape == shape


def test_there_is_no_least_sum_of_none():
    for order in (-1, -2, -INF):
        with pytest.raises(ValueError, match="no elements to reduce"):
            mg.linalg.norm(mg.zeros(0, 0), order)


@pytest.mark.parametrize("norm", [mg.linalg.vector_norm, mg.linalg.norm])
def test_a_negative_norm_does_not_change_with_zeros(norm):
    x = leaf([0.0, 3.0])
    answer = norm(x, -1)
    answer.backward()
    assert (answer.item(), x.grad.tolist()) == (0, [0, 0])
    x = leaf([1.0, 2.0], dtype=mg.float64)
    norm(x, -1).backward()
    assert x.grad.tolist() == pytest.approx([4 / 9, 1 / 9])


# Factorisations and inverses.


def test_r_alone_has_a_gradient():
    both, alone = leaf([[1.0, 3.0], [2.0, 2.0]]), leaf([[1.0, 3.0], [2.0, 2.0]])
    mg.linalg.qr(both).R.sum().backward()
    mg.linalg.qr(alone, mode="r").R.sum().backward()
    assert alone.grad.tolist() == both.grad.tolist()


def test_lu_of_older_days():
    a = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    packed, pivots = mg.lu(a)
    close(packed, [[3.0, 4.0], [1 / 3, 2 / 3]])
    assert pivots.tolist() == [2, 2] and [t.tolist() for t in mg.lu(a, get_infos=True)][2] == 0


@pytest.mark.parametrize("late", [lambda x: x, lambda x: x * 1])
def test_triangles_with_a_zero_on_the_diagonal_have_no_inverse(late):
    with pytest.raises(mg.linalg.LinAlgError, match="diagonal"):
        late(mg.tensor([[0.0, 0.0], [1.0, 1.0]])).cholesky_inverse().tolist()
    assert late(mg.tensor([[2.0, 0.0], [1.0, 1.0]])).cholesky_inverse().tolist() == [[0.5, -0.5], [-0.5, 1]]


@pytest.mark.parametrize("of", [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]])
@pytest.mark.parametrize(
    "vectors",
    [
        lambda a: mg.linalg.svd(a)[0],
        lambda a: mg.linalg.svd(a)[2],
        lambda a: mg.linalg.svd(a, full_matrices=False)[0],
        lambda a: mg.svd(a)[2],
        lambda a: mg.linalg.eigh(a)[1],
    ],
)
def test_vectors_that_are_not_determined_have_no_gradient(of, vectors):
    a = leaf(of)
    vectors(a).sum().backward()
    assert a.grad.isnan().all()


@pytest.mark.parametrize(
    "values", [lambda a: mg.linalg.svd(a)[1], lambda a: mg.linalg.eigh(a)[0], mg.linalg.eigvalsh, mg.linalg.svdvals, lambda a: mg.linalg.matrix_norm(a, "nuc")]
)
def test_values_have_a_gradient_where_vectors_are_not_determined(values):
    for of in ([1.0, 1.0], [0.0, 0.0], [1.0, 1.0, 2.0]):
        a = mg.diag(mg.tensor(of)).requires_grad_()
        values(a).sum().backward()
        # The pseudoinverse's side of 0 aside, these are the traces of products with orthogonal matrices.
        close(a.grad.abs(), mg.eye(len(of)))
    # Each matrix by itself: what is asked of one is not asked of others.
    a = mg.stack([mg.eye(2), mg.diag(mg.tensor([1.0, 2.0]))]).requires_grad_()
    u, s, _ = mg.linalg.svd(a)
    (u[1].sum() + s.sum()).backward()
    assert a.grad.isfinite().all()


def test_one_singular_value_of_zero_leaves_the_other_side_undetermined():
    for of, at, finite in (([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], 0, True), ([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], 0, False)):
        a = leaf(of)
        mg.linalg.svd(a)[at].sum().backward()
        assert a.grad.isfinite().all().item() == finite


# Determinants, exponentials and roots.


def test_the_sign_of_a_determinant_has_no_slope_where_its_logarithm_has_an_infinite_one():
    w = mg.zeros(2, 2, requires_grad=True)
    mg.linalg.slogdet(w)[0].backward()
    assert w.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_the_exponential_of_one_number_is_that_of_numbers():
    x = mg.tensor([[[-float("inf")]], [[0.0]], [[1.5]]], requires_grad=True)
    y = mg.matrix_exp(x)
    assert y[:, 0, 0].tolist() == x.exp()[:, 0, 0].tolist()
    y[1:].sum().backward()
    assert x.grad[1:].tolist() == y[1:].tolist()


def test_roots_of_matrices_have_gradients_where_eigenvalues_are_equal():
    a = leaf([[4.0, 0.0], [0.0, 4.0]], dtype=mg.float64)
    mg.linalg.matrix_sqrth(a).backward(mg.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=mg.float64))
    assert a.grad.tolist() == [[0.25, 0.625], [0.625, 1.0]]
    # What rounding has made negative is zero.
    assert mg.linalg.matrix_sqrth(mg.tensor([[-1e-7]])).tolist() == [[0.0]]
    b = leaf([[4.0, 2.0], [2.0, 5.0]], dtype=mg.float64)
    (first,) = mg.autograd.grad(mg.linalg.matrix_sqrth(b).sum(), b, create_graph=True)
    (first * first).sum().backward()
    mg.testing.assert_close(b.grad[0], mg.tensor([-0.014283891270608603, -0.011913148152859772], dtype=mg.float64))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "float64"])
def test_factors_of_any_dtype_are_unpacked(dtype):
    lu = mg.tensor([[4, 3], [2, 5]], dtype=getattr(mg, dtype))
    p, lower, upper = mg.lu_unpack(lu, mg.tensor([2, 2], dtype=mg.int32))
    assert {t.dtype for t in (p, lower, upper)} == {lu.dtype}
    assert (p.tolist(), lower.tolist(), upper.tolist()) == ([[0, 1], [1, 0]], [[1, 0], [2, 1]], [[4, 3], [0, 5]])


def test_the_powers_of_a_number():
    assert mg.linalg.vander(mg.tensor(2.0), N=3).tolist() == [[1, 2, 4]]
    with pytest.raises(ValueError, match="takes two powers at least, got 1"):
        mg.linalg.vander(mg.tensor(2.0))


@pytest.mark.parametrize("zero", [0, 0.0, False, "tensor", "float tensor"])
def test_what_is_multiplied_with_zero_is_not_looked_at(zero, device):
    zero = {"tensor": mg.tensor(0), "float tensor": mg.tensor(0.0)}.get(zero, zero) if isinstance(zero, str) else zero
    none, ones = mg.full((2, 2), math.nan, device=device), mg.ones(2, 2, device=device)
    line = ones[0]
    for answer in (
        mg.addmm(none, ones, ones, beta=zero),
        mg.addmv(none[0], ones, line, beta=zero),
        mg.addbmm(none, ones[None], ones[None], beta=zero),
        mg.baddbmm(none[None], ones[None], ones[None], beta=zero),
        mg.addr(none, line, line, beta=zero) * 2,
    ):
        assert answer.flatten().tolist() == [2] * answer.numel()
    for answer in (
        mg.addmm(ones, none, ones, alpha=zero),
        mg.addmv(line, none, line, alpha=zero),
        mg.addbmm(ones, none[None], ones[None], alpha=zero),
        mg.baddbmm(ones[None], none[None], ones[None], alpha=zero),
    ):
        assert answer.flatten().tolist() == [1] * answer.numel()
    x = leaf([[math.nan, 1.0]])
    mg.addmm(x, mg.ones(1, 2), mg.ones(2, 2), beta=zero).sum().backward()
    assert x.grad.tolist() == [[0, 0]]


def test_dtypes_of_products():
    assert mg.addr(mg.tensor(1.0, dtype=mg.float64), mg.ones(2), mg.ones(2)).dtype == mg.float64
    i = mg.ones(2, 3, dtype=mg.int32)
    assert mg.einsum("ik,j->ij", i, i[:, 0]).dtype == mg.int64 and mg.einsum("ik,j->ij", i, i[:, 0]).tolist() == [[3, 3], [3, 3]]
    assert mg.einsum("ik,k->i", i, i[0]).dtype == mg.einsum("ik,j->ij", i[:, :1], i[:, 0]).dtype == mg.int32


def test_cross_products_are_of_as_many_axes():
    with pytest.raises(ValueError, match="as many axes"):
        mg.linalg.cross(mg.ones(5, 5, 3), mg.ones(5, 3))


@pytest.mark.parametrize("driver", ["gelsy", "gelsd"])
def test_ranks_and_values_are_those_of_each_matrix(driver):
    a, b = mg.ones(1, 3, 3) + mg.eye(3), mg.ones(2, 3, 3)
    solution, residuals, rank, values = mg.linalg.lstsq(a, b, driver=driver)
    assert solution.shape == (2, 3, 3) and rank.tolist() == [3] and values.shape == ((1, 3) if driver == "gelsd" else (0,))
    close(a @ solution, b)
    assert mg.linalg.lstsq(leaf(a[0].tolist()), b[0], driver=driver).residuals.requires_grad and not residuals.requires_grad


def test_axes_of_a_contraction_as_a_tensor():
    a = mg.arange(6.0).reshape(2, 3)
    assert mg.tensordot(a, a, mg.tensor([[1], [1]])).tolist() == mg.tensordot(a, a, ([1], [1])).tolist()
    assert mg.tensordot(a, a, mg.tensor(2)).item() == 55


def test_a_factorisation_of_older_days_has_names():
    answer = mg.lu(mg.eye(2), get_infos=True)
    assert answer.LU.tolist() == mg.eye(2).tolist() and answer.info.item() == 0


def rebuilt(LD, pivots):
    """The matrix that `ldl_factor` was given, by the exchanges and blocks of LAPACK's `sytrf`."""
    n = len(pivots)
    L, D, P = mg.eye(n, dtype=LD.dtype), mg.zeros(n, n, dtype=LD.dtype), mg.eye(n, dtype=LD.dtype)
    k, steps = 0, []
    while k < n:
        size = 1 if pivots[k] > 0 else 2
        steps.append((k, size, abs(pivots[k]) - 1))
        k += size
    whole = mg.eye(n, dtype=LD.dtype)
    for k, size, row in steps:
        L, P = mg.eye(n, dtype=LD.dtype), mg.eye(n, dtype=LD.dtype)
        last = k + size - 1
        P[[last, row]] = P[[row, last]].clone()
        L[k + size :, k : k + size] = LD[k + size :, k : k + size]
        block = LD[k : k + size, k : k + size]
        D[k : k + size, k : k + size] = block + block.tril(-1).mT
        whole = whole @ P @ L
    return whole @ D @ whole.mT


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 40, 130])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_symmetric_matrices_are_factors_of_blocks(n, dtype, device):
    mg.manual_seed(n)
    a = mg.randn(n, n, dtype=mg.float64)
    # Without a diagonal blocks of two rows are needed; what is above it is not read.
    a = (a + a.mT) * (1 - 0.999 * mg.eye(n, dtype=mg.float64))
    given = a.tril().to(device, getattr(mg, dtype))
    LD, pivots = mg.linalg.ldl_factor(given)
    assert LD.device == given.device and pivots.dtype == mg.int32 and not LD.triu(1).any()
    near = 1e-12 if dtype == "float64" else 1e-3
    assert mg.allclose(rebuilt(LD.cpu().double(), pivots.tolist()), a, rtol=near, atol=near * n)
    b = mg.randn(n, 3, dtype=mg.float64).to(given)
    x = mg.linalg.ldl_solve(LD, pivots, b)
    wanted = mg.linalg.solve(a, b.cpu().double())
    assert mg.allclose(x.cpu().double(), wanted, rtol=near * 100, atol=near * 100 * wanted.abs().max().item())


def test_solutions_by_blocks_have_a_gradient_by_the_right_side():
    a = mg.tensor([[0.0, 2.0, 1.0], [2.0, 0.5, 0.0], [1.0, 0.0, -3.0]], dtype=mg.float64)
    factors = mg.linalg.ldl_factor(a)
    b = mg.arange(6, dtype=mg.float64).reshape(3, 2).requires_grad_()
    assert mg.autograd.gradcheck(lambda b: mg.linalg.ldl_solve(*factors, b), (b,))
    batch = mg.linalg.ldl_factor(mg.stack([a, a * 2]))
    assert mg.allclose(mg.linalg.ldl_solve(*batch, b), mg.linalg.solve(mg.stack([a, a * 2]), b))
    assert mg.allclose(mg.func.vmap(lambda a, b: mg.linalg.ldl_solve(*mg.linalg.ldl_factor(a), b), (0, None))(mg.stack([a, a * 2]), b), mg.linalg.solve(mg.stack([a, a * 2]), b))
    a.requires_grad_()
    LD, pivots = mg.linalg.ldl_factor(a)
    with pytest.raises(RuntimeError, match="L and D of ldl_factor have no gradient"):
        LD.sum().backward()
    with pytest.raises(RuntimeError, match="L and D of ldl_factor have no gradient"):
        mg.linalg.ldl_solve(LD, pivots, b.detach()).sum().backward()


@pytest.mark.parametrize("pivots", [[1, 4, 3], [0, 2, 3], [-2, 2, 3], [1, 2, -3], [2, 1, 3], [-2, -3, 3], [-1, -1, 3]])
def test_pivots_that_no_factorisation_has(pivots):
    LD, b = mg.eye(3, dtype=mg.float64), mg.ones(3, 1, dtype=mg.float64)
    with pytest.raises(mg.linalg.LinAlgError, match="names a row that is not there, or was passed"):
        mg.linalg.ldl_solve(LD, mg.tensor(pivots), b)
    with pytest.raises(TypeError, match="takes integers as pivots"):
        mg.linalg.ldl_solve(LD, mg.tensor([1.0, 2.0, 3.0]), b)


def test_a_block_of_zero_is_told_of():
    with pytest.raises(mg.linalg.LinAlgError, match=r"\(Batch element 1\): D\[2,2\] is zero.*ldl_factor_ex"):
        mg.linalg.ldl_factor(mg.stack([mg.eye(2), mg.diag(mg.tensor([3.0, 0.0]))]))
    assert mg.linalg.ldl_factor_ex(mg.zeros(2, 3, 3)).info.tolist() == [1, 1]


@pytest.mark.parametrize("of", [None, "B"])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_extreme_eigenvalues(of, largest, dtype, device):
    mg.manual_seed(0)
    kind, m, k = getattr(mg, dtype), 60, 4
    a = mg.randn(m, m, dtype=mg.float64)
    a = a @ a.mT + mg.diag(mg.arange(m, dtype=mg.float64))
    b = None
    if of:
        b = mg.randn(m, m, dtype=mg.float64)
        b = b @ b.mT / m + mg.eye(m, dtype=mg.float64)
        half = mg.linalg.inv(mg.linalg.cholesky(b))
        wanted = mg.linalg.eigvalsh(half @ a @ half.mT)
    else:
        wanted = mg.linalg.eigvalsh(a)
    wanted = wanted.flip(0)[:k] if largest else wanted[:k]
    given = a.to(device, kind)
    values, x = mg.lobpcg(given, k, None if b is None else b.to(given), n=k + 2, largest=largest)
    near = 1e-8 if dtype == "float64" else 2e-3
    assert mg.allclose(values.cpu().double(), wanted, rtol=near, atol=near)
    x = x.cpu().double()
    bx = x if b is None else b @ x
    assert mg.allclose(x.mT @ bx, mg.eye(k, dtype=mg.float64), atol=near * 10)
    assert mg.allclose(a @ x, bx * wanted, atol=wanted.abs().max().item() * 1e-2 if dtype == "float32" else 1e-3)


@pytest.mark.parametrize("of", [None, "B"])
def test_extreme_eigenvalues_have_gradients(of):
    mg.manual_seed(0)
    a, b = mg.randn(9, 9, dtype=mg.float64), mg.randn(9, 9, dtype=mg.float64)
    a, b = a @ a.mT, b @ b.mT / 9 + mg.eye(9, dtype=mg.float64)
    start = mg.randn(9, 3, dtype=mg.float64)

    def pairs(a, b=None):
        a, b = (a + a.mT) / 2, None if b is None else (b + b.mT) / 2
        values, x = mg.lobpcg(a, 2, b, start, tol=1e-13)
        # Signs are those of the first vectors that were found.
        return values, x @ x.mT, (x[:, :1] @ x[:, :1].mT).sin()

    inputs = [t.requires_grad_() for t in ((a, b) if of else (a,))]
    assert mg.autograd.gradcheck(pairs, inputs, atol=1e-5)
    assert mg.autograd.gradgradcheck(pairs, inputs, atol=1e-4)


def test_no_matrices_have_no_extreme_eigenvalues():
    a = mg.zeros(0, 9, 9, requires_grad=True)
    values, vectors = mg.lobpcg(a, k=2)
    assert values.shape == (0, 2) and vectors.shape == (0, 9, 2)
    values, vectors = mg.lobpcg(mg.zeros(2, 0, 9, 9), B=mg.zeros(2, 0, 9, 9))
    assert values.shape == (2, 0, 1) and vectors.shape == (2, 0, 9, 1)


def test_few_steps_are_few():
    mg.manual_seed(0)
    a = mg.diag(mg.arange(1.0, 101.0, dtype=mg.float64))
    start = mg.randn(100, 1, dtype=mg.float64)
    found = [mg.lobpcg(a, X=start, niter=n)[0].item() for n in (0, 1, 5, -1)]
    assert found == sorted(found) and found[0] < found[1] < found[2] < found[3] and abs(found[3] - 100) < 1e-9
    # What is known of the inverse is a shorter way to the smallest.
    a = mg.diag(mg.arange(1.0, 101.0, dtype=mg.float64) ** 2)
    plain, helped = (abs(mg.lobpcg(a, X=start, niter=6, largest=False, iK=k)[0].item() - 1) for k in (None, mg.linalg.inv(a)))
    assert helped < 1e-3 * plain


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda a: mg.lobpcg(a, k=3), "takes 1 to 2 pairs of a matrix of 6 rows"),
        (lambda a: mg.lobpcg(a, k=0), "takes 1 to 2 pairs"),
        (lambda a: mg.lobpcg(a[:3]), "square"),
        (lambda a: mg.lobpcg(a, X=a[:3, :1]), "X of"),
        (lambda a: mg.lobpcg(a, B=a[:3]), "B of"),
        (lambda a: mg.lobpcg(a, iK=a.double()), "iK of"),
        (lambda a: mg.lobpcg(a, method="power"), "method"),
        (lambda a: mg.lobpcg(a.long()), "takes f"),
    ],
)
def test_what_lobpcg_refuses(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(mg.eye(6))


@pytest.mark.parametrize(
    "f",
    [
        lambda a: mg.linalg.svd(a, full_matrices=False)[0].abs(),
        lambda a: mg.linalg.svd(a)[2][:3].abs(),
        lambda a: mg.linalg.svdvals(a),
        lambda a: mg.linalg.pinv(a),
        lambda a: mg.linalg.eigh(a @ a.mT)[1].abs(),
        lambda a: mg.linalg.eigh(a.mT @ a + mg.eye(a.shape[-1], dtype=a.dtype))[0],
        lambda a: mg.linalg.matrix_norm(a, "nuc"),
        lambda a: mg.linalg.cond(a),
        lambda a: mg.linalg.qr(a)[0],
    ],
)
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 4, 3)])
def test_tangents_of_factors_are_their_gradients(f, shape):
    mg.manual_seed(1)
    a, t, s = (mg.randn(shape, dtype=mg.float64) for _ in range(3))
    jacobian = mg.func.jacrev(f)(a)
    wanted = (jacobian * t).sum(tuple(range(-len(shape), 0)))
    assert wanted.isfinite().all()
    assert mg.allclose(mg.func.jvp(f, (a,), (t,))[1], wanted, rtol=1e-7, atol=1e-7)
    assert mg.allclose(mg.func.jacfwd(f)(a), jacobian, rtol=1e-7, atol=1e-7)
    along = lambda a: mg.func.jvp(f, (a,), (t,))[1]  # noqa: E731
    twice = (mg.func.jacrev(lambda a: (mg.func.jacrev(f)(a) * t).sum(tuple(range(-len(shape), 0))))(a) * s).sum(tuple(range(-len(shape), 0)))
    assert mg.allclose(mg.func.jvp(along, (a,), (s,))[1], twice, rtol=1e-5, atol=1e-5)


# Second derivatives of determinants.


def minor(a, i, j):
    rows = [r for r in range(len(a)) if r != i]
    columns = [c for c in range(len(a)) if c != j]
    return [[a[r][c] for c in columns] for r in rows]


def determinant(a):
    return 1.0 if not a else sum((-1) ** j * x * determinant(minor(a, 0, j)) for j, x in enumerate(a[0]))


def mixed(a, i, j, k, m):
    """The derivative of the determinant by the elements (i, j) and (k, m): a cofactor of a cofactor."""
    if i == k or j == m:
        return 0.0
    inner = minor(a, i, j)
    return (-1) ** (i + j) * (-1) ** (k - (k > i) + m - (m > j)) * determinant(minor(inner, k - (k > i), m - (m > j)))


@pytest.mark.parametrize(
    "a",
    [
        [[0.0]],
        [[1.0, 2.0], [2.0, 4.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]],
        [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[2.0, 1.0, 0.5], [-1.0, 3.0, 0.2], [0.7, 0.1, -1.5]],
        [[0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [1.0, -1.0, 1e-9]],
        [[1.0] * 4] * 4,
    ],
)
def test_second_derivatives_of_determinants(a):
    n = len(a)
    wanted = [[[[mixed(a, i, j, k, m) for m in range(n)] for k in range(n)] for j in range(n)] for i in range(n)]
    x = mg.tensor(a, dtype=mg.float64)
    wanted = mg.tensor(wanted, dtype=mg.float64)
    assert mg.func.hessian(mg.linalg.det)(x).allclose(wanted, atol=1e-12)
    assert mg.func.jacrev(mg.func.jacrev(mg.linalg.det))(x).allclose(wanted, atol=1e-12)
    batch = mg.func.vmap(mg.func.hessian(mg.linalg.det))(mg.stack([x, x + mg.eye(n, dtype=mg.float64)]))
    assert batch[0].allclose(wanted, atol=1e-12)
    # In single precision, too.
    close(mg.func.hessian(mg.linalg.det)(x.float()).double(), wanted, 1e-4 * (1 + wanted.abs().max().item()))


def test_third_derivatives_of_determinants():
    x = mg.tensor([[2.0, 1.0, 0.5], [-1.0, 3.0, 0.2], [0.7, 0.1, -1.5]], dtype=mg.float64)
    for a in (x, mg.eye(3, dtype=mg.float64)):
        third = mg.func.jacrev(mg.func.hessian(mg.linalg.det))(a)
        # Of a product of three elements, one of each row and column, the sign of the permutation.
        assert third.abs().sum().item() == pytest.approx(36.0) and third[0, 0, 1, 1, 2, 2].item() == pytest.approx(1.0)
        assert third[0, 1, 1, 0, 2, 2].item() == pytest.approx(-1.0)


def test_determinants_of_what_is_no_number():
    x = mg.tensor([[1.0, float("nan")], [2.0, 3.0]], requires_grad=True)
    y = mg.linalg.det(x)
    assert y.isnan().item()
    y.backward()
    assert x.grad.isnan().any().item()
