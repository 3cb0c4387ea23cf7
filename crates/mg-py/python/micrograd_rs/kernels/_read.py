"""The reader: what a function's text says, written down as steps on elements.

Branches are taken by all elements, and a choice says afterwards what holds for each: `if` assigns, in each branch, to names of its own,
which are chosen from where it ends. `return`, `break` and `continue` are truth values of their own, and what comes after them is a
branch. Loops are unrolled. What depends on numbers alone is computed here.
"""

from __future__ import annotations

import ast
import builtins
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from .._micrograd_rs import Tensor, _KernelBuilder
from ._calls import called
from ._values import (
    BINARY,
    COMPARISONS,
    TRUTHS,
    UNARY,
    UNASSIGNED,
    Element,
    Known,
    Unassigned,
    as_number,
    is_same,
    is_sequence,
    is_tuple,
    kind_of,
    tuple_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from ._kernel import Kernel

RETURNED, RESULT, BROKEN, CONTINUED = "$returned", "$result", "$broken", "$continued"

# Unrolled loops of calls of kernels of calls: where to stop.
DEEPEST = 32

STATEMENTS = (
    "assignments, if/elif/else, for over range(...) or a constant sequence, break, continue, return and pass"
)
EXPRESSIONS = (
    "arithmetic, comparisons, and/or/not, `a if c else b`, tuples, numbers, and calls of math's functions, of the package's "
    "elementwise ones, of abs, min, max, round, int, float, bool, and of other kernels"
)


class KernelError(SyntaxError):
    """A function that cannot become a kernel: which line, why, and what is understood.

    >>> @mg.kernel
    ... def shout(x):
    ...     return print(x)
    >>> try:
    ...     shout(mg.tensor([1.0]))
    ... except mg.kernels.KernelError:
    ...     print("no kernel")
    no kernel
    """


class Source:
    """A function's text and where it stands."""

    def __init__(self, name: str, file: str, lines: Sequence[str], first: int, indent: int) -> None:
        self.name = name
        self.file = file
        self.lines = lines
        self.first = first
        self.indent = indent

    def fail(self, node: ast.AST | None, text: str) -> NoReturn:
        """Raises a `KernelError` that points at a piece of the text."""
        at = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0) + self.indent
        end = getattr(node, "end_col_offset", None)
        line = self.lines[at - 1] if 0 < at <= len(self.lines) else ""
        if getattr(node, "end_lineno", at) != at or end is None:
            end = len(line) - self.indent
        where = (self.file, self.first + at - 1, column + 1, line, self.first + at - 1, end + self.indent + 1)
        raise KernelError(f"kernel '{self.name}': {text}", where) from None


class Names:
    """What names stand for: within a branch, what was assigned there, and what was there before as the branch reads it."""

    def __init__(self, reader: Reader, outer: Names | None = None, condition: Element | None = None) -> None:
        self.reader = reader
        self.outer = outer
        self.condition = condition
        self.own: dict[str, Any] = {}
        self.read: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """What a name stands for, `None` where nobody assigned to it."""
        if name in self.own:
            return self.own[name]
        if name in self.read:
            return self.read[name]
        if self.outer is None:
            return None
        value = self.outer.get(name)
        if self.condition is not None and not name.startswith("$"):
            value = self.reader.within(self.condition, value)
        self.read[name] = value
        return value


Made = TypeVar("Made")


class Program:
    """Steps that are being written down, each once, and what they depend on beside the arguments."""

    def __init__(self, name: str, arguments: int) -> None:
        self.builder = _KernelBuilder(name, arguments)
        self.known: dict[Any, int] = {}
        # The conditions of the branches that are being read.
        self.taken: list[Element] = []
        self.captured: list[tuple[Callable[[], Any], Any, str]] = []

    @contextmanager
    def branch(self, condition: Any) -> Generator[None]:
        """What is read within it is read where the condition holds."""
        self.taken.append(condition)
        try:
            yield
        finally:
            self.taken.pop()

    def shielded(self, condition: int, value: int) -> int:
        """A value as a branch divides by it."""
        return self.once(("shield", condition, value), lambda: self.builder.shield(condition, value))

    def once(self, key: Any, make: Callable[[], int]) -> int:
        """The step of a key: made where it is not there."""
        at = self.known.get(key)
        if at is None:
            at = self.known[key] = make()
        return at


class Reader:
    """Reads one function."""

    def __init__(self, kernel: Kernel, program: Program, depth: int = 0) -> None:
        self.kernel = kernel
        self.source = kernel._source
        self.program = program
        self.depth = depth
        if depth > DEEPEST:
            self.source.fail(kernel._tree, f"kernels call each other more than {DEEPEST} deep; a kernel cannot call itself")

    # Steps.

    def fail(self, node: ast.AST | None, text: str) -> NoReturn:
        """Raises a `KernelError` that points at a piece of the text."""
        self.source.fail(node, text)

    def guard(self, node: ast.AST | None, make: Callable[[], Made]) -> Made:
        """Makes steps; what is wrong with it is told with its line."""
        try:
            return make()
        except (TypeError, ValueError, OverflowError) as error:
            text = str(error).removeprefix(f"{self.kernel.__name__}: ")
            return self.fail(node, text)

    def step(self, node: ast.AST | None, value: Any) -> int:
        """The step of a value: a number's own."""
        if isinstance(value, Element):
            return value.at
        number = self.number(node, value)
        key = ("constant", type(number), repr(number))
        return self.program.once(key, lambda: self.guard(node, lambda: self.program.builder.constant(number)))

    def number(self, node: ast.AST | None, value: Any) -> bool | int | float:
        """A number that is known."""
        if isinstance(value, Known):
            value = self.taken(node, value)
        if isinstance(value, bool | int | float):
            return value
        if isinstance(value, Unassigned) or value is None:
            self.fail(node, "a number is expected")
        self.fail(node, f"a number is expected, not {'a tuple' if is_tuple(value) else kind_of(value).__name__}")

    def taken(self, node: ast.AST | None, known: Known) -> Any:
        """The number that an object from around the function is; it is looked at again in each call."""
        number = as_number(known.value)
        if number is not None:
            self.capture(known)
            return number
        if isinstance(known.value, Tensor):
            self.fail(node, f"'{known.name}' is a tensor: pass it as an argument, so that the kernel reads an element of it")
        if isinstance(known.value, str | range) or is_sequence(known.value) or known.value is None:
            self.capture(known)
            return known.value
        self.fail(node, f"'{known.name}' is no number but {kind_of(known.value).__name__}; a kernel knows numbers from around it")

    def capture(self, known: Known) -> None:
        """Remembers what was found under a name."""
        if not known.is_fixed:
            # A list may change.
            value = list(known.value) if is_sequence(known.value) and not is_tuple(known.value) else known.value
            self.program.captured.append((known.find, value, known.name))

    def operation(self, node: ast.AST | None, name: str, *values: Any) -> Element:
        """An elementwise operation of values; of what is not a value, the constant itself."""
        parts: list[Any] = []
        for i, value in enumerate(values):
            if i == 1 and divides(name, values):
                parts.append(self.shielded(node, value))
            elif isinstance(value, Element):
                parts.append(value.at)
            elif value is None or isinstance(value, str):
                parts.append((value,))
            else:
                parts.append((self.number(node, value),))
        key = ("call", name, *((kind_of(p[0]), repr(p[0])) if is_tuple(p) else p for p in parts))
        builder = self.program.builder
        at = self.program.once(key, lambda: self.guard(node, lambda: builder.call(name, parts)))
        return Element(at, name in TRUTHS)

    def shielded(self, node: ast.AST | None, divisor: Any) -> int:
        """What is divided by in branches, which elements that do not come there do not divide by."""
        at = self.step(node, divisor)
        for condition in self.program.taken:
            at = self.program.shielded(condition.at, at)
        return at

    def counted(self, node: ast.AST | None, value: Any) -> Any:
        """A truth value as the number that it is where one computes with it."""
        return self.select(node, value, 1, 0) if isinstance(value, Element) else int(value)

    def truth(self, node: ast.AST | None, value: Any) -> Any:
        """A value as what is asked for in a condition."""
        if isinstance(value, Element):
            return value if value.is_truth else self.operation(node, "ne", value, 0)
        if isinstance(value, Known):
            value = self.taken(node, value)
        return bool(value)

    def negated(self, node: ast.AST | None, value: Any) -> Any:
        """The opposite of a truth value."""
        if isinstance(value, Element):
            return self.operation(node, "logical_not", value)
        return not value

    def both(self, node: ast.AST | None, a: Any, b: Any) -> Any:
        """Whether both truth values hold."""
        if isinstance(a, Element) and isinstance(b, Element):
            return a if a.at == b.at else self.operation(node, "logical_and", a, b)
        if isinstance(a, Element):
            return a if b else False
        return b if a else False

    def either(self, node: ast.AST | None, a: Any, b: Any) -> Any:
        """Whether one of two truth values holds."""
        if isinstance(a, Element) and isinstance(b, Element):
            return a if a.at == b.at else self.operation(node, "logical_or", a, b)
        if isinstance(a, Element):
            return True if b else a
        return True if a else b

    def select(self, node: ast.AST | None, condition: Any, yes: Any, no: Any) -> Any:
        """`yes` where the condition holds, else `no`."""
        if not isinstance(condition, Element):
            return yes if condition else no
        if isinstance(yes, Element) and isinstance(no, Element):
            if yes.at == no.at:
                return yes
        elif is_tuple(yes) and is_tuple(no):
            ours, theirs = tuple_of(yes), tuple_of(no)
            if len(ours) != len(theirs):
                self.fail(node, f"the branches answer with {len(ours)} and with {len(theirs)} values")
            return tuple(self.select(node, condition, a, b) for a, b in zip(ours, theirs, strict=True))
        elif is_tuple(yes) or is_tuple(no):
            self.fail(node, "one branch has a tuple where the other has a number")
        elif not isinstance(yes, Element) and not isinstance(no, Element) and is_same(yes, no):
            return yes
        # Truth values of which one is known.
        if isinstance(yes, bool) and (isinstance(no, bool) or (isinstance(no, Element) and no.is_truth)):
            return self.either(node, condition, no) if yes else self.both(node, self.negated(node, condition), no)
        if isinstance(no, bool) and isinstance(yes, Element) and yes.is_truth:
            opposite = self.negated(node, condition)
            return self.either(node, opposite, yes) if no else self.both(node, condition, yes)
        c, a, b = condition.at, self.step(node, yes), self.step(node, no)
        builder = self.program.builder
        at = self.program.once(("select", c, a, b), lambda: self.guard(node, lambda: builder.select(c, a, b)))
        return Element(at, self.is_truth(yes) and self.is_truth(no))

    def is_truth(self, value: Any) -> bool:
        """Whether a value is a truth value."""
        return isinstance(value, bool) or (isinstance(value, Element) and value.is_truth)

    def within(self, condition: Element, value: Any) -> Any:
        """A value as the branch of a condition reads it."""
        if is_tuple(value):
            return tuple(self.within(condition, v) for v in value)
        if not isinstance(value, Element) or value.is_truth:
            return value
        key, builder = ("within", condition.at, value.at), self.program.builder
        return Element(self.program.once(key, lambda: builder.within(condition.at, value.at)))

    # The function.

    def read(self, arguments: dict[str, Any]) -> Any:
        """What the function answers with."""
        tree = self.kernel._tree
        names = Names(self)
        names.own.update(arguments)
        names.own.update({RETURNED: False, RESULT: UNASSIGNED, BROKEN: False, CONTINUED: False})
        if isinstance(tree, ast.Lambda):
            return self.value(tree.body, names)
        self.block(tree.body, names)
        if isinstance(names.own[RESULT], Unassigned) or (names.own[RETURNED] is not True and not always_returns(tree.body)):
            self.fail(tree, "it ends without a return for some elements: every path returns a number, or a tuple of them")
        return names.own[RESULT]

    def stopped(self, names: Names) -> Any:
        """Whether an element goes no further in a block."""
        return self.either(None, self.either(None, names.get(RETURNED), names.get(BROKEN)), names.get(CONTINUED))

    def block(self, body: Sequence[ast.stmt], names: Names) -> None:
        """Statements, one after the other, for the elements that have not left."""
        for i, statement in enumerate(body):
            self.statement(statement, names)
            stopped = self.stopped(names)
            if isinstance(stopped, Element):
                if i + 1 < len(body):
                    # Those that have returned read nothing any more.
                    is_over = names.get(BROKEN) is False and names.get(CONTINUED) is False
                    goes_on = self.negated(statement, stopped)
                    self.branch(statement, goes_on, body[i + 1 :], (), names, is_over=is_over)
                return
            if stopped:
                return

    def branch(
        self,
        node: ast.AST,
        condition: Any,
        body: Sequence[ast.stmt],
        other: Sequence[ast.stmt],
        names: Names,
        *,
        is_over: bool = False,
    ) -> None:
        """Takes both branches, and chooses. `is_over` says that who does not take the first has left the function."""
        if not isinstance(condition, Element):
            self.block(body if condition else other, names)
            return
        yes, no = Names(self, names, condition), Names(self, names, self.negated(node, condition))
        with self.program.branch(yes.condition):
            self.block(body, yes)
        with self.program.branch(no.condition):
            self.block(other, no)
        for name in [*yes.own, *(n for n in no.own if n not in yes.own)]:
            before = names.get(name)
            before = UNASSIGNED if before is None else before
            a, b = yes.own.get(name, before), no.own.get(name, before)
            if isinstance(a, Unassigned) or isinstance(b, Unassigned):
                # What is returned is chosen among those that return; other names are not there for some elements.
                kept, gone = (b, yes) if isinstance(a, Unassigned) else (a, no)
                is_kept = name == RESULT or is_over or gone.get(RETURNED) is True
                names.own[name] = kept if is_kept else UNASSIGNED
            else:
                names.own[name] = self.select(node, condition, self.plain(node, a), self.plain(node, b))

    def plain(self, node: ast.AST, value: Any) -> Any:
        """A value, or the number that an object is."""
        return self.taken(node, value) if isinstance(value, Known) else value

    def statement(self, node: ast.stmt, names: Names) -> None:
        """One statement."""
        match node:
            case ast.Assign():
                value = self.value(node.value, names)
                for target in node.targets:
                    self.assign(target, value, names)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.value(node.value, names), names)
            case ast.AugAssign():
                if not isinstance(node.target, ast.Name):
                    self.fail(node.target, "names are assigned to, not items or attributes")
                before = self.value(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target), names)
                value = self.arithmetic(node, node.op, before, self.value(node.value, names))
                self.assign(node.target, value, names)
            case ast.Return():
                if node.value is None:
                    self.fail(node, "returns nothing; a kernel returns a number, or a tuple of them")
                names.own[RESULT] = self.result(node.value, self.value(node.value, names))
                names.own[RETURNED] = True
            case ast.If():
                condition = self.truth(node.test, self.value(node.test, names))
                self.branch(node, condition, node.body, node.orelse, names)
            case ast.For():
                self.loop(node, names)
            case ast.Break():
                names.own[BROKEN] = True
            case ast.Continue():
                names.own[CONTINUED] = True
            case ast.Pass():
                pass
            case ast.Expr(value=ast.Constant()):
                # Documentation.
                pass
            case ast.Expr():
                self.fail(node, "an expression whose value nobody takes; assign it to a name, or return it")
            case _:
                self.fail(node, refusal(node) or f"{said(node)} is not supported")

    def assign(self, target: ast.expr, value: Any, names: Names) -> None:
        """Gives names their values."""
        match target:
            case ast.Name():
                names.own[target.id] = value
            case ast.Tuple() | ast.List():
                if isinstance(value, Known):
                    value = self.taken(target, value)
                if not is_sequence(value):
                    self.fail(target, f"{len(target.elts)} names for one number")
                if any(isinstance(t, ast.Starred) for t in target.elts) or len(value) != len(target.elts):
                    self.fail(target, f"{len(target.elts)} names for {len(value)} values")
                for name, item in zip(target.elts, value, strict=True):
                    self.assign(name, item, names)
            case _:
                self.fail(target, "names are assigned to, not items or attributes")

    def result(self, node: ast.expr, value: Any) -> Any:
        """What is returned: a value, or a flat tuple of them."""
        value = self.plain(node, value)
        if is_sequence(value):
            if not value:
                self.fail(node, "returns an empty tuple")
            return tuple(item if isinstance(item, Element) else self.number(node, item) for item in value)
        return value if isinstance(value, Element) else self.number(node, value)

    def loop(self, node: ast.For, names: Names) -> None:
        """A loop over what is known, step by step."""
        if node.orelse:
            self.fail(node.orelse[0], "`else` of a loop is not supported")
        before = names.get(BROKEN), names.get(CONTINUED)
        names.own[BROKEN] = False
        for item in self.items(node.iter, names):
            names.own[CONTINUED] = False
            gone = self.either(node, names.get(RETURNED), names.get(BROKEN))
            if gone is True:
                break
            if isinstance(gone, Element):
                inner = Names(self, names, self.negated(node, gone))
                self.assign(node.target, item, inner)
                with self.program.branch(inner.condition):
                    self.block(node.body, inner)
                self.join(node, inner, names)
            else:
                self.assign(node.target, item, names)
                self.block(node.body, names)
        names.own[BROKEN], names.own[CONTINUED] = before

    def join(self, node: ast.AST, inner: Names, names: Names) -> None:
        """Chooses what a branch assigned where it was taken, and else what was there before."""
        condition = inner.condition
        for name, value in inner.own.items():
            before = names.get(name)
            if before is None or isinstance(before, Unassigned) or isinstance(value, Unassigned):
                names.own[name] = value if name == RESULT else UNASSIGNED
            else:
                names.own[name] = self.select(node, condition, self.plain(node, value), self.plain(node, before))

    def items(self, node: ast.expr, names: Names) -> Iterable[Any]:
        """What a loop runs over."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            args = node.args
            match self.found(node.func, names), node.func.id:
                case (Known(value=builtins.range), _):
                    bounds = [self.value(arg, names) for arg in args]
                    for arg, bound in zip(args, bounds, strict=True):
                        self.bound(arg, bound)
                    try:
                        return range(*(self.number(node, b) for b in bounds))  # type: ignore[arg-type]
                    except (TypeError, ValueError) as error:
                        self.fail(node, str(error))
                case (Known(value=builtins.enumerate), _) if len(args) == 1 and not node.keywords:
                    return list(enumerate(self.items(args[0], names)))
                case (Known(value=builtins.reversed), _) if len(args) == 1:
                    return list(reversed(list(self.items(args[0], names))))
                case (Known(value=builtins.zip), _) if not node.keywords:
                    return list(zip(*(self.items(arg, names) for arg in args), strict=False))
                case _:
                    pass
        value = self.plain(node, self.value(node, names))
        if is_sequence(value) or isinstance(value, range):
            found: Iterable[Any] = value
            return found
        self.fail(node, "a loop runs over range(n) with a constant n, or over a tuple or a list that is known")

    def bound(self, node: ast.expr, bound: Any) -> None:
        """Says what to do about a loop whose length is an element's."""
        if isinstance(bound, Element):
            text = "the bound of a loop is constant: take it as an argument after `*`, which is part of the kernel, or loop to a "
            self.fail(node, text + "constant and `break`")

    # Expressions.

    def value(self, node: ast.expr, names: Names) -> Any:
        """The value of an expression: an element's, a number, a tuple of them, or an object that is known."""
        match node:
            case ast.Constant():
                constant: Any = node.value
                if isinstance(constant, bool | int | float | str) or constant is None:
                    return constant
                self.fail(node, f"a number is expected, not {type(constant).__name__}")
            case ast.Name():
                return self.found(node, names)
            case ast.Attribute():
                return self.attribute(node, self.value(node.value, names))
            case ast.UnaryOp(op=ast.Not()):
                return self.negated(node, self.truth(node.operand, self.value(node.operand, names)))
            case ast.UnaryOp():
                name, plain = UNARY[type(node.op).__name__]
                value = self.value(node.operand, names)
                if isinstance(value, Element):
                    if value.is_truth:
                        return self.negated(node, value) if name == "bitwise_not" else self.operation(node, name, self.counted(node, value))
                    return self.operation(node, name, value)
                return self.folded(node, plain, self.number(node, value))
            case ast.BinOp():
                return self.arithmetic(node, node.op, self.value(node.left, names), self.value(node.right, names))
            case ast.Compare():
                return self.comparison(node, names)
            case ast.BoolOp():
                return self.connected(node, names)
            case ast.IfExp():
                return self.chosen(node, names)
            case ast.Tuple() | ast.List():
                if any(isinstance(item, ast.Starred) for item in node.elts):
                    self.fail(node, "`*` in a tuple is not supported")
                return tuple(self.plain(item, self.value(item, names)) for item in node.elts)
            case ast.Subscript():
                return self.subscript(node, names)
            case ast.Call():
                return called(self, node, names)
            case _:
                self.fail(node, f"{said(node)} is not supported; a kernel's expressions are {EXPRESSIONS}")

    def found(self, node: ast.Name, names: Names) -> Any:
        """What a name stands for: in the function, around it, or everywhere."""
        value = names.get(node.id)
        if isinstance(value, Unassigned):
            self.fail(node, f"'{node.id}' is assigned in one branch only: give it a value before")
        if value is not None:
            return value
        known = self.kernel._look_up(node.id)
        if known is None:
            self.fail(node, f"the name '{node.id}' is not known")
        return known

    def attribute(self, node: ast.Attribute, of: Any) -> Any:
        """A member of an object that is known."""
        if not isinstance(of, Known):
            self.fail(node, f"a number has no '{node.attr}' in a kernel, but for methods that are called: x.{node.attr}(...)")
        try:
            return of.member(node.attr)
        except AttributeError as error:
            self.fail(node, str(error))

    def subscript(self, node: ast.Subscript, names: Names) -> Any:
        """An item of a sequence that is known."""
        of, key = self.value(node.value, names), self.plain(node.slice, self.value(node.slice, names))
        if isinstance(of, Element) or isinstance(key, Element):
            text = "a kernel sees one element of each tensor; it takes items of what is known, at positions that are known"
            self.fail(node, text)
        try:
            if isinstance(of, Known):
                return of.item(key)
            return of[key]
        except (TypeError, LookupError) as error:
            self.fail(node, f"{type(error).__name__}: {error}")

    def folded(self, node: ast.AST, function: Callable[..., Any], *numbers: Any) -> Any:
        """What is known of numbers that are known."""
        try:
            value = function(*numbers)
        except (ArithmeticError, ValueError, TypeError) as error:
            self.fail(node, f"{type(error).__name__}: {error}")
        if isinstance(value, bool | int | float):
            return value
        self.fail(node, f"computes {value!r}, which is no number of a kernel")

    def arithmetic(self, node: ast.AST, op: ast.operator, a: Any, b: Any) -> Any:
        """`a ∘ b`."""
        if isinstance(op, ast.MatMult):
            self.fail(node, "`@` is of matrices; a kernel sees one element of each tensor")
        name, plain = BINARY[type(op).__name__]
        if not isinstance(a, Element) and not isinstance(b, Element):
            return self.folded(node, plain, self.number(node, a), self.number(node, b))
        # Truth values are connected, and otherwise the numbers 0 and 1, as in Python.
        if self.is_truth(a) and self.is_truth(b) and name in CONNECTED:
            return self.operation(node, CONNECTED[name], a, b)
        a, b = (self.counted(node, value) if self.is_truth(value) else value for value in (a, b))
        return self.operation(node, name, a, b)

    def comparison(self, node: ast.Compare, names: Names) -> Any:
        """`a < b`, or several in a row."""
        left: Any = self.value(node.left, names)
        answer: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if type(op).__name__ not in COMPARISONS:
                self.fail(node, f"{said(op)} is not supported; numbers are compared by < <= > >= == !=")
            name, plain = COMPARISONS[type(op).__name__]
            right = self.value(right_node, names)
            if isinstance(left, Element) or isinstance(right, Element):
                self.numeric(node, left, right)
                one: Any = self.operation(node, name, left, right)
            else:
                a, b = self.plain(node, left), self.plain(right_node, right)
                # Words that say how a kernel is meant are compared, too.
                texts = isinstance(a, str) and isinstance(b, str)
                one = plain(a, b) if texts or a is None or b is None else self.folded(
                    node, plain, self.number(node, a), self.number(right_node, b)
                )
            answer = self.both(node, answer, one)
            left = right
        return answer

    def numeric(self, node: ast.AST, *values: Any) -> None:
        """Refuses words beside numbers, and says how an argument is made a word."""
        for value in values:
            if isinstance(value, Known):
                value = value.value
            if isinstance(value, str):
                self.fail(node, f"a number is compared with the text {value!r}: what chooses by words is a constant of the kernel, an argument after `*`")

    def connected(self, node: ast.BoolOp, names: Names) -> Any:
        """`a and b`, `a or b`: Python's, which answer with one of the two."""
        is_and = isinstance(node.op, ast.And)
        value = self.plain(node.values[0], self.value(node.values[0], names))
        for next_node in node.values[1:]:
            condition = self.truth(node, value)
            if not isinstance(condition, Element):
                if bool(condition) != is_and:
                    return value
                value = self.plain(next_node, self.value(next_node, names))
                continue
            taken = condition if is_and else self.negated(node, condition)
            with self.program.branch(taken):
                other = self.plain(next_node, self.value(next_node, Names(self, names, taken)))
            if self.is_truth(value) and self.is_truth(other):
                value = self.both(node, value, other) if is_and else self.either(node, value, other)
            else:
                yes, no = (other, value) if is_and else (value, other)
                value = self.select(node, condition, yes, no)
        return value

    def chosen(self, node: ast.IfExp, names: Names) -> Any:
        """`a if c else b`."""
        condition = self.truth(node.test, self.value(node.test, names))
        if not isinstance(condition, Element):
            return self.value(node.body if condition else node.orelse, names)
        with self.program.branch(condition):
            yes = self.plain(node.body, self.value(node.body, Names(self, names, condition)))
        opposite = self.negated(node, condition)
        with self.program.branch(opposite):
            no = self.plain(node.orelse, self.value(node.orelse, Names(self, names, opposite)))
        return self.select(node, condition, yes, no)


# Operations on integers of which the second operand must not be 0.
DIVISIONS = frozenset("floor_divide remainder fmod div".split())
CONNECTED = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor"}


def divides(name: str, values: Sequence[Any]) -> bool:
    """Whether an operation divides by a whole number, if it is of whole numbers."""
    return name in DIVISIONS and (name != "div" or (len(values) > 2 and values[2] is not None))


def refusal(node: ast.AST) -> str | None:
    """Why a statement is none of a kernel, if it is not."""
    known = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.If, ast.For, ast.Break, ast.Continue, ast.Pass, ast.Expr)
    if not isinstance(node, ast.stmt) or isinstance(node, known):
        return None
    if isinstance(node, ast.While):
        return "`while` has no bound; write `for _ in range(n):` with a constant n, and `break` where it ends"
    if isinstance(node, ast.Import | ast.ImportFrom):
        return "imports stand outside of the kernel"
    return f"{said(node)} is not supported; a kernel's statements are {STATEMENTS}"


def always_returns(body: Sequence[ast.stmt]) -> bool:
    """Whether every path through statements comes to a `return`."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and always_returns(statement.body) and always_returns(statement.orelse):
            return True
    return False


WORDS = {
    "AsyncFor": "`async for`",
    "Assert": "`assert`",
    "Await": "`await`",
    "ClassDef": "a class",
    "Delete": "`del`",
    "Dict": "a dictionary",
    "DictComp": "a dictionary",
    "FormattedValue": "a string",
    "FunctionDef": "a function in a function",
    "GeneratorExp": "a generator",
    "Global": "`global`",
    "Import": "`import`",
    "In": "`in`",
    "Is": "`is`",
    "IsNot": "`is not`",
    "JoinedStr": "a string",
    "Lambda": "`lambda`",
    "ListComp": "a list comprehension",
    "Match": "`match`",
    "NamedExpr": "`:=`",
    "Nonlocal": "`nonlocal`",
    "NotIn": "`not in`",
    "Raise": "`raise`",
    "Set": "a set",
    "SetComp": "a set",
    "Slice": "a slice",
    "Starred": "`*`",
    "Try": "`try`",
    "With": "`with`",
    "Yield": "`yield`",
    "YieldFrom": "`yield`",
}


def said(node: ast.AST) -> str:
    """What a piece of text is called."""
    return WORDS.get(type(node).__name__, f"`{type(node).__name__.lower()}`")
