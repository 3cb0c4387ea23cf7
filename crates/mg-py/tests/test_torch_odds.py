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


def test_what_distributions_and_annotations_of_ones_own_are_written_with():
    from micrograd_rs.distributions.utils import _standard_normal, _sum_rightmost
    from micrograd_rs.nn.common_types import _size_2_opt_t, _size_2_t, _size_any_t

    drawn = _standard_normal(mg.Size([3, 2]), dtype=mg.float64, device=mg.device("cpu"))
    assert drawn.shape == (3, 2) and drawn.dtype == mg.float64
    x = mg.arange(6.0).reshape(1, 2, 3)
    assert _sum_rightmost(x, 2).tolist() == [15.0] and _sum_rightmost(x, 0) is x
    assert _size_2_t == int | tuple[int, int] and _size_any_t == int | tuple[Any, ...] and _size_2_opt_t == int | None | tuple[int | None, int | None]
