"""What it takes to add something, as the pages `docs/add-a….md` tell it: each example is named by hand in so many files and no more, and a page
links to those that it is about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CRATES = ROOT / "crates"
WRITTEN_BY_TOOLS = "Written by tools/"

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the sources are not here")


def named_in(word: str) -> list[str]:
    """The files of the library, written by hand, in which a word stands."""
    pattern = re.compile(rf"\b(?:{word})\b")
    found: list[str] = []
    for file in [*CRATES.glob("*/src/**/*.rs"), *(CRATES / "mg-py" / "python").glob("**/*.py")]:
        text = file.read_text(encoding="utf-8")
        if pattern.search(text) and WRITTEN_BY_TOOLS not in text[:300]:
            found.append(file.relative_to(ROOT).as_posix())
    return sorted(found)


@pytest.mark.parametrize(
    ("word", "most"),
    [
        ("swapdims", 1),  # a name of Python's alone
        ("lerp", 1),  # an operation that is composed
        ("RMSprop|RMSpropOptions", 3),  # an optimiser
        ("Lion|LionOptions", 3),
        ("RMSNorm|RmsNorm", 4),  # a layer
    ],
)
def test_additions_touch_few_files(word: str, most: int) -> None:
    files = named_in(word)
    assert 1 <= len(files) <= most, files


@pytest.mark.parametrize(("page", "word"), [("add-a-dtype.md", "U16"), ("add-an-optimiser.md", "Lion|LionOptions")])
def test_pages_link_to_all_that_is_touched(page: str, word: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    links = set(re.findall(r"\]\(\.\./([^)#]+)\)", text))
    missing = [file for file in named_in(word) if file not in links]
    assert not missing, f"docs/{page} does not tell of them"
