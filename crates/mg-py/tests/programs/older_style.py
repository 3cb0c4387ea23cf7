"""As tutorials of older days are written: Variable, losses that sum by `size_average`, results written in place by position."""

import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable
from torch.nn.modules.loss import _Loss
from torch.optim.lr_scheduler import _LRScheduler
from torch.utils.data.dataloader import DataLoader, default_collate

from given import integers, normals, start

cudnn.benchmark = True


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.table = nn.Parameter(torch.zeros(5, 4))
        self.conv = nn.Conv2d(1, 3, 3)
        self.fc = nn.Linear(3 * 3 * 3 + 4, 4)

    def forward(self, x, word):
        x = F.leaky_relu(F.max_pool2d(self.conv(x), 2), 0.1, True)
        x = F.dropout(x.view(x.size(0), -1), 0.0, self.training, True)
        return F.log_softmax(self.fc(torch.cat([x, F.embedding(word, self.table, None, 1.0)], 1)), dim=1)


class Warm(_LRScheduler):
    def get_lr(self):
        return [base * min(1.0, (self.last_epoch + 1) / 3) for base in self.base_lrs]


class Spread(_Loss):
    def forward(self, output):
        each = output.exp().var(1)
        return each.sum() if self.reduction == "sum" else each.mean()


def penalty(critic, real, fake):
    """Of the critic's slopes: Gulrajani et al., 2017."""
    mix = torch.tensor(normals(9, real.size(0), 1)).sigmoid()
    between = Variable(mix * real.data + (1 - mix) * fake.data, requires_grad=True)
    out = critic(between)
    slopes = torch.autograd.grad(
        outputs=out, inputs=between, grad_outputs=torch.ones(out.size()), create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    return ((slopes.view(slopes.size(0), -1).norm(2, dim=1) - 1) ** 2).mean() * 10


def main():
    model = start(torch, Net())
    images, labels, words = torch.tensor(normals(1, 12, 1, 8, 8)), torch.tensor(integers(2, 4, 12)), torch.tensor(integers(3, 5, 12))
    loader = DataLoader(list(zip(images, words, labels)), batch_size=4, collate_fn=default_collate)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    schedule, spread = Warm(optimizer), Spread(size_average=False)
    numbers = []
    for _ in range(2):
        for data, word, target in loader:
            data, target = Variable(data), Variable(target)
            optimizer.zero_grad()
            output = model(data, word)
            loss = F.nll_loss(output, target, size_average=False) + nn.MSELoss(False)(output.exp(), F.one_hot(target, 4).float()) - spread(output)
            loss.backward()
            optimizer.step()
            numbers.append(loss.item())
        schedule.step()
        numbers.append(optimizer.param_groups[0]["lr"])
    critic = start(torch, nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2, True), nn.Linear(8, 1)), 5)
    adam = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.0, 0.9))
    real, fake = torch.tensor(normals(6, 8, 2)), torch.tensor(normals(7, 8, 2)) + 1
    for _ in range(3):
        loss = critic(fake).mean() - critic(real).mean() + penalty(critic, real, fake)
        adam.zero_grad()
        loss.backward()
        adam.step()
        numbers.append(loss.item())
    numbers.append(model.table.norm(dim=1).max().item())
    return numbers
