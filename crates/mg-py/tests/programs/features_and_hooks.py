"""Hooks that look inside: features, Grad-CAM, activations' statistics, a module printed, children replaced."""

from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F

from given import normals, start


class ConvBNReLU(nn.Sequential):
    def __init__(self, in_planes, out_planes, kernel_size=3, stride=1, groups=1):
        padding = (kernel_size - 1) // 2
        super().__init__(
            nn.Conv2d(in_planes, out_planes, kernel_size, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(out_planes), nn.ReLU6(inplace=True)
        )


class SELayer(nn.Module):
    def __init__(self, channel, reduction=4):
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(nn.Linear(channel, channel // reduction, bias=False), nn.ReLU(inplace=True), nn.Linear(channel // reduction, channel), nn.Hardsigmoid())

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.avg_pool(x).view(b, c)
        return x * self.fc(y).view(b, c, 1, 1).expand_as(x)


class FeatureExtractor:
    def __init__(self, model, layers):
        self.features = {}
        self.handles = [dict(model.named_modules())[name].register_forward_hook(self.save(name)) for name in layers]

    def save(self, name):
        def hook(module, args, output):
            self.features[name] = output.detach()

        return hook

    def close(self):
        for handle in self.handles:
            handle.remove()


def replace_relu(module):
    for name, child in module.named_children():
        if isinstance(child, nn.ReLU6):
            setattr(module, name, nn.SiLU())
        else:
            replace_relu(child)


def main():
    model = nn.Sequential(
        OrderedDict(
            stem=ConvBNReLU(3, 8, stride=2),
            depthwise=ConvBNReLU(8, 8, groups=8),
            se=SELayer(8),
            pool=nn.AdaptiveAvgPool2d((1, 1)),
            flatten=nn.Flatten(),
            classifier=nn.Linear(8, 4),
        )
    )
    start(torch, model)
    text = repr(model)
    assert "(depthwise): ConvBNReLU(" in text and "Conv2d(8, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=8, bias=False)" in text
    out = [len(text.splitlines()), sum(1 for _ in model.modules())]
    model.eval()
    x = torch.tensor(normals(1, 2, 3, 12, 12))
    extractor = FeatureExtractor(model, ["stem", "se.fc", "pool"])
    model(x)
    out += [f.mean().item() for f in extractor.features.values()]
    extractor.close()

    kept = {}
    forward = model.se.register_forward_hook(lambda m, i, o: kept.update(activation=o))
    backward = model.se.register_full_backward_hook(lambda m, gi, go: kept.update(gradient=go[0]))
    logits = model(x)
    logits[torch.arange(2), logits.argmax(1)].sum().backward()
    weights = kept["gradient"].mean(dim=(2, 3), keepdim=True)
    cam = F.relu((weights * kept["activation"]).sum(1))
    cam = cam / (cam.amax(dim=(1, 2), keepdim=True) + 1e-8)
    out += cam.mean(dim=(1, 2)).tolist()
    forward.remove()
    backward.remove()
    before = model.classifier.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    doubled = model(x)
    before.remove()
    out += [doubled.sum().item(), model(x).sum().item()]

    replace_relu(model)
    assert not any(isinstance(m, nn.ReLU6) for m in model.modules())
    out.append(model(x).norm().item())
    model.zero_grad()
    x.requires_grad_()
    model(x).max().backward()
    out.append(x.grad.abs().amax(dim=1).sum().item())
    names = [name for name, _ in model.named_parameters()]
    assert names[0] == "stem.0.weight" and "classifier.bias" in names
    body = nn.Sequential(*list(model.children())[:-1])
    out += [body(x).shape[1], len(list(model.buffers()))]
    return out
