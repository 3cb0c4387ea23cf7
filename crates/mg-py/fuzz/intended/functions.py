"""What functions, losses and reductions are meant to answer at their edges: infinities, zeros, what is no number, equal numbers."""

from __future__ import annotations

import math
import re

from ..values import flat
from .readings import differentiated, pairs
from .releases import GOES_TO_ONE

DIFFERENCES = [
    (
        "Targets beyond 0 and 1 are beyond the meaning of entropies: 1 - 2 is 255 in PyTorch where they are bytes, and infinite ones "
        "give NaN.",
        lambda program, found, reference: "multilabel_soft_margin_loss(" in str(program)
        and (
            ("uint8" in str(program) and ("value" in found.what or found.what == "sharing"))
            or (len(pairs(found)) > 0 and all(math.isinf(got) and wanted != wanted for got, wanted in pairs(found)))
        ),
    ),
    (
        "A pole is a pole: the slope of digamma at -2 is infinite, and 0 times that is no number. PyTorch's sine of -2 pi is not quite 0.",
        lambda program, found, reference: re.search(r"(di|poly|l)gamma|gammaln|\bpsi\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isinf(got) and abs(wanted) > 1e10 or math.isnan(got) and (wanted == 0 or math.isinf(wanted)) for got, wanted in pairs(found)),
    ),
    (
        "x log y is 0 where x is 0, whatever y is, and so is its slope by y; PyTorch divides 0 by 0 there. Where nothing flows it takes "
        "0 log y for 0, of negative y too.",
        lambda program, found, reference: re.search(r"kl_div|xlogy|xlog1py|\bentr\(", str(program)) is not None
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(got != got or wanted != wanted for got, wanted in pairs(found)),
    ),
    (
        "At both infinities the Gaussian error unit is its limit, as is its slope; PyTorch has no numbers there.",
        lambda program, found, reference: "gelu(" in str(program)
        and len(pairs(found)) > 0
        and all(got == got and wanted != wanted for got, wanted in pairs(found)),
    ),
    (
        "Outside of its domain, where zeta is no number, it has no slope.",
        lambda program, found, reference: "zeta(" in str(program)
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(not math.isfinite(wanted) for _, wanted in pairs(found)),
    ),
    (
        "Attention to no number is no number; PyTorch's blocks answer a row of such with zeros.",
        lambda program, found, reference: "scaled_dot_product_attention(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and wanted == 0 for got, wanted in pairs(found)),
    ),
    (
        "Infinity times 0 is met in another order: a loss by logits is infinite or no number where logits are infinite.",
        lambda program, found, reference: "with_logits(" in str(program)
        and len(pairs(found)) > 0
        and all(not math.isfinite(got) and not math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Zeta of an exponent that is no number is no number, also at its pole.",
        lambda program, found, reference: "zeta(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Incomplete gamma functions of what is no number are no numbers; PyTorch looks first at whether the other one is 0 or infinite.",
        lambda program, found, reference: re.search(r"igammac?_?\(|gammaincc?\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
    (
        "Between infinity and itself there is infinity; PyTorch's quantile subtracts it from itself.",
        # So it is in place of its reciprocal, which is 0.
        lambda program, found, reference: "quantile(" in str(program)
        and len(pairs(found)) > 0
        and all((math.isinf(got) or got == 0) and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "A loss by what is no number is no number; PyTorch adds what is above 0, and so leaves that out.",
        lambda program, found, reference: "multi_margin_loss(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
    (
        "The slope at what is no number is no number; PyTorch's comparisons take it for one beyond 3.",
        lambda program, found, reference: "hardswish(" in str(program)
        and "grad" in found.what + str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The normal distribution's tail below -5.5 is small, and not 0 as PyTorch's is.",
        lambda program, found, reference: re.search(r"\bndtr\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(got != got and wanted == 0 or math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The gradient of the mean of no elements is 0 / 0, also where it is asked how it changes.",
        lambda program, found, reference: "create_graph" in str(program)
        and re.search(r"_loss\(", str(program)) is not None
        and re.search(r"L\.(zeros|ones)\(.*\b0\b", str(program)) is not None
        and len(pairs(found)) > 0
        and all(got != got and wanted == 0 for got, wanted in pairs(found)),
    ),
    (
        "The logarithms of an entropy are bounded at -100, also in the slope by its targets.",
        lambda program, found, reference: "binary_cross_entropy(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isinf(wanted) and math.isfinite(got) for got, wanted in pairs(found)),
    ),
    (
        "The mean of infinities is infinite; PyTorch's running mean subtracts it from itself.",
        lambda program, found, reference: re.search(r"(var|std)_mean\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isinf(got) and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Which sign a sum of zeros has is left to the order of adding.",
        lambda program, found, reference: "scaled_dot_product_attention(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isinf(got) and got == -wanted for got, wanted in pairs(found)),
    ),
    (
        "There is nothing beneath a curve of one sample; PyTorch subtracts it from itself, which is no number where it is none.",
        lambda program, found, reference: re.search(r"trapz|trapezoid", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(wanted) for _, wanted in pairs(found)),
    ),
    (
        "A power of two is multiplied with in steps that do not overflow; PyTorch's is one of float32 where the exponent is an integer, and infinite sooner.",
        lambda program, found, reference: "ldexp" in str(program)
        and len(pairs(found)) > 0
        and all(math.isfinite(got) and not math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The largest of numbers of which one is no number is no number, as in max; PyTorch's bags compare, and pass it over unless it is first.",
        lambda program, found, reference: re.search(r"embedding_bag\(.*'max'", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
    (
        "The slope at what is no number is no number; PyTorch's passes it over in running sums of exponentials.",
        lambda program, found, reference: "logcumsumexp" in str(program)
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
    (
        "Of what is scattered without what was there, the gradient is all of what is scattered; PyTorch shares it with what was there, where that is as large.",
        lambda program, found, reference: re.search(r"scatter_reduce.*include_self=False", str(program)) is not None
        and "grad" in found.what + str(program)
        and len(pairs(found)) > 0
        and all(got == 2 * wanted for got, wanted in pairs(found)),
    ),
    (
        "The same, where what is scattered is what was there: the share comes on top of another gradient.",
        lambda program, found, reference: re.search(r"(\w+)\.scatter_reduce\(.*\b\1, .*include_self=False", str(program)) is not None
        and "grad" in found.what + str(program)
        and len(pairs(found)) > 0
        and all(got >= wanted for got, wanted in pairs(found)),
    ),
    (
        "Which of several equal numbers is the k-th, and has the gradient, is left to the order in which they are looked at.",
        lambda program, found, reference: "kthvalue(" in str(program)
        and found.what in ("value", "grad's value")
        and differentiated(program)
        and found.wanted is not None
        and sorted(flat(found.wanted)) == sorted(flat(found.got)),
    ),
    (
        "A distance of 0 has no slope, of any order; PyTorch's second one is 0 times infinity.",
        lambda program, found, reference: re.search(r"\b(dist|norm|vector_norm|cdist|pdist)\(", str(program)) is not None
        and "create_graph=True" in str(program)
        and len(pairs(found)) > 0
        and all(math.isfinite(got) and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Functions of Bessel's are composed: an infinite gradient meets a part that was not chosen, whose slope is 0. PyTorch has a rule of its own.",
        lambda program, found, reference: "bessel_" in str(program)
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Zeta of a large exponent is 0; PyTorch's terms overflow, and 0 times infinity is no number.",
        lambda program, found, reference: "zeta(" in str(program)
        and len(pairs(found)) > 0
        and all(got == 0 and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The coordinate that is infinitely far is the farthest, and has the slope 1; PyTorch subtracts the distance from it. What is no number is "
        "far too; PyTorch's `cdist` passes it over.",
        lambda program, found, reference: re.search(r"[cp]dist\(.*inf", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(wanted) and abs(got) <= 1 or math.isnan(got) and math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "`hardswish` of the largest numbers is the number; PyTorch multiplies by 6 before it divides.",
        lambda program, found, reference: "hardswish" in str(program)
        and bool(pairs(found))
        and all(math.isinf(wanted) and math.isfinite(got) for got, wanted in pairs(found)),
    ),
    (
        "The smallest and the largest of all elements share their gradient among those that are NaN, as min and max do; PyTorch's amin and amax answer with NaN.",
        lambda program, found, reference: re.search(r"\b(amin|amax|aminmax)\(", str(program)) is not None
        and bool(pairs(found))
        and all(math.isnan(wanted) for _, wanted in pairs(found)),
    ),
    (
        "Equal numbers share the gradient of fmin and fmax, as PyTorch's do since 2.15; before, one of them has it.",
        lambda program, found, reference: GOES_TO_ONE
        and re.search(r"\bfm(in|ax)\(", str(program)) is not None
        and differentiated(program)
        and bool(pairs(found)),
    ),
    (
        "A polynomial of what is no number is no number; PyTorch's recurrence stops at one before it has written its answer.",
        lambda program, found, reference: "_polynomial_" in str(program)
        and bool(pairs(found))
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
    (
        "The polygamma functions are 0 at infinity and infinite at their poles; PyTorch's are no numbers and large ones there.",
        lambda program, found, reference: "polygamma" in str(program)
        and len(pairs(found)) > 0
        and not any(math.isfinite(got) and math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The angle of two zeros is told by their signs, which are left to the order of work where they are results.",
        lambda program, found, reference: re.search(r"\b(arc)?a?tan2_?\(", str(program)) is not None
        and "-0.0" in str(program)
        and any(0 in pair for pair in pairs(found)),
    ),
    (
        "A mean of no numbers has no slope; PyTorch multiplies an infinite share by 0.",
        lambda program, found, reference: "nanmean" in str(program)
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(math.isnan(wanted) and math.isfinite(got) for got, wanted in pairs(found)),
    ),
]
