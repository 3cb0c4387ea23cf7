"""As `torch.nested`, which is not here: tensors are of one shape. Who imports it is told so."""

from __future__ import annotations

from ._names import refuse

refuse(__name__)
