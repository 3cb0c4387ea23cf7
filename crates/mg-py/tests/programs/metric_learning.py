"""Pairs and triplets: a siamese network, contrastive losses, InfoNCE with a temperature, ArcFace, a learned distance."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from given import integers, normals, start


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(1, 4, 3), nn.ReLU(inplace=True), nn.InstanceNorm2d(4, affine=True), nn.AvgPool2d(2), nn.Flatten())
        self.fc = nn.Sequential(nn.LazyLinear(10), nn.PReLU(), nn.Linear(10, 5))

    def forward_once(self, x):
        return self.fc(self.cnn(x))

    def forward(self, a, b):
        return self.forward_once(a), self.forward_once(b)


class ArcMarginProduct(nn.Module):
    def __init__(self, features, classes, s=8.0, m=0.3):
        super().__init__()
        self.s, self.m = s, m
        self.weight = nn.Parameter(torch.FloatTensor(classes, features))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, label):
        cosine = F.linear(F.normalize(x), F.normalize(self.weight)).clamp(-1 + 1e-6, 1 - 1e-6)
        phi = torch.cos(torch.acos(cosine) + self.m)
        one_hot = torch.zeros(cosine.size())
        one_hot.scatter_(1, label.view(-1, 1).long(), 1)
        return self.s * (one_hot * phi + (1.0 - one_hot) * cosine)


def info_nce(a, b, temperature=0.2):
    z = F.normalize(torch.cat([a, b]), dim=1)
    similarity = z @ z.t() / temperature
    n = a.size(0)
    similarity = similarity.masked_fill(torch.eye(2 * n, dtype=torch.bool), -9e15)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, target)


def main():
    net = Siamese()
    net(torch.zeros(2, 1, 8, 8), torch.zeros(2, 1, 8, 8))
    start(torch, net)
    arc = start(torch, ArcMarginProduct(5, 3), 2)
    optimizer = torch.optim.Adam(list(net.parameters()) + list(arc.parameters()), lr=3e-3)
    contrastive = lambda d, y, margin=2.0: torch.mean((1 - y) * d.pow(2) + y * torch.clamp(margin - d, min=0.0).pow(2))
    triplet, cosine, ranking = nn.TripletMarginLoss(margin=1.0, p=2), nn.CosineEmbeddingLoss(margin=0.1), nn.MarginRankingLoss(0.5)
    out = []
    for i in range(3):
        a, b, c = (torch.tensor(normals(10 * i + j, 4, 1, 8, 8)) for j in range(3))
        y = torch.tensor(integers(i, 2, 4)).float()
        u, v = net(a, b)
        w = net.forward_once(c)
        parts = [
            contrastive(F.pairwise_distance(u, v, keepdim=True), y[:, None]),
            triplet(u, v, w),
            cosine(u, v, 2 * y - 1),
            ranking(u.sum(1), v.sum(1), 2 * y - 1),
            info_nce(u, v),
            F.cross_entropy(arc(u, torch.tensor(integers(i, 3, 4))), torch.tensor(integers(i, 3, 4))),
            nn.CosineSimilarity(dim=1)(u, w).mean(),
            nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))((u * v).sum(1), y),
            nn.KLDivLoss(reduction="batchmean")(F.log_softmax(u, 1), F.softmax(v, 1)),
        ]
        loss = torch.stack(parts).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out += [p.item() for p in parts]
    return out
