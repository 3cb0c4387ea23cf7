"""Decorators as people put them: torch.compile, torch.jit.script and trace, no_grad, checkpoint, detect_anomaly, deterministic settings."""

import functools
import random

import torch
import torch.nn as nn
import torch.utils.checkpoint
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from given import normals, start


def seed_everything(seed: int):
    random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)


@torch.jit.script
def fused_gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x / 1.41421))


@torch.compile(backend="eager")
def step(model, x, y):
    return nn.functional.mse_loss(model(x), y)


@torch.compile(backend="eager", fullgraph=False, dynamic=False)
def branching(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


@functools.lru_cache(maxsize=None)
def table(n):
    return torch.arange(n, dtype=torch.float32)


class Deep(nn.Module):
    def __init__(self, use_checkpoint=False):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(4))
        self.use_checkpoint = use_checkpoint

    @torch.jit.ignore
    def no_weight_decay(self):
        return {"pos_embed"}

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.use_checkpoint else block(x)
        return x


def main():
    seed_everything(7)
    torch.set_num_threads(torch.get_num_threads())
    torch.set_printoptions(precision=4, sci_mode=False)
    device = "cuda" if torch.cuda.is_available() and False else "mps" if torch.backends.mps.is_available() else "cpu"
    out = []
    plain, saved = start(torch, Deep()).to(device), start(torch, Deep(True)).to(device)
    x, y = torch.tensor(normals(1, 6, 8)), torch.tensor(normals(2, 6, 8))
    for net in (plain, saved):
        loss = step(net, x, y)
        loss.backward()
        out += [loss.item(), net.blocks[0][0].weight.grad.norm().item()]
    compiled = torch.compile(plain, backend="eager")
    optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
    for _ in range(4):
        loss = nn.functional.mse_loss(compiled(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    assert set(plain.state_dict()) == {k.replace("_orig_mod.", "") for k in compiled.state_dict()}
    out += [branching(x.abs()).sum().item(), branching(-x.abs()).sum().item(), branching(x.abs()).sum().item()]
    out.append(fused_gelu(x).sum().item())
    traced = torch.jit.trace(plain, x)
    scripted = torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.ReLU()).requires_grad_(False))
    out += [traced(x).mean().item(), float(scripted(x).shape[1])]
    segments = start(torch, nn.Sequential(*[nn.Linear(8, 8) for _ in range(4)]), 3)
    z = x.clone().requires_grad_()
    checkpoint_sequential(segments, 2, z, use_reentrant=False).sum().backward()
    out += [z.grad.norm().item(), table(5).sum().item()]
    with torch.autograd.set_detect_anomaly(True):
        w = torch.tensor([0.0], requires_grad=True)
        try:
            (w * 0 / w).sum().backward()
            raise AssertionError("NaN")
        except RuntimeError as error:
            assert "nan" in str(error).lower()
    with torch.random.fork_rng():
        torch.manual_seed(5)
        first = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(first, torch.rand(3))
    torch.use_deterministic_algorithms(False)
    torch.set_printoptions(profile="default")
    return out
