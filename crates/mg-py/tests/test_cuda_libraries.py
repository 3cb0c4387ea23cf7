"""Memory of a CUDA device that other libraries share. Each has streams of its own, so what one makes must be waited for by the other."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import close, needs_cuda
from micrograd_rs import Tensor

pytestmark = needs_cuda


def test_dlpack_itself():
    t = mg.arange(6, device="cuda").float().reshape(2, 3)
    assert t.__dlpack_device__() == (2, 0)
    for shared in (mg.from_dlpack(t, copy=False), mg.from_dlpack(t)):
        assert shared.is_cuda and shared.tolist() == t.tolist()
    assert mg.from_dlpack(t, copy=False).data_ptr() == t.data_ptr() != mg.from_dlpack(t).data_ptr()
    for options in ({}, {"stream": None}, {"stream": 1}, {"stream": 2}, {"stream": -1}, {"max_version": (1, 0)}, {"copy": True}):
        assert mg.from_dlpack(t.__dlpack__(**options)).tolist() == t.tolist()
    assert mg.from_dlpack(t, device="cpu").tolist() == t.tolist() and mg.from_dlpack(t, device="cpu").is_cpu
    # A copy on the host, where it is asked for there.
    assert mg.from_dlpack(t.__dlpack__(dl_device=(1, 0))).is_cpu
    with pytest.raises(BufferError, match="cuda:0"):
        t.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError):
        t.__dlpack__(dl_device=(10, 0))
    with pytest.raises(TypeError, match="stream"):
        t.__dlpack__(stream="default")
    numpy = pytest.importorskip("numpy", minversion="2.1")
    assert numpy.from_dlpack(t, device="cpu").tolist() == t.tolist()


@pytest.fixture
def torch():
    """PyTorch, where it is installed and finds the device."""
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return module


def busy(torch):
    """Some milliseconds of work on PyTorch's current stream; answers with a matrix of ones that comes last."""
    x = torch.rand(4096, 4096, device="cuda")
    for _ in range(8):
        x = torch.tanh(x @ x * 1e-3)
    return x * 0 + 1


def test_tensors_of_pytorch(torch):
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool):
        theirs = torch.tensor([[0, 1, 1], [1, 1, 0]], dtype=dtype, device="cuda")
        for make in (mg.from_dlpack, mg.tensor, mg.as_tensor, lambda t: mg.from_dlpack(t, copy=False)):
            for view in (theirs, theirs.t(), theirs[:, 1:], theirs[:1].expand(4, 3)):
                ours = make(view)
                assert ours.is_cuda and ours.tolist() == view.tolist()
        back = torch.from_dlpack(mg.from_dlpack(theirs))
        assert back.is_cuda and back.dtype == dtype and back.tolist() == theirs.tolist()
        assert torch.from_dlpack(mg.from_dlpack(theirs).t()).tolist() == theirs.t().tolist()
    ours = mg.rand(64, device="cuda")
    theirs = torch.from_dlpack(ours)
    assert theirs.data_ptr() == ours.data_ptr() and mg.from_dlpack(theirs, copy=False).data_ptr() == ours.data_ptr()
    # Values do not change under those who hold them.
    wanted = theirs.tolist()
    ours += 1
    assert theirs.tolist() == wanted and ours.tolist() != wanted


@pytest.mark.parametrize("own_stream", [False, True])
def test_work_of_pytorch_is_waited_for(torch, own_stream):
    with torch.cuda.stream(torch.cuda.Stream() if own_stream else torch.cuda.current_stream()):
        for _ in range(3):
            # Their work comes first: our copy, and work on their memory, waits for it.
            ours = mg.from_dlpack(busy(torch))
            assert ours.sum().item() == 4096 * 4096
            theirs = busy(torch)
            shared = mg.from_dlpack(theirs, copy=False)
            assert (shared * 2).sum().item() == 2 * 4096 * 4096
            # They write what we have seen, and let go of it while we read.
            theirs.copy_(busy(torch) * 3)
            assert shared.sum().item() == 3 * 4096 * 4096
            doubled = shared + shared
            del shared, theirs
            torch.zeros(4096, 4096, device="cuda")
            assert doubled.sum().item() == 6 * 4096 * 4096
            # Ours comes first: theirs waits for it.
            x = mg.full((2048, 2048), 1.0, device="cuda")
            for _ in range(20):
                x = (x @ x) / 2048
            theirs = torch.from_dlpack(x)
            assert theirs.double().sum().item() == 2048 * 2048
            # They read late what we let go of.
            x = mg.ones(4096, 4096, device="cuda").realize()
            theirs = torch.from_dlpack(x)
            late = busy(torch) + theirs
            del x, theirs
            for i in range(3):
                mg.full((4096, 4096), float(i + 5), device="cuda").realize()
            assert late.double().sum().item() == 2 * 4096 * 4096


def test_gradients_beside_pytorch(torch):
    data = torch.randn(32, 8, device="cuda")
    weight = torch.randn(4, 8, device="cuda", requires_grad=True)
    torch.tanh(data @ weight.t()).square().mean().backward()
    ours = Tensor(mg.from_dlpack(weight.detach()), device="cuda")
    ((mg.from_dlpack(data) @ ours.t()).tanh() ** 2).mean().backward()
    close(ours.grad, weight.grad, rtol=1e-4)


def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy")
    try:
        theirs = cupy.arange(12, dtype="float32").reshape(3, 4)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is not ours
        pytest.skip(f"this CuPy does not work: {error}")
    for view in (theirs, theirs.T, theirs[:, ::-2], theirs[1:, 1:]):
        assert mg.from_dlpack(view).tolist() == view.tolist() == mg.from_dlpack(view, copy=False).tolist()
    ours = mg.arange(12, device="cuda").float().reshape(3, 4)
    back = cupy.from_dlpack(ours)
    assert back.tolist() == ours.tolist() and cupy.from_dlpack(ours.t()).tolist() == ours.t().tolist()
    with cupy.cuda.Stream(non_blocking=True):
        x = cupy.ones((2048, 2048), dtype="float32")
        for _ in range(10):
            x = (x @ x) / 2048
        assert mg.from_dlpack(x).sum().item() == 2048 * 2048
        y = mg.ones(2048, 2048, device="cuda")
        for _ in range(10):
            y = (y @ y) / 2048
        assert float(cupy.from_dlpack(y).sum()) == 2048 * 2048


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    try:
        theirs = jax.numpy.arange(12, dtype="float32").reshape(3, 4)
        on_gpu = "cuda" in str(next(iter(theirs.devices()))).lower()
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is not ours
        pytest.skip(f"this JAX does not work: {error}")
    if not on_gpu:
        pytest.skip("this JAX has no CUDA")
    assert mg.from_dlpack(theirs).is_cuda and mg.from_dlpack(theirs).tolist() == theirs.tolist()
    ours = mg.arange(12, device="cuda").float().reshape(3, 4)
    assert jax.dlpack.from_dlpack(ours).tolist() == ours.tolist()
