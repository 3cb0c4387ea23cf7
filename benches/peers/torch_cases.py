"""PyTorch on the CPU, eager or through torch.compile (mode default): each case as its users write it."""

import os

import torch
import torch.nn.functional as F
from torch import nn

import data
import python_cases
from cases import PYTHON_CASES, WIDTHS, Case
from data import Skip, uniform
from work import Work

VERSION = torch.__version__
UNARY = {
    "copy": torch.clone,
    "relu": torch.relu,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "pow25": lambda x: x**2.5,
    "log": torch.log,
    "sigmoid": torch.sigmoid,
}
ROW = {"softmax": lambda x: F.softmax(x, -1), "gelu": F.gelu}
NOT_COMPILED = ("matmul", "small_chain")  # the library's own kernel either way; nothing to fuse at 16 elements


def _tensor(seed: int, shape, low: float = -1.0, high: float = 1.0, grad: bool = False) -> torch.Tensor:
    return torch.from_numpy(uniform(seed, shape, low, high)).requires_grad_(grad)


def _one(call) -> Work:
    return Work(call, lambda result: [result.numpy()])


class Torch:
    def __init__(self, compiled: bool):
        self.compiled = compiled

    def jit(self, f):
        return torch.compile(f, dynamic=False) if self.compiled else f

    def unary(self, op: str, n: int, low: float, high: float) -> Work:
        x, f = _tensor(1, n, low, high), self.jit(UNARY[op])
        return _one(lambda: f(x))

    def binary(self, op: str, n: int) -> Work:
        a, b = _tensor(1, n), _tensor(2, n)
        if not self.compiled:
            return _one((lambda: a + b) if op == "add" else (lambda: a * b))
        f = self.jit(torch.add if op == "add" else torch.mul)
        return _one(lambda: f(a, b))

    def sum(self, n: int) -> Work:
        x, f = _tensor(1, n), self.jit(torch.sum)
        return _one(lambda: f(x))

    def sum_axis(self, axis: int, shape: tuple[int, int]) -> Work:
        x, f = _tensor(1, shape), self.jit(lambda x: x.sum(axis))
        return _one(lambda: f(x))

    def transpose_copy(self, shape: tuple[int, int]) -> Work:
        x, f = _tensor(1, shape), self.jit(lambda x: x.T.contiguous())
        return _one(lambda: f(x))

    def matmul(self, n: int) -> Work:
        a, b = _tensor(1, (n, n)), _tensor(2, (n, n))
        return _one(lambda: a @ b)

    def _scalar_of_two(self, f, n: int) -> Work:
        a, b = _tensor(1, n, grad=True), _tensor(2, n, grad=True)
        f = self.jit(f)

        def call():
            a.grad = b.grad = None
            loss = f(a, b)
            loss.backward()
            return loss

        return Work(call, lambda loss: [loss.detach().numpy(), a.grad.numpy(), b.grad.numpy()])

    def chain(self, n: int) -> Work:
        return self._scalar_of_two(lambda a, b: ((a * b + a).relu() ** 2).sum(), n)

    def small_chain(self, n: int) -> Work:
        return self._scalar_of_two(lambda a, b: (a * b).relu().sum(), n)

    def row(self, op: str, backward: bool, shape: tuple[int, int]) -> Work:
        inputs = [_tensor(1, shape, grad=backward)]
        if op == "layernorm":
            inputs += [_tensor(seed, shape[1], grad=backward) for seed in (2, 3)]
            f = self.jit(lambda x, gamma, beta: F.layer_norm(x, (shape[1],), gamma, beta, 1e-5))
        else:
            f = self.jit(ROW[op])
        if not backward:
            return _one(lambda: f(*inputs))
        upstream = _tensor(4, shape)

        def call():
            for tensor in inputs:
                tensor.grad = None
            f(*inputs).backward(upstream)

        return Work(call, lambda _: [tensor.grad.numpy() for tensor in inputs])

    def _trainer(self, optimizer: str):
        """A step (x, y) -> loss, and a function that puts parameters and optimizer back to the start."""
        layers = [module for i, o in zip(WIDTHS, WIDTHS[1:]) for module in (nn.Linear(i, o), nn.ReLU())]
        model = nn.Sequential(*layers[:-1])
        start = [torch.from_numpy(array) for layer in data.mlp_parameters() for array in layer]
        loss_of = self.jit(lambda x, y: F.cross_entropy(model(x), y))
        # The fused optimizers are the fastest on the CPU too: Adam's by 640 µs a step over the default, SGD's even.
        if optimizer == "sgd":
            update = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
        else:
            update = torch.optim.Adam(model.parameters(), lr=0.001, fused=True)

        @torch.no_grad()
        def reset():
            for parameter, value in zip(model.parameters(), start):
                parameter.copy_(value)
            for state in update.state.values():
                for value in state.values():
                    if isinstance(value, torch.Tensor):
                        value.zero_()

        def step(x, y):
            update.zero_grad()
            loss = loss_of(x, y)
            loss.backward()
            update.step()
            return loss

        return step, reset

    def mlp(self, optimizer: str, batch: int) -> Work:
        x, y = map(torch.from_numpy, data.mlp_batch(batch))
        step, reset = self._trainer(optimizer)
        return Work(lambda: step(x, y), lambda loss: [loss.detach().numpy()], reset=reset)

    def mnist_epoch(self, batch: int) -> Work:
        images, labels = map(torch.from_numpy, data.mnist_train())
        step, reset = self._trainer("adam")

        def epoch():
            for index in torch.randperm(len(images)).split(batch):
                loss = step(images[index], labels[index])
            return loss

        return Work(epoch, lambda loss: [loss.detach().numpy()], reset=reset, comparable=False)

    def start(self) -> Work:
        return python_cases.start("torch")

    def sum_of_squares(self, n: int) -> Work:
        x = _tensor(1, n, grad=True)

        def call():
            x.grad = None
            loss = (x * x).sum()
            loss.backward()
            return loss

        return Work(call, lambda loss: [loss.detach().numpy(), x.grad.numpy()])

    def index(self, n: int) -> Work:
        t = _tensor(1, n)
        return _one(lambda: t[3])

    def from_list(self, n: int) -> Work:
        numbers = python_cases.floats(n)
        return _one(lambda: torch.tensor(numbers))

    def from_numpy(self, n: int) -> Work:
        array = uniform(1, n)
        return _one(lambda: torch.tensor(array))

    def to_numpy(self, n: int) -> Work:
        t = _tensor(1, n)
        return Work(lambda: t.numpy(), lambda result: [result])

    def prepare(self, case: Case) -> Work:
        if case.kind.startswith("value_") or case.kind == "moons_step":
            raise Skip("no scalars")
        if self.compiled and case.name in PYTHON_CASES:
            raise Skip("nothing to compile")
        if self.compiled:
            if case.kind in NOT_COMPILED or case.name in ("copy_2e6", "copy_2p24", "small_add_16"):
                raise Skip("nothing to compile")
            # Each case as in a process of its own: no recompilation limits, no shapes made dynamic by an earlier case.
            torch._dynamo.reset()
        return getattr(self, case.kind)(**case.parameters)


def framework(name: str) -> Torch:
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    return Torch(compiled=name == "torch-compile")
