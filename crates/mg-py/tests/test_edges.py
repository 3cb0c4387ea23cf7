"""Edges at which random programs differed from PyTorch; what is wanted is PyTorch's answer."""

from __future__ import annotations


import pytest

import micrograd_rs as mg
from micrograd_rs.nn import functional as F


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


def test_axes_in_another_order_are_a_view():
    x, y = mg.zeros(1, 2), mg.zeros(2)
    mg.einsum("ij->ji", x).fill_(3)
    mg.broadcast_tensors(y)[0].fill_(3)
    assert x.tolist() == [[3.0, 3.0]] and y.tolist() == [3.0, 3.0]
