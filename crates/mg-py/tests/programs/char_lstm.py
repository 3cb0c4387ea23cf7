"""A character model by an LSTM on packed sequences of unlike lengths, with gradients clipped and states carried over."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from given import TEXT, start


class CharLSTM(nn.Module):
    def __init__(self, vocab, embed=12, hidden=16, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed, padding_idx=0)
        self.lstm = nn.LSTM(embed, hidden, layers, batch_first=True, bidirectional=False)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x, lengths, state=None):
        packed = pack_padded_sequence(self.embedding(x), lengths, batch_first=True, enforce_sorted=False)
        out, state = self.lstm(packed, state)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.size(1))
        return self.head(out), state


def main():
    chars = sorted(set(TEXT))
    stoi = {c: i + 1 for i, c in enumerate(chars)}
    lines = [torch.tensor([stoi[c] for c in line[:40]], dtype=torch.long) for line in TEXT.splitlines()]
    lines[1] = lines[1][:17]
    lengths = torch.tensor([len(line) - 1 for line in lines])
    x = pad_sequence([line[:-1] for line in lines], batch_first=True)
    y = pad_sequence([line[1:] for line in lines], batch_first=True, padding_value=-100)
    model = start(torch, CharLSTM(len(chars) + 1))
    with torch.no_grad():
        model.embedding.weight[0].zero_()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    losses = []
    state = None
    for _ in range(4):
        logits, state = model(x, lengths, state)
        state = tuple(s.detach() for s in state)
        loss = criterion(logits.transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        losses += [loss.item(), float(norm)]

    # The rest of a line, the likeliest character each time.
    model.eval()
    with torch.no_grad():
        text, state = [lines[0][0].item()], None
        for _ in range(8):
            logits, state = model(torch.tensor([[text[-1]]]), torch.tensor([1]), state)
            text.append(int(logits[0, -1].argmax()))
    losses += [float(t) for t in text]
    gru = start(torch, nn.GRU(12, 8, bidirectional=True), 3)
    out, h = gru(model.embedding(x).transpose(0, 1).detach())
    losses += [out.mean().item(), h[-1].abs().sum().item()]
    return losses
