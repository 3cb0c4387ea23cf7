"""Data sets in files: tables of text, and folders of images."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..._micrograd_rs import Table, Tensor, _image, _read_idx, read_csv
from ..._names import Lazy as _Lazy
from .dataset import Dataset

__all__ = ["ImageFolder", "Table", "decode_image", "read_csv", "read_idx", "read_image"]

__getattr__ = _Lazy(__name__)

_ENDINGS = (".png", ".jpg", ".jpeg")


def read_idx(path: str | os.PathLike[str]) -> Tensor:
    """The array of an IDX file, the form that MNIST and its like are published in, gzipped or plain: u8, i8, i16, i32, f32 or f64, in the file's shape.
    A `ValueError` names the file and what is wrong in it.

    Arguments:
        path: the file

    >>> import os, tempfile
    >>> import micrograd_rs as mg
    >>> path = os.path.join(tempfile.mkdtemp(), "labels-idx1-ubyte")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4]))
    >>> mg.utils.data.read_idx(path)
    tensor([5, 0, 4], dtype=micrograd_rs.uint8)
    """
    return _read_idx(path)


def _is_image(path: str) -> bool:
    return path.lower().endswith(_ENDINGS)


def read_image(path: str | os.PathLike[str], mode: str = "RGB") -> Tensor:
    """A PNG or JPEG file as a uint8 tensor `[channels, height, width]` on the processor.

    `mode` says which channels: "RGB", "GRAY", "RGB_ALPHA", or those of the file, "UNCHANGED" (1: gray, 2: with alpha, 3: red, green,
    blue, 4: with alpha). Of 16 bits the upper 8 are kept. The image lies as it is stored, whatever its EXIF data says of turning it.
    Other threads go on meanwhile. Raises `OSError` where the file cannot be read, and `ValueError` where it is neither, or damaged.

    Arguments:
        path: the file
        mode: "UNCHANGED", "GRAY", "RGB" or "RGB_ALPHA"

    >>> import os, tempfile
    >>> black = bytes.fromhex(
    ...     "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    ...     "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
    ... )
    >>> path = os.path.join(tempfile.mkdtemp(), "black.png")
    >>> _ = open(path, "wb").write(black)
    >>> mg.utils.data.read_image(path).shape, mg.utils.data.read_image(path, "GRAY").shape
    ((3, 1, 1), (1, 1, 1))
    """
    return _image(os.fspath(path), b"", mode)


def decode_image(data: bytes, mode: str = "RGB") -> Tensor:
    """As `read_image`, of the bytes of a file.

    >>> black = bytes.fromhex(
    ...     "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    ...     "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
    ... )
    >>> decode_image(black, "GRAY")
    tensor([[[0]]], dtype=micrograd_rs.uint8)

    Arguments:
        data: the bytes
        mode: which channels
    """
    return _image(None, data, mode)


class ImageFolder(Dataset[Any]):
    """Images in folders, a folder for each class, as torchvision has it: `root/cat/7.png`, `root/dog/a/1.jpg`.

    A sample is what `transform` makes of the image (a uint8 tensor `[3, height, width]` unless `loader` reads it otherwise) with what
    `target_transform` makes of its class's number. `classes` are the folders' names in their order, `class_to_idx` their numbers, and
    `samples` pairs of paths and numbers. `is_valid_file` says by its path what is an image, instead of its name's end (.png, .jpg, .jpeg).

    Raises `FileNotFoundError` where there are no folders, or one without images unless `allow_empty`.

    >>> import os, tempfile
    >>> root = tempfile.mkdtemp()
    >>> for kind in ("cat", "dog"):
    ...     os.makedirs(os.path.join(root, kind))
    >>> mg.utils.data.ImageFolder(root, allow_empty=True).class_to_idx
    {'cat': 0, 'dog': 1}

    Arguments:
        root: the folder
        transform: what an image is put through
        target_transform: what its class is put through
        loader: what reads a file
        is_valid_file: which files there are, if that is not told by their endings
        allow_empty: whether a class may have no images
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        loader: Callable[[str], Any] = read_image,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None:
        self.root: str = os.fspath(root)
        self.transform = transform
        self.target_transform = target_transform
        self.loader = loader
        self.classes: list[str] = sorted(entry.name for entry in os.scandir(self.root) if entry.is_dir())
        if not self.classes:
            raise FileNotFoundError(f"ImageFolder: {self.root} has no folders, of which each would be a class")
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        is_image = is_valid_file or _is_image
        self.samples: list[tuple[str, int]] = []
        for name, number in self.class_to_idx.items():
            folder = os.path.join(self.root, name)
            paths = [os.path.join(inner, file) for inner, _, files in os.walk(folder) for file in files]
            found = sorted(path for path in paths if is_image(path))
            if not found and not allow_empty:
                what = "" if is_valid_file else f": their names end in {', '.join(_ENDINGS)}"
                raise FileNotFoundError(f"ImageFolder: {folder} has no image{what}")
            self.samples += [(path, number) for path in found]

    @property
    def imgs(self) -> list[tuple[str, int]]:
        """`samples` by torchvision's other name."""
        return self.samples

    @property
    def targets(self) -> list[int]:
        """The number of each sample's class."""
        return [number for _, number in self.samples]

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, target = self.samples[index]
        image = self.loader(path)
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def __len__(self) -> int:
        return len(self.samples)
