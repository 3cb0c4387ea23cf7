"""Tensors of more axes than lie inline: what NumPy answers, up to 16 of them."""

import pickle

import micrograd_rs as mg
import numpy as np
import pytest

SHAPES = [(2,) * 9, (2, 1, 3, 2, 1, 2, 1, 2, 2, 1, 2), (2,) * 12, (1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2)]


def pair(shape: tuple[int, ...]) -> tuple[mg.Tensor, np.ndarray]:
    a = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
    return mg.tensor(a), a


def same(t: mg.Tensor, a: np.ndarray) -> None:
    assert t.shape == a.shape
    np.testing.assert_allclose(t.numpy(), a, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_views(shape: tuple[int, ...]) -> None:
    t, a = pair(shape)
    rank = len(shape)
    order = [(i * 5 + 3) % rank for i in range(rank)] if rank % 5 else list(range(rank))[::-1]
    same(t.permute(*order), a.transpose(order))
    same(t.permute(*order).permute(*order), a.transpose(order).transpose(order))
    same(t.transpose(0, -1), a.swapaxes(0, -1))
    same(t.flip(1, -2), np.flip(a, (1, -2)))
    same(t[..., 0], a[..., 0])
    same(t[0, ..., None, 0], a[0, ..., None, 0])
    same(t.reshape(-1), a.reshape(-1))
    same(t.permute(*order).reshape(-1), a.transpose(order).reshape(-1))
    same(t.squeeze(), a.squeeze())
    same(t.unsqueeze(3) if rank < 16 else t, np.expand_dims(a, 3) if rank < 16 else a)
    same(t[1:, ..., ::2], a[1:, ..., ::2])
    same(t.sum(0).expand(*shape), np.broadcast_to(a.sum(0), shape))
    assert t.permute(*order).stride() == tuple(np.array(t.stride())[order])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numbers(shape: tuple[int, ...]) -> None:
    t, a = pair(shape)
    rank = len(shape)
    turned = tuple(reversed(range(rank)))
    same(t * t.permute(*turned).permute(*turned) + 1, a * a + 1)
    for axes in [(0,), (rank - 1,), (0, rank - 1), tuple(range(0, rank, 2)), tuple(range(1, rank, 2)), turned]:
        same(t.sum(axes), a.sum(axes))
        same(t.permute(*turned).sum(axes), a.transpose(turned).sum(axes))
        same(t.amax(axes, keepdim=True), a.max(axes, keepdims=True))
    same(t.softmax(rank - 2).sum(rank - 2), np.ones_like(a.sum(rank - 2)))
    same(t.cumsum(rank - 3), a.cumsum(rank - 3))
    same(t.argmax(rank - 1), a.argmax(rank - 1))
    same(t.sort(rank - 1).values, np.sort(a, rank - 1))
    same(mg.cat([t, t], 3), np.concatenate([a, a], 3))
    index = np.zeros(shape, np.int64)
    same(t.gather(4, mg.tensor(index)), np.take_along_axis(a, index, 4))
    same(t @ t.transpose(-1, -2), a @ a.swapaxes(-1, -2))
    assert t.tolist() == a.tolist()
    same(pickle.loads(pickle.dumps(t)), a)
    same(mg.from_dlpack(t), a)
    assert np.asarray(memoryview(t.permute(*turned))).tolist() == a.transpose(turned).tolist()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_and_writes(shape: tuple[int, ...]) -> None:
    t, a = pair(shape)
    rank = len(shape)
    t.requires_grad_()
    turned = tuple(reversed(range(rank)))
    (t.permute(*turned)[0] * t.permute(*turned)[0]).sum().backward()
    expected = np.zeros_like(a)
    expected[..., 0] = 2 * a[..., 0]
    same(t.grad, expected)
    t = t.detach().clone()
    t[0, ..., 0] = 7
    a[0, ..., 0] = 7
    same(t, a)
    t.permute(*turned)[0].mul_(2)
    a[..., 0] *= 2
    same(t, a)
    step = mg.jit(lambda x: (x.permute(*turned) * 2).sum(1))
    for _ in range(4):
        same(step(t), (a.transpose(turned) * 2).sum(1))


def test_sixteen_are_enough() -> None:
    t = mg.ones(*[1] * 16)
    with pytest.raises(ValueError, match="16"):
        t.unsqueeze(0)
    assert mg.tensor(np.ones([1] * 16)).sum().item() == 1
    with pytest.raises(ValueError, match="17"):
        mg.ones(*[1] * 17)
