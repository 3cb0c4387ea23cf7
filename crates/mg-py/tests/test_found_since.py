"""What random programs have found since `test_found.py`, each as small as it got. Wanted is what PyTorch answers."""

import math

import micrograd_rs as L
import pytest

F = L.nn.functional
INF = math.inf


def leaf(*values, dtype=L.float32):
    return L.tensor(*values, dtype=dtype, requires_grad=True)


def jitted(step):
    """The step as it is, and one that is replayed."""
    return [step, L.jit(step)]


# A number beside integers that it does not fit, where floats come of both.


@pytest.mark.parametrize("dtype", [L.uint8, L.int8])
@pytest.mark.parametrize("number", [-3, 300])
def test_a_number_beside_integers_is_a_float_where_floats_come_of_them(dtype, number):
    x, wide = L.tensor([1, 0, 7], dtype=dtype), L.tensor([1.0, 0.0, 7.0])
    functions = [L.xlogy, L.special.xlogy, L.special.xlog1py, L.special.zeta, L.div, L.true_divide, L.logaddexp, L.logaddexp2]
    for f in functions:
        for ours, wanted in ((lambda: f(x, number), f(wide, float(number))), (lambda: f(number, x), f(float(number), wide))):
            answer = ours()
            assert answer.dtype == L.float32
            L.testing.assert_close(answer, wanted, equal_nan=True)
    assert L.div(300, L.tensor([2], dtype=L.int8)).tolist() == [150.0]
    assert L.special.zeta(L.tensor(7, dtype=L.uint8), -3).item() == INF
    assert L.float_power(number, L.tensor([2, 0], dtype=dtype)).tolist() == [float(number) ** 2, 1.0]
    assert L.float_power(-3.7, L.tensor([7], dtype=dtype)).item() == pytest.approx((-3.7) ** 7, rel=1e-14)


def test_a_number_beside_integers_is_one_of_them_where_integers_come_of_both():
    assert L.pow(300, L.tensor([1], dtype=L.int8)).dtype == L.int8


# Rows that hold infinity.


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, INF])
def test_a_row_is_no_part_of_its_own_distance(p):
    x = leaf([[INF, 1.0], [0.0, 2.0]])
    L.pdist(x, p).sum().backward()
    y = leaf([[INF, 1.0], [0.0, 2.0]])
    L.cdist(y[:1], y[1:], p).sum().backward()
    # Between two rows there is one distance, whichever function is asked.
    assert str(x.grad) == str(y.grad + 0.0)
    assert L.pdist(x, p).item() == INF


def test_distances_from_infinity():
    x = leaf([[INF, 1.0], [0.0, 2.0], [1.0, 5.0]])
    L.pdist(x, 1.0).sum().backward()
    assert x.grad.tolist() == [[2.0, -2.0], [-2.0, 0.0], [0.0, 2.0]]
    # Whether two infinities, or what is no number, are apart is not known.
    assert math.isnan(L.pdist(L.tensor([[INF, 1.0], [INF, 2.0]]), 0.0).item())
    assert math.isnan(L.cdist(L.tensor([[math.nan, 1.0]]), L.tensor([[0.0, 2.0]]), 0.0).item())
    assert L.pdist(L.tensor([[INF, 1.0], [0.0, 2.0]]), 0.0).item() == 2.0


# Names of arguments.


def test_functions_that_are_methods_too_take_their_tensor_by_name():
    x = L.tensor([[1.0, 4.0], [3.0, 2.0]])
    assert L.max(input=x).item() == 4.0 and L.min(input=x).item() == 1.0
    assert L.max(input=x, dim=1).values.tolist() == [4.0, 3.0] and L.max(x, 0).indices.tolist() == [1, 0]
    assert L.min(input=x, other=L.full((2, 2), 2.0)).tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert L.numel(input=x) == 4 and L.nonzero(input=x).shape == (4, 2) and L.is_floating_point(input=x)
    with pytest.raises(TypeError):
        L.max(x, input=x)


# Histories.


def test_a_power_of_zero_is_walked_once():
    w = leaf([0.0, 2.0, math.nan])
    answer = (w**0).sum()
    answer.backward(retain_graph=True)
    assert answer.item() == 3.0 and w.grad.tolist() == [0.0, 0.0, 0.0]
    answer.backward()
    with pytest.raises(RuntimeError, match="let go"):
        answer.backward()
    own = leaf([3.0]) * 1
    ones = own**0
    own.zero_()
    ones.sum().backward()


def test_what_is_written_to_memory_that_an_array_sees_has_a_history():
    np = pytest.importorskip("numpy")
    w, t = leaf(3.0), L.tensor([0.0, 1.0])
    array = t.numpy()
    t[0] = w
    total = (t * t).sum()
    assert L.autograd.grad(total, t, retain_graph=True)[0].tolist() == [6.0, 2.0]
    assert L.autograd.grad(total, w)[0].item() == 6.0
    assert isinstance(array, np.ndarray) and array.tolist() == [3.0, 1.0]


# Steps.


def test_what_was_copied_stays_when_its_origin_changes():
    w = L.tensor([1.0, 2.0], requires_grad=True)
    copied = L.zeros(2)
    copied.copy_(w)
    part = L.zeros(3)
    part[1:] = w
    squares = (copied * copied).sum() + (part * part).sum()
    with L.no_grad():
        w.mul_(3.0)
    squares.backward()
    assert w.grad.tolist() == [4.0, 8.0]


def test_a_gradient_of_another_shape_is_added_only_where_it_fits():
    w = L.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    w.data = L.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises((RuntimeError, ValueError), match=r"shape \[2, 2\].*shape \[2\]"):
        (w * w).sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]
    w.data = L.tensor([5.0])
    (w * w).sum().backward()
    assert w.grad.tolist() == [12.0, 14.0]


def test_the_exponential_of_one_number_is_that_of_numbers():
    x = L.tensor([[[-float("inf")]], [[0.0]], [[1.5]]], requires_grad=True)
    y = L.matrix_exp(x)
    assert y[:, 0, 0].tolist() == x.exp()[:, 0, 0].tolist()
    y[1:].sum().backward()
    assert x.grad[1:].tolist() == y[1:].tolist()


@pytest.mark.parametrize("fill", [lambda t: t.fill_(0.0), lambda t: t.__setitem__(..., 0.0)])
def test_what_was_filled_is_one_result_when_its_numbers_change(fill):
    w = L.tensor(0.0, requires_grad=True)
    filled = w.fix()
    fill(filled)
    after = filled - w
    for _ in range(3):
        filled.data.add_(1.0)
    to_w, to_filled = L.autograd.grad(filled + after, [w, filled])
    assert (to_w.item(), to_filled.item()) == (-1.0, 2.0)


@pytest.mark.parametrize("values", [[INF, INF, 1.0], [math.nan, 2.0, math.nan], [-INF, -INF, 1.0], [-0.0, -0.0], [3.0, 1.0, 3.0, 3.0, 7.0, 7.0]])
@pytest.mark.parametrize("name", ["max", "min", "median"])
def test_what_is_found_among_equals_shares_its_gradient(name, values):
    x = leaf(values)
    found = getattr(x, name)()
    found.backward()
    share = [v == found.item() or (math.isnan(v) and math.isnan(found.item())) for v in values]
    assert x.grad.tolist() == pytest.approx([s / sum(share) for s in share])
    assert math.isnan(found.item()) or math.copysign(1.0, found.item()) == math.copysign(1.0, values[share.index(True)])


def test_what_was_copied_of_a_constant_stays_when_it_changes():
    w, other = leaf([1.0, 2.0]), L.tensor([3.0, 4.0])
    w.detach().copy_(other)
    squares = (w * w).sum()
    other.zero_()
    squares.backward()
    assert w.grad.tolist() == [6.0, 8.0]


def test_a_gradient_that_is_kept_is_that_of_the_tensor_as_it_is():
    def of(write, of=lambda h: h):
        w = leaf([1.0, 1.0])
        h = w * 2
        kept = of(h)
        kept.retain_grad()
        total = write(h, kept)
        assert kept.retains_grad
        total.backward()
        return None if kept.grad is None else kept.grad.tolist()

    def unrecorded(h, _):
        y = h + 1
        with L.no_grad():
            h.mul_(3)
        return y.sum() + 2 * h.sum()

    assert of(lambda h, _: h.mul_(3).sum()) == [1.0, 1.0]
    assert of(lambda h, _: (h[0].mul_(3), h.sum())[1]) == [1.0, 1.0]
    assert of(lambda h, _: (h.__setitem__(0, 7.0), (h * 5).sum())[1]) == [5.0, 5.0]
    # What was made of it before it was written to is no part of that.
    assert of(lambda h, _: (h + 1, h.mul_(3))[0].sum()) is None
    assert of(unrecorded) == [3.0, 3.0]
    assert of(lambda h, v: (h.mul_(3), h.sum() + v.sum())[1], lambda h: h[:1]) == [1.0]
    assert of(lambda h, v: v.mul_(3).sum(), lambda h: h[:1]) == [1.0]
    # Twice, and beside a hook, which stays with what it was registered for.
    w = leaf([1.0, 1.0])
    h = w * 2
    told = []
    h.register_hook(lambda g: told.append(g.tolist()))
    h.retain_grad()
    h.mul_(3)
    h.mul_(5)
    h.sum().backward()
    assert (h.grad.tolist(), w.grad.tolist(), told) == ([1.0, 1.0], [30.0, 30.0], [[15.0, 15.0]])


def test_views_that_were_there_before_a_leaf_was_are_written_to_like_it():
    x = L.ones(3)
    view, detached = x[:1], x.detach()
    x.requires_grad_()
    for write in (lambda v: v.mul_(2), lambda v: v.__setitem__(0, 5.0), lambda v: v.zero_(), lambda v: v.view(1, 1).fill_(3.0)):
        with pytest.raises(RuntimeError, match="leaf"):
            write(view)
    assert x.tolist() == [1.0, 1.0, 1.0]
    with L.no_grad():
        view.mul_(2)
    detached[1] = 4.0
    assert x.tolist() == [2.0, 4.0, 1.0]
    x.requires_grad_(False)
    view.mul_(2)
    assert x.tolist() == [4.0, 4.0, 1.0]
    # A view that is a leaf itself is nothing to the others.
    x = L.ones(3)
    view, other = x[:1], x[:2]
    view.requires_grad_()
    x.mul_(2)
    other.mul_(2)
    assert (x.tolist(), view.tolist()) == ([4.0, 4.0, 2.0], [4.0])


# Numbers that integers do not hold.

WRITES = {
    "fill_": lambda x, v: x.fill_(v),
    "masked_fill": lambda x, v: x.masked_fill(L.tensor([True, False]), v),
    "index_fill": lambda x, v: x.index_fill(0, L.tensor([0]), v),
    "scatter": lambda x, v: x.scatter(0, L.tensor([0]), v),
    "x[0] =": lambda x, v: x.__setitem__(0, v),
    "x[...] =": lambda x, v: x.__setitem__(..., v),
    "x[[0]] =": lambda x, v: x.__setitem__([0], v),
    "x[mask] =": lambda x, v: x.__setitem__(L.tensor([True, False]), v),
    "new_full": lambda x, v: x.new_full((2,), v),
    "full_like": lambda x, v: L.full_like(x, v),
    "tensor": lambda x, v: L.tensor([v], dtype=x.dtype),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_number_that_integers_do_not_hold_is_not_written(write):
    refused = {
        L.uint8: [256, -256, 300, math.nan, INF, -INF, 256.0, -0.5, 1e30, 2**40],
        L.int8: [128, -129, math.nan, 128.0, -128.5],
        L.int32: [2**31, -(2**31) - 1, 2.0**31],
        L.int64: [2**63, math.nan, 1e30, -1e30],
    }
    for dtype, numbers in refused.items():
        for number in numbers:
            x = L.tensor([3, 4], dtype=dtype)
            with pytest.raises((RuntimeError, ValueError), match="overflow|does not fit"):
                write(x, number)
            assert x.tolist() == [3, 4]
    for dtype, number, written in [
        (L.uint8, -1, 255),
        (L.uint8, -255, 1),
        (L.uint8, 255.9, 255),
        (L.int8, 127.9, 127),
        (L.int8, -128, -128),
        (L.int64, -(2.0**63), -(2**63)),
        (L.int64, 2**63 - 1, 2**63 - 1),
    ]:
        x = L.tensor([3, 4], dtype=dtype)
        answer = write(x, number)
        assert (x if answer is None else answer)[0].item() == written
    x = L.tensor([False, False])
    answer = write(x, 2)
    assert (x if answer is None else answer)[0].item() is True


@pytest.mark.parametrize("number", [300, -300, 2**40])
def test_a_factor_that_integers_do_not_hold_is_not_taken(number):
    x = L.ones(2, dtype=L.uint8)
    for f in (L.add, L.sub):
        with pytest.raises(RuntimeError):
            f(x, x, alpha=number)
    assert L.add(x, x, alpha=-1).tolist() == [0, 0]


def test_a_number_beyond_all_integers_equals_none_of_them():
    for x in (L.tensor([1, -(2**63), 2**63 - 1]), L.tensor([1, 0, 255], dtype=L.uint8), L.tensor([True, False, True])):
        for huge in (2**63, 2**70):
            assert (x == huge).tolist() == [False] * 3 == (x > huge).tolist() == (x >= huge).tolist() == x.eq(huge).tolist()
            assert (x != huge).tolist() == [True] * 3 == (x < huge).tolist() == (x <= huge).tolist() == x.ne(huge).tolist()
            assert (huge > x).tolist() == [True] * 3
        assert (x > -(2**70)).tolist() == [True] * 3
        assert (x == -(2**70)).tolist() == [False] * 3


@pytest.mark.parametrize(("start", "end"), [(1.0, 0.0), (0.0, -1.0), (0.0, -0.5), (3.0, 0.0)])
@pytest.mark.parametrize("steps", [2, 3, 7])
def test_the_ends_of_a_line_have_the_sign_that_they_were_given(start, end, steps):
    line = L.linspace(start, end, steps)
    assert (line[0].item(), line[-1].item()) == (start, end)
    assert not line.tolist() or all(math.copysign(1.0, v) == 1.0 for v in line.tolist() if v == 0.0)


def test_positions_and_factorisations_of_many_examples_at_once():
    vmap = L.func.vmap
    x, at = L.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), L.tensor([2, -1])
    assert vmap(lambda x, i: x[i])(x, at).tolist() == [3.0, 6.0]
    assert vmap(lambda x, i: x[i], in_dims=(None, 0))(x, L.tensor([1, 0])).tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
    assert vmap(lambda x, i: x[..., i])(x, at).tolist() == [3.0, 6.0]
    assert vmap(lambda x, i: L.func.grad(lambda x: x[i])(x))(x, L.tensor([2, 0])).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    with pytest.raises(IndexError):
        vmap(lambda x, i: x[i])(x, L.tensor([0, 3])).tolist()
    m = L.tensor([[[2.0, 1.0], [1.0, 3.0]], [[4.0, -1.0], [-1.0, 1.0]], [[1.0, 0.5], [0.5, 2.0]]], dtype=L.float64)
    b = m[:, :, :1] + 1
    for f in (
        L.linalg.inv,
        L.inverse,
        L.linalg.pinv,
        L.linalg.cholesky,
        L.linalg.eigvalsh,
        L.linalg.svdvals,
        L.linalg.cond,
        L.linalg.matrix_rank,
        lambda m: L.linalg.eigh(m)[0],
        lambda m: L.linalg.svd(m)[1],
        lambda m: L.linalg.lu_factor(m)[0],
        lambda m: L.linalg.solve(m, m[0]),
        L.func.jacrev(L.linalg.inv),
    ):
        L.testing.assert_close(vmap(f)(m), L.stack([f(one) for one in m]))
    L.testing.assert_close(vmap(L.linalg.solve)(m, b), L.linalg.solve(m, b))
    m[1] = 0.0
    with pytest.raises(L.linalg.LinAlgError):
        vmap(L.linalg.inv)(m).tolist()


def a_function(backward):
    class Twice(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return backward(g)

    return Twice


@pytest.mark.parametrize("shape", [(1,), (2,), (2, 3)])
def test_a_functions_gradient_has_its_inputs_shape_or_one_that_this_was_broadcast_to(shape):
    x = L.ones(*shape, requires_grad=True)
    # What a tensor of one element is broadcast to may be anything.
    others = [lambda g: L.ones(5, 7), lambda g: g.reshape(-1)[:1]] if shape != (1,) else []
    for wrong in [lambda g: g.sum(), *others]:
        with pytest.raises(RuntimeError, match="gradient 0 has the shape"):
            a_function(wrong).apply(x).sum().backward()
        assert x.grad is None
    for right, times in [(lambda g: g.expand(3, *shape), 3.0), (lambda g: g[None], 1.0), (lambda g: g.double(), 1.0)]:
        x.grad = None
        a_function(right).apply(x).sum().backward()
        assert x.grad.dtype == L.float32 and x.grad.shape == shape and (x.grad == times).all()


def test_a_function_may_keep_the_input_that_it_has_changed():
    class Double(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x

    w = leaf([1.0, 2.0])
    h = w * 3
    y = Double.apply(h)
    assert y is h
    y.sum().backward()
    assert w.grad.tolist() == [18.0, 36.0]
    w = leaf([1.0, 2.0])
    (first,) = L.autograd.grad(Double.apply(w * 3).sum(), w, create_graph=True)
    (second,) = L.autograd.grad(first.sum(), w)
    assert second.tolist() == [54.0, 108.0]
    # What is written to it afterwards is not what was kept.
    w = leaf([1.0])
    y = Double.apply(w * 3)
    y.add_(100)
    y.sum().backward()
    assert w.grad.tolist() == [18.0]


def test_classes_below_zero_are_an_error_and_positions_below_zero_count_from_the_end():
    for labels in ([-1], [2, -1], [[-3]]):
        with pytest.raises(RuntimeError, match="non-negative"):
            F.one_hot(L.tensor(labels))
    assert F.one_hot(L.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert L.zeros(3).index_fill(0, L.tensor([0, -1]), 5).tolist() == [5, 0, 5]
    assert L.zeros(2, 3).index_fill(1, L.tensor([-2]), 5).tolist() == [[0, 5, 0]] * 2
    with pytest.raises(IndexError):
        L.zeros(3).index_fill(0, L.tensor([-4]), 5)
    fill = L.jit(lambda x, at: x.index_fill(0, at, 5.0))
    for at in ([0], [-1], [1], [-2], [2]):
        wanted = [0.0] * 3
        wanted[at[0]] = 5.0
        assert fill(L.zeros(3), L.tensor(at)).tolist() == wanted


LINEAR = {
    "add": lambda w: (w + 1).sum(),
    "view": lambda w: w.view(2, 1).t().sum(),
    "mean": lambda w: w.mean(),
    "cat": lambda w: L.cat([w, w]).sum(),
    "double": lambda w: w.double().sum(),
    "in place": lambda w: (w + 1).add_(2).sum(),
    "select": lambda w: w[0],
    "expand": lambda w: w.expand(3, 2).sum(),
}


@pytest.mark.parametrize("f", LINEAR.values(), ids=LINEAR)
def test_a_graph_that_has_saved_nothing_is_walked_again(f):
    w = leaf([1.0, 2.0])
    z = f(w)
    z.backward()
    once = w.grad.tolist()
    z.backward()
    assert w.grad.tolist() == [2 * g for g in once]
    z.backward()
    assert w.grad.tolist() == [3 * g for g in once]


@pytest.mark.parametrize("f", [lambda w: (w * w).sum(), lambda w: w.exp().sum(), lambda w: (w * w + 1).sum(), lambda w: w.max()])
def test_a_graph_that_has_saved_something_is_walked_once(f):
    w = leaf([1.0, 2.0])
    z = f(w)
    z.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        z.backward()


@pytest.mark.parametrize("dtype", [L.float64, L.float16, L.bfloat16, L.int64])
def test_a_seed_gradient_is_taken_in_the_results_dtype(dtype):
    w = leaf([1.0, 2.0])
    (w * 2).backward(L.tensor([1, 3], dtype=dtype))
    assert w.grad.dtype == L.float32 and w.grad.tolist() == [2.0, 6.0]
    (g,) = L.autograd.grad(w * 2, w, L.tensor([1, 3], dtype=dtype))
    assert g.dtype == L.float32 and g.tolist() == [2.0, 6.0]


@pytest.mark.parametrize("reduced", [lambda t: t.sum(0), lambda t: t.amin(dim=0), lambda t: t.prod(dim=0), lambda t: t.flatten(0, 1).sum(0)])
def test_what_is_summed_is_what_requires_the_gradient(reduced):
    leaf = L.tensor([[1.0, 2.0]]).clone().requires_grad_()
    answer = reduced(leaf if reduced(leaf).ndim == 1 else leaf[None])
    assert answer.requires_grad
    answer.sum().backward()
    assert leaf.grad.tolist() == [[1, 1]]
    view = (leaf * 2).reshape(2, 1, 1, 1).squeeze(-1)
    grad = L.autograd.grad(view.sum((0, 1)).sum(), view)[0]
    assert grad.tolist() == [[[1]], [[1]]]


def test_what_is_detached_stays_so_when_it_is_summed():
    leaf = L.tensor([[0.0, 0.0]], requires_grad=True)
    assert not leaf.clone().detach().amin(dim=0).requires_grad
    assert L.tensor([float("inf")]).i0().isnan().item() and L.tensor([100.0]).i0().isinf().item()
    short = L.zeros(3, 2, dtype=L.float16, requires_grad=True)
    short.renorm(1, 0, 1.0).sum().backward()
    assert short.grad.tolist() == [[1, 1]] * 3


def test_a_conversion_reads_what_was_there():
    """It happens where the result is stored, and the memory of what is converted may be taken over by another result of the same launch."""
    for dtype in (L.float16, L.bfloat16):
        for _ in range(2):
            x, most = L.tensor([1.25, 0.5]) + 0, L.tensor(3.0) + 0
            L.realize(x, most)
            larger, converted = L.maximum(x, most), x.to(dtype)
            del x
            L.realize(converted, larger)
            assert converted.tolist() == [1.25, 0.5] and larger.tolist() == [3, 3]


def test_modes_hold_within_generators_alone():
    x = L.ones(1, requires_grad=True)

    @L.no_grad()
    def steps(n):
        for _ in range(n):
            got = yield (x * 2).requires_grad
        return got

    body = steps(2)
    assert next(body) is False and (x * 2).requires_grad
    assert body.send("a") is False and (x * 2).requires_grad
    with pytest.raises(StopIteration) as end:
        body.send("b")
    assert end.value.value == "b" and (x * 2).requires_grad

    @L.inference_mode()
    def guarded():
        try:
            yield (x * 2).requires_grad
        except KeyError:
            yield L.is_inference_mode_enabled()

    body = guarded()
    assert next(body) is False and not L.is_inference_mode_enabled()
    assert body.throw(KeyError()) is True and not L.is_inference_mode_enabled()
    body.close()


def test_a_kept_gradient_that_is_asked_for_is_counted_once():
    p = L.tensor([1.0, 2.0], requires_grad=True)
    h = p * 1
    h.retain_grad()
    (h * h).sum().backward(inputs=[h])
    assert h.grad.tolist() == [2, 4] and p.grad is None


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.data.fill_(3.0),
        lambda w: w.detach().mul_(3),
        lambda w: w.data[0:1].fill_(3.0),
        lambda w: L.no_grad()(lambda: w[0].add_(2))(),
    ],
)
def test_checkpoints_find_leaves_whose_data_was_written(write):
    w = L.nn.Parameter(L.ones(2))
    x = L.ones(2, requires_grad=True)
    write(w)
    L.utils.checkpoint.checkpoint(lambda a: a * w, x, use_reentrant=False).sum().backward()
    assert w.grad.tolist() == [1, 1] and x.grad.tolist() == w.tolist()


def test_truth_values_without_axes_as_indices():
    x = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    put = x.index_put((L.tensor(True),), L.tensor(5.0), accumulate=True)
    assert put.tolist() == [6, 7, 8]
    assert x.index_put((L.tensor(False),), L.tensor(5.0)).tolist() == [1, 2, 3]
    put.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    for dtype in (L.bfloat16, L.int16):
        t = L.tensor(1).to(dtype)
        assert t.index_put((L.tensor(True),), L.tensor(4).to(dtype)).item() == 4


def checkpointed(f, a):
    return L.utils.checkpoint.checkpoint(f, a, use_reentrant=False)


def test_checkpoints_of_functions_that_write_to_what_they_are_given():
    x = L.ones(2, requires_grad=True)
    checkpointed(lambda a: a.mul_(3), x * 2).sum().backward()
    assert x.grad.tolist() == [6, 6]
    x = L.tensor([-1.0, 2.0], requires_grad=True)
    h = x * 2
    checkpointed(L.nn.Sequential(L.nn.ReLU(inplace=True), L.nn.Tanh()), h).sum().backward()
    assert x.grad.tolist() == [0, pytest.approx(2 * (1 - math.tanh(4) ** 2), rel=1e-3)] and h.tolist() == [0, 4]
    x = L.ones(2, requires_grad=True)
    h = x * 2
    seen = checkpointed(lambda a: a.view(2, 1), h)
    seen.mul_(3)
    assert h.tolist() == [6, 6]


def test_checkpoints_find_views_that_were_written():
    w, x = L.ones(2, 2, requires_grad=True), L.ones(2, 2, requires_grad=True)
    h = (w * 2).t()
    h.mul_(2)
    checkpointed(lambda a: h * a, x).sum().backward()
    assert w.grad.tolist() == [[4, 4], [4, 4]] and x.grad.tolist() == [[4, 4], [4, 4]]
    table = L.nn.Embedding(3, 2)
    with L.no_grad():
        table.weight[0].fill_(0.0)
    checkpointed(lambda i: table(i) * 2, L.tensor([0, 1])).sum().backward()
    assert table.weight.grad.tolist() == [[2, 2], [2, 2], [0, 0]]


def test_parameters_are_on_the_memory_of_what_they_are_made_of():
    x = L.ones(2)
    p = L.nn.Parameter(x)
    p.data.add_(1)
    assert x.tolist() == [2, 2]
    x.add_(1)
    assert p.tolist() == [3, 3]
    flat = L.zeros(4)
    a, b = L.nn.Parameter(flat[:2]), L.nn.Parameter(flat[2:])
    flat.copy_(L.tensor([1.0, 2.0, 3.0, 4.0]))
    assert a.tolist() == [1, 2] and b.tolist() == [3, 4]
    (a.sum() + b.sum() * 2).backward()
    L.optim.SGD([a, b], 0.5).step()
    assert flat.tolist() == [0.5, 1.5, 2, 3] and a.grad.tolist() == [1, 1]
    layer = L.nn.Linear(2, 2)
    tied = L.nn.Parameter(layer.weight.data)
    with L.no_grad():
        tied.zero_()
    assert layer.weight.tolist() == [[0, 0], [0, 0]]


def test_arrays_are_taken_as_they_are():
    numpy = pytest.importorskip("numpy")
    for take in (L.as_tensor, L.asarray, lambda a: L.as_tensor(a, dtype=L.float32, device="cpu")):
        a = numpy.zeros(3, dtype=numpy.float32)
        t = take(a)
        t[0] = 5
        a[2] = 7
        assert a.tolist() == [5, 0, 7] and t.tolist() == [5, 0, 7]
    # What is of another dtype, or may not be written, is copied.
    a = numpy.zeros(3)
    t = L.as_tensor(a, dtype=L.float32)
    a[0] = 1
    assert t.tolist() == [0, 0, 0]
    a.flags.writeable = False
    t = L.as_tensor(a)
    t[1] = 9
    assert a.tolist() == [1, 0, 0]
    assert L.as_tensor(numpy.float32(3)).item() == 3


def test_what_was_copied_from_may_be_written():
    w = L.tensor([0.0], requires_grad=True)
    h = L.tensor([2.0]) * 1
    with L.no_grad():
        w.copy_(h)
    y = w.exp() * w
    h *= h
    (g,) = L.autograd.grad(y, w)
    assert g.item() == pytest.approx(3 * math.exp(2)) and h.item() == 4 and w.item() == 2
    # What is written itself is told of.
    y = w.exp() * w
    with L.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="changed in place"):
        L.autograd.grad(y, w)


def test_degrees_of_polynomials():
    special, nan = L.special, math.nan
    x = L.tensor([0.5, 2.0, nan])
    assert special.chebyshev_polynomial_t(x, 2.7).tolist()[:2] == [-0.5, 7]
    assert special.chebyshev_polynomial_u(x, -1).tolist() == [0, 0, 0]
    assert special.legendre_polynomial_p(x, 0).tolist() == [1, 1, 1]
    # Degrees in a tensor have no fractions, and take part in the dtype.
    n = L.tensor([0.25, 2.7, -1.0], dtype=L.float64)
    found = special.shifted_chebyshev_polynomial_t(x, n)
    assert found.dtype == L.float64 and found.tolist() == [1, 17, 0]
    assert special.hermite_polynomial_he(2, L.tensor([3, 1, 0])).tolist() == [2, 2, 1]
    assert special.laguerre_polynomial_l(L.tensor([1, 3]), L.tensor([nan, 2.0])).tolist() == [0, -0.5]


def test_checkpoints_tell_of_what_was_changed_since():
    a = L.tensor([1.0, 2.0], requires_grad=True)
    for write in (lambda x: x.mul_(2), lambda x: x.exp_(), lambda x: x[0].zero_()):
        x = a * 1
        out = checkpointed(lambda x: x * 3, x)
        write(x)
        with pytest.raises(RuntimeError, match="changed in place since"):
            out.sum().backward()
    # Parameters may be updated meanwhile.
    w = L.nn.Parameter(L.ones(2))
    out = checkpointed(lambda x: x * w, a * 1)
    with L.no_grad():
        w.mul_(2)
    out.sum().backward()
    assert w.grad.tolist() == [1, 2]


def of_one(h):
    return h, h


def views(h):
    return h[1:], h.view(2, 2)


def view_first(h):
    return h[:3], h


def detached(h):
    return h, h.detach()


@pytest.mark.parametrize("parts", [of_one, views, view_first, detached])
def test_results_of_checkpoints_that_share_memory_do_so(parts):
    def run(call):
        a = leaf([1.0, 2.0, 3.0, 4.0])
        answers = call(lambda x: parts(x * 2), a * 1)
        answers[0].mul_(3)
        L.cat([(i * i).reshape(-1) for i in answers if i.requires_grad]).sum().backward()
        return [i.tolist() for i in answers], a.grad.tolist(), answers[0] is answers[1]

    assert run(checkpointed) == run(lambda f, x: f(x))


def test_checkpoints_hand_out_what_they_were_given():
    buffer, x = L.zeros(2), leaf([1.0, 2.0]) * 1
    h, same, of_buffer, whole = checkpointed(lambda x: (x * 2, x, buffer[:1], buffer), x)
    assert same is x and whole is buffer
    buffer.add_(1)
    assert of_buffer.tolist() == [1.0]
    h.sum().backward()


def test_what_a_checkpoint_answers_is_what_its_function_made():
    def f(x):
        h = x * 3
        h.name_of_it = "h"
        h.retain_grad()
        seen.append(h)
        return {"h": h, "again": [h, 3]}

    seen, a = [], leaf([1.0, 2.0])
    answer = checkpointed(f, a * 2)
    assert answer["h"] is seen[0] is answer["again"][0] and answer["h"].name_of_it == "h"
    (answer["h"] * answer["h"]).sum().backward()
    assert answer["h"].grad.tolist() == [12.0, 24.0] and a.grad.tolist() == [72.0, 144.0]


def test_what_checkpoints_answer_is_told_to_have_changed():
    h, d = checkpointed(lambda x: (lambda h: (h, h.detach()))(x.exp()), leaf([1.0, 2.0]))
    squares = h * h
    d.zero_()
    with pytest.raises(RuntimeError, match="changed in place"):
        squares.sum().backward()


def test_a_gradient_that_is_a_value_which_was_written_over_is_one_all_the_same():
    w = leaf([1.5, 2.0, 3.0])
    c = w.clone()
    d = c.clone()
    c.mul_(d)
    c.sum().backward()
    assert w.grad.tolist() == [3.0, 4.0, 6.0]
    w = leaf([1.5, 2.0, 3.0])
    c = w.clone()
    d = c[1:].clone()
    c[:2].mul_(d)
    c.sum().backward()
    assert w.grad.tolist() == [2.0, 4.5, 3.0]
    # What is made of that value is refused.
    c = w.clone()
    d = c * c
    c.mul_(d)
    with pytest.raises(RuntimeError, match="changed in place"):
        c.sum().backward()


def test_parts_of_what_is_written_over_have_gradients_of_what_is_left():
    def run(change):
        x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
        y = x * x
        change(y, x)
        (y * L.arange(1.0, 10.0).view(3, 3)).sum().backward()
        return x.grad.tolist()

    def meet(y, x):
        y[0] = x[1] * 3
        y[:, 0] = x[2]
        y[0:2, 0:2] = x[1:, 1:] * 2

    def again(y, x):
        y[1] = x[0] * 3
        y[1] = y[1].clone() * x[0]
        y[1, 2] = 0

    def column(y, x):
        y[:, 1] = x[1]
        y.t()[2] = y[0] * 2

    assert run(meet) == [[0.0, 0.0, 0.0], [0.0, 2.0, 85.0], [0.0, 136.0, 179.0]]
    assert run(again) == [[26.0, 68.0, 18.0], [0.0, 0.0, 0.0], [98.0, 128.0, 162.0]]
    assert run(column) == [[14.0, 0.0, 108.0], [46.0, 5.0, 8.0], [98.0, 0.0, 0.0]]


def test_elements_that_are_read_often_are_added_where_they_are():
    x = leaf([1.0, 2.0, 3.0])
    L.stack([x[i] * x[(2 * i) % 3] for i in range(3)]).sum().backward()
    assert x.grad.tolist() == [2.0, 6.0, 4.0]


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [(L.bfloat16, [0.33984375, 0.44140625, 0.2021484375, 0.65234375]), (L.float16, [0.341064453125, 0.443359375, 0.201904296875, 0.65673828125])],
)
def test_a_number_to_the_power_of_halves_has_its_own_logarithm(dtype, wanted):
    v = leaf([1.0, 2.0, -1.0, 3.5], dtype=dtype)
    (1.3**v).sum().backward()
    for grad, right in zip(v.grad.tolist(), wanted, strict=True):
        assert grad == pytest.approx(right, rel=L.finfo(dtype).eps)
    v.grad = None
    L.pow(1.3, v).sum().backward()
    assert v.grad[1].item() == pytest.approx(wanted[1], rel=L.finfo(dtype).eps)


def test_what_has_saved_nothing_is_walked_again() -> None:
    w, q = L.ones(2, requires_grad=True), L.ones(2, requires_grad=True)
    trunk = (w + 1).reshape(1, 2)[0] - 0.5
    for _ in range(2):
        (trunk * q).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0] and q.grad.tolist() == [3.0, 3.0]
    # What leads to something that was let go is refused, as in PyTorch.
    product = w * q
    below = product + 1
    below.sum().backward()
    with pytest.raises(RuntimeError, match="let go"):
        below.sum().backward()
@pytest.mark.parametrize("rate", [-1.0, math.nan])
def test_there_are_no_counts_of_negative_rates(rate):
    with pytest.raises(RuntimeError, match="poisson: takes rates that are not negative"):
        L.poisson(L.tensor([1.0, rate]))
    assert L.poisson(L.tensor([0.0, -0.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", [L.bfloat16, L.float16])
def test_slopes_of_digamma_of_halves_are_rounded_once(dtype):
    # Ten points and the trigamma function there.
    points = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    wanted = [65.38813344, 17.19732916, 4.934802201, 2.541879648, 1.644934067, 0.9348022005, 0.6449340668, 0.3949340668, 0.2838229557, 0.1813229557]
    x = leaf(points, dtype=dtype)
    L.digamma(x).sum().backward()
    for grad, right in zip(x.grad.tolist(), wanted, strict=True):
        assert grad == pytest.approx(right, rel=L.finfo(dtype).eps / 2)


@pytest.mark.parametrize(
    ("index", "axis", "size"), [((0, 3), 1, 3), ((0, 0, 9), 2, 4), ((1, slice(None), 9), 2, 4), ((..., -5), 2, 4)]
)
def test_an_index_out_of_range_is_told_of_with_the_axis_of_the_tensor(index, axis, size):
    x = L.zeros(2, 3, 4)
    for do in (lambda: x[index], lambda: x.__setitem__(index, 1.0)):
        with pytest.raises(IndexError, match=f"axis {axis} of size {size}"):
            do()
def test_roots_of_matrices_have_gradients_where_eigenvalues_are_equal():
    a = leaf([[4.0, 0.0], [0.0, 4.0]], dtype=L.float64)
    L.linalg.matrix_sqrth(a).backward(L.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=L.float64))
    assert a.grad.tolist() == [[0.25, 0.625], [0.625, 1.0]]
    # What rounding has made negative is zero.
    assert L.linalg.matrix_sqrth(L.tensor([[-1e-7]])).tolist() == [[0.0]]
    b = leaf([[4.0, 2.0], [2.0, 5.0]], dtype=L.float64)
    (first,) = L.autograd.grad(L.linalg.matrix_sqrth(b).sum(), b, create_graph=True)
    (first * first).sum().backward()
    L.testing.assert_close(b.grad[0], L.tensor([-0.014283891270608603, -0.011913148152859772], dtype=L.float64))


def test_tensors_of_one_element_in_sequences_are_numbers():
    assert L.tensor([L.tensor([1]), L.tensor([2])]).tolist() == [1, 2]
    assert L.tensor([L.ones(1, 1), 2.0]).tolist() == [1.0, 2.0]
    assert L.tensor([[L.tensor(1)], [L.tensor([2])]]).tolist() == [[1], [2]]
    assert L.as_tensor((L.tensor([True]), L.tensor([2]))).tolist() == [1, 2]
    assert L.tensor([L.ones(2), L.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert L.tensor(L.ones(1)).shape == (1,)


def test_what_a_checkpoint_puts_aside_has_its_gradients():
    def f(x):
        h = x * 2
        aside["before"], aside["on"] = h, (h * 3).sum()
        out = h.exp()
        aside["after"] = out * 5
        return out

    for name, wanted in (("before", [2.0, 2.0]), ("on", [6.0, 6.0]), ("after", [10 * math.exp(2.0), 10 * math.exp(4.0)])):
        aside, a = {}, leaf([1.0, 2.0], dtype=L.float64)
        out = checkpointed(f, a * 1)
        aside[name].sum().backward()
        assert a.grad.tolist() == pytest.approx(wanted)
        aside, a = {}, leaf([1.0, 2.0], dtype=L.float64)
        out = checkpointed(f, a * 1)
        (out.sum() + aside[name].sum()).backward()
        assert a.grad.tolist() == pytest.approx([w + 2 * math.exp(2 * x) for w, x in zip(wanted, (1.0, 2.0), strict=True)])


def test_the_sign_of_a_determinant_has_no_slope_where_its_logarithm_has_an_infinite_one():
    w = L.zeros(2, 2, requires_grad=True)
    L.linalg.slogdet(w)[0].backward()
    assert w.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_norms_of_halves_may_be_beyond_halves():
    x = L.full((4, 2), 40000.0, dtype=L.float16)
    assert x.renorm(2, 1, 1.0).tolist() == [[0.5, 0.5]] * 4


@pytest.mark.parametrize(
    ("loss", "first", "second"),
    [
        (lambda w: F.binary_cross_entropy_with_logits(w, L.zeros(1)), 0.5, 0.25),
        (lambda w: F.binary_cross_entropy_with_logits(w, L.ones(1), pos_weight=L.full((1,), 2.0)), -1.0, 0.5),
        (lambda w: F.huber_loss(w, L.zeros(1)), 0.0, 1.0),
        (lambda w: F.smooth_l1_loss(w, L.zeros(1), beta=0.5), 0.0, 2.0),
    ],
)
def test_losses_have_second_derivatives_at_zero(loss, first, second):
    w = L.zeros(1, requires_grad=True)
    slope = L.autograd.grad(loss(w), w, create_graph=True)[0]
    assert (slope.item(), L.autograd.grad(slope.sum(), w)[0].item()) == (first, second)


WAYS = {
    "turned twice": lambda x: (x.t(), lambda h: h.t()),
    "a sum": lambda x: (x.t(), lambda h: h + 1),
    "another shape": lambda x: (x * 2, lambda h: h.view(2, 1)),
    "a sum with another": lambda x: (x * 2, lambda h: h + x),
}


@pytest.mark.parametrize("name", WAYS)
def test_what_lies_between_is_walked_again(name) -> None:
    x = L.tensor([[1.0, 2.0]], requires_grad=True)
    h, make = WAYS[name](x)
    z = make(h)
    found = [L.autograd.grad((z * z).sum() + h.sum(), h)[0].tolist() for _ in range(3)]
    assert found[0] == found[1] == found[2]
