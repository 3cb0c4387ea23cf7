"""Packs wheels as small as their format allows: `python repack.py dist/*.whl`. Wants the package zopfli.

A wheel is a zip archive of deflated files; zopfli looks for the shortest stream that deflate knows, which takes it some seconds for each
megabyte and makes a twentieth less of it than what packs them first. Names, order and contents stay.
"""

from __future__ import annotations

import os
import sys
import zipfile

import zopfli.zlib  # type: ignore[import-untyped, import-not-found, unused-ignore]


class Packer:
    """What `zipfile` asks of a compressor."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def compress(self, part: bytes) -> bytes:
        self.parts.append(part)
        return b""

    def flush(self) -> bytes:
        # Without what zlib puts before and after it; with as many blocks as pay.
        packed: bytes = zopfli.zlib.compress(b"".join(self.parts), blocksplittingmax=0)
        return packed[2:-4]


def repack(path: str) -> None:
    """Packs one wheel anew, in its place."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry))
    with zipfile.ZipFile(path + ".new") as packed:
        if packed.testzip() is not None:
            sys.exit(f"{path}: a packed file is not what it was")
    os.replace(path + ".new", path)


if __name__ == "__main__":
    # There is no other way to bring a compressor of one's own.
    zipfile._get_compressor = lambda *_: Packer()  # type: ignore[attr-defined]
    for wheel in sys.argv[1:]:
        repack(wheel)
