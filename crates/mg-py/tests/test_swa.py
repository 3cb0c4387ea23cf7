"""Averages of weights, beside PyTorch's where it is installed."""

from __future__ import annotations

import copy

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import nn
from micrograd_rs.optim import swa_utils

WAYS = ["mean", "ema", "ema multi", "buffers"]


def averaged(utils, model, way):
    if way == "ema":
        return utils.AveragedModel(model, avg_fn=utils.get_ema_avg_fn(0.8))
    if way == "ema multi":
        return utils.AveragedModel(model, multi_avg_fn=utils.get_ema_multi_avg_fn(0.8))
    return utils.AveragedModel(model, use_buffers=way == "buffers")


@pytest.mark.parametrize("way", WAYS)
def test_averages_are_pytorchs(way):
    torch = pytest.importorskip("torch")
    import torch.optim.swa_utils as theirs

    ours = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    its = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    its.load_state_dict({k: torch.from_numpy(v.detach().numpy().copy()) for k, v in ours.state_dict().items()})
    a, b = averaged(swa_utils, ours, way), averaged(theirs, its, way)
    for step in range(5):
        mg.manual_seed(step)
        x = mg.randn(6, 3)
        ours(x), its(torch.from_numpy(x.numpy().copy()))
        with mg.no_grad(), torch.no_grad():
            for p, q in zip(ours.parameters(), its.parameters()):
                change = mg.randn(*p.shape)
                p += change
                q += torch.from_numpy(change.numpy().copy())
        a.update_parameters(ours), b.update_parameters(its)
        assert a.n_averaged.item() == b.n_averaged.item() == step + 1
        assert a.state_dict().keys() == b.state_dict().keys()
        for k, v in b.state_dict().items():
            close(a.state_dict()[k], v.tolist(), rtol=1e-5, atol=1e-6)


def test_update_bn():
    torch = pytest.importorskip("torch")
    import torch.optim.swa_utils as theirs

    norm, its = nn.Sequential(nn.BatchNorm1d(3)), torch.nn.Sequential(torch.nn.BatchNorm1d(3))
    batches = [mg.randn(4, 3) + i for i in range(5)]
    swa_utils.update_bn([(b, 0) for b in batches], norm.eval())
    theirs.update_bn([torch.from_numpy(b.numpy().copy()) for b in batches], its.eval())
    for k, v in its.state_dict().items():
        close(norm.state_dict()[k], v.tolist(), rtol=1e-5, atol=1e-6)
    assert norm[0].momentum == 0.1 and not norm.training


def test_averages_under_jit():
    models = [nn.Linear(2, 2), None]
    models[1] = copy.deepcopy(models[0])
    averages = [averaged(swa_utils, model, "ema") for model in models]

    def step(i, x):
        with mg.no_grad():
            models[i].weight += x
        averages[i].update_parameters(models[i])
        return x * 1

    recorded = mg.jit(lambda x: step(1, x))
    for i in range(8):
        x = mg.full((2, 2), 0.5 * i)
        step(0, x), recorded(x)
    assert recorded.is_replaying
    close(averages[1].module.weight, averages[0].module.weight.tolist())
    assert averages[1].n_averaged.item() == 8


def test_unfit_averages():
    with pytest.raises(ValueError):
        swa_utils.get_ema_avg_fn(1.5)
    with pytest.raises(ValueError):
        swa_utils.AveragedModel(nn.Linear(1, 1), avg_fn=swa_utils.get_swa_avg_fn(), multi_avg_fn=swa_utils.get_swa_multi_avg_fn())
