"""An LSTM learns first names letter by letter and makes up others.

    python examples/names.py [file of names, one a line] [--steps 300] [--device cuda]

The file may be names.txt of https://github.com/karpathy/makemore; without one it learns a few names that stand here. Prints the loss as it comes and names that it draws.
"""

from __future__ import annotations

import argparse
import os
import random
import string

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.nn import functional as F
from micrograd_rs.nn.utils.rnn import pad_sequence

FEW = "anna emma mia lena lea nora maria marie laura julia sarah lisa hannah leonie amelie clara ida ella".split()
LETTERS = "." + string.ascii_lowercase  # the point stands before and after a name
NUMBER = {letter: i for i, letter in enumerate(LETTERS)}


class Names(nn.Module):
    """What letter follows, from all letters before it."""

    def __init__(self, size: int = 64, layers: int = 2, dropout: float = 0.1):
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS), 16)
        self.lstm = nn.LSTM(16, size, num_layers=layers, batch_first=True, dropout=dropout)
        self.letters = nn.Linear(size, len(LETTERS))

    def forward(self, x, state=None):
        output, state = self.lstm(self.embedding(x), state)
        return self.letters(output), state


def batch(names: list[str], size: int) -> tuple[mg.Tensor, mg.Tensor]:
    """Names, and what follows each of their letters; -100 where nothing does."""
    chosen = random.sample(names, min(size, len(names)))
    x = [mg.tensor([0, *(NUMBER[c] for c in name)]) for name in chosen]
    y = [mg.tensor([*(NUMBER[c] for c in name), 0]) for name in chosen]
    return pad_sequence(x, batch_first=True), pad_sequence(y, batch_first=True, padding_value=-100)


@mg.no_grad()
def draw(model: Names, device: str, longest: int = 12, temperature: float = 0.8) -> str:
    model.eval()
    letter, state, name = mg.zeros(1, 1, dtype=mg.int64, device=device), None, ""
    for _ in range(longest):
        scores, state = model(letter, state)
        letter = mg.multinomial(F.softmax(scores[:, -1] / temperature, dim=-1), 1)
        if letter.item() == 0:
            break
        name += LETTERS[letter.item()]
    model.train()
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--steps", type=int, default=300)
    device = os.environ.get("MG_DEVICE") or ("cuda" if mg.cuda.is_available() else "cpu")
    parser.add_argument("--device", default=device, help="cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)")
    arguments = parser.parse_args()
    random.seed(0)
    mg.manual_seed(0)
    names = FEW
    if arguments.file:
        with open(arguments.file, encoding="utf-8") as file:
            names = [line.strip().lower() for line in file]
        names = [name for name in names if name and all(c in NUMBER for c in name)]
    model = Names().to(arguments.device)
    print(model)
    loss_of = nn.CrossEntropyLoss(ignore_index=-100)
    adam = mg.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(1, arguments.steps + 1):
        x, y = batch(names, 32)
        scores, _ = model(x.to(arguments.device))
        loss = loss_of(scores.transpose(1, 2), y.to(arguments.device))
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        adam.step()
        if step % max(arguments.steps // 10, 1) == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    print("drawn:", " ".join(draw(model, arguments.device) or "-" for _ in range(8)))


if __name__ == "__main__":
    main()
