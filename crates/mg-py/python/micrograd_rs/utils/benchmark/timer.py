"""Statements, run many times and timed."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping
from enum import Enum
from time import perf_counter
from typing import Any, NoReturn

from ... import _tree
from ..._micrograd_rs import Device, Tensor, get_num_threads, realize, set_num_threads
from ...nn.module import Module
from ...optim.optimizer import Optimizer
from .measurement import Measurement, TaskSpec


class Language(Enum):
    """What statements are written in."""

    PYTHON = 0
    CPP = 1


def timer() -> float:
    """The time in seconds, after all work on CUDA devices is done."""
    for i in range(Device.cuda_count()):
        Device.cuda(i).synchronize()
    return perf_counter()


def _computed(value: Any) -> None:
    """Has the tensors in an answer computed."""
    if isinstance(value, Tensor):
        value.realize()
        return
    leaves, _ = _tree.flatten(value)
    realize([leaf for leaf in leaves if isinstance(leaf, Tensor)])


def _tensors(values: Mapping[str, Any], names: set[str]) -> list[Tensor]:
    """The tensors of what a statement names: tensors, modules, optimisers, containers of them."""
    found: list[Tensor] = []
    for name in names & values.keys():
        value = values[name]
        if isinstance(value, Module):
            found += [*value.parameters(), *value.buffers()]
        elif isinstance(value, Optimizer):
            found += [p for group in value.param_groups for p in group["params"]]
        elif isinstance(value, (Tensor, list, tuple, dict)):
            found += [leaf for leaf in _tree.flatten(value)[0] if isinstance(leaf, Tensor)]
    return found


def _with_gradients(tensors: list[Tensor]) -> None:
    grads = [t.grad for t in tensors if t.is_leaf]
    realize([*tensors, *(grad for grad in grads if grad is not None)])


_TEMPLATE = """
def timed(_runs, _clock, _computed, _settled, _names):
    SETUP
    _begin = _clock()
    for _ in range(_runs):
        STMT
    _settled(locals(), _names)
    return _clock() - _begin
"""


def _parsed(code: str, what: str) -> list[ast.stmt]:
    try:
        return ast.parse(textwrap.dedent(code)).body or [ast.Pass()]
    except SyntaxError as error:
        raise SyntaxError(f"Timer: the {what} is no Python: {error}") from None


def _call(name: str, *args: ast.expr) -> ast.Expr:
    return ast.Expr(ast.Call(ast.Name(name, ast.Load()), list(args), []))


def _timed(stmt: str, setup: str, globals: dict[str, Any]) -> Callable[[int, Callable[[], float]], float]:
    """A function of a number of runs and a clock: the seconds that they take, with all that they compute computed."""
    body, before = _parsed(stmt, "statement"), _parsed(setup, "setup")
    loaded = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)}
    stored = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    last = body[-1]
    run = list(body)
    if isinstance(last, ast.Expr):
        # What it answers is looked at; where it answers nothing, what it names.
        answer = ast.Assign([ast.Name("_answer", ast.Store())], last.value)
        settle = _call("_settled", ast.Call(ast.Name("locals", ast.Load()), [], []), ast.Name("_names", ast.Load()))
        test = ast.Compare(ast.Name("_answer", ast.Load()), [ast.Is()], [ast.Constant(None)])
        run[-1:] = [answer, ast.If(test, [settle], [_call("_computed", ast.Name("_answer", ast.Load()))])]
    if stored or not isinstance(last, ast.Expr):
        run.append(_call("_settled", ast.Call(ast.Name("locals", ast.Load()), [], []), ast.Name("_names", ast.Load())))
    tree = ast.parse(_TEMPLATE)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    loop = function.body[2]
    assert isinstance(loop, ast.For)
    function.body[:1], loop.body = before, run
    # What is one statement may have become several.
    space = dict(globals)
    exec(compile(ast.fix_missing_locations(tree), "<timed>", "exec"), space)
    timed = space["timed"]

    def settled(local: Mapping[str, Any], names: set[str]) -> None:
        _with_gradients(_tensors({**{name: globals[name] for name in names & globals.keys()}, **local}, names))

    def call(runs: int, clock: Callable[[], float]) -> float:
        seconds: float = timed(runs, clock, _computed, settled, loaded)
        return seconds

    return call


class Timer:
    """Times a statement, given as text, after a `setup`.

    Results are computed when they are looked at, so they are: what the statement's last expression answers, what it assigns to, and, where it answers
    nothing, the tensors, gradients, modules and optimisers that it names, so that `loss.backward()` and `optimizer.step()` are done in the time that
    is taken. What it changes without a name, in a function's closure, is not. Devices are waited for.

    >>> from micrograd_rs.utils.benchmark import Timer
    >>> took = Timer("x @ x", "x = mg.ones(8, 8)").timeit(3)
    >>> took.number_per_run, took.median > 0
    (3, True)

    Arguments:
        stmt: the statement, or several, as text
        setup: what runs once before each measurement, as text
        global_setup: "", since it is for C++
        timer: a clock: a function that answers with seconds
        globals: what both see by name, beside this package as `mg` and `torch`
        label: what it belongs to in a `Compare`: its table
        sub_label: its row there
        description: its column there
        env: where it runs, which rows are told apart by
        num_threads: how many threads there are meanwhile
        language: Python

    Errors: ValueError for another `language` and for a `global_setup`, SyntaxError for text that is no Python.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str | Language = Language.PYTHON,
    ) -> None:
        if language is not Language.PYTHON and str(language).lower() not in ("python", "py"):
            raise ValueError(f"Timer: statements are of Python, got the language {language!r}")
        if global_setup:
            raise ValueError("Timer: global_setup is for C++; what a statement of Python needs is in setup or globals")
        import micrograd_rs

        self._timer = timer
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)
        self._timed = _timed(stmt, setup, {"mg": micrograd_rs, "torch": micrograd_rs, **(globals or {})})

    def _take(self, runs: int) -> float:
        before = get_num_threads()
        set_num_threads(self._task_spec.num_threads)
        try:
            return max(self._timed(runs, self._timer), 1e-9)
        finally:
            set_num_threads(before)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement, of so many runs, after a hundredth of them to warm up.

        Arguments:
            number: how many runs there are, at least 1
        """
        self._take(max(number // 100, 2))
        return Measurement(number, [self._take(number)], self._task_spec)

    def _block(self, least: float) -> int:
        """How many runs take a thousandth of the time at least, so that the clock's own time does not count."""
        runs = 1
        while True:
            taken = self._take(runs)
            overhead = min(self._clock_takes(), taken)
            if overhead <= taken * 1e-4 and taken >= least / 1000:
                return runs
            if taken > least:
                return runs
            runs *= 10

    def _clock_takes(self) -> float:
        begin = self._timer()
        return max(self._timer() - begin, 0.0)

    def blocked_autorange(
        self, callback: Callable[[int, float], NoReturn] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measurements of so many runs each that the clock is no matter, until they took some time.

        Arguments:
            callback: a function that is called after each with the number of runs and their seconds; None: none is
            min_run_time: how many seconds they take at least, all together
        """
        runs = self._block(min_run_time)
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._take(runs))
            if callback is not None:
                callback(runs, times[-1])
        return Measurement(runs, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], NoReturn] | None = None,
    ) -> Measurement:
        """Measurements until the half of them in the middle lies closely together, or until they took some time.

        Arguments:
            threshold: how wide that half may be, as a part of the median
            min_run_time: how many seconds they take at least, all together
            max_run_time: how many seconds they take at most
            callback: a function that is called after each with the number of runs and their seconds; None: none is
        """
        runs = self._block(min_run_time)
        times: list[float] = []
        while True:
            times.append(self._take(runs))
            if callback is not None:
                callback(runs, times[-1])
            found = Measurement(runs, times, self._task_spec)
            if sum(times) >= max_run_time or (len(times) >= 4 and sum(times) >= min_run_time and found.meets_confidence(threshold)):
                return found

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> NoReturn:
        """NotImplementedError, as in PyTorch: `blocked_autorange` is what does it.

        Arguments:
            callback: of no effect
        """
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError: instructions are counted from outside, `valgrind --tool=callgrind python program.py`.

        Arguments:
            args: of no effect
            kwargs: of no effect
        """
        raise NotImplementedError("collect_callgrind: count instructions from outside: valgrind --tool=callgrind python program.py")
