"""What the docstrings of several classes share is written once, in a class that they share or beside them, and put into each of them."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

_SECTIONS = ("Shapes:", "Arguments:", "Errors:")


class _Words:
    """A docstring in parts: the paragraphs that begin with a section's name, what each argument means, and the rest."""

    __slots__ = ("rest", "sections", "meanings")

    def __init__(self, text: str) -> None:
        self.rest: list[str] = []
        self.sections: dict[str, str] = {}
        self.meanings: dict[str, str] = {}
        for paragraph in text.split("\n\n"):
            name, _, body = paragraph.partition("\n")
            if name == "Arguments:":
                self._read(body)
            elif paragraph.startswith(_SECTIONS):
                self.sections[paragraph[: paragraph.index(":") + 1]] = paragraph
            else:
                self.rest.append(paragraph)

    def _read(self, body: str) -> None:
        """The lines of arguments. What is said of several at once is the meaning of each."""
        names: list[str] = []
        for line in body.split("\n"):
            if line[4:5] != " ":
                names = line[4 : line.index(":")].split(", ")
                self.meanings.update(dict.fromkeys(names, line))
            else:
                self.meanings.update({name: f"{self.meanings[name]}\n{line}" for name in names})


def _taken(kind: type) -> list[str]:
    """The arguments of a class that users give."""
    code = getattr(getattr(kind, "__init__"), "__code__", None)
    if code is None:
        return []
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return [name for name in names if not name.startswith("_")]


def share_words(classes: Iterable[type], shared: str) -> None:
    """Has the docstring of each class say what it leaves to `shared`, and then to the classes that it is made of: the meaning of arguments, shapes and
    errors. What a class says itself stands.
    """
    said: dict[type, _Words] = {}
    nothing, beside = _Words(""), _Words(cleandoc(shared))
    made: list[tuple[type, str]] = []
    for kind in classes:
        if not kind.__doc__:
            # Python was told to keep none.
            continue
        for each in kind.__mro__:
            if each not in said:
                text: Any = vars(each).get("__doc__") if each.__module__.startswith("micrograd_rs.") else None
                said[each] = _Words(cleandoc(text)) if text else nothing
        own, above = said[kind], [said[each] for each in kind.__mro__[1:] if said[each] is not nothing]
        nearest = [own, beside, *above]
        taken = _taken(kind)
        lines = [line for name, line in own.meanings.items() if name not in taken]
        for name in taken:
            lines += [next((words.meanings[name] for words in nearest if name in words.meanings), "")]
        parts = {name: next((words.sections[name] for words in nearest if name in words.sections), "") for name in _SECTIONS}
        if any(lines):
            parts["Arguments:"] = "\n".join(["Arguments:", *dict.fromkeys(line for line in lines if line)])
        made.append((kind, "\n\n".join([*own.rest, *(part for part in parts.values() if part)])))
    for kind, text in made:
        kind.__doc__ = text
