"""The networks of `steps.py` in JAX: a step is one jitted function, which is given parameters and moments to write over."""

import math

import jax
import jax.numpy as jnp
import numpy as np

EPSILON = 1e-5
DIMENSIONS = ("NCHW", "OIHW", "NCHW")


class Drawn:
    """First parameters, uniform up to one over the root of what a result is a sum of."""

    def __init__(self):
        self.draw = np.random.default_rng(0)

    def uniform(self, shape, terms):
        bound = 1 / math.sqrt(terms)
        return jnp.asarray(self.draw.uniform(-bound, bound, shape).astype(np.float32))

    def linear(self, inputs, outputs, bias=True):
        found = {"w": self.uniform((inputs, outputs), inputs)}
        return found | ({"b": self.uniform((outputs,), inputs)} if bias else {})

    def conv(self, inputs, outputs, side, bias=False):
        terms = inputs * side * side
        found = {"w": self.uniform((outputs, inputs, side, side), terms)}
        return found | ({"b": self.uniform((outputs, 1, 1), terms)} if bias else {})

    def table(self, rows, size):
        return jnp.asarray(self.draw.standard_normal((rows, size)).astype(np.float32))


def scale(size):
    return {"w": jnp.ones(size), "b": jnp.zeros(size)}


def linear(p, x):
    y = x @ p["w"]
    return y + p["b"] if "b" in p else y


def conv(p, x, stride=1, padding=0):
    y = jax.lax.conv_general_dilated(x, p["w"], (stride, stride), [(padding, padding)] * 2, dimension_numbers=DIMENSIONS)
    return y + p["b"] if "b" in p else y


def layer_norm(p, x):
    x32 = x.astype(jnp.float32)
    x32 = x32 - x32.mean(-1, keepdims=True)
    normed = x32 * jax.lax.rsqrt(jnp.square(x32).mean(-1, keepdims=True) + EPSILON)
    return (normed * p["w"] + p["b"]).astype(x.dtype)


def batch_norm(p, x, running):
    """Of a batch, in f32; what was seen so far goes on."""
    x32 = x.astype(jnp.float32)
    mean, square = x32.mean((0, 2, 3)), jnp.square(x32).mean((0, 2, 3))
    variance = jnp.maximum(square - mean * mean, 0)
    each = lambda v: v[:, None, None]
    y = (x32 - each(mean)) * each(jax.lax.rsqrt(variance + EPSILON) * p["w"]) + each(p["b"])
    seen = {"mean": 0.9 * running["mean"] + 0.1 * mean, "variance": 0.9 * running["variance"] + 0.1 * variance}
    return y.astype(x.dtype), seen


def max_pool(x, side, stride, padding=0):
    edges = [(0, 0), (0, 0), (padding, padding), (padding, padding)]
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, side, side), (1, 1, stride, stride), edges)


def cross_entropy(logits, labels):
    logits = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(logits, labels[:, None], 1).mean()


def gpt(letters, context, size, heads, layers, bias):
    new = Drawn()
    block = lambda: {
        "norm1": scale(size), "norm2": scale(size), "qkv": new.linear(size, 3 * size, bias), "out": new.linear(size, size, bias),
        "up": new.linear(size, 4 * size, bias), "down": new.linear(4 * size, size, bias),
    }  # fmt: skip
    parameters = {
        "letter": new.table(letters, size), "place": new.table(context, size), "norm": scale(size), "blocks": [block() for _ in range(layers)],
    }  # fmt: skip

    def loss(p, seen, x, y):
        h = p["letter"][x] + p["place"][: x.shape[1]]
        for b in p["blocks"]:
            q, k, v = jnp.split(linear(b["qkv"], layer_norm(b["norm1"], h)), 3, -1)
            q, k, v = (part.reshape(*part.shape[:2], heads, -1) for part in (q, k, v))
            cudnn = h.dtype != jnp.float32 and jax.default_backend() == "gpu"
            means = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="cudnn" if cudnn else None)
            h = h + linear(b["out"], means.reshape(h.shape))
            h = h + linear(b["down"], jax.nn.gelu(linear(b["up"], layer_norm(b["norm2"], h)), approximate=False))
        logits = layer_norm(p["norm"], h) @ p["letter"].T
        return cross_entropy(logits.reshape(-1, letters), y.reshape(-1)), seen

    return parameters, {}, loss


def cnn():
    new = Drawn()
    parameters = {"conv1": new.conv(1, 32, 3, True), "conv2": new.conv(32, 64, 3, True), "linear1": new.linear(9216, 128), "linear2": new.linear(128, 10)}

    def loss(p, seen, x, y):
        x = max_pool(jax.nn.relu(conv(p["conv2"], jax.nn.relu(conv(p["conv1"], x)))), 2, 2)
        return cross_entropy(linear(p["linear2"], jax.nn.relu(linear(p["linear1"], x.reshape(len(x), -1)))), y), seen

    return parameters, {}, loss


def resnet(stem, blocks):
    new, (side, stride) = Drawn(), stem
    of = lambda inputs, outputs, side, _=1: {"conv": new.conv(inputs, outputs, side), "norm": scale(outputs)}
    fresh = lambda part: {"mean": jnp.zeros_like(part["norm"]["b"]), "variance": jnp.ones_like(part["norm"]["b"])}
    parameters = {
        "first": of(3, 64, side), "blocks": [[of(*sizes) for sizes in main + beside] for main, beside in blocks],
        "linear": new.linear(blocks[-1][0][-1][1], 1000),
    }  # fmt: skip
    seen = {"first": fresh(parameters["first"]), "blocks": [[fresh(part) for part in block] for block in parameters["blocks"]]}

    def loss(p, seen, x, y):
        def normed(x, part, running, stride, padding):
            return batch_norm(part["norm"], conv(part["conv"], x, stride, padding), running)

        x, first = normed(x, p["first"], seen["first"], stride, side // 2)
        x, after = jax.nn.relu(x), []
        x = max_pool(x, 3, 2, 1) if stride > 1 else x
        for (main, beside), parts, running in zip(blocks, p["blocks"], seen["blocks"], strict=True):
            h, found = x, []
            for i, (_, _, size, step) in enumerate(main):
                h, now = normed(h if i == 0 else jax.nn.relu(h), parts[i], running[i], step, size // 2)
                found.append(now)
            for _, _, _, step in beside:
                x, now = normed(x, parts[-1], running[-1], step, 0)
                found.append(now)
            x = jax.nn.relu(h + x)
            after.append(found)
        return cross_entropy(linear(p["linear"], x.mean((2, 3))), y), {"first": first, "blocks": after}

    return parameters, seen, loss


def mlp(hidden):
    new = Drawn()
    parameters = [new.linear(784, hidden), new.linear(hidden, hidden // 2), new.linear(hidden // 2, 10)]

    def loss(p, seen, x, y):
        h = jax.nn.relu(linear(p[1], jax.nn.relu(linear(p[0], x.reshape(len(x), -1)))))
        return cross_entropy(linear(p[2], h), y), seen

    return parameters, {}, loss


def lstm(letters, size, layers):
    new = Drawn()
    cell = lambda: {"x": new.linear(size, 4 * size), "h": new.linear(size, 4 * size)}
    parameters = {"letter": new.table(letters, size), "cells": [cell() for _ in range(layers)], "head": new.linear(size, letters)}

    def loss(p, seen, x, y):
        steps = p["letter"][x].swapaxes(0, 1)
        for c in p["cells"]:

            def step(state, gates, c=c):
                h, kept = state
                i, f, g, o = jnp.split(gates + linear(c["h"], h), 4, -1)
                kept = jax.nn.sigmoid(f) * kept + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(kept)
                return (h, kept), h

            zeros = jnp.zeros(steps.shape[1:], steps.dtype)
            steps = jax.lax.scan(step, (zeros, zeros), linear(c["x"], steps))[1]
        logits = linear(p["head"], steps.swapaxes(0, 1))
        return cross_entropy(logits.reshape(-1, letters), y.reshape(-1)), seen

    return parameters, {}, loss


NETWORKS = {"GPT": gpt, "CNN": cnn, "ResNet": resnet, "MLP": mlp, "LSTM": lstm}


def adamw(lr=3e-4, decay=0.01, betas=(0.9, 0.999), epsilon=1e-8):
    def begin(parameters):
        zeros = lambda: jax.tree.map(jnp.zeros_like, parameters)
        return zeros(), zeros(), jnp.zeros((), jnp.int32)

    def update(parameters, state, gradients):
        first, second, count = state
        count = count + 1
        first = jax.tree.map(lambda m, g: betas[0] * m + (1 - betas[0]) * g, first, gradients)
        second = jax.tree.map(lambda v, g: betas[1] * v + (1 - betas[1]) * g * g, second, gradients)
        by_first, by_second = (1 - beta**count for beta in betas)
        moved = lambda p, m, v: p * (1 - lr * decay) - lr * (m / by_first) / (jnp.sqrt(v / by_second) + epsilon)
        return jax.tree.map(moved, parameters, first, second), (first, second, count)

    return begin, update


def momentum(lr=0.1, share=0.9):
    def begin(parameters):
        return jax.tree.map(jnp.zeros_like, parameters)

    def update(parameters, speed, gradients):
        speed = jax.tree.map(lambda s, g: share * s + g, speed, gradients)
        return jax.tree.map(lambda p, s: p - lr * s, parameters, speed), speed

    return begin, update


def make(network, arguments, batch, products):
    """A step, without arguments, that answers with the loss, and what waits until all of them are done."""
    parameters, seen, loss = NETWORKS[network](*arguments)
    begin, update = momentum() if network == "ResNet" else adamw()

    def of(parameters, seen, x, y):
        if products == "bf16":
            low = lambda t: t.astype(jnp.bfloat16) if t.dtype == jnp.float32 else t
            parameters, x = jax.tree.map(low, parameters), low(x)
        return loss(parameters, seen, x, y)

    def step(parameters, state, seen, x, y):
        (value, seen), gradients = jax.value_and_grad(of, has_aux=True)(parameters, seen, x, y)
        parameters, state = update(parameters, state, gradients)
        return parameters, state, seen, value

    jitted = jax.jit(step, donate_argnums=(0, 1, 2))
    x, y = (jnp.asarray(array if array.dtype == np.float32 else array.astype(np.int32)) for array in batch)
    held = [parameters, begin(parameters), seen]

    def run():
        with jax.default_matmul_precision("tensorfloat32" if products == "tf32" else "highest"):
            *held[:], value = jitted(*held, x, y)
        return value

    return run, lambda: jax.block_until_ready(held)
