"""Rotary positions beside a formula in float64, and what computing them takes."""

from __future__ import annotations

import itertools

import micrograd_rs as mg
import numpy as np
import pytest
from micrograd_rs import nn
from micrograd_rs.nn import functional as F
from micrograd_rs.onnx.ops import rotary_embedding

TOLERANCE = {"float64": 1e-12, "float32": 1e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def turned(x, cos, sin, interleaved=False, features=0):
    """NumPy's `[batch, heads, sequence, size]`, by `[batch, sequence, features / 2]`."""
    n = features or x.shape[-1]
    own, (cos, sin) = x[..., :n], (cos[:, None], sin[:, None])
    a, b = (own[..., 0::2], own[..., 1::2]) if interleaved else (own[..., : n // 2], own[..., n // 2 :])
    both = a * cos - b * sin, b * cos + a * sin
    own = np.stack(both, -1).reshape(own.shape) if interleaved else np.concatenate(both, -1)
    return np.concatenate([own, x[..., n:]], -1)


def angles(sequence, half, batch=1, first=0):
    at = (first + np.arange(batch)[:, None] * 3 + np.arange(sequence))[..., None] * 100.0 ** (-np.arange(half) / max(half, 1))
    return np.cos(at), np.sin(at)


def of(t):
    return t.detach().double().cpu().numpy()


def near(got, wanted, dtype):
    np.testing.assert_allclose(of(got), wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def tensors(device, dtype, *arrays):
    return [mg.tensor(a, dtype=getattr(mg, dtype), device=device) for a in arrays]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 5, 8), (1, 1, 1, 2), (1, 4, 33, 64), (3, 2, 7, 6), (2, 0, 3, 4), (1, 2, 0, 4), (2, 2, 3, 0)])
def test_beside_a_formula(device, dtype, interleaved, shape):
    rng = np.random.default_rng(3)
    x, g = tensors(device, dtype, rng.standard_normal(shape), rng.standard_normal(shape))
    x.requires_grad_()
    own = angles(shape[2], shape[3] // 2, shape[0])
    for of_tables in {dtype, "float32"}:
        cos, sin = tensors(device, of_tables, *own)
        y = F.rotary_embedding(x, cos, sin, interleaved=interleaved)
        assert (y.dtype, y.shape) == (x.dtype, x.shape)
        near(y, turned(of(x), of(cos), of(sin), interleaved), dtype)
        # What turns back by as much.
        (back,) = mg.autograd.grad(y, x, g)
        near(back, turned(of(g), of(cos), -of(sin), interleaved), dtype)


def layouts(x, device):
    """The same numbers, lying otherwise."""
    b, h, l, n = x.shape
    yield x
    yield x.permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3)
    yield x.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0)
    whole = mg.zeros(b, l, 3, h, n + 2, dtype=x.dtype, device=device)
    whole[:, :, 1, :, 1 : n + 1] = x.permute(0, 2, 1, 3)
    yield whole[:, :, 1, :, 1 : n + 1].permute(0, 2, 1, 3)
    yield x.flip(2).contiguous().flip(2)
    yield mg.stack([x, x * 2], -1).contiguous()[..., 0]


@pytest.mark.parametrize("interleaved", [False, True])
def test_all_layouts_give_the_same_bits(device, interleaved):
    rng = np.random.default_rng(4)
    for dtype, (b, h, l, n) in itertools.product(["float32", "bfloat16"], [(2, 3, 5, 8), (1, 2, 17, 64), (2, 1, 3, 2)]):
        x, g = tensors(device, dtype, rng.standard_normal((b, h, l, n)), rng.standard_normal((b, h, l, n)))
        cos, sin = tensors(device, "float32", *angles(l, n // 2, b))
        wanted = of(F.rotary_embedding(x, cos, sin, interleaved=interleaved))
        gradient = None
        for seen, flow in zip(layouts(x, device), layouts(g, device)):
            seen = seen.detach().requires_grad_()
            y = F.rotary_embedding(seen, cos, sin, interleaved=interleaved)
            np.testing.assert_array_equal(of(y), wanted)
            (back,) = mg.autograd.grad(y, seen, flow)
            gradient = of(back) if gradient is None else gradient
            np.testing.assert_array_equal(of(back), gradient)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("features", [0, 2, 6])
def test_operator_of_onnx(device, interleaved, features):
    rng = np.random.default_rng(5)
    b, h, l, n = 2, 3, 4, 8
    cos, sin = np.cos(np.arange(40.0)).reshape(10, 4), np.sin(np.arange(40.0)).reshape(10, 4)
    cos, sin = cos[:, : (features or n) // 2], sin[:, : (features or n) // 2]
    at = rng.integers(0, 10, (b, l))
    x = rng.standard_normal((b, h, l, n))
    wanted = turned(x, cos[at], sin[at], interleaved, features)
    ours, *caches = tensors(device, "float64", x, cos, sin)
    places = mg.tensor(at, device=device)
    got = rotary_embedding(ours, *caches, places, interleaved=interleaved, rotary_embedding_dim=features)
    near(got, wanted, "float64")
    near(rotary_embedding(ours, *caches, places.int(), interleaved=interleaved, rotary_embedding_dim=features, num_heads=h), wanted, "float64")
    flat = ours.transpose(1, 2).reshape(b, l, h * n)
    got = rotary_embedding(flat, *caches, places, interleaved=interleaved, rotary_embedding_dim=features, num_heads=h)
    near(got.unflatten(-1, (h, n)).transpose(1, 2), wanted, "float64")


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("features", [0, 4])
def test_as_pytorchs_operator(device, interleaved, features):
    torch = pytest.importorskip("torch")
    ops = pytest.importorskip("torch.onnx.ops", reason="PyTorch has it since 2.8")
    rng = np.random.default_rng(6)
    x, at = rng.standard_normal((2, 3, 4, 8)), rng.integers(0, 9, (2, 4))
    caches = rng.standard_normal((2, 9, (features or 8) // 2))
    how = {"interleaved": interleaved, "rotary_embedding_dim": features}
    theirs = ops.rotary_embedding(*map(torch.tensor, (x, *caches, at)), **how)
    ours = rotary_embedding(*tensors(device, "float64", x, *caches), mg.tensor(at, device=device), **how)
    near(ours, theirs.numpy(), "float64")
    flat = x.swapaxes(1, 2).reshape(2, 4, 24)
    theirs = ops.rotary_embedding(*map(torch.tensor, (flat, *caches, at)), num_heads=3, **how)
    ours = rotary_embedding(*tensors(device, "float64", flat, *caches), mg.tensor(at, device=device), num_heads=3, **how)
    near(ours, theirs.numpy(), "float64")


@pytest.mark.parametrize("interleaved", [False, True])
def test_gradients_of_first_and_second_order(device, interleaved):
    rng = np.random.default_rng(7)
    x, cos, sin = tensors(device, "float64", rng.standard_normal((2, 2, 3, 4)), *rng.standard_normal((2, 1, 3, 2)))
    inputs = [t.requires_grad_() for t in (x, cos, sin)]
    call = lambda x, cos, sin: F.rotary_embedding(x, cos, sin, interleaved=interleaved)  # noqa: E731
    assert mg.autograd.gradcheck(call, inputs)
    assert mg.autograd.gradgradcheck(call, inputs)
    table = tensors(device, "float64", rng.standard_normal((5, 2)))[0].requires_grad_()
    at = mg.tensor([[0, 4, 4], [1, 0, 2]], device=device)
    assert mg.autograd.gradcheck(lambda x, table: F.rotary_embedding(x, table, table, at, interleaved=interleaved), [x, table])


def test_batches(device):
    x, cos, sin = tensors(device, "float64", *(np.random.default_rng(8).standard_normal(s) for s in [(3, 2, 2, 4, 6), (2, 4, 3), (2, 4, 3)]))
    got = mg.func.vmap(lambda x: F.rotary_embedding(x, cos, sin))(x)
    mg.testing.assert_close(got, mg.stack([F.rotary_embedding(one, cos, sin) for one in x]))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("interleaved", [False, True])
def test_one_launch_each_way(device, dtype, interleaved):
    """Nothing is laid side by side or copied, be it heads of a packed projection."""
    x = mg.randn(2, 64, 3, 4, 64, dtype=getattr(mg, dtype), device=device).detach()
    flow = mg.randn(2, 4, 64, 64, dtype=getattr(mg, dtype), device=device).detach()
    cos, sin = tensors(device, "float32", *angles(64, 32))
    mg.realize(x, flow, cos, sin)
    for seen in (x[:, :, 1].transpose(1, 2), x[:, :, 1].contiguous().transpose(1, 2).contiguous()):
        mg.realize(seen)
        seen.requires_grad_()
        y = F.rotary_embedding(seen, cos, sin, interleaved=interleaved)
        assert len(mg.explain(y).launches) == 1
        mg.realize(y)
        (back,) = mg.autograd.grad(y, seen, flow)
        assert len(mg.explain(back).launches) == 1
    flat = x.reshape(2, 64, -1)[..., :256]
    assert len(mg.explain(F.rotary_embedding(flat, cos, sin, num_heads=4, interleaved=interleaved)).launches) == 1


@pytest.mark.parametrize("interleaved", [False, True])
def test_module(device, interleaved):
    rotary = nn.RotaryPositionalEmbeddings(8, 20, base=50.0, interleaved=interleaved).to(device)
    assert not rotary.state_dict() and {name for name, _ in rotary.named_buffers()} == {"theta", "cache"}
    assert (rotary.cache.shape, rotary.cache.device.type) == ((20, 4, 2), mg.device(device).type)
    at = np.arange(20)[:, None] * 50.0 ** (-np.arange(0, 8, 2) / 8)
    np.testing.assert_allclose(of(rotary.cache), np.stack([np.cos(at), np.sin(at)], -1), atol=6e-8)
    qkv = mg.randn(2, 6, 3, 2, 8, device=device)
    x = of(qkv[:, :, 0]).swapaxes(1, 2)
    cache = of(rotary.cache)
    wanted = turned(x, cache[None, :6, :, 0], cache[None, :6, :, 1], interleaved).swapaxes(1, 2)
    near(rotary(qkv[:, :, 0]), wanted, "float32")
    places = np.array([[3, 4, 19, 0, 0, 7], [1, 2, 3, 4, 5, 6]])
    for given in (places, places[:1], places[0]):
        rows = cache[np.atleast_2d(given)]
        wanted = turned(x, rows[..., 0], rows[..., 1], interleaved).swapaxes(1, 2)
        near(rotary(qkv[:, :, 0], input_pos=mg.tensor(given, device=device)), wanted, "float32")
    assert rotary(qkv[:, :, 0].bfloat16()).dtype == mg.bfloat16
    rotary.build_rope_cache(40)
    assert rotary.cache.shape == (40, 4, 2) and rotary.cache.device.type == mg.device(device).type
    # Products depend on how far apart both stand.
    q, k = mg.randn(1, 1, 1, 8, device=device), mg.randn(1, 1, 1, 8, device=device)
    place = lambda n: mg.tensor([n], device=device)  # noqa: E731
    products = [(rotary(q, input_pos=place(n + 5)) * rotary(k, input_pos=place(n))).sum().item() for n in (0, 3, 30)]
    np.testing.assert_allclose(products, products[0], rtol=1e-4, atol=1e-5)


def test_what_is_refused(device):
    x, cos = mg.randn(2, 3, 4, 6, device=device), mg.randn(1, 4, 3, device=device)
    at = mg.zeros(2, 4, dtype=mg.int64, device=device)
    own = nn.RotaryPositionalEmbeddings(6).to(device)
    wrong = [
        (ValueError, "pairs of features", lambda: F.rotary_embedding(x[..., :5], cos, cos)),
        (ValueError, "pairs of features", lambda: F.rotary_embedding(x, cos, cos, rotary_embedding_dim=3)),
        (ValueError, "pairs of features", lambda: F.rotary_embedding(x, cos, cos, rotary_embedding_dim=8)),
        (ValueError, r"cos_cache \[2, 4, 3\]", lambda: F.rotary_embedding(x, cos[:, :3], cos)),
        (ValueError, r"sin_cache \[2, 4, 3\]", lambda: F.rotary_embedding(x, cos, cos[..., :2])),
        (ValueError, r"\[positions, 3\]", lambda: F.rotary_embedding(x, cos, cos, at)),
        (ValueError, r"position_ids \[2, 4\]", lambda: F.rotary_embedding(x, cos[0], cos[0], at[:, :3])),
        (TypeError, "integers", lambda: F.rotary_embedding(x, cos[0], cos[0], at.float())),
        (TypeError, "takes cos_cache of float32", lambda: F.rotary_embedding(x, cos.double(), cos)),
        (TypeError, "cos_cache of float32, got", lambda: F.rotary_embedding(x, cos.half(), cos)),
        (TypeError, "cos_cache of float32 or float16, got", lambda: F.rotary_embedding(x.half(), cos.double(), cos)),
        (TypeError, "floats", lambda: F.rotary_embedding(x.long(), cos, cos)),
        (TypeError, "float8_e4m3fn", lambda: F.rotary_embedding(x.to(mg.float8_e4m3fn), cos, cos)),
        (ValueError, "num_heads", lambda: F.rotary_embedding(x[0], cos, cos)),
        (ValueError, "num_heads", lambda: F.rotary_embedding(x, cos, cos, num_heads=2)),
        (ValueError, "do not part", lambda: F.rotary_embedding(x[0], cos, cos, num_heads=4)),
        (ValueError, "got shape", lambda: F.rotary_embedding(x[0, 0], cos, cos)),
        (IndexError, "out of range", lambda: mg.realize(F.rotary_embedding(x, cos[0], cos[0], at + 4))),
        (ValueError, "even dim", lambda: nn.RotaryPositionalEmbeddings(5)),
        (ValueError, "positive base", lambda: nn.RotaryPositionalEmbeddings(4, base=0)),
        (ValueError, "positive base", lambda: nn.RotaryPositionalEmbeddings(4, base=float("inf"))),
        (ValueError, "max_seq_len", lambda: nn.RotaryPositionalEmbeddings(4).build_rope_cache(-1)),
        (TypeError, "max_seq_len", lambda: nn.RotaryPositionalEmbeddings(4).build_rope_cache(1.5)),
        (ValueError, r"RotaryPositionalEmbeddings: takes input_pos \[2, 3\] or \[3\], got shape \(4,\)", lambda: own(x, input_pos=at[0])),
        (ValueError, r"takes input_pos", lambda: own(x, input_pos=at[0, 0])),
        (ValueError, r"takes input_pos", lambda: own(x, input_pos=at[None, :, :3])),
        (ValueError, r"heads, 6\]", lambda: nn.RotaryPositionalEmbeddings(6)(x[0])),
        (ValueError, "3 positions", lambda: nn.RotaryPositionalEmbeddings(6, 2).to(device)(x)),
    ]
    for kind, text, call in wrong[:-1]:
        with pytest.raises(kind, match=text):
            call()
    with pytest.raises(ValueError, match="angles of 2 positions, got 3 tokens"):
        wrong[-1][2]()


def test_exported(device):
    """A model with rotary positions is a file of ONNX's plain operators."""
    if device != "cpu":
        pytest.skip("files are written on the host")
    import io

    model = nn.RotaryPositionalEmbeddings(8, 20)
    assert len(mg.onnx.export(model, (mg.randn(1, 5, 2, 8),), io.BytesIO(), input_names=["x"], output_names=["y"]) or b"x")
