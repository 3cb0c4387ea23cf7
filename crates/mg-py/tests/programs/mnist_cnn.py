"""Digits by a small convolutional network: a Dataset, a DataLoader, training and testing epochs."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset

from given import normals, start


class Digits(Dataset):
    def __init__(self, count, seed, transform=None):
        faces = torch.tensor(normals(1, 10, 1, 28, 28))
        noise = torch.tensor(normals(seed, count, 1, 28, 28, scale=0.7))
        self.targets = torch.arange(count) % 10
        self.data = faces[self.targets] + noise
        self.transform = transform

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        image, target = self.data[index], int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        return image, target


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.dropout1 = nn.Dropout(0.0)
        self.dropout2 = nn.Dropout2d(0.0)
        self.fc1 = nn.Linear(16 * 12 * 12, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout2(x)
        x = torch.flatten(x, 1)
        x = self.dropout1(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, device, loader, optimizer, losses):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % 2 == 0:
            losses.append(loss.item())


def test(model, device, loader):
    model.eval()
    test_loss = 0
    correct = 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    return [test_loss / len(loader.dataset), 100.0 * correct / len(loader.dataset)]


def main():
    torch.manual_seed(1)
    use_cuda = False and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    normalize = lambda image: (image - 0.1307) / 0.3081
    train_loader = DataLoader(Digits(64, 2, normalize), batch_size=16, shuffle=False, num_workers=0, pin_memory=use_cuda)
    test_loader = DataLoader(Digits(20, 3, normalize), batch_size=10)
    model = start(torch, Net()).to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    losses = []
    for _ in range(2):
        train(model, device, train_loader, optimizer, losses)
        losses += test(model, device, test_loader)
        scheduler.step()
    losses.append(scheduler.get_last_lr()[0])
    return losses
