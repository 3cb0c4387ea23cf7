"""NumPy: what needs no gradients."""

import numpy as np

import python_cases
from cases import Case
from data import Skip, uniform
from work import Work

VERSION = np.__version__
UNARY = {
    "copy": np.copy,
    "relu": lambda x: np.maximum(x, 0),
    "exp": np.exp,
    "tanh": np.tanh,
    "pow25": lambda x: x**2.5,
    "log": np.log,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def _one(call) -> Work:
    return Work(call, lambda result: [np.asarray(result)])


def unary(op: str, n: int, low: float, high: float) -> Work:
    x, f = uniform(1, n, low, high), UNARY[op]
    return _one(lambda: f(x))


def binary(op: str, n: int) -> Work:
    a, b = uniform(1, n), uniform(2, n)
    return _one((lambda: a + b) if op == "add" else (lambda: a * b))


def sum(n: int) -> Work:
    x = uniform(1, n)
    return _one(lambda: x.sum())


def sum_axis(axis: int, shape: tuple[int, int]) -> Work:
    x = uniform(1, shape)
    return _one(lambda: x.sum(axis))


def transpose_copy(shape: tuple[int, int]) -> Work:
    x = uniform(1, shape)
    return _one(lambda: np.ascontiguousarray(x.T))


def matmul(n: int) -> Work:
    a, b = uniform(1, (n, n)), uniform(2, (n, n))
    return _one(lambda: a @ b)


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def row(op: str, backward: bool, shape: tuple[int, int]) -> Work:
    if backward:
        raise Skip("no gradients")
    if op == "gelu":
        raise Skip("no erf")
    x = uniform(1, shape)
    if op == "softmax":
        return _one(lambda: _softmax(x))
    gamma, beta = uniform(2, shape[1]), uniform(3, shape[1])

    def layer_norm() -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt(np.square(centred).mean(-1, keepdims=True) + 1e-5) * gamma + beta

    return _one(layer_norm)


def start() -> Work:
    return python_cases.start("numpy")


def index(n: int) -> Work:
    x = uniform(1, n)
    return _one(lambda: x[3])


def from_list(n: int) -> Work:
    numbers = python_cases.floats(n)
    return _one(lambda: np.array(numbers, dtype=np.float32))


def from_numpy(n: int) -> Work:
    x = uniform(1, n)
    return _one(lambda: x.copy())


def prepare(case: Case) -> Work:
    of_python = (start, index, from_list, from_numpy)
    kinds = {f.__name__: f for f in (unary, binary, sum, sum_axis, transpose_copy, matmul, row, *of_python)}
    if case.kind not in kinds:
        raise Skip("no gradients")
    return kinds[case.kind](**case.parameters)
