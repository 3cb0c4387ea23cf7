"""Texts of unlike lengths by an EmbeddingBag, and skip-gram vectors with negative samples."""

import torch
from torch import nn
from torch.utils.data import DataLoader, random_split
from torch.utils.data.dataset import TensorDataset

from given import TEXT, integers, start

words = TEXT.lower().replace(",", "").replace(".", "").split()
vocab = {w: i for i, w in enumerate(sorted(set(words)))}


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, sparse=False)
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


class SkipGram(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.centre = nn.Embedding(size, dim)
        self.context = nn.Embedding(size, dim)

    def forward(self, centre, context, negatives):
        c = self.centre(centre)
        positive = nn.functional.logsigmoid((c * self.context(context)).sum(-1))
        negative = nn.functional.logsigmoid(-torch.bmm(self.context(negatives), c.unsqueeze(2)).squeeze(2)).sum(1)
        return -(positive + negative).mean()


def collate_batch(batch):
    label_list, text_list, offsets = [], [], [0]
    for label, text in batch:
        label_list.append(label)
        processed = torch.tensor([vocab[w] for w in text.split()], dtype=torch.int64)
        text_list.append(processed)
        offsets.append(processed.size(0))
    label_list = torch.tensor(label_list, dtype=torch.int64)
    offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
    return label_list, torch.cat(text_list), offsets


def main():
    dataset = [(i % 3, " ".join(words[i : i + 2 + i % 5])) for i in range(24)]
    loader = DataLoader(dataset, batch_size=8, shuffle=False, collate_fn=collate_batch)
    model = start(torch, TextClassificationModel(len(vocab), 8, 3))
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1.0, gamma=0.1)
    losses = []
    total_acc, total_count = 0, 0
    for label, text, offsets in loader:
        optimizer.zero_grad()
        predicted = model(text, offsets)
        loss = criterion(predicted, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total_acc += (predicted.argmax(1) == label).sum().item()
        total_count += label.size(0)
        losses.append(loss.item())
    scheduler.step()
    losses.append(total_acc / total_count)

    pairs = [(vocab[words[i]], vocab[words[j]]) for i in range(2, len(words) - 2) for j in (i - 2, i - 1, i + 1, i + 2)][:60]
    pairs = torch.tensor(pairs)
    both = TensorDataset(pairs[:, 0], pairs[:, 1], torch.tensor(integers(3, len(vocab), len(pairs), 5)))
    kept, held = random_split(both, [50, 10], generator=torch.Generator().manual_seed(42))
    assert len(kept) == 50 and len(held) == 10 and sorted([*kept.indices, *held.indices]) == list(range(60))
    skip = start(torch, SkipGram(len(vocab), 8), 5)
    optimizer = torch.optim.Adagrad(skip.parameters(), lr=0.1)
    for centre, context, negatives in DataLoader(both, batch_size=20):
        loss = skip(centre, context, negatives)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    vectors = nn.functional.normalize(skip.centre.weight.detach(), dim=1)
    near = (vectors @ vectors.T).fill_diagonal_(-1.0).topk(2, dim=1)
    losses += [near.values.mean().item(), float(near.indices[0, 0])]
    return losses
