"""Event files for TensorBoard, under the names of PyTorch's `utils.tensorboard`. TensorBoard itself is not needed to write them."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from .._micrograd_rs import Tensor, _EventWriter, as_tensor
from .._names import Lazy as _Lazy

if TYPE_CHECKING:
    import os
    from typing import Self

__all__ = ["SummaryWriter"]

__getattr__ = _Lazy(__name__)
# `from micrograd_rs.utils.tensorboard.writer import SummaryWriter` finds it.
sys.modules[f"{__name__}.writer"] = sys.modules[__name__]


class SummaryWriter:
    """Writes numbers, histograms, images and texts to an event file in `log_dir`, `runs/<time>` without one. What is written by a number
    of seconds ago, `flush_secs`, is in the file; the rest is there after `flush()` and `close()` (`max_queue` changes nothing).

        with SummaryWriter("runs/first") as writer:
            writer.add_scalar("loss", loss, step)
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if purge_step is not None:
            raise ValueError("SummaryWriter: steps that are in other files are not taken back: log to another folder")
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

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Writes a figure of matplotlib as an image, or several as images; with `close` it is closed."""
        figures: list[Any] = list(figure) if isinstance(figure, (list, tuple)) else [figure]  # pyright: ignore[reportUnknownArgumentType]
        for i, each in enumerate(figures):
            each.canvas.draw()
            pixels = memoryview(each.canvas.buffer_rgba())
            image = as_tensor(pixels.tolist(), dtype="uint8")[:, :, :3]
            self.add_image(tag if len(figures) == 1 else f"{tag}/{i}", image, global_step, walltime, "HWC")
            if close:
                from importlib import import_module

                import_module("matplotlib.pyplot").close(each)

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


def _absent(name: str, instead: str) -> Any:
    def method(self: SummaryWriter, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"SummaryWriter.{name}: not written here: {instead}")

    method.__name__ = name
    method.__doc__ = f"NotImplementedError: {instead}."
    return method


for _name, _instead in (
    ("add_graph", "nn.summary(model, input) shows the layers, onnx.export(model, args, path) writes a graph that Netron shows"),
    ("add_hparams", "add_text has room for a table of them, add_scalar for what came of them"),
    ("add_pr_curve", "add_scalar with a threshold for a step, or add_figure"),
    ("add_embedding", "save the vectors as text for the projector: projector.tensorflow.org"),
    ("add_audio", "write a file by the module wave"),
    ("add_video", "add_images writes frames"),
    ("add_mesh", "add_figure writes a picture of it"),
    ("add_custom_scalars", "add_scalars shows several numbers in one diagram"),
):
    setattr(SummaryWriter, _name, _absent(_name, _instead))


def _tensor(values: Any) -> Tensor:
    return values if isinstance(values, Tensor) else as_tensor(values)


def _pixels(values: Any) -> Tensor:
    image = _tensor(values)
    return image if image.is_floating_point() else image.float() / 255.0
