"""Denoising diffusion: a schedule of noise in buffers, sinusoidal time, group norms and attention, ancestral sampling without noise."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from given import integers, normals, start


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half, device=t.device) / (half - 1))
        args = t[:, None] * freqs[None, :]
        return torch.cat((args.sin(), args.cos()), dim=-1)


class ResBlock(nn.Module):
    def __init__(self, dim, emb):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(2, dim), nn.GroupNorm(2, dim, eps=1e-6)
        self.conv1, self.conv2 = nn.Conv2d(dim, dim, 3, padding="same"), nn.Conv2d(dim, dim, 3, padding=1, padding_mode="circular")
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(emb, dim * 2))

    def forward(self, x, emb):
        scale, shift = self.mlp(emb)[..., None, None].chunk(2, dim=1)
        h = self.conv1(F.silu(self.norm1(x)))
        h = self.norm2(h) * (1 + scale) + shift
        return x + self.conv2(F.silu(h))


class Net(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.time = nn.Sequential(SinusoidalPosEmb(8), nn.Linear(8, 16), nn.Mish())
        self.stem, self.head = nn.Conv2d(1, dim, 1), nn.Conv2d(dim, 1, 1)
        self.down, self.mid = ResBlock(dim, 16), ResBlock(dim, 16)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.up = nn.ConvTranspose2d(dim, dim, 4, 2, 1)

    def forward(self, x, t):
        emb = self.time(t)
        h = self.down(self.stem(x), emb)
        low = F.avg_pool2d(h, 2)
        b, c, hh, ww = low.shape
        seq = low.flatten(2).transpose(1, 2)
        seq = seq + self.attn(seq, seq, seq, need_weights=False)[0]
        low = self.mid(seq.transpose(1, 2).reshape(b, c, hh, ww), emb)
        return self.head(h + self.up(low))


class Diffusion(nn.Module):
    def __init__(self, model, steps=10):
        super().__init__()
        self.model = model
        betas = torch.linspace(1e-4, 0.2, steps, dtype=torch.float64)
        alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
        register = lambda name, val: self.register_buffer(name, val.to(torch.float32))
        register("betas", betas)
        register("alphas_cumprod", alphas_cumprod)
        register("sqrt_recip", torch.rsqrt(1.0 - betas))
        register("previous", F.pad(alphas_cumprod[:-1], (1, 0), value=1.0))

    def extract(self, a, t, shape):
        return a.gather(-1, t).reshape(t.shape[0], *((1,) * (len(shape) - 1)))

    def loss(self, x0, t, noise):
        a = self.extract(self.alphas_cumprod, t, x0.shape)
        return F.mse_loss(self.model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)

    @torch.inference_mode()
    def sample(self, x):
        for i in reversed(range(len(self.betas))):
            t = torch.full((x.shape[0],), i, dtype=torch.long)
            a = self.alphas_cumprod[t].view(-1, 1, 1, 1)
            eps = self.model(x, t)
            x = self.sqrt_recip[i] * (x - self.betas[i] / (1 - a).sqrt() * eps)
            x.clamp_(-3.0, 3.0)
        return x


def main():
    diffusion = Diffusion(start(torch, Net()))
    optimizer = torch.optim.AdamW(diffusion.parameters(), lr=2e-3)
    out = []
    for i in range(4):
        x0, noise = torch.tensor(normals(i, 4, 1, 8, 8)), torch.tensor(normals(20 + i, 4, 1, 8, 8))
        loss = diffusion.loss(x0, torch.tensor(integers(i, 10, 4)), noise)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
        optimizer.step()
        out.append(loss.item())
    drawn = diffusion.eval().sample(torch.tensor(normals(9, 2, 1, 8, 8)))
    return out + [drawn.mean().item(), drawn.std().item(), float(len(diffusion.state_dict()))]
