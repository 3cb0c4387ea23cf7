"""Modules of `nn`: how they are made, what they are called with; and, run with PyTorch, what it answers.

    python -m surface.modules        in `tests/`: writes `recorded/modules.jsonl`

An expression knows `nn`, `L` and the tensors of `inputs.py`. Parameters and buffers get numbers of their own before the module is called:
first as it is when it is made, for training, then in the other mode.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .inputs import flat, make, numbers
from .run import value

RECORDED = Path(__file__).parent / "recorded" / "modules.jsonl"
SIGN = "1 - 2 * (at[:, 0] % 2)"

# What makes a module, and what it is called with.
CASES = [
    ("nn.Identity(3, a=4)", "x"),
    *((f"nn.{name}", "x") for name in [
        "ReLU()", "ReLU6()", "SELU()", "SiLU()", "Mish()", "Hardswish()", "Hardsigmoid()", "ELU(0.5)", "CELU(alpha=0.5)", "LeakyReLU(0.2)",
        "Hardtanh(-0.5, 0.7)", "Threshold(0.5, 3.0)", "Tanh()", "Sigmoid()", "LogSigmoid()", "Softsign()", "Tanhshrink()", "Hardshrink(1.0)",
        "Softshrink(0.7)", "Softplus(2.0, 1.0)", "GELU('tanh')", "GLU(1)", "PReLU()", "PReLU(4, 0.1)", "Softmax(1)", "LogSoftmax(0)",
        "Softmin(1)", "RReLU(0.25, 0.25)", "Dropout(0.0)", "Dropout(1.0)", "AlphaDropout(0.0)", "FeatureAlphaDropout(0.0)",
    ]),
    ("nn.Softmax()", "h"),
    ("nn.Softmax2d()", "r4"),
    ("nn.Dropout1d(1.0)", "h"),
    ("nn.Dropout2d(1.0)", "r4"),
    ("nn.Dropout3d(1.0)", "r4"),
    ("nn.Linear(4, 3)", "h"),
    ("nn.Linear(4, 3, bias=False)", "x"),
    ("nn.Bilinear(4, 4, 2)", "x, y"),
    ("nn.Bilinear(4, 4, 2, bias=False)", "v, w"),
    ("nn.Embedding(3, 2)", "at"),
    ("nn.Embedding(3, 2, padding_idx=-1)", "at"),
    ("nn.EmbeddingBag(3, 2)", "at"),
    ("nn.EmbeddingBag(3, 2, mode='max', padding_idx=1)", "at"),
    ("nn.EmbeddingBag(3, 2, mode='sum', include_last_offset=True)", "at1, L.arange(6, device=x.device)"),
    ("nn.CosineSimilarity()", "x, y"),
    ("nn.PairwiseDistance(keepdim=True)", "x, y"),
    ("nn.LayerNorm(4)", "h"),
    ("nn.LayerNorm((3, 4), 0.1, bias=False)", "h"),
    ("nn.LayerNorm(4, elementwise_affine=False)", "h"),
    ("nn.RMSNorm(4)", "h"),
    ("nn.RMSNorm((3, 4), 0.1, False)", "h"),
    ("nn.GroupNorm(3, 3)", "h"),
    ("nn.GroupNorm(1, 3, 0.1, False)", "r4"),
    ("nn.LocalResponseNorm(2, 0.5)", "r4"),
    ("nn.BatchNorm1d(4)", "x"),
    ("nn.BatchNorm1d(3, 0.1, 0.5)", "h"),
    ("nn.BatchNorm1d(3, momentum=None)", "h"),
    ("nn.BatchNorm1d(3, affine=False)", "h"),
    ("nn.BatchNorm1d(3, track_running_stats=False)", "h"),
    ("nn.BatchNorm2d(3)", "r4"),
    ("nn.BatchNorm3d(2)", "r4.unsqueeze(0)"),
    ("nn.InstanceNorm1d(3)", "h"),
    ("nn.InstanceNorm1d(2, affine=True)", "h[:, 0]"),
    ("nn.InstanceNorm2d(3, affine=True, track_running_stats=True)", "r4"),
    ("nn.InstanceNorm3d(2)", "r4.unsqueeze(0)"),
    *((f"nn.{kind}Pad1d({more})", "h") for kind, more in [("Constant", "2, 1.5"), ("Zero", "(1, 2)"), ("Reflection", "2"), ("Replication", "(3, 0)"), ("Circular", "1")]),
    *((f"nn.{kind}Pad2d({more})", "r4") for kind, more in [("Constant", "2, 1.5"), ("Zero", "(1, 2, 0, 1)"), ("Reflection", "2"), ("Replication", "(3, 0, 1, 1)"), ("Circular", "1")]),
    *((f"nn.{kind}Pad3d({more})", "r4.unsqueeze(0)") for kind, more in [("Constant", "2, 1.5"), ("Zero", "1"), ("Reflection", "1"), ("Replication", "(3, 0, 1, 1, 0, 2)"), ("Circular", "1")]),
    *((f"nn.Conv1d({more})", "h") for more in ["3, 2, 2", "3, 6, 3, 2, 1, groups=3, bias=False", "3, 2, 3, padding='same', dilation=2, padding_mode='circular'", "3, 2, 2, padding='valid', padding_mode='reflect'"]),
    *((f"nn.Conv2d({more})", "r4") for more in ["3, 2, 3", "3, 4, (2, 3), (2, 1), (1, 2), (1, 2)", "3, 2, 2, padding='same', padding_mode='reflect'", "3, 2, 3, padding=(1, 2), padding_mode='replicate'", "3, 2, 3, padding=2, padding_mode='circular'"]),
    ("nn.Conv2d(3, 2, 3)", "r4[0]"),
    *((f"nn.Conv3d({more})", "r4[:, None]") for more in ["1, 2, 2", "1, 2, (1, 2, 3), padding='same'", "1, 2, 2, padding=1, padding_mode='replicate'"]),
    *((f"nn.ConvTranspose1d({more})", "h") for more in ["3, 2, 2", "3, 6, 3, 2, 1, 1, 3, False"]),
    ("nn.ConvTranspose2d(3, 2, 3, 2, 1)", "r4, [8, 10]"),
    ("nn.ConvTranspose2d(3, 2, 2, (3, 2), dilation=(1, 2))", "r4"),
    ("nn.ConvTranspose3d(1, 2, 2, 2, (1, 0, 0))", "r4[:, None]"),
    *((f"nn.{kind}Pool1d({more})", "h") for kind, more in [("Max", "2"), ("Max", "3, 1, 1, return_indices=True"), ("Avg", "3, 2, 1, True, False"), ("AdaptiveAvg", "3"), ("AdaptiveMax", "(3,)"), ("LP", "2, 2")]),
    *((f"nn.{kind}Pool2d({more})", "r4") for kind, more in [("Max", "2"), ("Max", "(2, 3), 1, (1, 0), ceil_mode=True"), ("Avg", "3, 2, 1"), ("Avg", "2, divisor_override=3"), ("AdaptiveAvg", "(None, 2)"), ("AdaptiveMax", "2, True"), ("LP", "3, 2, 1")]),
    *((f"nn.{kind}Pool3d({more})", "r4") for kind, more in [("Max", "2"), ("Avg", "2, 1"), ("AdaptiveAvg", "2"), ("AdaptiveMax", "(1, 2, 3)"), ("LP", "1, 2")]),
    *((f"nn.MaxUnpool{n}d(2)", f"*L.nn.functional.max_pool{n}d({x}, 2, return_indices=True)") for n, x in [(1, "h"), (2, "r4[..., :4]"), (3, "r4[:, :2, :, :4]")]),
    ("nn.FractionalMaxPool2d(2, (2, 3), _random_samples=r4[:, :, 0, :2].sigmoid().detach())", "r4"),
    ("nn.FractionalMaxPool3d(2, (1, 2, 3), return_indices=True, _random_samples=r4[:1, :2, 0, :3].sigmoid().detach())", "r4.unsqueeze(0)"),
    ("nn.Unfold((2, 3), padding=1)", "r4"),
    ("nn.Fold((2, 6), 2)", "r4.reshape(2, 12, 5)"),
    ("nn.Upsample(scale_factor=2)", "r4"),
    ("nn.Upsample((3, 7), mode='bilinear', align_corners=True)", "r4"),
    ("nn.UpsamplingNearest2d(scale_factor=3)", "r4"),
    ("nn.UpsamplingBilinear2d((3, 7))", "r4"),
    ("nn.PixelShuffle(2)", "h.reshape(4, 2, 3)"),
    ("nn.PixelUnshuffle(2)", "h.reshape(1, 4, 6)"),
    ("nn.ChannelShuffle(3)", "r4.reshape(2, 6, 10)"),
    ("nn.Flatten()", "r4"),
    ("nn.Flatten(0, 1)", "r4"),
    ("nn.Unflatten(-1, (2, 2))", "h"),
    ("nn.Unflatten(1, (-1, 3))", "h"),
    ("nn.ParameterList([x, y.detach()])[1:]", None),
    ("nn.ParameterDict({'a': x, 'b': y.detach()})", None),
    ("nn.ModuleDict({'a': nn.Linear(4, 2), 'b': nn.BatchNorm1d(2)})", None),
    ("nn.ModuleList([nn.PReLU(), nn.GroupNorm(1, 2)])", None),
    ("nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2), nn.LogSoftmax(1))", "x"),
    ("nn.L1Loss()", "x, y"),
    ("nn.MSELoss(reduction='sum')", "x, y"),
    ("nn.SmoothL1Loss(beta=0.5)", "x, y"),
    ("nn.HuberLoss('sum', 0.5)", "x, y"),
    ("nn.NLLLoss(p[0].detach(), ignore_index=2)", "x, l"),
    ("nn.CrossEntropyLoss(p[0].detach(), label_smoothing=0.1)", "x, l"),
    ("nn.BCELoss(p.detach())", "u, L.sigmoid(y)"),
    ("nn.BCEWithLogitsLoss(pos_weight=p[0].detach())", "x, u"),
    ("nn.KLDivLoss(reduction='batchmean')", "x, u"),
    ("nn.KLDivLoss(log_target=True)", "x, y"),
    ("nn.PoissonNLLLoss(False, True)", "p, q"),
    ("nn.GaussianNLLLoss(full=True)", "x, y, p"),
    ("nn.HingeEmbeddingLoss(0.5)", f"x[:, 0], {SIGN}"),
    ("nn.MarginRankingLoss(0.5)", f"x[:, 0], y[:, 0], {SIGN}"),
    ("nn.CosineEmbeddingLoss(0.1)", f"x, y, {SIGN}"),
    ("nn.TripletMarginLoss(2.0, swap=True)", "x, y, p"),
    ("nn.TripletMarginWithDistanceLoss(margin=2.0, swap=True)", "x, y, p"),
    ("nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(1), reduction='sum')", "x, y, p"),
    ("nn.SoftMarginLoss()", f"x[:, 0], {SIGN}"),
    ("nn.MultiMarginLoss(2, 0.5, p[0].detach())", "x, l"),
    ("nn.MultiLabelMarginLoss()", "x, at - 1"),
    ("nn.MultiLabelSoftMarginLoss(p[0].detach())", "x, u"),
]  # fmt: skip


def run(L, made: str, called: str | None, device: str = "cpu") -> dict:
    """Names and shapes of the state at first; answers in both modes; the state after that."""
    names = {**make(L, L.nn.functional, device=device), "nn": L.nn}
    module = eval(made, names).to(L.float64).to(device)  # noqa: S307 - our own cases
    state = module.state_dict()
    shapes = {name: [str(t.dtype).split(".")[-1] if "." in str(t.dtype) else t.dtype.name, list(t.shape)] for name, t in state.items()}
    own = {}
    for seed, (name, t) in enumerate(state.items()):
        if t.dtype.is_floating_point:
            own[name] = L.tensor(numbers(seed, t.numel(), 0.5, 1.5), dtype=L.float64, device=device).reshape(t.shape)
        else:
            own[name] = t
    module.load_state_dict(own)
    answers = []
    for training in (True, False) if called is not None else ():
        module.train(training)
        answers += [value(part) for part in flat(eval(f"module({called})", {**names, "module": module}))]  # noqa: S307
    return {"shapes": shapes, "answers": answers, "after": {name: value(t) for name, t in module.state_dict().items()}}


def main() -> int:
    import torch

    from .record import rounded

    lines = [json.dumps(rounded({"made": made, "called": called, **run(torch, made, called)}), separators=(",", ":")) for made, called in CASES]
    RECORDED.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} modules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
