"""`python -m fuzz.guided npy|npz|pt|pickle [LIBFUZZER'S OPTIONS] [FOLDERS]`: readers in Python, fuzzed by what they cover.

The same that `fuzz/fuzz_targets` at the repository's root does for readers in Rust: [Atheris](https://pypi.org/project/atheris) changes files as long as
that leads to lines that were not reached before. A reader answers, or refuses with one of Python's usual errors; whatever else, and what takes
long or much memory, is kept in a file and ends the process. Seeds are in `fuzz/seeds` at the repository's root.
"""

from __future__ import annotations

import io
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import atheris  # type: ignore[import-not-found, unused-ignore]

with atheris.instrument_imports(include=["micrograd_rs", "zipfile", "ast", "pickle"]):
    import pickle  # noqa: F401
    import ast  # noqa: F401

    import micrograd_rs as mg
    import micrograd_rs._pickles  # noqa: F401
    import micrograd_rs.npz
    import micrograd_rs.serialization  # noqa: F401

from .files import USUAL, looked_at

SEEDS = Path(__file__).parents[3] / "fuzz" / "seeds"
FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
PATH = Path(FOLDER.name) / "file"


def npy(data: bytes) -> None:
    """An `.npy` file."""
    looked_at(micrograd_rs.npz.read_npy(io.BytesIO(data), "data"))


def whole(data: bytes) -> None:
    """A file as it lies on the disk."""
    PATH.write_bytes(data)
    looked_at(mg.load(PATH))


def in_pickle(data: bytes) -> None:
    """A pickle in a file of PyTorch's that is right besides: with sums that fit, and storages of 48 and 4 bytes."""
    with zipfile.ZipFile(PATH, "w") as archive:
        archive.writestr("archive/data.pkl", data)
        archive.writestr("archive/byteorder", "little")
        archive.writestr("archive/data/0", bytes(range(48)))
        archive.writestr("archive/data/1", bytes(4))
    looked_at(mg.load(PATH))


TARGETS: dict[str, Callable[[bytes], None]] = {"npy": npy, "npz": whole, "pt": whole, "pickle": in_pickle}


def main() -> None:
    """One target, until it finds something or its time is over."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"python -m fuzz.guided {'|'.join(TARGETS)} [OPTIONS] [FOLDERS]: no target {name!r}")
    target = TARGETS[name]
    warnings.simplefilter("ignore")

    def once(data: bytes) -> None:
        try:
            target(data)
        except USUAL as error:
            if "internal error" in str(error).lower():
                raise RuntimeWarning(f"a panic: {error}") from error

    atheris.Setup([sys.argv[0], "-rss_limit_mb=2048", "-timeout=20", *sys.argv[2:], str(SEEDS / name)], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
