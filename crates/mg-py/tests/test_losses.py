"""Losses as PyTorch has them: values, dtypes, shapes, reductions, and slopes at ties, at ends and at NaN."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import close, leaf
from micrograd_rs import nn
from micrograd_rs.nn import functional as F

INF = math.inf


# Values.


def test_losses():
    logits = mg.tensor([[2.0, 1.0, 0.1], [0.1, 0.2, 0.7]])
    labels = mg.tensor([0, 2])
    each = F.cross_entropy(logits, labels, reduction="none")
    assert each.shape == (2,)
    close(F.cross_entropy(logits, labels), sum(each.tolist()) / 2)
    close(F.cross_entropy(logits, labels, reduction="sum"), sum(each.tolist()))
    close(F.nll_loss(F.log_softmax(logits, 1), labels, reduction="none"), each)
    p, z = mg.tensor([0.0, 1.0, 0.3]), mg.tensor([2.0, -3.0, 0.5])
    bce = [-(q * math.log(1 / (1 + math.exp(-x))) + (1 - q) * math.log(1 - 1 / (1 + math.exp(-x)))) for q, x in zip(p.tolist(), z.tolist())]
    close(F.binary_cross_entropy_with_logits(z, p, reduction="none"), bce)
    close(F.mse_loss(z, p, reduction="sum"), sum((a - b) ** 2 for a, b in zip(z.tolist(), p.tolist())))
    with pytest.raises(ValueError, match="median"):
        F.mse_loss(z, p, reduction="median")
    with pytest.raises(ValueError, match=r"\[3\]"):
        F.mse_loss(z, mg.zeros(2, 2))
    with pytest.raises(IndexError, match="3"):
        F.cross_entropy(logits, mg.tensor([0, 3])).item()
    with pytest.raises(TypeError):
        F.cross_entropy(logits, mg.tensor([0.0, 1.0]))


CHANCES = [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]]


# By PyTorch 2.15, of these logits and labels: mean, sum.
LOGITS, LABELS, WEIGHT = [[2.0, 1.0, 0.1], [0.1, 0.2, 0.7], [0.0, -1.0, 3.0]], [0, 2, 1], [0.5, 1.0, 2.0]


ENTROPIES = [
    ({}, 1.7502878229796293, 5.250863468938888),
    ({"weight": WEIGHT}, 1.6600851456295989, 5.810298009703596),
    ({"ignore_index": 2}, 2.2414569600176315, 4.482913920035263),
    ({"label_smoothing": 0.2}, 1.7280656007574071, 5.184196802272221),
    ({"weight": WEIGHT, "ignore_index": 0, "label_smoothing": 0.3}, 1.6143632698422148, 4.843089809526644),
    ({"target": CHANCES}, 1.2669544896462959, 3.800863468938888),
    ({"target": CHANCES, "weight": WEIGHT, "label_smoothing": 0.1}, 1.411912112436952, 4.235736337310856),
]


@pytest.mark.parametrize(("options", "mean", "total"), ENTROPIES)
def test_cross_entropy_is_pytorchs(options, mean, total):
    options = {k: mg.tensor(v, dtype="f64") if k in ("weight", "target") else v for k, v in options.items()}
    target = options.pop("target", mg.tensor(LABELS))
    x = mg.Tensor(LOGITS, dtype="f64")
    close(F.cross_entropy(x, target, **options), mean)
    close(F.cross_entropy(x, target, reduction="sum", **options), total)
    close(mg.nn.CrossEntropyLoss(**options)(x, target), mean)
    each = F.cross_entropy(x, target, reduction="none", **options)
    close(each.sum(), total)
    # Classes lie along the second axis of more.
    close(F.cross_entropy(x.unsqueeze(2), target.unsqueeze(-1), reduction="none", **options).squeeze(-1), each.tolist())
    if target.ndim == 1 and target[0].item() != options.get("ignore_index"):
        close(F.cross_entropy(x[0], target[0], reduction="none", **options), each[0].item())


def test_labels_to_ignore():
    x, labels = mg.Tensor(LOGITS), mg.tensor([0, -100, 1])
    kept = F.cross_entropy(x[::2], mg.tensor([0, 1]))
    loss = F.cross_entropy(x, labels)
    close(loss, kept.item())
    loss.backward()
    assert x.grad[1].tolist() == [0, 0, 0]
    assert F.cross_entropy(x, mg.tensor([-100] * 3)).isnan().item()
    with pytest.raises(IndexError):
        F.cross_entropy(x, mg.tensor([0, -1, 1])).item()
    with pytest.raises(ValueError, match="probabilities"):
        F.cross_entropy(x, mg.ones(3, 3), ignore_index=1)
    with pytest.raises(ValueError, match="each of 3 classes"):
        F.cross_entropy(x, labels, weight=mg.ones(2))
    with pytest.raises(ValueError, match="smoothing"):
        F.cross_entropy(x, labels, label_smoothing=1.5)


# Dtypes, shapes and reductions.


def test_counts_meet_rates_of_another_dtype():
    assert F.poisson_nll_loss(mg.tensor([0]), mg.tensor(1.0, dtype=mg.float64)).dtype == mg.float64
    assert F.poisson_nll_loss(mg.tensor(0), mg.tensor(1.0, dtype=mg.bfloat16)).dtype == mg.float32


def test_the_rate_of_a_number_beside_halves():
    half, number = mg.tensor([0.0], dtype=mg.float16), mg.tensor(0)
    assert mg.nn.functional.poisson_nll_loss(number, half).dtype == mg.float16
    assert mg.nn.functional.poisson_nll_loss(number.reshape(1), half).dtype == mg.float32
    # What is beyond float32 is infinite, whatever it is compared with.
    assert mg.nn.functional.poisson_nll_loss(mg.tensor(400.0), mg.tensor(0.0, dtype=mg.float64)).item() == INF


@pytest.mark.parametrize(
    ("loss", "wanted"),
    [(F.l1_loss, mg.float32), (F.smooth_l1_loss, mg.float32), (F.huber_loss, mg.float16), (F.soft_margin_loss, mg.float16)],
)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_dtypes_of_losses(loss, wanted):
    assert loss(mg.tensor([0.5], dtype=mg.float16), mg.tensor(0.25)).dtype == wanted


def test_targets_do_not_decide_the_dtype_of_a_hinge():
    assert F.hinge_embedding_loss(mg.zeros(2, dtype=mg.float16), mg.ones(2)).dtype == mg.float16
    assert F.poisson_nll_loss(mg.arange(2), mg.tensor(1.0, dtype=mg.float16)).dtype == mg.float32


def test_classes_are_the_inputs():
    loss = F.multilabel_soft_margin_loss(mg.tensor([0.0]), mg.tensor([[0], [0]]))
    assert loss.item() == pytest.approx(2 * math.log(2))


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, mg.nn.MSELoss(), mg.nn.L1Loss()])
def test_losses_that_broadcast_say_so(loss):
    with pytest.warns(UserWarning, match=r"target size \(\[3\]\) that is different to the input size \(\[3, 1\]\)"):
        loss(mg.zeros(3, 1), mg.ones(3))
    loss(mg.zeros(3), mg.ones(3))


X, Y, Z = mg.ones(2, 3), mg.zeros(2, 3), mg.full((2, 3), 2.0)


LINE = (mg.zeros(4, 1, 3).log_softmax(2), mg.tensor([[1, 2]]), mg.tensor([4]), mg.tensor([2]))


def test_losses_at_the_top_take_numbers_as_reduction():
    told = {number: mg.triplet_margin_loss(X, Y, Z, 2.0, 1.0, 1e-6, True, number) for number in (0, 1, 2)}
    assert told[0].shape == (2,) and told[1].item() == pytest.approx(2.000006, rel=1e-5) and told[2].item() == pytest.approx(4.000012, rel=1e-5)
    assert mg.hinge_embedding_loss(mg.ones(3), mg.ones(3)).tolist() == [1, 1, 1]
    assert mg.hinge_embedding_loss(mg.ones(3), mg.ones(3), 1.0, 2).item() == 3
    assert mg.margin_ranking_loss(mg.ones(2), mg.ones(2), mg.ones(2), 0.5, 2).item() == 1
    assert mg.cosine_embedding_loss(X, X, mg.ones(2), margin=0.0).shape == (2,)
    assert mg.binary_cross_entropy_with_logits(mg.ones(2), mg.ones(2), None, None, 2).item() == pytest.approx(0.62652338)
    assert mg.kl_div(mg.ones(2), mg.ones(2)).tolist() == [-1, -1]
    assert mg.ctc_loss(*LINE).shape == (1,) and mg.ctc_loss(*LINE, 0, 2).item() == pytest.approx(1.6863990)
    assert mg.ctc_loss(*LINE, 0, 1).item() == pytest.approx(0.8431995) == F.ctc_loss(*LINE).item()
    assert F.hinge_embedding_loss(mg.ones(3), mg.ones(3)).shape == () and mg.triplet_margin_loss(X, Y, Z, reduction="sum").shape == ()


# Slopes.


def test_nothing_flows_through_a_tie():
    a, b = leaf([0.5]), leaf([0.5])
    loss = F.margin_ranking_loss(a, b, mg.tensor([1.0]))
    loss.backward()
    assert (str(loss.item()), a.grad.tolist(), b.grad.tolist()) == ("0.0", [0], [0])
    x = leaf([1.0])
    F.hinge_embedding_loss(x, mg.tensor([-1.0])).backward()
    assert x.grad.tolist() == [0]


def test_slopes_of_entropies_at_the_ends():
    # As PyTorch 2.15 has them on the CPU.
    x, y = leaf([1.0, 0.0, 1.0, 0.0, 0.5]), mg.tensor([1.0, 0.0, 0.0, 1.0, 1.0])
    loss = mg.nn.functional.binary_cross_entropy(x, y, reduction="none")
    assert loss.tolist() == pytest.approx([0, 0, 100, 100, math.log(2)])
    (g,) = mg.autograd.grad(loss.sum(), x, create_graph=True)
    assert g.tolist() == pytest.approx([0, 0, 1e12, -1e12, -2])
    (second,) = mg.autograd.grad(g[4], x)
    assert second.tolist() == [0, 0, 0, 0, 4]
    target = leaf([0.0, 0.0, 1.0])
    mg.nn.functional.binary_cross_entropy(mg.tensor([0.0, 1.0, 0.5]), target, reduction="sum").backward()
    assert target.grad.tolist() == [math.inf, -math.inf, 0]
    target.grad = None
    (mg.nn.functional.binary_cross_entropy(mg.tensor([0.0, 1.0, 0.5]), target, reduction="sum") * 0).backward()
    assert [str(slope) for slope in target.grad.tolist()] == ["nan", "nan", "0.0"]
    half = leaf([1.0, 0.0, 0.5], dtype=mg.float16)
    mg.nn.functional.binary_cross_entropy(half, half.detach().clone()).backward()
    assert half.grad.tolist() == [0, 0, 0]


def test_losses_of_what_is_no_number_have_no_slope():
    for loss in (nn.functional.smooth_l1_loss, nn.functional.huber_loss):
        x = mg.tensor([float("nan"), float("inf"), -2.0, -1.0, 0.5], requires_grad=True)
        loss(x, mg.zeros(5), reduction="none").backward(mg.ones(5))
        first, *others = x.grad.tolist()
        assert first != first and others == [1.0, -1.0, -1.0, 0.5]


@pytest.mark.parametrize(
    ("loss", "first", "second"),
    [
        (lambda w: F.binary_cross_entropy_with_logits(w, mg.zeros(1)), 0.5, 0.25),
        (lambda w: F.binary_cross_entropy_with_logits(w, mg.ones(1), pos_weight=mg.full((1,), 2.0)), -1.0, 0.5),
        (lambda w: F.huber_loss(w, mg.zeros(1)), 0.0, 1.0),
        (lambda w: F.smooth_l1_loss(w, mg.zeros(1), beta=0.5), 0.0, 2.0),
    ],
)
def test_losses_have_second_derivatives_at_zero(loss, first, second):
    w = mg.zeros(1, requires_grad=True)
    slope = mg.autograd.grad(loss(w), w, create_graph=True)[0]
    assert (slope.item(), mg.autograd.grad(slope.sum(), w)[0].item()) == (first, second)


@pytest.mark.parametrize(
    ("logits", "target", "weight", "expected"),
    [("f32", "f64", None, "f64"), ("f16", "f32", None, "f32"), ("f32", "f16", None, "f32"), ("f64", "f32", None, "f64"), ("f32", "f32", "f64", "f64")],
)
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_cross_entropy_of_probabilities_is_of_the_dtype_in_which_they_meet(logits, target, weight, expected, label_smoothing, reduction):
    x = mg.tensor([[1.0, 2.0, 0.5]], dtype=logits, requires_grad=True)
    y = mg.tensor([[0.25, 0.25, 0.5]], dtype=target, requires_grad=True)
    weight = weight and mg.tensor([1.0, 2.0, 3.0], dtype=weight)
    loss = F.cross_entropy(x, y, weight=weight, label_smoothing=label_smoothing, reduction=reduction)
    loss.sum().backward()
    assert loss.dtype.short_name == expected
    assert (x.grad.dtype, y.grad.dtype) == (x.dtype, y.dtype)


def test_a_variance_below_zero_is_refused():
    x, y = mg.ones(3), mg.zeros(3)
    for var in (mg.tensor([1.0, -1.0, 2.0]), mg.tensor([1.0, 2.0, 3.0]) - 2):
        with pytest.raises(ValueError, match="gaussian_nll_loss: takes variances that are not negative"):
            F.gaussian_nll_loss(x, y, var).item()
        with pytest.raises(ValueError, match="not negative"):
            nn.GaussianNLLLoss()(x, y, var).item()
    assert math.isnan(F.gaussian_nll_loss(x, y, mg.tensor([1.0, math.nan, 0.0])).item())
    var = leaf([1.0, 0.0, 2.0])
    F.gaussian_nll_loss(x, y, var * 1).backward()
    assert var.grad.isfinite().all()


def test_margins_have_no_slope_at_nan():
    x = leaf([math.nan, 0.5])
    F.hinge_embedding_loss(x, -mg.ones(2), reduction="none").backward(mg.ones(2))
    assert x.grad.tolist() == [0, -1]
    x = leaf([math.nan, -0.5])
    F.margin_ranking_loss(x, mg.zeros(2), mg.ones(2), reduction="none").backward(mg.ones(2))
    assert x.grad.tolist() == [0, -1]
    assert math.isnan(F.hinge_embedding_loss(mg.tensor([math.nan]), -mg.ones(1)).item())


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss", "linear_cross_entropy"])
def test_tangents_where_every_label_is_ignored(name, weight):
    x, ignored = mg.randn(2, 3), mg.tensor([-100, -100])
    weight = weight and mg.tensor(weight)
    by = (mg.randn(3, 3),) if name == "linear_cross_entropy" else ()
    loss = lambda x, y: getattr(F, name)(x, *by, y, weight=weight)  # noqa: E731
    value, tangent = mg.func.jvp(lambda x: loss(x, ignored), (x,), (x,))
    assert math.isnan(value.item()) and tangent.item() == 0
    assert mg.func.grad(lambda x: loss(x, ignored))(x).tolist() == mg.zeros(2, 3).tolist()
    # Where one counts both modes agree.
    y = mg.tensor([-100, 1])
    along = mg.func.jvp(lambda x: loss(x, y), (x,), (x,))[1]
    assert along.item() == pytest.approx((mg.func.grad(lambda x: loss(x, y))(x) * x).sum().item(), rel=1e-5)
