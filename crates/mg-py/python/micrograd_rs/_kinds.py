"""The dtypes. Written by tools/stubs.py."""

from __future__ import annotations

from ._micrograd_rs import (
    bfloat16,
    float16,
    float32,
    float64,
    float8_e4m3fn,
    float8_e5m2,
    int16,
    int32,
    int64,
    int8,
    uint16,
    uint32,
    uint64,
    uint8,
)

__all__ = [
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "int16",
    "int32",
    "int64",
    "int8",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
