"""Inputs: the same numbers in every framework and in every language that can multiply 64-bit integers."""

import functools
import gzip
import os
import pathlib

import numpy as np

from cases import WIDTHS


class Skip(Exception):
    """A case or a device that a framework does not have, or data that is not there; the text says why."""


def _bits(seed: int, n: int) -> np.ndarray:
    """Element i is the finaliser of splitmix64 (Steele, Lea, Flood 2014) over seed * 2**32 + i."""
    z = np.arange(n, dtype=np.uint64) + np.uint64((seed << 32) + 0x9E3779B97F4A7C15 & 0xFFFF_FFFF_FFFF_FFFF)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


PERIOD = 2**24  # after so many elements the numbers begin again


def _uniform(seed: int, n: int, low: float, high: float) -> np.ndarray:
    u = (_bits(seed, n) >> np.uint64(40)).astype(np.float64) * 2.0**-24
    return (low + (high - low) * u).astype(np.float32)


def uniform(seed: int, shape: int | tuple[int, ...], low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """f32, row-major: low + (high - low) * u in f64, rounded; u is the upper 24 bits over 2**24."""
    n = int(np.prod(shape))
    return np.resize(_uniform(seed, min(n, PERIOD), low, high), shape)


_kept = functools.lru_cache(maxsize=8)(_uniform)


def once(seed: int, n: int, low: float, high: float) -> np.ndarray:
    """The first period of that at most, for those who repeat it on a device; not to be written to."""
    return _kept(seed, min(n, PERIOD), low, high)


def labels(seed: int, n: int, classes: int) -> np.ndarray:
    return (_bits(seed, n) % np.uint64(classes)).astype(np.int64)


def mlp_parameters() -> list[tuple[np.ndarray, np.ndarray]]:
    """For layer l, weight (out, in) of seed 10 + 2l and bias (out) of seed 11 + 2l, both within 1/sqrt(in)."""
    layers = []
    for l, (fan_in, fan_out) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        k = fan_in**-0.5
        layers.append((uniform(10 + 2 * l, (fan_out, fan_in), -k, k), uniform(11 + 2 * l, fan_out, -k, k)))
    return layers


def mlp_batch(batch: int) -> tuple[np.ndarray, np.ndarray]:
    return uniform(1, (batch, WIDTHS[0]), 0.0, 1.0), labels(2, batch, WIDTHS[-1])


def mnist_train() -> tuple[np.ndarray, np.ndarray]:
    """MNIST's training half from the gz files in $MNIST_DIR: images (60000, 784) in [0, 1] as f32, labels as i64."""
    if "MNIST_DIR" not in os.environ:
        raise Skip("MNIST_DIR is not set")
    folder = pathlib.Path(os.environ["MNIST_DIR"])

    def idx(name: str, header: int) -> np.ndarray:
        with gzip.open(folder / name) as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    try:
        images = idx("train-images-idx3-ubyte.gz", 16).reshape(-1, WIDTHS[0])
        return images.astype(np.float32) / np.float32(255), idx("train-labels-idx1-ubyte.gz", 8).astype(np.int64)
    except OSError as error:
        raise Skip(f"no MNIST: {error}") from error
