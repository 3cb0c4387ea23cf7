"""Convolutions."""


SAMPLES = {
    "conv1d": [
        "F.conv1d(h, k[:, :, :2])",
        "F.conv1d(h, k[:, :, :3], v[:2], stride=2, padding=1)",
        "F.conv1d(h, k[:, :, :2], dilation=3)",
        "F.conv1d(h[0], k[:, :, :3], padding='same')",
        "F.conv1d(h, k[:, :, :2], padding='same', dilation=3)",
        "F.conv1d(h, k[:, :, :2], None, 1, 'valid')",
        "F.conv1d(h, x[:3, None, :2], groups=3)",
        "F.conv1d(h, k[:, :1, :3].reshape(2, 1, 3)[:, [0, 0, 0]], padding=2)",
        "L.conv1d(h.transpose(1, 2), b3[:, :, :2])",
        {"call": "F.conv1d(h, k[:, :2])", "error": True},
        {"call": "F.conv1d(h, k, padding=0, dilation=2)", "error": True},
        {"call": "F.conv1d(h, k, stride=0)", "error": True},
    ],
    "conv2d": [
        "F.conv2d(r4, r4[:, :, :2, :3])",
        "F.conv2d(r4, r4[:, :, :3, :3], v[:2], padding=1)",
        "F.conv2d(r4, r4[:, :, :3, :2], stride=(2, 1), padding=(1, 2), dilation=(1, 2))",
        "F.conv2d(r4, r4[:, :, :1, :1])",
        "F.conv2d(r4, r4[:, :, :2, :2], padding='same')",
        "F.conv2d(r4[0], r4[:, :, :3, :3], padding=2, stride=3)",
        "F.conv2d(r4, h[:, :, :3].reshape(6, 1, 3, 1), groups=3)",
        "F.conv2d(r4.permute(0, 2, 3, 1), b3[:, :, :, None])",
        "F.conv2d(r4[:0], r4[:, :, :2, :2])",
        {"call": "F.conv2d(r4, r4, padding=(1, 2, 3))", "error": True},
        {"call": "F.conv2d(r4, r4, groups=2)", "error": True},
    ],
    "conv3d": [
        "F.conv3d(r4[:, None], k[:, None, :2, :2, None].expand(2, 1, 2, 2, 2), v[:2])",
        "F.conv3d(r4[:, None], k[:, None, :2, :2, None].expand(2, 1, 2, 2, 3), padding=1, stride=(1, 2, 2))",
        "F.conv3d(r4[:1], r4[:, :1, :2, :2, None].reshape(2, 1, 2, 2, 1))",
    ],
    "conv_transpose1d": [
        "F.conv_transpose1d(h, k[[0, 1, 0], :2, :3])",
        "F.conv_transpose1d(h, x[:, None, :3], stride=2, padding=1, output_padding=1, groups=3)",
        "F.conv_transpose1d(h[0], x[:, None, :2], v[:1], dilation=2)",
    ],
    "conv_transpose2d": [
        "F.conv_transpose2d(r4, r4[[0, 1, 0], :2, :2, :3])",
        "F.conv_transpose2d(r4, r4[[0, 1, 0], :2, :3, :3], v[:2], stride=2, padding=1, output_padding=1)",
        "F.conv_transpose2d(r4, r4[[0, 1, 0], :2, :2, :2], stride=(3, 2), dilation=(1, 2))",
        "L.conv_transpose2d(r4, h[0][:, :3, None, None].transpose(1, 2), groups=3)",
    ],
    "conv_transpose3d": ["F.conv_transpose3d(r4[:, None], k[:1, None, :2, :2, None].expand(1, 2, 2, 2, 2), stride=2, padding=(1, 0, 0))"],
}

INTENDED = {f"{name}:{dtype}": "integers are refused, as by PyTorch on CUDA" for name in SAMPLES for dtype in ("int64", "int32", "uint8")}
