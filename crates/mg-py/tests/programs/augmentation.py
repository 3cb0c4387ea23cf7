"""A spatial transformer, and augmentation by grids, flips, crops, cutout, blur, on batches."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from given import integers, normals, start


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(nn.Conv2d(1, 4, 5), nn.MaxPool2d(2, stride=2), nn.ReLU(True), nn.Conv2d(4, 5, 5), nn.MaxPool2d(2, stride=2), nn.ReLU(True))
        self.fc_loc = nn.Sequential(nn.Linear(5 * 1 * 1, 8), nn.ReLU(True), nn.Linear(8, 3 * 2))
        self.head = nn.Linear(16 * 16, 4)

    def identity(self):
        self.fc_loc[2].weight.data.mul_(0.1)
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))
        return self

    def stn(self, x):
        xs = self.localization(x)
        xs = xs.view(-1, 5 * 1 * 1)
        theta = self.fc_loc(xs).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)

    def forward(self, x):
        return self.head(self.stn(x).flatten(1))


def rotate(images, degrees):
    angle = torch.tensor([d * math.pi / 180 for d in degrees])
    zero = torch.zeros_like(angle)
    theta = torch.stack([torch.stack([angle.cos(), -angle.sin(), zero], -1), torch.stack([angle.sin(), angle.cos(), zero], -1)], dim=1)
    grid = F.affine_grid(theta, list(images.shape), align_corners=True)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=True)


def blur(images, sigma=1.0):
    r = torch.arange(-2, 3, dtype=images.dtype)
    kernel = torch.exp(-(r**2) / (2 * sigma**2))
    kernel /= kernel.sum()
    c = images.shape[1]
    weight = torch.outer(kernel, kernel).expand(c, 1, 5, 5)
    return F.conv2d(F.pad(images, (2, 2, 2, 2), mode="reflect"), weight, groups=c)


def mixup(x, y, lam, permutation, classes):
    target = F.one_hot(y, classes).to(x.dtype)
    return lam * x + (1 - lam) * x[permutation], lam * target + (1 - lam) * target[permutation]


def main():
    net = start(torch, SpatialTransformer()).identity()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    out = []
    for i in range(3):
        x = torch.tensor(normals(i, 4, 1, 16, 16))
        y = torch.tensor(integers(i, 4, 4))
        x = torch.where(torch.tensor(integers(9, 2, 4, 1, 1, 1)).bool(), x.flip(-1), x)
        x = rotate(x, [10.0, -20.0, 5.0, 0.0])
        top, left = integers(i, 8, 2)
        x[:, :, top : top + 4, left : left + 4] = 0.0
        padded = F.pad(x, (2,) * 4, "replicate")
        x = padded[..., top % 4 : top % 4 + 16, left % 4 : left % 4 + 16]
        x, target = mixup(blur(x), y, 0.7, torch.tensor([2, 3, 0, 1]), 4)
        loss = criterion(net(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out += [loss.item(), net.fc_loc[2].bias.grad.norm().item()]
    image = torch.tensor(normals(5, 3, 9, 9)).sigmoid()
    out.append(F.interpolate(image[None], size=(5, 5), mode="bilinear", antialias=True).mean().item())
    out.append(F.interpolate(image[None], (14, 14), mode="bicubic", align_corners=True).std().item())
    out.append(torch.rot90(image, 1, [1, 2])[0, 0, 0].item())
    patches = F.unfold(image[None], kernel_size=3, stride=3)
    again = F.fold(patches, (9, 9), kernel_size=3, stride=3)
    assert torch.equal(again[0], image)
    windows = image.unfold(1, 3, 3).unfold(2, 3, 3)
    out += [windows.std(dim=(3, 4)).sum().item(), F.pixel_shuffle(image.repeat(4, 1, 1)[None], 2).sum().item()]
    return out
