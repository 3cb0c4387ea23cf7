"""`channels_last`: how images lie in memory, what is made of them, and that numbers are those of images in planes."""

import pickle

import numpy as np
import pytest

import micrograd_rs as mg
from micrograd_rs import nn
from micrograd_rs.nn import functional as F

DEVICES = ["cpu", *(["cuda"] if mg.cuda.is_available() else [])]
LAST = {"memory_format": mg.channels_last}


def is_last(x):
    return x.is_contiguous(memory_format=mg.channels_last)


@pytest.mark.parametrize("device", DEVICES)
def test_it_is_asked_for_and_kept(device):
    x = mg.arange(2 * 3 * 4 * 5, dtype=mg.float32, device=device).reshape(2, 3, 4, 5)
    for y in (x.to(**LAST), x.contiguous(**LAST), x.clone().to(device, **LAST), x.double().float(**LAST), mg.zeros_like(x, **LAST) + x):
        assert y.stride() == (60, 1, 15, 3) and is_last(y) and not y.is_contiguous() and mg.equal(y, x)
        assert y.to(**LAST) is y and y.contiguous(**LAST) is y
        for z in (y.clone(), y + 1, 2 - y, y.exp(), F.relu(y), y.half(), y > 0, y[1:], mg.zeros_like(y), mg.rand_like(y), mg.full_like(y, 2), mg.where(y > 1, y, 0)):
            assert is_last(z), z
            z.realize()
            assert is_last(z), z
        assert y.contiguous().is_contiguous() and y.clone().contiguous().stride() == (60, 20, 5, 1)
        assert y.permute(0, 2, 3, 1).stride() == (60, 15, 3, 1) and is_last(y.cpu())
        assert np.array_equal(y.numpy(force=True), x.numpy(force=True)) and (device == "cuda" or y.numpy().strides == (240, 4, 60, 12))
        assert y.data_ptr() == y.permute(0, 2, 3, 1).data_ptr() and y.untyped_storage().nbytes() == 480
    assert is_last(x.clone(**LAST)) and is_last(mg.clone(x, **LAST)) and x.to(**LAST).clone(memory_format=mg.contiguous_format).is_contiguous()
    assert mg.empty(2, 3, 4, 5, device=device, **LAST).stride() == (60, 1, 15, 3)
    volume = mg.zeros(2, 3, 4, 5, 6, device=device).to(memory_format=mg.channels_last_3d)
    assert volume.stride() == (360, 1, 90, 18, 3) and volume.is_contiguous(memory_format=mg.channels_last_3d)
    for shape in ((2, 3, 4), (2, 3, 4, 5, 6)):
        for ask in (mg.zeros(shape).to, mg.zeros(shape).contiguous, lambda shape=shape, **k: mg.zeros(shape, **k), lambda shape=shape, **k: mg.zeros_like(mg.zeros(shape), **k)):
            with pytest.raises(RuntimeError, match="order of 4 axes"):
                ask(**LAST)


@pytest.mark.parametrize("device", DEVICES)
def test_copies_and_random_numbers_lie_as_they_are_asked_to(device):
    x = mg.randn(2, 3, 4, 5, device=device)
    y, rows = x.to(**LAST), {"memory_format": mg.contiguous_format}
    assert is_last(x.clone(**LAST)) and is_last(mg.clone(x, **LAST)) and mg.equal(x.clone(**LAST), x)
    assert is_last(y.clone()) and is_last(y.clone(memory_format=mg.preserve_format))
    assert y.clone(**rows).is_contiguous() and mg.equal(y.clone(**rows).view(-1), x.view(-1))
    assert is_last(mg.randint_like(y, 3)) and mg.randint_like(y, 3, **rows).is_contiguous() and is_last(mg.randint_like(x, 3, **LAST))
    with pytest.raises(RuntimeError, match="order of 4 axes"):
        x[0].clone(**LAST)
    with pytest.raises(TypeError, match="memory_format"):
        x.clone(memory_format=3)
    assert y.clone().contiguous().as_strided((2, 2), (1, 2)).tolist() == x.as_strided((2, 2), (1, 2)).tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_pickled_lies_as_it_did(device):
    x = mg.randn(2, 3, 4, 5, device=device)
    volume = mg.randn(2, 3, 2, 4, 5, device=device).to(memory_format=mg.channels_last_3d)
    for y in (x, x.to(**LAST), x.to(**LAST).requires_grad_(), volume):
        again = pickle.loads(pickle.dumps(y))
        assert again.stride() == y.stride() and mg.equal(again, y) and again.requires_grad == y.requires_grad


def test_modules_go_back_to_rows():
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Conv3d(2, 3, 3))
    weights = [net[0].weight, net[1].weight]
    net.to(memory_format=mg.channels_last).to(memory_format=mg.channels_last_3d)
    assert [w.stride() for w in weights] == [(18, 1, 6, 2), (54, 1, 18, 6, 2)]
    net.to(memory_format=mg.contiguous_format)
    assert all(w.is_contiguous() for w in weights)


def test_views_are_seen_by_others_where_they_lie():
    x = mg.randn(4, 4, 4, 4)
    y = x.to(**LAST)
    seen = y.permute(0, 2, 1, 3)
    told, flat = seen.stride(), seen.reshape(-1).exp()
    handed = seen.numpy()
    assert handed.strides == tuple(4 * n for n in told)
    handed[0] = 5
    assert (y[0] == 5).all() and (seen[0] == 5).all() and mg.equal(flat, x.permute(0, 2, 1, 3).flatten().exp())


@pytest.mark.parametrize("device", DEVICES)
def test_images_that_come_with_channels_last(device):
    images = mg.as_tensor(np.random.default_rng(0).random((2, 6, 5, 3), dtype=np.float32)).to(device)
    for x in (images, images + 0):
        scaled = (x.permute(0, 3, 1, 2) - 0.5) / 0.25
        assert is_last(scaled)
        assert np.array_equal(scaled.numpy(force=True), (np.moveaxis(x.numpy(force=True), -1, 1) - np.float32(0.5)) / np.float32(0.25))


@pytest.mark.parametrize("device", DEVICES)
def test_views_of_it(device):
    x = mg.randn(2, 3, 4, 5, device=device)
    y = x.to(**LAST)
    assert mg.equal(y.reshape(2, -1), x.reshape(2, -1)) and mg.equal(y.flatten(), x.flatten()) and mg.equal(y.mT, x.mT)
    with pytest.raises(RuntimeError, match="view"):
        y.view(2, -1)
    assert mg.equal(y.view(2, 3, 4, 5, 1)[..., 0], x)
    seen = y[:, 1]
    y += 1
    seen *= 2
    x += 1
    x[:, 1] *= 2
    assert mg.equal(y, x) and is_last(y) and mg.equal(seen, x[:, 1])
    turned = y.permute(0, 2, 3, 1)
    assert mg.equal(turned.contiguous().view(-1), x.permute(0, 2, 3, 1).flatten())
    turned[0, 0, 0] = 7
    assert (y[0, :, 0, 0] == 7).all() and is_last(y)
    if device == "cpu":
        y.numpy()[1] = 3
        assert (y[1] == 3).all() and is_last(y)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [mg.float32, mg.bfloat16])
def test_networks_have_the_numbers_of_planes(device, dtype):
    def network():
        mg.manual_seed(1)
        return nn.Sequential(
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.GELU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 32, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 4)
        ).to(device, dtype)

    def run(turn, jit):
        net, x = network(), turn(mg.randn(4, 8, 16, 16, generator=mg.Generator().manual_seed(2)).to(device, dtype))
        opt = mg.optim.SGD(net.parameters(), lr=0.05)

        def step(x):
            opt.zero_grad()
            loss = net(x).float().square().mean()
            loss.backward()
            opt.step()
            return loss

        step = mg.jit(step) if jit else step
        return [step(x).item() for _ in range(5)]

    near = 1e-4 if dtype == mg.float32 else 3e-2
    planes = run(lambda x: x, False)
    for jit in (False, True):
        assert run(lambda x: x.to(**LAST), jit) == pytest.approx(planes, rel=near)


@pytest.mark.parametrize("device", DEVICES)
def test_a_step_that_was_recorded_takes_the_other_order(device):
    step = mg.jit(lambda x, w: F.relu(F.conv2d(x, w, padding=1)))
    x, w = mg.randn(4, 16, 8, 8, device=device), mg.randn(16, 16, 3, 3, device=device)
    last = x.to(**LAST)
    expected = step(x, w)
    for _ in range(3):
        for of in (x, last, last[:2], x[:2], last.clone()):
            got = step(of, w)
            assert np.allclose(got.numpy(force=True), expected[: len(of)].numpy(force=True), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif("cuda" not in DEVICES, reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [mg.bfloat16, mg.float16, mg.float32])
def test_convolutions_leave_it(dtype):
    if mg.cuda.get_device_capability() < (9, 0):
        pytest.skip("kernels of earlier devices take planes")
    mg.set_float32_matmul_precision("highest")
    shapes = [(4, 64, 64, 9, 3, 1), (2, 64, 128, 12, 1, 1), (3, 64, 64, 10, 3, 2), (8, 64, 64, 8, 1, 2)]
    for batch, channels, filters, size, window, stride in shapes:
        rng = mg.Generator().manual_seed(size)
        x, w = mg.randn(batch, channels, size, size, generator=rng), mg.randn(filters, channels, window, window, generator=rng) / 8
        x, w = x.to("cuda", dtype), w.to("cuda", dtype)
        results = []
        for of, weight in ((x, w), (x.to(**LAST), w), (x.to(**LAST), w.to(**LAST))):
            of, weight = of.detach().requires_grad_(), weight.detach().requires_grad_()
            y = F.conv2d(of, weight, stride=stride, padding=window // 2)
            assert is_last(y) == is_last(of)
            y.realize()
            assert is_last(y) == is_last(of)
            g = y.detach().cos()
            assert is_last(g) == is_last(of)
            y.backward(g)
            assert is_last(of.grad) == is_last(of)
            results.append([t.detach().double().cpu() for t in (y, of.grad, weight.grad)])
        exact = mg.nn.functional.conv2d(x.double().cpu(), w.double().cpu(), stride=stride, padding=window // 2)
        for of_last in results[1:]:
            for planes, last in zip(results[0], of_last):
                scale = planes.abs().max().item()
                assert (planes - last).abs().max().item() <= {mg.float32: 1e-5}.get(dtype, 2e-2) * scale
        assert (results[1][0] - exact).abs().max().item() <= {mg.float32: 1e-5}.get(dtype, 2e-2) * exact.abs().max().item()


@pytest.mark.parametrize("known", [False, True])
def test_what_is_contiguous_in_the_order_of_memory_is_contiguous(known):
    x = mg.arange(120, dtype=mg.float32).reshape(2, 3, 4, 5).to(**LAST)
    if known:
        x.tolist()
    seen = x.permute(0, 2, 3, 1)
    assert seen.is_contiguous() and seen.contiguous() is seen and seen.stride() == (60, 15, 3, 1) and is_last(x)
    flat = seen.view(-1)
    assert flat.data_ptr() == x.data_ptr() == seen.flatten().data_ptr() == seen.reshape(8, -1).data_ptr()
    flat[1] = -1.0
    x[1, 2] = 7.0
    cut = x.detach()
    cut.mul_(2.0)
    assert x[0, 1, 0, 0] == -2 and flat[-1] == 14 and is_last(x) and is_last(cut) and is_last(x + 1)
    assert cut.permute(0, 2, 3, 1).view(-1).tolist() == flat.tolist()
    w = mg.ones(2, 3, 4, 5, requires_grad=True)
    turned = (w * 2).to(**LAST)
    (turned.permute(0, 2, 3, 1).view(-1) * mg.arange(120)).sum().backward()
    assert mg.equal(w.grad.permute(0, 2, 3, 1).flatten(), 2.0 * mg.arange(120))
