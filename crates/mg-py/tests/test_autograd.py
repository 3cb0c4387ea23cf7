"""Gradients: accumulation, graphs that are kept, what has a history, parts of a tensor, `grad`, higher orders, switches."""

from __future__ import annotations

import math
import threading

import micrograd_rs as mg
import pytest
from conftest import close, leaf
from micrograd_rs import Tensor
from micrograd_rs.autograd import grad
from micrograd_rs.nn import functional as F


def test_accumulation_and_removal():
    x = Tensor([1.0, 2.0])
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8]
    x.zero_grad()
    assert x.grad is None
    (x * 3).sum().backward()
    x.grad.zero_()
    assert x.grad.tolist() == [0, 0]
    x.grad += 1
    x.grad[1] = 5
    assert x.grad.tolist() == [1, 5]
    x.grad = mg.tensor([7.0, 8.0])
    assert x.grad.tolist() == [7, 8]
    del x.grad
    assert x.grad is None
    with pytest.raises(ValueError, match=r"\[3\].*\[2\]"):
        x.grad = mg.ones(3)
    with pytest.raises(TypeError):
        x.grad = 5


@pytest.mark.parametrize("factor", [2.0, 2, lambda: mg.tensor(2.0), lambda: mg.tensor(0.5).reciprocal()])
def test_a_gradient_is_not_what_the_graph_has_saved(factor):
    x = leaf(1.0)
    r = x * (factor() if callable(factor) else factor)
    r.backward(retain_graph=True)
    x.backward()
    r.backward(retain_graph=True)
    assert x.grad.item() == 5
    (g,) = mg.autograd.grad(r, x, retain_graph=True)
    g.mul_(10)
    assert mg.autograd.grad(r, x)[0].item() == 2 and g.item() == 20


def test_a_gradient_is_not_what_a_layer_has_saved():
    x = leaf([1.0, 2.0])
    y = mg.special.xlog1py(x, mg.tensor([1.0, 3.0])).sum()
    y.backward(retain_graph=True)
    x.grad.zero_()
    y.backward()
    assert x.grad.tolist() == pytest.approx([math.log(2), math.log(4)])


def test_steps_have_pytorchs_names():
    """What computed a tensor is called as in PyTorch 2.15, also where it is printed: a composition by what was called, and not by its last step."""
    F = mg.nn.functional
    x, y, v, b = (mg.rand(*shape, requires_grad=True) for shape in ((4, 4), (4, 4), (4,), (2, 4, 4)))
    image, kernel = mg.rand(1, 1, 6, 6, requires_grad=True), mg.rand(1, 1, 3, 3, requires_grad=True)
    i, j, k = mg.zeros(4, 4, dtype=mg.int64), mg.tensor([0, 1]), mg.tensor([0, 1, 2, 3])
    named = {
        "AddBackward0": [x + y],
        "MulBackward0": [x * y],
        "PowBackward0": [x**2, x.square()],
        "NegBackward0": [-x],
        "MmBackward0": [x @ y],
        "MvBackward0": [x @ v],
        "DotBackward0": [v @ v],
        "BmmBackward0": [mg.bmm(b, b)],
        "AddmmBackward0": [mg.addmm(x, x, y), F.linear(x, y, v)],
        "ExpBackward0": [x.exp()],
        "ReluBackward0": [x.relu()],
        "GeluBackward0": [F.gelu(x)],
        "SiluBackward0": [F.silu(x)],
        "LeakyReluBackward0": [F.leaky_relu(x)],
        "LogSigmoidBackward0": [F.logsigmoid(x)],
        "ClampBackward1": [x.clamp(0, 1)],
        "WhereBackward0": [mg.where(x > 0, x, y)],
        "MaskedFillBackward0": [x.masked_fill(x > 0.5, 0)],
        "Log1PBackward0": [x.log1p()],
        "SumBackward0": [x.sum()],
        "SumBackward1": [x.sum(0)],
        "MeanBackward0": [x.mean()],
        "MeanBackward1": [x.mean(0)],
        "MaxBackward1": [x.max()],
        "AmaxBackward0": [x.amax(0)],
        "StdBackward0": [x.std()],
        "LogsumexpBackward0": [x.logsumexp(0)],
        "LinalgVectorNormBackward0": [x.norm()],
        "CumsumBackward0": [x.cumsum(0)],
        "SoftmaxBackward0": [x.softmax(0)],
        "LogSoftmaxBackward0": [x.log_softmax(0)],
        "ViewBackward0": [x.view(-1), x.reshape(-1)],
        "TBackward0": [x.t()],
        "TransposeBackward0": [x.transpose(0, 1)],
        "UnsqueezeBackward0": [x.unsqueeze(0)],
        "SelectBackward0": [x[0]],
        "SliceBackward0": [x[1:3]],
        "IndexBackward0": [x[[0, 1]]],
        "CatBackward0": [mg.cat([x, y])],
        "StackBackward0": [mg.stack([x, y])],
        "SplitBackward0": [x.split(2)[0]],
        "CloneBackward0": [x.clone()],
        "ToCopyBackward0": [x.double()],
        "GatherBackward0": [x.gather(0, i)],
        "IndexSelectBackward0": [x.index_select(0, j)],
        "ConvolutionBackward0": [F.conv2d(image, kernel)],
        "MaxPool2DWithIndicesBackward0": [F.max_pool2d(image, 2)],
        "NativeLayerNormBackward0": [F.layer_norm(x, (4,))],
        "EmbeddingBackward0": [F.embedding(j, x)],
        "NllLossBackward0": [F.cross_entropy(x, k)],
        "MseLossBackward0": [F.mse_loss(x, y)],
        "LinalgInvExBackward0": [mg.linalg.inv(x)],
        "LinalgSvdBackward0": [mg.linalg.svd(x)[0]],
        "LinalgDetBackward0": [mg.linalg.det(x)],
    }
    for name, results in named.items():
        for result in results:
            assert result.grad_fn.name() == name and f"grad_fn=<{name}>" in repr(result).replace("\n", "")
    z = mg.ones(3, requires_grad=True) * 1
    z[0] = 2
    assert z.grad_fn.name() == "CopySlices"
    z.copy_(mg.zeros(3))
    assert z.grad_fn.name() == "CopyBackwards"


# What PyTorch 2.15 calls the step back of a form of an operation: one along an axis, one with a tensor in a number's place, one in another mode.
FORMS = {
    "sum(v)": "SumBackward0", "v.sum(0)": "SumBackward1", "v.sum((0,))": "SumBackward1", "x.sum((0, 1))": "SumBackward1",
    "v.mean()": "MeanBackward0", "v.mean(0)": "MeanBackward1", "v.mean(0, keepdim=True)": "MeanBackward1",
    "v.prod()": "ProdBackward0", "v.prod(0)": "ProdBackward1", "x.prod(1, keepdim=True)": "ProdBackward1",
    "v.max()": "MaxBackward1", "v.max(0)[0]": "MaxBackward0", "x.max(1)[0]": "MaxBackward0", "x.min()": "MinBackward1", "v.min(0)[0]": "MinBackward0",
    "v.median()": "MedianBackward0", "v.median(0)[0]": "MedianBackward1", "v.nanmedian()": "NanmedianBackward0", "x.nanmedian(0)[0]": "NanmedianBackward1",
    "1 - v": "RsubBackward1", "m.rsub(v, 2)": "RsubBackward1", "m.rsub(v, v)": "RsubBackward0", "v - 1": "SubBackward0", "v - v": "SubBackward0",
    "v**2": "PowBackward0", "v**v": "PowBackward1", "2**v": "PowBackward2", "v.pow(m.ones(1))": "PowBackward1",
    "v.clamp(0, 1)": "ClampBackward1", "v.clamp(m.zeros(4), m.ones(4))": "ClampBackward0", "v.clamp(0, m.tensor(1.0))": "ClampBackward1",
    "m.lerp(v, v, 0.5)": "LerpBackward0", "m.lerp(v, v, v)": "LerpBackward1",
    "v.squeeze()": "SqueezeBackward0", "v.squeeze(0)": "SqueezeBackward1", "x[:1, :1].squeeze((0, 1))": "SqueezeBackward2",
    "v.split(2)[0]": "SplitBackward0", "v.split([1, 3])[0]": "SplitWithSizesBackward0", "m.split(v, (1, 3))[1]": "SplitWithSizesBackward0",
    "m.diag(v)": "DiagEmbedBackward0", "m.diag(x)": "DiagonalBackward0_copy",
    "v.scatter(0, i, 0.0)": "ScatterBackward1", "v.scatter(0, i, m.ones(1))": "ScatterBackward0",
    "m.take_along_dim(v, i, 0)": "GatherBackward0", "m.linalg.eigvalsh(x)": "LinalgEighBackward0",
    "F.linear(x, x)": "MmBackward0", "F.linear(x, x, v)": "AddmmBackward0",
    "F.unfold(p, 2)": "Im2ColBackward0", "v.unfold(0, 2, 1)": "UnfoldBackward0",
    "F.pad(x, (1, 1))": "ConstantPadNdBackward0", "F.pad(x, (1, 1), mode='reflect')": "ReflectionPad1DBackward0",
    "F.pad(p, (1, 1, 1, 1), mode='reflect')": "ReflectionPad2DBackward0", "F.pad(w, (1,) * 6, mode='reflect')": "ReflectionPad3DBackward0",
    "F.pad(x, (1, 1), mode='replicate')": "ReplicationPad1DBackward0", "F.pad(p, (1, 1, 1, 1), mode='replicate')": "ReplicationPad2DBackward0",
    "F.pad(w, (1,) * 6, mode='replicate')": "ReplicationPad3DBackward0", "F.pad(x, (1, 1), mode='circular')": "CopySlices",
    "F.interpolate(l, size=3)": "UpsampleNearest1DBackward0", "F.interpolate(p, size=3)": "UpsampleNearest2DBackward0",
    "F.interpolate(w, size=3)": "UpsampleNearest3DBackward0", "F.interpolate(p, size=3, mode='nearest-exact')": "UpsampleNearestExact2DBackward0",
    "F.interpolate(l, size=3, mode='linear')": "UpsampleLinear1DBackward0", "F.interpolate(p, size=3, mode='bilinear')": "UpsampleBilinear2DBackward0",
    "F.interpolate(p, size=3, mode='bicubic')": "UpsampleBicubic2DBackward0", "F.interpolate(w, size=3, mode='trilinear')": "UpsampleTrilinear3DBackward0",
    "F.interpolate(p, size=3, mode='bilinear', antialias=True)": "UpsampleBilinear2DAaBackward0",
    "F.interpolate(p, size=3, mode='bicubic', antialias=True)": "UpsampleBicubic2DAaBackward0",
    "F.interpolate(p, size=3, mode='area')": "AdaptiveAvgPool2DBackward0", "F.interpolate(w, size=3, mode='area')": "AdaptiveAvgPool3DBackward0",
    "F.cross_entropy(x, k)": "NllLossBackward0", "F.cross_entropy(x, x.detach())": "DivBackward1", "F.cross_entropy(x, x.detach(), reduction='sum')": "NegBackward0",
    "F.cross_entropy(p, p[:, 0].long())": "NllLoss2DBackward0", "F.cross_entropy(l, l[:, 0].long())": "NllLoss2DBackward0",
    "F.nll_loss(x, k)": "NllLossBackward0", "F.nll_loss(p, p[:, 0].long())": "NllLoss2DBackward0",
    "v[0]": "SelectBackward0", "v[1:3]": "SliceBackward0", "v[::2]": "SliceBackward0", "v[:]": "SliceBackward0", "x[0:4]": "SliceBackward0",
    "v[None]": "UnsqueezeBackward0", "v[...]": "AliasBackward0", "v[()]": "AliasBackward0", "x[:, :]": "AliasBackward0", "x[0:4, :]": "AliasBackward0",
    "x[:, 0]": "SelectBackward0", "x[0, 1:]": "SliceBackward0", "x[0, :]": "SelectBackward0", "x[1:, :]": "SliceBackward0", "x[0, 0]": "SelectBackward0",
    "x[0, None]": "UnsqueezeBackward0", "x[None, 0]": "SelectBackward0", "x[..., 0]": "SelectBackward0", "x[..., None]": "UnsqueezeBackward0",
    "v[i]": "IndexBackward0", "v[[0, 1]]": "IndexBackward0", "x[i, 1:]": "IndexBackward0", "x[1:, i]": "IndexBackward0", "v[v > 0.5]": "IndexBackward0",
}
WRITES = {
    "z[0] = 0.0": "CopySlices", "z[:2] = m.ones(2)": "CopySlices", "z[i] = 0.0": "IndexFillBackward0", "z[[0, 1]] = 0.0": "IndexFillBackward0",
    "z[i] = m.ones(1)": "IndexPutBackward0", "z[k > 1] = 0.0": "MaskedFillBackward0", "z[k > 1] = m.ones(2)": "IndexPutBackward0",
    "z.zero_()": "ZeroBackward0", "z.fill_(1)": "FillBackward2", "z.fill_(m.tensor(1.0))": "FillBackward3", "z.copy_(m.ones(4))": "CopyBackwards",
    "z.add_(1)": "AddBackward0", "z.mul_(2)": "MulBackward0", "z.relu_()": "ReluBackward0",
    "z[:2].add_(1)": "CopySlices", "z[:2].mul_(2)": "CopySlices", "z[0].fill_(1)": "CopySlices",
    "z[0].zero_()": "CopySlices", "z[:2].relu_()": "CopySlices", "z[:2].copy_(m.ones(2))": "CopySlices", "z[1:].clamp_(0, 1)": "CopySlices",
}


def test_forms_have_pytorchs_names():
    shapes = {"v": (4,), "x": (4, 4), "l": (1, 2, 4), "p": (1, 2, 4, 4), "w": (1, 2, 4, 4, 4)}
    known = {"m": mg, "F": mg.nn.functional, "i": mg.tensor([0]), "k": mg.arange(4), "sum": mg.sum, **{name: mg.rand(*shape, requires_grad=True) for name, shape in shapes.items()}}
    got = {call: eval(call, known).grad_fn.name() for call in FORMS}
    assert got == FORMS
    got = {}
    for call in WRITES:
        known["z"] = known["v"].clone()
        exec(call, known)
        got[call] = known["z"].grad_fn.name()
    assert got == WRITES
    # An error calls an operation by its name alone.
    with pytest.raises(IndexError, match="^index: index 9 is out of range"):
        known["v"][mg.tensor([9])].tolist()


def test_leaves():
    x = Tensor([1.0])
    y = x * 2
    assert x.is_leaf and not y.is_leaf and y.requires_grad and y.grad_fn.name() == "MulBackward0" and x.grad_fn is None
    assert not y.detach().requires_grad and y.detach().is_leaf and y.data.tolist() == [2]
    with pytest.raises((RuntimeError, ValueError), match="leaf|leaves"):
        y.requires_grad = False
    constant = mg.ones(2)
    assert constant.requires_grad_() is constant and constant.requires_grad
    constant.requires_grad = False
    assert not constant.requires_grad
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        mg.ones(2, dtype="i64").requires_grad_()
    with pytest.raises((RuntimeError, ValueError), match="gradient"):
        mg.ones(1).sum().backward()
    x.data = mg.tensor([9.0])
    assert x.tolist() == [9] and x.requires_grad


def test_grad_answers():
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    z = (x * y).sum()
    dx, dy = grad(z, [x, y])
    assert dx.tolist() == [3, 4] and dy.tolist() == [1, 2] and x.grad is None
    (middle,) = grad((2 * x).sum(), x, create_graph=True)
    assert middle.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="allow_unused=True"):
        grad((x * 1).sum(), [y])
    assert grad((x * 1).sum(), [y], allow_unused=True) == (None,)
    (seeded,) = grad(x * 2, x, grad_outputs=mg.tensor([1.0, 10.0]))
    assert seeded.tolist() == [2, 20]
    (both,) = grad([x * 2, x * 3], x, grad_outputs=[mg.ones(2), mg.ones(2)])
    assert both.tolist() == [5, 5]
    with pytest.raises(ValueError, match="1 seed gradients for 2"):
        grad([x, x], x, grad_outputs=[mg.ones(2)])
    with pytest.raises(TypeError):
        grad(5, x)


def test_of_what_is_on_the_way():
    x = Tensor([2.0])
    h = x * x
    y = h * h
    (dh,) = grad(y.sum(), h)
    assert dh.tolist() == [8]


def test_gradients_by_views_that_change_nothing():
    x = leaf([1.0, 2.0, 3.0])
    for view in (lambda: x.view(3), lambda: x[:], lambda: x[...], lambda: x.expand(3), lambda: x.squeeze(), lambda: x.t(), lambda: x.narrow(0, 0, 3)):
        h = view()
        assert mg.autograd.grad((h * 2).sum() + (x * x).sum(), h)[0].tolist() == [2, 2, 2]
    y = leaf([[1.0, 2.0]])
    h = y.t()
    z = h.t()
    assert mg.autograd.grad((z * z).sum() + h.sum(), h)[0].tolist() == [[3], [5]]


def test_a_gradient_that_ends_where_the_graph_was_let_go_needs_no_more_of_it():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    h = (x * x).sum()
    y = h * 3
    h.backward()
    assert mg.autograd.grad(y, y, retain_graph=True)[0].item() == 1.0
    assert mg.autograd.grad(y, h, retain_graph=True)[0].item() == 3.0
    # Beyond it there is no way.
    for further in (lambda: mg.autograd.grad(y, x), lambda: mg.autograd.grad(y * 2, [y, x]), lambda: y.backward()):
        with pytest.raises(RuntimeError, match="let go"):
            further()


def test_higher_orders():
    x = Tensor(0.7, dtype="f64")
    y, wanted = x.sin(), [math.cos, lambda v: -math.sin(v), lambda v: -math.cos(v), math.sin]
    for order in range(4):
        (y,) = grad(y, x, create_graph=True)
        close(y, wanted[order](0.7), rtol=1e-12)


def test_hessian_vector_product():
    x = Tensor([1.0, 2.0, 3.0])
    v = mg.tensor([1.0, 0.0, -1.0])
    (g,) = grad((x**3).sum(), x, create_graph=True)
    (hv,) = grad((g * v).sum(), x)
    close(hv, [6, 0, -18])


def test_no_grad():
    x = Tensor([1.0])
    with mg.no_grad():
        assert not mg.is_grad_enabled() and not (x * 2).requires_grad
        with mg.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    assert mg.is_grad_enabled() and (x * 2).requires_grad

    @mg.no_grad()
    def called():
        """Its words."""
        return x * 2

    @mg.no_grad
    def bare():
        return x * 2

    assert not called().requires_grad and not bare().requires_grad
    assert called.__name__ == "called" and called.__doc__ == "Its words."
    with pytest.raises(KeyError), mg.no_grad():
        raise KeyError
    assert mg.is_grad_enabled()
    with mg.set_grad_enabled(False):
        assert not mg.is_grad_enabled()
    assert mg.is_grad_enabled()
    again = mg.no_grad()
    with again, again:
        assert not mg.is_grad_enabled()
    assert mg.is_grad_enabled()


def test_switches_are_each_threads_own():
    seen = []
    with mg.no_grad():
        thread = threading.Thread(target=lambda: seen.append(mg.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_modes_hold_within_generators_alone():
    x = mg.ones(1, requires_grad=True)

    @mg.no_grad()
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

    @mg.inference_mode()
    def guarded():
        try:
            yield (x * 2).requires_grad
        except KeyError:
            yield mg.is_inference_mode_enabled()

    body = guarded()
    assert next(body) is False and not mg.is_inference_mode_enabled()
    assert body.throw(KeyError()) is True and not mg.is_inference_mode_enabled()
    body.close()


def test_a_long_chain():
    x = y = Tensor(1.0)
    for _ in range(20_000):
        y = y + x * 0.001
    y.backward()
    close(x.grad, 21.0, rtol=1e-3)


def test_mixed_dtypes():
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0], dtype="f64")
    (x * y).sum().backward()
    assert x.grad.dtype == mg.float32 and y.grad.dtype == mg.float64


def test_inputs_of_all_ranks():
    for shape in ((), (0,), (1, 1), (2, 0, 3)):
        x = Tensor(mg.ones(*shape))
        (x * 2).sum().backward()
        assert x.grad.shape == shape and all(v == 2 for v in x.grad.flatten().tolist())


def test_wrong_seeds():
    x = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"\[3\]"):
        (x * 1).backward(mg.ones(3))
    with pytest.raises(TypeError):
        (x * 1).backward(5)


@pytest.mark.parametrize("dtype", [mg.float64, mg.float16, mg.bfloat16, mg.int64])
def test_a_seed_gradient_is_taken_in_the_results_dtype(dtype):
    w = leaf([1.0, 2.0])
    (w * 2).backward(mg.tensor([1, 3], dtype=dtype))
    assert w.grad.dtype == mg.float32 and w.grad.tolist() == [2.0, 6.0]
    (g,) = mg.autograd.grad(w * 2, w, mg.tensor([1, 3], dtype=dtype))
    assert g.dtype == mg.float32 and g.tolist() == [2.0, 6.0]


def test_unlike_devices():
    a = mg.Value(1.0)
    assert a.device == "cpu"
    if mg.Device.is_cuda_available():
        with pytest.raises(ValueError, match="same device") as caught:
            mg.ones(2) + mg.ones(2, device="cuda")
        assert "cpu" in str(caught.value) and "cuda:0" in str(caught.value)


def test_a_gradient_with_a_history_keeps_it_where_more_is_added():
    w = mg.tensor(2.0, requires_grad=True)
    (w * 1).backward()
    g = w.grad
    g.mul_(w)
    triple = g * 3
    g.backward()
    # As in PyTorch: what was added changed the numbers alone.
    assert w.grad is g and g.requires_grad and not g.is_leaf and g.item() == 3.0
    assert mg.autograd.grad(triple, [g], retain_graph=True)[0].item() == 3.0
    v = mg.tensor(2.0, requires_grad=True)
    (v * v).backward(create_graph=True)
    first = v.grad
    triple = first * 3
    (v * v * v).backward()
    assert v.grad is first and first.item() == 16.0
    assert [g.item() for g in mg.autograd.grad(triple, [first, v])] == [3.0, 6.0]


# Graphs that are walked again.


LINEAR = {
    "add": lambda w: (w + 1).sum(),
    "view": lambda w: w.view(2, 1).t().sum(),
    "mean": lambda w: w.mean(),
    "cat": lambda w: mg.cat([w, w]).sum(),
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


def test_what_has_saved_nothing_is_walked_again() -> None:
    w, q = mg.ones(2, requires_grad=True), mg.ones(2, requires_grad=True)
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


WAYS = {
    "turned twice": lambda x: (x.t(), lambda h: h.t()),
    "a sum": lambda x: (x.t(), lambda h: h + 1),
    "another shape": lambda x: (x * 2, lambda h: h.view(2, 1)),
    "a sum with another": lambda x: (x * 2, lambda h: h + x),
}


@pytest.mark.parametrize("name", WAYS)
def test_what_lies_between_is_walked_again(name) -> None:
    x = mg.tensor([[1.0, 2.0]], requires_grad=True)
    h, make = WAYS[name](x)
    z = make(h)
    found = [mg.autograd.grad((z * z).sum() + h.sum(), h)[0].tolist() for _ in range(3)]
    assert found[0] == found[1] == found[2]


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


def test_the_graph_below_is_kept():
    x = leaf([2.0])
    h = x * 3
    y = h * h
    (g,) = mg.autograd.grad(y, h)
    h.backward(g)
    assert x.grad.item() == 36


# Results that have a history.


@pytest.mark.parametrize("widths", [(1, 1), (0, 0, 1, 1), (-1, -1, 1, 0)])
def test_a_padded_tensor_without_elements_has_a_history(widths):
    x = mg.zeros(*((0, 2) if widths[0] >= 0 else (2, 2)), requires_grad=True)
    padded = F.pad(x, widths, value=3.0)
    assert padded.requires_grad
    padded.sum().backward()
    assert x.grad.tolist() == mg.zeros(*x.shape).tolist()


def test_what_is_multiplied_with_zero_has_a_gradient_of_zeros():
    x = leaf([[1.0, 2.0]])
    answer = x.addmm(mg.tensor([[math.nan]]), mg.ones(1, 2), beta=0)
    assert all(math.isnan(n) for n in answer.tolist()[0])
    answer.sum().backward()
    assert x.grad.tolist() == [[0, 0]]


def test_steps_and_signs_have_a_history():
    x, values = leaf([-1.0, 0.0, 1.0]), leaf([5.0])
    answer = x.heaviside(values)
    answer.sum().backward()
    assert (x.grad.tolist(), values.grad.tolist()) == ([0, 0, 0], [1])
    assert mg.linalg.slogdet(leaf([[2.0, 0.0], [0.0, 3.0]]))[0].requires_grad
    assert leaf([0.0]).requires_grad and mg.zeros(0, requires_grad=True).unique_consecutive().requires_grad


def test_comparisons_in_place_have_a_history_of_zeros():
    w = mg.tensor([1.0, 3.0], requires_grad=True)
    t = mg.tensor([2.0, 2.0])
    t.gt_(w)
    assert t.tolist() == [1.0, 0.0] and t.requires_grad
    t.sum().backward()
    assert w.grad is not None and w.grad.tolist() == [0.0, 0.0]


def test_counts_have_a_history_of_zeros():
    w = mg.tensor([[0.0, 2.0], [0.0, 3.0]], requires_grad=True)
    for counted in (mg.linalg.vector_norm(w, 0), w.matrix_power(0).sum()):
        assert counted.requires_grad and counted.item() == 2.0
        (slope,) = mg.autograd.grad(counted, w)
        assert slope.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("reduced", [lambda t: t.sum(0), lambda t: t.amin(dim=0), lambda t: t.prod(dim=0), lambda t: t.flatten(0, 1).sum(0)])
def test_what_is_summed_is_what_requires_the_gradient(reduced):
    leaf = mg.tensor([[1.0, 2.0]]).clone().requires_grad_()
    answer = reduced(leaf if reduced(leaf).ndim == 1 else leaf[None])
    assert answer.requires_grad
    answer.sum().backward()
    assert leaf.grad.tolist() == [[1, 1]]
    view = (leaf * 2).reshape(2, 1, 1, 1).squeeze(-1)
    grad = mg.autograd.grad(view.sum((0, 1)).sum(), view)[0]
    assert grad.tolist() == [[[1]], [[1]]]


def test_what_is_detached_stays_so_when_it_is_summed():
    leaf = mg.tensor([[0.0, 0.0]], requires_grad=True)
    assert not leaf.clone().detach().amin(dim=0).requires_grad
    assert mg.tensor([float("inf")]).i0().isnan().item() and mg.tensor([100.0]).i0().isinf().item()
    short = mg.zeros(3, 2, dtype=mg.float16, requires_grad=True)
    short.renorm(1, 0, 1.0).sum().backward()
    assert short.grad.tolist() == [[1, 1]] * 3


# Parts of a tensor.


def test_parts_that_meet_are_added():
    x = mg.arange(12.0).reshape(3, 4).requires_grad_()
    parts = [x[0], x[2], x[1:], x[:, 1], x[0, 0], x[2, 1:3], x[1]]
    sum((i + 1) * part.sum() for i, part in enumerate(parts)).backward()
    assert x.grad.tolist() == [[6.0, 5.0, 1.0, 1.0], [10.0, 14.0, 10.0, 10.0], [5.0, 15.0, 11.0, 5.0]]


def test_elements_that_are_read_often_are_added_where_they_are():
    x = leaf([1.0, 2.0, 3.0])
    mg.stack([x[i] * x[(2 * i) % 3] for i in range(3)]).sum().backward()
    assert x.grad.tolist() == [2.0, 6.0, 4.0]


def test_gradients_of_a_concatenation_know_their_places():
    leaves = [mg.ones(2, n, requires_grad=True) for n in (3, 0, 1, 2)]
    (mg.cat([leaves[0], leaves[1], leaves[2], leaves[0], leaves[3]], 1) * mg.arange(18.0).reshape(2, 9)).sum().backward()
    assert [leaf.grad.tolist() for leaf in leaves] == [
        [[4.0, 6.0, 8.0], [22.0, 24.0, 26.0]],
        [[], []],
        [[3.0], [12.0]],
        [[7.0, 8.0], [16.0, 17.0]],
    ]
