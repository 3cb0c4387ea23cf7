"""Trainings that are interrupted: whenever that is, every parameter is there afterwards, as some step left it."""

from __future__ import annotations

import random
import signal
import time
from typing import Any

import micrograd_rs as mg


class Training:
    """A small network and its step, of a seed: made twice, it does the same."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        mg.manual_seed(seed)
        width = rng.choice((8, 256, 512, 512))
        layers: list[Any] = [mg.nn.Linear(16, width)]
        for _ in range(rng.randint(0, 2)):
            layers += [mg.nn.ReLU(), mg.nn.Linear(width, width)]
        self.model = mg.nn.Sequential(*layers, mg.nn.Tanh(), mg.nn.Linear(width, 4))
        kind = rng.choice(("SGD", "momentum", "Adam"))
        parameters = self.model.parameters()
        self.optimiser = (
            mg.optim.Adam(parameters, lr=1e-3)
            if kind == "Adam"
            else mg.optim.SGD(parameters, lr=1e-2, momentum=0.5 if kind == "momentum" else 0.0)
        )
        self.x = mg.randn(rng.choice((4, 64, 256, 256)), 16)
        self.y = mg.randn(self.x.shape[0], 4)
        self.jit = rng.random() < 0.5
        self.reading = rng.random() < 0.5
        self.step = mg.jit(self.plain) if self.jit else self.plain
        self.name = f"{len(layers)} layers of {width}, {kind}, batches of {self.x.shape[0]}, {'jit' if self.jit else 'plain'}"

    def plain(self, x: Any, y: Any) -> Any:
        self.optimiser.zero_grad()
        loss = mg.functional.mse_loss(self.model(x), y)
        loss.backward()
        self.optimiser.step()
        return loss

    def state(self) -> list[bytes]:
        return [p.detach().numpy().tobytes() for p in self.model.parameters()]


def trial(seed: int, steps: int = 12) -> str | None:
    """One training, interrupted somewhere; what is wrong afterwards, if anything is."""
    calm = Training(seed)
    states = [calm.state()]
    began = time.perf_counter()
    for _ in range(steps):
        calm.step(calm.x, calm.y)
        states.append(calm.state())
    took = time.perf_counter() - began
    training = Training(seed)
    # Otherwise the first interrupt would come while the parameters are being made, which is not what is tried.
    training.state()
    rng = random.Random(seed + 1)
    rung = False

    def ring(*_: object) -> None:
        nonlocal rung
        rung = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(rng.random() * took, 1e-5))
        while not rung:
            loss = training.step(training.x, training.y)
            if training.reading:
                loss.item()
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    try:
        found = training.state()
    except BaseException as error:
        return f"{training.name}: a parameter cannot be read: {type(error).__name__}: {error}"
    while found not in states and len(states) < steps * 8:
        calm.step(calm.x, calm.y)
        states.append(calm.state())
    if found not in states:
        where = [next((k for k, state in enumerate(states) if state[i] == p), None) for i, p in enumerate(found)]
        return f"{training.name}: the parameters are those after steps {where}"
    try:
        training.step(training.x, training.y)
        training.state()
    except BaseException as error:
        return f"{training.name}: does not go on: {type(error).__name__}: {error}"
    return None


def interrupts(trials: int, seed: int) -> int:
    print(f"{trials} interrupted trainings from seed {seed}", flush=True)
    lost = 0
    for at in range(trials):
        wrong = trial(seed + at)
        if wrong:
            lost += 1
            print(f"seed {seed + at}: {wrong}", flush=True)
    print(f"{trials} trainings, {lost} wrong")
    return 1 if lost else 0
