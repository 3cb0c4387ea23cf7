"""Images as bytes, tables with gaps, mixed dtypes, NumPy at both ends."""

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler, default_collate

from given import integers, normals


class Table(Dataset):
    def __init__(self, features, target, transform=None):
        self.features = torch.as_tensor(features, dtype=torch.float32)
        self.target = torch.from_numpy(target)
        self.transform = transform

    def __len__(self):
        return self.features.shape[0]

    def __getitem__(self, idx):
        if torch.is_tensor(idx):
            idx = idx.tolist()
        sample = {"features": self.features[idx], "target": self.target[idx], "name": f"row {idx}"}
        return self.transform(sample) if self.transform else sample


class ByLength(Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return iter(torch.argsort(torch.tensor([len(x) for x in self.data])).tolist())

    def __len__(self):
        return len(self.data)


def to_tensor(pic):
    img = torch.from_numpy(pic.transpose((2, 0, 1))).contiguous()
    return img.to(dtype=torch.get_default_dtype()).div(255) if isinstance(img, torch.ByteTensor) or img.dtype == torch.uint8 else img


def main():
    out = []
    image = np.array(integers(1, 256, 8, 8, 3), dtype=np.uint8)
    tensor = to_tensor(image)
    mean = torch.as_tensor([0.485, 0.456, 0.406], dtype=tensor.dtype)
    std = torch.as_tensor([0.229, 0.224, 0.225])
    tensor = tensor.sub(mean.view(-1, 1, 1)).div_(std[:, None, None])
    out += [tensor.mean().item(), tensor.std().item()]
    back = tensor.mul(std[:, None, None]).add_(mean[:, None, None]).mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to("cpu", torch.uint8).numpy()
    assert np.array_equal(back, image) and back.dtype == np.uint8
    grey = (image @ np.array([0.299, 0.587, 0.114])).astype(np.float32)
    out.append(float(np.mean(torch.from_numpy(grey)[None].numpy())))
    out.append(float(np.mean(np.asarray(tensor)) + np.sqrt(np.abs(tensor)).sum()))

    table = np.array(normals(2, 12, 4))
    table[3, 1] = table[7, 2] = np.nan
    x = torch.tensor(table)
    assert x.dtype == torch.float64
    holes = torch.isnan(x)
    x = torch.where(holes, torch.nanmean(x, dim=0, keepdim=True), x)
    x = (x - x.mean(0)) / x.std(0, unbiased=False)
    low, high = torch.quantile(x, torch.tensor([0.1, 0.9], dtype=x.dtype), dim=0)
    x = x.clamp(low, high).float()
    out += [x.sum().item(), int(holes.sum())]
    codes = torch.tensor(integers(3, 4, 12), dtype=torch.int32)
    x = torch.cat([x, F.one_hot(codes.long(), num_classes=4)], dim=1)
    assert x.dtype is torch.float32 and (codes // 2).dtype == torch.int32 and (codes / 2).dtype == torch.float32
    half = x.half() @ x.half().T
    out += [half.float().trace().item(), (x.bfloat16() * 3).float().sum().item(), float((codes % 3 == 1).sum())]

    data = Table(x.numpy(), np.array(integers(4, 2, 12)), transform=lambda s: {**s, "features": s["features"] * 2})
    for batch in DataLoader(data, batch_size=5, drop_last=False):
        assert isinstance(batch["name"], list) and batch["target"].dtype == torch.int64
        out += [batch["features"].sum().item(), batch["target"].float().mean().item()]
    strings = ["ccc", "a", "bbbbb", "dd"]
    for batch in DataLoader(strings, batch_sampler=BatchSampler(ByLength(strings), 3, False), collate_fn=lambda b: [len(s) for s in b]):
        out += batch
    assert sorted(i for i in RandomSampler(strings)) == [0, 1, 2, 3] and list(SequentialSampler(strings)) == [0, 1, 2, 3]
    assert set(WeightedRandomSampler([0.0, 1.0, 0.0, 2.0], 20, replacement=True)) <= {1, 3}
    assert sorted(SubsetRandomSampler([1, 3])) == [1, 3]
    both = default_collate([(1, 2.5, np.float32(3)), (4, 5.5, np.float32(6))])
    out += [float(both[0].sum()), both[1].sum().item(), both[2].sum().item()]
    order = np.argsort(-x[:, 0].numpy())
    out += x[order.copy()][:3, 0].tolist()
    out.append(len(set(map(tuple, torch.nonzero(holes).tolist()))))
    return out
