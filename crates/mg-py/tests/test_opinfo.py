"""Operations on the samples that PyTorch tests its own with, where that is installed: answers, dtypes and gradients are PyTorch's, and
what it refuses is refused.
"""

from __future__ import annotations

import itertools
import re
import sys
import types
import unittest
import warnings

import micrograd_rs as mg
import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

try:
    import expecttest  # noqa: F401
except ImportError:
    # PyTorch's tests are classes of its; their samples need none of it.
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

SAMPLES = 3
# How far answers in these dtypes may lie apart.
ROUNDED = {torch.float32: 2e-5, torch.bfloat16: 1e-2, torch.float16: 2e-3}
# Complex, sparse and quantised numbers, PyTorch's own parts, and what is drawn.
OUT_OF_SCOPE = re.compile(
    r"fft\.|sparse\.|masked\.|jiterator|torch\.|_|to_sparse|i?stft$|view_as_(real|complex)|complex|imag$|polar|linalg\.(eig|eigvals|polar)$|hash_tensor"
    r"|c(double|float|half)$|.*dropout|nn\.functional\.(rrelu|multi_head_attention_forward|fractional_max_pool)|(cauchy|exponential|geometric|log_normal)$"
    r"|(normal|uniform|multinomial|bernoulli)|rand|(new_)?empty|(svd|pca)_lowrank"
)
# Singular vectors and the like may have other signs.
OF_ANY_SIGN = re.compile(r"svd|linalg\.(svd|eigh|qr)$|geqrf")
REFUSED = {
    "as_strided|partial_views": "a view of a detached one",
    "linalg.vander": "a number has no powers in order",
    "max_pool2d_with_indices_backward": "it is called otherwise",
    "nn.functional.batch_norm": "no axis of channels",
    "nn.functional.linear_cross_entropy|chunked": "scores are computed at once",
    "nn.functional.linear_cross_entropy|chunked_none": "scores are computed at once",
    "nn.functional.triplet_margin_with_distance_loss": "the distance is a module of PyTorch's",
}
INTEGERS = {
    "kthvalue": "another one of equal numbers",
    "mode": "another one of equal numbers",
    "topk": "another one of equal numbers",
    "nn.functional.local_response_norm": "PyTorch rounds in between",
}
# How far answers and gradients of f64 may lie apart, and why.
APART = {
    "nn.functional.hardsigmoid": (1e-6, "PyTorch's sixth is one of f32"),
    "cov": (1e-5, "PyTorch multiplies weights of f32 in f32"),
    **{f"special.bessel_{kind}": (1e-5, "PyTorch's is that of f32") for kind in ("j0", "j1", "y0", "y1")},
}
SLOPES = {
    "cholesky_inverse": "the triangle that is not read has none",
    "cholesky_solve": "the triangle that is not read has none",
    "nn.functional.ctc_loss": "PyTorch's is that of what comes from log_softmax",
    **{f"nn.functional.max_unpool{n}d": "what is written over has none" for n in (1, 2, 3)},
}
# PyTorch's parts of other operations, and what is not here yet: each other name is.
NOT_HERE = frozenset(
    "alias_copy as_strided_copy as_strided_scatter diagonal_copy expand_copy geqrf native_batch_norm"
    " native_group_norm ormqr permute_copy special.airy_ai split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy"
    " view_copy".split()
)
NOT_FORWARD = {"bfloat16": "changes are rounded", "half": "changes are rounded"}
# Taken here; PyTorch wants a tensor, a float, or an axis that is not empty.
TAKEN = re.compile(
    r"must be Tensor, not|invalid combination of arguments|could not infer output dtype|float32 or float64|no dimensions|K-dimensional|non-zero size|0 dim batch"
    r"|same length|0-dim integral|same number of dimensions"
)


def name_of(info):
    return f"{info.name}|{info.variant_test_name}" if info.variant_test_name else info.name


INFOS = [pytest.param(info, id=name_of(info)) for info in op_db if not OUT_OF_SCOPE.match(info.name)]


def twin(function):
    """Our function that PyTorch's is called: under its name, or the same Python with our module in PyTorch's place. Only what is listed may be missing."""
    op = function.op
    if isinstance(op, types.FunctionType) and op.__module__.startswith("torch.testing"):
        return types.FunctionType(op.__code__, {**op.__globals__, "torch": mg}, op.__name__, op.__defaults__, op.__closure__)
    found = mg
    for part in function.name.split("."):
        found = getattr(found, part, None)
    found = found or getattr(mg.Tensor, function.name, None)
    if function.name in NOT_HERE:
        assert found is None, f"{function.name} is here: NOT_HERE need not name it"
        pytest.skip("not here")
    assert found is not None, f"{function.name} is not here"
    return found


def ours(t, device):
    """The same tensor here, lying as it does there."""
    kind = getattr(mg, str(t.dtype).removeprefix("torch."))
    if t.numel() == 0 or t.is_contiguous():
        made = mg.tensor(t.detach().numpy(), dtype=kind, device=device)
    else:
        memory = torch.as_strided(t.detach(), (t.untyped_storage().nbytes() // t.element_size(),), (1,), 0)
        made = mg.tensor(memory.numpy(), dtype=kind, device=device).as_strided(tuple(t.shape), t.stride(), t.storage_offset())
    return made.requires_grad_() if t.requires_grad else made


def told(given, device, made=None):
    """Arguments as they are here, tensors as they are `made`."""
    if isinstance(given, torch.Tensor):
        return made(given) if made else ours(given, device)
    if isinstance(given, (list, tuple)):
        parts = [told(part, device, made) for part in given]
        return tuple(parts) if isinstance(given, tuple) else parts
    if isinstance(given, dict):
        return {key: told(value, device, made) for key, value in given.items()}
    if isinstance(given, (torch.dtype, torch.memory_format, torch.layout)):
        return getattr(mg, str(given).removeprefix("torch."))
    return str(device) if isinstance(given, torch.device) or given == "cpu" else given


def calls(info, dtype, requires_grad):
    """Some samples of an operation, one of each few in a row."""
    torch.manual_seed(0)
    found = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=requires_grad), 12))
    found = [found[i * len(found) // SAMPLES] for i in range(SAMPLES)] if len(found) > SAMPLES else found
    return [s for s in found if not s.kwargs.get("dropout_p")]


def flat(answer, kind):
    if isinstance(answer, kind):
        return [answer]
    return [t for part in answer for t in flat(part, kind)] if isinstance(answer, (list, tuple)) else []


def same(got, wanted, rtol):
    got, wanted = flat(got, mg.Tensor), flat(wanted, torch.Tensor)
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert str(a.dtype).removeprefix("micrograd_rs.") == str(b.dtype).removeprefix("torch.") and tuple(a.shape) == tuple(b.shape)
        near = max(rtol, ROUNDED.get(b.dtype, 0.0))
        if b.is_floating_point():
            a, b = a.double(), b.double()
        np.testing.assert_allclose(a.detach().cpu().numpy(), b.detach().clone().numpy(), near, near)


def slopes(L, answer, inputs):
    """Gradients of all inputs by a weighed sum of what is answered."""
    parts = [t for t in answer if t.requires_grad and t.is_floating_point()]
    inputs = [t for t in inputs if t.requires_grad]
    if not parts or not inputs:
        return []
    weights = [L.linspace(0.5, 1.5, max(t.numel(), 1), dtype=L.float64, device=t.device)[: t.numel()].reshape(t.shape).to(t.dtype) for t in parts]
    found = L.autograd.grad(parts, inputs, weights, allow_unused=True)
    return [L.zeros_like(t) if g is None else g for t, g in zip(inputs, found)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("info", INFOS)
def test_answers_and_gradients(info, device):
    name, ours_of = name_of(info), twin(info)
    if name in REFUSED:
        pytest.skip(REFUSED[name])
    rtol = APART[info.name][0] if info.name in APART else 1e-8
    for dtype in (torch.float64, torch.int64):
        if dtype not in info.dtypes or dtype == torch.int64 and info.name in INTEGERS:
            continue
        is_float = dtype == torch.float64
        for sample in calls(info, dtype, is_float and info.supports_autograd):
            given = (sample.input, sample.args, sample.kwargs)
            wanted = info.op(sample.input, *sample.args, **sample.kwargs)
            if any(t.is_complex() or t.layout != torch.strided for t in flat(wanted, torch.Tensor)):
                continue
            here = told(given, device)
            got = ours_of(here[0], *here[1], **here[2])
            if OF_ANY_SIGN.match(info.name):
                continue
            same(got, wanted, rtol)
            if is_float and info.supports_autograd and info.name not in SLOPES:
                theirs = slopes(torch, flat(wanted, torch.Tensor), flat([*given[:2], *given[2].values()], torch.Tensor))
                same(slopes(mg, flat(got, mg.Tensor), flat([*here[:2], *here[2].values()], mg.Tensor)), theirs, 10 * rtol)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("info", [info for info in INFOS if info.values[0].supports_autograd])
def test_forward_mode_is_the_gradients_other_side(info, device):
    """What answers change by along a direction, weighed, is the gradient of what is weighed, along the direction."""
    name, ours_of = name_of(info), twin(info)
    if name in REFUSED or name in NOT_FORWARD:
        pytest.skip(REFUSED.get(name) or NOT_FORWARD[name])
    if torch.float64 not in info.dtypes:
        pytest.skip("of integers")
    for sample in calls(info, torch.float64, False)[:2]:
        given = (sample.input, sample.args, sample.kwargs)
        leaves = [ours(t, device) for t in flat([*given[:2], *given[2].values()], torch.Tensor) if t.is_floating_point()]

        def answers(*inputs):
            rest = iter(inputs)
            again = lambda t: next(rest) if t.is_floating_point() else ours(t, device)  # noqa: E731
            one, args, kwargs = told(given, device, again)
            return tuple(t for t in flat(ours_of(one, *args, **kwargs), mg.Tensor) if t.is_floating_point() and t.requires_grad)

        def line(t, low, high):
            return mg.linspace(low, high, max(t.numel(), 1), dtype=t.dtype, device=device)[: t.numel()].reshape(t.shape)

        leaves = tuple(t.clone().requires_grad_() for t in leaves)
        plain = answers(*leaves) if leaves else ()
        # Of no elements nothing comes back, whatever the answer is.
        if not plain or any(t.isnan().any().item() for t in plain):
            continue
        weights = [line(t, 0.5, 1.5) for t in plain]
        slopes = mg.autograd.grad(plain, leaves, weights, allow_unused=True)
        directions = tuple(line(t, 1.0, -0.5) for t in leaves)
        changes = mg.func.jvp(answers, tuple(t.detach() for t in leaves), directions)[1]
        assert len(changes) == len(weights)
        forward = sum((w * t).sum().item() for w, t in zip(weights, changes))
        backward = sum((g * t).sum().item() for g, t in zip(slopes, directions) if g is not None)
        assert forward == pytest.approx(backward, rel=1e-6, abs=1e-6, nan_ok=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("info", [info for info in INFOS if info.values[0].error_inputs_func is not None])
def test_what_pytorch_refuses(info, device):
    ours_of = twin(info)
    for case in info.error_inputs("cpu"):
        sample = case.sample_input
        if "out" in sample.kwargs or sample.kwargs.get("layout", torch.strided) != torch.strided:
            continue
        # Of what cannot be brought here (NumPy, by which it comes, has 64 axes) nothing is asked.
        given = flat([sample.input, *sample.args, *sample.kwargs.values()], torch.Tensor)
        if any(t.is_meta or t.is_complex() or t.dim() > 64 for t in given):
            continue
        try:
            info.op(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:  # noqa: BLE001
            if TAKEN.search(str(error)):
                continue
        else:
            continue
        here = told((sample.input, sample.args, sample.kwargs), device)
        with pytest.raises((TypeError, ValueError, IndexError, RuntimeError, NotImplementedError)) as told_so:
            for t in flat(ours_of(here[0], *here[1], **here[2]), mg.Tensor):
                t.tolist()
        assert "internal error" not in str(told_so.value)
