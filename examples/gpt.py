"""A small GPT learns a text letter by letter and goes on with it.

    python examples/gpt.py text.txt [--steps 500] [--layers 2] [--size 64] [--heads 4] [--context 32] [--batch 16]
    python examples/gpt.py text.txt --device cuda --bfloat16 --layers 6 --size 384 --heads 6 --context 256 --batch 64

Any text will do; a million letters of Shakespeare are in https://github.com/karpathy/char-rnn, data/tinyshakespeare/input.txt.
Prints the loss on what it learns from and on the tenth of the text that it has not seen, and text that it
draws. Steps are replayed, and so are letters: what attention has made of those before is kept in a cache, so
that each costs one letter's work.
"""

from __future__ import annotations

import argparse
import os
import math
import time
from contextlib import nullcontext

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.nn import functional as F


class Attention(nn.Module):
    """Each letter attends to itself and those before it."""

    def __init__(self, size: int, heads: int, dropout: float):
        super().__init__()
        self.qkv = nn.Linear(size, 3 * size, bias=False)
        self.out = nn.Linear(size, size, bias=False)
        self.heads, self.dropout = heads, dropout

    def forward(self, x, cache=None, at=None):
        batch, steps, size = x.shape
        q, k, v = (part.view(batch, steps, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(size, dim=2))
        if cache is None:
            dropout = self.dropout if self.training else 0.0
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        else:
            # Keys and values of a whole context: those at the letters' places are written, those up to them are read.
            keys, values = cache
            keys.index_copy_(2, at, k.to(keys.dtype))
            values.index_copy_(2, at, v.to(values.dtype))
            known = mg.arange(keys.shape[2], device=at.device) <= at.unsqueeze(1)
            y = F.scaled_dot_product_attention(q.to(keys.dtype), keys, values, attn_mask=known)
        return self.out(y.transpose(1, 2).reshape(batch, steps, size))


class Block(nn.Module):
    def __init__(self, size: int, heads: int, dropout: float):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention = Attention(size, heads, dropout)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size), nn.Dropout(dropout))

    def forward(self, x, cache=None, at=None):
        x = x + self.attention(self.norm1(x), cache, at)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, letters: int, context: int, size: int, heads: int, layers: int, dropout: float = 0.1):
        super().__init__()
        self.context = context
        self.letter = nn.Embedding(letters, size)
        self.place = nn.Embedding(context, size)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(size, heads, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(size)
        self.head = nn.Linear(size, letters, bias=False)
        self.head.weight = self.letter.weight
        self.apply(self.start)
        for name, parameter in self.named_parameters():
            if name.endswith(("out.weight", "mlp.2.weight")):
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers))

    @staticmethod
    def start(module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, letters, targets=None, caches=None, at=None):
        """Scores of what follows each letter, and the loss if known. With caches, `at` has the letters' places."""
        if at is None:
            at = mg.arange(letters.shape[1], device=letters.device)
        x = self.dropout(self.letter(letters) + self.place(at))
        for block, cache in zip(self.blocks, caches or [None] * len(self.blocks)):
            x = block(x, cache, at)
        scores = self.head(self.norm(x))
        return scores, None if targets is None else F.cross_entropy(scores.flatten(0, 1), targets.flatten())

    def caches(self, batch: int):
        """Room for the keys and values of a whole context, for each block."""
        heads = self.blocks[0].attention.heads
        shape, device = (batch, heads, self.context, self.letter.embedding_dim // heads), self.letter.weight.device
        return [(mg.zeros(shape, device=device), mg.zeros(shape, device=device)) for _ in self.blocks]

    @mg.no_grad()
    def generate(self, letters, count: int, temperature: float = 0.8):
        """The letters `[batch, n]`, and `count` more."""
        self.eval()
        caches = self.caches(len(letters))

        def following(new, at):
            """The letter after those at some places, and its own place."""
            scores, _ = self(new, caches=caches, at=at)
            return mg.multinomial(F.softmax(scores[:, -1].float() / temperature, dim=-1), 1), at[-1:] + 1

        one_more = mg.jit(following)  # one letter: always of the same shape, so it is replayed
        drawn, kept = [letters], min(letters.shape[1], self.context // 2)
        last, at = following(letters[:, -kept:], mg.arange(kept, device=letters.device))
        for _ in range(count - 1):
            drawn.append(last)
            if kept == self.context:
                # The window is full: its later half is read anew, from the first place on.
                kept = self.context // 2
                window = mg.cat(drawn, dim=1)[:, -kept:]
                last, at = following(window, mg.arange(kept, device=letters.device))
            else:
                last, at = one_more(last, at)
                kept += 1
        letters = mg.cat([*drawn, last], dim=1)
        self.train()
        return letters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    for name, default in (("steps", 500), ("layers", 2), ("size", 64), ("heads", 4), ("context", 32), ("batch", 16)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--sample", type=int, default=100, help="letters to draw")
    parser.add_argument("--lr", type=float, default=1e-3)
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    parser.add_argument("--bfloat16", action="store_true", help="products in bfloat16")
    a = parser.parse_args()
    mg.manual_seed(1337)
    with open(a.text, encoding="utf-8") as file:
        text = file.read()
    alphabet = sorted(set(text))
    number = {letter: i for i, letter in enumerate(alphabet)}
    data = mg.tensor([number[letter] for letter in text], device=a.device)
    n = len(data) * 9 // 10
    parts = {"train": data[:n], "test": data[n:]}

    def batch(part: str):
        from_ = parts[part]
        starts = mg.randint(len(from_) - a.context - 1, (a.batch, 1), device=a.device)
        window = from_[starts + mg.arange(a.context + 1, device=a.device)]
        return window[:, :-1], window[:, 1:]

    def precision():
        return mg.autocast(a.device, dtype=mg.bfloat16) if a.bfloat16 else nullcontext()

    @mg.no_grad()
    def estimate(part: str) -> float:
        model.eval()
        with precision():
            losses = mg.stack([model(*batch(part))[1] for _ in range(5)])
        model.train()
        return losses.mean().item()

    model = GPT(len(alphabet), a.context, a.size, a.heads, a.layers).to(a.device)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(alphabet)} letters")
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    adam = mg.optim.AdamW(groups, lr=a.lr, betas=(0.9, 0.99))

    @mg.jit
    def learn():
        with precision():
            _, loss = model(*batch("train"))
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        return loss

    every, start = max(a.steps // 5, 1), time.perf_counter()
    for step in range(1, a.steps + 1):
        loss = learn()
        if step % every == 0:
            loss.item()  # waits for the device
            ms = (time.perf_counter() - start) / every * 1e3
            print(
                f"step {step}: loss {estimate('train'):.3f}, on what it has not seen {estimate('test'):.3f}, "
                f"{ms:.1f} ms a step"
            )
            start = time.perf_counter()
    begin = mg.zeros(1, 1, dtype=mg.int64, device=a.device)
    start = time.perf_counter()
    drawn = model.generate(begin, a.sample)[0].tolist()
    print("".join(alphabet[i] for i in drawn))
    print(f"{(time.perf_counter() - start) / a.sample * 1e3:.2f} ms a letter")


if __name__ == "__main__":
    main()
