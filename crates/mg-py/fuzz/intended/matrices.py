"""What factorisations, and what is computed by them, are meant to answer."""

from __future__ import annotations

import math
import re

from .readings import close, differentiated, pairs

DIFFERENCES = [
    (
        "Only a triangle is read, so the other one has no slope; PyTorch's gradient reads both.",
        lambda program, found, reference: re.search(r"cholesky_(inverse|solve)\(", str(program)) is not None
        and differentiated(program)
        and "value" in found.what,
    ),
    (
        "Infinity times 0 is met in another order where equations are solved with what is infinite, or divide by 0.",
        lambda program, found, reference: re.search(r"cholesky_(inverse|solve)\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(got) or math.isinf(got) and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Where no pivot is left there is no volume, whatever lies beside it; PyTorch multiplies 0 with what is no number. What is infinite "
        "is eliminated in another order.",
        lambda program, found, reference: re.search(r"\b(slog|log)?det\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(not math.isfinite(wanted) or (math.isnan(got) and wanted == 0) for got, wanted in pairs(found)),
    ),
    (
        "The condition of what is no number is no number; PyTorch takes the matrix for a singular one.",
        lambda program, found, reference: "cond(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "A reflection of what is not finite is no number; what it leaves of the rest is left to the order of work.",
        lambda program, found, reference: re.search(r"householder_product\(|\bqr\(|geqrf\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(got) or not math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Which sign a zero in an inverse has is left to the order of adding.",
        lambda program, found, reference: re.search(r"cholesky_inverse\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isinf(got) and got == -wanted for got, wanted in pairs(found)),
    ),
    (
        "The root of a matrix has no slope where that of an eigenvalue has none: which numbers are infinite there and which are none follows from the "
        "order of products.",
        lambda program, found, reference: "matrix_sqrth(" in str(program)
        and "grad" in found.what
        and len(pairs(found)) > 0
        and not any(math.isfinite(got) or math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Singular vectors are told but for their signs.",
        lambda program, found, reference: "svd(" in str(program)
        and len(pairs(found)) > 0
        and all(close(got, -wanted) for got, wanted in pairs(found)),
    ),
    (
        "What is left of a matrix that has no factor of Cholesky's beyond the pivot that shows it is told by nobody.",
        lambda program, found, reference: re.search(rf"\b{found.where.split('[')[0]} = .*cholesky_ex\(", str(program)) is not None
        and len(pairs(found)) > 0,
    ),
    (
        "Of matrices that hold what is no number the factors that are numbers are told by nobody.",
        lambda program, found, reference: re.search(r"\bqr\(", str(program)) is not None and "nan" in found.detail and len(pairs(found)) > 0,
    ),
]
