"""Ways of calling that PyTorch takes. What is compared with was computed by PyTorch 2.15."""

from __future__ import annotations

import warnings

import micrograd_rs as mg
import numpy as np
import pytest
from conftest import close
from micrograd_rs import nn
from micrograd_rs.nn import functional as F


@pytest.fixture
def doubles():
    mg.set_default_dtype(mg.float64)
    yield
    mg.set_default_dtype(mg.float32)


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool"])
def test_integers_become_the_default_float(doubles, dtype):
    n = mg.tensor([1, 2, 3]).to(dtype)
    answers = [
        mg.xlogy(n, n), mg.xlogy(n, 2), mg.ldexp(n, n), mg.special.xlog1py(n, n), mg.special.zeta(n, 2), mg.polygamma(1, n),
        mg.logaddexp(n, n), mg.hypot(n, n), F.margin_ranking_loss(n, n, n), F.poisson_nll_loss(n, n), F.triplet_margin_loss(n, n, n),
    ]
    assert [a.dtype for a in answers] == [mg.float64] * len(answers)
    # What f32 does not tell apart.
    assert mg.ldexp(mg.tensor([2**24 + 1]), mg.tensor([0])).tolist() == [16777217.0]


@pytest.mark.parametrize("kind", ["Adam", "NAdam", "ASGD", "Rprop"])
def test_an_optimisers_numbers_are_of_the_default_float(doubles, kind):
    p = mg.nn.Parameter(mg.ones(2, dtype=mg.float32))
    optimizer = getattr(mg.optim, kind)([p], lr=0.1)
    p.grad = mg.ones(2, dtype=mg.float32)
    optimizer.step()
    numbers = {name: v for name, v in optimizer.state[p].items() if name in ("step", "mu_product", "eta", "mu")}
    assert numbers and {v.dtype for v in numbers.values()} == {mg.float64}
    assert all(v.dtype == mg.float32 for name, v in optimizer.state[p].items() if name not in numbers)
    again = getattr(mg.optim, kind)([p], lr=0.1)
    again.load_state_dict(optimizer.state_dict())
    assert again.state[p]["step"].item() == 1.0
    # One of them is written to.
    again.state[p]["step"].fill_(2.0**24 + 1)
    again.step()
    assert again.state[p]["step"].item() == 2.0**24 + 2
    mg.set_default_dtype(mg.bfloat16)
    other = getattr(mg.optim, kind)([p], lr=0.1)
    other.step()
    assert other.state[p]["step"].dtype == mg.float32


def test_copies_that_do_not_block(device):
    x, y = mg.zeros(2, 2), mg.ones(2, 2, device=device)
    assert x.copy_(y, non_blocking=True) is x and x.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert x.copy_(3.0, True).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert y.type(mg.float64, non_blocking=True).dtype == mg.float64 and y.type("torch.DoubleTensor", False).dtype == mg.float64
    assert y.type(non_blocking=True) == mg.float32
    with pytest.raises(TypeError):
        x.copy_(y, non_blocking="at once")


def test_arrays_by_force(device):
    x = mg.tensor([1.0, 2.0], requires_grad=True, device=device)
    y = (x * 2).numpy(force=True)
    assert y.tolist() == [2.0, 4.0] and y.flags.writeable
    z = mg.zeros(2)
    shared = z.numpy(force=True)
    shared[0] = 5.0
    assert z.tolist() == [5.0, 0.0] and z.numpy(force=False) is not None
    with pytest.raises(TypeError):
        z.numpy(True)
    with pytest.raises(TypeError, match="NumPy has no bfloat16"):
        z.bfloat16().numpy(force=True)


def test_a_tensor_without_axes_is_a_number_as_alpha(device):
    x, y = mg.zeros(2, device=device), mg.ones(2, device=device)
    two = mg.tensor(2.0, dtype=mg.float64)
    assert mg.add(x, y, alpha=two).tolist() == [2.0, 2.0] and x.sub(y, alpha=two).dtype == mg.float32
    assert mg.rsub(y, y, alpha=two).tolist() == [-1.0, -1.0]
    assert x.add_(y, alpha=two) is x and x.tolist() == [2.0, 2.0]
    n = mg.tensor([1, 2], device=device)
    assert n.add(n, alpha=mg.tensor(3)).tolist() == [4, 8]
    m = mg.ones(2, 2, device=device)
    assert mg.addmm(m, m, m, alpha=two, beta=mg.tensor(0.5)).tolist() == [[4.5, 4.5], [4.5, 4.5]]
    for f in (
        lambda: n.add(n, alpha=two),
        lambda: y.add(y, alpha=mg.tensor(True)),
        lambda: y.add(y, alpha=mg.tensor([2.0])),
        lambda: y.add(y, alpha=mg.tensor(2.0, requires_grad=True)),
        lambda: mg.addmm(n[:, None], n[:, None], n[None], alpha=two),
    ):
        with pytest.raises(mg.DTypeError):
            f()


def test_alpha_is_read_when_it_is_computed():
    # A replay sees the number that the tensor holds then.
    f = mg.compile(lambda x, alpha: x.add(x, alpha=alpha))
    assert [f(mg.ones(1), mg.tensor(float(n))).item() for n in range(5)] == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_one_bound_alone_is_the_upper_one():
    x = mg.zeros(50, dtype=mg.int64)
    assert set(mg.randint_like(x, high=2).tolist()) == {0, 1} == set(mg.randint_like(x, 2).tolist())
    assert set(mg.randint_like(x, low=3, high=5).tolist()) == {3, 4}
    assert set(mg.randint(high=2, size=(50,)).tolist()) == {0, 1} and set(mg.randint(low=3, high=5, size=(50,)).tolist()) == {3, 4}
    assert mg.arange(end=3).tolist() == [0, 1, 2] and mg.arange(end=3).dtype == mg.int64
    assert mg.arange(end=3.5).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert mg.arange(end=5, start=1, step=2).tolist() == [1, 3] and mg.arange(1, end=3).tolist() == [1, 2]
    with pytest.raises(TypeError, match="'end'"):
        mg.arange(step=2)
    with pytest.raises(ValueError, match="no bound"):
        mg.randint_like(x)
    with pytest.raises(TypeError):
        mg.randint(size=(2,))


def test_arithmetic_of_two_numbers():
    def told(t):
        assert t.shape == ()
        return t.item(), t.dtype

    assert told(mg.div(7, 2, rounding_mode="trunc")) == (3, mg.int64) and told(mg.div(-7, 2, rounding_mode="trunc")) == (-3, mg.int64)
    assert told(mg.div(7.0, 2, rounding_mode="floor")) == (3.0, mg.float32) and told(mg.floor_divide(-7, 2)) == (-4, mg.int64)
    assert told(mg.div(7, 2)) == (3.5, mg.float32) == told(mg.true_divide(7, 2))
    assert told(mg.add(1, 2, alpha=3)) == (7, mg.int64) and told(mg.mul(2, 3.0)) == (6.0, mg.float32)
    assert told(mg.sub(3, 1)) == (2, mg.int64) and told(mg.mul(True, False)) == (False, mg.bool)
    for f in (lambda: mg.pow(2, 3), lambda: mg.eq(1, 2), lambda: mg.remainder(7, 2), lambda: mg.hypot(1, 2)):
        with pytest.raises(TypeError, match="must be a tensor"):
            f()
    with pytest.raises(mg.ArgumentError, match="divided by zero"):
        mg.div(7, 0, rounding_mode="trunc").item()


def test_equations_as_lists_of_numbers(device):
    a, b = mg.arange(6.0, device=device).reshape(2, 3), mg.arange(12.0, device=device).reshape(3, 4)
    assert mg.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == (a @ b).tolist()
    # The order of the numbers is that of the result's axes where none is told.
    assert mg.einsum(a, [0, 1], b, [1, 2]).tolist() == (a @ b).tolist()
    assert mg.einsum(a, (1, 0)).shape == (3, 2) == mg.einsum(a, [26, 0]).shape and mg.einsum(a, [25, 26]).shape == (2, 3)
    assert mg.einsum(a, [0, 51], []).item() == 15.0 and mg.einsum(a, mg.tensor([0, 1]), [1]).tolist() == [3.0, 5.0, 7.0]
    c, d = mg.arange(24.0, device=device).reshape(2, 3, 4), mg.arange(4.0, device=device)
    assert mg.einsum(c, [..., 0], d, [0], [...]).tolist() == [[14.0, 38.0, 62.0], [86.0, 110.0, 134.0]]
    a.requires_grad_()
    mg.einsum(a, [0, 1], [0]).sum().backward()
    assert a.grad.tolist() == [[1.0] * 3] * 2
    for wrong, error in ((([0, 52],), ValueError), (([0, -1],), ValueError), ((["i", "j"],), TypeError), (([0, 1], b), TypeError), ((2,), TypeError)):
        with pytest.raises(error):
            mg.einsum(a, *wrong)
    with pytest.raises(ValueError, match="takes an equation"):
        mg.einsum(a)


def test_slopes_between_points(device):
    x = mg.arange(4.0, device=device).reshape(2, 2)
    rows, columns = mg.gradient(x, spacing=(mg.tensor([0.0, 2.0], device=device), mg.tensor([0.0, 1.0], device=device)))
    assert rows.tolist() == [[1.0, 1.0], [1.0, 1.0]] == columns.tolist()
    (alone,) = mg.gradient(x, spacing=[mg.tensor([0.0, 2.0], device=device)], dim=1)
    assert alone.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    y, at = mg.tensor([1.0, 4.0, 9.0, 16.0, 30.0], device=device), mg.tensor([1, 2, 4, 5, 8], device=device)
    close(mg.gradient(y, spacing=(at,))[0], [3.0, 17 / 6, 5.5, 77 / 12, 14 / 3])
    close(mg.gradient(y, spacing=(at.float(),), edge_order=2)[0], [19 / 6, 17 / 6, 5.5, 77 / 12, 35 / 12])
    (slope,) = mg.gradient(y.long(), spacing=(at.double(),))
    assert slope.dtype == mg.float64
    # Evenly spaced points are a distance.
    z = mg.randn(5, 4, device=device)
    for order in (1, 2):
        for told, wanted in zip(
            mg.gradient(z, spacing=[mg.arange(5.0, device=device) * 2, mg.arange(4.0, device=device) / 2], edge_order=order),
            mg.gradient(z, spacing=[2.0, 0.5], edge_order=order),
        ):
            close(told, wanted.tolist(), 1e-5, 1e-5)
    for spacing in ((at[:2],), (at[None],), (at, at), (at, 2.0), "far"):
        with pytest.raises((TypeError, ValueError)):
            mg.gradient(y, spacing=spacing)


def test_arguments_by_their_names(device):
    x = mg.arange(4.0, device=device)
    assert x.view(size=(2, 2)).tolist() == [[0.0, 1.0], [2.0, 3.0]]
    table, at = x.reshape(2, 2), mg.tensor([[0, 0]], device=device)
    assert table.gather(0, at, sparse_grad=True).tolist() == [[0.0, 1.0]] == mg.gather(table, 0, at, sparse_grad=False).tolist()
    with pytest.raises(TypeError, match="sparse_grad"):
        mg.take_along_dim(table, at, 0, sparse_grad=True)


def test_functions_that_are_methods_too_take_their_tensor_by_name():
    x = mg.tensor([[1.0, 4.0], [3.0, 2.0]])
    assert mg.max(input=x).item() == 4.0 and mg.min(input=x).item() == 1.0
    assert mg.max(input=x, dim=1).values.tolist() == [4.0, 3.0] and mg.max(x, 0).indices.tolist() == [1, 0]
    assert mg.min(input=x, other=mg.full((2, 2), 2.0)).tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert mg.numel(input=x) == 4 and mg.nonzero(input=x).shape == (4, 2) and mg.is_floating_point(input=x)
    with pytest.raises(TypeError):
        mg.max(x, input=x)


def test_the_larger_of_each_pair_by_name():
    a, b = mg.tensor([1.0, 5.0]), mg.tensor([2.0, 3.0])
    assert mg.max(a, other=b).tolist() == [2, 5] and a.min(other=b).tolist() == [1, 3] and a.max(other=None).item() == 5
    for wrong in ({"other": 2.0}, {"dim": 0, "other": b}):
        with pytest.raises(TypeError):
            a.max(**wrong)


def test_arguments_have_pytorchs_names():
    one = nn.Parameter(mg.ones(1))
    held = nn.ParameterDict(parameters={"a": one})
    held.update(parameters={"b": one})
    assert held.get(key="a") is one and held.setdefault(key="b") is one and held.pop(key="b") is one
    x = mg.tensor([[3.0, 4.0]])
    assert mg.equal(nn.RMSNorm(2)(x=x), F.rms_norm(x, (2,)))
    assert mg.equal(nn.PoissonNLLLoss()(log_input=x, target=x), F.poisson_nll_loss(x, x))
    split = nn.AdaptiveLogSoftmaxWithLoss(2, 4, [2])
    target = mg.tensor([3])
    assert mg.equal(split(input_=x, target_=target).output, split(x, target).output)
    net = nn.Linear(2, 1, bias=False)
    call = nn.utils.stateless.functional_call
    assert call(net, parameters_and_buffers={"weight": mg.ones(1, 2)}, args=(x,)).tolist() == [[7.0]]


def test_axes_to_squeeze_as_items():
    x = mg.ones(1, 1, 2)
    assert x.squeeze(0, 1).shape == (2,) and mg.ones(1, 2, 2).squeeze(0, 1).shape == (2, 2) and mg.ones(1, 1, 1).squeeze(0, -1, 1).shape == ()
    assert x.squeeze(0).shape == (1, 2) == x.squeeze((0,)).shape and x.squeeze().shape == (2,) == x.squeeze(None).shape
    assert mg.squeeze(x, dim=(0, 1)).shape == (2,) and mg.squeeze(x, 1).shape == (1, 2) and x.squeeze(axis=0).shape == (1, 2)
    assert x.squeeze_(0, 1) is x and x.shape == (2,)
    with pytest.raises(IndexError):
        x.squeeze(0, 4)
    with pytest.raises(TypeError):
        x.squeeze(True)


def test_histograms_have_a_hundred_bins():
    hist, edges = mg.arange(6.0).histogram()
    assert hist.shape == (100,) and edges.shape == (101,) and np.flatnonzero(hist.numpy()).tolist() == [0, 20, 40, 60, 80, 99]
    assert mg.histogram(mg.arange(6.0), density=True).hist.shape == (100,)


def test_factors_in_the_order_of_older_days(device):
    x, y, z = mg.ones(2, device=device), mg.full((2,), 3.0, device=device), mg.full((2,), 2.0, device=device)
    with pytest.warns(UserWarning, match="alpha="):
        assert mg.add(x, 2, y).tolist() == [7.0, 7.0]
    with pytest.warns(UserWarning, match="value="):
        assert mg.addcmul(x, 0.5, y, z).tolist() == [4.0, 4.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert x.sub(2, y).tolist() == [-5.0, -5.0] and x.add(mg.tensor(2.0), y).tolist() == [7.0, 7.0]
        assert x.addcdiv(-0.5, y, z).tolist() == [0.25, 0.25]
        assert x.addcmul_(2, y, z) is x and x.tolist() == [13.0, 13.0]
        assert x.add_(-1, y) is x and x.tolist() == [10.0, 10.0]
        for f in (lambda: mg.add(x, y, 2), lambda: mg.add(2, x, 3), lambda: mg.mul(x, 2, y), lambda: mg.add(x, 2, y, alpha=3), lambda: mg.add(x, 2, 3)):
            with pytest.raises(TypeError):
                f()


def whole(*shape):
    return mg.ones(*shape, dtype=mg.int64)


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


def test_arguments_by_the_names_that_torch_has_for_them():
    eye, pivots, b = mg.eye(2), mg.tensor([1, 2], dtype=mg.int32), mg.ones(2, 1)
    assert mg.linalg.lu_solve(LU=eye, pivots=pivots, B=b).tolist() == [[1], [1]]
    assert mg.cholesky_solve(b, input2=eye).tolist() == b.cholesky_solve(input2=eye).tolist() == [[1], [1]]
    a = mg.eye(4).reshape(2, 2, 4)
    assert mg.linalg.tensorsolve(a, other=mg.ones(2, 2)).tolist() == mg.linalg.tensorsolve(a, B=mg.ones(2, 2)).tolist()
    x = mg.tensor([1, 2])
    assert mg.isin(elements=x, test_elements=mg.tensor([1])).tolist() == [True, False]
    assert mg.isin(elements=x, test_element=1).tolist() == [True, False]
    assert mg.isin(element=1, test_elements=x).item()
    assert mg.from_dlpack(ext_tensor=b).tolist() == mg.utils.dlpack.from_dlpack(ext_tensor=b).tolist() == [[1], [1]]


def test_switches_that_torch_reads_by_their_truth():
    for axes in (1, 2, 3):
        x = mg.ones((1, 1) + (4,) * axes)
        for name in (f"max_pool{axes}d", f"adaptive_max_pool{axes}d"):
            values, places = getattr(F, name)(x, 2, return_indices=1)
            assert values.shape == places.shape and isinstance(getattr(F, name)(x, 2, return_indices=0), mg.Tensor)
        assert len(getattr(nn, f"MaxPool{axes}d")(2, return_indices=1)(x)) == 2
    assert len(F.fractional_max_pool2d(mg.ones(1, 1, 4, 4), 2, output_size=2, return_indices=1)) == 2
    assert F.gumbel_softmax(mg.ones(2), hard=1).sum() == 1
    assert F.gaussian_nll_loss(mg.ones(2), mg.ones(2), mg.ones(2), full=1) > 0.9
    with pytest.raises(TypeError, match="must be True or False, not int"):
        F.max_pool2d(mg.ones(1, 1, 4, 4), 2, ceil_mode=1)


def test_names_that_arguments_have_in_pytorch():
    x = mg.ones(2)
    assert mg.result_type(tensor=x, other=1) == mg.result_type(scalar=1, tensor=x) == mg.result_type(scalar1=1, scalar2=2.0) == mg.float32
    for wrong in (lambda: mg.result_type(x), lambda: mg.result_type(x, 1, other=2), lambda: mg.result_type(x, otter=1)):
        with pytest.raises(TypeError, match="^result_type"):
            wrong()
    assert mg.repeat_interleave(repeats=mg.tensor([1, 2])).tolist() == [0, 1, 1]
    assert mg.repeat_interleave(mg.arange(2), repeats=2).tolist() == [0, 0, 1, 1]
    assert [t.tolist() for t in mg.tensor_split(x, tensor_indices_or_sections=mg.tensor(2))] == [[1], [1]]
    assert x.dim_order(ambiguity_check=False) == mg.ones(2, 3).dim_order(ambiguity_check=True)[:1] == (0,)
    with pytest.raises(RuntimeError, match="^dim_order"):
        mg.ones(1, 1, 2).dim_order(ambiguity_check=True)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "xlogy"])
def test_numbers_of_numpy_on_the_left(name):
    f, x = getattr(mg, name), mg.tensor([1.0, 3.0])
    assert f(np.float32(2), x).tolist() == f(2.0, x).tolist() and f(np.float32(2), x).dtype == mg.float32
    assert f(np.int64(2), x.int()).dtype == f(2, x.int()).dtype


def test_what_pytorch_would_misread_is_refused():
    x = mg.ones(2, 2)
    assert mg.flip(x, (0, 1)).tolist() == x.flip(0, 1).tolist()
    with pytest.raises(TypeError, match="takes 'dims' as one list"):
        mg.flip(x, 0, 1)
    for wrong in (lambda: F.one_hot(mg.tensor([0]), 0), lambda: F.one_hot(mg.tensor([0]), -2), lambda: F.one_hot(mg.zeros(0, dtype=mg.int64)), lambda: F.one_hot(mg.zeros(0, dtype=mg.int64), 0)):
        with pytest.raises(ValueError, match="^one_hot"):
            wrong()
    assert F.one_hot(mg.zeros(0, dtype=mg.int64), 3).shape == (0, 3)


def test_keywords_that_few_functions_have():
    v = mg.arange(6.0).reshape(2, 3)
    assert mg.equal(mg.norm_except_dim(v=v, pow=2, dim=0), mg.norm_except_dim(v)) and mg.norm_except_dim(v, 1, 1).tolist() == [[3, 5, 7]]
    a = mg.tensor([[5.0, 4.0], [4.0, 5.0]], dtype=mg.float64)
    assert mg.equal(mg.linalg.matrix_sqrth(input=a), mg.linalg.matrix_sqrth(a))
    x = mg.full((5,), -1.0)
    draw = [
        mg.rrelu(x, 0.1, 0.9, True, mg.Generator().manual_seed(3)),
        mg.rrelu(x, lower=0.1, upper=0.9, training=True, generator=mg.Generator().manual_seed(3)),
        mg.rrelu_(x.clone(), 0.1, 0.9, True, mg.Generator().manual_seed(3)),
    ]
    assert mg.equal(draw[0], draw[1]) and mg.equal(draw[0], draw[2])
    u = mg.rand(5, generator=mg.Generator().manual_seed(3))
    assert mg.allclose(-draw[0], u * 0.8 + 0.1)
    # `nn.functional` has a switch in its place.
    y = x.clone()
    assert mg.nn.functional.rrelu(y, 0.25, 0.25, True, True) is y and y.tolist() == [-0.25] * 5
