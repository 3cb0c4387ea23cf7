"""Programs that a sixth look found to answer otherwise than PyTorch. The numbers are PyTorch's."""


import numpy as np
import pytest

import micrograd_rs as mg


@pytest.mark.parametrize("index", [[0, 1], [True, True, False], [[0, 1], [1, 0]]], ids=["list", "mask", "array"])
def test_axes_of_size_one_in_front_of_what_is_assigned_are_none(index):
    want, got = np.zeros((3, 4)), mg.zeros(3, 4)
    want[index if isinstance(index[0], bool) else np.array(index)] = np.arange(4.0)
    got[mg.tensor(index)] = mg.arange(4.0).reshape(1, 1, 1, 4)
    assert got.tolist() == want.tolist()
    # index_put takes what broadcasts, no more.
    with pytest.raises(RuntimeError, match="broadcast"):
        got.index_put_((mg.tensor([0]),), mg.zeros(1, 1, 4))


def test_what_answers_with_a_tensor_itself_answers_with_that_object():
    x = mg.ones(3)
    for same in (x.float(), x.to(mg.float32), x.contiguous(), x.flatten(), mg.flatten(x), x.cpu(), x.type_as(x)):
        assert same is x
    for other in (x.double(), x.detach(), x.view(3), x.expand(3), x.clone(), x * 1, mg.atleast_2d(x)):
        assert other is not x
    flag = mg.tensor([True])
    assert flag.bool() is flag and flag.int() is not flag


def test_many_weighted_samples_take_no_time_for_each_weight():
    mg.manual_seed(0)
    weights = mg.arange(200_000.0)
    weights[5] = 0.0
    # As long as these took a number for each sample and weight, this was minutes.
    with_it = mg.multinomial(weights, 200_000, replacement=True)
    without = mg.multinomial(weights[1:], 199_998)
    assert 0 <= int(with_it.min()) and int(with_it.max()) < 200_000 and not bool((with_it == 5).any())
    assert with_it.double().mean().item() == pytest.approx(200_000 * 2 / 3, rel=0.01)
    # All but the one of weight 0, the large ones first.
    assert without.unique().numel() == 199_998 and not bool((without == 4).any())
    assert without[:1000].double().mean().item() == pytest.approx(200_000 * 2 / 3, rel=0.03)
    rows = mg.multinomial(mg.tensor([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]), 4000, replacement=True)
    assert rows[1].tolist() == [1] * 4000 and (rows[0] == 2).sum().item() / 4000 == pytest.approx(0.75, abs=0.03)
    assert (rows[0] == 1).sum().item() == 0
    assert len(list(mg.utils.data.WeightedRandomSampler(weights, 50_000))) == 50_000


@pytest.mark.parametrize(("count", "p"), [(65, 0.5), (300, 0.02), (1000, 0.9), (10**6, 0.3)])
def test_counts_of_many_trials(count, p):
    mg.manual_seed(1)
    law = mg.distributions.Binomial(count, mg.tensor(p, dtype=mg.float64))
    drawn = law.sample((20_000,))
    spread = (count * p * (1 - p)) ** 0.5
    assert drawn.mean().item() == pytest.approx(count * p, abs=5 * spread / 20_000**0.5)
    assert drawn.std().item() == pytest.approx(spread, rel=0.03)
    assert 0 <= drawn.min().item() and drawn.max().item() <= count and bool((drawn == drawn.floor()).all())
    if count <= 300:
        # Each number as often as its probability says: chi squared over those that are expected 20 times.
        found = mg.bincount(drawn.long(), minlength=count + 1).double()
        expected = law.log_prob(mg.arange(count + 1.0, dtype=mg.float64)).exp() * 20_000
        seen = expected > 20
        chi = ((found - expected) ** 2 / expected)[seen].sum().item()
        degrees = int(seen.sum())
        assert chi < degrees + 5 * (2 * degrees) ** 0.5
    mixed = mg.distributions.Binomial(mg.tensor([0.0, 3.0, 500.0]), mg.tensor([0.5, 1.0, 0.0])).sample((50,))
    assert mixed[:, 0].sum() == 0 and (mixed[:, 1] == 3).all() and mixed[:, 2].sum() == 0
