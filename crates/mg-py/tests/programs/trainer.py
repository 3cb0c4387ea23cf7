"""A trainer: mixed precision, accumulated gradients, clipping, a learning-rate finder, warm-up, weights averaged, checkpoints, logs."""

import argparse
import contextlib
import copy
import logging
import math
import os
import random
import tempfile
import time
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.amp import GradScaler, autocast
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim.lr_scheduler import ExponentialLR, LambdaLR, LinearLR, SequentialLR
from torch.utils.data import DataLoader, Dataset
from torch.utils.tensorboard import SummaryWriter

from given import integers, start

logger = logging.getLogger(__name__)


def seed_everything(seed):
    random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.use_deterministic_algorithms(False)


class AverageMeter(object):
    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)


class Copying(Dataset):
    """Sequences whose second half is the first."""

    def __init__(self, n, vocab=11, half=6):
        self.x = torch.tensor(integers(8, vocab, n, half))

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, i):
        s = torch.cat([self.x[i], self.x[i]])
        return {"input_ids": s[:-1], "labels": s[1:].clone()}


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class Attention(nn.Module):
    """Grouped queries and rotary positions, with a cache."""

    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.h, self.kv, self.d = heads, kv_heads, dim // heads
        self.q_proj = nn.Linear(dim, heads * self.d, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * self.d, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * self.d, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)
        inv_freq = 1.0 / (10000 ** (torch.arange(0, self.d, 2).float() / self.d))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, x, position_ids, cache=None):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.kv, self.d).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.kv, self.d).transpose(1, 2)
        freqs = torch.einsum("i,j->ij", position_ids.to(self.inv_freq.dtype), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos()[None, None].to(q.dtype), emb.sin()[None, None].to(q.dtype)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        if cache is not None:
            if "k" in cache:
                k, v = torch.cat([cache["k"], k], dim=2), torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
            out = F.scaled_dot_product_attention(query=q, key=k, value=v, is_causal=t > 1, enable_gqa=True)
        return self.o_proj(out.transpose(1, 2).contiguous().view(b, t, -1))


class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(dim, hidden, bias=False), nn.Linear(hidden, dim, bias=False), nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Llama(nn.Module):
    def __init__(self, vocab=11, dim=16, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(
            nn.ModuleDict({"attn": Attention(dim, 4, 2), "mlp": SwiGLU(dim, 24), "n1": nn.RMSNorm(dim, eps=1e-6), "n2": nn.RMSNorm(dim, eps=1e-6)}) for _ in range(layers)
        )
        self.norm = nn.RMSNorm(dim, eps=1e-6)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, input_ids, labels=None, caches=None, start_pos=0):
        x = self.embed_tokens(input_ids)
        pos = torch.arange(start_pos, start_pos + input_ids.shape[1], device=input_ids.device)
        for i, layer in enumerate(self.layers):
            x = x + layer["attn"](layer["n1"](x), pos, None if caches is None else caches[i])
            x = x + layer["mlp"](layer["n2"](x))
        logits = self.lm_head(self.norm(x)).float()
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), labels.reshape(-1), ignore_index=-100)
        return logits, loss


@torch.inference_mode()
def generate(model, prompt, n):
    model.eval()
    caches = [{} for _ in model.layers]
    logits, _ = model(prompt, caches=caches)
    tokens = prompt
    for i in range(n):
        nxt = torch.argmax(logits[:, -1], dim=-1, keepdim=True)
        tokens = torch.cat([tokens, nxt], dim=-1)
        logits, _ = model(nxt, caches=caches, start_pos=tokens.shape[1] - 1)
    return tokens


def lr_find(model, loader, start_lr=1e-4, end_lr=1.0, num=5):
    state = copy.deepcopy(model.state_dict())
    opt = torch.optim.SGD(model.parameters(), lr=start_lr)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda it: (end_lr / start_lr) ** (it / (num - 1)))
    best, smooth, found = float("inf"), 0.0, []
    for it, batch in enumerate(loader):
        if it == num:
            break
        opt.zero_grad()
        _, loss = model(**batch)
        loss.backward()
        opt.step()
        smooth = 0.9 * smooth + 0.1 * loss.item()
        best = min(best, smooth / (1 - 0.9 ** (it + 1)))
        found.append((sched.get_last_lr()[0], smooth / (1 - 0.9 ** (it + 1))))
        sched.step()
    model.load_state_dict(state)
    return found


def main(argv=()):
    parser = argparse.ArgumentParser()
    parser.add_argument("--accum", type=int, default=2)
    parser.add_argument("--dtype", default="bfloat16")
    args = parser.parse_args(list(argv))
    seed_everything(7)
    device = "cpu"
    ptdtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[args.dtype]
    ctx = contextlib.nullcontext() if device == "cpu" else torch.amp.autocast(device_type=device, dtype=ptdtype)
    loader = DataLoader(Copying(40), batch_size=4, shuffle=False, generator=torch.Generator().manual_seed(1), worker_init_fn=lambda i: random.seed(i), persistent_workers=False)
    model = start(torch, Llama()).to(device)
    model.compile(backend="eager") if hasattr(model, "compile") else None
    out = [x for pair in lr_find(model, loader) for x in pair]
    ema = copy.deepcopy(model).requires_grad_(False)
    decay, no_decay = [], []
    for name, param in model.named_parameters():
        (no_decay if param.ndim <= 1 or name.endswith(".bias") else decay).append(param)
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}], lr=1e-2, betas=(0.9, 0.95), fused=False)
    scheduler = SequentialLR(optimizer, [LinearLR(optimizer, 0.1, 1.0, total_iters=2), ExponentialLR(optimizer, 0.9)], milestones=[2])
    scaler = GradScaler("cuda", enabled=args.dtype == "float16")
    meter, step = AverageMeter("loss", ":.3f"), 0
    with tempfile.TemporaryDirectory() as folder, SummaryWriter(log_dir=folder) as writer:
        for i, batch in enumerate(loader):
            batch = {k: v.to(device, non_blocking=True) for k, v in batch.items()}
            with ctx:
                logits, loss = model(**batch)
                loss = loss / args.accum
            scaler.scale(loss).backward()
            meter.update(loss.detach().item() * args.accum, batch["input_ids"].size(0))
            if (i + 1) % args.accum == 0 or i + 1 == len(loader):
                scaler.unscale_(optimizer)
                norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
                scheduler.step()
                with torch.no_grad():
                    torch._foreach_mul_([p for p in ema.parameters()], 0.9) if hasattr(torch, "_foreach_mul_") else [p.mul_(0.9) for p in ema.parameters()]
                    for e, p in zip(ema.parameters(), model.parameters()):
                        e.add_(p, alpha=0.1)
                step += 1
                writer.add_scalar("train/loss", meter.avg, step)
                writer.add_scalar("train/lr", scheduler.get_last_lr()[0], global_step=step)
                writer.add_histogram("grad", torch.stack([p.detach().abs().mean() for p in model.parameters()]), step)
                out += [meter.avg, norm.item(), scheduler.get_last_lr()[0]]
        path = os.path.join(folder, "last.pt")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(), "scaler": scaler.state_dict(), "step": step, "rng": torch.get_rng_state(), "args": vars(args)}, path)
        saved = torch.load(path, map_location=device, weights_only=False)
        again = Llama()
        missing, unexpected = again.load_state_dict(saved["model"], strict=False)
        assert not missing and not unexpected and saved["args"]["accum"] == 2
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
    text = generate(again, torch.tensor([[3, 1, 4, 1, 5]]), 6)
    n = sum(p.numel() for p in again.parameters() if p.requires_grad)
    logger.info("%s: %d parameters, %s", meter, n, time.strftime("%H:%M"))
    _, last = ema.eval()(**next(iter(loader)))
    return out + [float(n), last.item()] + text[0].tolist()
