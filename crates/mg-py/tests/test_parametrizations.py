"""Parameters that are computed of others: weight norm, spectral norm, orthogonal matrices, and classes of one's own."""

from __future__ import annotations

import copy

import micrograd_rs as mg
import pytest
from conftest import close, trained
from micrograd_rs import nn
from micrograd_rs.nn.utils import parametrizations, parametrize


# Norms and orthogonal matrices.


@pytest.mark.parametrize("make", [nn.utils.weight_norm, parametrizations.weight_norm])
def test_weight_norm(make):
    layer = nn.Linear(4, 3)
    before, x = layer.weight.tolist(), mg.randn(2, 4)
    wanted = layer(x).tolist()
    normed = make(layer)
    assert normed is layer
    close(layer(x), wanted)
    assert sorted(p.numel() for p in layer.parameters()) == [3, 3, 12]
    trained(layer, x)
    assert all(p.grad is not None for p in layer.parameters())
    close(layer.weight, before)
    for other in (copy.deepcopy(layer),):
        close(other(x), wanted)
    if make is nn.utils.weight_norm:
        nn.utils.remove_weight_norm(layer)
        with pytest.raises(ValueError):
            nn.utils.remove_weight_norm(layer)
    else:
        parametrize.remove_parametrizations(layer, "weight")
    assert {n for n, _ in layer.named_parameters()} == {"bias", "weight"} and type(layer) is nn.Linear
    close(layer(x), wanted)


W = [[1.0, 2.0], [3.0, 4.0]]


def layer_of(weights=W):
    layer = nn.Linear(2, len(weights), bias=False).double()
    with mg.no_grad():
        layer.weight.copy_(mg.tensor(weights, dtype=mg.float64))
    return layer


def test_weight_norm_has_parameters_that_no_optimiser_knows():
    layer = layer_of()
    weight = layer.weight
    optimizer = mg.optim.SGD([weight], lr=0.1, momentum=0.9)
    step = lambda: (optimizer.zero_grad(), layer(mg.ones(1, 2, dtype=mg.float64)).sum().backward(), optimizer.step())  # noqa: E731
    step()
    nn.utils.parametrizations.weight_norm(layer)
    parts = layer.parametrizations.weight
    assert parts.original1 is not weight and parts.original1.grad is None
    before = parts.original1.tolist()
    step()
    # The momentum is the old weight's, which has no gradient any more.
    assert parts.original1.tolist() == before and parts.original1.grad is not None and weight.grad is None
    with mg.no_grad():
        weight.fill_(1.0)
    assert parts.original1.tolist() == [[1, 1], [1, 1]]
    # What is left to be trained is a new parameter, too; what was frozen is none.
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter) and layer.weight is not weight
    layer = layer_of()
    layer.weight.requires_grad_(False)
    nn.utils.parametrizations.weight_norm(layer)
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert [name for name, _ in layer.named_buffers()] == ["weight"] and not list(layer.parameters())


def test_weight_norm_loads_states_of_the_older_one():
    old = nn.utils.weight_norm(layer_of())
    new = nn.utils.parametrizations.weight_norm(layer_of([[5.0, 6.0], [7.0, 8.0]]))
    new.load_state_dict(old.state_dict())
    assert new.weight.flatten().tolist() == pytest.approx([1, 2, 3, 4])


@pytest.mark.parametrize("make", [nn.utils.spectral_norm, parametrizations.spectral_norm])
def test_spectral_norm(make):
    layer = make(nn.Linear(5, 4))
    with mg.no_grad():
        for _ in range(200):
            layer(mg.ones(1, 5))
    layer.eval()
    layer(mg.ones(1, 5))
    w = layer.weight.detach()
    # The largest singular value, by the power method.
    v = mg.ones(5)
    for _ in range(500):
        v = (w.T @ (w @ v)).detach()
        v = v / v.norm()
    close((w @ v).norm(), 1.0, rtol=1e-3)
    trained(layer, mg.ones(1, 5))
    assert all(p.grad is not None for p in layer.parameters())
    if make is nn.utils.spectral_norm:
        nn.utils.remove_spectral_norm(layer)
    else:
        parametrize.remove_parametrizations(layer, "weight")
    close(layer.weight, w, rtol=1e-4)
    assert {n for n, _ in layer.named_parameters()} == {"weight", "bias"}


@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_orthogonal(how, shape):
    layer = nn.Linear(shape[1], shape[0])
    nn.init.orthogonal_(layer.weight)
    start = layer.weight.detach().clone()
    nn.utils.parametrizations.orthogonal(layer, orthogonal_map=how)
    assert mg.allclose(layer.weight, start, atol=1e-5)
    sgd = mg.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        sgd.zero_grad()
        (layer(mg.ones(1, shape[1])) ** 2).sum().backward()
        sgd.step()
    w = layer.weight if shape[0] >= shape[1] else layer.weight.T
    assert mg.allclose(w.T @ w, mg.eye(min(shape)), atol=1e-5) and not mg.allclose(layer.weight, start)


def test_orthogonal_without_trivialization_begins_where_it_can():
    matrix = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
    layer = layer_of(matrix)
    orthogonal = nn.utils.parametrizations.orthogonal
    orthogonal(layer, orthogonal_map="householder", use_trivialization=False)
    # The columns made orthogonal, with a triangle of positive diagonal that leads back.
    long, short = 0.1690308509, 0.3162277660
    assert layer.weight.flatten().tolist() == pytest.approx([long, 3 * short, 3 * long, -short, 5 * long, 0], abs=1e-9)
    for kind in ("matrix_exp", "cayley"):
        layer = layer_of()
        orthogonal(layer, orthogonal_map=kind, use_trivialization=False)
        assert layer.parametrizations.weight.original.tolist() == W
        with pytest.raises(NotImplementedError, match="use_trivialization"):
            layer.weight = mg.eye(2, dtype=mg.float64)


# Any others.


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


class Twice(nn.Module):
    def forward(self, x):
        return x * 2


def test_parametrizations():
    layer = nn.Linear(3, 3)
    original = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    assert type(layer).__name__ == "ParametrizedLinear" and parametrize.type_before_parametrizations(layer) is nn.Linear
    assert layer.parametrizations.weight.original is original and isinstance(layer, nn.Linear)
    close(layer.weight, layer.weight.T)
    layer.weight = mg.ones(3, 3)
    assert original.tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]] and layer.weight.tolist() == [[1] * 3] * 3
    parametrize.register_parametrization(layer, "weight", Twice())
    assert layer.weight.tolist() == [[2] * 3] * 3
    trained(layer, mg.ones(1, 3))
    assert original.grad is not None
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    other = copy.deepcopy(layer)
    other.load_state_dict(layer.state_dict())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert layer.weight is original and type(layer) is nn.Linear and parametrize.is_parametrized(other)
    with pytest.raises(ValueError):
        parametrize.remove_parametrizations(layer, "weight")
    with pytest.raises(ValueError):
        parametrize.register_parametrization(layer, "nothing", Twice())
    target = nn.Linear(3, 3)
    parametrize.transfer_parametrizations_and_params(other, target)
    close(target.weight, other.weight)


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


class Moved(nn.Module):
    def forward(self, x):
        return x + 1

    def right_inverse(self, x):
        return x - 1


class NoWayBack(nn.Module):
    def forward(self, x):
        return x + 1

    def right_inverse(self, x):
        raise NotImplementedError("right_inverse")


class Flat(nn.Module):
    def forward(self, x):
        return x.reshape(2, 2)

    def right_inverse(self, x):
        return x.flatten()


def test_what_parametrizations_begin_with():
    register = nn.utils.parametrize.register_parametrization
    layer = layer_of()
    register(layer, "weight", Doubled())
    assert layer.weight.tolist() == W
    # A second one is applied to what was there.
    register(layer, "weight", Moved())
    assert layer.weight.tolist() == [[2, 3], [4, 5]]
    layer.weight = mg.ones(2, 2, dtype=mg.float64)
    assert layer.weight.tolist() == [[1, 1], [1, 1]]
    layer = layer_of()
    register(layer, "weight", NoWayBack())
    assert layer.weight.tolist() == [[2, 3], [4, 5]]
    layer = layer_of()
    weight = layer.weight
    register(layer, "weight", Flat())
    assert layer.parametrizations.weight.original is weight and tuple(weight.shape) == (4,) and layer.weight.tolist() == W
    other = layer_of([[0.0, 0.0], [0.0, 0.0]])
    layer = layer_of()
    register(layer, "weight", Doubled())
    nn.utils.parametrize.transfer_parametrizations_and_params(layer, other)
    assert other.parametrizations.weight.original is layer.parametrizations.weight.original and other.weight.tolist() == W


def test_other_parametrizations_keep_the_parameter():
    for make in (nn.utils.parametrizations.spectral_norm, nn.utils.parametrizations.orthogonal):
        layer = layer_of()
        weight = layer.weight
        make(layer)
        assert layer.parametrizations.weight.original is weight
        nn.utils.parametrize.remove_parametrizations(layer, "weight")
        assert layer.weight is weight
    # A buffer as well.
    module = nn.Module()
    buffer = mg.ones(2)
    module.register_buffer("b", buffer)
    nn.utils.parametrize.register_parametrization(module, "b", Doubled())
    assert module.parametrizations.b.original is buffer and buffer.tolist() == [0.5, 0.5]
    nn.utils.parametrize.remove_parametrizations(module, "b")
    assert module.b is buffer and buffer.tolist() == [1, 1]
