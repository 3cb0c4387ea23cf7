"""Calls that a seventh look found to answer, or to refuse, otherwise than PyTorch. The numbers are PyTorch 2.15's."""

import math

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.nn import functional as F

NAN, INF = math.nan, math.inf
X, Y, Z = mg.ones(2, 3), mg.zeros(2, 3), mg.full((2, 3), 2.0)


def whole(*shape):
    return mg.ones(*shape, dtype=mg.int64)


def test_deviations_that_are_none_are_refused():
    for std in (-1.0, NAN, mg.tensor([1.0, -1.0]), mg.tensor([1.0, NAN])):
        with pytest.raises(mg.ArgumentError, match="^normal: takes .*deviation"):
            mg.normal(mg.zeros(2), std)
    with pytest.raises(mg.ArgumentError, match="deviation"):
        mg.normal(0.0, NAN, (2,))
    with pytest.raises(mg.ArgumentError, match="deviation"):
        mg.normal(0.0, mg.tensor([1.0]) - 2).tolist()
    half, one = mg.zeros(2, dtype=mg.float16), mg.ones(2)
    assert mg.normal(half, one).dtype == mg.normal(half, 1.0).dtype == mg.normal(0.0, half).dtype == mg.float16
    assert mg.normal(one, half).dtype == mg.float32 and mg.normal(one.double(), one).dtype == mg.float64


def test_generators_of_what_is_drawn_like_others():
    def drawn(seed):
        g = mg.Generator().manual_seed(seed)
        return [mg.rand_like(X, generator=g), mg.randn_like(X, generator=g), mg.randint_like(X, 9, generator=g), mg.randint_like(X, 2, 9, generator=g)]

    one, same, other = ([t.tolist() for t in drawn(seed)] for seed in (3, 3, 4))
    assert one == same != other
    assert mg.rand_like(X, dtype=mg.float64).dtype == mg.float64 and mg.rand_like(X, requires_grad=True).requires_grad
    state = mg.get_rng_state()
    drawn(1)
    assert mg.equal(mg.get_rng_state(), state)


CALLS = {
    "polygamma_": (lambda: mg.ones(1).polygamma_(1), [1.6449341]),
    "unravel_index": (lambda: mg.unravel_index(indices=mg.tensor([1, 5]), shape=(2, 3))[1], [1, 2]),
    "vdot": (lambda: mg.vdot(mg.ones(3), other=mg.ones(3)), 3),
    "dot": (lambda: mg.dot(mg.ones(3), tensor=mg.ones(3)), 3),
    "tril_indices": (lambda: mg.tril_indices(2, 2, layout=mg.strided), [[0, 1, 1], [0, 0, 1]]),
    "triu_indices": (lambda: mg.triu_indices(2, 2, layout=mg.strided, pin_memory=False), [[0, 0, 1], [0, 1, 1]]),
    "alpha_dropout": (lambda: mg.alpha_dropout(mg.ones(2), p=0.5, train=False), [1, 1]),
    "alpha_dropout_": (lambda: mg.alpha_dropout_(mg.ones(2), p=0.5, train=False), [1, 1]),
    "feature_alpha_dropout": (lambda: mg.feature_alpha_dropout(mg.ones(1, 2), p=0.5, train=False), [[1, 1]]),
    "feature_dropout": (lambda: mg.feature_dropout(mg.ones(1, 2), p=0.5, train=False), [[1, 1]]),
    "layer_norm": (lambda: mg.layer_norm(mg.ones(1, 2), (2,), cudnn_enable=False), [[0, 0]]),
    "layer_norm by place": (lambda: mg.layer_norm(mg.ones(1, 2), (2,), None, None, 1e-5, False), [[0, 0]]),
    "group_norm": (lambda: mg.group_norm(mg.ones(1, 2), 1, cudnn_enabled=False), [[0, 0]]),
    "group_norm by place": (lambda: mg.group_norm(mg.ones(1, 2), 1, None, None, 1e-5, True), [[0, 0]]),
    "softmax": (lambda: F.softmax(mg.ones(2), 0, 3, mg.float64), [0.5, 0.5]),
    "softmax without a dtype": (lambda: F.softmax(mg.ones(2), 0, 3), [0.5, 0.5]),
    "log_softmax": (lambda: F.log_softmax(mg.ones(2), 0, 3, mg.float64).exp(), [0.5, 0.5]),
    "softmin": (lambda: F.softmin(mg.ones(2), 0, 3, mg.float64), [0.5, 0.5]),
    "softmax of the package": (lambda: mg.softmax(mg.ones(2), 0, mg.float64), [0.5, 0.5]),
    "uniform_": (lambda: mg.ones(1).uniform_(**{"from": 5.0, "to": 5.0}), [5]),
    "random_": (lambda: mg.ones(1).random_(**{"from": 5, "to": 6}), [5]),
    "addmm": (lambda: mg.addmm(whole(1, 1), whole(1, 1), whole(1, 1), beta=1.7, alpha=2.9), [[3]]),
    "addmv": (lambda: mg.addmv(whole(1), whole(1, 1), whole(1), beta=1.7, alpha=2.9), [3]),
    "addbmm": (lambda: mg.addbmm(whole(1, 1), whole(1, 1, 1), whole(1, 1, 1), beta=-1.7, alpha=2.9), [[1]]),
    "baddbmm": (lambda: mg.baddbmm(whole(1, 1, 1), whole(1, 1, 1), whole(1, 1, 1), beta=-1.7, alpha=-0.9), [[[-1]]]),
    "multi_margin_loss": (lambda: F.multi_margin_loss(mg.tensor(0.3), mg.tensor(0)), 0),
    "multi_margin_loss of a line": (lambda: F.multi_margin_loss(mg.ones(3), mg.tensor([0]), reduction="none"), [2 / 3]),
    "multilabel_margin_loss": (lambda: F.multilabel_margin_loss(mg.tensor(0.3), mg.tensor(0), reduction="none"), 0),
    "multilabel_margin_loss of none": (lambda: F.multilabel_margin_loss(mg.tensor(0.3), mg.tensor(-1)), 0),
    "pinv": (lambda: mg.linalg.pinv(mg.eye(2).expand(2, 2, 2) * 2, mg.tensor([0.1, 3.0])), [[[0.5, 0], [0, 0.5]], [[0, 0], [0, 0]]]),
    "pinv of symmetric ones": (lambda: mg.linalg.pinv(mg.eye(1) * 2, 0.1, True), [[0.5]]),
    "pinv by name": (lambda: mg.linalg.pinv(mg.eye(1).expand(2, 1, 1) * 2, atol=mg.tensor([0.1, 3.0])), [[[0.5]], [[0]]]),
    "matrix_rank": (lambda: mg.linalg.matrix_rank(mg.eye(2).expand(2, 2, 2) * 2, mg.tensor([0.1, 3.0])), [2, 0]),
    "matrix_rank of one": (lambda: mg.linalg.matrix_rank(mg.eye(2) * 2, mg.tensor([0.1, 3.0])), [2, 0]),
    "matrix_rank of symmetric ones": (lambda: mg.linalg.matrix_rank(mg.eye(2), 0.1, True), 2),
    "matrix_rank by name": (lambda: mg.linalg.matrix_rank(mg.eye(2).expand(2, 2, 2) * 2, atol=mg.tensor([0.1, 3.0])), [2, 0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_as_pytorch_has_them(name):
    call, wanted = CALLS[name]
    np.testing.assert_allclose(call().tolist(), wanted, rtol=1e-6, atol=1e-7)


def test_bits_are_seen_as_another_dtype():
    x = mg.tensor([1.0, -2.0])
    y = x.view(mg.int32)
    assert y.tolist() == [1065353216, -1073741824] and x.view(dtype=mg.int32).dtype == mg.int32
    y[0] = 0
    assert x.tolist() == [0, -2]
    x += 1
    assert y.view(mg.float32).tolist() == [1, -1]
    assert mg.tensor([[True, False]]).view(mg.uint8).tolist() == [[1, 0]] and mg.tensor([1, 0], dtype=mg.int8).view(mg.bool).tolist() == [True, False]
    assert mg.tensor([1.0], dtype=mg.bfloat16).view(mg.int16).tolist() == [16256]
    assert mg.arange(6.0).reshape(2, 3).T.view(mg.int32).view(mg.float32).tolist() == [[0, 3], [1, 4], [2, 5]]
    w = mg.ones(2, requires_grad=True)
    assert w.view(mg.float32).requires_grad and not w.view(mg.int32).requires_grad
    for other in (mg.int16, mg.float64, mg.uint8):
        with pytest.raises(mg.ArgumentError, match="^view: .*takes a dtype of the same size"):
            x.view(other)


REFUSED = {
    "arange": [lambda: mg.arange(0, -3, 2), lambda: mg.arange(3, 0), lambda: mg.arange(-3), lambda: mg.arange(0.0, 1.0, -0.5)],
    "histc": [lambda: mg.histc(mg.tensor([1.0, NAN])), lambda: mg.histc(mg.tensor([1.0, INF])), lambda: mg.histc(mg.tensor([1.0]), 4, 0, INF)],
    "histogram": [lambda: mg.histogram(mg.tensor([1.0, NAN]), 3), lambda: mg.histogram(mg.tensor([1.0, -INF]), 3)],
    "cov": [lambda: mg.cov(mg.ones(2, 3), fweights=mg.tensor([1, -1, 2])), lambda: mg.cov(mg.ones(2, 3), aweights=mg.tensor([1, -1, 2.0]))],
    "triplet_margin_loss": [lambda: F.triplet_margin_loss(X, Y, Z, margin=m) for m in (0, -1, NAN)],
    "triplet_margin_with_distance_loss": [lambda: F.triplet_margin_with_distance_loss(X, Y, Z, margin=0)],
    "TripletMarginLoss": [lambda: nn.TripletMarginLoss(margin=0)],
    "TripletMarginWithDistanceLoss": [lambda: nn.TripletMarginWithDistanceLoss(margin=-1)],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses(name):
    for call in REFUSED[name]:
        with pytest.raises(ValueError, match=f"^{name}: "):
            call()


def test_what_is_not_known_yet_is_refused_where_it_is_computed():
    for call in (lambda x: mg.histc(x), lambda x: mg.histogram(x, 3)[0], lambda x: mg.cov(mg.ones(2, 2), aweights=x)):
        with pytest.raises(mg.ArgumentError, match="finite"):
            call(mg.tensor([1.0, INF]) * 1).tolist()
    # A range that is given leaves out what is outside of it.
    assert mg.histc(mg.tensor([1.0, INF, NAN]), 4, 0, 3).tolist() == [0, 1, 0, 0]
    assert mg.arange(0, 0, -1).tolist() == mg.arange(3, 3).tolist() == mg.array_api.arange(3, 0).tolist() == []


def test_a_float_is_no_position():
    for index in (1.5, 1.0, (None, 0.5), (0, 2.0)):
        with pytest.raises(IndexError, match="^index: takes integers"):
            mg.ones(3, 3)[index]
    with pytest.raises(IndexError):
        mg.ones(3)[1.5] = 2


TOLD = {
    "mg.add(mg.ones(2), (1, 2))": "add(): takes tensors, numbers and NumPy arrays, got tuple",
    "mg.ones(2).mul('a')": "mul(): takes tensors, numbers and NumPy arrays, got str",
    "mg.exp(3)": "exp(): argument 'input' must be a tensor, not int",
    "mg.ones(2).matmul(3)": "matmul(): argument 'other' must be a tensor, not int",
    "mg.ones(2).sum(2**70)": "sum(): an integer beyond 2**63 is no size, axis or position",
    "mg.ones(2, 2**70)": "ones(): an integer beyond 2**63 is no size, axis or position",
    "mg.ones(3).view(2**70)": "view(): an integer beyond 2**63 is no size, axis or position",
    "mg.ones(2).reshape('a')": "reshape(): 'str' object cannot be interpreted as an integer",
    "mg.ones(2).fill_('a')": "fill_(): takes tensors, numbers and NumPy arrays, got str",
    "mg.ones(2).copy_('a')": "copy_(): takes tensors, numbers and NumPy arrays, got str",
    "mg.ones(2).copy_(mg.ones(3))": "copy_: [3] does not broadcast to [2]",
    "mg.ones(2, dtype=mg.int64).fill_(2**70)": "fill_: the value",
    "mg.where([1, 0], X, Y)": "where(): the condition must be a tensor of truth values, not list",
    "mg.where(X, X, Y)": "where: takes a condition of truth values, got f32",
    "mg.where(X > 0, 'a', 1)": "where(): takes tensors, numbers and NumPy arrays, got str",
    "mg.ones(3)['a']": "index: takes integers",
    "mg.ones(2).__iadd__((1, 2))": "__iadd__(): takes tensors, numbers and NumPy arrays, got tuple",
}


@pytest.mark.parametrize("call", TOLD)
def test_errors_name_the_operation(call):
    with pytest.raises(Exception) as told:
        eval(call, {"mg": mg, "X": X, "Y": Y})
    assert str(told.value).startswith(TOLD[call])
