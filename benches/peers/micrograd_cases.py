"""micrograd itself, as it is on the package index: scalars in Python."""

import importlib.metadata
import sys

from micrograd.engine import Value
from micrograd.nn import MLP

import python_cases
from cases import Case
from data import Skip
from work import Work

VERSION = importlib.metadata.version("micrograd")


def start() -> Work:
    return python_cases.start("micrograd.nn")


def value_add(times: int) -> Work:
    return python_cases.add(Value, times)


def value_chain(n: int) -> Work:
    if n >= sys.getrecursionlimit():
        raise Skip("its backward is recursive, and this is deeper than Python goes")
    return python_cases.chain(Value, n)


def moons_step(points: int) -> Work:
    return python_cases.moons_step(MLP, Value, points)


def prepare(case: Case) -> Work:
    kinds = {f.__name__: f for f in (start, value_add, value_chain, moons_step)}
    if case.kind not in kinds:
        raise Skip("no tensors")
    return kinds[case.kind](**case.parameters)
