"""Low-rank adapters on frozen layers, a mixture of experts with top-k gates and a balancing loss, sparsely gated; beam search; nucleus sampling."""

import math
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.parametrize as parametrize

from given import TEXT, start


class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, r=2, lora_alpha=4, **kwargs):
        nn.Linear.__init__(self, in_features, out_features, **kwargs)
        self.r, self.scaling, self.merged = r, lora_alpha / r, False
        self.lora_A = nn.Parameter(self.weight.new_zeros((r, in_features)))
        self.lora_B = nn.Parameter(self.weight.new_zeros((out_features, r)))
        self.weight.requires_grad = False
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def train(self, mode: bool = True):
        nn.Linear.train(self, mode)
        if mode == self.merged:
            delta = (self.lora_B @ self.lora_A) * self.scaling
            self.weight.data += -delta if self.merged else delta
            self.merged = not mode
        return self

    def forward(self, x):
        result = F.linear(x, self.weight, bias=self.bias)
        if not self.merged:
            result = result + (x @ self.lora_A.transpose(0, 1) @ self.lora_B.transpose(0, 1)) * self.scaling
        return result


class LoRAParametrization(nn.Module):
    def __init__(self, shape, rank=1):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.full((rank, shape[1]), 0.1)), nn.Parameter(torch.zeros(shape[0], rank))

    def forward(self, original):
        return original + self.b @ self.a


class MoE(nn.Module):
    def __init__(self, dim, num_experts=4, k=2):
        super().__init__()
        self.k, self.num_experts = k, num_experts
        self.gate = nn.Linear(dim, num_experts, bias=False)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)) for _ in range(num_experts)])

    def forward(self, x):
        shape = x.shape
        x = x.view(-1, shape[-1])
        scores = self.gate(x)
        weights, selected = torch.topk(scores, self.k)
        weights = F.softmax(weights, dim=1, dtype=torch.float).to(x.dtype)
        results = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            batch_idx, nth_expert = torch.where(selected == i)
            results[batch_idx] += weights[batch_idx, nth_expert, None] * expert(x[batch_idx])
        probs = scores.softmax(-1)
        load = F.one_hot(selected, self.num_experts).float().sum(1).mean(0)
        self.aux_loss = self.num_experts * (probs.mean(0) * load).sum()
        again = torch.zeros_like(x).index_add_(0, batch_idx, expert(x[batch_idx]))
        assert again.shape == x.shape
        return results.view(*shape)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim, elementwise_affine=True, bias=False), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True, bias=False)
        self.moe = MoE(dim)

    def forward(self, x):
        h = self.n1(x)
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False, is_causal=True)[0]
        return x + self.moe(self.n2(x))


class LM(nn.Module):
    def __init__(self, vocab, dim=12):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim, padding_idx=0), nn.Parameter(torch.zeros(1, 24, dim))
        self.blocks = nn.Sequential(Block(dim), Block(dim))
        self.head = LoRALinear(dim, vocab, bias=True)

    def forward(self, x):
        return self.head(self.blocks(self.tok(x) + self.pos[:, : x.shape[1]]))


def top_k_top_p_filtering(logits, top_k=0, top_p=0.0, filter_value=-float("Inf")):
    if top_k > 0:
        logits = logits.masked_fill(logits < torch.topk(logits, top_k)[0][..., -1, None], filter_value)
    if top_p > 0.0:
        sorted_logits, sorted_indices = torch.sort(logits, descending=True)
        cumulative_probs = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
        sorted_indices_to_remove = cumulative_probs > top_p
        sorted_indices_to_remove[..., 1:] = sorted_indices_to_remove[..., :-1].clone()
        sorted_indices_to_remove[..., 0] = 0
        indices_to_remove = sorted_indices_to_remove.scatter(1, sorted_indices, sorted_indices_to_remove)
        logits[indices_to_remove] = filter_value
    return logits


@torch.no_grad()
def beam_search(model, start_ids, steps, width):
    beams, scores = start_ids.repeat(width, 1), torch.tensor([0.0] + [-1e9] * (width - 1))
    for _ in range(steps):
        logprobs = F.log_softmax(model(beams)[:, -1], -1) + scores[:, None]
        scores, flat = logprobs.view(-1).topk(width)
        which, token = torch.div(flat, logprobs.shape[-1], rounding_mode="floor"), flat % logprobs.shape[-1]
        beams = torch.cat([beams[which], token[:, None]], 1)
    return beams[scores.argmax()], scores


def main():
    torch.manual_seed(2)
    chars = sorted(set(TEXT))
    data = torch.tensor([chars.index(c) for c in TEXT])
    model = start(torch, LM(len(chars)))
    with torch.no_grad():
        model.tok.weight[0].fill_(0)
    parametrize.register_parametrization(model.blocks[0].moe.gate, "weight", LoRAParametrization(model.blocks[0].moe.gate.weight.shape))
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=3e-3, betas=(0.9, 0.99), weight_decay=1e-2)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=6, pct_start=0.3, anneal_strategy="cos")
    frozen, out = model.head.weight.clone(), []
    for i in range(5):
        x = torch.stack([data[j : j + 12] for j in range(i, i + 60, 15)])
        y = torch.stack([data[j + 1 : j + 13] for j in range(i, i + 60, 15)])
        logits = model(x)
        aux = sum(m.aux_loss for m in model.modules() if isinstance(m, MoE))
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten()) + 0.01 * aux
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        out += [loss.item(), aux.item(), scheduler.get_last_lr()[0]]
    assert torch.equal(model.head.weight, frozen)
    before = model(x)
    model.eval()
    assert torch.allclose(model(x), before, atol=1e-4) and not torch.equal(model.head.weight, frozen)
    best, scores = beam_search(model, data[:4].unsqueeze(0), 5, 3)
    kept = top_k_top_p_filtering(model(x)[:, -1].detach().clone(), top_k=10, top_p=0.6)
    assert torch.multinomial(F.softmax(kept, dim=-1), num_samples=1).shape == (4, 1)
    parametrize.remove_parametrizations(model.blocks[0].moe.gate, "weight")
    return out + best.tolist() + scores.tolist() + [torch.isfinite(kept).sum().item(), model.blocks[0].moe.gate.weight.sum().item()]
