"""Distances between rows and between tensors as PyTorch has them: infinite ones, several coordinates that are farthest, halves."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from conftest import leaf
from micrograd_rs.nn import functional as F

INF = math.inf


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, INF])
def test_a_row_is_no_part_of_its_own_distance(p):
    x = leaf([[INF, 1.0], [0.0, 2.0]])
    mg.pdist(x, p).sum().backward()
    y = leaf([[INF, 1.0], [0.0, 2.0]])
    mg.cdist(y[:1], y[1:], p).sum().backward()
    # Between two rows there is one distance, whichever function is asked.
    assert str(x.grad) == str(y.grad + 0.0)
    assert mg.pdist(x, p).item() == INF


def test_distances_from_infinity():
    x = leaf([[INF, 1.0], [0.0, 2.0], [1.0, 5.0]])
    mg.pdist(x, 1.0).sum().backward()
    assert x.grad.tolist() == [[2.0, -2.0], [-2.0, 0.0], [0.0, 2.0]]
    # Whether two infinities, or what is no number, are apart is not known.
    assert math.isnan(mg.pdist(mg.tensor([[INF, 1.0], [INF, 2.0]]), 0.0).item())
    assert math.isnan(mg.cdist(mg.tensor([[math.nan, 1.0]]), mg.tensor([[0.0, 2.0]]), 0.0).item())
    assert mg.pdist(mg.tensor([[INF, 1.0], [0.0, 2.0]]), 0.0).item() == 2.0


@pytest.mark.parametrize("between", ["cdist", "pdist"])
def test_all_coordinates_that_are_farthest_have_the_whole_gradient(between):
    # As PyTorch 2.15 has it on the CPU.
    x = leaf([[1.0, 2.0], [2.0, 3.0], [0.0, 1.0]])
    if between == "cdist":
        y = leaf([[2.0, 3.0], [0.0, 0.0]])
        far = mg.cdist(x, y, p=INF)
        assert far.tolist() == [[1, 2], [0, 3], [2, 1]]
        far.sum().backward()
        assert x.grad.tolist() == [[-1, 0], [0, 1], [-1, 0]] and y.grad.tolist() == [[2, 2], [0, -3]]
    else:
        far = mg.nn.functional.pdist(x, p=INF)
        assert far.tolist() == [1, 1, 2]
        far.sum().backward()
        assert x.grad.tolist() == [[0, 0], [2, 2], [-2, -2]]
    # An infinite one too; of no coordinates there is none.
    z = leaf([[INF, 1.0], [0.0, 5.0]])
    far = mg.cdist(z, mg.zeros(1, 2), p=INF)
    far.sum().backward()
    assert far.tolist() == [[INF], [5]] and z.grad.tolist() == [[1, 0], [0, 1]]
    assert mg.cdist(leaf([[], []]), mg.zeros(1, 0), p=INF).tolist() == [[0], [0]]
    assert math.isnan(mg.cdist(leaf([[math.nan, 1.0]]), mg.zeros(1, 2), p=INF).item())


def test_the_farthest_coordinates_twice_and_replayed():
    x, y = mg.tensor([[1.0, 2.0], [3.0, 3.0]]), mg.tensor([[0.0, 0.0], [1.0, 1.0]])

    def squares(x):
        (g,) = mg.autograd.grad((mg.cdist(x, y, p=INF) ** 2).sum(), x, create_graph=True)
        return g, mg.autograd.grad(g.sum(), x)[0]

    wanted = [t.tolist() for t in squares(x.clone().requires_grad_())]
    assert wanted == [[[0.0, 6.0], [10.0, 10.0]], [[0.0, 4.0], [8.0, 8.0]]]
    step = mg.jit(squares)
    for _ in range(4):
        assert [t.tolist() for t in step(x.clone().requires_grad_())] == wanted
    assert mg.autograd.gradcheck(lambda x: mg.cdist(x, y.double(), p=INF), leaf([[0.5, 2.0], [3.0, 0.25]], dtype=mg.float64))


def test_lengths_of_half_precision():
    x = mg.zeros(1, dtype=mg.float16)
    assert F.pairwise_distance(x, x).item() == pytest.approx(1e-6, rel=0.05)
    assert F.cosine_similarity(mg.tensor(1.0), mg.ones(1, 1, dtype=mg.float16)).dtype == mg.float32


def test_what_is_no_number_is_no_distance_of_zero():
    x = mg.randn(26, 3)
    x[0, 0], x[3, 1] = math.nan, INF
    found = mg.cdist(x, x)
    assert found[0].isnan().all() and found[:, 0].isnan().all() and found[3, 3].isnan()
    assert found[5, 5] < 1e-2 and not found[4:, 4:].isnan().any()
    few = mg.cdist(x[:5], x[:5])
    assert few[0].isnan().all() and few[3, 3].isnan()
