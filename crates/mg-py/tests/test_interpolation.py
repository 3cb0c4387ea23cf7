"""Images and volumes that are read between their elements, by grids and by interpolation, as PyTorch reads them."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from micrograd_rs.nn import functional as F


def test_edges_are_no_neighbours():
    """What is beyond the last element is not there: an infinite one is as it is, where a grid names it."""
    inf = float("inf")
    x = mg.tensor([[[[inf, 1.0], [2.0, -inf]]]])
    corners = mg.tensor([[[[-1.0, -1.0], [1.0, -1.0]], [[-1.0, 1.0], [1.0, 1.0]]]])
    for padding in ("zeros", "border", "reflection"):
        got = F.grid_sample(x, corners, padding_mode=padding, align_corners=True)
        assert got[0, 0, 1, 1].item() == -inf
    assert F.grid_sample(mg.tensor([[[[inf, 1.0]]]]), mg.tensor([[[[-1.0, 0.0]]]]), padding_mode="border", align_corners=True).item() == inf
    # Where the grid is held at an end, nothing changes with it.
    for at, slope in ((0.5, 1.5), (1.0, 0.0), (3.0, 0.0), (-1.0, 0.0), (-0.5, 1.5)):
        grid = mg.tensor([[[[at, 0.0]]]], requires_grad=True)
        F.grid_sample(mg.tensor([[[[1.0, 4.0]]]]), grid, padding_mode="border", align_corners=True).sum().backward()
        assert grid.grad[0, 0, 0, 0].item() == slope


def test_grids_by_numbers():
    x, theta = mg.rand(1, 2, 4, 4), mg.tensor([[[1.0, 0.2, 0.1], [0.0, 0.8, -0.3]]])
    grid = mg.affine_grid_generator(theta, [1, 2, 3, 3], False)
    assert mg.equal(grid, F.affine_grid(theta, [1, 2, 3, 3], False))
    for i, mode in enumerate(("bilinear", "nearest", "bicubic")):
        for j, padding in enumerate(("zeros", "border", "reflection")):
            assert mg.equal(mg.grid_sampler(x, grid, i, j, True), F.grid_sample(x, grid, mode, padding, True))
    with pytest.raises(ValueError, match="modes are 0, 1 and 2"):
        mg.grid_sampler(x, grid, 3, 0, True)


def test_the_grid_of_the_nearest_has_a_gradient_of_zeros():
    x, grid = mg.arange(16.0).reshape(1, 1, 4, 4).requires_grad_(), mg.zeros(1, 2, 2, 2).requires_grad_()
    F.grid_sample(x, grid, mode="nearest", align_corners=False).sum().backward()
    assert grid.grad.tolist() == mg.zeros(1, 2, 2, 2).tolist() and x.grad.sum().item() == 4.0
    grid = mg.zeros(1, 2, 2, 2).requires_grad_()
    F.grid_sample(x.detach(), grid, mode="nearest", align_corners=False).sum().backward()
    assert grid.grad.abs().sum().item() == 0.0


def test_bicubic_volumes():
    x = (mg.arange(240.0).reshape(1, 2, 4, 5, 6) % 7).requires_grad_()
    grid = (mg.arange(36.0).reshape(1, 2, 3, 2, 3) / 18 - 1.02).requires_grad_()
    y = F.grid_sample(x, grid, mode="bicubic", padding_mode="border", align_corners=False)
    wanted = [-1.1, 0.01, 1.47, 1.23, 2.22, 3.21, 3.89, 4.39, 4.33, 2.89, 2.61, -0.28]
    assert y.flatten()[:12].tolist() == pytest.approx(wanted, abs=0.006)
    (y * y).sum().backward()
    assert grid.grad.flatten()[:6].tolist() == pytest.approx([1.6, 4.6, -0.1, 3.4, -3.7, 5.9], abs=0.06)


def test_bytes_of_images_are_interpolated():
    x = (mg.arange(4, dtype=mg.uint8) * 60).reshape(1, 1, 2, 2)
    for aligned in (False, True):
        y = F.interpolate(x, size=(3, 3), mode="bilinear", align_corners=aligned)
        assert y.dtype == mg.uint8 and y.tolist() == [[[[0, 30, 60], [60, 90, 120], [120, 150, 180]]]]
    # Rounded once, where PyTorch rounds the weights too: [58, 90, 125], [125, 160, 195].
    assert F.interpolate(x, size=(3, 3), mode="bicubic").tolist() == [[[[0, 20, 55], [55, 90, 125], [125, 160, 196]]]]
    assert F.interpolate(mg.tensor([[[[0, 255]] * 2]], dtype=mg.uint8), size=(2, 8), mode="bicubic").amax().item() == 255
    for mode in ("area", "bilinear"):
        with pytest.raises(mg.DTypeError, match="takes floats"):
            F.interpolate(x.to(mg.int64), size=(3, 3), mode=mode)


def test_means_over_no_windows_are_nothing():
    x = mg.ones(1, 1, 4, 4, requires_grad=True)
    assert F.interpolate(mg.ones(1, 1, 4), size=0, mode="area").shape == (1, 1, 0)
    y = F.interpolate(x, size=(0, 2), mode="area")
    y.sum().backward()
    assert y.shape == (1, 1, 0, 2) and x.grad.tolist() == mg.zeros(1, 1, 4, 4).tolist()
    with pytest.raises(ValueError, match="cannot become"):
        F.interpolate(x, size=(0, 2), mode="bilinear")


def test_the_nearest_of_doubles_by_a_factor():
    # 34.5 / 2.3 is next to 15, which it is where positions are floored in f32; computed in f32, too, it is below.
    for dtype, wanted in ((mg.float64, 15), (mg.float32, 14)):
        x = mg.arange(16, dtype=dtype).reshape(1, 1, 16)
        y = F.interpolate(x, scale_factor=2.3, mode="nearest-exact")
        assert y.shape == (1, 1, 36) and y[0, 0, 34].item() == wanted


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_gradients_that_come_back_as_parts_of_something(mode, device):
    x = mg.arange(8, dtype=mg.float64, device=device).reshape(1, 2, 2, 2).requires_grad_()
    w = mg.arange(96, dtype=mg.float64, device=device).reshape(1, 6, 4, 4) ** 2
    F = mg.nn.functional
    grad = lambda y, w: mg.autograd.grad((y * w).sum(), x)[0]  # noqa: E731
    for before in (0, 1, 3):
        y = F.interpolate(x, scale_factor=2, mode=mode)
        whole = mg.cat([mg.zeros(1, before, 4, 4, dtype=mg.float64, device=device), y], 1)
        assert grad(whole, w[:, : before + 2]).equal(grad(F.interpolate(x, scale_factor=2, mode=mode), w[:, before : before + 2].clone()))
