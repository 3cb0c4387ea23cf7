"""Runs the Python of a page, block by block, and compares what each prints with what the page says it printed.

    python pages.py page.md …            compares
    python pages.py --write page.md …    writes what was printed into the page

A block that begins ```` ```python ```` is run, in one namespace for the whole page, in a folder of its own. A
block ```` ```text ```` right behind it is what it printed: `…` stands for anything within a line, and a line
`…` for any lines. A page is run in a Python of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[ ]*$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """Python of a page, and where the text that it prints stands."""

    line: int
    code: str
    shown: str | None
    span: tuple[int, int]


def blocks(text: str) -> list[Block]:
    """The blocks of Python in a page."""
    found: list[Block] = []
    fences = list(FENCE.finditer(text))
    for fence, after in zip(fences, [*fences[1:], None]):
        if fence[1] != "python":
            continue
        answered = after is not None and after[1] == "text" and not text[fence.end() : after.start()].strip()
        shown, span = (after[2], after.span(2)) if after is not None and answered else (None, (0, 0))
        found.append(Block(text.count("\n", 0, fence.start()) + 2, fence[2], shown, span))
    return found


def same(printed: str, shown: str) -> bool:
    """Whether a text is what a page shows, where `…` stands for anything."""
    lines = [line.rstrip() for line in shown.strip().splitlines()]
    pattern = "\n".join("(?s:.*)" if line == "…" else re.escape(line).replace("…", ".*") for line in lines)
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed.strip().splitlines())) is not None


def printed(page: Path) -> list[str]:
    """What each block of a page prints, run in another Python."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", "error::SyntaxWarning", __file__, "--run", str(page.resolve())],
            cwd=folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
    if done.returncode:
        raise AssertionError(f"{page.name}:\n{done.stderr}")
    return json.loads(done.stdout.rsplit("\n", 2)[-2])


def _run(page: Path) -> None:
    """Runs a page here; the last line of the output is a list of what each block printed."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    texts: list[str] = []
    for block in blocks(page.read_text("utf-8")):
        # Lines in messages are the page's.
        program = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as text:
            exec(program, namespace)
        texts.append(text.getvalue())
    print("\n" + json.dumps(texts))


def differences(page: Path) -> list[str]:
    """What a page says otherwise than its blocks print."""
    found: list[str] = []
    for block, text in zip(blocks(page.read_text("utf-8")), printed(page), strict=True):
        if block.shown is None and text:
            found.append(f"{page.name}:{block.line}: prints what the page does not show:\n{text}")
        elif block.shown is not None and not same(text, block.shown):
            found.append(f"{page.name}:{block.line}: prints\n{text}\nand the page shows\n{block.shown}")
    return found


def write(page: Path) -> None:
    """Writes what a page's blocks print into it, where it shows something else."""
    text = page.read_text("utf-8")
    for block, new in reversed(list(zip(blocks(text), printed(page), strict=True))):
        if block.shown is not None and not same(new, block.shown):
            text = text[: block.span[0]] + new.rstrip() + "\n" + text[block.span[1] :]
        elif block.shown is None and new:
            print(f"{page}:{block.line}: prints, and no ```text follows")
    page.write_text(text, "utf-8")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--run"]:
        _run(Path(arguments[1]))
        return 0
    if arguments[:1] == ["--write"]:
        for name in arguments[1:]:
            write(Path(name))
        return 0
    wrong = [line for name in arguments for line in differences(Path(name))]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
