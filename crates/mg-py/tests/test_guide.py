"""The guide: its Python runs and prints what the pages show, its Rust is run by cargo, and its links lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import pages

ROOT = Path(__file__).parent.parent.parent.parent
SOURCE = ROOT / "docs" / "guide" / "src"
PAGES = sorted(SOURCE.glob("*.md"))
# Beside the guide; kernels.md and the README have tests of their own.
OTHERS = [ROOT / "docs" / "checkpoints.md", ROOT / "docs" / "derivatives.md"]
REPOSITORY = "https://github.com/micrograd-rs/micrograd-rs/blob/main/"


def test_what_is_shown_is_compared():
    text = "a\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n```python\nx = 2\n```\n\nb\n\n```text\nno answer\n```\n"
    first, second = pages.blocks(text)
    assert (first.line, first.code, first.shown, second.shown) == (4, "print(1)\n", "1\n", None)
    assert pages.same("a 1.25 s\nb\n", "a … s\nb\n") and pages.same("a\nx\ny\nb", "a\n…\nb")
    assert not pages.same("a\n", "b\n") and not pages.same("a\nb\n", "a\n") and not pages.same("a\nx\nb", "a\n… b")


def test_a_page_that_lies_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```python\nprint(4)\n```\n")
    wrong, unsaid = pages.differences(page)
    assert "page.md:2: prints\n2" in wrong and "page.md:10: prints what the page does not show" in unsaid
    pages.write(page)
    assert "```text\n2\n```" in page.read_text()
    page.write_text("```python\n\nnothing\n```\n")
    with pytest.raises(AssertionError, match=r'page.md", line 3'):
        pages.differences(page)


@pytest.mark.parametrize("page", [*(p for p in PAGES if "```python" in p.read_text("utf-8")), *OTHERS], ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_page(page):
    assert not pages.differences(page)


def test_every_page_is_in_the_contents():
    listed = re.findall(r"\]\((.+?)\)", (SOURCE / "SUMMARY.md").read_text("utf-8"))
    assert sorted(listed) == sorted(p.name for p in PAGES if p.name != "SUMMARY.md")


def test_rust_of_every_page_is_run_by_cargo():
    run = re.findall(r'"(.+?\.md)"', (ROOT / "src" / "guide.rs").read_text("utf-8"))
    assert sorted(run) == [p.name for p in PAGES if re.search(r"^```rust", p.read_text("utf-8"), re.MULTILINE)]


def anchors(page):
    """The names by which a page's parts are linked to."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8"))
    for link in re.findall(r"\]\((.+?)\)", text):
        if link.startswith(REPOSITORY):
            assert (ROOT / link.removeprefix(REPOSITORY).partition("#")[0]).exists(), link
        elif not link.startswith("https://"):
            name, _, part = link.partition("#")
            target = SOURCE / name if name else page
            assert target.exists(), link
            assert not part or part in anchors(target), link
