"""Normalisation."""

# Running statistics that are written to, and their value afterwards.
SEEN = "(lambda m, v: (F.{name}({input}, m, v, {rest}), m, v))(L.zeros_like({like}), L.ones_like({like}))"


def seen(name, input, rest, like):
    return SEEN.format(name=name, input=input, rest=rest, like=like)


SAMPLES = {
    "norm_except_dim": [
        {"call": "L.norm_except_dim(h)", "dtypes": False},
        {"call": "L.norm_except_dim(x, 2, 1)", "dtypes": False},
        {"call": "L.norm_except_dim(h, 1, 2)", "dtypes": False},
        {"call": "L.norm_except_dim(x, 2, -1)", "dtypes": False},
        {"call": "L.norm_except_dim(x, 2, 3)", "error": True},
    ],
    "layer_norm": [
        "F.layer_norm(x, (4,))",
        "F.layer_norm(x, (4,), v, w)",
        "F.layer_norm(h, (3, 4), x, y, 0.1)",
        "L.layer_norm(h, (4,), weight=v)",
        "F.layer_norm(e, (4,))",
        "F.layer_norm(x * 0, (4,))",
        {"call": "F.layer_norm(x, (3,))", "error": True},
        {"call": "F.layer_norm(x, (4,), v[:2])", "error": True},
    ],
    "rms_norm": [
        "F.rms_norm(x, (4,))",
        "F.rms_norm(x, (4,), v)",
        "L.rms_norm(h, (3, 4), x, 0.1)",
        "F.rms_norm(x * 0, (4,), eps=1e-3)",
        {"call": "F.rms_norm(x, (3,))", "error": True},
    ],
    "group_norm": [
        "F.group_norm(r4.reshape(2, 6, 2, 5), 3)",
        "F.group_norm(h, 1, v[:3], w[:3])",
        "L.group_norm(h, 3, v[:3], w[:3], 0.1)",
        "F.group_norm(x, 2, v)",
        {"call": "F.group_norm(h, 2)", "error": True},
        {"call": "F.group_norm(v, 2)", "error": True},
        {"call": "F.group_norm(h, 3, v)", "error": True},
    ],
    "batch_norm": [
        "F.batch_norm(x, None, None, training=True)",
        "F.batch_norm(x, v.detach(), p[0].detach())",
        "F.batch_norm(x, v.detach(), p[0].detach(), w, n[:, 0])",
        "F.batch_norm(h, v[:3].detach(), p[0, :3].detach(), w[:3], v[1:], False, 0.1, 0.5)",
        "F.batch_norm(r4, None, None, v[:3], w[:3], True, eps=0.1)",
        seen("batch_norm", "h", "training=True", "h[0, :, 0]"),
        seen("batch_norm", "r4", "w[:3], None, True, 0.3", "h[0, :, 0]"),
        seen("batch_norm", "x", "training=False", "v"),
        {"call": "F.batch_norm(x, None, None)", "error": True},
        {"call": "F.batch_norm(x[:1], None, None, training=True)", "error": True},
        {"call": "F.batch_norm(x, v[:3], v[:3])", "error": True},
        {"call": "F.batch_norm(v, None, None, training=True)", "error": True},
    ],
    "instance_norm": [
        "F.instance_norm(h)",
        "F.instance_norm(r4, weight=v[:3], bias=w[:3], eps=0.1)",
        "F.instance_norm(h, v[:3].detach(), p[0, :3].detach(), use_input_stats=False)",
        seen("instance_norm", "h", "momentum=0.3", "h[0, :, 0]"),
        seen("instance_norm", "r4", "w[:3], v[:3], True", "h[0, :, 0]"),
        {"call": "F.instance_norm(h[..., :1])", "error": True},
    ],
    "local_response_norm": [
        "F.local_response_norm(h, 2)",
        "F.local_response_norm(r4, 3, alpha=0.5, beta=0.3, k=2.0)",
        "F.local_response_norm(r4, 5, 0.1)",
        {"call": "F.local_response_norm(x, 2)", "error": True},
    ],
}
