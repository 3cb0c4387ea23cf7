"""`python -m fuzz --files N`: damaged files of every format that is read. A reader answers, or refuses with one of Python's usual errors.

Each file begins as a right one, and is then cut, lengthened, or changed in some bytes, words or numbers. What is read is looked at
to the last element; files are read in another process, which may neither crash, nor hang, nor take memory without bound.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import struct
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import micrograd_rs as mg

from .child import watched

BLOCK = 200
LONGEST = 20.0
MEMORY = 3 << 30
# What may be said of a file that is wrong.
USUAL = (ValueError, TypeError, KeyError, OSError, RuntimeError, MemoryError, EOFError, IndexError, NotImplementedError)
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

PNG = b"\x89PNG\r\n\x1a\n"
NUMBERS = ["0", "-1", "1e309", "4294967296", "18446744073709551616", "9" * 40, "null", "true", "[]", "{}", '""', '"\\ud800"', "1.5"]


def _idx() -> bytes:
    return struct.pack(">HBB3I", 0, 8, 3, 4, 5, 6) + bytes(range(120))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png() -> bytes:
    """Seven rows of five coloured pixels, each row filtered in another way."""
    rows = b"".join(bytes([y % 5]) + bytes((x * y * 7) % 256 for x in range(15)) for y in range(7))
    header = struct.pack(">IIBBBBB", 5, 7, 8, 2, 0, 0, 0)
    return PNG + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _jpeg() -> bytes:
    """A gray square, the smallest file that there is; with Pillow, colours in several scans."""
    try:
        from PIL import Image  # type: ignore[import-not-found, unused-ignore]

        file = io.BytesIO()
        image = Image.new("RGB", (19, 13))
        image.putdata([(x * 13 % 256, x * 7 % 256, x % 256) for x in range(19 * 13)])
        image.save(file, "JPEG", progressive=True)
        return file.getvalue()
    except ImportError:
        return (Path(__file__).parents[2] / "mg-nn" / "tests" / "gray.jpg").read_bytes()


def seeds(folder: Path) -> dict[str, bytes]:
    """A right file of each kind."""
    from micrograd_rs.safetensors import save_file, save_sharded
    from micrograd_rs.tokenizers import BPE

    state: dict[str, Any] = {"a": mg.arange(12.0).reshape(3, 4), "b.c": mg.ones(5, dtype=mg.int64), "d": mg.tensor(True), "e": mg.zeros(0, 3)}
    save_file(state, folder / "a.safetensors", {"format": "pt"})
    mg.save({"model": state, "step": 3, "names": ["x", None, 2.5]}, folder / "whole")
    (folder / "shards").mkdir()
    save_sharded(state, folder / "shards", max_shard_size=60)
    mg.npz.savez(folder / "a.npz", **{name: t for name, t in state.items() if name != "d"})
    mg.npz.savez_compressed(folder / "c.npz", x=state["a"])
    mg.npz.save(folder / "a.npy", state["a"])
    bpe = BPE.train(["low lower lowest"], 262, special_tokens=["<end>"])
    bpe.save(folder / "t.json")
    model = json.loads((folder / "t.json").read_text("utf-8"))["model"]
    found = {
        "safetensors": (folder / "a.safetensors").read_bytes(),
        "whole": (folder / "whole").read_bytes(),
        "index": next((folder / "shards").glob("*.index.json")).read_bytes(),
        "npz": (folder / "a.npz").read_bytes(),
        "compressed npz": (folder / "c.npz").read_bytes(),
        "npy": (folder / "a.npy").read_bytes(),
        "csv": b'x,y,name\r\n1,2.5,"a, b"\r\n\r\n-3e2,,"say ""no"""\n7,8,c\n',
        "png": _png(),
        "jpeg": _jpeg(),
        "idx": _idx(),
        "idx.gz": gzip.compress(_idx(), mtime=0),
        "tokenizer": (folder / "t.json").read_bytes(),
        "vocab": json.dumps(model["vocab"]).encode(),
        "merges": "\n".join(" ".join(pair) for pair in model["merges"]).encode(),
    }
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]

        file = io.BytesIO()
        torch.save({"w": torch.ones(3, 4), "h": torch.zeros(2, dtype=torch.bfloat16), "n": [1, "x"]}, file)
        found["pt"] = file.getvalue()
    except ImportError:
        pass
    return found


def looked_at(value: Any, known: set[int] | None = None) -> None:
    """Every element of what was read, once; of an expanded tensor, which may have any number, some."""
    known = set() if known is None else known
    if id(value) in known:
        return
    known.add(id(value))
    if isinstance(value, mg.Tensor):
        while value.numel() > 1 << 20:
            value = value.select(0, -1)
        value.sum().item() if value.dtype != mg.bool else value.any().item()
        value.tolist() if value.numel() < 1000 else None
    elif isinstance(value, dict):
        for part in value.values():
            looked_at(part, known)
    elif isinstance(value, (list, tuple)):
        for part in value:
            looked_at(part, known)


def readers(folder: Path) -> dict[str, Callable[[Path], Any]]:
    """Who reads a kind of file."""
    from micrograd_rs.safetensors import load_file, load_sharded, safe_open
    from micrograd_rs.tokenizers import BPE

    def opened(path: Path) -> Any:
        with safe_open(path) as file:
            return [load_file(path), *(file.get_tensor(name) for name in file.keys())]  # noqa: SIM118

    def sharded(path: Path) -> Any:
        index = next((folder / "shards").glob("*.index.json"))
        index.write_bytes(path.read_bytes())
        return load_sharded(folder / "shards")

    def tokenizer(path: Path) -> Any:
        bpe = BPE.from_file(path)
        return bpe.decode(bpe.encode("a low text<end>"))

    def vocab(path: Path) -> Any:
        return BPE.from_files(path, folder / "right merges").encode("low")

    def merges(path: Path) -> Any:
        return BPE.from_files(folder / "right vocab", path).encode("low")

    def mnist(path: Path) -> Any:
        for name in ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"):
            (folder / "mnist" / name).write_bytes(path.read_bytes())
        data = mg.data.Mnist.load(folder / "mnist")
        return [data.train_images, data.train_labels]

    def table(path: Path) -> Any:
        from micrograd_rs.utils.data import read_csv

        table = read_csv(path)
        texts = [table.strings(name) for name in table.columns]
        return [texts, table.labels(table.columns[-1]), table.numbers(table.columns[:2], missing=0)]

    def image(path: Path) -> Any:
        from micrograd_rs.utils.data import read_image

        return [read_image(path, mode) for mode in ("UNCHANGED", "GRAY", "RGB", "RGB_ALPHA")]

    loads = {kind: mg.load for kind in ("whole", "npz", "compressed npz", "npy", "pt")}
    return {
        **loads,
        "safetensors": opened,
        "index": sharded,
        "csv": table,
        "png": image,
        "jpeg": image,
        "idx": mnist,
        "idx.gz": mnist,
        "tokenizer": tokenizer,
        "vocab": vocab,
        "merges": merges,
    }


def damaged(data: bytes, draw: random.Random) -> bytes:
    """A file that is cut, lengthened or changed, once or several times."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        if not changed:
            break
        at = draw.randrange(len(changed))
        match draw.randrange(9):
            case 0:
                del changed[at:]
            case 1:
                changed[at] ^= 1 << draw.randrange(8)
            case 2:
                changed[at : at + draw.choice((1, 2, 4, 8))] = draw.choice((b"\0", b"\xff", b"\x7f")) * draw.choice((1, 2, 4, 8))
            case 3:
                changed[at:at] = draw.randbytes(draw.choice((1, 3, 17)))
            case 4:
                del changed[at : at + draw.choice((1, 2, 8, 64))]
            case 5:
                other = draw.randrange(len(changed))
                size = draw.choice((1, 4, 16))
                changed[at : at + size] = changed[other : other + size]
            case 6:
                # A number of a text becomes another one.
                digits = [i for i, byte in enumerate(changed) if 48 <= byte <= 57]
                if digits:
                    start = end = draw.choice(digits)
                    while end < len(changed) and 48 <= changed[end] <= 57:
                        end += 1
                    changed[start:end] = draw.choice(NUMBERS).encode()
            case 7:
                struct.pack_into("<Q", changed, min(at, max(len(changed) - 8, 0)), draw.choice((0, 1 << 31, 1 << 63, len(data)))) if len(changed) >= 8 else None
            case _:
                changed += draw.choice((b"\0" * 9, b" ", b"\n", draw.randbytes(40)))
    return bytes(changed)


def packed(data: bytes, draw: random.Random) -> bytes:
    """A zip archive with one of its files damaged, and its sums right."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as made:
        names = archive.namelist()
        which = draw.choice(names)
        for name in names:
            content = archive.read(name)
            made.writestr(name, damaged(content, draw) if name == which else content)
    return out.getvalue()


def summed(data: bytes, draw: random.Random) -> bytes:
    """A PNG with one of its chunks damaged, and its sums right."""
    chunks: list[tuple[bytes, bytes]] = []
    at = len(PNG)
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + size]))
        at += 12 + size
    which = draw.randrange(len(chunks))
    kind, content = chunks[which]
    if kind == b"IDAT" and draw.random() < 0.5:
        content = zlib.compress(damaged(zlib.decompress(content), draw))
    else:
        content = damaged(content, draw)
    chunks[which] = kind, content
    return PNG + b"".join(_chunk(kind, content) for kind, content in chunks)


def work(seed: int, count: int, status: str) -> int:
    """So many files, one after the other, in this process."""
    import resource

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    told = os.open(status, os.O_RDWR)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mnist").mkdir()
        right = seeds(folder)
        (folder / "right merges").write_bytes(right["merges"])
        (folder / "right vocab").write_bytes(right["vocab"])
        read = readers(folder)
        kinds = sorted(right)
        for at in range(count):
            draw = random.Random(seed + at)
            kind = draw.choice(kinds)
            os.pwrite(told, f"{seed + at} {kind}".ljust(100).encode(), 0)
            data = right[kind]
            inside = packed if data[:2] == b"PK" else summed if data.startswith(PNG) else damaged
            path = folder / "file"
            path.write_bytes((inside if draw.random() < 0.7 else damaged)(data, draw))
            try:
                looked_at(read[kind](path))
            except USUAL as error:
                if "internal error" in str(error).lower() or type(error).__name__ == "PanicException":
                    print(f"wrong: file {seed + at}, {kind}: {type(error).__name__}: {error}", flush=True)
            except BaseException as error:
                print(f"wrong: file {seed + at}, {kind}: {type(error).__name__}: {error}", flush=True)
    os.pwrite(told, b"done".ljust(100), 0)
    return 0


def files(count: int, seed: int, seconds: float | None = None) -> int:
    """So many damaged files, in processes of their own; the status is 1 where something went wrong."""
    print(f"{count} damaged files from seed {seed}", flush=True)
    begun, wrong, at = time.monotonic(), 0, seed
    while at < seed + count and (seconds is None or time.monotonic() - begun < seconds):
        some = min(BLOCK, seed + count - at)
        said, printed, how = watched([sys.executable, "-m", "fuzz.files", str(at), str(some)], ENVIRONMENT, 100, LONGEST)
        lines = printed.splitlines()
        for line in lines:
            if line.startswith("wrong: "):
                wrong += 1
                print(line.removeprefix("wrong: "), flush=True)
        where = said.decode().strip("\0 ").split(" ", 1)
        if where == ["done"]:
            at += some
            continue
        if where == [""]:
            print(f"the process does not begin: {lines[-20:]}")
            return 1
        wrong += 1
        print(f"file {where[0]}, {where[1]}: {how}: {lines[-1] if lines else ''}", flush=True)
        at = int(where[0]) + 1
    print(f"{at - seed} files, {wrong} wrong", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(work(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
