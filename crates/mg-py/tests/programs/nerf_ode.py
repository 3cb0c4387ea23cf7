"""A radiance field with positional codes and volume rendering; a neural ODE by Runge and Kutta, with the adjoint as a Function."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from given import normals, start


def get_rays(height, width, focal, c2w):
    i, j = torch.meshgrid(torch.linspace(0, width - 1, width), torch.linspace(0, height - 1, height), indexing="xy")
    dirs = torch.stack([(i - width * 0.5) / focal, -(j - height * 0.5) / focal, -torch.ones_like(i)], -1)
    rays_d = torch.sum(dirs[..., None, :] * c2w[:3, :3], -1)
    rays_o = c2w[:3, -1].expand(rays_d.shape)
    return rays_o, rays_d


def cumprod_exclusive(tensor):
    cumprod = torch.cumprod(tensor, -1)
    cumprod = torch.roll(cumprod, 1, -1)
    cumprod[..., 0] = 1.0
    return cumprod


class PositionalEncoder(nn.Module):
    def __init__(self, d_input, n_freqs):
        super().__init__()
        self.embed_fns = [lambda x: x]
        for freq in 2.0 ** torch.linspace(0.0, n_freqs - 1, n_freqs):
            self.embed_fns.append(lambda x, freq=freq: torch.sin(x * freq))
            self.embed_fns.append(lambda x, freq=freq: torch.cos(x * freq))
        self.d_output = d_input * (1 + 2 * n_freqs)

    def forward(self, x):
        return torch.concat([fn(x) for fn in self.embed_fns], dim=-1)


class NeRF(nn.Module):
    def __init__(self, d_input, d_filter=16, skip=(1,)):
        super().__init__()
        self.skip, self.act = skip, nn.functional.relu
        self.layers = nn.ModuleList([nn.Linear(d_input, d_filter)] + [nn.Linear(d_filter + d_input, d_filter) if i in skip else nn.Linear(d_filter, d_filter) for i in range(2)])
        self.output = nn.Linear(d_filter, 4)

    def forward(self, x):
        x_input = x
        for i, layer in enumerate(self.layers):
            x = self.act(layer(x))
            if i in self.skip:
                x = torch.cat([x, x_input], dim=-1)
        return self.output(x)


class Renderer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = PositionalEncoder(3, 2)
        self.layers = nn.Sequential(nn.Linear(self.encode.d_output, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, rays_o, rays_d, near=1.0, far=3.0, n=6):
        z_vals = near * (1.0 - torch.linspace(0.0, 1.0, n)) + far * torch.linspace(0.0, 1.0, n)
        pts = rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None]
        raw = torch.cat([checkpoint(self.layers, self.encode(chunk), use_reentrant=False) for chunk in pts.reshape(-1, 3).split(50)]).reshape(*pts.shape[:-1], 4)
        z_vals = z_vals.expand(raw.shape[:-1])
        dists = z_vals[..., 1:] - z_vals[..., :-1]
        dists = torch.cat([dists, 1e10 * torch.ones_like(dists[..., :1])], dim=-1) * torch.norm(rays_d[..., None, :], dim=-1)
        alpha = 1.0 - torch.exp(-nn.functional.relu(raw[..., 3]) * dists)
        weights = alpha * cumprod_exclusive(1.0 - alpha + 1e-10)
        rgb_map = torch.sum(weights[..., None] * torch.sigmoid(raw[..., :3]), dim=-2)
        depth = torch.sum(weights * z_vals, dim=-1)
        return rgb_map, 1.0 / torch.max(1e-10 * torch.ones_like(depth), depth / torch.sum(weights, -1).clamp_min(1e-10)), weights


def sample_pdf(bins, weights, u):
    pdf = (weights + 1e-5) / torch.sum(weights + 1e-5, -1, keepdims=True)
    cdf = torch.cumsum(pdf, dim=-1)
    cdf = torch.concat([torch.zeros_like(cdf[..., :1]), cdf], dim=-1)
    inds = torch.searchsorted(cdf.contiguous(), u.contiguous(), right=True)
    below, above = torch.clamp(inds - 1, min=0), torch.clamp(inds, max=cdf.shape[-1] - 1)
    inds_g = torch.stack([below, above], dim=-1)
    matched = list(inds_g.shape[:-1]) + [cdf.shape[-1]]
    cdf_g = torch.gather(cdf.unsqueeze(-2).expand(matched), dim=-1, index=inds_g)
    bins_g = torch.gather(bins.unsqueeze(-2).expand(matched), dim=-1, index=inds_g)
    denom = cdf_g[..., 1] - cdf_g[..., 0]
    denom = torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    return bins_g[..., 0] + (u - cdf_g[..., 0]) / denom * (bins_g[..., 1] - bins_g[..., 0])


def rk4(f, z, t0, t1, steps=4):
    h = (t1 - t0) / steps
    for i in range(steps):
        t = t0 + i * h
        k1 = f(t, z)
        k2 = f(t + h / 2, z + h / 2 * k1)
        k3 = f(t + h / 2, z + h / 2 * k2)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(t + h, z + h * k3))
    return z


class Adjoint(Function):
    @staticmethod
    def forward(ctx, z0, func, *params):
        ctx.func, ctx.n = func, len(params)
        with torch.no_grad():
            z1 = rk4(func, z0, 0.0, 1.0)
        ctx.save_for_backward(z1, *params)
        return z1

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        z1, *params = ctx.saved_tensors
        sizes = [p.numel() for p in params]

        def back(t, state):
            z, a = state[: z1.numel()].view_as(z1), state[z1.numel() : 2 * z1.numel()].view_as(z1)
            with torch.enable_grad():
                z = z.detach().requires_grad_(True)
                f = ctx.func(t, z)
                grads = torch.autograd.grad(f, (z, *params), -a, allow_unused=True)
            return torch.cat([f.detach().flatten(), grads[0].flatten(), *[torch.zeros_like(p).flatten() if g is None else g.flatten() for g, p in zip(grads[1:], params)]])

        state = torch.cat([z1.flatten(), grad.flatten(), torch.zeros(sum(sizes))])
        final = rk4(back, state, 1.0, 0.0)
        rest = final[2 * z1.numel() :].split(sizes)
        return (final[z1.numel() : 2 * z1.numel()].view_as(z1), None, *[g.view_as(p) for g, p in zip(rest, params)])


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y**3)


def main():
    pose = torch.eye(4)
    pose[2, 3] = 2.0
    rays_o, rays_d = get_rays(5, 6, 5.0, pose)
    target = torch.tensor(normals(1, 5, 6, 3)).sigmoid()
    model = start(torch, Renderer())
    optimizer, out = torch.optim.NAdam(model.parameters(), lr=1e-2), []
    for i in range(4):
        rgb, disp, weights = model(rays_o.reshape(-1, 3), rays_d.reshape(-1, 3))
        loss = F.mse_loss(rgb, target.reshape(-1, 3)) + 0.01 * disp.log().abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        psnr = -10.0 * torch.log10(F.mse_loss(rgb.detach(), target.reshape(-1, 3)))
        out += [loss.item(), psnr.item()]
    finer = sample_pdf(torch.linspace(1, 3, 6).expand(30, 6), weights[..., 1:].detach(), torch.linspace(0.05, 0.95, 5).expand(30, 5))
    assert NeRF(3)(torch.ones(2, 3)).shape == (2, 4)
    func = start(torch, ODEFunc(), 2)
    z0, z1 = torch.tensor(normals(2, 3, 2)) * 0.5, torch.tensor(normals(3, 3, 2)) * 0.3
    sgd = torch.optim.Rprop(func.parameters(), lr=1e-2)
    for i in range(3):
        sgd.zero_grad()
        loss = (Adjoint.apply(z0, func, *func.parameters()) - z1).abs().mean()
        loss.backward()
        sgd.step()
        out.append(loss.item())
    direct = torch.autograd.grad((rk4(func, z0, 0.0, 1.0) - z1).abs().mean(), func.net[0].weight)[0]
    adjoint = torch.autograd.grad((Adjoint.apply(z0, func, *func.parameters()) - z1).abs().mean(), func.net[0].weight)[0]
    assert torch.allclose(direct, adjoint, atol=1e-3)
    return out + [finer.sum().item(), finer.std().item(), adjoint.norm().item()]
