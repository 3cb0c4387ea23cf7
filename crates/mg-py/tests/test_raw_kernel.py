"""Kernels that are CUDA C or PTX text: what can be told of them without a device, and on one where it is there."""

import copy
import os
import pickle

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs.kernels import RawKernel, raw

CUDA = """
extern "C" __global__ void axpy(const float* x, const float* y, float a, long long n, float* out) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""

PTX = """
.version 8.0
.target sm_75
.address_size 64
// What it does: out[i] = x[i] + x[i], then the index.
.visible .entry twice(
    .param .u64 twice_param_0,
    .param .u32 twice_param_1,
    .param .u64 twice_param_2,
    .param .u64 twice_param_3
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [twice_param_0];
    ld.param.u32 %r1, [twice_param_1];
    ld.param.u64 %rd2, [twice_param_2];
    ld.param.u64 %rd7, [twice_param_3];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    add.f32 %f2, %f1, %f1;
    add.s64 %rd5, %rd2, %rd3;
    st.global.f32 [%rd5], %f2;
    cvt.rn.f32.s32 %f2, %r5;
    add.s64 %rd8, %rd7, %rd3;
    st.global.f32 [%rd8], %f2;
DONE:
    ret;
}
"""


@raw(CUDA)
def axpy(x, y, a, n):
    """a x + y"""
    return a * x + y


@axpy.gradient
def _(x, y, a, n, g):
    return a * g, g, None, None


@raw(PTX, outputs=lambda x, n: [x, (x.shape, x.dtype)])
def twice(x, n):
    return x + x, mg.arange(n, dtype=x.dtype)


def library():
    """NVIDIA's compiler, where it is on this machine."""
    kernel = RawKernel(CUDA, "axpy")
    try:
        return kernel.ptx(80)
    except RuntimeError as error:
        assert "NVRTC, which is not on this machine; looked for" in str(error)
        return None


def test_the_host_half():
    x, y = mg.randn(5, requires_grad=True), mg.randn(5, requires_grad=True)
    out = axpy(x, y, 2.0, 5)
    np.testing.assert_allclose(out.detach().numpy(), 2 * x.detach().numpy() + y.detach().numpy())
    out.sum().backward()
    assert x.grad.tolist() == [2.0] * 5 and y.grad.tolist() == [1.0] * 5
    first, second = twice(x.detach(), 5)
    assert first.shape == (5,) and second.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with mg.no_grad():
        assert not axpy(x, y, 2.0, 5).requires_grad


def test_the_users_gradient_is_the_gradient():
    @raw(CUDA, name="axpy")
    def odd(x, y, a, n):
        return a * x + y

    @odd.gradient
    def _(x, y, a, n, g):
        return g * 100, None, None, None

    x, y = mg.ones(2, requires_grad=True), mg.ones(2, requires_grad=True)
    odd(x, y, 3.0, 2).sum().backward()
    assert x.grad.tolist() == [100.0, 100.0] and y.grad is None
    (first,) = mg.autograd.grad(odd(x, y, 3.0, 2).sum(), [x], create_graph=True)
    assert first.tolist() == [100.0, 100.0]


def test_in_a_step_that_is_replayed():
    step = mg.jit(lambda x, y: (axpy(x, y, 2.0, 3) ** 2).sum())
    for i in range(5):
        x, y = mg.full((3,), float(i)), mg.ones(3)
        assert step(x, y).item() == 3 * (2 * i + 1) ** 2


def test_what_is_wrong_is_told():
    without = RawKernel(PTX, "twice")
    with pytest.raises(RuntimeError, match="twice.. is a kernel for CUDA devices, and its tensors are on the CPU: give it a host half"):
        without(mg.ones(2), 2)
    with pytest.raises(TypeError, match="at least one tensor"):
        axpy(1, 2, 3, 4)
    with pytest.raises(ValueError, match=r"no entry thrice \(it has twice\)"):
        RawKernel(PTX, "thrice")
    with pytest.raises(ValueError, match="has no body"):
        RawKernel(PTX[:300], "twice")
    with pytest.raises(TypeError, match="the source of a kernel is text, not int"):
        RawKernel(3, "twice")
    with pytest.raises(RuntimeError, match="runs on CUDA devices, got a tensor on cpu"):
        without._raw.launch((mg.ones(2), 2), (1, 1, 1), (1, 1, 1), 0, [((2,), mg.float32)])
    with pytest.raises(ValueError, match="the grid of twice is one to three numbers"):
        without._sizes("grid", (1, 2, 3, 4), ())
    with pytest.raises(TypeError, match=r"outputs of axpy are \(shape, dtype\)"):
        RawKernel(CUDA, "axpy", outputs=lambda x: 3)._results((mg.ones(2),), mg.ones(2))


def test_outputs_and_sizes():
    x = mg.ones(2, 3)
    found = [
        (None, [((2, 3), mg.float32)]),
        ((5, mg.int64), [((5,), mg.int64)]),
        (((5, 2), mg.int64), [((5, 2), mg.int64)]),
        (lambda t: t, [((2, 3), mg.float32)]),
        (lambda t: [t, (t.shape, mg.float32)], [((2, 3), mg.float32)] * 2),
        ((((5,), mg.int64), ((4,), mg.int64)), [((5,), mg.int64), ((4,), mg.int64)]),
    ]
    for outputs, expected in found:
        assert RawKernel(CUDA, "axpy", outputs=outputs)._results((x,), x) == expected
    kernel = RawKernel(CUDA, "axpy")
    assert kernel._sizes("block", 7, ()) == (7, 1, 1) and kernel._sizes("grid", lambda n: (n, 2), (3,)) == (3, 2, 1)


def test_the_compiler_is_looked_for(program):
    said = program("""
        import os
        os.environ["MG_NVRTC"] = "/nowhere/libnvrtc.so"
        import micrograd_rs as mg
        try:
            mg.kernels.RawKernel("extern \\"C\\" __global__ void k(float* x) {}", "k").ptx()
        except RuntimeError as error:
            print(error)
    """)
    assert "looked for /nowhere/libnvrtc.so" in said and "nvidia-cuda-nvrtc-cu12" in said


def test_compiled_to_ptx():
    text = library()
    if text is None:
        pytest.skip("NVRTC is not on this machine")
    assert ".entry axpy" in text
    # As PTX, it is a kernel with five parameters.
    assert repr(RawKernel(text, "axpy")) == "<kernel axpy (PTX)>"
    with pytest.raises(RuntimeError, match=r"(?s)CUDA C was not compiled.*wrong\.cu\(1\): error"):
        RawKernel("__global__ void wrong() { nonsense; }", "wrong").ptx()
    named = RawKernel("__global__ void plain(int n, double* y) { y[0] = n; }", "plain")
    assert repr(RawKernel(named.ptx(), "plain")) == "<kernel plain (PTX)>"


def test_pickled_and_copied_as_functions_are():
    assert pickle.loads(pickle.dumps(axpy)) is axpy and copy.deepcopy(axpy) is axpy
    assert axpy.__doc__ == "a x + y" and repr(axpy) == "<kernel axpy (CUDA C)>"
    with pytest.raises(TypeError, match="without a host half is not pickled"):
        pickle.dumps(RawKernel(PTX, "twice"))


@pytest.mark.skipif(not mg.cuda.is_available(), reason="no CUDA device")
def test_on_a_device():
    x = mg.randn(1000, device="cuda", requires_grad=True)
    first, second = twice(x.detach() + 1, 1000)
    np.testing.assert_array_equal((first * 1).cpu().numpy(), ((x + 1) * 2).detach().cpu().numpy())
    assert second.cpu().tolist() == [float(i) for i in range(1000)]
    with pytest.raises(RuntimeError, match="was given no gradient"):
        twice(x, 1000)[0].sum().backward()
    with pytest.raises(ValueError, match="4 parameters, got 3"):
        RawKernel(PTX, "twice")(x.detach(), 1000)
    if library() is None and "MG_NVRTC" not in os.environ:
        pytest.skip("NVRTC is not on this machine")
    y = mg.randn(1000, device="cuda", requires_grad=True)
    out = axpy(x, y, 2.5, 1000)
    np.testing.assert_allclose(out.detach().cpu().numpy(), (2.5 * x + y).detach().cpu().numpy(), rtol=1e-6, atol=1e-6)
    out.sum().backward()
    assert x.grad.cpu().tolist() == [2.5] * 1000


def test_a_gradient_that_is_not_given_is_an_error_on_the_host_too():
    @mg.kernels.raw("extern \"C\" __global__ void turned(const float* x, float* out, long n) {}")
    def turned(x):
        return x.flip(0)

    x = mg.tensor([1.0, 2.0], requires_grad=True)
    assert turned(x).tolist() == [2.0, 1.0] and turned(x.detach()).tolist() == [2.0, 1.0]
    with pytest.raises(RuntimeError, match="was given no gradient"):
        turned(x).sum().backward()

    @mg.kernels.raw("extern \"C\" __global__ void nothing(const float* x, float* out, long n) {}")
    def nothing(x):
        pass

    with pytest.raises(TypeError, match="got None"):
        nothing(x.detach())
