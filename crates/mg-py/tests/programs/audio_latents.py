"""Speech and images as large models treat them: Whisper's encoder with caches kept by hooks, spectra by convolutions; a latent diffusion's U-Net with
timestep codes, cross attention, EMA, classifier-free guidance and DDIM; a selective scan; LPIPS by features.
"""

import contextlib
import math
from abc import abstractmethod
from functools import lru_cache, partial
from inspect import isfunction
from typing import Dict, Iterable, Optional

import numpy as np
import torch
import torch as th
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Module, ModuleList, Parameter
from torch.utils.checkpoint import checkpoint as ckpt

from given import normals, start


def sinusoids(length, channels, max_timescale=10000):
    assert channels % 2 == 0
    inv = torch.exp(-np.log(max_timescale) / (channels // 2 - 1) * torch.arange(channels // 2))
    scaled = torch.arange(length)[:, np.newaxis] * inv[np.newaxis, :]
    return torch.cat([torch.sin(scaled), torch.cos(scaled)], dim=1)


class LayerNorm(nn.LayerNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.float()).type(x.dtype)


class Linear(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype), None if self.bias is None else self.bias.to(x.dtype))


class MultiHeadAttention(nn.Module):
    def __init__(self, n_state: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.query, self.key, self.value, self.out = Linear(n_state, n_state), Linear(n_state, n_state, bias=False), Linear(n_state, n_state), Linear(n_state, n_state)

    def forward(self, x, xa=None, mask=None, kv_cache: Optional[dict] = None):
        q = self.query(x)
        if kv_cache is None or xa is None or self.key not in kv_cache:
            k, v = self.key(x if xa is None else xa), self.value(x if xa is None else xa)
        else:
            k, v = kv_cache[self.key], kv_cache[self.value]
        n_batch, n_ctx, n_state = q.shape
        scale = (n_state // self.n_head) ** -0.25
        q = q.view(*q.shape[:2], self.n_head, -1).permute(0, 2, 1, 3) * scale
        k = k.view(*k.shape[:2], self.n_head, -1).permute(0, 2, 3, 1) * scale
        v = v.view(*v.shape[:2], self.n_head, -1).permute(0, 2, 1, 3)
        qk = q @ k
        if mask is not None:
            qk += mask[:n_ctx, :n_ctx]
        w = F.softmax(qk.float(), dim=-1).to(q.dtype)
        return self.out((w @ v).permute(0, 2, 1, 3).flatten(start_dim=2)), qk.detach()


class ResidualAttentionBlock(nn.Module):
    def __init__(self, n_state, n_head, cross_attention=False):
        super().__init__()
        self.attn, self.attn_ln = MultiHeadAttention(n_state, n_head), LayerNorm(n_state)
        self.cross_attn = MultiHeadAttention(n_state, n_head) if cross_attention else None
        self.cross_attn_ln = LayerNorm(n_state) if cross_attention else None
        self.mlp, self.mlp_ln = nn.Sequential(Linear(n_state, n_state * 2), nn.GELU(), Linear(n_state * 2, n_state)), LayerNorm(n_state)

    def forward(self, x, xa=None, mask=None, kv_cache=None):
        x = x + self.attn(self.attn_ln(x), mask=mask, kv_cache=kv_cache)[0]
        if self.cross_attn:
            x = x + self.cross_attn(self.cross_attn_ln(x), xa, kv_cache=kv_cache)[0]
        return x + self.mlp(self.mlp_ln(x))


class Whisper(nn.Module):
    def __init__(self, n_mels=6, n_ctx=8, n_state=8, n_head=2, n_vocab=12):
        super().__init__()
        self.conv1 = nn.Conv1d(n_mels, n_state, kernel_size=3, padding=1)
        self.conv2 = nn.Conv1d(n_state, n_state, kernel_size=3, stride=2, padding=1)
        self.register_buffer("positional", sinusoids(n_ctx, n_state))
        self.encoder = nn.ModuleList([ResidualAttentionBlock(n_state, n_head)])
        self.token_embedding = nn.Embedding(n_vocab, n_state)
        self.positional_embedding = nn.Parameter(torch.empty(10, n_state))
        self.decoder = nn.ModuleList([ResidualAttentionBlock(n_state, n_head, cross_attention=True)])
        self.ln = LayerNorm(n_state)
        self.register_buffer("mask", torch.empty(10, 10).fill_(-np.inf).triu_(1), persistent=False)

    def encode(self, mel):
        x = F.gelu(self.conv1(mel))
        x = F.gelu(self.conv2(x)).permute(0, 2, 1)
        assert x.shape[1:] == self.positional.shape, "incorrect audio shape"
        x = (x + self.positional).to(x.dtype)
        for block in self.encoder:
            x = block(x)
        return x

    def decode(self, tokens, xa, kv_cache=None):
        offset = next(iter(kv_cache.values())).shape[1] if kv_cache else 0
        x = self.token_embedding(tokens) + self.positional_embedding[offset : offset + tokens.shape[-1]]
        for block in self.decoder:
            x = block(x.to(xa.dtype), xa, mask=self.mask, kv_cache=kv_cache)
        x = self.ln(x)
        return (x @ torch.transpose(self.token_embedding.weight.to(x.dtype), 0, 1)).float()

    def install_kv_cache_hooks(self):
        cache, hooks = {}, []

        def save_to_cache(module, _, output):
            if module not in cache or output.shape[1] > self.positional_embedding.shape[0]:
                cache[module] = output
            else:
                cache[module] = torch.cat([cache[module], output], dim=1).detach()
            return cache[module]

        def install_hooks(layer: nn.Module):
            if isinstance(layer, MultiHeadAttention):
                hooks.append(layer.key.register_forward_hook(save_to_cache))
                hooks.append(layer.value.register_forward_hook(save_to_cache))

        self.decoder.apply(install_hooks)
        return cache, hooks


def exists(x):
    return x is not None


def default(val, d):
    if exists(val):
        return val
    return d() if isfunction(d) else d


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(start=0, end=half, dtype=torch.float32) / half).to(device=timesteps.device)
    args = timesteps[:, None].float() * freqs[None]
    embedding = torch.cat([torch.cos(args), torch.sin(args)], dim=-1)
    return torch.cat([embedding, torch.zeros_like(embedding[:, :1])], dim=-1) if dim % 2 else embedding


class GroupNorm32(nn.GroupNorm):
    def forward(self, x):
        return super().forward(x.float()).type(x.dtype)


def zero_module(module):
    for p in module.parameters():
        p.detach().zero_()
    return module


class TimestepBlock(nn.Module):
    @abstractmethod
    def forward(self, x, emb):
        """Apply the module to `x` given `emb` timestep embeddings."""


class TimestepEmbedSequential(nn.Sequential, TimestepBlock):
    def forward(self, x, emb, context=None):
        for layer in self:
            if isinstance(layer, TimestepBlock):
                x = layer(x, emb)
            elif isinstance(layer, SpatialTransformer):
                x = layer(x, context)
            else:
                x = layer(x)
        return x


class ResBlock(TimestepBlock):
    def __init__(self, channels, emb_channels, out_channels=None, use_checkpoint=True):
        super().__init__()
        out_channels = default(out_channels, channels)
        self.in_layers = nn.Sequential(GroupNorm32(2, channels), nn.SiLU(), nn.Conv2d(channels, out_channels, 3, padding=1))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb_channels, 2 * out_channels))
        self.out_layers = nn.Sequential(GroupNorm32(2, out_channels), nn.SiLU(), nn.Dropout(p=0.0), zero_module(nn.Conv2d(out_channels, out_channels, 3, padding=1)))
        self.skip_connection = nn.Identity() if out_channels == channels else nn.Conv2d(channels, out_channels, 1)
        self.use_checkpoint = use_checkpoint

    def forward(self, x, emb):
        return ckpt(self._forward, x, emb, use_reentrant=False) if self.use_checkpoint else self._forward(x, emb)

    def _forward(self, x, emb):
        h = self.in_layers(x)
        emb_out = self.emb_layers(emb).type(h.dtype)
        while len(emb_out.shape) < len(h.shape):
            emb_out = emb_out[..., None]
        out_norm, out_rest = self.out_layers[0], self.out_layers[1:]
        scale, shift = th.chunk(emb_out, 2, dim=1)
        return self.skip_connection(x) + out_rest(out_norm(h) * (1 + scale) + shift)


class GEGLU(nn.Module):
    def __init__(self, dim_in, dim_out):
        super().__init__()
        self.proj = nn.Linear(dim_in, dim_out * 2)

    def forward(self, x):
        x, gate = self.proj(x).chunk(2, dim=-1)
        return x * F.gelu(gate)


class SpatialTransformer(nn.Module):
    def __init__(self, channels, context_dim):
        super().__init__()
        self.norm = torch.nn.GroupNorm(num_groups=2, num_channels=channels, eps=1e-6, affine=True)
        self.to_q, self.to_k, self.to_v = nn.Linear(channels, channels, bias=False), nn.Linear(context_dim, channels, bias=False), nn.Linear(context_dim, channels, bias=False)
        self.ff = nn.Sequential(nn.LayerNorm(channels), GEGLU(channels, 2 * channels), nn.Linear(2 * channels, channels))
        self.proj_out = nn.Conv2d(channels, channels, kernel_size=1)

    def forward(self, x, context):
        b, c, h, w = x.shape
        t = self.norm(x).flatten(2).transpose(1, 2)
        sim = torch.einsum("b i d, b j d -> b i j", self.to_q(t), self.to_k(context)) * c**-0.5
        t = t + torch.einsum("b i j, b j d -> b i d", sim.softmax(dim=-1), self.to_v(context))
        t = t + self.ff(t)
        return x + self.proj_out(t.transpose(1, 2).reshape(b, c, h, w))


class UNetModel(nn.Module):
    def __init__(self, c=8, context_dim=5):
        super().__init__()
        self.c = c
        self.time_embed = nn.Sequential(nn.Linear(c, 2 * c), nn.SiLU(), nn.Linear(2 * c, 2 * c))
        self.input_blocks = nn.ModuleList([TimestepEmbedSequential(nn.Conv2d(2, c, 3, padding=1)), TimestepEmbedSequential(ResBlock(c, 2 * c), SpatialTransformer(c, context_dim)), TimestepEmbedSequential(nn.Conv2d(c, c, 3, stride=2, padding=1))])
        self.middle_block = TimestepEmbedSequential(ResBlock(c, 2 * c, use_checkpoint=False), SpatialTransformer(c, context_dim), ResBlock(c, 2 * c))
        self.output_blocks = nn.ModuleList([TimestepEmbedSequential(ResBlock(2 * c, 2 * c, c), nn.Upsample(scale_factor=2, mode="nearest")), TimestepEmbedSequential(ResBlock(2 * c, 2 * c, c)), TimestepEmbedSequential(ResBlock(2 * c, 2 * c, c))])
        self.out = nn.Sequential(GroupNorm32(2, c), nn.SiLU(), nn.Conv2d(c, 2, 3, padding=1))

    def forward(self, x, timesteps, context):
        hs, emb = [], self.time_embed(timestep_embedding(timesteps, self.c))
        h = x
        for module in self.input_blocks:
            h = module(h, emb, context)
            hs.append(h)
        h = self.middle_block(h, emb, context)
        for module in self.output_blocks:
            h = module(th.cat([h, hs.pop()], dim=1), emb, context)
        return self.out(h)


class LitEma(nn.Module):
    def __init__(self, model, decay=0.9):
        super().__init__()
        self.m_name2s_name = {}
        self.register_buffer("decay", torch.tensor(decay, dtype=torch.float32))
        self.register_buffer("num_updates", torch.tensor(0, dtype=torch.int))
        for name, p in model.named_parameters():
            if p.requires_grad:
                s_name = name.replace(".", "")
                self.m_name2s_name.update({name: s_name})
                self.register_buffer(s_name, p.clone().detach().data)

    def forward(self, model):
        decay = self.decay
        if self.num_updates >= 0:
            self.num_updates += 1
            decay = min(self.decay, (1 + self.num_updates) / (10 + self.num_updates))
        one_minus_decay = 1.0 - decay
        with torch.no_grad():
            m_param, shadow_params = dict(model.named_parameters()), dict(self.named_buffers())
            for key in m_param:
                if m_param[key].requires_grad:
                    sname = self.m_name2s_name[key]
                    shadow_params[sname] = shadow_params[sname].type_as(m_param[key])
                    shadow_params[sname].sub_(one_minus_decay * (shadow_params[sname] - m_param[key]))

    def copy_to(self, model):
        m_param, shadow_params = dict(model.named_parameters()), dict(self.named_buffers())
        for key in m_param:
            if m_param[key].requires_grad:
                m_param[key].data.copy_(shadow_params[self.m_name2s_name[key]].data)


def make_beta_schedule(n, start=1e-3, end=2e-2):
    return (torch.linspace(start**0.5, end**0.5, n, dtype=torch.float64) ** 2).numpy()


def extract_into_tensor(a, t, x_shape):
    b, *_ = t.shape
    return a.gather(-1, t).reshape(b, *((1,) * (len(x_shape) - 1)))


def selective_scan(u, delta, A, B, C, D):
    dA = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
    dB_u = torch.einsum("bld,bln,bld->bldn", delta, B, u)
    x, ys = torch.zeros(u.shape[0], A.shape[0], A.shape[1]), []
    for i in range(u.shape[1]):
        x = dA[:, i] * x + dB_u[:, i]
        ys.append(torch.einsum("bdn,bn->bd", x, C[:, i, :]))
    return torch.stack(ys, dim=1) + u * D


class MambaBlock(nn.Module):
    def __init__(self, d=4, n=3):
        super().__init__()
        self.in_proj = nn.Linear(d, 4 * d, bias=False)
        self.conv1d = nn.Conv1d(2 * d, 2 * d, 3, groups=2 * d, padding=2)
        self.x_proj, self.dt_proj, self.out_proj = nn.Linear(2 * d, 1 + 2 * n, bias=False), nn.Linear(1, 2 * d), nn.Linear(2 * d, d, bias=False)
        self.A_log, self.D, self.n = nn.Parameter(torch.log(torch.arange(1, n + 1).float().repeat(2 * d, 1))), nn.Parameter(torch.ones(2 * d)), n

    def forward(self, x):
        b, l, d = x.shape
        x, res = self.in_proj(x).split(split_size=[2 * d, 2 * d], dim=-1)
        x = F.silu(self.conv1d(x.transpose(1, 2))[:, :, :l].transpose(1, 2))
        delta, B, C = self.x_proj(x).split([1, self.n, self.n], dim=-1)
        y = selective_scan(x, F.softplus(self.dt_proj(delta)), -torch.exp(self.A_log.float()), B, C, self.D)
        return self.out_proj(y * F.silu(res))


def main():
    out = []
    audio = torch.sin(torch.linspace(0, 60, 200)) + 0.1 * torch.tensor(normals(1, 200))
    window = torch.hann_window(20)
    frames = F.pad(audio.view(1, 1, -1), (10, 10), mode="reflect").squeeze().unfold(0, 20, 12)[:16] * window
    basis = torch.outer(torch.arange(11).float(), torch.arange(20).float()) * (2 * math.pi / 20)
    magnitudes = (frames @ basis.cos().T) ** 2 + (frames @ basis.sin().T) ** 2
    mel = torch.tensor(normals(2, 6, 11)).abs() @ magnitudes.T
    log_spec = torch.clamp(mel, min=1e-10).log10()
    log_spec = (torch.maximum(log_spec, log_spec.max() - 8.0) + 4.0) / 4.0
    whisper = start(torch, Whisper())
    tokens = torch.tensor([[1, 5, 2, 7]])
    optimizer = torch.optim.Adafactor(whisper.parameters(), lr=1e-2) if hasattr(torch.optim, "Adafactor") else None
    for i in range(2):
        logits = whisper.decode(tokens[:, :-1], whisper.encode(log_spec.unsqueeze(0)))
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    with torch.no_grad():
        xa = whisper.encode(log_spec.unsqueeze(0))
        full = whisper.decode(tokens, xa)
        cache, hooks = whisper.install_kv_cache_hooks()
        steps = [whisper.decode(tokens[:, i : i + 1], xa, kv_cache=cache) for i in range(4)]
        for hook in hooks:
            hook.remove()
        assert torch.allclose(steps[0][:, 0], full[:, 0], atol=1e-5) and len(cache) == 4
        out += [full.sum().item(), steps[0].sum().item()]
    unet = start(torch, UNetModel(), 1)
    ema = LitEma(unet)
    betas = make_beta_schedule(10)
    alphas_cumprod = torch.tensor(np.cumprod(1.0 - betas, axis=0), dtype=torch.float32)
    optimizer = torch.optim.AdamW(unet.parameters(), lr=2e-3)
    for i in range(3):
        x, noise, context = torch.tensor(normals(i, 2, 2, 6, 6)), torch.tensor(normals(10 + i, 2, 2, 6, 6)), torch.tensor(normals(20 + i, 2, 3, 5))
        t = torch.tensor([i, 9 - i])
        noisy = extract_into_tensor(alphas_cumprod.sqrt(), t, x.shape) * x + extract_into_tensor((1 - alphas_cumprod).sqrt(), t, x.shape) * noise
        snr = alphas_cumprod[t] / (1 - alphas_cumprod[t])
        weight = torch.stack([snr, 5.0 * torch.ones_like(t)], dim=1).min(dim=1)[0] / snr
        loss = (F.mse_loss(unet(noisy, t, context), noise, reduction="none").mean(dim=list(range(1, 4))) * weight).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema(unet)
        out.append(loss.item())
    ema.copy_to(unet)
    with torch.no_grad():
        x = torch.tensor(normals(5, 1, 2, 6, 6))
        for step in reversed(range(0, 10, 3)):
            t = torch.full((2,), step, dtype=torch.long)
            e_uncond, e_cond = unet(torch.cat([x] * 2), t, torch.cat([torch.zeros(1, 3, 5), context[:1]])).chunk(2)
            e_t = e_uncond + 3.0 * (e_cond - e_uncond)
            a_t, a_prev = alphas_cumprod[step], alphas_cumprod[step - 3] if step >= 3 else torch.tensor(1.0)
            pred_x0 = ((x - (1 - a_t).sqrt() * e_t) / a_t.sqrt()).clamp(-2, 2)
            x = a_prev.sqrt() * pred_x0 + (1.0 - a_prev).sqrt() * e_t
        out += [x.sum().item(), x.std().item(), float(ema.num_updates)]
    mamba = start(torch, MambaBlock(), 2)
    y = mamba(torch.tensor(normals(6, 2, 5, 4)))
    y.pow(2).mean().backward()
    return out + [y.sum().item(), mamba.A_log.grad.norm().item(), mamba.conv1d.weight.grad.sum().item()]
