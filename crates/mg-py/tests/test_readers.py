"""Tables of text and folders of images."""

from __future__ import annotations

import csv
import io
import struct
import threading
import zlib

import micrograd_rs as mg
import pytest
from micrograd_rs.utils.data import DataLoader, ImageFolder, decode_image, read_csv, read_image


def png(pixels, channels=1):
    """A PNG of rows of bytes."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", len(pixels[0]) // channels, len(pixels), 8, colour, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in pixels))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def table(tmp_path, text, **options):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    return read_csv(path, **options)


def test_a_table_is_what_the_csv_module_reads(tmp_path):
    rows = [["name", "say", "n"], ["Li, Ann", 'she said "no"', "1"], ["two\nlines", "", "-2"], ["ü", " x ", "3e1"]]
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    read = table(tmp_path, text.getvalue())
    assert (read.columns, len(read)) == (rows[0], 3)
    for i, name in enumerate(rows[0]):
        assert read.strings(name) == [row[i] for row in rows[1:]]
    assert read.numbers("n").tolist() == [1, -2, 30]
    assert read.numbers("n").dtype == mg.float32
    assert read.numbers(["n", "n"], dtype=mg.float64).shape == (3, 2)
    labels, classes = read.labels("name")
    assert (labels.tolist(), classes) == ([0, 1, 2], ["Li, Ann", "two\nlines", "ü"])
    assert labels.dtype == mg.int64
    plain = table(tmp_path, "1;2\n3;\n", delimiter=";", header=False)
    assert plain.columns == ["0", "1"]
    assert plain.numbers(missing=-1).tolist() == [[1, 2], [3, -1]]
    assert plain.numbers("0", dtype="int64").tolist() == [1, 3]
    assert repr(plain) == "Table of 2 rows: 0, 1"


def test_errors_name_the_file_and_the_line(tmp_path):
    where = str(tmp_path / "a.csv")
    for text, says in [
        ("x,y\n1,2\n3\n", ":3: 1 fields, where 2 columns are"),
        ('x\n"1\n', ":2: a row with a quote that is not closed"),
        ("", ":1: no row"),
    ]:
        with pytest.raises(ValueError) as raised:
            table(tmp_path, text)
        assert where + says in str(raised.value)
    with pytest.raises(ValueError) as raised:
        table(tmp_path, "x,y\n1,2\n3,three\n").numbers()
    assert f'{where}:3: column "y" is "three", not a number' in str(raised.value)
    with pytest.raises(ValueError, match="is empty, and nothing stands for what is missing"):
        table(tmp_path, "x,y\n1,\n").numbers()
    with pytest.raises(ValueError, match='no column "z": it has x, y'):
        table(tmp_path, "x,y\n1,2\n").numbers("z")
    with pytest.raises(ValueError, match="got none of them"):
        table(tmp_path, "x,y\n1,2\n").numbers([])
    with pytest.raises(TypeError, match="int64"):
        table(tmp_path, "x\n1\n").numbers(dtype=mg.uint8)
    with pytest.raises(FileNotFoundError):
        read_csv(tmp_path / "none.csv")


def test_images_are_planes_of_bytes(tmp_path):
    coloured = png([[10, 20, 30, 40, 50, 60]], 3)
    (tmp_path / "a.png").write_bytes(coloured)
    for image in (read_image(tmp_path / "a.png"), decode_image(coloured), decode_image(coloured, "UNCHANGED")):
        assert (image.dtype, image.tolist()) == (mg.uint8, [[[10, 40]], [[20, 50]], [[30, 60]]])
    assert decode_image(coloured, "GRAY").tolist() == [[[18, 48]]]
    assert decode_image(png([[7, 100]], 2), "RGB_ALPHA").tolist() == [[[7]], [[7]], [[7]], [[100]]]
    for data, says in [(b"GIF89a", "neither a PNG nor a JPEG"), (coloured[:50], "damaged PNG"), (b"\xff\xd8\xff\xe0\0", "damaged JPEG")]:
        with pytest.raises(ValueError, match=says):
            decode_image(data)
        (tmp_path / "bad.png").write_bytes(data)
        with pytest.raises(ValueError, match=r"bad\.png: .*" + says):
            read_image(tmp_path / "bad.png")
    with pytest.raises(ValueError, match="a mode is"):
        decode_image(coloured, "CMYK")
    with pytest.raises(FileNotFoundError):
        read_image(tmp_path / "none.png")


def test_images_are_pillows(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    np = pytest.importorskip("numpy")
    y, x = np.mgrid[0:37, 0:50]
    smooth = np.stack([x * 5, y * 6, (x + y) * 2], -1).astype(np.uint8)
    for name, most in [("a.png", 0), ("a.jpg", 3), ("progressive.jpg", 3), ("gray.jpg", 3), ("palette.png", 0)]:
        image = Image.fromarray(smooth)
        image = image.convert("L") if name == "gray.jpg" else image.convert("P") if name == "palette.png" else image
        image.save(tmp_path / name, progressive=name == "progressive.jpg")
        for mode, theirs in [("RGB", "RGB"), ("GRAY", "L")]:
            want = np.asarray(Image.open(tmp_path / name).convert("RGB").convert(theirs)).astype(int)
            want = want.transpose(2, 0, 1) if want.ndim == 3 else want[None]
            got = read_image(tmp_path / name, mode).numpy().astype(int)
            # Decoders of JPEG round differently, and so may what they make of colours that are stored at half the size.
            assert got.shape == want.shape
            assert abs(got - want).max() <= most, (name, mode, abs(got - want).max())


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "images"
    for name, value in [("dog/b.png", 1), ("cat/2.PNG", 2), ("cat/deep/1.png", 3), ("dog/a.png", 4)]:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png([[value] * 2] * 2))
    (root / "cat" / "notes.txt").write_text("no image")
    (root / "readme.png").write_text("in no class")
    return root


def test_folders_are_classes(folder):
    data = ImageFolder(folder, transform=lambda image: image[:1].float(), target_transform=lambda i: 10 + i)
    assert (data.classes, data.class_to_idx, data.targets) == (["cat", "dog"], {"cat": 0, "dog": 1}, [0, 0, 1, 1])
    assert data.imgs is data.samples
    for workers in (0, 2):
        batches = list(DataLoader(data, batch_size=3, num_workers=workers))
        assert [tuple(x.shape) for x, _ in batches] == [(3, 1, 2, 2), (1, 1, 2, 2)]
        seen = [(int(x[0, 0, 0].item()), int(y)) for xs, ys in batches for x, y in zip(xs, ys.tolist(), strict=True)]
        assert seen == [(2, 10), (3, 10), (4, 11), (1, 11)]
    assert ImageFolder(folder)[0][0].shape == (3, 2, 2)
    with pytest.raises(FileNotFoundError, match="emu has no image"):
        (folder / "emu").mkdir()
        ImageFolder(folder)
    assert ImageFolder(folder, allow_empty=True).classes == ["cat", "dog", "emu"]
    with pytest.raises(FileNotFoundError, match="has no folders"):
        ImageFolder(folder / "emu")


def test_an_image_that_fails_is_told_by_item_and_file(folder):
    (folder / "dog" / "c.png").write_bytes(b"\x89PNG\r\n\x1a\nno")
    with pytest.raises(ValueError, match=r"c\.png: a damaged PNG") as raised:
        list(DataLoader(ImageFolder(folder), batch_size=5, num_workers=1))
    assert "item 4 of the data set" in raised.value.__notes__


def test_images_are_read_without_the_interpreters_lock(tmp_path):
    # Noise cannot be packed: reading it takes tens of milliseconds.
    side, seed, rows = 1500, 1, []
    for _ in range(side):
        row = bytearray()
        while len(row) < side:
            seed = seed * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            row += (seed >> 16).to_bytes(6, "little")
        rows.append(row[:side])
    (tmp_path / "noise.png").write_bytes(png(rows))
    ticks, done = 0, threading.Event()
    thread = threading.Thread(target=lambda: ([read_image(tmp_path / "noise.png") for _ in range(5)], done.set()))
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 5


def test_idx_files_are_arrays(tmp_path):
    import gzip

    path = tmp_path / "a.idx"
    for code, letter, dtype in ((8, "B", mg.uint8), (9, "b", mg.int8), (11, "h", mg.int16), (12, "i", mg.int32), (13, "f", mg.float32), (14, "d", mg.float64)):
        data = bytes([0, 0, code, 2]) + struct.pack(">II6" + letter, 2, 3, *range(6))
        for written in (data, gzip.compress(data)):
            path.write_bytes(written)
            x = mg.utils.data.read_idx(path)
            assert x.dtype == dtype and x.tolist() == [[0, 1, 2], [3, 4, 5]]
    path.write_bytes(data[:-1])
    with pytest.raises(ValueError, match="a.idx"):
        mg.data.read_idx(path)
    with pytest.raises(FileNotFoundError):
        mg.utils.data.read_idx(tmp_path / "none")
