"""Learning to learn: functional_call with fast weights, gradients through gradients, vmap over tasks, ensembles."""

import copy

import torch
from torch import nn
from torch.func import functional_call, grad, jacrev, stack_module_state, vmap

from given import normals, start


class Sine(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1, 16)
        self.fc2 = nn.Linear(16, 16)
        self.fc3 = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def main():
    model = start(torch, Sine())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for step in range(3):
        meta = 0.0
        optimizer.zero_grad()
        for task in range(3):
            amplitude, phase = torch.tensor(normals(10 * step + task, 2)).abs()
            x = torch.tensor(normals(77 + task, 10, 1))
            y = amplitude * torch.sin(x + phase)
            fast = dict(model.named_parameters())
            for _ in range(2):
                loss = nn.functional.mse_loss(functional_call(model, fast, (x[:5],)), y[:5])
                grads = torch.autograd.grad(loss, fast.values(), create_graph=True)
                fast = {k: p - 0.1 * g for (k, p), g in zip(fast.items(), grads)}
            meta = meta + nn.functional.mse_loss(functional_call(model, fast, x[5:]), y[5:])
        meta.backward()
        optimizer.step()
        losses.append(meta.item())

    params = {k: v.detach() for k, v in model.named_parameters()}

    def compute_loss(params, sample, target):
        prediction = functional_call(model, params, (sample.unsqueeze(0),))
        return nn.functional.mse_loss(prediction, target.unsqueeze(0))

    x, y = torch.tensor(normals(5, 6, 1)), torch.tensor(normals(6, 6, 1))
    per_sample = vmap(grad(compute_loss), in_dims=(None, 0, 0))(params, x, y)
    losses += [per_sample["fc2.weight"].flatten(1).norm(dim=1).max().item(), float(per_sample["fc1.bias"].shape[0])]
    losses.append(jacrev(lambda z: functional_call(model, params, (z,)))(x).abs().sum().item())

    models = [start(torch, Sine(), seed) for seed in range(3)]
    stacked, buffers = stack_module_state(models)
    base = copy.deepcopy(models[0])
    outputs = vmap(lambda p, b, z: functional_call(base, (p, b), (z,)), in_dims=(0, 0, None))(stacked, buffers, x)
    losses += outputs.mean(dim=(1, 2)).tolist()
    return losses
