"""Sounds to letters: framed and windowed signals, strided 1-d convolutions, a two-way GRU, CTC, greedy decoding."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from given import integers, normals, start


class DeepSpeech(nn.Module):
    def __init__(self, n_feats=9, n_class=6):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(n_feats, 12, 5, stride=2, padding=2), nn.BatchNorm1d(12), nn.Hardtanh(0, 20, inplace=True))
        self.rnn = nn.GRU(12, 10, num_layers=2, bidirectional=True, batch_first=True, dropout=0.0)
        self.fc = nn.Linear(20, n_class)

    def forward(self, x):
        x = self.conv(x).transpose(1, 2)
        x, _ = self.rnn(x)
        return F.log_softmax(self.fc(x), dim=2).permute(1, 0, 2)


def features(signal, size=16, hop=8):
    frames = signal.unfold(-1, size, hop) * torch.hann_window(size)
    k = torch.arange(size // 2 + 1, dtype=torch.float32)
    n = torch.arange(size, dtype=torch.float32)
    angle = 2 * torch.pi * torch.outer(n, k) / size
    power = (frames @ angle.cos()) ** 2 + (frames @ angle.sin()) ** 2
    return torch.log(power + 1e-3).transpose(-1, -2)


def main():
    model = start(torch, DeepSpeech())
    criterion = nn.CTCLoss(blank=0, zero_infinity=True)
    optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
    signal = torch.tensor(normals(1, 3, 200)).cumsum(dim=-1)
    signal = signal - signal.mean(-1, keepdim=True)
    labels = torch.tensor(integers(2, 5, 3, 4)) + 1
    lengths = torch.tensor([4, 3, 2])
    x = features(signal)
    out = [x.mean().item()]
    for _ in range(4):
        log_probs = model(x)
        input_lengths = torch.full((3,), log_probs.size(0), dtype=torch.long)
        loss = criterion(log_probs, labels, input_lengths, lengths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    best = log_probs.argmax(dim=2).transpose(0, 1)
    for row in best:
        collapsed = torch.unique_consecutive(row)
        out.append(float(collapsed[collapsed != 0].numel()))
    return out
