"""Event files for TensorBoard, under the names of PyTorch's `utils.tensorboard`. TensorBoard itself is not needed to write them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._micrograd_rs import Tensor, _EventWriter, as_tensor
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    import os
    from typing import Self

__all__ = ["SummaryWriter"]

__getattr__ = _Lazy(__name__)


class SummaryWriter:
    """Writes numbers, histograms, images and texts to an event file in `log_dir`, `runs/<time>` without one. What is written by a number
    of seconds ago, `flush_secs`, is in the file; the rest is there after `flush()` and `close()`.

        with SummaryWriter("runs/first") as writer:
            writer.add_scalar("loss", loss, step)
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if log_dir is None:
            log_dir = "runs/" + time.strftime("%b%d_%H-%M-%S") + comment
        self.log_dir = str(log_dir)
        self._suffix = filename_suffix
        self._flush_secs = flush_secs
        self._flushed = time.monotonic()
        self._file = _EventWriter(self.log_dir, filename_suffix)
        # Those of `add_scalars`: one for each name, in a folder of its own, as TensorBoard tells runs apart.
        self._others: dict[str, _EventWriter] = {}

    def get_logdir(self) -> str:
        """Where the file is."""
        return self.log_dir

    def _wrote(self) -> None:
        if time.monotonic() - self._flushed >= self._flush_secs:
            self.flush()

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None, **_: Any
    ) -> None:
        """Writes a number; a tensor of one element is read."""
        self._file.scalar(tag, float(scalar_value), global_step or 0, walltime)
        self._wrote()

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Writes several numbers that are shown in one diagram."""
        for tag, value in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self._others:
                self._others[folder] = _EventWriter(folder, self._suffix)
            self._others[folder].scalar(main_tag, float(value), global_step or 0, walltime)
        self._wrote()

    def add_histogram(
        self, tag: str, values: Any, global_step: int | None = None, bins: int = 64, walltime: float | None = None, **_: Any
    ) -> None:
        """Writes how numbers are spread over so many bins of one width."""
        count = bins if isinstance(bins, int) else 64  # pyright: ignore[reportUnnecessaryIsInstance]
        self._file.histogram(tag, _tensor(values), count, global_step or 0, walltime)
        self._wrote()

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Writes an image of 1 or 3 channels: of floats from 0 to 1, or of uint8."""
        image = _pixels(img_tensor)
        if dataformats == "HW":
            image = image.unsqueeze(0)
        elif dataformats == "HWC":
            image = image.permute(2, 0, 1)
        elif dataformats != "CHW":
            raise ValueError(f'takes "CHW", "HWC" or "HW" as dataformats, got {dataformats!r}')
        self._file.image(tag, image.unsqueeze(0), global_step or 0, walltime)
        self._wrote()

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Writes images, each under the tag with its number."""
        images = _pixels(img_tensor)
        if dataformats == "NHWC":
            images = images.permute(0, 3, 1, 2)
        elif dataformats != "NCHW":
            raise ValueError(f'takes "NCHW" or "NHWC" as dataformats, got {dataformats!r}')
        for i, image in enumerate(images):
            self._file.image(f"{tag}/{i}", image.unsqueeze(0), global_step or 0, walltime)
        self._wrote()

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Writes a text, in Markdown."""
        self._file.text(tag, text_string, global_step or 0, walltime)
        self._wrote()

    def flush(self) -> None:
        """Has all be in the files."""
        self._flushed = time.monotonic()
        for file in (self._file, *self._others.values()):
            file.flush()

    def close(self) -> None:
        """Has all be in the files."""
        self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _tensor(values: Any) -> Tensor:
    return values if isinstance(values, Tensor) else as_tensor(values)


def _pixels(values: Any) -> Tensor:
    image = _tensor(values)
    return image if image.is_floating_point() else image.float() / 255.0
