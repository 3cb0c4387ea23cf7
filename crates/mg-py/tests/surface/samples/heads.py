"""Attention of several heads."""

_W = "L.cat([x, y, p * 0.2, q * 0.2])"  # [12, 4]
_B = "L.cat([v, w, v * 0.5])"
_OUT = "m * 0.3, w * 0.1"
_Q = "h"  # 2 steps, a batch of 3, 4 features
_REST = f"{_W} * 0.3, {_B} * 0.2"


def _call(inputs: str, between: str = "None, None, False, 0.0", more: str = "", name: str = "", first: str = f"4, 2, {_REST}", end: str = "") -> str:
    return f"F.multi_head_attention_forward({inputs}, {first}, {between}, {_OUT}{more}){end}"


SAMPLES = {
    "multi_head_attention_forward": [
        {"call": _call("h, h, h"), "order": 2, "dtypes": False},
        {"call": _call("h, k, k"), "order": 1, "dtypes": False},
        {"call": _call("h, k, h"), "order": 1, "dtypes": False},
        {"call": _call("x, y, y"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", average_attn_weights=False"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", need_weights=False", end="[0]"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", attn_mask=o[:2, :2]"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", attn_mask=~t[1:, 1:3]"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", attn_mask=L.stack([o[:2, :2], o[1:, 1:3]] * 3), need_weights=False", end="[0]"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", key_padding_mask=~t[:, :2]"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", key_padding_mask=o[:, :2], attn_mask=o[:2, :2], need_weights=False", end="[0]"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", attn_mask=L.full((2, 2), -inf, dtype=h.dtype).triu(1), is_causal=True, need_weights=False", end="[0]"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", between="v.reshape(1, 1, 4), w.reshape(1, 1, 4), False, 0.0"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", between="v.reshape(1, 1, 4), w.reshape(1, 1, 4), True, 0.0", more=", attn_mask=o[:2, :2], key_padding_mask=o[:, :2] > 2"), "order": 1, "dtypes": False},
        {"call": _call("h, b3[..., :3].permute(1, 0, 2)[:3].permute(1, 0, 2).repeat(1, 1, 1)[:, :3], k", first=f"4, 2, None, {_B} * 0.2", more=", use_separate_proj_weight=True, q_proj_weight=m, k_proj_weight=n, v_proj_weight=m * 0.5"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", more=", static_k=L.cat([r4, r4 * 0.5, r4 - 1]).reshape(6, -1, 2)[:, :5], static_v=L.cat([r4, r4 * 0.5, r4 - 1]).reshape(6, -1, 2)[:, 5:10]"), "order": 1, "dtypes": False},
        {"call": _call("h, k, k", first=f"4, 3, {_REST}"), "error": True},
        {"call": _call("h, k, k[:1]"), "error": True},
        {"call": _call("h, k, k", more=", attn_mask=o[:3, :2]"), "error": True},
        {"call": _call("h, k, k", more=", key_padding_mask=o[:2, :2]"), "error": True},
        {"call": _call("h, k, k", more=", is_causal=True"), "error": True},
    ],
}
