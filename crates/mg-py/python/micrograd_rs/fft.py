"""As `torch.fft`, which is not here: there are no complex numbers, and so no Fourier transforms. Who imports it is told so."""

from __future__ import annotations

from ._names import refuse

refuse(__name__)
