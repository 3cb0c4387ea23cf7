"""As `torch.export`, which is not here: `onnx.export` and `save` are what there is. Who imports it is told so."""

from __future__ import annotations

from ._names import refuse

refuse(__name__)
