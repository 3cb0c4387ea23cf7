"""What it takes to add something, as the pages `docs/add-a….md` tell it: each example is named by hand in so many files and no more, and a page
links to those that it is about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CRATES = ROOT / "crates"
WRITTEN_BY_TOOLS = re.compile("Written by (tools/|`?cargo xtask)")

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the sources are not here")


LIBRARY = [f"crates/*/{part}" for part in ("src/**/*.rs", "python/**/*.py")]
# Whatever somebody may have to write by hand: the library, its tests, its fuzzer, tools and builds, kernels in CUDA C.
EVERYTHING = [f"{place}/**/*.{kind}" for place in ("crates", "src", "examples", "benches") for kind in ("rs", "py", "in", "toml", "sh")]
EVERYTHING += ["kernels/**/*.cu", "kernels/**/*.cuh", "kernels/**/*.py", "kernels/*.txt"]
DTYPES = {
    "U16": r"""\bU16\b|(?i:uint_?16)|["']u16["']""",
    # PTX has a type of that name, too.
    "U32": r"\bU32\b|(?i:\bk?uint32\b)",
}


def named_in(pattern: str, places: list[str] = LIBRARY) -> list[str]:
    """The files, written by hand, in which a word stands."""
    compiled = re.compile(pattern)
    found: list[str] = []
    for file in {file for place in places for file in ROOT.glob(place)} - {Path(__file__)}:
        text = file.read_text(encoding="utf-8")
        if compiled.search(text) and not WRITTEN_BY_TOOLS.search(text[:300]):
            found.append(file.relative_to(ROOT).as_posix())
    return sorted(found)


def word(name: str) -> str:
    return rf"\b(?:{name})\b"


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("swapdims", 1),  # a name of Python's alone
        ("lerp", 1),  # an operation that is composed
        ("RMSprop|RMSpropOptions", 3),  # an optimiser
        ("Lion|LionOptions", 3),
        ("RMSNorm|RmsNorm", 4),  # a layer
    ],
)
def test_additions_touch_few_files(name: str, most: int) -> None:
    files = named_in(word(name))
    assert 1 <= len(files) <= most, files


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_dtype_is_written_in_few_files(dtype: str) -> None:
    """Tests, formats of files, Python's names and stubs included: these read the table of dtypes."""
    files = named_in(DTYPES[dtype], EVERYTHING)
    assert "crates/mg-device/src/dtype.rs" in files
    assert len(files) <= 5, files


def linked(page: str) -> set[str]:
    return set(re.findall(r"\]\(\.\./([^)#]+)\)", (ROOT / "docs" / page).read_text(encoding="utf-8")))


def not_linked(files: list[str], page: str) -> set[str]:
    """The files that a page links to neither itself nor by their folder: "a file of …"."""
    links = linked(page)
    return {file for file in files if file not in links and Path(file).parent.as_posix() not in links}


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_page_of_dtypes_links_to_all_that_is_touched(dtype: str) -> None:
    missing = set(named_in(DTYPES[dtype], EVERYTHING)) - linked("add-a-dtype.md")
    assert not missing, "docs/add-a-dtype.md does not tell of them"


def test_the_page_of_optimisers_links_to_all_that_is_touched() -> None:
    missing = set(named_in(word("Lion|LionOptions"))) - linked("add-an-optimiser.md")
    assert not missing, "docs/add-an-optimiser.md does not tell of them"


def test_the_page_of_operations_links_to_all_that_a_row_touches() -> None:
    files = named_in(word("Ndtri|ndtri"), EVERYTHING)
    assert "crates/mg-kernels/src/rows.rs" in files
    assert not not_linked(files, "add-an-operation.md"), "docs/add-an-operation.md does not tell of them"


@pytest.mark.parametrize(("name", "places"), [("GLU|Glu", EVERYTHING), ("RMSNorm|RmsNorm", LIBRARY)])
def test_the_page_of_layers_links_to_all_that_is_touched(name: str, places: list[str]) -> None:
    files = named_in(word(name), places)
    assert "crates/mg-nn/src/lib.rs" in files
    assert not not_linked(files, "add-a-layer.md"), "docs/add-a-layer.md does not tell of them"


def test_the_page_of_kernels_links_to_all_that_is_touched() -> None:
    """Rust's files name a kernel by its types, the others by its file."""
    files = {*named_in(word("ScanKind"), EVERYTHING), "kernels/scan.cu", "kernels/variants.txt"}
    assert "crates/mg-kernels/src/library/mod.rs" in files
    missing = files - linked("add-a-kernel.md")
    assert not missing, "docs/add-a-kernel.md does not tell of them"
