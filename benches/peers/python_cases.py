"""The work of Python's own cases that is the same in every framework."""

import math
import random
import subprocess
import sys

import numpy as np

from data import uniform
from work import Work


def floats(n: int) -> list[float]:
    return uniform(1, n).astype(np.float64).tolist()


def start(module: str) -> Work:
    """A process each: what it costs before the first line of a program."""
    command = [sys.executable, "-c", f"import {module}"]
    return Work(lambda: subprocess.run(command, check=True), lambda _: [], comparable=False)


def add(value, times: int) -> Work:
    def call():
        v, w = value(2.0), value(3.0)
        for _ in range(times):
            v + w
        return v

    return Work(call, lambda v: [np.array(v.data)])


def chain(value, n: int) -> Work:
    def call():
        v = x = value(1.0)
        for _ in range(n):
            v = v + 1.0
        v.backward()
        return x

    return Work(call, lambda x: [np.array(x.grad)])


def moons(n: int) -> tuple[list[list[float]], list[int]]:
    """Two half circles with noise; classes are -1 and 1."""
    chance, points, classes = random.Random(1), [], []
    for i in range(n):
        angle = math.pi * (i % (n // 2)) / (n // 2 - 1)
        x, y = math.cos(angle), math.sin(angle)
        x, y = (x, y) if i < n // 2 else (1 - x, 0.5 - y)
        points.append([x + chance.gauss(0, 0.1), y + chance.gauss(0, 0.1)])
        classes.append(-1 if i < n // 2 else 1)
    return points, classes


def moons_step(MLP, value, points: int) -> Work:
    """As in micrograd's notebook: the inputs are made values, the loss is a maximum margin with weight decay."""
    model = MLP(2, [16, 16, 1])
    parameters = model.parameters()
    first = uniform(10, len(parameters)).astype(np.float64).tolist()
    rows, classes = moons(points)

    def reset():
        for p, data in zip(parameters, first):
            p.data = data

    def step():
        inputs = [list(map(value, row)) for row in rows]
        scores = list(map(model, inputs))
        losses = [(1 + -c * score).relu() for c, score in zip(classes, scores)]
        loss = sum(losses) * (1.0 / len(losses)) + 1e-4 * sum((p * p for p in parameters))
        model.zero_grad()
        loss.backward()
        for p in parameters:
            p.data -= 0.05 * p.grad
        return loss

    return Work(step, lambda loss: [np.array(loss.data)], reset=reset)
