"""What a kernel's text is about while it is read: values of elements, numbers, and what the text knows from around it."""

from __future__ import annotations

import math
import operator as _operator
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# As the checkers know them, half of its functions are of nothing in particular.
operator: Any = _operator

Number = bool | int | float
"""A number that is the same in all calls."""


class Element:
    """The value of an element: the number of a step that computes it, and whether that is a truth value."""

    __slots__ = ("at", "is_truth")

    def __init__(self, at: int, is_truth: bool = False) -> None:
        self.at = at
        self.is_truth = is_truth


class Known:
    """An object that the text knows from around it, and how it is found again."""

    __slots__ = ("find", "is_fixed", "name", "value")

    def __init__(self, value: Any, name: str, find: Callable[[], Any], is_fixed: bool = False) -> None:
        self.value = value
        self.name = name
        self.find = find
        # Members of modules such as `math` stay what they are.
        self.is_fixed = is_fixed

    def member(self, name: str) -> Known:
        """An attribute of it."""
        value = getattr(self.value, name)
        fixed = isinstance(self.value, ModuleType) and self.value.__name__.split(".")[0] in ("math", "micrograd_rs", "numpy")
        return Known(value, f"{self.name}.{name}", lambda: getattr(self.find(), name), fixed)

    def item(self, key: Any) -> Known:
        """An item of it."""
        return Known(self.value[key], f"{self.name}[{key!r}]", lambda: self.find()[key])


class Unassigned:
    """What a name stands for that was assigned in one branch only, if at all."""

    __slots__ = ()


UNASSIGNED = Unassigned()


def kind_of(value: Any) -> Any:
    """The class of an object."""
    kind: Any = type
    return kind(value)


def is_tuple(value: Any) -> bool:
    """Whether it is a tuple."""
    return isinstance(value, tuple)


def tuple_of(value: Any) -> tuple[Any, ...]:
    """A tuple as one."""
    items: tuple[Any, ...] = value
    return items


def is_sequence(value: Any) -> bool:
    """Whether it is a tuple or a list."""
    return isinstance(value, tuple | list)


def as_number(value: Any) -> Number | None:
    """The number that an object is, if it is one."""
    if isinstance(value, bool | int | float):
        return value
    # NumPy's scalars.
    if kind_of(value).__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item"):
        found: Any = value.item()
        return found if isinstance(found, bool | int | float) else None
    return None


def is_same(a: Any, b: Any) -> bool:
    """Whether a captured object is what it was: the same number, or the same object."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (a == b and math.copysign(1.0, a) == math.copysign(1.0, b)) or (a != a and b != b)
    if isinstance(a, bool | int | str):
        return bool(a == b)
    if is_sequence(a):
        return len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, range):
        return bool(a == b)
    found = as_number(a)
    return found is not None and is_same(found, as_number(b))


BINARY: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Add": ("add", operator.add),
    "Sub": ("sub", operator.sub),
    "Mult": ("mul", operator.mul),
    "Div": ("div", operator.truediv),
    "FloorDiv": ("floor_divide", operator.floordiv),
    "Mod": ("remainder", operator.mod),
    "Pow": ("pow", operator.pow),
    "BitAnd": ("bitwise_and", operator.and_),
    "BitOr": ("bitwise_or", operator.or_),
    "BitXor": ("bitwise_xor", operator.xor),
    "LShift": ("bitwise_left_shift", operator.lshift),
    "RShift": ("bitwise_right_shift", operator.rshift),
}
COMPARISONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Lt": ("lt", operator.lt),
    "LtE": ("le", operator.le),
    "Gt": ("gt", operator.gt),
    "GtE": ("ge", operator.ge),
    "Eq": ("eq", operator.eq),
    "NotEq": ("ne", operator.ne),
}
UNARY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "USub": ("neg", operator.neg),
    "UAdd": ("positive", operator.pos),
    "Invert": ("bitwise_not", operator.invert),
}

# What answers with truth values.
TRUTHS = frozenset(
    """eq ne lt le gt ge logical_and logical_or logical_xor logical_not isnan isinf isfinite isposinf isneginf isreal signbit
    isclose""".split()
)

# Functions of `math` that have another name here, or none.
OF_MATH = {
    "fabs": "abs",
    "degrees": "rad2deg",
    "radians": "deg2rad",
}
NOT_OF_MATH = frozenset("remainder gamma fsum prod dist comb perm factorial modf frexp isqrt ulp".split())

# Ufuncs of NumPy that have another name here.
OF_NUMPY = {
    "power": "pow",
    "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "degrees": "rad2deg",
    "radians": "deg2rad",
    "float_power": "float_power",
    "mod": "remainder",
    "fabs": "abs",
}
