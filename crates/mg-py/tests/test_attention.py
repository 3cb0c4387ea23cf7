"""Attention at the bounds of its blocks, in all dtypes, and its gradients: against products and a softmax in float64."""

from __future__ import annotations

import math

import micrograd_rs as mg
import numpy as np
import pytest
from conftest import numbers
from micrograd_rs.nn import functional as F
from micrograd_rs.nn.attention.bias import causal_lower_right, causal_upper_left
from micrograd_rs.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention
from micrograd_rs.nn.attention.varlen import varlen_attn
from test_random_words import weights_that_stay

attend = mg.nn.functional.scaled_dot_product_attention
SIZES = [(1, 1), (1, 70), (63, 64), (65, 513), (130, 257), (5, 600)]
TOLERANCE = {"float64": 1e-10, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
NAN = math.nan


def close_to(got, wanted):
    np.testing.assert_allclose(got.detach().cpu().numpy(), wanted, rtol=1e-7, atol=1e-10)


def reference(q, k, v, taken=None, more=None, scale=None):
    """The answer and, for a gradient of ones times `w`, those of the operands."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = q @ keys.swapaxes(2, 3) * scale
    if more is not None:
        scores = scores + more
    if taken is not None:
        scores = np.where(taken, scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(-1, keepdims=True)
    p = e / np.where(total == 0, 1, total)
    y = p @ values
    w = np.cos(np.arange(y.size)).reshape(y.shape)
    dp = w @ values.swapaxes(2, 3)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale

    def together(n):
        return n.reshape(n.shape[0], k.shape[1], group, *n.shape[2:]).sum(2)

    return y, w, [ds @ keys, together(ds.swapaxes(2, 3) @ q), together(p.swapaxes(2, 3) @ w)]


def operands(sizes, dtype, device, heads=(2, 2), width=20, depth=12):
    rng = np.random.default_rng(sum(sizes))
    l, s = sizes
    shapes = [(2, heads[0], l, width), (2, heads[1], s, width), (2, heads[1], s, depth)]
    ours = [mg.tensor(rng.standard_normal(shape), dtype=getattr(mg, dtype), device=device) for shape in shapes]
    return [t.requires_grad_() for t in ours], [t.detach().double().cpu().numpy().copy() for t in ours]


def check(ours, wanted, dtype, **options):
    y, w, gradients = wanted
    got = attend(*ours, **options)
    near(got, y, dtype)
    weight = mg.tensor(w, dtype=got.dtype, device=got.device)
    for create_graph in (False, True):
        found = mg.autograd.grad(got, ours, weight, create_graph=create_graph, retain_graph=True)
        for a, b in zip(found, gradients):
            near(a, b, dtype)


def near(a, b, dtype):
    found = a.detach().double().cpu().numpy()
    assert found.shape == b.shape
    assert np.abs(found - b).max(initial=0) <= TOLERANCE[dtype] * max(1.0, np.abs(b).max(initial=0))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("sizes", SIZES)
def test_blocks_meet(device, sizes, dtype):
    ours, theirs = operands(sizes, dtype, device)
    check(ours, reference(*theirs), dtype)


@pytest.mark.parametrize("sizes", SIZES)
def test_causal_queries_take_keys_up_to_their_own(device, sizes):
    ours, theirs = operands(sizes, "float32", device)
    taken = np.tril(np.ones(sizes, bool))
    check(ours, reference(*theirs, taken=taken), "float32", is_causal=True)


@pytest.mark.parametrize("shape", [(1,), (1, 1), (65, 70), (2, 1, 1, 70), (1, 4, 65, 1), (2, 4, 65, 70)])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_masks_broadcast(device, shape, kind):
    ours, theirs = operands((65, 70), "float32", device, heads=(4, 2))
    rng = np.random.default_rng(3)
    mask = rng.random(shape) < 0.6 if kind == "bool" else rng.standard_normal(shape).astype(np.float32)
    given = mg.tensor(mask, device=device)
    wanted = reference(*theirs, **({"taken": mask} if kind == "bool" else {"more": mask.astype(np.float64)}))
    check(ours, wanted, "float32", attn_mask=given, enable_gqa=True)


def test_rows_without_keys_are_zero(device):
    ours, theirs = operands((70, 66), "float32", device)
    taken = np.ones((70, 66), bool)
    taken[3] = taken[69] = False
    check(ours, reference(*theirs, taken=taken), "float32", attn_mask=mg.tensor(taken, device=device))


@pytest.mark.parametrize(("width", "depth"), [(1, 1), (64, 64), (65, 3), (130, 200), (3, 300)])
def test_any_head_size(device, width, depth):
    ours, theirs = operands((66, 67), "float32", device, width=width, depth=depth)
    check(ours, reference(*theirs), "float32")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("size", [32, 64, 96, 128, 192, 256])
@pytest.mark.parametrize("less", [0, 3, 8])
def test_tiles_of_heads(device, size, less, dtype):
    ours, theirs = operands((70, 130), dtype, device, heads=(4, 2), width=size - less, depth=size)
    check(ours, reference(*theirs, taken=np.tril(np.ones((70, 130), bool))), dtype, is_causal=True, enable_gqa=True)


@pytest.mark.parametrize("size", [64, 128, 200, 256])
@pytest.mark.parametrize("how", ["all", "causal", "mask"])
def test_more_blocks_than_run_at_once(device, size, how):
    heads = (96, 48) if device == "cuda" else (4, 2)
    ours, theirs = operands((210, 200), "bfloat16", device, heads=heads, width=size, depth=size - 8)
    taken = np.random.default_rng(1).random((210, 200)) < 0.7 if how == "mask" else np.tril(np.ones((210, 200), bool))
    options = {"all": {}, "causal": {"is_causal": True}, "mask": {"attn_mask": mg.tensor(taken, device=device)}}[how]
    check(ours, reference(*theirs, taken=None if how == "all" else taken), "bfloat16", enable_gqa=True, **options)


@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_masks_of_half_types(device, dtype, kind):
    ours, theirs = operands((65, 70), dtype, device, heads=(4, 2), width=64, depth=64)
    rng = np.random.default_rng(3)
    mask = rng.random((2, 1, 65, 70)) < 0.6 if kind == "bool" else rng.standard_normal((4, 1, 70)).astype(np.float32)
    wanted = reference(*theirs, **({"taken": mask} if kind == "bool" else {"more": mask.astype(np.float64)}))
    check(ours, wanted, dtype, attn_mask=mg.tensor(mask, device=device), enable_gqa=True)


# Bounds of keys: windows, and the lower right corner.


def near_enough(sizes, window):
    """What a window leaves: the last query stands at the last key."""
    l, s = sizes
    left, right = (math.inf if n == -1 else n for n in window)
    apart = np.arange(s) - (np.arange(l)[:, None] + s - l)
    return (apart >= -left) & (apart <= right)


WINDOWS = [(-1, 0), (0, 0), (7, 0), (70, 3), (0, -1), (130, -1), (2, 200)]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("sizes", [(1, 1), (1, 300), (3, 200), (64, 64), (65, 513), (257, 130), (300, 20)])
def test_windows(device, sizes, window, dtype):
    ours, theirs = operands(sizes, dtype, device, heads=(4, 2), width=24, depth=16)
    check(ours, reference(*theirs, taken=near_enough(sizes, window)), dtype, window=window, enable_gqa=True)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("size", [32, 64, 96, 128, 192, 256])
@pytest.mark.parametrize(("sizes", "window"), [((390, 390), (100, 0)), ((200, 520), (-1, 0)), ((520, 200), (65, 63)), ((130, 400), (40, -1))])
def test_windows_of_heads(device, size, sizes, window, dtype):
    ours, theirs = operands(sizes, dtype, device, heads=(4, 2), width=size, depth=size - 8)
    check(ours, reference(*theirs, taken=near_enough(sizes, window)), dtype, window=window, enable_gqa=True)


def test_windows_at_random(device):
    rng = np.random.default_rng(16)
    for _ in range(40 if device == "cpu" else 150):
        dtype = rng.choice(["float64", "float32", "bfloat16", "float16"])
        # Of few keys the gradients of halves are what their rounding leaves.
        least = 15 if dtype in ("bfloat16", "float16") else 1
        l, s = (max(n, int(rng.choice([1, 2, 15, 16, 17, 63, 64, 65, 127, 129, 192, 193, 200, 257, 330]))) for n in (1, least))
        left, right = (int(rng.choice([-1, 0, 1, 7, 31, 64, 65, 100, 400])) for _ in range(2))
        width, depth = (int(rng.choice([8, 16, 40, 64, 72, 128, 136, 256])) for _ in range(2))
        heads = (4, int(rng.choice([1, 2, 4])))
        ours, theirs = operands((l, s), str(dtype), device, heads=heads, width=width, depth=depth)
        taken, options = near_enough((l, s), (left, right)), {}
        if rng.random() < 0.4:
            mask = rng.random((2, 1, 1, s)) < 0.8
            taken, options = taken & mask, {"attn_mask": mg.tensor(mask, device=device)}
        try:
            check(ours, reference(*theirs, taken=taken), str(dtype), window=(left, right), enable_gqa=True, **options)
        except AssertionError as error:
            raise AssertionError(f"{dtype} {(l, s)} {(left, right)} {(width, depth)} {heads} {list(options)}") from error


@pytest.mark.parametrize(("sizes", "corner"), [((3, 70), (-1, 0)), ((70, 3), (-1, 0)), ((130, 131), (-1, 0))])
def test_causal_biases(device, sizes, corner):
    ours, theirs = operands(sizes, "float32", device)
    lower = causal_lower_right(*sizes)
    assert lower._materialize().tolist() == near_enough(sizes, corner).tolist()
    check(ours, reference(*theirs, taken=near_enough(sizes, corner)), "float32", attn_mask=lower)
    assert mg.equal(attend(*ours, attn_mask=lower), attend(*ours, window=(-1, 0)))
    assert mg.equal(attend(*ours, attn_mask=lower, window=(5, 9)), attend(*ours, window=(5, 0)))
    assert mg.equal(attend(*ours, attn_mask=causal_upper_left(*sizes)), attend(*ours, is_causal=True))


@pytest.mark.parametrize("far", [1000, 2**31, 2**62, 2**63 - 1])
def test_windows_beyond_all_positions(device, far):
    q, k = mg.randn(1, 2, 5, 8, device=device), mg.randn(1, 2, 9, 8, device=device)
    lines = [t[0].transpose(0, 1) for t in (q, k)]
    ends = [mg.tensor(n, dtype=mg.int32, device=device) for n in ([0, 2, 5], [0, 6, 9])]
    for bounds, as_ in [((far, far), (-1, -1)), ((far, 0), (-1, 0)), ((0, far), (0, -1)), ((-1, far), (-1, -1))]:
        mg.testing.assert_close(attend(q, k, k, window=bounds), attend(q, k, k, window=as_))
        got, wanted = (varlen_attn(lines[0], lines[1], lines[1], *ends, 3, 6, window_size=window) for window in (bounds, as_))
        mg.testing.assert_close(got, wanted)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_heads_without_features_have_the_same_weights(device, dtype):
    q, k, v = (mg.randn(1, 2, *n, dtype=getattr(mg, dtype), device=device) for n in ((3, 0), (5, 0), (5, 4)))
    wanted = v.mean(2, keepdim=True).expand(1, 2, 3, 4)
    mg.testing.assert_close(attend(q, k, v), wanted)
    mg.testing.assert_close(flex_attention(q, k, v), wanted)
    ends = [mg.tensor([0, n], device=device) for n in (3, 5)]
    lines = [t[0].transpose(0, 1) for t in (q, k, v)]
    mg.testing.assert_close(varlen_attn(*lines, *ends, 3, 5), wanted[0].transpose(0, 1))


def test_queries_without_keys_are_zeros(device):
    """As FlashAttention's, and unlike PyTorch's causal_lower_right, which is NaN there."""
    for dtype in ("float32", "bfloat16"):
        (q, k, v), _ = operands((9, 4), dtype, device)
        y = attend(q, k, v, window=(-1, 0))
        assert not y[:, :, :5].detach().any().item() and y[:, :, 5:].detach().all().item()
        (dq,) = mg.autograd.grad(y.float().sum(), [q])
        assert not dq[:, :, :5].any().item() and dq.isfinite().all().item()


@pytest.mark.parametrize(("sizes", "window"), [((40, 40), (5, 0)), ((9, 40), (-1, 0)), ((40, 9), (3, 2))])
def test_windows_leave_out_the_same_weights(device, sizes, window):
    """With dropout, and differentiated twice, beside all scores at once."""
    q, k, v = (mg.randn(2, h, n, 8, dtype=mg.float64, device=device) for h, n in ((4, sizes[0]), (2, sizes[1]), (2, sizes[1])))
    g = mg.randn(2, 4, sizes[0], 8, dtype=mg.float64, device=device)
    mask = mg.tensor(near_enough(sizes, window), device=device)
    for p in (0.0, 0.4):
        found = []
        for options in ({"window": window}, {"attn_mask": mask}):
            mg.manual_seed(5)
            given = [t.clone().requires_grad_() for t in (q, k, v)]
            first = mg.autograd.grad((attend(*given, dropout_p=p, enable_gqa=True, **options) * g).sum(), given, create_graph=True)
            found.append([*first, *mg.autograd.grad(sum(t.square().sum() for t in first), given)])
        for ours, wanted in zip(*found):
            mg.testing.assert_close(ours, wanted)


@pytest.mark.parametrize("window", [(-1, 0), (300, 0), (100, 60), (0, -1)])
@pytest.mark.parametrize("p", [0.0, 0.3])
def test_windows_of_many_scores_go_block_by_block(device, window, p):
    """A mask that is learned keeps attention from the kernel."""
    sizes = (1500, 1900)
    q, k, v = (mg.randn(1, 2, n, 8, dtype=mg.float64, device=device).requires_grad_() for n in (sizes[0], sizes[1], sizes[1]))
    mask = mg.randn(1900, dtype=mg.float64, device=device).requires_grad_()
    more = mg.tensor(np.where(near_enough(sizes, window), 0.0, -np.inf), device=device)
    found = []
    for options in ({"attn_mask": mask, "window": window}, {"attn_mask": mask + more}):
        mg.manual_seed(9)
        y = attend(q, k, v, dropout_p=p, **options)
        found.append([y, *mg.autograd.grad(y.square().sum(), [q, k, v, mask])])
    for ours, wanted in zip(*found):
        mg.testing.assert_close(ours, wanted)


def test_windows_of_examples(device):
    q, k, v = (mg.randn(3, 2, n, 8, dtype=mg.float64, device=device) for n in (20, 33, 33))
    of = lambda q, k, v: attend(q, k, v, window=(6, 1))  # noqa: E731
    mg.testing.assert_close(mg.func.vmap(of)(q, k, v), of(q, k, v))


def test_bounds_that_are_none():
    q, k = mg.randn(1, 2, 4, 8), mg.randn(1, 2, 6, 8)
    for window, text in [((1,), "two numbers"), ((1, 2, 3), "two numbers"), ((-2, 0), "from 0 on"), ((0, -7), r"got \(0, -7\)")]:
        with pytest.raises(ValueError, match=text):
            attend(q, k, k, window=window)
        with pytest.raises(ValueError, match=text):
            attend(q, k, k, attn_mask=causal_lower_right(4, 6), window=window)
    with pytest.raises(ValueError, match="window or is_causal"):
        attend(q, k, k, is_causal=True, window=(3, 0))
    with pytest.raises(ValueError, match="CausalBias or is_causal"):
        attend(q, k, k, attn_mask=causal_lower_right(4, 6), is_causal=True)
    with pytest.raises(ValueError, match="does not fit"):
        attend(q, k, k, attn_mask=causal_lower_right(4, 5))
    with pytest.raises(ValueError, match="beside a window"):
        attend(q, k, k, attn_mask=causal_upper_left(4, 6), window=(3, 0))
    with pytest.raises(TypeError, match="CausalBias or None"):
        attend(q, k, k, attn_mask="causal")


# Sequences of several lengths, one after the other.


def packed(lengths, dtype, device, heads=(4, 2), width=24, depth=16):
    """Queries, keys and values of sequences, their offsets, and which keys which queries take."""
    rng = np.random.default_rng(sum(map(sum, lengths)))
    (l, s), (many, shared) = map(sum, zip(*lengths)), heads
    shapes = [(l, many, width), (s, shared, width), (s, shared, depth)]
    ours = [mg.tensor(rng.standard_normal(shape), dtype=getattr(mg, dtype), device=device).requires_grad_() for shape in shapes]
    theirs = [t.detach().double().cpu().numpy().swapaxes(0, 1)[None] for t in ours]
    cu = [np.concatenate([[0], np.cumsum(n)]) for n in zip(*lengths)]
    return ours, theirs, cu


def check_packed(lengths, dtype, device, window=(-1, -1), causal=False, **sizes):
    ours, theirs, cu = packed(lengths, dtype, device, **sizes)
    taken = np.zeros((ours[0].shape[0], ours[1].shape[0]), bool)
    for i, n in enumerate(lengths):
        bounds = (window[0], 0) if causal else window
        taken[cu[0][i] : cu[0][i + 1], cu[1][i] : cu[1][i + 1]] = near_enough(n, bounds)
    y, w, gradients = reference(*theirs, taken=taken)
    offsets = [mg.tensor(c, dtype=mg.int32, device=device) for c in cu]
    longest = [int(np.diff(c).max(initial=0)) for c in cu]
    got = varlen_attn(*ours, *offsets, *longest, causal, window_size=window)
    near(got, y[0].swapaxes(0, 1), dtype)
    weight = mg.tensor(w[0].swapaxes(0, 1).copy(), dtype=got.dtype, device=got.device)
    for create_graph in (False, True):
        found = mg.autograd.grad(got, ours, weight, create_graph=create_graph, retain_graph=True)
        for a, b in zip(found, gradients):
            near(a, b[0].swapaxes(0, 1), dtype)


PACKS = [
    [(5, 5)],
    [(1, 9), (1, 200), (1, 3)],
    [(64, 64), (1, 1), (0, 5), (130, 70), (7, 0), (63, 65)],
    [(20, 20)] * 12,
    [(0, 0), (300, 260), (0, 0)],
]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("lengths", PACKS)
@pytest.mark.parametrize(("window", "causal"), [((-1, -1), False), ((-1, -1), True), ((12, 3), False), ((0, -1), False)])
def test_packed_sequences(device, lengths, window, causal, dtype):
    check_packed(lengths, dtype, device, window, causal)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("size", [32, 64, 96, 128, 192, 256])
@pytest.mark.parametrize("causal", [False, True])
def test_packed_heads(device, size, causal, dtype):
    check_packed([(70, 70), (3, 3), (200, 200), (17, 40), (90, 12)], dtype, device, causal=causal, width=size, depth=size - 8)


def test_packed_at_random(device):
    rng = np.random.default_rng(17)
    for _ in range(25 if device == "cpu" else 100):
        dtype = str(rng.choice(["float64", "float32", "bfloat16", "float16"]))
        lengths = [tuple(int(n) for n in rng.choice([0, 1, 2, 31, 64, 65, 100, 129, 200], 2)) for _ in range(int(rng.integers(1, 7)))]
        if not all(map(sum, zip(*lengths))):
            continue
        window = tuple(int(n) for n in rng.choice([-1, -1, 0, 5, 64, 90], 2))
        size = int(rng.choice([16, 64, 72, 128, 256]))
        heads = (4, int(rng.choice([1, 2, 4])))
        try:
            check_packed(lengths, dtype, device, window, bool(rng.random() < 0.4), heads=heads, width=size, depth=size - 8)
        except AssertionError as error:
            raise AssertionError(f"{dtype} {lengths} {window} {size} {heads}") from error


def test_gradients_of_gradients_of_packed_sequences(device):
    lengths = [(5, 7), (3, 1), (0, 2), (6, 6)]
    (q, k, v), _, cu = packed(lengths, "float64", device)
    offsets = [mg.tensor(c, device=device) for c in cu]
    each = [[slice(int(c[i]), int(c[i + 1])) for c in cu] for i in range(len(lengths))]

    def one_by_one(q, k, v):
        parts = [attend(q[a].permute(1, 0, 2), k[b].permute(1, 0, 2), v[b].permute(1, 0, 2), window=(4, 0), enable_gqa=True) for a, b in each]
        return mg.cat([part.permute(1, 0, 2) for part in parts])

    g, found = mg.randn(q.shape[0], 4, 16, dtype=mg.float64, device=device), []
    for of in (lambda q, k, v: varlen_attn(q, k, v, *offsets, 6, 7, True, window_size=(4, -1)), one_by_one):
        given = [t.detach().clone().requires_grad_() for t in (q, k, v)]
        first = mg.autograd.grad((of(*given) * g).sum(), given, create_graph=True)
        found.append([*first, *mg.autograd.grad(sum(t.square().sum() for t in first), given)])
    for ours, wanted in zip(*found):
        mg.testing.assert_close(ours, wanted)
    batch = mg.stack([q, q * 2]).detach()
    of = lambda q: varlen_attn(q, k, v, *offsets, 6, 7)  # noqa: E731
    mg.testing.assert_close(mg.func.vmap(of)(batch), mg.stack([of(q) for q in batch]))


def test_packed_offsets(device):
    q = mg.randn(6, 2, 8, device=device)
    at = lambda *n: mg.tensor(n, dtype=mg.int32, device=device)  # noqa: E731
    # Offsets that fall or are too large are as if they did not.
    assert mg.equal(varlen_attn(q, q, q, at(0, 4, 2, 90), at(0, 4, 2, 90), 6, 6), varlen_attn(q, q, q, at(0, 4, 4, 6), at(0, 4, 4, 6), 6, 6))
    # Tokens beyond the last sequence take nothing, nor do those before the first; nobody takes these.
    assert not varlen_attn(q, q, q, at(0, 4), at(0, 4), 4, 4)[4:].any().item()
    for causal in (False, True):
        x = q.detach().double().requires_grad_()
        y = varlen_attn(x, x, x, at(2, 5), at(2, 5), 3, 3, causal)
        mg.testing.assert_close(y[2:5], varlen_attn(x[2:5], x[2:5], x[2:5], at(0, 3), at(0, 3), 3, 3, causal))
        (back,) = mg.autograd.grad(y.square().sum(), x)
        assert not any(part.any().item() for t in (y, back) for part in (t[:2], t[5:]))
    for offsets, text in [((at(0, 6), at(0, 3, 6)), "as many sequences"), ((q[0, 0], at(0, 6)), "integers"), ((at(0, 6)[None], at(0, 6)), "integers")]:
        with pytest.raises(ValueError, match=text):
            varlen_attn(q, q, q, *offsets, 6, 6)
    with pytest.raises(ValueError, match="do not fit"):
        varlen_attn(q, q[:, :1], q, at(0, 6), at(0, 6), 6, 6)
    with pytest.raises(ValueError, match="heads"):
        varlen_attn(q[0], q, q, at(0, 6), at(0, 6), 6, 6)
    with pytest.raises(ValueError, match="from 0 on"):
        varlen_attn(q, q, q, at(0, 6), at(0, 6), 6, 6, window_size=(-3, 0))
    with pytest.raises(TypeError, match="floats of one dtype"):
        varlen_attn(q, q.double(), q, at(0, 6), at(0, 6), 6, 6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("scale", [-0.3, 0.0])
def test_scales_that_are_not_positive(device, dtype, scale):
    ours, theirs = operands((65, 70), dtype, device, width=64, depth=64)
    check(ours, reference(*theirs, scale=scale), dtype, scale=scale)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize(("queries", "heads"), [(1, (4, 4)), (1, (8, 1)), (3, (4, 2)), (16, (2, 2)), (17, (2, 2))])
@pytest.mark.parametrize("keys", [1, 65, 1500])
def test_few_queries_of_a_cache(device, queries, heads, keys, dtype):
    """The keys are a part of what lies in memory."""
    ours, theirs = operands((queries, keys + 9), dtype, device, heads=heads, width=64, depth=64)
    q, k, v = (t.detach() for t in ours)
    got = attend(q, k[:, :, 4 : keys + 4], v[:, :, 4 : keys + 4], enable_gqa=True)
    wanted, *_ = reference(theirs[0], theirs[1][:, :, 4 : keys + 4], theirs[2][:, :, 4 : keys + 4])
    near(got, wanted, dtype)


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_operands_as_they_lie(device, dtype):
    """Heads beside each other in a row, keys backwards, values turned."""
    ours, theirs = operands((65, 70), dtype, device, width=64, depth=64)
    q, k, v = (t.detach() for t in ours)
    q = q.transpose(1, 2).contiguous().requires_grad_()
    k = k.flip(2).contiguous().requires_grad_()
    v = v.transpose(2, 3).contiguous().requires_grad_()
    y, w, (dq, dk, dv) = reference(*theirs)
    got = attend(q.transpose(1, 2), k.flip(2), v.transpose(2, 3))
    near(got, y, dtype)
    weight = mg.tensor(w, dtype=got.dtype, device=got.device)
    found = mg.autograd.grad(got, [q, k, v], weight)
    for a, b in zip(found, [dq.swapaxes(1, 2), np.flip(dk, 2), dv.swapaxes(2, 3)]):
        near(a, b, dtype)


def test_masks_that_leave_nothing_but_a_number(device):
    """Rows whose keys all have the least number added to them: means of all values, and no gradient that is not a number."""
    ours, theirs = operands((33, 70), "bfloat16", device, width=64, depth=64)
    more = np.zeros((33, 70), np.float32)
    more[5] = np.finfo(np.float32).min
    more[6] = -1e9
    got = attend(*ours, mg.tensor(more, device=device))
    y, _, _ = reference(*theirs, more=more.astype(np.float64))
    near(got[:, :, :5], y[:, :, :5], "bfloat16")
    near(got[:, :, 5], theirs[2].mean(2), "bfloat16")
    for t in mg.autograd.grad(got.float().sum(), ours):
        assert t.isfinite().all().item()


# A mask of truth values adds 0 or -inf.
@pytest.mark.parametrize("dtype", [mg.float32, mg.float64, mg.float16, mg.bfloat16])
@pytest.mark.parametrize("lead", [(1, 1), (1, 1, 1)])
def test_attention_of_scores_that_are_no_numbers(dtype, lead):
    q, k, v = (mg.ones(*lead, 3, 4, dtype=dtype) for _ in range(3))
    q[..., 1, :] = NAN
    mask = mg.zeros(3, 3, dtype=mg.bool)
    mask[2] = True
    answer = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).reshape(3, 4)[:, 0].tolist()
    assert str(answer) == "[0.0, nan, 1.0]"
    q, k = mg.ones(*lead, 3, 4, dtype=dtype), k.clone()
    k[..., 2, :] = NAN
    mask = mg.tensor([[True, True, False], [True, False, False], [False, False, False]])
    answer = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert answer.isnan().all()
    assert F.scaled_dot_product_attention(q, k, v, is_causal=True).reshape(3, 4)[:, 0].isnan().tolist() == [False, False, True]


def test_heads_are_shared(device):
    ours, theirs = operands((65, 66), "float64", device, heads=(6, 2))
    check(ours, reference(*theirs), "float64", enable_gqa=True)


def test_a_learned_mask_has_a_gradient(device):
    (q, k, v), theirs = operands((5, 7), "float64", device)
    mask = mg.randn(5, 7, dtype=mg.float64, device=device).requires_grad_()
    (found,) = mg.autograd.grad(attend(q, k, v, mask).sum(), [mask])
    step = 1e-6

    def at(i, j, by):
        moved = mask.detach().clone()
        moved[i, j] += by
        return attend(q, k, v, moved).sum().item()

    for i, j in [(0, 0), (2, 5), (4, 6)]:
        assert found[i, j].item() == pytest.approx((at(i, j, step) - at(i, j, -step)) / (2 * step), abs=1e-6)


def test_operands_of_nothing(device):
    for l, s, e, v in [(0, 3, 4, 5), (3, 0, 4, 5), (3, 4, 5, 0), (0, 0, 1, 1)]:
        q, k, x = mg.randn(2, l, e, device=device), mg.randn(2, s, e, device=device), mg.randn(2, s, v, device=device)
        for t in (q, k, x):
            t.requires_grad_()
        y = attend(q, k, x)
        assert y.shape == (2, l, v)
        assert not y.detach().any().item() or s
        y.sum().backward()
        assert [t.grad.shape for t in (q, k, x)] == [q.shape, k.shape, x.shape]


def test_threads_do_not_matter(program):
    code = """
import micrograd_rs as mg
mg.manual_seed(3)
q, k, v = (mg.randn(2, heads, n, 20).requires_grad_() for heads, n in ((4, 130), (2, 600), (2, 600)))
y = mg.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
for t in (y, *mg.autograd.grad(y.square().sum(), [q, k, v])):
    print(t.tolist())
"""
    assert program(code, MG_NUM_THREADS="1") == program(code, MG_NUM_THREADS="3")


def test_long_ones_hold_no_scores():
    q = mg.randn(1, 1, 6000, 8).requires_grad_()
    taken = mg.tensor([[True]])
    y = attend(q, q, q, taken)
    y.sum().backward()
    assert y.shape == q.shape and q.grad.isfinite().all().item()


# Many scores are computed some queries at a time.


@pytest.mark.parametrize("shape", [(600, 1900), (1900,), (1, 1, 1900), (2, 600, 1), (1, 2, 600, 1900)])
def test_a_learned_mask_of_many_scores(device, shape):
    (q, k, v), theirs = operands((600, 1900), "float64", device)
    mask = numbers(*shape).to(device).requires_grad_()
    y, w, wanted = reference(*theirs, more=mask.detach().cpu().numpy())
    ours = attend(q, k, v, mask)
    close_to(ours, y)
    found = mg.autograd.grad(ours, [q, k, v, mask], mg.tensor(w, device=device))
    for got, want in zip(found[:3], wanted):
        close_to(got, want)
    # A gradient that is differentiated itself is that of all at once.
    both = mg.autograd.grad((attend(q, k, v, mask) * mg.tensor(w, device=device)).sum(), [mask], create_graph=True)
    close_to(both[0], found[3].cpu().numpy())
    step = 1e-6
    moved = mask.detach() + step * mask.detach().cos()
    slope = ((attend(q, k, v, moved) - ours.detach()) * mg.tensor(w, device=device)).sum().item() / step
    assert (found[3] * mask.detach().cos()).sum().item() == pytest.approx(slope, rel=1e-4, abs=1e-4)


def thinned(q, k, v, p, causal=False):
    """As attention with `dropout_p` does it, with all scores at once."""
    l, s = q.shape[2], k.shape[2]
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(~mg.ones(l, s, dtype=mg.bool, device=q.device).tril(), -math.inf)
    drawn = mg.rand(*q.shape[:2], 2, dtype=mg.float64, device=q.device).cpu().numpy()
    stays = mg.tensor(weights_that_stay(drawn, l, s, p).reshape(*q.shape[:2], l, s), device=q.device)
    return (scores.softmax(-1) * stays / (1 - math.floor(65536 * p + 0.5) / 65536)) @ v


@pytest.mark.parametrize(
    "batch, heads, l, s, causal", [(1, (4, 2), 600, 2000, False), (2, (2, 2), 1200, 1000, True), (100, (2, 2), 160, 160, True)]
)
def test_the_same_weights_of_many_are_left_out(device, batch, heads, l, s, causal):
    q, k, v = (mg.randn(batch, h, n, 8, dtype=mg.float64, device=device).requires_grad_() for h, n in ((heads[0], l), (heads[1], s), (heads[1], s)))
    # One that is learned keeps attention from the kernel.
    mask = mg.zeros(l, s, dtype=mg.float64, device=device)
    mask = (mask.masked_fill(~mg.ones(l, s, dtype=mg.bool, device=device).tril(), -math.inf) if causal else mask).requires_grad_()
    answers = []
    for how in (
        lambda: attend(q, k, v, dropout_p=0.3, is_causal=causal, enable_gqa=True),
        lambda: thinned(q, k, v, 0.3, causal),
        lambda: attend(q, k, v, dropout_p=0.3, is_causal=causal, enable_gqa=True),
        lambda: attend(q, k, v, mask, dropout_p=0.3, enable_gqa=True),
    ):
        mg.manual_seed(11)
        y = how()
        answers.append([y, *mg.autograd.grad(y.square().sum(), [q, k, v])])
    for ours, wanted, again, composed in zip(*answers):
        mg.testing.assert_close(ours, wanted)
        mg.testing.assert_close(composed, wanted)
        assert ours.tolist() == again.tolist()
    with mg.no_grad():
        mg.manual_seed(11)
        assert attend(q, k, v, dropout_p=0.3, is_causal=causal, enable_gqa=True).tolist() == answers[0][0].tolist()


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_gradients_leave_out_the_same(device, causal):
    q, k, v = (mg.randn(2, h, 9, 4, dtype=mg.float64, device=device) for h in (4, 2, 2))
    g = mg.randn(2, 4, 9, 4, dtype=mg.float64, device=device)
    found = []
    for attention in (
        lambda q, k, v: attend(q, k, v, dropout_p=0.4, is_causal=causal, enable_gqa=True),
        lambda q, k, v: thinned(q, k, v, 0.4, causal),
    ):
        mg.manual_seed(5)
        given = [t.clone().requires_grad_() for t in (q, k, v)]
        first = mg.autograd.grad((attention(*given) * g).sum(), given, create_graph=True)
        found.append([*first, *mg.autograd.grad(sum(t.square().sum() for t in first), given)])
    for ours, wanted in zip(*found):
        mg.testing.assert_close(ours, wanted)


def test_examples_leave_out_the_same_or_others(device):
    q, k, v = (mg.randn(3, 2, 5, 4, device=device) for _ in range(3))
    of = lambda q, k, v: attend(q, k, v, dropout_p=0.5)  # noqa: E731
    mg.manual_seed(7)
    different = mg.func.vmap(of, randomness="different")(q, k, v)
    mg.manual_seed(7)
    mg.rand(2, 2, device=device)  # an example's draw, which is not used
    mg.testing.assert_close(different, attend(q, k, v, dropout_p=0.5))
    mg.manual_seed(7)
    same = mg.func.vmap(of, randomness="same")(q, k, v)
    for i in range(3):
        mg.manual_seed(7)
        mg.testing.assert_close(same[i], of(q[i], k[i], v[i]))


def test_weights_of_many_are_left_out_in_replays():
    q, v = mg.randn(1, 2, 2200, 4), mg.randn(1, 2, 2200, 4, requires_grad=True)

    @mg.jit
    def step(q):
        loss = (attend(q, q, v, dropout_p=0.5) * q).sum()
        (g,) = mg.autograd.grad(loss, v)
        # It is linear in the values: the gradient is of the weights that stayed.
        return loss.detach(), (g * v.detach()).sum()

    mg.manual_seed(3)
    found = [[t.item() for t in step(q)] for _ in range(4)]
    assert step.is_replaying, step.reason
    assert len({loss for loss, _ in found}) == 4
    for loss, again in found:
        assert again == pytest.approx(loss, rel=1e-3, abs=1e-2)
    mg.manual_seed(3)
    assert [t.item() for t in step(q)] == pytest.approx(found[0], rel=1e-5)


def test_functions_of_many_scores():
    """What stands for many examples, and tangents, have all scores at once."""
    q, k, v = (mg.randn(2, 2, n, 4, dtype=mg.float64) for n in (1100, 1100, 1100))
    mask = mg.randn(1100, dtype=mg.float64, requires_grad=True)
    whole = attend(q, k, v, mask)
    mg.testing.assert_close(mg.func.vmap(lambda q, k, v: attend(q, k, v, mask))(q, k, v), whole)
    _, tangent = mg.func.jvp(lambda mask: attend(q, k, v, mask), (mask.detach(),), (mg.ones_like(mask),))
    assert tangent.abs().max().item() < 1e-9  # what all scores have in common changes nothing
    (g,) = mg.autograd.grad(whole.square().sum(), [mask])
    mg.testing.assert_close(mg.func.grad(lambda mask: attend(q, k, v, mask).square().sum())(mask.detach()), g)


def test_scores_of_ones_own_go_block_by_block(device):
    q, k, v = (mg.randn(1, 2, 2200, 8, dtype=mg.float64, device=device).requires_grad_() for _ in range(3))
    slope = mg.tensor([0.5, 0.25], dtype=mg.float64, device=device).requires_grad_()
    table = slope.view(1, 2, 1, 1) * (mg.arange(2200, device=device) - mg.arange(2200, device=device)[:, None])
    causal = create_block_mask(lambda b, h, i, j: i >= j, None, None, 2200, 2200, device=device)
    taken = mg.ones(2200, 2200, dtype=mg.bool, device=device).tril()
    alibi = lambda score, b, h, i, j: score + slope[h] * (j - i)  # noqa: E731
    wanted = attend(q, k, v, table.masked_fill(~taken, -math.inf))
    ours, aux = flex_attention(q, k, v, alibi, causal, return_aux=AuxRequest(lse=True, max_scores=True))
    mg.testing.assert_close(ours, wanted)
    for got, want in zip(mg.autograd.grad(ours.sum(), [q, k, v, slope]), mg.autograd.grad(wanted.sum(), [q, k, v, slope])):
        mg.testing.assert_close(got, want)
    scores = (q @ k.mT / math.sqrt(8) + table).masked_fill(~taken, -math.inf)
    mg.testing.assert_close(aux.lse, scores.logsumexp(-1))
    mg.testing.assert_close(aux.max_scores, scores.detach().amax(-1))
    mg.testing.assert_close(flex_attention(q, k, v, block_mask=causal), attend(q, k, v, is_causal=True))


@pytest.mark.parametrize("how", ["attend(q, k, v, mask)", "attend(q, k, v, dropout_p=0.1)", "attend(q, k, v, dropout_p=0.1, is_causal=True)", "flex_attention(q, k, v, lambda s, b, h, i, j: s + j, taken)"])
def test_many_scores_never_all_lie_in_memory(program, how):
    code = f"""
import resource
import micrograd_rs as mg
from micrograd_rs.nn.attention.flex_attention import create_block_mask, flex_attention
attend = mg.nn.functional.scaled_dot_product_attention
q, k, v = (mg.randn(1, 2, 4096, 32, requires_grad=True) for _ in range(3))
mask = mg.randn(4096, requires_grad=True)
taken = create_block_mask(lambda b, h, i, j: i >= j, None, None, 4096, 4096)
mg.realize(q, k, v, mask, taken._mask)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{how}.square().sum().backward()
mg.realize(q.grad, k.grad, v.grad)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    # All of them are 128 MiB, and several of these were alive.
    assert int(program(code, MG_NUM_THREADS="1")) < 80


def test_nothing_is_laid_out_anew(device):
    """Heads are parts of a product's rows, coming and going: no launch only moves elements."""
    batch, length, heads, size = 2, 6, 3, 8
    w = heads * size
    x = mg.randn(batch, length, w, device=device, requires_grad=True)
    projection = mg.randn(3 * w, w, device=device, requires_grad=True)
    flow = mg.randn(batch, length, w, device=device)
    with mg.profiler.profile() as profile:
        q, k, v = mg.nn.functional.linear(x, projection).split(w, 2)
        q, k, v = (t.view(batch, length, heads, size).transpose(1, 2) for t in (q, k, v))
        y = mg.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, w)
        y.backward(flow)
        for t in (y, x.grad, projection.grad):
            t.tolist()
    kinds = [launch["kind"] for launch in profile.launches]
    assert {"attention", "attention_backward", "matmul"} <= set(kinds)
    assert not {"copy", "concat", "write"} & set(kinds), kinds


def test_a_part_that_is_somebodys_stays_apart(device):
    """A gradient that a hook has changed is joined as it is, not as it lay beside the others."""
    x = mg.arange(24.0, device=device).reshape(1, 2, 12).requires_grad_()
    q, k, v = x.split(4, 2)
    k.register_hook(lambda g: g * 0)
    heads = [t.reshape(1, 2, 2, 2).transpose(1, 2) for t in (q, k, v)]
    mg.nn.functional.scaled_dot_product_attention(*heads, scale=0.01).square().sum().backward()
    assert (x.grad[..., 4:8] == 0).all() and (x.grad[..., 8:] != 0).all()
