"""Pooling."""

R5 = "r4.unsqueeze(0)"
NAN = "L.where(r4 < -2.5, nan, r4)"


def largest(axes: int, operand: str, sizes: list[str]) -> list:
    name = f"F.max_pool{axes}d"
    return [f"{name}({operand}, {size})" for size in sizes]


SAMPLES = {
    "max_pool1d": [
        *largest(1, "h", ["2", "3, 1", "3, stride=2, padding=1", "2, dilation=2, stride=1", "3, 2, ceil_mode=True"]),
        "F.max_pool1d(h[0], 2, 1)",
        "F.max_pool1d(h.transpose(1, 2), 2)",
        "L.max_pool1d(h, 4)",
        "F.max_pool1d(h, 2, return_indices=True)",
        "F.max_pool1d(h.round(), 3, 1, 1, return_indices=True)",
        "F.max_pool1d(h[:0], 2)",
        {"call": "F.max_pool1d(h, 5)", "error": True},
        {"call": "F.max_pool1d(h, 2, padding=2)", "error": True},
        {"call": "F.max_pool1d(h, 0)", "error": True},
        {"call": "F.max_pool1d(v, 2)", "error": True},
        {"call": "F.max_pool1d(h, (2, 2))", "error": True},
    ],
    "max_pool2d": [
        *largest(2, "r4", ["2", "3, 1", "(3, 2)", "3, 2, 1", "2, (1, 2)", "2, 1, 0, 2", "3, 2, ceil_mode=True", "(2, 3), 2, (1, 1), (1, 2), True", "1"]),
        "F.max_pool2d(r4[0], 2)",
        "L.max_pool2d(r4.permute(0, 1, 3, 2), (2, 3))",
        "F.max_pool2d(r4, 2, return_indices=True)",
        "F.max_pool2d(r4.round(), 3, 1, 1, return_indices=True)",
        "F.max_pool2d(r4[:0], 2)",
        {"call": f"F.max_pool2d({NAN}, 3, 1, 1, return_indices=True)", "order": 0},
        {"call": "F.max_pool2d(L.full((1, 1, 3, 3), -inf), 2, 1, return_indices=True)", "order": 0},
        {"call": "F.max_pool2d(i.reshape(1, 1, 3, 4), 2, 1, return_indices=True)", "order": 0},
        {"call": "F.max_pool2d(x, 2)", "error": True},
        {"call": "F.max_pool2d(r4, (5, 1))", "error": True},
        {"call": "F.max_pool2d(r4, 2, (1, 1, 1))", "error": True},
    ],
    "max_pool3d": [
        *largest(3, R5, ["2", "(1, 2, 2)", "2, 1, 1", "(2, 3, 2), (1, 1, 2), (1, 1, 0), (1, 1, 2)", "2, 2, ceil_mode=True"]),
        "F.max_pool3d(r4, (2, 2, 3))",
        f"F.max_pool3d({R5}.round(), 2, 1, return_indices=True)",
        f"L.max_pool3d({R5}, (3, 4, 5))",
        {"call": "F.max_pool3d(h, 2)", "error": True},
    ],
    "max_pool1d_with_indices": ["F.max_pool1d_with_indices(h, 2, 1)", "L.max_pool1d_with_indices(h[1], 3, padding=1)"],
    "max_pool2d_with_indices": ["F.max_pool2d_with_indices(r4, (2, 3), 1)"],
    "max_pool3d_with_indices": [f"F.max_pool3d_with_indices({R5}, 2)"],
    "avg_pool1d": [
        "F.avg_pool1d(h, 2)",
        "F.avg_pool1d(h, 3, stride=2, padding=1)",
        "F.avg_pool1d(h, 3, 2, 1, count_include_pad=False)",
        "F.avg_pool1d(h, 3, 2, 1, True)",
        "L.avg_pool1d(h[0], 3, 1)",
        "F.avg_pool1d(h.transpose(1, 2), 2)",
        {"call": "F.avg_pool1d(h, 5)", "error": True},
        {"call": "F.avg_pool1d(h, 2, padding=2)", "error": True},
    ],
    "avg_pool2d": [
        "F.avg_pool2d(r4, 2)",
        "F.avg_pool2d(r4, 3, 1)",
        "F.avg_pool2d(r4, (2, 3), (2, 1), (1, 1))",
        "F.avg_pool2d(r4, 3, 2, 1, count_include_pad=False)",
        "F.avg_pool2d(r4, 3, 2, 1, True)",
        "F.avg_pool2d(r4, 3, 2, 1, True, False)",
        "F.avg_pool2d(r4, 3, 2, 1, divisor_override=5)",
        "F.avg_pool2d(r4[0], 2, divisor_override=-3)",
        "F.avg_pool2d(r4.permute(0, 3, 1, 2), 2, 1)",
        "F.avg_pool2d(r4[:0], 2)",
        "F.avg_pool2d(i.reshape(1, 1, 3, 4), 2, 1)",
        {"call": "F.avg_pool2d(r4, 2, divisor_override=0)", "error": True},
        {"call": "F.avg_pool2d(x, 2)", "error": True},
    ],
    "avg_pool3d": [
        f"F.avg_pool3d({R5}, 2)",
        f"F.avg_pool3d({R5}, (2, 3, 2), (1, 1, 2), (1, 1, 0))",
        f"F.avg_pool3d({R5}, 2, 2, 1, True, False)",
        "F.avg_pool3d(r4, 2, 1, divisor_override=3)",
    ],
    "adaptive_avg_pool1d": [
        "F.adaptive_avg_pool1d(h, 3)",
        "F.adaptive_avg_pool1d(h, 1)",
        "F.adaptive_avg_pool1d(h, 7)",
        "L.adaptive_avg_pool1d(h[0], 2)",
        "F.adaptive_avg_pool1d(h, 4)",
        {"call": "F.adaptive_avg_pool1d(v, 2)", "error": True},
        {"call": "F.adaptive_avg_pool1d(h, -1)", "error": True},
    ],
    "adaptive_avg_pool2d": [
        "F.adaptive_avg_pool2d(r4, 3)",
        "F.adaptive_avg_pool2d(r4, (2, 3))",
        "F.adaptive_avg_pool2d(r4, 1)",
        "F.adaptive_avg_pool2d(r4, (None, 2))",
        "F.adaptive_avg_pool2d(r4, (7, None))",
        "F.adaptive_avg_pool2d(r4[0], (3, 7))",
        "F.adaptive_avg_pool2d(r4[:0], 2)",
        {"call": "F.adaptive_avg_pool2d(x, 2)", "error": True},
    ],
    "adaptive_avg_pool3d": [
        f"F.adaptive_avg_pool3d({R5}, 2)",
        f"F.adaptive_avg_pool3d({R5}, (2, 3, 4))",
        "F.adaptive_avg_pool3d(r4, (1, None, 2))",
    ],
    "adaptive_max_pool1d": [
        "F.adaptive_max_pool1d(h, 3)",
        "F.adaptive_max_pool1d(h, 7, return_indices=True)",
        "F.adaptive_max_pool1d(h[0], 1)",
    ],
    "adaptive_max_pool2d": [
        "F.adaptive_max_pool2d(r4, 3)",
        "F.adaptive_max_pool2d(r4, (3, 2), True)",
        "F.adaptive_max_pool2d(r4, (None, 7))",
        "F.adaptive_max_pool2d(r4[0].round(), (2, 3), return_indices=True)",
        {"call": f"F.adaptive_max_pool2d({NAN}, (2, 3), return_indices=True)", "order": 0},
    ],
    "adaptive_max_pool3d": [
        f"F.adaptive_max_pool3d({R5}, 2)",
        "F.adaptive_max_pool3d(r4, (2, 3, 7), return_indices=True)",
    ],
    "lp_pool1d": [
        "F.lp_pool1d(p[None], 2, 2)",
        "F.lp_pool1d(p[None], 3.0, 3, 1)",
        "F.lp_pool1d(h, 1, 2)",
        "F.lp_pool1d(h, 2, 3, 2, ceil_mode=True)",
    ],
    "lp_pool2d": [
        "F.lp_pool2d(r4.exp(), 2.5, 2)",
        "F.lp_pool2d(r4, 2, (2, 3), stride=1)",
        "F.lp_pool2d(r4[0], 2, 3, ceil_mode=True)",
    ],
    "lp_pool3d": [f"F.lp_pool3d({R5}, 2, 2)", f"F.lp_pool3d({R5}.exp(), 3, (1, 2, 3), 1)"],
    "max_unpool1d": [
        "F.max_unpool1d(*F.max_pool1d(h, 2, return_indices=True), 2)",
        "F.max_unpool1d(*F.max_pool1d(h, 2, return_indices=True), 2, output_size=(5,))",
        {"call": "F.max_unpool1d(h, at[None].expand(2, 3, 4) + 7, 2)", "error": True},
        {"call": "F.max_unpool1d(*F.max_pool1d(h, 2, return_indices=True), 2, output_size=(7,))", "error": True},
    ],
    "max_unpool2d": [
        "F.max_unpool2d(*F.max_pool2d(r4[..., :4], 2, return_indices=True), 2)",
        "F.max_unpool2d(*F.max_pool2d(r4, 2, return_indices=True), 2, output_size=(2, 3, 4, 5))",
        # PyTorch gives a place's gradient to all that were written there, we to the last one, which stayed.
        {"call": "F.max_unpool2d(*F.max_pool2d(r4, 3, 2, 1, return_indices=True), 3, 2, 1, (4, 5))", "order": 0},
    ],
    "max_unpool3d": [f"F.max_unpool3d(*F.max_pool3d({R5}[..., :2, :, :4], 2, return_indices=True), 2)"],
    "fractional_max_pool2d": [
        "F.fractional_max_pool2d(r4, 2, output_size=(2, 3), _random_samples=r4[:, :, 0, :2].sigmoid().detach())",
        "F.fractional_max_pool2d(r4, (2, 1), output_ratio=(0.6, 0.5), _random_samples=r4[:, :, 0, :2].sigmoid().detach())",
        "F.fractional_max_pool2d(r4, 2, 3, return_indices=True, _random_samples=r4[:, :, 0, :2].sigmoid().detach())",
        {"call": "F.fractional_max_pool2d(r4, 2, 5)", "error": True},
        {"call": "F.fractional_max_pool2d(r4, 2)", "error": True},
    ],
    "fractional_max_pool3d": [
        f"F.fractional_max_pool3d({R5}, 2, output_size=(1, 2, 3), _random_samples=r4[:1, :2, 0, :3].sigmoid().detach())",
        f"F.fractional_max_pool3d({R5}, 1, output_ratio=(0.7, 0.7, 0.6), return_indices=True, _random_samples=r4[:1, :2, 0, :3].sigmoid().detach())",
    ],
    "unfold": [
        "F.unfold(r4, 2)",
        "F.unfold(r4, (2, 3), padding=1)",
        "F.unfold(r4, 2, (2, 1), (0, 1), (1, 2))",
        "F.unfold(r4[0], (3, 1), stride=2)",
        "F.unfold(r4, 2, padding=3)",
        "F.unfold(r4.permute(0, 1, 3, 2), 2)",
        {"call": "F.unfold(r4, 6)", "error": True},
        {"call": "F.unfold(x, 2)", "error": True},
    ],
    "fold": [
        "F.fold(r4.reshape(2, 12, 5), (2, 6), 2)",
        "F.fold(h, 2, (3, 1), padding=(1, 0))",
        "F.fold(h[0].T, (4, 5), (2, 2), dilation=(3, 2))",
        "F.fold(r4.reshape(2, 4, 15), (4, 6), 2)",
        "F.fold(r4.reshape(2, 12, 5), (2, 6), 2, 1)",
        {"call": "F.fold(h, 3, 2)", "error": True},
        {"call": "F.fold(r4, 3, 2)", "error": True},
    ],
}

INTENDED = {"fold:bool": "truth values are not added up"}
