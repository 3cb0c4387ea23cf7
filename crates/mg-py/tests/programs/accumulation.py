"""Gradients gathered over small batches, a loss with several parts, layers frozen by and by, learning rates by layer."""

import math

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Subset, TensorDataset

from given import integers, normals, start


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, alpha=None, reduction="mean"):
        super().__init__()
        self.gamma, self.alpha, self.reduction = gamma, alpha, reduction

    def forward(self, inputs, targets):
        ce = nn.functional.cross_entropy(inputs, targets, weight=self.alpha, reduction="none")
        pt = torch.exp(-ce)
        loss = (1 - pt) ** self.gamma * ce
        return loss.mean() if self.reduction == "mean" else loss.sum()


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 20), nn.LayerNorm(20), nn.GELU(), nn.Linear(20, 20), nn.GELU())
        self.classes = nn.Linear(20, 4)
        self.value = nn.Linear(20, 1)
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.body(x)
        return self.classes(h), self.value(h).squeeze(-1)


def get_cosine_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        progress = float(current_step - num_warmup_steps) / float(max(1, num_training_steps - num_warmup_steps))
        return max(0.0, 0.5 * (1.0 + math.cos(math.pi * progress)))

    return LambdaLR(optimizer, lr_lambda, last_epoch=-1)


def main():
    model = start(torch, MultiTask())
    x, c = torch.tensor(normals(1, 48, 6)), torch.tensor(integers(2, 4, 48))
    data = TensorDataset(x, c, x.sum(1))
    train = Subset(data, range(40))
    groups = [
        {"params": model.body.parameters(), "lr": 1e-3},
        {"params": [*model.classes.parameters(), *model.value.parameters()]},
        {"params": [model.log_vars], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=5e-3, weight_decay=1e-2, eps=1e-6)
    scheduler = get_cosine_schedule_with_warmup(optimizer, 2, 8)
    focal = FocalLoss(alpha=torch.tensor([1.0, 2.0, 0.5, 1.0]))
    accumulation_steps, out = 4, []
    for epoch in range(2):
        optimizer.zero_grad(set_to_none=True)
        for step, (xb, cb, vb) in enumerate(DataLoader(train, batch_size=5), start=1):
            logits, value = model(xb)
            parts = torch.stack([focal(logits, cb), nn.functional.smooth_l1_loss(value, vb, beta=0.5)])
            loss = (parts * torch.exp(-model.log_vars) + model.log_vars).sum()
            (loss / accumulation_steps).backward()
            if step % accumulation_steps == 0:
                total_norm = clip_grad_norm_(model.parameters(), max_norm=0.5, error_if_nonfinite=True)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
                out += [loss.item(), total_norm.item(), *scheduler.get_last_lr()[:2]]
        if epoch == 0:
            for p in model.body[0].parameters():
                p.requires_grad_(False)
    vector = parameters_to_vector(model.parameters())
    out += [vector.norm().item(), vector.numel()]
    vector_to_parameters(vector * 0.5, model.parameters())
    out.append(model.log_vars.sum().item())
    l1 = sum(p.abs().sum() for p in model.parameters())
    l2 = torch.stack([p.detach().norm(2) for p in model.parameters()]).norm()
    penalty = sum(torch.linalg.norm(p) for n, p in model.named_parameters() if "bias" not in n)
    return out + [l1.item(), l2.item(), penalty.item()]
