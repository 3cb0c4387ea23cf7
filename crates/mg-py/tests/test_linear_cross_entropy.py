"""Losses of large vocabularies: by a kernel that never has all scores in memory, beside the scores' own cross entropy."""

import math

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs.nn import functional as F

# Scores of 18 MB in half types: more than are computed all at once. Neither rows nor words are a multiple of anything.
ROWS, WIDTH, WORDS = 667, 5, 13417


def composed(x, w, labels, linear_bias=None, **options):
    return F.cross_entropy(F.linear(x, w, linear_bias), labels, **options)


def operands(dtype, device, seed=0, scale=1.0):
    random = np.random.default_rng(seed)
    of = lambda *shape: mg.tensor(random.standard_normal(shape) * scale, dtype=dtype, device=device, requires_grad=True)  # noqa: E731
    labels = random.integers(0, WORDS, ROWS)
    return of(ROWS, WIDTH), of(WORDS, WIDTH), of(WORDS), labels


CASES = {
    "mean": {},
    "sum": {"reduction": "sum"},
    "none": {"reduction": "none"},
    "smoothed": {"label_smoothing": 0.1},
    "all smoothed": {"label_smoothing": 1.0, "reduction": "sum"},
    "weighted": {"weight": True},
    "weighted and smoothed": {"weight": True, "label_smoothing": 0.25},
    "ignored": {"ignore_index": 3},
    "ignored and smoothed": {"ignore_index": 3, "label_smoothing": 0.25, "weight": True, "reduction": "none"},
}


def both(case, dtype, device, biased=True):
    """Loss and gradients by the kernel, and of the scores in float64."""
    options = dict(CASES[case])
    found = []
    for function, of in ((F.linear_cross_entropy, dtype), (composed, mg.float64)):
        x, w, b, labels = operands(dtype, device)
        x, w, b = (t.detach().to(of).requires_grad_() for t in (x, w, b))
        if "ignore_index" in options:
            labels = np.where(np.arange(ROWS) % 3 == 0, options["ignore_index"], labels)
        if options.get("weight") is not None:
            weights = np.random.default_rng(7).uniform(0.1, 2.0, WORDS)
            options["weight"] = mg.tensor(weights, dtype=mg.float32, device=device).to(of if of != mg.float16 else mg.float32)
        labels = mg.tensor(labels, device=device)
        given = {"linear_bias": b} if biased else {}
        loss = function(x, w, labels, **given, **options)
        # Of f16 a mean is scaled, as whoever trains in it does: what flows back to one of many scores is 0 otherwise.
        scale = 1024 if dtype == mg.float16 and loss.ndim == 0 and options.get("reduction") != "sum" else 1
        flow = mg.tensor(scale * np.random.default_rng(3).uniform(0.5, 1.5, loss.shape), device=device).to(loss.dtype)
        (loss * flow).sum().backward()
        found.append([t.double().cpu().numpy() for t in (loss, x.grad, w.grad, *([b.grad] if biased else []))])
    return found


def near(got, want, within):
    for a, b in zip(got, want):
        assert a.shape == b.shape
        assert np.linalg.norm(a - b) <= within * max(np.linalg.norm(b), 1e-30), (np.linalg.norm(a - b) / np.linalg.norm(b))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("dtype", "within"), [("float64", 1e-12), ("float32", 3e-6), ("bfloat16", 2e-2), ("float16", 2e-3)])
def test_losses_and_gradients_are_those_of_the_scores(case, dtype, within, device):
    for biased in (True, False):
        got, want = both(case, getattr(mg, dtype), device, biased)
        near(got, want, within)


def kinds(call):
    with mg.profiler.profile() as profile:
        for t in call():
            t.tolist()
    return [launch["kind"] for launch in profile.launches]


def test_it_is_one_kernel_where_there_are_many_scores(device):
    x, w, b, labels = operands(mg.float32, device)
    labels = mg.tensor(labels, device=device)
    found = kinds(lambda: mg.autograd.grad([F.linear_cross_entropy(x, w, labels)], [x, w]))
    assert "surprise_slopes" in found and "matmul" not in found, found
    found = kinds(lambda: [F.linear_cross_entropy(x.detach(), w.detach(), labels)])
    assert "surprise" in found and "matmul" not in found, found
    # Few are kept, and so are those of what stands for many examples.
    found = kinds(lambda: [F.linear_cross_entropy(x[:9], w, labels[:9])])
    assert "matmul" in found, found
    found = kinds(lambda: [mg.func.vmap(lambda x: F.linear_cross_entropy(x, w, labels))(x.detach()[None])])
    assert "surprise" not in found, found


def test_every_label_may_be_ignored(device):
    x, w, _, labels = operands(mg.float32, device)
    ignored = mg.full((ROWS,), -100, dtype=mg.int64, device=device)
    loss = F.linear_cross_entropy(x, w, ignored)
    loss.backward()
    assert math.isnan(loss.item()) and not x.grad.any().item() and not w.grad.any().item()
    loss = F.linear_cross_entropy(x, w, ignored, reduction="sum")
    assert loss.item() == 0
    with pytest.raises(IndexError):
        F.linear_cross_entropy(x, w, mg.tensor(np.where(labels == labels[0], WORDS, labels), device=device)).item()


def test_autocast_takes_it_as_its_parts(device):
    kind = "cuda" if mg.device(device).type == "cuda" else "cpu"
    x, w, b, labels = operands(mg.float32, device)
    labels = mg.tensor(labels, device=device)
    with mg.autocast(kind, dtype=mg.bfloat16):
        ours, theirs = F.linear_cross_entropy(x, w, labels, linear_bias=b), composed(x, w, labels, b)
    assert ours.dtype == theirs.dtype == mg.float32
    got, want = (mg.autograd.grad([loss], [x, w, b]) for loss in (ours, theirs))
    assert all(g.dtype == mg.float32 for g in got)
    near([t.numpy() for t in (ours.detach().cpu(), *(g.cpu() for g in got))], [t.numpy() for t in (theirs.detach().cpu(), *(g.cpu() for g in want))], 1e-2)


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_second_derivatives_and_tangents_are_those_of_the_scores(reduction, device):
    x, w, b, labels = operands(mg.float64, device, scale=0.3)
    labels = mg.tensor(np.where(np.arange(ROWS) % 5 == 0, -100, labels), device=device)
    along = [mg.tensor(np.random.default_rng(9).standard_normal(t.shape), device=device) for t in (x, w, b)]

    def of(function):
        loss = lambda x, w, b: function(x, w, labels, linear_bias=b, label_smoothing=0.2, reduction=reduction).square().sum()  # noqa: E731
        first = mg.autograd.grad([loss(x, w, b)], [x, w, b], create_graph=True)
        second = mg.autograd.grad([sum((g * v).sum() for g, v in zip(first, along))], [x, w, b])
        _, tangent = mg.func.jvp(loss, (x.detach(), w.detach(), b.detach()), tuple(along))
        return [t.detach().cpu().numpy() for t in (*first, *second, tangent)]

    near(of(F.linear_cross_entropy), of(composed), 1e-9)


def test_a_step_with_it_is_replayed(device):
    x, w, _, labels = operands(mg.float32, device)
    labels = mg.tensor(labels, device=device)
    w = w.detach().requires_grad_()

    @mg.jit
    def step(x, labels):
        loss = F.linear_cross_entropy(x, w, labels)
        (g,) = mg.autograd.grad([loss], [w])
        return loss, g

    for i in range(4):
        moved = mg.tensor((labels.cpu().numpy() + i) % WORDS, device=device)
        loss, g = step(x.detach() * (1 + i), moved)
        expected = composed(x.detach() * (1 + i), w, moved)
        (of,) = mg.autograd.grad([expected], [w])
        near([loss.detach().cpu().numpy(), g.cpu().numpy()], [expected.detach().cpu().numpy(), of.cpu().numpy()], 1e-5)


def test_scores_of_a_vocabulary_never_all_lie_in_memory(program):
    code = """
import resource
import micrograd_rs as mg
x, w = mg.randn(4096, 8, requires_grad=True), mg.randn(32768, 8, requires_grad=True)
labels = mg.randint(0, 32768, (4096,))
mg.realize(x, w, labels)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
loss = mg.nn.functional.linear_cross_entropy(x, w, labels)
loss.backward()
mg.realize(loss, x.grad, w.grad)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    # All of them are 512 MiB, of which a block has 64.
    assert int(program(code, MG_NUM_THREADS="1")) < 128
