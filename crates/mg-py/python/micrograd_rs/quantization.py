"""As `torch.quantization`, which is not here: there are no quantised tensors. Who imports it is told so."""

from __future__ import annotations

from ._names import refuse

refuse(__name__)
