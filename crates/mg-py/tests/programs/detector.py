"""A detector: a pyramid of features, anchors, focal and IoU losses, targets by overlap, boxes that are decoded, suppressed and measured; a graph
attention by scattered sums; dense blocks with checkpoints; depthwise convolutions.
"""

import math
from collections import OrderedDict
from itertools import product
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn.functional as F
import torch.utils.checkpoint as cp
from torch import Tensor, nn

from given import integers, normals, start


def box_area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(boxes1: Tensor, boxes2: Tensor) -> Tuple[Tensor, Tensor]:
    lt = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    union = box_area(boxes1)[:, None] + box_area(boxes2) - inter
    return inter / union, union


def generalized_box_iou(boxes1, boxes2):
    assert (boxes1[:, 2:] >= boxes1[:, :2]).all()
    iou, union = box_iou(boxes1, boxes2)
    lt, rb = torch.min(boxes1[:, None, :2], boxes2[:, :2]), torch.max(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    area = wh.prod(-1)
    return iou - (area - union) / area


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    order, keep = scores.argsort(descending=True), []
    while order.numel() > 0:
        i = order[0]
        keep.append(i)
        if order.numel() == 1:
            break
        iou = box_iou(boxes[i].unsqueeze(0), boxes[order[1:]])[0].squeeze(0)
        order = order[1:][iou <= threshold]
    return torch.stack(keep)


def sigmoid_focal_loss(inputs: Tensor, targets: Tensor, alpha: float = 0.25, gamma: float = 2, reduction: str = "none") -> Tensor:
    p = torch.sigmoid(inputs)
    ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce_loss * ((1 - p_t) ** gamma)
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


class ConvNormActivation(nn.Sequential):
    def __init__(self, inp: int, oup: int, kernel_size: int = 3, stride: int = 1, groups: int = 1, activation_layer=nn.Hardswish) -> None:
        super().__init__(nn.Conv2d(inp, oup, kernel_size, stride, (kernel_size - 1) // 2, groups=groups, bias=False), nn.GroupNorm(2, oup), activation_layer(inplace=True))
        self.out_channels = oup


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio):
        super().__init__()
        hidden_dim = int(round(inp * expand_ratio))
        self.use_res_connect = stride == 1 and inp == oup
        self.conv = nn.Sequential(ConvNormActivation(inp, hidden_dim, 1), ConvNormActivation(hidden_dim, hidden_dim, stride=stride, groups=hidden_dim), nn.Conv2d(hidden_dim, oup, 1, bias=False), nn.GroupNorm(1, oup))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class _DenseLayer(nn.Module):
    def __init__(self, num_input_features, growth_rate, memory_efficient):
        super().__init__()
        self.norm1 = nn.GroupNorm(1, num_input_features)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, growth_rate, kernel_size=3, padding=1, bias=False)
        self.memory_efficient = memory_efficient

    def bn_function(self, *inputs: Tensor) -> Tensor:
        return self.conv1(self.relu1(self.norm1(torch.cat(inputs, 1))))

    def any_requires_grad(self, input: List[Tensor]) -> bool:
        return any(tensor.requires_grad for tensor in input)

    def forward(self, input):
        prev_features = [input] if isinstance(input, Tensor) else input
        if self.memory_efficient and self.any_requires_grad(prev_features) and not torch.jit.is_scripting():
            return cp.checkpoint(self.bn_function, *prev_features, use_reentrant=False)
        return self.bn_function(*prev_features)


class _DenseBlock(nn.ModuleDict):
    def __init__(self, num_layers, channels, growth):
        super().__init__()
        for i in range(num_layers):
            self.add_module("denselayer%d" % (i + 1), _DenseLayer(channels + i * growth, growth, i == 1))

    def forward(self, init_features):
        features = [init_features]
        for name, layer in self.items():
            features.append(layer(features))
        return torch.cat(features, 1)


class FeaturePyramid(nn.Module):
    def __init__(self, channels: List[int], out: int):
        super().__init__()
        self.inner_blocks = nn.ModuleList(nn.Conv2d(c, out, 1) for c in channels)
        self.layer_blocks = nn.ModuleList(nn.Conv2d(out, out, 3, padding=1) for _ in channels)

    def forward(self, x: Dict[str, Tensor]) -> Dict[str, Tensor]:
        names, values = list(x.keys()), list(x.values())
        last_inner = self.inner_blocks[-1](values[-1])
        results = [self.layer_blocks[-1](last_inner)]
        for idx in range(len(values) - 2, -1, -1):
            lateral = self.inner_blocks[idx](values[idx])
            last_inner = lateral + F.interpolate(last_inner, size=lateral.shape[-2:], mode="nearest")
            results.insert(0, self.layer_blocks[idx](last_inner))
        names.append("pool")
        results.append(F.max_pool2d(results[-1], 1, 2, 0))
        return OrderedDict([(k, v) for k, v in zip(names, results)])


class Detector(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.stem = ConvNormActivation(3, 8, stride=2, activation_layer=nn.SiLU)
        self.stage1 = nn.Sequential(InvertedResidual(8, 8, 1, 2), _DenseBlock(2, 8, 4))
        self.stage2 = InvertedResidual(16, 12, 2, 1.5)
        self.fpn = FeaturePyramid([16, 12], 8)
        self.cls_logits, self.bbox_reg = nn.Conv2d(8, 2 * classes, 3, padding=1), nn.Conv2d(8, 2 * 4, 3, padding=1)
        self.classes = classes
        torch.nn.init.constant_(self.cls_logits.bias, -math.log((1 - 0.01) / 0.01))

    def anchors(self, sizes, image):
        boxes = []
        for k, (h, w) in enumerate(sizes):
            for i, j in product(range(h), range(w)):
                cx, cy = (j + 0.5) * image / w, (i + 0.5) * image / h
                for ratio in (0.8, 1.4):
                    s = 4.0 * 2**k
                    boxes.append([cx - s * ratio / 2, cy - s / ratio / 2, cx + s * ratio / 2, cy + s / ratio / 2])
        return torch.Tensor(boxes).detach()

    def forward(self, x):
        image = x.shape[-1]
        c1 = self.stage1(self.stem(x))
        features = list(self.fpn(OrderedDict(a=c1, b=self.stage2(c1))).values())
        logits, regs = [], []
        for f in features:
            n, _, h, w = f.shape
            logits.append(self.cls_logits(f).view(n, -1, self.classes, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, self.classes))
            regs.append(self.bbox_reg(f).view(n, -1, 4, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, 4))
        return torch.cat(logits, dim=1), torch.cat(regs, dim=1), self.anchors([f.shape[-2:] for f in features], image)


def encode(reference, proposals):
    px, py = (proposals[:, 0] + proposals[:, 2]) / 2, (proposals[:, 1] + proposals[:, 3]) / 2
    pw, ph = proposals[:, 2] - proposals[:, 0], proposals[:, 3] - proposals[:, 1]
    gx, gy = (reference[:, 0] + reference[:, 2]) / 2, (reference[:, 1] + reference[:, 3]) / 2
    gw, gh = reference[:, 2] - reference[:, 0], reference[:, 3] - reference[:, 1]
    return torch.stack(((gx - px) / pw, (gy - py) / ph, torch.log(gw / pw), torch.log(gh / ph)), dim=1)


def decode(codes, boxes):
    widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    dx, dy, dw, dh = codes[:, 0::4], codes[:, 1::4], codes[:, 2::4], codes[:, 3::4]
    dw, dh = torch.clamp(dw, max=math.log(1000.0 / 16)), torch.clamp(dh, max=math.log(1000.0 / 16))
    cx, cy = dx * widths[:, None] + (boxes[:, 0] + 0.5 * widths)[:, None], dy * heights[:, None] + (boxes[:, 1] + 0.5 * heights)[:, None]
    w, h = torch.exp(dw) * widths[:, None], torch.exp(dh) * heights[:, None]
    return torch.stack((cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h), dim=2).flatten(1)


class GATLayer(nn.Module):
    def __init__(self, inp, out, heads):
        super().__init__()
        self.W = nn.Linear(inp, heads * out, bias=False)
        self.a_src, self.a_dst = nn.Parameter(torch.empty(1, heads, out)), nn.Parameter(torch.empty(1, heads, out))
        nn.init.xavier_uniform_(self.a_src)
        nn.init.xavier_uniform_(self.a_dst)
        self.heads, self.out = heads, out

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.W(x).view(-1, self.heads, self.out)
        e = F.leaky_relu((h * self.a_src).sum(-1)[src] + (h * self.a_dst).sum(-1)[dst], 0.2)
        most = torch.full((x.size(0), self.heads), -float("inf")).scatter_reduce_(0, dst.unsqueeze(-1).expand_as(e), e, reduce="amax", include_self=False)
        w = (e - most[dst]).exp()
        total = torch.zeros(x.size(0), self.heads).scatter_add_(0, dst.unsqueeze(-1).expand_as(w), w)
        alpha = w / (total[dst] + 1e-16)
        return torch.zeros_like(h).index_add_(0, dst, h[src] * alpha.unsqueeze(-1)).flatten(1), alpha


def average_precision(scores, matched, total):
    order = torch.argsort(scores, descending=True)
    tp = matched[order].float().cumsum(0)
    precision, recall = tp / torch.arange(1, len(tp) + 1), tp / total
    precision = torch.flip(torch.cummax(torch.flip(precision, [0]), 0).values, [0])
    return torch.trapz(torch.cat([precision[:1], precision]), torch.cat([torch.zeros(1), recall]))


def main():
    torch.manual_seed(0)
    model = start(torch, Detector())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 3], gamma=0.1)
    images = torch.tensor(normals(1, 2, 3, 32, 32))
    truth = [torch.tensor([[4.0, 5.0, 14.0, 12.0], [16.0, 16.0, 30.0, 28.0]]), torch.tensor([[8.0, 3.0, 20.0, 20.0]])]
    labels = [torch.tensor([0, 2]), torch.tensor([1])]
    out = []
    for step in range(4):
        logits, regs, anchors = model(images)
        losses = {"classification": [], "bbox_regression": [], "giou": []}
        for l, r, boxes, classes in zip(logits, regs, truth, labels):
            iou, _ = box_iou(boxes, anchors)
            matched_vals, matches = iou.max(dim=0)
            _, best = iou.max(dim=1)
            matches[matched_vals < 0.4] = -1
            matches[best] = torch.arange(len(boxes))
            foreground = matches >= 0
            target = torch.zeros_like(l)
            target[foreground, classes[matches[foreground]]] = 1.0
            valid = ~((matched_vals >= 0.3) & (matched_vals < 0.4)) | foreground
            losses["classification"].append(sigmoid_focal_loss(l[valid], target[valid], reduction="sum") / max(1, int(foreground.sum())))
            wanted = encode(boxes[matches[foreground]], anchors[foreground])
            losses["bbox_regression"].append(F.smooth_l1_loss(r[foreground], wanted, beta=1.0 / 9, reduction="sum") / max(1, foreground.sum().item()))
            giou = generalized_box_iou(decode(r[foreground], anchors[foreground]), boxes)
            losses["giou"].append((1 - giou.gather(1, matches[foreground].unsqueeze(1))).mean())
        total = sum(sum(v) / len(v) for v in losses.values())
        optimizer.zero_grad()
        total.backward()
        grads = torch.norm(torch.stack([torch.norm(p.grad.detach(), 2.0) for p in model.parameters()]), 2.0)
        optimizer.step()
        scheduler.step()
        out += [total.item(), grads.item(), sum(losses["giou"]).item()]
    with torch.inference_mode():
        logits, regs, anchors = model.eval()(images[:1])
        scores, classes = logits.squeeze(0).sigmoid().max(-1)
        top = scores.topk(30).indices
        boxes = decode(regs[0][top], anchors[top]).clamp(min=0, max=32)
        keep = nms(boxes + classes[top].to(boxes)[:, None] * (boxes.max() + 1), scores[top], 0.5)
        matched = box_iou(boxes[keep], truth[0])[0].max(1).values > 0.1
    out += [float(len(keep)), boxes[keep].sum().item(), average_precision(scores[top][keep], matched, 2).item()]
    nodes, edges = torch.tensor(normals(3, 6, 4)), torch.tensor(integers(4, 6, 2, 15))
    gat = start(torch, GATLayer(4, 3, 2), 3)
    h, alpha = gat(nodes, edges)
    F.elu(h).square().mean().backward()
    degree = torch.bincount(edges[1], minlength=6)
    adjacency = torch.zeros(6, 6).index_put_((edges[0], edges[1]), torch.ones(15), accumulate=True)
    lap = torch.diag(adjacency.sum(1)) - adjacency
    return out + [h.sum().item(), alpha.sum().item(), gat.a_src.grad.norm().item(), float((degree > 0).sum()), torch.linalg.matrix_rank(lap + lap.T).item(), torch.block_diag(lap, lap).trace().item()]
