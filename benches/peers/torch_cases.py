"""PyTorch, eager, through torch.compile (mode default) or, on a GPU, whole steps as one CUDA graph: each case as its users
write it."""

import math
import os

import numpy as np
import torch
import torch._inductor.config
import torch.nn.functional as F
from torch import nn

import data
import python_cases
from cases import PYTHON_CASES, WIDTHS, Case
from data import Skip, uniform
from work import Work

VERSION = torch.__version__
DEVICE = torch.device(os.environ.get("PEER_DEVICE", "cpu"))
ON_GPU = DEVICE.type == "cuda"
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
STRETCH = 4096  # large arrays come from a GPU as the mean magnitudes of such stretches
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
    if not ON_GPU:
        return torch.from_numpy(uniform(seed, shape, low, high)).requires_grad_(grad)
    n = math.prod(shape) if isinstance(shape, tuple) else shape
    values = torch.from_numpy(data.once(seed, n, low, high)).to(DEVICE)
    return values.repeat(n // len(values)).reshape(shape).requires_grad_(grad)


def _arrays(*tensors: torch.Tensor) -> list[np.ndarray]:
    def array(tensor: torch.Tensor) -> np.ndarray:
        tensor = tensor.detach().float()
        if ON_GPU and tensor.numel() > 2**20 and tensor.numel() % STRETCH == 0:
            tensor = tensor.abs().reshape(-1, STRETCH).mean(1)
        return tensor.cpu().numpy()

    return [array(tensor) for tensor in tensors]


def _wait(_):
    torch.cuda.synchronize()


def _work(call, arrays, reset=None, comparable=True) -> Work:
    return Work(call, arrays, _wait if ON_GPU else None, reset, comparable)


def _one(call) -> Work:
    return _work(call, lambda result: _arrays(result))


class Torch:
    def __init__(self, compiled: bool, graph: bool = False):
        self.compiled, self.graph = compiled, graph

    def jit(self, f):
        return torch.compile(f, dynamic=False) if self.compiled else f

    def _precision(self, precision: str):
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")

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

    def matmul(self, n: int, precision: str = "f32") -> Work:
        self._precision(precision)
        a, b = (_tensor(seed, (n, n)).to(DTYPES.get(precision, torch.float32)) for seed in (1, 2))
        return _one(lambda: a @ b)

    def _scalar_of_two(self, f, n: int) -> Work:
        a, b = _tensor(1, n, grad=True), _tensor(2, n, grad=True)
        f = self.jit(f)

        def call():
            a.grad = b.grad = None
            loss = f(a, b)
            loss.backward()
            return loss

        return _work(call, lambda loss: _arrays(loss, a.grad, b.grad))

    def chain_forward(self, n: int) -> Work:
        a, b = _tensor(1, n), _tensor(2, n)
        f = self.jit(lambda a, b: ((a * b + a).relu() ** 2).sum())
        return _one(lambda: f(a, b))

    def chain(self, n: int) -> Work:
        return self._scalar_of_two(lambda a, b: ((a * b + a).relu() ** 2).sum(), n)

    def small_chain(self, n: int) -> Work:
        return self._scalar_of_two(lambda a, b: (a * b).relu().sum(), n)

    def row(self, op: str, backward: bool, shape: tuple[int, int], keep: bool = False) -> Work:
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
            y = f(*inputs)
            y.backward(upstream)
            return y if keep else None

        return _work(call, lambda y: _arrays(*([y] if keep else []), *(tensor.grad for tensor in inputs)))

    def _trainer(self, optimizer: str):
        """A step (x, y) -> loss, and a function that puts parameters and optimizer back to the start."""
        layers = [module for i, o in zip(WIDTHS, WIDTHS[1:]) for module in (nn.Linear(i, o), nn.ReLU())]
        model = nn.Sequential(*layers[:-1]).to(DEVICE)
        start = [torch.from_numpy(array).to(DEVICE) for layer in data.mlp_parameters() for array in layer]
        loss_of = self.jit(lambda x, y: F.cross_entropy(model(x), y))
        # The fused optimizers are the fastest, on the CPU too: Adam's by 640 µs a step over the default, SGD's even.
        capturable = {"capturable": True} if self.graph else {}
        if optimizer == "sgd":
            update = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
        else:
            update = torch.optim.Adam(model.parameters(), lr=0.001, fused=True, **capturable)

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

    def mlp(self, optimizer: str, batch: int, precision: str = "f32") -> Work:
        self._precision(precision)
        x, y = (torch.from_numpy(array).to(DEVICE) for array in data.mlp_batch(batch))
        step, reset = self._trainer(optimizer)
        call = self._captured(lambda: step(x, y)) if self.graph else lambda: step(x, y)
        return _work(call, lambda loss: _arrays(loss), reset)

    def _captured(self, step):
        """The whole step as one graph, after PyTorch's own recipe: warmed up on another stream, gradients made in the graph."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = step()

        def call():
            graph.replay()
            return loss

        return call

    def mnist_epoch(self, batch: int) -> Work:
        if ON_GPU:
            raise Skip("a case of the CPU")
        images, labels = map(torch.from_numpy, data.mnist_train())
        step, reset = self._trainer("adam")

        def epoch():
            for index in torch.randperm(len(images)).split(batch):
                loss = step(images[index], labels[index])
            return loss

        return _work(epoch, lambda loss: _arrays(loss), reset, comparable=False)

    def start(self) -> Work:
        return python_cases.start("torch")

    def sum_of_squares(self, n: int) -> Work:
        x = _tensor(1, n, grad=True)

        def call():
            x.grad = None
            loss = (x * x).sum()
            loss.backward()
            return loss

        return _work(call, lambda loss: _arrays(loss, x.grad))

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
        if self.graph and case.kind != "mlp":
            raise Skip("a graph is for whole steps")
        if ON_GPU:
            torch.cuda.empty_cache()
        if self.compiled:
            if case.kind in NOT_COMPILED or case.name == "small_add_16" or case.parameters.get("op") == "copy":
                raise Skip("nothing to compile")
            # Each case as in a process of its own: no recompilation limits, no shapes made dynamic by an earlier case.
            torch._dynamo.reset()
        return getattr(self, case.kind)(**case.parameters)


def framework(name: str) -> Torch:
    if ON_GPU and not torch.cuda.is_available():
        raise Skip("PyTorch finds no CUDA device")
    if name == "torch-graph" and not ON_GPU:
        raise Skip("CUDA graphs need a GPU")
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    # What was chosen by timing while something else was on the GPU is not to be found again.
    torch._inductor.config.autotune_local_cache = False
    return Torch(compiled=name == "torch-compile", graph=name == "torch-graph")
