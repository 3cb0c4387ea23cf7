"""Operations that `signal.windows` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]

bartlett = _rs._windows_bartlett
blackman = _rs._windows_blackman
cosine = _rs._windows_cosine
exponential = _rs._windows_exponential
gaussian = _rs._windows_gaussian
general_cosine = _rs._windows_general_cosine
general_hamming = _rs._windows_general_hamming
hamming = _rs._windows_hamming
hann = _rs._windows_hann
kaiser = _rs._windows_kaiser
nuttall = _rs._windows_nuttall
