"""What PyTorch's users have in their programs beside arithmetic: compile, NumPy's functions, dtypes by identity, old classes, prints, errors."""

from __future__ import annotations

import math
import pickle

import micrograd_rs as mg
import pytest
from micrograd_rs import nn
from micrograd_rs.nn import functional as F


def test_compile_reads_values_and_goes_on():
    @mg.compile
    def f(x):
        return x * 2 if x.sum() > 0 else x - 1

    for _ in range(6):
        assert f(mg.ones(2)).tolist() == [2.0, 2.0] and f(-mg.ones(2)).tolist() == [-2.0, -2.0]
        assert not f.is_replaying and "reads a value" in f.reason
    with pytest.raises(ValueError, match="reads a value"):
        mg.compile(lambda x: x.item(), fullgraph=True)(mg.ones(1))


def test_a_step_that_reads_its_loss_is_done_once():
    w = mg.Tensor([1.0, 2.0])
    sgd = mg.optim.SGD([w], lr=0.5)

    def step():
        sgd.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        sgd.step()
        return loss.item()

    plain = [step() for _ in range(4)]
    with mg.no_grad():
        w.copy_(mg.tensor([1.0, 2.0]))
    compiled = mg.compile(step)
    assert [compiled() for _ in range(4)] == plain


def test_compiled_functions_are_replayed():
    f = mg.compile(lambda x: (x * 3).relu().sum())
    for _ in range(4):
        assert f(mg.ones(3)).item() == 9.0
    assert f.is_replaying
    net = mg.compile(nn.Linear(2, 2))
    assert set(net.state_dict()) == {"_orig_mod.weight", "_orig_mod.bias"} and net.in_features == 2
    assert net.eval().training is False and net._orig_mod.training is False


def test_jit_is_a_function_and_a_module():
    from micrograd_rs.jit import script

    import micrograd_rs.jit

    assert mg.jit(lambda x: x + 1)(mg.ones(1)).item() == 2.0
    assert script(nn.ReLU())(mg.ones(1)).item() == 1.0 and not mg.jit.is_scripting()
    with pytest.raises(TypeError):
        mg.jit(5)


def test_dtypes_are_one_object():
    t = mg.ones(2)
    assert t.dtype is mg.float32 is mg.float and (t > 0).dtype is mg.bool and t.long().dtype is mg.long
    assert mg.promote_types(mg.float16, mg.float32) is mg.float32 and mg.get_default_dtype() is mg.float32


def test_numpys_functions():
    np = pytest.importorskip("numpy")
    t, a = mg.tensor([[1.0, 4.0], [9.0, 16.0]]), np.ones((2, 2), np.float32)
    for name in ("mean", "sum", "max", "min", "std", "var", "prod"):
        assert float(getattr(np, name)(t)) == pytest.approx(float(getattr(np, name)(t.numpy())))
        assert getattr(np, name)(t, axis=0).tolist() == pytest.approx(getattr(np, name)(t.numpy(), axis=0).tolist())
    assert np.sqrt(t).tolist() == [[1, 2], [3, 4]] and isinstance(np.sqrt(t), mg.Tensor)
    for got in (a + t, np.float32(1) + t, np.add(a, t), np.maximum(a, t) + 1):
        assert isinstance(got, mg.Tensor) and got.dtype == mg.float32 and got.tolist() == (t + 1).tolist()
    assert (a - t).tolist() == (1 - t).tolist() and (a < t).tolist() == [[False, True], [True, True]] and (a @ t).tolist() == [[10, 20]] * 2
    assert isinstance(np.spacing(t), mg.Tensor) and np.add.reduce(t).tolist() == [10, 20]
    a += t
    assert a.tolist() == (t + 1).tolist()
    x = mg.Tensor([4.0])
    np.sqrt(x).backward()
    assert x.grad.item() == 0.25
    with pytest.raises(RuntimeError, match="detach"):
        np.spacing(x)


def test_no_function_of_numpys_loses_a_gradient():
    np = pytest.importorskip("numpy")
    w = mg.ones(2, 2, requires_grad=True)
    lost = {
        "concatenate": lambda x: np.concatenate([x * 2, x]),
        "where": lambda x: np.where(x > 0, x, 0),
        "dot": lambda x: np.dot(x, x * 2),
        "reshape": lambda x: np.reshape(x * 2, (4,)),
        "take": lambda x: np.take(x, [0]),
        "outer": lambda x: np.outer(x, x),
        "norm": lambda x: np.linalg.norm(x * 2),
        "split": lambda x: np.split(x, 2),
    }
    for name, function in lost.items():
        try:
            made = function(w)
        except RuntimeError as error:
            assert "detach" in str(error), name
        else:
            assert all(isinstance(part, mg.Tensor) and part.requires_grad for part in (made if isinstance(made, list) else [made])), name
        function(w.detach())
    assert np.shape(w) == (2, 2) and np.argmax(w) == 0 and np.allclose(w.detach(), 1)
    assert np.sum(w).requires_grad and np.zeros_like(w).shape == (2, 2)
    # What says where or to where takes tensors, too.
    t = mg.tensor([1.0, 4.0])
    out = np.zeros(2, np.float32)
    assert np.add(t, 1, where=t > 2, out=out) is out and out.tolist() == [0, 5]
    assert np.exp(t, where=t > 2, out=out)[1].item() == pytest.approx(math.exp(4))
    assert np.heaviside(t - 1, 0.5).tolist() == [0.5, 1]


def test_functions_of_numpys_that_have_a_twin_answer_with_tensors():
    np = pytest.importorskip("numpy")
    w = mg.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    a = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    functions = {
        "concatenate": lambda w: np.concatenate([w, a]),
        "along": lambda w: np.concatenate((w, w), axis=1),
        "by position": lambda w: np.concatenate([a, w], 1),
        "stack": lambda w: np.stack([w, a], axis=-1),
        "where": lambda w: np.where(a > 2, w, a),
        "einsum": lambda w: np.einsum("ij,jk->ik", w, a),
        "sort": lambda w: np.sort(w, axis=0),
        "det": np.linalg.det,
        "inv": np.linalg.inv,
        "pinv": np.linalg.pinv,
        "cholesky": np.linalg.cholesky,
        "eigvalsh": np.linalg.eigvalsh,
        "solve": lambda w: np.linalg.solve(w, a),
        "slogdet": lambda w: np.linalg.slogdet(w)[1],
        "svd": lambda w: np.linalg.svd(w, full_matrices=False)[1],
        "eigh": lambda w: np.linalg.eigh(w, UPLO="U")[0],
        "qr": lambda w: abs(np.linalg.qr(w)[1]),
    }
    for name, function in functions.items():
        got, wanted = function(w), function(w.detach().numpy())
        assert isinstance(got, mg.Tensor) and got.requires_grad and np.allclose(got.detach(), wanted, atol=1e-5), name
    # What ours does not take is NumPy's.
    t = w.detach()
    for made in (np.concatenate([t, t], axis=None), np.sort(t, axis=None), np.where(t > 2)[0], np.einsum("ij->i", t, optimize=True), np.linalg.solve(t, a[0])):
        assert isinstance(made, np.ndarray) or made.tolist()
    assert np.concatenate([t, t], axis=None).shape == (8,) and np.linalg.svd(t, compute_uv=False).shape == (2,)


def test_errors_are_of_both_kinds():
    for call in (lambda: mg.ones(2).view(3), lambda: mg.ones(2) + mg.ones(3), lambda: mg.ones(2, 3) @ mg.ones(2, 3)):
        for kind in (ValueError, RuntimeError, mg.ArgumentError):
            with pytest.raises(kind):
                call()
    for kind in (TypeError, RuntimeError, mg.DTypeError):
        with pytest.raises(kind):
            mg.ones(2).long().add_(0.5)
    with pytest.raises(IndexError):
        mg.ones(2)[5]
    error = mg.ArgumentError("x")
    assert type(pickle.loads(pickle.dumps(error))) is mg.ArgumentError


def test_one_element_is_asked_of_several():
    for asks in (lambda t: t.item(), bool, float, lambda t: mg.linspace(0, 1, -1)):
        for kind in (RuntimeError, ValueError):
            with pytest.raises(kind):
                asks(mg.tensor([1.0, 2.0]))


def test_old_classes():
    t = mg.FloatTensor(2, 3)
    assert t.shape == (2, 3) and t.dtype == mg.float32 and isinstance(t, mg.FloatTensor) and not isinstance(t, mg.LongTensor)
    assert mg.LongTensor([1, 2]).tolist() == [1, 2] and mg.typename(t).endswith("FloatTensor")
    assert t.type(mg.DoubleTensor).dtype == mg.float64 and t.type("torch.LongTensor").dtype == mg.int64
    assert mg.frombuffer(bytearray(b"\x01\x00\x02\x00"), dtype=mg.int16).tolist() == [1, 2]
    assert mg.empty_strided((2, 2), (1, 2)).stride() == (1, 2)


def test_memory_formats_are_taken():
    x = mg.rand(2, 3, 4, 5)
    assert mg.equal(x.to(memory_format=mg.channels_last), x) and mg.equal(x.contiguous(memory_format=mg.channels_last), x)
    assert mg.zeros_like(x, memory_format=mg.preserve_format, layout=mg.strided).shape == x.shape
    assert x.clone(memory_format=mg.contiguous_format).is_contiguous() and not x.is_contiguous(memory_format=mg.channels_last)
    assert x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2).is_contiguous(memory_format=mg.channels_last)
    assert mg.rand(2, pin_memory=True, layout=mg.strided).shape == (2,) and x.layout is not None and x.layout == mg.strided
    with pytest.raises(TypeError):
        mg.zeros(2, layout="sparse")
    with pytest.raises(TypeError):
        x.exp(memory_format=mg.channels_last)
    assert pickle.loads(pickle.dumps(mg.channels_last)) == mg.channels_last


def test_print_options():
    before = repr(mg.tensor([1.23456, 1e-6]))
    mg.set_printoptions(precision=2, sci_mode=False)
    assert repr(mg.tensor([1.23456, 1e-6])) == "tensor([1.23, 0.00])"
    mg.set_printoptions(profile="short")
    assert "..." in repr(mg.arange(2000))
    mg.set_printoptions(profile="full")
    assert "..." not in repr(mg.arange(1500))
    mg.set_printoptions(profile="default")
    assert repr(mg.tensor([1.23456, 1e-6])) == before
    with pytest.raises(ValueError):
        mg.set_printoptions(profile="long")


def test_what_a_pool_answers_may_be_written_to():
    for pool in (nn.MaxPool2d(2), nn.AdaptiveMaxPool2d(2)):
        x = mg.rand(1, 1, 4, 4, requires_grad=True)
        y = nn.functional.relu(pool(x - 0.5), inplace=True)
        y.sum().backward()
        want = x.detach().clone().requires_grad_()
        pool(want - 0.5).relu().sum().backward()
        assert mg.equal(x.grad, want.grad)
    a, b = mg.Tensor([3.0, 4.0]), mg.Tensor([2.0, 8.0])
    q = a / b
    q += 1
    q.sum().backward()
    assert b.grad.tolist() == [-0.75, -0.0625]


def test_pruning_is_undone():
    layer = nn.Linear(4, 3)
    whole = layer.weight.detach().clone()
    nn.utils.prune.l1_unstructured(layer, "weight", 0.5)
    nn.utils.prune.random_structured(layer, "weight", 1, dim=0)
    assert len(layer._forward_pre_hooks) == 1 and int((layer.weight_mask.sum(1) == 0).sum()) >= 1
    layer(mg.ones(1, 4)).sum().backward()
    assert layer.weight_orig.grad is not None and mg.equal(layer.weight_orig, whole)
    nn.utils.prune.remove(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter) and not nn.utils.prune.is_pruned(layer)
    with pytest.raises(ValueError):
        nn.utils.prune.l1_unstructured(layer, "weight", 1.5)


def test_lazy_convolutions():
    net = nn.Sequential(nn.LazyConv2d(4, 3), nn.ReLU(), nn.LazyConvTranspose2d(2, 2))
    assert net(mg.rand(1, 3, 6, 6)).shape == (1, 2, 5, 5)
    assert type(net[0]) is nn.Conv2d and net[0].weight.shape == (4, 3, 3, 3) and net[2].weight.shape == (4, 2, 2, 2)


def test_sync_batch_norm_is_converted():
    net = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2))
    weight = net[1].weight
    net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert isinstance(net[1], nn.SyncBatchNorm) and net[1].weight is weight and net(mg.rand(2, 1, 3, 3)).shape == (2, 2, 3, 3)


def test_assert_close():
    close = mg.testing.assert_close
    close(mg.ones(2), mg.ones(2) + 1e-7)
    close({"a": [1.0, mg.ones(1)]}, {"a": [1.0, mg.ones(1)]})
    for a, b, why in ((mg.ones(2), mg.zeros(2), "2 / 2"), (mg.ones(2), mg.ones(3), "shape"), (mg.ones(2), mg.ones(2).double(), "dtype"), ([1], [1, 2], "length"), (1.0, 2.0, "Scalars")):
        with pytest.raises(AssertionError, match=why):
            close(a, b)
    with pytest.raises(ValueError):
        close(1.0, 1.0, rtol=1.0)
    assert mg.testing.make_tensor(2, 3, dtype=mg.int16, low=0, high=4).dtype == mg.int16


def test_comparing_nothing_and_numbers_of_two_kinds():
    close = mg.testing.assert_close
    # Gradients of what is not trained are None.
    close([None, mg.ones(2)], [None, mg.ones(2)])
    for a, b, text in ((None, mg.ones(1), "None mismatch: None is not"), ([1.0, 2], [1.0, None], r"None mismatch[\s\S]*item \[1\]"), (1, 1.0, r"\(d\)types do not match")):
        with pytest.raises(AssertionError, match=text):
            close(a, b)
    close(1, 1.0, check_dtype=False)
    close(mg.tensor(1), mg.tensor(1))


def test_whole_numbers_alone_are_sizes():
    t = mg.Tensor(2, 3)
    assert t.shape == (2, 3) and not t.requires_grad and mg.Tensor(2, 3, 4, 5, 6, 7).dim() == 6
    assert nn.Parameter(mg.Tensor(2, 3)).requires_grad and mg.Tensor(5).tolist() == 5.0 and mg.Tensor([1, 2], (2, 1)).shape == (2, 1)
    with pytest.raises(TypeError):
        mg.Tensor(2.5, 3, 4, 5, 6, 7)


def test_results_are_written_in_place_by_position():
    x = mg.tensor([-1.0, 0.25, 2.0])
    for function, args in [
        (F.relu, ()), (F.leaky_relu, (0.2,)), (F.elu, (1.0,)), (F.hardtanh, (-0.5, 1.0)), (F.threshold, (0.5, 3.0)), (F.silu, ()),
        (F.dropout, (0.0, True)),
    ]:  # fmt: skip
        there = x.clone()
        assert function(there, *args, True) is there and there.tolist() == function(x, *args).tolist() == function(x, *args, False).tolist()
    with pytest.raises(TypeError, match="takes 1 positional"):
        F.relu(x, 2)


def test_losses_take_their_old_switches():
    a, b = mg.tensor([[1.0, 2.0], [3.0, 5.0]]), mg.tensor([[0.0, 2.0], [1.0, 1.0]])
    label = mg.tensor([1, 0])
    assert F.mse_loss(a, b, size_average=False).item() == F.mse_loss(a, b, False).item() == nn.MSELoss(False)(a, b).item() == 21.0
    assert F.mse_loss(a, b, reduce=False).tolist() == nn.MSELoss(reduce=False)(a, b).tolist() == [[1.0, 0.0], [4.0, 16.0]]
    # They count more than the reduction's name, and None says nothing.
    assert nn.MSELoss(size_average=True, reduction="sum")(a, b).item() == F.mse_loss(a, b, size_average=True, reduction="sum").item() == 5.25
    assert F.mse_loss(a, b, None, None, "sum").item() == 21.0
    assert F.nll_loss(a, label, None, False).item() == nn.NLLLoss(None, False)(a, label).item() == -5.0
    assert F.nll_loss(a, label, None, False, 0).item() == nn.NLLLoss(None, False, 0)(a, label).item() == -2.0
    wanted = F.cross_entropy(a, label, reduction="sum", label_smoothing=0.1).item()
    assert F.cross_entropy(a, label, None, None, -100, None, "sum", 0.1).item() == wanted
    assert nn.CrossEntropyLoss(None, None, -100, None, "sum", 0.1)(a, label).item() == wanted
    assert F.kl_div(a, b, None, None, "batchmean").item() == nn.KLDivLoss(None, None, "batchmean")(a, b).item()
    assert nn.SmoothL1Loss(None, None, "sum", 2.0)(a, b).item() == F.smooth_l1_loss(a, b, None, None, "sum", 2.0).item()
    assert F.multi_margin_loss(a, label, 1, 1.0, None, False).item() == nn.MultiMarginLoss(1, 1.0, None, False)(a, label).item()
    for call in [lambda: F.mse_loss(a, b, None, None, "sum", None, 1), lambda: F.softmax(a, 1, size_average=True)]:
        with pytest.raises(TypeError):
            call()


def test_functions_look_up_in_tables_as_modules_do():
    table, at = mg.ones(3, 4), mg.tensor([0, 2])
    assert F.embedding(at, table, None, 1.0).tolist() == [[0.5] * 4] * 2 and table.tolist() == [[0.5] * 4, [1.0] * 4, [0.5] * 4]
    table = mg.ones(2, 1, requires_grad=True)
    F.embedding(mg.tensor([0, 0, 1]), table, scale_grad_by_freq=True, sparse=False).sum().backward()
    assert table.grad.tolist() == [[1.0], [1.0]]
    assert F.embedding_bag(mg.tensor([0, 1, 1]), table, mg.tensor([0, 2]), None, 2.0, False, "sum").tolist() == [[2.0], [1.0]]
    assert F.gumbel_softmax(mg.zeros(2, 3), 1.0, True, 1e-10, -1).sum().item() == 2.0


def test_arguments_have_pytorchs_names():
    x = mg.ones(2, requires_grad=True)
    (g,) = mg.autograd.grad(outputs=(x * x).sum(), inputs=x, create_graph=True, retain_graph=True, only_inputs=True)
    assert g.tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match="only_inputs"):
        mg.autograd.grad(x.sum(), x, only_inputs=False)
    assert [t.tolist() for t in mg.split(tensor=mg.arange(3), split_size_or_sections=2)] == [[0, 1], [2]]
    assert mg.tensordot(a=mg.ones(2), b=mg.ones(2), dims=1).item() == 2.0
    assert F.affine_grid(theta=mg.eye(2, 3)[None], size=[1, 1, 2, 2], align_corners=True).flatten().tolist() == [-1, -1, 1, -1, -1, 1, 1, 1]
    assert F.softmax(mg.zeros(2), dim=0, _stacklevel=3).tolist() == [0.5, 0.5]


def test_files_take_pickles_arguments(tmp_path):
    import pickle

    mg.save({"a": mg.ones(2)}, tmp_path / "x", pickle_module=pickle, pickle_protocol=4)
    assert mg.load(tmp_path / "x", "cpu", pickle, weights_only=None, mmap=None)["a"].tolist() == [1.0, 1.0]


def test_names_are_where_programs_look_for_them():
    from micrograd_rs import GradScaler
    from micrograd_rs.nn.modules.loss import _Loss, _WeightedLoss
    from micrograd_rs.nn.modules.transformer import _get_clones
    from micrograd_rs.optim.lr_scheduler import LRScheduler, _LRScheduler
    from micrograd_rs.optim.optimizer import required
    from micrograd_rs.types import Device, Number
    from micrograd_rs.utils.data.dataloader import DataLoader, default_collate
    from micrograd_rs.utils.dlpack import from_dlpack, to_dlpack
    from micrograd_rs.utils.hooks import RemovableHandle

    import micrograd_rs.backends.cudnn as cudnn
    import micrograd_rs.multiprocessing as mp

    assert cudnn is mg.backends.cudnn and mp.get_context("spawn") and GradScaler is mg.amp.GradScaler and _LRScheduler is LRScheduler
    assert isinstance(nn.MSELoss(), _Loss) and isinstance(nn.NLLLoss(), _WeightedLoss) and not isinstance(nn.MSELoss(), _WeightedLoss)
    assert DataLoader is mg.utils.data.DataLoader and default_collate is mg.utils.data.default_collate
    assert Device is mg.Device and isinstance(1.5, Number) and repr(required) == "<required parameter>" and len(_get_clones(nn.ReLU(), 2)) == 2
    assert from_dlpack(to_dlpack(mg.ones(2))).tolist() == [1.0, 1.0]
    told = []
    layer = nn.Linear(2, 2)
    handle = layer.register_backward_hook(lambda module, inside, outside: told.append(outside[0].shape))
    assert isinstance(handle, RemovableHandle)
    layer(mg.ones(1, 2, requires_grad=True)).sum().backward()
    assert told == [(1, 2)]
    assert mg.cuda.is_bf16_supported() in (True, False) and mg.cuda.is_initialized() == mg.cuda.is_available() and mg.cuda.init() is None
