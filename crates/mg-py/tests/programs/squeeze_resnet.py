"""A ResNet as in image-model zoos: squeeze-and-excite, stochastic depth, mixup and cutmix, layers with their own weight decay, EMA, hooks for CAM."""

import math
from collections import OrderedDict
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, Union

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn.init import _calculate_fan_in_and_fan_out, trunc_normal_
from torch.optim.optimizer import Optimizer, required
from torch.optim.lr_scheduler import _LRScheduler
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from given import integers, normals, start


def make_divisible(v, divisor=8, min_value=None, round_limit=0.9):
    min_value = min_value or divisor
    new_v = max(min_value, int(v + divisor / 2) // divisor * divisor)
    return new_v + divisor if new_v < round_limit * v else new_v


def drop_path(x, drop_prob: float = 0.0, training: bool = False, scale_by_keep: bool = True):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = x.new_empty(shape).bernoulli_(keep_prob)
    if keep_prob > 0.0 and scale_by_keep:
        random_tensor.div_(keep_prob)
    return x * random_tensor


class DropPath(nn.Module):
    def __init__(self, drop_prob: float = 0.0, scale_by_keep: bool = True):
        super(DropPath, self).__init__()
        self.drop_prob, self.scale_by_keep = drop_prob, scale_by_keep

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training, self.scale_by_keep)

    def extra_repr(self):
        return f"drop_prob={round(self.drop_prob,3):0.3f}"


class SEModule(nn.Module):
    def __init__(self, channels, rd_ratio=1.0 / 16, act_layer=nn.ReLU, gate_layer=nn.Sigmoid):
        super(SEModule, self).__init__()
        rd_channels = make_divisible(channels * rd_ratio, 4, round_limit=0.0)
        self.fc1 = nn.Conv2d(channels, rd_channels, kernel_size=1, bias=True)
        self.act = act_layer(inplace=True)
        self.fc2 = nn.Conv2d(rd_channels, channels, kernel_size=1, bias=True)
        self.gate = gate_layer()

    def forward(self, x):
        x_se = x.mean((2, 3), keepdim=True)
        return x * self.gate(self.fc2(self.act(self.fc1(x_se))))


class StdConv2d(nn.Conv2d):
    """Convolution with standardised weights."""

    def __init__(self, *args, eps=1e-6, **kwargs):
        super().__init__(*args, **kwargs)
        self.eps = eps

    def forward(self, x):
        weight = F.batch_norm(self.weight.reshape(1, self.out_channels, -1), None, None, training=True, momentum=0.0, eps=self.eps).reshape_as(self.weight)
        return F.conv2d(x, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: Optional[nn.Module] = None, norm_layer: Type[nn.Module] = nn.BatchNorm2d, drop_path: float = 0.0) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = norm_layer(planes)
        self.act1 = nn.ReLU(inplace=True)
        self.conv2 = StdConv2d(planes, planes, kernel_size=3, padding=1, bias=False)
        self.bn2 = norm_layer(planes)
        self.se = SEModule(planes)
        self.drop_path = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()
        self.act2 = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def zero_init_last(self):
        if getattr(self.bn2, "weight", None) is not None:
            nn.init.zeros_(self.bn2.weight)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x
        x = self.act1(self.bn1(self.conv1(x)))
        x = self.drop_path(self.se(self.bn2(self.conv2(x))))
        if self.downsample is not None:
            shortcut = self.downsample(shortcut)
        x += shortcut
        return self.act2(x)


class ResNet(nn.Module):
    def __init__(self, layers: List[int], num_classes: int = 5, in_chans: int = 3, widths: Tuple[int, ...] = (8, 12)):
        super().__init__()
        self.conv1 = nn.Conv2d(in_chans, 8, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        inplanes, stages = 8, OrderedDict()
        for i, (depth, planes) in enumerate(zip(layers, widths)):
            blocks = []
            for j in range(depth):
                stride = 2 if i and not j else 1
                down = None
                if stride != 1 or inplanes != planes:
                    down = nn.Sequential(nn.AvgPool2d(2, stride, ceil_mode=True, count_include_pad=False) if stride == 2 else nn.Identity(), nn.Conv2d(inplanes, planes, 1, bias=False), nn.BatchNorm2d(planes))
                blocks.append(BasicBlock(inplanes, planes, stride, down))
                inplanes = planes
            stages[f"layer{i + 1}"] = nn.Sequential(*blocks)
        for name, stage in stages.items():
            self.add_module(name, stage)
        self.global_pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inplanes, num_classes)
        self.init_weights()

    @torch.no_grad()
    def init_weights(self, zero_init_last: bool = True):
        for n, m in self.named_modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu", generator=None)
            elif isinstance(m, nn.Linear):
                fan_in, _ = _calculate_fan_in_and_fan_out(m.weight)
                trunc_normal_(m.weight, std=math.sqrt(1.0 / fan_in) / 0.87962566103423978)
        for m in self.modules():
            if hasattr(m, "zero_init_last"):
                m.zero_init_last()

    @torch.jit.ignore
    def no_weight_decay(self):
        return {"bn1.weight"}

    def forward_features(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x)), inplace=True))
        return self.layer2(self.layer1(x))

    def forward(self, x):
        return self.fc(self.global_pool(self.forward_features(x)).flatten(1))


class Lion(Optimizer):
    """An optimiser of one's own (Chen et al., 2023)."""

    def __init__(self, params, lr=required, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                beta1, beta2 = group["betas"]
                update = state["exp_avg"] * beta1 + p.grad * (1 - beta1)
                p.add_(torch.sign(update), alpha=-group["lr"])
                state["exp_avg"].mul_(beta2).add_(p.grad, alpha=1 - beta2)
        return loss


class WarmupCosine(_LRScheduler):
    def __init__(self, optimizer, warmup, total, last_epoch=-1):
        self.warmup, self.total = warmup, total
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch < self.warmup:
            return [base * (self.last_epoch + 1) / self.warmup for base in self.base_lrs]
        return [base * 0.5 * (1 + math.cos(math.pi * (self.last_epoch - self.warmup) / (self.total - self.warmup))) for base in self.base_lrs]


def rand_bbox(size, lam, cy, cx):
    cut = int(size[2] * math.sqrt(1 - lam))
    return max(cy - cut // 2, 0), min(cy + cut // 2, size[2]), max(cx - cut // 2, 0), min(cx + cut // 2, size[3])


def mixed(x, y, i, num_classes):
    target = torch.full((y.size()[0], num_classes), 0.1 / num_classes).scatter_(1, y.long().view(-1, 1), 1.0 - 0.1 + 0.1 / num_classes)
    lam = 0.7
    if i % 2:
        y1, y2, x1, x2 = rand_bbox(x.shape, lam, 3, 5)
        x[:, :, y1:y2, x1:x2] = x.flip(0)[:, :, y1:y2, x1:x2]
        lam = 1 - ((y2 - y1) * (x2 - x1) / (x.shape[-1] * x.shape[-2]))
    else:
        x = x * lam + x.flip(0).mul_(1.0 - lam)
    return x, target * lam + target.flip(0) * (1.0 - lam)


class SoftTargetCrossEntropy(nn.Module):
    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return torch.sum(-target * F.log_softmax(x, dim=-1), dim=-1).mean()


def main():
    torch.manual_seed(0)
    model = start(torch, ResNet([1, 2]))
    skip = model.no_weight_decay()
    groups: Dict[str, Dict[str, Any]] = {}
    for name, param in model.named_parameters():
        if not param.requires_grad:
            continue
        key = "no_decay" if param.ndim <= 1 or name.endswith(".bias") or name in skip else "decay"
        groups.setdefault(key, {"params": [], "weight_decay": 0.0 if key == "no_decay" else 0.05, "group_name": key})["params"].append(param)
    optimizer = Lion(list(groups.values()), lr=2e-3)
    scheduler = WarmupCosine(optimizer, 2, 6)
    sampler = DistributedSampler(range(12), num_replicas=2, rank=1, shuffle=False)
    data = [(torch.tensor(normals(i, 3, 12, 12)), integers(i, 5, 1)[0]) for i in range(12)]
    loader = DataLoader(data, batch_size=3, sampler=sampler, pin_memory=False)
    criterion, out = SoftTargetCrossEntropy(), []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            x, target = mixed(x, y, i, 5)
            loss = criterion(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            out += [loss.item(), scheduler.get_last_lr()[0]]
    assert drop_path(torch.ones(64, 2), 0.5, True).unique().tolist() == [0.0, 2.0] and "0.100" in repr(DropPath(0.1))
    model.eval()
    maps = {}
    model.layer2.register_forward_hook(lambda m, i, o: maps.__setitem__("a", o))
    model.layer2.register_full_backward_hook(lambda m, gi, go: maps.__setitem__("g", go[0]))
    x = data[0][0].unsqueeze(0)
    logits = model(x)
    logits[0, logits.argmax(1)].sum().backward()
    weights = maps["g"].mean(dim=(2, 3), keepdim=True)
    cam = F.relu((weights * maps["a"]).sum(1, keepdim=True))
    cam = F.interpolate(cam, size=x.shape[-2:], mode="bilinear", align_corners=False).squeeze().detach()
    cam = (cam - cam.min()) / (cam.max() - cam.min() + 1e-8)
    return out + [cam.sum().item(), cam.argmax().item(), logits.softmax(-1).max().item()]
