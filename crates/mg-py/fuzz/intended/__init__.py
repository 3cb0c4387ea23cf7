"""Differences from the reference that are meant to be, each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import dtypes, functions, histories, matrices
from .errors import KINDS, OUTCOMES, SAVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..compare import Difference
    from ..program import Program
    from ..run import Raised

DIFFERENCES = [*histories.DIFFERENCES, *dtypes.DIFFERENCES, *matrices.DIFFERENCES, *functions.DIFFERENCES]


def outcome(line: str, wanted: Raised | None, got: Raised | None, reference: str) -> str | None:
    """Why one of the two raises and the other does not."""
    differentiates = any(word in line for word in ("backward(", "G(", "f("))
    if reference == "numpy" and wanted is None and differentiates and SAVED.search(str(got)):
        return "Our own reference carries slopes forward and saves nothing, so nothing that was saved can be overwritten."
    return _first(OUTCOMES, line, str(wanted or ""), str(got or ""))


def kinds(line: str, wanted: Raised, got: Raised) -> str | None:
    """Why the two raise errors of different kinds."""
    return _first(KINDS, line, wanted.kind, got.kind, str(wanted), str(got))


def difference(program: Program, found: Difference, reference: str) -> str | None:
    """Why the two answer differently."""
    return _first(DIFFERENCES, program, found, reference)


def _first(reasons: Iterable[tuple[str, Callable[..., bool]]], *case: Any) -> str | None:
    """The first reason that a case meets."""
    return next((reason for reason, meets in reasons if meets(*case)), None)
