"""Messages along the edges of a graph: index_add_, scatter_reduce_, a symmetric normalisation, attention by a segment softmax."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from given import integers, normals, start


class GCNConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self):
        self.lin.reset_parameters()
        self.bias.data.zero_()

    def forward(self, x, edge_index):
        n = x.size(0)
        loops = torch.arange(n, device=x.device).unsqueeze(0).repeat(2, 1)
        row, col = torch.cat([edge_index, loops], dim=1)
        deg = torch.zeros(n, dtype=x.dtype).scatter_add_(0, col, torch.ones(col.numel(), dtype=x.dtype))
        deg_inv_sqrt = deg.pow(-0.5)
        deg_inv_sqrt[deg_inv_sqrt == float("inf")] = 0
        norm = deg_inv_sqrt[row] * deg_inv_sqrt[col]
        x = self.lin(x)
        out = torch.zeros_like(x)
        out.index_add_(0, col, norm.view(-1, 1) * x[row])
        return out + self.bias


class GATConv(nn.Module):
    def __init__(self, dim, out, heads=2):
        super().__init__()
        self.heads, self.out = heads, out
        self.lin = nn.Linear(dim, heads * out, bias=False)
        self.att = nn.Parameter(torch.empty(1, heads, 2 * out))
        nn.init.xavier_uniform_(self.att, gain=nn.init.calculate_gain("leaky_relu", 0.2))

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.lin(x).view(-1, self.heads, self.out)
        e = F.leaky_relu((torch.cat([h[src], h[dst]], dim=-1) * self.att).sum(-1), 0.2)
        index = dst.unsqueeze(-1).expand_as(e)
        top = torch.full((x.size(0), self.heads), float("-inf")).scatter_reduce(0, index, e.detach(), reduce="amax", include_self=True)
        e = (e - top.gather(0, index)).exp()
        total = torch.zeros(x.size(0), self.heads).scatter_add(0, index, e)
        alpha = e / (total.gather(0, index) + 1e-16)
        out = torch.zeros(x.size(0), self.heads, self.out).index_add(0, dst, alpha.unsqueeze(-1) * h[src])
        return out.mean(dim=1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GCNConv(6, 8)
        self.conv2 = GATConv(8, 8)
        self.conv3 = GCNConv(8, 3)

    def forward(self, x, edge_index, batch):
        x = F.relu(self.conv1(x, edge_index))
        x = F.dropout(x, p=0.0, training=self.training)
        x = F.elu(self.conv2(x, edge_index))
        x = self.conv3(x, edge_index)
        graphs = int(batch.max()) + 1
        pooled = torch.zeros(graphs, x.size(1)).scatter_reduce(0, batch.unsqueeze(1).expand(-1, x.size(1)), x, "mean", include_self=False)
        return F.log_softmax(x, dim=1), pooled


def main():
    x = torch.tensor(normals(1, 12, 6))
    edges = torch.tensor(integers(2, 12, 2, 30), dtype=torch.long)
    edges = edges[:, edges[0] != edges[1]]
    edges = torch.unique(torch.cat([edges, edges.flip(0)], dim=1), dim=1)
    y = torch.tensor(integers(3, 3, 12))
    batch = torch.tensor([0] * 5 + [1] * 4 + [2] * 3)
    train_mask = torch.zeros(12, dtype=torch.bool)
    train_mask[:8] = True
    model = start(torch, Net())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    losses = [float(edges.shape[1])]
    for _ in range(5):
        model.train()
        optimizer.zero_grad()
        out, pooled = model(x, edges, batch)
        loss = F.nll_loss(out[train_mask], y[train_mask]) + 0.1 * pooled.pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    pred = model(x, edges, batch)[0].argmax(dim=1)
    losses.append(int((pred[~train_mask] == y[~train_mask]).sum()) / int((~train_mask).sum()))
    degree = torch.bincount(edges[1], minlength=12)
    adjacency = torch.zeros(12, 12)
    adjacency[edges[0], edges[1]] = 1.0
    laplacian = torch.diag(degree.float()) - adjacency
    losses += torch.linalg.eigvalsh(laplacian)[:4].tolist()
    return losses
