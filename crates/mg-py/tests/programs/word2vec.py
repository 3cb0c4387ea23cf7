"""Skip-grams with negative samples (Mikolov et al., 2013), and an n-gram model as in the tutorial."""

import re
from collections import Counter

import torch
import torch.autograd as autograd
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

from given import TEXT, integers, start


class SkipGramDataset(Dataset):
    def __init__(self, ids, window):
        self.pairs = [(ids[i], ids[j]) for i in range(len(ids)) for j in range(max(0, i - window), min(len(ids), i + window + 1)) if i != j]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        center, context = self.pairs[index]
        return torch.tensor(center, dtype=torch.long), torch.tensor(context, dtype=torch.long)


class SkipGramNeg(nn.Module):
    def __init__(self, vocab_size, embed_dim, noise_dist=None):
        super().__init__()
        self.in_embed = nn.Embedding(vocab_size, embed_dim)
        self.out_embed = nn.Embedding(vocab_size, embed_dim)
        self.noise_dist = noise_dist
        self.in_embed.weight.data.uniform_(-1, 1)
        self.out_embed.weight.data.uniform_(-1, 1)

    def forward(self, center, context, negative):
        u, v, n = self.in_embed(center), self.out_embed(context), self.out_embed(negative)
        positive = F.logsigmoid(torch.sum(u * v, dim=1)).squeeze()
        noise = torch.bmm(n.neg(), u.unsqueeze(2)).squeeze(2)
        return -(positive + F.logsigmoid(noise).sum(1)).mean()


class NGramLanguageModeler(nn.Module):
    def __init__(self, vocab_size, embedding_dim, context_size):
        super(NGramLanguageModeler, self).__init__()
        self.embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.linear1 = nn.Linear(context_size * embedding_dim, 16)
        self.linear2 = nn.Linear(16, vocab_size)

    def forward(self, inputs):
        embeds = self.embeddings(inputs).view((1, -1))
        return F.log_softmax(self.linear2(F.relu(self.linear1(embeds))), dim=1)


def main():
    words = re.findall(r"[a-z]+", TEXT.lower())[:40]
    counts = Counter(words)
    vocab = {word: i for i, (word, _) in enumerate(counts.most_common())}
    ids = [vocab[word] for word in words]
    frequency = torch.FloatTensor([counts[w] for w in vocab])
    unigram = frequency / frequency.sum()
    noise_dist = unigram.pow(0.75) / unigram.pow(0.75).sum()
    loader = DataLoader(SkipGramDataset(ids, 2), batch_size=32, shuffle=False)
    model = start(torch, SkipGramNeg(len(vocab), 8, noise_dist))
    optimizer = optim.Adagrad(model.parameters(), lr=0.1)
    out = []
    for i, (center, context) in enumerate(loader):
        drawn = torch.multinomial(model.noise_dist, center.shape[0] * 3, replacement=True).view(center.shape[0], 3)
        assert drawn.max() < len(vocab)
        negative = torch.tensor(integers(i, len(vocab), center.shape[0], 3))
        loss = model(center, context, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    vectors = model.in_embed.weight
    norms = vectors.pow(2).sum(dim=1).sqrt().unsqueeze(0)
    similarities = torch.mm(vectors[:3], vectors.t()) / (vectors[:3].norm(dim=1, keepdim=True) * norms)
    _, closest = similarities.topk(4)
    trigrams = [([words[i], words[i + 1]], words[i + 2]) for i in range(6)]
    ngram, loss_function = start(torch, NGramLanguageModeler(len(vocab), 4, 2), 1), nn.NLLLoss()
    sgd = optim.SGD(ngram.parameters(), lr=0.05)
    for epoch in range(2):
        total_loss = torch.zeros(1)
        for context, target in trigrams:
            context_idxs = autograd.Variable(torch.LongTensor([vocab[w] for w in context]))
            ngram.zero_grad()
            loss = loss_function(ngram(context_idxs), autograd.Variable(torch.LongTensor([vocab[target]])))
            loss.backward()
            sgd.step()
            total_loss += loss.data
        out.append(total_loss.item())
    return out + closest[:, 1:].flatten().tolist() + F.cosine_similarity(vectors[0], vectors[1], dim=0).view(1).tolist()
