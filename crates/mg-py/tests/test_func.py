"""`func`, `autograd.functional`, `autograd.gradcheck`, anomalies: derivatives of functions of functions."""

from __future__ import annotations

import math
import warnings


import micrograd_rs as mg
import pytest
from conftest import close, numbers
from micrograd_rs import autograd, func, nn
from micrograd_rs import functional as F
from micrograd_rs.autograd import GradcheckError, functional, gradcheck, gradgradcheck

try:
    import torch
except ImportError:  # pragma: no cover
    torch = None


#: Functions of one example of shape [3, 4], with everything that a graph is made of: rows, views, reductions, products, gathers,
#: writes, concatenations, scans, convolutions.
FUNCTIONS = {
    "rows": lambda x: (x.sin() * x.exp() + x.log() / (1 + x * x)).tanh(),
    "powers": lambda x: x**3 + x**0.5 + 2.0**x + x**-1 + 1 / x,
    "choices": lambda x: mg.where(x > 1, x * x, x.sin()) + x.clamp(0.5, 1.5) + x.relu() + x.maximum(x.flip(0)),
    "broadcasts": lambda x: x * x[0] + x[:, :1] - x[1, 2] + x.sum(),
    "views": lambda x: x.T.reshape(2, 6).permute(1, 0)[1:5:2] * x.reshape(6, 2)[::2][:2].flatten()[:2],
    "diagonals": lambda x: x.diagonal() * x[:, 1:].diagonal() + x.unfold(1, 2, 1).sum(-1).diagonal(),
    "expands": lambda x: x[0].expand(5, 4) * x[1].unsqueeze(0),
    "reductions": lambda x: x.sum(0) * x.mean() + x.max() + x.amax(1).sum() + x.min() - x.amin(0),
    "products": lambda x: x.prod(0) + x.prod(),
    "statistics": lambda x: x.var(0) + x.std() + x.logsumexp(1).sum() + x.norm(),
    "softmaxes": lambda x: x.softmax(-1) * x.log_softmax(0),
    "matmuls": lambda x: x @ x.T @ x + (x @ x[0]).unsqueeze(1),
    "dots": lambda x: x[0] @ x[1] + mg.einsum("ij,kj->ik", x, x).sum(),
    "stacks": lambda x: mg.cat([x, x * 2, x[:1]], 0) * mg.stack([x[0], x[1], x[2], x[0], x[1], x[2], x[0]]),
    "gathers": lambda x: x[[2, 0, 1]] * x.gather(1, mg.tensor([[1], [0], [3]])) + x.index_select(0, mg.tensor([1, 1, 0])),
    "takes": lambda x: x[:, [0, 2]] * x[mg.tensor([0, 1, 2]), mg.tensor([1, 1, 0])].unsqueeze(1),
    "writes": lambda x: written(x),
    "scans": lambda x: x.cumsum(1) * x.cumprod(0) + x.logcumsumexp(0),
    "norms": lambda x: F.layer_norm(x, [4]) * F.normalize(x, dim=0),
    "convolutions": lambda x: F.conv1d(x.unsqueeze(0), numbers(2, 3, 2, seed=5)).sin(),
    "grids": lambda x: F.grid_sample(x.reshape(1, 1, 3, 4), x[:, :2].sin().reshape(1, 3, 1, 2), align_corners=False).flatten(),
    "losses": lambda x: F.cross_entropy(x, mg.tensor([1, 0, 3])) + F.mse_loss(x, x.flip(1) * 2),
    "casts": lambda x: x.float().double() * x,
}


def written(x):
    y = x * 1
    y[1] = x[0] * x[2]
    y[:, 2] *= 3
    y += x
    z = mg.zeros(3, 4, dtype=mg.float64)
    z[0] = x[1]
    return y * z.sum(0) + z


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_are_loops(name):
    f = FUNCTIONS[name]
    xs = numbers(5, 3, 4)
    close(func.vmap(f)(xs), mg.stack([f(x) for x in xs]), rtol=1e-10)
    # Gradients of batches, and batches of gradients.
    gradient = func.grad(lambda x: f(x).square().sum())
    wanted = mg.stack([gradient(x) for x in xs])
    close(func.vmap(gradient)(xs), wanted, rtol=1e-8)
    close(func.grad(lambda x: func.vmap(f)(x).square().sum())(xs), wanted, rtol=1e-8)
    leaf = xs.clone().requires_grad_()
    func.vmap(f)(leaf).square().sum().backward()
    close(leaf.grad, wanted, rtol=1e-8)
    # The axis of examples may be anywhere.
    close(func.vmap(f, in_dims=2, out_dims=-1)(xs.movedim(0, 2)).movedim(-1, 0), func.vmap(f)(xs), rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_modes_agree(name):
    f = FUNCTIONS[name]
    x, t = numbers(3, 4), numbers(3, 4, seed=7, low=-1, high=1)
    y, change = func.jvp(f, (x,), (t,))
    close(y, f(x), rtol=1e-12)
    # Halves of the digits in single precision.
    exact = 1e-5 if name == "casts" else 1e-8
    rows, columns = func.jacrev(f)(x), func.jacfwd(f)(x)
    assert list(rows.shape) == [*y.shape, 3, 4]
    close(rows, columns, rtol=exact, atol=exact)
    close((rows * t).sum((-1, -2)), change, rtol=exact, atol=exact)
    v = numbers(*y.shape, seed=3, low=-1, high=1) if y.ndim else numbers(1)[0]
    (pulled,) = func.vjp(f, x)[1](v)
    close(pulled, (rows * v.reshape(*y.shape, 1, 1)).sum(tuple(range(y.ndim))) if y.ndim else rows * v, rtol=exact, atol=exact)
    # Central differences.
    eps = 1e-6
    if name != "casts":
        close(change, (f(x + t * eps) - f(x - t * eps)) / (2 * eps), rtol=1e-5, atol=1e-6)
    # Second derivatives: all four ways are one.
    number = lambda x: f(x).sin().sum()  # noqa: E731
    ways = [
        func.hessian(number)(x),
        func.jacrev(func.jacrev(number))(x),
        func.jacrev(func.jacfwd(number))(x),
        func.jacfwd(func.jacfwd(number))(x),
    ]
    for way in ways[1:]:
        close(way, ways[0], rtol=100 * exact, atol=10 * exact)
    _, product = func.jvp(func.grad(number), (x,), (t,))
    close(product, (ways[0] * t).sum((-1, -2)), rtol=100 * exact, atol=10 * exact)


@pytest.mark.parametrize("causal", [False, True])
def test_forward_mode_through_attention(causal):
    def f(x):
        return F.scaled_dot_product_attention(x[None], 2 * x[None], x.sin()[None], is_causal=causal)[0]

    x, t, w = numbers(3, 4), numbers(3, 4, seed=7, low=-1, high=1), numbers(3, 4, seed=3)
    y, change = func.jvp(f, (x,), (t,))
    close(y, f(x), rtol=1e-12)
    close(change, (f(x + t * 1e-6) - f(x - t * 1e-6)) / 2e-6, rtol=1e-5, atol=1e-8)
    number = lambda x: (f(x).sin() * w).sum()  # noqa: E731
    (slope,) = mg.autograd.grad(number(leaf := x.clone().requires_grad_()), leaf, create_graph=True)
    (product,) = mg.autograd.grad((slope * t).sum(), leaf)
    close(func.jvp(func.grad(number), (x,), (t,))[1], product, rtol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", ["rows", "powers", "reductions", "products", "matmuls", "softmaxes", "statistics"])
def test_as_pytorch(name):
    f = FUNCTIONS[name]
    xs, t = numbers(2, 3, 4), numbers(3, 4, seed=7)
    as_torch = lambda x: torch.tensor(x.tolist(), dtype=torch.float64)  # noqa: E731
    close(func.jacrev(f)(xs[0]), torch.func.jacrev(f)(as_torch(xs[0])), rtol=1e-9)
    close(func.jvp(f, (xs[0],), (t,))[1], torch.func.jvp(f, (as_torch(xs[0]),), (as_torch(t),))[1], rtol=1e-9)
    one = lambda x: f(x).square().sum()  # noqa: E731
    close(func.vmap(func.hessian(one))(xs), torch.func.vmap(torch.func.hessian(one))(as_torch(xs)), rtol=1e-8)


def test_nested():
    x = mg.tensor(0.7, dtype=mg.float64)
    f = mg.sin
    for k in range(6):
        close(f(x), math.sin(0.7 + k * math.pi / 2), rtol=1e-12)
        f = func.grad(f)
    # Each of the two variables is a constant to the other's derivative.
    outer = func.grad(lambda x: x * func.grad(lambda y: x * y)(mg.tensor(1.0)))(mg.tensor(3.0))
    assert outer.item() == 6.0
    a, b = numbers(2, 3), numbers(4, 3, seed=9)
    pairs = func.vmap(lambda x: func.vmap(lambda y: (x * y).sum() + x[0] * y.max())(b))(a)
    close(pairs, [[(x * y).sum().item() + (x[0] * y.max()).item() for y in b] for x in a], rtol=1e-12)
    both = func.vmap(func.vmap(lambda x, y: x - y, in_dims=(0, None)), in_dims=(None, 0))(a[0], b[:, 0])
    assert list(both.shape) == [4, 3]


def test_structures():
    def f(args, scale=2.0):
        return {"a": (args["w"] * args["x"][0]).sum() * scale, "b": [args["w"] * 3]}

    args = {"w": numbers(3), "x": (numbers(3, seed=4), 5)}
    out = func.vmap(f, in_dims=({"w": None, "x": (0, None)},), out_dims={"a": 0, "b": 0})({"w": args["w"], "x": (numbers(2, 3), 5)})
    assert list(out["a"].shape) == [2] and list(out["b"][0].shape) == [2, 3]
    (g,) = [func.grad(lambda a, b: (a["x"] * a["x"] * b).sum())({"x": numbers(3)}, 2.0)]
    close(g["x"], numbers(3) * 4)
    (ga, gb), (value, aux) = func.grad_and_value(lambda a, b: ((a * b).sum(), "aux"), argnums=(0, 1), has_aux=True)(
        numbers(3), numbers(3, seed=2)
    )
    close(ga, numbers(3, seed=2))
    close(gb, numbers(3))
    assert aux == "aux" and value.shape == ()
    j = func.jacrev(lambda a, b: (a * b, b.sum()), argnums=(0, 1))(numbers(3), numbers(3, seed=2))
    assert [[list(x.shape) for x in row] for row in j] == [[[3, 3], [3, 3]], [[3], [3]]]
    y, pull, aux = func.vjp(lambda a: ((a, a * 2), 3), numbers(2), has_aux=True)
    assert aux == 3 and isinstance(y, tuple)
    close(pull((mg.ones(2).double(), mg.ones(2).double()))[0], [3.0, 3.0])
    y, push = func.linearize(lambda a: a * a, numbers(3))
    close(push(mg.ones(3).double()), numbers(3) * 2)
    close(push(mg.ones(3).double() * 2), numbers(3) * 4)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


def test_containers_of_ones_own():
    from micrograd_rs.utils._pytree import _register_pytree_node, register_pytree_node, tree_flatten, tree_leaves, tree_map, tree_map_only

    x = mg.tensor([1.0, 2.0])
    assert len(tree_leaves([Pair(1, 2)])) == 1
    register_pytree_node(Pair, lambda p: ((p.a, p.b), "kept"), lambda items, kept: (kept, Pair(*items))[1], serialized_type_name="pair")
    leaves, spec = tree_flatten({"p": Pair(1, [2, 3])})
    assert leaves == [1, 2, 3] and spec.leaves == 3 and spec == tree_flatten({"p": Pair(4, [5, 6])})[1] != tree_flatten({"p": (1, [2, 3])})[1]
    made = tree_map(lambda a, b: a + b, Pair(1, (2,)), Pair(10, (20,)))
    assert type(made) is Pair and made.a == 11 and made.b == (22,)
    # What is differentiated and what answers may be such.
    found = mg.func.grad(lambda p: (p.a * p.b).sum())(Pair(x, x + 1))
    assert type(found) is Pair and found.a.tolist() == [2.0, 3.0] and found.b.tolist() == [1.0, 2.0]
    each = mg.func.vmap(lambda p: Pair(p.a * 2, p.a + p.b), in_dims=(Pair(0, None),))(Pair(x, x))
    assert each.a.tolist() == [2.0, 4.0] and each.b.tolist() == [[2.0, 3.0], [3.0, 4.0]]
    assert tree_leaves([Pair(1, 2), (3, 4)], is_leaf=lambda t: isinstance(t, tuple)) == [1, 2, (3, 4)]
    assert tree_map(len, [(1, 2), (3,)], is_leaf=lambda t: isinstance(t, tuple)) == [2, 1]
    assert tree_map_only(tuple, len, [(1, 2), 3], is_leaf=lambda t: isinstance(t, tuple)) == [2, 3]
    for known in (Pair, dict):
        with pytest.raises(ValueError, match="already"):
            _register_pytree_node(known, lambda p: ((), None), lambda items, kept: None)


def test_what_the_outside_sees():
    w = mg.tensor([2.0, 3.0], requires_grad=True)
    x = mg.tensor([1.0, 4.0])
    g = func.grad(lambda x: (w * x * x).sum())(x)
    assert g.requires_grad
    g.sum().backward()
    assert w.grad.tolist() == [2.0, 8.0]
    assert not func.grad(lambda x: (x * x).sum())(x).requires_grad
    with mg.no_grad():
        g = func.grad(lambda x: (w * x * x).sum())(x)
    assert not g.requires_grad and g.tolist() == [4.0, 24.0]
    leaf = x.clone().requires_grad_()
    g = func.grad(lambda x: (x**3).sum())(leaf)
    assert g.requires_grad
    g.sum().backward()
    assert leaf.grad.tolist() == [6.0, 24.0]
    _, t = func.jvp(lambda x: x * w, (x,), (mg.ones(2),))
    t.sum().backward()
    assert w.grad.tolist() == [3.0, 9.0]
    # The argument as the function sees it is nobody else's.
    def inside(y):
        assert y.requires_grad and y is not x
        return (y * y).sum()

    func.grad(inside)(x)
    assert x.grad is None and not x.requires_grad and mg.is_grad_enabled()
    with pytest.raises(KeyError):
        func.grad(lambda y: {}[0])(x)
    assert mg.is_grad_enabled()


def test_random_numbers():
    xs = mg.zeros(4, 3)
    with pytest.raises(ValueError, match="randomness"):
        func.vmap(lambda x: x + mg.rand(3))(xs)
    same = func.vmap(lambda x: x + mg.rand(3), randomness="same")(xs)
    assert all(row == same[0].tolist() for row in same.tolist())
    different = func.vmap(lambda x: x + mg.rand(3), randomness="different")(xs)
    assert len({tuple(row) for row in different.tolist()}) == 4
    dropped = func.vmap(lambda x: F.dropout(x + 1, 0.5), randomness="different")(mg.zeros(64, 32))
    assert 0.4 < (dropped == 0).double().mean().item() < 0.6
    mg.manual_seed(3)
    first = func.vmap(lambda x: x + mg.randn(3), randomness="different")(xs).tolist()
    mg.manual_seed(3)
    assert func.vmap(lambda x: x + mg.randn(3), randomness="different")(xs).tolist() == first
    with pytest.raises(ValueError, match="randomness"):
        func.vmap(lambda x: x, randomness="some")(xs)


def test_what_batches_refuse():
    xs = numbers(3, 2)
    with pytest.raises(ValueError, match="vmap.*where"):
        func.vmap(lambda x: x if x.sum() > 0 else -x)(xs)
    with pytest.raises(ValueError, match="vmap"):
        func.vmap(lambda x: x.sum().item())(xs)
    outside = mg.zeros(2, dtype=mg.float64)
    with pytest.raises(ValueError, match="outside"):
        func.vmap(lambda x: outside.add_(x))(xs)
    assert outside.tolist() == [0, 0]
    weight = mg.ones(2, dtype=mg.float64, requires_grad=True)
    with pytest.raises(ValueError, match="outside"):
        func.vmap(lambda x: ((weight * x).sum().backward(), x)[1])(xs)
    assert weight.grad is None
    with pytest.raises(ValueError, match="examples"):
        func.vmap(lambda x, y: x)(xs, numbers(4, 2))
    with pytest.raises(ValueError, match="axis"):
        func.vmap(lambda x: x, in_dims=5)(xs)
    with pytest.raises(ValueError, match="in_dims"):
        func.vmap(lambda x, y: x, in_dims=(0,))(xs, xs)
    with pytest.raises(ValueError, match="no tensor"):
        func.vmap(lambda x: x)(3.0)
    with pytest.raises(TypeError, match="results"):
        func.vmap(lambda x: 3)(xs)
    with pytest.raises(ValueError, match="out_dims"):
        func.vmap(lambda x: x, out_dims=None)(xs)
    assert func.vmap(lambda x: mg.ones(2), out_dims=None)(xs).shape == (2,)
    assert func.vmap(lambda x: mg.ones(2))(xs).shape == (3, 2)
    with pytest.raises((ValueError, RuntimeError), match="axes"):
        func.vmap(lambda x: x.reshape(*[1] * 15, 2) * 2)(xs)
    with pytest.raises(RuntimeError, match="one number"):
        func.grad(lambda x: x)(xs)
    with pytest.raises(TypeError, match="floats"):
        func.grad(lambda x: x.sum())(mg.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="argnums"):
        func.grad(lambda x: x.sum(), argnums=1)(xs)
    with pytest.raises((RuntimeError, ValueError), match="tangent"):
        func.jvp(lambda x: x, (xs,), (numbers(2),))
    assert "tensor" in repr(func.vmap(lambda x: (repr(x), x)[1])(xs))


def test_positions_and_factorisations_of_many_examples_at_once():
    vmap = mg.func.vmap
    x, at = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), mg.tensor([2, -1])
    assert vmap(lambda x, i: x[i])(x, at).tolist() == [3.0, 6.0]
    assert vmap(lambda x, i: x[i], in_dims=(None, 0))(x, mg.tensor([1, 0])).tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
    assert vmap(lambda x, i: x[..., i])(x, at).tolist() == [3.0, 6.0]
    assert vmap(lambda x, i: mg.func.grad(lambda x: x[i])(x))(x, mg.tensor([2, 0])).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    with pytest.raises(IndexError):
        vmap(lambda x, i: x[i])(x, mg.tensor([0, 3])).tolist()
    m = mg.tensor([[[2.0, 1.0], [1.0, 3.0]], [[4.0, -1.0], [-1.0, 1.0]], [[1.0, 0.5], [0.5, 2.0]]], dtype=mg.float64)
    b = m[:, :, :1] + 1
    for f in (
        mg.linalg.inv,
        mg.inverse,
        mg.linalg.pinv,
        mg.linalg.cholesky,
        mg.linalg.eigvalsh,
        mg.linalg.svdvals,
        mg.linalg.cond,
        mg.linalg.matrix_rank,
        lambda m: mg.linalg.eigh(m)[0],
        lambda m: mg.linalg.svd(m)[1],
        lambda m: mg.linalg.lu_factor(m)[0],
        lambda m: mg.linalg.solve(m, m[0]),
        mg.func.jacrev(mg.linalg.inv),
    ):
        mg.testing.assert_close(vmap(f)(m), mg.stack([f(one) for one in m]))
    mg.testing.assert_close(vmap(mg.linalg.solve)(m, b), mg.linalg.solve(m, b))
    long, right = mg.cat([m, m[:, :1] * 2 + 1], 1), mg.cat([b, b[:, :1]], 1)
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        for got, want in zip(vmap(lambda a, b: tuple(mg.linalg.lstsq(a, b, driver=driver)))(long, right), mg.linalg.lstsq(long, right, driver=driver)):
            assert want.numel() == got.numel() and (not want.numel() or mg.allclose(got, want))
    far = mg.stack([m[0], m[1] * 100, m[2] * 1e-3, m[0] * -1e6])
    for dtype in (mg.float64, mg.float32):
        for f in (mg.matrix_exp, lambda m: mg.linalg.matrix_exp(mg.stack([m, -m]))):
            mg.testing.assert_close(vmap(f)(far[2:].to(dtype)), mg.stack([f(one) for one in far[2:].to(dtype)]))
    mg.testing.assert_close(vmap(mg.matrix_exp)(far), mg.matrix_exp(far), rtol=1e-9, atol=0)
    slopes = mg.func.vmap(mg.func.grad(lambda m: mg.matrix_exp(m).sum()))(m)
    mg.testing.assert_close(slopes, mg.stack([mg.func.grad(lambda m: mg.matrix_exp(m).sum())(one) for one in m]))
    m[1] = 0.0
    with pytest.raises(mg.linalg.LinAlgError):
        vmap(mg.linalg.inv)(m).tolist()


# What a function under vmap writes to its arguments is theirs.
def first_is_seven(a):
    a[0] = 7
    return a * 2


def test_writes_under_vmap():
    x = mg.ones(2, 2)
    assert mg.func.vmap(first_is_seven)(x).tolist() == [[14.0, 2.0]] * 2
    assert x.tolist() == [[7.0, 1.0]] * 2
    x = mg.ones(2, 2)
    mg.func.vmap(first_is_seven, in_dims=1)(x)
    assert x.tolist() == [[7.0, 7.0], [1.0, 1.0]]
    x = mg.ones(4, 2)
    assert mg.func.vmap(first_is_seven, chunk_size=3)(x).tolist() == [[14.0, 2.0]] * 4
    assert x.tolist() == [[7.0, 1.0]] * 4
    x, y = mg.ones(2, 3), mg.arange(6.0).reshape(2, 3)

    def both(a, b):
        a.mul_(b)
        b.add_(1)
        return a.sum()

    assert mg.func.vmap(both)(x, y).tolist() == [3.0, 12.0]
    assert (x.tolist(), y.tolist()) == ([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_writes_under_vmap_have_gradients():
    x = mg.ones(2, 3, requires_grad=True)
    h = x * 2
    mg.func.vmap(lambda a: a.mul_(3).sum())(h).sum().backward()
    assert x.grad.tolist() == [[6.0] * 3] * 2 and h.tolist() == [[6.0] * 3] * 2
    x = mg.ones(2, 3, requires_grad=True)
    h = x * 2
    mg.func.vmap(lambda a: a.mul_(3).sum())(h)
    h.sum().backward()
    assert x.grad.tolist() == [[6.0] * 3] * 2
    with pytest.raises(RuntimeError):
        mg.func.vmap(lambda a: a.mul_(3).sum())(mg.ones(2, 3, requires_grad=True))


def test_batches_of_none_and_one():
    assert func.vmap(lambda x: x.sin() @ x)(mg.zeros(0, 3)).shape == (0,)
    assert func.vmap(lambda x: x.sum())(mg.ones(1, 3)).tolist() == [3.0]
    close(func.jacrev(lambda x: x * 2)(mg.zeros(0)), [])


def test_chunks():
    xs = numbers(7, 3)
    f = lambda x: x.outer(x).sin()  # noqa: E731
    for size in (1, 2, 7, 100):
        close(func.vmap(f, chunk_size=size)(xs), func.vmap(f)(xs), rtol=1e-12)
        close(func.jacrev(f, chunk_size=size)(xs[0]), func.jacrev(f)(xs[0]), rtol=1e-12)
        close(func.jacfwd(f, chunk_size=size)(xs[0]), func.jacrev(f)(xs[0]), rtol=1e-12)
    for transform in (func.vmap, func.jacrev, func.jacfwd):
        with pytest.raises(ValueError, match="chunk_size"):
            transform(f, chunk_size=0)


def test_kernels_that_loop_say_so_once():
    func._told.clear()
    with pytest.warns(UserWarning, match="own has no rule for batches"):
        func._tell(["own"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        func._tell(["own"])


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y * x

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return g * 3 * x * x


def test_functions_with_gradients_of_their_own():
    xs = numbers(4, 3)
    close(func.vmap(Cube.apply)(xs), xs**3, rtol=1e-12)
    close(func.vmap(func.grad(lambda x: Cube.apply(x).sum()))(xs), xs**2 * 3, rtol=1e-12)
    close(func.grad(lambda x: func.vmap(Cube.apply)(x).sum())(xs), xs**2 * 3, rtol=1e-12)
    close(func.jvp(Cube.apply, (xs,), (xs,))[1], xs**3 * 3, rtol=1e-12)
    close(func.hessian(lambda x: Cube.apply(x).sum())(xs[0]), mg.diag(xs[0] * 6), rtol=1e-12)
    leaf = xs.clone().requires_grad_()
    (g,) = autograd.grad(func.vmap(Cube.apply)(leaf).sum(), leaf, create_graph=True)
    g.sum().backward()
    close(leaf.grad, xs * 6, rtol=1e-12)


def test_modules_as_functions():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    params = {name: p.detach() for name, p in net.named_parameters()}
    x = mg.randn(5, 3)
    before = net(x)
    close(func.functional_call(net, params, (x,)), before)
    zeros = {name: mg.zeros_like(p) for name, p in params.items()}
    assert func.functional_call(net, zeros, x).abs().sum().item() == 0
    close(net(x), before)
    with pytest.raises(RuntimeError, match="names"):
        func.functional_call(net, {"0.weight": params["0.weight"]}, x, strict=True)
    loss = lambda p, x: func.functional_call(net, p, (x,)).square().sum()  # noqa: E731
    each = func.vmap(func.grad(loss), in_dims=(None, 0))(params, x)
    for i in range(5):
        one = func.grad(loss)(params, x[i])
        for name in params:
            close(each[name][i], one[name], rtol=1e-4, atol=1e-5)
    nets = [nn.Linear(3, 2) for _ in range(4)]
    stacked, buffers = func.stack_module_state(nets)
    assert stacked["weight"].shape == (4, 2, 3) and stacked["weight"].requires_grad and buffers == {}
    out = func.vmap(lambda p, x: func.functional_call(nets[0], p, x), in_dims=(0, None))(stacked, x)
    close(out, mg.stack([net(x) for net in nets]), rtol=1e-4, atol=1e-5)


def test_replayed():
    w = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)

    @mg.jit
    def step(x):
        each = func.vmap(func.grad(lambda w, x: (w * x).sum().square()), in_dims=(None, 0))(w, x)
        return each, func.hessian(lambda w: (w**3).sum())(w.detach())

    for i in range(6):
        x = mg.randn(4, 3)
        each, h = step(x)
        close(each, mg.stack([2 * (w.detach() * a).sum() * a for a in x]), rtol=1e-4, atol=1e-4)
        close(h, mg.diag(w.detach() * 6), rtol=1e-5)
    assert step.reason is None or not step.is_replaying


# autograd.functional.


def test_functional():
    x, y = numbers(3), numbers(3, seed=4)
    f = lambda x, y: (x * y).sin()  # noqa: E731
    j = functional.jacobian(f, (x, y))
    close(j[0], mg.diag((x * y).cos() * y), rtol=1e-10)
    close(j[1], mg.diag((x * y).cos() * x), rtol=1e-10)
    close(functional.jacobian(f, (x, y), strategy="forward-mode", vectorize=True)[1], j[1], rtol=1e-10)
    close(functional.jacobian(lambda x: x * x, x), mg.diag(x * 2), rtol=1e-10)
    assert [list(part.shape) for part in functional.jacobian(lambda x: (x, x.sum()), x)] == [[3, 3], [3]]
    number = lambda x, y: (x * x * y).sum()  # noqa: E731
    h = functional.hessian(number, (x, y))
    close(h[0][0], mg.diag(y * 2), rtol=1e-10)
    close(h[0][1], mg.diag(x * 2), rtol=1e-10)
    close(h[1][1], mg.zeros(3, 3), atol=1e-12)
    v = (numbers(3, seed=6), numbers(3, seed=8))
    value, product = functional.hvp(number, (x, y), v)
    close(value, number(x, y))
    close(product[0], y * 2 * v[0] + x * 2 * v[1], rtol=1e-10)
    value, product = functional.vhp(number, (x, y), v)
    close(product[1], x * 2 * v[0], rtol=1e-10)
    out, change = functional.jvp(f, (x, y), v)
    close(change, (x * y).cos() * (y * v[0] + x * v[1]), rtol=1e-10)
    out, pulled = functional.vjp(f, (x, y), v[0])
    close(pulled[0], (x * y).cos() * y * v[0], rtol=1e-10)
    assert functional.vjp(lambda x: x.sum(), x)[1].tolist() == [1.0] * 3
    leaf = x.clone().requires_grad_()
    assert not functional.jacobian(lambda x: x * x, leaf).requires_grad
    functional.jacobian(lambda x: x * x, leaf, create_graph=True).sum().backward()
    close(leaf.grad, [2.0] * 3)
    with pytest.raises(RuntimeError, match="depend"):
        functional.jacobian(lambda x, y: x * 2, (x, y), strict=True)
    with pytest.raises(RuntimeError, match="v is needed"):
        functional.vjp(f, (x, y))
    with pytest.raises(RuntimeError, match="one number"):
        functional.hessian(lambda x: x, x)
    with pytest.raises(TypeError, match="tensors"):
        functional.jacobian(lambda x: x, [x])


def test_gradients_of_a_batch_of_gradients():
    x = numbers(3).requires_grad_()
    y = x * x
    eye = mg.eye(3).double()
    (j,) = autograd.grad(y, x, eye, is_grads_batched=True)
    close(j, mg.diag(x.detach() * 2))
    with pytest.raises(ValueError, match="batch"):
        autograd.grad(x.sum(), x, is_grads_batched=True)


# Checks.


def test_gradcheck():
    x, y = numbers(3).requires_grad_(), numbers(3, seed=4).requires_grad_()
    f = lambda x, y: ((x * y).sin(), x.sum())  # noqa: E731
    assert gradcheck(f, (x, y), check_forward_ad=True, check_batched_grad=True) and gradgradcheck(f, (x, y), check_fwd_over_rev=True)
    assert autograd.gradcheck(lambda x: x.exp(), x)

    class Wrong(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    with pytest.raises(GradcheckError, match="is 3.*give 2|is 3"):
        gradcheck(Wrong.apply, x)
    assert not gradcheck(Wrong.apply, x, raise_exception=False)

    class Half(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x.detach()

    assert gradcheck(Half.apply, x)
    with pytest.raises(GradcheckError):
        gradgradcheck(Half.apply, x)
    with pytest.raises(ValueError, match="float64"):
        gradcheck(lambda x: x, mg.ones(3, requires_grad=True))
    with pytest.raises(ValueError, match="requires a gradient"):
        gradcheck(lambda x: x, numbers(3))


# NaN.


def test_anomalies():
    x = mg.tensor([4.0, -1.0, 0.0], requires_grad=True)
    with autograd.detect_anomaly():
        assert autograd.is_anomaly_enabled()
        y = mg.where(x > 1, x.sqrt(), x)  # the line
        with pytest.raises(RuntimeError, match=r"SqrtBackward0.*nan.*test_func.*x\.sqrt\(\)"):
            y.sum().backward()
        assert x.grad is None
        y = x.log()  # makes it
        with pytest.raises(RuntimeError, match=r"'log' made the first nan.*makes it"):
            (y * 2).sum().backward()
        (x * 2).sum().backward()
    assert not autograd.is_anomaly_enabled()
    y = mg.where(x > 1, x.sqrt(), x)
    y.sum().backward()
    assert math.isnan(x.grad.tolist()[1])
    with autograd.set_detect_anomaly(True, check_nan=False):
        assert not autograd.is_anomaly_check_nan_enabled()
        mg.where(x > 1, x.sqrt(), x).sum().backward()
    step = mg.jit(lambda x: x * 2)
    with autograd.set_detect_anomaly(True):
        assert [step(x).tolist()[0] for _ in range(4)] == [8.0] * 4
    autograd.set_detect_anomaly(True)
    autograd.set_detect_anomaly(False)
    assert not autograd.is_anomaly_enabled()


def test_whether_nan_is_looked_for():
    assert not mg.is_anomaly_enabled() and mg.is_anomaly_check_nan_enabled() is mg.autograd.is_anomaly_check_nan_enabled()
    with mg.autograd.detect_anomaly(check_nan=False):
        assert mg.is_anomaly_enabled() and not mg.is_anomaly_check_nan_enabled()
    mg.set_anomaly_enabled(True)
    try:
        assert mg.is_anomaly_enabled() and mg.is_anomaly_check_nan_enabled()
    finally:
        mg.set_anomaly_enabled(False)
    assert not mg.is_anomaly_enabled()


def test_keyword_arguments_of_vmap_are_the_same_for_all():
    x = mg.arange(10.0).reshape(2, 5)
    answer = func.vmap(lambda x, scale: x * scale)(x, scale=x)
    assert answer.shape == (2, 2, 5) and answer.tolist() == (x[:, None] * x).tolist()
