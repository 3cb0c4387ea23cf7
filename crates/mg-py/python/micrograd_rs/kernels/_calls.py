"""Calls in a kernel's text: of Python's own functions, of `math`, of elementwise operations, and of other kernels."""

from __future__ import annotations

import ast
import builtins
import math
from typing import TYPE_CHECKING, Any

from .. import _micrograd_rs as rs
from ._values import NOT_OF_MATH, OF_MATH, OF_NUMPY, Element, Known, is_tuple, kind_of

if TYPE_CHECKING:
    from ._read import Names, Reader

_NAMES: dict[str, tuple[str, list[str]]] = {}


def operations() -> dict[str, tuple[str, list[str]]]:
    """The elementwise operations by their names: what each is called first, and its arguments after the first."""
    if not _NAMES:
        _NAMES.update({name: (own, params) for name, own, params in rs._elementwise()})
    return _NAMES


def called(reader: Reader, node: ast.Call, names: Names) -> Any:
    """What a call answers with."""
    if any(isinstance(arg, ast.Starred) for arg in node.args) or any(k.arg is None for k in node.keywords):
        reader.fail(node, "`*` and `**` in a call are not supported")
    if isinstance(node.func, ast.Attribute):
        of: Any = reader.value(node.func.value, names)
        if isinstance(of, Element):
            return method(reader, node, of, names)
        function: Any = reader.attribute(node.func, of)
    else:
        function = reader.value(node.func, names)
    if not isinstance(function, Known):
        reader.fail(node.func, "a number is not called")
    from ._kernel import Kernel

    if isinstance(function.value, Kernel):
        return of_kernel(reader, node, function, names)
    if function.value is rs.where:
        return chosen(reader, node, names)
    args = [reader.plain(arg, reader.value(arg, names)) for arg in node.args]
    keywords = {str(k.arg): reader.plain(k.value, reader.value(k.value, names)) for k in node.keywords}
    plain = getattr(function.value, "__module__", None)
    if plain == "builtins" and function.value is getattr(builtins, function.value.__name__, None):
        return of_builtin(reader, node, function, args, keywords)
    if plain == "math":
        return of_math(reader, node, function, args, keywords)
    name = name_of(function.value)
    if name is None:
        what = "no kernel; mark it with @mg.kernel" if callable(function.value) else "no function"
        own = getattr(function.value, "__name__", "")
        if getattr(function.value, "__module__", "") is None and own:
            what = "no elementwise function: a kernel sees one element of each tensor"
        reader.fail(node, f"'{function.name}' is {what}")
    reader.capture(function)
    return applied(reader, node, name, args, keywords)


def name_of(function: Any) -> str | None:
    """The elementwise operation that a function is."""
    name: Any = getattr(function, "__name__", None)
    kind = kind_of(function)
    if kind.__name__ == "ufunc" and kind.__module__ == "numpy":
        name = OF_NUMPY.get(name, name)
        return name if name in operations() else None
    if name not in operations() or getattr(function, "__module__", "") is not None:
        return None
    from .. import functional, nn, special

    places: list[Any] = [rs, nn.functional, special, functional]
    from .. import _ops

    return name if any(getattr(place, name, None) is function for place in [*places, _ops]) else None


def method(reader: Reader, node: ast.Call, of: Element, names: Names) -> Any:
    """`x.exp()`, `x.clamp(0, 1)`."""
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    args = [reader.plain(arg, reader.value(arg, names)) for arg in node.args]
    keywords = {str(k.arg): reader.plain(k.value, reader.value(k.value, names)) for k in node.keywords}
    if name == "where" and len(args) == 2 and not keywords:
        return reader.select(node, reader.truth(node, args[0]), of, args[1])
    if name not in operations():
        reader.fail(node, f"'{name}' is no elementwise method: a kernel sees one element of each tensor")
    return applied(reader, node, name, [of, *args], keywords)


def applied(reader: Reader, node: ast.AST, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
    """An elementwise operation, with its arguments put in their order."""
    own, params = operations()[name]
    seats: list[Any] = [*args]
    given = set(params[: max(len(args) - 1, 0)])
    for keyword, value in keywords.items():
        if keyword in ("input", "x", "self") and not seats:
            seats.append(value)
            continue
        if keyword not in params:
            takes = f"takes {', '.join(params)}" if params else "takes no keywords"
            reader.fail(node, f"{name}() {takes}, not '{keyword}'")
        if keyword in given:
            reader.fail(node, f"{name}() got '{keyword}' twice")
        at = params.index(keyword) + 1
        seats.extend([None] * (at + 1 - len(seats)))
        seats[at] = value
    if not seats:
        reader.fail(node, f"{name}() takes at least one argument")
    return reader.operation(node, own, *seats)


def chosen(reader: Reader, node: ast.Call, names: Names) -> Any:
    """`where(c, a, b)`: as the conditional expression, but for gradients, which are those of a choice between numbers that are there."""
    if len(node.args) != 3 or node.keywords:
        reader.fail(node, "where() takes a condition and two numbers here")
    condition, yes, no = (reader.plain(arg, reader.value(arg, names)) for arg in node.args)
    return reader.select(node, reader.truth(node.args[0], condition), yes, no)


def of_builtin(reader: Reader, node: ast.Call, function: Known, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Python's own functions."""
    name: str = function.value.__name__
    if not any(isinstance(a, Element) or is_tuple(a) for a in args):
        if name in ("abs", "bool", "float", "int", "len", "max", "min", "pow", "round", "sum"):
            return reader.folded(node, function.value, *args)
    elif keywords and name != "round":
        reader.fail(node, f"{name}() takes no keywords here")
    match name, args:
        case ("abs", [x]):
            return reader.operation(node, "abs", reader.counted(node, x) if reader.is_truth(x) else x)
        case ("min" | "max", [several]) if is_tuple(several) and several:
            return extreme(reader, node, name, list(several))
        case ("min" | "max", [_, _, *_]):
            return extreme(reader, node, name, args)
        case ("sum", [several]) if is_tuple(several):
            total: Any = 0
            for item in several:
                total = reader.arithmetic(node, ast.Add(), total, item)
            return total
        case ("len", [several]) if is_tuple(several):
            return len(several)
        case ("pow", [x, y]):
            return reader.arithmetic(node, ast.Pow(), x, y)
        case ("divmod", [x, y]):
            return reader.arithmetic(node, ast.FloorDiv(), x, y), reader.arithmetic(node, ast.Mod(), x, y)
        case ("round", [x]) if not keywords or list(keywords) == ["ndigits"]:
            return reader.operation(node, "round", x, *keywords.values())
        case ("round", [x, digits]) if not keywords:
            return reader.operation(node, "round", x, digits)
        case ("bool", [x]):
            return reader.truth(node, x)
        case ("float" | "int", [x]):
            at = reader.step(node, x)
            key, builder = (name, at), reader.program.builder
            return Element(reader.program.once(key, lambda: builder.cast(name, at)))
        case _:
            count = f" with {len(args)} arguments" if name in ("abs", "min", "max", "round", "int", "float", "bool", "pow") else ""
            text = f"'{name}'{count} is not supported; of Python's functions a kernel calls abs, min, max, sum of a tuple, round, pow, "
            reader.fail(node, text + "divmod, int, float and bool")


def extreme(reader: Reader, node: ast.AST, name: str, values: list[Any]) -> Any:
    """The smallest or the largest of several."""
    found = values[0]
    function = builtins.min if name == "min" else builtins.max
    for value in values[1:]:
        if isinstance(found, Element) or isinstance(value, Element):
            # The tensor first: a number takes its dtype.
            first, second = (found, value) if isinstance(found, Element) else (value, found)
            found = reader.operation(node, "minimum" if name == "min" else "maximum", first, second)
        else:
            found = reader.folded(node, function, found, value)
    return found


def of_math(reader: Reader, node: ast.Call, function: Known, args: list[Any], keywords: dict[str, Any]) -> Any:
    """The functions of `math`."""
    name: str = function.value.__name__
    reader.capture(function)
    if not any(isinstance(a, Element) for a in [*args, *keywords.values()]):
        if name == "isclose":
            return math.isclose(*args, **keywords)
        return reader.folded(node, function.value, *args)
    own = OF_MATH.get(name, name)
    if name in NOT_OF_MATH or own not in operations() or (keywords and name != "isclose"):
        reader.fail(node, f"'math.{name}' is not supported in a kernel")
    if name == "log" and len(args) == 2:
        base = args[1]
        below: Any = reader.operation(node, "log", base) if isinstance(base, Element) else reader.folded(node, math.log, base)
        return reader.arithmetic(node, ast.Div(), reader.operation(node, "log", args[0]), below)
    if name == "isclose":
        names = {"rel_tol": "rtol", "abs_tol": "atol"}
        # As `math` has it, 1e-9 of the second, and nothing besides.
        options = {"rtol": 1e-9, "atol": 0.0} | {names.get(k, k): v for k, v in keywords.items()}
        return applied(reader, node, "isclose", args, options)
    if name in ("hypot", "gcd", "lcm") and len(args) > 2:
        found = args[0]
        for value in args[1:]:
            found = reader.operation(node, own, found, value)
        return found
    value = applied(reader, node, own, args, {})
    if name in ("floor", "ceil", "trunc"):
        # Whole numbers, in the dtype of the element.
        return value
    return value


def of_kernel(reader: Reader, node: ast.Call, function: Known, names: Names) -> Any:
    """A call of a kernel: its steps, or the one that it is where it has a gradient of its own."""
    kernel = function.value
    reader.capture(function)
    args = [reader.plain(arg, reader.value(arg, names)) for arg in node.args]
    keywords = {str(k.arg): reader.plain(k.value, reader.value(k.value, names)) for k in node.keywords}
    try:
        values, constants = kernel._bound(tuple(args), keywords)
    except TypeError as error:
        reader.fail(node, str(error))
    for name, value in constants.items():
        if isinstance(value, Element):
            reader.fail(node, f"'{name}' of {kernel.__name__} stands after `*`: it is a constant of that kernel")
    return kernel._within(reader, node, values, constants)
