"""Edges at which random programs differed from PyTorch; what is wanted is PyTorch's answer."""

from __future__ import annotations

import math

import pytest

import micrograd_rs as mg
from micrograd_rs.nn import functional as F


def second(f, at: float) -> tuple[float, float]:
    w = mg.tensor(at, requires_grad=True)
    (slope,) = mg.autograd.grad(f(w), w, create_graph=True)
    (curve,) = mg.autograd.grad(slope, w)
    return slope.item(), curve.item()


def test_positive_is_the_tensor_and_one_matrix_is_copied():
    x = mg.tensor([[1.0]], requires_grad=True)
    assert x.positive().is_leaf
    y, z = mg.zeros(1, 1), mg.zeros(1, 1)
    y.positive().fill_(2)
    mg.chain_matmul(z).fill_(2)
    assert y.item() == 2 and z.item() == 0
    with pytest.raises(ValueError):
        mg.chain_matmul(mg.zeros(2))


def test_sums_to_their_own_size_and_differences_of_nothing_are_the_tensor():
    w = mg.zeros(0, requires_grad=True)
    assert w.sum_to_size(0).is_leaf and w.diff().is_leaf
    assert mg.tensor(3.0).adjoint().item() == 3.0
    assert F.pdist(mg.ones(0, 0, requires_grad=True)).requires_grad


def test_logit_at_its_ends():
    w = mg.tensor([0.0, 1.0, 0.5, -1.0, 2.0], requires_grad=True)
    w.logit().sum().backward()
    assert w.grad is not None
    zero, one, half, below, above = w.grad.tolist()
    assert zero == one == math.inf and half == 4.0 and math.isnan(below) and math.isnan(above)


def test_second_slopes_at_zero():
    assert second(F.celu, 0.0) == second(F.elu, 0.0) == (1.0, 0.0)
    assert second(lambda x: F.elu(x, 2.0), 0.0) == (2.0, 0.0)
    slope, curve = second(F.selu, 0.0)
    assert slope == pytest.approx(1.7580993408473766) and curve == 0.0
    assert second(lambda x: F.elu(x, 2.0), -1.0) == pytest.approx((2 / math.e, 2 / math.e))


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


def test_lengths_of_half_precision():
    x = mg.zeros(1, dtype=mg.float16)
    assert F.pairwise_distance(x, x).item() == pytest.approx(1e-6, rel=0.05)
    assert F.cosine_similarity(mg.tensor(1.0), mg.ones(1, 1, dtype=mg.float16)).dtype == mg.float32


def test_what_is_refused():
    truth = mg.tensor([True])
    for refused in (
        lambda: truth.mvlgamma(1),
        lambda: mg.trapezoid(truth),
        lambda: mg.tensor([0.0, 0.0]).inner(mg.tensor([0.0])),
        lambda: F.soft_margin_loss(mg.tensor(0.0), mg.zeros(0, 0)),
        lambda: F.pairwise_distance(truth, truth),
    ):
        with pytest.raises((TypeError, ValueError)):
            refused()


def test_integers():
    assert mg.trapezoid(mg.zeros(0, dtype=mg.int64)).dtype == mg.int64
    assert F.hardtanh(mg.tensor([0, 3], dtype=mg.uint8)).tolist() == [0, 1]


def test_axes_in_another_order_are_a_view():
    x, y = mg.zeros(1, 2), mg.zeros(2)
    mg.einsum("ij->ji", x).fill_(3)
    mg.broadcast_tensors(y)[0].fill_(3)
    assert x.tolist() == [[3.0, 3.0]] and y.tolist() == [3.0, 3.0]


def test_slopes_at_the_edge():
    w = mg.tensor(0.0, requires_grad=True)
    mg.special.entr(w).backward()
    assert w.grad is not None and w.grad.item() == math.inf
    v = mg.tensor([1.0, 2.0], requires_grad=True)
    mg.nextafter(v, mg.tensor([1.0, 5.0])).sum().backward()
    assert v.grad is not None and v.grad.tolist() == [0.0, 1.0]
    x = mg.tensor(math.nan, requires_grad=True)
    F.selu(x).backward()
    assert x.grad is not None and x.grad.item() == pytest.approx(1.0507009873554805)
