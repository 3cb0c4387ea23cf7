"""A worker: a program that answers a JSON line for each round it is asked for. The protocol is in README.md beside this file."""

import contextlib
import json
import os
import queue
import subprocess
import threading
from typing import Any, NamedTuple

PATIENCE = 300.0  # seconds: a compiler that starts cold takes minutes on some cases


class Refusal(Exception):
    """An answer that is no measurement: `skip` where the worker does not have the case, `error` where it failed."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind, self.text = kind, text


class Side(NamedTuple):
    """A worker's part in a case."""

    rounds: list[float]  # seconds per call
    calls: int = 0  # of a round
    check: float | None = None
    refused: Refusal | None = None

    @property
    def median(self) -> float | None:
        return None if self.refused else median(self.rounds)

    @property
    def spread(self) -> float | None:
        """Half of what lies between the fastest and the slowest round, of the median."""
        middle = self.median
        return (max(self.rounds) - min(self.rounds)) / 2 / middle if middle else None


def median(values: list[float]) -> float | None:
    ordered, middle = sorted(values), len(values) // 2
    if not ordered:
        return None
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


class Worker:
    """Started when it is first needed, and anew after it died or hung."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str] | None = None):
        self.name, self.command = name, command
        self.environment = {**os.environ, **(environment or {})}
        self.hello: dict[str, Any] = {}
        self.process: subprocess.Popen[str] | None = None

    def start(self):
        """Starts it, if it does not run, and hears its hello."""
        if self.process is not None:
            return
        try:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment
            )
        except OSError as error:
            raise Refusal("error", f"could not start: {error}") from error
        self.answers: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout, self.answers), daemon=True).start()
        self.hello = self._answer()
        if "skip" in self.hello:
            self.end()
            raise Refusal("skip", self.hello["skip"])

    @staticmethod
    def _read(stdout, answers):
        for line in stdout:
            answers.put(line)
        answers.put(None)

    def _answer(self) -> dict[str, Any]:
        try:
            line = self.answers.get(timeout=PATIENCE)
        except queue.Empty:
            self.end()
            raise Refusal("error", f"no answer within {PATIENCE:.0f} s") from None
        if line is None:
            code = self.process.wait() if self.process else None
            self.end()
            raise Refusal("error", f"it ended with exit code {code}")
        try:
            return json.loads(line)
        except ValueError:
            self.end()
            raise Refusal("error", f"it answered {line!r}") from None

    def ask(self, case: str, rounds: int) -> dict[str, Any]:
        """The answer to the request for no round (to prepare) or one."""
        self.start()
        try:
            self.process.stdin.write(f"{case} {rounds}\n")
            self.process.stdin.flush()
        except OSError as error:
            self.end()
            raise Refusal("error", f"it ended: {error}") from error
        answer = self._answer()
        for kind in ("skip", "error"):
            if kind in answer:
                raise Refusal(kind, answer[kind])
        return answer

    def prepare(self, case: str) -> Side:
        try:
            return Side([], check=self.ask(case, 0).get("check"))
        except Refusal as refusal:
            return Side([], refused=refusal)

    def round(self, case: str, side: Side) -> Side:
        try:
            answer = self.ask(case, 1)
            return side._replace(rounds=[*side.rounds, answer["seconds_per_call"]], calls=answer["calls"])
        except Refusal as refusal:
            return side._replace(refused=refusal)

    def end(self):
        if self.process is not None:
            self.process.kill()
            process, self.process = self.process, None
            # Leaving closes its pipes and waits for its end. What was not written by then has nobody to read it.
            with contextlib.suppress(OSError), process:
                pass
