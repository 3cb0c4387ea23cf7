"""Floats of eight bits: PyTorch's float8_e4m3fn and float8_e5m2."""

from __future__ import annotations

import pickle
from pathlib import Path

import micrograd_rs as mg
import numpy as np
import pytest

NARROW = ["float8_e4m3fn", "float8_e5m2"]
# Fraction's bits and exponent's bias; the largest code of a number.
FORM = {"float8_e4m3fn": (3, 7, 0x7E), "float8_e5m2": (2, 15, 0x7B)}


def value(dtype: str, code: int) -> float:
    """What a code stands for, by its bits."""
    fraction, bias, largest = FORM[dtype]
    magnitude, sign = code & 0x7F, -1.0 if code & 0x80 else 1.0
    if magnitude > largest:
        return sign * float("inf") if dtype == "float8_e5m2" and magnitude == 0x7C else float("nan")
    exponent, rest = magnitude >> fraction, (magnitude & ((1 << fraction) - 1)) / (1 << fraction)
    return sign * (rest * 2.0 ** (1 - bias) if exponent == 0 else (1 + rest) * 2.0 ** (exponent - bias))


def rounded(dtype: str, x: np.ndarray) -> np.ndarray:
    """Codes of the nearest numbers, ties to even, found among all of them."""
    largest = FORM[dtype][2]
    all_numbers = np.array([value(dtype, code) for code in range(largest + 1)])
    # One more, if there were one: what rounds to it is beyond the largest.
    all_numbers = np.append(all_numbers, 2 * all_numbers[-1] - all_numbers[-2])
    # NaN that signals is none the less one.
    with np.errstate(invalid="ignore"):
        size = np.abs(x.astype(np.float64))
    up = np.clip(np.searchsorted(all_numbers, size), 1, largest + 1)
    down = up - 1
    with np.errstate(invalid="ignore"):
        above, below = all_numbers[up] - size, size - all_numbers[down]
    codes = np.where((above < below) | ((above == below) & (up % 2 == 0)), up, down)
    codes[size >= all_numbers[-1]] = largest + 1
    codes[codes > largest] = 0x7E if dtype == "float8_e4m3fn" else 0x7C
    codes[np.isnan(x)] = 0x7F
    return (codes | np.where(np.signbit(x), 0x80, 0)).astype(np.uint8)


def codes_of(t: mg.Tensor) -> np.ndarray:
    return t.view(mg.uint8).numpy()


def every(dtype: str) -> mg.Tensor:
    return mg.from_numpy(np.arange(256, dtype=np.uint8)).view(mg.dtype(dtype))


@pytest.mark.parametrize("dtype", NARROW)
def test_every_code_is_the_number_that_its_bits_say(dtype: str) -> None:
    x = every(dtype)
    want = np.array([value(dtype, code) for code in range(256)])
    assert np.array_equal(np.array(x.tolist()), want, equal_nan=True)
    with np.errstate(invalid="ignore"):
        for wide in (mg.float64, mg.float32, mg.float16):
            assert np.array_equal(x.to(wide).numpy().astype(np.float64), want, equal_nan=True)
    assert np.array_equal(np.signbit(x.float().numpy()), np.arange(256) >= 128)
    back = codes_of(x.float().to(dtype))
    number = ~np.isnan(want)
    assert np.array_equal(back[number], np.arange(256)[number])
    assert np.array_equal(back[~number] & 0x7F, np.full((~number).sum(), 0x7F))


@pytest.mark.parametrize("dtype", NARROW)
def test_numbers_are_rounded_to_the_nearest(dtype: str) -> None:
    bits = np.arange(1 << 16, dtype="u2")
    halves = bits.view(np.float16)
    brains = (bits.astype("u4") << 16).view(np.float32)
    random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, dtype=np.uint64).astype("u4").view(np.float32)
    cases = {"float16": halves, "bfloat16": brains, "float32": random}
    for name, x in cases.items():
        t = mg.from_numpy(np.ascontiguousarray(x.astype(np.float32))).to(name)
        got, want = codes_of(t.to(dtype)), rounded(dtype, x)
        nan = np.isnan(x)
        assert np.array_equal(got[~nan], want[~nan]), name
        assert np.array_equal(got[nan] & 0x7F, want[nan] & 0x7F), name


@pytest.mark.parametrize("dtype", NARROW)
def test_what_it_is(dtype: str) -> None:
    own = getattr(mg, dtype)
    assert own == dtype
    assert (own.itemsize, own.is_floating_point, own.is_signed, own.is_complex) == (1, True, True, False)
    assert mg.zeros(2, dtype=dtype).dtype is own
    limits = mg.finfo(dtype)
    fraction, bias, largest = FORM[dtype]
    assert (limits.bits, limits.max, limits.min) == (8, value(dtype, largest), -value(dtype, largest))
    assert (limits.eps, limits.tiny, limits.resolution) == (2.0**-fraction, 2.0 ** (1 - bias), 1.0)
    assert mg.promote_types(dtype, dtype) is own
    assert mg.result_type(mg.ones(2, dtype=dtype), 1.5) is own
    assert repr(mg.tensor([1.0, -2.0], dtype=dtype)) == f"tensor([ 1., -2.], dtype=micrograd_rs.{dtype})"


@pytest.mark.parametrize("dtype", NARROW)
def test_elements_are_moved(dtype: str) -> None:
    x, codes = every(dtype), np.arange(256, dtype=np.uint8)
    grid = x.reshape(16, 16)
    assert np.array_equal(codes_of(grid.t().contiguous()), codes.reshape(16, 16).T)
    assert np.array_equal(codes_of(mg.cat([x[3:5], x[250:]])), np.concatenate([codes[3:5], codes[250:]]))
    assert np.array_equal(codes_of(mg.stack([x, x.flip(0)])), np.stack([codes, codes[::-1]]))
    index = mg.tensor([255, 0, 127, 128])
    assert codes_of(x[index]).tolist() == codes_of(x.index_select(0, index)).tolist() == [255, 0, 127, 128]
    assert codes_of(x[mg.arange(256) % 100 == 1]).tolist() == [1, 101, 201]
    y = x.clone()
    y[0], y[mg.tensor([1, 2])] = 3.3, mg.tensor([5.0, -6.0], dtype=dtype)
    near = 3.25 if dtype == "float8_e4m3fn" else 3.5
    assert y[:3].tolist() == [near, 5.0, -6.0]
    assert np.array_equal(codes_of(y[3:]), codes[3:])
    assert y.fill_(2.0)[7].item() == 2.0 and bool(y[7]) and int(y[7]) == 2 and not y.zero_().any()
    assert mg.full((2,), 3.3, dtype=dtype).tolist() == [near, near]
    z = mg.ones(3)
    assert z.copy_(mg.tensor([1.0, 2.0, 3.0], dtype=dtype)).tolist() == [1.0, 2.0, 3.0]
    assert mg.where(mg.tensor([True, False]), mg.tensor([1.0, 2.0], dtype=dtype), 4.0).tolist() == [1.0, 4.0]
    assert mg.eye(2, dtype=dtype).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("dtype", NARROW)
def test_elements_are_asked_what_they_are(dtype: str) -> None:
    x = every(dtype)
    numbers = np.array([value(dtype, code) for code in range(256)])
    for name in ("isnan", "isinf", "isfinite", "signbit"):
        assert np.array_equal(getattr(x, name)().numpy(), getattr(np, name)(x.float().numpy())), name
    assert np.array_equal((x == x).numpy(), ~np.isnan(numbers)) and np.array_equal((x != x).numpy(), np.isnan(numbers))
    assert (x == 1).sum().item() == 1
    assert np.array_equal(x.abs().float().numpy(), np.abs(x.float().numpy()), equal_nan=True)
    plain = x[mg.isfinite(x)]
    assert mg.equal(plain, plain.clone()) and not mg.equal(plain, plain.flip(0))
    mg.testing.assert_close(plain, plain.clone())


@pytest.mark.parametrize("dtype", NARROW)
def test_what_computes_refuses_it_and_says_what_it_takes(dtype: str) -> None:
    x = mg.ones(2, 2, dtype=dtype)
    short = mg.dtype(dtype).short_name
    calls = [
        lambda: x + 1,
        lambda: x + x,
        lambda: x * mg.ones(2, 2),
        lambda: -x,
        lambda: x < 1,
        lambda: x.exp(),
        lambda: x.sum(),
        lambda: x.max(),
        lambda: x @ x,
        lambda: x.sort(),
        lambda: x.cumsum(0),
        lambda: x.relu(),
        lambda: x.softmax(0),
        lambda: x.add_(1),
        lambda: mg.nn.functional.linear(x, x),
        lambda: mg.nn.functional.conv2d(x.reshape(1, 1, 2, 2), x.reshape(1, 1, 2, 2)),
    ]
    for call in calls:
        with pytest.raises(mg.DTypeError, match=f"{short}.*float32|{dtype}|bf16|bfloat16"):
            call().realize()
    for call in (lambda: mg.cat([x, mg.ones(2, 2)]), lambda: x == mg.ones(2, 2), lambda: mg.promote_types(dtype, mg.float32)):
        with pytest.raises(mg.DTypeError, match="do not meet"):
            call()
    for call in (lambda: mg.randn(2, dtype=dtype), lambda: mg.rand(2, dtype=dtype), lambda: mg.set_default_dtype(dtype)):
        with pytest.raises(mg.DTypeError, match="computed with"):
            call()
    with pytest.raises(TypeError, match="view"):
        x.numpy()


def test_floats_of_both_kinds_do_not_meet() -> None:
    a, b = (mg.ones(2, dtype=dtype) for dtype in NARROW)
    with pytest.raises(mg.DTypeError, match="do not meet"):
        mg.cat([a, b])
    assert a.to(b.dtype).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", NARROW)
def test_gradients_pass_conversions(dtype: str) -> None:
    x = mg.tensor([1.1, -3.3, 1e9], requires_grad=True)
    (x.to(dtype).float() * mg.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("dtype", NARROW)
def test_files_and_other_libraries_get_it(dtype: str, tmp_path: Path) -> None:
    x = every(dtype)
    path = tmp_path / "x.safetensors"
    mg.safetensors.save_file({"x": x.reshape(2, 128)}, path)
    header = path.read_bytes()[8:200].decode("latin1")
    assert {"float8_e4m3fn": '"F8_E4M3"', "float8_e5m2": '"F8_E5M2"'}[dtype] in header
    assert np.array_equal(codes_of(mg.safetensors.load_file(path)["x"]).reshape(-1), codes_of(x))
    mg.save({"x": x}, tmp_path / "x.pt")
    assert np.array_equal(codes_of(mg.load(tmp_path / "x.pt")["x"]), codes_of(x))
    assert np.array_equal(codes_of(pickle.loads(pickle.dumps(x))), codes_of(x))
    other = mg.from_dlpack(x)
    assert other.dtype == mg.dtype(dtype) and np.array_equal(codes_of(other), codes_of(x))


@pytest.mark.parametrize("dtype", NARROW)
def test_pytorch_converts_alike(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 15):
        pytest.skip("PyTorch made NaN of what is beyond 448 before")
    own = getattr(torch, dtype)
    bits = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16)
    random = torch.randint(-(1 << 31), (1 << 31) - 1, (1 << 18,), dtype=torch.int64).to(torch.int32).view(torch.float32)
    for x in (bits.view(torch.float16), bits.view(torch.bfloat16), random):
        want = x.to(own).view(torch.uint8).numpy()
        got = codes_of(mg.from_dlpack(x).to(dtype))
        nan = x.isnan().numpy()
        assert np.array_equal(got[~nan], want[~nan]) and np.array_equal(got[nan] & 0x7F, want[nan] & 0x7F)
    there = torch.from_dlpack(every(dtype))
    assert there.dtype == own and there.view(torch.uint8).tolist() == list(range(256))
    back = mg.from_dlpack(there)
    assert back.dtype == mg.dtype(dtype) and codes_of(back).tolist() == list(range(256))


SHAPES = [(1, 16, 8), (16, 16, 16), (33, 48, 40), (5, 7, 3), (64, 128, 96), (2, 0, 3), (0, 4, 3)]


def operand(rng: np.random.Generator, dtype: str, *shape: int) -> mg.Tensor:
    return mg.from_numpy(rng.normal(size=shape).astype(np.float32)).to(dtype)


def as_doubles(t: mg.Tensor) -> np.ndarray:
    return t.to(mg.float64).numpy()


@pytest.mark.parametrize("dtypes", [(a, b) for a in NARROW for b in NARROW])
@pytest.mark.parametrize("out", ["float32", "bfloat16", "float16"])
def test_scaled_products(dtypes: tuple[str, str], out: str) -> None:
    rng = np.random.default_rng(1)
    for m, k, n in SHAPES:
        a, b = operand(rng, dtypes[0], m, k), operand(rng, dtypes[1], n, k).t()
        bias = mg.from_numpy(rng.normal(size=n).astype(np.float32)).to(out)
        for rows in (False, True):
            sizes = ((m, 1), (1, n)) if rows else ((), ())
            scales = [mg.tensor(rng.uniform(0.5, 2.0, size=size).astype(np.float32)) for size in sizes]
            want = (as_doubles(a) @ as_doubles(b)) * as_doubles(scales[0]) * as_doubles(scales[1])
            size = (abs(as_doubles(a)) @ abs(as_doubles(b))) * as_doubles(scales[0]) * as_doubles(scales[1])
            for beside in (None, bias):
                got = mg._scaled_mm(a, b, *scales, bias=beside, out_dtype=out)
                assert (got.dtype, got.shape) == (mg.dtype(out), (m, n))
                whole = want if beside is None else want + as_doubles(bias)
                # f32 on the way, and one rounding.
                bound = 1e-6 * (size + 1) + mg.finfo(out).eps / 2 * abs(whole) * 1.01
                assert (abs(as_doubles(got) - whole) <= bound).all()


def test_a_product_of_eight_bits_is_scaled_once_more() -> None:
    one = mg.tensor(1.0)
    a, b = mg.full((2, 16), 8.0, dtype=NARROW[0]), mg.full((16, 3), 8.0, dtype=NARROW[0])
    product = mg._scaled_mm(a, b, one, one, scale_result=mg.tensor(0.25))
    assert (product.dtype, product.float().max().item()) == (mg.float8_e4m3fn, 256.0)
    assert mg._scaled_mm(a, b, one, one).float().max().item() == 448.0
    assert mg._scaled_mm(a, b, one, one, scale_result=mg.tensor(0.25), out_dtype="float32").max().item() == 1024.0


def test_what_a_scaled_product_refuses() -> None:
    a, b, one = mg.ones(2, 16, dtype=NARROW[0]), mg.ones(16, 3, dtype=NARROW[1]), mg.tensor(1.0)
    for args, error, text in (
        ((a.float(), b.float(), one, one), mg.DTypeError, "eight bits"),
        ((a, b.t(), one, one), mg.ArgumentError, r"\[m, k\] and \[k, n\]"),
        ((a.reshape(2, 4, 4), b, one, one), mg.ArgumentError, "matrices"),
        ((a, b, mg.tensor(1.0, dtype=mg.float64), one), mg.DTypeError, "float32|f32"),
        ((a, b, mg.ones(2), mg.ones(3)), mg.ArgumentError, r"\[m, 1\] and \[1, n\]"),
        ((a, b, mg.ones(2, 1), one), mg.ArgumentError, r"\[m, 1\] and \[1, n\]"),
        ((a, b, one, one, mg.ones(2)), mg.ArgumentError, "bias"),
    ):
        with pytest.raises(error, match=text):
            mg._scaled_mm(*args)
    with pytest.raises(mg.DTypeError, match="answers with"):
        mg._scaled_mm(a, b, one, one, out_dtype=mg.float64)
    with pytest.raises(RuntimeError, match="gradient"):
        mg._scaled_mm(a, b, one.clone().requires_grad_(), one)


def test_scaled_products_by_the_functions_name() -> None:
    F = mg.nn.functional
    rng = np.random.default_rng(2)
    a, b = operand(rng, NARROW[0], 4, 16), operand(rng, NARROW[0], 16, 8)
    one, each, row = mg.tensor(2.0), F.ScalingType.TensorWise, F.ScalingType.RowWise
    got = F.scaled_mm(a, b, one, each, [one], [each], swizzle_a=F.SwizzleType.NO_SWIZZLE)
    assert got.dtype == mg.bfloat16 and mg.equal(got, mg._scaled_mm(a, b, one, one, out_dtype="bfloat16"))
    scales = mg.rand(4, 1), mg.rand(1, 8)
    got = F.scaled_mm(a, b, scales[0], row, scales[1], row, output_dtype=mg.float32, contraction_dim=(1, 0))
    assert mg.equal(got, mg._scaled_mm(a, b, *scales, out_dtype=mg.float32))
    for bad in (
        lambda: F.scaled_mm(a, b, one, each, scales[1], row),
        lambda: F.scaled_mm(a, b, one, F.ScalingType.BlockWise1x128, one, F.ScalingType.BlockWise1x128),
        lambda: F.scaled_mm(a, b, one, each, one, each, swizzle_b=F.SwizzleType.SWIZZLE_32_4_4),
        lambda: F.scaled_mm(a, b, one, each, one, each, contraction_dim=(0, 1)),
        lambda: F.scaled_mm(a, b, scales[0], each, scales[1], each),
    ):
        with pytest.raises(ValueError, match="scaled_mm: "):
            bad()


@pytest.mark.parametrize("dtypes", [(NARROW[0], NARROW[0]), (NARROW[1], NARROW[0])])
def test_pytorch_multiplies_alike(dtypes: tuple[str, str]) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(32, 64)).astype(np.float32), rng.normal(size=(48, 64)).astype(np.float32)
    scales = rng.uniform(0.5, 2, size=2).astype(np.float32)
    answers = []
    for lib, make in ((torch, torch.from_numpy), (mg, mg.from_numpy)):
        a, b = make(x).to(getattr(lib, dtypes[0])), make(y).to(getattr(lib, dtypes[1])).t()
        sa, sb = lib.tensor(float(scales[0])), lib.tensor(float(scales[1]))
        answers.append(lib._scaled_mm(a, b, sa, sb, out_dtype=lib.float32).numpy())
    assert np.allclose(*answers, rtol=1e-5, atol=1e-4)
