"""The page about PyTorch's names: it is as it would be written, and says something of each name that is not here."""

from __future__ import annotations

import importlib.util
from pathlib import Path

CRATE = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("coverage_page", CRATE / "tools" / "coverage.py")
coverage = importlib.util.module_from_spec(spec)
spec.loader.exec_module(coverage)


def test_page_is_as_it_would_be_written():
    text, unknown = coverage.page()
    assert not unknown, f"nothing is said of {unknown}"
    assert coverage.PAGE.read_text() == text, "run python crates/mg-py/tools/coverage.py"


def test_what_is_wanted_is_not_there_yet():
    """A name that was added is taken off the list."""
    for name in coverage.NOT_YET.split():
        space, _, last = name.rpartition(".")
        assert not coverage.has(space, last), f"{name} is there"


def test_names_that_are_there_can_be_used():
    import micrograd_rs as mg

    for space, names in __import__("json").loads(coverage.NAMES.read_text())["names"].items():
        for name in names:
            if coverage.has(space, name) and space not in ("Tensor", ""):
                module = importlib.import_module("micrograd_rs." + space)
                assert getattr(module, name) is not None, f"{space}.{name}"
    assert mg.inf == float("inf") and mg.nan != mg.nan and abs(mg.pi - 3.14159265) < 1e-8 and mg.newaxis is None
