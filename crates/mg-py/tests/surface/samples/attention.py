"""Attention."""

A = "F.scaled_dot_product_attention"
Q, K, V = "r4", "r4[:, :, :3].flip(3)", "h[:, :, [2, 0, 1]].unsqueeze(3).expand(2, 3, 3, 2)"
HEADS = "h.reshape(1, 6, 2, 2), k.reshape(1, 3, 4, 2), h.reshape(1, 3, 4, 2)"


def attention(given: str, mask: str = "") -> dict[str, str]:
    """A call; of PyTorch's ways to compute it one has second derivatives, and takes no mask of truth values."""
    ours, theirs = (f", {mask}", f", L.where({mask}, 0.0, -inf).double()") if mask else ("", "")
    return {"call": f"{A}({given}{ours})", "torch": f"L._scaled_dot_product_attention_math({given}{theirs})[0]"}


SAMPLES = {
    "scaled_dot_product_attention": [
        attention("h, k, h + 1"),
        attention("h, k, h.exp(), is_causal=True"),
        attention(f"{Q}, {K}, {V}"),
        attention(f"{Q}, {K}, {V}, is_causal=True"),
        attention(f"{Q}, {K}, {V}, scale=0.3"),
        attention("h, k, h + 1", "t[:, :3]"),
        attention("h, k, h + 1", "t[:, :3].logical_and(t[:, :1])"),
        attention("h, k, h + 1, attn_mask=x[:, :3]"),
        attention("h, k, h + 1, attn_mask=L.where(t[:, :3], x[:, :3], -inf)"),
        attention(f"{Q}, {K}, {V}, r4[:, :1, :, :3]"),
        attention("x, y, p"),
        attention(f"{HEADS}, enable_gqa=True"),
        attention(f"{HEADS}, is_causal=True, enable_gqa=True"),
        attention("h * 300, k * 300, h"),
        attention("h[:0], k[:0], h[:0]"),
        attention("h[:, :0], k, h"),
        attention("h, k, h, dropout_p=1.0"),
        {"call": f"{A}(h, b3, h)", "error": True},
        {"call": f"{A}(h, k, v)", "error": True},
        {"call": f"{A}(h, k, h[:, :2])", "error": True},
        {"call": f"{A}(h, k, h, t[:, :3], is_causal=True)", "error": True},
        {"call": f"{A}(h, k, h, t)", "error": True},
        {"call": f"{A}(h, k, h, dropout_p=2.0)", "error": True},
        {"call": f"{A}(h.float(), k, h)", "error": True},
    ],
}
