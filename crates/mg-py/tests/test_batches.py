"""Batches and derivatives of every declared operation, on the samples of `surface`: `vmap` answers with what a loop does, in any order with `grad` and
`jvp`, and no kernel is run example by example; forward mode and gradients, of first and second order, are those of central differences."""

from __future__ import annotations

import re

import micrograd_rs as mg
import pytest
from conftest import close
from micrograd_rs import func
from micrograd_rs import functional as F
from surface import samples
from surface.inputs import FLOATS, INTEGERS, TRUTHS, flat, make

pytestmark = pytest.mark.filterwarnings("ignore")

#: What examples of a batch are, beside the sample's own operands.
SCALES = (1.0, 0.93, 0.81)
#: Operations that ask for values: of how many elements the result has, or what it is. In PyTorch, too, most of them.
READ = re.compile(
    r"allclose|equal|argwhere|nonzero|where|one_hot|repeat_interleave|bincount|unique|unique_consecutive|masked_select|__getitem__|\w+_polynomial_\w+|segment_reduce"
)
UNREADABLE = "has no values that could be read"
#: Of an example that lies in a batch, these tell of the batch's memory, or draw numbers.
NO_LOOPS = frozenset({"as_strided", "resize_", "svd_lowrank", "pca_lowrank", "lobpcg"})

#: There is no gradient by the first operand, or none, as in PyTorch.
NO_SLOPE = re.compile(r"i?gamma(inc)?c?c?|ldl_\w+")


def words(expression: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|\"[^\"]*\"", "", expression)))


def of(expression: str, names: dict, used: list[str]):
    """The sample as a function of some of its operands: its tensors."""
    others = {name: value for name, value in names.items() if name not in used}

    def function(*given):
        mg.manual_seed(0)
        answer = eval(expression, {**others, **dict(zip(used, given))})  # noqa: S307 - our own samples
        return tuple(part for part in flat(answer) if isinstance(part, mg.Tensor))

    return function


def weighed(parts, seed=0):
    """A number that hides no mistake in any of them; None where none is of floats."""
    total = None
    for number, part in enumerate(parts):
        if part.dtype.is_floating_point and part.numel():
            weights = (mg.arange(part.numel(), dtype=mg.float64) * 0.37 + number + seed).cos().reshape(part.shape)
            term = (part.double() * weights).sum()
            total = term if total is None else total + term
    return total


def batch(t):
    if t.dtype.is_floating_point:
        return mg.stack([t * scale for scale in SCALES])
    return mg.stack([t, t.flip(0), t.flip(-1)] if t.ndim else [t] * 3)


def same(got, wanted, what):
    assert len(got) == len(wanted), what
    for a, b in zip(got, wanted):
        assert a.dtype == b.dtype and a.shape == b.shape, what
        # A sum of what is infinite is no number, or infinite, as it is computed.
        a, b, finite = a.double(), b.double(), a.isfinite()
        assert mg.equal(finite, b.isfinite()) and mg.allclose(a[finite], b[finite], rtol=1e-9, atol=1e-9), what


def calls(family: str):
    for name, expressions in samples.of(family).items():
        for sample in expressions:
            if not sample["error"]:
                yield name, sample["call"]


@pytest.mark.parametrize("family", samples.families())
def test_batches_are_loops_and_none_is_one(family, monkeypatch):
    looped = []
    monkeypatch.setattr(func, "_tell", looped.extend)
    names = make(mg, mg.nn.functional, grad=False)
    for name, call in calls(family):
        if name in NO_LOOPS:
            continue
        floats, others = ([n for n in kinds if n in words(call)] for kinds in (FLOATS, [*INTEGERS, *TRUTHS]))
        for used in {tuple(floats), tuple(floats + others), *((n,) for n in floats + others)} - {()}:
            f, what = of(call, names, used), f"{call} over {used}"
            alone = [names[n] for n in used]
            batches = [batch(t) for t in alone]
            examples = [[t[i] for t in batches] for i in range(3)]
            try:
                wanted = [mg.stack(parts) for parts in zip(*(f(*example) for example in examples))]
            except (RuntimeError, ValueError, IndexError):
                continue  # what is refused of an example
            if "rand" in call or not wanted:
                continue
            try:
                got = func.vmap(f, randomness="same")(*batches)
            except RuntimeError as error:
                assert READ.fullmatch(name) and UNREADABLE in str(error), what
                continue
            same(got, wanted, what)
            if used != tuple(floats) or weighed(wanted) is None or NO_SLOPE.fullmatch(name):
                continue
            slope = func.grad(lambda *given, f=f: weighed(f(*given)), tuple(range(len(used))))
            slopes = [mg.stack(parts) for parts in zip(*(slope(*example) for example in examples))]
            same(func.vmap(slope, randomness="same")(*batches), slopes, what)
            of_batch = func.grad(
                lambda *given, f=f: sum(weighed([p[i] for p in func.vmap(f, randomness="same")(*given)]) for i in range(3)), tuple(range(len(used)))
            )
            same(of_batch(*batches), slopes, what)
            tangents = [mg.stack([t.cos() + i for i in range(3)]) for t in alone]
            directions = [func.jvp(f, tuple(example), tuple(t[i] for t in tangents))[1] for i, example in enumerate(examples)]
            directions = [mg.stack(parts) for parts in zip(*directions)]
            same(func.jvp(func.vmap(f, randomness="same"), tuple(batches), tuple(tangents))[1], directions, what)
    assert not looped


STEP = 1e-5
#: What central differences do not tell: a symmetric matrix is read by one triangle of it; a gradient that has no place to go to.
NOT_BY_DIFFERENCES = re.compile(
    r"detach\(\)|dtype=L\.float32|linalg\.eig(h|valsh)|L\.det\(|cond\(|pinv\(.*tol=|padding|, -1\)|eps=1\.0|(batch|instance)_norm\(.*, m, v|lstsq|1e-310|L\.normal\("
)


def along(function, at, direction):
    """The derivative by central differences; None where two steps do not agree."""
    moved = [[float(function(*(x + s * STEP * d for x, d in zip(at, direction)))) for s in (-3, -1, 0, 1, 3)]]
    far, left, here, right, far_right = moved[0]
    near, wide, half = (right - left) / (2 * STEP), (far_right - far) / (6 * STEP), (right - here) / STEP
    smooth = abs(near - wide) < 1e-4 * (1 + abs(near)) and abs(half - near) < 1e-3 * (1 + abs(near))
    return near if smooth else None


def apart(a, b, rtol):
    return not (abs(a - b) <= rtol * (1 + abs(b)) or a != a and b != b)


@pytest.mark.parametrize("family", samples.families())
def test_both_modes_are_differences(family):
    names = make(mg, mg.nn.functional, grad=False)
    for name, call in calls(family):
        used = [n for n in FLOATS if n in words(call)]
        f = of(call, names, used)
        at = tuple(names[n] for n in used)
        if not used or "* 0 - 100" in call or name.startswith("ldl_") or weighed(f(*at)) is None:
            continue
        value = lambda *given, f=f: weighed(f(*given))  # noqa: E731
        one, other = (tuple((t * scale + mg.arange(t.numel(), dtype=t.dtype).reshape(t.shape)).sin() for t in at) for scale in (0.6, 0.9))
        slopes = func.grad(value, tuple(range(len(used))))
        second = lambda *given, slopes=slopes: sum(weighed([s], 2 + i) for i, s in enumerate(slopes(*given)) if s.numel())  # noqa: E731
        for order, g, direction in ((1, value, one), (2, second, other)):
            # Second derivatives of a singular matrix' determinant are not to be relied on.
            if order == 2 and (NO_SLOPE.fullmatch(name) or "L.det(n" in call) or not isinstance(g(*at), mg.Tensor):
                continue
            forward = float(func.jvp(g, at, direction)[1])
            back = func.grad(g, tuple(range(len(used))))(*at)
            backward = sum(float((s * d).sum()) for s, d in zip(back, direction))
            if "float32" not in call and "1e-310" not in call:
                assert not apart(forward, backward, 1e-6), f"{call}: order {order}: {forward}, backwards {backward}"
            wanted = None if NOT_BY_DIFFERENCES.search(call) else along(g, at, direction)
            assert wanted is None or not apart(backward, wanted, 1e-4), f"{call}: order {order}: {backward}, differences {wanted}"


def each(f, dims, *given):
    """What a loop answers with."""
    count = next(len(t) for t, d in zip(given, dims) if d == 0)
    found = [f(*(t[i] if d == 0 else t for t, d in zip(given, dims))) for i in range(count)]
    return [mg.stack(parts) for parts in zip(*found)] if isinstance(found[0], tuple) else mg.stack(found)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("width", [7, 32])
@pytest.mark.parametrize("causal", [False, True])
def test_examples_of_attention_are_a_larger_batch(dtype, width, causal, device):
    """The same bits: logarithms of sums lie between the halves of the line of results."""
    mg.manual_seed(0)
    q, k, v = (mg.randn(5, 3, 9, width, device=device).to(getattr(mg, dtype)) for _ in range(3))
    f = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)  # noqa: E731
    slopes = func.grad(lambda *given: f(*given).double().sin().sum(), (0, 1, 2))
    for dims in ((0, 0, 0), (0, None, None), (None, 0, 0), (None, None, 0)):
        given = [t if d == 0 else t[0] for t, d in zip((q, k, v), dims)]
        assert mg.equal(func.vmap(f, dims)(*given), each(f, dims, *given))
        for got, wanted in zip(func.vmap(slopes, dims)(*given), each(slopes, dims, *given)):
            assert mg.equal(got, wanted)


def test_masks_of_examples(device):
    mg.manual_seed(0)
    q, k, v = (mg.randn(4, 2, 3, 5, 8, device=device) for _ in range(3))
    f = lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m)  # noqa: E731
    slopes = func.grad(lambda *given: f(*given).sin().sum(), (0, 1, 2))
    for shape in ((2, 3, 5, 5), (2, 1, 5, 5), (1, 3, 1, 5), (1, 1, 5, 5)):
        for kind in (lambda t: t > -0.5, lambda t: t):
            mask = kind(mg.randn(4, *shape, device=device))
            for dims in ((0, 0, 0, 0), (0, 0, None, None), (None, None, None, 0)):
                given = [t if d == 0 else t[0] for t, d in zip((q, k, v, mask), dims)]
                close(func.vmap(f, dims)(*given), each(f, dims, *given), rtol=1e-6)
                for got, wanted in zip(func.vmap(slopes, dims)(*given), each(slopes, dims, *given)):
                    close(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("convolve", "shape"), [(F.conv1d, (6, 4, 3)), (F.conv2d, (6, 4, 3, 2)), (F.conv3d, (6, 4, 2, 1, 2)), (F.conv_transpose1d, (4, 6, 3)), (F.conv_transpose2d, (4, 6, 3, 2))]
)  # fmt: skip
def test_examples_of_convolutions_are_images_channels_or_groups(convolve, shape, groups, device):
    mg.manual_seed(0)
    turned = "transpose" in convolve.__name__
    weight = (shape[0], shape[1] // groups, *shape[2:])
    w = mg.randn(3, *weight, dtype=mg.float64, device=device)
    x = mg.randn(3, 2, shape[0 if turned else 1], *(6 for _ in shape[2:]), dtype=mg.float64, device=device)
    f = lambda x, w: convolve(x, w, stride=2, padding=1, groups=groups)  # noqa: E731
    slopes = func.grad(lambda x, w: f(x, w).sin().sum(), (0, 1))
    for dims in ((0, 0), (0, None), (None, 0)):
        given = [t if d == 0 else t[0] for t, d in zip((x, w), dims)]
        close(func.vmap(f, dims)(*given), each(f, dims, *given), rtol=1e-9)
        for got, wanted in zip(func.vmap(slopes, dims)(*given), each(slopes, dims, *given)):
            close(got, wanted, rtol=1e-9)
        tangents = [t.cos() for t in given]
        along = lambda x, w, s, t: func.jvp(f, (x, w), (s, t))[1]  # noqa: E731
        close(func.vmap(along, (*dims, *dims))(*given, *tangents), each(along, (*dims, *dims), *given, *tangents), rtol=1e-9)


def test_places_of_examples(device):
    """Writes at indices, searches and weighted sums, of which any operand may be the same for all."""
    mg.manual_seed(0)
    x, v = mg.randn(3, 4, 5, device=device), mg.randn(3, 4, 2, device=device)
    at = mg.tensor([[0, 3], [4, 4], [1, 0]], device=device)
    for f, given in (
        (lambda x, i, v: x.index_copy(1, i, v), (x, at, v)),
        (lambda x, i: x.index_fill(1, i, 7.0), (x, at)),
        (lambda x, i, v: x.scatter(1, i.expand(4, 2), v), (x, at, v)),
        (lambda x, i, v: x.scatter_reduce(1, i.expand(4, 2), v, "prod"), (x, at, v)),
        (lambda x, i, v: x.scatter_reduce(1, i.expand(4, 2), v, "amax", include_self=False), (x, at, v)),
        (lambda x, v: mg.searchsorted(x.sort(-1)[0], v), (x, v)),
        (lambda x, v: mg.searchsorted(x[0].sort()[0], v), (x, v)),
        (lambda x, g: F.grid_sample(x.reshape(1, 2, 2, 5), g[:, :2].reshape(1, 2, 2, 2).sin(), "bilinear", "border", False), (x, v)),
    ):
        for same in range(1, 2 ** len(given)):
            dims = tuple(0 if same >> i & 1 else None for i in range(len(given)))
            operands = [t if d == 0 else t[1] for t, d in zip(given, dims)]
            close(func.vmap(f, dims)(*operands), each(f, dims, *operands), rtol=1e-6)
            floats = tuple(i for i, t in enumerate(operands) if t.is_floating_point())
            if f(*(t[0] if d == 0 else t for t, d in zip(operands, dims))).is_floating_point():
                slopes = func.grad(lambda *given, f=f: f(*given).sin().sum(), floats)
                for got, wanted in zip(func.vmap(slopes, dims)(*operands), each(slopes, dims, *operands)):
                    close(got, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: x.gather(0, i),
        lambda x, i: x.index_select(0, i),
        lambda x, i: x.scatter(0, i, 1.0),
        lambda x, i: x.scatter_add(0, i, mg.ones(1)),
        lambda x, i: x.scatter_reduce(0, i, mg.ones(1), "amax"),
        lambda x, i: x[i],
        lambda x, i: mg.take_along_dim(x, i, 0),
    ],
)
def test_an_index_out_of_range_is_told_of_as_an_example_has_it(call):
    x, i = mg.zeros(2, 3), mg.tensor([[3], [0]])
    with pytest.raises(IndexError) as alone:
        call(x[0], i[0]).tolist()
    with pytest.raises(IndexError) as batched:
        mg.vmap(call)(x, i).tolist()
    assert str(batched.value) == str(alone.value) and "axis 0 of size 3" in str(alone.value)
    # Of examples of examples, too.
    with pytest.raises(IndexError, match="axis 0 of size 3"):
        mg.vmap(mg.vmap(call))(x.expand(2, 2, 3), i.expand(2, 2, 1)).tolist()
