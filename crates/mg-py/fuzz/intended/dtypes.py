"""What integers, truth values and half types are meant to become."""

from __future__ import annotations

import math
import re

from .readings import differentiated, pairs

#: Where the conversion of a float that does not fit ends here.
ENDS = (0, *(end for bits in (8, 16, 32, 64) for end in (2**bits - 1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)))))

DIFFERENCES = [
    (
        "Floats that do not fit an integer become the nearest that does, and NaN 0; what PyTorch makes of them depends on the "
        "processor.",
        lambda program, found, reference: re.search(r"u?int\d+\[", found.detail) is not None
        and len(pairs(found)) > 0
        and all(got in ENDS for got, _ in pairs(found)),
    ),
    (
        "Softmaxes and norms of integers are of floats, also of none of them.",
        lambda program, found, reference: found.what == "dtype"
        and re.fullmatch(r"float\d+, want (u?int\d+|bool)", found.detail) is not None
        and re.search(r"soft(max|min)\(|(group|layer|batch|instance)_norm\(", str(program)) is not None,
    ),
    (
        "What holds all of uint64 and a signed integer is float64, as NumPy has it; PyTorch meets them nowhere else.",
        lambda program, found, reference: found.detail == "float64, want float32" and "uint64" in str(program),
    ),
    (
        "A byte's negative is negative, and its square does not begin again at 255; PyTorch's gradient of an angle does.",
        lambda program, found, reference: "uint" in str(program)
        and re.search(r"a(rc)?tan2_?\(", str(program)) is not None
        and differentiated(program)
        and "value" in found.what,
    ),
    (
        "Logarithms of sums of exponentials do not overflow on the way, and half types are computed in float32: 1e-8 is not 0.",
        lambda program, found, reference: ("float16" in found.detail or "soft_margin_loss(" in str(program))
        and re.search(r"soft_margin_loss\(|cosine_similarity\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(not math.isfinite(wanted) for _, wanted in pairs(found)),
    ),
    (
        "The exponential of a matrix of half types is that of its numbers; PyTorch's comes of memory that nobody wrote.",
        lambda program, found, reference: "matrix_exp(" in str(program) and "float16" in found.detail and "value" in found.what,
    ),
    (
        "Losses of integers are of floats: a byte times a byte is not taken modulo 256.",
        lambda program, found, reference: "poisson_nll_loss(" in str(program) and "uint8" in str(program) and "value" in found.what,
    ),
    (
        "Small integers are added beneath a curve without beginning again at the largest.",
        lambda program, found, reference: re.search(r"trapz|trapezoid", str(program)) is not None
        and re.search(r"u?int(8|16)|byte|char|short", str(program)) is not None
        and len(pairs(found)) > 0,
    ),
    (
        "Sums of unsigned integers are unsigned, as the array API has it; PyTorch's are int64.",
        lambda program, found, reference: found.what == "dtype" and found.detail == "uint64, want int64" and "uint" in str(program),
    ),
    (
        "Half types are computed in float32: a number a little above -1 is not the pole.",
        lambda program, found, reference: "float16" in found.detail
        and re.search(r"mvlgamma|multigammaln", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isfinite(got) and math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "What is below 0 becomes 0 where it is converted to integers without a sign; PyTorch leaves it to the machine.",
        lambda program, found, reference: "uint64" in str(program)
        and found.what == "value"
        and any(got == 0 and wanted >= 2.0**63 for got, wanted in pairs(found))
        and all(got == wanted or (got == 0 and wanted >= 2.0**63) for got, wanted in pairs(found)),
    ),
    (
        "A byte with its sign turned is no byte: PyTorch's rule for the slope of zeta makes 56 of -200.",
        lambda program, found, reference: "zeta(" in str(program) and "uint8" in str(program) and len(pairs(found)) > 0,
    ),
    (
        "Functions of networks are of floats: a byte and one more are 256, and not 0.",
        lambda program, found, reference: "softsign(" in str(program)
        and re.search(r"u?int8|byte|char", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isfinite(got) and not math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The loss of counts is computed in floats, of small integers too; PyTorch's product of them begins again at the least.",
        lambda program, found, reference: "poisson_nll_loss(" in str(program)
        and re.search(r"u?int(8|16)|byte|char|short", str(program)) is not None
        and len(pairs(found)) > 0,
    ),
    (
        "Products of unlike dtypes are of the dtype in which they meet, also of no elements; PyTorch multiplies such only then.",
        lambda program, found, reference: found.what == "dtype" and "matmul(" in str(program) and re.search(r"\b0\b", str(program)) is not None,
    ),
]
