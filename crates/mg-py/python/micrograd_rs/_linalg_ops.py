"""Operations that `linalg` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "vander",
    "vecdot",
    "vector_norm",
]

cross = _rs._linalg_cross
diagonal = _rs._linalg_diagonal
matmul = _rs._linalg_matmul
matrix_norm = _rs._linalg_matrix_norm
matrix_power = _rs._linalg_matrix_power
multi_dot = _rs._linalg_multi_dot
norm = _rs._linalg_norm
vander = _rs._linalg_vander
vecdot = _rs._linalg_vecdot
vector_norm = _rs._linalg_vector_norm
