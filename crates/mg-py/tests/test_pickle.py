"""Pickling and copying of tensors and what belongs to them."""

from __future__ import annotations

import copy
import pickle

import micrograd_rs as mg
import pytest
from micrograd_rs import Tensor, nn
from micrograd_rs._micrograd_rs import _rebuild


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"])
def test_tensors(dtype, protocol):
    t = mg.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    for view in (t, t.t(), t[::-1, 1:], t[:0], t[0, 0]):
        other = pickle.loads(pickle.dumps(view, protocol))
        assert other.tolist() == view.tolist() and other.dtype == dtype and other.shape == view.shape


def test_leaves_stay_leaves():
    x = Tensor([1.0])
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert other.requires_grad and other.is_leaf
    # A result comes back as a leaf, as in PyTorch.
    assert pickle.loads(pickle.dumps(x * 2)).requires_grad


def test_results_come_back_from_pickle_as_leaves_that_require_gradients():
    w = mg.ones(2, requires_grad=True)
    for t, wants in ((w * 2, True), (w, True), (w.detach(), False)):
        again = pickle.loads(pickle.dumps(t))
        assert (again.requires_grad, again.is_leaf, again.tolist()) == (wants, True, t.tolist())


def test_deepcopy():
    x = Tensor([1.0, 2.0])
    (x * x).sum().backward()
    other = copy.deepcopy(x)
    assert other.grad.tolist() == [2, 4]
    other.grad.zero_()
    with mg.no_grad():
        other += 1
    assert x.grad.tolist() == [2, 4] and x.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="detach"):
        copy.deepcopy(x * 2)
    a, b = copy.deepcopy([x, x])
    assert a is b


def test_copies_of_parameters_and_buffers_are_such():
    frozen = nn.Parameter(mg.ones(2), requires_grad=False)
    assert isinstance(copy.deepcopy(frozen), nn.Parameter) and isinstance(copy.deepcopy(nn.Buffer(mg.ones(2))), nn.Buffer)
    net = nn.Linear(2, 2).requires_grad_(False)
    assert all(isinstance(p, nn.Parameter) and not p.requires_grad for p in copy.deepcopy(net).parameters())
    weight, plain = nn.Parameter(mg.ones(2)), mg.ones(2, requires_grad=True)
    (weight * plain * 3).sum().backward()
    assert copy.deepcopy(weight).grad is None and copy.deepcopy(plain).grad.tolist() == [3.0, 3.0]


def test_small_things():
    for thing in (mg.float32, mg.Device("cpu"), mg.Device("cuda:1"), mg.zeros(2, 3).shape):
        for other in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
            assert other == thing and type(other) is type(thing)


def test_wrong_pickles():
    for arguments in (
        (b"123", [1], "f32", "cpu", False),
        (b"\2", [1], "bool", "cpu", False),
        (b"1234", [1], "f99", "cpu", False),
        (b"", [2**40, 2**40], "f32", "cpu", False),
        (b"1234", [1], "f32", "gpu", False),
        (b"1234", [-1], "f32", "cpu", False),
        ("1234", [1], "f32", "cpu", False),
    ):
        with pytest.raises((ValueError, TypeError, OverflowError)):
            _rebuild(*arguments)


RESULTS = {
    "max": lambda x: x.max(0), "min": lambda x: x.min(1), "sort": lambda x: x.sort(), "topk": lambda x: x.topk(2), "median": lambda x: x.median(0), "mode": lambda x: x.mode(0),
    "kthvalue": lambda x: x.kthvalue(1), "cummax": lambda x: x.cummax(0), "qr": lambda x: mg.linalg.qr(x), "svd": lambda x: mg.linalg.svd(x), "aminmax": lambda x: mg.aminmax(x),
    "slogdet": lambda x: mg.linalg.slogdet(x @ x.t()), "eigh": lambda x: mg.linalg.eigh(x @ x.t()), "frexp": lambda x: mg.frexp(x),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_results_with_names(name):
    found = RESULTS[name](mg.randn(2, 3))
    kind = type(found)
    made = [copy.copy(found), copy.deepcopy(found), kind(*found), kind._make(found) if hasattr(kind, "_make") else kind(list(found)), found._replace()]
    made += [pickle.loads(pickle.dumps(found, protocol)) for protocol in range(2, 6)]
    for other in made:
        assert type(other) is kind and len(other) == len(found) == len(kind._fields)
        for field, a, b in zip(kind._fields, found, other, strict=True):
            assert getattr(found, field) is a and b.tolist() == a.tolist()
    first = kind._fields[0]
    assert getattr(found._replace(**{first: 5}), first) == 5 and list(found._asdict()) == list(kind._fields)
    with pytest.raises((TypeError, ValueError)):
        found._replace(nothing=1)


def test_results_with_names_in_transforms():
    x = mg.randn(2, 3)
    got = mg.func.vmap(lambda a: a.max(0))(x)
    assert type(got) is type(x.max(1)) and got.values.tolist() == x.max(1).values.tolist() and got.indices.tolist() == x.max(1).indices.tolist()
    y = mg.randn(3, requires_grad=True)
    values, indices = mg.utils.checkpoint.checkpoint(lambda a: a.max(0), y, use_reentrant=False)
    values.backward()
    assert y.grad.tolist() == [float(i == indices.item()) for i in range(3)]
    batch = mg.utils.data.default_collate([x[0].max(0), x[1].max(0)])
    assert batch.values.tolist() == x.max(1).values.tolist()

    @mg.jit
    def largest(x):
        return x.max(0)

    for _ in range(4):
        x = mg.randn(4, 2)
        got = largest(x)
        assert type(got) is type(x.max(0)) and got.values.tolist() == x.max(0).values.tolist()
    with pytest.raises(TypeError):
        type(got)(x)


#: Where functions of the package's top stood before their files had a subject each.
ONCE_IN_FUNCTIONS = """
    adaptive_max_pool1d affine_grid_generator batch_norm binary_cross_entropy_with_logits binomial cond conj_physical_ conv_tbc convolution
    cosine_embedding_loss ctc_loss detach detach_ dropout dropout_ embedding embedding_bag empty_permuted fill fill_ frobenius_norm from_file
    grid_sampler gru hinge_embedding_loss histogramdd instance_norm is_complex is_conj is_inference is_neg is_nonzero is_same_size is_signed kl_div lstm
    lu margin_ranking_loss narrow_copy native_channel_shuffle native_dropout native_layer_norm nonzero_static nuclear_norm poisson_nll_loss resize_as_
    rnn_relu rnn_tanh sym_sqrt sym_sum to_dlpack triplet_margin_loss unsafe_chunk unsafe_split unsafe_split_with_sizes zero_
""".split()
ONCE_IN_LEGACY = "sym_float sym_int sym_ite sym_max sym_min sym_not".split()


def named(module, name):
    """The pickle of a function, as protocol 0 writes it."""
    return f"c{module}\n{name}\n.".encode()


def test_functions_are_found_where_they_stood():
    for module, names in (("micrograd_rs._functions", ONCE_IN_FUNCTIONS), ("micrograd_rs._legacy", ONCE_IN_LEGACY)):
        for name in names:
            assert pickle.loads(named(module, name)) is getattr(mg, name) is pickle.loads(pickle.dumps(getattr(mg, name)))
    with pytest.raises(AttributeError):
        pickle.loads(named("micrograd_rs._functions", "nothing"))
    found = mg.histogramdd(mg.rand(5, 2), bins=2)
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found) is pickle.loads(named("micrograd_rs._functions", "_Histogram"))
    assert again.hist.tolist() == found.hist.tolist() and [e.tolist() for e in again.bin_edges] == [e.tolist() for e in found.bin_edges]
