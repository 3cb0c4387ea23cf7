"""Weights that are masked and weights that are computed: prune, parametrize, weight and spectral norm."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.parametrize as parametrize
import torch.nn.utils.prune as prune
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

from given import normals, start


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 5)
        self.conv2 = nn.Conv2d(4, 6, 5)
        self.fc1 = nn.Linear(6 * 4 * 4, 20)
        self.fc2 = nn.Linear(20, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(-1, int(x.nelement() / x.shape[0]))
        return self.fc2(F.relu(self.fc1(x)))


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)


class Third(prune.BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::3] = 0
        return mask


def main():
    model = start(torch, LeNet())
    x = torch.tensor(normals(1, 2, 1, 28, 28))
    out = []
    prune.l1_unstructured(model.conv1, name="weight", amount=0.3)
    prune.l1_unstructured(model.conv1, name="bias", amount=3)
    assert [n for n, _ in model.conv1.named_parameters()] == ["weight_orig", "bias_orig"]
    assert [n for n, _ in model.conv1.named_buffers()] == ["weight_mask", "bias_mask"]
    prune.ln_structured(model.conv1, name="weight", amount=0.5, n=2, dim=0)
    out += [model.conv1.weight_mask.sum().item(), model(x).sum().item()]
    prune.random_unstructured(model.fc2, "weight", amount=0.25)
    out.append(model.fc2.weight_mask.sum().item())
    prune.remove(model.fc2, "weight")
    assert not prune.is_pruned(model.fc2) and prune.is_pruned(model.conv1)
    start(torch, model.fc2, 3)
    prune.global_unstructured(((model.conv2, "weight"), (model.fc1, "weight")), pruning_method=prune.L1Unstructured, amount=0.2)
    Third.apply(model.fc2, "bias")
    zeros = float(torch.sum(model.fc1.weight == 0)) + float(torch.sum(model.conv2.weight == 0))
    out += [zeros, model.fc2.bias_mask.sum().item()]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    for _ in range(3):
        loss = F.cross_entropy(model(x), torch.tensor([1, 3]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    prune.remove(model.conv1, "weight")
    assert isinstance(model.conv1.weight, nn.Parameter) and len(model.state_dict()) == 12
    out.append((model.conv1.weight == 0).sum().item())

    layer = start(torch, nn.Linear(4, 4), 4)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert torch.equal(layer.weight, layer.weight.T) and parametrize.is_parametrized(layer)
    with parametrize.cached():
        out.append((layer(torch.ones(1, 4)) + layer.weight.sum()).sum().item())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)
    out.append(layer.weight.norm().item())
    normed = weight_norm(start(torch, nn.Linear(5, 3), 5), dim=0)
    out += [normed.weight.norm().item(), float(len(list(normed.parameters())))]
    loss = normed(torch.ones(2, 5)).pow(2).sum()
    loss.backward()
    out.append(normed.parametrizations.weight.original0.grad.sum().item())
    sn = spectral_norm(start(torch, nn.Linear(5, 3), 6), n_power_iterations=30).eval()
    sn.train()
    for _ in range(20):
        sn(torch.ones(1, 5))
    out.append(round(torch.linalg.matrix_norm(sn.weight, 2).item(), 3))
    return out
