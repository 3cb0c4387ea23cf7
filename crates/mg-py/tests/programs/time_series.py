"""An LSTM that foretells a series: windows, packed batches of different lengths, hidden states kept between batches, LBFGS, quantiles."""

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, TensorDataset

from given import start


def create_dataset(dataset, lookback):
    X, y = [], []
    for i in range(len(dataset) - lookback):
        X.append(dataset[i : i + lookback])
        y.append(dataset[i + 1 : i + lookback + 1])
    return torch.tensor(np.array(X)), torch.tensor(np.array(y))


class Sequence(nn.Module):
    def __init__(self):
        super(Sequence, self).__init__()
        self.lstm1 = nn.LSTMCell(1, 6)
        self.lstm2 = nn.LSTMCell(6, 6)
        self.linear = nn.Linear(6, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t = torch.zeros(input.size(0), 6, dtype=torch.double)
        c_t = torch.zeros(input.size(0), 6, dtype=torch.double)
        h_t2 = torch.zeros(input.size(0), 6, dtype=torch.double)
        c_t2 = torch.zeros(input.size(0), 6, dtype=torch.double)
        for input_t in input.split(1, dim=1):
            h_t, c_t = self.lstm1(input_t, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        for i in range(future):
            h_t, c_t = self.lstm1(output, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        return torch.cat(outputs, dim=1)


class AirModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=5, num_layers=2, batch_first=True, dropout=0.0, bidirectional=True)
        self.linear = nn.Linear(10, 3)

    def forward(self, x, hidden=None):
        x, hidden = self.lstm(x, hidden)
        return self.linear(x), hidden


def quantile_loss(preds, target, quantiles=(0.1, 0.5, 0.9)):
    losses = []
    for i, q in enumerate(quantiles):
        errors = target - preds[..., i]
        losses.append(torch.max((q - 1) * errors, q * errors).unsqueeze(-1))
    return torch.mean(torch.sum(torch.cat(losses, dim=-1), dim=-1))


def main():
    np.random.seed(2)
    T, L, N = 20, 24, 4
    x = np.empty((N, L), "int64")
    x[:] = np.array(range(L)) + np.random.randint(-4 * T, 4 * T, N).reshape(N, 1)
    data = np.sin(x / 1.0 / T).astype("float64")
    input, target = torch.from_numpy(data[1:, :-1]), torch.from_numpy(data[1:, 1:])
    seq = Sequence()
    seq.double()
    start(torch, seq)
    criterion = nn.MSELoss()
    optimizer = torch.optim.LBFGS(seq.parameters(), lr=0.5, max_iter=3, line_search_fn="strong_wolfe")
    out = []
    for i in range(2):
        def closure():
            optimizer.zero_grad()
            loss = criterion(seq(input), target)
            loss.backward()
            return loss

        out.append(optimizer.step(closure).item())
        with torch.no_grad():
            pred = seq(torch.from_numpy(data[:1, :-1]), future=5)
            out.append(criterion(pred[:, :-5], torch.from_numpy(data[:1, 1:])).item())
            out += pred.detach().numpy()[0, -2:].tolist()
    series = np.sin(np.arange(30, dtype=np.float32) / 3).reshape(-1, 1)
    series = (series - series.min()) / (series.max() - series.min())
    X, y = create_dataset(series, 4)
    loader = DataLoader(TensorDataset(X, y), shuffle=False, batch_size=8)
    model = start(torch, AirModel(), 4)
    adam = torch.optim.RMSprop(model.parameters(), lr=0.01, alpha=0.9, centered=True)
    model.train()
    for epoch in range(2):
        hidden = None
        for X_batch, y_batch in loader:
            if hidden is not None and X_batch.size(0) != hidden[0].size(1):
                hidden = None
            y_pred, hidden = model(X_batch, hidden)
            hidden = tuple(h.detach() for h in hidden)
            loss = quantile_loss(y_pred, y_batch.squeeze(-1))
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
            adam.step()
        out.append(np.sqrt(loss.item()))
    lengths = torch.tensor([5, 2, 4])
    sequences = [torch.linspace(-1, 1, int(n)).unsqueeze(1) * (i + 1) for i, n in enumerate(lengths)]
    padded = pad_sequence(sequences, batch_first=True, padding_value=0.0)
    packed = pack_padded_sequence(padded, lengths.cpu(), batch_first=True, enforce_sorted=False)
    output, (h_n, c_n) = model.lstm(packed)
    unpacked, unpacked_lengths = pad_packed_sequence(output, batch_first=True, total_length=6)
    last = unpacked[torch.arange(3), unpacked_lengths - 1]
    again, _ = model.lstm(pack_sequence(sequences, enforce_sorted=False))
    mask = torch.arange(6)[None, :] < unpacked_lengths[:, None]
    pooled = (unpacked * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
    return out + [unpacked.abs().sum().item(), last.sum().item(), h_n[-2].sum().item(), c_n.square().sum().item(), again.data.std().item(), pooled.var(unbiased=False).item()]
