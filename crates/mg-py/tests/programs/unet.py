"""A U-Net: transposed convolutions and interpolation on the way up, skips, a dice loss, double convolutions."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from given import normals, start


class DoubleConv(nn.Module):
    def __init__(self, in_channels, out_channels, mid_channels=None):
        super().__init__()
        if not mid_channels:
            mid_channels = out_channels
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, mid_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(mid_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(mid_channels, out_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class Up(nn.Module):
    def __init__(self, in_channels, out_channels, bilinear=True):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(in_channels, out_channels, in_channels // 2)
        else:
            self.up = nn.ConvTranspose2d(in_channels, in_channels // 2, kernel_size=2, stride=2)
            self.conv = DoubleConv(in_channels - in_channels // 4, out_channels)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        diffY = x2.size()[2] - x1.size()[2]
        diffX = x2.size()[3] - x1.size()[3]
        x1 = F.pad(x1, [diffX // 2, diffX - diffX // 2, diffY // 2, diffY - diffY // 2])
        return self.conv(torch.cat([x2, x1], dim=1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inc = DoubleConv(1, 4)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(4, 8))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(8, 8))
        self.up1 = Up(16, 8)
        self.up2 = Up(8, 4, bilinear=False)
        self.up2.conv = DoubleConv(8, 4)
        self.outc = nn.Conv2d(4, 2, kernel_size=1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        return self.outc(self.up2(self.up1(x3, x2), x1))


def dice_coeff(input: Tensor, target: Tensor, reduce_batch_first: bool = False, epsilon: float = 1e-6):
    assert input.size() == target.size()
    sum_dim = (-1, -2) if input.dim() == 2 or not reduce_batch_first else (-1, -2, -3)
    inter = 2 * (input * target).sum(dim=sum_dim)
    sets_sum = input.sum(dim=sum_dim) + target.sum(dim=sum_dim)
    sets_sum = torch.where(sets_sum == 0, inter, sets_sum)
    return ((inter + epsilon) / (sets_sum + epsilon)).mean()


def main():
    net = start(torch, UNet())
    net = net.to(memory_format=torch.channels_last)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9, foreach=True)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=0)
    criterion = nn.CrossEntropyLoss()
    losses = []
    for i in range(3):
        images = torch.tensor(normals(i, 2, 1, 18, 16)).to(device="cpu", dtype=torch.float32, memory_format=torch.channels_last)
        masks = (F.avg_pool2d(images, 5, stride=1, padding=2).squeeze(1) > 0).to(torch.long)
        pred = net(images)
        loss = criterion(pred, masks)
        one_hot = F.one_hot(masks, 2).permute(0, 3, 1, 2).float()
        dice = dice_coeff(F.softmax(pred, dim=1).float().flatten(0, 1), one_hot.flatten(0, 1), reduce_batch_first=False)
        loss += 1 - dice
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        scheduler.step(dice)
        losses += [loss.item(), dice.item(), optimizer.param_groups[0]["lr"]]
    with torch.no_grad():
        small = F.interpolate(pred, size=(9, 8), mode="nearest")
        large = F.interpolate(pred, scale_factor=1.5, mode="bicubic", align_corners=False)
        losses += [small.mean().item(), large.abs().mean().item(), pred.argmax(dim=1).float().mean().item()]
    return losses
