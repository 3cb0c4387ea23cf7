"""Images read at places."""

G = "r4[..., :2]"  # [2, 3, 4, 2], of numbers beyond -1 and 1, too
G3 = "r4[None, ..., :3]"  # [1, 2, 3, 4, 3]
R5 = "r4.unsqueeze(0)"

SAMPLES = {
    "grid_sample": [
        f"F.grid_sample(r4, {G}, align_corners=False)",
        f"F.grid_sample(r4, {G} / 3, align_corners=True)",
        *(
            f'F.grid_sample(r4, {G} / 2, "{mode}", "{padding}", {aligned})'
            for mode in ("bilinear", "nearest", "bicubic")
            for padding in ("zeros", "border", "reflection")
            for aligned in (False, True)
        ),
        *(
            f'F.grid_sample({R5}, {G3} / 2, "{mode}", "{padding}", {aligned})'
            for mode in ("bilinear", "nearest", "bicubic")
            for padding, aligned in (("zeros", False), ("border", True), ("reflection", False), ("reflection", True))
        ),
        f'F.grid_sample(r4[:, :, :1, :1], {G}, "bilinear", "reflection", True)',
        f"F.grid_sample(r4[:0], {G}[:0], align_corners=False)",
        f"F.grid_sample(r4[:, :0], {G}, align_corners=False)",
        {"call": f"F.grid_sample(r4, {G} * nan, align_corners=False)", "order": 0},
        {"call": f"F.grid_sample(r4, {G} * 1e30, padding_mode='border', align_corners=False)", "order": 0},
        {"call": f"F.grid_sample(r4[:1], {G})", "error": True},
        {"call": f'F.grid_sample(r4, {G}, "cubic")', "error": True},
        {"call": f'F.grid_sample(r4, {G}, padding_mode="mirror")', "error": True},
        {"call": f"F.grid_sample(r4[:, :, :0], {G})", "error": True},
    ],
    "affine_grid": [
        "F.affine_grid(h[:, :2, :3], (2, 1, 3, 4), align_corners=False)",
        "F.affine_grid(h[:, :2, :3], (2, 5, 3, 4), align_corners=True)",
        "F.affine_grid(h[:, :2, :3], (2, 1, 1, 4), align_corners=True)",
        "F.affine_grid(h, (2, 1, 2, 3, 4), align_corners=False)",
        "F.affine_grid(h, (2, 1, 2, 1, 4), align_corners=True)",
        {"call": "F.affine_grid(h, (2, 1, 3, 4))", "error": True},
        {"call": "F.affine_grid(h[:, :2, :3], (2, 1, 0, 4))", "error": True},
    ],
}
