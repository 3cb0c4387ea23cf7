"""Knowledge distillation: a frozen teacher, softened targets, hooks that collect features, early stopping, metrics per class."""

import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, Subset, TensorDataset, random_split

from given import integers, normals, start


class EarlyStopping:
    """Stops when the validation loss does not get better for some epochs."""

    def __init__(self, patience=7, verbose=False, delta=0, path="checkpoint.pt", trace_func=print):
        self.patience, self.verbose, self.delta, self.path, self.trace_func = patience, verbose, delta, path, trace_func
        self.counter, self.best_score, self.early_stop, self.val_loss_min = 0, None, False, np.inf

    def __call__(self, val_loss, model):
        score = -val_loss
        if self.best_score is None:
            self.best_score = score
            self.save_checkpoint(val_loss, model)
        elif score < self.best_score + self.delta:
            self.counter += 1
            if self.counter >= self.patience:
                self.early_stop = True
        else:
            self.best_score = score
            self.save_checkpoint(val_loss, model)
            self.counter = 0

    def save_checkpoint(self, val_loss, model):
        torch.save(model.state_dict(), self.path)
        self.val_loss_min = val_loss


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, kernel_size=3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.MaxPool2d(kernel_size=2, stride=2),
            nn.Conv2d(width, width, kernel_size=3, padding=1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((2, 2)),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.0), nn.Linear(width * 4, 4))

    def forward(self, x):
        return self.classifier(self.features(x))


class CosineRegressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.regressor = nn.Conv2d(4, 8, kernel_size=1)

    def forward(self, s, t):
        return F.cosine_embedding_loss(self.regressor(s).flatten(1), t.flatten(1), target=torch.ones(s.size(0)).to(s.device))


def main():
    torch.manual_seed(0)
    x = torch.tensor(normals(1, 48, 1, 8, 8))
    y = torch.tensor(integers(2, 4, 48))
    x[torch.arange(48), 0, y, y] += 3.0
    train_set, val_set = Subset(TensorDataset(x, y), range(32)), Subset(TensorDataset(x, y), list(range(32, 48)))
    assert [len(s) for s in random_split(TensorDataset(x, y), [0.75, 0.25], generator=torch.Generator().manual_seed(42))] == [36, 12]
    train_loader = DataLoader(train_set, batch_size=16, shuffle=False, num_workers=0, pin_memory=False, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=16)
    teacher, student, regressor = start(torch, Net(8), 1), start(torch, Net(4), 2), start(torch, CosineRegressor(), 3)
    teacher.eval()
    for param in teacher.parameters():
        param.requires_grad = False
    found = {}
    handles = [
        net.features[5].register_forward_hook(lambda module, args, output, name=name: found.__setitem__(name, output))
        for name, net in (("teacher", teacher), ("student", student))
    ]
    optimizer = torch.optim.SGD([{"params": student.parameters()}, {"params": regressor.parameters(), "lr": 0.01}], lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=0, threshold=1e-2, min_lr=1e-4)
    criterion, kd = nn.CrossEntropyLoss(label_smoothing=0.1), nn.KLDivLoss(reduction="batchmean")
    T, out = 4.0, []
    with tempfile.TemporaryDirectory() as folder:
        stopping = EarlyStopping(patience=2, path=os.path.join(folder, "best.pt"))
        for epoch in range(6):
            student.train()
            running_loss = 0.0
            for inputs, labels in train_loader:
                optimizer.zero_grad(set_to_none=True)
                with torch.no_grad():
                    teacher_logits = teacher(inputs)
                logits = student(inputs)
                soft = kd(F.log_softmax(logits / T, dim=-1), F.softmax(teacher_logits / T, dim=-1)) * T * T
                loss = 0.25 * soft + 0.75 * criterion(logits, labels) + 0.1 * regressor(found["student"], found["teacher"])
                loss.backward()
                optimizer.step()
                running_loss += loss.item() * inputs.size(0)
            student.eval()
            correct, val_loss, confusion = 0, 0.0, torch.zeros(4, 4, dtype=torch.int64)
            with torch.inference_mode():
                for inputs, labels in val_loader:
                    outputs = student(inputs)
                    val_loss += criterion(outputs, labels).item() * len(labels)
                    _, predicted = torch.max(outputs.data, 1)
                    correct += (predicted == labels).sum().item()
                    for t, p in zip(labels.view(-1), predicted.view(-1)):
                        confusion[t.long(), p.long()] += 1
            scheduler.step(val_loss / 16)
            stopping(val_loss / 16, student)
            per_class = confusion.diag() / confusion.sum(1).clamp(min=1)
            out += [running_loss / 32, val_loss / 16, correct / 16, per_class.mean().item(), optimizer.param_groups[0]["lr"], scheduler.get_last_lr()[1]]
            if stopping.early_stop:
                break
        student.load_state_dict(torch.load(os.path.join(folder, "best.pt"), map_location="cpu", weights_only=True))
    for handle in handles:
        handle.remove()
    top = student(x).topk(2, 1, True, True)[1].t()
    top1 = top.eq(y.view(1, -1).expand_as(top))[:1].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / 48)
    return out + [top1.item(), stopping.val_loss_min]
