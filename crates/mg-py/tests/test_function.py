"""`autograd.Function`, hooks, and how walks over the graph are asked for."""

import gc
import weakref

import pytest

import micrograd_rs as mg
from conftest import leaf as leaf_of
from micrograd_rs import autograd
from micrograd_rs.autograd import Function
from micrograd_rs.autograd.function import once_differentiable
from micrograd_rs.nn.modules.module import register_module_full_backward_hook


def leaf(*numbers):
    return mg.tensor(list(numbers), dtype=mg.float64, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


class Exp(Function):
    """Saves its result, not its argument."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


def test_gradients_of_any_order():
    x = leaf(0.5, -1.0)
    y = Cube.apply(x)
    assert y.requires_grad and not y.is_leaf and y.grad_fn.name() == "CubeBackward"
    (first,) = autograd.grad(y.sum(), x, create_graph=True)
    (second,) = autograd.grad(first.sum(), x, create_graph=True)
    (third,) = autograd.grad(second.sum(), x)
    assert first.tolist() == [0.75, 3.0] and second.tolist() == [3.0, -6.0] and third.tolist() == [6.0, 6.0]
    x = leaf(0.0, 1.0)
    d = Exp.apply(x)
    for _ in range(4):
        (d,) = autograd.grad(d.sum(), x, create_graph=True)
        assert d.tolist() == x.exp().tolist()


def test_in_the_middle_of_a_graph():
    x = leaf(0.3, 0.7)
    y = (Exp.apply(Cube.apply(x * 2) + 1) * x).sum()
    y.backward()
    z = leaf(0.3, 0.7)
    (((z * 2) ** 3 + 1).exp() * z).sum().backward()
    assert x.grad.allclose(z.grad, rtol=1e-12)


def test_several_results_and_arguments_that_are_none():
    seen = []

    class Split(Function):
        @staticmethod
        def forward(ctx, x, n, y, text):
            ctx.n = n
            assert ctx.needs_input_grad == (True, False, False, False)
            return x * n, text, x + y

        @staticmethod
        def backward(ctx, *gradients):
            seen.append(gradients)
            a, text, b = gradients
            assert text is None
            return a * ctx.n + b, None, None, None

    x, y = leaf(1.0, 2.0), mg.tensor([1.0, 1.0], dtype=mg.float64)
    a, text, b = Split.apply(x, 3, y, "words")
    assert text == "words" and b.tolist() == [2.0, 3.0]
    (a * 10 + b).sum().backward()
    assert x.grad.tolist() == [31.0, 31.0]
    # A result that nobody differentiates has zeros.
    x.grad = None
    Split.apply(x, 3, y, "words")[0].sum().backward()
    assert seen[-1][2].tolist() == [0.0, 0.0] and x.grad.tolist() == [3.0, 3.0]


def test_gradients_that_there_are_none_of():
    class Pair(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            assert b is None
            return a

    x = leaf(1.0)
    Pair.apply(x)[0].backward()
    assert x.grad.tolist() == [1.0]


# Functions that say that there is no gradient.
class Two(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 2, y * 3

    @staticmethod
    def backward(ctx, g, h):
        return g, None


def leaves():
    return mg.ones(1, requires_grad=True), mg.ones(1, requires_grad=True)


def test_no_gradient_is_none():
    x, y = leaves()
    Two.apply(x, y)[0].sum().backward()
    assert (x.grad.tolist(), y.grad) == ([1.0], None)
    # Nor have those that it is made of.
    x, y = leaves()
    h = (y * 2).exp()
    h.retain_grad()
    a, b = Two.apply(x, h)
    (a + b).sum().backward()
    assert (x.grad.tolist(), y.grad, h.grad) == ([1.0], None, None)
    # What has another one has that.
    x, y = leaves()
    a, b = Two.apply(x, y.exp())
    (a + b + y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1.0], [1.0])
    x, y = leaves()
    a, b = Two.apply(*Two.apply(x, y * 1))
    (a + b).sum().backward()
    assert (x.grad.tolist(), y.grad) == ([1.0], None)


def test_no_gradient_is_unused():
    x, y = leaves()
    a, b = Two.apply(x, y)
    assert mg.autograd.grad((a + b).sum(), (x, y), allow_unused=True)[1] is None
    x, y = leaves()
    a, b = Two.apply(x, y)
    with pytest.raises(RuntimeError):
        mg.autograd.grad((a + b).sum(), (x, y))
    x, y = leaves()
    step = mg.jit(lambda x, y: Two.apply(x, y * 2)[0].sum())
    for _ in range(4):
        x.grad = y.grad = None
        step(x, y).backward()
        assert x.grad.tolist() == [1.0]


def test_an_optimiser_leaves_alone_what_has_no_gradient():
    x, y = leaves()
    optimizer = mg.optim.SGD([x, y], lr=0.1, weight_decay=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        Two.apply(x, y)[0].sum().backward()
        optimizer.step()
    assert y.tolist() == [1.0] and x.item() != 1.0


def test_results_without_gradients():
    class Sort(Function):
        @staticmethod
        def forward(ctx, x):
            order, sign = x.argmax(0), x.sign()
            ctx.mark_non_differentiable(sign)
            return x * 2, sign, order

        @staticmethod
        def backward(ctx, g, sign, order):
            return g * 2 + sign

    x = leaf(1.0, -2.0)
    y, sign, order = Sort.apply(x)
    assert y.requires_grad and not sign.requires_grad and not order.requires_grad and order.item() == 0
    (y * sign).sum().backward()
    assert x.grad.tolist() == [2.0, -2.0]


def test_changed_in_place():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0, 2.0)
    h = x * 1
    y = Double.apply(h)
    assert y is h and h.tolist() == [2.0, 4.0]
    (y * y).sum().backward()
    assert x.grad.tolist() == [8.0, 16.0]
    with pytest.raises(RuntimeError, match="leaf"):
        Double.apply(leaf(1.0))


def test_a_function_may_keep_the_input_that_it_has_changed():
    class Double(mg.autograd.Function):
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

    w = leaf_of([1.0, 2.0])
    h = w * 3
    y = Double.apply(h)
    assert y is h
    y.sum().backward()
    assert w.grad.tolist() == [18.0, 36.0]
    w = leaf_of([1.0, 2.0])
    (first,) = mg.autograd.grad(Double.apply(w * 3).sum(), w, create_graph=True)
    (second,) = mg.autograd.grad(first.sum(), w)
    assert second.tolist() == [54.0, 108.0]
    # What is written to it afterwards is not what was kept.
    w = leaf_of([1.0])
    y = Double.apply(w * 3)
    y.add_(100)
    y.sum().backward()
    assert w.grad.tolist() == [18.0]


def test_an_argument_that_is_handed_through():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(1.0)
    y = Same.apply(x)
    assert y is not x and y.grad_fn.name() == "SameBackward"
    y.backward()
    assert x.grad.tolist() == [5.0]


def test_setup_context():
    class Power(Function):
        @staticmethod
        def forward(x, n=2):
            return x**n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.n * x ** (ctx.n - 1), None

    x = leaf(3.0)
    Power.apply(x).backward()
    Power.apply(x, n=3).backward()
    assert x.grad.tolist() == [6.0 + 27.0]


def test_once_differentiable():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = leaf(3.0)
    (g,) = autograd.grad(Square.apply(x), x)
    assert g.item() == 6.0
    y = x * 1
    (g,) = autograd.grad(Square.apply(y), y, create_graph=True)
    (again,) = autograd.grad(Square.apply(y) * y, y, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        autograd.grad(again, x)


def test_gradients_fit_their_inputs():
    def function(answer):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x, y):
                return x + y

            @staticmethod
            def backward(ctx, g):
                return answer(g)

        return Wrong

    x, y = leaf(1.0, 2.0), leaf(1.0)
    # What was broadcast is summed, and dtypes follow.
    function(lambda g: (g, g)).apply(x, y).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and y.grad.tolist() == [2.0]
    half = mg.tensor([1.0], requires_grad=True)
    function(lambda g: (g, g)).apply(leaf(1.0), half).sum().backward()
    assert half.grad.dtype == mg.float32
    for answer, words in [
        (lambda g: g, "1 gradients for 2"),
        (lambda g: (g, g, g), "3 gradients for 2"),
        (lambda g: (g[:1].expand(3), g), "shape"),
        (lambda g: (g, 3.0), "tensor or None"),
    ]:
        with pytest.raises((RuntimeError, TypeError), match=words):
            function(answer).apply(x, y).sum().backward()
    # More than there are may be None.
    function(lambda g: (g, g, None, None)).apply(x, y).sum().backward()


def a_function(backward):
    class Twice(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return backward(g)

    return Twice


@pytest.mark.parametrize("shape", [(1,), (2,), (2, 3)])
def test_a_functions_gradient_has_its_inputs_shape_or_one_that_this_was_broadcast_to(shape):
    x = mg.ones(*shape, requires_grad=True)
    # What a tensor of one element is broadcast to may be anything.
    others = [lambda g: mg.ones(5, 7), lambda g: g.reshape(-1)[:1]] if shape != (1,) else []
    for wrong in [lambda g: g.sum(), *others]:
        with pytest.raises(RuntimeError, match="gradient 0 has the shape"):
            a_function(wrong).apply(x).sum().backward()
        assert x.grad is None
    for right, times in [(lambda g: g.expand(3, *shape), 3.0), (lambda g: g[None], 1.0), (lambda g: g.double(), 1.0)]:
        x.grad = None
        a_function(right).apply(x).sum().backward()
        assert x.grad.dtype == mg.float32 and x.grad.shape == shape and (x.grad == times).all()


def test_what_it_raises_comes_through():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    x = leaf(1.0)
    with pytest.raises(KeyError, match="mine"):
        Fails.apply(x).backward()
    assert x.grad is None
    with pytest.raises(TypeError, match="tensors"):
        autograd.function.FunctionCtx().save_for_backward(3)
    with pytest.raises(RuntimeError, match="apply"):
        Cube()
    with pytest.raises(TypeError, match="keyword"):
        Cube.apply(x=x)


def test_the_graph_is_let_go():
    x = leaf(1.0)
    y = Cube.apply(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [6.0]
    with pytest.raises(RuntimeError, match="let go"):
        y.backward()
    with mg.no_grad():
        assert not Cube.apply(x).requires_grad
    assert not Cube.apply(x.detach()).requires_grad


def test_saved_and_changed_since():
    x = leaf(1.0, 2.0)
    h = x * 1
    y = Cube.apply(h)
    h.mul_(2)
    with pytest.raises(RuntimeError, match="changed in place"):
        y.sum().backward()


def test_nothing_is_kept():
    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            ctx.mark = Mark()
            marks.append(weakref.ref(ctx.mark))
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[1]

    class Mark:
        pass

    marks = []
    for ends in [lambda y: None, lambda y: y.sum().backward(), lambda y: autograd.grad(y.sum(), x, create_graph=True)]:
        x = leaf(1.0)
        y = Keeps.apply(x)
        ends(y)
        del y
        gc.collect()
        assert marks.pop()() is None
    # A chain that is dropped does not need more stack the longer it is.
    y = leaf(1.0)
    for _ in range(20_000):
        y = Exp.apply(y * 0.0)
    del y


def test_replayed():
    w = mg.tensor([0.5, -0.25], requires_grad=True)

    def step(x):
        loss = (Exp.apply(w * x) * Cube.apply(w)).sum()
        loss.backward()
        with mg.no_grad():
            w.sub_(w.grad * 0.01)
        w.grad = None
        return loss

    jitted = mg.jit(step)
    x = mg.tensor([1.0, 2.0])
    losses = [jitted(x).item() for _ in range(8)]
    assert jitted.is_replaying
    with mg.no_grad():
        w.copy_(mg.tensor([0.5, -0.25]))
    assert losses == [step(x).item() for _ in range(8)]


FACTOR = 2.0


class Scaled(Function):
    @staticmethod
    def forward(ctx, x):
        return x * FACTOR

    @staticmethod
    def backward(ctx, g):
        return g * FACTOR


def test_replays_see_what_a_function_reads():
    global FACTOR
    step = mg.jit(lambda x: Scaled.apply(x))
    x = mg.tensor([1.0])
    assert [step(x).item() for _ in range(4)] == [2.0] * 4
    FACTOR = 3.0
    assert step(x).item() == 3.0


# Hooks.


def test_hooks_of_results():
    x = leaf(1.0, 2.0)
    y = x * 3
    z = y.sum()
    told = []
    first = y.register_hook(lambda g: told.append(g.tolist()))
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: told.append(g.tolist()))
    z.backward(retain_graph=True)
    assert told == [[1.0, 1.0], [2.0, 2.0]] and x.grad.tolist() == [6.0, 6.0]
    first.remove()
    first.remove()
    z.backward()
    assert len(told) == 3 and x.grad.tolist() == [12.0, 12.0]
    with x.register_hook(lambda g: g * 0):
        (g,) = autograd.grad((x * x).sum(), x)
        assert g.tolist() == [0.0, 0.0]
    (g,) = autograd.grad((x * x).sum(), x)
    assert g.tolist() == [2.0, 4.0]


def test_hooks_of_leaves():
    x = leaf(1.0)
    told = []
    x.register_hook(lambda g: told.append(("hook", g.item())) or g * 10)
    handle = x.register_post_accumulate_grad_hook(lambda p: told.append(("added", p is x, p.grad.item())))
    # Complete before the hook is called: two uses are one gradient.
    (x * 2 + x * 3).backward()
    assert told == [("hook", 5.0), ("added", True, 50.0)]
    x.detach().mul_(2)
    (x * 2).backward()
    assert told[2:] == [("hook", 2.0), ("added", True, 70.0)]
    handle.remove()
    (x * 2).backward()
    assert len(told) == 5


def test_hooks_can_be_differentiated():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = autograd.grad(y, x, create_graph=True)
    assert g.item() == 8.0
    (g,) = autograd.grad(g, x)
    assert g.item() == 8.0


def test_hooks_that_are_none():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="requires a gradient"):
        mg.tensor([1.0]).register_hook(print)
    with pytest.raises(TypeError, match="function"):
        x.register_hook(3)
    with pytest.raises(RuntimeError, match="leaves"):
        (x * 2).register_post_accumulate_grad_hook(print)
    y = x * 2
    y.register_hook(lambda g: mg.zeros(3))
    with pytest.raises(RuntimeError, match="hook"):
        y.backward()
    y = x * 2
    y.register_hook(lambda g: "text")
    with pytest.raises(TypeError, match="hook"):
        y.backward()
    assert x.grad is None


def test_retain_grad():
    x = leaf(1.0, 2.0)
    y = x * 2
    assert not y.retains_grad and not x.retains_grad
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    assert y.retains_grad
    z = (y * y).sum()
    z.backward(retain_graph=True)
    assert y.grad.tolist() == [4.0, 8.0]
    z.backward()
    assert y.grad.tolist() == [8.0, 16.0]
    with pytest.raises(RuntimeError):
        mg.zeros(3).retain_grad()


def test_hooks_are_not_forgotten_by_replays():
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    def step(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    jitted = mg.jit(step)
    x = mg.tensor([1.0, 1.0])
    for _ in range(5):
        jitted(x)
    assert jitted.is_replaying and w.grad.tolist() == [1.0, 1.0]
    handle = w.register_hook(lambda g: g * 3)
    for _ in range(5):
        jitted(x)
        assert w.grad.tolist() == [3.0, 3.0]
    assert not jitted.is_replaying and "hook" in jitted.reason
    handle.remove()
    for _ in range(5):
        jitted(x)
        assert w.grad.tolist() == [1.0, 1.0]


def test_classes_of_operations():
    from micrograd_rs.autograd.graph import Node

    x = mg.ones(2, requires_grad=True)
    y = (x + 1).exp()
    add = y.grad_fn.next_functions[0][0]
    assert [type(node).__name__ for node in (y.grad_fn, add, add.next_functions[0][0])] == ["ExpBackward0", "AddBackward0", "AccumulateGrad"]
    assert type(y.grad_fn) is type(x.exp().grad_fn) and isinstance(add, Node) and issubclass(type(add), Node) and type(add).__module__ == "micrograd_rs"
    assert type(y.grad_fn)(y.grad_fn) == y.grad_fn and {y.grad_fn: 1}[y.grad_fn] == 1


def test_grad_fn():
    x = leaf(1.0)
    y = (x * 2).exp()
    assert x.grad_fn is None and mg.zeros(3).grad_fn is None
    assert y.grad_fn.name() == "ExpBackward0" and repr(y.grad_fn) == "<ExpBackward0>"
    ((mul, at),) = y.grad_fn.next_functions
    assert mul.name() == "MulBackward0" and at == 0 and mul == y.grad_fn.next_functions[0][0]
    (accumulate, _), (nothing, _) = mul.next_functions
    assert nothing is None and accumulate.name() == "AccumulateGrad" and accumulate.variable.tolist() == [1.0]
    with pytest.raises(AttributeError):
        _ = mul.variable


# How walks are asked for.


def test_backward_of_several():
    x, y = leaf(1.0, 2.0), leaf(3.0)
    autograd.backward([(x * y).sum(), x * 2], [None, mg.tensor([1.0, 10.0], dtype=mg.float64)])
    assert x.grad.tolist() == [5.0, 23.0] and y.grad.tolist() == [3.0]
    x.grad = y.grad = None
    autograd.backward((x * y).sum(), inputs=[y])
    assert x.grad is None and y.grad.tolist() == [3.0]
    h = x * 2
    (h * y).sum().backward(inputs=[h, x])
    assert h.grad.tolist() == [3.0, 3.0] and x.grad.tolist() == [6.0, 6.0] and y.grad.tolist() == [3.0]
    with pytest.raises(RuntimeError, match="at least one"):
        x.sum().backward(inputs=[])
    with pytest.raises(ValueError, match="seed"):
        autograd.backward([x.sum()], [None, None])


def test_grad_of_what_is_not_used():
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match="allow_unused"):
        autograd.grad(x * 2, [x, y])
    assert autograd.grad(x * 2, [x, y], allow_unused=True)[1] is None
    assert autograd.grad(x * 2, [x, y], materialize_grads=True)[1].tolist() == [0.0]
    with pytest.raises(ValueError, match="materialize"):
        autograd.grad(x * 2, [x, y], allow_unused=False, materialize_grads=True)


def test_inference_mode():
    x = leaf(1.0)
    assert not mg.is_inference_mode_enabled()
    with mg.inference_mode():
        assert mg.is_inference_mode_enabled() and not mg.is_grad_enabled() and not (x * 2).requires_grad
        with mg.inference_mode(False):
            assert (x * 2).requires_grad and not mg.is_inference_mode_enabled()
    assert mg.is_grad_enabled()

    @mg.inference_mode()
    def one():
        return x * 2

    @mg.inference_mode
    def two():
        return x * 2

    assert not one().requires_grad and not two().requires_grad


def test_full_backward_hooks_of_modules():
    layer, told = mg.nn.Linear(2, 3), []
    x = mg.tensor([[1.0, 2.0]], requires_grad=True)
    layer.register_full_backward_pre_hook(lambda m, g: told.append(("pre", m is layer, g[0].tolist())))
    handle = layer.register_full_backward_hook(lambda m, i, o: told.append(("hook", i[0].tolist(), o[0].tolist())))
    layer(x).sum().backward()
    wanted = layer.weight.detach().sum(0).tolist()
    assert told[0] == ("pre", True, [[1.0, 1.0, 1.0]])
    assert told[1] == ("hook", [wanted], [[1.0, 1.0, 1.0]]) and x.grad.tolist() == [wanted]
    handle.remove()
    # What they answer with takes the gradients' place.
    handle = layer.register_full_backward_hook(lambda m, i, o: (i[0] * 10,))
    x.grad = None
    layer(x).sum().backward()
    assert x.grad.tolist() == (mg.tensor([wanted]) * 10).tolist()
    handle.remove()
    # An argument without a gradient.
    told.clear()
    layer.register_full_backward_hook(lambda m, i, o: told.append(i))
    layer(x.detach()).sum().backward()
    assert told[-1] == (None,)
    with mg.no_grad():
        layer(x)
    layer.register_full_backward_pre_hook(lambda m, g: (g[0], g[0]))
    with pytest.raises(RuntimeError, match="as many gradients"):
        layer(x).sum().backward()
    every = []
    with register_module_full_backward_hook(lambda m, i, o: every.append(type(m).__name__)):
        mg.nn.Sequential(mg.nn.Tanh(), mg.nn.Tanh())(x).sum().backward()
    assert every == ["Tanh", "Tanh", "Sequential"]
