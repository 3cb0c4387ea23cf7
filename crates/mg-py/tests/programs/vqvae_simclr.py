"""VQ-VAE with codes that follow by moving averages; SimCLR's loss on two views; BYOL's target; a memory queue (MoCo)."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

from given import normals, start


class VectorQuantizerEMA(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, commitment_cost, decay, epsilon=1e-5):
        super(VectorQuantizerEMA, self).__init__()
        self._embedding_dim, self._num_embeddings, self._commitment_cost, self._decay, self._epsilon = embedding_dim, num_embeddings, commitment_cost, decay, epsilon
        self._embedding = nn.Embedding(num_embeddings, embedding_dim)
        self._embedding.weight.data.copy_(torch.tensor(normals(5, num_embeddings, embedding_dim)))
        self.register_buffer("_ema_cluster_size", torch.zeros(num_embeddings))
        self._ema_w = nn.Parameter(self._embedding.weight.data.clone())

    def forward(self, inputs):
        inputs = inputs.permute(0, 2, 3, 1).contiguous()
        input_shape = inputs.shape
        flat_input = inputs.view(-1, self._embedding_dim)
        distances = torch.sum(flat_input**2, dim=1, keepdim=True) + torch.sum(self._embedding.weight**2, dim=1) - 2 * torch.matmul(flat_input, self._embedding.weight.t())
        encoding_indices = torch.argmin(distances, dim=1).unsqueeze(1)
        encodings = torch.zeros(encoding_indices.shape[0], self._num_embeddings, device=inputs.device)
        encodings.scatter_(1, encoding_indices, 1)
        quantized = torch.matmul(encodings, self._embedding.weight).view(input_shape)
        if self.training:
            self._ema_cluster_size = self._ema_cluster_size * self._decay + (1 - self._decay) * torch.sum(encodings, 0)
            n = torch.sum(self._ema_cluster_size.data)
            self._ema_cluster_size = (self._ema_cluster_size + self._epsilon) / (n + self._num_embeddings * self._epsilon) * n
            dw = torch.matmul(encodings.t(), flat_input)
            self._ema_w = nn.Parameter(self._ema_w * self._decay + (1 - self._decay) * dw)
            self._embedding.weight = nn.Parameter(self._ema_w / self._ema_cluster_size.unsqueeze(1))
        e_latent_loss = F.mse_loss(quantized.detach(), inputs)
        loss = self._commitment_cost * e_latent_loss
        quantized = inputs + (quantized - inputs).detach()
        avg_probs = torch.mean(encodings, dim=0)
        perplexity = torch.exp(-torch.sum(avg_probs * torch.log(avg_probs + 1e-10)))
        return loss, quantized.permute(0, 3, 1, 2).contiguous(), perplexity, encodings


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self._block = nn.Sequential(nn.ReLU(True), nn.Conv2d(channels, 4, kernel_size=3, stride=1, padding=1, bias=False), nn.ReLU(True), nn.Conv2d(4, channels, kernel_size=1, stride=1, bias=False))

    def forward(self, x):
        return x + self._block(x.clone())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 4, 2, 1), Residual(8), nn.Conv2d(8, 3, 1))
        self.vq = VectorQuantizerEMA(6, 3, 0.25, 0.9)
        self.decoder = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), Residual(8), nn.ConvTranspose2d(8, 8, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1))

    def forward(self, x):
        loss, quantized, perplexity, _ = self.vq(self.encoder(x))
        return loss, self.decoder(quantized), perplexity


def info_nce_loss(features, n_views=2, temperature=0.5):
    batch = features.shape[0] // n_views
    labels = torch.cat([torch.arange(batch) for i in range(n_views)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    features = F.normalize(features, dim=1)
    similarity_matrix = torch.matmul(features, features.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    labels = labels[~mask].view(labels.shape[0], -1)
    similarity_matrix = similarity_matrix[~mask].view(similarity_matrix.shape[0], -1)
    positives = similarity_matrix[labels.bool()].view(labels.shape[0], -1)
    negatives = similarity_matrix[~labels.bool()].view(similarity_matrix.shape[0], -1)
    logits = torch.cat([positives, negatives], dim=1)
    return F.cross_entropy(logits / temperature, torch.zeros(logits.shape[0], dtype=torch.long))


class MoCo(nn.Module):
    def __init__(self, encoder, dim=4, K=8, m=0.9, T=0.2):
        super(MoCo, self).__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q, self.encoder_k = encoder(), encoder()
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data.copy_(param_q.data)
            param_k.requires_grad = False
        self.register_buffer("queue", nn.functional.normalize(torch.tensor(normals(9, dim, K)), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        batch_size, ptr = keys.shape[0], int(self.queue_ptr)
        self.queue[:, ptr : ptr + batch_size] = keys.T
        self.queue_ptr[0] = (ptr + batch_size) % self.K

    def forward(self, im_q, im_k):
        q = nn.functional.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
                param_k.data = param_k.data * self.m + param_q.data * (1.0 - self.m)
            idx_shuffle = torch.tensor([2, 0, 3, 1])
            k = nn.functional.normalize(self.encoder_k(im_k[idx_shuffle]), dim=1)[torch.argsort(idx_shuffle)]
        l_pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1)
        logits /= self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long)
        self._dequeue_and_enqueue(k)
        return logits, labels


def main():
    model = start(torch, Model())
    model.vq._embedding.weight.data.copy_(torch.tensor(normals(5, 6, 3)))
    model.vq._ema_w.data.copy_(model.vq._embedding.weight.data)
    optimizer, out = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=False), []
    data_variance = 0.3
    for i in range(4):
        data = torch.tensor(normals(i, 4, 1, 8, 8)) * 0.5
        optimizer.zero_grad()
        vq_loss, data_recon, perplexity = model(data)
        recon_error = F.mse_loss(data_recon, data) / data_variance
        (recon_error + vq_loss).backward()
        optimizer.step()
        out += [recon_error.item(), vq_loss.item(), perplexity.item()]
    net = start(torch, nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)), 3)
    sgd = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9, dampening=0.1)
    for i in range(3):
        views = torch.cat([torch.tensor(normals(i, 4, 6)), torch.tensor(normals(i, 4, 6)) + 0.1 * torch.tensor(normals(50 + i, 4, 6))])
        loss = info_nce_loss(net(views))
        sgd.zero_grad(set_to_none=False)
        loss.backward()
        sgd.step()
        out.append(loss.item())
    moco = MoCo(lambda: start(torch, nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)), 4))
    opt = torch.optim.SGD(filter(lambda p: p.requires_grad, moco.parameters()), 0.1, weight_decay=1e-4)
    for i in range(4):
        x = torch.tensor(normals(i, 4, 6))
        output, target = moco(x, x + 0.2)
        loss = nn.CrossEntropyLoss()(output, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        out += [loss.item(), float(moco.queue_ptr)]
    online, target = net, copy.deepcopy(net)
    p, z = online(views), target(views).detach()
    byol = (2 - 2 * F.cosine_similarity(F.normalize(p, dim=-1, p=2), F.normalize(z.roll(4, 0), dim=-1, p=2), dim=-1)).mean()
    return out + [byol.item(), moco.queue.abs().sum().item()]
