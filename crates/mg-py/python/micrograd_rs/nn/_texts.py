"""Modules as text: what is printed of them, what notebooks show, and how an error tells which of them failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Module


def text(module: Module) -> str:
    """What is printed of a module: its parts in lines of their own, with theirs within."""
    from .module import Module

    parts = list(module._own(("module",), Module))
    lines = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in parts]
    extra = module.extra_repr()
    if not lines:
        if "\n" in extra:
            return f"{module._get_name()}(\n  " + extra.replace("\n", "\n  ") + "\n)"
        return f"{module._get_name()}({extra})"
    words = [*extra.split("\n"), *lines] if extra else lines
    return f"{module._get_name()}(\n  " + "\n  ".join(words) + "\n)"


def html(module: Module) -> str:
    """What notebooks show of a module."""
    from html import escape

    def part(name: str, module: Module) -> str:
        count = sum(p.numel() for p in module.parameters())
        head = f"{escape(name)}<b>{escape(module._get_name())}</b>({escape(module.extra_repr())}) <small>{count:,} parameters</small>"
        parts = "".join(part(f"({n}): ", child) for n, child in module.named_children())
        if not parts:
            return f"<div style='margin-left:1.2em'>{head}</div>"
        return f"<details open='open' style='margin-left:1.2em'><summary>{head}</summary>{parts}</details>"

    return part("", module)


def tell_where(error: Exception, module: Module) -> None:
    """Puts the place of the module that failed before an error's words: `encoder.3.linear: takes […, 64], got …`. A number
    alone does not say what fails: `3 (Linear): takes …`.
    """
    if len(error.args) != 1 or not isinstance(error.args[0], str):
        return
    inner, words = getattr(error, "_from", (module, error.args[0]))
    if inner is module:
        error._from = module, words  # type: ignore[attr-defined]
        return
    place = next((name for name, part in module.named_modules() if part is inner), None)
    if place:
        op, _, rest = words.partition(": ")
        own = op.replace("_", "").lower() == type(inner).__name__.lower()
        if own and place.rpartition(".")[2].isdigit():
            place += f" ({type(inner).__name__})"
        error.args = (f"{place}: {rest if own else words}",)
