"""Elementwise programs of operands whose axes lie in unlike orders, of which some are read along other lines than they are written."""

from __future__ import annotations

import micrograd_rs as mg
import numpy as np
import pytest

DTYPES = [np.float32, np.float64, np.float16, np.int64, np.int32, np.int16, np.uint8]


def lying(rng, dims, dtype):
    """An array whose axes lie in any order, with gaps or without."""
    order = rng.permutation(len(dims))
    whole, part = [], []
    for axis in order:
        more = int(rng.choice([0, 0, 1, 4]))
        start = int(rng.integers(more + 1))
        whole.append(dims[axis] + more)
        part.append(slice(start, start + dims[axis]))
    made = rng.standard_normal(whole) * 9 if np.issubdtype(dtype, np.floating) else rng.integers(0, 100, whole)
    return made.astype(dtype), tuple(part), [int(axis) for axis in np.argsort(order)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_operands_that_lie_in_any_order(device, dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(20):
        dims = [int(rng.choice([1, 2, 3, 4, 8, 16, 20, 64, 100, 128, 260])) for _ in range(rng.integers(2, 5))]
        while np.prod(dims) < 66_000:
            dims[int(rng.integers(len(dims)))] *= 4
        while np.prod(dims) > 600_000:
            dims[int(np.argmax(dims))] //= 2
        arrays, tensors = [], []
        for _ in range(int(rng.integers(1, 4))):
            made, part, axes = lying(rng, dims, dtype)
            arrays.append(made[part].transpose(axes))
            tensors.append(mg.tensor(made, device=device)[part].permute(*axes))
        expected, found = arrays[0], tensors[0]
        for array, tensor in zip(arrays[1:] or arrays, tensors[1:] or tensors, strict=True):
            expected, found = expected + array, found + tensor
        np.testing.assert_array_equal(found.numpy(force=True), expected, err_msg=str([dims, [t.stride() for t in tensors]]))


def test_a_matrix_beside_one_that_is_transposed(device):
    """Sizes around the tiles, of which some are of one column."""
    rng = np.random.default_rng(1)
    for rows, columns in [(512, 256), (260, 260), (1600, 64), (49_152, 2), (2, 49_152), (4096, 20), (1028, 68), (257, 300)]:
        a = rng.standard_normal((rows, columns)).astype(np.float32)
        b = rng.standard_normal((columns, rows)).astype(np.float32)
        one, other = mg.tensor(a, device=device), mg.tensor(b, device=device)
        np.testing.assert_array_equal((one + other.t()).numpy(force=True), a + b.T)
        np.testing.assert_array_equal((other.t() * 2 - one).numpy(force=True), b.T * 2 - a)
