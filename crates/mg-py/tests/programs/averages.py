"""Weights that are averaged: an exponential moving average by hand and by AveragedModel, SWA with update_bn."""

import copy

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset

from given import integers, normals, start


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.data.clone() for name, p in model.named_parameters() if p.requires_grad}
        self.backup = {}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name] = (1.0 - self.decay) * p.data + self.decay * self.shadow[name]

    def apply_shadow(self, model):
        for name, p in model.named_parameters():
            self.backup[name] = p.data
            p.data = self.shadow[name]

    def restore(self, model):
        for name, p in model.named_parameters():
            p.data = self.backup[name]


@torch.no_grad()
def update_average(model_tgt, model_src, beta):
    for tgt, src in zip(model_tgt.parameters(), model_src.parameters()):
        assert src is not tgt
        tgt.lerp_(src, 1 - beta)
    for tgt, src in zip(model_tgt.buffers(), model_src.buffers()):
        tgt.copy_(src)


def main():
    model = start(torch, nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3)))
    swa_model = AveragedModel(model)
    ema_model = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    by_hand, target = EMA(model, 0.9), copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    swa_scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    data = TensorDataset(torch.tensor(normals(1, 32, 5)), torch.tensor(integers(2, 3, 32)))
    loader = DataLoader(data, batch_size=8)
    losses = []
    for epoch in range(4):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema_model.update_parameters(model)
            by_hand.update(model)
            update_average(target, model, 0.9)
        if epoch > 1:
            swa_model.update_parameters(model)
            swa_scheduler.step()
        else:
            scheduler.step()
        losses += [loss.item(), optimizer.param_groups[0]["lr"]]
    update_bn(loader, swa_model)
    x = data.tensors[0]
    swa_model.eval()
    losses += [swa_model(x).std().item(), float(swa_model.n_averaged)]
    model.eval()
    plain = model(x).sum().item()
    by_hand.apply_shadow(model)
    losses.append(model(x).sum().item())
    by_hand.restore(model)
    assert model(x).sum().item() == plain
    ema_model.module.eval()
    target.eval()
    return losses + [ema_model.module(x).norm().item(), target(x).norm().item()]
