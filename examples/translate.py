"""A transformer learns to translate from a language of its own: every sentence turned around.

    python examples/translate.py [--steps 600] [--device cuda]

Prints the loss as it comes, and sentences with what the model makes of them, word by word.
"""

from __future__ import annotations

import argparse
import os
import math
import random

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.nn.utils.rnn import pad_sequence

PAD, BEGIN, END = 0, 1, 2
WORDS = "<pad> <begin> <end> one two three four five six seven eight nine".split()


class Positions(nn.Module):
    """Adds to each word where it stands: sines and cosines (Vaswani et al., 2017)."""

    def __init__(self, size: int, longest: int = 64):
        super().__init__()
        rates = mg.exp(-mg.arange(0, size, 2) * math.log(10_000) / size)
        at = mg.arange(0, longest).reshape(longest, 1) * rates
        table = mg.zeros(longest, size)
        table[:, 0::2] = mg.sin(at)
        table[:, 1::2] = mg.cos(at)
        self.register_buffer("table", table.unsqueeze(1))

    def forward(self, x):
        return x + self.table[: x.size(0)]


class Translator(nn.Module):
    def __init__(self, size: int = 32, heads: int = 4, layers: int = 2):
        super().__init__()
        self.source = nn.Embedding(len(WORDS), size)
        self.target = nn.Embedding(len(WORDS), size)
        self.positions = Positions(size)
        self.transformer = nn.Transformer(size, heads, layers, layers, 2 * size, dropout=0.0)
        self.words = nn.Linear(size, len(WORDS))
        self.scale = math.sqrt(size)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(0), device=target.device)
        padding = (source == PAD).transpose(0, 1)
        out = self.transformer(
            self.positions(self.source(source) * self.scale),
            self.positions(self.target(target) * self.scale),
            tgt_mask=mask,
            src_key_padding_mask=padding,
            tgt_key_padding_mask=(target == PAD).transpose(0, 1),
            memory_key_padding_mask=padding,
        )
        return self.words(out)


def sentence() -> list[int]:
    return [random.randrange(3, len(WORDS)) for _ in range(random.randint(2, 5))]


def batch(size: int) -> tuple[mg.Tensor, mg.Tensor]:
    pairs = [(words, words[::-1]) for words in (sentence() for _ in range(size))]
    return tuple(pad_sequence([mg.tensor([BEGIN, *side, END]) for side in sides]) for sides in zip(*pairs))


@mg.no_grad()
def translated(model: Translator, words: list[int], device: str) -> list[int]:
    model.eval()
    source = mg.tensor([BEGIN, *words, END], device=device).unsqueeze(1)
    said = [BEGIN]
    while len(said) < len(words) + 3:
        scores = model(source, mg.tensor(said, device=device).unsqueeze(1))
        said.append(scores[-1, 0].argmax().item())
        if said[-1] == END:
            break
    model.train()
    return [word for word in said if word > END]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=600)
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    arguments = parser.parse_args()
    random.seed(0)
    mg.manual_seed(0)
    model = Translator().to(arguments.device)
    loss_of = nn.CrossEntropyLoss(ignore_index=PAD)
    adam = mg.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    for step in range(1, arguments.steps + 1):
        source, target = (side.to(arguments.device) for side in batch(64))
        scores = model(source, target[:-1])
        loss = loss_of(scores.flatten(0, 1), target[1:].flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step % max(arguments.steps // 10, 1) == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    right = 0
    for _ in range(20):
        words = sentence()
        answer = translated(model, words, arguments.device)
        right += answer == words[::-1]
    print(" ".join(WORDS[w] for w in words), "->", " ".join(WORDS[w] for w in answer))
    print(f"{right} of 20 right")


if __name__ == "__main__":
    main()
