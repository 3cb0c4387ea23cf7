"""Losses."""


def each(call, order=2):
    """A call with every reduction."""
    calls = [{"call": call + ending, "order": order} for ending in (")", ', reduction="sum")', ', reduction="none")')]
    return [*calls, {"call": call + ', reduction="median")', "error": True}]


SIGNS = "(1 - 2 * (at[:, 0] % 2))"  # 1 and -1, for rows

SAMPLES = {
    "mse_loss": [*each("F.mse_loss(x, y"), "F.mse_loss(x, v)", "F.mse_loss(e, e)", "F.mse_loss(x, y, weight=p)", 'F.mse_loss(x, y, weight=p, reduction="sum")'],
    "l1_loss": [*each("F.l1_loss(x, y"), "F.l1_loss(x, c)", "F.l1_loss(x, y, weight=p)", "F.l1_loss(x, x.detach())"],
    "smooth_l1_loss": [
        *each("F.smooth_l1_loss(x, y"),
        "F.smooth_l1_loss(x, y, beta=2.5)",
        "F.smooth_l1_loss(x, y, beta=0.0)",
        "F.smooth_l1_loss(x, x.detach() + 1)",
        {"call": "F.smooth_l1_loss(x, y, beta=-1.0)", "error": True},
    ],
    "huber_loss": [*each("F.huber_loss(x, y"), 'F.huber_loss(x, y, "mean", 2.5)', "F.huber_loss(x, y, weight=p)", {"call": "F.huber_loss(x, y, delta=0.0)", "error": True}],
    "nll_loss": [
        *each("F.nll_loss(x, l"),
        *each("F.nll_loss(x, l, v.detach()"),
        *each("F.nll_loss(x, l, v.detach(), ignore_index=1"),
        "F.nll_loss(x, l * 0 - 100)",
        "F.nll_loss(v, i0 % 4)",
        "F.nll_loss(h, at[:2])",
        'F.nll_loss(r4, j[:2].unsqueeze(2).repeat(1, 1, 5) % 3, v[:3].detach(), ignore_index=2, reduction="none")',
        {"call": "F.nll_loss(x, l + 4)", "error": True},
        {"call": "F.nll_loss(x, l[:2])", "error": True},
        {"call": "F.nll_loss(x, l, v.detach()[:2])", "error": True},
    ],
    "cross_entropy": [
        *each("F.cross_entropy(x, l"),
        *each("F.cross_entropy(x, l, v.detach()"),
        *each("F.cross_entropy(x, l, v.detach(), ignore_index=1, label_smoothing=0.2"),
        *each("F.cross_entropy(x, u"),
        *each("F.cross_entropy(x, u, v, label_smoothing=0.3"),
        "F.cross_entropy(v, i0 % 4)",
        "F.cross_entropy(v, w)",
        "F.cross_entropy(h, at[:2])",
        "F.cross_entropy(r4, j[:2].unsqueeze(2).repeat(1, 1, 5) % 3, v[:3].detach(), ignore_index=2)",
        "F.cross_entropy(x, l * 0 - 100)",
        "F.cross_entropy(x * 1e3, l)",
        {"call": "F.cross_entropy(x, l + 4)", "error": True},
        {"call": "F.cross_entropy(x, l, label_smoothing=2.0)", "error": True},
    ],
    "linear_cross_entropy": [
        *each("F.linear_cross_entropy(x, y, l % 3"),
        *each("F.linear_cross_entropy(x, y, l % 3, linear_bias=w[:3], weight=v.detach()[:3], ignore_index=1, label_smoothing=0.2"),
        "F.linear_cross_entropy(x, y, x[:, :3].softmax(1))",
        "F.linear_cross_entropy(x, y, l % 3 * 0 - 100)",
        "F.linear_cross_entropy(v, x, i0 % 3)",
        "F.linear_cross_entropy(x, r4.reshape(-1, 4)[:6].reshape(3, 2, 4), L.tensor([[0, 1], [2, 2], [1, 0]]), linear_bias=p[:, :2])",
        {"call": "F.linear_cross_entropy(x, y[:, :3], l % 3)", "error": True},
        {"call": "F.linear_cross_entropy(x, y, l % 3, linear_bias=w[:2])", "error": True},
    ],
    "binary_cross_entropy": [
        *each("F.binary_cross_entropy(u, L.sigmoid(y)"),
        *each("F.binary_cross_entropy(u, L.sigmoid(y), p.detach()"),
        "F.binary_cross_entropy(u, L.sigmoid(y), v.detach() * v.detach())",
        'F.binary_cross_entropy((s > 0).double(), (s2 > 0).double(), reduction="none")',
        {"call": "F.binary_cross_entropy(u, c)", "error": True},
    ],
    "binary_cross_entropy_with_logits": [
        *each("F.binary_cross_entropy_with_logits(x, u"),
        *each("F.binary_cross_entropy_with_logits(x, u, p.detach(), pos_weight=v.detach()"),
        "F.binary_cross_entropy_with_logits(x * 1000, u, pos_weight=v.detach())",
        "F.binary_cross_entropy_with_logits(x * 1000, u)",
        "F.binary_cross_entropy_with_logits(x * 0, u, v.detach())",
        {"call": "F.binary_cross_entropy_with_logits(x, v)", "error": True},
    ],
    "kl_div": [
        *each("F.kl_div(x, u"),
        *each("F.kl_div(x, y, log_target=True"),
        'F.kl_div(x, u, reduction="batchmean")',
        "F.kl_div(x, t.double())",
        "F.kl_div(x, v * v)",
    ],
    "poisson_nll_loss": [
        *each("F.poisson_nll_loss(x, q"),
        *each("F.poisson_nll_loss(p, q, False"),
        *each("F.poisson_nll_loss(x, q, full=True"),
        "F.poisson_nll_loss(p, q, log_input=False, eps=0.1)",
    ],
    "gaussian_nll_loss": [
        *each("F.gaussian_nll_loss(x, y, p"),
        "F.gaussian_nll_loss(x, y, p, True)",
        "F.gaussian_nll_loss(x, y, p, eps=1.0)",
        "F.gaussian_nll_loss(x, y, p[:, :1])",
        "F.gaussian_nll_loss(x, y, p[:, 0])",
        "F.gaussian_nll_loss(x, y, 2.0)",
        {"call": "F.gaussian_nll_loss(x, y, p[:2])", "error": True},
        {"call": "F.gaussian_nll_loss(x, y, -2.0)", "error": True},
    ],
    "hinge_embedding_loss": [
        *each(f"F.hinge_embedding_loss(x, {SIGNS}.unsqueeze(1)"),
        f"F.hinge_embedding_loss(v[:3], {SIGNS}, margin=0.5)",
        f"F.hinge_embedding_loss(x, {SIGNS}.unsqueeze(1) * 2)",
    ],
    "margin_ranking_loss": [
        *each(f"F.margin_ranking_loss(x, y, {SIGNS}.unsqueeze(1)"),
        f"F.margin_ranking_loss(v[:3], w[:3], {SIGNS}, 0.5)",
        {"call": "F.margin_ranking_loss(x, y, v)", "error": True},
    ],
    "cosine_embedding_loss": [
        *each(f"F.cosine_embedding_loss(x, y, {SIGNS}"),
        f"F.cosine_embedding_loss(x, y, {SIGNS}, 0.2)",
        f"F.cosine_embedding_loss(v, w, {SIGNS}[0])",
        {"call": "F.cosine_embedding_loss(x, y, x)", "error": True},
    ],
    "triplet_margin_loss": [
        *each("F.triplet_margin_loss(x, y, p"),
        "F.triplet_margin_loss(x, y, p, 2.0, 1.0)",
        "F.triplet_margin_loss(x, y, p, margin=3.0, swap=True)",
        "F.triplet_margin_loss(v, w, n[:, 0])",
    ],
    "soft_margin_loss": [*each(f"F.soft_margin_loss(x, {SIGNS}.unsqueeze(1)"), "F.soft_margin_loss(x, y.detach())"],
    "multi_margin_loss": [
        *each("F.multi_margin_loss(x, l", 1),
        *each("F.multi_margin_loss(x, l, 2, 0.5, v.detach()", 1),
        {"call": "F.multi_margin_loss(v, i0 % 4)", "order": 1},
        {"call": "F.multi_margin_loss(x, l, p=3)", "error": True},
        {"call": "F.multi_margin_loss(x, l + 4)", "error": True},
        {"call": "F.multi_margin_loss(h, l)", "error": True},
    ],
    "multilabel_margin_loss": [
        *each("F.multilabel_margin_loss(x, at - 1", 1),
        {"call": "F.multilabel_margin_loss(x, at)", "order": 1},
        {"call": "F.multilabel_margin_loss(v, at[0] - 1)", "order": 1},
        {"call": "F.multilabel_margin_loss(x, at * 0 - 1)", "order": 1},
        {"call": "F.multilabel_margin_loss(x, at + 3)", "error": True},
        {"call": "F.multilabel_margin_loss(x, at[:2])", "error": True},
    ],
    "multilabel_soft_margin_loss": [
        *each("F.multilabel_soft_margin_loss(x, u"),
        *each("F.multilabel_soft_margin_loss(x, u, v"),
        "F.multilabel_soft_margin_loss(v, w)",
    ],
}
