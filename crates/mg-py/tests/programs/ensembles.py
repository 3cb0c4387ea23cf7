"""torch.func: an ensemble in one call, gradients of each sample, the Fisher matrix, Hessians, tangents; adaptive softmax; a TCN; quantiles."""

import copy
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap
from torch.nn.utils import weight_norm
from torch.nn.utils.stateless import functional_call as stateless_call

from given import integers, normals, start


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super(Chomp1d, self).__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, : -self.chomp_size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size, dilation):
        super(TemporalBlock, self).__init__()
        padding = (kernel_size - 1) * dilation
        self.conv1 = nn.utils.parametrizations.weight_norm(nn.Conv1d(n_inputs, n_outputs, kernel_size, padding=padding, dilation=dilation))
        self.net = nn.Sequential(self.conv1, Chomp1d(padding), nn.ReLU(), nn.Dropout(0.0))
        self.downsample = nn.Conv1d(n_inputs, n_outputs, 1) if n_inputs != n_outputs else None
        self.relu = nn.ReLU()

    def forward(self, x):
        out = self.net(x)
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class SimpleMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def main():
    models = [start(torch, SimpleMLP(), i) for i in range(4)]
    data, targets = torch.tensor(normals(1, 5, 6)), torch.tensor(integers(2, 3, 5))
    params, buffers = stack_module_state(models)
    base = copy.deepcopy(models[0])

    def fmodel(params, buffers, x):
        return functional_call(base, (params, buffers), (x,))

    predictions = torch.vmap(fmodel, in_dims=(0, 0, None), randomness="same")(params, buffers, data)
    assert torch.allclose(predictions, torch.stack([m(data) for m in models]), atol=1e-5)
    one = {k: v.detach() for k, v in models[0].named_parameters()}

    def compute_loss(params, sample, target):
        return F.cross_entropy(functional_call(base, params, (sample.unsqueeze(0),)), target.unsqueeze(0))

    each, losses = vmap(grad_and_value(compute_loss), in_dims=(None, 0, 0))(one, data, targets)
    norms = torch.stack([g.flatten(1).norm(2, dim=1) for g in each.values()]).norm(2, dim=0)
    clipped = {k: (g * (0.5 / norms).clamp(max=1.0).view(-1, *([1] * (g.dim() - 1)))).mean(0) for k, g in each.items()}
    flat = torch.cat([g.flatten(1) for g in each.values()], 1)
    fisher = flat.T @ flat / len(flat)
    x = torch.tensor([0.3, -0.2, 0.7])

    def f(x):
        return (x.sin() * torch.tensor([1.0, 2.0, 3.0])).sum() ** 2

    out = [predictions.std(0).mean().item(), losses.sum().item(), norms.max().item(), sum(v.abs().sum().item() for v in clipped.values()), fisher.trace().item()]
    out += [hessian(f)(x).sum().item(), jacfwd(grad(f))(x).diagonal().sum().item(), jacrev(lambda v: v.exp() * v.sum())(x).sum().item()]
    value, tangent = jvp(f, (x,), (torch.ones(3),))
    _, pull = vjp(lambda v: v**3, x)
    out += [value.item(), tangent.item(), pull(torch.ones(3))[0].sum().item()]
    swapped = stateless_call(base, {"fc2.bias": torch.ones(3)}, data)
    out.append((swapped - base(data)).sum().item())
    tcn = nn.Sequential(TemporalBlock(2, 4, 3, 1), TemporalBlock(4, 4, 3, 2))
    start(torch, tcn, 5)
    soft = nn.AdaptiveLogSoftmaxWithLoss(4, 12, cutoffs=[3, 7], div_value=2.0, head_bias=True)
    start(torch, soft, 6)
    optimizer = torch.optim.RAdam([*tcn.parameters(), *soft.parameters()], lr=1e-2, decoupled_weight_decay=True, weight_decay=1e-2)
    for i in range(4):
        series, wanted = torch.tensor(normals(i, 3, 2, 7)), torch.tensor(integers(i, 12, 3))
        found = soft(tcn(series)[:, :, -1], wanted)
        optimizer.zero_grad()
        found.loss.backward()
        optimizer.step()
        out += [found.loss.item(), found.output.min().item()]
    features = tcn(series)[:, :, -1]
    out += [soft.log_prob(features).exp().sum().item(), *soft.predict(features).tolist(), soft(features[0], wanted[0]).output.item()]
    return out
