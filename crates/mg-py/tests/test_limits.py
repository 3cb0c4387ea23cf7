"""Sizes, counts, layers and degrees that are beyond all measure: they are refused before memory is asked for."""

from __future__ import annotations

import micrograd_rs as mg
import pytest


def test_so_many_parts_and_choices_are_refused():
    with pytest.raises(ValueError, match="at most"):
        mg.zeros(0).chunk(2**40)
    with pytest.raises(ValueError, match="at most"):
        mg.zeros(0).tensor_split(2**40)
    assert len(mg.zeros(0).chunk(5)) == 5
    for n, r, again in ((60, 30, False), (3, 2**62, True), (1, 2**62, True)):
        with pytest.raises(MemoryError):
            mg.combinations(mg.arange(n), r, with_replacement=again)
    assert mg.combinations(mg.arange(3), 2**62).shape == (0, 2**62)
    assert mg.combinations(mg.arange(3), 2, with_replacement=True).tolist() == [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]
    assert mg.combinations(mg.arange(0), 2, with_replacement=True).shape == (0, 2)


def test_more_than_memory_holds_is_an_error():
    with pytest.raises(ValueError):
        mg.zeros(2).tensor_split(2**31)
    with pytest.raises(MemoryError):
        mg.tensor([2**45, 1]).repeat_interleave()


def test_batches_of_more_samples_than_memory_holds():
    with pytest.raises(MemoryError):
        iter(mg.data.Batches(2**62, 1, seed=1))


def test_so_many_layers_are_refused():
    with pytest.raises(TypeError, match="takes a module"):
        mg.nn.TransformerEncoder(7, 2**62)
    with pytest.raises(ValueError, match="layers at most"):
        mg.nn.TransformerDecoder(mg.nn.TransformerDecoderLayer(2, 1), 2**62)
    with pytest.raises(ValueError, match="layers at most"):
        mg.nn.LSTM(1, 1, num_layers=2**62)


def test_polynomials_of_absurd_degrees_are_refused():
    for degree in (18_000_000_000, mg.tensor([3, 18_000_000_000])):
        with pytest.raises(ValueError, match="up to degree 10000"):
            mg.special.laguerre_polynomial_l(mg.ones(2), degree)


HUGE = 2**42


def of_as_many(x):
    """An element that stands for more than any memory holds."""
    return x.expand(HUGE, *x.shape[1:])


@pytest.mark.parametrize(
    ("op", "compute"),
    [
        ("sum", lambda x: of_as_many(mg.ones(1, 5)).sum(1).sum()),
        ("sum", lambda x: of_as_many(mg.ones(1, 5)).prod(1).sum()),
        ("index", lambda x: x[x > 0]),
        ("masked_select", lambda x: mg.masked_select(x, x > 0)),
        ("nonzero", lambda x: mg.where(x > 0)),
        ("scatter_reduce", lambda x: x.scatter_reduce(0, mg.tensor([0]), mg.ones(1), "prod")),
        ("index_reduce", lambda x: x.index_reduce(0, mg.tensor([0]), mg.ones(1), "prod")),
        ("index_reduce", lambda x: mg.ones(1).expand(2**62).index_reduce(0, mg.tensor([0]), mg.ones(1), "prod")),
        ("pdist", lambda x: mg.nn.functional.pdist(mg.ones(1, 1).expand(2**21, 1))),
        ("matmul", lambda x: mg.ones(1, 1).expand(4, 2**38) @ mg.ones(1, 1).expand(2**38, 4)),
        ("relu", lambda x: x.relu()),
        ("sort", lambda x: x.sort()[0]),
        # What an operation is composed of is nobody's concern.
        ("cdist", lambda x: mg.cdist(mg.ones(1, 1).expand(2**21, 3), mg.ones(1, 1).expand(2**21, 3))),
        ("cdist", lambda x: mg.cdist(mg.ones(1, 1).expand(2**21, 3), mg.ones(1, 1).expand(2**21, 3), p=1.0)),
        ("cov", lambda x: mg.cov(mg.ones(2**21, 1).expand(2**21, 3))),
        ("one_hot", lambda x: mg.nn.functional.one_hot(mg.arange(2**21))),
    ],
)
def test_more_than_memory_holds_is_told_of_by_the_operation(op, compute):
    with pytest.raises(MemoryError, match=f"^{op}: out of memory: .* asked for"):
        answer = compute(of_as_many(mg.ones(1)))
        mg.realize(*answer if isinstance(answer, tuple) else [answer])
    # What comes after is as before, on as many threads.
    assert mg.ones(1000, 1000).sum().item() == 1e6


def test_sizes_are_refused_before_they_are_gone_through():
    with pytest.raises(MemoryError, match="^interpolate: "):
        mg.nn.functional.interpolate(mg.ones(1, 1, 4), size=2**40, mode="area")
    with pytest.raises(MemoryError, match="^interpolate: "):
        mg.nn.functional.interpolate(mg.ones(1, 1, 4, 4), size=2**40, mode="bilinear", antialias=True)


def test_of_many_rows_without_elements_there_is_nothing_to_sum():
    x = mg.zeros(2**62, 0)
    for answer in (x.sum(0), x.mean(0), x.prod(0), x.sum(0, keepdim=True).sum(0)):
        assert answer.tolist() == []
