"""Makes a program smaller while it still shows the same difference."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator

from .program import Program, code


def shrink(program: Program, shows: Callable[[Program], bool], seconds: float = 10.0) -> Program:
    """The smallest program that was found for which `shows` holds."""
    until = time.monotonic() + seconds
    changed = True
    while changed and time.monotonic() < until:
        changed = False
        for smaller in _fewer_lines(program, until):
            if shows(smaller):
                program, changed = smaller, True
                break
        if changed:
            continue
        for smaller in _fewer_names(program):
            if shows(smaller):
                program, changed = smaller, True
                break
        if changed:
            continue
        for smaller in _simpler_lines(program, until):
            if shows(smaller):
                program, changed = smaller, True
                break
    return program


def _fewer_lines(program: Program, until: float) -> Iterator[Program]:
    """Without runs of lines, long runs first."""
    n = len(program.lines)
    size = n // 2
    while size:
        for start in range(n - size, -1, -1):
            if time.monotonic() > until:
                return
            yield program.with_lines(program.lines[:start] + program.lines[start + size :])
        size //= 2


def _fewer_names(program: Program) -> Iterator[Program]:
    """Without a line that gives a tensor another name, or makes one of it."""
    for at, line in enumerate(program.lines):
        alias = re.fullmatch(r"(\w+) = (\w+)\b[^=]*", line)
        if alias and alias[2] not in ("L", "F", "np", "copy") and alias[2].isidentifier():
            name = re.compile(rf"\b{alias[1]}\b")
            rest = tuple(name.sub(alias[2], later) for later in program.lines[at + 1 :])
            yield program.with_lines(program.lines[:at] + rest)


def _simpler_lines(program: Program, until: float) -> Iterator[Program]:
    for at in range(len(program.lines) - 1, -1, -1):
        tried = {program.lines[at]}
        for line in _simpler(program.lines[at]):
            if time.monotonic() > until:
                return
            if line not in tried:
                tried.add(line)
                yield program.with_lines((*program.lines[:at], line, *program.lines[at + 1 :]))


def _simpler(line: str) -> Iterator[str]:
    """The line with one part of it replaced by something smaller."""
    count = sum(1 for _ in ast.walk(ast.parse(line)))
    for at in range(count):
        for which in range(64):
            tree = ast.parse(line)
            replaced = _Replace(at, which)
            tree = replaced.visit(tree)
            if not replaced.done:
                break
            try:
                text = ast.unparse(ast.fix_missing_locations(tree))
                code(text)
            except (ValueError, SyntaxError):
                continue
            if text and len(text) < len(line) or text.count("0") > line.count("0"):
                yield text


class _Replace(ast.NodeTransformer):
    """Replaces the node of a number by its smaller form of a number."""

    def __init__(self, at: int, which: int) -> None:
        self.at, self.which, self.seen, self.done = at, which, -1, False

    def visit(self, node: ast.AST) -> ast.AST:
        self.seen += 1
        if self.seen == self.at and not self.done:
            for number, form in enumerate(_forms(node)):
                if number == self.which:
                    self.done = True
                    return form
            return node
        return self.generic_visit(node)


def _forms(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.With, ast.FunctionDef)) and len(node.body) > 1:
        for k in range(len(node.body)):
            body = node.body[:k] + node.body[k + 1 :]
            if isinstance(node, ast.With):
                yield ast.With(items=node.items, body=body)
            else:
                yield ast.FunctionDef(name=node.name, args=node.args, body=body, decorator_list=[], type_params=[])
    if isinstance(node, ast.With) and len(node.body) == 1:
        yield node.body[0]
    if isinstance(node, ast.BinOp):
        yield node.left
        yield node.right
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.Call):
        # A method's object, but not `L` of `L.ones`.
        if isinstance(node.func, ast.Attribute) and not (isinstance(node.func.value, ast.Name) and node.func.value.id in "LF"):
            yield node.func.value
        # The parameters of a module are known numbers: `W` stays around it.
        if not (isinstance(node.func, ast.Name) and node.func.id == "W"):
            yield from node.args
        for k in range(len(node.keywords)):
            yield ast.Call(func=node.func, args=node.args, keywords=node.keywords[:k] + node.keywords[k + 1 :])
        for k in range(len(node.args)):
            yield ast.Call(func=node.func, args=node.args[:k] + node.args[k + 1 :], keywords=node.keywords)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value
    if isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load) and node.elts:
        if len(node.elts) > 1:
            for k in range(len(node.elts)):
                elements = node.elts[:k] + node.elts[k + 1 :]
                yield type(node)(elts=elements, ctx=node.ctx)
            if all(isinstance(e, ast.List) and len(e.elts) > 1 for e in node.elts):
                shorter = [ast.List(elts=e.elts[:-1], ctx=e.ctx) for e in node.elts]
                yield ast.List(elts=shorter, ctx=node.ctx)
        if isinstance(node, ast.List):
            yield node.elts[0]
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        for value in (0, 1, 2):
            if value != node.value:
                yield ast.Constant(type(node.value)(value))
    if isinstance(node, ast.Slice) and (node.lower or node.upper or node.step):
        yield ast.Slice()
        yield ast.Slice(lower=node.lower, upper=node.upper)
