"""Operations that `linalg` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_sqrth",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

cholesky = _rs._linalg_cholesky
cholesky_ex = _rs._linalg_cholesky_ex
cond = _rs._linalg_cond
cross = _rs._linalg_cross
det = _rs._linalg_det
diagonal = _rs._linalg_diagonal
eigh = _rs._linalg_eigh
eigvalsh = _rs._linalg_eigvalsh
householder_product = _rs._linalg_householder_product
inv = _rs._linalg_inv
inv_ex = _rs._linalg_inv_ex
ldl_factor = _rs._linalg_ldl_factor
ldl_factor_ex = _rs._linalg_ldl_factor_ex
ldl_solve = _rs._linalg_ldl_solve
lstsq = _rs._linalg_lstsq
lu = _rs._linalg_lu
lu_factor = _rs._linalg_lu_factor
lu_factor_ex = _rs._linalg_lu_factor_ex
lu_solve = _rs._linalg_lu_solve
matmul = _rs._linalg_matmul
matrix_exp = _rs._linalg_matrix_exp
matrix_norm = _rs._linalg_matrix_norm
matrix_power = _rs._linalg_matrix_power
matrix_rank = _rs._linalg_matrix_rank
matrix_sqrth = _rs._linalg_matrix_sqrth
multi_dot = _rs._linalg_multi_dot
norm = _rs._linalg_norm
pinv = _rs._linalg_pinv
qr = _rs._linalg_qr
slogdet = _rs._linalg_slogdet
solve = _rs._linalg_solve
solve_ex = _rs._linalg_solve_ex
solve_triangular = _rs._linalg_solve_triangular
svd = _rs._linalg_svd
svdvals = _rs._linalg_svdvals
tensorinv = _rs._linalg_tensorinv
tensorsolve = _rs._linalg_tensorsolve
vander = _rs._linalg_vander
vecdot = _rs._linalg_vecdot
vector_norm = _rs._linalg_vector_norm
