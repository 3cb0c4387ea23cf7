"""Stop and go on: torch.save of everything, torch.load, the same losses as without the stop; early stopping, partial loading."""

import copy
import io
import os
import tempfile

import torch
import torch.nn as nn
import torch.optim as optim

from given import normals, start


def build():
    model = start(torch, nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.Tanh(), nn.Linear(12, 1)))
    optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-3)
    scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 4], gamma=0.5)
    return model, optimizer, scheduler


def epoch(model, optimizer, scheduler, seed):
    x = torch.tensor(normals(seed, 16, 6))
    loss = nn.functional.huber_loss(model(x), x[:, :1] * x[:, 1:2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss.item()


def main():
    model, optimizer, scheduler = build()
    losses = [epoch(model, optimizer, scheduler, i) for i in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.pth.tar")
        torch.save(
            {
                "epoch": 3,
                "arch": "mlp",
                "state_dict": model.state_dict(),
                "best_acc1": max(losses),
                "optimizer": optimizer.state_dict(),
                "scheduler": scheduler.state_dict(),
                "rng": torch.get_rng_state(),
            },
            path,
        )
        through = [epoch(model, optimizer, scheduler, i) for i in range(3, 6)]
        model, optimizer, scheduler = build()
        checkpoint = torch.load(path, map_location=torch.device("cpu"), weights_only=True)
        model.load_state_dict(checkpoint["state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        torch.set_rng_state(checkpoint["rng"])
        assert checkpoint["epoch"] == 3 and checkpoint["arch"] == "mlp" and checkpoint["best_acc1"] == max(losses)
        again = [epoch(model, optimizer, scheduler, i) for i in range(3, 6)]
        assert again == through
    losses += again

    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    state = {("module." + k): v for k, v in torch.load(buffer).items()}
    state = {k.replace("module.", ""): v for k, v in state.items() if not k.endswith("3.bias")}
    other = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.Tanh(), nn.Linear(12, 1))
    missing, unexpected = other.load_state_dict(state, strict=False)
    assert missing == ["3.bias"] and unexpected == []
    try:
        other.load_state_dict(state)
        raise AssertionError("a key is missing")
    except RuntimeError as error:
        assert "Missing key" in str(error)
    best, patience, waited = None, 2, 0
    for i in range(6, 14):
        current = epoch(model, optimizer, scheduler, i)
        losses.append(current)
        if best is None or current < best:
            best, kept, waited = current, copy.deepcopy(model.state_dict()), 0
        else:
            waited += 1
            if waited >= patience:
                break
    model.load_state_dict(kept)
    for param in model[0].parameters():
        param.requires_grad = False
    model[3] = nn.Linear(model[3].in_features, 2)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return losses + [best, trainable, float(model.state_dict()["1.num_batches_tracked"])]
