"""Views and conversions by name."""

from __future__ import annotations

import math
import pickle

import micrograd_rs as mg
import numpy as np
import pytest
from conftest import leaf
from micrograd_rs import Tensor
from micrograd_rs.nn import functional as F

T = mg.tensor


@pytest.fixture
def t():
    return mg.arange(24).reshape(2, 3, 4)


def test_shapes(t):
    assert t.shape == (2, 3, 4) and t.size() == [2, 3, 4] and t.size(-1) == 4 and t.ndim == t.dim() == 3
    assert t.numel() == t.nelement() == 24 and t.itemsize == t.element_size() == 8 and t.nbytes == 192
    assert t.shape.numel() == 24 and t.stride() == (12, 4, 1) and t.stride(1) == 4 and t.storage_offset() == 0
    assert t[1].storage_offset() == 12 and hash(t.shape) == hash((2, 3, 4)) and t.shape != [2, 3]
    with pytest.raises(IndexError):
        t.size(3)


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


def test_views(t):
    assert t.reshape(6, 4).shape == (6, 4) and t.reshape((4, -1)).shape == (4, 6) and t.view([24]).shape == (24,)
    assert t.view_as(mg.zeros(24)).shape == (24,) and t.flatten().shape == (24,) and t.flatten(1).shape == (2, 12)
    assert t.ravel().shape == (24,) and mg.tensor(1).flatten().shape == (1,)
    assert t.permute(2, 0, 1).shape == (4, 2, 3) and t.permute((2, 0, 1)).tolist() == t.permute(2, 0, 1).tolist()
    assert t.transpose(0, -1).shape == (4, 3, 2) and t.swapaxes(0, 1).shape == (3, 2, 4)
    assert t.T.shape == (4, 3, 2) and t.mT.shape == (2, 4, 3) and t[0].t().shape == (4, 3)
    assert t.movedim(0, 2).shape == (3, 4, 2) and t.unsqueeze(1).shape == (2, 1, 3, 4) and t.unsqueeze(-1).shape == (2, 3, 4, 1)
    assert t[:, None].squeeze().shape == (2, 3, 4) and t.squeeze(0).shape == (2, 3, 4) and t[:1].squeeze(0).shape == (3, 4)
    assert t.flip(0).tolist() == t.tolist()[::-1] and t.flip(0, 1, 2).flatten().tolist() == list(range(23, -1, -1))
    assert t.slice(2, 3, None, -2).tolist()[0][0] == [3, 1] and t.slice(0, 1).shape == (1, 3, 4)
    assert mg.tensor([1, 2]).expand(3, 2).tolist() == [[1, 2]] * 3 and mg.tensor([[1], [2]]).expand(-1, 2).tolist() == [[1, 1], [2, 2]]
    assert mg.tensor([1, 2]).expand_as(mg.zeros(3, 2)).shape == (3, 2) and mg.broadcast_to(mg.tensor(1), (2, 2)).shape == (2, 2)
    assert mg.tensor([1, 2]).expand(3, 2).strides == (0, 1)


def test_parts(t):
    assert [p.shape[0] for p in mg.arange(10).split(4)] == [4, 4, 2]
    assert [p.tolist() for p in mg.arange(6).split([1, 2, 3])] == [[0], [1, 2], [3, 4, 5]]
    assert [p.shape[0] for p in mg.arange(10).chunk(3)] == [4, 4, 2]
    assert len(t.unbind(1)) == 3 and t.unbind(1)[2].tolist() == t[:, 2].tolist()
    with pytest.raises(ValueError):
        mg.arange(6).split([1, 2])
    with pytest.raises(ValueError):
        mg.arange(6).split(0)


def test_repeat():
    numpy = pytest.importorskip("numpy")
    a = numpy.arange(6).reshape(2, 3)
    for times in ((2,), (1, 1), (2, 1), (1, 3), (2, 2, 3), (0, 1)):
        if len(times) < 2:
            with pytest.raises(ValueError, match="repeat"):
                mg.tensor(a).repeat(*times)
        else:
            assert mg.tensor(a).repeat(*times).tolist() == numpy.tile(a, times).tolist()


def test_mistakes(t):
    with pytest.raises(ValueError, match=r"\[5\]"):
        t.reshape(5)
    with pytest.raises(ValueError):
        t.reshape(-1, -1)
    with pytest.raises(IndexError):
        t.transpose(0, 3)
    with pytest.raises(ValueError):
        t.permute(0, 0, 1)
    with pytest.raises(ValueError):
        t.permute(0, 1)
    with pytest.raises(ValueError, match=r"\[5\]"):
        mg.tensor([1, 2]).expand(5)
    with pytest.raises(ValueError):
        t.narrow(0, 1, 2)
    with pytest.raises(ValueError):
        t.t()
    with pytest.raises(ValueError):
        t.slice(0, 0, 1, 0)
    with pytest.raises(TypeError):
        t.reshape("x")


def test_copies(t):
    copy = t.clone()
    copy[0] = 0
    assert t.flatten()[5].item() == 5
    assert t.contiguous() is t and t.T.contiguous().tolist() == t.T.tolist() and t.T.contiguous().is_contiguous()
    x = Tensor([1.0, 2.0])
    (x.clone() * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_copies_are_copies_and_views_are_views():
    x = T([[1.0, 2.0], [3.0, 4.0]])
    for copied in (x.flip(0), x.t().flatten(), x.t().ravel(), x.t().reshape(4)):
        before = x.tolist()
        copied.zero_()
        assert x.tolist() == before
    x[T(1)].zero_()
    assert x.tolist() == [[1, 2], [0, 0]]


# Results are tensors of their own.
def test_results_that_end_in_a_view_of_what_is_theirs():
    w = leaf([[1.0, 2.0]])
    for made in (lambda: w.kron(w), lambda: w.tile(2), lambda: w.repeat_interleave(2), lambda: w.outer(w) if w.ndim == 1 else w.roll(1)):
        t = made()
        total = t.sum()
        with mg.no_grad():
            t.mul_(0)
        (found,) = mg.autograd.grad(total, t)
        assert found.tolist() == mg.ones(t.shape).tolist()
        t = made()
        t.detach_()
        assert t.is_leaf and not t.requires_grad
    # What is turned in place is no view of another.
    t = mg.tensor(1.0)
    t.unsqueeze_(0)
    t.detach_()
    with pytest.raises(RuntimeError, match="view"):
        t[:1].detach_()


def test_what_answers_with_a_tensor_itself_answers_with_that_object():
    x = mg.ones(3)
    for same in (x.float(), x.to(mg.float32), x.contiguous(), x.flatten(), mg.flatten(x), x.cpu(), x.type_as(x)):
        assert same is x
    for other in (x.double(), x.detach(), x.view(3), x.expand(3), x.clone(), x * 1, mg.atleast_2d(x)):
        assert other is not x
    flag = mg.tensor([True])
    assert flag.bool() is flag and flag.int() is not flag


def test_positive_is_the_tensor_and_one_matrix_is_copied():
    x = mg.tensor([[1.0]], requires_grad=True)
    assert x.positive().is_leaf
    y, z = mg.zeros(1, 1), mg.zeros(1, 1)
    y.positive().fill_(2)
    mg.chain_matmul(z).fill_(2)
    assert y.item() == 2 and z.item() == 0
    with pytest.raises(ValueError):
        mg.chain_matmul(mg.zeros(2))


def test_sums_to_their_own_size_and_differences_of_nothing_are_the_tensor():
    w = mg.zeros(0, requires_grad=True)
    assert w.sum_to_size(0).is_leaf and w.diff().is_leaf
    assert mg.tensor(3.0).adjoint().item() == 3.0
    assert F.pdist(mg.ones(0, 0, requires_grad=True)).requires_grad


def test_what_an_operation_gives_back_stays_a_view():
    x = mg.tensor([0.0, 0.0]).expand(2, 2)
    y = x.positive()
    x[0].add_(1.0)
    assert x.tolist() == y.tolist() == [[1, 1], [1, 1]] and x.stride() == (0, 1)


def test_axes_in_another_order_are_a_view():
    x, y = mg.zeros(1, 2), mg.zeros(2)
    mg.einsum("ij->ji", x).fill_(3)
    mg.broadcast_tensors(y)[0].fill_(3)
    assert x.tolist() == [[3.0, 3.0]] and y.tolist() == [3.0, 3.0]


def test_conversions():
    t = mg.tensor([0.0, 1.9, -1.9])
    assert t.to("i64").tolist() == [0, 1, -1] and t.int().dtype == mg.int32 and t.long().dtype == mg.int64
    assert t.to(mg.float64).dtype == t.double().dtype == mg.float64 and t.half().dtype == mg.float16
    assert t.bfloat16().dtype == mg.bfloat16 and t.bool().tolist() == [False, True, True] and t.float() .dtype == mg.float32
    assert t.to("cpu") is t and t.to(t) is t and t.to("f32") is t and t.cpu() is t and t.to(None) is t
    assert t.to("cpu", copy=True) is not t and t.to(dtype="f64", device="cpu").dtype == mg.float64
    assert t.to(mg.zeros(1, dtype="f64")).dtype == mg.float64 and t.type() == mg.float32 and t.type("i32").dtype == mg.int32
    assert mg.tensor([300.0, -1.0, float("nan"), 1e30]).to("u8").tolist() == [255, 0, 0, 255]
    x = Tensor([1.0])
    (x.double() * 2).sum().backward()
    assert x.grad.dtype == mg.float32 and x.grad.tolist() == [2]
    with pytest.raises(TypeError, match="nonsense"):
        t.to(nonsense=1)
    with pytest.raises((TypeError, ValueError), match="gpu"):
        t.to("gpu")


def test_bits_are_seen_as_another_dtype():
    x = mg.tensor([1.0, -2.0])
    y = x.view(mg.int32)
    assert y.tolist() == [1065353216, -1073741824] and x.view(dtype=mg.int32).dtype == mg.int32
    y[0] = 0
    assert x.tolist() == [0, -2]
    x += 1
    assert y.view(mg.float32).tolist() == [1, -1]
    assert mg.tensor([[True, False]]).view(mg.uint8).tolist() == [[1, 0]] and mg.tensor([1, 0], dtype=mg.int8).view(mg.bool).tolist() == [True, False]
    assert mg.tensor([1.0], dtype=mg.bfloat16).view(mg.int16).tolist() == [16256]
    assert mg.arange(6.0).reshape(2, 3).T.view(mg.int32).view(mg.float32).tolist() == [[0, 3], [1, 4], [2, 5]]
    w = mg.ones(2, requires_grad=True)
    assert w.view(mg.float32).requires_grad and not w.view(mg.int32).requires_grad
    for other in (mg.int16, mg.float64, mg.uint8):
        with pytest.raises(mg.ArgumentError, match="^view: .*takes a dtype of the same size"):
            x.view(other)


def test_dtypes():
    assert str(mg.float32) == "micrograd_rs.float32" == repr(mg.float32) and mg.float32 == "float32"
    assert mg.dtype("torch.float16") == mg.float16 and mg.float32.itemsize == 4 and mg.bool.name == "bool"
    assert mg.int64 != "f32" and mg.int64 != 5 and mg.int64 is not None and len({mg.int32, mg.dtype("i32")}) == 1
    assert mg.float32.is_floating_point and not mg.uint8.is_floating_point and mg.double == mg.float64
    numpy = pytest.importorskip("numpy")
    assert mg.dtype(numpy.float32) == mg.dtype(numpy.dtype("float32")) == mg.float32
    with pytest.raises(TypeError, match="complex128"):
        mg.dtype(numpy.complex128)


def test_the_precision_of_products():
    assert mg.get_float32_matmul_precision() == "highest"
    for name, known in (("high", "high"), ("medium", "high"), ("highest", "highest")):
        mg.set_float32_matmul_precision(name)
        assert mg.get_float32_matmul_precision() == known
    with pytest.raises(ValueError, match='"hi" is not a precision: "highest", "high" and "medium" are'):
        mg.set_float32_matmul_precision("hi")
    with pytest.raises(TypeError):
        mg.set_float32_matmul_precision(1)


@pytest.mark.parametrize("dtype", [mg.float32, mg.float64, mg.float16, mg.int64, mg.uint8], ids=str)
@pytest.mark.parametrize("shape", [(8, 16), (33, 40), (130, 1000), (300, 257), (3, 70, 48), (2, 3, 17, 90)], ids=str)
def test_operands_that_lie_by_columns(shape, dtype):
    """Those whose rows are brought in together: turned, reversed, a part of them, in the middle of a task."""
    n = int(np.prod(shape))
    turned = np.arange(n).reshape(*shape[:-2], shape[-1], shape[-2]) % 251
    x = mg.tensor(turned).to(dtype).transpose(-1, -2)
    dense = np.swapaxes(turned, -1, -2)
    other = mg.tensor(np.ascontiguousarray(dense)).to(dtype)
    assert (x + other).to(mg.int64).tolist() == ((dense + dense) % (256 if dtype == mg.uint8 else 1 << 62)).tolist()
    if dtype in (mg.float32, mg.float64, mg.int64):
        assert x.sum(-1).tolist() == dense.sum(-1).tolist()
        assert x.sum(-2).tolist() == dense.sum(-2).tolist()
        assert x.sum().item() == dense.sum()
        assert x.amax(-2).tolist() == dense.max(-2).tolist() and x.argmax(-1).tolist() == dense.argmax(-1).tolist()
    for view, wanted in (
        (x.flip(-1), np.flip(dense, -1)),
        (x.flip(-2), np.flip(dense, -2)),
        (x[..., 1:, 2:-1], dense[..., 1:, 2:-1]),
        (x[..., ::-1, :], dense[..., ::-1, :]),
        (x[..., ::2], dense[..., ::2]),
        (mg.rot90(x, 1, [-2, -1]), np.rot90(dense, 1, (-2, -1))),
    ):
        assert view.contiguous().tolist() == wanted.tolist()
        assert (view.to(mg.float64) * 2 + 1).tolist() == (wanted * 2.0 + 1).tolist()


def test_diagonals_of_einsum_are_views():
    x = mg.arange(8.0).reshape(2, 2, 2)
    mg.einsum("bii->ib", x).fill_(9)
    assert x.tolist() == [[[9, 1], [2, 9]], [[9, 5], [6, 9]]]
    assert mg.einsum("iii->i", x).tolist() == [9, 9] and mg.einsum("bii->b", x).tolist() == [18, 18]
    with pytest.raises(ValueError, match="a diagonal of axes of sizes 2 and 3"):
        mg.einsum("ii->i", mg.ones(2, 3))


def test_how_often_memory_was_written_to():
    t = mg.zeros(3)
    assert t._version == 0
    t.add_(1)
    assert t._version == 1
    t[0] = 2
    part, other = t[:2], t.detach()
    assert t._version == part._version == other._version == 2
    part.mul_(2)
    assert t._version == part._version == other._version == 3
    other.zero_()
    assert t._version == part._version == 4 and (t + 1)._version == 0 and t.clone()._version == 0
    x = mg.ones(2, requires_grad=True)
    with mg.no_grad():
        x.sub_(0.5)
    assert x._version == 1
    turned = mg.zeros(2, 3)
    turned.t_()
    assert turned._version == 1 and turned.add_(1)._version == 2

    step = mg.jit(lambda y: y.add_(1))
    y = mg.zeros(2)
    for n in range(1, 6):
        step(y)
        assert y.tolist() == [n, n] and y._version == n


def test_what_a_view_is_of():
    t = mg.arange(6.0)
    assert t._base is None and not t._is_view() and (t + 1)._base is None and t.detach()._base is None
    for view in (t[2:], t[2:][1:], t.view(2, 3), t.view(2, 3).t()):
        assert view._is_view() and mg.equal(view._base, t) and view._base.data_ptr() == t.data_ptr() and view._base._base is None
    assert t._base is None
    x = mg.ones(3, requires_grad=True)
    y = x * 2
    assert y[1:]._base.grad_fn == y.grad_fn


def test_memory_as_an_object():
    t = mg.arange(6.0)
    part = t[2:].view(2, 2)
    for s in (t.untyped_storage(), part.untyped_storage(), t.detach().untyped_storage()):
        assert isinstance(s, mg.UntypedStorage) and (s.nbytes(), s.size(), len(s)) == (24, 24, 24) and s.data_ptr() == t.data_ptr()
        assert s.device == "cpu" and not s.is_cuda and not s.is_shared() and bytes(s.tolist()) == t.numpy().tobytes()
    s = part.storage()
    assert isinstance(s, mg.TypedStorage) and (s.size(), len(s), s.nbytes(), s.element_size()) == (6, 6, 24, 4) and s.dtype is mg.float32
    assert s.tolist() == list(s) == [0, 1, 2, 3, 4, 5] and s[1] == 1.0 and s[-1] == 5.0 and s.untyped() == t.untyped_storage()
    assert t.untyped_storage() == part.untyped_storage() != t.clone().untyped_storage() and part.data_ptr() == s.data_ptr() + 8
    part[0, 0] = 7
    assert s[2] == 7 and repr(s) == "<TypedStorage of 6 elements of micrograd_rs.float32 on cpu>"
    assert repr(t.untyped_storage()) == "<UntypedStorage of 24 bytes on cpu>"
    assert mg.zeros(0).untyped_storage().nbytes() == 0 and mg.tensor([True, False]).untyped_storage().tolist() == [1, 0]
    assert mg.ones(2, requires_grad=True).storage().tolist() == [1, 1] and mg.ones(1).expand(4).storage().size() == 1
    with pytest.raises(TypeError, match=r"x\.untyped_storage\(\)"):
        mg.UntypedStorage(3)


def test_memory_is_of_one_process():
    t = mg.ones(2)
    assert not t.is_shared() and not t.is_inference()
    with pytest.raises(RuntimeError, match="processes share no memory here"):
        t.share_memory_()


def test_what_requires_a_gradient_keeps_its_size():
    x = mg.ones(3, requires_grad=True)
    for recorded in (True, False):
        with mg.set_grad_enabled(recorded), pytest.raises(RuntimeError, match=r"^resize_: .* keeps its size: make a new one"):
            x.resize_(2)
    # What the error says.
    x = x.detach().clone().resize_(2).requires_grad_()
    assert x.is_leaf and x.requires_grad and x.tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"^resize_\(\): sizes cannot be negative"):
        mg.ones(3).resize_(-1)
