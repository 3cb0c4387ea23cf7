"""Trainings that are interrupted or fail: whenever that is, every parameter is there afterwards, as some step left it."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
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
        return [p.detach().cpu().numpy().tobytes() for p in self.model.parameters()]


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
    # The first training of a process makes what all others find, and may take as long as thousands of their steps.
    done = 0

    def ring(*_: object) -> None:
        nonlocal rung
        rung = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(rng.random() * took, 1e-5))
        while not rung:
            done += 1
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
    while found not in states and len(states) <= done + 1:
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


def interrupts(trials: int, seed: int, seconds: float | None = None) -> int:
    print(f"{trials} interrupted trainings from seed {seed}, on {mg.get_default_device()}", flush=True)
    return one_by_one(trial, trials, seed, seconds, "trainings")


def one_by_one(trial: Callable[[int], str | None], trials: int, seed: int, seconds: float | None, of: str) -> int:
    """Trials of seeds, as many as there is time for, and what is wrong with each."""
    began = time.monotonic()
    lost = done = 0
    while done < trials and (seconds is None or time.monotonic() - began < seconds):
        wrong = trial(seed + done)
        done += 1
        if wrong:
            lost += 1
            print(f"seed {seed + done - 1}: {wrong}", flush=True)
    print(f"{done} {of}, {lost} wrong")
    return 1 if lost else 0


class Failing:
    """A classifier and its step, of a seed: made twice, it does the same. Its labels are known to the device alone."""

    CLASSES = 5

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        mg.manual_seed(seed)
        width = rng.choice((4, 16, 64, 200))
        self.words = rng.random() < 0.5
        layers: list[Any] = [mg.nn.Embedding(20, width), mg.nn.Flatten()] if self.words else [mg.nn.Linear(6, 3 * width)]
        for _ in range(rng.randint(0, 2)):
            layers += [mg.nn.Linear(3 * width, 3 * width), mg.nn.ReLU()]
        self.model = mg.nn.Sequential(*layers, mg.nn.Linear(3 * width, self.CLASSES))
        kind = rng.choice(("SGD", "momentum", "Adam"))
        self.counts = kind == "Adam"
        parameters = self.model.parameters()
        self.optimiser = (
            mg.optim.Adam(parameters, lr=1e-2)
            if kind == "Adam"
            else mg.optim.SGD(parameters, lr=1e-1, momentum=0.5 if kind == "momentum" else 0.0)
        )
        self.keeps = rng.random() < 0.3
        self.total = mg.zeros(3)
        self.jit = rng.random() < 0.5
        batch = rng.choice((3, 32, 100))
        self.batches = []
        for _ in range(4):
            x = mg.randint(0, 20, (batch, 3)) if self.words else mg.randn(batch, 6)
            self.batches.append((x.realize(), mg.randint(0, self.CLASSES, (batch,)).realize()))
        self.step = mg.jit(self.plain) if self.jit else self.plain
        if rng.random() < 0.3:
            # Memory that somebody else sees is not taken over.
            self.seen = [p.detach() for p in parameters]
        how = "jit" if self.jit else "plain"
        self.name = f"{'words' if self.words else 'numbers'}, {len(layers)} layers of {width}, {kind}, batches of {batch}, {how}"

    def plain(self, x: Any, y: Any) -> Any:
        loss = mg.functional.cross_entropy(self.model(x), y)
        if not self.keeps:
            self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        with mg.no_grad():
            self.total += 1
        return loss

    def bad(self, x: Any, y: Any, rng: random.Random) -> tuple[Any, Any]:
        """The batch with one label, or one word, that there is not; the device finds it."""
        off = [0] * y.shape[0]
        off[rng.randrange(len(off))] = rng.choice((self.CLASSES, 10**6, -200, -(10**9)))
        if self.words and rng.random() < 0.5:
            x = x + mg.tensor(off).reshape(-1, 1) * rng.choice((20, 50))
        else:
            y = y + mg.tensor(off)
        if rng.random() < 0.5:
            mg.realize(x, y)
        return x, y

    def state(self) -> list[bytes]:
        return [p.detach().cpu().numpy().tobytes() for p in self.model.parameters()]


def settle() -> None:
    """Waits for what is under way, and raises what it has found."""
    device = mg.get_default_device()
    if device.is_cuda():
        mg.cuda.synchronize()


def failing_trial(seed: int, steps: int = 10) -> str | None:
    """One training in which a step fails; what is wrong afterwards, if anything is."""
    rng = random.Random(seed + 1)
    at = rng.randrange(steps)
    memory = rng.random() < 0.3
    late = rng.random() < 0.5
    calm, training = Failing(seed), Failing(seed)
    calm.state(), training.state()
    device = mg.get_default_device()
    failed = False
    for i in range(steps):
        x, y = calm.batches[i % 4]
        before = training.state() if i == at else None
        if i != at:
            calm.step(x, y)
            try:
                training.step(x, y)
                if not late:
                    settle()
            except IndexError:
                # The device was waited for in this step, which is told of the one before.
                if failed or i < at:
                    return f"{training.name}: told of a batch that was good, at step {i} of {at}"
                failed = True
                return None
            continue
        try:
            if memory:
                settle()
                device.empty_cache()
                device.set_memory_limit(device.memory_stats()["active"] + rng.choice((0, 1000, 10**4, 10**5, 10**6)))
                training.step(x, y)
            else:
                training.step(*training.bad(x, y, rng))
            if not late or memory:
                settle()
        except (IndexError, MemoryError, RuntimeError) as error:
            failed = True
            told = f"{type(error).__name__}: {error}"
        finally:
            device.set_memory_limit(None)
        if memory and not failed:
            calm.step(x, y)
            continue
        if not memory and not failed and not device.is_cuda():
            return f"{training.name}: nobody was told of the bad batch"
        if failed:
            # Gradients that the step has made are none.
            training.optimiser.zero_grad()
            after = training.state()
            if after != before:
                where = [i for i, (a, b) in enumerate(zip(before or [], after)) if a != b]
                return f"{training.name}: step {at} failed ({told}) and has changed parameters {where} of {len(after)}"
    if not failed and not memory:
        try:
            settle()
            return f"{training.name}: nobody was told of the bad batch"
        except IndexError:
            pass
    try:
        found, wanted = training.state(), calm.state()
    except BaseException as error:
        return f"{training.name}: a parameter cannot be read: {type(error).__name__}: {error}"
    # Adam counts steps on the host, failed ones too; gradients that are kept are those of the failed one.
    if found != wanted and not training.counts and not training.keeps:
        where = [i for i, (a, b) in enumerate(zip(wanted, found)) if a != b]
        return f"{training.name}: went on otherwise after step {at}, parameters {where} of {len(found)}"
    return None


def failures(trials: int, seed: int, seconds: float | None = None) -> int:
    print(f"{trials} trainings with a step that fails, from seed {seed}, on {mg.get_default_device()}", flush=True)
    return one_by_one(failing_trial, trials, seed, seconds, "trainings")
