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
from .run import gradients, value

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
    ("nn.DataParallel(nn.Linear(4, 3))", "x"),
    ("nn.CTCLoss()", "x.log_softmax(1).unsqueeze(1), L.tensor([[1, 2]], device=x.device), L.tensor([3]), L.tensor([2])"),
    ("nn.CTCLoss(3, 'sum', True)", "h.log_softmax(2).transpose(0, 1), L.tensor([[1, 2], [0, 0]], device=x.device), [3, 3], [2, 1]"),
    ("nn.AdaptiveLogSoftmaxWithLoss(4, 9, [2, 5], 2.0)", "x, L.tensor([0, 5, 8], device=x.device)"),
    ("nn.AdaptiveLogSoftmaxWithLoss(4, 9, [3], head_bias=True)", "x[0], L.tensor(1, device=x.device)"),
    ("nn.LinearCrossEntropyLoss(4, 9, bias=True, label_smoothing=0.1)", "x, L.tensor([0, 5, 8], device=x.device)"),
    ("nn.LinearCrossEntropyLoss(4, 3, out_features=(2,), reduction='sum', ignore_index=1)", "x, L.tensor([[0, 1], [2, 0], [1, 1]], device=x.device)"),
    ("nn.NLLLoss2d()", "h.log_softmax(1), at[:2].repeat(1, 1)"),
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
    ("nn.RNN(4, 3)", "h"),
    ("nn.RNN(4, 3, 2, nonlinearity='relu', batch_first=True, bidirectional=True)", "h"),
    ("nn.RNN(4, 3, bias=False)", "x, n[:1, :3]"),
    ("nn.GRU(4, 3, 2)", "h, k[..., :3]"),
    ("nn.GRU(4, 3, 2, bidirectional=True, batch_first=True)", "h"),
    ("nn.GRU(4, 3, bias=False, batch_first=True)", "x"),
    ("nn.LSTM(4, 3)", "h"),
    ("nn.LSTM(4, 3, 2, bidirectional=True)", "h"),
    ("nn.LSTM(4, 3, 2, batch_first=True, proj_size=2)", "h"),
    ("nn.LSTM(4, 3, 2, bidirectional=True, proj_size=2, bias=False)", "h, (r4[0, 0, :, :3][:, None, :2].repeat(1, 3, 1) * 0.1, r4[0, 0, :, :3][:, None].repeat(1, 3, 1) * 0.1)"),
    ("nn.LSTM(4, 3)", "x"),
    *((f"nn.{kind}(4, 3, 2, bidirectional=True)", "nn.utils.rnn.pack_padded_sequence(h, [2, 2, 1])") for kind in ("RNN", "GRU", "LSTM")),
    *((f"nn.{kind}(4, 3, batch_first=True)", "nn.utils.rnn.pack_padded_sequence(r4[..., :4].flatten(1, 2)[:, :4], [3, 4], batch_first=True, enforce_sorted=False)") for kind in ("RNN", "GRU", "LSTM")),
    ("nn.RNNCell(4, 3)", "x"),
    ("nn.RNNCell(4, 3, nonlinearity='relu', bias=False)", "x, n[:3]"),
    ("nn.GRUCell(4, 3)", "x"),
    ("nn.GRUCell(4, 3, bias=False)", "v, n[0]"),
    ("nn.LSTMCell(4, 3)", "x"),
    ("nn.LSTMCell(4, 3, bias=False)", "x, (n[:3], n[1:])"),
    ("nn.MultiheadAttention(4, 2)", "h, h, h"),
    ("nn.MultiheadAttention(4, 2, batch_first=True, bias=False)", "h, k, k"),
    ("nn.MultiheadAttention(4, 1, add_bias_kv=True, add_zero_attn=True)", "h, k, h"),
    ("nn.MultiheadAttention(4, 2, kdim=3, vdim=4, batch_first=True)", "h, b3, b3.repeat(1, 1, 2)[..., :4], average_attn_weights=False"),
    ("nn.MultiheadAttention(4, 2, batch_first=True)", "h, k, k, key_padding_mask=~t[:2, :3], attn_mask=~t[:, 1:]"),
    ("nn.MultiheadAttention(4, 4)", "x, y, y"),
    *((f"nn.TransformerEncoderLayer(4, 2, 6, 0.0{more})", "h") for more in ("", ", 'gelu'", ", batch_first=True, norm_first=True", ", bias=False", ", layer_norm_eps=0.1, activation=nn.functional.silu")),
    ("nn.TransformerEncoderLayer(4, 2, 6, 0.0)", "h, src_mask=~t[:2, :2], src_key_padding_mask=~t[:, 2:]"),
    ("nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0), 2, nn.LayerNorm(4), enable_nested_tensor=False)", "h, o[:2, :2]"),
    ("nn.TransformerDecoderLayer(4, 2, 6, 0.0)", "h, k"),
    ("nn.TransformerDecoderLayer(4, 2, 6, 0.0, norm_first=True, batch_first=True)", "h, k[:, :2], tgt_mask=nn.Transformer.generate_square_subsequent_mask(3).to(h), tgt_is_causal=True"),
    ("nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6, 0.0), 2)", "h, k, memory_mask=o[:2, :2], tgt_key_padding_mask=o[:, :2] > 2"),
    ("nn.Transformer(4, 2, 1, 1, 6, 0.0)", "h, k"),
    ("nn.Transformer(4, 2, 1, 2, 6, 0.0, batch_first=True, norm_first=True)", "h, k[:, :2], src_mask=o[:, 1:] > 2, tgt_mask=nn.Transformer.generate_square_subsequent_mask(2).to(h)"),
    ("nn.utils.weight_norm(nn.Linear(4, 3))", "x"),
    ("nn.utils.weight_norm(nn.Linear(4, 3), dim=None)", "x"),
    ("nn.utils.spectral_norm(nn.Linear(4, 3))", "x"),
    ("nn.utils.parametrizations.weight_norm(nn.Linear(4, 3), dim=1)", "x"),
    ("nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3), n_power_iterations=2)", "x"),
    ("nn.utils.fuse_linear_bn_eval(nn.Linear(4, 3).eval(), nn.BatchNorm1d(3).eval())", "x"),
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
    answers, found = [], {}
    for training in (True, False) if called is not None else ():
        module.train(training)
        parts = flat(eval(f"module({called})", {**names, "module": module}))  # noqa: S307
        answers += [value(part) for part in parts if part is not None]
        own = dict(module.named_parameters())
        by = gradients(L, parts, list(own.values()), 7, create_graph=False) if own else None
        for name, g in zip(own, by or ()):
            found[f"{name} {'train' if training else 'eval'}"] = None if g is None else value(g)["values"]
    after = {name: value(t) for name, t in module.state_dict().items()}
    return {"shapes": shapes, "answers": answers, "gradients": found, "after": after, "repr": repr(module)}


def main() -> int:
    import torch

    from .record import rounded

    lines = [json.dumps(rounded({"made": made, "called": called, **run(torch, made, called)}), separators=(",", ":")) for made, called in CASES]
    RECORDED.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} modules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
