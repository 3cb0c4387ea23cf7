"""Work in another process, which says in a file how far it is: it may neither crash nor hang."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Ended(NamedTuple):
    """How a process has ended."""

    #: What it said last, in its file.
    said: bytes
    #: What it printed.
    printed: str
    #: In words, where it did not end by itself.
    how: str


def watched(command: Sequence[str], environment: Mapping[str, str], room: int, longest: float) -> Ended:
    """Runs a command, told the name of a file with so much room, until it ends, or for so many seconds has said nothing new in the file's first
    100 bytes.
    """
    with tempfile.NamedTemporaryFile(buffering=0) as status, tempfile.TemporaryFile("w+") as out:
        status.write(b" " * room)
        child = subprocess.Popen(
            [*command, status.name], env=environment, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        before, since, hangs = b"", time.monotonic(), False
        while child.poll() is None:
            time.sleep(0.05)
            status.seek(0)
            now = status.read(100)
            if now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > longest:
                hangs = True
                child.kill()
                child.wait()
        status.seek(0)
        said = status.read(room)
        out.seek(0)
        return Ended(said, out.read(), "hangs" if hangs else f"ends the process with {child.returncode}")
