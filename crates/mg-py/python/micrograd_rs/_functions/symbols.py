"""What PyTorch's compiler has symbols for: here sizes are numbers, and conditions are read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def sym_int(a: Any) -> int:
    """`int(a)`: sizes are numbers.

    Arguments:
        a: a number

    >>> mg.sym_int(3.7)
    3
    """
    return int(a)


def sym_float(a: Any) -> float:
    """`float(a)`.

    Arguments:
        a: a number

    >>> mg.sym_float(3)
    3.0
    """
    return float(a)


def sym_max(a: Any, b: Any) -> Any:
    """`max(a, b)`.

    Arguments:
        a: a number
        b: the other number

    >>> mg.sym_max(1, 2)
    2
    """
    return max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """`min(a, b)`.

    Arguments:
        a: a number
        b: the other number

    >>> mg.sym_min(1, 2)
    1
    """
    return min(a, b)


def sym_not(a: Any) -> bool:
    """`not a`.

    Arguments:
        a: a truth value

    >>> mg.sym_not(False)
    True
    """
    return not a


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t if b else f`.

    Arguments:
        b: a truth value
        t: the answer where it holds
        f: the answer where it does not

    >>> mg.sym_ite(True, 1, 2)
    1
    """
    return t if b else f


def sym_sum(args: Sequence[Any]) -> Any:
    """`sum(args)`.

    Arguments:
        args: a list of numbers

    >>> mg.sym_sum([1, 2, 3])
    6
    """
    return sum(args)


def sym_sqrt(a: Any) -> float:
    """`math.sqrt(a)`.

    Arguments:
        a: a number that is not negative

    >>> mg.sym_sqrt(9)
    3.0
    """
    return math.sqrt(a)


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """What one of two functions makes of the operands. The condition is read: `where` chooses element by element, and without reading.

    Arguments:
        pred: a truth value, or a tensor of one
        true_fn: the function where it holds
        false_fn: the function where it does not
        operands: what the function is called with, a list or tuple

    >>> from micrograd_rs import cond, tensor
    >>> cond(tensor(True), lambda x: x + 1, lambda x: x - 1, (tensor(1.0),)).item()
    2.0
    """
    return (true_fn if bool(pred) else false_fn)(*operands)
