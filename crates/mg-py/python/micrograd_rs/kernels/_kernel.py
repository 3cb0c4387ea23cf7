"""The decorator, and what it makes of a function."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, overload

from .._micrograd_rs import Tensor
from .._names import kind_of as said_kind
from ._read import KernelError, Program, Reader, Source, refusal
from ._values import Element, Known, as_number, is_same, is_sequence, is_tuple, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .._micrograd_rs import _Kernel

# Kernels for different constants that are kept.
MOST = 64


class Compiled:
    """A kernel as it was read: what it computes, and what was known around it then."""

    __slots__ = ("captured", "kernel")

    def __init__(self, kernel: _Kernel, captured: list[tuple[Callable[[], Any], Any, str]]) -> None:
        self.kernel = kernel
        self.captured = captured

    def holds(self) -> bool:
        """Whether what was known around it is what it was."""
        for find, value, _ in self.captured:
            try:
                now = find()
            except (AttributeError, KeyError, IndexError, NameError, ValueError):
                return False
            if now is not value and not is_same(now, value):
                return False
        return True


class Kernel:
    """A function of numbers as an elementwise operation of tensors: what `mg.kernel` makes of it.

    Arguments are tensors, whose shapes broadcast, and numbers; those after `*` are constants of the kernel.

    Arguments:
        function: the function
        derivative: its derivative, where it is not to be found

    >>> @mg.kernel
    ... def cube(x):
    ...     return x * x * x
    >>> type(cube).__name__, cube(mg.tensor([2.0]))
    ('Kernel', tensor([8.]))
    """

    # So that a recording finds the function, and what is around it.
    _is_kernel = True
    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], derivative: Callable[..., Any] | None = None) -> None:
        if not inspect.isfunction(function):
            raise TypeError(f"mg.kernel takes a function, not {type(function).__name__}")
        update_wrapper(self, function)
        self._function = function
        self._source, self._tree = read(function)
        # What no kernel has is told where it is defined; names may be there later.
        for node in ast.walk(self._tree):
            why = None if node is self._tree else refusal(node)
            if why is not None:
                self._source.fail(node, why)
        arguments = self._tree.args
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                self._source.fail(extra, "`*args` and `**kwargs` are not supported: each argument has a name")
        self._names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        self._constants = [a.arg for a in arguments.kwonlyargs]
        self._signature = inspect.signature(function)
        self._compiled: dict[Any, Compiled] = {}
        self._gradient: Kernel | None = None
        if derivative is not None:
            self.gradient(derivative)

    def gradient(self, function: Callable[..., Any]) -> Kernel:
        """Says what the derivative of this kernel is, instead of what follows from its steps: a decorator.

        `function` takes the kernel's arguments and answers with the derivative by each of them; or it takes the gradient of each
        result besides, and answers with the gradient of each argument.
        """
        gradient = function if isinstance(function, Kernel) else Kernel(function)
        self._gradient = gradient
        self._compiled = {}
        return gradient

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The results for these arguments."""
        constants: Mapping[str, Any] = {}
        if keywords or len(args) != len(self._names) or self._constants:
            args, constants = self._bound(args, keywords)
        kernel = self._found(constants).kernel
        try:
            return kernel(*args)
        except TypeError:
            for name, value in zip(self._names, args, strict=True):
                self._is_number(name, value)
            raise

    @property
    def steps(self) -> int:
        """How many operations it consists of, with the default constants."""
        _, constants = self._bound(tuple(0.0 for _ in self._names), {})
        return self._found(constants).kernel.steps

    def __repr__(self) -> str:
        return f"<kernel {self.__qualname__}{self._signature}>"

    # A kernel is found by its name, as functions are, and is one object.
    def __reduce__(self) -> str:
        return self.__qualname__

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self

    def _bound(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments in their order, with defaults, and constants."""
        try:
            bound = self._signature.bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{self.__name__}() {error}") from None
        bound.apply_defaults()
        given = bound.arguments
        return tuple(given[name] for name in self._names), {name: given[name] for name in self._constants}

    def _found(self, constants: Mapping[str, Any]) -> Compiled:
        """The kernel for some constants, read again where something that it knows is not what it was."""
        key = tuple((kind_of(v), repr(v)) for v in constants.values()) if constants else ()
        compiled = self._compiled.get(key)
        if compiled is None or not compiled.holds():
            compiled = self._compile(constants)
            if len(self._compiled) >= MOST:
                self._compiled.pop(next(iter(self._compiled)))
            self._compiled[key] = compiled
        return compiled

    def _compile(self, constants: Mapping[str, Any], depth: int = 0) -> Compiled:
        program = Program(self.__name__, len(self._names))
        self._noted(program)
        reader = Reader(self, program, depth)
        for name, value in constants.items():
            self._checked(name, value)
        arguments = {name: Element(program.builder.argument(i)) for i, name in enumerate(self._names)}
        answer = reader.read({**arguments, **constants})
        answers: tuple[Any, ...] = answer if is_tuple(answer) else (answer,)
        results = [reader.step(self._tree, value) for value in answers]
        gradient = None
        if self._gradient is not None:
            own = {name: constants[name] for name in self._gradient._constants if name in constants}
            of = self._gradient._compile({**self._gradient._defaults(), **own}, depth + 1)
            program.captured += of.captured
            gradient = of.kernel
        try:
            return Compiled(program.builder.end(results, gradient), program.captured)
        except (TypeError, ValueError) as error:
            tree = self._tree if self._gradient is None else self._gradient._tree
            source = self._source if self._gradient is None else self._gradient._source
            source.fail(tree, str(error).removeprefix(f"{self.__name__}: "))

    def _defaults(self) -> dict[str, Any]:
        """Constants that are not given."""
        all_ = self._signature.parameters
        for name in self._constants:
            if all_[name].default is inspect.Parameter.empty:
                self._source.fail(self._tree, f"the constant '{name}' has no default, and the kernel that this is the gradient of has none")
        return {name: all_[name].default for name in self._constants}

    def _checked(self, name: str, value: Any) -> None:
        """Refuses constants that are none."""
        if isinstance(value, str | range) or is_sequence(value) or value is None or as_number(value) is not None:
            return
        kind = kind_of(value).__name__
        text = f"'{name}' stands after `*` and is a constant of the kernel: a number, a word or a tuple of them, not {kind}"
        raise TypeError(f"{self.__name__}() {text}")

    def _is_number(self, name: str, value: Any) -> None:
        """Refuses arguments that are no numbers."""
        if isinstance(value, Tensor) or as_number(value) is not None or hasattr(value, "__array_interface__"):
            return
        text = f"{self.__name__}(): takes tensors, numbers and NumPy arrays, got {said_kind(value)} as '{name}'"
        if hasattr(value, "__dlpack__"):
            text += ": mg.from_dlpack(t) or mg.tensor(t) makes a tensor of it"
        elif isinstance(value, str) or value is None or is_sequence(value):
            text += ": what chooses how it computes is a constant, an argument after `*`"
        raise TypeError(text)

    def _noted(self, program: Program) -> None:
        """Has a kernel that this one is read into look whether the gradient is what it was."""
        program.captured.append((lambda: self._gradient, self._gradient, self.__name__))

    def _within(self, reader: Reader, node: ast.AST, values: tuple[Any, ...], constants: Mapping[str, Any]) -> Any:
        """What it answers with in another kernel."""
        self._noted(reader.program)
        if self._gradient is None:
            inner = Reader(self, reader.program, reader.depth + 1)
            return inner.read({**dict(zip(self._names, values, strict=True)), **constants})
        compiled = self._compile(constants, reader.depth + 1)
        reader.program.captured += compiled.captured
        args, conditions = [reader.step(node, value) for value in values], [c.at for c in reader.program.taken]
        found = reader.guard(node, lambda: reader.program.builder.kernel(compiled.kernel, conditions, args))
        all_ = tuple(Element(at) for at in found)
        return all_[0] if len(found) == 1 else all_

    def _look_up(self, name: str) -> Known | None:
        """What a name stands for around the function."""
        code = self._function.__code__
        if name in code.co_freevars:
            cell = (self._function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return Known(cell.cell_contents, name, lambda: cell.cell_contents)
            except ValueError:
                return None
        around = self._function.__globals__
        if name in around:
            return Known(around[name], name, lambda: around[name])
        if hasattr(builtins, name):
            return Known(getattr(builtins, name), name, lambda: getattr(builtins, name), True)
        return None


def read(function: Callable[..., Any]) -> tuple[Source, ast.FunctionDef | ast.Lambda]:
    """A function's text, as it was when it was defined."""
    code: Any = function.__code__
    name: str = function.__name__
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, SyntaxError):
        text = f"kernel '{name}': its text is not there, in {code.co_filename}: a kernel is read from a file or from a notebook's cell"
        raise KernelError(text) from None
    if name == "<lambda>":
        return of_lambda(code)
    indent = len(lines[0]) - len(lines[0].lstrip())
    source = Source(name, code.co_filename, lines, max(first, 1), indent)
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError:
        source.fail(None, "its text cannot be read by itself: mind the indentation of what continues a line")
    found = tree.body[0] if tree.body else None
    if not isinstance(found, ast.FunctionDef):
        source.fail(found, "an asynchronous function is no kernel" if found is not None else "it has no text")
    return source, found


def of_lambda(code: Any) -> tuple[Source, ast.Lambda]:
    """The text of a lambda, which is told from others by where its code says it stands."""
    lines = linecache.getlines(code.co_filename)
    source = Source(code.co_name, code.co_filename, lines, 1, 0)
    # What is at no place belongs to the call itself.
    places = [(a, c, b, d) for a, b, c, d in code.co_positions() if a and b and c is not None and d and (a, c) < (b, d)]
    begin, end = min((p[:2] for p in places), default=(0, 0)), max((p[2:] for p in places), default=(0, 0))
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    fitting: list[tuple[int, ast.Lambda]] = []
    for node in ast.walk(ast.parse("".join(lines))):
        if not isinstance(node, ast.Lambda):
            continue
        body = node.body
        last = (body.end_lineno or 0, body.end_col_offset or 0)
        named = tuple(a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
        if named == arguments and (body.lineno, body.col_offset) <= begin and end <= last:
            fitting.append((last[0] - body.lineno, node))
    if fitting:
        # The innermost of those that it is in.
        return source, min(fitting, key=lambda each: (each[0], -each[1].body.col_offset))[1]
    at = ast.Pass(lineno=code.co_firstlineno, col_offset=0)
    source.fail(at, "which lambda of its line it is cannot be told; give it a name with def")


@overload
def kernel(function: Callable[..., Any], /, *, derivative: Callable[..., Any] | None = None) -> Kernel: ...
@overload
def kernel(*, derivative: Callable[..., Any] | None = None) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Callable[..., Any] | None = None, /, *, derivative: Callable[..., Any] | None = None) -> Any:
    """Makes an elementwise operation of a function of numbers: a decorator.

    The function is read, not called. What it says of numbers holds for each element of its arguments, whose shapes broadcast; its
    numbers and dtypes are promoted as in the operations that it consists of. It is computed in one pass with its neighbours, on any
    device, and has gradients of any order.

    >>> import micrograd_rs as mg
    >>> @mg.kernel
    ... def leaky(x, slope=0.01):
    ...     if x > 0:
    ...         return x
    ...     return slope * x
    >>> leaky(mg.tensor([2.0, -2.0])).tolist()
    [2.0, -0.01999...]

    It consists of assignments, arithmetic, comparisons, `and`, `or`, `not`, `if`, conditional expressions, `for` over `range(n)` with a
    constant `n` (it is unrolled), `break`, `continue`, `return`, functions of `math` and elementwise ones of this package, and calls of other
    kernels. Arguments after `*` are constants. Numbers from around it are read, and looked at again in each call.

    Arguments:
        function: a function of numbers; without one, as a decorator with options, the answer makes a kernel of the next
        derivative: a function of the same arguments that answers with the derivative by each of them, in place of that which follows from
            `function`; see `Kernel.gradient`. None takes that

    Errors: KernelError, which points at the line, for what is not supported.
    """
    if function is None:

        def made(function: Callable[..., Any]) -> Kernel:
            return Kernel(function, derivative)

        return made
    return Kernel(function, derivative)


