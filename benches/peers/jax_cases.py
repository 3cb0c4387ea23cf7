"""JAX: every case jitted, gradients compiled, parameters and optimizer state donated."""

import functools
import math
import os

import jax
import jax.numpy as jnp
import numpy as np

import data
from cases import Case
from data import Skip, uniform
from work import Work

try:
    jax.devices()
except (RuntimeError, AssertionError) as error:
    raise Skip(f"JAX finds no device: {error}") from error

VERSION = jax.__version__
ON_GPU = os.environ.get("PEER_DEVICE", "cpu") == "cuda"
DTYPES = {"bf16": jnp.bfloat16, "f16": jnp.float16}
STRETCH = 4096  # large arrays come from a GPU as the mean magnitudes of such stretches
UNARY = {
    "copy": jnp.copy,
    "relu": jax.nn.relu,
    "exp": jnp.exp,
    "tanh": jnp.tanh,
    "pow25": lambda x: x**2.5,
    "log": jnp.log,
    "sigmoid": jax.nn.sigmoid,
}


def _array(seed: int, shape, low: float = -1.0, high: float = 1.0) -> jax.Array:
    if not ON_GPU:
        return jnp.asarray(uniform(seed, shape, low, high))
    n = math.prod(shape) if isinstance(shape, tuple) else shape
    values = jnp.asarray(data.once(seed, n, low, high))
    return jax.block_until_ready(jnp.tile(values, n // len(values)).reshape(shape))


def _arrays(result) -> list[np.ndarray]:
    def array(a: jax.Array) -> np.ndarray:
        a = a.astype(jnp.float32)
        if ON_GPU and a.size > 2**20 and a.size % STRETCH == 0:
            a = jnp.abs(a).reshape(-1, STRETCH).mean(1)
        return np.asarray(a)

    return [array(a) for a in jax.tree.leaves(result)]


def _work(call, **more) -> Work:
    return Work(call, _arrays, jax.block_until_ready, **more)


def _jitted(f, *inputs) -> Work:
    f = jax.jit(f)
    return _work(lambda: f(*inputs))


def unary(op: str, n: int, low: float, high: float) -> Work:
    return _jitted(UNARY[op], _array(1, n, low, high))


def binary(op: str, n: int) -> Work:
    return _jitted(jnp.add if op == "add" else jnp.multiply, _array(1, n), _array(2, n))


def sum(n: int) -> Work:
    return _jitted(jnp.sum, _array(1, n))


def sum_axis(axis: int, shape: tuple[int, int]) -> Work:
    return _jitted(lambda x: x.sum(axis), _array(1, shape))


def transpose_copy(shape: tuple[int, int]) -> Work:
    return _jitted(jnp.transpose, _array(1, shape))


def _precise(f, precision: str):
    """`f` with products of f32 in f32 or on tensor cores, whatever JAX's default is on this device."""

    def precise(*inputs):
        with jax.default_matmul_precision("tensorfloat32" if precision == "tf32" else "float32"):
            return f(*inputs)

    return precise


def matmul(n: int, precision: str = "f32") -> Work:
    inputs = [_array(seed, (n, n)).astype(DTYPES.get(precision, jnp.float32)) for seed in (1, 2)]
    return _jitted(_precise(jnp.matmul, precision), *inputs)


def chain_forward(n: int) -> Work:
    return _jitted(lambda a, b: (jax.nn.relu(a * b + a) ** 2).sum(), _array(1, n), _array(2, n))


def chain(n: int) -> Work:
    loss = lambda a, b: (jax.nn.relu(a * b + a) ** 2).sum()
    return _jitted(jax.value_and_grad(loss, (0, 1)), _array(1, n), _array(2, n))


def small_chain(n: int) -> Work:
    loss = lambda a, b: jax.nn.relu(a * b).sum()
    return _jitted(jax.value_and_grad(loss, (0, 1)), _array(1, n), _array(2, n))


def _layer_norm(x, gamma, beta):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5) * gamma + beta


def row(op: str, backward: bool, shape: tuple[int, int], keep: bool = False) -> Work:
    inputs = [_array(1, shape)]
    if op == "layernorm":
        inputs += [_array(seed, shape[1]) for seed in (2, 3)]
    f = {"softmax": jax.nn.softmax, "gelu": functools.partial(jax.nn.gelu, approximate=False), "layernorm": _layer_norm}[op]
    if not backward:
        return _jitted(f, *inputs)

    def forward_and_backward(upstream, *inputs):
        y, vjp = jax.vjp(f, *inputs)
        return (y, *vjp(upstream)) if keep else vjp(upstream)

    return _jitted(forward_and_backward, _array(4, shape), *inputs)


def _loss(parameters, x, y):
    for weight, bias in parameters[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = parameters[-1]
    log_p = jax.nn.log_softmax(x @ weight + bias)
    return -jnp.take_along_axis(log_p, y[:, None], 1).mean()


def _sgd(state, gradients):
    return (jax.tree.map(lambda p, g: p - 0.01 * g, state[0], gradients),)


def _adam(state, gradients):
    parameters, first, second, t = state
    t = t + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    rate, correction = 0.001 / (1 - 0.9**t), 1 / (1 - 0.999**t)
    update = lambda p, m, v: p - rate * m / (jnp.sqrt(v * correction) + 1e-8)
    return jax.tree.map(update, parameters, first, second), first, second, t


def _start(optimizer: str):
    """Weights as JAX's users keep them, (in, out)."""
    parameters = [(jnp.asarray(w.T.copy()), jnp.asarray(b)) for w, b in data.mlp_parameters()]
    if optimizer == "sgd":
        return (parameters,)
    zeros = lambda: jax.tree.map(jnp.zeros_like, parameters)
    return parameters, zeros(), zeros(), jnp.float32(0)


class Trainer:
    """The state of a training run; `step` is donated the old one and leaves the new one."""

    def __init__(self, optimizer: str, batch_of, precision: str = "f32"):
        self.optimizer = optimizer
        update = _sgd if optimizer == "sgd" else _adam

        def step(state, *batch):
            loss, gradients = jax.value_and_grad(_loss)(state[0], *batch_of(*batch))
            return loss, update(state, gradients)

        self.compiled = jax.jit(_precise(step, precision), donate_argnums=0)

    def reset(self):
        self.state = jax.block_until_ready(_start(self.optimizer))

    def step(self, *batch):
        loss, self.state = self.compiled(self.state, *batch)
        return loss

    def wait(self, loss):
        jax.block_until_ready((loss, self.state))


def mlp(optimizer: str, batch: int, precision: str = "f32") -> Work:
    x, y = map(jnp.asarray, data.mlp_batch(batch))
    trainer = Trainer(optimizer, lambda x, y: (x, y), precision)
    return Work(lambda: trainer.step(x, y), lambda loss: [np.asarray(loss)], trainer.wait, trainer.reset)


def mnist_epoch(batch: int) -> Work:
    images, labels = map(jnp.asarray, data.mnist_train())
    trainer = Trainer("adam", lambda images, labels, index: (images[index], labels[index]))
    random = np.random.default_rng(0)

    def epoch():
        order = random.permutation(len(images)).astype(np.int32)
        for start in range(0, len(order), batch):
            loss = trainer.step(images, labels, order[start : start + batch])
        return loss

    return Work(epoch, lambda loss: [np.asarray(loss)], trainer.wait, trainer.reset, comparable=False)


def prepare(case: Case) -> Work:
    kinds = (unary, binary, sum, sum_axis, transpose_copy, matmul, chain_forward, chain, small_chain, row, mlp, mnist_epoch)
    known = {f.__name__: f for f in kinds}
    if case.kind not in known:
        raise Skip("not among the cases of its own")
    return known[case.kind](**case.parameters)
