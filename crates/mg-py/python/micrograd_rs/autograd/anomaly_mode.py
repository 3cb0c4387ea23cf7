"""Looking for the operation that made the first NaN."""

from __future__ import annotations

from .._micrograd_rs import _anomaly_mode, _set_detect_anomaly, _Switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled", "set_detect_anomaly"]


class set_detect_anomaly(_Switch):
    """Looks for NaN from now on (or no longer), and no more (or again) after a `with` block.

    Each gradient that is computed is looked at, and the first with a NaN is an error that names the operation and the line that called
    it; so is a result that is NaN before there are gradients. Every operation is computed by itself then, and `jit` runs plainly: for
    finding mistakes only. With `check_nan=False` nothing is looked at.

    Arguments:
        mode: whether NaN is looked for
        check_nan: whether gradients are looked at

    >>> x = mg.tensor([0.0], requires_grad=True)
    >>> try:
    ...     with mg.autograd.set_detect_anomaly(True):
    ...         (x / x).sqrt().sum().backward()
    ... except RuntimeError:
    ...     print("NaN")
    NaN
    """

    def __new__(cls, mode: bool, check_nan: bool = True) -> Self:
        return _Switch.__new__(cls, anomaly=(mode, check_nan), at_once=True)


class detect_anomaly(_Switch):
    """A block in which NaN is looked for: see `set_detect_anomaly`.

    Arguments:
        check_nan: whether gradients are looked at

    >>> x = mg.tensor([0.0], requires_grad=True)
    >>> try:
    ...     with mg.autograd.detect_anomaly():
    ...         (x / x).sqrt().sum().backward()
    ... except RuntimeError:
    ...     print("NaN")
    NaN
    """

    def __new__(cls, check_nan: bool = True) -> Self:
        return _Switch.__new__(cls, anomaly=(True, check_nan))


def is_anomaly_enabled() -> bool:
    """Whether NaN is looked for.

    >>> with mg.autograd.detect_anomaly():
    ...     mg.is_anomaly_enabled()
    True
    """
    return _anomaly_mode()[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether gradients are looked at.

    >>> with mg.autograd.set_detect_anomaly(True, check_nan=False):
    ...     mg.is_anomaly_check_nan_enabled()
    False
    """
    return _anomaly_mode()[1]


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Looks for NaN from now on, or no longer: `set_detect_anomaly` as a function.

    Arguments:
        mode: whether NaN is looked for
        check_nan: whether gradients are looked at

    >>> mg.set_anomaly_enabled(True)
    >>> mg.is_anomaly_enabled()
    True
    >>> mg.set_anomaly_enabled(False)
    """
    _set_detect_anomaly(mode, check_nan)
