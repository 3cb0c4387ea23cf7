"""No gradients: k-means, nearest neighbours, principal components, t-SNE's affinities, a confusion matrix, non-maximum suppression."""

import torch

from given import integers, normals


def kmeans(x, k, iterations=5):
    centres = x[:k].clone()
    for _ in range(iterations):
        distance = torch.cdist(x, centres)
        labels = distance.argmin(dim=1)
        sums = torch.zeros_like(centres).index_add_(0, labels, x)
        counts = torch.bincount(labels, minlength=k).clamp(min=1).unsqueeze(1)
        centres = sums / counts
    return centres, labels, distance.gather(1, labels[:, None]).pow(2).sum()


def knn(train, targets, query, k):
    near = torch.cdist(query, train, p=2.0).topk(k, largest=False, sorted=True)
    votes = targets[near.indices]
    return votes.mode(dim=1).values, near.values


def nms(boxes, scores, threshold):
    order = scores.argsort(descending=True)
    keep = []
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())
        if order.numel() == 1:
            break
        lt = torch.maximum(boxes[i, :2], boxes[order[1:], :2])
        rb = torch.min(boxes[i, 2:], boxes[order[1:], 2:])
        wh = (rb - lt).clamp(min=0)
        inter = wh[:, 0] * wh[:, 1]
        iou = inter / (areas[i] + areas[order[1:]] - inter)
        order = order[1:][iou <= threshold]
    return keep


def main():
    x = torch.tensor(normals(1, 40, 3)) + 4 * torch.eye(3)[torch.arange(40) % 3]
    centres, labels, inertia = kmeans(x, 3)
    out = [inertia.item(), *centres.sum(1).tolist(), float(len(labels.unique()))]
    predicted, distances = knn(x, torch.arange(40) % 3, torch.tensor(normals(2, 5, 3)), 5)
    out += predicted.float().tolist() + distances.mean(1).tolist()
    centred = x - x.mean(dim=0)
    U, S, Vh = torch.linalg.svd(centred, full_matrices=False)
    out += S.tolist() + (centred @ Vh[:2].T).abs().sum(0).tolist()
    values, vectors = torch.linalg.eigh(torch.cov(x.T))
    out += values.flip(0).tolist()
    d2 = torch.cdist(x, x).square().fill_diagonal_(float("inf"))
    p = torch.softmax(-d2 / 2.0, dim=1)
    out += [p.max().item(), -(p * torch.log(p.clamp_min(1e-12))).sum(1).mean().item()]
    truth, guess = torch.tensor(integers(3, 4, 50)), torch.tensor(integers(4, 4, 50))
    confusion = torch.bincount(truth * 4 + guess, minlength=16).reshape(4, 4)
    out += confusion.diag().float().tolist() + [(confusion.diagonal().sum() / confusion.sum()).item()]
    recall = confusion.diag() / confusion.sum(1)
    out.append(torch.nan_to_num(recall).mean().item())
    corners = torch.tensor(normals(5, 10, 2))
    boxes = torch.cat([corners, corners + torch.tensor(normals(6, 10, 2)).abs() + 0.5], dim=1)
    keep = nms(boxes, torch.tensor(normals(7, 10)), 0.3)
    out += [float(i) for i in keep]
    hist = torch.histc(x, bins=5, min=-3, max=6)
    sorted_x, _ = torch.sort(x[:, 0], descending=True)
    edges = torch.tensor([-1.0, 0.0, 1.0])
    return out + hist.tolist() + [sorted_x[3].item(), torch.bucketize(x[:, 1], edges).float().mean().item(), torch.searchsorted(edges, x[0, 0]).item()]
