"""Names of PyTorch's that few programs use: compositions of others. What is compared with was computed by PyTorch 2.15, or by hand."""

from __future__ import annotations

import importlib
import math
import pickle
from typing import Any

import micrograd_rs as mg
import numpy as np
import pytest
from conftest import close
from micrograd_rs import nn
from micrograd_rs.nn import functional as F


DATA = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]


@pytest.mark.parametrize(
    ("reduce", "initial", "first", "empty", "last"),
    [
        ("sum", None, [5.0, 7.0, 9.0], 0.0, [17.0, 19.0, 21.0]),
        ("sum", 2.0, [7.0, 9.0, 11.0], 2.0, [19.0, 21.0, 23.0]),
        ("mean", None, [2.5, 3.5, 4.5], math.nan, [8.5, 9.5, 10.5]),
        ("mean", 2.0, [3.5, 4.5, 5.5], 2.0, [9.5, 10.5, 11.5]),
        ("max", None, [4.0, 5.0, 6.0], -math.inf, [10.0, 11.0, 12.0]),
        ("max", 2.0, [4.0, 5.0, 6.0], 2.0, [10.0, 11.0, 12.0]),
        ("min", None, [1.0, 2.0, 3.0], math.inf, [7.0, 8.0, 9.0]),
        ("min", 2.0, [1.0, 2.0, 2.0], 2.0, [2.0, 2.0, 2.0]),
        ("prod", None, [4.0, 10.0, 18.0], 1.0, [70.0, 88.0, 108.0]),
        ("prod", 2.0, [8.0, 20.0, 36.0], 2.0, [140.0, 176.0, 216.0]),
    ],
)
def test_segments(device, reduce, initial, first, empty, last):
    data, lengths = mg.tensor(DATA, device=device), mg.tensor([2, 0, 2], device=device)
    close(mg.segment_reduce(data, reduce, lengths=lengths, initial=initial), [first, [empty] * 3, last])
    close(mg.segment_reduce(data, reduce, offsets=mg.tensor([0, 2, 2, 4], device=device), initial=initial), [first, [empty] * 3, last])


def test_segments_of_rows_and_their_gradients(device):
    data = mg.tensor(DATA, device=device, requires_grad=True)
    lengths = mg.tensor([[1, 2], [3, 0], [0, 3], [2, 1]], device=device)
    answer = mg.segment_reduce(data, "sum", lengths=lengths, axis=1)
    assert answer.tolist() == [[1.0, 5.0], [15.0, 0.0], [0.0, 24.0], [21.0, 12.0]]
    answer.square().sum().backward()
    assert data.grad.tolist() == [[2.0, 10.0, 10.0], [30.0] * 3, [48.0] * 3, [42.0, 42.0, 24.0]]


def test_segments_that_do_not_fit():
    data = mg.tensor(DATA)
    for wrong, kind, text in (
        (dict(reduce="sum", lengths=mg.tensor([2, 1])), ValueError, "do not add up to 4, the size of axis 0"),
        (dict(reduce="sum"), ValueError, "takes lengths or offsets"),
        (dict(reduce="median", lengths=mg.tensor([4])), ValueError, "reduce is one of sum, mean, prod, max, min, got 'median'"),
        (dict(reduce="sum", lengths=mg.tensor([3]), axis=1), ValueError, r"takes lengths \[4, n\] for axis 1"),
    ):
        with pytest.raises(kind, match=text):
            mg.segment_reduce(data, **wrong)
    with pytest.raises(TypeError, match="floating-point data"):
        mg.segment_reduce(mg.arange(4), "sum", lengths=mg.tensor([4]))


def test_convolutions_by_other_names(device):
    x, w, b = mg.rand(7, 2, 3, device=device), mg.rand(3, 3, 4, device=device), mg.rand(4, device=device)
    got = mg.conv_tbc(x, w, b, 1)
    assert got.shape == (7, 2, 4) and F.conv_tbc(x, w, b).shape == (5, 2, 4)
    # One element as it is defined.
    wanted = sum((x[2 + k, 1] @ w[k, :, 3] for k in range(3)), b[3])
    close(got[3, 1, 3], wanted, 1e-4)
    x, w, b = mg.rand(2, 4, 6, 6, device=device), mg.rand(4, 2, 3, 3, device=device), mg.rand(4, device=device)
    sizes = [2, 1], [1, 0], [1, 2]
    close(mg.convolution(x, w, b, *sizes, False, [0, 0], 2), F.conv2d(x, w, b, *sizes, 2))
    close(mg.convolution(x, w, b, *sizes, True, [1, 0], 2), F.conv_transpose2d(x, w, b, sizes[0], sizes[1], [1, 0], 2, sizes[2]))
    with pytest.raises(ValueError, match="a weight of 3 to 5 axes"):
        mg.convolution(x, b, None, [1], [0], [1], False, [0], 1)
    assert mg.equal(mg.native_channel_shuffle(x, 2), F.channel_shuffle(x, 2))


def test_grids_by_numbers():
    x, theta = mg.rand(1, 2, 4, 4), mg.tensor([[[1.0, 0.2, 0.1], [0.0, 0.8, -0.3]]])
    grid = mg.affine_grid_generator(theta, [1, 2, 3, 3], False)
    assert mg.equal(grid, F.affine_grid(theta, [1, 2, 3, 3], False))
    for i, mode in enumerate(("bilinear", "nearest", "bicubic")):
        for j, padding in enumerate(("zeros", "border", "reflection")):
            assert mg.equal(mg.grid_sampler(x, grid, i, j, True), F.grid_sample(x, grid, mode, padding, True))
    with pytest.raises(ValueError, match="modes are 0, 1 and 2"):
        mg.grid_sampler(x, grid, 3, 0, True)


@pytest.mark.parametrize(
    ("name", "input", "weight", "options"),
    [
        ("1d", (2, 4, 9), (6, 2, 3), dict(stride=2, padding=1, groups=2)),
        ("2d", (2, 4, 9, 8), (6, 4, 3, 2), dict(stride=(2, 1), dilation=2)),
        ("3d", (1, 2, 5, 5, 5), (3, 2, 2, 2, 2), dict(padding=1)),
    ],
)
def test_gradients_of_convolutions(device, name, input, weight, options):
    x, w = mg.rand(input, device=device, requires_grad=True), mg.rand(weight, device=device, requires_grad=True)
    y = getattr(F, f"conv{name}")(x, w, **options)
    g = mg.rand_like(y)
    by_x, by_w = mg.autograd.grad(y, [x, w], g)
    close(getattr(nn.grad, f"conv{name}_input")(input, w.detach(), g, **options), by_x, 1e-4)
    with mg.no_grad():
        got = getattr(nn.grad, f"conv{name}_weight")(x, weight, g, **options)
    close(got, by_w, 1e-4)
    assert not got.requires_grad
    # Of second order: the gradient is linear in the weight.
    first = getattr(nn.grad, f"conv{name}_input")(input, w, g, **options)
    (second,) = mg.autograd.grad(first, [w], mg.ones_like(first))
    close(mg.autograd.grad(getattr(F, f"conv{name}")(mg.ones_like(x), w, **options), [w], g)[0], second, 1e-4)


def test_lu_of_older_days():
    a = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    packed, pivots = mg.lu(a)
    close(packed, [[3.0, 4.0], [1 / 3, 2 / 3]])
    assert pivots.tolist() == [2, 2] and [t.tolist() for t in mg.lu(a, get_infos=True)][2] == 0


def test_one_of_two_functions():
    x = mg.tensor([1.0], requires_grad=True)
    assert mg.cond(x.sum() > 0, lambda x: x * 2, lambda x: x, (x,)).item() == 2.0
    assert mg.cond(False, lambda: 1, lambda: 2) == 2 and mg.sym_sum([1, 2, 3]) == 6 and mg.sym_sqrt(9) == 3.0


def test_switches_that_change_nothing():
    import micrograd_rs.multiprocessing as mp

    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies() and mp.Process is importlib.import_module("multiprocessing").Process
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    with pytest.raises(ValueError, match="file_descriptor, file_system, got 'x'"):
        mp.set_sharing_strategy("x")
    with mg.autograd.set_multithreading_enabled(False):
        assert not mg.compiler.is_exporting()
    assert mg.compiler.assume_constant_result(len) is len and mg.compiler.nested_compile_region(len) is len
    assert mg.compiler.nested_compile_region(max_reuse_entries=3)(len) is len
    with mg.cpu.stream(mg.cpu.Stream()) as _:
        mg.cpu.current_stream().wait_stream(mg.cpu.current_stream())
    x = mg.ones(2, requires_grad=True)
    mg.utils.checkpoint.checkpoint(lambda x: x.exp(), x, context_fn=mg.utils.checkpoint.noop_context_fn).sum().backward()
    close(x.grad, [math.e] * 2)
    assert isinstance(1, mg.types.IntLikeType) and isinstance(True, mg.types.BoolLikeType) and isinstance(1.0, mg.types.FloatLikeType)


def test_one_device_for_all():
    net = nn.Linear(2, 3)
    assert mg.equal(nn.parallel.data_parallel(net, mg.ones(4, 2)), net(mg.ones(4, 2)))
    bilinear = nn.Bilinear(2, 2, 1)
    assert nn.parallel.data_parallel(bilinear, (mg.ones(4, 2),), module_kwargs={"input2": mg.ones(4, 2)}).shape == (4, 1)
    with pytest.raises(ValueError, match="one device"):
        nn.parallel.data_parallel(net, mg.ones(4, 2), device_ids=[0, 1])


def test_modules_where_programs_look_for_them(program):
    program(
        """
        import micrograd_rs as mg
        from micrograd_rs.autograd.gradcheck import gradcheck
        from micrograd_rs.autograd.grad_mode import no_grad
        from micrograd_rs.cpu.amp import GradScaler, autocast
        from micrograd_rs.nn.grad import conv2d_input
        assert gradcheck is mg.autograd.gradcheck and callable(gradcheck) and no_grad is mg.no_grad is mg.autograd.grad_mode.no_grad
        with autocast():
            assert (mg.ones(2, 2) @ mg.ones(2, 2)).dtype == mg.bfloat16
        assert GradScaler(enabled=False).get_scale() == 1.0 and conv2d_input
        import pickle
        assert type(pickle.loads(pickle.dumps(GradScaler(enabled=False)))) is GradScaler
        """
    )


def test_comparing_nothing_and_numbers_of_two_kinds():
    close = mg.testing.assert_close
    # Gradients of what is not trained are None.
    close([None, mg.ones(2)], [None, mg.ones(2)])
    for a, b, text in ((None, mg.ones(1), "None mismatch: None is not"), ([1.0, 2], [1.0, None], r"None mismatch[\s\S]*item \[1\]"), (1, 1.0, r"\(d\)types do not match")):
        with pytest.raises(AssertionError, match=text):
            close(a, b)
    close(1, 1.0, check_dtype=False)
    close(mg.tensor(1), mg.tensor(1))


def test_arguments_that_change_nothing(tmp_path):
    path = tmp_path / "a.mg"
    mg.save({"a": mg.ones(2)}, path, _use_new_zipfile_serialization=False)
    assert mg.load(path, encoding="latin1")["a"].tolist() == [1.0, 1.0]
    with mg.random.fork_rng(devices=[], device_type="cuda"):
        mg.manual_seed(7)
        first = mg.rand(1).item()
    assert first not in (mg.rand(1).item(),) and mg.initial_seed() != 7
    assert mg.testing.make_tensor(2, dtype=mg.float32, device="cpu", memory_format=mg.contiguous_format).shape == (2,)
    assert mg.autograd.gradcheck(lambda x: x * 2, (mg.ones(2, dtype=mg.float64, requires_grad=True),), masked=False)
    assert nn.SyncBatchNorm(3, bias=False).bias is None and mg.utils.data.default_convert(data=[1]) == [1]
    assert mg.compile(lambda x: x + 1, name="more", recompile_limit=3)(mg.ones(1)).item() == 2.0


# Of 0.5, 2, 7.5, 8.5 and 30, from 30 digits.
BESSEL = {
    "bessel_j0": [0.9384698072408129, 0.22389077914123567, 0.2663396578803784, 0.041939251842934504, -0.08636798358104021],
    "bessel_j1": [0.2422684576748739, 0.5767248077568734, 0.1352484275797055, 0.2731219636740537, -0.11875106261662294],
    "bessel_y0": [-0.44451873350670656, 0.5103756726497451, 0.11731328614820863, 0.27020510536578746, -0.11729573168666403],
    "bessel_y1": [-1.471472392670243, -0.10703243154093754, -0.25912851048611624, -0.02616867939853747, 0.08442557066174723],
    "modified_bessel_k0": [0.9244190712276659, 0.11389387274953344, 0.00024917761635611437, 8.625756634932507e-05, 2.1324774964630563e-14],
    "modified_bessel_k1": [1.656441120003301, 0.13986588181652243, 0.0002652973901252895, 9.119724775006898e-05, 2.1677320018915495e-14],
    "scaled_modified_bessel_k0": [1.5241093857739094, 0.8415682150707714, 0.4505236991049157, 0.4239359993336981, 0.22788666561625373],
    "scaled_modified_bessel_k1": [2.731009708211786, 1.0334768470686886, 0.4796689337910206, 0.4482133915630794, 0.2316541293777118],
}


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions(device, name):
    function, at = getattr(mg.special, name), [0.5, 2.0, 7.5, 8.5, 30.0]
    got = function(mg.tensor(at, dtype=mg.float64, device=device))
    close(got, BESSEL[name], 4e-15 if "k" in name else 1e-13, 4e-15 if "k" not in name else 0)
    assert got.dtype == mg.float64 and function(mg.tensor([1, 2], device=device)).dtype == mg.float32
    close(function(mg.tensor(at, device=device)), BESSEL[name], 2e-5, 1e-6)
    close(function(mg.tensor(at[:2], dtype=mg.float16, device=device)), BESSEL[name][:2], 2e-3)
    odd = function(mg.tensor([0.0, -1.0, math.nan], device=device)).tolist()
    assert math.isnan(odd[2]) and (odd[0] == {"j": odd[0], "y": -math.inf, "k": math.inf}[name.rpartition("_")[2][0]])
    assert "_j" in name or math.isnan(odd[1])
    # Derivatives by Bessel's own relations.
    x = mg.tensor(at, dtype=mg.float64, device=device, requires_grad=True)
    (slope,) = mg.autograd.grad(function(x).sum(), [x])
    order, other = int(name[-1]), getattr(mg.special, name[:-1] + str(1 - int(name[-1])))
    sign = -1.0 if order == 0 or "k" in name else 1.0
    wanted = sign * other(x) - (function(x) / x if order else 0.0) + (function(x) if "scaled" in name else 0.0)
    close(slope, wanted, 1e-10, 1e-13)


def test_bessel_functions_around_zero():
    close(mg.special.bessel_j0(mg.tensor([0.0, -2.0])), [1.0, BESSEL["bessel_j0"][1]], 1e-6)
    close(mg.special.bessel_j1(mg.tensor([0.0, -2.0, -8.5])), [0.0, -BESSEL["bessel_j1"][1], -BESSEL["bessel_j1"][3]], 1e-5)
    x = mg.zeros(1, requires_grad=True)
    (mg.special.bessel_j0(x) + mg.special.bessel_j1(x)).sum().backward()
    close(x.grad, [0.5])


def test_bessel_functions_of_zero():
    for dtype in (mg.float64, mg.float32, mg.float16):
        zero = mg.zeros((), dtype=dtype)
        assert mg.special.bessel_j0(zero).item() == 1.0 and mg.special.bessel_j1(zero).item() == 0.0
        assert mg.special.bessel_y0(zero).item() == -float("inf") and mg.special.modified_bessel_k0(zero).item() == float("inf")
    small = mg.linspace(-1e-3, 1e-3, 2001, dtype=mg.float64)
    assert mg.special.bessel_j0(small).max().item() <= 1.0
    for name, slope in (("bessel_y0", 1), ("bessel_y1", 1), ("modified_bessel_k0", -1), ("scaled_modified_bessel_k1", -1)):
        x = mg.tensor([0.0, -0.0, 2.0, -3.0], requires_grad=True)
        getattr(mg.special, name)(x).nansum().backward()
        assert x.grad[:2].tolist() == [slope * float("inf")] * 2 and abs(x.grad[2].item()) < 1.0


def test_arguments_have_pytorchs_names():
    one = nn.Parameter(mg.ones(1))
    held = nn.ParameterDict(parameters={"a": one})
    held.update(parameters={"b": one})
    assert held.get(key="a") is one and held.setdefault(key="b") is one and held.pop(key="b") is one
    x = mg.tensor([[3.0, 4.0]])
    assert mg.equal(nn.RMSNorm(2)(x=x), F.rms_norm(x, (2,)))
    assert mg.equal(nn.PoissonNLLLoss()(log_input=x, target=x), F.poisson_nll_loss(x, x))
    split = nn.AdaptiveLogSoftmaxWithLoss(2, 4, [2])
    target = mg.tensor([3])
    assert mg.equal(split(input_=x, target_=target).output, split(x, target).output)
    net = nn.Linear(2, 1, bias=False)
    call = nn.utils.stateless.functional_call
    assert call(net, parameters_and_buffers={"weight": mg.ones(1, 2)}, args=(x,)).tolist() == [[7.0]]


def test_parts_of_sizes_are_sizes():
    size = mg.ones(2, 3, 4).shape
    for part, wanted in (
        (size[1:], (3, 4)),
        (size[:0], ()),
        (size[:-1] + (5, 6), (2, 3, 5, 6)),
        ((5,) + size, (5, 2, 3, 4)),
        (size + size[:1], (2, 3, 4, 2)),
        (size[:1] * 2, (2, 2)),
        (2 * size[:1], (2, 2)),
        (pickle.loads(pickle.dumps(size[1:])), (3, 4)),
    ):
        assert type(part) is mg.Size and part == wanted and part.numel() == math.prod(wanted)
    assert size[-1] == 4 and type(size[-1]) is int
    assert mg.zeros(size[1:] + (1,)).shape == (3, 4, 1) and mg.ones(2, 3, 4).view(size[:1] + (-1,)).shape == (2, 12)
    assert (size[:2] + np.zeros(2)).tolist() == [2.0, 3.0]
    for wrong in (lambda: size + [1], lambda: [1] + size, lambda: size * 1.5, lambda: size["a"]):
        with pytest.raises(TypeError):
            wrong()


def test_a_convolution_takes_one_number_in_a_list():
    x = mg.arange(50.0).reshape(1, 2, 5, 5)
    for kind, options in (
        (nn.Conv2d, {"stride": 2, "padding": 1, "dilation": 1}),
        (nn.Conv2d, {"padding": 2, "dilation": 2, "padding_mode": "circular"}),
        (nn.ConvTranspose2d, {"stride": 2, "padding": 1, "output_padding": 1}),
    ):
        one = kind(2, 4, 3, **options)
        several = kind(2, 4, 3, **{name: [n] if isinstance(n, int) else n for name, n in options.items()})
        several.load_state_dict(one.state_dict())
        assert several.stride == one.stride and mg.equal(several(x), one(x))
    with pytest.raises(ValueError, match="kernel_size takes 2 numbers"):
        nn.Conv2d(2, 4, [3])
    with pytest.raises(ValueError, match="stride takes 2 numbers"):
        nn.Conv2d(2, 4, 3, stride=[1, 1, 1])


def test_what_distributions_and_annotations_of_ones_own_are_written_with():
    from micrograd_rs.distributions.utils import _standard_normal, _sum_rightmost
    from micrograd_rs.nn.common_types import _size_2_opt_t, _size_2_t, _size_any_t

    drawn = _standard_normal(mg.Size([3, 2]), dtype=mg.float64, device=mg.device("cpu"))
    assert drawn.shape == (3, 2) and drawn.dtype == mg.float64
    x = mg.arange(6.0).reshape(1, 2, 3)
    assert _sum_rightmost(x, 2).tolist() == [15.0] and _sum_rightmost(x, 0) is x
    assert _size_2_t == int | tuple[int, int] and _size_any_t == int | tuple[Any, ...] and _size_2_opt_t == int | None | tuple[int | None, int | None]
