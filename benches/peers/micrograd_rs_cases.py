"""Ours, from Python: each case as its users write it."""

import os

import numpy as np

import data
import python_cases
from cases import WIDTHS, Case
from data import uniform
from work import Work

os.environ["MG_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"]

import micrograd_rs as mg
from micrograd_rs import functional as F
from micrograd_rs import nn, optim

VERSION = mg.__version__
UNARY = {
    "copy": mg.clone,
    "relu": mg.relu,
    "exp": mg.exp,
    "tanh": mg.tanh,
    "pow25": lambda x: x**2.5,
    "log": mg.log,
    "sigmoid": mg.sigmoid,
}
ROW = {"softmax": lambda x: F.softmax(x, -1), "gelu": F.gelu}


def _tensor(seed: int, shape, low: float = -1.0, high: float = 1.0, grad: bool = False) -> mg.Tensor:
    return mg.tensor(uniform(seed, shape, low, high), requires_grad=grad)


def _one(f) -> Work:
    return Work(lambda: f().realize(), lambda result: [result.numpy()])


def unary(op: str, n: int, low: float, high: float) -> Work:
    x, f = _tensor(1, n, low, high), UNARY[op]
    return _one(lambda: f(x))


def binary(op: str, n: int) -> Work:
    a, b = _tensor(1, n), _tensor(2, n)
    return _one((lambda: a + b) if op == "add" else (lambda: a * b))


def sum(n: int) -> Work:
    x = _tensor(1, n)
    return _one(lambda: x.sum())


def sum_axis(axis: int, shape: tuple[int, int]) -> Work:
    x = _tensor(1, shape)
    return _one(lambda: x.sum(axis))


def transpose_copy(shape: tuple[int, int]) -> Work:
    x = _tensor(1, shape)
    return _one(lambda: x.T.contiguous())


def matmul(n: int) -> Work:
    a, b = _tensor(1, (n, n)), _tensor(2, (n, n))
    return _one(lambda: a @ b)


def _with_gradients(f, leaves: list[mg.Tensor], upstream: mg.Tensor | None = None, loss: bool = True) -> Work:
    def call():
        for leaf in leaves:
            leaf.grad = None
        result = f(*leaves)
        result.backward(upstream)
        mg.realize([leaf.grad for leaf in leaves], [result] if loss else [])
        return result

    def arrays(result):
        return [*([result.numpy()] if loss else []), *(leaf.grad.numpy() for leaf in leaves)]

    return Work(call, arrays)


def chain(n: int) -> Work:
    return _with_gradients(lambda a, b: ((a * b + a).relu() ** 2).sum(), [_tensor(s, n, grad=True) for s in (1, 2)])


def small_chain(n: int) -> Work:
    return _with_gradients(lambda a, b: (a * b).relu().sum(), [_tensor(s, n, grad=True) for s in (1, 2)])


def sum_of_squares(n: int) -> Work:
    return _with_gradients(lambda x: (x * x).sum(), [_tensor(1, n, grad=True)])


def row(op: str, backward: bool, shape: tuple[int, int]) -> Work:
    inputs = [_tensor(1, shape, grad=backward)]
    f = ROW.get(op)
    if op == "layernorm":
        inputs += [_tensor(seed, shape[1], grad=backward) for seed in (2, 3)]
        f = lambda x, gamma, beta: F.layer_norm(x, (shape[1],), gamma, beta, 1e-5)
    if not backward:
        return _one(lambda: f(*inputs))
    return _with_gradients(f, inputs, _tensor(4, shape), loss=False)


def _trainer(optimizer: str):
    """A step (x, y) -> loss, and a function that puts parameters and optimizer back to the start."""
    layers = [module for i, o in zip(WIDTHS, WIDTHS[1:]) for module in (nn.Linear(i, o), nn.ReLU())]
    model = nn.Sequential(*layers[:-1])
    start = [mg.tensor(array) for layer in data.mlp_parameters() for array in layer]
    made = {"sgd": lambda: optim.SGD(model.parameters(), lr=0.01), "adam": lambda: optim.Adam(model.parameters(), lr=0.001)}
    update = made[optimizer]()

    def reset():
        nonlocal update
        with mg.no_grad():
            for parameter, value in zip(model.parameters(), start):
                parameter.copy_(value)
        update = made[optimizer]()

    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        update.zero_grad()
        loss.backward()
        update.step()
        return loss

    return step, reset


def mlp(optimizer: str, batch: int) -> Work:
    x, y = map(mg.tensor, data.mlp_batch(batch))
    step, reset = _trainer(optimizer)
    return Work(lambda: step(x, y).realize(), lambda loss: [loss.numpy()], reset=reset)


def mnist_epoch(batch: int) -> Work:
    images, labels = map(mg.tensor, data.mnist_train())
    step, reset = _trainer("adam")
    batches = mg.data.Batches(len(images), batch, seed=1)

    def epoch():
        for index in batches:
            loss = step(images.index_select(0, index), labels.index_select(0, index))
        return loss.realize()

    return Work(epoch, lambda loss: [loss.numpy()], reset=reset, comparable=False)


def start() -> Work:
    return python_cases.start("micrograd_rs")


def index(n: int) -> Work:
    t = _tensor(1, n)
    return Work(lambda: t[3], lambda result: [result.numpy()])


def from_list(n: int) -> Work:
    numbers = python_cases.floats(n)
    return Work(lambda: mg.Tensor(numbers), lambda result: [result.numpy()])


def from_numpy(n: int) -> Work:
    array = uniform(1, n)
    return Work(lambda: mg.tensor(array), lambda result: [result.numpy()])


def to_numpy(n: int) -> Work:
    t = _tensor(1, n)
    return Work(lambda: t.numpy(), lambda result: [result])


def value_add(times: int) -> Work:
    return python_cases.add(mg.Value, times)


def value_chain(n: int) -> Work:
    return python_cases.chain(mg.Value, n)


def moons_step(points: int) -> Work:
    return python_cases.moons_step(mg.MLP, mg.Value, points)


def prepare(case: Case) -> Work:
    return globals()[case.kind](**case.parameters)
