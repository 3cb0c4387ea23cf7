"""A vision transformer: patches by a strided convolution, a class token, nn.TransformerEncoder beside blocks of one's own."""

import torch
from torch import nn

from given import integers, normals, start


def pair(t):
    return t if isinstance(t, tuple) else (t, t)


class Attention(nn.Module):
    def __init__(self, dim, heads=2, dim_head=8, dropout=0.0):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads, self.scale = heads, dim_head**-0.5
        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim=-1)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(dropout))

    def forward(self, x):
        x = self.norm(x)
        b, n, _ = x.shape
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (t.reshape(b, n, self.heads, -1).permute(0, 2, 1, 3) for t in qkv)
        dots = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        out = torch.einsum("bhij,bhjd->bhid", self.attend(dots), v)
        return self.to_out(out.transpose(1, 2).flatten(2))


class ViT(nn.Module):
    def __init__(self, *, image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels=3, pool="cls"):
        super().__init__()
        (ih, iw), (ph, pw) = pair(image_size), pair(patch_size)
        assert ih % ph == 0 and iw % pw == 0, "image dimensions must be divisible by the patch size"
        self.patch_embed = nn.Conv2d(channels, dim, kernel_size=(ph, pw), stride=(ph, pw))
        self.pos_embedding = nn.Parameter(torch.randn(1, (ih // ph) * (iw // pw) + 1, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.blocks = nn.ModuleList([])
        for _ in range(depth):
            ff = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, mlp_dim), nn.GELU(), nn.Dropout(0.0), nn.Linear(mlp_dim, dim))
            self.blocks.append(nn.ModuleList([Attention(dim, heads), ff]))
        layer = nn.TransformerEncoderLayer(dim, heads, mlp_dim, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)
        self.pool = pool
        self.mlp_head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, num_classes))

    def forward(self, img):
        x = self.patch_embed(img).flatten(2).transpose(1, 2)
        b, n, _ = x.shape
        x = torch.cat((self.cls_token.expand(b, -1, -1), x), dim=1)
        x += self.pos_embedding[:, : (n + 1)]
        for attn, ff in self.blocks:
            x = attn(x) + x
            x = ff(x) + x
        x = self.encoder(x)
        x = x.mean(dim=1) if self.pool == "mean" else x[:, 0]
        return self.mlp_head(x)


def main():
    v = ViT(image_size=16, patch_size=4, num_classes=5, dim=16, depth=2, heads=2, mlp_dim=32)
    start(torch, v)
    optimizer = torch.optim.AdamW(v.parameters(), lr=3e-3, weight_decay=0.05)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=4)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    losses = []
    for i in range(4):
        img = torch.tensor(normals(i, 3, 3, 16, 16))
        loss = criterion(v(img), torch.tensor(integers(i, 5, 3)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses += [loss.item(), scheduler.get_last_lr()[-1]]
    v.pool = "mean"
    v.eval()
    with torch.no_grad():
        losses += v(img).argmax(dim=-1).float().tolist()
    return losses
