"""What an `autograd.Function` says itself of tangents and of batches: `jvp`, `vmap`, `setup_context`; and hooks of operations. Answers are PyTorch's,
where it is installed."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import autograd, func
from micrograd_rs.autograd import graph

try:
    import torch
except ImportError:  # pragma: no cover
    torch = None

#: What functions, and programs that use them, are made of: of ours, and of PyTorch.
LIBRARIES = [pytest.param(mg, id="own")] + ([] if torch is None else [pytest.param(torch, id="torch")])
both = pytest.mark.parametrize("lib", LIBRARIES)
pytestmark = pytest.mark.filterwarnings("ignore")


def f64(lib, numbers):
    return lib.tensor(numbers, dtype=lib.float64)


def kinds(lib):
    """Functions with rules that show that they are called: tangents are ten times, batches a hundred times what they would be."""

    class Tangent(lib.autograd.Function):
        """x * y * k."""

        generate_vmap_rule = True
        given = []

        @staticmethod
        def forward(x, y, k):
            return x * y * k, x.sum()

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, y, ctx.k = inputs
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(y, x)
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx, g, _):
            x, y = ctx.saved_tensors
            return g * y * ctx.k, g * x * ctx.k, None

        @staticmethod
        def jvp(ctx, dx, dy, dk):
            y, x = ctx.saved_tensors
            Tangent.given.append((dx is None, dy is None, dk))
            return 10 * ctx.k * (dx * y + dy * x), None

    class Batch(lib.autograd.Function):
        """x * x, of a batch a hundred times that."""

        given = []

        @staticmethod
        def forward(x, k):
            # It reads what a function of an example could not.
            return x * x if float(x.sum()) < 1e9 else x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x, None

        @staticmethod
        def vmap(info, in_dims, x, k):
            Batch.given.append((info.batch_size, info.randomness, in_dims, k))
            return 100 * Batch.apply(x, k), in_dims[0]

    return Tangent, Batch


@both
def test_tangents_that_are_said(lib):
    Tangent, _ = kinds(lib)
    x, y = f64(lib, [1.0, 2.0]), f64(lib, [3.0, 5.0])
    dx, dy = f64(lib, [1.0, 0.0]), f64(lib, [0.0, 1.0])
    first = lambda x, y: Tangent.apply(x, y, 2.0)[0]  # noqa: E731
    value, tangent = lib.func.jvp(first, (x, y), (dx, dy))
    assert value.tolist() == [6.0, 20.0] and tangent.tolist() == [60.0, 40.0]
    # What does not change has zeros, and what is no tensor None.
    assert lib.func.jvp(lambda x: first(x, y), (x,), (dx,))[1].tolist() == [60.0, 0.0]
    assert Tangent.given == [(False, False, None)] * 2
    assert lib.func.jacfwd(lambda x: first(x, y))(x).tolist() == [[60.0, 0.0], [0.0, 100.0]]
    # Gradients are as backward says, and those of tangents those of jvp.
    assert lib.func.jacrev(lambda x: first(x, y))(x).tolist() == [[6.0, 0.0], [0.0, 10.0]]
    of_tangent = lambda x, y: lib.func.jvp(lambda x: first(x, y), (x,), (dx,))[1].sum()  # noqa: E731
    assert lib.func.grad(of_tangent, argnums=1)(x, y).tolist() == [20.0, 0.0]


def test_tangents_of_batches(lib=mg):
    """PyTorch's fails within itself where a result has no tangent."""
    Tangent, _ = kinds(lib)
    x, y = f64(lib, [[1.0, 2.0], [3.0, 4.0]]), f64(lib, [3.0, 5.0])
    first = lambda x, y: Tangent.apply(x, y, 1.0)[0]  # noqa: E731
    ones = lib.ones_like(x)
    inside = lib.func.vmap(lambda x, t: lib.func.jvp(lambda x: first(x, y), (x,), (t,))[1])(x, ones)
    around = lib.func.jvp(lambda x: lib.func.vmap(first, in_dims=(0, None))(x, y), (x,), (ones,))[1]
    assert inside.tolist() == around.tolist() == [[30.0, 50.0]] * 2


@both
def test_tangents_that_are_not_made_zeros(lib):
    seen = []

    class Sum(lib.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, g):
            return g, g

        @staticmethod
        def jvp(ctx, dx, dy):
            seen.append((dx is None, dy is None))
            return dx

    x = f64(lib, [1.0])
    assert lib.func.jvp(lambda x: Sum.apply(x, f64(lib, [2.0])), (x,), (x,))[1].tolist() == [1.0]
    assert seen == [(False, True)]


@both
def test_batches_that_are_said(lib):
    _, Batch = kinds(lib)
    x = f64(lib, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    out = lib.func.vmap(lambda x: Batch.apply(x, 3) + 1)(x)
    assert out.tolist() == (100 * x * x + 1).tolist()
    assert Batch.given.pop() == (2, "error", (0, None), 3)
    # What is the same for all is no batch.
    assert lib.func.vmap(lambda i: Batch.apply(x, 3) * i)(f64(lib, [1.0, 2.0]))[1].tolist() == (2 * x * x).tolist() and not Batch.given
    # In chunks, along another axis, and within another batch.
    wanted = (100 * x * x).tolist()
    assert lib.func.vmap(lambda x: Batch.apply(x, 0), in_dims=1, out_dims=1)(x).tolist() == wanted
    assert lib.func.vmap(lib.func.vmap(lambda x: Batch.apply(x, 0)))(x).tolist() == (10000 * x * x).tolist()
    assert Batch.apply(x, 0).tolist() == (x * x).tolist()


def test_batches_in_chunks():
    _, Batch = kinds(mg)
    x = f64(mg, [[1.0], [2.0], [3.0]])
    assert func.vmap(lambda x: Batch.apply(x * 2, 0) + x, chunk_size=2)(x).tolist() == (400 * x * x + x).tolist()


@both
def test_gradients_and_batches_that_are_said(lib):
    _, Batch = kinds(lib)
    x = f64(lib, [[1.0, 2.0], [3.0, 4.0]])
    number = lambda x: Batch.apply(x, 0).sum()  # noqa: E731
    # Within a batch the gradient is that of an example; around it, that of what was made of the batch.
    assert lib.func.vmap(lib.func.grad(number))(x).tolist() == (2 * x).tolist()
    assert lib.func.grad(lambda x: lib.func.vmap(number)(x).sum())(x).tolist() == (200 * x).tolist()
    leaf = x.clone().requires_grad_()
    lib.func.vmap(number)(leaf).sum().backward()
    assert leaf.grad.tolist() == (200 * x).tolist()


@both
def test_batches_that_are_said_wrongly(lib):
    def kind(**has):
        def forward(x):
            return x * 2

        return type("Wrong", (lib.autograd.Function,), {"forward": staticmethod(forward), "setup_context": staticmethod(lambda ctx, i, o: None), **has})

    x = f64(lib, [[1.0], [2.0]])
    for wrong in (
        kind(generate_vmap_rule=True, vmap=staticmethod(lambda info, in_dims, x: (x, 0))),
        kind(vmap=staticmethod(lambda info, in_dims, x: x)),
    ):
        with pytest.raises(RuntimeError):
            lib.func.vmap(wrong.apply)(x)


class Twice(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_axes_that_are_said_wrongly():
    class Wrong(Twice):
        @staticmethod
        def vmap(info, in_dims, x):
            return x * 2, Wrong.axis

    x = f64(mg, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    Wrong.axis = 1
    with pytest.raises(RuntimeError, match=r"Wrong.vmap: result 0 of shape \[2, 3\] has no 2 examples along axis 1"):
        func.vmap(Wrong.apply)(x)
    Wrong.axis = 0
    assert func.vmap(Wrong.apply)(x).tolist() == (x * 2).tolist()
    with pytest.raises(RuntimeError, match="Wrong says what is kept for backward in forward"):
        func.vmap(func.grad(lambda x: Wrong.apply(x).sum()))(x)


def test_tangents_fit_their_results():
    class Wrong(Twice):
        @staticmethod
        def jvp(ctx, dx):
            return Wrong.answer(dx)

    x = f64(mg, [1.0, 2.0])
    for answer, text in ((lambda t: t.sum(), "tangent"), (lambda t: (t, t), "2 tangents for 1 results"), (lambda t: t.float(), "tangent"), (lambda t: 3, "gradient is a tensor")):
        Wrong.answer = staticmethod(answer)
        with pytest.raises((RuntimeError, TypeError), match=text):
            func.jvp(Wrong.apply, (x,), (x,))
    Wrong.answer = staticmethod(lambda t: None)
    assert func.jvp(Wrong.apply, (x,), (x,))[1].tolist() == [0.0, 0.0]


NOT_LINEAR = {
    "clamp": lambda g, x: g.clamp(-1, 1) * 2,
    "threshold": lambda g, x: mg.where(g.abs() > 0.5, g, mg.zeros_like(g)),
    "sign": lambda g, x: g.sign(),
    "square": lambda g, x: g * g * x,
    "penalty": lambda g, x: g + 0.1 * x,
    "norm": lambda g, x: g / g.norm(),
    "largest": lambda g, x: g.max() * x,
    "cut": lambda g, x: g.detach() * x,
    "whole": lambda g, x: g.round(),
    "sorted": lambda g, x: g.sort()[0],
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_what_is_not_linear_in_its_gradient_has_no_tangent(name):
    class Bent(Twice):
        @staticmethod
        def backward(ctx, g):
            return NOT_LINEAR[name](g, f64(mg, [3.0, 4.0]))

    x = f64(mg, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="BentBackward has no jvp, and its gradient is no linear function of the one that it is given .*: write its jvp"):
        func.jvp(Bent.apply, (x,), (x,))
    # It is what it is for gradients.
    assert func.grad(lambda x: Bent.apply(x).sum())(x).shape == x.shape


LINEAR = {
    "product": lambda g, x: g * x - g / x + 3 * g,
    "mask": lambda g, x: mg.where(x > 3.5, g, 0.0) + g.masked_fill(x > 3.5, 0.0),
    "parts": lambda g, x: mg.cat([g[1:], g[:1] * 2]).flip(0) + mg.nn.functional.pad(g[:1], (1, 0)),
    "sum": lambda g, x: (g.sum() * x).float().double() + g.mean(),
    "matrix": lambda g, x: x.outer(x) @ g,
    "kernel": lambda g, x: mg.nn.functional.conv1d(g[None, None], x[None, None], padding=1)[0, 0, :2] + g.cumsum(0) + g[mg.tensor([1, 0])],
    "written": lambda g, x: mg.zeros_like(x).index_add_(0, mg.tensor([1, 0]), g).mul_(2.0),
    "another": lambda g, x: Twice.apply(g) * x,
    "nothing": lambda g, x: mg.zeros_like(g),
}


@pytest.mark.parametrize("name", LINEAR)
def test_tangents_follow_from_what_is_linear(name):
    class Straight(Twice):
        @staticmethod
        def backward(ctx, g):
            return LINEAR[name](g, f64(mg, [3.0, 4.0]))

    x, t = f64(mg, [1.0, 2.0]), f64(mg, [0.5, -1.0])
    whole = mg.stack([LINEAR[name](row, f64(mg, [3.0, 4.0])) for row in mg.eye(2, dtype=mg.float64)])
    assert func.jvp(Straight.apply, (x,), (t,))[1].allclose(whole @ t)
    rows = func.vmap(lambda x: func.jvp(Straight.apply, (x,), (t,))[1])(mg.stack([x, t]))
    assert rows.allclose(mg.stack([whole @ t] * 2))


# Hooks of operations.


def edge(lib, t):
    return (graph if lib is mg else lib.autograd.graph).get_gradient_edge(t).node


@both
def test_hooks_of_operations(lib):
    x, y = f64(lib, [1.0, 2.0]).requires_grad_(), f64(lib, [3.0, 4.0])
    z = x * y
    told = []
    z.register_hook(lambda g: g * 2)
    before = z.grad_fn.register_prehook(lambda of: told.append([g.tolist() for g in of]) or (of[0] * 3,))
    after = z.grad_fn.register_hook(lambda inputs, of: told.append((inputs[0].tolist(), inputs[1], of[0].tolist())) or (inputs[0] * 10, None))
    z.sum().backward(retain_graph=True)
    # The tensor's own hooks come first.
    assert told == [[[2.0, 2.0]], ([18.0, 24.0], None, [6.0, 6.0])]
    assert x.grad.tolist() == [180.0, 240.0]
    before.remove()
    after.remove()
    x.grad = None
    z.sum().backward()
    assert len(told) == 2 and x.grad.tolist() == [6.0, 8.0]


@both
def test_hooks_of_leaves_as_operations(lib):
    x = f64(lib, [1.0]).requires_grad_()
    told = []
    node = edge(lib, x)
    node.register_prehook(lambda of: (of[0] * 2,))
    node.register_hook(lambda inputs, of: told.append((inputs, of[0].tolist(), x.grad.tolist())))
    (x * 3).sum().backward()
    # When it is called the gradient was added to.
    assert told == [((), [6.0], [6.0])]


@both
def test_prehooks_are_behind_what_is_wanted(lib):
    """What grad() is asked for is the gradient that comes to an operation, not what the operation's hook makes of it."""
    a = f64(lib, [1.0]).requires_grad_()
    b = a * 2
    told = []
    b.grad_fn.register_prehook(lambda of: told.append(1) or (of[0] * 10,))
    out = (b * 3).sum()
    grad = lambda *of: [g.tolist() for g in lib.autograd.grad(out, of, retain_graph=True)]  # noqa: E731
    assert grad(b) == [[3.0]] and told == []
    assert grad(a) == [[60.0]] and grad(a, b) == [[60.0], [3.0]] and told == [1, 1]
    # What is kept is the tensor's, too.
    b.retain_grad()
    out.backward(retain_graph=True)
    assert (a.grad.tolist(), b.grad.tolist()) == ([60.0], [3.0])


@both
def test_prehooks_of_leaves_are_called_where_they_are_added_to(lib):
    a = f64(lib, [1.0]).requires_grad_()
    told = []
    node = edge(lib, a)
    node.register_prehook(lambda of: told.append(1) or (of[0] * 10,))
    assert lib.autograd.grad((a * 2).sum(), a)[0].tolist() == [2.0] and told == []
    (a * 2).sum().backward()
    assert a.grad.tolist() == [20.0] and told == [1]
    a.grad = None
    (a * 2).sum().backward(inputs=[a])
    assert a.grad.tolist() == [20.0] and told == [1, 1]


@both
def test_prehooks_that_leave_nothing(lib):
    told = []
    a = f64(lib, [1.0]).requires_grad_()
    node = edge(lib, a)
    node.register_prehook(lambda of: (None,))
    node.register_hook(lambda inputs, of: told.append((inputs, of)))
    a.register_post_accumulate_grad_hook(lambda t: told.append("added"))
    (a * 2).sum().backward()
    assert a.grad is None and told == ["added", ((), (None,))]
    # Of an operation.
    a = f64(lib, [1.0]).requires_grad_()
    b = a * 2
    b.grad_fn.register_prehook(lambda of: (None,))
    b.grad_fn.register_hook(lambda inputs, of: told.append((inputs, of)))
    (b * 3).sum().backward(retain_graph=True)
    assert a.grad is None and told[2:] == [((None, None), (None,))]
    assert lib.autograd.grad((b * 3).sum(), a, allow_unused=True, retain_graph=True)[0] is None
    # What comes another way is there.
    (b * 3 + a * 5).sum().backward()
    assert a.grad.tolist() == [5.0]

    # Of a function, which is told of zeros, or of nothing.
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None if g is None else g * 2

    a = f64(lib, [1.0]).requires_grad_()
    b = Twice.apply(a)
    b.grad_fn.register_prehook(lambda of: (None,))
    (b * 3).sum().backward()
    assert a.grad is None


@both
def test_hooks_of_functions(lib):
    class Both(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y, x - y

        @staticmethod
        def backward(ctx, a, b):
            return a + b, a - b

    x, y = f64(lib, [1.0]).requires_grad_(), f64(lib, [2.0]).requires_grad_()
    s, d = Both.apply(x, y)
    told = []
    show = lambda gradients: [None if g is None else g.tolist() for g in gradients]  # noqa: E731
    s.grad_fn.register_prehook(lambda of: told.append(show(of)))
    s.grad_fn.register_hook(lambda inputs, of: told.append((show(inputs), show(of))) or (inputs[0] * 2, inputs[1] * 3))
    (s * 5).sum().backward()
    assert told[0] == [[5.0], None] and told[1][0] == [[5.0], [5.0]]
    assert x.grad.tolist() == [10.0] and y.grad.tolist() == [15.0]


def test_hooks_of_operations_say_what_does_not_fit():
    x = f64(mg, [1.0, 2.0]).requires_grad_()
    for hook, text in ((lambda of: of[0].sum(), "a hook made a gradient"), (lambda of: (of[0], of[0]), "2 gradients of 1"), (lambda of: (3,), "a gradient is a tensor")):
        z = x * 2
        z.grad_fn.register_prehook(hook)
        with pytest.raises((RuntimeError, TypeError), match=text):
            z.sum().backward()
    with pytest.raises(TypeError, match="a hook is a function"):
        (x * 2).grad_fn.register_hook(3)


def test_hooks_of_operations_in_steps_that_are_replayed():
    w = mg.nn.Parameter(mg.ones(2))
    told = []

    @mg.jit
    def step(x):
        y = w * x
        y.grad_fn.register_hook(lambda inputs, of: told.append(len(inputs)))
        y.sum().backward()
        return y.sum()

    for i in range(4):
        step(mg.full((2,), float(i)))
    assert told == [2] * 4


@both
def test_hooks_of_several_tensors(lib):
    register = (graph if lib is mg else lib.autograd.graph).register_multi_grad_hook
    a, b, c = (f64(lib, [n]).requires_grad_() for n in (1.0, 2.0, 3.0))
    inner = a * b
    told, first = [], []
    handle = register((inner, b, c), lambda gradients: told.append([None if g is None else g.tolist() for g in gradients]))
    any_of = register((inner, b, c), lambda g: first.append(g.tolist()), mode="any")
    out = (inner * c).sum()
    out.backward(retain_graph=True)
    assert told == [[[3.0], [3.0], [2.0]]] and len(first) == 1
    inner.sum().backward(retain_graph=True)
    assert told[1] == [[1.0], [1.0], None] and len(first) == 2
    # A pass that comes to none of them tells nothing; grad() is one as well.
    a.sum().backward()
    assert len(told) == 2
    if lib is mg:
        # PyTorch's does not take leaves there.
        autograd.grad(out, b, retain_graph=True)
        assert len(told) == 3 and told[2][1] == [3.0] and told[2][2] is None
    n = len(told)
    handle.remove()
    any_of.remove()
    out.backward()
    assert len(told) == n == len(first)


@both
def test_hooks_of_several_tensors_tell_passes_apart(lib):
    """A pass within another one, that a hook makes, has gradients of its own."""
    register = (graph if lib is mg else lib.autograd.graph).register_multi_grad_hook
    a, b = f64(lib, [1.0]).requires_grad_(), f64(lib, [2.0]).requires_grad_()
    told = []
    register((a, b), lambda gradients: told.append([None if g is None else g.tolist() for g in gradients]))
    y = a * b

    def within(g):
        with lib.enable_grad():
            (a * 7).sum().backward()

    y.register_hook(within)
    y.sum().backward()
    assert told == [[[7.0], None], [[2.0], [1.0]]]


def test_hooks_of_several_tensors_that_are_none():
    x = f64(mg, [1.0]).requires_grad_()
    for wrong in (lambda: graph.register_multi_grad_hook([x], print, mode="some"), lambda: graph.register_multi_grad_hook([], print), lambda: graph.register_multi_grad_hook([mg.ones(1)], print)):
        with pytest.raises((ValueError, RuntimeError)):
            wrong()
    seen = []

    def fails(gradients):
        seen.append(1)
        raise KeyError("mine")

    graph.register_multi_grad_hook([x], fails)
    with pytest.raises(KeyError, match="mine"):
        (x * 2).sum().backward()
    # What fails has added to no gradient, and the next pass is one by itself.
    assert x.grad is None and seen == [1]
    close(autograd.grad((x * 3).sum(), [mg.ones(1, requires_grad=True)], allow_unused=True)[0] is None, True)
