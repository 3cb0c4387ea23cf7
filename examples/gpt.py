"""A small GPT learns a text letter by letter and goes on with it.

    python examples/gpt.py text.txt [--steps 500] [--device cpu] [--layers 2] [--size 64] [--context 32]

Prints the loss on what it learns from and on the tenth of the text that it has not seen, and text that it draws.
"""

from __future__ import annotations

import argparse
import math

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

    def forward(self, x):
        batch, steps, size = x.shape
        q, k, v = (part.view(batch, steps, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(size, dim=2))
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, steps, size))


class Block(nn.Module):
    def __init__(self, size: int, heads: int, dropout: float):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention = Attention(size, heads, dropout)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size), nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
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

    def forward(self, letters, targets=None):
        places = mg.arange(letters.shape[1], device=letters.device)
        x = self.dropout(self.letter(letters) + self.place(places))
        for block in self.blocks:
            x = block(x)
        scores = self.head(self.norm(x))
        return scores, None if targets is None else F.cross_entropy(scores.flatten(0, 1), targets.flatten())

    @mg.no_grad()
    def generate(self, letters, count: int, temperature: float = 0.8):
        self.eval()
        for _ in range(count):
            scores, _ = self(letters[:, -self.context :])
            chances = F.softmax(scores[:, -1] / temperature, dim=-1)
            letters = mg.cat([letters, mg.multinomial(chances, 1)], dim=1)
        self.train()
        return letters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    for name, default in (("steps", 500), ("layers", 2), ("size", 64), ("heads", 4), ("context", 32), ("batch", 16)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cpu")
    a = parser.parse_args()
    mg.manual_seed(1337)
    with open(a.text, encoding="utf-8") as file:
        text = file.read()
    alphabet = sorted(set(text))
    number = {letter: i for i, letter in enumerate(alphabet)}
    data = mg.tensor([number[letter] for letter in text])
    n = len(data) * 9 // 10
    parts = {"train": data[:n], "test": data[n:]}

    def batch(part: str):
        from_ = parts[part]
        starts = mg.randint(len(from_) - a.context - 1, (a.batch, 1)) + mg.arange(a.context + 1)
        window = from_[starts].to(a.device)
        return window[:, :-1], window[:, 1:]

    @mg.no_grad()
    def estimate(part: str) -> float:
        model.eval()
        losses = mg.stack([model(*batch(part))[1] for _ in range(5)])
        model.train()
        return losses.mean().item()

    model = GPT(len(alphabet), a.context, a.size, a.heads, a.layers).to(a.device)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(alphabet)} letters")
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    adam = mg.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99))
    for step in range(1, a.steps + 1):
        _, loss = model(*batch("train"))
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        if step % max(a.steps // 5, 1) == 0:
            print(f"step {step}: loss {estimate('train'):.3f}, on what it has not seen {estimate('test'):.3f}")
    begin = mg.zeros(1, 1, dtype=mg.int64, device=a.device)
    print("".join(alphabet[i] for i in model.generate(begin, 100)[0].tolist()))


if __name__ == "__main__":
    main()
