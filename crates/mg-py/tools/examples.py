"""Writes what examples print behind them: in words.txt, in docstrings, in Rust's documentation of what Python sees.

    python tools/examples.py                of operations
    python tools/examples.py FILE…          of other files
    python tools/examples.py --check …      says whether they are as they would be written

An example is lines that begin with `>>>` or `...`; what it printed is all up to the next one, or to a line that ends the text. Where that has an
ellipsis or is an error, or the line says SKIP, it stays. The built package must be importable; `mg` is that.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import linecache
import re
import sys
import traceback
from pathlib import Path
from typing import Any

import micrograd_rs as mg

CRATE = Path(__file__).parent.parent
PACKAGE = CRATE / "python"
LINE = re.compile(r"(\s*(?:/// )?)(>>>|\.\.\.)( |$)(.*)")


def globals_of(path: Path) -> dict[str, Any]:
    """The names that a file's examples may use: those of its module, as doctest has it, and the package."""
    if path.suffix != ".py":
        return {"mg": mg}
    name = ".".join(path.resolve().relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    return {**vars(importlib.import_module(name)), "mg": mg}


def printed(source: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    # What reads a function's text finds it, as in doctest.
    name = f"<example {len(linecache.cache)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, name, "single"), names)
        except Exception as error:
            print("Traceback (most recent call last):\n    ...\n" + "".join(traceback.format_exception_only(error)).strip())
    return out.getvalue()


def is_told(line: str, indent: str) -> bool:
    """Whether a line behind an example is what it printed."""
    ends = line.strip() in ("", "///", '"""') or line.startswith("== ")
    return not ends and line.startswith(indent) and not LINE.fullmatch(line)


def written(path: Path) -> str:
    """A file with what its examples print."""
    lines = path.read_text(encoding="utf-8").split("\n")
    fresh, out, i = globals_of(path), [], 0
    names = dict(fresh)
    while i < len(lines):
        found = LINE.fullmatch(lines[i])
        if not found or found[2] != ">>>":
            # A new entry, docstring or item begins with nothing defined.
            if lines[i].startswith("== ") or '"""' in lines[i] or path.suffix == ".rs" and not lines[i].lstrip().startswith("///"):
                names = dict(fresh)
            out.append(lines[i])
            i += 1
            continue
        indent, source = found[1], [found[4]]
        out.append(lines[i])
        i += 1
        while i < len(lines) and (more := LINE.fullmatch(lines[i])) and more[2] == "...":
            source.append(more[4])
            out.append(lines[i])
            i += 1
        told = []
        while i < len(lines) and is_told(lines[i], indent):
            told.append(lines[i])
            i += 1
        # A docstring is Python's text, in which a backslash is two.
        one, two = ("\\", "\\\\") if path.suffix == ".py" else ("\\", "\\")
        text = "" if "SKIP" in source[0] else printed("\n".join(source).replace(two, one) + "\n", names).replace(one, two)
        keep = "SKIP" in source[0] or any("..." in line or "Traceback" in line for line in told)
        out += told if keep else [f"{indent}{line}".rstrip() if line else f"{indent}<BLANKLINE>" for line in text.rstrip("\n").split("\n") if text]
    return "\n".join(out)


def main() -> int:
    paths = [Path(a) for a in sys.argv[1:] if not a.startswith("-")] or [CRATE / "src" / "surface" / "words.txt"]
    stale = [(path, text) for path in paths if (text := written(path)) != path.read_text(encoding="utf-8")]
    for path, text in stale:
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        print(path)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
